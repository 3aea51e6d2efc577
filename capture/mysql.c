/*
 * MySQL and MariaDB packets. Sources: "MySQL Internals: Client/Server Protocol" (dev.mysql.com, source
 * documentation, PAGE_PROTOCOL); MariaDB knowledge base, "Client/Server Protocol".
 */
#include "capture/mysql.h"

#include <string.h>

#include "capture/label.h"
#include "capture/sql.h"
#include "capture/unpack.h"

enum {
	MAX_GUESSED = 16 << 20, /* a packet */
	MAX_COLUMNS = 4096,     /* of a table; MySQL's own limit */
	MAX_NAME = 256          /* where the place is a guess */
};

#define ANY (MAX_GUESSED)

static const WpMysqlCommand commands[] = {
	{ 0x01, "(quit)", WP_MYSQL_NO_ANSWER, WP_MYSQL_BODY_EMPTY, WP_MARK_SETUP, 0, 0 },
	{ 0x02, "INIT_DB", WP_MYSQL_ONE, WP_MYSQL_BODY_OTHER, 0, 0, 1024 },
	{ 0x03, "QUERY", WP_MYSQL_RESULT, WP_MYSQL_BODY_SQL, 0, 0, ANY },
	{ 0x04, "FIELD_LIST", WP_MYSQL_FIELDS, WP_MYSQL_BODY_OTHER, 0, 1, 2048 },
	{ 0x05, "CREATE_DB", WP_MYSQL_ONE, WP_MYSQL_BODY_OTHER, 0, 1, 1024 },
	{ 0x06, "DROP_DB", WP_MYSQL_ONE, WP_MYSQL_BODY_OTHER, 0, 1, 1024 },
	{ 0x07, "REFRESH", WP_MYSQL_ONE, WP_MYSQL_BODY_OTHER, 0, 1, 1 },
	{ 0x08, "SHUTDOWN", WP_MYSQL_ONE, WP_MYSQL_BODY_OTHER, 0, 0, 1 },
	{ 0x09, "STATISTICS", WP_MYSQL_ONE, WP_MYSQL_BODY_EMPTY, 0, 0, 0 },
	{ 0x0a, "PROCESS_INFO", WP_MYSQL_RESULT, WP_MYSQL_BODY_EMPTY, 0, 0, 0 },
	{ 0x0c, "PROCESS_KILL", WP_MYSQL_ONE, WP_MYSQL_BODY_OTHER, 0, 4, 4 },
	{ 0x0d, "DEBUG", WP_MYSQL_ONE, WP_MYSQL_BODY_EMPTY, 0, 0, 0 },
	{ 0x0e, "PING", WP_MYSQL_ONE, WP_MYSQL_BODY_EMPTY, 0, 0, 0 },
	{ 0x11, "CHANGE_USER", WP_MYSQL_LOGIN, WP_MYSQL_BODY_OTHER, WP_MARK_SETUP, 2, 65536 },
	{ 0x12, "BINLOG_DUMP", WP_MYSQL_STREAM, WP_MYSQL_BODY_OTHER, WP_MARK_WAIT, 10, 1024 },
	{ 0x13, "TABLE_DUMP", WP_MYSQL_STREAM, WP_MYSQL_BODY_OTHER, WP_MARK_WAIT, 2, 1024 },
	{ 0x15, "REGISTER_SLAVE", WP_MYSQL_ONE, WP_MYSQL_BODY_OTHER, 0, 17, 1024 },
	{ 0x16, "PREPARE", WP_MYSQL_PREPARE, WP_MYSQL_BODY_SQL, 0, 0, ANY },
	{ 0x17, "EXECUTE", WP_MYSQL_RESULT, WP_MYSQL_BODY_STATEMENT, 0, 9, ANY },
	{ 0x18, "SEND_LONG_DATA", WP_MYSQL_NO_ANSWER, WP_MYSQL_BODY_STATEMENT, 0, 6, ANY },
	{ 0x19, "CLOSE", WP_MYSQL_NO_ANSWER, WP_MYSQL_BODY_STATEMENT, 0, 4, 4 },
	{ 0x1a, "RESET", WP_MYSQL_ONE, WP_MYSQL_BODY_STATEMENT, 0, 4, 4 },
	{ 0x1b, "SET_OPTION", WP_MYSQL_ONE, WP_MYSQL_BODY_OTHER, 0, 2, 2 },
	{ 0x1c, "FETCH", WP_MYSQL_ROWS, WP_MYSQL_BODY_STATEMENT, 0, 8, 8 },
	{ 0x1e, "BINLOG_DUMP_GTID", WP_MYSQL_STREAM, WP_MYSQL_BODY_OTHER, WP_MARK_WAIT, 22, ANY },
	{ 0x1f, "RESET_CONNECTION", WP_MYSQL_ONE, WP_MYSQL_BODY_EMPTY, 0, 0, 0 },
	{ 0xfa, "BULK_EXECUTE", WP_MYSQL_RESULT, WP_MYSQL_BODY_STATEMENT, 0, 6, ANY },
	{ WP_MYSQL_COMMAND_LOGIN, "(login)", WP_MYSQL_LOGIN, WP_MYSQL_BODY_OTHER, WP_MARK_SETUP, 0,
	  0 },
};

