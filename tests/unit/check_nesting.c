/* The joint nesting engine on requests that overlap, made here with known parents. */
#include "infer/engine-nesting.h"

#include <math.h>

#include "infer/engine-scoreboard.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

/* One kind of workload: what a request to web does, times in us, all +-SPREAD of themselves. */
typedef struct {
	const char *name;
	int n;          /* requests */
	int between_us; /* mean time between requests */
	double spread;
	int first_us;   /* begin of the request to its first call */
	int call_us;    /* a call */
	int think_us;   /* between calls */
	int n_calls;    /* to db, one after the other */
	gboolean cache; /* every third request finds all in its cache and makes no call */
	int after_us;   /* > 0: a call to log so long after the reply */
	double floor;   /* share of links that must be right */
	double floor_of_scoreboard; /* share of links that the paper's algorithm gets at the most */
} Workload;

typedef struct {
	guint64 state;
} Random;

static double
uniform(Random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return ((double)((random->state * G_GUINT64_CONSTANT(0x2545f4914f6cdd1d)) >> 11) + 0.5) *
	       0x1p-53;
}

/* About normal: the sum of twelve uniform ones. */
static int
vary(Random *random, int mean_us, double spread)
{
	double sum = -6;
	for (int i = 0; i < 12; i++)
		sum += uniform(random);
	return MAX(1, (int)(mean_us * (1 + spread * sum)));
}

static void
append_request(GString *text, const Workload *w, Random *random, int number, int begin_us)
{
	gboolean cached = w->cache && number % 3 == 0;
	GString *calls = g_string_new(NULL);
	int at_us = begin_us + vary(random, w->first_us, w->spread);

	for (int i = 0; i < w->n_calls && !cached; i++) {
		int end_us = at_us + vary(random, w->call_us, w->spread);
		g_string_append_printf(calls, "%sdb[%d-%d]", i ? "," : "", at_us, end_us);
		at_us = end_us + vary(random, w->think_us, w->spread);
	}
	if (w->after_us) {
		int after_us = at_us + vary(random, w->after_us, w->spread);
		g_string_append_printf(calls, "%slog[%d-%d]", calls->len ? "," : "", after_us,
				       after_us + 20);
	}
	g_string_append_printf(text, calls->len ? "client>web[%d-%d](%s) " : "client>web[%d-%d]%s ",
			       begin_us, at_us, calls->str);
	g_string_free(calls, TRUE);
}

/* (transfer full) */
static WpTree *
make_tree(const Workload *w)
{
	GString *text = g_string_new(NULL);
	Random random = { 12345 };
	double at_us = 1000;

	for (int i = 0; i < w->n; i++) {
		append_request(text, w, &random, i, (int)at_us);
		at_us -= w->between_us * log(uniform(&random));
	}
	WpTree *tree = wp_tree_new(text->str);
	g_string_free(text, TRUE);
	return tree;
}

/* Share of the calls that have a parent whose parent is right. */
static double
measure(const WpTree *tree, const WpEngine *engine, gconstpointer options, double *out_surprise)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autoptr(WpLinks) links = engine->run(tree->resolved, options, NULL, NULL);
	guint n = 0, right = 0;
	double believed = 0;

	for (guint64 id = 1; id < tree->parents->len; id++) {
		guint64 truth = g_array_index(tree->parents, guint64, id);
		const WpLink *link = &links->links[wp_tree_span(tree, id)];
		if (truth == 0) {
			ck_assert_uint_eq(link->parent, WP_NO_SPAN);
			continue;
		}
		n++;
		right += link->parent != WP_NO_SPAN && spans->spans[link->parent].id == truth;
		believed += link->probability;
	}
	*out_surprise = (believed - right) / n;
	return (double)right / n;
}

static const Workload workloads[] = {
	{ "one call, alone", 300, 2000, .1, 100, 200, 100, 1, FALSE, 0, .98, .995 },
	{ "two calls, busy", 600, 150, .1, 100, 200, 100, 2, FALSE, 0, .9, .8 },
	{ "a cache", 600, 150, .1, 100, 200, 100, 2, TRUE, 0, .9, .9 },
	{ "work after the reply", 600, 300, .1, 100, 200, 100, 1, FALSE, 150, .93, .6 },
};

static void
check_workload(const Workload *w)
{
	g_autoptr(WpTree) tree = make_tree(w);
	double surprise, ignored;
	double nesting = measure(tree, &wp_engine_nesting, NULL, &surprise);
	double scoreboard = measure(tree, &wp_engine_scoreboard, NULL, &ignored);

	ck_assert_msg(nesting >= w->floor, "%s: %.3f of the links are right", w->name, nesting);
	ck_assert_msg(scoreboard <= w->floor_of_scoreboard, "%s: too easy: scoreboard %.3f",
		      w->name, scoreboard);
	/* Few requests leave more doubt than there need be; too much trust would do harm. */
	ck_assert_msg(surprise >= -0.1 && surprise <= 0.03, "%s: believed minus right: %.3f",
		      w->name, surprise);
}

START_TEST(right_parents)
{
	for (gsize i = 0; i < G_N_ELEMENTS(workloads); i++)
		check_workload(&workloads[i]);
}
END_TEST

/* The same input, the same answer. */
START_TEST(repeats)
{
	g_autoptr(WpTree) tree = make_tree(&workloads[1]);
	g_autoptr(WpLinks) a = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	g_autoptr(WpLinks) b = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_mem_eq(a->links, b->links, a->n * sizeof a->links[0]);
}
END_TEST

/* Nothing to link, nothing to be found: no crash, no parent. */
START_TEST(little_input)
{
	static const struct {
		const char *tree;
		guint n_parents;
	} rows[] = {
		{ "a>b[0-10]", 0 },
		{ "a>b[0-10] a>b[20-30]", 0 },
		{ "a>b[0-10](c[2-5])", 1 },
		{ "a>b[0-10](c[0-10])", 1 },    /* equal times */
		{ "a>b[5](c[6-7])", 0 },        /* a message is no parent */
		{ "a>b[0-](c[2-5])", 0 },       /* nor is a call without a return */
		{ "a>b[0-10](c[2-],c[3])", 2 }, /* but both have one: by their begin */
		{ "a>b[0-10](c[2-5]^)", 0 },    /* set-up has no parent */
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_new(rows[i].tree);
		g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
		guint n = 0;
		for (guint32 j = 0; j < links->n; j++)
			n += links->links[j].parent != WP_NO_SPAN;
		ck_assert_msg(n == rows[i].n_parents, "%s: %u parents", rows[i].tree, n);
	}
}
END_TEST

/* A long poll encloses the calls of others; it is not what caused them. */
START_TEST(waiting)
{
	g_autoptr(WpTree) tree = wp_tree_new("client>web[0-9000]~ "
					     "client>web[1000-2000](db[1200-1300]) "
					     "client>web[3000-4000](db[3200-3300]) "
					     "client>web[5000-6000](db[5200-5300])");
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	for (guint64 id = 1; id < tree->parents->len; id++) {
		guint64 truth = g_array_index(tree->parents, guint64, id);
		const WpLink *link = &links->links[wp_tree_span(tree, id)];
		if (!truth)
			continue;
		ck_assert_uint_ne(link->parent, WP_NO_SPAN);
		ck_assert_uint_eq(spans->spans[link->parent].id, truth);
		ck_assert_uint_eq(link->n_candidates, 1);
	}
}
END_TEST

WP_SUITE("nesting", right_parents, repeats, waiting, little_input)
