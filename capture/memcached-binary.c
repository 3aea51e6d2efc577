/*
 * The binary protocol of memcached:
 *
 *      |magic|opcode|key length|extras length|type|status or vbucket|body length|opaque|cas|
 *       0     1      2          4             5    6                 8           12     16    then
 *      |extras|key|value|
 */
#include <string.h>

#include "capture/memcached.h"

#define HEADER_BYTES 24
#define MAX_BODY     (1024u * 1024 * 1024)

/* 250 of memcached, and before them the number of a collection (Couchbase). */
#define MAX_KEY 255

typedef struct {
	guint8 opcode;
	guint16 key_length;
	guint8 extras_length;
	guint8 data_type;
	guint16 status;
	guint32 body_length;
} Header;

enum {
	OP_NOOP = 0x0a,
	OP_STAT = 0x10
};

/* By opcode. Quiet forms have the name of their loud one. */
static const struct {
	const char *name;
	WpMemcachedAnswer answer;
	gint8 extras; /* bytes of a request; -1 = several sizes */
} opcodes[] = {
	[0x00] = { "get", WP_MEMCACHED_ANSWERED, 0 },
	[0x01] = { "set", WP_MEMCACHED_ANSWERED, 8 },
	[0x02] = { "add", WP_MEMCACHED_ANSWERED, 8 },
	[0x03] = { "replace", WP_MEMCACHED_ANSWERED, 8 },
	[0x04] = { "delete", WP_MEMCACHED_ANSWERED, 0 },
	[0x05] = { "incr", WP_MEMCACHED_ANSWERED, 20 },
	[0x06] = { "decr", WP_MEMCACHED_ANSWERED, 20 },
	[0x07] = { "quit", WP_MEMCACHED_ANSWERED, 0 },
	[0x08] = { "flush_all", WP_MEMCACHED_ANSWERED, -1 },
	[0x09] = { "get", WP_MEMCACHED_PARTLY, 0 },
	[OP_NOOP] = { "noop", WP_MEMCACHED_ANSWERED, 0 },
	[0x0b] = { "version", WP_MEMCACHED_ANSWERED, 0 },
	[0x0c] = { "get", WP_MEMCACHED_ANSWERED, 0 },
	[0x0d] = { "get", WP_MEMCACHED_PARTLY, 0 },
	[0x0e] = { "append", WP_MEMCACHED_ANSWERED, 0 },
	[0x0f] = { "prepend", WP_MEMCACHED_ANSWERED, 0 },
	[OP_STAT] = { "stats", WP_MEMCACHED_ANSWERED, 0 },
	[0x11] = { "set", WP_MEMCACHED_SILENT, 8 },
	[0x12] = { "add", WP_MEMCACHED_SILENT, 8 },
	[0x13] = { "replace", WP_MEMCACHED_SILENT, 8 },
	[0x14] = { "delete", WP_MEMCACHED_SILENT, 0 },
	[0x15] = { "incr", WP_MEMCACHED_SILENT, 20 },
	[0x16] = { "decr", WP_MEMCACHED_SILENT, 20 },
	[0x17] = { "quit", WP_MEMCACHED_SILENT, 0 },
	[0x18] = { "flush_all", WP_MEMCACHED_SILENT, -1 },
	[0x19] = { "append", WP_MEMCACHED_SILENT, 0 },
	[0x1a] = { "prepend", WP_MEMCACHED_SILENT, 0 },
	[0x1b] = { "verbosity", WP_MEMCACHED_ANSWERED, 4 },
	[0x1c] = { "touch", WP_MEMCACHED_ANSWERED, 4 },
	[0x1d] = { "gat", WP_MEMCACHED_ANSWERED, 4 },
	[0x1e] = { "gat", WP_MEMCACHED_PARTLY, 4 },
	[0x1f] = { "hello", WP_MEMCACHED_ANSWERED, 0 },
	[0x20] = { "sasl_list", WP_MEMCACHED_ANSWERED, 0 },
	[0x21] = { "sasl_auth", WP_MEMCACHED_ANSWERED, 0 },
	[0x22] = { "sasl_step", WP_MEMCACHED_ANSWERED, 0 },
	[0x23] = { "gat", WP_MEMCACHED_ANSWERED, 4 },
	[0x24] = { "gat", WP_MEMCACHED_PARTLY, 4 },
};

