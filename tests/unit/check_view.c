/* From a trace through inference to the view that writers see. */
#include "report/view.h"

#include <string.h>

#include "capture/trace.h"
#include "report/analysis.h"
#include "report/options.h"
#include "report/view-curve.h"
#include "tests/support/suite.h"

/* An analysis of records written one by one. */
typedef struct {
	WpNodes *nodes;
	WpTrace *trace;
	guint64 id;
	WpOptions *parser;
	WpAnalysisOptions options;
	WpAnalysis *analysis;
	WpView *view;
	gboolean is_stopped;
} Made;

static void
made_init(Made *made)
{
	*made = (Made){ .nodes = wp_nodes_new() };
	made->trace = wp_trace_new(made->nodes);
	made->parser = wp_options_new();
	wp_analysis_declare(made->parser, &made->options, TRUE);
	wp_sink_begin(wp_trace_sink(made->trace), made->nodes, NULL);
}

static void
made_clear(Made *made)
{
	wp_view_free(made->view);
	wp_analysis_free(made->analysis);
	wp_options_free(made->parser);
	wp_analysis_options_clear(&made->options);
	wp_trace_free(made->trace);
	wp_nodes_unref(made->nodes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

/* A call from FROM to TO during BEGIN..END (us), failed or not. */
static void
call(Made *made, const char *from, const char *to, const char *label, gint64 begin, gint64 end,
     gboolean failed)
{
	WpRecord record = {
		.begin_ns = begin * 1000,
		.end_ns = begin * 1000,
		.id = ++made->id,
		.bytes = 100,
		.sender = wp_nodes_by_key(made->nodes, from),
		.receiver = wp_nodes_by_key(made->nodes, to),
		.label = wp_strings_intern(wp_nodes_strings(made->nodes), label, -1),
		.kind = WP_KIND_CALL,
	};
	wp_sink_record(wp_trace_sink(made->trace), &record, NULL, NULL);
	WpRecord back = record;
	back.kind = WP_KIND_RETURN;
	back.sender = record.receiver;
	back.receiver = record.sender;
	back.begin_ns = back.end_ns = end * 1000;
	back.status = failed ? WP_STATUS_ERROR : WP_STATUS_OK;
	wp_sink_record(wp_trace_sink(made->trace), &back, NULL, NULL);
}

static void
message(Made *made, const char *from, const char *to, gint64 at)
{
	WpRecord record = { .begin_ns = at * 1000,
			    .end_ns = at * 1000,
			    .kind = WP_KIND_MESSAGE,
			    .sender = wp_nodes_by_key(made->nodes, from),
			    .receiver = wp_nodes_by_key(made->nodes, to),
			    .id = 1000 + (guint64)at,
			    .bytes = WP_NO_SIZE };
	wp_sink_record(wp_trace_sink(made->trace), &record, NULL, NULL);
}

static const WpView *
view_of(Made *made)
{
	g_autoptr(WpCounters) counters = wp_counters_new();
	g_auto(WpLoadOutcome) outcome = { 0 };
	WpViewOptions shown = { .root = made->options.root,
				.where = made->options.where,
				.is_inference_stopped = made->is_stopped };
	for (guint32 i = wp_nodes_count(made->nodes); i < 3; i++)
		wp_nodes_by_key(made->nodes, i == 2 ? "third" : "second");
	wp_counters_add(counters, WP_COUNT_SEGMENTS, 99);
	wp_counters_add_pair(counters, WP_COUNT_LOST_SEGMENTS, 0, 1, 1);
	wp_counters_add_pair(counters, WP_COUNT_GAPS, 0, 1, 3);
	wp_counters_add_pair(counters, WP_COUNT_GAPS, 1, 0, 5);
	wp_counters_add_pair(counters, WP_COUNT_GAPS, 2, 0, 1);
	wp_counters_add_pair(counters, WP_COUNT_GAPS, 2, 1, 4);
	wp_sink_counters(wp_trace_sink(made->trace), counters, NULL);
	wp_sink_setting(wp_trace_sink(made->trace), "input", "x.pcap", NULL);
	wp_sink_end(wp_trace_sink(made->trace), NULL);
	made->analysis = wp_analysis_new(made->trace, &made->options, TRUE, NULL, &outcome, NULL);
	ck_assert_ptr_nonnull(made->analysis);
	made->view = wp_view_new(made->analysis, &shown);
	return made->view;
}

/*
 *   client > web [0 .. 100]: db [10 .. 30], cache [40 .. 50]      twice, 1000 us apart
 *   client > web [.. 10], another operation                       once, failed
 */
static void
make_two_patterns(Made *made)
{
	for (int i = 0; i < 2; i++) {
		gint64 t = 1000 * i;
		call(made, "client", "web", "GET /", t, t + 100, FALSE);
		call(made, "web", "db", "SELECT", t + 10, t + 30, i == 1);
		call(made, "web", "cache", "GET", t + 40, t + 50, FALSE);
	}
	call(made, "client", "web", "POST /", 5000, 5010, TRUE);
}

START_TEST(numbers)
{
	g_auto(Made) made;
	made_init(&made);
	make_two_patterns(&made);
	const WpView *view = view_of(&made);
	ck_assert_uint_eq(view->n_requests, 3);
	ck_assert_uint_eq(view->n_calls, 7);
	ck_assert_uint_eq(view->n_nodes, 4);
	ck_assert_double_eq(view->total_ns, 210e3);
	ck_assert_uint_eq(view->n_patterns, 2);
	const WpViewPattern *first = &view->patterns[0];
	ck_assert_uint_eq(first->rank, 1);
	ck_assert_uint_eq(first->count, 2);
	ck_assert_double_eq_tol(first->share, 200.0 / 210, 1e-9);
	ck_assert_uint_eq(first->n_nodes, 3);
	ck_assert_str_eq(first->nodes[1].node, "db");
	ck_assert_str_eq(first->nodes[2].label, "GET");
	ck_assert_double_eq(first->nodes[0].self.mean_ns, 70e3);
	ck_assert_double_eq_tol(first->nodes[0].self_share, 0.7, 1e-9);
	ck_assert(first->nodes[0].is_hottest && !first->nodes[1].is_hottest);
	ck_assert_double_eq(first->nodes[2].delay.mean_ns, 40e3);
	ck_assert(!first->nodes[1].is_last && first->nodes[2].is_last);
	ck_assert_uint_eq(first->nodes[1].errors, 1);
	ck_assert_uint_eq(view->patterns[1].errors, 1);
	ck_assert_uint_eq(view->n_operations, 2);
	ck_assert_str_eq(view->operations[0].label, "GET /");
	ck_assert_str_eq(view->operations[0].shares[0].node, "web");
}
END_TEST

/* Uncertain patterns are one row of their operation, or shown where that is asked for; nobody is lost. */
START_TEST(uncertain_patterns_fold)
{
	for (int unfolds = 0; unfolds < 2; unfolds++) {
		g_auto(Made) made;
		made_init(&made);
		make_two_patterns(&made);
		view_of(&made);
		made.analysis->patterns->patterns[0].is_uncertain = TRUE;
		const WpViewOptions shown = { .unfolds = unfolds };
		g_autoptr(WpView) view = wp_view_new(made.analysis, &shown);
		const WpViewUncertain *row = &view->operations[0].uncertain;
		ck_assert_uint_eq(view->n_requests, 3);
		ck_assert_uint_eq(view->n_patterns, unfolds ? 2 : 1);
		ck_assert_uint_eq(view->n_uncertain, unfolds ? 0 : 2);
		ck_assert_uint_eq(view->operations[0].n_patterns, unfolds ? 1 : 0);
		ck_assert_uint_eq(row->n_patterns, unfolds ? 0 : 1);
		ck_assert_uint_eq(row->count, unfolds ? 0 : 2);
		ck_assert_double_eq_tol(row->share, unfolds ? 0 : 200.0 / 210, 1e-9);
		ck_assert_double_eq(row->latency.mean_ns, unfolds ? 0 : 100e3);
		ck_assert_uint_eq(view->patterns[0].rank, 1);
		ck_assert_uint_eq(view->patterns[0].operation, unfolds ? 0 : 1);
		ck_assert_uint_eq(view->operations[0].count, 2);
	}
}
END_TEST

/* Self time by node adds up to all self time. */
START_TEST(totals)
{
	g_auto(Made) made;
	double sum = 0;
	made_init(&made);
	make_two_patterns(&made);
	const WpView *view = view_of(&made);
	ck_assert_uint_eq(view->n_totals, 3);
	ck_assert_str_eq(view->totals[0].node, "web");
	ck_assert_double_eq(view->totals[0].self_ns, 150e3);
	for (guint32 i = 0; i < view->n_totals; i++)
		sum += view->totals[i].share;
	ck_assert_double_eq_tol(sum, 1, 1e-9);
}
END_TEST

/* Losses first; of the pairs the worst three, in order. */
START_TEST(losses)
{
	g_auto(Made) made;
	made_init(&made);
	make_two_patterns(&made);
	const WpViewQuality *quality = &view_of(&made)->quality;
	ck_assert_uint_eq(quality->n_counters, 3);
	ck_assert_int_eq(quality->counters[0].level, WP_VIEW_LOSS);
	ck_assert_str_eq(quality->counters[0].name, "tcp-gaps");
	ck_assert_uint_eq(quality->counters[0].count, 13);
	ck_assert_uint_eq(quality->counters[0].n_pairs, 4);
	ck_assert_uint_eq(quality->counters[0].pairs[0].count, 5);
	ck_assert_uint_eq(quality->counters[0].pairs[1].count, 4);
	ck_assert_uint_eq(quality->counters[0].pairs[2].count, 3);
	ck_assert_int_eq(quality->counters[2].level, WP_VIEW_FACT);
	ck_assert_double_eq_tol(quality->loss_share, 0.01, 1e-9);
}
END_TEST

/* Three equal calls in a row are one node; two are two. */
START_TEST(repeats)
{
	g_auto(Made) made;
	made_init(&made);
	call(&made, "client", "web", "GET /", 0, 1000, FALSE);
	for (int i = 0; i < 5; i++)
		call(&made, "web", "db", "SELECT", 100 * i + 10, 100 * i + 20 + i, FALSE);
	call(&made, "web", "cache", "GET", 800, 810, FALSE);
	call(&made, "web", "cache", "GET", 820, 830, FALSE);
	const WpViewPattern *pattern = &view_of(&made)->patterns[0];
	ck_assert_uint_eq(pattern->n_nodes, 4);
	ck_assert_uint_eq(pattern->nodes[1].repeat, 5);
	ck_assert_uint_eq(pattern->nodes[1].count, 5);
	ck_assert_double_eq(pattern->nodes[1].latency.mean_ns, 12e3);
	ck_assert_double_eq(pattern->nodes[1].delay.mean_ns, 10e3);
	ck_assert_uint_eq(pattern->nodes[2].repeat, 1);
	ck_assert_uint_eq(pattern->nodes[3].parent, 0);
}
END_TEST

static int
engine_number(const char *name)
{
	int i = 0;
	while (strcmp(wp_engines[i]->name, name) != 0)
		i++;
	return i + 1;
}

/*
 * How far links can be trusted depends on how many had one possible parent, and with an engine that
 * knows odds on these: requests that all make the same call at the same time are told apart.
 */
START_TEST(trust)
{
	static const struct {
		const char *engine;
		int overlapping; /* of ten requests */
		guint n_lost;    /* packets, of a thousand */
		WpViewTrust trust;
	} rows[] = { { "scoreboard", 0, 1, WP_VIEW_TRUST_HIGH },
		     { "scoreboard", 3, 1, WP_VIEW_TRUST_MIXED },
		     { "scoreboard", 9, 1, WP_VIEW_TRUST_LOW },
		     { "scoreboard", 0, 2, WP_VIEW_TRUST_HIGH },
		     { "scoreboard", 0, 20, WP_VIEW_TRUST_MIXED },
		     { "nesting", 0, 1, WP_VIEW_TRUST_HIGH },
		     { "nesting", 9, 1, WP_VIEW_TRUST_HIGH },
		     { "nesting", 0, 20, WP_VIEW_TRUST_HIGH },
		     { "nesting", 0, 80, WP_VIEW_TRUST_MIXED },
		     { "nesting", 0, 200, WP_VIEW_TRUST_LOW } };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(Made) made;
		g_autoptr(WpCounters) counters = wp_counters_new();
		made_init(&made);
		made.options.engine = engine_number(rows[i].engine);
		for (int k = 0; k < 10; k++) {
			gint64 t = 1000 * k;
			gint64 end = t + (k < rows[i].overlapping ? 1500 : 500);
			call(&made, "client", "web", "GET /", t, end, FALSE);
			call(&made, "web", "db", "SELECT", t + 100, t + 200, FALSE);
		}
		wp_counters_add(counters, WP_COUNT_PACKETS, 1000 - rows[i].n_lost);
		wp_counters_add(counters, WP_COUNT_LOST_PACKETS, rows[i].n_lost);
		ck_assert(wp_sink_counters(wp_trace_sink(made.trace), counters, NULL));
		ck_assert_msg(view_of(&made)->links.trust == rows[i].trust, "row %zu: %d", i,
			      view_of(&made)->links.trust);
	}
	g_auto(Made) flat;
	made_init(&flat);
	call(&flat, "client", "web", "GET /", 0, 10, FALSE);
	ck_assert_int_eq(view_of(&flat)->links.trust, WP_VIEW_TRUST_NONE);

	g_auto(Made) stopped;
	made_init(&stopped);
	make_two_patterns(&stopped);
	stopped.is_stopped = TRUE;
	ck_assert_int_eq(view_of(&stopped)->links.trust, WP_VIEW_TRUST_STOPPED);
}
END_TEST

/* --root: what lies above is gone. --where: whole requests stay. */
START_TEST(selection)
{
	g_auto(Made) rooted, chosen, none;
	made_init(&rooted);
	make_two_patterns(&rooted);
	rooted.options.root = "db";
	const WpView *view = view_of(&rooted);
	ck_assert_uint_eq(view->n_requests, 2);
	ck_assert_uint_eq(view->n_calls, 2);
	ck_assert_str_eq(view->patterns[0].client, "web");
	ck_assert_str_eq(view->root, "db");

	made_init(&chosen);
	make_two_patterns(&chosen);
	chosen.options.where = "dst == db && status == error";
	view = view_of(&chosen);
	ck_assert_uint_eq(view->n_requests, 1);
	ck_assert_uint_eq(view->n_calls, 3);

	made_init(&none);
	make_two_patterns(&none);
	none.options.where = "dst == db && dst == cache";
	view = view_of(&none);
	ck_assert_uint_eq(view->n_requests, 0);
	ck_assert_uint_eq(view->n_patterns, 0);
}
END_TEST

/*
 *   client > web [0 .. 100]: db [10 .. 30], cache [20 .. 40], log [50]      log: a message
 */
START_TEST(siblings)
{
	g_auto(Made) made;
	made_init(&made);
	call(&made, "client", "web", "GET /", 0, 100, FALSE);
	call(&made, "web", "db", "SELECT", 10, 30, FALSE);
	call(&made, "web", "cache", "GET", 20, 40, FALSE);
	message(&made, "web", "log", 50);
	const WpView *view = view_of(&made);
	const WpViewPattern *pattern = &view->patterns[0];
	ck_assert_uint_eq(pattern->n_nodes, 4);
	ck_assert(!pattern->nodes[0].is_parallel);
	ck_assert(pattern->nodes[1].is_parallel && pattern->nodes[2].is_parallel);
	ck_assert(!pattern->nodes[3].is_parallel);
	ck_assert_uint_eq(pattern->nodes[2].n_messages, 0);
	ck_assert_uint_eq(pattern->nodes[3].n_messages, 1);
	ck_assert_uint_eq(view->lots[WP_VIEW_IN_REQUESTS].calls, 3);
	ck_assert_uint_eq(view->lots[WP_VIEW_IN_REQUESTS].messages, 1);
}
END_TEST

/* Every number of the page that counts the same calls or adds up the same times. */
static void
check_sums(const WpView *view, const char *name)
{
	WpViewCount in_patterns = { 0, 0 }, in_totals = { 0, 0 }, in_operations = { 0, 0 },
		    in_places = { 0, 0 };
	guint64 n_requests = 0, n_of_operations = 0, n_rows = 0;
	double self_of_patterns = 0, self_of_totals = 0, total_ns = 0;
	for (guint32 i = 0; i < view->n_patterns; i++) {
		const WpViewPattern *pattern = &view->patterns[i];
		n_requests += pattern->is_background ? 0 : pattern->count;
		total_ns += pattern->is_background ? 0 : pattern->total_ns;
		for (guint32 k = 0; k < pattern->n_nodes && !pattern->is_background; k++) {
			in_patterns.calls += pattern->nodes[k].count - pattern->nodes[k].n_messages;
			in_patterns.messages += pattern->nodes[k].n_messages;
			self_of_patterns += pattern->nodes[k].self.sum_ns;
		}
	}
	for (guint32 i = 0; i < view->n_operations; i++) {
		const WpViewOperation *operation = &view->operations[i];
		n_rows += operation->n_shares;
		n_of_operations += operation->is_background ? 0 : operation->count;
		for (guint32 k = 0; k < operation->n_shares && !operation->is_background; k++) {
			in_operations.calls += operation->shares[k].count;
			in_operations.messages += operation->shares[k].n_messages;
		}
	}
	for (guint32 i = 0; i < view->n_totals; i++) {
		in_totals.calls += view->totals[i].count;
		in_totals.messages += view->totals[i].n_messages;
		self_of_totals += view->totals[i].self_ns;
	}
	for (int i = 0; i < WP_VIEW_N_LOTS; i++) {
		in_places.calls += view->lots[i].calls;
		in_places.messages += view->lots[i].messages;
	}
	const WpViewCount *requests = &view->lots[WP_VIEW_IN_REQUESTS];
	ck_assert_msg(n_requests <= view->n_requests &&
			      n_requests + view->n_uncertain >= view->n_requests &&
			      n_of_operations == view->n_requests,
		      "%s: requests", name);
	ck_assert_msg(memcmp(&in_patterns, requests, sizeof in_patterns) == 0, "%s: patterns",
		      name);
	/* What is expected is rounded in each row, and a few calls may belong to no path. */
	double expected = (double)(requests->calls + view->lots[WP_VIEW_IN_UNCERTAIN].calls);
	ck_assert_double_eq_tol((double)in_operations.calls, expected, 0.01 * expected + n_rows);
	ck_assert_double_eq_tol((double)in_totals.calls, expected,
				0.01 * expected + view->n_totals);
	ck_assert_msg(in_places.calls == view->n_calls && in_places.messages == view->n_messages,
		      "%s: places", name);
	if (view->n_uncertain == 0)
		ck_assert_double_eq_tol(self_of_patterns, self_of_totals, 0.02 * self_of_totals);
	if (view->n_uncertain == 0)
		ck_assert_double_eq_tol(total_ns, view->total_ns, 1);
}

static guint64
counted(const WpView *view, const char *name)
{
	for (guint32 i = 0; i < view->quality.n_counters; i++)
		if (strcmp(view->quality.counters[i].name, name) == 0)
			return view->quality.counters[i].count;
	return 0;
}

/* The numbers of one page add up, whatever the input and the selection. */
START_TEST(sums)
{
	static const struct {
		const char *file;
		const char *where;
		const char *root;
		gboolean is_capture; /* whole: its counters know the same calls */
	} rows[] = {
		{ "traces/shop/input.pcap.gz", NULL, NULL, TRUE },
		{ "traces/shop-busy/input.pcap.gz", NULL, NULL, TRUE },
		{ "traces/shop/input.pcap.gz", "status != ok", NULL, FALSE },
		{ "traces/shop/input.pcap.gz", NULL, "10.20.0.32", FALSE },
		{ "tests/cli/in/shop.trace", NULL, NULL, FALSE },
		{ "tests/cli/in/background.trace", NULL, NULL, FALSE },
		{ "tests/cli/in/push.trace", NULL, NULL, FALSE },
		{ "tests/cli/in/hostile.trace", NULL, NULL, FALSE },
	};
	for (gsize i = (gsize)wp_test_number(0, 4); i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpOptions) parser = wp_options_new();
		WpAnalysisOptions options = { .where = rows[i].where, .root = rows[i].root };
		g_autofree char *path =
			g_build_filename(g_getenv("TOP_SRCDIR"), rows[i].file, NULL);
		char *operands[] = { path, NULL };
		g_autoptr(WpProgress) progress = wp_progress_new(TRUE);
		const WpInvocation invocation = { .operands = operands,
						  .n_operands = 1,
						  .is_quiet = TRUE,
						  .progress = progress };
		const WpLoadOptions load = { .filter = NULL };
		g_auto(WpLoadOutcome) outcome = { 0 };
		wp_analysis_declare(parser, &options, TRUE);
		g_autoptr(WpTrace) trace = wp_load_trace(&invocation, &load, &outcome, NULL);
		ck_assert_msg(trace != NULL, "%s cannot be read", path);
		g_autoptr(WpAnalysis) analysis =
			wp_analysis_new(trace, &options, TRUE, NULL, &outcome, NULL);
		ck_assert_ptr_nonnull(analysis);
		g_autoptr(WpView) view = wp_view_new(analysis, &(const WpViewOptions){ 0 });
		ck_assert_uint_gt(view->n_requests, 0);
		check_sums(view, rows[i].file);
		if (rows[i].is_capture) {
			ck_assert_uint_eq(view->n_calls + view->setup.calls,
					  counted(view, "calls"));
			ck_assert_uint_eq(view->n_messages + view->setup.messages,
					  counted(view, "messages"));
		}
		wp_analysis_options_clear(&options);
	}
}
END_TEST

