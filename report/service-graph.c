/*
 * Edges are summed over the merged trees; then nodes get ranks from left to right, as in any layered drawing:
 * a depth-first walk tells the edges that go back, the others give the longest way; two sweeps put each node
 * near the mean place of its callers.
 */
#include "report/service-graph.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	GHashTable *numbers; /* name -> number + 1 */
	GHashTable *edges;   /* from and to -> number + 1 */
	GArray *node_array;  /* WpServiceNode */
	GArray *edge_array;  /* WpServiceEdge */
	GArray *sums;        /* double, by edge: latency of all calls */
} Maker;

static guint32
node_of(Maker *maker, const char *name)
{
	guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(maker->numbers, name));
	if (number)
		return number - 1;
	WpServiceNode node = { .name = name };
	g_array_append_val(maker->node_array, node);
	g_hash_table_insert(maker->numbers, (gpointer)name,
			    GUINT_TO_POINTER(maker->node_array->len));
	return maker->node_array->len - 1;
}

static void
add_call(Maker *maker, const char *caller, const WpViewPlace *place, double n)
{
	guint32 from = node_of(maker, caller), to = node_of(maker, place->node);
	gint64 key = (gint64)from << 32 | to;
	WpServiceNode *node = &g_array_index(maker->node_array, WpServiceNode, to);
	guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(maker->edges, &key));
	if (!number) {
		WpServiceEdge edge = { .from = from, .to = to };
		double none = 0;
		g_array_append_val(maker->edge_array, edge);
		g_array_append_val(maker->sums, none);
		number = maker->edge_array->len;
		g_hash_table_insert(maker->edges, g_memdup2(&key, sizeof key),
				    GUINT_TO_POINTER(number));
	}
	WpServiceEdge *edge = &g_array_index(maker->edge_array, WpServiceEdge, number - 1);
	edge->calls += place->calls * n;
	edge->errors += place->errors * n;
	g_array_index(maker->sums, double, number - 1) += place->latency_ns * place->calls * n;
	node->calls += place->calls * n;
	node->errors += place->errors * n;
	node->self_ns += place->self_ns * n;
}

static void
gather(Maker *maker, const WpView *view)
{
	for (guint32 i = 0; i < view->n_operations; i++) {
		const WpViewOperation *operation = &view->operations[i];
		for (guint32 k = 0; k < operation->n_places && !operation->is_background; k++) {
			const WpViewPlace *place = &operation->places[k];
			add_call(maker,
				 place->parent == WP_VIEW_NONE
					 ? operation->client
					 : operation->places[place->parent].node,
				 place, (double)operation->count);
		}
	}
	for (guint i = 0; i < maker->edge_array->len; i++) {
		WpServiceEdge *edge = &g_array_index(maker->edge_array, WpServiceEdge, i);
		if (edge->calls > 0)
			edge->latency_ns = g_array_index(maker->sums, double, i) / edge->calls;
	}
}

