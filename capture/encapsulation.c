/*
 * Encapsulation: what stands between a link header and IP (tags, labels, whole frames bridged over another
 * network), and tunnels over IP. A row in one of three tables, by the number that announces the header:
 *
 *     tags       by Ethernet type    VLANs, MPLS, PPPoE and PPP, NSH, 802.1ah, Ethernet again
 *     carriers   by IP protocol      IP in IP, GRE (with NVGRE, ERSPAN, PPTP), MPLS, EtherIP
 *     ports      by UDP port         VXLAN, GENEVE, MPLS, GRE, GTP-U, L2TP, Teredo, TZSP; a datagram that does
 *                                    not look so stays one
 *
 * A reader takes its header off and says what follows, so that any may stand in any other.
 *
 * Sources: 802.1Q, 802.1ad, 802.1ah, 802.1BR: IEEE; MPLS: RFC 3032, RFC 4385, RFC 4448; PPPoE: RFC 2516; PPP:
 * RFC 1661, RFC 1662; NSH: RFC 8300; IP in IP: RFC 2003, RFC 2473, RFC 4213; GRE: RFC 1701, RFC 2784, RFC 2890;
 * PPTP: RFC 2637; NVGRE: RFC 7637; ERSPAN: draft-foschiano-erspan-03; EtherIP: RFC 3378; VXLAN: RFC 7348,
 * draft-ietf-nvo3-vxlan-gpe, draft-smith-vxlan-group-policy; GENEVE: RFC 8926; MPLS in IP: RFC 4023; in UDP: RFC 7510; GRE in
 * UDP: RFC 8086; GTP-U: 3GPP TS 29.281; L2TP: RFC 2661; Teredo: RFC 4380; TZSP: as MikroTik and others send it.
 */
#include "capture/layer.h"

#define MAX_TAGS   8 /* headers between two IP headers, and MPLS labels: more is nobody's network */
#define MAX_ROUTES 16 /* source routes of GRE (RFC 1701) */
#define MAX_FIELDS 16 /* extension headers of GTP-U, tagged fields of TZSP */

/* Protocol numbers of GRE alone. */
enum {
	GRE_ERSPAN_3 = 0x22eb,
	GRE_ERSPAN_2 = 0x88be /* type I has no header of its own, and no sequence number in GRE's */
};

/* Flags of L2TP. */
enum {
	L2TP_CONTROL = 0x8000,
	L2TP_LENGTH = 0x4000,
	L2TP_SEQUENCE = 0x0800,
	L2TP_OFFSET = 0x0200,
	L2TP_VERSION = 0x000f,
	L2TP_RESERVED = 0x34f0
};

/* Flags of GRE. */
enum {
	GRE_CHECKSUM = 0x8000,
	GRE_ROUTING = 0x4000,
	GRE_KEY = 0x2000,
	GRE_SEQUENCE = 0x1000,
	GRE_ACKNOWLEDGMENT = 0x0080,
	GRE_VERSION = 0x0007
};

/* --- tags --- */

static gboolean
is_ethertype(guint16 type)
{
	static const guint16 usual[] = { WP_ETHERTYPE_IPV4, WP_ETHERTYPE_IPV6,
					 WP_ETHERTYPE_ARP,  WP_ETHERTYPE_VLAN,
					 WP_ETHERTYPE_QINQ, WP_ETHERTYPE_QINQ_OLD,
					 WP_ETHERTYPE_MPLS, WP_ETHERTYPE_PPPOE,
					 WP_ETHERTYPE_NSH };

	for (gsize i = 0; i < G_N_ELEMENTS(usual); i++)
		if (usual[i] == type)
			return TRUE;
	return FALSE;
}

/* TRUE where an Ethernet header could stand SKIP bytes into LAYER: the type is one that is in use. */
static gboolean
is_frame_at(const WpLayer *layer, guint32 skip)
{
	return layer->captured >= skip + 14 && is_ethertype(wp_layer_be16(layer->data + skip + 12));
}

