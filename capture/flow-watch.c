/* Watching one flow: see flow-watch.h, and transport.h for where the rules come from. */
#include "capture/flow-watch.h"

#include <string.h>

#define MS G_GINT64_CONSTANT(1000000)

/* Segments that overtake each other do so by less than this; what is sent again comes later, or was asked for. */
#define REORDER_NS (3 * MS)

/* What equal acknowledgements ask for follows so soon upon the last of them, or within a round trip. */
#define ASKED_NS (25 * MS)

/* Acknowledgements are held back for so long at least: 40 ms at Linux, 200 ms elsewhere; less is the way. */
#define LATE_NS (30 * MS)

/* Below the least that a full segment holds on any usual path: Nagle's algorithm may hold it. */
#define SMALL 1200

/* What waited for an acknowledgement, or for room, follows so soon, or within a round trip. */
#define AT_ONCE_NS (5 * MS)

static gboolean
is_after(guint32 a, guint32 b)
{
	return (gint32)(a - b) > 0;
}

static WpFlowWatchPoint
point_of(const WpSegment *segment)
{
	return (WpFlowWatchPoint){ segment->time_ns, segment->number };
}

/* --- stalls --- */

static void
remove_stall(WpFlowWatch *watch, guint i)
{
	watch->n_stalls--;
	memmove(watch->stalls + i, watch->stalls + i + 1,
		(watch->n_stalls - i) * sizeof watch->stalls[0]);
}

/*
 * No time is held up twice: what overlaps the stall before begins where that ended. (transfer none) NULL where
 * nothing is left.
 */
static WpFlowWatchStall *
add_stall(WpFlowWatch *watch, WpTransportKind kind, WpFlowWatchPoint begin, WpFlowWatchPoint end)
{
	const WpTransport *last = watch->n_stalls ? &watch->stalls[watch->n_stalls - 1].what : NULL;

	if (last && last->end_ns > begin.time_ns)
		begin = (WpFlowWatchPoint){ last->end_ns, last->last };
	if (end.time_ns <= begin.time_ns)
		return NULL;
	if (watch->n_stalls == WP_FLOW_WATCH_MAX_STALLS) {
		remove_stall(watch, 0);
		watch->n_left_out++;
	}
	WpFlowWatchStall *stall = &watch->stalls[watch->n_stalls++];
	*stall = (WpFlowWatchStall){ .what = { .kind = kind,
					       .begin_ns = begin.time_ns,
					       .end_ns = end.time_ns,
					       .first = begin.packet,
					       .last = end.packet } };
	return stall;
}

/* FROM says that what it had already has come again: nobody was held up by that. */
static void
take_double(WpFlowWatch *watch, WpDirection from, const WpSegment *segment)
{
	for (guint i = watch->n_stalls; i-- > 0;) {
		const WpFlowWatchStall *stall = &watch->stalls[i];
		if (stall->is_resent && !stall->is_told && stall->from != from &&
		    !is_after(segment->twice_begin, stall->seq) &&
		    !is_after(stall->end, segment->twice_end)) {
			remove_stall(watch, i);
			return;
		}
	}
}

/* --- what was sent, and when --- */

static void
note_rtt(WpFlowWatchSide *to, gint64 rtt_ns)
{
	if (rtt_ns <= 0 || (to->rtt_ns && rtt_ns >= to->rtt_ns))
		return;
	to->rtt_ns = rtt_ns;
	to->is_rtt_new = 1;
}

static void
remember(WpFlowWatchSide *side, guint32 end, const WpSegment *segment)
{
	if (side->n_sent == WP_FLOW_WATCH_MAX_SENT) {
		for (guint i = 1; i < WP_FLOW_WATCH_MAX_SENT / 2; i++)
			side->sent[i] = side->sent[2 * i];
		side->n_sent = WP_FLOW_WATCH_MAX_SENT / 2;
	}
	side->sent[side->n_sent++] = (WpFlowWatchSent){ .at = point_of(segment), .end = end };
}

