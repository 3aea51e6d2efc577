/*
 * Signals of a command that runs until it is told to end: they become bytes in a pipe, which its loop waits for
 * beside everything else. The first SIGINT or SIGTERM is one of them; a second one ends the program.
 */
#ifndef WP_REPORT_SIGNALS_H
#define WP_REPORT_SIGNALS_H

#include <glib.h>

/*
 * From now on SIGINT, SIGTERM, SIGHUP and SIGUSR1 come here; the last three not where they were ignored at the start.
 * FALSE where there can be no pipe.
 */
gboolean wp_signals_catch(GError **error);

/* To be waited for: it can be read when a signal has come. */
int wp_signals_fd(void);

/* The next signal that has come, 0 where there is none. Each is given once. */
int wp_signals_take(void);

#endif
