/* The merged tree of an operation on the text page: what a request calls, all its patterns together. */
#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"
#include "report/write-text.h"

/* Places that fewer requests come to are counted, not shown: at load they are mistakes of inference. */
#define MIN_CALLS 0.005

/* Rows of one tree; a page with more is not read. */
#define MAX_ROWS 60

/* Columns of a node's name: the operation behind it wants to be seen as well. */
#define MAX_NAME 24

static gboolean
is_shown(const WpViewOperation *operation, guint32 i)
{
	const WpViewPlace *places = operation->places;

	if (i == 0 || places[i].calls >= MIN_CALLS)
		return TRUE;
	/* What is seldom called may call much. */
	for (guint32 k = i + 1; k < operation->n_places && places[k].depth > places[i].depth; k++)
		if (places[k].calls >= MIN_CALLS)
			return TRUE;
	return FALSE;
}

/* TRUE where no sibling below PLACE is shown. */
static gboolean
is_last(const WpViewOperation *operation, guint32 i)
{
	for (guint32 k = i + 1; k < operation->n_places; k++) {
		const WpViewPlace *place = &operation->places[k];
		if (place->depth < operation->places[i].depth)
			break;
		if (place->parent == operation->places[i].parent && is_shown(operation, k))
			return FALSE;
	}
	return TRUE;
}

static char *
describe(const WpViewOperation *operation, guint32 i, gboolean utf8)
{
	const WpViewPlace *place = &operation->places[i];
	g_autofree char *node = wp_escape_terminal(place->node, utf8);
	g_autofree char *name = wp_escape_shorten(node, MAX_NAME);
	g_autofree char *what =
		wp_escape_terminal(*place->label ? place->label : place->protocol, utf8);
	GString *words = g_string_new(NULL);

	for (guint32 at = i; at != WP_VIEW_NONE && at != 0; at = operation->places[at].parent)
		g_string_prepend(words,
				 wp_text_branch(utf8, at == i, is_last(operation, at), FALSE));
	g_string_append(words, name);
	if (*what)
		g_string_append_printf(words, "  %s", what);
	if (place->waits)
		g_string_append(words, "  (waits)");
	return g_string_free(words, FALSE);
}

/* "1" or "0.37": expected calls are seldom whole. */
static const char *
format_calls(char *buffer, double calls)
{
	double whole = (double)(gint64)(calls + 0.5);
	gboolean is_whole = calls > whole - MIN_CALLS && calls < whole + MIN_CALLS;
	return g_ascii_formatd(buffer, WP_FORMAT_MAX, is_whole ? "%.0f" : "%.2f", calls);
}

static void
add_row(WpTable *table, const WpViewOperation *operation, guint32 i, gboolean utf8)
{
	const WpViewPlace *place = &operation->places[i];
	char buffer[WP_FORMAT_MAX];
	g_autofree char *path = describe(operation, i, utf8);

	wp_table_row(table, place->is_hottest ? WP_TABLE_HOT : WP_TABLE_PLAIN);
	wp_table_cell(table, format_calls(buffer, place->calls));
	wp_table_cell(table, wp_format_share(buffer, place->self_share));
	wp_table_cell(table, wp_format_time(buffer, place->self_ns));
	wp_table_cell(table, wp_format_time(buffer, place->latency_ns));
	wp_table_cell(table, i ? wp_format_time(buffer, place->delay_ns) : "");
	wp_table_cell(table, path);
}

void
wp_text_places(const WpViewOperation *operation, const WpPage *page, WpOut *out)
{
	g_autoptr(WpTable) table = wp_table_new();
	guint32 n_shown = 0, n_rare = 0, limit = page->top ? MAX_ROWS : G_MAXUINT32;

	wp_table_column(table, "calls", TRUE, 5);
	wp_table_column(table, "self%", TRUE, 5);
	wp_table_column(table, "self", TRUE, 8);
	wp_table_column(table, "mean", TRUE, 8);
	wp_table_column(table, "delay", TRUE, 8);
	wp_table_column(table, "path", FALSE, 0);
	for (guint32 i = 0; i < operation->n_places; i++)
		if (!is_shown(operation, i))
			n_rare++;
		else if (n_shown++ < limit)
			add_row(table, operation, i, page->style.utf8);
	wp_table_write(table, &page->style, 2, out);
	if (n_shown > limit)
		wp_out_printf(out, "  ... and %u more calls below (--all)\n", n_shown - limit);
	if (n_rare)
		wp_out_printf(out, "  ... and %u that fewer than one of 200 requests make\n",
			      n_rare);
}

gboolean
wp_text_is_doubtful(const WpViewOperation *operation, const WpPage *page)
{
	return operation->uncertain.count && !operation->is_background &&
	       (!page->leaves_tail || operation->share >= WP_TEXT_MIN_SHARE);
}

gboolean
wp_text_has_doubtful(const WpView *view, const WpPage *page)
{
	for (guint32 i = 0; i < view->n_operations; i++)
		if (wp_text_is_doubtful(&view->operations[i], page))
			return TRUE;
	return FALSE;
}
