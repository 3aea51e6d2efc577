/* Captures made in memory: IP packets, frames around them, files around those. */
#include "tests/support/pcap-build.h"

#include <check.h>
#include <string.h>

#include "capture/packet.h"

struct WpPcapBuild {
	WpPcapBuildOptions options;
	GByteArray *bytes;
	GArray *interfaces; /* WpPcapBuildOptions: of each interface of the pcapng section */
};

static void
put_be(GByteArray *bytes, guint64 value, guint n)
{
	for (guint i = n; i-- > 0;) {
		guint8 byte = (guint8)(value >> 8 * i);
		g_byte_array_append(bytes, &byte, 1);
	}
}

/* A number of the file, in its byte order. */
static void
put(WpPcapBuild *build, guint64 value, guint n)
{
	if (build->options.big_endian) {
		put_be(build->bytes, value, n);
		return;
	}
	for (guint i = 0; i < n; i++) {
		guint8 byte = (guint8)(value >> 8 * i);
		g_byte_array_append(build->bytes, &byte, 1);
	}
}

static guint32
link_of(const WpPcapBuild *build)
{
	return build->options.link || build->options.is_raw_link ? build->options.link
								 : WP_LINK_ETHERNET;
}

static guint8
resolution_of(const WpPcapBuild *build)
{
	if (build->options.resolution)
		return build->options.resolution;
	return build->options.micro ? 6 : 9;
}

static void
put_pcap_header(WpPcapBuild *build)
{
	put(build, build->options.micro ? 0xa1b2c3d4 : 0xa1b23c4d, 4);
	put(build, 2, 2);
	put(build, 4, 2);
	put(build, 0, 8);
	put(build, 262144, 4);
	put(build, link_of(build), 4);
}

/* TYPE, length and BODY, padded, and the length again. */
static void
put_block(WpPcapBuild *build, guint32 type, GByteArray *body)
{
	static const guint8 zeros[4];

	if (body->len % 4)
		g_byte_array_append(body, zeros, 4 - body->len % 4);
	put(build, type, 4);
	put(build, body->len + 12, 4);
	g_byte_array_append(build->bytes, body->data, body->len);
	put(build, body->len + 12, 4);
	g_byte_array_unref(body);
}

/* Numbers of a block's body: swaps build->bytes for a new array until end_body(). */
static GByteArray *
begin_body(WpPcapBuild *build)
{
	GByteArray *file = build->bytes;
	build->bytes = g_byte_array_new();
	return file;
}

static GByteArray *
end_body(WpPcapBuild *build, GByteArray *file)
{
	GByteArray *body = build->bytes;
	build->bytes = file;
	return body;
}

static void
put_section(WpPcapBuild *build)
{
	GByteArray *file = begin_body(build);
	put(build, 0x1a2b3c4d, 4);
	put(build, 1, 2);
	put(build, 0, 2);
	put(build, G_MAXUINT64, 8);
	put_block(build, 0x0a0d0d0a, end_body(build, file));
}

static gboolean
is_same_interface(const WpPcapBuildOptions *a, const WpPcapBuildOptions *b)
{
	return a->link == b->link && a->is_raw_link == b->is_raw_link && a->snap == b->snap &&
	       a->resolution == b->resolution && a->offset == b->offset &&
	       a->interface == b->interface;
}

/* The interface that the options describe, described to the file where it is new. */
static guint
find_interface(WpPcapBuild *build)
{
	for (guint i = 0; i < build->interfaces->len; i++)
		if (is_same_interface(&g_array_index(build->interfaces, WpPcapBuildOptions, i),
				      &build->options))
			return i;
	g_array_append_val(build->interfaces, build->options);
	GByteArray *file = begin_body(build);
	put(build, link_of(build), 2);
	put(build, 0, 2);
	put(build, build->options.snap, 4);
	put(build, 9, 2);
	put(build, 1, 2);
	put(build, resolution_of(build), 1);
	put(build, 0, 3);
	if (build->options.offset) {
		put(build, 14, 2);
		put(build, 8, 2);
		put(build, (guint64)build->options.offset, 8);
	}
	put(build, 0, 4);
	put_block(build, 1, end_body(build, file));
	return build->interfaces->len - 1;
}

