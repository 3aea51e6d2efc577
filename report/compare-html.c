/*
 * A comparison as a page to attach: the verdict, what was compared, every operation with two bars, and of each that
 * matters its nodes, how its latencies were spread before and after, and what changed in structure. One file, as
 * write-html.h has it; before is paler and dashed, after
 * darker and solid, so that it can be read on paper as well.
 */
#include <math.h>
#include <string.h>

#include "report/compare-page.h"
#include "report/compare-words.h"
#include "report/escape.h"
#include "report/format.h"
#include "report/write-html.h"

#define MAX_FINDINGS   20
#define MAX_OPERATIONS 1000 /* rows of the table */
#define MAX_DETAILS    50 /* operations with a part of their own, which all that changed have first */
#define NAME_WIDTH     48
#define LABEL_WIDTH    80

typedef struct {
	const WpComparison *comparison;
	const WpComparePage *page;
	WpHtml html;
} Writer;

/* Short enough for a sentence, safe for the eye; what is special in HTML is escaped with the sentence. */
static char *
shorten_name(const char *name)
{
	g_autofree char *safe = wp_escape_terminal(name, TRUE);
	return wp_escape_shorten(safe, LABEL_WIDTH);
}

static gboolean
has_detail(const WpComparison *comparison, guint32 i)
{
	return i < MAX_DETAILS && comparison->operations[i].latency.is_tested;
}

/* --- verdict --- */

static const char *
class_of(WpVerdict verdict, gboolean is_worse)
{
	if (verdict == WP_VERDICT_CHANGED)
		return is_worse ? "found" : "clean";
	return verdict == WP_VERDICT_SAME ? "clean" : "undecided";
}

static void
write_sentences(const Writer *writer, GPtrArray *sentences, const char *class)
{
	for (guint i = 0; i < sentences->len; i++) {
		wp_out_printf(writer->html.out, "<li class=\"%s\">", class);
		wp_html_text(&writer->html, sentences->pdata[i], 0);
		wp_out_text(writer->html.out, "</li>\n");
	}
}

static void
write_verdict(const Writer *writer)
{
	const WpComparison *comparison = writer->comparison;
	WpOut *out = writer->html.out;
	g_autofree char *summary = wp_compare_summary(comparison);
	g_autofree char *word = g_ascii_strup(wp_compare_verdict(comparison), -1);
	g_autoptr(GPtrArray) findings = wp_compare_findings(comparison, MAX_FINDINGS, shorten_name);
	g_autoptr(GPtrArray) doubts = wp_compare_doubts(comparison);
	wp_out_printf(out,
		      "<section id=\"look\">\n<h2>Verdict</h2>\n<ul class=\"findings\">\n"
		      "<li class=\"%s\"><strong class=\"verdict\">%s</strong> ",
		      class_of(comparison->verdict, comparison->is_worse), word);
	wp_html_text(&writer->html, summary, 0);
	wp_out_text(out, "</li>\n");
	write_sentences(writer, findings, "part");
	write_sentences(writer, doubts, "undecided");
	wp_out_text(out, "</ul>\n</section>\n");
}

static void
write_header(const Writer *writer)
{
	static const char *const parts[][2] = {
		{ "look", "Verdict" },          { "sides", "What was compared" },
		{ "operations", "Operations" }, { "structure", "Structure" },
		{ "rules", "Rules" },           { "method", "What the numbers mean" },
	};
	const WpComparedSide *sides = writer->comparison->sides;
	WpOut *out = writer->html.out;
	g_autofree char *title = g_strdup_printf("%s, %s", sides[0].label, sides[1].label);
	wp_html_begin(&writer->html, title);
	wp_out_text(out,
		    "<a class=\"skip\" href=\"#look\">Skip to the verdict</a>\n<header>\n<h1>");
	wp_html_text(&writer->html, sides[0].label, NAME_WIDTH);
	wp_out_text(out, " \342\206\222 ");
	wp_html_text(&writer->html, sides[1].label, NAME_WIDTH);
	wp_out_text(out, "</h1>\n<p class=\"facts\">What changed between captures before and "
			 "captures after.</p>\n</header>\n");
	wp_html_navigation(&writer->html, parts, G_N_ELEMENTS(parts));
}

/* --- tables --- */

