/* Sentences of a comparison. */
#include "report/compare-words.h"

#include <math.h>
#include <string.h>

const char *
wp_compare_percent(char *buffer, double change)
{
	char number[WP_FORMAT_MAX];
	if (!isfinite(change))
		return change > 0 ? "any" : "-100%";
	if (change >= 9) {
		wp_format_number(number, 1 + change);
		g_snprintf(buffer, WP_FORMAT_MAX, "x%s", number);
		return buffer;
	}
	wp_format_share(number, fabs(change));
	g_snprintf(buffer, WP_FORMAT_MAX, "%s%s", change < 0 ? "-" : "+", number);
	return buffer;
}

static const char *
signed_number(char *buffer, double value)
{
	char number[WP_FORMAT_MAX];
	if (!isfinite(value))
		return value > 0 ? "any" : "less";
	g_snprintf(buffer, WP_FORMAT_MAX, "%s%s", value < 0 ? "-" : "+",
		   wp_format_number(number, fabs(value)));
	return buffer;
}

static const char *
change_of(const WpTest *test, char *buffer, double value)
{
	return test->kind == WP_TEST_CALLS ? signed_number(buffer, value)
					   : wp_compare_percent(buffer, value);
}

char *
wp_compare_change(const WpTest *test)
{
	char best[WP_FORMAT_MAX], low[WP_FORMAT_MAX], high[WP_FORMAT_MAX];
	if (test->verdict == WP_VERDICT_CHANGED || test->why == WP_WHY_LIKELY ||
	    test->why == WP_WHY_SMALL) {
		if (!isfinite(test->low) || test->shift.error == 0)
			return g_strdup(change_of(test, best, test->change));
		return g_strdup_printf("%s [%s, %s]", change_of(test, best, test->change),
				       change_of(test, low, test->low),
				       change_of(test, high, test->high));
	}
	if (!isfinite(test->detectable))
		return g_strdup("?");
	return g_strdup_printf("(<%s)",
			       change_of(test, best, test->detectable) + (test->detectable < 9));
}

const char *
wp_compare_word(const WpTest *test)
{
	static const char *const more[WP_N_TESTS] = { "slower", "more work", "slower", "more calls",
						      "slower" };
	static const char *const less[WP_N_TESTS] = { "faster", "less work", "faster",
						      "fewer calls", "faster" };
	if (test->verdict == WP_VERDICT_SAME)
		return "same";
	if (test->verdict == WP_VERDICT_INCONCLUSIVE)
		return "unclear";
	if (test->kind == WP_TEST_CALLS && test->shift.before == 0)
		return "new";
	if (test->kind == WP_TEST_CALLS && test->shift.after == 0)
		return "gone";
	return test->change > 0 ? more[test->kind] : less[test->kind];
}

const char *
wp_compare_verdict(const WpComparison *comparison)
{
	if (comparison->verdict != WP_VERDICT_CHANGED)
		return wp_verdict_names[comparison->verdict];
	if (!comparison->by_captures)
		return "different";
	return comparison->is_worse ? "regressed" : "changed";
}

char *
wp_compare_summary(const WpComparison *comparison)
{
	guint n[WP_N_VERDICTS] = { 0 }, n_all = 0;
	for (guint32 i = 0; i < comparison->n_operations; i++)
		if (!comparison->operations[i].is_background) {
			n[comparison->operations[i].verdict]++;
			n_all++;
		}
	GString *text = g_string_new(NULL);
	if (comparison->against[WP_AGAINST_EMPTY])
		g_string_append_printf(text, "there is no request %s.",
				       comparison->sides[0].requests ? "after" : "before");
	else if (comparison->against[WP_AGAINST_STRANGE])
		g_string_append(text, "no operation is on both sides.");
	else
		g_string_append_printf(text,
				       "%u of %u operation%s changed, %u the same, %u unclear.",
				       n[WP_VERDICT_CHANGED], n_all, n_all == 1 ? "" : "s",
				       n[WP_VERDICT_SAME], n[WP_VERDICT_INCONCLUSIVE]);
	if (comparison->n_kinds)
		g_string_append_printf(text, " %u kind%s of call on one side only.",
				       comparison->n_kinds, comparison->n_kinds == 1 ? "" : "s");
	if (!comparison->by_captures && comparison->verdict == WP_VERDICT_CHANGED)
		g_string_append(text, " These captures differ; what captures of one system differ "
				      "by, three or more a side would show.");
	return g_string_free(text, FALSE);
}

