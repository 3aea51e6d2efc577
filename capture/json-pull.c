/* A tokenizer with a stack of brackets, and nothing else; see json-pull.h. */
#include "capture/json-pull.h"

#include <string.h>

#define CHUNK 65536

/* What may come. */
typedef enum {
	WANT_VALUE,
	WANT_FIRST, /* a value or key, or the end of what has just begun */
	WANT_COLON,
	WANT_COMMA /* or the end of what is open */
} Want;

struct WpJsonPull {
	WpInput *input;
	const guint8 *at;
	const guint8 *end;
	gsize taken; /* bytes of the input that AT..END are part of */
	gboolean is_over;
	gboolean has_failed;
	GString *text;
	char open[WP_JSON_PULL_MAX_DEPTH]; /* '{' or '[' */
	guint depth;
	Want want;
	gunichar high; /* first half of a pair of surrogates; 0 = none */
	guint64 line;
	const char *wrong;
	WpJsonToken last; /* BAD, CUT, ERROR: stays */
	GError *error;    /* of reading, until it is handed out */
};

WpJsonPull *
wp_json_pull_new(WpInput *input)
{
	WpJsonPull *pull = g_new0(WpJsonPull, 1);
	pull->input = input;
	pull->text = g_string_new(NULL);
	pull->line = 1;
	return pull;
}

void
wp_json_pull_free(WpJsonPull *pull)
{
	if (!pull)
		return;
	g_string_free(pull->text, TRUE);
	g_clear_error(&pull->error);
	g_free(pull);
}

const char *
wp_json_pull_text(const WpJsonPull *pull)
{
	return pull->text->str;
}

const char *
wp_json_pull_wrong(const WpJsonPull *pull, guint64 *out_line)
{
	*out_line = pull->line;
	return pull->wrong ? pull->wrong : "";
}

static gboolean
fill(WpJsonPull *pull)
{
	if (pull->is_over)
		return FALSE;
	wp_input_consume(pull->input, pull->taken);
	gssize n = wp_input_peek(pull->input, CHUNK, &pull->at, &pull->error);
	pull->is_over = n <= 0;
	pull->has_failed = n < 0;
	if (pull->is_over)
		pull->at = NULL;
	pull->taken = pull->is_over ? 0 : (gsize)n;
	pull->end = pull->is_over ? NULL : pull->at + n;
	return !pull->is_over;
}

/* The next byte, -1 where there is none; it stays. */
static inline int
look(WpJsonPull *pull)
{
	return pull->at < pull->end || fill(pull) ? *pull->at : -1;
}

static WpJsonToken
fail(WpJsonPull *pull, const char *wrong)
{
	pull->wrong = wrong;
	/* Nothing follows, also where something could be read. */
	return pull->last = pull->has_failed ? WP_JSON_ERROR
			    : look(pull) < 0 ? WP_JSON_CUT
					     : WP_JSON_BAD;
}

static int
look_behind_blanks(WpJsonPull *pull)
{
	int c;
	while ((c = look(pull)) == ' ' || c == '\t' || c == '\r' || c == '\n') {
		pull->line += c == '\n';
		pull->at++;
	}
	return c;
}

static void
append(WpJsonPull *pull, const char *bytes, gsize n)
{
	if (pull->text->len + n <= WP_JSON_PULL_MAX_TEXT)
		g_string_append_len(pull->text, bytes, (gssize)n);
}

static void
append_code(WpJsonPull *pull, gunichar code)
{
	char bytes[6];
	if (!code || !g_unichar_validate(code))
		code = 0xfffd;
	append(pull, bytes, (gsize)g_unichar_to_utf8(code, bytes));
}

/* Four hexadecimal digits; -1 where they are none. */
static gint32
read_unit(WpJsonPull *pull)
{
	gint32 unit = 0;
	for (guint i = 0; i < 4; i++) {
		int c = look(pull), digit = c < 0 ? -1 : g_ascii_xdigit_value((char)c);
		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
		pull->at++;
	}
	return unit;
}

/* Half a pair of surrogates that nothing completed. */
static void
flush_high(WpJsonPull *pull)
{
	if (pull->high)
		append_code(pull, 0);
	pull->high = 0;
}

/* Behind "\u". */
static gboolean
read_code(WpJsonPull *pull)
{
	gint32 unit = read_unit(pull);
	if (unit < 0)
		return FALSE;
	if (pull->high && unit >= 0xdc00 && unit < 0xe000) {
		append_code(pull,
			    0x10000 + ((pull->high - 0xd800) << 10) + ((gunichar)unit - 0xdc00));
		pull->high = 0;
		return TRUE;
	}
	flush_high(pull);
	if (unit >= 0xd800 && unit < 0xdc00)
		pull->high = (gunichar)unit;
	else
		append_code(pull, (gunichar)unit);
	return TRUE;
}

static gboolean
read_escape(WpJsonPull *pull)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	int c = look(pull);
	if (c <= 0)
		return FALSE;
	pull->at++;
	if (c == 'u')
		return read_code(pull);
	const char *found = strchr(letters, c);
	if (!found)
		return FALSE;
	flush_high(pull);
	append(pull, &meant[found - letters], 1);
	return TRUE;
}

/* Bytes that stand for themselves, as far as the chunk has them. */
static void
read_plain(WpJsonPull *pull)
{
	const guint8 *begin = pull->at;
	while (pull->at < pull->end && *pull->at != '"' && *pull->at != '\\' && *pull->at >= 0x20)
		pull->at++;
	if (pull->at > begin)
		flush_high(pull);
	append(pull, (const char *)begin, (gsize)(pull->at - begin));
}

