/* WpViewCurve: the histogram of one node of a pattern, or of an operation, for pages that draw or tell it. Made when it is asked for. */
#ifndef WP_REPORT_VIEW_CURVE_H
#define WP_REPORT_VIEW_CURVE_H

#include <glib.h>

#include "report/view.h"

#define WP_VIEW_CURVE_BINS 64

typedef struct {
	double low_ns; /* of all bins, which are equally wide on a logarithmic scale */
	double high_ns;
	guint64 n; /* all counts */
	guint64 counts[WP_VIEW_CURVE_BINS];
	guint32 n_bins; /* 0 = there is nothing to draw; 1 = all are equal */
} WpViewCurve;

typedef enum {
	WP_VIEW_CURVE_LATENCY,
	WP_VIEW_CURVE_SELF
} WpViewCurveKind;

/* Of NODE of PATTERN, both of VIEW. */
WpViewCurve wp_view_curve(const WpView *view, const WpViewPattern *pattern, guint32 node,
			  WpViewCurveKind kind);

/*
 * Adds the latencies of OPERATION of VIEW to COUNTS: how many lie up to BOUNDS_NS[i], N of these, and above the one before;
 * behind the last those above all. Within 1 % of a bound it may be either side.
 */
void wp_view_add_latencies(const WpView *view, const WpViewOperation *operation,
			   const gint64 *bounds_ns, guint n, guint64 *counts);

/* Latencies: so many from LOW to below HIGH. */
typedef struct {
	gint64 low_ns;
	gint64 high_ns;
	guint64 count;
} WpViewBin;

/*
 * (transfer full) The latencies of OPERATION of VIEW as bins (of WpViewBin) with a count each, by low_ns; such as touch are
 * one where together they are at most a 16th of their low bound wide, so that there are 11 a power of two.
 */
GArray *wp_view_latency_bins(const WpView *view, const WpViewOperation *operation);

#endif
