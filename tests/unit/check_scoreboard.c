/* The paper's nesting algorithm, and the sweep that gives it candidates. */
#include "infer/engine-scoreboard.h"

#include <string.h>

#include "infer/sweep.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

/* Options of a row: NULL-name-ended, by their names on the command line, durations in ns. */
typedef struct {
	const char *name;
	double value;
} Setting;

static WpScoreboardOptions
options_of(const Setting *settings)
{
	WpScoreboardOptions options;
	const WpEngine *engine = &wp_engine_scoreboard;

	ck_assert_uint_eq(engine->options_size, sizeof options);
	engine->options_init(&options);
	for (; settings && settings->name; settings++) {
		const WpEngineOption *option = engine->options;
		while (option->name && strcmp(option->name, settings->name) != 0)
			option++;
		ck_assert_msg(option->name, "no option %s", settings->name);
		ck_assert(settings->value >= option->minimum && settings->value <= option->maximum);
		void *field = (char *)&options + option->offset;
		if (option->kind == WP_OPTION_DOUBLE)
			*(double *)field = settings->value;
		else if (option->kind == WP_OPTION_FLAG)
			*(gboolean *)field = settings->value != 0;
		else
			*(gint64 *)field = (gint64)settings->value;
	}
	return options;
}

/* Parents by id, as "0,1,1": 0 = none. */
static char *
parents_text(const WpTree *tree, const WpLinks *links)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	GString *text = g_string_new(NULL);

	for (guint64 id = 1; id < tree->parents->len; id++) {
		guint32 parent = links->links[wp_tree_span(tree, id)].parent;
		g_string_append_printf(text, "%s%" G_GUINT64_FORMAT, id > 1 ? "," : "",
				       parent == WP_NO_SPAN ? 0 : spans->spans[parent].id);
	}
	return g_string_free(text, FALSE);
}

typedef struct {
	const char *why;
	const char *tree;
	Setting settings[4];
	const char *parents;
} Row;

static void
check_rows(const Row *rows, gsize n)
{
	for (gsize i = 0; i < n; i++) {
		WpScoreboardOptions options = options_of(rows[i].settings);
		g_autoptr(WpTree) tree = wp_tree_new(rows[i].tree);
		g_autoptr(WpLinks) links =
			wp_scoreboard_link(wp_resolved_spans(tree->resolved), &options, NULL);
		g_autofree char *text = parents_text(tree, links);
		ck_assert_msg(g_str_equal(text, rows[i].parents), "%s: %s, not %s", rows[i].why,
			      text, rows[i].parents);
	}
}

/*
 * Figure 5 of the paper:  A->B  |---1---|                  3 - 1 = 4 - 2, which occurs twice;
 *                                  |---2---|               4 - 1 and 3 - 2 occur once.
 *                         B->C       |-3-|
 *                                       |-4-|
 */
#define FIGURE_5 "A>B[0-100] A>B[20-120] B>C[30-60] B>C[50-80]"

START_TEST(figure_5)
{
	WpScoreboardOptions options = options_of(NULL);
	options.overlap_penalty = 0; /* the scoreboard alone tells */
	g_autoptr(WpTree) tree = wp_tree_new(FIGURE_5);
	g_autoptr(WpLinks) links =
		wp_scoreboard_link(wp_resolved_spans(tree->resolved), &options, NULL);
	g_autofree char *text = parents_text(tree, links);

	ck_assert_str_eq(text, "0,0,1,2");
	for (guint32 i = 2; i < 4; i++) {
		const WpLink *link = &links->links[i];
		ck_assert_uint_eq(link->n_candidates, 2);
		ck_assert_uint_eq(link->runner_up, 3 - i);
		/* 2 halves for the medium delay, 1 half for the other */
		ck_assert_float_eq_tol(link->probability, 2.0f / 3, 1e-6f);
		ck_assert_uint_eq(link->evidence, WP_EVIDENCE_DELAY);
	}
	ck_assert_uint_eq(links->links[0].evidence, WP_EVIDENCE_ROOT);
	ck_assert_float_lt(links->links[0].probability, 0);
}
END_TEST

