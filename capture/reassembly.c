/*
 * Reassembly of one TCP flow: see reassembly.h for what waits for what. RFC 9293 (segments, windows,
 * keep-alives: section 3.8.4). What to believe of SYNs and resets: reassembly-trust.c.
 *
 * What waits is kept per direction in a list by offset without overlaps; only the heads of the two
 * lists are ever looked at, so a segment costs the same however much waits behind it:
 *
 *   half[0]   next ...........|held|    |held|     head passes when offset <= next
 *   half[1]   next |held|                          and its ack <= next of the other half
 */
#include "capture/reassembly.h"

#include <string.h>

/* Offsets begin here plus the first sequence number, so that earlier ones are not negative. */
#define FIRST_OFFSET (G_GUINT64_CONSTANT(1) << 32)

/* Payload with all that travels with it. A FIN or RST stands behind its payload. */
typedef struct {
	guint64 offset;
	guint64 ack; /* offset in the other direction; 0 = none */
	gint64 time_ns;
	guint64 packet;
	const guint8 *data;
	guint32 captured;
	guint32 length;
	guint8 flags; /* WP_TCP_FIN, WP_TCP_RST */
} Piece;

struct WpHeldSegment {
	WpHeldSegment *next;
	Piece piece; /* its data: bytes */
	guint8 bytes[];
};

static guint64
end_of(const Piece *piece)
{
	return piece->offset + piece->length;
}

/* The offset nearest to NEAR that has the sequence number NUMBER. */
static guint64
unwrap(guint64 near, guint32 number)
{
	return near + (guint64)(gint64)(gint32)(number - (guint32)near);
}

static void
begin_half(WpHalf *half, guint32 number)
{
	half->is_known = 1;
	half->origin = half->next = half->acked = half->mark = FIRST_OFFSET + number;
}

static WpStamp
stamp_of(const WpReassembly *flow, guint side, const Piece *piece)
{
	const WpHalf *half = &flow->half[side], *other = &flow->half[!side];
	WpStamp stamp = { .time_ns = piece->time_ns,
			  .packet = piece->packet,
			  .offset = piece->offset - half->origin,
			  .peer = WP_NO_OFFSET,
			  .base = (guint32)half->origin };
	if (piece->ack && other->is_known) {
		guint64 ack = other->has_fin ? MIN(piece->ack, other->fin) : piece->ack;
		if (ack >= other->origin)
			stamp.peer = ack - other->origin;
	}
	return stamp;
}

/* Hands over PIECE, which begins at `next`. */
static void
pass(WpReassemblyEnv *env, WpReassembly *flow, guint side, const Piece *piece)
{
	WpHalf *half = &flow->half[side];
	WpStamp stamp = stamp_of(flow, side, piece);

	half->next = end_of(piece);
	if (half->last_ack <= half->next)
		half->inner_acks = 0;
	if (piece->captured)
		env->ops->bytes(env, flow, side, piece->data, piece->captured, &stamp);
	if (piece->length > piece->captured) {
		stamp.offset += piece->captured;
		env->ops->hole(env, flow, side, piece->length - piece->captured, &stamp,
			       piece->time_ns, FALSE);
	}
	if (piece->flags & WP_TCP_FIN && !half->is_ended) {
		stamp.offset = half->next - half->origin;
		half->fin = half->next++; /* a FIN takes one sequence number */
		half->has_fin = half->is_ended = 1;
		env->ops->end(env, flow, side, &stamp);
	}
	if (piece->flags & WP_TCP_RST) {
		flow->is_reset = 1;
		env->ops->reset(env, flow, &stamp);
	}
}

/* Removes N bytes at the front of PIECE. */
static void
cut_front(Piece *piece, guint64 n)
{
	guint32 seen = (guint32)MIN(n, piece->captured);
	piece->data += seen;
	piece->captured -= seen;
	piece->length -= (guint32)n;
	piece->offset += n;
}

