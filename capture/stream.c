/*
 * Stream: from ordered bytes to units. What a decoder has not consumed is kept with the stamps of its
 * packets; what belongs to a unit already understood is skipped as it comes; after a hole the next
 * packet that can begin a message is looked for.
 */
#include "capture/stream.h"

#include <string.h>

#include "capture/stream-private.h"

/*
 * Where the last bytes of a message were not seen, but acknowledged so soon after the last one that was,
 * that one's time is taken for the end. More would be a time that was not measured.
 */
#define END_TOLERANCE G_GINT64_CONSTANT(1000) /* ns */

static void
note_unseen_begin(WpStream *stream)
{
	for (int i = 0; i < 2; i++) {
		stream->pairings[i].hole_in_calls = TRUE;
		stream->pairings[i].hole_in_returns = TRUE;
	}
}

WpStream *
wp_stream_new(const WpStreamShared *shared, const WpStreamInfo *info)
{
	WpStream *stream = g_new0(WpStream, 1);
	stream->context.stream = stream;
	stream->shared = shared;
	stream->info = *info;
	stream->nodes[0] = stream->nodes[1] = WP_NO_NODE;
	for (int i = 0; i < 2; i++)
		stream->fins[i] = stream->fin_peers[i] = WP_NO_OFFSET;
	if (!info->from_start && !info->is_udp)
		note_unseen_begin(
			stream); /* what was asked before the capture began is not known */
	/* What is inside another stream is detected, or told by what is around it. */
	stream->may_have_front = info->from_start && !info->is_udp && info->depth == 0;
	if (shared->forced && info->depth == 0) {
		stream->is_forced = info->server.port == shared->forced_port ||
				    info->client.port == shared->forced_port;
		if (info->server.port != shared->forced_port)
			stream->forced_client = WP_FROM_SERVER;
	}
	if (!stream->may_have_front)
		wp_stream_force(stream);
	if (stream->decoder && !info->from_start && !info->is_udp)
		stream->sides[0].is_lost = stream->sides[1].is_lost = TRUE;
	return stream;
}

static void
drop_state(WpStream *stream)
{
	if (stream->state && stream->decoder->clear)
		stream->decoder->clear(stream->state);
	g_clear_pointer(&stream->state, g_free);
	stream->decoder = NULL;
	stream->protocol = 0;
}

void
wp_stream_free(WpStream *stream)
{
	if (!stream)
		return;
	drop_state(stream);
	wp_stream_drop_beneath(stream);
	wp_inner_free(stream->inner);
	wp_stream_drop_held(stream);
	wp_stream_drop_early(stream);
	for (int i = 0; i < 2; i++) {
		g_free(stream->sides[i].kept);
		if (stream->sides[i].pieces != &stream->sides[i].first_piece)
			g_free(stream->sides[i].pieces);
		wp_pairing_clear(&stream->pairings[i]);
	}
	wp_stream_free_held(stream);
	g_free(stream);
}

void
wp_stream_drop_beneath(WpStream *stream)
{
	if (stream->beneath && stream->beneath->clear)
		stream->beneath->clear(stream->beneath_state);
	g_clear_pointer(&stream->beneath_state, g_free);
	stream->beneath = NULL;
}

/* What was spoken so far goes on inside TLS; with keys it will be seen. */
static void
keep_beneath(WpStream *stream)
{
	if (!stream->shared->keylog || stream->decoder->is_tunnel)
		return;
	wp_stream_drop_beneath(stream);
	stream->beneath = stream->decoder;
	stream->beneath_state = g_steal_pointer(&stream->state);
}

void
wp_stream_set_decoder(WpStream *stream, const WpDecoder *decoder)
{
	drop_state(stream);
	stream->decoder = decoder;
	stream->state = g_malloc0(MAX(decoder->state_size, 1));
	for (int i = 0; i < 2; i++) {
		WpSide *side = &stream->sides[i];
		side->open = side->unit_message = NULL;
		side->unit_becomes = NULL;
		side->unit_emits = FALSE;
		side->skip = 0;
		side->need = 0;
	}
}

/* Where the user says what the flow speaks: nothing has come yet. */
void
wp_stream_force(WpStream *stream)
{
	if (!stream->is_forced || stream->decoder)
		return;
	stream->is_swapped = stream->forced_client == WP_FROM_SERVER;
	wp_stream_set_decoder(stream, stream->shared->forced);
}

/* --- unread bytes and their stamps --- */

