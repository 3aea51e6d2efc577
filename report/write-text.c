/*
 * The text page of `report`: what an engineer reads first. Headline, where the time goes, the patterns
 * as trees, how good the capture was. `inspect` is in write-inspect.c.
 *
 * Numbers stand to the left of the tree, so that a deep tree or a long operation never pushes them out
 * of line; what does not fit is shortened at the right, and whole columns go first where the page is
 * narrow.
 */
#include "report/write-text.h"

#include "report/what-if.h"

#include <string.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"
#include "report/words.h"
#include "report/write-shared.h"
#include "report/write-correlogram.h"
#include "report/write-spectrum.h"
#include "report/writer.h"

/* Longer lines of prose are hard to read. */
#define MAX_PARAGRAPH 100

/* Of the width of a page, what the tree of a pattern gets at least. */
#define TREE_SHARE 0.4

/* Patterns with a smaller share of the time are left out behind the first few. */
#define MIN_PATTERNS 3

/* Patterns that are less sure say so. */
#define SURE_PATH 0.95

/* Columns of a node's name in a tree: the operation behind it wants to be seen as well. */
#define MAX_NAME 24

/* Rows of one pattern; a page with more is not read. */
#define MAX_TREE_ROWS 60

typedef struct {
	const WpView *view;
	const WpPage *page;
	WpOut *out;
} Text;

static char *
safe(const Text *text, const char *name)
{
	return wp_escape_terminal(name, text->page->style.utf8);
}

void
wp_text_heading(const WpPage *page, const char *heading, WpOut *out)
{
	wp_out_printf(out, "\n%s%s%s\n", wp_style_bold(&page->style), heading,
		      wp_style_off(&page->style));
}

void
wp_text_paragraph(const WpPage *page, const char *text, gsize indent, WpOut *out)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	gsize used = 0, limit = MIN(page->style.width, MAX_PARAGRAPH);
	for (gsize i = 0; words[i]; i++) {
		gsize width = wp_escape_width(words[i]);
		if (used && indent + used + 1 + width > limit) {
			wp_out_char(out, '\n');
			used = 0;
		}
		if (used)
			wp_out_char(out, ' ');
		else
			wp_out_fill(out, ' ', indent);
		wp_out_text(out, words[i]);
		used += width + (used > 0);
	}
	wp_out_char(out, '\n');
}

char *
wp_text_when(gint64 begin_ns, gint64 end_ns)
{
	char begin[WP_FORMAT_MAX], length[WP_FORMAT_MAX];
	wp_format_date(begin, begin_ns);
	wp_format_time(length, (double)(end_ns - begin_ns));
	return g_strdup_printf("%s, %s", begin, length);
}

char *
wp_text_inputs(const WpPage *page, const char *file, const char *const *inputs, guint n)
{
	g_autoptr(GString) names = g_string_new(NULL);
	gboolean is_other = file && n && (n > 1 || strcmp(file, inputs[0]) != 0);
	if (is_other)
		g_string_append_printf(names, "%s (from ", file);
	for (guint i = 0; i < n && i < 3; i++)
		g_string_append_printf(names, "%s%s", i ? ", " : "",
				       strcmp(inputs[i], "-") == 0 ? "standard input" : inputs[i]);
	if (n > 3)
		g_string_append_printf(names, " and %u more", n - 3);
	if (is_other)
		g_string_append_c(names, ')');
	return wp_escape_terminal(n ? names->str : "input", page->style.utf8);
}

static const char *
arrow(const Text *text)
{
	return text->page->style.utf8 ? "\342\206\222" : "->";
}

static void
write_trust(const Text *text)
{
	g_autofree char *words = wp_words_trust(text->view);
	g_autofree char *check = wp_words_check(text->view);
	if (words)
		wp_text_paragraph(text->page, words, 0, text->out);
	if (check)
		wp_text_paragraph(text->page, check, 0, text->out);
}

static void
write_selection(const Text *text)
{
	const WpView *view = text->view;
	g_autofree char *root = view->root ? safe(text, view->root) : NULL;
	g_autofree char *hidden = view->hidden ? safe(text, view->hidden) : NULL;
	g_autofree char *where = view->where ? safe(text, view->where) : NULL;
	g_autofree char *partial = view->partial ? safe(text, view->partial) : NULL;
	if (root)
		wp_out_printf(text->out, "Seen from: %s\n", root);
	if (hidden)
		wp_out_printf(text->out, "Without calls into: %s\n", hidden);
	if (where)
		wp_out_printf(text->out, "Only requests with a call where: %s\n", where);
	if (partial)
		wp_out_printf(text->out, "%sPARTIAL: %s%s\n", wp_style_red(&text->page->style),
			      partial, wp_style_off(&text->page->style));
}

