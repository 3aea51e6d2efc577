/*
 * WpMissing: how many calls were made of which the capture shows no call, node by node, from what is left
 * of them. No packet needs to have been counted for it, so it holds for traces from elsewhere too.
 *
 *     P pairs      call and return were seen
 *     U unpaired   the return was not seen
 *     O orphans    the call was not seen      ->  O + O U / P calls are missing, with those that lost both
 *
 * What was open when the capture began or ended is not missing: of orphans that came no later than calls take,
 * or whose time is not known, as many as calls are open on average, and three times the spread of that, are
 * left to it.
 */
#ifndef WP_INFER_MISSING_H
#define WP_INFER_MISSING_H

#include <glib.h>

#include "infer/resolve.h"

typedef struct {
	double n;     /* calls that are missing */
	double share; /* of all calls, 0 to 1 */
} WpMissingShare;

typedef struct {
	WpMissingShare all;
	WpMissingShare *hosts; /* calls into a host */
	guint32 n_hosts;
} WpMissing;

/* (transfer full) */
WpMissing *wp_missing_new(const WpResolved *resolved);
void wp_missing_free(WpMissing *missing);

/* Of the calls into HOST; nothing of hosts that are not known. */
WpMissingShare wp_missing_of(const WpMissing *missing, guint32 host);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpMissing, wp_missing_free)

#endif
