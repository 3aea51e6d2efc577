/* See tds.h. Text is UTF-16, lowest byte first; what is not ASCII becomes '?', as in all labels. */
#include "capture/tds.h"

#include <string.h>

#include "capture/label.h"
#include "capture/sql.h"

#define DIALECT (WP_SQL_NESTED | WP_SQL_VARIABLES)

/* Names of procedures that a label keeps. */
#define NAME_MAX_BYTES 100

enum {
	DONE = 0xfd,
	DONE_BYTES = 13, /* status (2), command (2), count (8) behind the token */
	DONE_ERROR = 0x0002,
	DONE_ATTENTION = 0x0020,
	DONE_SEVERE = 0x0100,
	TYPE_NVARCHAR = 0xe7,
	HEADERS_MAX = 1024,
	BY_NUMBER = 0xffff
};

/* Procedures that have numbers, section 2.2.6.6. */
static const char *const procedures[] = { NULL,
					  "sp_cursor",
					  "sp_cursoropen",
					  "sp_cursorprepare",
					  "sp_cursorexecute",
					  "sp_cursorprepexec",
					  "sp_cursorunprepare",
					  "sp_cursorfetch",
					  "sp_cursoroption",
					  "sp_cursorclose",
					  "sp_executesql",
					  "sp_prepare",
					  "sp_execute",
					  "sp_prepexec",
					  "sp_prepexecrpc",
					  "sp_unprepare" };

enum {
	EXECUTESQL = 10,
	PREPARE = 11,
	PREPEXEC = 13
};

static const char *const transactions[] = {
	[5] = "BEGIN", [6] = "PROMOTE", [7] = "COMMIT", [8] = "ROLLBACK", [9] = "SAVE"
};

/* --- text --- */

/*
 * At most SIZE characters of the LENGTH bytes at IN. Names in brackets get quotes, which all readers of SQL
 * know.
 */
static gsize
read_text(WpBytes *in, gsize length, char *out, gsize size)
{
	gsize n = 0, count = MIN(length, wp_bytes_left(in)) / 2;
	for (gsize i = 0; i < count; i++) {
		guint16 c = wp_bytes_le16(in);
		if (c == '[' || c == ']')
			c = '"';
		if (n < size)
			out[n++] = c > 0 && c < 0x80 ? (char)c : '?';
	}
	return n;
}

/* ALL_HEADERS, which all but old clients send: passed over. Section 2.2.5.3. */
static gboolean
skip_headers(WpBytes *in)
{
	WpBytes at = *in;
	guint32 total = wp_bytes_le32(&at), first = wp_bytes_le32(&at);
	guint16 type = wp_bytes_le16(&at);
	if (at.failed || total < 10 || total > HEADERS_MAX || first < 6 || first > total - 4 ||
	    type < 1 || type > 3)
		return FALSE;
	wp_bytes_skip(in, MIN(total, wp_bytes_left(in)));
	return TRUE;
}

static void
label_sql(WpDecodeContext *context, WpMessage *message, const char *sql, gsize length)
{
	char text[WP_LABEL_MAX + 1];
	gsize n = wp_label_sql(sql, length, DIALECT, text, sizeof text, NULL);
	message->label =
		n ? wp_decode_label(context, text, n) : wp_decode_label(context, "batch", 5);
	wp_decode_tokens(context, message, (const guint8 *)sql, length);
}

/* --- procedures --- */

/* A parameter that is text; FALSE where it is none. Section 2.2.6.6, TYPE_INFO 2.2.5.6. */
static gboolean
read_parameter(WpBytes *in, char *out, gsize size, gsize *out_length)
{
	wp_bytes_skip(in, 2 * (gsize)wp_bytes_u8(in) + 1); /* name, flags */
	if (wp_bytes_u8(in) != TYPE_NVARCHAR)
		return FALSE;
	guint16 most = wp_bytes_le16(in);
	wp_bytes_skip(in, 5); /* collation */
	gsize length;
	if (most == 0xffff) { /* in parts, of which the first is enough */
		wp_bytes_skip(in, 8);
		length = wp_bytes_le32(in);
	} else {
		length = wp_bytes_le16(in);
	}
	if (in->failed || (most != 0xffff && length == 0xffff))
		return FALSE;
	*out_length = read_text(in, length, out, size);
	return TRUE;
}

/* The parameter that is a handle, for it to be given back: INTN of 4 bytes, with a value or without. */
static void
skip_handle(WpBytes *in)
{
	wp_bytes_skip(in, 2 * (gsize)wp_bytes_u8(in) + 1);
	wp_bytes_skip(in, 2); /* type, largest length */
	wp_bytes_skip(in, wp_bytes_u8(in));
}

/* The statement among the parameters of sp_executesql, sp_prepare and sp_prepexec. */
static gboolean
read_statement(WpBytes in, guint16 number, char *out, gsize size, gsize *out_length)
{
	if (number == EXECUTESQL)
		return read_parameter(&in, out, size, out_length);
	if (number != PREPARE && number != PREPEXEC)
		return FALSE;
	skip_handle(&in);
	return read_parameter(&in, out, size, out_length) && /* of the parameters' types */
	       read_parameter(&in, out, size, out_length);
}