/*
 * What an MPLS label stack carries, it does not say. A first nibble of 4 or 6 is IP, 0 a control word before a
 * frame, 1 the channel beside it (no data) - if the nibble is not that of a frame's first address.
 */
static int
guess_payload(WpLayer *layer)
{
	guint8 nibble = layer->captured > 0 ? layer->data[0] >> 4 : 0;

	if ((nibble == 4 || nibble == 6) &&
	    (wp_ip_is_plausible(layer, nibble) || !is_frame_at(layer, 0)))
		return WP_ETHERTYPE_ANY_IP;
	if (nibble == 0 && is_frame_at(layer, 4)) {
		wp_layer_take(layer, 4);
		return WP_ETHERTYPE_BRIDGED;
	}
	return is_frame_at(layer, 0) ? WP_ETHERTYPE_BRIDGED : WP_ETHERTYPE_NONE;
}

/* Labels up to the one with the bottom-of-stack bit. */
static WpLayerVerdict
read_mpls(WpLayer *layer, int *out_type)
{
	for (guint i = 0; i < MAX_TAGS; i++) {
		if (layer->captured < 4)
			return wp_layer_too_short(layer, 4);
		guint32 label = wp_layer_be32(layer->data);
		wp_layer_mix_way(layer, label);
		wp_layer_take(layer, 4);
		if (label & 0x100) {
			*out_type = guess_payload(layer);
			return WP_LAYER_FINE;
		}
	}
	return WP_LAYER_MALFORMED;
}

/* Address and control where they were not left out, then the protocol: two bytes, or an odd one. */
static WpLayerVerdict
read_ppp(WpLayer *layer, int *out_type)
{
	if (layer->captured >= 2 && layer->data[0] == 0xff && layer->data[1] == 3)
		wp_layer_take(layer, 2);
	guint32 size = layer->captured > 0 && layer->data[0] & 1 ? 1 : 2;
	if (layer->captured < size)
		return wp_layer_too_short(layer, size);
	guint16 protocol = size == 1 ? layer->data[0] : wp_layer_be16(layer->data);
	*out_type = protocol == 0x0021   ? WP_ETHERTYPE_IPV4
		    : protocol == 0x0057 ? WP_ETHERTYPE_IPV6
		    : protocol == 0x0281 ? WP_ETHERTYPE_MPLS
					 : WP_ETHERTYPE_NONE;
	wp_layer_take(layer, size);
	return WP_LAYER_FINE;
}

/* Version and type 1, code 0 for data, session, length of what follows (IP has its own). */
static WpLayerVerdict
read_pppoe(WpLayer *layer, int *out_type)
{
	if (layer->captured < 6)
		return wp_layer_too_short(layer, 6);
	gboolean is_data = layer->data[0] == 0x11 && layer->data[1] == 0;
	wp_layer_mix_way(layer, wp_layer_be16(layer->data + 2));
	wp_layer_take(layer, 6);
	*out_type = is_data ? WP_ETHERTYPE_PPP : WP_ETHERTYPE_NONE;
	return WP_LAYER_FINE;
}

/* 802.2 with a SNAP header, which holds a type after all: aa aa 03, and an organisation that has none. */
static WpLayerVerdict
read_llc(WpLayer *layer, int *out_type)
{
	static const guint8 rfc1042[6] = { 0xaa, 0xaa, 3, 0, 0, 0 };
	static const guint8 bridge_tunnel[6] = { 0xaa, 0xaa, 3, 0, 0, 0xf8 }; /* 802.1H */

	*out_type = WP_ETHERTYPE_NONE;
	if (layer->captured < 8 || (memcmp(layer->data, rfc1042, sizeof rfc1042) != 0 &&
				    memcmp(layer->data, bridge_tunnel, sizeof bridge_tunnel) != 0))
		return WP_LAYER_FINE;
	*out_type = wp_layer_be16(layer->data + 6);
	wp_layer_take(layer, 8);
	return WP_LAYER_FINE;
}

