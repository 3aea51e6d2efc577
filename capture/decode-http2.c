/*
 * HTTP/2 (RFC 9113) with the names that HPACK (RFC 7541) hides, and gRPC, which it carries.
 *
 * A connection carries many streams at a time, each a call and its return, cut into frames that take
 * turns. The stream's id is the id of the call, so nothing depends on the order of answers:
 *
 *     client   HEADERS 1   HEADERS 3   DATA 1 (END_STREAM)   DATA 3 (END_STREAM)
 *              |<-------------- call 1 ------------------>|
 *     server                              HEADERS 3  DATA 3  HEADERS 1 ...  HEADERS 3 (END_STREAM)
 *                                         |<------------------ return 3 ----------------------->|
 *
 * - A response before the end of the request: what came of the request is the call.
 * - 1xx are no returns. A tunnel (CONNECT, WebSocket by RFC 8441) ends the call when it is open.
 * - RST_STREAM of the server is a return that failed. That of the client ends the waiting: a return by
 *   reset. GOAWAY, SETTINGS, PING and the like are no messages; a call above the last stream of a
 *   GOAWAY has no return.
 * - What a server pushes is a one-way message, named by its promise.
 * - A stream on which both talk by turns, or on which the server pauses, waits by design.
 * - Around holes ids still pair. A call whose begin was not seen is none; a return needs its end.
 *   Header fields that refer to unseen ones are unknown.
 */
#include <string.h>

#include "capture/decoders.h"
#include "capture/http-fields.h"
#include "capture/http2-block.h"
#include "capture/http2-hidden.h"
#include "capture/http2-streams.h"

/* A response that goes on after such a pause is one of events. */
#define PAUSE_NS (1000 * G_GINT64_CONSTANT(1000000))

/*
 * A return of which nothing more came for so long since its packet was cut (snap length) ended in that
 * packet. Below the time for which records wait to be put in order.
 */
#define SETTLE_NS (1000 * G_GINT64_CONSTANT(1000000))

/* Places in a packet where frames may begin that are looked at closely. */
#define MAX_TRIES 64

/* Behind a hole, ids of new streams are at most so far above those seen. */
#define MAX_ID_STEP (4 * WP_HTTP2_MAX_STREAMS)

/* What a call was, kept as its note for the return: a set. */
enum {
	NOTE_TUNNEL = 1,
	NOTE_GRPC = 2
};

/* Section 7 */
enum {
	NO_ERROR = 0,
	REFUSED_STREAM = 7,
	CANCEL = 8
};

typedef struct {
	WpHttp2Streams streams;
	WpHttp2Block block;
	WpHttp2Stream *ending; /* handed over when the unit at hand has passed */
	gboolean has_begun;
	gboolean speaks_grpc; /* a call of the connection did, by what could be read of it */
	gsize skip;           /* bytes before the frame that sync() found */
	guint32 last_id;      /* of the client: its latest stream */
	guint32 known_from;   /* ... and all calls from this one on were seen; 0 = none yet */
	guint n_doubtful;     /* streams */
	guint64 cut_packet;   /* ... whose end is in this packet or behind it; 0 = that is known */
} Side;

typedef struct {
	Side sides[2];
	WpHttp2Hidden hidden;
} State;

/* --- streams --- */

static void
remove_stream(Side *side, WpHttp2Stream *stream)
{
	if (side->ending == stream)
		side->ending = NULL;
	side->n_doubtful -= stream->is_doubtful;
	wp_http2_streams_remove(&side->streams, stream);
}

/* The message of a unit that has passed was handed over. */
static void
reap(Side *side)
{
	if (side->ending)
		remove_stream(side, side->ending);
}

static WpHttp2Stream *
make_stream(Side *side, WpDecodeContext *context, guint32 id)
{
	if (side->streams.n == WP_HTTP2_MAX_STREAMS) {
		WpHttp2Stream *oldest = wp_http2_streams_quietest(&side->streams);
		if (oldest->message.is_open && oldest->message.kind == WP_KIND_CALL)
			wp_decode_emit(context, &oldest->message);
		remove_stream(side, oldest);
		wp_decode_count(context, WP_COUNT_STREAMS_EVICTED);
	}
	WpHttp2Stream *stream = wp_http2_streams_add(&side->streams, id);
	stream->message.callid = id;
	return stream;
}

