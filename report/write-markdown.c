/* The report for a pull request or an issue: what stands out, where the time goes, the first patterns. */
#include "report/write-text.h"

#include <string.h>

#include "report/escape.h"
#include "report/findings.h"
#include "report/format.h"
#include "report/view-clusters.h"
#include "report/what-if.h"
#include "report/words.h"

/* Columns of a name with its operation. */
#define MAX_NAME 100

/* Patterns of a shape, and nodes of a place of it. */
#define MAX_MEMBERS 8

/* Calls that are deeper stand no further in. */
#define MAX_INDENT 20

typedef struct {
	const WpView *view;
	const WpPage *page;
	WpOut *out;
} Markdown;

static guint32
shown(const Markdown *markdown, guint32 n)
{
	return markdown->page->top ? MIN(markdown->page->top, n) : n;
}

/* "| a | b |", from cells; the last is NULL. */
static void
write_row(WpOut *out, const char *first, ...)
{
	va_list cells;
	va_start(cells, first);
	for (const char *cell = first; cell; cell = va_arg(cells, const char *))
		wp_out_printf(out, "| %s ", cell);
	va_end(cells);
	wp_out_text(out, "|\n");
}

static void
write_more(WpOut *out, guint32 n, guint32 n_shown, const char *what)
{
	if (n > n_shown)
		wp_out_printf(out, "\n%u more %s (--all).\n", n - n_shown, what);
}

/* (transfer full) "web GET /", or what it speaks where it has no label: safe. */
static char *
name_of(const char *node, const char *label, const char *protocol)
{
	g_autofree char *plain =
		g_strconcat(node, *label || *protocol ? " " : "", *label ? label : protocol, NULL);
	g_autofree char *safe = wp_escape_terminal(plain, TRUE);
	g_autofree char *shorter = wp_escape_shorten(safe, MAX_NAME);
	return wp_escape_markdown(shorter);
}

static void
write_head(const Markdown *markdown)
{
	const WpView *view = markdown->view;
	g_autofree char *file = view->file ? wp_escape_markdown(view->file) : NULL;
	g_autofree char *requests = wp_words_count(view->n_requests, "request");
	g_autofree char *calls = wp_words_count(view->n_calls, "call");
	g_autofree char *nodes = wp_words_count(view->n_nodes, "node");
	g_autofree char *when =
		view->n_records ? wp_text_when(view->begin_ns, view->end_ns) : g_strdup("");
	g_autofree char *trust = wp_words_trust(view), *loss = wp_words_loss(view);
	wp_out_printf(markdown->out, "### wirepath: %s\n\n%s%s%s, %s between %s.\n",
		      file ? file : "report", when, *when ? ": " : "", requests, calls, nodes);
	if (view->hidden) {
		g_autofree char *hidden = wp_escape_markdown(view->hidden);
		wp_out_printf(markdown->out, "Without calls into %s.\n", hidden);
	}
	if (view->where || view->root) {
		g_autofree char *where = wp_escape_markdown(view->where ? view->where : "");
		g_autofree char *root = wp_escape_markdown(view->root ? view->root : "");
		wp_out_printf(markdown->out, "Selected:%s%s%s%s.\n", *where ? " " : "", where,
			      *root ? " as seen by " : "", root);
	}
	wp_out_printf(markdown->out, "%s\n", trust);
	if (loss)
		wp_out_printf(markdown->out, "\n**%s**\n", loss);
}

static void
write_findings(const Markdown *markdown)
{
	g_autoptr(GArray) findings = wp_findings_new(markdown->view, WP_FINDINGS_ROW);
	gboolean has_title = FALSE;
	for (guint i = 0; i < findings->len; i++) {
		const WpFinding *finding = &g_array_index(findings, WpFinding, i);
		g_autofree char *text = wp_escape_markdown(finding->text);
		if (finding->verdict != WP_FINDING_FOUND)
			continue;
		if (!has_title)
			wp_out_text(markdown->out, "\n**Look here**\n\n");
		has_title = TRUE;
		wp_out_printf(markdown->out, "- %s: %s\n", finding->topic, text);
	}
}

