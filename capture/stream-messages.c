/*
 * Stream, messages: a finished message becomes a record; calls wait for their return; and what the
 * stream does for decoders (labels, tokens, names).
 */
#include <string.h>

#include "capture/rmi-names.h"
#include "capture/stream-private.h"
#include "capture/tokens.h"

/* Distinct strings of a capture; beyond, labels fold into one. Bounds memory against hostile input. */
#define MAX_STRINGS  200000
#define FOLDED_LABEL "(other)"

/* --- nodes and counters --- */

static const WpEndpoint *
endpoint_of(const WpStream *stream, WpDirection side)
{
	gboolean is_server = (side == WP_FROM_SERVER) != stream->is_swapped;
	return is_server ? &stream->info.server : &stream->info.client;
}

static guint32
node_of(WpStream *stream, WpDirection side)
{
	if (stream->nodes[side] == WP_NO_NODE)
		stream->nodes[side] = wp_nodes_by_address_seen(
			stream->shared->nodes, endpoint_of(stream, side)->address,
			side == WP_FROM_CLIENT ? WP_NODE_CALLER : WP_NODE_CALLED);
	return stream->nodes[side];
}

static guint32
protocol_of(WpStream *stream)
{
	if (!stream->protocol)
		stream->protocol = wp_strings_intern(wp_nodes_strings(stream->shared->nodes),
						     stream->decoder->name, -1);
	return stream->protocol;
}

void
wp_stream_count(WpStream *stream, WpDirection from, WpCounter counter, guint64 n)
{
	if (n)
		wp_counters_add_pair(stream->shared->counters, counter, node_of(stream, from),
				     node_of(stream, !from), n);
}

/* --- messages to records --- */

/* The sequence number of the byte at STAMP; inside TLS that of its packet's first. */
static guint32
seq_of(const WpStream *stream, const WpStamp *stamp)
{
	gboolean is_exact =
		!stream->info.is_udp && !stream->info.depth && stamp->offset != WP_NO_OFFSET;
	return is_exact ? stamp->base + (guint32)stamp->offset : stamp->seq;
}

static WpRecord
make_record(WpStream *stream, WpDirection from, const WpMessage *message, WpKind kind)
{
	return (WpRecord){
		.begin_ns = message->begin.time_ns,
		.end_ns = MAX(message->begin.time_ns, message->end.time_ns),
		.packet = message->begin.packet,
		.bytes = message->bytes,
		.sender = node_of(stream, from),
		.receiver = node_of(stream, !from),
		.flow = stream->info.flow,
		.protocol = message->protocol ? message->protocol : protocol_of(stream),
		.label = message->label,
		.src = *endpoint_of(stream, from),
		.dst = *endpoint_of(stream, !from),
		.kind = (guint8)kind,
		.status = message->status,
		.marks = message->marks,
		.tap = stream->info.tap,
		.first_seq = seq_of(stream, &message->begin),
		.last_seq = seq_of(stream, &message->end),
		.n_tokens = message->n_tokens,
	};
}

/* WORDS gets all that RECORD, of MESSAGE, has besides; TRANSPORTS are what the transport did for it. */
static void
add_words(WpStream *stream, WpRecord *record, const WpMessage *message,
	  const WpTransport *transports, guint n, guint32 words[WP_RECORD_MAX_WORDS])
{
	if (record->n_tokens)
		memcpy(words, message->tokens, record->n_tokens * sizeof words[0]);
	words += record->n_tokens;
	for (guint i = 0; i < n; i++, words += WP_TRANSPORT_WORDS) {
		WpTransport transport = transports[i];
		if (stream->is_swapped && transport.kind == WP_TRANSPORT_CLIENT_RTT)
			transport.kind = WP_TRANSPORT_SERVER_RTT;
		else if (stream->is_swapped && transport.kind == WP_TRANSPORT_SERVER_RTT)
			transport.kind = WP_TRANSPORT_CLIENT_RTT;
		wp_transport_pack(&transport, words);
	}
	record->n_transports = (guint8)n;
	if (record->kind == WP_KIND_RETURN || !message->context.parent)
		return;
	record->marks |= WP_MARK_TRACED;
	wp_trace_context_pack(&message->context, words);
}

/* Tells the watch of the connection where RECORD sets it up; TRUE where it does not, and there is a watch. */
static gboolean
tell_watch(WpStream *stream, const WpRecord *record, const WpMessage *message)
{
	WpFlowWatch *watch = stream->info.watch;

	if (watch && record->marks & WP_MARK_SETUP)
		wp_flow_watch_note_setup(watch, &message->end);
	return watch && !(record->marks & WP_MARK_SETUP);
}

