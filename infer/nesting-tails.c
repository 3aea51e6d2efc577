/* Tails: how far they go. */
#include "infer/nesting-tails.h"

guint32
wp_nest_find_child(const WpNestParent *parent, guint32 child)
{
	guint32 at = 0, end = parent->n;

	while (at < end) {
		guint32 middle = at + (end - at) / 2;
		if (parent->children[middle] < child)
			at = middle + 1;
		else
			end = middle;
	}
	return at;
}

/* Ends TAILS before the first of PARENT's bundles that may not be OTHER's, or began before. */
static void
end_where_they_must(const WpNestProblem *problem, const WpNestParent *parent, guint32 other,
		    WpNestTails *tails)
{
	for (guint32 i = wp_nest_find_child(parent, tails->first); i < parent->n; i++) {
		guint32 child = parent->children[i];
		if (child >= tails->end)
			return;
		const WpNestBundle *bundle = &problem->bundles[problem->children[child].bundle];
		guint32 begin = problem->bundle_children[bundle->first];
		if (begin < tails->first ||
		    (begin == child && wp_nest_find_candidate(problem, bundle, other) < 0)) {
			tails->end = child;
			return;
		}
	}
}

/* Ends TAILS before a bundle of PARENT's that goes on behind them; FALSE where there is none: a bundle stays whole. */
static gboolean
end_before_part(const WpNestProblem *problem, const WpNestParent *parent, WpNestTails *tails)
{
	for (guint32 i = wp_nest_find_child(parent, tails->first); i < parent->n; i++) {
		guint32 child = parent->children[i];
		if (child >= tails->end)
			return FALSE;
		const WpNestBundle *bundle = &problem->bundles[problem->children[child].bundle];
		if (problem->bundle_children[bundle->first + bundle->n - 1] >= tails->end) {
			tails->end = problem->bundle_children[bundle->first];
			return TRUE;
		}
	}
	return FALSE;
}

/* How many bundles of PARENT's TAILS have, and the kind of one. */
static guint32
count_bundles(const WpNestProblem *problem, const WpNestParent *parent, const WpNestTails *tails,
	      guint32 *out_kind)
{
	guint32 n = 0;

	for (guint32 i = wp_nest_find_child(parent, tails->first); i < parent->n && n < 2; i++) {
		guint32 child = parent->children[i];
		if (child >= tails->end)
			break;
		const WpNestBundle *bundle = &problem->bundles[problem->children[child].bundle];
		*out_kind = bundle->kind;
		n += problem->bundle_children[bundle->first] == child;
	}
	return n;
}

static gboolean
are_more_than_one(const WpNestProblem *problem, const WpNestTails *tails)
{
	guint32 kinds[2] = { 0, 0 };
	guint32 n_from = count_bundles(problem, &problem->parents[tails->from], tails, &kinds[0]);
	guint32 n_to = count_bundles(problem, &problem->parents[tails->to], tails, &kinds[1]);

	if (n_from + n_to < 2)
		return FALSE;
	return n_from > 1 || n_to > 1 || kinds[0] != kinds[1];
}

gboolean
wp_nest_find_tails(const WpNestProblem *problem, WpNestTails *tails)
{
	const WpNestParent *from = &problem->parents[tails->from];
	const WpNestParent *to = &problem->parents[tails->to];

	tails->end = WP_NO_CHILD;
	end_where_they_must(problem, from, tails->to, tails);
	end_where_they_must(problem, to, tails->from, tails);
	while (end_before_part(problem, from, tails) || end_before_part(problem, to, tails))
		;
	return tails->end > tails->first && are_more_than_one(problem, tails);
}

/* --- going back --- */

static guint32
child_at(const WpNestParent *parent, guint32 at)
{
	return at < parent->n ? parent->children[at] : WP_NO_CHILD;
}

static gboolean
begins_bundle(const WpNestProblem *problem, guint32 child)
{
	const WpNestBundle *bundle = &problem->bundles[problem->children[child].bundle];
	return problem->bundle_children[bundle->first] == child;
}

/* What steps say for going back where FROM has its Ith child, and TO its Jth, next, against going on with the other's. */
static double
gain_of_going_back(const WpNestProblem *problem, const WpTimelines *timelines,
		   const WpNestTails *tails, guint32 i, guint32 j)
{
	const WpNestParent *from = &problem->parents[tails->from];
	const WpNestParent *to = &problem->parents[tails->to];
	guint32 last_own = i > 0 ? from->children[i - 1] : WP_NO_CHILD;
	guint32 last_other = j > 0 ? to->children[j - 1] : WP_NO_CHILD;
	guint32 own = child_at(from, i), other = child_at(to, j);

	return wp_timelines_step(timelines, tails->from, last_other, own) +
	       wp_timelines_step(timelines, tails->to, last_own, other) -
	       wp_timelines_step(timelines, tails->from, last_other, other) -
	       wp_timelines_step(timelines, tails->to, last_own, own);
}

gboolean
wp_nest_cut_tails(const WpNestProblem *problem, const WpTimelines *timelines, WpNestTails *tails)
{
	const WpNestParent *from = &problem->parents[tails->from];
	const WpNestParent *to = &problem->parents[tails->to];
	guint32 i = wp_nest_find_child(from, tails->first),
		j = wp_nest_find_child(to, tails->first);
	guint32 end = tails->end;
	double most = -G_MAXDOUBLE;

	for (;;) {
		guint32 own = child_at(from, i), other = child_at(to, j);
		guint32 next = MIN(own, other);
		if (next >= end)
			break;
		if (next > tails->first && begins_bundle(problem, next)) {
			double gain = gain_of_going_back(problem, timelines, tails, i, j);
			if (gain > most) {
				most = gain;
				tails->end = next;
			}
		}
		i += own == next;
		j += other == next;
	}
	if (tails->end == end)
		return FALSE;
	while (end_before_part(problem, from, tails) || end_before_part(problem, to, tails))
		;
	return tails->end > tails->first && are_more_than_one(problem, tails);
}

guint32
wp_nest_join_tails(const WpNestProblem *problem, const WpNestTails *tails, gboolean of_to,
		   guint32 *out_children)
{
	const WpNestParent *own = &problem->parents[of_to ? tails->to : tails->from];
	const WpNestParent *other = &problem->parents[of_to ? tails->from : tails->to];
	guint32 n = 0, n_head = wp_nest_find_child(own, tails->first);

	for (guint32 i = 0; i < n_head; i++)
		out_children[n++] = own->children[i];
	for (guint32 i = wp_nest_find_child(other, tails->first);
	     i < other->n && other->children[i] < tails->end; i++)
		out_children[n++] = other->children[i];
	for (guint32 i = n_head; i < own->n; i++)
		if (own->children[i] >= tails->end)
			out_children[n++] = own->children[i];
	return n;
}
