/* Small files that the user writes, or points to: names, hints, the truth. What may go wrong with them. */
#ifndef WP_INFER_TEXT_FILE_H
#define WP_INFER_TEXT_FILE_H

#include <glib.h>

/*
 * (transfer full) The text of the file at PATH, which holds WHAT ("names"). NULL with WP_INFER_ERROR_OPEN or
 * _PERMISSION, or with _FORMAT for what is no text of at most MAX_BYTES.
 */
char *wp_text_file_read(const char *path, const char *what, gsize max_bytes, GError **error);

/* FALSE, with ERROR set: PATH could not be opened, for NUMBER (an errno). */
gboolean wp_text_file_fail(const char *path, const char *what, int number, GError **error);

#endif
