/*
 * Self-check: how right inference can be expected to be on this capture, without any truth. Its requests are dealt anew
 * and inferred again (deal.h); the share of links that come out as they went in is what can be expected of the
 * capture itself. Where many links are in doubt, that share is too high: an answer with mistakes is more regular than the
 * truth, so that what is dealt from it is easier, and more of its links are sure. There, what is expected is the sum of
 * the links' own probabilities, after these were set by how often links so sure come out as they went in (calibrate.h).
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
 * inference, but where that was made to calibrate LINKS. The order is drawn with a seed: the same input, the same answer. Errors: the engine's.
 */
gboolean wp_self_check(const WpResolved *resolved, const WpLinks *links,
		       const WpResolveOptions *resolve, const WpEngine *engine, const void *options,
		       WpStopFunc stop, WpSelfCheck *out_check, GError **error);

/* Adds OTHER to CHECK. */
void wp_self_check_add(WpSelfCheck *check, const WpSelfCheck *other);

#endif
