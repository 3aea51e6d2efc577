/*
 * HTTP/1.0 and 1.1: RFC 9112 (message syntax), RFC 9110 (semantics).
 *
 * A unit is as many header lines as have come whole, so that no head is read twice and a head needs
 * no room; the unit with the empty line takes the body with it where its length is known.
 *
 *     client  |POST /x HTTP/1.1..Content-Length: 9|..........body| next
 *     unit    |- opens, scans the fields ---------|- emits ------|
 *     server            |100 Continue|     |HTTP/1.1 200 OK..chunked|5..hello|0|trailers|
 *     unit              |- no message|     |- opens ----------------|- ext --|- emits --|
 *
 * The first bytes of a request's body are waited for, because they are looked at for tokens; else
 * tokens would depend on how the bytes fell into packets.
 *
 * More lenient than the RFC where the bytes can be understood all the same (LF alone, blanks in the
 * target, blanks before the colon, folded fields), since what the servers took is none of our business;
 * strict where a message has to be recognised in the middle of other bytes.
 */
#include <string.h>

#include "capture/decoders.h"
#include "capture/event-stream.h"
#include "capture/http-fields.h"
#include "capture/http1-head.h"

/* Servers take heads of 8 to 64 KiB and 100 fields; ten times that is no head. */
#define MAX_HEAD_BYTES (512 * 1024)
#define MAX_LINES      1000

/*
 * A request line of which so much fits so far is one, although its end has not come: the snap length
 * may have taken it. 96 bytes of a packet leave 30 of its payload.
 */
#define PROBE_LINE        512
#define PROBE_COMMON_LINE 24

typedef enum {
	PHASE_START,   /* first line of a message, or empty lines before it */
	PHASE_FIELDS,  /* header lines */
	PHASE_BODY,    /* body of known length, whose first bytes are looked at */
	PHASE_CHUNK,   /* size line of a chunk, and the chunk */
	PHASE_TRAILER, /* lines after the last chunk */
	PHASE_EVENTS,  /* body of server-sent events */
	PHASE_CLOSE,   /* body until the direction ends */
	PHASE_NOTHING  /* nothing that comes can be understood */
} Phase;

/* What a request was, kept as its note for the response. */
typedef enum {
	NOTE_PLAIN = 1,
	NOTE_HEAD,
	NOTE_TUNNEL,    /* CONNECT */
	NOTE_TUNNEL_TLS /* CONNECT to a port of HTTPS */
} Note;

typedef struct {
	WpMessage message;
	WpHttp1Head head;
	Phase phase;
	gboolean is_answered; /* before its end */
} Side;

typedef struct {
	Side sides[2];
	WpEventStream events; /* with PHASE_EVENTS of the server */
} State;

/* --- requests and responses --- */

static gboolean
is_method(const char *line, const WpHttp1Request *request, const char *method)
{
	return strlen(method) == request->method_length &&
	       memcmp(line, method, request->method_length) == 0;
}

static guint8
note_of_request(const char *line, const WpHttp1Request *request)
{
	if (is_method(line, request, "HEAD"))
		return NOTE_HEAD;
	if (!is_method(line, request, "CONNECT"))
		return NOTE_PLAIN;
	/* 443, 8443, 6443 */
	gsize n = request->target_length;
	return n > 3 && memcmp(request->target + n - 3, "443", 3) == 0 ? NOTE_TUNNEL_TLS
								       : NOTE_TUNNEL;
}

static void
describe_request(WpDecodeContext *context, Side *side, const char *line,
		 const WpHttp1Request *request)
{
	WpMessage *message = &side->message;
	const char *target = request->target;
	gsize length = request->target_length;

	side->head.note = note_of_request(line, request);
	side->head.is_proxied = target[0] != '/';
	message->kind = WP_KIND_CALL;
	message->note = side->head.note;
	if (side->head.note >= NOTE_TUNNEL)
		message->label = wp_http_label_tunnel(context, target, length);
	else
		message->label =
			wp_http_label(context, line, request->method_length, target, length);
	if (wp_http_target_waits(target, length))
		message->marks |= WP_MARK_WAIT;
	wp_decode_tokens(context, message, (const guint8 *)target, MIN(length, WP_HTTP_SCAN_BYTES));
}