WpPcapBuild *
wp_pcap_build_new(const WpPcapBuildOptions *options)
{
	WpPcapBuild *build = g_new0(WpPcapBuild, 1);
	if (options)
		build->options = *options;
	build->bytes = g_byte_array_new();
	build->interfaces = g_array_new(FALSE, FALSE, sizeof(WpPcapBuildOptions));
	if (build->options.pcapng)
		put_section(build);
	else
		put_pcap_header(build);
	return build;
}

void
wp_pcap_build_free(WpPcapBuild *build)
{
	if (!build)
		return;
	g_byte_array_unref(build->bytes);
	g_array_unref(build->interfaces);
	g_free(build);
}

void
wp_pcap_build_set(WpPcapBuild *build, const WpPcapBuildOptions *options)
{
	WpPcapBuildOptions old = build->options;
	build->options = *options;
	build->options.pcapng = old.pcapng;
	build->options.big_endian = old.big_endian;
	build->options.micro = old.micro;
}

void
wp_pcap_build_section(WpPcapBuild *build, gboolean is_other_order)
{
	if (is_other_order)
		build->options.big_endian = !build->options.big_endian;
	g_array_set_size(build->interfaces, 0);
	put_section(build);
}

void
wp_pcap_build_block(WpPcapBuild *build, guint32 type, const void *body, gsize length)
{
	GByteArray *bytes = g_byte_array_new();
	g_byte_array_append(bytes, body, (guint)length);
	put_block(build, type, bytes);
}

/* TIME_NS in units of if_tsresol. */
static guint64
ticks_of(const WpPcapBuild *build, gint64 time_ns)
{
	guint8 resolution = resolution_of(build);
	unsigned __int128 ticks = (unsigned __int128)(time_ns - build->options.offset * 1000000000);
	if (resolution & 0x80)
		return (guint64)((ticks << (resolution & 0x7f)) / 1000000000);
	for (guint i = resolution; i < 9; i++)
		ticks /= 10;
	for (guint i = 9; i < resolution; i++)
		ticks *= 10;
	return (guint64)ticks;
}

void
wp_pcap_build_frame(WpPcapBuild *build, gint64 time_ns, const guint8 *data, guint32 captured,
		    guint32 length)
{
	if (build->options.snap > 0)
		captured = MIN(captured, build->options.snap);
	if (build->options.pcapng) {
		guint interface = find_interface(build);
		guint64 ticks = ticks_of(build, time_ns);
		GByteArray *file = begin_body(build);
		put(build, interface, build->options.old_packets ? 2 : 4);
		if (build->options.old_packets)
			put(build, 0xffff, 2); /* drops are not known */
		put(build, ticks >> 32, 4);
		put(build, ticks & G_MAXUINT32, 4);
		put(build, captured, 4);
		put(build, length, 4);
		g_byte_array_append(build->bytes, data, captured);
		put_block(build, build->options.old_packets ? 2 : 6, end_body(build, file));
		return;
	}
	gint64 fraction = time_ns % 1000000000;
	put(build, (guint64)(time_ns / 1000000000), 4);
	put(build, (guint64)(build->options.micro ? fraction / 1000 : fraction), 4);
	put(build, captured, 4);
	put(build, length, 4);
	g_byte_array_append(build->bytes, data, captured);
}

/* Type fields of the frame from ETHERTYPE on, with the tags before it. */
static void
put_tags(const WpPcapBuild *build, GByteArray *frame, guint16 ethertype)
{
	for (guint i = 0; i < build->options.n_vlans; i++) {
		put_be(frame, i + 1 < build->options.n_vlans ? 0x88a8 : 0x8100, 2);
		put_be(frame, build->options.vlans[i], 2);
	}
	put_be(frame, ethertype, 2);
}

