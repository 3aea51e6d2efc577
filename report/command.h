/*
 * WpCommand: one subcommand of wirepath. One file (cmd-<name>.c) and one const WpCommand each, one
 * line in wp_commands[]. --help, "help", the man page check and the parser loop over that table.
 */
#ifndef WP_REPORT_COMMAND_H
#define WP_REPORT_COMMAND_H

#include <glib.h>

#include "report/options.h"
#include "report/out.h"
#include "report/progress.h"
#include "report/terminal.h"

typedef struct WpCommand WpCommand;

/* What every command is run with. */
typedef struct {
	const WpCommand *command;
	char **operands; /* what is no option, NULL-ended */
	guint n_operands;
	int verbosity;     /* -v, -vv */
	gboolean is_quiet; /* -q: no progress, no warnings */
	int color;         /* WpColor */
	const char *
		about; /* of several inputs that are read one by one, the one at hand: for warnings; or NULL */
	GPtrArray *warnings; /* one line each, printed by main.c at the end; see wp_warn() */
	WpProgress *progress;
} WpInvocation;

struct WpCommand {
	const char *name;
	const char *synopsis; /* "INPUT... [-o FILE]" */
	const char *summary;  /* one line */
	const char *details;  /* paragraphs for its --help; NULL = none */
	const char *examples; /* lines "wirepath ..." for its --help; NULL = none */
	guint min_operands;
	guint max_operands;
	gsize options_size;

	/* Sets the defaults in OPTIONS (zeroed) and adds its tables to PARSER. NULL = no options. */
	void (*declare)(WpOptions *parser, gpointer options);

	/* The exit status, or -1 with ERROR set. */
	int (*run)(WpInvocation *invocation, gpointer options, GError **error);

	/* Frees what OPTIONS owns. May be NULL. */
	void (*clear)(gpointer options);
};

/* NULL-ended, in the order of --help. */
extern const WpCommand *const wp_commands[];

const WpCommand *wp_command_by_name(const char *name);

/*
 * Runs the command that ARGV names, with its options. Returns the exit status, or -1 with ERROR set.
 * WARNINGS takes strings (transfer full); stays empty with -q.
 */
int wp_command_main(int argc, char **argv, GPtrArray *warnings, GError **error);

/* Notes a warning for the end of the run. */
void wp_warn(const WpInvocation *invocation, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Calls FUNC for each option of COMMAND, common ones included. */
void wp_command_options(const WpCommand *command, WpOptionFunc func, gpointer data);

/* Writes the overview of all commands, or all about one. */
void wp_command_overview(WpOut *out);
void wp_command_help(const WpCommand *command, WpOut *out);

#endif
