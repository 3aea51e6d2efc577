/*
 * Stream, undecided: packets are held until a decoder recognises what they say, then fed as if they
 * came now, with the stamps of then. In mid-stream the bytes may begin anywhere, so each change of
 * direction is tried as a beginning:
 *
 *     server  ..body of an old reply|                 |reply......
 *     client                        |request|         |
 *                                   ^ turn            ^ turn: now both sides of one exchange
 */
#include <string.h>

#include "capture/proxy-header.h"
#include "capture/stream-private.h"

#define MAX_HELD     1024 /* packets; they may hold a byte each */
#define MAX_TURNS    12   /* changes of direction before the generic decoder takes the flow */
#define MAX_HELD_UDP 4
#define MAX_LOOKED                                                                                 \
	32 /* datagrams after those that nobody knew, in which a protocol is looked for */

void
wp_stream_free_held(WpStream *stream)
{
	for (int i = 0; i < 2; i++) {
		g_free(stream->held_bytes[i].own);
		stream->held_bytes[i] = (WpHeldBytes){ 0 };
	}
	if (stream->held != &stream->first_held)
		g_free(stream->held);
	stream->held = NULL;
	stream->n_held = stream->held_allocated = 0;
}

void
wp_stream_drop_held(WpStream *stream)
{
	for (int i = 0; i < 2; i++) {
		gsize length = stream->held_bytes[i].length;
		if (length == 0)
			continue;
		gsize front = stream->front_from == (WpDirection)i ? stream->front : 0;
		wp_counters_add(stream->shared->counters, WP_COUNT_BYTES_SKIPPED, length - front);
		stream->sides[i].offset += length;
		stream->turn_at[i] = 0;
	}
	wp_stream_free_held(stream);
	stream->n_turns = 0;
	stream->has_turn = FALSE;
	stream->info.from_start = FALSE;
	stream->may_have_front = FALSE;
}

static gsize
held_length(const WpStream *stream, WpDirection from)
{
	return stream->held_bytes[from].length;
}

/* Every exchange of a flow seen from its start, and every datagram, counts from the first byte. */
static gboolean
is_aligned(const WpStream *stream)
{
	return stream->info.from_start || stream->info.is_udp;
}

/* Where the bytes of FROM that detection looks at begin, if CLIENT were the client. */
static gsize
view_start(const WpStream *stream, WpDirection from, WpDirection client)
{
	if (is_aligned(stream))
		return from == stream->front_from ? stream->front : 0;
	if (from != client && stream->turn == client)
		return held_length(stream, from); /* an older reply: not to be looked at */
	return stream->turn_at[from];
}

static gsize
first_datagram(const WpStream *stream, WpDirection from)
{
	for (guint i = 0; i < stream->n_held; i++)
		if (stream->held[i].from == from)
			return stream->held[i].length;
	return 0;
}

static WpBytes
view(const WpStream *stream, WpDirection from, WpDirection client)
{
	gsize start = view_start(stream, from, client), length = held_length(stream, from);
	if (stream->info.is_udp)
		length = first_datagram(stream, from);
	if (length <= start)
		return wp_bytes((const guint8 *)"", 0);
	return wp_bytes(stream->held_bytes[from].data + start, length - start);
}

static gboolean
is_datagram_cut(const WpStream *stream)
{
	for (guint i = 0; stream->info.is_udp && i < stream->n_held; i++)
		if (stream->held[i].length < stream->held[i].wire_length)
			return TRUE;
	return FALSE;
}

/* Where it is kept what the port of END speaks; NULL = nowhere. */
static const WpDecoder **
spoken_at(const WpStream *stream, const WpEndpoint *end)
{
	return stream->shared->spoken
		       ? &stream->shared->spoken[WP_STREAM_SPOKEN(end->port, stream->info.is_udp)]
		       : NULL;
}

static void
note_spoken(const WpStream *stream, const WpDecoder *decoder, WpDirection client)
{
	const WpStreamInfo *info = &stream->info;
	const WpDecoder **spoken =
		spoken_at(stream, client == WP_FROM_CLIENT ? &info->server : &info->client);
	if (spoken)
		*spoken = decoder;
}

