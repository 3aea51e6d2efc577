/*
 * WpAhead: bytes made by another thread, a few blocks ahead of who takes them. For what costs time to
 * make and can be made without being asked: decompression.
 */
#ifndef WP_CAPTURE_AHEAD_H
#define WP_CAPTURE_AHEAD_H

#include <glib.h>

#define WP_AHEAD_BLOCK    (256 * 1024)
#define WP_AHEAD_N_BLOCKS 4

typedef struct WpAhead WpAhead;

/*
 * Makes at most ROOM bytes at OUT; 0 at the end, -1 on error. Called by the other thread alone, until the
 * first of these; what it changes may be looked at once wp_ahead_take() has given that.
 */
typedef gssize (*WpAheadFunc)(gpointer data, guint8 *out, gsize room, GError **error);

/* (transfer full) NULL where there is no other thread to be had, or no other processor for it. */
WpAhead *wp_ahead_new(WpAheadFunc func, gpointer data);

/* Ends the other thread, after the block that it is at. */
void wp_ahead_free(WpAhead *ahead);

/* The next bytes, at most ROOM; the end and the error of the function come after all that it made. */
gssize wp_ahead_take(WpAhead *ahead, guint8 *out, gsize room, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpAhead, wp_ahead_free)

#endif
