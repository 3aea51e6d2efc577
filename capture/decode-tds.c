/*
 * TDS, the protocol of SQL Server (MS-TDS; several conversations in one connection: MC-SMP).
 *
 *      packet   |type|status|length|process|number|window| payload      status 1: the last of its message
 *      SMP      |'S'|flags|session|length|sequence|window| packet
 *
 * A message is packets of one type to the one that says it is the last. Each has one response, but for
 * attention, which makes the server end the response at hand. With SMP the session pairs the two.
 * Encryption (of the login alone, or of all that follows) begins inside prelogin packets, and goes on as
 * records of TLS among the packets: calls by turns then.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/probe.h"
#include "capture/tds.h"
#include "capture/turns.h"

/* Largest packet that a client may ask for (section 2.2.6.4: 32767). */
#define PACKET_MAX 32767

/* Conversations of SMP that are followed at a time. */
#define MAX_SESSIONS 16

enum {
	HEADER_BYTES = 8,
	STATUS_LAST = 1,
	STATUS_KNOWN = 0x1b, /* last, ignore, reset connection, the same but the transaction */
	SMP_ID = 0x53,
	SMP_BYTES = 16,
	SMP_SYN = 1,
	SMP_ACK = 2,
	SMP_FIN = 4,
	SMP_DATA = 8,
	TLS_BYTES = 5,
	TLS_FIRST = 20,
	TLS_DATA = 23,
	TLS_MAX = 16384 + 2048
};

typedef struct {
	WpMessage messages[2]; /* by sender */
	guint32 left[2];       /* bytes of a packet that the next SMP packets bring */
	gboolean is_last[2];   /* that packet is the last of its message */
	guint16 id;
	gboolean is_used;
	gboolean has_hole; /* packets of the server are missing since the last request */
} Session;

typedef struct {
	Session sessions[MAX_SESSIONS]; /* the first is that of flows without SMP */
	WpTurns turns;                  /* of what is encrypted */
	WpMessage attention;
	gboolean has_turned; /* the login was encrypted */
} State;

typedef struct {
	guint8 type;
	gboolean is_last;
	guint16 length; /* with the header */
	guint8 number;
} Packet;

/* --- packets --- */

static gboolean
is_type(guint8 type, WpDirection direction)
{
	static const guint8 types[] = { WP_TDS_BATCH,       WP_TDS_LOGIN_OLD, WP_TDS_RPC,
					WP_TDS_ATTENTION,   WP_TDS_BULK,      WP_TDS_TOKEN,
					WP_TDS_TRANSACTION, WP_TDS_LOGIN,     WP_TDS_SSPI,
					WP_TDS_PRELOGIN };
	if (direction == WP_FROM_SERVER)
		return type == WP_TDS_RESPONSE || type == WP_TDS_PRELOGIN;
	return memchr(types, type, sizeof types) != NULL;
}

