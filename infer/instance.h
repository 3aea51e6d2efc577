/*
 * WpInstance: one request whole, as it went: every call below a root with its times, sizes, packets and how
 * sure its parent is. A pattern keeps a few of them as examples; WpKeep asks for others.
 *
 * Self-contained but for nodes and strings, so that it outlives the part of a long trace that it was in.
 */
#ifndef WP_INFER_INSTANCE_H
#define WP_INFER_INSTANCE_H

#include <glib.h>

#include "infer/path.h"
#include "infer/resolve.h"

/* Calls of one request that are kept; of more, the first in pre-order. */
#define WP_INSTANCE_MAX_CALLS 2000

#define WP_NO_PLACE G_MAXUINT32

typedef struct {
	guint32 place;     /* node of its pattern, or WP_NO_PLACE */
	guint32 parent;    /* call of the instance; G_MAXUINT32 for the root */
	guint32 depth;     /* root 0 */
	guint32 caller;    /* node of WpResolved */
	guint32 callee;    /* likewise */
	guint32 label;     /* string, 0 = none */
	guint32 protocol;  /* string, 0 = none */
	gint64 begin_ns;   /* first byte of the call */
	gint64 end_ns;     /* as WpPaths has it: WP_NO_TIME where it has none */
	gint64 self_ns;    /* 0 without an end */
	gint64 request_ns; /* parts of the latency (WpSpanParts); 0 where no return was seen */
	gint64 server_ns;
	gint64 reply_ns;
	gint64 stall_ns;     /* held up; with the three it is the latency */
	guint32 n_stalls;    /* so many did; of these the one that took most of it: */
	guint32 stall_kind;  /* WpTransportKind */
	gint64 longest_ns;   /* the part of it that lies in the call */
	guint64 stall_first; /* packets; 0 = not known */
	guint64 stall_last;  /* likewise */
	gint64 connect_ns; /* what its connection had cost before: TCP; negative = nothing, or not known */
	gint64 setup_ns;      /* ... TLS, greeting, login; likewise */
	gint64 connecting_ns; /* of self_ns: connections for calls below (wp_spent_connecting_ns()) */
	gint64 network_ns;    /* both ways; negative = not known */
	guint64 id;           /* as in its record */
	guint64 runner_id;    /* of the next best parent; WP_NO_ID = none */
	guint64 bytes[2];     /* of call and return; WP_NO_SIZE = not known */
	guint64 packets[2];   /* likewise; 0 = not known */
	guint8 taps[2];       /* likewise */
	float probability;    /* of the link to its parent; negative = none */
	guint32 n_candidates; /* possible parents */
	guint32 evidence;     /* WP_EVIDENCE_... */
	WpEndpoint src;
	WpEndpoint dst;
	guint8 kind;         /* WpKind */
	guint8 status;       /* WpStatus */
	guint8 marks;        /* WP_MARK_... */
	guint8 overlaps;     /* 1: in time with a sibling */
	guint8 is_estimated; /* 1: something below is missing, and self time is estimated */
} WpInstanceCall;

typedef struct WpInstance {
	guint32 client; /* node that sends the root call */
	guint32 n_calls;
	guint32 n_more;        /* calls beyond WP_INSTANCE_MAX_CALLS */
	WpInstanceCall *calls; /* in pre-order, the order of its pattern */
} WpInstance;

/* Where instances come from. */
typedef struct {
	const WpResolved *resolved;
	const WpPaths *paths;
	const WpLinks *links;
	const guint8 *holes; /* by span: WpHole */
} WpInstanceSource;

/*
 * (transfer full) The request of STEPS (of WpPathStep); PLACES: of each step in its pattern, NULL: the same.
 * One reference.
 */
WpInstance *wp_instance_new(const WpInstanceSource *source, const GArray *steps,
			    const guint32 *places);
WpInstance *wp_instance_ref(WpInstance *instance);
void wp_instance_unref(WpInstance *instance); /* NULL is fine */

/* Latency of the root. */
gint64 wp_instance_latency_ns(const WpInstance *instance);

/* After wp_resolved_next() returned TRUE: nodes and labels as they are meant now. */
void wp_instance_move(WpInstance *instance, const WpResolved *resolved);

/* Its calls stand at NOW[place] of their pattern. */
void wp_instance_replace(WpInstance *instance, const guint32 *now);

/*
 * WpKeep: which instances are to be kept beside examples, over all parts of a trace: the N slowest, or those
 * with a call.
 */
typedef struct {
	guint n_slowest;   /* 0 = none are asked for; background requests do not count */
	GArray *latencies; /* gint64, ascending: of the slowest so far, at most n_slowest */

	const char *call; /* as `wirepath calls` prints its id; borrowed; NULL = none */
	const guint64
		*numbers; /* by span of this part: its place in the trace; NULL = its number */
	guint32 n_found;  /* spans that were it */
	guint32 evidence; /* of the first that is on no path; 0 = none */

	gboolean has_begun; /* the next two are known */
	gboolean by_number; /* the call is known by its place, as ids are not unique */
	guint64 wanted;     /* id as in records; or place, from 0 */
} WpKeep;

void wp_keep_init_slowest(WpKeep *keep, guint n);
void wp_keep_clear(WpKeep *keep);

/* TRUE where a request that takes so long is among the slowest; it then counts as one. */
gboolean wp_keep_offer(WpKeep *keep, gint64 latency_ns);

/* TRUE where one that was kept is still among the slowest. */
gboolean wp_keep_still(const WpKeep *keep, gint64 latency_ns);

/* (transfer full) By span: 1 = a root of whose request the call is part; NULL where none is asked for. */
guint8 *wp_keep_roots(WpKeep *keep, const WpResolved *resolved, const WpLinks *links,
		      const WpPaths *paths);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpInstance, wp_instance_unref)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WpKeep, wp_keep_clear)

#endif