/* HEADINGS with NULL after them. ID or NULL. */
static void
begin_table(const Writer *writer, const char *id, const char *caption, const char *const *headings)
{
	WpOut *out = writer->html.out;
	wp_out_text(out, "<div class=\"wide\" tabindex=\"0\"><table class=\"sortable\"");
	if (id)
		wp_out_printf(out, " id=\"%s\"", id);
	wp_out_printf(out, ">\n<caption>%s</caption>\n<thead><tr>", caption);
	for (; *headings; headings++)
		wp_out_printf(out, "<th scope=\"col\">%s</th>", *headings);
	wp_out_text(out, "</tr></thead>\n<tbody>\n");
}

static void
end_table(const Writer *writer)
{
	wp_out_text(writer->html.out, "</tbody>\n</table></div>\n");
}

static void
write_text_cell(const Writer *writer, const char *text)
{
	wp_out_text(writer->html.out, "<td>");
	wp_html_text(&writer->html, text, 0);
	wp_out_text(writer->html.out, "</td>");
}

static void
write_number_cell(const Writer *writer, double number)
{
	char text[WP_FORMAT_MAX];
	wp_html_cell(&writer->html, number, 6, wp_format_number(text, number));
}

static void
write_signed_time_cell(const Writer *writer, double ns)
{
	char time[WP_FORMAT_MAX], text[WP_FORMAT_MAX];
	g_snprintf(text, sizeof text, "%s%s", ns < 0 ? "-" : "+", wp_format_time(time, fabs(ns)));
	wp_html_cell(&writer->html, ns, 0, ns == 0 ? "0" : text);
}

static const char *
tell_class(const WpTest *test)
{
	if (!test || !test->is_tested || test->verdict != WP_VERDICT_CHANGED)
		return "";
	return wp_test_is_worse(test) ? " class=\"worse\"" : " class=\"better\"";
}

/* How much, and the word for it. */
static void
write_test_cells(const Writer *writer, const WpTest *test)
{
	if (!test || !test->is_tested) {
		wp_out_text(writer->html.out, "<td></td><td></td>");
		return;
	}
	g_autofree char *change = wp_compare_change(test);
	g_autoptr(GString) safe = g_string_new(NULL);
	wp_escape_html_to(safe, change);
	if (isfinite(test->change))
		wp_html_cell(&writer->html, test->change, 6, safe->str);
	else
		wp_out_printf(writer->html.out, "<td>%s</td>", safe->str);
	wp_out_printf(writer->html.out, "<td%s>%s</td>", tell_class(test), wp_compare_word(test));
}

#define BAR_WIDTH  140
#define BAR_HEIGHT 7

/* Two bars, before above after; the whole width is MOST. What they say stands in the cells beside. */
static void
write_bars_cell(const Writer *writer, const double means[2], double most)
{
	static const char *const looks[] = { "class=\"before\" fill=\"#56b4e9\"",
					     "class=\"after\" fill=\"#7a3b00\"" };
	WpOut *out = writer->html.out;
	wp_out_printf(out, "<td><svg aria-hidden=\"true\" width=\"%d\" height=\"%d\">", BAR_WIDTH,
		      2 * BAR_HEIGHT + 2);
	for (guint side = 0; side < 2; side++) {
		double width = most > 0 ? means[side] / most * BAR_WIDTH : 0;
		if (means[side] <= 0)
			continue;
		wp_out_printf(out, "<rect %s", looks[side]);
		wp_html_box(&writer->html, 0, side * (BAR_HEIGHT + 1), MAX(width, 1), BAR_HEIGHT);
		wp_out_text(out, "/>");
	}
	wp_out_text(out, "</svg></td>");
}

/* --- what was compared --- */

static void
write_sides(const Writer *writer)
{
	static const char *const headings[] = {
		"side",     "captures",     "requests",  "calls",       "length",
		"a second", "packets lost", "unmatched", "links right", NULL
	};
	const WpComparison *comparison = writer->comparison;
	const WpHtml *html = &writer->html;
	wp_out_text(html->out, "<section id=\"sides\">\n<h2>What was compared</h2>\n");
	if (!comparison->is_comparable)
		wp_out_text(html->out,
			    "<p class=\"note\"><strong>They cannot be compared</strong>: "
			    "see the verdict.</p>\n");
	begin_table(writer, NULL, "Both sides", headings);
	for (guint side = 0; side < 2; side++) {
		const WpComparedSide *own = &comparison->sides[side];
		wp_out_text(html->out, "<tr><th scope=\"row\">");
		wp_html_text(html, own->label, NAME_WIDTH);
		wp_out_text(html->out, "</th>");
		wp_html_count_cell(html, own->n_captures);
		wp_html_count_cell(html, own->requests);
		wp_html_count_cell(html, own->calls);
		wp_html_time_cell(html, TRUE, own->length_ns);
		write_number_cell(writer, own->rate);
		if (own->loss < 0)
			wp_out_text(html->out, "<td>?</td>");
		else
			wp_html_share_cell(html, own->loss);
		wp_html_share_cell(html, own->unmatched);
		wp_html_share_cell(html, own->right);
		wp_out_text(html->out, "</tr>\n");
	}
	end_table(writer);
	wp_out_text(html->out, "</section>\n");
}

