/*
 * A signal handler can only speak through a global: the one mutable global of the program.
 */
#include "report/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t came;

static void
note_signal(int number)
{
	(void)number;
	came = 1;
}

void
wp_interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND };
	struct sigaction old;
	const int signals[] = { SIGINT, SIGTERM };

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
