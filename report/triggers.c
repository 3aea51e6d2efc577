/* Triggers: what each rule holds of is kept from window to window. */
#include "report/triggers.h"

#include <math.h>
#include <string.h>

#include "report/expression.h"
#include "report/format.h"
#include "report/words.h"

const char *const wp_trigger_state_names[WP_TRIGGER_N_STATES] = { "begins", "lasts", "ends" };

/* An operation or a pattern in a window, as rules see it. */
typedef struct {
	const char *client;
	const char *node;
	const char *operation;
	const char *path;  /* "": an operation */
	const char *blame; /* node with the most self time; "" = not known */
	const char *name;
	const WpViewTimes *latency;
	guint64 count;
	guint64 errors;
	double rate;
	double change;
	gboolean is_slow;
} Subject;

/* Fields that only a pattern has. */
#define OF_PATTERNS 1u

/* So that it fits whatever its unit. */
static gint64
to_integer(double value)
{
	return value < 9e18 ? llround(value) : G_MAXINT64;
}

/* get_p95() and its like: a time of the latency. */
#define GET_TIME(name)                                                                             \
	static gboolean get_##name(gconstpointer subject, gint64 *out_value)                       \
	{                                                                                          \
		*out_value = to_integer(((const Subject *)subject)->latency->name##_ns);           \
		return TRUE;                                                                       \
	}

GET_TIME(mean)
GET_TIME(p50)
GET_TIME(p95)
GET_TIME(p99)
GET_TIME(max)

static gboolean
get_count(gconstpointer subject, gint64 *out_value)
{
	*out_value = (gint64)MIN(((const Subject *)subject)->count, G_MAXINT64);
	return TRUE;
}

static gboolean
get_errors(gconstpointer subject, gint64 *out_value)
{
	*out_value = (gint64)MIN(((const Subject *)subject)->errors, G_MAXINT64);
	return TRUE;
}

static gboolean
get_failed(gconstpointer data, gint64 *out_value)
{
	const Subject *subject = data;
	if (subject->count == 0)
		return FALSE;
	*out_value =
		to_integer((double)subject->errors / (double)subject->count * WP_FIELD_SHARE_UNIT);
	return TRUE;
}

static gboolean
get_rate(gconstpointer subject, gint64 *out_value)
{
	*out_value = to_integer(((const Subject *)subject)->rate * WP_FIELD_DECIMAL_UNIT);
	return TRUE;
}

static gboolean
get_change(gconstpointer data, gint64 *out_value)
{
	const Subject *subject = data;
	*out_value = to_integer(subject->change * WP_FIELD_DECIMAL_UNIT);
	return subject->change > 0;
}

static gboolean
get_slow(gconstpointer subject, gint64 *out_value)
{
	*out_value = ((const Subject *)subject)->is_slow;
	return TRUE;
}

#define AT(member)                                                                                 \
	{                                                                                          \
		offsetof(Subject, member)                                                          \
	}

static const WpExpressionField fields[] = {
	{ "operation", WP_FIELD_TEXT, 0, "label of the request: \"GET /item/{}\"", AT(operation),
	  NULL },
	{ "node", WP_FIELD_TEXT, 0, "node that the client calls", AT(node), NULL },
	{ "client", WP_FIELD_TEXT, 0, "node that requests come from", AT(client), NULL },
	{ "blame", WP_FIELD_TEXT, 0, "node with the most self time", AT(blame), NULL },
	{ "path", WP_FIELD_TEXT, OF_PATTERNS,
	  "of a pattern, as the page shows it; a rule that names it\n"
	  "              is on patterns, any other one on operations",
	  AT(path), NULL },
	{ "mean",
	  WP_FIELD_DURATION,
	  0,
	  "latency in the window: 250us, 5ms, 1.5s",
	  { 0 },
	  get_mean },
	{ "p50", WP_FIELD_DURATION, 0, "its median", { 0 }, get_p50 },
	{ "p95", WP_FIELD_DURATION, 0, "exceeded by one request in 20", { 0 }, get_p95 },
	{ "p99", WP_FIELD_DURATION, 0, "exceeded by one request in 100", { 0 }, get_p99 },
	{ "max", WP_FIELD_DURATION, 0, "the slowest request", { 0 }, get_max },
	{ "change",
	  WP_FIELD_DECIMAL,
	  0,
	  "the p95 as a multiple of what is usual: 2, 1.5",
	  { 0 },
	  get_change },
	{ "slow", WP_FIELD_FLAG, 0, "the page says since when it is slow", { 0 }, get_slow },
	{ "count", WP_FIELD_NUMBER, 0, "requests in the window", { 0 }, get_count },
	{ "rate", WP_FIELD_DECIMAL, 0, "requests a second", { 0 }, get_rate },
	{ "errors", WP_FIELD_NUMBER, 0, "requests that failed", { 0 }, get_errors },
	{ "failed", WP_FIELD_SHARE, 0, "share of requests that failed: 5%", { 0 }, get_failed },
	{ NULL, WP_FIELD_TEXT, 0, NULL, { 0 }, NULL },
};

static const WpLanguage language = { "--when", "--list-fields lists fields and operators", fields };

typedef struct {
	const char *text;
	WpExpression *expression;
	gboolean is_on_patterns;
} Rule;

/* What a rule holds of. */
typedef struct {
	char *name;
	WpTriggered triggered;
	guint64 seen; /* in this window, by number */
} Held;

struct WpTriggers {
	GArray *rules;     /* Rule */
	GHashTable *held;  /* number of the rule and name -> Held */
	GArray *triggered; /* WpTriggered: of the window asked last */
	GPtrArray *ended;  /* Held of it that are no more */
	guint64 n_windows;
	guint64 n_left;
};

static void
clear_rule(gpointer data)
{
	wp_expression_free(((Rule *)data)->expression);
}

static void
free_held(gpointer data)
{
	Held *held = data;
	g_free(held->name);
	g_free(held);
}

WpTriggers *
wp_triggers_new(const char *const *rules, guint n, GError **error)
{
	g_autoptr(WpTriggers) triggers = g_new0(WpTriggers, 1);

	triggers->rules = g_array_new(FALSE, FALSE, sizeof(Rule));
	g_array_set_clear_func(triggers->rules, clear_rule);
	triggers->held = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_held);
	triggers->triggered = g_array_new(FALSE, FALSE, sizeof(WpTriggered));
	triggers->ended = g_ptr_array_new_with_free_func(free_held);
	for (guint i = 0; i < n; i++) {
		Rule rule = { rules[i], wp_expression_new(&language, rules[i], error), FALSE };
		if (!rule.expression)
			return NULL;
		rule.is_on_patterns = wp_expression_field(rule.expression, OF_PATTERNS) != NULL;
		g_array_append_val(triggers->rules, rule);
	}
	return g_steal_pointer(&triggers);
}

