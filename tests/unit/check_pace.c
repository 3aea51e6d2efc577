/* Clocks of hosts: how they go, and which host goes by which. */
#include "infer/nesting-pace.h"

#include <math.h>
#include <string.h>

#include "infer/engine-nesting.h"
#include "infer/random.h"
#include "infer/self-check.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

#define US 1000 /* ns */

/* What web receives and sends, as the engine hands it over. */
typedef struct {
	WpNestHost host;
	GArray *incoming;
	GArray *outgoing;
} Web;

static Web
find_web(const WpTree *tree)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	Web web = { .incoming = g_array_new(FALSE, FALSE, sizeof(guint32)),
		    .outgoing = g_array_new(FALSE, FALSE, sizeof(guint32)) };
	guint32 host = spans->spans[wp_tree_span(tree, 1)].callee_host;

	for (guint32 i = 0; i < spans->n; i++) {
		if (spans->spans[i].callee_host == host)
			g_array_append_val(web.incoming, i);
		if (spans->spans[i].caller_host == host)
			g_array_append_val(web.outgoing, i);
	}
	web.host.incoming = (const guint32 *)(const void *)web.incoming->data;
	web.host.n_incoming = web.incoming->len;
	web.host.outgoing = (const guint32 *)(const void *)web.outgoing->data;
	web.host.n_outgoing = web.outgoing->len;
	return web;
}

static void
clear_web(Web *web)
{
	g_array_unref(web->incoming);
	g_array_unref(web->outgoing);
}

/* --- how clocks go --- */

#define TWO "client>web[0-100](db[40-60]) client>web[0-100]"

/*
 *     web   |======== db ========|     in hand   2 until 40 us, 1 until 60 us, then 2
 *           |====================|
 */
static const struct {
	const char *tree;
	WpPace pace;
	gint64 at_us;
	double own_us; /* on the clock */
} readings[] = {
	/* Rates 1/2, 1, 1/2 make 60 us of 100: scaled by 5/3. */
	{ TWO, { .pace = 1, .processors = 1 }, 0, 0 },
	{ TWO, { .pace = 1, .processors = 1 }, 40, 100 / 3.0 },
	{ TWO, { .pace = 1, .processors = 1 }, 50, 50 },
	{ TWO, { .pace = 1, .processors = 1 }, 60, 200 / 3.0 },
	{ TWO, { .pace = 1, .processors = 1 }, 100, 100 },
	/* Before and after nothing is in hand: real time. */
	{ TWO, { .pace = 1, .processors = 1 }, -10, -10 },
	{ TWO, { .pace = 1, .processors = 1 }, 106, 106 },
	/* Root of 1/2: 80 us make 40 sqrt(2), and 20 make 20. */
	{ TWO,
	  { .pace = 0.5, .processors = 1 },
	  60,
	  100 * (20 * M_SQRT2 + 20) / (40 * M_SQRT2 + 20) },
	/* Two processors have enough of two in hand. */
	{ TWO, { .pace = 1, .processors = 2 }, 40, 40 },
	/* A long poll is not worked at, what has no return is not known of. */
	{ "client>web[0-100](db[40-60]) client>web[0-100]~",
	  { .pace = 1, .processors = 1 },
	  40,
	  40 },
	{ "client>web[0-100](db[40-60]) client>web[0-]", { .pace = 1, .processors = 1 }, 40, 40 },
	/* Nor is anything in between here. */
	{ "client>web[0-10](db[2-4]) client>web[50-60](db[52-54])",
	  { .pace = 1, .processors = 1 },
	  30,
	  30 },
};

START_TEST(times)
{
	g_autoptr(WpTree) tree = wp_tree_new(readings[_i].tree);
	Web web = find_web(tree);
	gint64 epoch_ns = wp_resolved_spans(tree->resolved)->spans[0].call_ns;
	g_autoptr(WpNestClock) clock =
		wp_nest_clock_new(tree->resolved, &web.host, &readings[_i].pace);
	gint64 own_ns = wp_nest_clock_at(clock, epoch_ns + readings[_i].at_us * US) - epoch_ns;
	ck_assert_double_eq_tol((double)own_ns / US, readings[_i].own_us, 0.002);
	clear_web(&web);
}
END_TEST