START_TEST(candidates)
{
	static const Row rows[] = {
		{ "both ends may be equal", "a>b[0-100] b>c[0-100]", { { 0 } }, "0,1" },
		{ "one unit beyond is no nesting", "a>b[0-100] b>c[0-101]", { { 0 } }, "0,0" },
		{ "nor one before", "a>b[1-100] b>c[0-100]", { { 0 } }, "0,0" },
		{ "into the node that calls, not the one called",
		  "a>c[0-100] b>c[10-20]",
		  { { 0 } },
		  "0,0" },
		{ "a call is not its own parent", "b>b[0-100]", { { 0 } }, "0" },
		{ "two of a node to itself at one time: no cycle",
		  "b>b[0-100] b>b[0-100]",
		  { { 0 } },
		  "0,1" },
		{ "nor between two nodes", "a>b[0-9] b>a[0-9]", { { 0 } }, "0,1" },
		{ "the innermost is not preferred as such",
		  "a>b[0-100] a>b[10-90] b>c[20-30]",
		  { { 0 } },
		  "0,0,1" },
		{ "without a return neither",
		  "a>b[0-] b>c[10-20] a>b[30-60] b>c[40-]",
		  { { 0 } },
		  "0,0,0,0" },
		{ "set-up takes no part",
		  "a>b[0-100]^ b>c[10-20] a>b[200-300] b>c[210-220]^",
		  { { 0 } },
		  "0,0,0,0" },
		{ "unless asked",
		  "a>b[0-100]^ b>c[10-20] a>b[200-300] b>c[210-220]^",
		  { { "link-setup", 1 } },
		  "0,1,0,3" },
	};
	check_rows(rows, G_N_ELEMENTS(rows));
}
END_TEST

/*
 * Two parents and two overlapping children, all four delays different: every score is 1/2, so that
 * penalties decide, and without them the tie goes to the earliest parent.
 */
#define EVEN  "a>b[0-100] a>b[1-101] b>c[10-50] b>c[12-52]"
#define OTHER "a>b[0-100] a>b[1-101] b>c[10-50] b>d[12-52]" /* the second child goes elsewhere */
#define AFTER                                                                                      \
	"a>b[0-100] a>b[1-101] b>c[10-20] b>c[20-52]" /* the second begins as the first ends */

