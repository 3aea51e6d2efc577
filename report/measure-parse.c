/* The language of measure.h: one pass, no backtracking; what is wrong is said where it stands. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "report/error.h"
#include "report/format.h"
#include "report/measure-private.h"
#include "report/options.h"

/* Nobody writes more by hand. */
#define MAX_TEXT 10000

typedef struct {
	WpMeasure *measure;
	const char *at;
	GError **error;
} Parser;

/* --- functions --- */

static double
get_mean(const WpDelay *values, double quantile)
{
	(void)quantile;
	return wp_delay_mean_ns(values);
}

static double
get_sum(const WpDelay *values, double quantile)
{
	(void)quantile;
	return wp_delay_sum_ns(values);
}

static double
get_count(const WpDelay *values, double quantile)
{
	(void)quantile;
	return (double)wp_delay_count(values);
}

static double
get_min(const WpDelay *values, double quantile)
{
	(void)quantile;
	return (double)wp_delay_min_ns(values);
}

static double
get_max(const WpDelay *values, double quantile)
{
	(void)quantile;
	return (double)wp_delay_max_ns(values);
}

static double
get_sd(const WpDelay *values, double quantile)
{
	(void)quantile;
	return wp_delay_sd_ns(values);
}

static double
get_quantile(const WpDelay *values, double quantile)
{
	return (double)wp_delay_quantile_ns(values, quantile);
}

static const WpMeasureFunction functions[] = {
	{ "avg", get_mean, FALSE }, { "sum", get_sum, FALSE }, { "count", get_count, TRUE },
	{ "min", get_min, FALSE },  { "max", get_max, FALSE }, { "sd", get_sd, FALSE },
};

static const WpMeasureFunction percentile = { "p", get_quantile, FALSE };

static const struct {
	const char *name;
	WpMeasureWhose whose;
} calls[] = {
	{ "a", WP_MEASURE_OWN },         { "b", WP_MEASURE_PARENT },
	{ "parent", WP_MEASURE_PARENT }, { "previous", WP_MEASURE_PREVIOUS },
	{ "child", WP_MEASURE_CHILD },
};

/* --- words --- */

