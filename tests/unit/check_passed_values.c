/* Values that one kind of call carries many of, and meets by accident. Made here with known parents. */
#include <math.h>

#include "infer/engine-nesting.h"
#include "infer/random.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

#define BETWEEN_US 60
#define ITEMS      200
#define SHOWN      10 /* items of a search */

/* Of 0 to ITEMS, small numbers more often. */
static int
popular(WpRandom64 *random)
{
	double share = wp_random64_share(random);
	return (int)(share * share * share * ITEMS);
}

static int
around(WpRandom64 *random, int mean_us)
{
	return 1 + (int)(mean_us * (.4 + 1.2 * wp_random64_share(random)));
}

/* One item, by its number, from the cache. */
static void
append_item(GString *text, WpRandom64 *random, int begin_us)
{
	int item = popular(random);
	int get_us = begin_us + around(random, 300), end_us = get_us + around(random, 200);

	g_string_append_printf(text, "client>web/item=%d[%d-%d](cache/get=%d[%d-%d]) ", item,
			       begin_us, end_us + around(random, 400), item, get_us, end_us);
}

/* A word is asked for, that no call to the cache has; many items are got at once. */
static void
append_search(GString *text, WpRandom64 *random, int begin_us)
{
	int get_us = begin_us + around(random, 500), end_us = get_us + around(random, 200);
	GString *items = g_string_new(NULL);

	for (int i = 0; i < SHOWN; i++)
		g_string_append_printf(items, "=%d", popular(random));
	g_string_append_printf(text, "client>web/search[%d-%d](cache/get%s[%d-%d]) ", begin_us,
			       end_us + around(random, 500), items->str, get_us, end_us);
	g_string_free(items, TRUE);
}

/* An item is put into a cart: all in db, and something is noted after the reply. */
static void
append_add(GString *text, WpRandom64 *random, int number, int begin_us)
{
	int item = popular(random);
	int set_us = begin_us + around(random, 300), end_us = set_us + around(random, 200);
	int reply_us = end_us + around(random, 300), note_us = reply_us + around(random, 500);

	g_string_append_printf(
		text, "client>web/add=%d=%d[%d-%d](db/set=%d[%d-%d],cache/note=%d[%d-%d]) ", item,
		1000 + number, begin_us, reply_us, 1000 + number, set_us, end_us, 1000 + number,
		note_us, note_us + around(random, 50));
}

/* (transfer full) N requests, one each BETWEEN_US: some fifteen in flight. */
static WpTree *
make_shop(int n, guint64 seed)
{
	GString *text = g_string_new(NULL);
	WpRandom64 random = { seed };
	double at_us = 1000;

	for (int i = 0; i < n; i++) {
		double kind = wp_random64_share(&random);
		if (kind < .5)
			append_item(text, &random, (int)at_us);
		else if (kind < .7)
			append_search(text, &random, (int)at_us);
		else
			append_add(text, &random, i, (int)at_us);
		at_us -= BETWEEN_US * log(wp_random64_share(&random));
	}
	WpTree *tree = wp_tree_new(text->str);
	g_string_free(text, TRUE);
	return tree;
}

/* Share of calls, with parents labelled PARENT, that are given to one of those. */
static double
share_given(const WpTree *tree, const char *parent, const WpNestingOptions *options)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	const WpNodes *nodes = wp_trace_nodes(wp_resolved_trace(tree->resolved));
	g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, options, NULL, NULL);
	guint n = 0, given = 0;

	for (guint64 id = 1; id < tree->parents->len; id++) {
		guint64 truth = g_array_index(tree->parents, guint64, id);
		if (truth == 0)
			continue;
		guint32 true_label = spans->spans[wp_tree_span(tree, truth)].label;
		guint32 found = links->links[wp_tree_span(tree, id)].parent;
		if (!g_str_equal(wp_nodes_text(nodes, true_label), parent))
			continue;
		n++;
		given += found != WP_NO_SPAN && spans->spans[found].label == true_label;
	}
	return n ? (double)given / n : 0;
}

/*
 * A search's ten values are those of carts by chance ten times as often as the one of an item: told by all calls of
 * the label together, it went to a cart. The share of each one's calls that are given to its like.
 */
static const struct {
	const char *parent;
	guint64 seed;
	double floor;
	double most_without; /* values */
} rows[] = {
	{ "search", 1, .95, .6 },
	{ "search", 2, .95, .6 },
	{ "item", 2, .99, .9 },
};

START_TEST(many_values_meet_by_accident)
{
	static const WpNestingOptions without = { .after_ns = -1, .no_evidence = "tokens" };
	g_autoptr(WpTree) tree = make_shop(wp_test_number(1000, 30), rows[_i].seed);
	double share = share_given(tree, rows[_i].parent, NULL);

	if (wp_test_number(FALSE, TRUE)) /* so few say nothing */
		return;
	double without_it = share_given(tree, rows[_i].parent, &without);
	ck_assert_msg(share >= rows[_i].floor, "%s: %.3f", rows[_i].parent, share);
	ck_assert_msg(without_it <= rows[_i].most_without, "%s: too easy: %.3f without values",
		      rows[_i].parent, without_it);
}
END_TEST

WP_SUITE_OF_ROWS("passed_values", { many_values_meet_by_accident, G_N_ELEMENTS(rows) })