static void
write_operations(const Markdown *markdown)
{
	const WpView *view = markdown->view;
	WpOut *out = markdown->out;
	guint32 n = 0, n_shown = 0, most_shown = shown(markdown, G_MAXUINT32);
	for (guint32 i = 0; i < view->n_operations; i++) {
		const WpViewOperation *operation = &view->operations[i];
		char share[WP_FORMAT_MAX], count[WP_FORMAT_MAX], errors[WP_FORMAT_MAX];
		char mean[WP_FORMAT_MAX], p95[WP_FORMAT_MAX], part[WP_FORMAT_MAX];
		if (operation->is_background || n++ >= most_shown)
			continue;
		if (n_shown++ == 0)
			wp_out_text(out, "\n**Where the time goes**\n\n"
					 "| time | requests | errors | mean | p95 | most self time "
					 "in | request |\n"
					 "|---:|---:|---:|---:|---:|---|---|\n");
		g_autofree char *name =
			name_of(operation->node, operation->label, operation->protocol);
		g_autofree char *hottest = operation->n_shares
						   ? name_of(operation->shares[0].node, "", "")
						   : g_strdup("");
		g_autofree char *own =
			operation->n_shares
				? g_strdup_printf("%s %s", hottest,
						  wp_format_share(part, operation->shares[0].share))
				: g_strdup("");
		write_row(out, wp_format_share(share, operation->share),
			  wp_format_count(count, operation->count),
			  wp_format_count(errors, operation->errors),
			  wp_format_time(mean, operation->latency.mean_ns),
			  wp_format_time(p95, operation->latency.p95_ns), own, name, NULL);
	}
	write_more(out, n, n_shown, "kinds of requests");
}

static void
write_totals(const Markdown *markdown)
{
	const WpView *view = markdown->view;
	WpOut *out = markdown->out;
	guint32 n = shown(markdown, view->n_totals);
	if (!n)
		return;
	wp_out_text(out, "\n**Self time by node**\n\n| self | sum | calls | errors | node |\n"
			 "|---:|---:|---:|---:|---|\n");
	for (guint32 i = 0; i < n; i++) {
		const WpViewShare *total = &view->totals[i];
		char share[WP_FORMAT_MAX], sum[WP_FORMAT_MAX], calls[WP_FORMAT_MAX];
		char errors[WP_FORMAT_MAX];
		g_autofree char *node = name_of(total->node, "", "");
		write_row(out, wp_format_share(share, total->share),
			  wp_format_time(sum, total->self_ns), wp_format_count(calls, total->count),
			  wp_format_count(errors, total->errors), node, NULL);
	}
	write_more(out, view->n_totals, n, "nodes");
}

static void
write_lot(const Markdown *markdown, const WpWhatIfLot *lot)
{
	char share[WP_FORMAT_MAX], count[WP_FORMAT_MAX], mean[WP_FORMAT_MAX], then[WP_FORMAT_MAX];
	char p95[WP_FORMAT_MAX], then_p95[WP_FORMAT_MAX];
	g_autofree char *name =
		*lot->node ? name_of(lot->node, lot->label, "") : g_strdup("all requests");
	write_row(markdown->out, wp_format_share(share, wp_what_if_saved(lot)),
		  wp_format_count(count, wp_delay_count(lot->before)),
		  wp_format_time(mean, wp_delay_mean_ns(lot->before)),
		  wp_format_time(then, wp_delay_mean_ns(lot->after)),
		  wp_format_time(p95, (double)wp_delay_quantile_ns(lot->before, 0.95)),
		  wp_format_time(then_p95, (double)wp_delay_quantile_ns(lot->after, 0.95)), name,
		  NULL);
}

static void
write_what_if(const Markdown *markdown)
{
	const WpWhatIf *what_if = markdown->view->what_if;
	g_autofree char *rules = wp_what_if_rules_text(what_if);
	g_autofree char *safe = wp_escape_markdown(rules);
	guint all = wp_what_if_n_changed(what_if), n = shown(markdown, all);

	wp_out_printf(markdown->out,
		      "\n**What if**: %s\n\n%s\n\n| faster | requests | mean | then | p95 | then | "
		      "request |\n|---:|---:|---:|---:|---:|---:|---|\n",
		      safe, wp_what_if_legend);
	write_lot(markdown, what_if->all);
	for (guint i = 0; i < n; i++)
		write_lot(markdown, what_if->operations->pdata[i]);
	write_more(markdown->out, all, n, "kinds of requests");
}

