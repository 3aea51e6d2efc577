/* Runs made of chains by hand: which stand out, why, and what verdicts change. */
#include "report/triage.h"

#include <string.h>

#include "report/error.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

#define MS 1000000

/* A chain of a run: so many calls, each so long (below 0: no return), PARENT its place among those before. */
typedef struct {
	int parent; /* -1 = a root */
	const char *node;
	const char *label;
	gboolean is_error;
	guint64 count;
	gint64 latency_ns;
} Calls;

#define MAX_CALLS 6

/* What an ordinary run is; the others differ from it in one way each. */
#define PAGE(times)                                                                                \
	{                                                                                          \
		-1, "web", "GET /", FALSE, 100, (times)*MS                                         \
	}
#define READ(count, times)                                                                         \
	{                                                                                          \
		0, "db", "READ", FALSE, count, (times)*MS                                          \
	}

static void
add_chain(WpChains *chains, const Calls *calls)
{
	guint32 parent = calls->parent < 0 ? WP_CHAIN_ROOT : (guint32)calls->parent;
	WpChain *chain = g_new0(WpChain, 1);
	chain->parent = parent;
	chain->depth =
		calls->parent < 0 ? 1 : ((WpChain *)chains->chains->pdata[parent])->depth + 1;
	chain->node = g_strdup(calls->node);
	chain->protocol = g_strdup("");
	chain->label = g_strdup(calls->label);
	chain->is_error = calls->is_error;
	chain->count = calls->count;
	chain->times[calls->latency_ns < 0 ? WP_CHAIN_NO_RETURN
					   : wp_chain_time(calls->latency_ns)] =
		(guint32)calls->count;
	chains->n_calls += calls->count;
	if (calls->parent < 0)
		chains->n_requests += calls->count;
	g_ptr_array_add(chains->chains, chain);
}

static void
add_run(GPtrArray *inputs, const char *name, const Calls *calls)
{
	g_autoptr(WpChainsMaker) maker = wp_chains_maker_new();
	WpTriageInput *input = g_new0(WpTriageInput, 1);
	input->exit_status = -1;
	input->name = g_strdup(name);
	input->chains = wp_chains_maker_finish(maker);
	for (guint i = 0; i < MAX_CALLS && calls[i].node; i++)
		add_chain(input->chains, &calls[i]);
	g_ptr_array_add(inputs, input);
}

/* (transfer full) N ordinary runs, run0 and so on; among their reads one in a hundred is slow. */
static GPtrArray *
ordinary(guint n)
{
	static const Calls calls[MAX_CALLS] = { PAGE(10), READ(99, 2), READ(1, 30) };
	GPtrArray *inputs = g_ptr_array_new_with_free_func((GDestroyNotify)wp_triage_input_free);
	for (guint i = 0; i < n; i++) {
		g_autofree char *name = g_strdup_printf("runs/run%u", i);
		add_run(inputs, name, calls);
	}
	return inputs;
}

static WpTriage *
triage(const GPtrArray *inputs)
{
	const WpTriageOptions options = { .metric = wp_chain_metric_by_name("lev"),
					  .linkage = WP_LINKAGE_AVERAGE,
					  .inspect = 20 };
	return wp_triage_new(inputs, &options);
}

static const WpTriageRun *
run_at(const WpTriage *triage, guint rank)
{
	return triage->runs->pdata[rank];
}

START_TEST(odd_runs_come_first)
{
	static const struct {
		const char *why;
		Calls calls[MAX_CALLS];
		double away; /* from each other run, in 1,000 requests: 100 requests, so calls times 10 */
		const char *chain, *how;
		guint64 calls_told;
		double usual;
	} rows[] = {
		{ "an error: one frame of a chain of two differs",
		  { PAGE(10), READ(97, 2), { 0, "db", "READ", TRUE, 2, 2 * MS }, READ(1, 30) },
		  2 * 10 * 1,
		  "web GET / > db READ",
		  "an error",
		  2,
		  0 },
		{ "64 times as long",
		  { PAGE(10), READ(96, 2), READ(3, 128), READ(1, 30) },
		  3 * 10 * 1,
		  "web GET / > db READ",
		  "about 64 times as long as usual",
		  3,
		  0 },
		{ "slow as others are, and as often",
		  { PAGE(10), READ(95, 2), READ(4, 30) },
		  0,
		  NULL,
		  NULL,
		  0,
		  0 },
		{ "no answer",
		  { PAGE(10), READ(94, 2), { 0, "db", "READ", FALSE, 5, -1 }, READ(1, 30) },
		  5 * 10 * 1,
		  "web GET / > db READ",
		  "no answer",
		  5,
		  0 },
		{ "another node: nothing of its role is there, so two frames are missing",
		  { PAGE(10), READ(98, 2), { 0, "db2", "READ", FALSE, 1, 2 * MS }, READ(1, 30) },
		  1 * 10 * 2,
		  "web GET / > db2 READ",
		  "",
		  1,
		  0 },
		{ "no slow one: what the others have counts as well",
		  { PAGE(10), READ(100, 2) },
		  1 * 10 * 1,
		  "web GET / > db READ",
		  "about 8 times as long as usual",
		  0,
		  1 },
		{ "twice as long a run of the same",
		  { PAGE(10), PAGE(10), READ(198, 2), READ(2, 30) },
		  0,
		  NULL,
		  NULL,
		  0,
		  0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GPtrArray) inputs = ordinary(9);
		add_run(inputs, "odd", rows[i].calls);
		g_autoptr(WpTriage) made = triage(inputs);
		const WpTriageRun *first = run_at(made, 0);
		if (!rows[i].chain) {
			ck_assert_msg(first->away == 0, "%s: %g", rows[i].why, first->away);
			ck_assert_uint_eq(made->n_standing_out, 0);
			continue;
		}
		ck_assert_msg(g_str_equal(first->name, "odd"), "%s: %s", rows[i].why, first->name);
		ck_assert_msg(ABS(first->away - rows[i].away) < 1e-9, "%s: %g", rows[i].why,
			      first->away);
		ck_assert_msg(first->stands_out && made->n_standing_out == 1, "%s", rows[i].why);
		const WpTriageReason *reason = first->reasons->pdata[0];
		ck_assert_str_eq(reason->chain, rows[i].chain);
		ck_assert_msg(g_str_equal(reason->how, rows[i].how), "%s: %s", rows[i].why,
			      reason->how);
		ck_assert_uint_eq(reason->calls, rows[i].calls_told);
		ck_assert(reason->usual == rows[i].usual);
	}
}
END_TEST

