/* Timelines: counts of events and gaps, and the likelihood that they give. */
#include "infer/timeline.h"

#include <string.h>

#include "infer/nesting-overlaps.h"
#include "infer/timeline-counts.h"
#include "infer/timeline-holds.h"
#include "infer/timeline-once.h"

#define TIME_UNKNOWN  G_MININT64 /* of an event that was not seen: any is as likely */
#define LONG          16         /* children, from which on only what differs is scored again */
#define MAX_KEPT_OPEN 4          /* calls open at a point that is kept */
#define N_FEW         4          /* children of a parent that are kept with it */
#define N_KNOWN       64         /* more than are in work at a time */

typedef struct {
	gint64 end_ns;
	gint64 turn_ns; /* when its return is taken up */
	guint32 type;
} OpenCall;

/* What was counted of a parent: its children then. Most have few. */
typedef struct {
	guint32 few[N_FEW];
	guint32 *many; /* where there are more */
	guint32 n;
	guint32 n_allocated;
	gboolean is_counted;
} Counted;

/* An event of a walk. */
typedef struct {
	guint32 y;
	guint32 cell;   /* (class, x) */
	double backoff; /* its probability after the last event alone */
	double gap;     /* log density of its gap */
	double without; /* what it and all behind it add to the score where the calls so far were never seen */
} Event;

/* How far a walk has come before a child. */
typedef struct {
	double score;
	gint64 last_ns;
	guint32 node;
	guint32 n_events; /* so far */
	guint32 last;
	guint32 packet;
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
	Event *events; /* the calls, the end, the stop */
	guint32 n_events;
	double score; /* of all */
} Known;

struct WpTimelines {
	const WpNestProblem *problem;
	guint32 n_classes; /* and where there are ghosts, all classes as one */
	WpCounts counts;
	Counted *counted; /* by parent */
	guint8 *touched;  /* by parent: its children may be others than were counted */
	gboolean is_all_touched;
	guint32 first; /* these are counted: from FIRST to END */
	guint32 end;
	WpOnce once;
	WpHoldCounts holds;
	const WpNestOverlaps *overlaps; /* that cost; NULL: none do */
	OpenCall *open;                 /* scratch: by end */
	guint32 n_open_allocated;
	Known known[N_KNOWN]; /* long parents, each at its number modulo this */
};

/* --- life --- */

WpTimelines *
wp_timelines_new(const WpNestProblem *problem)
{
	WpTimelines *timelines = g_new0(WpTimelines, 1);
	timelines->problem = problem;
	timelines->n_classes = problem->n_classes + (problem->n_ghosts && problem->n_classes > 1);
	wp_counts_init(&timelines->counts, problem, timelines->n_classes);
	timelines->counted = g_new0(Counted, MAX(problem->n_parents, 1));
	timelines->touched = g_new0(guint8, MAX(problem->n_parents, 1));
	timelines->is_all_touched = TRUE;
	wp_once_init(&timelines->once, problem);
	wp_hold_counts_init(&timelines->holds, problem);
	return timelines;
}

guint32
wp_timelines_n_without(const WpTimelines *timelines)
{
	return timelines->counts.n_without;
}

void
wp_timelines_free(WpTimelines *timelines)
{
	if (!timelines)
		return;
	for (guint32 p = 0; p < timelines->problem->n_parents; p++)
		g_free(timelines->counted[p].many);
	for (gsize i = 0; i < G_N_ELEMENTS(timelines->known); i++) {
		g_free(timelines->known[i].children);
		g_free(timelines->known[i].points);
		g_free(timelines->known[i].events);
	}
	wp_counts_clear(&timelines->counts);
	g_free(timelines->counted);
	g_free(timelines->touched);
	g_free(timelines->open);
	wp_once_clear(&timelines->once);
	wp_hold_counts_clear(&timelines->holds);
	g_free(timelines);
}

/* --- walking a timeline --- */

/*
 * What a walk is for. It is always a constant, and all that walks is part of its caller: a walk for one purpose
 * asks nothing of the others, and where it is stays in registers. Scores are most of the work of a search.
 */
typedef enum {
	FOR_SCORE,
	FOR_EVENTS,   /* the score, and the events of which it is the sum */
	FOR_COUNTS,   /* as many more or less as its sign says */
	FOR_TRIGGERS, /* what each call waited for, and nothing else */
	FOR_END,      /* what the end waited for, and nothing else */
} Purpose;

#define WALKS static inline __attribute__((always_inline))

