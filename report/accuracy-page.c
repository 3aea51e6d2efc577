/* Every number of WpAccuracy, in two forms; what each means is in wirepath-evaluate(1). */
#include "config.h"

#include "report/accuracy-page.h"

#include <math.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/json.h"
#include "report/table.h"

/* Self times and top-N rows of the text page unless -v. */
#define MAX_ROWS 12

static double
ratio(guint64 part, guint64 whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

/* "97.31%", or "-" where there is nothing to divide. Two decimals: engines are compared here. */
static const char *
percent(char *buffer, double share)
{
	if (isnan(share))
		return "-";
	g_ascii_formatd(buffer, WP_FORMAT_MAX, "%.2f", 100 * share);
	g_strlcat(buffer, "%", WP_FORMAT_MAX);
	return buffer;
}

typedef struct {
	const WpAccuracy *accuracy;
	const WpStyle *style;
	gboolean verbose;
	WpOut *out;
} Page;

static void
heading(const Page *page, const char *text)
{
	wp_out_printf(page->out, "\n%s%s%s\n", wp_style_bold(page->style), text,
		      wp_style_off(page->style));
}

/* "  calls found   99.98%   9,118 of 9,120" */
static void
line(const Page *page, const char *what, guint64 part, guint64 whole)
{
	char share[WP_FORMAT_MAX], a[WP_FORMAT_MAX], b[WP_FORMAT_MAX];
	wp_out_printf(page->out, "  %-24s %8s   %s of %s\n", what,
		      percent(share, ratio(part, whole)), wp_format_count(a, part),
		      wp_format_count(b, whole));
}

static void
write_calls(const Page *page)
{
	const WpAccuracy *accuracy = page->accuracy;
	char count[WP_FORMAT_MAX];
	wp_out_printf(page->out, "%sCalls%s\n", wp_style_bold(page->style),
		      wp_style_off(page->style));
	line(page, "found", accuracy->all.n_found, accuracy->all.n_calls);
	line(page, "false", accuracy->n_false, accuracy->n_reported);
	line(page, "return time right", accuracy->n_returns_right, accuracy->n_returns);
	line(page, "roots right", accuracy->n_roots_right, accuracy->n_roots);
	line(page, "links right (recall)", accuracy->all.n_links_right, accuracy->all.n_links);
	line(page, "links right (precision)", accuracy->all.n_links_right,
	     accuracy->n_links_reported);
	if (accuracy->n_dont_care)
		wp_out_printf(page->out, "  set-up exchanges, not judged: %s\n",
			      wp_format_count(count, accuracy->n_dont_care));
}

static void
add_class(WpTable *table, const WpAccuracyRow *row)
{
	char buffer[WP_FORMAT_MAX];
	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table, wp_format_count(buffer, row->n_calls));
	wp_table_cell(table, percent(buffer, ratio(row->n_found, row->n_calls)));
	wp_table_cell(table, percent(buffer, ratio(row->n_links_right, row->n_links)));
	wp_table_cell(table, wp_format_count(buffer, row->n_traces));
	wp_table_cell(table, percent(buffer, ratio(row->n_traces_right, row->n_traces)));
	wp_table_cell(table, percent(buffer, ratio(row->n_traces_scope, row->n_traces)));
	wp_table_cell(table, percent(buffer, ratio(row->n_traces_exact, row->n_traces)));
	wp_table_cell(table, row->name);
}

