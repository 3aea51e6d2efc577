/*
 * Redis: RESP versions 2 and 3 (redis.io, "Redis serialization protocol specification").
 *
 *      client  *2 $3 GET $7 user:42   call: an array of bulk strings, or a line of words
 *      server  $5 Alice               return: one value; pipelined ones come in order
 *
 * Replies come in the order of the calls, but: pushes (">", or in RESP2 arrays to a subscriber) and the
 * lines of MONITOR belong to no call; SUBSCRIBE is answered by one confirmation a channel, together its
 * return; CLIENT REPLY OFF and SKIP silence replies; a replication link (SYNC, PSYNC) carries commands
 * from the server that nobody answers. A unit is a run of elements; a long one is skipped by length.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/probe.h"
#include "capture/redis-request.h"
#include "capture/resp.h"

/* Of a value, so much is looked at for tokens. */
#define TOKENS_LOOKED_AT 256

/* Of the name and the channel in a push. */
#define PUSH_WORD_MAX   256
#define PUSH_NAME_SHOWN 32

typedef enum {
	REPLIES_ON,
	REPLIES_OFF, /* CLIENT REPLY OFF */
	REPLIES_SKIP /* CLIENT REPLY SKIP: the next command is not answered */
} ReplyMode;

typedef enum {
	LINK_NONE,
	LINK_SNAPSHOT, /* the data set comes next, in one piece */
	LINK_COMMANDS  /* commands, one way */
} LinkMode;

typedef struct {
	WpMessage message;
	guint64 left;       /* arguments still to come */
	gboolean is_secret; /* a login: nothing of it is kept */
} Request;

typedef struct {
	Request requests[2]; /* from the client; from the master of a replication link */
	WpMessage reply;
	WpMessage push;
	WpRespValue value;        /* of which elements have passed */
	WpMessage *value_of;      /* the message that value is, or part of; NULL = none has begun */
	gboolean value_ends;      /* that message ends with it */
	gboolean value_is_judged; /* its status is known */
	gboolean value_confirms;  /* a subscription */
	guint confirmations;      /* of the SUBSCRIBE being answered, still to come */
	guint64 subscriptions;
	ReplyMode replies;
	LinkMode link;
	gboolean monitors;
	gboolean has_worked; /* a command came that does not set the connection up */
} RedisState;

/* "$EOF:" and forty characters. */
#define SNAPSHOT_LINE_MAX 64

/* What a call's note says. */
enum {
	NOTE_SUBSCRIBE = 1u << 31,
	NOTE_ALL_CHANNELS = 1u << 30, /* UNSUBSCRIBE without a channel */
	NOTE_SYNC = 1u << 29,
	NOTE_CHANNELS = 0xffff
};

/* --- calls --- */

static void
mark_request(RedisState *state, WpDecodeContext *context, const WpRedisRequest *request,
	     WpMessage *message)
{
	guint flags = request->command->flags;
	gboolean at_start = !state->has_worked && wp_decode_from_start(context);
	gboolean sets_up = flags & WP_REDIS_LOGIN || (flags & WP_REDIS_SETUP && at_start);

	if (sets_up)
		message->marks |= WP_MARK_SETUP;
	else
		state->has_worked = TRUE;
	if (request->waits)
		message->marks |= WP_MARK_WAIT;
	if (flags & (WP_REDIS_SUBSCRIBE | WP_REDIS_UNSUBSCRIBE)) {
		message->note = NOTE_SUBSCRIBE | (guint32)MIN(request->n_args - 1, NOTE_CHANNELS);
		if (request->n_args == 1)
			message->note |= NOTE_ALL_CHANNELS;
		wp_decode_may_push(context);
	}
	if (flags & WP_REDIS_SYNC)
		message->note = NOTE_SYNC;
}