/* What NSH and VXLAN-GPE number alike. */
static int
type_of_next(guint8 next)
{
	static const int types[] = { WP_ETHERTYPE_NONE,    WP_ETHERTYPE_IPV4, WP_ETHERTYPE_IPV6,
				     WP_ETHERTYPE_BRIDGED, WP_ETHERTYPE_NSH,  WP_ETHERTYPE_MPLS };
	return next < G_N_ELEMENTS(types) ? types[next] : WP_ETHERTYPE_NONE;
}

/* Length in words of four bytes; the next protocol; the path; context, which is passed over. */
static WpLayerVerdict
read_nsh(WpLayer *layer, int *out_type)
{
	if (layer->captured < 8)
		return wp_layer_too_short(layer, 8);
	guint32 size = (guint32)(layer->data[1] & 0x3f) * 4;
	if (size < 8)
		return WP_LAYER_MALFORMED;
	if (layer->captured < size)
		return wp_layer_too_short(layer, size);
	*out_type = type_of_next(layer->data[3]);
	wp_layer_mix_way(layer, wp_layer_be32(layer->data + 4));
	wp_layer_take(layer, size);
	return WP_LAYER_FINE;
}

/* 802.1ah: the service's tag, then the customer's frame. */
static WpLayerVerdict
read_backbone(WpLayer *layer, int *out_type)
{
	if (layer->captured < 4)
		return wp_layer_too_short(layer, 4);
	wp_layer_mix_way(layer, wp_layer_be32(layer->data));
	wp_layer_take(layer, 4);
	*out_type = WP_ETHERTYPE_BRIDGED;
	return WP_LAYER_FINE;
}

/* Where there is no reader, SIZE bytes are taken off, of which the last two are the next type. */
typedef struct {
	int type;
	guint8 size;
	WpLayerVerdict (*read)(WpLayer *layer, int *out_type);
} Tag;

static const Tag tags[] = {
	{ WP_ETHERTYPE_VLAN, 4, NULL },
	{ WP_ETHERTYPE_QINQ, 4, NULL },
	{ WP_ETHERTYPE_QINQ_OLD, 4, NULL },
	{ 0x9200, 4, NULL }, /* older still */
	{ 0x893f, 8, NULL }, /* 802.1BR */
	{ 0x8926, 6, NULL }, /* VN-Tag, of which that was made */
	{ WP_ETHERTYPE_MPLS, 0, read_mpls },
	{ WP_ETHERTYPE_MPLS_UPSTREAM, 0, read_mpls },
	{ WP_ETHERTYPE_PPPOE, 0, read_pppoe },
	{ WP_ETHERTYPE_PPP, 0, read_ppp },
	{ WP_ETHERTYPE_BRIDGED, 0, wp_link_read_ethernet },
	{ WP_ETHERTYPE_NSH, 0, read_nsh },
	{ 0x88e7, 0, read_backbone },
};

static WpLayerVerdict
read_tag(const Tag *tag, WpLayer *layer, int *type)
{
	if (tag->read)
		return tag->read(layer, type);
	if (layer->captured < tag->size)
		return wp_layer_too_short(layer, tag->size);
	*type = wp_layer_be16(layer->data + tag->size - 2);
	wp_layer_mix_way(layer, wp_layer_be32(layer->data));
	wp_layer_take(layer, tag->size);
	return WP_LAYER_FINE;
}

static const Tag *
find_tag(int type)
{
	for (gsize i = 0; i < G_N_ELEMENTS(tags); i++)
		if (tags[i].type == type)
			return &tags[i];
	return NULL;
}

WpLayerVerdict
wp_encapsulation_read_tags(WpLayer *layer, int *type)
{
	static const Tag llc = { WP_ETHERTYPE_LLC, 0, read_llc };

	for (guint i = 0; i <= MAX_TAGS; i++) {
		if (*type == WP_ETHERTYPE_IPV4 || *type <= 0)
			return WP_LAYER_FINE;
		const Tag *tag = *type <= WP_ETHERTYPE_LENGTH_MAX ? &llc : find_tag(*type);
		if (!tag)
			return WP_LAYER_FINE;
		if (i == MAX_TAGS)
			break;
		WpLayerVerdict verdict = read_tag(tag, layer, type);
		if (verdict != WP_LAYER_FINE)
			return verdict;
	}
	return WP_LAYER_MALFORMED;
}

