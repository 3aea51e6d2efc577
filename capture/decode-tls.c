/*
 * TLS without keys: the set-up is told from the application data, and application data makes calls and
 * returns by turns (RFC 8446, RFC 5246). A record is type, version, length: 5 bytes.
 *
 * In TLS 1.3 everything after the server's hello looks like application data. The client's Finished is
 * its first such record (a flight of its own if it has a certificate); what the server sends before
 * the client's second such record is its part of the handshake, or session tickets: all set-up.
 *
 * A flow whose client offers HTTP/2 and whose server's choice cannot be read (TLS 1.3) or is HTTP/2
 * may be multiplexed: its set-up is recorded, its data makes no calls.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/turns.h"

enum {
	RECORD_CHANGE_CIPHER = 20,
	RECORD_ALERT = 21,
	RECORD_HANDSHAKE = 22,
	RECORD_DATA = 23,
	HELLO_CLIENT = 1,
	HELLO_SERVER = 2,
	EXTENSION_SERVER_NAME = 0,
	EXTENSION_ALPN = 16,
	EXTENSION_VERSIONS = 43,
	VERSION_1_3 = 0x0304,
	HEADER_BYTES = 5,
	MAX_RECORD = 16384 + 2048 /* RFC 5246 section 6.2.3 */
};

typedef struct {
	WpTurns setup;
	WpTurns data;
	gboolean saw_hello[2];
	gboolean offers_http2;
	gboolean is_http2;
	gboolean is_1_3;
	gboolean client_finished; /* 1.3: the client's Finished has passed */
} TlsState;

typedef struct {
	guint8 type;
	guint16 length;
} Record;

/* The record header at the front; FALSE where there is none. Needs HEADER_BYTES. */
static gboolean
read_header(WpBytes in, Record *out_record)
{
	out_record->type = wp_bytes_u8(&in);
	guint8 major = wp_bytes_u8(&in), minor = wp_bytes_u8(&in);
	out_record->length = wp_bytes_be16(&in);
	return !in.failed && out_record->type >= RECORD_CHANGE_CIPHER &&
	       out_record->type <= RECORD_DATA && major == 3 && minor <= 4 &&
	       out_record->length > 0 && out_record->length <= MAX_RECORD;
}

/* MORE, NO, or what a whole header is worth at the start of a side. */
static WpProbeVerdict
probe_side(const WpBytes *side, guint8 hello, gboolean from_start)
{
	WpBytes in = *side;
	Record record;

	if (wp_bytes_left(&in) == 0)
		return WP_PROBE_NO;
	if (wp_bytes_left(&in) <= HEADER_BYTES)
		return in.data[0] >= RECORD_CHANGE_CIPHER && in.data[0] <= RECORD_DATA
			       ? WP_PROBE_MORE
			       : WP_PROBE_NO;
	if (!read_header(in, &record))
		return WP_PROBE_NO;
	if (record.type == RECORD_HANDSHAKE && in.data[HEADER_BYTES] == hello)
		return WP_PROBE_SURE;
	if (from_start)
		return WP_PROBE_NO;
	return record.type == RECORD_DATA && record.length >= 16 ? WP_PROBE_LIKELY : WP_PROBE_MAYBE;
}

static WpProbeVerdict
probe_tls(const WpProbe *probe)
{
	WpProbeVerdict client = probe_side(&probe->client, HELLO_CLIENT, probe->from_start);
	WpProbeVerdict server = probe_side(&probe->server, HELLO_SERVER, probe->from_start);
	if (wp_bytes_left(&probe->client) == 0)
		return server;
	if (wp_bytes_left(&probe->server) == 0 || client == WP_PROBE_NO)
		return client;
	return server == WP_PROBE_NO ? WP_PROBE_NO : MAX(client, server);
}

/* --- hellos --- */

static void
read_server_name(WpDecodeContext *context, WpBytes in)
{
	wp_bytes_skip(&in, 2);
	guint8 type = wp_bytes_u8(&in);
	guint16 length = wp_bytes_be16(&in);
	const guint8 *name = wp_bytes_take(&in, length);
	if (!name || type != 0 || length == 0)
		return;
	wp_decode_name_server(context, WP_NAME_TLS_SNI, (const char *)name, length);
}

/* TRUE where the list of protocols has "h2". */
static gboolean
has_http2(WpBytes in)
{
	wp_bytes_skip(&in, 2);
	while (wp_bytes_left(&in)) {
		guint8 length = wp_bytes_u8(&in);
		const guint8 *name = wp_bytes_take(&in, length);
		if (name && length == 2 && memcmp(name, "h2", 2) == 0)
			return TRUE;
	}
	return FALSE;
}

static void
read_extension(TlsState *tls, WpDecodeContext *context, WpDirection direction, guint16 type,
	       WpBytes in)
{
	if (type == EXTENSION_SERVER_NAME && direction == WP_FROM_CLIENT)
		read_server_name(context, in);
	else if (type == EXTENSION_ALPN && direction == WP_FROM_CLIENT)
		tls->offers_http2 = has_http2(in);
	else if (type == EXTENSION_ALPN)
		tls->is_http2 = has_http2(in);
	else if (type == EXTENSION_VERSIONS && direction == WP_FROM_SERVER)
		tls->is_1_3 = wp_bytes_be16(&in) == VERSION_1_3;
}

