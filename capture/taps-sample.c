/*
 * Taps, the sample: each packet gets a key from what no router changes, and those whose key ends in enough
 * zero bits stay. Where too many stay, one more bit must be zero: so the sample is spread evenly over all
 * inputs, and holds the same packets of each.
 */
#include <string.h>

#include "capture/doubles.h"
#include "capture/source.h"
#include "capture/taps-private.h"

#define MAX_SAMPLES   (2 * 1024 * 1024) /* 48 MiB */
#define MAX_FLOWS     (512 * 1024)
#define MAX_TURNS     (1024 * 1024) /* 24 MiB */
#define KEY_BYTES     48            /* of payload */
#define MIN_DATAGRAM  8             /* bytes; shorter ones are too much alike */
#define PROGRESS_EACH 8192
#define MAX_SILENCES  4096 /* of an input */

typedef struct {
	WpFlowKey key;
	guint32 number;
	guint8 last; /* the side that sent last, and 1; 0: none */
} Flow;

void
wp_sampler_init(WpSampler *sampler)
{
	sampler->samples = g_array_new(FALSE, FALSE, sizeof(WpSample));
	sampler->flows = g_array_new(FALSE, FALSE, sizeof(WpFlowKey));
	sampler->turns = g_array_new(FALSE, FALSE, sizeof(WpTurn));
	sampler->table = wp_flow_table_new(sizeof(Flow), 1);
}

void
wp_sampler_clear(WpSampler *sampler)
{
	if (sampler->samples)
		g_array_unref(sampler->samples);
	if (sampler->flows)
		g_array_unref(sampler->flows);
	if (sampler->turns)
		g_array_unref(sampler->turns);
	wp_flow_table_free(sampler->table);
	*sampler = (WpSampler){ 0 };
}

/*
 * Bytes of TCP by their number and what they are; what holds none by all its numbers. An offloaded segment
 * begins like the first of those that it becomes. FALSE where nothing tells the packet from others.
 */
static gboolean
make_key(const WpSegment *segment, guint64 *out_key)
{
	guint32 captured = MIN(segment->captured, KEY_BYTES);
	guint64 key = wp_doubles_mix(segment->is_udp ? 2 : segment->length ? 1 : 0, segment->seq);

	if (segment->is_udp) {
		if (segment->length < MIN_DATAGRAM)
			return FALSE;
		key = wp_doubles_mix(key, segment->length);
	} else if (!segment->length) {
		gboolean is_syn = (segment->flags & WP_TCP_SYN) != 0;
		key = wp_doubles_mix(key,
				     (guint64)segment->ack << 16 | (is_syn ? 0 : segment->window));
		key = wp_doubles_mix(key, segment->flags);
	} else if (captured < MIN_DATAGRAM) {
		key = wp_doubles_mix(key, (guint64)segment->ack << 32 | segment->length);
	}
	*out_key = wp_doubles_mix_bytes(key, segment->payload, segment->length ? captured : 0);
	return TRUE;
}

/* Keeps every second sample. */
static void
thin_out(WpSampler *sampler)
{
	guint kept = 0;

	sampler->mask = sampler->mask << 1 | 1;
	for (guint i = 0; i < sampler->samples->len; i++) {
		const WpSample *sample = &g_array_index(sampler->samples, WpSample, i);
		if (!(sample->key & sampler->mask))
			g_array_index(sampler->samples, WpSample, kept++) = *sample;
	}
	g_array_set_size(sampler->samples, kept);
}

/* NULL where there are too many. */
static Flow *
find_flow(WpSampler *sampler, const WpFlowKey *key)
{
	Flow *flow = wp_flow_table_find(sampler->table, key);
	if (!flow && sampler->flows->len < MAX_FLOWS) {
		flow = wp_flow_table_add(sampler->table, key);
		flow->number = sampler->flows->len;
		g_array_append_val(sampler->flows, *key);
	}
	return flow;
}