/* Removes what was handed over before, or lies behind the end. FALSE where nothing is left. */
static gboolean
cut_old(const WpHalf *half, Piece *piece)
{
	if (piece->offset >= half->next && !half->is_ended)
		return TRUE;
	if (piece->flags & WP_TCP_RST) {
		piece->offset = half->next;
		return TRUE;
	}
	if (end_of(piece) < half->next || half->is_ended)
		return FALSE;
	cut_front(piece, half->next - piece->offset);
	return piece->length || piece->flags;
}

/*
 * TRUE where PIECE of SIDE need not wait for the other direction. A bare FIN or RST that acknowledges
 * one number more than was seen most likely answers a FIN that was not captured.
 */
static gboolean
is_caused(const WpReassembly *flow, guint side, const Piece *piece)
{
	const WpHalf *other = &flow->half[!side];
	guint64 ack = MIN(piece->ack, other->acked); /* a FIN may have shown that it was too high */
	return ack <= other->next || other->is_absent || other->is_ended ||
	       (!piece->length && ack == other->next + 1 && !other->first);
}

static void
link_copy(WpReassemblyEnv *env, WpHalf *half, WpHeldSegment **at, const Piece *piece)
{
	WpHeldSegment *held = g_malloc(sizeof *held + piece->captured);
	held->piece = *piece;
	held->piece.data = held->bytes;
	if (piece->captured)
		memcpy(held->bytes, piece->data, piece->captured);
	held->next = *at;
	*at = held;
	if (!held->next)
		half->last = held;
	half->held_bytes += piece->captured;
	half->n_held++;
	env->held_bytes += sizeof *held + piece->captured;
}

/* Takes the first that waits out of the list; to be freed with g_free(). */
static WpHeldSegment *
take_first(WpReassemblyEnv *env, WpHalf *half)
{
	WpHeldSegment *held = half->first;
	half->first = held->next;
	if (!half->first)
		half->last = NULL;
	half->held_bytes -= held->piece.captured;
	half->n_held--;
	env->held_bytes -= sizeof *held + held->piece.captured;
	return held;
}

/* Copies of the front part of PIECE, up to but without the byte at END. */
static void
link_front(WpReassemblyEnv *env, WpHalf *half, WpHeldSegment **at, const Piece *piece, guint64 end)
{
	Piece front = *piece;
	front.flags = 0;
	front.length = (guint32)(end - piece->offset);
	front.captured = MIN(front.captured, front.length);
	link_copy(env, half, at, &front);
}

/* TRUE where the bytes that A and B both have differ. Both cover OFFSET. */
static gboolean
is_conflict(const Piece *a, const Piece *b, guint64 offset)
{
	guint64 skip_a = offset - a->offset, skip_b = offset - b->offset;
	if (skip_a >= a->captured || skip_b >= b->captured)
		return FALSE;
	gsize n = MIN(a->captured - skip_a, b->captured - skip_b);
	return memcmp(a->data + skip_a, b->data + skip_b, n) != 0;
}

/* Keeps what is new in PIECE; returns whether anything was. */
static gboolean
hold(WpReassemblyEnv *env, WpHalf *half, Piece *piece)
{
	gboolean is_new = FALSE;
	WpHeldSegment **at = &half->first;

	if (half->last && piece->offset >= end_of(&half->last->piece))
		at = &half->last->next;
	while (*at && (end_of(&(*at)->piece) <= piece->offset ||
		       (!piece->length && (*at)->piece.offset < piece->offset)))
		at = &(*at)->next;
	while (*at && piece->length && end_of(piece) > (*at)->piece.offset) {
		WpHeldSegment *held = *at;
		if (piece->offset < held->piece.offset) {
			link_front(env, half, at, piece, held->piece.offset);
			cut_front(piece, held->piece.offset - piece->offset);
			is_new = TRUE;
		}
		if (is_conflict(&held->piece, piece, piece->offset))
			half->counts.conflicting++;
		cut_front(piece, MIN(end_of(&held->piece) - piece->offset, piece->length));
		at = &held->next;
	}
	if (!piece->length && !piece->flags)
		return is_new;
	link_copy(env, half, at, piece);
	return TRUE;
}

