/*
 * Cassandra's CQL binary protocol, versions 3 to 5 (apache/cassandra, doc/native_protocol_v3.spec, _v4, _v5).
 *
 *      envelope  |version, 0x80 in responses|flags|stream, 2|opcode|length, 4|body
 *      frame (5) |length 17 bits, self-contained, CRC24 of these 3|envelopes, or a part of one|CRC32
 *
 * The stream pairs a request with its response, and is free then; that of an event is -1. Version 5 puts
 * envelopes into frames as soon as the server has answered STARTUP; compressed frames are not read. A
 * prepared statement is named by a hash that holds for the whole server, but is known here on the flow that
 * prepared it; elsewhere its label is EXECUTE alone.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/label.h"
#include "capture/probe.h"
#include "capture/sql.h"
#include "capture/statements.h"
#include "capture/unpack.h"

/* Largest envelope: native_transport_max_frame_size is 16 MiB by default; drivers take 256 MiB. */
#define ENVELOPE_MAX (256u * 1024 * 1024)

/* Of each envelope so much is looked at, and of a compressed one when it is unpacked. */
#define LOOKED_AT 4096

/* Of the values behind a statement so much is looked at for tokens. */
#define VALUES_LOOKED_AT 256

/* What drivers tell in STARTUP: half a dozen options, names in capitals. More is something else. */
#define MAX_OPTIONS     32
#define MAX_OPTION_NAME 64

#define CQL_DIALECT (WP_SQL_LOWER | WP_SQL_DOLLAR)

enum {
	OP_ERROR = 0,
	OP_STARTUP = 1,
	OP_READY = 2,
	OP_AUTHENTICATE = 3,
	OP_OPTIONS = 5,
	OP_SUPPORTED = 6,
	OP_QUERY = 7,
	OP_RESULT = 8,
	OP_PREPARE = 9,
	OP_EXECUTE = 10,
	OP_REGISTER = 11,
	OP_EVENT = 12,
	OP_BATCH = 13,
	OP_AUTH_CHALLENGE = 14,
	OP_AUTH_RESPONSE = 15,
	OP_AUTH_SUCCESS = 16,
	N_OPCODES
};

enum {
	FLAG_COMPRESSED = 1,
	FLAG_TRACING = 2,
	FLAG_PAYLOAD = 4,
	FLAG_WARNING = 8,
	FLAGS = 31
};

enum {
	ENVELOPE_HEAD = 9,
	FRAME_HEAD = 6,
	FRAME_TAIL = 4,
	RESULT_PREPARED = 4,
	ERROR_WRITE_TIMEOUT = 0x1100,
	ERROR_READ_TIMEOUT = 0x1200
};

static const char *const request_names[N_OPCODES] = {
	[OP_STARTUP] = "STARTUP", [OP_OPTIONS] = "OPTIONS",    [OP_QUERY] = "QUERY",
	[OP_PREPARE] = "PREPARE", [OP_EXECUTE] = "EXECUTE",    [OP_REGISTER] = "REGISTER",
	[OP_BATCH] = "BATCH",     [OP_AUTH_RESPONSE] = "AUTH",
};

typedef struct {
	WpMessage message;
	guint32 frame;     /* bytes left of the frame */
	gboolean has_tail; /* then comes its CRC */
	guint32 envelope;  /* bytes left of an envelope of several frames */
} Side;

typedef struct {
	Side sides[2];
	WpStatements statements;
	gboolean is_framed;
} State;

typedef struct {
	guint8 version;
	guint8 flags;
	gint16 stream;
	guint8 opcode;
	guint32 length;
} Head;

/* --- heads --- */

/* DataStax's own versions, which its drivers ask for first; envelopes as in version 4. */
enum {
	DSE_V1 = 0x41,
	DSE_V2 = 0x42
};

static gboolean
opcode_is_known(guint8 opcode, WpDirection direction)
{
	if (opcode >= N_OPCODES || opcode == 4)
		return FALSE;
	return (request_names[opcode] != NULL) == (direction == WP_FROM_CLIENT);
}

static WpDecodeStatus
read_head(WpBytes *in, WpDirection direction, Head *out)
{
	guint8 version = wp_bytes_u8(in);
	if (in->failed)
		return WP_DECODE_MORE;
	out->version = version & 127;
	if (out->version == DSE_V1 || out->version == DSE_V2)
		out->version = 4;
	if (version >> 7 != (direction == WP_FROM_SERVER) || out->version < 3 || out->version > 5)
		return WP_DECODE_BAD;
	out->flags = wp_bytes_u8(in);
	out->stream = (gint16)wp_bytes_be16(in);
	out->opcode = wp_bytes_u8(in);
	out->length = wp_bytes_be32(in);
	if (in->failed)
		return WP_DECODE_MORE;
	return out->flags <= FLAGS && opcode_is_known(out->opcode, direction) &&
			       out->length <= ENVELOPE_MAX
		       ? WP_DECODE_OK
		       : WP_DECODE_BAD;
}

