/*
 * AMQP 0-9-1 (RabbitMQ and others; amqp.org, "AMQP 0-9-1 specification", sections 2.3 and 4.2; RabbitMQ's
 * extensions: confirm, basic.nack, exchange.bind, connection.blocked).
 *
 *      frame     |type|channel|size|...|0xce
 *      method    |1   |n      |..  |class|method|arguments|
 *      content   |2   |n      |..  |class|0|body size|properties|  then |3|n|..|body|, as many as it takes
 *
 * A method whose answer is its own -ok is a call, and that is the return: by channel and method, for on one
 * channel there is one at a time. What publishes and delivers is one way, with its content; so is all else.
 * A channel or connection closed for an error is the return of the method that waits there. Frames of several
 * channels come in any order, but those of one message in its own.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/label.h"
#include "capture/probe.h"

/* Contents that are on their way at a time, in one direction; a further one is left as its method. */
#define MAX_CONTENTS 16

/* Largest frame that is believed; negotiated ones are 128 KiB. */
#define FRAME_MAX (16u * 1024 * 1024)

/* Of each frame so much is looked at. */
#define LOOKED_AT 512

enum {
	FRAME_METHOD = 1,
	FRAME_HEADER = 2,
	FRAME_BODY = 3,
	FRAME_HEARTBEAT = 8,
	FRAME_END = 0xce,
	FRAME_HEAD = 7
};

enum {
	CONNECTION_TUNE_OK = 10 << 16 | 31,
	CONNECTION_CLOSE = 10 << 16 | 50,
	CHANNEL_FLOW = 20 << 16 | 20,
	CHANNEL_FLOW_OK = 20 << 16 | 21,
	CHANNEL_CLOSE = 20 << 16 | 40,
	CHANNEL_CLOSE_OK = 20 << 16 | 41,
	CONNECTION_CLOSE_OK = 10 << 16 | 51,
	BASIC_PUBLISH = 60 << 16 | 40,
	NO_ERROR = 200
};

typedef enum {
	PLAIN,  /* one way */
	CALL,   /* its answer is -ok */
	ANSWER, /* of the method in the row */
	CONTENT /* one way, and content follows */
} Sense;

typedef struct {
	guint16 class_id;
	guint16 method_id;
	guint8 sense;         /* Sense */
	guint8 answers;       /* method of the same class */
	guint8 skip;          /* bytes before the names: ticket, tag, ... */
	guint8 n_names;       /* short texts that stand next */
	guint8 shown;         /* those of them that go into the label, a set of bits */
	gint8 no_wait;        /* bit behind the names that says: no answer; -1 = none */
	gboolean has_content; /* an answer with content */
	const char *name;
} Method;