/* TRUE where the first that waits of SIDE need not wait any more. */
static gboolean
is_due(const WpReassembly *flow, guint side)
{
	const WpHalf *half = &flow->half[side];
	if (!half->first || flow->is_reset)
		return FALSE;
	return half->is_ended || (half->first->piece.offset <= half->next &&
				  is_caused(flow, side, &half->first->piece));
}

/* Hands over the first that waits of SIDE. */
static void
pass_first(WpReassemblyEnv *env, WpReassembly *flow, guint side)
{
	WpHalf *half = &flow->half[side];
	g_autofree WpHeldSegment *held = take_first(env, half);
	if (cut_old(half, &held->piece))
		pass(env, flow, side, &held->piece);
}

/* Hands over all that need not wait. */
static void
drain(WpReassemblyEnv *env, WpReassembly *flow)
{
	gboolean moved = !flow->is_settling;
	while (moved) {
		moved = FALSE;
		for (guint side = 0; side < 2; side++)
			while (is_due(flow, side)) {
				pass_first(env, flow, side);
				moved = TRUE;
			}
	}
}

/* How many segments were lost in the hole from `next` to END: each acknowledgement inside ends one. */
static guint32
estimate_lost(const WpReassemblyEnv *env, const WpHalf *half, guint64 end)
{
	guint64 n = half->inner_acks ? half->inner_acks + (half->last_ack < end) : 1;
	return wp_sizes_estimate(&half->sizes, env->largest, end - half->next, n);
}

/* Reports that the bytes of SIDE up to END are missing. */
static void
skip_hole(WpReassemblyEnv *env, WpReassembly *flow, guint side, guint64 end)
{
	WpHalf *half = &flow->half[side];
	guint64 length = end - half->next;

	if (half->gap_end != half->next)
		half->counts.gaps++;
	half->counts.gap_bytes += length;
	if (length <= WP_REASSEMBLY_FAR) /* more is a pause of the capture: not to be guessed at */
		half->counts.lost_segments += estimate_lost(env, half, end);
	gboolean is_late = half->late == half->next;
	half->gap_end = half->next = end;
	half->inner_acks = 0;
	env->ops->hole(env, flow, side, length, NULL,
		       half->cover >= end ? half->cover_ns : WP_NO_TIME, is_late);
}

/*
 * TRUE where bytes of SIDE were acknowledged that have not been seen. One number with nothing behind
 * it, that no payload waits for, is a FIN that was not captured.
 */
static gboolean
is_missing(const WpReassembly *flow, guint side)
{
	const WpHalf *half = &flow->half[side], *other = &flow->half[!side];
	if (half->is_absent || half->acked <= half->next || half->is_ended)
		return FALSE;
	return half->acked != half->next + 1 || half->first ||
	       (other->first && other->first->piece.length);
}

/* Which of the two heads was captured first. */
static guint
older_head(const WpReassembly *flow)
{
	const Piece *a = &flow->half[0].first->piece, *b = &flow->half[1].first->piece;
	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns;
	return a->packet > b->packet;
}

/* TRUE where the bytes of SIDE from `next` on are to be given up, up to OUT_END. */
static gboolean
find_hole(const WpReassembly *flow, guint side, guint64 *out_end)
{
	const WpHalf *half = &flow->half[side];
	if (half->next >= half->mark || half->is_ended ||
	    (half->first && half->first->piece.offset <= half->next))
		return FALSE;
	if (!half->first && !is_missing(flow, side))
		return FALSE;
	*out_end = half->first ? MIN(half->mark, half->first->piece.offset) : half->mark;
	return TRUE;
}

/* Hands over and gives up until both directions have come to their marks. */
static void
force(WpReassemblyEnv *env, WpReassembly *flow)
{
	for (;;) {
		guint64 end;
		drain(env, flow);
		if (flow->is_reset)
			return;
		if (find_hole(flow, 0, &end)) {
			skip_hole(env, flow, 0, end);
		} else if (find_hole(flow, 1, &end)) {
			skip_hole(env, flow, 1, end);
		} else if (flow->half[0].first && flow->half[1].first &&
			   flow->half[0].first->piece.offset <= flow->half[0].next &&
			   flow->half[1].first->piece.offset <= flow->half[1].next) {
			/* Each acknowledges the other: a late repetition; the order of capture decides. */
			pass_first(env, flow, older_head(flow));
		} else {
			return;
		}
	}
}

