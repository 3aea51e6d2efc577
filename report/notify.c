/* Notify: one datagram a message; what does not arrive is no error, as nobody waits for an answer. */
#include "report/notify.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "report/format.h"

#define NS_PER_US 1000

struct WpNotify {
	int fd;             /* -1: nobody listens */
	gint64 watchdog_ns; /* it wants to hear from us that often; 0 = never */
	gint64 next_ns;
};

/* "@name" is an abstract socket: its name begins with a zero byte. */
static int
connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	gsize n = strlen(path);

	if (n < 2 || n >= sizeof address.sun_path || (path[0] != '@' && path[0] != '/'))
		return -1;
	memcpy(address.sun_path, path, n);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, length) < 0) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

WpNotify *
wp_notify_new(void)
{
	WpNotify *notify = g_new0(WpNotify, 1);
	const char *path = g_getenv("NOTIFY_SOCKET"), *interval = g_getenv("WATCHDOG_USEC");
	const char *process = g_getenv("WATCHDOG_PID");
	gint64 us, pid;

	notify->fd = path ? connect_to(path) : -1;
	if (interval && wp_parse_int(interval, &us) && us > 0 && us < G_MAXINT64 / NS_PER_US &&
	    (!process || (wp_parse_int(process, &pid) && pid == getpid())))
		notify->watchdog_ns = us * NS_PER_US / 2; /* as sd_watchdog_enabled(3) advises */
	return notify;
}

void
wp_notify_free(WpNotify *notify)
{
	if (!notify)
		return;
	if (notify->fd >= 0)
		(void)close(notify->fd);
	g_free(notify);
}

void
wp_notify_send(WpNotify *notify, const char *state)
{
	if (notify->fd >= 0)
		(void)!write(notify->fd, state, strlen(state));
}

void
wp_notify_alive(WpNotify *notify, gint64 monotonic_ns)
{
	if (!notify->watchdog_ns || monotonic_ns < notify->next_ns)
		return;
	notify->next_ns = monotonic_ns + notify->watchdog_ns;
	wp_notify_send(notify, "WATCHDOG=1");
}
