/*
 * Self-check: how right inference can be expected to be on this capture, without any truth. The requests as
 * they were found become a capture of their own, whose truth is known by that: each request is put in the
 * place of another one that takes the same path, so that as many begin at the same times, last as long and
 * do the same, but run beside other requests. Inferred again, the share of links that come out as they went
 * in is what can be expected of the capture itself, which is one such draw more.
 *
 *     found   |-- 1 --|   |---- 2 ----|        1 and 2 take one path, and so do 3 and 4
 *               |-- 3 --|    |- 4 -|
 *     drawn   |---- 2 ----||-- 1 --|
 *               |- 4 -|      |-- 3 --|
 */
#ifndef WP_INFER_SELF_CHECK_H
#define WP_INFER_SELF_CHECK_H

#include "infer/engine.h"

typedef struct WpSelfCheck {
	guint64 n_links; /* calls on paths that have a parent */
	guint64 n_links_right;
	guint64 n_requests;
	guint64 n_requests_right; /* every call under its parent, and no other */
} WpSelfCheck;

/*
 * LINKS are ENGINE's of RESOLVED, which was made with RESOLVE; OPTIONS are ENGINE's. Costs about one more
 * inference. The order is drawn with a seed: the same input, the same answer. Errors: the engine's.
 */
gboolean wp_self_check(const WpResolved *resolved, const WpLinks *links,
		       const WpResolveOptions *resolve, const WpEngine *engine, const void *options,
		       WpStopFunc stop, WpSelfCheck *out_check, GError **error);

/* Adds OTHER to CHECK. */
void wp_self_check_add(WpSelfCheck *check, const WpSelfCheck *other);

#endif
