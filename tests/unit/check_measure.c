/* Expressions over calls: what they mean, what is wrong with them, and what they say of small traces. */
#include "report/measure.h"

#include <string.h>

#include "report/analysis.h"
#include "report/error.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

START_TEST(what_is_wrong_is_said_where_it_stands)
{
	static const struct {
		const char *text, *error; /* NULL = it is well */
	} rows[] = {
		{ "avg(latency)", NULL },
		{ "  p95 ( self )by operation , time( 10s )where label ~ \"GET *\"", NULL },
		{ "avg(a.return-b.call) by node", NULL },
		{ "max(child.call - call) by edge", NULL },
		{ "sum(call - previous.return + latency)", NULL },
		{ "count(call)", NULL },
		{ "sum(errors) by caller,protocol", NULL },
		{ "", "avg, sum, count, min, max, sd or p1 to p99 is expected at its end" },
		{ "mean(latency)", "p1 to p99 is expected at \"mean(latency)\"" },
		{ "p0(latency)", "p1 to p99 is expected at \"p0(" },
		{ "p100(latency)", "p1 to p99 is expected at \"p100(" },
		{ "avg latency", "( is expected at \"latency\"" },
		{ "avg()", "call, return, latency, self, size or errors is expected at \")\"" },
		{ "avg(c.latency)",
		  "a, b, parent, previous or child is expected at \"c.latency)\"" },
		{ "avg(a.)", "errors is expected at \")\"" },
		{ "avg(latency", "), - or + is expected at its end" },
		{ "avg(latency * 2)", "), - or + is expected at \"* 2)\"" },
		{ "avg(latency - size)", "do not mix: another is expected at \"size)\"" },
		{ "avg(call)", "taken from another: - or + is expected at \")\"" },
		{ "avg(call + return)", "taken from another" },
		{ "avg(latency) over node", "by or where is expected at \"over node\"" },
		{ "avg(latency) by host", "node, caller, edge, operation, protocol or time(10s) is "
					  "expected at \"host\"" },
		{ "avg(latency) by node,", "is expected at its end" },
		{ "avg(latency) by node node", "\",\" or where is expected at \"node\"" },
		{ "avg(latency) by node, node", "another key is expected at \"node\"" },
		{ "avg(latency) by time", "( is expected at its end" },
		{ "avg(latency) by time(10)", "a time with its unit (500ms, 10s) is expected at "
					      "\"10)\"" },
		{ "avg(latency) by time(0)", "a time with its unit" },
		{ "avg(latency) by time(1s", ") is expected at its end" },
		{ "avg(latency) where labl == x", "--expr: a field is expected at \"labl == x\"" },
		{ "avg(latency) where", "--expr: a field is expected" },
		{ "avg(self+self+self+self+self+self+self+self+self)", "there are too many terms" },
	};
	g_autoptr(GError) error = NULL;
	g_autoptr(WpMeasure) measure = wp_measure_new(rows[_i].text, &error);
	if (!rows[_i].error) {
		ck_assert_msg(measure != NULL, "%s: %s", rows[_i].text,
			      error ? error->message : "");
		return;
	}
	ck_assert_ptr_null(measure);
	ck_assert_int_eq(error->code, WP_REPORT_ERROR_USAGE);
	ck_assert_msg(strstr(error->message, rows[_i].error) != NULL, "%s", error->message);
	ck_assert(g_str_has_prefix(error->message, "--expr: "));
}
END_TEST

