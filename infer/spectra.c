/* The result of cross-correlation, in canonical order; see spectra.h. */
#include "infer/spectra.h"

#include <stdarg.h>

static void
clear_vertex(gpointer data)
{
	g_clear_pointer(&((WpVertex *)data)->spikes, g_free);
}

static GArray *
new_vertices(void)
{
	GArray *vertices = g_array_new(FALSE, FALSE, sizeof(WpVertex));
	g_array_set_clear_func(vertices, clear_vertex);
	return vertices;
}

WpSpectra *
wp_spectra_new(const WpMessages *messages)
{
	WpSpectra *spectra = g_new0(WpSpectra, 1);
	spectra->vertices = new_vertices();
	spectra->notes = g_ptr_array_new_with_free_func(g_free);
	spectra->n_messages = messages->n_messages;
	spectra->n_edges = messages->n;
	spectra->begin_ns = messages->begin_ns;
	spectra->end_ns = messages->end_ns;
	return spectra;
}

void
wp_spectra_free(WpSpectra *spectra)
{
	if (!spectra)
		return;
	g_array_unref(spectra->vertices);
	g_ptr_array_unref(spectra->notes);
	g_free(spectra->quantum_reason);
	g_free(spectra);
}

guint32
wp_spectra_add(WpSpectra *spectra, const WpVertex *vertex)
{
	g_array_append_val(spectra->vertices, *vertex);
	return spectra->vertices->len - 1;
}

void
wp_spectra_note(WpSpectra *spectra, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	g_ptr_array_add(spectra->notes, g_strdup_vprintf(format, arguments));
	va_end(arguments);
}

/* Siblings: most messages first, then by edge. */
static int
compare(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpSpectra *spectra = data;
	const WpVertex *left = wp_spectra_vertex(spectra, *(const guint32 *)a);
	const WpVertex *right = wp_spectra_vertex(spectra, *(const guint32 *)b);
	if (left->messages != right->messages)
		return left->messages > right->messages ? -1 : 1;
	return (left->edge > right->edge) - (left->edge < right->edge);
}

int
wp_spectra_compare_spikes(const void *a, const void *b)
{
	const WpSpectrumSpike *left = a, *right = b;
	if (left->messages != right->messages)
		return left->messages > right->messages ? -1 : 1;
	return (left->delay_ns > right->delay_ns) - (left->delay_ns < right->delay_ns);
}

/* Children of each vertex, those of none first: numbers in one array, where each one's begin in the other. */
static void
gather(const WpSpectra *spectra, guint32 *first, guint32 *order)
{
	guint32 n = spectra->vertices->len;
	for (guint32 i = 0; i < n; i++)
		first[wp_spectra_vertex(spectra, i)->parent + 2]++;
	for (guint32 i = 0; i <= n; i++)
		first[i + 1] += first[i];
	g_autofree guint32 *at = g_memdup2(first, (n + 2) * sizeof *first);
	for (guint32 i = 0; i < n; i++)
		order[at[wp_spectra_vertex(spectra, i)->parent + 1]++] = i;
	for (guint32 i = 0; i <= n; i++)
		if (first[i + 1] > first[i])
			g_qsort_with_data(order + first[i], (int)(first[i + 1] - first[i]),
					  sizeof *order, compare, (gpointer)spectra);
}

void
wp_spectra_finish(WpSpectra *spectra)
{
	guint32 n = spectra->vertices->len;
	if (n == 0)
		return;
	g_autofree guint32 *first = g_new0(guint32, n + 3);
	g_autofree guint32 *order = g_new(guint32, n);
	g_autofree guint32 *now = g_new(guint32, n);
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint32));
	GArray *sorted = new_vertices();

	gather(spectra, first, order);
	for (guint32 i = first[1]; i-- > 0;)
		g_array_append_val(stack, order[i]);
	while (stack->len) {
		guint32 i = g_array_index(stack, guint32, stack->len - 1);
		g_array_set_size(stack, stack->len - 1);
		WpVertex *from = &g_array_index(spectra->vertices, WpVertex, i);
		WpVertex vertex = *from;
		from->spikes = NULL;
		now[i] = sorted->len;
		vertex.is_leaf = first[i + 1] == first[i + 2];
		vertex.share = 1;
		if (vertex.parent != WP_NO_VERTEX) {
			vertex.parent = now[vertex.parent];
			const WpVertex *above = &g_array_index(sorted, WpVertex, vertex.parent);
			vertex.share = above->messages > 0
					       ? above->share * vertex.messages / above->messages
					       : 0;
		}
		if (vertex.n_spikes)
			qsort(vertex.spikes, vertex.n_spikes, sizeof *vertex.spikes,
			      wp_spectra_compare_spikes);
		g_array_append_val(sorted, vertex);
		for (guint32 k = first[i + 2]; k-- > first[i + 1];)
			g_array_append_val(stack, order[k]);
	}
	g_array_unref(spectra->vertices);
	spectra->vertices = sorted;
}
