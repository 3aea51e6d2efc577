/* Merging: see merge.h. Which tap lies nearer to whom the survey has found out (taps-match.c). */
#include "capture/merge.h"

#include "capture/sightings.h"

struct WpMerge {
	const WpTaps *taps;
	WpCounters *counters;
	WpSightings *sightings;
};

WpMerge *
wp_merge_new(const WpTaps *taps, WpCounters *counters)
{
	WpMerge *merge = g_new0(WpMerge, 1);
	merge->taps = taps;
	merge->counters = counters;
	merge->sightings = wp_sightings_new();
	return merge;
}

void
wp_merge_free(WpMerge *merge)
{
	if (!merge)
		return;
	wp_sightings_free(merge->sightings);
	g_free(merge);
}

gboolean
wp_merge_take(WpMerge *merge, WpSegment *segment)
{
	if (!wp_taps_is_covered(merge->taps, segment->time_ns)) {
		wp_counters_add(merge->counters, WP_COUNT_PACKETS_UNCOVERED, 1);
		return FALSE;
	}
	wp_taps_translate(merge->taps, segment);
	if (segment->is_udp)
		segment->seq =
			wp_sightings_hash(segment->payload, segment->captured, segment->length);
	if (!wp_sightings_add(merge->sightings, segment))
		return TRUE;
	wp_counters_add(merge->counters, WP_COUNT_PACKETS_SHARED, 1);
	return FALSE;
}

/* How far in front of the others a tap is among those that saw what goes from SRC to DST. */
static int
rank_tap(const WpMerge *merge, const WpRecord *record, const WpSighting *seen, guint n, guint i)
{
	int rank = 0;
	for (guint k = 0; k < n; k++) {
		if (k == i)
			continue;
		int order = wp_taps_compare(merge->taps, seen[i].tap, seen[k].tap, &record->src,
					    &record->dst);
		gint64 later_ns = seen[k].time_ns - seen[i].time_ns;
		rank += order ? order : (later_ns > 0) - (later_ns < 0);
	}
	return rank;
}

/*
 * When the byte SEQ of RECORD came by the tap next to its sender, and by that next to its receiver. FALSE where it
 * is not what was seen at NEAR_NS: a message may end when a hole in it is filled, after its last byte.
 */
static gboolean
find_both_ends(const WpMerge *merge, const WpRecord *record, guint32 seq, gint64 near_ns,
	       gint64 *out_sent_ns, gint64 *out_way_ns)
{
	WpSighting seen[WP_SIGHTINGS_TAPS];
	guint n = wp_sightings_find(merge->sightings, &record->src, &record->dst, FALSE, seq,
				    near_ns, seen);
	if (n == 0)
		n = wp_sightings_find(merge->sightings, &record->src, &record->dst, TRUE, seq,
				      near_ns, seen);
	guint first = 0, last = 0;
	int highest = G_MININT, lowest = G_MAXINT;
	gboolean is_it = FALSE;

	for (guint i = 0; i < n; i++) {
		int rank = rank_tap(merge, record, seen, n, i);
		is_it |= seen[i].time_ns == near_ns;
		if (rank > highest) {
			highest = rank;
			first = i;
		}
		if (rank < lowest) {
			lowest = rank;
			last = i;
		}
	}
	if (n < 2 || first == last || !is_it)
		return FALSE;
	*out_sent_ns = seen[first].time_ns;
	*out_way_ns = seen[last].time_ns - seen[first].time_ns;
	return TRUE;
}

void
wp_merge_set_both_ends(WpRecord *record, gpointer data)
{
	const WpMerge *merge = data;
	gint64 sent_ns, sent_end_ns, way_ns, way_end_ns;
	gboolean has_begin = find_both_ends(merge, record, record->first_seq, record->begin_ns,
					    &sent_ns, &way_ns);
	gboolean has_end = find_both_ends(merge, record, record->last_seq, record->end_ns,
					  &sent_end_ns, &way_end_ns);

	if (!has_begin && !has_end)
		return;
	record->marks |= WP_MARK_BOTH_ENDS;
	if (has_begin)
		record->begin_ns = sent_ns;
	if (has_end)
		record->end_ns = sent_end_ns;
	record->end_ns = MAX(record->end_ns, record->begin_ns);
	record->begin_way_ns = has_begin ? way_ns : way_end_ns;
	record->end_way_ns = has_end ? way_end_ns : way_ns;
}
