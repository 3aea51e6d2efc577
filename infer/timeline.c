/* Timelines: counts of events and histograms of gaps, and the likelihood that they give. */
#include "infer/timeline.h"

#include <math.h>
#include <string.h>

#include "infer/map.h"

#define N_BINS         224 /* of gaps: 37 octaves over the grain, hours */
#define BINS_AN_OCTAVE 6.0
#define PLAN_BACKOFF   0.1  /* weight of the last event alone against the calls so far */
#define EVENT_BACKOFF  0.02 /* weight of an event never seen after this one */
#define POOL_WEIGHT    3.0  /* gaps, of the histogram over all last events */
#define FLOOR          1e-3 /* share of a flat density: no gap is impossible */
#define ONCE_NATS      4.0  /* cost of a missing or a second call that each request makes once */
#define ONCE_TOLERANCE 0.002
#define MAX_DENSE      (1 << 22) /* cells of the dense table of slots */

/*
 * Events as numbers. Last events x: BEGIN, END, call of type t, return of type t. Next events y: END,
 * STOP, call of type t, and ANY for totals. ANY_EVENT as x is the pool over all x.
 */
enum {
	X_BEGIN,
	X_END,
	X_POOL,
	X_FIRST_TYPE, /* + 2 t: its call; + 2 t + 1: its return */
	Y_END = 0,
	Y_STOP,
	Y_ANY,
	Y_FIRST_TYPE /* + t */
};

typedef struct {
	double n;
	guint32 pool;   /* slot of the pool; own number where it is the pool */
	float *density; /* log of the density of log-gaps; N_BINS; NULL: no gaps (STOP, ANY) */
	double *gaps;   /* counts, while learning */
} Slot;

typedef struct {
	gint64 end_ns;
	guint32 type;
} OpenCall;

struct WpTimelines {
	const WpNestProblem *problem;
	guint32 n_x;
	guint32 n_y;
	gint32 *dense; /* slot + 1 by (class, x, y); NULL = too many, then MAP */
	WpMap *map;
	GArray *slots;     /* Slot */
	WpMap *plans;      /* (calls so far), (calls so far, y) -> count */
	double flat;       /* log density of a gap never learned */
	gboolean *is_once; /* by type */
	guint32 n_once;
	guint32 *counts; /* scratch, by type */
	GArray *open;    /* scratch, OpenCall */
};

/* --- slots --- */

static guint32
find_slot(const WpTimelines *timelines, guint32 class, guint32 x, guint32 y)
{
	guint64 cell = ((guint64) class * timelines->n_x + x) * timelines->n_y + y;
	if (timelines->dense)
		return (guint32)timelines->dense[cell] - 1;
	return wp_map_find(timelines->map, cell);
}

static guint32
make_slot(WpTimelines *timelines, guint32 class, guint32 x, guint32 y)
{
	guint64 cell = ((guint64) class * timelines->n_x + x) * timelines->n_y + y;
	guint32 found = find_slot(timelines, class, x, y);
	if (found != G_MAXUINT32)
		return found;
	guint32 number = timelines->slots->len;
	if (timelines->dense)
		timelines->dense[cell] = (gint32)number + 1;
	else
		wp_map_at(timelines->map, cell, number);
	Slot slot = { .pool = number };
	if (y != Y_STOP && y != Y_ANY) {
		slot.density = g_new0(float, N_BINS);
		slot.gaps = g_new0(double, N_BINS);
	}
	g_array_append_val(timelines->slots, slot);
	if (slot.density && x != X_POOL) {
		guint32 pool = make_slot(timelines, class, X_POOL, y);
		g_array_index(timelines->slots, Slot, number).pool = pool;
	}
	return number;
}

static Slot *
get_slot(const WpTimelines *timelines, guint32 number)
{
	return &g_array_index(timelines->slots, Slot, number);
}

