/*
 * One pass over the tokens of a statement. Sources: PostgreSQL manual, part VI (SQL commands); MySQL
 * reference manual, chapter 13 (SQL statements); MariaDB manual, "SQL Statements".
 *
 *      WITH r AS (SELECT id FROM a) DELETE FROM b USING r WHERE b.id = r.id AND lower(b.x) IN (1)
 *      frame 0: with ...............|tables .........|where .............................
 *      frame 1:   list     | tables                                     |where |   |where
 *                            a                  b    (r)      id               x
 */
#include "capture/sql-statement.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_DEPTH = 32, /* parentheses whose clauses are kept apart */
	MAX_CTES = 8    /* names of WITH that are known to be no tables */
};

/* What a word may mean, a set of bits; which it is depends on where it stands. */
enum {
	ROLE_FROM = 1,
	ROLE_JOIN = 2,
	ROLE_INTO = 4,
	ROLE_USING = 8,
	ROLE_WHERE = 16,
	ROLE_FILE = 32,       /* INTO OUTFILE: no table */
	ROLE_END = 64,        /* ends a list of tables, or a WHERE */
	ROLE_NOISE = 128,     /* may stand between FROM, INTO, TABLE, ... and the name */
	ROLE_COMPARE = 256,   /* compares what is before it */
	ROLE_VALUE = 512,     /* no column, though a comparison may follow */
	ROLE_SCOPE = 1024,    /* SET SESSION x, SHOW FULL x */
	ROLE_CTE = 2048,      /* WITH RECURSIVE x AS MATERIALIZED (...) */
	ROLE_DISTINCT = 4096, /* IS DISTINCT FROM */
	ROLE_SET = 8192
};

typedef struct {
	const char *word;
	guint roles;
} Keyword;

