/* Probabilities of links by requests dealt anew: as many are right as are said to be. */
#include "infer/calibrate.h"

#include <math.h>
#include <string.h>

#include "infer/engine-nesting.h"
#include "infer/random.h"
#include "tests/support/simulated.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

static void
calibrate(const WpTree *tree, WpLinks *links)
{
	WpResolveOptions resolve;
	wp_resolve_options_init(&resolve);
	const WpDealMethod method = { &resolve, &wp_engine_nesting, NULL, NULL };
	ck_assert(wp_links_calibrate(links, tree->resolved, &method, NULL));
}

static WpLinks *
infer(const WpTree *tree)
{
	return wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
}

/* By how much more of the links are said to be right than are, of all that have a true parent. */
static double
excess_of(const WpTree *tree, const WpLinks *links)
{
	g_autoptr(WpLinks) truth = wp_tree_links(tree);
	double excess = 0;
	guint32 n = 0;

	for (guint32 i = 0; i < links->n; i++) {
		if (truth->links[i].parent == WP_NO_SPAN)
			continue;
		n++;
		excess += (double)links->links[i].probability -
			  (links->links[i].parent == truth->links[i].parent);
	}
	return excess / n;
}

/* The same of whole requests. */
static double
excess_of_requests(const WpTree *tree, const WpLinks *links)
{
	g_autoptr(WpLinks) truth = wp_tree_links(tree);
	g_autofree double *odds = g_new(double, links->n);
	g_autofree guint8 *is_wrong = g_new0(guint8, links->n);
	double excess = 0;
	guint32 n = 0;

	for (guint32 i = 0; i < links->n; i++)
		odds[i] = 1;
	for (guint32 i = 0; i < links->n; i++) {
		guint32 parent = links->links[i].parent;
		if (truth->links[i].parent == WP_NO_SPAN || parent == WP_NO_SPAN)
			continue;
		odds[parent] *= (double)links->links[i].probability;
		is_wrong[parent] |= parent != truth->links[i].parent;
		is_wrong[truth->links[i].parent] |= parent != truth->links[i].parent;
	}
	for (guint32 i = 0; i < links->n; i++) {
		if (truth->links[i].parent != WP_NO_SPAN)
			continue;
		n++;
		excess += pow(odds[i], links->whole_power) - !is_wrong[i];
	}
	return excess / n;
}

START_TEST(says_what_is_so)
{
	static const struct {
		int period;
		double least_before; /* by which the engine alone is too sure */
		double most;         /* ... off afterwards */
		double most_of_requests;
	} rows[] = {
		{ 200, 0, 0.01, 0.02 }, { 60, 0, 0.03, 0.05 },
		{ 30, 0, 0.04, 0.05 }, /* every 24 to 37 us: 0.015 too little, +- 0.02 */
		{ 15, 0, 0.05, 0.1 },  /* three of ten are right */
		{ 8, 0.08, 0.05, 0.1 },
	};
	for (int i = 0; i < wp_test_number(G_N_ELEMENTS(rows), 1); i++) {
		g_autoptr(WpTree) tree =
			wp_tree_of_requests(rows[i].period, wp_test_number(1500, 300));
		g_autoptr(WpLinks) links = infer(tree);
		g_autofree WpLink *alone = g_memdup2(links->links, links->n * sizeof *alone);
		double before = fabs(excess_of(tree, links));
		calibrate(tree, links);
		double after = fabs(excess_of(tree, links));
		double whole = fabs(excess_of_requests(tree, links));
		ck_assert_double_ge(before, rows[i].least_before);
		ck_assert_msg(after <= rows[i].most, "every %d us: %g", rows[i].period, after);
		ck_assert_msg(whole <= rows[i].most_of_requests, "every %d us: requests %g",
			      rows[i].period, whole);
		for (guint32 k = 0; k < links->n; k++)
			ck_assert_uint_eq(links->links[k].parent, alone[k].parent);
	}
}
END_TEST

#define SPELL 200 /* requests */

/* (transfer full) Spells of quick requests, and of those for which everything takes SLOWER times as long; as many are in flight. */
static WpTree *
make_spells(int period, int slower, int n)
{
	g_autoptr(GString) text = g_string_new(NULL);
	WpRandom64 random = { 42 };
	int at = 0;

	for (int i = 0; i < n; i++) {
		int scale = i / SPELL % 2 ? slower : 1;
		int times[] = { 0, 50, 20, 20, 20, 20 }, varies[] = { 0, 100, 60, 80, 60, 60 };
		times[0] = at + (int)wp_random64_below(&random, (guint)(period * scale));
		for (gsize k = 1; k < G_N_ELEMENTS(times); k++)
			times[k] = times[k - 1] +
				   scale * (times[k] +
					    (int)wp_random64_below(&random, (guint)varies[k]));
		g_string_append_printf(text, "c>w[%d-%d](a[%d-%d],b[%d-%d]) ", times[0], times[5],
				       times[1], times[2], times[3], times[4]);
		at += period * scale;
	}
	return wp_tree_new(text->str);
}

/* What is slow for a while is dealt among what was slow as well; among all, .09 and .06 too little was promised. */
START_TEST(knows_slow_spells)
{
	static const struct {
		int period;
		int slower;
		double most; /* off afterwards */
	} rows[] = { { 60, 10, 0.03 }, { 40, 10, 0.03 } };
	for (int i = 0; i < wp_test_number(G_N_ELEMENTS(rows), 1); i++) {
		g_autoptr(WpTree) tree =
			make_spells(rows[i].period, rows[i].slower, wp_test_number(1600, 150));
		g_autoptr(WpLinks) links = infer(tree);
		calibrate(tree, links);
		double excess = excess_of(tree, links);
		if (wp_test_number(1, 0))
			ck_assert_msg(fabs(excess) <= rows[i].most, "every %d us: %.3f",
				      rows[i].period, excess);
	}
}
END_TEST