/* CLIENT REPLY and what it does to this command and those after it. */
static void
silence_request(RedisState *state, const WpRedisRequest *request, WpMessage *message)
{
	message->no_return = state->replies != REPLIES_ON || state->link == LINK_COMMANDS;
	if (state->replies == REPLIES_SKIP)
		state->replies = REPLIES_ON;
	switch (request->reply_mode) {
	case WP_REDIS_REPLY_OFF:
		state->replies = REPLIES_OFF;
		message->no_return = TRUE;
		break;
	case WP_REDIS_REPLY_SKIP:
		if (state->replies == REPLIES_ON)
			state->replies = REPLIES_SKIP;
		message->no_return = TRUE;
		break;
	case WP_REDIS_REPLY_ON:
		state->replies = REPLIES_ON;
		message->no_return = FALSE;
		break;
	case WP_REDIS_REPLY_NONE:
		message->no_return = TRUE;
		break;
	case WP_REDIS_REPLY_USUAL:
		break;
	}
}

static void
begin_request(RedisState *state, WpDecodeContext *context, WpDirection direction,
	      const WpRedisRequest *request, Request *out)
{
	char label[WP_LABEL_MAX];
	WpMessage *message = &out->message;

	message->kind = WP_KIND_CALL;
	message->label = wp_decode_label(context, label,
					 wp_redis_request_label(request, label, sizeof label));
	out->left = request->n_args - request->n_read;
	out->is_secret = request->command->flags & WP_REDIS_LOGIN;
	for (guint i = 1; i < request->n_read; i++)
		if (!out->is_secret)
			wp_decode_tokens(context, message, (const guint8 *)request->args[i].text,
					 MIN(request->args[i].length, TOKENS_LOOKED_AT));
	if (direction == WP_FROM_SERVER) {
		message->kind = WP_KIND_MESSAGE;
		return;
	}
	mark_request(state, context, request, message);
	silence_request(state, request, message);
	if (request->command->flags & WP_REDIS_RESET) {
		state->monitors = FALSE;
		state->subscriptions = 0;
	}
	if (request->command->flags & WP_REDIS_MONITOR) {
		state->monitors = TRUE;
		wp_decode_may_push(context);
	}
}

/* TRUE where so much of ELEMENT, at the front of IN, is there that its tokens can be told. */
static gboolean
can_look(WpDecodeContext *context, WpBytes in, const WpRespElement *element)
{
	gsize wanted = MIN(element->length - element->line, TOKENS_LOOKED_AT);
	return in.length - element->line >= wanted || wp_decode_is_cut(context);
}

static void
look(WpDecodeContext *context, WpMessage *message, WpBytes in, const WpRespElement *element)
{
	gsize length = MIN(MIN(in.length, element->length) - element->line, TOKENS_LOOKED_AT);
	wp_decode_tokens(context, message, in.data + element->line, length);
}

/*
 * Passes the arguments that are there, from *AT on, of a command begun before; the last may end beyond
 * the input. OK where there was one.
 */
static WpDecodeStatus
pass_arguments(WpDecodeContext *context, Request *request, WpBytes in, gsize *at)
{
	gsize start = *at;
	while (request->left > 0 && *at < in.length) {
		WpRespElement element;
		WpBytes here = wp_bytes(in.data + *at, in.length - *at);
		WpDecodeStatus status = wp_resp_element(here, &element);
		if (status == WP_DECODE_OK && (element.type != '$' || element.is_streamed))
			status = WP_DECODE_BAD;
		else if (status == WP_DECODE_OK && !can_look(context, here, &element))
			status = WP_DECODE_MORE;
		if (status != WP_DECODE_OK)
			return *at > start ? WP_DECODE_OK : status;
		if (!request->is_secret)
			look(context, &request->message, here, &element);
		request->left--;
		*at += element.length;
	}
	return *at > start ? WP_DECODE_OK : WP_DECODE_MORE;
}

