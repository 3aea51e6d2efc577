/*
 * MySQL and MariaDB packets: what is in them, without any state.
 *
 *      length (3, little-endian)  sequence (1)  payload
 *
 * A command begins with sequence 0, and its reply goes on counting. A payload of 16 MiB - 1 is
 * continued in the next packet.
 */
#ifndef WP_CAPTURE_MYSQL_H
#define WP_CAPTURE_MYSQL_H

#include <glib.h>

#include "capture/decoder.h"
#include "capture/statements.h"

#define WP_MYSQL_HEAD           4           /* bytes of length and sequence */
#define WP_MYSQL_CONTINUED      0xffffff    /* length of a packet that the next one continues */
#define WP_MYSQL_LAST_STATEMENT G_MAXUINT32 /* MariaDB: the statement prepared last */

/* Capabilities, as the client chose them at login. */
enum {
	WP_MYSQL_CAN_COMPRESS = 1 << 5,
	WP_MYSQL_CAN_41 = 1 << 9,
	WP_MYSQL_CAN_SSL = 1 << 11,
	WP_MYSQL_CAN_DEPRECATE_EOF = 1 << 24,
	WP_MYSQL_CAN_OPTIONAL_METADATA = 1 << 25,
	WP_MYSQL_CAN_ZSTD = 1 << 26,
	WP_MYSQL_CAN_ATTRIBUTES = 1 << 27
};

/* Server status, in OK and EOF packets. */
enum {
	WP_MYSQL_MORE_RESULTS = 0x0008,
	WP_MYSQL_CURSOR = 0x0040,
	WP_MYSQL_NO_BACKSLASH = 0x0200,
	WP_MYSQL_ANSI_QUOTES = 0x8000 /* MariaDB */
};

/* How a command is answered. */
typedef enum {
	WP_MYSQL_NO_ANSWER,
	WP_MYSQL_ONE,     /* one packet */
	WP_MYSQL_RESULT,  /* OK, error, or result sets */
	WP_MYSQL_PREPARE, /* statement number, then definitions */
	WP_MYSQL_FIELDS,  /* definitions to an EOF */
	WP_MYSQL_ROWS,    /* rows to an EOF */
	WP_MYSQL_LOGIN,   /* to OK or error, the client answering in between */
	WP_MYSQL_STREAM   /* events for ever */
} WpMysqlAnswer;

/* What follows the command byte. */
typedef enum {
	WP_MYSQL_BODY_OTHER,
	WP_MYSQL_BODY_EMPTY,
	WP_MYSQL_BODY_SQL,
	WP_MYSQL_BODY_STATEMENT /* begins with a statement number */
} WpMysqlBody;

typedef struct {
	guint8 number;
	const char *label;
	WpMysqlAnswer answer;
	WpMysqlBody body;
	guint8 marks;  /* WP_MARK_... */
	guint32 least; /* bytes of the body */
	guint32 most;
} WpMysqlCommand;

/* Not on the wire: the login, which is answered like a command. */
#define WP_MYSQL_COMMAND_LOGIN 0xf0

/* NULL where there is none. */
const WpMysqlCommand *wp_mysql_command(guint8 number);

/* The number at the cursor that says itself how long it is; *OUT_NULL (may be NULL): it is NULL. */
guint64 wp_mysql_number(WpBytes *in, gboolean *out_null);

/* Payload length and sequence number at the front of IN. */
WpDecodeStatus wp_mysql_head(WpBytes in, gsize *out_length, guint8 *out_sequence);

/* TRUE where PAYLOAD, of LENGTH bytes in all, is what the server of a new connection says. */
gboolean wp_mysql_is_greeting(WpBytes payload, gsize length, guint32 *out_capabilities);

/*
 * The capabilities in a login packet, or in the request for TLS that comes before it (32 bytes). FALSE
 * where PAYLOAD is neither.
 */
gboolean wp_mysql_login(WpBytes payload, gsize length, guint32 *out_capabilities);

/*
 * Leaves the cursor of BODY, which is that of a COM_QUERY, at its SQL: behind query attributes, where
 * CAPABILITIES or the bytes say that there are any.
 */
void wp_mysql_skip_attributes(WpBytes *body, guint32 capabilities);

/*
 * Adds the tokens of the parameters of a COM_STMT_EXECUTE to MESSAGE. BODY begins with the statement
 * number. Types, which the client need not repeat, are kept in STATEMENT.
 */
void wp_mysql_add_parameter_tokens(WpDecodeContext *context, WpMessage *message, WpBytes body,
				   guint32 capabilities, WpStatement *statement);

/* The first bytes of a compressed frame (7-byte head), unpacked to BUFFER; how many there are. */
#define WP_MYSQL_FRAME_HEAD 7
gsize wp_mysql_unpack(WpBytes frame, guint8 *buffer, gsize size);

/* Whether the first frame of a command, or of a reply, begins at the front of IN: not one of the packets inside. */
WpDecodeStatus wp_mysql_frame_begins(WpBytes in, WpDirection from, gboolean is_zstd);

/*
 * How well IN looks like commands, or like replies from their first packet on, up to its end. MAYBE:
 * nothing in it speaks against. LIKELY: hardly by chance.
 */
WpProbeVerdict wp_mysql_judge(WpBytes in, WpDirection from);

#endif