char *
wp_compare_operation_name(const WpComparison *comparison, const WpComparedOperation *operation,
			  WpNameFunc escape)
{
	g_autofree char *label = escape(operation->label);
	g_autofree char *client = escape(wp_role_name(comparison->roles, operation->client));
	g_autofree char *node = escape(wp_role_name(comparison->roles, operation->role));
	return *label ? g_strdup_printf("%s  %s > %s", label, client, node)
		      : g_strdup_printf("%s > %s", client, node);
}

char *
wp_compare_part_name(const WpComparison *comparison, const WpComparedPart *part, WpNameFunc escape)
{
	g_autofree char *label = escape(part->label);
	g_autofree char *node = escape(wp_role_name(comparison->roles, part->role));
	return *label ? g_strdup_printf("%s  %s", node, label) : g_strdup(node);
}

static gboolean
has_changed(const WpTest *test)
{
	return test->is_tested && test->verdict == WP_VERDICT_CHANGED;
}

const WpTest *
wp_compare_part_test(const WpComparedPart *part)
{
	static const WpTestKind order[] = { WP_TEST_WORK, WP_TEST_SELF, WP_TEST_CALLS,
					    WP_TEST_NETWORK };
	for (guint i = 0; i < G_N_ELEMENTS(order); i++)
		if (has_changed(&part->tests[order[i]]))
			return &part->tests[order[i]];
	for (guint i = 0; i < G_N_ELEMENTS(order); i++)
		if (part->tests[order[i]].is_tested)
			return &part->tests[order[i]];
	return NULL;
}

const WpTest *
wp_compare_time_test(const WpComparedPart *part)
{
	const WpTest *work = &part->tests[WP_TEST_WORK], *self = &part->tests[WP_TEST_SELF];
	return has_changed(self) && !has_changed(work) ? self : work;
}

/* Less of the change than this share is not worth a word. */
#define MIN_CAUSE 0.15

const char *
wp_compare_cause(const WpComparedPart *part)
{
	gboolean has_work = has_changed(&part->tests[WP_TEST_WORK]);
	gboolean has_self = has_changed(&part->tests[WP_TEST_SELF]);
	double all = fabs(part->work_ns) + fabs(part->wait_ns);
	if (has_self && !has_work)
		return part->tests[WP_TEST_WORK].verdict == WP_VERDICT_SAME ? "waiting" : "";
	if (!has_work || !(all > 0))
		return "";
	return fabs(part->wait_ns) > MIN_CAUSE * all ? "work and waiting" : "work";
}

static const char *
signed_time(char *buffer, double ns)
{
	char time[WP_FORMAT_MAX];
	/* Times are whole nanoseconds: what is less is what rounding left. */
	if (fabs(ns) < 0.5)
		return "0";
	g_snprintf(buffer, WP_FORMAT_MAX, "%s%s", ns < 0 ? "-" : "+",
		   wp_format_time(time, fabs(ns)));
	return buffer;
}