/* The header, if it can be one of MAGIC; as much of it as is there. */
static WpDecodeStatus
read_header(WpBytes *in, guint8 magic, Header *out)
{
	if (wp_bytes_u8(in) != magic && !in->failed)
		return WP_DECODE_BAD;
	out->opcode = wp_bytes_u8(in);
	out->key_length = wp_bytes_be16(in);
	out->extras_length = wp_bytes_u8(in);
	out->data_type = wp_bytes_u8(in);
	if (!in->failed && out->data_type > 7) /* bits: JSON, compressed, extended (Couchbase) */
		return WP_DECODE_BAD;
	out->status = wp_bytes_be16(in);
	out->body_length = wp_bytes_be32(in);
	if (!in->failed && (out->body_length > MAX_BODY || out->key_length > MAX_KEY ||
			    out->body_length < (guint32)out->key_length + out->extras_length))
		return WP_DECODE_BAD;
	wp_bytes_skip(in, 12); /* opaque, cas */
	return in->failed ? WP_DECODE_MORE : WP_DECODE_OK;
}

WpDecodeStatus
wp_memcached_binary_request(WpBytes in, gboolean is_cut, WpMemcachedRequest *out_request)
{
	Header header;
	WpMemcachedRequest request = { 0 };
	gsize whole = in.length;
	WpDecodeStatus status = read_header(&in, WP_MEMCACHED_BINARY_REQUEST, &header);
	if (status != WP_DECODE_OK)
		return status;
	request.length = HEADER_BYTES + (gsize)header.body_length;
	if (header.opcode < G_N_ELEMENTS(opcodes)) {
		if (opcodes[header.opcode].extras >= 0 &&
		    header.extras_length != opcodes[header.opcode].extras)
			return WP_DECODE_BAD;
		g_strlcpy(request.command, opcodes[header.opcode].name, sizeof request.command);
		request.answer = opcodes[header.opcode].answer;
	} else {
		g_snprintf(request.command, sizeof request.command, "op0x%02x", header.opcode);
	}
	request.is_noop = header.opcode == OP_NOOP;
	request.sets_up = header.opcode >= 0x1f && header.opcode <= 0x22;
	gsize value_length = header.body_length - header.extras_length - header.key_length;
	gsize front = HEADER_BYTES + header.extras_length + header.key_length +
		      MIN(value_length, WP_MEMCACHED_DATA_LOOKED_AT);
	if (whole < front && !is_cut)
		return WP_DECODE_MORE;
	front = MIN(front, whole); /* of one that is cut, the header says all but the key */
	gboolean has_key = wp_bytes_skip(&in, header.extras_length) && front > in.at;
	if (has_key && header.key_length > 0 && !request.sets_up) {
		request.key_length = MIN(header.key_length, front - in.at);
		request.key = (const char *)in.data + in.at;
		request.text = in.data + in.at;
		request.text_length = front - in.at;
	}
	*out_request = request;
	return WP_DECODE_OK;
}

/* Statuses that are answers: found, not found, exists, not stored, go on with the login. */
static gboolean
is_error(guint16 status)
{
	return !(status <= 2 || status == 5 || status == 0x21);
}

WpDecodeStatus
wp_memcached_binary_reply(WpBytes in, WpMemcachedReply *out_reply)
{
	Header header;
	WpMemcachedReply reply = { 0 };
	WpDecodeStatus status = read_header(&in, WP_MEMCACHED_BINARY_REPLY, &header);
	if (status != WP_DECODE_OK)
		return status;
	reply.length = HEADER_BYTES + (gsize)header.body_length;
	reply.is_error = is_error(header.status);
	reply.is_noop = header.opcode == OP_NOOP;
	reply.is_refusal = header.status != 0;
	if (header.opcode == OP_STAT && header.key_length > 0)
		reply.part = WP_MEMCACHED_PART;
	else if (header.opcode < G_N_ELEMENTS(opcodes) &&
		 opcodes[header.opcode].answer != WP_MEMCACHED_ANSWERED)
		reply.part = WP_MEMCACHED_QUIET;
	*out_reply = reply;
	return WP_DECODE_OK;
}
