/*
 * Packets: the layers of a frame are taken off one after the other (layer.h) until TCP or UDP is left, in
 * however many tunnels; then copies are recognised. The addresses are those of the innermost IP header.
 *
 *   link -> tags -> IP -> (fragments) -> tunnel? -> tags -> IP -> ... -> TCP, UDP -> seen before?
 *
 * What the capture holds of a layer (captured) may be less than what was on the wire (length).
 *
 * TCP: RFC 9293; UDP: RFC 768.
 */
#include "capture/packet.h"

#include <string.h>

#include "capture/checksum.h"
#include "capture/doubles.h"
#include "capture/fragment.h"
#include "capture/layer.h"

/* IP headers in one frame: an overlay in an overlay in a mirror's tunnel is four. */
#define MAX_DEPTH 6

static const WpCounter verdict_counters[WP_LAYER_N_VERDICTS] = {
	[WP_LAYER_NOT_IP] = WP_COUNT_PACKETS_NOT_IP,
	[WP_LAYER_OTHER_IP] = WP_COUNT_PACKETS_OTHER_IP,
	[WP_LAYER_UNKNOWN_LINK] = WP_COUNT_PACKETS_UNKNOWN_LINK,
	[WP_LAYER_MALFORMED] = WP_COUNT_PACKETS_MALFORMED,
	[WP_LAYER_SNAPPED] = WP_COUNT_PACKETS_SNAPPED,
	[WP_LAYER_DOUBLED] = WP_COUNT_PACKETS_DOUBLED,
	[WP_LAYER_DAMAGED] = WP_COUNT_PACKETS_DAMAGED,
	[WP_LAYER_TOO_DEEP] = WP_COUNT_PACKETS_TOO_DEEP,
};

struct WpPackets {
	WpCounters *counters;
	WpDoubles *doubles;
	WpChecksums *checksums;
	WpFragments *fragments;
	WpDoublesPacket asked; /* valid with waiting: may be a copy */
	gboolean *waiting;     /* what is told so, of ... */
	const WpSegment *waiting_segment;
	gboolean is_inner; /* the layer being read points into what was put together of fragments */
	GByteArray *inner; /* a copy of that, while fragments that are in it are put together */
};

WpPackets *
wp_packets_new(WpCounters *counters)
{
	WpPackets *packets = g_new0(WpPackets, 1);
	packets->counters = counters;
	packets->doubles = wp_doubles_new();
	packets->checksums = wp_checksums_new();
	packets->fragments = wp_fragments_new(counters);
	packets->inner = g_byte_array_new();
	return packets;
}

void
wp_packets_free(WpPackets *packets)
{
	if (!packets)
		return;
	wp_doubles_free(packets->doubles);
	wp_checksums_free(packets->checksums);
	wp_fragments_free(packets->fragments);
	g_byte_array_unref(packets->inner);
	g_free(packets);
}

void
wp_packets_expect(WpPackets *packets, const WpPackets *learned)
{
	wp_doubles_expect(packets->doubles, learned->doubles);
	wp_checksums_expect(packets->checksums, learned->checksums);
}

/* --- copies --- */

static guint64
hash_ends(const WpIp *ip)
{
	guint64 hash = wp_doubles_mix(ip->protocol, wp_layer_u64(ip->src + 8));
	hash = wp_doubles_mix(hash, wp_layer_u64(ip->dst + 8));
	if (wp_layer_u64(ip->src) | wp_layer_u64(ip->dst)) {
		hash = wp_doubles_mix(hash, wp_layer_u64(ip->src));
		hash = wp_doubles_mix(hash, wp_layer_u64(ip->dst));
	}
	return hash;
}

/* TRUE where the TCP options, N bytes, begin as most do: two of one byte that say nothing, then timestamps, 12 bytes. */
static inline gboolean
are_usual(const guint8 *options, guint32 n)
{
	static const guint8 usual[4] = { 1, 1, 8, 10 };

	return n >= 4 && memcmp(options, usual, sizeof usual) == 0;
}

/* TRUE where the TCP options, N bytes, hold timestamps (RFC 7323: kind 8). */
static gboolean
has_timestamps(const guint8 *options, guint32 n)
{
	if (are_usual(options, n))
		return TRUE;
	for (guint32 i = 0; i + 1 < n;) {
		if (options[i] == 8)
			return TRUE;
		if (options[i] == 0 || (options[i] > 1 && options[i + 1] < 2))
			return FALSE;
		i += options[i] == 1 ? 1 : options[i + 1];
	}
	return FALSE;
}

