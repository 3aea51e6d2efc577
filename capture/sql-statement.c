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

#include <string.h>

enum {
	MAX_DEPTH = 32, /* parentheses whose clauses are kept apart */
	MAX_CTES = 8    /* names of WITH that are known to be no tables */
};

typedef enum {
	CLAUSE_OTHER,
	CLAUSE_LIST,   /* between SELECT and FROM */
	CLAUSE_TABLES, /* after FROM, JOIN, INTO, ... */
	CLAUSE_WHERE,
	CLAUSE_ORDER,
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
	const WpSqlKeyword *known;        /* the token as a keyword; or NULL */
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

static void
advance(Reader *r)
{
	r->roles_before = r->roles;
	do
		r->token = wp_sql_next(r->sql);
	while (r->token.type == WP_SQL_COMMENT);
	r->roles = 0;
	r->known = NULL;
	if (!wp_sql_keyword(&r->token, r->keyword)) {
		r->keyword[0] = '\0';
		return;
	}
	r->known = wp_sql_keyword_find(r->keyword);
	r->roles = r->known ? r->known->roles : 0;
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
	static const WpSqlName dual = { .text = "dual", .length = 4 };
	if (contains(r->ctes, MIN(r->n_ctes, MAX_CTES), name) || contains(&dual, 1, name))
		return;
	guint at = r->n_ahead > 0 ? 0 : r->found->n_tables;
	r->n_ahead = 0;
	r->found->n_tables =
		insert_name(r->found->tables, r->found->n_tables, WP_SQL_MAX_TABLES, at, name);
}

static void
add_item(Reader *r, const Frame *frame, const WpSqlName *name)
{
	WpSqlStatement *found = r->found;
	if (frame->clause == CLAUSE_ORDER)
		found->n_order = insert_name(found->order, found->n_order, WP_SQL_MAX_ORDER,
					     found->n_order, name);
	else
		found->n_items = insert_name(found->items, found->n_items, WP_SQL_MAX_ITEMS,
					     found->n_items, name);
}

static WpSqlName
token_name(const Reader *r)
{
	return (WpSqlName){
		.text = r->token.text,
		.length = r->token.length,
		.is_quoted = r->token.type == WP_SQL_NAME,
	};
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
 * The clauses that only a query has. In parentheses that hold none FROM is EXTRACT's or the like; IS
 * DISTINCT FROM compares.
 */
static gboolean
enter_query_clause(Reader *r, Frame *frame)
{
	if (r->roles & WP_SQL_ROLE_WHERE)
		begin_clause(r, frame, CLAUSE_WHERE);
	else if (r->roles & WP_SQL_ROLE_INTO)
		expect_tables(frame, FALSE);
	else if (r->roles & WP_SQL_ROLE_USING)
		expect_tables(frame, TRUE);
	else if ((r->roles & WP_SQL_ROLE_FROM) && !(r->roles_before & WP_SQL_ROLE_DISTINCT))
		expect_tables(frame, TRUE);
	else
		return FALSE;
	return TRUE;
}

/* TRUE where the word at the token begins a clause, which has been noted. */
static gboolean
enter_clause(Reader *r, Frame *frame)
{
	gboolean is_bottom = frame == r->frames;
	if (is_word(r, "SELECT") || ((r->roles & WP_SQL_ROLE_SET) && is_bottom && is_update(r)))
		begin_clause(r, frame, CLAUSE_LIST);
	else if ((r->roles & WP_SQL_ROLE_JOIN) && frame->clause == CLAUSE_TABLES)
		expect_tables(frame, TRUE);
	else if ((r->roles & WP_SQL_ROLE_ORDER) && is_bottom)
		begin_clause(r, frame, CLAUSE_ORDER);
	else if (r->roles & (WP_SQL_ROLE_END | WP_SQL_ROLE_FILE))
		begin_clause(r, frame, CLAUSE_OTHER);
	else
		return frame->is_query && enter_query_clause(r, frame);
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

/* The first name in each item of a SELECT, SET or ORDER BY list. */
static void
take_item(Reader *r, const Frame *frame)
{
	const guint other = WP_SQL_ROLE_VALUE | WP_SQL_ROLE_DISTINCT | WP_SQL_ROLE_COMPARE |
			    WP_SQL_ROLE_NOISE | WP_SQL_ROLE_JOIN | WP_SQL_ROLE_CTE;
	if (!frame->is_outer || r->has_item || (r->roles & other)) {
		advance(r);
		return;
	}
	WpSqlName name = read_name(r);
	if (is_sign(r, '*')) /* t.* */
		return;
	name.is_function = is_sign(r, '(');
	r->has_item = TRUE;
	add_item(r, frame, &name);
}

/* The comparison TEXT stands behind the operand. */
static void
take_column(Reader *r, const char *text, gsize length)
{
	r->operand.compared = text;
	r->operand.compared_length = length;
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
	if (r->roles & WP_SQL_ROLE_COMPARE) {
		gboolean is_range = (r->roles & WP_SQL_ROLE_RANGE) != 0;
		take_column(r, is_range ? r->known->word : NULL,
			    is_range ? strlen(r->known->word) : 0);
		advance(r);
		return;
	}
	gboolean is_value = (r->roles & WP_SQL_ROLE_VALUE) != 0;
	r->operand = read_name(r);
	r->is_operand_closed = FALSE;
	if (is_value || is_sign(r, '('))
		r->operand.length = 0;
}

/* Signs that compare: =, <>, <=, @>, ~*, ... Of no length where the token is none of them. */
static gsize
comparison_length(const Reader *r)
{
	static const char signs[] = "=<>!~@&*";
	enum {
		MOST = 3
	};
	if (r->token.type != WP_SQL_SIGN || r->token.text[0] == '*')
		return 0;
	const char *end = r->sql->text + r->sql->length;
	gsize n = 0;
	while (n < MOST && r->token.text + n < end && r->token.text[n] != '\0' &&
	       strchr(signs, r->token.text[n]))
		n++;
	return n;
}

/* Any other token in the outermost WHERE. */
static void
take_where_sign(Reader *r)
{
	gsize comparison = comparison_length(r);
	gboolean is_equal = comparison == 1 && r->token.text[0] == '=';
	if (comparison > 0)
		take_column(r, is_equal ? NULL : r->token.text, is_equal ? 0 : comparison);
	else if (is_sign(r, ')') && !r->is_operand_closed)
		r->is_operand_closed = TRUE;
	else
		r->operand.length = 0;
}

/* WITH [RECURSIVE] name [(columns)] AS (...), name AS (...) */
static void
take_cte(Reader *r, const Frame *frame)
{
	WpSqlName name = token_name(r);
	if (frame->is_query && !(r->roles & WP_SQL_ROLE_CTE))
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
	const WpSqlVerb *verb = frame->is_fresh ? wp_sql_verb_find(r->keyword) : NULL;
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
	const WpSqlVerb *verb = frame->clause == CLAUSE_WITH ? wp_sql_verb_find(r->keyword) : NULL;
	if (verb && (verb->flags & WP_SQL_VERB_QUERY)) {
		if (r->depth == 0)
			r->found->verb = verb;
		begin_query(r, frame, verb);
	} else if (frame->clause == CLAUSE_WITH) {
		take_cte(r, frame);
	} else if (enter_clause(r, frame) || (frame->expects && (r->roles & WP_SQL_ROLE_NOISE))) {
		advance(r);
	} else if (frame->expects) {
		take_table(r, frame);
	} else if (frame->clause == CLAUSE_WHERE && frame->is_outer) {
		take_where_word(r);
	} else if (frame->clause == CLAUSE_LIST || frame->clause == CLAUSE_ORDER) {
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
	frame.expects = frame.expects && !(r->roles_before & WP_SQL_ROLE_USING);
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
	add_item(r, frame, &name);
}

/* Anything but words and names. */
static void
read_query_sign(Reader *r)
{
	Frame *frame = top(r);
	frame->is_fresh = FALSE;
	if ((frame->clause == CLAUSE_LIST || frame->clause == CLAUSE_ORDER) && frame->is_outer)
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
	while (r->roles & WP_SQL_ROLE_NOISE)
		advance(r);
	if (is_name(r) && !is_word(r, "ON"))
		return read_name(r);
	return (WpSqlName){ .length = 0 };
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
	while (r->roles & WP_SQL_ROLE_SCOPE);
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
		r->found->verb = wp_sql_verb_find(r->keyword);
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
	found->verb = wp_sql_verb_find(r->keyword);
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