typedef struct {
	WpTimelines *timelines;
	guint32 class;
	guint32 node; /* the calls so far */
	guint32 last; /* x */
	gint64 last_ns;
	guint32 packet; /* of the last event; 0: it shares none */
	guint32 input;  /* x: the last that was received */
	gint64 input_ns;
	gint64 turn_ns; /* when that was taken up */
	gboolean has_ended;
	double score;
	gint sign;           /* FOR_COUNTS: counts more (1) or less (-1) */
	WpTrigger *triggers; /* FOR_TRIGGERS: with room for all, as EVENTS; FOR_END: one */
	Event *events;       /* FOR_EVENTS */
	guint32 n_events;
	OpenCall *open; /* from N_RETURNED to N_OPEN, by end */
	guint32 n_returned;
	guint32 n_open;
} Walk;

static void
count_event(Walk *walk, guint32 y, gint64 gap_ns)
{
	WpTimelines *timelines = walk->timelines;
	WpCounts *counts = &timelines->counts;
	WpEventSlot *slot =
		wp_counts_slot(counts, wp_counts_make_slot(counts, walk->class, walk->last, y));

	slot->n += walk->sign;
	if (y != WP_Y_STOP && gap_ns != TIME_UNKNOWN) {
		gint bin = wp_density_bin(wp_nest_octaves_from_turn(timelines->problem, gap_ns));
		WpEventSlot *pool = wp_counts_slot(counts, slot->pool);
		WpEventSlot *own = wp_counts_with_density(counts, slot),
			    *all = wp_counts_with_density(counts, pool);
		wp_density_count(own->density, bin, walk->sign);
		if (all != own)
			wp_density_count(all->density, bin, walk->sign);
		pool->n += walk->sign;
	}
	counts->totals[slot->total] += walk->sign;
	wp_counts_node(counts, walk->node)->n += walk->sign;
	walk->node = wp_counts_make_node(counts, walk->node, y);
	if (y == WP_Y_STOP)
		wp_counts_node(counts, walk->node)->n += walk->sign;
}

WALKS void
note_event(Walk *walk, Purpose purpose, guint32 y, guint32 cell, double backoff, double gap)
{
	if (purpose == FOR_EVENTS)
		walk->events[walk->n_events++] = (Event){ y, cell, backoff, gap, 0 };
}

/* IS_BESIDE: in one packet with the last event. */
WALKS void
score_event(Walk *walk, Purpose purpose, guint32 y, gint64 gap_ns, gboolean is_beside)
{
	const WpTimelines *timelines = walk->timelines;
	const WpCounts *counts = &timelines->counts;
	const WpEventSlot *slot = wp_counts_find_slot(counts, walk->class, walk->last, y);
	guint32 cell = walk->class * counts->n_x + walk->last;
	double backoff = slot ? slot->backoff : wp_counts_backoff(0, counts->totals[cell]);

	walk->score += wp_counts_log_of_plan(counts, &walk->node, y, cell, backoff);
	if (y == WP_Y_STOP || gap_ns == TIME_UNKNOWN) {
		note_event(walk, purpose, y, cell, backoff, 0);
		return;
	}
	if (!slot)
		slot = wp_counts_find_slot(counts, walk->class, WP_X_POOL, y);
	double octaves = wp_nest_octaves_from_turn(timelines->problem, gap_ns);
	double log = wp_counts_log_of_gap(counts, slot, octaves);
	double slope = wp_nest_log_slope(timelines->problem, octaves);
	if (is_beside)
		log -= timelines->problem->packet_cost;
	walk->score += log;
	/* A density over the logarithm of the gap is less over the gap itself, the longer that is. */
	walk->score += slope;
	note_event(walk, purpose, y, cell, backoff, log + slope);
}

WALKS void
meet(Walk *walk, Purpose purpose, guint32 y, gint64 at_ns, gboolean is_beside)
{
	gint64 gap_ns = at_ns == TIME_UNKNOWN ? TIME_UNKNOWN : at_ns - walk->last_ns;

	if (purpose == FOR_COUNTS)
		count_event(walk, y, gap_ns);
	else if (purpose == FOR_SCORE || purpose == FOR_EVENTS)
		score_event(walk, purpose, y, gap_ns, is_beside);
}

/* What event Y waits for where the walk is. */
static inline WpTrigger
awaited(const Walk *walk, guint32 y)
{
	guint64 cell = wp_counts_cell(&walk->timelines->counts, walk->class, walk->input, y);
	return (WpTrigger){ 1 + cell, walk->input_ns, walk->turn_ns, walk->last == walk->input };
}

