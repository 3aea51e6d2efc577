/* Frames by section 6 of RFC 9113: lengths, flags, streams that each type may have. */
#include "capture/http2-frame.h"

#include <string.h>

#include "capture/hpack.h"

/* Frames of a type that is not of RFC 9113 are short, and of the few types that are registered. */
#define MAX_OTHER_TYPE  0x20
#define MAX_OTHER_BYTES 16384

/* Where frames are only guessed at: SETTINGS_MAX_FRAME_SIZE that nearly all keep to; frames looked at. */
#define USUAL_BYTES 16384
#define MAX_RUN     32

/* A flag that is not defined for the type must not be set by those who send (section 4.1). */
typedef struct {
	guint32 least; /* bytes */
	guint32 most;
	gboolean on_stream; /* its id is not 0 ... */
	gboolean on_either; /* ... or does not matter */
	guint8 flags;
} Rule;

#define ANY_BYTES 0xffffff

static const Rule rules[] = {
	[WP_HTTP2_DATA] = { 0, ANY_BYTES, TRUE, FALSE, WP_HTTP2_END_STREAM | WP_HTTP2_PADDED },
	[WP_HTTP2_HEADERS] = { 0, ANY_BYTES, TRUE, FALSE,
			       WP_HTTP2_END_STREAM | WP_HTTP2_END_HEADERS | WP_HTTP2_PADDED |
				       WP_HTTP2_HAS_PRIORITY },
	[WP_HTTP2_PRIORITY] = { 5, 5, TRUE, FALSE, 0 },
	[WP_HTTP2_RST_STREAM] = { 4, 4, TRUE, FALSE, 0 },
	[WP_HTTP2_SETTINGS] = { 0, 6 * 1024, FALSE, FALSE, WP_HTTP2_ACK },
	[WP_HTTP2_PUSH_PROMISE] = { 4, ANY_BYTES, TRUE, FALSE,
				    WP_HTTP2_END_HEADERS | WP_HTTP2_PADDED },
	[WP_HTTP2_PING] = { 8, 8, FALSE, FALSE, WP_HTTP2_ACK },
	[WP_HTTP2_GOAWAY] = { 8, ANY_BYTES, FALSE, FALSE, 0 },
	[WP_HTTP2_WINDOW_UPDATE] = { 4, 4, FALSE, TRUE, 0 },
	[WP_HTTP2_CONTINUATION] = { 0, ANY_BYTES, TRUE, FALSE, WP_HTTP2_END_HEADERS },
};

static gboolean
is_valid(const WpHttp2Frame *frame)
{
	if (frame->type >= G_N_ELEMENTS(rules))
		return frame->type <= MAX_OTHER_TYPE && frame->length <= MAX_OTHER_BYTES;
	const Rule *rule = &rules[frame->type];
	if (frame->length < rule->least || frame->length > rule->most)
		return FALSE;
	if (frame->type == WP_HTTP2_SETTINGS && frame->length % 6 != 0)
		return FALSE;
	return rule->on_either || rule->on_stream == (frame->id != 0);
}

WpDecodeStatus
wp_http2_read_frame(WpBytes *in, WpHttp2Frame *out_frame)
{
	if (wp_bytes_left(in) < WP_HTTP2_HEADER_BYTES)
		return WP_DECODE_MORE;
	/* Where it is to stand: a processor waits where what was written in parts just now is copied as a whole. */
	out_frame->length = wp_bytes_be24(in);
	out_frame->type = wp_bytes_u8(in);
	out_frame->flags = wp_bytes_u8(in);
	out_frame->id = wp_bytes_be32(in) & 0x7fffffff;
	return is_valid(out_frame) ? WP_DECODE_OK : WP_DECODE_BAD;
}

