/*
 * The HTML page: what is worth looking at, where the time goes, the patterns, how good the capture was. What
 * it consists of, and why, is in write-html.h.
 */
#include "report/write-html.h"

#include <string.h>

#include "report/escape.h"
#include "report/findings.h"
#include "report/format.h"
#include "report/what-if.h"
#include "report/words.h"
#include "report/write-shared.h"
#include "report/write-text.h"

/* Columns of names in tables, and of the titles that have them whole. */
#define MAX_WHAT_IF 200
#define NAME_WIDTH  48
#define LABEL_WIDTH 80
#define TITLE_WIDTH 2000

/* Rows of the tables of operations and nodes. */
#define MAX_OPERATIONS 200
#define MAX_NODES      200

/* Colours that are told apart by the colour-blind as well (Okabe and Ito's, darkened where text stands beside). */
static const char *const colors[] = { "#0072b2", "#e69f00", "#009e73", "#cc79a7",
				      "#56b4e9", "#d55e00", "#8a8a00", "#7a5195" };

/* By the place of the node among those with most self time, so that the first eight all differ. */
guint
wp_html_color(const WpHtml *html, const char *node)
{
	for (guint32 i = 0; i < html->view->n_totals && i < 1000; i++)
		if (strcmp(html->view->totals[i].node, node) == 0)
			return i % G_N_ELEMENTS(colors);
	return 0;
}

const char *
wp_html_rgb(guint color)
{
	return colors[color];
}

void
wp_html_branch(const WpHtml *html, gboolean is_own, gboolean is_last, gboolean is_parallel)
{
	wp_out_text(html->out, wp_text_branch(TRUE, is_own, is_last, is_parallel));
}

/* --- head --- */

static void
write_selection(const WpHtml *html)
{
	const WpView *view = html->view;
	const struct {
		const char *what;
		const char *text;
	} rows[] = { { "Seen from", view->root },
		     { "Without calls into", view->hidden },
		     { "Only requests with a call where", view->where },
		     { "PARTIAL", view->partial } };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (!rows[i].text)
			continue;
		wp_out_printf(html->out, "<p class=\"note\"><strong>%s:</strong> ", rows[i].what);
		wp_html_text(html, rows[i].text, TITLE_WIDTH);
		wp_out_text(html->out, "</p>\n");
	}
}

static void
write_inputs(const WpHtml *html)
{
	const WpView *view = html->view;
	if (view->file && view->n_inputs &&
	    (view->n_inputs > 1 || strcmp(view->file, view->inputs[0]) != 0)) {
		wp_html_text(html, view->file, TITLE_WIDTH);
		wp_out_text(html->out, " (from ");
	}
	for (guint i = 0; i < view->n_inputs && i < 8; i++) {
		wp_out_text(html->out, i ? ", " : "");
		wp_html_text(html, view->inputs[i], NAME_WIDTH);
	}
	if (view->n_inputs > 8)
		wp_out_printf(html->out, " and %u more", view->n_inputs - 8);
	if (view->file && view->n_inputs &&
	    (view->n_inputs > 1 || strcmp(view->file, view->inputs[0]) != 0))
		wp_out_char(html->out, ')');
	if (!view->n_inputs)
		wp_out_text(html->out, "input");
}

static void
write_header(const WpHtml *html)
{
	const WpView *view = html->view;
	g_autofree char *requests = wp_words_count(view->n_requests, "request");
	g_autofree char *calls = wp_words_count(view->n_calls, "call");
	g_autofree char *messages = wp_words_count(view->n_messages, "one-way message");
	g_autofree char *nodes = wp_words_count(view->n_nodes, "node");
	wp_out_text(html->out, "<a class=\"skip\" href=\"#look\">Skip to what was found</a>\n"
			       "<header>\n<h1>");
	write_inputs(html);
	wp_out_text(html->out, "</h1>\n<p class=\"facts\">");
	if (view->n_records) {
		g_autofree char *when = wp_text_when(view->begin_ns, view->end_ns);
		wp_out_printf(html->out, "%s. ", when);
	}
	wp_out_printf(html->out, "%s, %s%s%s between %s.</p>\n", requests, calls,
		      view->n_messages ? ", " : "", view->n_messages ? messages : "", nodes);
	write_selection(html);
	wp_out_text(html->out, "</header>\n");
}