void
wp_triggers_free(WpTriggers *triggers)
{
	if (!triggers)
		return;
	g_array_unref(triggers->rules);
	g_hash_table_unref(triggers->held);
	g_array_unref(triggers->triggered);
	g_ptr_array_unref(triggers->ended);
	g_free(triggers);
}

/* Rule number NUMBER holds of SUBJECT. */
static void
hold(WpTriggers *triggers, guint number, const Subject *subject, gint64 begin_ns)
{
	const Rule *rule = &g_array_index(triggers->rules, Rule, number);
	g_autofree char *key = g_strdup_printf("%u\x1f%s", number, subject->name);
	Held *held = g_hash_table_lookup(triggers->held, key);
	gboolean is_new = !held;

	if (!held) {
		if (g_hash_table_size(triggers->held) >= WP_TRIGGERS_MAX_HELD) {
			triggers->n_left++;
			return;
		}
		held = g_new0(Held, 1);
		held->name = g_strdup(subject->name);
		held->triggered.since_ns = begin_ns;
		g_hash_table_insert(triggers->held, g_steal_pointer(&key), held);
	} else if (held->seen == triggers->n_windows) {
		return; /* another one that cannot be told from it */
	}
	held->seen = triggers->n_windows;
	held->triggered = (WpTriggered){ .rule = rule->text,
					 .subject = held->name,
					 .is_pattern = rule->is_on_patterns,
					 .state = is_new ? WP_TRIGGER_BEGINS : WP_TRIGGER_LASTS,
					 .since_ns = held->triggered.since_ns,
					 .count = subject->count,
					 .errors = subject->errors,
					 .p95_ns = subject->latency->p95_ns,
					 .change = subject->change };
	g_array_append_val(triggers->triggered, held->triggered);
}

static void
ask_operations(WpTriggers *triggers, guint number, const WpWatchWindow *window)
{
	const Rule *rule = &g_array_index(triggers->rules, Rule, number);

	for (guint32 i = 0; i < window->n_rows; i++) {
		const WpWatchRow *row = &window->rows[i];
		const WpViewOperation *operation = row->operation;
		g_autofree char *name = g_strdup_printf("%s  %s > %s", operation->label,
							operation->client, operation->node);
		const Subject subject = {
			.client = operation->client,
			.node = operation->node,
			.operation = operation->label,
			.path = "",
			.blame = operation->n_shares ? operation->shares[0].node : "",
			.name = name,
			.latency = &operation->latency,
			.count = operation->count,
			.errors = operation->errors,
			.rate = row->rate,
			.change = row->change,
			.is_slow = row->since_ns != WP_NO_TIME,
		};
		if (wp_expression_matches(rule->expression, &subject))
			hold(triggers, number, &subject, window->begin_ns);
	}
}