static gboolean
fail(Parser *parser, const char *what)
{
	if (*parser->at)
		g_set_error(parser->error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--expr: %s at \"%s\"\nsuch as: avg(latency) by node", what,
			    parser->at);
	else
		g_set_error(parser->error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--expr: %s at its end\nsuch as: avg(latency) by node", what);
	return FALSE;
}

static void
skip_blanks(Parser *parser)
{
	while (g_ascii_isspace(*parser->at))
		parser->at++;
}

/* (transfer full) The word at hand, "" where there is none; it stays. */
static char *
peek_word(Parser *parser)
{
	gsize length = 0;
	skip_blanks(parser);
	while (g_ascii_isalnum(parser->at[length]))
		length++;
	return g_strndup(parser->at, length);
}

static gboolean
accept(Parser *parser, char c)
{
	skip_blanks(parser);
	if (*parser->at != c)
		return FALSE;
	parser->at++;
	return TRUE;
}

static gboolean
accept_word(Parser *parser, const char *word)
{
	g_autofree char *own = peek_word(parser);
	if (strcmp(own, word) != 0)
		return FALSE;
	parser->at += strlen(word);
	return TRUE;
}

/* --- parts --- */

/* "p95": the percentile, or 0. */
static double
percentile_of(const char *word)
{
	gint64 value;
	if (word[0] != 'p' || !wp_parse_int(word + 1, &value) || value < 1 || value > 99)
		return 0;
	return (double)value / 100;
}

static gboolean
parse_function(Parser *parser)
{
	WpMeasure *measure = parser->measure;
	g_autofree char *word = peek_word(parser);
	measure->quantile = percentile_of(word);
	if (measure->quantile > 0)
		measure->function = &percentile;
	for (gsize i = 0; i < G_N_ELEMENTS(functions); i++)
		if (strcmp(functions[i].name, word) == 0)
			measure->function = &functions[i];
	if (!measure->function)
		return fail(parser, "avg, sum, count, min, max, sd or p1 to p99 is expected");
	parser->at += strlen(word);
	return accept(parser, '(') ? TRUE : fail(parser, "( is expected");
}

/* Of whose call; the call itself where no name of one stands there. */
static gboolean
parse_whose(Parser *parser, WpMeasureWhose *out_whose)
{
	g_autofree char *word = peek_word(parser);
	*out_whose = WP_MEASURE_OWN;
	if (parser->at[strlen(word)] != '.')
		return TRUE;
	for (gsize i = 0; i < G_N_ELEMENTS(calls); i++)
		if (strcmp(calls[i].name, word) == 0) {
			*out_whose = calls[i].whose;
			parser->at += strlen(word) + 1;
			return TRUE;
		}
	return fail(parser, "a, b, parent, previous or child is expected");
}

static gboolean
parse_term(Parser *parser, gboolean is_minus)
{
	WpMeasure *measure = parser->measure;
	WpMeasureTerm term = { .is_minus = is_minus };
	if (measure->n_terms >= WP_MEASURE_MAX_TERMS)
		return fail(parser, "there are too many terms");
	if (!parse_whose(parser, &term.whose))
		return FALSE;
	g_autofree char *word = peek_word(parser);
	for (const WpMeasureField *field = wp_measure_fields; field->name; field++)
		if (strcmp(field->name, word) == 0)
			term.field = field;
	if (!term.field)
		return fail(parser, "call, return, latency, self, size or errors is expected");
	if (measure->n_terms && term.field->unit != measure->terms[0].field->unit)
		return fail(parser, "times, sizes and errors do not mix: another is expected");
	parser->at += strlen(word);
	measure->uses[term.whose] = TRUE;
	measure->terms[measure->n_terms++] = term;
	return TRUE;
}

/* Points in time say something where as many are taken away as stand there. */
static gboolean
check_points(Parser *parser)
{
	const WpMeasure *measure = parser->measure;
	gint64 points = 0;
	for (guint i = 0; i < measure->n_terms; i++)
		if (measure->terms[i].field->is_point)
			points += measure->terms[i].is_minus ? -1 : 1;
	if (points == 0 || measure->function->is_count)
		return TRUE;
	return fail(parser, "a point in time is to be taken from another: - or + is expected");
}

static gboolean
parse_value(Parser *parser)
{
	gboolean is_minus = FALSE;
	do {
		if (!parse_term(parser, is_minus))
			return FALSE;
		skip_blanks(parser);
		is_minus = *parser->at == '-';
	} while (accept(parser, '-') || accept(parser, '+'));
	if (!check_points(parser))
		return FALSE;
	return accept(parser, ')') ? TRUE : fail(parser, "), - or + is expected");
}

/* The length of stretches: "(10s)" */
static gboolean
parse_width(Parser *parser)
{
	if (!accept(parser, '('))
		return fail(parser, "( is expected");
	skip_blanks(parser);
	g_autofree char *text = g_strndup(parser->at, strcspn(parser->at, " )"));
	if (!wp_parse_duration(text, &parser->measure->width_ns) || parser->measure->width_ns <= 0)
		return fail(parser, "a time with its unit (500ms, 10s) is expected");
	parser->at += strlen(text);
	return accept(parser, ')') ? TRUE : fail(parser, ") is expected");
}

static gboolean
parse_key(Parser *parser)
{
	WpMeasure *measure = parser->measure;
	const WpMeasureKey *key = wp_measure_keys;
	g_autofree char *word = peek_word(parser);
	while (key->name && strcmp(key->name, word) != 0)
		key++;
	if (!key->name)
		return fail(parser, "node, caller, edge, operation, protocol or time(10s) is "
				    "expected");
	for (guint i = 0; i < measure->n_keys; i++)
		if (measure->keys[i] == key)
			return fail(parser, "another key is expected");
	if (measure->n_keys >= WP_MEASURE_MAX_KEYS)
		return fail(parser, "there are too many keys");
	parser->at += strlen(word);
	measure->keys[measure->n_keys++] = key;
	return key->is_time ? parse_width(parser) : TRUE;
}

static gboolean
parse_keys(Parser *parser)
{
	if (!accept_word(parser, "by"))
		return TRUE;
	do {
		if (!parse_key(parser))
			return FALSE;
	} while (accept(parser, ','));
	return TRUE;
}

static gboolean
parse_where(Parser *parser)
{
	if (accept_word(parser, "where")) {
		skip_blanks(parser);
		parser->measure->where = wp_where_new_within(parser->at, parser->error);
		return parser->measure->where != NULL;
	}
	skip_blanks(parser);
	if (!*parser->at)
		return TRUE;
	return fail(parser, parser->measure->n_keys ? "\",\" or where is expected"
						    : "by or where is expected");
}

WpMeasure *
wp_measure_new(const char *text, GError **error)
{
	g_autoptr(WpMeasure) measure = g_new0(WpMeasure, 1);
	Parser parser = { measure, text, error };
	if (strlen(text) > MAX_TEXT) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--expr: an expression has at most %d characters", MAX_TEXT);
		return NULL;
	}
	measure->text = g_strdup(text);
	measure->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	measure->groups = g_ptr_array_new();
	measure->names = g_string_chunk_new(1024);
	if (!parse_function(&parser) || !parse_value(&parser) || !parse_keys(&parser) ||
	    !parse_where(&parser))
		return NULL;
	return g_steal_pointer(&measure);
}