static void
write_headline(const Text *text)
{
	const WpView *view = text->view;
	g_autofree char *inputs =
		wp_text_inputs(text->page, view->file, view->inputs, view->n_inputs);
	g_autofree char *requests = wp_words_count(view->n_requests, "request");
	g_autofree char *calls = wp_words_count(view->n_calls, "call");
	g_autofree char *messages = wp_words_count(view->n_messages, "one-way message");
	g_autofree char *nodes = wp_words_count(view->n_nodes, "node");
	wp_out_printf(text->out, "%s%s%s", wp_style_bold(&text->page->style), inputs,
		      wp_style_off(&text->page->style));
	if (view->n_records) {
		g_autofree char *when = wp_text_when(view->begin_ns, view->end_ns);
		wp_out_printf(text->out, "   %s", when);
	}
	wp_out_printf(text->out, "\n%s, %s%s%s between %s\n", requests, calls,
		      view->n_messages ? ", " : "", view->n_messages ? messages : "", nodes);
	write_selection(text);
}

/* Operations. */

/* A page on which only the most important finds room. */
static gboolean
is_narrow(const Text *text)
{
	return text->page->style.width < 100;
}

/* "php 84.0%, db 9.1%" */
static char *
describe_shares(const Text *text, const WpViewOperation *operation, guint max)
{
	GString *words = g_string_new(NULL);
	for (guint32 i = 0; i < operation->n_shares && i < max; i++) {
		const WpViewShare *share = &operation->shares[i];
		char percent[WP_FORMAT_MAX];
		if (i && share->share < 0.05)
			break;
		g_autofree char *node = safe(text, share->node);
		g_autofree char *shorter = wp_escape_shorten(node, is_narrow(text) ? 12 : MAX_NAME);
		g_string_append_printf(words, "%s%s %s", i ? ", " : "", shorter,
				       wp_format_share(percent, share->share));
	}
	return g_string_free(words, FALSE);
}

/* "GET /cart  client -> web": the operation first, as it tells rows apart. */
static char *
describe_operation(const Text *text, const char *client, const char *node, const char *label)
{
	g_autofree char *from = safe(text, client);
	g_autofree char *to = safe(text, node);
	g_autofree char *what = safe(text, label);
	return g_strdup_printf("%s%s%s %s %s", what, *what ? "  " : "", from, arrow(text), to);
}

/* Who calls whom is left out where there is no room for it, or not for all of it. */
static void
add_request(const Text *text, WpTable *table, const WpViewOperation *operation)
{
	g_autofree char *label = safe(text, operation->label);
	g_autofree char *what =
		describe_operation(text, operation->client, operation->node, operation->label);
	if (!*label)
		wp_table_cell(table, what);
	else if (is_narrow(text))
		wp_table_cell(table, label);
	else
		wp_table_cell_or(table, what, label);
}

static void
add_operation(const Text *text, WpTable *table, const WpViewOperation *operation,
	      gboolean has_errors)
{
	char buffer[WP_FORMAT_MAX];
	gboolean narrow = is_narrow(text);
	g_autofree char *shares =
		describe_shares(text, operation, text->page->style.width < 130 ? 1 : 2);
	g_autofree char *self = wp_escape_shorten(shares, narrow ? 18 : 40);
	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table, wp_format_share(buffer, operation->share));
	wp_table_cell(table, wp_format_count(buffer, operation->count));
	if (has_errors)
		wp_table_cell(table, wp_format_count(buffer, operation->errors));
	wp_table_cell(table, wp_format_time(buffer, operation->latency.mean_ns));
	wp_table_cell(table, wp_format_time(buffer, operation->latency.p95_ns));
	wp_table_cell(table, self);
	add_request(text, table, operation);
}

/* How many of N rows a page shows. */
static guint32
shown(const WpPage *page, guint32 n)
{
	return page->top ? MIN(page->top, n) : n;
}

