/* What is waited for, by how long altogether; then the requests in flight as trees. CSV: a call in flight a row. */
#include "config.h"

#include "report/snapshot-page.h"

#include "report/escape.h"
#include "report/format.h"
#include "report/json.h"
#include "report/table.h"
#include "report/words.h"
#include "report/write-text.h"

/* Links less sure than this are told with how sure they are. */
#define SURE 0.95

/* Columns of a time, and how much further each level of a tree stands in, up to so many. */
#define MAX_INDENT 20

typedef struct {
	const WpSnapshot *snapshot;
	const WpSnapshotPage *page;
	WpOut *out;
	gboolean is_brief;
} Text;

static const WpSnapshotKind *
kind_of(const WpSnapshot *snapshot, const WpSnapshotCall *call)
{
	return snapshot->kinds->pdata[call->kind];
}

/* (transfer full) "app GET /item/{}", or by what it speaks where it has no label; as it is, not safe. */
static char *
kind_text(const WpSnapshotKind *kind)
{
	const char *what = *kind->label ? kind->label : kind->protocol;
	return g_strconcat(kind->node, *what ? " " : "", what, NULL);
}

/* The median of the latencies of KIND, or "-". */
static const char *
usual_text(char *buffer, const WpSnapshotKind *kind)
{
	if (!wp_delay_count(kind->latencies))
		return "-";
	return wp_format_time(buffer, (double)wp_delay_quantile_ns(kind->latencies, 0.5));
}

/* --- text --- */

static void
write_line(const Text *text, const char *line, gsize indent)
{
	const WpPage page = { .style = text->page->style };
	g_autofree char *safe = wp_escape_terminal(line, text->page->style.utf8);
	wp_text_paragraph(&page, safe, indent, text->out);
}

static void
write_head(const Text *text)
{
	const WpSnapshot *snapshot = text->snapshot;
	char date[WP_FORMAT_MAX], after[WP_FORMAT_MAX];
	g_autofree char *requests = wp_words_count(snapshot->n_roots, "request");
	g_autofree char *calls = wp_words_count(snapshot->calls->len, "call");
	g_autofree char *line = g_strdup_printf(
		"At %s, %s after the start: %s in flight, %s open.",
		wp_format_date(date, snapshot->at_ns),
		wp_format_time(after, (double)(snapshot->at_ns - snapshot->begin_ns)), requests,
		calls);
	wp_out_text(text->out, wp_style_bold(&text->page->style));
	write_line(text, line, 0);
	wp_out_text(text->out, wp_style_off(&text->page->style));
	if (snapshot->n_late) {
		g_autofree char *late = g_strdup_printf(
			"Open for longer than 95%% of their kind take in this capture: %u.",
			snapshot->n_late);
		write_line(text, late, 2);
	}
	if (snapshot->n_abandoned) {
		g_autofree char *calls_left = wp_words_count(snapshot->n_abandoned, "call");
		g_autofree char *line_left = g_strdup_printf(
			"Not counted, as their callers went on without them: %s without an answer.",
			calls_left);
		write_line(text, line_left, 2);
	}
	if (snapshot->n_left) {
		g_autofree char *left = wp_words_count(snapshot->n_left, "call");
		g_autofree char *more =
			g_strdup_printf("Left out, as there are too many: %s in flight.", left);
		write_line(text, more, 2);
	}
}

/* More than PAGE's top are left out of a brief one. */
static guint
rows_of(const Text *text, guint n)
{
	return text->is_brief ? MIN(n, text->page->top) : n;
}

