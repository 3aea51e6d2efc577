/*
 * WpOut: where a page goes: standard output, a file, or memory. Buffered; what fails is remembered
 * and told once, by wp_out_close(), so that writers need not check each line.
 *
 * A file is written under a temporary name beside its own and renamed when it is complete: a reader
 * never sees half a page, and an older page survives a full disk. What is no regular file (/dev/full,
 * a pipe) is written directly. A file whose name ends in .gz, .zst or .lz4 is compressed.
 */
#ifndef WP_REPORT_OUT_H
#define WP_REPORT_OUT_H

#include <glib.h>

typedef struct WpOut WpOut;

/* (transfer full) PATH "-" = standard output. NULL with WP_CAPTURE_ERROR_WRITE or _PERMISSION. */
WpOut *wp_out_open(const char *path, GError **error);

/* (transfer full) Keeps everything; see wp_out_string(). */
WpOut *wp_out_new_memory(void);

/* Frees; a file that was not closed is removed, not renamed. */
void wp_out_free(WpOut *out);

void wp_out_bytes(WpOut *out, const char *data, gsize length);
void wp_out_text(WpOut *out, const char *text);
void wp_out_char(WpOut *out, char c);
void wp_out_uint(WpOut *out, guint64 value);
void wp_out_printf(WpOut *out, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* N times C. */
void wp_out_fill(WpOut *out, char c, gsize n);

/* What was put so far can be seen now: of a page that is followed by others. */
void wp_out_flush(WpOut *out);

/* TRUE where all was written and, for a file, it now stands under its name. Once. */
gboolean wp_out_close(WpOut *out, GError **error);

/* TRUE where a write has failed: a long output may stop early. */
gboolean wp_out_failed(const WpOut *out);

/* (transfer none) What a memory output holds so far. */
const char *wp_out_string(const WpOut *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpOut, wp_out_free)

#endif
