/*
 * The service graph as text that other programs draw: which node calls which, for Graphviz, and for pages that draw
 * Mermaid (a flowchart).
 */
#include "report/writer.h"

#include <math.h>
#include <string.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/service-graph.h"
#include "report/words.h"

#define NAME_WIDTH 40
#define MOST_WIDE  5.0 /* of a line, beside 1 */

/* As a share of calls, drawn red from here on. */
#define MANY_ERRORS 0.01

/* A node's name, of bearable length. */
static char *
short_name(const char *name)
{
	g_autofree char *safe = wp_escape_terminal(name, TRUE);
	return wp_escape_shorten(safe, NAME_WIDTH);
}

/* (transfer full) What is said of an edge: calls, errors, mean latency; parts with SEPARATOR between. */
static char *
edge_text(const WpServiceEdge *edge, const char *separator)
{
	char errors[WP_FORMAT_MAX], time[WP_FORMAT_MAX];
	g_autofree char *calls = wp_words_count((guint64)(edge->calls + 0.5), "call");
	GString *text = g_string_new(calls);

	if (edge->errors >= 0.5)
		g_string_append_printf(text, "%s%s failed", separator,
				       wp_format_count(errors, (guint64)(edge->errors + 0.5)));
	if (edge->latency_ns > 0)
		g_string_append_printf(text, "%smean %s", separator,
				       wp_format_time(time, edge->latency_ns));
	return g_string_free(text, FALSE);
}

/* (transfer full) The same of a node. */
static char *
node_text(const WpServiceNode *node)
{
	char self[WP_FORMAT_MAX], share[WP_FORMAT_MAX];

	if (node->calls <= 0)
		return g_strdup("only calls");
	return g_strdup_printf("self %s, %s", wp_format_time(self, node->self_ns),
			       wp_format_share(share, node->self_share));
}

static double
most_calls(const WpServiceGraph *graph)
{
	double most = 1;
	for (guint32 i = 0; i < graph->n_edges; i++)
		most = MAX(most, graph->edges[i].calls);
	return most;
}

/* --- Graphviz --- */

static void
write_dot_node(const WpServiceNode *node, guint32 number, WpOut *out)
{
	g_autofree char *name = short_name(node->name), *text = node_text(node);
	g_autoptr(GString) label = g_string_new(NULL);

	wp_escape_dot_to(label, name);
	wp_out_printf(out, "  n%u [label=\"%s\\n%s\"%s];\n", number, label->str, text,
		      node->is_hottest  ? ", fillcolor=\"#f4b6a6\", penwidth=2"
		      : node->calls > 0 ? ""
					: ", color=gray50, fontcolor=gray30");
}

static void
write_dot_edge(const WpServiceEdge *edge, double most, WpOut *out)
{
	g_autofree char *text = edge_text(edge, "\\n");
	g_autofree char *width =
		g_strdup_printf("%.0f", 100 + 100 * MOST_WIDE * sqrt(edge->calls / most));
	gboolean is_bad = edge->errors > MANY_ERRORS * edge->calls;
	gsize n = strlen(width);

	/* Whatever the locale, with a point. */
	wp_out_printf(out, "  n%u -> n%u [label=\"%s\", penwidth=%.*s.%s%s%s];\n", edge->from,
		      edge->to, text, (int)(n - 2), width, width + n - 2,
		      is_bad ? ", color=\"#c0392b\", fontcolor=\"#c0392b\"" : "",
		      edge->is_back ? ", style=dashed, constraint=false" : "");
}

static void
write_dot(const WpView *view, const WpPage *page, WpOut *out)
{
	g_autoptr(WpServiceGraph) graph = wp_service_graph_new(view);
	char count[WP_FORMAT_MAX];

	wp_out_text(out,
		    "digraph wirepath {\n"
		    "  graph [rankdir=LR, nodesep=0.25, ranksep=0.7, bgcolor=white, labelloc=t, "
		    "labeljust=l,\n    fontname=\"Helvetica,Arial,sans-serif\", fontsize=12];\n"
		    "  node [shape=box, style=\"rounded,filled\", fillcolor=white, "
		    "fontname=\"Helvetica,Arial,sans-serif\", fontsize=10];\n"
		    "  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=9, "
		    "color=\"#777777\", arrowsize=0.7];\n");
	wp_out_printf(out, "  label=\"Who calls whom in %s requests",
		      wp_format_count(count, view->n_requests));
	if (graph->n_hidden)
		wp_out_printf(out, "; %u nodes with less self time are left out", graph->n_hidden);
	wp_out_text(
		out,
		"\";\n  // box: node, self time and its share of all, most filled; edge: calls, "
		"mean latency, wider = more calls;\n  // red: 1% of the calls failed or more; "
		"dashed: back, part of a cycle\n");
	for (guint32 i = 0; i < graph->n_nodes; i++)
		write_dot_node(&graph->nodes[i], i, out);
	for (guint32 i = 0; i < graph->n_edges; i++)
		write_dot_edge(&graph->edges[i], most_calls(graph), out);
	wp_out_text(out, "}\n");
}

static const char *const dot_suffixes[] = { "services.dot", "services.gv", NULL };

const WpWriter wp_writer_services = {
	.name = "services",
	.summary = "who calls whom, as one graph, for Graphviz",
	.suffixes = dot_suffixes,
	.report = write_dot,
};

/* --- Mermaid --- */

/* In quotes, where only letters and digits surely mean nothing: the others by number, as Mermaid has it. */
static void
write_quoted(const char *text, WpOut *out)
{
	for (const char *at = text; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);
		if (c < 128 && (g_ascii_isalnum((gchar)c) || strchr(" .,-_/%", (int)c)))
			wp_out_char(out, (char)c);
		else
			wp_out_printf(out, "#%u;", c);
	}
}

static void
write_mermaid(const WpView *view, const WpPage *page, WpOut *out)
{
	g_autoptr(WpServiceGraph) graph = wp_service_graph_new(view);

	wp_out_text(out, "flowchart LR\n");
	for (guint32 i = 0; i < graph->n_nodes; i++) {
		const WpServiceNode *node = &graph->nodes[i];
		g_autofree char *name = short_name(node->name), *text = node_text(node);
		wp_out_printf(out, "  n%u[\"", i);
		write_quoted(name, out);
		wp_out_text(out, "<br>");
		write_quoted(text, out);
		wp_out_printf(out, "\"]%s\n", node->is_hottest ? ":::hot" : "");
	}
	for (guint32 i = 0; i < graph->n_edges; i++) {
		const WpServiceEdge *edge = &graph->edges[i];
		g_autofree char *text = edge_text(edge, ", ");
		wp_out_printf(out, "  n%u %s|\"", edge->from, edge->is_back ? "-.->" : "-->");
		write_quoted(text, out);
		wp_out_printf(out, "\"| n%u\n", edge->to);
	}
	wp_out_text(out, "  classDef hot fill:#f4b6a6,stroke-width:2px\n");
	if (graph->n_hidden)
		wp_out_printf(out, "  %%%% %u nodes with less self time are left out\n",
			      graph->n_hidden);
}

static const char *const mermaid_suffixes[] = { "mmd", "mermaid", NULL };

const WpWriter wp_writer_mermaid = {
	.name = "mermaid",
	.summary = "who calls whom, for Markdown pages that draw Mermaid",
	.suffixes = mermaid_suffixes,
	.report = write_mermaid,
};