static WpDecodeStatus
decode_request(RedisState *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	       WpUnit *unit)
{
	Request *open = &state->requests[direction];
	gsize at = 0;

	if (open->left > 0) {
		WpDecodeStatus status = pass_arguments(context, open, in, &at);
		if (status != WP_DECODE_OK)
			return status;
	} else {
		WpRedisRequest request;
		gboolean is_cut = wp_decode_is_cut(context);
		WpDecodeStatus status = wp_redis_request_parse(in, is_cut, &request);
		if (status != WP_DECODE_OK)
			return status;
		unit->length = at = request.length;
		if (request.n_args == 0)
			return WP_DECODE_OK; /* an empty line or array: nothing answers it */
		begin_request(state, context, direction, &request, open);
		unit->opens = &open->message;
		pass_arguments(context, open, in, &at); /* what is bad there, is so next time */
	}
	unit->length = at;
	unit->extends = &open->message;
	if (open->left == 0)
		unit->emits = &open->message;
	return WP_DECODE_OK;
}

/* --- returns and pushes --- */

/* The first words of an array or push: "message", "news.42". */
typedef struct {
	WpRedisArg name;
	WpRedisArg channel;
} PushWords;

/* A short string element at *AT, which moves on. BAD where it is none. */
static WpDecodeStatus
push_word(WpBytes in, gsize *at, WpRedisArg *out_word)
{
	WpRespElement element;
	if (*at >= in.length)
		return WP_DECODE_MORE;
	WpBytes here = wp_bytes(in.data + *at, in.length - *at);
	WpDecodeStatus status = wp_resp_element(here, &element);
	if (status != WP_DECODE_OK)
		return status;
	const char *text = (const char *)here.data;
	if (element.type == '+') {
		*out_word = (WpRedisArg){ text + 1, element.line - 3, TRUE };
	} else if (element.type == '$' && !element.is_null && !element.is_streamed) {
		gsize length = MIN(element.number, PUSH_WORD_MAX);
		if (here.length < element.line + length)
			return WP_DECODE_MORE;
		*out_word = (WpRedisArg){ text + element.line, length, length == element.number };
	} else {
		return WP_DECODE_BAD;
	}
	*at += element.length;
	return WP_DECODE_OK;
}

/* The words behind the header of an aggregate. */
static WpDecodeStatus
push_words(WpBytes in, const WpRespElement *header, PushWords *out)
{
	gsize at = header->line;
	memset(out, 0, sizeof *out);
	if (header->number == 0)
		return WP_DECODE_BAD;
	WpDecodeStatus status = push_word(in, &at, &out->name);
	if (status != WP_DECODE_OK || header->number == 1)
		return status;
	status = push_word(in, &at, &out->channel);
	return status == WP_DECODE_MORE ? WP_DECODE_MORE : WP_DECODE_OK;
}

static gboolean
is_word(const PushWords *words, const char *text)
{
	return words->name.length == strlen(text) &&
	       memcmp(words->name.text, text, words->name.length) == 0;
}

static gboolean
is_confirmation(const PushWords *words)
{
	return is_word(words, "subscribe") || is_word(words, "unsubscribe") ||
	       is_word(words, "psubscribe") || is_word(words, "punsubscribe") ||
	       is_word(words, "ssubscribe") || is_word(words, "sunsubscribe");
}

static gboolean
is_published(const PushWords *words)
{
	return is_word(words, "message") || is_word(words, "pmessage") ||
	       is_word(words, "smessage");
}

/* "MESSAGE chat:{}" */
static guint32
push_label(WpDecodeContext *context, const PushWords *words)
{
	char label[WP_LABEL_MAX];
	gsize n = MIN(words->name.length, PUSH_NAME_SHOWN);
	for (gsize i = 0; i < n; i++)
		label[i] = g_ascii_isgraph(words->name.text[i])
				   ? g_ascii_toupper(words->name.text[i])
				   : '?';
	if (is_published(words))
		n = wp_redis_label_add_key(label, n, sizeof label, words->channel.text,
					   words->channel.length);
	return wp_decode_label(context, label, n);
}

