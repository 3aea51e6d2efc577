/*
 * A correlogram in each form: CSV, a row per bin of lag; text, some twenty rows with bars; SVG, a drawing that needs
 * nothing beside it. Bins are pairs of messages, one of either edge; the band is chance, 4 standard deviations about
 * what the bins around have.
 */
#include "report/write-correlogram.h"

#include <math.h>
#include <string.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"
#include "report/write-html.h"
#include "report/write-text.h"

static double
lag_of(const WpCorrelogram *own, guint32 i)
{
	return (double)(own->first + (gint64)i) * (double)own->quantum_ns;
}

/* Below 0, too. */
static const char *
format_lag(char *buffer, double ns)
{
	char size[WP_FORMAT_MAX];
	g_snprintf(buffer, WP_FORMAT_MAX, "%s%s", ns < 0 ? "-" : "",
		   wp_format_time(size, fabs(ns)));
	return buffer;
}

/* (transfer full) "1,926 messages to db, 3.20 ms later (spread 400 us)" */
static char *
words_of_spike(const WpCorrelogramView *view, const WpSpectrumSpike *spike)
{
	char messages[WP_FORMAT_MAX], delay[WP_FORMAT_MAX], spread[WP_FORMAT_MAX];
	return g_strdup_printf("%s messages to %s, %s later (spread %s)",
			       wp_format_count(messages, (guint64)(spike->messages + 0.5)),
			       view->to, wp_format_time(delay, spike->delay_ns),
			       wp_format_time(spread, spike->spread_ns));
}

/* --- CSV --- */

void
wp_correlogram_csv(const WpCorrelogramView *view, const WpPage *page G_GNUC_UNUSED, WpOut *out)
{
	const WpCorrelogram *own = view->correlogram;
	wp_out_text(out, "lag_from,lag_to,pairs,chance,sd\n");
	for (guint32 i = 0; i < own->n; i++) {
		char from[G_ASCII_DTOSTR_BUF_SIZE], to[G_ASCII_DTOSTR_BUF_SIZE];
		char chance[G_ASCII_DTOSTR_BUF_SIZE], sd[G_ASCII_DTOSTR_BUF_SIZE];
		g_ascii_formatd(from, sizeof from, "%.9f", lag_of(own, i) / 1e9);
		g_ascii_formatd(to, sizeof to, "%.9f", lag_of(own, i + 1) / 1e9);
		g_ascii_formatd(chance, sizeof chance, "%.1f", own->chance[i]);
		g_ascii_formatd(sd, sizeof sd, "%.3f", own->sd[i]);
		wp_out_printf(out, "%s,%s,%" G_GUINT64_FORMAT ",%s,%s\n", from, to, own->pairs[i],
			      chance, sd);
	}
}

/* --- text --- */

#define TEXT_ROWS 24
#define BAR_WIDTH 40

/* Bins FROM .. TO as one; a row is marked where it stands out of chance. */
typedef struct {
	double pairs;
	double chance;
	gboolean stands_out;
} Row;

static Row
sum_bins(const WpCorrelogram *own, guint32 from, guint32 to)
{
	Row row = { 0 };
	for (guint32 i = from; i < to; i++) {
		row.pairs += (double)own->pairs[i];
		row.chance += own->chance[i];
		row.stands_out |=
			(double)own->pairs[i] > own->chance[i] + WP_CORRELOGRAM_SDS * own->sd[i];
	}
	return row;
}

