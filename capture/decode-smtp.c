/*
 * SMTP (RFC 5321; PIPELINING: RFC 2920, CHUNKING: RFC 3030, AUTH: RFC 4954, STARTTLS: RFC 3207) and LMTP
 * (RFC 2033).
 *
 *      client           |MAIL..|RCPT..|DATA|           |From: ..text...|.|        |QUIT|
 *      server  |220 ..|                     |250|250|354|                  |250 ok|     |221|
 *      call    banner    MAIL   RCPT   DATA              message                    QUIT
 *
 * Replies come in the order of commands; one of several lines ends with the line whose code a blank
 * follows. What DATA announces is a call of its own, BDAT takes its bytes with it. Labels are verbs, so that no address
 * stays; the message's identifier is a token.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/http1-head.h"

/* Longest line: 512 (section 4.5.3.1.4), but 12288 in AUTH (RFC 4954 section 4). */
#define LINE_MAX_BYTES (16 * 1024)

/* Larger chunks of BDAT are nonsense. */
#define CHUNK_MAX (G_GUINT64_CONSTANT(1) << 40)

/* Of a message so much is looked at for its identifier, if its head is so long. */
#define LOOKED_AT 2048

/* Bytes of the end of a message, but for the first: CR LF . CR LF */
#define END_BYTES 5

typedef enum {
	COMMANDS,
	ANNOUNCED, /* DATA was sent, its reply has not been seen */
	MESSAGE,
	CHALLENGED /* the next line is the answer to a challenge of AUTH */
} Phase;

/* What a call was, kept for its reply. */
typedef enum {
	NOTE_PLAIN = 1,
	NOTE_DATA,
	NOTE_MESSAGE,
	NOTE_AUTH,
	NOTE_RCPT,
	NOTE_STARTTLS
} Note;

typedef struct {
	const char *verb;
	guint8 note;
	guint8 marks;
	guint8 has_words;  /* 0 none, 1 some, 2 either */
	const char *start; /* of the words, in capitals */
} Verb;

static const Verb verbs[] = {
	{ "EHLO", NOTE_PLAIN, WP_MARK_SETUP, 1, "" },
	{ "HELO", NOTE_PLAIN, WP_MARK_SETUP, 1, "" },
	{ "LHLO", NOTE_PLAIN, WP_MARK_SETUP, 1, "" },
	{ "MAIL", NOTE_PLAIN, 0, 1, "FROM:" },
	{ "RCPT", NOTE_RCPT, 0, 1, "TO:" },
	{ "DATA", NOTE_DATA, 0, 0, "" },
	{ "BDAT", NOTE_PLAIN, 0, 1, "" },
	{ "RSET", NOTE_PLAIN, 0, 0, "" },
	{ "NOOP", NOTE_PLAIN, 0, 2, "" },
	{ "QUIT", NOTE_PLAIN, WP_MARK_SETUP, 0, "" },
	{ "VRFY", NOTE_PLAIN, 0, 1, "" },
	{ "EXPN", NOTE_PLAIN, 0, 1, "" },
	{ "HELP", NOTE_PLAIN, 0, 2, "" },
	{ "ETRN", NOTE_PLAIN, 0, 1, "" },
	{ "AUTH", NOTE_AUTH, WP_MARK_SETUP, 1, "" },
	{ "STARTTLS", NOTE_STARTTLS, WP_MARK_SETUP, 0, "" },
	{ "XCLIENT", NOTE_PLAIN, WP_MARK_SETUP, 1, "" },
	{ "XFORWARD", NOTE_PLAIN, WP_MARK_SETUP, 1, "" },
};

typedef struct {
	WpMessage call;
	WpMessage reply;
	Phase phase;
	guint16 code;         /* of the reply that goes on */
	gboolean is_local;    /* LMTP: a message has a reply for each recipient */
	guint32 n_recipients; /* taken, of the message at hand */
	guint32 n_replies;    /* to the message, so far */
	gboolean has_spoken[2];
} State;

/* --- lines --- */

static WpDecodeStatus
take_line(WpBytes *in, WpHttp1Line *out)
{
	WpDecodeStatus status = wp_http1_take_line(in, out);
	gsize bytes = status == WP_DECODE_OK ? out->bytes : wp_bytes_left(in);
	return bytes > LINE_MAX_BYTES ? WP_DECODE_BAD : status;
}