/* --- one operation --- */

static void
write_operation_name(const Writer *writer, const WpComparedOperation *operation)
{
	const WpRoles *roles = writer->comparison->roles;
	const WpHtml *html = &writer->html;
	if (*operation->label) {
		wp_out_text(html->out, "<b>");
		wp_html_text(html, operation->label, LABEL_WIDTH);
		wp_out_text(html->out, "</b> ");
	}
	wp_out_text(html->out, "<span class=\"who\">");
	wp_html_text(html, wp_role_name(roles, operation->client), NAME_WIDTH);
	wp_out_text(html->out, " \342\206\222 ");
	wp_html_text(html, wp_role_name(roles, operation->role), NAME_WIDTH);
	wp_out_text(html->out, "</span>");
}

static void
write_part(const Writer *writer, const WpComparedPart *part, double most)
{
	const WpHtml *html = &writer->html;
	const WpTest *first = wp_compare_part_test(part), *calls = &part->tests[WP_TEST_CALLS];
	gboolean is_hot = first && first->verdict == WP_VERDICT_CHANGED && wp_test_is_worse(first);
	wp_out_printf(html->out, "<tr%s><th scope=\"row\"><b>", is_hot ? " class=\"hot\"" : "");
	wp_html_text(html, wp_role_name(writer->comparison->roles, part->role), NAME_WIDTH);
	wp_out_text(html->out, "</b> ");
	wp_html_text(html, part->label, LABEL_WIDTH);
	wp_out_text(html->out, "</th>");
	write_number_cell(writer, part->calls_a_request[0]);
	write_number_cell(writer, part->calls_a_request[1]);
	wp_out_printf(html->out, "<td%s>%s</td>", tell_class(calls),
		      calls->is_tested ? wp_compare_word(calls) : "");
	wp_html_time_cell(html, part->calls[0] > 0, part->self_ns[0]);
	wp_html_time_cell(html, part->calls[1] > 0, part->self_ns[1]);
	write_bars_cell(writer, part->self_ns, most);
	write_test_cells(writer, wp_compare_time_test(part));
	write_text_cell(writer, wp_compare_cause(part));
	write_signed_time_cell(writer, part->contribution_ns);
	wp_out_text(html->out, "</tr>\n");
}

static void
write_parts(const Writer *writer, const WpComparedOperation *operation)
{
	static const char *const headings[] = {
		"node, and call", "calls before", "after",   "calls", "self before", "after",
		"bars",           "change",       "verdict", "is",    "in all",      NULL
	};
	double most = 0;
	for (guint32 i = 0; i < operation->n_parts; i++)
		for (guint side = 0; side < 2; side++)
			most = MAX(most, operation->parts[i].self_ns[side]);
	begin_table(writer, NULL, "Calls a request, and self time a call, of each node", headings);
	for (guint32 i = 0; i < operation->n_parts; i++)
		write_part(writer, &operation->parts[i], most);
	end_table(writer);
}

#define CURVE_WIDTH  640
#define CURVE_HEIGHT 150
#define CURVE_LEFT   44
#define CURVE_TOP    8
#define CURVE_BOTTOM 34

typedef struct {
	double low_ns;
	double high_ns;
} Range;

static Range
range_of(const WpComparedOperation *operation)
{
	Range range = { INFINITY, 0 };
	for (guint side = 0; side < 2; side++)
		for (guint i = 0; i < operation->bins[side]->len; i++) {
			const WpDigestBin *bin =
				&g_array_index(operation->bins[side], WpDigestBin, i);
			range.low_ns = MIN(range.low_ns, MAX((double)bin->low_ns, 1));
			range.high_ns = MAX(range.high_ns, (double)bin->high_ns);
		}
	return range;
}

