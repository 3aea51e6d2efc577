/*
 * WpRecent: the packets that came last, in a bounded memory: the oldest make room. For who learns only later that they
 * are worth keeping.
 */
#ifndef WP_CAPTURE_RECENT_H
#define WP_CAPTURE_RECENT_H

#include <glib.h>

#include "capture/source.h"

#define WP_RECENT_MIN_BYTES (512 * 1024) /* room for any frame */

typedef struct WpRecent WpRecent;

/* (transfer full) In BYTES of memory, WP_RECENT_MIN_BYTES at least, bookkeeping included. */
WpRecent *wp_recent_new(gsize bytes);
void wp_recent_free(WpRecent *recent);

/* Copies FRAME. One that is longer than all of the memory is not kept. */
void wp_recent_add(WpRecent *recent, const WpFrame *frame);

/* Time of the oldest frame kept; WP_NO_TIME: there is none. */
gint64 wp_recent_begin_ns(const WpRecent *recent);

/* TRUE where frames had to make room. */
gboolean wp_recent_is_cut(const WpRecent *recent);

/* Calls FUNC with the frames of FROM_NS or later, as they came. Returns their number. */
guint64 wp_recent_foreach(const WpRecent *recent, gint64 from_ns,
			  void (*func)(const WpFrame *frame, gpointer data), gpointer data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpRecent, wp_recent_free)

#endif