static const Keyword keywords[] = {
	{ "ALL", ROLE_VALUE },
	{ "ANALYZE", ROLE_NOISE },
	{ "AND", ROLE_VALUE },
	{ "ANY", ROLE_VALUE },
	{ "AS", ROLE_CTE },
	{ "BETWEEN", ROLE_COMPARE },
	{ "BINARY", ROLE_NOISE },
	{ "CASE", ROLE_VALUE },
	{ "COLLATE", ROLE_COMPARE },
	{ "CONCURRENTLY", ROLE_NOISE },
	{ "DELAYED", ROLE_NOISE },
	{ "DISTINCT", ROLE_DISTINCT },
	{ "DISTINCTROW", ROLE_VALUE },
	{ "DUMPFILE", ROLE_FILE },
	{ "END", ROLE_VALUE },
	{ "EXCEPT", ROLE_END },
	{ "EXISTS", ROLE_NOISE | ROLE_VALUE },
	{ "EXTENDED", ROLE_NOISE | ROLE_SCOPE },
	{ "FALSE", ROLE_VALUE },
	{ "FETCH", ROLE_END },
	{ "FOR", ROLE_END },
	{ "FREEZE", ROLE_NOISE },
	{ "FROM", ROLE_FROM },
	{ "FULL", ROLE_NOISE | ROLE_SCOPE },
	{ "GLOBAL", ROLE_SCOPE },
	{ "GROUP", ROLE_END },
	{ "HAVING", ROLE_END },
	{ "HIGH_PRIORITY", ROLE_NOISE },
	{ "IF", ROLE_NOISE },
	{ "IGNORE", ROLE_NOISE },
	{ "ILIKE", ROLE_COMPARE },
	{ "IMMEDIATE", ROLE_NOISE },
	{ "IN", ROLE_COMPARE },
	{ "INTERSECT", ROLE_END },
	{ "INTERVAL", ROLE_VALUE },
	{ "INTO", ROLE_INTO },
	{ "IS", ROLE_COMPARE },
	{ "ISNULL", ROLE_COMPARE },
	{ "JOIN", ROLE_JOIN },
	{ "LATERAL", ROLE_NOISE },
	{ "LIKE", ROLE_COMPARE },
	{ "LIMIT", ROLE_END },
	{ "LOCAL", ROLE_NOISE | ROLE_SCOPE },
	{ "LOW_PRIORITY", ROLE_NOISE },
	{ "MATERIALIZED", ROLE_CTE },
	{ "NOT", ROLE_NOISE | ROLE_COMPARE | ROLE_CTE },
	{ "NOTNULL", ROLE_COMPARE },
	{ "NO_WRITE_TO_BINLOG", ROLE_NOISE },
	{ "NULL", ROLE_VALUE },
	{ "OFFSET", ROLE_END },
	{ "ON", ROLE_VALUE },
	{ "ONLY", ROLE_NOISE },
	{ "OR", ROLE_VALUE },
	{ "ORDER", ROLE_END },
	{ "OUTFILE", ROLE_FILE },
	{ "OVERLAPS", ROLE_COMPARE },
	{ "PERSIST", ROLE_SCOPE },
	{ "QUICK", ROLE_NOISE },
	{ "RECURSIVE", ROLE_CTE },
	{ "REGEXP", ROLE_COMPARE },
	{ "RETURNING", ROLE_END },
	{ "RLIKE", ROLE_COMPARE },
	{ "SESSION", ROLE_SCOPE },
	{ "SET", ROLE_END | ROLE_SET },
	{ "SIMILAR", ROLE_COMPARE },
	{ "SOME", ROLE_VALUE },
	{ "SQL_CALC_FOUND_ROWS", ROLE_VALUE },
	{ "SQL_NO_CACHE", ROLE_VALUE },
	{ "STRAIGHT_JOIN", ROLE_JOIN },
	{ "TABLE", ROLE_NOISE },
	{ "TABLES", ROLE_NOISE },
	{ "TEMP", ROLE_NOISE },
	{ "TEMPORARY", ROLE_NOISE },
	{ "TRANSACTION", ROLE_NOISE },
	{ "TRUE", ROLE_VALUE },
	{ "UNION", ROLE_END },
	{ "UNLOGGED", ROLE_NOISE },
	{ "USING", ROLE_USING },
	{ "VALUES", ROLE_END },
	{ "VERBOSE", ROLE_NOISE },
	{ "WHEN", ROLE_VALUE },
	{ "WHERE", ROLE_WHERE },
	{ "WINDOW", ROLE_END },
};

