/* The way through a node that --edge names, and its messages. See correlogram.h. */
#include "report/correlogram.h"

#include <string.h>

#include "report/error.h"
#include "report/format.h"

/* Ways that an error names, taken from so many of the busiest edges. */
#define MAX_NAMED   6
#define MAX_BUSIEST 64

typedef struct {
	const WpMessages *messages;
	const WpResolved *resolved;
} Edges;

static const char *
name_of(const Edges *edges, guint32 node)
{
	return wp_resolved_node_name(edges->resolved, node);
}

static gboolean
is_between(const Edges *edges, const WpEdge *edge, const char *sender, const char *receiver)
{
	return edge->n && strcmp(name_of(edges, edge->sender), sender) == 0 &&
	       strcmp(name_of(edges, edge->receiver), receiver) == 0;
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
	gint64 left = *(const gint64 *)a, right = *(const gint64 *)b;
	return (left > right) - (left < right);
}

/* (transfer full) Times of all messages from SENDER to RECEIVER, ascending: gint64. */
static GArray *
times_between(const Edges *edges, const char *sender, const char *receiver)
{
	GArray *times = g_array_new(FALSE, FALSE, sizeof(gint64));
	for (guint32 i = 0; i < edges->messages->n; i++) {
		const WpEdge *edge = &edges->messages->edges[i];
		if (is_between(edges, edge, sender, receiver))
			g_array_append_vals(times, edge->times_ns, (guint)edge->n);
	}
	g_array_sort(times, compare_times);
	return times;
}

static gboolean
has_messages(const Edges *edges, const char *sender, const char *receiver)
{
	for (guint32 i = 0; i < edges->messages->n; i++)
		if (is_between(edges, &edges->messages->edges[i], sender, receiver))
			return TRUE;
	return FALSE;
}

/* Parts TEXT at two of its colons. */
static gboolean
part_names(const Edges *edges, const char *text, WpCorrelogramView *view)
{
	for (const char *p = strchr(text, ':'); p; p = strchr(p + 1, ':'))
		for (const char *q = strchr(p + 1, ':'); q; q = strchr(q + 1, ':')) {
			g_autofree char *from = g_strndup(text, (gsize)(p - text));
			g_autofree char *through = g_strndup(p + 1, (gsize)(q - p - 1));
			if (!has_messages(edges, from, through) ||
			    !has_messages(edges, through, q + 1))
				continue;
			view->from = g_steal_pointer(&from);
			view->through = g_steal_pointer(&through);
			view->to = g_strdup(q + 1);
			return TRUE;
		}
	return FALSE;
}

static int
compare_busiest(gconstpointer a, gconstpointer b)
{
	const WpEdge *left = *(const WpEdge *const *)a, *right = *(const WpEdge *const *)b;
	if (left->n != right->n)
		return left->n > right->n ? -1 : 1;
	return (left > right) - (left < right);
}

/* (transfer full) Some ways through a node, of the busiest edges: what could have been asked for. */
static char *
name_some(const Edges *edges)
{
	g_autoptr(GPtrArray) busiest = g_ptr_array_new();
	GString *some = g_string_new(NULL);
	for (guint32 i = 0; i < edges->messages->n; i++)
		if (edges->messages->edges[i].n)
			g_ptr_array_add(busiest, &edges->messages->edges[i]);
	g_ptr_array_sort(busiest, compare_busiest);
	guint n = MIN(busiest->len, MAX_BUSIEST), named = 0;
	for (guint i = 0; i < n; i++)
		for (guint k = 0; k < n && named < MAX_NAMED; k++) {
			const WpEdge *in = busiest->pdata[i], *out = busiest->pdata[k];
			if (in->receiver != out->sender || in->sender == out->receiver)
				continue;
			g_string_append_printf(
				some, "%s%s:%s:%s", named++ ? ", " : "", name_of(edges, in->sender),
				name_of(edges, in->receiver), name_of(edges, out->receiver));
		}
	return g_string_free(some, FALSE);
}

