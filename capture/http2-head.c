/*
 * Fields of HTTP/2 requests and responses. RFC 9113 section 8.3 (pseudo-fields), "gRPC over HTTP2"
 * (content types, grpc-status, the prefix of messages), "Encoding" of Protocol Buffers.
 */
#include "capture/http2-head.h"

#include <string.h>

#include "capture/http-fields.h"
#include "capture/label.h"

/* Servers take lists of 8 to 64 KiB; fields beyond are not looked at. */
#define MAX_LIST_BYTES (256 * 1024)
#define FIELD_BYTES    32 /* that each field counts beside its text */

/* Messages inside messages that are looked at for tokens. */
#define MAX_DEPTH 4

#define UNKNOWN "(unknown)"

#define is_text(text, length, wanted)                                                              \
	((length) == sizeof(wanted) - 1 && memcmp(text, wanted, length) == 0)

/* FALSE where FIELD is not to be looked at any more. */
static gboolean
count_field(WpHttp2Head *head, const char *name, gsize name_length, gsize length)
{
	if (!name)
		head->has_unknown = TRUE;
	if (head->bytes > MAX_LIST_BYTES)
		head->is_too_long = TRUE;
	else
		head->bytes += (guint32)(name_length + length + FIELD_BYTES);
	return name && !head->is_too_long;
}

static void
note_type(WpHttp2Head *head, const char *value, gsize length)
{
	static const char grpc[] = "application/grpc";
	head->has_type = TRUE;
	head->is_grpc = length >= sizeof grpc - 1 && memcmp(value, grpc, sizeof grpc - 1) == 0;
	head->is_binary |= wp_http_is_binary_type(value, length);
	head->is_events = wp_http_is_event_stream(value, length);
}

/* --- requests --- */

static void
note_path(WpDecodeContext *context, WpHttp2Head *head, WpMessage *message, const char *value,
	  gsize length)
{
	head->n_path = (guint16)MIN(length, WP_HTTP2_PATH_MAX);
	memcpy(head->path, value, head->n_path);
	if (wp_http_target_waits(value, length))
		message->marks |= WP_MARK_WAIT;
	wp_decode_tokens(context, message, (const guint8 *)value, MIN(length, WP_HTTP_SCAN_BYTES));
}

static void
note_pseudo(WpDecodeContext *context, WpHttp2Head *head, WpMessage *message, const char *name,
	    gsize name_length, const char *value, gsize length)
{
	if (is_text(name, name_length, ":method")) {
		head->n_method = (guint8)MIN(length, WP_HTTP2_METHOD_MAX);
		memcpy(head->method, value, head->n_method);
	} else if (is_text(name, name_length, ":path")) {
		note_path(context, head, message, value, length);
	} else if (is_text(name, name_length, ":protocol")) {
		head->has_protocol = TRUE;
	} else if (is_text(name, name_length, ":authority")) {
		/* Of a CONNECT it is not the server's, and stands for the path (section 8.5). */
		if (!is_text(head->method, head->n_method, "CONNECT"))
			wp_http_name_server(context, value, length);
		else if (head->n_path == 0)
			note_path(context, head, message, value, length);
	}
}

void
wp_http2_note_request(WpDecodeContext *context, WpHttp2Head *head, WpMessage *message,
		      const char *name, gsize name_length, const char *value, gsize length)
{
	if (!count_field(head, name, name_length, length))
		return;
	if (name[0] == ':')
		note_pseudo(context, head, message, name, name_length, value, length);
	else if (is_text(name, name_length, "content-type"))
		note_type(head, value, length);
	else if (is_text(name, name_length, "content-encoding"))
		head->is_binary |= !is_text(value, length, "identity");
	else if (is_text(name, name_length, "accept"))
		message->marks |= is_text(value, length, "text/event-stream") ? WP_MARK_WAIT : 0;
	else
		wp_http_scan_field(context, message, name, name_length, value, length);
}

gboolean
wp_http2_is_tunnel(const WpHttp2Head *head)
{
	return is_text(head->method, head->n_method, "CONNECT");
}

/* "/pkg.Service/Method", of the bytes that names in .proto files have. */
static gboolean
is_grpc_path(const char *path, gsize length)
{
	guint n_slashes = 0;
	for (gsize i = 0; i < length; i++) {
		if (path[i] == '/')
			n_slashes++;
		else if (!g_ascii_isalnum(path[i]) && path[i] != '_' && path[i] != '.')
			return FALSE;
	}
	return n_slashes == 2 && path[0] == '/' && path[1] != '/' && path[length - 1] != '/';
}

gboolean
wp_http2_may_be_grpc(const WpHttp2Head *head)
{
	return head->has_unknown && !head->has_type && head->n_path > 0 &&
	       is_grpc_path(head->path, head->n_path);
}