/*
 * A burst, and a request a hundred years later: in between nothing is in hand, which takes as long on any clock,
 * and behind it a ns is still one.
 */
START_TEST(far_apart)
{
	const gint64 later_ns = G_GINT64_CONSTANT(3000000000000000) * US;
	const WpPace pace = { .pace = 1, .processors = 1 };
	g_autoptr(WpTree) tree = wp_tree_new("client>web[0-100](db[40-60]) client>web[0-100] "
					     "client>web[0-100] client>web[0-100] "
					     "client>web[3000000000000000-3000000000000100]"
					     "(db[3000000000000040-3000000000000060])");
	Web web = find_web(tree);
	gint64 epoch_ns = wp_resolved_spans(tree->resolved)->spans[0].call_ns;
	g_autoptr(WpNestClock) clock = wp_nest_clock_new(tree->resolved, &web.host, &pace);
	gint64 before = wp_nest_clock_at(clock, epoch_ns + 100 * US);
	gint64 idle_ns = later_ns - 100 * US;
	ck_assert_int_eq(wp_nest_clock_at(clock, epoch_ns + later_ns) - before, idle_ns);
	before = G_MININT64;
	for (gint64 ns = 0; ns < 110 * US; ns += 7) {
		gint64 at = wp_nest_clock_at(clock, epoch_ns + later_ns + ns);
		ck_assert_int_ge(at, before);
		before = at;
	}
	clear_web(&web);
}
END_TEST

/* No clock is real time; and on any, what is earlier is never later, ns by ns. */
START_TEST(order)
{
	g_autoptr(WpTree) tree = wp_tree_new(TWO);
	Web web = find_web(tree);
	gint64 epoch_ns = wp_resolved_spans(tree->resolved)->spans[0].call_ns;
	const WpPace real = { .pace = 0, .processors = 1 },
		     pace = { .pace = 0.75, .processors = 1 };
	ck_assert_ptr_null(wp_nest_clock_new(tree->resolved, &web.host, &real));
	ck_assert_int_eq(wp_nest_clock_at(NULL, 17), 17);
	ck_assert_double_eq(wp_nest_clock_rate(NULL, 17), 1);
	g_autoptr(WpNestClock) clock = wp_nest_clock_new(tree->resolved, &web.host, &pace);
	gint64 before = G_MININT64;
	for (gint64 ns = -US; ns < 110 * US; ns += 7) {
		gint64 at = wp_nest_clock_at(clock, epoch_ns + ns);
		ck_assert_int_ge(at, before);
		before = at;
	}
	clear_web(&web);
}
END_TEST

/* --- which clock --- */

typedef enum {
	ONE_THREAD, /* web does one thing at a time, first come, first served */
	WAITS,      /* what web does takes the same time whatever else it has to do */
} Program;

/* What web has to do next for a request: at first, after each call, and then it replies. */
typedef struct {
	int request;
	int step;
	double ready_us;
} Task;

#define N_CALLS 2

typedef struct {
	double begin_us;
	double end_us;
	double call_us[N_CALLS];
	double return_us[N_CALLS];
} Request;

static int
first_ready(const GArray *tasks)
{
	guint first = 0;
	for (guint i = 1; i < tasks->len; i++)
		if (g_array_index(tasks, Task, i).ready_us <
		    g_array_index(tasks, Task, first).ready_us)
			first = i;
	return (int)first;
}

static double
uniform(WpRandom64 *random, double low, double high)
{
	return low + (high - low) * wp_random64_share(random);
}

/* Runs all tasks in the order in which they get ready. */
static void
run_program(Program program, Request *requests, int n, double between_us)
{
	g_autoptr(GArray) tasks = g_array_new(FALSE, FALSE, sizeof(Task));
	WpRandom64 random = { 4711 };
	double at_us = 1000, free_us = 0;

	for (int i = 0; i < n; i++) {
		Task task = { i, 0, at_us };
		requests[i].begin_us = at_us;
		g_array_append_val(tasks, task);
		at_us -= between_us * log(wp_random64_share(&random));
	}
	while (tasks->len > 0) {
		guint first = (guint)first_ready(tasks);
		Task task = g_array_index(tasks, Task, first);
		Request *request = &requests[task.request];
		g_array_remove_index_fast(tasks, first);
		double begins_us =
			program == ONE_THREAD ? MAX(task.ready_us, free_us) : task.ready_us;
		double done_us = begins_us + uniform(&random, 200, 600);
		free_us = done_us;
		if (task.step == N_CALLS) {
			request->end_us = done_us;
			continue;
		}
		request->call_us[task.step] = done_us;
		task.ready_us = done_us + uniform(&random, 3000, 9000);
		request->return_us[task.step++] = task.ready_us;
		g_array_append_val(tasks, task);
	}
}

