/* Rows of windows added up; a page of them, in order of their names. */
#include "config.h"

#include "report/watch-metrics.h"

#include <string.h>

#include "report/escape.h"
#include "report/prometheus.h"
#include "report/view-curve.h"

/* Two counters, a histogram, two gauges, self time of nodes that got no series. */
#define ROW_SERIES (2 + WP_PROMETHEUS_N_HISTOGRAM + 2 + 1)

/* What is always there at most: of interfaces, of what was counted, a row of others, the page itself. */
#define FIXED_SERIES (5 * WP_LIVE_MAX_INTERFACES + WP_N_COUNTERS + ROW_SERIES + 8)

G_STATIC_ASSERT(WP_WATCH_METRICS_MIN_SERIES >= FIXED_SERIES + ROW_SERIES);

typedef struct {
	char *node;
	double ns;
} Self;

/* A root operation. */
typedef struct {
	char *client;
	char *node;
	char *operation;
	guint64 requests;
	guint64 errors;
	WpPrometheusTimes latency;
	GArray *selves; /* Self, as they came */
	double other_ns;
	double change; /* of its last window */
	gint64 since_ns;
	gint64 seen_ns;
} Row;

struct WpWatchMetrics {
	guint max_series;
	guint n_series;   /* of rows */
	GHashTable *rows; /* names -> Row; pages are sorted */
	Row *other;
	guint64 n_windows;
	guint64 n_left_out;
	gint64 begin_ns; /* of the last window */
	gint64 end_ns;
};

static void
self_clear(gpointer data)
{
	g_free(((Self *)data)->node);
}

static Row *
row_new(const char *client, const char *node, const char *operation)
{
	Row *row = g_new0(Row, 1);

	row->client = g_strdup(client);
	row->node = g_strdup(node);
	row->operation = g_strdup(operation);
	row->selves = g_array_new(FALSE, FALSE, sizeof(Self));
	g_array_set_clear_func(row->selves, self_clear);
	row->since_ns = WP_NO_TIME;
	return row;
}

static void
row_free(gpointer data)
{
	Row *row = data;
	g_free(row->client);
	g_free(row->node);
	g_free(row->operation);
	g_array_unref(row->selves);
	g_free(row);
}

WpWatchMetrics *
wp_watch_metrics_new(guint max_series)
{
	WpWatchMetrics *metrics = g_new0(WpWatchMetrics, 1);

	metrics->max_series = MAX(max_series, WP_WATCH_METRICS_MIN_SERIES) - FIXED_SERIES;
	metrics->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, row_free);
	metrics->other = row_new("", "", "other");
	return metrics;
}

void
wp_watch_metrics_free(WpWatchMetrics *metrics)
{
	if (!metrics)
		return;
	g_hash_table_unref(metrics->rows);
	row_free(metrics->other);
	g_free(metrics);
}

/* --- adding --- */

/* (transfer full) Different exactly where the labels in a page are: two names may be quoted to the same. */
static char *
key_of(const char *client, const char *node, const char *operation)
{
	GString *key = g_string_new(NULL);

	wp_escape_dot_to(key, client);
	g_string_append_c(key, '\n');
	wp_escape_dot_to(key, node);
	g_string_append_c(key, '\n');
	wp_escape_dot_to(key, operation);
	return g_string_free(key, FALSE);
}

static gboolean
has_room(const WpWatchMetrics *metrics, guint n)
{
	return metrics->n_series + n <= metrics->max_series;
}

static void
forget_old_ones(WpWatchMetrics *metrics, gint64 before_ns)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, metrics->rows);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const Row *row = value;
		if (row->seen_ns >= before_ns)
			continue;
		metrics->n_series -= ROW_SERIES + row->selves->len;
		g_hash_table_iter_remove(&iter);
	}
}

static Row *
get_row(WpWatchMetrics *metrics, const WpViewOperation *operation, gint64 now_ns)
{
	g_autofree char *key = key_of(operation->client, operation->node, operation->label);
	Row *row = g_hash_table_lookup(metrics->rows, key);

	if (!row && !has_room(metrics, ROW_SERIES))
		forget_old_ones(metrics, now_ns - WP_WATCH_HOUR_NS);
	if (!row && has_room(metrics, ROW_SERIES)) {
		row = row_new(operation->client, operation->node, operation->label);
		g_hash_table_insert(metrics->rows, g_steal_pointer(&key), row);
		metrics->n_series += ROW_SERIES;
	}
	if (!row) {
		metrics->n_left_out++;
		row = metrics->other;
	}
	row->seen_ns = now_ns;
	return row;
}

static gboolean
is_same_label(const char *a, const char *b)
{
	g_autoptr(GString) x = g_string_new(NULL), y = g_string_new(NULL);

	if (strcmp(a, b) == 0)
		return TRUE;
	wp_escape_dot_to(x, a);
	wp_escape_dot_to(y, b);
	return g_string_equal(x, y);
}

