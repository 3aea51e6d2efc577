/* Turns: how long what comes in to a program with one thread waits, and what is found by that. */
#include "infer/nesting-turns.h"

#include <string.h>

#include "infer/engine-nesting.h"
#include "infer/random.h"
#include "tests/support/simulated.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

#define US 1000 /* ns */

/* --- waits --- */

#define N_REQUESTS 100

/* Requests to web every PERIOD, each with a call to db that takes CALL, and what web waits before it does anything. */
typedef struct {
	const char *name;
	int period_us;
	int call_us;  /* -1: a one-way message, and nobody replies to web's callers */
	int wait_us;  /* of the first half */
	int later_us; /* ... of the second */
	int n;
	gboolean wrong; /* every fourth call is given to the request before */
	gboolean has_turns;
} Waiting;

static const Waiting waitings[] = {
	{ "all alike", 100, 30, 450, 450, N_REQUESTS, FALSE, TRUE },
	{ "longer later", 100, 30, 300, 800, N_REQUESTS, FALSE, TRUE },
	{ "some are wrong", 100, 30, 450, 450, N_REQUESTS, TRUE, TRUE },
	{ "no line", 100, 30, -1, -1, 2 * N_REQUESTS, FALSE, FALSE },
	{ "too few", 100, 30, 450, 450, 20, FALSE, FALSE },
	{ "messages", 100, -1, 450, 450, N_REQUESTS, FALSE, FALSE },
};

static int
any_wait(WpRandom64 *random)
{
	return 10 + (int)wp_random64_below(random, 1000);
}

/* (transfer full) */
static WpTree *
make_waiting(const Waiting *row)
{
	GString *text = g_string_new(NULL);
	WpRandom64 random = { 4711 };

	for (int i = 0; i < row->n; i++) {
		int begin_us = i * row->period_us;
		int wait_us = i < row->n / 2 ? row->wait_us : row->later_us;
		gboolean is_any = wait_us < 0;
		int call_us = begin_us + (is_any ? any_wait(&random) : wait_us);
		int return_us = call_us + row->call_us;
		int end_us = return_us + (is_any ? any_wait(&random) : wait_us);
		if (row->call_us < 0)
			g_string_append_printf(text, "client>web[%d](db[%d]) ", begin_us, call_us);
		else
			g_string_append_printf(text, "client>web[%d-%d](db[%d-%d]) ", begin_us,
					       end_us, call_us, return_us);
	}
	WpTree *tree = wp_tree_new(text->str);
	g_string_free(text, TRUE);
	return tree;
}

/* (transfer full) Web's problem, each parent with its call; but every fourth has that of the next where WRONG. */
static WpNestProblem *
make_problem(const WpTree *tree, gboolean wrong)
{
	static const WpNestOptions options = { .after_ns = -1 };
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autoptr(GArray) incoming = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GArray) outgoing = g_array_new(FALSE, FALSE, sizeof(guint32));
	guint32 web = spans->spans[wp_tree_span(tree, 1)].callee_host;

	for (guint32 i = 0; i < spans->n; i++) {
		if (spans->spans[i].callee_host == web)
			g_array_append_val(incoming, i);
		if (spans->spans[i].caller_host == web)
			g_array_append_val(outgoing, i);
	}
	const WpNestHost host = { .incoming = (const guint32 *)(const void *)incoming->data,
				  .n_incoming = incoming->len,
				  .outgoing = (const guint32 *)(const void *)outgoing->data,
				  .n_outgoing = outgoing->len };
	WpNestProblem *problem = wp_nest_problem_new(tree->resolved, &host, &options);
	ck_assert_uint_eq(problem->n_parents, problem->n_children);
	for (guint32 p = 0; p < problem->n_parents; p++) {
		gboolean is_next = wrong && p % 4 == 0 && p + 1 < problem->n_parents;
		wp_nest_make_room(&problem->parents[p], 1);
		problem->parents[p].children[0] = is_next ? p + 1 : p;
		problem->parents[p].n = 1;
	}
	return problem;
}

