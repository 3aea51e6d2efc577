/* Spectra with names, for writers; see spectrum.h. */
#include "report/spectrum.h"

#include "infer/spectra.h"

static void
fill_edge(WpSpectrumView *to, guint32 i, const WpSpectra *spectra, const WpResolved *resolved,
	  WpSpectrumDelay *delays)
{
	const WpVertex *from = wp_spectra_vertex(spectra, i);
	WpSpectrumEdge *edge = &to->edges[i];
	*edge = (WpSpectrumEdge){
		.sender = wp_resolved_node_name(resolved, from->sender),
		.receiver = wp_resolved_node_name(resolved, from->receiver),
		.parent = from->parent == WP_NO_VERTEX ? WP_VIEW_NONE : from->parent,
		.depth = from->depth,
		.is_last = TRUE,
		.is_leaf = from->is_leaf,
		.messages = from->messages,
		.share = from->share,
		.n_delays = from->n_spikes,
		.delays = delays,
	};
	for (guint32 k = 0; k < from->n_spikes; k++)
		delays[k] = (WpSpectrumDelay){
			.delay_ns = from->spikes[k].delay_ns,
			.spread_ns = from->spikes[k].spread_ns,
			.messages = from->spikes[k].messages,
			.share = from->messages > 0
					 ? from->share * from->spikes[k].messages / from->messages
					 : 0,
			.significance = from->spikes[k].significance,
		};
	if (edge->parent != WP_VIEW_NONE)
		edge->since_ns = to->edges[edge->parent].since_ns +
				 (edge->n_delays ? delays[0].delay_ns : 0);
}

/* The last of its siblings is the one behind which none of the same parent comes. */
static void
mark_last(WpSpectrumView *spectrum)
{
	g_autofree guint32 *last = g_new(guint32, spectrum->n + 1);
	for (guint32 i = 0; i <= spectrum->n; i++)
		last[i] = WP_VIEW_NONE;
	for (guint32 i = 0; i < spectrum->n; i++) {
		guint32 *before = &last[spectrum->edges[i].parent + 1];
		if (*before != WP_VIEW_NONE)
			spectrum->edges[*before].is_last = FALSE;
		*before = i;
	}
}

static int
compare_leaves(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpSpectrumEdge *edges = data;
	guint32 left = *(const guint32 *)a, right = *(const guint32 *)b;
	if (edges[left].messages != edges[right].messages)
		return edges[left].messages > edges[right].messages ? -1 : 1;
	return (left > right) - (left < right);
}

static void
add_paths(WpSpectrumView *spectrum)
{
	spectrum->leaves = g_new(guint32, MAX(spectrum->n, 1));
	for (guint32 i = 0; i < spectrum->n; i++)
		if (spectrum->edges[i].is_leaf)
			spectrum->leaves[spectrum->n_paths++] = i;
	if (spectrum->n_paths)
		g_qsort_with_data(spectrum->leaves, (int)spectrum->n_paths,
				  sizeof *spectrum->leaves, compare_leaves, spectrum->edges);
}

WpSpectrumView *
wp_spectrum_view_new(const WpView *view, const WpSpectra *spectra, const WpResolved *resolved,
		     gboolean is_stopped)
{
	WpSpectrumView *spectrum = g_new0(WpSpectrumView, 1);
	*spectrum = (WpSpectrumView){
		.view = view,
		.is_published = spectra->is_published,
		.is_stopped = is_stopped,
		.n_messages = spectra->n_messages,
		.n_edges = spectra->n_edges,
		.n_correlations = spectra->n_correlations,
		.n_tests = spectra->n_tests,
		.quantum_ns = (double)spectra->quantum_ns,
		.quantum_reason = spectra->quantum_reason,
		.max_lag_ns = (double)spectra->max_lag_ns,
		.is_lag_cut = spectra->is_lag_cut,
		.n_notes = spectra->notes->len,
		.notes = (const char *const *)spectra->notes->pdata,
		.n = spectra->vertices->len,
	};
	gsize n_delays = 0, at = 0;
	for (guint32 i = 0; i < spectrum->n; i++)
		n_delays += wp_spectra_vertex(spectra, i)->n_spikes;
	spectrum->edges = g_new0(WpSpectrumEdge, MAX(spectrum->n, 1));
	spectrum->delays = g_new0(WpSpectrumDelay, MAX(n_delays, 1));
	for (guint32 i = 0; i < spectrum->n; i++) {
		fill_edge(spectrum, i, spectra, resolved, spectrum->delays + at);
		at += spectrum->edges[i].n_delays;
	}
	mark_last(spectrum);
	add_paths(spectrum);
	return spectrum;
}

void
wp_spectrum_view_free(WpSpectrumView *spectrum)
{
	if (!spectrum)
		return;
	g_free(spectrum->edges);
	g_free(spectrum->delays);
	g_free(spectrum->leaves);
	g_free(spectrum);
}

guint32 *
wp_spectrum_path(const WpSpectrumView *spectrum, guint32 path, guint32 *out_n)
{
	guint32 at = spectrum->leaves[path], n = spectrum->edges[at].depth;
	guint32 *edges = g_new(guint32, n);
	*out_n = n;
	for (guint32 i = n; i-- > 0; at = spectrum->edges[at].parent)
		edges[i] = at;
	return edges;
}
