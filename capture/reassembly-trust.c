/*
 * What a segment that opens or resets a flow is to the flow that is there: RFC 9293 section 3.5, RFC 5961 section 3
 * (which resets to believe).
 */
#include "capture/reassembly.h"

/* A reset so little behind what was seen is believed: its sender may not know of its own data. */
#define RESET_BEHIND 65535

gboolean
wp_reassembly_is_other(const WpReassembly *flow, guint side, const WpSegment *segment)
{
	const WpHalf *half = &flow->half[side], *other = &flow->half[!side];
	if (flow->is_settling) { /* the SYN may have been captured late */
		guint32 behind = (guint32)half->next - (segment->seq + 1);
		return half->is_known && behind > WP_REASSEMBLY_MAX_BYTES;
	}
	if (half->is_known)
		return (guint32)half->origin != segment->seq + 1;
	return segment->flags & WP_TCP_ACK && other->is_known &&
	       (guint32)other->origin != segment->ack && other->is_seen;
}

gboolean
wp_reassembly_is_rival(const WpReassembly *flow, guint side, const WpSegment *segment)
{
	const WpHalf *half = &flow->half[side], *other = &flow->half[!side];
	return segment->flags & WP_TCP_ACK && half->has_syn && !flow->is_settling &&
	       (guint32)half->origin != segment->seq + 1 && half->next == half->origin &&
	       half->acked == half->origin && !half->first && other->has_syn &&
	       (guint32)other->origin == segment->ack;
}

/* RFC 5961 section 3.2, wider: what the reset's sender knew may not have been captured. */
gboolean
wp_reassembly_believes_reset(const WpReassembly *flow, guint side, const WpSegment *segment)
{
	const WpHalf *half = &flow->half[side], *other = &flow->half[!side];
	if (half->is_known) {
		gint32 distance = (gint32)(segment->seq - (guint32)half->next);
		if (distance >= -RESET_BEHIND && distance <= WP_REASSEMBLY_MAX_BYTES)
			return TRUE;
	}
	return segment->flags & WP_TCP_ACK && other->is_known &&
	       (segment->ack == (guint32)other->next || segment->ack == (guint32)other->acked);
}
