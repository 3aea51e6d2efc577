/* The legend of the text page: what its words and signs mean, once, and only of those that stand on it. */
#include "report/write-text.h"

/* What stands in the trees of the first N patterns and is not explained by itself. */
static void
explain_trees(const WpView *view, guint32 n, const WpStyle *style, GString *words)
{
	gboolean has_repeat = FALSE, has_parallel = FALSE, has_message = FALSE, has_open = FALSE;
	gboolean has_cause = FALSE, has_split = FALSE, has_connecting = FALSE;
	for (guint32 i = 0; i < n; i++)
		for (guint32 k = 0; k < view->patterns[i].n_nodes; k++) {
			const WpViewNode *node = &view->patterns[i].nodes[k];
			has_repeat |= node->repeat > 1;
			has_parallel |= node->is_parallel;
			has_split |= node->is_split;
			has_connecting |= node->is_connecting;
			has_message |= !node->latency.count && node->n_messages;
			has_cause |= node->latency.count && node->n_messages;
			has_open |= !node->latency.count && !node->n_messages;
		}
	if (has_parallel)
		g_string_append_printf(words, " %s: overlaps a call beside it.",
				       style->utf8 ? "\342\225\236\342\225\220" : "|=");
	if (has_split)
		g_string_append(words,
				" crit% = part of the critical path: of the latency, what waits "
				"for this alone.");
	if (has_connecting)
		g_string_append(words, " connect = of the self time: connections (TCP, TLS, login) "
				       "for calls below.");
	if (has_repeat)
		g_string_append(words, " x4: four equal calls in a row; self% is of all, "
				       "times are of one.");
	if (has_message)
		g_string_append(words, " one-way: a message without an answer.");
	if (has_cause)
		g_string_append(words,
				" A message that causes others lasts until all of that is over.");
	if (has_open)
		g_string_append(words, " open: no return was seen.");
}

void
wp_text_legend_times(const WpPage *page, WpOut *out)
{
	wp_text_paragraph(
		page,
		"mean, p95, ... = latency, call to return; self = its part in which no call of the "
		"node is open.",
		2, out);
}

void
wp_text_legend(const WpView *view, guint32 n, guint left_out, const WpPage *page, WpOut *out)
{
	g_autoptr(GString) words =
		g_string_new("delay = call into the parent to this call. > marks "
			     "the node with most self time.");
	explain_trees(view, n, &page->style, words);
	wp_text_paragraph(page, words->str, 2, out);
	if (left_out)
		wp_out_printf(out,
			      "  %u column%s not fit in %u; --columns +p99,+sd chooses, "
			      "--list-columns lists.\n",
			      left_out, left_out == 1 ? " does" : "s do", page->style.width);
}
