/*
 * SQL text cut into tokens. Sources: PostgreSQL manual 4.1 (lexical structure); MySQL reference
 * manual, chapter 9 (language structure); MariaDB manual, "Comment Syntax".
 */
#include "capture/sql.h"

#include <string.h>

static gboolean
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static gboolean
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Letters, digits, _ $ and whatever is beyond ASCII. */
static gboolean
is_word(char c)
{
	return g_ascii_isalnum(c) || c == '_' || c == '$' || (guchar)c >= 0x80;
}

static char
peek(const WpSql *sql, gsize ahead)
{
	return ahead < sql->length - sql->at ? sql->text[sql->at + ahead] : '\0';
}

static WpSqlToken
make(const WpSql *sql, WpSqlType type, gsize begin, gsize end)
{
	return (WpSqlToken){ type, '\0', sql->text + begin, end - begin };
}

/* From the opening quote, which is at the cursor, to after the closing one. */
static WpSqlToken
read_quoted(WpSql *sql, WpSqlType type, gboolean escapes)
{
	char quote = sql->text[sql->at];
	gsize begin = ++sql->at;
	for (; sql->at < sql->length; sql->at++) {
		char c = sql->text[sql->at];
		if (c == '\\' && escapes) {
			sql->at++;
		} else if (c == quote) {
			if (peek(sql, 1) != quote)
				break;
			sql->at++;
		}
	}
	sql->at = MIN(sql->at, sql->length);
	gboolean is_closed = sql->at < sql->length;
	WpSqlToken token = make(sql, is_closed ? type : WP_SQL_TEXT, begin, sql->at);
	token.quote = quote;
	sql->at += is_closed;
	return token;
}

static WpSqlToken
read_line_comment(WpSql *sql)
{
	gsize begin = sql->at;
	const char *end = memchr(sql->text + begin, '\n', sql->length - begin);
	sql->at = end ? (gsize)(end - sql->text) : sql->length;
	return make(sql, WP_SQL_COMMENT, begin, sql->at);
}

static WpSqlToken
read_block_comment(WpSql *sql)
{
	gsize begin = sql->at;
	guint depth = 0;
	while (sql->at < sql->length) {
		gsize step = 1;
		if (peek(sql, 0) == '/' && peek(sql, 1) == '*') {
			step = 2;
			if (depth == 0 || (sql->dialect & WP_SQL_NESTED))
				depth++;
		} else if (peek(sql, 0) == '*' && peek(sql, 1) == '/') {
			step = 2;
			depth--;
		}
		sql->at += step;
		if (depth == 0)
			break;
	}
	return make(sql, WP_SQL_COMMENT, begin, sql->at);
}

/* Skips what opens or closes code in a comment ("/" "*!50001", "*" "/"); FALSE: not at one. */
static gboolean
skip_code_comment(WpSql *sql)
{
	if (!(sql->dialect & WP_SQL_CODE_COMMENTS))
		return FALSE;
	if (sql->in_code_comment && peek(sql, 0) == '*' && peek(sql, 1) == '/') {
		sql->in_code_comment = FALSE;
		sql->at += 2;
		return TRUE;
	}
	if (peek(sql, 0) != '/' || peek(sql, 1) != '*')
		return FALSE;
	gsize mark = peek(sql, 2) == 'M' ? 3 : 2;
	if (peek(sql, mark) != '!')
		return FALSE;
	sql->in_code_comment = TRUE;
	sql->at += mark + 1;
	while (is_digit(peek(sql, 0)))
		sql->at++;
	return TRUE;
}

/* $tag$ ... $tag$, $1 */
static WpSqlToken
read_dollar(WpSql *sql)
{
	gsize begin = sql->at++;
	while (is_word(peek(sql, 0)) && peek(sql, 0) != '$')
		sql->at++;
	if (peek(sql, 0) != '$' || is_digit(sql->text[begin + 1]))
		return make(sql, WP_SQL_PARAMETER, begin, sql->at);
	gsize tag = ++sql->at - begin;
	gsize body = sql->at;
	while (sql->length - sql->at >= tag &&
	       memcmp(sql->text + sql->at, sql->text + begin, tag) != 0)
		sql->at++;
	gsize end = sql->length - sql->at >= tag ? sql->at : sql->length;
	sql->at = MIN(end + tag, sql->length);
	WpSqlToken token = make(sql, WP_SQL_TEXT, body, end);
	token.quote = '$';
	return token;
}

static WpSqlToken
read_variable(WpSql *sql)
{
	gsize begin = sql->at;
	while (peek(sql, 0) == '@')
		sql->at++;
	while (is_word(peek(sql, 0)) || peek(sql, 0) == '.')
		sql->at++;
	return make(sql, WP_SQL_VARIABLE, begin, sql->at);
}

/* 12, 1.5e3, 0x1F: a run of word bytes and dots. */
static WpSqlToken
read_number(WpSql *sql)
{
	gsize begin = sql->at;
	while (is_word(peek(sql, 0)) || peek(sql, 0) == '.')
		sql->at++;
	return make(sql, WP_SQL_NUMBER, begin, sql->at);
}

