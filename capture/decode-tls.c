/*
 * TLS without keys: the set-up is told from the application data, and application data makes calls and
 * returns by turns where the flow is known to carry one request at a time (tls-turns.h; RFC 8446, RFC
 * 5246). A record is type, version, length: 5 bytes.
 *
 * In TLS 1.3 everything after the server's hello looks like application data, and so do alerts. The
 * client's flight ends with its Finished, which has a length of its own; what the server sends before it
 * has any of the client's data is its part of the handshake, or session tickets: all set-up.
 *
 * A flow on which HTTP/2 was agreed, or which the client offers nothing else, is multiplexed: its set-up
 * is recorded, its data makes no calls.
 */
#include "capture/decoder.h"
#include "capture/tls-hello.h"
#include "capture/tls-turns.h"

enum {
	RECORD_CHANGE_CIPHER = 20,
	RECORD_ALERT = 21,
	RECORD_HANDSHAKE = 22,
	RECORD_DATA = 23,
	HELLO_CLIENT = 1,
	HELLO_SERVER = 2,
	HEADER_BYTES = 5,
	MAX_RECORD = 16384 + 2048 /* RFC 5246 section 6.2.3 */
};

/* Bodies of records of TLS 1.3: a message, its type, the tag of the cipher (RFC 8446 section 5.2). */
enum {
	SEALED_BYTES = 1 + 16,
	ALERT_BODY = 2 + SEALED_BYTES,
	KEY_UPDATE_BODY = 4 + 1 + SEALED_BYTES,
	FINISHED_HEADER = 4
};

#define CIPHER_AES_256_GCM_SHA384 0x1302 /* the only one of TLS 1.3 with hashes of 48 bytes */

/* A client's flight is at most a certificate, its proof, and the Finished; they may be cut in records. */
#define MAX_FLIGHT 8

