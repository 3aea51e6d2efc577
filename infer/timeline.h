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
 * alone; f is a histogram over the logarithm of the gap, smoothed, mixed with the one over all last
 * events. Repeated calls, optional calls (caches), parallel calls need no special case.
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

/* Learns from the present answer. */
void wp_timelines_learn(WpTimelines *timelines);

/* Log likelihood of PARENT with these CHILDREN (by begin). */
double wp_timelines_score(WpTimelines *timelines, guint32 parent, const guint32 *children,
			  guint32 n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTimelines, wp_timelines_free)

#endif
