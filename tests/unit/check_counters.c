/* Counters: totals, pairs, and what happens when there are too many of them. */
#include "capture/counters.h"

#include "tests/support/suite.h"

#define N_PAIRS 3000

/* What a walk over the pairs found, which must come in order. */
typedef struct {
	WpCounter counter;
	guint32 sender, receiver;
	guint64 n_seen, sum;
	const guint64 (*expected)[N_PAIRS];
} Walk;

static void
check_pair(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	Walk *walk = data;
	if (walk->n_seen++ > 0)
		ck_assert(counter > walk->counter ||
			  (counter == walk->counter &&
			   (sender > walk->sender ||
			    (sender == walk->sender && receiver > walk->receiver))));
	walk->counter = counter;
	walk->sender = sender;
	walk->receiver = receiver;
	walk->sum += n;
	if (walk->expected)
		ck_assert_uint_eq(n, walk->expected[counter][sender * 60 + receiver]);
}

/* Many counters of many pairs, in any order, against plain arrays; the same when merged from halves. */
START_TEST(pairs)
{
	static guint64 expected[WP_N_COUNTERS][N_PAIRS];
	g_autoptr(WpCounters) whole = wp_counters_new();
	g_autoptr(WpCounters) even = wp_counters_new();
	g_autoptr(WpCounters) odd = wp_counters_new();
	guint64 state = 1, n_expected = 0;

	for (guint i = 0; i < (guint)wp_test_number(200000, 20000); i++) {
		state = state * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407;
		guint pair = (guint)(state >> 33) % N_PAIRS, n = (guint)(state >> 20) % 5;
		WpCounter counter = (WpCounter)((state >> 50) % WP_N_COUNTERS);
		expected[counter][pair] += n;
		wp_counters_add_pair(whole, counter, pair / 60, pair % 60, n);
		wp_counters_add_pair(i % 2 ? odd : even, counter, pair / 60, pair % 60, n);
	}
	for (guint c = 0; c < WP_N_COUNTERS; c++)
		for (guint p = 0; p < N_PAIRS; p++)
			n_expected += expected[c][p] > 0;
	wp_counters_merge(even, odd);
	const WpCounters *both[] = { whole, even };
	for (guint i = 0; i < 2; i++) {
		Walk walk = { .expected = (const guint64(*)[N_PAIRS])expected };
		wp_counters_foreach_pair(both[i], check_pair, &walk);
		ck_assert_uint_eq(walk.n_seen, n_expected);
		for (guint c = 0; c < WP_N_COUNTERS; c++) {
			guint64 sum = 0;
			for (guint p = 0; p < N_PAIRS; p++)
				sum += expected[c][p];
			ck_assert_uint_eq(wp_counters_get(both[i], c), sum);
		}
	}
}
END_TEST

/* Pairs beyond the limit count in the total alone. */
START_TEST(too_many)
{
	g_autoptr(WpCounters) counters = wp_counters_new();
	Walk walk = { 0 };
	for (guint i = 0; i < WP_COUNTERS_MAX_PAIRS + 1000; i++)
		wp_counters_add_pair(counters, WP_COUNT_CALLS, i, i + 1, 2);
	for (guint i = 0; i < 1000; i++)
		wp_counters_add_pair(counters, WP_COUNT_CALLS, i, i + 1, 1);
	wp_counters_foreach_pair(counters, check_pair, &walk);
	ck_assert_uint_eq(walk.n_seen, WP_COUNTERS_MAX_PAIRS);
	ck_assert_uint_eq(walk.sum, WP_COUNTERS_MAX_PAIRS * 2 + 1000);
	ck_assert_uint_eq(wp_counters_get(counters, WP_COUNT_CALLS),
			  WP_COUNTERS_MAX_PAIRS * 2 + 3000);
}
END_TEST

WP_SUITE("counters", pairs, too_many)
