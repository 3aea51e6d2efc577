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

#include "capture/sql-words.h"
#include "capture/sql.h"

typedef struct {
	const char *text;
	gsize length;
	gboolean is_quoted;
	gboolean is_function;
	const char *compared; /* how WHERE compares it: "<", "BETWEEN"; NULL for = and IN, */
	gsize compared_length;
} WpSqlName;

#define WP_SQL_MAX_TABLES  4
#define WP_SQL_MAX_COLUMNS 4
#define WP_SQL_MAX_ITEMS   3
#define WP_SQL_MAX_ORDER   2

typedef struct {
	const WpSqlVerb *prefix; /* EXPLAIN, DECLARE; or NULL */
	const WpSqlVerb *verb;   /* NULL where there is none that is known */
	WpSqlName word;          /* the second word of SET, SHOW, CREATE, ...; or of no length */
	WpSqlName tables[WP_SQL_MAX_TABLES];
	WpSqlName columns[WP_SQL_MAX_COLUMNS]; /* that the outermost WHERE compares */
	WpSqlName items[WP_SQL_MAX_ITEMS];     /* the first name in each item of SELECT or SET */
	WpSqlName order[WP_SQL_MAX_ORDER];     /* likewise of ORDER BY */
	guint n_tables;                        /* one over WP_SQL_MAX_TABLES: there were more; */
	guint n_columns;                       /* so is this */
	guint n_items;                         /* and this */
	guint n_order;                         /* and this */
} WpSqlStatement;

/*
 * Reads the next statement; FALSE where nothing but white space, comments and semicolons is left.
 * OUT_STATEMENT need not be cleared before.
 */
gboolean wp_sql_read_statement(WpSql *sql, WpSqlStatement *out_statement);

#endif
