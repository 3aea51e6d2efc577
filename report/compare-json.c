/*
 * A comparison for programs: schema "wirepath.compare/1". Times are numbers of nanoseconds, changes relative (of calls:
 * absolute). Members may be added; none is removed or changes its meaning within a version.
 */
#include "config.h"

#include "report/compare-page.h"
#include "report/compare-words.h"
#include "report/gate.h"
#include "report/json.h"

static void
write_pair(WpJson *json, const char *key, const double values[2], int decimals)
{
	wp_json_open(json, key, '[');
	for (guint side = 0; side < 2; side++)
		wp_json_number(json, NULL, values[side], decimals);
	wp_json_close(json, ']');
}

static void
write_counts(WpJson *json, const char *key, const guint64 values[2])
{
	wp_json_open(json, key, '[');
	for (guint side = 0; side < 2; side++)
		wp_json_uint(json, NULL, values[side]);
	wp_json_close(json, ']');
}

static void
write_test(WpJson *json, const WpTest *test)
{
	const double interval[2] = { test->low, test->high };
	if (!test->is_tested)
		return;
	wp_json_open(json, wp_test_names[test->kind], '{');
	wp_json_text(json, "verdict", wp_verdict_names[test->verdict]);
	wp_json_text(json, "word", wp_compare_word(test));
	wp_json_text(json, "why", test->why ? wp_why_names[test->why] : NULL);
	wp_json_number(json, "change", test->change, 6);
	write_pair(json, "interval", interval, 6);
	wp_json_number(json, "detectable", test->detectable, 6);
	wp_json_number(json, "chance", test->chance, 12);
	wp_json_number(json, "chance_of_all", test->adjusted, 12);
	wp_json_close(json, '}');
}

static void
write_part(WpJson *json, const WpComparison *comparison, const WpComparedPart *part)
{
	const char *cause = wp_compare_cause(part);
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "node", wp_role_name(comparison->roles, part->role));
	wp_json_text(json, "operation", part->label);
	write_counts(json, "calls", part->calls);
	write_pair(json, "calls_a_request", part->calls_a_request, 6);
	write_pair(json, "self_ns", part->self_ns, 1);
	wp_json_number(json, "work_ns", part->work_ns, 1);
	wp_json_number(json, "waiting_ns", part->wait_ns, 1);
	wp_json_text(json, "cause", *cause ? cause : NULL);
	wp_json_bool(json, "in_turn", part->in_turn);
	wp_json_number(json, "link_doubt", part->link_doubt, 6);
	wp_json_number(json, "contribution_ns", part->contribution_ns, 0);
	wp_json_open(json, "tests", '{');
	for (WpTestKind kind = 0; kind < WP_N_TESTS; kind++)
		write_test(json, &part->tests[kind]);
	wp_json_close(json, '}');
	wp_json_close(json, '}');
}

static void
write_operation(WpJson *json, const WpComparison *comparison, const WpComparedOperation *operation)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "client", wp_role_name(comparison->roles, operation->client));
	wp_json_text(json, "node", wp_role_name(comparison->roles, operation->role));
	wp_json_text(json, "operation", operation->label);
	wp_json_text(json, "verdict", wp_verdict_names[operation->verdict]);
	wp_json_bool(json, "background", operation->is_background);
	write_counts(json, "requests", operation->requests);
	write_pair(json, "share", operation->share, 6);
	write_pair(json, "errors", operation->errors, 6);
	write_pair(json, "mean_ns", operation->mean_ns, 1);
	write_pair(json, "p50_ns", operation->p50_ns, 0);
	write_pair(json, "p95_ns", operation->p95_ns, 0);
	write_pair(json, "p99_ns", operation->p99_ns, 0);
	wp_json_number(json, "contribution_ns", operation->contribution_ns, 0);
	wp_json_open(json, "tests", '{');
	write_test(json, &operation->latency);
	wp_json_close(json, '}');
	wp_json_open(json, "parts", '[');
	for (guint32 i = 0; i < operation->n_parts; i++)
		write_part(json, comparison, &operation->parts[i]);
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_kind(WpJson *json, const WpComparison *comparison, const WpComparedKind *kind)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "node", wp_role_name(comparison->roles, kind->role));
	wp_json_text(json, "operation", kind->label);
	wp_json_text(json, "side", kind->side ? "after" : "before");
	wp_json_uint(json, "calls", kind->calls);
	wp_json_number(json, "calls_a_request", kind->calls_a_request, 6);
	wp_json_number(json, "chance", kind->chance, 12);
	wp_json_close(json, '}');
}