/* --- tunnels over IP --- */

static WpLayerVerdict
read_ip_in_ip(WpLayer *layer, int *out_type)
{
	*out_type = WP_ETHERTYPE_ANY_IP;
	return WP_LAYER_FINE;
}

static WpLayerVerdict
read_mpls_in_ip(WpLayer *layer, int *out_type)
{
	*out_type = WP_ETHERTYPE_MPLS;
	return WP_LAYER_FINE;
}

static WpLayerVerdict
read_ethernet_in_ip(WpLayer *layer, int *out_type)
{
	*out_type = WP_ETHERTYPE_BRIDGED;
	return WP_LAYER_FINE;
}

/* EtherIP: version 3 and twelve zero bits. */
static WpLayerVerdict
read_etherip(WpLayer *layer, int *out_type)
{
	if (layer->captured < 2)
		return wp_layer_too_short(layer, 2);
	*out_type = wp_layer_be16(layer->data) == 0x3000 ? WP_ETHERTYPE_BRIDGED : WP_ETHERTYPE_NONE;
	wp_layer_take(layer, 2);
	return WP_LAYER_FINE;
}

/* Source routes of RFC 1701: family, offset, length, and so many bytes, until family and length are 0. */
static WpLayerVerdict
skip_routes(WpLayer *layer)
{
	for (guint i = 0; i < MAX_ROUTES; i++) {
		if (layer->captured < 4)
			return wp_layer_too_short(layer, 4);
		guint32 size = 4 + (guint32)layer->data[3];
		gboolean is_last = wp_layer_be16(layer->data) == 0 && size == 4;
		if (layer->captured < size)
			return wp_layer_too_short(layer, size);
		wp_layer_take(layer, size);
		if (is_last)
			return WP_LAYER_FINE;
	}
	return WP_LAYER_MALFORMED;
}

/* ERSPAN type II (version 1) is 8 bytes, III (version 2) 12, and 8 more where its last bit says so. */
static WpLayerVerdict
read_erspan(WpLayer *layer, int *out_type)
{
	guint version = layer->captured > 0 ? layer->data[0] >> 4 : 1;
	gboolean is_third = version == 2;
	guint32 size = is_third ? 12 : 8;

	*out_type = WP_ETHERTYPE_NONE;
	if (version != 1 && version != 2)
		return WP_LAYER_FINE;
	if (layer->captured < size)
		return wp_layer_too_short(layer, size);
	guint16 last = wp_layer_be16(layer->data + 10 * is_third);
	gboolean holds_ip = is_third && (last >> 10 & 0x1f) == 2;
	if (is_third && (last & 1))
		size += 8;
	if (layer->captured < size)
		return wp_layer_too_short(layer, size);
	/* The session: several may mirror one packet. */
	wp_layer_mix_way(layer, wp_layer_be16(layer->data + 2) & 0x3ff);
	*out_type = holds_ip ? WP_ETHERTYPE_ANY_IP : WP_ETHERTYPE_BRIDGED;
	wp_layer_take(layer, size);
	return WP_LAYER_FINE;
}

/* Type I has none; some leave the sequence number out that tells II from I. */
static gboolean
has_erspan_header(const WpLayer *layer, guint16 flags, guint16 protocol)
{
	if (protocol != GRE_ERSPAN_2 || (flags & GRE_SEQUENCE))
		return protocol == GRE_ERSPAN_2 || protocol == GRE_ERSPAN_3;
	return !is_frame_at(layer, 0) && is_frame_at(layer, 8);
}

/* Bytes of a GRE header with FLAGS, its routes left out. */
static guint32
gre_size(guint16 flags)
{
	guint32 size = 4;

	if (flags & (GRE_CHECKSUM | GRE_ROUTING))
		size += 4;
	if (flags & GRE_KEY)
		size += 4;
	if (flags & GRE_SEQUENCE)
		size += 4;
	if ((flags & GRE_VERSION) == 1 && (flags & GRE_ACKNOWLEDGMENT))
		size += 4;
	return size;
}