static void
write_bars(const WpCorrelogram *own, const WpPage *page, WpOut *out)
{
	guint32 step = (own->n + TEXT_ROWS - 1) / TEXT_ROWS;
	double most = 1;
	g_autoptr(WpTable) table = wp_table_new();
	wp_table_column(table, "lag from", TRUE, 8);
	wp_table_column(table, "pairs", TRUE, 8);
	wp_table_column(table, "by chance", TRUE, 9);
	wp_table_column(table, "", FALSE, 0);
	for (guint32 i = 0; i < own->n; i += step)
		most = MAX(most, sum_bins(own, i, MIN(i + step, own->n)).pairs);
	for (guint32 i = 0; i < own->n; i += step) {
		char buffer[WP_FORMAT_MAX];
		Row row = sum_bins(own, i, MIN(i + step, own->n));
		g_autofree char *bar = g_strnfill((gsize)(row.pairs / most * BAR_WIDTH + 0.5), '#');
		wp_table_row(table, row.stands_out ? WP_TABLE_HOT : WP_TABLE_PLAIN);
		wp_table_cell(table, format_lag(buffer, lag_of(own, i)));
		wp_table_cell(table, wp_format_count(buffer, (guint64)row.pairs));
		wp_table_cell(table, wp_format_count(buffer, (guint64)(row.chance + 0.5)));
		wp_table_cell(table, bar);
	}
	wp_table_write(table, &page->style, 2, out);
}

/* What was found there, or that nothing was; safe for a terminal. */
static char *
words_of_result(const WpCorrelogramView *view, gboolean utf8)
{
	GString *words = g_string_new(NULL);
	for (guint32 i = 0; i < view->n_spikes; i++) {
		g_autofree char *spike = words_of_spike(view, &view->spikes[i]);
		g_string_append_printf(words, "%s%s", i ? "; " : "Caused: ", spike);
	}
	g_string_append(words,
			view->n_spikes
				? "."
				: "No path leads this way: what stands out here, if anything, "
				  "others explain, or chance.");
	g_autofree char *plain = g_string_free(words, FALSE);
	return wp_escape_terminal(plain, utf8);
}

void
wp_correlogram_text(const WpCorrelogramView *view, const WpPage *page, WpOut *out)
{
	const WpCorrelogram *own = view->correlogram;
	gboolean utf8 = page->style.utf8;
	const char *arrow = utf8 ? "→" : "->";
	char n_in[WP_FORMAT_MAX], n_out[WP_FORMAT_MAX], quantum[WP_FORMAT_MAX];
	g_autofree char *from = wp_escape_terminal(view->from, utf8);
	g_autofree char *through = wp_escape_terminal(view->through, utf8);
	g_autofree char *to = wp_escape_terminal(view->to, utf8);
	g_autofree char *inputs =
		wp_text_inputs(page, view->view->file, view->view->inputs, view->view->n_inputs);
	g_autofree char *result = words_of_result(view, utf8);
	wp_out_printf(out, "%s%s%s\n", wp_style_bold(&page->style), inputs,
		      wp_style_off(&page->style));
	wp_out_printf(out, "%s messages %s %s %s, %s messages %s %s %s; bins of %s\n",
		      wp_format_count(n_in, own->n_in), from, arrow, through,
		      wp_format_count(n_out, own->n_out), through, arrow, to,
		      wp_format_time(quantum, (double)own->quantum_ns));
	wp_text_paragraph(page, result, 0, out);
	wp_text_heading(page, "Correlogram", out);
	wp_text_paragraph(page,
			  "pairs = messages of either edge that stand so far apart, the second one "
			  "later; by chance = what the bins around have. > marks rows with a bin "
			  "more than 4 standard deviations above it.",
			  2, out);
	write_bars(own, page, out);
}

/* --- SVG --- */

#define WIDTH  760.0
#define HEIGHT 340.0
#define LEFT   70.0
#define RIGHT  20.0
#define TOP    64.0
#define BOTTOM 44.0
#define TICKS  5 /* at most, on either axis */

typedef struct {
	const WpCorrelogramView *view;
	const WpCorrelogram *own;
	WpOut *out;
	double most; /* pairs at the top */
} Drawing;

static void
put(const Drawing *drawing, const char *before, double value)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	wp_out_text(drawing->out, before);
	wp_out_text(drawing->out, g_ascii_formatd(number, sizeof number, "%.1f", value));
}

static double
x_of(const Drawing *drawing, double lag_ns)
{
	const WpCorrelogram *own = drawing->own;
	double from = lag_of(own, 0), to = lag_of(own, own->n);
	return LEFT + (WIDTH - LEFT - RIGHT) * (lag_ns - from) / (to - from);
}

