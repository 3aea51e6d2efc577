/*
 * Errands: a message is a command and its variables, each ended by 0, and fits into what a pipe takes as a whole: so
 * it is either written at once, or not at all.
 */
#include "config.h"

#include "report/errands.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/sandbox.h"
#include "report/error.h"

#define WAIT_MS 5000 /* at the end */

/* A message with its length before it. */
G_STATIC_ASSERT(WP_ERRAND_MAX + sizeof(guint32) <= PIPE_BUF);

struct WpErrands {
	int orders; /* a pipe to the other process */
	int answers; /* from it: 0 bytes when it has given up its privileges, or why it cannot; its end */
};

/* --- in the other process --- */

static gboolean
read_all(int fd, void *buffer, gsize length)
{
	for (gsize done = 0; done < length;) {
		gssize n = read(fd, (char *)buffer + done, length - done);
		if (n == 0 || (n < 0 && errno != EINTR))
			return FALSE;
		done += (gsize)MAX(n, 0);
	}
	return TRUE;
}

/* Becomes the command of TEXTS (LENGTH bytes of texts, each with its 0). */
static void
become(const char *texts, gsize length)
{
	const char *command = texts;

	for (const char *at = texts + strlen(texts) + 1; at < texts + length;
	     at += strlen(at) + 1) {
		const char *equals = strchr(at, '=');
		g_autofree char *name = equals ? g_strndup(at, (gsize)(equals - at)) : NULL;
		if (name)
			g_setenv(name, equals + 1, TRUE);
	}
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	fprintf(stderr, "wirepath: cannot run /bin/sh: %s\n", g_strerror(errno));
	_exit(127);
}

static void
run_one(const char *texts, gsize length)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		become(texts, length);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		fprintf(stderr, "wirepath: cannot run a command: %s\n", g_strerror(errno));
	else if (WIFSIGNALED(status))
		fprintf(stderr, "wirepath: the command \"%s\" ended by signal %d\n", texts,
			WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		fprintf(stderr, "wirepath: the command \"%s\" ended with status %d\n", texts,
			WEXITSTATUS(status));
}

/* Nothing but these two stays open, so that no command keeps hold of a network interface. */
static void
close_others(int *orders, int *answers)
{
	int input = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)dup2(input, STDIN_FILENO);
	(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	int first = fcntl(*orders, F_DUPFD_CLOEXEC, 100);
	int second = fcntl(*answers, F_DUPFD_CLOEXEC, 100);
	for (int fd = STDERR_FILENO + 1; fd < 100; fd++)
		(void)close(fd);
	*orders = first;
	*answers = second;
}

G_GNUC_NORETURN static void
serve(int orders, int answers, gboolean drops, const char *user)
{
	g_autoptr(GError) error = NULL;
	char texts[WP_ERRAND_MAX + 1];

	/* Ctrl-C is for the one that watches; this one ends with it. */
	signal(SIGINT, SIG_IGN);
	close_others(&orders, &answers);
	if (orders < 0 || answers < 0 || (drops && !wp_sandbox_drop(user, &error))) {
		const char *reason = error ? error->message : "no more files can be opened";
		(void)!write(answers, reason, strlen(reason));
		_exit(1);
	}
	(void)!write(answers, "", 1);
	for (guint32 length; read_all(orders, &length, sizeof length) && length <= WP_ERRAND_MAX &&
			     read_all(orders, texts, length);) {
		texts[length] = 0;
		run_one(texts, length);
	}
	_exit(0);
}

/* --- in this one --- */

/* The first answer: a 0, or the reason why not. */
static gboolean
is_ready(WpErrands *errands, GError **error)
{
	char reason[512];
	gssize n;

	do
		n = read(errands->answers, reason, sizeof reason - 1);
	while (n < 0 && errno == EINTR);
	if (n >= 1 && reason[0] == 0)
		return TRUE;
	reason[MAX(n, 0)] = 0;
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_INTERNAL,
		    "cannot begin the process that runs commands: %s",
		    *reason ? reason : "it ended");
	return FALSE;
}

WpErrands *
wp_errands_new(gboolean drops, const char *user, GError **error)
{
	g_autoptr(WpErrands) errands = g_new0(WpErrands, 1);
	int orders[2] = { -1, -1 }, answers[2] = { -1, -1 };

	errands->orders = errands->answers = -1;
	if (!g_unix_open_pipe(orders, FD_CLOEXEC, error))
		return NULL;
	errands->orders = orders[1];
	gboolean ok = g_unix_open_pipe(answers, FD_CLOEXEC, error);
	errands->answers = answers[0];
	fflush(NULL);
	pid_t pid = ok ? fork() : -1;
	if (pid == 0) {
		(void)close(orders[1]);
		(void)close(answers[0]);
		serve(orders[0], answers[1], drops, user);
	}
	if (ok && pid < 0)
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_INTERNAL,
			    "cannot begin the process that runs commands: %s", g_strerror(errno));
	(void)close(orders[0]);
	if (answers[1] >= 0)
		(void)close(answers[1]);
	if (pid < 0 || !is_ready(errands, error) ||
	    !g_unix_set_fd_nonblocking(errands->orders, TRUE, error))
		return NULL;
	return g_steal_pointer(&errands);
}

void
wp_errands_free(WpErrands *errands)
{
	if (!errands)
		return;
	if (errands->orders >= 0)
		(void)close(errands->orders);
	if (errands->answers >= 0) {
		struct pollfd end = { .fd = errands->answers, .events = POLLIN };
		(void)poll(&end, 1, WAIT_MS);
		(void)close(errands->answers);
	}
	g_free(errands);
}

gboolean
wp_errands_run(WpErrands *errands, const char *command, char *const *variables)
{
	g_autoptr(GByteArray) message = g_byte_array_new();
	guint32 length = 0;

	g_byte_array_append(message, (const guint8 *)&length, sizeof length);
	g_byte_array_append(message, (const guint8 *)command, (guint)strlen(command) + 1);
	for (gsize i = 0; variables[i]; i++)
		g_byte_array_append(message, (const guint8 *)variables[i],
				    (guint)strlen(variables[i]) + 1);
	length = message->len - (guint32)sizeof length;
	if (length > WP_ERRAND_MAX)
		return FALSE;
	memcpy(message->data, &length, sizeof length);
	return write(errands->orders, message->data, message->len) == (gssize)message->len;
}
