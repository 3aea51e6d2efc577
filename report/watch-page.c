/* A window as text and as JSON. */
#include "report/watch-page.h"

#include <stdlib.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/json.h"
#include "report/snapshot-page.h"
#include "report/table.h"

const char *const wp_watch_order_names[WP_WATCH_N_ORDERS] = { "time", "rate", "p95", "change",
							      "errors" };

/* --- order --- */

/* A row of either table, by what it is ordered. */
typedef struct {
	guint32 number;
	double value;
} Place;

static double
value_of(WpWatchOrder order, double rate, double p95_ns, double change, guint64 errors)
{
	const double values[WP_WATCH_N_ORDERS] = {
		[WP_WATCH_BY_RATE] = rate,
		[WP_WATCH_BY_P95] = p95_ns,
		[WP_WATCH_BY_CHANGE] = change,
		[WP_WATCH_BY_ERRORS] = (double)errors,
	};
	return values[order];
}

/* Equal ones stay as they were. */
static int
compare_places(const void *a, const void *b)
{
	const Place *x = a, *y = b;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* (transfer full) */
static Place *
order_rows(const WpWatchPage *page, const WpWatchWindow *window)
{
	Place *places = g_new(Place, MAX(window->n_rows, 1));
	for (guint32 i = 0; i < window->n_rows; i++) {
		const WpWatchRow *row = &window->rows[i];
		places[i] =
			(Place){ i, value_of(page->order, row->rate, row->operation->latency.p95_ns,
					     row->change, row->operation->errors) };
	}
	qsort(places, window->n_rows, sizeof *places, compare_places);
	return places;
}

/* (transfer full) */
static Place *
order_patterns(const WpWatchPage *page, const WpWatchWindow *window)
{
	Place *places = g_new(Place, MAX(window->n_patterns, 1));
	for (guint32 i = 0; i < window->n_patterns; i++) {
		const WpWatchPattern *row = &window->patterns[i];
		places[i] = (Place){ i, value_of(page->order, row->rate,
						 row->pattern->nodes[0].latency.p95_ns, row->change,
						 row->pattern->errors) };
	}
	qsort(places, window->n_patterns, sizeof *places, compare_places);
	return places;
}

/* --- text --- */

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
put_change(WpTable *page, double change)
{
	char number[WP_FORMAT_MAX];
	g_autofree char *text = change > 0
					? g_strconcat(wp_format_number(number, change), "x", NULL)
					: g_strdup("");
	wp_table_cell(page, text);
}

/* (transfer full) The time of day, or nothing. */
static char *
time_of_day(gint64 ns)
{
	char date[WP_FORMAT_MAX] = "";

	if (ns != WP_NO_TIME)
		wp_format_date(date, ns);
	g_auto(GStrv) words = g_strsplit(date, " ", 3);
	return g_strndup(words[0] && words[1] ? words[1] : "", 8);
}

static void
put_since(WpTable *page, gint64 since_ns)
{
	g_autofree char *day = time_of_day(since_ns);
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
	put_change(page, row->change);
	put_since(page, row->since_ns);
	put_blame(page, operation, utf8);
	put_request(page, operation, utf8);
}

/* What a window lacks, of a live interface. */
static void
put_lack(const WpWatchPage *page, const WpWatchWindow *window, WpOut *out)
{
	char part[WP_FORMAT_MAX];
	if (!page->live)
		return;
	double share = wp_live_loss_share(page->loss, window->begin_ns, window->end_ns);
	if (share >= WP_LIVE_LOSS_MUCH)
		wp_out_printf(out,
			      "CAREFUL: about %s of its packets were dropped: rates are too low, "
			      "paths lack calls.\n"
			      "They came faster than they can be followed: --filter takes less.\n",
			      wp_format_share(part, share));
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

static void
put_pattern_row(WpTable *page, const WpWatchPattern *row, gboolean utf8)
{
	char text[WP_FORMAT_MAX];
	const WpViewPattern *pattern = row->pattern;
	g_autofree char *path = wp_watch_path_name(pattern);

	wp_table_row(page, row->since_ns != WP_NO_TIME ? WP_TABLE_HOT : WP_TABLE_PLAIN);
	wp_table_cell(page, wp_format_number(text, row->rate));
	wp_table_cell(page, wp_format_count(text, pattern->errors));
	wp_table_cell(page, wp_format_time(text, pattern->nodes[0].latency.p50_ns));
	wp_table_cell(page, wp_format_time(text, pattern->nodes[0].latency.p95_ns));
	put_change(page, row->change);
	put_since(page, row->since_ns);
	put_since(page, row->phase_ns);
	put_escaped(page, path, utf8);
}

static void
put_more(guint32 n, guint32 n_all, WpOut *out)
{
	if (n < n_all)
		wp_out_printf(out, "  ... and %u more (--top N)\n", n_all - n);
}

/* What was frequent for a while in the hour before, and is not any more. */
static void
put_past_phases(const WpWatchPage *page, const WpWatchWindow *window, WpOut *out)
{
	guint32 n = 0;

	for (guint i = window->n_phases; i-- > 0;) {
		const WpPhase *phase = &window->phases[i];
		if (phase->end_ns == WP_NO_TIME || n++ >= page->top)
			continue;
		g_autofree char *begin = time_of_day(phase->begin_ns);
		g_autofree char *end = time_of_day(phase->end_ns);
		g_autofree char *name = wp_escape_terminal(phase->name, page->style.utf8);
		wp_out_printf(out, "%s  %s to %s  %s\n",
			      n == 1 ? "Frequent only for a while in the hour before:\n" : "",
			      begin, end, name);
	}
	put_more(MIN(n, page->top), n, out);
}

static void
put_patterns(const WpWatchPage *page, const WpWatchWindow *window, WpOut *out)
{
	static const char *const headings[] = { "per s",  "errors", "p50",     "p95",
						"change", "since",  "frequent" };
	guint32 n = MIN(window->n_patterns, page->top);
	g_autofree Place *places = order_patterns(page, window);
	g_autoptr(WpTable) table = wp_table_new();

	for (gsize i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(table, headings[i], TRUE, 0);
	wp_table_column(table, "pattern", FALSE, 0);
	for (guint32 i = 0; i < n; i++)
		put_pattern_row(table, &window->patterns[places[i].number], page->style.utf8);
	if (n > 0)
		wp_table_write(table, &page->style, 2, out);
	put_more(n, window->n_patterns, out);
	put_past_phases(page, window, out);
}

static void
put_triggered(const WpWatchPage *page, WpOut *out)
{
	for (guint i = 0; i < page->n_triggered; i++) {
		const WpTriggered *triggered = &page->triggered[i];
		g_autofree char *line = wp_triggered_line(triggered);
		g_autofree char *safe = wp_escape_terminal(line, page->style.utf8);
		g_autofree char *since = time_of_day(triggered->since_ns);
		wp_out_printf(out, "%ssince %s  %s\n", i == 0 ? "Rules that hold:\n  " : "  ",
			      since, safe);
	}
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
	g_autofree Place *places = order_rows(page, window);
	g_autoptr(WpTable) table = wp_table_new();

	wp_out_printf(
		out, "%s, %s: %s requests, %s with errors\n",
		wp_format_date(date, window->begin_ns), wp_format_time(length, (double)length_ns),
		wp_format_count(count, window->requests), wp_format_count(errors, window->errors));
	put_lack(page, window, out);
	for (gsize i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(table, headings[i], i < 6, 0);
	wp_table_column(table, "request", FALSE, 0);
	for (guint32 i = 0; i < n; i++)
		put_row(table, &window->rows[places[i].number], page->style.utf8);
	if (n > 0)
		wp_table_write(table, &page->style, 2, out);
	put_more(n, window->n_rows, out);
	if (page->shows_patterns)
		put_patterns(page, window, out);
	put_triggered(page, out);
	put_loss(page, out);
}

/* What operations and patterns have in common. */
static void
put_json_past(WpJson *json, double change, gint64 since_ns)
{
	if (change > 0)
		wp_json_number(json, "change", change, 3);
	if (since_ns != WP_NO_TIME)
		wp_json_epoch(json, "since", since_ns);
}

static void
put_json_times(WpJson *json, const WpViewTimes *latency)
{
	wp_json_number(json, "mean_ns", latency->mean_ns, 0);
	wp_json_number(json, "p50_ns", latency->p50_ns, 0);
	wp_json_number(json, "p95_ns", latency->p95_ns, 0);
}

static void
put_json_pattern(WpJson *json, const WpWatchPattern *row)
{
	const WpViewPattern *pattern = row->pattern;
	g_autofree char *path = wp_watch_path_name(pattern);

	wp_json_open(json, NULL, '{');
	wp_json_text(json, "path", path);
	wp_json_uint(json, "count", pattern->count);
	wp_json_uint(json, "errors", pattern->errors);
	wp_json_number(json, "rate", row->rate, 3);
	put_json_times(json, &pattern->nodes[0].latency);
	put_json_past(json, row->change, row->since_ns);
	if (row->phase_ns != WP_NO_TIME)
		wp_json_epoch(json, "frequent_since", row->phase_ns);
	wp_json_close(json, '}');
}

static void
put_json_patterns(WpJson *json, const WpWatchWindow *window)
{
	wp_json_open(json, "patterns", '[');
	for (guint32 i = 0; i < window->n_patterns; i++)
		put_json_pattern(json, &window->patterns[i]);
	wp_json_close(json, ']');
	wp_json_open(json, "phases", '[');
	for (guint i = 0; i < window->n_phases; i++) {
		const WpPhase *phase = &window->phases[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "path", phase->name);
		wp_json_epoch(json, "begin", phase->begin_ns);
		if (phase->end_ns != WP_NO_TIME)
			wp_json_epoch(json, "end", phase->end_ns);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
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
	put_json_times(json, &operation->latency);
	put_json_past(json, row->change, row->since_ns);
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

static void
put_json_triggered(WpJson *json, const WpTriggered *triggered)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "rule", triggered->rule);
	wp_json_text(json, "state", wp_trigger_state_names[triggered->state]);
	wp_json_text(json, triggered->is_pattern ? "path" : "operation", triggered->subject);
	wp_json_epoch(json, "since", triggered->since_ns);
	wp_json_uint(json, "count", triggered->count);
	wp_json_uint(json, "errors", triggered->errors);
	wp_json_number(json, "p95_ns", triggered->p95_ns, 0);
	if (triggered->change > 0)
		wp_json_number(json, "change", triggered->change, 3);
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
		wp_json_number(&json, "dropped_share",
			       wp_live_loss_share(page->loss, window->begin_ns, window->end_ns), 6);
	}
	wp_json_open(&json, "operations", '[');
	for (guint32 i = 0; i < window->n_rows; i++)
		put_json_row(&json, &window->rows[i]);
	wp_json_close(&json, ']');
	if (page->shows_patterns)
		put_json_patterns(&json, window);
	if (page->n_triggered > 0) {
		wp_json_open(&json, "triggers", '[');
		for (guint i = 0; i < page->n_triggered; i++)
			put_json_triggered(&json, &page->triggered[i]);
		wp_json_close(&json, ']');
	}
	if (page->in_flight)
		wp_snapshot_put_json(page->in_flight, &json);
	wp_json_close(&json, '}');
	wp_out_char(out, '\n');
}