static double
y_of(const Drawing *drawing, double pairs)
{
	double share = CLAMP(pairs / drawing->most, 0, 1);
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share;
}

static void
put_text(const Drawing *drawing, double x, double y, const char *more, const char *words)
{
	g_autoptr(GString) safe = g_string_new(NULL);
	wp_escape_html_to(safe, words);
	put(drawing, "<text x=\"", x);
	put(drawing, "\" y=\"", y);
	wp_out_printf(drawing->out, "\"%s>%s</text>\n", more, safe->str);
}

static void
put_line(const Drawing *drawing, double x1, double y1, double x2, double y2, const char *more)
{
	put(drawing, "<line x1=\"", x1);
	put(drawing, "\" y1=\"", y1);
	put(drawing, "\" x2=\"", x2);
	put(drawing, "\" y2=\"", y2);
	wp_out_printf(drawing->out, "\" %s/>\n", more);
}

/* A point of a path. */
static void
put_point(const Drawing *drawing, gboolean is_first, double x, double y)
{
	put(drawing, is_first ? "M" : "L", x);
	put(drawing, " ", y);
}

/* 1, 2 or 5 times a power of ten, not below WISH. */
static double
tick_step(double wish)
{
	double power = pow(10, floor(log10(wish)));
	return wish <= power       ? power
	       : wish <= 2 * power ? 2 * power
	       : wish <= 5 * power ? 5 * power
				   : 10 * power;
}

static void
draw_axes(const Drawing *drawing)
{
	const WpCorrelogram *own = drawing->own;
	double from = lag_of(own, 0), to = lag_of(own, own->n), bottom = HEIGHT - BOTTOM;
	char buffer[WP_FORMAT_MAX];
	double lag_step = tick_step((to - from) / TICKS);
	double step = MAX(tick_step(drawing->most / TICKS), 1);
	for (double i = ceil(from / lag_step); i * lag_step <= to; i++) {
		double x = x_of(drawing, i * lag_step);
		put_line(drawing, x, bottom, x, bottom + 4, "stroke=\"#555\"");
		put_text(drawing, x, bottom + 17, " text-anchor=\"middle\"",
			 i == 0 ? "0" : format_lag(buffer, i * lag_step));
	}
	for (double pairs = 0; pairs <= drawing->most; pairs += step) {
		double y = y_of(drawing, pairs);
		put_line(drawing, LEFT, y, WIDTH - RIGHT, y,
			 "stroke=\"#555\" stroke-opacity=\"0.2\"");
		put_text(drawing, LEFT - 6, y + 4, " text-anchor=\"end\"",
			 wp_format_count(buffer, (guint64)(pairs + 0.5)));
	}
	put_line(drawing, x_of(drawing, 0), TOP, x_of(drawing, 0), bottom, "stroke=\"#555\"");
	put_text(drawing, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, " text-anchor=\"middle\"",
		 "lag: from a message in to a message out");
}

static void
draw_band(const Drawing *drawing)
{
	const WpCorrelogram *own = drawing->own;
	wp_out_text(drawing->out, "<path fill=\"#999\" fill-opacity=\"0.35\" d=\"");
	for (guint32 i = 0; i < own->n; i++)
		put_point(drawing, i == 0, x_of(drawing, lag_of(own, i)),
			  y_of(drawing, own->chance[i] + WP_CORRELOGRAM_SDS * own->sd[i]));
	for (guint32 i = own->n; i-- > 0;)
		put_point(drawing, FALSE, x_of(drawing, lag_of(own, i)),
			  y_of(drawing, own->chance[i] - WP_CORRELOGRAM_SDS * own->sd[i]));
	wp_out_text(drawing->out, "Z\"><title>chance, 4 standard deviations</title></path>\n");
}

static void
draw_pairs(const Drawing *drawing)
{
	const WpCorrelogram *own = drawing->own;
	wp_out_text(drawing->out, "<path fill=\"none\" stroke=\"#0b5cad\" d=\"");
	for (guint32 i = 0; i < own->n; i++) {
		double y = y_of(drawing, (double)own->pairs[i]);
		put_point(drawing, i == 0, x_of(drawing, lag_of(own, i)), y);
		put_point(drawing, FALSE, x_of(drawing, lag_of(own, i + 1)), y);
	}
	wp_out_text(drawing->out, "\"/>\n");
}

