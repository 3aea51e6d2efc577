/*
 * WpInput: bytes of a file or of standard input, decompressed on the way (gzip, zstd, lz4 by content).
 * Used by sources and the trace reader.
 */
#ifndef WP_CAPTURE_INPUT_H
#define WP_CAPTURE_INPUT_H

#include <glib.h>

typedef struct WpInput WpInput;

/* (transfer full) NULL with WP_CAPTURE_ERROR_OPEN, _PERMISSION, or _FORMAT (a directory). */
WpInput *wp_input_open(const char *path, GError **error);
void wp_input_free(WpInput *input);

/*
 * The same, but where PATH is "-" and *STANDARD_INPUT holds an input, that one is handed over and
 * *STANDARD_INPUT becomes NULL: standard input can be looked at, to see what it is, and then be read
 * from its first byte. STANDARD_INPUT may be NULL.
 */
WpInput *wp_input_open_or_take(const char *path, WpInput **standard_input, GError **error);

/*
 * Makes at least WANT bytes (at most 16 MiB) available at *OUT_DATA, fewer only at the end of the
 * input; returns how many there are, -1 on error. Nothing is consumed. *OUT_DATA is valid until the
 * next call. A compressed stream that ends too early is an end; see wp_input_is_cut().
 */
gssize wp_input_peek(WpInput *input, gsize want, const guint8 **out_data, GError **error);

/* What a peek would give without a read: bytes that stay where they are when one asks for no more. */
gsize wp_input_at_hand(const WpInput *input, const guint8 **out_data);

/* Consumes N bytes, at most what the last peek gave. */
void wp_input_consume(WpInput *input, gsize n);

/* TRUE where a compressed stream ended in the middle. */
gboolean wp_input_is_cut(const WpInput *input);

/* Bytes read of the file as stored, and its size (0 = unknown). */
void wp_input_progress(const WpInput *input, guint64 *out_read, guint64 *out_size);

/* (transfer none) As given. */
const char *wp_input_path(const WpInput *input);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpInput, wp_input_free)

#endif
