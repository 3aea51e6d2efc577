/*
 * Of all answers that are about as likely the one with most links in which they agree. Where much overlaps, the likeliest
 * answer is one of thousands, and has a link no oftener than chance has; of what exponential delays tell any is as good.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_AGREE_H
#define WP_INFER_NESTING_AGREE_H

#include "infer/nesting.h"

/*
 * Exchanges what parents of PROBLEM, whose children are hung, have, as long as the sum of SHARES (by candidate: how
 * often the bundle had it) gets larger by that. Of each type each parent has as many before and after, in the same order, or
 * two have changed places.
 */
void wp_nest_agree(WpNestProblem *problem, const double *shares);

#endif
