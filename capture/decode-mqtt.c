/*
 * MQTT 3.1.1 and 5 (OASIS standards; sections 2 and 3 of both).
 *
 *      packet   |type, flags|length, 1 to 4 bytes|...
 *      PUBLISH  |topic|packet id, unless QoS is 0|properties (5)|payload
 *
 * CONNECT, SUBSCRIBE, UNSUBSCRIBE and PINGREQ are calls, and so is a PUBLISH of QoS 1, answered by PUBACK, and
 * of QoS 2, answered by PUBCOMP, or by a PUBREC that refuses it; what else of the four-way handshake there is
 * makes no record. A PUBLISH of QoS 0 is one way. Either side publishes. Packet ids are used again as soon as
 * they are free. A topic that only an alias names (5) is not in the label.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/label.h"
#include "capture/probe.h"

/* Of each packet so much is looked at: the longest topic that labels, and the begin of the payload. */
#define LOOKED_AT 512

/* Packets in a row that tell the protocol: each has two lengths that agree, and a topic. */
#define ENOUGH_PUBLISHED 3

enum {
	CONNECT = 1,
	CONNACK,
	PUBLISH,
	PUBACK,
	PUBREC,
	PUBREL,
	PUBCOMP,
	SUBSCRIBE,
	SUBACK,
	UNSUBSCRIBE,
	UNSUBACK,
	PINGREQ,
	PINGRESP,
	DISCONNECT,
	AUTH,
	REFUSED = 0x80 /* reason codes from here on are errors */
};

typedef struct {
	const char *name;
	guint8 flags;  /* that it must have */
	gboolean up;   /* a client sends it, */
	gboolean down; /* a server does */
	guint8 least;  /* bytes behind the head */
} Type;

static const Type types[16] = {
	[CONNECT] = { "CONNECT", 0, TRUE, FALSE, 12 },
	[CONNACK] = { "CONNACK", 0, FALSE, TRUE, 2 },
	[PUBLISH] = { "PUBLISH", 0, TRUE, TRUE, 2 },
	[PUBACK] = { "PUBACK", 0, TRUE, TRUE, 2 },
	[PUBREC] = { "PUBREC", 0, TRUE, TRUE, 2 },
	[PUBREL] = { "PUBREL", 2, TRUE, TRUE, 2 },
	[PUBCOMP] = { "PUBCOMP", 0, TRUE, TRUE, 2 },
	[SUBSCRIBE] = { "SUBSCRIBE", 2, TRUE, FALSE, 5 },
	[SUBACK] = { "SUBACK", 0, FALSE, TRUE, 3 },
	[UNSUBSCRIBE] = { "UNSUBSCRIBE", 2, TRUE, FALSE, 4 },
	[UNSUBACK] = { "UNSUBACK", 0, FALSE, TRUE, 2 },
	[PINGREQ] = { "PINGREQ", 0, TRUE, FALSE, 0 },
	[PINGRESP] = { "PINGRESP", 0, FALSE, TRUE, 0 },
	[DISCONNECT] = { "DISCONNECT", 0, TRUE, TRUE, 0 },
	[AUTH] = { "AUTH", 0, TRUE, TRUE, 0 },
};

/* What pairs those that have no packet id. */
enum {
	ID_CONNECT = 1 << 16,
	ID_PING
};

typedef struct {
	WpMessage message[2];
	gboolean is_5;
	gboolean has_version; /* the CONNECT was seen */
} State;

typedef struct {
	guint8 type;
	guint8 flags;
	gsize length; /* of the whole packet */
	WpBytes body; /* as far as it is looked at */
} Packet;

static WpDecodeStatus
read_packet(WpBytes in, WpDirection direction, Packet *out)
{
	guint8 first = wp_bytes_u8(&in);
	guint32 length = 0;
	guint8 more = 128;
	if (in.failed)
		return WP_DECODE_MORE;
	out->type = first >> 4;
	out->flags = first & 15;
	const Type *type = &types[out->type];
	if (!(direction == WP_FROM_CLIENT ? type->up : type->down) ||
	    (out->type == PUBLISH ? (out->flags & 6) == 6 : out->flags != type->flags))
		return WP_DECODE_BAD;
	for (guint i = 0; i < 4 && more & 128; i++) {
		more = wp_bytes_u8(&in);
		length |= (guint32)(more & 127) << 7 * i;
	}
	if (in.failed)
		return WP_DECODE_MORE;
	if (more & 128 || length < type->least)
		return WP_DECODE_BAD;
	out->length = in.at + (gsize)length;
	out->body = wp_bytes(in.data + in.at, MIN(wp_bytes_left(&in), MIN(length, LOOKED_AT)));
	return WP_DECODE_OK;
}

