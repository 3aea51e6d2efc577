/*
 * TLS. With keys (keylog.h) the records are opened, and what is inside is decoded as any other
 * conversation. Without: the set-up is told from the application data, and application data makes calls and
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
#include <string.h>

#include "capture/decoders.h"
#include "capture/tls-hello.h"
#include "capture/tls-session.h"
#include "capture/tls-turns.h"

enum {
	RECORD_CHANGE_CIPHER = 20,
	RECORD_ALERT = 21,
	RECORD_HANDSHAKE = 22,
	RECORD_DATA = 23,
	HELLO_CLIENT = 1,
	HELLO_SERVER = 2,
	ENCRYPTED_EXTENSIONS = 8,
	HEADER_BYTES = 5
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
	gboolean is_unsure; /* the client's hello was not seen, or not to its end */
	gboolean has_begun; /* data has */
	gboolean is_early; /* ... before the server's hello: the set-up is no exchange of its own */
	guint8 offered;    /* sets of WP_TLS_ALPN_ */
	guint8 chosen;
	guint16 version; /* 0 = the server's hello was not seen */
	guint16 cipher;
	guint n_flight;           /* records of the client's flight */
	gboolean client_finished; /* 1.3: the client's Finished has passed */
	WpTlsSession *session;    /* NULL: no keys */
	gboolean has_inner;
	gboolean missed[2]; /* records of that direction, before there was anything inside */
	char protocol[WP_TLS_ALPN_NAME_MAX + 1]; /* that was chosen; "" = unknown */
} TlsState;

typedef struct {
	guint8 type;
	guint16 version;
	guint16 length;
} Record;

/* The record header at the front; FALSE where there is none. Needs HEADER_BYTES. */
static gboolean
read_header(WpBytes in, Record *out_record)
{
	out_record->type = wp_bytes_u8(&in);
	out_record->version = wp_bytes_be16(&in);
	out_record->length = wp_bytes_be16(&in);
	return !in.failed && out_record->type >= RECORD_CHANGE_CIPHER &&
	       out_record->type <= RECORD_DATA && out_record->version >= 0x0300 &&
	       out_record->version <= 0x0304 && out_record->length > 0 &&
	       out_record->length <= WP_TLS_MAX_RECORD;
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
choose_protocol(TlsState *tls, const WpTlsHello *hello)
{
	tls->chosen = hello->alpn;
	g_strlcpy(tls->protocol, hello->first_alpn, sizeof tls->protocol);
}

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
		tls->is_unsure = !hello.is_read;
		if (hello.is_whole && wp_decode_keylog(context))
			tls->session = wp_tls_session_new(wp_decode_keylog(context), hello.random);
		return;
	}
	tls->saw_hello[WP_FROM_SERVER] = !hello.is_retry;
	if (!hello.is_whole || hello.is_retry)
		return;
	choose_protocol(tls, &hello);
	tls->version = hello.version;
	tls->cipher = hello.cipher;
	if (tls->session && !wp_tls_session_choose(tls->session, &hello))
		g_clear_pointer(&tls->session, wp_tls_session_free);
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
	if (tls->is_unsure || !tls->saw_hello[WP_FROM_CLIENT])
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
	tls->is_early |= tls->saw_hello[WP_FROM_CLIENT] && !tls->saw_hello[WP_FROM_SERVER];
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
	if (!tls->has_begun && wp_decode_keylog(context))
		wp_decode_count(context, WP_COUNT_TLS_WITHOUT_KEYS);
	if (!tls->has_begun)
		wp_tls_turns_begin(&tls->data, kind_of(tls),
				   tls->is_unsure || !tls->saw_hello[WP_FROM_CLIENT]);
	tls->has_begun = TRUE;
	wp_tls_turns_unit(&tls->data, context, direction, body, out_unit);
}

/* --- with keys --- */

/* What the names of RFC 7301 say is inside; NULL = to be found out. */
static const WpDecoder *
inner_decoder(const TlsState *tls)
{
	static const struct {
		const char *protocol;
		const WpDecoder *decoder;
	} known[] = {
		{ "h2", &wp_decoder_http2 },         { "http/1.1", &wp_decoder_http1 },
		{ "http/1.0", &wp_decoder_http1 },   { "grpc-exp", &wp_decoder_http2 },
		{ "postgresql", &wp_decoder_pgsql }, { "mqtt", &wp_decoder_mqtt },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(known); i++)
		if (strcmp(known[i].protocol, tls->protocol) == 0)
			return known[i].decoder;
	return NULL;
}

