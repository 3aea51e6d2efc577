/*
 * Flows: life cycle, time and limits. Each flow stands in one list by what its silence means, oldest
 * activity first, so that ending idle flows and making room both begin at a list's head:
 *
 *   OPEN    TCP in use                       silent for an hour: forgotten
 *   LOOSE   UDP, and TCP with one FIN        silent for two minutes: over
 *   ENDED   over, or opening without answer  silent for five seconds: removed
 *
 * and, while its reassembly waits, in one of two more lists by deadline. Those heads are looked at for
 * every packet: what a flow has waited for long enough goes on without a further packet of that flow.
 */
#include "capture/flow.h"

#include <string.h>

#include "capture/datagrams.h"
#include "capture/flow-table.h"
#include "capture/flow-watch.h"
#include "capture/reassembly.h"
#include "capture/ring.h"
#include "capture/servers.h"

#define MS  G_GINT64_CONSTANT(1000000)
#define SEC (1000 * MS)

/*
 * How long bytes that were acknowledged may come late. Switches buffer up to some 10 ms before a
 * mirror port, and the clocks of two capture points differ by a few ms; real loss waits it out at no
 * cost but memory.
 */
#define ORDER_PATIENCE (20 * MS)

/*
 * And so many packets must have passed meanwhile: after a quiet time the clock alone says little about
 * the order of packets. But no longer than this.
 */
#define ORDER_PACKETS      64
#define ORDER_PATIENCE_MAX SEC

/*
 * How long to wait for bytes to be sent again: the first three repetitions of Linux come within 1.4 s
 * (RFC 6298 with its minimum of 200 ms); less than WP_ORDER_WINDOW_NS, so nothing is late for it.
 */
#define RESEND_PATIENCE (1800 * MS)

/* Copies of waiting segments in all flows together. */
#define MAX_HELD_BYTES (16 * 1024 * 1024)

/*
 * All flows and their streams together, where the caller does not say how many flows there may be; the
 * most silent go first. Some 30,000 flows in use. The whole program stays under 100 MB with it.
 */
#define MAX_MEMORY  (48 * 1024 * 1024)
#define FLOW_MEMORY 2048 /* a flow and its stream at most, but for bytes kept; for a given number */

/* One segment with numbers far from those of its flow may be broken; so many on end are another flow. */
#define STRANGE_MANY 2

/* A flow that was silent for so long when the capture ended is taken to be over. */
#define IN_USE SEC

/* Positions in the lists are only brought up to date when they are older than this. */
#define ACTIVITY_GRAIN SEC

typedef enum {
	LIST_OPEN,
	LIST_LOOSE,
	LIST_ENDED,
	N_LISTS
} ListName;

/*
 * After `idle_ns` of silence a flow goes. Of more than `many` flows the most silent go already after
 * `crowded_ns`: at a thousand flows a second this is what bounds memory.
 */
static const struct {
	gint64 idle_ns;
	gint64 crowded_ns;
	guint32 many;
} limits[N_LISTS] = {
	[LIST_OPEN] = { 3600 * SEC, 60 * SEC, 32768 },
	[LIST_LOOSE] = { 120 * SEC, 2 * SEC, 16384 },
	[LIST_ENDED] = { 5 * SEC, 0, 16384 },
};

typedef struct {
	WpFlowKey key; /* first: see flow-table.h */
	WpFlowWatch watch;
	WpReassembly tcp; /* of UDP only the counts are used */
	WpStream *stream; /* from the first payload to the end of the flow */
	WpRing list;
	WpRing waiting;
	gint64 listed_ns;   /* activity, to ACTIVITY_GRAIN */
	gint64 deadline_ns; /* of the wait */
	guint64 waits_from; /* number of the segment that made it wait */
	gint64 last_ns;     /* the latest segment */
	guint64 segments;   /* TCP, seen or found missing */
	guint64 lost;       /* TCP segments found missing */
	guint32 number;
	guint32 memory;   /* of the stream, when last looked at */
	guint32 nodes[2]; /* by side; valid with has_nodes */
	guint8 tap;
	guint8 list_name; /* ListName */
	guint8 wait;      /* WpWait */
	guint8 client;    /* side of the client */
	guint8 n_strange; /* segments on end with numbers far from the flow's */
	guint is_oriented : 1;
	guint from_start : 1;
	guint is_answered : 1; /* a SYN+ACK was seen */
	guint has_nodes : 1;
	guint is_over : 1;
	guint was_reset : 1;
	guint is_fed : 1; /* the stream, since its memory was looked at */
} Flow;

