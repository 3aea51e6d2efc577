/* A reader of JSON by descent, its depth bounded. */
#include "report/json-read.h"

#include <string.h>

#include "report/error.h"

struct WpJsonValue {
	char kind;        /* '{' '[' '"', '0' for a number, 't' 'f' 'n' */
	char *text;       /* of a string or number */
	GPtrArray *names; /* char, of the members of an object */
	GPtrArray *items; /* WpJsonValue */
};

typedef struct {
	const char *path;
	const char *begin;
	const char *at;
	const char *end;
	guint depth;
	const char *wrong; /* what was expected; NULL = nothing is wrong */
} Reader;

void
wp_json_value_free(WpJsonValue *value)
{
	if (!value)
		return;
	g_free(value->text);
	g_clear_pointer(&value->names, g_ptr_array_unref);
	g_clear_pointer(&value->items, g_ptr_array_unref);
	g_free(value);
}

static gboolean
fail(Reader *reader, const char *wrong)
{
	if (!reader->wrong)
		reader->wrong = wrong;
	return FALSE;
}

static void
skip_blanks(Reader *reader)
{
	while (reader->at < reader->end && *reader->at && strchr(" \t\r\n", *reader->at))
		reader->at++;
}

static gboolean
next_is(Reader *reader, char c)
{
	skip_blanks(reader);
	return reader->at < reader->end && *reader->at == c;
}

static gboolean
expect(Reader *reader, char c, const char *wrong)
{
	if (!next_is(reader, c))
		return fail(reader, wrong);
	reader->at++;
	return TRUE;
}

/* Four hexadecimal digits. */
static gboolean
read_unit(Reader *reader, gunichar *out_unit)
{
	gunichar unit = 0;
	if (reader->end - reader->at < 4)
		return fail(reader, "four hexadecimal digits");
	for (guint i = 0; i < 4; i++) {
		int digit = g_ascii_xdigit_value(reader->at[i]);
		if (digit < 0)
			return fail(reader, "four hexadecimal digits");
		unit = unit << 4 | (gunichar)digit;
	}
	reader->at += 4;
	*out_unit = unit;
	return TRUE;
}

/* Behind "\u". What is no character (half a pair, NUL, which text here cannot hold) becomes U+FFFD. */
static gboolean
read_code(Reader *reader, GString *text)
{
	gunichar code, low;
	if (!read_unit(reader, &code))
		return FALSE;
	if (code >= 0xd800 && code < 0xdc00 && reader->end - reader->at >= 2 &&
	    reader->at[0] == '\\' && reader->at[1] == 'u') {
		reader->at += 2;
		if (!read_unit(reader, &low))
			return FALSE;
		code = low >= 0xdc00 && low < 0xe000
			       ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
			       : 0xfffd;
	}
	g_string_append_unichar(text, code && g_unichar_validate(code) ? code : 0xfffd);
	return TRUE;
}

static gboolean
read_escape(Reader *reader, GString *text)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	if (reader->at >= reader->end || !*reader->at)
		return fail(reader, "the rest of a text");
	char letter = *reader->at++;
	const char *found = strchr(letters, letter);
	if (found)
		g_string_append_c(text, meant[found - letters]);
	else if (letter == 'u')
		return read_code(reader, text);
	else
		return fail(reader, "a letter that may stand behind \\");
	return TRUE;
}

