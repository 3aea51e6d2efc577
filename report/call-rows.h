/*
 * WpCallRows: the inferred calls of an analysis as rows of text, for scripts and other tools. Made for
 * millions of rows: whatever repeats (names, addresses, operations) is formatted once.
 */
#ifndef WP_REPORT_CALL_ROWS_H
#define WP_REPORT_CALL_ROWS_H

#include <glib.h>

#include "report/analysis.h"
#include "report/form.h"
#include "report/out.h"

typedef enum {
	WP_CALLS_CSV,
	WP_CALLS_JSONL
} WpCallsFormat;

/* For --format; in the order of WpCallsFormat. */
extern const WpForm wp_calls_forms[];

/* Writes the header (CSV) and a row per selected call, by t_call, then call_id. */
void wp_calls_write(const WpAnalysis *analysis, WpCallsFormat format, WpOut *out);

#endif
