/*
 * WpProgress: one line on standard error, rewritten in place, for anything that takes over a second on
 * a terminal: percent, rate, time left. Nothing at all elsewhere.
 */
#ifndef WP_REPORT_PROGRESS_H
#define WP_REPORT_PROGRESS_H

#include <glib.h>

typedef struct WpProgress WpProgress;

/* (transfer full) With QUIET it never shows anything. */
WpProgress *wp_progress_new(gboolean quiet);

/* Clears the line as well. */
void wp_progress_free(WpProgress *progress);

/* Clears the line: output follows. */
void wp_progress_clear(WpProgress *progress);

/*
 * DONE of TOTAL (0 = unknown) bytes are read, which held COUNT of UNIT. Cheap: looks at the clock now
 * and then only.
 */
void wp_progress_update(WpProgress *progress, guint64 done, guint64 total, guint64 count,
			const char *unit);

/* The same for what is made instead of read: "simulating: 43.2%, 1,234 requests, 5 s left". */
void wp_progress_count(WpProgress *progress, const char *what, guint64 done, guint64 total,
		       const char *unit);

/* Of what goes on until it is told to end: TEXT is the whole line. */
void wp_progress_live(WpProgress *progress, const char *text);

/* A line of its own on standard error, which stays, also where there is no terminal; not with QUIET. */
void wp_progress_say(WpProgress *progress, const char *text);

/*
 * The next stage is WHAT (borrowed, until the stage ends), which cannot tell how far it is: its seconds are
 * counted, until wp_progress_clear().
 */
void wp_progress_stage(WpProgress *progress, const char *what);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpProgress, wp_progress_free)

#endif
