/*
 * WpCommand: one subcommand of wirepath. One file (cmd-<name>.c) and one const WpCommand each, one
 * line in wp_commands[].
 */
#ifndef WP_REPORT_COMMAND_H
#define WP_REPORT_COMMAND_H

#include <glib.h>

typedef struct {
	const char *name;
	const char *synopsis; /* "INPUT... [-o FILE]" */
	const char *summary;  /* one line */

	/*
	 * ARGV[0] is the command's name. Returns the exit status, or -1 with ERROR set, which the caller
	 * prints and turns into a status.
	 */
	int (*run)(int argc, char **argv, GError **error);
} WpCommand;

/* NULL-ended, in the order of --help. */
extern const WpCommand *const wp_commands[];

#endif