/* (transfer full) The text that begins with a quote here, NULL where it is none. */
static char *
read_text(Reader *reader)
{
	g_autoptr(GString) text = g_string_new(NULL);
	if (!expect(reader, '"', "a text"))
		return NULL;
	for (;;) {
		const char *begin = reader->at;
		while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\' &&
		       (guchar)*reader->at >= 0x20)
			reader->at++;
		g_string_append_len(text, begin, reader->at - begin);
		if (reader->at >= reader->end || (guchar)*reader->at < 0x20) {
			fail(reader, "the end of a text");
			return NULL;
		}
		if (*reader->at++ == '"')
			break;
		if (!read_escape(reader, text))
			return NULL;
	}
	if (!g_utf8_validate(text->str, (gssize)text->len, NULL)) {
		fail(reader, "UTF-8");
		return NULL;
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static WpJsonValue *read_value(Reader *reader, gboolean keeps);

static WpJsonValue *
new_value(char kind)
{
	WpJsonValue *value = g_new0(WpJsonValue, 1);
	value->kind = kind;
	if (kind == '{')
		value->names = g_ptr_array_new_with_free_func(g_free);
	if (kind == '{' || kind == '[')
		value->items = g_ptr_array_new_with_free_func((GDestroyNotify)wp_json_value_free);
	return value;
}

/* KEEPS: all members; else those of NAMES, which may be NULL. */
static gboolean
read_members(Reader *reader, WpJsonValue *value, gboolean keeps, const char *const *names)
{
	reader->at++;
	if (next_is(reader, '}')) {
		reader->at++;
		return TRUE;
	}
	do {
		g_autofree char *name = read_text(reader);
		if (!name || !expect(reader, ':', "':'"))
			return FALSE;
		gboolean wanted = keeps || (names && g_strv_contains(names, name));
		g_autoptr(WpJsonValue) member = read_value(reader, wanted);
		if (!member)
			return FALSE;
		if (wanted) {
			g_ptr_array_add(value->names, g_steal_pointer(&name));
			g_ptr_array_add(value->items, g_steal_pointer(&member));
		}
	} while (next_is(reader, ',') && reader->at++);
	return expect(reader, '}', "',' or '}'");
}

static gboolean
read_items(Reader *reader, WpJsonValue *value, gboolean keeps)
{
	reader->at++;
	if (next_is(reader, ']')) {
		reader->at++;
		return TRUE;
	}
	do {
		g_autoptr(WpJsonValue) item = read_value(reader, keeps);
		if (!item)
			return FALSE;
		if (keeps)
			g_ptr_array_add(value->items, g_steal_pointer(&item));
	} while (next_is(reader, ',') && reader->at++);
	return expect(reader, ']', "',' or ']'");
}

/* A number, true, false, null. */
static gboolean
read_word(Reader *reader, WpJsonValue *value)
{
	const char *begin = reader->at;
	while (reader->at < reader->end &&
	       (g_ascii_isalnum(*reader->at) || (*reader->at && strchr("+-.", *reader->at))))
		reader->at++;
	value->text = g_strndup(begin, (gsize)(reader->at - begin));
	if (g_ascii_isdigit(*value->text) || *value->text == '-')
		value->kind = '0';
	else if (strcmp(value->text, "true") == 0 || strcmp(value->text, "false") == 0 ||
		 strcmp(value->text, "null") == 0)
		value->kind = *value->text;
	else
		return fail(reader, "a value");
	return TRUE;
}

static WpJsonValue *
read_value(Reader *reader, gboolean keeps)
{
	skip_blanks(reader);
	char first = reader->at < reader->end ? *reader->at : 0;
	gboolean is_nest = first == '{' || first == '[';
	g_autoptr(WpJsonValue) value = new_value(is_nest || first == '"' ? first : 'n');
	gboolean ok;
	if (is_nest && reader->depth++ >= WP_JSON_MAX_DEPTH) {
		fail(reader, "less depth");
		return NULL;
	}
	if (first == '{')
		ok = read_members(reader, value, keeps, NULL);
	else if (first == '[')
		ok = read_items(reader, value, keeps);
	else if (first == '"')
		ok = (value->text = read_text(reader)) != NULL;
	else
		ok = read_word(reader, value);
	reader->depth -= is_nest;
	return ok ? g_steal_pointer(&value) : NULL;
}

WpJsonValue *
wp_json_read(const char *path, const char *text, gsize length, const char *const *names,
	     GError **error)
{
	Reader reader = { .path = path, .begin = text, .at = text, .end = text + length };
	g_autoptr(WpJsonValue) value = new_value('{');
	gboolean ok = next_is(&reader, '{') ? read_members(&reader, value, FALSE, names)
					    : fail(&reader, "'{'");
	skip_blanks(&reader);
	if (ok && (reader.at == reader.end || fail(&reader, "nothing more")))
		return g_steal_pointer(&value);
	guint line = 1;
	for (const char *at = text; at < reader.at; at++)
		line += *at == '\n';
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
		    "cannot read %s: line %u: %s was expected\nthe result is damaged or cut short: "
		    "make it again with wirepath report -o",
		    path, line, reader.wrong);
	return NULL;
}

const WpJsonValue *
wp_json_member(const WpJsonValue *value, const char *name)
{
	for (guint i = 0; value && value->names && i < value->names->len; i++)
		if (strcmp(value->names->pdata[i], name) == 0)
			return value->items->pdata[i];
	return NULL;
}

guint
wp_json_length(const WpJsonValue *value)
{
	return value && value->kind == '[' ? value->items->len : 0;
}

const WpJsonValue *
wp_json_item(const WpJsonValue *value, guint number)
{
	return number < wp_json_length(value) ? value->items->pdata[number] : NULL;
}

const char *
wp_json_as_text(const WpJsonValue *value)
{
	return value && value->kind == '"' ? value->text : NULL;
}

gboolean
wp_json_as_bool(const WpJsonValue *value)
{
	return value && value->kind == 't';
}

gboolean
wp_json_as_uint(const WpJsonValue *value, guint64 *out_number)
{
	if (!value || !value->text || !g_ascii_isdigit(*value->text))
		return FALSE;
	return g_ascii_string_to_unsigned(value->text, 10, 0, G_MAXUINT64, out_number, NULL);
}