static void
put_link_header(const WpPcapBuild *build, GByteArray *frame, gboolean is_ipv6)
{
	guint16 ethertype = is_ipv6 ? 0x86dd : 0x0800;
	switch (link_of(build)) {
	case WP_LINK_ETHERNET:
		put_be(frame, G_GUINT64_CONSTANT(0x020000000002), 6);
		put_be(frame, G_GUINT64_CONSTANT(0x020000000001), 6);
		put_tags(build, frame, ethertype);
		break;
	case WP_LINK_SLL: /* for us, Ethernet, six bytes of address */
		put_be(frame, 0x000000010006, 6);
		put_be(frame, G_GUINT64_CONSTANT(0x0200000000010000), 8);
		put_tags(build, frame, ethertype);
		break;
	case WP_LINK_SLL2: /* protocol first, then interface 1, Ethernet, for us, address */
		put_be(frame, ethertype, 2);
		put_be(frame, 0x000000000001, 6);
		put_be(frame, 0x00010006, 4);
		put_be(frame, G_GUINT64_CONSTANT(0x0200000000010000), 8);
		break;
	case WP_LINK_NULL: /* in the order of the machine that captured: little-endian */
		put_be(frame, is_ipv6 ? 0x1e000000 : 0x02000000, 4);
		break;
	case WP_LINK_LOOP:
		put_be(frame, is_ipv6 ? 0x1e : 2, 4);
		break;
	default:
		break;
	}
}

void
wp_pcap_build_ip(WpPcapBuild *build, gint64 time_ns, const guint8 *packet, guint32 length)
{
	g_autoptr(GByteArray) frame = g_byte_array_new();
	put_link_header(build, frame, packet[0] >> 4 == 6);
	g_byte_array_append(frame, packet, length);
	wp_pcap_build_frame(build, time_ns, frame->data, frame->len, frame->len);
}

const GByteArray *
wp_pcap_build_bytes(const WpPcapBuild *build)
{
	return build->bytes;
}

WpTempFile *
wp_pcap_build_file(const WpPcapBuild *build, const char *suffix)
{
	g_autoptr(GByteArray) packed = NULL;
	if (g_str_has_suffix(suffix, ".gz"))
		packed = wp_gzip_bytes(build->bytes->data, build->bytes->len);
	else if (g_str_has_suffix(suffix, ".zst"))
		packed = wp_zstd_bytes(build->bytes->data, build->bytes->len);
	else if (g_str_has_suffix(suffix, ".lz4"))
		packed = wp_lz4_bytes(build->bytes->data, build->bytes->len);
	const GByteArray *bytes = packed ? packed : build->bytes;
	return wp_temp_file_new(suffix, bytes->data, bytes->len);
}

/* The Internet checksum (RFC 1071) of DATA on top of SUM. */
static guint16
checksum(const guint8 *data, gsize length, guint64 sum)
{
	for (gsize i = 0; i < length; i++)
		sum += i % 2 ? data[i] : (guint64)data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (guint16)~sum;
}

static void
set_be16(GByteArray *bytes, guint at, guint16 value)
{
	bytes->data[at] = (guint8)(value >> 8);
	bytes->data[at + 1] = (guint8)value;
}

/* Header and payload of TCP or UDP, its checksum 0. */
static GByteArray *
make_segment(const WpBuildPacket *packet, const WpEndpoint *src, const WpEndpoint *dst)
{
	GByteArray *bytes = g_byte_array_new();
	gboolean has_times = packet->ts_value || packet->ts_echo;
	gsize length = packet->length >= 0 ? (gsize)packet->length : strlen(packet->payload);

	put_be(bytes, src->port, 2);
	put_be(bytes, dst->port, 2);
	if (packet->udp) {
		put_be(bytes, 8 + length, 2);
		put_be(bytes, 0, 2);
	} else {
		put_be(bytes, packet->seq, 4);
		put_be(bytes, packet->ack, 4);
		put_be(bytes, has_times ? 0x80 : 0x50, 1);
		put_be(bytes, packet->flags ? packet->flags : WP_TCP_ACK, 1);
		put_be(bytes, packet->window ? packet->window : 65535, 2);
		put_be(bytes, 0, 4);
	}
	if (has_times && !packet->udp) {
		put_be(bytes, 0x0101080a, 4); /* two NOPs, kind 8, length 10 */
		put_be(bytes, packet->ts_value, 4);
		put_be(bytes, packet->ts_echo, 4);
	}
	if (length > 0)
		g_byte_array_append(bytes, packet->payload, (guint)length);
	return bytes;
}

