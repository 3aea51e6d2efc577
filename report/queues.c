/* Host by host: calls in the order in which they come, and when each of them is taken up; then what it holds its worker with. */
#include "report/queues.h"

#include <stdlib.h>

struct WpQueues {
	GArray *list; /* WpQueue */
};

/* A part at hand. */
typedef struct {
	const WpSpan *spans;
	const WpLinks *links;
	const guint8 *keep;
	GArray *below; /* guint32: spans that such calls cause, by parent and time */
} Part;

static void
queue_clear(gpointer data)
{
	WpQueue *queue = data;
	wp_delay_free(queue->waits);
	g_array_unref(queue->holders);
}

static GArray *
list_new(void)
{
	GArray *list = g_array_new(FALSE, TRUE, sizeof(WpQueue));
	g_array_set_clear_func(list, queue_clear);
	return list;
}

WpQueues *
wp_queues_new(void)
{
	WpQueues *queues = g_new0(WpQueues, 1);
	queues->list = list_new();
	return queues;
}

void
wp_queues_free(WpQueues *queues)
{
	if (!queues)
		return;
	g_array_unref(queues->list);
	g_free(queues);
}

/* There are few. */
static WpQueue *
queue_of(WpQueues *queues, guint32 node)
{
	guint i = 0;
	while (i < queues->list->len && g_array_index(queues->list, WpQueue, i).node != node)
		i++;
	if (i == queues->list->len) {
		WpQueue queue = { .node = node,
				  .waits = wp_delay_new(),
				  .holders = g_array_new(FALSE, TRUE, sizeof(WpQueueHolder)) };
		g_array_append_val(queues->list, queue);
	}
	return &g_array_index(queues->list, WpQueue, i);
}

static void
hold(WpQueue *queue, guint32 node, guint32 label, guint64 ns)
{
	for (guint i = 0; i < queue->holders->len; i++) {
		WpQueueHolder *holder = &g_array_index(queue->holders, WpQueueHolder, i);
		if (holder->node == node && holder->label == label) {
			holder->held_ns += ns;
			return;
		}
	}
	WpQueueHolder holder = { node, label, ns };
	if (queue->holders->len < WP_QUEUES_HOLDERS)
		g_array_append_val(queue->holders, holder);
}

static void
note_number(WpQueue *queue, guint32 workers, guint64 n_calls)
{
	if (n_calls <= queue->n_most)
		return;
	queue->n_most = n_calls;
	queue->workers = workers;
}

/* --- a part --- */

/* 0: any number, or it is not known, or they take messages from a queue; or one, which is no number. */
static guint32
workers_of(const Part *part, const WpSpan *span)
{
	guint32 host = span->callee_host;
	if (host >= part->links->n_paces || !wp_span_is_paired(span) || span->marks & WP_MARK_SETUP)
		return 0;
	const WpPace *pace = &part->links->paces[host];
	return pace->serves_calls && pace->workers > 1 ? pace->workers : 0;
}

static int
compare_calls(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpSpan *spans = data;
	guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;
	if (spans[i].callee_host != spans[k].callee_host)
		return spans[i].callee_host < spans[k].callee_host ? -1 : 1;
	gint64 left = wp_span_served_ns(&spans[i]), right = wp_span_served_ns(&spans[k]);
	return left != right ? (left < right ? -1 : 1) : (i > k) - (i < k);
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return (x > y) - (x < y);
}

