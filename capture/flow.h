/*
 * WpFlows: all flows of a capture. Finds the flow of each segment, begins and ends flows, decides who
 * is the client, keeps the time that reassembly waits, and feeds the streams:
 *
 *   packets --segments--> flows --> reassembly (TCP) --bytes, holes, ends--> stream
 *                           `-------------datagrams (UDP)------------------>
 *
 * A flow begins with a SYN or, picked up in mid-stream, with payload or a FIN. It ends with both FINs, a reset,
 * too long a silence (of packet time, the latest seen), a SYN with other numbers, or the capture; then
 * its stream is finished. A flow that has ended stays known for a few seconds without its stream, so
 * that late repetitions do not make another one of it. Flows are numbered from 1 as they begin.
 */
#ifndef WP_CAPTURE_FLOW_H
#define WP_CAPTURE_FLOW_H

#include <glib.h>

#include "capture/loss.h"
#include "capture/packet.h"
#include "capture/stream.h"

/*
 * Flows at once where the caller does not say; memory sets the limit before (see flow.c). Each takes
 * about 600 bytes, its stream a little more.
 */
#define WP_FLOWS_MAX_DEFAULT 1000000

typedef struct WpFlows WpFlows;

/* (transfer full) SHARED and LOSS are borrowed. MAX_FLOWS 0: the default. */
WpFlows *wp_flows_new(const WpStreamShared *shared, WpLoss *loss, guint32 max_flows);

/* Frees; wp_flows_finish() before, or what the flows still hold is lost without a count. */
void wp_flows_free(WpFlows *flows);

void wp_flows_add(WpFlows *flows, const WpSegment *segment);

/* No more segments will come: ends all flows, in the order of their numbers. */
void wp_flows_finish(WpFlows *flows);

/* Flows that are known at present, ended ones included. */
guint32 wp_flows_count(const WpFlows *flows);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpFlows, wp_flows_free)

#endif
