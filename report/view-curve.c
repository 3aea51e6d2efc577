/* Bins of a delay, finer where it has more of them, gathered into few that are equally wide. */
#include "report/view-curve.h"

#include <math.h>

#include "infer/pattern.h"
#include "report/analysis.h"
#include "report/view-private.h"

static void
add_bin(gint64 low_ns, gint64 high_ns, guint64 count, gpointer data)
{
	WpViewCurve *curve = data;
	double middle =
		CLAMP(((double)low_ns + (double)high_ns) / 2, curve->low_ns, curve->high_ns);
	double width = log(curve->high_ns / curve->low_ns);
	guint32 bin =
		width > 0 ? (guint32)(log(middle / curve->low_ns) / width * curve->n_bins) : 0;
	curve->counts[MIN(bin, curve->n_bins - 1)] += count;
	curve->n += count;
}

/* The first of the set's nodes that became NODE of the view, and how many did. */
static guint32
find_run(const WpPattern *from, guint32 node, guint32 *out_n)
{
	guint32 i = 0;
	*out_n = wp_view_run_length(from, 0);
	for (guint32 k = 0; k < node && i + *out_n < from->n_nodes; k++) {
		i += *out_n;
		*out_n = wp_view_run_length(from, i);
	}
	return i;
}

WpViewCurve
wp_view_curve(const WpView *view, const WpViewPattern *pattern, guint32 node, WpViewCurveKind kind)
{
	const WpPattern *from = &view->analysis->patterns->patterns[pattern->number];
	const WpViewTimes *times = kind == WP_VIEW_CURVE_SELF ? &pattern->nodes[node].self
							      : &pattern->nodes[node].latency;
	WpViewCurve curve = { .low_ns = MAX(times->min_ns, 1), .high_ns = MAX(times->max_ns, 1) };
	guint32 n, first = find_run(from, node, &n);

	if (!times->count)
		return curve;
	curve.n_bins = curve.high_ns > curve.low_ns ? WP_VIEW_CURVE_BINS : 1;
	for (guint32 i = first; i < first + n; i++)
		wp_delay_foreach_bin(kind == WP_VIEW_CURVE_SELF ? from->nodes[i].self_time
								: from->nodes[i].latency,
				     add_bin, &curve);
	return curve;
}

typedef struct {
	const gint64 *bounds_ns;
	guint n;
	guint64 *counts;
} Buckets;

/* A bin that a bound cuts is where its middle is. */
static void
add_to_bucket(gint64 low_ns, gint64 high_ns, guint64 count, gpointer data)
{
	const Buckets *buckets = data;
	gint64 middle_ns = low_ns + (high_ns - 1 - low_ns) / 2;
	guint i = 0;

	while (i < buckets->n && middle_ns > buckets->bounds_ns[i])
		i++;
	buckets->counts[i] += count;
}

static void
join_bin(gint64 low_ns, gint64 high_ns, guint64 count, gpointer data)
{
	GArray *bins = data;
	WpViewBin bin = { low_ns, high_ns, count };
	WpViewBin *last = bins->len ? &g_array_index(bins, WpViewBin, bins->len - 1) : NULL;

	if (last && last->high_ns == low_ns && high_ns <= last->low_ns + last->low_ns / 16) {
		last->high_ns = high_ns;
		last->count += count;
	} else {
		g_array_append_val(bins, bin);
	}
}

GArray *
wp_view_latency_bins(const WpView *view, const WpViewOperation *operation)
{
	const WpPatternSet *set = view->analysis->patterns;
	GArray *bins = g_array_new(FALSE, FALSE, sizeof(WpViewBin));

	wp_delay_foreach_bin(set->operations[operation->number].latency, join_bin, bins);
	return bins;
}

void
wp_view_add_latencies(const WpView *view, const WpViewOperation *operation, const gint64 *bounds_ns,
		      guint n, guint64 *counts)
{
	const WpPatternSet *set = view->analysis->patterns;
	Buckets buckets = { bounds_ns, n, counts };

	wp_delay_foreach_bin(set->operations[operation->number].latency, add_to_bucket, &buckets);
}
