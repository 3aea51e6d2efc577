/*
 * How likely an answer is on a clock: its gaps by their own densities there. So that clocks can be compared, likelihoods
 * are taken over real time: log f(gap on the clock) + log(rate of the clock at the event). Inside of the nesting
 * engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_RETIME_H
#define WP_INFER_NESTING_RETIME_H

#include "infer/nesting-clock.h"

/*
 * Nats of all events: returns of parents, and begins of the children that each has in ANSWER, of which how many there are is
 * OUT_N_EVENTS. REAL is the same problem on real time, which need not be solved. CLOCK NULL: real time.
 */
double wp_nest_score_on(const WpNestProblem *real, const WpNestProblem *answer,
			const WpNestClock *clock, guint32 *out_n_events);

#endif
