/*
 * NATS (docs.nats.io, "NATS Protocol": client protocol, headers).
 *
 *      client   PUB subject [reply] size       then so many bytes and the end of a line
 *               HPUB subject [reply] headers size;  SUB, UNSUB, CONNECT {...}, PING, PONG
 *      server   MSG subject id [reply] size;  HMSG ...;  INFO {...}, +OK, -ERR 'text', PING, PONG
 *
 * Publishing is one way. But who publishes with a reply subject (an inbox of its own) waits for what is
 * published to that: a call, whose return is the message for that subject. It passes the server twice, so
 * both the asker's flow and the answerer's have the pair, with the direction turned round.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/label.h"
#include "capture/probe.h"

/* Longest line: CONNECT and INFO carry JSON (max_control_line is 4096 by default, for the others). */
#define LINE_MAX_BYTES (32 * 1024)

/* Largest payload (max_payload: at most 64 MiB). */
#define PAYLOAD_MAX (64u * 1024 * 1024)

/* Of each payload so much is looked at. */
/* So many PINGs of a side may wait at a hole to be known from those that may have been answered in it. */
#define PINGS_FOLLOWED 8

#define LOOKED_AT 256

/* Most words that a line has. */
#define MAX_WORDS 6

typedef enum {
	BARE, /* nothing else matters */
	LINE, /* a line with words */
	DATA, /* words, then a payload */
} Form;

typedef struct {
	const char *verb;
	guint8 form;
	guint8 from; /* WpDirection; 2 = either */
	guint8 least;
	guint8 most;    /* words behind the verb */
	guint8 n_sizes; /* of them are sizes, the last ones */
	guint8 reply;   /* word that is the reply subject, where there are MOST */
	guint8 marks;
} Verb;

static const Verb verbs[] = {
	{ "PUB", DATA, WP_FROM_CLIENT, 2, 3, 1, 2, 0 },
	{ "HPUB", DATA, WP_FROM_CLIENT, 3, 4, 2, 2, 0 },
	{ "MSG", DATA, WP_FROM_SERVER, 3, 4, 1, 3, 0 },
	{ "HMSG", DATA, WP_FROM_SERVER, 4, 5, 2, 3, 0 },
	{ "SUB", LINE, WP_FROM_CLIENT, 2, 3, 0, 0, 0 },
	{ "UNSUB", LINE, WP_FROM_CLIENT, 1, 2, 0, 0, 0 },
	{ "CONNECT", BARE, WP_FROM_CLIENT, 1, MAX_WORDS, 0, 0, WP_MARK_SETUP },
	{ "INFO", BARE, WP_FROM_SERVER, 1, MAX_WORDS, 0, 0, WP_MARK_SETUP },
	{ "PING", BARE, 2, 0, 0, 0, 0, WP_MARK_SETUP },
	{ "PONG", BARE, 2, 0, 0, 0, 0, WP_MARK_SETUP },
	{ "+OK", BARE, WP_FROM_SERVER, 0, 0, 0, 0, 0 },
	{ "-ERR", BARE, WP_FROM_SERVER, 0, MAX_WORDS, 0, 0, 0 },
};

/* The PINGs of one side. */
typedef struct {
	guint64 n;
	guint64 n_answered;            /* or given up */
	guint64 peers[PINGS_FOLLOWED]; /* of the latest: stamp.peer, at their number */
} Pings;

typedef struct {
	WpMessage message[2];
	Pings pings[2];
	gboolean has_hole[2]; /* behind the last unit of that direction */
} State;

typedef struct {
	const char *text;
	gsize length;
} Word;

typedef struct {
	const Verb *verb;
	Word words[MAX_WORDS];
	guint n_words;
	gsize line;    /* bytes of the line, its end too */
	gsize headers; /* of the payload */
	gsize payload;
} Line;

/* --- lines --- */