static void
write_path(WpJson *json, const WpComparison *comparison, const WpComparedPath *path)
{
	wp_json_open(json, NULL, '{');
	wp_json_uint(json, "operation", path->operation);
	wp_json_text(json, "side", path->side ? "after" : "before");
	wp_json_uint(json, "requests", path->count);
	wp_json_number(json, "share", path->share, 6);
	wp_json_number(json, "nearest_share", path->nearest_share, 6);
	wp_json_open(json, "edits", '[');
	for (guint32 i = 0; i < path->n_edits; i++) {
		const WpPathEdit *edit = &path->edits[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "caller", wp_role_name(comparison->roles, edit->caller));
		wp_json_text(json, "node", wp_role_name(comparison->roles, edit->role));
		wp_json_text(json, "operation", edit->label);
		wp_json_uint(json, "nearest_calls", edit->counts[0]);
		wp_json_uint(json, "calls", edit->counts[1]);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_uint(json, "edits_left_out", path->n_edits_left);
	wp_json_close(json, '}');
}

static void
write_side(WpJson *json, const WpComparedSide *side)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "label", side->label);
	wp_json_uint(json, "captures", side->n_captures);
	wp_json_uint(json, "requests", side->requests);
	wp_json_uint(json, "calls", side->calls);
	wp_json_number(json, "length_ns", side->length_ns, 0);
	wp_json_number(json, "requests_a_second", side->rate, 4);
	if (side->loss >= 0)
		wp_json_number(json, "loss_share", side->loss, 6);
	else
		wp_json_text(json, "loss_share", NULL);
	wp_json_number(json, "unmatched_share", side->unmatched, 6);
	wp_json_number(json, "links_right", side->right, 6);
	wp_json_text(json, "options", side->options);
	wp_json_bool(json, "partial", side->is_partial);
	wp_json_close(json, '}');
}

static void
write_gate(WpJson *json, const WpGate *gate)
{
	wp_json_open(json, "gate", '[');
	for (guint i = 0; gate && i < wp_gate_n_results(gate); i++) {
		const WpGateResult *result = wp_gate_result(gate, i);
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "rule", result->rule);
		wp_json_text(json, "level", wp_gate_level_names[result->level]);
		wp_json_text(json, "on", result->subject);
		wp_json_bool(json, "failed", result->is_failed);
		wp_json_text(json, "found", result->found);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

void
wp_compare_json(const WpComparison *comparison, const WpComparePage *page, WpOut *out)
{
	WpJson json = { .out = out };
	g_autofree char *summary = wp_compare_summary(comparison);
	wp_json_open(&json, NULL, '{');
	wp_json_text(&json, "schema", "wirepath.compare/1");
	wp_json_text(&json, "program", PACKAGE_STRING);
	wp_json_text(&json, "verdict", wp_compare_verdict(comparison));
	wp_json_text(&json, "summary", summary);
	wp_json_bool(&json, "worse", comparison->is_worse);
	wp_json_bool(&json, "by_captures", comparison->by_captures);
	wp_json_bool(&json, "comparable", comparison->is_comparable);
	wp_json_open(&json, "against", '[');
	for (WpAgainst i = 0; i < WP_N_AGAINST; i++)
		if (comparison->against[i])
			wp_json_text(&json, NULL, wp_against_names[i]);
	wp_json_close(&json, ']');
	write_gate(&json, page->gate);
	wp_json_number(&json, "min_change", comparison->options.min_change, 6);
	wp_json_number(&json, "risk", comparison->options.risk, 9);
	wp_json_number(&json, "resolution", comparison->options.resolution, 6);
	wp_json_uint(&json, "tests", comparison->n_tests);
	wp_json_number(&json, "mix_shift", comparison->mix_shift, 6);
	wp_json_open(&json, "sides", '[');
	for (guint side = 0; side < 2; side++)
		write_side(&json, &comparison->sides[side]);
	wp_json_close(&json, ']');
	wp_json_open(&json, "operations", '[');
	for (guint32 i = 0; i < comparison->n_operations; i++)
		write_operation(&json, comparison, &comparison->operations[i]);
	wp_json_close(&json, ']');
	wp_json_open(&json, "kinds", '[');
	for (guint32 i = 0; i < comparison->n_kinds; i++)
		write_kind(&json, comparison, &comparison->kinds[i]);
	wp_json_close(&json, ']');
	wp_json_open(&json, "paths", '[');
	for (guint32 i = 0; i < comparison->n_paths; i++)
		write_path(&json, comparison, &comparison->paths[i]);
	wp_json_close(&json, ']');
	wp_json_close(&json, '}');
}
