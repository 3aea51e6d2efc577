/* The text page of a report by cross-correlation: how it was found, then the paths as trees. */
#include "report/write-spectrum.h"

#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"
#include "report/words.h"
#include "report/write-text.h"
#include "report/words.h"

typedef struct {
	const WpSpectrumView *spectrum;
	const WpPage *page;
	WpOut *out;
} Text;

static void
write_headline(const Text *text)
{
	const WpView *view = text->spectrum->view;
	g_autofree char *messages = wp_words_count(text->spectrum->n_messages, "message");
	g_autofree char *nodes = wp_words_count(view->n_nodes, "node");
	g_autofree char *edges = wp_words_count(text->spectrum->n_edges, "edge");
	g_autofree char *inputs =
		wp_text_inputs(text->page, view->file, view->inputs, view->n_inputs);
	wp_out_printf(text->out, "%s%s%s", wp_style_bold(&text->page->style), inputs,
		      wp_style_off(&text->page->style));
	if (view->n_records) {
		g_autofree char *when = wp_text_when(view->begin_ns, view->end_ns);
		wp_out_printf(text->out, "   %s", when);
	}
	wp_out_printf(text->out, "\n%s between %s, on %s\n", messages, nodes, edges);
	if (view->partial)
		wp_out_printf(text->out, "%sPARTIAL: %s%s\n", wp_style_red(&text->page->style),
			      view->partial, wp_style_off(&text->page->style));
	if (text->spectrum->is_stopped)
		wp_text_paragraph(text->page,
				  "PARTIAL: inference was interrupted; there may be more paths.", 0,
				  text->out);
}

static gboolean
has_several_delays(const WpSpectrumView *spectrum)
{
	for (guint32 i = 0; i < spectrum->n; i++)
		if (spectrum->edges[i].n_delays > 1)
			return TRUE;
	return FALSE;
}

static void
write_method(const Text *text)
{
	const WpSpectrumView *spectrum = text->spectrum;
	char quantum[WP_FORMAT_MAX], lag[WP_FORMAT_MAX], tests[WP_FORMAT_MAX];
	gboolean has_quantum = spectrum->quantum_ns > 0;
	g_autofree char *words = g_strdup_printf(
		"Paths inferred by cross-correlation%s of when messages come and go, calls and "
		"returns alike; nothing else of them is looked at. %suantum%s%s: %s. Delays up to "
		"%s%s; %s places were tested.",
		spectrum->is_published ? ", as published in the SOSP 2003 paper," : "",
		has_quantum ? "Q" : "No q", has_quantum ? " " : "",
		has_quantum ? wp_format_time(quantum, spectrum->quantum_ns) : "",
		spectrum->quantum_reason, wp_format_time(lag, spectrum->max_lag_ns),
		spectrum->is_lag_cut ? " (the capture is too short to tell longer ones)" : "",
		wp_format_count(tests, spectrum->n_tests));
	wp_text_paragraph(text->page, words, 0, text->out);
	for (guint i = 0; i < spectrum->n_notes; i++) {
		g_autofree char *safe =
			wp_escape_terminal(spectrum->notes[i], text->page->style.utf8);
		wp_text_paragraph(text->page, safe, 0, text->out);
	}
}

/* The lines of the tree before EDGE, and its node. */
static char *
tree_of(const Text *text, const WpSpectrumEdge *edge)
{
	const WpSpectrumView *spectrum = text->spectrum;
	gboolean utf8 = text->page->style.utf8;
	g_autofree char *name = wp_escape_terminal(edge->receiver, utf8);
	GString *tree = g_string_new(NULL);
	if (edge->parent == WP_VIEW_NONE) {
		g_autofree char *sender = wp_escape_terminal(edge->sender, utf8);
		g_string_append_printf(tree, "%s %s %s", sender, utf8 ? "→" : "->", name);
		return g_string_free(tree, FALSE);
	}
	for (guint32 at = edge->parent; spectrum->edges[at].parent != WP_VIEW_NONE;
	     at = spectrum->edges[at].parent)
		g_string_prepend(tree,
				 wp_text_branch(utf8, FALSE, spectrum->edges[at].is_last, FALSE));
	g_string_append(tree, wp_text_branch(utf8, TRUE, edge->is_last, FALSE));
	g_string_append(tree, name);
	return g_string_free(tree, FALSE);
}

