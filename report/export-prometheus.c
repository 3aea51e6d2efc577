/*
 * Counts and times as metrics: the text format of Prometheus, version 0.0.4, with base units and suffixes as its
 * conventions want them. What a collector of textfiles takes from a capture once an hour, say.
 *
 * Each operation is a set of series. Beyond MAX_OPERATIONS of them (those with the fewest calls; names come from
 * packets and may be made up without end) calls are summed up as operation "(other)" of their node.
 */
#include <string.h>

#include "report/export.h"
#include "report/prometheus.h"

#define MAX_OPERATIONS 200   /* written */
#define MAX_KEPT       20000 /* ... chosen from so many */
#define REST           "(other)"

typedef struct {
	char *node;
	char *operation;
	char *protocol;
	WpPrometheusTimes latency; /* of calls with a return */
	guint64 calls;
	guint64 messages;
	guint64 errors;
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
add_call(Metrics *metrics, const WpExportCall *call)
{
	Operation *operation = find_operation(&metrics->operations, call->callee,
					      wp_export_operation(call), call->protocol);
	operation->calls += !call->is_one_way;
	operation->messages += call->is_one_way;
	operation->errors += call->is_error;
	/* What waits by design has no latency that says anything. */
	if (call->has_end && !call->waits)
		wp_prometheus_add_time(&operation->latency, call->end_ns - call->begin_ns);
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

static int
compare_by_name(gconstpointer a, gconstpointer b)
{
	const Operation *x = *(Operation *const *)a, *y = *(Operation *const *)b;
	int order = strcmp(x->node, y->node);
	order = order ? order : strcmp(x->operation, y->operation);
	return order ? order : strcmp(x->protocol, y->protocol);
}

/* Most calls first; then by name. */
static int
compare_operations(gconstpointer a, gconstpointer b)
{
	const Operation *x = *(Operation *const *)a, *y = *(Operation *const *)b;
	guint64 m = x->calls + x->messages, n = y->calls + y->messages;
	return m != n ? (m > n ? -1 : 1) : compare_by_name(a, b);
}

static void
merge(Operation *into, const Operation *from)
{
	for (guint i = 0; i <= WP_PROMETHEUS_N_BOUNDS; i++)
		into->latency.counts[i] += from->latency.counts[i];
	into->latency.sum_ns += from->latency.sum_ns;
	into->calls += from->calls;
	into->messages += from->messages;
	into->errors += from->errors;
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

/* A family of numbers of operations, or the histogram. */
typedef struct {
	const char *name;
	WpPrometheusType type;
	const char *help;
	gsize offset; /* in Operation */
} Family;

static const Family families[] = {
	{ "wirepath_calls_total", WP_PROMETHEUS_COUNTER, "Calls, one-way messages not counted.",
	  offsetof(Operation, calls) },
	{ "wirepath_messages_total", WP_PROMETHEUS_COUNTER, "One-way messages.",
	  offsetof(Operation, messages) },
	{ "wirepath_errors_total", WP_PROMETHEUS_COUNTER,
	  "Calls that ended with an error, a reset or a timeout.", offsetof(Operation, errors) },
	{ "wirepath_call_duration_seconds", WP_PROMETHEUS_HISTOGRAM,
	  "Call to return, calls that it caused included.", offsetof(Operation, latency) },
};

static void
write_sample(WpPrometheus *page, const Family *family, const Operation *operation)
{
	const WpPrometheusLabel labels[] = {
		{ "node", operation->node },
		{ "operation", operation->operation },
		{ "protocol", operation->protocol },
	};
	if (family->type == WP_PROMETHEUS_HISTOGRAM)
		wp_prometheus_times(page, labels, G_N_ELEMENTS(labels),
				    G_STRUCT_MEMBER_P(operation, family->offset));
	else
		wp_prometheus_count(page, labels, G_N_ELEMENTS(labels),
				    G_STRUCT_MEMBER(guint64, operation, family->offset));
}

static void
write_operations(const Metrics *metrics, WpPrometheus *page)
{
	g_auto(Operations) rest = { 0 };
	operations_init(&rest);
	g_autoptr(GPtrArray) chosen = choose(metrics, &rest);
	for (gsize f = 0; f < G_N_ELEMENTS(families); f++) {
		wp_prometheus_family(page, families[f].name, families[f].type, families[f].help);
		for (guint i = 0; i < chosen->len; i++)
			write_sample(page, &families[f], chosen->pdata[i]);
	}
}

static int
compare_keys(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
write_nodes(const Metrics *metrics, WpPrometheus *page)
{
	guint n;
	g_autofree char **names = (char **)g_hash_table_get_keys_as_array(metrics->nodes, &n);
	qsort(names, n, sizeof *names, compare_keys);
	wp_prometheus_family(page, "wirepath_node_self_seconds_total", WP_PROMETHEUS_COUNTER,
			     "Time in which a call of the node was open and none that it caused.");
	for (guint i = 0; i < n; i++) {
		const WpPrometheusLabel label = { "node", names[i] };
		const gint64 *self_ns = g_hash_table_lookup(metrics->nodes, names[i]);
		wp_prometheus_seconds(page, &label, 1, (double)*self_ns);
	}
}

static void
metrics_end(gpointer state, const WpExportEnd *end, WpOut *out)
{
	const Metrics *metrics = state;
	WpPrometheus page = { .out = out };
	wp_prometheus_family(&page, "wirepath_requests_total", WP_PROMETHEUS_COUNTER,
			     "Calls that no call caused.");
	wp_prometheus_count(&page, NULL, 0, metrics->n_requests);
	wp_prometheus_family(&page, "wirepath_observed_seconds", WP_PROMETHEUS_GAUGE,
			     "From the first call to the last return: counts by this are rates.");
	wp_prometheus_seconds(&page, NULL, 0, (double)(metrics->end_ns - metrics->begin_ns));
	write_operations(metrics, &page);
	write_nodes(metrics, &page);
	wp_prometheus_events(&page, end->counters);
	wp_prometheus_build(&page);
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
