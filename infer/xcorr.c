/*
 * Cross-correlation; see xcorr.h. The only file that knows FFTW.
 *
 * Blocks of the segmented way are three times as long as the lags where that gives a good length: longer
 * ones waste less on the overlap, shorter ones stay in the cache. Plans are estimated, not measured: the
 * same plan, and so the same bits, in every run.
 */
#include "infer/xcorr.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

const char *const wp_xcorr_method_names[WP_XCORR_N_METHODS] = { "direct", "sparse", "whole",
								"segmented" };

/* Shortest transform of the segmented way: below it, overhead outweighs the work. */
#define MIN_LENGTH 1024

/*
 * Measured on x86-64 in units of one pair of the sparse way (a load, a multiplication, an addition to
 * memory): a real transform of n values takes 0.3 n log2(n) of them.
 */
#define TRANSFORM_COST 0.3

struct WpXcorr {
	gsize length; /* of the transforms below, in values; 0 = none yet */
	double *values;
	fftw_complex *first;
	fftw_complex *second;
	fftw_complex *sum;
	fftw_plan forward_first;
	fftw_plan forward_second;
	fftw_plan backward;
};

static gsize
n_lags(WpLags lags)
{
	return (gsize)(lags.max - lags.min + 1);
}

/* The least 2^i 3^j 5^k that is even and not below N: lengths that FFTW is fast at. */
static gsize
good_length(gsize n)
{
	gsize best = 2;
	while (best < n)
		best *= 2;
	for (gsize five = 1; five < 2 * n; five *= 5)
		for (gsize three = five; three < 2 * n; three *= 3) {
			gsize length = 2 * three;
			while (length < n)
				length *= 2;
			best = MIN(best, length);
		}
	return best;
}

static gsize
segment_length(gsize lags)
{
	return good_length(MAX(4 * lags, MIN_LENGTH));
}

WpXcorr *
wp_xcorr_new(void)
{
	return g_new0(WpXcorr, 1);
}

static void
release(WpXcorr *xcorr)
{
	if (!xcorr->length)
		return;
	fftw_destroy_plan(xcorr->forward_first);
	fftw_destroy_plan(xcorr->forward_second);
	fftw_destroy_plan(xcorr->backward);
	fftw_free(xcorr->values);
	fftw_free(xcorr->first);
	fftw_free(xcorr->second);
	fftw_free(xcorr->sum);
	xcorr->length = 0;
}

void
wp_xcorr_free(WpXcorr *xcorr)
{
	if (!xcorr)
		return;
	release(xcorr);
	g_free(xcorr);
}

/* Planning overwrites buffers, so it comes before they are filled. */
static void
prepare(WpXcorr *xcorr, gsize length)
{
	if (xcorr->length == length)
		return;
	release(xcorr);
	gsize half = length / 2 + 1;
	xcorr->length = length;
	xcorr->values = fftw_alloc_real(length);
	xcorr->first = fftw_alloc_complex(half);
	xcorr->second = fftw_alloc_complex(half);
	xcorr->sum = fftw_alloc_complex(half);
	if (!xcorr->values || !xcorr->first || !xcorr->second || !xcorr->sum)
		g_error("out of memory for a transform of %" G_GSIZE_FORMAT " values", length);
	xcorr->forward_first =
		fftw_plan_dft_r2c_1d((int)length, xcorr->values, xcorr->first, FFTW_ESTIMATE);
	xcorr->forward_second =
		fftw_plan_dft_r2c_1d((int)length, xcorr->values, xcorr->second, FFTW_ESTIMATE);
	xcorr->backward =
		fftw_plan_dft_c2r_1d((int)length, xcorr->sum, xcorr->values, FFTW_ESTIMATE);
}

/* sum += conj(first) second */
static void
multiply(WpXcorr *xcorr)
{
	gsize half = xcorr->length / 2 + 1;
	for (gsize i = 0; i < half; i++) {
		const double *a = xcorr->first[i], *b = xcorr->second[i];
		xcorr->sum[i][0] += a[0] * b[0] + a[1] * b[1];
		xcorr->sum[i][1] += a[0] * b[1] - a[1] * b[0];
	}
}

static void
finish(WpXcorr *xcorr, gsize n, double *out)
{
	fftw_execute(xcorr->backward);
	for (gsize i = 0; i < n; i++)
		out[i] = xcorr->values[i] / (double)xcorr->length;
}

/* Blocks of BLOCK bins of A from its first bin on; those that hold nothing cost nothing. */
static void
run_blocks(WpXcorr *xcorr, const WpSignal *a, const WpSignal *b, WpSignalValue value, WpLags lags,
	   gsize block, double *out)
{
	gsize n = n_lags(lags), length = xcorr->length;
	memset(xcorr->sum, 0, (length / 2 + 1) * sizeof *xcorr->sum);
	for (gsize i = 0; i < a->n;) {
		gint64 from = a->bins[i];
		if (wp_signal_fill(b, value, from + lags.min, length, xcorr->values)) {
			fftw_execute(xcorr->forward_second);
			wp_signal_fill(a, value, from, block, xcorr->values);
			memset(xcorr->values + block, 0, (length - block) * sizeof(double));
			fftw_execute(xcorr->forward_first);
			multiply(xcorr);
		}
		i = wp_signal_find(a, from + (gint64)block);
	}
	finish(xcorr, n, out);
}

static void
run_segmented(WpXcorr *xcorr, const WpSignal *a, const WpSignal *b, WpSignalValue value,
	      WpLags lags, double *out)
{
	gsize length = segment_length(n_lags(lags));
	prepare(xcorr, length);
	run_blocks(xcorr, a, b, value, lags, length - n_lags(lags) + 1, out);
}

