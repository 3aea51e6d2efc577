/* The expressions of --where. */
#include "report/where.h"

#include <string.h>

#include "capture/record.h"
#include "report/error.h"
#include "tests/support/suite.h"

/* web -> db:5432, SELECT users, 7 ms, 100 bytes there, no size back */
static const WpWhereCall call = {
	.src = "web",
	.src_address = "10.0.0.1",
	.dst = "db",
	.dst_address = "10.0.0.2",
	.label = "SELECT users",
	.protocol = "pgsql",
	.status = "error",
	.src_port = 40000,
	.dst_port = 5432,
	.latency_ns = 7000000,
	.bytes_call = 100,
	.bytes_return = WP_NO_SIZE,
	.is_setup = FALSE,
	.waits = TRUE,
};

START_TEST(truth)
{
	static const struct {
		const char *text;
		gboolean holds;
	} rows[] = {
		{ "src == web", TRUE },
		{ "src == 10.0.0.1", TRUE },
		{ "src != web", FALSE },
		{ "src != app", TRUE },
		{ "node == db", TRUE },
		{ "node == web", TRUE },
		{ "node != db", FALSE },
		{ "node == cache", FALSE },
		{ "dst ~ d*", TRUE },
		{ "dst ~ 10.0.0.*", TRUE },
		{ "dst !~ d?", FALSE },
		{ "label == \"SELECT users\"", TRUE },
		{ "label~\"SELECT *\"", TRUE },
		{ "label == SELECT", FALSE },
		{ "protocol==pgsql", TRUE },
		{ "status == error", TRUE },
		{ "status != ok", TRUE },
		{ "port == 5432", TRUE },
		{ "port < 5432", FALSE },
		{ "latency > 5ms", TRUE },
		{ "latency >= 7ms", TRUE },
		{ "latency > 0", TRUE },
		{ "latency <= 0.006s", FALSE },
		{ "bytes == 100", TRUE },
		{ "bytes.call > 64", TRUE },
		{ "bytes.return > 0", FALSE },
		{ "bytes.return != 0", FALSE }, /* not known: no comparison holds */
		{ "!(bytes.return > 0)", TRUE },
		{ "setup", FALSE },
		{ "!setup", TRUE },
		{ "wait && !oneway", TRUE },
		{ "src == a || src == web && dst == x", FALSE }, /* && binds closer */
		{ "src == web || src == a && dst == x", TRUE },
		{ "(src == web || src == a) && dst == x", FALSE },
		{ "!src == web", FALSE },
		{ "!!(dst == db)", TRUE },
		{ "  ( latency>5ms )&&(status!=ok)  ", TRUE },
		{ "label == \"a \\\"quoted\\\" \\\\ one\"", FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(WpWhere) where = wp_where_new(rows[i].text, &error);
		ck_assert_msg(where != NULL, "%s: %s", rows[i].text, error ? error->message : "");
		ck_assert_msg(wp_where_matches(where, &call) == rows[i].holds, "%s", rows[i].text);
	}
}
END_TEST

/* Patterns and texts need not be UTF-8: labels come from packets. */
START_TEST(globs)
{
	static const struct {
		const char *pattern;
		const char *text;
		gboolean fits;
	} rows[] = {
		{ "*", "", TRUE },
		{ "?", "", FALSE },
		{ "a*", "a", TRUE },
		{ "*b*d", "abcbcd", TRUE },
		{ "*b*d", "abcbce", FALSE },
		{ "a?c", "abc", TRUE },
		{ "a?c",
		  "a\xc3\xa9"
		  "c",
		  TRUE },
		{ "a??c",
		  "a\xc3\xa9"
		  "c",
		  FALSE },
		{ "*\xb3", "a\xb3",
		  TRUE }, /* as every pattern that ends in no star: GLib reversed it */
		{ "*x", "\xff\xb3x", TRUE },
		{ "a?", "a\xff", TRUE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = g_strdup_printf("label ~ \"%s\"", rows[i].pattern);
		g_autoptr(WpWhere) where = wp_where_new(text, NULL);
		WpWhereCall own = call;
		own.label = rows[i].text;
		ck_assert_msg(wp_where_matches(where, &own) == rows[i].fits, "%s on %s",
			      rows[i].pattern, rows[i].text);
	}
}
END_TEST

START_TEST(mistakes)
{
	static const struct {
		const char *text;
		const char *says;
	} rows[] = {
		{ "", "a field is expected at its end" },
		{ "foo == 1", "a field is expected at \"foo == 1\"" },
		{ "src", "an operator is expected at its end" },
		{ "src = web", "== compares" },
		{ "src ==", "a text" },
		{ "src < web", "a text" },
		{ "latency ~ 5*", "a time" },
		{ "latency > 5parsecs", "a time" },
		{ "latency > 5", "a time with its unit (250us, 5ms, 5s) is expected at \"5\"" },
		{ "latency > 0.005", "a time with its unit" },
		{ "port == http", "a number" },
		{ "status == failed", "reset, timeout" },
		{ "src == web dst == db", "&& or || is expected" },
		{ "src == web &&", "a field is expected" },
		{ "(src == web", "a ) is missing" },
		{ "src == web)", "&& or || is expected" },
		{ "src == \"web", "a text" },
		{ "src == web & dst == db", "&& or || is expected" },
		{ "Src == web", "a field is expected" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		ck_assert_ptr_null(wp_where_new(rows[i].text, &error));
		ck_assert(g_error_matches(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE));
		ck_assert_msg(strstr(error->message, rows[i].says) != NULL, "%s: %s", rows[i].text,
			      error->message);
	}
}
END_TEST

/* Neither depth nor length may exhaust the stack. */
START_TEST(limits)
{
	g_autoptr(GError) deep_error = NULL, long_error = NULL;
	g_autofree char *deep = g_strnfill(1000000, '(');
	ck_assert_ptr_null(wp_where_new(deep, &deep_error));
	ck_assert_ptr_nonnull(deep_error);
	GString *chain = g_string_new("setup");
	for (int i = 0; i < 100000; i++)
		g_string_append(chain, "||setup");
	ck_assert_ptr_null(wp_where_new(chain->str, &long_error));
	ck_assert_ptr_nonnull(long_error);
	g_string_free(chain, TRUE);
}
END_TEST

START_TEST(streams)
{
	static const struct {
		const char *text;
		const char *field;
	} rows[] = {
		{ "src == web && port == 80", NULL },
		{ "src == web || latency > 1s", "latency" },
		{ "!(status == ok)", "status" },
		{ "bytes.call > 1", "bytes.call" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpWhere) where = wp_where_new(rows[i].text, NULL);
		ck_assert_pstr_eq(wp_where_needs_return(where), rows[i].field);
	}
}
END_TEST

WP_SUITE("where", truth, globs, mistakes, limits, streams)