/* The unit ends the message of STREAM. */
static void
end_stream(Side *side, WpHttp2Stream *stream, WpUnit *unit)
{
	unit->emits = &stream->message;
	side->ending = stream;
}

/* The answer comes before all of the request has: what came is the call. */
static void
emit_answered_request(State *state, WpDecodeContext *context, guint32 id)
{
	Side *client = &state->sides[WP_FROM_CLIENT];
	WpHttp2Stream *stream = wp_http2_streams_find(&client->streams, id);
	if (!stream)
		return;
	if (stream->message.is_open)
		wp_decode_emit(context, &stream->message);
	remove_stream(client, stream);
}

/*
 * The id and note of the call that a response on stream ID answers. FALSE where it is not open. Stream 1
 * of a connection that was upgraded from HTTP/1.1 answers the request that asked for it, which has no id.
 */
static gboolean
find_call(const State *state, WpDecodeContext *context, guint32 id, guint64 *out_callid,
	  guint32 *out_note)
{
	const WpHttp2Stream *open =
		wp_http2_streams_find(&state->sides[WP_FROM_CLIENT].streams, id);

	*out_callid = id;
	if (open && !open->message.is_open) /* handed over */
		open = NULL;
	*out_note = open ? open->message.note : 0;
	if (open || wp_decode_pending_callid(context, id, out_note))
		return TRUE;
	*out_note = 0;
	guint32 note;
	if (id != 1 || !wp_decode_pending_callid(context, 0, &note))
		return FALSE;
	*out_callid = 0;
	return TRUE;
}

/*
 * A return begins with this unit. NULL where its call is over (the rest after a reset, or of a tunnel),
 * and where it began before what was seen, unless it begins or ends here.
 */
static WpHttp2Stream *
start_return(State *state, WpDecodeContext *context, guint32 id, gboolean is_edge, WpUnit *unit)
{
	Side *client = &state->sides[WP_FROM_CLIENT];
	guint64 callid = id;
	guint32 note = 0;
	gboolean is_pushed = id % 2 == 0;

	if (is_pushed && !is_edge)
		return NULL;
	if (!is_pushed && id > client->last_id)
		client->last_id =
			wp_http2_hidden_reveal(&state->hidden, context, client->last_id, id + 2);
	if (!is_pushed && !find_call(state, context, id, &callid, &note)) {
		gboolean is_over =
			client->known_from && id >= client->known_from && id <= client->last_id;
		if (is_over || !is_edge)
			return NULL;
	}
	WpHttp2Stream *stream = make_stream(&state->sides[WP_FROM_SERVER], context, id);
	stream->message.kind = is_pushed ? WP_KIND_MESSAGE : WP_KIND_RETURN;
	stream->message.callid = callid;
	stream->is_tunnel = note & NOTE_TUNNEL;
	stream->is_grpc = note & NOTE_GRPC;
	unit->opens = &stream->message;
	return stream;
}

/* More of a return has come. */
static void
go_on(Side *side, WpHttp2Stream *stream)
{
	side->n_doubtful -= stream->is_doubtful;
	stream->is_doubtful = stream->is_settled = stream->has_hole = FALSE;
}

static void
end_return(State *state, WpDecodeContext *context, WpHttp2Stream *stream, WpUnit *unit)
{
	emit_answered_request(state, context, stream->id);
	end_stream(&state->sides[WP_FROM_SERVER], stream, unit);
}

/*
 * Returns that ended, as it seems, where their packets were cut: at the time of the packet if the next
 * one began with a frame, so that nothing of it was left.
 */
static void
settle_returns(State *state, WpDecodeContext *context, gint64 before_ns)
{
	Side *server = &state->sides[WP_FROM_SERVER];
	guint64 callid;
	guint32 note;

	for (guint i = server->streams.n; i-- > 0 && server->n_doubtful;) {
		WpHttp2Stream *stream = server->streams.streams[i];
		if (!stream->is_doubtful || stream->message.end.time_ns > before_ns)
			continue;
		emit_answered_request(state, context, stream->id);
		stream->message.is_cut = !stream->is_settled;
		if (stream->is_settled && find_call(state, context, stream->id, &callid, &note))
			wp_decode_count(context, WP_COUNT_RETURNS_UNREAD);
		stream->message.status = stream->is_grpc || !stream->code
						 ? WP_STATUS_UNKNOWN
						 : (guint8)wp_http_status(stream->code);
		wp_decode_emit(context, &stream->message);
		remove_stream(server, stream);
	}
}

