/* Line by line; see exposition.h. */
#include "tests/support/exposition.h"

#include <math.h>
#include <string.h>

#define NAME  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGIT "0123456789"

typedef struct {
	char *family; /* that samples belong to */
	char *type;
	GHashTable *families; /* seen */
	GHashTable *series;   /* likewise */
	/* Of a histogram: the series without le, what came of it so far. */
	char *histogram;
	double last_le;
	double last_count;
	gboolean has_sum;
	const char *wrong;
} Reader;

/* The length of a name at P: 0 = none. */
static gsize
name_length(const char *p)
{
	return strspn(p, NAME) ? strspn(p, NAME DIGIT) : 0;
}

static gboolean
fail(Reader *reader, const char *what)
{
	if (!reader->wrong)
		reader->wrong = what;
	return FALSE;
}

/* "# HELP name text" and "# TYPE name type". */
static gboolean
read_comment(Reader *reader, const char *line)
{
	gboolean is_help = g_str_has_prefix(line, "# HELP ");
	const char *name = line + strlen("# HELP ");
	gsize length = strlen(line) > 7 ? name_length(name) : 0;

	if ((!is_help && !g_str_has_prefix(line, "# TYPE ")) || !length || name[length] != ' ')
		return fail(reader, "neither HELP nor TYPE of a name");
	g_autofree char *family = g_strndup(name, length);
	if (is_help) {
		if (!g_hash_table_add(reader->families, g_strdup(family)))
			return fail(reader, "a family comes twice");
		g_free(reader->family);
		reader->family = g_steal_pointer(&family);
		g_clear_pointer(&reader->type, g_free);
		return TRUE;
	}
	static const char *const types[] = { "counter", "gauge", "histogram", NULL };
	if (g_strcmp0(family, reader->family) != 0 || reader->type)
		return fail(reader, "TYPE does not follow its HELP");
	reader->type = g_strdup(name + length + 1);
	if (!g_strv_contains(types, reader->type))
		return fail(reader, "an unknown type");
	if (strcmp(reader->type, "counter") == 0 && !g_str_has_suffix(family, "_total"))
		return fail(reader, "a counter that does not end in _total");
	return TRUE;
}

/* "..." at P: its end, or NULL. */
static const char *
skip_value(const char *p)
{
	if (*p++ != '"')
		return NULL;
	for (; *p && *p != '"'; p++)
		if (*p == '\\' && !strchr("\\\"n", *++p))
			return NULL;
	return *p ? p + 1 : NULL;
}

/* The labels at P: their end, or NULL. LE gets the value of le; REST all others. */
static const char *
read_labels(const char *p, GString *le, GString *rest)
{
	g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	do {
		const char *name = ++p;
		gsize length = name_length(name);
		const char *value = name + length + 1;
		if (!length || name[length] != '=' || !(p = skip_value(value)) ||
		    !g_hash_table_add(names, g_strndup(name, length)))
			return NULL;
		if (length == 2 && strncmp(name, "le", 2) == 0)
			g_string_append_len(le, value + 1, p - value - 2);
		else
			g_string_append_len(rest, name, p - name);
	} while (*p == ',');
	return *p == '}' ? p + 1 : NULL;
}

static gboolean
read_number(const char *text, double *out)
{
	char *end;

	if (!*text || g_ascii_isspace(*text))
		return FALSE;
	if (strcmp(text, "+Inf") == 0 || strcmp(text, "-Inf") == 0 || strcmp(text, "NaN") == 0) {
		*out = *text == '+' ? INFINITY : *text == '-' ? -INFINITY : NAN;
		return TRUE;
	}
	*out = g_ascii_strtod(text, &end);
	return !*end && strspn(text, "+-.eE" DIGIT) == strlen(text);
}

static gboolean
end_histogram(Reader *reader)
{
	gboolean ok = !reader->histogram;
	g_clear_pointer(&reader->histogram, g_free);
	return ok || fail(reader, "a histogram that does not end with its _count");
}

static gboolean
read_histogram(Reader *reader, const char *suffix, const char *le, const char *rest, double value)
{
	double bound;

	if (strcmp(suffix, "_bucket") == 0) {
		if (!read_number(le, &bound))
			return fail(reader, "a bucket without a bound");
		if (!reader->histogram) {
			reader->histogram = g_strdup(rest);
			reader->last_le = -INFINITY;
			reader->last_count = 0;
			reader->has_sum = FALSE;
		}
		if (strcmp(rest, reader->histogram) != 0 || bound <= reader->last_le ||
		    value < reader->last_count)
			return fail(reader, "buckets that do not ascend");
		reader->last_le = bound;
		reader->last_count = value;
		return TRUE;
	}
	if (*le || g_strcmp0(rest, reader->histogram) != 0 || !isinf(reader->last_le))
		return fail(reader, "a sum or count without all buckets before it");
	if (strcmp(suffix, "_sum") == 0) {
		reader->has_sum = TRUE;
		return TRUE;
	}
	if (strcmp(suffix, "_count") != 0 || !reader->has_sum || value != reader->last_count)
		return fail(reader, "a count that is not that of +Inf, or before the sum");
	g_clear_pointer(&reader->histogram, g_free);
	return TRUE;
}

/* name{labels} value */
static gboolean
read_sample(Reader *reader, const char *line)
{
	g_autoptr(GString) le = g_string_new(NULL), rest = g_string_new(NULL);
	gsize length = name_length(line);
	const char *end = line + length;
	double value;

	if (*end == '{')
		end = read_labels(end, le, rest);
	if (!length || !end || *end != ' ' || !read_number(end + 1, &value))
		return fail(reader, "not a sample");
	if (!reader->type || !g_str_has_prefix(line, reader->family))
		return fail(reader, "a sample outside its family");
	if (!g_hash_table_add(reader->series, g_strndup(line, (gsize)(end - line))))
		return fail(reader, "a series comes twice");
	g_autofree char *suffix =
		g_strndup(line + strlen(reader->family), length - strlen(reader->family));
	if (strcmp(reader->type, "histogram") == 0)
		return read_histogram(reader, suffix, le->str, rest->str, value);
	if (*suffix || le->len)
		return fail(reader, "a sample outside its family");
	return strcmp(reader->type, "counter") != 0 || value >= 0 ||
	       fail(reader, "a counter below zero");
}

char *
wp_exposition_check(const char *text, guint *out_n)
{
	g_autoptr(GHashTable) families =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) series = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	Reader reader = { .families = families, .series = series };
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	guint n = g_strv_length(lines), i = 0;
	gboolean ok = n > 0 && !*lines[n - 1] && g_utf8_validate(text, -1, NULL);

	if (!ok)
		fail(&reader, "no last end of line, or not UTF-8");
	for (; ok && i + 1 < n; i++)
		ok = *lines[i] == '#' ? end_histogram(&reader) && read_comment(&reader, lines[i])
				      : read_sample(&reader, lines[i]);
	ok = ok && end_histogram(&reader);
	g_free(reader.family);
	g_free(reader.type);
	g_free(reader.histogram);
	if (out_n)
		*out_n = g_hash_table_size(series);
	return ok ? NULL : g_strdup_printf("line %u: %s", i, reader.wrong);
}

double
wp_exposition_value(const char *text, const char *series)
{
	g_autofree char *wanted = g_strdup_printf("\n%s ", series);
	const char *at = strstr(text, wanted);
	return at ? g_ascii_strtod(at + strlen(wanted), NULL) : NAN;
}