/*
 * The header of TCP but its checksum: it is filled in late by many network cards, and routers change it
 * with the options of a SYN, which are left out too. Without an IP id, only data with timestamps is sure
 * to look different when it is sent again.
 */
static void
identify_tcp(const WpLayer *layer, const WpIp *ip, WpDoublesPacket *out)
{
	const guint8 *p = layer->data;
	guint32 header = MIN((guint32)(p[12] >> 4) * 4, layer->captured);
	gboolean is_syn = p[13] & WP_TCP_SYN;

	out->key = wp_doubles_mix(out->key, wp_layer_u64(p));
	out->key = wp_doubles_mix(out->key, wp_layer_u64(p + 8));
	out->key = wp_doubles_mix(out->key, (guint64)layer->length << 16 | wp_layer_be16(p + 18));
	if (header > 20 && !is_syn)
		out->key = wp_doubles_mix_bytes(out->key, p + 20, header - 20);
	out->is_weak = ip->id == 0 && !is_syn &&
		       (layer->length <= header || !has_timestamps(p + 20, header - 20));
}

/* Ports, length and payload of UDP, or all of a fragment. */
static void
identify_bytes(const WpLayer *layer, const WpIp *ip, WpDoublesPacket *out)
{
	gboolean is_udp = !ip->is_fragment && ip->protocol == WP_IP_UDP;

	out->key = wp_doubles_mix(out->key, (guint64)layer->length << 32 | ip->offset);
	if (is_udp) {
		out->key = wp_doubles_mix(out->key, wp_layer_be32(layer->data));
		out->key = wp_doubles_mix_bytes(out->key, layer->data + 8, layer->captured - 8);
	} else {
		out->key = wp_doubles_mix_bytes(out->key, layer->data, layer->captured);
	}
	out->is_weak = ip->id == 0;
}

static inline void
identify(const WpFrame *frame, const WpIp *ip, const WpLayer *layer, WpDoublesPacket *out)
{
	guint64 place = (guint64)frame->interface << 16 | (guint64)ip->hops << 8 | frame->tap;

	out->key = wp_doubles_mix(hash_ends(ip), ip->id);
	out->way = wp_doubles_mix(layer->way, place);
	out->time_ns = frame->time_ns;
	if (ip->protocol == WP_IP_TCP && !ip->is_fragment)
		identify_tcp(layer, ip, out);
	else
		identify_bytes(layer, ip, out);
}

void
wp_packets_settle(WpPackets *packets)
{
	const WpSegment *segment = packets->waiting_segment;

	if (!packets->waiting)
		return;
	if (wp_doubles_check(packets->doubles, &packets->asked)) {
		*packets->waiting = FALSE;
		wp_counters_add(packets->counters, WP_COUNT_PACKETS_DOUBLED, 1);
	} else if (segment->captured < segment->length) {
		wp_counters_add(packets->counters, WP_COUNT_PACKETS_SNAPPED, 1);
	}
	packets->waiting = NULL;
}

static gboolean
is_doubled_fragment(WpPackets *packets, const WpFrame *frame, const WpIp *ip, const WpLayer *layer)
{
	WpDoublesPacket packet;

	wp_packets_settle(packets); /* they are asked in their order */
	identify(frame, ip, layer, &packet);
	return wp_doubles_check(packets->doubles, &packet);
}

/* --- TCP and UDP --- */

static void
set_payload(WpSegment *segment, const WpLayer *layer, guint32 header)
{
	segment->payload = layer->data + MIN(header, layer->captured);
	segment->captured = layer->captured - MIN(header, layer->captured);
	segment->length = layer->length - header;
}

#define OPTION_END  0
#define OPTION_NONE 1
#define OPTION_SACK 5

static gboolean
is_within(guint32 begin, guint32 end, guint32 from, guint32 to)
{
	return (gint32)(begin - from) >= 0 && (gint32)(to - end) >= 0;
}

/*
 * The N blocks of a SACK option at P. The first tells of a double where it lies below the acknowledgement, or inside
 * the second (RFC 2883 section 4).
 */
static void
read_sack(const guint8 *p, guint n, WpSegment *segment)
{
	guint32 begin = wp_layer_be32(p), end = wp_layer_be32(p + 4);
	gboolean is_double = (gint32)(segment->ack - end) >= 0;

	if (!is_double && n > 1)
		is_double = is_within(begin, end, wp_layer_be32(p + 8), wp_layer_be32(p + 12));
	segment->has_hole = !is_double;
	if (!is_double || (gint32)(end - begin) <= 0)
		return;
	segment->twice_begin = begin;
	segment->twice_end = end;
}

