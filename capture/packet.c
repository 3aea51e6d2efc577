/*
 * Packets: one function a layer, each of which takes its header off what is left of the frame.
 *
 *   | link header | tags | IP header | extensions | TCP or UDP header | payload | padding, FCS |
 *   ^ frame       ^ Layer.data moves to the right        Layer.length ends here ^
 *
 * What the capture holds of a layer (captured) may be less than what was on the wire (length). The
 * length of an IP header is believed, as it cuts padding off; where it is 0 (segmentation by the network
 * card) or IPv6 leaves it out, the frame's is. Checksums are not looked at: at the sender they are often
 * filled in after the capture.
 *
 * Ethernet: IEEE 802.3, 802.1Q, 802.1ad; cooked: LINKTYPE_LINUX_SLL, _SLL2 (tcpdump.org/linktypes); MPLS:
 * RFC 3032; PPPoE: RFC 2516; IPv4: RFC 791; IPv6: RFC 8200; TCP: RFC 9293; UDP: RFC 768.
 */
#include "capture/packet.h"

#include <string.h>

#include "capture/doubles.h"
#include "capture/fragment.h"

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_QINQ_OLD = 0x9100,
	ETHERTYPE_QINQ = 0x88a8,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_MPLS = 0x8847,
	ETHERTYPE_PPPOE = 0x8864,
	ETHERTYPE_LENGTH_MAX = 0x05dc, /* up to this it is the length of an 802.3 frame */
	ETHERTYPE_ANY_IP = -1          /* the version tells */
};

enum {
	PROTOCOL_HOP_OPTIONS = 0,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	PROTOCOL_ROUTING = 43,
	PROTOCOL_FRAGMENT = 44,
	PROTOCOL_AUTHENTICATION = 51,
	PROTOCOL_DESTINATION = 60,
	PROTOCOL_MOBILITY = 135,
	PROTOCOL_HIP = 139,
	PROTOCOL_SHIM6 = 140
};

#define MAX_TAGS       8  /* VLAN tags, MPLS labels: more is nobody's network */
#define MAX_EXTENSIONS 16 /* of an IPv6 header */

/* What becomes of a frame; all but the first two have a counter. */
typedef enum {
	FINE,
	NOTHING, /* a fragment, counted where it is kept */
	NOT_IP,
	OTHER_IP,
	UNKNOWN_LINK,
	MALFORMED,
	SNAPPED, /* so short that headers are missing */
	DOUBLED
} Verdict;

static const WpCounter verdict_counters[] = {
	[NOT_IP] = WP_COUNT_PACKETS_NOT_IP,
	[OTHER_IP] = WP_COUNT_PACKETS_OTHER_IP,
	[UNKNOWN_LINK] = WP_COUNT_PACKETS_UNKNOWN_LINK,
	[MALFORMED] = WP_COUNT_PACKETS_MALFORMED,
	[SNAPPED] = WP_COUNT_PACKETS_SNAPPED,
	[DOUBLED] = WP_COUNT_PACKETS_DOUBLED,
};

/* What is left of a frame or a datagram. */
typedef struct {
	const guint8 *data;
	guint32 captured;
	guint32 length; /* on the wire */
} Layer;

/* What the IP header says. */
typedef struct {
	guint8 src[16];
	guint8 dst[16];
	guint8 protocol; /* of the payload */
	guint8 hops;     /* TTL, hop limit: not part of a packet's identity */
	guint32 id;      /* 0 = none */
	gboolean is_fragment;
	gboolean more;
	guint32 offset;
} Ip;

struct WpPackets {
	WpCounters *counters;
	WpDoubles *doubles;
	WpFragments *fragments;
};

WpPackets *
wp_packets_new(WpCounters *counters)
{
	WpPackets *packets = g_new0(WpPackets, 1);
	packets->counters = counters;
	packets->doubles = wp_doubles_new();
	packets->fragments = wp_fragments_new(counters);
	return packets;
}

void
wp_packets_free(WpPackets *packets)
{
	if (!packets)
		return;
	wp_doubles_free(packets->doubles);
	wp_fragments_free(packets->fragments);
	g_free(packets);
}

/* Numbers at a place that has been checked to be there. */
static inline guint16
be16(const guint8 *p)
{
	return (guint16)(p[0] << 8 | p[1]);
}

static inline guint32
be32(const guint8 *p)
{
	return (guint32)p[0] << 24 | (guint32)p[1] << 16 | (guint32)p[2] << 8 | p[3];
}

