/* Places that an answer uses: nesting-unused.h. */
#include "infer/nesting-unused.h"

#define MAX_PLACES 4096 /* of which each has 32 kB in nesting-start.c */
#define MIN_USED   5    /* bundles */
#define MIN_SHARE  0.15 /* ... of those of its kind that its class has */
#define GOOD_PART  0.1  /* of the candidates: where that is gone it pays to look again */

gboolean
wp_nest_tells_classes(const WpNestProblem *problem)
{
	return (guint64)problem->n_classes * problem->n_kinds * WP_NEST_N_MODES <= MAX_PLACES;
}

guint8 *
wp_nest_find_used(const WpNestProblem *problem, guint32 first, guint32 end)
{
	gboolean by_class = wp_nest_tells_classes(problem);
	gsize n_places = wp_nest_n_places(problem, by_class);
	g_autofree guint32 *used = g_new0(guint32, MAX(n_places, 1));
	guint8 *is_used = g_new(guint8, MAX(n_places, 1));

	for (guint32 b = first; b < end; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		if (bundle->parent == WP_NO_PARENT || bundle->parent >= problem->n_parents)
			continue;
		guint32 class = problem->parents[bundle->parent].class;
		WpNestMode mode = wp_nest_mode(problem, bundle, bundle->parent);
		used[wp_nest_place(problem, by_class, class, bundle->kind, mode)]++;
	}
	for (gsize place = 0; place < n_places; place++) {
		guint32 all = 0;
		for (gsize m = 0; m < WP_NEST_N_MODES; m++)
			all += used[place - place % WP_NEST_N_MODES + m];
		is_used[place] = used[place] > MIN_USED && used[place] > MIN_SHARE * all;
	}
	return is_used;
}

gboolean
wp_nest_drop_unused(WpNestProblem *problem)
{
	gboolean by_class = wp_nest_tells_classes(problem);
	g_autofree guint8 *is_used = wp_nest_find_used(problem, 0, problem->n_bundles);
	guint32 kept = 0, before = problem->n_candidates;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		const WpNestCandidate *own = problem->candidates + bundle->first_candidate;
		gboolean is_inside = wp_nest_has_inside(problem, own, bundle->n_candidates);
		guint32 first = kept;
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			WpNestCandidate candidate = own[i];
			gboolean is_ghost = candidate.parent >= problem->n_parents;
			guint32 class = problem->parents[candidate.parent].class;
			if (is_inside && !is_ghost && candidate.mode != WP_NEST_INSIDE &&
			    candidate.parent != bundle->parent &&
			    !is_used[wp_nest_place(problem, by_class, class, bundle->kind,
						   candidate.mode)])
				continue;
			problem->candidates[kept++] = candidate;
		}
		bundle->first_candidate = first;
		bundle->n_candidates = kept - first;
	}
	problem->n_candidates = kept;
	return kept < (1 - GOOD_PART) * before;
}