static void
add_self(WpWatchMetrics *metrics, Row *row, const WpViewShare *share)
{
	for (guint i = 0; i < row->selves->len; i++) {
		Self *self = &g_array_index(row->selves, Self, i);
		if (is_same_label(self->node, share->node)) {
			self->ns += share->self_ns;
			return;
		}
	}
	if (row == metrics->other || !has_room(metrics, 1)) {
		metrics->n_left_out += row != metrics->other;
		row->other_ns += share->self_ns;
		return;
	}
	const Self self = { g_strdup(share->node), share->self_ns };
	g_array_append_val(row->selves, self);
	metrics->n_series++;
}

void
wp_watch_metrics_add(WpWatchMetrics *metrics, const WpWatchWindow *window)
{
	metrics->n_windows++;
	metrics->begin_ns = window->begin_ns;
	metrics->end_ns = window->end_ns;
	for (guint32 i = 0; i < window->n_rows; i++) {
		const WpViewOperation *operation = window->rows[i].operation;
		Row *row = get_row(metrics, operation, window->begin_ns);
		row->requests += operation->count;
		row->errors += operation->errors;
		row->change = window->rows[i].change;
		row->since_ns = window->rows[i].since_ns;
		row->latency.sum_ns += operation->latency.sum_ns;
		wp_view_add_latencies(window->view, operation, wp_prometheus_bounds_ns,
				      WP_PROMETHEUS_N_BOUNDS, row->latency.counts);
		for (guint32 k = 0; k < operation->n_shares; k++)
			add_self(metrics, row, &operation->shares[k]);
	}
}

/* --- pages --- */

typedef struct {
	const WpWatchMetrics *metrics;
	WpPrometheus *page;
	GPtrArray *rows; /* of Row, in order */
} Writer;