/* In mid-stream: the next change of direction is the last. */
static gboolean
has_turned_often(const WpStream *stream)
{
	return !is_aligned(stream) && stream->n_turns >= MAX_TURNS;
}

static WpDetection
detect_as(const WpStream *stream, WpDirection client, gboolean final)
{
	const WpStreamInfo *info = &stream->info;
	const WpEndpoint *ends[2] = { &info->client, &info->server };
	const WpDecoder **spoken = spoken_at(stream, ends[!client]);
	WpProbe probe = {
		.first = spoken ? *spoken : NULL,
		.client = view(stream, client, client),
		.server = view(stream, !client, client),
		.server_port = ends[!client]->port,
		.from_start = info->from_start,
		.is_udp = info->is_udp,
		.is_cut = stream->is_cut || is_datagram_cut(stream),
		.is_last = final || has_turned_often(stream),
	};
	return wp_decoder_detect(&probe, final);
}

/*
 * TRUE where DATAGRAM, by info's direction, is unmistakable, though nobody knew the first ones of its flow: what keeps
 * a way through a router open is often sent before all else.
 */
static gboolean
is_known_after_all(WpStream *stream, WpDirection from, WpBytes datagram)
{
	const WpBytes nothing = wp_bytes((const guint8 *)"", 0);
	const WpEndpoint *ends[2] = { &stream->info.client, &stream->info.server };

	if (stream->n_looked_at == MAX_LOOKED)
		return FALSE;
	stream->n_looked_at++;
	for (int client = 0; client <= !stream->info.is_oriented; client++) {
		WpProbe probe = {
			.client = (int)from == client ? datagram : nothing,
			.server = (int)from == client ? nothing : datagram,
			.server_port = ends[!client]->port,
			.from_start = TRUE,
			.is_udp = TRUE,
		};
		if (wp_decoder_detect(&probe, FALSE).verdict == WP_PROBE_SURE)
			return TRUE;
	}
	return FALSE;
}

static void
finish_turns(WpStream *stream, WpDirection from)
{
	WpUnit unit = { 0 };
	stream->decoder->finish(stream->state, &stream->context, from, WP_FINISH_END, &unit);
	if (unit.emits_first)
		wp_stream_emit(stream, unit.emits_first);
	if (unit.emits)
		wp_stream_emit(stream, unit.emits);
}

void
wp_stream_look_again(WpStream *stream, WpDirection from, WpBytes datagram)
{
	if (stream->decoder != &wp_decoder_generic || stream->decoder == stream->shared->forced ||
	    stream->n_retries == WP_STREAM_MAX_RETRIES ||
	    !is_known_after_all(stream, from, datagram))
		return;
	finish_turns(stream, WP_FROM_CLIENT);
	finish_turns(stream, WP_FROM_SERVER);
	wp_stream_give_up(stream);
}

/* One packet of what was held. Where the decoder was wrong meanwhile, it is held again. */
static void
feed_packet(WpStream *stream, const WpHeld *packet, const guint8 *data, gsize skipped)
{
	WpDirection to_side = stream->is_swapped ? !packet->from : packet->from;
	gsize length = packet->length - skipped;

	stream->sides[to_side].offset += skipped;
	if (!is_aligned(stream)) /* else it is the PROXY header */
		wp_counters_add(stream->shared->counters, WP_COUNT_BYTES_SKIPPED, skipped);
	if (length == 0)
		return;
	if (!stream->decoder)
		wp_stream_hold(stream, packet->from, data + skipped, length, length,
			       &packet->stamp);
	else if (stream->info.is_udp)
		wp_stream_feed_datagram(stream, to_side, data, length, packet->wire_length,
					&packet->stamp);
	else
		wp_stream_feed(stream, to_side, data + skipped, length, &packet->stamp);
}

