/*
 * Labels: the operation of a call, with all that is particular to one call taken out, so that equal
 * operations have equal labels and no personal data stays. Numbers, ids, literals become {}.
 *
 * Each writes at most SIZE bytes, NUL included, to BUFFER and returns the length. Input is untrusted;
 * bytes outside printable ASCII come out as '?'. Deterministic, and equal on any split of the input.
 */
#ifndef WP_CAPTURE_LABEL_H
#define WP_CAPTURE_LABEL_H

#include <glib.h>

/* "/item/42/x?y=1" -> "/item/{}/x" (label-path.c). */
gsize wp_label_path(const char *path, gsize length, char *buffer, gsize size);

/*
 * "SELECT a FROM users u WHERE id = 7" -> "SELECT users (a) WHERE id" (label-sql.c). DIALECT is a set of
 * WP_SQL_... bits (sql.h); "" where the text is no statement. OUT_MINOR (may be NULL): it is a setting or
 * a bracket of a transaction, and any other statement sent with it says more.
 */
gsize wp_label_sql(const char *sql, gsize length, guint dialect, char *buffer, gsize size,
		   gboolean *out_minor);

/* "user:42:cart" -> "user:{}:cart" (label-key.c). */
gsize wp_label_key(const char *key, gsize length, char *buffer, gsize size);

/* "e06cf6f08caab80d.spam.lan" -> "{}.spam.lan" (label-name.c). */
gsize wp_label_name(const char *name, gsize length, char *buffer, gsize size);

#endif