/* --- header blocks --- */

static void
name_call(WpDecodeContext *context, WpHttp2Stream *stream, const WpHttp2Head *head)
{
	stream->message.label = wp_http2_label(context, head);
	stream->message.protocol = head->is_grpc ? wp_decode_protocol(context, "grpc") : 0;
	stream->message.note =
		(wp_http2_is_tunnel(head) ? NOTE_TUNNEL : 0) | (head->is_grpc ? NOTE_GRPC : 0);
}

/* The block of a call is whole. */
static void
end_call_block(WpDecodeContext *context, Side *side, WpHttp2Stream *stream, WpUnit *unit)
{
	WpHttp2Head *head = &side->block.head;

	if (head->is_too_long)
		wp_decode_count(context, WP_COUNT_MESSAGES_TOO_LONG);
	/* A type that stands in a header table from before the capture is not known: it is most likely that of the others. */
	head->is_grpc |= side->speaks_grpc && wp_http2_may_be_grpc(head);
	side->speaks_grpc |= head->is_grpc;
	if (stream && !stream->has_head) {
		stream->has_head = TRUE;
		stream->is_grpc = head->is_grpc;
		stream->is_binary = head->is_binary && !head->is_grpc;
		name_call(context, stream, head);
		stream->grpc_label = wp_http2_grpc_label(context, head);
	}
	if (stream && side->block.ends_stream)
		end_stream(side, stream, unit);
}

static gboolean
is_interim(const WpHttp2Stream *stream, const Side *side)
{
	return !stream->has_head && side->block.head.code >= 100 && side->block.head.code < 200 &&
	       !side->block.ends_stream;
}

static void
end_return_block(State *state, WpDecodeContext *context, WpHttp2Stream *stream, WpUnit *unit)
{
	Side *side = &state->sides[WP_FROM_SERVER];
	const WpHttp2Head *head = &side->block.head;

	if (!stream)
		return;
	if (is_interim(stream, side)) {
		unit->opens = unit->extends = NULL;
		remove_stream(side, stream);
		return;
	}
	if (!stream->has_head) {
		stream->has_head = TRUE;
		stream->code = head->code;
		stream->is_grpc |= head->is_grpc;
		stream->message.marks |= head->is_events ? WP_MARK_WAIT : 0;
	}
	stream->message.status = (guint8)wp_http2_status(stream->code, stream->is_grpc, head);
	if (side->block.ends_stream || (stream->is_tunnel && stream->code / 100 == 2))
		end_return(state, context, stream, unit);
}

/* A promise tells what the response to come is named. */
static void
end_promise(WpDecodeContext *context, Side *side)
{
	if (wp_http2_streams_find(&side->streams, side->block.promised) || side->block.promised % 2)
		return;
	WpHttp2Stream *stream = make_stream(side, context, side->block.promised);
	stream->message.kind = WP_KIND_MESSAGE;
	stream->message.end.time_ns = wp_decode_time(context);
	name_call(context, stream, &side->block.head);
}

static void
end_block(State *state, WpDecodeContext *context, WpDirection direction, WpHttp2Stream *stream,
	  WpUnit *unit)
{
	Side *side = &state->sides[direction];

	if (side->block.promised)
		end_promise(context, side);
	else if (direction == WP_FROM_CLIENT)
		end_call_block(context, side, stream, unit);
	else
		end_return_block(state, context, stream, unit);
}

/* The payload of a HEADERS, PUSH_PROMISE or CONTINUATION, which may be cut, is part of a block. */
static WpDecodeStatus
take_block(State *state, WpDecodeContext *context, WpDirection direction, WpHttp2Stream *stream,
	   const WpHttp2Frame *frame, WpBytes in, WpUnit *unit)
{
	WpHttp2Block *block = &state->sides[direction].block;
	WpMessage *message = stream ? &stream->message : NULL;

	if (!wp_http2_block_read(block, context, message, direction, frame, in))
		return WP_DECODE_BAD;
	if (!block->is_open)
		end_block(state, context, direction, stream, unit);
	return WP_DECODE_OK;
}

/* --- frames --- */

