/* Rules: a table of conditions, each asked of an operation or of each of its parts. */
#include "report/gate.h"

#include <math.h>
#include <string.h>

#include "capture/trace.h"
#include "report/compare-words.h"
#include "report/error.h"
#include "report/format.h"
#include "report/glob.h"
#include "report/options.h"

const char *const wp_gate_level_names[WP_GATE_N_LEVELS] = { "off", "warn", "error" };

/* A budget file has at most so many bytes. */
#define MAX_FILE 1000000

typedef struct Condition Condition;

typedef struct {
	char *text;       /* as given: "slower:5%" */
	char *operations; /* pattern; "*" = all */
	const Condition *condition;
	double limit; /* ns, or a share; 0 = none */
	WpGateLevel level;
	gboolean is_used;
} Rule;

typedef enum {
	NO_LIMIT,
	MAY_SHARE,  /* ":5%" */
	NEEDS_TIME, /* "< 12ms" */
	NEEDS_SHARE /* "< 1%" */
} LimitKind;

/* What can be asked. One of the two functions is there. FAILED and FOUND (transfer full) are set. */
struct Condition {
	const char *name;
	LimitKind limit;
	void (*ask)(const WpComparedOperation *operation, double limit, gboolean *failed,
		    char **found);
	/* The test of a part (or an operation: LATENCY), and which way it may not go: 1 up, -1 down, 0 either. */
	WpTestKind test;
	int direction;
	int presence; /* CALLS: 1 = only what was not there before, -1 = only what is no more, 0 = only what is on both sides */
};

struct WpGate {
	GArray *rules;   /* Rule */
	GArray *results; /* WpGateResult */
};

static void
check_time(double ns, double limit, gboolean *failed, char **found)
{
	char text[WP_FORMAT_MAX];
	*failed = ns >= limit;
	*found = g_strdup(wp_format_time(text, ns));
}

static void
ask_mean(const WpComparedOperation *operation, double limit, gboolean *failed, char **found)
{
	check_time(operation->mean_ns[1], limit, failed, found);
}

static void
ask_p50(const WpComparedOperation *operation, double limit, gboolean *failed, char **found)
{
	check_time(operation->p50_ns[1], limit, failed, found);
}

static void
ask_p95(const WpComparedOperation *operation, double limit, gboolean *failed, char **found)
{
	check_time(operation->p95_ns[1], limit, failed, found);
}

static void
ask_p99(const WpComparedOperation *operation, double limit, gboolean *failed, char **found)
{
	check_time(operation->p99_ns[1], limit, failed, found);
}

static void
ask_errors(const WpComparedOperation *operation, double limit, gboolean *failed, char **found)
{
	char text[WP_FORMAT_MAX];
	*failed = operation->errors[1] >= limit;
	*found = g_strdup(wp_format_share(text, operation->errors[1]));
}

static const Condition conditions[] = {
	{ "mean", NEEDS_TIME, ask_mean, 0, 0, 0 },
	{ "p50", NEEDS_TIME, ask_p50, 0, 0, 0 },
	{ "p95", NEEDS_TIME, ask_p95, 0, 0, 0 },
	{ "p99", NEEDS_TIME, ask_p99, 0, 0, 0 },
	{ "errors", NEEDS_SHARE, ask_errors, 0, 0, 0 },
	{ "slower", MAY_SHARE, NULL, WP_TEST_LATENCY, 1, 0 },
	{ "faster", MAY_SHARE, NULL, WP_TEST_LATENCY, -1, 0 },
	{ "more-work", MAY_SHARE, NULL, WP_TEST_WORK, 1, 0 },
	{ "more-calls", NO_LIMIT, NULL, WP_TEST_CALLS, 1, 0 },
	{ "fewer-calls", NO_LIMIT, NULL, WP_TEST_CALLS, -1, 0 },
	{ "new-calls", NO_LIMIT, NULL, WP_TEST_CALLS, 1, 1 },
	{ "lost-calls", NO_LIMIT, NULL, WP_TEST_CALLS, -1, -1 },
};

static void
rule_clear(gpointer data)
{
	Rule *rule = data;
	g_free(rule->text);
	g_free(rule->operations);
}

static void
result_clear(gpointer data)
{
	WpGateResult *result = data;
	g_free(result->subject);
	g_free(result->found);
}

WpGate *
wp_gate_new(void)
{
	WpGate *gate = g_new0(WpGate, 1);
	gate->rules = g_array_new(FALSE, TRUE, sizeof(Rule));
	g_array_set_clear_func(gate->rules, rule_clear);
	gate->results = g_array_new(FALSE, TRUE, sizeof(WpGateResult));
	g_array_set_clear_func(gate->results, result_clear);
	return gate;
}

void
wp_gate_free(WpGate *gate)
{
	if (!gate)
		return;
	g_array_unref(gate->rules);
	g_array_unref(gate->results);
	g_free(gate);
}

/* --- reading --- */

