/*
 * WpErrands: commands that are run for a program which itself may not run any (capture/sandbox.h): a second process,
 * begun before privileges are given up, gives up the same ones but those for files and processes, and then runs, one
 * after the other, what it is told to.
 */
#ifndef WP_REPORT_ERRANDS_H
#define WP_REPORT_ERRANDS_H

#include <glib.h>

/* Of a command and what it is told, in all. */
#define WP_ERRAND_MAX 4000

typedef struct WpErrands WpErrands;

/*
 * (transfer full) Where this program will, it DROPS what it must not have; USER: as in WpSandboxOptions. There must be
 * no other thread yet. NULL with an error where there can be no process, or it cannot give up what it must.
 */
WpErrands *wp_errands_new(gboolean drops, const char *user, GError **error);

/* No more is to come: waits a moment for those that still run. */
void wp_errands_free(WpErrands *errands);

/*
 * Runs COMMAND by /bin/sh, as soon as those before it have ended, with VARIABLES (NAME=VALUE, NULL-ended) in its
 * environment; nothing is its input, its output goes to standard error. FALSE: it is too long, or too many wait.
 */
gboolean wp_errands_run(WpErrands *errands, const char *command, char *const *variables);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpErrands, wp_errands_free)

#endif
