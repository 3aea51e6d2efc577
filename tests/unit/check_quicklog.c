/* Logarithms from a table, against libm. */
#include "infer/quicklog.h"

#include <float.h>
#include <math.h>

#include "tests/support/suite.h"

static double
error_at(const WpQuickLog *quick, double x)
{
	return fabs(wp_quick_log2(quick, x) - log2(x));
}

/* Everywhere, and at both sides of each step of the table. */
START_TEST(accuracy)
{
	WpQuickLog quick;
	wp_quick_log_init(&quick);
	for (double x = 1e-300; x < 1e300; x *= 1.0137)
		ck_assert_double_lt(error_at(&quick, x), 1e-9 + 1e-15 * fabs(log2(x)));
	for (guint i = 0; i <= 1 << WP_QUICK_BITS; i++) {
		double step = 1 + (double)i / (1 << WP_QUICK_BITS);
		ck_assert_double_lt(error_at(&quick, step), 1e-9);
		ck_assert_double_lt(error_at(&quick, step * (1 - DBL_EPSILON)), 1e-9);
	}
}
END_TEST

WP_SUITE("quicklog", accuracy)
