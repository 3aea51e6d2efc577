/* wirepath help [COMMAND] */
#include "report/command.h"
#include "report/completion.h"
#include "report/error.h"

typedef struct {
	int shell; /* number in wp_completion_shells; -1 = none */
} HelpPageOptions;

static const WpOption table[] = {
	{ .name = "completion",
	  .kind = WP_OPT_CHOICE,
	  .offset = offsetof(HelpPageOptions, shell),
	  .argument = "SHELL",
	  .choices = wp_completion_shells,
	  .help = "what bash or zsh reads to complete commands and options" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	((HelpPageOptions *)data)->shell = -1;
	wp_options_add(parser, "Shells", table, data);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	const HelpPageOptions *options = data;
	const WpCommand *command = NULL;
	if (invocation->n_operands) {
		command = wp_command_by_name(invocation->operands[0]);
		if (!command) {
			g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
				    "help: there is no command %s\n\"wirepath help\" lists the "
				    "commands",
				    invocation->operands[0]);
			return -1;
		}
	}
	g_autoptr(WpOut) out = wp_out_open("-", error);
	if (!out)
		return -1;
	if (options->shell >= 0)
		wp_completion_write(options->shell, out);
	else if (command)
		wp_command_help(command, out);
	else
		wp_command_overview(out);
	return wp_out_close(out, error) ? WP_EXIT_OK : -1;
}

const WpCommand wp_command_help_page = {
	.name = "help",
	.synopsis = "[COMMAND | --completion SHELL]",
	.summary = "how to use wirepath, or one of its commands",
	.max_operands = 1,
	.options_size = sizeof(HelpPageOptions),
	.declare = declare,
	.run = run,
};