static const char *
read_text(WpBytes *in, gsize *out_length)
{
	*out_length = wp_bytes_be16(in);
	const guint8 *text = wp_bytes_take(in, *out_length);
	*out_length = text ? *out_length : 0;
	return (const char *)text;
}

static void
label(WpDecodeContext *context, WpMessage *message, guint8 type, const char *topic, gsize length)
{
	char text[WP_LABEL_MAX + 1];
	gsize n = g_strlcpy(text, types[type].name, sizeof text);
	if (length) {
		text[n++] = ' ';
		n += wp_label_key(topic, length, text + n, sizeof text - n);
		wp_decode_tokens(context, message, (const guint8 *)topic, length);
	}
	message->label = wp_decode_label(context, text, n);
}

/* The properties of version 5. */
static void
skip_properties(const State *state, WpBytes *body)
{
	guint32 length = 0;
	guint8 more = 128;
	for (guint i = 0; state->is_5 && i < 4 && more & 128; i++) {
		more = wp_bytes_u8(body);
		length |= (guint32)(more & 127) << 7 * i;
	}
	wp_bytes_skip(body, MIN(length, wp_bytes_left(body)));
}

/* In mid-stream: a topic is never empty, so what reads as none, or as too long, are properties. */
static gboolean
has_properties(WpBytes body)
{
	guint16 length = wp_bytes_be16(&body);
	return length == 0 || length > wp_bytes_left(&body);
}

static void
describe_publish(WpDecodeContext *context, const Packet *packet, WpMessage *message)
{
	WpBytes body = packet->body;
	gsize length;
	const char *topic = read_text(&body, &length);
	gboolean has_id = (packet->flags & 6) != 0;
	message->kind = has_id ? WP_KIND_CALL : WP_KIND_MESSAGE;
	message->callid = has_id ? wp_bytes_be16(&body) : 0;
	label(context, message, PUBLISH, topic, length);
	wp_decode_tokens(context, message, body.data + body.at, wp_bytes_left(&body));
}

static void
describe_subscribe(State *state, WpDecodeContext *context, const Packet *packet, WpMessage *message)
{
	WpBytes body = packet->body;
	gsize length;
	message->callid = wp_bytes_be16(&body);
	if (!state->has_version)
		state->is_5 = has_properties(body);
	skip_properties(state, &body);
	const char *topic = read_text(&body, &length);
	label(context, message, packet->type, topic, length);
}

static void
describe_connect(State *state, WpDecodeContext *context, const Packet *packet, WpMessage *message)
{
	WpBytes body = packet->body;
	gsize length;
	read_text(&body, &length);
	state->is_5 = wp_bytes_u8(&body) == 5;
	state->has_version = TRUE;
	message->callid = ID_CONNECT;
	message->marks = WP_MARK_SETUP;
	label(context, message, CONNECT, NULL, 0);
}

/* The reason that an answer gives, if any. */
static WpStatus
status_of(const State *state, const Packet *packet)
{
	WpBytes body = packet->body;
	guint8 reason = 0;
	if (packet->type == CONNACK && body.length >= 2)
		reason = body.data[1] ? REFUSED : 0;
	else if (packet->type == SUBACK || (packet->type == UNSUBACK && state->is_5))
		reason = body.length ? body.data[body.length - 1] : 0;
	else if (body.length > 2)
		reason = body.data[2];
	return reason >= REFUSED ? WP_STATUS_ERROR : WP_STATUS_OK;
}

/* FALSE where the packet makes no record. */
static gboolean
describe_answer(const State *state, const Packet *packet, WpMessage *message)
{
	WpBytes body = packet->body;
	message->kind = WP_KIND_RETURN;
	message->status = (guint8)status_of(state, packet);
	message->callid = packet->type == CONNACK    ? ID_CONNECT
			  : packet->type == PINGRESP ? ID_PING
						     : wp_bytes_be16(&body);
	return packet->type != PUBREC || message->status == WP_STATUS_ERROR;
}

