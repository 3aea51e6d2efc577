/*
 * The parser: an argument is split into name and value, all entries of that name are found, and the
 * kind's own function stores the value. Each kind is a row of kinds[].
 */
#include "report/options.h"

#include <string.h>

#include "report/error.h"
#include "report/format.h"

typedef struct {
	const char *title;
	const WpOption *table;
	gpointer target;
} Group;

struct WpOptions {
	GArray *groups;            /* Group */
	GHashTable *given;         /* names that were given, borrowed */
	const GPtrArray *operands; /* so far, while arguments are parsed */
	void (*action)(WpOut *out);
};

WpOptions *
wp_options_new(void)
{
	WpOptions *options = g_new0(WpOptions, 1);
	options->groups = g_array_new(FALSE, FALSE, sizeof(Group));
	options->given = g_hash_table_new(g_str_hash, g_str_equal);
	return options;
}

void
wp_options_free(WpOptions *options)
{
	if (!options)
		return;
	g_array_unref(options->groups);
	g_hash_table_unref(options->given);
	g_free(options);
}

void
wp_options_add(WpOptions *options, const char *title, const WpOption *table, gpointer target)
{
	Group group = { title, table, target };
	g_array_append_val(options->groups, group);
}

void (*wp_options_action(const WpOptions *options))(WpOut *out)
{
	return options->action;
}

gboolean
wp_options_given(const WpOptions *options, const char *name)
{
	return g_hash_table_contains(options->given, name);
}

/* Kinds: each stores VALUE in TARGET; NULL or what was expected. */

static const char *
in_bounds(const WpOption *option, double value)
{
	if (option->minimum == 0 && option->maximum == 0)
		return NULL;
	if (value >= option->minimum && value <= option->maximum)
		return NULL;
	return "a value within its bounds";
}

static const char *
store_flag(const WpOption *option, const char *value, gpointer target)
{
	(void)option;
	*(gboolean *)target = value == NULL;
	return NULL;
}

static const char *
store_count(const WpOption *option, const char *value, gpointer target)
{
	(void)option;
	int *count = target;
	*count = value ? 0 : *count + 1;
	return NULL;
}

static const char *
store_int(const WpOption *option, const char *value, gpointer target)
{
	gint64 number;
	if (!wp_parse_int(value, &number))
		return "a whole number";
	const char *wrong = in_bounds(option, (double)number);
	if (!wrong)
		*(gint64 *)target = number;
	return wrong;
}

static const char *
store_double(const WpOption *option, const char *value, gpointer target)
{
	double number;
	if (!wp_parse_double(value, &number))
		return "a number";
	const char *wrong = in_bounds(option, number);
	if (!wrong)
		*(double *)target = number;
	return wrong;
}

static const char *
store_share(const WpOption *option, const char *value, gpointer target)
{
	double share;
	if (!wp_parse_share(value, &share))
		return "a share such as 5% or 0.05";
	const char *wrong = in_bounds(option, share);
	if (!wrong)
		*(double *)target = share;
	return wrong;
}

static const char *
store_duration(const WpOption *option, const char *value, gpointer target)
{
	gint64 ns;
	if (!wp_parse_duration(value, &ns))
		return "a time with its unit: 250us, 5ms, 1.5s, 2m or 1h";
	const char *wrong = in_bounds(option, (double)ns);
	if (!wrong)
		*(gint64 *)target = ns;
	return wrong;
}

static const char *
store_bytes(const WpOption *option, const char *value, gpointer target)
{
	guint64 bytes;
	if (!wp_parse_bytes(value, &bytes))
		return "a number of bytes: 500k, 64M, 1G (powers of 1000), 64Ki (of 1024)";
	const char *wrong = in_bounds(option, (double)bytes);
	if (!wrong)
		*(guint64 *)target = bytes;
	return wrong;
}

static const char *
store_time(const WpOption *option, const char *value, gpointer target)
{
	WpTimeOption time = { .is_set = TRUE, .is_offset = value[0] == '+' };
	for (const char *const *word = option->choices; word && *word; word++)
		if (strcmp(value, *word) == 0) {
			*(WpTimeOption *)target = (WpTimeOption){ .word = *word };
			return NULL;
		}
	if (time.is_offset ? !wp_parse_duration(value + 1, &time.ns)
			   : !wp_parse_date(value, &time.ns))
		return "seconds since 1970, 2026-10-20T08:15:05Z, or +10s from the start";
	*(WpTimeOption *)target = time;
	return NULL;
}

