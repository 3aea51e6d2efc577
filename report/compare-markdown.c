/*
 * A comparison as Markdown, for a comment below a pull request. Names came from packets: what Markdown or HTML would
 * make something of is quoted, so that a label cannot be a link, an image or a mention.
 */
#include <math.h>
#include <string.h>

#include "report/compare-page.h"
#include "report/compare-words.h"
#include "report/escape.h"
#include "report/format.h"
#include "report/gate.h"

/* Sentences before the table. */
#define MAX_FINDINGS 12

/* Operations in the table that did not change. */
#define MAX_SAME 5

static void
write_list(GPtrArray *sentences, WpOut *out)
{
	for (guint i = 0; i < sentences->len; i++)
		wp_out_printf(out, "- %s\n", (const char *)sentences->pdata[i]);
	if (sentences->len)
		wp_out_char(out, '\n');
}

static void
write_row(const char *name, const double means[2], const WpTest *test, double contribution_ns,
	  WpOut *out)
{
	char before[WP_FORMAT_MAX], after[WP_FORMAT_MAX], all[WP_FORMAT_MAX];
	gboolean is_tested = test && test->is_tested;
	gboolean is_calls = is_tested && test->kind == WP_TEST_CALLS;
	g_autofree char *change = is_tested ? wp_compare_change(test) : g_strdup("");
	/* "(<5%)" would be the begin of a tag. */
	g_auto(GStrv) pieces = g_strsplit(change, "<", -1);
	g_autofree char *safe = g_strjoinv("&lt;", pieces);
	wp_out_printf(out, "| %s | %s | %s | %s | %s%s%s | %s%s |\n", name,
		      is_calls       ? wp_format_number(before, test->shift.before)
		      : means[0] > 0 ? wp_format_time(before, means[0])
				     : "-",
		      is_calls       ? wp_format_number(after, test->shift.after)
		      : means[1] > 0 ? wp_format_time(after, means[1])
				     : "-",
		      safe, is_tested && test->verdict == WP_VERDICT_CHANGED ? "**" : "",
		      is_tested ? wp_compare_word(test) : "",
		      is_tested && test->verdict == WP_VERDICT_CHANGED ? "**" : "",
		      contribution_ns < 0 ? "-" : "+", wp_format_time(all, fabs(contribution_ns)));
}

static void
write_operations(const WpComparison *comparison, const WpComparePage *page, WpOut *out)
{
	guint32 n_same = 0, n_left = 0;
	wp_out_text(out, "| request, and node | before | after | change | verdict | in all |\n"
			 "| :--- | ---: | ---: | ---: | :--- | ---: |\n");
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		const WpComparedOperation *operation = &comparison->operations[i];
		gboolean is_changed = operation->verdict == WP_VERDICT_CHANGED;
		if (!is_changed && page->top && n_same++ >= MAX_SAME) {
			n_left++;
			continue;
		}
		g_autofree char *name =
			wp_compare_operation_name(comparison, operation, wp_escape_markdown);
		write_row(name, operation->mean_ns, &operation->latency, operation->contribution_ns,
			  out);
		for (guint32 k = 0; k < operation->n_parts; k++) {
			const WpComparedPart *part = &operation->parts[k];
			const WpTest *test = wp_compare_part_test(part);
			if (!test || (page->top && test->verdict != WP_VERDICT_CHANGED))
				continue;
			g_autofree char *bare =
				wp_compare_part_name(comparison, part, wp_escape_markdown);
			g_autofree char *own = g_strdup_printf("&nbsp;&nbsp;%s", bare);
			write_row(own, part->self_ns, test, part->contribution_ns, out);
		}
	}
	if (n_left)
		wp_out_printf(out, "\n%u more operations, none of them changed.\n", n_left);
}

static void
write_gate(const WpGate *gate, WpOut *out)
{
	gboolean has_title = FALSE;
	for (guint i = 0; gate && i < wp_gate_n_results(gate); i++) {
		const WpGateResult *result = wp_gate_result(gate, i);
		if (!result->is_failed)
			continue;
		if (!has_title)
			wp_out_text(out, "\n**Rules that do not hold**\n\n");
		has_title = TRUE;
		g_autofree char *rule = wp_escape_markdown(result->rule),
				*subject = wp_escape_markdown(result->subject);
		g_autofree char *found = wp_escape_markdown(result->found);
		wp_out_printf(out, "- %s: %s: %s: %s\n", wp_gate_level_names[result->level], rule,
			      subject, found);
	}
}

void
wp_compare_markdown(const WpComparison *comparison, const WpComparePage *page, WpOut *out)
{
	g_autofree char *summary = wp_compare_summary(comparison);
	g_autoptr(GPtrArray) findings =
		wp_compare_findings(comparison, MAX_FINDINGS, wp_escape_markdown);
	g_autoptr(GPtrArray) doubts = wp_compare_doubts(comparison);
	char requests[2][WP_FORMAT_MAX], rate[2][WP_FORMAT_MAX];
	wp_out_printf(out, "### wirepath: %s\n\n%s\n\n", wp_compare_verdict(comparison), summary);
	write_list(findings, out);
	for (guint side = 0; side < 2; side++) {
		const WpComparedSide *own = &comparison->sides[side];
		g_autofree char *label = wp_escape_markdown(own->label);
		wp_out_printf(
			out, "%s%s: %s requests in %u capture%s, %s a second", side ? "; " : "",
			label, wp_format_count(requests[side], own->requests), own->n_captures,
			own->n_captures == 1 ? "" : "s", wp_format_number(rate[side], own->rate));
	}
	wp_out_text(out, ".\n\n");
	write_list(doubts, out);
	write_operations(comparison, page, out);
	g_autoptr(GPtrArray) paths = wp_compare_path_sentences(comparison, wp_escape_markdown);
	if (paths->len) {
		wp_out_text(out, "\n**Paths on one side only**\n\n");
		write_list(paths, out);
	}
	write_gate(page->gate, out);
}