static void
write_navigation(const WpHtml *html)
{
	static const char *const parts[][2] = {
		{ "look", "Look here" },
		{ "time", "Where the time goes" },
		{ "whatif", "What if" },
		{ "course", "Over time" },
		{ "tail", "Slow tail" },
		{ "patterns", "Patterns" },
		{ "graph", "Who calls whom" },
		{ "flame", "Flame graph" },
		{ "quality", "Quality and method" },
	};
	const char *shown[G_N_ELEMENTS(parts)][2];
	gsize n = 0;
	for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
		gboolean is_there = (html->view->what_if || strcmp(parts[i][0], "whatif") != 0) &&
				    (html->view->digest || strcmp(parts[i][0], "course") != 0);
		if (is_there)
			memcpy(shown[n++], parts[i], sizeof shown[0]);
	}
	wp_html_navigation(html, (const char *const(*)[2])shown, n);
}

/* --- look here --- */

static void
write_findings(const WpHtml *html)
{
	static const char *const classes[] = { "found", "undecided", "clean" };
	g_autoptr(GArray) findings = wp_findings_new(html->view, WP_FINDINGS_ROW);
	wp_out_text(html->out,
		    "<section id=\"look\">\n<h2>Look here</h2>\n<ul class=\"findings\">\n");
	for (guint i = 0; i < findings->len; i++) {
		const WpFinding *finding = &g_array_index(findings, WpFinding, i);
		wp_out_printf(html->out,
			      "<li class=\"%s\"><strong class=\"verdict\">%s</strong> "
			      "<b>%s.</b> ",
			      classes[finding->verdict], wp_finding_verdicts[finding->verdict],
			      finding->topic);
		wp_html_text(html, finding->text, TITLE_WIDTH);
		if (finding->pattern && finding->pattern <= WP_HTML_MAX_PATTERNS)
			wp_out_printf(html->out, " <a href=\"#p%u\">Pattern #%u</a>",
				      finding->pattern, finding->pattern);
		wp_out_text(html->out, "</li>\n");
	}
	wp_out_text(html->out, "</ul>\n");
	g_autofree char *check = wp_words_check(html->view);
	if (check)
		wp_out_printf(html->out, "<p>%s</p>\n", check);
	wp_out_text(html->out, "</section>\n");
}

/* --- where the time goes --- */

static void
write_request_name(const WpHtml *html, const char *client, const char *node, const char *label,
		   const char *protocol)
{
	wp_out_text(html->out, "<b>");
	wp_html_text(html, *label ? label : protocol, LABEL_WIDTH);
	wp_out_text(html->out, "</b> <span class=\"who\">");
	wp_html_text(html, client, NAME_WIDTH);
	wp_out_text(html->out, " \342\206\222 ");
	wp_html_text(html, node, NAME_WIDTH);
	wp_out_text(html->out, "</span>");
}

static void
write_operation(const WpHtml *html, const WpViewOperation *operation)
{
	wp_out_text(html->out, "<tr><th scope=\"row\">");
	write_request_name(html, operation->client, operation->node, operation->label,
			   operation->protocol);
	wp_out_text(html->out, "</th>");
	wp_html_share_cell(html, operation->share);
	wp_html_count_cell(html, operation->count);
	wp_html_count_cell(html, operation->errors);
	wp_html_time_cell(html, operation->latency.count > 0, operation->latency.mean_ns);
	wp_html_time_cell(html, operation->latency.count > 0, operation->latency.p50_ns);
	wp_html_time_cell(html, operation->latency.count > 0, operation->latency.p95_ns);
	wp_html_time_cell(html, operation->latency.count > 0, operation->latency.p99_ns);
	wp_html_count_cell(html, operation->n_patterns);
	wp_out_text(html->out, "<td>");
	for (guint32 i = 0; i < operation->n_shares && i < 2; i++) {
		char share[WP_FORMAT_MAX];
		wp_out_text(html->out, i ? ", " : "");
		wp_html_text(html, operation->shares[i].node, NAME_WIDTH);
		wp_out_printf(html->out, " %s", wp_html_share(share, operation->shares[i].share));
	}
	wp_out_text(html->out, "</td></tr>\n");
}

