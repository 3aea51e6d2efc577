/*
 * The binary form of traces, .wpt: its layout (wirepath-trace(5) has the same for users) and the parts
 * of its code: wpt-write.c; wpt-read.c and, for the records, wpt-read-records.c; wpt-columns.c for both.
 *
 *   file head | block | block | ... | block DONE
 *
 *   block:  head (32 bytes) | payload (a multiple of 8, at most 2 MiB)
 *
 *   STRS  texts, numbered from 1 in the order of the file; text 0 is ""
 *   NODE  keys of nodes, numbered from 0
 *   COLS  records, field by field, then what some of them have besides
 *   CTXT  of records of the next COLS, the traces that they name;  CAUS  what caused them
 *   SETT  settings;  COUN  counters;  HINT  names of nodes
 *   PART  of the counters, what was counted since the records before
 *   DONE  the end: a file without it was cut short
 *
 * A text or node stands before the first record that names it, so that a file can be written and read
 * in one pass. Blocks of other kinds are passed over. All numbers are little-endian.
 *
 * Version 1 had RECS in the place of COLS, where each record stood in 72 bytes or more, and WAYS for those seen at both
 * ends. It is read, but no longer written.
 */
#ifndef WP_CAPTURE_WPT_H
#define WP_CAPTURE_WPT_H

#include <glib.h>
#include <string.h>

#include "capture/bytes.h"
#include "capture/trace-format.h"

/* As in PNG: a transfer that changes line ends or drops the eighth bit is noticed at once. */
#define WP_WPT_MAGIC       "\x89WPT\r\n\x1a\n"
#define WP_WPT_MAGIC_BYTES 8

#define WP_WPT_VERSION 2 /* that is written; those from 1 are read */

/* Of a payload. Texts come from lines of at most 1 MiB, so that the longest fits. */
#define WP_WPT_MAX_PAYLOAD (2 * 1024 * 1024)
#define WP_WPT_MAX_TEXT    (1024 * 1024)

/* Of a COLS block. Columns in which all is equal take no room, so that the payload does not limit them. */
#define WP_WPT_MAX_ROWS 4096

/* Version 1: others may have added to a record; readers use what they know of it. */
#define WP_WPT_MAX_RECORD 4096

