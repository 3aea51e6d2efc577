/*
 * The self-pipe: what a handler can do safely is to write a byte. As in interrupt.c, what it knows must be
 * global.
 */
#include "report/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <unistd.h>

#include "report/error.h"

static int pipe_fds[2] = { -1, -1 };
static volatile sig_atomic_t is_ending;

static void
take_note(int number)
{
	int error = errno;
	const char byte = (char)number;
	gboolean is_end = number == SIGINT || number == SIGTERM;

	if (is_end && is_ending) {
		signal(number, SIG_DFL);
		raise(number); /* comes when this returns */
	}
	is_ending |= is_end;
	/* A full pipe holds thousands that nobody has taken: one more tells nothing new. */
	(void)!write(pipe_fds[1], &byte, 1);
	errno = error;
}

gboolean
wp_signals_catch(GError **error)
{
	const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
	struct sigaction action = { .sa_handler = take_note }, old;

	if (pipe_fds[0] < 0 && (!g_unix_open_pipe(pipe_fds, FD_CLOEXEC, error) ||
				!g_unix_set_fd_nonblocking(pipe_fds[0], TRUE, error) ||
				!g_unix_set_fd_nonblocking(pipe_fds[1], TRUE, error)))
		return FALSE;
	sigemptyset(&action.sa_mask);
	for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
		/*
		 * Who was started with one of them ignored (nohup) stays deaf to it. Not to SIGINT: a script's & has that
		 * ignored, and kill -INT is how scripts end a capture.
		 */
		if (sigaction(numbers[i], NULL, &old) == 0 &&
		    (old.sa_handler != SIG_IGN || numbers[i] == SIGINT))
			sigaction(numbers[i], &action, NULL);
	return TRUE;
}

int
wp_signals_fd(void)
{
	return pipe_fds[0];
}

int
wp_signals_take(void)
{
	char byte;

	return read(pipe_fds[0], &byte, 1) == 1 ? byte : 0;
}
