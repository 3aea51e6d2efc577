/* One request whole: which are kept, what they waited for, and how they are found in Wireshark. */
#include "report/view-request.h"

#include <string.h>

#include "report/analysis.h"
#include "report/options.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

/* A view of a tree in text. */
typedef struct {
	WpTrace *trace;
	WpOptions *parser;
	WpAnalysisOptions options;
	WpAnalysis *analysis;
	WpView *view;
} Made;

static void
made_init(Made *made, const char *tree, WpKeep *keep)
{
	g_auto(WpLoadOutcome) outcome = { 0 };
	const WpViewOptions shown = { 0 };
	*made = (Made){ .trace = wp_tree_trace(tree), .parser = wp_options_new() };
	wp_analysis_declare(made->parser, &made->options, TRUE);
	made->options.keep = keep;
	made->analysis = wp_analysis_new(made->trace, &made->options, TRUE, NULL, &outcome, NULL);
	ck_assert_ptr_nonnull(made->analysis);
	made->view = wp_view_new(made->analysis, &shown);
}

static void
made_clear(Made *made)
{
	wp_view_free(made->view);
	wp_analysis_free(made->analysis);
	wp_options_free(made->parser);
	wp_analysis_options_clear(&made->options);
	wp_trace_free(made->trace);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

/* What of a request was spent where, on the way that ended last: us. */
START_TEST(critical_path)
{
	static const struct {
		const char *tree;
		const char *parts;
	} rows[] = {
		{ "c>w[0-100]", "w 100" },
		{ "c>w[0-100](a[10-30],b[40-90])", "w 30, a 20, b 50" },
		/* a returned before b, which w waited for */
		{ "c>w[0-100](a[10-60],b[20-80])", "w 40, a 0, b 60" },
		/* one after another, without a gap */
		{ "c>w[0-100](a[10-50],b[50-90])", "w 20, a 40, b 40" },
		{ "c>w[0-100](a[10-90](d[20-40]))", "w 20, a 60, d 20" },
		/* of two that return at once, the later call */
		{ "c>w[0-100](a[10-90],b[20-90])", "w 30, a 0, b 70" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(Made) made;
		g_autoptr(GString) parts = g_string_new(NULL);
		made_init(&made, rows[i].tree, NULL);
		const WpViewPattern *pattern = &made.view->patterns[0];
		g_autoptr(WpViewRequest) request =
			wp_view_request_new(made.view, pattern, &pattern->examples[0]);
		double sum = 0;
		for (guint32 k = 0; k < request->n_calls; k++) {
			const WpViewCall *call = &request->calls[k];
			g_string_append_printf(parts, "%s%s %.0f", k ? ", " : "", call->callee,
					       call->critical_ns / 1000);
			sum += call->critical_ns;
		}
		ck_assert_str_eq(parts->str, rows[i].parts);
		ck_assert_double_eq(sum, request->latency_ns);
	}
}
END_TEST

/* Requests of 10, 30, 20 and 90 us: of the last, all but 10 us are in the database. */
#define FOUR                                                                                       \
	"c>w[0-10](d[2-7]) c>w[100-130](d[102-125]) c>w[200-220](d[202-215]) "                     \
	"c>w[300-390](d[302-382])"

START_TEST(beside_the_median)
{
	g_auto(Made) made;
	made_init(&made, FOUR, NULL);
	const WpViewPattern *pattern = &made.view->patterns[0];
	g_autoptr(WpViewRequest) request = wp_view_request_new(
		made.view, pattern, &pattern->examples[pattern->n_examples - 1]);
	ck_assert_uint_eq(request->n_calls, 2);
	ck_assert_double_eq(request->latency_ns, 90e3);
	ck_assert_double_eq(request->slower_than, 0.75);
	ck_assert_ptr_eq(request->calls[1].node, &pattern->nodes[1]);
	ck_assert(request->calls[1].is_hottest && !request->calls[0].is_hottest);
	ck_assert_double_eq(request->calls[1].self_ns, 80e3);
	ck_assert_double_eq(request->calls[1].start_ns, 2e3);
	ck_assert_str_eq(request->calls[1].id, "8");
	ck_assert(request->calls[1].is_last);
}
END_TEST

/* The N slowest of all patterns, background requests left out. */
START_TEST(slowest)
{
	g_auto(WpKeep) keep;
	g_auto(Made) made;
	g_autoptr(GString) kept = g_string_new(NULL);
	wp_keep_init_slowest(&keep, 2);
	made_init(&made, FOUR " c>v[500-560] c>w[600-900]~", &keep);
	for (guint32 i = 0; i < made.view->n_patterns; i++) {
		const WpViewPattern *pattern = &made.view->patterns[i];
		for (guint32 k = 0; k < pattern->n_kept; k++)
			if (wp_keep_still(&keep, (gint64)pattern->kept[k].latency_ns))
				g_string_append_printf(kept, "%s %.0f ", pattern->nodes[0].node,
						       pattern->kept[k].latency_ns / 1000);
	}
	ck_assert_str_eq(kept->str, "w 90 v 60 ");
}
END_TEST

/* Of equal ones no more are kept than asked for. */
START_TEST(equal_latencies)
{
	g_auto(WpKeep) keep;
	wp_keep_init_slowest(&keep, 2);
	for (int i = 0; i < 9; i++)
		ck_assert_int_eq(wp_keep_offer(&keep, 5), i < 2);
	ck_assert(wp_keep_offer(&keep, 7) && wp_keep_still(&keep, 5) && !wp_keep_still(&keep, 4));
	ck_assert(wp_keep_offer(&keep, 6) && !wp_keep_still(&keep, 5));
}
END_TEST

/* A call by its id, wherever in its request it is; where ids are not known, by its place. */
START_TEST(by_call)
{
	static const struct {
		const char *call;
		double latency_us; /* 0: is not there */
	} rows[] = { { "1", 10 }, { "6", 20 }, { "8", 90 }, { "8#3", 30 }, { "9", 0 }, { "x", 0 } };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(WpKeep) keep = { .call = rows[i].call };
		g_auto(Made) made;
		made_init(&made, FOUR, &keep);
		const WpViewPattern *pattern = &made.view->patterns[0];
		ck_assert_uint_eq(keep.n_found, rows[i].latency_us > 0);
		ck_assert_uint_eq(pattern->n_kept, rows[i].latency_us > 0);
		if (pattern->n_kept)
			ck_assert_double_eq(pattern->kept[0].latency_ns, rows[i].latency_us * 1e3);
	}
}
END_TEST

/* Addresses, but no packets: those are no part of the text. */
START_TEST(filters)
{
	g_auto(Made) made;
	made_init(&made, "10.0.0.9:1>10.0.0.1:80[0-100](10.0.0.2:5432[10-30],10.0.0.2:5432[40-50])",
		  NULL);
	const WpViewPattern *pattern = &made.view->patterns[0];
	g_autoptr(WpViewRequest) request =
		wp_view_request_new(made.view, pattern, &pattern->examples[0]);
	g_autofree char *none = wp_view_request_frames(request, 0);
	ck_assert_ptr_null(none);
	request->calls[1].messages[0].packet = 12;
	request->calls[1].messages[1].packet = 3;
	request->calls[2].messages[0].packet = 12;
	request->calls[2].messages[1].packet = 5;
	request->calls[2].messages[1].tap = 1;
	g_autofree char *first = wp_view_request_frames(request, 0);
	g_autofree char *second = wp_view_request_frames(request, 1);
	ck_assert_str_eq(first, "frame.number in {3, 12}");
	ck_assert_str_eq(second, "frame.number in {5}");
	g_autofree char *flows = wp_view_request_flows(request);
	ck_assert_ptr_nonnull(strstr(flows, "ip.addr == 10.0.0.1 && ip.addr == 10.0.0.2"));
}
END_TEST

WP_SUITE("request", critical_path, beside_the_median, slowest, equal_latencies, by_call, filters)
