/*
 * The critical path of a request: what its latency would be shorter by if it took no time. Read backwards from the
 * end: a call that is on the path waits for the child that returned last before the path goes on, and that one is on the
 * path until then; between its children's parts a call is on it itself.
 *
 *     web  ##|-------------|###|-------|##       # its own part of the path
 *     auth   ######              (none: db returned later)
 *     db     ###############
 *     log                       #########
 *
 * The parts of all calls add up to the latency of the root. A child that returns after its parent, or never, is not on the
 * path: nobody waits for it.
 */
#ifndef WP_INFER_CRITICAL_H
#define WP_INFER_CRITICAL_H

#include <glib.h>

/* Calls of one request, in pre-order. */
typedef struct {
	guint32 parent; /* place among them; G_MAXUINT32 for the root, which is the first */
	gint64 begin_ns;
	gint64 end_ns; /* WP_NO_TIME: none */
} WpCriticalCall;

/* Sets OUT_NS[N] to the part of each call, in ns; all 0 where the root has no end. Time is N log N. */
void wp_critical_path(const WpCriticalCall *calls, guint32 n, gint64 *out_ns);

#endif
