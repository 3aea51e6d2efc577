/* A pattern on the HTML page: its tree, how its latency is spread, requests that took it. */
#include "report/write-html.h"

#include <string.h>

#include "report/format.h"
#include "report/words.h"

#define NAME_WIDTH  40
#define LABEL_WIDTH 80

/* Rows of one tree, and of one request. */
#define MAX_TREE_ROWS    200
#define MAX_REQUEST_ROWS 60

/* Patterns of which all examples are shown; of the others the typical and the slowest. */
#define N_IN_FULL 5

/* Links less probable are dashed. */
#define DOUBTFUL 0.7

/* The columns of a tree, in this order; those that tell nothing are left out. */
static const char tree_columns[] = "count,self-share,critical,self,connecting,self-p95,mean,sd,min,"
				   "p50,p95,p99,max,delay,server,"
				   "network,bytes-call,bytes-return,errors,link";

/* --- the tree --- */

static void
write_branches(const WpHtml *html, const WpViewPattern *pattern, guint32 i)
{
	guint32 way[256], n = 0;
	for (guint32 at = i; at != WP_VIEW_NONE && at != 0 && n < G_N_ELEMENTS(way);
	     at = pattern->nodes[at].parent)
		way[n++] = at;
	wp_out_text(html->out, "<span class=\"br\" aria-hidden=\"true\">");
	while (n-- > 0)
		wp_html_branch(html, way[n] == i, pattern->nodes[way[n]].is_last,
			       pattern->nodes[way[n]].is_parallel);
	wp_out_text(html->out, "</span>");
}

static void
write_node_name(const WpHtml *html, const WpViewNode *node)
{
	wp_out_printf(html->out, "<span class=\"dot c%u\"></span><b>",
		      wp_html_color(html, node->node));
	wp_html_text(html, node->node, NAME_WIDTH);
	wp_out_text(html->out, "</b>");
	if (node->repeat > 1)
		wp_out_printf(html->out, " \303\227%u", node->repeat);
	wp_out_char(html->out, ' ');
	wp_html_text(html, *node->label ? node->label : node->protocol, LABEL_WIDTH);
	if (node->is_hottest)
		wp_out_text(html->out, " <em class=\"mark\">most self time</em>");
	if (node->is_parallel)
		wp_out_text(html->out, " <em>parallel</em>");
	if (node->waits)
		wp_out_text(html->out, " <em>waits by design</em>");
	if (wp_view_no_latency(node))
		wp_out_printf(html->out, " <em>%s</em>", wp_view_no_latency(node));
}

static void
write_tree_row(const WpHtml *html, const WpViewPattern *pattern, guint32 i,
	       const WpColumnSet *columns)
{
	const WpViewNode *node = &pattern->nodes[i];
	gboolean is_doubtful = node->probability >= 0 && node->probability < DOUBTFUL;
	wp_out_printf(html->out, "<tr id=\"p%un%u\" data-d=\"%u\" data-n=\"", pattern->rank, i,
		      node->depth);
	wp_html_text(html, node->node, NAME_WIDTH);
	wp_out_printf(html->out, "\" class=\"d%u%s%s\"><th scope=\"row\">", MIN(node->depth, 24),
		      node->is_hottest ? " hot" : "", is_doubtful ? " doubtful" : "");
	write_branches(html, pattern, i);
	write_node_name(html, node);
	wp_out_text(html->out, "</th>");
	for (guint c = 0; c < columns->n; c++) {
		const WpColumn *column = columns->columns[c];
		char text[WP_FORMAT_MAX];
		double value;
		if (column->get(node, &value))
			wp_html_cell(html, value,
				     column->kind == WP_COLUMN_SHARE ||
						     column->kind == WP_COLUMN_NUMBER
					     ? 6
					     : 1,
				     wp_column_format(column, node, text));
		else
			wp_out_text(html->out, "<td></td>");
	}
	wp_out_text(html->out, "</tr>\n");
}

