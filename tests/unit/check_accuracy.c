/* Accuracy: the paper's example, both layouts of truth, matching, and files that make no sense. */
#include "infer/accuracy.h"

#include <string.h>

#include "infer/pattern.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"
#include "tests/support/tree.h"

#define TRUTH_HEAD                                                                                 \
	"call_id,parent_call_id,t_call_us,t_return_us,src_ip,src_port,dst_ip,dst_port,operation\n"
#define CALLS_HEAD                                                                                 \
	"call_id,parent_id,t_call,t_return,src_ip,src_port,dst_ip,dst_port,src,dst,confidence\n"

static WpTruth *
truth_of(const char *text, GError **error)
{
	g_autotemp *path = wp_temp_file_new(".csv", text, strlen(text));
	return wp_truth_read(path, error);
}

static WpFound *
found_of(const char *text, GError **error)
{
	g_autotemp *path = wp_temp_file_new(".csv", text, strlen(text));
	return wp_found_read(path, error);
}

static WpAccuracy *
measure(const char *truth_text, const char *found_text)
{
	g_autoptr(WpTruth) truth = truth_of(truth_text, NULL);
	g_autoptr(WpFound) found = found_of(found_text, NULL);
	ck_assert_ptr_nonnull(truth);
	ck_assert_ptr_nonnull(found);
	return wp_accuracy_measure(truth, found, NULL);
}

/*
 * The paper, 7.5.1: A->B->C->D happened twice; found were A->B->C->D, A->B and C->D. False negatives
 * and positives: 0 and 2 patterns, 1 and 2 instances; 3 of 6 messages are not ascribed rightly.
 */
START_TEST(example_of_the_paper)
{
	g_autoptr(WpAccuracy) accuracy =
		measure(TRUTH_HEAD "1,,1000,1900,10.0.0.1,1001,10.0.0.2,80,x\n"
				   "2,1,1100,1800,10.0.0.2,1002,10.0.0.3,80,x\n"
				   "3,2,1200,1700,10.0.0.3,1003,10.0.0.4,80,x\n"
				   "4,,21000,21900,10.0.0.1,1004,10.0.0.2,80,x\n"
				   "5,4,21100,21800,10.0.0.2,1005,10.0.0.3,80,x\n"
				   "6,5,21200,21700,10.0.0.3,1006,10.0.0.4,80,x\n",
			CALLS_HEAD "a,,0.0010,0.0019,10.0.0.1,1001,10.0.0.2,80,A,B,\n"
				   "b,a,0.0011,0.0018,10.0.0.2,1002,10.0.0.3,80,B,C,\n"
				   "c,b,0.0012,0.0017,10.0.0.3,1003,10.0.0.4,80,C,D,\n"
				   "d,,0.0210,0.0219,10.0.0.1,1004,10.0.0.2,80,A,B,\n"
				   "e,,0.0212,0.0217,10.0.0.3,1006,10.0.0.4,80,C,D,\n");

	ck_assert_uint_eq(accuracy->patterns.false_negatives, 0);
	ck_assert_uint_eq(accuracy->patterns.false_positives, 2);
	ck_assert_uint_eq(accuracy->instances.false_negatives, 1);
	ck_assert_uint_eq(accuracy->instances.false_positives, 2);
	ck_assert_uint_eq(accuracy->n_messages_wrong, 3);
	ck_assert_uint_eq(accuracy->n_messages, 6);
	ck_assert_uint_eq(accuracy->patterns.n_true, 1);
	ck_assert_uint_eq(accuracy->patterns.n_found, 3);
	/* shares 1 against 1/3, and twice 1/3 for nothing */
	ck_assert_double_eq_tol(accuracy->pattern_distance, 2.0 / 3, 1e-12);
	ck_assert_uint_eq(accuracy->all.n_calls, 6);
	ck_assert_uint_eq(accuracy->all.n_found, 5);
	ck_assert_uint_eq(accuracy->all.n_links, 4);
	ck_assert_uint_eq(accuracy->all.n_links_right, 2);
	ck_assert_uint_eq(accuracy->all.n_traces, 2);
	ck_assert_uint_eq(accuracy->all.n_traces_exact, 1);
	ck_assert_uint_eq(accuracy->n_roots_right, 2);
	ck_assert_uint_eq(accuracy->n_judged, 0);
	/* self times of the pattern that both have */
	ck_assert_uint_eq(accuracy->n_selfs, 3);
	ck_assert_str_eq(accuracy->selfs[1].node, "C");
	ck_assert_double_eq(accuracy->selfs[1].true_ns, 200e3);
	ck_assert_double_eq_tol(accuracy->self_error, 0, 1e-12);
}
END_TEST

