/*
 * Label of an SQL statement: what it does, to which tables, found by which columns.
 *
 *      SELECT o.id, sum(p) FROM orders o JOIN users u ON ... WHERE u.mail = 'x' AND o.day > 2
 *      SELECT orders,users (id,sum()) WHERE mail,day>
 *
 * The verb and the tables alone ("SELECT orders") would put a look-up by key, a list and a full scan
 * under one name, and their times in one row. What is read or set, and which columns WHERE compares,
 * tell the operations of a program apart, do not change with the values, and can be read; a digest of
 * the text would tell as much apart and say nothing.
 *
 *  - Tables: the target of a change first, then in the order of the text; without schema, each once.
 *    Names of common table expressions are no tables.
 *  - Columns: of the outermost WHERE, in the order of the text, without table, each once; with the
 *    comparison where it is not for being equal.
 *  - Of each item of SELECT, of an UPDATE's SET, and of ORDER BY the first name. Without tables only a
 *    function or variable counts: "SELECT nextval()".
 *  - Numbers in names that look counted or generated become {}: orders_2024 -> orders_{}.
 *  - Of several statements the first that is no mere setting or transaction bracket, then "; ...".
 *  - Only names get into a label, and only from places where no literal can stand.
 */
#include "capture/label.h"
#include "capture/label-memo.h"

#include <string.h>

#include "capture/sql-statement.h"

/* Of one name in a label; the rest is cut. */
#define NAME_MAX_BYTES 40

/* The label being written; there is always room for the NUL. */
typedef struct {
	char *buffer;
	gsize size;
	gsize length;
	gboolean is_lower; /* names without quotes are written in lower case */
} Out;

