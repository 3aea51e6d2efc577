/*
 * PostgreSQL, protocol version 3 (also what pgbouncer, CockroachDB and others speak). Source:
 * PostgreSQL manual, chapter 55, 55.2 (message flow) above all.
 *
 *   client  |Parse Bind Execute Sync|                          |Query|
 *   server                           |1 2 T D D C ReadyForQuery|      |T D C ReadyForQuery|
 *           |<-------- call ------->||<-------- return ------->|
 *
 * A call is all that the client sends up to Sync, Query or FunctionCall, and each of these three is
 * answered by one ReadyForQuery, in order; so several calls may be outstanding (pipelines). What the
 * server sends after a Flush is the begin of the return.
 *  - Start-up to the first ReadyForQuery is one exchange, marked as set-up; passwords belong to it.
 *  - COPY data belongs to no message; the Sync that ends COPY in the extended protocol asks for nothing
 *    (the server ignored the one sent with the COPY).
 *  - Notices, parameters and notifications that come when nothing was asked belong to no call; a
 *    notification is then a message of its own.
 *  - A call that only prepares has the label PREPARE and what it prepared; an execution that of its
 *    statement.
 */
#include <string.h>

#include "capture/decoders.h"
#include "capture/label.h"
#include "capture/pgsql.h"
#include "capture/sql.h"
#include "capture/statements.h"

/* Bytes of an error or a parameter that are looked at: the severity, one known name. */
#define LOOK_BYTES 128

/*
 * A pause of the client after the answer to a Flush, in ns, that ends a call: far over what a program
 * needs to go on with what it prepared, and little beside the times that matter.
 */
#define FLUSH_PAUSE_NS (10 * G_GINT64_CONSTANT(1000000))

/* What a pending call is; its note. */
enum {
	NOTE_CALL,
	NOTE_STARTUP,
	NOTE_SSL,
	NOTE_GSS
};

/* How much a label says; a better one replaces it. */
typedef enum {
	LABEL_NONE,
	LABEL_MINOR,
	LABEL_FULL
} LabelRank;

typedef struct {
	WpMessage call;   /* of the client */
	WpMessage bye;    /* Terminate */
	WpMessage reply;  /* of the server */
	WpMessage notice; /* a notification outside of replies */
	WpStatements statements;
	guint dialect_bits;   /* beyond WP_SQL_POSTGRES */
	gint64 answered_ns;   /* when the server last sent something */
	gboolean is_asking;   /* part of a call was seen, and nothing of the server since */
	gboolean misses_rest; /* ... and a hole in it */
	gboolean ends_copy;   /* the last message of the client was CopyDone or CopyFail */

	/* Of the open call. */
	LabelRank rank;
	gboolean has_parse;
	gboolean has_execute;
	gboolean has_describe;
	gboolean has_close;
	gsize text_length;
	char text[WP_LABEL_MAX + 1]; /* label of what was prepared first */
} State;

typedef struct {
	State *state;
	WpDecodeContext *context;
	WpBytes body; /* as far as it is there and looked at */
	gsize length; /* of the whole message */
	WpUnit *unit;
} Message;

static void
set_label(WpDecodeContext *context, WpMessage *message, const char *label)
{
	message->label = wp_decode_label(context, label, strlen(label));
}

/* --- client --- */

/* What a call did, where no statement of it was executed, or none that is known. */
static void
label_call(Message *m)
{
	State *state = m->state;
	static const char prepare[] = "PREPARE ";
	char label[sizeof prepare + WP_LABEL_MAX];
	if (state->has_parse && !state->has_execute) {
		memcpy(label, prepare, sizeof prepare - 1);
		memcpy(label + sizeof prepare - 1, state->text, state->text_length);
		state->call.label =
			wp_decode_label(m->context, label, sizeof prepare - 1 + state->text_length);
	} else if (state->call.label == 0) {
		set_label(m->context, &state->call,
			  state->has_execute    ? "EXECUTE"
			  : state->has_describe ? "DESCRIBE"
			  : state->has_close    ? "CLOSE"
						: "SYNC");
	}
}