static void
grow_pieces(WpSide *side)
{
	if (side->pieces_allocated == 0) {
		side->pieces = &side->first_piece;
		side->pieces_allocated = 1;
		return;
	}
	side->pieces_allocated *= 4;
	if (side->pieces != &side->first_piece) {
		side->pieces = g_renew(WpPiece, side->pieces, side->pieces_allocated);
		return;
	}
	side->pieces = g_new(WpPiece, side->pieces_allocated);
	side->pieces[0] = side->first_piece;
}

static void
add_piece(WpSide *side, guint64 end, const WpStamp *stamp)
{
	if (side->n_pieces == side->pieces_allocated)
		grow_pieces(side);
	WpPiece *piece = &side->pieces[side->n_pieces++];
	piece->end = end;
	piece->stamp = *stamp;
}

/*
 * The stamp of the unread byte AT bytes from the front. It is made where it is to stand: a processor waits where
 * what was written in parts just now is copied in larger pieces.
 */
static inline void
put_stamp_at(const WpSide *side, gsize at, WpStamp *out)
{
	guint64 offset = side->offset + at;
	guint i = 0;
	while (i + 1 < side->n_pieces && side->pieces[i].end <= offset)
		i++;
	*out = side->pieces[i].stamp;
	out->offset = offset;
}

/*
 * The stamp of the unread byte AT bytes from the front, with the time at which all bytes up to there had come: those
 * behind a hole that is filled late were there before.
 */
static inline void
put_stamp_until(const WpSide *side, gsize at, WpStamp *out)
{
	put_stamp_at(side, at, out);
	for (guint i = 0; i < side->n_pieces && side->n_pieces > 1; i++) {
		if (side->pieces[i].stamp.time_ns > out->time_ns) {
			out->time_ns = side->pieces[i].stamp.time_ns;
			out->packet = side->pieces[i].stamp.packet;
		}
		if (side->pieces[i].end > side->offset + at)
			break;
	}
}

static void
consume(WpSide *side, gsize n)
{
	guint gone = 0;
	side->unread += n;
	side->n_unread -= n;
	side->offset += n;
	side->need = 0;
	if (side->n_unread == 0) {
		side->n_pieces = 0;
		return;
	}
	while (gone < side->n_pieces && side->pieces[gone].end <= side->offset)
		gone++;
	if (gone) {
		side->n_pieces -= gone;
		memmove(side->pieces, side->pieces + gone, side->n_pieces * sizeof(WpPiece));
	}
}

/* Puts DATA behind the unread bytes; without any, DATA itself becomes them (no copy). */
static void
append(WpSide *side, const guint8 *data, gsize length, const WpStamp *stamp)
{
	if (side->n_unread == 0) {
		side->unread = data;
		side->n_unread = length;
	} else {
		gsize total = side->n_unread + length;
		if (side->unread != side->kept)
			memmove(side->kept, side->unread, side->n_unread);
		if (total > side->kept_allocated) {
			side->kept_allocated = MAX(total, side->kept_allocated * 2);
			side->kept = g_realloc(side->kept, side->kept_allocated);
		}
		memcpy(side->kept + side->n_unread, data, length);
		side->unread = side->kept;
		side->n_unread = total;
	}
	add_piece(side, side->offset + side->n_unread, stamp);
}

/* Before the packet's bytes go: what is still unread is copied. */
static void
keep_rest(WpSide *side)
{
	if (side->n_unread == 0) {
		side->unread = NULL;
		g_clear_pointer(&side->kept, g_free);
		side->kept_allocated = 0;
		return;
	}
	if (side->kept && side->unread >= side->kept &&
	    side->unread < side->kept + side->kept_allocated)
		return;
	if (side->n_unread > side->kept_allocated) {
		side->kept_allocated = side->n_unread;
		side->kept = g_realloc(side->kept, side->kept_allocated);
	}
	memcpy(side->kept, side->unread, side->n_unread);
	side->unread = side->kept;
}

/* --- units --- */

/*
 * So many bytes were added to the message that the unit belongs to: the first unread ones or, with END, what was not
 * captured.
 */
static void
extend(const WpSide *side, WpMessage *message, guint64 bytes, const WpStamp *end)
{
	if (!message || !message->is_open)
		return;
	gint64 latest_ns = message->end.time_ns;
	guint64 latest = message->end.packet;
	message->bytes += bytes;
	if (end)
		message->end = *end;
	else
		put_stamp_until(side, bytes - 1, &message->end);
	if (latest_ns > message->end.time_ns) {
		message->end.time_ns = latest_ns;
		message->end.packet = latest;
	}
	message->is_cut = message->late_ns > message->end.time_ns + END_TOLERANCE;
}

