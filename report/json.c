/* A stream of JSON; see json.h. RFC 8259. */
#include "report/json.h"

#include <math.h>
#include <string.h>

#include "report/escape.h"
#include "report/format.h"

/* Greatest whole number that every reader keeps exactly. */
#define MAX_EXACT (G_GUINT64_CONSTANT(1) << 53)

static void
quote(WpJson *json, const char *text)
{
	g_autoptr(GString) quoted = g_string_new("\"");
	wp_escape_json_to(quoted, text);
	g_string_append_c(quoted, '"');
	wp_out_bytes(json->out, quoted->str, quoted->len);
}

static void
new_line(WpJson *json)
{
	if (json->is_compact)
		return;
	wp_out_char(json->out, '\n');
	wp_out_fill(json->out, ' ', 2 * (gsize)json->depth);
}

static void
begin_value(WpJson *json, const char *key)
{
	if (json->has_before)
		wp_out_char(json->out, ',');
	if (json->depth)
		new_line(json);
	json->has_before = TRUE;
	if (!key)
		return;
	quote(json, key);
	wp_out_text(json->out, json->is_compact ? ":" : ": ");
}

void
wp_json_open(WpJson *json, const char *key, char bracket)
{
	begin_value(json, key);
	wp_out_char(json->out, bracket);
	json->depth++;
	json->has_before = FALSE;
}

void
wp_json_close(WpJson *json, char bracket)
{
	json->depth--;
	if (json->has_before)
		new_line(json);
	wp_out_char(json->out, bracket);
	json->has_before = TRUE;
	if (json->depth == 0)
		wp_out_char(json->out, '\n');
}

void
wp_json_text(WpJson *json, const char *key, const char *value)
{
	begin_value(json, key);
	if (value)
		quote(json, value);
	else
		wp_out_text(json->out, "null");
}

void
wp_json_uint(WpJson *json, const char *key, guint64 value)
{
	begin_value(json, key);
	const char *mark = value > MAX_EXACT ? "\"" : "";
	wp_out_text(json->out, mark);
	wp_out_uint(json->out, value);
	wp_out_text(json->out, mark);
}

void
wp_json_int(WpJson *json, const char *key, gint64 value)
{
	begin_value(json, key);
	if (value < 0)
		wp_out_char(json->out, '-');
	wp_out_uint(json->out, value < 0 ? -(guint64)value : (guint64)value);
}

void
wp_json_bool(WpJson *json, const char *key, gboolean value)
{
	begin_value(json, key);
	wp_out_text(json->out, value ? "true" : "false");
}

void
wp_json_number(WpJson *json, const char *key, double value, int decimals)
{
	char text[400], format[8];
	begin_value(json, key);
	if (!isfinite(value)) {
		wp_out_text(json->out, "null");
		return;
	}
	g_snprintf(format, sizeof format, "%%.%df", decimals);
	g_ascii_formatd(text, sizeof text, format, value);
	gsize length = strlen(text);
	while (strchr(text, '.') && (text[length - 1] == '0' || text[length - 1] == '.'))
		text[--length] = '\0';
	wp_out_text(json->out, strcmp(text, "-0") == 0 ? "0" : text);
}

void
wp_json_epoch(WpJson *json, const char *key, gint64 ns)
{
	char text[WP_FORMAT_MAX];
	g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, ns);
	wp_json_text(json, key, text);
}
