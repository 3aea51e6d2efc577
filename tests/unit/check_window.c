/*
 * Windows: whatever the size of a window, every call is answered once, and the patterns are those of the
 * whole, here with the true links. What no engine can know shows only in the counters.
 */
#include <string.h>

#include "infer/map.h"
#include "infer/pattern-sum.h"
#include "infer/window.h"
#include "report/join.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

typedef struct {
	const GArray *parents; /* guint64: of each id */
	WpResolved *resolved;
	WpPatternSum *sum;
	guint8 *taken; /* by id: how often it was answered */
	guint64 next_number;
	gint64 floor_ns;
	guint64 most_spans;
	guint64 n_known;      /* parents from before */
	guint64 fewest_spans; /* but for the last window */
} Run;

/* The true links of the spans that are there. */
static WpLinks *
true_links(const Run *run)
{
	const WpSpans *spans = wp_resolved_spans(run->resolved);
	WpLinks *links = wp_links_new(spans->n);
	g_autoptr(WpMap) span_of = wp_map_new();

	for (guint32 i = 0; i < spans->n; i++)
		wp_map_at(span_of, spans->spans[i].id, i);
	for (guint32 i = 0; i < spans->n; i++) {
		guint64 id = g_array_index(run->parents, guint64, spans->spans[i].id);
		guint32 parent = id ? wp_map_find(span_of, id) : WP_MAP_NONE;
		if (parent != WP_MAP_NONE && wp_span_is_paired(&spans->spans[parent]))
			links->links[i].parent = parent;
		else
			links->links[i].evidence = wp_span_is_paired(&spans->spans[i])
							   ? WP_EVIDENCE_ROOT
							   : WP_EVIDENCE_UNPAIRED;
	}
	return links;
}

/* What was answered before is known: of whole requests, and as it was answered. */
static guint64
check_answered(const Run *run, const WpLinks *links)
{
	const WpSpan *spans = wp_resolved_spans(run->resolved)->spans;
	const WpLink *answered = wp_resolved_answered(run->resolved);
	guint64 n_known = 0;

	for (guint32 i = 0; i < links->n; i++)
		if (spans[i].marks & WP_MARK_ANSWERED) {
			ck_assert_ptr_nonnull(answered);
			/* The return of its parent may not have been there when it was answered. */
			if (answered[i].parent != WP_NO_SPAN)
				ck_assert_uint_eq(answered[i].parent, links->links[i].parent);
			n_known += answered[i].parent != WP_NO_SPAN;
		}
	return n_known;
}

/* Links without what does not stand. */
static void
hide(WpLinks *links, const WpWindowAnswer *answer)
{
	for (guint32 i = 0; i < links->n; i++)
		if (!answer->takes[i])
			links->links[i] =
				(WpLink){ WP_NO_SPAN, WP_NO_SPAN, -1, 0, WP_EVIDENCE_UNSEEN };
}

static gboolean
on_window(WpWindows *windows, const WpTrace *trace, gboolean is_last, gpointer data, GError **error)
{
	Run *run = data;
	WpResolveOptions options;
	wp_resolve_options_init(&options);
	if (!run->resolved)
		run->resolved = wp_resolve(trace, &options, error);
	else if (wp_resolved_next(run->resolved, trace))
		wp_pattern_sum_move(run->sum, run->resolved);
	const WpSpans *spans = wp_resolved_spans(run->resolved);
	g_autoptr(WpLinks) links = true_links(run);
	wp_windows_tell(windows, run->resolved);
	run->n_known += check_answered(run, links);
	const WpWindowAnswer *answer = wp_windows_answer(windows, spans, links);
	for (guint32 i = 0; i < spans->n; i++) {
		guint64 id = spans->spans[i].id;
		ck_assert(!(answer->takes[i] && spans->spans[i].marks & WP_MARK_ANSWERED));
		ck_assert_uint_le(run->taken[id] += answer->takes[i], 1);
		if (answer->takes[i])
			ck_assert_int_ge(spans->spans[i].call_ns, run->floor_ns);
		if (!(spans->spans[i].marks & WP_MARK_CARRIED))
			ck_assert_uint_eq(answer->numbers[i], run->next_number++);
	}
	ck_assert_int_ge(answer->floor_ns, run->floor_ns);
	run->floor_ns = answer->floor_ns;
	run->most_spans = MAX(run->most_spans, spans->n);
	if (!is_last)
		run->fewest_spans = MIN(run->fewest_spans, spans->n);
	hide(links, answer);
	g_autoptr(WpPatternSet) set = wp_patterns_new(run->resolved, links, NULL);
	wp_pattern_sum_add(run->sum, set, NULL);
	return TRUE;
}