const WpMysqlCommand *
wp_mysql_command(guint8 number)
{
	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
		if (commands[i].number == number)
			return &commands[i];
	return NULL;
}

guint64
wp_mysql_number(WpBytes *in, gboolean *out_null)
{
	guint8 first = wp_bytes_u8(in);
	if (out_null)
		*out_null = first == 0xfb;
	switch (first) {
	case 0xfb:
	case 0xff: /* no number */
		return 0;
	case 0xfc:
		return wp_bytes_le16(in);
	case 0xfd:
		return wp_bytes_le24(in);
	case 0xfe:
		return wp_bytes_le64(in);
	default:
		return first;
	}
}

WpDecodeStatus
wp_mysql_head(WpBytes in, gsize *out_length, guint8 *out_sequence)
{
	gsize length = wp_bytes_le24(&in);
	guint8 sequence = wp_bytes_u8(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	*out_length = length;
	*out_sequence = sequence;
	return WP_DECODE_OK;
}

static gboolean
is_printable(const guint8 *data, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (data[i] < ' ' || data[i] == 0x7f)
			return FALSE;
	return TRUE;
}

/*
 * protocol 10, version, NUL, thread (4), salt (8), 0, capabilities (2), character set (1), status (2),
 * capabilities (2), ...
 */
gboolean
wp_mysql_is_greeting(WpBytes payload, gsize length, guint32 *out_capabilities)
{
	enum {
		LEAST = 1 + 4 + 1 + 4 + 8 + 1,
		MOST = 512,
		MAX_VERSION = 128
	};
	guint8 protocol = wp_bytes_u8(&payload);
	gssize version = wp_bytes_find(&payload, 0, MAX_VERSION);
	if (protocol != 10 || length < LEAST || length > MOST || version < 3)
		return FALSE;
	const guint8 *text = wp_bytes_take(&payload, (gsize)version);
	wp_bytes_skip(&payload, 1 + 4 + 8 + 1);
	guint32 capabilities = wp_bytes_le16(&payload);
	wp_bytes_skip(&payload, 1 + 2);
	capabilities |= (guint32)wp_bytes_le16(&payload) << 16;
	if (payload.failed || !g_ascii_isdigit(text[0]) || !is_printable(text, (gsize)version) ||
	    !memchr(text, '.', (gsize)version))
		return FALSE;
	*out_capabilities = capabilities;
	return TRUE;
}

/* capabilities (4), largest packet (4), character set (1), 19 zeros, 4 of MariaDB's, user, ... */
gboolean
wp_mysql_login(WpBytes payload, gsize length, guint32 *out_capabilities)
{
	enum {
		HEAD = 32,
		ZEROS = 19,
		ZEROS_LEAST = 8 /* of a packet that was cut: what else begins so? */
	};
	guint32 capabilities = wp_bytes_le32(&payload);
	wp_bytes_skip(&payload, 4 + 1);
	gsize n_zeros = CLAMP(wp_bytes_left(&payload), ZEROS_LEAST, ZEROS);
	const guint8 *zeros = wp_bytes_take(&payload, n_zeros);
	if (payload.failed || length < HEAD || !(capabilities & WP_MYSQL_CAN_41))
		return FALSE;
	for (gsize i = 0; i < n_zeros; i++)
		if (zeros[i])
			return FALSE;
	*out_capabilities = capabilities;
	return TRUE;
}

/* --- parameters --- */

typedef struct {
	WpDecodeContext *context;
	WpMessage *message;
	WpBytes in;
} Values;

/* Bytes of a value of TYPE that has a fixed length; 0: it says its length itself. */
static gsize
fixed_length(guint8 type)
{
	switch (type) {
	case 0x01: /* TINY */
		return 1;
	case 0x02: /* SHORT */
	case 0x0d: /* YEAR */
		return 2;
	case 0x03: /* LONG */
	case 0x04: /* FLOAT */
	case 0x09: /* INT24 */
		return 4;
	case 0x05: /* DOUBLE */
	case 0x08: /* LONGLONG */
		return 8;
	default:
		return 0;
	}
}

static void
add_integer(Values *values, gint64 number)
{
	char text[24];
	int n = g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, number);
	wp_decode_tokens(values->context, values->message, (const guint8 *)text, (gsize)n);
}