static void
write_waiting(const Text *text)
{
	const WpSnapshot *snapshot = text->snapshot;
	const WpPage page = { .style = text->page->style };
	g_autoptr(WpTable) table = wp_table_new();
	char time[WP_FORMAT_MAX];
	if (!snapshot->waiting->len)
		return;
	if (!text->is_brief) {
		wp_text_heading(&page, "What they wait for: calls with nothing open below",
				text->out);
		write_line(text,
			   "usual = median latency of such calls in the capture; > older than 95% "
			   "of them take",
			   2);
	}
	wp_table_column(table, "calls", TRUE, 0);
	wp_table_column(table, "oldest", TRUE, 0);
	wp_table_column(table, "mean age", TRUE, 0);
	wp_table_column(table, "usual", TRUE, 0);
	wp_table_column(table, "no answer", TRUE, 0);
	wp_table_column(table, "node and operation", FALSE, 0);
	for (guint i = 0; i < rows_of(text, snapshot->waiting->len); i++) {
		const WpSnapshotKind *kind = snapshot->waiting->pdata[i];
		g_autofree char *name = kind_text(kind);
		g_autofree char *safe = wp_escape_terminal(name, text->page->style.utf8);
		g_autofree char *calls = g_strdup_printf("%u", kind->n_waiting);
		g_autofree char *none = g_strdup_printf("%u", kind->n_unanswered);
		gboolean is_late = wp_snapshot_is_late_for(kind, kind->oldest_ns);
		wp_table_row(table, is_late ? WP_TABLE_HOT : WP_TABLE_PLAIN);
		wp_table_cell(table, calls);
		wp_table_cell(table, wp_format_time(time, (double)kind->oldest_ns));
		wp_table_cell(table, wp_format_time(time, (double)kind->ages_ns / kind->n_waiting));
		wp_table_cell(table, usual_text(time, kind));
		wp_table_cell(table, kind->n_unanswered ? none : "");
		wp_table_cell(table, safe);
	}
	wp_table_write(table, &text->page->style, 2, text->out);
}

/* (transfer full) What is to be said of CALL beside its name. */
static char *
notes_text(const Text *text, const WpSnapshotCall *call)
{
	char share[WP_FORMAT_MAX];
	GString *notes = g_string_new(NULL);
	if (call->depth && call->probability >= 0 && call->probability < SURE)
		g_string_append_printf(notes, "  (%s its parent)",
				       wp_format_share(share, (double)call->probability));
	if (call->parent == WP_SNAPSHOT_ROOT && call->n_candidates > 1)
		g_string_append_printf(notes, "  (below one of %u without an answer)",
				       call->n_candidates);
	else if (call->is_orphan)
		g_string_append(notes, "  (its caller has answered, or was not seen)");
	if (call->by_design)
		g_string_append(notes, "  waits by design");
	else if (call->waits)
		g_string_append(notes, "  <- here");
	if (call->left_ns < 0)
		g_string_append(notes,
				text->is_brief ? ", no answer yet" : ", no answer in the capture");
	return g_string_free(notes, FALSE);
}

static void
add_call(const Text *text, WpTable *table, const WpSnapshotCall *call)
{
	const WpSnapshotKind *kind = kind_of(text->snapshot, call);
	char time[WP_FORMAT_MAX];
	g_autofree char *name = kind_text(kind);
	g_autofree char *notes = notes_text(text, call);
	g_autofree char *line = g_strdup_printf(
		"%*s%s%s%s%s", (int)MIN(2 * call->depth, MAX_INDENT), "",
		call->depth ? "" : call->caller, call->depth ? "" : " > ", name, notes);
	g_autofree char *safe = wp_escape_terminal(line, text->page->style.utf8);
	gboolean is_late = wp_snapshot_is_late(text->snapshot, call);
	wp_table_row(table, is_late && call->waits ? WP_TABLE_HOT : WP_TABLE_PLAIN);
	wp_table_cell(table, wp_format_time(time, (double)call->age_ns));
	wp_table_cell(table, usual_text(time, kind));
	wp_table_cell(table, call->id);
	wp_table_cell(table, safe);
}

static void
write_requests(const Text *text)
{
	const WpSnapshot *snapshot = text->snapshot;
	const WpPage page = { .style = text->page->style };
	g_autoptr(WpTable) table = wp_table_new();
	guint n_roots = 0, top = text->page->top;
	if (!snapshot->calls->len)
		return;
	if (!text->is_brief)
		wp_text_heading(&page, "In flight, the oldest first", text->out);
	wp_table_column(table, "age", TRUE, 0);
	wp_table_column(table, "usual", TRUE, 0);
	wp_table_column(table, "call", TRUE, 0);
	wp_table_column(table, "path", FALSE, 0);
	for (guint i = 0; i < snapshot->calls->len; i++) {
		const WpSnapshotCall *call = snapshot->calls->pdata[i];
		n_roots += call->depth == 0;
		if (top && n_roots > top)
			break;
		add_call(text, table, call);
	}
	wp_table_write(table, &text->page->style, 2, text->out);
	if (top && snapshot->n_roots > top && !text->is_brief) {
		g_autofree char *rest = wp_words_count(snapshot->n_roots - top, "younger request");
		g_autofree char *line = g_strdup_printf("%s not shown; --all lists them.", rest);
		write_line(text, line, 2);
	}
}