static WpLayerVerdict
read_gre(WpLayer *layer, int *out_type)
{
	if (layer->captured < 4)
		return wp_layer_too_short(layer, 4);
	guint16 flags = wp_layer_be16(layer->data), protocol = wp_layer_be16(layer->data + 2);
	guint32 size = gre_size(flags);
	*out_type = WP_ETHERTYPE_NONE;
	if ((flags & GRE_VERSION) > 1)
		return WP_LAYER_FINE;
	if (layer->captured < size)
		return wp_layer_too_short(layer, size);
	/* The key of PPTP holds a length; that of NVGRE the network. */
	guint32 key_at = flags & (GRE_CHECKSUM | GRE_ROUTING) ? 8 : 4;
	if (flags & GRE_KEY)
		wp_layer_mix_way(layer, wp_layer_be32(layer->data + key_at) &
						((flags & GRE_VERSION) ? 0xffff : 0xffffffff));
	wp_layer_take(layer, size);
	WpLayerVerdict verdict = flags & GRE_ROUTING ? skip_routes(layer) : WP_LAYER_FINE;
	if (verdict != WP_LAYER_FINE)
		return verdict;
	if (has_erspan_header(layer, flags, protocol))
		return read_erspan(layer, out_type);
	*out_type = protocol == GRE_ERSPAN_2 ? WP_ETHERTYPE_BRIDGED : protocol;
	return WP_LAYER_FINE;
}

static const struct {
	guint8 protocol;
	WpLayerVerdict (*read)(WpLayer *layer, int *out_type);
} carriers[] = {
	{ 4, read_ip_in_ip }, { 41, read_ip_in_ip },    { 47, read_gre },
	{ 97, read_etherip }, { 137, read_mpls_in_ip }, { 143, read_ethernet_in_ip },
};

/*
 * --- tunnels over UDP: LAYER is what the datagram carries, at least 8 bytes; FALSE where it does not look
 * like such a tunnel, and then LAYER and OUT_TYPE may be anything ---
 */

/* A bit that says there is a network, its number, and nothing in the last byte. */
static gboolean
open_vxlan(WpLayer *layer, int *out_type)
{
	const guint8 *p = layer->data;
	/* Group policy uses bits of the first two bytes, and the two that follow. */
	gboolean has_policy = p[0] & 0x80;

	if ((p[0] & 0x7f) != 0x08 || (p[1] & ~0x48) != 0 || p[7] != 0 ||
	    (!has_policy && (p[1] | p[2] | p[3]) != 0))
		return FALSE;
	*out_type = WP_ETHERTYPE_BRIDGED;
	wp_layer_mix_way(layer, wp_layer_be32(p + 4));
	wp_layer_take(layer, 8);
	return TRUE;
}

/* The same, and the next protocol in the fourth byte where a bit of the first says so. */
static gboolean
open_vxlan_gpe(WpLayer *layer, int *out_type)
{
	const guint8 *p = layer->data;

	if ((p[0] & 0xc8) != 0x08 || p[7] != 0)
		return FALSE;
	*out_type = p[0] & 0x04 ? type_of_next(p[3]) : WP_ETHERTYPE_BRIDGED;
	wp_layer_mix_way(layer, wp_layer_be32(p + 4));
	wp_layer_take(layer, 8);
	return *out_type != WP_ETHERTYPE_NONE;
}

/* Version 0, no message of control, options in words of four bytes, nothing in the last byte. */
static gboolean
open_geneve(WpLayer *layer, int *out_type)
{
	const guint8 *p = layer->data;
	guint32 size = 8 + (guint32)(p[0] & 0x3f) * 4;

	*out_type = wp_layer_be16(p + 2);
	if ((p[0] & 0xc0) != 0 || (p[1] & 0xbf) != 0 || p[7] != 0 || layer->length < size ||
	    (*out_type != WP_ETHERTYPE_BRIDGED && !is_ethertype((guint16)*out_type)))
		return FALSE;
	wp_layer_mix_way(layer, wp_layer_be32(p + 4));
	wp_layer_take(layer, MIN(size, layer->captured));
	return TRUE;
}

