/* Edges and the times of their messages; see messages.h. */
#include "infer/messages.h"

#include <stdlib.h>
#include <string.h>

#include "infer/map.h"

typedef struct {
	WpMap *receivers; /* receiver and direction, sender -> number */
	WpMap *edges;     /* that number, hosts -> edge */
} Index;

static Index *
index_new(void)
{
	Index *index = g_new0(Index, 1);
	index->receivers = wp_map_new();
	index->edges = wp_map_new();
	return index;
}

static void
index_free(Index *index)
{
	if (!index)
		return;
	wp_map_free(index->receivers);
	wp_map_free(index->edges);
	g_free(index);
}

WpMessages *
wp_messages_new(void)
{
	WpMessages *messages = g_new0(WpMessages, 1);
	messages->index = index_new();
	return messages;
}

void
wp_messages_free(WpMessages *messages)
{
	if (!messages)
		return;
	for (guint32 i = 0; i < messages->n; i++)
		g_free(messages->edges[i].times_ns);
	g_free(messages->edges);
	index_free(messages->index);
	g_free(messages);
}

/* Where a node belongs to two hosts, as it may where several services share an address, those are two edges. */
static guint64
edge_key(Index *index, const WpEdge *edge)
{
	guint32 ends = wp_map_number(index->receivers, wp_map_key(edge->sender, edge->receiver));
	guint32 hosts = wp_map_number(
		index->receivers, wp_map_key(edge->sender_host | 1u << 31, edge->receiver_host));
	return wp_map_key(ends << 1 | (edge->is_return != 0), hosts);
}

static WpEdge *
edge_of(WpMessages *messages, const WpEdge *edge)
{
	Index *index = messages->index;
	guint32 at = *wp_map_at(index->edges, edge_key(index, edge), messages->n);
	if (at == messages->n) {
		if (messages->n == messages->room) {
			messages->room = MAX(2 * messages->room, 16);
			messages->edges = g_renew(WpEdge, messages->edges, messages->room);
		}
		messages->edges[messages->n] = *edge;
		messages->edges[messages->n].times_ns = NULL;
		messages->edges[messages->n].n = messages->edges[messages->n].room = 0;
		messages->n++;
	}
	return &messages->edges[at];
}

void
wp_messages_add(WpMessages *messages, const WpEdge *edge, gint64 time_ns)
{
	WpEdge *to = edge_of(messages, edge);
	if (to->n == to->room) {
		to->room = to->room ? to->room + to->room / 2 : 16;
		to->times_ns = g_renew(gint64, to->times_ns, to->room);
	}
	to->times_ns[to->n++] = time_ns;
	if (!messages->n_messages || time_ns < messages->begin_ns)
		messages->begin_ns = time_ns;
	if (!messages->n_messages || time_ns > messages->end_ns)
		messages->end_ns = time_ns;
	messages->n_messages++;
}

void
wp_messages_add_span(WpMessages *messages, const WpSpan *span)
{
	WpEdge edge = { .sender = span->caller,
			.receiver = span->callee,
			.sender_host = span->caller_host,
			.receiver_host = span->callee_host };
	wp_messages_add(messages, &edge, span->call_ns);
	if (span->kind != WP_KIND_CALL || span->return_ns == WP_NO_TIME)
		return;
	WpEdge back = { .sender = span->callee,
			.receiver = span->caller,
			.sender_host = span->callee_host,
			.receiver_host = span->caller_host,
			.is_return = TRUE };
	wp_messages_add(messages, &back, span->return_ns);
}

static void
append(WpEdge *to, WpEdge *from)
{
	to->times_ns = g_renew(gint64, to->times_ns, MAX(to->n + from->n, 1));
	if (from->n)
		memcpy(to->times_ns + to->n, from->times_ns, from->n * sizeof *to->times_ns);
	to->n += from->n;
	to->room = MAX(to->n, 1);
	g_clear_pointer(&from->times_ns, g_free);
	from->n = from->room = 0;
}

void
wp_messages_move(WpMessages *messages, const WpResolved *resolved)
{
	index_free(messages->index);
	messages->index = index_new();
	WpEdge *old = messages->edges;
	guint32 n = messages->n;
	messages->edges = NULL;
	messages->n = messages->room = 0;
	for (guint32 i = 0; i < n; i++) {
		WpEdge edge = old[i];
		if (edge.is_return) {
			edge.sender = wp_resolved_callee_now(resolved, edge.sender);
			edge.receiver = wp_resolved_caller_now(resolved, edge.receiver);
		} else {
			edge.sender = wp_resolved_caller_now(resolved, edge.sender);
			edge.receiver = wp_resolved_callee_now(resolved, edge.receiver);
		}
		append(edge_of(messages, &edge), &old[i]);
	}
	g_free(old);
}

