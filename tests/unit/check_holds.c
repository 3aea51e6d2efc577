/* Connections that a request has for itself: when they are seen, and what is found by them. */
#include "infer/nesting-holds.h"

#include <string.h>

#include "infer/engine-nesting.h"
#include "infer/evidence.h"
#include "infer/random.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

/*
 * Requests to web stand in line for one of its workers, each of which asks api twice. Times in us.
 *
 *     request   |.......|--------------------|     in line, in work
 *     api                 |session| |--page--|
 */
#define N_WORKERS 6
#define PERIOD    1800 /* a request, on average: about as many as can be */
#define MAX_WRONG 4

typedef enum {
	OF_WORKER,
	LAST_BACK,
	FIRST_BACK,
	ANY_FREE,
} Policy;

typedef struct {
	const char *name;
	Policy policy;
	guint32 wrong; /* every so many-th request has the first call of the next; 0: none */
	int n;
	gboolean is_held;
} Pool;

static const Pool pools[] = {
	{ "each worker has its own", OF_WORKER, 0, 400, TRUE },
	{ "... some links are wrong", OF_WORKER, MAX_WRONG, 400, TRUE },
	{ "... too few", OF_WORKER, 0, 40, FALSE },
	{ "the last that came back", LAST_BACK, 0, 400, FALSE },
	{ "the first that came back", FIRST_BACK, 0, 400, FALSE },
	{ "any that is free", ANY_FREE, 0, 400, FALSE },
};

typedef struct {
	int request;
	int worker;
	int begin_us;
	int end_us;
	guint flow;
} Call;

typedef struct {
	int begin_us;
	int end_us;
	Call calls[2];
} Request;

static int
about(WpRandom64 *random, int mean_us)
{
	return mean_us * 3 / 4 + (int)wp_random64_below(random, (guint32)mean_us / 2);
}

static int
exponential(WpRandom64 *random, int mean_us)
{
	static const int steps[] = {
		5, 20, 40, 65, 95, 140, 205, 230
	}; /* hundredths of the mean */
	return mean_us * steps[wp_random64_below(random, G_N_ELEMENTS(steps))] / 100;
}

/* Who comes first is served first, by the worker that is free first. */
static void
serve(Request *requests, int n, WpRandom64 *random)
{
	int free_us[N_WORKERS] = { 0 }, at_us = 0;

	for (int i = 0; i < n; i++) {
		int worker = 0;
		for (int k = 1; k < N_WORKERS; k++)
			worker = free_us[k] < free_us[worker] ? k : worker;
		at_us += 10 + exponential(random, PERIOD);
		requests[i].begin_us = at_us;
		int t_us = MAX(at_us, free_us[worker]);
		for (int k = 0; k < 2; k++) {
			t_us += about(random, 1000);
			Call call = { i, worker, t_us, 0, 0 };
			t_us += about(random, k == 0 ? 1200 : 6000);
			call.end_us = t_us;
			requests[i].calls[k] = call;
		}
		t_us += about(random, 60);
		requests[i].end_us = free_us[worker] = t_us;
	}
}

static gint
compare_calls(gconstpointer a, gconstpointer b)
{
	const Call *x = *(Call *const *)a, *y = *(Call *const *)b;
	if (x->begin_us != y->begin_us)
		return x->begin_us < y->begin_us ? -1 : 1;
	return (x->request > y->request) - (x->request < y->request);
}

/* One of the connections that are free when CALL begins. */
static guint
choose_flow(Policy policy, const Call *call, const int busy_us[2 * N_WORKERS], WpRandom64 *random)
{
	guint best = 0, n_free = 0;

	if (policy == OF_WORKER)
		return (guint)call->worker;
	for (guint k = 0; k < N_WORKERS; k++) {
		gboolean is_better = n_free == 0;
		if (busy_us[k] > call->begin_us)
			continue;
		n_free++;
		if (policy == ANY_FREE)
			is_better = wp_random64_below(random, n_free) == 0;
		else if (!is_better)
			is_better = (busy_us[k] > busy_us[best]) == (policy == LAST_BACK);
		best = is_better ? k : best;
	}
	return best;
}