/* A hello from its handshake header on; what is cut off or odd is left unread. */
static void
read_hello(TlsState *tls, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	wp_bytes_skip(&in, 4 + 2 + 32);       /* header, version, random */
	wp_bytes_skip(&in, wp_bytes_u8(&in)); /* session id */
	if (direction == WP_FROM_CLIENT) {
		wp_bytes_skip(&in, wp_bytes_be16(&in)); /* cipher suites */
		wp_bytes_skip(&in, wp_bytes_u8(&in));   /* compression methods */
	} else {
		wp_bytes_skip(&in, 2 + 1);
	}
	wp_bytes_skip(&in, 2); /* length of the extensions */
	while (!in.failed && wp_bytes_left(&in)) {
		guint16 type = wp_bytes_be16(&in), length = wp_bytes_be16(&in);
		const guint8 *data = wp_bytes_take(&in, length);
		if (data)
			read_extension(tls, context, direction, type, wp_bytes(data, length));
	}
}

static gboolean
is_hello(const WpBytes *in, const Record *record, WpDirection direction)
{
	guint8 type = direction == WP_FROM_CLIENT ? HELLO_CLIENT : HELLO_SERVER;
	return record->type == RECORD_HANDSHAKE && wp_bytes_left(in) > HEADER_BYTES &&
	       in->data[HEADER_BYTES] == type;
}

/* --- data --- */

/* TRUE where this record of type DATA belongs to the set-up of TLS 1.3. */
static gboolean
is_setup_data(TlsState *tls, WpDirection direction)
{
	if (!tls->is_1_3)
		return FALSE;
	if (direction == WP_FROM_CLIENT && !tls->client_finished) {
		tls->client_finished = TRUE;
		return TRUE;
	}
	return direction == WP_FROM_SERVER && !tls->data.has_spoken[WP_FROM_CLIENT];
}

static gboolean
may_be_multiplexed(const TlsState *tls)
{
	return tls->is_http2 || (tls->offers_http2 && tls->is_1_3);
}

/* The set-up is over: its last return is complete, and a call without one was none. */
static void
end_setup(TlsState *tls, WpDecodeContext *context)
{
	if (tls->setup.reply.is_open)
		wp_decode_emit(context, &tls->setup.reply);
	wp_turns_drop(&tls->setup);
}

static void
data_unit(TlsState *tls, WpDecodeContext *context, WpDirection direction, WpUnit *out_unit)
{
	if (is_setup_data(tls, direction)) {
		if (direction == WP_FROM_CLIENT)
			end_setup(tls, context);
		else if (tls->setup.reply.is_open)
			out_unit->extends = &tls->setup.reply;
		return;
	}
	end_setup(tls, context);
	if (may_be_multiplexed(tls))
		wp_decode_multiplexed(context);
	else
		wp_turns_unit(&tls->data, context, direction, 0, FALSE, out_unit);
}

static WpDecodeStatus
decode_tls(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	   WpUnit *out_unit)
{
	TlsState *tls = state;
	Record record;

	if (wp_bytes_left(&in) < HEADER_BYTES) {
		out_unit->need = HEADER_BYTES;
		return WP_DECODE_MORE;
	}
	if (!read_header(in, &record))
		return WP_DECODE_BAD;
	gsize length = HEADER_BYTES + record.length;
	if (record.type == RECORD_HANDSHAKE && !tls->saw_hello[direction]) {
		if (in.length < length && !wp_decode_is_cut(context)) {
			out_unit->need = length;
			return WP_DECODE_MORE;
		}
		if (is_hello(&in, &record, direction)) {
			tls->saw_hello[direction] = TRUE;
			read_hello(tls, context, direction,
				   wp_bytes(in.data + HEADER_BYTES,
					    MIN(in.length, length) - HEADER_BYTES));
		}
	}
	out_unit->length = wp_decode_is_cut(context) ? MIN(length, in.length) : length;
	if (record.type == RECORD_HANDSHAKE)
		wp_turns_unit(&tls->setup, context, direction, WP_MARK_SETUP, FALSE, out_unit);
	else if (record.type == RECORD_DATA)
		data_unit(tls, context, direction, out_unit);
	return WP_DECODE_OK;
}

static WpDecodeStatus
sync_tls(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	Record record;
	if (wp_bytes_left(&in) < HEADER_BYTES)
		return WP_DECODE_MORE;
	return read_header(in, &record) ? WP_DECODE_OK : WP_DECODE_BAD;
}

static void
lost_tls(void *state, WpDecodeContext *context, WpDirection direction)
{
	TlsState *tls = state;
	wp_turns_lost(&tls->setup, context, direction);
	wp_turns_lost(&tls->data, context, direction);
}

static void
finish_tls(void *state, WpDecodeContext *context, WpDirection direction, WpFinish how,
	   WpUnit *out_unit)
{
	TlsState *tls = state;
	wp_turns_finish(&tls->setup, context, direction, how, out_unit);
	wp_turns_finish(&tls->data, context, direction, how, out_unit);
}

static const guint16 tls_ports[] = { 443, 993, 995, 636, 5671, 8443, 8883, 0 };

const WpDecoder wp_decoder_tls = {
	.name = "tls",
	.summary = "TLS: application data by turns, set-up apart, server name",
	.transports = WP_TRANSPORT_TCP,
	.ports = tls_ports,
	.state_size = sizeof(TlsState),
	.probe = probe_tls,
	.decode = decode_tls,
	.sync = sync_tls,
	.lost = lost_tls,
	.finish = finish_tls,
};