/*
 * The same with bytes that were not seen, but had passed by BY_NS. Where they came LATE, what stands behind them was
 * there before, and its time is not that of the end.
 */
static void
extend_unseen(WpMessage *message, guint64 bytes, gint64 by_ns, gboolean is_late)
{
	if (!message || !message->is_open)
		return;
	if (by_ns == WP_NO_TIME)
		by_ns = G_MAXINT64;
	if (is_late)
		message->late_ns = MAX(message->late_ns, by_ns);
	message->bytes += bytes;
	message->is_cut = MAX(by_ns, message->late_ns) > message->end.time_ns + END_TOLERANCE;
}

static void
finish_unit(WpStream *stream, WpDirection from)
{
	WpSide *side = &stream->sides[from];
	WpMessage *message = side->unit_message;
	const WpDecoder *becomes = side->unit_becomes;
	gboolean emits = side->unit_emits;

	side->unit_message = NULL;
	side->unit_becomes = NULL;
	side->unit_emits = FALSE;
	if (emits && message)
		wp_stream_emit(stream, message);
	if (becomes == &wp_decoder_tls)
		keep_beneath(stream);
	if (becomes)
		wp_stream_set_decoder(stream, becomes);
}

/* MESSAGE begins with the first of the unread bytes, of which the first TAKE are its own. */
static void
begin_message(WpSide *side, WpDirection from, gsize take, WpMessage *message)
{
	put_stamp_at(side, 0, &message->begin);
	put_stamp_until(side, take - 1, &message->end);
	message->bytes = 0;
	message->late_ns = 0;
	message->is_open = TRUE;
	message->from = (guint8)from;
	side->open = message;
}

/* Makes what has come of the unit part of its message. */
static void
apply_unit(WpStream *stream, WpDirection from, const WpUnit *unit)
{
	WpSide *side = &stream->sides[from];
	gsize take = MIN(unit->length, side->n_unread);
	WpMessage *message = unit->emits     ? unit->emits
			     : unit->extends ? unit->extends
					     : unit->opens;

	if (unit->emits_first)
		wp_stream_emit(stream, unit->emits_first);
	if (unit->opens)
		begin_message(side, from, take, unit->opens);
	if (message && message == unit->opens) { /* has its end */
		message->bytes = take;
		message->is_cut = FALSE;
	} else {
		extend(side, message, take, NULL);
	}
	side->unit_message = message;
	side->unit_emits = unit->emits != NULL;
	side->unit_becomes = unit->becomes;
	consume(side, take);
	side->skip = unit->length == G_MAXSIZE ? G_MAXUINT64 : unit->length - take;
	if (side->skip == 0)
		finish_unit(stream, from);
}

/* Bytes of the current unit that have come now. */
static void
skip_bytes(WpStream *stream, WpDirection from)
{
	WpSide *side = &stream->sides[from];
	gsize n = (gsize)MIN(side->skip, side->n_unread);

	extend(side, side->unit_message, n, NULL);
	consume(side, n);
	if (side->skip == G_MAXUINT64)
		return;
	side->skip -= n;
	if (side->skip == 0)
		finish_unit(stream, from);
}

static void
drop_unread(WpStream *stream, WpDirection from)
{
	WpSide *side = &stream->sides[from];
	if (side->n_unread == 0)
		return;
	wp_counters_add(stream->shared->counters, WP_COUNT_BYTES_SKIPPED, side->n_unread);
	consume(side, side->n_unread);
}

/* What was being decoded in this direction cannot go on: a hole, or bytes that make no sense. */
static void
lose_thread(WpStream *stream, WpDirection from)
{
	WpSide *side = &stream->sides[from];
	WpMessage *open = side->open;

	/* The begin of this call was seen, so it is a call, whatever its rest was. */
	if (open && open->is_open && open->kind == WP_KIND_CALL)
		wp_stream_emit(stream, open);
	wp_stream_note_lost(stream, from);
	side->open = side->unit_message = NULL;
	side->unit_becomes = NULL;
	side->unit_emits = FALSE;
	side->skip = 0;
	side->is_lost = TRUE;
	if (stream->decoder && stream->decoder->lost)
		stream->decoder->lost(stream->state, &stream->context, from);
	wp_stream_note_hole(stream, from);
}