/* The node of PATTERN that has most self time. */
static const char *
blame_of(const WpViewPattern *pattern)
{
	const WpViewNode *first = &pattern->nodes[0];

	for (guint32 i = 1; i < pattern->n_nodes; i++)
		if (pattern->nodes[i].self.sum_ns > first->self.sum_ns)
			first = &pattern->nodes[i];
	return first->node;
}

static void
ask_patterns(WpTriggers *triggers, guint number, const WpWatchWindow *window)
{
	const Rule *rule = &g_array_index(triggers->rules, Rule, number);

	for (guint32 i = 0; i < window->n_patterns; i++) {
		const WpWatchPattern *row = &window->patterns[i];
		const WpViewPattern *pattern = row->pattern;
		g_autofree char *name = wp_watch_path_name(pattern);
		const Subject subject = {
			.client = pattern->client,
			.node = pattern->nodes[0].node,
			.operation = pattern->nodes[0].label,
			.path = name,
			.blame = blame_of(pattern),
			.name = name,
			.latency = &pattern->nodes[0].latency,
			.count = pattern->count,
			.errors = pattern->errors,
			.rate = row->rate,
			.change = row->change,
			.is_slow = row->since_ns != WP_NO_TIME,
		};
		if (wp_expression_matches(rule->expression, &subject))
			hold(triggers, number, &subject, window->begin_ns);
	}
}

static int
compare_ends(gconstpointer a, gconstpointer b)
{
	const WpTriggered *x = &(*(Held *const *)a)->triggered;
	const WpTriggered *y = &(*(Held *const *)b)->triggered;
	int order = (x->since_ns > y->since_ns) - (x->since_ns < y->since_ns);

	order = order ? order : strcmp(x->subject, y->subject);
	return order ? order : strcmp(x->rule, y->rule);
}

/* What did not hold in this window. */
static void
end_others(WpTriggers *triggers)
{
	GHashTableIter iter;
	gpointer key, value;

	g_ptr_array_set_size(triggers->ended, 0);
	g_hash_table_iter_init(&iter, triggers->held);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		Held *held = value;
		if (held->seen == triggers->n_windows)
			continue;
		held->triggered.state = WP_TRIGGER_ENDS;
		g_ptr_array_add(triggers->ended, held);
		g_hash_table_iter_steal(&iter);
		g_free(key);
	}
	g_ptr_array_sort(triggers->ended, compare_ends);
	for (guint i = 0; i < triggers->ended->len; i++) {
		const Held *held = triggers->ended->pdata[i];
		g_array_append_val(triggers->triggered, held->triggered);
	}
}

const WpTriggered *
wp_triggers_ask(WpTriggers *triggers, const WpWatchWindow *window, guint *out_n)
{
	triggers->n_windows++;
	g_array_set_size(triggers->triggered, 0);
	for (guint i = 0; i < triggers->rules->len; i++) {
		if (g_array_index(triggers->rules, Rule, i).is_on_patterns)
			ask_patterns(triggers, i, window);
		else
			ask_operations(triggers, i, window);
	}
	end_others(triggers);
	*out_n = triggers->triggered->len;
	return (const WpTriggered *)triggers->triggered->data;
}

guint64
wp_triggers_n_left(const WpTriggers *triggers)
{
	return triggers->n_left;
}

char *
wp_triggered_line(const WpTriggered *triggered)
{
	char p95[WP_FORMAT_MAX], change[WP_FORMAT_MAX], errors[WP_FORMAT_MAX];
	g_autofree char *count = wp_words_count(triggered->count, "request");
	GString *line = g_string_new(NULL);

	g_string_append_printf(line, "%s%s: %s, ",
			       triggered->state == WP_TRIGGER_ENDS ? "over: " : "", triggered->rule,
			       triggered->subject);
	g_string_append_printf(line, "p95 %s", wp_format_time(p95, triggered->p95_ns));
	if (triggered->change > 0)
		g_string_append_printf(line, " (%s times the usual)",
				       wp_format_number(change, triggered->change));
	g_string_append_printf(line, ", %s", count);
	if (triggered->errors)
		g_string_append_printf(line, ", %s failed",
				       wp_format_count(errors, triggered->errors));
	return g_string_free(line, FALSE);
}

void
wp_triggers_list_fields(WpOut *out)
{
	wp_language_list(&language, out);
}
