/*
 * Redraw: requests begun at other times than they were, as they would have gone there. What a host does between two
 * events of a call (the call came, a call of it was made, one returned) takes as long as it did, by the clock
 * that the host's work goes by (WpPace): in other company another time.
 *
 *     found   |-work-|  call  |-work--|        alone
 *     drawn   |---work---|  call  |---work---|   beside another that is worked at
 *
 * The order of events within a call stays: a call that was made after the return of another still is. What happens
 * between hosts takes as long as it did.
 */
#ifndef WP_INFER_REDRAW_H
#define WP_INFER_REDRAW_H

#include "infer/links.h"

/* All by span. */
typedef struct {
	const guint32 *root_of; /* the first of its path, or WP_NO_SPAN: on none */
	/*
	 * Of the first of a path: the one of another path that its caller calls next, as soon as it has returned and a pause
	 * is over; or WP_NO_SPAN. So who waits for a reply before asking again asks the slower, the slower the reply is.
	 */
	guint32 *next;
	gint64 *pause_ns; /* of that one; < 0: it begins at a time of its own */
} WpRedrawPlan;

/*
 * Both shifts are by span. Given: by how much the first call of its path begins later; on no path: by how much it
 * is moved itself. Out: by how much its call and its return come later. Linear but for sorting.
 */
void wp_redraw(const WpResolved *resolved, const WpLinks *links, const WpRedrawPlan *plan,
	       gint64 *call_shift_ns, gint64 *return_shift_ns);

#endif