/* A tree as rows: how deep a call is, by blanks that stay. */
static void
write_node(const Markdown *markdown, const WpViewNode *node)
{
	char share[WP_FORMAT_MAX], self[WP_FORMAT_MAX], mean[WP_FORMAT_MAX], p95[WP_FORMAT_MAX];
	char times[WP_FORMAT_MAX + 2] = "";
	gboolean has_time = node->latency.count > 0;
	g_autofree char *name = name_of(node->node, node->label, node->protocol);
	g_autoptr(GString) path = g_string_new(NULL);
	for (guint32 i = 0; i < MIN(node->depth, MAX_INDENT); i++)
		g_string_append(path, "&nbsp;&nbsp;");
	if (node->repeat > 1)
		g_snprintf(times, sizeof times, " x%u", node->repeat);
	g_string_append_printf(path, "%s%s%s%s", node->is_hottest ? "**" : "", name,
			       node->is_hottest ? "**" : "", times);
	write_row(markdown->out, has_time ? wp_format_share(share, node->self_share) : "",
		  has_time ? wp_format_time(self, node->self.mean_ns) : "",
		  has_time ? wp_format_time(mean, node->latency.mean_ns)
			   : (node->n_messages ? "one-way" : "open"),
		  has_time ? wp_format_time(p95, node->latency.p95_ns) : "", path->str, NULL);
}

static void
write_patterns(const Markdown *markdown)
{
	const WpView *view = markdown->view;
	WpOut *out = markdown->out;
	guint32 n = shown(markdown, view->n_patterns);
	for (guint32 i = 0; i < n; i++) {
		const WpViewPattern *pattern = &view->patterns[i];
		char share[WP_FORMAT_MAX];
		g_autofree char *requests = wp_words_count(pattern->count, "request");
		g_autofree char *client = name_of(pattern->client, "", "");
		wp_out_printf(
			out,
			"\n**Pattern %u**: %s from %s, %s of the time\n\n"
			"| self | self, mean | mean | p95 | path |\n|---:|---:|---:|---:|---|\n",
			pattern->rank, requests, client, wp_format_share(share, pattern->share));
		for (guint32 k = 0; k < pattern->n_nodes; k++)
			write_node(markdown, &pattern->nodes[k]);
	}
	write_more(out, view->n_patterns, n, "patterns");
}

static void
write_clusters(const Markdown *markdown)
{
	const WpView *view = markdown->view;
	WpOut *out = markdown->out;
	guint32 n = shown(markdown, view->n_clusters);
	if (!n)
		return;
	wp_out_text(out, "\n**Patterns of one shape**: the same calls, to other nodes\n\n"
			 "| time | requests | fastest mean | slowest mean | patterns | these or "
			 "those nodes |\n|---:|---:|---:|---:|---|---|\n");
	for (guint32 i = 0; i < n; i++) {
		const WpViewCluster *cluster = &view->clusters[i];
		char share[WP_FORMAT_MAX], count[WP_FORMAT_MAX];
		char fastest[WP_FORMAT_MAX], slowest[WP_FORMAT_MAX];
		g_autofree char *members = wp_view_cluster_members(view, cluster, MAX_MEMBERS);
		g_autofree char *choices = wp_view_cluster_choices(cluster, MAX_MEMBERS);
		g_autofree char *ranks = wp_escape_markdown(members);
		g_autofree char *nodes = name_of(choices, "", "");
		write_row(out, wp_format_share(share, cluster->share),
			  wp_format_count(count, cluster->count),
			  wp_format_time(fastest, wp_view_cluster_mean(view, cluster->fastest)),
			  wp_format_time(slowest, wp_view_cluster_mean(view, cluster->slowest)),
			  ranks, nodes, NULL);
	}
	write_more(out, view->n_clusters, n, "shapes");
}

static void
write_report(const WpView *view, const WpPage *page, WpOut *out)
{
	const Markdown markdown = { view, page, out };
	write_head(&markdown);
	write_findings(&markdown);
	write_operations(&markdown);
	write_totals(&markdown);
	if (view->what_if)
		write_what_if(&markdown);
	write_clusters(&markdown);
	write_patterns(&markdown);
}

static const char *const suffixes[] = { "md", NULL };

const WpWriter wp_writer_markdown = {
	.name = "markdown",
	.summary = "tables for a pull request or an issue",
	.suffixes = suffixes,
	.is_for_people = TRUE,
	.shows_what_if = TRUE,
	.report = write_report,
};
