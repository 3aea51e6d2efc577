/* Patterns: what is counted where, and in which order. */
#include "infer/pattern.h"

#include "infer/engine-nesting.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

/* "3 client>web(auth,db(disk)) | ..." in canonical order; "~" before background patterns. */
static char *
patterns_text(const WpPatternSet *set, const WpResolved *resolved)
{
	GString *text = g_string_new(NULL);
	WpNodes *nodes = wp_trace_nodes(wp_resolved_trace(resolved));

	for (guint32 i = 0; i < set->n_patterns; i++) {
		const WpPattern *pattern = &set->patterns[i];
		guint32 depth = 0;
		g_string_append_printf(text, "%s%s%" G_GUINT64_FORMAT " %s>", i ? " | " : "",
				       pattern->is_background ? "~" : "", pattern->count,
				       wp_resolved_node_name(resolved, pattern->client));
		for (guint32 k = 0; k < pattern->n_nodes; k++) {
			const WpPatternNode *node = &pattern->nodes[k];
			if (k > 0 && node->depth > depth)
				g_string_append_c(text, '(');
			else if (k > 0) {
				for (; depth > node->depth; depth--)
					g_string_append_c(text, ')');
				g_string_append_c(text, ',');
			}
			depth = node->depth;
			g_string_append(text, wp_resolved_node_name(resolved, node->node));
			if (node->label)
				g_string_append_printf(text, "/%s",
						       wp_nodes_text(nodes, node->label));
		}
		for (; depth > 0; depth--)
			g_string_append_c(text, ')');
	}
	return g_string_free(text, FALSE);
}

