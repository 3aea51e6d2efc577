/*
 * Reports by cross-correlation for programs: CSV, a row per edge of a path and delay; JSON, the tree; and
 * graphs for Graphviz in the form of the paper's figure 9: an edge holds its delays, most messages first,
 * and the number of messages with them.
 */
#include "report/write-spectrum.h"

#include "report/escape.h"
#include "report/format.h"
#include "report/json.h"

static const char *
decimal(char *buffer, const char *format, double value)
{
	return g_ascii_formatd(buffer, G_ASCII_DTOSTR_BUF_SIZE, format, value);
}

/* --- CSV --- */

static void
add_name(GString *row, const char *name)
{
	g_string_append_c(row, ',');
	wp_escape_csv_to(row, name);
}

/* DELAY NULL: sent by a root, so without a delay. */
static void
write_row(guint32 path, const WpSpectrumEdge *edge, const WpSpectrumDelay *delay, WpOut *out)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	g_autoptr(GString) row = g_string_new(NULL);
	g_string_append_printf(row, "%u,%u", path, edge->depth);
	add_name(row, edge->sender);
	add_name(row, edge->receiver);
	g_string_append_c(row, ',');
	if (delay)
		g_string_append(row, decimal(number, "%.9f", delay->delay_ns / 1e9));
	g_string_append_c(row, ',');
	if (delay)
		g_string_append(row, decimal(number, "%.9f", delay->spread_ns / 1e9));
	g_string_append_printf(row, ",%s",
			       decimal(number, "%.0f", delay ? delay->messages : edge->messages));
	g_string_append_printf(row, ",%s,",
			       decimal(number, "%.6f", delay ? delay->share : edge->share));
	if (delay)
		g_string_append(row, decimal(number, "%.1f", delay->significance));
	g_string_append_c(row, '\n');
	wp_out_text(out, row->str);
}

void
wp_spectrum_csv(const WpSpectrumView *spectrum, const WpPage *page, WpOut *out)
{
	guint32 n = page->top ? MIN(page->top, spectrum->n_paths) : spectrum->n_paths;
	wp_out_text(out, "path,depth,sender,receiver,delay,spread,messages,share,significance\n");
	for (guint32 path = 0; path < n; path++) {
		guint32 length;
		g_autofree guint32 *edges = wp_spectrum_path(spectrum, path, &length);
		for (guint32 i = 0; i < length; i++) {
			const WpSpectrumEdge *edge = &spectrum->edges[edges[i]];
			if (!edge->n_delays)
				write_row(path + 1, edge, NULL, out);
			for (guint32 k = 0; k < edge->n_delays; k++)
				write_row(path + 1, edge, &edge->delays[k], out);
		}
	}
}

/* --- JSON --- */

