/* What every Check program of ours ends with: WP_SUITE(name, test, test, ...), or WP_SUITE_OF_ROWS. */
#ifndef WP_TESTS_SUPPORT_SUITE_H
#define WP_TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdlib.h>

/*
 * MANY, or FEW where WP_TEST_FAST is set: under valgrind and the sanitizers, which need up to fifty times as
 * long and look for bad accesses, which few rows make as well. What only many can show is then not asked.
 */
static inline int
wp_test_number(int many, int few)
{
	return getenv("WP_TEST_FAST") ? few : many;
}

/* A test that runs once, or once a row: it then sees the row's number as `_i`. */
typedef struct {
	const TTest *test;
	size_t n_rows; /* 0: runs once */
} WpTestCase;

/* main() of a test program: the exit status. */
static inline int
wp_test_run(const char *name, const WpTestCase *cases, size_t n_cases)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	tcase_set_timeout(tcase, 300); /* what a loaded machine under a sanitizer needs, twice */
	for (size_t i = 0; i < n_cases; i++) {
		if (cases[i].n_rows)
			tcase_add_loop_test(tcase, cases[i].test, 0, (int)cases[i].n_rows);
		else
			tcase_add_test(tcase, cases[i].test);
	}
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* WP_SUITE_OF_ROWS(name, { test, number of rows or 0 }, ...) */
#define WP_SUITE_OF_ROWS(name, ...)                                                                \
	int main(void)                                                                             \
	{                                                                                          \
		const WpTestCase cases[] = { __VA_ARGS__ };                                        \
		return wp_test_run(name, cases, sizeof cases / sizeof cases[0]);                   \
	}

#define WP_SUITE(name, ...)                                                                        \
	int main(void)                                                                             \
	{                                                                                          \
		const TTest *const tests[] = { __VA_ARGS__ };                                      \
		WpTestCase cases[sizeof tests / sizeof tests[0]] = { { 0 } };                      \
		for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)                        \
			cases[i].test = tests[i];                                                  \
		return wp_test_run(name, cases, sizeof tests / sizeof tests[0]);                   \
	}

#endif