static inline guint64
load_u64(const guint8 *p)
{
	guint64 word;
	memcpy(&word, p, sizeof word);
	return GUINT64_FROM_LE(word);
}

/* Why LAYER, which should have N bytes, has not: the capture is short, or the packet is wrong. */
static Verdict
too_short(const Layer *layer, guint32 n)
{
	return layer->length >= n ? SNAPPED : MALFORMED;
}

/* Takes N captured bytes off. */
static inline void
take(Layer *layer, guint32 n)
{
	layer->data += n;
	layer->captured -= n;
	layer->length -= MIN(n, layer->length);
}

/* --- link layer: each sets the type of what follows --- */

static Verdict
read_ethernet(Layer *layer, int *out_type)
{
	if (layer->captured < 14)
		return too_short(layer, 14);
	*out_type = be16(layer->data + 12);
	take(layer, 14);
	return FINE;
}

static Verdict
read_sll(Layer *layer, int *out_type)
{
	if (layer->captured < 16)
		return too_short(layer, 16);
	*out_type = be16(layer->data + 14);
	take(layer, 16);
	return FINE;
}

static Verdict
read_sll2(Layer *layer, int *out_type)
{
	if (layer->captured < 20)
		return too_short(layer, 20);
	*out_type = be16(layer->data);
	take(layer, 20);
	return FINE;
}

static Verdict
read_raw(Layer *layer, int *out_type)
{
	*out_type = ETHERTYPE_ANY_IP;
	return FINE;
}

/*
 * Loopback: an address family as a number of the capturing machine, in its byte order; IPv6 is 10, 24,
 * 28 or 30 after the system.
 */
static Verdict
read_loopback(Layer *layer, int *out_type)
{
	if (layer->captured < 4)
		return too_short(layer, 4);
	guint32 family = be32(layer->data);
	if (family > 0xffff)
		family = GUINT32_SWAP_LE_BE(family);
	gboolean is_ip =
		family == 2 || family == 10 || family == 24 || family == 28 || family == 30;
	*out_type = is_ip ? ETHERTYPE_ANY_IP : 0;
	take(layer, 4);
	return FINE;
}

/* Numbers of tcpdump.org/linktypes; 12 and 14 are raw IP in files of some systems. */
static const struct {
	guint32 link_type;
	Verdict (*read)(Layer *layer, int *out_type);
} links[] = {
	{ 1, read_ethernet }, { 113, read_sll },      { 276, read_sll2 }, { 101, read_raw },
	{ 12, read_raw },     { 14, read_raw },       { 228, read_raw },  { 229, read_raw },
	{ 0, read_loopback }, { 108, read_loopback },
};

static Verdict
read_link(const WpFrame *frame, Layer *layer, int *out_type)
{
	for (gsize i = 0; i < G_N_ELEMENTS(links); i++)
		if (links[i].link_type == frame->link_type)
			return links[i].read(layer, out_type);
	return UNKNOWN_LINK;
}

/* Labels up to the one with the bottom-of-stack bit; then an IP packet, we hope. */
static Verdict
read_mpls(Layer *layer, int *out_type)
{
	for (guint i = 0; i < MAX_TAGS; i++) {
		if (layer->captured < 4)
			return too_short(layer, 4);
		gboolean is_last = layer->data[2] & 1;
		take(layer, 4);
		if (is_last) {
			*out_type = ETHERTYPE_ANY_IP;
			return FINE;
		}
	}
	return MALFORMED;
}

/* Six bytes of PPPoE, two of PPP. */
static Verdict
read_pppoe(Layer *layer, int *out_type)
{
	if (layer->captured < 8)
		return too_short(layer, 8);
	guint16 protocol = be16(layer->data + 6);
	*out_type = protocol == 0x0021 || protocol == 0x0057 ? ETHERTYPE_ANY_IP : 0;
	take(layer, 8);
	return FINE;
}

/* 802.3 with a SNAP header, which holds a type after all: aa aa 03, 00 00 00. */
static Verdict
read_snap(Layer *layer, int *out_type)
{
	static const guint8 snap[6] = { 0xaa, 0xaa, 3, 0, 0, 0 };

	*out_type = 0;
	if (layer->captured < 8 || memcmp(layer->data, snap, sizeof snap) != 0)
		return FINE;
	*out_type = be16(layer->data + 6);
	take(layer, 8);
	return FINE;
}

