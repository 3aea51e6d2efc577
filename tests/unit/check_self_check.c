/* Self-check: what it expects is what is true. */
#include "infer/self-check.h"

#include "infer/engine-nesting.h"
#include "tests/support/simulated.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

static double
true_share(const WpTree *tree, const WpLinks *links)
{
	g_autoptr(WpLinks) truth = wp_tree_links(tree);
	guint32 n = 0, right = 0;
	for (guint32 i = 0; i < links->n; i++) {
		n += truth->links[i].parent != WP_NO_SPAN;
		right += truth->links[i].parent != WP_NO_SPAN &&
			 links->links[i].parent == truth->links[i].parent;
	}
	return (double)right / n;
}

static WpSelfCheck
check_of(const WpTree *tree, const WpLinks *links)
{
	WpResolveOptions resolve;
	WpSelfCheck check;
	wp_resolve_options_init(&resolve);
	ck_assert(wp_self_check(tree->resolved, links, &resolve, &wp_engine_nesting, NULL, NULL,
				&check, NULL));
	return check;
}

/* At any load within 5 points of what is true. */
START_TEST(expects_what_is_true)
{
	static const struct {
		int period;
		double least, most; /* that are truly right: easy and hard cases are meant */
	} rows[] = { { 1000, 1, 1 }, { 200, 0.9, 1 }, { 60, 0.5, 0.95 } };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_of_requests(rows[i].period, 600);
		g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
		WpSelfCheck check = check_of(tree, links);
		double expected = (double)check.n_links_right / (double)check.n_links;
		double truly = true_share(tree, links);
		ck_assert_double_ge(truly, rows[i].least);
		ck_assert_double_le(truly, rows[i].most);
		ck_assert_msg(ABS(expected - truly) <= 0.05, "every %d us: %g, not %g",
			      rows[i].period, expected, truly);
		ck_assert_uint_eq(check.n_requests, 600);
		ck_assert_uint_le(check.n_requests_right, check.n_requests);
		ck_assert_int_eq(check.n_requests_right == check.n_requests, expected >= 1);
	}
}
END_TEST

START_TEST(repeats)
{
	g_autoptr(WpTree) tree = wp_tree_of_requests(80, 200);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	WpSelfCheck one = check_of(tree, links), two = check_of(tree, links);
	ck_assert_mem_eq(&one, &two, sizeof one);
}
END_TEST

/* Nothing to check is no division by zero; what is on no path does not count. */
START_TEST(what_counts)
{
	g_autoptr(WpTree) tree = wp_tree_new("c>w[0-9] c>w[10-] c>w[20] c>w[30-39](d[31-32])");
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	WpSelfCheck check = check_of(tree, links);
	ck_assert_uint_eq(check.n_links, 1);
	ck_assert_uint_eq(check.n_links_right, 1);
	ck_assert_uint_eq(check.n_requests, 2);
	ck_assert_uint_eq(check.n_requests_right, 2);
}
END_TEST

/* Where it was seen how often links so sure are right, so many are. */
START_TEST(takes_what_is_known)
{
	g_autoptr(WpTree) tree =
		wp_tree_new("c>w[0-9](d[1-2],d[3-4]) c>w[10-19](d[11-12]) c>w[20-29](d[21-22])");
	g_autoptr(WpLinks) links = wp_tree_links(tree);

	for (guint32 i = 0; i < links->n; i++)
		links->links[i].probability = 0.5F;
	links->is_calibrated = TRUE;
	links->whole_power = 0.5;
	WpSelfCheck check = check_of(tree, links);
	ck_assert_uint_eq(check.n_links, 4);
	ck_assert_uint_eq(check.n_links_right, 2);
	ck_assert_uint_eq(check.n_requests, 3);
	ck_assert_uint_eq(check.n_requests_right, 2); /* .5 + .71 + .71 */
}
END_TEST

/* Twelve orders in flight; each has a connection to the database to itself for a while. */
static const char orders[] =
	"[service web]\n[service locks]\n[service db]\n[pool web db]\nconnections = 20\n"
	"[client users]\narrivals = poisson(2000/s)\nplan = call web.order\n"
	"[operation web.order]\nlabel = POST /order\n"
	"plan = work lognormal(2ms, 0.4); call locks.take; "
	"hold db { call db.begin; call db.update; call db.commit } call locks.give; "
	"hold db { call db.select }\n"
	"[operation locks.take]\nlabel = LOCK stock\nplan = work 100us\n"
	"[operation locks.give]\nlabel = UNLOCK stock\nplan = work 50us\n"
	"[operation db.begin]\nlabel = BEGIN\nplan = work 50us\n"
	"[operation db.update]\nlabel = UPDATE items\nplan = work lognormal(2ms, 0.4)\n"
	"[operation db.commit]\nlabel = COMMIT\nplan = work 500us\n"
	"[operation db.select]\nlabel = SELECT items\nplan = work 300us\n";

/* Without connections given out anew 0.12 too little is expected. */
START_TEST(connections_are_given_out)
{
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	g_autofree char *text =
		g_strdup_printf("[simulation]\nrequests = %d\nnetwork = lognormal(60us, 0.3)\n%s",
				wp_test_number(1500, 60), orders);
	g_autoptr(WpTrace) trace = wp_test_simulate(text, "orders", truth);
	WpResolveOptions names;
	WpSelfCheck check;

	wp_resolve_options_init(&names);
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &names, NULL);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, NULL, NULL, NULL);
	ck_assert(wp_self_check(resolved, links, &names, &wp_engine_nesting, NULL, NULL, &check,
				NULL));
	double expected = (double)check.n_links_right / (double)check.n_links;
	double truly = wp_test_share_right(resolved, links, truth);
	if (wp_test_number(0, 1))
		return; /* too few to tell */
	ck_assert_double_le(truly, 0.98);
	ck_assert_msg(ABS(expected - truly) <= 0.03, "%g, not %g", expected, truly);
}
END_TEST

WP_SUITE("self-check", connections_are_given_out, expects_what_is_true, repeats, what_counts,
	 takes_what_is_known)
