/* Timelines: counts of events and gaps, and the likelihood that they give. */
#include "infer/timeline.h"

#include <string.h>

#include "infer/density.h"
#include "infer/map.h"
#include "infer/timeline-once.h"

#define PLAN_BACKOFF  0.1       /* weight of the last event alone against the calls so far */
#define EVENT_BACKOFF 0.02      /* weight of an event never seen after this one */
#define N_EVENTS      8         /* that may follow one, for those never seen */
#define POOL_WEIGHT   3.0       /* gaps, of the histogram over all last events */
#define MAX_DENSE     (1 << 22) /* cells of the dense table of slots */
#define MAX_DENSITIES 8192 /* 14 kB each: of more gaps only the pools are learned, or one for all */
#define NO_NODE       G_MAXUINT32
#define TIME_UNKNOWN  G_MININT64 /* of an event that was not seen: any is as likely */
#define LONG          16         /* children, from which on only what differs is scored again */
#define MAX_KEPT_OPEN 4          /* calls open at a point that is kept */

/*
 * Events as numbers. Last events x: BEGIN, END, call of type t, return of type t. Next events y: END,
 * STOP, call of type t. POOL as x is the pool over all x.
 */
enum {
	X_BEGIN,
	X_END,
	X_POOL,
	X_FIRST_TYPE, /* + 2 t: its call; + 2 t + 1: its return */
	Y_END = 0,
	Y_STOP,
	Y_FIRST_TYPE /* + t */
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
} Slot;

/* The calls so far, as a node of a tree: one child for each event that followed. */
typedef struct {
	gint32 n;
	guint32 y;
	guint32 child;   /* the first; NO_NODE: none */
	guint32 sibling; /* the next; NO_NODE: none */
	guint32 version; /* of what was learned, when LOG was set */
	guint32 cell;    /* ... for an event after this (class, x) */
	double log;      /* of its probability after the calls before it */
} PlanNode;

typedef struct {
	gint64 end_ns;
	guint32 type;
} OpenCall;

/* What was counted of a parent: its children then. */
typedef struct {
	guint32 *children;
	guint32 n;
	guint32 n_allocated;
	gboolean is_counted;
} Counted;

/* How far a walk has come before a child. */
typedef struct {
	double score;
	gint64 last_ns;
	guint32 node;
	guint32 last;
	gboolean has_ended;
	guint32 n_open; /* more than MAX_KEPT_OPEN: they are not kept */
	OpenCall open[MAX_KEPT_OPEN];
} Point;

/* The score of a parent with the children that it had, child by child. */
typedef struct {
	guint32 parent;
	guint32 version; /* of what was learned; 0: none yet */
	guint32 *children;
	Point *points; /* before each of them */
	guint32 n;
	guint32 n_allocated;
	double score; /* of all */
} Known;

struct WpTimelines {
	const WpNestProblem *problem;
	guint32 n_classes; /* and where there are ghosts, all classes as one */
	guint32 n_x;
	guint32 n_y;
	gint32 *dense; /* slot + 1 by (class, x, y); NULL = too many, then MAP */
	WpMap *map;
	GArray *slots; /* Slot */
	guint32 n_densities;
	guint32 n_without; /* slots for which there was no room */
	guint32 common;    /* slot, pool of pools for which there was none; 0: none yet */
	gint32 *totals;    /* of events, by (class, x) */
	GArray *plans;     /* PlanNode; the first are the classes */
	Counted *counted;  /* by parent */
	guint32 first;     /* these are counted: from FIRST to END */
	guint32 end;
	guint32 version; /* how often something new was learned */
	double flat;     /* log density of a gap never learned */
	WpOnce once;
	OpenCall *open; /* scratch: by end */
	guint32 n_open_allocated;
	Known known[2]; /* long parents: moves are between two */
	guint32 newest; /* of these: used last */
};

/* --- slots --- */

static inline guint64
cell_of(const WpTimelines *timelines, guint32 class, guint32 x, guint32 y)
{
	return ((guint64) class * timelines->n_x + x) * timelines->n_y + y;
}