/* Three faults of two kinds, and an innocent that is further away than one of them. */
START_TEST(verdicts_change_the_order)
{
	static const Calls error[MAX_CALLS] = {
		PAGE(10), READ(93, 2), { 0, "db", "READ", TRUE, 6, 2 * MS }, READ(1, 30)
	};
	static const Calls fewer[MAX_CALLS] = {
		PAGE(10), READ(97, 2), { 0, "db", "READ", TRUE, 2, 2 * MS }, READ(1, 30)
	};
	static const Calls innocent[MAX_CALLS] = {
		PAGE(10), READ(99, 2), READ(1, 30), { 0, "log", "PUT", FALSE, 2, 2 * MS }
	};
	static const struct {
		const char *why, *verdicts, *order;
		double expected, most; /* runs that are bad in all; below 0: not said */
	} rows[] = {
		{ "none: the furthest first", "# nothing yet\n", "error1 other1 other2 error2 ", -1,
		  -1 },
		{ "like a bad one rises", "error1,bad\n", "error2 other1 other2 ", -1, -1 },
		{ "like a good one falls", "other1, good\n\n", "error1 error2 other2 ", -1, -1 },
		/* Of four that stand out one is bad of one seen; of ten others none of one. */
		{ "both strata", "runs/error1,bad\nrun0,good\n", "error2 other1 other2 ", 4,
		  4 + 9 * (1.6449 * 1.6449) / (1 + 1.6449 * 1.6449) },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GPtrArray) inputs = ordinary(10);
		add_run(inputs, "runs/error1", error);
		add_run(inputs, "runs/error2", fewer);
		add_run(inputs, "runs/other1", innocent);
		add_run(inputs, "runs/other2", innocent);
		g_autotemp *path =
			wp_temp_file_new("verdicts", rows[i].verdicts, strlen(rows[i].verdicts));
		ck_assert(wp_triage_read_verdicts(inputs, path, NULL));
		g_autoptr(WpTriage) made = triage(inputs);
		g_autoptr(GString) order = g_string_new(NULL);
		for (guint k = 0; k < 4 && run_at(made, k)->stands_out; k++)
			if (run_at(made, k)->verdict == WP_TRIAGE_OPEN)
				g_string_append_printf(order, "%s ",
						       run_at(made, k)->name + strlen("runs/"));
		ck_assert_msg(g_str_equal(order->str, rows[i].order), "%s: %s", rows[i].why,
			      order->str);
		ck_assert_msg(ABS(made->expected_bad - rows[i].expected) < 1e-9, "%s: %g",
			      rows[i].why, made->expected_bad);
		ck_assert_msg(ABS(made->most_bad - rows[i].most) < 1e-9, "%s: %g", rows[i].why,
			      made->most_bad);
	}
}
END_TEST

START_TEST(bad_verdicts)
{
	static const struct {
		const char *text;
		int code; /* WP_REPORT_ERROR_... */
	} rows[] = {
		{ "run0\n", WP_REPORT_ERROR_DATA },
		{ "run0,perhaps\n", WP_REPORT_ERROR_DATA },
		{ "run99,bad\n", WP_REPORT_ERROR_DATA },
		{ "run0,good\n,bad\n", WP_REPORT_ERROR_DATA },
		{ "twice,bad\n", WP_REPORT_ERROR_DATA },
	};
	static const Calls calls[MAX_CALLS] = { PAGE(10) };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GPtrArray) inputs = ordinary(1);
		g_autoptr(GError) error = NULL;
		add_run(inputs, "a/twice", calls);
		add_run(inputs, "b/twice", calls);
		g_autotemp *path = wp_temp_file_new("verdicts", rows[i].text, strlen(rows[i].text));
		ck_assert_msg(!wp_triage_read_verdicts(inputs, path, &error), "%s", rows[i].text);
		ck_assert_msg(error->code == rows[i].code && strstr(error->message, "line "), "%s",
			      error->message);
	}
}
END_TEST

/* Half octaves from 1 us. */
START_TEST(times_are_half_octaves)
{
	static const struct {
		gint64 ns;
		guint time;
	} rows[] = { { 0, 0 },        { 999, 0 },
		     { 1000, 0 },     { 2000, 2 },
		     { 2828, 3 },     { 1000000, 20 },
		     { 1024000, 20 }, { G_MAXINT64, WP_CHAIN_NO_RETURN - 1 } };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_uint_eq(wp_chain_time(rows[i].ns), rows[i].time);
}
END_TEST

WP_SUITE("triage", odd_runs_come_first, verdicts_change_the_order, bad_verdicts,
	 times_are_half_octaves)
