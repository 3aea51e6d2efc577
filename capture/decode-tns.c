/*
 * TNS, which carries the protocol of Oracle databases. Not published by its maker: what is read here is what
 * drivers and other decoders agree on.
 *
 *      packet   |length 2|checksum 2|type|flags|checksum 2| payload      to version 314, and to connect
 *               |length 4           |type|flags|checksum 2| payload      from version 315 on
 *
 * Connect is a call, and accept, refuse, redirect or resend its return. Data is packets of what only the
 * database's own clients know well: it makes calls and returns by turns, named by their function code where
 * they begin with one. Markers (break and reset) are no turn; a return behind a marker of the server is an error.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/probe.h"
#include "capture/turns.h"

/* Largest packet: the session data unit is 2 MiB at most. */
#define PACKET_MAX (4u * 1024 * 1024)

enum {
	CONNECT = 1,
	ACCEPT = 2,
	ACKNOWLEDGE = 3,
	REFUSE = 4,
	REDIRECT = 5,
	DATA = 6,
	ABORT = 9,
	RESEND = 11,
	MARKER = 12,
	CONTROL = 14,
	DESCRIPTOR = 15,
	TYPE_MAX = 15,
	HEADER_BYTES = 8,
	CONNECT_BYTES = 34, /* of a connect, at least */
	DATA_BYTES = 2,     /* flags of data */
	FLAG_END = 0x40,    /* of data: the sender closes */
	LOOKED_AT = 14,     /* of data: header, flags, message, function, and some */
	/* Messages in data */
	MESSAGE_PROTOCOL = 1,
	MESSAGE_TYPES = 2,
	MESSAGE_FUNCTION = 3,
	MESSAGE_PIGGYBACK = 0x11
};

/* Functions of clients. */
static const struct {
	guint8 code;
	guint8 marks;
	const char *name;
} functions[] = {
	{ 0x02, 0, "open" },
	{ 0x04, 0, "execute" },
	{ 0x05, 0, "fetch" },
	{ 0x08, 0, "close" },
	{ 0x09, WP_MARK_SETUP, "(logoff)" },
	{ 0x0c, 0, "autocommit on" },
	{ 0x0d, 0, "autocommit off" },
	{ 0x0e, 0, "commit" },
	{ 0x0f, 0, "rollback" },
	{ 0x14, 0, "cancel" },
	{ 0x2b, 0, "describe" },
	{ 0x3b, WP_MARK_SETUP, "(version)" },
	{ 0x47, 0, "execute" },
	{ 0x4e, 0, "execute" },
	{ 0x51, WP_MARK_SETUP, "(login)" },
	{ 0x52, WP_MARK_SETUP, "(login)" },
	{ 0x5e, 0, "execute" },
	{ 0x60, 0, "lob" },
	{ 0x62, 0, "describe" },
	{ 0x73, WP_MARK_SETUP, "(login)" },
	{ 0x76, WP_MARK_SETUP, "(login)" },
	{ 0x93, WP_MARK_SETUP, "ping" },
};

typedef struct {
	WpMessage messages[2]; /* connect and its answer; other packets that are shown */
	WpTurns turns;
	gboolean is_connecting; /* data of the client is more of its connect */
	gboolean has_marker;    /* of the server, since the last call */
} State;

typedef struct {
	guint32 length;
	guint8 type;
} Packet;

/* --- packets --- */

static gboolean
is_type(guint8 type, WpDirection direction)
{
	switch (type) {
	case CONNECT:
		return direction == WP_FROM_CLIENT;
	case ACCEPT:
	case REFUSE:
	case REDIRECT:
	case RESEND:
		return direction == WP_FROM_SERVER;
	default:
		return type >= ACKNOWLEDGE && type <= TYPE_MAX && type != 8 && type != 10;
	}
}