/* The segment that holds the byte before END, or the nearest behind it. */
static WpFlowWatchSent *
find_sent(WpFlowWatchSide *side, guint32 end)
{
	for (guint i = 0; i < side->n_sent; i++)
		if (!is_after(end, side->sent[i].end))
			return &side->sent[i];
	return NULL;
}

/* ACK has come for what SIDE sent. */
static void
advance(WpFlowWatchSide *side, WpFlowWatchSide *other, const WpSegment *segment)
{
	const WpFlowWatchSent *exact = find_sent(side, segment->ack);
	/* One with payload has waited for what that holds; of one sent again nobody knows which it is for. */
	gboolean is_exact =
		!segment->length && exact && exact->end == segment->ack && !exact->is_resent;
	guint n = 0, gone;

	side->is_late = 0;
	if (is_exact) {
		gint64 took_ns = segment->time_ns - exact->at.time_ns;
		side->is_late = segment->ack == side->top && took_ns >= LATE_NS;
		side->late = exact->at;
		side->late_ns = segment->time_ns;
		note_rtt(other, took_ns);
	}
	for (gone = 0; gone < side->n_sent && !is_after(side->sent[gone].end, segment->ack); gone++)
		;
	for (; gone + n < side->n_sent; n++)
		side->sent[n] = side->sent[gone + n];
	side->n_sent = (guint8)n;
	side->acked = segment->ack;
	side->n_equal = 0;
}

/* With SACK room may grow meanwhile (RFC 6675 section 2), else nothing may (RFC 5681 section 2). */
static void
take_ack(WpFlowWatch *watch, WpDirection from, const WpSegment *segment)
{
	WpFlowWatchSide *own = &watch->sides[from], *other = &watch->sides[!from];
	gboolean tells_double = segment->twice_begin != segment->twice_end;
	gboolean is_bare =
		!segment->length && !tells_double && !(segment->flags & (WP_TCP_SYN | WP_TCP_FIN));

	if (!other->is_known)
		return;
	if (tells_double)
		take_double(watch, from, segment);
	if (is_after(segment->ack, other->acked) && !is_after(segment->ack, other->top)) {
		advance(other, own, segment);
	} else if (segment->ack == other->acked && is_bare && is_after(other->top, other->acked) &&
		   (segment->has_hole || segment->window == own->window)) {
		other->n_equal = MIN(other->n_equal + 1, 100);
		other->equal_ns = segment->time_ns;
	}
}

/*
 * Zero stays zero whatever the scale, which the SYN said. Who has sent all that there was room for waits from then on,
 * though it is told later, with a delayed acknowledgement.
 */
static void
take_window(WpFlowWatchSide *side, const WpFlowWatchSide *other, const WpSegment *segment)
{
	if (segment->window == 0 && !side->is_closed) {
		side->closed = other->last.packet ? other->last : point_of(segment);
		side->is_closed = 1;
		side->is_opened = 0;
	} else if (segment->window != 0 && side->is_closed) {
		side->opened = point_of(segment);
		side->is_closed = 0;
		side->is_opened = 1;
	}
	side->window = segment->window;
}

/* --- payload --- */

static gboolean
is_soon(const WpFlowWatchSide *to, gint64 since_ns, gint64 now_ns, gint64 least_ns)
{
	return now_ns - since_ns <= MAX(least_ns, 2 * to->rtt_ns);
}

/* It asks whether the other side is still there, or has room again. */
static gboolean
is_probe(const WpFlowWatchSide *side, const WpFlowWatchSide *other, const WpSegment *segment)
{
	return segment->length <= 1 && (other->is_closed || is_after(side->acked, segment->seq));
}

/*
 * Since when somebody waits at NOW for what is missing SINCE then: as long as the other segments of a message pass, it
 * would not have been whole either. Where they pass nearly up to NOW, they may be of other messages.
 */
static WpFlowWatchPoint
waits_since(const WpFlowWatchSide *side, WpFlowWatchPoint since, WpFlowWatchPoint now)
{
	gint64 more_ns = side->last.time_ns - since.time_ns;
	if (more_ns > 0 && more_ns < (now.time_ns - since.time_ns) / 2)
		since.time_ns = side->last.time_ns;
	return since;
}

