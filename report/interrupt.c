/*
 * A signal handler can only speak through globals: this and capture/unfinished.c have the only mutable ones
 * of the program. What it calls must be safe in a handler: write, unlink, signal, raise.
 */
#include "report/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "capture/unfinished.h"

static volatile sig_atomic_t came, has_terminal;

/* What is finished may take long: who waits for the prompt wants to know how to get it. */
static void
say(void)
{
	static const char clear[] = "\r\033[K";
	static const char words[] = "wirepath: interrupted: finishing with what there is so far; "
				    "Ctrl-C again quits at once\n";
	if (has_terminal)
		(void)!write(STDERR_FILENO, clear, sizeof clear - 1);
	(void)!write(STDERR_FILENO, words, sizeof words - 1);
}

static void
note_signal(int number)
{
	int error = errno;
	if (came) {
		wp_unfinished_unlink();
		signal(number, SIG_DFL);
		raise(number); /* comes when this returns */
	} else {
		came = 1;
		say();
	}
	errno = error;
}

void
wp_interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = note_signal };
	struct sigaction old;
	const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	has_terminal = isatty(STDERR_FILENO);
	sigemptyset(&action.sa_mask);
	for (gsize i = 0; i < G_N_ELEMENTS(signals); i++)
		/* Who was started with the signal ignored (nohup, a shell's &) stays deaf to it. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

gboolean
wp_interrupt_came(void)
{
	return came != 0;
}
