/*
 * WpMysqlReply: where the reply to a MySQL command ends, told by its packets, one after the other.
 *
 *      FIRST --OK--> end                             MORE_RESULTS: back to FIRST instead of end
 *        |---count--> COLUMNS -> GAP -> ROWS --> end   (GAP: an EOF where the client wants it)
 *        |---PREPARE--> DEFINITIONS -> end             (an EOF behind each kind, likewise)
 *        `---0xfb--> FIRST, when the client has sent its file
 *
 * An EOF packet has 5 bytes and an OK packet in its place at least 7, so nothing of the login need be
 * known, but for one case: whether an EOF follows the last definitions of a prepared statement.
 */
#ifndef WP_CAPTURE_MYSQL_REPLY_H
#define WP_CAPTURE_MYSQL_REPLY_H

#include <glib.h>

#include "capture/mysql.h"

/* Does an EOF packet follow definitions? */
typedef enum {
	WP_MYSQL_EOF_UNKNOWN,
	WP_MYSQL_EOF_SENT,
	WP_MYSQL_EOF_OMITTED
} WpMysqlEofStyle;

typedef enum {
	WP_MYSQL_REPLY_FIRST,
	WP_MYSQL_REPLY_COLUMNS,
	WP_MYSQL_REPLY_GAP,
	WP_MYSQL_REPLY_ROWS,
	WP_MYSQL_REPLY_DEFINITIONS,
	WP_MYSQL_REPLY_TO_EOF
} WpMysqlReplyState;

typedef struct {
	WpMysqlReplyState state;
	WpMysqlEofStyle eof_style; /* of the flow: kept from reply to reply */
	guint32 capabilities;      /* likewise */
	guint16 status;            /* the server's, as last told */
	guint64 definitions;       /* left of this kind */
	guint32 more_definitions;  /* of the kind after it */
	gboolean has_statement;    /* this packet told of a prepared statement: */
	guint32 statement;
	guint16 n_parameters;
} WpMysqlReply;

typedef enum {
	WP_MYSQL_STEP_MORE,     /* the reply goes on */
	WP_MYSQL_STEP_MAYBE,    /* it is complete, unless an EOF packet follows */
	WP_MYSQL_STEP_END,      /* it is complete */
	WP_MYSQL_STEP_ERROR,    /* it is complete, and says that the command failed */
	WP_MYSQL_STEP_SEND_FILE /* the client sends a file, then the reply goes on */
} WpMysqlStep;

/* Bytes of each payload that must be there: OK with two long numbers. */
#define WP_MYSQL_REPLY_LOOK 24

/* TRUE where PAYLOAD, of LENGTH bytes in all, is an error. */
gboolean wp_mysql_is_error(WpBytes payload, gsize length);

/*
 * The next packet of the reply to a command answered by ANSWER. Continued packets (behind one of
 * WP_MYSQL_CONTINUED bytes) are not to be shown.
 */
WpMysqlStep wp_mysql_reply_packet(WpMysqlReply *reply, WpMysqlAnswer answer, WpBytes payload,
				  gsize length);

#endif