START_TEST(canonical_order)
{
	static const struct {
		const char *tree;
		const char *patterns;
	} rows[] = {
		{ "", "" },
		/* by total time */
		{ "c>w[0-10] c>v[20-50] c>w[60-70]", "1 c>v | 2 c>w" },
		/* then by count */
		{ "c>w[0-20] c>v[30-40] c>v[50-60]", "2 c>v | 1 c>w" },
		/* then by name: of the client, of nodes */
		{ "d>w[0-10] c>w[20-30]", "1 c>w | 1 d>w" },
		{ "c>x[0-10] c>v[20-30] c>w[40-50]", "1 c>v | 1 c>w | 1 c>x" },
		{ "c>w/b[0-10] c>w/a[20-30]", "1 c>w/a | 1 c>w/b" },
		{ "c>w[0-10] c>w[20-30](a[21-22])", "1 c>w | 1 c>w(a)" },
		/* siblings in parallel stand by name, one after another by time */
		{ "c>w[0-100](z[10-30],a[20-40],m[50-60])", "1 c>w(a,z,m)" },
		{ "c>w[0-100](z[10-30](q[11-12],p[13-14]),z[20-40])", "1 c>w(z,z(q,p))" },
		{ "c>w/a[0-50]~ c>w/b[60-70]", "~1 c>w/a | 1 c>w/b" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_new(rows[i].tree);
		g_autoptr(WpLinks) links = wp_tree_links(tree);
		g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
		g_autofree char *text = patterns_text(set, tree->resolved);
		ck_assert_str_eq(text, rows[i].patterns);
	}
}
END_TEST

/* Whatever stood in the capture before, siblings that differ only below stand in one order. */
START_TEST(order_knows_no_numbers)
{
	static const char *const before[] = {
		"",
		"c>q[0-10] c>p[20-30]",
		"c>p[0-10] c>q[20-30]",
		"c>z[0-10](p[1-2]) c>z[20-30](q[21-22])",
		"c>z[0-10](q[1-2]) c>z[20-30](p[21-22])",
		"c>z[0-10](q[1-2],p[3-4]) c>z[20-30](q[21-22])",
	};
	static const struct {
		const char *tree;
		const char *pattern;
	} rows[] = {
		{ "c>w[100-200](z[110-130](p[111-112]),z[120-140](q[121-122]))",
		  "1 c>w(z(p),z(q))" },
		{ "c>w[100-200](z[110-130](q[111-112]),z[120-140](p[121-122]))",
		  "1 c>w(z(p),z(q))" },
		{ "c>w[100-200](z[110-130](p[111-112],q[113-114]),z[120-140](p[121-122]))",
		  "1 c>w(z(p),z(p,q))" },
		{ "c>w[100-200](z[110-130](p[111-120](q/b[112-113])),"
		  "z[120-140](p[121-130](q/a[122-123])))",
		  "1 c>w(z(p(q/a)),z(p(q/b)))" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		for (gsize k = 0; k < G_N_ELEMENTS(before); k++) {
			g_autofree char *text = g_strdup_printf("%s %s", before[k], rows[i].tree);
			g_autoptr(WpTree) tree = wp_tree_new(text);
			g_autoptr(WpLinks) links = wp_tree_links(tree);
			g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
			g_autofree char *patterns = patterns_text(set, tree->resolved);
			g_auto(GStrv) parts = g_strsplit(patterns, " | ", -1);
			ck_assert_str_eq(parts[0], rows[i].pattern);
		}
}
END_TEST

/*
 *   client>web      [0-100]  [200-320]
 *            auth    10-20    230-240     call delay 10, 30
 *            db      30-90    250-290     call delay 30, 50
 *   self time        30       70
 */
START_TEST(times_of_each_node)
{
	static const struct {
		double latency, self, delay;
		gint64 slowest;
	} expected[] = { { 110, 50, 0, 120 }, { 10, 10, 20, 10 }, { 50, 50, 40, 60 } };
	g_autoptr(WpTree) tree = wp_tree_new("client>web[0-100](auth[10-20],db[30-90]!)"
					     "client>web[200-320](auth[230-240],db[250-290])");
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	for (guint32 i = 0; i < links->n; i++)
		links->links[i].probability = i < 3 ? 1.0f : 0.5f;
	links->links[0].probability = -1;
	g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);

	ck_assert_uint_eq(set->n_patterns, 1);
	const WpPattern *pattern = &set->patterns[0];
	ck_assert_uint_eq(pattern->n_nodes, 3);
	ck_assert_double_eq(pattern->total_ns, 220e3);
	ck_assert_double_eq(set->total_ns, 220e3);
	for (guint k = 0; k < 3; k++) {
		const WpPatternNode *node = &pattern->nodes[k];
		ck_assert_double_eq(wp_delay_mean_ns(node->latency), expected[k].latency * 1e3);
		ck_assert_double_eq(wp_delay_mean_ns(node->self_time), expected[k].self * 1e3);
		ck_assert_int_eq(wp_delay_max_ns(node->latency), expected[k].slowest * 1000);
		ck_assert_double_eq(wp_delay_mean_ns(node->server_time), expected[k].latency * 1e3);
		ck_assert_int_eq(node->call_delay != NULL, k > 0);
		if (k > 0)
			ck_assert_double_eq(wp_delay_mean_ns(node->call_delay),
					    expected[k].delay * 1e3);
		ck_assert_uint_eq(node->errors, k == 2);
		ck_assert_double_eq(node->probability, k == 0 ? 0.5 : 0.75);
	}
}
END_TEST

/* Twenty requests of 1 to 20 us; the exemplars by nearest rank. */
START_TEST(exemplars)
{
	static const guint64 by_place[] = { 10, 10, 19, 20, 20 };
	g_autoptr(GString) text = g_string_new(NULL);
	for (int i = 1; i <= 20; i++)
		g_string_append_printf(text, "c>w[%d-%d] ", 100 * i, 100 * i + i);
	g_autoptr(WpTree) tree = wp_tree_new(text->str);
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
	const WpPattern *pattern = &set->patterns[0];

	ck_assert_uint_eq(pattern->n_exemplars, WP_PATTERN_N_EXEMPLARS);
	for (guint i = 0; i < WP_PATTERN_N_EXEMPLARS; i++)
		ck_assert_uint_eq(pattern->exemplars[i].id, by_place[i]);
	ck_assert_double_eq(pattern->exemplars[WP_PATTERN_N_EXEMPLARS - 1].quantile, 1);
}
END_TEST

START_TEST(operations)
{
	g_autoptr(WpTree) tree = wp_tree_new("c>w/buy[0-100](db[10-90]) c>w/buy[200-250]! "
					     "c>w/list[300-310](db[301-302],db[303-304])"
					     "c>w/list[400-410](db[401-402])");
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
	WpNodes *nodes = wp_trace_nodes(tree->trace);

	ck_assert_uint_eq(set->n_operations, 2);
	const WpOperation *buy = &set->operations[0], *list = &set->operations[1];
	ck_assert_str_eq(wp_nodes_text(nodes, buy->label), "buy");
	ck_assert_uint_eq(buy->count, 2);
	ck_assert_uint_eq(buy->errors, 1);
	ck_assert_uint_eq(buy->n_patterns, 2);
	ck_assert_double_eq(buy->total_ns, 150e3);
	ck_assert_int_eq(wp_delay_max_ns(buy->latency), 100000);
	/* db 80, then w 20 + 50 */
	ck_assert_uint_eq(buy->n_nodes, 2);
	ck_assert_str_eq(wp_resolved_node_name(tree->resolved, buy->nodes[0].node), "db");
	ck_assert_double_eq(buy->nodes[0].self_ns, 80e3);
	ck_assert_double_eq(buy->nodes[1].self_ns, 70e3);
	ck_assert_double_eq(buy->nodes[1].calls, 2);
	ck_assert_double_eq(list->nodes[1].calls, 3); /* db, over both patterns and both places */
	for (guint32 i = 0; i < set->n_patterns; i++)
		ck_assert_uint_eq(set->operations[set->patterns[i].operation].label,
				  set->patterns[i].nodes[0].label);
}
END_TEST

/* Waiting by design and health checks stand apart. */
/*
 * A call in doubt counts below both of its possible parents, with all that hangs below it.
 *
 *   w/a  |----------------|         p = 0.8
 *   w/b    |----------------|
 *   db       |---|                  disk inside
 */
START_TEST(places_weigh_links)
{
	g_autoptr(WpTree) tree =
		wp_tree_new("c>w/a[0-100](db[10-30](disk[15-25])) c>w/b[5-105] c>w/a[200-300]");
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	WpLink *db = &links->links[wp_tree_span(tree, 2)];
	db->probability = 0.8f;
	db->runner_up = wp_tree_span(tree, 4);
	for (int has_odds = 0; has_odds < 2; has_odds++) {
		links->has_odds = has_odds;
		g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
		const WpOperation *a = &set->operations[0], *b = &set->operations[1];
		ck_assert_uint_eq(a->n_places, 3);
		ck_assert_uint_eq(a->places[2].parent, 1);
		ck_assert_uint_eq(a->places[2].depth, 2);
		ck_assert_double_eq_tol(a->places[0].calls, 2, 1e-6);
		ck_assert_double_eq_tol(a->places[0].latency_ns, 100e3, 1e-3);
		ck_assert_double_eq_tol(a->places[0].self_ns, 180e3, 1e-3);
		ck_assert_double_eq_tol(a->places[1].calls, has_odds ? 0.8 : 1, 1e-6);
		ck_assert_double_eq_tol(a->places[2].calls, has_odds ? 0.8 : 1, 1e-6);
		ck_assert_double_eq_tol(a->places[2].self_ns, has_odds ? 8e3 : 10e3, 1e-2);
		ck_assert_double_eq_tol(a->places[1].delay_ns, 10e3, 1e-3);
		ck_assert_uint_eq(b->n_places, has_odds ? 3 : 1);
		if (!has_odds)
			continue;
		ck_assert_double_eq_tol(b->places[1].calls, 0.2, 1e-6);
		ck_assert_double_eq_tol(b->places[2].calls, 0.2, 1e-6);
		ck_assert_double_eq_tol(b->places[1].delay_ns, 5e3, 1e-3);
		ck_assert_double_eq_tol(b->places[1].latency_ns, 20e3, 1e-3);
	}
}
END_TEST

/* Siblings of the merged tree stand in order of their mean delay, whatever came first in the capture. */
START_TEST(places_stand_in_order)
{
	g_autoptr(WpTree) tree =
		wp_tree_new("c>w[0-100](b[10-20]) c>w[200-300](a[205-210],b[220-230])"
			    " c>w[400-500](b[460-470],b[480-490])");
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
	const WpOperation *all = &set->operations[0];
	ck_assert_uint_eq(all->n_places, 3);
	ck_assert_str_eq(wp_resolved_node_name(tree->resolved, all->places[1].node), "a");
	ck_assert_double_eq(all->places[1].calls, 1);
	ck_assert_double_eq(all->places[2].calls, 4);
	ck_assert_double_eq_tol(all->places[2].delay_ns, 42.5e3, 1e-3);
}
END_TEST

/* A pattern is uncertain by the paths of its requests alone: rare it may be, and its links in doubt. */
START_TEST(odds_of_a_pattern)
{
	static const struct {
		float paths[2], links[2]; /* of the two requests of c>w(a) */
		double path_odds, links_odds;
		gboolean is_uncertain;
	} rows[] = {
		{ { 1, 1 }, { 1, 1 }, 1, 1, FALSE },
		{ { 0.2f, 0.6f }, { 1, 1 }, 0.4, 1, TRUE },
		{ { 0.4f, 0.6f }, { 1, 1 }, 0.5, 1, FALSE },
		{ { 1, 1 }, { 0.1f, 0.3f }, 1, 0.2, FALSE },
		{ { -1, 0.3f }, { -1, 0.3f }, 0.3, 0.3, TRUE },
		{ { -1, -1 }, { -1, -1 }, -1, -1, FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree =
			wp_tree_new("c>w[0-100](a[10-20]) c>w[200-300](a[210-220])");
		g_autoptr(WpLinks) links = wp_tree_links(tree);
		links->path_odds = g_new0(float, links->n);
		for (guint k = 0; k < 2; k++) {
			links->path_odds[wp_tree_span(tree, 2 * k + 1)] = rows[i].paths[k];
			links->links[wp_tree_span(tree, 2 * k + 2)].probability = rows[i].links[k];
		}
		g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
		ck_assert_uint_eq(set->n_patterns, 1);
		ck_assert_double_eq_tol(set->patterns[0].path_odds, rows[i].path_odds, 1e-6);
		ck_assert_double_eq_tol(set->patterns[0].links_odds, rows[i].links_odds, 1e-6);
		ck_assert_int_eq(set->patterns[0].is_uncertain, rows[i].is_uncertain);
	}
}
END_TEST

/* A rare path whose calls have no other parent stays a pattern, through engine, mending and folding. */
START_TEST(rare_and_sure_is_a_pattern)
{
	g_autoptr(GString) text = g_string_new("c>w[0-100](a[10-20],x[30-40])");
	for (int i = 1; i <= 50; i++)
		g_string_append_printf(text, " c>w[%d-%d](a[%d-%d])", 1000 * i, 1000 * i + 100,
				       1000 * i + 10, 1000 * i + 20);
	g_autoptr(WpTree) tree = wp_tree_new(text->str);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
	ck_assert_uint_eq(set->n_patterns, 2);
	ck_assert_uint_eq(set->patterns[1].count, 1);
	ck_assert_double_eq(set->patterns[1].path_odds, 1);
	ck_assert(!set->patterns[1].is_uncertain);
}
END_TEST

START_TEST(background)
{
	static const struct {
		const char *tree;
		gboolean is_background;
	} rows[] = {
		{ "c>w[0-10]", FALSE },
		{ "c>w[0-10]~", TRUE },
		{ "c>w[0-10](d[1-9]~)", FALSE }, /* a request that waits for a queue is a request */
		{ "c>w[0-10]~ c>w[20-30] c>w[40-50]", FALSE },
		{ "c>redis/PING[0-10]", TRUE },
		{ "c>w/PINGU[0-10]", FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_new(rows[i].tree);
		g_autoptr(WpLinks) links = wp_tree_links(tree);
		g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
		ck_assert_int_eq(set->patterns[0].is_background, rows[i].is_background);
		ck_assert_int_eq(set->operations[0].is_background, rows[i].is_background);
		ck_assert_int_eq(set->total_ns == 0, rows[i].is_background);
	}
}
END_TEST

/* Nothing vanishes: what is on no path is counted by its reason. */
START_TEST(what_is_left_out_is_counted)
{
	g_autoptr(WpTree) tree = wp_tree_new("c>w[0-9](d[1-2]) c>w[10-] c>w[20-29]^ c>w[30]"
					     "w>d[40-49](x[41-42])");
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	links->links[wp_tree_span(tree, 6)].evidence = WP_EVIDENCE_UNSEEN;
	g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);

	ck_assert_uint_eq(set->n_roots, 1);
	ck_assert_uint_eq(set->n_unlinked, 5);
	ck_assert_uint_eq(set->n_unpaired, 1);
	ck_assert_uint_eq(set->n_setup, 1);
	ck_assert_uint_eq(set->n_one_way, 1);
	ck_assert_uint_eq(set->n_unseen, 1);
	ck_assert_uint_eq(set->n_below_unseen, 1);
}
END_TEST

WP_SUITE("pattern", canonical_order, order_knows_no_numbers, times_of_each_node, exemplars,
	 operations, places_weigh_links, places_stand_in_order, odds_of_a_pattern,
	 rare_and_sure_is_a_pattern, background, what_is_left_out_is_counted)
