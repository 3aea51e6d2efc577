/*
 * WpQueues: calls that wait for one of a number of workers, where inference found how many there are (WpPace) and each does all
 * of a call; part by part, summed by node.
 *
 *     come       a  b  c
 *     worker 1   |==== a ====|== c ==|
 *     worker 2      |===== b ======|
 *     waits            |.....|
 *
 * Of C workers one takes up the K-th call when it is there and K - C are done, whichever those were. From then on until its return the
 * call holds a worker: with its node's own work, or with what it calls.
 */
#ifndef WP_REPORT_QUEUES_H
#define WP_REPORT_QUEUES_H

#include <glib.h>

#include "infer/delay.h"
#include "infer/links.h"
#include "infer/resolve.h"

/* What holds workers: calls of one kind into a node below; or into their own: its work in these. */
typedef struct {
	guint32 node; /* of WpResolved */
	guint32 label;
	guint64 held_ns;
} WpQueueHolder;

typedef struct {
	guint32 node;
	guint32 workers;     /* of each host; where numbers differ, that of most calls at a time */
	guint64 n_most;      /* ... so many */
	gboolean is_several; /* hosts */
	guint64 n_calls;
	guint64 waiting_ns;
	guint64 held_ns; /* after it */
	guint64 work_ns; /* ... without a call below */
	WpDelay *waits;  /* of those that waited */
	GArray *holders; /* WpQueueHolder; at most WP_QUEUES_HOLDERS, in order of first sight */
} WpQueue;

#define WP_QUEUES_HOLDERS 256

typedef struct WpQueues WpQueues;

/* (transfer full) */
WpQueues *wp_queues_new(void);
void wp_queues_free(WpQueues *queues);

/* Adds the calls of RESOLVED for which KEEP (NULL: all) is not 0; the others have been in the way of these. */
void wp_queues_add(WpQueues *queues, const WpResolved *resolved, const WpLinks *links,
		   const guint8 *keep);

/* After wp_resolved_next() returned TRUE: nodes that have become one are added up. */
void wp_queues_move(WpQueues *queues, const WpResolved *resolved);

/* (transfer none) In order of first sight. */
const WpQueue *wp_queues_get(const WpQueues *queues, guint *out_n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpQueues, wp_queues_free)

#endif
