/* The words of SQL that matter to labels: verbs that begin a statement, and keywords in it. */
#ifndef WP_CAPTURE_SQL_WORDS_H
#define WP_CAPTURE_SQL_WORDS_H

#include <glib.h>

/* What a word may mean, a set of bits; which it is depends on where it stands. */
enum {
	WP_SQL_ROLE_FROM = 1,
	WP_SQL_ROLE_JOIN = 2,
	WP_SQL_ROLE_INTO = 4,
	WP_SQL_ROLE_USING = 8,
	WP_SQL_ROLE_WHERE = 16,
	WP_SQL_ROLE_FILE = 32,       /* INTO OUTFILE: no table */
	WP_SQL_ROLE_END = 64,        /* ends a list of tables, or a WHERE */
	WP_SQL_ROLE_NOISE = 128,     /* may stand between FROM, INTO, TABLE, ... and the name */
	WP_SQL_ROLE_COMPARE = 256,   /* compares what is before it */
	WP_SQL_ROLE_VALUE = 512,     /* no column, though a comparison may follow */
	WP_SQL_ROLE_SCOPE = 1024,    /* SET SESSION x, SHOW FULL x */
	WP_SQL_ROLE_CTE = 2048,      /* WITH RECURSIVE x AS MATERIALIZED (...) */
	WP_SQL_ROLE_DISTINCT = 4096, /* IS DISTINCT FROM */
	WP_SQL_ROLE_SET = 8192,
	WP_SQL_ROLE_ORDER = 16384,
	WP_SQL_ROLE_RANGE = 32768 /* compares, and not for being equal */
};

typedef struct {
	const char *word; /* in capitals; so is what is looked for */
	guint roles;
} WpSqlKeyword;

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

/* NULL where WORD is none. */
const WpSqlKeyword *wp_sql_keyword_find(const char *word);
const WpSqlVerb *wp_sql_verb_find(const char *word);

#endif
