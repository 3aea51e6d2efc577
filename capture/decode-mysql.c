/*
 * MySQL and MariaDB, the classic protocol. Sources as in mysql.c.
 *
 *   server |greeting|       |OK|         |count, columns, EOF, rows, EOF|          |OK|
 *   client          |login|     |QUERY|                                  |PREPARE|      ...
 *          message   call   ret  call     return
 *          (set-up)  (set-up)
 *
 * A client packet of sequence 0 begins a command, and each command is answered before the next (but
 * drivers may send several at once). Where a reply ends its packets tell (mysql-reply.h). Where they do
 * not, and in the compressed protocol, of which only the begin of each command and reply is unpacked,
 * the return ends with the last byte before the client's next command.
 */
#include <string.h>

#include "capture/decoders.h"
#include "capture/label.h"
#include "capture/mysql-reply.h"
#include "capture/sql.h"
#include "capture/statements.h"

enum {
	LOOK_GREETING = 160, /* of a greeting: up to the capabilities, behind a version */
	LOOK_LOGIN = 36,     /* of a login: capabilities and what must be 0 */
	LOOK_SMALL = 9,      /* of commands without text */
	LOOK_FRAME = 16384   /* of a compressed frame: what makes 8 KiB of SQL at the least */
};

typedef struct {
	WpMessage call;
	WpMessage bye; /* of the client, without answer */
	WpMessage reply;
	WpMessage greeting;
	WpStatements statements;
	WpMysqlReply progress;       /* of the reply at hand */
	guint32 last_prepared;       /* label */
	guint32 server_capabilities; /* 0 where the greeting was not seen */
	gboolean has_login;
	gboolean is_compressed;
	gboolean continues;       /* the client's next packet continues the one before, */
	gboolean is_answered;     /* which belongs to a call with an answer */
	gboolean sends_file;      /* LOCAL INFILE, up to an empty packet */
	gsize frame_left;         /* compressed: bytes of the command still to come */
	guint8 sequence;          /* of the server's next packet */
	gboolean reply_continues; /* it continues the one before */
	gboolean ends_by_turn;    /* the reply may be complete */
} State;

/* A packet: its first bytes, and what it is. */
typedef struct {
	State *state;
	WpDecodeContext *context;
	WpUnit *unit;
	WpBytes payload; /* as far as it is looked at */
	gsize length;    /* of the payload */
	guint8 sequence;
} Packet;

/* The server says in each OK what of the usual dialect does not hold. */
static guint
dialect_of(const State *state)
{
	guint16 status = state->progress.status;
	return WP_SQL_MYSQL & ~((status & WP_MYSQL_NO_BACKSLASH ? WP_SQL_BACKSLASH : 0) |
				(status & WP_MYSQL_ANSI_QUOTES ? WP_SQL_DOUBLE_TEXT : 0));
}

/* --- notes: command and label of a pending call --- */

#define LABEL_BITS 24

static guint32
make_note(guint8 command, guint32 label)
{
	return (guint32)command << LABEL_BITS | (label >> LABEL_BITS ? 0 : label);
}

static guint32
note_label(guint32 note)
{
	return note & ((1u << LABEL_BITS) - 1);
}

/* --- client --- */

static guint32
intern(Packet *p, const char *text)
{
	return wp_decode_label(p->context, text, strlen(text));
}

/* SQL at the cursor: labels CALL (with BEFORE in front), returns the label without it. */
static guint32
label_sql(Packet *p, WpMessage *call, const char *before)
{
	guint dialect = dialect_of(p->state);
	char buffer[32 + WP_LABEL_MAX + 1];
	gsize n_before = g_strlcpy(buffer, before, sizeof buffer);
	wp_mysql_skip_attributes(&p->payload, p->state->progress.capabilities);
	const char *sql = (const char *)p->payload.data + p->payload.at;
	gsize length = wp_bytes_left(&p->payload);
	gsize n = wp_label_sql(sql, length, dialect, buffer + n_before, WP_LABEL_MAX + 1, NULL);
	wp_sql_add_tokens(p->context, call, dialect, sql, length);
	if (n == 0)
		return 0;
	call->label = wp_decode_label(p->context, buffer, n_before + n);
	return wp_decode_label(p->context, buffer + n_before, n);
}