static gboolean
is_interim(const WpHttp1Head *head)
{
	return head->code && head->code < 200 && head->code != 101;
}

/* The first line of a message. */
static gboolean
start_message(WpDecodeContext *context, Side *side, WpDirection direction, const WpHttp1Line *line)
{
	memset(side, 0, sizeof *side);
	if (direction == WP_FROM_CLIENT) {
		WpHttp1Request request;
		if (!wp_http1_parse_request(line->data, line->length, &request))
			return FALSE;
		describe_request(context, side, line->data, &request);
	} else {
		side->head.code = (guint16)wp_http1_parse_status(line->data, line->length);
		if (!side->head.code)
			return FALSE;
		side->message.kind = WP_KIND_RETURN;
		side->message.status = (guint8)wp_http_status(side->head.code);
	}
	side->phase = PHASE_FIELDS;
	return TRUE;
}

/*
 * The server answers before the request has ended (413, 401, 417): what was seen of the request is the
 * call. Nothing older is open, or it would be pending.
 */
static void
emit_answered_request(State *state, WpDecodeContext *context)
{
	Side *side = &state->sides[WP_FROM_CLIENT];
	guint32 note;
	if (!side->message.is_open || wp_decode_pending(context, &note))
		return;
	wp_decode_emit(context, &side->message);
	side->is_answered = TRUE;
}

/* The message ends with this unit. */
static void
complete(State *state, WpDecodeContext *context, WpDirection direction, WpUnit *unit)
{
	Side *side = &state->sides[direction];
	if (direction == WP_FROM_SERVER)
		emit_answered_request(state, context);
	unit->emits = &side->message;
	side->head = (WpHttp1Head){ 0 };
	side->phase = PHASE_START;
}

/* How many bytes of LENGTH at IN must be there to be looked at for tokens; of those that a hole cuts, what is there. */
static gsize
bytes_to_scan(const Side *side, WpDecodeContext *context, const WpBytes *in, guint64 length)
{
	const WpHttp1Head *head = &side->head;
	if (head->code || head->is_binary || head->is_scanned || side->is_answered)
		return 0;
	if (wp_decode_is_cut(context))
		length = MIN(length, wp_bytes_left(in));
	return (gsize)MIN(length, WP_HTTP_SCAN_BYTES);
}

/* The body of known length begins at IN; FALSE where bytes to be looked at have not come. */
static gboolean
take_body(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	Side *side = &state->sides[direction];
	gsize n = bytes_to_scan(side, context, &in, side->head.length);
	const guint8 *body = wp_bytes_take(&in, n);

	if (!body) {
		unit->need = unit->length + n;
		return FALSE;
	}
	wp_decode_tokens(context, &side->message, body, n);
	unit->length += (gsize)side->head.length;
	complete(state, context, direction, unit);
	return TRUE;
}

/* --- ends of heads --- */

static WpDecodeStatus
end_request_head(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	Side *side = &state->sides[WP_FROM_CLIENT];
	const WpHttp1Head *head = &side->head;

	if (head->has_coding ? !head->is_chunked : head->is_garbled || head->is_conflicting) {
		/* Where it ends cannot be told: the server must answer 400 and close (section 6.3). */
		complete(state, context, WP_FROM_CLIENT, unit);
		side->phase = PHASE_NOTHING;
	} else if (head->has_coding) {
		side->phase = PHASE_CHUNK;
	} else if (head->length == 0) {
		complete(state, context, WP_FROM_CLIENT, unit);
	} else {
		side->phase = PHASE_BODY;
		if (!head->expects)
			take_body(state, context, WP_FROM_CLIENT, in, unit);
	}
	return WP_DECODE_OK;
}

