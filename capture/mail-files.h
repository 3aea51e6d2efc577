/*
 * From files to heads of mails: what stands before the first empty line of each mail. An mbox file
 * (RFC 4155 and its kin) holds mails behind lines "From ADDRESS DATE"; a Maildir (cr.yp.to/proto/maildir)
 * has a file for each, in cur and new. The bodies are passed over as they come, however long.
 */
#ifndef WP_CAPTURE_MAIL_FILES_H
#define WP_CAPTURE_MAIL_FILES_H

#include <glib.h>

#include "capture/input.h"

typedef struct {
	/* HEAD ends with a newline and 0; IS_CUT: it was longer than the limit. FALSE stops. */
	gboolean (*head)(const char *head, gsize length, gboolean is_cut, gpointer data);
	/* Bytes read of the current file and its size (0 = unknown). FALSE stops. */
	gboolean (*progress)(guint64 read, guint64 size, gpointer data);
	gpointer data;
	gsize max_head; /* bytes */
	guint n_cut;    /* files that end in the middle of their compression, so far */
} WpMailHeads;

/* TRUE where the first line is that of an mbox, or a field of a head. */
gboolean wp_mail_files_is_mail(const guint8 *data, gsize length);

/*
 * All heads of PATH, in the order of the file, or of the files by name. TRUE also where it was stopped.
 * FALSE with WP_CAPTURE_ERROR_... after what could be read was given.
 */
gboolean wp_mail_files_read(const char *path, WpInput **standard_input, WpMailHeads *heads,
			    GError **error);

#endif
