/*
 * Counts and times as metrics: the text format of Prometheus, version 0.0.4, with base units and suffixes as its
 * conventions want them. What a collector of textfiles takes from a capture once an hour, say.
 *
 * Each operation is a set of series. Beyond MAX_OPERATIONS of them (those with the fewest calls; names come from
 * packets and may be made up without end) calls are summed up as operation "(other)" of their node.
 */
#include "config.h"

#include <string.h>

#include "report/escape.h"
#include "report/export.h"
#include "report/format.h"

#define MAX_OPERATIONS 200   /* written */
#define MAX_KEPT       20000 /* ... chosen from so many */
#define REST           "(other)"

/* Upper bounds in seconds and in ns; +Inf follows. */
static const struct {
	const char *text;
	gint64 ns;
} bounds[] = {
	{ "0.0001", 100000 },  { "0.00025", 250000 }, { "0.0005", 500000 },  { "0.001", 1000000 },
	{ "0.0025", 2500000 }, { "0.005", 5000000 },  { "0.01", 10000000 },  { "0.025", 25000000 },
	{ "0.05", 50000000 },  { "0.1", 100000000 },  { "0.25", 250000000 }, { "0.5", 500000000 },
	{ "1", 1000000000 },   { "2.5", 2500000000 }, { "5", 5000000000 },   { "10", 10000000000 },
	{ "30", 30000000000 },
};

#define N_BOUNDS G_N_ELEMENTS(bounds)

typedef struct {
	char *node;
	char *operation;
	char *protocol;
	guint64 buckets[N_BOUNDS + 1];
	guint64 timed; /* calls with a return: those in the buckets */
	guint64 calls;
	guint64 messages;
	guint64 errors;
	gint64 latency_ns;
} Operation;

typedef struct {
	GHashTable *by_name; /* "node\1operation\1protocol" -> Operation */
	GPtrArray *all;      /* Operation */
} Operations;

typedef struct {
	Operations operations;
	GHashTable *nodes; /* name -> self time, gint64 ns */
	gboolean has_time;
	gint64 begin_ns;
	gint64 end_ns;
	guint64 n_requests;
} Metrics;

static void
operation_free(gpointer data)
{
	Operation *operation = data;
	g_free(operation->node);
	g_free(operation->operation);
	g_free(operation->protocol);
	g_free(operation);
}

static void
operations_init(Operations *operations)
{
	operations->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	operations->all = g_ptr_array_new_with_free_func(operation_free);
}