static WpDecodeStatus
read_packet(WpBytes in, WpDirection direction, Packet *out)
{
	guint16 high = wp_bytes_be16(&in), low = wp_bytes_be16(&in);
	gboolean is_long = high < HEADER_BYTES;
	out->length = is_long ? (guint32)high << 16 | low : high;
	out->type = wp_bytes_u8(&in);
	guint8 flags = wp_bytes_u8(&in);
	guint16 sum = wp_bytes_be16(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	/* Checksums are not in use. */
	if ((!is_long && low != 0) || sum != 0 || out->length < HEADER_BYTES ||
	    out->length > PACKET_MAX || (flags & 0xc3) != 0 || !is_type(out->type, direction))
		return WP_DECODE_BAD;
	return WP_DECODE_OK;
}

static void
label(WpDecodeContext *context, WpMessage *message, const char *text)
{
	message->label = wp_decode_label(context, text, strlen(text));
}

/* --- data --- */

/* What the client's data asks for, where it begins with that. */
static const char *
name_of(WpBytes in, guint8 *out_marks)
{
	static const guint8 services[] = { 0xde, 0xad, 0xbe, 0xef };
	*out_marks = WP_MARK_SETUP;
	if (in.length >= 4 && memcmp(in.data, services, sizeof services) == 0)
		return "(services)";
	guint8 message = wp_bytes_u8(&in), code = wp_bytes_u8(&in);
	if (message == MESSAGE_PROTOCOL)
		return "(protocol)";
	if (message == MESSAGE_TYPES)
		return "(data types)";
	*out_marks = 0;
	for (gsize i = 0; i < G_N_ELEMENTS(functions) && message == MESSAGE_FUNCTION; i++)
		if (functions[i].code == code) {
			*out_marks = functions[i].marks;
			return functions[i].name;
		}
	return "call";
}

static WpDecodeStatus
decode_data(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	    const Packet *packet, WpUnit *unit)
{
	gsize wanted = MIN(packet->length, LOOKED_AT);
	if (in.length < wanted && !wp_decode_is_cut(context)) {
		unit->need = wanted;
		return WP_DECODE_MORE;
	}
	gboolean is_client = direction == WP_FROM_CLIENT;
	if (is_client && state->is_connecting)
		return WP_DECODE_OK;
	in.length = MIN(in.length, wanted);
	wp_bytes_skip(&in, HEADER_BYTES);
	guint16 flags = wp_bytes_be16(&in);
	if ((flags & FLAG_END) && packet->length <= HEADER_BYTES + DATA_BYTES)
		return WP_DECODE_OK; /* an end of the connection, which says nothing */
	guint8 marks = 0;
	const char *name = name_of(wp_bytes(in.data + in.at, wp_bytes_left(&in)), &marks);
	wp_turns_unit(&state->turns, context, direction, is_client ? marks : 0, WP_TURNS_PART,
		      unit);
	if (unit->opens && is_client) {
		label(context, unit->opens, name);
		state->has_marker = FALSE;
	} else if (unit->opens && unit->opens->kind == WP_KIND_RETURN) {
		unit->opens->status = state->has_marker ? WP_STATUS_ERROR : WP_STATUS_UNKNOWN;
	}
	return WP_DECODE_OK;
}

/* --- other packets --- */

static void
show(State *state, WpDirection direction, WpUnit *unit, WpKind kind, WpStatus status)
{
	WpMessage *message = &state->messages[direction];
	message->kind = (guint8)kind;
	message->status = (guint8)status;
	message->marks = WP_MARK_SETUP;
	unit->opens = unit->emits = message;
}

static void
describe(State *state, WpDecodeContext *context, WpDirection direction, const Packet *packet,
	 WpUnit *unit)
{
	switch (packet->type) {
	case CONNECT:
		show(state, direction, unit, WP_KIND_CALL, WP_STATUS_UNKNOWN);
		label(context, &state->messages[direction], "(connect)");
		state->is_connecting = TRUE;
		break;
	case ACCEPT:
	case REDIRECT:
	case RESEND:
	case REFUSE:
		show(state, direction, unit, WP_KIND_RETURN,
		     packet->type == REFUSE ? WP_STATUS_ERROR : WP_STATUS_OK);
		state->is_connecting = FALSE;
		break;
	case MARKER:
		state->has_marker |= direction == WP_FROM_SERVER;
		break;
	default:
		break;
	}
}

static WpDecodeStatus
tns_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	Packet packet;
	WpDecodeStatus status = read_packet(in, direction, &packet);
	if (status == WP_DECODE_MORE)
		unit->need = HEADER_BYTES;
	if (status != WP_DECODE_OK)
		return status;
	unit->length = packet.length;
	if (packet.type == DATA || packet.type == DESCRIPTOR)
		return decode_data(state, context, direction, in, &packet, unit);
	describe(state, context, direction, &packet, unit);
	return WP_DECODE_OK;
}

