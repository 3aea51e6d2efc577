/* Edit distance (thesis algorithm 3.3) with a table of costs, and with affine gaps (algorithm 3.13, Gotoh). */
#include "infer/chain-metric.h"

#include <math.h>
#include <string.h>

/* Thesis section 3.4.3: about what one level has below it. A whole frame costs as much as another role. */
static const double level_costs[WP_FRAME_N_LEVELS] = { 1000, 100, 10, 1 };

static gboolean
is_equal(const WpChainFrame *a, const WpChainFrame *b)
{
	return memcmp(a->levels, b->levels, sizeof a->levels) == 0;
}

/* The cost of the first level in which they differ. */
static double
compare_frames(const WpChainFrame *a, const WpChainFrame *b)
{
	for (guint i = 0; i < WP_FRAME_N_LEVELS; i++)
		if (a->levels[i] != b->levels[i])
			return level_costs[i];
	return 0;
}

static double
one_missing(const WpFramePlace *place)
{
	return 1;
}

static double
one_changed(const WpFramePlace *a, const WpFramePlace *b)
{
	return 1;
}

/* Frames from here to the end of the chain: 1 for the last. */
static double
left(const WpFramePlace *place)
{
	return (double)(place->length - place->at);
}

static double
end_missing(const WpFramePlace *place)
{
	return 1 + left(place);
}

static double
end_changed(const WpFramePlace *a, const WpFramePlace *b)
{
	return 1 + (left(a) + left(b)) / 2;
}

static double
end2_missing(const WpFramePlace *place)
{
	return 1 + left(place) * left(place);
}

static double
end2_changed(const WpFramePlace *a, const WpFramePlace *b)
{
	double mean = (left(a) + left(b)) / 2;
	return 1 + mean * mean;
}

static double
begin_missing(const WpFramePlace *place)
{
	return 1 + (double)place->at;
}

static double
begin_changed(const WpFramePlace *a, const WpFramePlace *b)
{
	return 1 + (double)(a->at + b->at) / 2;
}

static double
begin2_missing(const WpFramePlace *place)
{
	return 1 + (double)place->at * place->at;
}

static double
begin2_changed(const WpFramePlace *a, const WpFramePlace *b)
{
	double mean = (double)(a->at + b->at) / 2;
	return 1 + mean * mean;
}

static double
hier_begin_missing(const WpFramePlace *place)
{
	return level_costs[0] * begin_missing(place);
}

static double
hier_begin_changed(const WpFramePlace *a, const WpFramePlace *b)
{
	return compare_frames(a->frame, b->frame) * begin_changed(a, b);
}

/* 0 at the root, most in the middle. */
static double
peak(const WpFramePlace *place)
{
	double half = place->length / 2.0;
	return half - fabs(place->at - half);
}

static double
hier_middle_missing(const WpFramePlace *place)
{
	return level_costs[0] * (1 + peak(place));
}

static double
hier_middle_changed(const WpFramePlace *a, const WpFramePlace *b)
{
	return compare_frames(a->frame, b->frame) * (1 + (peak(a) + peak(b)) / 2);
}

static const WpChainMetric lev = {
	"lev", "every difference costs 1", one_missing, one_changed, 0, 0
};
static const WpChainMetric gap = {
	"gap", "neighbours that are missing together cost 3 + 1 each further one",
	NULL,  one_changed,
	3,     1
};
static const WpChainMetric end = { "end",       "differences at the end are cheap",
				   end_missing, end_changed,
				   0,           0 };
static const WpChainMetric end2 = {
	"end2", "... by the square of the way to it", end2_missing, end2_changed, 0, 0
};
static const WpChainMetric begin = {
	"begin", "differences at the root are cheap", begin_missing, begin_changed, 0, 0
};
static const WpChainMetric begin2 = {
	"begin2", "... by the square of the way to it", begin2_missing, begin2_changed, 0, 0
};
static const WpChainMetric hier_begin = {
	"hier-begin",
	"role 1000, service 100, operation 10, time 1; cheap at the root",
	hier_begin_missing,
	hier_begin_changed,
	0,
	0
};
static const WpChainMetric hier_middle = { "hier-middle",
					   "... dear in the middle of the chain",
					   hier_middle_missing,
					   hier_middle_changed,
					   0,
					   0 };

