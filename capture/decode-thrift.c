/*
 * Apache Thrift (apache/thrift, doc/specs: thrift-rpc.md, thrift-binary-protocol.md,
 * thrift-compact-protocol.md), each with or without frames:
 *
 *      framed    |length|message                          a message is skipped by its length
 *      unframed  |message|message                         a message ends where its struct does
 *      binary    |0x80 01 00 type|name|number|struct
 *      binary,   |name|type|number|struct                 before there were versions
 *      compact   |0x82|type, version|number|name|struct
 *
 * The number pairs a call with its return; but many clients number all 0, and then the order does, where
 * they send before they have their answer. A return whose first field is not 0 is an exception that the
 * service declares; any other is a message of its own type.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/probe.h"
#include "capture/thrift-walk.h"

/* Longest frame: what most servers take at most (TConfiguration, maxMessageSize: 100 MB). */
#define FRAME_MAX (100u * 1024 * 1024)

/* Longest name of a method, with its service's. */
#define METHOD_MAX 255

/* Of a framed message so much is looked at; of a text in an unframed one. */
#define LOOKED_AT 1024
#define TEXT_MAX  256

/* No call has this id. */
#define NOBODY G_MAXUINT64

typedef enum {
	THRIFT_CALL = 1,
	THRIFT_REPLY,
	THRIFT_EXCEPTION,
	THRIFT_ONEWAY
} Type;

typedef struct {
	WpMessage message;
	WpThriftWalk walk; /* of an unframed message; depth 0 = none is open */
} Side;

typedef struct {
	Side sides[2];
	guint32 n_zero[2];     /* calls and returns numbered 0 since the flow was idle */
	gboolean is_disturbed; /* bytes are missing: they cannot be counted */
} State;

typedef struct {
	gboolean is_framed;
	gboolean is_compact;
	gboolean is_old; /* without version */
	gsize frame;     /* bytes of the frame, its length's too */
	guint8 type;
	guint32 number;
	const char *name;
	gsize name_length;
	gsize body_at;
} Head;

static gboolean
is_name(const guint8 *name, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (!g_ascii_isalnum(name[i]) && !strchr("_.:$-/", name[i]))
			return FALSE;
	return TRUE;
}

/* LENGTH bytes of a name, as many as there are. */
static WpDecodeStatus
read_name(WpBytes *in, guint64 length, Head *out)
{
	if (in->failed)
		return WP_DECODE_MORE;
	gsize there = (gsize)MIN(length, wp_bytes_left(in));
	if (length == 0 || length > METHOD_MAX || !is_name(in->data + in->at, there) ||
	    (there && g_ascii_isdigit(in->data[in->at])))
		return WP_DECODE_BAD;
	out->name = (const char *)in->data + in->at;
	out->name_length = (gsize)length;
	return wp_bytes_skip(in, (gsize)length) ? WP_DECODE_OK : WP_DECODE_MORE;
}

static WpDecodeStatus
read_binary(WpBytes *in, Head *out)
{
	if (wp_bytes_be24(in) != 0x800100 && !in->failed)
		return WP_DECODE_BAD;
	out->type = wp_bytes_u8(in);
	WpDecodeStatus status = read_name(in, wp_bytes_be32(in), out);
	out->number = wp_bytes_be32(in);
	return status;
}

static WpDecodeStatus
read_compact(WpBytes *in, Head *out)
{
	wp_bytes_u8(in);
	guint8 type = wp_bytes_u8(in);
	out->is_compact = TRUE;
	out->type = type >> 5;
	if (!in->failed && (type & 31) != 1)
		return WP_DECODE_BAD;
	out->number = (guint32)wp_thrift_varint(in);
	return read_name(in, wp_thrift_varint(in), out);
}

static WpDecodeStatus
read_old(WpBytes *in, Head *out)
{
	WpDecodeStatus status = read_name(in, wp_bytes_be32(in), out);
	out->is_old = TRUE;
	out->type = wp_bytes_u8(in);
	out->number = wp_bytes_be32(in);
	return status;
}

/* A message without a frame. */
static WpDecodeStatus
read_message(WpBytes *in, Head *out)
{
	if (wp_bytes_left(in) == 0)
		return WP_DECODE_MORE;
	guint8 first = in->data[in->at];
	WpDecodeStatus status = first == 0x80   ? read_binary(in, out)
				: first == 0x82 ? read_compact(in, out)
						: read_old(in, out);
	if (status == WP_DECODE_BAD)
		return status;
	if (status == WP_DECODE_MORE || in->failed)
		return WP_DECODE_MORE;
	out->body_at = in->at;
	return out->type >= THRIFT_CALL && out->type <= THRIFT_ONEWAY ? WP_DECODE_OK
								      : WP_DECODE_BAD;
}