/* LENGTH bytes of options at P, perhaps cut. */
static void
read_options(const guint8 *p, guint32 length, WpSegment *segment)
{
	for (guint32 at = are_usual(p, length) ? 12 : 0; at < length && p[at] != OPTION_END;) {
		if (p[at] == OPTION_NONE) {
			at++;
			continue;
		}
		if (length - at < 2 || p[at + 1] < 2 || p[at + 1] > length - at)
			return;
		if (p[at] == OPTION_SACK && p[at + 1] >= 10)
			read_sack(p + at + 2, (p[at + 1] - 2u) / 8, segment);
		at += p[at + 1];
	}
}

/* Options may be missing from a short capture; the first 20 bytes may not. */
static WpLayerVerdict
read_tcp(const WpLayer *layer, WpSegment *segment)
{
	const guint8 *p = layer->data;

	if (layer->captured < 20)
		return wp_layer_too_short(layer, 20);
	guint32 header = (guint32)(p[12] >> 4) * 4;
	if (header < 20 || header > layer->length)
		return WP_LAYER_MALFORMED;
	segment->seq = wp_layer_be32(p + 4);
	segment->ack = wp_layer_be32(p + 8);
	segment->flags = p[13];
	segment->window = wp_layer_be16(p + 14);
	segment->is_udp = FALSE;
	segment->twice_begin = segment->twice_end = 0;
	segment->has_hole = FALSE;
	if (segment->flags & WP_TCP_ACK)
		read_options(p + 20, MIN(header, layer->captured) - 20, segment);
	set_payload(segment, layer, header);
	return WP_LAYER_FINE;
}

static WpLayerVerdict
read_udp(WpLayer *layer, WpSegment *segment)
{
	if (layer->captured < 8)
		return wp_layer_too_short(layer, 8);
	guint32 length = wp_layer_be16(layer->data + 4);
	if (length > 0 && length < 8)
		return WP_LAYER_MALFORMED;
	/* 0: a jumbogram (RFC 2675), or segmentation by the network card. */
	if (length > 0 && length < layer->length) {
		wp_layer_cut(layer, length);
	}
	segment->seq = segment->ack = 0;
	segment->twice_begin = segment->twice_end = 0;
	segment->has_hole = FALSE;
	segment->flags = 0;
	segment->window = 0;
	segment->is_udp = TRUE;
	set_payload(segment, layer, 8);
	return WP_LAYER_FINE;
}

static WpLayerVerdict
read_transport(WpLayer *layer, const WpIp *ip, WpSegment *segment)
{
	WpLayerVerdict verdict =
		ip->protocol == WP_IP_TCP ? read_tcp(layer, segment) : read_udp(layer, segment);
	if (verdict != WP_LAYER_FINE)
		return verdict;
	memcpy(segment->src.address, ip->src, 16);
	memcpy(segment->dst.address, ip->dst, 16);
	segment->src.port = wp_layer_be16(layer->data);
	segment->dst.port = wp_layer_be16(layer->data + 2);
	return WP_LAYER_FINE;
}

/* Puts a fragment away; FINE where LAYER has become the whole datagram, its extensions taken off. */
static WpLayerVerdict
read_fragment(WpPackets *packets, const WpFrame *frame, WpIp *ip, WpLayer *layer)
{
	/* Of one buffer pieces may not be copied into another, or into itself. */
	if (packets->is_inner) {
		g_byte_array_set_size(packets->inner, 0);
		g_byte_array_append(packets->inner, layer->data, layer->captured);
		layer->data = packets->inner->data;
	}
	WpFragment fragment = { .time_ns = frame->time_ns,
				.id = ip->id,
				.protocol = ip->protocol,
				.more = ip->more,
				.offset = ip->offset,
				.length = layer->length,
				.captured = layer->captured,
				.data = layer->data };

	memcpy(fragment.src, ip->src, 16);
	memcpy(fragment.dst, ip->dst, 16);
	if (!wp_fragments_add(packets->fragments, &fragment, &layer->data, &layer->length,
			      &layer->captured))
		return WP_LAYER_NOTHING;
	packets->is_inner = TRUE;
	ip->is_fragment = FALSE;
	ip->offset = 0;
	WpLayerVerdict verdict = wp_ip_read_extensions(layer, ip);
	return ip->is_fragment ? WP_LAYER_MALFORMED : verdict;
}