/* Returns, and the parent's own end, up to UNTIL_NS. */
WALKS void
pass_time(Walk *walk, Purpose purpose, const WpNestParent *parent, gint64 until_ns)
{
	for (;;) {
		const OpenCall *call =
			walk->n_returned < walk->n_open ? &walk->open[walk->n_returned] : NULL;
		gint64 return_ns = call ? call->end_ns : G_MAXINT64;
		if (!walk->has_ended && parent->end_ns < until_ns && parent->end_ns < return_ns) {
			if (purpose == FOR_END)
				*walk->triggers = awaited(walk, WP_Y_END);
			meet(walk, purpose, WP_Y_END,
			     parent->is_open ? TIME_UNKNOWN : parent->end_ns, FALSE);
			walk->last = WP_X_END;
			walk->last_ns = parent->end_ns;
			walk->packet = 0;
			walk->has_ended = TRUE;
		} else if (call && return_ns <= until_ns) {
			walk->last = WP_X_FIRST_TYPE + 2 * call->type + 1;
			walk->last_ns = call->turn_ns;
			walk->packet = 0;
			walk->input = walk->last;
			walk->input_ns = return_ns;
			walk->turn_ns = call->turn_ns;
			walk->n_returned++;
		} else {
			return;
		}
	}
}

/* Keeps open calls by end; of equal ones the first stays first. */
WALKS void
open_call(Walk *walk, const WpNestChild *child)
{
	guint32 at = walk->n_open++;
	while (at > walk->n_returned && walk->open[at - 1].end_ns > child->end_ns) {
		walk->open[at] = walk->open[at - 1];
		at--;
	}
	walk->open[at] = (OpenCall){ child->end_ns, child->end_ns + child->wait_ns, child->type };
}

/* With room for N open calls. */
WALKS void
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
	walk->last = walk->input = WP_X_BEGIN;
	walk->input_ns = parent->begin_ns;
	walk->last_ns = walk->turn_ns = parent->begin_ns + parent->wait_ns;
}

/* Of calls that are open, the one counts beside which a call of TYPE is the least strange. */
static double
doubt_overlap(const Walk *walk, guint32 type)
{
	const WpNestOverlaps *overlaps = walk->timelines->overlaps;
	double least = G_MAXDOUBLE;

	for (guint32 i = walk->n_returned; i < walk->n_open; i++)
		least = MIN(least, wp_nest_overlap_cost(overlaps, walk->open[i].type, type));
	return least;
}

/* Goes on to the call of child NUMBER, the Ith. */
WALKS void
walk_child(Walk *walk, Purpose purpose, const WpNestParent *parent, guint32 number, guint32 i)
{
	const WpNestChild *child = &walk->timelines->problem->children[number];

	pass_time(walk, purpose, parent, child->begin_ns);
	if (purpose == FOR_TRIGGERS)
		walk->triggers[i] = awaited(walk, WP_Y_FIRST_TYPE + child->type);
	meet(walk, purpose, WP_Y_FIRST_TYPE + child->type,
	     child->has_waited || (i == 0 && parent->is_ghost) ? TIME_UNKNOWN : child->begin_ns,
	     child->packet && child->packet == walk->packet);
	if ((purpose == FOR_SCORE || purpose == FOR_EVENTS) && walk->timelines->overlaps &&
	    walk->n_returned < walk->n_open) {
		double doubt = doubt_overlap(walk, child->type);
		walk->score -= doubt;
		if (purpose == FOR_EVENTS)
			walk->events[walk->n_events - 1].gap -= doubt;
	}
	walk->packet = child->packet;
	walk->last = WP_X_FIRST_TYPE + 2 * child->type;
	walk->last_ns = child->begin_ns;
	open_call(walk, child);
}

WALKS void
end_walk(Walk *walk, Purpose purpose, const WpNestParent *parent)
{
	pass_time(walk, purpose, parent, G_MAXINT64);
	meet(walk, purpose, WP_Y_STOP, walk->last_ns, FALSE);
}

WALKS void
walk_parent(Walk *walk, Purpose purpose, guint32 number, guint32 class, const guint32 *children,
	    guint32 n)
{
	const WpNestParent *parent = &walk->timelines->problem->parents[number];

	begin_walk(walk, parent, class, n);
	for (guint32 i = 0; i < n; i++)
		walk_child(walk, purpose, parent, children[i], i);
	end_walk(walk, purpose, parent);
}