struct WpFlows {
	WpReassemblyEnv env;
	const WpStreamShared *shared;
	WpLoss *loss;
	WpFlowTable *table; /* made at the first segment, which seeds it */
	WpServers *servers;
	WpDatagrams *datagrams; /* wait for ORDER_PATIENCE */
	guint n_datagrams;
	WpRing lists[N_LISTS];
	guint32 listed[N_LISTS];
	WpRing waits[WP_WAIT_RESEND + 1]; /* WP_WAIT_NONE: unused */
	guint32 max_flows;
	gsize max_memory;
	gsize memory; /* of all streams */
	guint32 n_numbers;
	gint64 now_ns;
	gint64 sweep_ns;    /* when idle flows are looked for next */
	guint64 n_segments; /* from ORDER_PACKETS on */
};

#define FLOW_OF(link, member) ((Flow *)((guint8 *)(link)-G_STRUCT_OFFSET(Flow, member)))

/* --- from reassembly to the stream --- */

static Flow *
flow_of(WpReassembly *tcp)
{
	return FLOW_OF(tcp, tcp);
}

static void
find_nodes(WpFlows *flows, Flow *flow)
{
	gboolean is_folded = FALSE;
	for (guint side = 0; side < 2; side++) {
		WpEndpoint end = wp_flow_key_endpoint(&flow->key, side);
		WpNodeRole role = side == flow->client ? WP_NODE_CALLER : WP_NODE_CALLED;
		guint32 node = wp_nodes_by_address_seen(flows->shared->nodes, end.address, role);
		is_folded |= wp_nodes_is_others(flows->shared->nodes, node);
		flow->nodes[side] = node;
	}
	wp_counters_add(flows->shared->counters, WP_COUNT_ADDRESSES_FOLDED, is_folded);
	flow->has_nodes = TRUE;
}

/* The stream of FLOW, to be fed. */
static WpStream *
get_stream(WpFlows *flows, Flow *flow)
{
	flow->is_fed = TRUE;
	if (flow->stream)
		return flow->stream;
	WpStreamInfo info = {
		.client = wp_flow_key_endpoint(&flow->key, flow->client),
		.server = wp_flow_key_endpoint(&flow->key, !flow->client),
		.flow = flow->number,
		.tap = flow->tap,
		.is_udp = wp_flow_key_is_udp(&flow->key),
		.is_oriented = flow->is_oriented,
		.from_start = flow->from_start,
		.watch = wp_flow_key_is_udp(&flow->key) ? NULL : &flow->watch,
	};
	if (!flow->has_nodes)
		find_nodes(flows, flow);
	if (flow->is_oriented)
		wp_servers_add(flows->servers, &info.server);
	flow->stream = wp_stream_new(flows->shared, &info);
	return flow->stream;
}

static WpDirection
direction_of(const Flow *flow, guint side)
{
	return side == flow->client ? WP_FROM_CLIENT : WP_FROM_SERVER;
}

static void
on_bytes(WpReassemblyEnv *env, WpReassembly *tcp, guint side, const guint8 *data, gsize length,
	 const WpStamp *stamp)
{
	Flow *flow = flow_of(tcp);
	wp_stream_bytes(get_stream((WpFlows *)env, flow), direction_of(flow, side), data, length,
			stamp);
}

