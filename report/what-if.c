/* Requests part by part, each put through infer/what-if.h; then a block of text, or of JSON. */
#include "report/what-if.h"

#include <math.h>
#include <string.h>

#include "infer/path.h"
#include "infer/what-if.h"
#include "report/error.h"
#include "report/escape.h"
#include "report/format.h"
#include "report/glob.h"
#include "report/table.h"
#include "report/words.h"
#include "report/write-text.h"

static WpWhatIfLot *
lot_new(const char *node, const char *label)
{
	WpWhatIfLot *lot = g_new0(WpWhatIfLot, 1);
	lot->node = g_strdup(node);
	lot->label = g_strdup(label);
	lot->before = wp_delay_new();
	lot->after = wp_delay_new();
	return lot;
}

static void
lot_free(gpointer data)
{
	WpWhatIfLot *lot = data;
	wp_delay_free(lot->before);
	wp_delay_free(lot->after);
	g_free(lot->node);
	g_free(lot->label);
	g_free(lot);
}

static void
rule_free(gpointer data)
{
	g_free(((WpWhatIfRule *)data)->node);
	g_free(data);
}

static gboolean
add_rule(WpWhatIf *what_if, const char *text, GError **error)
{
	const char *equals = strrchr(text, '=');
	double factor = 0;
	gboolean is_fine = equals && equals > text && wp_parse_double(equals + 1, &factor) &&
			   factor >= 0 && factor <= WP_WHAT_IF_MAX_FACTOR;

	if (!is_fine) {
		g_set_error(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			"--what-if %s: NODE=FACTOR is needed, the factor from 0 to %g: web=0.5 if "
			"web took half the time",
			text, WP_WHAT_IF_MAX_FACTOR);
		return FALSE;
	}
	WpWhatIfRule *rule = g_new0(WpWhatIfRule, 1);
	rule->node = g_strndup(text, (gsize)(equals - text));
	rule->factor = factor;
	g_ptr_array_add(what_if->rules, rule);
	return TRUE;
}

WpWhatIf *
wp_what_if_new(const GPtrArray *rules, GError **error)
{
	g_autoptr(WpWhatIf) what_if = g_new0(WpWhatIf, 1);

	what_if->rules = g_ptr_array_new_with_free_func(rule_free);
	what_if->operations = g_ptr_array_new_with_free_func(lot_free);
	what_if->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	what_if->all = lot_new("", "");
	for (guint i = 0; i < rules->len; i++)
		if (!add_rule(what_if, rules->pdata[i], error))
			return NULL;
	return g_steal_pointer(&what_if);
}

void
wp_what_if_free(WpWhatIf *what_if)
{
	if (!what_if)
		return;
	g_ptr_array_unref(what_if->rules);
	g_ptr_array_unref(what_if->operations);
	g_hash_table_unref(what_if->numbers);
	lot_free(what_if->all);
	g_free(what_if);
}

/* --- requests --- */

/* NULL: one too many. */
static WpWhatIfLot *
find_lot(WpWhatIf *what_if, const char *node, const char *label)
{
	g_autofree char *key = g_strdup_printf("%zu %s %s", strlen(node), node, label);
	gpointer number;

	if (g_hash_table_lookup_extended(what_if->numbers, key, NULL, &number))
		return what_if->operations->pdata[GPOINTER_TO_UINT(number)];
	if (what_if->operations->len == WP_WHAT_IF_MAX_OPERATIONS)
		return NULL;
	g_hash_table_insert(what_if->numbers, g_steal_pointer(&key),
			    GUINT_TO_POINTER(what_if->operations->len));
	g_ptr_array_add(what_if->operations, lot_new(node, label));
	return what_if->operations->pdata[what_if->operations->len - 1];
}

/* The rule of each node, or NULL. */
static WpWhatIfRule **
rules_of_nodes(const WpWhatIf *what_if, const WpResolved *resolved)
{
	guint32 n = wp_resolved_n_nodes(resolved);
	WpWhatIfRule **rules = g_new0(WpWhatIfRule *, (gsize)n + 1);

	for (guint32 i = 0; i < n; i++)
		for (guint k = 0; k < what_if->rules->len && !rules[i]; k++) {
			WpWhatIfRule *rule = what_if->rules->pdata[k];
			if (wp_glob_matches(rule->node, wp_resolved_node_name(resolved, i)))
				rules[i] = rule;
		}
	return rules;
}

