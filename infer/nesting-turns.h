/*
 * Turns. A program with one thread takes up what comes in, calls and the returns of its own calls, one after the
 * other; where it has more to do than it can, each waits for its turn, and at load that wait is most of every gap:
 *
 *     comes in   a   b   c         d
 *     turn       |-a--|---b---|--c--|--d--|
 *     sent           a1      b1    c1    d1      d1 lies as close to b, c and d as to its own turn, and no other
 *
 * How long one waits is about how long those wait that came in just before and just after it, which an answer
 * tells even where half of it is wrong: wrong links wait as long as true ones on average. So gaps are counted from
 * there, and the host is solved again; of two answers the likelier is taken (nesting-pace.c). What has no line is
 * no better told by how long others took, and keeps its answer.
 *
 * Where an answer is too wrong for that, the length of the line is counted, whoever stands in it: of those who are in
 * hand, all who wait for nobody else's return wait for a turn.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_TURNS_H
#define WP_INFER_NESTING_TURNS_H

#include "infer/nesting.h"

/* The most neighbours on each side that wp_nest_take_turns() asks. */
#define WP_NEST_MAX_NEIGHBOURS 8

/*
 * Sets how long all that comes in to PROBLEM, which is on real time, waits, by what its parents have for children in ANSWER, of
 * the same host on any clock: as long as the NEIGHBOURS (1 to WP_NEST_MAX_NEIGHBOURS) on each side, of which wrong links are the
 * fewer noticed the more they are, and changes the better the fewer they are. FALSE, and nothing is set: there is too
 * little of it, there are one-way messages, or who waits long says nothing of who comes next.
 */
gboolean wp_nest_take_turns(WpNestProblem *problem, const WpNestProblem *answer, guint neighbours);

/* The same by the length of the line alone. FALSE: there is too little of it, or there are one-way messages. */
gboolean wp_nest_count_turns(WpNestProblem *problem);

#endif