/* The statement that the command names labels it. */
static void
label_statement(Packet *p, WpMessage *call, const WpMysqlCommand *command)
{
	enum {
		COMMAND_EXECUTE = 0x17
	};
	WpBytes body = p->payload;
	guint32 number = wp_bytes_le32(&body);
	WpStatement *statement = wp_statements_find(&p->state->statements, number);
	if (command->answer != WP_MYSQL_RESULT && command->answer != WP_MYSQL_ROWS)
		return;
	if (number == WP_MYSQL_LAST_STATEMENT && p->state->last_prepared)
		call->label = p->state->last_prepared;
	if (!statement)
		return;
	if (statement->label)
		call->label = statement->label;
	if (command->number == COMMAND_EXECUTE)
		wp_mysql_add_parameter_tokens(p->context, call, p->payload,
					      p->state->progress.capabilities, statement);
}

/* The command byte has been read: fills CALL. */
static void
describe_command(Packet *p, WpMessage *call, const WpMysqlCommand *command)
{
	enum {
		COMMAND_CLOSE = 0x19
	};
	guint32 label = 0;
	call->marks = command->marks;
	call->label = intern(p, command->label);
	call->no_return = command->answer == WP_MYSQL_NO_ANSWER;
	if (command->body == WP_MYSQL_BODY_SQL) {
		gboolean prepares = command->answer == WP_MYSQL_PREPARE;
		label = label_sql(p, call, prepares ? "PREPARE " : "");
		if (prepares)
			p->state->last_prepared = label;
	} else if (command->body == WP_MYSQL_BODY_STATEMENT) {
		label_statement(p, call, command);
	}
	if (command->number == COMMAND_CLOSE)
		wp_statements_remove(&p->state->statements, wp_bytes_le32(&p->payload));
	call->note = make_note(command->number, label);
}

/* A new command ends a reply that may have been complete. */
static void
end_turn(Packet *p)
{
	if (!p->state->ends_by_turn || !p->state->reply.is_open)
		return;
	p->state->ends_by_turn = FALSE;
	p->unit->emits_first = &p->state->reply;
}

/* Begins the message of a command; returns where it is kept. */
static WpMessage *
open_command(Packet *p, const WpMysqlCommand *command)
{
	State *state = p->state;
	WpMessage *call = command->answer == WP_MYSQL_NO_ANSWER ? &state->bye : &state->call;
	*call = (WpMessage){ 0 };
	end_turn(p);
	state->is_answered = call == &state->call;
	p->unit->opens = p->unit->extends = call;
	return call;
}

/* Bytes of a command's body that must be there before it can be described. */
static gsize
look_of(const WpMysqlCommand *command)
{
	gboolean has_text =
		command->body == WP_MYSQL_BODY_SQL || command->answer == WP_MYSQL_RESULT;
	return has_text ? WP_SQL_LOOK_BYTES : LOOK_SMALL;
}

/*
 * Cuts the payload to what is looked at: MOST bytes. FALSE where they have not all come: then OUT says
 * MORE, but for a packet that a hole cuts, of which what is there has to do.
 */
static gboolean
has_look(Packet *p, WpBytes in, gsize most)
{
	gsize need = WP_MYSQL_HEAD + MIN(p->length, most);
	p->unit->length = WP_MYSQL_HEAD + p->length;
	if (in.length < need && !wp_decode_is_cut(p->context)) {
		p->unit->need = need;
		return FALSE;
	}
	if (in.length < need)
		need = in.length;
	p->payload = wp_bytes(in.data + WP_MYSQL_HEAD, need - WP_MYSQL_HEAD);
	return TRUE;
}

static WpDecodeStatus
decode_command(Packet *p, WpBytes in)
{
	if (p->length == 0)
		return WP_DECODE_BAD;
	if (!has_look(p, in, 1))
		return WP_DECODE_MORE;
	const WpMysqlCommand *command = wp_mysql_command(wp_bytes_u8(&p->payload));
	if (!command || command->number == WP_MYSQL_COMMAND_LOGIN || p->payload.failed ||
	    p->length - 1 < command->least)
		return WP_DECODE_BAD;
	if (!has_look(p, in, 1 + look_of(command)))
		return WP_DECODE_MORE;
	p->payload = wp_bytes(p->payload.data + 1, p->payload.length - 1);
	WpMessage *call = open_command(p, command);
	describe_command(p, call, command);
	p->state->has_login = TRUE;
	p->state->continues = p->length == WP_MYSQL_CONTINUED;
	if (!p->state->continues)
		p->unit->emits = call;
	return WP_DECODE_OK;
}

