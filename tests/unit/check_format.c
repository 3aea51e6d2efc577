/* Numbers and times to text and back. */
#include "report/format.h"
#include "tests/support/suite.h"

#include <locale.h>

/* Three significant digits, also where rounding carries into the next unit. */
START_TEST(times)
{
	static const struct {
		double ns;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 1, "1 ns" },
		{ 12, "12 ns" },
		{ 850, "850 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 9994, "9.99 us" },
		{ 9996, "10.0 us" },
		{ 99960, "100 us" },
		{ 999499, "999 us" },
		{ 999600, "1.00 ms" },
		{ 14834000, "14.8 ms" },
		{ 1.05e9, "1.05 s" },
		{ 999.6e9, "16.7 min" },
		{ 7200e9, "120 min" },
		{ 86400e9, "24.0 h" },
		{ -14834000, "-14.8 ms" },
		{ 348.6, "349 ns" },
		{ 0.25, "0.25 ns" },
	};
	char buffer[WP_FORMAT_MAX];
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_str_eq(wp_format_time(buffer, rows[i].ns), rows[i].text);
}
END_TEST

START_TEST(counts)
{
	static const struct {
		guint64 count;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 1234567, "1,234,567" },
		{ G_MAXUINT64, "18,446,744,073,709,551,615" },
	};
	char buffer[WP_FORMAT_MAX];
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_str_eq(wp_format_count(buffer, rows[i].count), rows[i].text);
}
END_TEST

/* What is not nothing never reads 0 %, what is not all never 100 %. */
START_TEST(shares)
{
	static const struct {
		double share;
		const char *text;
	} rows[] = {
		{ 0, "0%" },         { 0.0001, "<0.1%" }, { 0.0005, "0.1%" },  { 0.482, "48.2%" },
		{ 0.9996, "99.9%" }, { 1, "100%" },       { 0.9994, "99.9%" }, { 1.05, "105%" },
	};
	char buffer[WP_FORMAT_MAX];
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_str_eq(wp_format_share(buffer, rows[i].share), rows[i].text);
}
END_TEST

START_TEST(bytes)
{
	char buffer[WP_FORMAT_MAX];
	ck_assert_str_eq(wp_format_bytes(buffer, 0), "0 B");
	ck_assert_str_eq(wp_format_bytes(buffer, 999), "999 B");
	ck_assert_str_eq(wp_format_bytes(buffer, 1200000), "1.20 MB");
	ck_assert_str_eq(wp_format_bytes(buffer, 5000000000000), "5.00 TB");
}
END_TEST

START_TEST(epochs)
{
	char buffer[WP_FORMAT_MAX];
	ck_assert_uint_eq(wp_format_epoch(buffer, 1047680084482205000), 20);
	ck_assert_str_eq(buffer, "1047680084.482205000");
	wp_format_epoch(buffer, 1);
	ck_assert_str_eq(buffer, "0.000000001");
	wp_format_epoch(buffer, -1500000000);
	ck_assert_str_eq(buffer, "-1.500000000");
	ck_assert_str_eq(wp_format_date(buffer, 1047680084482205000),
			 "2003-03-14 22:14:44.482 UTC");
	ck_assert_str_eq(wp_format_date(buffer, -1), "1969-12-31 23:59:59.999 UTC");
}
END_TEST

START_TEST(durations)
{
	static const struct {
		const char *text;
		gint64 ns; /* -1: refused */
	} rows[] = {
		{ "250us", 250000 },
		{ "5ms", 5000000 },
		{ "1.5s", 1500000000 },
		{ "2m", 120000000000 },
		{ "1h", 3600000000000 },
		{ "10", -1 },
		{ "0.5", -1 },
		{ "0", 0 },
		{ "0.000001s", 1000 },
		{ "5 ms", -1 },
		{ "5msx", -1 },
		{ "ms", -1 },
		{ "", -1 },
		{ ".5s", -1 },
		{ "5.s", -1 },
		{ "1e3s", -1 },
		{ "0x10s", -1 },
		{ "inf", -1 },
		{ "99999999999h", -1 },
		{ "+5ms", -1 },
		{ "5,5ms", -1 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		gint64 ns = -1;
		ck_assert_msg(wp_parse_duration(rows[i].text, &ns) == (rows[i].ns >= 0), "%s",
			      rows[i].text);
		ck_assert_int_eq(ns, rows[i].ns);
	}
}
END_TEST

START_TEST(numbers)
{
	gint64 whole;
	double number;
	guint64 size;
	ck_assert(wp_parse_int("42", &whole) && whole == 42);
	ck_assert(!wp_parse_int("42 ", &whole));
	ck_assert(!wp_parse_int("4.2", &whole));
	ck_assert(!wp_parse_int("99999999999999999999", &whole));
	ck_assert(wp_parse_double("-2.75e3", &number) && number == -2750);
	ck_assert(!wp_parse_double("nan", &number));
	ck_assert(!wp_parse_double("inf", &number));
	ck_assert(!wp_parse_double("1e999", &number));
	ck_assert(!wp_parse_double(" 1", &number));
	ck_assert(wp_parse_share("5%", &number) && number > 0.0499 && number < 0.0501);
	ck_assert(wp_parse_share("0.05", &number) && number == 0.05);
	ck_assert(!wp_parse_share("5 %", &number));
	ck_assert(wp_parse_bytes("64k", &size) && size == 64000);
	ck_assert(wp_parse_bytes("64Ki", &size) && size == 65536);
	ck_assert(!wp_parse_bytes("-1", &size));
}
END_TEST

START_TEST(dates)
{
	static const struct {
		const char *text;
		gint64 ns; /* -1: refused */
	} rows[] = {
		{ "1047680084.482205", 1047680084482205000 },
		{ "1047680084", 1047680084000000000 },
		{ "1047680084.123456789", 1047680084123456789 },
		{ "2003-03-14T22:14:44Z", 1047680084000000000 },
		{ "2003-03-14T22:14:44.482205Z", 1047680084482205000 },
		{ "2003-03-14T23:14:44+01:00", 1047680084000000000 },
		{ "2003-03-14T22:14:44", 1047680084000000000 },
		{ "2003-03-14", -1 },
		{ "now", -1 },
		{ "-5", -1 },
		{ "99999999999999", -1 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		gint64 ns = -1;
		ck_assert_msg(wp_parse_date(rows[i].text, &ns) == (rows[i].ns >= 0), "%s",
			      rows[i].text);
		ck_assert_int_eq(ns, rows[i].ns);
	}
}
END_TEST

/* A locale with a decimal comma changes nothing (where it is installed). */
START_TEST(locales)
{
	char buffer[WP_FORMAT_MAX];
	gint64 ns;
	setlocale(LC_ALL, "de_DE.UTF-8");
	ck_assert_str_eq(wp_format_time(buffer, 1500000), "1.50 ms");
	ck_assert(wp_parse_duration("1.5ms", &ns) && ns == 1500000);
	setlocale(LC_ALL, "C");
}
END_TEST

WP_SUITE("format", times, counts, shares, bytes, epochs, durations, numbers, dates, locales)
