/* Variants of a capture: the rows, and how their files come about. */
#include "tests/support/vary.h"

#include <check.h>
#include <string.h>

#include "capture/source.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

/* --- clocks --- */

static gint64
to_micro(gint64 time_ns, guint n)
{
	return time_ns / 1000 * 1000;
}

/* A clock that counts in 2^-20 s. */
static gint64
to_binary(gint64 time_ns, guint n)
{
	__int128 ticks = ((__int128)time_ns << 20) / NS_PER_S;
	return (gint64)(ticks * NS_PER_S >> 20);
}

/* The interfaces of arrange_clocks(). */
static gint64
to_mixed(gint64 time_ns, guint n)
{
	return n % 3 == 0 ? time_ns : n % 3 == 1 ? to_micro(time_ns, n) : to_binary(time_ns, n);
}

/* --- pcapng --- */

static void
arrange_clocks(WpPcapBuild *build, const WpVaryPacket *packet, guint n)
{
	static const WpPcapBuildOptions interfaces[] = {
		{ .resolution = 9, .offset = 1000000000 },
		{ .resolution = 6 },
		{ .resolution = 0x80 | 20, .snap = 70000, .link = WP_LINK_ETHERNET },
	};
	wp_pcap_build_set(build, &interfaces[n % 3]);
}

/* Sections in turns of both byte orders, each with blocks that are none of our business. */
static void
arrange_sections(WpPcapBuild *build, const WpVaryPacket *packet, guint n)
{
	static const guint8 zeros[40];
	if (n % 50 == 49)
		wp_pcap_build_section(build, TRUE);
	if (n % 50 == 0) {
		wp_pcap_build_block(build, 0xbad, "\0\0\x12\x34 custom", 11);
		wp_pcap_build_block(build, 4, zeros, 4);              /* names: none */
		wp_pcap_build_block(build, 9, "MESSAGE=hello\n", 14); /* a journal */
		wp_pcap_build_block(build, 0x12345678, zeros, 0);
	}
	if (n % 50 == 10)
		wp_pcap_build_block(build, 5, zeros, 12); /* statistics of interface 0 */
}

static void
arrange_two_interfaces(WpPcapBuild *build, const WpVaryPacket *packet, guint n)
{
	const WpPcapBuildOptions options = { .link = WP_LINK_RAW, .interface = packet->copy };
	wp_pcap_build_set(build, &options);
}

/* --- damage --- */

static void
spoil_tail(GByteArray *file)
{
	g_byte_array_set_size(file, file->len * 2 / 3);
}

static guint32
le32(const GByteArray *file, guint at)
{
	guint32 number;
	memcpy(&number, file->data + at, 4);
	return GUINT32_FROM_LE(number);
}

/* Where the first record after half of the file begins: pcap, little-endian. */
static guint
find_record(const GByteArray *file)
{
	guint at = 24;
	while (at < file->len / 2)
		at += 16 + le32(file, at + 8);
	return at;
}

/* The captured length of a record is impossible: nothing behind it can be found. */
static void
spoil_length(GByteArray *file)
{
	memset(file->data + find_record(file) + 8, 0xff, 4);
}

/* Bytes of a record are missing: what follows is read at the wrong place. */
static void
spoil_record(GByteArray *file)
{
	g_byte_array_remove_range(file, find_record(file) + 30, 11);
}

/* One byte of an IP header is another: its length. */
static void
spoil_header(GByteArray *file)
{
	file->data[find_record(file) + 16 + 14 + 3] ^= 0x40;
}

#define NG        .file.pcapng = TRUE
#define LINK(n)   .file.link = n
#define SAME      .kind = WP_VARY_SAME
#define FEWER     .kind = WP_VARY_FEWER
#define ZERO_LINK .file = { .is_raw_link = TRUE }

