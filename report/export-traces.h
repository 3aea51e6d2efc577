/*
 * Which traces the calls of a part belong to. Where programs name one in their requests (capture/trace-context.h) the
 * calls are told with the ids of that trace, so that hops which no tracing system sees stand among the spans of those
 * that it sees:
 *
 *   edge -> web   names nothing             trace T    takes part, as what it caused does
 *   web -> app    names T, parent W         trace T    under the span W of web
 *   app -> db     names nothing             trace T    under the call before
 *   app -> price  names T, parent A         trace T    under the span A of app
 *   app -> audit  names T, parent W         trace T    app has only passed on what it got: under web -> app
 *
 * What is named is believed where the calls fit: calls with the same trace and the same parent that nothing else
 * holds together (several requests, or the children of several calls) show that a program sends the same again and
 * again, and those are not believed. A call whose own trace is another one than that of the call that caused it
 * begins a trace of its own.
 */
#ifndef WP_REPORT_EXPORT_TRACES_H
#define WP_REPORT_EXPORT_TRACES_H

#include <glib.h>

#include "capture/trace.h"
#include "infer/links.h"
#include "infer/span.h"

typedef struct {
	guint64 high;
	guint64 low;
} WpExportTraceId;

/* Parents and children as they are exported. */
typedef struct {
	guint32 n;
	guint32 *parents;  /* WP_NO_SPAN = none that is exported */
	guint32 *child_at; /* [n + 1]: children of a span, in order of time */
	guint32 *children;
	guint32 *order; /* exported calls, each followed by all below it */
	guint32 n_order;
} WpExportTree;

/* KEEP, which may be NULL (all), is borrowed. */
void wp_export_tree_init(WpExportTree *tree, const WpLinks *links, guint32 n, const guint8 *keep);
void wp_export_tree_clear(WpExportTree *tree);

typedef struct {
	guint64 id; /* never 0 */
	WpExportTraceId
		trace; /* that of a first call is drawn with its id; of all others it is set here */
	guint64 sent_parent; /* the span that its program named as its parent; 0 = none, or the call that caused it */
	gboolean is_first; /* of its trace: nothing caused it, or something of another trace */
} WpExportId;

typedef struct {
	guint64 believed; /* calls that name a trace */
	guint64 doubted;
} WpExportTraced;

/* Sets all of IDS but their ids. USES_SENT: what programs named counts. Adds to TRACED. */
void wp_export_set_traces(const WpExportTree *tree, const WpSpans *spans, const WpTrace *trace,
			  gboolean uses_sent, WpExportId *ids, WpExportTraced *traced);

#endif
