/*
 * WpOutput: bytes to a file or to standard output, compressed by suffix (.gz, .zst, .lz4).
 *
 * A file is written under a temporary name beside its place and renamed when finished, so that nobody
 * sees half of it and an older file of that name stays until then. What was written before an error is
 * kept as NAME.partial (not after wp_output_want_whole()), and the error's second line says so. An existing
 * thing that is no regular file (a pipe, /dev/null) is written to as it is.
 *
 * The first error is kept; later puts do nothing. So callers put without looking and check
 * wp_output_failed() once a line.
 */
#ifndef WP_CAPTURE_OUTPUT_H
#define WP_CAPTURE_OUTPUT_H

#include <glib.h>

typedef struct WpOutput WpOutput;

/* The buffer is public for the inline functions below, and for nothing else. */
struct WpOutput {
	char *at;
	char *limit;
};

/* (transfer full) PATH "-" is standard output. NULL with WP_CAPTURE_ERROR_WRITE or _PERMISSION. */
WpOutput *wp_output_open(const char *path, GError **error);

/*
 * (transfer full) The same for what grows for long and may end at any moment: a file is written under its own
 * name from the start, and what is in it stays, whatever happens.
 */
WpOutput *wp_output_open_in_place(const char *path, GError **error);

/* Bytes of PATH without a suffix that says how it is compressed; all of them where it has none. */
gsize wp_output_plain_length(const char *path);

/* Of an unfinished output, as after wp_output_stop(). */
void wp_output_free(WpOutput *output);

/* From now on OUTPUT is kept only if all of it was written: half a page is worth less than the old one. */
void wp_output_want_whole(WpOutput *output);

/* Writes all, closes and renames. FALSE with the first error of this output. */
gboolean wp_output_finish(WpOutput *output, GError **error);

/* TRUE, and a copy of the first error, where there was one. */
gboolean wp_output_failed(const WpOutput *output, GError **error);

/* Something else went wrong: what was put into OUTPUT so far, if anything, becomes NAME.partial. */
void wp_output_stop(WpOutput *output);

/* (transfer full) A line that says what was kept as NAME.partial; NULL: nothing was. */
char *wp_output_rest(const WpOutput *output);

/* What was put into OUTPUT so far is not worth keeping: the temporary file is removed. */
void wp_output_discard(WpOutput *output);

/* Empties the buffer. */
void wp_output_flush(WpOutput *output);

/* The same, and what a codec holds back as well: what was put so far can be read now. */
void wp_output_sync(WpOutput *output);

/* Room for N bytes (at most 4096) at output->at. */
static inline void
wp_output_reserve(WpOutput *output, gsize n)
{
	if ((gsize)(output->limit - output->at) < n)
		wp_output_flush(output);
}

static inline void
wp_output_put(WpOutput *output, char c)
{
	wp_output_reserve(output, 1);
	*output->at++ = c;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpOutput, wp_output_free)

#endif
