/*
 * Holds: connections that a request has for itself. Where a worker (a thread, a process, a handle that is taken with
 * the request and given back with the reply) does all of a request, over a connection of its own, the calls of a request
 * to one callee follow each other on one connection:
 *
 *     connection 1   |-a-|  |---a---|       |-d-|  |--d--|
 *     connection 2      |-b-|  |--b--|  |-c-|   |---c---|
 *
 * At load, where requests stand in line for a worker, times do not tell whose a short first call is; the connection does, as
 * the next call on it is of the same request. Most pools give any call a connection that is free, though, the one that
 * came back last or first, and tell nothing. So an answer that was found without is asked: are calls that follow
 * one of their own request the next on its connection far more often than if which one follows and which one is next had nothing
 * to do with each other?
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_HOLDS_H
#define WP_INFER_NESTING_HOLDS_H

#include "infer/nesting.h"

#define WP_NO_CHILD G_MAXUINT32

/* What a child uses. */
typedef struct {
	guint32 pool;   /* number of its callee from 1; 0: nothing is asked of it */
	guint32 flow;   /* its connection, from 0 */
	guint32 before; /* the last child on that; WP_NO_CHILD: none */
} WpNestUse;

struct WpNestHolds {
	WpNestUse *uses; /* by child */
	guint32 n_pools;
	double *shares; /* by pool, from 1: of WpNestHold */
	double *chance; /* likewise: that two calls are on one connection */
};

/* What the last call before a child is to it, of those of its parent to the same callee. */
typedef struct {
	guint32 pool;
	guint32 sibling;
	gboolean is_next; /* the child is the next on its connection */
} WpNestFollow;

/*
 * Of CHILDREN of a parent, by begin, the one at AT. FALSE: it follows none, or has to be beside it whatever connections
 * they have.
 */
gboolean wp_nest_follows(const WpNestProblem *problem, const WpNestHolds *holds,
			 const guint32 *children, guint32 at, WpNestFollow *out);

/* (transfer full) Of calls to the N callees of HELD; NULL: of all. */
WpNestHolds *wp_nest_holds_new(const WpNestProblem *problem, const WpNestHold *held, guint32 n);
void wp_nest_holds_free(WpNestHolds *holds);

/* FALSE: wp_nest_find_holds() finds none, however sure the answer is. */
gboolean wp_nest_may_hold(const WpNestProblem *problem);

/* (transfer full) WpNestHold: callees to which a request holds its connection, as PROBLEM's answer has it. */
GArray *wp_nest_find_holds(const WpNestProblem *problem, const WpNestBelief *beliefs);

#endif
