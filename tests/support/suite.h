/* What every Check program of ours ends with: WP_SUITE(name, test, test, ...). */
#ifndef WP_TESTS_SUPPORT_SUITE_H
#define WP_TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdlib.h>

/*
 * MANY, or FEW where WP_TEST_FAST is set: under valgrind, which needs fifty times as long and looks for
 * bad accesses, which few rows make as well. What only many can show is then not asked.
 */
static inline int
wp_test_number(int many, int few)
{
	return getenv("WP_TEST_FAST") ? few : many;
}

#define WP_SUITE(name, ...)                                                                        \
	int main(void)                                                                             \
	{                                                                                          \
		const TTest *const tests[] = { __VA_ARGS__ };                                      \
		Suite *suite = suite_create(name);                                                 \
		TCase *tcase = tcase_create(name);                                                 \
		tcase_set_timeout(tcase, 120);                                                     \
		for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)                        \
			tcase_add_test(tcase, tests[i]);                                           \
		suite_add_tcase(suite, tcase);                                                     \
		SRunner *runner = srunner_create(suite);                                           \
		srunner_run_all(runner, CK_NORMAL);                                                \
		int failed = srunner_ntests_failed(runner);                                        \
		srunner_free(runner);                                                              \
		return failed ? EXIT_FAILURE : EXIT_SUCCESS;                                       \
	}

#endif