static const Method methods[] = {
	{ 10, 10, CALL, 0, 0, 0, 0, -1, FALSE, "connection.start" },
	{ 10, 11, ANSWER, 10, 0, 0, 0, -1, FALSE, "connection.start-ok" },
	{ 10, 20, CALL, 0, 0, 0, 0, -1, FALSE, "connection.secure" },
	{ 10, 21, ANSWER, 20, 0, 0, 0, -1, FALSE, "connection.secure-ok" },
	{ 10, 30, CALL, 0, 0, 0, 0, -1, FALSE, "connection.tune" },
	{ 10, 31, ANSWER, 30, 0, 0, 0, -1, FALSE, "connection.tune-ok" },
	{ 10, 40, CALL, 0, 0, 0, 0, -1, FALSE, "connection.open" },
	{ 10, 41, ANSWER, 40, 0, 0, 0, -1, FALSE, "connection.open-ok" },
	{ 10, 50, CALL, 0, 0, 0, 0, -1, FALSE, "connection.close" },
	{ 10, 51, ANSWER, 50, 0, 0, 0, -1, FALSE, "connection.close-ok" },
	{ 10, 60, PLAIN, 0, 0, 0, 0, -1, FALSE, "connection.blocked" },
	{ 10, 61, PLAIN, 0, 0, 0, 0, -1, FALSE, "connection.unblocked" },
	{ 10, 70, CALL, 0, 0, 0, 0, -1, FALSE, "connection.update-secret" },
	{ 10, 71, ANSWER, 70, 0, 0, 0, -1, FALSE, "connection.update-secret-ok" },
	{ 20, 10, CALL, 0, 0, 0, 0, -1, FALSE, "channel.open" },
	{ 20, 11, ANSWER, 10, 0, 0, 0, -1, FALSE, "channel.open-ok" },
	{ 20, 20, CALL, 0, 0, 0, 0, -1, FALSE, "channel.flow" },
	{ 20, 21, ANSWER, 20, 0, 0, 0, -1, FALSE, "channel.flow-ok" },
	{ 20, 40, CALL, 0, 0, 0, 0, -1, FALSE, "channel.close" },
	{ 20, 41, ANSWER, 40, 0, 0, 0, -1, FALSE, "channel.close-ok" },
	{ 40, 10, CALL, 0, 2, 2, 1, 4, FALSE, "exchange.declare" },
	{ 40, 11, ANSWER, 10, 0, 0, 0, -1, FALSE, "exchange.declare-ok" },
	{ 40, 20, CALL, 0, 2, 1, 1, 1, FALSE, "exchange.delete" },
	{ 40, 21, ANSWER, 20, 0, 0, 0, -1, FALSE, "exchange.delete-ok" },
	{ 40, 30, CALL, 0, 2, 3, 1, 0, FALSE, "exchange.bind" },
	{ 40, 31, ANSWER, 30, 0, 0, 0, -1, FALSE, "exchange.bind-ok" },
	{ 40, 40, CALL, 0, 2, 3, 1, 0, FALSE, "exchange.unbind" },
	{ 40, 51, ANSWER, 40, 0, 0, 0, -1, FALSE, "exchange.unbind-ok" },
	{ 50, 10, CALL, 0, 2, 1, 1, 4, FALSE, "queue.declare" },
	{ 50, 11, ANSWER, 10, 0, 0, 0, -1, FALSE, "queue.declare-ok" },
	{ 50, 20, CALL, 0, 2, 3, 1, 0, FALSE, "queue.bind" },
	{ 50, 21, ANSWER, 20, 0, 0, 0, -1, FALSE, "queue.bind-ok" },
	{ 50, 30, CALL, 0, 2, 1, 1, 0, FALSE, "queue.purge" },
	{ 50, 31, ANSWER, 30, 0, 0, 0, -1, FALSE, "queue.purge-ok" },
	{ 50, 40, CALL, 0, 2, 1, 1, 2, FALSE, "queue.delete" },
	{ 50, 41, ANSWER, 40, 0, 0, 0, -1, FALSE, "queue.delete-ok" },
	{ 50, 50, CALL, 0, 2, 3, 1, -1, FALSE, "queue.unbind" },
	{ 50, 51, ANSWER, 50, 0, 0, 0, -1, FALSE, "queue.unbind-ok" },
	{ 60, 10, CALL, 0, 0, 0, 0, -1, FALSE, "basic.qos" },
	{ 60, 11, ANSWER, 10, 0, 0, 0, -1, FALSE, "basic.qos-ok" },
	{ 60, 20, CALL, 0, 2, 2, 1, 3, FALSE, "basic.consume" },
	{ 60, 21, ANSWER, 20, 0, 0, 0, -1, FALSE, "basic.consume-ok" },
	{ 60, 30, CALL, 0, 0, 1, 0, 0, FALSE, "basic.cancel" },
	{ 60, 31, ANSWER, 30, 0, 0, 0, -1, FALSE, "basic.cancel-ok" },
	{ 60, 40, CONTENT, 0, 2, 2, 3, -1, FALSE, "basic.publish" },
	{ 60, 50, CONTENT, 0, 2, 3, 6, -1, FALSE, "basic.return" },
	{ 60, 60, CONTENT, 0, 0, 1, 0, -1, FALSE, "basic.deliver" },
	{ 60, 70, CALL, 0, 2, 1, 1, -1, FALSE, "basic.get" },
	{ 60, 71, ANSWER, 70, 0, 0, 0, -1, TRUE, "basic.get-ok" },
	{ 60, 72, ANSWER, 70, 0, 0, 0, -1, FALSE, "basic.get-empty" },
	{ 60, 80, PLAIN, 0, 0, 0, 0, -1, FALSE, "basic.ack" },
	{ 60, 90, PLAIN, 0, 0, 0, 0, -1, FALSE, "basic.reject" },
	{ 60, 100, PLAIN, 0, 0, 0, 0, -1, FALSE, "basic.recover-async" },
	{ 60, 110, CALL, 0, 0, 0, 0, -1, FALSE, "basic.recover" },
	{ 60, 111, ANSWER, 110, 0, 0, 0, -1, FALSE, "basic.recover-ok" },
	{ 60, 120, PLAIN, 0, 0, 0, 0, -1, FALSE, "basic.nack" },
	{ 85, 10, CALL, 0, 0, 0, 0, 0, FALSE, "confirm.select" },
	{ 85, 11, ANSWER, 10, 0, 0, 0, -1, FALSE, "confirm.select-ok" },
	{ 90, 10, CALL, 0, 0, 0, 0, -1, FALSE, "tx.select" },
	{ 90, 11, ANSWER, 10, 0, 0, 0, -1, FALSE, "tx.select-ok" },
	{ 90, 20, CALL, 0, 0, 0, 0, -1, FALSE, "tx.commit" },
	{ 90, 21, ANSWER, 20, 0, 0, 0, -1, FALSE, "tx.commit-ok" },
	{ 90, 30, CALL, 0, 0, 0, 0, -1, FALSE, "tx.rollback" },
	{ 90, 31, ANSWER, 30, 0, 0, 0, -1, FALSE, "tx.rollback-ok" },
};

