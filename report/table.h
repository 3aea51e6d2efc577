/*
 * WpTable: rows of cells for a text page. Columns are as wide as their widest cell; numbers stand to
 * the right; the last column takes what is left of the page and is shortened there, never wrapped.
 */
#ifndef WP_REPORT_TABLE_H
#define WP_REPORT_TABLE_H

#include <glib.h>

#include "report/out.h"
#include "report/terminal.h"

typedef struct WpTable WpTable;

typedef enum {
	WP_TABLE_PLAIN,
	WP_TABLE_HOT /* what the eye should find: marked with > and, in colour, red */
} WpTableRow;

/* (transfer full) */
WpTable *wp_table_new(void);
void wp_table_free(WpTable *table);

/* All columns first. HEADING is borrowed; NULL in the first column = no line of headings. */
void wp_table_column(WpTable *table, const char *heading, gboolean to_the_right, gsize min_width);

/* Then rows, cell by cell. TEXT is copied and must be safe for a terminal. */
void wp_table_row(WpTable *table, WpTableRow kind);
void wp_table_cell(WpTable *table, const char *text);

/* The last cell of a row: SHORTER stands there where TEXT does not fit whole. */
void wp_table_cell_or(WpTable *table, const char *text, const char *shorter);

/* Writes it, INDENT blanks before each line (2 at least where rows are HOT). */
void wp_table_write(const WpTable *table, const WpStyle *style, gsize indent, WpOut *out);

/* Escape sequences, "" where STYLE has no colour. */
const char *wp_style_bold(const WpStyle *style);
const char *wp_style_red(const WpStyle *style);
const char *wp_style_off(const WpStyle *style);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTable, wp_table_free)

#endif
