/* The progress line: on a terminal, after a second; nothing elsewhere, or with -q. */
#define _GNU_SOURCE /* ptsname */
#include "report/progress.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/suite.h"

/* Standard error becomes a terminal; returns its other end. */
static int
open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -1;
	int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(slave, 0);
	ck_assert_int_eq(dup2(slave, STDERR_FILENO), STDERR_FILENO);
	close(slave);
	return master;
}

/* What stands on the terminal after at most TIMEOUT_MS. */
static gboolean
shows(int master, int timeout_ms, const char *text)
{
	char seen[4096];
	gsize n = 0;
	gssize got;
	struct pollfd wait = { .fd = master, .events = POLLIN };
	while (poll(&wait, 1, timeout_ms) > 0 && n < sizeof seen - 1) {
		got = read(master, seen + n, sizeof seen - 1 - n);
		if (got <= 0)
			break;
		n += (gsize)got;
		seen[n] = '\0';
		if (strstr(seen, text))
			return TRUE;
	}
	return FALSE;
}

/* A stage that cannot tell how far it is shows its seconds, whatever else the program does. */
START_TEST(stage)
{
	for (int quiet = 0; quiet < 2; quiet++) {
		int master = open_terminal();
		if (master < 0)
			return;
		g_autoptr(WpProgress) progress = wp_progress_new(quiet);
		wp_progress_stage(progress, "inferring");
		ck_assert_int_eq(shows(master, quiet ? 1500 : 20000, "inferring: 1 s"), !quiet);
		wp_progress_clear(progress);
		ck_assert_int_eq(shows(master, 0, "\r\033[K"), !quiet);
		close(master);
	}
}
END_TEST

WP_SUITE("progress", stage)