/* TRUE where the whole payload is here, or will not come, or is more than is waited for. */
static gboolean
has_payload(WpDecodeContext *context, const WpHttp2Frame *frame, const WpBytes *in, WpUnit *unit)
{
	unit->need = WP_HTTP2_HEADER_BYTES + frame->length;
	if (wp_bytes_left(in) >= frame->length || wp_decode_is_cut(context))
		return TRUE;
	return frame->length > WP_HTTP2_MAX_BLOCK_FRAME;
}

static WpDecodeStatus
decode_headers(State *state, WpDecodeContext *context, WpDirection direction,
	       const WpHttp2Frame *frame, WpBytes in, WpUnit *unit)
{
	Side *side = &state->sides[direction];

	if (!has_payload(context, frame, &in, unit))
		return WP_DECODE_MORE;
	WpHttp2Stream *stream = wp_http2_streams_find(&side->streams, frame->id);
	if (stream && !stream->message.is_open) {
		unit->opens = &stream->message; /* promised */
	} else if (!stream && direction == WP_FROM_SERVER) {
		settle_returns(state, context, wp_decode_time(context) - SETTLE_NS);
		stream = start_return(state, context, frame->id, TRUE, unit);
	} else if (!stream && frame->id % 2 && frame->id > side->last_id) {
		stream = make_stream(side, context, frame->id);
		stream->message.kind = WP_KIND_CALL;
		unit->opens = &stream->message;
		wp_http2_hidden_reveal(&state->hidden, context, side->last_id, frame->id);
		wp_http2_hidden_clear(&state->hidden);
		side->last_id = frame->id;
		side->known_from = side->known_from ? side->known_from : frame->id;
	}
	if (stream) {
		unit->extends = &stream->message;
		go_on(side, stream);
	}
	wp_http2_block_start(&side->block, frame);
	return take_block(state, context, direction, stream, frame, in, unit);
}

static WpDecodeStatus
decode_continuation(State *state, WpDecodeContext *context, WpDirection direction,
		    const WpHttp2Frame *frame, WpBytes in, WpUnit *unit)
{
	Side *side = &state->sides[direction];

	if (!has_payload(context, frame, &in, unit))
		return WP_DECODE_MORE;
	if (!side->block.is_open || side->block.id != frame->id) {
		/* Its begin is in a hole. */
		wp_hpack_lose(side->block.hpack);
		return side->block.is_open ? WP_DECODE_BAD : WP_DECODE_OK;
	}
	WpHttp2Stream *stream = wp_http2_streams_find(&side->streams, frame->id);
	if (stream && !side->block.promised)
		unit->extends = &stream->message;
	return take_block(state, context, direction, side->block.promised ? NULL : stream, frame,
			  in, unit);
}

static WpDecodeStatus
decode_promise(State *state, WpDecodeContext *context, WpDirection direction,
	       const WpHttp2Frame *frame, WpBytes in, WpUnit *unit)
{
	if (direction == WP_FROM_CLIENT)
		return WP_DECODE_BAD;
	if (!has_payload(context, frame, &in, unit))
		return WP_DECODE_MORE;
	wp_http2_block_start(&state->sides[direction].block, frame);
	return take_block(state, context, direction, NULL, frame, in, unit);
}

/* The front of a request's body is looked at. FALSE where more of it must come first. */
static gboolean
scan_body(WpDecodeContext *context, Side *side, WpHttp2Stream *stream, const WpHttp2Frame *frame,
	  WpBytes in, WpUnit *unit)
{
	gsize n = MIN(frame->length, WP_HTTP_SCAN_BYTES);
	WpBytes content;
	guint32 promised;

	if (stream->is_scanned || stream->is_binary)
		return TRUE;
	if (wp_bytes_left(&in) < n && !wp_decode_is_cut(context)) {
		unit->need = WP_HTTP2_HEADER_BYTES + n;
		return FALSE;
	}
	in.length = MIN(in.length, in.at + n);
	if (!wp_http2_content(in, frame, &content, &promised) || content.length == 0)
		return TRUE;
	stream->is_scanned = TRUE;
	if (stream->grpc_label && wp_grpc_is_prefix(content.data, content.length, frame->length)) {
		stream->is_grpc = side->speaks_grpc = TRUE;
		stream->message.label = stream->grpc_label;
		stream->message.protocol = wp_decode_protocol(context, "grpc");
		stream->message.note = NOTE_GRPC;
	}
	if (stream->is_grpc)
		wp_grpc_scan(context, &stream->message, content.data, content.length);
	else
		wp_decode_tokens(context, &stream->message, content.data, content.length);
	return TRUE;
}

