/*
 * Link headers: one function each, and a table. What a header says of where the packet was seen (addresses,
 * direction, interface) is mixed into the way of the packet, for those who look for copies.
 *
 * Sources: tcpdump.org/linktypes; PPP: RFC 1661, RFC 1662; PPPoE: RFC 2516; IEEE 802.11-2020 9.2; Radiotap:
 * radiotap.org; frame relay: RFC 2427; PPI: "Per-Packet Information Header", 2007; PKTAP: pcap/dlt.h of libpcap, bsd/net/pktap.h of Apple.
 */
#include "capture/layer.h"

WpLayerVerdict
wp_link_read_ethernet(WpLayer *layer, int *out_type)
{
	if (layer->captured < 14)
		return wp_layer_too_short(layer, 14);
	wp_layer_mix_way(layer, wp_layer_u64(layer->data));
	wp_layer_mix_way(layer, wp_layer_u64(layer->data + 6));
	*out_type = wp_layer_be16(layer->data + 12);
	wp_layer_take(layer, 14);
	return WP_LAYER_FINE;
}

/* Linux "cooked" captures: packet type, kind of device, address, type. */
static WpLayerVerdict
read_sll(WpLayer *layer, int *out_type)
{
	if (layer->captured < 16)
		return wp_layer_too_short(layer, 16);
	wp_layer_mix_way(layer, wp_layer_u64(layer->data));
	wp_layer_mix_way(layer, wp_layer_u64(layer->data + 8));
	*out_type = wp_layer_be16(layer->data + 14);
	wp_layer_take(layer, 16);
	return WP_LAYER_FINE;
}

/* Version 2: type first, then interface, kind of device, packet type, address. */
static WpLayerVerdict
read_sll2(WpLayer *layer, int *out_type)
{
	if (layer->captured < 20)
		return wp_layer_too_short(layer, 20);
	wp_layer_mix_way(layer, wp_layer_u64(layer->data + 4));
	wp_layer_mix_way(layer, wp_layer_u64(layer->data + 12));
	*out_type = wp_layer_be16(layer->data);
	wp_layer_take(layer, 20);
	return WP_LAYER_FINE;
}

static WpLayerVerdict
read_raw(WpLayer *layer, int *out_type)
{
	*out_type = WP_ETHERTYPE_ANY_IP;
	return WP_LAYER_FINE;
}

/*
 * Loopback: an address family as a number of the capturing machine, in its byte order; IPv6 is 10, 24,
 * 28 or 30 after the system.
 */
static WpLayerVerdict
read_loopback(WpLayer *layer, int *out_type)
{
	if (layer->captured < 4)
		return wp_layer_too_short(layer, 4);
	guint32 family = wp_layer_be32(layer->data);
	if (family > 0xffff)
		family = GUINT32_SWAP_LE_BE(family);
	gboolean is_ip =
		family == 2 || family == 10 || family == 24 || family == 28 || family == 30;
	*out_type = is_ip ? WP_ETHERTYPE_ANY_IP : WP_ETHERTYPE_NONE;
	wp_layer_take(layer, 4);
	return WP_LAYER_FINE;
}

/* OpenBSD's enc(4): family, SPI and flags of the packet that IPsec wrapped, or will wrap. */
static WpLayerVerdict
read_enc(WpLayer *layer, int *out_type)
{
	WpLayerVerdict verdict = read_loopback(layer, out_type);
	if (verdict == WP_LAYER_FINE && layer->captured < 8)
		return wp_layer_too_short(layer, 8);
	if (verdict == WP_LAYER_FINE)
		wp_layer_take(layer, 8);
	return verdict;
}

static WpLayerVerdict
read_ppp(WpLayer *layer, int *out_type)
{
	*out_type = WP_ETHERTYPE_PPP;
	return WP_LAYER_FINE;
}

/* A byte that tells the direction, then PPP; under one of the two numbers it stands for PPP's address. */
static WpLayerVerdict
read_ppp_directed(WpLayer *layer, int *out_type)
{
	if (layer->captured < 2)
		return wp_layer_too_short(layer, 2);
	wp_layer_mix_way(layer, layer->data[0]);
	wp_layer_take(layer, layer->data[1] == 3 ? 2 : 1);
	return read_ppp(layer, out_type);
}

static WpLayerVerdict
read_pppoe(WpLayer *layer, int *out_type)
{
	*out_type = WP_ETHERTYPE_PPPOE;
	return WP_LAYER_FINE;
}

/* Cisco HDLC: address, control, type. Serial lines are captured as this and as PPP under one number. */
static WpLayerVerdict
read_hdlc(WpLayer *layer, int *out_type)
{
	if (layer->captured < 4)
		return wp_layer_too_short(layer, 4);
	if (layer->data[0] == 0xff && layer->data[1] == 3)
		return read_ppp(layer, out_type);
	*out_type = wp_layer_be16(layer->data + 2);
	wp_layer_take(layer, 4);
	return WP_LAYER_FINE;
}

static WpLayerVerdict
read_mpls(WpLayer *layer, int *out_type)
{
	*out_type = WP_ETHERTYPE_MPLS;
	return WP_LAYER_FINE;
}

