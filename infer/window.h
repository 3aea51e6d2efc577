/*
 * WpWindows: a long trace in parts, so that memory depends on the part and not on the length. A sink of
 * records; what it gathers it hands out as windows, each a WpTrace of its own with the nodes of all:
 *
 *     window 1   |==========================|------|            = answered   - carried on
 *     window 2                       |......|------|=================|-------|    . context
 *                                           ^cut
 *
 * A window is inferred whole, and answers for the requests that begin before its cut. The cut stands where
 * every call that may compete for a place in such a request has returned: all calls from before it have
 * returned at some time, and all calls from before that time have returned as well. What is not answered
 * is carried on into the next window, with what was answered shortly before the cut as context: its calls
 * are the possible parents of what is carried, and its children keep their parents busy. So a request is
 * answered once, with all that was open beside it, as if there were no windows.
 *
 * What was answered last is carried on, whole requests with their answers (EXAMPLES calls): delays, plans, the
 * worth of evidence and frequent paths are learned from these as well, so that a small window knows as
 * much as a large one. Their links stand, but they are solved again while the engine learns: with answers
 * that are settled it finds worse ones for the rest (up to 1.2 % of the links), as what is settled leaves it no
 * way round. The first window has no examples, so it is not smaller than that.
 *
 * Limits. A window ends after CALLS calls; where the cut would come before its middle, it waits for more
 * until there are twice as many, or EXAMPLES; then it is cut there all the same (WP_COUNT_WINDOWS_FORCED). A call that
 * is open at the end blocks no cut once it takes more than twice as long as any between the same nodes
 * did. It is carried on with its request, and given up for unanswered when it has seen a window go by
 * that way, or two in any other (WP_COUNT_WINDOW_CALLS_OPEN). Calls that turn out to belong to a request that was
 * answered are counted (WP_COUNT_WINDOW_CALLS_LATE).
 */
#ifndef WP_INFER_WINDOW_H
#define WP_INFER_WINDOW_H

#include <glib.h>

#include "capture/sink.h"
#include "capture/trace.h"
#include "infer/links.h"
#include "infer/resolve.h"

/*
 * Calls that are carried on to learn from. With a tenth of it, 2 to 10 % of the links were lost at 4 to 10
 * calls in flight in simulated traces, with this no more than by chance. Some 10 MB.
 */
#define WP_WINDOW_EXAMPLES 50000

typedef struct WpWindows WpWindows;

/* What of a window stands. Arrays have an entry for each span; borrowed until the next window. */
typedef struct {
	const guint8 *takes; /* 1: its answer stands, and it is in no later window but as context */
	const guint64
		*numbers; /* its number in the whole trace, from 0: by time, but for late records */
	gint64 floor_ns;  /* whatever later windows answer begins then or later */
} WpWindowAnswer;

/*
 * TRACE is frozen and valid during the call. Unless it IS_LAST, FUNC infers and then calls
 * wp_windows_answer() once; records marked WP_MARK_CARRIED were in the window before, and those marked
 * WP_MARK_ANSWERED are context. The last window has the counters, each knows what was
 * lost in its own time (wp_trace_counted()); all have the settings so far.
 */
typedef gboolean (*WpWindowFunc)(WpWindows *windows, const WpTrace *trace, gboolean is_last,
				 gpointer data, GError **error);

/* (transfer full) CALLS a window, one-way messages included, at least 1, beside those that are carried on. */
WpWindows *wp_windows_new(WpNodes *nodes, guint32 calls, guint32 examples, WpWindowFunc func,
			  gpointer data);
void wp_windows_free(WpWindows *windows);

/*
 * A window also ends soon after a multiple of PERIOD_NS since 1970 (by the times of records): who watches wants to
 * know soon, and there may be few calls. Where calls are open then it waits, a period at most. Before the first record.
 */
void wp_windows_set_period(WpWindows *windows, gint64 period_ns);

/* Whatever comes is not before NOW_NS: ends a window that has lasted for a period. Between records. */
gboolean wp_windows_advance(WpWindows *windows, gint64 now_ns, GError **error);

/* (transfer none) Takes records; several inputs may come one after the other where they go on in time. */
WpRecordSink *wp_windows_sink(WpWindows *windows);

/* After all input: the last window, also where it holds nothing. */
gboolean wp_windows_finish(WpWindows *windows, GError **error);

/* To be called before links are made of RESOLVED, the window's: tells it what was answered before. */
void wp_windows_tell(WpWindows *windows, WpResolved *resolved);

/* (transfer none) What stands of LINKS, all of SPANS, which are those of the window. */
const WpWindowAnswer *wp_windows_answer(WpWindows *windows, const WpSpans *spans,
					const WpLinks *links);

/* (transfer none) After the last: its trace. */
const WpTrace *wp_windows_trace(const WpWindows *windows);

/* To be called after the last: so many patterns were folded. */
void wp_windows_add_folded(WpWindows *windows, guint64 n);

/* Windows so far. */
guint64 wp_windows_count(const WpWindows *windows);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpWindows, wp_windows_free)

#endif