/* SEGMENT, up to END, is not the first with these numbers. */
static void
take_again(WpFlowWatch *watch, WpDirection from, const WpSegment *segment, guint32 end)
{
	WpFlowWatchSide *side = &watch->sides[from], *other = &watch->sides[!from];
	WpFlowWatchSent *sent = find_sent(side, end);
	WpFlowWatchPoint now = point_of(segment);
	gboolean fills = is_after(side->hole_end, side->hole_begin) &&
			 !is_after(side->hole_begin, segment->seq) &&
			 !is_after(end, side->hole_end);
	WpFlowWatchPoint since = fills ? side->hole : sent ? sent->at : now;

	if (is_probe(side, other, segment) || !is_after(end, side->acked))
		return;
	if (fills)
		side->hole_begin = end;
	gboolean is_asked =
		side->n_equal > 0 && is_soon(side, side->equal_ns, segment->time_ns, ASKED_NS);
	if (now.time_ns - since.time_ns < REORDER_NS && !(is_asked && side->n_equal >= 3))
		return; /* overtaken on the way, or doubled */
	WpFlowWatchStall *stall =
		add_stall(watch, is_asked ? WP_TRANSPORT_FAST : WP_TRANSPORT_TIMEOUT,
			  waits_since(side, since, now), now);
	if (stall) {
		stall->is_resent = 1;
		stall->from = (guint8)from;
		stall->seq = segment->seq;
		stall->end = end;
	}
	if (sent) {
		sent->at = now;
		sent->is_resent = TRUE;
	}
}

/* Payload that passes for the first time: what has it waited for? */
static void
take_new(WpFlowWatch *watch, WpDirection from, const WpSegment *segment)
{
	WpFlowWatchSide *side = &watch->sides[from], *other = &watch->sides[!from];
	WpFlowWatchPoint now = point_of(segment);
	gboolean goes_on = watch->last_sender == from;

	if (other->is_opened) {
		if (goes_on && is_soon(side, other->opened.time_ns, now.time_ns, AT_ONCE_NS))
			add_stall(watch, WP_TRANSPORT_WINDOW, other->closed, now);
		other->is_opened = 0;
	}
	if (side->is_late && goes_on && segment->length < MAX(side->largest, SMALL) &&
	    is_soon(side, side->late_ns, now.time_ns, AT_ONCE_NS))
		add_stall(watch, WP_TRANSPORT_ACK, side->late, now);
	side->is_late = 0;
}

static void
begin_side(WpFlowWatchSide *side, guint32 seq)
{
	side->is_known = 1;
	side->top = side->acked = side->hole_begin = side->hole_end = seq;
}

static void
take_payload(WpFlowWatch *watch, WpDirection from, const WpSegment *segment)
{
	WpFlowWatchSide *side = &watch->sides[from];
	guint32 end = segment->seq + segment->length;

	if (!side->is_known)
		begin_side(side, segment->seq);
	if (!is_after(end, side->top)) {
		take_again(watch, from, segment, end);
		return;
	}
	take_new(watch, from, segment);
	if (is_after(segment->seq, side->top)) {
		side->hole = point_of(segment);
		side->hole_begin = side->top;
		side->hole_end = segment->seq;
	}
	side->top = end;
	side->last = point_of(segment);
	side->largest = MAX(side->largest, segment->length);
	remember(side, end, segment);
	watch->last_sender = (guint8)from;
}

/* --- connecting --- */

static void
take_syn(WpFlowWatch *watch, WpDirection from, const WpSegment *segment)
{
	WpFlowWatchPoint now = point_of(segment);

	begin_side(&watch->sides[from], segment->seq + 1);
	if (!(segment->flags & WP_TCP_ACK)) {
		if (!watch->syn.packet)
			watch->syn = now;
		else if (!watch->answer.packet)
			add_stall(watch, WP_TRANSPORT_TIMEOUT, watch->last_syn, now);
		watch->last_syn = now;
		return;
	}
	/* Of one that was sent again nobody knows which is answered. */
	if (watch->syn.packet && watch->last_syn.packet == watch->syn.packet)
		note_rtt(&watch->sides[from], now.time_ns - watch->syn.time_ns);
	watch->answer = now;
}

