/* Counts of gaps, smoothed. */
#include "infer/density.h"

/* Half widths of the box, in bins: from a twentieth of an octave to two. */
static const gint half_widths[] = { 1, 2, 3, 5, 8, 13, 21 };

#define MAX_HALF 21

/* The width is chosen again when there are so many more or fewer gaps (a part of them). */
#define MUCH 8

WpDensity *
wp_density_new(void)
{
	WpDensity *density = g_new0(WpDensity, 1);
	density->first = WP_DENSITY_BINS;
	return density;
}

void
wp_density_free(WpDensity *density)
{
	g_free(density);
}

/* One box over FROM, whose bins FIRST to END are not 0; TO is set from FIRST - HALF to END + HALF. */
static void
box(const gint64 *from, gint first, gint end, gint half, gint64 *to)
{
	gint64 sum = 0;
	for (gint i = first - half; i < end + half; i++) {
		if (i + half < end)
			sum += from[i + half];
		to[i] = sum;
		if (i - half >= first)
			sum -= from[i - half];
	}
}

/* Two boxes one after the other, mirrored at 0: what is smoothed out of the range comes back in. */
static void
smooth(WpDensity *density, gint half)
{
	enum {
		MARGIN = 2 * MAX_HALF,
		N = WP_DENSITY_BINS + 2 * MARGIN
	};
	gint64 buffers[3][N];
	gint64 *counts = buffers[0] + MARGIN, *once = buffers[1] + MARGIN;
	gint64 *twice = buffers[2] + MARGIN;
	gint first = density->first, end = density->end, width = 2 * half + 1;

	for (gint i = first; i < end; i++)
		counts[i] = density->counts[i];
	box(counts, first, end, half, once);
	box(once, first - half, end + half, half, twice);
	for (gint i = first - 2 * half; i < 0; i++) {
		if (-i - 1 >= end + 2 * half)
			twice[-i - 1] = 0;
		twice[-i - 1] += twice[i];
	}
	density->first_share = MAX(first - 2 * half, 0);
	density->end_share = MIN(MAX(end + 2 * half, 2 * half - first), WP_DENSITY_BINS);
	double scale = density->n > 1 ? 1.0 / ((double)width * width * (density->n - 1)) : 0;
	for (gint i = density->first_share; i < density->end_share; i++) {
		gint64 own = i >= first && i < end && counts[i] > 0 ? width : 0;
		density->shares[i] = (double)(twice[i] - own) * scale;
	}
}

/* How well the others foretell each gap: bits. */
static double
foretold(const WpDensity *density, const WpQuickLog *quick)
{
	double sum = 0;
	for (gint i = density->first; i < density->end; i++)
		if (density->counts[i] > 0)
			sum += density->counts[i] *
			       wp_quick_log2(quick, (1 - WP_DENSITY_FLOOR) * density->shares[i] +
							    WP_DENSITY_FLOOR / WP_DENSITY_BINS);
	return sum;
}

static void
choose_width(WpDensity *density, const WpQuickLog *quick)
{
	double best = 0;
	for (gsize i = 0; i < G_N_ELEMENTS(half_widths); i++) {
		smooth(density, half_widths[i]);
		double score = foretold(density, quick);
		if (i == 0 || score > best) {
			best = score;
			density->half = half_widths[i];
		}
	}
	density->n_chosen = density->n;
}

void
wp_density_smooth(WpDensity *density, const WpQuickLog *quick)
{
	if (!density->is_stale)
		return;
	density->is_stale = FALSE;
	density->version++;
	while (density->first < density->end && density->counts[density->first] == 0)
		density->first++;
	while (density->end > density->first && density->counts[density->end - 1] == 0)
		density->end--;
	if (density->n == 0) {
		density->first = WP_DENSITY_BINS;
		density->end = density->first_share = density->end_share = 0;
		return;
	}
	if (ABS(density->n - density->n_chosen) * MUCH >= density->n_chosen)
		choose_width(density, quick);
	smooth(density, density->half);
}
