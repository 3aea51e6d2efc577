/* The part of a view that tells where each call is, and how far the links can be trusted. */
#ifndef WP_REPORT_VIEW_LINKS_H
#define WP_REPORT_VIEW_LINKS_H

#include "report/analysis.h"
#include "report/view.h"

/* Sets links, lots, setup, n_calls, n_messages and n_nodes of VIEW. */
void wp_view_links_fill(WpView *view, const WpAnalysis *analysis, const WpViewOptions *options);

#endif