static void
open_setup(TlsState *tls, WpDecodeContext *context, WpDirection direction, const WpTlsPlain *plain,
	   WpUnit *out_unit)
{
	WpTlsHello hello;

	if (!is_1_3(tls)) {
		wp_turns_unit(&tls->setup, context, direction, WP_MARK_SETUP, WP_TURNS_PART,
			      out_unit);
		return;
	}
	if (direction == WP_FROM_SERVER && plain->length &&
	    plain->data[0] == ENCRYPTED_EXTENSIONS) {
		wp_tls_extensions_read(wp_bytes(plain->data, plain->length), &hello);
		choose_protocol(tls, &hello);
	}
	if (direction == WP_FROM_CLIENT)
		end_setup(tls, context);
	else if (tls->setup.reply.is_open)
		out_unit->extends = &tls->setup.reply;
}

static void
begin_inner(TlsState *tls, WpDecodeContext *context)
{
	gboolean from_start = wp_decode_from_start(context) && !tls->missed[WP_FROM_CLIENT] &&
			      !tls->missed[WP_FROM_SERVER];
	end_setup(tls, context);
	wp_decode_inner_begin(context, inner_decoder(tls), from_start);
	wp_decode_count(context, WP_COUNT_TLS_DECRYPTED);
	tls->has_inner = tls->client_finished = TRUE;
	tls->data.has_last = TRUE;
}

static void
take_plain(TlsState *tls, WpDecodeContext *context, WpDirection direction, const WpTlsPlain *plain,
	   WpUnit *out_unit)
{
	gboolean is_data = plain->type == RECORD_DATA;
	if (plain->type == RECORD_HANDSHAKE)
		open_setup(tls, context, direction, plain, out_unit);
	if (is_data && !tls->has_inner)
		begin_inner(tls, context);
	if (!tls->has_inner)
		return;
	/* What a record has beside its text is the same for all, but for padding. */
	gsize seal = out_unit->length - plain->length;
	wp_decode_inner(context, direction, wp_bytes(plain->data, is_data ? plain->length : 0),
			HEADER_BYTES + plain->lead, out_unit->length, plain->n_missing * seal);
}

/* A record did not open. FALSE where none ever has: then it is as if there were no keys. */
static gboolean
note_unopened(TlsState *tls, WpDecodeContext *context, WpDirection direction, const Record *record,
	      WpUnit *out_unit)
{
	gboolean is_setup =
		record->type == RECORD_DATA && is_setup_data(tls, direction, record->length);
	gboolean is_early = !tls->saw_hello[WP_FROM_SERVER];
	if (!is_setup && !is_early && wp_tls_session_n_opened(tls->session) == 0) {
		g_clear_pointer(&tls->session, wp_tls_session_free);
		return FALSE;
	}
	if (is_setup && direction == WP_FROM_SERVER && tls->setup.reply.is_open)
		out_unit->extends = &tls->setup.reply;
	if (!is_setup) {
		wp_decode_count(context, WP_COUNT_TLS_UNDECRYPTED);
		tls->missed[direction] = TRUE;
	}
	return TRUE;
}

/* A sealed record is at the front, whole where there will be no more of it. FALSE: see note_unopened(). */
static gboolean
open_record(TlsState *tls, WpDecodeContext *context, WpDirection direction, const Record *record,
	    WpBytes in, WpUnit *out_unit)
{
	guint8 text[WP_TLS_MAX_RECORD];
	WpTlsPlain plain;

	if (in.length < out_unit->length) {
		wp_tls_session_pass(tls->session, direction);
		return note_unopened(tls, context, direction, record, out_unit);
	}
	if (!wp_tls_session_open(tls->session, direction, record->type, record->version,
				 wp_bytes(in.data + HEADER_BYTES, record->length), text, &plain))
		return note_unopened(tls, context, direction, record, out_unit);
	take_plain(tls, context, direction, &plain, out_unit);
	return TRUE;
}

/* Where the next bytes that look like the header of a sealed record begin; at the end where none do. */
static gsize
find_header(WpBytes in)
{
	Record record;
	gsize at = 0;
	for (; at + HEADER_BYTES <= in.length; at++) {
		WpBytes rest = wp_bytes(in.data + at, in.length - at);
		if (read_header(rest, &record) && record.version == WP_TLS_VERSION_1_2)
			break;
	}
	return at;
}

/*
 * After a hole: a record begins where one opens. All that lies before is passed over, a piece at a time;
 * what looks like a header, and is none, by one byte.
 */
