/* Mending: odd requests that explain each other become frequent ones, and nothing else changes. */
#include "infer/mend.h"

#include "infer/pattern.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

/* So many requests of one path are a habit. */
#define MANY 40

/* HABIT again and again, from 1000 us on, each 1000 us after the other; its times are %d and %d + 100. */
static char *
with_habit(const char *odd, const char *habit)
{
	GString *text = g_string_new(odd);
	for (int i = 1; i <= MANY; i++) {
		g_auto(GStrv) parts = g_strsplit(habit, "@", -1);
		g_string_append_c(text, ' ');
		for (guint k = 0; parts[k]; k++) {
			char *rest = parts[k];
			if (k)
				g_string_append_printf(
					text, "%d",
					1000 * i + (int)g_ascii_strtoll(rest, &rest, 10));
			g_string_append(text, rest);
		}
	}
	return g_string_free(text, FALSE);
}

static gboolean
always(void)
{
	return TRUE;
}

/* All calls that have a parent and that several calls enclose may be wrong. */
static WpLinks *
doubtful_links(const WpTree *tree, float probability)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	WpLinks *links = wp_tree_links(tree);
	for (guint32 i = 0; i < links->n; i++) {
		const WpSpan *child = &spans->spans[i];
		WpLink *link = &links->links[i];
		link->n_candidates = 0;
		for (guint32 k = 0; k < spans->n; k++) {
			const WpSpan *other = &spans->spans[k];
			link->n_candidates += other->callee_host == child->caller_host &&
					      other->call_ns <= child->call_ns &&
					      other->return_ns >= child->return_ns && k != i;
		}
		if (link->parent == WP_NO_SPAN)
			link->probability = 1;
		else if (link->n_candidates > 1) {
			link->evidence = WP_EVIDENCE_DELAY;
			link->probability = probability;
		} else {
			link->evidence = WP_EVIDENCE_ONLY;
			link->probability = 1;
		}
	}
	return links;
}

/* Requests whose path fewer than MANY take. */
static guint64
count_odd(const WpTree *tree, const WpLinks *links)
{
	g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
	guint64 n = 0;
	for (guint32 i = 0; i < set->n_patterns; i++)
		if (set->patterns[i].count < MANY)
			n += set->patterns[i].count;
	return n;
}

static guint32
count_changed(const WpLinks *links)
{
	guint32 n = 0;
	for (guint32 i = 0; i < links->n; i++)
		n += (links->links[i].evidence & WP_EVIDENCE_PATH) != 0;
	return n;
}

/* What an engine found, before a habit of c>w(a) or c>w(a,b). */
static const struct {
	const char *why;
	const char *found;
	const char *habit;
	guint64 odd;     /* requests left with a path of their own */
	guint32 changed; /* links */
	float probability;
} rows[] = {
	{ "one too many, one too few", "c>w[0-100](a[10-20],a[30-40],b[50-60],b[70-80]) c>w[5-105]",
	  "c>w[@0-@100](a[@10-@20],b[@50-@60])", 0, 2, 0.6f },
	{ "tails exchanged", "c>w[0-100](a[10-20],a[50-60]) c>w[5-105](b[30-40],b[70-80])",
	  "c>w[@0-@100](a[@10-@20],b[@50-@60])", 0, 2, 0.9f },
	{ "through one in between that is as it should be",
	  "c>w[0-50](a[10-20],a[30-40]) c>w[25-150](a[60-70]) c>w[55-200]",
	  "c>w[@0-@100](a[@10-@20])", 0, 2, 0.6f },
	{ "however sure the engine is of it", "c>w[0-100](a[10-20],a[30-40]) c>w[5-105]",
	  "c>w[@0-@100](a[@10-@20])", 0, 1, 1 },
	{ "nobody lacks the second: a retry", "c>w[0-100](a[10-20],a[30-40]) c>w[5-105](a[50-60])",
	  "c>w[@0-@100](a[@10-@20])", 1, 0, 0.6f },
	{ "the other was not open", "c>w[0-100](a[10-20],a[30-40]) c>w[105-205]",
	  "c>w[@0-@100](a[@10-@20])", 2, 0, 0.6f },
	{ "a call with one possible parent is sure", "c>w[0-100](a[10-20],a[30-40]) c>w[35-205]",
	  "c>w[@0-@100](a[@10-@20])", 2, 0, 0.6f },
	{ "both would stay odd", "c>w[0-100](a[10-20],x[30-40]) c>w[5-105](a[50-60])",
	  "c>w[@0-@100](a[@10-@20])", 1, 0, 0.6f },
};

