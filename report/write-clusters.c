/* Patterns of one shape, as text: a row for each, and where its patterns differ. */
#include "report/write-text.h"

#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"
#include "report/view-clusters.h"

/* Rows, patterns of a row, and nodes of a place, unless all are wanted. */
#define MAX_ROWS     10
#define MAX_PATTERNS 5
#define MAX_NODES    4

static void
mean_cell(const WpView *view, WpTable *table, guint32 pattern)
{
	char mean[WP_FORMAT_MAX];
	g_autofree char *cell =
		g_strdup_printf("%s #%u", wp_format_time(mean, wp_view_cluster_mean(view, pattern)),
				view->patterns[pattern].rank);
	wp_table_cell(table, cell);
}

static void
add_row(const WpView *view, const WpPage *page, const WpViewCluster *cluster, WpTable *table)
{
	char buffer[WP_FORMAT_MAX];
	g_autofree char *members = wp_view_cluster_members(
		view, cluster, page->top ? MAX_PATTERNS : cluster->n_members);
	g_autofree char *choices =
		wp_view_cluster_choices(cluster, page->top ? MAX_NODES : G_MAXUINT32);
	g_autofree char *safe = wp_escape_terminal(choices, page->style.utf8);
	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table, wp_format_share(buffer, cluster->share));
	wp_table_cell(table, wp_format_count(buffer, cluster->count));
	mean_cell(view, table, cluster->fastest);
	mean_cell(view, table, cluster->slowest);
	wp_table_cell(table, members);
	wp_table_cell(table, safe);
}

void
wp_text_clusters(const WpView *view, const WpPage *page, WpOut *out)
{
	guint32 n = page->top ? MIN(view->n_clusters, MAX_ROWS) : view->n_clusters;
	g_autoptr(WpTable) table = wp_table_new();
	if (!n)
		return;
	wp_text_heading(page, "Patterns of one shape: the same calls, to other nodes", out);
	wp_table_column(table, "time%", TRUE, 6);
	wp_table_column(table, "requests", TRUE, 0);
	wp_table_column(table, "fastest mean", TRUE, 0);
	wp_table_column(table, "slowest mean", TRUE, 0);
	wp_table_column(table, "patterns", FALSE, 0);
	wp_table_column(table, "these or those nodes", FALSE, 0);
	for (guint32 i = 0; i < n; i++)
		add_row(view, page, &view->clusters[i], table);
	wp_table_write(table, &page->style, 2, out);
	if (n < view->n_clusters)
		wp_out_printf(out, "  ... and %u more (--all)\n", view->n_clusters - n);
}