/*
 * The first bytes seen are the first: the origin of both directions is settled. What was acknowledged
 * before them may have passed before the capture began: it counts in the offsets, but as no gap.
 */
static void
settle(WpReassemblyEnv *env, WpReassembly *flow)
{
	flow->is_settling = 0;
	for (guint side = 0; side < 2; side++) {
		WpHalf *half = &flow->half[side];
		if (half->has_syn)
			continue;
		if (half->origin > half->next ||
		    half->next - half->origin > WP_REASSEMBLY_MAX_BYTES)
			half->origin = half->next;
	}
	for (guint side = 0; side < 2; side++) {
		const WpHalf *half = &flow->half[side];
		if (half->next > half->origin && !half->has_syn)
			env->ops->hole(env, flow, side, half->next - half->origin, NULL, WP_NO_TIME,
				       FALSE);
	}
	drain(env, flow);
}

/* A side that has not been seen up to now is not captured. */
static void
give_up_sides(WpReassembly *flow)
{
	for (guint side = 0; side < 2; side++)
		flow->half[side].is_absent = !flow->half[side].is_seen;
}

static gboolean
is_full(const WpHalf *half)
{
	return half->n_held >= WP_REASSEMBLY_MAX_SEGMENTS ||
	       half->held_bytes > WP_REASSEMBLY_MAX_BYTES;
}

/* Makes room: what waits at the heads goes until no more waits than may. */
static void
relieve(WpReassemblyEnv *env, WpReassembly *flow)
{
	while (!flow->is_reset && (is_full(&flow->half[0]) || is_full(&flow->half[1]))) {
		give_up_sides(flow);
		if (flow->is_settling)
			settle(env, flow);
		for (guint side = 0; side < 2; side++) {
			WpHalf *half = &flow->half[side], *other = &flow->half[!side];
			if (!half->first)
				continue;
			half->mark = MAX(half->mark, half->first->piece.offset);
			other->mark = MAX(other->mark, half->first->piece.ack);
		}
		force(env, flow);
	}
}

/*
 * The bytes of HALF up to ACK had passed at TIME_NS. Where it is not known how far the present hole
 * goes, each acknowledgement may be the first of all of it.
 */
static void
note_cover(WpHalf *half, guint64 ack, gint64 time_ns)
{
	if (ack <= half->next ||
	    (half->cover > half->next && half->first && half->cover >= half->first->piece.offset))
		return;
	half->cover = ack;
	half->cover_ns = time_ns;
}

/* SEGMENT acknowledges the bytes of HALF up to ACK, and says that some behind those have come. */
static void
note_late(WpHalf *half, const WpSegment *segment, guint64 ack)
{
	if (segment->has_hole && ack == half->next)
		half->late = ack;
}

/* NUMBER is acknowledged of HALF, which may have begun with one of two numbers. */
static void
choose_origin(WpHalf *half, guint32 number)
{
	if (half->has_rival && number == half->rival && half->next == half->origin && !half->first)
		begin_half(half, number);
	half->has_rival = 0;
}

/* Takes the acknowledgement of SEGMENT, sent by SIDE; returns its offset, 0 where it makes no sense. */
static guint64
take_ack(WpReassembly *flow, guint side, const WpSegment *segment)
{
	WpHalf *half = &flow->half[!side];
	guint32 number = segment->ack;
	if (!half->is_known) {
		begin_half(half, number);
		flow->is_settling |= flow->half[side].has_syn; /* its own SYN may come late */
	}
	choose_origin(half, number);
	/* Of a side that is not captured, what is acknowledged is all that is known. */
	guint64 near = half->is_seen ? half->next : half->acked;
	guint64 ack = unwrap(near, number);
	if (half->has_fin)
		ack = MIN(ack, half->fin + 1);
	if (flow->is_settling && !half->has_syn && !half->first && ack < half->next)
		half->origin = half->next = ack;
	note_late(half, segment, ack);
	if (ack <= half->acked)
		return ack;
	if (ack > near + WP_REASSEMBLY_FAR &&
	    !(half->last && ack <= end_of(&half->last->piece) + 1))
		return 0;
	half->acked = ack;
	note_cover(half, ack, segment->time_ns);
	if (ack > half->next && (!half->first || ack < half->first->piece.offset)) {
		half->inner_acks++;
		half->last_ack = ack;
	}
	return ack;
}