static void
write_operations(const WpHtml *html, gboolean background)
{
	const WpView *view = html->view;
	guint32 n = 0, all = 0;
	for (guint32 i = 0; i < view->n_operations; i++)
		all += !view->operations[i].is_background == !background;
	if (!all)
		return;
	wp_out_printf(html->out,
		      "<div class=\"wide\" tabindex=\"0\"><table "
		      "class=\"sortable\">\n<caption>%s</caption>\n"
		      "<thead><tr><th scope=\"col\">request</th><th scope=\"col\">time%%</th><th "
		      "scope=\"col\">requests</th><th scope=\"col\">errors</th><th scope=\"col\">"
		      "mean</th><th scope=\"col\">p50</th><th scope=\"col\">p95</th><th "
		      "scope=\"col\">p99</th><th scope=\"col\">patterns</th><th scope=\"col\">most "
		      "self time in</th></tr></thead>\n<tbody>\n",
		      background ? "Waiting by design, and health checks: not ranked"
				 : "Requests by their first call; times are latencies, call to "
				   "return");
	for (guint32 i = 0; i < view->n_operations && n < MAX_OPERATIONS; i++)
		if (!view->operations[i].is_background == !background) {
			write_operation(html, &view->operations[i]);
			n++;
		}
	wp_out_text(html->out, "</tbody>\n</table></div>\n");
	if (n < all)
		wp_out_printf(html->out, "<p>... and %u more.</p>\n", all - n);
}

static void
write_totals(const WpHtml *html)
{
	const WpView *view = html->view;
	if (!view->n_totals)
		return;
	wp_out_text(html->out,
		    "<div class=\"wide\" tabindex=\"0\"><table class=\"sortable\">\n<caption>Self "
		    "time by node: "
		    "the part of its calls in which none of its own calls is open</caption>\n"
		    "<thead><tr><th scope=\"col\">node</th><th scope=\"col\">self%</th><th "
		    "scope=\"col\">self</th><th scope=\"col\">calls</th><th scope=\"col\">a "
		    "call</th><th scope=\"col\">one-way</th><th scope=\"col\">errors</th></tr>"
		    "</thead>\n<tbody>\n");
	for (guint32 i = 0; i < view->n_totals && i < MAX_NODES; i++) {
		const WpViewShare *total = &view->totals[i];
		wp_out_printf(html->out, "<tr%s><th scope=\"row\"><span class=\"dot c%u\"></span>",
			      i ? "" : " class=\"hot\"", wp_html_color(html, total->node));
		wp_html_text(html, total->node, NAME_WIDTH);
		wp_out_text(html->out, "</th>");
		wp_html_share_cell(html, total->share);
		wp_html_time_cell(html, TRUE, total->self_ns);
		wp_html_count_cell(html, total->count);
		wp_html_time_cell(html, total->count > 0,
				  total->self_ns / (double)MAX(total->count, 1));
		wp_html_count_cell(html, total->n_messages);
		wp_html_count_cell(html, total->errors);
		wp_out_text(html->out, "</tr>\n");
	}
	wp_out_text(html->out, "</tbody>\n</table></div>\n");
	if (view->n_totals > MAX_NODES)
		wp_out_printf(html->out, "<p>... and %u more.</p>\n", view->n_totals - MAX_NODES);
}

static void
write_tail(const WpHtml *html, const WpViewTail *tail)
{
	wp_out_text(html->out, "<tr><th scope=\"row\">");
	write_request_name(html, tail->caller, tail->node, tail->label, tail->protocol);
	wp_out_text(html->out, "</th>");
	wp_html_count_cell(html, tail->count);
	wp_html_count_cell(html, tail->n_slow);
	wp_html_time_cell(html, TRUE, tail->median_ns);
	wp_html_time_cell(html, TRUE, tail->limit_ns);
	wp_html_time_cell(html, TRUE, tail->slow_ns);
	wp_html_time_cell(html, TRUE, tail->max_ns);
	wp_html_time_cell(html, TRUE, tail->excess_ns);
	wp_html_count_cell(html, tail->n_others);
	wp_html_count_cell(html, tail->n_others_slow);
	if (tail->pattern && tail->pattern <= WP_HTML_MAX_PATTERNS)
		wp_out_printf(html->out, "<td data-v=\"%u\"><a href=\"#p%u\">#%u</a></td></tr>\n",
			      tail->pattern, tail->pattern, tail->pattern);
	else
		wp_out_text(html->out, "<td></td></tr>\n");
}

