/* Quoting for each kind of output; see escape.h. Bytes are taken as UTF-8 where they are valid. */
#include "report/escape.h"

#include <string.h>

/* A character that changes how its neighbours are shown, or cannot be seen (Unicode UAX #9, #31). */
static gboolean
is_deceptive(gunichar c)
{
	switch (g_unichar_type(c)) {
	case G_UNICODE_CONTROL:
	case G_UNICODE_FORMAT: /* bidirectional marks, zero width joiners, tags */
	case G_UNICODE_LINE_SEPARATOR:
	case G_UNICODE_PARAGRAPH_SEPARATOR:
	case G_UNICODE_PRIVATE_USE:
	case G_UNICODE_SURROGATE:
	case G_UNICODE_UNASSIGNED:
		return TRUE;
	default:
		return FALSE;
	}
}

/* The character at TEXT and its length; a byte that is not UTF-8 gives (gunichar)-1 and 1. */
static gunichar
next_char(const char *text, gsize *out_length)
{
	gunichar c = g_utf8_get_char_validated(text, -1);
	if (c == (gunichar)-1 || c == (gunichar)-2) {
		*out_length = 1;
		return (gunichar)-1;
	}
	*out_length = (gsize)(g_utf8_next_char(text) - text);
	return c;
}

void
wp_escape_terminal_to(GString *out, const char *text, gboolean utf8)
{
	gsize length;
	for (; *text; text += length) {
		gunichar c = next_char(text, &length);
		if (c == (gunichar)-1 || c < 0x20 || c == 0x7f)
			g_string_append_printf(out, "\\x%02x", (guint8)*text);
		else if (c < 0x7f)
			g_string_append_c(out, (char)c);
		else if (!utf8 || is_deceptive(c))
			g_string_append_printf(out, "\\u{%x}", c);
		else
			g_string_append_len(out, text, (gssize)length);
	}
}

char *
wp_escape_terminal(const char *text, gboolean utf8)
{
	GString *out = g_string_new(NULL);
	wp_escape_terminal_to(out, text, utf8);
	return g_string_free(out, FALSE);
}

/* In a quoted dot string \ begins an escape (\N, \l, \n) and " ends it; both are doubled away. */
void
wp_escape_dot_to(GString *out, const char *text)
{
	g_autofree char *safe = wp_escape_terminal(text, TRUE);
	for (const char *p = safe; *p; p++) {
		if (*p == '\\' || *p == '"')
			g_string_append_c(out, '\\');
		g_string_append_c(out, *p);
	}
}

/* \u and four digits; beyond the first plane a pair of surrogates. */
static void
append_unicode(GString *out, gunichar c)
{
	if (c >= 0x10000)
		g_string_append_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
				       0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		g_string_append_printf(out, "\\u%04x", c);
}

void
wp_escape_json_to(GString *out, const char *text)
{
	gsize length;
	for (; *text; text += length) {
		gunichar c = next_char(text, &length);
		if (c == '"' || c == '\\')
			g_string_append_printf(out, "\\%c", (char)c);
		else if (c == (gunichar)-1)
			g_string_append(out, "\\ufffd");
		else if (c < 0x20 || c == 0x7f || c == '<' || (c > 0x7f && is_deceptive(c)))
			append_unicode(out, c);
		else
			g_string_append_len(out, text, (gssize)length);
	}
}

/* A cell that begins so is a formula to a spreadsheet, unless it is just a number. */
static gboolean
is_formula(const char *text)
{
	if (!*text || !strchr("=+-@\t\r", *text))
		return FALSE;
	if (*text != '+' && *text != '-')
		return TRUE;
	return text[1] == '\0' || text[1 + strspn(text + 1, "0123456789.")] != '\0';
}

/* Control bytes are made visible first: a row stays one line, and a terminal shows it unharmed. */
void
wp_escape_csv_to(GString *out, const char *text)
{
	g_autofree char *safe = wp_escape_terminal(text, TRUE);
	gboolean formula = is_formula(text);
	if (!formula && !strpbrk(safe, ",\"")) {
		g_string_append(out, safe);
		return;
	}
	g_string_append_c(out, '"');
	if (formula)
		g_string_append_c(out, '\'');
	for (const char *p = safe; *p; p++) {
		if (*p == '"')
			g_string_append_c(out, '"');
		g_string_append_c(out, *p);
	}
	g_string_append_c(out, '"');
}

void
wp_escape_html_to(GString *out, const char *text)
{
	g_autofree char *safe = wp_escape_terminal(text, TRUE);
	for (const char *p = safe; *p; p++)
		if (*p == '&')
			g_string_append(out, "&amp;");
		else if (*p == '<')
			g_string_append(out, "&lt;");
		else if (*p == '>')
			g_string_append(out, "&gt;");
		else if (*p == '"')
			g_string_append(out, "&quot;");
		else if (*p == '\'')
			g_string_append(out, "&#39;");
		else
			g_string_append_c(out, *p);
}

static gsize
char_width(gunichar c)
{
	if (g_unichar_iszerowidth(c))
		return 0;
	return g_unichar_iswide(c) ? 2 : 1;
}

char *
wp_escape_markdown(const char *text)
{
	static const char marks[] = "\\`*_{}[]()<>#+!|~&@:";
	g_autofree char *safe = wp_escape_terminal(text, TRUE);
	GString *out = g_string_new(NULL);
	for (const char *at = safe; *at; at++)
		if (strchr(marks, *at))
			g_string_append_printf(out, "&#%d;", *at);
		else
			g_string_append_c(out, *at);
	return g_string_free(out, FALSE);
}

gsize
wp_escape_width(const char *text)
{
	gsize width = 0, length;
	for (; *text; text += length)
		width += char_width(next_char(text, &length));
	return width;
}

char *
wp_escape_shorten(const char *text, gsize width)
{
	if (wp_escape_width(text) <= width)
		return g_strdup(text);
	if (width <= 2)
		return g_strndup("..", width);
	gsize used = 0, length;
	const char *p = text;
	for (; *p; p += length) {
		gsize columns = char_width(next_char(p, &length));
		if (used + columns > width - 2)
			break;
		used += columns;
	}
	g_autofree char *head = g_strndup(text, (gsize)(p - text));
	return g_strconcat(head, "..", NULL);
}
