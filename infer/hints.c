/* Hints files: words of a line, patterns, and what they are worth. */
#include "infer/hints.h"

#include <math.h>
#include <string.h>

#include "infer/pattern.h"
#include "infer/text-file.h"

#define WANTED "wanted CALLER -> CALLED yes|no PROBABILITY"

/* Steps of one match, pcre2pattern(3): an expression that needs more, as (a+)+b may, does not match. */
#define LIMIT_MATCH "(*LIMIT_MATCH=20000)"

/* What a call must be like; NULL: anything. */
typedef struct {
	GRegex *node;
	GRegex *label;
} Pattern;

typedef struct {
	Pattern parent;
	Pattern child;
	double odds; /* nats */
} Hint;

struct WpHints {
	GArray *hints; /* Hint */
};

typedef struct {
	const char *path;
	guint line; /* from 1 */
	const char *at;
} Reader;

static void
clear_pattern(Pattern *pattern)
{
	g_clear_pointer(&pattern->node, g_regex_unref);
	g_clear_pointer(&pattern->label, g_regex_unref);
}

static void
clear_hint(gpointer data)
{
	clear_pattern(&((Hint *)data)->parent);
	clear_pattern(&((Hint *)data)->child);
}

static gboolean fail(const Reader *reader, GError **error, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

static gboolean
fail(const Reader *reader, GError **error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	g_autofree char *message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_autofree char *shown = g_utf8_make_valid(message, -1);
	g_set_error(error, WP_INFER_ERROR, WP_INFER_ERROR_FORMAT,
		    "cannot read hints from %s: line %u: %s", reader->path, reader->line, shown);
	return FALSE;
}

/* --- words --- */

static gboolean
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* (transfer full) The next word of the line, NULL at its end. A word that begins with '/' ends with one. */
static char *
next_word(Reader *reader)
{
	while (is_blank(*reader->at))
		reader->at++;
	const char *begin = reader->at;
	if (!*begin || *begin == '#')
		return NULL;
	if (*begin == '/') {
		for (reader->at++; *reader->at && *reader->at != '/'; reader->at++)
			if (*reader->at == '\\' && reader->at[1])
				reader->at++;
		reader->at += *reader->at == '/';
	}
	while (*reader->at && !is_blank(*reader->at))
		reader->at++;
	return g_strndup(begin, (gsize)(reader->at - begin));
}

/* (transfer full) NULL with ERROR set where it makes no sense. */
static GRegex *
compile(const Reader *reader, const char *expression, GError **error)
{
	const GRegexCompileFlags flags = G_REGEX_RAW | G_REGEX_DOTALL;
	g_autoptr(GError) reason = NULL;
	g_autoptr(GRegex) regex = g_regex_new(expression, flags, 0, &reason);
	if (!regex) {
		fail(reader, error, "%s", reason->message);
		return NULL;
	}
	/* Behind the message, which quotes what it compiles. */
	g_autofree char *limited = g_strconcat(LIMIT_MATCH, expression, NULL);
	GRegex *bounded = g_regex_new(limited, flags, 0, &reason);
	if (!bounded)
		fail(reader, error, "%s", reason->message);
	return bounded;
}

/* (transfer full) A name with * and ? as a regular expression. */
static GRegex *
compile_name(const Reader *reader, const char *name, GError **error)
{
	g_autoptr(GString) expression = g_string_new("^");
	for (const char *c = name; *c; c++) {
		if (*c == '*')
			g_string_append_c(expression, '.');
		else if (*c != '?' && g_ascii_ispunct(*c))
			g_string_append_c(expression, '\\');
		g_string_append_c(expression, *c == '?' ? '.' : *c);
	}
	g_string_append(expression, "\\z");
	return compile(reader, expression->str, error);
}

static gboolean
add_word(const Reader *reader, const char *word, Pattern *pattern, GError **error)
{
	gsize length = strlen(word);
	gboolean is_label = word[0] == '/';
	GRegex **regex = is_label ? &pattern->label : &pattern->node;
	if (length > WP_HINTS_MAX_WORD)
		return fail(reader, error, "a word of more than %d bytes", WP_HINTS_MAX_WORD);
	if (*regex)
		return fail(reader, error, "\"%s\" does not belong here; " WANTED, word);
	if (!is_label) {
		*regex = compile_name(reader, word, error);
		return *regex != NULL;
	}
	if (length < 3 || word[length - 1] != '/')
		return fail(reader, error, "%s is no /label pattern/", word);
	g_autofree char *expression = g_strndup(word + 1, length - 2);
	*regex = compile(reader, expression, error);
	return *regex != NULL;
}

/* Words up to one of ENDS (NULL-ended); (transfer full) *OUT_END: that one. */
static gboolean
parse_pattern(Reader *reader, const char *const *ends, Pattern *pattern, char **out_end,
	      GError **error)
{
	for (;;) {
		g_autofree char *word = next_word(reader);
		if (!word)
			return fail(reader, error, WANTED);
		if (g_strv_contains(ends, word)) {
			*out_end = g_steal_pointer(&word);
			return (pattern->node || pattern->label) || fail(reader, error, WANTED);
		}
		if (!add_word(reader, word, pattern, error))
			return FALSE;
	}
}

static gboolean
parse_odds(Reader *reader, gboolean is_yes, double *out_odds, GError **error)
{
	g_autofree char *word = next_word(reader);
	g_autofree char *more = next_word(reader);
	char *end = NULL;
	double share = word ? g_ascii_strtod(word, &end) : 0;
	if (!word || end == word || *end || !(share >= 0 && share <= 1))
		return fail(reader, error, "the probability must be a number from 0 to 1");
	if (more)
		return fail(reader, error, "\"%s\" is too much; " WANTED, more);
	double odds = log(share) - log1p(-share);
	*out_odds = CLAMP(is_yes ? odds : -odds, -WP_HINTS_SURE, WP_HINTS_SURE);
	return TRUE;
}

static gboolean
parse_hint(Reader *reader, Hint *hint, GError **error)
{
	static const char *const arrow[] = { "->", NULL };
	static const char *const verdicts[] = { "yes", "no", NULL };
	g_autofree char *end = NULL;
	g_autofree char *verdict = NULL;
	return parse_pattern(reader, arrow, &hint->parent, &end, error) &&
	       parse_pattern(reader, verdicts, &hint->child, &verdict, error) &&
	       parse_odds(reader, verdict[0] == 'y', &hint->odds, error);
}

static gboolean
parse_line(WpHints *hints, Reader *reader, GError **error)
{
	const char *begin = reader->at;
	g_autofree char *first = next_word(reader);
	Hint hint = { 0 };
	if (!first)
		return TRUE;
	reader->at = begin;
	if (hints->hints->len == WP_HINTS_MAX)
		return fail(reader, error, "more than %d hints", WP_HINTS_MAX);
	if (!parse_hint(reader, &hint, error)) {
		clear_hint(&hint);
		return FALSE;
	}
	g_array_append_val(hints->hints, hint);
	return TRUE;
}

WpHints *
wp_hints_parse(const char *text, const char *path, GError **error)
{
	g_autoptr(WpHints) hints = g_new0(WpHints, 1);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	Reader reader = { path, 0, NULL };

	hints->hints = g_array_new(FALSE, FALSE, sizeof(Hint));
	g_array_set_clear_func(hints->hints, clear_hint);
	for (; lines[reader.line];) {
		reader.at = lines[reader.line++];
		if (!parse_line(hints, &reader, error))
			return NULL;
	}
	return g_steal_pointer(&hints);
}

WpHints *
wp_hints_read(const char *path, GError **error)
{
	g_autofree char *text = wp_text_file_read(path, "hints", WP_HINTS_MAX_BYTES, error);
	if (!text)
		return NULL;
	return wp_hints_parse(text, path, error);
}

void
wp_hints_free(WpHints *hints)
{
	if (!hints)
		return;
	g_array_unref(hints->hints);
	g_free(hints);
}

guint
wp_hints_count(const WpHints *hints)
{
	return hints->hints->len;
}

static gboolean
fits(const Pattern *pattern, const WpHintsCall *call)
{
	return (!pattern->node || g_regex_match(pattern->node, call->node, 0, NULL)) &&
	       (!pattern->label || g_regex_match(pattern->label, call->label, 0, NULL));
}

double
wp_hints_odds(const WpHints *hints, const WpHintsCall *parent, const WpHintsCall *child)
{
	double odds = 0;
	for (guint i = 0; i < hints->hints->len; i++) {
		const Hint *hint = &g_array_index(hints->hints, Hint, i);
		if (fits(&hint->parent, parent) && fits(&hint->child, child))
			odds += hint->odds;
	}
	return CLAMP(odds, -WP_HINTS_SURE, WP_HINTS_SURE);
}