static void
write_tails(const WpHtml *html)
{
	const WpView *view = html->view;
	wp_out_text(html->out, "<section id=\"tail\">\n<h2>Slow tail</h2>\n");
	if (!view->n_tails) {
		wp_out_text(html->out, "<p>No calls are far slower than others of their kind.</p>\n"
				       "</section>\n");
		return;
	}
	wp_out_text(
		html->out,
		"<p>Calls of one kind of which a few take far more self time than the others: "
		"what is in no mean and no p99. Far more: over the median by ten times as much as "
		"the third quartile, and three times the median.</p>\n<div class=\"wide\" "
		"tabindex=\"0\"><table "
		"class=\"sortable\">\n<caption>Most time above the median first</caption>\n"
		"<thead><tr><th scope=\"col\">calls</th><th scope=\"col\">all</th><th "
		"scope=\"col\">slow</th><th scope=\"col\">median</th><th scope=\"col\">slow "
		"from</th><th scope=\"col\">mean of slow</th><th scope=\"col\">max</th><th "
		"scope=\"col\">above median</th><th scope=\"col\">from others</th><th "
		"scope=\"col\">slow of these</th><th scope=\"col\">pattern</th></tr></thead>\n"
		"<tbody>\n");
	for (guint32 i = 0; i < view->n_tails; i++)
		write_tail(html, &view->tails[i]);
	wp_out_text(html->out, "</tbody>\n</table></div>\n</section>\n");
}

static void
write_lot(const WpHtml *html, const WpWhatIfLot *lot)
{
	static const double quantiles[] = { 0.5, 0.95 };
	g_autofree char *name = wp_what_if_name(lot);

	wp_out_text(html->out, "<tr><th scope=\"row\">");
	wp_html_text(html, name, 100);
	wp_out_text(html->out, "</th>");
	wp_html_share_cell(html, wp_what_if_saved(lot));
	wp_html_count_cell(html, wp_delay_count(lot->before));
	wp_html_time_cell(html, TRUE, wp_delay_mean_ns(lot->before));
	wp_html_time_cell(html, TRUE, wp_delay_mean_ns(lot->after));
	for (gsize i = 0; i < G_N_ELEMENTS(quantiles); i++) {
		wp_html_time_cell(html, TRUE,
				  (double)wp_delay_quantile_ns(lot->before, quantiles[i]));
		wp_html_time_cell(html, TRUE,
				  (double)wp_delay_quantile_ns(lot->after, quantiles[i]));
	}
	wp_out_text(html->out, "</tr>\n");
}

static void
write_what_if(const WpHtml *html)
{
	const WpWhatIf *what_if = html->view->what_if;
	g_autofree char *rules = wp_what_if_rules_text(what_if);
	guint n = wp_what_if_n_changed(what_if);

	wp_out_text(html->out, "<section id=\"whatif\">\n<h2>What if</h2>\n<p>");
	wp_html_text(html, rules, 0);
	wp_out_printf(html->out,
		      ".</p>\n<div class=\"wide\" tabindex=\"0\"><table "
		      "class=\"sortable\">\n<caption>%s</caption>\n"
		      "<thead><tr><th scope=\"col\">request</th><th scope=\"col\">faster</th>"
		      "<th scope=\"col\">requests</th><th scope=\"col\">mean</th><th "
		      "scope=\"col\">then</th><th scope=\"col\">p50</th><th "
		      "scope=\"col\">then</th><th scope=\"col\">p95</th><th "
		      "scope=\"col\">then</th></tr></thead>\n<tbody>\n",
		      wp_what_if_legend);
	write_lot(html, what_if->all);
	for (guint i = 0; i < MIN(n, MAX_WHAT_IF); i++)
		write_lot(html, what_if->operations->pdata[i]);
	wp_out_text(html->out, "</tbody>\n</table></div>\n");
	if (n > MAX_WHAT_IF)
		wp_out_printf(html->out, "<p>... and %u more.</p>\n", n - MAX_WHAT_IF);
	wp_out_text(html->out, "</section>\n");
}

