/* The part of a view that tells where calls wait for a connection. */
#ifndef WP_REPORT_VIEW_POOLS_H
#define WP_REPORT_VIEW_POOLS_H

#include "report/analysis.h"
#include "report/view.h"

/* Sets pools of VIEW, whose totals and links are there. Names are borrowed from ANALYSIS. */
void wp_view_pools_fill(WpView *view, const WpAnalysis *analysis);

#endif