/* What the request was that is being answered; 0 where it was not seen. */
static guint32
note_of_answered(const State *state, WpDecodeContext *context)
{
	const WpMessage *request = &state->sides[WP_FROM_CLIENT].message;
	guint32 note = 0;
	if (!wp_decode_pending(context, &note) && request->is_open)
		note = request->note;
	return note;
}

static gboolean
has_no_body(const WpHttp1Head *head, guint32 note, const WpBytes *in)
{
	if (note == NOTE_HEAD || head->code == 204 || head->code == 304)
		return TRUE;
	/* The request was not seen: with the next response at its heels it was a HEAD. */
	return note == 0 && head->length && wp_bytes_left(in) >= 13 &&
	       wp_http1_recognise(WP_FROM_SERVER, in) == WP_DECODE_OK;
}

/* What the flow turns into after a 101 or a successful CONNECT. */
static void
switch_protocol(State *state, WpDecodeContext *context, guint32 note, WpUnit *unit)
{
	gboolean is_http2 = state->sides[WP_FROM_SERVER].head.is_http2;
	gboolean is_websocket = state->sides[WP_FROM_SERVER].head.is_websocket;

	complete(state, context, WP_FROM_SERVER, unit);
	if (is_http2) {
		/* The answer itself follows as a stream of HTTP/2 (RFC 7540 section 3.2). */
		unit->opens = unit->extends = unit->emits = NULL;
		unit->becomes = &wp_decoder_http2;
		return;
	}
	if (is_websocket)
		unit->becomes = &wp_decoder_websocket;
	else
		unit->becomes = note == NOTE_TUNNEL_TLS ? &wp_decoder_tls : &wp_decoder_generic;
}

/* The head ends the call; what comes are events, as long as it pleases the server. */
static void
start_events(State *state, WpDecodeContext *context, WpUnit *unit)
{
	Side *side = &state->sides[WP_FROM_SERVER];
	WpHttp1Head head = side->head;
	gboolean has_end = head.has_length && !head.is_garbled;

	complete(state, context, WP_FROM_SERVER, unit);
	wp_event_stream_start(&state->events, head.has_coding, has_end ? head.length : G_MAXUINT64);
	if (!has_end || head.length || head.has_coding)
		side->phase = PHASE_EVENTS;
}

/* RFC 9112 section 6.3 */
static WpDecodeStatus
end_response_head(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	Side *side = &state->sides[WP_FROM_SERVER];
	const WpHttp1Head *head = &side->head;
	guint32 note = note_of_answered(state, context);

	if (is_interim(head))
		memset(side, 0, sizeof *side);
	else if (head->code == 101 || (note >= NOTE_TUNNEL && head->code < 300))
		switch_protocol(state, context, note, unit);
	else if (has_no_body(head, note, &in))
		complete(state, context, WP_FROM_SERVER, unit);
	else if (head->is_events && !head->is_packed && !head->is_conflicting &&
		 head->has_coding == head->is_chunked)
		start_events(state, context, unit);
	else if (head->has_coding)
		side->phase = head->is_chunked ? PHASE_CHUNK : PHASE_CLOSE;
	else if (head->is_conflicting)
		return WP_DECODE_BAD;
	else if (head->has_length && !head->is_garbled)
		take_body(state, context, WP_FROM_SERVER, in, unit);
	else
		side->phase = PHASE_CLOSE;
	return WP_DECODE_OK;
}

/* --- units --- */

/* Lines, as many as are there: OK with the empty one that ends them, else MORE. */
static WpDecodeStatus
take_fields(WpDecodeContext *context, Side *side, WpBytes *in)
{
	WpHttp1Line line;
	WpDecodeStatus status;

	while ((status = wp_http1_take_line(in, &line)) == WP_DECODE_OK) {
		side->head.bytes += (guint32)line.bytes;
		if (++side->head.n_lines > MAX_LINES || side->head.bytes > MAX_HEAD_BYTES)
			return WP_DECODE_BAD;
		if (line.length == 0)
			return WP_DECODE_OK;
		if (side->phase == PHASE_FIELDS &&
		    !wp_http1_note_field(context, &side->head, &side->message, &line))
			return WP_DECODE_BAD;
	}
	return status;
}

