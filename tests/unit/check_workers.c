/* Workers that do all of a call each: how many there are, when each call is taken up, and what is found by that. */
#include "infer/nesting-workers.h"

#include <string.h>

#include "infer/engine-nesting.h"
#include "infer/random.h"
#include "tests/support/simulated.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

#define US           1000 /* ns */
#define MOST_WORKERS 600

/* --- how many --- */

typedef struct {
	const char *name;
	int workers; /* 0: as many as come */
	int period_us;
	int n;
	gboolean is_message; /* nobody replies */
	guint32 found;
	int together; /* one in so many comes just before the one that is served before it; 0: none */
} Served;

/* A call takes about 6 ms. */
static const Served rows[] = {
	{ "one", 1, 5700, 300, FALSE, 1, 0 },
	{ "four", 4, 1500, 400, FALSE, 4, 0 },
	{ "eight, more than they can do", 8, 700, 400, FALSE, 8, 0 },
	{ "twenty, of whom fewer could do it", 20, 290, 800, FALSE, 20, 0 },
	{ "thirty", 30, 190, 1200, FALSE, 30, 0 },
	{ "sixty-four, asked for twice as much", 64, 47, 1500, FALSE, 64, 0 },
	{ "two hundred, asked for twice as much", 200, 15, 3000, FALSE, 200, 0 },
	{ "six hundred: more than are looked for", 600, 5, 1200, FALSE, 0, 0 },
	{ "one, asked by two at once", 1, 5700, 300, FALSE, 1, 20 },
	{ "four that hardly anybody waits for", 4, 6000, 400, FALSE, 0, 0 },
	{ "as many as come", 0, 1500, 400, FALSE, 0, 0 },
	{ "too few calls", 4, 1500, 100, FALSE, 0, 0 },
	{ "messages", 4, 1500, 400, TRUE, 0, 0 },
};

typedef struct {
	int came_us;
	int begin_us;
	int call_us; /* to db */
	int return_us;
	int end_us;
} Request;

static int
about(WpRandom64 *random, int mean_us)
{
	return mean_us * 3 / 4 + (int)wp_random64_below(random, (guint32)mean_us / 2);
}

/* Request I comes just before the one that was served before it. */
static void
swap(Request *requests, int i)
{
	Request first = requests[i - 1];

	requests[i].came_us = first.came_us - 3;
	requests[i - 1] = requests[i];
	requests[i] = first;
}

/* Who comes first is served first, by the worker that is free first. */
static void
serve(const Served *row, Request *requests)
{
	WpRandom64 random = { 4711 };
	int free_us[MOST_WORKERS] = { 0 }, at_us = 0;

	for (int i = 0; i < row->n; i++) {
		Request *request = &requests[i];
		int first = 0;
		at_us += 1 + (int)wp_random64_below(&random, 2 * (guint32)row->period_us);
		for (int k = 1; k < row->workers; k++)
			first = free_us[k] < free_us[first] ? k : first;
		request->came_us = at_us;
		request->begin_us = row->workers ? MAX(at_us, free_us[first]) : at_us;
		request->call_us = request->begin_us + about(&random, 1000);
		request->return_us = request->call_us + about(&random, 3000);
		request->end_us = request->return_us + about(&random, 2000);
		free_us[first] = request->end_us;
		if (row->together && i % row->together == row->together - 1)
			swap(requests, i);
	}
}

/* (transfer full) Web's problem, not solved. */
static WpNestProblem *
make_problem(const WpTree *tree)
{
	static const WpNestOptions options = { .after_ns = -1 };
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autoptr(GArray) incoming = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GArray) outgoing = g_array_new(FALSE, FALSE, sizeof(guint32));
	guint32 web = spans->spans[wp_tree_span(tree, 1)].callee_host;

	for (guint32 i = 0; i < spans->n; i++)
		g_array_append_val(spans->spans[i].callee_host == web ? incoming : outgoing, i);
	const WpNestHost host = { .incoming = (const guint32 *)(const void *)incoming->data,
				  .n_incoming = incoming->len,
				  .outgoing = (const guint32 *)(const void *)outgoing->data,
				  .n_outgoing = outgoing->len };
	return wp_nest_problem_new(tree->resolved, &host, &options);
}