static void
write_tree(WpHtml *html, const WpViewPattern *pattern)
{
	WpColumnSet all, columns;
	guint32 n = MIN(pattern->n_nodes, MAX_TREE_ROWS);
	if (html->page->columns)
		all = *html->page->columns;
	else
		wp_columns_parse(tree_columns, &all, NULL);
	columns = wp_columns_shown(&all, wp_columns_empty(html->view, html->view->n_patterns));
	n = MIN(n, WP_HTML_MAX_ROWS - MIN(html->n_rows, WP_HTML_MAX_ROWS));
	html->n_rows += n;
	wp_out_printf(html->out,
		      "<div class=\"wide\" tabindex=\"0\"><table class=\"tree\" "
		      "id=\"t%u\">\n<caption>Calls of a "
		      "request of pattern #%u, as a tree</caption>\n<thead><tr><th "
		      "scope=\"col\">path</th>",
		      pattern->rank, pattern->rank);
	for (guint c = 0; c < columns.n; c++)
		wp_out_printf(html->out, "<th scope=\"col\" data-k=\"%s\" title=\"%s\">%s</th>",
			      columns.columns[c]->name, columns.columns[c]->help,
			      columns.columns[c]->heading);
	wp_out_text(html->out, "</tr></thead>\n<tbody>\n");
	for (guint32 i = 0; i < n; i++)
		write_tree_row(html, pattern, i, &columns);
	wp_out_text(html->out, "</tbody>\n</table></div>\n");
	if (n < pattern->n_nodes)
		wp_out_printf(html->out, "<p>... and %u more calls below.</p>\n",
			      pattern->n_nodes - n);
}

/* --- one request --- */

static void
write_call_cells(const WpHtml *html, const WpViewCall *call)
{
	const WpViewTimes *latency = call->node ? &call->node->latency : NULL;
	const WpViewTimes *self = call->node ? &call->node->self : NULL;
	wp_html_time_cell(html, TRUE, call->start_ns);
	wp_html_time_cell(html, call->has_end, call->latency_ns);
	wp_html_time_cell(html, latency && latency->count > 0, latency ? latency->p50_ns : 0);
	wp_html_time_cell(html, call->has_end, call->self_ns);
	wp_html_time_cell(html, self && self->count > 0, self ? self->p50_ns : 0);
	wp_html_time_cell(html, call->critical_ns > 0, call->critical_ns);
	for (int i = 0; i < 2; i++) {
		if (call->messages[i].packet)
			wp_out_printf(html->out, "<td>%" G_GUINT64_FORMAT "</td>",
				      call->messages[i].packet);
		else
			wp_out_text(html->out, "<td></td>");
	}
	wp_out_printf(html->out, "<td>%s</td>", call->status);
	if (call->probability >= 0)
		wp_html_share_cell(html, call->probability);
	else
		wp_out_text(html->out, "<td></td>");
	wp_out_printf(html->out, "<td>%s</td></tr>\n", call->evidence);
}

static void
write_call_row(const WpHtml *html, const WpViewCall *call)
{
	wp_out_printf(html->out, "<tr class=\"d%u%s%s\"><th scope=\"row\">", MIN(call->depth, 24),
		      call->is_hottest ? " hot" : "", call->is_error ? " failed" : "");
	wp_out_printf(html->out, "<span class=\"dot c%u\"></span><b>",
		      wp_html_color(html, call->callee));
	wp_html_text(html, call->callee, NAME_WIDTH);
	wp_out_text(html->out, "</b> ");
	wp_html_text(html, *call->label ? call->label : call->protocol, LABEL_WIDTH);
	wp_out_text(html->out, " <span class=\"who\">call ");
	wp_html_text(html, call->id, NAME_WIDTH);
	wp_out_text(html->out, "</span></th>");
	write_call_cells(html, call);
}

static void
write_call_table(const WpHtml *html, const WpViewRequest *request, guint32 n)
{
	wp_out_text(html->out,
		    "<details><summary>The same as a table</summary><div class=\"wide\" "
		    "tabindex=\"0\"><table>\n"
		    "<caption>Calls of this request</caption>\n<thead><tr><th scope=\"col\">call"
		    "</th><th scope=\"col\">start</th><th scope=\"col\">total</th><th "
		    "scope=\"col\">median</th><th scope=\"col\">self</th><th scope=\"col\">median"
		    "</th><th scope=\"col\">waited</th><th scope=\"col\">packet</th><th "
		    "scope=\"col\">reply</th><th scope=\"col\">status</th><th scope=\"col\">sure"
		    "</th><th scope=\"col\">because</th></tr></thead>\n<tbody>\n");
	for (guint32 i = 0; i < n; i++)
		write_call_row(html, &request->calls[i]);
	wp_out_text(html->out, "</tbody>\n</table></div></details>\n");
}

