/*
 * The numbers of an HTML report for scripts: one block of JSON, schema "wirepath.page/1", by which the script of another
 * page shows both side by side (page/beside.js). Members have the names, the meaning and the digits of the JSON form, but
 * for what is shorter here, as there are thousands of it: names are numbers in "texts", and places of trees are arrays.
 *
 *   "latency"  count, mean, sd, min, p50, p90, p95, p99, max              of operations; [] = nothing is known
 *   "tree"     node, operation, protocol, parent, waits, calls and errors a request, mean latency, self a request
 *   "bins"     "low_ns high_ns count,..."                                 latencies of an operation
 *   "nodes"    node, operation, protocol, parent, repeat, count, errors,
 *              [count, mean, p50, p95, p99] of the latency, [count, mean, p95] of self times
 *   "self_by_node"  node, calls, errors, self time
 *
 * The parent of a root is -1. What is beyond the limits is left out whole; the counts "..._in_all" tell.
 */
#include "report/json.h"
#include "report/view-curve.h"
#include "report/write-html.h"

#include <string.h>

/* As many as the tables of the page have. */
#define MAX_OPERATIONS 200
#define MAX_NODES      200
#define MAX_PATTERNS   500

/* Names may be of any length: no operation and no pattern is begun when those before have so many bytes. */
#define MAX_TEXTS (512 << 10)

typedef struct {
	const WpView *view;
	WpJson json;
	GHashTable *numbers; /* text -> its number + 1 */
	GPtrArray *texts;    /* borrowed */
	gsize n_bytes;       /* of texts */
	guint32 n_rows;      /* places of trees so far */
} Data;

static void
write_text(Data *data, const char *key, const char *text)
{
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(data->numbers, text));
	if (!number) {
		g_ptr_array_add(data->texts, (gpointer)text);
		number = data->texts->len;
		g_hash_table_insert(data->numbers, (gpointer)text, GUINT_TO_POINTER(number));
		data->n_bytes += strlen(text);
	}
	wp_json_uint(&data->json, key, number - 1);
}

static void
write_parent(Data *data, guint32 parent)
{
	wp_json_int(&data->json, NULL, parent == WP_VIEW_NONE ? -1 : (gint64)parent);
}

static void
write_times(Data *data, const double *ns, gsize n, guint64 count)
{
	wp_json_open(&data->json, NULL, '[');
	if (count)
		wp_json_uint(&data->json, NULL, count);
	for (gsize i = 0; i < n && count; i++)
		wp_json_number(&data->json, NULL, ns[i], i == 0 ? 1 : 0);
	wp_json_close(&data->json, ']');
}

static gboolean
has_room(const Data *data, guint32 n_rows)
{
	return n_rows <= WP_HTML_MAX_ROWS - data->n_rows && data->n_bytes < MAX_TEXTS;
}

/* --- operations --- */

static void
write_place(Data *data, const WpViewPlace *place)
{
	WpJson *json = &data->json;
	wp_json_open(json, NULL, '[');
	write_text(data, NULL, place->node);
	write_text(data, NULL, place->label);
	write_text(data, NULL, place->protocol);
	write_parent(data, place->parent);
	wp_json_uint(json, NULL, place->waits ? 1 : 0);
	wp_json_number(json, NULL, place->calls, 6);
	wp_json_number(json, NULL, place->errors, 6);
	wp_json_number(json, NULL, place->latency_ns, 1);
	wp_json_number(json, NULL, place->self_ns, 1);
	wp_json_close(json, ']');
}

static void
write_bins(Data *data, const WpViewOperation *operation)
{
	g_autoptr(GArray) bins = wp_view_latency_bins(data->view, operation);
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = 0; i < bins->len; i++) {
		const WpViewBin *bin = &g_array_index(bins, WpViewBin, i);
		g_string_append_printf(
			text, "%s%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT,
			i ? "," : "", MAX(bin->low_ns, 0), MAX(bin->high_ns, 0), bin->count);
	}
	wp_json_text(&data->json, "bins", text->str);
}

static void
write_latency(Data *data, const WpViewTimes *times)
{
	const double ns[] = { times->mean_ns, times->sd_ns,  times->min_ns, times->p50_ns,
			      times->p90_ns,  times->p95_ns, times->p99_ns, times->max_ns };
	WpJson *json = &data->json;
	wp_json_open(json, "latency", '[');
	if (times->count)
		wp_json_uint(json, NULL, times->count);
	for (gsize i = 0; i < G_N_ELEMENTS(ns) && times->count; i++)
		wp_json_number(json, NULL, ns[i], i < 2 ? 1 : 0);
	wp_json_close(json, ']');
}

static void
write_operation(Data *data, const WpViewOperation *operation)
{
	WpJson *json = &data->json;
	wp_json_open(json, NULL, '{');
	write_text(data, "client", operation->client);
	write_text(data, "node", operation->node);
	write_text(data, "operation", operation->label);
	write_text(data, "protocol", operation->protocol);
	wp_json_uint(json, "count", operation->count);
	wp_json_uint(json, "errors", operation->errors);
	wp_json_number(json, "total_ns", operation->total_ns, 0);
	wp_json_bool(json, "background", operation->is_background);
	wp_json_uint(json, "uncertain", operation->uncertain.count);
	write_latency(data, &operation->latency);
	wp_json_open(json, "tree", '[');
	if (has_room(data, operation->n_places)) {
		data->n_rows += operation->n_places;
		for (guint32 i = 0; i < operation->n_places; i++)
			write_place(data, &operation->places[i]);
	}
	wp_json_close(json, ']');
	write_bins(data, operation);
	wp_json_close(json, '}');
}

