/*
 * Trace files, both ways (wirepath-trace(5)). There are two forms, which a reader tells by their first
 * bytes: .wpt (wpt.h), small and fast, and text, one record a line, tab separated, so that grep, sort
 * and awk work:
 *
 *   #wirepath-trace 1
 *   #columns	time	kind	sender	receiver	id	...
 *   1047680084.482205000	CALL	nodeA	nodeB	id37	...
 *
 * The first five columns are required. Lines that begin with '#' are header and may stand anywhere:
 *
 *   #node	KEY                               nodes are numbered in the order they occur
 *   #node	KEY	SOURCE	COUNT	NAME           what the capture called it
 *   #counter	NAME	N[	SENDER	RECEIVER]
 *   #setting	KEY	VALUE
 *
 * The paper's own layout (CALL_SENT, RET_SENT, any white space, no header)
 * is read as well. Files that end in .gz, .zst and .lz4 are (de)compressed.
 */
#ifndef WP_CAPTURE_TRACE_IO_H
#define WP_CAPTURE_TRACE_IO_H

#include <glib.h>

#include "capture/input.h"
#include "capture/nodes.h"
#include "capture/sink.h"

/*
 * A sink that writes a trace to PATH ("-" = stdout), as .wpt where that is its suffix (before .gz, .zst
 * or .lz4), else as text. A file appears under its name only when it is complete (end); what came before an
 * error is kept as PATH.partial, and can be read. (transfer full) Free with wp_trace_writer_free().
 */
WpRecordSink *wp_trace_writer_new(const char *path, GError **error);

/* The same, in the form NAME ("text", "wpt"; NULL: by suffix). */
WpRecordSink *wp_trace_writer_new_as(const char *path, const char *name, GError **error);

/* As wp_trace_writer_new(), for a capture that goes on for long: see wp_output_open_in_place(). */
WpRecordSink *wp_trace_writer_new_in_place(const char *path, const char *name, GError **error);

/* What was written so far can be read now, whatever comes. Nothing before begin(). */
void wp_trace_writer_sync(WpRecordSink *writer);

/* After an error that came before end(): *ERROR, where there is one, gets a line on what was kept. */
void wp_trace_writer_stop(WpRecordSink *writer, GError **error);

/* Stops, where end() was not called. */
void wp_trace_writer_free(WpRecordSink *writer);

typedef struct {
	gint64 from_ns; /* WP_NO_TIME = all */
	gint64 to_ns;
	gboolean (*progress)(guint64 read, guint64 size, guint64 records, gpointer data);
	gpointer progress_data;
	WpInput **
		standard_input; /* already open, for the path "-": taken (then NULL); may be NULL */
} WpTraceReadOptions;

/*
 * Reads the trace at PATH and pushes it into SINK (begin ... end). Lines (of .wpt: records, blocks) that
 * make no sense are counted and, for the first, reported as a setting; a file without any good one is
 * an error (WP_CAPTURE_ERROR_FORMAT). A file cut short gives all up to the cut and
 * WP_COUNT_INPUT_TRUNCATED.
 */
gboolean wp_trace_read(const char *path, const WpTraceReadOptions *options, WpNodes *nodes,
		       WpRecordSink *sink, GError **error);

/* TRUE where the first bytes of a file (decompressed) are those of a trace. */
gboolean wp_trace_is_trace(const guint8 *head, gsize length);

#endif
