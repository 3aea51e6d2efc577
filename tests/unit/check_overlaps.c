/* Calls of one parent that overlap: told by counts alone, and what is found by them. */
#include "infer/nesting-overlaps.h"

#include <string.h>

#include "infer/engine-nesting.h"
#include "tests/support/simulated.h"
#include "tests/support/suite.h"

static const char servers[] = "[simulation]\nrequests = %d\nnetwork = normal(50us, 20%%)\n[service "
			      "web]\n[service a]\n[service b]\n"
			      "[operation a.x]\nplan = wait lognormal(4ms, 0.4)\n[operation "
			      "b.x]\nplan = wait lognormal(8ms, 0.4)\n";

#define OPEN(rate) "[client users]\narrivals = " rate "\nplan = call web.x\n"
#define CLOSED(n)  "[client users]\nclients = " n "\nthink = uniform(0, 20ms)\nplan = call web.x\n"
#define PLAN       "[operation web.x]\nplan = "
#define WORK       "work normal(2ms, 20%%); "
#define EXACT      "wait normal(10ms, 5%%); "

#define IN_TURN   PLAN WORK "call a.x; " WORK "call b.x; " WORK
#define BESIDE    "parallel { call a.x } { work normal(1ms, 20%%); call b.x } " WORK
#define SOMETIMES PLAN WORK "choose 25%% { " BESIDE "} 75%% { call a.x; " WORK "call b.x } " WORK
#define CACHE                                                                                      \
	PLAN WORK "repeat 1..4 { call a.x; " WORK "maybe 60%% { } else { call b.x; " WORK "} }"
#define BEHIND_REPLY PLAN WORK "reply; " WORK "call a.x; " WORK "call b.x"

typedef struct {
	const char *name;
	const char *client;
	const char *plan;
	gint64 after_ns;
	double least, most; /* own calls to a that are open when b is called */
	double others;      /* ... of other pairs, at the most */
} Count;

static const Count counts[] = {
	{ "in turn", OPEN("poisson(100/s)"), IN_TURN, 0, 0, 0.05, 0.05 },
	{ "... 30 in flight", OPEN("poisson(1500/s)"), IN_TURN, 0, 0, 0.05, 0.05 },
	{ "... requests in step", CLOSED("40"), PLAN EXACT "call a.x; " EXACT "call b.x; " EXACT, 0,
	  0, 0.05, 0.05 },
	/* Requests of a burst come to a call together: taken for own ones in part. */
	{ "... bursts", OPEN("bursts(1000/s, 50ms, 300ms)"), IN_TURN, 0, 0, 0.1, 0.5 },
	{ "beside each other", OPEN("poisson(100/s)"), PLAN WORK BESIDE, 0, 0.8, 1.1, 0.05 },
	{ "... 30 in flight", OPEN("poisson(2000/s)"), PLAN WORK BESIDE, 0, 0.5, 1.2, 0.2 },
	{ "... one request in four", OPEN("poisson(300/s)"), SOMETIMES, 0, 0.15, 0.3, 0.05 },
	{ "behind the reply", OPEN("poisson(100/s)"), BEHIND_REPLY, 40000000, 0, 0.05, 0.05 },
};

/* (transfer full) Web's problem, with the true answer: TRUTH are parents by id. */
static WpNestProblem *
make_problem(const WpResolved *resolved, const WpNestOptions *options, const GArray *truth)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	g_autoptr(GArray) incoming = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GArray) outgoing = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (guint32 i = 0; i < spans->n; i++) {
		const char *callee = wp_resolved_node_name(resolved, spans->spans[i].callee);
		g_array_append_val(strcmp(callee, "web") == 0 ? incoming : outgoing, i);
	}
	const WpNestHost host = { .incoming = (const guint32 *)(const void *)incoming->data,
				  .n_incoming = incoming->len,
				  .outgoing = (const guint32 *)(const void *)outgoing->data,
				  .n_outgoing = outgoing->len };
	WpNestProblem *problem = wp_nest_problem_new(resolved, &host, options);
	g_autofree guint32 *numbers = g_new0(guint32, truth->len);
	for (guint32 p = 0; p < problem->n_parents; p++)
		numbers[spans->spans[problem->parents[p].span].id] = p;
	for (guint32 c = 0; c < problem->n_children; c++) {
		guint64 id = spans->spans[problem->children[c].span].id;
		guint32 parent = numbers[g_array_index(truth, guint64, id)];
		problem->bundles[problem->children[c].bundle].parent = parent;
	}
	return problem;
}