/* A SYN tells where its direction begins, and its ACK where the other one does. */
static void
take_syn(WpReassemblyEnv *env, WpReassembly *flow, guint side, const WpSegment *segment)
{
	WpHalf *half = &flow->half[side];
	guint32 first = segment->seq + 1;
	if (wp_reassembly_is_rival(flow, side, segment)) {
		half->has_rival = 1;
		half->rival = first;
		return;
	}
	if (!half->is_known)
		begin_half(half, first);
	if (flow->is_settling && !half->has_syn) {
		half->origin = half->next = unwrap(half->next, first);
		half->has_fin &= half->fin >= half->next;
	}
	half->has_syn = 1;
	if (flow->is_settling && (flow->half[!side].has_syn || segment->flags & WP_TCP_ACK))
		settle(env, flow);
}

/*
 * TRUE where PIECE is near enough to what is expected, or follows one that was too far off already:
 * then the capture has paused, or the sender's numbers were changed on the way, and all between is a
 * hole. Offsets only grow: what seems to lie far behind is taken as far ahead.
 */
static gboolean
believe(WpReassemblyEnv *env, WpReassembly *flow, guint side, Piece *piece)
{
	WpHalf *half = &flow->half[side];
	guint32 number = (guint32)piece->offset;
	gint64 distance = (gint64)(piece->offset - half->next);

	if (distance <= WP_REASSEMBLY_FAR && distance >= -WP_REASSEMBLY_FAR)
		return TRUE;
	gboolean again = half->has_strange && half->strange == number && !half->has_fin;
	half->has_strange = 1;
	half->strange = number + piece->length;
	half->counts.strange += !again;
	if (!again)
		return FALSE;
	half->has_strange = 0;
	wp_reassembly_flush(env, flow);
	if (flow->is_reset)
		return FALSE;
	piece->offset = half->next + (guint32)(number - (guint32)half->next);
	if (piece->offset > half->next)
		skip_hole(env, flow, side, piece->offset);
	return TRUE;
}

/* While the origin is not settled: keeps PIECE, and moves the origin to it where it is earlier. */
static gboolean
place_first(WpHalf *half, Piece *piece)
{
	if (half->has_syn)
		return cut_old(half, piece);
	if (!half->first || piece->offset < half->next) {
		gboolean far = half->first && half->next - piece->offset > WP_REASSEMBLY_MAX_BYTES;
		half->counts.strange += far;
		if (far)
			return FALSE;
		half->next = piece->offset;
	}
	return TRUE;
}

/* Takes note of a FIN, and cuts what lies behind one. FALSE where nothing is left. */
static gboolean
cut_at_fin(WpHalf *half, Piece *piece)
{
	const Piece *last = half->last ? &half->last->piece : NULL;
	if (piece->flags & WP_TCP_FIN && !half->has_fin && last && last->length &&
	    end_of(last) > end_of(piece)) {
		half->counts.conflicting++; /* it came after bytes that lie behind it */
		piece->flags = 0;
	}
	if (!half->has_fin && piece->flags & WP_TCP_FIN) {
		half->has_fin = 1;
		half->fin = end_of(piece);
		half->acked = MIN(half->acked, half->fin + 1);
		half->mark = MIN(half->mark, half->fin + 1);
	}
	if (!half->has_fin || end_of(piece) <= half->fin)
		return piece->length || piece->flags;
	half->counts.conflicting++;
	if (piece->offset >= half->fin)
		return FALSE;
	piece->length = (guint32)(half->fin - piece->offset);
	piece->captured = MIN(piece->captured, piece->length);
	piece->flags = 0;
	return TRUE;
}

/*
 * TRUE where PIECE has something to say, after cutting off what has not: too far off, handed over
 * before, behind the FIN.
 */
