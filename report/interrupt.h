/*
 * The first SIGINT or SIGTERM asks for a partial result; a second one ends the program at once.
 */
#ifndef WP_REPORT_INTERRUPT_H
#define WP_REPORT_INTERRUPT_H

#include <glib.h>

/* From now on the first signal is only noted. */
void wp_interrupt_catch(void);

/* TRUE where it has come. */
gboolean wp_interrupt_came(void);

#endif
