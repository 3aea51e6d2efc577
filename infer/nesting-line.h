/*
 * Hosts that take one-way messages one at a time, in the order in which they come: a worker at a queue. What
 * it sends between taking one up and taking up the next has the first for its cause, however long that waited.
 *
 *     come     a      b   c                       d
 *     work     |= a =||==== b ====||=== c ===|    |= d ...     begins when the message is there, and the one before done
 *     sent          a1        b1 b2          c1
 *
 * Nothing is in hand beside another, so the time from the begin of the work to what is sent is spread no further
 * at load than without, where the time from the message is that of the line before it. Which of what is sent is the
 * last of a message is not seen: all ways to cut the sequence into pieces, a piece a message, are weighed at
 * once, as in a hidden semi-Markov model (forward sums; backward draws), by the timelines learned from draws. Work of which
 * nothing is sent (a filter) is not seen at all, and the next waits for it: where there is much of that, all times that it
 * may have taken are weighed as well.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_LINE_H
#define WP_INFER_NESTING_LINE_H

#include "infer/nesting.h"

/*
 * Gives the bundles of PROBLEM, which is solved, other parents, and OUT_BELIEFS, where that it works so is much
 * likelier than the answer; else leaves all as it is.
 */
gboolean wp_nest_try_line(WpNestProblem *problem, WpNestBelief *beliefs);

/* TRUE where all that the host of PROBLEM receives are one-way messages, and of all that there is enough. */
gboolean wp_nest_is_of_messages(const WpNestProblem *problem);

/* How many of the first things sent are of messages before the capture: as few as let the others come behind those that came. */
guint32 wp_nest_count_unknown(const gint64 *sent_ns, guint32 n_sent, const gint64 *came_ns,
			      guint32 n_came);

#endif
