/*
 * How many others of its type the cause of a thing has sent, which counts alone tell, whoever caused what and however much
 * overlaps: in any window of time about as many are sent as so many messages cause. By how much their number is off, over
 * all windows, is by how much it varies what one message causes, and what the ends of windows cut; the longer these are, the
 * less the latter is of it.
 *
 *     come    |  x x   x | x    x  x |   x x  x |       3 3 3
 *     sent     |   y  y y |   y  y y  |    y  y y|      3 3 3       one each: off by the ends alone
 *              |   yyy    |           | yyyyyy   |      3 0 6       three or none: off by ever more
 *
 * Programs with an event loop send what several messages have caused in one turn, within microseconds. All of it given to
 * one message would be likelier by far than what is true, as hardly any gap varies so little, and then that is learned. So
 * siblings cost as much as leaves no more of them than there are (timeline-once.h).
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_SIBLINGS_H
#define WP_INFER_NESTING_SIBLINGS_H

#include "infer/nesting.h"

/* Sets what PROBLEM knows of siblings, where all that its host receives are one-way messages. */
void wp_nest_count_siblings(WpNestProblem *problem);

#endif
