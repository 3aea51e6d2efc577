/*
 * WpSnapshot: every causal chain in flight at one instant, on all nodes: what is the system waiting for?
 *
 *     12.3 ms  web GET /buy                  a request, in flight for so long
 *     11.9 ms    app RUN
 *      1.2 ms      db UPDATE   <- here       nothing below it is open: it is what the request waits for
 *
 * In flight at T: calls that began at T or before and end later, or never in the capture. What usual is are the latencies
 * of all calls of the same kind (node and label) in the capture.
 */
#ifndef WP_REPORT_SNAPSHOT_H
#define WP_REPORT_SNAPSHOT_H

#include "infer/delay.h"
#include "report/analysis.h"

#define WP_SNAPSHOT_MAX_CALLS 20000
#define WP_SNAPSHOT_MAX_KINDS 20000
#define WP_SNAPSHOT_ROOT      G_MAXUINT32

/* A call in flight. */
typedef struct {
	guint32 parent; /* call of the snapshot, or WP_SNAPSHOT_ROOT */
	guint32 depth;  /* 0 = a root */
	guint32 kind;
	const char *caller;
	char *id; /* as `wirepath calls` prints it */
	guint64 packet;
	gint64 begin_ns;
	gint64 age_ns;      /* 0 or more */
	gint64 left_ns;     /* to its return; below 0: it has none in the capture */
	float probability;  /* of the parent; below 0: not known */
	guint n_candidates; /* of a root: open calls without an answer that may have caused it */
	gboolean waits;     /* nothing below it is open */
	gboolean by_design; /* it is a call that waits: a long poll, a blocking read */
	gboolean is_orphan; /* a root, caused by a call that has returned, or was not seen */
} WpSnapshotCall;

typedef struct {
	const char *node;
	const char *label;
	const char *protocol;
	WpDelay *latencies; /* of all its calls with a return */
	guint n_open;
	/* Of those that wait, but not by design: */
	guint n_waiting;
	guint n_unanswered; /* that have no return in the capture */
	gint64 oldest_ns;
	gint64 ages_ns; /* sum */
} WpSnapshotKind;

typedef struct {
	gint64 at_ns, begin_ns, end_ns; /* of the capture: first and last record */
	GPtrArray *
		calls; /* WpSnapshotCall, in pre-order; the oldest root first, children as they began */
	GPtrArray *kinds;   /* WpSnapshotKind, by number */
	GPtrArray *waiting; /* WpSnapshotKind of kinds, with calls that wait: the most age first */
	guint n_roots;
	guint n_late;        /* calls that are older than 95 % of their kind's take */
	guint64 n_abandoned; /* calls without a return whose caller has answered: left out */
	guint64 n_left;      /* calls in flight beyond the limits */
	GStringChunk *texts;
} WpSnapshot;

typedef struct WpSnapshotMaker WpSnapshotMaker;

/* (transfer full) AT_NS: since the epoch; IS_OFFSET: after the first record. */
WpSnapshotMaker *wp_snapshot_maker_new(gint64 at_ns, gboolean is_offset);
void wp_snapshot_maker_free(WpSnapshotMaker *maker);

/* A part as it is shown to a WpAnalysisFunc. */
void wp_snapshot_maker_add(WpSnapshotMaker *maker, const WpAnalysis *part);

/* (transfer full) NULL with WP_REPORT_ERROR_DATA where the instant lies outside of the capture. */
WpSnapshot *wp_snapshot_maker_finish(WpSnapshotMaker *maker, GError **error);
void wp_snapshot_free(WpSnapshot *snapshot);

/*
 * (transfer full) The same of PART alone, of whatever stands in it, answered or not, at the last multiple of PERIOD_NS
 * since 1970 that it or NOW_NS has reached. NULL: that lies before it.
 */
WpSnapshot *wp_snapshot_of_part(const WpAnalysis *part, gint64 period_ns, gint64 now_ns);

/* TRUE where a call of KIND that is open for AGE_NS is older than 95 % of such calls take. */
gboolean wp_snapshot_is_late_for(const WpSnapshotKind *kind, gint64 age_ns);

/* The same of CALL, which does not wait by design. */
gboolean wp_snapshot_is_late(const WpSnapshot *snapshot, const WpSnapshotCall *call);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSnapshotMaker, wp_snapshot_maker_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSnapshot, wp_snapshot_free)

#endif
