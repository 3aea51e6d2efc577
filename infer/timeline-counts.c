/* Counting of events, and what is learned from it. */
#include "infer/timeline-counts.h"

#define POOL_WEIGHT   3.0       /* gaps, of the histogram over all last events */
#define MAX_DENSE     (1 << 22) /* cells of the dense table of slots */
#define MAX_DENSITIES 8192 /* 14 kB each: of more gaps only the pools are learned, or one for all */

static double
log_of_share(const WpCounts *counts, double share)
{
	share = (1 - WP_DENSITY_FLOOR) * share + WP_DENSITY_FLOOR / WP_DENSITY_BINS;
	return wp_quick_log(counts->quick, share * WP_DENSITY_BINS_AN_OCTAVE / G_LN2);
}

void
wp_counts_init(WpCounts *counts, const WpNestProblem *problem, guint32 n_classes)
{
	*counts = (WpCounts){
		.quick = &problem->quick,
		.n_x = WP_X_FIRST_TYPE + 2 * problem->n_types,
		.n_y = WP_Y_FIRST_TYPE + problem->n_types,
		.slots = g_array_new(FALSE, FALSE, sizeof(WpEventSlot)),
		.map = wp_map_new(),
		.plans = g_array_new(FALSE, FALSE, sizeof(WpPlanNode)),
	};
	guint64 cells = (guint64)n_classes * counts->n_x * counts->n_y;
	if (cells <= MAX_DENSE)
		counts->dense = g_new0(gint32, MAX(cells, 1));
	counts->totals = g_new0(gint32, MAX((gsize)n_classes * counts->n_x, 1));
	for (guint32 c = 0; c < n_classes; c++) {
		WpPlanNode node = { .child = WP_NO_PLAN, .sibling = WP_NO_PLAN };
		g_array_append_val(counts->plans, node);
	}
	counts->flat = log_of_share(counts, 0);
}

void
wp_counts_clear(WpCounts *counts)
{
	for (guint i = 0; i < counts->slots->len; i++) {
		wp_density_free(wp_counts_slot(counts, i)->density);
		g_free(wp_counts_slot(counts, i)->logs);
	}
	g_array_unref(counts->slots);
	g_array_unref(counts->plans);
	wp_map_free(counts->map);
	g_free(counts->totals);
	g_free(counts->dense);
}

static void
add_density(WpCounts *counts, WpEventSlot *slot)
{
	slot->density = wp_density_new();
	slot->logs = g_new0(float, WP_DENSITY_BINS);
	counts->n_densities++;
}

static guint32
common_slot(WpCounts *counts)
{
	if (!counts->common) {
		WpEventSlot slot = { .pool = counts->slots->len };
		counts->common = counts->slots->len;
		add_density(counts, &slot);
		g_array_append_val(counts->slots, slot);
	}
	return counts->common;
}

guint32
wp_counts_make_slot(WpCounts *counts, guint32 class, guint32 x, guint32 y)
{
	guint64 cell = wp_counts_cell(counts, class, x, y);
	WpEventSlot *found = wp_counts_find_slot(counts, class, x, y);
	guint32 number = counts->slots->len;
	if (found)
		return (guint32)(found - wp_counts_slot(counts, 0));
	if (counts->dense)
		counts->dense[cell] = (gint32)number + 1;
	else
		wp_map_at(counts->map, cell, number);
	WpEventSlot slot = { .pool = number, .total = class * counts->n_x + x };
	if (y != WP_Y_STOP && counts->n_densities < MAX_DENSITIES)
		add_density(counts, &slot);
	g_array_append_val(counts->slots, slot);
	if (y == WP_Y_STOP)
		return number;
	guint32 pool = number;
	if (x != WP_X_POOL)
		pool = wp_counts_make_slot(counts, class, WP_X_POOL, y);
	else if (!slot.density)
		pool = common_slot(counts);
	wp_counts_slot(counts, number)->pool = pool;
	counts->n_without += !slot.density;
	return number;
}

guint32
wp_counts_make_node(WpCounts *counts, guint32 node, guint32 y)
{
	guint32 found = wp_counts_find_node(counts, node, y), number = counts->plans->len;
	if (found != WP_NO_PLAN)
		return found;
	WpPlanNode fresh = { .y = y, .child = WP_NO_PLAN, .sibling = WP_NO_PLAN };
	g_array_append_val(counts->plans, fresh);
	/* The last of its siblings: what is usual was there first, and is found first. */
	guint32 *next = &wp_counts_node(counts, node)->child;
	while (*next != WP_NO_PLAN)
		next = &wp_counts_node(counts, *next)->sibling;
	*next = number;
	return number;
}

/* Logarithms of what the slot and its pool say together. */
static void
fit_slot(WpCounts *counts, WpEventSlot *slot)
{
	WpDensity *own = slot->density;
	WpDensity *all =
		wp_counts_with_density(counts, wp_counts_slot(counts, slot->pool))->density;

	wp_density_smooth(own, counts->quick);
	wp_density_smooth(all, counts->quick);
	if (slot->own_version == own->version && slot->pool_version == all->version)
		return;
	slot->own_version = own->version;
	slot->pool_version = all->version;
	double n = wp_counts_others(own->n), scale = 1 / (n + POOL_WEIGHT);
	gint first = own->end_share ? MIN(own->first_share, all->first_share) : all->first_share;
	gint end = MAX(own->end_share, all->end_share);
	float flat = (float)counts->flat;

	for (gint bin = 0; bin < first; bin++)
		slot->logs[bin] = flat;
	for (gint bin = first; bin < end; bin++) {
		double share = 0;
		if (bin >= own->first_share && bin < own->end_share)
			share += n * own->shares[bin];
		if (bin >= all->first_share && bin < all->end_share)
			share += POOL_WEIGHT * all->shares[bin];
		slot->logs[bin] = (float)log_of_share(counts, share * scale);
	}
	for (gint bin = MAX(first, end); bin < WP_DENSITY_BINS; bin++)
		slot->logs[bin] = flat;
}

void
wp_counts_fit(WpCounts *counts)
{
	counts->version++;
	for (guint i = 0; i < counts->slots->len; i++) {
		WpEventSlot *slot = wp_counts_slot(counts, i);
		slot->backoff = wp_counts_backoff(slot->n, counts->totals[slot->total]);
		if (slot->density)
			fit_slot(counts, slot);
	}
}
