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

/* Powers: everywhere, and where the whole number changes. */
START_TEST(powers)
{
	for (double x = -690; x < 690; x += 0.137)
		ck_assert_double_lt(fabs(wp_quick_exp(x) / exp(x) - 1), 1e-7);
	for (int i = -20; i <= 20; i++)
		for (double off = -1e-12; off <= 1e-12; off += 1e-12) {
			double x = (i + 0.5) * G_LN2 + off;
			ck_assert_double_lt(fabs(wp_quick_exp(x) / exp(x) - 1), 1e-7);
		}
	ck_assert_double_eq(wp_quick_exp(0), 1);
}
END_TEST

WP_SUITE("quicklog", accuracy, powers)