/*
 * One flow, from row to row: which calls match. Times in us; a call at 5300 is nearer to row 2 at 5200
 * than to row 1 at 5000.
 */
START_TEST(matching)
{
	static const struct {
		const char *why, *calls;
		guint n_found, n_false, n_dont_care, n_returns_right;
	} rows[] = {
		{ "exact", "a,,0.005,0.006,1.1.1.1,1,2.2.2.2,2,,,\n", 1, 0, 0, 1 },
		{ "half a millisecond off, return two", "a,,0.0045,0.008,1.1.1.1,1,2.2.2.2,2,,,\n",
		  1, 0, 0, 0 },
		{ "over a millisecond off", "a,,0.0035,,1.1.1.1,1,2.2.2.2,2,,,\n", 0, 1, 0, 0 },
		{ "another flow", "a,,0.005,,1.1.1.1,1,2.2.2.2,3,,,\n", 0, 1, 0, 0 },
		{ "one to one, the nearest first",
		  "a,,0.0050,,1.1.1.1,1,2.2.2.2,2,,,\nb,,0.0051,,1.1.1.1,1,2.2.2.2,2,,,\n"
		  "c,,0.0053,,1.1.1.1,1,2.2.2.2,2,,,\n",
		  2, 1, 0, 0 },
		{ "equally near: the return decides",
		  "a,,0.0051,0.0071,1.1.1.1,1,2.2.2.2,2,,,\nb,,0.0051,0.006,1.1.1.1,1,2.2.2.2,2,,,"
		  "\n",
		  2, 0, 0, 2 },
		{ "set-up: neither found nor false", "a,,0.0201,,1.1.1.1,1,2.2.2.2,2,,,\n", 0, 0, 1,
		  0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *calls = g_strconcat(CALLS_HEAD, rows[i].calls, NULL);
		g_autoptr(WpAccuracy) accuracy = measure(
			TRUTH_HEAD "1,,5000,6000,1.1.1.1,1,2.2.2.2,2,x\n"
				   "2,,5200,7100,1.1.1.1,1,2.2.2.2,2,\"SELECT a, \"\"b\"\"\"\n"
				   "3,,20000,,1.1.1.1,1,2.2.2.2,2,(login)\n",
			calls);
		ck_assert_msg(accuracy->all.n_found == rows[i].n_found, "%s", rows[i].why);
		ck_assert_msg(accuracy->n_false == rows[i].n_false, "%s", rows[i].why);
		ck_assert_msg(accuracy->n_dont_care == rows[i].n_dont_care, "%s", rows[i].why);
		ck_assert_msg(accuracy->n_returns_right == rows[i].n_returns_right, "%s",
			      rows[i].why);
		ck_assert_uint_eq(accuracy->all.n_calls, 2);
	}
}
END_TEST

/* Captures taken on every host: a flow is judged on the one clock that fits most of its calls. */
START_TEST(clocks)
{
	g_autoptr(WpAccuracy) accuracy = measure(
		"call_id,parent_call_id,t_call_us,t_call_src_us,t_call_dst_us,t_return_us,src_ip,"
		"src_port,dst_ip,dst_port,operation\n"
		"1,,5000,9000,5000,,1.1.1.1,1,2.2.2.2,2,x\n"
		"2,,8000,12000,,,1.1.1.1,1,2.2.2.2,2,x\n",
		CALLS_HEAD
		"a,,0.0091,,1.1.1.1,1,2.2.2.2,2,,,\nb,,0.0121,,1.1.1.1,1,2.2.2.2,2,,,\n");
	ck_assert_uint_eq(accuracy->all.n_found, 2);
}
END_TEST

/* A set-up exchange that hangs inside a request does not spoil its tree; its children move up. */
START_TEST(setup_is_taken_out)
{
	g_autoptr(WpAccuracy) accuracy =
		measure(TRUTH_HEAD "1,,1000,9000,1.1.1.1,1,2.2.2.2,2,x\n"
				   "2,1,5000,6000,2.2.2.2,3,3.3.3.3,4,x\n"
				   "3,,3000,7000,2.2.2.2,5,2.2.2.2,6,(login)\n",
			CALLS_HEAD "a,,0.001,0.009,1.1.1.1,1,2.2.2.2,2,,,\n"
				   "b,a,0.005,0.006,2.2.2.2,3,3.3.3.3,4,,,\n"
				   "c,a,0.003,0.007,2.2.2.2,5,2.2.2.2,6,,,\n");
	ck_assert_uint_eq(accuracy->all.n_traces, 1);
	ck_assert_uint_eq(accuracy->all.n_traces_exact, 1);
	ck_assert_uint_eq(accuracy->instances.false_positives, 0);
	ck_assert_uint_eq(accuracy->n_links_reported, 1);
}
END_TEST

/*
 * Span sets: two requests side by side, the inner call of the second given to the first.
 *
 *   client>web [0-100]            client>web [5-105]
 *             db  [10-50]                   db  [20-60]  (wrong)
 */
START_TEST(span_sets)
{
	g_autoptr(WpTree) tree =
		wp_tree_new("client>web[0-100](db[10-50]) client>web[5-105](db[20-60])"
			    "client>web[200-300](db[210-220](disk[211-212]))");
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	g_autoptr(WpTruth) truth =
		truth_of("call_id,parent_id\n1,\n2,1\n3,\n4,3\n5,\n6,5\n7,6\n", NULL);
	links->links[wp_tree_span(tree, 4)].parent = wp_tree_span(tree, 1);
	for (guint32 i = 0; i < links->n; i++)
		links->links[i].probability = 1;
	links->links[wp_tree_span(tree, 4)].probability = 0.25f;
	g_autoptr(WpFound) found = wp_found_new(tree->resolved, links);
	g_autoptr(WpAccuracy) accuracy = wp_accuracy_measure(truth, found, NULL);
	const WpAccuracyRow *one = &accuracy->classes[0], *two = &accuracy->classes[1];

	ck_assert_uint_eq(accuracy->all.n_calls, 7);
	ck_assert_uint_eq(accuracy->all.n_found, 7);
	ck_assert_uint_eq(accuracy->all.n_links, 4);
	ck_assert_uint_eq(accuracy->all.n_links_right, 3);
	ck_assert_uint_eq(accuracy->all.n_traces, 3);
	ck_assert_uint_eq(accuracy->all.n_traces_right, 2);
	ck_assert_uint_eq(accuracy->all.n_traces_exact, 1); /* the first has a call too many */
	ck_assert_uint_eq(accuracy->all.n_traces_scope, 2);
	/* db is called inside two requests at a time, then inside one */
	ck_assert_str_eq(two->name, "2");
	ck_assert_uint_eq(two->n_links, 2);
	ck_assert_uint_eq(two->n_links_right, 1);
	ck_assert_uint_eq(two->n_traces, 2);
	ck_assert_uint_eq(one->n_links, 2);
	ck_assert_uint_eq(one->n_traces_exact, 1);
	ck_assert_double_eq(accuracy->parallelism, 1.5);
	/* edges by name */
	ck_assert_uint_eq(accuracy->n_edges, 2);
	ck_assert_str_eq(accuracy->edges[0].caller, "db");
	ck_assert_str_eq(accuracy->edges[1].callee, "db");
	ck_assert_uint_eq(accuracy->edges[1].n, 3);
	ck_assert_uint_eq(accuracy->edges[1].right, 2);
	/* 1 is right thrice, 0.25 is wrong: 0.25 / 4 */
	ck_assert_uint_eq(accuracy->n_judged, 4);
	ck_assert_double_eq_tol(accuracy->calibration_error, 0.0625, 1e-9);
	ck_assert_double_eq(accuracy->auc, 1);
	ck_assert_double_eq(accuracy->coverage, 0.75);
	/* as sure of the wrong one: who takes the right ones takes that too */
	links->links[wp_tree_span(tree, 4)].probability = 1;
	g_autoptr(WpFound) sure = wp_found_new(tree->resolved, links);
	g_autoptr(WpAccuracy) again = wp_accuracy_measure(truth, sure, NULL);
	ck_assert_double_eq(again->coverage, 0);
	/* web(db) twice and web(db(disk)), against web(db,db), web, web(db(disk)) */
	ck_assert_uint_eq(accuracy->patterns.n_true, 2);
	ck_assert_uint_eq(accuracy->patterns.false_negatives, 1);
	ck_assert_uint_eq(accuracy->patterns.false_positives, 2);
	ck_assert_uint_eq(accuracy->n_messages_wrong, 4);
}
END_TEST

/* A node that two others call is out of scope of the published whole-trace accuracy. */
START_TEST(scope)
{
	g_autoptr(WpTree) tree =
		wp_tree_new("c>a[0-90](s[10-30](d[11-12])) c>b[0-95](s[12-32](d[13-14]))");
	g_autoptr(WpTruth) truth =
		truth_of("call_id,parent_id\n1,\n2,1\n3,2\n4,\n5,4\n6,5\n", NULL);
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	links->links[wp_tree_span(tree, 6)].parent = wp_tree_span(tree, 2);
	g_autoptr(WpFound) found = wp_found_new(tree->resolved, links);
	g_autoptr(WpAccuracy) accuracy = wp_accuracy_measure(truth, found, NULL);
	ck_assert_uint_eq(accuracy->all.n_traces_right, 1);
	ck_assert_uint_eq(accuracy->all.n_traces_scope, 2);
}
END_TEST

/* A pattern of one call, to the node with this last byte: how often it happened, and was found. */
typedef struct {
	char callee;
	guint truly, found;
} Count;

static WpAccuracy *
measure_counts(const Count *counts, gsize n)
{
	g_autoptr(GString) truth = g_string_new(TRUTH_HEAD);
	g_autoptr(GString) calls = g_string_new(CALLS_HEAD);
	guint at = 0;

	for (gsize i = 0; i < n; i++)
		for (guint k = 0; k < MAX(counts[i].truly, counts[i].found); k++) {
			at += 10000;
			if (k < counts[i].truly)
				g_string_append_printf(truth, "%u,,%u,,9.9.9.9,1,9.0.0.%d,2,x\n",
						       at, at, counts[i].callee);
			if (k < counts[i].found)
				g_string_append_printf(
					calls, "%u,,%u.%06u,,9.9.9.9,1,9.0.0.%d,2,,,\n", at,
					at / 1000000, at % 1000000, counts[i].callee);
		}
	return measure(truth->str, calls->str);
}

/* Figure 17. True: a 100, b 50, c 49, d 10. Found: a 90, c 50, b 49, e 30, d 10. */
START_TEST(top_n)
{
	static const Count counts[] = {
		{ 'a', 100, 90 }, { 'b', 50, 49 }, { 'c', 49, 50 }, { 'd', 10, 10 }, { 'e', 0, 30 }
	};
	/* of N: missing at 0, 2 and 6 % */
	static const guint expected[][WP_ACCURACY_N_TOLERANCES] = {
		{ 0, 0, 0 }, /* a */
		{ 1, 0, 0 }, /* b has 49 of the 50 that c has: exactly 2 % short */
		{ 0, 0, 0 },
		{ 1, 1, 1 }, /* e displaces d */
	};
	g_autoptr(WpAccuracy) accuracy = measure_counts(counts, G_N_ELEMENTS(counts));
	ck_assert_uint_eq(accuracy->n_top, G_N_ELEMENTS(expected));
	for (gsize n = 0; n < G_N_ELEMENTS(expected); n++)
		for (int t = 0; t < WP_ACCURACY_N_TOLERANCES; t++)
			ck_assert_msg(accuracy->top[n].false_negatives[t] == expected[n][t],
				      "top %u, tolerance %d: %u", (guint)n + 1, t,
				      accuracy->top[n].false_negatives[t]);
}
END_TEST

/* Of 1000 requests each: a, b and f are truly more than 0.5 %, a, d and f are found so; e is exactly that. */
START_TEST(frequent)
{
	static const Count counts[] = { { 'a', 973, 973 }, { 'b', 6, 0 }, { 'c', 4, 5 },
					{ 'd', 0, 6 },     { 'e', 5, 5 }, { 'f', 12, 11 } };
	g_autoptr(WpAccuracy) accuracy = measure_counts(counts, G_N_ELEMENTS(counts));

	ck_assert_uint_eq(accuracy->instances.n_true, 1000);
	ck_assert_uint_eq(accuracy->instances.n_found, 1000);
	ck_assert_uint_eq(accuracy->frequent.n_true, 3);
	ck_assert_uint_eq(accuracy->frequent.n_found, 3);
	ck_assert_uint_eq(accuracy->frequent.false_negatives, 1);
	ck_assert_uint_eq(accuracy->frequent.false_positives, 1);
}
END_TEST

/* Cycles, which only a broken file has, are in no trace; unknown parents make a link that is wrong. */
START_TEST(broken_truth)
{
	g_autoptr(WpTree) tree = wp_tree_new("c>a[0-9](b[1-8](d[2-7])) c>a[10-19]");
	g_autoptr(WpTruth) truth = truth_of("call_id,parent_id\n1,3\n2,1\n3,2\n4,nobody\n", NULL);
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	g_autoptr(WpFound) found = wp_found_new(tree->resolved, links);
	g_autoptr(WpAccuracy) accuracy = wp_accuracy_measure(truth, found, NULL);
	ck_assert_uint_eq(accuracy->all.n_links, 4);
	ck_assert_uint_eq(accuracy->all.n_links_right, 2);
	ck_assert_uint_eq(accuracy->all.n_traces, 1);
	ck_assert_uint_eq(accuracy->all.n_traces_right, 0);
}
END_TEST

START_TEST(nothing)
{
	g_autoptr(WpAccuracy) accuracy = measure(TRUTH_HEAD, CALLS_HEAD);
	ck_assert_uint_eq(accuracy->all.n_calls, 0);
	ck_assert_uint_eq(accuracy->n_top, 0);
	g_autoptr(WpAccuracy) missing =
		measure(TRUTH_HEAD "1,,5000,6000,1.1.1.1,1,2.2.2.2,2,x\n", CALLS_HEAD);
	ck_assert_uint_eq(missing->all.n_found, 0);
	ck_assert_uint_eq(missing->instances.false_negatives, 1);
}
END_TEST

START_TEST(files_that_make_no_sense)
{
	static const struct {
		gboolean is_truth;
		const char *text, *message;
	} rows[] = {
		{ TRUE, "", "line 1: the file is empty" },
		{ TRUE, "a,b\n", "line 1: there is no column \"call_id\"" },
		{ TRUE, "call_id,b\n", "there is no column \"parent_id\"" },
		{ TRUE, "call_id,parent_call_id,t_call_us\n",
		  "there is no column \"t_return_us\"" },
		{ TRUE, TRUTH_HEAD "1,,x,,1.1.1.1,1,2.2.2.2,2,x\n", "line 2: \"x\" is no time" },
		{ TRUE, TRUTH_HEAD "1,,,,1.1.1.1,1,2.2.2.2,2,x\n",
		  "line 2: a call without a time" },
		{ TRUE, "call_id,parent_id\n1,\n\n1,\n",
		  "line 4: call_id \"1\" stands here twice" },
		{ TRUE, "call_id,parent_id\n,\n", "line 2: a call without an id" },
		{ TRUE, "call_id,parent_id\n\"1,\n", "line 2: the file ends inside quotes" },
		{ FALSE, "call_id,parent_id\n", "there is no column \"t_call\"" },
		{ FALSE, "call_id,t_call\n", "there is no column \"parent_id\"" },
		{ FALSE, CALLS_HEAD "1,,1,,,,,,,,2\n", "line 2: the confidence is no number" },
		{ FALSE, CALLS_HEAD "1,,99999999999999999999,,,,,,,,\n", "line 2: \"9999" },
		{ FALSE, CALLS_HEAD "1,,-9000000000,,,,,,,,\n",
		  "line 2: \"-9000000000\" is no time" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(WpTruth) truth = rows[i].is_truth ? truth_of(rows[i].text, &error) : NULL;
		g_autoptr(WpFound) found = rows[i].is_truth ? NULL : found_of(rows[i].text, &error);
		ck_assert(!truth && !found);
		ck_assert_msg(error && strstr(error->message, rows[i].message),
			      "\"%s\" lacks \"%s\"", error ? error->message : "", rows[i].message);
	}
	g_autoptr(GError) error = NULL;
	ck_assert_ptr_null(wp_truth_read("/nonexistent/truth", &error));
	ck_assert(g_error_matches(error, WP_INFER_ERROR, WP_INFER_ERROR_OPEN));
}
END_TEST

/* Compressed files, and one that is cut short. */
START_TEST(compressed)
{
	g_autoptr(GString) text = g_string_new("call_id,parent_id\r\n");
	for (int i = 1; i < 5000; i++)
		g_string_append_printf(text, "%d,%d\r\n", i * 7919, i > 1 ? (i - 1) * 7919 : 0);
	g_autoptr(GByteArray) bytes = wp_gzip_bytes(text->str, text->len);
	g_autotemp *whole = wp_temp_file_new(".csv.gz", bytes->data, bytes->len);
	g_autotemp *cut = wp_temp_file_new(".csv.gz", bytes->data, bytes->len / 2);
	g_autoptr(GError) error = NULL;
	g_autoptr(WpTruth) truth = wp_truth_read(whole, NULL);
	ck_assert_ptr_nonnull(truth);
	ck_assert_ptr_null(wp_truth_read(cut, &error));
	ck_assert_ptr_nonnull(error);
}
END_TEST

/* True parents of spans; a root and a call that the truth does not know have none. */
START_TEST(true_parents)
{
	static const char text[] = "call_id,parent_id\n1,\n2,1\n3,2\n5,4\n6,1\n";
	g_autoptr(WpTree) tree = wp_tree_new("a>b[0-100](c[10-50](d[20-30])) a>b[0-90](c[60-70])");
	static const guint64 expected[] = { 0, 0, 1, 2, 0, 0 };
	g_autoptr(WpTruth) truth = truth_of(text, NULL);
	g_autofree guint32 *parents = wp_truth_parents(truth, tree->resolved, 0);
	for (guint64 id = 1; id < G_N_ELEMENTS(expected); id++) {
		guint32 span = expected[id] ? wp_tree_span(tree, expected[id]) : WP_NO_SPAN;
		ck_assert_uint_eq(parents[wp_tree_span(tree, id)], span);
	}
}
END_TEST

WP_SUITE("accuracy", example_of_the_paper, matching, clocks, setup_is_taken_out, span_sets, scope,
	 top_n, frequent, broken_truth, nothing, files_that_make_no_sense, compressed, true_parents)
