/* The arithmetic of the loss estimate. (How well it fits real losses: check_capture.) */
#include "capture/loss.h"

#include "tests/support/suite.h"

typedef struct {
	guint64 pairs[4][4];
} Pairs;

static void
note(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	if (counter == WP_COUNT_LOST_PACKETS)
		((Pairs *)data)->pairs[sender][receiver] = n;
}

/* Nothing missing, nothing estimated. */
START_TEST(none)
{
	g_autoptr(WpLoss) loss = wp_loss_new();
	g_autoptr(WpCounters) counters = wp_counters_new();
	wp_loss_add(loss, 0, 1, &(WpLossSample){ .packets = 500, .segments = 100 });
	wp_loss_count(loss, 1000, counters);
	ck_assert(wp_loss_share(loss) == 0);
	ck_assert_uint_eq(wp_counters_get(counters, WP_COUNT_LOST_PACKETS), 0);
}
END_TEST

/* One segment in ten is missing: so are one in ten of all packets, those of no flow included. */
START_TEST(share)
{
	g_autoptr(WpLoss) loss = wp_loss_new();
	g_autoptr(WpCounters) counters = wp_counters_new();
	wp_loss_add(loss, 0, 1, &(WpLossSample){ .packets = 1800, .segments = 900, .lost = 100 });
	wp_loss_count(loss, 2700, counters);
	ck_assert_double_eq_tol(wp_loss_share(loss), 0.1, 1e-9);
	ck_assert_uint_eq(wp_counters_get(counters, WP_COUNT_LOST_PACKETS), 300);
}
END_TEST

/* Pairs differ; one with few segments of its own has the share of the whole; both ways count alike. */
START_TEST(pairs)
{
	g_autoptr(WpLoss) loss = wp_loss_new();
	g_autoptr(WpCounters) counters = wp_counters_new();
	Pairs got = { 0 };
	wp_loss_add(loss, 0, 1,
		    &(WpLossSample){ .packets = 80000, .segments = 80000, .lost = 20000 });
	wp_loss_add(loss, 1, 0, &(WpLossSample){ .packets = 4000 });
	wp_loss_add(loss, 2, 0, &(WpLossSample){ .packets = 100000, .segments = 100000 });
	wp_loss_add(loss, 3, 0, &(WpLossSample){ .packets = 900 });
	wp_loss_count(loss, 184900, counters);
	wp_counters_foreach_pair(counters, note, &got);
	ck_assert_uint_ge(got.pairs[0][1], 19900);
	ck_assert_uint_le(got.pairs[0][1], 20000);
	ck_assert_uint_ge(got.pairs[1][0], 990);
	ck_assert_uint_le(got.pairs[1][0], 1000);
	ck_assert_uint_le(got.pairs[2][0], 15);
	ck_assert_uint_eq(got.pairs[3][0], 100); /* a tenth of what was there */
}
END_TEST

/* All of a pair lost does not make its number endless. */
START_TEST(all_lost)
{
	g_autoptr(WpLoss) loss = wp_loss_new();
	g_autoptr(WpCounters) counters = wp_counters_new();
	wp_loss_add(loss, 0, 1, &(WpLossSample){ .packets = 10, .lost = 5 });
	wp_loss_count(loss, 10, counters);
	ck_assert_uint_lt(wp_counters_get(counters, WP_COUNT_LOST_PACKETS), 1000);
}
END_TEST

WP_SUITE("loss", none, share, pairs, all_lost)