static void
json_edge(WpJson *json, const WpSpectrumEdge *edge, guint32 i)
{
	wp_json_open(json, NULL, '{');
	wp_json_uint(json, "edge", i + 1);
	if (edge->parent != WP_VIEW_NONE)
		wp_json_uint(json, "parent", edge->parent + 1);
	wp_json_uint(json, "depth", edge->depth);
	wp_json_text(json, "sender", edge->sender);
	wp_json_text(json, "receiver", edge->receiver);
	wp_json_number(json, "messages", edge->messages, 1);
	wp_json_number(json, "share", edge->share, 6);
	wp_json_open(json, "delays", '[');
	for (guint32 k = 0; k < edge->n_delays; k++) {
		wp_json_open(json, NULL, '{');
		wp_json_number(json, "delay_ns", edge->delays[k].delay_ns, 0);
		wp_json_number(json, "spread_ns", edge->delays[k].spread_ns, 0);
		wp_json_number(json, "messages", edge->delays[k].messages, 1);
		wp_json_number(json, "share", edge->delays[k].share, 6);
		wp_json_number(json, "significance", edge->delays[k].significance, 1);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

void
wp_spectrum_json(const WpSpectrumView *spectrum, const WpPage *page, WpOut *out)
{
	WpJson json = { .out = out };
	guint32 n = page->top ? MIN(page->top, spectrum->n_paths) : spectrum->n_paths;
	wp_json_open(&json, NULL, '{');
	wp_json_text(&json, "engine", "xcorr");
	wp_json_bool(&json, "as_published", spectrum->is_published);
	wp_json_bool(&json, "partial", spectrum->is_stopped || spectrum->view->partial);
	wp_json_open(&json, "inputs", '[');
	for (guint i = 0; i < spectrum->view->n_inputs; i++)
		wp_json_text(&json, NULL, spectrum->view->inputs[i]);
	wp_json_close(&json, ']');
	wp_json_uint(&json, "messages", spectrum->n_messages);
	wp_json_number(&json, "quantum_ns", spectrum->quantum_ns, 0);
	wp_json_text(&json, "quantum_reason", spectrum->quantum_reason);
	wp_json_number(&json, "max_lag_ns", spectrum->max_lag_ns, 0);
	wp_json_uint(&json, "tests", spectrum->n_tests);
	wp_json_open(&json, "notes", '[');
	for (guint i = 0; i < spectrum->n_notes; i++)
		wp_json_text(&json, NULL, spectrum->notes[i]);
	wp_json_close(&json, ']');
	wp_json_open(&json, "edges", '[');
	for (guint32 i = 0; i < spectrum->n; i++)
		json_edge(&json, &spectrum->edges[i], i);
	wp_json_close(&json, ']');
	wp_json_uint(&json, "paths_in_all", spectrum->n_paths);
	wp_json_open(&json, "paths", '[');
	for (guint32 i = 0; i < n; i++)
		wp_json_uint(&json, NULL, spectrum->leaves[i] + 1);
	wp_json_close(&json, ']');
	wp_json_close(&json, '}');
}

/* --- dot --- */

static void
dot_name(GString *text, const char *name)
{
	g_autofree char *safe = wp_escape_terminal(name, TRUE);
	g_autofree char *shorter = wp_escape_shorten(safe, 40);
	wp_escape_dot_to(text, shorter);
}

static void
dot_edge(const WpSpectrumView *spectrum, guint32 i, WpOut *out)
{
	const WpSpectrumEdge *edge = &spectrum->edges[i];
	char buffer[WP_FORMAT_MAX];
	g_autoptr(GString) name = g_string_new(NULL);
	dot_name(name, edge->receiver);
	wp_out_printf(out, "  v%u [label=\"%s\"];\n", i + 1, name->str);
	if (edge->parent == WP_VIEW_NONE) {
		g_string_truncate(name, 0);
		dot_name(name, edge->sender);
		wp_out_printf(out, "  r%u [label=\"%s\"];\n  r%u -> v%u [label=\" ", i + 1,
			      name->str, i + 1, i + 1);
	} else {
		wp_out_printf(out, "  v%u -> v%u [label=\" ", edge->parent + 1, i + 1);
	}
	for (guint32 k = 0; k < edge->n_delays; k++)
		wp_out_printf(out, "%s%s", k ? ", " : "",
			      wp_format_time(buffer, edge->delays[k].delay_ns));
	wp_out_printf(out, "%s(%s) \"];\n", edge->n_delays ? " \\n " : "",
		      wp_format_count(buffer, (guint64)(edge->messages + 0.5)));
}

/* Graphviz stacks from the bottom up: the first comes last. */
void
wp_spectrum_dot(const WpSpectrumView *spectrum, const WpPage *page, WpOut *out)
{
	guint32 n = page->top ? MIN(page->top, spectrum->n_paths) : spectrum->n_paths;
	g_autofree guint8 *is_shown = g_malloc0(MAX(spectrum->n, 1));
	for (guint32 path = 0; path < n; path++) {
		guint32 length;
		g_autofree guint32 *edges = wp_spectrum_path(spectrum, path, &length);
		for (guint32 i = 0; i < length; i++)
			is_shown[edges[i]] = 1;
	}
	wp_out_text(out, "digraph wirepath {\n"
			 "  graph [rankdir=TB, ordering=out, nodesep=0.2, ranksep=0.35, "
			 "bgcolor=white,\n"
			 "    fontname=\"Helvetica,Arial,sans-serif\", fontsize=12];\n"
			 "  node [shape=ellipse, fontname=\"Helvetica,Arial,sans-serif\", "
			 "fontsize=10, margin=\"0.04,0.02\"];\n"
			 "  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=9, "
			 "arrowsize=0.7];\n"
			 "  // edge: delays in the node before it, most messages first; (messages "
			 "with them)\n");
	for (guint32 i = 0; i < spectrum->n; i++)
		if (is_shown[i])
			dot_edge(spectrum, i, out);
	wp_out_text(out, "}\n");
}