static const WpSqlVerb verbs[] = {
	{ "ABORT", "ROLLBACK", WP_SQL_VERB_MINOR },
	{ "ALTER", "ALTER", WP_SQL_VERB_OBJECT },
	{ "ANALYZE", "ANALYZE", WP_SQL_VERB_TARGET | WP_SQL_VERB_LIST },
	{ "BASE_BACKUP", "BASE_BACKUP", 0 },
	{ "BEGIN", "BEGIN", WP_SQL_VERB_MINOR },
	{ "CALL", "CALL", WP_SQL_VERB_TARGET },
	{ "CHANGE", "CHANGE", WP_SQL_VERB_WORD },
	{ "CHECK", "CHECK", WP_SQL_VERB_TARGET | WP_SQL_VERB_LIST },
	{ "CHECKPOINT", "CHECKPOINT", 0 },
	{ "CHECKSUM", "CHECKSUM", WP_SQL_VERB_TARGET | WP_SQL_VERB_LIST },
	{ "CLOSE", "CLOSE", 0 },
	{ "CLUSTER", "CLUSTER", WP_SQL_VERB_TARGET },
	{ "COMMENT", "COMMENT", 0 },
	{ "COMMIT", "COMMIT", WP_SQL_VERB_MINOR },
	{ "COPY", "COPY", WP_SQL_VERB_TARGET },
	{ "CREATE", "CREATE", WP_SQL_VERB_OBJECT },
	{ "DEALLOCATE", "DEALLOCATE", WP_SQL_VERB_MINOR },
	{ "DECLARE", "DECLARE", WP_SQL_VERB_PREFIX },
	{ "DELETE", "DELETE", WP_SQL_VERB_QUERY | WP_SQL_VERB_CHANGE },
	{ "DESC", "DESCRIBE", WP_SQL_VERB_TARGET },
	{ "DESCRIBE", "DESCRIBE", WP_SQL_VERB_TARGET },
	{ "DISCARD", "DISCARD", WP_SQL_VERB_MINOR | WP_SQL_VERB_WORD },
	{ "DO", "DO", 0 },
	{ "DROP", "DROP", WP_SQL_VERB_OBJECT },
	{ "END", "COMMIT", WP_SQL_VERB_MINOR },
	{ "EXEC", "EXECUTE", WP_SQL_VERB_TARGET },
	{ "EXECUTE", "EXECUTE", WP_SQL_VERB_TARGET },
	{ "EXPLAIN", "EXPLAIN", WP_SQL_VERB_PREFIX },
	{ "FETCH", "FETCH", 0 },
	{ "FLUSH", "FLUSH", WP_SQL_VERB_WORD },
	{ "GRANT", "GRANT", 0 },
	{ "HANDLER", "HANDLER", WP_SQL_VERB_TARGET },
	{ "IDENTIFY_SYSTEM", "IDENTIFY_SYSTEM", 0 },
	{ "INSERT", "INSERT", WP_SQL_VERB_QUERY | WP_SQL_VERB_TARGET | WP_SQL_VERB_CHANGE },
	{ "KILL", "KILL", 0 },
	{ "LISTEN", "LISTEN", WP_SQL_VERB_TARGET },
	{ "LOAD", "LOAD", WP_SQL_VERB_QUERY },
	{ "LOCK", "LOCK", WP_SQL_VERB_TARGET | WP_SQL_VERB_LIST },
	{ "MERGE", "MERGE", WP_SQL_VERB_QUERY | WP_SQL_VERB_TARGET | WP_SQL_VERB_CHANGE },
	{ "MOVE", "MOVE", 0 },
	{ "NOTIFY", "NOTIFY", WP_SQL_VERB_TARGET },
	{ "OPTIMIZE", "OPTIMIZE", WP_SQL_VERB_TARGET | WP_SQL_VERB_LIST },
	{ "PREPARE", "PREPARE", WP_SQL_VERB_TARGET },
	{ "PURGE", "PURGE", WP_SQL_VERB_WORD },
	{ "REFRESH", "REFRESH", WP_SQL_VERB_OBJECT },
	{ "REINDEX", "REINDEX", WP_SQL_VERB_OBJECT },
	{ "RELEASE", "RELEASE", WP_SQL_VERB_MINOR },
	{ "RENAME", "RENAME", WP_SQL_VERB_OBJECT },
	{ "REPAIR", "REPAIR", WP_SQL_VERB_TARGET | WP_SQL_VERB_LIST },
	{ "REPLACE", "REPLACE", WP_SQL_VERB_QUERY | WP_SQL_VERB_TARGET | WP_SQL_VERB_CHANGE },
	{ "RESET", "RESET", WP_SQL_VERB_MINOR | WP_SQL_VERB_WORD | WP_SQL_VERB_SETTING },
	{ "REVOKE", "REVOKE", 0 },
	{ "ROLLBACK", "ROLLBACK", WP_SQL_VERB_MINOR },
	{ "SAVEPOINT", "SAVEPOINT", WP_SQL_VERB_MINOR },
	{ "SELECT", "SELECT", WP_SQL_VERB_QUERY },
	{ "SET", "SET", WP_SQL_VERB_MINOR | WP_SQL_VERB_WORD | WP_SQL_VERB_SETTING },
	{ "SHOW", "SHOW", WP_SQL_VERB_WORD | WP_SQL_VERB_SETTING },
	{ "START", "START", WP_SQL_VERB_MINOR | WP_SQL_VERB_WORD },
	{ "START_REPLICATION", "START_REPLICATION", 0 },
	{ "STOP", "STOP", WP_SQL_VERB_WORD },
	{ "TABLE", "TABLE", WP_SQL_VERB_TARGET },
	{ "TRUNCATE", "TRUNCATE", WP_SQL_VERB_TARGET | WP_SQL_VERB_LIST },
	{ "UNLISTEN", "UNLISTEN", WP_SQL_VERB_TARGET },
	{ "UNLOCK", "UNLOCK", WP_SQL_VERB_WORD },
	{ "UPDATE", "UPDATE",
	  WP_SQL_VERB_QUERY | WP_SQL_VERB_TARGET | WP_SQL_VERB_LIST | WP_SQL_VERB_CHANGE },
	{ "USE", "USE", WP_SQL_VERB_MINOR },
	{ "VACUUM", "VACUUM", WP_SQL_VERB_TARGET | WP_SQL_VERB_LIST },
	{ "VALUES", "VALUES", WP_SQL_VERB_QUERY },
	{ "WITH", "WITH", WP_SQL_VERB_QUERY },
	{ "XA", "XA", WP_SQL_VERB_WORD },
};