/* TRUE where the first four bytes, the length of a frame, cannot be that of a name. */
static gboolean
is_framed(WpBytes in)
{
	guint32 length = wp_bytes_be32(&in);
	if (length > METHOD_MAX || wp_bytes_left(&in) == 0)
		return TRUE;
	guint8 next = in.data[in.at];
	return next == 0x80 || next == 0x82 || next == 0;
}

static WpDecodeStatus
read_head(WpBytes in, Head *out)
{
	*out = (Head){ 0 };
	if (in.length < 5)
		return in.length && in.data[0] > FRAME_MAX >> 24 && in.data[0] != 0x80 &&
				       in.data[0] != 0x82
			       ? WP_DECODE_BAD
			       : WP_DECODE_MORE;
	if (in.data[0] == 0x80 || in.data[0] == 0x82 || !is_framed(in))
		return read_message(&in, out);
	guint32 length = wp_bytes_be32(&in);
	if (length > FRAME_MAX)
		return WP_DECODE_BAD;
	out->is_framed = TRUE;
	out->frame = 4 + (gsize)length;
	gboolean is_all = in.length >= out->frame;
	in.length = MIN(in.length, out->frame);
	WpDecodeStatus status = read_message(&in, out);
	return status == WP_DECODE_MORE && is_all ? WP_DECODE_BAD : status;
}

/* --- messages --- */

static void
look_at_step(WpDecodeContext *context, WpMessage *message, const WpThriftStep *step)
{
	if (message->kind == WP_KIND_RETURN && step->field > 0 &&
	    message->status == WP_STATUS_UNKNOWN)
		message->status = WP_STATUS_ERROR;
	if (message->status == WP_STATUS_UNKNOWN && message->kind == WP_KIND_RETURN)
		message->status = WP_STATUS_OK;
	if (message->kind == WP_KIND_RETURN)
		return;
	if (step->text_all) {
		wp_decode_tokens(context, message, step->text.data,
				 MIN(step->text.length, TEXT_MAX));
	} else if (step->has_number) {
		gboolean is_negative = step->number < 0;
		guint64 magnitude = is_negative ? -(guint64)step->number : (guint64)step->number;
		wp_decode_number(context, message, magnitude, is_negative);
	}
}

/*
 * What pairs. Calls numbered 0 are counted, and so are returns, as long as nothing is missing; behind a
 * hole from the next time on that none is outstanding.
 */
static guint64
callid_of(State *state, WpDecodeContext *context, const Head *head)
{
	gboolean is_call = head->type == THRIFT_CALL;
	if (head->number != 0)
		return head->number;
	if (is_call && wp_decode_n_pending(context) == 0) {
		memset(state->n_zero, 0, sizeof state->n_zero);
		state->is_disturbed = FALSE;
	}
	if (state->is_disturbed)
		return 0;
	return (guint64)++state->n_zero[is_call ? 0 : 1] << 32;
}

/* The method, without the service that a multiplexed call has before it and its return has not. */
static guint32
method_of(const Head *head)
{
	guint32 hash = 5381;
	for (gsize i = 0; i < head->name_length; i++)
		hash = head->name[i] == ':' ? 5381 : hash * 33 + (guint8)head->name[i];
	return hash;
}

/* Of a return: the call of that number, if it is one of the same method. */
static guint64
answered(State *state, WpDecodeContext *context, const Head *head)
{
	guint32 method;
	guint64 callid = callid_of(state, context, head);
	gboolean is_other =
		wp_decode_pending_callid(context, callid, &method) && method != method_of(head);
	if (is_other && head->number == 0 && !state->is_disturbed)
		state->n_zero[1]--; /* its call was not seen, and not counted */
	return is_other ? NOBODY : callid;
}

static void
describe(State *state, WpDecodeContext *context, const Head *head, WpMessage *message)
{
	switch (head->type) {
	case THRIFT_CALL:
		message->kind = WP_KIND_CALL;
		break;
	case THRIFT_ONEWAY:
		message->kind = WP_KIND_MESSAGE;
		break;
	default:
		message->kind = WP_KIND_RETURN;
		message->status =
			head->type == THRIFT_EXCEPTION ? WP_STATUS_ERROR : WP_STATUS_UNKNOWN;
	}
	message->note = method_of(head);
	if (message->kind == WP_KIND_CALL)
		message->callid = callid_of(state, context, head);
	else if (message->kind == WP_KIND_RETURN)
		message->callid = answered(state, context, head);
	if (message->kind != WP_KIND_RETURN)
		message->label = wp_decode_label(context, head->name, head->name_length);
}