/* CRC24 as in section 2.2 of version 5. */
static guint32
crc24(guint32 bits)
{
	guint32 crc = 0x875060;
	for (int i = 0; i < 3; i++, bits >>= 8) {
		crc ^= (bits & 255) << 16;
		for (int bit = 0; bit < 8; bit++) {
			crc <<= 1;
			if (crc & 0x1000000)
				crc ^= 0x1974f0b;
		}
	}
	return crc;
}

static WpDecodeStatus
read_frame_head(WpBytes in, guint32 *out_length)
{
	guint32 bits = wp_bytes_le24(&in), crc = wp_bytes_le24(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	*out_length = bits & 0x1ffff;
	return bits >> 18 == 0 && crc24(bits) == crc && *out_length > 0 ? WP_DECODE_OK
									: WP_DECODE_BAD;
}

/* What stands before the body proper. */
static void
skip_extras(WpBytes *body, const Head *head, WpDirection direction)
{
	if (direction == WP_FROM_SERVER && head->flags & FLAG_TRACING)
		wp_bytes_skip(body, 16);
	if (direction == WP_FROM_SERVER && head->flags & FLAG_WARNING)
		for (guint n = wp_bytes_be16(body); n && !body->failed; n--)
			wp_bytes_skip(body, wp_bytes_be16(body));
	if (head->flags & FLAG_PAYLOAD)
		for (guint n = wp_bytes_be16(body); n && !body->failed; n--) {
			wp_bytes_skip(body, wp_bytes_be16(body));
			gint32 length = (gint32)wp_bytes_be32(body);
			wp_bytes_skip(body, (gsize)MAX(length, 0));
		}
}

/* LZ4 here has the length before it, whose first byte is 0; Snappy has it in seven bits a byte. */
static WpBytes
unpack(WpBytes body, guint8 buffer[LOOKED_AT])
{
	if (wp_bytes_left(&body) == 0)
		return body;
	if (body.data[body.at] != 0)
		return wp_bytes(buffer, wp_unpack_snappy(body, buffer, LOOKED_AT));
	wp_bytes_be32(&body);
	return wp_bytes(buffer, wp_unpack_lz4(body, buffer, LOOKED_AT));
}

/* --- requests --- */

/* A statement: length and text, which may be cut. Its label; 0 = none. */
static guint32
label_statement(WpDecodeContext *context, WpMessage *message, WpBytes *body, const char *before)
{
	char label[16 + WP_LABEL_MAX + 1];
	guint32 length = wp_bytes_be32(body);
	gsize there = MIN(length, wp_bytes_left(body)), n = g_strlcpy(label, before, 16);
	const char *text = (const char *)body->data + body->at;
	gsize m = wp_label_sql(text, there, CQL_DIALECT, label + n, WP_LABEL_MAX + 1, NULL);
	wp_sql_add_tokens(context, message, CQL_DIALECT, text, there);
	wp_bytes_skip(body, there);
	if (m == 0)
		return 0;
	message->label = wp_decode_label(context, label, n + m);
	return wp_decode_label(context, label + n, m);
}

/* A prepared statement's id: length, 2, and bytes; FNV-1a of them. */
static guint64
read_id(WpBytes *body)
{
	guint64 hash = G_GUINT64_CONSTANT(14695981039346656037);
	for (guint n = wp_bytes_be16(body); n && !body->failed; n--)
		hash = (hash ^ wp_bytes_u8(body)) * G_GUINT64_CONSTANT(1099511628211);
	return hash;
}

static void
label_prepared(State *state, WpDecodeContext *context, WpMessage *message, WpBytes *body,
	       const char *before)
{
	const WpStatement *statement = wp_statements_find(&state->statements, read_id(body));
	if (statement && statement->label && !*before)
		message->label = statement->label;
}

static void
describe_batch(State *state, WpDecodeContext *context, WpBytes *body, WpMessage *message)
{
	wp_bytes_skip(body, 3); /* type, number */
	if (wp_bytes_u8(body) == 0)
		label_statement(context, message, body, "BATCH ");
	else
		label_prepared(state, context, message, body, "BATCH ");
}

static void
describe_request(State *state, WpDecodeContext *context, const Head *head, WpBytes body,
		 WpMessage *message)
{
	const char *name = request_names[head->opcode];
	message->kind = WP_KIND_CALL;
	message->callid = (guint16)head->stream;
	message->label = wp_decode_label(context, name, strlen(name));
	switch (head->opcode) {
	case OP_QUERY:
		label_statement(context, message, &body, "");
		break;
	case OP_PREPARE:
		message->note = label_statement(context, message, &body, "PREPARE ");
		return;
	case OP_EXECUTE:
		label_prepared(state, context, message, &body, "");
		break;
	case OP_BATCH:
		describe_batch(state, context, &body, message);
		break;
	case OP_REGISTER:
		wp_decode_may_push(context); /* events */
					     /* fall through */
	default:
		message->marks = WP_MARK_SETUP;
		return;
	}
	wp_decode_tokens(context, message, body.data + body.at,
			 MIN(wp_bytes_left(&body), VALUES_LOOKED_AT));
}

/* --- responses --- */

static void
describe_response(State *state, WpDecodeContext *context, const Head *head, WpBytes body,
		  WpMessage *message)
{
	guint32 note;
	message->kind = head->opcode == OP_EVENT ? WP_KIND_MESSAGE : WP_KIND_RETURN;
	message->callid = (guint16)head->stream;
	message->status = WP_STATUS_OK;
	if (head->opcode == OP_EVENT)
		message->label = wp_decode_label(context, "EVENT", 5);
	if (head->opcode == OP_ERROR) {
		guint32 code = wp_bytes_be32(&body);
		message->status = code == ERROR_WRITE_TIMEOUT || code == ERROR_READ_TIMEOUT
					  ? WP_STATUS_TIMEOUT
					  : WP_STATUS_ERROR;
	}
	if (head->opcode == OP_RESULT && wp_bytes_be32(&body) == RESULT_PREPARED &&
	    wp_decode_pending_callid(context, message->callid, &note) && note) {
		gboolean has_forgotten = FALSE;
		guint64 id = read_id(&body);
		if (!body.failed)
			wp_statements_put(&state->statements, id, &has_forgotten)->label = note;
		if (has_forgotten)
			wp_decode_count(context, WP_COUNT_STATEMENTS_FORGOTTEN);
	}
}

/* --- units --- */

/* The envelope at the front of IN, of which LIMIT bytes can come before a frame ends. */
static WpDecodeStatus
decode_envelope(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
		gsize limit, WpUnit *unit)
{
	Side *side = &state->sides[direction];
	guint8 buffer[LOOKED_AT];
	Head head;
	WpBytes body = in;
	WpDecodeStatus status = read_head(&body, direction, &head);
	if (status != WP_DECODE_OK)
		return status;
	gsize length = ENVELOPE_HEAD + (gsize)head.length;
	unit->length = MIN(length, limit);
	gsize wanted = MIN(unit->length, LOOKED_AT);
	if (in.length < wanted && !wp_decode_is_cut(context)) {
		unit->need = wanted;
		return WP_DECODE_MORE;
	}
	body = wp_bytes(in.data, MIN(in.length, wanted));
	wp_bytes_skip(&body, ENVELOPE_HEAD);
	if (head.flags & FLAG_COMPRESSED)
		body = unpack(body, buffer);
	skip_extras(&body, &head, direction);
	if (direction == WP_FROM_CLIENT)
		describe_request(state, context, &head, body, &side->message);
	else
		describe_response(state, context, &head, body, &side->message);
	if (direction == WP_FROM_SERVER && head.version == 5 &&
	    (head.opcode == OP_READY || head.opcode == OP_AUTHENTICATE))
		state->is_framed = TRUE;
	side->envelope = (guint32)(length - unit->length);
	unit->opens = unit->extends = &side->message;
	unit->emits = side->envelope ? NULL : &side->message;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_framed(State *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	      WpUnit *unit)
{
	Side *side = &state->sides[direction];
	guint32 length;
	if (side->frame == 0 && side->has_tail) {
		side->has_tail = FALSE;
		unit->length = FRAME_TAIL;
		return WP_DECODE_OK;
	}
	if (side->frame == 0) {
		WpDecodeStatus status = read_frame_head(in, &length);
		if (status != WP_DECODE_OK)
			return status;
		side->frame = length;
		side->has_tail = TRUE;
		unit->length = FRAME_HEAD;
		return WP_DECODE_OK;
	}
	if (side->envelope) {
		unit->length = MIN(side->envelope, side->frame);
		side->envelope -= (guint32)unit->length;
		unit->extends = &side->message;
		unit->emits = side->envelope ? NULL : &side->message;
	} else {
		WpBytes inside = wp_bytes(in.data, MIN(in.length, side->frame));
		WpDecodeStatus status =
			decode_envelope(state, context, direction, inside, side->frame, unit);
		if (status != WP_DECODE_OK)
			return inside.length == side->frame ? WP_DECODE_BAD : status;
	}
	side->frame -= (guint32)unit->length;
	return WP_DECODE_OK;
}

static WpDecodeStatus
cql_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	guint32 length;
	if (!state->is_framed && !wp_decode_from_start(context) &&
	    read_frame_head(in, &length) == WP_DECODE_OK)
		state->is_framed = TRUE;
	if (state->is_framed)
		return decode_framed(state, context, direction, in, unit);
	return decode_envelope(state, context, direction, in, G_MAXSIZE, unit);
}

static void
cql_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	memset(&state->sides[direction], 0, sizeof state->sides[direction]);
}