gboolean
wp_http2_content(WpBytes in, const WpHttp2Frame *frame, WpBytes *out_content, guint32 *out_promised)
{
	gsize left = frame->length;
	gsize front = 0, padding = 0;

	if (frame->flags & WP_HTTP2_PADDED && frame->type != WP_HTTP2_CONTINUATION) {
		front++;
		padding = wp_bytes_u8(&in);
	}
	if (frame->type == WP_HTTP2_HEADERS && frame->flags & WP_HTTP2_HAS_PRIORITY) {
		front += 5;
		wp_bytes_skip(&in, 5);
	}
	if (frame->type == WP_HTTP2_PUSH_PROMISE) {
		front += 4;
		*out_promised = wp_bytes_be32(&in) & 0x7fffffff;
	}
	if (front + padding > left)
		return FALSE;
	left -= front + padding;
	*out_content = wp_bytes(in.data + in.at, MIN(left, wp_bytes_left(&in)));
	return TRUE;
}

/* --- guessing --- */

/* As senders write it, and not only as receivers must take it. */
static gboolean
is_usual(const WpHttp2Frame *frame, guint8 reserved, gboolean is_first)
{
	/* gRPC agrees on frames as large as may be; one of them behind another frame is no accident. */
	gboolean may_be_large = !is_first && frame->type == WP_HTTP2_DATA;
	if (frame->type >= G_N_ELEMENTS(rules) || frame->flags & ~rules[frame->type].flags ||
	    reserved & 0x80 || (frame->length > USUAL_BYTES && !may_be_large))
		return FALSE;
	if (frame->flags & WP_HTTP2_ACK && frame->type == WP_HTTP2_SETTINGS && frame->length)
		return FALSE;
	/* Servers open streams only to push. */
	return frame->id % 2 == 1 || frame->id == 0 || frame->type != WP_HTTP2_HEADERS;
}

static gboolean
walk_headers(const WpHttp2Frame *frame, WpBytes in, WpHttp2Run *run)
{
	WpHpackShape shape;
	WpBytes content;
	guint32 promised;
	gboolean is_cut = wp_bytes_left(&in) < frame->length;

	if (!(frame->flags & WP_HTTP2_END_HEADERS) && !is_cut)
		return FALSE;
	if (!wp_http2_content(in, frame, &content, &promised) || !wp_hpack_shape(content, &shape) ||
	    (!is_cut && !shape.is_whole))
		return FALSE;
	if (shape.n_request && !run->request_id) {
		run->request_id = frame->id;
		run->is_telling = shape.n_request >= 2;
	} else if (shape.n_response && !run->response_id) {
		run->response_id = frame->id;
	}
	return TRUE;
}

/* Whether a flag and a length that fits stand at the front, as before every message of gRPC. */
static gboolean
is_message(const WpHttp2Frame *frame, WpBytes in)
{
	guint8 flag = wp_bytes_u8(&in);
	guint32 length = wp_bytes_be32(&in);
	return !in.failed && frame->type == WP_HTTP2_DATA && flag <= 1 && frame->length >= 5 &&
	       length == frame->length - 5;
}

gboolean
wp_http2_walk(WpBytes in, WpHttp2Run *out_run)
{
	WpHttp2Run run = { 0 };
	WpHttp2Frame frame;

	while (wp_bytes_left(&in) >= WP_HTTP2_HEADER_BYTES && run.n_frames < MAX_RUN) {
		guint8 reserved = in.data[in.at + 5];
		if (wp_http2_read_frame(&in, &frame) != WP_DECODE_OK ||
		    !is_usual(&frame, reserved, run.n_frames == 0))
			return FALSE;
		run.n_frames++;
		run.n_streams +=
			frame.type <= WP_HTTP2_HEADERS || frame.type == WP_HTTP2_RST_STREAM;
		run.n_messages += is_message(&frame, in);
		if (frame.type == WP_HTTP2_HEADERS && !walk_headers(&frame, in, &run))
			return FALSE;
		if (!wp_bytes_skip(&in, frame.length)) {
			run.ends_inside = TRUE;
			break;
		}
	}
	run.ends_inside |= wp_bytes_left(&in) > 0 && run.n_frames < MAX_RUN;
	*out_run = run;
	return run.n_frames > 0;
}