static int
compare_edges(gconstpointer a, gconstpointer b)
{
	const WpServiceEdge *x = a, *y = b;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* --- ranks --- */

/*
 * Marks the edges that go back. Depth first from each node not met yet, callers of the first requests first;
 * without recursion, as a chain of calls may be long.
 */
static void
find_back_edges(WpServiceGraph *graph)
{
	enum {
		NEW,
		OPEN,
		DONE
	};
	g_autofree guint8 *state = g_malloc0((gsize)graph->n_nodes + 1);
	g_autofree guint32 *next = g_new0(guint32, (gsize)graph->n_nodes + 1);
	g_autoptr(GArray) way = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (guint32 root = 0; root < graph->n_nodes; root++) {
		if (state[root] != NEW)
			continue;
		g_array_append_val(way, root);
		while (way->len) {
			guint32 at = g_array_index(way, guint32, way->len - 1);
			state[at] = OPEN;
			while (next[at] < graph->n_edges && graph->edges[next[at]].from != at)
				next[at]++;
			if (next[at] == graph->n_edges) {
				state[at] = DONE;
				g_array_set_size(way, way->len - 1);
				continue;
			}
			WpServiceEdge *edge = &graph->edges[next[at]++];
			if (state[edge->to] == OPEN)
				edge->is_back = TRUE;
			else if (state[edge->to] == NEW)
				g_array_append_val(way, edge->to);
		}
	}
}

static void
set_ranks(WpServiceGraph *graph)
{
	gboolean has_changed = TRUE;
	for (guint32 round = 0; has_changed && round <= graph->n_nodes; round++) {
		has_changed = FALSE;
		for (guint32 i = 0; i < graph->n_edges; i++) {
			const WpServiceEdge *edge = &graph->edges[i];
			guint32 least = graph->nodes[edge->from].rank + 1;
			if (edge->is_back || graph->nodes[edge->to].rank >= least)
				continue;
			graph->nodes[edge->to].rank = least;
			has_changed = TRUE;
		}
	}
}

typedef struct {
	double wish; /* mean place of the callers */
	guint32 node;
} Wish;

static int
compare_wishes(gconstpointer a, gconstpointer b)
{
	const Wish *x = a, *y = b;
	if (x->wish != y->wish)
		return x->wish < y->wish ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Puts the nodes of RANK in order; returns how many there are. */
static guint32
place_rank(WpServiceGraph *graph, guint32 rank)
{
	g_autoptr(GArray) wishes = g_array_new(FALSE, FALSE, sizeof(Wish));
	for (guint32 i = 0; i < graph->n_nodes; i++) {
		double sum = 0, n = 0;
		if (graph->nodes[i].rank != rank)
			continue;
		for (guint32 k = 0; k < graph->n_edges; k++)
			if (graph->edges[k].to == i &&
			    graph->nodes[graph->edges[k].from].rank < rank) {
				sum += graph->nodes[graph->edges[k].from].place;
				n++;
			}
		Wish wish = { n > 0 ? sum / n : graph->nodes[i].place, i };
		g_array_append_val(wishes, wish);
	}
	g_array_sort(wishes, compare_wishes);
	for (guint32 i = 0; i < wishes->len; i++)
		graph->nodes[g_array_index(wishes, Wish, i).node].place = i;
	return wishes->len;
}

static void
lay_out(WpServiceGraph *graph)
{
	find_back_edges(graph);
	set_ranks(graph);
	for (guint32 i = 0; i < graph->n_nodes; i++)
		graph->n_ranks = MAX(graph->n_ranks, graph->nodes[i].rank + 1);
	for (int sweep = 0; sweep < 2; sweep++)
		for (guint32 rank = 0; rank < graph->n_ranks; rank++)
			graph->widest = MAX(graph->widest, place_rank(graph, rank));
}

static void
mark_hottest(WpServiceGraph *graph)
{
	WpServiceNode *hottest = NULL;
	double all = 0;
	for (guint32 i = 0; i < graph->n_nodes; i++) {
		all += graph->nodes[i].self_ns;
		if (!hottest || graph->nodes[i].self_ns > hottest->self_ns)
			hottest = &graph->nodes[i];
	}
	for (guint32 i = 0; i < graph->n_nodes && all > 0; i++)
		graph->nodes[i].self_share = graph->nodes[i].self_ns / all;
	if (hottest && hottest->self_ns > 0)
		hottest->is_hottest = TRUE;
}

/* --- what is left out --- */

static int
compare_weights(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpServiceNode *nodes = data;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	if (nodes[i].self_ns != nodes[j].self_ns)
		return nodes[i].self_ns > nodes[j].self_ns ? -1 : 1;
	if (nodes[i].calls != nodes[j].calls)
		return nodes[i].calls > nodes[j].calls ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Leaves the nodes that matter most, in their order, and the edges between them. */
static void
hide_rest(WpServiceGraph *graph)
{
	guint32 n = graph->n_nodes, n_edges = 0, kept = 0;
	if (n <= WP_SERVICE_GRAPH_MAX)
		return;
	g_autofree guint32 *order = g_new(guint32, n);
	g_autofree guint32 *now = g_new(guint32, n);
	for (guint32 i = 0; i < n; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)n, sizeof *order, compare_weights, graph->nodes);
	memset(now, 0xff, n * sizeof *now);
	for (guint32 i = 0; i < WP_SERVICE_GRAPH_MAX; i++)
		now[order[i]] = 0;
	for (guint32 i = 0; i < n; i++)
		if (now[i] != G_MAXUINT32) {
			now[i] = kept;
			graph->nodes[kept++] = graph->nodes[i];
		}
	for (guint32 i = 0; i < graph->n_edges; i++) {
		WpServiceEdge edge = graph->edges[i];
		if (now[edge.from] == G_MAXUINT32 || now[edge.to] == G_MAXUINT32)
			continue;
		edge.from = now[edge.from];
		edge.to = now[edge.to];
		graph->edges[n_edges++] = edge;
	}
	graph->n_hidden = n - kept;
	graph->n_nodes = kept;
	graph->n_edges = n_edges;
}

WpServiceGraph *
wp_service_graph_new(const WpView *view)
{
	WpServiceGraph *graph = g_new0(WpServiceGraph, 1);
	g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) edges =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(double));
	Maker maker = { .numbers = numbers,
			.edges = edges,
			.node_array = g_array_new(FALSE, FALSE, sizeof(WpServiceNode)),
			.edge_array = g_array_new(FALSE, FALSE, sizeof(WpServiceEdge)),
			.sums = sums };

	gather(&maker, view);
	g_array_sort(maker.edge_array, compare_edges);
	graph->n_nodes = maker.node_array->len;
	graph->n_edges = maker.edge_array->len;
	graph->nodes = (WpServiceNode *)(void *)g_array_free(maker.node_array, FALSE);
	graph->edges = (WpServiceEdge *)(void *)g_array_free(maker.edge_array, FALSE);
	mark_hottest(graph);
	hide_rest(graph);
	lay_out(graph);
	return graph;
}

void
wp_service_graph_free(WpServiceGraph *graph)
{
	if (!graph)
		return;
	g_free(graph->nodes);
	g_free(graph->edges);
	g_free(graph);
}