static inline Slot *
get_slot(const WpTimelines *timelines, guint32 number)
{
	return &((Slot *)(void *)timelines->slots->data)[number];
}

/* NULL: never seen. */
static inline Slot *
find_slot(const WpTimelines *timelines, guint32 class, guint32 x, guint32 y)
{
	guint64 cell = cell_of(timelines, class, x, y);
	if (timelines->dense) {
		gint32 number = timelines->dense[cell];
		return number ? get_slot(timelines, (guint32)number - 1) : NULL;
	}
	guint32 number = wp_map_find(timelines->map, cell);
	return number != WP_MAP_NONE ? get_slot(timelines, number) : NULL;
}

static void
add_density(WpTimelines *timelines, Slot *slot)
{
	slot->density = wp_density_new();
	slot->logs = g_new0(float, WP_DENSITY_BINS);
	timelines->n_densities++;
}

static guint32
common_slot(WpTimelines *timelines)
{
	if (!timelines->common) {
		Slot slot = { .pool = timelines->slots->len };
		timelines->common = timelines->slots->len;
		add_density(timelines, &slot);
		g_array_append_val(timelines->slots, slot);
	}
	return timelines->common;
}

/* The nearest that has a density: SLOT, its pool, or that of all. */
static inline Slot *
with_density(const WpTimelines *timelines, Slot *slot)
{
	while (!slot->density)
		slot = get_slot(timelines, slot->pool);
	return slot;
}

static guint32
make_slot(WpTimelines *timelines, guint32 class, guint32 x, guint32 y)
{
	guint64 cell = cell_of(timelines, class, x, y);
	Slot *found = find_slot(timelines, class, x, y);
	guint32 number = timelines->slots->len;
	if (found)
		return (guint32)(found - get_slot(timelines, 0));
	if (timelines->dense)
		timelines->dense[cell] = (gint32)number + 1;
	else
		wp_map_at(timelines->map, cell, number);
	Slot slot = { .pool = number, .total = class * timelines->n_x + x };
	if (y != Y_STOP && timelines->n_densities < MAX_DENSITIES)
		add_density(timelines, &slot);
	g_array_append_val(timelines->slots, slot);
	if (y == Y_STOP)
		return number;
	guint32 pool = number;
	if (x != X_POOL)
		pool = make_slot(timelines, class, X_POOL, y);
	else if (!slot.density)
		pool = common_slot(timelines);
	get_slot(timelines, number)->pool = pool;
	timelines->n_without += !slot.density;
	return number;
}

/* --- plans --- */

static inline PlanNode *
get_node(const WpTimelines *timelines, guint32 number)
{
	return &((PlanNode *)(void *)timelines->plans->data)[number];
}

/* What follows NODE by event Y, or NO_NODE. */
static inline guint32
find_node(const WpTimelines *timelines, guint32 node, guint32 y)
{
	guint32 next = node == NO_NODE ? NO_NODE : get_node(timelines, node)->child;
	while (next != NO_NODE && get_node(timelines, next)->y != y)
		next = get_node(timelines, next)->sibling;
	return next;
}

static guint32
make_node(WpTimelines *timelines, guint32 node, guint32 y)
{
	guint32 found = find_node(timelines, node, y), number = timelines->plans->len;
	if (found != NO_NODE)
		return found;
	PlanNode fresh = { .y = y, .child = NO_NODE, .sibling = NO_NODE };
	g_array_append_val(timelines->plans, fresh);
	/* The last of its siblings: what is usual was there first, and is found first. */
	guint32 *next = &get_node(timelines, node)->child;
	while (*next != NO_NODE)
		next = &get_node(timelines, *next)->sibling;
	*next = number;
	return number;
}

/* --- life --- */

static double
log_of_share(const WpTimelines *timelines, double share)
{
	share = (1 - WP_DENSITY_FLOOR) * share + WP_DENSITY_FLOOR / WP_DENSITY_BINS;
	return wp_quick_log(&timelines->problem->quick, share * WP_DENSITY_BINS_AN_OCTAVE / G_LN2);
}