/* (transfer full) What is wrong with NAME, and what was probably meant. */
static char *
unknown_condition(const char *name)
{
	const char *names[G_N_ELEMENTS(conditions) + 1] = { NULL };
	for (guint i = 0; i < G_N_ELEMENTS(conditions); i++)
		names[i] = conditions[i].name;
	const char *nearest = wp_nearest_name(name, names);
	g_autofree char *known = g_strjoinv(", ", (char **)names);
	return nearest ? g_strdup_printf("there is no rule \"%s\"\ndid you mean %s?", name, nearest)
		       : g_strdup_printf("there is no rule \"%s\"\nthere are %s", name, known);
}

static const Condition *
find_condition(const char *name)
{
	for (guint i = 0; i < G_N_ELEMENTS(conditions); i++)
		if (strcmp(conditions[i].name, name) == 0)
			return &conditions[i];
	return NULL;
}

static gboolean
read_time(const char *text, double *out_limit)
{
	gint64 ns;
	if (!wp_parse_duration(text, &ns))
		return FALSE;
	*out_limit = (double)ns;
	return TRUE;
}

/* The limit of RULE from TEXT; (transfer full) what is wrong with it, or NULL. */
static char *
read_limit(Rule *rule, char separator, const char *text)
{
	const Condition *condition = rule->condition;
	if (condition->limit == NEEDS_TIME || condition->limit == NEEDS_SHARE) {
		if (separator != '<')
			return g_strdup_printf("\"%s\" needs a limit: \"%s < %s\"", rule->text,
					       condition->name,
					       condition->limit == NEEDS_TIME ? "12ms" : "1%");
		if (condition->limit == NEEDS_TIME ? read_time(text, &rule->limit)
						   : wp_parse_share(text, &rule->limit))
			return NULL;
		return g_strdup_printf("\"%s\": %s is no %s", rule->text, text,
				       condition->limit == NEEDS_TIME
					       ? "time with its unit, such as 12ms"
					       : "share, such as 1%");
	}
	if (!separator)
		return NULL;
	if (condition->limit == MAY_SHARE && separator == ':' && wp_parse_share(text, &rule->limit))
		return NULL;
	return condition->limit == MAY_SHARE
		       ? g_strdup_printf("\"%s\": a share is expected: %s:5%%", rule->text,
					 condition->name)
		       : g_strdup_printf("\"%s\": %s takes no limit", rule->text, condition->name);
}

/* Adds the rule TEXT. (transfer full) What is wrong with it, or NULL. */
static char *
add_rule(WpGate *gate, const char *operations, const char *text, WpGateLevel level)
{
	Rule rule = { .text = g_strstrip(g_strdup(text)),
		      .operations = g_strdup(operations),
		      .level = level };
	gsize length = strcspn(rule.text, ":<");
	char separator = rule.text[length];
	g_autofree char *name = g_strstrip(g_strndup(rule.text, length));
	g_autofree char *limit = separator ? g_strstrip(g_strdup(rule.text + length + 1)) : NULL;
	rule.condition = find_condition(name);
	char *wrong =
		rule.condition ? read_limit(&rule, separator, limit) : unknown_condition(name);
	if (wrong)
		rule_clear(&rule);
	else
		g_array_append_val(gate->rules, rule);
	return wrong;
}

gboolean
wp_gate_add_rules(WpGate *gate, const char *text, GError **error)
{
	g_auto(GStrv) rules = g_strsplit(text, ",", -1);
	for (guint i = 0; rules[i]; i++) {
		g_autofree char *wrong = add_rule(gate, "*", rules[i], WP_GATE_ERROR);
		if (!wrong)
			continue;
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE, "--fail-on: %s", wrong);
		return FALSE;
	}
	return TRUE;
}

/* (transfer full) The pattern of "[budget "GET /buy"]", or NULL. */
static char *
read_heading(const char *line)
{
	static const char begin[] = "[budget \"";
	gsize length = strlen(line);
	if (!g_str_has_prefix(line, begin) || !g_str_has_suffix(line, "\"]") ||
	    length < sizeof begin + 1)
		return NULL;
	return g_strndup(line + sizeof begin - 1, length - (sizeof begin - 1) - 2);
}

/* "p95 < 12ms = error". (transfer full) What is wrong, or NULL. */
static char *
read_budget(WpGate *gate, const char *operations, const char *line)
{
	const char *equals = strrchr(line, '=');
	if (!operations)
		return g_strdup("rules stand below [budget \"OPERATION\"]");
	if (!equals)
		return g_strdup("expected \"p95 < 12ms = error\", with off, warn or error");
	g_autofree char *text = g_strndup(line, (gsize)(equals - line));
	g_autofree char *name = g_strstrip(g_strdup(equals + 1));
	for (WpGateLevel level = 0; level < WP_GATE_N_LEVELS; level++)
		if (strcmp(name, wp_gate_level_names[level]) == 0)
			return add_rule(gate, operations, text, level);
	return g_strdup_printf("\"%s\" is none of off, warn, error", name);
}

