/*
 * WpWatch: parts of a long or endless input (analysis.h) as windows of time: [0, w), [w, 2w), ... since 1970. A
 * request belongs to the window in which it begins. Each window becomes a view, made in the same way as that of
 * a report, so that the numbers are the same; with what the hour before was like.
 *
 *   parts    |-------------|----------|--------------|     as inference cuts them
 *   windows  |--------|--------|--------|--------|         shown when all requests in them are answered
 */
#ifndef WP_REPORT_WATCH_H
#define WP_REPORT_WATCH_H

#include <glib.h>

#include "report/analysis.h"
#include "report/phases.h"
#include "report/view.h"

/* What is compared with: windows of the hour before, at least 3, of at least 5 requests. */
#define WP_WATCH_HOUR_NS      (3600 * G_GINT64_CONSTANT(1000000000))
#define WP_WATCH_MIN_WINDOWS  3
#define WP_WATCH_MIN_REQUESTS 5

/* From how many times the usual p95 on an operation is slow. */
#define WP_WATCH_SLOW 1.5

/* A root operation in a window. */
typedef struct {
	const WpViewOperation *operation;
	double rate;     /* requests a second */
	double change;   /* its p95, of the median in the hour before; 0 = not known */
	gint64 since_ns; /* it is slow since the window that begins then; WP_NO_TIME = it is not */
} WpWatchRow;

/* Requests that take the same path, in a window. */
typedef struct {
	const WpViewPattern *pattern;
	double rate;
	double change; /* as above */
	gint64 since_ns;
	gint64 phase_ns; /* frequent only since the window that begins then (phases.h), or WP_NO_TIME */
} WpWatchPattern;

typedef struct {
	gint64 begin_ns;
	gint64 end_ns;
	guint64 requests; /* of the rows */
	guint64 errors;
	guint32 n_rows;
	WpWatchRow *rows; /* most time first, background left out */
	guint32 n_patterns;
	WpWatchPattern *patterns; /* likewise; what view.h folds is left out */
	guint n_phases;
	const WpPhase *phases; /* of patterns, in the hour before; named by wp_watch_path_name() */
	const WpView *view;
} WpWatchWindow;

/* (transfer full) PATTERN in a line: "GET /  client > web(app(db, cache 3x))". */
char *wp_watch_path_name(const WpViewPattern *pattern);

/* FALSE ends the watch, which is no error where ERROR is not set. */
typedef gboolean (*WpWatchFunc)(const WpWatchWindow *window, gpointer data, GError **error);

typedef struct WpWatch WpWatch;

/* (transfer full) FUNC is shown each window that holds anything, in order of time. */
WpWatch *wp_watch_new(gint64 window_ns, WpWatchFunc func, gpointer data);
void wp_watch_free(WpWatch *watch);

/* A WpAnalysisFunc: takes a part. WATCH is a WpWatch. After FUNC ended it FALSE, with an error that nobody shows. */
gboolean wp_watch_part(const WpAnalysis *part, gpointer watch, GError **error);

/* TRUE where FUNC ended it. */
gboolean wp_watch_is_ended(const WpWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpWatch, wp_watch_free)

#endif
