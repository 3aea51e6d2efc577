/*
 * WpOverwrite: no command writes over a file that it reads, nor twice to the same one. Files are the
 * same by device and number, so no other spelling, link or redirection hides it.
 *
 * Only regular files can be destroyed in this way; pipes, terminals and /dev/null are not looked at.
 */
#ifndef WP_REPORT_OVERWRITE_H
#define WP_REPORT_OVERWRITE_H

#include <glib.h>

typedef struct WpOverwrite WpOverwrite;

/* (transfer full) */
WpOverwrite *wp_overwrite_new(void);
void wp_overwrite_free(WpOverwrite *files);

/* "-" is standard input. PATH NULL, or a file that is not there, is passed over. */
void wp_overwrite_add_input(WpOverwrite *files, const char *path);

/*
 * PATH, or standard output where it is NULL or "-". FALSE with WP_REPORT_ERROR_USAGE where it is one of
 * the inputs or of the outputs before it: to be asked before anything is opened for writing.
 */
gboolean wp_overwrite_add_output(WpOverwrite *files, const char *path, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpOverwrite, wp_overwrite_free)

#endif