/* A label stack with something behind it that is known. */
static gboolean
open_mpls(WpLayer *layer, int *out_type)
{
	return read_mpls(layer, out_type) == WP_LAYER_FINE && *out_type != WP_ETHERTYPE_NONE;
}

static gboolean
open_gre(WpLayer *layer, int *out_type)
{
	return read_gre(layer, out_type) == WP_LAYER_FINE &&
	       (*out_type == WP_ETHERTYPE_BRIDGED || is_ethertype((guint16)*out_type));
}

/* Takes N bytes off, as far as they were captured. */
static gboolean
take_head(WpLayer *layer, guint32 n)
{
	if (layer->length < n)
		return FALSE;
	wp_layer_take(layer, MIN(n, layer->captured));
	return TRUE;
}

/* IP of VERSION (0: of any), or so little of it that it cannot be told. */
static gboolean
may_be_ip(const WpLayer *layer, guint8 version)
{
	if (layer->captured < 6)
		return layer->captured < layer->length;
	return (version != 6 && wp_ip_is_plausible(layer, 4)) ||
	       (version != 4 && wp_ip_is_plausible(layer, 6));
}

/*
 * Version 1, a user's packet, its length, the tunnel; then, where one of three bits is set, a number, and extension
 * headers, each of which begins with its length in words of four bytes and ends with the type of the next.
 */
static gboolean
open_gtp(WpLayer *layer, int *out_type)
{
	const guint8 *p = layer->data;
	gboolean has_more = p[0] & 0x07, has_extensions = p[0] & 0x04;

	if ((p[0] & 0xf8) != 0x30 || p[1] != 0xff ||
	    8 + (guint32)wp_layer_be16(p + 2) > layer->length)
		return FALSE;
	wp_layer_mix_way(layer, wp_layer_be32(p + 4));
	wp_layer_cut(layer, 8 + (guint32)wp_layer_be16(p + 2));
	guint8 next = has_extensions && layer->captured >= 12 ? p[11] : 0;
	if (!take_head(layer, has_more ? 12 : 8))
		return FALSE;
	for (guint i = 0; next != 0 && layer->captured > 0; i++) {
		guint32 size = (guint32)layer->data[0] * 4;
		if (i == MAX_FIELDS || size == 0)
			return FALSE;
		next = layer->captured >= size ? layer->data[size - 1] : 0;
		if (!take_head(layer, size))
			return FALSE;
	}
	*out_type = WP_ETHERTYPE_ANY_IP;
	return may_be_ip(layer, 0);
}

/* Version 2, data: a length, the tunnel and session, numbers, padding, as the flags say; then PPP. */
static gboolean
open_l2tp(WpLayer *layer, int *out_type)
{
	guint16 flags = wp_layer_be16(layer->data);
	guint32 at = flags & L2TP_LENGTH ? 4 : 2, size = at + 4;

	if ((flags & L2TP_VERSION) != 2 || (flags & (L2TP_CONTROL | L2TP_RESERVED)))
		return FALSE;
	if ((flags & L2TP_LENGTH) && wp_layer_be16(layer->data + 2) > layer->length)
		return FALSE;
	wp_layer_mix_way(layer, wp_layer_be32(layer->data + at));
	if (flags & L2TP_LENGTH)
		wp_layer_cut(layer, wp_layer_be16(layer->data + 2));
	size += flags & L2TP_SEQUENCE ? 4 : 0;
	if (flags & L2TP_OFFSET) {
		guint32 padding =
			layer->captured >= size + 2 ? wp_layer_be16(layer->data + size) : 0;
		size += 2 + padding;
	}
	*out_type = WP_ETHERTYPE_PPP;
	return take_head(layer, size);
}

