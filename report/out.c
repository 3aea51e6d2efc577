/* One GString as buffer, written out whenever it is over BUFFER_BYTES. */
#include "report/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/error.h"
#include "report/format.h"

/* Large enough that system calls do not matter, small enough to stay in the cache. */
#define BUFFER_BYTES (64 * 1024)

struct WpOut {
	GString *buffer;
	int fd;          /* -1 = memory, or closed */
	int failure;     /* errno of the first write that failed, 0 = none */
	char *path;      /* as the user gave it; NULL = memory */
	char *temporary; /* name while being written; NULL = written directly */
};

static WpOut *
out_new(int fd, const char *path)
{
	WpOut *out = g_new0(WpOut, 1);
	out->buffer = g_string_sized_new(BUFFER_BYTES + 4096);
	out->fd = fd;
	out->path = g_strdup(path);
	return out;
}

WpOut *
wp_out_new_memory(void)
{
	return out_new(-1, NULL);
}

static void
set_error(const char *path, int failure, GError **error)
{
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_WRITE, "%s: writing: %s",
		    strcmp(path, "-") == 0 ? "standard output" : path, g_strerror(failure));
}

/* TRUE where PATH may be replaced by a new file: it does not exist, or is a regular file. */
static gboolean
is_replaceable(const char *path)
{
	struct stat status;
	return lstat(path, &status) != 0 ? errno == ENOENT : S_ISREG(status.st_mode);
}

/* The mode that a new file would get. The mask can only be read by setting it. */
static mode_t
default_mode(const char *path)
{
	struct stat status;
	if (stat(path, &status) == 0)
		return status.st_mode & 07777;
	mode_t mask = umask(077);
	umask(mask);
	return 0666 & ~mask;
}

WpOut *
wp_out_open(const char *path, GError **error)
{
	if (strcmp(path, "-") == 0)
		return out_new(STDOUT_FILENO, path);
	g_autofree char *temporary = NULL;
	int fd;
	if (is_replaceable(path)) {
		temporary = g_strconcat(path, ".XXXXXX", NULL);
		fd = g_mkstemp_full(temporary, O_RDWR | O_CLOEXEC, (int)default_mode(path));
	} else {
		fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	if (fd < 0) {
		set_error(path, errno, error);
		return NULL;
	}
	WpOut *out = out_new(fd, path);
	out->temporary = g_steal_pointer(&temporary);
	return out;
}

void
wp_out_free(WpOut *out)
{
	if (!out)
		return;
	if (out->temporary) {
		close(out->fd);
		unlink(out->temporary);
	} else if (out->fd > STDERR_FILENO) {
		close(out->fd);
	}
	g_string_free(out->buffer, TRUE);
	g_free(out->temporary);
	g_free(out->path);
	g_free(out);
}

static void
flush(WpOut *out)
{
	const char *data = out->buffer->str;
	gsize left = out->buffer->len;
	while (left && !out->failure) {
		ssize_t n = write(out->fd, data, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			out->failure = errno;
			break;
		}
		data += n;
		left -= (gsize)n;
	}
	g_string_truncate(out->buffer, 0);
}

static inline void
flush_if_full(WpOut *out)
{
	if (G_UNLIKELY(out->buffer->len >= BUFFER_BYTES && out->fd >= 0))
		flush(out);
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
	return out->failure != 0;
}

const char *
wp_out_string(const WpOut *out)
{
	return out->buffer->str;
}

/* Standard output stays open for more; its last error is found when the program closes it. */
static void
close_file(WpOut *out)
{
	int fd = out->fd;
	out->fd = -1;
	if (fd <= STDERR_FILENO)
		return;
	if (close(fd) != 0 && !out->failure)
		out->failure = errno;
	if (out->temporary && !out->failure && rename(out->temporary, out->path) != 0)
		out->failure = errno;
	if (out->temporary && out->failure)
		unlink(out->temporary);
	g_clear_pointer(&out->temporary, g_free);
}

gboolean
wp_out_close(WpOut *out, GError **error)
{
	if (out->fd < 0)
		return TRUE;
	flush(out);
	close_file(out);
	if (!out->failure)
		return TRUE;
	set_error(out->path, out->failure, error);
	return FALSE;
}
