/*
 * How likely it is that all that a host sends comes when it does, whichever message each thing is caused by. A
 * message makes it likely for a while that something is sent, f(gap) at each time behind it; what is sent by many at
 * once is a Poisson process of the sum of these. Of one answer, however good, the likelihood is less, the more others are
 * about as good, so answers cannot be compared with what sums over them (nesting-line.h); this can.
 *
 * f is learned by expectation maximisation over all candidates: each gap counts as much as it explains. Where
 * hardly any gaps overlap it is too low by a nat a thing, as each message is known to cause just so many: there one
 * answer tells more.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_RATE_H
#define WP_INFER_NESTING_RATE_H

#include "infer/nesting.h"

/* Log likelihood, per grain of time. */
double wp_nest_rate_score(const WpNestProblem *problem);

/*
 * ... of bundles FIRST to END, if the work at each parent began at BEGINS_NS, by parent and ascending, and what is sent was
 * caused by one of the last BACK whose work had begun before it; learned in so many ROUNDS. HAS_ENDS: how long behind the end
 * of what is sent its parent ends is likely or not, too. Of workers that are all at work each begins when another ends, however
 * many they are, so that something is always sent behind the begin of some call; behind its own end only with the right number.
 */
double wp_nest_rate_score_from(const WpNestProblem *problem, const gint64 *begins_ns, guint32 back,
			       guint32 first, guint32 end, gboolean has_ends, guint rounds);

#endif