typedef struct {
	guint8 magic[WP_WPT_MAGIC_BYTES];
	guint32 version;
	guint32 record_bytes; /* version 1 only; else 0 */
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
 * The fields of a record, each of which is a column of a COLS block, in this order; as in WpRecord but for what is said
 * here. A field that does not apply is 0.
 */
typedef enum {
	WP_WPT_BEGIN,    /* signed */
	WP_WPT_DURATION, /* end_ns - begin_ns */
	WP_WPT_ID,       /* 2 * id, or 2 * number of a text in this file + 1 */
	WP_WPT_PACKET,
	WP_WPT_BYTES,  /* 1 more than it is; 0: WP_NO_SIZE */
	WP_WPT_SENDER, /* node of this file, as is the next */
	WP_WPT_RECEIVER,
	WP_WPT_FLOW,
	WP_WPT_PROTOCOL, /* text of this file, as is the next */
	WP_WPT_LABEL,
	WP_WPT_SRC_PORT,
	WP_WPT_DST_PORT,
	WP_WPT_KIND,
	WP_WPT_STATUS,
	WP_WPT_MARKS, /* also WP_MARK_BOTH_ENDS */
	WP_WPT_TAP,
	WP_WPT_N_TOKENS,
	WP_WPT_SRC_END, /* WP_WPT_END_..., as is the next */
	WP_WPT_DST_END,
	WP_WPT_N_TRANSPORTS,
	WP_WPT_BEGIN_WAY, /* signed, as is the next */
	WP_WPT_END_WAY,
	WP_WPT_N_FIELDS
} WpWptField;

/* A record as a file has it, but for its tokens and so on. */
typedef struct {
	guint64 fields[WP_WPT_N_FIELDS];
} WpWptRow;

/*
 * What stands at the head of each column: 8 bytes, the base; 1 byte, the width: so many bytes (0 to 8) each of its values
 * takes, which is added to the base, modulo 2^64. The columns themselves follow the heads of all of them. Behind these
 * stand, for each record in turn, its tokens (4 bytes each), the address of src and that of dst (16 bytes each, where
 * WP_WPT_END_OTHER); behind all of these, for each record in turn, its transports (9 words of 4 bytes each, as WpRecord's).
 */
#define WP_WPT_COLUMN_HEAD      9
#define WP_WPT_COLUMNS_BYTES(n) (WP_WPT_N_FIELDS * (WP_WPT_COLUMN_HEAD + 8 * (gsize)(n)))

/* So many records a block of columns has at most where we write it; a reader takes any number. */
#define WP_WPT_ROWS 512

/*
 * Records on their way into a block, field by field as they will stand there, each in as many bytes as it can need: the
 * least and the most of a field are found in one place then, several values at a time.
 */
typedef struct {
	guint64 begin[WP_WPT_ROWS];
	guint64 duration[WP_WPT_ROWS];
	guint64 id[WP_WPT_ROWS];
	guint64 packet[WP_WPT_ROWS];
	guint64 bytes[WP_WPT_ROWS];
	guint64 begin_way[WP_WPT_ROWS];
	guint64 end_way[WP_WPT_ROWS];
	guint32 sender[WP_WPT_ROWS];
	guint32 receiver[WP_WPT_ROWS];
	guint32 flow[WP_WPT_ROWS];
	guint32 protocol[WP_WPT_ROWS];
	guint32 label[WP_WPT_ROWS];
	guint16 src_port[WP_WPT_ROWS];
	guint16 dst_port[WP_WPT_ROWS];
	guint8 kind[WP_WPT_ROWS];
	guint8 status[WP_WPT_ROWS];
	guint8 marks[WP_WPT_ROWS];
	guint8 tap[WP_WPT_ROWS];
	guint8 n_tokens[WP_WPT_ROWS];
	guint8 src_end[WP_WPT_ROWS];
	guint8 dst_end[WP_WPT_ROWS];
	guint8 n_transports[WP_WPT_ROWS];
} WpWptColumns;

/* A record of version 1. */
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

/*
 * What stands in blocks of its own, before that of the records that it is about, in their order: u32, the number of the
 * record in its block, from 0; u32 0; and one to three words of 64 bits:
 *   WAYS (version 1)  begin_way_ns and end_way_ns
 *   CTXT              the trace, high half first, and the parent: see trace-context.h
 *   CAUS              the id of the call that caused it, as WpRecord's, with a text of this file
 */
#define WP_WPT_MAX_ASIDE_WORDS 3

G_STATIC_ASSERT(sizeof(WpWptHead) == 16);
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

/*
 * Writes the first N of COLUMNS to OUT, which has room for WP_WPT_COLUMNS_BYTES(N) and 8 bytes more. How many bytes they
 * took.
 */
gsize wp_wpt_pack(const WpWptColumns *columns, guint n, guint8 *out);

/* Takes the columns of N rows from PAYLOAD; FALSE where they are not all there, or no columns. */
gboolean wp_wpt_unpack(WpBytes *payload, guint n, WpWptRow *out_rows);

/* STORED, little-endian as a file of version 1 has it. */
void wp_wpt_row_from_record(const WpWptRecord *stored, WpWptRow *out_row);

/* An id as WpRecord's, to and from the field. */
static inline guint64
wp_wpt_id_to_field(guint64 id)
{
	return id << 1 | id >> 63;
}

static inline guint64
wp_wpt_id_from_field(guint64 field)
{
	return field >> 1 | field << 63;
}

/* See WpTraceFormat. */
gboolean wp_wpt_detect(const guint8 *head, gsize length);
gboolean wp_wpt_read(WpTraceReading *reading, GError **error);

#endif
