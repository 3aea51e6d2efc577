/*
 * WpPools: calls that waited for a free connection to whom they go to, where inference found that some did (the evidence
 * "pool", infer/nesting-pool.c); part by part, summed by caller and callee.
 *
 *     connection 1   |=== a ===||=== c ===|
 *     connection 2     |==== b ====||== d ==|
 *     c wanted           |.....|
 *
 * A connection is taken up again as soon as it comes back. When a call was wanted is not to be seen; how long it waited, on the
 * average, is how much later after what its request did last it begins than a call of its kind which found a connection free.
 */
#ifndef WP_REPORT_POOLS_H
#define WP_REPORT_POOLS_H

#include <glib.h>

#include "infer/links.h"
#include "infer/resolve.h"

/* How long after what its request did last a call begins: sums over calls of one kind, in requests of one kind. */
typedef struct {
	guint32 parent_label;
	guint32 label;
	gboolean is_first; /* of its request: which may have waited for a worker before */
	guint64 n[2];      /* that found a connection free, that waited */
	double gap_ns[2];
} WpPoolKind;

typedef struct {
	guint32 caller; /* of WpResolved */
	guint32 callee;
	guint32 connections; /* of each host of the caller: the most that are in use at a time */
	gboolean is_several; /* hosts */
	guint64 n_calls;
	guint64 n_waited;
	guint64 taken_ns; /* from the call to the return: sum */
	GArray *kinds;    /* WpPoolKind; at most WP_POOLS_KINDS, in order of first sight */
} WpPool;

#define WP_POOLS_KINDS 256

typedef struct WpPools WpPools;

/* (transfer full) */
WpPools *wp_pools_new(void);
void wp_pools_free(WpPools *pools);

/* Adds the calls of RESOLVED for which KEEP (NULL: all) is not 0; the others have used connections meanwhile. */
void wp_pools_add(WpPools *pools, const WpResolved *resolved, const WpLinks *links,
		  const guint8 *keep);

/* After wp_resolved_next() returned TRUE: nodes that have become one are added up. */
void wp_pools_move(WpPools *pools, const WpResolved *resolved);

/* (transfer none) In order of first sight. */
const WpPool *wp_pools_get(const WpPools *pools, guint *out_n);

/*
 * The mean time that a call which waited did so. It rests on links. Negative: not known, as calls of hardly any kind have been seen
 * both to wait and not to.
 */
double wp_pool_wait_ns(const WpPool *pool);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpPools, wp_pools_free)

#endif
