/*
 * Graphs for Graphviz, in the form of the paper's figure 8 (section 5.4): a graph per pattern; an
 * ellipse holds the name of a node and its mean latency, children included; an edge holds the mean
 * time from the call into the parent to this call; the first edge holds the number of instances and
 * their total latency. Beyond the paper: the operation, the share of self time, the node with most self
 * time filled, and double edges to calls that overlap one beside them.
 */
#include "report/write-dot.h"

#include <string.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/write-spectrum.h"

#define MAX_LINES 2 /* of an operation */

/* Patterns that are less sure have a dashed border. */
#define SURE_PATH 0.95

/* Columns of a node's name. */
#define NAME_WIDTH 40

static void
add_text(GString *out, const char *text)
{
	wp_escape_dot_to(out, text);
}

void
wp_dot_add_name(GString *out, const char *name)
{
	g_autofree char *safe = wp_escape_terminal(name, TRUE);
	g_autofree char *shorter = wp_escape_shorten(safe, NAME_WIDTH);
	add_text(out, shorter);
}

void
wp_dot_add_lines(GString *out, const char *text)
{
	g_autofree char *safe = wp_escape_terminal(text, TRUE);
	const char *rest = safe;
	for (guint line = 0; *rest && line < MAX_LINES; line++) {
		g_autofree char *piece = NULL;
		gboolean is_last = line + 1 == MAX_LINES;
		if (wp_escape_width(rest) <= WP_DOT_LINE_WIDTH || is_last) {
			piece = wp_escape_shorten(rest, WP_DOT_LINE_WIDTH);
			rest = "";
		} else {
			const char *end = rest, *cut = NULL;
			for (gsize used = 0; used < WP_DOT_LINE_WIDTH && *end;
			     used++, end = g_utf8_next_char(end))
				if (end > rest && strchr(" /,.", *end))
					cut = *end == '/' ? end : end + 1;
			cut = cut && cut - rest > WP_DOT_LINE_WIDTH / 3 ? cut : end;
			piece = g_strndup(rest, (gsize)(cut - rest));
			rest = cut;
		}
		g_string_append(out, "\\n");
		add_text(out, g_strstrip(piece));
	}
}

static void
write_node(const WpViewPattern *pattern, guint32 i, WpOut *out)
{
	const WpViewNode *node = &pattern->nodes[i];
	char latency[WP_FORMAT_MAX], self[WP_FORMAT_MAX], share[WP_FORMAT_MAX];
	g_autoptr(GString) label = g_string_new(NULL);
	g_autoptr(GString) tip = g_string_new(NULL);

	wp_dot_add_name(label, node->node);
	if (node->repeat > 1)
		g_string_append_printf(label, " x%u", node->repeat);
	wp_dot_add_lines(label, node->label);
	const char *why = wp_view_no_latency(node);
	g_string_append_printf(label, "\\n%s",
			       why ? why : wp_format_time(latency, node->latency.mean_ns));
	wp_format_time(self, node->self.mean_ns);
	wp_format_share(share, node->self_share);
	if (node->is_hottest)
		g_string_append_printf(label, "\\nself %s (%s)", self, share);
	add_text(tip, node->label);
	if (node->self.count)
		g_string_append_printf(tip, "%sself time %s, %s of the pattern",
				       *node->label ? ": " : "", self, share);
	wp_out_printf(out, "    n%u_%u [label=\"%s\", tooltip=\"%s\"%s];\n", pattern->rank, i,
		      label->str, tip->str,
		      node->is_hottest ? ", style=filled, fillcolor=\"#f4b6a6\", penwidth=2" : "");
}

static void
write_edge(const WpViewPattern *pattern, guint32 i, WpOut *out)
{
	const WpViewNode *node = &pattern->nodes[i];
	char delay[WP_FORMAT_MAX];
	wp_out_printf(out, "    n%u_%u -> n%u_%u [label=\" %s \"%s%s];\n", pattern->rank,
		      node->parent, pattern->rank, i, wp_format_time(delay, node->delay.mean_ns),
		      node->probability >= 0 && node->probability < 0.7 ? ", style=dashed" : "",
		      node->is_parallel ? ", color=\"black:invis:black\"" : "");
}

