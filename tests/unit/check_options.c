/* The command line parser. */
#include "report/options.h"

#include <string.h>

#include "report/error.h"
#include "tests/support/suite.h"

typedef struct {
	gboolean flag;
	int verbose;
	gint64 top;
	double weight;
	double share;
	gint64 window_ns;
	guint64 room;
	WpTimeOption from;
	const char *where;
	GPtrArray *outputs;
	int color;
	gboolean all;
	WpMarks marks;
} Target;

typedef struct {
	gint64 top;
} Other;

static void
print_something(WpOut *out)
{
	wp_out_text(out, "something");
}

static const char *const colors[] = { "auto", "always", "never", NULL };

#define AT(member) .offset = offsetof(Target, member)

static const WpOption table[] = {
	{ .name = "flag", .short_name = 'f', .kind = WP_OPT_FLAG, AT(flag), .help = "a flag" },
	{ .name = "verbose", .short_name = 'v', .kind = WP_OPT_COUNT, AT(verbose), .help = "more" },
	{ .name = "top",
	  .short_name = 'n',
	  .kind = WP_OPT_INT,
	  AT(top),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = 100,
	  .excludes = "all",
	  .help = "rows\nat most" },
	{ .name = "weight", .kind = WP_OPT_DOUBLE, AT(weight), .argument = "X", .help = "w" },
	{ .name = "share", .kind = WP_OPT_SHARE, AT(share), .argument = "SHARE", .help = "s" },
	{ .name = "window",
	  .kind = WP_OPT_DURATION,
	  AT(window_ns),
	  .argument = "TIME",
	  .minimum = 0,
	  .maximum = 1e9,
	  .help = "t" },
	{ .name = "room",
	  .kind = WP_OPT_BYTES,
	  AT(room),
	  .argument = "BYTES",
	  .maximum = 1e9,
	  .help = "r" },
	{ .name = "from", .kind = WP_OPT_TIME, AT(from), .argument = "TIME", .help = "t" },
	{ .name = "where", .kind = WP_OPT_TEXT, AT(where), .argument = "EXPR", .help = "w" },
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXTS,
	  AT(outputs),
	  .argument = "FILE",
	  .help = "o" },
	{ .name = "color",
	  .kind = WP_OPT_CHOICE,
	  AT(color),
	  .argument = "WHEN",
	  .choices = colors,
	  .help = "c" },
	{ .name = "all", .kind = WP_OPT_FLAG, AT(all), .help = "a" },
	{ .name = "here", .kind = WP_OPT_MARK, AT(marks), .argument = "FILE...", .help = "h" },
	{ .name = "list", .kind = WP_OPT_ACTION, .action = print_something, .help = "l" },
	{ .name = NULL },
};

static const WpOption other_table[] = {
	{ .name = "top",
	  .kind = WP_OPT_INT,
	  .offset = offsetof(Other, top),
	  .argument = "N",
	  .help = "again" },
	{ .name = NULL },
};

/* A parse of one line of words. */
typedef struct {
	Target target;
	Other other;
	GStrv words;
	GPtrArray *operands;
	GError *error;
	gboolean ok;
	gboolean has_action;
} Run;