static gboolean
keeps_turns(const WpSampler *sampler, guint32 flow)
{
	return !(wp_doubles_mix(1, flow) & sampler->turn_mask);
}

/* Keeps the turns of every second flow: of fewer packets of each it could not be told what is a turn. */
static void
thin_out_turns(WpSampler *sampler)
{
	guint kept = 0;

	sampler->turn_mask = sampler->turn_mask << 1 | 1;
	for (guint i = 0; i < sampler->turns->len; i++) {
		const WpTurn *turn = &g_array_index(sampler->turns, WpTurn, i);
		if (keeps_turns(sampler, turn->flow))
			g_array_index(sampler->turns, WpTurn, kept++) = *turn;
	}
	g_array_set_size(sampler->turns, kept);
}

static void
note_turn(WpSampler *sampler, guint16 input, Flow *flow, guint8 side, gint64 time_ns)
{
	WpTurn turn = { time_ns, flow->number, input, side };

	if (flow->last == side + 1 || !keeps_turns(sampler, flow->number))
		return;
	flow->last = side + 1;
	g_array_append_val(sampler->turns, turn);
	/* Where that leaves nothing there are no two turns of a host that would tell anything. */
	if (sampler->turns->len >= MAX_TURNS)
		thin_out_turns(sampler);
}

static void
add_segment(WpSampler *sampler, guint16 input, const WpSegment *segment)
{
	WpSample sample = { .time_ns = segment->time_ns, .input = input };
	gboolean is_sampled = make_key(segment, &sample.key) && !(sample.key & sampler->mask);
	WpFlowKey key;

	if (!is_sampled && !segment->length)
		return;
	sample.side = (guint8)wp_flow_key(segment, &key);
	Flow *flow = find_flow(sampler, &key);
	if (!flow)
		return;
	if (segment->length)
		note_turn(sampler, input, flow, sample.side, segment->time_ns);
	if (!is_sampled)
		return;
	sample.flow = flow->number;
	g_array_append_val(sampler->samples, sample);
	if (sampler->samples->len > MAX_SAMPLES)
		thin_out(sampler);
}

static void
note_frame(WpTapInput *input, const WpFrame *frame)
{
	WpSilence silence = { input->last_ns, frame->time_ns };

	if (input->n_packets++ == 0) {
		input->first_ns = input->last_ns = frame->time_ns;
		input->link_type = frame->link_type;
	} else if (silence.to_ns - silence.from_ns >= WP_TAPS_SILENCE_NS &&
		   input->silences->len < MAX_SILENCES) {
		g_array_append_val(input->silences, silence);
	}
	input->first_ns = MIN(input->first_ns, frame->time_ns);
	input->last_ns = MAX(input->last_ns, frame->time_ns);
}

/* TRUE to go on. */
static gboolean
report_progress(const WpTaps *taps, const WpSource *source)
{
	guint64 n_read, size;

	if (!taps->options->progress)
		return TRUE;
	wp_source_progress(source, &n_read, &size);
	return taps->options->progress(n_read, size, taps->sampler.n_read,
				       taps->options->progress_data);
}

gboolean
wp_sampler_read(WpTaps *taps, gsize i, gboolean *out_stopped, GError **error)
{
	g_autoptr(WpSource) source = wp_source_open(taps->options->paths[i], 0, error);
	g_autoptr(WpCounters) counters = wp_counters_new();
	g_autoptr(WpPackets) packets = wp_packets_new(counters);
	WpFrame frame;
	WpSegment segment;

	if (!source)
		return FALSE;
	while (wp_source_next(source, &frame, NULL) == WP_SOURCE_FRAME) {
		note_frame(&taps->inputs[i], &frame);
		if (wp_packets_decode(packets, &frame, &segment) == WP_PACKET_SEGMENT)
			add_segment(&taps->sampler, (guint16)i, &segment);
		if (++taps->sampler.n_read % PROGRESS_EACH == 0 && !report_progress(taps, source)) {
			*out_stopped = TRUE;
			return FALSE;
		}
	}
	return TRUE;
}
