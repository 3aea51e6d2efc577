/* Links: cycles, words, parents that the capture does not show; and the map they use. */
#include "infer/links.h"

#include <string.h>

#include "infer/map.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

/* Parents as digits, '-' = none, one per span. */
START_TEST(cycles_are_cut_at_their_earliest_span)
{
	static const struct {
		const char *before, *after;
		guint n_cut;
	} rows[] = {
		{ "-", "-", 0 },
		{ "-012", "-012", 0 },
		{ "0", "-", 1 },           /* its own parent */
		{ "10", "-0", 1 },         /* two that enclose each other */
		{ "-231", "--31", 1 },     /* 1 -> 2 -> 3 -> 1 */
		{ "100014", "-00014", 1 }, /* with trees hanging on it */
		{ "1032", "-0-2", 2 },
		{ "3-01", "3-01", 0 }, /* parents later in time are fine */
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		guint32 n = (guint32)strlen(rows[i].before);
		g_autoptr(WpLinks) links = wp_links_new(n);
		for (guint32 k = 0; k < n; k++)
			if (rows[i].before[k] != '-')
				links->links[k].parent = (guint32)(rows[i].before[k] - '0');
		ck_assert_uint_eq(wp_links_cut_cycles(links), rows[i].n_cut);
		for (guint32 k = 0; k < n; k++) {
			char parent = '-';
			if (links->links[k].parent != WP_NO_SPAN)
				parent = (char)('0' + links->links[k].parent);
			ck_assert_int_eq(parent, rows[i].after[k]);
		}
		ck_assert_uint_eq(wp_links_cut_cycles(links), 0);
	}
}
END_TEST

START_TEST(evidence_as_words)
{
	char buffer[WP_EVIDENCE_TEXT_MAX];
	ck_assert_str_eq(wp_evidence_text(0, buffer, sizeof buffer), "");
	ck_assert_str_eq(wp_evidence_text(WP_EVIDENCE_ROOT, buffer, sizeof buffer), "root");
	ck_assert_str_eq(
		wp_evidence_text(WP_EVIDENCE_SETUP | WP_EVIDENCE_UNPAIRED, buffer, sizeof buffer),
		"unpaired+setup");
	wp_evidence_text(~0u, buffer, sizeof buffer);
	ck_assert(strlen(buffer) < sizeof buffer - 1); /* all words fit */
	wp_evidence_text(WP_EVIDENCE_UNPAIRED, buffer, 4);
	ck_assert_str_eq(buffer, "unp");
}
END_TEST

/* Which calls lose their rank as a root. The last letter of a row: evidence of each span by id. */
START_TEST(parents_outside_the_capture)
{
	static const struct {
		const char *tree;
		const char *evidence; /* by id: r root, u unseen, . something else */
	} rows[] = {
		/* from a node that nobody calls: always a root */
		{ "client>web[0-10]", "r" },
		/* web is called, but nothing was open */
		{ "client>web[0-10] web>db[20-30]", "rr" },
		/* the return of a call into web is missing; the longest other one took 10 */
		{ "client>web[0-10] client>web[20-] web>db[25-28]", "r.u" },
		{ "client>web[0-10] client>web[20-] web>db[31-33]", "r.r" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_new(rows[i].tree);
		g_autoptr(WpLinks) links = wp_tree_links(tree);
		wp_links_mark_unseen(links, tree->resolved);
		for (guint32 id = 1; id <= strlen(rows[i].evidence); id++) {
			guint32 got = links->links[wp_tree_span(tree, id)].evidence;
			char letter = got == WP_EVIDENCE_ROOT     ? 'r'
				      : got == WP_EVIDENCE_UNSEEN ? 'u'
								  : '.';
			ck_assert_int_eq(letter, rows[i].evidence[id - 1]);
		}
	}
}
END_TEST

/* Roots and links without odds do not count. */
START_TEST(mean_probability)
{
	static const struct {
		guint32 parent;
		float probability;
	} rows[] = { { WP_NO_SPAN, 1 }, { 0, .5f }, { 0, -1 }, { 1, 1 } };
	g_autoptr(WpLinks) links = wp_links_new(G_N_ELEMENTS(rows));
	ck_assert_double_eq(wp_links_mean_probability(links), 1); /* of none */
	for (guint32 i = 0; i < G_N_ELEMENTS(rows); i++) {
		links->links[i].parent = rows[i].parent;
		links->links[i].probability = rows[i].probability;
	}
	ck_assert_double_eq(wp_links_mean_probability(links), .75);
}
END_TEST

START_TEST(map_counts_and_grows)
{
	g_autoptr(WpMap) map = wp_map_new();
	ck_assert_uint_eq(wp_map_find(map, 0), WP_MAP_NONE);
	for (int round = 0; round < 2; round++)
		for (guint32 i = 0; i < 10000; i++) /* keys that differ in high bits alone */
			ck_assert_uint_eq(wp_map_number(map, wp_map_key(i, i << 20)), i);
	ck_assert_uint_eq(wp_map_count(map), 10000);
	*wp_map_at(map, wp_map_key(7, 7 << 20), 1) += 5;
	ck_assert_uint_eq(wp_map_find(map, wp_map_key(7, 7 << 20)), 12);
	ck_assert_uint_eq(*wp_map_at(map, 3, 9), 9);
}
END_TEST

WP_SUITE("links", cycles_are_cut_at_their_earliest_span, evidence_as_words,
	 parents_outside_the_capture, mean_probability, map_counts_and_grows)