/*
 * What was sent with a Flush has been answered, and then the client took its time: it was a call of its
 * own (asyncpg's prepare). A client that goes on at once is still in the same call.
 */
static void
end_flushed_call(Message *m)
{
	State *state = m->state;
	if (!state->call.is_open || !state->reply.is_open || state->ends_copy ||
	    wp_decode_time(m->context) - state->answered_ns < FLUSH_PAUSE_NS)
		return;
	label_call(m);
	state->reply.status =
		(guint8)(state->reply.status == WP_STATUS_UNKNOWN ? WP_STATUS_OK
								  : state->reply.status);
	wp_decode_emit(m->context, &state->call);
	wp_decode_emit(m->context, &state->reply);
}

/* The message belongs to a call; begins one where none is open. */
static void
join_call(Message *m)
{
	State *state = m->state;
	end_flushed_call(m);
	m->unit->extends = &state->call;
	state->is_asking = TRUE;
	if (state->call.is_open)
		return;
	m->unit->opens = &state->call;
	state->call.kind = WP_KIND_CALL;
	state->call.note = NOTE_CALL;
	state->rank = LABEL_NONE;
	state->has_parse = state->has_execute = FALSE;
	state->has_describe = state->has_close = FALSE;
	state->text_length = 0;
}

static void
offer_label(State *state, guint32 label, LabelRank rank)
{
	if (label == 0 || rank <= state->rank)
		return;
	state->call.label = label;
	state->rank = rank;
}

/* Portals and statements have names of their own. */
static guint64
name_key(char kind, const char *name, gsize length)
{
	guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325) ^ (guchar)kind;
	for (gsize i = 0; i < length; i++) /* FNV-1a */
		hash = (hash ^ (guchar)name[i]) * G_GUINT64_CONSTANT(0x100000001b3);
	return hash;
}

static guint64
read_key(Message *m, char kind)
{
	gsize length;
	const char *name = wp_pgsql_text(&m->body, &length);
	return name_key(kind, name, length);
}

/* SQL at the cursor: its label to BUFFER, and its tokens to the call. */
static LabelRank
read_sql(Message *m, char buffer[WP_LABEL_MAX + 1])
{
	State *state = m->state;
	guint dialect = WP_SQL_POSTGRES | state->dialect_bits;
	gsize length;
	gboolean is_minor;
	const char *sql = wp_pgsql_text(&m->body, &length);
	gsize n = wp_label_sql(sql, length, dialect, buffer, WP_LABEL_MAX + 1, &is_minor);
	wp_sql_add_tokens(m->context, &state->call, dialect, sql, length);
	return n == 0 ? LABEL_NONE : is_minor ? LABEL_MINOR : LABEL_FULL;
}

static void
handle_query(Message *m)
{
	char label[WP_LABEL_MAX + 1];
	join_call(m);
	m->state->rank = LABEL_NONE; /* it says more than what was prepared on the way */
	LabelRank rank = read_sql(m, label);
	offer_label(m->state, wp_decode_label(m->context, label, strlen(label)), rank);
	if (m->state->call.label == 0)
		set_label(m->context, &m->state->call, "QUERY");
	if (g_str_has_prefix(label, "START_REPLICATION"))
		m->state->call.marks |= WP_MARK_WAIT;
	m->unit->emits = &m->state->call;
}

static WpStatement *
put_statement(Message *m, guint64 key)
{
	gboolean has_forgotten;
	WpStatement *statement = wp_statements_put(&m->state->statements, key, &has_forgotten);
	if (has_forgotten)
		wp_decode_count(m->context, WP_COUNT_STATEMENTS_FORGOTTEN);
	return statement;
}

static void
handle_parse(Message *m)
{
	State *state = m->state;
	char label[WP_LABEL_MAX + 1];
	join_call(m);
	guint64 key = read_key(m, 'S');
	LabelRank rank = read_sql(m, label);
	WpStatement *statement = put_statement(m, key);
	statement->label = wp_decode_label(m->context, label, strlen(label));
	statement->is_minor = rank != LABEL_FULL;
	state->has_parse = TRUE;
	if (rank > state->rank) {
		state->text_length = strlen(label);
		memcpy(state->text, label, state->text_length);
	}
	offer_label(state, statement->label, rank);
}

