/*
 * Files of spans, as tracing systems write them, to records: what would have been seen on the network between the
 * services. OTLP JSON (also lines of it), the JSON of Jaeger, Zipkin's JSON of version 2.
 *
 *   files --span-read--> spans --span-calls--> calls with their true parents --sort by time--> sink, truth
 *
 * A span of kind server is a call into its service, from the service of its parent, or from "client". Where the
 * caller's span is there too, of kind client, the two are the two ends of one call, each with its own clock. A client span
 * without the other end is a call to whom it names (peer.service, server.address, db.system, ...). A consumer span is a one-way
 * message. Spans inside a service are no calls. What a span knows of its trace and parent is kept from
 * inference, and given as the truth.
 *
 * All spans are gathered first, 100 bytes each, as they come in any order and records leave in order of time.
 */
#ifndef WP_CAPTURE_SPAN_FILE_H
#define WP_CAPTURE_SPAN_FILE_H

#include <glib.h>

#include "capture/input.h"
#include "capture/sink.h"
#include "capture/trace.h"

/* Spans beyond are counted, not kept: 1.6 GB. */
#define WP_SPAN_FILE_MAX_SPANS 16000000

/* The call with ID was caused by PARENT ("" = by none that was seen). In order of time. FALSE stops. */
typedef gboolean (*WpSpanFileTruthFunc)(const char *id, const char *parent, gpointer data,
					GError **error);

typedef struct {
	gint64 from_ns; /* only calls from then on; WP_NO_TIME = all */
	gint64 to_ns;   /* only calls before then */
	gboolean (*progress)(guint64 read, guint64 size, guint64 spans, gpointer data);
	gpointer progress_data;
	WpSpanFileTruthFunc truth; /* NULL = not wanted */
	gpointer truth_data;
	WpInput **standard_input; /* see wp_input_open_or_take(); may be NULL */
} WpSpanFileOptions;

/* TRUE where HEAD, the first bytes of a file, is JSON with spans. */
gboolean wp_span_file_is_spans(const guint8 *head, gsize length);

/*
 * Reads all PATHS as one set of spans and pushes the calls into SINK, begin() to end(). FALSE with
 * WP_CAPTURE_ERROR_...; what was read before an error in the middle was pushed then.
 */
gboolean wp_span_file_run(const char *const *paths, gsize n, const WpSpanFileOptions *options,
			  WpNodes *nodes, WpRecordSink *sink, GError **error);

/*
 * The same beside packets: sets the causes of the calls of TRACE, which is frozen (span-join.h), instead of calls of
 * their own. Times and truth of OPTIONS do not count. Errors likewise.
 */
gboolean wp_span_file_join(const char *const *paths, gsize n, const WpSpanFileOptions *options,
			   WpTrace *trace, GError **error);

#endif
