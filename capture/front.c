/* Front: lookahead, selection, packet layer. */
#include "capture/front.h"

#include "capture/filter.h"
#include "capture/lookahead.h"
#include "capture/taps.h"

struct WpFront {
	const WpCaptureOptions *options;
	WpFilter *filter; /* or NULL */
	WpLookahead *lookahead;
	WpCounters *counters;
	guint n_taps;
	WpPackets *packets[WP_TAPS_MAX]; /* of each tap, as copies and fragments are its own */
	WpFrontFacts facts;
	guint64 n_counted; /* packets, of which this many are among the counters, */
	guint64 n_bytes;   /* and bytes that are not */
};

WpFront *
wp_front_new(const WpCaptureOptions *options, WpSource *source, GError **error)
{
	WpFilter *filter = NULL;

	if (options->filter && !(filter = wp_filter_new(options->filter, error)))
		return NULL;
	WpFront *front = g_new0(WpFront, 1);
	front->options = options;
	front->filter = filter;
	front->lookahead = wp_lookahead_new(source);
	front->counters = wp_counters_new();
	front->n_taps = options->taps ? wp_taps_count(options->taps) : 1;
	for (guint i = 0; i < front->n_taps; i++)
		front->packets[i] = wp_packets_new(front->counters);
	front->facts.first_ns = front->facts.last_ns = WP_NO_TIME;
	return front;
}

void
wp_front_free(WpFront *front)
{
	if (!front)
		return;
	for (guint i = 0; i < front->n_taps; i++)
		wp_packets_free(front->packets[i]);
	wp_counters_free(front->counters);
	wp_lookahead_free(front->lookahead);
	wp_filter_free(front->filter);
	g_free(front);
}

/* By tap, where there are several. */
typedef struct {
	WpPackets *packets[WP_TAPS_MAX];
	guint n;
} Learning;

static void
learn_frame(const WpFrame *frame, gpointer data)
{
	const Learning *learning = data;
	WpSegment segment;
	wp_packets_decode(learning->packets[learning->n > 1 ? frame->tap : 0], frame, &segment);
}

/* Whether packets are delivered twice shows in some of the first, and concerns all. */
void
wp_front_begin(WpFront *front)
{
	g_autoptr(WpCounters) counters = wp_counters_new();
	Learning learning = { .n = front->n_taps };

	for (guint i = 0; i < learning.n; i++)
		learning.packets[i] = wp_packets_new(counters);
	wp_lookahead_peek(front->lookahead, learn_frame, &learning);
	for (guint i = 0; i < learning.n; i++) {
		wp_packets_expect(front->packets[i], learning.packets[i]);
		wp_packets_free(learning.packets[i]);
	}
}

static void
note_frame(WpFront *front, const WpFrame *frame)
{
	WpFrontFacts *facts = &front->facts;
	guint i = 0;

	while (i < facts->n_link_types && facts->link_types[i] != frame->link_type)
		i++;
	if (i == facts->n_link_types && i < WP_FRONT_MAX_LINK_TYPES)
		facts->link_types[facts->n_link_types++] = frame->link_type;
	if (frame->captured < frame->length)
		facts->snapped_at = MAX(facts->snapped_at, frame->captured);
	if (facts->first_ns == WP_NO_TIME)
		facts->first_ns = facts->last_ns = frame->time_ns;
	if (frame->time_ns < facts->last_ns)
		wp_counters_add(front->counters, WP_COUNT_PACKETS_OUT_OF_TIME, 1);
	facts->first_ns = MIN(facts->first_ns, frame->time_ns);
	facts->last_ns = MAX(facts->last_ns, frame->time_ns);
}

/* Sets OUT_WANTED: whether time range and filter let FRAME pass. */
static gboolean
is_wanted(WpFront *front, const WpFrame *frame, gboolean *out_wanted, GError **error)
{
	const WpCaptureOptions *options = front->options;
	gboolean wanted = (options->from_ns == WP_NO_TIME || frame->time_ns >= options->from_ns) &&
			  (options->to_ns == WP_NO_TIME || frame->time_ns < options->to_ns);
	if (wanted && front->filter && !wp_filter_matches(front->filter, frame, &wanted, error))
		return FALSE;
	*out_wanted = wanted;
	return TRUE;
}

