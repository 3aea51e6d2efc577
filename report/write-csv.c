/*
 * Patterns as CSV (RFC 4180): a row per node occurrence, all columns of wp_columns[], times in
 * nanoseconds, shares as fractions. New columns are added at the end only.
 */
#include "report/writer.h"

#include <string.h>

#include "report/escape.h"
#include "report/write-correlogram.h"
#include "report/write-spectrum.h"

static const char *
unit_suffix(WpColumnKind kind)
{
	return kind == WP_COLUMN_TIME ? "_ns" : "";
}

static void
write_heading(WpOut *out)
{
	wp_out_text(out, "pattern,position,parent,depth,client,node,operation,protocol,repeat,"
			 "instances,background");
	for (const WpColumn *column = wp_columns; column->name; column++) {
		g_autofree char *name = g_strdelimit(g_strdup(column->name), "-", '_');
		wp_out_printf(out, ",%s%s", name, unit_suffix(column->kind));
	}
	wp_out_text(out, ",path_probability,links_probability");
	wp_out_char(out, '\n');
}

static void
write_text(const char *text, WpOut *out)
{
	g_autoptr(GString) cell = g_string_new(",");
	wp_escape_csv_to(cell, text);
	wp_out_text(out, cell->str);
}

static void
write_value(const WpColumn *column, const WpViewNode *node, WpOut *out)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	double value;
	wp_out_char(out, ',');
	if (!column->get(node, &value))
		return;
	gboolean is_fraction = column->kind == WP_COLUMN_SHARE || column->kind == WP_COLUMN_NUMBER;
	wp_out_text(out,
		    g_ascii_formatd(number, sizeof number, is_fraction ? "%.6f" : "%.0f", value));
}

/* Of the pattern; empty where it is not known. */
static void
write_odds(double odds, WpOut *out)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	wp_out_char(out, ',');
	if (odds >= 0)
		wp_out_text(out, g_ascii_formatd(number, sizeof number, "%.6f", odds));
}

static void
write_node(const WpViewPattern *pattern, guint32 i, WpOut *out)
{
	const WpViewNode *node = &pattern->nodes[i];
	wp_out_printf(out, "%u,%u,", pattern->rank, i + 1);
	if (node->parent != WP_VIEW_NONE)
		wp_out_printf(out, "%u", node->parent + 1);
	wp_out_printf(out, ",%u", node->depth);
	write_text(pattern->client, out);
	write_text(node->node, out);
	write_text(node->label, out);
	write_text(node->protocol, out);
	wp_out_printf(out, ",%u,%" G_GUINT64_FORMAT ",%d", node->repeat, pattern->count,
		      pattern->is_background != 0);
	for (const WpColumn *column = wp_columns; column->name; column++)
		write_value(column, node, out);
	write_odds(pattern->path_odds, out);
	write_odds(pattern->links_odds, out);
	wp_out_char(out, '\n');
}

static void
write_report(const WpView *view, const WpPage *page, WpOut *out)
{
	guint32 n = page->top ? MIN(page->top, view->n_patterns) : view->n_patterns;
	write_heading(out);
	for (guint32 i = 0; i < n; i++)
		for (guint32 k = 0; k < view->patterns[i].n_nodes; k++)
			write_node(&view->patterns[i], k, out);
}

static const char *const suffixes[] = { "csv", NULL };

const WpWriter wp_writer_csv = {
	.name = "csv",
	.summary = "patterns, a row per node occurrence",
	.suffixes = suffixes,
	.report = write_report,
	.spectrum = wp_spectrum_csv,
	.correlogram = wp_correlogram_csv,
};