void
wp_timelines_triggers(WpTimelines *timelines, guint32 parent, const guint32 *children, guint32 n,
		      WpTrigger *out_triggers)
{
	Walk walk = { .timelines = timelines, .triggers = out_triggers };
	walk_parent(&walk, FOR_TRIGGERS, parent, timelines->problem->parents[parent].class,
		    children, n);
}

void
wp_timelines_end_trigger(WpTimelines *timelines, guint32 parent, WpTrigger *out_trigger)
{
	const WpNestParent *self = &timelines->problem->parents[parent];
	Walk walk = { .timelines = timelines, .triggers = out_trigger };

	*out_trigger = (WpTrigger){ .key = 0 };
	walk_parent(&walk, FOR_END, parent, self->class, self->children, self->n);
}

double
wp_timelines_gap(const WpTimelines *timelines, guint64 key, gint64 gap_ns)
{
	const WpCounts *counts = &timelines->counts;
	guint64 cell = key - 1;
	guint32 y = (guint32)(cell % counts->n_y);
	guint32 x = (guint32)(cell / counts->n_y % counts->n_x);
	const WpEventSlot *slot =
		wp_counts_find_slot(counts, (guint32)(cell / counts->n_y / counts->n_x), x, y);
	double octaves = wp_nest_octaves_from_turn(timelines->problem, gap_ns);
	return wp_counts_log_of_gap(counts, slot, octaves) +
	       wp_nest_log_slope(timelines->problem, octaves);
}

/* Sets X to what PARENT saw last before TIME_NS, where LAST (NULL: none) is the last call that it made; returns when. */
static inline gint64
last_before(const WpNestParent *parent, const WpNestChild *last, gint64 time_ns, guint32 *out_x)
{
	gint64 last_ns = parent->begin_ns + parent->wait_ns, seen_ns = parent->begin_ns;

	*out_x = WP_X_BEGIN;
	if (last) {
		gboolean has_returned = last->end_ns <= time_ns;
		seen_ns = has_returned ? last->end_ns : last->begin_ns;
		last_ns = has_returned ? last->end_ns + last->wait_ns : last->begin_ns;
		*out_x = WP_X_FIRST_TYPE + 2 * last->type + (guint32)has_returned;
	}
	if (parent->end_ns < time_ns && parent->end_ns > seen_ns) {
		last_ns = parent->end_ns;
		*out_x = WP_X_END;
	}
	return last_ns;
}

double
wp_timelines_step(const WpTimelines *timelines, guint32 number, guint32 last, guint32 next)
{
	const WpNestProblem *problem = timelines->problem;
	const WpNestParent *parent = &problem->parents[number];
	const WpCounts *counts = &timelines->counts;
	const WpNestChild *before = last == WP_NO_CHILD ? NULL : &problem->children[last];
	const WpNestChild *child = next == WP_NO_CHILD ? NULL : &problem->children[next];
	gint64 time_ns = child ? child->begin_ns : parent->end_ns;
	guint32 y = child ? WP_Y_FIRST_TYPE + child->type : WP_Y_END, x;
	gint64 last_ns = last_before(parent, before, time_ns, &x);
	const WpEventSlot *slot = wp_counts_find_slot(counts, parent->class, x, y);
	guint32 cell = parent->class * counts->n_x + x;
	double score = wp_quick_log(
		counts->quick, slot ? slot->backoff : wp_counts_backoff(0, counts->totals[cell]));

	if (child ? child->has_waited || (!before && parent->is_ghost) : parent->is_open)
		return score;
	if (!slot)
		slot = wp_counts_find_slot(counts, parent->class, WP_X_POOL, y);
	double octaves = wp_nest_octaves_from_turn(problem, time_ns - last_ns);
	return score + wp_counts_log_of_gap(counts, slot, octaves) +
	       wp_nest_log_slope(problem, octaves);
}

/* --- learning --- */

static void
count_timeline(WpTimelines *timelines, guint32 number, const guint32 *children, guint32 n,
	       gint sign)
{
	guint32 classes[2] = { timelines->problem->parents[number].class,
			       timelines->n_classes - 1 };
	guint n_classes = timelines->n_classes > timelines->problem->n_classes ? 2 : 1;

	for (guint i = 0; i < n_classes; i++) {
		Walk walk = { .timelines = timelines, .sign = sign };
		walk_parent(&walk, FOR_COUNTS, number, classes[i], children, n);
	}
	wp_once_count(&timelines->once, children, n, sign);
	wp_hold_counts_add(&timelines->holds, children, n, sign);
}

