/* Pages of wirepath compare: the forms of -o and --format, each a function on WpComparison. */
#ifndef WP_REPORT_COMPARE_PAGE_H
#define WP_REPORT_COMPARE_PAGE_H

#include "report/compare.h"
#include "report/form.h"
#include "report/gate.h"
#include "report/out.h"
#include "report/terminal.h"

typedef struct {
	WpStyle style;
	guint32 top;        /* operations to list; 0 = all, with all their parts */
	const WpGate *gate; /* asked already; NULL = no rules */
} WpComparePage;

typedef void (*WpComparePageFunc)(const WpComparison *comparison, const WpComparePage *page,
				  WpOut *out);

void wp_compare_html(const WpComparison *comparison, const WpComparePage *page, WpOut *out);
void wp_compare_json(const WpComparison *comparison, const WpComparePage *page, WpOut *out);
void wp_compare_junit(const WpComparison *comparison, const WpComparePage *page, WpOut *out);
void wp_compare_markdown(const WpComparison *comparison, const WpComparePage *page, WpOut *out);

/* The forms, and what writes each: the same number in both. */
extern const WpForm wp_compare_forms[];
extern const WpComparePageFunc wp_compare_writers[];

#endif
