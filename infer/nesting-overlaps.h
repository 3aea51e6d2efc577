/*
 * WpNestOverlaps: which calls a parent makes while others of its own are open, told by counts alone, whoever is whose.
 *
 *     parents in work   3   3   4   3      when a call begins that is the only one of its parent, calls are open
 *     calls open        1   2   2   1      of the other parents alone: as many each as on average over all time
 *
 *     own calls open = mean over calls (calls open when it begins - calls open per parent in work * other parents in work)
 *
 * Most programs wait for a call before they make the next. At load that is hard to learn from an answer with mistakes: calls
 * that begin close to each other are many then, a parent that has several of these at once looks like a plan, and what was learned of
 * it vouches for itself. So as long as the search is noisy, calls that overlap cost what the counts say against that.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_OVERLAPS_H
#define WP_INFER_NESTING_OVERLAPS_H

#include "infer/nesting.h"

struct WpNestOverlaps {
	guint32 n_groups;
	guint8 *group_of; /* by type: frequent ones have groups of their own; 0: what is no call */
	double *own; /* by (group that is open, group that begins): calls of the same parent's, on average */
	double *nats; /* likewise: what it costs; from 0, where there is one as a rule */
};

/*
 * (transfer full) Of PROBLEM's present answer only asks which calls begin behind the reply of their parent: those have no
 * parent in work. NULL: no parent takes any time.
 */
WpNestOverlaps *wp_nest_overlaps_new(const WpNestProblem *problem);
void wp_nest_overlaps_free(WpNestOverlaps *overlaps);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpNestOverlaps, wp_nest_overlaps_free)

/* What it costs a parent, in nats, that a call of TYPE begins while one of OPEN_TYPE is open. */
static inline double
wp_nest_overlap_cost(const WpNestOverlaps *overlaps, guint32 open_type, guint32 type)
{
	return overlaps->nats[overlaps->group_of[open_type] * overlaps->n_groups +
			      overlaps->group_of[type]];
}

#endif
