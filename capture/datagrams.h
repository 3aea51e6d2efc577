/*
 * WpDatagrams: datagrams that wait a little, so that they leave in order of time. TCP tells by its
 * numbers what comes first; of UDP only the clock does, and a capture of several queues or interfaces is
 * not in order of time in its file: a reply may stand before its request.
 */
#ifndef WP_CAPTURE_DATAGRAMS_H
#define WP_CAPTURE_DATAGRAMS_H

#include <glib.h>

#include "capture/packet.h"

/* What may wait; when there is more the earliest is due at once. */
#define WP_DATAGRAMS_MAX       4096
#define WP_DATAGRAMS_MAX_BYTES (4 * 1024 * 1024)

typedef struct WpDatagrams WpDatagrams;

/* (transfer full) */
WpDatagrams *wp_datagrams_new(void);
void wp_datagrams_free(WpDatagrams *datagrams);

/* Takes a copy of SEGMENT and its payload. NUMBER counts all segments of the capture. */
void wp_datagrams_add(WpDatagrams *datagrams, const WpSegment *segment, guint64 number);

/*
 * (transfer none) The earliest, where neither its time is after UNTIL_NS nor its number after
 * UNTIL_NUMBER, or where too many wait; valid until the next call. Equal times: in the order they came.
 * NULL: none is due.
 */
const WpSegment *wp_datagrams_take(WpDatagrams *datagrams, gint64 until_ns, guint64 until_number);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpDatagrams, wp_datagrams_free)

#endif
