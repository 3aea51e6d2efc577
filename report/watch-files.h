/*
 * WpWatchFiles: the files that `wirepath watch` writes anew while it runs (rewrite.h): numbers for Prometheus,
 * and the page of a report on what was seen lately. What cannot be written later on is said once, and tried again.
 */
#ifndef WP_REPORT_WATCH_FILES_H
#define WP_REPORT_WATCH_FILES_H

#include <glib.h>

#include "capture/live.h"
#include "capture/sandbox.h"
#include "report/analysis.h"
#include "report/command.h"
#include "report/watch.h"

typedef struct {
	const char *metrics;
	gint64 max_series;
	const char *report;
	gint64 report_ns; /* between pages */
	gint64 span_ns;   /* that a page reaches back */
} WpWatchFilesOptions;

/* Sets the defaults and adds the table "Files". */
void wp_watch_files_declare(WpOptions *parser, WpWatchFilesOptions *options);

typedef struct WpWatchFiles WpWatchFiles;

/* (transfer full) Opens their directories; all given is borrowed. None may be an input of INVOCATION or of ANALYSIS. */
WpWatchFiles *wp_watch_files_new(const WpInvocation *invocation, const WpWatchFilesOptions *options,
				 const WpAnalysisOptions *analysis, GError **error);
void wp_watch_files_free(WpWatchFiles *files);

/* (transfer none) In which they are. */
const WpSandboxDirectory *wp_watch_files_directories(const WpWatchFiles *files, gsize *out_n);

/* The first ones: what cannot be written now never could. LIVE, borrowed, or NULL. */
gboolean wp_watch_files_start(WpWatchFiles *files, const WpLive *live, GError **error);

/* Each part, before its windows. */
void wp_watch_files_part(WpWatchFiles *files, const WpAnalysis *part);
void wp_watch_files_window(WpWatchFiles *files, const WpWatchWindow *window);

/* To be called some times a second: where there are no windows the counts of packets still come. */
void wp_watch_files_tick(WpWatchFiles *files, gint64 monotonic_ns);

/* The last ones, of the whole input (or NULL). FALSE where one could not be written. */
gboolean wp_watch_files_finish(WpWatchFiles *files, const WpAnalysis *whole, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpWatchFiles, wp_watch_files_free)

#endif