/* Of what is framed: the begin of the struct, as far as it is looked at. */
static void
scan(WpDecodeContext *context, Side *side, const Head *head, WpBytes in)
{
	WpThriftStep step;
	wp_thrift_walk_start(&side->walk, head->is_compact);
	wp_bytes_skip(&in, head->body_at);
	while (side->walk.depth && wp_bytes_left(&in)) {
		WpBytes here = wp_bytes(in.data + in.at, wp_bytes_left(&in));
		if (wp_thrift_walk_step(&side->walk, here, &step) != WP_DECODE_OK)
			break;
		look_at_step(context, &side->message, &step);
		wp_bytes_skip(&in, MIN(step.length, wp_bytes_left(&in)));
	}
	side->walk.depth = 0;
}

/* One step of what is not framed; where it needs more bytes, the walk stays where it is. */
static WpDecodeStatus
step_unframed(Side *side, WpDecodeContext *context, WpBytes in, gsize *out_length)
{
	WpThriftStep step;
	WpThriftWalk *walk = &side->walk;
	guint depth = walk->depth;
	WpThriftLevel before = walk->levels[depth - 1]; /* a text changes no other that was there */
	WpDecodeStatus status = wp_thrift_walk_step(walk, in, &step);
	if (status != WP_DECODE_OK)
		return status;
	if (step.text.length < MIN(step.text_all, TEXT_MAX) && !wp_decode_is_cut(context)) {
		walk->depth = depth;
		walk->levels[depth - 1] = before;
		return WP_DECODE_MORE;
	}
	look_at_step(context, &side->message, &step);
	*out_length = step.length;
	return WP_DECODE_OK;
}

/* As many steps as are here: a list of numbers has thousands, of a few bytes each. */
static WpDecodeStatus
decode_unframed(Side *side, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	gsize length = 0;
	WpDecodeStatus status = step_unframed(side, context, in, &unit->length);
	if (status != WP_DECODE_OK)
		return status;
	while (side->walk.depth && unit->length < in.length &&
	       step_unframed(side, context,
			     wp_bytes_to_pass(in.data + unit->length, in.length - unit->length),
			     &length) == WP_DECODE_OK)
		unit->length += length;
	unit->extends = &side->message;
	if (side->walk.depth == 0)
		unit->emits = &side->message;
	return WP_DECODE_OK;
}

static WpDecodeStatus
thrift_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	Side *side = &state->sides[direction];
	Head head;
	if (side->walk.depth)
		return decode_unframed(side, context, in, unit);
	WpDecodeStatus status = read_head(in, &head);
	if (status != WP_DECODE_OK)
		return status;
	gsize wanted = MIN(head.frame, LOOKED_AT);
	if (in.length < wanted && !wp_decode_is_cut(context)) {
		unit->need = wanted;
		return WP_DECODE_MORE;
	}
	describe(state, context, &head, &side->message);
	unit->opens = unit->extends = &side->message;
	if (head.is_framed) {
		scan(context, side, &head, wp_bytes(in.data, MIN(in.length, wanted)));
		unit->length = head.frame;
		unit->emits = &side->message;
	} else {
		wp_thrift_walk_start(&side->walk, head.is_compact);
		unit->length = head.body_at;
	}
	return WP_DECODE_OK;
}

static void
thrift_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	memset(&state->sides[direction], 0, sizeof state->sides[direction]);
	state->is_disturbed = TRUE;
}

/* --- detection --- */

static WpDecodeStatus
begins(WpBytes in, WpDirection direction, Head *out)
{
	WpDecodeStatus status = read_head(in, out);
	if (status != WP_DECODE_OK)
		return status;
	gboolean is_call = out->type == THRIFT_CALL || out->type == THRIFT_ONEWAY;
	return is_call == (direction == WP_FROM_CLIENT) ? WP_DECODE_OK : WP_DECODE_BAD;
}

static WpDecodeStatus
thrift_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	Head head;
	return begins(in, direction, &head);
}

static WpProbeVerdict
thrift_probe(const WpProbe *probe)
{
	Head call = { 0 }, answer = { 0 };
	WpDecodeStatus client = begins(probe->client, WP_FROM_CLIENT, &call);
	WpDecodeStatus server = begins(probe->server, WP_FROM_SERVER, &answer);
	return wp_probe_verdict(
		probe, client, server,
		(WpProbeVerdicts){
			.client = call.is_old ? WP_PROBE_MAYBE : WP_PROBE_SURE,
			.server = answer.is_old ? WP_PROBE_MAYBE : WP_PROBE_LIKELY,
			.both = call.is_old == answer.is_old ? WP_PROBE_SURE : WP_PROBE_NO,
		});
}

static const guint16 thrift_ports[] = { 9090, 0 };

const WpDecoder wp_decoder_thrift = {
	.name = "thrift",
	.summary = "Apache Thrift: binary and compact, framed or not",
	.transports = WP_TRANSPORT_TCP,
	.ports = thrift_ports,
	.by_callid = TRUE,
	.reuses_callids = TRUE,
	.state_size = sizeof(State),
	.probe = thrift_probe,
	.decode = thrift_decode,
	.sync = thrift_sync,
	.lost = thrift_lost,
};