static void
write_text(const WpSnapshot *snapshot, const WpSnapshotPage *page, WpOut *out)
{
	const Text text = { snapshot, page, out, FALSE };
	write_head(&text);
	write_waiting(&text);
	write_requests(&text);
}

void
wp_snapshot_write_brief(const WpSnapshot *snapshot, const WpSnapshotPage *page, WpOut *out)
{
	const Text text = { snapshot, page, out, TRUE };
	char date[WP_FORMAT_MAX];
	g_autofree char *requests = wp_words_count(snapshot->n_roots, "request");
	g_autofree char *calls = wp_words_count(snapshot->calls->len, "call");
	g_autofree char *late =
		snapshot->n_late ? g_strdup_printf(", %u for longer than 95%% of their kind take",
						   snapshot->n_late)
				 : g_strdup("");
	g_autofree char *line = g_strdup_printf(
		"In flight at %s: %s, %s open%s%s", wp_format_date(date, snapshot->at_ns), requests,
		calls, late, snapshot->waiting->len ? "; what they wait for:" : ".");
	write_line(&text, line, 0);
	write_waiting(&text);
	if (snapshot->waiting->len)
		write_line(&text, "The oldest:", 0);
	write_requests(&text);
}

/* --- CSV --- */

static void
write_cell(GString *cell, const char *value, WpOut *out)
{
	g_string_truncate(cell, 0);
	wp_escape_csv_to(cell, value);
	wp_out_text(out, cell->str);
	wp_out_char(out, ',');
}

static void
write_csv(const WpSnapshot *snapshot, const WpSnapshotPage *page, WpOut *out)
{
	g_autoptr(GString) cell = g_string_new(NULL);
	(void)page;
	wp_out_text(
		out,
		"call_id,parent_id,depth,src,dst,protocol,operation,t_call,age_ns,left_ns,usual_ns,"
		"confidence,waits,late\n");
	for (guint i = 0; i < snapshot->calls->len; i++) {
		const WpSnapshotCall *call = snapshot->calls->pdata[i];
		const WpSnapshotKind *kind = kind_of(snapshot, call);
		const WpSnapshotCall *parent = call->parent != WP_SNAPSHOT_ROOT
						       ? snapshot->calls->pdata[call->parent]
						       : NULL;
		char time[WP_FORMAT_MAX];
		write_cell(cell, call->id, out);
		write_cell(cell, parent ? parent->id : "", out);
		wp_out_printf(out, "%u,", call->depth);
		write_cell(cell, call->caller, out);
		write_cell(cell, kind->node, out);
		write_cell(cell, kind->protocol, out);
		write_cell(cell, kind->label, out);
		wp_format_epoch(time, call->begin_ns);
		wp_out_printf(out, "%s,%" G_GINT64_FORMAT ",", time, call->age_ns);
		if (call->left_ns >= 0)
			wp_out_printf(out, "%" G_GINT64_FORMAT, call->left_ns);
		wp_out_char(out, ',');
		if (wp_delay_count(kind->latencies))
			wp_out_printf(out, "%" G_GINT64_FORMAT,
				      wp_delay_quantile_ns(kind->latencies, 0.5));
		wp_out_char(out, ',');
		if (call->probability >= 0)
			wp_out_printf(out, "%.4f", (double)call->probability);
		wp_out_printf(out, ",%s,%s\n", call->waits ? "yes" : "no",
			      wp_snapshot_is_late(snapshot, call) ? "yes" : "no");
	}
}

/* --- JSON --- */

static void
write_time(WpJson *json, const char *key, gint64 ns)
{
	if (ns < 0)
		wp_json_text(json, key, NULL);
	else
		wp_json_int(json, key, ns);
}

