/*
 * Layers of a packet: what link.c, encapsulation.c and ip.c take off the front of a frame, one header after
 * the other, until packet.c has a TCP or UDP header before it.
 *
 *   | link header | tags | IP header | extensions | tunnel | tags | IP header | TCP header | payload | FCS
 *   ^ frame       ^ WpLayer.data moves to the right                   WpLayer.length ends here ^
 */
#ifndef WP_CAPTURE_LAYER_H
#define WP_CAPTURE_LAYER_H

#include <glib.h>
#include <string.h>

#include "capture/doubles.h"

/* What becomes of a packet; all but the first two have a counter (packet.c). */
typedef enum {
	WP_LAYER_FINE,
	WP_LAYER_NOTHING, /* a fragment, counted where it is kept */
	WP_LAYER_NOT_IP,
	WP_LAYER_OTHER_IP, /* neither TCP nor UDP, nor a tunnel that is known here */
	WP_LAYER_UNKNOWN_LINK,
	WP_LAYER_MALFORMED,
	WP_LAYER_SNAPPED, /* so short that headers are missing */
	WP_LAYER_DOUBLED,
	WP_LAYER_DAMAGED,  /* by its checksum */
	WP_LAYER_TOO_DEEP, /* a tunnel in a tunnel in a ... */
	WP_LAYER_N_VERDICTS
} WpLayerVerdict;

/* What is left of a frame or a datagram. DATA is borrowed. */
typedef struct {
	const guint8 *data;
	guint32 captured;
	guint32 length; /* on the wire */
	guint64 way; /* hash of what a copy that was seen elsewhere would change; see doubles.h */
} WpLayer;

/*
 * What follows, in the numbers of Ethernet (IEEE 802 Numbers, IANA). Some stand for what has no number
 * there, or are used by GRE only.
 */
enum {
	WP_ETHERTYPE_ANY_IP = -1, /* the version tells */
	WP_ETHERTYPE_NONE = 0,    /* nothing that could be read */
	WP_ETHERTYPE_LLC = 4,     /* IEEE 802.2, as Linux numbers it */
	WP_ETHERTYPE_LENGTH_MAX = 0x05dc,
	WP_ETHERTYPE_IPV4 = 0x0800,
	WP_ETHERTYPE_ARP = 0x0806,
	WP_ETHERTYPE_BRIDGED = 0x6558, /* an Ethernet frame */
	WP_ETHERTYPE_VLAN = 0x8100,
	WP_ETHERTYPE_IPV6 = 0x86dd,
	WP_ETHERTYPE_PPP = 0x880b,
	WP_ETHERTYPE_MPLS = 0x8847,
	WP_ETHERTYPE_MPLS_UPSTREAM = 0x8848,
	WP_ETHERTYPE_PPPOE = 0x8864,
	WP_ETHERTYPE_QINQ = 0x88a8,
	WP_ETHERTYPE_NSH = 0x894f,
	WP_ETHERTYPE_QINQ_OLD = 0x9100
};

/* Numbers of the protocols above IP (IANA). */
enum {
	WP_IP_HOP_OPTIONS = 0,
	WP_IP_TCP = 6,
	WP_IP_UDP = 17,
	WP_IP_ROUTING = 43,
	WP_IP_FRAGMENT = 44,
	WP_IP_AUTHENTICATION = 51,
	WP_IP_DESTINATION = 60,
	WP_IP_MOBILITY = 135,
	WP_IP_HIP = 139,
	WP_IP_SHIM6 = 140
};

/* What an IP header says; IPv4 addresses are mapped (::ffff:a.b.c.d). */
typedef struct {
	guint8 version;
	guint8 src[16];
	guint8 dst[16];
	guint8 protocol;   /* of the payload */
	guint8 hops;       /* TTL, hop limit: not part of a packet's identity */
	guint32 id;        /* 0 = none */
	gboolean is_wrong; /* by the sum of its header */
	gboolean is_fragment;
	gboolean more;
	guint32 offset;
} WpIp;

/* Numbers at a place that has been checked to be there. */
static inline guint16
wp_layer_be16(const guint8 *p)
{
	return (guint16)(p[0] << 8 | p[1]);
}

static inline guint32
wp_layer_be32(const guint8 *p)
{
	return (guint32)p[0] << 24 | (guint32)p[1] << 16 | (guint32)p[2] << 8 | p[3];
}

static inline guint64
wp_layer_u64(const guint8 *p)
{
	guint64 word;
	memcpy(&word, p, sizeof word);
	return GUINT64_FROM_LE(word);
}

/* Why LAYER, which should have N bytes, has not: the capture is short, or the packet is wrong. */
static inline WpLayerVerdict
wp_layer_too_short(const WpLayer *layer, guint32 n)
{
	return layer->length >= n ? WP_LAYER_SNAPPED : WP_LAYER_MALFORMED;
}

/* Takes N captured bytes off the front. */
static inline void
wp_layer_take(WpLayer *layer, guint32 n)
{
	layer->data += n;
	layer->captured -= n;
	layer->length -= MIN(n, layer->length);
}

/* Nothing but the first N bytes (on the wire) are left. */
static inline void
wp_layer_cut(WpLayer *layer, guint32 n)
{
	layer->length = n;
	layer->captured = MIN(layer->captured, n);
}

static inline void
wp_layer_mix_way(WpLayer *layer, guint64 word)
{
	layer->way = wp_doubles_mix(layer->way, word);
}

/* --- link.c --- */

/* Takes the header of LINK_TYPE (LINKTYPE_... of pcap files) off; OUT_TYPE: what follows. */
WpLayerVerdict wp_link_read(guint32 link_type, WpLayer *layer, int *out_type);

/* The header of Ethernet. */
WpLayerVerdict wp_link_read_ethernet(WpLayer *layer, int *out_type);

/* --- encapsulation.c --- */

/* Takes all off that stands between the link header and IP: tags, labels, headers that bridge frames. */
WpLayerVerdict wp_encapsulation_read_tags(WpLayer *layer, int *type);

/*
 * LAYER is the payload of IP. TRUE where it is a tunnel that is known: then *OUT_VERDICT tells whether its
 * header could be taken off, and *OUT_TYPE what follows.
 */
gboolean wp_encapsulation_open_tunnel(WpLayer *layer, const WpIp *ip, int *out_type,
				      WpLayerVerdict *out_verdict);

/* --- ip.c --- */

/* Takes an IP header and its extensions off, up to a fragment header; TYPE as the layer below says. */
WpLayerVerdict wp_ip_read(WpLayer *layer, int type, WpIp *out_ip);

/* Takes the extension headers of a datagram off that was put together of fragments. */
WpLayerVerdict wp_ip_read_extensions(WpLayer *layer, WpIp *ip);

/* TRUE where LAYER begins as an IP packet of VERSION that is not longer than LAYER. */
gboolean wp_ip_is_plausible(const WpLayer *layer, guint8 version);

#endif
