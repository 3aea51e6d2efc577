/* The part of a view that tells what the calls between two nodes spent their time on. */
#ifndef WP_REPORT_VIEW_EDGES_H
#define WP_REPORT_VIEW_EDGES_H

#include "report/analysis.h"
#include "report/view.h"

/* Sets edge_times of VIEW. Names are borrowed from ANALYSIS. */
void wp_view_edges_fill(WpView *view, const WpAnalysis *analysis);

#endif