void
wp_stream_count_stalls(WpStream *stream, WpDirection from)
{
	WpFlowWatch *watch = stream->info.watch;

	wp_stream_count(stream, from, WP_COUNT_STALLS_LEFT_OUT, watch->n_left_out);
	wp_stream_count(stream, from, WP_COUNT_STALLS_BETWEEN, watch->n_between);
	watch->n_left_out = watch->n_between = 0;
}

/* The oldest N calls will not be answered any more. */
static void
forget_oldest(WpStream *stream, WpDirection from, guint n, WpCounter counter)
{
	WpPairing *pairing = &stream->pairings[from];
	wp_stream_count(stream, from, counter, n);
	for (; n; n--) {
		wp_order_forget(stream->shared->order, pairing->calls[0].ref);
		wp_pairing_remove(pairing, 0);
	}
}

/* TRUE where the call is one sent again: over UDP the same id and label while it is pending. */
static gboolean
is_repeated(WpStream *stream, WpDirection from, const WpMessage *message)
{
	WpPairing *pairing = &stream->pairings[from];
	int found = wp_pairing_match_callid(pairing, message->callid);
	if (found < 0)
		return FALSE;
	if (stream->info.is_udp && pairing->calls[found].label == message->label) {
		wp_stream_count(stream, from, WP_COUNT_CALLS_REPEATED, 1);
		pairing->calls[found].n_repeats++;
		return TRUE;
	}
	wp_stream_count(stream, from, WP_COUNT_CALLS_UNANSWERED, 1);
	wp_order_forget(stream->shared->order, pairing->calls[found].ref);
	wp_pairing_remove(pairing, (guint)found);
	return FALSE;
}

static void
emit_call(WpStream *stream, WpDirection from, const WpMessage *message)
{
	WpPairing *pairing = &stream->pairings[from];
	guint most =
		stream->shared->max_pending ? stream->shared->max_pending : WP_PAIRING_MAX_PENDING;

	if (stream->decoder->by_callid && is_repeated(stream, from, message))
		return;
	if (pairing->n >= most)
		forget_oldest(stream, from, 1, WP_COUNT_CALLS_EVICTED);
	WpRecord record = make_record(stream, from, message, WP_KIND_CALL);
	guint32 words[WP_RECORD_MAX_WORDS];
	WpTransport transports[WP_RECORD_MAX_TRANSPORTS];
	guint n =
		tell_watch(stream, &record, message)
			? wp_flow_watch_take_setup(stream->info.watch, record.begin_ns, transports)
			: 0;
	add_words(stream, &record, message, transports, n, words);
	WpPending *pending = wp_pairing_add(pairing, message,
					    wp_order_call(stream->shared->order, &record, words));
	pending->protocol = record.protocol;
	stream->n_calls[from]++;
}

static int
match(const WpDecoder *decoder, WpPairing *pairing, const WpMessage *message, guint *out_before)
{
	if (!decoder->by_callid)
		return wp_pairing_match_order(pairing, message, out_before);
	return decoder->reuses_callids ? wp_pairing_match_reused(pairing, message)
				       : wp_pairing_match_callid(pairing, message->callid);
}

/* MESSAGE is the return of the call at INDEX of those of FROM. */
static void
answer_call(WpStream *stream, WpDirection from, guint index, const WpMessage *message)
{
	WpPairing *pairing = &stream->pairings[from];
	const WpPending *call = &pairing->calls[index];
	WpRecord record = make_record(stream, !from, message, WP_KIND_RETURN);
	record.marks |= call->marks;
	if (record.begin_ns < call->begin_ns) {
		record.begin_ns = call->begin_ns;
		record.end_ns = MAX(record.end_ns, call->begin_ns);
		wp_stream_count(stream, !from, WP_COUNT_RETURNS_EARLY, 1);
	}
	if (message->is_cut) {
		record.marks |= WP_MARK_CUT;
		record.end_ns = record.begin_ns;
		wp_stream_count(stream, !from, WP_COUNT_RETURNS_CUT, 1);
	}
	if (!record.label)
		record.label = call->label;
	if (!message->protocol)
		record.protocol = call->protocol;
	record.n_tokens = 0;
	guint32 words[WP_RECORD_MAX_WORDS];
	WpTransport transports[WP_RECORD_MAX_TRANSPORTS];
	guint n = 0;
	if (tell_watch(stream, &record, message)) {
		WpFlowWatch *watch = stream->info.watch;
		n = wp_flow_watch_take_stalls(watch, call->begin_ns, record.end_ns, transports);
		wp_stream_count_stalls(stream, from);
	}
	add_words(stream, &record, message, transports, n, words);
	wp_order_return(stream->shared->order, call->ref, &record, words);
	if (call->n_repeats) {
		stream->repeated_callid = call->callid;
		stream->n_repeats = call->n_repeats;
	}
	wp_pairing_remove(pairing, index);
	stream->n_returns[!from]++;
}

