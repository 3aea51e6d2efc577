/* Distributions of times. */
#include "infer/delay.h"

#include <math.h>

#include "tests/support/suite.h"

static WpDelay *
delay_of(const gint64 *times, gsize n)
{
	WpDelay *delay = wp_delay_new();
	for (gsize i = 0; i < n; i++)
		wp_delay_add(delay, times[i]);
	return delay;
}

START_TEST(exact_moments)
{
	static const struct {
		gint64 times[5];
		gsize n;
		double sum, mean, sd;
		gint64 min, max;
	} rows[] = {
		{ { 0 }, 0, 0, 0, 0, 0, 0 },
		{ { 7 }, 1, 7, 7, 0, 7, 7 },
		{ { -5, 5 }, 2, 0, 0, 5, -5, 5 },
		{ { 2, 4, 4, 6 }, 4, 16, 4, G_SQRT2, 2, 6 },
		{ { 1000000, 1000000, 1000000 }, 3, 3e6, 1e6, 0, 1000000, 1000000 },
		{ { -3, -3, -9 }, 3, -15, -5, 2 * G_SQRT2, -9, -3 },
		/* longer than what fits: taken as 2^62 ns */
		{ { G_MAXINT64, G_MININT64 },
		  2,
		  0,
		  0,
		  0x1p62,
		  -((gint64)1 << 62),
		  (gint64)1 << 62 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpDelay) delay = delay_of(rows[i].times, rows[i].n);
		ck_assert_uint_eq(wp_delay_count(delay), rows[i].n);
		ck_assert_double_eq(wp_delay_sum_ns(delay), rows[i].sum);
		ck_assert_double_eq(wp_delay_mean_ns(delay), rows[i].mean);
		ck_assert_double_eq_tol(wp_delay_sd_ns(delay), rows[i].sd, 1e-9 * (1 + rows[i].sd));
		ck_assert_int_eq(wp_delay_min_ns(delay), rows[i].min);
		ck_assert_int_eq(wp_delay_max_ns(delay), rows[i].max);
	}
}
END_TEST

static int
compare_times(const void *a, const void *b)
{
	gint64 left = *(const gint64 *)a, right = *(const gint64 *)b;
	return (left > right) - (left < right);
}

/* Times over nine powers of ten and both signs, from a fixed generator. */
static void
fill_times(gint64 *times, gsize n)
{
	guint64 state = 42;
	for (gsize i = 0; i < n; i++) {
		state = state * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407u;
		times[i] = (gint64)(state >> 34) >> (state >> 20 & 31);
		if (state >> 60 == 0)
			times[i] = -times[i];
	}
}

START_TEST(quantiles_within_one_percent)
{
	enum {
		N = 5000
	};
	gint64 times[N];
	fill_times(times, N);
	g_autoptr(WpDelay) delay = delay_of(times, N);
	qsort(times, N, sizeof *times, compare_times);
	for (int percent = 0; percent <= 100; percent++) {
		gsize rank = (gsize)MAX(1, ceil(percent / 100.0 * N));
		double exact = (double)times[rank - 1];
		double got = (double)wp_delay_quantile_ns(delay, percent / 100.0);
		ck_assert_double_eq_tol(got, exact, fabs(exact) * 0.01 + 1e-9);
	}
	ck_assert_int_eq(wp_delay_quantile_ns(delay, 0), times[0]);
	ck_assert_int_eq(wp_delay_quantile_ns(delay, 1), times[N - 1]);
}
END_TEST

static void
add_bin(gint64 low_ns, gint64 high_ns, guint64 count, gpointer data)
{
	g_string_append_printf(data,
			       "%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT ":%" G_GUINT64_FORMAT " ",
			       low_ns, high_ns, count);
}

static char *
bins_text(const WpDelay *delay)
{
	GString *text = g_string_new(NULL);
	wp_delay_foreach_bin(delay, add_bin, text);
	return g_string_free(text, FALSE);
}

START_TEST(bins_in_order)
{
	static const struct {
		gint64 times[6];
		gsize n;
		const char *bins;
	} rows[] = {
		{ { 0 }, 0, "" },
		{ { 5 }, 1, "5..6:1 " },
		{ { 300, 300 }, 2, "300..304:2 " },
		{ { 301, 303, 304 }, 3, "300..304:2 304..308:1 " },
		{ { 0, -1, 63, 64, -128, -129 },
		  6,
		  "-129..-127:2 -1..0:1 0..1:1 63..64:1 64..65:1 " },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpDelay) delay = delay_of(rows[i].times, rows[i].n);
		g_autofree char *bins = bins_text(delay);
		ck_assert_str_eq(bins, rows[i].bins);
	}
}
END_TEST

/* Every time lies inside its bin, over the whole range. */
static void
check_inside(gint64 low_ns, gint64 high_ns, guint64 count, gpointer data)
{
	gint64 time = *(gint64 *)data;
	ck_assert_uint_eq(count, 1);
	ck_assert(low_ns <= time && time < high_ns);
	ck_assert((double)(high_ns - low_ns) <= 1 + fabs((double)time) / 64);
}

START_TEST(bins_hold_their_times)
{
	for (int shift = 0; shift < 62; shift++)
		for (int delta = -1; delta <= 1; delta++)
			for (int sign = -1; sign <= 1; sign += 2) {
				gint64 time = sign * (((gint64)1 << shift) + delta);
				g_autoptr(WpDelay) delay = delay_of(&time, 1);
				wp_delay_foreach_bin(delay, check_inside, &time);
			}
}
END_TEST

/* Any split of the times, merged in any order, gives the same as all at once. */
START_TEST(merge_is_addition)
{
	enum {
		N = 60,
		PARTS = 4
	};
	static const int orders[][PARTS] = { { 0, 1, 2, 3 }, { 3, 1, 0, 2 }, { 2, 3, 1, 0 } };
	gint64 times[N];
	fill_times(times, N);
	times[5] = G_MAXINT64 / 3;
	g_autoptr(WpDelay) all = delay_of(times, N);
	g_autofree char *expected = bins_text(all);
	for (gsize o = 0; o < G_N_ELEMENTS(orders); o++) {
		g_autoptr(WpDelay) sum = wp_delay_new();
		for (int p = 0; p < PARTS; p++) {
			/* parts of 0, 1, 20 and 39 times */
			static const gsize bounds[PARTS + 1] = { 0, 0, 1, 21, N };
			gsize begin = bounds[orders[o][p]], end = bounds[orders[o][p] + 1];
			g_autoptr(WpDelay) part = delay_of(times + begin, end - begin);
			wp_delay_merge(sum, part);
		}
		g_autofree char *bins = bins_text(sum);
		ck_assert_str_eq(bins, expected);
		ck_assert_uint_eq(wp_delay_count(sum), N);
		ck_assert_double_eq(wp_delay_sum_ns(sum), wp_delay_sum_ns(all));
		ck_assert_double_eq(wp_delay_sd_ns(sum), wp_delay_sd_ns(all));
		ck_assert_int_eq(wp_delay_min_ns(sum), wp_delay_min_ns(all));
		ck_assert_int_eq(wp_delay_max_ns(sum), wp_delay_max_ns(all));
	}
}
END_TEST

WP_SUITE("delay", exact_moments, quantiles_within_one_percent, bins_in_order, bins_hold_their_times,
	 merge_is_addition)
