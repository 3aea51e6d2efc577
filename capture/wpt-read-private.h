/* What the parts of the reader of the binary form share: wpt-read.c and wpt-read-records.c. */
#ifndef WP_CAPTURE_WPT_READ_PRIVATE_H
#define WP_CAPTURE_WPT_READ_PRIVATE_H

#include "capture/record.h"
#include "capture/wpt.h"

#define WP_WPT_LOST G_MAXUINT32 /* a text or node whose block was damaged */

/* Of the file's nodes. */
typedef struct {
	guint32 node; /* or WP_WPT_LOST */
	gboolean has_address;
	guint8 address[16];
} WpWptNode;

/* What stands beside records, in the order of their kinds in wpt.h. */
typedef enum {
	WP_WPT_WAYS,
	WP_WPT_CTXT,
	WP_WPT_CAUS,
	WP_WPT_N_ASIDES
} WpWptAsideKind;

typedef struct {
	guint32 record; /* of the next block of records, from 0 */
	guint64 words[WP_WPT_MAX_ASIDE_WORDS];
} WpWptAside;

typedef struct {
	WpTraceReading *reading;
	GArray *texts; /* guint32: in the pool, or WP_WPT_LOST; 0 = "" */
	GArray *nodes; /* WpWptNode */
	GArray *rows;  /* WpWptRow, of one block */
	struct {
		GArray *items; /* WpWptAside of the next records */
		guint next;    /* the first that is not yet used */
	} asides[WP_WPT_N_ASIDES];
	guint64 offset; /* of the block in the file */
	guint64 n_records, n_told;
	guint32 record_bytes; /* version 1 */
	gboolean is_done;
	gboolean is_over;                    /* nothing after this can be read */
	guint32 tokens[WP_RECORD_MAX_WORDS]; /* and transports */
} WpWptReader;

/* Counts N things of the block that is being read as bad, for REASON. */
void wp_wpt_count_bad(WpWptReader *reader, guint64 n, const char *reason);

/* The node with NUMBER in the file; NULL where there is none, or it was damaged. */
const WpWptNode *wp_wpt_find_node(const WpWptReader *reader, guint32 number);

/* The next record is to be number N of the file: counts those that are missing before it. */
void wp_wpt_check_number(WpWptReader *reader, guint64 n);

/*
 * All of a block, from PAYLOAD: records of version 1 and 2, and what stands beside them. What is wrong with it is
 * counted. FALSE: the sink failed, or a limit.
 */
gboolean wp_wpt_read_records(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload,
			     GError **error);
gboolean wp_wpt_read_columns(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload,
			     GError **error);
gboolean wp_wpt_read_asides(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload,
			    GError **error);

/* What was read of them was for a block that is over, whatever became of it. */
void wp_wpt_forget_asides(WpWptReader *reader);

#endif
