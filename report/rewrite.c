/* Rewriting through a directory that is open. */
#include "report/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/trace.h"

/* Read by other programs, as an agent that collects such files is another user. */
#define FILE_MODE 0644

struct WpRewrite {
	char *path;
	char *name;      /* in the directory */
	char *temporary; /* likewise */
	int directory;
};

static gboolean
fail(const WpRewrite *rewrite, GError **error)
{
	gboolean is_denied = errno == EACCES || errno == EPERM;

	g_set_error(error, WP_CAPTURE_ERROR,
		    is_denied ? WP_CAPTURE_ERROR_PERMISSION : WP_CAPTURE_ERROR_WRITE,
		    "cannot write to %s: %s%s", rewrite->path, g_strerror(errno),
		    is_denied ? "\nits directory must be writable for the user that this runs as "
				"(--user)"
			      : "");
	return FALSE;
}

WpRewrite *
wp_rewrite_new(const char *path, GError **error)
{
	g_autoptr(WpRewrite) rewrite = g_new0(WpRewrite, 1);
	g_autofree char *directory = g_path_get_dirname(path);

	rewrite->path = g_strdup(path);
	rewrite->name = g_path_get_basename(path);
	/* Hidden, and of no form that a collector of such files looks for. */
	rewrite->temporary = g_strdup_printf(".%s.%d.tmp", rewrite->name, (int)getpid());
	rewrite->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rewrite->directory < 0 || g_str_has_suffix(path, "/")) {
		errno = rewrite->directory < 0 ? errno : EISDIR;
		fail(rewrite, error);
		return NULL;
	}
	return g_steal_pointer(&rewrite);
}

void
wp_rewrite_free(WpRewrite *rewrite)
{
	if (!rewrite)
		return;
	if (rewrite->directory >= 0)
		(void)close(rewrite->directory);
	g_free(rewrite->path);
	g_free(rewrite->name);
	g_free(rewrite->temporary);
	g_free(rewrite);
}

int
wp_rewrite_directory(const WpRewrite *rewrite)
{
	return rewrite->directory;
}

static gboolean
write_all(int fd, const char *text)
{
	for (gsize rest = strlen(text); rest > 0;) {
		gssize n = write(fd, text, rest);
		if (n < 0 && errno != EINTR)
			return FALSE;
		text += MAX(n, 0);
		rest -= (gsize)MAX(n, 0);
	}
	return TRUE;
}

gboolean
wp_rewrite_put(WpRewrite *rewrite, const char *text, GError **error)
{
	int fd = openat(rewrite->directory, rewrite->temporary,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);

	if (fd < 0)
		return fail(rewrite, error);
	gboolean ok = write_all(fd, text);
	int reason = errno;
	if (close(fd) < 0 && ok) {
		ok = FALSE;
		reason = errno;
	}
	if (ok && renameat(rewrite->directory, rewrite->temporary, rewrite->directory,
			   rewrite->name) < 0) {
		ok = FALSE;
		reason = errno;
	}
	if (ok)
		return TRUE;
	(void)unlinkat(rewrite->directory, rewrite->temporary, 0);
	errno = reason;
	return fail(rewrite, error);
}
