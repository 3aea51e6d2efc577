/*
 * memcached: text protocol with meta commands, binary protocol; over TCP in order, over UDP by the
 * request id of a frame header (protocol.txt, "UDP protocol").
 *
 * What is answered only sometimes cannot be paired one by one. Quiet gets come in a run that a request
 * which is always answered ends; together they are one call, and the hits up to that answer its return:
 *
 *      client  |mg a q|mg b q|mg c q|mn|          one call
 *      server                |VA .. b|MN|         one return
 *
 * Quiet stores and "noreply" are one way; should one fail, its answer is one way too. A miss is ok.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/label.h"
#include "capture/memcached.h"
#include "capture/probe.h"

/* Frame header of a datagram: request id, number of the datagram, how many there are, reserved. */
#define FRAME_BYTES 8

typedef struct {
	WpMessage call;    /* of an answered request, or the run being gathered */
	WpMessage one_way; /* a silent request */
	gboolean in_run;   /* the call waits for the request that ends it */
	WpMessage reply;
	WpMessage stray;   /* from the server, to no call */
	gboolean in_reply; /* parts of it have come */
	gboolean is_watched;
	gboolean is_quiet; /* silent requests came: refusals may belong to them */
	guint16 frame_id;  /* UDP: of the reply being gathered */
	guint16 frames_left;
} MemcachedState;

/* What a call's note says. */
enum {
	NOTE_RUN = 1u << 31,  /* quiet gets are part of it */
	NOTE_NOOP = 1u << 30, /* it ends with mn or noop */
	NOTE_TAG = 0xffffff   /* what the reply to its last request carries */
};

/* --- calls --- */

static guint32
label_of(WpDecodeContext *context, const WpMemcachedRequest *request)
{
	char label[WP_LABEL_MAX];
	gsize n = g_strlcpy(label, request->command, sizeof label);
	if (request->key) {
		label[n++] = ' ';
		n += wp_label_key(request->key, request->key_length, label + n, sizeof label - n);
	}
	return wp_decode_label(context, label, n);
}

/* A run is called after its first get. */
static void
describe_request(WpDecodeContext *context, const WpMemcachedRequest *request, WpMessage *message)
{
	message->kind = WP_KIND_CALL;
	if (message->label == 0)
		message->label = label_of(context, request);
	message->no_return = request->answer == WP_MEMCACHED_SILENT;
	if (request->answer == WP_MEMCACHED_PARTLY)
		message->note |= NOTE_RUN;
	if (request->is_noop)
		message->note |= NOTE_NOOP;
	if (request->answer == WP_MEMCACHED_ANSWERED)
		message->note |= request->tag & NOTE_TAG;
	if (request->sets_up)
		message->marks |= WP_MARK_SETUP;
	if (request->text)
		wp_decode_tokens(context, message, request->text, request->text_length);
}

static WpDecodeStatus
parse_request(WpBytes in, gboolean is_cut, WpMemcachedRequest *out_request)
{
	if (in.length == 0)
		return WP_DECODE_MORE;
	if (in.data[0] == WP_MEMCACHED_BINARY_REQUEST)
		return wp_memcached_binary_request(in, is_cut, out_request);
	return wp_memcached_text_request(in, is_cut, out_request);
}

static WpDecodeStatus
decode_request(MemcachedState *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	WpMemcachedRequest request;
	WpDecodeStatus status = parse_request(in, wp_decode_is_cut(context), &request);
	if (status != WP_DECODE_OK)
		return status;
	gboolean is_silent = request.answer == WP_MEMCACHED_SILENT;
	gboolean is_partly = request.answer == WP_MEMCACHED_PARTLY;
	unit->length = request.length;
	state->is_watched |= request.watches;
	if (request.watches)
		wp_decode_may_push(context);
	state->is_quiet |= is_silent;
	if (is_silent && !state->in_run) {
		describe_request(context, &request, &state->one_way);
		unit->opens = unit->emits = &state->one_way;
		return WP_DECODE_OK;
	}
	if (is_silent) { /* among gets: it belongs to the run */
		wp_decode_tokens(context, &state->call, request.text, request.text_length);
		unit->extends = &state->call;
		return WP_DECODE_OK;
	}
	describe_request(context, &request, &state->call);
	if (!state->in_run)
		unit->opens = &state->call;
	unit->extends = &state->call;
	if (!is_partly)
		unit->emits = &state->call;
	state->in_run = is_partly;
	return WP_DECODE_OK;
}

