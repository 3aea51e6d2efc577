/* Hints files: what fits, what it is worth, and what is wrong with them. */
#include "infer/hints.h"

#include <math.h>
#include <string.h>

#include "infer/pattern.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

static const struct {
	const char *hints, *parent, *parent_label, *child, *child_label;
	double share; /* 0.5 = silent */
} rows[] = {
	{ "web -> db yes 0.8", "web", "GET /", "db", "SELECT", .8 },
	{ "web -> db no 0.8", "web", "GET /", "db", "SELECT", .2 },
	{ "web -> db yes 0.8", "web2", "GET /", "db", "SELECT", .5 },
	{ "web -> db yes 0.8", "web", "GET /", "mydb", "SELECT", .5 },
	{ "web* -> ?b yes 0.8", "web2", "GET /", "db", "SELECT", .8 },
	{ "w.b -> db yes 0.8", "web", "GET /", "db", "SELECT", .5 }, /* a dot is a dot */
	{ "a+b -> * yes 0.8", "a+b", "", "db", "", .8 },
	{ "/send/ -> /receive/ yes 0.6", "a", "do send it", "b", "receive", .6 },
	{ "/^send/ -> /receive/ yes 0.6", "a", "do send it", "b", "receive", .5 },
	{ "/a b/ -> /c\\/d/ yes 0.6", "a", "a b", "b", "x c/d", .6 },
	{ "web /GET/ -> /SELECT/ db yes 0.6", "web", "GET /", "db", "SELECT", .6 },
	{ "web /GET/ -> /SELECT/ db yes 0.6", "web", "POST /", "db", "SELECT", .5 },
	{ "web /GET/ -> /SELECT/ db yes 0.6", "web", "GET /", "db2", "SELECT", .5 },
	{ "web -> db yes .8\nweb -> /S/ yes .8", "web", "", "db", "S",
	  16. / 17 }, /* 4 to 1, twice */
	{ "web -> db yes .8\nweb -> db no .8", "web", "", "db", "S", .5 },
	{ "  # why\n\t\nweb -> db yes 0.8 # because\r\n", "web", "", "db", "", .8 },
	{ "", "web", "", "db", "", .5 },
	{ "/^(a+)+b|a/ -> * yes 0.8", "web", "aaa c", "db", "", .8 },
	{ "/^(a+)+b|a/ -> * yes 0.8", "web", "aaaaaaaaaaaaaaaaaa cb", "db", "",
	  .5 }, /* 2^18 ways to fail before it would match */
	{ "/\xff/ -> * yes 0.8", "web", "\xff", "db", "", .8 }, /* no UTF-8 */
};

START_TEST(worth)
{
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(WpHints) hints = wp_hints_parse(rows[i].hints, "test", &error);
		ck_assert_msg(hints != NULL, "%s: %s", rows[i].hints, error ? error->message : "");
		WpHintsCall parent = { rows[i].parent, rows[i].parent_label };
		WpHintsCall child = { rows[i].child, rows[i].child_label };
		double share = 1 / (1 + exp(-wp_hints_odds(hints, &parent, &child)));
		ck_assert_msg(fabs(share - rows[i].share) < 1e-9, "%s: %g", rows[i].hints, share);
	}
}
END_TEST

/* What is certain is a number too. */
START_TEST(certain)
{
	static const WpHintsCall call = { "a", "" };
	g_autoptr(WpHints) yes = wp_hints_parse("a -> a yes 1\na -> a yes 1", "test", NULL);
	g_autoptr(WpHints) no = wp_hints_parse("a -> a yes 0", "test", NULL);
	ck_assert_double_eq(wp_hints_odds(yes, &call, &call), WP_HINTS_SURE);
	ck_assert_double_eq(wp_hints_odds(no, &call, &call), -WP_HINTS_SURE);
	ck_assert_uint_eq(wp_hints_count(yes), 2);
}
END_TEST

static const struct {
	const char *text, *message;
} bad[] = {
	{ "\nweb", "line 2: wanted CALLER -> CALLED yes|no PROBABILITY" },
	{ "web -> db", "line 1: wanted CALLER" },
	{ "web -> db yes", "line 1: the probability must be a number from 0 to 1" },
	{ "web -> db yes 1.5", "from 0 to 1" },
	{ "web -> db yes nan", "from 0 to 1" },
	{ "web -> db yes -0.5", "from 0 to 1" },
	{ "web -> db yes 0.5x", "from 0 to 1" },
	{ "web -> db yes 0.5 yes", "\"yes\" is too much" },
	{ "-> db yes 0.5", "wanted CALLER" },
	{ "web -> yes 0.5", "wanted CALLER" },
	{ "web -> db perhaps 0.5", "\"perhaps\" does not belong here" },
	{ "web app -> db yes 0.5", "\"app\" does not belong here" },
	{ "/a/ /b/ -> db yes 0.5", "\"/b/\" does not belong here" },
	{ "/a/b -> db yes 0.5", "/a/b is no /label pattern/" },
	{ "/a -> db yes 0.5", "is no /label pattern/" },
	{ "// -> db yes 0.5", "is no /label pattern/" },
	{ "/(/ -> db yes 0.5", "line 1: " },
	{ "web -> \xff\xfe db yes 0.5", "does not belong here" },
};

START_TEST(mistakes)
{
	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(WpHints) hints = wp_hints_parse(bad[i].text, "test", &error);
		ck_assert_msg(!hints, "%s: taken", bad[i].text);
		ck_assert(g_error_matches(error, WP_INFER_ERROR, WP_INFER_ERROR_FORMAT));
		ck_assert_msg(
			g_str_has_prefix(error->message, "cannot read hints from test: line "),
			"%s", error->message);
		ck_assert_msg(strstr(error->message, bad[i].message), "%s: %s", bad[i].text,
			      error->message);
		ck_assert(g_utf8_validate(error->message, -1, NULL));
	}
}
END_TEST

START_TEST(limits)
{
	g_autoptr(GString) text = g_string_new(NULL);
	for (int i = 0; i < WP_HINTS_MAX; i++)
		g_string_append(text, "a -> b yes 0.5\n");
	g_autoptr(WpHints) enough = wp_hints_parse(text->str, "test", NULL);
	ck_assert(enough != NULL);
	g_string_append(text, "a -> b yes 0.5\n");
	g_autoptr(GError) error = NULL;
	ck_assert(!wp_hints_parse(text->str, "test", &error));
	ck_assert(strstr(error->message, "line 1001: more than 1000 hints") != NULL);
	g_autofree char *word = g_strnfill(WP_HINTS_MAX_WORD + 1, 'a');
	g_autofree char *line = g_strconcat(word, " -> b yes 0.5", NULL);
	g_clear_error(&error);
	ck_assert(!wp_hints_parse(line, "test", &error));
	ck_assert(strstr(error->message, "a word of more than 256 bytes") != NULL);
}
END_TEST

START_TEST(files)
{
	g_autoptr(GError) error = NULL;
	ck_assert(!wp_hints_read("/nowhere/hints", &error));
	ck_assert(g_error_matches(error, WP_INFER_ERROR, WP_INFER_ERROR_OPEN));
	g_clear_error(&error);
	g_autotemp *path = wp_temp_file_new("hints", "a -> b yes 0.5\n\0rest", 20);
	ck_assert(!wp_hints_read(path, &error));
	ck_assert(strstr(error->message, "this is no text") != NULL);
}
END_TEST

WP_SUITE("hints", worth, certain, mistakes, limits, files)
