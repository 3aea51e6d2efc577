/*
 * WpLoss: how many packets are missing from the capture, whether anybody counted them or not: an
 * overloaded mirror port, a full ring in the kernel of another machine.
 *
 * Only TCP payload shows its own loss: bytes that were acknowledged but never seen. From those the share
 * of lost segments follows per pair of nodes, and with that share the number of all lost packets
 * (acknowledgements, UDP, openings get lost like any other).
 */
#ifndef WP_CAPTURE_LOSS_H
#define WP_CAPTURE_LOSS_H

#include <glib.h>

#include "capture/counters.h"

typedef struct WpLoss WpLoss;

/* What one direction of a flow, or many, showed. */
typedef struct {
	guint64 packets;  /* seen, of any kind */
	guint64 segments; /* seen, with new TCP payload */
	guint64 lost;     /* segments found missing */
} WpLossSample;

/* What one flow showed in both directions, when it is over. */
typedef struct {
	guint32 client;   /* node */
	guint32 server;   /* node */
	guint16 port;     /* of the server */
	guint64 segments; /* seen or found missing */
	guint64 lost;     /* of these, found missing */
	guint n_opening; /* of SYN and SYN+ACK so many were seen; with one, nothing is missing before */
	gboolean has_end; /* a FIN or reset was seen: nothing can be missing behind */
} WpLossFlow;

/* (transfer full) */
WpLoss *wp_loss_new(void);
void wp_loss_free(WpLoss *loss);

/* Adds SAMPLE, sent by node SENDER to node RECEIVER. */
void wp_loss_add(WpLoss *loss, guint32 sender, guint32 receiver, const WpLossSample *sample);

/*
 * Adds a flow that is over. Segments lost with the opening or the close of a flow leave no hole; what a
 * flow without begin or end lacks is judged by whole flows to the same server.
 */
void wp_loss_add_flow(WpLoss *loss, const WpLossFlow *flow);

/*
 * The share of all packets that is missing, 0 to 1; 0 where nothing shows a loss. PACKETS: how many
 * were seen.
 */
double wp_loss_share(const WpLoss *loss);

/*
 * Adds the estimate to COUNTERS: WP_COUNT_LOST_PACKETS per pair, and in total for PACKETS packets seen.
 */
void wp_loss_count(WpLoss *loss, guint64 packets, WpCounters *counters);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpLoss, wp_loss_free)

#endif
