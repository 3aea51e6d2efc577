/*
 * Hosts where several workers take one-way messages, or calls, from one queue, in the order in which they come.
 *
 *     come       a  b  c      d
 *     worker 1   |==== a ====||=== d ==|
 *     worker 2      |= b =||==== c ======|
 *     sent                b1 a1        d1 c1
 *
 * Behind a line of others the time from a message to what it causes is that of the line, spread as far as that is long. But
 * of C workers one takes up the K-th message when it is there and the (K-C)-th of those before is done, in the order
 * in which they are done: whichever messages these were. So where each sends one thing when it is done, all begins of
 * work are known before any cause is, and the time from them is spread no further than without a line. A worker that
 * does all of a call is done with it when it returns.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_WORKERS_H
#define WP_INFER_NESTING_WORKERS_H

#include "infer/nesting.h"

/*
 * How many workers the host of PROBLEM has, which is solved; 0: any number, or it cannot be told. Then OUT_BEGINS_NS, by
 * parent, is when the work at each began, ascending; else it is not written. OUT_SCORE: how likely that is, to
 * compare what other answers of the same host show, in nats a thing sent; what is behind the last child of a message
 * and before the end of its work is taken from the answer.
 */
guint32 wp_nest_find_workers(const WpNestProblem *problem, gint64 *out_begins_ns,
			     double *out_score);

/*
 * The same for a host that is called, and whose workers do all of a call each: they are done with it when it returns. PROBLEM need
 * not be solved. 0: any number, or some calls do not return, or others near it are about as likely. Up to 512 are told apart.
 */
guint32 wp_nest_find_call_workers(const WpNestProblem *problem, gint64 *out_begins_ns);

/*
 * How many workers such a host may have, if some calls wait for one: at least so many, and at most OUT_MOST; 0, and it is not set: no
 * number.
 */
guint32 wp_nest_possible_workers(const WpNestProblem *problem, guint32 *out_most);

/* The share of the calls into such a host that were over before one of so many WORKERS was free; 0: some do not return. */
double wp_nest_share_impossible(const WpNestProblem *problem, guint32 workers);

/* When work begins at each parent of such a host with so many WORKERS. FALSE, and nothing is set: some do not return. */
gboolean wp_nest_find_call_begins(const WpNestProblem *problem, guint32 workers,
				  gint64 *out_begins_ns);

/*
 * (transfer full) By class: the type of which its messages cause one each, as far as the answer that there is tells;
 * else the one of which there are about as many.
 */
guint32 *wp_nest_find_mains(const WpNestProblem *problem);

#endif