static void
clear_slots(WpTimelines *timelines)
{
	for (guint i = 0; i < timelines->slots->len; i++) {
		g_free(get_slot(timelines, i)->density);
		g_free(get_slot(timelines, i)->gaps);
	}
	g_array_set_size(timelines->slots, 0);
	if (timelines->dense)
		memset(timelines->dense, 0,
		       sizeof(gint32) * timelines->problem->n_classes * timelines->n_x *
			       timelines->n_y);
	g_clear_pointer(&timelines->map, wp_map_free);
	timelines->map = wp_map_new();
	g_clear_pointer(&timelines->plans, wp_map_free);
	timelines->plans = wp_map_new();
}

/* --- life --- */

/* Types of which a parent of the only class makes one call each. */
static void
find_once(WpTimelines *timelines)
{
	const WpNestProblem *problem = timelines->problem;
	g_autofree guint32 *counts = g_new0(guint32, problem->n_types);

	if (problem->n_classes != 1)
		return;
	for (guint32 i = 0; i < problem->n_children; i++)
		counts[problem->children[i].type]++;
	for (guint32 t = 0; t < problem->n_types; t++) {
		double off = fabs((double)counts[t] - problem->n_parents);
		timelines->is_once[t] = off <= ONCE_TOLERANCE * problem->n_parents;
		timelines->n_once += timelines->is_once[t];
	}
}

WpTimelines *
wp_timelines_new(const WpNestProblem *problem)
{
	WpTimelines *timelines = g_new0(WpTimelines, 1);
	timelines->problem = problem;
	timelines->n_x = X_FIRST_TYPE + 2 * problem->n_types;
	timelines->n_y = Y_FIRST_TYPE + problem->n_types;
	guint64 cells = (guint64)problem->n_classes * timelines->n_x * timelines->n_y;
	if (cells <= MAX_DENSE)
		timelines->dense = g_new0(gint32, cells);
	timelines->slots = g_array_new(FALSE, FALSE, sizeof(Slot));
	timelines->map = wp_map_new();
	timelines->plans = wp_map_new();
	timelines->flat = log(FLOOR * BINS_AN_OCTAVE / (N_BINS * M_LN2));
	timelines->is_once = g_new0(gboolean, problem->n_types);
	timelines->counts = g_new0(guint32, problem->n_types);
	timelines->open = g_array_new(FALSE, FALSE, sizeof(OpenCall));
	find_once(timelines);
	return timelines;
}

void
wp_timelines_free(WpTimelines *timelines)
{
	if (!timelines)
		return;
	clear_slots(timelines);
	g_array_unref(timelines->slots);
	g_array_unref(timelines->open);
	wp_map_free(timelines->map);
	wp_map_free(timelines->plans);
	g_free(timelines->dense);
	g_free(timelines->is_once);
	g_free(timelines->counts);
	g_free(timelines);
}

/* --- walking a timeline --- */

