/* Reading a file whole, with its errors told in one way; see text-file.h. */
#include "infer/text-file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "infer/pattern.h"

gboolean
wp_text_file_fail(const char *path, const char *what, int number, GError **error)
{
	gboolean denied = number == EACCES || number == EPERM;
	/* Elsewhere "-" is standard input, which is for packets and traces. */
	const char *hint = strcmp(path, "-") == 0
				   ? "\nonly inputs are read from standard input (-); give the "
				     "name of a file, or /dev/stdin"
				   : "";
	g_set_error(error, WP_INFER_ERROR, denied ? WP_INFER_ERROR_PERMISSION : WP_INFER_ERROR_OPEN,
		    "cannot read %s from %s: %s%s", what, path, g_strerror(number), hint);
	return FALSE;
}

static gboolean
read_some(FILE *file, GString *text, gsize max_bytes)
{
	char buffer[4096];
	gsize n;

	errno = 0;
	while (text->len <= max_bytes && (n = fread(buffer, 1, sizeof buffer, file)) > 0)
		g_string_append_len(text, buffer, (gssize)n);
	return !ferror(file);
}

char *
wp_text_file_read(const char *path, const char *what, gsize max_bytes, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	FILE *file = fopen(path, "re");

	if (!file) {
		wp_text_file_fail(path, what, errno, error);
		return NULL;
	}
	gboolean ok = read_some(file, text, max_bytes);
	int number = errno;
	fclose(file);
	if (!ok) {
		wp_text_file_fail(path, what, number, error);
		return NULL;
	}
	if (text->len > max_bytes || memchr(text->str, '\0', text->len)) {
		g_set_error(error, WP_INFER_ERROR, WP_INFER_ERROR_FORMAT,
			    "cannot read %s from %s: this is no text of at most %d MiB", what, path,
			    (int)(max_bytes >> 20));
		return NULL;
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}