typedef struct {
	WpTurns setup;
	WpTlsTurns data;
	gboolean saw_hello[2];
	gboolean has_begun; /* data has */
	gboolean is_early; /* ... before the server's hello: the set-up is no exchange of its own */
	guint8 offered;    /* sets of WP_TLS_ALPN_ */
	guint8 chosen;
	guint16 version; /* 0 = the server's hello was not seen */
	guint16 cipher;
	guint n_flight;           /* records of the client's flight */
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
read_hello(TlsState *tls, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	WpTlsHello hello;

	wp_tls_hello_read(in, direction == WP_FROM_SERVER, &hello);
	if (direction == WP_FROM_CLIENT) {
		if (hello.server_name)
			wp_decode_name_server(context, WP_NAME_TLS_SNI,
					      (const char *)hello.server_name,
					      hello.server_name_length);
		tls->offered = hello.alpn;
		return;
	}
	tls->chosen = hello.alpn;
	if (!hello.is_whole)
		return;
	tls->version = hello.version;
	tls->cipher = hello.cipher;
}

static gboolean
is_hello(const WpBytes *in, const Record *record, WpDirection direction)
{
	guint8 type = direction == WP_FROM_CLIENT ? HELLO_CLIENT : HELLO_SERVER;
	return record->type == RECORD_HANDSHAKE && wp_bytes_left(in) > HEADER_BYTES &&
	       in->data[HEADER_BYTES] == type;
}

/* --- data --- */

static gboolean
is_1_3(const TlsState *tls)
{
	return tls->version == WP_TLS_VERSION_1_3;
}

static gboolean
is_finished(const TlsState *tls, gsize body)
{
	gsize hash = tls->cipher == CIPHER_AES_256_GCM_SHA384 ? 48 : 32;
	return body == FINISHED_HEADER + hash + SEALED_BYTES;
}

/* TRUE where this record of type DATA belongs to the set-up of TLS 1.3. */
static gboolean
is_setup_data(TlsState *tls, WpDirection direction, gsize body)
{
	if (!is_1_3(tls))
		return FALSE;
	if (direction == WP_FROM_SERVER)
		return !tls->data.has_last;
	if (tls->client_finished)
		return FALSE;
	tls->n_flight++;
	tls->client_finished = is_finished(tls, body) || tls->n_flight == MAX_FLIGHT;
	return TRUE;
}

/*
 * TRUE where a record that looks like data is none, but an alert or, where no message of HTTP/1 begins so,
 * new keys.
 */
static gboolean
is_hidden(const TlsState *tls, WpDirection direction, gsize body)
{
	gboolean begins_turn = !tls->data.has_last || tls->data.last != direction;
	if (body == ALERT_BODY)
		return TRUE;
	return is_1_3(tls) && tls->offered == WP_TLS_ALPN_HTTP1 && begins_turn &&
	       body == KEY_UPDATE_BODY;
}

/* What the hellos say of the protocol inside. In TLS 1.3 the server's choice is not in the clear. */
static WpTlsKind
kind_of(const TlsState *tls)
{
	gboolean offers_http2 = tls->offered & WP_TLS_ALPN_HTTP2;
	gboolean offers_http1 = tls->offered & WP_TLS_ALPN_HTTP1;

	if (tls->chosen & WP_TLS_ALPN_HTTP2)
		return WP_TLS_MULTIPLEXED;
	if (tls->chosen)
		return tls->chosen & WP_TLS_ALPN_HTTP1 ? WP_TLS_BY_TURNS : WP_TLS_ON_TRIAL;
	if (tls->version == 0 && !tls->saw_hello[WP_FROM_CLIENT])
		return WP_TLS_ON_TRIAL;
	if (tls->version && !is_1_3(tls)) /* HTTP/2 is never spoken unless it was agreed on */
		return offers_http1 ? WP_TLS_BY_TURNS : WP_TLS_ON_TRIAL;
	if (offers_http2)
		return offers_http1 ? WP_TLS_MAYBE_HTTP2 : WP_TLS_MULTIPLEXED;
	return offers_http1 && tls->offered == WP_TLS_ALPN_HTTP1 ? WP_TLS_BY_TURNS
								 : WP_TLS_ON_TRIAL;
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
data_unit(TlsState *tls, WpDecodeContext *context, WpDirection direction, gsize body,
	  WpUnit *out_unit)
{
	if (is_hidden(tls, direction, body))
		return;
	if (is_setup_data(tls, direction, body)) {
		if (direction == WP_FROM_CLIENT)
			end_setup(tls, context);
		else if (tls->setup.reply.is_open)
			out_unit->extends = &tls->setup.reply;
		return;
	}
	end_setup(tls, context);
	tls->is_early |= tls->saw_hello[WP_FROM_CLIENT] && !tls->saw_hello[WP_FROM_SERVER];
	if (!tls->has_begun)
		wp_tls_turns_begin(&tls->data, kind_of(tls), !tls->saw_hello[WP_FROM_CLIENT]);
	tls->has_begun = TRUE;
	wp_tls_turns_unit(&tls->data, context, direction, body, out_unit);
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
	if (record.type == RECORD_HANDSHAKE && !tls->is_early)
		wp_turns_unit(&tls->setup, context, direction, WP_MARK_SETUP, FALSE, out_unit);
	else if (record.type == RECORD_DATA)
		data_unit(tls, context, direction, record.length, out_unit);
	wp_tls_turns_note(&tls->data, context, direction, length);
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
	wp_tls_turns_lost(&tls->data, context, direction);
}

static void
finish_tls(void *state, WpDecodeContext *context, WpDirection direction, WpFinish how,
	   WpUnit *out_unit)
{
	TlsState *tls = state;
	wp_turns_finish(&tls->setup, context, direction, how, out_unit);
	wp_tls_turns_finish(&tls->data, context, direction, how, out_unit);
}

static void
clear_tls(void *state)
{
	TlsState *tls = state;
	wp_tls_turns_clear(&tls->data);
}

static gsize
memory_of_tls(const void *state)
{
	const TlsState *tls = state;
	return wp_turns_memory(&tls->data.turns);
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
	.clear = clear_tls,
	.memory = memory_of_tls,
};