/* The group of calls to CALLEE. */
static guint8
group_of(const WpNestProblem *problem, const WpNestOverlaps *overlaps, const char *callee)
{
	const WpSpan *spans = wp_resolved_spans(problem->resolved)->spans;

	for (guint32 c = 0; c < problem->n_children; c++) {
		const WpNestChild *child = &problem->children[c];
		guint32 node = spans[child->span].callee;
		if (strcmp(wp_resolved_node_name(problem->resolved, node), callee) == 0)
			return overlaps->group_of[child->type];
	}
	ck_abort_msg("nobody calls %s", callee);
	return 0;
}

static void
check_counts(const Count *row, const WpNestProblem *problem, const WpNestOverlaps *overlaps)
{
	const guint8 groups[2] = { group_of(problem, overlaps, "a"),
				   group_of(problem, overlaps, "b") };

	ck_assert_uint_ne(groups[0], groups[1]);
	for (guint i = 0; i < 4; i++) {
		guint8 open = groups[i / 2], begins = groups[i % 2];
		guint32 at = open * overlaps->n_groups + begins;
		double own = overlaps->own[at], nats = overlaps->nats[at];
		gboolean is_main = i == 1; /* a, then b */
		ck_assert_msg(own >= (is_main ? row->least : 0) &&
				      own <= (is_main ? row->most : row->others),
			      "%s: %.3f of group %u are open when one of %u begins", row->name, own,
			      open, begins);
		ck_assert_double_ge(nats, 0);
		ck_assert_int_eq(nats > 2.9, own < 0.055);
	}
}

START_TEST(counted)
{
	const Count *row = &counts[_i];
	g_autofree char *text = g_strconcat(servers, row->client, row->plan, NULL);
	g_autofree char *scenario = g_strdup_printf(text, wp_test_number(4000, 100));
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	g_autoptr(WpTrace) trace = wp_test_simulate(scenario, row->name, truth);
	const WpNestOptions options = { .after_ns = row->after_ns };
	WpResolveOptions names;

	wp_resolve_options_init(&names);
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &names, NULL);
	WpNestProblem *problem = make_problem(resolved, &options, truth);
	g_autoptr(WpNestOverlaps) overlaps = wp_nest_overlaps_new(problem);
	ck_assert_ptr_nonnull(overlaps);
	if (wp_test_number(1, 0))
		check_counts(row, problem, overlaps);
	wp_nest_problem_free(problem);
}
END_TEST

/* --- found --- */

typedef struct {
	const char *name;
	const char *client;
	const char *plan;
	double right; /* floor */
} Found;

/* Where overlaps cost nothing .26, .37 and .90 are right. */
static const Found found[] = {
	{ "three in turn", OPEN("poisson(800/s)"), PLAN WORK "repeat 3 { call a.x; " WORK "}",
	  0.35 },
	{ "a cache", OPEN("poisson(400/s)"), CACHE, 0.42 },
	{ "beside each other", OPEN("poisson(800/s)"), PLAN WORK BESIDE, 0.9 },
};

START_TEST(right)
{
	const Found *row = &found[_i];
	g_autofree char *text = g_strconcat(servers, row->client, row->plan, NULL);
	g_autofree char *scenario = g_strdup_printf(text, wp_test_number(1000, 30));
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	g_autoptr(WpTrace) trace = wp_test_simulate(scenario, row->name, truth);
	WpResolveOptions names;

	wp_resolve_options_init(&names);
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &names, NULL);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, NULL, NULL, NULL);
	double share = wp_test_share_right(resolved, links, truth);
	if (wp_test_number(1, 0))
		ck_assert_msg(share >= row->right, "%s: %.3f right", row->name, share);
}
END_TEST

WP_SUITE_OF_ROWS("overlaps", { counted, G_N_ELEMENTS(counts) }, { right, G_N_ELEMENTS(found) })