static void
write_pattern(const WpViewPattern *pattern, WpOut *out)
{
	char count[WP_FORMAT_MAX], total[WP_FORMAT_MAX], share[WP_FORMAT_MAX];
	g_autoptr(GString) client = g_string_new(NULL);
	wp_dot_add_name(client, pattern->client);
	wp_format_count(count, pattern->count);
	wp_format_time(total, pattern->total_ns);
	gboolean is_unsure = pattern->path_odds >= 0 && pattern->path_odds < SURE_PATH;
	wp_out_printf(out, "\n  subgraph cluster_%u {\n    label=\"#%u: %s of the time\";\n",
		      pattern->rank, pattern->rank, wp_format_share(share, pattern->share));
	if (is_unsure)
		wp_out_text(out, "    style=dashed;\n");
	wp_out_printf(out, "    c%u [label=\"%s\", color=gray50, fontcolor=gray30];\n",
		      pattern->rank, client->str);
	for (guint32 i = 0; i < pattern->n_nodes; i++)
		write_node(pattern, i, out);
	wp_out_printf(out, "    c%u -> n%u_0 [label=\" %s instance%s \\n total %s \"];\n",
		      pattern->rank, pattern->rank, count, pattern->count == 1 ? "" : "s", total);
	for (guint32 i = pattern->n_nodes; i-- > 1;)
		write_edge(pattern, i, out);
	wp_out_text(out, "  }\n");
}

const char *
wp_dot_warning(const WpView *view)
{
	switch (view->links.trust) {
	case WP_VIEW_TRUST_STOPPED:
		return "\\nPARTIAL: inference was interrupted; many calls are missing from these "
		       "paths";
	case WP_VIEW_TRUST_LOW:
		return "\\nCAREFUL: most calls have several possible parents; these paths are "
		       "estimates";
	default:
		return "";
	}
}

void
wp_dot_begin(const WpView *view, WpOut *out)
{
	g_autoptr(GString) inputs = g_string_new(NULL);
	char count[WP_FORMAT_MAX];
	gboolean is_other = view->file && view->n_inputs &&
			    (view->n_inputs > 1 || strcmp(view->file, view->inputs[0]) != 0);
	if (is_other) {
		add_text(inputs, view->file);
		g_string_append(inputs, " (from ");
	}
	for (guint i = 0; i < view->n_inputs; i++) {
		g_string_append(inputs, i ? ", " : "");
		add_text(inputs, view->inputs[i]);
	}
	g_string_append(inputs, is_other ? ")" : "");
	wp_out_text(out, "digraph wirepath {\n"
			 "  graph [rankdir=LR, ordering=out, nodesep=0.15, ranksep=0.45, "
			 "bgcolor=white, labelloc=t, labeljust=l,\n"
			 "    fontname=\"Helvetica,Arial,sans-serif\", fontsize=12];\n"
			 "  node [shape=ellipse, fontname=\"Helvetica,Arial,sans-serif\", "
			 "fontsize=10, margin=\"0.04,0.02\"];\n"
			 "  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=9, "
			 "arrowsize=0.7];\n");
	wp_out_printf(out, "  label=\"%s: %s requests", inputs->str,
		      wp_format_count(count, view->n_requests));
}

static void
write_head(const WpView *view, guint32 n, guint32 all, WpOut *out)
{
	wp_dot_begin(view, out);
	if (n < all)
		wp_out_printf(out, ", the first %u of %u patterns", n, all);
	wp_out_printf(out, "%s\";\n", wp_dot_warning(view));
	wp_out_text(out,
		    "  // ellipse: node, operation, mean latency (children included); edge: mean "
		    "call delay;\n  // first edge: instances and their total latency; dashed: "
		    "uncertain; filled: most self time;\n  // double edge: overlaps a call beside "
		    "it; one-way: a message without an answer; open: no return was seen\n");
}

static void
write_report(const WpView *view, const WpPage *page, WpOut *out)
{
	guint32 all = 0;
	while (all < view->n_patterns && !view->patterns[all].is_background)
		all++;
	guint32 n = page->top ? MIN(page->top, all) : all;
	write_head(view, n, all, out);
	/* From left to right, dot stacks from the bottom up: the first comes last, for patterns and edges. */
	for (guint32 i = n; i-- > 0;)
		write_pattern(&view->patterns[i], out);
	wp_out_text(out, "}\n");
}

static const char *const suffixes[] = { "dot", "gv", NULL };

const WpWriter wp_writer_dot = {
	.name = "dot",
	.summary = "a graph per pattern, for Graphviz",
	.suffixes = suffixes,
	.is_for_people = TRUE,
	.report = write_report,
	.spectrum = wp_spectrum_dot,
};
