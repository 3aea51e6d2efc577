/* The program: runs the command, prints its warnings and its error, sets the exit status; no more. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "report/command.h"
#include "report/error.h"
#include "report/escape.h"

/*
 * Window after window takes and frees the same memory. Given back to the system each time it comes back page by page,
 * cleared: a tenth of all the work. So much is kept, as much as windows need; beyond it all is given back as before.
 */
#define KEPT_BYTES  (256 << 20)
#define PIECE_BYTES (32 << 20) /* the most that glibc takes: larger ones are always given back */

static void
keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, PIECE_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

/*
 * With a standard stream closed, the first file opened would take its number and receive what was
 * meant for the stream. Each is filled so that using it fails.
 */
static void
fill_standard_streams(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static void
print_error(const GError *error)
{
	g_autofree char *reason = wp_error_reason(error);
	g_auto(GStrv) hints = wp_error_hints(error);
	fprintf(stderr, "wirepath: %s\n", reason);
	for (char **hint = hints; *hint; hint++)
		fprintf(stderr, "wirepath: %s\n", *hint);
}

static void
print_warnings(const GPtrArray *warnings)
{
	for (guint i = 0; i < warnings->len; i++) {
		g_autofree char *text = wp_escape_terminal(warnings->pdata[i], TRUE);
		fprintf(stderr, "wirepath: warning: %s\n", text);
	}
}

/* Some file systems tell of a full disk only here. */
static int
close_stdout(int status)
{
	if (close(STDOUT_FILENO) == 0)
		return status;
	fprintf(stderr, "wirepath: cannot write to standard output: %s\n", g_strerror(errno));
	return status ? status : 74;
}

int
main(int argc, char **argv)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;

	fill_standard_streams();
	keep_memory();
	/* Characters as the terminal has them; numbers always with a point. */
	setlocale(LC_CTYPE, "");
	/* A reader that goes away (head) ends us quietly, even where our parent ignored the signal. */
	signal(SIGPIPE, SIG_DFL);
	/* A file that is as large as is allowed: an error like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	int status = wp_command_main(argc, argv, warnings, &error);
	print_warnings(warnings);
	if (error) {
		print_error(error);
		status = wp_error_status(error);
	}
	return close_stdout(status);
}
