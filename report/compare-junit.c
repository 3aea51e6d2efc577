/*
 * A comparison as JUnit XML, which CI servers show: a test case a rule and operation where there are rules, else one
 * an operation. "unclear" is skipped, as nothing was found out.
 */
#include <string.h>

#include "report/compare-page.h"
#include "report/compare-words.h"
#include "report/escape.h"
#include "report/gate.h"

/* (transfer full) Safe for an attribute: nothing but printable text, no quotes, no brackets. */
static char *
escape(const char *name)
{
	g_autofree char *safe = wp_escape_terminal(name, TRUE);
	g_autofree char *valid = g_utf8_make_valid(safe, -1);
	return g_markup_escape_text(valid, -1);
}

static void
write_case(const char *class, const char *name, const char *element, const char *message,
	   WpOut *out)
{
	if (!element) {
		wp_out_printf(out, "  <testcase classname=\"%s\" name=\"%s\"/>\n", class, name);
		return;
	}
	wp_out_printf(out,
		      "  <testcase classname=\"%s\" name=\"%s\">\n    <%s message=\"%s\"/>\n"
		      "  </testcase>\n",
		      class, name, element, message);
}

static guint
write_rules(const WpGate *gate, gboolean only_counts, WpOut *out)
{
	guint n = 0;
	for (guint i = 0; i < wp_gate_n_results(gate); i++) {
		const WpGateResult *result = wp_gate_result(gate, i);
		gboolean is_error = result->is_failed && result->level == WP_GATE_ERROR;
		n += is_error;
		if (only_counts)
			continue;
		g_autofree char *rule = escape(result->rule), *subject = escape(result->subject);
		g_autofree char *found = escape(result->found);
		write_case(rule, subject, is_error ? "failure" : NULL, found, out);
	}
	return n;
}

static guint
write_operations(const WpComparison *comparison, gboolean only_counts, WpOut *out)
{
	guint n = 0;
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		const WpComparedOperation *operation = &comparison->operations[i];
		if (operation->is_background)
			continue;
		n += operation->is_worse;
		if (only_counts)
			continue;
		g_autofree char *name = wp_compare_operation_name(comparison, operation, escape);
		g_autofree char *bare = wp_compare_change(&operation->latency);
		g_autofree char *change = escape(bare);
		write_case("compare", name,
			   operation->is_worse                             ? "failure"
			   : operation->verdict == WP_VERDICT_INCONCLUSIVE ? "skipped"
									   : NULL,
			   change, out);
	}
	return n;
}

void
wp_compare_junit(const WpComparison *comparison, const WpComparePage *page, WpOut *out)
{
	gboolean has_rules = page->gate && wp_gate_n_rules(page->gate);
	guint n_cases = 0;
	for (guint32 i = 0; i < comparison->n_operations; i++)
		n_cases += !comparison->operations[i].is_background;
	guint n_failed = has_rules ? write_rules(page->gate, TRUE, out)
				   : write_operations(comparison, TRUE, out);
	if (has_rules)
		n_cases = wp_gate_n_results(page->gate);
	wp_out_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<testsuite name=\"wirepath compare\" tests=\"%u\" failures=\"%u\">\n",
		      n_cases, n_failed);
	if (has_rules)
		write_rules(page->gate, FALSE, out);
	else
		write_operations(comparison, FALSE, out);
	wp_out_text(out, "</testsuite>\n");
}
