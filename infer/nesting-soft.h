/*
 * Soft assignment: each bundle spreads over its candidates, as likely as the gaps at both ends make each;
 * the densities of the gaps are learned from that, and so on. Part of the first answer (nesting-start.c);
 * nobody else includes this.
 *
 * Bundles with one candidate are settled: they are counted once.
 */
#ifndef WP_INFER_NESTING_SOFT_H
#define WP_INFER_NESTING_SOFT_H

#include "infer/nesting.h"

#define WP_SOFT_BINS           448 /* of one gap */
#define WP_SOFT_BINS_AN_OCTAVE 12

/* What is asked of a candidate in every round. */
typedef struct {
	guint32 plane; /* number of (class, kind, mode) */
	guint16 begin; /* bins of the gaps */
	guint16 end;
	double slope; /* of the two bins: density over time against that over octaves */
} WpNestPair;

typedef struct WpNestSoft WpNestSoft;

/* (transfer full) PAIRS (by candidate) and WEIGHTS (by candidate, changed by the rounds) are borrowed. */
WpNestSoft *wp_nest_soft_new(WpNestProblem *problem, const WpNestPair *pairs, guint32 n_planes,
			     double *weights);
void wp_nest_soft_free(WpNestSoft *soft);

/* Learns the delays from the weights as they are, once and for all. */
void wp_nest_soft_know(WpNestSoft *soft);

/*
 * ROUNDS of spreading, begun from the present weights; of bundles FIRST to END alone, of which the settled
 * ones are taken for a fair share of all. No parent gets more calls of a kind than SLACK times
 * what parents of its class make of them on average (but one).
 */
void wp_nest_soft_assign(WpNestSoft *soft, guint rounds, double slack, guint32 first, guint32 end);

/* Scales N weights so that their sum is 1. */
void wp_nest_soft_normalise(double *weights, guint32 n);

#endif