static void
cql_clear(void *data)
{
	wp_statements_clear(&((State *)data)->statements);
}

/* --- detection --- */

/* The text of a statement begins like one. */
static WpDecodeStatus
statement_begins(WpBytes body, guint32 length)
{
	guint32 text = wp_bytes_be32(&body);
	guint8 first = wp_bytes_u8(&body);
	if (body.failed)
		return WP_DECODE_MORE;
	return length >= 4 && text <= length - 4 && text > 0 &&
			       (g_ascii_isalpha(first) || g_ascii_isspace(first) || first == '/' ||
				first == '-')
		       ? WP_DECODE_OK
		       : WP_DECODE_BAD;
}

/* A map whose first key is a name in capitals: CQL_VERSION, DRIVER_NAME. */
static WpDecodeStatus
startup_begins(WpBytes body)
{
	guint n = wp_bytes_be16(&body);
	guint key_length = wp_bytes_be16(&body);
	guint8 first = wp_bytes_u8(&body);
	if (body.failed)
		return WP_DECODE_MORE;
	return n > 0 && n <= MAX_OPTIONS && key_length > 0 && key_length <= MAX_OPTION_NAME &&
			       g_ascii_isupper(first)
		       ? WP_DECODE_OK
		       : WP_DECODE_BAD;
}

