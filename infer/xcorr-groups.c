/* Edges between the same two hosts, taken together; see xcorr-groups.h. */
#include "infer/xcorr-groups.h"

#include <stdlib.h>
#include <string.h>

static int
compare_hosts(gconstpointer a, gconstpointer b, gpointer data)
{
	guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;
	const WpEdge *left = (const WpEdge *)data + i, *right = (const WpEdge *)data + k;
	if (left->sender_host != right->sender_host)
		return left->sender_host < right->sender_host ? -1 : 1;
	if (left->receiver_host != right->receiver_host)
		return left->receiver_host < right->receiver_host ? -1 : 1;
	return (i > k) - (i < k);
}

static gboolean
is_same_way(const WpEdge *a, const WpEdge *b)
{
	return a->sender_host == b->sender_host && a->receiver_host == b->receiver_host;
}

WpEdgeGroups *
wp_edge_groups_new(const WpMessages *messages)
{
	WpEdgeGroups *groups = g_new0(WpEdgeGroups, 1);
	guint32 n = messages->n;
	groups->n_edges = n;
	groups->members = g_new(guint32, MAX(n, 1));
	groups->first = g_new0(guint32, n / 2 + 1);
	for (guint32 i = 0; i < n; i++)
		groups->members[i] = i;
	if (n)
		g_qsort_with_data(groups->members, (gint)n, sizeof *groups->members, compare_hosts,
				  messages->edges);
	guint32 kept = 0;
	for (guint32 i = 0, end; i < n; i = end) {
		const WpEdge *edge = &messages->edges[groups->members[i]];
		for (end = i + 1; end < n; end++)
			if (!is_same_way(edge, &messages->edges[groups->members[end]]))
				break;
		if (end - i < 2)
			continue;
		memmove(&groups->members[kept], &groups->members[i],
			(end - i) * sizeof *groups->members);
		kept += end - i;
		groups->first[++groups->n] = kept;
	}
	groups->group_of = g_new(guint32, n + groups->n + 1);
	for (guint32 i = 0; i < n + groups->n; i++)
		groups->group_of[i] = i;
	for (guint32 g = 0; g < groups->n; g++)
		for (guint32 k = groups->first[g]; k < groups->first[g + 1]; k++)
			groups->group_of[groups->members[k]] = n + g;
	return groups;
}

void
wp_edge_groups_free(WpEdgeGroups *groups)
{
	if (!groups)
		return;
	g_free(groups->members);
	g_free(groups->first);
	g_free(groups->group_of);
	g_free(groups);
}

static int
compare_times(const void *a, const void *b)
{
	gint64 left = *(const gint64 *)a, right = *(const gint64 *)b;
	return (left > right) - (left < right);
}

WpEdge *
wp_edge_groups_join(const WpEdgeGroups *groups, const WpEdge *edges)
{
	WpEdge *joined = g_new0(WpEdge, MAX(groups->n_edges + groups->n, 1));
	for (guint32 i = 0; i < groups->n_edges; i++)
		joined[i] = edges[i];
	for (guint32 g = 0; g < groups->n; g++) {
		WpEdge *to = &joined[groups->n_edges + g];
		*to = edges[groups->members[groups->first[g]]];
		to->n = 0;
		for (guint32 k = groups->first[g]; k < groups->first[g + 1]; k++)
			to->n += edges[groups->members[k]].n;
		to->room = MAX(to->n, 1);
		to->times_ns = g_new(gint64, to->room);
		gsize n = 0;
		for (guint32 k = groups->first[g]; k < groups->first[g + 1]; k++) {
			const WpEdge *from = &edges[groups->members[k]];
			if (from->n)
				memcpy(to->times_ns + n, from->times_ns,
				       from->n * sizeof *to->times_ns);
			n += from->n;
		}
		qsort(to->times_ns, n, sizeof *to->times_ns, compare_times);
	}
	return joined;
}

void
wp_edge_groups_unjoin(const WpEdgeGroups *groups, WpEdge *joined)
{
	for (guint32 g = 0; g < groups->n; g++)
		g_free(joined[groups->n_edges + g].times_ns);
	g_free(joined);
}