/* What comes in waits as long as what came in around it, whatever some of the links say. */
START_TEST(waits)
{
	const Waiting *row = &waitings[_i];
	g_autoptr(WpTree) tree = make_waiting(row);
	WpNestProblem *problem = make_problem(tree, FALSE);
	WpNestProblem *answer = make_problem(tree, row->wrong);

	ck_assert_int_eq(wp_nest_take_turns(problem, answer, WP_NEST_MAX_NEIGHBOURS),
			 row->has_turns);
	ck_assert_int_eq(problem->has_turns, row->has_turns);
	for (guint32 p = 0; p < problem->n_parents; p++) {
		gint64 wait_us = (int)p < row->n / 2 ? row->wait_us : row->later_us;
		/* Where it changes, neighbours of both kinds are around. */
		gboolean is_border = ABS((int)p - row->n / 2) < 16 && row->wait_us != row->later_us;
		if (!row->has_turns)
			wait_us = 0;
		if (is_border)
			continue;
		ck_assert_int_eq(problem->parents[p].wait_ns, wait_us * US);
		ck_assert_int_eq(problem->children[p].wait_ns, wait_us * US);
		ck_assert_int_eq(problem->bundles[problem->children[p].bundle].wait_ns,
				 wait_us * US);
	}
	/* Counted, a line is there, however short. */
	ck_assert_int_eq(wp_nest_count_turns(answer), row->n >= N_REQUESTS && row->call_us >= 0);
	wp_nest_problem_free(problem);
	wp_nest_problem_free(answer);
}
END_TEST

/* --- the length of the line --- */

#define N_COUNTED 300
#define TURN_US   100
#define N_THINGS  (2 * N_COUNTED)

/* A request, or the return of its call to db: which a program with one thread takes up in the order in which they come. */
typedef struct {
	int at_us;
	int wait_us; /* until it is taken up; it takes TURN_US then */
} Thing;

/* Requests 0 to N_COUNTED, then the returns of their calls. Some come at once, so that there is a line, and then none. */
static void
serve(Thing things[N_THINGS])
{
	gboolean is_done[N_THINGS] = { FALSE };
	int free_us = 0;

	for (int i = 0; i < N_COUNTED; i++) {
		things[i].at_us = i / 10 * 3000 + i % 10 * 7;
		things[N_COUNTED + i].at_us = G_MAXINT;
	}
	for (int n = 0; n < N_THINGS; n++) {
		int next = -1;
		for (int i = 0; i < N_THINGS; i++)
			if (!is_done[i] && (next < 0 || things[i].at_us < things[next].at_us))
				next = i;
		int begin_us = MAX(free_us, things[next].at_us);
		things[next].wait_us = begin_us - things[next].at_us;
		free_us = begin_us + TURN_US;
		is_done[next] = TRUE;
		if (next < N_COUNTED)
			things[N_COUNTED + next].at_us = free_us + 333 + next % 5 * 50;
	}
}

/* How long each waits is counted, of no answer. */
START_TEST(counted)
{
	Thing things[N_THINGS];
	GString *text = g_string_new(NULL);
	int n_near = 0;

	serve(things);
	for (int i = 0; i < N_COUNTED; i++) {
		const Thing *back = &things[N_COUNTED + i];
		g_string_append_printf(text, "client>web[%d-%d](db[%d-%d]) ", things[i].at_us,
				       back->at_us + back->wait_us + TURN_US,
				       things[i].at_us + things[i].wait_us + TURN_US, back->at_us);
	}
	g_autoptr(WpTree) tree = wp_tree_new(text->str);
	WpNestProblem *problem = make_problem(tree, FALSE);
	g_string_free(text, TRUE);
	ck_assert(wp_nest_count_turns(problem));
	for (int i = 0; i < N_THINGS; i++) {
		gint64 wait_ns = i < N_COUNTED ? problem->parents[i].wait_ns
					       : problem->children[i - N_COUNTED].wait_ns;
		n_near += ABS(wait_ns - things[i].wait_us * US) <= TURN_US * US;
	}
	ck_assert_int_eq(n_near, N_THINGS);
	wp_nest_problem_free(problem);
}
END_TEST