/* (transfer full) A pattern a line. */
static char *
describe(const WpPatternSet *set, const WpResolved *resolved)
{
	WpNodes *nodes = wp_trace_nodes(wp_resolved_trace(resolved));
	GString *text = g_string_new(NULL);

	for (guint32 i = 0; i < set->n_patterns; i++) {
		const WpPattern *pattern = &set->patterns[i];
		g_string_append_printf(text, "%u of %.0f: %s >", (guint)pattern->count,
				       pattern->total_ns,
				       wp_resolved_node_name(resolved, pattern->client));
		for (guint32 k = 0; k < pattern->n_nodes; k++) {
			const WpPatternNode *node = &pattern->nodes[k];
			g_string_append_printf(text, " %u %s/%s %.0f", node->depth,
					       wp_resolved_node_name(resolved, node->node),
					       wp_nodes_text(nodes, node->label),
					       wp_delay_sum_ns(node->self_time));
		}
		g_string_append_printf(text, "; slowest at %" G_GINT64_FORMAT "\n",
				       pattern->exemplars[WP_PATTERN_N_EXEMPLARS - 1].begin_ns);
	}
	for (guint32 i = 0; i < set->n_operations; i++) {
		const WpOperation *operation = &set->operations[i];
		g_string_append_printf(text, "%s",
				       wp_resolved_node_name(resolved, operation->node));
		for (guint32 k = 0; k < operation->n_places; k++)
			g_string_append_printf(
				text, " %u %s %.3f %.3f %.3f", operation->places[k].depth,
				wp_resolved_node_name(resolved, operation->places[k].node),
				operation->places[k].calls, operation->places[k].self_ns,
				operation->places[k].delay_ns);
		g_string_append_c(text, '\n');
	}
	return g_string_free(text, FALSE);
}

/* (transfer full) What windows of CALLS and EXAMPLES, or PERIOD_NS, make of TREE. OUT_COUNTERS: by number. */
static char *
run_windows(const WpTree *tree, guint32 calls, guint32 examples, gint64 period_ns,
	    guint64 *out_counters, guint64 *out_most)
{
	Run run = { .parents = tree->parents,
		    .sum = wp_pattern_sum_new(),
		    .taken = g_new0(guint8, tree->parents->len + 1),
		    .floor_ns = G_MININT64,
		    .fewest_spans = G_MAXUINT64 };
	WpNodes *nodes = wp_trace_nodes(tree->trace);
	g_autoptr(WpWindows) windows = wp_windows_new(nodes, calls, examples, on_window, &run);

	wp_windows_set_period(windows, period_ns);
	ck_assert(wp_trace_push(tree->trace, wp_windows_sink(windows), NULL));
	ck_assert(wp_windows_advance(windows, G_MAXINT64, NULL));
	ck_assert(wp_windows_finish(windows, NULL));
	for (guint i = 1; i < tree->parents->len; i++)
		ck_assert_msg(run.taken[i] == 1, "windows of %u: call %u taken %u times", calls, i,
			      run.taken[i]);
	for (int i = 0; out_counters && i < WP_N_COUNTERS; i++)
		out_counters[i] =
			wp_counters_get(wp_trace_counters(wp_windows_trace(windows)), (WpCounter)i);
	if (out_most)
		*out_most = run.most_spans;
	ck_assert_uint_ge(run.fewest_spans, examples);
	ck_assert_uint_ge(run.n_known, examples / 2);
	g_autoptr(WpPatternSet) set = wp_pattern_sum_finish(run.sum, run.resolved);
	char *text = describe(set, run.resolved);
	wp_pattern_sum_free(run.sum);
	wp_resolved_free(run.resolved);
	g_free(run.taken);
	return text;
}

static char *
with_examples(const WpTree *tree, guint32 calls, guint32 examples, guint64 *out_counters,
	      guint64 *out_most)
{
	return run_windows(tree, calls, examples, 0, out_counters, out_most);
}

static char *
in_windows(const WpTree *tree, guint32 calls, guint64 *out_counters, guint64 *out_most)
{
	return with_examples(tree, calls, 0, out_counters, out_most);
}

static char *
whole(const WpTree *tree)
{
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	g_autoptr(WpPatternSet) set = wp_patterns_new(tree->resolved, links, NULL);
	return describe(set, tree->resolved);
}