/* (transfer full) */
static WpTree *
make_tree(Program program, int n, double between_us)
{
	g_autofree Request *requests = g_new0(Request, n);
	g_autoptr(GString) text = g_string_new(NULL);

	run_program(program, requests, n, between_us);
	for (int i = 0; i < n; i++) {
		const Request *r = &requests[i];
		g_string_append_printf(text, "client>web[%d-%d](db[%d-%d],db[%d-%d]) ",
				       (int)r->begin_us, (int)r->end_us, (int)r->call_us[0],
				       (int)r->return_us[0], (int)r->call_us[1],
				       (int)r->return_us[1]);
	}
	return wp_tree_new(text->str);
}

static double
share_right(const WpTree *tree, const WpNestProblem *problem)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	guint right = 0;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		guint32 child = problem->bundle_children[bundle->first];
		guint64 id = spans->spans[problem->children[child].span].id;
		guint64 truth = g_array_index(tree->parents, guint64, id);
		right += spans->spans[problem->parents[bundle->parent].span].id == truth;
	}
	return (double)right / problem->n_bundles;
}

/* Each goes by its own clock, and one on which it does not go is seen for what it is. */
static const struct {
	const char *name;
	Program program;
	double between_us;
	gboolean is_real; /* time by which it goes */
	double least_right;
	double most_off; /* what is expected; .3 of the busy one where its clock is not known */
} programs[] = {
	{ "one thread, half busy", ONE_THREAD, 2400, FALSE, .97, .02 },
	{ "one thread, busy", ONE_THREAD, 1600, FALSE, .88, .15 },
	{ "waits", WAITS, 2400, TRUE, .8, .05 },
};

START_TEST(learned)
{
	const WpNestOptions options = { .after_ns = -1, .anneals = TRUE };
	int n = wp_test_number(800, 40);
	g_autoptr(WpTree) tree = make_tree(programs[_i].program, n, programs[_i].between_us);
	Web web = find_web(tree);
	g_autofree WpNestBelief *beliefs = NULL;
	WpPace pace;
	WpNestProblem *problem =
		wp_nest_solve(tree->resolved, &web.host, &options, &beliefs, &pace);
	if (n > 40) {
		ck_assert_msg((pace.pace <= 0) == programs[_i].is_real, "%s: another clock",
			      programs[_i].name);
		double right = share_right(tree, problem);
		ck_assert_msg(right >= programs[_i].least_right, "%s: %.3f of the links are right",
			      programs[_i].name, right);
	}
	wp_nest_problem_free(problem);
	clear_web(&web);
}
END_TEST

/* What the self-check expects of it. */
START_TEST(expected)
{
	int n = wp_test_number(800, 40);
	g_autoptr(WpTree) tree = make_tree(programs[_i].program, n, programs[_i].between_us);
	g_autoptr(WpLinks) truth = wp_tree_links(tree);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	WpResolveOptions resolve;
	WpSelfCheck check;
	guint right = 0;

	wp_resolve_options_init(&resolve);
	ck_assert(wp_self_check(tree->resolved, links, &resolve, &wp_engine_nesting, NULL, NULL,
				&check, NULL));
	for (guint32 i = 0; i < links->n; i++)
		right += truth->links[i].parent != WP_NO_SPAN &&
			 links->links[i].parent == truth->links[i].parent;
	double truly = (double)right / (N_CALLS * n);
	double share = (double)check.n_links_right / (double)check.n_links;
	if (n > 40)
		ck_assert_msg(ABS(share - truly) <= programs[_i].most_off,
			      "%s: %.3f expected, %.3f true", programs[_i].name, share, truly);
}
END_TEST

WP_SUITE_OF_ROWS("pace", { times, G_N_ELEMENTS(readings) }, { order, 0 }, { far_apart, 0 },
		 { learned, G_N_ELEMENTS(programs) }, { expected, G_N_ELEMENTS(programs) })