static gboolean
trim(WpReassemblyEnv *env, WpReassembly *flow, guint side, Piece *piece)
{
	WpHalf *half = &flow->half[side];
	guint32 length = piece->length;
	guint64 end = end_of(piece);

	if (flow->is_settling) {
		if (!place_first(half, piece))
			return FALSE;
	} else if (!believe(env, flow, side, piece)) {
		return FALSE;
	} else if (!cut_old(half, piece)) {
		/* One byte or none just before the expected one asks whether the other side lives. */
		if (half->is_ended && end > half->next)
			half->counts.conflicting++;
		else
			half->counts.retransmitted += length > 1 || (length && end != half->next);
		return FALSE;
	}
	return piece->flags & WP_TCP_RST || cut_at_fin(half, piece);
}

/* A piece that cannot simply pass: late, early, blocked, with a FIN or RST. */
static void
add_piece(WpReassemblyEnv *env, WpReassembly *flow, guint side, Piece *piece)
{
	WpHalf *half = &flow->half[side];
	gboolean has_payload = piece->length > 0, is_new = TRUE;

	if (!trim(env, flow, side, piece))
		return;
	gboolean is_late = half->last && piece->offset < half->last->piece.offset;
	if (!flow->is_settling && piece->offset == half->next && is_caused(flow, side, piece) &&
	    (!half->first || end_of(piece) <= half->first->piece.offset))
		pass(env, flow, side, piece);
	else
		is_new = hold(env, half, piece);
	if (has_payload) {
		half->counts.reordered += is_new && is_late;
		half->counts.retransmitted += !is_new;
	}
	drain(env, flow);
	relieve(env, flow);
}

static void
add_reset(WpReassemblyEnv *env, WpReassembly *flow, guint side, const WpSegment *segment,
	  guint64 ack)
{
	WpHalf *half = &flow->half[side];
	if (!wp_reassembly_believes_reset(flow, side, segment)) {
		half->counts.strange++;
		return;
	}
	if (!half->is_known)
		begin_half(half, segment->seq);
	guint64 offset = unwrap(half->next, segment->seq);
	if (offset < half->next || offset > half->next + WP_REASSEMBLY_MAX_BYTES)
		offset = half->next;
	if (half->has_fin)
		offset = MIN(offset, half->fin + 1);
	/* What its sender had acknowledged passed before it, whether it says so or not. */
	Piece piece = { .offset = offset,
			.ack = MAX(ack, flow->half[!side].acked),
			.time_ns = segment->time_ns,
			.packet = segment->number,
			.flags = WP_TCP_RST };
	half->has_reset = 1;
	add_piece(env, flow, side, &piece);
}

/* TRUE where the first segment of a direction is a keep-alive with its byte of rubbish, a zero. */
static gboolean
is_probe(const WpReassembly *flow, const WpHalf *half, const WpSegment *segment)
{
	guint8 flags = segment->flags & (WP_TCP_PSH | WP_TCP_FIN | WP_TCP_SYN);
	return flow->is_settling && !half->first && segment->length == 1 && !flags &&
	       !(segment->captured && *segment->payload);
}

static void
add_payload(WpReassemblyEnv *env, WpReassembly *flow, guint side, const WpSegment *segment,
	    guint64 ack)
{
	WpHalf *half = &flow->half[side];
	const WpHalf *other = &flow->half[!side];
	guint32 first = segment->seq + !!(segment->flags & WP_TCP_SYN);
	if (is_probe(flow, half, segment))
		return;
	if (!half->is_known) {
		begin_half(half, first);
		flow->is_settling |= other->has_syn; /* its own SYN may come late */
	}
	wp_sizes_add(&half->sizes, segment->length);
	env->largest = MAX(env->largest, segment->length);
	Piece piece = { .offset = unwrap(half->next, first),
			.ack = ack,
			.time_ns = segment->time_ns,
			.packet = segment->number,
			.data = segment->payload,
			.captured = segment->captured,
			.length = segment->length,
			.flags = segment->flags & WP_TCP_FIN };
	if (piece.offset == half->next && !half->first && !piece.flags && !half->has_fin &&
	    !flow->is_settling && (ack <= other->next || other->is_absent)) {
		pass(env, flow, side, &piece);
		if (other->first)
			drain(env, flow);
	} else {
		add_piece(env, flow, side, &piece);
	}
}