/* TCP's and UDP's checksum, with the pseudo header's part. */
static void
set_checksum(GByteArray *segment, const WpEndpoint *src, const WpEndpoint *dst, gboolean udp)
{
	guint8 pseudo[32];
	memcpy(pseudo, src->address, 16);
	memcpy(pseudo + 16, dst->address, 16);
	gboolean is_ipv6 = pseudo[10] != 0xff || pseudo[0] != 0;
	guint64 sum = segment->len + (udp ? 17 : 6);
	for (guint i = 0; i < sizeof pseudo; i += 2)
		if (is_ipv6 || i % 16 >= 12)
			sum += (guint64)pseudo[i] << 8 | pseudo[i + 1];
	set_be16(segment, udp ? 6 : 16, checksum(segment->data, segment->len, sum));
}

static void
put_ipv4(GByteArray *ip, const WpBuildPacket *packet, const WpEndpoint *src, const WpEndpoint *dst,
	 guint length)
{
	put_be(ip, 0x4500, 2);
	put_be(ip, 20 + length, 2);
	put_be(ip, packet->ip_id, 2);
	put_be(ip, 0x4000, 2); /* may not be fragmented */
	put_be(ip, packet->ttl ? packet->ttl : 64, 1);
	put_be(ip, packet->udp ? 17 : 6, 1);
	put_be(ip, 0, 2);
	g_byte_array_append(ip, src->address + 12, 4);
	g_byte_array_append(ip, dst->address + 12, 4);
	set_be16(ip, 10, checksum(ip->data, 20, 0));
}

static void
put_ipv6(GByteArray *ip, const WpBuildPacket *packet, const WpEndpoint *src, const WpEndpoint *dst,
	 guint length)
{
	put_be(ip, 0x60000000, 4);
	put_be(ip, length, 2);
	put_be(ip, packet->udp ? 17 : 6, 1);
	put_be(ip, packet->ttl ? packet->ttl : 64, 1);
	g_byte_array_append(ip, src->address, 16);
	g_byte_array_append(ip, dst->address, 16);
}

GByteArray *
wp_build_ip_packet(const WpBuildPacket *packet)
{
	WpEndpoint src, dst;
	ck_assert(wp_endpoint_parse(packet->src, &src) && wp_endpoint_parse(packet->dst, &dst));
	g_autoptr(GByteArray) segment = make_segment(packet, &src, &dst);
	GByteArray *ip = g_byte_array_new();

	set_checksum(segment, &src, &dst, packet->udp);
	if (packet->src[0] == '[')
		put_ipv6(ip, packet, &src, &dst, segment->len);
	else
		put_ipv4(ip, packet, &src, &dst, segment->len);
	g_byte_array_append(ip, segment->data, segment->len);
	return ip;
}

void
wp_pcap_build_packet(WpPcapBuild *build, const WpBuildPacket *packet)
{
	g_autoptr(GByteArray) ip = wp_build_ip_packet(packet);
	wp_pcap_build_ip(build, packet->time_ns, ip->data, ip->len);
}

/* An identification for IPv6, of which each packet has its own. */
static guint32
identify(const GByteArray *packet)
{
	guint32 hash = 5381;
	for (guint i = 0; i < packet->len; i++)
		hash = hash * 33 + packet->data[i];
	return hash | 1;
}