static void
choose_flows(Policy policy, Request *requests, int n, WpRandom64 *random)
{
	g_autofree Call **calls = g_new(Call *, 2 * (gsize)n);
	int busy_us[2 * N_WORKERS] = { 0 };

	for (int i = 0; i < 2 * n; i++)
		calls[i] = &requests[i / 2].calls[i % 2];
	qsort(calls, 2 * (gsize)n, sizeof calls[0], compare_calls);
	for (int i = 0; i < 2 * n; i++) {
		calls[i]->flow = choose_flow(policy, calls[i], busy_us, random);
		busy_us[calls[i]->flow] = calls[i]->end_us;
	}
}

/* (transfer full) */
static WpTree *
make_tree(const Pool *pool, int n)
{
	g_autofree Request *requests = g_new0(Request, (gsize)n);
	GString *text = g_string_new(NULL);
	WpRandom64 random = { 4711 };

	serve(requests, n, &random);
	choose_flows(pool->policy, requests, n, &random);
	for (int i = 0; i < n; i++) {
		const Call *calls = requests[i].calls;
		g_string_append_printf(
			text, "client>web[%d-%d](api/session@%u[%d-%d],api/page@%u[%d-%d]) ",
			requests[i].begin_us, requests[i].end_us, 1 + calls[0].flow,
			calls[0].begin_us, calls[0].end_us, 1 + calls[1].flow, calls[1].begin_us,
			calls[1].end_us);
	}
	WpTree *tree = wp_tree_new(text->str);
	g_string_free(text, TRUE);
	return tree;
}

/* --- seen in an answer --- */

/* (transfer full) Web's problem, with the true answer. */
static WpNestProblem *
make_problem(const WpTree *tree)
{
	static WpNestOptions options = { .after_ns = -1 };
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autoptr(GArray) incoming = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GArray) outgoing = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autofree guint32 *numbers = g_new0(guint32, spans->n);
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	guint32 web = spans->spans[wp_tree_span(tree, 1)].callee_host;

	for (guint32 i = 0; i < spans->n; i++) {
		gboolean comes_in = spans->spans[i].callee_host == web;
		g_array_append_val(comes_in ? incoming : outgoing, i);
	}
	const WpNestHost host = { .incoming = (const guint32 *)(const void *)incoming->data,
				  .n_incoming = incoming->len,
				  .outgoing = (const guint32 *)(const void *)outgoing->data,
				  .n_outgoing = outgoing->len };
	options.evidence = wp_evidence_defaults();
	WpNestProblem *problem = wp_nest_problem_new(tree->resolved, &host, &options);
	for (guint32 p = 0; p < problem->n_parents; p++)
		numbers[problem->parents[p].span] = p;
	for (guint32 c = 0; c < problem->n_children; c++) {
		guint32 parent = links->links[problem->children[c].span].parent;
		problem->bundles[problem->children[c].bundle].parent = numbers[parent];
	}
	wp_nest_hang_children(problem, 0, problem->n_parents);
	return problem;
}

/* Every so many-th parent and the next exchange their first calls, of which nobody is sure then. */
static void
mistake(WpNestProblem *problem, guint32 every, WpNestBelief *beliefs)
{
	for (guint32 p = 0; every > 0 && p + 1 < problem->n_parents; p += every) {
		guint32 own = problem->children[problem->parents[p].children[0]].bundle;
		guint32 next = problem->children[problem->parents[p + 1].children[0]].bundle;
		problem->bundles[own].parent = p + 1;
		problem->bundles[next].parent = p;
		beliefs[own].probability = beliefs[next].probability = 0.5;
	}
	wp_nest_hang_children(problem, 0, problem->n_parents);
}