/* Takes all off that stands between the link header and IP. */
static Verdict
read_tags(Layer *layer, int *type)
{
	for (guint i = 0; i < MAX_TAGS; i++) {
		Verdict verdict = FINE;
		switch (*type) {
		case ETHERTYPE_VLAN:
		case ETHERTYPE_QINQ:
		case ETHERTYPE_QINQ_OLD:
			if (layer->captured < 4)
				return too_short(layer, 4);
			*type = be16(layer->data + 2);
			take(layer, 4);
			break;
		case ETHERTYPE_MPLS:
			verdict = read_mpls(layer, type);
			break;
		case ETHERTYPE_PPPOE:
			verdict = read_pppoe(layer, type);
			break;
		default:
			if (*type < 0 || *type > ETHERTYPE_LENGTH_MAX || *type == 0)
				return FINE;
			verdict = read_snap(layer, type);
		}
		if (verdict != FINE)
			return verdict;
	}
	return MALFORMED;
}

/* --- IP --- */

static void
map_ipv4(guint8 out[16], const guint8 *address)
{
	static const guint8 prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	memcpy(out, prefix, sizeof prefix);
	memcpy(out + 12, address, 4);
}

/* LAYER becomes the N bytes that follow HEADER bytes. */
static void
take_ip_header(Layer *layer, guint32 header, guint32 n)
{
	take(layer, header);
	layer->length = n;
	layer->captured = MIN(layer->captured, n);
}

static Verdict
read_ipv4(Layer *layer, Ip *out_ip)
{
	const guint8 *p = layer->data;

	if (layer->captured < 20)
		return too_short(layer, 20);
	guint32 header = (guint32)(p[0] & 15) * 4, total = be16(p + 2);
	guint16 fragment = be16(p + 6);
	if (header < 20 || (total > 0 && total < header))
		return MALFORMED;
	if (layer->captured < header)
		return too_short(layer, header);
	map_ipv4(out_ip->src, p + 12);
	map_ipv4(out_ip->dst, p + 16);
	out_ip->id = be16(p + 4);
	out_ip->hops = p[8];
	out_ip->protocol = p[9];
	out_ip->more = (fragment & 0x2000) != 0;
	out_ip->offset = (guint32)(fragment & 0x1fff) * 8;
	out_ip->is_fragment = out_ip->more || out_ip->offset > 0;
	if (total == 0)
		total = MAX(layer->length, header);
	take_ip_header(layer, header, total - header);
	return FINE;
}

/* The fragment header; an atomic fragment (RFC 6946) is none. */
static void
read_ipv6_fragment(const guint8 *p, Ip *out_ip)
{
	guint16 field = be16(p + 2);
	out_ip->offset = field & 0xfff8u;
	out_ip->more = field & 1;
	out_ip->is_fragment = out_ip->more || out_ip->offset > 0;
	out_ip->id = be32(p + 4);
}

/* Bytes of the extension header NEXT at LAYER (8 are there); 0: it is no extension. */
static guint32
extension_size(guint8 next, const guint8 *p)
{
	switch (next) {
	case PROTOCOL_HOP_OPTIONS:
	case PROTOCOL_ROUTING:
	case PROTOCOL_DESTINATION:
	case PROTOCOL_MOBILITY:
	case PROTOCOL_HIP:
	case PROTOCOL_SHIM6:
		return ((guint32)p[1] + 1) * 8;
	case PROTOCOL_FRAGMENT:
		return 8;
	case PROTOCOL_AUTHENTICATION:
		return ((guint32)p[1] + 2) * 4;
	default:
		return 0;
	}
}

static Verdict
read_extensions(Layer *layer, Ip *out_ip)
{
	static const guint8 none[8];

	for (guint i = 0; i < MAX_EXTENSIONS; i++) {
		if (extension_size(out_ip->protocol, none) == 0 || out_ip->offset > 0)
			return FINE;
		if (layer->captured < 8)
			return too_short(layer, 8);
		guint32 size = extension_size(out_ip->protocol, layer->data);
		if (layer->captured < size)
			return too_short(layer, size);
		if (out_ip->protocol == PROTOCOL_FRAGMENT)
			read_ipv6_fragment(layer->data, out_ip);
		out_ip->protocol = layer->data[0];
		take(layer, size);
		if (out_ip->is_fragment)
			return FINE; /* what follows is a piece of a datagram */
	}
	return MALFORMED;
}

