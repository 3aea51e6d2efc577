/* Pages of wirepath triage: the forms of -o and --format, each a function on WpTriage. */
#ifndef WP_REPORT_TRIAGE_PAGE_H
#define WP_REPORT_TRIAGE_PAGE_H

#include "report/pages.h"
#include "report/out.h"
#include "report/terminal.h"
#include "report/triage.h"

typedef struct {
	WpStyle style;
} WpTriagePage;

typedef void (*WpTriagePageFunc)(const WpTriage *triage, const WpTriagePage *page, WpOut *out);

/* What writes each form of wp_pages_forms. */
extern const WpTriagePageFunc wp_triage_writers[];

#endif