/* --- returns --- */

static WpDecodeStatus
parse_reply(WpBytes in, WpMemcachedReply *out_reply)
{
	if (in.length == 0)
		return WP_DECODE_MORE;
	if (in.data[0] == WP_MEMCACHED_BINARY_REPLY)
		return wp_memcached_binary_reply(in, out_reply);
	return wp_memcached_text_reply(in, out_reply);
}

/*
 * What the next reply answers: the note of the oldest call, or of the run that is still being asked, for
 * the hits of its first gets may come before its end is sent. FALSE: nothing is being asked.
 */
static gboolean
asked(const MemcachedState *state, WpDecodeContext *context, guint32 *out_note)
{
	*out_note = 0;
	if (wp_decode_pending(context, out_note))
		return TRUE;
	*out_note = state->in_run ? NOTE_RUN | NOTE_NOOP : 0;
	return state->in_run;
}

/* A line for a watcher, or the failure of a silent request: nobody waits for it. */
static gboolean
is_stray(const MemcachedState *state, WpDecodeContext *context, const WpMemcachedReply *reply)
{
	guint32 note;
	gboolean is_asked = asked(state, context, &note);
	if (reply->part == WP_MEMCACHED_LOG)
		return state->is_watched || !is_asked;
	if (reply->part == WP_MEMCACHED_QUIET && !(note & NOTE_RUN))
		return TRUE;
	if (!state->is_quiet || !reply->is_refusal || state->in_reply)
		return FALSE;
	return !is_asked || (note & NOTE_NOOP && !(note & NOTE_RUN) && !reply->is_noop);
}

/* More parts of the same return will follow. */
static gboolean
goes_on(const MemcachedState *state, WpDecodeContext *context, const WpMemcachedReply *reply)
{
	guint32 note;
	gboolean in_run = asked(state, context, &note) && note & NOTE_RUN;
	switch (reply->part) {
	case WP_MEMCACHED_PART:
	case WP_MEMCACHED_QUIET:
		return TRUE;
	case WP_MEMCACHED_HIT:
		if (in_run && note & NOTE_NOOP)
			return TRUE;
		return in_run && (reply->tag & NOTE_TAG) != (note & NOTE_TAG);
	case WP_MEMCACHED_LAST:
	case WP_MEMCACHED_LOG:
		break;
	}
	return FALSE;
}

static void
describe_reply(MemcachedState *state, const WpMemcachedReply *reply)
{
	state->reply.kind = WP_KIND_RETURN;
	if (state->reply.status != WP_STATUS_ERROR)
		state->reply.status = reply->is_error ? WP_STATUS_ERROR : WP_STATUS_OK;
}

static WpDecodeStatus
decode_reply(MemcachedState *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	WpMemcachedReply reply;
	WpDecodeStatus status = parse_reply(in, &reply);
	if (status != WP_DECODE_OK)
		return status;
	unit->length = reply.length;
	if (is_stray(state, context, &reply)) {
		gboolean is_log = reply.part == WP_MEMCACHED_LOG;
		state->stray.kind = WP_KIND_MESSAGE;
		state->stray.status = is_log ? WP_STATUS_OK : WP_STATUS_ERROR;
		state->stray.label = is_log ? wp_decode_label(context, "log", 3)
					    : wp_decode_label(context, "refused", 7);
		unit->opens = unit->emits = &state->stray;
		return WP_DECODE_OK;
	}
	describe_reply(state, &reply);
	if (!state->in_reply)
		unit->opens = &state->reply;
	unit->extends = &state->reply;
	state->in_reply = goes_on(state, context, &reply);
	if (!state->in_reply)
		unit->emits = &state->reply;
	return WP_DECODE_OK;
}

