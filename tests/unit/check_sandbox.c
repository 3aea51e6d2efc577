/* What a process can still do when it has given up what it does not need. Each row in a process of its own. */
#include "capture/sandbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/trace.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

typedef struct {
	int directory;
	int second;
	const char *outside; /* a file that is there */
	const WpSandboxState *state;
} Place;

static gboolean
can_read_outside(const Place *place)
{
	int fd = open(place->outside, O_RDONLY);
	return fd >= 0;
}

static gboolean
can_write_outside(const Place *place)
{
	return open(place->outside, O_WRONLY) >= 0 ||
	       open("/tmp/new", O_WRONLY | O_CREAT, 0600) >= 0;
}

static gboolean
can_write(int directory)
{
	int fd = openat(directory, "a", O_WRONLY | O_CREAT | O_EXCL, 0600);
	return fd >= 0 && write(fd, "x", 1) == 1 && ftruncate(fd, 0) == 0 &&
	       renameat(directory, "a", directory, "b") == 0 && unlinkat(directory, "b", 0) == 0;
}

static gboolean
can_write_inside(const Place *place)
{
	return can_write(place->directory);
}

static gboolean
can_write_in_second(const Place *place)
{
	return can_write(place->second);
}

static gboolean
can_fork(const Place *place)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	return child > 0;
}

static gboolean
can_execute(const Place *place)
{
	char *const arguments[] = { (char *)"true", NULL };
	execv("/bin/true", arguments); /* its status is "can" */
	return FALSE;
}

static gboolean
can_open_socket(const Place *place)
{
	return socket(AF_INET, SOCK_DGRAM, 0) >= 0;
}

static gpointer
do_nothing(gpointer data)
{
	return data;
}

static gboolean
can_make_threads(const Place *place)
{
	GThread *thread = g_thread_try_new("t", do_nothing, GINT_TO_POINTER(1), NULL);
	return thread && g_thread_join(thread);
}

static gboolean
has_no_privileges(const Place *place)
{
	return geteuid() != 0 && getuid() != 0 && setuid(0) != 0 && !place->state->has_capabilities;
}

static const struct {
	const char *name;
	gboolean (*can)(const Place *place);
	gboolean expected;
	gboolean needs_landlock;
} rows[] = {
	{ "has no privileges", has_no_privileges, TRUE, FALSE },
	{ "writes inside", can_write_inside, TRUE, FALSE },
	{ "writes in the second", can_write_in_second, TRUE, FALSE },
	{ "makes threads", can_make_threads, TRUE, FALSE },
	{ "reads outside", can_read_outside, FALSE, TRUE },
	{ "writes outside", can_write_outside, FALSE, TRUE },
	{ "forks", can_fork, FALSE, FALSE },
	{ "executes", can_execute, FALSE, FALSE },
	{ "opens sockets", can_open_socket, FALSE, FALSE },
};

enum {
	CAN,
	CANNOT,
	NOT_CONFINED,
	NOT_ENTERED
};

static int
try_row(gsize row, const char *path, const char *second, const char *outside)
{
	WpSandboxState state;
	const WpSandboxDirectory directories[] = {
		{ open(path, O_RDONLY | O_DIRECTORY), geteuid() == 0 },
		{ open(second, O_RDONLY | O_DIRECTORY), geteuid() == 0 },
	};
	const WpSandboxOptions options = { .directories = directories,
					   .n_directories = G_N_ELEMENTS(directories) };
	const Place place = { directories[0].fd, directories[1].fd, outside, &state };

	if (!wp_sandbox_enter(&options, &state, NULL))
		return NOT_ENTERED;
	if (!state.has_seccomp ||
	    (rows[row].needs_landlock && state.confinement == WP_CONFINED_NOT))
		return NOT_CONFINED;
	return rows[row].can(&place) ? CAN : CANNOT;
}

START_TEST(confined)
{
	g_autotemp *path = wp_temp_file_name(""), *second = wp_temp_file_name("");
	g_autotemp *outside = wp_temp_file_new(".txt", "x", 1);

	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(mkdir(second, 0700), 0);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		int status;
		pid_t child = fork();
		if (child == 0)
			_exit(try_row(i, path, second, outside));
		ck_assert(waitpid(child, &status, 0) == child);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != NOT_ENTERED);
		ck_assert_msg(WEXITSTATUS(status) == NOT_CONFINED ||
				      (WEXITSTATUS(status) == CAN) == rows[i].expected,
			      "%s", rows[i].name);
	}
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(rmdir(second), 0);
}
END_TEST

/* Who cannot become another user must not be told that he has. */
START_TEST(other_users)
{
	static const struct {
		const char *user;
		int code; /* for root */
	} users[] = {
		{ "no-such-user", WP_CAPTURE_ERROR_OPTION },
		{ "4294967294", WP_CAPTURE_ERROR_OPTION },
		{ "root", WP_CAPTURE_ERROR_OPTION },
		{ "0", WP_CAPTURE_ERROR_OPTION },
		{ "", WP_CAPTURE_ERROR_OPTION },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(users); i++) {
		g_autoptr(GError) error = NULL;
		g_auto(WpSandboxState) state = { 0 };
		const WpSandboxOptions options = { .user = users[i].user };
		int code = geteuid() == 0 ? users[i].code : WP_CAPTURE_ERROR_PERMISSION;
		ck_assert(!wp_sandbox_enter(&options, &state, &error));
		ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, code));
	}
}
END_TEST

START_TEST(sentences)
{
	static const struct {
		WpSandboxState state;
		const char *text;
	} states[] = {
		{ { .user = (char *)"nobody",
		    .confinement = WP_CONFINED_LANDLOCK,
		    .has_seccomp = TRUE },
		  "as user nobody, without capabilities, files confined by Landlock, system calls "
		  "by "
		  "seccomp" },
		{ { .confinement = WP_CONFINED_NOT },
		  "without capabilities, files not confined (this kernel has no Landlock), system "
		  "calls not confined (no seccomp)" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(states); i++) {
		g_autofree char *text = wp_sandbox_describe(&states[i].state);
		ck_assert_str_eq(text, states[i].text);
	}
}
END_TEST

/* Valgrind's own system calls would be confined with ours. */
int
main(void)
{
	const TTest *const tests[] = { other_users, sentences, confined };
	Suite *suite = suite_create("sandbox");
	TCase *tcase = tcase_create("sandbox");
	gsize n = G_N_ELEMENTS(tests) - (wp_test_number(0, 1) ? 1 : 0);
	for (gsize i = 0; i < n; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
