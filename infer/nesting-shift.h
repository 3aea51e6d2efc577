/*
 * Bundles moved in time, to see what chance is like: without the time in which nothing happens. Where the load varies they
 * are moved on by some of their number, in blocks: as many as before are then where it is high, and few where it is low;
 * moved by time those of a busy hour would meet the parents of an idle one. Within a block they are spread evenly over
 * its time. It is of many requests: one of few is busy when these are, and would be moved to where others are. For
 * that reason all are one block where the load is even.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_SHIFT_H
#define WP_INFER_NESTING_SHIFT_H

#include "infer/nesting.h"

/* What moves most bundles by TIME_NS, but none by more than the share MOST of all. */
WpNestShift wp_nest_shift_of(const WpNestProblem *problem, gint64 time_ns, double most);

/* (transfer full) PROBLEM, which has bundles, is borrowed; of SHIFT it does not ask for its share. */
WpNestOrder *wp_nest_order_new(const WpNestProblem *problem, const WpNestShift *shift);
void wp_nest_order_free(WpNestOrder *order);

/*
 * When BUNDLE begins, moved by SHARE of all, -1 .. 1. Those that leave the time of all bundles come back at its other end,
 * so that as many meet parents as unmoved.
 */
gint64 wp_nest_order_moved(const WpNestOrder *order, guint32 bundle, double share);

/* How many bundles come in NS where BUNDLE is, idle time left out. */
double wp_nest_order_load(const WpNestOrder *order, guint32 bundle, double ns);

/* The first bundle that comes back at the other end if moved by SHARE on, or the first that does not if moved back. */
guint32 wp_nest_order_first_back(const WpNestOrder *order, double share);

#endif