START_TEST(found)
{
	const Pool *pool = &pools[_i];
	g_autoptr(WpTree) tree = make_tree(pool, pool->n);
	WpNestProblem *problem = make_problem(tree);
	g_autofree WpNestBelief *beliefs = g_new(WpNestBelief, problem->n_bundles);

	for (guint32 b = 0; b < problem->n_bundles; b++)
		beliefs[b] = (WpNestBelief){ 1, WP_NO_PARENT, WP_NO_PARENT };
	mistake(problem, pool->wrong, beliefs);
	GArray *held = wp_nest_find_holds(problem, beliefs);
	ck_assert_uint_eq(held->len, pool->is_held);
	if (pool->is_held) {
		const WpNestHold *hold = &g_array_index(held, WpNestHold, 0);
		guint32 child = problem->parents[0].children[0];
		const WpSpans *spans = wp_resolved_spans(tree->resolved);
		ck_assert_uint_eq(hold->callee, spans->spans[problem->children[child].span].callee);
		ck_assert_double_ge(hold->share, 0.98);
		ck_assert_double_lt(hold->share, 1);
	}
	g_array_unref(held);
	wp_nest_problem_free(problem);
}
END_TEST

/* Bundles that are given to other parents one by one hang there as if all had been hung anew. */
START_TEST(given)
{
	g_autoptr(WpTree) tree = make_tree(&pools[0], 200);
	WpNestProblem *hung = make_problem(tree), *other = make_problem(tree);
	WpRandom64 random = { 4711 };

	for (guint i = 0; i < 500; i++) {
		guint32 b = wp_random64_below(&random, hung->n_bundles);
		guint32 p = wp_random64_below(&random, hung->n_parents + 1);
		hung->bundles[b].parent = p < hung->n_parents ? p : WP_NO_PARENT;
		wp_nest_give(other, b, hung->bundles[b].parent);
	}
	wp_nest_hang_children(hung, 0, hung->n_parents);
	for (guint32 p = 0; p < hung->n_parents; p++) {
		const WpNestParent *own = &hung->parents[p], *same = &other->parents[p];
		ck_assert_uint_eq(own->n, same->n);
		for (guint32 i = 0; i < own->n; i++)
			ck_assert_uint_eq(own->children[i], same->children[i]);
	}
	wp_nest_problem_free(hung);
	wp_nest_problem_free(other);
}
END_TEST

/* --- the engine --- */

/* (transfer full) */
static WpLinks *
infer(const WpTree *tree, const char *without)
{
	WpNestingOptions options;

	wp_engine_nesting.options_init(&options);
	options.no_evidence = (char *)without;
	return wp_engine_nesting.run(tree->resolved, &options, NULL, NULL);
}

static double
share_right(const WpTree *tree, const WpLinks *links)
{
	g_autoptr(WpLinks) truth = wp_tree_links(tree);
	double n_true = 0, n_right = 0;

	for (guint32 i = 0; i < wp_resolved_spans(tree->resolved)->n; i++) {
		gboolean has_parent = truth->links[i].parent != WP_NO_SPAN;
		n_true += has_parent;
		n_right += has_parent && links->links[i].parent == truth->links[i].parent;
	}
	return n_right / n_true;
}

/* Where each worker has its own connection, that tells more than times do; where none has, it changes nothing. */
START_TEST(right_parents)
{
	const Pool *pool = &pools[_i];
	g_autoptr(WpTree) tree = make_tree(pool, wp_test_number(1000, 60));
	g_autoptr(WpLinks) with = infer(tree, NULL);
	g_autoptr(WpLinks) without = infer(tree, "holds");

	if (wp_test_number(0, 1))
		return; /* too few to learn from */
	if (pool->policy == OF_WORKER) {
		double right = share_right(tree, with), before = share_right(tree, without);
		ck_assert_msg(right >= 0.995 && before < 0.99, "%.3f, %.3f", right, before);
		return;
	}
	for (guint32 i = 0; i < wp_resolved_spans(tree->resolved)->n; i++)
		ck_assert_uint_eq(with->links[i].parent, without->links[i].parent);
}
END_TEST

WP_SUITE_OF_ROWS("holds", { found, G_N_ELEMENTS(pools) }, { given, 0 },
		 { right_parents, G_N_ELEMENTS(pools) })
