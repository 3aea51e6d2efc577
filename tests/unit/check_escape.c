/* Quoting: no text from a packet may do anything in any output. */
#include "report/escape.h"

#include "tests/support/suite.h"

typedef struct {
	const char *text;
	const char *escaped;
} Row;

static void
check(void (*escape)(GString *out, const char *text), const Row *rows, gsize n)
{
	for (gsize i = 0; i < n; i++) {
		g_autoptr(GString) out = g_string_new(NULL);
		escape(out, rows[i].text);
		ck_assert_str_eq(out->str, rows[i].escaped);
	}
}

static void
terminal_utf8(GString *out, const char *text)
{
	wp_escape_terminal_to(out, text, TRUE);
}

static void
terminal_ascii(GString *out, const char *text)
{
	wp_escape_terminal_to(out, text, FALSE);
}

START_TEST(terminal)
{
	static const Row utf8[] = {
		{ "GET /item/{}", "GET /item/{}" },
		{ "\033]0;pwn\a", "\\x1b]0;pwn\\x07" },
		{ "a\nb\tc\r", "a\\x0ab\\x09c\\x0d" },
		{ "caf\303\251", "caf\303\251" },
		{ "abc\342\200\256fed", "abc\\u{202e}fed" }, /* right-to-left override */
		{ "a\342\200\213b", "a\\u{200b}b" },         /* zero width space */
		{ "\302\233m", "\\u{9b}m" },                 /* C1: a one-byte CSI */
		{ "\377\376", "\\xff\\xfe" },
		{ "\303", "\\xc3" },                   /* cut */
		{ "\355\240\200", "\\xed\\xa0\\x80" }, /* a surrogate is no UTF-8 */
	};
	static const Row ascii[] = {
		{ "caf\303\251", "caf\\u{e9}" },
		{ "plain", "plain" },
	};
	check(terminal_utf8, utf8, G_N_ELEMENTS(utf8));
	check(terminal_ascii, ascii, G_N_ELEMENTS(ascii));
}
END_TEST

START_TEST(dot)
{
	static const Row rows[] = {
		{ "plain", "plain" },    { "\\N\"", "\\\\N\\\"" },
		{ "a\nb", "a\\\\x0ab" }, { "caf\303\251", "caf\303\251" },
		{ "<b>", "<b>" },
	};
	check(wp_escape_dot_to, rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(json)
{
	static const Row rows[] = {
		{ "plain", "plain" },
		{ "\"\\\n", "\\\"\\\\\\u000a" },
		{ "</script>", "\\u003c/script>" },
		{ "a\342\200\256b", "a\\u202eb" },
		{ "\363\240\201\201", "\\udb40\\udc41" }, /* a tag character */
		{ "\346\227\245", "\346\227\245" },
		{ "a\342\200\250b", "a\\u2028b" },
		{ "\377", "\\ufffd" },
		{ "\177", "\\u007f" },
	};
	check(wp_escape_json_to, rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(csv)
{
	static const Row rows[] = {
		{ "plain", "plain" },     { "", "" },
		{ "a,b", "\"a,b\"" },     { "a\"b", "\"a\"\"b\"" },
		{ "a\nb", "a\\x0ab" },    { "=cmd()", "\"'=cmd()\"" },
		{ "@sum", "\"'@sum\"" },  { "+1+cmd", "\"'+1+cmd\"" },
		{ "-2", "-2" },           { "-", "\"'-\"" },
		{ "\tx", "\"'\\x09x\"" },
	};
	check(wp_escape_csv_to, rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(widths)
{
	ck_assert_uint_eq(wp_escape_width("abc"), 3);
	ck_assert_uint_eq(wp_escape_width("caf\303\251"), 4);
	ck_assert_uint_eq(wp_escape_width("e\314\201"), 1);    /* combining acute */
	ck_assert_uint_eq(wp_escape_width("\346\227\245"), 2); /* wide */
	static const struct {
		const char *text;
		gsize width;
		const char *cut;
	} rows[] = {
		{ "abcdef", 6, "abcdef" },
		{ "abcdef", 5, "abc.." },
		{ "abcdef", 2, ".." },
		{ "abcdef", 1, "." },
		{ "abcdef", 0, "" },
		{ "\346\227\245\346\227\245\346\227\245", 5, "\346\227\245.." },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *cut = wp_escape_shorten(rows[i].text, rows[i].width);
		ck_assert_str_eq(cut, rows[i].cut);
	}
}
END_TEST

WP_SUITE("escape", terminal, dot, json, csv, widths)