static void
write_operations(const Text *text)
{
	const WpView *view = text->view;
	g_autoptr(WpTable) table = wp_table_new();
	guint32 n = 0, i;
	double hidden = 0;
	gboolean has_errors = FALSE;
	char share[WP_FORMAT_MAX];

	for (; n < view->n_operations && !view->operations[n].is_background; n++)
		has_errors |= view->operations[n].errors > 0;
	if (!n)
		return;
	wp_text_heading(text->page, "Where the time goes: requests by their first call", text->out);
	wp_text_legend_times(text->page, text->out);
	wp_table_column(table, "time%", TRUE, 5);
	wp_table_column(table, is_narrow(text) ? "count" : "requests", TRUE, 5);
	if (has_errors)
		wp_table_column(table, is_narrow(text) ? "err" : "errors", TRUE, 3);
	wp_table_column(table, "mean", TRUE, 7);
	wp_table_column(table, "p95", TRUE, 7);
	wp_table_column(table, "most self time in", FALSE, 0);
	wp_table_column(table, "request", FALSE, 0);
	for (i = 0; i < shown(text->page, n); i++)
		add_operation(text, table, &view->operations[i], has_errors);
	wp_table_write(table, &text->page->style, 2, text->out);
	for (; i < n; i++)
		hidden += view->operations[i].share;
	if (n > shown(text->page, n))
		wp_out_printf(text->out, "  ... and %u more with %s of the time (--all)\n",
			      n - shown(text->page, n), wp_format_share(share, hidden));
}

static void
write_totals(const Text *text)
{
	const WpView *view = text->view;
	g_autoptr(WpTable) table = wp_table_new();
	char buffer[WP_FORMAT_MAX];
	guint32 n = shown(text->page, view->n_totals);
	gboolean has_errors = FALSE, has_messages = FALSE;
	if (!view->n_totals)
		return;
	for (guint32 i = 0; i < view->n_totals; i++) {
		has_errors |= view->totals[i].errors > 0;
		has_messages |= view->totals[i].n_messages > 0;
	}
	wp_text_heading(text->page, "Self time by node", text->out);
	wp_table_column(table, "self%", TRUE, 5);
	wp_table_column(table, "self", TRUE, 8);
	wp_table_column(table, "calls", TRUE, 6);
	wp_table_column(table, "a call", TRUE, 7);
	if (has_messages)
		wp_table_column(table, "one-way", TRUE, 0);
	if (has_errors)
		wp_table_column(table, "errors", TRUE, 0);
	wp_table_column(table, "node", FALSE, 0);
	for (guint32 i = 0; i < n; i++) {
		const WpViewShare *total = &view->totals[i];
		g_autofree char *node = safe(text, total->node);
		wp_table_row(table, i == 0 ? WP_TABLE_HOT : WP_TABLE_PLAIN);
		wp_table_cell(table, wp_format_share(buffer, total->share));
		wp_table_cell(table, wp_format_time(buffer, total->self_ns));
		wp_table_cell(table, wp_format_count(buffer, total->count));
		wp_table_cell(table, total->count
					     ? wp_format_time(buffer,
							      total->self_ns / (double)total->count)
					     : "");
		if (has_messages)
			wp_table_cell(table, wp_format_count(buffer, total->n_messages));
		if (has_errors)
			wp_table_cell(table, wp_format_count(buffer, total->errors));
		wp_table_cell(table, node);
	}
	wp_table_write(table, &text->page->style, 2, text->out);
	if (n < view->n_totals)
		wp_out_printf(text->out, "  ... and %u more (--all)\n", view->n_totals - n);
}

/* Patterns. */

const char *
wp_text_branch(gboolean utf8, gboolean is_own, gboolean is_last, gboolean is_parallel)
{
	static const char *const parts[2][6] = {
		{ "|  ", "   ", "|- ", "`- ", "|= ", "`= " },
		{ "\342\224\202  ", "   ", "\342\224\234\342\224\200 ", "\342\224\224\342\224\200 ",
		  "\342\225\236\342\225\220 ", "\342\225\230\342\225\220 " },
	};
	int kind = !is_own ? 0 : is_parallel ? 4 : 2;
	return parts[utf8 != 0][kind + (is_last != 0)];
}