static double
x_of(const Range *range, double ns)
{
	double span = log(range->high_ns / range->low_ns);
	return CURVE_LEFT +
	       CURVE_WIDTH * log(CLAMP(ns, range->low_ns, range->high_ns) / range->low_ns) / span;
}

static double
y_of(double share)
{
	return CURVE_TOP + (1 - share) * CURVE_HEIGHT;
}

static void
write_point(const Writer *writer, double x, double y)
{
	wp_html_number(&writer->html, x, 1);
	wp_out_char(writer->html.out, ',');
	wp_html_number(&writer->html, y, 1);
	wp_out_char(writer->html.out, ' ');
}

static void
write_line(const Writer *writer, const GArray *bins, const Range *range, guint side)
{
	guint64 count = 0, seen = 0;
	double last = -1;
	for (guint i = 0; i < bins->len; i++)
		count += g_array_index(bins, WpDigestBin, i).count;
	wp_out_printf(writer->html.out,
		      "<polyline class=\"line %s\" fill=\"none\" stroke=\"%s\" "
		      "stroke-width=\"2\"%s points=\"",
		      side ? "after" : "before", side ? "#7a3b00" : "#2f8fca",
		      side ? "" : " stroke-dasharray=\"6 3\"");
	for (guint i = 0; i < bins->len; i++) {
		const WpDigestBin *bin = &g_array_index(bins, WpDigestBin, i);
		double low = x_of(range, (double)bin->low_ns);
		if (low > last + 0.1)
			write_point(writer, low, y_of((double)seen / (double)count));
		seen += bin->count;
		last = x_of(range, (double)bin->high_ns);
		write_point(writer, last, y_of((double)seen / (double)count));
	}
	wp_out_text(writer->html.out, "\"/>\n");
}

static void
write_axes(const Writer *writer, const Range *range)
{
	static const double levels[] = { 0, 0.5, 0.95, 1 };
	static const char *const names[] = { "0", "50%", "95%", "" };
	WpOut *out = writer->html.out;
	for (gsize i = 0; i < G_N_ELEMENTS(levels); i++) {
		wp_out_printf(out,
			      "<line stroke=\"#888\" stroke-opacity=\"0.5\" x1=\"%d\" x2=\"%d\"",
			      CURVE_LEFT, CURVE_LEFT + CURVE_WIDTH);
		wp_html_attribute(&writer->html, "y1", y_of(levels[i]));
		wp_html_attribute(&writer->html, "y2", y_of(levels[i]));
		wp_out_printf(out, "/><text x=\"%d\" text-anchor=\"end\"", CURVE_LEFT - 4);
		wp_html_attribute(&writer->html, "y", y_of(levels[i]) + 4);
		wp_out_printf(out, ">%s</text>\n", names[i]);
	}
	for (int i = 0; i <= 4; i++) {
		char time[WP_FORMAT_MAX];
		double ns = range->low_ns * pow(range->high_ns / range->low_ns, i / 4.0);
		wp_out_printf(out, "<text class=\"tick\" y=\"%d\" text-anchor=\"%s\"",
			      CURVE_TOP + CURVE_HEIGHT + 14,
			      i == 0   ? "start"
			      : i == 4 ? "end"
				       : "middle");
		wp_html_attribute(&writer->html, "x", x_of(range, ns));
		wp_out_printf(out, ">%s</text>\n", wp_format_time(time, ns));
	}
}