/* TRUE where so much has made sense that the name of the protocol is right. */
static gboolean
is_confirmed(const WpStream *stream)
{
	return stream->is_sure || (stream->has_emitted[0] && stream->has_emitted[1]) ||
	       stream->n_emitted > 3 || stream->decoder == &wp_decoder_generic ||
	       stream->decoder == stream->shared->forced;
}

/* What one side has sent is done with, and nothing is known of what comes. */
static void
forget_side(WpStream *stream, WpDirection from)
{
	WpSide *side = &stream->sides[from];
	drop_unread(stream, from);
	g_free(side->kept);
	if (side->pieces != &side->first_piece)
		g_free(side->pieces);
	*side = (WpSide){ .offset = side->offset, .is_ended = side->is_ended };
	stream->spells[from] = stream->ended[from] = (WpSpell){ 0 };
	stream->has_emitted[from] = FALSE;
}

void
wp_stream_give_up(WpStream *stream)
{
	stream->n_retries++;
	wp_stream_forget_calls(stream);
	drop_state(stream);
	for (int i = 0; i < 2; i++) {
		forget_side(stream, i);
		wp_pairing_clear(&stream->pairings[i]);
	}
	stream->n_emitted = 0;
	stream->n_turns = 0;
	if (!stream->info.is_udp)
		note_unseen_begin(stream);
	if (stream->is_swapped)
		wp_stream_swap_sides(stream);
}

/* In mid-stream bytes may look like anything. FALSE where that was found out too often. */
static gboolean
retry(WpStream *stream)
{
	if (stream->info.from_start || stream->info.is_udp ||
	    stream->n_retries == WP_STREAM_MAX_RETRIES || stream->inner || stream->beneath)
		return FALSE;
	wp_stream_give_up(stream);
	return TRUE;
}

/* The decoder does not understand: give it up if it never did, else look for the next message. */
static void
handle_bad(WpStream *stream, WpDirection from)
{
	WpSide *side = &stream->sides[from];

	if (side->n_unread >= WP_STREAM_HEAD_MAX)
		wp_counters_add(stream->shared->counters, WP_COUNT_MESSAGES_TOO_LONG, 1);
	if (is_confirmed(stream)) {
		drop_unread(stream, from);
		lose_thread(stream, from);
		return;
	}
	if (retry(stream))
		return;
	wp_stream_count(stream, from, WP_COUNT_FLOWS_MISNAMED, 1);
	wp_stream_forget_calls(stream); /* turns would answer them */
	wp_stream_set_decoder(stream, &wp_decoder_generic);
}

/* TRUE where decoding can begin at the front of the unread bytes. */
static gboolean
find_thread(WpStream *stream, WpDirection from)
{
	WpSide *side = &stream->sides[from];
	WpDecodeStatus status = WP_DECODE_OK;

	if (stream->decoder->sync)
		status = stream->decoder->sync(stream->state, &stream->context, from,
					       wp_bytes(side->unread, side->n_unread));
	if (status == WP_DECODE_MORE && side->n_unread < WP_STREAM_HEAD_MAX)
		return FALSE;
	if (status != WP_DECODE_OK) {
		drop_unread(stream, from);
		return FALSE;
	}
	side->is_lost = FALSE;
	wp_counters_add(stream->shared->counters, WP_COUNT_RESYNCS, 1);
	return TRUE;
}

static void
note_now(WpStream *stream, const WpStamp *stamp)
{
	stream->now_ns = stamp->time_ns;
	stream->now_packet = stamp->packet;
	stream->now = *stamp;
}

/* The packet at hand is that of the first unread byte. */
static void
note_first(WpStream *stream, const WpSide *side)
{
	put_stamp_at(side, 0, &stream->now);
	stream->now_ns = stream->now.time_ns;
	stream->now_packet = stream->now.packet;
}

/* Asks the decoder for one unit; FALSE where it needs more bytes. */
static gboolean
decode_unit(WpStream *stream, WpDirection from)
{
	WpSide *side = &stream->sides[from];
	WpUnit unit = { 0 };

	if (side->n_unread < side->need)
		return FALSE;
	note_first(stream, side);
	switch (stream->decoder->decode(stream->state, &stream->context, from,
					wp_bytes_to_pass(side->unread, side->n_unread), &unit)) {
	case WP_DECODE_OK:
		g_assert(unit.length > 0);
		apply_unit(stream, from, &unit);
		return TRUE;
	case WP_DECODE_MORE:
		if (side->n_unread < WP_STREAM_HEAD_MAX) {
			side->need = MIN(unit.need, WP_STREAM_HEAD_MAX);
			return FALSE;
		}
		/* fall through */
	default:
		handle_bad(stream, from);
		return TRUE;
	}
}