/* The lines of the tree before node I: "|  `- "; "`= " where it overlaps a sibling. */
static void
draw_branch(const Text *text, const WpViewPattern *pattern, guint32 i, GString *out)
{
	for (guint32 at = i; at != WP_VIEW_NONE && at != 0; at = pattern->nodes[at].parent)
		g_string_prepend(out, wp_text_branch(text->page->style.utf8, at == i,
						     pattern->nodes[at].is_last,
						     pattern->nodes[at].is_parallel));
}

static char *
describe_node(const Text *text, const WpViewPattern *pattern, guint32 i)
{
	const WpViewNode *node = &pattern->nodes[i];
	GString *words = g_string_new(NULL);
	g_autofree char *name = safe(text, node->node);
	g_autofree char *label = safe(text, node->label);
	g_autofree char *shorter = wp_escape_shorten(name, MAX_NAME);
	draw_branch(text, pattern, i, words);
	g_string_append(words, shorter);
	if (node->repeat > 1)
		g_string_append_printf(words, " x%u", node->repeat);
	if (*label)
		g_string_append_printf(words, "  %s", label);
	else if (*node->protocol) {
		g_autofree char *protocol = safe(text, node->protocol);
		g_string_append_printf(words, "  %s", protocol);
	}
	if (node->waits)
		g_string_append(words, "  (waits)");
	return g_string_free(words, FALSE);
}

static const char *
format_cell(const WpColumn *column, const WpViewNode *node, char *buffer)
{
	const char *why = strcmp(column->name, "mean") == 0 ? wp_view_no_latency(node) : NULL;
	return why ? why : wp_column_format(column, node, buffer);
}

static void
write_tree(const Text *text, const WpViewPattern *pattern, const WpColumnSet *columns)
{
	g_autoptr(WpTable) table = wp_table_new();
	char buffer[WP_FORMAT_MAX];
	guint32 n = text->page->top ? MIN(pattern->n_nodes, MAX_TREE_ROWS) : pattern->n_nodes;
	for (guint c = 0; c < columns->n; c++)
		wp_table_column(table, columns->columns[c]->heading, TRUE,
				wp_column_width(columns->columns[c]) - 2);
	wp_table_column(table, "path", FALSE, 0);
	for (guint32 i = 0; i < n; i++) {
		const WpViewNode *node = &pattern->nodes[i];
		g_autofree char *path = describe_node(text, pattern, i);
		wp_table_row(table, node->is_hottest ? WP_TABLE_HOT : WP_TABLE_PLAIN);
		for (guint c = 0; c < columns->n; c++)
			wp_table_cell(table, format_cell(columns->columns[c], node, buffer));
		wp_table_cell(table, path);
	}
	wp_table_write(table, &text->page->style, 2, text->out);
	if (n < pattern->n_nodes)
		wp_out_printf(text->out, "  ... and %u more calls below (--all)\n",
			      pattern->n_nodes - n);
}

/* "slowest 45.2 ms: packet 12,345, 3.2 s after the start" */
static void
write_slowest(const Text *text, const WpViewPattern *pattern)
{
	char time[WP_FORMAT_MAX], after[WP_FORMAT_MAX];
	if (!pattern->n_examples || pattern->count < 2)
		return;
	const WpViewExample *slowest = &pattern->examples[pattern->n_examples - 1];
	g_autofree char *id = safe(text, slowest->id);
	wp_format_time(time, slowest->latency_ns);
	wp_format_time(after, (double)(slowest->begin_ns - text->view->begin_ns));
	wp_out_printf(text->out, "  slowest: %s, call %s", time, id);
	if (slowest->packet)
		wp_out_printf(text->out, ", packet %" G_GUINT64_FORMAT, slowest->packet);
	wp_out_printf(text->out, ", %s after the start\n", after);
}

static void
write_pattern(const Text *text, const WpViewPattern *pattern, const WpColumnSet *columns)
{
	const WpStyle *style = &text->page->style;
	char share[WP_FORMAT_MAX], mean[WP_FORMAT_MAX], p95[WP_FORMAT_MAX], count[WP_FORMAT_MAX];
	const WpViewNode *root = &pattern->nodes[0];
	g_autofree char *what = describe_operation(text, pattern->client, root->node, root->label);
	g_autofree char *requests = wp_words_count(pattern->count, "request");
	g_autofree char *title = g_strdup_printf("#%u  %s", pattern->rank, what);
	g_autofree char *line = wp_escape_shorten(title, style->width);
	wp_out_printf(text->out, "\n%s%s%s\n", wp_style_bold(style), line, wp_style_off(style));
	g_autoptr(GString) words = g_string_new(NULL);
	g_string_printf(words, "%s of the time: %s, mean %s, p95 %s",
			wp_format_share(share, pattern->share), requests,
			wp_format_time(mean, root->latency.mean_ns),
			wp_format_time(p95, root->latency.p95_ns));
	if (pattern->errors)
		g_string_append_printf(words, ", %s failed",
				       wp_format_count(count, pattern->errors));
	if (pattern->path_odds >= 0 && pattern->path_odds < SURE_PATH)
		g_string_append_printf(words, ", %s sure",
				       wp_format_share(share, pattern->path_odds));
	wp_text_paragraph(text->page, words->str, 2, text->out);
	write_slowest(text, pattern);
	write_tree(text, pattern, columns);
}