static Verdict
read_ipv6(Layer *layer, Ip *out_ip)
{
	const guint8 *p = layer->data;

	if (layer->captured < 40)
		return too_short(layer, 40);
	guint32 length = be16(p + 4);
	memcpy(out_ip->src, p + 8, 16);
	memcpy(out_ip->dst, p + 24, 16);
	out_ip->protocol = p[6];
	out_ip->hops = p[7];
	out_ip->id = 0;
	out_ip->is_fragment = out_ip->more = FALSE;
	out_ip->offset = 0;
	if (length == 0) /* a jumbogram, or segmentation by the network card */
		length = MAX(layer->length, 40) - 40;
	take_ip_header(layer, 40, length);
	return read_extensions(layer, out_ip);
}

static Verdict
read_ip(Layer *layer, int type, Ip *out_ip)
{
	if (type != ETHERTYPE_ANY_IP && type != ETHERTYPE_IPV4 && type != ETHERTYPE_IPV6)
		return NOT_IP;
	if (layer->captured == 0)
		return too_short(layer, 1);
	guint8 version = layer->data[0] >> 4;
	if (version == 4 && type != ETHERTYPE_IPV6)
		return read_ipv4(layer, out_ip);
	if (version == 6 && type != ETHERTYPE_IPV4)
		return read_ipv6(layer, out_ip);
	return type == ETHERTYPE_ANY_IP ? NOT_IP : MALFORMED;
}

/* --- copies --- */

/* What a copy that was seen elsewhere would change: link header, tags, TTL, capture point. */
static guint64
hash_way(const WpFrame *frame, gsize link_bytes, const Ip *ip)
{
	guint64 hash = (guint64)ip->hops << 8 | frame->tap;
	if (link_bytes >= 8) {
		hash = wp_doubles_mix(hash, load_u64(frame->data));
		hash = wp_doubles_mix(hash, load_u64(frame->data + (link_bytes - 8) / 2));
		hash = wp_doubles_mix(hash, load_u64(frame->data + link_bytes - 8));
	}
	return hash;
}

static guint64
hash_ip(const Ip *ip)
{
	guint64 hash = wp_doubles_mix(ip->protocol, load_u64(ip->src + 8));
	hash = wp_doubles_mix(hash, load_u64(ip->dst + 8));
	if (load_u64(ip->src) | load_u64(ip->dst)) {
		hash = wp_doubles_mix(hash, load_u64(ip->src));
		hash = wp_doubles_mix(hash, load_u64(ip->dst));
	}
	return wp_doubles_mix(hash, ip->id);
}