/* (transfer full) */
static WpTree *
make_tree(const Served *row, const Request *requests)
{
	GString *text = g_string_new(NULL);

	for (int i = 0; i < row->n; i++) {
		const Request *own = &requests[i];
		g_string_append_printf(text, "client>web[%d%s", own->came_us,
				       row->is_message ? "" : "-");
		if (!row->is_message)
			g_string_append_printf(text, "%d", own->end_us);
		g_string_append_printf(text, "](db[%d-%d]) ", own->call_us, own->return_us);
	}
	WpTree *tree = wp_tree_new(text->str);
	g_string_free(text, TRUE);
	return tree;
}

START_TEST(how_many)
{
	const Served *row = &rows[_i];
	if (row->n > wp_test_number(G_MAXINT, 1000))
		return;
	g_autofree Request *requests = g_new0(Request, (gsize)row->n);

	serve(row, requests);
	g_autoptr(WpTree) tree = make_tree(row, requests);
	WpNestProblem *problem = make_problem(tree);
	g_autofree gint64 *begins_ns = g_new0(gint64, problem->n_parents);
	ck_assert_uint_eq(problem->n_parents, (guint)row->n);
	ck_assert_uint_eq(wp_nest_find_call_workers(problem, begins_ns), row->found);
	for (int i = 0; row->found && !row->together && i < row->n; i++) {
		gint64 off_ns = begins_ns[i] - (requests[i].begin_us - requests[0].came_us) * US -
				problem->parents[0].begin_ns;
		ck_assert_int_le(ABS(off_ns), 1);
	}
	wp_nest_problem_free(problem);
}
END_TEST

/* Where one does not return, or waits for what happens, nothing tells when the others began: nothing is said. */
START_TEST(not_to_be_told)
{
	static const char *const trees[] = {
		"client>web[0-100](db[40-60]) client>web[10-110](db[50-70])",
		"client>web[0-100](db[40-60]) client>web[10](db[50-70])",
		"client>web[0-100](db[40-60]) client>web[10-110]~(db[50-70])",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(trees); i++) {
		gint64 begins_ns[] = { -1, -1 };
		g_autoptr(WpTree) tree = wp_tree_new(trees[i]);
		WpNestProblem *problem = make_problem(tree);
		ck_assert_uint_eq(problem->n_parents, 2);
		ck_assert_int_eq(wp_nest_find_call_begins(problem, 1, begins_ns), i == 0);
		ck_assert_int_eq(begins_ns[1], i == 0 ? problem->parents[0].end_ns + 1 : -1);
		wp_nest_problem_free(problem);
	}
}
END_TEST

/* --- the engine --- */

/* Twenty browsers want more than six workers can do. */
static const char shop[] =
	"[service web]\nworkers = 6\n[service users]\n[service items]\n[service orders]\n"
	"[client browsers]\nclients = 20\nthink = exponential(10ms)\n"
	"plan = choose 35% { call web.product } 25% { call web.cart } 40% { call web.list }\n"
	"[operation web.product]\nlabel = GET /product/{}\n"
	"plan = work lognormal(2ms, 0.4); call users.get; work lognormal(1ms, 0.4); call "
	"items.get; "
	"work lognormal(2ms, 0.3)\n"
	"[operation web.cart]\nlabel = GET /cart/{}\n"
	"plan = work lognormal(2ms, 0.4); call users.get; work lognormal(2ms, 0.4); call "
	"orders.get; "
	"work lognormal(1ms, 0.3); call items.get; work 1ms\n"
	"[operation web.list]\nlabel = GET /list\n"
	"plan = work lognormal(3ms, 0.4); call items.list; work lognormal(3ms, 0.4)\n"
	"[operation users.get]\nlabel = GET /sessions/{}\nplan = wait exponential(2ms)\n"
	"[operation items.get]\nlabel = GET /items/{}\nplan = wait exponential(1.5ms)\n"
	"[operation items.list]\nlabel = GET /list\nplan = wait exponential(3ms)\n"
	"[operation orders.get]\nlabel = GET /carts/{}\nplan = wait exponential(3ms)\n";