WpTimelines *
wp_timelines_new(const WpNestProblem *problem)
{
	WpTimelines *timelines = g_new0(WpTimelines, 1);
	timelines->problem = problem;
	timelines->n_x = X_FIRST_TYPE + 2 * problem->n_types;
	timelines->n_y = Y_FIRST_TYPE + problem->n_types;
	timelines->n_classes = problem->n_classes + (problem->n_ghosts && problem->n_classes > 1);
	guint64 cells = (guint64)timelines->n_classes * timelines->n_x * timelines->n_y;
	if (cells <= MAX_DENSE)
		timelines->dense = g_new0(gint32, MAX(cells, 1));
	timelines->slots = g_array_new(FALSE, FALSE, sizeof(Slot));
	timelines->map = wp_map_new();
	timelines->totals = g_new0(gint32, MAX((gsize)timelines->n_classes * timelines->n_x, 1));
	timelines->plans = g_array_new(FALSE, FALSE, sizeof(PlanNode));
	for (guint32 c = 0; c < timelines->n_classes; c++) {
		PlanNode node = { .child = NO_NODE, .sibling = NO_NODE };
		g_array_append_val(timelines->plans, node);
	}
	timelines->counted = g_new0(Counted, MAX(problem->n_parents, 1));
	timelines->flat = log_of_share(timelines, 0);
	wp_once_init(&timelines->once, problem);
	return timelines;
}

guint32
wp_timelines_n_without(const WpTimelines *timelines)
{
	return timelines->n_without;
}

void
wp_timelines_free(WpTimelines *timelines)
{
	if (!timelines)
		return;
	for (guint i = 0; i < timelines->slots->len; i++) {
		wp_density_free(get_slot(timelines, i)->density);
		g_free(get_slot(timelines, i)->logs);
	}
	for (guint32 p = 0; p < timelines->problem->n_parents; p++)
		g_free(timelines->counted[p].children);
	for (gsize i = 0; i < G_N_ELEMENTS(timelines->known); i++) {
		g_free(timelines->known[i].children);
		g_free(timelines->known[i].points);
	}
	g_array_unref(timelines->slots);
	g_array_unref(timelines->plans);
	wp_map_free(timelines->map);
	g_free(timelines->counted);
	g_free(timelines->open);
	g_free(timelines->totals);
	g_free(timelines->dense);
	wp_once_clear(&timelines->once);
	g_free(timelines);
}

/* --- walking a timeline --- */

typedef struct {
	WpTimelines *timelines;
	guint32 class;
	guint32 node; /* the calls so far */
	guint32 last; /* x */
	gint64 last_ns;
	guint32 input; /* x: the last that was received */
	gint64 input_ns;
	gboolean has_ended;
	double score;
	gint sign;           /* counts more (1) or less (-1); 0: scores */
	WpTrigger *triggers; /* not NULL: notes what each call waited for, and nothing else */
	OpenCall *open;      /* from N_RETURNED to N_OPEN, by end */
	guint32 n_returned;
	guint32 n_open;
} Walk;

static void
count_event(Walk *walk, guint32 y, gint64 gap_ns)
{
	WpTimelines *timelines = walk->timelines;
	Slot *slot = get_slot(timelines, make_slot(timelines, walk->class, walk->last, y));

	slot->n += walk->sign;
	if (y != Y_STOP) {
		gint bin = wp_density_bin(wp_nest_octaves(timelines->problem, MAX(gap_ns, 0)));
		Slot *pool = get_slot(timelines, slot->pool);
		Slot *own = with_density(timelines, slot), *all = with_density(timelines, pool);
		wp_density_count(own->density, bin, walk->sign);
		if (all != own)
			wp_density_count(all->density, bin, walk->sign);
		pool->n += walk->sign;
	}
	timelines->totals[slot->total] += walk->sign;
	get_node(timelines, walk->node)->n += walk->sign;
	walk->node = make_node(timelines, walk->node, y);
	if (y == Y_STOP)
		get_node(timelines, walk->node)->n += walk->sign;
}

/* One less than was counted: what the parent itself contributed does not speak for it. */
static inline double
others(gint32 n)
{
	return n > 1 ? n - 1 : 0;
}

