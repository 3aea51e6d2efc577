/*
 * WpWatchActions: what `wirepath watch` does when a rule begins to hold (triggers.h): --do.
 *
 *   mark              the pages tell of it: the default
 *   print             a line on standard error, and another one when it is over
 *   exec:COMMAND      a command, told of it in its environment (errands.h)
 *   snapshot[:TIME]   the packets of the window, or of so much time before its end, and what came since: a capture file
 */
#ifndef WP_REPORT_WATCH_ACTIONS_H
#define WP_REPORT_WATCH_ACTIONS_H

#include <glib.h>

#include "capture/live.h"
#include "capture/sandbox.h"
#include "report/command.h"
#include "report/triggers.h"

typedef struct {
	WpWords rules;
	WpWords actions;
	const char *directory;
	guint64 memory; /* bytes of packets */
	gint64 files;
} WpWatchActionsOptions;

/* Sets the defaults and adds the table "Triggers". */
void wp_watch_actions_declare(WpOptions *parser, WpWatchActionsOptions *options);

typedef struct WpWatchActions WpWatchActions;

/*
 * (transfer full) Reads rules and actions, makes the directory of packets, and begins the process that runs commands,
 * of USER where IS_LIVE: packets are kept of live interfaces only. All given is borrowed.
 */
WpWatchActions *wp_watch_actions_new(const WpInvocation *invocation,
				     const WpWatchActionsOptions *options, gboolean is_live,
				     const char *user, GError **error);
void wp_watch_actions_free(WpWatchActions *actions);

/* LIVE, borrowed, whose packets are kept, taken by FILTER or NULL. */
gboolean wp_watch_actions_open(WpWatchActions *actions, const WpLive *live, const char *filter,
			       GError **error);

/* The directory in which packets are written; its descriptor is -1 where there is none. */
WpSandboxDirectory wp_watch_actions_directory(const WpWatchActions *actions);

/* Each frame of the live interfaces. */
void wp_watch_actions_frame(WpWatchActions *actions, const WpFrame *frame);

/*
 * Asks the rules of WINDOW, and acts. What the pages are to show, valid until the next window; OUT_N 0: nothing.
 */
const WpTriggered *wp_watch_actions_window(WpWatchActions *actions, const WpWatchWindow *window,
					   guint *out_n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpWatchActions, wp_watch_actions_free)

#endif
