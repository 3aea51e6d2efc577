/* The table of patterns of one shape of the HTML page. */
#include "report/format.h"
#include "report/view-clusters.h"
#include "report/write-html.h"

#define MAX_ROWS     100
#define MAX_PATTERNS 12
#define MAX_NODES    12
#define NAMES_WIDTH  200

static void
write_pattern(const WpHtml *html, guint32 pattern)
{
	guint32 rank = html->view->patterns[pattern].rank;
	wp_html_time_cell(html, TRUE, wp_view_cluster_mean(html->view, pattern));
	if (rank <= WP_HTML_MAX_PATTERNS)
		wp_out_printf(html->out, "<td data-v=\"%u\"><a href=\"#p%u\">#%u</a></td>", rank,
			      rank, rank);
	else
		wp_out_printf(html->out, "<td data-v=\"%u\">#%u</td>", rank, rank);
}

static void
write_row(const WpHtml *html, const WpViewCluster *cluster)
{
	g_autofree char *choices = wp_view_cluster_choices(cluster, MAX_NODES);
	g_autofree char *members = wp_view_cluster_members(html->view, cluster, MAX_PATTERNS);
	wp_out_text(html->out, "<tr><th scope=\"row\">");
	wp_html_text(html, choices, NAMES_WIDTH);
	wp_out_text(html->out, "</th>");
	wp_html_share_cell(html, cluster->share);
	wp_html_count_cell(html, cluster->count);
	write_pattern(html, cluster->fastest);
	write_pattern(html, cluster->slowest);
	wp_html_count_cell(html, cluster->n_members);
	wp_out_printf(html->out, "<td>%s</td></tr>\n", members);
}

void
wp_html_clusters(const WpHtml *html)
{
	const WpView *view = html->view;
	guint32 n = MIN(view->n_clusters, MAX_ROWS);
	if (!n)
		return;
	wp_out_text(
		html->out,
		"<h3>Patterns of one shape</h3>\n<div class=\"wide\" tabindex=\"0\"><table "
		"class=\"sortable\">\n<caption>The same calls in the same order, to other nodes: "
		"replicas, in most systems. Means are of requests</caption>\n<thead><tr><th "
		"scope=\"col\">these or those nodes</th><th scope=\"col\">time%</th><th "
		"scope=\"col\">requests</th><th scope=\"col\">fastest mean</th><th "
		"scope=\"col\">of</th><th scope=\"col\">slowest mean</th><th "
		"scope=\"col\">of</th><th scope=\"col\">patterns</th><th "
		"scope=\"col\">which</th></tr></thead>\n<tbody>\n");
	for (guint32 i = 0; i < n; i++)
		write_row(html, &view->clusters[i]);
	wp_out_text(html->out, "</tbody>\n</table></div>\n");
	if (n < view->n_clusters)
		wp_out_printf(html->out, "<p>... and %u more shapes.</p>\n", view->n_clusters - n);
}
