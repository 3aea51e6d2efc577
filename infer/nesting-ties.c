/* What comes first is taken up first. See the header. */
#include "infer/nesting-ties.h"

#include <stdlib.h>

#define MAX_TIED 64 /* at one moment: more is no packet */

static gint
compare_numbers(gconstpointer a, gconstpointer b)
{
	guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
	return x < y ? -1 : x > y;
}

/* What is known beside time of N BUNDLES with these PARENTS; FALSE: one may not have its. */
static gboolean
sum_odds(const WpNestProblem *problem, const guint32 *bundles, const guint32 *parents, guint32 n,
	 double *out)
{
	*out = 0;
	for (guint32 i = 0; i < n; i++) {
		const WpNestBundle *bundle = &problem->bundles[bundles[i]];
		gint at = wp_nest_find_candidate(problem, bundle, parents[i]);
		if (at < 0)
			return FALSE;
		*out += (double)problem->candidates[bundle->first_candidate + (guint32)at].odds;
	}
	return TRUE;
}

/* Gives N BUNDLES these PARENTS, where nothing speaks against it. FALSE: they have what they had. */
static gboolean
set_parents(WpNestProblem *problem, const guint32 *bundles, const guint32 *parents, guint32 n)
{
	guint32 own[MAX_TIED];
	double before, after;
	gboolean has_changed = FALSE;

	for (guint32 i = 0; i < n; i++)
		own[i] = problem->bundles[bundles[i]].parent;
	if (!sum_odds(problem, bundles, own, n, &before) ||
	    !sum_odds(problem, bundles, parents, n, &after) || after < before)
		return FALSE;
	for (guint32 i = 0; i < n; i++) {
		has_changed |= own[i] != parents[i];
		problem->bundles[bundles[i]].parent = parents[i];
	}
	return has_changed;
}

/* --- things that leave at one moment --- */

/* Of a coarse clock the same time says nothing of the order. */
static gboolean
tells_order(const WpNestProblem *problem)
{
	return problem->grain_ns <= WP_NEST_GRAIN_NS;
}

static gboolean
is_of_message(const WpNestProblem *problem, const WpNestBundle *bundle)
{
	return bundle->n == 1 && bundle->parent != WP_NO_PARENT &&
	       problem->parents[bundle->parent].is_message;
}

/* The kind is that of the bundle's child. */
static gboolean
are_twins(const WpNestProblem *problem, const WpNestBundle *a, const WpNestBundle *b)
{
	const WpNestChild *children = problem->children;
	const WpNestChild *x = &children[problem->bundle_children[a->first]],
			  *y = &children[problem->bundle_children[b->first]];
	return x->begin_ns == y->begin_ns && x->end_ns == y->end_ns && x->type == y->type &&
	       x->packet == y->packet;
}

static gboolean
order_bundles(WpNestProblem *problem, guint32 first, guint32 end)
{
	guint32 bundles[MAX_TIED], parents[MAX_TIED];
	gboolean has_changed = FALSE;

	for (guint32 b = first; b < end; b++) {
		guint32 n = 0;
		if (!is_of_message(problem, &problem->bundles[b]))
			continue;
		for (guint32 other = b; other < end && n < MAX_TIED; other++) {
			if (!is_of_message(problem, &problem->bundles[other]) ||
			    !are_twins(problem, &problem->bundles[b], &problem->bundles[other]))
				continue;
			bundles[n] = other;
			parents[n++] = problem->bundles[other].parent;
		}
		qsort(parents, n, sizeof parents[0], compare_numbers);
		has_changed |= set_parents(problem, bundles, parents, n);
	}
	return has_changed;
}

/* --- messages that come at one moment --- */

gboolean
wp_nest_is_tie(const WpNestProblem *problem, guint32 a, guint32 b)
{
	const WpNestParent *x = &problem->parents[a], *y = &problem->parents[b];
	return x->is_message && y->is_message && x->begin_ns == y->begin_ns &&
	       x->class == y->class && x->wait_ns == y->wait_ns;
}

gboolean
wp_nest_order_ties(WpNestProblem *problem)
{
	gboolean has_changed = FALSE;

	for (guint32 first = 0, end; tells_order(problem) && first < problem->n_bundles;
	     first = end) {
		end = first + 1;
		while (end < problem->n_bundles && end - first < MAX_TIED &&
		       problem->bundles[end].begin_ns == problem->bundles[first].begin_ns)
			end++;
		if (end - first > 1)
			has_changed |= order_bundles(problem, first, end);
	}
	return has_changed;
}

gboolean
wp_nest_has_twin(const WpNestProblem *problem, const WpNestBundle *bundle)
{
	guint32 number = (guint32)(bundle - problem->bundles);
	guint32 least = number - MIN(number, MAX_TIED);
	guint32 end = number + MIN(problem->n_bundles - number, MAX_TIED);

	if (!tells_order(problem))
		return FALSE;
	for (guint32 b = number; b-- > least && problem->bundles[b].begin_ns == bundle->begin_ns;)
		if (are_twins(problem, &problem->bundles[b], bundle))
			return TRUE;
	for (guint32 b = number + 1; b < end && problem->bundles[b].begin_ns == bundle->begin_ns;
	     b++)
		if (are_twins(problem, &problem->bundles[b], bundle))
			return TRUE;
	return FALSE;
}