void
wp_reassembly_add(WpReassemblyEnv *env, WpReassembly *flow, guint side, const WpSegment *segment)
{
	WpHalf *half = &flow->half[side];
	if (flow->is_reset)
		return;
	if (!flow->has_begun) {
		flow->has_begun = 1;
		flow->is_settling = !(segment->flags & WP_TCP_SYN);
	}
	half->is_seen = 1;
	half->is_absent = 0;
	half->counts.segments += segment->length > 0;
	guint64 ack = segment->flags & WP_TCP_ACK ? take_ack(flow, side, segment) : 0;
	if (segment->flags & WP_TCP_SYN)
		take_syn(env, flow, side, segment);
	if (flow->is_reset) /* by one that had waited */
		return;
	if (segment->flags & WP_TCP_RST)
		add_reset(env, flow, side, segment, ack);
	else if (segment->length || segment->flags & WP_TCP_FIN)
		add_payload(env, flow, side, segment, ack);
}

WpWait
wp_reassembly_wait(const WpReassembly *flow)
{
	const WpHalf *a = &flow->half[0], *b = &flow->half[1];
	if (flow->is_reset)
		return WP_WAIT_NONE;
	if (flow->is_settling || a->has_reset || b->has_reset || is_missing(flow, 0) ||
	    is_missing(flow, 1))
		return WP_WAIT_ORDER;
	return a->first || b->first ? WP_WAIT_RESEND : WP_WAIT_NONE;
}

gboolean
wp_reassembly_caught_up(const WpReassembly *flow)
{
	return !flow->is_settling && flow->half[0].next >= flow->half[0].mark &&
	       flow->half[1].next >= flow->half[1].mark;
}

void
wp_reassembly_mark(WpReassembly *flow)
{
	WpWait wait = wp_reassembly_wait(flow);
	for (guint side = 0; side < 2; side++) {
		WpHalf *half = &flow->half[side];
		half->mark = half->next;
		if (!half->is_absent)
			half->mark = MAX(half->mark, half->acked);
		if (half->first && wait == WP_WAIT_RESEND)
			half->mark = MAX(half->mark, half->first->piece.offset);
		if (half->has_reset && half->last)
			half->mark = MAX(half->mark, half->last->piece.offset);
	}
}

void
wp_reassembly_expire(WpReassemblyEnv *env, WpReassembly *flow, WpWait wait)
{
	give_up_sides(flow);
	if (flow->is_settling)
		settle(env, flow);
	else if (wait == WP_WAIT_RESEND)
		wp_reassembly_flush(env, flow);
	else
		force(env, flow);
}

void
wp_reassembly_flush(WpReassemblyEnv *env, WpReassembly *flow)
{
	give_up_sides(flow);
	if (flow->is_settling)
		settle(env, flow);
	for (guint side = 0; side < 2; side++) {
		WpHalf *half = &flow->half[side];
		half->mark = half->is_seen ? MAX(half->next, half->acked) : half->next;
		if (half->last)
			half->mark = MAX(half->mark, half->last->piece.offset);
	}
	force(env, flow);
}

/* TRUE where this side's end was seen or, with the other side ended, acknowledged. */
static gboolean
half_is_over(const WpHalf *half, const WpHalf *other)
{
	return half->is_ended ||
	       (other->is_ended && half->is_known && half->acked == half->next + 1 && !half->first);
}

gboolean
wp_reassembly_is_over(const WpReassembly *flow)
{
	return flow->is_reset || (half_is_over(&flow->half[0], &flow->half[1]) &&
				  half_is_over(&flow->half[1], &flow->half[0]));
}

void
wp_reassembly_clear(WpReassemblyEnv *env, WpReassembly *flow)
{
	for (guint side = 0; side < 2; side++)
		while (flow->half[side].first)
			g_free(take_first(env, &flow->half[side]));
}
