/* Files that tests write: made under a new name, removed when the variable goes out of scope. */
#ifndef WP_TESTS_SUPPORT_TEMPFILE_H
#define WP_TESTS_SUPPORT_TEMPFILE_H

#include <glib.h>

typedef char WpTempFile;

/* A new file with LENGTH bytes whose name ends in SUFFIX. Free with wp_temp_file_remove(). */
WpTempFile *wp_temp_file_new(const char *suffix, gconstpointer data, gsize length);

/* A name for a file that does not exist yet. */
WpTempFile *wp_temp_file_name(const char *suffix);

/* The bytes of the file as a NUL-terminated text. */
char *wp_temp_file_read(const WpTempFile *path, gsize *out_length);

/* Removes the file, where it exists, and frees the name. */
void wp_temp_file_remove(WpTempFile *path);

/* DATA as one gzip member, one Zstandard frame, one LZ4 frame, one skippable frame. (transfer full) */
GByteArray *wp_gzip_bytes(gconstpointer data, gsize length);
GByteArray *wp_zstd_bytes(gconstpointer data, gsize length);
GByteArray *wp_lz4_bytes(gconstpointer data, gsize length);
GByteArray *wp_zstd_skippable(gconstpointer data, gsize length);

#define g_autotemp __attribute__((cleanup(wp_temp_file_clean))) WpTempFile

static inline void
wp_temp_file_clean(WpTempFile **path)
{
	wp_temp_file_remove(*path);
}

#endif