/* The value at the cursor: text as it is, whole numbers in decimal, others are of no use. */
static void
add_value(Values *values, guint8 type)
{
	gsize length = fixed_length(type);
	gboolean is_float = type == 0x04 || type == 0x05;
	if (type == 0x06) /* NULL */
		return;
	if (length == 4 && !is_float) {
		add_integer(values, (gint32)wp_bytes_le32(&values->in));
	} else if (length == 8 && !is_float) {
		add_integer(values, (gint64)wp_bytes_le64(&values->in));
	} else if (length > 0) {
		wp_bytes_skip(&values->in, length);
	} else {
		guint64 n = wp_mysql_number(&values->in, NULL);
		const guint8 *text =
			wp_bytes_take(&values->in, (gsize)MIN(n, wp_bytes_left(&values->in)));
		gsize there = (gsize)(values->in.data + values->in.at - text);
		wp_decode_tokens(values->context, values->message, text, there);
	}
}

/* Types of N parameters at the cursor: type (1), unsigned (1), and with names a name. */
static void
read_types(WpBytes *in, gsize n, gboolean has_names, WpStatement *statement)
{
	statement->n_types = 0;
	for (gsize i = 0; i < n && !in->failed; i++) {
		guint16 type = wp_bytes_le16(in);
		if (has_names)
			wp_bytes_skip(in, (gsize)wp_mysql_number(in, NULL));
		if (i < WP_STATEMENT_MAX_TYPES && !in->failed)
			statement->types[statement->n_types++] = type;
	}
}

void
wp_mysql_add_parameter_tokens(WpDecodeContext *context, WpMessage *message, WpBytes body,
			      guint32 capabilities, WpStatement *statement)
{
	enum {
		FLAG_COUNT = 8
	};
	Values values = { context, message, body };
	WpBytes *in = &values.in;
	gboolean has_names = (capabilities & WP_MYSQL_CAN_ATTRIBUTES) != 0;
	gsize n = statement->n_params;
	wp_bytes_skip(in, 4);
	guint8 flags = wp_bytes_u8(in);
	wp_bytes_skip(in, 4);
	if (has_names && (flags & FLAG_COUNT))
		n = (guint16)wp_mysql_number(in, NULL);
	if (n == 0)
		return;
	const guint8 *nulls = wp_bytes_take(in, (n + 7) / 8);
	if (wp_bytes_u8(in) == 1)
		read_types(in, n, has_names, statement);
	for (gsize i = 0; i < MIN(n, statement->n_types) && !in->failed; i++)
		if (!(nulls[i / 8] & 1 << i % 8))
			add_value(&values, (guint8)statement->types[i]);
}

/*
 * n parameters, 1 set, and if n > 0: null bits, 1, types with names, values. No SQL begins with a byte
 * under 9, so that a flow whose login was not seen tells too.
 */
void
wp_mysql_skip_attributes(WpBytes *body, guint32 capabilities)
{
	gboolean has_attributes = wp_bytes_left(body) > 0 && body->data[body->at] < 9;
	if (!has_attributes && !(capabilities & WP_MYSQL_CAN_ATTRIBUTES))
		return;
	guint8 types[WP_STATEMENT_MAX_TYPES];
	WpBytes in = *body;
	guint64 n = wp_mysql_number(&in, NULL);
	guint64 n_sets = wp_mysql_number(&in, NULL);
	if (n > G_N_ELEMENTS(types))
		return;
	const guint8 *nulls = n > 0 ? wp_bytes_take(&in, (gsize)(n + 7) / 8) : NULL;
	if (n > 0)
		wp_bytes_skip(&in, 1);
	for (gsize i = 0; i < n && !in.failed; i++) {
		types[i] = wp_bytes_u8(&in);
		wp_bytes_skip(&in, 1);
		wp_bytes_skip(&in, (gsize)wp_mysql_number(&in, NULL));
	}
	for (gsize i = 0; i < n && !in.failed; i++) {
		gsize length = fixed_length(types[i]);
		if (nulls[i / 8] & 1 << i % 8)
			continue;
		wp_bytes_skip(&in, length ? length : (gsize)wp_mysql_number(&in, NULL));
	}
	if (!in.failed && n_sets == 1)
		*body = in;
}

