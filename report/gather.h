/*
 * WpGather: an analysis, part by part, to a WpDigest: requests with their calls, self times, and who was at a
 * node when a call came.
 */
#ifndef WP_REPORT_GATHER_H
#define WP_REPORT_GATHER_H

#include "report/analysis.h"
#include "report/digest.h"

typedef struct WpGather WpGather;

/* (transfer full) Requests that begin less than WARMUP_NS after the first record are left out. */
WpGather *wp_gather_new(gint64 warmup_ns);
void wp_gather_free(WpGather *gather);

/* A part as it is shown to a WpAnalysisFunc. */
void wp_gather_add(WpGather *gather, const WpAnalysis *part);

/*
 * (transfer full) ANALYSIS: all parts, with patterns. PARTIAL: why the input was not read whole, or NULL. GATHER is
 * not to be used again but to be freed.
 */
WpDigest *wp_gather_finish(WpGather *gather, const WpAnalysis *analysis,
			   const WpAnalysisOptions *options, const WpLoadOptions *load,
			   const char *partial);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpGather, wp_gather_free)

#endif