static void
on_hole(WpReassemblyEnv *env, WpReassembly *tcp, guint side, guint64 length, const WpStamp *stamp,
	gint64 by_ns, gboolean is_late)
{
	Flow *flow = flow_of(tcp);
	wp_stream_hole(get_stream((WpFlows *)env, flow), direction_of(flow, side), length, stamp,
		       by_ns, is_late);
}

static void
on_end(WpReassemblyEnv *env, WpReassembly *tcp, guint side, const WpStamp *stamp)
{
	Flow *flow = flow_of(tcp);
	flow->is_fed = TRUE;
	if (flow->stream)
		wp_stream_end(flow->stream, direction_of(flow, side), stamp);
}

static void
on_reset(WpReassemblyEnv *env, WpReassembly *tcp, const WpStamp *stamp)
{
	Flow *flow = flow_of(tcp);
	/* Of a side that was not captured nobody knows what it had answered. */
	gboolean is_seen = tcp->half[0].is_seen && tcp->half[1].is_seen;
	flow->was_reset = TRUE;
	flow->is_fed = TRUE;
	if (flow->stream)
		wp_stream_finish(flow->stream, is_seen ? WP_FINISH_RESET : WP_FINISH_TIMEOUT,
				 stamp);
}

static const WpReassemblyOps reassembly_ops = { on_bytes, on_hole, on_end, on_reset };

/* --- counting --- */

static void
count(WpFlows *flows, const Flow *flow, guint side, WpCounter counter, guint64 n)
{
	if (n && flow->has_nodes)
		wp_counters_add_pair(flows->shared->counters, counter, flow->nodes[side],
				     flow->nodes[!side], n);
	else if (n)
		wp_counters_add(flows->shared->counters, counter, n);
}

/* Passes on what was counted in the two directions, and begins anew. */
static void
flush_counts(WpFlows *flows, Flow *flow)
{
	gboolean is_udp = wp_flow_key_is_udp(&flow->key);
	for (guint side = 0; side < 2; side++) {
		WpHalfCounts *n = &flow->tcp.half[side].counts;
		count(flows, flow, side, is_udp ? WP_COUNT_DATAGRAMS : WP_COUNT_SEGMENTS,
		      n->segments);
		count(flows, flow, side, WP_COUNT_SEGMENTS_RETRANSMITTED, n->retransmitted);
		count(flows, flow, side, WP_COUNT_SEGMENTS_REORDERED, n->reordered);
		count(flows, flow, side, WP_COUNT_SEGMENTS_CONFLICTING, n->conflicting);
		count(flows, flow, side, WP_COUNT_SEGMENTS_STRANGE, n->strange);
		count(flows, flow, side, WP_COUNT_GAPS, n->gaps);
		count(flows, flow, side, WP_COUNT_GAP_BYTES, n->gap_bytes);
		count(flows, flow, side, WP_COUNT_LOST_SEGMENTS, n->lost_segments);
		if (flow->has_nodes) {
			guint32 repeated = MIN(n->retransmitted, n->segments);
			WpLossSample sample = {
				.packets = n->packets,
				.segments = is_udp ? 0 : n->segments - repeated,
				.lost = n->lost_segments,
			};
			wp_loss_add(flows->loss, flow->nodes[side], flow->nodes[!side], &sample);
			flow->segments += sample.segments + sample.lost;
			flow->lost += sample.lost;
		}
		*n = (WpHalfCounts){ 0 };
	}
}