static void
draw_spikes(const Drawing *drawing)
{
	const WpCorrelogramView *view = drawing->view;
	double bottom = HEIGHT - BOTTOM;
	for (guint32 i = 0; i < view->n_spikes; i++) {
		const WpSpectrumSpike *spike = &view->spikes[i];
		char delay[WP_FORMAT_MAX];
		double x = x_of(drawing, spike->delay_ns);
		if (spike->delay_ns > lag_of(drawing->own, drawing->own->n))
			continue;
		put_line(drawing, x, TOP - 4, x, bottom,
			 "stroke=\"#b3430e\" stroke-dasharray=\"4 3\"");
		put_line(drawing, x_of(drawing, MAX(spike->delay_ns - spike->spread_ns, 0)),
			 bottom + 2, x_of(drawing, spike->delay_ns + spike->spread_ns), bottom + 2,
			 "stroke=\"#b3430e\" stroke-width=\"3\"");
		put_text(drawing, x + 4, TOP + 8 + 14 * (i % 8), " fill=\"#b3430e\"",
			 wp_format_time(delay, spike->delay_ns));
	}
}

/* What stands over the picture: names, then what was found. */
static void
draw_head(const Drawing *drawing)
{
	const WpCorrelogramView *view = drawing->view;
	char in[WP_FORMAT_MAX], out[WP_FORMAT_MAX], quantum[WP_FORMAT_MAX];
	g_autofree char *names =
		g_strdup_printf("%s → %s → %s", view->from, view->through, view->to);
	g_autofree char *safe_names = wp_escape_terminal(names, TRUE);
	g_autofree char *title = wp_escape_shorten(safe_names, 90);
	g_autofree char *spike = view->n_spikes ? words_of_spike(view, &view->spikes[0]) : NULL;
	g_autofree char *words = g_strdup_printf(
		"%s messages in, %s out, bins of %s. %s%s", wp_format_count(in, drawing->own->n_in),
		wp_format_count(out, drawing->own->n_out),
		wp_format_time(quantum, (double)drawing->own->quantum_ns),
		spike ? "Caused: " : "No path leads this way.", spike ? spike : "");
	g_autofree char *safe_words = wp_escape_terminal(words, TRUE);
	g_autofree char *shorter = wp_escape_shorten(safe_words, 110);
	put_text(drawing, LEFT, 22, " font-size=\"14\" font-weight=\"bold\"", title);
	put_text(drawing, LEFT, 42, "", shorter);
}

void
wp_correlogram_svg(const WpCorrelogramView *view, const WpPage *page G_GNUC_UNUSED, WpOut *out)
{
	Drawing drawing = { .view = view, .own = view->correlogram, .out = out, .most = 1 };
	const WpCorrelogram *own = view->correlogram;
	for (guint32 i = 0; i < own->n; i++)
		drawing.most =
			MAX(drawing.most, MAX((double)own->pairs[i],
					      own->chance[i] + WP_CORRELOGRAM_SDS * own->sd[i]));
	wp_out_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		      "viewBox=\"0 0 %d %d\" font-family=\"Helvetica,Arial,sans-serif\" "
		      "font-size=\"11\" fill=\"#222\" role=\"img\">\n"
		      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		      (int)WIDTH, (int)HEIGHT, (int)WIDTH, (int)HEIGHT);
	draw_head(&drawing);
	draw_axes(&drawing);
	draw_band(&drawing);
	draw_pairs(&drawing);
	draw_spikes(&drawing);
	wp_out_text(out, "</svg>\n");
}

static const char *const svg_suffixes[] = { "svg", NULL };

const WpWriter wp_writer_svg = {
	.name = "svg",
	.summary = "who calls whom, drawn; with --edge: the correlogram",
	.suffixes = svg_suffixes,
	.report = wp_svg_service_graph,
	.correlogram = wp_correlogram_svg,
};