static void
emit_return(WpStream *stream, WpDirection from, const WpMessage *message)
{
	WpPairing *pairing = &stream->pairings[!from];
	guint before = 0;
	int found = match(stream->decoder, pairing, message, &before);
	gboolean may_wait = stream->info.is_udp && stream->decoder->by_callid && !stream->is_replay;
	if (found == WP_PAIRING_ORPHAN && stream->n_repeats &&
	    stream->repeated_callid ==
		    message->callid) { /* the call sent again was answered, too */
		stream->n_repeats--;
		wp_stream_count(stream, from, WP_COUNT_RETURNS_REPEATED, 1);
		return;
	}
	if (found == WP_PAIRING_ORPHAN && may_wait) {
		stream->has_orphan = TRUE;
		stream->orphan_callid = message->callid;
		return;
	}
	if (found < 0) {
		wp_stream_count(stream, from,
				found == WP_PAIRING_UNSURE ? WP_COUNT_RETURNS_UNSURE
							   : WP_COUNT_RETURNS_ORPHAN,
				1);
		return;
	}
	if (before) {
		forget_oldest(stream, !from, before, WP_COUNT_CALLS_UNANSWERED);
		found -= (int)before;
	}
	answer_call(stream, !from, (guint)found, message);
}

void
wp_stream_answer(WpStream *stream, WpDirection from, guint index, const WpMessage *answer)
{
	forget_oldest(stream, from, index, WP_COUNT_CALLS_UNANSWERED);
	answer_call(stream, from, 0, answer);
}

static void
emit_one_way(WpStream *stream, WpDirection from, const WpMessage *message)
{
	WpRecord record = make_record(stream, from, message, WP_KIND_MESSAGE);
	guint32 words[WP_RECORD_MAX_WORDS];
	tell_watch(stream, &record, message);
	add_words(stream, &record, message, NULL, 0, words);
	wp_order_message(stream->shared->order, &record, words);
	stream->n_messages[from]++;
}

void
wp_stream_note_hole(WpStream *stream, WpDirection from)
{
	wp_pairing_hole_in_calls(&stream->pairings[from]);
	wp_pairing_hole_in_returns(&stream->pairings[!from]);
}

/* All but the tokens, of which none is left: in three parts, each short enough to be written without a loop. */
static void
clear_message(WpMessage *message)
{
	const gsize middle = G_STRUCT_OFFSET(WpMessage, n_tokens);
	const gsize end = G_STRUCT_OFFSET(WpMessage, begin);

	memset(message, 0, G_STRUCT_OFFSET(WpMessage, tokens));
	memset((guint8 *)message + middle, 0, end - middle);
	memset((guint8 *)message + end, 0, sizeof *message - end);
}

void
wp_stream_emit(WpStream *stream, WpMessage *message)
{
	for (int i = 0; i < 2; i++) {
		WpSide *side = &stream->sides[i];
		if (side->open == message)
			side->open = NULL;
		if (side->unit_message == message)
			side->unit_message = NULL;
	}
	if (message->is_open) {
		WpDirection from = message->from;
		if (message->kind == WP_KIND_RETURN) {
			emit_return(stream, from, message);
		} else {
			if (!stream->is_late)
				wp_stream_pair_before(stream, from, message);
			if (message->kind == WP_KIND_CALL && !message->no_return)
				emit_call(stream, from, message);
			else
				emit_one_way(stream, from, message);
		}
		stream->has_emitted[from] = TRUE;
		stream->n_emitted++;
	}
	clear_message(message);
}

/* A return made by a reset: nothing was received, but the waiting ended then. */
static void
return_by_reset(WpStream *stream, WpDirection from, const WpPending *call, const WpStamp *stamp)
{
	WpMessage message = {
		.status = WP_STATUS_RESET,
		.marks = call->marks,
		.label = call->label,
		.protocol = call->protocol,
		.begin = *stamp,
		.end = *stamp,
	};
	WpRecord record = make_record(stream, !from, &message, WP_KIND_RETURN);
	wp_order_return(stream->shared->order, call->ref, &record, NULL);
}