/* N requests, one every PERIOD us; up to 40 us long, and each tenth LONG us more. */
static WpTree *
make_requests(guint n, guint period, guint longer)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < n; i++) {
		guint t = 1 + i * period, end = t + 20 + i % 7 * 3 + (i % 10 ? 0 : longer);
		g_string_append_printf(text, "c>w/%s[%u-%u](", i % 3 ? "get" : "put", t, end);
		if (i % 4)
			g_string_append_printf(text, "auth[%u-%u],", t + 1, t + 4);
		g_string_append_printf(text, "db/%u[%u-%u](disk[%u-%u])) ", i % 2, t + 5, end - 2,
				       t + 6, end - 4);
	}
	return wp_tree_new(text->str);
}

/* Whatever the size, and whether anything is open at a cut. */
START_TEST(same_as_whole)
{
	static const struct {
		guint period, longer;
	} rows[] = {
		{ 100, 0 }, /* one at a time: nothing is open at a cut */
		{ 9, 0 },   /* several at a time */
		{ 1, 0 },   /* very many */
		{ 9, 300 }, /* some long ones */
	};
	static const guint32 sizes[] = { 50, 64, 201, 500, 100000 };
	const gsize first = (gsize)wp_test_number(0, 2);
	for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
		g_autoptr(WpTree) tree = make_requests((guint)wp_test_number(1000, 400),
						       rows[r].period, rows[r].longer);
		g_autofree char *expected = whole(tree);
		for (gsize s = r < 2 ? first : 3; s < G_N_ELEMENTS(sizes); s++) {
			guint64 counters[WP_N_COUNTERS], most;
			g_autofree char *got = in_windows(tree, sizes[s], counters, &most);
			ck_assert_str_eq(got, expected);
			ck_assert_uint_eq(counters[WP_COUNT_WINDOW_CALLS_LATE], 0);
			ck_assert_uint_eq(counters[WP_COUNT_WINDOWS] > 1, sizes[s] < 100000);
			ck_assert_uint_eq(counters[WP_COUNT_WINDOWS_FORCED], 0);
			ck_assert_uint_le(most, 4 * sizes[s]);
		}
	}
}
END_TEST

/* A window also ends with a period of time, of any length; where calls are always open, it is forced to. */
START_TEST(periods)
{
	static const struct {
		guint period, longer;
	} rows[] = { { 100, 0 }, { 9, 0 }, { 9, 300 } };
	static const gint64 periods_us[] = { 500, 1000, 1000000 };
	for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
		const guint n = (guint)wp_test_number(1000, 500);
		g_autoptr(WpTree) tree = make_requests(n, rows[r].period, rows[r].longer);
		g_autofree char *expected = whole(tree);
		gint64 length_us = n * rows[r].period;
		for (gsize i = r > 0; i < G_N_ELEMENTS(periods_us); i++) {
			guint64 counters[WP_N_COUNTERS];
			g_autofree char *got = run_windows(tree, G_MAXUINT32, 0,
							   periods_us[i] * 1000, counters, NULL);
			ck_assert_str_eq(got, expected);
			ck_assert_uint_eq(counters[WP_COUNT_WINDOW_CALLS_LATE], 0);
			ck_assert_uint_eq(counters[WP_COUNT_WINDOWS_FORCED], 0);
			ck_assert_uint_le(counters[WP_COUNT_WINDOWS],
					  (guint64)(length_us / periods_us[i] + 3));
			ck_assert_uint_eq(counters[WP_COUNT_WINDOWS] > 3, periods_us[i] < 1000000);
		}
	}
}
END_TEST

/* Every window holds examples beside its calls, the first so many more calls; but not much more. */
START_TEST(examples)
{
	static const struct {
		guint32 calls, examples;
	} rows[] = { { 100, 100 }, { 500, 50 }, { 20, 400 }, { 300, 1000 } };
	g_autoptr(WpTree) tree = make_requests(1000, 9, 0);
	g_autofree char *expected = whole(tree);
	for (gsize r = 0; r < (gsize)wp_test_number(G_N_ELEMENTS(rows), 2); r++) {
		guint64 counters[WP_N_COUNTERS], most;
		g_autofree char *got =
			with_examples(tree, rows[r].calls, rows[r].examples, counters, &most);
		ck_assert_str_eq(got, expected);
		ck_assert_uint_eq(counters[WP_COUNT_WINDOW_CALLS_LATE], 0);
		ck_assert_uint_eq(counters[WP_COUNT_WINDOWS_FORCED], 0);
		ck_assert_uint_ge(counters[WP_COUNT_WINDOWS],
				  (3500 - rows[r].examples) / (2 * rows[r].calls));
		ck_assert_uint_le(most, rows[r].examples + 4 * rows[r].calls + 100);
	}
}
END_TEST