/* FALSE as above. */
static gboolean
describe(State *state, WpDecodeContext *context, const Packet *packet, WpMessage *message)
{
	message->kind = WP_KIND_CALL;
	switch (packet->type) {
	case CONNECT:
		describe_connect(state, context, packet, message);
		return TRUE;
	case PUBLISH:
		describe_publish(context, packet, message);
		return TRUE;
	case SUBSCRIBE:
	case UNSUBSCRIBE:
		describe_subscribe(state, context, packet, message);
		return TRUE;
	case PINGREQ:
		message->callid = ID_PING;
		message->marks = WP_MARK_SETUP;
		label(context, message, PINGREQ, NULL, 0);
		return TRUE;
	case DISCONNECT:
	case AUTH:
		message->kind = WP_KIND_MESSAGE;
		message->marks = WP_MARK_SETUP;
		label(context, message, packet->type, NULL, 0);
		return TRUE;
	case PUBREL:
		return FALSE;
	default:
		return describe_answer(state, packet, message);
	}
}

static WpDecodeStatus
mqtt_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	WpMessage *message = &state->message[direction];
	Packet packet;
	WpDecodeStatus status = read_packet(in, direction, &packet);
	if (status != WP_DECODE_OK)
		return status;
	gsize wanted = MIN(packet.length, LOOKED_AT);
	if (in.length < wanted && !wp_decode_is_cut(context)) {
		unit->need = wanted;
		return WP_DECODE_MORE;
	}
	gsize head = (gsize)(packet.body.data - in.data);
	packet.body.length = MIN(in.length, wanted) - head;
	unit->length = packet.length;
	if (describe(state, context, &packet, message))
		unit->opens = unit->extends = unit->emits = message;
	else
		*message = (WpMessage){ 0 };
	return WP_DECODE_OK;
}

/* --- detection --- */

static WpDecodeStatus
connect_begins(WpBytes body)
{
	static const char names[2][9] = { "\0\4MQTT", "\0\6MQIsdp" };
	gsize n = body.length > 1 ? 2u + body.data[1] : 2;
	gboolean is_old = body.length > 1 && body.data[1] == 6;
	if (memcmp(body.data, names[is_old], MIN(body.length, MIN(n, 8))) != 0)
		return WP_DECODE_BAD;
	if (body.length < n + 1)
		return WP_DECODE_MORE;
	guint8 level = body.data[n];
	return (is_old ? level == 3 : level == 4 || level == 5) ? WP_DECODE_OK : WP_DECODE_BAD;
}

/* The name of a topic: text, and without wildcards where something is published. */
static WpDecodeStatus
topic_begins(WpBytes body, gsize left, gboolean has_wildcards)
{
	gsize length = wp_bytes_be16(&body);
	if (body.failed)
		return WP_DECODE_MORE;
	if (length == 0 || length + 2 > left)
		return WP_DECODE_BAD;
	gsize there = MIN(length, wp_bytes_left(&body));
	for (gsize i = 0; i < there; i++) {
		guint8 byte = body.data[body.at + i];
		if (byte < 0x20 || byte > 0x7e || (!has_wildcards && (byte == '+' || byte == '#')))
			return WP_DECODE_BAD;
	}
	return there < length && there < 64 ? WP_DECODE_MORE : WP_DECODE_OK;
}

static WpDecodeStatus
begins(WpBytes in, WpDirection direction)
{
	Packet packet;
	WpDecodeStatus status = read_packet(in, direction, &packet);
	if (status != WP_DECODE_OK)
		return status;
	WpBytes body = packet.body;
	gsize head = (gsize)(body.data - in.data), left = packet.length - head;
	switch (packet.type) {
	case CONNECT:
		return connect_begins(body);
	case PUBLISH:
		return topic_begins(body, left, FALSE);
	case SUBSCRIBE:
	case UNSUBSCRIBE:
		wp_bytes_skip(&body, 2);
		body = wp_bytes(body.data + body.at, wp_bytes_left(&body));
		if (body.length && body.data[0] == 0) /* the length of a text, or no properties */
			return topic_begins(body, left - 2, TRUE) == WP_DECODE_OK ||
					       body.length < 4 || body.data[1] == 0
				       ? WP_DECODE_OK
				       : WP_DECODE_BAD;
		return body.length ? WP_DECODE_BAD : WP_DECODE_MORE;
	default:
		return left <= 4 ? WP_DECODE_OK : WP_DECODE_BAD;
	}
}

