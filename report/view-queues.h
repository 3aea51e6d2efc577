/* The part of a view that tells where calls wait for a worker. */
#ifndef WP_REPORT_VIEW_QUEUES_H
#define WP_REPORT_VIEW_QUEUES_H

#include "report/analysis.h"
#include "report/view.h"

/* Sets queues of VIEW. Names are borrowed from ANALYSIS. */
void wp_view_queues_fill(WpView *view, const WpAnalysis *analysis);

#endif