static char *
find_operation(const WpComparison *comparison, const WpComparedOperation *operation,
	       WpNameFunc escape)
{
	char before[WP_FORMAT_MAX], after[WP_FORMAT_MAX];
	const WpTest *test = &operation->latency;
	g_autofree char *name = wp_compare_operation_name(comparison, operation, escape);
	if (test->kind == WP_TEST_CALLS)
		return g_strdup_printf("%s: %s: %s of the requests before, %s after.", name,
				       wp_compare_word(test),
				       wp_format_share(before, operation->share[0]),
				       wp_format_share(after, operation->share[1]));
	g_autofree char *change = wp_compare_change(test);
	return g_strdup_printf("%s: %s: mean %s before, %s after, %s.", name, wp_compare_word(test),
			       wp_format_time(before, operation->mean_ns[0]),
			       wp_format_time(after, operation->mean_ns[1]), change);
}

static char *
find_calls(const WpComparison *comparison, const WpComparedPart *part, WpNameFunc escape)
{
	char before[WP_FORMAT_MAX], after[WP_FORMAT_MAX];
	g_autofree char *name = wp_compare_part_name(comparison, part, escape);
	const WpTest *test = &part->tests[WP_TEST_CALLS];
	if (test->shift.before == 0)
		return g_strdup_printf("%s: new: called %s times a request.", name,
				       wp_format_number(after, test->shift.after));
	if (test->shift.after == 0)
		return g_strdup_printf("%s: gone: was called %s times a request.", name,
				       wp_format_number(before, test->shift.before));
	return g_strdup_printf("%s: called %s times a request instead of %s.", name,
			       wp_format_number(after, test->shift.after),
			       wp_format_number(before, test->shift.before));
}

static char *
find_time(const WpComparison *comparison, const WpComparedPart *part, const WpTest *test,
	  WpNameFunc escape)
{
	char before[WP_FORMAT_MAX], after[WP_FORMAT_MAX], work[WP_FORMAT_MAX], wait[WP_FORMAT_MAX];
	g_autofree char *name = wp_compare_part_name(comparison, part, escape);
	g_autofree char *change = wp_compare_change(test);
	const char *cause = wp_compare_cause(part);
	GString *text = g_string_new(NULL);
	g_string_append_printf(text, "%s: self time %s before, %s after a call", name,
			       wp_format_time(before, part->self_ns[0]),
			       wp_format_time(after, part->self_ns[1]));
	if (strcmp(cause, "waiting") == 0)
		g_string_append_printf(text, ", %s: same work, %s waiting.", change,
				       test->change > 0 ? "more" : "less");
	else if (test->kind == WP_TEST_WORK)
		g_string_append_printf(text, "; its work %s: %s of work, %s of waiting.", change,
				       signed_time(work, part->work_ns),
				       signed_time(wait, part->wait_ns));
	else
		g_string_append_printf(text, ", %s; how much of it is waiting is not clear.",
				       change);
	return g_string_free(text, FALSE);
}

static void
find_parts(const WpComparison *comparison, const WpComparedOperation *operation, guint n,
	   WpNameFunc escape, GPtrArray *findings)
{
	for (guint32 i = 0; i < operation->n_parts && findings->len < n; i++) {
		const WpComparedPart *part = &operation->parts[i];
		char before[WP_FORMAT_MAX], after[WP_FORMAT_MAX];
		if (has_changed(&part->tests[WP_TEST_CALLS]))
			g_ptr_array_add(findings, find_calls(comparison, part, escape));
		const WpTest *time = has_changed(&part->tests[WP_TEST_WORK])
					     ? &part->tests[WP_TEST_WORK]
					     : &part->tests[WP_TEST_SELF];
		if (has_changed(time))
			g_ptr_array_add(findings, find_time(comparison, part, time, escape));
		const WpTest *network = &part->tests[WP_TEST_NETWORK];
		if (has_changed(network)) {
			g_autofree char *name = wp_compare_part_name(comparison, part, escape);
			g_autofree char *change = wp_compare_change(network);
			g_ptr_array_add(
				findings,
				g_strdup_printf("%s: the network's time %s before, %s "
						"after, %s.",
						name, wp_format_time(before, network->shift.before),
						wp_format_time(after, network->shift.after),
						change));
		}
	}
}

