/*
 * The first SIGINT, SIGTERM or SIGHUP asks for a partial result, and says so on standard error; a second
 * one ends the program at once, without a temporary file left.
 */
#ifndef WP_REPORT_INTERRUPT_H
#define WP_REPORT_INTERRUPT_H

#include <glib.h>

/* From now on the first signal is only noted. To be called before any output is opened. */
void wp_interrupt_catch(void);

/* TRUE where it has come. */
gboolean wp_interrupt_came(void);

#endif