/* (transfer full) "web 100 x2; db 20 x1", times in us. */
static char *
say(const WpMeasure *measure)
{
	GString *text = g_string_new(NULL);
	double unit = wp_measure_unit(measure) == WP_MEASURE_TIME ? 1000 : 1;
	for (guint i = 0; i < wp_measure_n_groups(measure); i++) {
		const WpMeasureGroup *group = wp_measure_group(measure, i);
		g_string_append(text, i ? "; " : "");
		for (guint k = 0; k < wp_measure_n_keys(measure); k++)
			if (wp_measure_is_time(measure, k))
				g_string_append_printf(text, "+%d ", (int)(group->time_ns / 1000));
			else
				g_string_append_printf(text, "%s ", group->keys[k]);
		g_string_append_printf(text, "%.2f x%u", group->value / unit,
				       (guint)wp_delay_count(group->values));
	}
	if (wp_measure_n_unknown(measure))
		g_string_append_printf(text, "; unknown %u", (guint)wp_measure_n_unknown(measure));
	return g_string_free(text, FALSE);
}

/*
 *   web  |----------- p ------------|   0..100
 *   auth    |- x -|                     10..20
 *   db                |- q -| |- q -|   40..50, 60..80
 */
#define TREE                                                                                       \
	"c>web/p#100#900[0-100](auth/x[10-20],db/q[40-50],db/q[60-80]!) "                          \
	"c>web/p[1000-1100](auth/x[1010-1030])"

START_TEST(calls_become_groups)
{
	static const struct {
		const char *expression, *expected;
	} rows[] = {
		{ "avg(latency) by node", "web 100.00 x2; auth 15.00 x2; db 15.00 x2" },
		{ "sum(self) by node", "web 140.00 x2; auth 30.00 x2; db 30.00 x2" },
		{ "max(latency) by operation", "web p 100.00 x2; auth x 20.00 x2; db q 20.00 x2" },
		{ "min(latency) by caller", "c 100.00 x2; web 10.00 x4" },
		{ "count(call) by edge", "c → web 2.00 x2; web → auth 2.00 x2; web → db 2.00 x2" },
		{ "count(call)", "6.00 x6" },
		{ "avg(errors) by node", "db 0.50 x2; auth 0.00 x2; web 0.00 x2" },
		{ "sd(latency) by node where dst == auth", "auth 5.00 x2" },
		{ "p50(latency) where label == x", "10.00 x2" },
		{ "max(size) by node", "web 1000.00 x1; unknown 5" },
		/* Other calls */
		{ "avg(call - parent.call) by node", "db 50.00 x2; auth 10.00 x2; unknown 2" },
		{ "avg(a.return-b.call) by node", "db 65.00 x2; auth 25.00 x2; unknown 2" },
		{ "avg(call - previous.return) by node", "db 15.00 x2; unknown 4" },
		{ "sum(child.latency) by node", "web 60.00 x4" },
		{ "max(child.call - call) by operation", "web p 60.00 x4" },
		/* In time */
		{ "count(call) by time(500us)", "+0 4.00 x4; +1000 2.00 x2" },
		{ "sum(latency) by node, time(1ms)",
		  "auth +0 10.00 x1; auth +1000 20.00 x1; db +0 30.00 x2; "
		  "web +0 100.00 x1; web +1000 100.00 x1" },
		{ "avg(latency) by node where label == none", "" },
	};
	g_autoptr(WpTree) tree = wp_tree_new(TREE);
	WpAnalysisOptions options = { 0 };
	WpOptions *parser = wp_options_new();
	wp_analysis_declare(parser, &options, TRUE);
	g_auto(WpLoadOutcome) outcome = { 0 };
	GError *error = NULL;
	WpAnalysis *analysis = wp_analysis_new(tree->trace, &options, TRUE, NULL, &outcome, &error);
	ck_assert_ptr_nonnull(analysis);
	g_autoptr(WpMeasure) measure = wp_measure_new(rows[_i].expression, &error);
	ck_assert_ptr_nonnull(measure);
	wp_measure_add(measure, analysis);
	wp_measure_finish(measure);
	g_autofree char *text = say(measure);
	ck_assert_str_eq(text, rows[_i].expected);
	wp_analysis_free(analysis);
	wp_options_free(parser);
	wp_analysis_options_clear(&options);
}
END_TEST

WP_SUITE_OF_ROWS("measure", { what_is_wrong_is_said_where_it_stands, 32 },
		 { calls_become_groups, 18 })
