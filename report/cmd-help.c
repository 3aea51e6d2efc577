/* wirepath help [COMMAND] */
#include "report/command.h"
#include "report/error.h"

static int
run(WpInvocation *invocation, gpointer options, GError **error)
{
	(void)options;
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
	if (command)
		wp_command_help(command, out);
	else
		wp_command_overview(out);
	return wp_out_close(out, error) ? WP_EXIT_OK : -1;
}

const WpCommand wp_command_help_page = {
	.name = "help",
	.synopsis = "[COMMAND]",
	.summary = "how to use wirepath, or one of its commands",
	.max_operands = 1,
	.run = run,
};
