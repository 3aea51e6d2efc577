/* The page of wirepath compare that people read: the verdict first, then what and where, then the numbers. */
#include "report/compare-page.h"

#include <math.h>
#include <string.h>

#include "report/compare-words.h"
#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"
#include "report/write-text.h"

/* Sentences before the table. */
#define MAX_FINDINGS 8

static char *
escape_utf8(const char *name)
{
	return wp_escape_terminal(name, TRUE);
}

static char *
escape_ascii(const char *name)
{
	return wp_escape_terminal(name, FALSE);
}

typedef struct {
	const WpComparison *comparison;
	const WpComparePage *page;
	WpPage text; /* for the helpers of text pages */
	WpNameFunc escape;
	WpTable *table;
	gboolean whys[WP_N_WHYS]; /* that rows have */
} Writer;

static void
write_sentences(const Writer *writer, GPtrArray *sentences, WpOut *out)
{
	for (guint i = 0; i < sentences->len; i++)
		wp_text_paragraph(&writer->text, sentences->pdata[i], 2, out);
}

static void
write_verdict(const Writer *writer, WpOut *out)
{
	const WpStyle *style = &writer->page->style;
	const WpComparison *comparison = writer->comparison;
	g_autofree char *summary = wp_compare_summary(comparison);
	g_autofree char *line = g_strdup_printf("%s: %s", wp_compare_verdict(comparison), summary);
	wp_out_text(out, comparison->verdict == WP_VERDICT_CHANGED && comparison->is_worse
				 ? wp_style_red(style)
				 : wp_style_bold(style));
	wp_text_paragraph(&writer->text, line, 0, out);
	wp_out_text(out, wp_style_off(style));
	g_autoptr(GPtrArray) findings =
		wp_compare_findings(comparison, MAX_FINDINGS, writer->escape);
	write_sentences(writer, findings, out);
}

