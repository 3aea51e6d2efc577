/*
 * WpSqlStatement: what one SQL statement does, and to which tables: what label-sql.c makes a label of.
 *
 * This is not a parser: it walks over tokens, keeps what kind of clause each open parenthesis is in,
 * and picks up names after FROM, JOIN, INTO and the like. So it takes any dialect and any garbage.
 * Names point into the text.
 */
#ifndef WP_CAPTURE_SQL_STATEMENT_H
#define WP_CAPTURE_SQL_STATEMENT_H

#include <glib.h>

#include "capture/sql.h"

typedef struct {
	const char *text;
	gsize length;
	gboolean is_quoted;
	gboolean is_function;
} WpSqlName;

/* What follows a verb, a set of bits. */
enum {
	WP_SQL_VERB_QUERY = 1,    /* FROM, WHERE, ... have their meaning */
	WP_SQL_VERB_TARGET = 2,   /* a name follows */
	WP_SQL_VERB_LIST = 4,     /* several names, with commas */
	WP_SQL_VERB_WORD = 8,     /* one more word, which belongs to the label */
	WP_SQL_VERB_SETTING = 16, /* that word is the name of a setting, not a keyword */
	WP_SQL_VERB_PREFIX = 32,  /* another statement, which belongs to the label */
	WP_SQL_VERB_MINOR = 64,   /* setting or transaction bracket: other statements say more */
	WP_SQL_VERB_OBJECT = 128, /* a kind of object, then its name */
	WP_SQL_VERB_CHANGE = 256  /* its target comes before tables that are read */
};

typedef struct {
	const char *word;
	const char *label; /* where the word has a more usual name, that */
	guint flags;
} WpSqlVerb;

#define WP_SQL_MAX_TABLES  4
#define WP_SQL_MAX_COLUMNS 4
#define WP_SQL_MAX_ITEMS   3

typedef struct {
	const WpSqlVerb *prefix; /* EXPLAIN, DECLARE; or NULL */
	const WpSqlVerb *verb;   /* NULL where there is none that is known */
	WpSqlName word;          /* the second word of SET, SHOW, CREATE, ...; or of no length */
	WpSqlName tables[WP_SQL_MAX_TABLES];
	WpSqlName columns[WP_SQL_MAX_COLUMNS]; /* that the outermost WHERE compares */
	WpSqlName items[WP_SQL_MAX_ITEMS];     /* the first name in each item of SELECT or SET */
	guint n_tables;                        /* one over WP_SQL_MAX_TABLES: there were more; */
	guint n_columns;                       /* so is this */
	guint n_items;                         /* and this */
} WpSqlStatement;

/*
 * Reads the next statement; FALSE where nothing but white space, comments and semicolons is left.
 * OUT_STATEMENT need not be cleared before.
 */
gboolean wp_sql_read_statement(WpSql *sql, WpSqlStatement *out_statement);

#endif