static void
write_time(const WpHtml *html)
{
	wp_out_text(html->out, "<section id=\"time\">\n<h2>Where the time goes</h2>\n");
	wp_html_shares(html);
	write_operations(html, FALSE);
	write_totals(html);
	write_operations(html, TRUE);
	wp_out_text(html->out, "</section>\n");
}

/* --- patterns --- */

static const char *
hottest_of(const WpViewPattern *pattern)
{
	for (guint32 i = 0; i < pattern->n_nodes; i++)
		if (pattern->nodes[i].is_hottest)
			return pattern->nodes[i].node;
	return "";
}

static void
write_pattern_row(const WpHtml *html, const WpViewPattern *pattern, gboolean has_part)
{
	const WpViewNode *root = &pattern->nodes[0];
	wp_out_printf(html->out, "<tr data-p=\"%u\"><td data-v=\"%u\">", pattern->rank,
		      pattern->rank);
	if (has_part)
		wp_out_printf(html->out, "<a href=\"#p%u\">#%u</a>", pattern->rank, pattern->rank);
	else
		wp_out_printf(html->out, "#%u", pattern->rank);
	wp_out_text(html->out, "</td><th scope=\"row\">");
	write_request_name(html, pattern->client, root->node, root->label, root->protocol);
	wp_out_text(html->out, "</th>");
	wp_html_share_cell(html, pattern->share);
	wp_html_count_cell(html, pattern->count);
	wp_html_count_cell(html, pattern->errors);
	wp_html_time_cell(html, TRUE, pattern->total_ns);
	wp_html_time_cell(html, root->latency.count > 0, root->latency.mean_ns);
	wp_html_time_cell(html, root->latency.count > 0, root->latency.sd_ns);
	wp_html_time_cell(html, root->latency.count > 0, root->latency.p50_ns);
	wp_html_time_cell(html, root->latency.count > 0, root->latency.p95_ns);
	wp_html_time_cell(html, root->latency.count > 0, root->latency.p99_ns);
	wp_html_count_cell(html, pattern->n_nodes);
	if (pattern->path_odds >= 0)
		wp_html_share_cell(html, pattern->path_odds);
	else
		wp_out_text(html->out, "<td></td>");
	wp_out_text(html->out, "<td>");
	wp_html_text(html, hottest_of(pattern), NAME_WIDTH);
	wp_out_text(html->out, "</td></tr>\n");
}

/* What is not in the table, so that its numbers add up. */
static void
write_rest(const WpHtml *html, guint32 n)
{
	const WpView *view = html->view;
	guint64 count = 0;
	double share = 0;
	char text[WP_FORMAT_MAX], percent[WP_FORMAT_MAX];
	for (guint32 i = n; i < view->n_patterns; i++) {
		count += view->patterns[i].count;
		share += view->patterns[i].share;
	}
	if (n < view->n_patterns)
		wp_out_printf(html->out,
			      "<p>... and %u more patterns: %s requests, %s of the time.</p>\n",
			      view->n_patterns - n, wp_format_count(text, count),
			      wp_html_share(percent, share));
	if (view->n_uncertain)
		wp_out_printf(html->out,
			      "<p>The paths of %s requests are uncertain: they more often take "
			      "others than those found, so these are no patterns here.</p>\n",
			      wp_format_count(text, view->n_uncertain));
}

/* Rows of the table of patterns. */
#define MAX_PATTERN_ROWS 500

