/* Commands that another process runs. */
#include "report/errands.h"

#include <glib/gstdio.h>
#include <string.h>

#include "tests/support/suite.h"

static char *none[] = { NULL };

START_TEST(in_turn)
{
	g_autofree char *path = g_build_filename(g_get_tmp_dir(), "wirepath-errands-XXXXXX", NULL);
	int fd = g_mkstemp(path);
	g_autofree char *variable = g_strconcat("WIREPATH_PLACE=", path, NULL);
	char *variables[] = { variable, "WIREPATH_TEXT=a 'b' $(c) \"d\"", NULL };
	g_autofree char *text = NULL;
	g_autoptr(WpErrands) errands = wp_errands_new(FALSE, NULL, NULL);

	ck_assert_int_ge(fd, 0);
	ck_assert_ptr_nonnull(errands);
	ck_assert(wp_errands_run(errands, "sleep .1; echo first >>\"$WIREPATH_PLACE\"", variables));
	ck_assert(wp_errands_run(errands, "echo \"$WIREPATH_TEXT\" >>\"$WIREPATH_PLACE\"",
				 variables));
	ck_assert(wp_errands_run(errands, "test -z \"$WIREPATH_PLACE\"", none));
	g_clear_pointer(&errands, wp_errands_free); /* waits for them */
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_str_eq(text, "first\na 'b' $(c) \"d\"\n");
	(void)g_close(fd, NULL);
	g_unlink(path);
}
END_TEST

/* What is too long, or comes too fast, is refused at once. */
START_TEST(limits)
{
	g_autoptr(WpErrands) errands = wp_errands_new(FALSE, NULL, NULL);
	g_autofree char *longest = g_strnfill(WP_ERRAND_MAX - 1, ' ');
	g_autofree char *longer = g_strnfill(WP_ERRAND_MAX, ' ');
	int n = 0;

	ck_assert(!wp_errands_run(errands, longer, none));
	ck_assert(wp_errands_run(errands, "sleep .3", none));
	while (n < 1000 && wp_errands_run(errands, longest, none))
		n++;
	ck_assert_int_ge(n, 1);
	ck_assert_int_lt(n, 1000);
}
END_TEST

WP_SUITE("errands", in_turn, limits)
