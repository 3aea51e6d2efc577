/* Sums by edge become rows: named, most time lost first. */
#include "report/view-edges.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a view; edges that lose less are left out. */
#define MAX_EDGES 1000

/* Worth a row of a page: stalls that take so much of the latency, or one so long. */
#define MIN_STALLED 0.005
#define MIN_LONG_NS 10e6

/* ... or connecting, of it and the latency together; for each of them, so long. */
#define MIN_CONNECTING    0.1
#define MIN_CONNECTING_NS 1e6

static void
add_stalls(WpViewEdgeTime *row, const WpEdgeStalls *from, guint cause, gboolean is_setup)
{
	if (!from->n)
		return;
	row->stalls[row->n_stalls++] = (WpViewStalls){
		.cause = wp_transport_name(WP_FIRST_STALL + cause),
		.is_setup = is_setup,
		.count = from->n,
		.n_calls = from->n_calls,
		.held_ns = (double)from->held_ns,
		.longest_ns = (double)from->longest_ns,
		.first = from->first,
		.last = from->last,
		.tap = from->tap,
	};
	row->is_stalled |= (double)from->longest_ns >= MIN_LONG_NS;
}

static int
compare_stalls(gconstpointer a, gconstpointer b)
{
	const WpViewStalls *x = a, *y = b;
	if (x->held_ns != y->held_ns)
		return x->held_ns > y->held_ns ? -1 : 1;
	int order = strcmp(x->cause, y->cause);
	return order ? order : x->is_setup - y->is_setup;
}

static void
fill_row(const WpAnalysis *analysis, const WpEdgeTime *edge, WpViewEdgeTime *row)
{
	*row = (WpViewEdgeTime){
		.caller = wp_resolved_node_name(analysis->resolved, edge->caller),
		.node = wp_resolved_node_name(analysis->resolved, edge->callee),
		.calls = edge->n_calls,
		.latency_ns = (double)edge->latency_ns,
		.request_ns = (double)edge->request_ns,
		.server_ns = (double)edge->server_ns,
		.reply_ns = (double)edge->reply_ns,
		.stall_ns = (double)edge->stall_ns,
		.n_connects = edge->n_connects,
		.connect_ns = (double)edge->connect_ns,
		.n_setups = edge->n_setups,
		.setup_ns = (double)edge->setup_ns,
		.n_both = edge->n_both,
		.network_ns = (double)edge->network_ns,
		.client_rtt_ns = (double)edge->client_rtt_ns,
		.server_rtt_ns = (double)edge->server_rtt_ns,
	};
	for (guint cause = 0; cause < WP_N_STALLS; cause++) {
		add_stalls(row, &edge->stalls[cause], cause, FALSE);
		add_stalls(row, &edge->setup_stalls[cause], cause, TRUE);
	}
	qsort(row->stalls, row->n_stalls, sizeof row->stalls[0], compare_stalls);
	double connecting_ns = row->connect_ns + row->setup_ns;
	row->is_stalled |= row->stall_ns > 0 && row->stall_ns >= MIN_STALLED * row->latency_ns;
	row->is_worth |= row->is_stalled;
	row->is_worth |= connecting_ns >= MIN_CONNECTING * (row->latency_ns + connecting_ns) &&
			 connecting_ns >= MIN_CONNECTING_NS * (double)MAX(row->n_connects, 1);
}

/* What is lost: stalls and connecting. */
static guint64
lost_ns(const WpEdgeTime *edge)
{
	return edge->stall_ns + edge->connect_ns + edge->setup_ns;
}

static int
compare_edges(gconstpointer a, gconstpointer b)
{
	const WpEdgeTime *x = *(const WpEdgeTime *const *)a, *y = *(const WpEdgeTime *const *)b;
	if (lost_ns(x) != lost_ns(y))
		return lost_ns(x) > lost_ns(y) ? -1 : 1;
	if (x->latency_ns != y->latency_ns)
		return x->latency_ns > y->latency_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

void
wp_view_edges_fill(WpView *view, const WpAnalysis *analysis)
{
	guint n;
	const WpEdgeTime *edges = wp_edge_times_get(analysis->tally.edges, &n);
	g_autofree const WpEdgeTime **order = g_new(const WpEdgeTime *, (gsize)n + 1);

	for (guint i = 0; i < n; i++)
		order[i] = &edges[i];
	qsort(order, n, sizeof *order, compare_edges);
	view->n_edge_times = MIN(n, MAX_EDGES);
	view->edge_times = g_new0(WpViewEdgeTime, (gsize)view->n_edge_times + 1);
	for (guint i = 0; i < view->n_edge_times; i++)
		fill_row(analysis, order[i], &view->edge_times[i]);
}
