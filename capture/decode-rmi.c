/*
 * Java RMI: its wire protocol JRMP (Java RMI specification, chapter 10).
 *
 *      client  |JRMI, version, 0x4b|          |host, port|0x50 call....|              |0x54 ack|
 *      server                      |0x4e host|                         |0x51 return...|
 *
 * Arguments and results are streams of Java objects, which do not tell their length: a call lasts until the
 * server speaks, its return until the client does, as only one is under way at a time. Ping and the
 * acknowledgement of references have one length. A call names an object, and a method by its number (old
 * stubs) or its hash: names of the registry and of the collection of garbage are known, others are given
 * (rmi-names.h). Single-operation connections have no greeting; multiplexed ones are not read.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/probe.h"
#include "capture/rmi-names.h"

/* Hosts are names or addresses. */
#define HOST_MAX 255

enum {
	PROTOCOL_STREAM = 0x4b,
	PROTOCOL_SINGLE = 0x4c,
	PROTOCOL_MULTIPLEX = 0x4d,
	SERVER_ACK = 0x4e,
	SERVER_REFUSED = 0x4f,
	CALL = 0x50,
	RETURN_DATA = 0x51,
	PING = 0x52,
	PING_ACK = 0x53,
	DGC_ACK = 0x54,
	RETURN_NORMAL = 1,
	RETURN_EXCEPTION = 2,
	HELLO_BYTES = 7,
	ACK_BYTES = 15, /* with the identifier of 14 bytes */
	BLOCK = 0x77,
	BLOCK_LONG = 0x7a,
	CALL_BYTES =
		34, /* of the block: object (22), number (4), hash (8), and arguments that are no objects */
	RETURN_BYTES = 15 /* kind (1), identifier (14), and a result that is no object */
};

/* The begin of a stream of objects (Object Serialization, section 6.4). */
static const guint8 stream_begin[] = { 0xac, 0xed, 0, 5 };

typedef enum {
	HELLO,    /* the first bytes of a connection */
	ENDPOINT, /* of the client, after the acknowledgement */
	MESSAGES,
	OPAQUE
} Phase;

typedef struct {
	WpMessage call;
	WpMessage reply;
	WpMessage others[2]; /* ping, acknowledgement, greeting; by sender */
	guint8 phases[2];
	gboolean has_begun;
	gboolean is_over; /* the open reply is: the client has spoken since, though unseen */
} State;

/* Methods by number, of interfaces that every virtual machine has. */
static const struct {
	guint64 interface;
	gint32 operation;
	const char *name;
	guint8 marks;
} known[] = {
	{ G_GUINT64_CONSTANT(0x44154dc9d4e63bdf), 0, "Registry.bind", 0 },
	{ G_GUINT64_CONSTANT(0x44154dc9d4e63bdf), 1, "Registry.list", 0 },
	{ G_GUINT64_CONSTANT(0x44154dc9d4e63bdf), 2, "Registry.lookup", 0 },
	{ G_GUINT64_CONSTANT(0x44154dc9d4e63bdf), 3, "Registry.rebind", 0 },
	{ G_GUINT64_CONSTANT(0x44154dc9d4e63bdf), 4, "Registry.unbind", 0 },
	{ G_GUINT64_CONSTANT(0xf6b6898d8bf28643), 0, "DGC.clean", WP_MARK_SETUP },
	{ G_GUINT64_CONSTANT(0xf6b6898d8bf28643), 1, "DGC.dirty", WP_MARK_SETUP },
};

/* BAD where the front of IN is not that of WANTED; MORE where it is too short to tell. */
static WpDecodeStatus
starts(const WpBytes *in, const void *wanted, gsize length)
{
	if (memcmp(in->data + in->at, wanted, MIN(wp_bytes_left(in), length)) != 0)
		return WP_DECODE_BAD;
	return wp_bytes_left(in) >= length ? WP_DECODE_OK : WP_DECODE_MORE;
}

/*
 * A message of that TYPE, whose stream begins with a block of at least LEAST bytes; *OUT_BLOCK is where these
 * begin.
 */