/* Sentences of these, beyond those asked for: a new dependency is not to be lost behind what it has changed. */
#define MAX_KINDS 5

static char *
find_kind(const WpComparison *comparison, const WpComparedKind *kind, WpNameFunc escape)
{
	char rate[WP_FORMAT_MAX];
	g_autofree char *label = escape(kind->label);
	g_autofree char *node = escape(wp_role_name(comparison->roles, kind->role));
	g_autofree char *often =
		kind->calls_a_request < 1
			? g_strdup_printf("in %s of all requests",
					  wp_format_share(rate, kind->calls_a_request))
			: g_strdup_printf("%s times a request",
					  wp_format_number(rate, kind->calls_a_request));
	return g_strdup_printf("%s%s%s: %s %s, over all operations; never %s.", node,
			       *label ? "  " : "", label,
			       kind->side ? "new: called" : "gone: was called", often,
			       kind->side ? "before" : "after");
}

GPtrArray *
wp_compare_findings(const WpComparison *comparison, guint n, WpNameFunc escape)
{
	GPtrArray *findings = g_ptr_array_new_with_free_func(g_free);
	for (guint32 i = 0; i < comparison->n_operations && findings->len < n; i++) {
		const WpComparedOperation *operation = &comparison->operations[i];
		if (operation->verdict != WP_VERDICT_CHANGED)
			continue;
		if (has_changed(&operation->latency)) {
			g_ptr_array_add(findings, find_operation(comparison, operation, escape));
		} else {
			g_autofree char *name =
				wp_compare_operation_name(comparison, operation, escape);
			g_ptr_array_add(findings, g_strdup_printf("%s: changed inside:", name));
		}
		find_parts(comparison, operation, n, escape, findings);
	}
	for (guint32 i = 0; i < MIN(comparison->n_kinds, MAX_KINDS); i++)
		g_ptr_array_add(findings, find_kind(comparison, &comparison->kinds[i], escape));
	return findings;
}

/* (transfer full) */
static char *
times_text(guint n)
{
	return n == 1 ? g_strdup("once") : g_strdup_printf("%u times", n);
}

/* "with log POST below web", "without ...", "log POST below web 3 times instead of once" */
static char *
edit_text(const WpComparison *comparison, const WpPathEdit *edit, WpNameFunc escape)
{
	g_autofree char *label = escape(edit->label);
	g_autofree char *node = escape(wp_role_name(comparison->roles, edit->role));
	g_autofree char *caller = escape(wp_role_name(comparison->roles, edit->caller));
	g_autofree char *call =
		g_strdup_printf("%s%s%s below %s", node, *label ? " " : "", label, caller);
	if (edit->counts[1] == 0)
		return g_strdup_printf("without %s", call);
	g_autofree char *now = times_text(edit->counts[1]), *then = times_text(edit->counts[0]);
	if (edit->counts[0] == 0)
		return g_strdup_printf("with %s%s%s", call, edit->counts[1] > 1 ? " " : "",
				       edit->counts[1] > 1 ? now : "");
	return g_strdup_printf("%s %s instead of %s", call, now, then);
}