static gboolean
starts_with(const char *text, gsize length, const char *start)
{
	gsize n = strlen(start);
	return length >= n && g_ascii_strncasecmp(text, start, n) == 0;
}

/* The verb of a command; NULL where it is not known, or what follows cannot follow it. */
static const Verb *
verb_of(const char *line, gsize length)
{
	while (length && line[length - 1] == ' ')
		length--;
	for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++) {
		const Verb *verb = &verbs[i];
		gsize n = strlen(verb->verb);
		if (!starts_with(line, length, verb->verb) || (length > n && line[n] != ' '))
			continue;
		if (length == n)
			return verb->has_words == 1 ? NULL : verb;
		return verb->has_words && starts_with(line + n + 1, length - n - 1, verb->start)
			       ? verb
			       : NULL;
	}
	return NULL;
}

/* Letters, then nothing or a blank: what may be a command that some extension has. */
static gboolean
is_command(const char *line, gsize length)
{
	gsize n = 0;
	while (n < length && g_ascii_isalpha(line[n]))
		n++;
	return n >= 3 && n <= 12 && (n == length || line[n] == ' ');
}

/* "250-first", "250 last", "250": its code, 0 where it is none. */
static guint16
code_of(const char *line, gsize length, gboolean *out_is_last)
{
	if (length < 3 || line[0] < '2' || line[0] > '5' || line[1] < '0' || line[1] > '5' ||
	    !g_ascii_isdigit(line[2]) || (length > 3 && line[3] != ' ' && line[3] != '-'))
		return 0;
	*out_is_last = length == 3 || line[3] == ' ';
	return (guint16)((line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0'));
}

/* --- commands --- */

static void
label(WpDecodeContext *context, WpMessage *message, const char *text)
{
	message->label = wp_decode_label(context, text, strlen(text));
}

/* "AUTH PLAIN": the mechanism is a name. */
static void
label_auth(WpDecodeContext *context, WpMessage *message, const char *line, gsize length)
{
	char text[32] = "AUTH ";
	gsize n = strlen(text);
	for (gsize i = n; i < length && n < sizeof text - 1; i++) {
		if (!g_ascii_isalnum(line[i]) && line[i] != '-' && line[i] != '_')
			break;
		text[n++] = g_ascii_toupper(line[i]);
	}
	message->label = wp_decode_label(context, text, n);
}

/* The bytes that BDAT takes with it; FALSE where they cannot be told. */
static gboolean
chunk_of(const char *line, gsize length, guint64 *out)
{
	gsize i = strlen("BDAT ");
	guint64 n = 0;
	gboolean has_digit = FALSE;
	for (; i < length && g_ascii_isdigit(line[i]) && n <= CHUNK_MAX; i++) {
		n = n * 10 + (guint64)(line[i] - '0');
		has_digit = TRUE;
	}
	*out = n;
	return has_digit && n <= CHUNK_MAX && (i == length || line[i] == ' ');
}

static WpDecodeStatus
decode_command(State *state, WpDecodeContext *context, const WpHttp1Line *line, WpUnit *unit)
{
	WpMessage *call = &state->call;
	const Verb *verb = verb_of(line->data, line->length);
	guint64 chunk = 0;
	if (!verb && !is_command(line->data, line->length))
		return WP_DECODE_BAD;
	gboolean is_chunk = verb && strcmp(verb->verb, "BDAT") == 0;
	if (is_chunk && !chunk_of(line->data, line->length, &chunk))
		return WP_DECODE_BAD;
	call->kind = WP_KIND_CALL;
	call->note = verb ? verb->note : NOTE_PLAIN;
	call->marks = verb ? verb->marks : 0;
	if (call->note == NOTE_AUTH)
		label_auth(context, call, line->data, line->length);
	else
		label(context, call, verb ? verb->verb : "(other)");
	if (verb && strcmp(verb->verb, "LHLO") == 0)
		state->is_local = TRUE;
	if (verb && strcmp(verb->verb, "MAIL") == 0)
		state->n_recipients = 0;
	if (call->note == NOTE_DATA)
		state->phase = ANNOUNCED;
	unit->length = line->bytes + (gsize)chunk;
	unit->opens = unit->emits = call;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_answer_to_challenge(State *state, WpDecodeContext *context, const WpHttp1Line *line,
			   WpUnit *unit)
{
	state->phase = COMMANDS;
	state->call.kind = WP_KIND_CALL;
	state->call.note = NOTE_AUTH;
	state->call.marks = WP_MARK_SETUP;
	label(context, &state->call, "AUTH response");
	unit->length = line->bytes;
	unit->opens = unit->emits = &state->call;
	return WP_DECODE_OK;
}

/* --- messages --- */

/* Position behind the end of a message in what there is of it; 0 where it goes on. */
static gsize
end_of_message(WpBytes in, gboolean is_begin)
{
	static const char end[END_BYTES + 1] = "\r\n.\r\n";
	const char *data = (const char *)in.data;
	if (is_begin && in.length >= 3 && memcmp(data, ".\r\n", 3) == 0)
		return 3;
	for (gsize at = 2; at + 2 < in.length; at++) {
		const char *dot = memchr(data + at, '.', in.length - at - 2);
		if (!dot)
			return 0;
		at = (gsize)(dot - data);
		if (memcmp(dot - 2, end, END_BYTES) == 0)
			return at + 3;
	}
	return 0;
}

/* The value of the field Message-ID in the front of a message. */
static void
scan_identifier(WpDecodeContext *context, WpMessage *call, WpBytes in)
{
	WpHttp1Line line;
	static const char name[] = "Message-ID:";
	in.length = MIN(in.length, LOOKED_AT);
	while (wp_http1_take_line(&in, &line) == WP_DECODE_OK && line.length > 0)
		if (starts_with(line.data, line.length, name))
			wp_decode_ids(context, call, (const guint8 *)line.data + sizeof name - 1,
				      line.length - (sizeof name - 1));
}

/* Whether the head of the message is there as far as it is looked at. */
static gboolean
has_head(WpBytes in)
{
	WpHttp1Line line;
	if (in.length >= LOOKED_AT)
		return TRUE;
	while (wp_http1_take_line(&in, &line) == WP_DECODE_OK)
		if (line.length == 0)
			return TRUE;
	return FALSE;
}

static WpDecodeStatus
decode_message(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	WpMessage *call = &state->call;
	gboolean is_begin = !call->is_open, is_cut = wp_decode_is_cut(context);
	gsize end = end_of_message(in, is_begin);
	if (!end && !is_cut && (in.length < END_BYTES || (is_begin && !has_head(in))))
		return WP_DECODE_MORE;
	if (is_begin) {
		scan_identifier(context, call, in);
		call->kind = WP_KIND_CALL;
		call->note = NOTE_MESSAGE;
		label(context, call, "message");
		unit->opens = call;
		state->n_replies = 0;
	}
	unit->extends = call;
	/* The end may have begun. */
	unit->length = end ? end : is_cut ? in.length : in.length - (END_BYTES - 1);
	if (end) {
		unit->emits = call;
		state->phase = COMMANDS;
	}
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_client(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	WpHttp1Line line;
	WpBytes rest = in;
	state->has_spoken[WP_FROM_CLIENT] = TRUE;
	if (state->phase == MESSAGE)
		return decode_message(state, context, in, unit);
	WpDecodeStatus status = take_line(&rest, &line);
	if (status != WP_DECODE_OK)
		return status;
	if (state->phase == ANNOUNCED) { /* the reply to DATA is missing: it was yes, but for */
		const Verb *verb = verb_of(line.data, line.length);
		state->phase =
			verb && !starts_with(line.data, line.length, "HELP") ? COMMANDS : MESSAGE;
		if (state->phase == MESSAGE)
			return decode_message(state, context, in, unit);
	}
	if (state->phase == CHALLENGED)
		return decode_answer_to_challenge(state, context, &line, unit);
	return decode_command(state, context, &line, unit);
}

/* --- replies --- */

/* What the reply CODE to a call with NOTE changes. FALSE where more replies to the call follow. */
static gboolean
note_reply(State *state, guint note, guint16 code, WpUnit *unit)
{
	switch (note) {
	case NOTE_DATA:
		if (state->phase == ANNOUNCED)
			state->phase = code == 354 ? MESSAGE : COMMANDS;
		return TRUE;
	case NOTE_AUTH:
		if (state->phase == COMMANDS && code == 334)
			state->phase = CHALLENGED;
		return TRUE;
	case NOTE_RCPT:
		state->n_recipients += code < 300;
		return TRUE;
	case NOTE_MESSAGE:
		return !state->is_local || ++state->n_replies >= state->n_recipients;
	case NOTE_STARTTLS:
		if (code == 220)
			unit->becomes = &wp_decoder_tls;
		return TRUE;
	default:
		return TRUE;
	}
}

/* The last line of a reply. */
static void
end_reply(State *state, WpDecodeContext *context, guint16 code, WpUnit *unit)
{
	WpMessage *reply = &state->reply;
	guint32 note = 0;
	WpStatus status = code >= 400 ? WP_STATUS_ERROR : WP_STATUS_OK;
	gboolean is_pending = wp_decode_pending(context, &note);
	state->code = 0;
	reply->kind = WP_KIND_RETURN;
	/* Of the replies to a message for several recipients one error is the error. */
	if (reply->status != WP_STATUS_ERROR)
		reply->status = (guint8)status;
	if (!is_pending && !state->has_spoken[WP_FROM_CLIENT] && wp_decode_from_start(context)) {
		reply->kind = WP_KIND_MESSAGE;
		reply->marks = WP_MARK_SETUP;
		label(context, reply, "(greeting)");
	} else if (!is_pending && code == 421) { /* the server says that it will close */
		reply->kind = WP_KIND_MESSAGE;
		label(context, reply, "(closing)");
	} else if (is_pending && !note_reply(state, note, code, unit)) {
		return;
	}
	unit->emits = reply;
}

static WpDecodeStatus
decode_server(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	WpHttp1Line line;
	gboolean is_last = FALSE;
	WpDecodeStatus status = take_line(&in, &line);
	if (status != WP_DECODE_OK)
		return status;
	guint16 code = code_of(line.data, line.length, &is_last);
	if (!code || (state->code && state->code != code))
		return WP_DECODE_BAD;
	unit->length = line.bytes;
	unit->opens = state->reply.is_open ? NULL : &state->reply;
	unit->extends = &state->reply;
	state->reply.kind = WP_KIND_RETURN;
	state->code = code;
	if (is_last)
		end_reply(state, context, code, unit);
	return WP_DECODE_OK;
}

static WpDecodeStatus
smtp_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	if (direction == WP_FROM_CLIENT)
		return decode_client(state, context, in, unit);
	WpDecodeStatus status = decode_server(state, context, in, unit);
	state->has_spoken[WP_FROM_SERVER] |= status == WP_DECODE_OK;
	return status;
}

static void
smtp_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	if (direction == WP_FROM_CLIENT) {
		state->call = (WpMessage){ 0 };
		state->phase = COMMANDS;
		return;
	}
	state->reply = (WpMessage){ 0 };
	state->code = 0;
}

/* --- detection --- */

typedef struct {
	WpDecodeStatus status;
	const Verb *verb;  /* of the client */
	guint16 code;      /* of the server */
	gboolean is_named; /* the server says that it is SMTP */
} Look;

static gboolean
has_word(const WpHttp1Line *line, const char *word)
{
	gsize n = strlen(word);
	for (gsize i = 4; i + n <= line->length; i++)
		if (memcmp(line->data + i, word, n) == 0 && line->data[i - 1] == ' ' &&
		    (i + n == line->length || line->data[i + n] == ' '))
			return TRUE;
	return FALSE;
}

static gboolean
is_printable(const char *text, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if ((guint8)text[i] < ' ' && text[i] != '\r' && text[i] != '\n')
			return FALSE;
	return TRUE;
}

/* Whether what is there of a line may be the front of a command, or of a reply. */
static gboolean
may_become(const char *text, gsize length, WpDirection direction)
{
	char code[] = "220 ";
	gboolean is_last;
	if (!is_printable(text, length))
		return FALSE;
	if (direction == WP_FROM_SERVER) {
		memcpy(code, text, MIN(length, sizeof code - 1));
		return code_of(code, sizeof code - 1, &is_last) != 0;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++) {
		gsize n = strlen(verbs[i].verb);
		if (g_ascii_strncasecmp(text, verbs[i].verb, MIN(n, length)) == 0 &&
		    (length <= n || text[n] == ' ' || text[n] == '\r'))
			return TRUE;
	}
	return FALSE;
}

static Look
look_at(WpBytes in, WpDirection direction)
{
	WpHttp1Line line;
	gboolean is_last;
	Look look = { .status = take_line(&in, &line) };
	if (look.status == WP_DECODE_MORE) {
		if (!may_become((const char *)in.data, in.length, direction))
			look.status = WP_DECODE_BAD;
		return look;
	}
	if (look.status != WP_DECODE_OK)
		return look;
	gboolean is_sound = line.bytes == line.length + 2 && is_printable(line.data, line.length);
	if (direction == WP_FROM_CLIENT) {
		look.verb = verb_of(line.data, line.length);
		is_sound &= look.verb != NULL;
	} else {
		look.code = code_of(line.data, line.length, &is_last);
		look.is_named = has_word(&line, "ESMTP") || has_word(&line, "SMTP") ||
				has_word(&line, "LMTP");
		is_sound &= look.code != 0;
	}
	if (!is_sound)
		look.status = WP_DECODE_BAD;
	return look;
}

static WpDecodeStatus
smtp_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	return look_at(in, direction).status;
}

/* Verbs that others have as well say little. */
static gboolean
is_own(const Verb *verb)
{
	return verb && (verb->start[0] || g_str_has_suffix(verb->verb, "LO") ||
			strcmp(verb->verb, "BDAT") == 0);
}

/* FTP has these with replies of the same codes: they say nothing but where SMTP is usual. */
static gboolean
is_shared(const Verb *verb)
{
	static const char *const shared[] = { "QUIT", "NOOP", "HELP", "AUTH" };
	for (gsize i = 0; i < G_N_ELEMENTS(shared); i++)
		if (strcmp(verb->verb, shared[i]) == 0)
			return TRUE;
	return FALSE;
}

static const guint16 smtp_ports[] = { 25, 587, 2525, 24, 0 };

static gboolean
is_usual(guint16 port)
{
	for (const guint16 *usual = smtp_ports; *usual; usual++)
		if (*usual == port)
			return TRUE;
	return FALSE;
}

/* The server speaks first: "220 mx.example.org ESMTP". */
static WpProbeVerdict
probe_start(const Look *client, const Look *server)
{
	if (client->status == WP_DECODE_BAD || server->status == WP_DECODE_BAD)
		return WP_PROBE_NO;
	if (client->status == WP_DECODE_OK)
		return !is_own(client->verb)            ? WP_PROBE_NO
		       : server->status == WP_DECODE_OK ? WP_PROBE_SURE
							: WP_PROBE_LIKELY;
	if (server->status != WP_DECODE_OK)
		return WP_PROBE_MORE;
	if (server->code != 220 && server->code != 554 && server->code != 421)
		return WP_PROBE_NO;
	return server->is_named ? WP_PROBE_LIKELY : WP_PROBE_MORE;
}

static WpProbeVerdict
smtp_probe(const WpProbe *probe)
{
	Look client = { WP_DECODE_MORE, NULL, 0, FALSE }, server = client;
	if (probe->client.length)
		client = look_at(probe->client, WP_FROM_CLIENT);
	if (probe->server.length)
		server = look_at(probe->server, WP_FROM_SERVER);
	if (probe->from_start)
		return probe_start(&client, &server);
	if (client.status == WP_DECODE_OK && is_shared(client.verb) &&
	    !is_usual(probe->server_port))
		return WP_PROBE_NO;
	if (client.status == WP_DECODE_OK && server.status != WP_DECODE_BAD)
		return is_own(client.verb)             ? WP_PROBE_SURE
		       : server.status == WP_DECODE_OK ? WP_PROBE_MAYBE
						       : WP_PROBE_MORE;
	if (client.status == WP_DECODE_BAD || server.status == WP_DECODE_BAD)
		return WP_PROBE_NO;
	return server.code == 220 && server.is_named ? WP_PROBE_LIKELY : WP_PROBE_MORE;
}

const WpDecoder wp_decoder_smtp = {
	.name = "smtp",
	.summary = "SMTP and LMTP",
	.transports = WP_TRANSPORT_TCP,
	.ports = smtp_ports,
	.state_size = sizeof(State),
	.probe = smtp_probe,
	.decode = smtp_decode,
	.sync = smtp_sync,
	.lost = smtp_lost,
};