static inline const guint32 *
counted_children(const Counted *counted)
{
	return counted->n > N_FEW ? counted->many : counted->few;
}

static void
keep_children(Counted *counted, const guint32 *children, guint32 n)
{
	guint32 *kept = counted->few;

	if (n > N_FEW) {
		if (n > counted->n_allocated) {
			counted->n_allocated = n;
			counted->many = g_renew(guint32, counted->many, n);
		}
		kept = counted->many;
	}
	for (guint32 i = 0; i < n; i++)
		kept[i] = children[i];
	counted->n = n;
}

static gboolean
is_counted_as(const Counted *counted, const WpNestParent *parent)
{
	const guint32 *children = counted_children(counted);
	guint32 same = 0;

	if (counted->n != parent->n)
		return FALSE;
	while (same < parent->n && children[same] == parent->children[same])
		same++;
	return same == parent->n;
}

/* Counts a parent as it is now, or not at all, in place of what was counted; FALSE: that is the same. */
static gboolean
recount(WpTimelines *timelines, guint32 number, gboolean counts)
{
	const WpNestParent *parent = &timelines->problem->parents[number];
	Counted *counted = &timelines->counted[number];

	if (!counts && !counted->is_counted)
		return FALSE;
	if (counts && counted->is_counted && is_counted_as(counted, parent))
		return FALSE;
	if (counted->is_counted)
		count_timeline(timelines, number, counted_children(counted), counted->n, -1);
	counted->is_counted = counts;
	if (!counts)
		return TRUE;
	keep_children(counted, parent->children, parent->n);
	count_timeline(timelines, number, parent->children, parent->n, 1);
	return TRUE;
}

void
wp_timelines_touch(WpTimelines *timelines, guint32 parent)
{
	if (parent < timelines->problem->n_parents)
		timelines->touched[parent] = TRUE;
}

void
wp_timelines_touch_all(WpTimelines *timelines)
{
	timelines->is_all_touched = TRUE;
}

gboolean
wp_timelines_learn(WpTimelines *timelines, guint32 first, guint32 end)
{
	gboolean has_changed = FALSE;

	/* From parents of which something was not seen nothing is learned. */
	end = MIN(end, timelines->problem->n_parents);
	gboolean is_all =
		timelines->is_all_touched || first != timelines->first || end != timelines->end;
	for (guint32 p = MIN(first, timelines->first); p < MAX(end, timelines->end); p++)
		if (is_all || timelines->touched[p])
			has_changed |= recount(timelines, p, p >= first && p < end);
	timelines->first = first;
	timelines->end = end;
	timelines->is_all_touched = FALSE;
	memset(timelines->touched, 0, timelines->problem->n_parents);
	if (!has_changed)
		return FALSE;
	wp_counts_fit(&timelines->counts);
	wp_once_fit(&timelines->once);
	wp_hold_counts_fit(&timelines->holds);
	return TRUE;
}

double
wp_timelines_cost_of_once(WpTimelines *timelines, const guint32 *children, guint32 n)
{
	return wp_once_cost(&timelines->once, children, n);
}

void
wp_timelines_doubt_overlaps(WpTimelines *timelines, gboolean doubts)
{
	const WpNestOverlaps *overlaps = doubts ? timelines->problem->overlaps : NULL;

	if (overlaps == timelines->overlaps)
		return;
	timelines->overlaps = overlaps;
	for (gsize i = 0; i < G_N_ELEMENTS(timelines->known); i++)
		timelines->known[i].version = 0;
}

/* --- scores of long parents --- */

static void
note_point(const Walk *walk, Point *out)
{
	out->score = walk->score;
	out->last_ns = walk->last_ns;
	out->node = walk->node;
	out->n_events = walk->n_events;
	out->last = walk->last;
	out->packet = walk->packet;
	out->has_ended = walk->has_ended;
	out->n_open = walk->n_open - walk->n_returned;
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
	walk->packet = point->packet;
	walk->has_ended = point->has_ended;
	walk->n_returned = 0;
	walk->n_open = point->n_open;
	if (point->n_open > 0)
		memcpy(walk->open, point->open, point->n_open * sizeof point->open[0]);
}