/* --- compressed frames --- */

gsize
wp_mysql_unpack(WpBytes frame, guint8 *buffer, gsize size)
{
	wp_bytes_skip(&frame, 4);
	guint32 unpacked = wp_bytes_le24(&frame);
	gsize left = wp_bytes_left(&frame);
	if (left == 0)
		return 0;
	const guint8 *data = frame.data + frame.at;
	if (unpacked == 0) {
		memcpy(buffer, data, MIN(left, size));
		return MIN(left, size);
	}
	return wp_unpack_zlib(frame, buffer, size);
}

/* --- how bytes look --- */

/* Whether what is packed begins as zlib (RFC 1950) or as Zstandard (RFC 8878) begins. */
static gboolean
is_packed(WpBytes in, gboolean is_zstd)
{
	if (is_zstd)
		return wp_bytes_starts(&in, "\x28\xb5\x2f\xfd", 4);
	guint16 head = wp_bytes_be16(&in);
	return head >> 8 == 0x78 && head % 31 == 0;
}

/* What the head of a frame can say of SIZE bytes that are PACKED: no byte becomes more than 1032. */
#define PACKED_MOST 1032

WpDecodeStatus
wp_mysql_frame_begins(WpBytes in, WpDirection from, gboolean is_zstd)
{
	gsize size = wp_bytes_le24(&in);
	guint8 sequence = wp_bytes_u8(&in);
	gsize unpacked = wp_bytes_le24(&in);
	if (in.failed || wp_bytes_left(&in) < MIN(size, WP_MYSQL_HEAD))
		return WP_DECODE_MORE;
	if (sequence != (from == WP_FROM_CLIENT ? 0 : 1))
		return WP_DECODE_BAD;
	WpBytes inside = wp_bytes(in.data + in.at, MIN(size, wp_bytes_left(&in)));
	if (unpacked == 0)
		return wp_mysql_judge(inside, from) == WP_PROBE_NO ? WP_DECODE_BAD : WP_DECODE_OK;
	return unpacked <= size * PACKED_MOST && is_packed(inside, is_zstd) ? WP_DECODE_OK
									    : WP_DECODE_BAD;
}

static WpProbeVerdict
judge_sql(WpBytes body)
{
	char label[16];
	wp_mysql_skip_attributes(&body, 0);
	const char *sql = (const char *)body.data + body.at;
	gsize length = wp_bytes_left(&body);
	if (memchr(sql, 0, MIN(length, 64)))
		return WP_PROBE_NO;
	gsize n = wp_label_sql(sql, length, WP_SQL_MYSQL, label, sizeof label, NULL);
	return n > 0 ? WP_PROBE_LIKELY : WP_PROBE_MAYBE;
}

/* statement (4), flags (1; the low five bits are known), repetitions (4; always 1) */
static WpProbeVerdict
judge_execute(WpBytes body)
{
	wp_bytes_skip(&body, 4);
	guint8 flags = wp_bytes_u8(&body);
	guint32 times = wp_bytes_le32(&body);
	if (body.failed)
		return WP_PROBE_MAYBE;
	return flags < 32 && times == 1 ? WP_PROBE_LIKELY : WP_PROBE_NO;
}

/* PAYLOAD, of LENGTH bytes in all, as a command. */
static WpProbeVerdict
judge_command(WpBytes payload, gsize length)
{
	enum {
		COMMAND_EXECUTE = 0x17
	};
	const WpMysqlCommand *command = wp_mysql_command(wp_bytes_u8(&payload));
	if (payload.failed)
		return length > 0 ? WP_PROBE_MAYBE : WP_PROBE_NO;
	if (!command || command->number == WP_MYSQL_COMMAND_LOGIN || length - 1 < command->least ||
	    length - 1 > command->most)
		return WP_PROBE_NO;
	WpBytes body = wp_bytes(payload.data + payload.at, wp_bytes_left(&payload));
	if (command->body == WP_MYSQL_BODY_SQL && body.length > 0)
		return judge_sql(body);
	if (command->number == COMMAND_EXECUTE)
		return judge_execute(body);
	return WP_PROBE_MAYBE;
}

