/*
 * Callees of a host that are alike: replicas, any of which a call goes to. Whichever it is, the delays before it are the same, and what
 * follows. Taken for as many services each has but its part of what there is to learn from, and six calls at once to six of eight are one of
 * 262,144 things that may be.
 *
 *     app -> shard1 get        app -> sessions get
 *     app -> shard2 get        app -> cache get        always in this order: not alike
 */
#ifndef WP_INFER_ALIKE_H
#define WP_INFER_ALIKE_H

#include "infer/resolve.h"

/*
 * (transfer full) By the place of each of N_OUTGOING calls of a host (spans, by time): the callee that stands for its like, mostly itself.
 * Two are alike where the host calls them for the same things, at the same port and by the same protocol, or they are
 * numbers of one name and nothing else is known of them; and where neither what the host was called for last, nor how long ago, nor
 * which of them it has called before tells one from the others.
 */
guint32 *wp_alike_find(const WpResolved *resolved, const guint32 *incoming, guint32 n_incoming,
		       const guint32 *outgoing, guint32 n_outgoing);

#endif
