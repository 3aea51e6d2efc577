/*
 * What a comparison says, in words and numbers, for all its pages: sentences are written once. All texts are (transfer
 * full); names in them have passed the ESCAPE of the page.
 */
#ifndef WP_REPORT_COMPARE_WORDS_H
#define WP_REPORT_COMPARE_WORDS_H

#include "report/compare.h"
#include "report/format.h"

/* (transfer full) NAME, safe for the page. */
typedef char *(*WpNameFunc)(const char *name);

/* One word, and the sentence that goes with it: "changed", "2 of 12 operations differ ...". */
const char *wp_compare_verdict(const WpComparison *comparison);
char *wp_compare_summary(const WpComparison *comparison);

/* "GET /buy  client -> web", "db  SELECT users" */
char *wp_compare_operation_name(const WpComparison *comparison,
				const WpComparedOperation *operation, WpNameFunc escape);
char *wp_compare_part_name(const WpComparison *comparison, const WpComparedPart *part,
			   WpNameFunc escape);

/* "+22%", "-4.1%"; BUFFER of WP_FORMAT_MAX bytes. */
const char *wp_compare_percent(char *buffer, double change);

/* What TEST found: "+22% [+17%, +27%]"; of what is the same or cannot be told, what it would have shown: "(<8.2%)". */
char *wp_compare_change(const WpTest *test);

/* One or two words for a row: "slower", "more calls", "same", "unclear". */
const char *wp_compare_word(const WpTest *test);

/* The test that says most of PART: what changed, else work. NULL: none was made. */
const WpTest *wp_compare_part_test(const WpComparedPart *part);

/* The test that says most of its times: of its work, or of self time where that changed and work did not. */
const WpTest *wp_compare_time_test(const WpComparedPart *part);

/* What PART's change is: "work", "waiting", "work and waiting"; "" where that is not known. */
const char *wp_compare_cause(const WpComparedPart *part);

/* Sentences on what has changed, most first, at most N; of operations and their parts. */
GPtrArray *wp_compare_findings(const WpComparison *comparison, guint n, WpNameFunc escape);

/*
 * Sentences on paths that are on one side only: "GET /buy  c > web: new path in 2.1% of its requests: that of 88% before, with
 * POST log below web."
 */
GPtrArray *wp_compare_path_sentences(const WpComparison *comparison, WpNameFunc escape);

/* Sentences on what speaks against comparing. */
GPtrArray *wp_compare_doubts(const WpComparison *comparison);

/* Why a test says no more: a sentence; "" where nothing is to be said. */
const char *wp_compare_why(WpWhy why);

#endif
