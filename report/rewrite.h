/*
 * WpRewrite: a small file that is written anew now and then while the program runs: under another name in the same
 * directory, then renamed, so that who reads it sees all of the old one or all of the new one. The directory is opened
 * once, when there still are privileges; all writes go through it.
 */
#ifndef WP_REPORT_REWRITE_H
#define WP_REPORT_REWRITE_H

#include <glib.h>

typedef struct WpRewrite WpRewrite;

/* (transfer full) Opens the directory of PATH, and writes nothing. NULL with WP_CAPTURE_ERROR_WRITE or _PERMISSION. */
WpRewrite *wp_rewrite_new(const char *path, GError **error);

/* What was written stays. */
void wp_rewrite_free(WpRewrite *rewrite);

/* The directory: where files are made and removed. */
int wp_rewrite_directory(const WpRewrite *rewrite);

/*
 * TEXT is the file from now on. FALSE with WP_CAPTURE_ERROR_WRITE or _PERMISSION: then it is still what it was
 * before, and the next time may go well.
 */
gboolean wp_rewrite_put(WpRewrite *rewrite, const char *text, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpRewrite, wp_rewrite_free)

#endif