START_TEST(penalties_and_ties)
{
	static const Row rows[] = {
		{ "ties to the earliest", EVEN, { { "overlap-penalty", 0 } }, "0,0,1,1" },
		{ "overlap, the default", EVEN, { { 0 } }, "0,0,1,2" },
		{ "same node",
		  EVEN,
		  { { "overlap-penalty", 0 }, { "same-penalty", 1 } },
		  "0,0,1,2" },
		{ "any node", EVEN, { { "overlap-penalty", 0 }, { "any-penalty", 1 } }, "0,0,1,2" },
		{ "overlap minds no node", OTHER, { { 0 } }, "0,0,1,2" },
		{ "same node minds it",
		  OTHER,
		  { { "overlap-penalty", 0 }, { "same-penalty", 1 } },
		  "0,0,1,1" },
		{ "any does not",
		  OTHER,
		  { { "overlap-penalty", 0 }, { "any-penalty", 1 } },
		  "0,0,1,2" },
		{ "end to end is no overlap", AFTER, { { 0 } }, "0,0,1,1" },
		{ "but the same node", AFTER, { { "same-penalty", 0.1 } }, "0,0,1,2" },
		{ "equal times: by id",
		  "a>b[0-100] a>b[0-100] b>c[10-20] b>c[10-20]",
		  { { 0 } },
		  "0,0,1,2" },
		/* 1 x 1/4 for the first against 1/2 for the second: (1+n)^-2, not n^-2 */
		{ "weighed against the score",
		  FIGURE_5 " a>b[1000-1100](c[1030-1040])",
		  { { 0 } },
		  "0,0,1,2,0,5" },
	};
	check_rows(rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(skew_window)
{
	static const Row rows[] = {
		{ "begins 5 us early", "a>b[15-60] b>c[10-50]", { { 0 } }, "0,0" },
		{ "window", "a>b[15-60] b>c[10-50]", { { "skew-window", 5000 } }, "0,1" },
		{ "too small", "a>b[15-60] b>c[10-50]", { { "skew-window", 4999 } }, "0,0" },
		{ "ends late", "a>b[0-60] b>c[10-65]", { { "skew-window", 5000 } }, "0,1" },
		{ "too late", "a>b[0-60] b>c[10-66]", { { "skew-window", 5000 } }, "0,0" },
		/* -5 occurs twice, +5 once: bins mirror, they do not fold */
		{ "negative delays have their own bins",
		  "a>b[15-60] b>c[10-50] a>b[1000-1100] a>b[1010-1100] b>c[1005-1050]",
		  { { "skew-window", 5000 } },
		  "0,1,0,0,4" },
	};
	check_rows(rows, G_N_ELEMENTS(rows));
}
END_TEST

/* Delays of 285 and 316 thrice each, of 1000 twice; then one that fits 1000 or 300. */
START_TEST(smoothing)
{
	g_autoptr(GString) text = g_string_new(NULL);
	for (int i = 0; i < 8; i++) {
		int at = 10000 * i, delay = i < 3 ? 285 : i < 6 ? 316 : 1000;
		g_string_append_printf(text, "a>b[%d-%d](c[%d-%d]) ", at, at + 2000, at + delay,
				       at + delay + 10);
	}
	g_string_append(text, "a>b[100000-102000] a>b[100700-102000] b>c[101000-101010]");
	const Row rows[] = {
		{ "off", text->str, { { 0 } }, "0,1,0,3,0,5,0,7,0,9,0,11,0,13,0,15,0,0,17" },
		{ "on",
		  text->str,
		  { { "smoothing", 1 } },
		  "0,1,0,3,0,5,0,7,0,9,0,11,0,13,0,15,0,0,18" },
		{ "or wider bins",
		  text->str,
		  { { "bin-ratio", 1.3 } },
		  "0,1,0,3,0,5,0,7,0,9,0,11,0,13,0,15,0,0,18" },
		{ "or one bin for all: the earliest",
		  text->str,
		  { { "bin-first", 1e9 } },
		  "0,1,0,3,0,5,0,7,0,9,0,11,0,13,0,15,0,0,17" },
	};
	check_rows(rows, G_N_ELEMENTS(rows));
}
END_TEST

/* Triples are of nodes: delays of a -> b -> c say nothing about x -> b -> c. */
START_TEST(histograms_by_triple)
{
	static const Row rows[] = {
		{ "the caller of the parent counts",
		  "a>b[0-100](c[50-60]) a>b[200-300](c[250-260])"
		  "x>b[400-500](c[410-420]) x>b[600-700](c[610-620])"
		  "a>b[1000-1100] x>b[1040-1140] b>c[1050-1060]",
		  { { 0 } },
		  "0,1,0,3,0,5,0,7,0,0,9" },
	};
	check_rows(rows, G_N_ELEMENTS(rows));
}
END_TEST

/* Spans over three hosts from a fixed generator, with many ties. */
static WpSpans *
random_spans(guint32 n, guint64 seed)
{
	WpSpans *spans = g_new0(WpSpans, 1);

	spans->spans = g_new0(WpSpan, n);
	spans->n = n;
	gint64 now = 0;
	for (guint32 i = 0; i < n; i++) {
		WpSpan *span = &spans->spans[i];
		seed = seed * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407u;
		now += seed >> 33 & 1;
		span->call_ns = now;
		span->return_ns = seed >> 40 & 15 ? now + (gint64)(seed >> 44 & 15) : WP_NO_TIME;
		span->id = seed >> 50 & 7;
		span->caller = span->caller_host = seed >> 54 & 1;
		span->callee = span->callee_host = seed >> 56 & 1 ? 2 : seed >> 57 & 1;
		span->marks = seed >> 58 & 7 ? 0 : WP_MARK_SETUP;
	}
	return spans;
}

static gboolean
is_candidate(const WpSpans *spans, guint32 parent, guint32 child, gint64 window, gboolean setup)
{
	const WpSpan *p = &spans->spans[parent], *c = &spans->spans[child];
	return parent != child && wp_span_is_paired(p) && p->callee_host == c->caller_host &&
	       p->call_ns - window <= c->call_ns && c->return_ns <= p->return_ns + window &&
	       (setup || !(p->marks & WP_MARK_SETUP));
}

typedef struct {
	const WpSpans *spans;
	gint64 window;
	gboolean setup;
	guint n_children;
	guint32 last;
} Check;

static void
check_child(guint32 child, const WpCandidate *given, guint32 n, gpointer data)
{
	Check *check = data;
	const WpSpan *spans = check->spans->spans;
	guint32 expected = 0;

	ck_assert(wp_span_is_paired(&spans[child]));
	for (guint32 i = 0; i < check->spans->n; i++)
		expected += is_candidate(check->spans, i, child, check->window, check->setup);
	ck_assert_uint_eq(n, expected);
	for (guint32 i = 0; i < n; i++) {
		const WpSpan *parent = &spans[given[i].span];
		ck_assert(is_candidate(check->spans, given[i].span, child, check->window,
				       check->setup));
		if (i > 0) {
			const WpSpan *before = &spans[given[i - 1].span];
			ck_assert(before->call_ns < parent->call_ns ||
				  (before->call_ns == parent->call_ns && before->id <= parent->id));
		}
	}
	if (check->n_children++ && spans[check->last].caller_host == spans[child].caller_host)
		ck_assert(spans[check->last].call_ns < spans[child].call_ns ||
			  (spans[check->last].call_ns == spans[child].call_ns &&
			   spans[check->last].id <= spans[child].id));
	check->last = child;
}

/* The sweep against the definition, each pair looked at. */
START_TEST(sweep_finds_all_and_only)
{
	static const gint64 windows[] = { 0, 3 };
	for (guint64 seed = 1; seed <= 20; seed++)
		for (gsize w = 0; w < G_N_ELEMENTS(windows); w++) {
			g_autoptr(WpSpans) spans = random_spans(200, seed);
			Check check = { spans, windows[w], seed % 2, 0, 0 };
			guint n = 0;
			for (guint32 i = 0; i < spans->n; i++)
				n += wp_span_is_paired(&spans->spans[i]) &&
				     (check.setup || !(spans->spans[i].marks & WP_MARK_SETUP));
			g_autoptr(WpSweep) sweep = wp_sweep_new(spans, windows[w], check.setup);
			wp_sweep_run(sweep, check_child, &check);
			ck_assert_uint_eq(check.n_children, n);
		}
}
END_TEST

/* Random spans again, through the engine with everything switched on: links stay a forest. */
START_TEST(links_are_a_forest)
{
	static const Setting settings[] = {
		{ "skew-window", 3 },   { "smoothing", 2 },  { "same-penalty", 1 },
		{ "any-penalty", 0.5 }, { "link-setup", 1 }, { 0 },
	};
	WpScoreboardOptions options = options_of(settings);
	for (guint64 seed = 1; seed <= 50; seed++) {
		g_autoptr(WpSpans) spans = random_spans(300, seed);
		g_autoptr(WpLinks) links = wp_scoreboard_link(spans, &options, NULL);
		ck_assert_uint_eq(wp_links_cut_cycles(links), 0);
		for (guint32 i = 0; i < links->n; i++) {
			const WpLink *link = &links->links[i];
			ck_assert(link->parent == WP_NO_SPAN || link->parent < links->n);
			ck_assert(link->probability <= 1);
			ck_assert(link->evidence != 0);
		}
	}
}
END_TEST

/* Times as far apart as a trace can have them. */
START_TEST(far_times)
{
	WpScoreboardOptions options =
		options_of((const Setting[]){ { "skew-window", 3600e9 }, { 0 } });
	g_autoptr(WpSpans) spans = g_new0(WpSpans, 1);
	spans->n = 2;
	spans->spans = g_new0(WpSpan, 2);
	for (int i = 0; i < 2; i++)
		spans->spans[i] =
			(WpSpan){ .call_ns = i ? ((gint64)1 << 62) - 1 : -((gint64)1 << 62),
				  .return_ns = ((gint64)1 << 62) - 1,
				  .caller_host = 1,
				  .callee_host = 1,
				  .id = i };
	g_autoptr(WpLinks) links = wp_scoreboard_link(spans, &options, NULL);
	ck_assert_uint_eq(links->links[1].parent, 0);
}
END_TEST

START_TEST(engine_table)
{
	g_autoptr(WpTree) none = wp_tree_new("");
	g_autoptr(WpTree) some = wp_tree_new("a>b[0-10](c[1-2])");
	g_autoptr(WpTree) one_way = wp_tree_new("a>b[0]");
	ck_assert_ptr_nonnull(wp_engine_auto(none->resolved));
	ck_assert(wp_engine_scoreboard.applies(some->resolved));
	ck_assert(!wp_engine_scoreboard.applies(one_way->resolved));
	g_autoptr(WpLinks) links = wp_engine_scoreboard.run(some->resolved, NULL, NULL, NULL);
	ck_assert_uint_eq(links->links[1].parent, 0);
	ck_assert_uint_eq(links->links[1].evidence, WP_EVIDENCE_ONLY);
	ck_assert_float_eq(links->links[1].probability, 1);
	g_autoptr(WpLinks) empty = wp_engine_scoreboard.run(none->resolved, NULL, NULL, NULL);
	ck_assert_uint_eq(empty->n, 0);
}
END_TEST

WP_SUITE("scoreboard", figure_5, candidates, penalties_and_ties, skew_window, smoothing,
	 histograms_by_triple, sweep_finds_all_and_only, links_are_a_forest, far_times,
	 engine_table)