static void
decode_side(WpStream *stream, WpDirection from)
{
	WpSide *side = &stream->sides[from];

	while (side->n_unread) {
		if (side->skip)
			skip_bytes(stream, from);
		else if (side->is_lost && !find_thread(stream, from))
			break;
		else if (!decode_unit(stream, from))
			break;
	}
}

void
wp_stream_feed(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
	       const WpStamp *stamp)
{
	WpSide *side = &stream->sides[from];
	wp_stream_note_bytes(stream, from, side->offset + side->n_unread, length, stamp);
	append(side, data, length, stamp);
	decode_side(stream, from);
	keep_rest(side);
}

/* --- what reassembly calls --- */

/* Direction of the protocol for a direction of info. */
static WpDirection
direction_of(const WpStream *stream, WpDirection from)
{
	return stream->is_swapped ? !from : from;
}

void
wp_stream_bytes(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
		const WpStamp *stamp)
{
	if (length == 0 || stream->is_finished)
		return;
	if (stream->decoder)
		wp_stream_feed(stream, direction_of(stream, from), data, length, stamp);
	else
		wp_stream_hold(stream, from, data, length, length, stamp);
}

/* A last call of the decoder for a head that a hole cuts. */
static void
decode_cut(WpStream *stream, WpDirection from)
{
	WpSide *side = &stream->sides[from];
	if (side->n_unread == 0 || side->skip)
		return;
	stream->is_cut = TRUE;
	side->need = 0;
	WpUnit unit = { 0 };
	note_first(stream, side);
	gboolean is_found = !side->is_lost || find_thread(stream, from);
	if (is_found &&
	    stream->decoder->decode(stream->state, &stream->context, from,
				    wp_bytes(side->unread, side->n_unread), &unit) == WP_DECODE_OK)
		apply_unit(stream, from, &unit);
	stream->is_cut = FALSE;
}

/* LENGTH bytes inside the current unit passed unseen; returns how many of them it took. */
static guint64
skip_hole(WpStream *stream, WpDirection from, guint64 length, const WpStamp *stamp, gint64 by_ns,
	  gboolean is_late)
{
	WpSide *side = &stream->sides[from];
	guint64 n = MIN(side->skip, length);

	if (n && stamp)
		extend(side, side->unit_message, n, stamp);
	else if (n)
		extend_unseen(side->unit_message, n, by_ns, is_late);
	if (side->skip != G_MAXUINT64) {
		side->skip -= n;
		if (n && side->skip == 0)
			finish_unit(stream, from);
	}
	return n;
}

/* Is what no unit takes of a hole other messages? HAD_UNREAD: bytes stood before it; TOOK_REST: their unit ends in it. */
static gboolean
hides_messages(const WpSide *side, gboolean had_unread, gboolean took_rest)
{
	if (side->is_lost || (side->open && side->open->is_open))
		return FALSE;
	return !had_unread || took_rest || side->n_unread > 0;
}

void
wp_stream_hole(WpStream *stream, WpDirection from, guint64 length, const WpStamp *stamp,
	       gint64 by_ns, gboolean is_late)
{
	if (stream->is_finished)
		return;
	gboolean had_unread = !stream->decoder; /* bytes that are decoded below, or were before */
	stream->is_cut = TRUE;
	if (stream->n_held == 0)
		wp_stream_force(stream);
	if (!stream->decoder)
		wp_stream_decide(stream, FALSE);
	stream->is_cut = FALSE;
	if (!stream->decoder)
		wp_stream_drop_held(stream);
	from = direction_of(stream, from);
	WpSide *side = &stream->sides[from];
	if (stream->decoder)
		wp_stream_note_bytes(stream, from, side->offset + side->n_unread, length, stamp);
	guint64 skipped = skip_hole(stream, from, length, stamp, by_ns, is_late);
	gboolean is_followed = !stamp;
	if (skipped < length) {
		had_unread |= side->n_unread > 0;
		if (stream->decoder)
			decode_cut(stream, from);
		guint64 rest = skip_hole(stream, from, length - skipped, stamp, by_ns, is_late);
		is_followed |= hides_messages(side, had_unread, rest > 0);
		skipped += rest;
	}
	if (skipped < length) {
		drop_unread(stream, from);
		stream->cut_packet = stamp ? stamp->packet : 0;
		if (stamp)
			note_now(stream, stamp);
		lose_thread(stream, from);
		stream->cut_packet = 0;
		if (is_followed)
			wp_pairing_lost_calls(&stream->pairings[from]);
		if (!stream->decoder)
			side->is_lost = FALSE;
	}
	side->offset += length;
	keep_rest(side);
}

