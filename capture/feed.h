/*
 * WpFeed: a front (front.h) that runs ahead in a thread of its own. What it gives comes in batches, in the
 * order of the packets, so that what is made of them does not depend on who runs when.
 *
 *   thread   source -> packet -> | batch | batch | batch |  -> flow -> ...   who asks
 */
#ifndef WP_CAPTURE_FEED_H
#define WP_CAPTURE_FEED_H

#include <glib.h>

#include "capture/front.h"

typedef enum {
	WP_FEED_SEGMENT,
	WP_FEED_TIME,   /* a frame that gave no segment has passed */
	WP_FEED_NAME,   /* of segment.src.address; its text is the payload */
	WP_FEED_SECRETS /* of kind segment.seq; they are the payload */
} WpFeedKind;

typedef struct {
	WpSegment segment; /* its payload belongs to the batch */
	gint64 last_ns;    /* the latest time of a frame so far */
	guint8 kind;       /* WpFeedKind */
} WpFeedItem;

typedef struct {
	WpFeedItem *items;
	guint n_items;
	guint64 n_packets;    /* read so far */
	WpFrontResult result; /* behind the items: SEGMENT where there is more, else how it ended */
	guint8 *bytes;        /* payloads */
	gsize n_bytes;
	gsize n_allocated;
} WpFeedBatch;

typedef struct WpFeed WpFeed;

/*
 * (transfer full) Begins to run FRONT, which is borrowed, as is SOURCE, the one of FRONT; its names and
 * secrets come as items from now on. NULL where there can be no thread.
 */
WpFeed *wp_feed_new(WpFront *front, WpSource *source);

/* Ends the thread at once. FRONT may be asked again then. */
void wp_feed_free(WpFeed *feed);

/*
 * The next batch, waited for; valid until the next call. (transfer none) The last one has a result that is
 * not SEGMENT; of ERROR, ERROR is set. Not to be called after the last.
 */
const WpFeedBatch *wp_feed_take(WpFeed *feed, GError **error);

/* No more is read; what was read is still given, and then the last batch, of result END. */
void wp_feed_stop(WpFeed *feed);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpFeed, wp_feed_free)

#endif