static WpLayerVerdict
read_llc(WpLayer *layer, int *out_type)
{
	*out_type = WP_ETHERTYPE_LLC;
	return WP_LAYER_FINE;
}

/* Bytes of the header of an 802.11 data frame whose first bytes are at P; 0: it holds no packet for us. */
static guint32
wireless_header(const guint8 *p)
{
	guint8 control = p[0], flags = p[1];
	gboolean is_data = (control & 0x0f) == 0x08, has_qos = control & 0x80;
	gboolean is_empty = control & 0x40, is_locked = flags & 0x40;
	gboolean is_piece = (flags & 0x04) || (p[22] & 0x0f);

	if (!is_data || is_empty || is_locked || is_piece)
		return 0;
	guint32 size = (flags & 3) == 3 ? 30 : 24; /* four addresses between access points */
	/* Ordered frames with QoS have four bytes more. */
	return size + (has_qos ? 2 : 0) + (has_qos && (flags & 0x80) ? 4 : 0);
}

/* What is not encrypted on the air. Fragments and aggregates of frames are left alone. */
static WpLayerVerdict
read_wireless(WpLayer *layer, int *out_type)
{
	*out_type = WP_ETHERTYPE_NONE;
	if (layer->captured < 24)
		return layer->length < 24 ? WP_LAYER_FINE /* a frame of control */
					  : WP_LAYER_SNAPPED;
	guint32 header = wireless_header(layer->data);
	if (header == 0)
		return WP_LAYER_FINE;
	if (layer->captured < header)
		return wp_layer_too_short(layer, header);
	guint32 qos_at = (layer->data[1] & 3) == 3 ? 30 : 24;
	if (header > qos_at && (layer->data[qos_at] & 0x80))
		return WP_LAYER_FINE;
	wp_layer_mix_way(layer, wp_layer_u64(layer->data + 4));
	wp_layer_mix_way(layer, wp_layer_u64(layer->data + 12));
	*out_type = WP_ETHERTYPE_LLC;
	wp_layer_take(layer, header);
	return WP_LAYER_FINE;
}

/* A header of its own length (little-endian, at AT, SIZE bytes), of which nothing else is needed. */
static WpLayerVerdict
skip_header(WpLayer *layer, guint32 at, guint32 size)
{
	if (layer->captured < 8)
		return wp_layer_too_short(layer, 8);
	guint32 header = layer->data[at] | (guint32)layer->data[at + 1] << 8;
	if (size == 4 && (layer->data[at + 2] || layer->data[at + 3]))
		return WP_LAYER_MALFORMED;
	if (header < 8)
		return WP_LAYER_MALFORMED;
	if (layer->captured < header)
		return wp_layer_too_short(layer, header);
	wp_layer_take(layer, header);
	return WP_LAYER_FINE;
}

static WpLayerVerdict
read_radiotap(WpLayer *layer, int *out_type)
{
	WpLayerVerdict verdict = skip_header(layer, 2, 2);
	return verdict == WP_LAYER_FINE ? read_wireless(layer, out_type) : verdict;
}

/* A header that names the link type of what follows it (little-endian, at AT). */
static WpLayerVerdict
read_named(WpLayer *layer, guint32 at, guint32 length_at, guint32 length_size, int *out_type)
{
	if (layer->captured < at + 4)
		return wp_layer_too_short(layer, at + 4);
	guint32 link_type = GUINT32_SWAP_LE_BE(wp_layer_be32(layer->data + at));
	WpLayerVerdict verdict = skip_header(layer, length_at, length_size);
	if (verdict != WP_LAYER_FINE)
		return verdict;
	/* One in another is nobody's capture. */
	if (link_type == 192 || link_type == 258)
		return WP_LAYER_UNKNOWN_LINK;
	return wp_link_read(link_type, layer, out_type);
}

static WpLayerVerdict
read_ppi(WpLayer *layer, int *out_type)
{
	return read_named(layer, 4, 2, 2, out_type);
}

/* Apple's: length, kind of record, link type, and who sent it. */
static WpLayerVerdict
read_pktap(WpLayer *layer, int *out_type)
{
	return read_named(layer, 8, 0, 4, out_type);
}

/* FDDI: what kind of frame, two addresses, then LLC. */
static WpLayerVerdict
read_fddi(WpLayer *layer, int *out_type)
{
	if (layer->captured < 13)
		return wp_layer_too_short(layer, 13);
	gboolean is_llc = (layer->data[0] & 0x30) == 0x10;
	wp_layer_mix_way(layer, wp_layer_u64(layer->data + 1));
	wp_layer_take(layer, 13);
	*out_type = is_llc ? WP_ETHERTYPE_LLC : WP_ETHERTYPE_NONE;
	return WP_LAYER_FINE;
}

