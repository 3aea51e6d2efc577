/*
 * WpLookahead: a source of packets whose first ones can be looked at before they are read. What a capture is
 * like as a whole (does its mirror deliver packets twice?) must be known for the first packet as for the last.
 */
#ifndef WP_CAPTURE_LOOKAHEAD_H
#define WP_CAPTURE_LOOKAHEAD_H

#include <glib.h>

#include "capture/source.h"

/* So many packets or bytes are looked at; a pipe gives nothing before it has given them, or has ended;
 * of live interfaces those that come without a pause. */
#define WP_LOOKAHEAD_PACKETS 256
#define WP_LOOKAHEAD_BYTES   (256 * 1024)

typedef struct WpLookahead WpLookahead;

/* (transfer full) SOURCE is borrowed; nothing may have been read of it. */
WpLookahead *wp_lookahead_new(WpSource *source);
void wp_lookahead_free(WpLookahead *lookahead);

/* Reads the first packets and calls FUNC for each. At most once, before wp_lookahead_next(). */
typedef void (*WpLookaheadFunc)(const WpFrame *frame, gpointer data);
void wp_lookahead_peek(WpLookahead *lookahead, WpLookaheadFunc func, gpointer data);

/* As wp_source_next(); the packets that were looked at come again. */
WpSourceResult wp_lookahead_next(WpLookahead *lookahead, WpFrame *out_frame, GError **error);

/* TRUE where the next call leaves the data of the frames before where they are. */
gboolean wp_lookahead_is_at_hand(WpLookahead *lookahead);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpLookahead, wp_lookahead_free)

#endif