guint32
wp_http2_label(WpDecodeContext *context, const WpHttp2Head *head)
{
	const char *method = head->n_method ? head->method : UNKNOWN;
	gsize n = head->n_method ? head->n_method : strlen(UNKNOWN);

	if (head->is_grpc && is_grpc_path(head->path, head->n_path))
		return wp_decode_label(context, head->path + 1, head->n_path - 1u);
	if (head->n_path && wp_http2_is_tunnel(head) && !head->has_protocol)
		return wp_http_label_tunnel(context, head->path, head->n_path);
	if (head->n_path)
		return wp_http_label(context, method, n, head->path, head->n_path);
	if (!head->n_method || head->is_grpc)
		return wp_decode_label(context, UNKNOWN, strlen(UNKNOWN));
	char label[WP_HTTP2_METHOD_MAX + sizeof " " UNKNOWN];
	for (gsize i = 0; i < n; i++)
		label[i] = g_ascii_isgraph(method[i]) ? method[i] : '?';
	memcpy(label + n, " " UNKNOWN, sizeof " " UNKNOWN);
	return wp_decode_label(context, label, n + strlen(" " UNKNOWN));
}

guint32
wp_http2_grpc_label(WpDecodeContext *context, const WpHttp2Head *head)
{
	WpHttp2Head told = *head;

	if (head->is_grpc || head->has_type ||
	    (head->n_path && !is_grpc_path(head->path, head->n_path)))
		return 0;
	told.is_grpc = TRUE;
	return wp_http2_label(context, &told);
}

/* --- responses --- */

static guint16
read_number(const char *text, gsize length)
{
	guint number = 0;
	for (gsize i = 0; i < length && i < 4 && g_ascii_isdigit(text[i]); i++)
		number = number * 10 + (guint)(text[i] - '0');
	return (guint16)number;
}

void
wp_http2_note_response(WpHttp2Head *head, const char *name, gsize name_length, const char *value,
		       gsize length)
{
	if (!count_field(head, name, name_length, length))
		return;
	if (is_text(name, name_length, ":status")) {
		head->code = read_number(value, length);
	} else if (is_text(name, name_length, "content-type")) {
		note_type(head, value, length);
	} else if (is_text(name, name_length, "grpc-status")) {
		head->has_grpc_status = TRUE;
		head->grpc_status = read_number(value, length);
	}
}

WpStatus
wp_http2_status(guint code, gboolean is_grpc, const WpHttp2Head *last)
{
	if (last->has_grpc_status) /* 4 is DEADLINE_EXCEEDED */
		return last->grpc_status == 0   ? WP_STATUS_OK
		       : last->grpc_status == 4 ? WP_STATUS_TIMEOUT
						: WP_STATUS_ERROR;
	if (code == 0 || (is_grpc && last->has_unknown && code < 300))
		return WP_STATUS_UNKNOWN;
	return wp_http_status(code);
}

/* --- gRPC bodies --- */

#define PREFIX_BYTES 5

gboolean
wp_grpc_is_prefix(const guint8 *data, gsize length, gsize body_length)
{
	WpBytes in = wp_bytes(data, length);
	guint8 flag = wp_bytes_u8(&in);
	guint32 size = wp_bytes_be32(&in);
	return !in.failed && flag <= 1 && size + (guint64)PREFIX_BYTES == body_length;
}

/* An integer in 7 bits a byte, the least first. */
static guint64
read_varint(WpBytes *in)
{
	guint64 value = 0;
	for (guint shift = 0; shift < 64; shift += 7) {
		guint8 byte = wp_bytes_u8(in);
		value |= (guint64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	in->failed = TRUE;
	return 0;
}

static gboolean
is_printable(const guint8 *data, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (data[i] < ' ' || data[i] == 0x7f)
			return FALSE;
	return TRUE;
}

static void scan_message(WpDecodeContext *context, WpMessage *message, WpBytes in, guint depth);

/* Wire types: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. FALSE for others. */
static gboolean
scan_value(WpDecodeContext *context, WpMessage *message, guint type, WpBytes *in, guint depth)
{
	guint64 value;

	switch (type) {
	case 0:
		value = read_varint(in);
		if (!in->failed)
			wp_decode_number(context, message, value, FALSE);
		return !in->failed;
	case 1:
		return wp_bytes_skip(in, 8);
	case 2:
		value = read_varint(in);
		gsize n = (gsize)MIN(value, wp_bytes_left(in));
		const guint8 *data = in->data + in->at;
		if (in->failed)
			return FALSE;
		if (is_printable(data, n))
			wp_decode_tokens(context, message, data, n);
		else if (depth < MAX_DEPTH)
			scan_message(context, message, wp_bytes(data, n), depth + 1);
		return wp_bytes_skip(in, n);
	case 5:
		return wp_bytes_skip(in, 4);
	default:
		return FALSE;
	}
}

static void
scan_message(WpDecodeContext *context, WpMessage *message, WpBytes in, guint depth)
{
	while (wp_bytes_left(&in)) {
		guint64 key = read_varint(&in);
		if (in.failed || key >> 3 == 0 || key >> 32 ||
		    !scan_value(context, message, key & 7, &in, depth))
			return;
	}
}

void
wp_grpc_scan(WpDecodeContext *context, WpMessage *message, const guint8 *data, gsize length)
{
	WpBytes in = wp_bytes(data, length);
	guint8 is_compressed = wp_bytes_u8(&in);
	guint32 size = wp_bytes_be32(&in);

	if (in.failed || is_compressed)
		return;
	gsize n = MIN(size, wp_bytes_left(&in));
	scan_message(context, message, wp_bytes(in.data + in.at, n), 0);
}