static void
describe_procedure(WpDecodeContext *context, WpMessage *message, WpBytes in)
{
	char text[WP_TDS_LOOKED_AT / 2] = "EXEC ";
	gsize n = strlen(text), length;
	guint16 count = wp_bytes_le16(&in), number = 0;
	if (count == BY_NUMBER) {
		number = wp_bytes_le16(&in);
		if (number > 0 && number < G_N_ELEMENTS(procedures))
			n += g_strlcpy(text + n, procedures[number], sizeof text - n);
	} else {
		n += read_text(&in, 2 * (gsize)count, text + n, NAME_MAX_BYTES);
		for (guint16 i = EXECUTESQL; i <= PREPEXEC; i++)
			if (n == 5 + strlen(procedures[i]) &&
			    g_ascii_strncasecmp(text + 5, procedures[i], n - 5) == 0)
				number = i;
	}
	message->label = wp_decode_label(context, text, n);
	wp_bytes_skip(&in, 2); /* options */
	if (read_statement(in, number, text, sizeof text, &length) && length > 0)
		label_sql(context, message, text, length);
}

/* --- requests --- */

static void
describe_transaction(WpDecodeContext *context, WpMessage *message, WpBytes in)
{
	guint16 type = wp_bytes_le16(&in);
	const char *name = type < G_N_ELEMENTS(transactions) ? transactions[type] : NULL;
	name = name ? name : "transaction";
	message->label = wp_decode_label(context, name, strlen(name));
}

void
wp_tds_describe(WpDecodeContext *context, WpMessage *message, guint8 type, WpBytes in)
{
	char sql[WP_TDS_LOOKED_AT / 2];
	const char *name = "(login)";
	switch (type) {
	case WP_TDS_BATCH:
		skip_headers(&in);
		label_sql(context, message, sql,
			  read_text(&in, wp_bytes_left(&in), sql, sizeof sql));
		return;
	case WP_TDS_RPC:
		skip_headers(&in);
		describe_procedure(context, message, in);
		return;
	case WP_TDS_TRANSACTION:
		skip_headers(&in);
		describe_transaction(context, message, in);
		return;
	case WP_TDS_ATTENTION:
		message->label = wp_decode_label(context, "attention", 9);
		return;
	case WP_TDS_BULK:
		message->label = wp_decode_label(context, "bulk load", 9);
		return;
	case WP_TDS_PRELOGIN:
		name = "(prelogin)";
		break;
	default:
		break;
	}
	message->label = wp_decode_label(context, name, strlen(name));
	message->marks = WP_MARK_SETUP;
}

/* --- detection, and outcomes --- */

/* Option, offset, length: the first is the version, and the data begins behind them. Section 2.2.6.5. */
static gboolean
is_prelogin(WpBytes in)
{
	guint8 option = wp_bytes_u8(&in);
	guint16 offset = wp_bytes_be16(&in), length = wp_bytes_be16(&in);
	return !in.failed && option == 0 && offset >= 6 && offset < 512 && length == 6;
}

gboolean
wp_tds_is_request(guint8 type, WpBytes in, gsize length)
{
	switch (type) {
	case WP_TDS_PRELOGIN:
		return is_prelogin(in);
	case WP_TDS_LOGIN: {
		guint32 whole = wp_bytes_le32(&in), version = wp_bytes_le32(&in);
		return !in.failed && whole >= length && version >> 28 == 7;
	}
	case WP_TDS_BATCH:
	case WP_TDS_RPC:
	case WP_TDS_TRANSACTION:
		return skip_headers(&in);
	default:
		return FALSE;
	}
}

gboolean
wp_tds_is_response(WpBytes in)
{
	/* Tokens that a response begins with, section 2.2.7. */
	static const guint8 tokens[] = { 0x79, 0x81, 0xaa, 0xab, 0xac, 0xad,
					 0xe3, 0xed, 0xee, 0xfd, 0xfe, 0xff };
	if (is_prelogin(in))
		return TRUE;
	return in.length > 0 && memchr(tokens, in.data[0], sizeof tokens) != NULL;
}

gboolean
wp_tds_is_bare(WpBytes in)
{
	return wp_bytes_left(&in) == DONE_BYTES;
}

WpStatus
wp_tds_outcome(WpBytes in, gboolean *out_is_attention)
{
	*out_is_attention = FALSE;
	if (in.length < DONE_BYTES || in.data[in.length - DONE_BYTES] < DONE)
		return WP_STATUS_OK; /* prelogin, a token of SSPI */
	wp_bytes_skip(&in, in.length - DONE_BYTES + 1);
	guint16 flags = wp_bytes_le16(&in);
	*out_is_attention = (flags & DONE_ATTENTION) != 0;
	return flags & (DONE_ERROR | DONE_SEVERE) ? WP_STATUS_ERROR : WP_STATUS_OK;
}
