/*
 * The table of commands, and what is common to all: finding one, parsing its options, --help, and the
 * options that every command has.
 */
#include "report/command.h"

#include <string.h>

#include "report/error.h"

extern const WpCommand wp_command_report, wp_command_compare, wp_command_calls, wp_command_records,
	wp_command_capture, wp_command_inspect, wp_command_explain, wp_command_evaluate,
	wp_command_simulate, wp_command_degrade, wp_command_doctor, wp_command_help_page,
	wp_command_version, wp_command_watch, wp_command_export, wp_command_triage,
	wp_command_snapshot, wp_command_run;

const WpCommand *const wp_commands[] = {
	&wp_command_report,
	&wp_command_compare,
	&wp_command_doctor,
	&wp_command_triage,
	&wp_command_calls,
	&wp_command_records,
	&wp_command_capture,
	&wp_command_run,
	&wp_command_watch,
	&wp_command_inspect,
	&wp_command_explain,
	&wp_command_snapshot,
	&wp_command_export,
	&wp_command_evaluate,
	&wp_command_simulate,
	&wp_command_degrade,
	&wp_command_help_page,
	&wp_command_version,
	NULL,
};

static const WpOption common_table[] = {
	{ .name = "quiet",
	  .short_name = 'q',
	  .kind = WP_OPT_FLAG,
	  .offset = offsetof(WpInvocation, is_quiet),
	  .help = "no progress, no warnings" },
	{ .name = "verbose",
	  .short_name = 'v',
	  .kind = WP_OPT_COUNT,
	  .offset = offsetof(WpInvocation, verbosity),
	  .help = "say more" },
	{ .name = "color",
	  .kind = WP_OPT_CHOICE,
	  .offset = offsetof(WpInvocation, color),
	  .argument = "WHEN",
	  .choices = wp_color_choices,
	  .help = "auto, always or never" },
	{ .name = NULL },
};

typedef struct {
	gboolean is_wanted;
} HelpOptions;

static const WpOption help_table[] = {
	{ .name = "help",
	  .short_name = 'h',
	  .kind = WP_OPT_FLAG,
	  .offset = offsetof(HelpOptions, is_wanted),
	  .help = "this text" },
	{ .name = NULL },
};

