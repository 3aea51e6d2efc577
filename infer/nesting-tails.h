/*
 * Tails: what two parents do from a time on, and may exchange. Of two requests that make call after call one mistake is all that
 * both do from then on, until something tells them apart again; so what is exchanged goes on as far as it may be the other's, or
 * to a later time at which both may well go back.
 *
 *     from a b c d e   to a' b' c' d'   ->   from a b' c' d'    to a' b c d e    as far as may be
 *                                       ->   from a b' c' d e   to a' b c d'     up to a later time
 */
#ifndef WP_INFER_NESTING_TAILS_H
#define WP_INFER_NESTING_TAILS_H

#include "infer/nesting.h"
#include "infer/timeline.h"

/* Where PARENT's first child from number CHILD on is among its children; their number where there is none. */
guint32 wp_nest_find_child(const WpNestParent *parent, guint32 child);

/* Children of FROM and of TO that begin from FIRST on and before END (numbers of children, which are in order of begin). */
typedef struct {
	guint32 from;
	guint32 to;
	guint32 first;
	guint32 end; /* WP_NO_CHILD: all that they have */
} WpNestTails;

/*
 * Sets where TAILS end: at the first that may not be the other's. FALSE where nothing is left but what other moves try, one
 * bundle that goes or two that change places.
 */
gboolean wp_nest_find_tails(const WpNestProblem *problem, WpNestTails *tails);

/*
 * Sets an earlier end of TAILS, behind which both have their own again: where the steps from the last call of the one to the next
 * of the other say most for that. TAILS have an end already; FALSE where no earlier one is of use.
 */
gboolean wp_nest_cut_tails(const WpNestProblem *problem, const WpTimelines *timelines,
			   WpNestTails *tails);

/* The children that FROM, and that TO, would have, with room for those of both. */
guint32 wp_nest_join_tails(const WpNestProblem *problem, const WpNestTails *tails, gboolean of_to,
			   guint32 *out_children);

#endif