static WpSqlToken
read_word(WpSql *sql)
{
	gsize begin = sql->at;
	while (is_word(peek(sql, 0)))
		sql->at++;
	gboolean is_e =
		sql->at - begin == 1 && (sql->text[begin] == 'E' || sql->text[begin] == 'e');
	if (is_e && peek(sql, 0) == '\'' && (sql->dialect & WP_SQL_DOLLAR))
		return read_quoted(sql, WP_SQL_TEXT, TRUE);
	return make(sql, WP_SQL_WORD, begin, sql->at);
}

static gboolean
at_line_comment(const WpSql *sql)
{
	if (peek(sql, 0) == '#')
		return (sql->dialect & WP_SQL_HASH) != 0;
	if (peek(sql, 0) != '-' || peek(sql, 1) != '-')
		return FALSE;
	char after = peek(sql, 2);
	return !(sql->dialect & WP_SQL_HASH) || after == '\0' || is_space(after);
}

/* Comments and quotes, or WP_SQL_END where the cursor is at neither. */
static WpSqlToken
read_enclosed(WpSql *sql)
{
	gboolean escapes = (sql->dialect & WP_SQL_BACKSLASH) != 0;
	if (at_line_comment(sql))
		return read_line_comment(sql);
	switch (peek(sql, 0)) {
	case '/':
		if (peek(sql, 1) == '*')
			return read_block_comment(sql);
		break;
	case '\'':
		return read_quoted(sql, WP_SQL_TEXT, escapes);
	case '"':
		if (sql->dialect & WP_SQL_DOUBLE_TEXT)
			return read_quoted(sql, WP_SQL_TEXT, escapes);
		return read_quoted(sql, WP_SQL_NAME, FALSE);
	case '`':
		return read_quoted(sql, WP_SQL_NAME, FALSE);
	case '$':
		if (sql->dialect & WP_SQL_DOLLAR)
			return read_dollar(sql);
		break;
	default:
		break;
	}
	return (WpSqlToken){ .type = WP_SQL_END };
}

WpSqlToken
wp_sql_next(WpSql *sql)
{
	while (is_space(peek(sql, 0)) || skip_code_comment(sql))
		if (is_space(peek(sql, 0)))
			sql->at++;
	if (sql->at >= sql->length)
		return (WpSqlToken){ .type = WP_SQL_END };
	WpSqlToken token = read_enclosed(sql);
	if (token.type != WP_SQL_END)
		return token;
	char c = peek(sql, 0);
	if (is_digit(c) || (c == '.' && is_digit(peek(sql, 1))))
		return read_number(sql);
	if (is_word(c))
		return read_word(sql);
	if (c == '@' && (sql->dialect & WP_SQL_VARIABLES))
		return read_variable(sql);
	gsize begin = sql->at;
	sql->at += c == ':' && peek(sql, 1) == ':' ? 2 : 1;
	return make(sql, WP_SQL_SIGN, begin, sql->at);
}

gboolean
wp_sql_keyword(const WpSqlToken *token, char buffer[WP_SQL_KEYWORD_MAX])
{
	if (token->type != WP_SQL_WORD || token->length >= WP_SQL_KEYWORD_MAX)
		return FALSE;
	for (gsize i = 0; i < token->length; i++)
		buffer[i] = g_ascii_toupper(token->text[i]);
	buffer[token->length] = '\0';
	return TRUE;
}

/* traceparent='00-TRACE-PARENT-FLAGS' of sqlcommenter: of TRACE alone, and the whole, as HTTP has it. */
static void
add_trace_id(WpDecodeContext *context, WpMessage *message, const char *text, gsize length)
{
	static const char name[] = "traceparent='";
	const char *at = g_strstr_len(text, (gssize)length, name);
	if (!at)
		return;
	at += sizeof name - 1;
	gsize left = length - (gsize)(at - text);
	const char *quote = memchr(at, '\'', left);
	if (quote && !message->context.parent)
		wp_trace_context_parse(at, (gsize)(quote - at), &message->context);
	if (left >= 3 + 32 && strncmp(at, "00-", 3) == 0)
		wp_decode_ids(context, message, (const guint8 *)at + 3, 32);
}

void
wp_sql_add_tokens(WpDecodeContext *context, WpMessage *message, guint dialect, const char *text,
		  gsize length)
{
	WpSql sql = wp_sql(text, length, dialect);
	WpSqlToken token = wp_sql_next(&sql);
	for (; token.type != WP_SQL_END && message->n_tokens < WP_RECORD_MAX_TOKENS;
	     token = wp_sql_next(&sql)) {
		if (token.type == WP_SQL_COMMENT)
			add_trace_id(context, message, token.text, token.length);
		if (token.type == WP_SQL_TEXT || token.type == WP_SQL_NUMBER ||
		    token.type == WP_SQL_COMMENT)
			wp_decode_tokens(context, message, (const guint8 *)token.text,
					 token.length);
	}
}