/* For the loss estimate; FLOW's counts are flushed. Makes no nodes of those who never said a thing. */
static void
judge_loss(WpFlows *flows, const Flow *flow)
{
	WpEndpoint client = wp_flow_key_endpoint(&flow->key, flow->client);
	WpEndpoint server = wp_flow_key_endpoint(&flow->key, !flow->client);
	const WpReassembly *tcp = &flow->tcp;
	WpLossFlow sample = {
		.client = wp_nodes_find_address(flows->shared->nodes, client.address),
		.server = wp_nodes_find_address(flows->shared->nodes, server.address),
		.port = server.port,
		.segments = flow->segments,
		.lost = flow->lost,
		.n_opening = tcp->half[0].has_syn + tcp->half[1].has_syn,
		.has_end = flow->was_reset || tcp->half[0].has_fin || tcp->half[1].has_fin,
	};
	gboolean is_real = flow->is_answered || flow->has_nodes || !flow->from_start;
	/* One that is still in use has no end either, but lacks nothing. */
	gboolean is_gone = sample.has_end || flows->now_ns - flow->last_ns > IN_USE;
	if (is_real && is_gone && sample.client != WP_NO_NODE && sample.server != WP_NO_NODE)
		wp_loss_add_flow(flows->loss, &sample);
}

/* Of both ends, where the client is known: whoever is scanned makes no nodes. */
static void
count_refused(WpFlows *flows, const Flow *flow)
{
	WpNodes *nodes = flows->shared->nodes;
	WpEndpoint client = wp_flow_key_endpoint(&flow->key, flow->client);
	WpEndpoint server = wp_flow_key_endpoint(&flow->key, !flow->client);
	guint32 caller = wp_nodes_find_address(nodes, client.address);
	guint32 called = caller == WP_NO_NODE
				 ? WP_NO_NODE
				 : wp_nodes_by_address_seen(nodes, server.address, WP_NODE_CALLED);

	if (called != WP_NO_NODE)
		wp_counters_add_pair(flows->shared->counters, WP_COUNT_FLOWS_REFUSED, caller,
				     called, 1);
	else
		wp_counters_add(flows->shared->counters, WP_COUNT_FLOWS_REFUSED, 1);
}

static void
count_flow(WpFlows *flows, Flow *flow)
{
	const WpReassembly *tcp = &flow->tcp;
	guint client = flow->client;
	if (wp_flow_key_is_udp(&flow->key)) {
		count(flows, flow, client, WP_COUNT_FLOWS_UDP, 1);
		return;
	}
	count(flows, flow, client, WP_COUNT_FLOWS_TCP, 1);
	count(flows, flow, client, WP_COUNT_FLOWS_MIDSTREAM, !flow->from_start);
	gboolean is_refused = flow->was_reset && !flow->is_answered && !flow->has_nodes;
	if (is_refused)
		count_refused(flows, flow);
	count(flows, flow, client, WP_COUNT_FLOWS_RESET, flow->was_reset && !is_refused);
	count(flows, flow, client, WP_COUNT_FLOWS_ONE_WAY,
	      flow->has_nodes && !(tcp->half[0].is_seen && tcp->half[1].is_seen));
}

/* --- lists --- */

static void
set_list(WpFlows *flows, Flow *flow, ListName name)
{
	wp_ring_remove(&flow->list);
	flows->listed[flow->list_name]--;
	flow->list_name = name;
	flows->listed[name]++;
	wp_ring_append(&flows->lists[name], &flow->list);
	flow->listed_ns = flows->now_ns;
}

/* FLOW's stream has been fed. */
static void
note_memory(WpFlows *flows, Flow *flow)
{
	gsize now = flow->stream ? wp_stream_memory(flow->stream) : 0;
	flow->is_fed = FALSE;
	flows->memory += now - flow->memory;
	flow->memory = (guint32)now;
}

static void
touch(WpFlows *flows, Flow *flow)
{
	if (flows->now_ns - flow->listed_ns >= ACTIVITY_GRAIN)
		set_list(flows, flow, flow->list_name);
}

static void
end_wait(Flow *flow)
{
	if (flow->wait != WP_WAIT_NONE)
		wp_ring_remove(&flow->waiting);
	flow->wait = WP_WAIT_NONE;
}

