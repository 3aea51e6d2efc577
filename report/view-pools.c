/* Sums by caller and callee become rows: named, with what of the caller's own time is waiting. */
#include "report/view-pools.h"

#include <stdlib.h>
#include <string.h>

/* Of links, right: from there on how long calls wait is told. */
#define MIN_RIGHT 0.7

static double
find_own(const WpView *view, const char *node)
{
	for (guint32 i = 0; i < view->n_totals; i++)
		if (strcmp(view->totals[i].node, node) == 0)
			return view->totals[i].self_ns;
	return 0;
}

/* Whoever waits does so at least until the first of the connections comes back. */
static double
least_wait(const WpViewPool *row)
{
	return row->taken_ns / (row->connections + 1.0);
}

/*
 * Where links go to the wrong requests, what is too much for one is too little for another: the mean stands much longer than
 * links do.
 */
static gboolean
knows_waits(const WpView *view)
{
	return view->links.trust != WP_VIEW_TRUST_STOPPED && view->links.right_share >= MIN_RIGHT;
}

static void
fill_row(const WpView *view, const WpAnalysis *analysis, const WpPool *pool, WpViewPool *row)
{
	*row = (WpViewPool){
		.caller = wp_resolved_node_name(analysis->resolved, pool->caller),
		.node = wp_resolved_node_name(analysis->resolved, pool->callee),
		.connections = pool->connections,
		.is_several = pool->is_several,
		.calls = pool->n_calls,
		.n_waited = pool->n_waited,
		.wait_ns = knows_waits(view) ? wp_pool_wait_ns(pool) : -1,
		.taken_ns = (double)pool->taken_ns / (double)pool->n_calls,
	};
	row->own_ns = find_own(view, row->caller);
	row->waiting_ns =
		(double)row->n_waited * (row->wait_ns >= 0 ? row->wait_ns : least_wait(row));
}

static int
compare_pools(gconstpointer a, gconstpointer b)
{
	const WpViewPool *x = a, *y = b;
	if (x->waiting_ns != y->waiting_ns)
		return x->waiting_ns > y->waiting_ns ? -1 : 1;
	int order = strcmp(x->caller, y->caller);
	return order ? order : strcmp(x->node, y->node);
}

void
wp_view_pools_fill(WpView *view, const WpAnalysis *analysis)
{
	guint n;
	const WpPool *pools = wp_pools_get(analysis->tally.pools, &n);
	view->pools = g_new0(WpViewPool, (gsize)n + 1);
	for (guint i = 0; i < n; i++)
		if (pools[i].n_calls)
			fill_row(view, analysis, &pools[i], &view->pools[view->n_pools++]);
	qsort(view->pools, view->n_pools, sizeof view->pools[0], compare_pools);
}
