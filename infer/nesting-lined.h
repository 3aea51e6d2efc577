/*
 * Whether calls of a host wait in line for a connection (nesting-pool.c tells which have waited), and who comes first is
 * served first. Then the order in which they came to it is that in which they were sent; and counts tell when
 * (nesting-queue.h). Before that line there may be another, of requests that wait for one of several workers. Inside of the
 * nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_LINED_H
#define WP_INFER_NESTING_LINED_H

#include "infer/nesting-queue.h"
#include "infer/nesting-solution.h"

/*
 * Takes an answer of QUESTION with such lines instead of SOLUTION where that is believed. OWN, that is QUESTION's host, has then
 * when each request was taken up (OUT_BEGINS_NS: transfer full; else as it was), and PACE by how many workers. So many were FOUND
 * to be likely without a line (0: any number). Returns whether there is a line; OUT_WORKS: what tells when calls came to it.
 */
gboolean wp_nest_settle_lines(const WpNestQuestion *question, WpNestHost *own, guint32 found,
			      gint64 **out_begins_ns, WpNestWorks *out_works, WpPace *pace,
			      WpNestSolution *solution);

/* (transfer full) QUESTION's host, as it works, gets its calls as they came to the line by WORKS. OWN borrows them. */
WpNestQueue *wp_nest_line_up(const WpNestQuestion *question, WpNestHost *own,
			     const WpNestWorks *works);

/* (transfer full) The same, where it is known how long each has waited; NULL: it is not, or none has. */
WpNestQueue *wp_nest_line_up_known(const WpResolved *resolved, WpNestHost *own);

#endif