static guint64
mix(guint64 x)
{
	x ^= x >> 33;
	x *= G_GUINT64_CONSTANT(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= G_GUINT64_CONSTANT(0xc4ceb9fe1a85ec53);
	return x ^ (x >> 33);
}

typedef struct {
	WpTimelines *timelines;
	guint32 class;
	guint64 plan; /* hash of the calls so far, in order */
	guint32 last; /* x */
	gint64 last_ns;
	gboolean has_ended;
	double score;
	gboolean counts; /* count instead of score */
} Walk;

static gint
bin_of(double octaves)
{
	return MIN((gint)(octaves * BINS_AN_OCTAVE), N_BINS - 1);
}

static void
count_event(Walk *walk, guint32 y, gint64 gap_ns)
{
	WpTimelines *timelines = walk->timelines;
	Slot *slot = get_slot(timelines, make_slot(timelines, walk->class, walk->last, y));

	slot->n++;
	if (slot->gaps) {
		gint bin = bin_of(wp_nest_octaves(timelines->problem, MAX(gap_ns, 0)));
		slot->gaps[bin]++;
		get_slot(timelines, slot->pool)->gaps[bin]++;
		get_slot(timelines, slot->pool)->n++;
	}
	get_slot(timelines, make_slot(timelines, walk->class, walk->last, Y_ANY))->n++;
	++*wp_map_at(timelines->plans, walk->plan, 0);
	++*wp_map_at(timelines->plans, mix(walk->plan + y + 1), 0);
}

/* One less than was counted: what the parent itself contributed does not speak for it. */
static double
others(double n)
{
	return MAX(n - 1, 0);
}

static double
plan_count(const WpTimelines *timelines, guint64 key)
{
	guint32 n = wp_map_find(timelines->plans, key);
	return n == WP_MAP_NONE ? 0 : n;
}

static void
score_event(Walk *walk, guint32 y, gint64 gap_ns)
{
	const WpTimelines *timelines = walk->timelines;
	guint32 number = find_slot(timelines, walk->class, walk->last, y);
	guint32 total = find_slot(timelines, walk->class, walk->last, Y_ANY);
	const Slot *slot = number == G_MAXUINT32 ? NULL : get_slot(timelines, number);
	double n = slot ? others(slot->n) : 0;
	double of = total == G_MAXUINT32 ? 0 : others(get_slot(timelines, total)->n);
	double backoff = (n + EVENT_BACKOFF) / (of + EVENT_BACKOFF * 8);
	double n_plan = others(plan_count(timelines, mix(walk->plan + y + 1)));
	double of_plan = others(plan_count(timelines, walk->plan));

	walk->score += wp_quick_log(&timelines->problem->quick,
				    (n_plan + PLAN_BACKOFF * backoff) / (of_plan + PLAN_BACKOFF));
	if (y == Y_STOP)
		return;
	if (!slot) {
		guint32 pool = find_slot(timelines, walk->class, X_POOL, y);
		slot = pool == G_MAXUINT32 ? NULL : get_slot(timelines, pool);
	}
	double octaves = wp_nest_octaves(timelines->problem, MAX(gap_ns, 0));
	walk->score += slot ? slot->density[bin_of(octaves)] : timelines->flat;
	/* A density over the logarithm of the gap is less over the gap itself, the longer that is. */
	walk->score -= octaves * G_LN2;
}

static void
meet(Walk *walk, guint32 y, gint64 at_ns)
{
	if (walk->counts)
		count_event(walk, y, at_ns - walk->last_ns);
	else
		score_event(walk, y, at_ns - walk->last_ns);
}

/* The open call that returns first, or NULL. */
static OpenCall *
first_to_return(const WpTimelines *timelines)
{
	OpenCall *first = NULL;
	for (guint i = 0; i < timelines->open->len; i++) {
		OpenCall *call = &g_array_index(timelines->open, OpenCall, i);
		if (!first || call->end_ns < first->end_ns)
			first = call;
	}
	return first;
}

/* Returns, and the parent's own end, up to UNTIL_NS. */
static void
pass_time(Walk *walk, const WpNestParent *parent, gint64 until_ns)
{
	GArray *open = walk->timelines->open;
	for (;;) {
		OpenCall *call = first_to_return(walk->timelines);
		gint64 return_ns = call ? call->end_ns : G_MAXINT64;
		if (!walk->has_ended && parent->end_ns < until_ns && parent->end_ns < return_ns) {
			meet(walk, Y_END, parent->end_ns);
			walk->plan = mix(walk->plan ^ 0xe);
			walk->last = X_END;
			walk->last_ns = parent->end_ns;
			walk->has_ended = TRUE;
		} else if (call && return_ns <= until_ns) {
			walk->last = X_FIRST_TYPE + 2 * call->type + 1;
			walk->last_ns = return_ns;
			g_array_remove_index_fast(open,
						  (guint)(call - (OpenCall *)(void *)open->data));
		} else {
			return;
		}
	}
}

static void
walk_parent(Walk *walk, guint32 number, const guint32 *children, guint32 n)
{
	WpTimelines *timelines = walk->timelines;
	const WpNestParent *parent = &timelines->problem->parents[number];

	walk->class = parent->class;
	walk->plan = mix(parent->class + 12345);
	walk->last = X_BEGIN;
	walk->last_ns = parent->begin_ns;
	g_array_set_size(timelines->open, 0);
	for (guint32 i = 0; i < n; i++) {
		const WpNestChild *child = &timelines->problem->children[children[i]];
		pass_time(walk, parent, child->begin_ns);
		meet(walk, Y_FIRST_TYPE + child->type, child->begin_ns);
		walk->plan = mix(walk->plan * 31 + child->type + 100);
		walk->last = X_FIRST_TYPE + 2 * child->type;
		walk->last_ns = child->begin_ns;
		OpenCall call = { child->end_ns, child->type };
		g_array_append_val(timelines->open, call);
	}
	pass_time(walk, parent, G_MAXINT64);
	meet(walk, Y_STOP, walk->last_ns);
}

/* --- learning --- */

/* Smooths counts by a Gaussian whose width shrinks with their number; mirrored at 0. */
static void
smooth(const double *counts, double n, double *out)
{
	double width = 0.7 + 6 / cbrt(MAX(n, 1));
	gint reach = (gint)(3 * width) + 1;
	double kernel[N_BINS], norm = 0;

	for (gint j = 0; j <= reach; j++) {
		kernel[j] = exp(-0.5 * j * j / (width * width));
		norm += j ? 2 * kernel[j] : kernel[j];
	}
	memset(out, 0, N_BINS * sizeof out[0]);
	for (gint bin = 0; bin < N_BINS; bin++) {
		if (counts[bin] == 0)
			continue;
		for (gint j = -reach; j <= reach; j++) {
			gint to = bin + j < 0 ? -(bin + j) - 1 : bin + j;
			if (to < N_BINS)
				out[to] += counts[bin] * kernel[ABS(j)] / norm;
		}
	}
}

static void
fit_slot(WpTimelines *timelines, Slot *slot)
{
	const Slot *pool = get_slot(timelines, slot->pool);
	double own[N_BINS], all[N_BINS];

	smooth(slot->gaps, slot->n, own);
	smooth(pool->gaps, pool->n, all);
	for (gint bin = 0; bin < N_BINS; bin++) {
		double share =
			(own[bin] + POOL_WEIGHT * all[bin] / pool->n) / (slot->n + POOL_WEIGHT);
		share = (1 - FLOOR) * share + FLOOR / N_BINS;
		slot->density[bin] = (float)log(share * BINS_AN_OCTAVE / M_LN2);
	}
}

void
wp_timelines_learn(WpTimelines *timelines)
{
	const WpNestProblem *problem = timelines->problem;

	clear_slots(timelines);
	for (guint32 p = 0; p < problem->n_parents; p++) {
		Walk walk = { .timelines = timelines, .counts = TRUE };
		walk_parent(&walk, p, problem->parents[p].children, problem->parents[p].n);
	}
	for (guint i = 0; i < timelines->slots->len; i++)
		if (get_slot(timelines, i)->gaps)
			fit_slot(timelines, get_slot(timelines, i));
}

/* What missing and repeated calls cost that each request makes once. */
static double
cost_of_once(WpTimelines *timelines, const guint32 *children, guint32 n)
{
	const WpNestChild *all = timelines->problem->children;
	guint32 right = 0, more = 0;

	for (guint32 i = 0; i < n; i++) {
		guint32 type = all[children[i]].type;
		if (!timelines->is_once[type])
			continue;
		if (timelines->counts[type]++)
			more++;
		else
			right++;
	}
	for (guint32 i = 0; i < n; i++)
		timelines->counts[all[children[i]].type] = 0;
	return ONCE_NATS * (timelines->n_once - right + more);
}

double
wp_timelines_score(WpTimelines *timelines, guint32 parent, const guint32 *children, guint32 n)
{
	Walk walk = { .timelines = timelines };
	walk_parent(&walk, parent, children, n);
	if (timelines->n_once)
		walk.score -= cost_of_once(timelines, children, n);
	return walk.score;
}
