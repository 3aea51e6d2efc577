/*
 * IP headers and their extensions. The length of the header is believed, as it cuts padding off; where it is
 * 0 (segmentation by the network card) or IPv6 leaves it out, the layer's is. What wrong checksums
 * mean: checksum.h.
 *
 * IPv4: RFC 791; IPv6: RFC 8200; authentication header: RFC 4302; jumbograms: RFC 2675.
 */
#include "capture/layer.h"

#include "capture/checksum.h"

#define MAX_EXTENSIONS 16 /* of one IP header */

static void
map_ipv4(guint8 out[16], const guint8 *address)
{
	static const guint8 prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	memcpy(out, prefix, sizeof prefix);
	memcpy(out + 12, address, 4);
}

/* LAYER becomes the N bytes that follow HEADER bytes. */
static void
take_header(WpLayer *layer, guint32 header, guint32 n)
{
	wp_layer_take(layer, header);
	wp_layer_cut(layer, n);
}

/* The fragment header; an atomic fragment (RFC 6946) is none. */
static void
read_ipv6_fragment(const guint8 *p, WpIp *out_ip)
{
	guint16 field = wp_layer_be16(p + 2);
	out_ip->offset = field & 0xfff8u;
	out_ip->more = field & 1;
	out_ip->is_fragment = out_ip->more || out_ip->offset > 0;
	out_ip->id = wp_layer_be32(p + 4);
}

/* Bytes of the extension header NEXT at P (8 are there); 0: it is none. Of IPv4 there is one kind. */
static guint32
extension_size(guint8 version, guint8 next, const guint8 *p)
{
	if (version == 4 && next != WP_IP_AUTHENTICATION)
		return 0;
	switch (next) {
	case WP_IP_HOP_OPTIONS:
	case WP_IP_ROUTING:
	case WP_IP_DESTINATION:
	case WP_IP_MOBILITY:
	case WP_IP_HIP:
	case WP_IP_SHIM6:
		return ((guint32)p[1] + 1) * 8;
	case WP_IP_FRAGMENT:
		return 8;
	case WP_IP_AUTHENTICATION:
		return ((guint32)p[1] + 2) * 4;
	default:
		return 0;
	}
}

WpLayerVerdict
wp_ip_read_extensions(WpLayer *layer, WpIp *ip)
{
	static const guint8 none[8];

	for (guint i = 0; i < MAX_EXTENSIONS; i++) {
		if (extension_size(ip->version, ip->protocol, none) == 0 || ip->offset > 0)
			return WP_LAYER_FINE;
		if (layer->captured < 8)
			return wp_layer_too_short(layer, 8);
		guint32 size = extension_size(ip->version, ip->protocol, layer->data);
		if (layer->captured < size)
			return wp_layer_too_short(layer, size);
		if (ip->protocol == WP_IP_FRAGMENT)
			read_ipv6_fragment(layer->data, ip);
		ip->protocol = layer->data[0];
		wp_layer_take(layer, size);
		if (ip->is_fragment)
			return WP_LAYER_FINE; /* what follows is a piece of a datagram */
	}
	return WP_LAYER_MALFORMED;
}

static WpLayerVerdict
read_ipv4(WpLayer *layer, WpIp *out_ip)
{
	const guint8 *p = layer->data;

	if (layer->captured < 20)
		return wp_layer_too_short(layer, 20);
	guint32 header = (guint32)(p[0] & 15) * 4, total = wp_layer_be16(p + 2);
	guint16 fragment = wp_layer_be16(p + 6);
	if (header < 20 || (total > 0 && total < header))
		return WP_LAYER_MALFORMED;
	if (layer->captured < header)
		return wp_layer_too_short(layer, header);
	out_ip->version = 4;
	map_ipv4(out_ip->src, p + 12);
	map_ipv4(out_ip->dst, p + 16);
	out_ip->id = wp_layer_be16(p + 4);
	out_ip->is_wrong = wp_checksum_is_header_wrong(p, header);
	out_ip->hops = p[8];
	out_ip->protocol = p[9];
	out_ip->more = (fragment & 0x2000) != 0;
	out_ip->offset = (guint32)(fragment & 0x1fff) * 8;
	out_ip->is_fragment = out_ip->more || out_ip->offset > 0;
	if (total == 0)
		total = MAX(layer->length, header);
	take_header(layer, header, total - header);
	return out_ip->is_fragment ? WP_LAYER_FINE : wp_ip_read_extensions(layer, out_ip);
}

static WpLayerVerdict
read_ipv6(WpLayer *layer, WpIp *out_ip)
{
	const guint8 *p = layer->data;

	if (layer->captured < 40)
		return wp_layer_too_short(layer, 40);
	guint32 length = wp_layer_be16(p + 4);
	out_ip->version = 6;
	memcpy(out_ip->src, p + 8, 16);
	memcpy(out_ip->dst, p + 24, 16);
	out_ip->protocol = p[6];
	out_ip->hops = p[7];
	out_ip->id = 0;
	out_ip->is_wrong = FALSE;
	out_ip->is_fragment = out_ip->more = FALSE;
	out_ip->offset = 0;
	if (length == 0) /* a jumbogram, or segmentation by the network card */
		length = MAX(layer->length, 40) - 40;
	take_header(layer, 40, length);
	return wp_ip_read_extensions(layer, out_ip);
}

WpLayerVerdict
wp_ip_read(WpLayer *layer, int type, WpIp *out_ip)
{
	if (type != WP_ETHERTYPE_ANY_IP && type != WP_ETHERTYPE_IPV4 && type != WP_ETHERTYPE_IPV6)
		return WP_LAYER_NOT_IP;
	if (layer->captured == 0)
		return wp_layer_too_short(layer, 1);
	guint8 version = layer->data[0] >> 4;
	if (version == 4 && type != WP_ETHERTYPE_IPV6)
		return read_ipv4(layer, out_ip);
	if (version == 6 && type != WP_ETHERTYPE_IPV4)
		return read_ipv6(layer, out_ip);
	return type == WP_ETHERTYPE_ANY_IP ? WP_LAYER_NOT_IP : WP_LAYER_MALFORMED;
}

gboolean
wp_ip_is_plausible(const WpLayer *layer, guint8 version)
{
	const guint8 *p = layer->data;

	if (layer->captured < 6 || p[0] >> 4 != version)
		return FALSE;
	if (version == 6)
		return 40 + (guint32)wp_layer_be16(p + 4) <= layer->length;
	guint32 header = (guint32)(p[0] & 15) * 4, total = wp_layer_be16(p + 2);
	return header >= 20 && total >= header && total <= layer->length;
}