/* Feeds what was held, from START (by info's direction) on. */
static void
feed_held(WpStream *stream, const gsize start[2])
{
	WpHeld first = stream->first_held;
	WpHeld *held = stream->held == &stream->first_held ? &first : stream->held;
	guint n_held = stream->n_held;
	WpHeldBytes bytes[2] = { stream->held_bytes[0], stream->held_bytes[1] };
	gsize at[2] = { 0, 0 };

	/* There is nothing held any more; there may be again before this is over. */
	stream->held = NULL;
	stream->n_held = stream->held_allocated = 0;
	for (int i = 0; i < 2; i++) {
		stream->held_bytes[i] = (WpHeldBytes){ 0 };
		stream->turn_at[i] = 0;
	}
	stream->has_turn = FALSE;
	for (guint i = 0; i < n_held; i++) {
		WpDirection from = held[i].from;
		gsize skipped = start[from] > at[from] ? start[from] - at[from] : 0;
		feed_packet(stream, &held[i], bytes[from].data + at[from],
			    MIN(skipped, held[i].length));
		at[from] += held[i].length;
	}
	for (int i = 0; i < 2; i++)
		g_free(bytes[i].own);
	if (held != &first)
		g_free(held);
}

#define SWAP(type, pair)                                                                           \
	do {                                                                                       \
		type first_of_pair = (pair)[0];                                                    \
		(pair)[0] = (pair)[1];                                                             \
		(pair)[1] = first_of_pair;                                                         \
	} while (0)

/* The client is the other one. Nothing may be unread, and no call open. */
void
wp_stream_swap_sides(WpStream *stream)
{
	g_assert(!stream->sides[0].pieces && !stream->sides[1].pieces); /* may be inside */
	SWAP(WpSide, stream->sides);
	SWAP(WpSpell, stream->spells);
	SWAP(WpSpell, stream->ended);
	SWAP(gboolean, stream->has_emitted);
	SWAP(guint64, stream->n_calls);
	SWAP(guint64, stream->n_returns);
	SWAP(guint64, stream->n_messages);
	SWAP(guint32, stream->nodes);
	SWAP(guint64, stream->fins);
	SWAP(guint64, stream->fin_peers);
	stream->is_swapped = !stream->is_swapped;
}

static void
take_decoder(WpStream *stream, const WpDecoder *decoder, WpDirection client)
{
	gsize start[2] = { 0, 0 };

	if (decoder != &wp_decoder_generic || is_aligned(stream))
		for (int i = 0; i < 2; i++)
			start[i] = view_start(stream, i, client);
	if (client == WP_FROM_SERVER)
		wp_stream_swap_sides(stream);
	wp_stream_set_decoder(stream, decoder);
	feed_held(stream, start);
}

/*
 * Looks for a PROXY header, which is the first that is sent; FALSE where more bytes are needed to tell, or
 * nothing has come behind it.
 */
static gboolean
pass_front(WpStream *stream, gboolean final)
{
	WpDirection first = stream->held[0].from;
	if (stream->may_have_front) {
		const WpHeldBytes *held = &stream->held_bytes[first];
		gsize length = 0;
		WpDecodeStatus status =
			wp_proxy_header(wp_bytes(held->data, held->length), &length);
		if (status == WP_DECODE_MORE && !final)
			return FALSE;
		stream->may_have_front = FALSE;
		stream->front_from = first;
		stream->front = status == WP_DECODE_OK ? length : 0;
		stream->n_front = stream->n_held;
	}
	return !stream->front || held_length(stream, first) > stream->front ||
	       held_length(stream, !first) > 0;
}

void
wp_stream_decide(WpStream *stream, gboolean final)
{
	if (stream->n_held == 0 || !pass_front(stream, final))
		return;
	if (stream->is_forced) {
		if (!is_aligned(stream))
			stream->sides[0].is_lost = stream->sides[1].is_lost = TRUE;
		take_decoder(stream, stream->shared->forced, stream->forced_client);
		return;
	}
	WpDirection client = WP_FROM_CLIENT;
	WpDetection detection = detect_as(stream, client, final);
	if (!stream->info.is_oriented) {
		WpDetection swapped = detect_as(stream, WP_FROM_SERVER, final);
		if (swapped.decoder && swapped.verdict > detection.verdict &&
		    swapped.verdict != WP_PROBE_MORE) {
			detection = swapped;
			client = WP_FROM_SERVER;
		}
	}
	if (!detection.decoder)
		return;
	if (detection.decoder == &wp_decoder_generic && !final && !is_aligned(stream))
		return;
	stream->is_sure = detection.verdict == WP_PROBE_SURE;
	if (stream->is_sure)
		note_spoken(stream, detection.decoder, client);
	take_decoder(stream, detection.decoder, client);
}