static gboolean
is_text(const guint8 *data, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (data[i] < ' ' && !g_ascii_isspace((char)data[i]))
			return FALSE;
	return TRUE;
}

/*
 * A parameter's value. Its type is not known here, but text looks like text; a number of 4 or 8 bytes
 * and a UUID are hashed as they are written elsewhere.
 */
static void
add_value_tokens(Message *m, const guint8 *data, gsize length)
{
	char text[40];
	WpBytes value = wp_bytes(data, length);
	int n = 0;
	if (is_text(data, length)) {
		wp_decode_tokens(m->context, &m->state->call, data, length);
	} else if (length == 4) {
		n = g_snprintf(text, sizeof text, "%d", (gint32)wp_bytes_be32(&value));
	} else if (length == 8) {
		n = g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT,
			       (gint64)wp_bytes_be64(&value));
	} else if (length == 16) {
		for (guint i = 0; i < 16; i++)
			n += g_snprintf(text + n, sizeof text - n,
					i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
					data[i]);
	}
	if (n > 0)
		wp_decode_tokens(m->context, &m->state->call, (const guint8 *)text, n);
}

/* portal, statement, formats, values */
static void
handle_bind(Message *m)
{
	State *state = m->state;
	join_call(m);
	gsize portal_length;
	const char *portal = wp_pgsql_text(&m->body, &portal_length);
	const WpStatement *known = wp_statements_find(&state->statements, read_key(m, 'S'));
	if (known) {
		WpStatement statement = *known;
		offer_label(state, statement.label, statement.is_minor ? LABEL_MINOR : LABEL_FULL);
		if (portal_length > 0)
			*put_statement(m, name_key('P', portal, portal_length)) = statement;
	}
	guint n_formats = wp_bytes_be16(&m->body);
	wp_bytes_skip(&m->body, n_formats * (gsize)2);
	for (guint n = wp_bytes_be16(&m->body); n > 0 && !m->body.failed; n--) {
		guint32 length = wp_bytes_be32(&m->body);
		if (length == G_MAXUINT32)
			continue; /* NULL */
		const guint8 *data = wp_bytes_take(&m->body, length);
		if (data)
			add_value_tokens(m, data, length);
	}
}

/* portal, rows; more rows of a portal that was bound before are part of its statement's work. */
static void
handle_execute(Message *m)
{
	join_call(m);
	m->state->has_execute = TRUE;
	const WpStatement *portal = wp_statements_find(&m->state->statements, read_key(m, 'P'));
	if (portal)
		offer_label(m->state, portal->label, portal->is_minor ? LABEL_MINOR : LABEL_FULL);
}

static void
handle_describe(Message *m)
{
	join_call(m);
	m->state->has_describe = TRUE;
}

static void
handle_close(Message *m)
{
	join_call(m);
	m->state->has_close = TRUE;
	char kind = (char)wp_bytes_u8(&m->body);
	wp_statements_remove(&m->state->statements, read_key(m, kind));
}

static void
handle_flush(Message *m)
{
	join_call(m);
}

static void
handle_sync(Message *m)
{
	if (m->state->ends_copy && !m->state->call.is_open)
		return;
	join_call(m);
	label_call(m);
	m->unit->emits = &m->state->call;
}

static void
handle_function_call(Message *m)
{
	join_call(m);
	set_label(m->context, &m->state->call, "FUNCTION");
	m->unit->emits = &m->state->call;
}

static void
handle_terminate(Message *m)
{
	WpMessage *bye = &m->state->bye;
	if (m->state->call.is_open)
		m->unit->emits_first = &m->state->call;
	bye->no_return = TRUE;
	bye->marks = WP_MARK_SETUP;
	set_label(m->context, bye, "(terminate)");
	m->unit->opens = m->unit->emits = bye;
}

/* COPY data and passwords: no message of their own, but inside of a call they belong to it. */
static void
handle_data(Message *m)
{
	if (m->state->call.is_open)
		m->unit->extends = &m->state->call;
}