typedef struct {
	WpMessage message;
	guint16 channel;
	gboolean is_used;
	gboolean has_header;
	guint64 left; /* of the body */
} Content;

typedef struct {
	WpMessage message;
	Content contents[MAX_CONTENTS];
} Side;

typedef struct {
	Side sides[2];
} State;

typedef struct {
	guint8 type;
	guint16 channel;
	guint32 size;
	gsize length; /* of all of it */
	WpBytes body; /* as far as it is looked at */
} Frame;

static const char protocol_header[8] = { 'A', 'M', 'Q', 'P', 0, 0, 9, 1 };

static const Method *
find_method(guint16 class_id, guint16 method_id)
{
	for (gsize i = 0; i < G_N_ELEMENTS(methods); i++)
		if (methods[i].class_id == class_id && methods[i].method_id == method_id)
			return &methods[i];
	return NULL;
}

static Content *
find_content(Side *side, guint16 channel)
{
	for (guint i = 0; i < MAX_CONTENTS; i++)
		if (side->contents[i].is_used && side->contents[i].channel == channel)
			return &side->contents[i];
	return NULL;
}

/* The message of a content that begins on CHANNEL; NULL where there is no room. */
static Content *
new_content(Side *side, guint16 channel)
{
	Content *content = find_content(side, channel);
	for (guint i = 0; !content && i < MAX_CONTENTS; i++)
		if (!side->contents[i].is_used)
			content = &side->contents[i];
	if (content)
		*content = (Content){ .channel = channel, .is_used = TRUE };
	return content;
}

/* --- frames --- */

static WpDecodeStatus
header_begins(WpBytes in)
{
	gsize n = MIN(in.length, sizeof protocol_header);
	if (memcmp(in.data, protocol_header, n) != 0)
		return WP_DECODE_BAD;
	return n < sizeof protocol_header ? WP_DECODE_MORE : WP_DECODE_OK;
}

static WpDecodeStatus
read_frame(WpBytes in, Frame *out)
{
	*out = (Frame){ .type = wp_bytes_u8(&in) };
	out->channel = wp_bytes_be16(&in);
	out->size = wp_bytes_be32(&in);
	gboolean is_known = (out->type >= FRAME_METHOD && out->type <= FRAME_BODY) ||
			    out->type == FRAME_HEARTBEAT;
	if (in.length && !is_known)
		return WP_DECODE_BAD;
	if (in.failed)
		return WP_DECODE_MORE;
	if (out->size > FRAME_MAX || (out->type == FRAME_METHOD && out->size < 4) ||
	    (out->type == FRAME_HEADER && out->size < 14))
		return WP_DECODE_BAD;
	out->length = FRAME_HEAD + (gsize)out->size + 1;
	if (in.length >= out->length && in.data[out->length - 1] != FRAME_END)
		return WP_DECODE_BAD;
	gsize there = MIN(wp_bytes_left(&in), MIN(out->size, LOOKED_AT));
	out->body = wp_bytes(in.data + in.at, there);
	return WP_DECODE_OK;
}