static WpDecodeStatus
read_packet(WpBytes in, WpDirection direction, Packet *out)
{
	out->type = wp_bytes_u8(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	guint8 status = wp_bytes_u8(&in);
	out->length = wp_bytes_be16(&in);
	wp_bytes_skip(&in, 2);
	out->number = wp_bytes_u8(&in);
	guint8 window = wp_bytes_u8(&in);
	out->is_last = (status & STATUS_LAST) != 0;
	if (!is_type(out->type, direction))
		return WP_DECODE_BAD;
	if (in.failed)
		return WP_DECODE_MORE;
	return (status & ~STATUS_KNOWN) || window || out->length < HEADER_BYTES ||
			       out->length > PACKET_MAX
		       ? WP_DECODE_BAD
		       : WP_DECODE_OK;
}

/* HAS_HOLE: a response may have been missed that ended before. */
static void
end_response(WpDecodeContext *context, WpMessage *reply, gboolean has_hole, WpBytes payload)
{
	guint32 note;
	gboolean is_attention = FALSE;
	reply->status = WP_STATUS_UNKNOWN;
	if (!wp_decode_is_cut(context))
		reply->status = (guint8)wp_tds_outcome(payload, &is_attention);
	gboolean is_alone = !reply->is_open && wp_tds_is_bare(payload);
	if (!is_attention ||
	    (wp_decode_pending_callid(context, reply->callid, &note) && !(has_hole && is_alone)))
		return;
	/* The attention came too late, and has an acknowledgement of its own. */
	reply->kind = WP_KIND_MESSAGE;
	reply->label = wp_decode_label(context, "attention", 9);
}

/* Bytes of a packet that must be there: those of a request that are looked at, and ends of responses. */
static gsize
bytes_wanted(const Packet *packet, WpDirection direction, gboolean is_first)
{
	if (direction == WP_FROM_SERVER)
		return packet->is_last ? packet->length : HEADER_BYTES;
	return is_first ? MIN(packet->length, WP_TDS_LOOKED_AT) : HEADER_BYTES;
}

static void
describe_packet(WpDecodeContext *context, Session *session, WpMessage *message,
		WpDirection direction, const Packet *packet, WpBytes payload)
{
	if (direction == WP_FROM_SERVER) {
		message->kind = WP_KIND_RETURN;
		if (packet->is_last)
			end_response(context, message, session->has_hole, payload);
		return;
	}
	session->has_hole &= packet->type == WP_TDS_ATTENTION;
	message->kind = packet->type == WP_TDS_ATTENTION ? WP_KIND_MESSAGE : WP_KIND_CALL;
	if (!message->is_open)
		wp_tds_describe(context, message, packet->type, payload);
}

/* PACKET stands LEAD bytes behind the front of IN. */
static WpDecodeStatus
decode_packet(State *state, WpDecodeContext *context, Session *session, WpDirection direction,
	      WpBytes in, gsize lead, const Packet *packet, WpUnit *unit)
{
	gboolean is_attention = packet->type == WP_TDS_ATTENTION;
	WpMessage *message = is_attention ? &state->attention : &session->messages[direction];
	gsize wanted = lead + bytes_wanted(packet, direction, !message->is_open);
	wanted = MIN(wanted, unit->length);
	if (in.length < wanted && !wp_decode_is_cut(context)) {
		unit->need = wanted;
		return WP_DECODE_MORE;
	}
	gsize at = lead + HEADER_BYTES;
	message->callid = (guint64)session->id + 1;
	describe_packet(context, session, message, direction, packet,
			wp_bytes(in.data + at, MIN(in.length, wanted) - at));
	unit->opens = message->is_open ? NULL : message;
	unit->extends = message;
	unit->emits = packet->is_last ? message : NULL;
	return WP_DECODE_OK;
}

/* --- SMP --- */

static Session *
find_session(State *state, guint16 id)
{
	Session *unused = NULL;
	for (guint i = 0; i < MAX_SESSIONS; i++) {
		Session *session = &state->sessions[i];
		if (session->is_used && session->id == id)
			return session;
		if (!session->is_used && !unused)
			unused = session;
	}
	if (unused)
		*unused = (Session){ .id = id, .is_used = TRUE };
	return unused;
}

/* A header of SMP; its length with it. Section 2.2.1 of MC-SMP. */
static WpDecodeStatus
read_smp(WpBytes in, guint8 *out_flags, guint16 *out_id, guint32 *out_length)
{
	guint8 first = wp_bytes_u8(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	*out_flags = wp_bytes_u8(&in);
	*out_id = wp_bytes_le16(&in);
	*out_length = wp_bytes_le32(&in);
	wp_bytes_skip(&in, 8);
	if (first != SMP_ID)
		return WP_DECODE_BAD;
	if (in.failed)
		return WP_DECODE_MORE;
	gboolean is_data = *out_flags == SMP_DATA;
	if (!is_data && *out_flags != SMP_SYN && *out_flags != SMP_ACK && *out_flags != SMP_FIN)
		return WP_DECODE_BAD;
	return is_data ? (*out_length > SMP_BYTES && *out_length <= SMP_BYTES + PACKET_MAX
				  ? WP_DECODE_OK
				  : WP_DECODE_BAD)
		       : (*out_length == SMP_BYTES ? WP_DECODE_OK : WP_DECODE_BAD);
}

/* INSIDE more bytes of a packet that began in SMP packets before. */
static WpDecodeStatus
continue_packet(Session *session, WpDecodeContext *context, WpDirection direction, WpBytes in,
		guint32 inside, WpUnit *unit)
{
	WpMessage *message = &session->messages[direction];
	gboolean is_end = inside >= session->left[direction] && session->is_last[direction];
	if (is_end && in.length < unit->length && !wp_decode_is_cut(context)) {
		unit->need = unit->length;
		return WP_DECODE_MORE;
	}
	session->left[direction] -= MIN(session->left[direction], inside);
	if (!message->is_open)
		return WP_DECODE_OK;
	unit->extends = message;
	if (is_end && direction == WP_FROM_SERVER)
		end_response(
			context, message, session->has_hole,
			wp_bytes(in.data + SMP_BYTES, MIN(in.length, unit->length) - SMP_BYTES));
	unit->emits = is_end ? message : NULL;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_smp(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	guint8 flags;
	guint16 id;
	guint32 length;
	Packet packet;
	WpDecodeStatus status = read_smp(in, &flags, &id, &length);
	if (status != WP_DECODE_OK)
		return status;
	unit->length = length;
	if (flags != SMP_DATA)
		return WP_DECODE_OK;
	Session *session = find_session(state, id);
	if (!session) {
		wp_decode_count(context, WP_COUNT_STREAMS_EVICTED);
		return WP_DECODE_OK;
	}
	guint32 inside = length - SMP_BYTES;
	if (session->left[direction])
		return continue_packet(session, context, direction, in, inside, unit);
	status = read_packet(wp_bytes(in.data + SMP_BYTES, in.length - SMP_BYTES), direction,
			     &packet);
	gboolean is_last = packet.is_last;
	if (status == WP_DECODE_OK && packet.length > inside)
		packet.is_last = FALSE;
	if (status == WP_DECODE_OK)
		status = decode_packet(state, context, session, direction, in, SMP_BYTES, &packet,
				       unit);
	if (status == WP_DECODE_OK && packet.length > inside) {
		session->left[direction] = packet.length - inside;
		session->is_last[direction] = is_last;
	}
	return status;
}

/* --- TLS --- */

static WpDecodeStatus
decode_record(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	      WpUnit *unit)
{
	guint8 type = wp_bytes_u8(&in);
	guint16 version = wp_bytes_be16(&in), length = wp_bytes_be16(&in);
	if (in.failed) {
		unit->need = TLS_BYTES;
		return WP_DECODE_MORE;
	}
	if (version >> 8 != 3 || length == 0 || length > TLS_MAX)
		return WP_DECODE_BAD;
	unit->length = TLS_BYTES + (gsize)length;
	if (type != TLS_DATA)
		return WP_DECODE_OK;
	guint8 marks = state->has_turned ? 0 : WP_MARK_SETUP;
	wp_turns_unit(&state->turns, context, direction, marks, WP_TURNS_PART, unit);
	if (unit->opens)
		unit->opens->callid = 1;
	if (unit->opens && marks && direction == WP_FROM_CLIENT)
		unit->opens->label = wp_decode_label(context, "(login)", 7);
	state->has_turned |= direction == WP_FROM_SERVER;
	return WP_DECODE_OK;
}

/* A packet in the clear: the encrypted login before it is over; or it is the answer to that. */
static gboolean
is_answer_to_record(State *state, WpDecodeContext *context, WpDirection direction,
		    const Packet *packet, WpUnit *unit)
{
	WpTurns *turns = &state->turns;
	gboolean is_turn = turns->call.is_open || turns->n_bursts || turns->reply.is_open;
	if (!is_turn)
		return FALSE;
	if (direction == WP_FROM_CLIENT) {
		if (turns->reply.is_open)
			wp_decode_emit(context, &turns->reply);
		wp_turns_drop(turns);
		return FALSE;
	}
	wp_turns_unit(turns, context, direction, WP_MARK_SETUP, WP_TURNS_PART, unit);
	if (unit->opens)
		unit->opens->callid = 1;
	state->has_turned = TRUE;
	unit->length = packet->length;
	return TRUE;
}

static WpDecodeStatus
tds_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	Packet packet;
	if (in.data[0] == SMP_ID)
		return decode_smp(state, context, direction, in, unit);
	if (in.data[0] >= TLS_FIRST && in.data[0] <= TLS_DATA)
		return decode_record(state, context, direction, in, unit);
	WpDecodeStatus status = read_packet(in, direction, &packet);
	if (status == WP_DECODE_MORE)
		unit->need = HEADER_BYTES;
	if (status != WP_DECODE_OK)
		return status;
	if (is_answer_to_record(state, context, direction, &packet, unit))
		return WP_DECODE_OK;
	unit->length = packet.length;
	return decode_packet(state, context, &state->sessions[0], direction, in, 0, &packet, unit);
}

static void
tds_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	for (guint i = 0; i < MAX_SESSIONS; i++) {
		state->sessions[i].messages[direction] = (WpMessage){ 0 };
		state->sessions[i].left[direction] = 0;
		state->sessions[i].has_hole |= direction == WP_FROM_SERVER;
	}
	if (direction == WP_FROM_CLIENT)
		state->attention = (WpMessage){ 0 };
	wp_turns_lost(&state->turns, context, direction);
}

static void
tds_finish(void *data, WpDecodeContext *context, WpDirection direction, WpFinish how, WpUnit *unit)
{
	wp_turns_finish(&((State *)data)->turns, context, direction, how, unit);
}

/* --- detection --- */

/* Passes over headers of SMP: IN is then the first packet inside one, or empty. */
static WpDecodeStatus
pass_smp(WpBytes *in)
{
	while (in->length && in->data[0] == SMP_ID) {
		guint8 flags;
		guint16 id;
		guint32 length;
		WpDecodeStatus status = read_smp(*in, &flags, &id, &length);
		if (status != WP_DECODE_OK)
			return status;
		*in = wp_bytes(in->data + SMP_BYTES, in->length - SMP_BYTES);
		if (flags == SMP_DATA)
			break;
	}
	return in->length ? WP_DECODE_OK : WP_DECODE_MORE;
}

/* The first packet of a message at the front of IN. *OUT_IS_OWN: and its payload is as it should be. */
static WpDecodeStatus
begins(WpBytes in, WpDirection direction, gboolean *out_is_own)
{
	Packet packet;
	*out_is_own = FALSE;
	WpDecodeStatus status = pass_smp(&in);
	if (status != WP_DECODE_OK || in.length == 0)
		return status;
	status = read_packet(in, direction, &packet);
	if (status != WP_DECODE_OK)
		return status;
	if (packet.number > 1)
		return WP_DECODE_BAD;
	gsize n = MIN(packet.length, in.length);
	WpBytes payload = wp_bytes(in.data + HEADER_BYTES, n - HEADER_BYTES);
	*out_is_own = direction == WP_FROM_CLIENT
			      ? wp_tds_is_request(packet.type, payload,
						  packet.length - (gsize)HEADER_BYTES)
			      : wp_tds_is_response(payload);
	if (direction == WP_FROM_SERVER && !*out_is_own && packet.type == WP_TDS_RESPONSE)
		return payload.length ? WP_DECODE_BAD : WP_DECODE_MORE;
	return WP_DECODE_OK;
}

static WpDecodeStatus
tds_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	gboolean is_own;
	return begins(in, direction, &is_own);
}