static void
tns_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	state->messages[direction] = (WpMessage){ 0 };
	state->is_connecting = FALSE;
	wp_turns_lost(&state->turns, context, direction);
	/* It has spoken, though unseen: what the server says is no greeting. */
	if (direction == WP_FROM_CLIENT)
		state->turns.has_spoken[WP_FROM_CLIENT] = TRUE;
}

static void
tns_finish(void *data, WpDecodeContext *context, WpDirection direction, WpFinish how, WpUnit *unit)
{
	wp_turns_finish(&((State *)data)->turns, context, direction, how, unit);
}

/* --- detection --- */

/* Version and compatible version of a connect, or the version of an accept. */
static gboolean
is_version(guint16 version)
{
	return version >= 300 && version < 400;
}

/* A packet at the front of IN. *OUT_IS_OWN: one that opens a connection, or accepts it. */
static WpDecodeStatus
begins(WpBytes in, WpDirection direction, gboolean *out_is_own)
{
	Packet packet;
	*out_is_own = FALSE;
	WpDecodeStatus status = read_packet(in, direction, &packet);
	if (status != WP_DECODE_OK)
		return status;
	wp_bytes_skip(&in, HEADER_BYTES);
	guint16 first = wp_bytes_be16(&in);
	if (packet.type == CONNECT || packet.type == ACCEPT) {
		if (in.failed)
			return WP_DECODE_MORE;
		*out_is_own = is_version(first) &&
			      (packet.type == ACCEPT || packet.length >= CONNECT_BYTES);
		return *out_is_own ? WP_DECODE_OK : WP_DECODE_BAD;
	}
	/* Data that is not whole, or with flags that nobody sets, is too little to go by. */
	if (packet.type == DATA && (packet.length < HEADER_BYTES + DATA_BYTES || (first & 0xff00)))
		return WP_DECODE_BAD;
	return WP_DECODE_OK;
}

static WpDecodeStatus
tns_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	gboolean is_own;
	return begins(in, direction, &is_own);
}

/* A connect; in mid-stream packets on both sides of which the first ends with its segment. */
static WpProbeVerdict
tns_probe(const WpProbe *probe)
{
	gboolean client_own, server_own;
	WpDecodeStatus client = begins(probe->client, WP_FROM_CLIENT, &client_own);
	WpDecodeStatus server = begins(probe->server, WP_FROM_SERVER, &server_own);
	Packet packet;
	if (probe->from_start && client == WP_DECODE_OK && !client_own)
		return WP_PROBE_NO;
	gboolean is_exact = client == WP_DECODE_OK &&
			    read_packet(probe->client, WP_FROM_CLIENT, &packet) == WP_DECODE_OK &&
			    packet.type == DATA && packet.length == probe->client.length;
	WpProbeVerdict by_client = client_own ? WP_PROBE_SURE
				   : is_exact ? WP_PROBE_MAYBE
					      : WP_PROBE_MORE;
	return wp_probe_verdict(probe, client, server,
				(WpProbeVerdicts){
					.client = by_client,
					.server = server_own ? WP_PROBE_LIKELY : WP_PROBE_MORE,
					.both = client_own ? WP_PROBE_SURE
						: is_exact ? WP_PROBE_LIKELY
							   : WP_PROBE_MAYBE,
				});
}

static const guint16 tns_ports[] = { 1521, 1526, 0 };

const WpDecoder wp_decoder_tns = {
	.name = "tns",
	.summary = "TNS (Oracle): connections, and data by turns",
	.transports = WP_TRANSPORT_TCP,
	.ports = tns_ports,
	.state_size = sizeof(State),
	.probe = tns_probe,
	.decode = tns_decode,
	.sync = tns_sync,
	.lost = tns_lost,
	.finish = tns_finish,
};