static guint64
callid_of(guint16 channel, guint16 class_id, guint16 method_id)
{
	return (guint64)channel << 32 | (guint32)class_id << 16 | method_id;
}

/* A short text: its length, then so many bytes. */
static const char *
read_short(WpBytes *in, gsize *out_length)
{
	*out_length = wp_bytes_u8(in);
	const guint8 *text = wp_bytes_take(in, *out_length);
	if (!text)
		*out_length = 0;
	return (const char *)text;
}

static void
describe(WpDecodeContext *context, const Method *method, WpBytes args, WpMessage *message)
{
	char label[WP_LABEL_MAX + 1];
	gsize n = g_strlcpy(label, method->name, sizeof label), length;
	guint n_names = method->n_names, shown = method->shown;
	wp_bytes_skip(&args, method->skip);
	if (method->sense == CONTENT && method->method_id == 60) { /* the tag, number, then names */
		read_short(&args, &length);
		wp_bytes_skip(&args, 9);
		n_names = 2;
		shown = 3;
	}
	for (guint i = 0; i < n_names; i++) {
		const char *name = read_short(&args, &length);
		if (!(shown >> i & 1) || length == 0 || n + 2 >= sizeof label)
			continue;
		label[n++] = ' ';
		n += wp_label_key(name, length, label + n, sizeof label - n);
		if (method->sense != ANSWER)
			wp_decode_tokens(context, message, (const guint8 *)name, length);
	}
	if (method->no_wait >= 0)
		message->no_return = wp_bytes_u8(&args) >> method->no_wait & 1;
	message->label = wp_decode_label(context, label, n);
	if (method->class_id == 10 || (method->class_id == 20 && method->method_id < 20))
		message->marks = WP_MARK_SETUP;
}

/* --- methods --- */

static WpDirection
other(WpDirection direction)
{
	return direction == WP_FROM_CLIENT ? WP_FROM_SERVER : WP_FROM_CLIENT;
}

static guint32
number_of(const Method *method)
{
	return (guint32)method->class_id << 16 | method->method_id;
}

/* Of a call or its answer: the server asks before the connection is open, the client behind that. */
static WpDirection
caller_of(const Method *method)
{
	return number_of(method) <= CONNECTION_TUNE_OK ? WP_FROM_SERVER : WP_FROM_CLIENT;
}

/*
 * TRUE where a method of CALLER, other than a close, waits on CHANNEL; its callid. There is one at a time: of
 * several, answers were not captured, and nobody knows which of them still wait.
 */
static gboolean
is_waited_for(WpDecodeContext *context, guint16 channel, WpDirection caller, guint64 *out_callid)
{
	guint64 found = 0;
	guint32 note;
	guint n_waiting = 0;

	for (gsize i = 0; i < G_N_ELEMENTS(methods); i++) {
		const Method *method = &methods[i];
		guint64 callid = callid_of(channel, method->class_id, method->method_id);
		if (method->sense != CALL || caller_of(method) != caller ||
		    number_of(method) == CHANNEL_CLOSE || number_of(method) == CONNECTION_CLOSE ||
		    !wp_decode_pending_callid(context, callid, &note))
			continue;
		if (++n_waiting > 1)
			return FALSE;
		found = callid;
	}
	if (n_waiting == 1)
		*out_callid = found;
	return n_waiting == 1;
}

/*
 * The callid of the method that a close names as its reason, if CALLER waits for the answer to such; 0 where it
 * is another, or cut off. ARGS: behind the code of the close.
 */
static guint64
named_call(const Frame *frame, WpBytes args, WpDirection caller)
{
	gsize length;
	read_short(&args, &length);
	guint16 class_id = wp_bytes_be16(&args), method_id = wp_bytes_be16(&args);
	const Method *method = args.failed ? NULL : find_method(class_id, method_id);
	if (!method || method->sense != CALL || caller_of(method) != caller)
		return 0;
	return callid_of(frame->channel, class_id, method_id);
}

/*
 * A close for an error is the answer to the method that it names, be that captured or not, else to what waits on
 * the channel, be it discarded unread.
 */