typedef struct {
	char type;
	gsize look; /* bytes of the body that are needed */
	void (*handle)(Message *m);
} Handler;

static const Handler client_handlers[] = {
	{ 'Q', WP_SQL_LOOK_BYTES, handle_query },
	{ 'P', WP_SQL_LOOK_BYTES, handle_parse },
	{ 'B', WP_SQL_LOOK_BYTES, handle_bind },
	{ 'E', LOOK_BYTES, handle_execute },
	{ 'D', 0, handle_describe },
	{ 'S', 0, handle_sync },
	{ 'C', LOOK_BYTES, handle_close },
	{ 'H', 0, handle_flush },
	{ 'F', 0, handle_function_call },
	{ 'X', 0, handle_terminate },
	{ 'd', 0, handle_data },
	{ 'c', 0, handle_data },
	{ 'f', 0, handle_data },
	{ 'p', 0, handle_data },
	{ 0, 0, NULL },
};

/* The messages that begin a connection have no type. */
static WpDecodeStatus
decode_start(State *state, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	static const struct {
		const char *label;
		guint32 note;
		guint8 marks;
		gboolean no_return;
	} kinds[] = {
		[WP_PGSQL_STARTUP] = { "(startup)", NOTE_STARTUP, WP_MARK_SETUP, FALSE },
		[WP_PGSQL_CANCEL] = { "CANCEL", NOTE_CALL, 0, TRUE },
		[WP_PGSQL_SSL] = { "(ssl)", NOTE_SSL, WP_MARK_SETUP, FALSE },
		[WP_PGSQL_GSS] = { "(gss)", NOTE_GSS, WP_MARK_SETUP, FALSE },
	};
	WpPgsqlStart start;
	WpDecodeStatus status = wp_pgsql_start(in, &unit->length, &start);
	if (status != WP_DECODE_OK)
		return status;
	state->call.kind = WP_KIND_CALL;
	state->call.note = kinds[start].note;
	state->call.marks = kinds[start].marks;
	state->call.no_return = kinds[start].no_return;
	set_label(context, &state->call, kinds[start].label);
	unit->opens = unit->emits = &state->call;
	return WP_DECODE_OK;
}

/* --- server --- */

static gboolean
is_asked(const Message *m)
{
	return m->state->reply.is_open || m->state->call.is_open ||
	       wp_decode_n_pending(m->context) > 0;
}

static void
join_reply(Message *m)
{
	m->unit->extends = &m->state->reply;
	if (m->state->reply.is_open)
		return;
	m->state->reply.kind = WP_KIND_RETURN;
	m->unit->opens = &m->state->reply;
}

static void
handle_answer(Message *m)
{
	join_reply(m);
}

static void
handle_ready(Message *m)
{
	join_reply(m);
	if (m->state->reply.status == WP_STATUS_UNKNOWN)
		m->state->reply.status = WP_STATUS_OK;
	m->unit->emits = &m->state->reply;
}

/* The severity, in English where the server is new enough to send it so too (field V, 9.6). */
static gboolean
is_fatal(WpBytes body)
{
	gboolean fatal = FALSE;
	for (guint8 code = wp_bytes_u8(&body); code != 0; code = wp_bytes_u8(&body)) {
		gsize length;
		const char *text = wp_pgsql_text(&body, &length);
		if (body.failed)
			break;
		if (code == 'S' || code == 'V')
			fatal = strcmp(text, "FATAL") == 0 || strcmp(text, "PANIC") == 0;
	}
	return fatal;
}

/* A fatal error ends the connection, and what was asked, without ReadyForQuery. */
static void
handle_error(Message *m)
{
	if (!is_asked(m))
		return;
	join_reply(m);
	m->state->reply.status = WP_STATUS_ERROR;
	if (is_fatal(m->body))
		m->unit->emits = &m->state->reply;
}

static void
handle_notice(Message *m)
{
	if (is_asked(m))
		join_reply(m);
}