typedef enum {
	CLAUSE_OTHER,
	CLAUSE_LIST,   /* between SELECT and FROM */
	CLAUSE_TABLES, /* after FROM, JOIN, INTO, ... */
	CLAUSE_WHERE,
	CLAUSE_WITH
} Clause;

/* One level of parentheses; the lowest is the statement itself. */
typedef struct {
	Clause clause;
	gboolean is_query; /* FROM, WHERE and the like have their meaning */
	gboolean is_fresh; /* nothing has been read yet */
	gboolean expects;  /* the next name is a table */
	gboolean is_list;  /* after a comma too */
	gboolean is_outer; /* its columns and items belong to the statement */
} Frame;

typedef struct {
	WpSql *sql;
	WpSqlStatement *found;
	WpSqlToken token;
	char keyword[WP_SQL_KEYWORD_MAX]; /* the token in capitals; "" where it is no word */
	guint roles;                      /* of the token */
	guint roles_before;               /* of the token before it */
	Frame frames[MAX_DEPTH];
	guint depth; /* may be MAX_DEPTH or more */
	WpSqlName ctes[MAX_CTES];
	guint n_ctes;               /* MAX_CTES + 1: there were more */
	guint n_ahead;              /* tables read before the target of a change was */
	WpSqlName operand;          /* a column, if a comparison follows */
	gboolean has_item;          /* a name of this item of SELECT or SET has been taken */
	gboolean is_operand_closed; /* by a parenthesis: lower(email) = */
} Reader;

static int
compare_keyword(const void *key, const void *keyword)
{
	return strcmp(key, ((const Keyword *)keyword)->word);
}

static int
compare_verb(const void *key, const void *verb)
{
	return strcmp(key, ((const WpSqlVerb *)verb)->word);
}

static const WpSqlVerb *
find_verb(const Reader *r)
{
	return bsearch(r->keyword, verbs, G_N_ELEMENTS(verbs), sizeof verbs[0], compare_verb);
}

static void
advance(Reader *r)
{
	r->roles_before = r->roles;
	do
		r->token = wp_sql_next(r->sql);
	while (r->token.type == WP_SQL_COMMENT);
	r->roles = 0;
	if (!wp_sql_keyword(&r->token, r->keyword)) {
		r->keyword[0] = '\0';
		return;
	}
	const Keyword *keyword = bsearch(r->keyword, keywords, G_N_ELEMENTS(keywords),
					 sizeof keywords[0], compare_keyword);
	r->roles = keyword ? keyword->roles : 0;
}

static gboolean
is_word(const Reader *r, const char *word)
{
	return strcmp(r->keyword, word) == 0;
}

static gboolean
is_sign(const Reader *r, char sign)
{
	return r->token.type == WP_SQL_SIGN && r->token.length == 1 && r->token.text[0] == sign;
}

static gboolean
is_name(const Reader *r)
{
	return r->token.length > 0 &&
	       (r->token.type == WP_SQL_WORD || r->token.type == WP_SQL_NAME);
}

static gboolean
is_statement_end(const Reader *r)
{
	return r->token.type == WP_SQL_END || (is_sign(r, ';') && r->depth == 0);
}

