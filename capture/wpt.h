/*
 * The binary form of traces, .wpt: its layout (wirepath-trace(5) has the same for users) and the two
 * halves of its code, wpt-read.c and wpt-write.c.
 *
 *   file head | block | block | ... | block DONE
 *
 *   block:  head (32 bytes) | payload (a multiple of 8, at most 2 MiB)
 *
 *   STRS  texts, numbered from 1 in the order of the file; text 0 is ""
 *   NODE  keys of nodes, numbered from 0
 *   RECS  records of fixed size, then what some of them have besides
 *   WAYS  of records of the next RECS that were seen at both ends: when at the receiver's
 *   SETT  settings;  COUN  counters;  HINT  names of nodes
 *   PART  of the counters, what was counted since the records before
 *   DONE  the end: a file without it was cut short
 *
 * A text or node stands before the first record that names it, so that a file can be written and read
 * in one pass; every block begins at a multiple of 8, so that it can be mapped and used in place.
 * Blocks of other kinds are passed over. All numbers are little-endian.
 */
#ifndef WP_CAPTURE_WPT_H
#define WP_CAPTURE_WPT_H

#include <glib.h>
#include <string.h>

#include "capture/trace-format.h"

/* As in PNG: a transfer that changes line ends or drops the eighth bit is noticed at once. */
#define WP_WPT_MAGIC       "\x89WPT\r\n\x1a\n"
#define WP_WPT_MAGIC_BYTES 8

#define WP_WPT_VERSION 1

/* Of a payload. Texts come from lines of at most 1 MiB, so that the longest fits. */
#define WP_WPT_MAX_PAYLOAD (2 * 1024 * 1024)
#define WP_WPT_MAX_TEXT    (1024 * 1024)

/* Later versions may add to a record; readers use what they know of it. */
#define WP_WPT_MAX_RECORD 4096

typedef struct {
	guint8 magic[WP_WPT_MAGIC_BYTES];
	guint32 version;
	guint32 record_bytes;
} WpWptHead;

typedef struct {
	char kind[4];
	guint32 bytes; /* of the payload */
	guint32 n;     /* records, texts, ... in it */
	guint32 check; /* lower half of the sum of this head, with 0 here */
	guint64 first; /* number of its first record, text, ...; DONE: of records in all */
	guint64 sum;   /* of the payload */
} WpWptBlock;

/* What stands for the address of an end. */
enum {
	WP_WPT_END_UNKNOWN,
	WP_WPT_END_NODE, /* that of the node */
	WP_WPT_END_OTHER /* 16 bytes behind the records */
};

/*
 * Fields as in WpRecord. Behind the last record of a block stand, for each record in turn, its tokens
 * (4 bytes each), the address of src and that of dst (16 bytes each, where WP_WPT_END_OTHER); behind all of these,
 * for each record in turn, its transports (9 words of 4 bytes each, as WpRecord's).
 */
typedef struct {
	gint64 begin_ns;
	gint64 end_ns;
	guint64 id; /* as WpRecord's, with a text of this file */
	guint64 packet;
	guint64 bytes;
	guint32 sender;
	guint32 receiver;
	guint32 flow;
	guint32 protocol; /* text */
	guint32 label;    /* text */
	guint16 src_port;
	guint16 dst_port;
	guint8 kind;
	guint8 status;
	guint8 marks;
	guint8 tap;
	guint8 n_tokens;
	guint8 src_end; /* WP_WPT_END_... */
	guint8 dst_end;
	guint8 n_transports; /* 0 before there were any */
} WpWptRecord;

/* One of a WAYS block, in the order of the records: see begin_way_ns in record.h. */
typedef struct {
	guint32 record; /* of the next RECS block, from 0 */
	guint32 zero;
	gint64 begin_way_ns;
	gint64 end_way_ns;
} WpWptWays;

/* One of a CTXT block, likewise: see trace-context.h. */
typedef struct {
	guint32 record;
	guint32 zero;
	guint64 high;
	guint64 low;
	guint64 parent;
} WpWptContext;

/* One of a CAUS block, likewise: the id of the call that caused it, as WpRecord's, with a text of this file. */
typedef struct {
	guint32 record;
	guint32 zero;
	guint64 id;
} WpWptCause;

G_STATIC_ASSERT(sizeof(WpWptHead) == 16);
G_STATIC_ASSERT(sizeof(WpWptCause) == 16);
G_STATIC_ASSERT(sizeof(WpWptContext) == 32);
G_STATIC_ASSERT(sizeof(WpWptWays) == 24);
G_STATIC_ASSERT(sizeof(WpWptBlock) == 32);
G_STATIC_ASSERT(sizeof(WpWptRecord) == 72);

/*
 * The sum of N bytes, a multiple of 8. Each step can be undone, so that no change of a single word goes
 * unnoticed, and it takes a cycle or so for a byte; against malice nothing here protects.
 */
static inline guint64
wp_wpt_sum(gconstpointer bytes, gsize n)
{
	guint64 sum = 0, word;

	for (gsize i = 0; i < n; i += sizeof word) {
		memcpy(&word, (const guint8 *)bytes + i, sizeof word);
		sum = (sum ^ GUINT64_FROM_LE(word)) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
	}
	return sum;
}

/* What BLOCK's check must be; it is stored as little-endian already, but for check. */
static inline guint32
wp_wpt_check(const WpWptBlock *block)
{
	WpWptBlock copy = *block;
	copy.check = 0;
	return (guint32)wp_wpt_sum(&copy, sizeof copy);
}

/* See WpTraceFormat. */
gboolean wp_wpt_detect(const guint8 *head, gsize length);
gboolean wp_wpt_read(WpTraceReading *reading, GError **error);

#endif