/* 802.5: access, what kind of frame, two addresses; a route where the sender's has its first bit set; LLC. */
static WpLayerVerdict
read_token_ring(WpLayer *layer, int *out_type)
{
	if (layer->captured < 15)
		return wp_layer_too_short(layer, 15);
	gboolean is_llc = (layer->data[1] & 0xc0) == 0x40, has_route = layer->data[8] & 0x80;
	guint32 size = 14 + (has_route ? layer->data[14] & 0x1fu : 0);
	if (layer->captured < size)
		return wp_layer_too_short(layer, size);
	wp_layer_mix_way(layer, wp_layer_u64(layer->data + 2));
	wp_layer_take(layer, size);
	*out_type = is_llc ? WP_ETHERTYPE_LLC : WP_ETHERTYPE_NONE;
	return WP_LAYER_FINE;
}

/* IP over InfiniBand: the global route, then a type and two bytes of nothing. */
static WpLayerVerdict
read_infiniband(WpLayer *layer, int *out_type)
{
	if (layer->captured < 44)
		return wp_layer_too_short(layer, 44);
	*out_type = wp_layer_be16(layer->data + 40);
	wp_layer_take(layer, 44);
	return WP_LAYER_FINE;
}

/* Frame relay: two bytes of address; a type, as Cisco has it, or 3 and which protocol (RFC 2427). */
static WpLayerVerdict
read_frame_relay(WpLayer *layer, int *out_type)
{
	if (layer->captured < 4)
		return wp_layer_too_short(layer, 4);
	const guint8 *p = layer->data;
	*out_type = WP_ETHERTYPE_NONE;
	if ((p[0] & 1) || !(p[1] & 1)) /* longer addresses are nobody's */
		return WP_LAYER_FINE;
	wp_layer_mix_way(layer, wp_layer_be16(p));
	gboolean is_ietf = p[2] == 3;
	*out_type = !is_ietf       ? wp_layer_be16(p + 2)
		    : p[3] == 0xcc ? WP_ETHERTYPE_IPV4
		    : p[3] == 0x8e ? WP_ETHERTYPE_IPV6
				   : WP_ETHERTYPE_NONE;
	wp_layer_take(layer, 4);
	return WP_LAYER_FINE;
}

/* What netfilter logs: a family, then fields (length, kind, padded to four bytes), of which one is the packet. */
static WpLayerVerdict
read_nflog(WpLayer *layer, int *out_type)
{
	enum {
		PAYLOAD = 9,
		MAX_FIELDS = 32
	};
	*out_type = WP_ETHERTYPE_NONE;
	if (layer->captured < 8)
		return wp_layer_too_short(layer, 8);
	/* Of the byte order of the machine; no field is as long as the shortest would be in the other. */
	gboolean is_big = layer->data[4] == 0 && layer->data[5] >= 4;
	wp_layer_take(layer, 4);
	for (guint i = 0; i < MAX_FIELDS && layer->length >= 4; i++) {
		if (layer->captured < 4)
			return WP_LAYER_SNAPPED;
		guint16 size = wp_layer_be16(layer->data), kind = wp_layer_be16(layer->data + 2);
		size = is_big ? size : GUINT16_SWAP_LE_BE(size);
		kind = is_big ? kind : GUINT16_SWAP_LE_BE(kind);
		if (size < 4 || size > layer->length)
			return WP_LAYER_MALFORMED;
		guint32 taken = kind == PAYLOAD ? 4 : MIN((size + 3u) & ~3u, layer->length);
		if (kind == PAYLOAD) {
			wp_layer_cut(layer, size);
			*out_type = WP_ETHERTYPE_ANY_IP;
		}
		if (layer->captured < taken)
			return WP_LAYER_SNAPPED;
		wp_layer_take(layer, taken);
		if (kind == PAYLOAD)
			break;
	}
	return WP_LAYER_FINE;
}

/* 12 and 14 are raw IP in files of some systems. */
static const struct {
	guint32 link_type;
	WpLayerVerdict (*read)(WpLayer *layer, int *out_type);
} links[] = {
	{ 1, wp_link_read_ethernet },
	{ 113, read_sll },
	{ 276, read_sll2 },
	{ 101, read_raw },
	{ 12, read_raw },
	{ 14, read_raw },
	{ 228, read_raw },
	{ 229, read_raw },
	{ 0, read_loopback },
	{ 108, read_loopback },
	{ 109, read_enc },
	{ 9, read_ppp },
	{ 50, read_hdlc },
	{ 51, read_pppoe },
	{ 104, read_hdlc },
	{ 166, read_ppp_directed },
	{ 204, read_ppp_directed },
	{ 219, read_mpls },
	{ 100, read_llc },
	{ 11, read_llc },
	{ 10, read_fddi },
	{ 6, read_token_ring },
	{ 242, read_infiniband },
	{ 107, read_frame_relay },
	{ 239, read_nflog },
	{ 105, read_wireless },
	{ 127, read_radiotap },
	{ 192, read_ppi },
	{ 258, read_pktap },
};

WpLayerVerdict
wp_link_read(guint32 link_type, WpLayer *layer, int *out_type)
{
	for (gsize i = 0; i < G_N_ELEMENTS(links); i++)
		if (links[i].link_type == link_type)
			return links[i].read(layer, out_type);
	return WP_LAYER_UNKNOWN_LINK;
}