/* --- recognising --- */

/* TRUE where both, of which one may be empty, are whole frames of no stream. */
static gboolean
are_control(const WpHttp2Run *client, const WpHttp2Run *server)
{
	return client->n_streams + server->n_streams == 0 && !client->ends_inside &&
	       !server->ends_inside;
}

static gboolean
are_both_likely(const WpHttp2Run *client, const WpHttp2Run *server)
{
	return client->n_frames + server->n_frames >= 3 &&
	       (client->request_id || server->response_id);
}

/* Whole frames on both sides, in the middle of long bodies: they do not tell who is the client. */
static gboolean
are_bodies(const WpHttp2Run *client, const WpHttp2Run *server)
{
	gboolean are_many = client->n_frames + server->n_frames >= 3;
	gboolean are_messages = client->n_messages && server->n_messages;
	return client->n_frames && server->n_frames && (are_many || are_messages) &&
	       !client->ends_inside && !server->ends_inside;
}

/*
 * Nothing that speaks for a request or a response, nor against one. Bodies that nothing else follows are those of
 * streams that last: no call is to be guessed in them.
 */
static WpProbeVerdict
verdict_without_heads(const WpHttp2Run *client, const WpHttp2Run *server, gboolean is_last)
{
	if (are_bodies(client, server))
		return is_last ? WP_PROBE_LIKELY : WP_PROBE_MORE;
	return are_control(client, server) ? WP_PROBE_MORE : WP_PROBE_NO;
}

/*
 * In mid-stream: frames from packet to packet on every side that is there, with a request of the
 * client or a response of the server among them. One side alone will do only for a request that names
 * what all do, cut by the snap length or with another frame behind it. Where nothing but
 * frames of no stream has passed, such as a PING and its answer, or of bodies, more must tell.
 */
static WpProbeVerdict
probe_frames(const WpProbe *probe)
{
	WpHttp2Run client = { 0 }, server = { 0 };
	gboolean has_client = wp_bytes_left(&probe->client) > 0;
	gboolean has_server = wp_bytes_left(&probe->server) > 0;

	if ((has_client && !wp_http2_walk(probe->client, &client)) ||
	    (has_server && !wp_http2_walk(probe->server, &server)) || client.response_id ||
	    server.request_id)
		return WP_PROBE_NO;
	if (client.request_id && client.request_id == server.response_id)
		return WP_PROBE_SURE;
	if (has_client && has_server
		    ? are_both_likely(&client, &server)
		    : client.is_telling && (client.n_frames >= 2 || client.ends_inside))
		return WP_PROBE_LIKELY;
	return verdict_without_heads(&client, &server, probe->is_last);
}

/* The server may send its SETTINGS before the preface has come. */
static WpProbeVerdict
probe_settings(WpBytes in)
{
	WpBytes at = in;
	WpHttp2Frame frame;

	if (wp_bytes_left(&in) < 4 || in.data[in.at + 3] != WP_HTTP2_SETTINGS ||
	    wp_http2_read_frame(&at, &frame) == WP_DECODE_BAD)
		return WP_PROBE_NO;
	return WP_PROBE_MORE;
}

WpProbeVerdict
wp_http2_probe(const WpProbe *probe)
{
	const WpBytes *client = &probe->client;
	gsize n = MIN(wp_bytes_left(client), WP_HTTP2_PREFACE_BYTES);

	if (n && memcmp(client->data + client->at, WP_HTTP2_PREFACE, n) == 0)
		return n < WP_HTTP2_PREFACE_BYTES ? WP_PROBE_MORE : WP_PROBE_SURE;
	if (!probe->from_start)
		return probe_frames(probe);
	return n ? WP_PROBE_NO : probe_settings(probe->server);
}
