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

typedef struct WpCallRows WpCallRows;

/* (transfer full) OUT is borrowed. */
WpCallRows *wp_call_rows_new(WpCallsFormat format, WpOut *out);
void wp_call_rows_free(WpCallRows *rows);

/*
 * Writes the header (CSV) before the first, and a row per selected call, by t_call, then call_id. Of a PART, rows
 * wait for those of the next that belong before them. The first says whether calls have ids of their own.
 */
void wp_call_rows_add(WpCallRows *rows, const WpAnalysis *part);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpCallRows, wp_call_rows_free)

#endif
