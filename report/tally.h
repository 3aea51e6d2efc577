/*
 * WpTally: the calls of an analysis counted, part by part: where each is on the page, how sure its link
 * is, which nodes it names. All that a page needs of single calls once they are in patterns.
 */
#ifndef WP_REPORT_TALLY_H
#define WP_REPORT_TALLY_H

#include <glib.h>

#include "infer/links.h"
#include "infer/resolve.h"
#include "report/edge-times.h"
#include "report/pools.h"
#include "report/queues.h"
#include "report/view.h"

typedef struct {
	WpViewLinks links; /* its counts */
	WpViewCount lots[WP_VIEW_N_LOTS];
	WpViewCount setup;
	guint64 n_calls;
	guint64 n_messages;
	guint64 n_records;
	gint64 begin_ns; /* of the first record; valid where n_records */
	gint64 end_ns;   /* of the last */
	WpEdgeTimes *edges;
	WpQueues *queues;
	WpPools *pools;
	GArray *seen; /* guint8, by node: 1 = calls, 2 = is called */
} WpTally;

void wp_tally_init(WpTally *tally);
void wp_tally_clear(WpTally *tally);

/*
 * Counts the records of RESOLVED's trace that were in no part before, and its spans for which KEEP (NULL:
 * all) is not 0. LINKS: after selection. LOST_SHARE: of calls, missing.
 */
void wp_tally_add(WpTally *tally, const WpResolved *resolved, const WpLinks *links,
		  const guint8 *keep, double lost_share);

/* To be called after wp_resolved_next() returned TRUE. */
void wp_tally_move(WpTally *tally, const WpResolved *resolved);

#endif