/* Which share of the requests took at most so long, before and after. */
static void
write_curves(const Writer *writer, const WpComparedOperation *operation)
{
	const WpHtml *html = &writer->html;
	const WpComparedSide *sides = writer->comparison->sides;
	const Range range = range_of(operation);
	if (!(range.high_ns > range.low_ns))
		return;
	wp_out_printf(
		html->out,
		"<h4>Latency: share of the requests that took at most so long</h4>\n"
		"<div class=\"wide\" tabindex=\"0\"><svg class=\"curve\" role=\"img\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" font-size=\"11\" "
		"font-family=\"sans-serif\" fill=\"currentColor\"><title>Shares of requests "
		"by latency, logarithmic: before dashed, after solid; the table below has "
		"the quantiles</title>\n",
		CURVE_LEFT + CURVE_WIDTH + 10, CURVE_TOP + CURVE_HEIGHT + CURVE_BOTTOM,
		CURVE_LEFT + CURVE_WIDTH + 10, CURVE_TOP + CURVE_HEIGHT + CURVE_BOTTOM);
	write_axes(writer, &range);
	for (guint side = 0; side < 2; side++) {
		int x = CURVE_LEFT + (int)side * CURVE_WIDTH / 2, y = CURVE_TOP + CURVE_HEIGHT + 30;
		write_line(writer, operation->bins[side], &range, side);
		wp_out_printf(html->out,
			      "<line class=\"line %s\" stroke=\"%s\" stroke-width=\"2\"%s "
			      "x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/><text x=\"%d\" y=\"%d\">",
			      side ? "after" : "before", side ? "#7a3b00" : "#2f8fca",
			      side ? "" : " stroke-dasharray=\"6 3\"", x, x + 30, y - 4, y - 4,
			      x + 36, y);
		wp_html_text(html, sides[side].label, NAME_WIDTH / 2);
		wp_out_text(html->out, "</text>\n");
	}
	wp_out_text(html->out, "</svg></div>\n");
}

static void
write_quantiles(const Writer *writer, const WpComparedOperation *operation)
{
	static const char *const headings[] = { "latency", "before", "after", "difference", NULL };
	const struct {
		const char *name;
		const double *ns;
	} rows[] = { { "mean", operation->mean_ns },
		     { "p50", operation->p50_ns },
		     { "p95", operation->p95_ns },
		     { "p99", operation->p99_ns } };
	begin_table(writer, NULL, "As measured; the verdict is on the mean", headings);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		gboolean has_both = operation->requests[0] && operation->requests[1];
		wp_out_printf(writer->html.out, "<tr><th scope=\"row\">%s</th>", rows[i].name);
		for (guint side = 0; side < 2; side++)
			wp_html_time_cell(&writer->html, operation->requests[side] > 0,
					  rows[i].ns[side]);
		if (has_both)
			write_signed_time_cell(writer, rows[i].ns[1] - rows[i].ns[0]);
		else
			wp_out_text(writer->html.out, "<td></td>");
		wp_out_text(writer->html.out, "</tr>\n");
	}
	end_table(writer);
}

static void
write_detail(const Writer *writer, guint32 i)
{
	const WpComparedOperation *operation = &writer->comparison->operations[i];
	WpOut *out = writer->html.out;
	gboolean is_changed = operation->verdict == WP_VERDICT_CHANGED;
	wp_out_printf(out, "<details class=\"pattern\" id=\"o%u\"%s>\n<summary><h3>", i + 1,
		      is_changed ? " open" : "");
	write_operation_name(writer, operation);
	wp_out_printf(out, "</h3><span class=\"sum\">%s</span></summary>\n",
		      is_changed && operation->latency.verdict != WP_VERDICT_CHANGED
			      ? "changed inside"
			      : wp_compare_word(&operation->latency));
	write_parts(writer, operation);
	write_curves(writer, operation);
	write_quantiles(writer, operation);
	wp_out_text(out, "</details>\n");
}

/* --- operations --- */

static void
write_operation(const Writer *writer, guint32 i, double most)
{
	const WpComparedOperation *operation = &writer->comparison->operations[i];
	const WpHtml *html = &writer->html;
	gboolean is_hot = operation->verdict == WP_VERDICT_CHANGED && operation->is_worse;
	wp_out_printf(html->out, "<tr%s><th scope=\"row\">", is_hot ? " class=\"hot\"" : "");
	if (has_detail(writer->comparison, i))
		wp_out_printf(html->out, "<a href=\"#o%u\">#%u</a> ", i + 1, i + 1);
	write_operation_name(writer, operation);
	if (operation->is_background)
		wp_out_text(html->out, " <em>waits by design</em>");
	wp_out_text(html->out, "</th>");
	for (guint side = 0; side < 2; side++)
		wp_html_count_cell(html, operation->requests[side]);
	for (guint side = 0; side < 2; side++)
		wp_html_time_cell(html, operation->requests[side] > 0, operation->mean_ns[side]);
	write_bars_cell(writer, operation->mean_ns, most);
	write_test_cells(writer, &operation->latency);
	for (guint side = 0; side < 2; side++)
		wp_html_share_cell(html, operation->errors[side]);
	write_signed_time_cell(writer, operation->contribution_ns);
	wp_out_text(html->out, "</tr>\n");
}