/* Windows of fewer calls than a request has, or than are open at once. */
START_TEST(smaller_than_a_request)
{
	g_autoptr(WpTree) tree = make_requests(300, 2, 40);
	for (guint32 calls = 1; calls < 40; calls += (guint32)wp_test_number(3, 19)) {
		guint64 counters[WP_N_COUNTERS], most;
		g_autofree char *got = in_windows(tree, calls, counters, &most);
		ck_assert_ptr_nonnull(got);
		ck_assert_uint_gt(counters[WP_COUNT_WINDOWS], 10);
	}
}
END_TEST

/*
 * One call without an answer holds up the first windows, until it has taken twice as long as any between
 * its nodes; it is there once, and in no pattern.
 */
START_TEST(no_return)
{
	static const char *const lost[] = { "c>w/get[3-] ", "c>x[3-] ", "c>w/get[3-40](db/0[7-]) ",
					    "c>w/get[3]", "c>w/get[3-20]~ c>w/poll[2-9900]~ " };
	for (gsize i = 0; i < G_N_ELEMENTS(lost); i++) {
		g_autoptr(GString) text = g_string_new(lost[i]);
		for (guint k = 0; k < 500; k++)
			g_string_append_printf(text, " c>w/get[%u-%u](db/0[%u-%u])", 10 + 20 * k,
					       40 + 20 * k, 15 + 20 * k, 30 + 20 * k);
		g_autoptr(WpTree) tree = wp_tree_new(text->str);
		g_autofree char *expected = whole(tree);
		for (guint32 calls = 40; calls < 200; calls += (guint32)wp_test_number(50, 100)) {
			guint64 counters[WP_N_COUNTERS], most;
			g_autofree char *got = in_windows(tree, calls, counters, &most);
			if (i < 4)
				ck_assert_str_eq(got, expected);
			ck_assert_uint_ge(counters[WP_COUNT_WINDOWS], 3);
			ck_assert_uint_le(most, 4 * calls);
		}
	}
}
END_TEST

/* A request over many windows: given up, which is counted, and the others are as ever. */
START_TEST(open_over_windows)
{
	g_autoptr(GString) text = g_string_new("c>long[1-20000](db/0[5-12],db/0[19000-19010]) ");
	guint64 counters[WP_N_COUNTERS], most;
	for (guint k = 0; k < 900; k++)
		g_string_append_printf(text, " c>w/get[%u-%u](db/0[%u-%u])", 10 + 20 * k,
				       40 + 20 * k, 15 + 20 * k, 30 + 20 * k);
	g_autoptr(WpTree) tree = wp_tree_new(text->str);
	g_autofree char *got = in_windows(tree, 50, counters, &most);
	ck_assert_ptr_nonnull(strstr(got, "900 of 27000000: c > 0 w/get"));
	ck_assert_ptr_null(strstr(got, "> 0 long"));
	ck_assert_uint_eq(counters[WP_COUNT_WINDOW_CALLS_OPEN], 1);
	ck_assert_uint_gt(counters[WP_COUNT_WINDOWS_FORCED], 0);
	ck_assert_uint_le(most, 200);
	/* In windows that are long enough it is as in the whole. */
	g_autofree char *expected = whole(tree);
	g_autofree char *longer = in_windows(tree, 1500, counters, &most);
	ck_assert_str_eq(longer, expected);
	ck_assert_uint_eq(counters[WP_COUNT_WINDOW_CALLS_OPEN], 0);
}
END_TEST

/* What is learned late of nodes holds for what was answered early. */
START_TEST(knowledge_grows)
{
	static const char *const late[] = {
		"",
		/* a second service on an address: two nodes */
		"10.0.0.1>10.0.0.2:81[90001-90010] ",
		/* ... that sends as well */
		"10.0.0.1>10.0.0.2:81[90001-90010](10.0.0.3:90[90002-90005]) ",
		/* a client that is called */
		"10.0.0.9>10.0.0.1:70[90001-90010] ",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(late); i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		for (guint k = 0; k < 300; k++)
			g_string_append_printf(text,
					       "10.0.0.1>10.0.0.2:80/a[%u-%u](10.0.0.3:90[%u-%u]) ",
					       10 + 50 * k, 40 + 50 * k, 15 + 50 * k, 30 + 50 * k);
		g_string_append(text, late[i]);
		g_autoptr(WpTree) tree = wp_tree_new(text->str);
		g_autofree char *expected = whole(tree);
		g_autofree char *got = in_windows(tree, 100, NULL, NULL);
		ck_assert_str_eq(got, expected);
	}
}
END_TEST

