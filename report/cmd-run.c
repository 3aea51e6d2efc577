/*
 * wirepath run: a command, and the packets while it runs, in a directory: what `wirepath triage` compares. The
 * packets are taken by `wirepath capture` in a process of its own, which gives up its privileges; the command keeps
 * those that this was started with.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/live.h"
#include "capture/nodes.h"
#include "report/command.h"
#include "report/error.h"
#include "report/format.h"
#include "report/load.h"
#include "report/manifest.h"

#define DEFAULT_LINGER                                                                             \
	200000000      /* 0.2 s: the last replies, and what the kernel has not given yet */
#define START_MS 30000 /* that a capture may take to begin */
#define TICK_MS  50

typedef struct {
	const char *directory;
	WpWords interfaces;
	const char *filter;
	const char *user;
	gint64 linger_ns;
} RunOptions;

#define AT(member) .offset = offsetof(RunOptions, member)

static const WpOption table[] = {
	{ .name = "dir",
	  .kind = WP_OPT_TEXT,
	  AT(directory),
	  .argument = "DIR",
	  .help = "where the run is kept: a new directory, or an empty one" },
	{ .name = "interface",
	  .short_name = 'i',
	  .kind = WP_OPT_WORDS,
	  AT(interfaces),
	  .argument = "IF",
	  .help = "capture there; repeatable; \"any\" is all interfaces" },
	{ .name = "filter",
	  .kind = WP_OPT_TEXT,
	  AT(filter),
	  .argument = "BPF",
	  .help = "only packets that pass" },
	{ .name = "linger",
	  .kind = WP_OPT_DURATION,
	  AT(linger_ns),
	  .argument = "TIME",
	  .minimum = 0,
	  .maximum = 1e12,
	  .help = "go on for so long behind the command's end; by default 200ms" },
	{ .name = "user",
	  .kind = WP_OPT_TEXT,
	  AT(user),
	  .argument = "NAME",
	  .help = "packets are captured as that user; see wirepath capture" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	RunOptions *options = data;
	options->linger_ns = DEFAULT_LINGER;
	wp_options_add(parser, "Run", table, options);
}

static gboolean
fail(GError **error, const char *what)
{
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_INTERNAL, "cannot %s: %s", what,
		    g_strerror(errno));
	return FALSE;
}

/* --- the directory --- */

static gboolean
make_directory(const char *path, GError **error)
{
	gboolean is_new = mkdir(path, 0755) == 0;
	g_autoptr(GDir) directory = NULL;

	if (!is_new && errno == EEXIST)
		directory = g_dir_open(path, 0, NULL);
	if (is_new || (directory && !g_dir_read_name(directory)))
		return TRUE;
	if (directory || errno == EEXIST)
		g_set_error(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			"--dir %s: there is something already, and a run is kept in a directory "
			"of its own",
			path);
	else
		g_set_error(error, WP_CAPTURE_ERROR,
			    errno == EACCES || errno == EPERM ? WP_CAPTURE_ERROR_PERMISSION
							      : WP_CAPTURE_ERROR_WRITE,
			    "cannot make the directory %s: %s", path, g_strerror(errno));
	return FALSE;
}

/* --- processes --- */

/* The command at hand, for the handler; 0: none. */
static volatile sig_atomic_t running;

static void
pass_on(int number)
{
	if (running > 0)
		kill((pid_t)running, number);
}

/* Ctrl-C is the command's; who ends us ends it. */
static void
catch_signals(void)
{
	struct sigaction action = { .sa_handler = pass_on };

	sigemptyset(&action.sa_mask);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

static void
restore_signals(void)
{
	const int numbers[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };
	for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
		signal(numbers[i], SIG_DFL);
}

/* Of a process that has ended, as shells say it. */
static int
status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int
wait_for(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status_of(status);
}

/* A socket that the capture tells when it has begun; its NAME as the environment has it. */
static int
open_socket(char *name, gsize size, GError **error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	g_snprintf(name, size, "@wirepath-run-%d-%08x", (int)getpid(), g_random_int());
	g_strlcpy(address.sun_path, name, sizeof address.sun_path);
	address.sun_path[0] = '\0';
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, length) == 0)
		return fd;
	fail(error, "listen for the capture");
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

