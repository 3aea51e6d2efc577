/*
 * A host's problem and an answer to it, by one of the clocks that the host may go by. What a host is like is found by
 * comparing such answers. Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_SOLUTION_H
#define WP_INFER_NESTING_SOLUTION_H

#include "infer/nesting-clock.h"

/* What is asked. All is borrowed. */
typedef struct {
	const WpResolved *resolved;
	const WpNestHost *host;
	const WpNestOptions *options;
	WpNestProblem *real; /* on real time, not solved */
} WpNestQuestion;

typedef struct {
	WpNestProblem *problem;
	WpNestSearch *search;
	WpNestBelief *beliefs; /* NULL: not asked for */
	const WpPace *pace;
	guint8 takes[WP_PACE_MAX_TAKES]; /* as in WpPace */
	guint8 n_takes;                  /* if any, its times are real */
} WpNestSolution;

/* Whether a solution is on real time is told by its address. */
extern const WpPace wp_nest_real_time;
#define WP_NEST_REAL_TIME (&wp_nest_real_time)

/* QUESTION solved on the clock of PACE (borrowed); without a problem where HOST sends no calls or receives none. */
WpNestSolution wp_nest_solution_new(const WpNestQuestion *question, const WpPace *pace);

/* Frees what it holds; it is then on real time, and without a problem. */
void wp_nest_solution_clear(WpNestSolution *solution);

/* How sure each bundle is: found when it is asked for. */
WpNestBelief *wp_nest_solution_beliefs(WpNestSolution *solution);

#endif