/*
 * How many of N patterns a page shows. Unless a number was asked for, the tail of patterns that each
 * take next to no time is left out as well: at load it consists of mistakes of inference.
 */
static guint32
shown_patterns(const Text *text, guint32 n)
{
	guint32 top = shown(text->page, n), i = MIN(MIN_PATTERNS, top);
	if (!text->page->leaves_tail)
		return top;
	while (i < top && text->view->patterns[i].share >= WP_TEXT_MIN_SHARE)
		i++;
	return i;
}

/* Patterns that link errors explain, as one row. */
static void
write_uncertain(const Text *text, const WpViewUncertain *uncertain)
{
	char share[WP_FORMAT_MAX], mean[WP_FORMAT_MAX], p95[WP_FORMAT_MAX];
	if (!uncertain->count)
		return;
	g_autofree char *requests = wp_words_count(uncertain->count, "request");
	g_autofree char *patterns = wp_words_count(uncertain->n_patterns, "pattern");
	g_autofree char *words = g_strdup_printf(
		"? %s whose path is uncertain (%s, %s of the time): mean %s, p95 %s", requests,
		patterns, wp_format_share(share, uncertain->share),
		wp_format_time(mean, uncertain->latency.mean_ns),
		wp_format_time(p95, uncertain->latency.p95_ns));
	wp_text_paragraph(text->page, words, 2, text->out);
}

/* The merged tree of all requests of an operation, where that is not one of its patterns. */
static void
write_whole(const Text *text, const WpViewOperation *operation)
{
	const WpStyle *style = &text->page->style;
	char share[WP_FORMAT_MAX], mean[WP_FORMAT_MAX], p95[WP_FORMAT_MAX];
	if (operation->n_patterns + operation->uncertain.n_patterns < 2 &&
	    !operation->uncertain.n_patterns)
		return;
	g_autofree char *what =
		describe_operation(text, operation->client, operation->node, operation->label);
	g_autofree char *requests = wp_words_count(operation->count, "request");
	g_autofree char *patterns =
		wp_words_count(operation->n_patterns + operation->uncertain.n_patterns, "pattern");
	g_autofree char *title = g_strdup_printf("All  %s", what);
	g_autofree char *line = wp_escape_shorten(title, style->width);
	wp_out_printf(text->out, "\n%s%s%s\n", wp_style_bold(style), line, wp_style_off(style));
	wp_out_printf(text->out,
		      "  %s of the time: %s, mean %s, p95 %s\n"
		      "  %s as one tree: calls and self a request, as expected\n",
		      wp_format_share(share, operation->share), requests,
		      wp_format_time(mean, operation->latency.mean_ns),
		      wp_format_time(p95, operation->latency.p95_ns), patterns);
	wp_text_places(operation, text->page, text->out);
	write_uncertain(text, &operation->uncertain);
}

/* An operation, and those of its patterns that are among the first TOP. */
static void
write_patterns_of(const Text *text, guint32 operation, guint32 top, const WpColumnSet *columns)
{
	const WpView *view = text->view;
	gboolean is_first = TRUE;
	for (guint32 i = 0; i < top; i++) {
		if (view->patterns[i].operation != operation)
			continue;
		if (is_first)
			write_whole(text, &view->operations[operation]);
		is_first = FALSE;
		write_pattern(text, &view->patterns[i], columns);
	}
	if (is_first && wp_text_is_doubtful(&view->operations[operation], text->page))
		write_whole(text, &view->operations[operation]);
}