static void
fill_calls(const GArray *steps, const WpSpan *spans, const WpPaths *paths,
	   WpWhatIfRule *const *rules, GArray *calls)
{
	g_array_set_size(calls, steps->len);
	for (guint i = 0; i < steps->len; i++) {
		const WpPathStep *step = &g_array_index(steps, WpPathStep, i);
		const WpSpan *span = &spans[step->span];
		WpWhatIfRule *rule = rules[span->callee];
		gboolean has_ways = wp_span_is_paired(span);
		if (rule)
			rule->n_calls++;
		g_array_index(calls, WpWhatIfCall, i) =
			(WpWhatIfCall){ .parent = step->parent,
					.begin_ns = span->call_ns,
					.end_ns = paths->end_ns[step->span],
					.way_in_ns = has_ways ? span->way_in_ns : 0,
					.way_out_ns = has_ways ? span->way_out_ns : 0,
					.factor = rule ? rule->factor : 1 };
	}
}

void
wp_what_if_add(WpWhatIf *what_if, const WpAnalysis *analysis)
{
	const WpSpans *spans = wp_resolved_spans(analysis->resolved);
	const WpNodes *names = wp_trace_nodes(wp_resolved_trace(analysis->resolved));
	g_autoptr(WpPaths) paths = wp_paths_new(spans, wp_analysis_links(analysis), NULL, NULL);
	g_autofree WpWhatIfRule **rules = rules_of_nodes(what_if, analysis->resolved);
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(WpWhatIfCall));

	for (guint32 i = 0; i < paths->n_roots; i++) {
		const WpSpan *root = &spans->spans[paths->roots[i]];
		if (paths->end_ns[paths->roots[i]] == WP_NO_TIME || root->marks & WP_MARK_WAIT)
			continue;
		wp_paths_walk(paths, paths->roots[i], steps);
		fill_calls(steps, spans->spans, paths, rules, calls);
		gint64 after_ns = wp_what_if((const WpWhatIfCall *)(void *)calls->data, calls->len);
		gint64 before_ns = paths->end_ns[paths->roots[i]] - root->call_ns;
		WpWhatIfLot *lot =
			find_lot(what_if, wp_resolved_node_name(analysis->resolved, root->callee),
				 wp_nodes_text(names, root->label));
		for (guint k = 0; k < 2; k++) {
			WpWhatIfLot *into = k ? what_if->all : lot;
			if (!into)
				continue;
			wp_delay_add(into->before, before_ns);
			wp_delay_add(into->after, after_ns);
		}
	}
}

static double
change_of(const WpWhatIfLot *lot)
{
	return wp_delay_sum_ns(lot->before) - wp_delay_sum_ns(lot->after);
}

static int
compare_lots(gconstpointer a, gconstpointer b)
{
	const WpWhatIfLot *left = *(WpWhatIfLot *const *)a, *right = *(WpWhatIfLot *const *)b;
	double x = fabs(change_of(left)), y = fabs(change_of(right));

	if (x != y)
		return x > y ? -1 : 1;
	int order = strcmp(left->node, right->node);
	return order ? order : strcmp(left->label, right->label);
}

void
wp_what_if_finish(WpWhatIf *what_if)
{
	g_ptr_array_sort(what_if->operations, compare_lots);
}

/* --- pages --- */

/* (transfer full) "web takes 0.5 times as long (1,500 calls)" */
static char *
rule_text(const WpWhatIfRule *rule)
{
	char factor[WP_FORMAT_MAX];
	g_autofree char *calls = wp_words_count(rule->n_calls, "call");
	return g_strdup_printf("%s takes %s times as long by itself (%s)", rule->node,
			       wp_format_number(factor, rule->factor), calls);
}

char *
wp_what_if_rules_text(const WpWhatIf *what_if)
{
	GString *rules = g_string_new(NULL);
	for (guint i = 0; i < what_if->rules->len; i++) {
		g_autofree char *rule = rule_text(what_if->rules->pdata[i]);
		g_string_append_printf(rules, "%s%s", i ? "; " : "", rule);
	}
	return g_string_free(rules, FALSE);
}

const char wp_what_if_legend[] =
	"then = as it would have been: own times multiplied, calls as long after what they waited "
	"for as they were. Shorter lines before nodes that are faster are not counted.";

guint
wp_what_if_n_changed(const WpWhatIf *what_if)
{
	guint n = 0;
	while (n < what_if->operations->len && change_of(what_if->operations->pdata[n]) != 0)
		n++;
	return n;
}

double
wp_what_if_saved(const WpWhatIfLot *lot)
{
	double sum = wp_delay_sum_ns(lot->before);
	return sum > 0 ? change_of(lot) / sum : 0;
}

