/* Tables of a text page; see table.h. */
#include "report/table.h"

#include "report/escape.h"

typedef struct {
	const char *heading;
	gboolean to_the_right;
	gsize width;
} Column;

typedef struct {
	WpTableRow kind;
	GPtrArray *cells;
	char *shorter; /* for the last cell; or NULL */
} Row;

struct WpTable {
	GArray *columns; /* Column */
	GArray *rows;    /* Row */
};

static void
clear_row(gpointer data)
{
	g_ptr_array_unref(((Row *)data)->cells);
	g_free(((Row *)data)->shorter);
}

WpTable *
wp_table_new(void)
{
	WpTable *table = g_new0(WpTable, 1);
	table->columns = g_array_new(FALSE, FALSE, sizeof(Column));
	table->rows = g_array_new(FALSE, FALSE, sizeof(Row));
	g_array_set_clear_func(table->rows, clear_row);
	return table;
}

void
wp_table_free(WpTable *table)
{
	if (!table)
		return;
	g_array_unref(table->columns);
	g_array_unref(table->rows);
	g_free(table);
}

void
wp_table_column(WpTable *table, const char *heading, gboolean to_the_right, gsize min_width)
{
	gsize width = heading ? wp_escape_width(heading) : 0;
	Column column = { heading, to_the_right, MAX(width, min_width) };
	g_array_append_val(table->columns, column);
}

void
wp_table_row(WpTable *table, WpTableRow kind)
{
	Row row = { kind, g_ptr_array_new_with_free_func(g_free), NULL };
	g_array_append_val(table->rows, row);
}

void
wp_table_cell(WpTable *table, const char *text)
{
	Row *row = &g_array_index(table->rows, Row, table->rows->len - 1);
	Column *column = &g_array_index(table->columns, Column, row->cells->len);
	column->width = MAX(column->width, wp_escape_width(text));
	g_ptr_array_add(row->cells, g_strdup(text));
}

void
wp_table_cell_or(WpTable *table, const char *text, const char *shorter)
{
	wp_table_cell(table, text);
	g_array_index(table->rows, Row, table->rows->len - 1).shorter = g_strdup(shorter);
}

/* Blanks between two columns. */
#define GAP 2

static void
write_cell(const Column *column, const char *text, gboolean is_last, gsize left, WpOut *out)
{
	g_autofree char *fitting = is_last ? wp_escape_shorten(text, left) : g_strdup(text);
	gsize pad = column->width - MIN(column->width, wp_escape_width(fitting));
	if (column->to_the_right)
		wp_out_fill(out, ' ', pad);
	wp_out_text(out, fitting);
	if (!column->to_the_right && !is_last)
		wp_out_fill(out, ' ', pad);
	if (!is_last)
		wp_out_fill(out, ' ', GAP);
}

/* What the last column may take. */
static gsize
room_for_last(const WpTable *table, const WpStyle *style, gsize indent)
{
	gsize used = indent;
	for (guint i = 0; i + 1 < table->columns->len; i++)
		used += g_array_index(table->columns, Column, i).width + GAP;
	return used + 10 < style->width ? style->width - used : 10;
}

static const char *
style_dim(const WpStyle *style)
{
	return style->color ? "\033[2m" : "";
}

static void
write_headings(const WpTable *table, const WpStyle *style, gsize indent, gsize left, WpOut *out)
{
	if (!g_array_index(table->columns, Column, 0).heading)
		return;
	wp_out_fill(out, ' ', indent);
	wp_out_text(out, style_dim(style));
	for (guint i = 0; i < table->columns->len; i++) {
		const Column *column = &g_array_index(table->columns, Column, i);
		write_cell(column, column->heading, i + 1 == table->columns->len, left, out);
	}
	wp_out_text(out, wp_style_off(style));
	wp_out_char(out, '\n');
}

/* What a row shows in column K. */
static const char *
text_of(const Row *row, guint k, gsize left)
{
	const char *text = row->cells->pdata[k];
	gboolean is_last = k + 1 == row->cells->len;
	return is_last && row->shorter && wp_escape_width(text) > left ? row->shorter : text;
}

void
wp_table_write(const WpTable *table, const WpStyle *style, gsize indent, WpOut *out)
{
	gsize left = room_for_last(table, style, indent);
	write_headings(table, style, indent, left, out);
	for (guint i = 0; i < table->rows->len; i++) {
		const Row *row = &g_array_index(table->rows, Row, i);
		gboolean is_hot = row->kind == WP_TABLE_HOT;
		gboolean is_marked = is_hot && indent >= 2;
		wp_out_fill(out, ' ', is_marked ? indent - 2 : indent);
		if (is_hot)
			wp_out_text(out, wp_style_red(style));
		if (is_marked)
			wp_out_text(out, "> ");
		for (guint k = 0; k < row->cells->len; k++)
			write_cell(&g_array_index(table->columns, Column, k), text_of(row, k, left),
				   k + 1 == table->columns->len, left, out);
		if (is_hot)
			wp_out_text(out, wp_style_off(style));
		wp_out_char(out, '\n');
	}
}

const char *
wp_style_bold(const WpStyle *style)
{
	return style->color ? "\033[1m" : "";
}

const char *
wp_style_red(const WpStyle *style)
{
	return style->color ? "\033[1;31m" : "";
}

const char *
wp_style_off(const WpStyle *style)
{
	return style->color ? "\033[0m" : "";
}