static const char *
store_text(const WpOption *option, const char *value, gpointer target)
{
	(void)option;
	*(const char **)target = value;
	return *value ? NULL : "something";
}

static const char *
store_texts(const WpOption *option, const char *value, gpointer target)
{
	(void)option;
	g_ptr_array_add(*(GPtrArray **)target, (gpointer)value);
	return *value ? NULL : "something";
}

static const char *
store_word(const WpOption *option, const char *value, gpointer target)
{
	WpWords *words = target;

	(void)option;
	if (words->n == WP_WORDS_MAX)
		return "given at most 32 times";
	words->words[words->n++] = value;
	return *value ? NULL : "something";
}

/* VALUE: here the number of operands, as text. */
static const char *
store_mark(const WpOption *option, const char *value, gpointer target)
{
	WpMarks *marks = target;
	gint64 at = 0;
	if (marks->n == WP_MARKS_MAX || !wp_parse_int(value, &at))
		return "given at most 32 times";
	marks->names[marks->n] = option->name;
	marks->at[marks->n++] = (guint)at;
	return NULL;
}

static const char *
store_choice(const WpOption *option, const char *value, gpointer target)
{
	for (int i = 0; option->choices[i]; i++)
		if (strcmp(option->choices[i], value) == 0) {
			*(int *)target = i;
			return NULL;
		}
	return "";
}

typedef struct {
	gboolean takes_value;
	const char *(*store)(const WpOption *option, const char *value, gpointer target);
} Kind;

static const Kind kinds[WP_OPT_N_KINDS] = {
	[WP_OPT_FLAG] = { FALSE, store_flag },    [WP_OPT_COUNT] = { FALSE, store_count },
	[WP_OPT_INT] = { TRUE, store_int },       [WP_OPT_DOUBLE] = { TRUE, store_double },
	[WP_OPT_SHARE] = { TRUE, store_share },   [WP_OPT_DURATION] = { TRUE, store_duration },
	[WP_OPT_BYTES] = { TRUE, store_bytes },   [WP_OPT_TIME] = { TRUE, store_time },
	[WP_OPT_TEXT] = { TRUE, store_text },     [WP_OPT_TEXTS] = { TRUE, store_texts },
	[WP_OPT_WORDS] = { TRUE, store_word },    [WP_OPT_MARK] = { FALSE, store_mark },
	[WP_OPT_CHOICE] = { TRUE, store_choice }, [WP_OPT_ACTION] = { FALSE, NULL },
};