/* How many were written. */
static guint32
write_operations(Data *data)
{
	const WpView *view = data->view;
	guint32 n = 0;
	wp_json_uint(&data->json, "operations_in_all", view->n_operations);
	wp_json_open(&data->json, "operations", '[');
	for (; n < MIN(view->n_operations, MAX_OPERATIONS) && has_room(data, 0); n++)
		write_operation(data, &view->operations[n]);
	wp_json_close(&data->json, ']');
	return n;
}

/* --- patterns --- */

static void
write_node(Data *data, const WpViewNode *node)
{
	const double latency[] = { node->latency.mean_ns, node->latency.p50_ns,
				   node->latency.p95_ns, node->latency.p99_ns };
	const double self[] = { node->self.mean_ns, node->self.p95_ns };
	WpJson *json = &data->json;
	wp_json_open(json, NULL, '[');
	write_text(data, NULL, node->node);
	write_text(data, NULL, node->label);
	write_text(data, NULL, node->protocol);
	write_parent(data, node->parent);
	wp_json_uint(json, NULL, node->repeat);
	wp_json_uint(json, NULL, node->count);
	wp_json_uint(json, NULL, node->errors);
	write_times(data, latency, G_N_ELEMENTS(latency), node->latency.count);
	write_times(data, self, G_N_ELEMENTS(self), node->self.count);
	wp_json_close(json, ']');
}

static void
write_patterns(Data *data, guint32 n_operations)
{
	const WpView *view = data->view;
	WpJson *json = &data->json;
	data->n_rows = 0; /* as many again as trees of operations */
	wp_json_uint(json, "patterns_in_all", view->n_patterns);
	wp_json_open(json, "patterns", '[');
	for (guint32 i = 0; i < MIN(view->n_patterns, MAX_PATTERNS); i++) {
		const WpViewPattern *pattern = &view->patterns[i];
		if (pattern->operation >= n_operations || !has_room(data, pattern->n_nodes))
			continue;
		data->n_rows += pattern->n_nodes;
		wp_json_open(json, NULL, '{');
		wp_json_uint(json, "rank", pattern->rank);
		wp_json_uint(json, "operation", pattern->operation);
		wp_json_uint(json, "count", pattern->count);
		wp_json_uint(json, "errors", pattern->errors);
		wp_json_number(json, "total_ns", pattern->total_ns, 0);
		wp_json_open(json, "nodes", '[');
		for (guint32 k = 0; k < pattern->n_nodes; k++)
			write_node(data, &pattern->nodes[k]);
		wp_json_close(json, ']');
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

/* --- the whole --- */

static void
write_facts(Data *data)
{
	const WpView *view = data->view;
	WpJson *json = &data->json;
	wp_json_text(json, "schema", "wirepath.page/1");
	wp_json_open(json, "inputs", '[');
	for (guint i = 0; i < view->n_inputs; i++)
		wp_json_text(json, NULL, view->inputs[i]);
	wp_json_close(json, ']');
	wp_json_text(json, "root", view->root);
	wp_json_text(json, "hidden", view->hidden);
	wp_json_text(json, "where", view->where);
	wp_json_text(json, "partial_reason", view->partial);
	if (view->n_records) {
		wp_json_epoch(json, "begin_ns", view->begin_ns);
		wp_json_epoch(json, "end_ns", view->end_ns);
	}
	wp_json_uint(json, "requests", view->n_requests);
	wp_json_uint(json, "calls", view->n_calls);
	wp_json_number(json, "total_ns", view->total_ns, 0);
	wp_json_text(json, "engine", view->links.engine);
	wp_json_text(json, "trust", wp_view_trust_names[view->links.trust]);
}

static void
write_totals(Data *data)
{
	WpJson *json = &data->json;
	wp_json_open(json, "self_by_node", '[');
	for (guint32 i = 0; i < MIN(data->view->n_totals, MAX_NODES); i++) {
		const WpViewShare *total = &data->view->totals[i];
		wp_json_open(json, NULL, '[');
		write_text(data, NULL, total->node);
		wp_json_uint(json, NULL, total->count);
		wp_json_uint(json, NULL, total->errors);
		wp_json_number(json, NULL, total->self_ns, 0);
		wp_json_close(json, ']');
	}
	wp_json_close(json, ']');
}

void
wp_html_data(const WpHtml *html)
{
	g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) texts = g_ptr_array_new();
	Data data = { .view = html->view,
		      .json = { .out = html->out, .is_compact = TRUE },
		      .numbers = numbers,
		      .texts = texts };
	wp_out_text(html->out, "<script type=\"application/json\" id=\"data\">\n");
	wp_json_open(&data.json, NULL, '{');
	write_facts(&data);
	write_totals(&data);
	write_patterns(&data, write_operations(&data));
	wp_json_open(&data.json, "texts", '[');
	for (guint i = 0; i < texts->len; i++)
		wp_json_text(&data.json, NULL, texts->pdata[i]);
	wp_json_close(&data.json, ']');
	wp_json_close(&data.json, '}');
	wp_out_text(html->out, "</script>\n");
}