/* The place of the first span below span NUMBER in BELOW, or of what is behind. */
static guint
find_below(const Part *part, guint32 number)
{
	guint low = 0, high = part->below->len;
	while (low < high) {
		guint middle = low + (high - low) / 2;
		guint32 span = g_array_index(part->below, guint32, middle);
		if (part->links->links[span].parent < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Span NUMBER holds a worker from BEGIN to END; of calls at the same time the first has it. */
static void
count_held(const Part *part, WpQueue *queue, guint32 number, gint64 begin_ns, gint64 end_ns)
{
	const WpSpan *span = &part->spans[number];
	gint64 until_ns = begin_ns, work_ns = 0;

	for (guint i = find_below(part, number); i < part->below->len; i++) {
		guint32 own = g_array_index(part->below, guint32, i);
		const WpSpan *child = &part->spans[own];
		if (part->links->links[own].parent != number)
			break;
		gint64 from_ns = CLAMP(child->call_ns, until_ns, end_ns);
		gint64 back_ns = CLAMP(child->return_ns, from_ns, end_ns);
		work_ns += from_ns - until_ns;
		hold(queue, child->callee, child->label, (guint64)(back_ns - from_ns));
		until_ns = back_ns;
	}
	work_ns += end_ns - until_ns;
	hold(queue, span->callee, span->label, (guint64)work_ns);
	queue->work_ns += (guint64)work_ns;
	queue->held_ns += (guint64)(end_ns - begin_ns);
}

static void
count_call(const Part *part, WpQueue *queue, guint32 number, gint64 begin_ns)
{
	const WpSpan *span = &part->spans[number];
	gint64 came_ns = wp_span_served_ns(span);
	gint64 end_ns = MAX(wp_span_replied_ns(span), came_ns);

	queue->n_calls++;
	queue->waiting_ns += (guint64)(begin_ns - came_ns);
	if (begin_ns > came_ns)
		wp_delay_add(queue->waits, begin_ns - came_ns);
	count_held(part, queue, number, begin_ns, end_ns);
}

/* The N calls into one host, in the order in which they come. One that is over before a worker is free has overtaken others. */
static void
serve(WpQueues *queues, const Part *part, const guint32 *calls, guint32 n)
{
	guint32 workers = workers_of(part, &part->spans[calls[0]]);
	g_autofree gint64 *done_ns = g_new(gint64, n);
	gint64 begin_ns = G_MININT64;

	for (guint32 i = 0; i < n; i++) {
		const WpSpan *span = &part->spans[calls[i]];
		done_ns[i] = MAX(wp_span_replied_ns(span), wp_span_served_ns(span));
	}
	qsort(done_ns, n, sizeof *done_ns, compare_times);
	for (guint32 i = 0; i < n; i++) {
		const WpSpan *span = &part->spans[calls[i]];
		gint64 came_ns = wp_span_served_ns(span);
		gint64 end_ns = MAX(wp_span_replied_ns(span), came_ns);
		gint64 free_ns = i >= workers ? done_ns[i - workers] : G_MININT64;
		begin_ns = free_ns <= end_ns ? MAX(free_ns, came_ns)
					     : CLAMP(begin_ns, came_ns, end_ns);
		if ((part->keep && !part->keep[calls[i]]) || span->marks & WP_MARK_WAIT)
			continue;
		count_call(part, queue_of(queues, span->callee), calls[i], begin_ns);
	}
	note_number(queue_of(queues, part->spans[calls[0]].callee), workers, n);
}

/* The calls of LIST host by host. */
static void
serve_hosts(WpQueues *queues, const Part *part, const GArray *list)
{
	const guint32 *calls = (const guint32 *)(const void *)list->data;
	const WpSpan *before = NULL;
	guint n;

	for (guint first = 0; first < list->len; first += n) {
		const WpSpan *span = &part->spans[calls[first]];
		for (n = 1; first + n < list->len; n++)
			if (part->spans[calls[first + n]].callee_host != span->callee_host)
				break;
		serve(queues, part, calls + first, n);
		if (before && before->callee == span->callee)
			queue_of(queues, span->callee)->is_several = TRUE;
		before = span;
	}
}

void
wp_queues_add(WpQueues *queues, const WpResolved *resolved, const WpLinks *links,
	      const guint8 *keep)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	if (!links->paces)
		return;
	g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GArray) below = g_array_new(FALSE, FALSE, sizeof(guint32));
	const Part part = { spans->spans, links, keep, below };

	for (guint32 i = 0; i < spans->n; i++) {
		guint32 parent = links->links[i].parent;
		if (workers_of(&part, &spans->spans[i]))
			g_array_append_val(calls, i);
		if (parent != WP_NO_SPAN && wp_span_is_paired(&spans->spans[i]) &&
		    workers_of(&part, &spans->spans[parent]))
			g_array_append_val(below, i);
	}
	g_array_sort_with_data(calls, compare_calls, spans->spans);
	g_array_sort_with_data(below, wp_links_compare_parents, links->links);
	serve_hosts(queues, &part, calls);
}

/* --- parts --- */

static void
merge(const WpResolved *resolved, WpQueue *to, const WpQueue *from)
{
	note_number(to, from->workers, from->n_most);
	to->is_several |= from->is_several || to->n_calls > 0;
	to->n_calls += from->n_calls;
	to->waiting_ns += from->waiting_ns;
	to->held_ns += from->held_ns;
	to->work_ns += from->work_ns;
	wp_delay_merge(to->waits, from->waits);
	for (guint i = 0; i < from->holders->len; i++) {
		const WpQueueHolder *holder = &g_array_index(from->holders, WpQueueHolder, i);
		hold(to, wp_resolved_callee_now(resolved, holder->node), holder->label,
		     holder->held_ns);
	}
}

void
wp_queues_move(WpQueues *queues, const WpResolved *resolved)
{
	g_autoptr(GArray) old = g_steal_pointer(&queues->list);

	queues->list = list_new();
	for (guint i = 0; i < old->len; i++) {
		const WpQueue *from = &g_array_index(old, WpQueue, i);
		merge(resolved, queue_of(queues, wp_resolved_callee_now(resolved, from->node)),
		      from);
	}
}

const WpQueue *
wp_queues_get(const WpQueues *queues, guint *out_n)
{
	*out_n = queues->list->len;
	return (const WpQueue *)(const void *)queues->list->data;
}