static gint64
duration_bins(const WpSignal *a, const WpSignal *b)
{
	gint64 begin = MIN(a->bins[0], b->bins[0]);
	return MAX(a->bins[a->n - 1], b->bins[b->n - 1]) - begin + 1;
}

/* The paper's: everything in one transform, zeros behind it, so that lags do not wrap round. */
static void
run_whole(WpXcorr *xcorr, const WpSignal *a, const WpSignal *b, WpSignalValue value, WpLags lags,
	  double *out)
{
	gsize block = (gsize)(a->bins[a->n - 1] - a->bins[0] + 1);
	prepare(xcorr, good_length(block + n_lags(lags)));
	run_blocks(xcorr, a, b, value, lags, block, out);
}

static void
run_direct(const WpSignal *a, const WpSignal *b, WpSignalValue value, WpLags lags, double *out)
{
	gsize n = (gsize)duration_bins(a, b);
	gint64 begin = MIN(a->bins[0], b->bins[0]);
	g_autofree double *first = g_new(double, n);
	g_autofree double *second = g_new(double, n);
	wp_signal_fill(a, value, begin, n, first);
	wp_signal_fill(b, value, begin, n, second);
	for (gint64 lag = lags.min; lag <= lags.max; lag++) {
		double sum = 0;
		for (gint64 t = MAX(0, -lag); t < (gint64)n && t + lag < (gint64)n; t++)
			sum += first[t] * second[t + lag];
		out[lag - lags.min] = sum;
	}
}

static void
run_sparse(const WpSignal *a, const WpSignal *b, WpSignalValue value, WpLags lags, double *out)
{
	gsize low = 0, end = 0;
	g_autofree double *weights = g_new(double, b->n);
	memset(out, 0, n_lags(lags) * sizeof *out);
	for (gsize j = 0; j < b->n; j++)
		weights[j] = wp_signal_value(value, b->counts[j]);
	for (gsize i = 0; i < a->n; i++) {
		double weight = wp_signal_value(value, a->counts[i]);
		gint64 first = a->bins[i] + lags.min, last = a->bins[i] + lags.max;
		while (low < b->n && b->bins[low] < first)
			low++;
		while (end < b->n && b->bins[end] <= last)
			end++;
		const gint64 *bins = b->bins;
		for (gsize j = low; j < end; j++)
			out[bins[j] - first] += weight * weights[j];
	}
}

void
wp_xcorr_counts(const WpSignal *a, const WpSignal *b, WpLags lags, guint64 *out)
{
	gsize low = 0;
	memset(out, 0, n_lags(lags) * sizeof *out);
	for (gsize i = 0; i < a->n; i++) {
		gint64 first = a->bins[i] + lags.min, last = a->bins[i] + lags.max;
		while (low < b->n && b->bins[low] < first)
			low++;
		for (gsize j = low; j < b->n && b->bins[j] <= last; j++)
			out[b->bins[j] - first] += (guint64)a->counts[i] * b->counts[j];
	}
}

static double
transform_cost(gsize length)
{
	return TRANSFORM_COST * (double)length * log2((double)length);
}

/* Pairs of bins within LAGS, counted at up to 1000 places of A. */
static double
count_pairs(const WpSignal *a, const WpSignal *b, WpLags lags)
{
	gsize step = MAX(a->n / 1000, 1), n = 0;
	double pairs = 0;
	for (gsize i = step / 2; i < a->n; i += step, n++)
		pairs += (double)(wp_signal_find(b, a->bins[i] + lags.max + 1) -
				  wp_signal_find(b, a->bins[i] + lags.min));
	return n ? pairs / (double)n * (double)a->n : 0;
}

WpXcorrCost
wp_xcorr_cost(const WpSignal *a, const WpSignal *b, WpLags lags)
{
	WpXcorrCost cost = { .best = WP_XCORR_SPARSE };
	if (!a->n || !b->n)
		return cost;
	gsize n = n_lags(lags), length = segment_length(n), block = length - n + 1;
	double duration = (double)duration_bins(a, b);
	double blocks = MIN(ceil(duration / (double)block), (double)a->n);
	cost.operations[WP_XCORR_DIRECT] = duration * (double)n;
	cost.operations[WP_XCORR_SPARSE] = (double)a->n + (double)b->n + count_pairs(a, b, lags);
	cost.operations[WP_XCORR_SEGMENTED] = (2 * blocks + 1) * transform_cost(length);
	cost.operations[WP_XCORR_WHOLE] = 3 * transform_cost((gsize)duration + n);
	if (cost.operations[WP_XCORR_SEGMENTED] < cost.operations[WP_XCORR_SPARSE])
		cost.best = WP_XCORR_SEGMENTED;
	return cost;
}

void
wp_xcorr_run(WpXcorr *xcorr, WpXcorrMethod method, const WpSignal *a, const WpSignal *b,
	     WpSignalValue value, WpLags lags, double *out)
{
	if (!a->n || !b->n) {
		memset(out, 0, n_lags(lags) * sizeof *out);
		return;
	}
	switch (method) {
	case WP_XCORR_DIRECT:
		run_direct(a, b, value, lags, out);
		break;
	case WP_XCORR_SPARSE:
		run_sparse(a, b, value, lags, out);
		break;
	case WP_XCORR_WHOLE:
		run_whole(xcorr, a, b, value, lags, out);
		break;
	default:
		run_segmented(xcorr, a, b, value, lags, out);
	}
}
