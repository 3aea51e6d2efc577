/*
 * First in, first out: a program with one thread and a queue of events answers them in the order in which
 * they came. Then of two requests at the same point of their plan, the one that came there first goes on
 * first, which decides what no delay does.
 *
 *     came        1   2
 *     p1   -------o---|--------+----      in order: p1's call is the first
 *     p2   -----------o-----------+--
 *
 * Whether a host works so is told by pairs whose calls cannot be exchanged, as one parent had ended or not
 * begun: they are in order or not whatever the engine thinks. Part of the search; nobody else includes
 * this.
 */
#ifndef WP_INFER_NESTING_FIFO_H
#define WP_INFER_NESTING_FIFO_H

#include "infer/nesting.h"
#include "infer/timeline.h"

typedef struct WpNestFifo WpNestFifo;

/* (transfer full) NULL: the present answer does not look so. Both are borrowed. */
WpNestFifo *wp_nest_fifo_new(const WpNestProblem *problem, WpTimelines *timelines);
void wp_nest_fifo_free(WpNestFifo *fifo);

/* The children of a parent, as they are or as they would be. */
typedef struct {
	guint32 parent;
	const guint32 *children;
	guint32 n;
} WpNestFamily;

/* What it costs if two FAMILIES take the place of those that are: by pairs then out of order, nats. */
double wp_nest_fifo_cost(WpNestFifo *fifo, const WpNestFamily families[2]);

/* PARENT's children have changed. */
void wp_nest_fifo_update(WpNestFifo *fifo, guint32 parent);

#endif
