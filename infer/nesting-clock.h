/*
 * WpNestClock: the time that a host's work goes by. A program with one thread, or with more to do than its
 * processors can, takes N times as long for a piece of work while it has N in hand. On a clock that goes the
 * slower the more that is, gaps between events are spread no further at load than without, and tell parents apart
 * as well.
 *
 *     in hand    = calls into the host that are open, less calls out of it that are: these wait for others
 *     clock rate = (in hand / processors) ^ -pace, but at most 1
 *
 *     real time  |-------|-------|-------|-------|-------|
 *     in hand    1               3               1
 *     clock      |-------|-------|--|--|-|-------|-------|      (then scaled: no faster than real time on average)
 *
 * Both are known before any cause is; no order of events changes. Which clock a host goes by its own answer
 * tells, as the one on which gaps are the most regular: most go by real time, as what takes time there is waiting.
 * (reference: virtual time of shared servers, Parekh and Gallager, "A Generalized Processor Sharing Approach to
 * Flow Control in Integrated Services Networks", IEEE/ACM ToN 1993. It is not in the SOSP 2003 paper.)
 *
 * Inside of the nesting engine, and of what simulates hosts by what it found (redraw.h).
 */
#ifndef WP_INFER_NESTING_CLOCK_H
#define WP_INFER_NESTING_CLOCK_H

#include "infer/links.h"
#include "infer/nesting.h"

/* What a host has in hand, from when on: the same on any clock. */
typedef struct WpNestCourse WpNestCourse;

/* (transfer full) */
WpNestCourse *wp_nest_course_new(const WpResolved *resolved, const WpNestHost *host);
void wp_nest_course_free(WpNestCourse *course);

/* (transfer full) The clock of a host of that COURSE; NULL for real time. */
WpNestClock *wp_nest_clock_of(const WpNestCourse *course, const WpPace *pace);

/* (transfer full) The clock of HOST, whose own is not asked; NULL for real time. */
WpNestClock *wp_nest_clock_new(const WpResolved *resolved, const WpNestHost *host,
			       const WpPace *pace);
void wp_nest_clock_free(WpNestClock *clock);

/* How fast CLOCK (NULL: real time, 1) goes until TIME_NS, against real time. */
double wp_nest_clock_rate(const WpNestClock *clock, gint64 time_ns);

/* How fast one goes by PACE while so much is in hand, not scaled: at most 1. */
double wp_pace_rate(const WpQuickLog *quick, const WpPace *pace, guint32 in_hand);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpNestCourse, wp_nest_course_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpNestClock, wp_nest_clock_free)

#endif