static gboolean
is_verb(const Verb *verb, WpDirection direction, const char *text, gsize length)
{
	return (verb->from == 2 || verb->from == direction) && strlen(verb->verb) == length &&
	       g_ascii_strncasecmp(verb->verb, text, length) == 0;
}

/* TRUE where what there is of a line may become one of ours. */
static gboolean
may_become(WpDirection direction, const char *text, gsize length)
{
	for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++)
		if ((verbs[i].from == 2 || verbs[i].from == direction) &&
		    g_ascii_strncasecmp(verbs[i].verb, text, MIN(length, strlen(verbs[i].verb))) ==
			    0)
			return TRUE;
	return FALSE;
}

static gboolean
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cuts a line into words; more of them than there is room for are left out. FALSE at a byte of no text. */
static gboolean
cut(const char *text, gsize length, Word *verb, Line *out)
{
	*verb = (Word){ text, 0 };
	for (gsize at = 0; at < length;) {
		gsize start = at;
		for (; at < length && !is_blank(text[at]); at++)
			if (g_ascii_iscntrl(text[at]))
				return FALSE;
		if (start == 0)
			verb->length = at;
		else if (at > start && out->n_words < MAX_WORDS)
			out->words[out->n_words++] = (Word){ text + start, at - start };
		while (at < length && is_blank(text[at]))
			at++;
	}
	return verb->length > 0;
}

static gboolean
read_size(const Word *word, gsize *out)
{
	gsize value = 0;
	for (gsize i = 0; i < word->length; i++) {
		if (!g_ascii_isdigit(word->text[i]) || value > PAYLOAD_MAX)
			return FALSE;
		value = value * 10 + (gsize)(word->text[i] - '0');
	}
	*out = value;
	return value <= PAYLOAD_MAX;
}

static gboolean
read_sizes(Line *line)
{
	if (line->verb->n_sizes == 0)
		return TRUE;
	if (!read_size(&line->words[line->n_words - 1], &line->payload))
		return FALSE;
	return line->verb->n_sizes == 1 ||
	       (read_size(&line->words[line->n_words - 2], &line->headers) &&
		line->headers <= line->payload);
}

static WpDecodeStatus
read_line(WpBytes in, WpDirection direction, Line *out)
{
	const char *text = (const char *)in.data;
	gssize end = wp_bytes_find(&in, '\n', LINE_MAX_BYTES);
	Word verb;
	*out = (Line){ 0 };
	if (end < 0)
		return in.length < LINE_MAX_BYTES && may_become(direction, text, in.length)
			       ? WP_DECODE_MORE
			       : WP_DECODE_BAD;
	if (end < 1 || text[end - 1] != '\r' || !cut(text, (gsize)end - 1, &verb, out))
		return WP_DECODE_BAD;
	for (gsize i = 0; i < G_N_ELEMENTS(verbs) && !out->verb; i++)
		if (is_verb(&verbs[i], direction, verb.text, verb.length))
			out->verb = &verbs[i];
	if (!out->verb || out->n_words < out->verb->least || out->n_words > out->verb->most)
		return WP_DECODE_BAD;
	out->line = (gsize)end + 1;
	return read_sizes(out) ? WP_DECODE_OK : WP_DECODE_BAD;
}

/* --- messages --- */

/* What pairs: the reply subject, hashed; always odd. */
static guint64
callid_of(const Word *subject)
{
	guint64 hash = G_GUINT64_CONSTANT(14695981039346656037); /* FNV-1a */
	for (gsize i = 0; i < subject->length; i++)
		hash = (hash ^ (guint8)subject->text[i]) * G_GUINT64_CONSTANT(1099511628211);
	return hash | 1;
}

/* PING and PONG name nothing, and come in order: the number of the PING, made even. */
static guint64
callid_of_ping(guint64 n)
{
	return n << 1;
}