/*
 * A request line whose end a hole has taken: what is there is a call, its path as far as it is whole.
 */
static WpDecodeStatus
decode_cut_request(WpDecodeContext *context, Side *side, const WpBytes *in, WpUnit *unit)
{
	static const char more[] = "...";
	WpHttp1Request request;
	char target[WP_HTTP_SCAN_BYTES + sizeof more];

	if (!wp_http1_parse_cut_request(in, &request))
		return WP_DECODE_MORE;
	gsize n = MIN(request.target_length, WP_HTTP_SCAN_BYTES);
	memcpy(target, request.target, n);
	request.target = target;
	request.target_length = n;
	if (!memchr(target, '?', n)) {
		memcpy(target + n, more, sizeof more - 1);
		request.target_length += sizeof more - 1;
	}
	memset(side, 0, sizeof *side);
	describe_request(context, side, (const char *)in->data, &request);
	unit->opens = unit->emits = &side->message;
	unit->length = in->length;
	return WP_DECODE_OK;
}

/* Empty lines before a message (RFC 9112 section 2.2) are a unit of their own. */
static WpDecodeStatus
decode_empty_lines(WpBytes in, WpUnit *unit)
{
	WpHttp1Line line;
	while (wp_bytes_left(&in) && (in.data[in.at] == '\r' || in.data[in.at] == '\n')) {
		gsize before = in.at;
		if (in.data[in.at] == '\r' && wp_bytes_left(&in) == 1)
			break;
		if (wp_http1_take_line(&in, &line) != WP_DECODE_OK || line.length)
			return WP_DECODE_BAD;
		unit->length += in.at - before;
	}
	return unit->length ? WP_DECODE_OK : WP_DECODE_MORE;
}

/* A flow is picked up among its events. */
static WpDecodeStatus
joins_events(WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	if (direction == WP_FROM_CLIENT || wp_decode_from_start(context))
		return WP_DECODE_BAD;
	return wp_event_stream_recognise(in, TRUE);
}