/* More than so many clients are one node, also where the first windows saw fewer. */
START_TEST(clients_fold_late)
{
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint k = 0; k < 600; k++)
		g_string_append_printf(text, "10.1.0.%u>10.0.0.2:80/a[%u-%u](10.0.0.3:90[%u-%u]) ",
				       1 + k / 20, 10 + 50 * k, 40 + 50 * k, 15 + 50 * k,
				       30 + 50 * k);
	g_autoptr(WpTree) tree = wp_tree_new(text->str);
	g_autofree char *expected = whole(tree);
	g_autofree char *got = in_windows(tree, 60, NULL, NULL);
	ck_assert_ptr_nonnull(strstr(expected, "client > 0 10.0.0.2"));
	ck_assert_str_eq(got, expected);
}
END_TEST

/* What windows are told of losses. */
typedef struct {
	WpResolved *resolved;
	guint n_windows;
	guint n_with; /* that know of a loss */
	guint64 of_first;
	guint64 of_last;
} Losses;

static gboolean
on_lossy_window(WpWindows *windows, const WpTrace *trace, gboolean is_last, gpointer data,
		GError **error)
{
	Losses *losses = data;
	WpResolveOptions options;
	wp_resolve_options_init(&options);
	if (!losses->resolved)
		losses->resolved = wp_resolve(trace, &options, error);
	else
		wp_resolved_next(losses->resolved, trace);
	const WpSpans *spans = wp_resolved_spans(losses->resolved);
	g_autoptr(WpLinks) links = wp_links_new(spans->n);
	wp_windows_tell(windows, losses->resolved);
	wp_windows_answer(windows, spans, links);
	guint64 n = wp_counters_get(wp_trace_counted(trace), WP_COUNT_RETURNS_ORPHAN);
	losses->n_with += n > 0;
	if (losses->n_windows++ == 0)
		losses->of_first = n;
	losses->of_last = n;
	return TRUE;
}

/* 5000 returns without a call at the begin, one by one, and two at the end: the windows between saw none. */
START_TEST(losses_have_a_time)
{
	g_autoptr(WpTree) tree = make_requests(300, 9, 0);
	WpNodes *nodes = wp_trace_nodes(tree->trace);
	Losses losses = { 0 };
	g_autoptr(WpCounters) early = wp_counters_new(), all = wp_counters_new();
	g_autoptr(WpWindows) windows = wp_windows_new(nodes, 50, 0, on_lossy_window, &losses);
	WpRecordSink *sink = wp_windows_sink(windows);
	const WpRecord *records = wp_trace_records(tree->trace);

	wp_counters_add_pair(early, WP_COUNT_RETURNS_ORPHAN, 0, 1, 1);
	wp_counters_add_pair(all, WP_COUNT_RETURNS_ORPHAN, 0, 1, 5002);
	ck_assert(wp_sink_begin(sink, nodes, NULL));
	for (gsize i = 0; i < wp_trace_n_records(tree->trace); i++) {
		for (int k = 0; k < 5000 && i == 10; k++)
			ck_assert(wp_sink_counted(sink, early, NULL));
		ck_assert(wp_sink_record(sink, &records[i],
					 wp_trace_tokens(tree->trace, &records[i]), NULL));
	}
	ck_assert(wp_sink_counters(sink, all, NULL));
	ck_assert(wp_windows_finish(windows, NULL));
	ck_assert_uint_ge(losses.n_windows, 6);
	ck_assert_uint_eq(losses.of_first, 5000);
	ck_assert_uint_eq(losses.of_last, 2);
	ck_assert_uint_le(losses.n_with, 3); /* with context of the first */
	ck_assert_uint_eq(wp_counters_get(wp_trace_counters(wp_windows_trace(windows)),
					  WP_COUNT_RETURNS_ORPHAN),
			  5002);
	wp_resolved_free(losses.resolved);
}
END_TEST

WP_SUITE("window", same_as_whole, periods, examples, smaller_than_a_request, no_return,
	 open_over_windows, knowledge_grows, clients_fold_late, losses_have_a_time)