static Frame *
top(Reader *r)
{
	return &r->frames[MIN(r->depth, MAX_DEPTH - 1)];
}

static gboolean
contains(const WpSqlName *names, guint n, const WpSqlName *name)
{
	for (guint i = 0; i < n; i++)
		if (names[i].length == name->length &&
		    g_ascii_strncasecmp(names[i].text, name->text, name->length) == 0)
			return TRUE;
	return FALSE;
}

/* Puts NAME at AT, once; N becomes MAX + 1 where one is pushed out. Returns N. */
static guint
insert_name(WpSqlName *names, guint n, guint max, guint at, const WpSqlName *name)
{
	guint kept = MIN(n, max);
	if (contains(names, kept, name))
		return n;
	if (at < max) {
		guint behind = MIN(kept, max - 1) - MIN(at, kept);
		memmove(names + at + 1, names + at, behind * sizeof *names);
		names[at] = *name;
	}
	return MIN(n + 1, max + 1);
}

static void
add_table(Reader *r, const WpSqlName *name)
{
	static const WpSqlName dual = { "dual", 4, FALSE, FALSE };
	if (contains(r->ctes, MIN(r->n_ctes, MAX_CTES), name) || contains(&dual, 1, name))
		return;
	guint at = r->n_ahead > 0 ? 0 : r->found->n_tables;
	r->n_ahead = 0;
	r->found->n_tables =
		insert_name(r->found->tables, r->found->n_tables, WP_SQL_MAX_TABLES, at, name);
}

static void
add_item(Reader *r, const WpSqlName *name)
{
	WpSqlStatement *found = r->found;
	found->n_items =
		insert_name(found->items, found->n_items, WP_SQL_MAX_ITEMS, found->n_items, name);
}

static WpSqlName
token_name(const Reader *r)
{
	return (WpSqlName){ r->token.text, r->token.length, r->token.type == WP_SQL_NAME, FALSE };
}

/* schema.table at the token: the last part. The token moves to what follows. */
static WpSqlName
read_name(Reader *r)
{
	WpSqlName name = token_name(r);
	advance(r);
	while (is_sign(r, '.')) {
		advance(r);
		if (!is_name(r))
			break;
		name = token_name(r);
		advance(r);
	}
	return name;
}

static void
expect_tables(Frame *frame, gboolean is_list)
{
	frame->clause = CLAUSE_TABLES;
	frame->expects = TRUE;
	frame->is_list = is_list;
}

static void
begin_clause(Reader *r, Frame *frame, Clause clause)
{
	frame->clause = clause;
	frame->expects = FALSE;
	r->operand.length = 0;
	r->has_item = FALSE;
}

static gboolean
is_update(const Reader *r)
{
	return r->found->verb && strcmp(r->found->verb->word, "UPDATE") == 0;
}

/*
 * TRUE where the word at the token begins a clause, which has been noted. In parentheses that hold no
 * query FROM is EXTRACT's or the like; IS DISTINCT FROM compares.
 */
static gboolean
enter_clause(Reader *r, Frame *frame)
{
	gboolean is_set = (r->roles & ROLE_SET) && frame == r->frames && is_update(r);
	if (is_word(r, "SELECT") || is_set)
		begin_clause(r, frame, CLAUSE_LIST);
	else if ((r->roles & ROLE_JOIN) && frame->clause == CLAUSE_TABLES)
		expect_tables(frame, TRUE);
	else if (r->roles & (ROLE_END | ROLE_FILE))
		begin_clause(r, frame, CLAUSE_OTHER);
	else if (!frame->is_query)
		return FALSE;
	else if (r->roles & ROLE_WHERE)
		begin_clause(r, frame, CLAUSE_WHERE);
	else if (r->roles & ROLE_INTO)
		expect_tables(frame, FALSE);
	else if (r->roles & ROLE_USING)
		expect_tables(frame, TRUE);
	else if ((r->roles & ROLE_FROM) && !(r->roles_before & ROLE_DISTINCT))
		expect_tables(frame, TRUE);
	else
		return FALSE;
	return TRUE;
}