const WpChainMetric *const wp_chain_metrics[] = { &lev,    &gap,        &end,         &end2, &begin,
						  &begin2, &hier_begin, &hier_middle, NULL };

const WpChainMetric *
wp_chain_metric_by_name(const char *name)
{
	for (guint i = 0; wp_chain_metrics[i]; i++)
		if (strcmp(wp_chain_metrics[i]->name, name) == 0)
			return wp_chain_metrics[i];
	return NULL;
}

static double
change(const WpChainMetric *metric, const WpFramePlace *a, const WpFramePlace *b)
{
	return is_equal(a->frame, b->frame) ? 0 : metric->changed(a, b);
}

/* ROW[j]: the cost of A up to here against the first j frames of B; DIAGONAL: that of the row before at j - 1. */
static double
edit_distance(const WpChainMetric *metric, const WpChainFrame *a, guint n_a, const WpChainFrame *b,
	      guint n_b)
{
	g_autofree double *row = g_new(double, (gsize)n_b + 1);
	row[0] = 0;
	for (guint j = 0; j < n_b; j++)
		row[j + 1] = row[j] + metric->missing(&(WpFramePlace){ &b[j], n_b, j });
	for (guint i = 0; i < n_a; i++) {
		WpFramePlace of_a = { &a[i], n_a, i };
		double removed = metric->missing(&of_a), diagonal = row[0];
		row[0] += removed;
		for (guint j = 0; j < n_b; j++) {
			WpFramePlace of_b = { &b[j], n_b, j };
			double best =
				MIN(diagonal + change(metric, &of_a, &of_b),
				    MIN(row[j + 1] + removed, row[j] + metric->missing(&of_b)));
			diagonal = row[j + 1];
			row[j + 1] = best;
		}
	}
	return row[n_b];
}

/* What a gap of N frames costs. */
static double
gap_cost(const WpChainMetric *metric, guint n)
{
	return n ? metric->gap_open + metric->gap_widen * (n - 1) : 0;
}

/* GAPS_A[j]: as ROW[j], where the last of A stands in a gap; GAP_B: where the last of B does. */
static double
gap_distance(const WpChainMetric *metric, const WpChainFrame *a, guint n_a, const WpChainFrame *b,
	     guint n_b)
{
	g_autofree double *row = g_new(double, (gsize)n_b + 1);
	g_autofree double *gaps_a = g_new(double, (gsize)n_b + 1);
	for (guint j = 0; j <= n_b; j++) {
		row[j] = gap_cost(metric, j);
		gaps_a[j] = INFINITY;
	}
	for (guint i = 0; i < n_a; i++) {
		WpFramePlace of_a = { &a[i], n_a, i };
		double diagonal = row[0], gap_b = INFINITY;
		row[0] = gap_cost(metric, i + 1);
		for (guint j = 0; j < n_b; j++) {
			WpFramePlace of_b = { &b[j], n_b, j };
			gaps_a[j + 1] = MIN(gaps_a[j + 1] + metric->gap_widen,
					    row[j + 1] + metric->gap_open);
			gap_b = MIN(gap_b + metric->gap_widen, row[j] + metric->gap_open);
			double best = MIN(diagonal + change(metric, &of_a, &of_b),
					  MIN(gaps_a[j + 1], gap_b));
			diagonal = row[j + 1];
			row[j + 1] = best;
		}
	}
	return row[n_b];
}

double
wp_chain_distance(const WpChainMetric *metric, const WpChainFrame *a, guint n_a,
		  const WpChainFrame *b, guint n_b)
{
	return metric->missing ? edit_distance(metric, a, n_a, b, n_b)
			       : gap_distance(metric, a, n_a, b, n_b);
}