static WpDecodeStatus
seek_record(TlsState *tls, WpDecodeContext *context, WpDirection direction, WpBytes in,
	    WpUnit *out_unit)
{
	Record record;
	gsize at = find_header(in);

	if (at > 0 || in.length < HEADER_BYTES) {
		gboolean is_last = wp_decode_is_cut(context);
		if (at == 0 && !is_last)
			return WP_DECODE_MORE;
		out_unit->length = is_last && at + HEADER_BYTES > in.length ? in.length : at;
		return WP_DECODE_OK;
	}
	read_header(in, &record);
	gsize length = HEADER_BYTES + record.length;
	if (in.length < length) {
		out_unit->need = length;
		out_unit->length = 1;
		return wp_decode_is_cut(context) ? WP_DECODE_OK : WP_DECODE_MORE;
	}
	guint8 text[WP_TLS_MAX_RECORD];
	WpTlsPlain plain;
	out_unit->length = 1;
	if (wp_tls_session_open(tls->session, direction, record.type, record.version,
				wp_bytes(in.data + HEADER_BYTES, record.length), text, &plain)) {
		out_unit->length = length;
		take_plain(tls, context, direction, &plain, out_unit);
	}
	return WP_DECODE_OK;
}

static gboolean
seeks_record(const TlsState *tls, WpDirection direction)
{
	return tls->session && wp_tls_session_is_lost(tls->session, direction) &&
	       !wp_tls_session_is_over(tls->session, direction);
}

/* --- the decoder --- */

static gboolean
is_sealed(const TlsState *tls, WpDirection direction, const Record *record)
{
	return tls->session && wp_tls_session_is_sealed(tls->session, direction, record->type);
}

static void
take_hello(TlsState *tls, WpDecodeContext *context, WpDirection direction, WpBytes in,
	   const Record *record)
{
	gsize length = MIN(in.length, HEADER_BYTES + (gsize)record->length);
	if (!is_hello(&in, record, direction))
		return;
	tls->saw_hello[direction] = TRUE;
	read_hello(tls, context, direction,
		   wp_bytes(in.data + HEADER_BYTES, length - HEADER_BYTES));
}

static void
take_record(TlsState *tls, WpDecodeContext *context, WpDirection direction, WpBytes in,
	    const Record *record, WpUnit *out_unit)
{
	if (is_sealed(tls, direction, record) &&
	    open_record(tls, context, direction, record, in, out_unit))
		return;
	if (tls->has_inner && record->type != RECORD_DATA)
		wp_decode_inner(context, direction, wp_bytes(in.data, 0), 0, out_unit->length, 0);
	if (record->type == RECORD_CHANGE_CIPHER && tls->session)
		wp_tls_session_change_cipher(tls->session, direction);
	if (record->type == RECORD_HANDSHAKE && !tls->is_early)
		wp_turns_unit(&tls->setup, context, direction, WP_MARK_SETUP, WP_TURNS_PART,
			      out_unit);
	else if (record->type == RECORD_DATA)
		data_unit(tls, context, direction, record->length, out_unit);
}

static WpDecodeStatus
decode_tls(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	   WpUnit *out_unit)
{
	TlsState *tls = state;
	Record record;

	if (seeks_record(tls, direction))
		return seek_record(tls, context, direction, in, out_unit);
	if (wp_bytes_left(&in) < HEADER_BYTES) {
		out_unit->need = HEADER_BYTES;
		return WP_DECODE_MORE;
	}
	if (!read_header(in, &record))
		return WP_DECODE_BAD;
	gboolean may_be_hello = record.type == RECORD_HANDSHAKE && !tls->saw_hello[direction];
	out_unit->length = HEADER_BYTES + (gsize)record.length;
	if (in.length < out_unit->length && !wp_decode_is_cut(context) &&
	    (may_be_hello || is_sealed(tls, direction, &record))) {
		out_unit->need = out_unit->length;
		return WP_DECODE_MORE;
	}
	if (may_be_hello)
		take_hello(tls, context, direction, in, &record);
	take_record(tls, context, direction, in, &record, out_unit);
	wp_tls_turns_note(&tls->data, context, direction, out_unit->length);
	return WP_DECODE_OK;
}

static WpDecodeStatus
sync_tls(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	TlsState *tls = state;
	Record record;
	if (seeks_record(tls, direction))
		return WP_DECODE_OK;
	if (wp_bytes_left(&in) < HEADER_BYTES)
		return WP_DECODE_MORE;
	return read_header(in, &record) ? WP_DECODE_OK : WP_DECODE_BAD;
}

static void
lost_tls(void *state, WpDecodeContext *context, WpDirection direction)
{
	TlsState *tls = state;
	if (tls->session)
		wp_tls_session_lose(tls->session, direction);
	tls->missed[direction] = TRUE;
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
	wp_tls_session_free(tls->session);
}

static gsize
memory_of_tls(const void *state)
{
	const TlsState *tls = state;
	return wp_turns_memory(&tls->data.turns) +
	       (tls->session ? wp_tls_session_memory(tls->session) : 0);
}

static const guint16 tls_ports[] = { 443, 993, 995, 636, 5671, 8443, 8883, 0 };

const WpDecoder wp_decoder_tls = {
	.name = "tls",
	.summary = "TLS: what is inside with --keylog, else by turns; server name",
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