static void
close_direction(WpStream *stream, WpDirection from, WpFinish how, const WpStamp *stamp)
{
	WpPairing *pairing = &stream->pairings[from];
	if (stream->decoder)
		wp_stream_pair_at_end(stream, from);
	guint n = pairing->n;
	/* Who has closed resets what comes afterwards: that was the return, and not seen. */
	gboolean is_closed = stream->fins[from] != WP_NO_OFFSET;

	if (how == WP_FINISH_RESET && stamp && !pairing->hole_in_returns && !is_closed) {
		for (guint i = 0; i < n; i++)
			return_by_reset(stream, from, &pairing->calls[i], stamp);
		wp_stream_count(stream, from, WP_COUNT_CALLS_RESET, n);
		pairing->n = 0;
	} else if (how == WP_FINISH_RESET && stamp && is_closed) {
		forget_oldest(stream, from, n, WP_COUNT_CALLS_RESET);
	} else if (how == WP_FINISH_END && !pairing->hole_in_returns) {
		forget_oldest(stream, from, n, WP_COUNT_CALLS_OPEN);
	} else {
		forget_oldest(stream, from, n, WP_COUNT_CALLS_UNANSWERED);
	}
	wp_stream_count(stream, from, WP_COUNT_CALLS, stream->n_calls[from]);
	wp_stream_count(stream, from, WP_COUNT_RETURNS, stream->n_returns[from]);
	wp_stream_count(stream, from, WP_COUNT_MESSAGES, stream->n_messages[from]);
}

void
wp_stream_forget_calls(WpStream *stream)
{
	for (int from = 0; from < 2; from++)
		forget_oldest(stream, from, stream->pairings[from].n, WP_COUNT_CALLS_UNANSWERED);
}

void
wp_stream_close_calls(WpStream *stream, WpFinish how, const WpStamp *stamp)
{
	if (stream->decoder == &wp_decoder_generic)
		wp_stream_count(stream, WP_FROM_CLIENT, WP_COUNT_FLOWS_UNDECODED, 1);
	if (stream->front)
		wp_stream_count(stream, WP_FROM_CLIENT, WP_COUNT_FLOWS_PROXIED, 1);
	if (stream->is_multiplexed)
		wp_stream_count(stream, WP_FROM_CLIENT,
				stream->decoder == &wp_decoder_tls ? WP_COUNT_TLS_MULTIPLEXED
								   : WP_COUNT_FLOWS_MULTIPLEXED,
				1);
	close_direction(stream, WP_FROM_CLIENT, how, stamp);
	close_direction(stream, WP_FROM_SERVER, how, stamp);
}

/* --- for decoders --- */

guint32
wp_decode_label(WpDecodeContext *context, const char *label, gsize length)
{
	WpStream *stream = context->stream;
	WpStrings *strings = wp_nodes_strings(stream->shared->nodes);
	gsize n = MIN(length, WP_LABEL_MAX);
	guint32 known = wp_strings_find(strings, label, (gssize)n);

	if (known || n == 0)
		return known;
	if (wp_strings_count(strings) >= MAX_STRINGS) {
		wp_counters_add(stream->shared->counters, WP_COUNT_LABELS_FOLDED, 1);
		return wp_strings_intern(strings, FOLDED_LABEL, -1);
	}
	return wp_strings_intern(strings, label, (gssize)n);
}

guint32
wp_decode_protocol(WpDecodeContext *context, const char *name)
{
	return wp_strings_intern(wp_nodes_strings(context->stream->shared->nodes), name, -1);
}

void
wp_decode_tokens(WpDecodeContext *context, WpMessage *message, const guint8 *data, gsize length)
{
	message->n_tokens =
		(guint8)wp_tokens_scan(context->stream->shared->token_key, data, length,
				       message->tokens, message->n_tokens, WP_RECORD_MAX_TOKENS);
}

void
wp_decode_number(WpDecodeContext *context, WpMessage *message, guint64 magnitude,
		 gboolean is_negative)
{
	guint8 text[24]; /* 20 digits and a sign at most */
	guint8 *at = text + sizeof text;

	do {
		*--at = (guint8)('0' + magnitude % 10);
		magnitude /= 10;
	} while (magnitude);
	if (is_negative)
		*--at = '-';
	wp_decode_tokens(context, message, at, (gsize)(text + sizeof text - at));
}

void
wp_decode_ids(WpDecodeContext *context, WpMessage *message, const guint8 *data, gsize length)
{
	message->n_tokens = (guint8)wp_tokens_scan_ids(context->stream->shared->token_key, data,
						       length, message->tokens, message->n_tokens,
						       WP_RECORD_MAX_TOKENS);
}