/* After reassembly has moved: what does the flow wait for now, and since when. */
static void
update_wait(WpFlows *flows, Flow *flow)
{
	WpWait wait = wp_reassembly_wait(&flow->tcp);
	if (wait == flow->wait && (!wait || !wp_reassembly_caught_up(&flow->tcp)))
		return;
	end_wait(flow);
	flow->wait = (guint8)wait;
	if (wait == WP_WAIT_NONE)
		return;
	wp_reassembly_mark(&flow->tcp);
	flow->deadline_ns =
		flows->now_ns + (wait == WP_WAIT_ORDER ? ORDER_PATIENCE : RESEND_PATIENCE);
	flow->waits_from = flows->n_segments;
	wp_ring_append(&flows->waits[wait], &flow->waiting);
}

/* --- ending --- */

/* FLOW is over: its stream goes, FLOW stays known. */
static void
end_flow(WpFlows *flows, Flow *flow, WpFinish how)
{
	if (flow->is_over)
		return;
	if (!wp_flow_key_is_udp(&flow->key)) {
		wp_reassembly_flush(&flows->env, &flow->tcp);
		wp_reassembly_clear(&flows->env, &flow->tcp);
	}
	end_wait(flow);
	if (flow->stream && !flow->was_reset)
		wp_stream_finish(flow->stream, how, NULL);
	g_clear_pointer(&flow->stream, wp_stream_free);
	note_memory(flows, flow);
	count_flow(flows, flow);
	flush_counts(flows, flow);
	if (!wp_flow_key_is_udp(&flow->key))
		judge_loss(flows, flow);
	flow->is_over = TRUE;
}

static void
remove_flow(WpFlows *flows, Flow *flow, WpFinish how)
{
	end_flow(flows, flow, how);
	flush_counts(flows, flow);
	wp_ring_remove(&flow->list);
	flows->listed[flow->list_name]--;
	wp_flow_table_remove(flows->table, flow);
}

static void
evict(WpFlows *flows, Flow *flow)
{
	if (!flow->is_over && flow->stream && !wp_stream_is_idle(flow->stream))
		count(flows, flow, flow->client, WP_COUNT_FLOWS_EVICTED, 1);
	remove_flow(flows, flow, WP_FINISH_END);
}

/* The flow that has been silent for longest among those of least use. */
static Flow *
find_victim(WpFlows *flows)
{
	static const ListName order[] = { LIST_ENDED, LIST_LOOSE, LIST_OPEN };
	for (gsize i = 0; i < G_N_ELEMENTS(order); i++) {
		WpRing *head = &flows->lists[order[i]];
		if (head->next != head)
			return FLOW_OF(head->next, list);
	}
	return NULL;
}

/* Removes flows that have been silent for too long. */
static void
sweep(WpFlows *flows)
{
	for (int i = 0; i < N_LISTS; i++) {
		WpRing *head = &flows->lists[i];
		while (head->next != head) {
			Flow *flow = FLOW_OF(head->next, list);
			gint64 idle_ns = flows->now_ns - flow->listed_ns;
			if (idle_ns >= limits[i].idle_ns)
				remove_flow(flows, flow, WP_FINISH_TIMEOUT);
			else if (flows->listed[i] > limits[i].many &&
				 idle_ns >= limits[i].crowded_ns)
				evict(flows, flow);
			else
				break;
		}
	}
}

/* --- waiting --- */

static void
review_flow(WpFlows *flows, Flow *flow)
{
	if (wp_reassembly_is_over(&flow->tcp)) {
		end_flow(flows, flow, WP_FINISH_FIN);
		set_list(flows, flow, LIST_ENDED);
		return;
	}
	update_wait(flows, flow);
	if (flow->is_fed) /* most acknowledgements bring nothing */
		note_memory(flows, flow);
	gboolean has_end = flow->tcp.half[0].is_ended || flow->tcp.half[1].is_ended;
	if (has_end && flow->list_name == LIST_OPEN)
		set_list(flows, flow, LIST_LOOSE);
}