static char *
path_text(const WpComparison *comparison, const WpComparedPath *path, WpNameFunc escape)
{
	const WpComparedOperation *operation = &comparison->operations[path->operation];
	char share[WP_FORMAT_MAX], nearest[WP_FORMAT_MAX];
	g_autofree char *name = wp_compare_operation_name(comparison, operation, escape);
	GString *text = g_string_new(NULL);
	g_string_append_printf(text, "%s: %s path, %s of its requests %s: that of %s %s", name,
			       path->side ? "new" : "lost", wp_format_share(share, path->share),
			       path->side ? "after" : "before",
			       wp_format_share(nearest, path->nearest_share),
			       path->side ? "before" : "after");
	for (guint32 i = 0; i < path->n_edits; i++) {
		g_autofree char *edit = edit_text(comparison, &path->edits[i], escape);
		g_string_append_printf(text, ", %s", edit);
	}
	if (path->n_edits_left)
		g_string_append_printf(text, ", and %u more", path->n_edits_left);
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

GPtrArray *
wp_compare_path_sentences(const WpComparison *comparison, WpNameFunc escape)
{
	GPtrArray *sentences = g_ptr_array_new_with_free_func(g_free);
	for (guint32 i = 0; i < comparison->n_paths; i++)
		g_ptr_array_add(sentences, path_text(comparison, &comparison->paths[i], escape));
	if (comparison->n_paths_left)
		g_ptr_array_add(sentences, g_strdup_printf("... and %u paths more.",
							   comparison->n_paths_left));
	return sentences;
}

/* What speaks against comparing, where it needs no number. */
static const char *const against_texts[WP_N_AGAINST] = {
	[WP_AGAINST_EMPTY] = "One side has no request: there is nothing to compare.",
	[WP_AGAINST_STRANGE] = "No operation is on both sides: these may be captures of different "
			       "systems.",
	[WP_AGAINST_OPTIONS] = "The captures were inferred with different options.",
	[WP_AGAINST_PARTIAL] = "An input was not read whole.",
	[WP_AGAINST_LINKS] = "Many calls may hang under the wrong parent: intervals inside "
			     "operations allow for it.",
};

GPtrArray *
wp_compare_doubts(const WpComparison *comparison)
{
	GPtrArray *doubts = g_ptr_array_new_with_free_func(g_free);
	const WpComparedSide *a = &comparison->sides[0], *b = &comparison->sides[1];
	char before[WP_FORMAT_MAX], after[WP_FORMAT_MAX];
	for (WpAgainst i = 0; i < WP_N_AGAINST; i++)
		if (comparison->against[i] && against_texts[i])
			g_ptr_array_add(doubts, g_strdup(against_texts[i]));
	if (comparison->against[WP_AGAINST_RATE])
		g_ptr_array_add(
			doubts,
			g_strdup_printf("The load differs: %s requests a second before, %s "
					"after. Waiting may differ by that alone; work does "
					"not.",
					wp_format_number(before, a->rate),
					wp_format_number(after, b->rate)));
	if (comparison->against[WP_AGAINST_MIX])
		g_ptr_array_add(doubts,
				g_strdup_printf("The mix of operations differs by %s of the "
						"requests.",
						wp_format_share(before, comparison->mix_shift)));
	if (comparison->against[WP_AGAINST_LOSS])
		g_ptr_array_add(doubts,
				g_strdup_printf("Packets are missing: %s before, %s after. Capture "
						"again without loss.",
						wp_format_share(before, MAX(a->loss, 0)),
						wp_format_share(after, MAX(b->loss, 0))));
	if (comparison->against[WP_AGAINST_UNMATCHED])
		g_ptr_array_add(doubts,
				g_strdup_printf("Calls that lack a return or a caller: %s before, "
						"%s after.",
						wp_format_share(before, a->unmatched),
						wp_format_share(after, b->unmatched)));
	return doubts;
}

const char *
wp_compare_why(WpWhy why)
{
	static const char *const texts[WP_N_WHYS] = {
		[WP_WHY_NONE] = "",
		[WP_WHY_NOTHING] = "the other side has no calls like these, or too few",
		[WP_WHY_FEW] = "too few requests",
		[WP_WHY_HANGS] = "queues last too long for captures so short: capture longer, or "
				 "three or more a side",
		[WP_WHY_LIKELY] = "likely a change, but not beyond doubt: capture longer",
		[WP_WHY_COARSE] = "only a change beyond the one in brackets would have shown: "
				  "capture longer",
		[WP_WHY_SMALL] = "a difference, but smaller than what counts (--min-change)",
	};
	return texts[why];
}