/* The next value answers SUBSCRIBE or UNSUBSCRIBE, or one of its confirmations does. */
static gboolean
begin_confirmation(RedisState *state, WpDecodeContext *context, WpUnit *unit)
{
	guint32 note = 0;
	state->value_of = &state->reply;
	if (state->confirmations == 0) {
		if (!wp_decode_pending(context, &note) || !(note & NOTE_SUBSCRIBE))
			return FALSE;
		state->confirmations = MAX(note & NOTE_CHANNELS, 1);
		if (note & NOTE_ALL_CHANNELS)
			state->confirmations = (guint)CLAMP(state->subscriptions, 1, 65535);
		state->reply.kind = WP_KIND_RETURN;
		state->reply.status = WP_STATUS_OK;
		unit->opens = &state->reply;
	}
	state->confirmations--;
	state->value_ends = state->confirmations == 0;
	state->value_is_judged = state->value_confirms = TRUE;
	return TRUE;
}

static void
begin_push(RedisState *state, guint32 label, WpUnit *unit)
{
	state->push.kind = WP_KIND_MESSAGE;
	state->push.label = label;
	state->value_of = unit->opens = &state->push;
	state->value_ends = TRUE;
	state->value_is_judged = TRUE;
}

static void
begin_return(RedisState *state, WpUnit *unit)
{
	state->reply.kind = WP_KIND_RETURN;
	state->value_of = unit->opens = &state->reply;
	state->value_ends = TRUE;
	state->value_is_judged = FALSE;
	state->confirmations = 0;
}

/* "1339518083.107412 [0 127.0.0.1:60866] "keys" "*"", a line of MONITOR. */
static gboolean
is_monitor_line(WpBytes in, const WpRespElement *element)
{
	const guint8 *text = in.data + in.at + 1;
	gsize length = element->line - 3, i = 0;
	if (element->type != '+')
		return FALSE;
	while (i < length && (g_ascii_isdigit(text[i]) || text[i] == '.'))
		i++;
	return i >= 8 && i + 2 < length && text[i] == ' ' && text[i + 1] == '[';
}

/* May this aggregate be a push or a confirmation? Its words tell, which are not looked at in vain. */
static gboolean
may_be_push(RedisState *state, WpDecodeContext *context, const WpRespElement *first)
{
	guint32 note = 0;
	if (first->is_null || first->is_streamed)
		return FALSE;
	if (first->type == '>' || state->confirmations > 0 || state->subscriptions > 0)
		return TRUE;
	return !wp_decode_pending(context, &note) || note & NOTE_SUBSCRIBE;
}

/* What does this aggregate begin: a return, a push, a confirmation? */
static WpDecodeStatus
begin_aggregate(RedisState *state, WpDecodeContext *context, WpBytes in, const WpRespElement *first,
		WpUnit *unit)
{
	PushWords words;
	if (first->type == '>')
		wp_decode_may_push(context);
	if (!may_be_push(state, context, first)) {
		begin_return(state, unit);
		return WP_DECODE_OK;
	}
	WpDecodeStatus status = push_words(in, first, &words);
	if (status == WP_DECODE_MORE)
		return WP_DECODE_MORE;
	gboolean has_words = status == WP_DECODE_OK;
	if (has_words && is_confirmation(&words) && begin_confirmation(state, context, unit))
		return WP_DECODE_OK;
	if (has_words && (first->type == '>' || is_published(&words)))
		begin_push(state, push_label(context, &words), unit);
	else if (first->type == '>')
		begin_push(state, wp_decode_label(context, "PUSH", 4), unit);
	else
		begin_return(state, unit);
	return WP_DECODE_OK;
}

static WpDecodeStatus
begin_value(RedisState *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	WpRespElement first;
	WpDecodeStatus status = wp_resp_element(in, &first);
	if (status != WP_DECODE_OK)
		return status;
	state->value_confirms = FALSE;
	if (first.type == '>' || first.type == '*')
		status = begin_aggregate(state, context, in, &first, unit);
	else if (is_monitor_line(in, &first) &&
		 (state->monitors || wp_decode_n_pending(context) == 0))
		begin_push(state, wp_decode_label(context, "MONITORED", 9), unit);
	else
		begin_return(state, unit);
	if (status == WP_DECODE_OK)
		wp_resp_value_begin(&state->value);
	return status;
}

