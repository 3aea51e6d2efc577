/*
 * WpWatchReport: the report on what was watched lately, as `wirepath report` would write it, for a page that is written
 * anew now and then. It reaches back for at most a span, and for half of one at least, as soon as there is so much:
 *
 *     sums    |-------a-------|-------a-------|-------a-------|
 *             |---b---|-------b-------|-------b-------|             a page is of the older one
 */
#ifndef WP_REPORT_WATCH_REPORT_H
#define WP_REPORT_WATCH_REPORT_H

#include <glib.h>

#include "report/analysis.h"
#include "report/writer.h"

typedef struct WpWatchReport WpWatchReport;

/* (transfer full) SPAN_NS of the time in records; at least 2. */
WpWatchReport *wp_watch_report_new(gint64 span_ns);
void wp_watch_report_free(WpWatchReport *report);

/* Adds the next part; each once, in order. */
void wp_watch_report_add(WpWatchReport *report, const WpAnalysis *part);

/*
 * Writes the page of WRITER. ANALYSIS: the last part, or the whole that had it as last. FALSE: there is nothing yet.
 */
gboolean wp_watch_report_write(WpWatchReport *report, const WpAnalysis *analysis,
			       const WpWriter *writer, const WpPage *page, WpOut *out);

/* The begin of the last record so far; WP_NO_TIME: none. */
gint64 wp_watch_report_end_ns(const WpWatchReport *report);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpWatchReport, wp_watch_report_free)

#endif
