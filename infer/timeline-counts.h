/*
 * WpCounts: how often which event followed which, after what gaps, and after which calls so far; and the
 * likelihood that this gives. Inside of timeline.c.
 */
#ifndef WP_INFER_TIMELINE_COUNTS_H
#define WP_INFER_TIMELINE_COUNTS_H

#include "infer/density.h"
#include "infer/map.h"
#include "infer/nesting.h"

#define WP_PLAN_BACKOFF  0.1  /* weight of the last event alone against the calls so far */
#define WP_EVENT_BACKOFF 0.02 /* weight of an event never seen after this one */
#define WP_N_EVENTS      8    /* that may follow one, for those never seen */
#define WP_NO_PLAN       G_MAXUINT32

/*
 * Events as numbers. Last events x: BEGIN, END, call of type t, return of type t. Next events y: END,
 * STOP, call of type t. POOL as x is the pool over all x.
 */
enum {
	WP_X_BEGIN,
	WP_X_END,
	WP_X_POOL,
	WP_X_FIRST_TYPE, /* + 2 t: its call; + 2 t + 1: its return */
	WP_Y_END = 0,
	WP_Y_STOP,
	WP_Y_FIRST_TYPE /* + t */
};

/* An event after a certain last one. */
typedef struct {
	gint32 n;
	guint32 total;       /* cell: (class, x) */
	guint32 pool;        /* slot of the pool; own number where there is no larger one */
	double backoff;      /* probability of the event after this last one */
	WpDensity *density;  /* NULL: STOP, which takes no time; or no room: that of the pool */
	float *logs;         /* log of the density of log-gaps, by bin */
	guint32 own_version; /* of the densities, when LOGS were made */
	guint32 pool_version;
} WpEventSlot;

/* The calls so far, as a node of a tree: one child for each event that followed. */
typedef struct {
	gint32 n;
	guint32 y;
	guint32 child;   /* the first; WP_NO_PLAN: none */
	guint32 sibling; /* the next; WP_NO_PLAN: none */
	guint32 version; /* of what was learned, when LOG was set */
	guint32 cell;    /* ... for an event after this (class, x) */
	double log;      /* of its probability after the calls before it */
} WpPlanNode;

typedef struct {
	const WpQuickLog *quick;
	guint32 n_x;
	guint32 n_y;
	gint32 *dense; /* slot + 1 by (class, x, y); NULL = too many, then MAP */
	WpMap *map;
	GArray *slots; /* WpEventSlot */
	guint32 n_densities;
	guint32 n_without; /* slots for which there was no room */
	guint32 common;    /* slot, pool of pools for which there was none; 0: none yet */
	gint32 *totals;    /* of events, by (class, x) */
	GArray *plans;     /* WpPlanNode; the first are the classes */
	guint32 version;   /* how often something new was learned */
	double flat;       /* log density of a gap never learned */
} WpCounts;

/* Of PROBLEM (borrowed), with so many classes of parents. */
void wp_counts_init(WpCounts *counts, const WpNestProblem *problem, guint32 n_classes);
void wp_counts_clear(WpCounts *counts);

/* Number of what is found, or made. */
guint32 wp_counts_make_slot(WpCounts *counts, guint32 class, guint32 x, guint32 y);
guint32 wp_counts_make_node(WpCounts *counts, guint32 node, guint32 y);

/* Learns from what was counted. */
void wp_counts_fit(WpCounts *counts);

static inline guint64
wp_counts_cell(const WpCounts *counts, guint32 class, guint32 x, guint32 y)
{
	return ((guint64) class * counts->n_x + x) * counts->n_y + y;
}

static inline WpEventSlot *
wp_counts_slot(const WpCounts *counts, guint32 number)
{
	return &((WpEventSlot *)(void *)counts->slots->data)[number];
}

/* NULL: never seen. */
static inline WpEventSlot *
wp_counts_find_slot(const WpCounts *counts, guint32 class, guint32 x, guint32 y)
{
	guint64 cell = wp_counts_cell(counts, class, x, y);
	if (counts->dense) {
		gint32 number = counts->dense[cell];
		return number ? wp_counts_slot(counts, (guint32)number - 1) : NULL;
	}
	guint32 number = wp_map_find(counts->map, cell);
	return number != WP_MAP_NONE ? wp_counts_slot(counts, number) : NULL;
}

/* The nearest that has a density: SLOT, its pool, or that of all. */
static inline WpEventSlot *
wp_counts_with_density(const WpCounts *counts, WpEventSlot *slot)
{
	while (!slot->density)
		slot = wp_counts_slot(counts, slot->pool);
	return slot;
}

static inline WpPlanNode *
wp_counts_node(const WpCounts *counts, guint32 number)
{
	return &((WpPlanNode *)(void *)counts->plans->data)[number];
}

/* What follows NODE by event Y, or WP_NO_PLAN. */
static inline guint32
wp_counts_find_node(const WpCounts *counts, guint32 node, guint32 y)
{
	guint32 next = node == WP_NO_PLAN ? WP_NO_PLAN : wp_counts_node(counts, node)->child;
	while (next != WP_NO_PLAN && wp_counts_node(counts, next)->y != y)
		next = wp_counts_node(counts, next)->sibling;
	return next;
}

/* One less than was counted: what the parent itself contributed does not speak for it. */
static inline double
wp_counts_others(gint32 n)
{
	return n > 1 ? n - 1 : 0;
}

static inline double
wp_counts_backoff(gint32 n, gint32 total)
{
	return (wp_counts_others(n) + WP_EVENT_BACKOFF) /
	       (wp_counts_others(total) + WP_EVENT_BACKOFF * WP_N_EVENTS);
}

/* Log probability of event Y, with this BACKOFF in CELL, after the calls up to NODE; goes on to it. */
static inline double
wp_counts_log_of_plan(const WpCounts *counts, guint32 *node, guint32 y, guint32 cell,
		      double backoff)
{
	guint32 before = *node, number = wp_counts_find_node(counts, before, y);
	WpPlanNode *next = number == WP_NO_PLAN ? NULL : wp_counts_node(counts, number);

	*node = number;
	if (next && next->version == counts->version && next->cell == cell)
		return next->log;
	double n = next ? wp_counts_others(next->n) : 0;
	double of = before == WP_NO_PLAN ? 0 : wp_counts_others(wp_counts_node(counts, before)->n);
	double log = wp_quick_log(counts->quick,
				  (n + WP_PLAN_BACKOFF * backoff) / (of + WP_PLAN_BACKOFF));
	if (next) {
		next->version = counts->version;
		next->cell = cell;
		next->log = log;
	}
	return log;
}

static inline double
wp_counts_log_of_gap(const WpCounts *counts, const WpEventSlot *slot, double octaves)
{
	if (!slot)
		return counts->flat;
	while (!slot->logs)
		slot = wp_counts_slot(counts, slot->pool);
	return (double)slot->logs[wp_density_bin(octaves)];
}

#endif