const WpVariant wp_variants[] = {
	/* files */
	{ .name = "plain", SAME },
	{ .name = "microseconds", SAME, .file.micro = TRUE, .round = to_micro },
	{ .name = "big-endian", SAME, .file.big_endian = TRUE },
	{ .name = "gzip", SAME, .suffix = ".gz" },
	{ .name = "zstd", SAME, .suffix = ".zst" },
	{ .name = "lz4", SAME, .suffix = ".lz4" },
	{ .name = "pcapng", SAME, NG },
	{ .name = "pcapng-big-endian", SAME, NG, .file.big_endian = TRUE },
	{ .name = "pcapng-binary-clock",
	  SAME,
	  NG,
	  .file.resolution = 0x80 | 20,
	  .round = to_binary },
	{ .name = "pcapng-clocks", SAME, NG, .arrange = arrange_clocks, .round = to_mixed },
	{ .name = "pcapng-sections", SAME, NG, .arrange = arrange_sections, .suffix = ".lz4" },
	{ .name = "pcapng-old-packets", SAME, NG, .file.old_packets = TRUE },
	{ .name = "two-files", SAME, .n_files = 2 },
	/* link types */
	{ .name = "raw", SAME, LINK(WP_LINK_RAW), .wrap = "raw" },
	{ .name = "raw-12", SAME, LINK(12), .wrap = "raw" },
	{ .name = "ipv4", SAME, LINK(WP_LINK_IPV4), .wrap = "raw" },
	{ .name = "null", SAME, ZERO_LINK, .wrap = "null" },
	{ .name = "loop", SAME, LINK(WP_LINK_LOOP), .wrap = "loop" },
	{ .name = "cooked", SAME, LINK(WP_LINK_SLL), .wrap = "sll" },
	{ .name = "cooked-vlan", SAME, LINK(WP_LINK_SLL), .wrap = "sll vlan" },
	{ .name = "cooked-2", SAME, LINK(WP_LINK_SLL2), .wrap = "sll2" },
	{ .name = "ppp", SAME, LINK(9), .wrap = "ppp" },
	{ .name = "hdlc", SAME, LINK(104), .wrap = "hdlc" },
	{ .name = "wireless", SAME, LINK(105), .wrap = "wireless snap" },
	{ .name = "radiotap", SAME, LINK(127), .wrap = "radiotap wireless snap" },
	/* tags and tunnels */
	{ .name = "trailer", SAME, .wrap = "trailer eth" },
	{ .name = "vlan", SAME, .wrap = "eth vlan" },
	{ .name = "vlan-trailer", SAME, .wrap = "trailer eth vlan" },
	{ .name = "vlan-one-way", SAME, .wrap = "eth vlan-one-way" },
	{ .name = "qinq", SAME, .wrap = "eth qinq vlan" },
	{ .name = "qinq-old", SAME, .wrap = "eth qinq-old vlan" },
	{ .name = "mpls", SAME, .wrap = "eth mpls" },
	{ .name = "mpls-labels", SAME, .wrap = "eth labels" },
	{ .name = "pseudowire", SAME, .wrap = "eth mpls eth" },
	{ .name = "pseudowire-control", SAME, .wrap = "eth mpls control-word eth vlan" },
	{ .name = "pppoe", SAME, .wrap = "eth pppoe" },
	{ .name = "snap", SAME, .wrap = "eth snap" },
	{ .name = "ip-in-ip", SAME, .wrap = "eth ip4" },
	{ .name = "ip-in-ipv6", SAME, .wrap = "eth ip6" },
	{ .name = "authenticated", SAME, .wrap = "eth ip4 ah" },
	{ .name = "gre", SAME, .wrap = "eth ip4 gre" },
	{ .name = "gre-key", SAME, .wrap = "eth ip6 gre-key" },
	{ .name = "gre-all", SAME, .wrap = "eth ip4 gre-all" },
	{ .name = "gre-ppp", SAME, .wrap = "eth ip4 gre-key ppp-short" },
	{ .name = "nvgre", SAME, .wrap = "eth ip4 gre-key eth" },
	{ .name = "erspan-1", SAME, .wrap = "eth ip4 erspan1 eth" },
	{ .name = "erspan-2", SAME, .wrap = "eth ip4 erspan2 eth vlan" },
	{ .name = "erspan-3", SAME, .wrap = "eth ip4 erspan3 eth" },
	{ .name = "erspan-3-subheader", SAME, .wrap = "eth ip4 erspan3-more eth" },
	{ .name = "vxlan", SAME, .wrap = "eth ip4 vxlan eth" },
	{ .name = "vxlan-linux", SAME, .wrap = "eth vlan ip6 vxlan-linux eth vlan" },
	{ .name = "vxlan-gpe", SAME, .wrap = "eth ip4 vxlan-gpe" },
	{ .name = "geneve", SAME, .wrap = "eth ip4 geneve eth" },
	{ .name = "geneve-options", SAME, .wrap = "eth ip4 geneve-options eth" },
	{ .name = "mirror-of-overlay", SAME, .wrap = "eth ip4 erspan2 eth vlan ip4 vxlan eth" },
	/* IP */
	{ .name = "ip-options", SAME, { wp_vary_options } },
	{ .name = "ip-length-0", SAME, { wp_vary_ip_length_0 } },
	{ .name = "bad-checksums", SAME, { wp_vary_bad_checksums } },
	{ .name = "fragments", SAME, { wp_vary_fragments } },
	{ .name = "fragments-reversed", SAME, { wp_vary_fragments_reversed } },
	{ .name = "fragments-doubled", SAME, { wp_vary_fragments, wp_vary_doubled } },
	{ .name = "fragments-vxlan", SAME, { wp_vary_fragments }, .wrap = "eth ip4 vxlan eth" },
	{ .name = "ipv6", SAME, { wp_vary_ipv6 } },
	{ .name = "ipv6-raw", SAME, { wp_vary_ipv6 }, LINK(WP_LINK_IPV6), .wrap = "raw" },
	{ .name = "ipv6-null", SAME, { wp_vary_ipv6 }, ZERO_LINK, .wrap = "null" },
	{ .name = "ipv6-extensions", SAME, { wp_vary_ipv6, wp_vary_extensions } },
	{ .name = "ipv6-fragments", SAME, { wp_vary_ipv6, wp_vary_fragments } },
	{ .name = "ipv6-in-ip", SAME, { wp_vary_ipv6 }, .wrap = "eth ip4" },
	{ .name = "ipv6-in-vxlan", SAME, { wp_vary_ipv6 }, .wrap = "eth ip6 vxlan eth" },
	{ .name = "ipv6-in-pppoe", SAME, { wp_vary_ipv6 }, .wrap = "eth pppoe" },
	/* TCP */
	{ .name = "segments-7", SAME, { wp_vary_segments_7 } },
	{ .name = "segments-1", SAME, { wp_vary_segments_1 } },
	{ .name = "sequence-wrap", SAME, { wp_vary_sequence_wrap } },
	{ .name = "odd-ports", SAME, { wp_vary_odd_ports } },
	/* seen again */
	{ .name = "doubled", SAME, { wp_vary_doubled } },
	{ .name = "doubled-ipv6", SAME, { wp_vary_ipv6, wp_vary_doubled } },
	{ .name = "doubled-no-ids", SAME, { wp_vary_no_ids, wp_vary_doubled } },
	{ .name = "third-doubled", SAME, { wp_vary_third_doubled } },
	{ .name = "third-doubled-no-ids", SAME, { wp_vary_no_ids, wp_vary_third_doubled } },
	{ .name = "copy-routed", SAME, { wp_vary_routed } },
	{ .name = "copy-routed-no-ids", SAME, { wp_vary_no_ids, wp_vary_routed } },
	{ .name = "copy-vlan", SAME, { wp_vary_copied }, .copy_wrap = "eth vlan" },
	{ .name = "copy-in-tunnel", SAME, { wp_vary_copied }, .copy_wrap = "eth ip4 vxlan eth" },
	{ .name = "copy-in-tunnel-no-ids",
	  SAME,
	  { wp_vary_no_ids, wp_vary_copied },
	  .copy_wrap = "eth ip4 gre-all" },
	{ .name = "copy-in-two-tunnels",
	  SAME,
	  { wp_vary_ipv6, wp_vary_routed },
	  .wrap = "eth ip4 erspan2 eth",
	  .copy_wrap = "eth ip4 erspan2 eth ip6 geneve eth" },
	{ .name = "two-interfaces",
	  SAME,
	  { wp_vary_no_ids, wp_vary_copied },
	  NG,
	  .wrap = "raw",
	  LINK(WP_LINK_RAW),
	  .arrange = arrange_two_interfaces },
	{ .name = "two-cooked-interfaces",
	  SAME,
	  { wp_vary_ipv6, wp_vary_copied },
	  LINK(WP_LINK_SLL2),
	  .wrap = "sll2" },
	{ .name = "two-captures", SAME, { wp_vary_copied }, .n_files = 2 },
	/* out of order */
	{ .name = "reordered", SAME, { wp_vary_reordered } },
	{ .name = "file-order", SAME, { wp_vary_file_order } },
	{ .name = "retransmitted", SAME, { wp_vary_retransmitted } },
	{ .name = "retransmitted-doubled", SAME, { wp_vary_retransmitted, wp_vary_doubled } },
	/* less */
	{ .name = "snap-96", FEWER, .keeps = 85, .file.snap = 96 },
	{ .name = "snap-200", FEWER, .keeps = 95, .file.snap = 200 },
	{ .name = "snap-96-vxlan",
	  FEWER,
	  .keeps = 0,
	  .file.snap = 96,
	  .wrap = "eth ip4 vxlan eth" },
	{ .name = "snap-60-vxlan", FEWER, .file.snap = 60, .wrap = "eth ip4 vxlan eth" },
	{ .name = "mid-stream", FEWER, { wp_vary_middle }, .keeps = 70 },
	{ .name = "cut-tail", FEWER, .keeps = 60, .spoil = spoil_tail },
	{ .name = "cut-tail-gzip", FEWER, .keeps = 55, .suffix = ".gz", .spoil = spoil_tail },
	{ .name = "cut-tail-pcapng", FEWER, .keeps = 60, NG, .spoil = spoil_tail },
	{ .name = "loss", FEWER, { wp_vary_loss }, .keeps = 90 },
	{ .name = "loss-ipv6", FEWER, { wp_vary_ipv6, wp_vary_loss }, .keeps = 90 },
	{ .name = "loss-doubled", FEWER, { wp_vary_loss, wp_vary_doubled }, .keeps = 90 },
	{ .name = "loss-burst", FEWER, { wp_vary_burst }, .keeps = 70 },
	{ .name = "one-way", FEWER, { wp_vary_one_way } },
	{ .name = "other-way", FEWER, { wp_vary_other_way } },
	{ .name = "damaged-length", FEWER, .keeps = 40, .spoil = spoil_length },
	{ .name = "damaged-record", FEWER, .keeps = 40, .spoil = spoil_record },
	{ .name = "damaged-header", FEWER, .keeps = 95, .spoil = spoil_header },
	{ .name = NULL },
};

