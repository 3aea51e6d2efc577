/*
 * When calls that had waited for a connection came to the line. Where all connections of a pool are in use a call waits until
 * one comes back, and begins on it (nesting-pool.c); when its request wanted to make it is not seen. But who comes first
 * is served first:
 *
 *     wanted      a     b  c        d
 *     connection  ===|====== a ===|= b =|=== c ...          the K-th to begin is the K-th that was wanted
 *
 * and how many have been wanted until any time is told by counts alone, whichever request did what: each begin of a
 * request and each return of a call leads, as long after it as work takes, to a call or to a reply. Those that led to a
 * reply, or to a call that did not wait, are seen; the rest have come to the line. Of 1,500 to 3,000 requests the times that are
 * found so are off by 0.3 to 0.9 ms where work takes 1 to 3 ms and the wait 4 to 11; and how long they are after what a
 * request did last says nearly as much of a call that has waited as its begin says of one that has not.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_QUEUE_H
#define WP_INFER_NESTING_QUEUE_H

#include "infer/nesting.h"

/* How long requests work from what they did last to what they do next: quantiles, each of the same weight. */
#define WP_NEST_N_WORKS 16

typedef struct {
	gint64 ns[WP_NEST_N_WORKS]; /* ascending */
} WpNestWorks;

/* A host's calls in the order in which they came to the line, or were sent where they did not wait. */
typedef struct {
	guint32 *outgoing; /* spans */
	gint64 *lined_ns;  /* ascending */
} WpNestQueue;

/* FALSE: no calls of ANSWER have waited, or not enough of one pool, or too little of the rest is known to tell WORKS by. */
gboolean wp_nest_queue_learn(const WpNestProblem *answer, WpNestWorks *out_works);

/*
 * (transfer full) The calls of PROBLEM, in real time, as they came to the line. TURNED above 1: as if of so many who want one after
 * the other the last were served first, to see how much less likely that is.
 */
WpNestQueue *wp_nest_queue_find(const WpNestProblem *problem, const WpNestWorks *works,
				guint32 turned);

/* (transfer full) The same where it is known how long each has waited: WAITED_NS, by span, 0: not. NULL: none has. */
WpNestQueue *wp_nest_queue_known(const WpResolved *resolved, const WpNestHost *host,
				 const gint64 *waited_ns);

void wp_nest_queue_free(WpNestQueue *queue);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpNestQueue, wp_nest_queue_free)

#endif