static gboolean
is_due(const WpFlows *flows, const Flow *flow)
{
	gint64 over_ns = flows->now_ns - flow->deadline_ns;
	return over_ns >= ORDER_PATIENCE_MAX ||
	       (over_ns >= 0 && flows->n_segments >= flow->waits_from + ORDER_PACKETS);
}

/* Goes on with the flows whose wait is over. */
static void
expire_waits(WpFlows *flows)
{
	for (guint wait = WP_WAIT_ORDER; wait <= WP_WAIT_RESEND; wait++) {
		WpRing *head = &flows->waits[wait];
		while (head->next != head) {
			Flow *flow = FLOW_OF(head->next, waiting);
			if (!is_due(flows, flow))
				break;
			end_wait(flow);
			wp_reassembly_expire(&flows->env, &flow->tcp, wait);
			review_flow(flows, flow);
		}
	}
}

static gboolean
is_too_much(const WpFlows *flows)
{
	gsize n = wp_flow_table_count(flows->table);
	return flows->memory + n * sizeof(Flow) > flows->max_memory;
}

/* Too much waits: those that have waited for longest go on. Too much memory: the most silent go. */
static void
relieve(WpFlows *flows)
{
	while (is_too_much(flows))
		evict(flows, find_victim(flows));
	while (flows->env.held_bytes > MAX_HELD_BYTES) {
		WpRing *order = &flows->waits[WP_WAIT_ORDER],
		       *resend = &flows->waits[WP_WAIT_RESEND];
		Flow *flow = FLOW_OF(order->next != order ? order->next : resend->next, waiting);
		end_wait(flow);
		wp_reassembly_flush(&flows->env, &flow->tcp);
		review_flow(flows, flow);
	}
}

/* --- beginning --- */

static Flow *
begin_flow(WpFlows *flows, const WpFlowKey *key, const WpSegment *segment)
{
	if (wp_flow_table_count(flows->table) >= flows->max_flows)
		evict(flows, find_victim(flows));
	if (flows->listed[LIST_ENDED] > limits[LIST_ENDED].many)
		evict(flows, FLOW_OF(flows->lists[LIST_ENDED].next, list));
	Flow *flow = wp_flow_table_add(flows->table, key);
	flow->number = ++flows->n_numbers;
	flow->tap = segment->tap;
	flow->listed_ns = flows->now_ns;
	flow->list_name = segment->is_udp ? LIST_LOOSE : LIST_ENDED;
	wp_ring_append(&flows->lists[flow->list_name], &flow->list);
	flows->listed[flow->list_name]++;
	return flow;
}

/* Without a SYN: who is the client. */
static void
guess_client(WpFlows *flows, Flow *flow, guint side, const WpSegment *segment)
{
	gboolean to_server =
		wp_servers_guess(flows->servers, &segment->src, &segment->dst, segment->is_udp);
	flow->client = (guint8)(to_server ? side : !side);
}

static void
take_syn(Flow *flow, guint side, const WpSegment *segment)
{
	gboolean is_answer = (segment->flags & WP_TCP_ACK) != 0;
	flow->is_answered |= is_answer;
	flow->from_start = TRUE;
	if (flow->stream)
		return;
	flow->is_oriented = TRUE;
	flow->client = (guint8)(is_answer ? !side : side);
}

/* TRUE where SEGMENT acknowledges what FLOW's other side cannot have sent. */
static gboolean
is_strange(const Flow *flow, guint side, const WpSegment *segment)
{
	const WpHalf *other = &flow->tcp.half[!side];
	if (!(segment->flags & WP_TCP_ACK) || segment->flags & WP_TCP_RST || !other->is_known ||
	    flow->tcp.is_settling || (other->has_rival && other->rival == segment->ack))
		return FALSE;
	gint32 distance = (gint32)(segment->ack - (guint32)MAX(other->next, other->acked));
	return distance > WP_REASSEMBLY_FAR || distance < -WP_REASSEMBLY_FAR;
}