static void
write_operations(const Writer *writer)
{
	static const char *const headings[] = { "request",     "requests before", "after",
						"mean before", "after",           "bars",
						"change",      "verdict",         "errors before",
						"after",       "in all",          NULL };
	const WpComparison *comparison = writer->comparison;
	guint32 n = MIN(comparison->n_operations, MAX_OPERATIONS);
	double most = 0;
	for (guint32 i = 0; i < n; i++)
		for (guint side = 0; side < 2 && !comparison->operations[i].is_background; side++)
			most = MAX(most, comparison->operations[i].mean_ns[side]);
	wp_out_text(writer->html.out, "<section id=\"operations\">\n<h2>Operations</h2>\n");
	begin_table(writer, "operation-table",
		    "Requests by their first call: mean latency; bars: before above after",
		    headings);
	for (guint32 i = 0; i < n; i++)
		write_operation(writer, i, most);
	end_table(writer);
	if (n < comparison->n_operations)
		wp_out_printf(writer->html.out, "<p>... and %u more.</p>\n",
			      comparison->n_operations - n);
	for (guint32 i = 0; i < n; i++)
		if (has_detail(comparison, i))
			write_detail(writer, i);
	wp_out_text(writer->html.out, "</section>\n");
}

/* --- structure --- */

static gboolean
has_changed(const WpTest *test)
{
	return test->kind == WP_TEST_CALLS && test->is_tested &&
	       test->verdict == WP_VERDICT_CHANGED;
}

static void
write_structure_row(const Writer *writer, const WpTest *test, const char *scale,
		    const WpComparedOperation *operation, const WpComparedPart *part)
{
	const WpHtml *html = &writer->html;
	wp_out_printf(html->out, "<tr><th scope=\"row\">%s</th><td>", wp_compare_word(test));
	if (part) {
		wp_out_text(html->out, "<b>");
		wp_html_text(html, wp_role_name(writer->comparison->roles, part->role), NAME_WIDTH);
		wp_out_text(html->out, "</b> ");
		wp_html_text(html, part->label, LABEL_WIDTH);
		wp_out_text(html->out, " in ");
	}
	write_operation_name(writer, operation);
	wp_out_text(html->out, "</td>");
	write_number_cell(writer, test->shift.before);
	write_number_cell(writer, test->shift.after);
	wp_out_printf(html->out, "<td>%s</td></tr>\n", scale);
}

static void
write_kind_row(const Writer *writer, const WpComparedKind *kind)
{
	const WpHtml *html = &writer->html;
	wp_out_printf(html->out, "<tr><th scope=\"row\">%s</th><td><b>",
		      kind->side ? "new" : "gone");
	wp_html_text(html, wp_role_name(writer->comparison->roles, kind->role), NAME_WIDTH);
	wp_out_text(html->out, "</b> ");
	wp_html_text(html, kind->label, LABEL_WIDTH);
	wp_out_text(html->out, " in all operations together</td>");
	write_number_cell(writer, kind->side ? 0 : kind->calls_a_request);
	write_number_cell(writer, kind->side ? kind->calls_a_request : 0);
	wp_out_text(html->out, "<td>calls a request</td></tr>\n");
}

static void
begin_structure(const Writer *writer)
{
	static const char *const headings[] = {
		"what", "of", "before", "after", "counted as", NULL
	};
	begin_table(writer, NULL, "What is called more or less often", headings);
}

/* Every change of who is called how often; as a table where there is any. */
static void
write_structure(const Writer *writer)
{
	const WpComparison *comparison = writer->comparison;
	gboolean has_table = FALSE;
	wp_out_text(writer->html.out, "<section id=\"structure\">\n<h2>Structure</h2>\n");
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		const WpComparedOperation *operation = &comparison->operations[i];
		for (guint32 k = 0; k <= operation->n_parts; k++) {
			const WpComparedPart *part = k ? &operation->parts[k - 1] : NULL;
			const WpTest *test =
				part ? &part->tests[WP_TEST_CALLS] : &operation->latency;
			if (!has_changed(test))
				continue;
			if (!has_table)
				begin_structure(writer);
			has_table = TRUE;
			write_structure_row(writer, test,
					    part ? "calls a request" : "share of the requests",
					    operation, part);
		}
	}
	if (!has_table && comparison->n_kinds)
		begin_structure(writer);
	for (guint32 i = 0; i < comparison->n_kinds; i++)
		write_kind_row(writer, &comparison->kinds[i]);
	if (has_table || comparison->n_kinds)
		end_table(writer);
	else
		wp_out_text(writer->html.out, "<p>The same operations, and the same calls in them, "
					      "as far as these captures can show.</p>\n");
	g_autoptr(GPtrArray) paths = wp_compare_path_sentences(comparison, shorten_name);
	if (paths->len) {
		wp_out_text(
			writer->html.out,
			"<h3>Paths on one side only, beside the nearest on the other</h3>\n<ul>\n");
		write_sentences(writer, paths, "path");
		wp_out_text(writer->html.out, "</ul>\n");
	}
	wp_out_text(writer->html.out, "</section>\n");
}