/* Of the links that are right; without workers 0.91. */
START_TEST(right_parents)
{
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	g_autofree char *text =
		g_strdup_printf("[simulation]\nrequests = %d\nnetwork = normal(50us, 20%%)\n%s",
				wp_test_number(1000, 100), shop);
	g_autoptr(WpTrace) trace = wp_test_simulate(text, "shop", truth);
	WpResolveOptions names;

	wp_resolve_options_init(&names);
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &names, NULL);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, NULL, NULL, NULL);
	if (wp_test_number(0, 1))
		return; /* too few to tell */
	double right = wp_test_share_right(resolved, links, truth);
	ck_assert_msg(right >= 0.93, "%.3f", right);
	/* Who asks what it would be like at other times is told. */
	ck_assert(links->paces != NULL);
	const WpSpan *root = &wp_resolved_spans(resolved)->spans[0]; /* a browser's */
	guint32 web = root->callee_host;
	ck_assert_uint_eq(links->paces[web].workers, 6);
	/* Who knows it already is not asked again; who knows that there are none goes by real time. */
	const WpWorkings found = { .paces = links->paces, .n_paces = links->n_paces },
			 nothing = { .n_paces = 0 };
	g_autoptr(WpLinks) known = wp_engine_nesting.run_known(resolved, NULL, &found, NULL, NULL);
	ck_assert_uint_eq(known->paces[web].workers, 6);
	ck_assert_double_ge(wp_test_share_right(resolved, known, truth), right - 0.005);
	g_autoptr(WpLinks) none = wp_engine_nesting.run_known(resolved, NULL, &nothing, NULL, NULL);
	ck_assert(!none->paces || none->paces[web].workers == 0);
}
END_TEST

/* Hundreds of requests wait for one of forty workers, which all wait for a slow server. */
static const char crowded[] =
	"[service front]\nworkers = 40\n[service back]\ncores = 4\n"
	"[client users]\narrivals = bursts(2000/s, 100ms, 900ms)\nplan = call front.page\n"
	"[operation front.page]\nlabel = GET /\n"
	"plan = work normal(2ms, 20%); call back.get; work normal(1ms, 20%)\n"
	"[operation back.get]\nlabel = GET /item\nplan = work lognormal(4ms, 0.5)\n";

/* Calls are served slowly together, so that how long says little of how many serve them: what they send does. */
START_TEST(many_workers)
{
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	g_autofree char *text = g_strdup_printf("[simulation]\nrequests = %d\n%s",
						wp_test_number(1200, 100), crowded);
	g_autoptr(WpTrace) trace = wp_test_simulate(text, "crowded", truth);
	WpResolveOptions names;

	wp_resolve_options_init(&names);
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &names, NULL);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, NULL, NULL, NULL);
	if (wp_test_number(0, 1))
		return;
	ck_assert(links->paces != NULL);
	guint32 front = wp_resolved_spans(resolved)->spans[0].callee_host;
	ck_assert_uint_eq(links->paces[front].workers, 40);
	double right = wp_test_share_right(resolved, links, truth);
	ck_assert_msg(right >= 0.9, "%.3f", right);
}
END_TEST

/* Of hundreds of requests in flight each call has a few dozen possible parents that are looked at, the likeliest among them. */
START_TEST(crowd)
{
	static const Served row = { "as many as come", 0, 20, 600, FALSE, 0, 0 };
	g_autofree Request *requests = g_new0(Request, (gsize)row.n);

	serve(&row, requests);
	g_autoptr(WpTree) tree = make_tree(&row, requests);
	WpNestProblem *problem = make_problem(tree);
	WpNestStart *start = wp_nest_start_new(problem);
	guint32 most = 0;
	wp_nest_start_assign(start, 1, 1, 0, problem->n_bundles);
	for (guint32 b = 0; b < problem->n_bundles; b++)
		most = MAX(most, problem->bundles[b].n_candidates);
	ck_assert_uint_gt(most, 100);
	wp_nest_start_drop(start, 0, problem->n_bundles);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		ck_assert_uint_le(bundle->n_candidates, 64);
		ck_assert_int_ge(wp_nest_find_candidate(problem, bundle, bundle->parent), 0);
	}
	wp_nest_start_free(start);
	wp_nest_problem_free(problem);
}
END_TEST

WP_SUITE_OF_ROWS("workers", { how_many, G_N_ELEMENTS(rows) }, { not_to_be_told, 0 },
		 { right_parents, 0 }, { many_workers, 0 }, { crowd, 0 })
