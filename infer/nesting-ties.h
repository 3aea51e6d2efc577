/*
 * Messages that come in one packet, and things that leave in one. Times tell nothing of who among the former caused which
 * of the latter, but what comes first is taken up first, and written first.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_TIES_H
#define WP_INFER_NESTING_TIES_H

#include "infer/nesting.h"

/*
 * In the answer of PROBLEM, things of a type that left at the same moment have their causes in order. By time alone all is as
 * likely as before. Sets parents of bundles; TRUE: children have to be hung anew.
 */
gboolean wp_nest_order_ties(WpNestProblem *problem);

/*
 * How sure that is. What works at one thing after the other crosses hardly ever: what it can be asked of leaves at one moment. What
 * waits for timers crosses as often as not, and of what it happens to send at one moment nothing is known.
 */
typedef struct WpNestTwins WpNestTwins;

/* (transfer full) PROBLEM is borrowed. NULL: no things of a type that messages cause left at the same moment. */
WpNestTwins *wp_nest_twins_new(const WpNestProblem *problem);
void wp_nest_twins_free(WpNestTwins *twins); /* may be NULL */

/* Counts the parents of the answer that there is now: of one of several that are as likely. */
void wp_nest_twins_count(WpNestTwins *twins);

/* SHARES, by candidate of as many answers as were counted, become those with what left at one moment in order, as far as that is sure. */
void wp_nest_twins_share(const WpNestTwins *twins, double *shares);

#endif