/*
 * TRUE where SEGMENT is not one of FLOW, but broken or of another connection between the same ports,
 * whose SYN was not captured.
 */
static gboolean
is_foreign(WpFlows *flows, Flow *flow, guint side, const WpSegment *segment)
{
	if (!is_strange(flow, side, segment)) {
		flow->n_strange = 0;
		return FALSE;
	}
	flow->n_strange++;
	count(flows, flow, side, WP_COUNT_SEGMENTS_STRANGE, 1);
	return TRUE;
}

/* The flow of a TCP segment; NULL where the segment belongs to none and makes none. */
static Flow *
find_tcp_flow(WpFlows *flows, const WpFlowKey *key, guint side, const WpSegment *segment)
{
	Flow *flow = wp_flow_table_find(flows->table, key);
	gboolean is_syn = (segment->flags & WP_TCP_SYN) != 0;

	if (flow && is_syn && wp_reassembly_is_other(&flow->tcp, side, segment) &&
	    !wp_reassembly_is_rival(&flow->tcp, side, segment)) {
		remove_flow(flows, flow, WP_FINISH_TIMEOUT);
		flow = NULL;
	}
	if (flow && is_foreign(flows, flow, side, segment)) {
		if (flow->n_strange < STRANGE_MANY)
			return NULL;
		remove_flow(flows, flow, WP_FINISH_TIMEOUT);
		flow = NULL;
	}
	if (flow)
		return flow;
	gboolean begins = segment->length > 0 || segment->flags & (WP_TCP_SYN | WP_TCP_FIN);
	if (!begins || segment->flags & WP_TCP_RST)
		return NULL;
	flow = begin_flow(flows, key, segment);
	if (!is_syn)
		guess_client(flows, flow, side, segment);
	return flow;
}

static void
count_packet(WpFlows *flows, Flow *flow, guint side)
{
	WpHalfCounts *counts = &flow->tcp.half[side].counts;
	counts->packets++;
	if (counts->packets >= 1u << 30)
		flush_counts(flows, flow); /* long before a counter overflows */
}

static void
add_tcp(WpFlows *flows, const WpSegment *segment)
{
	WpFlowKey key;
	guint side = wp_flow_key(segment, &key);
	Flow *flow = find_tcp_flow(flows, &key, side, segment);
	if (!flow)
		return;
	count_packet(flows, flow, side);
	if (flow->is_over)
		return;
	if (segment->flags & WP_TCP_SYN)
		take_syn(flow, side, segment);
	flow->last_ns = flows->now_ns;
	wp_flow_watch_add(&flow->watch, direction_of(flow, side), segment);
	wp_reassembly_add(&flows->env, &flow->tcp, side, segment);
	if (flow->list_name == LIST_ENDED && (flow->is_answered || segment->length))
		set_list(flows, flow, LIST_OPEN);
	review_flow(flows, flow);
	touch(flows, flow);
}

static void
add_udp(WpFlows *flows, const WpSegment *segment)
{
	flows->n_datagrams--;
	WpFlowKey key;
	guint side = wp_flow_key(segment, &key);
	Flow *flow = wp_flow_table_find(flows->table, &key);
	if (!flow) {
		flow = begin_flow(flows, &key, segment);
		flow->from_start = TRUE;
		guess_client(flows, flow, side, segment);
	}
	WpStamp stamp = { .time_ns = segment->time_ns,
			  .packet = segment->number,
			  .offset = WP_NO_OFFSET,
			  .peer = WP_NO_OFFSET,
			  .seq = segment->seq };
	flow->tcp.half[side].counts.segments++;
	count_packet(flows, flow, side);
	wp_stream_datagram(get_stream(flows, flow), direction_of(flow, side), segment->payload,
			   segment->captured, segment->length, &stamp);
	note_memory(flows, flow);
	touch(flows, flow);
}