gboolean
wp_gate_add_file(WpGate *gate, const char *path, GError **error)
{
	g_autofree char *text = NULL;
	g_autofree char *operations = NULL;
	g_autoptr(GError) reason = NULL;
	gsize length;
	if (!g_file_get_contents(path, &text, &length, &reason)) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_OPEN, "cannot read budget: %s",
			    reason->message);
		return FALSE;
	}
	g_auto(GStrv) lines = g_strsplit(length <= MAX_FILE ? text : "", "\n", -1);
	for (guint i = 0; lines[i]; i++) {
		g_autofree char *wrong = NULL;
		const char *line = g_strstrip(lines[i]);
		if (!*line || *line == '#')
			continue;
		if (*line == '[') {
			g_free(operations);
			operations = read_heading(line);
			if (!operations)
				wrong = g_strdup("expected [budget \"OPERATION\"]");
		} else {
			wrong = read_budget(gate, operations, line);
		}
		if (!wrong)
			continue;
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA, "%s:%u: %s", path, i + 1,
			    wrong);
		return FALSE;
	}
	if (length <= MAX_FILE)
		return TRUE;
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
		    "%s: a budget file has at most %d bytes", path, MAX_FILE);
	return FALSE;
}

/* --- asking --- */

/* TRUE where TEST changed in a way that RULE forbids. */
static gboolean
is_forbidden(const Rule *rule, const WpTest *test)
{
	const Condition *condition = rule->condition;
	double up = condition->direction > 0 ? test->change : -test->change;
	if (!test->is_tested || test->kind != condition->test ||
	    test->verdict != WP_VERDICT_CHANGED || up <= 0)
		return FALSE;
	if (test->kind != WP_TEST_CALLS)
		return up >= rule->limit;
	gboolean is_new = test->shift.before == 0, is_lost = test->shift.after == 0;
	return condition->presence == 1    ? is_new
	       : condition->presence == -1 ? is_lost
					   : !is_new && !is_lost;
}

static void
add_result(WpGate *gate, const Rule *rule, char *subject, char *found, gboolean is_failed)
{
	WpGateResult result = { rule->text, rule->level, subject, found, is_failed };
	g_array_append_val(gate->results, result);
}

static char *
same_name(const char *name)
{
	return g_strdup(name);
}

/* All tests that RULE is about, of the operation and its parts: a result each that fails, or one for all. */
static void
ask_tests(WpGate *gate, const Rule *rule, const WpComparison *comparison,
	  const WpComparedOperation *operation)
{
	gboolean has_failed = FALSE;
	char *name = wp_compare_operation_name(comparison, operation, same_name);
	if (is_forbidden(rule, &operation->latency)) {
		add_result(gate, rule, g_strdup(name), wp_compare_change(&operation->latency),
			   TRUE);
		has_failed = TRUE;
	}
	for (guint32 i = 0; i < operation->n_parts; i++) {
		const WpComparedPart *part = &operation->parts[i];
		const WpTest *test = &part->tests[rule->condition->test];
		if (!is_forbidden(rule, test))
			continue;
		g_autofree char *own = wp_compare_part_name(comparison, part, same_name);
		add_result(gate, rule, g_strdup_printf("%s: %s", name, own),
			   wp_compare_change(test), TRUE);
		has_failed = TRUE;
	}
	if (has_failed)
		g_free(name);
	else
		add_result(gate, rule, name, g_strdup("no such change"), FALSE);
}

static void
ask_rule(WpGate *gate, Rule *rule, const WpComparison *comparison)
{
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		const WpComparedOperation *operation = &comparison->operations[i];
		if (operation->is_background ||
		    !wp_glob_matches(rule->operations, operation->label))
			continue;
		rule->is_used = TRUE;
		if (rule->level == WP_GATE_OFF)
			continue;
		if (!rule->condition->ask) {
			ask_tests(gate, rule, comparison, operation);
			continue;
		}
		gboolean failed = FALSE;
		char *found = NULL;
		if (!operation->requests[1])
			continue;
		rule->condition->ask(operation, rule->limit, &failed, &found);
		add_result(gate, rule, wp_compare_operation_name(comparison, operation, same_name),
			   found, failed);
	}
}

void
wp_gate_ask(WpGate *gate, const WpComparison *comparison)
{
	for (guint i = 0; i < gate->rules->len; i++)
		ask_rule(gate, &g_array_index(gate->rules, Rule, i), comparison);
}

guint
wp_gate_n_results(const WpGate *gate)
{
	return gate->results->len;
}

const WpGateResult *
wp_gate_result(const WpGate *gate, guint number)
{
	return &g_array_index(gate->results, WpGateResult, number);
}

guint
wp_gate_n_rules(const WpGate *gate)
{
	return gate->rules->len;
}

gboolean
wp_gate_is_used(const WpGate *gate, guint number, const char **out_text)
{
	const Rule *rule = &g_array_index(gate->rules, Rule, number);
	*out_text = rule->text;
	return rule->is_used;
}

WpGateLevel
wp_gate_failed(const WpGate *gate)
{
	WpGateLevel worst = WP_GATE_OFF;
	for (guint i = 0; i < gate->results->len; i++) {
		const WpGateResult *result = wp_gate_result(gate, i);
		if (result->is_failed)
			worst = MAX(worst, result->level);
	}
	return worst;
}
