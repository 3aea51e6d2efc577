/*
 * Segments through flows and reassembly to the real streams. The input is a list of segments:
 *
 *     what (1)  flags (1)  seq (2, signed)  ack (2, signed)  length (1)  time (1)  payload (length)
 *
 * what: 1 = the server sends, 2 = UDP, 4 and 8 = which client port, 16 = seq counts 64 KiB, 32 = ack
 * counts 64 KiB, 64 = half the payload is captured, 128 = time counts seconds, else 4 ms. flags are
 * those of TCP, but for 32 and 64: the packet claims 64 KiB, 256 times as many bytes as it has. seq and
 * ack are relative to what the two sides have sent so far.
 *
 * The first flow's segments also go to a reassembly of their own, whose deliveries must be without
 * jumps, and which must hold nothing in the end.
 */
#include <stdint.h>
#include <string.h>

#include "capture/flow.h"
#include "capture/reassembly.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- the reassembly of its own --- */

typedef struct {
	WpReassemblyEnv env;
	WpReassembly flow;
	guint64 at[2];
	gboolean is_ended[2];
	gboolean is_reset;
	guint8 sum;
} Checked;

static void
move(WpReassemblyEnv *env, guint side, guint64 length, const WpStamp *stamp)
{
	Checked *checked = (Checked *)env;
	g_assert(!checked->is_reset && !checked->is_ended[side]);
	g_assert(length > 0);
	g_assert(!stamp || stamp->offset == checked->at[side]);
	checked->at[side] += length;
}

static void
on_bytes(WpReassemblyEnv *env, WpReassembly *flow, guint side, const guint8 *data, gsize length,
	 const WpStamp *stamp)
{
	Checked *checked = (Checked *)env;
	for (gsize i = 0; i < length; i++) /* the sanitizers see whether the bytes are there */
		checked->sum ^= data[i];
	move(env, side, length, stamp);
}

static void
on_hole(WpReassemblyEnv *env, WpReassembly *flow, guint side, guint64 length, const WpStamp *stamp,
	gint64 by_ns, gboolean is_late)
{
	move(env, side, length, stamp);
}

static void
on_end(WpReassemblyEnv *env, WpReassembly *flow, guint side, const WpStamp *stamp)
{
	Checked *checked = (Checked *)env;
	g_assert(!checked->is_reset && !checked->is_ended[side]);
	g_assert(stamp->offset == checked->at[side]);
	checked->is_ended[side] = TRUE;
}

static void
on_reset(WpReassemblyEnv *env, WpReassembly *flow, const WpStamp *stamp)
{
	Checked *checked = (Checked *)env;
	g_assert(!checked->is_reset);
	checked->is_reset = TRUE;
}

static const WpReassemblyOps ops = { on_bytes, on_hole, on_end, on_reset };

static void
check_segment(Checked *checked, guint side, const WpSegment *segment)
{
	wp_reassembly_add(&checked->env, &checked->flow, side, segment);
	WpWait wait = wp_reassembly_wait(&checked->flow);
	if (segment->window & 1 && wait) { /* sometimes the wait is over at once */
		wp_reassembly_mark(&checked->flow);
		wp_reassembly_expire(&checked->env, &checked->flow, wait);
	}
}

static void
check_end(Checked *checked)
{
	wp_reassembly_flush(&checked->env, &checked->flow);
	if (!checked->is_reset) {
		g_assert(!checked->flow.half[0].first && !checked->flow.half[1].first);
		g_assert(checked->env.held_bytes == 0);
		g_assert(wp_reassembly_wait(&checked->flow) == WP_WAIT_NONE);
	}
	wp_reassembly_clear(&checked->env, &checked->flow);
	g_assert(checked->env.held_bytes == 0);
}

/* --- the segments --- */

#define HEADER 8

typedef struct {
	gint64 now_ns;
	guint64 number;
	guint32 sent[4][2]; /* by flow and side */
} Sender;

static WpSegment
segment_of(Sender *sender, const uint8_t *data, size_t size, guint *out_flow, guint *out_side,
	   size_t *out_taken)
{
	guint what = data[0], flow = what >> 2 & 3, side = what & 1;
	gint32 seq = (gint16)(data[2] | data[3] << 8), ack = (gint16)(data[4] | data[5] << 8);
	guint32 there = (guint32)MIN(data[6], size - HEADER);
	guint32 length = there << (data[1] & 32 ? 16 : 0) << (data[1] & 64 ? 8 : 0);
	WpEndpoint client = { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1 },
			      (guint16)(40000 + flow) };
	WpEndpoint server = { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 2 }, 80 };

	sender->now_ns += data[7] * (what & 128 ? G_GINT64_CONSTANT(1000000000) : 4000000);
	WpSegment segment = {
		.time_ns = sender->now_ns,
		.number = ++sender->number,
		.src = side ? server : client,
		.dst = side ? client : server,
		.payload = data + HEADER,
		.captured = what & 64 ? there / 2 : there,
		.length = length,
		.seq = sender->sent[flow][side] + (guint32)(seq * (what & 16 ? 65536 : 1)),
		.ack = sender->sent[flow][!side] + (guint32)(ack * (what & 32 ? 65536 : 1)),
		.window = data[7],
		.flags = data[1] & 0x1f,
		.is_udp = (what & 2) != 0,
	};
	if (seq >= 0 && !segment.is_udp)
		sender->sent[flow][side] =
			segment.seq + length +
			!!(segment.flags & (WP_TCP_SYN | WP_TCP_FIN)); /* what should come next */
	*out_taken = HEADER + there;
	*out_flow = flow;
	*out_side = side;
	return segment;
}

static void
run_segments(WpFlows *flows, Checked *checked, const uint8_t *data, size_t size)
{
	Sender sender = { .sent = { { 1000, 5000 }, { 0xffffff00u, 0xfffffff0u } } };

	for (size_t at = 0; at + HEADER <= size;) {
		guint flow, side;
		size_t taken;
		WpSegment segment = segment_of(&sender, data + at, size - at, &flow, &side, &taken);
		wp_flows_add(flows, &segment);
		if (flow == 0 && !segment.is_udp)
			check_segment(checked, side, &segment);
		at += taken;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const WpRecordSinkOps no_ops = { 0 };
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpCounters) counters = wp_counters_new();
	WpRecordSink sink = { &no_ops };
	g_autoptr(WpOrder) order = wp_order_new(&sink, counters);
	WpStreamShared shared = { .nodes = nodes, .counters = counters, .order = order };
	g_autoptr(WpLoss) loss = wp_loss_new();
	g_autoptr(WpFlows) flows = wp_flows_new(&shared, loss, 3);
	Checked checked = { .env = { .ops = &ops } };

	run_segments(flows, &checked, data, size);
	check_end(&checked);
	wp_flows_finish(flows);
	g_assert(wp_flows_count(flows) == 0);
	wp_loss_count(loss, 1000, counters);
	wp_order_flush(order, NULL);
	return 0;
}
