/* Densities of gaps: what smoothing keeps, what it chooses, what speaks for itself. */
#include "infer/density.h"

#include <math.h>

#include "tests/support/suite.h"

static double
total(const WpDensity *density)
{
	double sum = 0;
	for (gint i = density->first_share; i < density->end_share; i++)
		sum += density->shares[i];
	return sum;
}

static void
count_many(WpDensity *density, gint bin, gint n)
{
	for (gint i = 0; i < n; i++)
		wp_density_count(density, bin, 1);
}

/* Nothing, and a gap alone, which nothing foretells. */
START_TEST(alone)
{
	WpDensity *density = wp_density_new();
	WpQuickLog quick;
	wp_quick_log_init(&quick);
	wp_density_smooth(density, &quick);
	ck_assert_double_eq(total(density), 0);
	count_many(density, 100, 1);
	wp_density_smooth(density, &quick);
	ck_assert_double_eq(total(density), 0);
	wp_density_count(density, 100, -1);
	wp_density_smooth(density, &quick);
	ck_assert_double_eq(total(density), 0);
	wp_density_free(density);
}
END_TEST

/* Two like gaps foretell each other: half a triangle each, and all of it in between and around. */
START_TEST(impulse)
{
	WpDensity *density = wp_density_new();
	WpQuickLog quick;
	wp_quick_log_init(&quick);
	count_many(density, 100, 10);
	wp_density_smooth(density, &quick);
	/* The narrowest box, of 3 bins: 1 2 3 2 1 ninths of 10/9; one of the ten leaves the middle. */
	static const double ninths[] = { 1, 2, 3, 2, 1 };
	for (gint i = -2; i <= 2; i++) {
		double own = i == 0 ? 3 / 9.0 / 9 : 0;
		ck_assert_double_eq_tol(density->shares[100 + i], 10 * ninths[i + 2] / 9 / 9 - own,
					1e-12);
	}
	ck_assert_int_eq(density->first_share, 98);
	ck_assert_int_eq(density->end_share, 103);
	wp_density_free(density);
}
END_TEST

/* At both ends nothing is lost but what lies past the last bin. */
START_TEST(mirrored)
{
	static const gint bins[] = { 0, 1, 5, 20 };
	WpQuickLog quick;
	wp_quick_log_init(&quick);
	for (gsize i = 0; i < G_N_ELEMENTS(bins); i++) {
		WpDensity *density = wp_density_new();
		for (gint k = 0; k < 7; k++)
			count_many(density, bins[i] + 6 * k * k, 1);
		count_many(density, bins[i], 993);
		wp_density_smooth(density, &quick);
		/* All but what the seven bins keep from themselves. */
		gint width = 2 * density->half + 1;
		ck_assert_double_eq_tol(total(density), (1000 - 7.0 / width) / 999, 1e-9);
		wp_density_free(density);
	}
	WpDensity *density = wp_density_new();
	count_many(density, WP_DENSITY_BINS - 1, 2);
	wp_density_smooth(density, &quick);
	ck_assert_int_eq(density->end_share, WP_DENSITY_BINS);
	wp_density_free(density);
}
END_TEST

/* Gaps that are spread widely are smoothed widely, and what has gone leaves nothing behind. */
START_TEST(width)
{
	WpDensity *narrow = wp_density_new(), *wide = wp_density_new();
	WpQuickLog quick;
	wp_quick_log_init(&quick);
	for (gint i = 0; i < 200; i++) {
		count_many(narrow, 300 + i % 4, 1);
		count_many(wide, 200 + i * 7919 % 240, 1);
	}
	wp_density_smooth(narrow, &quick);
	wp_density_smooth(wide, &quick);
	ck_assert_int_lt(narrow->half, wide->half);
	for (gint i = 0; i < 200; i++) {
		wp_density_count(wide, 200 + i * 7919 % 240, -1);
		count_many(wide, 300 + i % 4, 1);
	}
	wide->n_chosen = 0; /* as after a change of their number */
	wp_density_smooth(wide, &quick);
	ck_assert_int_eq(wide->half, narrow->half);
	ck_assert_int_eq(wide->first_share, narrow->first_share);
	ck_assert_mem_eq(wide->shares + wide->first_share, narrow->shares + wide->first_share,
			 (gsize)(wide->end_share - wide->first_share) * sizeof(double));
	wp_density_free(narrow);
	wp_density_free(wide);
}
END_TEST

WP_SUITE("density", alone, impulse, mirrored, width)