/* --- packets --- */

WpVaryPacket *
wp_vary_packet_new(gint64 time_ns, const guint8 *ip, gsize length)
{
	WpVaryPacket *packet = g_new0(WpVaryPacket, 1);
	packet->time_ns = time_ns;
	packet->ip = g_byte_array_new();
	g_byte_array_append(packet->ip, ip, (guint)length);
	return packet;
}

void
wp_vary_packet_free(WpVaryPacket *packet)
{
	g_byte_array_unref(packet->ip);
	g_free(packet);
}

/* (transfer full) */
static WpVaryPacket *
copy_packet(const WpVaryPacket *packet)
{
	WpVaryPacket *copy = wp_vary_packet_new(packet->time_ns, packet->ip->data, packet->ip->len);
	copy->copy = packet->copy;
	return copy;
}

static GPtrArray *
new_packets(void)
{
	return g_ptr_array_new_with_free_func((GDestroyNotify)wp_vary_packet_free);
}

GPtrArray *
wp_vary_read(const char *path, guint max)
{
	g_autoptr(WpSource) source = wp_source_open(path, 0, NULL);
	GPtrArray *packets = new_packets();
	WpFrame frame;

	ck_assert_msg(source != NULL, "cannot read %s", path);
	while (packets->len < max && wp_source_next(source, &frame, NULL) == WP_SOURCE_FRAME) {
		const guint8 *ip = frame.data + 14;
		guint16 length = (guint16)(ip[2] << 8 | ip[3]);
		/* IPv4 that is whole, without the frame's padding. */
		if (frame.data[12] == 8 && frame.data[13] == 0 && frame.captured >= 14u + length)
			g_ptr_array_add(packets, wp_vary_packet_new(frame.time_ns, ip, length));
	}
	return packets;
}