/* What else an element that passes tells. */
static void
note_element(RedisState *state, const WpRespElement *element)
{
	if (!state->value_is_judged && element->type != '|' &&
	    wp_resp_value_is_at_top(&state->value)) {
		gboolean is_error = element->type == '-' || element->type == '!';
		state->reply.status = is_error ? WP_STATUS_ERROR : WP_STATUS_OK;
		state->value_is_judged = TRUE;
	}
	if (state->value_confirms && element->type == ':')
		state->subscriptions = element->number;
}

/* Passes the elements that are there of the value begun; as pass_arguments(). */
static WpDecodeStatus
pass_elements(RedisState *state, WpDecodeContext *context, WpBytes in, gsize *out_at)
{
	gsize at = 0;
	while (!wp_resp_value_is_done(&state->value) && at < in.length) {
		WpRespElement element;
		WpBytes here = wp_bytes(in.data + at, in.length - at);
		WpDecodeStatus status = wp_resp_element(here, &element);
		gboolean looks = status == WP_DECODE_OK && element.type == '$' &&
				 state->value_of == &state->push;
		if (looks && !can_look(context, here, &element))
			status = WP_DECODE_MORE;
		if (status == WP_DECODE_OK) {
			note_element(state, &element);
			if (!wp_resp_value_add(&state->value, &element))
				status = WP_DECODE_BAD;
		}
		if (status == WP_DECODE_MORE && at > 0)
			break;
		if (status != WP_DECODE_OK)
			return status;
		if (looks)
			look(context, &state->push, here, &element);
		at += element.length;
	}
	*out_at = at;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_value(RedisState *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	WpDecodeStatus status = WP_DECODE_OK;
	if (state->value_of == NULL)
		status = begin_value(state, context, in, unit);
	if (status == WP_DECODE_OK)
		status = pass_elements(state, context, in, &unit->length);
	if (status != WP_DECODE_OK)
		return status;
	unit->extends = state->value_of;
	if (wp_resp_value_is_done(&state->value)) {
		if (state->value_ends)
			unit->emits = state->value_of;
		state->value_of = NULL;
	}
	return WP_DECODE_OK;
}

/* --- replication links (redis.io "Redis replication") --- */

/*
 * The data set: "$LENGTH" and so many bytes, without a line end behind them; or, where the length is not
 * known before, "$EOF:" and a mark that ends it, which only the replica looks for.
 */
static WpDecodeStatus
decode_snapshot(RedisState *state, WpDecodeContext *context, WpMessage *message, WpBytes in,
		WpUnit *unit)
{
	gssize end = wp_bytes_find(&in, '\n', SNAPSHOT_LINE_MAX);
	guint64 length = 0;
	if (end < 0)
		return in.length < SNAPSHOT_LINE_MAX ? WP_DECODE_MORE : WP_DECODE_BAD;
	unit->opens = unit->emits = message;
	if (wp_bytes_starts(&in, "$EOF:", 5)) {
		unit->length = G_MAXSIZE;
		return WP_DECODE_OK;
	}
	for (gssize i = 1; i < end - 1; i++) {
		if (!g_ascii_isdigit(in.data[i]) || length > G_MAXUINT32 * G_GUINT64_CONSTANT(1000))
			return WP_DECODE_BAD;
		length = length * 10 + (in.data[i] - '0');
	}
	unit->length = (gsize)end + 1 + length;
	state->link = LINK_COMMANDS;
	return WP_DECODE_OK;
}

/* What answers SYNC or PSYNC. */
static WpDecodeStatus
decode_sync_reply(RedisState *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	if (in.data[0] == '$') {
		state->reply.kind = WP_KIND_RETURN;
		state->reply.status = WP_STATUS_OK;
		return decode_snapshot(state, context, &state->reply, in, unit);
	}
	WpDecodeStatus status = decode_value(state, context, in, unit);
	if (status == WP_DECODE_OK && wp_bytes_starts(&in, "+FULLRESYNC", 11))
		state->link = LINK_SNAPSHOT;
	else if (status == WP_DECODE_OK && wp_bytes_starts(&in, "+CONTINUE", 9))
		state->link = LINK_COMMANDS;
	return status;
}

static WpDecodeStatus
decode_link(RedisState *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	if (in.data[0] == '\n') { /* the master is still there, while it prepares the data */
		unit->length = 1;
		return WP_DECODE_OK;
	}
	if (state->link == LINK_NONE)
		return decode_sync_reply(state, context, in, unit);
	if (state->link == LINK_COMMANDS)
		return decode_request(state, context, WP_FROM_SERVER, in, unit);
	state->push.kind = WP_KIND_MESSAGE;
	state->push.label = wp_decode_label(context, "SNAPSHOT", 8);
	return decode_snapshot(state, context, &state->push, in, unit);
}

/* --- the decoder --- */

static WpDecodeStatus
redis_decode(void *opaque, WpDecodeContext *context, WpDirection direction, WpBytes in,
	     WpUnit *out_unit)
{
	RedisState *state = opaque;
	guint32 note = 0;
	if (direction == WP_FROM_CLIENT)
		return decode_request(state, context, direction, in, out_unit);
	if (state->link != LINK_NONE ||
	    (state->value_of == NULL && wp_decode_pending(context, &note) && note & NOTE_SYNC &&
	     in.data[0] != '>'))
		return decode_link(state, context, in, out_unit);
	return decode_value(state, context, in, out_unit);
}

static void
redis_lost(void *opaque, WpDecodeContext *context, WpDirection direction)
{
	RedisState *state = opaque;
	memset(&state->requests[direction], 0, sizeof state->requests[direction]);
	if (direction == WP_FROM_CLIENT)
		return;
	state->value_of = NULL;
	state->confirmations = 0;
	memset(&state->reply, 0, sizeof state->reply);
	memset(&state->push, 0, sizeof state->push);
}

/* An array of bulk strings that begins with the name of a command. */
static WpDecodeStatus
begins_request(WpBytes in)
{
	WpRedisRequest request;
	if (in.length > 0 && in.data[0] != '*')
		return WP_DECODE_BAD;
	WpDecodeStatus status = wp_redis_request_parse(in, FALSE, &request);
	if (status == WP_DECODE_MORE) {
		/* The name alone will do: what follows may be long. */
		status = wp_redis_request_parse(in, TRUE, &request);
	}
	return status == WP_DECODE_OK && request.n_args == 0 ? WP_DECODE_BAD : status;
}

static WpDecodeStatus
begins_reply(WpBytes in)
{
	WpRespElement element;
	WpDecodeStatus status = wp_resp_element(in, &element);
	if (status == WP_DECODE_OK && strchr(".;|", element.type))
		return WP_DECODE_BAD;
	return status;
}

static WpDecodeStatus
redis_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	return direction == WP_FROM_CLIENT ? begins_request(in) : begins_reply(in);
}

