/*
 * WebSocket (RFC 6455), what an HTTP connection becomes after its 101; compression (RFC 7692) is opaque.
 *
 *      |fin, rsv, opcode|mask, length 7|[length 16 or 64]|[mask 4]|payload..|    section 5.2
 *
 *      client  |text, not fin|ping|continued, fin|     the ping lies between, and is not part of it
 *      message |<- opens ---- ext ----------- emits|
 *
 * Frames of the client are masked, those of the server are not (5.1): that, lengths in their shortest
 * form, and text that is text tell the protocol where its beginning was not seen. Who answers what is the
 * program's business, so messages are one way. Ping, pong and close are marked as set-up.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"

/* Of the payload of the client's text so much is looked at for tokens. */
#define LOOKED_AT 512

/* No program sends larger frames. */
#define FRAME_MAX (G_GUINT64_CONSTANT(1) << 40)

/* A detected frame of text has so many bytes that are text. */
#define TEXT_MIN 4

enum {
	OP_CONTINUED = 0,
	OP_TEXT = 1,
	OP_BINARY = 2,
	OP_CLOSE = 8,
	OP_PING = 9,
	OP_PONG = 10,
	BIT_FIN = 0x80,
	BIT_PACKED = 0x40, /* RSV1, RFC 7692 section 6 */
	BITS_RESERVED = 0x30,
	BIT_MASK = 0x80
};

typedef struct {
	WpMessage data; /* text or binary, of one or more frames */
	WpMessage control;
	gboolean is_within; /* a message has begun, and not ended */
} Side;

typedef struct {
	Side sides[2];
} State;

typedef struct {
	guint64 payload;
	gsize head;
	guint8 opcode;
	gboolean is_last;
	gboolean is_packed;
	gboolean is_masked;
	guint8 mask[4];
} Frame;

/* --- frames --- */

static gboolean
is_control(guint8 opcode)
{
	return opcode >= OP_CLOSE;
}

static gboolean
is_opcode(guint8 opcode)
{
	return opcode <= OP_BINARY || (opcode >= OP_CLOSE && opcode <= OP_PONG);
}

/* The length after its first 7 bits; FALSE where a shorter form would do, or it is too large. */
static gboolean
read_length(WpBytes *in, guint8 first, guint64 *out)
{
	if (first < 126) {
		*out = first;
		return TRUE;
	}
	*out = first == 126 ? wp_bytes_be16(in) : wp_bytes_be64(in);
	return in->failed || (*out > (first == 126 ? 125 : 0xffff) && *out <= FRAME_MAX);
}

static WpDecodeStatus
read_frame(WpBytes in, Frame *out)
{
	guint8 first = wp_bytes_u8(&in), second = wp_bytes_u8(&in);
	*out = (Frame){
		.opcode = first & 0xf,
		.is_last = (first & BIT_FIN) != 0,
		.is_packed = (first & BIT_PACKED) != 0,
		.is_masked = (second & BIT_MASK) != 0,
	};
	gsize start = in.at > 2 ? in.at - 2 : 0;
	if (!is_opcode(out->opcode) || (first & BITS_RESERVED) != 0)
		return WP_DECODE_BAD;
	if (in.failed)
		return WP_DECODE_MORE;
	if (is_control(out->opcode) && (!out->is_last || out->is_packed || (second & 0x7f) > 125))
		return WP_DECODE_BAD;
	if (out->opcode == OP_CONTINUED && out->is_packed)
		return WP_DECODE_BAD;
	if (!read_length(&in, second & 0x7f, &out->payload))
		return WP_DECODE_BAD;
	const guint8 *mask = out->is_masked ? wp_bytes_take(&in, sizeof out->mask) : NULL;
	if (mask)
		memcpy(out->mask, mask, sizeof out->mask);
	out->head = in.at - start;
	return in.failed ? WP_DECODE_MORE : WP_DECODE_OK;
}

/* --- messages --- */

static void
scan_text(WpDecodeContext *context, WpMessage *message, const Frame *frame, WpBytes in)
{
	guint8 text[LOOKED_AT];
	gsize n = (gsize)MIN(frame->payload, MIN(sizeof text, in.length - frame->head));
	for (gsize i = 0; i < n; i++)
		text[i] = in.data[frame->head + i] ^ frame->mask[i % sizeof frame->mask];
	wp_decode_tokens(context, message, text, n);
}

static void
label(WpDecodeContext *context, WpMessage *message, const Frame *frame)
{
	static const char *const names[] = { "continued", "text", "binary", "",     "",    "",
					     "",          "",     "close",  "ping", "pong" };
	const char *name = names[frame->opcode];
	message->label = wp_decode_label(context, name, strlen(name));
}

static void
describe_control(WpDecodeContext *context, Side *side, const Frame *frame, WpUnit *unit)
{
	side->control.kind = WP_KIND_MESSAGE;
	side->control.marks = WP_MARK_SETUP;
	label(context, &side->control, frame);
	unit->opens = unit->emits = &side->control;
}

/* FALSE where the frame cannot follow those before it (section 5.4). */
static gboolean
describe_data(WpDecodeContext *context, Side *side, const Frame *frame, WpBytes in, WpUnit *unit)
{
	if (side->is_within != (frame->opcode == OP_CONTINUED))
		return FALSE;
	unit->extends = &side->data;
	if (!side->is_within) {
		side->data.kind = WP_KIND_MESSAGE;
		label(context, &side->data, frame);
		if (frame->opcode == OP_TEXT && !frame->is_packed)
			scan_text(context, &side->data, frame, in);
		unit->opens = &side->data;
	}
	side->is_within = !frame->is_last;
	unit->emits = frame->is_last ? &side->data : NULL;
	return TRUE;
}