/* OK: numbers, status (2), warnings (2); or what answers PREPARE: statement, counts, 0, warnings. */
static WpProbeVerdict
judge_ok(WpBytes payload, gsize length)
{
	enum {
		PREPARE_OK = 12,
		LEAST = 7
	};
	WpBytes in = payload;
	wp_bytes_skip(&in, 9);
	if (length == PREPARE_OK && wp_bytes_u8(&in) == 0 && !in.failed)
		return WP_PROBE_LIKELY;
	wp_bytes_skip(&payload, 1);
	wp_mysql_number(&payload, NULL);
	wp_mysql_number(&payload, NULL);
	wp_bytes_skip(&payload, 4);
	if (payload.failed)
		return payload.length < length ? WP_PROBE_MAYBE : WP_PROBE_NO;
	return length >= LEAST ? WP_PROBE_LIKELY : WP_PROBE_NO;
}

/* Error: number (2), '#', state (5), text. */
static WpProbeVerdict
judge_error(WpBytes payload, gsize length)
{
	wp_bytes_skip(&payload, 3);
	guint8 mark = wp_bytes_u8(&payload);
	if (payload.failed)
		return length >= 4 ? WP_PROBE_MAYBE : WP_PROBE_NO;
	return mark == '#' ? WP_PROBE_LIKELY : WP_PROBE_NO;
}

/* The first packet of a reply. */
static WpProbeVerdict
judge_answer(WpBytes payload, gsize length)
{
	enum {
		MOST_OF_A_COUNT = 4,
		EOF_LENGTH = 5
	};
	WpBytes in = payload;
	guint8 first = wp_bytes_u8(&in);
	if (in.failed)
		return length > 0 ? WP_PROBE_MAYBE : WP_PROBE_NO;
	if (first == 0x00)
		return judge_ok(payload, length);
	if (first == 0xff)
		return judge_error(payload, length);
	if (first == 0xfe)
		return length == EOF_LENGTH ? WP_PROBE_LIKELY : WP_PROBE_NO;
	in = payload;
	guint64 count = wp_mysql_number(&in, NULL);
	return length <= MOST_OF_A_COUNT && count >= 1 && count <= MAX_COLUMNS ? WP_PROBE_MAYBE
									       : WP_PROBE_NO;
}

/* The definition of a column: "def" as catalogue, and three names. */
static gboolean
is_definition(WpBytes payload)
{
	return wp_bytes_starts(&payload, "\3def", MIN(4, payload.length)) && payload.length >= 4;
}

/*
 * Packet number I of IN, which began with the first of a command or a reply. Three that count on from
 * 1, each where the one before ends, are no chance: that is what MariaDB sends for a result whose
 * columns the client knows already.
 */
static WpProbeVerdict
judge_packet(WpBytes payload, gsize length, WpDirection from, guint i, gboolean *was_count)
{
	enum {
		ENOUGH = 3
	};
	if (from == WP_FROM_CLIENT)
		return judge_command(payload, length);
	if (i == 0) {
		WpProbeVerdict verdict = judge_answer(payload, length);
		*was_count = verdict == WP_PROBE_MAYBE;
		return verdict;
	}
	gboolean is_likely = *was_count && (i + 1 >= ENOUGH || is_definition(payload));
	return is_likely ? WP_PROBE_LIKELY : WP_PROBE_MAYBE;
}

WpProbeVerdict
wp_mysql_judge(WpBytes in, WpDirection from)
{
	enum {
		MOST = 64
	}; /* packets looked at */
	WpProbeVerdict verdict = WP_PROBE_MAYBE;
	gboolean was_count = FALSE;
	for (guint i = 0; i < MOST && wp_bytes_left(&in) >= WP_MYSQL_HEAD; i++) {
		gsize length = wp_bytes_le24(&in);
		guint8 sequence = wp_bytes_u8(&in);
		if (from == WP_FROM_SERVER && sequence == 1)
			i = 0; /* the next reply */
		guint8 expected = from == WP_FROM_CLIENT ? 0 : (guint8)(i + 1);
		gsize there = MIN(length, wp_bytes_left(&in));
		WpBytes payload = wp_bytes(in.data + in.at, there);
		wp_bytes_skip(&in, there);
		if (sequence != expected)
			return WP_PROBE_NO;
		WpProbeVerdict one = judge_packet(payload, length, from, i, &was_count);
		if (one == WP_PROBE_NO)
			return WP_PROBE_NO;
		verdict = MAX(verdict, one);
	}
	return verdict;
}