static WpDecodeStatus
decode_start(State *state, WpDecodeContext *context, WpDirection direction, WpBytes *in,
	     WpUnit *unit)
{
	Side *side = &state->sides[direction];
	WpHttp1Line line;

	WpDecodeStatus status = joins_events(context, direction, *in);
	if (status == WP_DECODE_MORE)
		return WP_DECODE_MORE;
	if (status == WP_DECODE_OK) {
		wp_event_stream_start(&state->events, TRUE, 0);
		wp_event_stream_lost(&state->events);
		side->phase = PHASE_EVENTS;
		return wp_event_stream_unit(&state->events, context, &side->message, *in, unit,
					    &(gboolean){ FALSE });
	}
	status = wp_http1_take_line(in, &line);
	if (status == WP_DECODE_MORE && direction == WP_FROM_CLIENT && wp_decode_is_cut(context))
		return decode_cut_request(context, side, in, unit);
	if (status != WP_DECODE_OK)
		return status;
	if (!start_message(context, side, direction, &line))
		return WP_DECODE_BAD;
	unit->opens = is_interim(&side->head) ? NULL : &side->message;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_head(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	Side *side = &state->sides[direction];
	WpDecodeStatus status;

	if (side->phase == PHASE_START) {
		if (in.data[0] == '\r' || in.data[0] == '\n')
			return decode_empty_lines(in, unit);
		status = decode_start(state, context, direction, &in, unit);
		if (status != WP_DECODE_OK || unit->emits || side->phase == PHASE_EVENTS)
			return status;
	}
	unit->extends = is_interim(&side->head) ? NULL : &side->message;
	status = take_fields(context, side, &in);
	unit->length = in.at;
	if (status == WP_DECODE_OK)
		return direction == WP_FROM_CLIENT ? end_request_head(state, context, in, unit)
						   : end_response_head(state, context, in, unit);
	/* The lines that are there are a unit. */
	return status == WP_DECODE_MORE && in.at ? WP_DECODE_OK : status;
}

static WpDecodeStatus
decode_body(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	Side *side = &state->sides[direction];

	if (side->is_answered) {
		/* Refused while it waited for 100 Continue: the body may have been left out. */
		WpDecodeStatus status = wp_http1_recognise(direction, &in);
		if (status == WP_DECODE_MORE)
			return WP_DECODE_MORE;
		if (status == WP_DECODE_OK) {
			memset(side, 0, sizeof *side);
			return decode_head(state, context, direction, in, unit);
		}
	}
	return take_body(state, context, direction, in, unit) ? WP_DECODE_OK : WP_DECODE_MORE;
}

/* The trailer section, RFC 9112 section 7.1.2. */
static WpDecodeStatus
decode_trailer(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	       WpUnit *unit)
{
	Side *side = &state->sides[direction];

	unit->extends = &side->message;
	WpDecodeStatus status = take_fields(context, side, &in);
	unit->length = in.at;
	if (status == WP_DECODE_OK)
		complete(state, context, direction, unit);
	return status == WP_DECODE_MORE && in.at ? WP_DECODE_OK : status;
}

/* "1a;name=value" and so many bytes, RFC 9112 section 7.1. */
static WpDecodeStatus
decode_chunk(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	     WpUnit *unit)
{
	Side *side = &state->sides[direction];
	WpHttp1Line line;
	guint64 size;

	WpDecodeStatus status = wp_http1_take_line(&in, &line);
	if (status != WP_DECODE_OK)
		return status;
	if (!wp_http1_parse_chunk_size(&line, &size))
		return WP_DECODE_BAD;
	if (size == 0) {
		side->phase = PHASE_TRAILER;
		return decode_trailer(state, context, direction, in, unit);
	}
	unit->length = in.at;
	gsize n = bytes_to_scan(side, context, &in, size);
	const guint8 *data = wp_bytes_take(&in, n);
	if (!data) {
		unit->need = unit->length + n;
		return WP_DECODE_MORE;
	}
	wp_decode_tokens(context, &side->message, data, n);
	side->head.is_scanned = TRUE;
	/* The data ends in a line end as the size does. */
	unit->length += (gsize)size + (line.bytes - line.length);
	unit->extends = &side->message;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_events(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	Side *side = &state->sides[WP_FROM_SERVER];
	gboolean is_end;

	WpDecodeStatus status =
		wp_event_stream_unit(&state->events, context, &side->message, in, unit, &is_end);
	if (status != WP_DECODE_OK || !is_end)
		return status;
	if (!unit->emits) { /* an event without its end is none */
		unit->opens = unit->extends = NULL;
		side->message = (WpMessage){ 0 };
	}
	side->phase = state->events.is_chunked ? PHASE_TRAILER : PHASE_START;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	Side *side = &state->sides[direction];

	switch (side->phase) {
	case PHASE_START:
	case PHASE_FIELDS:
		return decode_head(state, context, direction, in, unit);
	case PHASE_BODY:
		return decode_body(state, context, direction, in, unit);
	case PHASE_CHUNK:
		return decode_chunk(state, context, direction, in, unit);
	case PHASE_TRAILER:
		return decode_trailer(state, context, direction, in, unit);
	case PHASE_EVENTS:
		return decode_events(state, context, in, unit);
	case PHASE_CLOSE:
		unit->extends = &side->message;
		unit->length = G_MAXSIZE;
		return WP_DECODE_OK;
	case PHASE_NOTHING:
		unit->length = G_MAXSIZE;
		return WP_DECODE_OK;
	}
	return WP_DECODE_BAD;
}

static WpDecodeStatus
sync(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	State *state = data;
	Side *side = &state->sides[direction];
	WpDecodeStatus status = wp_http1_recognise(direction, &in);
	if (side->phase == PHASE_EVENTS && status == WP_DECODE_OK)
		side->phase = PHASE_START;
	else if (side->phase == PHASE_EVENTS && status == WP_DECODE_BAD)
		status = wp_event_stream_recognise(in, state->events.is_chunked);
	if (status == WP_DECODE_MORE && direction == WP_FROM_CLIENT &&
	    wp_http1_is_common_request(&in))
		return WP_DECODE_OK;
	return status;
}

static void
lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	Side *side = &state->sides[direction];
	Phase phase = side->phase == PHASE_EVENTS ? PHASE_EVENTS : PHASE_START;
	*side = (Side){ .phase = phase };
	if (phase == PHASE_EVENTS)
		wp_event_stream_lost(&state->events);
}

/* A message that its side's end cuts short, or a body that ends so (RFC 9112 section 6.3, item 8). */
static void
finish(void *data, WpDecodeContext *context, WpDirection direction, WpFinish how, WpUnit *unit)
{
	State *state = data;
	Side *side = &state->sides[direction];

	if (!side->message.is_open || side->phase == PHASE_EVENTS)
		return;
	if (direction == WP_FROM_SERVER) {
		gboolean is_body = side->phase == PHASE_CLOSE;
		/* Whether more was to come when the capture ended, nobody knows. */
		if (how == WP_FINISH_END || (how == WP_FINISH_TIMEOUT && !is_body))
			return;
		if (!is_body || how == WP_FINISH_RESET)
			side->message.status = WP_STATUS_RESET;
		emit_answered_request(state, context);
	}
	unit->emits = &side->message;
}

/* Empty lines before a request are let pass. */
static WpDecodeStatus
probe_side(WpDirection direction, WpBytes in)
{
	while (wp_bytes_left(&in) && (in.data[in.at] == '\r' || in.data[in.at] == '\n'))
		in.at++;
	return wp_bytes_left(&in) ? wp_http1_recognise(direction, &in) : WP_DECODE_MORE;
}

static WpProbeVerdict
probe(const WpProbe *probe)
{
	WpDecodeStatus client = probe_side(WP_FROM_CLIENT, probe->client);
	WpDecodeStatus server = probe_side(WP_FROM_SERVER, probe->server);

	if (client == WP_DECODE_OK)
		return WP_PROBE_SURE;
	gsize enough = wp_http1_is_common_request(&probe->client) ? PROBE_COMMON_LINE : PROBE_LINE;
	if (client == WP_DECODE_MORE && wp_bytes_left(&probe->client) >= enough)
		return WP_PROBE_LIKELY;
	/* An HTTP server answers 400 to what is not HTTP. */
	if (client == WP_DECODE_BAD && probe->from_start)
		return WP_PROBE_NO;
	if (server == WP_DECODE_OK)
		return WP_PROBE_LIKELY;
	if (!probe->from_start && !wp_bytes_left(&probe->client) &&
	    wp_event_stream_recognise(probe->server, TRUE) == WP_DECODE_OK)
		return WP_PROBE_LIKELY;
	return server == WP_DECODE_BAD && client == WP_DECODE_BAD ? WP_PROBE_NO : WP_PROBE_MORE;
}

static const guint16 ports[] = { 80, 8080, 8000, 3128, 5000, 3000, 9090, 9200, 0 };

const WpDecoder wp_decoder_http1 = {
	.name = "http",
	.summary = "HTTP/1.0 and 1.1",
	.transports = WP_TRANSPORT_TCP,
	.ports = ports,
	.is_tunnel = TRUE,
	.state_size = sizeof(State),
	.probe = probe,
	.decode = decode,
	.sync = sync,
	.lost = lost,
	.finish = finish,
};