static double
backoff_of(gint32 n, gint32 total)
{
	return (others(n) + EVENT_BACKOFF) / (others(total) + EVENT_BACKOFF * N_EVENTS);
}

/* Log probability of event Y, SLOT, after the calls so far; goes on to it. */
static inline double
log_of_event(Walk *walk, guint32 y, const Slot *slot)
{
	const WpTimelines *timelines = walk->timelines;
	const WpQuickLog *quick = &timelines->problem->quick;
	guint32 cell = walk->class * timelines->n_x + walk->last;
	guint32 before = walk->node, next = find_node(timelines, before, y);
	PlanNode *node = next == NO_NODE ? NULL : get_node(timelines, next);

	walk->node = next;
	if (node && node->version == timelines->version && node->cell == cell)
		return node->log;
	double backoff = slot ? slot->backoff : backoff_of(0, timelines->totals[cell]);
	double n = node ? others(node->n) : 0;
	double of = before == NO_NODE ? 0 : others(get_node(timelines, before)->n);
	double log = wp_quick_log(quick, (n + PLAN_BACKOFF * backoff) / (of + PLAN_BACKOFF));
	if (node) {
		node->version = timelines->version;
		node->cell = cell;
		node->log = log;
	}
	return log;
}

static inline double
log_of_gap(const WpTimelines *timelines, const Slot *slot, double octaves)
{
	if (!slot)
		return timelines->flat;
	while (!slot->logs)
		slot = get_slot(timelines, slot->pool);
	return (double)slot->logs[wp_density_bin(octaves)];
}

static inline void
score_event(Walk *walk, guint32 y, gint64 gap_ns)
{
	const WpTimelines *timelines = walk->timelines;
	const Slot *slot = find_slot(timelines, walk->class, walk->last, y);

	walk->score += log_of_event(walk, y, slot);
	if (y == Y_STOP || gap_ns == TIME_UNKNOWN)
		return;
	if (!slot)
		slot = find_slot(timelines, walk->class, X_POOL, y);
	double octaves = wp_nest_octaves(timelines->problem, MAX(gap_ns, 0));
	walk->score += log_of_gap(timelines, slot, octaves);
	/* A density over the logarithm of the gap is less over the gap itself, the longer that is. */
	walk->score -= octaves * G_LN2;
}

static inline void
meet(Walk *walk, guint32 y, gint64 at_ns)
{
	if (walk->triggers)
		return;
	if (walk->sign)
		count_event(walk, y, at_ns - walk->last_ns);
	else
		score_event(walk, y, at_ns == TIME_UNKNOWN ? TIME_UNKNOWN : at_ns - walk->last_ns);
}

/* Returns, and the parent's own end, up to UNTIL_NS. */
static inline void
pass_time(Walk *walk, const WpNestParent *parent, gint64 until_ns)
{
	for (;;) {
		const OpenCall *call =
			walk->n_returned < walk->n_open ? &walk->open[walk->n_returned] : NULL;
		gint64 return_ns = call ? call->end_ns : G_MAXINT64;
		if (!walk->has_ended && parent->end_ns < until_ns && parent->end_ns < return_ns) {
			meet(walk, Y_END, parent->is_open ? TIME_UNKNOWN : parent->end_ns);
			walk->last = X_END;
			walk->last_ns = parent->end_ns;
			walk->has_ended = TRUE;
		} else if (call && return_ns <= until_ns) {
			walk->last = X_FIRST_TYPE + 2 * call->type + 1;
			walk->last_ns = return_ns;
			walk->input = walk->last;
			walk->input_ns = return_ns;
			walk->n_returned++;
		} else {
			return;
		}
	}
}

/* Keeps open calls by end; of equal ones the first stays first. */
static inline void
open_call(Walk *walk, const WpNestChild *child)
{
	guint32 at = walk->n_open++;
	while (at > walk->n_returned && walk->open[at - 1].end_ns > child->end_ns) {
		walk->open[at] = walk->open[at - 1];
		at--;
	}
	walk->open[at] = (OpenCall){ child->end_ns, child->type };
}

