/* Prometheus text: one line a sample. */
#include "config.h"

#include "report/prometheus.h"

#include <math.h>
#include <string.h>

#include "report/escape.h"

#define NS_PER_S 1e9

#define MS G_GINT64_CONSTANT(1000000)

const gint64 wp_prometheus_bounds_ns[WP_PROMETHEUS_N_BOUNDS] = {
	MS / 10,   MS / 4,    MS / 2,    MS,         5 * MS / 2, 5 * MS,
	10 * MS,   25 * MS,   50 * MS,   100 * MS,   250 * MS,   500 * MS,
	1000 * MS, 2500 * MS, 5000 * MS, 10000 * MS, 25000 * MS,
};

static const char *const type_names[] = { "counter", "gauge", "histogram" };

void
wp_prometheus_family(WpPrometheus *page, const char *name, WpPrometheusType type, const char *help)
{
	page->family = name;
	wp_out_printf(page->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
		      type_names[type]);
}

/* The fewest digits that give VALUE back. */
static void
put_number(WpPrometheus *page, double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (!isfinite(value)) {
		wp_out_text(page->out, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
		return;
	}
	g_ascii_formatd(text, sizeof text, "%.15g", value);
	if (g_ascii_strtod(text, NULL) != value)
		g_ascii_dtostr(text, sizeof text, value);
	wp_out_text(page->out, text);
}

static void
put_label(WpPrometheus *page, gboolean is_first, const char *name, const char *value)
{
	g_autoptr(GString) safe = g_string_new(NULL);

	wp_escape_dot_to(safe, value);
	wp_out_printf(page->out, "%c%s=\"%s\"", is_first ? '{' : ',', name, safe->str);
}

/* All of a line before its value. LE: bound of a bucket, or NULL. */
static void
put_series(WpPrometheus *page, const char *suffix, const WpPrometheusLabel *labels, guint n,
	   const char *le)
{
	wp_out_text(page->out, page->family);
	wp_out_text(page->out, suffix);
	for (guint i = 0; i < n; i++)
		put_label(page, i == 0, labels[i].name, labels[i].value);
	if (le)
		put_label(page, n == 0, "le", le);
	wp_out_text(page->out, n || le ? "} " : " ");
	page->n_series++;
}

void
wp_prometheus_number(WpPrometheus *page, const WpPrometheusLabel *labels, guint n_labels,
		     double value)
{
	put_series(page, "", labels, n_labels, NULL);
	put_number(page, value);
	wp_out_char(page->out, '\n');
}

static void
put_count(WpPrometheus *page, guint64 count)
{
	wp_out_uint(page->out, count);
	wp_out_char(page->out, '\n');
}

void
wp_prometheus_count(WpPrometheus *page, const WpPrometheusLabel *labels, guint n_labels,
		    guint64 count)
{
	put_series(page, "", labels, n_labels, NULL);
	put_count(page, count);
}

/* Whole nanoseconds: sums of doubles have errors that nobody wants to read. */
void
wp_prometheus_seconds(WpPrometheus *page, const WpPrometheusLabel *labels, guint n_labels,
		      double ns)
{
	wp_prometheus_number(page, labels, n_labels, round(ns) / NS_PER_S);
}

void
wp_prometheus_times(WpPrometheus *page, const WpPrometheusLabel *labels, guint n_labels,
		    const WpPrometheusTimes *times)
{
	char le[G_ASCII_DTOSTR_BUF_SIZE];
	guint64 sum = 0;

	for (guint i = 0; i < WP_PROMETHEUS_N_BOUNDS; i++) {
		g_ascii_formatd(le, sizeof le, "%.15g",
				(double)wp_prometheus_bounds_ns[i] / NS_PER_S);
		put_series(page, "_bucket", labels, n_labels, le);
		put_count(page, sum += times->counts[i]);
	}
	sum += times->counts[WP_PROMETHEUS_N_BOUNDS];
	put_series(page, "_bucket", labels, n_labels, "+Inf");
	put_count(page, sum);
	put_series(page, "_sum", labels, n_labels, NULL);
	put_number(page, round(times->sum_ns) / NS_PER_S);
	wp_out_char(page->out, '\n');
	put_series(page, "_count", labels, n_labels, NULL);
	put_count(page, sum);
}

void
wp_prometheus_add_time(WpPrometheusTimes *times, gint64 ns)
{
	guint i = 0;

	while (i < WP_PROMETHEUS_N_BOUNDS && ns > wp_prometheus_bounds_ns[i])
		i++;
	times->counts[i]++;
	times->sum_ns += (double)ns;
}

void
wp_prometheus_events(WpPrometheus *page, const WpCounters *counters)
{
	static const char *const severities[] = { "fact", "note", "loss" };

	wp_prometheus_family(page, "wirepath_capture_events_total", WP_PROMETHEUS_COUNTER,
			     "What was counted while reading; wirepath report --list-counters says "
			     "what.");
	for (guint i = 0; i < WP_N_COUNTERS; i++) {
		const WpPrometheusLabel labels[] = {
			{ "event", wp_counter_info[i].name },
			{ "severity", severities[wp_counter_info[i].severity] },
		};
		guint64 n = wp_counters_get(counters, (WpCounter)i);
		if (n)
			wp_prometheus_count(page, labels, G_N_ELEMENTS(labels), n);
	}
}

void
wp_prometheus_build(WpPrometheus *page)
{
	const WpPrometheusLabel version = { "version", PACKAGE_VERSION };

	wp_prometheus_family(page, "wirepath_build_info", WP_PROMETHEUS_GAUGE,
			     "What wrote this; always 1.");
	wp_prometheus_count(page, &version, 1, 1);
}
