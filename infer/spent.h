/*
 * WpSpent: what the time of a call was spent on: its parts, what held it up, what its connection had cost before.
 *
 *   connect   setup      request   server     reply
 *   |-------|---------|  |======|..........|=========|
 *                           |~~~|     |~~~~~~~~|          held up, with the cause and the packets that show it
 *                        |--| + |...|          |=====|    the parts are what is left
 *
 * Request, server, reply and stalls add up to the latency, to the nanosecond. Others that were under way on the
 * same connection may have been held up by the same stall, so stalls of several calls are not to be added up.
 */
#ifndef WP_INFER_SPENT_H
#define WP_INFER_SPENT_H

#include <glib.h>

#include "infer/path.h"
#include "infer/span.h"

/* Of its call and of its return. */
#define WP_SPENT_MAX_STALLS (2 * WP_RECORD_MAX_TRANSPORTS)

/* The causes of stalls are one run of kinds. */
#define WP_FIRST_STALL WP_TRANSPORT_TIMEOUT
#define WP_N_STALLS    (WP_TRANSPORT_ACK - WP_TRANSPORT_TIMEOUT + 1)

typedef struct {
	WpTransport what;  /* whole, as it was seen */
	gint64 held_ns;    /* the part inside the call that is in no stall before */
	gboolean is_setup; /* it was over before the call: connecting was held up */
} WpSpentStall;

typedef struct {
	WpSpanParts parts; /* less what is held up; 0 for spans without a return */
	gint64 stall_ns;   /* the sum of held_ns; with the parts it is the latency */
	guint n_stalls;
	WpSpentStall stalls[WP_SPENT_MAX_STALLS]; /* by time */
	/* Of the connection, if the call is the first on it; kind WP_N_TRANSPORTS: not, or not seen. */
	WpTransport connect;
	WpTransport setup;
	/* From the tap to the client and the server and back, where the least so far was seen; else 0. */
	gint64 client_rtt_ns;
	gint64 server_rtt_ns;
} WpSpent;

/* SPAN of TRACE. Fast where its records tell nothing of the transport. */
void wp_spent_read(const WpTrace *trace, const WpSpan *span, WpSpent *out_spent);

/*
 * Of the self time of span NUMBER of SPANS, in ns, what went into connections (TCP, TLS, login) for its children:
 *
 *   |- self -|~ connect ~|=== child ===|--- self ---|
 *
 * A set-up counts where its call follows within its own length, or 1 ms: later, the connection was made in advance.
 * What overlaps counts once, and nothing counts while a child is open, so it is never more than the self time.
 */
gint64 wp_spent_connecting_ns(const WpTrace *trace, const WpSpans *spans, const WpPaths *paths,
			      guint32 number);

#endif