static void
write_patterns(WpHtml *html)
{
	const WpView *view = html->view;
	guint32 limit =
		html->page->top ? MIN(html->page->top, WP_HTML_MAX_PATTERNS) : WP_HTML_MAX_PATTERNS;
	guint32 n = MIN(view->n_patterns, MAX_PATTERN_ROWS), parts = MIN(n, limit);
	wp_out_text(html->out, "<section id=\"patterns\">\n<h2>Patterns</h2>\n<p>A pattern is all "
			       "requests that took the same path: the same calls to the same "
			       "nodes, in the same order.</p>\n");
	if (n) {
		wp_out_text(html->out,
			    "<div class=\"wide\" tabindex=\"0\"><table class=\"sortable\" "
			    "id=\"pattern-table\">\n"
			    "<caption>Most time first; times are latencies of requests</caption>\n"
			    "<thead><tr><th scope=\"col\">#</th><th scope=\"col\">request</th><th "
			    "scope=\"col\">time%</th><th scope=\"col\">requests</th><th "
			    "scope=\"col\">errors</th><th scope=\"col\">total</th><th "
			    "scope=\"col\">mean</th><th scope=\"col\">sd</th><th scope=\"col\">p50"
			    "</th><th scope=\"col\">p95</th><th scope=\"col\">p99</th><th "
			    "scope=\"col\">calls</th><th scope=\"col\">sure</th><th "
			    "scope=\"col\">most self time in</th></tr></thead>\n<tbody>\n");
		for (guint32 i = 0; i < n; i++)
			write_pattern_row(html, &view->patterns[i], i < parts);
		wp_out_text(html->out, "</tbody>\n</table></div>\n");
	}
	write_rest(html, n);
	wp_html_clusters(html);
	for (guint32 i = 0; i < parts; i++)
		wp_html_pattern(html, &view->patterns[i], i == 0);
	if (parts < n)
		wp_out_printf(html->out,
			      "<p>Trees of %u more patterns are left out: --top N shows "
			      "fewer, the JSON form has all.</p>\n",
			      n - parts);
	wp_out_text(html->out, "</section>\n");
}

/* --- quality and method --- */

static void
write_lots(const WpHtml *html)
{
	const WpView *view = html->view;
	wp_out_text(html->out,
		    "<div class=\"wide\" tabindex=\"0\"><table>\n<caption>How the calls add up"
		    "</caption>\n<thead><tr><th scope=\"col\">where</th><th "
		    "scope=\"col\">calls</th><th scope=\"col\">one-way</th></tr></thead>"
		    "\n<tbody>\n");
	for (int i = 0; i < WP_VIEW_N_LOTS; i++) {
		wp_out_printf(html->out, "<tr><th scope=\"row\">%s</th>", wp_view_lot_texts[i]);
		wp_html_count_cell(html, view->lots[i].calls);
		wp_html_count_cell(html, view->lots[i].messages);
		wp_out_text(html->out, "</tr>\n");
	}
	wp_out_text(html->out, "<tr><th scope=\"row\">in all</th>");
	wp_html_count_cell(html, view->n_calls);
	wp_html_count_cell(html, view->n_messages);
	wp_out_text(html->out, "</tr>\n<tr><th scope=\"row\">beside these: set-up of connections, "
			       "left out</th>");
	wp_html_count_cell(html, view->setup.calls);
	wp_html_count_cell(html, view->setup.messages);
	wp_out_text(html->out, "</tr>\n</tbody>\n</table></div>\n");
}

static void
write_counter(const WpHtml *html, const WpViewCounter *counter)
{
	wp_out_printf(html->out, "<tr class=\"%s\"><td>%s</td><th scope=\"row\">%s",
		      wp_view_level_names[counter->level], wp_view_level_names[counter->level],
		      counter->text);
	for (guint i = 0; i < MIN(counter->n_pairs, WP_VIEW_MAX_PAIRS); i++) {
		char count[WP_FORMAT_MAX];
		wp_out_text(html->out, i ? ", " : " <span class=\"who\">(");
		wp_html_text(html, counter->pairs[i].sender, NAME_WIDTH);
		wp_out_text(html->out, " \342\206\222 ");
		wp_html_text(html, counter->pairs[i].receiver, NAME_WIDTH);
		wp_out_printf(html->out, " %s", wp_format_count(count, counter->pairs[i].count));
	}
	if (counter->n_pairs)
		wp_out_text(html->out,
			    counter->n_pairs > WP_VIEW_MAX_PAIRS ? ", ...)</span>" : ")</span>");
	wp_out_text(html->out, "</th>");
	wp_html_count_cell(html, counter->count);
	wp_out_text(html->out, "</tr>\n");
}

