/*
 * The whole of a host's problem: its answer on real time tells by which clock (nesting-clock.h) its work goes;
 * where that is another, there is another answer. Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_PACE_H
#define WP_INFER_NESTING_PACE_H

#include "infer/nesting-clock.h"

/*
 * (transfer full) The problem of HOST, solved, and how sure each bundle is (transfer full OUT_BELIEFS: n_bundles), and
 * by which clock it is;
 * NULL where it sends no calls or receives none.
 */
WpNestProblem *wp_nest_solve(const WpResolved *resolved, const WpNestHost *host,
			     const WpNestOptions *options, WpNestBelief **out_beliefs,
			     WpPace *out_pace);

#endif
