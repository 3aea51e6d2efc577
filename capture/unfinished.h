/*
 * Unfinished files: the temporary names of outputs that are being written, so that a signal that ends the
 * program at once can remove them.
 */
#ifndef WP_CAPTURE_UNFINISHED_H
#define WP_CAPTURE_UNFINISHED_H

#include <glib.h>

/* PATH (copied) is a temporary file now, or no longer. Main thread only. */
void wp_unfinished_add(const char *path);
void wp_unfinished_drop(const char *path);

/* Removes all of them. May be called by a signal handler. */
void wp_unfinished_unlink(void);

#endif