static WpDecodeStatus
mqtt_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	return begins(in, direction);
}

/* The packet id; 0 where there is none. */
static guint16
packet_id(const Packet *packet)
{
	WpBytes body = packet->body;
	gsize length;
	if (packet->type == PUBLISH) {
		read_text(&body, &length);
		return packet->flags & 6 ? wp_bytes_be16(&body) : 0;
	}
	return wp_bytes_be16(&body);
}

/* ANSWER, of one side, is to what the other side sent: the type that belongs to it, with the same id. */
static gboolean
is_answer_to(const Packet *call, const Packet *answer)
{
	guint8 type = answer->type;
	switch (call->type) {
	case PINGREQ:
		return type == PINGRESP;
	case PUBLISH:
		if (type != PUBACK && type != PUBREC)
			return FALSE;
		break;
	case PUBREC:
	case PUBREL:
	case SUBSCRIBE:
	case UNSUBSCRIBE:
		if (type != call->type + 1)
			return FALSE;
		break;
	default:
		return FALSE;
	}
	return packet_id(call) != 0 && packet_id(call) == packet_id(answer);
}

static gboolean
answers(const WpProbe *probe)
{
	Packet client, server;
	if (read_packet(probe->client, WP_FROM_CLIENT, &client) != WP_DECODE_OK ||
	    read_packet(probe->server, WP_FROM_SERVER, &server) != WP_DECODE_OK)
		return FALSE;
	return is_answer_to(&client, &server) || is_answer_to(&server, &client);
}

/* TRUE where IN is several PUBLISH of QoS 0, one after the other: who only subscribes may send nothing for hours. */
static gboolean
publishes(WpBytes in, WpDirection direction)
{
	guint n = 0;
	Packet packet;
	while (n < ENOUGH_PUBLISHED && begins(in, direction) == WP_DECODE_OK) {
		if (read_packet(in, direction, &packet) != WP_DECODE_OK || packet.type != PUBLISH ||
		    packet.flags & 6 || packet.length > in.length)
			return FALSE;
		in = wp_bytes(in.data + packet.length, in.length - packet.length);
		n++;
	}
	return n == ENOUGH_PUBLISHED;
}

/*
 * A connection begins with CONNECT, which is unmistakable; in mid-stream both sides have to fit, and more
 * so where one answers the other, or several packets of the only side that there is.
 */
static WpProbeVerdict
mqtt_probe(const WpProbe *probe)
{
	gboolean is_connect = probe->client.length && probe->client.data[0] == CONNECT << 4;
	gboolean is_answer = probe->server.length && probe->server.data[0] == CONNACK << 4;
	if (probe->from_start &&
	    ((probe->client.length && !is_connect) || (probe->server.length && !is_answer)))
		return WP_PROBE_NO;
	WpProbeVerdict client =
		publishes(probe->client, WP_FROM_CLIENT) ? WP_PROBE_LIKELY : WP_PROBE_MORE;
	WpProbeVerdict server =
		publishes(probe->server, WP_FROM_SERVER) ? WP_PROBE_LIKELY : WP_PROBE_MORE;
	return wp_probe_verdict(probe, begins(probe->client, WP_FROM_CLIENT),
				begins(probe->server, WP_FROM_SERVER),
				(WpProbeVerdicts){
					.client = is_connect ? WP_PROBE_SURE : client,
					.server = server,
					.both = is_connect       ? WP_PROBE_SURE
						: answers(probe) ? WP_PROBE_LIKELY
								 : WP_PROBE_MAYBE,
				});
}

static const guint16 mqtt_ports[] = { 1883, 0 };

const WpDecoder wp_decoder_mqtt = {
	.name = "mqtt",
	.summary = "MQTT 3.1, 3.1.1 and 5",
	.transports = WP_TRANSPORT_TCP,
	.ports = mqtt_ports,
	.by_callid = TRUE,
	.interleaves = TRUE,
	.reuses_callids = TRUE,
	.state_size = sizeof(State),
	.probe = mqtt_probe,
	.decode = mqtt_decode,
	.sync = mqtt_sync,
};