const WpCommand *
wp_command_by_name(const char *name)
{
	for (const WpCommand *const *c = wp_commands; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

void
wp_warn(const WpInvocation *invocation, const char *format, ...)
{
	if (invocation->is_quiet)
		return;
	va_list arguments;
	va_start(arguments, format);
	g_autofree char *text = g_strdup_vprintf(format, arguments);
	g_ptr_array_add(invocation->warnings,
			invocation->about ? g_strconcat(invocation->about, ": ", text, NULL)
					  : g_steal_pointer(&text));
	va_end(arguments);
}

/* The parser of COMMAND with all tables; targets are OPTIONS, INVOCATION and HELP. */
static WpOptions *
make_parser(const WpCommand *command, gpointer options, WpInvocation *invocation, HelpOptions *help)
{
	WpOptions *parser = wp_options_new();
	if (command->declare)
		command->declare(parser, options);
	wp_options_add(parser, "Common options", common_table, invocation);
	wp_options_add(parser, "", help_table, help);
	return parser;
}

void
wp_command_overview(WpOut *out)
{
	wp_out_text(out,
		    "wirepath: which causal paths requests take through a distributed system, and "
		    "which\nnode costs the time, from captured packets alone\n\n"
		    "usage: wirepath COMMAND [OPTION]... [INPUT]...\n\n"
		    "  wirepath report capture.pcap     the answer, in one page\n"
		    "  wirepath help report             all about a command\n\nCommands\n");
	for (const WpCommand *const *c = wp_commands; *c; c++)
		wp_out_printf(out, "  %-10s%s\n", (*c)->name, (*c)->summary);
	wp_out_text(out, "\nAn INPUT is a capture (pcap, pcapng), a trace, or spans of a tracing "
			 "system (OTLP, Jaeger,\n"
			 "Zipkin JSON), also as .gz, .zst or .lz4; a directory of them, or - for "
			 "standard input.\n");
}

/* COMMAND's parser, for as long as DATA needs it to be shown. */
static void
with_parser(const WpCommand *command, void (*func)(const WpOptions *parser, gpointer data),
	    gpointer data)
{
	WpInvocation invocation = { 0 };
	HelpOptions help = { 0 };
	gpointer options = g_malloc0(command->options_size);
	g_autoptr(WpOptions) parser = make_parser(command, options, &invocation, &help);
	func(parser, data);
	if (command->clear)
		command->clear(options);
	g_free(options);
}

static void
write_options(const WpOptions *parser, gpointer data)
{
	wp_options_help(parser, data);
}

void
wp_command_help(const WpCommand *command, WpOut *out)
{
	wp_out_printf(out, "usage: wirepath %s%s%s\n\n%s\n", command->name,
		      *command->synopsis ? " " : "", command->synopsis, command->summary);
	if (command->examples)
		wp_out_printf(out, "\nExamples\n%s", command->examples);
	if (command->details)
		wp_out_printf(out, "\n%s\n", command->details);
	with_parser(command, write_options, out);
}

typedef struct {
	WpOptionFunc func;
	gpointer data;
} Each;

static void
each_option(const WpOptions *parser, gpointer data)
{
	const Each *each = data;
	wp_options_foreach(parser, each->func, each->data);
}

void
wp_command_options(const WpCommand *command, WpOptionFunc func, gpointer data)
{
	Each each = { func, data };
	with_parser(command, each_option, &each);
}

static int
print_to_stdout(void (*print)(WpOut *out), const WpCommand *command, GError **error)
{
	g_autoptr(WpOut) out = wp_out_open("-", error);
	if (!out)
		return -1;
	if (command)
		wp_command_help(command, out);
	else
		print(out);
	return wp_out_close(out, error) ? WP_EXIT_OK : -1;
}

static gboolean
check_operands(const WpCommand *command, guint n, GError **error)
{
	if (n >= command->min_operands && n <= command->max_operands)
		return TRUE;
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE, "%s: %s\nusage: wirepath %s%s%s",
		    command->name,
		    n < command->min_operands ? "an input is missing (- is standard input)"
					      : "too many arguments",
		    command->name, *command->synopsis ? " " : "", command->synopsis);
	return FALSE;
}

static int
parse_and_run(WpOptions *parser, char **argv, gsize n, WpInvocation *invocation, gpointer options,
	      const HelpOptions *help, GError **error)
{
	const WpCommand *command = invocation->command;
	g_autoptr(GPtrArray) operands = g_ptr_array_new();
	if (!wp_options_parse(parser, argv, n, operands, error))
		return -1;
	if (help->is_wanted)
		return print_to_stdout(NULL, command, error);
	if (wp_options_action(parser))
		return print_to_stdout(wp_options_action(parser), NULL, error);
	if (!check_operands(command, operands->len, error))
		return -1;
	invocation->n_operands = operands->len;
	g_ptr_array_add(operands, NULL);
	invocation->operands = (char **)operands->pdata;
	g_autoptr(WpProgress) progress = wp_progress_new(invocation->is_quiet);
	invocation->progress = progress;
	return command->run(invocation, options, error);
}

static int
run_command(const WpCommand *command, char **argv, gsize n, GPtrArray *warnings, GError **error)
{
	WpInvocation invocation = { .command = command, .warnings = warnings };
	HelpOptions help = { 0 };
	gpointer options = g_malloc0(command->options_size);
	g_autoptr(WpOptions) parser = make_parser(command, options, &invocation, &help);
	int status = parse_and_run(parser, argv, n, &invocation, options, &help, error);
	if (command->clear)
		command->clear(options);
	g_free(options);
	return status;
}

static int
unknown_command(const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	for (const WpCommand *const *c = wp_commands; *c; c++)
		g_ptr_array_add(names, (gpointer)(*c)->name);
	g_ptr_array_add(names, NULL);
	const char *nearest = wp_nearest_name(name, (const char *const *)names->pdata);
	if (nearest)
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "unknown command %s\ndid you mean \"wirepath %s\"?", name, nearest);
	else
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "unknown command %s\n\"wirepath help\" lists the commands", name);
	return -1;
}

/* "wirepath --help" and "wirepath --version" before any command. */
static const char *
spelled_as_option(const char *word)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return "help";
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return "version";
	return word;
}

int
wp_command_main(int argc, char **argv, GPtrArray *warnings, GError **error)
{
	if (argc < 2) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "a command is missing\n\"wirepath report FILE\" is the usual one; "
			    "\"wirepath help\" lists all");
		return -1;
	}
	const char *name = spelled_as_option(argv[1]);
	const WpCommand *command = wp_command_by_name(name);
	if (!command && argv[1][0] == '-') {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "unknown option %s before the command\n\"wirepath help\" lists the "
			    "commands",
			    argv[1]);
		return -1;
	}
	if (!command)
		return unknown_command(name, error);
	return run_command(command, argv + 2, (gsize)argc - 2, warnings, error);
}