static WpDecodeStatus
memcached_decode(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
		 WpUnit *out_unit)
{
	if (direction == WP_FROM_CLIENT)
		return decode_request(state, context, in, out_unit);
	return decode_reply(state, context, in, out_unit);
}

static void
memcached_lost(void *opaque, WpDecodeContext *context, WpDirection direction)
{
	MemcachedState *state = opaque;
	if (direction == WP_FROM_CLIENT) {
		state->in_run = FALSE;
		memset(&state->call, 0, sizeof state->call);
		memset(&state->one_way, 0, sizeof state->one_way);
		return;
	}
	state->in_reply = FALSE;
	state->frames_left = 0;
	memset(&state->reply, 0, sizeof state->reply);
	memset(&state->stray, 0, sizeof state->stray);
}

/* A run that nothing ends was still asked. */
static void
memcached_finish(void *opaque, WpDecodeContext *context, WpDirection direction, WpFinish how,
		 WpUnit *out_unit)
{
	MemcachedState *state = opaque;
	if (direction == WP_FROM_CLIENT && state->in_run)
		out_unit->emits = &state->call;
	state->in_run = state->in_run && direction != WP_FROM_CLIENT;
}

static WpDecodeStatus
memcached_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	WpMemcachedRequest request;
	WpMemcachedReply reply;
	if (direction == WP_FROM_CLIENT)
		return parse_request(in, wp_decode_is_cut(context), &request);
	WpDecodeStatus status = parse_reply(in, &reply);
	/* A line that is a number may as well be data. */
	if (status == WP_DECODE_OK && g_ascii_isdigit(in.data[0]) && reply.length != in.length)
		return WP_DECODE_BAD;
	return status;
}

/* --- datagrams --- */

static gboolean
read_frame(WpBytes *in, guint16 *out_id, guint16 *out_number, guint16 *out_total)
{
	*out_id = wp_bytes_be16(in);
	*out_number = wp_bytes_be16(in);
	*out_total = wp_bytes_be16(in);
	guint16 reserved = wp_bytes_be16(in);
	return !in->failed && reserved == 0 && *out_total > 0 && *out_number < *out_total &&
	       wp_bytes_left(in) > 0;
}

static WpDecodeStatus
decode_request_frame(MemcachedState *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	guint16 id, number, total;
	WpMemcachedRequest request;
	if (!read_frame(&in, &id, &number, &total))
		return WP_DECODE_BAD;
	if (parse_request(wp_bytes(in.data + in.at, wp_bytes_left(&in)), wp_decode_is_cut(context),
			  &request) != WP_DECODE_OK)
		return WP_DECODE_BAD;
	describe_request(context, &request, &state->call);
	state->call.callid = id;
	unit->opens = unit->emits = &state->call;
	unit->length = in.length;
	return WP_DECODE_OK;
}

/* The datagrams of one reply may come in any order; they are counted. */
static WpDecodeStatus
decode_reply_frame(MemcachedState *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	guint16 id, number, total;
	WpMemcachedReply reply;
	if (!read_frame(&in, &id, &number, &total))
		return WP_DECODE_BAD;
	unit->length = in.length;
	unit->extends = &state->reply;
	if (state->frames_left == 0 || state->frame_id != id) {
		if (state->frames_left > 0)
			wp_decode_emit(context, &state->reply);
		state->frame_id = id;
		state->frames_left = total;
		state->reply.kind = WP_KIND_RETURN;
		state->reply.status = WP_STATUS_OK;
		state->reply.callid = id;
		unit->opens = &state->reply;
	}
	if (number == 0 &&
	    parse_reply(wp_bytes(in.data + in.at, wp_bytes_left(&in)), &reply) == WP_DECODE_OK)
		state->reply.status = reply.is_error ? WP_STATUS_ERROR : WP_STATUS_OK;
	state->frames_left--;
	if (state->frames_left == 0)
		unit->emits = &state->reply;
	return WP_DECODE_OK;
}