/* Latencies 100, 103 .. 217 us, and 900 us: every request in one bin, none finer than need be. */
START_TEST(latency_bins)
{
	g_auto(Made) made;
	made_init(&made);
	for (int i = 0; i < 40; i++)
		call(&made, "client", "web", "GET /", 2000 * i, 2000 * i + 100 + 3 * i, FALSE);
	call(&made, "client", "web", "GET /", 90000, 90900, FALSE);
	const WpView *view = view_of(&made);
	g_autoptr(GArray) bins = wp_view_latency_bins(view, &view->operations[0]);
	guint64 n = 0;
	gint64 end_ns = 0;
	for (guint i = 0; i < bins->len; i++) {
		const WpViewBin *bin = &g_array_index(bins, WpViewBin, i);
		ck_assert_int_ge(bin->low_ns, end_ns);
		ck_assert_int_gt(bin->high_ns, bin->low_ns);
		ck_assert_int_le(bin->high_ns - bin->low_ns, bin->low_ns / 16);
		ck_assert_uint_gt(bin->count, 0);
		n += bin->count;
		end_ns = bin->high_ns;
	}
	ck_assert_uint_eq(n, 41);
	ck_assert_int_le(g_array_index(bins, WpViewBin, 0).low_ns, 100000);
	ck_assert_int_gt(end_ns, 900000);
	ck_assert_uint_lt(bins->len, 41);
}
END_TEST

WP_SUITE("view", numbers, uncertain_patterns_fold, totals, losses, repeats, trust, selection,
	 siblings, sums, latency_bins)