static int
compare_keys(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* (transfer container) The one of others is the last. */
static GPtrArray *
sort_rows(const WpWatchMetrics *metrics)
{
	guint n;
	g_autofree gpointer *keys = g_hash_table_get_keys_as_array(metrics->rows, &n);
	GPtrArray *rows = g_ptr_array_new();

	qsort(keys, n, sizeof *keys, compare_keys);
	for (guint i = 0; i < n; i++)
		g_ptr_array_add(rows, g_hash_table_lookup(metrics->rows, keys[i]));
	if (metrics->other->requests)
		g_ptr_array_add(rows, metrics->other);
	return rows;
}

#define N_LABELS 3

static void
label_row(const Row *row, WpPrometheusLabel labels[N_LABELS])
{
	labels[0] = (WpPrometheusLabel){ "client", row->client };
	labels[1] = (WpPrometheusLabel){ "node", row->node };
	labels[2] = (WpPrometheusLabel){ "operation", row->operation };
}

static void
put_requests(WpPrometheus *page, const WpPrometheusLabel *labels, const Row *row)
{
	wp_prometheus_count(page, labels, N_LABELS, row->requests);
}

static void
put_errors(WpPrometheus *page, const WpPrometheusLabel *labels, const Row *row)
{
	wp_prometheus_count(page, labels, N_LABELS, row->errors);
}

static void
put_latency(WpPrometheus *page, const WpPrometheusLabel *labels, const Row *row)
{
	wp_prometheus_times(page, labels, N_LABELS, &row->latency);
}

static void
put_self(WpPrometheus *page, const WpPrometheusLabel *labels, const Row *row)
{
	WpPrometheusLabel all[N_LABELS + 1];

	memcpy(all, labels, N_LABELS * sizeof *labels);
	for (guint i = 0; i < row->selves->len; i++) {
		const Self *self = &g_array_index(row->selves, Self, i);
		all[N_LABELS] = (WpPrometheusLabel){ "self_node", self->node };
		wp_prometheus_seconds(page, all, N_LABELS + 1, self->ns);
	}
	all[N_LABELS] = (WpPrometheusLabel){ "self_node", "" };
	if (row->other_ns > 0)
		wp_prometheus_seconds(page, all, N_LABELS + 1, row->other_ns);
}

static void
put_change(WpPrometheus *page, const WpPrometheusLabel *labels, const Row *row)
{
	if (row->change > 0)
		wp_prometheus_number(page, labels, N_LABELS, row->change);
}

static void
put_since(WpPrometheus *page, const WpPrometheusLabel *labels, const Row *row)
{
	if (row->since_ns != WP_NO_TIME)
		wp_prometheus_seconds(page, labels, N_LABELS, (double)row->since_ns);
}

/* Families of rows. Those of the last window leave out operations that did not come in it, and the others. */
static const struct {
	const char *name;
	WpPrometheusType type;
	const char *help;
	gboolean is_of_window;
	void (*put)(WpPrometheus *page, const WpPrometheusLabel *labels, const Row *row);
} row_families[] = {
	{ "wirepath_requests_total", WP_PROMETHEUS_COUNTER, "Requests, by their first call.", FALSE,
	  put_requests },
	{ "wirepath_request_errors_total", WP_PROMETHEUS_COUNTER, "Requests that failed.", FALSE,
	  put_errors },
	{ "wirepath_request_latency_seconds", WP_PROMETHEUS_HISTOGRAM,
	  "Latency of requests, call to return.", FALSE, put_latency },
	{ "wirepath_request_self_seconds_total", WP_PROMETHEUS_COUNTER,
	  "Time of requests in which a node had no call open, by that node.", FALSE, put_self },
	{ "wirepath_request_p95_change_ratio", WP_PROMETHEUS_GAUGE,
	  "The p95 in the last window as a multiple of what was usual in the hour before.", TRUE,
	  put_change },
	{ "wirepath_request_slow_since_timestamp_seconds", WP_PROMETHEUS_GAUGE,
	  "Begin of the window since which an operation is slow; absent where it is not.", TRUE,
	  put_since },
};

static void
put_rows(const Writer *writer)
{
	WpPrometheusLabel labels[N_LABELS];

	for (gsize f = 0; f < G_N_ELEMENTS(row_families); f++) {
		wp_prometheus_family(writer->page, row_families[f].name, row_families[f].type,
				     row_families[f].help);
		for (guint i = 0; i < writer->rows->len; i++) {
			const Row *row = writer->rows->pdata[i];
			gboolean is_there = row->seen_ns == writer->metrics->begin_ns &&
					    row != writer->metrics->other;
			if (row_families[f].is_of_window && !is_there)
				continue;
			label_row(row, labels);
			row_families[f].put(writer->page, labels, row);
		}
	}
}

static guint64
get_packets(const WpLiveCounts *counts)
{
	return counts->packets;
}

static guint64
get_bytes(const WpLiveCounts *counts)
{
	return counts->bytes;
}

static guint64
get_kernel_drops(const WpLiveCounts *counts)
{
	return counts->kernel_drops;
}

static guint64
get_interface_drops(const WpLiveCounts *counts)
{
	return counts->interface_drops;
}

static guint64
get_gaps(const WpLiveCounts *counts)
{
	return counts->gaps;
}

static const struct {
	const char *name;
	const char *help;
	guint64 (*get)(const WpLiveCounts *counts);
} interface_families[] = {
	{ "wirepath_packets_total", "Packets read.", get_packets },
	{ "wirepath_packet_bytes_total", "Bytes of these on the wire.", get_bytes },
	{ "wirepath_kernel_dropped_packets_total", "Packets that the kernel dropped.",
	  get_kernel_drops },
	{ "wirepath_interface_dropped_packets_total", "Packets that the interface dropped.",
	  get_interface_drops },
	{ "wirepath_interface_gaps_total", "Times that the interface was down or away.", get_gaps },
};

static void
put_interfaces(WpPrometheus *page, const WpLive *live)
{
	for (gsize f = 0; f < G_N_ELEMENTS(interface_families); f++) {
		wp_prometheus_family(page, interface_families[f].name, WP_PROMETHEUS_COUNTER,
				     interface_families[f].help);
		for (guint i = 0; i < wp_live_n_interfaces(live); i++) {
			const WpPrometheusLabel label = { "interface", wp_live_name(live, i) };
			WpLiveCounts counts = wp_live_counts(live, i);
			wp_prometheus_count(page, &label, 1, interface_families[f].get(&counts));
		}
	}
}

static void
put_page_itself(WpPrometheus *page, const WpWatchMetrics *metrics)
{
	wp_prometheus_build(page);
	wp_prometheus_family(page, "wirepath_windows_total", WP_PROMETHEUS_COUNTER,
			     "Windows of time that held requests.");
	wp_prometheus_count(page, NULL, 0, metrics->n_windows);
	if (metrics->n_windows) {
		wp_prometheus_family(page, "wirepath_window_end_timestamp_seconds",
				     WP_PROMETHEUS_GAUGE, "End of the last of them.");
		wp_prometheus_seconds(page, NULL, 0, (double)metrics->end_ns);
	}
	wp_prometheus_family(page, "wirepath_metrics_left_out_total", WP_PROMETHEUS_COUNTER,
			     "Rows of windows without a series of their own, for want of room.");
	wp_prometheus_count(page, NULL, 0, metrics->n_left_out);
}

void
wp_watch_metrics_write(const WpWatchMetrics *metrics, const WpLive *live,
		       const WpCounters *counters, WpOut *out)
{
	WpPrometheus page = { .out = out };
	g_autoptr(GPtrArray) rows = sort_rows(metrics);
	const Writer writer = { metrics, &page, rows };

	put_page_itself(&page, metrics);
	if (live)
		put_interfaces(&page, live);
	if (counters)
		wp_prometheus_events(&page, counters);
	put_rows(&writer);
}