/* A server that takes \ in literals as an escape says so at the start, and at each change. */
static void
handle_parameter(Message *m)
{
	gsize name_length, value_length;
	const char *name = wp_pgsql_text(&m->body, &name_length);
	const char *value = wp_pgsql_text(&m->body, &value_length);
	if (!m->body.failed && strcmp(name, "standard_conforming_strings") == 0)
		m->state->dialect_bits = strcmp(value, "off") == 0 ? WP_SQL_BACKSLASH : 0;
	if (m->state->reply.is_open)
		m->unit->extends = &m->state->reply;
}

/* process (4), channel, payload */
static void
handle_notification(Message *m)
{
	static const char verb[] = "NOTIFY ";
	WpMessage *notice = &m->state->notice;
	if (m->state->reply.is_open) {
		m->unit->extends = &m->state->reply;
		return;
	}
	char sql[sizeof verb + LOOK_BYTES], label[WP_LABEL_MAX + 1];
	gsize length;
	wp_bytes_skip(&m->body, 4);
	const char *channel = wp_pgsql_text(&m->body, &length);
	length = MIN(length, LOOK_BYTES);
	memcpy(sql, verb, sizeof verb - 1);
	if (length > 0)
		memcpy(sql + sizeof verb - 1, channel, length);
	wp_label_sql(sql, sizeof verb - 1 + length, WP_SQL_POSTGRES, label, sizeof label, NULL);
	set_label(m->context, notice, label);
	notice->kind = WP_KIND_MESSAGE;
	wp_decode_tokens(m->context, notice, m->body.data + m->body.at, wp_bytes_left(&m->body));
	m->unit->opens = m->unit->emits = notice;
}

static const Handler server_handlers[] = {
	{ 'Z', 0, handle_ready },
	{ 'E', LOOK_BYTES, handle_error },
	{ 'N', 0, handle_notice },
	{ 'S', LOOK_BYTES, handle_parameter },
	{ 'A', LOOK_BYTES, handle_notification },
	{ 0, 0, handle_answer }, /* all others */
};

/* The answer to a request for encryption is a single byte. */
static WpDecodeStatus
decode_encryption(State *state, guint32 note, guint8 answer, WpUnit *unit)
{
	gboolean accepts = answer == (note == NOTE_SSL ? 'S' : 'G');
	if (!accepts && answer != 'N')
		return WP_DECODE_BAD;
	state->reply.kind = WP_KIND_RETURN;
	state->reply.status = WP_STATUS_OK;
	unit->length = 1;
	unit->opens = unit->emits = &state->reply;
	if (accepts)
		unit->becomes = note == NOTE_SSL ? &wp_decoder_tls : &wp_decoder_generic;
	return WP_DECODE_OK;
}

/* --- the decoder --- */

/* The server sends: what the client sends next is a call of its own. */
static void
note_answer(State *state)
{
	state->is_asking = state->misses_rest = FALSE;
}

static const Handler *
find_handler(const Handler *handlers, char type)
{
	while (handlers->type && handlers->type != type)
		handlers++;
	return handlers;
}