/* What one pastes into Wireshark. */
static void
write_filters(const WpHtml *html, const WpViewRequest *request)
{
	guint n = MAX(html->view->n_inputs, 1);
	for (guint tap = 0; tap < n; tap++) {
		g_autofree char *filter = wp_view_request_frames(request, tap);
		if (!filter)
			continue;
		wp_out_text(html->out, "<p class=\"filter\">Wireshark");
		if (n > 1) {
			wp_out_text(html->out, ", ");
			wp_html_text(html, html->view->inputs[tap], NAME_WIDTH);
		}
		wp_out_text(html->out, ": <code>");
		wp_html_text(html, filter, 4000);
		wp_out_text(html->out, "</code></p>\n");
	}
}

static void
write_request(WpHtml *html, const WpViewPattern *pattern, const WpViewExample *example,
	      const char *names, gboolean is_open)
{
	char time[WP_FORMAT_MAX], after[WP_FORMAT_MAX];
	g_autoptr(WpViewRequest) request = wp_view_request_new(html->view, pattern, example);
	if (!request || html->n_rows >= WP_HTML_MAX_ROWS)
		return;
	guint32 n = MIN(request->n_calls, MAX_REQUEST_ROWS);
	guint32 all = request->n_calls + request->n_more;
	html->n_rows += n;
	wp_format_time(time, request->latency_ns);
	wp_format_time(after, (double)(request->begin_ns - html->view->begin_ns));
	wp_out_printf(html->out,
		      "<details class=\"request\" id=\"p%u-%s\"%s><summary>%s: <b>%s</b>, call ",
		      pattern->rank, example->name, is_open ? " open" : "", names, time);
	wp_html_text(html, example->id, NAME_WIDTH);
	wp_out_printf(html->out, ", %s after the start</summary>\n", after);
	g_autofree char *id = g_strdup_printf("p%u-%s", pattern->rank, example->name);
	request->n_calls = n;
	wp_html_timeline(html, request, id);
	write_call_table(html, request, n);
	if (n < all)
		wp_out_printf(html->out, "<p>... and %u more calls.</p>\n", all - n);
	write_filters(html, request);
	wp_out_text(html->out, "</details>\n");
	request->n_calls = all - request->n_more;
}

/* Each once, under all its names. */
static void
write_requests(WpHtml *html, const WpViewPattern *pattern, gboolean is_open)
{
	wp_out_text(html->out, "<h4>Single requests</h4>\n");
	for (guint32 i = 0; i < pattern->n_examples; i++) {
		const WpViewExample *example = &pattern->examples[i];
		g_autoptr(GString) names = g_string_new(example->name);
		gboolean is_same = FALSE;
		if (pattern->rank > N_IN_FULL && i && i + 1 < pattern->n_examples)
			continue;
		for (guint32 k = 0; k < i; k++)
			is_same |= pattern->examples[k].instance == example->instance;
		for (guint32 k = i + 1; k < pattern->n_examples; k++)
			if (pattern->examples[k].instance == example->instance)
				g_string_append_printf(names, ", %s", pattern->examples[k].name);
		if (!is_same && example->instance)
			write_request(html, pattern, example, names->str,
				      is_open && i + 1 == pattern->n_examples);
	}
}

void
wp_html_pattern(WpHtml *html, const WpViewPattern *pattern, gboolean is_open)
{
	const WpViewNode *root = &pattern->nodes[0];
	char share[WP_FORMAT_MAX], mean[WP_FORMAT_MAX], p95[WP_FORMAT_MAX], sure[WP_FORMAT_MAX];
	g_autofree char *requests = wp_words_count(pattern->count, "request");
	wp_out_printf(html->out, "<details class=\"pattern\" id=\"p%u\"%s>\n<summary><h3>#%u <b>",
		      pattern->rank, is_open ? " open" : "", pattern->rank);
	wp_html_text(html, *root->label ? root->label : root->protocol, LABEL_WIDTH);
	wp_out_text(html->out, "</b> <span class=\"who\">");
	wp_html_text(html, pattern->client, NAME_WIDTH);
	wp_out_text(html->out, " \342\206\222 ");
	wp_html_text(html, root->node, NAME_WIDTH);
	wp_out_printf(html->out,
		      "</span></h3> <span class=\"sum\">%s of the time: %s, mean %s, p95 %s",
		      wp_html_share(share, pattern->share), requests,
		      wp_format_time(mean, root->latency.mean_ns),
		      wp_format_time(p95, root->latency.p95_ns));
	if (pattern->path_odds >= 0 && pattern->path_odds < 0.95)
		wp_out_printf(html->out, ", %s sure", wp_html_share(sure, pattern->path_odds));
	wp_out_text(html->out, "</span></summary>\n");
	write_tree(html, pattern);
	wp_html_curve(html, pattern);
	write_requests(html, pattern, is_open);
	wp_out_text(html->out, "</details>\n");
}