START_TEST(what_is_mended)
{
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = with_habit(rows[i].found, rows[i].habit);
		g_autoptr(WpTree) tree = wp_tree_new(text);
		g_autoptr(WpLinks) links = doubtful_links(tree, rows[i].probability);

		wp_links_mend(links, tree->resolved, NULL, NULL);
		ck_assert_msg(count_odd(tree, links) == rows[i].odd, "%s: %u odd", rows[i].why,
			      (guint)count_odd(tree, links));
		ck_assert_msg(count_changed(links) == rows[i].changed, "%s: %u changed",
			      rows[i].why, count_changed(links));
	}
}
END_TEST

/* The user's word, and what hangs in a connection of its own, are not overruled by a habit. */
START_TEST(more_than_time_stands)
{
	static const guint32 evidence[] = { WP_EVIDENCE_HINTS, WP_EVIDENCE_CONNECTION };
	g_autofree char *text = with_habit(rows[3].found, rows[3].habit);
	g_autoptr(WpTree) tree = wp_tree_new(text);

	for (gsize i = 0; i < G_N_ELEMENTS(evidence); i++) {
		g_autoptr(WpLinks) links = doubtful_links(tree, 1);
		for (guint32 k = 0; k < links->n; k++)
			links->links[k].evidence |= evidence[i];
		wp_links_mend(links, tree->resolved, NULL, NULL);
		ck_assert_uint_eq(count_changed(links), 0);
	}
}
END_TEST

/* A request is as sure of its path as its calls are tied to it. */
/* The same among many like calls: of 30 a few are looked at. */
START_TEST(one_of_many)
{
	g_autoptr(GString) found = g_string_new("c>w[0-1000](");
	g_autoptr(GString) habit = g_string_new("c>w[@0-@900](");

	for (int i = 0; i < 31; i++)
		g_string_append_printf(found, "%sa[%d-%d]", i ? "," : "", 20 + 25 * i, 30 + 25 * i);
	g_string_append(found, ") c>w[5-1005](");
	for (int i = 0; i < 29; i++)
		g_string_append_printf(found, "%sa[%d-%d]", i ? "," : "", 22 + 25 * i, 32 + 25 * i);
	for (int i = 0; i < 30; i++)
		g_string_append_printf(habit, "%sa[@%d-@%d]", i ? "," : "", 20 + 25 * i,
				       30 + 25 * i);
	g_string_append_c(found, ')');
	g_string_append_c(habit, ')');
	g_autofree char *text = with_habit(found->str, habit->str);
	g_autoptr(WpTree) tree = wp_tree_new(text);
	g_autoptr(WpLinks) links = doubtful_links(tree, 0.6f);

	wp_links_mend(links, tree->resolved, NULL, NULL);
	ck_assert_uint_eq(count_odd(tree, links), 0);
}
END_TEST

START_TEST(odds_of_paths)
{
	/* the second and third could be each other's; the fourth is alone */
	g_autofree char *text = with_habit("c>w[0-100](a[10-20],x[30-40]) c>w[5-105](a[50-60]) "
					   "c>w[300-400](a[310-320],x[330-340])",
					   "c>w[@0-@100](a[@10-@20])");
	g_autoptr(WpTree) tree = wp_tree_new(text);
	g_autoptr(WpLinks) links = doubtful_links(tree, 0.5f);

	wp_links_mend(links, tree->resolved, NULL, NULL);
	const float *odds = links->path_odds;
	ck_assert_float_ge(odds[wp_tree_span(tree, 1)], 0.2f);
	ck_assert_float_le(odds[wp_tree_span(tree, 1)], 0.8f);
	ck_assert_float_ge(odds[wp_tree_span(tree, 6)], 0.99f);
}
END_TEST

/* The same links in, the same out; and after a stop nothing is changed. */
START_TEST(repeats_and_stops)
{
	g_autofree char *text = with_habit(rows[2].found, rows[2].habit);
	g_autoptr(WpTree) tree = wp_tree_new(text);
	g_autoptr(WpLinks) one = doubtful_links(tree, 0.6f);
	g_autoptr(WpLinks) two = doubtful_links(tree, 0.6f);
	g_autoptr(WpLinks) stopped = doubtful_links(tree, 0.6f);

	wp_links_mend(one, tree->resolved, NULL, NULL);
	wp_links_mend(two, tree->resolved, NULL, NULL);
	wp_links_mend(stopped, tree->resolved, NULL, always);
	ck_assert_mem_eq(one->links, two->links, one->n * sizeof one->links[0]);
	ck_assert_mem_eq(one->path_odds, two->path_odds, one->n * sizeof one->path_odds[0]);
	ck_assert_uint_eq(count_changed(stopped), 0);
	ck_assert_uint_eq(count_odd(tree, stopped), 2);
}
END_TEST

WP_SUITE("mend", what_is_mended, more_than_time_stands, one_of_many, odds_of_paths,
	 repeats_and_stops)