static WpDecodeStatus
decode_message(Message *m, WpDirection direction, WpBytes in)
{
	char type;
	WpDecodeStatus status = wp_pgsql_head(in, direction, &type, &m->length);
	if (status != WP_DECODE_OK) {
		m->unit->need = WP_PGSQL_HEAD;
		return status;
	}
	const Handler *handler =
		find_handler(direction == WP_FROM_CLIENT ? client_handlers : server_handlers, type);
	gsize need = MIN(m->length, WP_PGSQL_HEAD + handler->look);
	m->unit->length = m->length;
	if (in.length < need) {
		m->unit->need = need;
		if (!wp_decode_is_cut(m->context))
			return WP_DECODE_MORE;
		need = in.length;
	}
	m->body = wp_bytes(in.data + WP_PGSQL_HEAD, need - WP_PGSQL_HEAD);
	handler->handle(m);
	if (direction == WP_FROM_SERVER) {
		m->state->answered_ns = wp_decode_time(m->context);
		note_answer(m->state);
	} else {
		m->state->ends_copy = type == 'c' || type == 'f';
	}
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode(void *user_state, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = user_state;
	Message m = { .state = state, .context = context, .unit = unit };
	guint32 note = NOTE_CALL;
	guint8 first = wp_bytes_left(&in) > 0 ? in.data[in.at] : 0;
	if (direction == WP_FROM_CLIENT && first == 0)
		return decode_start(state, context, in, unit);
	if (direction == WP_FROM_SERVER && !state->reply.is_open && first != 'E' &&
	    wp_decode_pending(context, &note) && (note == NOTE_SSL || note == NOTE_GSS))
		return decode_encryption(state, note, first, unit);
	return decode_message(&m, direction, in);
}

static WpDecodeStatus
sync_at(void *user_state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	State *state = user_state;
	gsize length;
	WpPgsqlStart start;
	if (direction == WP_FROM_SERVER)
		note_answer(state);
	else if (state->misses_rest) /* a call of several messages goes on behind the hole */
		return WP_DECODE_BAD;
	if (direction == WP_FROM_CLIENT && wp_bytes_left(&in) > 0 && in.data[in.at] == 0)
		return wp_pgsql_start(in, &length, &start);
	WpProbeVerdict verdict = wp_pgsql_judge(in, direction);
	/* Of what a hole cuts, a head and a body that may be its: no more of it will come. */
	if (verdict == WP_PROBE_MAYBE && wp_decode_is_cut(context))
		return wp_bytes_left(&in) > WP_PGSQL_HEAD ? WP_DECODE_OK : WP_DECODE_BAD;
	if (verdict == WP_PROBE_MAYBE && wp_bytes_left(&in) < LOOK_BYTES)
		return WP_DECODE_MORE;
	return verdict >= WP_PROBE_LIKELY ? WP_DECODE_OK : WP_DECODE_BAD;
}

static void
lost(void *user_state, WpDecodeContext *context, WpDirection direction)
{
	State *state = user_state;
	if (direction == WP_FROM_CLIENT) {
		state->call = (WpMessage){ 0 };
		state->ends_copy = FALSE;
		state->misses_rest = state->is_asking;
	} else {
		state->reply = (WpMessage){ 0 };
		note_answer(state);
	}
}

static void
clear(void *user_state)
{
	State *state = user_state;
	wp_statements_clear(&state->statements);
}

/* What a client that opens a connection sends first. */
static WpProbeVerdict
probe_start(WpBytes in)
{
	gsize length;
	WpPgsqlStart start;
	switch (wp_pgsql_start(in, &length, &start)) {
	case WP_DECODE_OK:
		return WP_PROBE_SURE;
	case WP_DECODE_MORE:
		return WP_PROBE_MORE;
	default:
		return WP_PROBE_NO;
	}
}

static WpProbeVerdict
probe_side(WpBytes in, WpDirection from)
{
	return wp_bytes_left(&in) < WP_PGSQL_HEAD ? WP_PROBE_MORE : wp_pgsql_judge(in, from);
}

static WpProbeVerdict
probe(const WpProbe *p)
{
	gboolean has_client = wp_bytes_left(&p->client) > 0;
	gboolean has_server = wp_bytes_left(&p->server) > 0;
	if (has_client && (p->from_start || p->client.data[p->client.at] == 0))
		return probe_start(p->client);
	WpProbeVerdict client = has_client ? probe_side(p->client, WP_FROM_CLIENT) : WP_PROBE_MORE;
	WpProbeVerdict server = has_server ? probe_side(p->server, WP_FROM_SERVER) : WP_PROBE_MORE;
	if (client == WP_PROBE_NO || server == WP_PROBE_NO)
		return WP_PROBE_NO;
	if (client == WP_PROBE_LIKELY && server == WP_PROBE_LIKELY)
		return WP_PROBE_SURE;
	return MAX(client, server);
}

static const guint16 ports[] = { 5432, 5433, 6432, 26257, 0 };

const WpDecoder wp_decoder_pgsql = {
	.name = "pgsql",
	.summary = "PostgreSQL 3: queries, prepared statements, pipelines, COPY",
	.transports = WP_TRANSPORT_TCP,
	.ports = ports,
	.state_size = sizeof(State),
	.probe = probe,
	.decode = decode,
	.sync = sync_at,
	.lost = lost,
	.clear = clear,
};