/* Becomes `wirepath capture`. */
static void
become_capture(const WpInvocation *invocation, const RunOptions *options, const char *packets,
	       const char *socket_name)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	g_ptr_array_add(words, (gpointer) "wirepath");
	g_ptr_array_add(words, (gpointer) "capture");
	if (!invocation->verbosity)
		g_ptr_array_add(words, (gpointer) "-q");
	for (guint i = 0; i < options->interfaces.n; i++) {
		g_ptr_array_add(words, (gpointer) "-i");
		g_ptr_array_add(words, (gpointer)options->interfaces.words[i]);
	}
	if (options->filter) {
		g_ptr_array_add(words, (gpointer) "--filter");
		g_ptr_array_add(words, (gpointer)options->filter);
	}
	if (options->user) {
		g_ptr_array_add(words, (gpointer) "--user");
		g_ptr_array_add(words, (gpointer)options->user);
	}
	g_ptr_array_add(words, (gpointer) "-w");
	g_ptr_array_add(words, (gpointer)packets);
	g_ptr_array_add(words, NULL);
	g_setenv("NOTIFY_SOCKET", socket_name, TRUE);
	g_unsetenv("WATCHDOG_USEC");
	g_autofree char *parent = g_strdup_printf("%d", (int)getppid());
	g_setenv(WP_MANIFEST_PARENT, parent, TRUE);
	/* Ctrl-C is not for it: it ends when it is told to, after the last packet. */
	(void)setpgid(0, 0);
	restore_signals();
	execv("/proc/self/exe", (char *const *)words->pdata);
	_exit(127);
}

/* Until it says READY=1. FALSE where it has ended, which it says why itself, or takes too long. */
static gboolean
is_ready(int fd, pid_t pid, int *out_status)
{
	char message[512];

	for (int waited_ms = 0; waited_ms < START_MS; waited_ms += TICK_MS) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int status;
		if (poll(&ready, 1, TICK_MS) == 1) {
			gssize n = recv(fd, message, sizeof message - 1, 0);
			message[MAX(n, 0)] = '\0';
			if (strstr(message, "READY=1"))
				return TRUE;
		}
		if (waitpid(pid, &status, WNOHANG) == pid) {
			*out_status = status_of(status);
			return FALSE;
		}
	}
	kill(pid, SIGKILL);
	*out_status = wait_for(pid);
	return FALSE;
}

/* The capture, when it has begun; 0 with an error. */
static pid_t
start_capture(const WpInvocation *invocation, const RunOptions *options, const char *packets,
	      GError **error)
{
	char name[64];
	int status = 0, fd = open_socket(name, sizeof name, error);
	pid_t pid = fd < 0 ? -1 : fork();

	if (fd < 0)
		return 0;
	if (pid == 0)
		become_capture(invocation, options, packets, name);
	gboolean ok = pid > 0 && is_ready(fd, pid, &status);
	(void)close(fd);
	if (pid < 0)
		fail(error, "begin the capture");
	else if (!ok)
		g_set_error(error, WP_CAPTURE_ERROR,
			    status == 77 ? WP_CAPTURE_ERROR_PERMISSION : WP_CAPTURE_ERROR_OPEN,
			    "the capture did not begin, so the command was not run");
	return ok ? pid : 0;
}

/* The exit status of COMMAND: 126 and 127 as those of shells. */
static int
run_command(char **command)
{
	fflush(NULL);
	pid_t pid = fork();

	if (pid == 0) {
		restore_signals();
		execvp(command[0], command);
		int reason = errno;
		fprintf(stderr, "wirepath: cannot run %s: %s\n", command[0], g_strerror(reason));
		_exit(reason == ENOENT ? 127 : 126);
	}
	if (pid < 0) {
		fprintf(stderr, "wirepath: cannot run %s: %s\n", command[0], g_strerror(errno));
		return 126;
	}
	running = (sig_atomic_t)pid;
	int status = wait_for(pid);
	running = 0;
	return status;
}

/* --- what was captured --- */

typedef struct {
	WpRecordSink sink;
	WpManifest *manifest;
} Counting;

static gboolean
take_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	WpManifest *manifest = ((Counting *)sink)->manifest;

	manifest->packets = wp_counters_get(counters, WP_COUNT_PACKETS);
	manifest->kernel_drops = wp_counters_get(counters, WP_COUNT_KERNEL_DROPS);
	manifest->interface_drops = wp_counters_get(counters, WP_COUNT_INTERFACE_DROPS);
	manifest->calls = wp_counters_get(counters, WP_COUNT_CALLS);
	return TRUE;
}