static void
take_connected(WpFlowWatch *watch, WpDirection from, const WpSegment *segment)
{
	watch->connected = point_of(segment);
	note_rtt(&watch->sides[from], segment->time_ns - watch->answer.time_ns);
}

void
wp_flow_watch_add(WpFlowWatch *watch, WpDirection from, const WpSegment *segment)
{
	if (segment->flags & WP_TCP_RST)
		return;
	if (segment->flags & WP_TCP_SYN) {
		take_syn(watch, from, segment);
		return;
	}
	if (!(segment->flags & WP_TCP_ACK))
		return;
	if (from == WP_FROM_CLIENT && watch->answer.packet && !watch->connected.packet)
		take_connected(watch, from, segment);
	take_ack(watch, from, segment);
	take_window(&watch->sides[from], &watch->sides[!from], segment);
	if (segment->length)
		take_payload(watch, from, segment);
}

/* --- telling --- */

/* The stall at I holds up no call any more. */
static void
forget_stall(WpFlowWatch *watch, guint i)
{
	watch->n_between += !watch->stalls[i].is_told;
	remove_stall(watch, i);
}

void
wp_flow_watch_end(WpFlowWatch *watch)
{
	while (watch->n_stalls)
		forget_stall(watch, 0);
}

void
wp_flow_watch_note_setup(WpFlowWatch *watch, const WpStamp *stamp)
{
	if (stamp->time_ns > watch->setup.time_ns || !watch->setup.packet)
		watch->setup = (WpFlowWatchPoint){ stamp->time_ns, stamp->packet };
}

static WpTransport
make(WpTransportKind kind, WpFlowWatchPoint begin, WpFlowWatchPoint end)
{
	return (WpTransport){ .kind = kind,
			      .begin_ns = begin.time_ns,
			      .end_ns = MAX(begin.time_ns, end.time_ns),
			      .first = begin.packet,
			      .last = end.packet };
}

guint
wp_flow_watch_take_setup(WpFlowWatch *watch, gint64 call_ns,
			 WpTransport out[WP_RECORD_MAX_TRANSPORTS])
{
	guint n = 0;

	if (watch->is_told)
		return 0;
	watch->is_told = 1;
	if (watch->syn.packet && watch->connected.packet)
		out[n++] = make(WP_TRANSPORT_CONNECT, watch->syn, watch->connected);
	if (watch->connected.packet && watch->setup.packet && watch->setup.time_ns <= call_ns)
		out[n++] = make(WP_TRANSPORT_SETUP, watch->connected, watch->setup);
	while (watch->n_stalls && n < WP_RECORD_MAX_TRANSPORTS &&
	       watch->stalls[0].what.end_ns <= call_ns) {
		out[n++] = watch->stalls[0].what;
		remove_stall(watch, 0);
	}
	return n;
}

guint
wp_flow_watch_take_stalls(WpFlowWatch *watch, gint64 call_ns, gint64 return_ns,
			  WpTransport out[WP_RECORD_MAX_TRANSPORTS])
{
	guint n = 0;

	for (guint i = 0; i < watch->n_stalls;) {
		WpFlowWatchStall *stall = &watch->stalls[i];
		if (stall->what.end_ns <= call_ns) {
			forget_stall(watch, i);
			continue;
		}
		/* Others that were at work may have been held up as well, so it stays. */
		if (stall->what.begin_ns < return_ns) {
			out[n++] = stall->what;
			stall->is_told = 1;
		}
		i++;
	}
	for (guint from = 0; from < 2; from++) {
		WpFlowWatchSide *side = &watch->sides[from];
		if (!side->is_rtt_new || n == WP_RECORD_MAX_TRANSPORTS)
			continue;
		out[n++] = (WpTransport){ .kind = from == WP_FROM_CLIENT ? WP_TRANSPORT_CLIENT_RTT
									 : WP_TRANSPORT_SERVER_RTT,
					  .begin_ns = return_ns - side->rtt_ns,
					  .end_ns = return_ns };
		side->is_rtt_new = 0;
	}
	return n;
}
