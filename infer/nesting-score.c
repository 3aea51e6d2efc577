/* How good an answer is. See the header. */
#include "infer/nesting-score.h"

#include "infer/nesting-shift.h"
#include "infer/timeline.h"

/* Of the doubts in an answer tell how many others are about as good: two things exchanged make two doubts. */
#define DOUBTS 0.4

/* What has no cause comes as the load is there: one that varies is no sign of causes. Log likelihood, per grain, of all such. */
static double
score_alone(const WpNestProblem *problem)
{
	WpNestShift shift = wp_nest_shift_of(problem, 0, 1);
	WpNestOrder *order = wp_nest_order_new(problem, &shift);
	double total = 0;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		double load = wp_nest_order_load(order, b, problem->grain_ns);
		if (problem->bundles[b].parent == WP_NO_PARENT)
			total += wp_quick_log(&problem->quick, load) - 1;
	}
	wp_nest_order_free(order);
	return total;
}

double
wp_nest_score_answer(const WpNestProblem *problem, const WpNestBelief *beliefs)
{
	g_autoptr(WpTimelines) timelines = wp_timelines_new(problem);
	double total = score_alone(problem);

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		double sure = MAX(beliefs[b].probability, 1e-3);
		if (problem->bundles[b].parent != WP_NO_PARENT)
			total -= DOUBTS * wp_quick_log(&problem->quick, MIN(sure, 1));
	}
	wp_timelines_learn(timelines, 0, problem->n_parents);
	for (guint32 p = 0; p < wp_nest_n_all_parents(problem); p++) {
		const WpNestParent *parent = &problem->parents[p];
		if (parent->is_ghost && parent->n == 0)
			continue;
		total += wp_timelines_score(timelines, p, parent->children, parent->n) +
			 wp_timelines_cost_of_once(timelines, parent->children, parent->n);
	}
	return total;
}

double
wp_nest_odds(const WpNestProblem *problem, const WpNestBundle *bundle, guint32 parent)
{
	const WpNestCandidate *candidates = problem->candidates + bundle->first_candidate;
	gint at = wp_nest_find_candidate(problem, bundle, parent);
	double least = 0;

	if (at >= 0)
		return candidates[at].odds;
	for (guint32 i = 0; i < bundle->n_candidates; i++)
		least = MIN(least, candidates[i].odds);
	return least;
}
