/* Ctrl-C: the first is noted and told, the second ends the program and leaves no temporary file. */
#include "report/interrupt.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/output.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

/* What a child has in hand when it ends without a word: for checkers of leaks, which look at its memory. */
static struct {
	char *path, *errors;
	WpOutput *output;
} held;

/* What a program does that is writing PATH when N signals come; standard error goes to ERRORS. */
static void
write_and_raise(const char *path, const char *errors, guint n, const int *signals)
{
	(void)!freopen(errors, "w", stderr);
	/* Who runs the tests may ignore them (nohup), and what is ignored stays so. */
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	for (gsize i = 0; i < G_N_ELEMENTS(caught); i++)
		signal(caught[i], SIG_DFL);
	wp_interrupt_catch();
	held.output = wp_output_open(path, NULL);
	wp_output_put(held.output, 'x');
	wp_output_flush(held.output);
	for (guint i = 0; i < n; i++) {
		raise(signals[i]);
		if (!wp_interrupt_came())
			_exit(1);
	}
	_exit(wp_output_finish(held.output, NULL) ? 0 : 2);
}

/* How many files stand in the folder of PATH, whose names begin with its own. */
static guint
count_files(const char *path)
{
	g_autofree char *folder = g_path_get_dirname(path);
	g_autofree char *name = g_path_get_basename(path);
	g_autoptr(GDir) directory = g_dir_open(folder, 0, NULL);
	guint n = 0;
	for (const char *file; (file = g_dir_read_name(directory));)
		n += g_str_has_prefix(file, name);
	return n;
}

START_TEST(signals)
{
	static const struct {
		int signals[2];
		guint n;
		int ended_by; /* 0 = by itself, with the file written */
	} rows[] = {
		{ { SIGINT }, 1, 0 },
		{ { SIGTERM }, 1, 0 },
		{ { SIGHUP }, 1, 0 },
		{ { SIGINT, SIGINT }, 2, SIGINT },
		{ { SIGINT, SIGTERM }, 2, SIGTERM },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autotemp *path = held.path = wp_temp_file_name(".trace");
		g_autotemp *errors = held.errors = wp_temp_file_new(".err", "", 0);
		int status;
		pid_t child = fork();
		if (child == 0)
			write_and_raise(path, errors, rows[i].n, rows[i].signals);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		g_autofree char *told = wp_temp_file_read(errors, NULL);
		ck_assert_ptr_nonnull(strstr(told, "Ctrl-C again quits at once\n"));
		ck_assert_int_eq(WIFSIGNALED(status) ? WTERMSIG(status) : 0, rows[i].ended_by);
		ck_assert_uint_eq(count_files(path), rows[i].ended_by ? 0 : 1);
		if (!rows[i].ended_by)
			ck_assert_int_eq(WEXITSTATUS(status), 0);
	}
}
END_TEST

WP_SUITE("interrupt", signals)