/* Who sent it may stand first, and where it came from; then IPv6. */
static gboolean
open_teredo(WpLayer *layer, int *out_type)
{
	const guint8 *p = layer->data;

	if (p[0] == 0 && p[1] == 1 && !take_head(layer, 13 + (guint32)p[2] + p[3]))
		return FALSE;
	p = layer->data;
	if (layer->captured >= 2 && p[0] == 0 && p[1] == 0 && !take_head(layer, 8))
		return FALSE;
	*out_type = WP_ETHERTYPE_IPV6;
	return may_be_ip(layer, 6);
}

/* Version 1, a received packet, what it is; then fields (type, length, value) until one that ends them. */
static gboolean
open_tzsp(WpLayer *layer, int *out_type)
{
	const guint8 *p = layer->data;
	gboolean is_last = FALSE;

	if (p[0] != 1 || p[1] > 1 || wp_layer_be16(p + 2) != 1) /* Ethernet */
		return FALSE;
	wp_layer_take(layer, 4);
	for (guint i = 0; !is_last && layer->captured > 0; i++) {
		is_last = layer->data[0] == 1;
		gboolean is_byte = layer->data[0] <= 1;
		if (i == MAX_FIELDS)
			return FALSE;
		guint32 length = !is_byte && layer->captured > 1 ? layer->data[1] : 0;
		if (!take_head(layer, is_byte ? 1 : 2 + length))
			return FALSE;
	}
	*out_type = WP_ETHERTYPE_BRIDGED;
	return TRUE;
}

static const struct {
	guint16 port; /* of the receiver: the sender's is free to spread the load */
	gboolean (*open)(WpLayer *layer, int *out_type);
	gboolean is_answered; /* from that port too */
} ports
	[] = {
		{ 4789, open_vxlan, FALSE },
		{ 8472, open_vxlan, FALSE }, /* Linux, before there was a number */
		{ 4790, open_vxlan_gpe, FALSE },
		{ 6081, open_geneve, FALSE },
		{ 6635, open_mpls, FALSE },
		{ 4754, open_gre, FALSE },
		{ 2152, open_gtp, FALSE },
		{ 1701, open_l2tp, TRUE },
		{ 3544, open_teredo, TRUE },
		{ 37008, open_tzsp, FALSE },
	};

/* The number of its row; that of rows where it is none of them. */
static gsize
find_port(const WpLayer *layer)
{
	guint16 from = wp_layer_be16(layer->data), to = wp_layer_be16(layer->data + 2);
	gsize i = 0;

	while (i < G_N_ELEMENTS(ports) && ports[i].port != to &&
	       !(ports[i].is_answered && ports[i].port == from))
		i++;
	return i;
}

static gboolean
open_udp_tunnel(WpLayer *layer, int *out_type, WpLayerVerdict *out_verdict)
{
	gsize i = layer->captured >= 8 ? find_port(layer) : G_N_ELEMENTS(ports);

	if (i == G_N_ELEMENTS(ports))
		return FALSE;
	WpLayer payload = *layer;
	int type = WP_ETHERTYPE_NONE;
	wp_layer_take(&payload, 8);
	if (payload.captured < 8 && payload.length >= 8) {
		*out_verdict = WP_LAYER_SNAPPED; /* what it is was not captured */
		return TRUE;
	}
	if (payload.captured < 8 || !ports[i].open(&payload, &type))
		return FALSE;
	*layer = payload;
	*out_type = type;
	*out_verdict = WP_LAYER_FINE;
	return TRUE;
}

gboolean
wp_encapsulation_open_tunnel(WpLayer *layer, const WpIp *ip, int *out_type,
			     WpLayerVerdict *out_verdict)
{
	if (ip->protocol == WP_IP_UDP)
		return open_udp_tunnel(layer, out_type, out_verdict);
	for (gsize i = 0; i < G_N_ELEMENTS(carriers); i++)
		if (carriers[i].protocol == ip->protocol) {
			*out_verdict = carriers[i].read(layer, out_type);
			return TRUE;
		}
	return FALSE;
}