void
wp_stream_feed_datagram(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
			gsize wire_length, const WpStamp *stamp)
{
	WpSide *side = &stream->sides[from];
	WpUnit unit = { 0 };

	append(side, data, length, stamp);
	note_now(stream, stamp);
	stream->is_cut = length < wire_length;
	stream->has_orphan = FALSE;
	WpDecodeStatus status = stream->decoder->decode(stream->state, &stream->context, from,
							wp_bytes(data, length), &unit);
	if (status == WP_DECODE_OK) {
		unit.length = length;
		apply_unit(stream, from, &unit);
	} else {
		wp_counters_add(stream->shared->counters, WP_COUNT_BYTES_SKIPPED, length);
		consume(side, length);
	}
	stream->is_cut = FALSE;
	keep_rest(side);
	if (stream->has_orphan)
		wp_stream_keep_early(stream, from, wp_bytes(data, length), wire_length, stamp);
	else if (stream->early && !stream->is_replay)
		wp_stream_feed_early(stream, !from);
}

void
wp_stream_datagram(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
		   gsize wire_length, const WpStamp *stamp)
{
	WpStamp own = *stamp;
	own.peer = WP_NO_OFFSET;
	if (length == 0 || stream->is_finished)
		return;
	if (length == wire_length)
		wp_stream_look_again(stream, from, wp_bytes(data, length));
	if (stream->decoder)
		wp_stream_feed_datagram(stream, direction_of(stream, from), data, length,
					wire_length, &own);
	else
		wp_stream_hold(stream, from, data, length, wire_length, &own);
}

/* What the end of a direction completes: until-close bodies, the last turn of the generic decoder. */
static void
finish_side(WpStream *stream, WpDirection from, WpFinish how)
{
	WpSide *side = &stream->sides[from];
	WpUnit unit = { 0 };

	if (side->is_ended)
		return;
	side->is_ended = TRUE;
	if (side->skip == G_MAXUINT64) {
		side->skip = 0;
		finish_unit(stream, from);
	} else if (side->n_unread && !stream->info.is_udp) {
		decode_cut(stream, from);
	}
	if (stream->decoder->finish)
		stream->decoder->finish(stream->state, &stream->context, from, how, &unit);
	if (unit.emits_first)
		wp_stream_emit(stream, unit.emits_first);
	if (unit.emits)
		wp_stream_emit(stream, unit.emits);
}

void
wp_stream_end(WpStream *stream, WpDirection from, const WpStamp *stamp)
{
	if (stream->is_finished)
		return;
	stream->now_ns = stamp ? stamp->time_ns : stream->now_ns;
	if (!stream->decoder)
		wp_stream_decide(stream, TRUE);
	if (stamp) {
		stream->fins[direction_of(stream, from)] = stamp->offset;
		stream->fin_peers[direction_of(stream, from)] = stamp->peer;
	}
	if (stream->decoder)
		finish_side(stream, direction_of(stream, from), WP_FINISH_FIN);
	wp_inner_end(stream->inner, direction_of(stream, from), stamp);
}

void
wp_stream_finish(WpStream *stream, WpFinish how, const WpStamp *stamp)
{
	if (stream->is_finished)
		return;
	stream->now_ns = stamp ? stamp->time_ns : stream->now_ns;
	if (!stream->decoder)
		wp_stream_decide(stream, TRUE);
	stream->is_finished = TRUE;
	if (stream->decoder) {
		finish_side(stream, WP_FROM_CLIENT, how);
		finish_side(stream, WP_FROM_SERVER, how);
		for (int i = 0; i < 2; i++) {
			WpMessage *open = stream->sides[i].open;
			if (open && open->is_open && open->kind == WP_KIND_CALL)
				wp_stream_emit(stream, open);
		}
	}
	wp_stream_drop_early(stream);
	wp_inner_finish(stream->inner, how, stamp);
	wp_stream_close_calls(stream, how, stamp);
	if (stream->info.watch && !stream->info.depth) {
		wp_flow_watch_end(stream->info.watch);
		wp_stream_count_stalls(stream, WP_FROM_CLIENT);
	}
}