/* With room for N open calls. */
static inline void
begin_walk(Walk *walk, const WpNestParent *parent, guint32 class, guint32 n)
{
	WpTimelines *timelines = walk->timelines;

	if (n > timelines->n_open_allocated) {
		timelines->n_open_allocated = MAX(16, 2 * n);
		g_free(timelines->open);
		timelines->open = g_new(OpenCall, timelines->n_open_allocated);
	}
	walk->open = timelines->open;
	walk->class = walk->node = class;
	walk->last = walk->input = X_BEGIN;
	walk->last_ns = walk->input_ns = parent->begin_ns;
}

/* Goes on to the call of child NUMBER, the Ith. */
static inline void
walk_child(Walk *walk, const WpNestParent *parent, guint32 number, guint32 i)
{
	const WpNestChild *child = &walk->timelines->problem->children[number];

	pass_time(walk, parent, child->begin_ns);
	if (walk->triggers)
		walk->triggers[i] =
			(WpTrigger){ 1 + cell_of(walk->timelines, walk->class, walk->input,
						 Y_FIRST_TYPE + child->type),
				     walk->input_ns, walk->last == walk->input };
	meet(walk, Y_FIRST_TYPE + child->type,
	     i == 0 && parent->is_ghost ? TIME_UNKNOWN : child->begin_ns);
	walk->last = X_FIRST_TYPE + 2 * child->type;
	walk->last_ns = child->begin_ns;
	open_call(walk, child);
}

static inline void
end_walk(Walk *walk, const WpNestParent *parent)
{
	pass_time(walk, parent, G_MAXINT64);
	meet(walk, Y_STOP, walk->last_ns);
}

static inline void
walk_parent(Walk *walk, guint32 number, guint32 class, const guint32 *children, guint32 n)
{
	const WpNestParent *parent = &walk->timelines->problem->parents[number];

	begin_walk(walk, parent, class, n);
	for (guint32 i = 0; i < n; i++)
		walk_child(walk, parent, children[i], i);
	end_walk(walk, parent);
}

void
wp_timelines_triggers(WpTimelines *timelines, guint32 parent, const guint32 *children, guint32 n,
		      WpTrigger *out_triggers)
{
	Walk walk = { .timelines = timelines, .triggers = out_triggers };
	walk_parent(&walk, parent, timelines->problem->parents[parent].class, children, n);
}

double
wp_timelines_gap(const WpTimelines *timelines, guint64 key, gint64 gap_ns)
{
	guint64 cell = key - 1;
	guint32 y = (guint32)(cell % timelines->n_y);
	guint32 x = (guint32)(cell / timelines->n_y % timelines->n_x);
	const Slot *slot =
		find_slot(timelines, (guint32)(cell / timelines->n_y / timelines->n_x), x, y);
	double octaves = wp_nest_octaves(timelines->problem, MAX(gap_ns, 0));
	return log_of_gap(timelines, slot, octaves) - octaves * G_LN2;
}

/* --- learning --- */

static void
count_timeline(WpTimelines *timelines, guint32 number, const guint32 *children, guint32 n,
	       gint sign)
{
	Walk walk = { .timelines = timelines, .sign = sign };
	Walk of_all = walk;

	walk_parent(&walk, number, timelines->problem->parents[number].class, children, n);
	if (timelines->n_classes > timelines->problem->n_classes)
		walk_parent(&of_all, number, timelines->n_classes - 1, children, n);
	wp_once_count(&timelines->once, children, n, sign);
}

