/*
 * WpPhases: things that are frequent only for a while. Of each, counts by window of time are kept for an hour; a phase begins
 * where there are three times as many as usual in the hour before (the median, windows without any included), and ends
 * where there are not. What lasts for an hour has become usual, and is a phase no more.
 *
 *     counts   0 1 0 0 9 8 9 1 0 0
 *                      |-----|        a phase
 */
#ifndef WP_REPORT_PHASES_H
#define WP_REPORT_PHASES_H

#include <glib.h>

#define WP_PHASE_NS          (3600 * G_GINT64_CONSTANT(1000000000))
#define WP_PHASE_TIMES       3 /* as many as usual */
#define WP_PHASE_MIN_COUNT   5 /* in a window; fewer are chance */
#define WP_PHASE_MIN_WINDOWS 3 /* of the hour before; with fewer nothing is usual */

/* Windows and things whose past is known; of others there are no phases. */
#define WP_PHASES_MAX_WINDOWS 360
#define WP_PHASES_MAX_THINGS  2048

typedef struct {
	const char *name;
	gint64 begin_ns; /* of its first window */
	gint64 end_ns;   /* of the first window after it; WP_NO_TIME: it lasts */
} WpPhase;

typedef struct WpPhases WpPhases;

/* (transfer full) */
WpPhases *wp_phases_new(void);
void wp_phases_free(WpPhases *phases);

/* The next window begins then, later than the one before; what it holds is added; then it ends. */
void wp_phases_begin(WpPhases *phases, gint64 begin_ns);
/* COUNT of the thing known by KEY. The phase in which it is, by its begin; WP_NO_TIME: none. Each thing once a window. */
gint64 wp_phases_add(WpPhases *phases, const char *key, const char *name, guint64 count);
void wp_phases_end(WpPhases *phases);

/* (transfer none) Of the last window and the hour before, by their begin, then name; of a thing the last one. Until the next window. */
const WpPhase *wp_phases_list(const WpPhases *phases, guint *out_n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpPhases, wp_phases_free)

#endif