static void
take_table(Reader *r, Frame *frame)
{
	frame->expects = FALSE;
	WpSqlName name = read_name(r);
	if (name.text + name.length == r->sql->text + WP_SQL_LOOK_BYTES)
		return; /* perhaps cut in the middle */
	name.is_function = frame->is_query && frame->is_list && is_sign(r, '(');
	add_table(r, &name);
}

/* The first name in each item of a SELECT or SET list. */
static void
take_item(Reader *r, const Frame *frame)
{
	const guint other =
		ROLE_VALUE | ROLE_DISTINCT | ROLE_COMPARE | ROLE_NOISE | ROLE_JOIN | ROLE_CTE;
	if (!frame->is_outer || r->has_item || (r->roles & other)) {
		advance(r);
		return;
	}
	WpSqlName name = read_name(r);
	if (is_sign(r, '*')) /* t.* */
		return;
	name.is_function = is_sign(r, '(');
	r->has_item = TRUE;
	add_item(r, &name);
}

static void
take_column(Reader *r)
{
	if (r->operand.length > 0)
		r->found->n_columns =
			insert_name(r->found->columns, r->found->n_columns, WP_SQL_MAX_COLUMNS,
				    r->found->n_columns, &r->operand);
	r->operand.length = 0;
}

/* A word or name in the outermost WHERE. */
static void
take_where_word(Reader *r)
{
	if (r->roles & ROLE_COMPARE) {
		take_column(r);
		advance(r);
		return;
	}
	gboolean is_value = (r->roles & ROLE_VALUE) != 0;
	r->operand = read_name(r);
	r->is_operand_closed = FALSE;
	if (is_value || is_sign(r, '('))
		r->operand.length = 0;
}

/* Any other token in the outermost WHERE. */
static void
take_where_sign(Reader *r)
{
	static const char compare_signs[] = { '=', '<', '>', '!', '~', '@', '&' };
	char sign = r->token.type == WP_SQL_SIGN ? r->token.text[0] : '\0';
	if (sign != '\0' && memchr(compare_signs, sign, sizeof compare_signs))
		take_column(r);
	else if (sign == ')' && !r->is_operand_closed)
		r->is_operand_closed = TRUE;
	else
		r->operand.length = 0;
}

/* WITH [RECURSIVE] name [(columns)] AS (...), name AS (...) */
static void
take_cte(Reader *r, const Frame *frame)
{
	WpSqlName name = token_name(r);
	if (frame->is_query && !(r->roles & ROLE_CTE))
		r->n_ctes = insert_name(r->ctes, r->n_ctes, MAX_CTES, r->n_ctes, &name);
	advance(r);
}

/* VERB, at the token, rules FRAME from here on. */
static void
begin_query(Reader *r, Frame *frame, const WpSqlVerb *verb)
{
	frame->is_query = (verb->flags & WP_SQL_VERB_QUERY) != 0;
	frame->is_fresh = FALSE;
	frame->clause = CLAUSE_OTHER;
	if (is_word(r, "SELECT"))
		frame->clause = CLAUSE_LIST;
	else if (is_word(r, "WITH"))
		frame->clause = CLAUSE_WITH;
	else if (verb->flags & WP_SQL_VERB_TARGET)
		expect_tables(frame, (verb->flags & WP_SQL_VERB_LIST) != 0);
	if (r->depth == 0 && (verb->flags & WP_SQL_VERB_CHANGE))
		r->n_ahead = r->found->n_tables;
	advance(r);
}

/* The first word in parentheses may make a query of them. */
static gboolean
enter_subquery(Reader *r, Frame *frame)
{
	const WpSqlVerb *verb = frame->is_fresh ? find_verb(r) : NULL;
	frame->is_fresh = FALSE;
	if (!verb || !(verb->flags & WP_SQL_VERB_QUERY) ||
	    is_word(r, "REPLACE")) /* a function here */
		return FALSE;
	frame->is_outer = FALSE;
	frame->expects = FALSE;
	begin_query(r, frame, verb);
	return TRUE;
}

