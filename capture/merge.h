/*
 * WpMerge: packets of several taps become one capture. What two taps saw is taken once, whatever came first;
 * each message gets the times that it had at both its ends.
 */
#ifndef WP_CAPTURE_MERGE_H
#define WP_CAPTURE_MERGE_H

#include <glib.h>

#include "capture/counters.h"
#include "capture/packet.h"
#include "capture/taps.h"

typedef struct WpMerge WpMerge;

/* (transfer full) TAPS and COUNTERS are borrowed and must outlive it. */
WpMerge *wp_merge_new(const WpTaps *taps, WpCounters *counters);
void wp_merge_free(WpMerge *merge);

/*
 * FALSE where SEGMENT, whose time is corrected, is left out: another tap has delivered it, or not all taps were at
 * work. Its ends become those of the flow as a whole, and the seq of a datagram what stands for its content.
 */
gboolean wp_merge_take(WpMerge *merge, WpSegment *segment);

/*
 * The times of RECORD become those of the sender's own tap, where it and the receiver's saw the message; DATA is a
 * WpMerge. See WpOrderFunc.
 */
void wp_merge_set_both_ends(WpRecord *record, gpointer data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpMerge, wp_merge_free)

#endif