/* TRUE where the TCP options, N bytes, hold timestamps (RFC 7323: kind 8). */
static gboolean
has_timestamps(const guint8 *options, guint32 n)
{
	static const guint8 usual[4] = { 1, 1, 8, 10 };

	if (n >= 4 && memcmp(options, usual, sizeof usual) == 0)
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
identify_tcp(const Layer *layer, const Ip *ip, WpDoublesPacket *out)
{
	const guint8 *p = layer->data;
	guint32 header = MIN((guint32)(p[12] >> 4) * 4, layer->captured);
	gboolean is_syn = p[13] & WP_TCP_SYN;

	out->key = wp_doubles_mix(out->key, load_u64(p));
	out->key = wp_doubles_mix(out->key, load_u64(p + 8));
	out->key = wp_doubles_mix(out->key, (guint64)layer->length << 16 | be16(p + 18));
	if (header > 20 && !is_syn)
		out->key = wp_doubles_mix_bytes(out->key, p + 20, header - 20);
	out->is_weak = ip->id == 0 && !is_syn &&
		       (layer->length <= header || !has_timestamps(p + 20, header - 20));
}

/* Ports, length and payload of UDP, or all of a fragment. */
static void
identify_bytes(const Layer *layer, const Ip *ip, WpDoublesPacket *out)
{
	gboolean is_udp = !ip->is_fragment && ip->protocol == PROTOCOL_UDP;

	out->key = wp_doubles_mix(out->key, (guint64)layer->length << 32 | ip->offset);
	if (is_udp) {
		out->key = wp_doubles_mix(out->key, be32(layer->data));
		out->key = wp_doubles_mix_bytes(out->key, layer->data + 8, layer->captured - 8);
	} else {
		out->key = wp_doubles_mix_bytes(out->key, layer->data, layer->captured);
	}
	out->is_weak = ip->id == 0;
}

static gboolean
is_doubled(WpPackets *packets, const WpFrame *frame, guint64 way, const Ip *ip, const Layer *layer)
{
	WpDoublesPacket packet = { .key = hash_ip(ip), .way = way, .time_ns = frame->time_ns };

	if (ip->protocol == PROTOCOL_TCP && !ip->is_fragment)
		identify_tcp(layer, ip, &packet);
	else
		identify_bytes(layer, ip, &packet);
	return wp_doubles_check(packets->doubles, &packet);
}

/* --- TCP and UDP --- */

static void
set_payload(WpSegment *segment, const Layer *layer, guint32 header)
{
	segment->payload = layer->data + MIN(header, layer->captured);
	segment->captured = layer->captured - MIN(header, layer->captured);
	segment->length = layer->length - header;
}

/* Options may be missing from a short capture; the first 20 bytes may not. */
static Verdict
read_tcp(const Layer *layer, WpSegment *segment)
{
	const guint8 *p = layer->data;

	if (layer->captured < 20)
		return too_short(layer, 20);
	guint32 header = (guint32)(p[12] >> 4) * 4;
	if (header < 20 || header > layer->length)
		return MALFORMED;
	segment->seq = be32(p + 4);
	segment->ack = be32(p + 8);
	segment->flags = p[13];
	segment->window = be16(p + 14);
	segment->is_udp = FALSE;
	set_payload(segment, layer, header);
	return FINE;
}

static Verdict
read_udp(Layer *layer, WpSegment *segment)
{
	if (layer->captured < 8)
		return too_short(layer, 8);
	guint32 length = be16(layer->data + 4);
	if (length > 0 && length < 8)
		return MALFORMED;
	/* 0: a jumbogram (RFC 2675), or segmentation by the network card. */
	if (length > 0 && length < layer->length) {
		layer->length = length;
		layer->captured = MIN(layer->captured, length);
	}
	segment->seq = segment->ack = 0;
	segment->flags = 0;
	segment->window = 0;
	segment->is_udp = TRUE;
	set_payload(segment, layer, 8);
	return FINE;
}

static Verdict
read_transport(Layer *layer, const Ip *ip, WpSegment *segment)
{
	Verdict verdict =
		ip->protocol == PROTOCOL_TCP ? read_tcp(layer, segment) : read_udp(layer, segment);
	if (verdict != FINE)
		return verdict;
	memcpy(segment->src.address, ip->src, 16);
	memcpy(segment->dst.address, ip->dst, 16);
	segment->src.port = be16(layer->data);
	segment->dst.port = be16(layer->data + 2);
	return FINE;
}

/* Puts a fragment away; FINE where LAYER has become the whole datagram, its extensions taken off. */
static Verdict
read_fragment(WpPackets *packets, const WpFrame *frame, Ip *ip, Layer *layer)
{
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
		return NOTHING;
	ip->is_fragment = FALSE;
	ip->offset = 0;
	Verdict verdict = read_extensions(layer, ip);
	return ip->is_fragment ? MALFORMED : verdict;
}

static Verdict
decode(WpPackets *packets, const WpFrame *frame, WpSegment *segment)
{
	Layer layer = { frame->data, frame->captured, frame->length };
	Ip ip;
	int type = 0;

	Verdict verdict = read_link(frame, &layer, &type);
	if (verdict == FINE)
		verdict = read_tags(&layer, &type);
	gsize link_bytes = (gsize)(layer.data - frame->data);
	if (verdict == FINE)
		verdict = read_ip(&layer, type, &ip);
	if (verdict != FINE)
		return verdict;
	guint64 way = hash_way(frame, link_bytes, &ip);
	if (ip.is_fragment) {
		if (is_doubled(packets, frame, way, &ip, &layer))
			return DOUBLED;
		verdict = read_fragment(packets, frame, &ip, &layer);
	}
	if (verdict == FINE && ip.protocol != PROTOCOL_TCP && ip.protocol != PROTOCOL_UDP)
		return OTHER_IP;
	if (verdict == FINE)
		verdict = read_transport(&layer, &ip, segment);
	if (verdict == FINE && is_doubled(packets, frame, way, &ip, &layer))
		verdict = DOUBLED;
	return verdict;
}

WpPacketResult
wp_packets_decode(WpPackets *packets, const WpFrame *frame, WpSegment *out_segment)
{
	WpSegment segment;
	Verdict verdict = decode(packets, frame, &segment);

	if (verdict > NOTHING)
		wp_counters_add(packets->counters, verdict_counters[verdict], 1);
	if (verdict != FINE)
		return WP_PACKET_NOTHING;
	if (segment.captured < segment.length)
		wp_counters_add(packets->counters, WP_COUNT_PACKETS_SNAPPED, 1);
	segment.time_ns = frame->time_ns;
	segment.number = frame->number;
	segment.tap = frame->tap;
	*out_segment = segment;
	return WP_PACKET_SEGMENT;
}
