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

/* TRUE where messages A and B came at the same moment and are of one class. */
gboolean wp_nest_is_tie(const WpNestProblem *problem, guint32 a, guint32 b);

/* TRUE where another thing of the type of BUNDLE's began at the same moment. */
gboolean wp_nest_has_twin(const WpNestProblem *problem, const WpNestBundle *bundle);

#endif