/* A text may have been cut at its limit, and in the middle of a character. */
static void
mend_utf8(WpJsonPull *pull)
{
	if (g_utf8_validate(pull->text->str, (gssize)pull->text->len, NULL))
		return;
	g_autofree char *valid = g_utf8_make_valid(pull->text->str, (gssize)pull->text->len);
	g_string_assign(pull->text, valid);
}

static WpJsonToken
read_text(WpJsonPull *pull, WpJsonToken token)
{
	int c;
	g_string_truncate(pull->text, 0);
	pull->at++;
	while ((c = look(pull)) != '"') {
		if (c < 0x20)
			return fail(pull, "the end of a text");
		if (c != '\\') {
			read_plain(pull);
			continue;
		}
		pull->at++;
		if (!read_escape(pull))
			return fail(pull, "what may stand behind \\");
	}
	flush_high(pull);
	pull->at++;
	mend_utf8(pull);
	return token;
}

static gboolean
is_number(const char *text)
{
	const char *at = text + (*text == '-');
	if (*at == '0')
		at++;
	else
		at += strspn(at, "0123456789");
	if (at == text || !g_ascii_isdigit(at[-1]))
		return FALSE;
	if (*at == '.') {
		gsize n = strspn(at + 1, "0123456789");
		if (!n)
			return FALSE;
		at += n + 1;
	}
	if (*at == 'e' || *at == 'E') {
		at += at[1] == '+' || at[1] == '-' ? 2 : 1;
		gsize n = strspn(at, "0123456789");
		if (!n)
			return FALSE;
		at += n;
	}
	return *at == '\0';
}

/* A number, true, false or null. */
static WpJsonToken
read_word(WpJsonPull *pull)
{
	static const struct {
		const char *word;
		WpJsonToken token;
	} words[] = {
		{ "true", WP_JSON_TRUE },
		{ "false", WP_JSON_FALSE },
		{ "null", WP_JSON_NULL },
	};
	int c;
	g_string_truncate(pull->text, 0);
	while ((c = look(pull)) > 0 && (g_ascii_isalnum((char)c) || strchr("+-.", c))) {
		char byte = (char)c;
		append(pull, &byte, 1);
		pull->at++;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
		if (strcmp(pull->text->str, words[i].word) == 0)
			return words[i].token;
	return is_number(pull->text->str) ? WP_JSON_NUMBER : fail(pull, "a value");
}

static WpJsonToken
open_bracket(WpJsonPull *pull, char bracket)
{
	if (pull->depth >= WP_JSON_PULL_MAX_DEPTH)
		return fail(pull, "less depth");
	pull->at++;
	pull->open[pull->depth++] = bracket;
	pull->want = WANT_FIRST;
	return bracket == '{' ? WP_JSON_OBJECT : WP_JSON_ARRAY;
}

static WpJsonToken
close_bracket(WpJsonPull *pull)
{
	pull->at++;
	pull->want = --pull->depth ? WANT_COMMA : WANT_VALUE;
	return pull->open[pull->depth] == '{' ? WP_JSON_OBJECT_END : WP_JSON_ARRAY_END;
}

static WpJsonToken
read_value(WpJsonPull *pull, int c)
{
	if (c == '{' || c == '[')
		return open_bracket(pull, (char)c);
	pull->want = pull->depth ? WANT_COMMA : WANT_VALUE;
	return c == '"' ? read_text(pull, WP_JSON_TEXT) : read_word(pull);
}

static WpJsonToken
read_key(WpJsonPull *pull, int c)
{
	if (c != '"')
		return fail(pull, "a name in quotes");
	pull->want = WANT_COLON;
	return read_text(pull, WP_JSON_KEY);
}

/* In an object or array: at C, which is no blank. */
static WpJsonToken
read_inside(WpJsonPull *pull, int c)
{
	gboolean is_object = pull->open[pull->depth - 1] == '{';
	gboolean is_end = c == (is_object ? '}' : ']');
	if (pull->want == WANT_COMMA || pull->want == WANT_FIRST) {
		if (is_end)
			return close_bracket(pull);
		if (pull->want == WANT_COMMA && c != ',')
			return fail(pull, is_object ? "',' or '}'" : "',' or ']'");
		if (pull->want == WANT_COMMA) {
			pull->at++;
			c = look_behind_blanks(pull);
		}
		return is_object ? read_key(pull, c) : read_value(pull, c);
	}
	if (c != ':')
		return fail(pull, "':'");
	pull->at++;
	return read_value(pull, look_behind_blanks(pull));
}

WpJsonToken
wp_json_pull_next(WpJsonPull *pull, GError **error)
{
	int c = pull->last == WP_JSON_END ? look_behind_blanks(pull) : -1;
	WpJsonToken token;
	if (pull->last != WP_JSON_END)
		token = pull->last;
	else if (!pull->depth && c < 0 && !pull->has_failed)
		token = wp_input_is_cut(pull->input) ? fail(pull, "more") : WP_JSON_END;
	else
		token = pull->depth ? read_inside(pull, c) : read_value(pull, c);
	if (token == WP_JSON_ERROR && pull->error)
		g_propagate_error(error, g_steal_pointer(&pull->error));
	return token;
}

WpJsonToken
wp_json_pull_skip(WpJsonPull *pull, WpJsonToken token, GError **error)
{
	guint depth = 0;
	for (;;) {
		depth += token == WP_JSON_OBJECT || token == WP_JSON_ARRAY;
		depth -= token == WP_JSON_OBJECT_END || token == WP_JSON_ARRAY_END;
		if (wp_json_is_last(token) || (!depth && token != WP_JSON_KEY))
			return token;
		token = wp_json_pull_next(pull, error);
	}
}
