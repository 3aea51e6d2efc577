/* Where edges lose time, as tables of the HTML page: the same rows as on the text page. */
#include "report/format.h"
#include "report/words.h"
#include "report/write-html.h"

/* Rows of the page. */
#define MAX_ROWS 200

static void
write_ends(const WpHtml *html, const WpViewEdgeTime *edge)
{
	wp_out_text(html->out, "<tr><th scope=\"row\">");
	wp_html_text(html, edge->caller, 0);
	wp_out_text(html->out, " \342\206\222 ");
	wp_html_text(html, edge->node, 0);
	wp_out_text(html->out, "</th>");
}

static void
mean_cell(const WpHtml *html, double sum_ns, guint64 n)
{
	wp_html_time_cell(html, n > 0, sum_ns / (double)MAX(n, 1));
}

static void
write_edge(const WpHtml *html, const WpViewEdgeTime *edge)
{
	double whole = MAX(edge->latency_ns, 1);
	write_ends(html, edge);
	wp_html_count_cell(html, edge->calls);
	mean_cell(html, edge->latency_ns, edge->calls);
	wp_html_share_cell(html, edge->request_ns / whole);
	wp_html_share_cell(html, edge->server_ns / whole);
	wp_html_share_cell(html, edge->reply_ns / whole);
	wp_html_share_cell(html, edge->stall_ns / whole);
	mean_cell(html, edge->network_ns, edge->n_both);
	wp_html_time_cell(html, edge->client_rtt_ns > 0 && edge->server_rtt_ns > 0,
			  edge->client_rtt_ns + edge->server_rtt_ns);
	wp_html_count_cell(html, edge->n_connects);
	mean_cell(html, edge->connect_ns, edge->n_connects);
	mean_cell(html, edge->setup_ns, edge->n_setups);
	wp_out_text(html->out, "</tr>\n");
}

static void
write_cause(const WpHtml *html, const WpViewEdgeTime *edge, const WpViewStalls *stalls)
{
	write_ends(html, edge);
	wp_out_text(html->out, "<td>");
	wp_html_text(html, wp_words_cause(stalls->cause, stalls->is_setup), 0);
	wp_out_text(html->out, "</td>");
	wp_html_count_cell(html, stalls->count);
	wp_html_count_cell(html, stalls->n_calls);
	wp_html_time_cell(html, TRUE, stalls->held_ns);
	wp_html_time_cell(html, TRUE, stalls->longest_ns);
	if (!stalls->first) {
		wp_out_text(html->out, "<td></td></tr>\n");
		return;
	}
	wp_out_text(html->out, "<td>");
	if (html->view->n_inputs > 1 && stalls->tap < html->view->n_inputs) {
		wp_html_text(html, html->view->inputs[stalls->tap], 0);
		wp_out_text(html->out, " ");
	}
	wp_out_printf(html->out, "%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT "</td></tr>\n",
		      stalls->first, stalls->last);
}

static void
write_causes(const WpHtml *html)
{
	const WpView *view = html->view;
	guint32 n = 0;
	wp_out_text(html->out,
		    "<div class=\"wide\" tabindex=\"0\"><table class=\"sortable\">\n<caption>What "
		    "held calls "
		    "up</caption>\n<thead><tr><th scope=\"col\">calls</th><th "
		    "scope=\"col\">cause</th><th scope=\"col\">stalls</th><th scope=\"col\">calls "
		    "held up</th><th scope=\"col\">time</th><th scope=\"col\">longest</th><th "
		    "scope=\"col\">its packets</th></tr></thead>\n<tbody>\n");
	for (guint32 i = 0; i < view->n_edge_times; i++) {
		const WpViewEdgeTime *edge = &view->edge_times[i];
		for (guint k = 0; k < edge->n_stalls && edge->is_worth; k++)
			if (n++ < MAX_ROWS)
				write_cause(html, edge, &edge->stalls[k]);
	}
	wp_out_text(html->out, "</tbody>\n</table></div>\n");
}

void
wp_html_edges(const WpHtml *html)
{
	const WpView *view = html->view;
	guint32 n = 0, n_stalls = 0;
	for (guint32 i = 0; i < view->n_edge_times; i++)
		if (view->edge_times[i].is_worth) {
			n++;
			n_stalls += view->edge_times[i].n_stalls;
		}
	if (!n)
		return;
	wp_out_text(
		html->out,
		"<section id=\"edges\">\n<h2>Where edges lose time</h2>\n<p>Request, server, reply "
		"and stalls are the parts of the latency; network (both ways, where both ends were "
		"captured) is in them. Connect (TCP) and set-up (TLS, login) come before the first "
		"call of a connection.</p>\n<div class=\"wide\" tabindex=\"0\"><table "
		"class=\"sortable\">\n"
		"<caption>Most time lost first</caption>\n<thead><tr><th scope=\"col\">calls</th>"
		"<th scope=\"col\">all</th><th scope=\"col\">mean</th><th scope=\"col\">request"
		"</th><th scope=\"col\">server</th><th scope=\"col\">reply</th><th "
		"scope=\"col\">stalls</th><th scope=\"col\">network</th><th scope=\"col\">round "
		"trip</th><th scope=\"col\">connections</th><th scope=\"col\">connect</th><th "
		"scope=\"col\">set-up</th></tr></thead>\n<tbody>\n");
	n = 0;
	for (guint32 i = 0; i < view->n_edge_times; i++)
		if (view->edge_times[i].is_worth && n++ < MAX_ROWS)
			write_edge(html, &view->edge_times[i]);
	wp_out_text(html->out, "</tbody>\n</table></div>\n");
	if (n_stalls)
		write_causes(html);
	wp_out_text(html->out, "</section>\n");
}