char *
wp_what_if_name(const WpWhatIfLot *lot)
{
	return *lot->node ? g_strconcat(lot->node, *lot->label ? "  " : "", lot->label, NULL)
			  : g_strdup("all requests");
}

static void
add_row(const WpWhatIfLot *lot, const WpPage *page, WpTable *table)
{
	static const double quantiles[] = { 0.5, 0.95 };
	char a[WP_FORMAT_MAX], b[WP_FORMAT_MAX];
	g_autofree char *plain = wp_what_if_name(lot);
	g_autofree char *name = wp_escape_terminal(plain, page->style.utf8);
	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table, wp_format_share(a, wp_what_if_saved(lot)));
	wp_table_cell(table, wp_format_count(a, wp_delay_count(lot->before)));
	wp_table_cell(table, wp_format_time(a, wp_delay_mean_ns(lot->before)));
	wp_table_cell(table, wp_format_time(b, wp_delay_mean_ns(lot->after)));
	for (guint i = 0; i < G_N_ELEMENTS(quantiles); i++) {
		wp_table_cell(table, wp_format_time(a, (double)wp_delay_quantile_ns(lot->before,
										    quantiles[i])));
		wp_table_cell(table, wp_format_time(b, (double)wp_delay_quantile_ns(lot->after,
										    quantiles[i])));
	}
	wp_table_cell(table, name);
}

void
wp_what_if_write_text(const WpWhatIf *what_if, const WpPage *page, WpOut *out)
{
	static const char *const headings[] = { "faster", "requests", "mean", "then",
						"p50",    "then",     "p95",  "then" };
	g_autoptr(WpTable) table = wp_table_new();
	g_autofree char *rules = wp_what_if_rules_text(what_if);
	guint n = wp_what_if_n_changed(what_if);
	guint shown = page->top ? MIN(page->top, n) : n;

	wp_text_heading(page, "What if", out);
	g_autofree char *safe = wp_escape_terminal(rules, page->style.utf8);
	wp_text_paragraph(page, safe, 2, out);
	wp_text_paragraph(page, wp_what_if_legend, 2, out);
	for (guint i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(table, headings[i], TRUE, 0);
	wp_table_column(table, "request", FALSE, 0);
	add_row(what_if->all, page, table);
	for (guint i = 0; i < shown; i++)
		add_row(what_if->operations->pdata[i], page, table);
	wp_table_write(table, &page->style, 2, out);
	if (n > shown)
		wp_out_printf(out, "  ... and %u more (--all)\n", n - shown);
	if (what_if->operations->len > n)
		wp_out_printf(out, "  %u kind%s of requests would be as they were.\n",
			      what_if->operations->len - n,
			      what_if->operations->len - n == 1 ? "" : "s");
}

static void
write_times(WpJson *json, const char *key, const WpDelay *delay)
{
	wp_json_open(json, key, '{');
	wp_json_number(json, "mean_ns", wp_delay_mean_ns(delay), 1);
	wp_json_int(json, "p50_ns", wp_delay_quantile_ns(delay, 0.5));
	wp_json_int(json, "p95_ns", wp_delay_quantile_ns(delay, 0.95));
	wp_json_int(json, "p99_ns", wp_delay_quantile_ns(delay, 0.99));
	wp_json_close(json, '}');
}

static void
write_lot(WpJson *json, const char *key, const WpWhatIfLot *lot)
{
	wp_json_open(json, key, '{');
	if (!key) {
		wp_json_text(json, "node", lot->node);
		wp_json_text(json, "operation", lot->label);
	}
	wp_json_uint(json, "count", wp_delay_count(lot->before));
	write_times(json, "before", lot->before);
	write_times(json, "after", lot->after);
	wp_json_close(json, '}');
}

void
wp_what_if_write_json(const WpWhatIf *what_if, WpJson *json)
{
	wp_json_open(json, "what_if", '{');
	wp_json_open(json, "rules", '[');
	for (guint i = 0; i < what_if->rules->len; i++) {
		const WpWhatIfRule *rule = what_if->rules->pdata[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "node", rule->node);
		wp_json_number(json, "factor", rule->factor, 6);
		wp_json_uint(json, "calls", rule->n_calls);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	write_lot(json, "all", what_if->all);
	wp_json_open(json, "operations", '[');
	for (guint i = 0; i < what_if->operations->len; i++)
		write_lot(json, NULL, what_if->operations->pdata[i]);
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}
