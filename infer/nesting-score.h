/*
 * How good an answer is, whatever found it: so that one found otherwise can be compared with it.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_SCORE_H
#define WP_INFER_NESTING_SCORE_H

#include "infer/nesting.h"

/*
 * How likely the answer of PROBLEM is by time, learned from itself; and others about as good with it: as often as it is
 * doubted, but by halves, as two things exchanged make two doubts. Log likelihood, per grain of time.
 */
double wp_nest_score_answer(const WpNestProblem *problem, const WpNestBelief *beliefs);

/*
 * What evidence says of PARENT for BUNDLE, nats; of one that is no candidate of its, what it says of the least likely
 * candidate.
 */
double wp_nest_odds(const WpNestProblem *problem, const WpNestBundle *bundle, guint32 parent);

#endif
