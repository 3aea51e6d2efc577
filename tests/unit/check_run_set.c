/* Distances between runs, worked out by hand; the first three are the example of Lambert's thesis, page 54. */
#include "infer/run-set.h"

#include "tests/support/suite.h"

/* RUN has WEIGHT of the chain TEXT, a frame a letter, at role 1 and from ENTRY. */
static guint32
count(WpRunSet *set, guint32 run, guint32 role, guint32 entry, const char *text, double weight)
{
	WpChainFrame frames[WP_RUN_SET_MAX_FRAMES + 8] = { 0 };
	guint n = 0;
	for (; text[n]; n++)
		frames[n].levels[WP_FRAME_OPERATION] = (guint32)text[n];
	guint32 chain = wp_run_set_chain(set, frames, n);
	wp_run_set_count(set, run, role, entry, chain, weight);
	return chain;
}

/* d(abc, abd) = 1, d(abc, axy) = 2. */
START_TEST(weights_count_from_both_sides)
{
	g_autoptr(WpRunSet) set = wp_run_set_new(wp_chain_metric_by_name("lev"));
	guint32 a = wp_run_set_add_run(set), b = wp_run_set_add_run(set),
		c = wp_run_set_add_run(set);
	count(set, a, 1, 1, "abc", 4);
	count(set, a, 1, 1, "abc", 6);
	count(set, b, 1, 1, "abd", 10);
	count(set, c, 1, 1, "axy", 100);
	g_autofree double *matrix = wp_run_set_matrix(set);
	const double expected[9] = { 0,       20 * 1,  110 * 2, /**/
				     20 * 1,  0,       110 * 2, /**/
				     110 * 2, 110 * 2, 0 };
	for (guint i = 0; i < 9; i++)
		ck_assert_double_eq(matrix[i], expected[i]);
}
END_TEST

/* What the other run does not have at all costs its length. */
START_TEST(what_is_missing_costs)
{
	static const struct {
		const char *why;
		guint32 role, entry; /* of the second chain of the second run */
		double distance;
	} rows[] = {
		{ "the same group: the nearest is abc, 2 away", 1, 1, 5 * 2 },
		{ "an entry that is new", 1, 2, 5 * 4 },
		{ "a role that is new", 2, 1, 5 * 4 },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpRunSet) set = wp_run_set_new(wp_chain_metric_by_name("lev"));
		guint32 a = wp_run_set_add_run(set), b = wp_run_set_add_run(set);
		count(set, a, 1, 1, "abc", 7);
		count(set, b, 1, 1, "abc", 9);
		count(set, b, rows[i].role, rows[i].entry, "abxy", 5);
		g_autofree double *matrix = wp_run_set_matrix(set);
		ck_assert_msg(matrix[1] == rows[i].distance, "%s: %g", rows[i].why, matrix[1]);
		ck_assert_double_eq(matrix[2], matrix[1]);
	}
}
END_TEST

/* Of three runs the second has one chain more and one less than both others. */
START_TEST(reasons_are_the_greatest_parts)
{
	g_autoptr(WpRunSet) set = wp_run_set_new(wp_chain_metric_by_name("lev"));
	guint32 more = 0, less = 0;
	for (guint i = 0; i < 3; i++) {
		guint32 run = wp_run_set_add_run(set);
		count(set, run, 1, 1, "abc", 10);
		if (run == 1)
			more = count(set, run, 1, 1, "abxy", 8);
		else
			less = count(set, run, 2, 1, "def", 4);
	}
	g_autofree double *matrix = wp_run_set_matrix(set);
	g_autoptr(GArray) reasons = wp_run_set_explain(set, 1);
	const WpRunReason *rows = (const WpRunReason *)(void *)reasons->data;
	ck_assert_uint_eq(reasons->len, 2);
	ck_assert_uint_eq(rows[0].chain, more);
	ck_assert(!rows[0].is_missing);
	ck_assert_double_eq(rows[0].distance, 8 * 2);
	ck_assert_uint_eq(rows[1].chain, less);
	ck_assert(rows[1].is_missing);
	ck_assert_double_eq(rows[1].distance, 4 * 3);
	ck_assert_double_eq(matrix[1], 8 * 2 + 4 * 3);
}
END_TEST

START_TEST(limits_are_counted)
{
	g_autoptr(WpRunSet) set = wp_run_set_new(wp_chain_metric_by_name("lev"));
	WpChainFrame frames[WP_RUN_SET_MAX_FRAMES + 1] = { 0 };
	guint n;
	wp_run_set_frames(set, wp_run_set_chain(set, frames, G_N_ELEMENTS(frames)), &n);
	ck_assert_uint_eq(n, WP_RUN_SET_MAX_FRAMES);
	for (guint32 i = 1; i < WP_RUN_SET_MAX_CHAINS; i++) {
		frames[0].levels[WP_FRAME_ROLE] = i;
		ck_assert_uint_eq(wp_run_set_chain(set, frames, 1), i);
	}
	ck_assert_uint_eq(wp_run_set_n_left(set), 0);
	frames[0].levels[WP_FRAME_ROLE] = WP_RUN_SET_MAX_CHAINS;
	ck_assert_uint_eq(wp_run_set_chain(set, frames, 1), G_MAXUINT32);
	ck_assert_uint_eq(wp_run_set_n_left(set), 1);
}
END_TEST

WP_SUITE("run-set", weights_count_from_both_sides, what_is_missing_costs,
	 reasons_are_the_greatest_parts, limits_are_counted)