/* Counts a parent as it is now, or not at all, in place of what was counted; FALSE: that is the same. */
static gboolean
recount(WpTimelines *timelines, guint32 number, gboolean counts)
{
	const WpNestParent *parent = &timelines->problem->parents[number];
	Counted *counted = &timelines->counted[number];

	if (!counts && !counted->is_counted)
		return FALSE;
	if (counts && counted->is_counted && counted->n == parent->n &&
	    (parent->n == 0 ||
	     memcmp(counted->children, parent->children, parent->n * sizeof(guint32)) == 0))
		return FALSE;
	if (counted->is_counted)
		count_timeline(timelines, number, counted->children, counted->n, -1);
	counted->is_counted = counts;
	if (!counts)
		return TRUE;
	if (parent->n > counted->n_allocated) {
		counted->n_allocated = parent->n;
		counted->children = g_renew(guint32, counted->children, parent->n);
	}
	if (parent->n)
		memcpy(counted->children, parent->children, parent->n * sizeof(guint32));
	counted->n = parent->n;
	count_timeline(timelines, number, parent->children, parent->n, 1);
	return TRUE;
}

/* Logarithms of what the slot and its pool say together. */
static void
fit_slot(WpTimelines *timelines, Slot *slot)
{
	WpDensity *own = slot->density;
	WpDensity *all = with_density(timelines, get_slot(timelines, slot->pool))->density;

	wp_density_smooth(own, &timelines->problem->quick);
	wp_density_smooth(all, &timelines->problem->quick);
	if (slot->own_version == own->version && slot->pool_version == all->version)
		return;
	slot->own_version = own->version;
	slot->pool_version = all->version;
	double n = others(own->n), scale = 1 / (n + POOL_WEIGHT);
	gint first = own->end_share ? MIN(own->first_share, all->first_share) : all->first_share;
	gint end = MAX(own->end_share, all->end_share);
	float flat = (float)timelines->flat;

	for (gint bin = 0; bin < first; bin++)
		slot->logs[bin] = flat;
	for (gint bin = first; bin < end; bin++) {
		double share = 0;
		if (bin >= own->first_share && bin < own->end_share)
			share += n * own->shares[bin];
		if (bin >= all->first_share && bin < all->end_share)
			share += POOL_WEIGHT * all->shares[bin];
		slot->logs[bin] = (float)log_of_share(timelines, share * scale);
	}
	for (gint bin = MAX(first, end); bin < WP_DENSITY_BINS; bin++)
		slot->logs[bin] = flat;
}

gboolean
wp_timelines_learn(WpTimelines *timelines, guint32 first, guint32 end)
{
	gboolean has_changed = FALSE;

	/* From parents of which something was not seen nothing is learned. */
	end = MIN(end, timelines->problem->n_parents);
	for (guint32 p = MIN(first, timelines->first); p < MAX(end, timelines->end); p++)
		has_changed |= recount(timelines, p, p >= first && p < end);
	timelines->first = first;
	timelines->end = end;
	if (!has_changed)
		return FALSE;
	timelines->version++;
	wp_once_fit(&timelines->once);
	for (guint i = 0; i < timelines->slots->len; i++) {
		Slot *slot = get_slot(timelines, i);
		slot->backoff = backoff_of(slot->n, timelines->totals[slot->total]);
		if (slot->density)
			fit_slot(timelines, slot);
	}
	return TRUE;
}

double
wp_timelines_cost_of_once(WpTimelines *timelines, const guint32 *children, guint32 n)
{
	return wp_once_cost(&timelines->once, children, n);
}

/* --- scores of long parents --- */

static void
note_point(const Walk *walk, Point *out)
{
	*out = (Point){ walk->score, walk->last_ns,   walk->node,
			walk->last,  walk->has_ended, walk->n_open - walk->n_returned,
			{ { 0, 0 } } };
	if (out->n_open > 0 && out->n_open <= MAX_KEPT_OPEN)
		memcpy(out->open, walk->open + walk->n_returned, out->n_open * sizeof out->open[0]);
}

static void
go_to_point(Walk *walk, const Point *point)
{
	walk->score = point->score;
	walk->last_ns = point->last_ns;
	walk->node = point->node;
	walk->last = point->last;
	walk->has_ended = point->has_ended;
	walk->n_returned = 0;
	walk->n_open = point->n_open;
	if (point->n_open > 0)
		memcpy(walk->open, point->open, point->n_open * sizeof point->open[0]);
}

