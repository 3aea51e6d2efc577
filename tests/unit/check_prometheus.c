/* Pages for Prometheus: what is written reads strictly, whatever the names; counters add up; series are bounded. */
#include "report/prometheus.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/trace.h"
#include "report/analysis.h"
#include "report/rewrite.h"
#include "report/watch-metrics.h"
#include "tests/support/exposition.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

#define HEAD(type, name) "# HELP " name " text\n# TYPE " name " " type "\n"

/* The reader of the tests itself. */
static const struct {
	const char *text;
	gboolean is_right;
} texts[] = {
	{ HEAD("gauge", "a") "a 1\n", TRUE },
	{ HEAD("gauge", "a") "a{x=\"1\",y=\"\"} -1.5e-07\na{x=\"\\\\ \\\" \\n }\"} +Inf\n", TRUE },
	{ HEAD("counter", "a_total") "a_total 0\n" HEAD("gauge", "b") "b NaN\n", TRUE },
	{ HEAD("histogram", "h") "h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 3\nh_sum 4\nh_count "
				 "3\n",
	  TRUE },
	{ "a 1\n", FALSE },
	{ HEAD("gauge", "a") "a 1", FALSE },
	{ HEAD("gauge", "a") "a 1\na 1\n", FALSE },
	{ HEAD("gauge", "a") "a  1\n", FALSE },
	{ HEAD("gauge", "a") "a 0x10\n", FALSE },
	{ HEAD("gauge", "a") "a 1,5\n", FALSE },
	{ HEAD("gauge", "a") "b 1\n", FALSE },
	{ HEAD("gauge", "a") "a_b 1\n", FALSE },
	{ HEAD("gauge", "a") "a{x=\"1\",x=\"2\"} 1\n", FALSE },
	{ HEAD("gauge", "a") "a{x=\"\\t\"} 1\n", FALSE },
	{ HEAD("gauge", "a") "a{x=\"\"\"} 1\n", FALSE },
	{ HEAD("gauge", "a") "a{x=\"\n\"} 1\n", FALSE },
	{ HEAD("gauge", "a") "a{x=\"\377\"} 1\n", FALSE },
	{ HEAD("counter", "a") "a 1\n", FALSE },
	{ HEAD("counter", "a_total") "a_total -1\n", FALSE },
	{ HEAD("gauge", "a") "a 1\n" HEAD("gauge", "b") "b 1\na{x=\"1\"} 1\n", FALSE },
	{ HEAD("gauge", "a") "a 1\n" HEAD("gauge", "a") "a{x=\"1\"} 1\n", FALSE },
	{ HEAD("histogram", "h") "h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 4\nh_count "
				 "1\n",
	  FALSE },
	{ HEAD("histogram", "h") "h_bucket{le=\"1\"} 2\nh_sum 4\nh_count 2\n", FALSE },
	{ HEAD("histogram", "h") "h_bucket{le=\"+Inf\"} 3\nh_sum 4\nh_count 4\n", FALSE },
	{ HEAD("histogram", "h") "h_bucket{le=\"+Inf\"} 3\nh_sum 4\n", FALSE },
};

START_TEST(reader)
{
	g_autofree char *wrong = wp_exposition_check(texts[_i].text, NULL);
	ck_assert_msg((wrong == NULL) == texts[_i].is_right, "%s: %s", texts[_i].text, wrong);
}
END_TEST

/* Values of labels and numbers as they stand in a page. */
static const struct {
	const char *label;
	double number;
	const char *line;
} samples[] = {
	{ "plain", 1, "a{l=\"plain\"} 1\n" },
	{ "GET /item/{}", 0.1, "a{l=\"GET /item/{}\"} 0.1\n" },
	{ "\"} 1\n# TYPE", 1e300, "a{l=\"\\\"} 1\\\\x0a# TYPE\"} 1e+300\n" },
	{ "\\", -INFINITY, "a{l=\"\\\\\"} -Inf\n" },
	{ "\033[2J\377", NAN, "a{l=\"\\\\x1b[2J\\\\xff\"} NaN\n" },
	{ "", 1.0 / 3, "a{l=\"\"} 0.33333333333333331\n" },
};