static WpDecodeStatus
websocket_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in,
		 WpUnit *unit)
{
	Side *side = &((State *)data)->sides[direction];
	Frame frame;
	WpDecodeStatus status = read_frame(in, &frame);
	if (status != WP_DECODE_OK)
		return status;
	gboolean is_scanned = frame.opcode == OP_TEXT && !frame.is_packed;
	gsize wanted = frame.head + (is_scanned ? (gsize)MIN(frame.payload, LOOKED_AT) : 0);
	if (in.length < wanted && !wp_decode_is_cut(context)) {
		unit->need = wanted;
		return WP_DECODE_MORE;
	}
	unit->length = (gsize)(frame.head + frame.payload);
	if (is_control(frame.opcode))
		describe_control(context, side, &frame, unit);
	else if (!describe_data(context, side, &frame, in, unit))
		return WP_DECODE_BAD;
	return WP_DECODE_OK;
}

static void
websocket_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	memset(&((State *)data)->sides[direction], 0, sizeof(Side));
}

/* --- detection --- */

/* Whether the front of the payload is UTF-8 as people write it: no control bytes but white space. */
static gboolean
is_text(const Frame *frame, WpBytes in)
{
	char text[64];
	gsize n = (gsize)MIN(frame->payload, MIN(sizeof text, in.length - frame->head));
	for (gsize i = 0; i < n; i++) {
		text[i] = (char)(in.data[frame->head + i] ^ frame->mask[i % sizeof frame->mask]);
		if ((guint8)text[i] < ' ' && !g_ascii_isspace(text[i]))
			return FALSE;
	}
	const char *end;
	/* A character may go on behind what is looked at. */
	return n >= TEXT_MIN &&
	       (g_utf8_validate(text, (gssize)n, &end) || (gsize)(text + n - end) < TEXT_MIN);
}

/* A look along the frames of a packet. */
typedef struct {
	gboolean is_within; /* a message that has not ended */
	gboolean is_text;   /* text that is text was seen: nothing else looks like that */
} Look;

/* Whether FRAME, at the front of IN, can be what follows. */
static WpDecodeStatus
look_at(Look *look, const Frame *frame, WpBytes in)
{
	if (is_control(frame->opcode))
		return WP_DECODE_OK;
	if (look->is_within != (frame->opcode == OP_CONTINUED))
		return WP_DECODE_BAD;
	look->is_within = !frame->is_last;
	if (frame->opcode != OP_TEXT || frame->is_packed || frame->payload < TEXT_MIN)
		return WP_DECODE_OK;
	if (in.length < frame->head + TEXT_MIN)
		return WP_DECODE_MORE;
	look->is_text |= is_text(frame, in);
	return look->is_text ? WP_DECODE_OK : WP_DECODE_BAD;
}

/* A message begins at the front of IN: text that is text, or frames that fill the packet to its last byte. */
static WpDecodeStatus
begins(WpBytes in, WpDirection direction, gboolean *out_is_text)
{
	Look look = { FALSE, FALSE };
	Frame frame;
	*out_is_text = FALSE;
	for (gsize at = 0; at < in.length; at += frame.head + (gsize)frame.payload) {
		WpBytes rest = wp_bytes(in.data + at, in.length - at);
		WpDecodeStatus status = read_frame(rest, &frame);
		if (rest.length >= 2 && frame.is_masked != (direction == WP_FROM_CLIENT))
			return WP_DECODE_BAD;
		if (status == WP_DECODE_OK)
			status = look_at(&look, &frame, rest);
		*out_is_text = look.is_text;
		if (status != WP_DECODE_OK)
			return status == WP_DECODE_MORE && at ? WP_DECODE_BAD : status;
		if (frame.payload > rest.length - frame.head)
			return look.is_text ? WP_DECODE_OK : WP_DECODE_BAD;
	}
	return in.length ? WP_DECODE_OK : WP_DECODE_MORE;
}

static WpDecodeStatus
websocket_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	gboolean is_text;
	return begins(in, direction, &is_text);
}

/* Only in mid-stream: no connection begins with it. */
static WpProbeVerdict
websocket_probe(const WpProbe *probe)
{
	gboolean client_text, server_text;
	if (probe->from_start)
		return WP_PROBE_NO;
	WpDecodeStatus client = begins(probe->client, WP_FROM_CLIENT, &client_text);
	WpDecodeStatus server = begins(probe->server, WP_FROM_SERVER, &server_text);
	if (client == WP_DECODE_BAD || server == WP_DECODE_BAD)
		return WP_PROBE_NO;
	if (client == WP_DECODE_OK && client_text)
		return WP_PROBE_SURE;
	if (client == WP_DECODE_OK && server == WP_DECODE_OK)
		return WP_PROBE_LIKELY;
	if (server == WP_DECODE_OK && server_text)
		return WP_PROBE_LIKELY;
	return client == WP_DECODE_OK ? WP_PROBE_MAYBE : WP_PROBE_MORE;
}

const WpDecoder wp_decoder_websocket = {
	.name = "websocket",
	.summary = "WebSocket, after HTTP/1.1: one-way messages",
	.transports = WP_TRANSPORT_TCP,
	.state_size = sizeof(State),
	.probe = websocket_probe,
	.decode = websocket_decode,
	.sync = websocket_sync,
	.lost = websocket_lost,
};
