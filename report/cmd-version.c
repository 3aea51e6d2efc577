/* wirepath version: for bug reports. */
#include "config.h"

#include "report/command.h"
#include "report/error.h"

static int
run(WpInvocation *invocation, gpointer options, GError **error)
{
	(void)invocation;
	(void)options;
	g_autoptr(WpOut) out = wp_out_open("-", error);
	if (!out)
		return -1;
	wp_out_text(out, PACKAGE_STRING "\n");
	return wp_out_close(out, error) ? WP_EXIT_OK : -1;
}

const WpCommand wp_command_version = {
	.name = "version",
	.synopsis = "",
	.summary = "the version of wirepath",
	.run = run,
};
