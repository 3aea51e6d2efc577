/* What two requests exchange when they exchange all from a call on: how far that goes. */
#include "infer/nesting-tails.h"

#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const WpNestOptions options = { .after_ns = 0 };
static const WpNestChoice all = { 0 };

typedef struct {
	const char *name;
	const char *text;
	guint32 first;    /* child */
	const char *from; /* children then of the first request; NULL: nothing to exchange */
	const char *to;
} Row;

static const Row rows[] = {
	{ "all", "c>w[0-100](a[10-20],a[30-40],a[50-60]) c>w[5-95](a[15-25],a[35-45],a[55-65])", 2,
	  "0 3 5", "1 2 4" },
	{ "up to what begins when the other has ended",
	  "c>w[0-100](a[10-20],a[30-40],a[50-60],a[70-80]) c>w[5-68](a[15-25],a[35-45],a[55-65])",
	  2, "0 3 5 6", "1 2 4" },
	{ "up to what ends when the other has ended",
	  "c>w[0-100](a[10-20],b[30-40],a[50-90],a[92-95]) c>w[5-68](a[15-25],a[35-45],a[55-65])",
	  0, "1 3 4 6", "0 2 5" },
	{ "those that the other has not",
	  "c>w[0-100](a[10-20],a[30-40],b[50-60]) c>w[5-95](a[15-25])", 2, "0", "1 2 3" },
	{ "one goes: a relocation", "c>w[0-100](a[10-20],a[30-40]) c>w[5-95](a[15-25])", 2, NULL,
	  NULL },
	{ "two change places: a swap", "c>w[0-100](a[10-20],a[30-40]) c>w[5-95](a[15-25],a[35-45])",
	  2, NULL, NULL },
	{ "two of different kinds", "c>w[0-100](a[10-20],a[30-40]) c>w[5-95](a[15-25],b[35-45])", 2,
	  "0 3", "1 2" },
};

static void
check_joined(const char *name, const WpNestProblem *problem, const WpNestTails *tails,
	     const char *from, const char *to)
{
	guint32 children[16];
	guint32 n = wp_nest_join_tails(problem, tails, FALSE, children);
	g_autofree char *of_from = wp_test_children_text(children, n);
	n = wp_nest_join_tails(problem, tails, TRUE, children);
	g_autofree char *of_to = wp_test_children_text(children, n);

	ck_assert_msg(g_str_equal(of_from, from), "%s: from has %s", name, of_from);
	ck_assert_msg(g_str_equal(of_to, to), "%s: to has %s", name, of_to);
}

START_TEST(go_as_far_as_they_may)
{
	const Row *row = &rows[_i];
	g_autoptr(WpTree) tree = wp_tree_new(row->text);
	WpNestProblem *problem = wp_test_problem(tree, "w", &options);
	WpNestTails tails = { .from = 0, .to = 1, .first = row->first };

	wp_nest_find_candidates(problem, &all);
	gboolean found = wp_nest_find_tails(problem, &tails);
	ck_assert_msg(found == (row->from != NULL), "%s", row->name);
	if (found)
		check_joined(row->name, problem, &tails, row->from, row->to);
	wp_nest_problem_free(problem);
}
END_TEST

#define N_BEFORE 40  /* requests that show how long steps take: 10 us */
#define APART    200 /* us, from one to the next */

/* Two requests that are mixed up from a call on. True are 10 30 50 70 and 15 35 55 75. */
static const struct {
	const char *name;
	int calls[2][4]; /* us, after the begin of the first; the second begins 5 later */
	const char *from;
	const char *to;
} cuts[] = {
	{ "back before the last",
	  { { 10, 35, 55, 70 }, { 15, 30, 50, 75 } },
	  "0 2 4 6",
	  "1 3 5 7" },
	{ "back before the third: a swap", { { 10, 35, 50, 70 }, { 15, 30, 55, 75 } }, NULL, NULL },
	{ "nowhere better than at once: a swap",
	  { { 10, 35, 55, 75 }, { 15, 30, 50, 70 } },
	  NULL,
	  NULL },
};

static void
append_request(GString *text, int begin, const int calls[4])
{
	g_string_append_printf(text, "c>w[%d-%d](", begin, begin + 90);
	for (int i = 0; i < 4; i++)
		g_string_append_printf(text, "%sa[%d-%d]", i ? "," : "", calls[i], calls[i] + 10);
	g_string_append(text, ") ");
}

/* (transfer full) Requests one after another, then the two. */
static WpTree *
make_mixed(const int calls[2][4])
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (int i = 0; i <= N_BEFORE; i++) {
		int begin = i * APART, own[4], next[4];
		for (int k = 0; k < 4; k++) {
			own[k] = i < N_BEFORE ? begin + 10 + 20 * k : begin + calls[0][k];
			next[k] = begin + calls[1][k];
		}
		append_request(text, begin, own);
		if (i == N_BEFORE)
			append_request(text, begin + 5, next);
	}
	return wp_tree_new(text->str);
}

START_TEST(go_back_where_steps_say_so)
{
	g_autoptr(WpTree) tree = make_mixed(cuts[_i].calls);
	WpNestProblem *problem = wp_test_problem(tree, "w", &options);
	WpTimelines *timelines = wp_timelines_new(problem);
	WpNestTails tails = { .from = N_BEFORE, .to = N_BEFORE + 1, .first = 4 * N_BEFORE + 2 };
	guint32 children[16];

	wp_nest_find_candidates(problem, &all);
	ck_assert(wp_timelines_learn(timelines, 0, problem->n_parents));
	ck_assert(wp_nest_find_tails(problem, &tails));
	ck_assert_uint_eq(tails.end, WP_NO_CHILD);
	gboolean cut = wp_nest_cut_tails(problem, timelines, &tails);
	ck_assert_msg(cut == (cuts[_i].from != NULL), "%s: before %u", cuts[_i].name, tails.end);
	for (int of_to = 0; cut && of_to < 2; of_to++) {
		guint32 n = wp_nest_join_tails(problem, &tails, of_to, children);
		for (guint32 k = 0; k < n; k++)
			children[k] -= 4 * N_BEFORE;
		g_autofree char *joined = wp_test_children_text(children, n);
		ck_assert_str_eq(joined, of_to ? cuts[_i].to : cuts[_i].from);
	}
	wp_timelines_free(timelines);
	wp_nest_problem_free(problem);
}
END_TEST

WP_SUITE_OF_ROWS("tails", { go_as_far_as_they_may, G_N_ELEMENTS(rows) },
		 { go_back_where_steps_say_so, G_N_ELEMENTS(cuts) })
