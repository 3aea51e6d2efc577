/* What a node has in hand, at every moment of a call. */
#include "report/in-hand.h"

#include "tests/support/suite.h"

#define MAX_STRETCHES 8
#define MAX_CALLS     4

/*
 *     one      |----------|                            two   |----------|
 *                                                                 |----------|
 *     nested   |----------|      around  |--|    |--|
 *                 |----|                     |--|
 */
START_TEST(time_by_level)
{
	static const struct {
		const char *name;
		struct {
			guint32 host, call;
			gint64 begin_ns, end_ns;
		} stretches[MAX_STRETCHES];
		guint n;
		gint64 levels_ns[MAX_CALLS][3]; /* others: none, one, two */
		guint ended_at[MAX_CALLS];
	} rows[] = {
		{ "none", { { 0, 0, 0, 0 } }, 0, { { 0 } }, { 0 } },
		{ "one", { { 0, 0, 10, 20 } }, 1, { { 10 } }, { 0 } },
		{ "two", { { 0, 0, 10, 20 }, { 0, 1, 15, 25 } }, 2, { { 5, 5 }, { 5, 5 } }, { 1 } },
		{ "nested",
		  { { 0, 0, 10, 20 }, { 0, 1, 13, 18 } },
		  2,
		  { { 5, 5 }, { 0, 5 } },
		  { 0, 1 } },
		{ "at hosts of their own", /* beside each other */
		  { { 0, 0, 10, 20 }, { 7, 1, 15, 25 } },
		  2,
		  { { 10 }, { 10 } },
		  { 0 } },
		{ "around a call below", /* while it is open, the node has the other alone */
		  { { 0, 0, 20, 30 }, { 0, 0, 0, 10 }, { 0, 1, 10, 20 } },
		  3,
		  { { 20 }, { 10 } },
		  { 0 } },
		{ "three, and two leave at once",
		  { { 0, 0, 0, 9 }, { 0, 1, 3, 9 }, { 0, 2, 6, 12 } },
		  3,
		  { { 3, 3, 3 }, { 0, 3, 3 }, { 3, 0, 3 } },
		  { 2, 1, 0 } },
		{ "one comes as one leaves",
		  { { 0, 0, 0, 5 }, { 0, 1, 5, 9 } },
		  2,
		  { { 5 }, { 4 } },
		  { 0 } },
		{ "no time at all",
		  { { 0, 0, 5, 5 }, { 0, 1, 0, 9 }, { 0, 2, 7, 6 } },
		  3,
		  { { 0 }, { 9 }, { 0 } },
		  { 0 } },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpInHand) in_hand = wp_in_hand_new(MAX_CALLS);
		for (guint k = 0; k < rows[i].n; k++)
			wp_in_hand_add(in_hand, rows[i].stretches[k].host,
				       rows[i].stretches[k].call, rows[i].stretches[k].begin_ns,
				       rows[i].stretches[k].end_ns);
		wp_in_hand_count(in_hand);
		for (guint call = 0; call < MAX_CALLS; call++) {
			gint64 levels_ns[WP_DIGEST_LEVELS] = { 0 };
			guint ended_at = wp_in_hand_get(in_hand, call, levels_ns);
			for (guint k = 0; k < 3; k++)
				ck_assert_msg(levels_ns[k] == rows[i].levels_ns[call][k],
					      "%s: call %u, level %u: %d", rows[i].name, call, k,
					      (int)levels_ns[k]);
			ck_assert_msg(ended_at == rows[i].ended_at[call], "%s: call %u ended at %u",
				      rows[i].name, call, ended_at);
		}
	}
}
END_TEST

/* However much is in hand: all time is somewhere, and the last level has all beyond. */
START_TEST(many)
{
	guint32 n = 1000;
	g_autoptr(WpInHand) in_hand = wp_in_hand_new(n);
	for (guint32 i = 0; i < n; i++)
		wp_in_hand_add(in_hand, i % 3 == 0, n - 1 - i, i, 2 * (gint64)n + i % 7);
	wp_in_hand_count(in_hand);
	for (guint32 i = 0; i < n; i++) {
		gint64 levels_ns[WP_DIGEST_LEVELS] = { 0 }, sum = 0;
		wp_in_hand_get(in_hand, n - 1 - i, levels_ns);
		for (guint k = 0; k < WP_DIGEST_LEVELS; k++)
			sum += levels_ns[k];
		ck_assert_int_eq(sum, 2 * (gint64)n + i % 7 - i);
		ck_assert_int_ge(levels_ns[WP_DIGEST_LEVELS - 1], n);
	}
}
END_TEST

WP_SUITE("in hand", time_by_level, many)