/* TRUE where all that comes after POINT comes after WALK, at the same gaps. */
static gboolean
is_at_point(const Walk *walk, const Point *point)
{
	if (walk->last != point->last || walk->last_ns != point->last_ns ||
	    walk->packet != point->packet || walk->has_ended != point->has_ended ||
	    walk->n_open - walk->n_returned != point->n_open || point->n_open > MAX_KEPT_OPEN)
		return FALSE;
	for (guint32 i = 0; i < point->n_open; i++) {
		const OpenCall *own = &walk->open[walk->n_returned + i];
		if (own->end_ns != point->open[i].end_ns ||
		    own->turn_ns != point->open[i].turn_ns || own->type != point->open[i].type)
			return FALSE;
	}
	return TRUE;
}

/* What all that is known to come after POINT adds after the calls up to NODE. */
static double
score_rest(const WpTimelines *timelines, const Known *known, const Point *point, guint32 node)
{
	double score = 0;

	if (node == point->node)
		return known->score - point->score;
	for (guint32 i = point->n_events; i < known->n_events; i++) {
		const Event *event = &known->events[i];
		if (node == WP_NO_PLAN)
			return score + event->without;
		score += event->gap + wp_counts_log_of_plan(&timelines->counts, &node, event->y,
							    event->cell, event->backoff);
	}
	return score;
}

/* Sums up the events of KNOWN from behind. */
static void
sum_without(const WpTimelines *timelines, Known *known)
{
	double sum = 0;

	for (guint32 i = known->n_events; i-- > 0;) {
		Event *event = &known->events[i];
		sum += event->gap + wp_quick_log(&timelines->problem->quick, event->backoff);
		event->without = sum;
	}
}

/* What is known of parent NUMBER with the children that it has. */
static const Known *
know_parent(WpTimelines *timelines, guint32 number)
{
	const WpNestParent *parent = &timelines->problem->parents[number];
	Known *known = &timelines->known[number % N_KNOWN];
	Walk walk = { .timelines = timelines };

	if (known->version == timelines->counts.version && known->parent == number &&
	    known->n == parent->n &&
	    memcmp(known->children, parent->children, parent->n * sizeof(guint32)) == 0)
		return known;
	if (parent->n > known->n_allocated) {
		known->n_allocated = 2 * parent->n;
		known->children = g_renew(guint32, known->children, known->n_allocated);
		known->points = g_renew(Point, known->points, known->n_allocated);
		known->events = g_renew(Event, known->events, known->n_allocated + 2);
	}
	walk.events = known->events;
	memcpy(known->children, parent->children, parent->n * sizeof(guint32));
	known->parent = number;
	known->version = timelines->counts.version;
	known->n = parent->n;
	begin_walk(&walk, parent, parent->class, parent->n);
	for (guint32 i = 0; i < parent->n; i++) {
		note_point(&walk, &known->points[i]);
		walk_child(&walk, FOR_EVENTS, parent, parent->children[i], i);
	}
	end_walk(&walk, FOR_EVENTS, parent);
	known->score = walk.score;
	known->n_events = walk.n_events;
	sum_without(timelines, known);
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
				return walk.score + score_rest(timelines, known, point, walk.node);
		}
		walk_child(&walk, FOR_SCORE, parent, children[i], i);
	}
	end_walk(&walk, FOR_SCORE, parent);
	return walk.score;
}

/* Of a parent with few children: from begin to end. */
static double
score_short(WpTimelines *timelines, guint32 number, const guint32 *children, guint32 n)
{
	const WpNestParent *parent = &timelines->problem->parents[number];
	Walk walk = { .timelines = timelines };

	walk.score = parent->is_ghost ? timelines->problem->unseen_a_grain : 0;
	walk_parent(&walk, FOR_SCORE, number, parent->class, children, n);
	return walk.score;
}

/* As what nothing has caused. */
static double
score_alone(const WpTimelines *timelines, guint32 child)
{
	const WpNestProblem *problem = timelines->problem;
	return problem->alone_nats ? problem->alone_nats[problem->children[child].type]
				   : WP_NEST_NEVER;
}

double
wp_timelines_score(WpTimelines *timelines, guint32 parent, const guint32 *children, guint32 n)
{
	const WpNestParent *self = &timelines->problem->parents[parent];
	double score;

	/* A ghost without children is none. */
	if (self->is_ghost && n == 0)
		return 0;
	if (n >= LONG && self->n >= LONG && !self->is_ghost)
		score = score_long(timelines, parent, children, n);
	else
		score = score_short(timelines, parent, children, n);
	score += wp_hold_counts_score(&timelines->holds, children, n);
	score -= wp_timelines_cost_of_once(timelines, children, n);
	return self->is_ghost && n == 1 ? MAX(score, score_alone(timelines, children[0])) : score;
}