static void
write_classes(const Page *page)
{
	static const char *const headings[] = { "calls", "found",    "links", "traces",
						"whole", "in scope", "exact" };
	g_autoptr(WpTable) table = wp_table_new();
	char mean[WP_FORMAT_MAX];
	heading(page, "By load: possible parents of a call");
	for (gsize i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(table, headings[i], TRUE, 7);
	wp_table_column(table, "load", FALSE, 0);
	for (gsize i = 0; i < WP_ACCURACY_N_CLASSES; i++)
		if (page->accuracy->classes[i].n_calls)
			add_class(table, &page->accuracy->classes[i]);
	add_class(table, &page->accuracy->all);
	wp_table_write(table, page->style, 2, page->out);
	wp_out_printf(page->out, "  mean parallelism %s\n",
		      wp_format_number(mean, page->accuracy->parallelism));
}

static void
write_edges(const Page *page)
{
	g_autoptr(WpTable) table = wp_table_new();
	char buffer[WP_FORMAT_MAX];
	if (!page->accuracy->n_edges)
		return;
	heading(page, "Links by edge");
	wp_table_column(table, "calls", TRUE, 7);
	wp_table_column(table, "right", TRUE, 7);
	wp_table_column(table, "edge", FALSE, 0);
	for (guint32 i = 0; i < page->accuracy->n_edges; i++) {
		const WpAccuracyEdge *edge = &page->accuracy->edges[i];
		g_autofree char *from = wp_escape_terminal(edge->caller, page->style->utf8);
		g_autofree char *to = wp_escape_terminal(edge->callee, page->style->utf8);
		g_autofree char *name = g_strdup_printf("%s > %s", from, to);
		wp_table_row(table, WP_TABLE_PLAIN);
		wp_table_cell(table, wp_format_count(buffer, edge->n));
		wp_table_cell(table, percent(buffer, ratio(edge->right, edge->n)));
		wp_table_cell(table, name);
	}
	wp_table_write(table, page->style, 2, page->out);
}

static void
write_count(const Page *page, const char *what, const WpAccuracyCount *count)
{
	char n[WP_FORMAT_MAX], m[WP_FORMAT_MAX], negative[WP_FORMAT_MAX], positive[WP_FORMAT_MAX];
	wp_out_printf(page->out,
		      "  %-12s true %s, found %s: %s false negatives, %s false positives\n", what,
		      wp_format_count(n, count->n_true), wp_format_count(m, count->n_found),
		      wp_format_count(negative, count->false_negatives),
		      wp_format_count(positive, count->false_positives));
}

static void
write_patterns(const Page *page)
{
	const WpAccuracy *accuracy = page->accuracy;
	char wrong[WP_FORMAT_MAX], all[WP_FORMAT_MAX], share[WP_FORMAT_MAX];
	heading(page, "Patterns (operations left out)");
	write_count(page, "patterns", &accuracy->patterns);
	write_count(page, "over 0.5 %", &accuracy->frequent);
	write_count(page, "instances", &accuracy->instances);
	wp_out_printf(page->out, "  %-12s %s of %s not ascribed to the right path\n", "messages",
		      wp_format_count(wrong, accuracy->n_messages_wrong),
		      wp_format_count(all, accuracy->n_messages));
	wp_out_printf(page->out, "  %-12s half the L1 distance of shares: %s\n", "shares",
		      percent(share, accuracy->pattern_distance));
}

static void
write_top(const Page *page)
{
	const WpAccuracy *accuracy = page->accuracy;
	g_autoptr(WpTable) table = wp_table_new();
	char buffer[WP_FORMAT_MAX];
	if (!accuracy->n_top)
		return;
	heading(page, "Missing among the N most frequent patterns, with ties within a tolerance");
	wp_table_column(table, "N", TRUE, 4);
	wp_table_column(table, "0%", TRUE, 4);
	wp_table_column(table, "2%", TRUE, 4);
	wp_table_column(table, "6%", TRUE, 4);
	guint32 n = page->verbose ? accuracy->n_top : MIN(accuracy->n_top, MAX_ROWS);
	for (guint32 i = 0; i < n; i++) {
		wp_table_row(table, WP_TABLE_PLAIN);
		wp_table_cell(table, wp_format_count(buffer, accuracy->top[i].n));
		for (gsize k = 0; k < WP_ACCURACY_N_TOLERANCES; k++)
			wp_table_cell(table,
				      wp_format_count(buffer, accuracy->top[i].false_negatives[k]));
	}
	wp_table_write(table, page->style, 2, page->out);
	if (n < accuracy->n_top)
		wp_out_printf(page->out, "  ... up to %u (-v)\n", accuracy->n_top);
}

static void
write_selfs(const Page *page)
{
	const WpAccuracy *accuracy = page->accuracy;
	g_autoptr(WpTable) table = wp_table_new();
	char buffer[WP_FORMAT_MAX];
	guint32 n = page->verbose ? accuracy->n_selfs : MIN(accuracy->n_selfs, MAX_ROWS);
	if (!accuracy->n_selfs)
		return;
	heading(page, "Self times of true patterns that were found");
	wp_out_printf(page->out, "  mean relative error %s\n",
		      percent(buffer, accuracy->self_error));
	wp_table_column(table, "pattern", TRUE, 0);
	wp_table_column(table, "instances", TRUE, 0);
	wp_table_column(table, "true", TRUE, 8);
	wp_table_column(table, "found", TRUE, 8);
	wp_table_column(table, "error", TRUE, 7);
	wp_table_column(table, "node", FALSE, 0);
	for (guint32 i = 0; i < n; i++) {
		const WpAccuracySelf *self = &accuracy->selfs[i];
		g_autofree char *node = wp_escape_terminal(self->node, page->style->utf8);
		g_autofree char *place = g_strdup_printf("#%u.%u", self->pattern, self->position);
		wp_table_row(table, WP_TABLE_PLAIN);
		wp_table_cell(table, place);
		wp_table_cell(table, wp_format_count(buffer, self->n_true));
		wp_table_cell(table, wp_format_time(buffer, self->true_ns));
		wp_table_cell(table, wp_format_time(buffer, self->found_ns));
		wp_table_cell(table, percent(buffer, self->true_ns != 0
							     ? self->found_ns / self->true_ns - 1
							     : (double)NAN));
		wp_table_cell(table, node);
	}
	wp_table_write(table, page->style, 2, page->out);
	if (n < accuracy->n_selfs)
		wp_out_printf(page->out, "  ... and %u more (-v)\n", accuracy->n_selfs - n);
}

static void
write_calibration(const Page *page)
{
	const WpAccuracy *accuracy = page->accuracy;
	char error[WP_FORMAT_MAX], auc[WP_FORMAT_MAX], coverage[WP_FORMAT_MAX];
	if (!accuracy->n_judged)
		return;
	heading(page, "Probabilities of links");
	g_ascii_formatd(error, sizeof error, "%.4f", accuracy->calibration_error);
	g_ascii_formatd(auc, sizeof auc, "%.4f", accuracy->auc);
	wp_out_printf(page->out, "  calibration error %s, AUC %s, coverage at 99%% precision %s\n",
		      error, auc, percent(coverage, accuracy->coverage));
}

static const char *const reference_names[WP_N_REFERENCES] = {
	[WP_REFERENCE_LEARNED] = "learned from the truth",
	[WP_REFERENCE_STARTED] = "started from the truth",
};

static void
add_reference(WpTable *table, const WpAccuracyRow *row, const char *name)
{
	char buffer[WP_FORMAT_MAX];
	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table, percent(buffer, ratio(row->n_links_right, row->n_links)));
	wp_table_cell(table, percent(buffer, ratio(row->n_traces_right, row->n_traces)));
	wp_table_cell(table, percent(buffer, ratio(row->n_traces_scope, row->n_traces)));
	wp_table_cell(table, percent(buffer, ratio(row->n_traces_exact, row->n_traces)));
	wp_table_cell(table, name);
}