static WpDecodeStatus
decode_call_data(State *state, WpDecodeContext *context, const WpHttp2Frame *frame, WpBytes in,
		 WpUnit *unit)
{
	Side *side = &state->sides[WP_FROM_CLIENT];
	WpHttp2Stream *stream = wp_http2_streams_find(&side->streams, frame->id);

	if (!stream) {
		/* The server has begun to answer, and the client goes on: they talk. */
		stream = wp_http2_streams_find(&state->sides[WP_FROM_SERVER].streams, frame->id);
		if (stream && frame->length)
			stream->message.marks |= WP_MARK_WAIT;
		return WP_DECODE_OK;
	}
	if (!scan_body(context, side, stream, frame, in, unit))
		return WP_DECODE_MORE;
	unit->extends = &stream->message;
	if (frame->flags & WP_HTTP2_END_STREAM)
		end_stream(side, stream, unit);
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_return_data(State *state, WpDecodeContext *context, const WpHttp2Frame *frame, WpUnit *unit)
{
	Side *side = &state->sides[WP_FROM_SERVER];
	gboolean ends = frame->flags & WP_HTTP2_END_STREAM;
	WpHttp2Stream *stream = wp_http2_streams_find(&side->streams, frame->id);

	if (!stream)
		stream = start_return(state, context, frame->id, ends && frame->id % 2, unit);
	if (!stream)
		return WP_DECODE_OK;
	if (!stream->message.is_open)
		unit->opens = &stream->message;
	go_on(side, stream);
	unit->extends = &stream->message;
	if (frame->length && stream->has_data &&
	    wp_decode_time(context) - stream->message.end.time_ns >= PAUSE_NS)
		stream->message.marks |= WP_MARK_WAIT;
	stream->has_data |= frame->length > 0;
	if (ends)
		end_return(state, context, stream, unit);
	else if (stream->has_data)
		emit_answered_request(state, context, frame->id);
	return WP_DECODE_OK;
}

/* The client gives a call up: that is where its waiting ends, unless the answer may be in a hole. */
static void
reset_by_client(State *state, WpDecodeContext *context, guint32 id)
{
	Side *server = &state->sides[WP_FROM_SERVER];
	WpHttp2Stream *stream = wp_http2_streams_find(&server->streams, id);
	WpMessage given_up = { .kind = WP_KIND_RETURN, .callid = id };
	WpMessage *message = stream && stream->message.is_open ? &stream->message : &given_up;
	guint32 note;

	emit_answered_request(state, context, id);
	if (id % 2 && wp_decode_pending_callid(context, id, &note) &&
	    !(stream && stream->has_hole)) {
		if (message == &given_up)
			wp_decode_open(context, message, WP_FROM_SERVER);
		message->end.time_ns = wp_decode_time(context);
		message->status = WP_STATUS_RESET;
		wp_decode_emit(context, message);
	}
	if (stream)
		remove_stream(server, stream);
}

static WpDecodeStatus
decode_reset(State *state, WpDecodeContext *context, WpDirection direction,
	     const WpHttp2Frame *frame, WpBytes in, WpUnit *unit)
{
	Side *side = &state->sides[direction];

	if (!has_payload(context, frame, &in, unit))
		return WP_DECODE_MORE;
	if (direction == WP_FROM_CLIENT) {
		reset_by_client(state, context, frame->id);
		return WP_DECODE_OK;
	}
	guint32 code = wp_bytes_be32(&in);
	WpHttp2Stream *stream = wp_http2_streams_find(&side->streams, frame->id);
	if (!stream)
		stream = start_return(state, context, frame->id, FALSE, unit);
	if (!stream)
		return WP_DECODE_OK;
	if (!stream->message.is_open)
		unit->opens = &stream->message;
	go_on(side, stream);
	stream->message.status = code == NO_ERROR || code == REFUSED_STREAM || code == CANCEL
					 ? WP_STATUS_RESET
					 : WP_STATUS_ERROR;
	end_return(state, context, stream, unit);
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_frame(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	     WpUnit *unit)
{
	const Side *side = &state->sides[direction];
	WpHttp2Frame frame;

	unit->need = WP_HTTP2_HEADER_BYTES;
	WpDecodeStatus status = wp_http2_read_frame(&in, &frame);
	if (status != WP_DECODE_OK)
		return status;
	if (side->block.is_open && frame.type != WP_HTTP2_CONTINUATION)
		return WP_DECODE_BAD;
	unit->length = WP_HTTP2_HEADER_BYTES + frame.length;
	switch (frame.type) {
	case WP_HTTP2_HEADERS:
		return decode_headers(state, context, direction, &frame, in, unit);
	case WP_HTTP2_CONTINUATION:
		return decode_continuation(state, context, direction, &frame, in, unit);
	case WP_HTTP2_PUSH_PROMISE:
		return decode_promise(state, context, direction, &frame, in, unit);
	case WP_HTTP2_RST_STREAM:
		return decode_reset(state, context, direction, &frame, in, unit);
	case WP_HTTP2_DATA:
		return direction == WP_FROM_CLIENT
			       ? decode_call_data(state, context, &frame, in, unit)
			       : decode_return_data(state, context, &frame, unit);
	default:
		return WP_DECODE_OK;
	}
}

/* --- finding frames --- */

/* A stream that is open, or was lately. */
static gboolean
is_recent(const State *state, WpDecodeContext *context, guint32 id)
{
	guint32 last = state->sides[WP_FROM_CLIENT].last_id, note;
	return id % 2 && ((id <= last && last - id < MAX_ID_STEP) ||
			  wp_decode_pending_callid(context, id, &note) ||
			  wp_http2_streams_find(&state->sides[WP_FROM_SERVER].streams, id));
}

/* What one would expect next in that direction. */
static gboolean
is_expected(const State *state, WpDecodeContext *context, WpDirection direction,
	    const WpHttp2Frame *frame, const WpHttp2Run *run)
{
	guint32 last = state->sides[WP_FROM_CLIENT].last_id;

	if (frame->id == 0)
		return frame->flags <= WP_HTTP2_ACK && frame->length <= 72;
	if (direction == WP_FROM_SERVER || frame->type != WP_HTTP2_HEADERS)
		return is_recent(state, context, frame->id);
	return run->request_id == frame->id && frame->id > last &&
	       (run->is_telling || (last && frame->id - last <= MAX_ID_STEP));
}

/*
 * Whether frames begin at the front of IN. At the start of a packet one that is expected will do, or
 * several that fill the packet; inside of one both.
 */
static gboolean
begins_frames(const State *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	      gboolean is_start, guint *tries)
{
	WpBytes at = in;
	WpHttp2Frame first;
	WpHttp2Run run;

	if (*tries == MAX_TRIES || wp_http2_read_frame(&at, &first) != WP_DECODE_OK)
		return FALSE;
	(*tries)++;
	if (!wp_http2_walk(in, &run) ||
	    (direction == WP_FROM_CLIENT ? run.response_id : run.request_id))
		return FALSE;
	gboolean is_chain = run.n_frames >= 2 && run.n_streams && !run.ends_inside;
	gboolean expected = is_expected(state, context, direction, &first, &run);
	return is_start ? is_chain || expected : is_chain && expected;
}

static WpDecodeStatus
sync(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	State *state = data;
	Side *side = &state->sides[direction];

	if (wp_bytes_left(&in) < WP_HTTP2_HEADER_BYTES)
		return WP_DECODE_MORE;
	guint64 cut_packet = side->cut_packet;
	side->cut_packet = 0;
	guint tries = 0;
	for (gsize at = 0; at + WP_HTTP2_HEADER_BYTES <= in.length; at++)
		if (begins_frames(state, context, direction, wp_bytes(in.data + at, in.length - at),
				  at == 0, &tries)) {
			if (at == 0)
				wp_http2_streams_settle(&side->streams, cut_packet);
			side->skip = at;
			return WP_DECODE_OK;
		}
	return WP_DECODE_BAD;
}

/* The preface of the client; in mid-stream, what comes before the first frame. OK: neither is here. */
static WpDecodeStatus
begin(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	Side *side = &state->sides[direction];
	gboolean from_start = wp_decode_from_start(context);
	gsize n = MIN(in.length, WP_HTTP2_PREFACE_BYTES);

	if (direction == WP_FROM_CLIENT && memcmp(in.data, WP_HTTP2_PREFACE, n) == 0) {
		if (n < WP_HTTP2_PREFACE_BYTES)
			return WP_DECODE_MORE;
		unit->length = WP_HTTP2_PREFACE_BYTES;
		from_start = TRUE;
	} else if (!from_start) {
		WpDecodeStatus status = sync(state, context, direction, in);
		if (status == WP_DECODE_MORE)
			return WP_DECODE_MORE;
		if (status == WP_DECODE_BAD) {
			unit->length = in.length;
			return WP_DECODE_OK;
		}
		unit->length = side->skip;
		side->skip = 0;
	}
	side->block.hpack = wp_hpack_new(from_start);
	side->has_begun = TRUE;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	Side *side = &state->sides[direction];

	reap(side);
	if (side->skip) {
		unit->length = side->skip;
		side->skip = 0;
		return WP_DECODE_OK;
	}
	if (!side->has_begun) {
		WpDecodeStatus status = begin(state, context, direction, in, unit);
		if (status != WP_DECODE_OK || unit->length)
			return status;
	}
	return decode_frame(state, context, direction, in, unit);
}

static void
lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	Side *side = &state->sides[direction];
	guint64 packet = wp_decode_cut_packet(context);

	reap(side);
	if (!side->block.hpack)
		side->block.hpack = wp_hpack_new(FALSE);
	wp_http2_block_lose(&side->block);
	side->has_begun = TRUE;
	side->skip = 0;
	if (direction == WP_FROM_CLIENT) {
		wp_http2_hidden_lost(&state->hidden, context);
		while (side->streams.n)
			emit_answered_request(state, context, side->streams.streams[0]->id);
		side->known_from = 0;
		return;
	}
	for (guint i = 0; i < side->streams.n; i++) {
		WpHttp2Stream *stream = side->streams.streams[i];
		stream->has_hole = TRUE;
		if (packet && stream->message.is_open && stream->message.end.packet == packet &&
		    stream->message.kind == WP_KIND_RETURN) {
			side->n_doubtful += !stream->is_doubtful;
			stream->is_doubtful = TRUE;
			side->cut_packet = packet;
		}
	}
}

/* --- ends --- */

/* The server went away in the middle of its answers, other than those whose end may be in a hole. */
static void
emit_cut_returns(State *state, WpDecodeContext *context)
{
	Side *side = &state->sides[WP_FROM_SERVER];

	while (side->streams.n) {
		WpHttp2Stream *stream = side->streams.streams[0];
		emit_answered_request(state, context, stream->id);
		if (stream->message.is_open && stream->message.kind == WP_KIND_RETURN &&
		    !stream->has_hole) {
			stream->message.status = WP_STATUS_RESET;
			wp_decode_emit(context, &stream->message);
		}
		remove_stream(side, stream);
	}
}

static void
finish(void *data, WpDecodeContext *context, WpDirection direction, WpFinish how, WpUnit *unit)
{
	State *state = data;
	Side *side = &state->sides[direction];

	reap(side);
	if (direction == WP_FROM_CLIENT) {
		while (side->streams.n)
			emit_answered_request(state, context, side->streams.streams[0]->id);
		return;
	}
	settle_returns(state, context, G_MAXINT64);
	if (how == WP_FINISH_FIN || how == WP_FINISH_RESET)
		emit_cut_returns(state, context);
}

static void
clear(void *data)
{
	State *state = data;
	for (int i = 0; i < 2; i++) {
		wp_http2_streams_clear(&state->sides[i].streams);
		wp_hpack_free(state->sides[i].block.hpack);
	}
}

static gsize
memory(const void *data)
{
	const State *state = data;
	gsize n = 0;
	for (int i = 0; i < 2; i++) {
		const Side *side = &state->sides[i];
		n += wp_http2_streams_memory(&side->streams);
		n += side->block.hpack ? wp_hpack_memory(side->block.hpack) : 0;
	}
	return n;
}

const WpDecoder wp_decoder_http2 = {
	.name = "http2",
	.summary = "HTTP/2, and gRPC (as \"grpc\")",
	.transports = WP_TRANSPORT_TCP,
	.by_callid = TRUE,
	.interleaves = TRUE,
	.state_size = sizeof(State),
	.probe = wp_http2_probe,
	.decode = decode,
	.sync = sync,
	.lost = lost,
	.finish = finish,
	.clear = clear,
	.memory = memory,
};