static void
operations_clear(Operations *operations)
{
	g_clear_pointer(&operations->by_name, g_hash_table_unref);
	g_clear_pointer(&operations->all, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Operations, operations_clear)

static void
metrics_begin(gpointer state, WpOut *out)
{
	Metrics *metrics = state;
	(void)out;
	operations_init(&metrics->operations);
	metrics->nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static void
metrics_clear(gpointer state)
{
	Metrics *metrics = state;
	operations_clear(&metrics->operations);
	g_clear_pointer(&metrics->nodes, g_hash_table_unref);
}

static Operation *
find_operation(Operations *operations, const char *node, const char *name, const char *protocol)
{
	g_autofree char *key = g_strjoin("\1", node, name, protocol, NULL);
	Operation *operation = g_hash_table_lookup(operations->by_name, key);
	if (operation)
		return operation;
	if (operations->all->len >= MAX_KEPT && strcmp(name, REST) != 0)
		return find_operation(operations, node, REST, "");
	operation = g_new0(Operation, 1);
	operation->node = g_strdup(node);
	operation->operation = g_strdup(name);
	operation->protocol = g_strdup(protocol);
	g_ptr_array_add(operations->all, operation);
	g_hash_table_insert(operations->by_name, g_steal_pointer(&key), operation);
	return operation;
}

static void
add_self(Metrics *metrics, const char *node, gint64 ns)
{
	gint64 *self_ns = g_hash_table_lookup(metrics->nodes, node);
	if (!self_ns) {
		self_ns = g_new0(gint64, 1);
		g_hash_table_insert(metrics->nodes, g_strdup(node), self_ns);
	}
	*self_ns += ns;
}

static void
add_latency(Operation *operation, gint64 ns)
{
	guint i = 0;
	while (i < N_BOUNDS && ns > bounds[i].ns)
		i++;
	operation->buckets[i]++;
	operation->timed++;
	operation->latency_ns += ns;
}

static void
add_call(Metrics *metrics, const WpExportCall *call)
{
	Operation *operation = find_operation(&metrics->operations, call->callee,
					      wp_export_operation(call), call->protocol);
	operation->calls += !call->is_one_way;
	operation->messages += call->is_one_way;
	operation->errors += call->is_error;
	/* What waits by design has no latency that says anything. */
	if (call->has_end && !call->waits)
		add_latency(operation, call->end_ns - call->begin_ns);
	add_self(metrics, call->callee, call->waits ? 0 : call->self_ns);
	if (!metrics->has_time || call->begin_ns < metrics->begin_ns)
		metrics->begin_ns = call->begin_ns;
	if (!metrics->has_time || call->end_ns > metrics->end_ns)
		metrics->end_ns = call->end_ns;
	metrics->has_time = TRUE;
}

static void
metrics_trace(gpointer state, const WpExportTrace *trace, WpOut *out)
{
	(void)out;
	((Metrics *)state)->n_requests++;
	for (guint32 i = 0; i < trace->n_calls; i++)
		add_call(state, &trace->calls[i]);
}

/* --- the page --- */

/* Most calls first; then by name. */
static int
compare_operations(gconstpointer a, gconstpointer b)
{
	const Operation *x = *(Operation *const *)a, *y = *(Operation *const *)b;
	guint64 m = x->calls + x->messages, n = y->calls + y->messages;
	if (m != n)
		return m > n ? -1 : 1;
	int order = strcmp(x->node, y->node);
	order = order ? order : strcmp(x->operation, y->operation);
	return order ? order : strcmp(x->protocol, y->protocol);
}

static int
compare_by_name(gconstpointer a, gconstpointer b)
{
	const Operation *x = *(Operation *const *)a, *y = *(Operation *const *)b;
	int order = strcmp(x->node, y->node);
	order = order ? order : strcmp(x->operation, y->operation);
	return order ? order : strcmp(x->protocol, y->protocol);
}

static void
merge(Operation *into, const Operation *from)
{
	for (guint i = 0; i <= N_BOUNDS; i++)
		into->buckets[i] += from->buckets[i];
	into->timed += from->timed;
	into->calls += from->calls;
	into->messages += from->messages;
	into->errors += from->errors;
	into->latency_ns += from->latency_ns;
}

/* (transfer container) Those to be written, by name; the rest are put into REST, which owns what is new. */
static GPtrArray *
choose(const Metrics *metrics, Operations *rest)
{
	GPtrArray *all = metrics->operations.all, *chosen = g_ptr_array_new();
	g_ptr_array_sort(all, compare_operations);
	for (guint i = 0; i < all->len; i++) {
		const Operation *operation = all->pdata[i];
		if (i < MAX_OPERATIONS && strcmp(operation->operation, REST) != 0)
			g_ptr_array_add(chosen, all->pdata[i]);
		else
			merge(find_operation(rest, operation->node, REST, ""), operation);
	}
	g_ptr_array_extend(chosen, rest->all, NULL, NULL);
	g_ptr_array_sort(chosen, compare_by_name);
	return chosen;
}

static void
write_head(WpOut *out, const char *name, const char *type, const char *help)
{
	wp_out_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* \ " and line ends are quoted; what cannot be seen was made visible before. */
static void
write_label(WpOut *out, const char *key, const char *value, char before)
{
	g_autofree char *safe = wp_escape_terminal(value, TRUE);
	wp_out_printf(out, "%c%s=\"", before, key);
	for (const char *p = safe; *p; p++) {
		if (*p == '\\' || *p == '"')
			wp_out_char(out, '\\');
		wp_out_char(out, *p);
	}
	wp_out_char(out, '"');
}

static void
write_labels(WpOut *out, const Operation *operation)
{
	write_label(out, "node", operation->node, '{');
	write_label(out, "operation", operation->operation, ',');
	write_label(out, "protocol", operation->protocol, ',');
}

static void
write_seconds(WpOut *out, gint64 ns)
{
	wp_out_printf(out, "%" G_GINT64_FORMAT ".%09" G_GINT64_FORMAT "\n", ns / 1000000000,
		      ns % 1000000000);
}

static void
write_count(WpOut *out, const char *name, const Operation *operation, guint64 count)
{
	wp_out_text(out, name);
	write_labels(out, operation);
	wp_out_printf(out, "} %" G_GUINT64_FORMAT "\n", count);
}

static void
write_histogram(WpOut *out, const Operation *operation)
{
	guint64 sum = 0;
	for (guint i = 0; i <= N_BOUNDS; i++) {
		sum += operation->buckets[i];
		wp_out_text(out, "wirepath_call_duration_seconds_bucket");
		write_labels(out, operation);
		wp_out_printf(out, ",le=\"%s\"} %" G_GUINT64_FORMAT "\n",
			      i < N_BOUNDS ? bounds[i].text : "+Inf", sum);
	}
	wp_out_text(out, "wirepath_call_duration_seconds_sum");
	write_labels(out, operation);
	wp_out_text(out, "} ");
	write_seconds(out, operation->latency_ns);
	write_count(out, "wirepath_call_duration_seconds_count", operation, operation->timed);
}

static void
write_operations(const Metrics *metrics, WpOut *out)
{
	g_auto(Operations) rest = { 0 };
	operations_init(&rest);
	g_autoptr(GPtrArray) chosen = choose(metrics, &rest);
	write_head(out, "wirepath_calls_total", "counter", "Calls, one-way messages not counted.");
	for (guint i = 0; i < chosen->len; i++)
		write_count(out, "wirepath_calls_total", chosen->pdata[i],
			    ((Operation *)chosen->pdata[i])->calls);
	write_head(out, "wirepath_messages_total", "counter", "One-way messages.");
	for (guint i = 0; i < chosen->len; i++)
		write_count(out, "wirepath_messages_total", chosen->pdata[i],
			    ((Operation *)chosen->pdata[i])->messages);
	write_head(out, "wirepath_errors_total", "counter",
		   "Calls that ended with an error, a reset or a timeout.");
	for (guint i = 0; i < chosen->len; i++)
		write_count(out, "wirepath_errors_total", chosen->pdata[i],
			    ((Operation *)chosen->pdata[i])->errors);
	write_head(out, "wirepath_call_duration_seconds", "histogram",
		   "Call to return, calls that it caused included.");
	for (guint i = 0; i < chosen->len; i++)
		write_histogram(out, chosen->pdata[i]);
}

static int
compare_keys(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
write_nodes(const Metrics *metrics, WpOut *out)
{
	guint n;
	g_autofree char **names = (char **)g_hash_table_get_keys_as_array(metrics->nodes, &n);
	qsort(names, n, sizeof *names, compare_keys);
	write_head(out, "wirepath_node_self_seconds_total", "counter",
		   "Time in which a call of the node was open and none that it caused.");
	for (guint i = 0; i < n; i++) {
		const gint64 *self_ns = g_hash_table_lookup(metrics->nodes, names[i]);
		wp_out_text(out, "wirepath_node_self_seconds_total");
		write_label(out, "node", names[i], '{');
		wp_out_text(out, "} ");
		write_seconds(out, *self_ns);
	}
}

static void
write_counters(const WpCounters *counters, WpOut *out)
{
	static const char *const severities[] = { "fact", "note", "loss" };
	write_head(out, "wirepath_capture_events_total", "counter",
		   "What was counted while reading; wirepath report --list-counters says what.");
	for (int i = 0; i < WP_N_COUNTERS; i++) {
		guint64 count = wp_counters_get(counters, (WpCounter)i);
		if (!count)
			continue;
		wp_out_text(out, "wirepath_capture_events_total");
		write_label(out, "counter", wp_counter_info[i].name, '{');
		write_label(out, "severity", severities[wp_counter_info[i].severity], ',');
		wp_out_printf(out, "} %" G_GUINT64_FORMAT "\n", count);
	}
}

static void
metrics_end(gpointer state, const WpExportEnd *end, WpOut *out)
{
	const Metrics *metrics = state;
	write_head(out, "wirepath_requests_total", "counter", "Calls that no call caused.");
	wp_out_printf(out, "wirepath_requests_total %" G_GUINT64_FORMAT "\n", metrics->n_requests);
	write_head(out, "wirepath_observed_seconds", "gauge",
		   "From the first call to the last return: counts by this are rates.");
	wp_out_text(out, "wirepath_observed_seconds ");
	write_seconds(out, metrics->end_ns - metrics->begin_ns);
	write_operations(metrics, out);
	write_nodes(metrics, out);
	write_counters(end->counters, out);
	write_head(out, "wirepath_build_info", "gauge", "What wrote this; always 1.");
	wp_out_text(out, "wirepath_build_info{version=\"" PACKAGE_VERSION "\"} 1\n");
}

static const char *const prometheus_suffixes[] = { "prom", NULL };

const WpExportForm wp_export_prometheus = {
	.name = "prometheus",
	.summary = "metrics as text: counts, latencies, self times, capture quality",
	.suffixes = prometheus_suffixes,
	.state_size = sizeof(Metrics),
	.begin = metrics_begin,
	.trace = metrics_trace,
	.end = metrics_end,
	.clear = metrics_clear,
};