/* A word or name anywhere in a query. */
static void
read_query_word(Reader *r)
{
	Frame *frame = top(r);
	if (enter_subquery(r, frame))
		return;
	const WpSqlVerb *verb = frame->clause == CLAUSE_WITH ? find_verb(r) : NULL;
	if (verb && (verb->flags & WP_SQL_VERB_QUERY)) {
		if (r->depth == 0)
			r->found->verb = verb;
		begin_query(r, frame, verb);
	} else if (frame->clause == CLAUSE_WITH) {
		take_cte(r, frame);
	} else if (enter_clause(r, frame) || (frame->expects && (r->roles & ROLE_NOISE))) {
		advance(r);
	} else if (frame->expects) {
		take_table(r, frame);
	} else if (frame->clause == CLAUSE_WHERE && frame->is_outer) {
		take_where_word(r);
	} else if (frame->clause == CLAUSE_LIST) {
		take_item(r, frame);
	} else {
		advance(r);
	}
}

/* FROM (a JOIN b) names tables; USING (a) does not. */
static void
open_frame(Reader *r)
{
	Frame frame = *top(r);
	frame.is_query = FALSE;
	frame.is_fresh = TRUE;
	frame.expects = frame.expects && !(r->roles_before & ROLE_USING);
	frame.is_list = frame.expects;
	top(r)->expects = FALSE;
	r->depth++;
	*top(r) = frame;
}

/* A sign in a list, or a variable that is an item of it. */
static void
take_list_sign(Reader *r, const Frame *frame)
{
	if (is_sign(r, ',') && frame->is_query)
		r->has_item = FALSE;
	if (r->token.type != WP_SQL_VARIABLE || r->has_item)
		return;
	WpSqlName name = token_name(r);
	r->has_item = TRUE;
	add_item(r, &name);
}

/* Anything but words and names. */
static void
read_query_sign(Reader *r)
{
	Frame *frame = top(r);
	frame->is_fresh = FALSE;
	if (frame->clause == CLAUSE_LIST && frame->is_outer)
		take_list_sign(r, frame);
	if (r->token.type == WP_SQL_SIGN && r->token.length == 2)
		advance(r); /* value::type */
	else if (frame->clause == CLAUSE_WHERE && frame->is_outer)
		take_where_sign(r);
	if (is_sign(r, '('))
		open_frame(r);
	else if (is_sign(r, ')') && r->depth > 0)
		r->depth--;
	else
		frame->expects =
			is_sign(r, ',') && frame->clause == CLAUSE_TABLES && frame->is_list;
	advance(r);
}

static void
read_query(Reader *r)
{
	begin_query(r, top(r), r->found->verb);
	while (!is_statement_end(r)) {
		if (is_name(r))
			read_query_word(r);
		else
			read_query_sign(r);
	}
}

static void
skip_statement(Reader *r)
{
	while (!is_statement_end(r))
		advance(r);
}

/* What CREATE, ALTER, DROP, ... may be about. */
typedef struct {
	const char *word;
	gboolean is_named; /* its name goes into the label */
	gboolean is_on;    /* the name of what it is ON is what counts */
	gboolean has_body; /* which may hold semicolons */
} ObjectKind;

static const ObjectKind kinds[] = {
	{ "TABLE", TRUE, FALSE, FALSE },      { "INDEX", TRUE, TRUE, FALSE },
	{ "VIEW", TRUE, FALSE, FALSE },       { "SEQUENCE", TRUE, FALSE, FALSE },
	{ "FUNCTION", TRUE, FALSE, TRUE },    { "PROCEDURE", TRUE, FALSE, TRUE },
	{ "TRIGGER", TRUE, TRUE, TRUE },      { "TYPE", TRUE, FALSE, FALSE },
	{ "DATABASE", FALSE, FALSE, FALSE },  { "SCHEMA", FALSE, FALSE, FALSE },
	{ "EXTENSION", FALSE, FALSE, FALSE }, { "USER", FALSE, FALSE, FALSE },
	{ "ROLE", FALSE, FALSE, FALSE },      { "EVENT", FALSE, FALSE, TRUE },
	{ "POLICY", FALSE, FALSE, FALSE },    { "SYSTEM", FALSE, FALSE, FALSE },
};