static WpDecodeStatus
envelope_begins(WpBytes in, WpDirection direction)
{
	Head head;
	WpDecodeStatus status = read_head(&in, direction, &head);
	if (status != WP_DECODE_OK)
		return status;
	if ((head.opcode == OP_EVENT) != (head.stream == -1) ||
	    (head.opcode != OP_EVENT && head.stream < 0))
		return WP_DECODE_BAD;
	gboolean is_plain = !(head.flags & (FLAG_COMPRESSED | FLAG_PAYLOAD));
	if (is_plain && (head.opcode == OP_QUERY || head.opcode == OP_PREPARE))
		return statement_begins(in, head.length);
	if (head.opcode == OP_STARTUP) /* says how others will be compressed, and never is itself */
		return is_plain ? startup_begins(in) : WP_DECODE_BAD;
	if (head.opcode == OP_OPTIONS || (head.opcode == OP_READY && is_plain))
		return head.length == 0 ? WP_DECODE_OK : WP_DECODE_BAD;
	return head.length >= 2 ? WP_DECODE_OK : WP_DECODE_BAD;
}

/* In version 5 a frame; that the first envelopes have none is known from the start only. */
static WpDecodeStatus
begins(WpBytes in, WpDirection direction)
{
	guint32 length;
	WpDecodeStatus status = envelope_begins(in, direction);
	if (status != WP_DECODE_BAD)
		return status;
	status = read_frame_head(in, &length);
	if (status != WP_DECODE_OK)
		return status;
	in = wp_bytes(in.data + FRAME_HEAD, in.length - FRAME_HEAD);
	return envelope_begins(in, direction);
}

static WpDecodeStatus
cql_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	return begins(in, direction);
}

static WpProbeVerdict
cql_probe(const WpProbe *probe)
{
	return wp_probe_verdict(probe, begins(probe->client, WP_FROM_CLIENT),
				begins(probe->server, WP_FROM_SERVER),
				(WpProbeVerdicts){
					.client = WP_PROBE_LIKELY,
					.server = WP_PROBE_LIKELY,
					.both = WP_PROBE_SURE,
				});
}

static const guint16 cql_ports[] = { 9042, 0 };

const WpDecoder wp_decoder_cql = {
	.name = "cql",
	.summary = "Cassandra's CQL, versions 3 to 5",
	.transports = WP_TRANSPORT_TCP,
	.ports = cql_ports,
	.by_callid = TRUE,
	.reuses_callids = TRUE,
	.state_size = sizeof(State),
	.probe = cql_probe,
	.decode = cql_decode,
	.sync = cql_sync,
	.lost = cql_lost,
	.clear = cql_clear,
};
