/* JSON read again: what is kept, what is refused. */
#include "report/json-read.h"

#include <string.h>

#include "report/error.h"
#include "tests/support/suite.h"

static const char *const names[] = { "a", "b", NULL };

static WpJsonValue *
read_text(const char *text, GError **error)
{
	return wp_json_read("x.json", text, strlen(text), names, error);
}

START_TEST(texts)
{
	static const struct {
		const char *json;
		const char *text; /* of "a"; NULL = it is none */
	} rows[] = {
		{ "{\"a\": \"\"}", "" },
		{ " {\n\"a\"\t:\r\"x y\" } \n", "x y" },
		{ "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "\"\\/\b\f\n\r\t" },
		{ "{\"a\":\"\\u00e9\\u20ac\"}", "\xc3\xa9\xe2\x82\xac" },
		{ "{\"a\":\"\\ud83d\\ude00\"}", "\xf0\x9f\x98\x80" },
		{ "{\"a\":\"\\ud83d\"}", "\xef\xbf\xbd" },        /* half a pair */
		{ "{\"a\":\"\\ud83d\\u0041\"}", "\xef\xbf\xbd" }, /* ... and no other half */
		{ "{\"a\":\"\\u0000\"}", "\xef\xbf\xbd" },
		{ "{\"x\":{\"a\":\"inner\"},\"a\":\"outer\"}", "outer" },
		{ "{\"a\":1}", NULL },
		{ "{\"a\":null}", NULL },
		{ "{\"x\":\"1\"}", NULL },
		{ "{}", NULL },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(WpJsonValue) value = read_text(rows[i].json, &error);
		ck_assert_msg(value != NULL, "%s: %s", rows[i].json, error ? error->message : "");
		ck_assert_pstr_eq(wp_json_as_text(wp_json_member(value, "a")), rows[i].text);
	}
}
END_TEST

START_TEST(numbers)
{
	static const struct {
		const char *json;
		gboolean is_number;
		guint64 number;
	} rows[] = {
		{ "{\"a\":0}", TRUE, 0 },
		{ "{\"a\":9007199254740993}", TRUE, 9007199254740993 },
		{ "{\"a\":\"18446744073709551615\"}", TRUE, G_MAXUINT64 },
		{ "{\"a\":18446744073709551616}", FALSE, 0 },
		{ "{\"a\":-1}", FALSE, 0 },
		{ "{\"a\":1.5}", FALSE, 0 },
		{ "{\"a\":1e3}", FALSE, 0 },
		{ "{\"a\":\"\"}", FALSE, 0 },
		{ "{\"a\":true}", FALSE, 0 },
		{ "{}", FALSE, 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		guint64 number = 0;
		g_autoptr(WpJsonValue) value = read_text(rows[i].json, NULL);
		ck_assert(wp_json_as_uint(wp_json_member(value, "a"), &number) ==
			  rows[i].is_number);
		ck_assert_uint_eq(number, rows[i].number);
	}
}
END_TEST

START_TEST(arrays)
{
	g_autoptr(WpJsonValue) value =
		read_text("{\"a\":[1,[2,3],{\"c\":true}],\"x\":[[[]]],\"b\":[]}", NULL);
	const WpJsonValue *array = wp_json_member(value, "a");
	guint64 number;
	ck_assert_uint_eq(wp_json_length(array), 3);
	ck_assert(wp_json_as_uint(wp_json_item(wp_json_item(array, 1), 1), &number) && number == 3);
	ck_assert(wp_json_as_bool(wp_json_member(wp_json_item(array, 2), "c")));
	ck_assert(!wp_json_as_bool(wp_json_item(array, 0)));
	ck_assert_ptr_null(wp_json_item(array, 3));
	ck_assert_uint_eq(wp_json_length(wp_json_member(value, "b")), 0);
	ck_assert_ptr_null(wp_json_member(value, "x"));
}
END_TEST

START_TEST(refused)
{
	static const char *const rows[] = {
		"",
		"[]",
		"{",
		"{\"a\"",
		"{\"a\":",
		"{\"a\":1",
		"{\"a\":1,}",
		"{\"a\":1 2}",
		"{\"a\":x}",
		"{\"a\":\"x}",
		"{\"a\":\"\n\"}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\u12\"}",
		"{\"a\":[1,]}",
		"{\"a\":[1}",
		"{\"a\":\"\xff\"}",
		"{} {}",
		"{a:1}",
		"{\"x\":nul}",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		ck_assert_msg(read_text(rows[i], &error) == NULL, "%s", rows[i]);
		ck_assert(g_error_matches(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA));
	}
}
END_TEST

/* Also what is not kept may not be deeper than the reader will go. */
START_TEST(depth)
{
	static const struct {
		guint depth;
		gboolean is_good;
	} rows[] = { { WP_JSON_MAX_DEPTH, TRUE },
		     { WP_JSON_MAX_DEPTH + 1, FALSE },
		     { 100000, FALSE } };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GString) text = g_string_new("{\"x\":");
		for (guint k = 0; k < rows[i].depth; k++)
			g_string_append_c(text, '[');
		for (guint k = 0; k < rows[i].depth; k++)
			g_string_append_c(text, ']');
		g_string_append_c(text, '}');
		g_autoptr(WpJsonValue) value = read_text(text->str, NULL);
		ck_assert((value != NULL) == rows[i].is_good);
	}
}
END_TEST

WP_SUITE("json_read", texts, numbers, arrays, refused, depth)