static void
write_patterns(const Text *text)
{
	const WpView *view = text->view;
	guint32 n = 0, left_out = 0;
	double covered = 0;
	char share[WP_FORMAT_MAX];
	while (n < view->n_patterns && !view->patterns[n].is_background)
		n++;
	if (!n && !wp_text_has_doubtful(view, text->page))
		return;
	guint32 top = n ? shown_patterns(text, n) : 0;
	for (guint32 i = 0; i < top; i++)
		covered += view->patterns[i].share;
	WpColumnSet columns =
		text->page->columns
			? wp_columns_shown(text->page->columns, wp_columns_empty(view, top))
			: wp_columns_fit((guint)(text->page->style.width * (1 - TREE_SHARE)),
					 wp_columns_empty(view, top), &left_out);
	gboolean is_tail = top < shown(text->page, n);
	g_autofree char *heading =
		!n        ? g_strdup("Patterns: none is certain")
		: top < n ? g_strdup_printf("Patterns: the first %u of %u, %s of the time (%s)",
					    top, n, wp_format_share(share, covered),
					    is_tail ? "each other under 1%: --all"
						    : "more: --top N, --all")
			  : g_strdup_printf("Patterns: all %u", n);
	wp_text_heading(text->page, heading, text->out);
	if (n)
		wp_text_legend(view, top, left_out, text->page, text->out);
	for (guint32 i = 0; i < view->n_operations; i++)
		write_patterns_of(text, i, top, &columns);
	if (view->n_uncertain) {
		g_autofree char *requests = wp_words_count(view->n_uncertain, "request");
		g_autofree char *words = g_strdup_printf(
			"The paths of %s are uncertain: they more often take others than those "
			"found, so these are no patterns here (--uncertain shows them).",
			requests);
		wp_out_char(text->out, '\n');
		wp_text_paragraph(text->page, words, 2, text->out);
	}
}

static void
write_background(const Text *text)
{
	const WpView *view = text->view;
	g_autoptr(WpTable) table = wp_table_new();
	char buffer[WP_FORMAT_MAX];
	if (!view->n_background)
		return;
	wp_text_heading(text->page, "Waiting by design, and health checks: not ranked", text->out);
	wp_table_column(table, "requests", TRUE, 0);
	wp_table_column(table, "errors", TRUE, 0);
	wp_table_column(table, "mean", TRUE, 7);
	wp_table_column(table, "request", FALSE, 0);
	for (guint32 i = 0; i < view->n_operations; i++) {
		const WpViewOperation *operation = &view->operations[i];
		if (!operation->is_background)
			continue;
		g_autofree char *what = describe_operation(text, operation->client, operation->node,
							   operation->label);
		wp_table_row(table, WP_TABLE_PLAIN);
		wp_table_cell(table, wp_format_count(buffer, operation->count));
		wp_table_cell(table, wp_format_count(buffer, operation->errors));
		wp_table_cell(table, wp_format_time(buffer, operation->latency.mean_ns));
		wp_table_cell(table, what);
	}
	wp_table_write(table, &text->page->style, 2, text->out);
}

/* What is left. */

static void
write_shared(const Text *text)
{
	for (guint i = 0; i < text->view->n_shared; i++) {
		const WpViewShared *shared = &text->view->shared[i];
		g_autofree char *address = safe(text, shared->name);
		g_autofree char *words = wp_shared_words(shared, address);
		wp_text_paragraph(text->page, words, 2, text->out);
	}
}

static void
write_report(const WpView *view, const WpPage *page, WpOut *out)
{
	Text text = { view, page, out };
	write_headline(&text);
	write_trust(&text);
	wp_text_warning(view, page, out);
	write_operations(&text);
	write_totals(&text);
	if (view->what_if)
		wp_what_if_write_text(view->what_if, page, out);
	wp_text_edges(view, page, out);
	wp_text_clusters(view, page, out);
	write_patterns(&text);
	write_background(&text);
	wp_text_lots(view, page, out);
	wp_text_quality(&view->quality, view->settings, view->n_settings, page, out);
	write_shared(&text);
}

static const char *const suffixes[] = { "txt", "text", NULL };

const WpWriter wp_writer_text = {
	.name = "text",
	.summary = "a page for people, as on the terminal",
	.suffixes = suffixes,
	.is_for_people = TRUE,
	.shows_what_if = TRUE,
	.report = write_report,
	.spectrum = wp_spectrum_text,
	.correlogram = wp_correlogram_text,
	.inspect = wp_text_inspect,
};
