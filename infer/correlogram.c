/* Counts of pairs by lag, block by block of time, and what chance makes of them. See correlogram.h. */
#include "infer/correlogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/xcorr-private.h"
#include "infer/xcorr.h"

/* Bins that a correlogram has, about. */
#define WISHED_BINS 120

/* Chance is asked of this share of all bins on either side, and of so many at least. */
#define AROUND     3
#define MIN_AROUND 8

gint64
wp_correlogram_quantum(gint64 max_lag_ns)
{
	return wp_xcorr_round_quantum(MAX((double)max_lag_ns / WISHED_BINS, 1));
}

static int
compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

/*
 * The midmean of VALUES around bin I: the mean of those between the quarters, which spikes are not among, and which
 * is no whole number where there are few. SORTED: room for all.
 */
static double
midmean_around(const double *values, guint32 n, guint32 i, double *sorted)
{
	guint32 reach = MAX(n / AROUND, MIN_AROUND);
	guint32 from = i > reach ? i - reach : 0, to = MIN(i + reach + 1, n);
	guint32 quarter = (to - from) / 4;
	double sum = 0;
	memcpy(sorted, values + from, (to - from) * sizeof *sorted);
	qsort(sorted, to - from, sizeof *sorted, compare_doubles);
	for (guint32 k = quarter; k < to - from - quarter; k++)
		sum += sorted[k];
	return sum / (to - from - 2 * quarter);
}

/*
 * Adds pairs of each block of the duration of IN to PAIRS, and their squares to SQUARES. Blocks are as long as each
 * other; a message of OUT may be in a later one.
 */
static guint32
count_blocks(const WpSignal *in, const WpSignal *out, WpLags lags, guint64 *pairs, double *squares)
{
	gsize n = (gsize)(lags.max - lags.min + 1);
	g_autofree guint64 *block = g_new(guint64, n);
	guint64 span = in->n ? (guint64)(in->bins[in->n - 1] - in->bins[0]) + 1 : 0;
	gint64 length = (gint64)(span / WP_CORRELOGRAM_BLOCKS) + 1;
	guint32 n_blocks = 0;
	for (gsize i = 0; i < in->n;) {
		gint64 end = in->bins[i] + length;
		WpSignal part = { .bins = in->bins + i, .counts = in->counts + i };
		for (; i < in->n && in->bins[i] < end; i++)
			part.n++;
		wp_xcorr_counts(&part, out, lags, block);
		for (gsize k = 0; k < n; k++) {
			pairs[k] += block[k];
			squares[k] += (double)block[k] * (double)block[k];
		}
		n_blocks++;
	}
	return n_blocks;
}

/* Chance of each bin, and how far it strays: never less than counts do that are by themselves. */
static void
fill_chance(WpCorrelogram *own, const double *squares, guint32 n_blocks)
{
	g_autofree double *counts = g_new(double, own->n);
	g_autofree double *variances = g_new(double, own->n);
	g_autofree double *room = g_new(double, own->n);
	for (guint32 i = 0; i < own->n; i++) {
		counts[i] = (double)own->pairs[i];
		variances[i] = MAX(squares[i] - counts[i] * counts[i] / MAX(n_blocks, 1), 0);
	}
	for (guint32 i = 0; i < own->n; i++) {
		own->chance[i] = midmean_around(counts, own->n, i, room);
		own->sd[i] =
			sqrt(MAX(midmean_around(variances, own->n, i, room), own->chance[i] + 1));
	}
}

WpCorrelogram *
wp_correlogram_new(const gint64 *in, gsize n_in, const gint64 *out, gsize n_out, gint64 max_lag_ns,
		   gint64 quantum_ns)
{
	gint64 above = max_lag_ns / quantum_ns, below = MAX(above / 4, 1);
	if (above >= WP_CORRELOGRAM_MAX - below - 1)
		return NULL;
	WpCorrelogram *own = g_new0(WpCorrelogram, 1);
	WpLags lags = { -below, above };
	gint64 origin = n_in ? in[0] : 0;
	g_autoptr(WpSignal) a = wp_signal_new(in, n_in, origin, quantum_ns);
	g_autoptr(WpSignal) b = wp_signal_new(out, n_out, origin, quantum_ns);
	own->n_in = n_in;
	own->n_out = n_out;
	own->quantum_ns = quantum_ns;
	own->first = lags.min;
	own->n = (guint32)(lags.max - lags.min + 1);
	own->pairs = g_new0(guint64, own->n);
	own->chance = g_new(double, own->n);
	own->sd = g_new(double, own->n);
	g_autofree double *squares = g_new0(double, own->n);
	fill_chance(own, squares, count_blocks(a, b, lags, own->pairs, squares));
	return own;
}

void
wp_correlogram_free(WpCorrelogram *correlogram)
{
	if (!correlogram)
		return;
	g_free(correlogram->pairs);
	g_free(correlogram->chance);
	g_free(correlogram->sd);
	g_free(correlogram);
}