static WpProbeVerdict
tds_probe(const WpProbe *probe)
{
	gboolean client_own, server_own;
	WpDecodeStatus client = begins(probe->client, WP_FROM_CLIENT, &client_own);
	WpDecodeStatus server = begins(probe->server, WP_FROM_SERVER, &server_own);
	/* Headers need eight bytes, payloads some more, to be told. */
	if (probe->client.length && client == WP_DECODE_OK && !client_own &&
	    probe->client.length < 32 && probe->server.length == 0)
		client = WP_DECODE_MORE;
	return wp_probe_verdict(probe, client, server,
				(WpProbeVerdicts){
					.client = client_own ? WP_PROBE_LIKELY : WP_PROBE_MORE,
					.server = server_own ? WP_PROBE_MAYBE : WP_PROBE_MORE,
					.both = client_own ? WP_PROBE_SURE : WP_PROBE_MAYBE,
				});
}

static const guint16 tds_ports[] = { 1433, 0 };

const WpDecoder wp_decoder_tds = {
	.name = "tds",
	.summary = "TDS (SQL Server)",
	.transports = WP_TRANSPORT_TCP,
	.ports = tds_ports,
	.by_callid = TRUE,
	.reuses_callids = TRUE,
	.interleaves = TRUE,
	.state_size = sizeof(State),
	.probe = tds_probe,
	.decode = tds_decode,
	.sync = tds_sync,
	.lost = tds_lost,
	.finish = tds_finish,
};
