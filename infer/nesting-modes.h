/*
 * How children lie to their parents, as evidence beside time tells it: of the bundles of one kind, which share is
 * caused by each class of parents, inside it, across its end or after its reply.
 *
 * A value that is passed on rarely tells the parent of one bundle beyond doubt where hundreds of calls are near, and
 * yet what all bundles of a kind say together leaves none. So the shares are those that make what is seen likeliest,
 * by expectation maximization:
 *
 *     P(b | shares) = sum over (class, mode) of share * mean over b's candidates there of e^odds
 *
 * A candidate that is none adds e^odds of 1 on average, and a place without any nothing.
 */
#ifndef WP_INFER_NESTING_MODES_H
#define WP_INFER_NESTING_MODES_H

#include "infer/nesting.h"

typedef struct WpNestModes WpNestModes;

/*
 * (transfer full) Of the bundles that PICKS has (a flag each), whose candidates have their odds by now. Classes are told apart if
 * BY_CLASS; else all are class 0.
 */
WpNestModes *wp_nest_modes_new(const WpNestProblem *problem, const guint8 *picks,
			       gboolean by_class);
void wp_nest_modes_free(WpNestModes *modes);

/* FALSE: evidence says next to nothing of KIND's bundles. */
gboolean wp_nest_modes_knows(const WpNestModes *modes, guint32 kind);

/* TRUE where it says that parents of CLASS have bundles of KIND in MODE. */
gboolean wp_nest_modes_has(const WpNestModes *modes, guint32 class, guint32 kind, WpNestMode mode);

#endif