static int
compare_times(const void *a, const void *b)
{
	gint64 left = *(const gint64 *)a, right = *(const gint64 *)b;
	return (left > right) - (left < right);
}

static int
compare_edges(const void *a, const void *b)
{
	const WpEdge *left = a, *right = b;
	if (left->sender != right->sender)
		return left->sender < right->sender ? -1 : 1;
	if (left->receiver != right->receiver)
		return left->receiver < right->receiver ? -1 : 1;
	if (left->sender_host != right->sender_host)
		return left->sender_host < right->sender_host ? -1 : 1;
	if (left->receiver_host != right->receiver_host)
		return left->receiver_host < right->receiver_host ? -1 : 1;
	return (left->is_return > right->is_return) - (left->is_return < right->is_return);
}

static gboolean
is_same_edge(const WpEdge *a, const WpEdge *b)
{
	return a->sender == b->sender && a->receiver == b->receiver &&
	       a->sender_host == b->sender_host && a->receiver_host == b->receiver_host;
}

static gboolean
is_sorted(const gint64 *times, gsize n)
{
	for (gsize i = 1; i < n; i++)
		if (times[i] < times[i - 1])
			return FALSE;
	return TRUE;
}

/* (transfer full) By host, up to the greatest: 1 = somebody calls it. */
static guint8 *
find_called(const WpMessages *messages, guint32 *out_n)
{
	guint32 n = 0;
	for (guint32 i = 0; i < messages->n; i++)
		n = MAX(n,
			MAX(messages->edges[i].sender_host, messages->edges[i].receiver_host) + 1);
	guint8 *is_called = g_malloc0(MAX(n, 1));
	for (guint32 i = 0; i < messages->n; i++)
		if (!messages->edges[i].is_return && messages->edges[i].n)
			is_called[messages->edges[i].receiver_host] = 1;
	*out_n = n;
	return is_called;
}

static void
join_outside(WpMessages *messages)
{
	guint32 n;
	g_autofree guint8 *is_called = find_called(messages, &n);
	g_autoptr(WpMap) hosts = wp_map_new();
	g_autoptr(WpMap) nodes = wp_map_new();
	messages->outside = n;
	for (guint32 i = 0; i < messages->n; i++) {
		const WpEdge *edge = &messages->edges[i];
		if (edge->is_return || is_called[edge->sender_host])
			continue;
		messages->outside = MIN(messages->outside, edge->sender_host);
		wp_map_number(hosts, edge->sender_host);
		wp_map_number(nodes, edge->sender);
	}
	for (guint32 i = 0; i < messages->n; i++) {
		WpEdge *edge = &messages->edges[i];
		if (wp_map_find(hosts, edge->sender_host) != WP_MAP_NONE)
			edge->sender_host = messages->outside;
		if (wp_map_find(hosts, edge->receiver_host) != WP_MAP_NONE)
			edge->receiver_host = messages->outside;
	}
	messages->n_outside = wp_map_count(hosts);
	messages->n_sources = wp_map_count(nodes);
}

void
wp_messages_freeze(WpMessages *messages)
{
	guint32 n = 0;
	join_outside(messages);
	if (messages->n)
		qsort(messages->edges, messages->n, sizeof *messages->edges, compare_edges);
	for (guint32 i = 0; i < messages->n; i++) {
		WpEdge *edge = &messages->edges[i];
		WpEdge *last = n ? &messages->edges[n - 1] : NULL;
		if (last && is_same_edge(last, edge)) {
			last->is_return = edge->n > last->n ? edge->is_return : last->is_return;
			append(last, edge);
		} else {
			messages->edges[n++] = *edge;
		}
	}
	messages->n = n;
	for (guint32 i = 0; i < n; i++) {
		WpEdge *edge = &messages->edges[i];
		if (!is_sorted(edge->times_ns, edge->n))
			qsort(edge->times_ns, edge->n, sizeof *edge->times_ns, compare_times);
	}
}

gint64
wp_messages_tick(const WpMessages *messages)
{
	gint64 tick = 0;
	for (guint32 i = 0; i < messages->n; i++)
		for (gsize k = 0; k < messages->edges[i].n && tick != 1; k++) {
			gint64 a = messages->edges[i].times_ns[k] - messages->begin_ns, b = tick;
			while (b) {
				gint64 rest = a % b;
				a = b;
				b = rest;
			}
			tick = a;
		}
	return tick;
}