/* With the ends that its flow has as a whole, as records have them. */
static void
show_frame(const WpFront *front, const WpFrame *frame, const WpSegment *segment)
{
	const WpCaptureOptions *options = front->options;
	WpSegment whole;

	if (segment && options->taps) {
		whole = *segment;
		wp_taps_translate(options->taps, &whole);
		segment = &whole;
	}
	options->frame(frame, segment, options->frame_data);
}

/* Sets *OUT_HAS_SEGMENT, which is provisional where nobody looks at frames: see wp_packets_begin(). */
static WpFrontResult
take_frame(WpFront *front, const WpFrame *frame, WpSegment *out_segment, gboolean *out_has_segment,
	   GError **error)
{
	gboolean wanted;

	*out_has_segment = FALSE;
	front->facts.n_packets++;
	front->n_bytes += frame->length;
	if (!is_wanted(front, frame, &wanted, error))
		return WP_FRONT_ERROR;
	if (!wanted) {
		wp_counters_add(front->counters, WP_COUNT_PACKETS_FILTERED, 1);
		return WP_FRONT_FILTERED;
	}
	note_frame(front, frame);
	guint tap = front->n_taps > 1 ? frame->tap : 0;
	wp_packets_begin(front->packets[tap], frame, out_segment, out_has_segment);
	if (front->options->frame) {
		wp_packets_settle(front->packets[tap]);
		show_frame(front, frame, *out_has_segment ? out_segment : NULL);
	}
	return *out_has_segment ? WP_FRONT_SEGMENT : WP_FRONT_TIME;
}

static void
settle(WpFront *front)
{
	for (guint i = 0; i < front->n_taps; i++)
		wp_packets_settle(front->packets[i]);
}

static inline WpFrontResult
next(WpFront *front, WpFrame *out_frame, WpSegment *out_segment, gboolean *out_has_segment,
     GError **error)
{
	switch (wp_lookahead_next(front->lookahead, out_frame, error)) {
	case WP_SOURCE_FRAME:
		return take_frame(front, out_frame, out_segment, out_has_segment, error);
	case WP_SOURCE_END:
		return WP_FRONT_END;
	case WP_SOURCE_CUT:
		return WP_FRONT_CUT;
	case WP_SOURCE_WAIT:
		front->facts.now_ns = out_frame->time_ns;
		return WP_FRONT_WAIT;
	default:
		return WP_FRONT_ERROR;
	}
}

WpFrontResult
wp_front_next(WpFront *front, WpSegment *out_segment, GError **error)
{
	WpFrame frame;
	gboolean has_segment;
	WpFrontResult result = next(front, &frame, out_segment, &has_segment, error);

	settle(front);
	return result == WP_FRONT_SEGMENT && !has_segment ? WP_FRONT_TIME : result;
}

/* FALSE where it was put together of fragments, in a buffer that the next ones are put into. */
static gboolean
stays(const WpSegment *segment, const WpFrame *frame)
{
	return segment->payload >= frame->data && segment->payload <= frame->data + frame->captured;
}

static guint
fill(WpFront *front, WpFrontItem *items, WpFrontResult *out_result, GError **error)
{
	gboolean may_go_on = TRUE;
	guint n = 0;

	while (n < WP_FRONT_ITEMS && may_go_on) {
		WpFrontItem *item = &items[n];
		WpFrame frame;
		*out_result = next(front, &frame, &item->segment, &item->has_segment, error);
		if (*out_result > WP_FRONT_FILTERED)
			return n;
		item->last_ns = front->facts.last_ns;
		n += *out_result != WP_FRONT_FILTERED;
		may_go_on = (!item->has_segment || stays(&item->segment, &frame)) &&
			    front->facts.n_packets % WP_FRONT_PROGRESS != 0 &&
			    wp_lookahead_is_at_hand(front->lookahead);
	}
	*out_result = WP_FRONT_SEGMENT;
	return n;
}

guint
wp_front_fill(WpFront *front, WpFrontItem *items, WpFrontResult *out_result, GError **error)
{
	guint n = fill(front, items, out_result, error);

	settle(front);
	return n;
}

const WpFrontFacts *
wp_front_facts(const WpFront *front)
{
	return &front->facts;
}

WpCounters *
wp_front_counters(WpFront *front)
{
	wp_counters_add(front->counters, WP_COUNT_PACKETS,
			front->facts.n_packets - front->n_counted);
	wp_counters_add(front->counters, WP_COUNT_PACKET_BYTES, front->n_bytes);
	front->n_counted = front->facts.n_packets;
	front->n_bytes = 0;
	return front->counters;
}