static void
note_turn(WpStream *stream, WpDirection from)
{
	if (stream->has_turn && stream->turn == from)
		return;
	stream->has_turn = TRUE;
	stream->turn = from;
	stream->turn_at[from] = held_length(stream, from);
	stream->n_turns++;
}

static void
grow_held(WpStream *stream)
{
	if (stream->held_allocated == 0) {
		stream->held = &stream->first_held;
		stream->held_allocated = 1;
		return;
	}
	stream->held_allocated *= 4;
	if (stream->held != &stream->first_held) {
		stream->held = g_renew(WpHeld, stream->held, stream->held_allocated);
		return;
	}
	stream->held = g_new(WpHeld, stream->held_allocated);
	stream->held[0] = stream->first_held;
}

static void
add_held(WpStream *stream, const WpHeld *held)
{
	if (stream->n_held == stream->held_allocated)
		grow_held(stream);
	stream->held[stream->n_held++] = *held;
}

/* Puts DATA behind what there is of our own. */
static void
own_bytes(WpHeldBytes *bytes, const guint8 *data, gsize length)
{
	gsize before = bytes->own ? bytes->length : 0;
	if (before + length > bytes->allocated) {
		bytes->allocated = MAX(before + length, bytes->allocated * 2);
		bytes->own = g_realloc(bytes->own, bytes->allocated);
	}
	memcpy(bytes->own + before, data, length);
	bytes->data = bytes->own;
	bytes->length = before + length;
}

/* A flow is joined in the middle of a body so large that what it is will not be told before a turn. */
static gboolean
is_body(const WpStream *stream, WpDirection from)
{
	return !is_aligned(stream) && held_length(stream, from) >= WP_STREAM_JOINED_MAX;
}

static void
pass_body(WpStream *stream, WpDirection from)
{
	guint n_turns = stream->n_turns;
	wp_stream_drop_held(stream);
	stream->n_turns = n_turns;
	stream->is_inside = TRUE;
	stream->body_from = from;
}

/* What is held does not tell, nor would more. */
static gboolean
is_enough(const WpStream *stream, WpDirection from)
{
	if (stream->info.is_udp)
		return !stream->may_have_front && stream->n_held >= MAX_HELD_UDP + stream->n_front;
	if (is_aligned(stream))
		return (!stream->may_have_front && stream->n_held >= MAX_HELD + stream->n_front) ||
		       stream->n_turns > MAX_TURNS ||
		       held_length(stream, from) >= WP_STREAM_UNDECIDED_MAX;
	return stream->n_held >= MAX_HELD || stream->n_turns > MAX_TURNS;
}

void
wp_stream_hold(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
	       gsize wire_length, const WpStamp *stamp)
{
	if (stream->is_inside && from == stream->body_from) {
		wp_counters_add(stream->shared->counters, WP_COUNT_BYTES_SKIPPED, length);
		stream->sides[from].offset += length;
		return;
	}
	stream->is_inside = FALSE;
	note_turn(stream, from);
	WpHeldBytes *bytes = &stream->held_bytes[from];
	add_held(stream, &(WpHeld){ from, length, wire_length, *stamp });
	if (bytes->own)
		own_bytes(bytes, data, length);
	else
		*bytes = (WpHeldBytes){ .data = data, .length = length };
	wp_stream_decide(stream, FALSE);
	if (!stream->decoder && is_enough(stream, from))
		wp_stream_decide(stream, TRUE);
	if (!stream->decoder && is_body(stream, from))
		pass_body(stream, from);
	if (bytes->length > 0 && !bytes->own)
		own_bytes(bytes, data, length); /* before the packet's bytes go */
}
