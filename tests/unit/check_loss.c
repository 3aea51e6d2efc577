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

/* 100 whole flows of 5 segments; five cut short lack 20 segments, if anything is lost at all. */
START_TEST(cut_flows)
{
	for (guint lost = 0; lost <= 1; lost++) {
		g_autoptr(WpLoss) loss = wp_loss_new();
		g_autoptr(WpCounters) counters = wp_counters_new();
		WpLossFlow flow = { .client = 0,
				    .server = 1,
				    .port = 80,
				    .segments = 5,
				    .n_opening = 2,
				    .has_end = TRUE };
		for (guint i = 0; i < 100; i++)
			wp_loss_add_flow(loss, &flow);
		flow.segments = 1;
		for (guint i = 0; i < 5; i++) {
			flow.n_opening = i & 1 ? 2 : 0;
			flow.has_end = !flow.n_opening;
			wp_loss_add_flow(loss, &flow);
		}
		flow.n_opening = flow.has_end = FALSE; /* in use all the time */
		wp_loss_add_flow(loss, &flow);
		wp_loss_add(loss, 0, 1,
			    &(WpLossSample){ .packets = 1000, .segments = 500, .lost = lost });
		wp_loss_count(loss, 1000, counters);
		ck_assert_double_eq_tol(wp_loss_share(loss), lost ? 21. / 521 : 0, 1e-9);
	}
}
END_TEST

/*
 * A tenth of all packets was lost, as a long flow shows. One by one, nearly no flow vanishes: openings lack
 * one packet. In long bursts openings lack both or none, and 78 flows are missing.
 */
START_TEST(vanished_flows)
{
	static const struct {
		guint opened[3]; /* 0, 1, 2 packets of the opening seen */
		guint lost;      /* segments, in the long flow to another server */
		double share;
	} rows[] = {
		{ { 10, 180, 810 }, 111, 111. / 6111 },
		{ { 20, 0, 880 }, 111, (111 + 78 * 5) / (111 + 78 * 5 + 5500.) },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpLoss) loss = wp_loss_new();
		g_autoptr(WpCounters) counters = wp_counters_new();
		for (guint n = 0; n <= 2; n++)
			for (guint j = 0; j < rows[i].opened[n]; j++) {
				WpLossFlow flow = {
					.server = 1, .segments = 5, .n_opening = n, .has_end = TRUE
				};
				wp_loss_add_flow(loss, &flow);
			}
		WpLossFlow other = { .server = 2,
				     .segments = 1000 + rows[i].lost,
				     .lost = rows[i].lost,
				     .n_opening = 2,
				     .has_end = TRUE };
		wp_loss_add_flow(loss, &other);
		WpLossSample sample = { .segments = i ? 5500 : 6000, .lost = rows[i].lost };
		wp_loss_add(loss, 0, 2, &sample);
		wp_loss_count(loss, 10000, counters);
		ck_assert_double_eq_tol(wp_loss_share(loss), rows[i].share, 0.001);
	}
}
END_TEST

/* To a server of long flows one that is still open lacks nothing. */
START_TEST(long_flows)
{
	g_autoptr(WpLoss) loss = wp_loss_new();
	g_autoptr(WpCounters) counters = wp_counters_new();
	WpLossFlow flow = { .segments = 500, .n_opening = 2, .has_end = TRUE };
	for (guint i = 0; i < 100; i++)
		wp_loss_add_flow(loss, &flow);
	flow.has_end = FALSE;
	flow.segments = 2;
	wp_loss_add_flow(loss, &flow);
	wp_loss_add(loss, 0, 1, &(WpLossSample){ .packets = 100, .segments = 99, .lost = 1 });
	wp_loss_count(loss, 100, counters);
	ck_assert_double_eq_tol(wp_loss_share(loss), 0.01, 1e-9);
}
END_TEST

WP_SUITE("loss", cut_flows, vanished_flows, long_flows, none, share, pairs, all_lost)