START_TEST(sample)
{
	g_autoptr(WpOut) out = wp_out_new_memory();
	WpPrometheus page = { .out = out };
	const WpPrometheusLabel label = { "l", samples[_i].label };

	wp_prometheus_family(&page, "a", WP_PROMETHEUS_GAUGE, "Help.");
	wp_prometheus_number(&page, &label, 1, samples[_i].number);
	g_autofree char *wrong = wp_exposition_check(wp_out_string(out), NULL);
	ck_assert_msg(!wrong, "%s", wrong);
	ck_assert_str_eq(wp_out_string(out) + strlen("# HELP a Help.\n# TYPE a gauge\n"),
			 samples[_i].line);
	ck_assert_uint_eq(page.n_series, 1);
}
END_TEST

/* --- a watch --- */

/* Windows of operations that each have one request of a ms. */
typedef struct {
	WpPatternSet set;
	WpAnalysis analysis;
	WpView view;
	WpWatchWindow window;
} Made;

static void
make(Made *made, const char *const *names, guint n, gint64 begin_s, gint64 latency_ns)
{
	*made = (Made){ 0 };
	made->set.operations = g_new0(WpOperation, n);
	made->view.operations = g_new0(WpViewOperation, n);
	made->view.analysis = &made->analysis;
	made->analysis.patterns = &made->set;
	made->window = (WpWatchWindow){ .begin_ns = begin_s * 1000000000,
					.end_ns = (begin_s + 10) * 1000000000,
					.n_rows = n,
					.rows = g_new0(WpWatchRow, n),
					.view = &made->view };
	for (guint i = 0; i < n; i++) {
		WpViewOperation *operation = &made->view.operations[i];
		made->set.operations[i].latency = wp_delay_new();
		wp_delay_add(made->set.operations[i].latency, latency_ns);
		operation->client = operation->node = names[i];
		operation->label = names[i];
		operation->count = 1;
		operation->number = i;
		operation->latency.sum_ns = (double)latency_ns;
		operation->shares = g_new0(WpViewShare, 1);
		operation->shares[0] =
			(WpViewShare){ .node = names[i], .self_ns = (double)latency_ns };
		operation->n_shares = 1;
		made->window.rows[i] = (WpWatchRow){ operation, 0.1, 2, begin_s * 1000000000 };
	}
}