static void
write_usual(WpJson *json, const WpSnapshotKind *kind)
{
	gboolean is_known = wp_delay_count(kind->latencies) > 0;
	write_time(json, "usual_ns", is_known ? wp_delay_quantile_ns(kind->latencies, 0.5) : -1);
}

static void
write_json_call(WpJson *json, const WpSnapshot *snapshot, const WpSnapshotCall *call)
{
	const WpSnapshotKind *kind = kind_of(snapshot, call);
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "call", call->id);
	if (call->parent == WP_SNAPSHOT_ROOT)
		wp_json_text(json, "parent", NULL);
	else
		wp_json_uint(json, "parent", call->parent);
	wp_json_text(json, "caller", call->caller);
	wp_json_text(json, "node", kind->node);
	wp_json_text(json, "label", kind->label);
	wp_json_text(json, "protocol", kind->protocol);
	wp_json_uint(json, "packet", call->packet);
	wp_json_epoch(json, "begin_ns", call->begin_ns);
	wp_json_int(json, "age_ns", call->age_ns);
	write_time(json, "left_ns", call->left_ns);
	write_usual(json, kind);
	if (call->probability < 0)
		wp_json_text(json, "probability", NULL);
	else
		wp_json_number(json, "probability", (double)call->probability, 6);
	wp_json_bool(json, "waits", call->waits);
	wp_json_bool(json, "by_design", call->by_design);
	wp_json_bool(json, "orphan", call->is_orphan);
	wp_json_bool(json, "late", wp_snapshot_is_late(snapshot, call));
	wp_json_close(json, '}');
}

static void
write_json_waiting(WpJson *json, const WpSnapshot *snapshot)
{
	wp_json_open(json, "waiting", '[');
	for (guint i = 0; i < snapshot->waiting->len; i++) {
		const WpSnapshotKind *kind = snapshot->waiting->pdata[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "node", kind->node);
		wp_json_text(json, "label", kind->label);
		wp_json_text(json, "protocol", kind->protocol);
		wp_json_uint(json, "calls", kind->n_waiting);
		wp_json_uint(json, "unanswered", kind->n_unanswered);
		wp_json_int(json, "oldest_ns", kind->oldest_ns);
		wp_json_int(json, "ages_ns", kind->ages_ns);
		write_usual(json, kind);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

void
wp_snapshot_put_json(const WpSnapshot *snapshot, WpJson *json)
{
	wp_json_open(json, "in_flight", '{');
	wp_json_epoch(json, "at", snapshot->at_ns);
	wp_json_uint(json, "requests", snapshot->n_roots);
	wp_json_uint(json, "calls", snapshot->calls->len);
	wp_json_uint(json, "late", snapshot->n_late);
	write_json_waiting(json, snapshot);
	wp_json_close(json, '}');
}

static void
write_json(const WpSnapshot *snapshot, const WpSnapshotPage *page, WpOut *out)
{
	WpJson json = { .out = out };
	(void)page;
	wp_json_open(&json, NULL, '{');
	wp_json_text(&json, "schema", "wirepath.snapshot/1");
	wp_json_text(&json, "program", PACKAGE_STRING);
	wp_json_epoch(&json, "at_ns", snapshot->at_ns);
	wp_json_epoch(&json, "begin_ns", snapshot->begin_ns);
	wp_json_epoch(&json, "end_ns", snapshot->end_ns);
	wp_json_uint(&json, "requests", snapshot->n_roots);
	wp_json_uint(&json, "late", snapshot->n_late);
	wp_json_uint(&json, "abandoned", snapshot->n_abandoned);
	wp_json_uint(&json, "calls_left_out", snapshot->n_left);
	write_json_waiting(&json, snapshot);
	wp_json_open(&json, "calls", '[');
	for (guint i = 0; i < snapshot->calls->len; i++)
		write_json_call(&json, snapshot, snapshot->calls->pdata[i]);
	wp_json_close(&json, ']');
	wp_json_close(&json, '}');
}

const WpSnapshotPageFunc wp_snapshot_writers[] = { write_text, write_csv, write_json };