static void
run_clear(Run *run)
{
	g_strfreev(run->words);
	g_ptr_array_unref(run->operands);
	g_ptr_array_unref(run->target.outputs);
	g_clear_error(&run->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

static void
parse(Run *run, const char *line)
{
	g_autoptr(WpOptions) options = wp_options_new();
	*run = (Run){ .words = g_strsplit(line, " ", -1), .operands = g_ptr_array_new() };
	run->target.outputs = g_ptr_array_new();
	wp_options_add(options, "Options", table, &run->target);
	wp_options_add(options, "Others", other_table, &run->other);
	run->ok = wp_options_parse(options, run->words, *line ? g_strv_length(run->words) : 0,
				   run->operands, &run->error);
	ck_assert(run->ok == (run->error == NULL));
	run->has_action = wp_options_action(options) != NULL;
}

START_TEST(values)
{
	g_auto(Run) run;
	parse(&run, "a --flag -vv --top=7 b --weight -2.5 --share 5% --window 250us --room 64Ki "
		    "--from +10s "
		    "--where x==y -o one -otwo --color never - --list");
	ck_assert_msg(run.ok, "%s", run.error ? run.error->message : "");
	ck_assert(run.target.flag);
	ck_assert_int_eq(run.target.verbose, 2);
	ck_assert_int_eq(run.target.top, 7);
	ck_assert_int_eq(run.other.top, 7);
	ck_assert_double_eq(run.target.weight, -2.5);
	ck_assert_double_eq_tol(run.target.share, 0.05, 1e-9);
	ck_assert_int_eq(run.target.window_ns, 250000);
	ck_assert_uint_eq(run.target.room, 65536);
	ck_assert(run.target.from.is_set && run.target.from.is_offset);
	ck_assert_int_eq(run.target.from.ns, 10 * G_GINT64_CONSTANT(1000000000));
	ck_assert_str_eq(run.target.where, "x==y");
	ck_assert_uint_eq(run.target.outputs->len, 2);
	ck_assert_str_eq(run.target.outputs->pdata[1], "two");
	ck_assert_int_eq(run.target.color, 2);
	ck_assert_uint_eq(run.operands->len, 3);
	ck_assert_str_eq(run.operands->pdata[2], "-");
	ck_assert(run.has_action);
}
END_TEST

START_TEST(ends)
{
	g_auto(Run) run, none;
	parse(&run, "-- --flag -x");
	ck_assert(run.ok && !run.target.flag);
	ck_assert_uint_eq(run.operands->len, 2);
	parse(&none, "");
	ck_assert(none.ok && none.operands->len == 0);
}
END_TEST

/* Where in the operands an option stands. */
START_TEST(marks)
{
	g_auto(Run) run;
	parse(&run, "a --here b c --here -f d");
	ck_assert(run.ok);
	ck_assert_uint_eq(run.operands->len, 4);
	ck_assert_uint_eq(run.target.marks.n, 2);
	ck_assert_str_eq(run.target.marks.names[0], "here");
	ck_assert_uint_eq(run.target.marks.at[0], 1);
	ck_assert_uint_eq(run.target.marks.at[1], 3);
	g_auto(Run) valued;
	parse(&valued, "--here=b");
	ck_assert(!valued.ok);
}
END_TEST

START_TEST(negation)
{
	g_auto(Run) run;
	parse(&run, "--flag --no-flag -v --no-verbose");
	ck_assert(run.ok && !run.target.flag && run.target.verbose == 0);
}
END_TEST

/* Each mistake is a usage error whose words help. */
START_TEST(mistakes)
{
	static const struct {
		const char *line;
		const char *says;
	} rows[] = {
		{ "--flga", "did you mean --flag?" },
		{ "--windwo 5ms", "did you mean --window?" },
		{ "--xyzzy", "--help lists the options" },
		{ "-x", "unknown option -x" },
		{ "-vx", "unknown option -x" },
		{ "--top", "--top needs a value" },
		{ "-n", "--top needs a value" },
		{ "--top 0", "from 1 to 100" },
		{ "--top 101", "from 1 to 100" },
		{ "--top 5x", "a whole number" },
		{ "--top=", "a whole number" },
		{ "--weight nan", "a number" },
		{ "--share 5%%", "a share" },
		{ "--room 5x", "a number of bytes" },
		{ "--room 2G", "a value" },
		{ "--window 2s", "from 0 to 1.00 s" },
		{ "--window 5", "a time with its unit" },
		{ "--window 5_ms", "250us, 5ms" },
		{ "--from yesterday", "seconds since 1970" },
		{ "--color alwyas", "did you mean always?" },
		{ "--color blue", "one of auto, always, never" },
		{ "--where=", "expected something" },
		{ "--flag=yes", "takes no value" },
		{ "--no-top", "unknown option" },
		{ "--top 5 --all", "exclude each other" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(Run) run;
		parse(&run, rows[i].line);
		ck_assert_msg(!run.ok, "%s", rows[i].line);
		ck_assert(g_error_matches(run.error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE));
		ck_assert_int_eq(wp_error_status(run.error), 2);
		ck_assert_msg(strstr(run.error->message, rows[i].says) != NULL, "%s: %s",
			      rows[i].line, run.error->message);
	}
}
END_TEST

/* Help shows each option once, in its group. */
START_TEST(help)
{
	g_autoptr(WpOptions) options = wp_options_new();
	g_autoptr(WpOut) out = wp_out_new_memory();
	Target target = { 0 };
	Other other = { 0 };
	wp_options_add(options, "Options", table, &target);
	wp_options_add(options, "", other_table, &other);
	wp_options_help(options, out);
	const char *text = wp_out_string(out);
	ck_assert_ptr_nonnull(strstr(text, "\nOptions\n"));
	const char *top = strstr(text, "  -n, --top N");
	ck_assert_ptr_nonnull(top);
	ck_assert_ptr_null(strstr(top + 10, "--top"));
	ck_assert_ptr_null(strstr(text, "again"));
}
END_TEST

START_TEST(nearest)
{
	static const char *const names[] = { "report", "records", "calls", NULL };
	ck_assert_str_eq(wp_nearest_name("reprot", names), "report");
	ck_assert_str_eq(wp_nearest_name("call", names), "calls");
	ck_assert_ptr_null(wp_nearest_name("zebra", names));
	ck_assert_ptr_null(wp_nearest_name("", names));
}
END_TEST

WP_SUITE("options", values, ends, marks, negation, mistakes, help, nearest)
