/*
 * WpSightings: which tap saw which bytes when, for as long as that may be asked. It tells a copy of what
 * another tap has delivered from a repetition of the sender, and gives a finished message the times of both
 * its ends.
 *
 *   tap A   |--- 0..2999 ----------|                  one segment of the sender (offloaded)
 *   tap B         |- 0..1499 -| |- 1500..2999 -|      as it arrived: the bytes count, not the packets
 *
 * Bytes of TCP are known by their sequence numbers, everything else by a hash of its content.
 */
#ifndef WP_CAPTURE_SIGHTINGS_H
#define WP_CAPTURE_SIGHTINGS_H

#include <glib.h>

#include "capture/packet.h"
#include "capture/record.h"

/* So many packets are remembered; 64 MiB. Of older ones the second time is not known. */
#define WP_SIGHTINGS_MAX (1024 * 1024)

/* More taps than this see the same message nowhere. */
#define WP_SIGHTINGS_TAPS 8

typedef struct WpSightings WpSightings;

/* (transfer full) */
WpSightings *wp_sightings_new(void);
void wp_sightings_free(WpSightings *sightings);

/* Notes SEGMENT, a datagram with its hash as seq; TRUE where another tap has delivered all of it, and this one not yet as often. */
gboolean wp_sightings_add(WpSightings *sightings, const WpSegment *segment);

/* What stands for a datagram where a segment has a sequence number. */
guint32 wp_sightings_hash(const guint8 *payload, guint32 captured, guint32 length);

/* When a tap saw a byte. */
typedef struct {
	gint64 time_ns;
	guint8 tap;
} WpSighting;

/*
 * The taps that saw the byte SEQ from SRC to DST, each with the time that is the first or, of datagrams, the
 * one next to NEAR_NS; at most WP_SIGHTINGS_TAPS, by number of the tap. Returns how many.
 */
guint wp_sightings_find(const WpSightings *sightings, const WpEndpoint *src, const WpEndpoint *dst,
			gboolean is_udp, guint32 seq, gint64 near_ns, WpSighting *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSightings, wp_sightings_free)

#endif
