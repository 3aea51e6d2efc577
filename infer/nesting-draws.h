/*
 * How many answers are drawn by chance, to say how sure each link is.
 *
 * Many tell better which of two links is the surer, and begin farther from the found answer, which vouches for its own
 * mistakes. They take as much longer where much is in doubt; where hardly anything is, few are enough.
 */
#ifndef WP_INFER_NESTING_DRAWS_H
#define WP_INFER_NESTING_DRAWS_H

#include "infer/nesting-moves.h"

/* Sweeps by chance over all bundles in doubt. */
typedef struct WpNestDraws {
	gint warm_up; /* until the answer is one of many */
	gint n;       /* that count */
	gint a_model; /* then learn from that answer */
} WpNestDraws;

/* (transfer none) For the bundles that SEARCH has in doubt. */
const WpNestDraws *wp_nest_draws_for(const WpNestSearch *search);

#endif