static WpDecodeStatus
read_begin(WpBytes in, guint8 type, guint32 least, gsize *out_block)
{
	WpDecodeStatus status = starts(&in, &type, 1);
	if (status != WP_DECODE_OK)
		return status;
	wp_bytes_skip(&in, 1);
	status = starts(&in, stream_begin, sizeof stream_begin);
	if (status != WP_DECODE_OK)
		return status;
	wp_bytes_skip(&in, sizeof stream_begin);
	guint8 kind = wp_bytes_u8(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	if (kind != BLOCK && kind != BLOCK_LONG)
		return WP_DECODE_BAD;
	guint32 length = kind == BLOCK ? wp_bytes_u8(&in) : wp_bytes_be32(&in);
	*out_block = in.at;
	if (in.failed)
		return WP_DECODE_MORE;
	return length >= least ? WP_DECODE_OK : WP_DECODE_BAD;
}

static void
label(WpDecodeContext *context, WpMessage *message, const char *text)
{
	message->label = wp_decode_label(context, text, strlen(text));
}

/* --- the client --- */

static const char *
known_name(guint64 hash, gint32 operation, guint8 *out_marks)
{
	for (gsize i = 0; i < G_N_ELEMENTS(known); i++)
		if (known[i].interface == hash && known[i].operation == operation) {
			*out_marks = known[i].marks;
			return known[i].name;
		}
	return NULL;
}

/* New stubs give no number, and HASH is that of the method; old ones that of the interface. */
static void
label_call(WpDecodeContext *context, WpMessage *call, gint32 operation, guint64 hash)
{
	char text[WP_LABEL_MAX];
	const char *name = operation < 0 ? wp_decode_rmi_name(context, hash)
					 : known_name(hash, operation, &call->marks);
	if (name)
		g_strlcpy(text, name, sizeof text);
	else if (operation < 0)
		g_snprintf(text, sizeof text, "method %016" G_GINT64_MODIFIER "x", hash);
	else
		g_snprintf(text, sizeof text, "interface %016" G_GINT64_MODIFIER "x method %d",
			   hash, operation);
	label(context, call, text);
}

static WpDecodeStatus
begin_call(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	gsize block;
	WpDecodeStatus status = read_begin(in, CALL, CALL_BYTES, &block);
	gboolean is_whole = status == WP_DECODE_OK && in.length >= block + CALL_BYTES;
	if (status == WP_DECODE_BAD)
		return WP_DECODE_BAD;
	if (!is_whole && !wp_decode_is_cut(context))
		return WP_DECODE_MORE;
	unit->length = in.length;
	unit->opens = &state->call;
	state->call.kind = WP_KIND_CALL;
	state->call.note = CALL;
	if (!is_whole)
		return WP_DECODE_OK;
	wp_bytes_skip(&in, block + CALL_BYTES - 12);
	gint32 operation = (gint32)wp_bytes_be32(&in);
	label_call(context, &state->call, operation, wp_bytes_be64(&in));
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_fixed(State *state, WpDecodeContext *context, const WpBytes *in, gsize length, WpUnit *unit)
{
	if (in->length < length && !wp_decode_is_cut(context)) {
		unit->need = length;
		return WP_DECODE_MORE;
	}
	unit->length = length;
	unit->opens = unit->emits = &state->others[WP_FROM_CLIENT];
	return WP_DECODE_OK;
}

static WpDecodeStatus
begin_message(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	WpMessage *other = &state->others[WP_FROM_CLIENT];
	WpDecodeStatus status;
	switch (in.data[0]) {
	case CALL:
		return begin_call(state, context, in, unit);
	case PING:
		status = decode_fixed(state, context, &in, 1, unit);
		other->kind = WP_KIND_CALL;
		other->note = PING;
		other->marks = WP_MARK_SETUP;
		label(context, other, "ping");
		return status;
	case DGC_ACK:
		status = decode_fixed(state, context, &in, ACK_BYTES, unit);
		other->kind = WP_KIND_MESSAGE;
		other->marks = WP_MARK_SETUP;
		label(context, other, "DGC ack");
		return status;
	default:
		return WP_DECODE_BAD;
	}
}

/* "JRMI", version, protocol */
static WpDecodeStatus
read_hello(const WpBytes *in, guint8 *out_protocol)
{
	WpDecodeStatus status = starts(in, "JRMI\0", 5);
	*out_protocol = 0;
	if (status != WP_DECODE_OK || in->length < HELLO_BYTES)
		return status == WP_DECODE_BAD ? WP_DECODE_BAD : WP_DECODE_MORE;
	*out_protocol = in->data[HELLO_BYTES - 1];
	gboolean is_known = *out_protocol >= PROTOCOL_STREAM && *out_protocol <= PROTOCOL_MULTIPLEX;
	return is_known && (in->data[5] == 1 || in->data[5] == 2) ? WP_DECODE_OK : WP_DECODE_BAD;
}

static WpDecodeStatus
decode_hello(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	guint8 protocol;
	WpDecodeStatus status = read_hello(&in, &protocol);
	if (status != WP_DECODE_OK)
		return status;
	unit->length = HELLO_BYTES;
	if (protocol == PROTOCOL_MULTIPLEX) {
		wp_decode_multiplexed(context);
		state->phases[WP_FROM_CLIENT] = state->phases[WP_FROM_SERVER] = OPAQUE;
		return WP_DECODE_OK;
	}
	state->phases[WP_FROM_CLIENT] = protocol == PROTOCOL_STREAM ? ENDPOINT : MESSAGES;
	state->phases[WP_FROM_SERVER] = protocol == PROTOCOL_STREAM ? HELLO : MESSAGES;
	if (protocol == PROTOCOL_SINGLE)
		return WP_DECODE_OK;
	state->others[WP_FROM_CLIENT].kind = WP_KIND_CALL;
	state->others[WP_FROM_CLIENT].marks = WP_MARK_SETUP;
	label(context, &state->others[WP_FROM_CLIENT], "(connect)");
	unit->opens = unit->emits = &state->others[WP_FROM_CLIENT];
	return WP_DECODE_OK;
}

/* A host with its length, and a port: LEAD bytes stand before them. */
static WpDecodeStatus
read_endpoint(WpBytes in, gsize lead, gsize *out_length)
{
	wp_bytes_skip(&in, lead);
	gsize length = wp_bytes_be16(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	if (length > HOST_MAX)
		return WP_DECODE_BAD;
	wp_bytes_skip(&in, length);
	guint32 port = wp_bytes_be32(&in);
	*out_length = in.at;
	return in.failed ? WP_DECODE_MORE : port < 65536 ? WP_DECODE_OK : WP_DECODE_BAD;
}

static WpDecodeStatus
decode_client(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	guint8 *phase = &state->phases[WP_FROM_CLIENT];
	WpDecodeStatus status;
	switch (*phase) {
	case HELLO:
		return decode_hello(state, context, in, unit);
	case ENDPOINT:
		status = read_endpoint(in, 0, &unit->length);
		*phase = status == WP_DECODE_OK ? MESSAGES : ENDPOINT;
		return status;
	default:
		break;
	}
	if (state->call.is_open) {
		unit->extends = &state->call;
		unit->length = in.length;
		return WP_DECODE_OK;
	}
	status = begin_message(state, context, in, unit);
	if (status == WP_DECODE_OK && state->reply.is_open)
		wp_decode_emit(context, &state->reply);
	return status;
}

/* --- the server --- */

static WpDecodeStatus
decode_ack(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	gboolean is_refused = in.data[0] == SERVER_REFUSED;
	if (!is_refused && in.data[0] != SERVER_ACK)
		return WP_DECODE_BAD;
	unit->length = 1;
	WpDecodeStatus status = is_refused ? WP_DECODE_OK : read_endpoint(in, 1, &unit->length);
	if (status != WP_DECODE_OK)
		return status;
	state->phases[WP_FROM_SERVER] = MESSAGES;
	state->others[WP_FROM_SERVER].kind = WP_KIND_RETURN;
	state->others[WP_FROM_SERVER].status = is_refused ? WP_STATUS_ERROR : WP_STATUS_OK;
	unit->opens = unit->emits = &state->others[WP_FROM_SERVER];
	return WP_DECODE_OK;
}

/* The begin of a return, and whether it is an exception. */
static WpDecodeStatus
read_return(WpDecodeContext *context, const WpBytes *in, WpStatus *out_status)
{
	gsize block;
	*out_status = WP_STATUS_UNKNOWN;
	WpDecodeStatus status = read_begin(*in, RETURN_DATA, RETURN_BYTES, &block);
	if (status == WP_DECODE_BAD)
		return WP_DECODE_BAD;
	if (status == WP_DECODE_MORE || in->length <= block)
		return wp_decode_is_cut(context) ? WP_DECODE_OK : WP_DECODE_MORE;
	if (in->data[block] == RETURN_NORMAL)
		*out_status = WP_STATUS_OK;
	else if (in->data[block] == RETURN_EXCEPTION)
		*out_status = WP_STATUS_ERROR;
	return WP_DECODE_OK;
}

static WpDecodeStatus
begin_return(State *state, WpDecodeContext *context, const WpBytes *in, WpUnit *unit)
{
	WpStatus result;
	WpDecodeStatus status = read_return(context, in, &result);
	if (status != WP_DECODE_OK)
		return status;
	/* What was open is over before this begins. */
	if (state->reply.is_open)
		wp_decode_emit(context, &state->reply);
	if (state->call.is_open)
		wp_decode_emit(context, &state->call);
	state->is_over = FALSE;
	state->reply.kind = WP_KIND_RETURN;
	state->reply.status = (guint8)result;
	unit->opens = &state->reply;
	unit->length = in->length;
	return WP_DECODE_OK;
}

/* FALSE where the next return is to a call of another KIND: that of this one was not captured. */
static gboolean
answers(WpDecodeContext *context, guint32 kind)
{
	guint32 note;
	return !wp_decode_pending(context, &note) || note == kind;
}

static WpDecodeStatus
decode_server(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	WpMessage *other = &state->others[WP_FROM_SERVER];
	if (state->phases[WP_FROM_SERVER] == HELLO)
		return decode_ack(state, context, in, unit);
	if (state->reply.is_open && !state->is_over) {
		unit->extends = &state->reply;
		unit->length = in.length;
		return WP_DECODE_OK;
	}
	if (in.data[0] != PING_ACK)
		return begin_return(state, context, &in, unit);
	if (state->reply.is_open)
		wp_decode_emit(context, &state->reply);
	state->is_over = FALSE;
	unit->length = 1;
	if (!answers(context, PING)) {
		wp_decode_count(context, WP_COUNT_RETURNS_ORPHAN);
		return WP_DECODE_OK;
	}
	other->kind = WP_KIND_RETURN;
	other->status = WP_STATUS_OK;
	unit->opens = unit->emits = other;
	return WP_DECODE_OK;
}

static WpDecodeStatus
rmi_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	if (!state->has_begun && !wp_decode_from_start(context))
		state->phases[0] = state->phases[1] = MESSAGES;
	state->has_begun = TRUE;
	if (state->phases[direction] == OPAQUE) {
		unit->length = G_MAXSIZE;
		return WP_DECODE_OK;
	}
	return direction == WP_FROM_CLIENT ? decode_client(state, context, in, unit)
					   : decode_server(state, context, in, unit);
}

static void
rmi_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	if (state->phases[direction] == OPAQUE)
		return;
	state->phases[direction] = MESSAGES;
	state->others[direction] = (WpMessage){ 0 };
	if (direction == WP_FROM_CLIENT) {
		state->call = (WpMessage){ 0 };
		state->is_over = state->reply.is_open;
		return;
	}
	if (state->is_over) { /* whether the reply or another one went on here, nobody knows */
		state->reply.is_cut = TRUE;
		wp_decode_emit(context, &state->reply);
	}
	state->is_over = FALSE;
	state->reply = (WpMessage){ 0 };
	/* The server has spoken, though unseen. */
	if (state->call.is_open)
		wp_decode_emit(context, &state->call);
}

static void
rmi_finish(void *data, WpDecodeContext *context, WpDirection direction, WpFinish how, WpUnit *unit)
{
	State *state = data;
	if (direction == WP_FROM_CLIENT && state->call.is_open)
		unit->emits = &state->call;
	else if (direction == WP_FROM_SERVER && state->reply.is_open)
		unit->emits = &state->reply;
}

/* --- detection --- */

/* A message at the front of a packet: one of those with a fixed length alone in it. */
static WpDecodeStatus
begins(const WpBytes *in, WpDirection direction)
{
	gboolean is_client = direction == WP_FROM_CLIENT;
	if (in->length == 0)
		return WP_DECODE_MORE;
	if (in->data[0] == (is_client ? PING : PING_ACK))
		return in->length == 1 ? WP_DECODE_OK : WP_DECODE_BAD;
	if (is_client && in->data[0] == DGC_ACK)
		return in->length == ACK_BYTES  ? WP_DECODE_OK
		       : in->length < ACK_BYTES ? WP_DECODE_MORE
						: WP_DECODE_BAD;
	gsize block;
	return is_client ? read_begin(*in, CALL, CALL_BYTES, &block)
			 : read_begin(*in, RETURN_DATA, RETURN_BYTES, &block);
}

static WpDecodeStatus
rmi_sync(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	return begins(&in, direction);
}

/* A greeting, or a stream of objects; single bytes of ping are not enough. */
static WpProbeVerdict
rmi_probe(const WpProbe *probe)
{
	guint8 protocol;
	WpDecodeStatus client = probe->from_start ? read_hello(&probe->client, &protocol)
						  : begins(&probe->client, WP_FROM_CLIENT);
	WpDecodeStatus server =
		probe->from_start ? WP_DECODE_MORE : begins(&probe->server, WP_FROM_SERVER);
	if (probe->from_start)
		return probe->client.length == 0  ? WP_PROBE_NO
		       : client == WP_DECODE_OK   ? WP_PROBE_SURE
		       : client == WP_DECODE_MORE ? WP_PROBE_MORE
						  : WP_PROBE_NO;
	if (client == WP_DECODE_OK && probe->client.data[0] == CALL)
		return WP_PROBE_SURE;
	if (server == WP_DECODE_OK && probe->server.data[0] == RETURN_DATA)
		return WP_PROBE_LIKELY;
	return client == WP_DECODE_BAD || server == WP_DECODE_BAD ? WP_PROBE_NO : WP_PROBE_MORE;
}

static const guint16 rmi_ports[] = { 1099, 1098, 0 };

const WpDecoder wp_decoder_rmi = {
	.name = "rmi",
	.summary = "Java RMI (JRMP)",
	.transports = WP_TRANSPORT_TCP,
	.ports = rmi_ports,
	.state_size = sizeof(State),
	.probe = rmi_probe,
	.decode = rmi_decode,
	.sync = rmi_sync,
	.lost = rmi_lost,
	.finish = rmi_finish,
};
