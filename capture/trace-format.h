/*
 * The forms of trace files, one WpTraceFormat each, and what the readers and writers of all forms have
 * in common. Implemented in trace-io.c; the forms are trace-read.c and trace-write.c (text), wpt-read.c
 * and wpt-write.c (binary).
 *
 * To add a form: a const WpTraceFormat and a line in wp_trace_formats[].
 */
#ifndef WP_CAPTURE_TRACE_FORMAT_H
#define WP_CAPTURE_TRACE_FORMAT_H

#include <glib.h>

#include "capture/input.h"
#include "capture/nodes.h"
#include "capture/output.h"
#include "capture/sink.h"
#include "capture/trace-io.h"

#define WP_TRACE_MAX_NODES   (1024 * 1024) /* of a file: more is no system but a mistaken column */
#define WP_TRACE_MAX_STRINGS (1u << 30)    /* half of what WpStrings can number */
#define WP_TRACE_MAX_SECONDS 4611686017 /* from 0: the distance of two times fits into int64 ns */

typedef struct WpTraceFormat WpTraceFormat;

/* A writer of any form; those of the forms begin with it. */
typedef struct {
	WpRecordSink sink; /* first, so that a sink is its writer */
	const WpTraceFormat *format;
	WpOutput *output;
	WpNodes *nodes; /* since begin() */
	gboolean has_records;
	gboolean is_finished;
} WpTraceWriter;

/* The reading of one file, whatever its form. */
typedef struct {
	WpInput *input;
	WpNodes *nodes;
	WpRecordSink *sink;
	const WpTraceReadOptions *options; /* may be NULL */

	gboolean has_header;  /* it says that it is a trace: it may be empty */
	gboolean is_stopped;  /* progress asked for it */
	gboolean sink_failed; /* nothing more can be pushed */
	guint64 n_good, n_bad;
	char *first_bad; /* "line 7: ..." */

	WpCounters *counters;
	WpCounters *part;              /* counted since the last record; NULL: nothing */
	guint64 totals[WP_N_COUNTERS]; /* of the file's counters, pairs included */
	guint64 paired[WP_N_COUNTERS]; /* of the file's counters with a pair */
} WpTraceReading;

struct WpTraceFormat {
	const char *name; /* as in --format */
	const char
		*suffix; /* of files of that form, before .gz, .zst and .lz4; "" takes every name */

	/* TRUE where the first bytes of a file are of that form. */
	gboolean (*detect)(const guint8 *head, gsize length);

	/* All of the file; what was read before an error counts. */
	gboolean (*read)(WpTraceReading *reading, GError **error);

	/* (transfer full) Only what the form adds to WpTraceWriter, and sink.ops. */
	WpTraceWriter *(*writer_new)(void);

	/* Puts what is held back, so that a reader has all so far. NULL: nothing is. */
	void (*writer_sync)(WpTraceWriter *writer);

	/* What stands after the last record, also of a trace that ends with an error. */
	void (*writer_finish)(WpTraceWriter *writer);

	/* Frees what the form added, not the writer. */
	void (*writer_clear)(WpTraceWriter *writer);
};

extern const WpTraceFormat wp_trace_format_text;
extern const WpTraceFormat wp_trace_format_wpt;

/* The last takes what no other does. Ends with NULL. */
extern const WpTraceFormat *const wp_trace_formats[];

/*
 * For readers. A record of the file (passed on where the options want it); a fact about the capture;
 * a counter, in all or of a pair; something that makes no sense, for REASON, at WHERE ("line 7").
 */
gboolean wp_trace_reading_record(WpTraceReading *reading, const WpRecord *record,
				 const guint32 *tokens, GError **error);
gboolean wp_trace_reading_setting(WpTraceReading *reading, const char *key, const char *value,
				  GError **error);
void wp_trace_reading_total(WpTraceReading *reading, WpCounter counter, guint64 n);
/* What was counted up to here, between records; it is in the totals as well. */
void wp_trace_reading_part(WpTraceReading *reading, WpCounter counter, guint32 sender,
			   guint32 receiver, guint64 n);
void wp_trace_reading_pair(WpTraceReading *reading, WpCounter counter, guint32 sender,
			   guint32 receiver, guint64 n);
void wp_trace_reading_bad(WpTraceReading *reading, guint64 n, const char *where, guint64 place,
			  const char *reason);

/* The input ends too early. */
void wp_trace_reading_cut(WpTraceReading *reading);

/* Tells how far the reading is; FALSE, and is_stopped, where it is to stop. */
gboolean wp_trace_reading_go_on(WpTraceReading *reading);

#endif