static gboolean usage_error(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean
usage_error(GError **error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	g_autofree char *text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error_literal(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE, text);
	return FALSE;
}

/* Distance of two words: letters to insert, delete or replace (Levenshtein), or neighbours swapped. */
static guint
word_distance(const char *a, const char *b)
{
	gsize n = strlen(b);
	g_autofree guint *rows = g_new(guint, 3 * (n + 1));
	guint *before = rows, *last = rows + n + 1, *row = rows + 2 * (n + 1);
	for (gsize j = 0; j <= n; j++)
		last[j] = (guint)j;
	for (gsize i = 1; a[i - 1]; i++) {
		row[0] = (guint)i;
		for (gsize j = 1; j <= n; j++) {
			guint best = last[j - 1] + (a[i - 1] != b[j - 1]);
			best = MIN(best, MIN(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, before[j - 2] + 1);
			row[j] = best;
		}
		guint *oldest = before;
		before = last;
		last = row;
		row = oldest;
	}
	return last[n];
}

const char *
wp_nearest_name(const char *word, const char *const *names)
{
	const char *nearest = NULL;
	gsize length = strlen(word);
	/* More than a third of the letters wrong is another word. */
	guint best = (guint)MAX(length / 3, 1) + 1;
	if (length > 100)
		return NULL;
	for (; *names; names++) {
		guint distance = word_distance(word, *names);
		if (distance < best) {
			best = distance;
			nearest = *names;
		}
		/* The beginning of a longer name, where nothing is nearer. */
		if (!nearest && length > 2 && g_str_has_prefix(*names, word))
			nearest = *names;
	}
	return nearest;
}

static const char *
nearest_option(const WpOptions *options, const char *word)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	for (guint i = 0; i < options->groups->len; i++)
		for (const WpOption *o = g_array_index(options->groups, Group, i).table; o->name;
		     o++)
			g_ptr_array_add(names, (gpointer)o->name);
	g_ptr_array_add(names, NULL);
	return wp_nearest_name(word, (const char *const *)names->pdata);
}

/* Calls FUNC's work inline: the first option for which NAME (or SHORT_NAME) fits. */
static const WpOption *
find_option(const WpOptions *options, const char *name, char short_name)
{
	for (guint i = 0; i < options->groups->len; i++)
		for (const WpOption *o = g_array_index(options->groups, Group, i).table; o->name;
		     o++)
			if (name ? strcmp(o->name, name) == 0
				 : o->short_name && o->short_name == short_name)
				return o;
	return NULL;
}

static gboolean
value_error(const WpOption *option, const char *value, const char *expected, GError **error)
{
	char low[WP_FORMAT_MAX], high[WP_FORMAT_MAX];
	if (option->kind == WP_OPT_CHOICE) {
		g_autofree char *known = g_strjoinv(", ", (char **)option->choices);
		const char *nearest = wp_nearest_name(value, option->choices);
		return usage_error(error, "--%s=%s: expected one of %s%s%s%s", option->name, value,
				   known, nearest ? "\ndid you mean " : "", nearest ? nearest : "",
				   nearest ? "?" : "");
	}
	if (!g_str_has_prefix(expected, "a value within"))
		return usage_error(error, "--%s=%s: expected %s", option->name, value, expected);
	if (option->kind == WP_OPT_DURATION) {
		wp_format_time(low, option->minimum);
		wp_format_time(high, option->maximum);
	} else {
		g_ascii_formatd(low, sizeof low, "%.10g", option->minimum);
		g_ascii_formatd(high, sizeof high, "%.10g", option->maximum);
	}
	return usage_error(error, "--%s=%s: expected a value from %s to %s", option->name, value,
			   low, high);
}

/* Stores VALUE in every table that has an option of this name. */
static gboolean
store(WpOptions *options, const WpOption *option, const char *value, GError **error)
{
	char n_operands[WP_FORMAT_MAX];
	if (option->kind == WP_OPT_MARK) {
		n_operands[wp_format_uint(n_operands, options->operands->len)] = 0;
		value = n_operands;
	}
	g_hash_table_add(options->given, (gpointer)option->name);
	if (option->kind == WP_OPT_ACTION) {
		if (!options->action)
			options->action = option->action;
		return TRUE;
	}
	for (guint i = 0; i < options->groups->len; i++) {
		const Group *group = &g_array_index(options->groups, Group, i);
		for (const WpOption *o = group->table; o->name; o++) {
			if (strcmp(o->name, option->name) != 0)
				continue;
			const char *wrong =
				kinds[o->kind].store(o, value, (char *)group->target + o->offset);
			if (wrong)
				return value_error(o, value, wrong, error);
		}
	}
	return TRUE;
}

typedef struct {
	char **argv;
	gsize n;
	gsize at;
} Arguments;

static gboolean
take_value(Arguments *arguments, const WpOption *option, const char **value, GError **error)
{
	if (*value)
		return TRUE;
	if (arguments->at >= arguments->n)
		return usage_error(error, "--%s needs a value: --%s %s", option->name, option->name,
				   option->argument);
	*value = arguments->argv[arguments->at++];
	return TRUE;
}

static gboolean
unknown_option(const WpOptions *options, const char *name, GError **error)
{
	const char *nearest = nearest_option(options, name);
	if (nearest)
		return usage_error(error, "unknown option --%s\ndid you mean --%s?", name, nearest);
	return usage_error(error, "unknown option --%s\n--help lists the options", name);
}

/* "--no-name" undoes a flag. */
static const WpOption *
find_negated(const WpOptions *options, const char *name)
{
	if (!g_str_has_prefix(name, "no-"))
		return NULL;
	const WpOption *option = find_option(options, name + 3, 0);
	if (!option || (option->kind != WP_OPT_FLAG && option->kind != WP_OPT_COUNT))
		return NULL;
	return option;
}

static gboolean
parse_long(WpOptions *options, const char *text, Arguments *arguments, GError **error)
{
	const char *equals = strchr(text, '=');
	const char *value = equals ? equals + 1 : NULL;
	g_autofree char *name = equals ? g_strndup(text, (gsize)(equals - text)) : g_strdup(text);
	const WpOption *option = find_option(options, name, 0);
	if (!option && !value) {
		const WpOption *negated = find_negated(options, name);
		if (negated)
			return store(options, negated, "no", error);
	}
	if (!option)
		return unknown_option(options, name, error);
	if (!kinds[option->kind].takes_value && value)
		return usage_error(error, "--%s takes no value", name);
	if (kinds[option->kind].takes_value && !take_value(arguments, option, &value, error))
		return FALSE;
	return store(options, option, value, error);
}

/* "-v", "-vv", "-n5", "-n 5" */
static gboolean
parse_short(WpOptions *options, const char *text, Arguments *arguments, GError **error)
{
	for (; *text; text++) {
		const WpOption *option = find_option(options, NULL, *text);
		const char *value = NULL;
		if (!option)
			return usage_error(error, "unknown option -%c\n--help lists the options",
					   *text);
		if (kinds[option->kind].takes_value) {
			value = text[1] ? text + 1 : NULL;
			return take_value(arguments, option, &value, error) &&
			       store(options, option, value, error);
		}
		if (!store(options, option, NULL, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean
check_conflicts(const WpOptions *options, GError **error)
{
	for (guint i = 0; i < options->groups->len; i++)
		for (const WpOption *o = g_array_index(options->groups, Group, i).table; o->name;
		     o++)
			if (o->excludes && wp_options_given(options, o->name) &&
			    wp_options_given(options, o->excludes))
				return usage_error(error, "--%s and --%s exclude each other",
						   o->name, o->excludes);
	return TRUE;
}

gboolean
wp_options_parse(WpOptions *options, char **argv, gsize n, GPtrArray *operands, GError **error)
{
	Arguments arguments = { argv, n, 0 };
	gboolean ended = FALSE;
	options->operands = operands;
	while (arguments.at < n) {
		char *text = argv[arguments.at++];
		gboolean ok = TRUE;
		if (ended || text[0] != '-' || !text[1])
			g_ptr_array_add(operands, text);
		else if (strcmp(text, "--") == 0)
			ended = TRUE;
		else if (text[1] == '-')
			ok = parse_long(options, text + 2, &arguments, error);
		else
			ok = parse_short(options, text + 1, &arguments, error);
		if (!ok)
			return FALSE;
	}
	return check_conflicts(options, error);
}

/* Column at which the explanations of --help begin. */
#define HELP_COLUMN 26

/* ... and end: a terminal of 80 columns is the least. */
#define HELP_WIDTH 79

/* TEXT behind HELP_COLUMN, broken at blanks; the line has WIDTH already. */
static void
help_words(const char *text, gsize width, WpOut *out)
{
	g_auto(GStrv) words = g_strsplit_set(text, " \n", -1);
	for (gsize i = 0; words[i]; i++) {
		gboolean is_first = width < HELP_COLUMN;
		if (!is_first && width + 1 + strlen(words[i]) > HELP_WIDTH) {
			wp_out_char(out, '\n');
			width = 0;
			is_first = TRUE;
		}
		if (is_first)
			wp_out_fill(out, ' ', HELP_COLUMN - width);
		else
			wp_out_char(out, ' ');
		wp_out_text(out, words[i]);
		width = (is_first ? HELP_COLUMN : width + 1) + strlen(words[i]);
	}
}

static void
help_option(const WpOption *option, WpOut *out)
{
	g_autofree char *left = g_strdup_printf("  %c%c%c --%s%s%s", option->short_name ? '-' : ' ',
						option->short_name ? option->short_name : ' ',
						option->short_name ? ',' : ' ', option->name,
						option->argument ? " " : "",
						option->argument ? option->argument : "");
	gsize width = strlen(left);
	wp_out_text(out, left);
	if (width + 2 > HELP_COLUMN) {
		wp_out_char(out, '\n');
		width = 0;
	}
	help_words(option->help, width, out);
	wp_out_char(out, '\n');
}

/* TRUE where an earlier table has an option of this name: help shows it once. */
static gboolean
is_shown(const WpOptions *options, guint group, const char *name)
{
	for (guint i = 0; i < group; i++)
		for (const WpOption *o = g_array_index(options->groups, Group, i).table; o->name;
		     o++)
			if (strcmp(o->name, name) == 0)
				return TRUE;
	return FALSE;
}

void
wp_options_help(const WpOptions *options, WpOut *out)
{
	for (guint i = 0; i < options->groups->len; i++) {
		const Group *group = &g_array_index(options->groups, Group, i);
		if (*group->title)
			wp_out_printf(out, "\n%s\n", group->title);
		for (const WpOption *option = group->table; option->name; option++)
			if (!is_shown(options, i, option->name))
				help_option(option, out);
	}
}

void
wp_options_foreach(const WpOptions *options, WpOptionFunc func, gpointer data)
{
	for (guint i = 0; i < options->groups->len; i++)
		for (const WpOption *o = g_array_index(options->groups, Group, i).table; o->name;
		     o++)
			if (!is_shown(options, i, o->name))
				func(o, data);
}