static void
label(WpDecodeContext *context, WpMessage *message, const Line *line)
{
	char text[WP_LABEL_MAX + 1];
	gsize n = g_strlcpy(text, line->verb->verb, sizeof text);
	if (line->verb->form != BARE && line->n_words) {
		const Word *subject = &line->words[0];
		text[n++] = ' ';
		n += wp_label_key(subject->text, subject->length, text + n, sizeof text - n);
		wp_decode_tokens(context, message, (const guint8 *)subject->text, subject->length);
	}
	message->label = wp_decode_label(context, text, n);
}

/* Headers begin with a line of status where the server answers itself ("NATS/1.0 503": nobody listens). */
static WpStatus
status_of(WpBytes payload)
{
	enum {
		STATUS_AT = 9 /* behind "NATS/1.0 " */
	};
	if (!wp_bytes_starts(&payload, "NATS/1.0 ", STATUS_AT) ||
	    wp_bytes_left(&payload) < STATUS_AT + 3)
		return WP_STATUS_OK;
	const guint8 *code = payload.data + payload.at + STATUS_AT;
	if (memcmp(code, "408", 3) == 0)
		return WP_STATUS_TIMEOUT;
	return code[0] == '4' || code[0] == '5' ? WP_STATUS_ERROR : WP_STATUS_OK;
}

static void
describe_data(WpDecodeContext *context, const Line *line, WpBytes payload, WpMessage *message)
{
	guint32 note;
	guint64 answered = callid_of(&line->words[0]);
	label(context, message, line);
	if (wp_decode_pending_callid(context, answered, &note)) {
		message->kind = WP_KIND_RETURN;
		message->callid = answered;
		message->label = 0;
		message->status = (guint8)status_of(payload);
		message->n_tokens = 0;
		return;
	}
	message->kind = WP_KIND_MESSAGE;
	if (line->n_words == line->verb->most) {
		message->kind = WP_KIND_CALL;
		message->callid = callid_of(&line->words[line->verb->reply - 1]);
	}
	wp_decode_tokens(context, message, payload.data + payload.at, wp_bytes_left(&payload));
}

static void
describe_ping(State *state, WpDecodeContext *context, WpDirection from, gboolean is_answer,
	      WpMessage *message)
{
	Pings *pings = &state->pings[is_answer ? !from : from];
	if (!is_answer) {
		message->kind = WP_KIND_CALL;
		message->status = WP_STATUS_UNKNOWN;
		message->callid = callid_of_ping(pings->n);
		pings->peers[pings->n++ % PINGS_FOLLOWED] = wp_decode_stamp(context).peer;
		return;
	}
	message->kind = WP_KIND_RETURN;
	message->status = WP_STATUS_OK;
	message->label = 0;
	message->callid = callid_of_ping(pings->n_answered);
	if (pings->n_answered < pings->n)
		pings->n_answered++;
}

/* Bytes before OFFSET are missing: PINGs whose PONG may have been among them are given up. */
static void
give_up(Pings *pings, guint64 offset)
{
	while (pings->n_answered < pings->n) {
		guint64 peer = pings->peers[pings->n_answered % PINGS_FOLLOWED];
		gboolean is_known =
			pings->n - pings->n_answered <= PINGS_FOLLOWED && peer != WP_NO_OFFSET;
		if (is_known && peer >= offset)
			return;
		pings->n_answered++;
	}
}

/* FALSE where the line makes no record. */
static gboolean
describe_line(State *state, WpDecodeContext *context, WpDirection from, const Line *line,
	      WpMessage *message)
{
	char first = line->verb->verb[0], second = line->verb->verb[1];
	message->kind = WP_KIND_MESSAGE;
	message->marks = line->verb->marks;
	if (first == '+')
		return FALSE;
	label(context, message, line);
	if (first == '-')
		message->status = WP_STATUS_ERROR;
	if (first == 'P') /* PING, PONG */
		describe_ping(state, context, from, second == 'O', message);
	return TRUE;
}

/* The server says in INFO that TLS follows. */
static gboolean
starts_tls(WpBytes in, const Line *line)
{
	g_autofree char *text = g_strndup((const char *)in.data, line->line);
	return line->verb->verb[0] == 'I' && strstr(text, "\"tls_required\":true") != NULL;
}

