/*
 * WpViewTail: calls of one kind (from one node to another, with one operation) of which a few have far more self
 * time than usual. Whatever takes long in one request of five hundred is in no mean and in no p99, but it is what
 * users complain about.
 *
 * Far more: over the median by more than ten times what the third quartile is; and three times the median. In a
 * bell curve nothing is so far out, in an exponential law one call in two thousand.
 */
#ifndef WP_REPORT_VIEW_TAILS_H
#define WP_REPORT_VIEW_TAILS_H

#include "report/view.h"

struct WpAnalysis;

/* (transfer full) The most time beyond the median first. Names are borrowed from ANALYSIS. */
void wp_view_tails_fill(WpView *view, const struct WpAnalysis *analysis);

#endif
