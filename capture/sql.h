/*
 * WpSql: SQL text cut into words, names, literals and comments, so that names can be kept and
 * literals never are.
 *
 * Where a literal ends depends on the dialect: 'a\' is complete in PostgreSQL and open in MySQL, and
 * "a" is a name in the one and text in the other. A wrong guess turns the text inside out and would
 * show what is private, so every reader says which dialect it is.
 *
 *      SELECT "name" FROM users WHERE id = 'a\'b' -- who
 *      word   name   word word  word  word = string  comment
 */
#ifndef WP_CAPTURE_SQL_H
#define WP_CAPTURE_SQL_H

#include <glib.h>

#include "capture/decoder.h"

/* How a dialect differs, a set of bits. */
enum {
	WP_SQL_BACKSLASH = 1,     /* '\'' is one quote */
	WP_SQL_DOUBLE_TEXT = 2,   /* "a" is text, not a name */
	WP_SQL_HASH = 4,          /* # begins a comment; -- does so only before white space */
	WP_SQL_CODE_COMMENTS = 8, /* the text of a comment that begins with ! is SQL */
	WP_SQL_NESTED = 16,       /* comments nest */
	WP_SQL_DOLLAR = 32,       /* $tag$text$tag$, E'\n' */
	WP_SQL_LOWER = 64,        /* names without quotes are in lower case */
	WP_SQL_VARIABLES = 128    /* @name, @@name */
};

#define WP_SQL_POSTGRES (WP_SQL_NESTED | WP_SQL_DOLLAR | WP_SQL_LOWER)
#define WP_SQL_MYSQL                                                                               \
	(WP_SQL_BACKSLASH | WP_SQL_DOUBLE_TEXT | WP_SQL_HASH | WP_SQL_CODE_COMMENTS |              \
	 WP_SQL_VARIABLES)

/*
 * No more of a statement than this is looked at: longer ones are data. 8 KiB hold the column lists
 * that object mappers write before FROM.
 */
#define WP_SQL_LOOK_BYTES (8 * 1024)

typedef enum {
	WP_SQL_END,
	WP_SQL_WORD,      /* keyword or name without quotes */
	WP_SQL_NAME,      /* name in "" or ``, without them; doubled quotes inside stay doubled */
	WP_SQL_TEXT,      /* text literal, without quotes */
	WP_SQL_NUMBER,    /* number literal, or anything else that begins with a digit */
	WP_SQL_PARAMETER, /* $1 */
	WP_SQL_VARIABLE,  /* @name, @@name, with the signs */
	WP_SQL_COMMENT,   /* with its signs */
	WP_SQL_SIGN       /* one other character; "::" is one too */
} WpSqlType;

typedef struct {
	WpSqlType type;
	char quote; /* of WP_SQL_NAME and WP_SQL_TEXT: what it began with */
	const char *text;
	gsize length;
} WpSqlToken;

typedef struct {
	const char *text;
	gsize length;
	gsize at;
	guint dialect;
	gboolean in_code_comment;
} WpSql;

static inline WpSql
wp_sql(const char *text, gsize length, guint dialect)
{
	return (WpSql){ text, MIN(length, WP_SQL_LOOK_BYTES), 0, dialect, FALSE };
}

/* The next token. A literal that is not closed goes on to the end; a name so is WP_SQL_TEXT. */
WpSqlToken wp_sql_next(WpSql *sql);

/* A word without quotes, in capitals; FALSE where TOKEN is none, or too long for a keyword. */
#define WP_SQL_KEYWORD_MAX 24
gboolean wp_sql_keyword(const WpSqlToken *token, char buffer[WP_SQL_KEYWORD_MAX]);

/* Adds the token hashes of the literals and comments of a statement to MESSAGE. */
void wp_sql_add_tokens(WpDecodeContext *context, WpMessage *message, guint dialect,
		       const char *text, gsize length);

#endif