static void
add_cells(WpTable *table, const WpSpectrumDelay *delay, double messages, double share)
{
	char buffer[WP_FORMAT_MAX];
	wp_table_cell(table, wp_format_count(buffer, (guint64)(messages + 0.5)));
	wp_table_cell(table, wp_format_share(buffer, share));
	wp_table_cell(table, delay ? wp_format_time(buffer, delay->delay_ns) : "");
	wp_table_cell(table, delay ? wp_format_time(buffer, delay->spread_ns) : "");
	wp_table_cell(table, delay ? wp_format_number(buffer, delay->significance) : "");
}

static void
add_edge(const Text *text, WpTable *table, const WpSpectrumEdge *edge)
{
	g_autofree char *tree = tree_of(text, edge);
	wp_table_row(table, WP_TABLE_PLAIN);
	if (edge->n_delays)
		add_cells(table, &edge->delays[0], edge->delays[0].messages, edge->delays[0].share);
	else
		add_cells(table, NULL, edge->messages, edge->share);
	wp_table_cell(table, tree);
	for (guint32 k = 1; k < edge->n_delays; k++) {
		wp_table_row(table, WP_TABLE_PLAIN);
		add_cells(table, &edge->delays[k], edge->delays[k].messages, edge->delays[k].share);
		wp_table_cell(table, "");
	}
}

/* Which edges stand on one of the first paths. */
static guint8 *
shown_edges(const WpSpectrumView *spectrum, guint32 n_paths)
{
	guint8 *is_shown = g_malloc0(MAX(spectrum->n, 1));
	for (guint32 path = 0; path < n_paths; path++) {
		guint32 length;
		g_autofree guint32 *edges = wp_spectrum_path(spectrum, path, &length);
		for (guint32 i = 0; i < length; i++)
			is_shown[edges[i]] = 1;
	}
	return is_shown;
}

/* A page that is read: trees are short rows, so more of them fit than patterns of requests. */
#define ROWS_PER_TOP 3

static void
write_paths(const Text *text)
{
	const WpSpectrumView *spectrum = text->spectrum;
	guint32 wanted = text->page->leaves_tail ? ROWS_PER_TOP * text->page->top : text->page->top;
	guint32 n = wanted ? MIN(wanted, spectrum->n_paths) : spectrum->n_paths;
	g_autofree guint8 *is_shown = shown_edges(spectrum, n);
	g_autofree char *heading =
		n < spectrum->n_paths
			? g_strdup_printf("Paths: the first %u of %u (more: --top N, --all)", n,
					  spectrum->n_paths)
			: g_strdup_printf("Paths: %u", n);
	wp_text_heading(text->page, heading, text->out);
	if (!spectrum->n) {
		wp_text_paragraph(text->page, "No path was found.", 2, text->out);
		return;
	}
	g_autofree char *legend = g_strdup_printf(
		"delay = message into the node before to this one, of half of them less%s; spread "
		"= half the width of the middle two thirds; share of the messages at the root; sds "
		"= standard deviations above chance.",
		has_several_delays(spectrum) ? ", a row each where they part" : "");
	wp_text_paragraph(text->page, legend, 2, text->out);
	for (guint32 i = 0; i < spectrum->n;) {
		g_autoptr(WpTable) table = wp_table_new();
		gboolean has_rows = FALSE;
		wp_table_column(table, "messages", TRUE, 8);
		wp_table_column(table, "share", TRUE, 6);
		wp_table_column(table, "delay", TRUE, 8);
		wp_table_column(table, "spread", TRUE, 8);
		wp_table_column(table, "sds", TRUE, 5);
		wp_table_column(table, "path", FALSE, 0);
		do {
			if (is_shown[i]) {
				add_edge(text, table, &spectrum->edges[i]);
				has_rows = TRUE;
			}
		} while (++i < spectrum->n && spectrum->edges[i].parent != WP_VIEW_NONE);
		if (!has_rows)
			continue;
		wp_out_char(text->out, '\n');
		wp_table_write(table, &text->page->style, 2, text->out);
	}
}

void
wp_spectrum_text(const WpSpectrumView *spectrum, const WpPage *page, WpOut *out)
{
	Text text = { spectrum, page, out };
	const WpView *view = spectrum->view;
	write_headline(&text);
	if (spectrum->n_messages)
		write_method(&text);
	else
		wp_text_paragraph(page, wp_words_no_records(view->is_selective, view->n_packets), 0,
				  out);
	wp_text_warning(view, page, out);
	write_paths(&text);
	wp_text_quality(&view->quality, view->settings, view->n_settings, page, out);
}