static gboolean
is_known_word(const WpRedisArg *word)
{
	static const char *const words[] = {
		"PING", "INFO",    "GET",  "SET",   "AUTH",   "SELECT",
		"QUIT", "MONITOR", "SYNC", "PSYNC", "EXISTS", "DBSIZE"
	};
	for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
		if (word->length == strlen(words[i]) &&
		    g_ascii_strncasecmp(word->text, words[i], word->length) == 0)
			return TRUE;
	return FALSE;
}

/* A line that a person or a health check would type, and no HTTP. */
static gboolean
is_known_line(WpBytes in)
{
	WpRedisRequest request;
	while (in.length > 0 && memchr("\r\n", in.data[0], 2))
		in = wp_bytes(in.data + 1, in.length - 1); /* empty lines are no commands */
	if (in.length == 0 || in.data[0] == '*' ||
	    wp_redis_request_parse(in, FALSE, &request) != WP_DECODE_OK || request.n_args == 0)
		return FALSE;
	const WpRedisArg *last = &request.args[request.n_read - 1];
	if (last->length > 5 && memcmp(last->text, "HTTP/", 5) == 0)
		return FALSE;
	return request.n_args <= 5 && is_known_word(&request.args[0]);
}

/*
 * An array of strings is a command, or a reply: the fields of a hash. Only the name of a command in
 * capitals, as nearly all clients send it, tells which; in small letters it may be a field ("type").
 */