static WpDecodeStatus
nats_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	WpMessage *message = &state->message[direction];
	Line line;
	WpDecodeStatus status = read_line(in, direction, &line);
	if (status != WP_DECODE_OK)
		return status;
	gboolean has_data = line.verb->form == DATA, is_shown = TRUE;
	unit->length = line.line + (has_data ? line.payload + 2 : 0);
	gsize wanted = MIN(unit->length, line.line + LOOKED_AT);
	if (in.length < wanted && !wp_decode_is_cut(context)) {
		unit->need = wanted;
		return WP_DECODE_MORE;
	}
	gsize there = MIN(MIN(in.length, wanted), line.line + line.payload) - line.line;
	if (state->has_hole[direction])
		give_up(&state->pings[!direction], wp_decode_stamp(context).offset);
	state->has_hole[direction] = FALSE;
	if (has_data)
		describe_data(context, &line, wp_bytes(in.data + line.line, there), message);
	else
		is_shown = describe_line(state, context, direction, &line, message);
	if (is_shown)
		unit->opens = unit->extends = unit->emits = message;
	else
		*message = (WpMessage){ 0 };
	unit->becomes = starts_tls(in, &line) ? &wp_decoder_tls : NULL;
	return WP_DECODE_OK;
}

static void
nats_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	((State *)data)->has_hole[direction] = TRUE;
}

/* --- detection --- */

/* A line that only NATS has; PING and the like are others' as well. */
static WpDecodeStatus
begins(WpBytes in, WpDirection direction, gboolean *out_is_own)
{
	Line line;
	WpDecodeStatus status = read_line(in, direction, &line);
	*out_is_own = FALSE;
	if (status != WP_DECODE_OK)
		return status;
	gboolean is_json = line.verb->least == 1 && line.verb->form == BARE;
	if (is_json && line.words[0].text[0] != '{')
		return WP_DECODE_BAD;
	gsize end = line.line + line.payload;
	if (line.verb->form == DATA && in.length >= end + 2 &&
	    memcmp(in.data + end, "\r\n", 2) != 0)
		return WP_DECODE_BAD;
	*out_is_own = is_json || line.verb->form != BARE;
	return WP_DECODE_OK;
}

static WpDecodeStatus
nats_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	gboolean is_own;
	return begins(in, direction, &is_own);
}

static const char greeting[] = "INFO {\"";

static WpProbeVerdict
nats_probe(const WpProbe *probe)
{
	gboolean client_own, server_own;
	WpDecodeStatus client = begins(probe->client, WP_FROM_CLIENT, &client_own);
	WpDecodeStatus server = begins(probe->server, WP_FROM_SERVER, &server_own);
	if (probe->from_start && wp_bytes_starts(&probe->server, greeting, strlen(greeting))) {
		server = WP_DECODE_OK; /* the line may come in many pieces */
		server_own = TRUE;
	}
	WpProbeVerdict by_client =
		client_own && client == WP_DECODE_OK ? WP_PROBE_LIKELY : WP_PROBE_MORE;
	WpProbeVerdict verdict = server_own && server == WP_DECODE_OK ? WP_PROBE_SURE : by_client;
	return wp_probe_verdict(probe, client, server,
				(WpProbeVerdicts){ verdict, verdict, verdict });
}

static const guint16 nats_ports[] = { 4222, 0 };

const WpDecoder wp_decoder_nats = {
	.name = "nats",
	.summary = "NATS: publishing, and requests by their reply subject",
	.transports = WP_TRANSPORT_TCP,
	.ports = nats_ports,
	.by_callid = TRUE,
	.interleaves = TRUE,
	.reuses_callids = TRUE,
	.state_size = sizeof(State),
	.probe = nats_probe,
	.decode = nats_decode,
	.sync = nats_sync,
	.lost = nats_lost,
};
