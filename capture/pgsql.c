/*
 * Frames of PostgreSQL messages. Source: PostgreSQL manual 55.2 (message flow), 55.7 (message
 * formats); limits: src/include/libpq/pqcomm.h, access/htup_details.h.
 */
#include "capture/pgsql.h"

#include <string.h>

#include "capture/label.h"
#include "capture/sql.h"

enum {
	MAX_START = 10000,        /* MAX_STARTUP_PACKET_LENGTH */
	MAX_MESSAGE = 0x3fffffff, /* 1 GiB, the largest value that the server makes */
	MAX_GUESSED = 64 << 20,   /* longer ones are not believed where the place is a guess */
	MAX_COLUMNS = 1664,       /* MaxTupleAttributeNumber */
	CODE_CANCEL = 80877102,   /* 1234 << 16 | 5678, */
	CODE_SSL = 80877103,      /* | 5679, */
	CODE_GSS = 80877104,      /* | 5680 */
	MAX_CANCEL = 16 + 256,    /* keys of version 3.2 are up to 256 bytes */
	MAX_NAMED = 256           /* bytes of a name, where the place is a guess */
};

/* Behind the version: the name of the first parameter, or the zero behind the last. A request to Kafka for
 * its metadata has the same words before. */
static WpDecodeStatus
names_begin(WpBytes in, guint32 length)
{
	guint8 first = wp_bytes_u8(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	return (length > 9 ? g_ascii_isprint((char)first) : first == 0) ? WP_DECODE_OK
									: WP_DECODE_BAD;
}

static gboolean
is_version(guint32 code)
{
	return code >> 16 == 3 && (code & 0xffff) < 100;
}

WpDecodeStatus
wp_pgsql_start(WpBytes in, gsize *out_length, WpPgsqlStart *out_start)
{
	if (wp_bytes_left(&in) > 0 && in.data[in.at] != 0)
		return WP_DECODE_BAD;
	guint32 length = wp_bytes_be32(&in);
	guint32 code = wp_bytes_be32(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	if (code == CODE_SSL && length == 8)
		*out_start = WP_PGSQL_SSL;
	else if (code == CODE_GSS && length == 8)
		*out_start = WP_PGSQL_GSS;
	else if (code == CODE_CANCEL && length >= 16 && length <= MAX_CANCEL)
		*out_start = WP_PGSQL_CANCEL;
	else if (is_version(code) && length >= 9 && length <= MAX_START)
		*out_start = WP_PGSQL_STARTUP;
	else
		return WP_DECODE_BAD;
	*out_length = length;
	return *out_start == WP_PGSQL_STARTUP ? names_begin(in, length) : WP_DECODE_OK;
}

/* --- bodies: do they look like what their type says? BODY may be cut short of LENGTH. --- */

typedef enum {
	LOOKS_WRONG,
	LOOKS_POSSIBLE,
	LOOKS_RIGHT
} Looks;

const char *
wp_pgsql_text(WpBytes *in, gsize *out_length)
{
	gssize end = wp_bytes_find(in, 0, G_MAXSIZE);
	gsize length = end < 0 ? wp_bytes_left(in) : (gsize)end;
	const guint8 *text = wp_bytes_take(in, length);
	wp_bytes_skip(in, 1); /* fails where the NUL is missing */
	*out_length = length;
	return (const char *)text;
}

static gboolean
is_plain(const char *text, gsize length)
{
	for (gsize i = 0; i < length; i++) {
		guchar c = (guchar)text[i];
		if ((c < ' ' && !g_ascii_isspace((char)c)) || c == 0x7f)
			return FALSE;
	}
	return TRUE;
}

/* A text, and what it looks like: right only where its NUL is there too. */
static Looks
look_at_text(WpBytes *body, gsize most)
{
	gsize length;
	const char *text = wp_pgsql_text(body, &length);
	if (length > most || !is_plain(text, length))
		return LOOKS_WRONG;
	return body->failed ? LOOKS_POSSIBLE : LOOKS_RIGHT;
}

/* SQL that begins with a known verb. */
static Looks
look_at_sql(WpBytes *body)
{
	char label[16];
	gsize length;
	const char *text = wp_pgsql_text(body, &length);
	if (!is_plain(text, MIN(length, WP_SQL_LOOK_BYTES)))
		return LOOKS_WRONG;
	if (wp_label_sql(text, length, WP_SQL_POSTGRES, label, sizeof label, NULL) > 0)
		return LOOKS_RIGHT;
	return LOOKS_POSSIBLE;
}

static Looks
look_at_query(WpBytes body, gsize length)
{
	Looks looks = look_at_sql(&body);
	/* The NUL is the last byte, and nowhere before. */
	if (looks == LOOKS_WRONG || (!body.failed && body.at != length))
		return LOOKS_WRONG;
	return looks;
}

static Looks
look_at_parse(WpBytes body, gsize length)
{
	Looks name = look_at_text(&body, MAX_NAMED);
	if (name != LOOKS_RIGHT)
		return name;
	Looks looks = look_at_sql(&body);
	guint n = wp_bytes_be16(&body);
	if (!body.failed && length != body.at + n * (gsize)4)
		return LOOKS_WRONG;
	return looks;
}

/* N (2) and so many formats (2), each 0 or 1. */
static gboolean
skip_formats(WpBytes *body)
{
	for (guint n = wp_bytes_be16(body); n > 0 && !body->failed; n--)
		if (wp_bytes_be16(body) > 1)
			return FALSE;
	return TRUE;
}

static Looks
look_at_bind(WpBytes body, gsize length)
{
	Looks portal = look_at_text(&body, MAX_NAMED);
	if (portal != LOOKS_RIGHT)
		return portal;
	Looks statement = look_at_text(&body, MAX_NAMED);
	if (statement != LOOKS_RIGHT)
		return statement;
	if (!skip_formats(&body))
		return LOOKS_WRONG;
	for (guint n = wp_bytes_be16(&body); n > 0 && !body.failed; n--) {
		guint32 size = wp_bytes_be32(&body);
		if (size != G_MAXUINT32 && size > length)
			return LOOKS_WRONG;
		wp_bytes_skip(&body, size == G_MAXUINT32 ? 0 : size);
	}
	if (!skip_formats(&body) || (!body.failed && body.at != length))
		return LOOKS_WRONG;
	return body.failed ? LOOKS_POSSIBLE : LOOKS_RIGHT;
}

/* Describe, Close: 'S' or 'P', then a name. */
static Looks
look_at_object(WpBytes body, gsize length)
{
	guint8 kind = wp_bytes_u8(&body);
	if (!body.failed && kind != 'S' && kind != 'P')
		return LOOKS_WRONG;
	Looks name = look_at_text(&body, MAX_NAMED);
	return !body.failed && body.at != length ? LOOKS_WRONG : name;
}

/* Execute: portal, rows. */
static Looks
look_at_execute(WpBytes body, gsize length)
{
	Looks portal = look_at_text(&body, MAX_NAMED);
	wp_bytes_skip(&body, 4);
	return !body.failed && body.at != length ? LOOKS_WRONG : portal;
}

/* One text, to the end: CommandComplete, CopyFail, passwords. */
static Looks
look_at_line(WpBytes body, gsize length)
{
	Looks looks = look_at_text(&body, MAX_NAMED);
	return !body.failed && body.at != length ? LOOKS_WRONG : looks;
}

/* ParameterStatus: name, value. */
static Looks
look_at_pair(WpBytes body, gsize length)
{
	Looks name = look_at_text(&body, MAX_NAMED);
	if (name != LOOKS_RIGHT)
		return name;
	return look_at_line(body, length);
}

/* Errors and notices: one-byte field codes with texts; the first is the severity. */
static Looks
look_at_report(WpBytes body, gsize length)
{
	guint8 code = wp_bytes_u8(&body);
	if (!body.failed && code != 'S')
		return LOOKS_WRONG;
	return look_at_text(&body, MAX_NAMED);
}

static Looks
look_at_authentication(WpBytes body, gsize length)
{
	guint32 code = wp_bytes_be32(&body);
	if (body.failed)
		return LOOKS_POSSIBLE;
	return code <= 12 ? LOOKS_RIGHT : LOOKS_WRONG;
}

static Looks
look_at_ready(WpBytes body, gsize length)
{
	guint8 state = wp_bytes_u8(&body);
	if (body.failed)
		return LOOKS_POSSIBLE;
	return state == 'I' || state == 'T' || state == 'E' ? LOOKS_RIGHT : LOOKS_WRONG;
}

/* RowDescription: N, then name, 6 numbers (18 bytes, the last a format) each. */
static Looks
look_at_columns(WpBytes body, gsize length)
{
	guint n = wp_bytes_be16(&body);
	if (body.failed)
		return LOOKS_POSSIBLE;
	if (n > MAX_COLUMNS)
		return LOOKS_WRONG;
	if (n == 0)
		return length == 2 ? LOOKS_RIGHT : LOOKS_WRONG;
	Looks name = look_at_text(&body, MAX_NAMED);
	wp_bytes_skip(&body, 16);
	guint format = wp_bytes_be16(&body);
	return format > 1 ? LOOKS_WRONG : body.failed ? MIN(name, LOOKS_POSSIBLE) : name;
}

/* DataRow: N, then size and value each, to the end. */
static Looks
look_at_row(WpBytes body, gsize length)
{
	guint n = wp_bytes_be16(&body);
	if (n > MAX_COLUMNS || length < 2 + n * (gsize)4)
		return LOOKS_WRONG;
	for (; n > 0 && !body.failed; n--) {
		guint32 size = wp_bytes_be32(&body);
		if (size != G_MAXUINT32 && size > length)
			return LOOKS_WRONG;
		wp_bytes_skip(&body, size == G_MAXUINT32 ? 0 : size);
	}
	if (body.failed)
		return LOOKS_POSSIBLE;
	return body.at == length ? LOOKS_RIGHT : LOOKS_WRONG;
}

/* ParameterDescription: N types (4). */
static Looks
look_at_types(WpBytes body, gsize length)
{
	guint n = wp_bytes_be16(&body);
	if (body.failed)
		return LOOKS_POSSIBLE;
	return length == 2 + n * (gsize)4 ? LOOKS_RIGHT : LOOKS_WRONG;
}

/* Copy responses: format (1), N formats (2). */
static Looks
look_at_copy(WpBytes body, gsize length)
{
	guint format = wp_bytes_u8(&body);
	guint n = wp_bytes_be16(&body);
	if (format > 1 || (!body.failed && length != 3 + n * (gsize)2))
		return LOOKS_WRONG;
	return body.failed ? LOOKS_POSSIBLE : LOOKS_RIGHT;
}

static Looks
look_at_nothing(WpBytes body, gsize length)
{
	return LOOKS_RIGHT;
}

static Looks
look_at_anything(WpBytes body, gsize length)
{
	return LOOKS_POSSIBLE;
}

/* --- messages --- */

typedef struct {
	char type;
	guint32 least; /* bytes of the body */
	guint32 most;
	Looks (*look)(WpBytes body, gsize length);
} MessageType;

#define ANY (MAX_MESSAGE - 4)

static const MessageType client_types[] = {
	{ 'Q', 1, ANY, look_at_query },
	{ 'P', 4, ANY, look_at_parse },
	{ 'B', 6, ANY, look_at_bind },
	{ 'D', 2, ANY, look_at_object },
	{ 'E', 5, ANY, look_at_execute },
	{ 'S', 0, 0, look_at_nothing },
	{ 'H', 0, 0, look_at_nothing },
	{ 'C', 2, ANY, look_at_object },
	{ 'F', 10, ANY, look_at_anything },
	{ 'X', 0, 0, look_at_nothing },
	{ 'd', 0, ANY, look_at_anything },
	{ 'c', 0, 0, look_at_nothing },
	{ 'f', 1, ANY, look_at_line },
	{ 'p', 1, 65536, look_at_anything },
	{ 0, 0, 0, NULL },
};

static const MessageType server_types[] = {
	{ 'R', 4, 65536, look_at_authentication },
	{ 'K', 8, 4 + 256, look_at_anything },
	{ 'S', 2, ANY, look_at_pair },
	{ 'Z', 1, 1, look_at_ready },
	{ 'T', 2, ANY, look_at_columns },
	{ 'D', 2, ANY, look_at_row },
	{ 'C', 1, ANY, look_at_line },
	{ 'I', 0, 0, look_at_nothing },
	{ '1', 0, 0, look_at_nothing },
	{ '2', 0, 0, look_at_nothing },
	{ '3', 0, 0, look_at_nothing },
	{ 'n', 0, 0, look_at_nothing },
	{ 's', 0, 0, look_at_nothing },
	{ 't', 2, 2 + 65535 * 4, look_at_types },
	{ 'E', 1, ANY, look_at_report },
	{ 'N', 1, ANY, look_at_report },
	{ 'A', 6, ANY, look_at_anything },
	{ 'G', 3, 3 + 65535 * 2, look_at_copy },
	{ 'H', 3, 3 + 65535 * 2, look_at_copy },
	{ 'W', 3, 3 + 65535 * 2, look_at_copy },
	{ 'd', 0, ANY, look_at_anything },
	{ 'c', 0, 0, look_at_nothing },
	{ 'V', 4, ANY, look_at_anything },
	{ 'v', 8, 65536, look_at_anything },
	{ 0, 0, 0, NULL },
};

static const MessageType *
find_type(WpDirection from, guint8 type)
{
	const MessageType *types = from == WP_FROM_CLIENT ? client_types : server_types;
	for (; types->type; types++)
		if (types->type == (char)type)
			return types;
	return NULL;
}

WpDecodeStatus
wp_pgsql_head(WpBytes in, WpDirection from, char *out_type, gsize *out_length)
{
	const MessageType *type = find_type(from, wp_bytes_u8(&in));
	if (in.failed)
		return WP_DECODE_MORE;
	if (!type)
		return WP_DECODE_BAD;
	guint32 length = wp_bytes_be32(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	if (length < 4 || length - 4 < type->least || length - 4 > type->most)
		return WP_DECODE_BAD;
	*out_type = type->type;
	*out_length = 1 + (gsize)length;
	return WP_DECODE_OK;
}

/* The message at the cursor of IN, which moves behind it (at most to the end). */
static Looks
judge_message(WpBytes *in, WpDirection from)
{
	char type;
	gsize length;
	WpBytes rest = wp_bytes(in->data + in->at, wp_bytes_left(in));
	switch (wp_pgsql_head(rest, from, &type, &length)) {
	case WP_DECODE_BAD:
		return LOOKS_WRONG;
	case WP_DECODE_MORE:
		wp_bytes_skip(in, rest.length);
		return LOOKS_POSSIBLE;
	default:
		break;
	}
	if (length > MAX_GUESSED)
		return LOOKS_WRONG;
	gsize there = MIN(length, rest.length);
	wp_bytes_skip(in, there);
	WpBytes body = wp_bytes(rest.data + WP_PGSQL_HEAD, there - WP_PGSQL_HEAD);
	return find_type(from, (guint8)type)->look(body, length - WP_PGSQL_HEAD);
}

WpProbeVerdict
wp_pgsql_judge(WpBytes in, WpDirection from)
{
	enum {
		MOST = 64
	}; /* messages looked at */
	WpProbeVerdict verdict = WP_PROBE_MAYBE;
	for (guint i = 0; i < MOST && wp_bytes_left(&in) > 0; i++) {
		Looks looks = judge_message(&in, from);
		if (looks == LOOKS_WRONG)
			return WP_PROBE_NO;
		if (looks == LOOKS_RIGHT)
			verdict = WP_PROBE_LIKELY;
	}
	return verdict;
}
