/* Shared by compare.c, which says what is compared with what, and compare-tests.c, which measures it. */
#ifndef WP_REPORT_COMPARE_PRIVATE_H
#define WP_REPORT_COMPARE_PRIVATE_H

#include "report/compare.h"
#include "report/roles.h"

/* One operation, and one part of it, in each capture; NULL where it is not. */
typedef struct {
	WpDigestOperation *const *operations;
	WpDigestPart *const *parts; /* NULL: of no part */
	guint n;
	guint n_before;
} WpCaptures;

/* Measures what KIND says of CAPTURES; IN_TURN: on both sides calls are served one after the other. */
WpShift wp_compare_measure(const WpCaptures *captures, WpTestKind kind, gboolean in_turn);

/* Fills TEST from what was measured; its chance is not adjusted yet. */
void wp_test_init(WpTest *test, WpTestKind kind, const WpShift *shift);

/* Of N tests together: chances adjusted, verdicts. */
void wp_tests_judge(WpTest *const *tests, guint n, const WpCompareOptions *options);

/* Means of self time a call on both sides, and how much of their difference is work, how much waiting. */
void wp_compare_split(const WpCaptures *captures, WpComparedPart *part);

#endif