/* Neither command nor login: answers to the server's questions at login, a file, continued packets. */
static WpDecodeStatus
decode_rest(Packet *p)
{
	State *state = p->state;
	WpMessage *message = state->is_answered ? &state->call : &state->bye;
	p->unit->length = WP_MYSQL_HEAD + p->length;
	state->sequence = (guint8)(p->sequence + 1);
	if (state->continues && message->is_open) {
		state->continues = p->length == WP_MYSQL_CONTINUED;
		p->unit->extends = message;
		p->unit->emits = state->continues ? NULL : message;
	} else if (state->sends_file && p->length == 0) {
		state->sends_file = FALSE;
	}
	return WP_DECODE_OK;
}

/* The login, or the request for TLS before it, which has no user name and no answer. */
static WpDecodeStatus
decode_login(Packet *p, WpBytes in)
{
	enum {
		REQUEST_LENGTH = 32
	};
	State *state = p->state;
	if (!has_look(p, in, LOOK_LOGIN))
		return WP_DECODE_MORE;
	guint32 capabilities;
	if (!wp_mysql_login(p->payload, p->length, &capabilities))
		return wp_decode_from_start(p->context) ? WP_DECODE_BAD : decode_rest(p);
	gboolean is_request = p->length == REQUEST_LENGTH && (capabilities & WP_MYSQL_CAN_SSL);
	WpMessage *call = is_request ? &state->bye : &state->call;
	call->marks = WP_MARK_SETUP;
	call->no_return = is_request;
	call->label = intern(p, is_request ? "(ssl)" : "(login)");
	call->note = make_note(WP_MYSQL_COMMAND_LOGIN, 0);
	p->unit->opens = p->unit->emits = call;
	p->unit->becomes = is_request ? &wp_decoder_tls : NULL;
	state->has_login = TRUE;
	state->progress.capabilities = capabilities;
	if (state->server_capabilities) {
		state->progress.capabilities &= state->server_capabilities;
		state->progress.eof_style =
			state->progress.capabilities & WP_MYSQL_CAN_DEPRECATE_EOF
				? WP_MYSQL_EOF_OMITTED
				: WP_MYSQL_EOF_SENT;
	}
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_client(Packet *p, WpBytes in)
{
	if (p->state->continues || p->state->sends_file)
		return decode_rest(p);
	if (p->sequence == 0)
		return decode_command(p, in);
	return p->state->has_login ? decode_rest(p) : decode_login(p, in);
}

/* --- server --- */

static WpMysqlAnswer
answer_of(const Packet *p, guint32 *out_label)
{
	guint32 note;
	*out_label = 0;
	if (!wp_decode_pending(p->context, &note))
		return WP_MYSQL_RESULT; /* the call was not seen */
	const WpMysqlCommand *command = wp_mysql_command((guint8)(note >> LABEL_BITS));
	*out_label = note_label(note);
	return command ? command->answer : WP_MYSQL_RESULT;
}

/* The server has numbered a statement; executions name it so. */
static void
keep_statement(Packet *p, guint32 label)
{
	const WpMysqlReply *progress = &p->state->progress;
	gboolean has_forgotten;
	WpStatement *statement =
		wp_statements_put(&p->state->statements, progress->statement, &has_forgotten);
	if (has_forgotten)
		wp_decode_count(p->context, WP_COUNT_STATEMENTS_FORGOTTEN);
	statement->label = label;
	statement->n_params = progress->n_parameters;
}

static void
end_reply(Packet *p, WpStatus status)
{
	p->state->reply.status = (guint8)status;
	p->unit->emits = &p->state->reply;
}

static void
handle_reply(Packet *p)
{
	enum {
		COMPRESSIONS = WP_MYSQL_CAN_COMPRESS | WP_MYSQL_CAN_ZSTD
	};
	State *state = p->state;
	guint32 label;
	WpMysqlAnswer answer = answer_of(p, &label);
	switch (wp_mysql_reply_packet(&state->progress, answer, p->payload, p->length)) {
	case WP_MYSQL_STEP_ERROR:
		end_reply(p, WP_STATUS_ERROR);
		break;
	case WP_MYSQL_STEP_END:
		end_reply(p, WP_STATUS_OK);
		if (answer == WP_MYSQL_LOGIN)
			state->is_compressed = (state->progress.capabilities & COMPRESSIONS) != 0;
		break;
	case WP_MYSQL_STEP_MAYBE:
		state->reply.status = WP_STATUS_OK;
		state->ends_by_turn = TRUE;
		break;
	case WP_MYSQL_STEP_SEND_FILE:
		state->sends_file = TRUE;
		break;
	default:
		break;
	}
	if (state->progress.has_statement)
		keep_statement(p, label);
}

/* protocol 10, "5.", "8.", "10.": a greeting, as far as so few bytes can tell. */
static WpProbeVerdict
probe_version(WpBytes payload)
{
	if (wp_bytes_u8(&payload) != 10)
		return WP_PROBE_NO;
	for (guint digits = 0; wp_bytes_left(&payload) > 0 && digits < 3; digits++) {
		guint8 c = wp_bytes_u8(&payload);
		if (c == '.' && digits > 0)
			return WP_PROBE_SURE;
		if (!g_ascii_isdigit(c))
			return WP_PROBE_NO;
	}
	return wp_bytes_left(&payload) > 0 ? WP_PROBE_NO : WP_PROBE_MORE;
}

/* A greeting; of one that a hole cuts before its capabilities, these stay unknown. */
static gboolean
is_greeting(Packet *p)
{
	if (wp_mysql_is_greeting(p->payload, p->length, &p->state->server_capabilities))
		return TRUE;
	return wp_decode_is_cut(p->context) && p->payload.length < p->length &&
	       probe_version(p->payload) == WP_PROBE_SURE;
}

/* The first packet of a connection; FALSE where it is no greeting. */
static gboolean
take_greeting(Packet *p)
{
	WpMessage *greeting = &p->state->greeting;
	if (p->sequence != 0 || p->state->has_login)
		return FALSE;
	gboolean is_error = wp_mysql_is_error(p->payload, p->length);
	if (!is_error && !is_greeting(p))
		return FALSE;
	greeting->kind = WP_KIND_MESSAGE;
	greeting->marks = WP_MARK_SETUP;
	greeting->status = is_error ? WP_STATUS_ERROR : WP_STATUS_OK;
	greeting->label = intern(p, "(greeting)");
	p->unit->opens = p->unit->emits = greeting;
	return TRUE;
}

static void
open_reply(Packet *p)
{
	State *state = p->state;
	state->reply.kind = WP_KIND_RETURN;
	state->progress.state = WP_MYSQL_REPLY_FIRST;
	state->ends_by_turn = FALSE;
	p->unit->opens = &state->reply;
}

static WpDecodeStatus
decode_server(Packet *p, WpBytes in)
{
	State *state = p->state;
	gboolean may_greet = p->sequence == 0 && !state->has_login && !state->reply.is_open;
	if (!has_look(p, in, may_greet ? LOOK_GREETING : WP_MYSQL_REPLY_LOOK))
		return WP_DECODE_MORE;
	if (may_greet && take_greeting(p))
		return WP_DECODE_OK;
	if (!state->reply.is_open) {
		if (p->sequence == 0)
			return wp_mysql_is_error(p->payload, p->length)
				       ? WP_DECODE_OK /* "good-bye" */
				       : WP_DECODE_BAD;
		open_reply(p);
	} else if (p->sequence != state->sequence) {
		return WP_DECODE_BAD;
	}
	gboolean continues = state->reply_continues;
	state->sequence = (guint8)(p->sequence + 1);
	state->reply_continues = p->length == WP_MYSQL_CONTINUED;
	p->unit->extends = &state->reply;
	if (!continues)
		handle_reply(p);
	return WP_DECODE_OK;
}

/* --- compressed --- */

/* The command that begins in the frame, as far as it was unpacked. */
static WpDecodeStatus
begin_compressed(Packet *p, gsize unpacked, WpBytes inner)
{
	guint8 sequence;
	gsize length;
	if (wp_mysql_head(inner, &length, &sequence) != WP_DECODE_OK) {
		p->state->call = (WpMessage){ .label = intern(p, "QUERY") };
		end_turn(p);
		p->state->is_answered = TRUE;
		p->unit->opens = p->unit->emits = &p->state->call;
		return WP_DECODE_OK;
	}
	wp_bytes_skip(&inner, WP_MYSQL_HEAD);
	const WpMysqlCommand *command = wp_mysql_command(wp_bytes_u8(&inner));
	if (!command || command->number == WP_MYSQL_COMMAND_LOGIN)
		return WP_DECODE_BAD;
	p->payload = wp_bytes(inner.data + inner.at, wp_bytes_left(&inner));
	WpMessage *call = open_command(p, command);
	describe_command(p, call, command);
	gsize whole = WP_MYSQL_HEAD + length;
	p->state->frame_left = whole > unpacked ? whole - unpacked : 0;
	if (p->state->frame_left == 0)
		p->unit->emits = call;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_client_frame(Packet *p, gsize unpacked, WpBytes inner)
{
	State *state = p->state;
	WpMessage *message = state->is_answered ? &state->call : &state->bye;
	if (p->sequence == 0)
		return begin_compressed(p, unpacked, inner);
	if (!message->is_open)
		return WP_DECODE_OK;
	p->unit->extends = message;
	state->frame_left -= MIN(state->frame_left, unpacked);
	if (state->frame_left == 0)
		p->unit->emits = message;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_server_frame(Packet *p, WpBytes inner)
{
	State *state = p->state;
	guint32 label;
	gsize length;
	guint8 sequence;
	p->unit->extends = &state->reply;
	if (state->reply.is_open)
		return WP_DECODE_OK;
	open_reply(p);
	state->ends_by_turn = TRUE;
	state->reply.status = WP_STATUS_OK;
	if (wp_mysql_head(inner, &length, &sequence) != WP_DECODE_OK)
		return WP_DECODE_OK;
	p->length = length;
	p->payload = wp_bytes(inner.data + WP_MYSQL_HEAD, inner.length - WP_MYSQL_HEAD);
	if (wp_mysql_reply_packet(&state->progress, answer_of(p, &label), p->payload, length) ==
	    WP_MYSQL_STEP_ERROR)
		state->reply.status = WP_STATUS_ERROR;
	if (state->progress.has_statement)
		keep_statement(p, label);
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_frame(Packet *p, WpDirection direction, WpBytes in)
{
	guint8 buffer[WP_MYSQL_HEAD + 1 + WP_SQL_LOOK_BYTES];
	gsize need = WP_MYSQL_FRAME_HEAD + MIN(p->length, LOOK_FRAME);
	gboolean is_cut = wp_decode_is_cut(p->context);
	if (in.length < need && (!is_cut || in.length < WP_MYSQL_FRAME_HEAD)) {
		p->unit->need = need;
		return WP_DECODE_MORE;
	}
	need = MIN(need, in.length);
	p->unit->length = WP_MYSQL_FRAME_HEAD + p->length;
	WpBytes head = in;
	wp_bytes_skip(&head, WP_MYSQL_HEAD);
	gsize unpacked = wp_bytes_le24(&head);
	unpacked = unpacked ? unpacked : p->length;
	gsize n = 0;
	if (!(p->state->progress.capabilities & WP_MYSQL_CAN_ZSTD))
		n = wp_mysql_unpack(wp_bytes(in.data, need), buffer, sizeof buffer);
	return direction == WP_FROM_CLIENT ? decode_client_frame(p, unpacked, wp_bytes(buffer, n))
					   : decode_server_frame(p, wp_bytes(buffer, n));
}

/* --- the decoder --- */

static WpDecodeStatus
decode(void *user_state, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	Packet p = { .state = user_state, .context = context, .unit = unit };
	WpDecodeStatus status = wp_mysql_head(in, &p.length, &p.sequence);
	if (status != WP_DECODE_OK) {
		unit->need = WP_MYSQL_HEAD;
		return status;
	}
	if (p.state->is_compressed)
		return decode_frame(&p, direction, in);
	return direction == WP_FROM_CLIENT ? decode_client(&p, in) : decode_server(&p, in);
}

static WpDecodeStatus
sync_at(void *user_state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	enum {
		ENOUGH = 64
	}; /* bytes; what does not look right in so many does not later */
	State *state = user_state;
	gsize length;
	guint8 sequence;
	if (wp_mysql_head(in, &length, &sequence) != WP_DECODE_OK)
		return WP_DECODE_MORE;
	if (state->is_compressed)
		return wp_mysql_frame_begins(in, direction,
					     state->progress.capabilities & WP_MYSQL_CAN_ZSTD);
	gsize whole = WP_MYSQL_HEAD + length;
	WpProbeVerdict verdict = wp_mysql_judge(in, direction);
	if (verdict != WP_PROBE_MAYBE)
		return verdict == WP_PROBE_NO ? WP_DECODE_BAD : WP_DECODE_OK;
	gboolean is_small_command = direction == WP_FROM_CLIENT && wp_bytes_left(&in) == whole;
	if (wp_bytes_left(&in) < ENOUGH && !is_small_command)
		return WP_DECODE_MORE;
	return is_small_command ? WP_DECODE_OK : WP_DECODE_BAD;
}

static void
lost(void *user_state, WpDecodeContext *context, WpDirection direction)
{
	State *state = user_state;
	if (direction == WP_FROM_CLIENT) {
		state->call = state->bye = (WpMessage){ 0 };
		state->continues = state->sends_file = FALSE;
		state->frame_left = 0;
	} else {
		state->reply = (WpMessage){ 0 };
		state->reply_continues = state->ends_by_turn = FALSE;
	}
}

static void
finish(void *user_state, WpDecodeContext *context, WpDirection direction, WpFinish how,
       WpUnit *unit)
{
	State *state = user_state;
	if (direction == WP_FROM_SERVER && state->ends_by_turn && state->reply.is_open)
		unit->emits = &state->reply;
}

static void
clear(void *user_state)
{
	State *state = user_state;
	wp_statements_clear(&state->statements);
}

/* The first bytes of a greeting or login, as far as they are there: under 512 or 64 KiB, sequence. */
static gboolean
may_start(WpBytes in, WpDirection from)
{
	const guint8 *data = in.data + in.at;
	gsize n = wp_bytes_left(&in);
	guint8 most = from == WP_FROM_SERVER ? 1 : 0xff;
	guint8 sequence = from == WP_FROM_SERVER ? 0 : 1;
	return !((n > 1 && data[1] > most) || (n > 2 && data[2] != 0) ||
		 (n > 3 && data[3] != sequence));
}

/* The server speaks first; the client answers with sequence 1. */
static WpProbeVerdict
probe_start(WpBytes in, WpDirection from)
{
	gsize length = 0;
	guint8 sequence = 0;
	guint32 capabilities;
	if (!may_start(in, from))
		return WP_PROBE_NO;
	if (wp_mysql_head(in, &length, &sequence) != WP_DECODE_OK)
		return WP_PROBE_MORE;
	gsize there = wp_bytes_left(&in);
	WpBytes payload = wp_bytes(in.data + in.at + WP_MYSQL_HEAD, there - WP_MYSQL_HEAD);
	if (length < 8)
		return WP_PROBE_NO;
	if (payload.length == 0)
		return WP_PROBE_MORE;
	if (from == WP_FROM_SERVER && wp_mysql_is_error(payload, length))
		return WP_PROBE_MAYBE; /* refused */
	if (from == WP_FROM_SERVER)
		return probe_version(payload);
	if (there < WP_MYSQL_HEAD + MIN(LOOK_LOGIN, length))
		return WP_PROBE_MORE;
	return wp_mysql_login(payload, length, &capabilities) ? WP_PROBE_SURE : WP_PROBE_NO;
}

static WpProbeVerdict
probe(const WpProbe *p)
{
	gboolean has_client = wp_bytes_left(&p->client) > 0;
	gboolean has_server = wp_bytes_left(&p->server) > 0;
	if (p->from_start)
		return has_server   ? probe_start(p->server, WP_FROM_SERVER)
		       : has_client ? probe_start(p->client, WP_FROM_CLIENT)
				    : WP_PROBE_MORE;
	WpProbeVerdict client =
		has_client ? wp_mysql_judge(p->client, WP_FROM_CLIENT) : WP_PROBE_MORE;
	WpProbeVerdict server =
		has_server ? wp_mysql_judge(p->server, WP_FROM_SERVER) : WP_PROBE_MORE;
	if (has_server && probe_start(p->server, WP_FROM_SERVER) == WP_PROBE_SURE)
		return WP_PROBE_SURE;
	if (client == WP_PROBE_NO || server == WP_PROBE_NO)
		return WP_PROBE_NO;
	if (client == WP_PROBE_LIKELY && server == WP_PROBE_LIKELY)
		return WP_PROBE_SURE;
	return MAX(client, server);
}

static const guint16 ports[] = { 3306, 3307, 4000, 6033, 0 };

const WpDecoder wp_decoder_mysql = {
	.name = "mysql",
	.summary = "MySQL, MariaDB: queries, prepared statements, results, compression",
	.transports = WP_TRANSPORT_TCP,
	.ports = ports,
	.state_size = sizeof(State),
	.probe = probe,
	.decode = decode,
	.sync = sync_at,
	.lost = lost,
	.finish = finish,
	.clear = clear,
};