GPtrArray *
wp_vary_round(const WpVariant *variant, const GPtrArray *packets)
{
	GPtrArray *rounded = new_packets();
	for (guint i = 0; i < packets->len; i++) {
		WpVaryPacket *packet = copy_packet(packets->pdata[i]);
		if (variant->round)
			packet->time_ns = variant->round(packet->time_ns, i);
		g_ptr_array_add(rounded, packet);
	}
	return rounded;
}

static void
write_packet(const WpVariant *variant, WpPcapBuild *build, const WpVaryPacket *packet, guint n)
{
	g_autoptr(GByteArray) frame = g_byte_array_new();
	const char *wrap = variant->wrap ? variant->wrap : "eth";

	g_byte_array_append(frame, packet->ip->data, packet->ip->len);
	wp_vary_wrap(frame, packet->copy && variant->copy_wrap ? variant->copy_wrap : wrap, packet,
		     n);
	if (variant->arrange)
		variant->arrange(build, packet, n);
	wp_pcap_build_frame(build, packet->time_ns, frame->data, frame->len, frame->len);
}

static WpTempFile *
write_file(const WpVariant *variant, WpPcapBuild *build)
{
	WpTempFile *path = wp_pcap_build_file(build, variant->suffix ? variant->suffix : ".pcap");
	if (!variant->spoil)
		return path;
	gsize length;
	g_autofree char *bytes = wp_temp_file_read(path, &length);
	g_autoptr(GByteArray) file = g_byte_array_new();
	g_byte_array_append(file, (const guint8 *)bytes, (guint)length);
	variant->spoil(file);
	ck_assert(g_file_set_contents(path, (const char *)file->data, file->len, NULL));
	return path;
}

void
wp_vary_write(const WpVariant *variant, const GPtrArray *packets,
	      WpTempFile *out_paths[WP_VARY_MAX_FILES + 1])
{
	WpPcapBuild *builds[WP_VARY_MAX_FILES];
	guint n_files = MAX(variant->n_files, 1);
	/* The clock of the file cuts the times, and twice would be too much. */
	static const WpVariant none = { .name = "none" };
	g_autoptr(GPtrArray) list = wp_vary_round(&none, packets);

	for (guint i = 0; i < WP_VARY_MAX_CHANGES && variant->changes[i]; i++)
		variant->changes[i](list);
	for (guint i = 0; i < n_files; i++)
		builds[i] = wp_pcap_build_new(&variant->file);
	for (guint i = 0; i < list->len; i++) {
		const WpVaryPacket *packet = list->pdata[i];
		guint file = packet->copy ? n_files - 1 : i % n_files;
		write_packet(variant, builds[file], packet, i);
	}
	for (guint i = 0; i < n_files; i++) {
		out_paths[i] = write_file(variant, builds[i]);
		wp_pcap_build_free(builds[i]);
	}
	out_paths[n_files] = NULL;
}
