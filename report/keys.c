/* Keys: the terminal without lines and without echo. */
#include "report/keys.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

struct WpKeys {
	struct termios before;
	gboolean has_ended; /* nobody can press any more */
};

WpKeys *
wp_keys_new(void)
{
	struct termios before, now;

	if (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
	    tcgetattr(STDIN_FILENO, &before) < 0)
		return NULL;
	now = before;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* signals (ISIG) stay what they are */
	now.c_cc[VMIN] = 0;
	now.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &now) < 0)
		return NULL;
	WpKeys *keys = g_new0(WpKeys, 1);
	keys->before = before;
	return keys;
}

void
wp_keys_free(WpKeys *keys)
{
	if (!keys)
		return;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &keys->before);
	g_free(keys);
}

int
wp_keys_take(WpKeys *keys)
{
	struct pollfd ready = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char key;

	if (keys->has_ended || poll(&ready, 1, 0) != 1)
		return 0;
	if (ready.revents & POLLIN && read(STDIN_FILENO, &key, 1) == 1)
		return key;
	keys->has_ended = !(ready.revents & POLLIN);
	return 0;
}
