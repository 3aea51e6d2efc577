/* Counting calls that follow each other on a connection. */
#include "infer/timeline-holds.h"

#include <math.h>

void
wp_hold_counts_init(WpHoldCounts *counts, const WpNestProblem *problem)
{
	gsize n_pools = problem->holds ? problem->holds->n_pools : 0;

	*counts = (WpHoldCounts){ .problem = problem,
				  .n = g_malloc0_n(n_pools + 1, sizeof *counts->n),
				  .nats = g_malloc0_n(n_pools + 1, sizeof *counts->nats) };
}

void
wp_hold_counts_clear(WpHoldCounts *counts)
{
	g_free(counts->n);
	g_free(counts->nats);
}

void
wp_hold_counts_add(WpHoldCounts *counts, const guint32 *children, guint32 n, gint sign)
{
	const WpNestProblem *problem = counts->problem;
	WpNestFollow follow;

	if (!problem->holds)
		return;
	for (guint32 i = 1; i < n; i++)
		if (wp_nest_follows(problem, problem->holds, children, i, &follow))
			counts->n[follow.pool][follow.is_next] += sign;
}

void
wp_hold_counts_fit(WpHoldCounts *counts)
{
	const WpNestHolds *holds = counts->problem->holds;

	for (guint32 k = 1; holds && k <= holds->n_pools; k++) {
		gint32 n_next = counts->n[k][TRUE], n = n_next + counts->n[k][FALSE];
		double share = (n_next + 1.0) / (n + 2.0), chance = holds->chance[k];
		/* An answer that is wrong has less than there is, and would vouch for that. */
		share = MAX(share, holds->shares[k]);
		counts->nats[k][TRUE] = share > chance ? log(share / chance) : 0;
		counts->nats[k][FALSE] = share > chance ? log((1 - share) / (1 - chance)) : 0;
	}
}

double
wp_hold_counts_score(const WpHoldCounts *counts, const guint32 *children, guint32 n)
{
	const WpNestProblem *problem = counts->problem;
	WpNestFollow follow;
	double score = 0;

	if (!problem->holds)
		return 0;
	for (guint32 i = 1; i < n; i++)
		if (wp_nest_follows(problem, problem->holds, children, i, &follow))
			score += counts->nats[follow.pool][follow.is_next];
	return score;
}