static void
write_sides(const Writer *writer, WpOut *out)
{
	const WpComparison *comparison = writer->comparison;
	g_autoptr(WpTable) table = wp_table_new();
	static const char *const headings[] = { "captures", "requests", "length",
						"a second", "lost",     "unmatched" };
	wp_text_heading(&writer->text,
			comparison->is_comparable ? "Compared" : "Compared, though they cannot be",
			out);
	for (guint i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(table, headings[i], TRUE, 0);
	wp_table_column(table, "side", FALSE, 0);
	for (guint side = 0; side < 2; side++) {
		const WpComparedSide *own = &comparison->sides[side];
		char number[WP_FORMAT_MAX];
		g_autofree char *label = writer->escape(own->label);
		wp_table_row(table, WP_TABLE_PLAIN);
		wp_table_cell(table, wp_format_count(number, own->n_captures));
		wp_table_cell(table, wp_format_count(number, own->requests));
		wp_table_cell(table, wp_format_time(number, own->length_ns));
		wp_table_cell(table, wp_format_number(number, own->rate));
		wp_table_cell(table, own->loss < 0 ? "?" : wp_format_share(number, own->loss));
		wp_table_cell(table, wp_format_share(number, own->unmatched));
		wp_table_cell(table, label);
	}
	wp_table_write(table, &writer->page->style, 2, out);
	g_autoptr(GPtrArray) doubts = wp_compare_doubts(comparison);
	write_sentences(writer, doubts, out);
}

static void
cell_time(WpTable *table, double ns)
{
	char text[WP_FORMAT_MAX];
	wp_table_cell(table, ns > 0 ? wp_format_time(text, ns) : "-");
}

static void
cell_signed_time(WpTable *table, double ns)
{
	char time[WP_FORMAT_MAX], text[WP_FORMAT_MAX];
	g_snprintf(text, sizeof text, "%s%s", ns < 0 ? "-" : "+", wp_format_time(time, fabs(ns)));
	wp_table_cell(table, ns == 0 ? "0" : text);
}

/* "+22%" or "(<8%)", and the word for it. */
static void
cells_test(Writer *writer, const WpTest *test)
{
	char text[WP_FORMAT_MAX];
	if (!test || !test->is_tested) {
		wp_table_cell(writer->table, "");
		wp_table_cell(writer->table, "");
		return;
	}
	writer->whys[test->why] = TRUE;
	gboolean has_value = test->verdict == WP_VERDICT_CHANGED || test->why == WP_WHY_LIKELY ||
			     test->why == WP_WHY_SMALL;
	g_autofree char *change = has_value && test->kind != WP_TEST_CALLS
					  ? g_strdup(wp_compare_percent(text, test->change))
					  : wp_compare_change(test);
	char *bracket = has_value ? strchr(change, ' ') : NULL;
	if (bracket)
		*bracket = 0;
	wp_table_cell(writer->table, change);
	wp_table_cell(writer->table, wp_compare_word(test));
}

static void
add_time_row(Writer *writer, WpTableRow kind, double contribution_ns, const double means[2],
	     const WpTest *test, const char *name, const char *shorter)
{
	wp_table_row(writer->table, kind);
	cell_signed_time(writer->table, contribution_ns);
	cell_time(writer->table, means[0]);
	cell_time(writer->table, means[1]);
	cells_test(writer, test);
	wp_table_cell_or(writer->table, name, shorter);
}

static void
add_calls_row(Writer *writer, const WpComparedPart *part, const char *name)
{
	char text[WP_FORMAT_MAX];
	const WpTest *test = &part->tests[WP_TEST_CALLS];
	wp_table_row(writer->table, WP_TABLE_PLAIN);
	wp_table_cell(writer->table, "calls");
	wp_table_cell(writer->table, wp_format_number(text, test->shift.before));
	wp_table_cell(writer->table, wp_format_number(text, test->shift.after));
	cells_test(writer, test);
	wp_table_cell(writer->table, name);
}

static void
add_part(Writer *writer, const WpComparedPart *part)
{
	g_autofree char *bare = wp_compare_part_name(writer->comparison, part, writer->escape);
	g_autofree char *name = g_strdup_printf("  %s", bare);
	const WpTest *test = wp_compare_time_test(part);
	if (part->tests[WP_TEST_CALLS].is_tested &&
	    part->tests[WP_TEST_CALLS].verdict == WP_VERDICT_CHANGED)
		add_calls_row(writer, part, name);
	if (!test->is_tested && !writer->page->top && !part->calls[0] && !part->calls[1])
		return;
	if (test->is_tested || !writer->page->top)
		add_time_row(writer, WP_TABLE_PLAIN, part->contribution_ns, part->self_ns, test,
			     name, name);
}

static void
add_operation(Writer *writer, const WpComparedOperation *operation)
{
	gboolean is_changed = operation->verdict == WP_VERDICT_CHANGED;
	g_autofree char *name =
		wp_compare_operation_name(writer->comparison, operation, writer->escape);
	g_autofree char *label = writer->escape(operation->label);
	add_time_row(writer, is_changed ? WP_TABLE_HOT : WP_TABLE_PLAIN, operation->contribution_ns,
		     operation->mean_ns, &operation->latency, name, *label ? label : name);
	for (guint32 i = 0; i < operation->n_parts; i++)
		if (is_changed || !writer->page->top)
			add_part(writer, &operation->parts[i]);
}

static void
write_whys(const Writer *writer, WpOut *out)
{
	for (WpWhy why = WP_WHY_NONE + 1; why < WP_N_WHYS; why++) {
		if (!writer->whys[why])
			continue;
		g_autofree char *line = g_strdup_printf(
			"%s: %s.", why == WP_WHY_SMALL ? "same" : "unclear", wp_compare_why(why));
		wp_text_paragraph(&writer->text, line, 2, out);
	}
}

static void
write_operations(Writer *writer, WpOut *out)
{
	const WpComparison *comparison = writer->comparison;
	static const char *const headings[] = { "in all", "before", "after", "change" };
	g_autoptr(WpTable) table = wp_table_new();
	guint32 n_left = 0;
	if (!comparison->n_operations)
		return;
	wp_text_heading(&writer->text, "Operations: mean latency; nodes in them: self time a call",
			out);
	writer->table = table;
	for (guint i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(table, headings[i], TRUE, 0);
	wp_table_column(table, "verdict", FALSE, 0);
	wp_table_column(table, "request, and node", FALSE, 0);
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		const WpComparedOperation *operation = &comparison->operations[i];
		if (writer->page->top && i >= writer->page->top &&
		    operation->verdict != WP_VERDICT_CHANGED)
			n_left++;
		else
			add_operation(writer, operation);
	}
	wp_table_write(table, &writer->page->style, 2, out);
	if (n_left) {
		g_autofree char *line = g_strdup_printf(
			"%u more operations, none of them changed (--all).", n_left);
		wp_text_paragraph(&writer->text, line, 2, out);
	}
	wp_text_paragraph(
		&writer->text,
		"in all: what the change of the mean makes over all requests after. (<x): "
		"nothing seen; a change of x would have been, 4 times of 5.",
		2, out);
	write_whys(writer, out);
}

static void
write_paths(const Writer *writer, WpOut *out)
{
	g_autoptr(GPtrArray) sentences =
		wp_compare_path_sentences(writer->comparison, writer->escape);
	if (!sentences->len)
		return;
	wp_text_heading(&writer->text, "Paths on one side only, beside the nearest on the other",
			out);
	write_sentences(writer, sentences, out);
}

static void
write_gate(const Writer *writer, WpOut *out)
{
	const WpGate *gate = writer->page->gate;
	if (!gate || !wp_gate_n_rules(gate))
		return;
	guint n_failed = 0;
	wp_text_heading(&writer->text, "Rules", out);
	for (guint i = 0; i < wp_gate_n_results(gate); i++) {
		const WpGateResult *result = wp_gate_result(gate, i);
		if (!result->is_failed)
			continue;
		n_failed++;
		g_autofree char *rule = writer->escape(result->rule);
		g_autofree char *subject = writer->escape(result->subject);
		g_autofree char *line =
			g_strdup_printf("%s: %s: %s: %s", wp_gate_level_names[result->level], rule,
					subject, result->found);
		wp_text_paragraph(&writer->text, line, 2, out);
	}
	if (!n_failed)
		wp_out_text(out, "  All hold.\n");
}

static void
write_text(const WpComparison *comparison, const WpComparePage *page, WpOut *out)
{
	Writer writer = { .comparison = comparison,
			  .page = page,
			  .text = { .style = page->style },
			  .escape = page->style.utf8 ? escape_utf8 : escape_ascii };
	write_verdict(&writer, out);
	write_sides(&writer, out);
	write_operations(&writer, out);
	write_paths(&writer, out);
	write_gate(&writer, out);
	wp_out_printf(out, "\nverdict: %s\n", wp_compare_verdict(comparison));
}

static const char *const text_suffixes[] = { "txt", NULL };
static const char *const markdown_suffixes[] = { "md", NULL };
static const char *const html_suffixes[] = { "html", "htm", NULL };
static const char *const json_suffixes[] = { "json", NULL };
static const char *const junit_suffixes[] = { "xml", NULL };

const WpForm wp_compare_forms[] = { { "text", text_suffixes },   { "markdown", markdown_suffixes },
				    { "html", html_suffixes },   { "json", json_suffixes },
				    { "junit", junit_suffixes }, { NULL, NULL } };

const WpComparePageFunc wp_compare_writers[] = { write_text, wp_compare_markdown, wp_compare_html,
						 wp_compare_json, wp_compare_junit };
