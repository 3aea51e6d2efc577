/* Signals become numbers in a pipe; the service manager gets its datagrams. */
#include "report/signals.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/notify.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

static gboolean
is_ready(void)
{
	struct pollfd fd = { wp_signals_fd(), POLLIN, 0 };
	return poll(&fd, 1, 0) == 1;
}

/* As for a program that nobody had ignore any: nohup and a shell's & do, and the tests may run under them. */
static void
hear_all(void)
{
	const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
	for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
		signal(numbers[i], SIG_DFL);
}

/* In the order in which they came; each once. */
START_TEST(order)
{
	const int numbers[] = { SIGUSR1, SIGHUP, SIGUSR1, SIGHUP };
	hear_all();
	ck_assert(wp_signals_catch(NULL));
	ck_assert(!is_ready());
	ck_assert_int_eq(wp_signals_take(), 0);
	for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
		raise(numbers[i]);
	ck_assert(is_ready());
	for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
		ck_assert_int_eq(wp_signals_take(), numbers[i]);
	ck_assert_int_eq(wp_signals_take(), 0);
	ck_assert(!is_ready());
}
END_TEST

/* The second one ends the program; more of the others never do, also where nobody takes them. */
START_TEST(second)
{
	static const struct {
		int numbers[3];
		int ended_by; /* 0 = not */
	} rows[] = {
		{ { SIGINT, SIGINT }, SIGINT },
		{ { SIGTERM, SIGHUP, SIGINT }, SIGINT },
		{ { SIGHUP, SIGHUP, SIGINT }, 0 },
	};
	hear_all();
	ck_assert(wp_signals_catch(NULL));
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			(void)wp_signals_catch(NULL);
			for (int k = 0; k < 100000; k++)
				raise(SIGUSR1);
			for (gsize k = 0; k < 3 && rows[i].numbers[k]; k++)
				raise(rows[i].numbers[k]);
			_exit(0);
		}
		ck_assert(waitpid(child, &status, 0) == child);
		ck_assert_int_eq(WIFSIGNALED(status) ? WTERMSIG(status) : 0, rows[i].ended_by);
		/* The pipe may be one with the child's. */
		while (wp_signals_take())
			;
	}
}
END_TEST

/* Of a shell that starts something in the background, which has it ignore SIGINT, it is heard; of nohup it is not. */
START_TEST(ignored)
{
	static const struct {
		int number;
		gboolean comes;
	} rows[] = { { SIGINT, TRUE }, { SIGHUP, FALSE }, { SIGUSR1, FALSE } };

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			signal(rows[i].number, SIG_IGN);
			gboolean ok = wp_signals_catch(NULL);
			raise(rows[i].number);
			ok = ok && wp_signals_take() == (rows[i].comes ? rows[i].number : 0);
			_exit(ok ? 0 : 1);
		}
		ck_assert(waitpid(child, &status, 0) == child);
		ck_assert_int_eq(status, 0);
	}
}
END_TEST

static int
listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	g_strlcpy(address.sun_path, path, sizeof address.sun_path);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

static const char *
receive(int fd, char *buffer, gsize size)
{
	gssize n = recv(fd, buffer, size - 1, 0);
	buffer[MAX(n, 0)] = '\0';
	return buffer;
}

START_TEST(service)
{
	char text[64];
	g_autotemp *path = wp_temp_file_name(".socket");
	int fd = listen_at(path);

	g_setenv("NOTIFY_SOCKET", path, TRUE);
	g_setenv("WATCHDOG_USEC", "2000000", TRUE);
	g_autoptr(WpNotify) notify = wp_notify_new();
	wp_notify_send(notify, "READY=1\nSTATUS=x");
	ck_assert_str_eq(receive(fd, text, sizeof text), "READY=1\nSTATUS=x");
	/* Twice as often as it asks for. */
	static const struct {
		gint64 ns;
		const char *text;
	} rows[] = {
		{ 5, "WATCHDOG=1" },          { 900000000, "" },
		{ 1000000005, "WATCHDOG=1" }, { 1000000006, "" },
		{ 9000000000, "WATCHDOG=1" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		wp_notify_alive(notify, rows[i].ns);
		ck_assert_str_eq(receive(fd, text, sizeof text), rows[i].text);
	}
	close(fd);
	wp_notify_send(notify, "STOPPING=1"); /* nobody is there: no error */
}
END_TEST

/* What the environment says may be anything. */
START_TEST(no_service)
{
	static const char *const sockets[] = {
		NULL, "", "@", "x", "/nonexistent/socket", "@nobody"
	};
	for (gsize i = 0; i < G_N_ELEMENTS(sockets); i++) {
		g_unsetenv("NOTIFY_SOCKET");
		if (sockets[i])
			g_setenv("NOTIFY_SOCKET", sockets[i], TRUE);
		g_setenv("WATCHDOG_USEC", i % 2 ? "x" : "99999999999999999999", TRUE);
		g_autoptr(WpNotify) notify = wp_notify_new();
		wp_notify_send(notify, "READY=1");
		wp_notify_alive(notify, 1);
	}
}
END_TEST

WP_SUITE("signals", order, second, ignored, service, no_service)
