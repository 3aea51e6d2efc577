/*
 * WpHoldCounts: how often a call follows one of its own parent on its connection, and what that is worth, where connections are
 * held (nesting-holds.h). Inside of timeline.c.
 */
#ifndef WP_INFER_TIMELINE_HOLDS_H
#define WP_INFER_TIMELINE_HOLDS_H

#include "infer/nesting-holds.h"

/* By pool, and by whether a call that follows one of its parent is next on its connection. */
typedef struct {
	const WpNestProblem *problem;
	gint32 (*n)[2];
	double (*nats)[2];
} WpHoldCounts;

/* PROBLEM is borrowed. */
void wp_hold_counts_init(WpHoldCounts *counts, const WpNestProblem *problem);
void wp_hold_counts_clear(WpHoldCounts *counts);

/* SIGN 1: a parent with these CHILDREN more, -1: one less. */
void wp_hold_counts_add(WpHoldCounts *counts, const guint32 *children, guint32 n, gint sign);

/* Learns from what was counted. */
void wp_hold_counts_fit(WpHoldCounts *counts);

/* By how much the connections of these CHILDREN make it likelier that a parent has them: nats. */
double wp_hold_counts_score(const WpHoldCounts *counts, const guint32 *children, guint32 n);

#endif