static gboolean
find_way(const Edges *edges, const char *text, WpCorrelogramView *view, GError **error)
{
	if (part_names(edges, text, view))
		return TRUE;
	g_autofree char *some = name_some(edges);
	g_set_error(
		error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		"--edge %s: no messages go from the first to the second of three nodes, and from "
		"there to the third\n%s%s",
		text,
		*some ? "ways through a node that are busy here: " : "no node both gets and sends",
		some);
	return FALSE;
}

/* The spikes of the vertex with most messages of this way. */
static void
take_spikes(const Edges *edges, const WpSpectra *spectra, WpCorrelogramView *view)
{
	double most = 0;
	for (guint32 i = 0; i < spectra->vertices->len; i++) {
		const WpVertex *vertex = wp_spectra_vertex(spectra, i);
		if (vertex->parent == WP_NO_VERTEX || vertex->messages <= most)
			continue;
		const WpVertex *before = wp_spectra_vertex(spectra, vertex->parent);
		if (strcmp(name_of(edges, before->sender), view->from) != 0 ||
		    strcmp(name_of(edges, vertex->sender), view->through) != 0 ||
		    strcmp(name_of(edges, vertex->receiver), view->to) != 0)
			continue;
		most = vertex->messages;
		view->spikes = vertex->spikes;
		view->n_spikes = vertex->n_spikes;
	}
}

/* Half as far again as the longest delay goes. */
static gint64
lag_of_spikes(const WpCorrelogramView *view, gint64 max_lag_ns)
{
	double longest = 0;
	for (guint32 i = 0; i < view->n_spikes; i++)
		longest = MAX(longest, view->spikes[i].delay_ns + 5 * view->spikes[i].spread_ns);
	return longest > 0 ? (gint64)CLAMP(1.5 * longest, 1000, (double)max_lag_ns) : max_lag_ns;
}

WpCorrelogramView *
wp_correlogram_view_new(const WpView *view, const char *edge, const WpMessages *messages,
			const WpSpectra *spectra, const WpResolved *resolved, gint64 max_lag_ns,
			gint64 quantum_ns, GError **error)
{
	Edges edges = { messages, resolved };
	g_autoptr(WpCorrelogramView) own = g_new0(WpCorrelogramView, 1);
	own->view = view;
	own->is_published = spectra->is_published;
	if (!find_way(&edges, edge, own, error))
		return NULL;
	take_spikes(&edges, spectra, own);
	gint64 lag = max_lag_ns ? max_lag_ns : lag_of_spikes(own, spectra->max_lag_ns);
	gint64 quantum = quantum_ns ? quantum_ns : wp_correlogram_quantum(lag);
	g_autoptr(GArray) in = times_between(&edges, own->from, own->through);
	g_autoptr(GArray) out = times_between(&edges, own->through, own->to);
	own->correlogram = wp_correlogram_new((const gint64 *)(gconstpointer)in->data, in->len,
					      (const gint64 *)(gconstpointer)out->data, out->len,
					      lag, quantum);
	if (own->correlogram)
		return g_steal_pointer(&own);
	char lag_text[WP_FORMAT_MAX], quantum_text[WP_FORMAT_MAX];
	g_set_error(
		error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		"--edge: lags up to %s in bins of %s are more than can be shown\ngive a greater "
		"--quantum, or a smaller --max-lag",
		wp_format_time(lag_text, (double)lag),
		wp_format_time(quantum_text, (double)quantum));
	return NULL;
}

void
wp_correlogram_view_free(WpCorrelogramView *correlogram)
{
	if (!correlogram)
		return;
	g_free(correlogram->from);
	g_free(correlogram->through);
	g_free(correlogram->to);
	wp_correlogram_free(correlogram->correlogram);
	g_free(correlogram);
}