/* --- rules --- */

static void
write_rules(const Writer *writer)
{
	static const char *const headings[] = { "rule", "of", "found", "level", "holds", NULL };
	const WpGate *gate = writer->page->gate;
	const WpHtml *html = &writer->html;
	wp_out_text(html->out, "<section id=\"rules\">\n<h2>Rules</h2>\n");
	if (!gate || !wp_gate_n_rules(gate)) {
		wp_out_text(html->out, "<p>None were given (--fail-on, --budget).</p>\n"
				       "</section>\n");
		return;
	}
	begin_table(writer, NULL, "What was asked of which operation", headings);
	for (guint i = 0; i < wp_gate_n_results(gate); i++) {
		const WpGateResult *result = wp_gate_result(gate, i);
		wp_out_printf(html->out, "<tr%s><th scope=\"row\">",
			      result->is_failed ? " class=\"failed\"" : "");
		wp_html_text(html, result->rule, LABEL_WIDTH);
		wp_out_text(html->out, "</th><td>");
		wp_html_text(html, result->subject, LABEL_WIDTH + NAME_WIDTH);
		wp_out_text(html->out, "</td>");
		write_text_cell(writer, result->found);
		write_text_cell(writer, wp_gate_level_names[result->level]);
		wp_out_printf(html->out, "<td>%s</td></tr>\n", result->is_failed ? "no" : "yes");
	}
	end_table(writer);
	wp_out_text(html->out, "</section>\n");
}

/* --- what the numbers mean --- */

static void
write_method(const Writer *writer)
{
	const WpCompareOptions *options = &writer->comparison->options;
	const WpHtml *html = &writer->html;
	char least[WP_FORMAT_MAX], risk[WP_FORMAT_MAX], coarse[WP_FORMAT_MAX];
	wp_out_printf(
		html->out,
		"<section id=\"method\">\n<h2>What the numbers mean</h2>\n<dl>\n<dt>latency</dt>"
		"<dd>from the first byte of a call to the last byte of its return</dd>\n<dt>self "
		"time</dt><dd>the part of it in which none of the node's own calls is open</dd>\n"
		"<dt>work, waiting</dt><dd>what of a change is there also at moments at which the "
		"node had as many calls in hand, and what is not: waiting for a worker, a lock, a "
		"connection</dd>\n<dt>change</dt><dd>after / before - 1 with the interval that "
		"holds it but for the risk; in brackets: nothing was seen, and a change of so much "
		"would have been, 4 times of 5</dd>\n<dt>in all</dt><dd>the change of the mean "
		"times the requests after</dd>\n<dt>changed</dt><dd>beyond chance and beyond %s "
		"(--min-change). Of comparisons of a system with itself %s call anything changed "
		"(--risk): %u tests of this page are judged together, by Holm's procedure</dd>\n"
		"<dt>unclear</dt><dd>too few requests for a verdict, or a change of %s "
		"(--resolution) would not have been seen</dd>\n<dt>unmatched</dt><dd>share of "
		"calls "
		"without a return, or whose caller's call is not there</dd>\n<dt>links right</dt>"
		"<dd>share of calls that can be expected to hang under the right caller; intervals "
		"allow for the others</dd>\n</dl>\n</section>\n",
		wp_html_share(least, options->min_change), wp_html_share(risk, options->risk),
		writer->comparison->n_tests, wp_html_share(coarse, options->resolution));
}

void
wp_compare_html(const WpComparison *comparison, const WpComparePage *page, WpOut *out)
{
	const Writer writer = { comparison, page, { .out = out } };
	write_header(&writer);
	write_verdict(&writer);
	write_sides(&writer);
	write_operations(&writer);
	write_structure(&writer);
	write_rules(&writer);
	write_method(&writer);
	wp_html_end(&writer.html);
}
