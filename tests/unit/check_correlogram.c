/* Correlograms: pairs counted by hand, and what chance makes of messages that have nothing to do with each other. */
#include <stdlib.h>
#include <string.h>

#include "infer/correlogram.h"
#include "infer/random.h"
#include "tests/support/suite.h"

#define MS G_GINT64_CONSTANT(1000000)

/* Times in ms, each list ended by -1; pairs of the bins of one ms from FIRST on. */
static const struct {
	gint64 in[5], out[5];
	gint64 max_lag;
	gint64 first;
	guint64 pairs[8];
} counted[] = {
	/* Two messages, each with one 2 ms later; the second stands 10 ms behind the first. */
	{ { 0, 10, -1 }, { 2, 12, -1 }, 5, -1, { 0, 0, 0, 2, 0, 0, 0 } },
	/* Each with each, as far as lags go: 1, 3, and 1 - 3 = -2, which is too far below. */
	{ { 0, 3, -1 }, { 1, 3, -1 }, 4, -1, { 0, 1, 1, 0, 1, 0 } },
	/* Before it: bin -1 ends at 0. */
	{ { 5, -1 }, { 4, 5, -1 }, 4, -1, { 1, 1, 0, 0, 0, 0 } },
	/* At once, twice each. */
	{ { 7, 7, -1 }, { 7, 7, -1 }, 4, -1, { 0, 4, 0, 0, 0, 0 } },
	/* A quarter of the longest lag below 0. */
	{ { 8, -1 }, { 6, -1 }, 5, -1, { 0 } },
	{ { 8, -1 }, { 6, -1 }, 8, -2, { 1 } },
	/* Nothing comes, nothing leaves. */
	{ { -1 }, { 3, -1 }, 4, -1, { 0 } },
	{ { 3, -1 }, { -1 }, 4, -1, { 0 } },
};

static gsize
read_times(const gint64 *ms, gint64 *out)
{
	gsize n = 0;
	for (; ms[n] >= 0; n++)
		out[n] = ms[n] * MS;
	return n;
}

START_TEST(counts)
{
	gint64 in[5], out[5];
	gsize n_in = read_times(counted[_i].in, in), n_out = read_times(counted[_i].out, out);
	g_autoptr(WpCorrelogram) own =
		wp_correlogram_new(in, n_in, out, n_out, counted[_i].max_lag * MS, MS);
	ck_assert_ptr_nonnull(own);
	ck_assert_int_eq(own->first, counted[_i].first);
	ck_assert_int_eq(own->first + own->n - 1, counted[_i].max_lag);
	ck_assert_uint_eq(own->n_in, n_in);
	ck_assert_uint_eq(own->n_out, n_out);
	for (guint32 i = 0; i < MIN(own->n, G_N_ELEMENTS(counted[_i].pairs)); i++) {
		ck_assert_uint_eq(own->pairs[i], counted[_i].pairs[i]);
		ck_assert_double_gt(own->sd[i], 0);
	}
}
END_TEST

static const struct {
	gint64 max_lag_ns;
	gint64 quantum_ns;
	gboolean fits;
} sizes[] = {
	{ 1000 * MS, MS, TRUE },     { 3000 * MS, MS, TRUE }, { 4000 * MS, MS, FALSE },
	{ 86400000 * MS, 1, FALSE }, { 5, 10, TRUE },
};

START_TEST(too_many_bins)
{
	const gint64 times[] = { 0, MS };
	g_autoptr(WpCorrelogram) own =
		wp_correlogram_new(times, 2, times, 2, sizes[_i].max_lag_ns, sizes[_i].quantum_ns);
	ck_assert_int_eq(own != NULL, sizes[_i].fits);
	ck_assert(!own || own->n <= WP_CORRELOGRAM_MAX);
}
END_TEST

/* What it chooses fits, from a nanosecond to a day. */
START_TEST(chosen_quantum)
{
	const gint64 time = 0;
	for (gint64 lag = 1; lag < 86400000 * MS; lag *= 3) {
		gint64 quantum = wp_correlogram_quantum(lag);
		ck_assert_int_ge(quantum, 1);
		g_autoptr(WpCorrelogram) own = wp_correlogram_new(&time, 1, &time, 1, lag, quantum);
		ck_assert_ptr_nonnull(own);
	}
}
END_TEST

#define MESSAGES 4000
#define SPAN     (100000 * MS)

static int
compare_times(const void *a, const void *b)
{
	gint64 left = *(const gint64 *)a, right = *(const gint64 *)b;
	return (left > right) - (left < right);
}

/* By themselves, or IN_BURSTS of 40 within 20 ms. */
static void
draw_times(WpRandom64 *random, gboolean in_bursts, gint64 *times)
{
	gint64 begin = 0;
	for (int i = 0; i < MESSAGES; i++) {
		if (i % 40 == 0 || !in_bursts)
			begin = wp_random64_below(random, SPAN / MS) * MS;
		times[i] = begin + wp_random64_below(random, in_bursts ? 20 * MS : MS);
	}
	qsort(times, MESSAGES, sizeof *times, compare_times);
}

static guint32
count_beyond(const WpCorrelogram *own, double sds)
{
	guint32 n = 0;
	for (guint32 i = 0; i < own->n; i++)
		n += (double)own->pairs[i] > own->chance[i] + sds * own->sd[i];
	return n;
}

static const gboolean bursts[] = { FALSE, TRUE };

/* Nothing to do with each other: what stands out of the band is rare, bursts or none. */
START_TEST(chance_alone)
{
	static gint64 in[MESSAGES], out[MESSAGES];
	guint32 beyond = 0, bins = 0;
	for (guint64 seed = 0; seed < (guint64)wp_test_number(20, 2); seed++) {
		WpRandom64 random = { WP_RANDOM64_SEED + seed };
		draw_times(&random, bursts[_i], in);
		draw_times(&random, bursts[_i], out);
		g_autoptr(WpCorrelogram) own =
			wp_correlogram_new(in, MESSAGES, out, MESSAGES, 100 * MS, MS);
		beyond += count_beyond(own, 4);
		bins += own->n;
	}
	ck_assert_msg(beyond * 1000 <= 2 * bins, "%u of %u bins", beyond, bins);
}
END_TEST

/* One in eight has an effect 30 ms later: its bin stands out, and no other does by as much. */
START_TEST(a_cause)
{
	static gint64 in[MESSAGES], out[MESSAGES];
	WpRandom64 random = { WP_RANDOM64_SEED };
	draw_times(&random, bursts[_i], in);
	draw_times(&random, bursts[_i], out);
	for (int i = 0; i < MESSAGES; i += 8)
		out[i] = in[i] - in[i] % MS + 30 * MS;
	qsort(out, MESSAGES, sizeof *out, compare_times);
	for (int i = 0; i < MESSAGES; i++)
		in[i] -= in[i] % MS;
	g_autoptr(WpCorrelogram) own =
		wp_correlogram_new(in, MESSAGES, out, MESSAGES, 100 * MS, MS);
	guint32 at = (guint32)(30 - own->first);
	ck_assert_double_gt((double)own->pairs[at], own->chance[at] + 4 * own->sd[at]);
	for (guint32 i = 0; i < own->n; i++)
		ck_assert(i == at || own->pairs[i] < own->pairs[at]);
}
END_TEST

WP_SUITE_OF_ROWS("correlogram", { counts, G_N_ELEMENTS(counted) },
		 { too_many_bins, G_N_ELEMENTS(sizes) }, { chosen_quantum, 0 },
		 { chance_alone, G_N_ELEMENTS(bursts) }, { a_cause, G_N_ELEMENTS(bursts) })