/* Reads the packets back: what cannot be read should be known now. */
static gboolean
count(const WpInvocation *invocation, char *packets, WpManifest *manifest, GError **error)
{
	static const WpRecordSinkOps ops = { .counters = take_counters };
	Counting counting = { { &ops }, manifest };
	char *operands[] = { packets, NULL };
	WpInvocation one = *invocation;
	WpLoadOptions load = { 0 };
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpNodes) nodes = wp_nodes_new();

	one.operands = operands;
	one.n_operands = 1;
	return wp_load_stream(&one, &load, nodes, &counting.sink, &outcome, error);
}

static void
say(const WpInvocation *invocation, const RunOptions *options, const WpManifest *manifest)
{
	char packets[WP_FORMAT_MAX], calls[WP_FORMAT_MAX], time[WP_FORMAT_MAX],
		drops[WP_FORMAT_MAX];
	guint64 n_drops = manifest->kernel_drops + manifest->interface_drops;
	g_autofree char *lost = n_drops ? g_strdup_printf("; %s packets were dropped",
							  wp_format_count(drops, n_drops))
					: g_strdup("");
	g_autofree char *line = g_strdup_printf(
		"%s: exit status %d after %s, %s packets, %s calls%s", options->directory,
		manifest->exit_status,
		wp_format_time(time, (double)(manifest->ended_ns - manifest->began_ns)),
		wp_format_count(packets, manifest->packets),
		wp_format_count(calls, manifest->calls), lost);

	wp_progress_say(invocation->progress, line);
}

static gboolean
check(const WpInvocation *invocation, const RunOptions *options, GError **error)
{
	const char *wrong = NULL;

	if (invocation->n_operands == 0)
		wrong = "which command?\nwirepath run --dir DIR -i IF -- COMMAND";
	else if (!options->directory)
		wrong = "a run needs a place: --dir DIR";
	else if (options->interfaces.n == 0)
		wrong = "no interface is given: -i IF\nwirepath capture -D shows them";
	if (wrong)
		g_set_error_literal(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE, wrong);
	return !wrong;
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	const RunOptions *options = data;
	WpManifest manifest = { .command = (const char *const *)invocation->operands,
				.interfaces = options->interfaces.words,
				.filter = options->filter };

	if (!check(invocation, options, error) || !make_directory(options->directory, error))
		return -1;
	g_autofree char *packets = g_build_filename(options->directory, WP_MANIFEST_PACKETS, NULL);
	pid_t capture = start_capture(invocation, options, packets, error);
	if (!capture) {
		(void)rmdir(options->directory); /* as long as there is nothing in it */
		return -1;
	}
	catch_signals();
	manifest.began_ns = wp_live_now().wall_ns;
	manifest.exit_status = run_command(invocation->operands);
	manifest.ended_ns = wp_live_now().wall_ns;
	g_usleep((gulong)(options->linger_ns / 1000));
	kill(capture, SIGTERM);
	manifest.capture_status = wait_for(capture);
	gboolean ok = count(invocation, packets, &manifest, error);
	if (!wp_manifest_write(&manifest, options->directory, ok ? error : NULL) || !ok)
		return -1;
	say(invocation, options, &manifest);
	if (manifest.capture_status == 0)
		return manifest.exit_status;
	g_set_error(
		error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_WRITE,
		"the capture ended with status %d before the command did\nwhat it had written is "
		"in %s",
		manifest.capture_status, packets);
	return -1;
}

const WpCommand wp_command_run = {
	.name = "run",
	.synopsis = "--dir DIR -i IF [OPTION]... -- COMMAND [ARGUMENT]...",
	.summary = "a command, and the packets meanwhile, as a run for triage",
	.details = "The exit status is that of COMMAND.",
	.examples =
		"  wirepath run --dir runs/1 -i eth0 -- ./load-test.sh --users 20\n"
		"  for i in $(seq 40); do wirepath run --dir runs/$i -i any -- ./test.sh; done\n"
		"  wirepath triage runs/*\n",
	.min_operands = 0,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(RunOptions),
	.declare = declare,
	.run = run,
};