static gboolean
is_sure_request(WpBytes in)
{
	WpRedisRequest request;
	if (in.length == 0 || in.data[0] != '*' ||
	    wp_redis_request_parse(in, TRUE, &request) != WP_DECODE_OK || request.n_args == 0 ||
	    request.command->name[0] == 0)
		return FALSE;
	return memcmp(request.args[0].text, request.command->name, request.args[0].length) == 0;
}

/* A whole bulk string, or an aggregate's header and more, that is no command, nor the beginning of one. */
static gboolean
is_telling_reply(WpBytes in)
{
	WpRespElement element;
	if (wp_resp_element(in, &element) != WP_DECODE_OK || element.is_null)
		return FALSE;
	if (element.type == '$')
		return element.length <= in.length;
	WpBytes nested = wp_bytes(in.data + element.line, in.length - element.line);
	return strchr("*%~>", element.type) && element.number > 0 &&
	       begins_reply(nested) == WP_DECODE_OK && begins_request(in) == WP_DECODE_BAD;
}

/* Which side is which is known, so an array of the client is a command. */
static WpProbeVerdict
probe_from_start(const WpProbe *probe)
{
	WpDecodeStatus client = begins_request(probe->client);
	gboolean is_line = client == WP_DECODE_BAD && is_known_line(probe->client);
	if (is_line)
		client = WP_DECODE_OK;
	gboolean is_telling = is_telling_reply(probe->server);
	return wp_probe_verdict(probe, client, begins_reply(probe->server),
				(WpProbeVerdicts){
					.client = is_line ? WP_PROBE_MAYBE : WP_PROBE_SURE,
					.server = is_telling ? WP_PROBE_LIKELY : WP_PROBE_MAYBE,
					.both = is_line ? WP_PROBE_LIKELY : WP_PROBE_SURE,
				});
}

/* TRUE where a value begins that no client sends: commands are arrays, or lines of a word. */
static gboolean
is_only_reply(WpBytes in)
{
	static const char types[] = "+-:$_#,(!=%~>|";
	return in.length && memchr(types, in.data[0], sizeof types - 1) != NULL;
}

/* In mid-stream the sides may be mistaken for each other: what could be either side's is no sign. */
static WpProbeVerdict
redis_probe(const WpProbe *probe)
{
	if (probe->from_start)
		return probe_from_start(probe);
	if (is_sure_request(probe->server) || is_only_reply(probe->client) ||
	    wp_bytes_starts(&probe->server, "+OK ", 4)) /* POP3 says more than that */
		return WP_PROBE_NO;
	gboolean is_sure = is_sure_request(probe->client);
	gboolean is_telling = is_telling_reply(probe->server);
	gboolean is_either = begins_request(probe->server) == WP_DECODE_OK;
	return wp_probe_verdict(probe, begins_request(probe->client), begins_reply(probe->server),
				(WpProbeVerdicts){
					.client = is_sure ? WP_PROBE_SURE : WP_PROBE_MAYBE,
					.server = is_telling ? WP_PROBE_LIKELY : WP_PROBE_MAYBE,
					.both = is_sure     ? WP_PROBE_SURE
						: is_either ? WP_PROBE_MAYBE
							    : WP_PROBE_LIKELY,
				});
}

static const guint16 redis_ports[] = { 6379, 6380, 16379, 26379, 0 };

const WpDecoder wp_decoder_redis = {
	.name = "redis",
	.summary = "Redis and what speaks its protocol, RESP 2 and 3",
	.transports = WP_TRANSPORT_TCP,
	.ports = redis_ports,
	.state_size = sizeof(RedisState),
	.probe = redis_probe,
	.decode = redis_decode,
	.sync = redis_sync,
	.lost = redis_lost,
};