/* Notes what a copy of a packet that went through this tunnel shares: its ends. */
static void
mix_tunnel(WpLayer *layer, const WpIp *ip)
{
	wp_layer_mix_way(layer, hash_ends(ip));
	wp_layer_mix_way(layer, (guint64)ip->hops << 8 | ip->protocol);
}

/* The header of IP and, where it is a fragment, the datagram that it completes. */
static WpLayerVerdict
read_datagram(WpPackets *packets, const WpFrame *frame, WpLayer *layer, int type, WpIp *ip)
{
	WpLayerVerdict verdict = wp_encapsulation_read_tags(layer, &type);
	if (verdict == WP_LAYER_FINE)
		verdict = wp_ip_read(layer, type, ip);
	if (verdict != WP_LAYER_FINE || !ip->is_fragment)
		return verdict;
	if (is_doubled_fragment(packets, frame, ip, layer))
		return WP_LAYER_DOUBLED;
	return read_fragment(packets, frame, ip, layer);
}

static WpLayerVerdict
check_sums(WpPackets *packets, const WpIp *ip, const WpLayer *layer)
{
	WpChecksumVerdict verdict = wp_checksums_judge(packets->checksums, ip, layer);

	if (verdict == WP_CHECKSUM_DOUBTED)
		wp_counters_add(packets->counters, WP_COUNT_CHECKSUMS_WRONG, 1);
	return verdict == WP_CHECKSUM_DAMAGED ? WP_LAYER_DAMAGED : WP_LAYER_FINE;
}

static WpLayerVerdict
decode(WpPackets *packets, const WpFrame *frame, WpSegment *segment)
{
	WpLayer layer = { frame->data, frame->captured, frame->length, 0 };
	WpIp ip;
	int type = WP_ETHERTYPE_NONE;

	packets->is_inner = FALSE;
	WpLayerVerdict verdict = wp_link_read(frame->link_type, &layer, &type);
	for (guint depth = 1; verdict == WP_LAYER_FINE; depth++) {
		verdict = read_datagram(packets, frame, &layer, type, &ip);
		if (verdict != WP_LAYER_FINE || ip.protocol == WP_IP_TCP ||
		    !wp_encapsulation_open_tunnel(&layer, &ip, &type, &verdict))
			break;
		if (depth == 1)
			wp_counters_add(packets->counters, WP_COUNT_PACKETS_TUNNELED, 1);
		if (depth == MAX_DEPTH)
			return WP_LAYER_TOO_DEEP;
		mix_tunnel(&layer, &ip);
	}
	if (verdict == WP_LAYER_FINE && ip.protocol != WP_IP_TCP && ip.protocol != WP_IP_UDP)
		return WP_LAYER_OTHER_IP;
	if (verdict == WP_LAYER_FINE)
		verdict = read_transport(&layer, &ip, segment);
	if (verdict == WP_LAYER_FINE)
		verdict = check_sums(packets, &ip, &layer);
	if (verdict != WP_LAYER_FINE)
		return verdict;
	wp_packets_settle(packets); /* the one before */
	identify(frame, &ip, &layer, &packets->asked);
	wp_doubles_fetch(packets->doubles, &packets->asked);
	return WP_LAYER_FINE;
}

void
wp_packets_begin(WpPackets *packets, const WpFrame *frame, WpSegment *out_segment,
		 gboolean *out_has_segment)
{
	WpLayerVerdict verdict = decode(packets, frame, out_segment);

	if (verdict > WP_LAYER_NOTHING)
		wp_counters_add(packets->counters, verdict_counters[verdict], 1);
	*out_has_segment = verdict == WP_LAYER_FINE;
	if (verdict != WP_LAYER_FINE)
		return;
	out_segment->time_ns = frame->time_ns;
	out_segment->number = frame->number;
	out_segment->tap = frame->tap;
	packets->waiting = out_has_segment;
	packets->waiting_segment = out_segment;
}

WpPacketResult
wp_packets_decode(WpPackets *packets, const WpFrame *frame, WpSegment *out_segment)
{
	gboolean has_segment;

	wp_packets_begin(packets, frame, out_segment, &has_segment);
	wp_packets_settle(packets);
	return has_segment ? WP_PACKET_SEGMENT : WP_PACKET_NOTHING;
}