/* TRUE where all that comes after POINT is as likely after WALK. */
static gboolean
is_at_point(const Walk *walk, const Point *point)
{
	if (walk->node != point->node || walk->last != point->last ||
	    walk->last_ns != point->last_ns || walk->has_ended != point->has_ended ||
	    walk->n_open - walk->n_returned != point->n_open || point->n_open > MAX_KEPT_OPEN)
		return FALSE;
	for (guint32 i = 0; i < point->n_open; i++) {
		const OpenCall *own = &walk->open[walk->n_returned + i];
		if (own->end_ns != point->open[i].end_ns || own->type != point->open[i].type)
			return FALSE;
	}
	return TRUE;
}

/* What is known of parent NUMBER with the children that it has. */
static const Known *
know_parent(WpTimelines *timelines, guint32 number)
{
	const WpNestParent *parent = &timelines->problem->parents[number];
	guint32 at = timelines->known[timelines->newest].parent == number ? timelines->newest
									  : !timelines->newest;
	Known *known = &timelines->known[at];
	Walk walk = { .timelines = timelines };

	timelines->newest = at;
	if (known->version == timelines->version && known->parent == number &&
	    known->n == parent->n &&
	    memcmp(known->children, parent->children, parent->n * sizeof(guint32)) == 0)
		return known;
	if (parent->n > known->n_allocated) {
		known->n_allocated = 2 * parent->n;
		known->children = g_renew(guint32, known->children, known->n_allocated);
		known->points = g_renew(Point, known->points, known->n_allocated);
	}
	memcpy(known->children, parent->children, parent->n * sizeof(guint32));
	known->parent = number;
	known->version = timelines->version;
	known->n = parent->n;
	begin_walk(&walk, parent, parent->class, parent->n);
	for (guint32 i = 0; i < parent->n; i++) {
		note_point(&walk, &known->points[i]);
		walk_child(&walk, parent, parent->children[i], i);
	}
	end_walk(&walk, parent);
	known->score = walk.score;
	return known;
}

/*
 * Of a parent with many children most moves change a few that lie together: what comes before is as it was,
 * and so is what comes after, once the walk is where it was then.
 */
static double
score_long(WpTimelines *timelines, guint32 number, const guint32 *children, guint32 n)
{
	const WpNestParent *parent = &timelines->problem->parents[number];
	const Known *known = know_parent(timelines, number);
	guint32 least = MIN(n, known->n), n_before = 0, n_after = 0;
	Walk walk = { .timelines = timelines };

	while (n_before < least && children[n_before] == known->children[n_before])
		n_before++;
	if (n_before == n && n == known->n)
		return known->score;
	while (n_after < least - n_before &&
	       children[n - 1 - n_after] == known->children[known->n - 1 - n_after])
		n_after++;
	/* Before each child there is a point, behind the last there is none. */
	n_before = MIN(n_before, known->n - 1);
	while (known->points[n_before].n_open > MAX_KEPT_OPEN)
		n_before--;
	begin_walk(&walk, parent, parent->class, MAX(n, MAX_KEPT_OPEN) + MAX_KEPT_OPEN);
	go_to_point(&walk, &known->points[n_before]);
	for (guint32 i = n_before; i < n; i++) {
		if (i + n_after >= n) {
			const Point *point = &known->points[i + known->n - n];
			if (is_at_point(&walk, point))
				return walk.score + (known->score - point->score);
		}
		walk_child(&walk, parent, children[i], i);
	}
	end_walk(&walk, parent);
	return walk.score;
}

double
wp_timelines_score(WpTimelines *timelines, guint32 parent, const guint32 *children, guint32 n)
{
	const WpNestParent *self = &timelines->problem->parents[parent];
	Walk walk = { .timelines = timelines };

	/* A ghost without children is none. */
	if (self->is_ghost && n == 0)
		return 0;
	if (n >= LONG && self->n >= LONG && !self->is_ghost) {
		walk.score = score_long(timelines, parent, children, n);
	} else {
		walk.score = self->is_ghost ? timelines->problem->unseen_a_grain : 0;
		walk_parent(&walk, parent, self->class, children, n);
	}
	return walk.score - wp_timelines_cost_of_once(timelines, children, n);
}
