/*
 * Numbers and times to text and back. Neither printf's %f nor strtod are used on their own: both
 * follow the locale ("1,5" under de_DE).
 */
#include "report/format.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

/* Decimals that leave three significant digits of VALUE (which is below 1000). */
static int
decimals_for(double value)
{
	double size = fabs(value);
	if (size < 9.995)
		return 2;
	return size < 99.95 ? 1 : 0;
}

static void
append_fixed(char *buffer, double value, int decimals, const char *unit)
{
	char number[WP_FORMAT_MAX], format[8];
	g_snprintf(format, sizeof format, "%%.%df", decimals);
	g_ascii_formatd(number, sizeof number, format, value);
	g_snprintf(buffer, WP_FORMAT_MAX, "%s%s", number, unit);
}

/* A chain of units: a value is shown in the first one in which it stays below LIMIT. */
typedef struct {
	const char *unit;
	double scale; /* in the base unit */
	double limit; /* in this unit; rounding taken into account */
} Unit;

static const char *
format_units(char *buffer, double value, const Unit *units)
{
	while (units[1].unit && fabs(value) / units->scale >= units->limit)
		units++;
	value /= units->scale;
	gboolean exact = units->scale == 1 && value == floor(value);
	append_fixed(buffer, value, exact ? 0 : decimals_for(value), units->unit);
	return buffer;
}

const char *
wp_format_time(char *buffer, double ns)
{
	static const Unit units[] = {
		{ " ns", 1, 999.5 },         { " us", 1e3, 999.5 },   { " ms", 1e6, 999.5 },
		{ " s", 1e9, 999.5 },        { " min", 60e9, 599.5 }, { " h", 3600e9, 999.5 },
		{ " d", 86400e9, HUGE_VAL }, { NULL, 0, 0 },
	};
	if (ns == 0) {
		g_strlcpy(buffer, "0", WP_FORMAT_MAX);
		return buffer;
	}
	return format_units(buffer, ns, units);
}

const char *
wp_format_bytes(char *buffer, guint64 bytes)
{
	static const Unit units[] = {
		{ " B", 1, 999.5 },    { " kB", 1e3, 999.5 },     { " MB", 1e6, 999.5 },
		{ " GB", 1e9, 999.5 }, { " TB", 1e12, HUGE_VAL }, { NULL, 0, 0 },
	};
	return format_units(buffer, (double)bytes, units);
}

const char *
wp_format_number(char *buffer, double value)
{
	append_fixed(buffer, value, decimals_for(value), "");
	return buffer;
}

const char *
wp_format_share(char *buffer, double share)
{
	double percent = 100 * share;
	if (percent > 0 && percent < 0.05)
		g_strlcpy(buffer, "<0.1%", WP_FORMAT_MAX);
	else if (percent > 99.95 && percent < 100)
		g_strlcpy(buffer, "99.9%", WP_FORMAT_MAX);
	else
		append_fixed(buffer, percent, percent == 0 || fabs(percent) >= 99.95 ? 0 : 1, "%");
	return buffer;
}

/* The digits of VALUE, which is under 100, before END. */
static inline char *
put_two_digits(char *end, guint value)
{
	end[-2] = (char)('0' + value / 10);
	end[-1] = (char)('0' + value % 10);
	return end - 2;
}

gsize
wp_format_uint(char *buffer, guint64 value)
{
	char digits[24], *end = digits + sizeof digits, *at = end;
	for (; value >= 100; value /= 100)
		at = put_two_digits(at, (guint)(value % 100));
	at = put_two_digits(at, (guint)value);
	at += *at == '0' && value < 10;
	gsize n = (gsize)(end - at);
	memcpy(buffer, at, n);
	buffer[n] = '\0';
	return n;
}

const char *
wp_format_count(char *buffer, guint64 count)
{
	char digits[24];
	gsize n = wp_format_uint(digits, count), at = 0;
	for (gsize i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buffer[at++] = ',';
		buffer[at++] = digits[i];
	}
	buffer[at] = '\0';
	return buffer;
}

gsize
wp_format_epoch(char *buffer, gint64 ns)
{
	gsize at = 0;
	guint64 size = ns < 0 ? -(guint64)ns : (guint64)ns;
	if (ns < 0)
		buffer[at++] = '-';
	at += wp_format_uint(buffer + at, size / NS_PER_S);
	buffer[at++] = '.';
	guint32 rest = (guint32)(size % NS_PER_S);
	for (char *end = buffer + at + 9; end > buffer + at + 1; rest /= 100)
		end = put_two_digits(end, rest % 100);
	buffer[at] = (char)('0' + rest);
	at += 9;
	buffer[at] = '\0';
	return at;
}

const char *
wp_format_date(char *buffer, gint64 ns)
{
	gint64 seconds = ns / NS_PER_S, rest = ns % NS_PER_S;
	if (rest < 0) {
		rest += NS_PER_S;
		seconds--;
	}
	g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(seconds);
	if (!date) {
		wp_format_epoch(buffer, ns);
		return buffer;
	}
	g_snprintf(buffer, WP_FORMAT_MAX, "%04d-%02d-%02d %02d:%02d:%02d.%03d UTC",
		   g_date_time_get_year(date), g_date_time_get_month(date),
		   g_date_time_get_day_of_month(date), g_date_time_get_hour(date),
		   g_date_time_get_minute(date), g_date_time_get_second(date),
		   (int)(rest / 1000000));
	return buffer;
}