static void
put(Out *out, const char *text, gsize length)
{
	for (gsize i = 0; i < length && out->length + 1 < out->size; i++)
		out->buffer[out->length++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
}

static void
put_text(Out *out, const char *text)
{
	put(out, text, strlen(text));
}

static gsize
digits_at(const WpSqlName *name, gsize at)
{
	gsize end = at;
	while (end < name->length && g_ascii_isdigit(name->text[end]))
		end++;
	return end - at;
}

/* Hexadecimal digits at AT, 0 where there is no decimal one among them. */
static gsize
hex_digits_at(const WpSqlName *name, gsize at)
{
	gsize end = at;
	gboolean has_decimal = FALSE;
	for (; end < name->length && g_ascii_isxdigit(name->text[end]); end++)
		has_decimal |= g_ascii_isdigit(name->text[end]);
	return has_decimal ? end - at : 0;
}

static gboolean
is_boundary(const WpSqlName *name, gsize at)
{
	return at == name->length || !g_ascii_isalnum(name->text[at]);
}

/*
 * Bytes at AT that look counted or generated: 8 or more hexadecimal digits that stand alone, or
 * decimal digits that stand alone, end the name, or are four or more. (oauth2_tokens stays.)
 */
static gsize
generated_at(const WpSqlName *name, gsize at)
{
	gboolean is_start = at == 0 || is_boundary(name, at - 1);
	gsize n = hex_digits_at(name, at);
	if (n >= 8 && is_start && is_boundary(name, at + n))
		return n;
	n = digits_at(name, at);
	if (n >= 4 || at + n == name->length)
		return n;
	return is_start && is_boundary(name, at + n) ? n : 0;
}

static void
put_name(Out *out, const WpSqlName *name)
{
	gboolean is_lower = !name->is_quoted && (out->is_lower || name->is_function);
	for (gsize at = 0; at < MIN(name->length, NAME_MAX_BYTES);) {
		gsize generated = generated_at(name, at);
		char c = is_lower ? g_ascii_tolower(name->text[at]) : name->text[at];
		put(out, generated ? "{}" : &c, generated ? 2 : 1);
		at += generated ? generated : 1;
	}
	put_text(out, name->is_function ? "()" : "");
	if (name->compared_length > 0 && g_ascii_isalpha(name->compared[0]))
		put_text(out, " ");
	put(out, name->compared, name->compared_length);
}

static void
put_names(Out *out, const char *before, const WpSqlName *names, guint n, guint max)
{
	for (guint i = 0; i < MIN(n, max); i++) {
		put_text(out, i == 0 ? before : ",");
		put_name(out, &names[i]);
	}
	if (n > max)
		put_text(out, ",...");
}

/* The verb and its second word; START TRANSACTION is BEGIN. */
static void
put_verb(Out *out, const WpSqlStatement *s)
{
	if (strcmp(s->verb->word, "START") == 0 && s->word.length == 11 &&
	    g_ascii_strncasecmp(s->word.text, "TRANSACTION", s->word.length) == 0) {
		put_text(out, "BEGIN");
		return;
	}
	put_text(out, s->verb->label);
	put_text(out, s->word.length > 0 ? " " : "");
	gboolean is_setting = (s->verb->flags & WP_SQL_VERB_SETTING) != 0;
	for (gsize i = 0; i < MIN(s->word.length, NAME_MAX_BYTES); i++) {
		char c = s->word.text[i];
		put(out, &(char){ is_setting ? g_ascii_tolower(c) : g_ascii_toupper(c) }, 1);
	}
}

/* Without tables only what is called says anything: SELECT now(). */
static void
put_items(Out *out, const WpSqlStatement *s)
{
	const WpSqlName *first = s->n_items > 0 ? &s->items[0] : NULL;
	if (s->n_tables > 0) {
		put_names(out, " (", s->items, s->n_items, WP_SQL_MAX_ITEMS);
		put_text(out, first ? ")" : "");
	} else if (first && (first->is_function || first->text[0] == '@')) {
		put_names(out, " ", first, 1, 1);
	}
}

static void
put_statement(Out *out, const WpSqlStatement *s)
{
	if (s->prefix)
		put_text(out, s->prefix->label);
	if (s->prefix && s->verb)
		put_text(out, " ");
	if (!s->verb)
		return;
	put_verb(out, s);
	put_names(out, " ", s->tables, s->n_tables, WP_SQL_MAX_TABLES);
	put_items(out, s);
	put_names(out, " WHERE ", s->columns, s->n_columns, WP_SQL_MAX_COLUMNS);
	put_names(out, " ORDER BY ", s->order, s->n_order, WP_SQL_MAX_ORDER);
}

static gsize
make_label(const char *text, gsize length, guint dialect, char *buffer, gsize size,
	   gboolean *out_minor)
{
	Out out = { buffer, size, 0, (dialect & WP_SQL_LOWER) != 0 };
	WpSql sql = wp_sql(text, length, dialect);
	WpSqlStatement statement;
	gboolean is_minor = TRUE;
	while (wp_sql_read_statement(&sql, &statement)) {
		gboolean is_next_minor =
			statement.verb && (statement.verb->flags & WP_SQL_VERB_MINOR);
		gboolean is_known = statement.verb || statement.prefix;
		if (!is_known || (out.length > 0 && is_next_minor))
			continue;
		if (!is_minor) {
			put_text(&out, "; ...");
			break;
		}
		out.length = 0;
		put_statement(&out, &statement);
		is_minor = is_next_minor;
	}
	buffer[out.length] = '\0';
	*out_minor = is_minor;
	return out.length;
}

gsize
wp_label_sql(const char *text, gsize length, guint dialect, char *buffer, gsize size,
	     gboolean *out_minor)
{
	WpLabelMemoKey key = { text, length, WP_LABEL_MEMO_SQL, dialect, size };
	WpLabelMemo *place;
	gboolean is_minor;
	gsize n;

	if (wp_label_memo_find(&key, &place, buffer, &n, out_minor))
		return n;
	n = make_label(text, length, dialect, buffer, size, &is_minor);
	wp_label_memo_keep(place, &key, buffer, n, is_minor);
	if (out_minor)
		*out_minor = is_minor;
	return n;
}