static GByteArray *
make_fragment(const GByteArray *packet, guint header, guint at, guint size)
{
	gboolean is_ipv6 = packet->data[0] >> 4 == 6;
	gboolean more = header + at + size < packet->len;
	guint n = more ? size : packet->len - header - at;
	GByteArray *fragment = g_byte_array_new();

	g_byte_array_append(fragment, packet->data, header);
	if (is_ipv6) {
		put_be(fragment, packet->data[6], 1);
		put_be(fragment, 0, 1);
		put_be(fragment, at | more, 2);
		put_be(fragment, identify(packet), 4);
		fragment->data[6] = 44;
		set_be16(fragment, 4, (guint16)(n + 8));
	} else {
		set_be16(fragment, 2, (guint16)(header + n));
		set_be16(fragment, 6, (guint16)(at / 8 | (more ? 0x2000 : 0)));
		set_be16(fragment, 10, 0);
		set_be16(fragment, 10, checksum(fragment->data, header, 0));
	}
	g_byte_array_append(fragment, packet->data + header + at, n);
	return fragment;
}

GPtrArray *
wp_build_fragments(const GByteArray *ip_packet, guint size)
{
	guint header = ip_packet->data[0] >> 4 == 6 ? 40 : 20;
	GPtrArray *fragments = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
	for (guint at = 0; header + at < ip_packet->len; at += size)
		g_ptr_array_add(fragments, make_fragment(ip_packet, header, at, size));
	return fragments;
}

void
wp_build_flow_init(WpBuildFlow *flow, WpPcapBuild *build, const char *client, const char *server)
{
	*flow = (WpBuildFlow){ build, { client, server }, { 1000, 5000 }, { 100, 200 }, 1448 };
}

static void
put_segment(WpBuildFlow *flow, guint from, gint64 time_ns, guint8 flags, const guint8 *data,
	    gsize length)
{
	WpBuildPacket packet = {
		.time_ns = time_ns,
		.src = flow->ends[from],
		.dst = flow->ends[!from],
		.flags = flags,
		.seq = flow->seq[from],
		.ack = flags & WP_TCP_ACK ? flow->seq[!from] : 0,
		.ip_id = ++flow->ip_id[from],
		.ts_value = (guint32)(time_ns / 1000000) + 1,
		.ts_echo = 1,
		.payload = data,
		.length = (gssize)length,
	};
	wp_pcap_build_packet(flow->build, &packet);
	flow->seq[from] += (guint32)length + ((flags & (WP_TCP_SYN | WP_TCP_FIN)) != 0);
}

void
wp_build_flow_open(WpBuildFlow *flow, gint64 time_ns)
{
	put_segment(flow, WP_BUILD_CLIENT, time_ns, WP_TCP_SYN, NULL, 0);
	put_segment(flow, WP_BUILD_SERVER, time_ns + 1000, WP_TCP_SYN | WP_TCP_ACK, NULL, 0);
	put_segment(flow, WP_BUILD_CLIENT, time_ns + 2000, WP_TCP_ACK, NULL, 0);
}

void
wp_build_flow_send(WpBuildFlow *flow, guint from, gint64 time_ns, const void *data, gssize length)
{
	const guint8 *bytes = data;
	gsize n = length >= 0 ? (gsize)length : strlen(data);

	for (gsize at = 0; at < n; at += flow->mss) {
		gsize step = MIN(n - at, flow->mss);
		guint8 push = at + step == n ? WP_TCP_PSH : 0;
		put_segment(flow, from, time_ns, WP_TCP_ACK | push, bytes + at, step);
		time_ns += 1000;
	}
}

void
wp_build_flow_close(WpBuildFlow *flow, gint64 time_ns)
{
	put_segment(flow, WP_BUILD_CLIENT, time_ns, WP_TCP_FIN | WP_TCP_ACK, NULL, 0);
	put_segment(flow, WP_BUILD_SERVER, time_ns + 1000, WP_TCP_FIN | WP_TCP_ACK, NULL, 0);
	put_segment(flow, WP_BUILD_CLIENT, time_ns + 2000, WP_TCP_ACK, NULL, 0);
}