gboolean
wp_parse_int(const char *text, gint64 *out_value)
{
	gint64 value;
	if (!g_ascii_string_to_signed(text, 10, G_MININT64, G_MAXINT64, &value, NULL))
		return FALSE;
	*out_value = value;
	return TRUE;
}

/*
 * Splits a decimal number "12.5" off the front of TEXT; *OUT_REST is what follows. No exponent, no
 * sign but '-', at least one digit.
 */
static gboolean
split_decimal(const char *text, char *out_number, gsize size, const char **out_rest)
{
	gsize sign = text[0] == '-';
	gsize whole = strspn(text + sign, "0123456789");
	gsize length = sign + whole;
	if (text[length] == '.') {
		gsize part = strspn(text + length + 1, "0123456789");
		if (part == 0)
			return FALSE;
		length += 1 + part;
	}
	if (whole == 0 || length >= size)
		return FALSE;
	memcpy(out_number, text, length);
	out_number[length] = '\0';
	*out_rest = text + length;
	return TRUE;
}

gboolean
wp_parse_double(const char *text, double *out_value)
{
	char *end;
	if (!g_ascii_isdigit(text[0]) && !strchr("+-.", text[0]))
		return FALSE;
	if (strpbrk(text, "xXnN")) /* hexadecimal, inf, nan */
		return FALSE;
	errno = 0;
	double value = g_ascii_strtod(text, &end);
	if (end == text || *end || errno == ERANGE || !isfinite(value))
		return FALSE;
	*out_value = value;
	return TRUE;
}

/* A decimal number with one of these units behind it; NULL-ended. */
typedef struct {
	const char *name;
	double scale;
} Suffix;

static gboolean
parse_suffixed(const char *text, const Suffix *suffixes, double *out_value)
{
	char number[WP_FORMAT_MAX];
	const char *rest;
	if (!split_decimal(text, number, sizeof number, &rest))
		return FALSE;
	for (; suffixes->name; suffixes++)
		if (strcmp(suffixes->name, rest) == 0) {
			*out_value = g_ascii_strtod(number, NULL) * suffixes->scale;
			return TRUE;
		}
	return FALSE;
}

gboolean
wp_parse_duration(const char *text, gint64 *out_ns)
{
	static const Suffix suffixes[] = {
		{ "ns", 1 },     { "us", 1e3 },   { "ms", 1e6 },    { "s", 1e9 }, { "m", 60e9 },
		{ "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 }, { NULL, 0 },
	};
	double value;
	if (strcmp(text, "0") == 0) {
		*out_ns = 0;
		return TRUE;
	}
	if (!parse_suffixed(text, suffixes, &value) || fabs(value) > 9.2e18)
		return FALSE;
	*out_ns = (gint64)llround(value);
	return TRUE;
}

gboolean
wp_parse_share(const char *text, double *out_share)
{
	static const Suffix suffixes[] = { { "", 1 }, { "%", 0.01 }, { NULL, 0 } };
	return parse_suffixed(text, suffixes, out_share);
}

gboolean
wp_parse_bytes(const char *text, guint64 *out_bytes)
{
	static const Suffix suffixes[] = {
		{ "", 1 },      { "B", 1 },        { "k", 1e3 },         { "kB", 1e3 },
		{ "M", 1e6 },   { "MB", 1e6 },     { "G", 1e9 },         { "GB", 1e9 },
		{ "Ki", 1024 }, { "Mi", 1048576 }, { "Gi", 1073741824 }, { NULL, 0 },
	};
	double value;
	if (!parse_suffixed(text, suffixes, &value) || value < 0 || value > 1.8e19)
		return FALSE;
	*out_bytes = (guint64)(value + 0.5);
	return TRUE;
}

/* Seconds with up to nine decimals, exactly. */
static gboolean
parse_epoch(const char *text, gint64 *out_ns)
{
	char number[WP_FORMAT_MAX];
	const char *rest;
	if (!split_decimal(text, number, sizeof number, &rest) || *rest || number[0] == '-')
		return FALSE;
	char *point = strchr(number, '.');
	gint64 fraction = 0;
	if (point) {
		*point = '\0';
		for (int i = 1, more = 1; i <= 9; i++) {
			more = more && point[i];
			fraction = fraction * 10 + (more ? point[i] - '0' : 0);
		}
	}
	gint64 seconds;
	if (!wp_parse_int(number, &seconds) || seconds > G_MAXINT64 / NS_PER_S - 1)
		return FALSE;
	*out_ns = seconds * NS_PER_S + fraction;
	return TRUE;
}

gboolean
wp_parse_date(const char *text, gint64 *out_ns)
{
	if (parse_epoch(text, out_ns))
		return TRUE;
	g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
	g_autoptr(GDateTime) date = g_date_time_new_from_iso8601(text, utc);
	if (!date)
		return FALSE;
	double fraction = g_date_time_get_seconds(date) - g_date_time_get_second(date);
	*out_ns = g_date_time_to_unix(date) * NS_PER_S + llround(fraction * 1e6) * 1000;
	return TRUE;
}
