/* A table for each: numbers first, as names may be long. */
#include "report/measure-page.h"

#include <math.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"

/* Rows of a page for people; JSON has all. */
#define MAX_ROWS 40

static const char *const unit_names[] = {
	[WP_MEASURE_TIME] = "ns",
	[WP_MEASURE_BYTES] = "bytes",
	[WP_MEASURE_PLAIN] = "1",
};

static const char *
format_value(const WpMeasure *measure, double value, char *buffer)
{
	switch (wp_measure_unit(measure)) {
	case WP_MEASURE_TIME:
		return wp_format_time(buffer, value);
	case WP_MEASURE_BYTES:
		if (value >= 0)
			return wp_format_bytes(buffer, (guint64)value);
		break;
	case WP_MEASURE_PLAIN:
		/* Of counts every digit is meant. */
		if (value >= 0 && value < 1e15 && value == floor(value))
			return wp_format_count(buffer, (guint64)value);
		break;
	}
	return wp_format_number(buffer, value);
}

/* (transfer full) As it came from packets. */
static char *
key_text(const WpMeasure *measure, const WpMeasureGroup *group, guint key)
{
	char time[WP_FORMAT_MAX];
	if (!wp_measure_is_time(measure, key))
		return g_strdup(group->keys[key]);
	return g_strdup_printf("+%s", wp_format_time(time, (double)group->time_ns));
}

static guint
n_rows(const WpMeasure *measure)
{
	return MIN(wp_measure_n_groups(measure), MAX_ROWS);
}

/* (transfer full) What the table does not show; "" = it shows all. */
static char *
rest_text(const WpMeasure *measure)
{
	char n[WP_FORMAT_MAX];
	GString *text = g_string_new(NULL);
	if (!wp_measure_n_groups(measure))
		g_string_append(text, "No call has all that is asked for. ");
	if (wp_measure_n_groups(measure) > MAX_ROWS)
		g_string_append_printf(text, "%s groups more: --format json has all. ",
				       wp_format_count(n, wp_measure_n_groups(measure) - MAX_ROWS));
	if (wp_measure_n_unknown(measure))
		g_string_append_printf(text, "Not known: %s values. ",
				       wp_format_count(n, wp_measure_n_unknown(measure)));
	if (wp_measure_n_left(measure))
		g_string_append_printf(text, "Of more groups than are kept: %s values. ",
				       wp_format_count(n, wp_measure_n_left(measure)));
	return g_strchomp(g_string_free(text, FALSE));
}

void
wp_measure_write_text(const WpMeasure *measure, const WpStyle *style, WpOut *out)
{
	char number[WP_FORMAT_MAX];
	g_autoptr(WpTable) table = wp_table_new();
	g_autofree char *title = wp_escape_terminal(wp_measure_text(measure), style->utf8);
	g_autofree char *rest = rest_text(measure);
	wp_out_printf(out, "\n%s%s%s\n", wp_style_bold(style), title, wp_style_off(style));
	wp_table_column(table, "value", TRUE, 0);
	wp_table_column(table, "of", TRUE, 0);
	for (guint k = 0; k < wp_measure_n_keys(measure); k++)
		wp_table_column(table, wp_measure_key(measure, k), FALSE, 0);
	for (guint i = 0; i < n_rows(measure); i++) {
		const WpMeasureGroup *group = wp_measure_group(measure, i);
		wp_table_row(table, WP_TABLE_PLAIN);
		wp_table_cell(table, format_value(measure, group->value, number));
		wp_table_cell(table, wp_format_count(number, wp_delay_count(group->values)));
		for (guint k = 0; k < wp_measure_n_keys(measure); k++) {
			g_autofree char *text = key_text(measure, group, k);
			g_autofree char *safe = wp_escape_terminal(text, style->utf8);
			wp_table_cell(table, safe);
		}
	}
	if (wp_measure_n_groups(measure))
		wp_table_write(table, style, 3, out);
	if (*rest)
		wp_out_printf(out, "   %s\n", rest);
}

void
wp_measure_write_markdown(const WpMeasure *measure, WpOut *out)
{
	char number[WP_FORMAT_MAX];
	g_autofree char *title = wp_escape_markdown(wp_measure_text(measure));
	g_autofree char *rest = rest_text(measure);
	wp_out_printf(out, "\n**%s**\n\n", title);
	if (wp_measure_n_groups(measure)) {
		wp_out_text(out, "| value | of |");
		for (guint k = 0; k < wp_measure_n_keys(measure); k++)
			wp_out_printf(out, " %s |", wp_measure_key(measure, k));
		wp_out_text(out, "\n| ---: | ---: |");
		for (guint k = 0; k < wp_measure_n_keys(measure); k++)
			wp_out_text(out, " --- |");
		wp_out_char(out, '\n');
	}
	for (guint i = 0; i < n_rows(measure); i++) {
		const WpMeasureGroup *group = wp_measure_group(measure, i);
		wp_out_printf(out, "| %s |", format_value(measure, group->value, number));
		wp_out_printf(out, " %s |", wp_format_count(number, wp_delay_count(group->values)));
		for (guint k = 0; k < wp_measure_n_keys(measure); k++) {
			g_autofree char *text = key_text(measure, group, k);
			g_autofree char *safe = wp_escape_markdown(text);
			wp_out_printf(out, " %s |", safe);
		}
		wp_out_char(out, '\n');
	}
	if (*rest)
		wp_out_printf(out, "\n%s\n", rest);
}

static void
write_group(const WpMeasure *measure, const WpMeasureGroup *group, WpJson *json)
{
	gboolean has_time = FALSE;
	wp_json_open(json, NULL, '{');
	wp_json_open(json, "key", '[');
	for (guint k = 0; k < wp_measure_n_keys(measure); k++) {
		has_time |= wp_measure_is_time(measure, k);
		if (!wp_measure_is_time(measure, k))
			wp_json_text(json, NULL, group->keys[k]);
	}
	wp_json_close(json, ']');
	if (has_time)
		wp_json_number(json, "from_ns", (double)group->time_ns, 0);
	else
		wp_json_text(json, "from_ns", NULL);
	wp_json_number(json, "value", group->value, 6);
	wp_json_uint(json, "count", wp_delay_count(group->values));
	wp_json_close(json, '}');
}

void
wp_measure_write_json(const WpMeasure *measure, WpJson *json)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "expression", wp_measure_text(measure));
	wp_json_text(json, "unit", unit_names[wp_measure_unit(measure)]);
	wp_json_open(json, "keys", '[');
	for (guint k = 0; k < wp_measure_n_keys(measure); k++)
		if (!wp_measure_is_time(measure, k))
			wp_json_text(json, NULL, wp_measure_key(measure, k));
	wp_json_close(json, ']');
	wp_json_uint(json, "unknown", wp_measure_n_unknown(measure));
	wp_json_uint(json, "left_out", wp_measure_n_left(measure));
	wp_json_open(json, "groups", '[');
	for (guint i = 0; i < wp_measure_n_groups(measure); i++)
		write_group(measure, wp_measure_group(measure, i), json);
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}
