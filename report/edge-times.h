/*
 * WpEdgeTimes: what the calls from one node to another spent their time on, and what the transport held up, edge by
 * edge and part by part of a long input. Sums are whole nanoseconds: request, server, reply and stalls of an edge
 * add up to the latency of its calls.
 */
#ifndef WP_REPORT_EDGE_TIMES_H
#define WP_REPORT_EDGE_TIMES_H

#include <glib.h>

#include "infer/resolve.h"
#include "infer/spent.h"

/* Stalls of one cause. */
typedef struct {
	guint64 n;          /* each once, though it may have held up several calls */
	guint64 n_calls;    /* these */
	guint64 held_ns;    /* by call, summed */
	guint64 longest_ns; /* of one of them, whole */
	guint64 first;      /* its packets; 0 = not known */
	guint64 last;
	guint8 tap; /* ... number of their input */
} WpEdgeStalls;

typedef struct {
	guint32 caller; /* nodes of WpResolved */
	guint32 callee;
	guint64 n_calls; /* with a return; those that wait by design are left out */
	guint64 latency_ns;
	guint64 request_ns;
	guint64 server_ns;
	guint64 reply_ns;
	guint64 stall_ns;
	WpEdgeStalls stalls[WP_N_STALLS];
	WpEdgeStalls setup_stalls[WP_N_STALLS]; /* they held connecting up; held_ns is whole */
	guint64 n_connects;                     /* connections whose begin was seen */
	guint64 connect_ns;                     /* TCP handshakes */
	guint64 n_setups;
	guint64 setup_ns;     /* greetings, logins, TLS handshakes */
	guint64 n_both;       /* calls that were captured at both ends */
	guint64 network_ns;   /* of these: both ways, stalls included */
	gint64 client_rtt_ns; /* least from the tap to the caller and back; 0 = not known */
	gint64 server_rtt_ns;
} WpEdgeTime;

typedef struct WpEdgeTimes WpEdgeTimes;

/* (transfer full) */
WpEdgeTimes *wp_edge_times_new(void);
void wp_edge_times_free(WpEdgeTimes *times);

/* Adds the spans of RESOLVED for which KEEP (NULL: all) is not 0. */
void wp_edge_times_add(WpEdgeTimes *times, const WpResolved *resolved, const guint8 *keep);

/* After wp_resolved_next() returned TRUE: edges that have become one are added up. */
void wp_edge_times_move(WpEdgeTimes *times, const WpResolved *resolved);

/* (transfer none) In order of first sight. */
const WpEdgeTime *wp_edge_times_get(const WpEdgeTimes *times, guint *out_n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpEdgeTimes, wp_edge_times_free)

#endif
