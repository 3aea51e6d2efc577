/* Calls stand in pre-order, so that a parent's part is known before its children's. */
#include "infer/critical.h"

#include <string.h>

#include "capture/record.h"

/* By parent; of one, the last to return first, and of these the one that was called last. */
static int
compare_ends(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpCriticalCall *calls = data;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	if (calls[i].parent != calls[j].parent)
		return calls[i].parent < calls[j].parent ? -1 : 1;
	if (calls[i].end_ns != calls[j].end_ns)
		return calls[i].end_ns > calls[j].end_ns ? -1 : 1;
	return i < j ? 1 : i > j ? -1 : 0;
}

void
wp_critical_path(const WpCriticalCall *calls, guint32 n, gint64 *out_ns)
{
	g_autofree guint32 *order = g_new(guint32, (gsize)n + 1);
	g_autofree guint32 *first = g_new(guint32, (gsize)n + 1); /* in order, by parent */
	g_autofree gint64 *until = g_new(gint64, (gsize)n + 1);   /* WP_NO_TIME: not on the path */

	if (n == 0)
		return;
	memset(out_ns, 0, n * sizeof *out_ns);
	for (guint32 i = 0; i < n; i++) {
		order[i] = i;
		first[i] = n;
		until[i] = WP_NO_TIME;
	}
	g_qsort_with_data(order, (gint)n, sizeof *order, compare_ends, (gpointer)calls);
	for (guint32 i = n; i-- > 0;)
		if (calls[order[i]].parent != G_MAXUINT32)
			first[calls[order[i]].parent] = i;
	until[0] = calls[0].end_ns;
	for (guint32 i = 0; i < n; i++) {
		gint64 at = until[i];
		if (at == WP_NO_TIME)
			continue;
		for (guint32 k = first[i]; k < n && calls[order[k]].parent == i; k++) {
			const WpCriticalCall *child = &calls[order[k]];
			if (child->end_ns == WP_NO_TIME || child->end_ns > at ||
			    child->end_ns < calls[i].begin_ns)
				continue;
			out_ns[i] += at - child->end_ns;
			until[order[k]] = child->end_ns;
			at = MAX(child->begin_ns, calls[i].begin_ns);
		}
		out_ns[i] += MAX(at - calls[i].begin_ns, 0);
	}
}
