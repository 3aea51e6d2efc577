/*
 * WpFront: the front of the driver: frames of the source, chosen by time and filter, to segments; and what
 * the frames say of the capture as a whole. It knows nothing of what becomes of the segments, so that it
 * can run in a thread of its own (feed.h).
 */
#ifndef WP_CAPTURE_FRONT_H
#define WP_CAPTURE_FRONT_H

#include <glib.h>

#include "capture/capture.h"
#include "capture/packet.h"
#include "capture/source.h"

#define WP_FRONT_MAX_LINK_TYPES 8 /* named in the settings */

/* What was seen so far. */
typedef struct {
	guint64 n_packets;
	gint64 first_ns; /* of the packets taken; WP_NO_TIME = none */
	gint64 last_ns;
	gint64 now_ns;      /* of WAIT: what comes is not before it */
	guint32 snapped_at; /* the longest packet that was cut */
	guint32 link_types[WP_FRONT_MAX_LINK_TYPES];
	guint n_link_types;
} WpFrontFacts;

typedef enum {
	WP_FRONT_SEGMENT,  /* a frame that gave a segment */
	WP_FRONT_TIME,     /* a frame that gave none: its time alone counts */
	WP_FRONT_FILTERED, /* a frame that was not asked for */
	WP_FRONT_WAIT,     /* none now */
	WP_FRONT_END,      /* as those of WpSourceResult */
	WP_FRONT_CUT,
	WP_FRONT_ERROR
} WpFrontResult;

/* A frame that has passed. */
typedef struct {
	WpSegment segment;    /* valid with has_segment */
	gint64 last_ns;       /* the latest time of a frame so far */
	gboolean has_segment; /* FALSE: its time alone counts */
} WpFrontItem;

/* Packets, a few ms of work: what is asked so often whether it is to go on is asked behind a fill. */
#define WP_FRONT_PROGRESS 8192

/* A few KB, which stay in the cache of the first level. */
#define WP_FRONT_ITEMS 32

typedef struct WpFront WpFront;

/* (transfer full) OPTIONS and SOURCE, of which nothing may have been read, are borrowed. */
WpFront *wp_front_new(const WpCaptureOptions *options, WpSource *source, GError **error);
void wp_front_free(WpFront *front);

/* Looks at the first packets; before the first wp_front_next(). */
void wp_front_begin(WpFront *front);

/* OUT_SEGMENT (of SEGMENT alone) is valid until the next call. */
WpFrontResult wp_front_next(WpFront *front, WpSegment *out_segment, GError **error);

/*
 * The same for the next frame and those after it that are at hand, at most WP_FRONT_ITEMS, so that the code
 * and the tables of each stage are fetched once for all of them. Returns how many gave ITEMS, which are
 * valid until the next call; OUT_RESULT is what stands behind them, or SEGMENT where nothing is known of it.
 */
guint wp_front_fill(WpFront *front, WpFrontItem *items, WpFrontResult *out_result, GError **error);

/* (transfer none) */
const WpFrontFacts *wp_front_facts(const WpFront *front);

/* (transfer none) What was counted of packets. */
WpCounters *wp_front_counters(WpFront *front);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpFront, wp_front_free)

#endif
