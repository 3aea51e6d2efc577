/*
 * WpOnce: types of calls of which each parent makes just one. That they do is learned from the counts; then a
 * missing or a second one is taken for a mistake. Siblings cost as well, where they are more than there should be
 * (nesting-siblings.h). Inside of timeline.c.
 */
#ifndef WP_INFER_TIMELINE_ONCE_H
#define WP_INFER_TIMELINE_ONCE_H

#include "infer/nesting.h"

typedef struct {
	const WpNestProblem *problem;
	guint32 *types; /* of which there are as many calls as parents */
	guint32 n_types;
	gint32 *n_exact;   /* of these: counted parents with just one */
	double *nats;      /* of these: cost of a missing or another one */
	gint32 n_counted;  /* parents */
	guint32 *counts;   /* scratch, by type */
	double *pair_nats; /* cost of two siblings, by type; [n_types]: of any type; NULL: none */
	gint64 *n_pairs;   /* counted, likewise: each child with each other */
	gint64 *n_all;     /* children */
} WpOnce;

/* PROBLEM is borrowed. */
void wp_once_init(WpOnce *once, const WpNestProblem *problem);
void wp_once_clear(WpOnce *once);

/* SIGN 1: a parent with these CHILDREN more, -1: one less. */
void wp_once_count(WpOnce *once, const guint32 *children, guint32 n, gint sign);

/* Learns from what was counted. */
void wp_once_fit(WpOnce *once);

/* What it costs that these CHILDREN of a parent are not one of each: nats. */
double wp_once_cost(WpOnce *once, const guint32 *children, guint32 n);

#endif
