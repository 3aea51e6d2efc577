/*
 * WpTimelines: how likely it is that a parent made just these calls at just these times.
 *
 * The life of a parent is a semi-Markov timeline: begin, call to X, return of X, ..., end, (calls after
 * the end), stop.
 *
 *     p    S----------------------------------E
 *     X       +----------------
 *     Y                            +------
 *          gap         (gap from -X to +Y)    gap from -Y to E
 *
 * What the parent decides are its calls and its end. Each costs
 *     log P(next event | class, calls so far)  +  log f(gap since the last event | class, last, next),
 * both learned by counting over all parents. P backs off from the calls so far to the last event
 * alone; f is a density over the logarithm of the gap (density.h), mixed with the one over all last
 * events. Repeated calls, optional calls (caches), parallel calls need no special case. Counts are kept,
 * so that learning again costs what has changed.
 * (reference: semi-Markov footprints, Anandkumar et al., SIGMETRICS 2008; the paper's scoreboard is f
 * alone, for one event at a time.)
 */
#ifndef WP_INFER_TIMELINE_H
#define WP_INFER_TIMELINE_H

#include "infer/nesting.h"

typedef struct WpTimelines WpTimelines;

/* (transfer full) PROBLEM is borrowed. */
WpTimelines *wp_timelines_new(const WpNestProblem *problem);
void wp_timelines_free(WpTimelines *timelines);

/* Points of plans for whose gaps there was no room: they are taken for like others before the same event. */
guint32 wp_timelines_n_without(const WpTimelines *timelines);

/* What a call, or an end, waited for: the last that its parent had received, its own begin or a return. */
typedef struct {
	guint64 key; /* the point of the plan: class, what was received, call or end; never 0 */
	gint64 time_ns;
	gint64 turn_ns;   /* when that was taken up: gaps are from then */
	gboolean is_last; /* no other call was made since */
} WpTrigger;

/* What each of CHILDREN waited for, if PARENT has them. */
void wp_timelines_triggers(WpTimelines *timelines, guint32 parent, const guint32 *children,
			   guint32 n, WpTrigger *out_triggers);

/* Likewise its end, with the children that it has; key 0: it has none. */
void wp_timelines_end_trigger(WpTimelines *timelines, guint32 parent, WpTrigger *out_trigger);

/* Log density of a gap at a point of the plan. */
double wp_timelines_gap(const WpTimelines *timelines, guint64 key, gint64 gap_ns);

/*
 * To be told where children of PARENT, or of any, have changed since it learned: only these are looked at then. What
 * has never learned looks at all.
 */
void wp_timelines_touch(WpTimelines *timelines, guint32 parent);
void wp_timelines_touch_all(WpTimelines *timelines);

/* Learns from the present answer of parents FIRST to END; FALSE where that is what it knows. */
gboolean wp_timelines_learn(WpTimelines *timelines, guint32 first, guint32 end);

/*
 * What it costs that these CHILDREN of a parent are not one of each type of which parents make one: a part
 * of the score, which helps to find such an answer but is no measure of it.
 */
double wp_timelines_cost_of_once(WpTimelines *timelines, const guint32 *children, guint32 n);

/*
 * Whether calls that overlap cost what counts say against that (nesting-overlaps.h), where they were counted: a part of the
 * score as well. At first not.
 */
void wp_timelines_doubt_overlaps(WpTimelines *timelines, gboolean doubts);

/*
 * Log likelihood of a step of PARENT's from child LAST to child NEXT; WP_NO_CHILD stands for its begin, and for its end. That is
 * the part of the score that depends on these two alone, whatever else the parent does.
 */
double wp_timelines_step(const WpTimelines *timelines, guint32 parent, guint32 last, guint32 next);

/* Log likelihood of PARENT with these CHILDREN (by begin). */
double wp_timelines_score(WpTimelines *timelines, guint32 parent, const guint32 *children,
			  guint32 n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTimelines, wp_timelines_free)

#endif