static WpDecodeStatus
memcached_udp_decode(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
		     WpUnit *out_unit)
{
	if (direction == WP_FROM_CLIENT)
		return decode_request_frame(state, context, in, out_unit);
	return decode_reply_frame(state, context, in, out_unit);
}

/* --- detection --- */

/* A request line that little else looks like: data behind it, a meta command's flags, binary. */
static gboolean
is_telling_request(WpBytes in, const WpMemcachedRequest *request)
{
	if (in.data[0] == WP_MEMCACHED_BINARY_REQUEST)
		return TRUE;
	gssize end = wp_bytes_find(&in, '\n', in.length);
	return end >= 0 && request->length > (gsize)end + 1;
}

static gboolean
is_telling_reply(WpBytes in)
{
	return in.data[0] == WP_MEMCACHED_BINARY_REPLY || wp_bytes_starts(&in, "VALUE ", 6) ||
	       wp_bytes_starts(&in, "STORED\r", 7) || wp_bytes_starts(&in, "NOT_STORED\r", 11);
}

static WpProbeVerdict
memcached_probe(const WpProbe *probe)
{
	WpMemcachedRequest request;
	WpMemcachedReply reply;
	WpDecodeStatus client = parse_request(probe->client, probe->is_cut, &request);
	WpDecodeStatus server = parse_reply(probe->server, &reply);
	gboolean is_request = client == WP_DECODE_OK && is_telling_request(probe->client, &request);
	gboolean is_reply = server == WP_DECODE_OK && is_telling_reply(probe->server);
	return wp_probe_verdict(probe, client, server,
				(WpProbeVerdicts){
					.client = is_request ? WP_PROBE_LIKELY : WP_PROBE_MAYBE,
					.server = is_reply ? WP_PROBE_LIKELY : WP_PROBE_MAYBE,
					.both = WP_PROBE_SURE,
				});
}

/* The frame counts as one sign more. */
static WpProbeVerdict
memcached_udp_probe(const WpProbe *probe)
{
	WpProbe inside = *probe;
	WpBytes *sides[2] = { &inside.client, &inside.server };
	guint16 id[2] = { 0, 0 }, number, total;
	for (int i = 0; i < 2; i++) {
		if (sides[i]->length == 0)
			continue;
		if (!read_frame(sides[i], &id[i], &number, &total))
			return WP_PROBE_NO;
		*sides[i] = wp_bytes(sides[i]->data + FRAME_BYTES, sides[i]->length - FRAME_BYTES);
	}
	if (probe->client.length && probe->server.length && id[0] != id[1])
		return WP_PROBE_NO;
	WpProbeVerdict verdict = memcached_probe(&inside);
	return verdict == WP_PROBE_MAYBE ? WP_PROBE_LIKELY : verdict;
}

static const guint16 memcached_ports[] = { 11211, 11210, 0 };

const WpDecoder wp_decoder_memcached = {
	.name = "memcached",
	.summary = "memcached over TCP, text, meta and binary",
	.transports = WP_TRANSPORT_TCP,
	.ports = memcached_ports,
	.state_size = sizeof(MemcachedState),
	.probe = memcached_probe,
	.decode = memcached_decode,
	.sync = memcached_sync,
	.lost = memcached_lost,
	.finish = memcached_finish,
};

const WpDecoder wp_decoder_memcached_udp = {
	.name = "memcached-udp",
	.summary = "memcached over UDP",
	.transports = WP_TRANSPORT_UDP,
	.ports = memcached_ports,
	.by_callid = TRUE,
	.state_size = sizeof(MemcachedState),
	.probe = memcached_udp_probe,
	.decode = memcached_udp_decode,
	.lost = memcached_lost,
};
