/* Values of a scenario; see value.h. */
#include "traces/value.h"

#include <string.h>

typedef struct {
	const char *name;
	double scale;
} Unit;

#define NUMBER_MAX 32
#define RANGE_MAX  1e15 /* ns: 10^6 s, so that no sum of delays overflows */

void
wp_value_skip_blanks(const char **at)
{
	while (**at == ' ' || **at == '\t')
		(*at)++;
}

gboolean
wp_value_take(const char **at, char c)
{
	wp_value_skip_blanks(at);
	if (**at != c)
		return FALSE;
	(*at)++;
	return TRUE;
}

static gboolean
is_end(char c)
{
	return c == '\0' || strchr(" \t,;(){}", c) != NULL;
}

char *
wp_value_word(const char **at)
{
	const char *begin;

	wp_value_skip_blanks(at);
	begin = *at;
	while (g_ascii_isalnum(**at) || (**at && strchr("-_.:@/*", **at)))
		(*at)++;
	return *at == begin ? NULL : g_strndup(begin, (gsize)(*at - begin));
}

/* Digits with at most one point; the value; what is behind it in *OUT_REST. */
static gboolean
split_number(const char *text, double *out_value, const char **out_rest)
{
	char number[NUMBER_MAX];
	gsize whole = strspn(text, "0123456789"), length = whole;

	if (whole == 0)
		return FALSE;
	if (text[length] == '.' && g_ascii_isdigit(text[length + 1]))
		length += 1 + strspn(text + length + 1, "0123456789");
	if (length >= sizeof number)
		return FALSE;
	memcpy(number, text, length);
	number[length] = '\0';
	*out_value = g_ascii_strtod(number, NULL);
	*out_rest = text + length;
	return TRUE;
}

static gboolean
read_unit(const char **at, const Unit *units, double *out_value)
{
	const char *text = *at, *rest;
	double value;

	wp_value_skip_blanks(&text);
	if (!split_number(text, &value, &rest))
		return FALSE;
	for (; units->name; units++) {
		gsize length = strlen(units->name);
		if (strncmp(rest, units->name, length) == 0 && is_end(rest[length])) {
			*out_value = value * units->scale;
			*at = rest + length;
			return TRUE;
		}
	}
	return FALSE;
}

/* As above, and within bounds. */
static gboolean
read_bounded(const char **at, const Unit *units, double maximum, double *out_value)
{
	const char *text = *at;
	double value;

	if (!read_unit(&text, units, &value) || value > maximum)
		return FALSE;
	*out_value = value;
	*at = text;
	return TRUE;
}

gboolean
wp_value_duration(const char **at, double *out_ns)
{
	static const Unit units[] = { { "ns", 1 },   { "us", 1e3 },   { "ms", 1e6 },  { "s", 1e9 },
				      { "m", 60e9 }, { "min", 60e9 }, { "h", 36e11 }, { NULL, 0 } };
	static const Unit nothing[] = { { "", 1 }, { NULL, 0 } };

	return read_bounded(at, units, RANGE_MAX, out_ns) || read_bounded(at, nothing, 0, out_ns);
}

gboolean
wp_value_share(const char **at, double *out_share)
{
	static const Unit units[] = { { "%", 0.01 }, { "", 1 }, { NULL, 0 } };

	return read_bounded(at, units, 1, out_share);
}

gboolean
wp_value_number(const char **at, double *out_value)
{
	static const Unit units[] = { { "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { NULL, 0 } };

	return read_bounded(at, units, 1e9, out_value);
}

gboolean
wp_value_rate(const char **at, double *out_per_s)
{
	static const Unit units[] = {
		{ "/s", 1 }, { "k/s", 1e3 }, { "/m", 1.0 / 60 }, { "/h", 1.0 / 3600 }, { NULL, 0 }
	};

	const char *text = *at;
	double value;

	if (!read_bounded(&text, units, 1e9, &value) || value < 1e-6)
		return FALSE;
	*out_per_s = value;
	*at = text;
	return TRUE;
}

/* Digits only. */
static gboolean
read_whole(const char **at, guint64 maximum, guint64 *out_value)
{
	const char *text = *at;
	guint64 value = 0;

	if (!g_ascii_isdigit(*text))
		return FALSE;
	for (; g_ascii_isdigit(*text); text++) {
		guint64 digit = (guint64)(*text - '0');
		if (value > (maximum - MIN(digit, maximum)) / 10 || digit > maximum)
			return FALSE;
		value = value * 10 + digit;
	}
	*out_value = value;
	*at = text;
	return TRUE;
}

gboolean
wp_value_range(const char **at, guint32 maximum, guint32 *out_from, guint32 *out_to)
{
	const char *text = *at;
	guint64 from, to;

	wp_value_skip_blanks(&text);
	if (!read_whole(&text, maximum, &from))
		return FALSE;
	to = from;
	if (text[0] == '.' && text[1] == '.') {
		text += 2;
		if (!read_whole(&text, maximum, &to))
			return FALSE;
	}
	if (!is_end(*text) || to < from)
		return FALSE;
	*out_from = (guint32)from;
	*out_to = (guint32)to;
	*at = text;
	return TRUE;
}

gboolean
wp_value_count(const char *text, guint64 maximum, guint64 *out_value)
{
	guint64 value;

	if (!read_whole(&text, maximum, &value) || *text)
		return FALSE;
	*out_value = value;
	return TRUE;
}

/* How many letters must be put in, taken out or changed to make A of B; long words count as far. */
static guint
edit_distance(const char *a, const char *b)
{
	guint row[NUMBER_MAX + 1];
	gsize n = strlen(b);

	if (n > NUMBER_MAX)
		return G_MAXUINT;
	for (guint j = 0; j <= n; j++)
		row[j] = j;
	for (guint i = 1; *a; a++, i++) {
		guint corner = row[0];
		row[0] = i;
		for (guint j = 1; j <= n; j++) {
			guint change = corner + (*a != b[j - 1]);
			corner = row[j];
			row[j] = MIN(change, MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[n];
}

char *
wp_value_hint(const char *word, const char *const *names)
{
	const char *best = NULL;
	guint best_distance = 1 + MIN((guint)strlen(word) / 2, 3); /* "a" is not meant to be "b" */

	for (; *names; names++) {
		guint distance = edit_distance(word, *names);
		if (distance < best_distance) {
			best = *names;
			best_distance = distance;
		}
	}
	return best ? g_strdup_printf(" (did you mean \"%s\"?)", best) : g_strdup("");
}