static void
made_clear(Made *made)
{
	for (guint i = 0; i < made->window.n_rows; i++) {
		wp_delay_free(made->set.operations[i].latency);
		g_free(made->view.operations[i].shares);
	}
	g_free(made->set.operations);
	g_free(made->view.operations);
	g_free(made->window.rows);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

static void
add(WpWatchMetrics *metrics, const char *const *names, guint n, gint64 begin_s, gint64 latency_ns)
{
	g_auto(Made) made;
	make(&made, names, n, begin_s, latency_ns);
	wp_watch_metrics_add(metrics, &made.window);
}

/* (transfer full) */
static char *
page_of(const WpWatchMetrics *metrics, guint *out_n)
{
	g_autoptr(WpOut) out = wp_out_new_memory();
	wp_watch_metrics_write(metrics, NULL, NULL, out);
	g_autofree char *wrong = wp_exposition_check(wp_out_string(out), out_n);
	ck_assert_msg(!wrong, "%s in %s", wrong, wp_out_string(out));
	return g_strdup(wp_out_string(out));
}

#define LABELS(x) "{client=\"" x "\",node=\"" x "\",operation=\"" x "\""

START_TEST(counters_grow)
{
	static const char *const names[] = { "b", "a", "\377", "\\xff", "c\"} 1\n" };
	g_autoptr(WpWatchMetrics) metrics = wp_watch_metrics_new(5000);
	guint n;

	add(metrics, names, 5, 100, 1000000);
	add(metrics, names, 2, 110, 30000000000);
	g_autofree char *page = page_of(metrics, &n);
	static const struct {
		const char *series;
		double value;
	} values[] = {
		{ "wirepath_requests_total" LABELS("a") "}", 2 },
		{ "wirepath_requests_total" LABELS("b") "}", 2 },
		{ "wirepath_requests_total" LABELS("\\\\xff") "}", 2 }, /* quoted to the same */
		{ "wirepath_request_latency_seconds_bucket" LABELS("a") ",le=\"0.0005\"}", 0 },
		{ "wirepath_request_latency_seconds_bucket" LABELS("a") ",le=\"0.0025\"}", 1 },
		{ "wirepath_request_latency_seconds_bucket" LABELS("a") ",le=\"25\"}", 1 },
		{ "wirepath_request_latency_seconds_bucket" LABELS("a") ",le=\"+Inf\"}", 2 },
		{ "wirepath_request_latency_seconds_sum" LABELS("a") "}", 30.001 },
		{ "wirepath_request_self_seconds_total" LABELS("a") ",self_node=\"a\"}", 30.001 },
		{ "wirepath_request_p95_change_ratio" LABELS("a") "}", 2 },
		{ "wirepath_request_p95_change_ratio" LABELS("\\\\xff") "}", NAN },
		{ "wirepath_request_slow_since_timestamp_seconds" LABELS("a") "}", 110 },
		{ "wirepath_windows_total", 2 },
		{ "wirepath_window_end_timestamp_seconds", 120 },
		{ "wirepath_metrics_left_out_total", 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
		double value = wp_exposition_value(page, values[i].series);
		ck_assert_msg(value == values[i].value || (isnan(value) && isnan(values[i].value)),
			      "%s: %g", values[i].series, value);
	}
}
END_TEST

/* No series more than allowed, no request uncounted; an hour later there is room again. */
START_TEST(bounded)
{
	enum {
		MANY = 300
	};
	g_autoptr(WpWatchMetrics) metrics = wp_watch_metrics_new(1000);
	const char *names[MANY], *late[] = { "late" };
	guint n;

	for (guint i = 0; i < MANY; i++)
		names[i] = g_strdup_printf("n%03u", i);
	for (guint round = 0; round < 2; round++)
		add(metrics, names, MANY, 100 + 10 * round, 1000000);
	g_autofree char *page = page_of(metrics, &n);
	ck_assert_uint_gt(n, 500);
	ck_assert_uint_le(n, 1000);
	ck_assert(wp_exposition_value(page, "wirepath_requests_total" LABELS("n000") "}") == 2);
	double other = wp_exposition_value(
		page, "wirepath_requests_total{client=\"\",node=\"\",operation=\"other\"}");
	double left_out = wp_exposition_value(page, "wirepath_metrics_left_out_total");
	ck_assert(other > 2 * 200 && other < 2 * MANY && left_out >= other);
	double sum = other;
	for (guint i = 0; i < MANY; i++) {
		g_autofree char *series = g_strdup_printf(
			"wirepath_requests_total{client=\"%s\",node=\"%s\",operation=\"%s\"}",
			names[i], names[i], names[i]);
		double value = wp_exposition_value(page, series);
		sum += isnan(value) ? 0 : value;
		g_free((char *)names[i]);
	}
	ck_assert(sum == 2 * MANY);
	add(metrics, late, 1, 8000, 1000000);
	g_autofree char *after = page_of(metrics, &n);
	ck_assert(wp_exposition_value(after, "wirepath_requests_total" LABELS("late") "}") == 1);
	ck_assert_uint_lt(n, 200);
}
END_TEST

/* --- the file --- */

static gboolean
is_only_file(const char *path)
{
	g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
	const char *name = g_dir_read_name(directory);
	return g_strcmp0(name, "f") == 0 && !g_dir_read_name(directory);
}

START_TEST(rewritten)
{
	g_autotemp *path = wp_temp_file_name("");
	g_autofree char *name = g_build_filename(path, "f", NULL);
	g_autoptr(GError) error = NULL;

	ck_assert_int_eq(mkdir(path, 0700), 0);
	g_autoptr(WpRewrite) file = wp_rewrite_new(name, &error);
	ck_assert(file && access(name, F_OK) != 0);
	static const char *const all[] = { "one\n", "", "a longer one\n", "x" };
	for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
		g_autofree char *text = NULL;
		ck_assert(wp_rewrite_put(file, all[i], &error));
		ck_assert(g_file_get_contents(name, &text, NULL, NULL));
		ck_assert_str_eq(text, all[i]);
		ck_assert(is_only_file(path));
	}
	ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(mkdir(name, 0700),
			 0); /* something else stands there: told, nothing left */
	ck_assert(!wp_rewrite_put(file, "y", &error));
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_WRITE));
	ck_assert(is_only_file(path));
	ck_assert_int_eq(rmdir(name), 0);
	ck_assert_int_eq(rmdir(path), 0);
	g_clear_error(&error);
	ck_assert(!wp_rewrite_new("/no/such/directory/f", &error));
}
END_TEST

WP_SUITE_OF_ROWS("prometheus", { reader, G_N_ELEMENTS(texts) }, { sample, G_N_ELEMENTS(samples) },
		 { counters_grow, 0 }, { bounded, 0 }, { rewritten, 0 })
