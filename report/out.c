/*
 * One GString as buffer, handed on whenever it is over BUFFER_BYTES. Files, their temporary names and
 * their compression are capture/output.h's.
 */
#include "report/out.h"

#include <string.h>

#include "capture/output.h"
#include "report/format.h"

/* Large enough that calls do not matter, small enough to stay in the cache. */
#define BUFFER_BYTES (64 * 1024)

/* What an output takes in one piece. */
#define PIECE_BYTES 4096

struct WpOut {
	GString *buffer;
	WpOutput *output; /* NULL = memory */
	gboolean is_closed;
};

static WpOut *
out_new(WpOutput *output)
{
	WpOut *out = g_new0(WpOut, 1);
	out->buffer = g_string_sized_new(BUFFER_BYTES + PIECE_BYTES);
	out->output = output;
	return out;
}

WpOut *
wp_out_new_memory(void)
{
	return out_new(NULL);
}

WpOut *
wp_out_open(const char *path, GError **error)
{
	WpOutput *output = wp_output_open(path, error);
	if (!output)
		return NULL;
	wp_output_want_whole(output);
	return out_new(output);
}

void
wp_out_free(WpOut *out)
{
	if (!out)
		return;
	wp_output_free(out->output);
	g_string_free(out->buffer, TRUE);
	g_free(out);
}

static void
flush(WpOut *out)
{
	const char *data = out->buffer->str;
	for (gsize left = out->buffer->len, n; left; data += n, left -= n) {
		n = MIN(left, PIECE_BYTES);
		wp_output_reserve(out->output, n);
		memcpy(out->output->at, data, n);
		out->output->at += n;
	}
	g_string_truncate(out->buffer, 0);
}

static inline void
flush_if_full(WpOut *out)
{
	if (G_UNLIKELY(out->buffer->len >= BUFFER_BYTES && out->output))
		flush(out);
}

void
wp_out_flush(WpOut *out)
{
	if (!out->output)
		return;
	flush(out);
	wp_output_sync(out->output);
}

void
wp_out_bytes(WpOut *out, const char *data, gsize length)
{
	g_string_append_len(out->buffer, data, (gssize)length);
	flush_if_full(out);
}

void
wp_out_text(WpOut *out, const char *text)
{
	wp_out_bytes(out, text, strlen(text));
}

void
wp_out_char(WpOut *out, char c)
{
	g_string_append_c(out->buffer, c);
	flush_if_full(out);
}

void
wp_out_fill(WpOut *out, char c, gsize n)
{
	for (gsize i = 0; i < n; i++)
		g_string_append_c(out->buffer, c);
	flush_if_full(out);
}

void
wp_out_uint(WpOut *out, guint64 value)
{
	char digits[WP_FORMAT_MAX];
	gsize n = wp_format_uint(digits, value);
	wp_out_bytes(out, digits, n);
}

void
wp_out_printf(WpOut *out, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	g_string_append_vprintf(out->buffer, format, arguments);
	va_end(arguments);
	flush_if_full(out);
}

gboolean
wp_out_failed(const WpOut *out)
{
	return out->output && wp_output_failed(out->output, NULL);
}

const char *
wp_out_string(const WpOut *out)
{
	return out->buffer->str;
}

gboolean
wp_out_close(WpOut *out, GError **error)
{
	if (!out->output || out->is_closed)
		return TRUE;
	out->is_closed = TRUE;
	flush(out);
	return wp_output_finish(out->output, error);
}