/* Datagrams that have waited long enough, in order of time. */
static void
add_datagrams(WpFlows *flows)
{
	const WpSegment *segment;
	if (flows->n_datagrams == 0)
		return;
	while ((segment = wp_datagrams_take(flows->datagrams, flows->now_ns - ORDER_PATIENCE,
					    flows->n_segments - ORDER_PACKETS)))
		add_udp(flows, segment);
	while ((segment = wp_datagrams_take(flows->datagrams, flows->now_ns - ORDER_PATIENCE_MAX,
					    G_MAXUINT64)))
		add_udp(flows, segment);
}

/* --- public --- */

WpFlows *
wp_flows_new(const WpStreamShared *shared, WpLoss *loss, guint32 max_flows)
{
	WpFlows *flows = g_new0(WpFlows, 1);
	flows->env.ops = &reassembly_ops;
	flows->shared = shared;
	flows->n_segments = ORDER_PACKETS;
	flows->loss = loss;
	flows->servers = wp_servers_new();
	flows->datagrams = wp_datagrams_new();
	flows->max_flows = max_flows ? max_flows : WP_FLOWS_MAX_DEFAULT;
	flows->max_memory = MAX(MAX_MEMORY, (gsize)max_flows * FLOW_MEMORY);
	flows->now_ns = flows->sweep_ns = G_MININT64 / 2; /* may be subtracted from */
	for (int i = 0; i < N_LISTS; i++)
		wp_ring_init(&flows->lists[i]);
	for (int i = 0; i <= WP_WAIT_RESEND; i++)
		wp_ring_init(&flows->waits[i]);
	return flows;
}

static void
free_flow(gpointer object, gpointer data)
{
	WpFlows *flows = data;
	Flow *flow = object;
	wp_reassembly_clear(&flows->env, &flow->tcp);
	wp_stream_free(flow->stream);
}

void
wp_flows_free(WpFlows *flows)
{
	if (!flows)
		return;
	if (flows->table)
		wp_flow_table_foreach(flows->table, free_flow, flows);
	wp_flow_table_free(flows->table);
	wp_servers_free(flows->servers);
	wp_datagrams_free(flows->datagrams);
	g_free(flows);
}

void
wp_flows_add(WpFlows *flows, const WpSegment *segment)
{
	if (!flows->table)
		flows->table = wp_flow_table_new(sizeof(Flow), wp_flow_seed(segment));
	flows->n_segments++;
	flows->now_ns = MAX(flows->now_ns, segment->time_ns);
	add_datagrams(flows); /* before their flows go: they came before the silence */
	if (flows->now_ns >= flows->sweep_ns) {
		sweep(flows);
		flows->sweep_ns = flows->now_ns + ACTIVITY_GRAIN / 4;
	}
	expire_waits(flows);
	flows->n_datagrams += segment->is_udp;
	if (segment->is_udp)
		wp_datagrams_add(flows->datagrams, segment, flows->n_segments);
	else
		add_tcp(flows, segment);
	relieve(flows);
}

static void
collect_flow(gpointer object, gpointer data)
{
	g_ptr_array_add(data, object);
}

static int
compare_numbers(gconstpointer a, gconstpointer b)
{
	const Flow *x = *(Flow *const *)a, *y = *(Flow *const *)b;
	return x->number < y->number ? -1 : x->number > y->number;
}

void
wp_flows_finish(WpFlows *flows)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	if (!flows->table)
		return;
	const WpSegment *datagram;
	while ((datagram = wp_datagrams_take(flows->datagrams, G_MAXINT64, G_MAXUINT64)))
		add_udp(flows, datagram);
	wp_flow_table_foreach(flows->table, collect_flow, all);
	g_ptr_array_sort(all, compare_numbers);
	for (guint i = 0; i < all->len; i++)
		remove_flow(flows, g_ptr_array_index(all, i), WP_FINISH_END);
}

guint32
wp_flows_count(const WpFlows *flows)
{
	return flows->table ? wp_flow_table_count(flows->table) : 0;
}