static void
write_references(const Page *page, const WpAccuracy *const *references)
{
	static const char *const headings[] = { "links", "whole", "in scope", "exact" };
	g_autoptr(WpTable) table = wp_table_new();
	heading(page, "What the input allows: the same engine, told the truth");
	for (gsize i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(table, headings[i], TRUE, 7);
	wp_table_column(table, "engine", FALSE, 0);
	add_reference(table, &page->accuracy->all, "told nothing: the accuracy above");
	for (gsize i = 0; i < WP_N_REFERENCES; i++)
		add_reference(table, &references[i]->all, reference_names[i]);
	wp_table_write(table, page->style, 2, page->out);
}

/* What the capture lets expect without any truth, beside what is true. */
static void
write_check(const Page *page, const WpSelfCheck *check)
{
	heading(page, "Self-check: what can be expected without the truth");
	line(page, "links right (recall)", check->n_links_right, check->n_links);
	line(page, "traces exact", check->n_requests_right, check->n_requests);
}

static void
write_title(const Page *page, const WpAccuracyTitle *title)
{
	g_autofree char *input = wp_escape_terminal(title->input, page->style->utf8);
	g_autofree char *truth = wp_escape_terminal(title->truth, page->style->utf8);
	wp_out_printf(page->out, "%s%s%s   calls %s%s, judged by %s\n", wp_style_bold(page->style),
		      input, wp_style_off(page->style),
		      title->engine ? "inferred by " : "as they stand there",
		      title->engine ? title->engine : "", truth);
	if (title->partial) {
		g_autofree char *partial = wp_escape_terminal(title->partial, page->style->utf8);
		wp_out_printf(page->out, "%sPARTIAL: %s%s\n", wp_style_red(page->style), partial,
			      wp_style_off(page->style));
	}
}

void
wp_accuracy_write_text(const WpAccuracyTitle *title, const WpAccuracy *accuracy,
		       const WpAccuracyBeside *beside, const WpStyle *style, gboolean verbose,
		       WpOut *out)
{
	Page page = { accuracy, style, verbose, out };
	write_title(&page, title);
	write_calls(&page);
	write_classes(&page);
	write_edges(&page);
	write_patterns(&page);
	write_top(&page);
	write_selfs(&page);
	write_calibration(&page);
	if (beside->references)
		write_references(&page, beside->references);
	if (beside->check)
		write_check(&page, beside->check);
}

/* JSON */

static void
json_row(WpJson *json, const char *key, const WpAccuracyRow *row)
{
	wp_json_open(json, key, '{');
	wp_json_text(json, "load", row->name);
	wp_json_uint(json, "calls", row->n_calls);
	wp_json_uint(json, "found", row->n_found);
	wp_json_uint(json, "links", row->n_links);
	wp_json_uint(json, "links_right", row->n_links_right);
	wp_json_uint(json, "traces", row->n_traces);
	wp_json_uint(json, "traces_whole", row->n_traces_right);
	wp_json_uint(json, "traces_in_scope", row->n_traces_scope);
	wp_json_uint(json, "traces_exact", row->n_traces_exact);
	wp_json_close(json, '}');
}

static void
json_count(WpJson *json, const char *key, const WpAccuracyCount *count)
{
	wp_json_open(json, key, '{');
	wp_json_uint(json, "true", count->n_true);
	wp_json_uint(json, "found", count->n_found);
	wp_json_uint(json, "false_negatives", count->false_negatives);
	wp_json_uint(json, "false_positives", count->false_positives);
	wp_json_close(json, '}');
}

static void
json_calls(WpJson *json, const WpAccuracy *accuracy)
{
	wp_json_uint(json, "reported", accuracy->n_reported);
	wp_json_uint(json, "false", accuracy->n_false);
	wp_json_uint(json, "dont_care", accuracy->n_dont_care);
	wp_json_uint(json, "returns", accuracy->n_returns);
	wp_json_uint(json, "returns_right", accuracy->n_returns_right);
	wp_json_uint(json, "links_reported", accuracy->n_links_reported);
	wp_json_uint(json, "roots", accuracy->n_roots);
	wp_json_uint(json, "roots_right", accuracy->n_roots_right);
	wp_json_number(json, "parallelism", accuracy->parallelism, 4);
	json_row(json, "all", &accuracy->all);
	wp_json_open(json, "classes", '[');
	for (gsize i = 0; i < WP_ACCURACY_N_CLASSES; i++)
		json_row(json, NULL, &accuracy->classes[i]);
	wp_json_close(json, ']');
	wp_json_open(json, "edges", '[');
	for (guint32 i = 0; i < accuracy->n_edges; i++) {
		const WpAccuracyEdge *edge = &accuracy->edges[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "caller", edge->caller);
		wp_json_text(json, "callee", edge->callee);
		wp_json_uint(json, "links", edge->n);
		wp_json_uint(json, "right", edge->right);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

static void
json_top(WpJson *json, const WpAccuracy *accuracy)
{
	wp_json_open(json, "top", '[');
	for (guint32 i = 0; i < accuracy->n_top; i++) {
		wp_json_open(json, NULL, '{');
		wp_json_uint(json, "n", accuracy->top[i].n);
		wp_json_open(json, "false_negatives", '[');
		for (gsize k = 0; k < WP_ACCURACY_N_TOLERANCES; k++)
			wp_json_uint(json, NULL, accuracy->top[i].false_negatives[k]);
		wp_json_close(json, ']');
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

static void
json_selfs(WpJson *json, const WpAccuracy *accuracy)
{
	wp_json_number(json, "self_error", accuracy->self_error, 6);
	wp_json_open(json, "self_times", '[');
	for (guint32 i = 0; i < accuracy->n_selfs; i++) {
		const WpAccuracySelf *self = &accuracy->selfs[i];
		wp_json_open(json, NULL, '{');
		wp_json_uint(json, "pattern", self->pattern);
		wp_json_uint(json, "position", self->position);
		wp_json_text(json, "node", self->node);
		wp_json_uint(json, "true_instances", self->n_true);
		wp_json_uint(json, "found_instances", self->n_found);
		wp_json_number(json, "true_ns", self->true_ns, 1);
		wp_json_number(json, "found_ns", self->found_ns, 1);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

static void
json_references(WpJson *json, const WpAccuracy *const *references)
{
	static const char *const keys[WP_N_REFERENCES] = {
		[WP_REFERENCE_LEARNED] = "learned",
		[WP_REFERENCE_STARTED] = "started",
	};
	wp_json_open(json, "reference", '{');
	for (gsize i = 0; i < WP_N_REFERENCES; i++) {
		wp_json_open(json, keys[i], '{');
		json_row(json, "all", &references[i]->all);
		wp_json_open(json, "classes", '[');
		for (guint32 k = 0; k < WP_ACCURACY_N_CLASSES; k++)
			json_row(json, NULL, &references[i]->classes[k]);
		wp_json_close(json, ']');
		wp_json_close(json, '}');
	}
	wp_json_close(json, '}');
}

static void
json_check(WpJson *json, const WpSelfCheck *check)
{
	wp_json_open(json, "self_check", '{');
	wp_json_uint(json, "links", check->n_links);
	wp_json_uint(json, "links_right", check->n_links_right);
	wp_json_uint(json, "traces", check->n_requests);
	wp_json_uint(json, "traces_exact", check->n_requests_right);
	wp_json_close(json, '}');
}

void
wp_accuracy_write_json(const WpAccuracyTitle *title, const WpAccuracy *accuracy,
		       const WpAccuracyBeside *beside, WpOut *out)
{
	WpJson json = { .out = out };
	wp_json_open(&json, NULL, '{');
	wp_json_text(&json, "schema", "wirepath.accuracy/1");
	wp_json_text(&json, "program", PACKAGE_STRING);
	wp_json_text(&json, "input", title->input);
	wp_json_text(&json, "engine", title->engine);
	wp_json_bool(&json, "partial", title->partial != NULL);
	wp_json_text(&json, "truth", title->truth);
	json_calls(&json, accuracy);
	json_count(&json, "patterns", &accuracy->patterns);
	json_count(&json, "patterns_over_half_percent", &accuracy->frequent);
	json_count(&json, "instances", &accuracy->instances);
	wp_json_uint(&json, "messages", accuracy->n_messages);
	wp_json_uint(&json, "messages_wrong", accuracy->n_messages_wrong);
	json_top(&json, accuracy);
	wp_json_number(&json, "pattern_distance", accuracy->pattern_distance, 6);
	json_selfs(&json, accuracy);
	wp_json_uint(&json, "judged", accuracy->n_judged);
	if (accuracy->n_judged) {
		wp_json_number(&json, "calibration_error", accuracy->calibration_error, 6);
		wp_json_number(&json, "auc", accuracy->auc, 6);
		wp_json_number(&json, "coverage_at_99", accuracy->coverage, 6);
	}
	if (beside->references)
		json_references(&json, beside->references);
	if (beside->check)
		json_check(&json, beside->check);
	wp_json_close(&json, '}');
}