static void
write_counters(const WpHtml *html)
{
	const WpViewQuality *quality = &html->view->quality;
	char share[WP_FORMAT_MAX];
	if (quality->loss_share > 0)
		wp_out_printf(html->out,
			      "<p>About %s of the packets are missing from the capture.</p>\n",
			      wp_html_share(share, quality->loss_share));
	if (!quality->n_counters)
		return;
	wp_out_text(
		html->out,
		"<div class=\"wide\" tabindex=\"0\"><table>\n<caption>What was counted on the way"
		"</caption>\n<thead><tr><th scope=\"col\">level</th><th "
		"scope=\"col\">what</th><th scope=\"col\">count</th></tr></thead>\n"
		"<tbody>\n");
	for (guint32 i = 0; i < quality->n_counters; i++)
		write_counter(html, &quality->counters[i]);
	wp_out_text(html->out, "</tbody>\n</table></div>\n");
}

static void
write_settings(const WpHtml *html)
{
	const WpView *view = html->view;
	if (!view->n_settings)
		return;
	wp_out_text(html->out, "<h3>What the input says of itself</h3>\n<dl>\n");
	for (guint i = 0; i < view->n_settings; i++) {
		wp_out_text(html->out, "<dt>");
		wp_html_text(html, view->settings[i].key, LABEL_WIDTH);
		wp_out_text(html->out, "</dt><dd>");
		wp_html_text(html, view->settings[i].value, TITLE_WIDTH);
		wp_out_text(html->out, "</dd>\n");
	}
	wp_out_text(html->out, "</dl>\n");
}

static void
write_quality(const WpHtml *html)
{
	const WpView *view = html->view;
	g_autofree char *trust = wp_words_trust(view);
	g_autofree char *loss = wp_words_loss(view);
	wp_out_printf(html->out,
		      "<section id=\"quality\">\n<h2>Quality and method</h2>\n<p>%s</p>\n", trust);
	if (loss)
		wp_out_printf(html->out, "<p>%s</p>\n", loss);
	write_lots(html);
	write_counters(html);
	for (guint i = 0; i < view->n_shared; i++) {
		g_autoptr(GString) address = g_string_new(NULL);
		wp_escape_html_to(address, view->shared[i].name);
		g_autofree char *words = wp_shared_words(&view->shared[i], address->str);
		wp_out_printf(html->out, "<p>%s</p>\n", words);
	}
	write_settings(html);
	wp_out_text(
		html->out,
		"<h3>What the numbers mean</h3>\n<dl>\n<dt>latency</dt><dd>from the first byte of "
		"a call to the last byte of its return, calls below included</dd>\n<dt>self "
		"time</dt><dd>the part of it in which no call below is open: the union of their "
		"times is left out, so that parallel calls count "
		"once</dd>\n<dt>connect</dt><dd>what part of the self "
		"time goes into opening connections for the calls below: TCP, TLS, login</dd>\n"
		"<dt>delay</dt><dd>from "
		"the call into a node to the call out of it</dd>\n<dt>waited</dt><dd>the critical "
		"path of one request: from its end back, the call that returned last, then the "
		"one that returned last before that one began</dd>\n<dt>sure</dt><dd>how likely "
		"the link to the caller is right, as inferred from times alone or with what the "
		"packets tell; dashed where it is below 70 %</dd>\n</dl>\n</section>\n");
}

static void
write_report(const WpView *view, const WpPage *page, WpOut *out)
{
	WpHtml html = { view, page, out, 0 };
	wp_html_begin(&html, view->file ? view->file : view->n_inputs ? view->inputs[0] : "input");
	write_header(&html);
	write_navigation(&html);
	write_findings(&html);
	write_time(&html);
	if (view->what_if)
		write_what_if(&html);
	wp_html_course(&html);
	write_tails(&html);
	wp_html_edges(&html);
	write_patterns(&html);
	wp_html_service_graph(&html);
	wp_html_flame(&html);
	write_quality(&html);
	wp_html_data(&html);
	wp_html_end(&html);
}

static const char *const suffixes[] = { "html", "htm", NULL };

const WpWriter wp_writer_html = {
	.name = "html",
	.summary = "a page to explore, mail and print",
	.suffixes = suffixes,
	.shows_what_if = TRUE,
	.wants_digest = TRUE,
	.report = write_report,
};
