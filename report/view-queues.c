/* Sums by node become rows: named, with what holds workers most. */
#include "report/view-queues.h"

#include <stdlib.h>
#include <string.h>

static void
fill_row(const WpAnalysis *analysis, const WpQueue *queue, WpViewQueue *row)
{
	const WpNodes *names = wp_trace_nodes(analysis->trace);
	const WpQueueHolder *most = NULL;

	for (guint i = 0; i < queue->holders->len; i++) {
		const WpQueueHolder *holder = &g_array_index(queue->holders, WpQueueHolder, i);
		if (!most || holder->held_ns > most->held_ns)
			most = holder;
	}
	*row = (WpViewQueue){
		.node = wp_resolved_node_name(analysis->resolved, queue->node),
		.workers = queue->workers,
		.is_several = queue->is_several,
		.calls = queue->n_calls,
		.n_waited = wp_delay_count(queue->waits),
		.waiting_ns = (double)queue->waiting_ns,
		.wait_p50_ns = (double)wp_delay_quantile_ns(queue->waits, 0.5),
		.wait_max_ns = (double)wp_delay_max_ns(queue->waits),
		.held_ns = (double)queue->held_ns,
		.work_ns = (double)queue->work_ns,
		.held_node =
			wp_resolved_node_name(analysis->resolved, most ? most->node : queue->node),
		.held_label = most ? wp_nodes_text(names, most->label) : "",
		.most_held_ns = most ? (double)most->held_ns : 0,
	};
}

static int
compare_queues(gconstpointer a, gconstpointer b)
{
	const WpViewQueue *x = a, *y = b;
	if (x->waiting_ns != y->waiting_ns)
		return x->waiting_ns > y->waiting_ns ? -1 : 1;
	return strcmp(x->node, y->node);
}

void
wp_view_queues_fill(WpView *view, const WpAnalysis *analysis)
{
	guint n;
	const WpQueue *queues = wp_queues_get(analysis->tally.queues, &n);

	view->queues = g_new0(WpViewQueue, (gsize)n + 1);
	for (guint i = 0; i < n; i++)
		if (queues[i].n_calls)
			fill_row(analysis, &queues[i], &view->queues[view->n_queues++]);
	qsort(view->queues, view->n_queues, sizeof view->queues[0], compare_queues);
}