void
wp_decode_name_server(WpDecodeContext *context, WpNameSource source, const char *name, gsize length)
{
	WpStream *stream = context->stream;
	guint32 server = node_of(stream, WP_FROM_SERVER);
	if (!wp_nodes_is_others(stream->shared->nodes, server))
		wp_nodes_add_hint(stream->shared->nodes, server, source, name, (gssize)length);
}

void
wp_decode_name_address(WpDecodeContext *context, const guint8 address[16], const char *name,
		       gsize length)
{
	WpNodes *nodes = context->stream->shared->nodes;
	guint32 node = wp_nodes_by_address_seen(nodes, address, WP_NODE_NAMED);
	if (node != WP_NO_NODE)
		wp_nodes_add_hint(nodes, node, WP_NAME_DNS, name, (gssize)length);
}

gboolean
wp_decode_pending(WpDecodeContext *context, guint32 *out_note)
{
	const WpStream *stream = context->stream;
	const WpPairing *pairing = &stream->pairings[WP_FROM_CLIENT];
	const WpSide *server = &stream->sides[WP_FROM_SERVER];
	gboolean has_begun =
		server->open && server->open->is_open && server->open->kind == WP_KIND_RETURN;
	WpStamp begin = { .offset = WP_NO_OFFSET, .peer = WP_NO_OFFSET };
	if (has_begun)
		begin = server->open->begin;
	else if (server->n_pieces)
		begin = server->pieces[0].stamp;
	if (!has_begun && begin.offset != WP_NO_OFFSET)
		begin.offset = server->offset;
	int found = wp_pairing_find(pairing, &begin);
	if (found < 0)
		return FALSE;
	*out_note = pairing->calls[found].note;
	return TRUE;
}

gboolean
wp_decode_pending_callid(WpDecodeContext *context, guint64 callid, guint32 *out_note)
{
	for (int i = 0; i < 2; i++) {
		const WpPairing *pairing = &context->stream->pairings[i];
		int found = wp_pairing_match_callid(pairing, callid);
		if (found >= 0) {
			*out_note = pairing->calls[found].note;
			return TRUE;
		}
	}
	return FALSE;
}

guint
wp_decode_n_pending(const WpDecodeContext *context)
{
	return context->stream->pairings[WP_FROM_CLIENT].n;
}

gboolean
wp_decode_from_start(const WpDecodeContext *context)
{
	return context->stream->info.from_start;
}

gboolean
wp_decode_is_oriented(const WpDecodeContext *context)
{
	return context->stream->info.is_oriented;
}

guint16
wp_decode_server_port(const WpDecodeContext *context)
{
	return endpoint_of(context->stream, WP_FROM_SERVER)->port;
}

const char *
wp_decode_rmi_name(const WpDecodeContext *context, guint64 hash)
{
	return wp_rmi_names_find(context->stream->shared->rmi_names, hash);
}

gint64
wp_decode_time(const WpDecodeContext *context)
{
	return context->stream->now_ns;
}

WpStamp
wp_decode_stamp(const WpDecodeContext *context)
{
	return context->stream->now;
}

gboolean
wp_decode_is_datagram(const WpDecodeContext *context)
{
	return context->stream->info.is_udp;
}

void
wp_decode_emit(WpDecodeContext *context, WpMessage *message)
{
	wp_stream_emit(context->stream, message);
}

void
wp_decode_emit_late(WpDecodeContext *context, WpMessage *message, guint holes)
{
	for (guint from = 0; from < 2; from++)
		if (holes & 1u << from)
			wp_stream_note_hole(context->stream, from);
	context->stream->is_late = TRUE;
	wp_stream_emit(context->stream, message);
	context->stream->is_late = FALSE;
}

void
wp_decode_open(WpDecodeContext *context, WpMessage *message, WpDirection from)
{
	message->begin = message->end = (WpStamp){ .time_ns = context->stream->now_ns,
						   .packet = context->stream->now_packet,
						   .offset = WP_NO_OFFSET,
						   .peer = WP_NO_OFFSET,
						   .seq = context->stream->now.seq };
	message->bytes = 0;
	message->is_open = TRUE;
	message->from = (guint8)from;
}

void
wp_decode_count(WpDecodeContext *context, WpCounter counter)
{
	wp_stream_count(context->stream, WP_FROM_CLIENT, counter, 1);
}

guint64
wp_decode_cut_packet(const WpDecodeContext *context)
{
	return context->stream->cut_packet;
}

gboolean
wp_decode_is_cut(const WpDecodeContext *context)
{
	return context->stream->is_cut;
}

void
wp_decode_may_push(WpDecodeContext *context)
{
	context->stream->may_push = TRUE;
}

void
wp_decode_multiplexed(WpDecodeContext *context)
{
	context->stream->is_multiplexed = TRUE;
}