static const ObjectKind *
find_kind(const Reader *r)
{
	for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (is_word(r, kinds[i].word))
			return &kinds[i];
	return NULL;
}

/* [IF NOT EXISTS] name; of no length where there is none. */
static WpSqlName
read_object_name(Reader *r)
{
	while (r->roles & ROLE_NOISE)
		advance(r);
	if (is_name(r) && !is_word(r, "ON"))
		return read_name(r);
	return (WpSqlName){ NULL, 0, FALSE, FALSE };
}

/* CREATE [OR REPLACE] [UNIQUE ...] kind [IF NOT EXISTS] name [ON table] */
static void
read_object(Reader *r)
{
	const ObjectKind *kind = NULL;
	for (advance(r); !is_statement_end(r) && !kind; advance(r)) {
		kind = find_kind(r);
		r->found->word = token_name(r);
	}
	if (!kind) {
		r->found->word.length = 0;
		return;
	}
	WpSqlName name = read_object_name(r);
	while (kind->is_on && !is_statement_end(r)) {
		gboolean is_on = is_word(r, "ON");
		advance(r);
		if (is_on)
			name = read_object_name(r);
	}
	if (kind->is_named && name.length > 0)
		add_table(r, &name);
	if (kind->has_body)
		r->sql->at = r->sql->length;
	skip_statement(r);
}

/* SET [SESSION] name = ..., SHOW [FULL] kind ... */
static void
read_word(Reader *r)
{
	do
		advance(r);
	while (r->roles & ROLE_SCOPE);
	if (is_name(r))
		r->found->word = read_name(r);
	else if (r->token.type == WP_SQL_VARIABLE)
		r->found->word = token_name(r);
	skip_statement(r);
}

/* ROLLBACK TO a savepoint does not end the transaction; ROLLBACK does. */
static void
read_plain(Reader *r)
{
	for (advance(r); !is_statement_end(r); advance(r))
		if (is_word(r, "TO") && strcmp(r->found->verb->label, "ROLLBACK") == 0)
			r->found->word = token_name(r);
}

/* EXPLAIN (ANALYZE) SELECT ..., DECLARE c CURSOR FOR SELECT ...: to the verb that matters. */
static void
read_prefix(Reader *r)
{
	r->found->prefix = r->found->verb;
	r->found->verb = NULL;
	for (advance(r); !is_statement_end(r); advance(r)) {
		r->found->verb = find_verb(r);
		if (r->found->verb && (r->found->verb->flags & WP_SQL_VERB_QUERY))
			return;
		r->found->verb = NULL;
	}
}

/* From the token, which is its first word, to the end of the statement. */
static void
read_from_verb(Reader *r)
{
	WpSqlStatement *found = r->found;
	found->verb = find_verb(r);
	if (found->verb && (found->verb->flags & WP_SQL_VERB_PREFIX))
		read_prefix(r);
	if (!found->verb)
		skip_statement(r);
	else if (found->verb->flags & WP_SQL_VERB_OBJECT)
		read_object(r);
	else if (found->verb->flags & WP_SQL_VERB_WORD)
		read_word(r);
	else if (found->verb->flags & (WP_SQL_VERB_QUERY | WP_SQL_VERB_TARGET))
		read_query(r);
	else
		read_plain(r);
}

gboolean
wp_sql_read_statement(WpSql *sql, WpSqlStatement *out_statement)
{
	Reader r = { .sql = sql, .found = out_statement };
	do
		advance(&r);
	while (is_sign(&r, ';') || is_sign(&r, '(') || is_sign(&r, '{'));
	if (r.token.type == WP_SQL_END)
		return FALSE;
	*out_statement = (WpSqlStatement){ 0 };
	r.frames[0].is_outer = TRUE;
	read_from_verb(&r);
	return TRUE;
}
