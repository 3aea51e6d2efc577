/* A window as text and as JSON. */
#include "report/watch-page.h"

#include "report/escape.h"
#include "report/format.h"
#include "report/json.h"
#include "report/table.h"

static void
put_escaped(WpTable *page, const char *text, gboolean utf8)
{
	g_autofree char *safe = wp_escape_terminal(text, utf8);
	wp_table_cell(page, safe);
}

static void
put_request(WpTable *page, const WpViewOperation *operation, gboolean utf8)
{
	g_autofree char *text = g_strdup_printf("%s  %s %s %s", operation->label, operation->client,
						utf8 ? "→" : ">", operation->node);
	put_escaped(page, text, utf8);
}

/* "2.4x", or nothing where that is not known. */
static void
put_change(WpTable *page, const WpWatchRow *row)
{
	char number[WP_FORMAT_MAX];
	g_autofree char *text =
		row->change > 0 ? g_strconcat(wp_format_number(number, row->change), "x", NULL)
				: g_strdup("");
	wp_table_cell(page, text);
}

/* The time of day at which it became slow. */
static void
put_since(WpTable *page, const WpWatchRow *row)
{
	char date[WP_FORMAT_MAX] = "";
	if (row->since_ns != WP_NO_TIME)
		wp_format_date(date, row->since_ns);
	g_auto(GStrv) words = g_strsplit(date, " ", 3);
	g_autofree char *day = g_strndup(words[0] && words[1] ? words[1] : "", 8);
	wp_table_cell(page, day);
}

static void
put_blame(WpTable *page, const WpViewOperation *operation, gboolean utf8)
{
	char share[WP_FORMAT_MAX];
	if (operation->n_shares == 0) {
		wp_table_cell(page, "");
		return;
	}
	const WpViewShare *first = &operation->shares[0];
	g_autofree char *text =
		g_strdup_printf("%s %s", first->node, wp_format_share(share, first->share));
	put_escaped(page, text, utf8);
}

static void
put_row(WpTable *page, const WpWatchRow *row, gboolean utf8)
{
	char text[WP_FORMAT_MAX];
	const WpViewOperation *operation = row->operation;

	wp_table_row(page, row->since_ns != WP_NO_TIME ? WP_TABLE_HOT : WP_TABLE_PLAIN);
	wp_table_cell(page, wp_format_number(text, row->rate));
	wp_table_cell(page, wp_format_count(text, operation->errors));
	wp_table_cell(page, wp_format_time(text, operation->latency.p50_ns));
	wp_table_cell(page, wp_format_time(text, operation->latency.p95_ns));
	put_change(page, row);
	put_since(page, row);
	put_blame(page, operation, utf8);
	put_request(page, operation, utf8);
}

/* Of a live interface: what was lost on the way. */
static void
put_loss(const WpWatchPage *page, WpOut *out)
{
	char kernel[WP_FORMAT_MAX], interface[WP_FORMAT_MAX];
	if (!page->live)
		return;
	WpLiveCounts total = wp_live_total(page->live);
	if (total.kernel_drops || total.interface_drops)
		wp_out_printf(out,
			      "Packets dropped so far: %s by the kernel, %s by the interface\n",
			      wp_format_count(kernel, total.kernel_drops),
			      wp_format_count(interface, total.interface_drops));
}

void
wp_watch_page_text(const WpWatchPage *page, const WpWatchWindow *window, WpOut *out)
{
	static const char *const headings[] = { "per s", "errors",           "p50", "p95", "change",
						"since", "most self time in" };
	char date[WP_FORMAT_MAX], length[WP_FORMAT_MAX], count[WP_FORMAT_MAX],
		errors[WP_FORMAT_MAX];
	gint64 length_ns = window->end_ns - window->begin_ns;
	guint32 n = (guint32)MIN(window->n_rows, page->top);
	g_autoptr(WpTable) table = wp_table_new();

	wp_out_printf(
		out, "%s, %s: %s requests, %s with errors\n",
		wp_format_date(date, window->begin_ns), wp_format_time(length, (double)length_ns),
		wp_format_count(count, window->requests), wp_format_count(errors, window->errors));
	for (gsize i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(table, headings[i], i < 6, 0);
	wp_table_column(table, "request", FALSE, 0);
	for (guint32 i = 0; i < n; i++)
		put_row(table, &window->rows[i], page->style.utf8);
	if (n > 0)
		wp_table_write(table, &page->style, 2, out);
	if (n < window->n_rows)
		wp_out_printf(out, "  ... and %u more (--top N)\n", window->n_rows - n);
	put_loss(page, out);
}

static void
put_json_row(WpJson *json, const WpWatchRow *row)
{
	const WpViewOperation *operation = row->operation;

	wp_json_open(json, NULL, '{');
	wp_json_text(json, "client", operation->client);
	wp_json_text(json, "node", operation->node);
	wp_json_text(json, "operation", operation->label);
	wp_json_uint(json, "count", operation->count);
	wp_json_uint(json, "errors", operation->errors);
	wp_json_number(json, "rate", row->rate, 3);
	wp_json_number(json, "mean_ns", operation->latency.mean_ns, 0);
	wp_json_number(json, "p50_ns", operation->latency.p50_ns, 0);
	wp_json_number(json, "p95_ns", operation->latency.p95_ns, 0);
	if (row->change > 0)
		wp_json_number(json, "change", row->change, 3);
	if (row->since_ns != WP_NO_TIME)
		wp_json_epoch(json, "since", row->since_ns);
	wp_json_open(json, "self", '[');
	for (guint32 i = 0; i < operation->n_shares; i++) {
		const WpViewShare *share = &operation->shares[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "node", share->node);
		wp_json_number(json, "self_ns", share->self_ns, 0);
		wp_json_number(json, "share", share->share, 6);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

void
wp_watch_page_json(const WpWatchPage *page, const WpWatchWindow *window, WpOut *out)
{
	WpJson json = { .out = out };

	wp_json_open(&json, NULL, '{');
	wp_json_epoch(&json, "begin", window->begin_ns);
	wp_json_epoch(&json, "end", window->end_ns);
	wp_json_uint(&json, "requests", window->requests);
	wp_json_uint(&json, "errors", window->errors);
	if (page->live) {
		WpLiveCounts total = wp_live_total(page->live);
		wp_json_uint(&json, "kernel_drops", total.kernel_drops);
		wp_json_uint(&json, "interface_drops", total.interface_drops);
	}
	wp_json_open(&json, "operations", '[');
	for (guint32 i = 0; i < window->n_rows; i++)
		put_json_row(&json, &window->rows[i]);
	wp_json_close(&json, ']');
	wp_json_close(&json, '}');
	wp_out_char(out, '\n');
}