static gboolean
closes_call(WpDecodeContext *context, const Method *method, const Frame *frame, WpBytes args,
	    WpDirection closer, guint64 *out_callid)
{
	guint32 which = number_of(method);
	if (which != CONNECTION_CLOSE && which != CHANNEL_CLOSE)
		return FALSE;
	if (wp_bytes_be16(&args) == NO_ERROR || args.failed)
		return FALSE;
	*out_callid = named_call(frame, args, other(closer));
	return *out_callid || is_waited_for(context, frame->channel, other(closer), out_callid);
}

/* What was sent on a channel while its close was on the way is discarded: the close-ok ends it. */
static void
end_discarded(WpDecodeContext *context, guint16 channel, WpDirection caller)
{
	WpMessage given_up = { .kind = WP_KIND_RETURN, .status = WP_STATUS_ERROR };
	if (!is_waited_for(context, channel, caller, &given_up.callid))
		return;
	wp_decode_open(context, &given_up, other(caller));
	wp_decode_emit(context, &given_up);
}

static void
open_method(WpDecodeContext *context, const Method *method, const Frame *frame, WpBytes args,
	    WpDirection from, WpMessage *message)
{
	guint32 which = number_of(method), note;
	guint64 callid;
	if (closes_call(context, method, frame, args, from, &callid)) {
		message->kind = WP_KIND_RETURN;
		message->status = WP_STATUS_ERROR;
		message->callid = callid;
		return;
	}
	switch (method->sense) {
	case CALL:
		message->kind = WP_KIND_CALL;
		message->callid = callid_of(frame->channel, method->class_id, method->method_id);
		describe(context, method, args, message);
		break;
	case ANSWER:
		message->kind = WP_KIND_RETURN;
		message->status = WP_STATUS_OK;
		message->callid = callid_of(frame->channel, method->class_id, method->answers);
		if ((which != CHANNEL_CLOSE_OK && which != CONNECTION_CLOSE_OK) ||
		    wp_decode_pending_callid(context, message->callid, &note))
			break;
		/* fall through */
	default:
		message->kind = WP_KIND_MESSAGE;
		message->status = WP_STATUS_UNKNOWN;
		describe(context, method, args, message);
	}
}

static WpDecodeStatus
decode_method(Side *side, WpDecodeContext *context, const Frame *frame, WpDirection from,
	      WpUnit *unit)
{
	WpBytes args = frame->body;
	guint16 class_id = wp_bytes_be16(&args), method_id = wp_bytes_be16(&args);
	const Method *method = find_method(class_id, method_id);
	if (!method)
		return args.failed ? WP_DECODE_MORE : WP_DECODE_BAD;
	gboolean has_content = method->sense == CONTENT || method->has_content;
	Content *content = has_content ? new_content(side, frame->channel) : NULL;
	WpMessage *message = content ? &content->message : &side->message;
	if (has_content && !content)
		wp_decode_count(context, WP_COUNT_STREAMS_EVICTED);
	if (number_of(method) == CHANNEL_CLOSE_OK)
		end_discarded(context, frame->channel, from);
	open_method(context, method, frame, args, from, message);
	unit->opens = unit->extends = message;
	unit->emits = content ? NULL : message;
	return WP_DECODE_OK;
}

/* --- content --- */

static void
extend_content(Content *content, WpUnit *unit)
{
	unit->extends = &content->message;
	if (content->has_header && content->left == 0) {
		unit->emits = &content->message;
		content->is_used = FALSE;
	}
}

static void
look_at_content(WpDecodeContext *context, Content *content, WpBytes body)
{
	if (content->message.kind != WP_KIND_RETURN)
		wp_decode_tokens(context, &content->message, body.data + body.at,
				 wp_bytes_left(&body));
}

static void
decode_content(Side *side, WpDecodeContext *context, const Frame *frame, WpUnit *unit)
{
	Content *content = find_content(side, frame->channel);
	WpBytes body = frame->body;
	if (!content || !content->message.is_open)
		return; /* its method was not seen */
	if (frame->type == FRAME_HEADER) {
		wp_bytes_be32(&body); /* class, weight */
		content->left = wp_bytes_be64(&body);
		content->has_header = TRUE;
		wp_bytes_be16(&body); /* which properties there are */
	} else {
		content->left -= MIN(content->left, frame->size);
	}
	look_at_content(context, content, body);
	extend_content(content, unit);
}