/* A gap before a turn is as far from none as one behind it, and both are as likely as they are seen to be. */
START_TEST(signed_gaps)
{
	WpNestProblem problem = { .has_turns = TRUE, .grain_ns = 20e3, .per_grain = 1 / 20e3 };
	static const gint64 gaps_us[] = { 0, 1, 20, 500, 40000 };

	wp_quick_log_init(&problem.quick);
	for (gsize i = 0; i < G_N_ELEMENTS(gaps_us); i++) {
		double behind = wp_nest_octaves_from_turn(&problem, gaps_us[i] * US);
		double before = wp_nest_octaves_from_turn(&problem, -gaps_us[i] * US);
		ck_assert_double_eq_tol(behind + before, 2 * WP_NEST_ORIGIN, 1e-9);
		ck_assert_double_ge(behind, before);
		ck_assert_double_eq_tol(wp_nest_log_slope(&problem, behind),
					wp_nest_log_slope(&problem, before), 1e-9);
	}
	/* Far before: still a bin. */
	ck_assert_double_eq(wp_nest_octaves_from_turn(&problem, G_MININT64 / 8), 0);
	/* Without turns nothing is before. */
	problem.has_turns = FALSE;
	ck_assert_double_eq_tol(wp_nest_octaves_from_turn(&problem, -500 * US), 0, 1e-9);
}
END_TEST

/* --- the engine --- */

/*
 * A gateway with one thread, of which twenty clients want more than it can do: what it waits for, users, items and
 * orders, is done sooner than what waits for it.
 */
static const char gateway[] =
	"network = normal(50us, 20%)\n"
	"[service gateway]\ncores = 1\n[service users]\n[service items]\n[service orders]\n"
	"[client browsers]\nclients = 20\nthink = exponential(1ms)\n"
	"plan = choose 35% { call gateway.product } 25% { call gateway.cart } "
	"15% { call gateway.checkout } 25% { call gateway.list }\n"
	"[operation gateway.product]\nlabel = GET /product/{}\n"
	"plan = work uniform(0.3ms, 0.9ms); parallel { work uniform(0.1ms, 0.3ms); call items.get "
	"} "
	"{ call users.get } work uniform(0.5ms, 1.1ms)\n"
	"[operation gateway.cart]\nlabel = GET /cart/{}\n"
	"plan = work uniform(0.3ms, 0.9ms); call users.get; work uniform(0.2ms, 0.5ms); "
	"wait exponential(0.5ms); call orders.get; work uniform(0.4ms, 0.8ms); "
	"parallel { call items.get } { work uniform(0.1ms, 0.3ms); call items.get } "
	"work uniform(0.4ms, 1ms)\n"
	"[operation gateway.checkout]\nlabel = POST /checkout/{}\n"
	"plan = work uniform(0.3ms, 0.9ms); call users.get; work uniform(0.3ms, 0.7ms); "
	"call orders.post; work uniform(0.3ms, 0.6ms); "
	"spawn { wait lognormal(4ms, 0.7); call items.post }\n"
	"[operation gateway.list]\nlabel = GET /list\n"
	"plan = work uniform(0.3ms, 0.9ms); call items.list; work uniform(0.5ms, 1ms)\n"
	"[operation users.get]\nlabel = GET /sessions/{}\nplan = wait exponential(2ms)\n"
	"[operation items.get]\nlabel = GET /items/{}\nplan = wait exponential(1.5ms)\n"
	"[operation items.list]\nlabel = GET /list\nplan = wait exponential(3ms)\n"
	"[operation items.post]\nlabel = POST /restock\nplan = wait exponential(2ms)\n"
	"[operation orders.get]\nlabel = GET /carts/{}\nplan = wait exponential(3ms)\n"
	"[operation orders.post]\nlabel = POST /orders/{}\nplan = wait exponential(4ms)\n";

/* Of the links that are right. */
typedef struct {
	int seed;
	double least;
} Load;

/* By the waits in a first answer alone 0.84 and 0.46: the second is too wrong to tell them. */
static const Load loads[] = { { 1, 0.87 }, { 2, 0.74 } };

START_TEST(right_parents)
{
	const Load *load = &loads[_i];
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	WpResolveOptions names;
	g_autofree char *text = g_strdup_printf("[simulation]\nseed = %d\nrequests = %d\n%s",
						load->seed, wp_test_number(700, 40), gateway);
	g_autoptr(WpTrace) trace = wp_test_simulate(text, "gateway", truth);

	wp_resolve_options_init(&names);
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &names, NULL);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, NULL, NULL, NULL);
	double right = wp_test_share_right(resolved, links, truth);
	if (wp_test_number(0, 1))
		return; /* too few to learn from */
	ck_assert_msg(right >= load->least, "%.3f", right);
}
END_TEST

WP_SUITE_OF_ROWS("turns", { waits, G_N_ELEMENTS(waitings) }, { counted, 0 }, { signed_gaps, 0 },
		 { right_parents, G_N_ELEMENTS(loads) })