/*
 * A pool of connections, some of which a request keeps from one call to the next, which looks as if they were free. That
 * calls have waited is seen all the same; dealt, none stands in line, but when it began tells nothing there either. What one
 * dealing says is off by up to 0.08, so that several are looked at; it was 0.28 before.
 */
static const struct {
	int clients;
	int n_seeds;  /* right and said: means */
	double right; /* floor */
	double off;   /* most: between what is right and what is said to be */
} pools[] = {
	{ 9, 4, 0.35, 0.05 }, { 15, 3, 0.3, 0.08 }, /* no connection is ever free */
};

START_TEST(knows_who_has_waited)
{
	static const char text[] =
		"[simulation]\nrequests = %d\nseed = %d\nnetwork = normal(50us, 20%%)\n"
		"[service app]\nworkers = 8\n[service db]\n[pool app db]\nconnections = 3\n"
		"[client users]\nclients = %d\nthink = exponential(20ms)\nplan = call app.x\n"
		"[operation app.x]\nplan = work normal(3ms, 30%%); call db.x; work normal(2ms, "
		"30%%); "
		"maybe 30%% { hold db { repeat 4 { call db.y; work normal(1ms, 30%%) } } } "
		"else { call db.x } work normal(2ms, 30%%)\n"
		"[operation db.x]\nplan = work lognormal(6ms, 0.5)\n"
		"[operation db.y]\nplan = work lognormal(3ms, 0.5)\n";
	double right = 0, said = 0;
	int n = wp_test_number(pools[_i].n_seeds, 1);

	for (int seed = 1; seed <= n; seed++) {
		g_autofree char *scenario =
			g_strdup_printf(text, wp_test_number(1000, 40), seed, pools[_i].clients);
		double own_right, own_said;
		wp_test_infer_simulated(scenario, "pool", &own_right, &own_said);
		right += own_right / n;
		said += own_said / n;
	}
	if (wp_test_number(1, 0))
		ck_assert_msg(right >= pools[_i].right && fabs(said - right) <= pools[_i].off,
			      "%d clients: %.3f right, %.3f said to be", pools[_i].clients, right,
			      said);
}
END_TEST

/* Of what is sure, and of what is too little to learn from, not a bit changes. */
START_TEST(leaves_alone)
{
	static const struct {
		int period;
		int n;
	} rows[] = { { 1000, 600 }, { 30, 40 } };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_of_requests(rows[i].period, rows[i].n);
		g_autoptr(WpLinks) alone = infer(tree), links = infer(tree);
		calibrate(tree, links);
		ck_assert_mem_eq(links->links, alone->links, links->n * sizeof(WpLink));
		ck_assert_double_eq(links->whole_power, 1);
	}
}
END_TEST

START_TEST(repeats)
{
	g_autoptr(WpTree) tree = wp_tree_of_requests(30, wp_test_number(400, 135));
	g_autoptr(WpLinks) one = infer(tree), two = infer(tree), before = infer(tree);
	calibrate(tree, one);
	calibrate(tree, two);
	ck_assert_mem_eq(one->links, two->links, one->n * sizeof(WpLink));
	ck_assert_double_eq(one->whole_power, two->whole_power);
	ck_assert_mem_ne(one->links, before->links, one->n * sizeof(WpLink));
}
END_TEST

/* A part of the requests, those in the middle, each whole. */
START_TEST(deals_a_part)
{
	g_autoptr(WpTree) tree = wp_tree_of_requests(100, 1000);
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	const guint32 limits[] = { 300, 1000, WP_DEAL_ALL };
	WpResolveOptions resolve;
	wp_resolve_options_init(&resolve);
	const WpDealMethod method = { &resolve, &wp_engine_nesting, NULL, NULL };
	for (gsize i = 0; i < G_N_ELEMENTS(limits); i++) {
		g_autoptr(WpDeal) deal =
			wp_deal_new(tree->resolved, links, limits[i], &method, NULL);
		const guint32 *roots = wp_deal_roots(deal);
		guint32 n = 0, first = links->n, last = 0;
		for (guint32 k = 0; k < links->n; k++) {
			guint32 parent = links->links[k].parent;
			if (parent != WP_NO_SPAN)
				ck_assert_uint_eq(roots[k], roots[parent]);
			if (roots[k] == WP_NO_SPAN)
				continue;
			n++;
			first = MIN(first, k);
			last = MAX(last, k);
		}
		ck_assert_uint_eq(wp_deal_links(deal)->n, n);
		if (limits[i] == WP_DEAL_ALL) {
			ck_assert_uint_eq(n, links->n);
			continue;
		}
		ck_assert_uint_ge(n, limits[i] - 3);
		ck_assert_uint_le(n, limits[i] + 3);
		/* As much is left out before as behind. */
		ck_assert_int_le(ABS((int)first - (int)(links->n - 1 - last)), 40);
	}
}
END_TEST

WP_SUITE_OF_ROWS("calibrate", { says_what_is_so, 0 }, { knows_slow_spells, 0 },
		 { knows_who_has_waited, G_N_ELEMENTS(pools) }, { leaves_alone, 0 }, { repeats, 0 },
		 { deals_a_part, 0 })