static WpDecodeStatus
amqp_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	Side *side = &((State *)data)->sides[direction];
	Frame frame;
	if (in.length && in.data[0] == 'A') {
		unit->length = sizeof protocol_header;
		return header_begins(in);
	}
	WpDecodeStatus status = read_frame(in, &frame);
	if (status != WP_DECODE_OK)
		return status;
	gsize wanted = MIN(frame.length, FRAME_HEAD + LOOKED_AT);
	if (in.length < wanted && !wp_decode_is_cut(context)) {
		unit->need = wanted;
		return WP_DECODE_MORE;
	}
	unit->length = frame.length;
	if (frame.type == FRAME_METHOD)
		return decode_method(side, context, &frame, direction, unit);
	if (frame.type != FRAME_HEARTBEAT)
		decode_content(side, context, &frame, unit);
	return WP_DECODE_OK;
}

static void
amqp_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	memset(&state->sides[direction], 0, sizeof state->sides[direction]);
}

/* --- detection --- */

/* Most methods are sent by one side only: that tells who is who in mid-stream. */
static gboolean
is_sent_by(const Method *method, WpDirection direction)
{
	guint32 which = number_of(method);
	if (method->sense == CALL)
		return which == CONNECTION_CLOSE || which == CHANNEL_CLOSE ||
		       which == CHANNEL_FLOW || caller_of(method) == direction;
	if (method->sense == ANSWER)
		return which == CONNECTION_CLOSE_OK || which == CHANNEL_CLOSE_OK ||
		       which == CHANNEL_FLOW_OK || caller_of(method) != direction;
	if (method->sense == CONTENT)
		return (which == BASIC_PUBLISH) == (direction == WP_FROM_CLIENT);
	return TRUE;
}

static WpDecodeStatus
begins(WpBytes in, WpDirection direction)
{
	Frame frame;
	if (direction == WP_FROM_CLIENT && in.length && in.data[0] == 'A')
		return header_begins(in);
	WpDecodeStatus status = read_frame(in, &frame);
	if (status != WP_DECODE_OK)
		return status;
	gboolean is_all = in.length >= frame.length;
	WpBytes body = frame.body;
	switch (frame.type) {
	case FRAME_METHOD:
		if (wp_bytes_left(&body) < 4)
			return WP_DECODE_MORE;
		guint16 class_id = wp_bytes_be16(&body);
		const Method *method = find_method(class_id, wp_bytes_be16(&body));
		return method && is_sent_by(method, direction) ? WP_DECODE_OK : WP_DECODE_BAD;
	case FRAME_HEARTBEAT:
		/* One comparison: of two the compiler makes one over the padding between. */
		if ((frame.channel | frame.size) != 0)
			return WP_DECODE_BAD;
		return is_all ? WP_DECODE_OK : WP_DECODE_MORE;
	default:
		return is_all && frame.channel != 0 ? WP_DECODE_OK : WP_DECODE_BAD;
	}
}

static WpDecodeStatus
amqp_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	return begins(in, direction);
}

static WpProbeVerdict
amqp_probe(const WpProbe *probe)
{
	WpDecodeStatus client = begins(probe->client, WP_FROM_CLIENT);
	gboolean is_greeting = client == WP_DECODE_OK && probe->client.data[0] == 'A';
	return wp_probe_verdict(probe, client, begins(probe->server, WP_FROM_SERVER),
				(WpProbeVerdicts){
					.client = is_greeting ? WP_PROBE_SURE : WP_PROBE_LIKELY,
					.server = WP_PROBE_LIKELY,
					.both = WP_PROBE_SURE,
				});
}

static const guint16 amqp_ports[] = { 5672, 0 };

const WpDecoder wp_decoder_amqp = {
	.name = "amqp",
	.summary = "AMQP 0-9-1 (RabbitMQ)",
	.transports = WP_TRANSPORT_TCP,
	.ports = amqp_ports,
	.by_callid = TRUE,
	.reuses_callids = TRUE,
	.state_size = sizeof(State),
	.probe = amqp_probe,
	.decode = amqp_decode,
	.sync = amqp_sync,
	.lost = amqp_lost,
};
