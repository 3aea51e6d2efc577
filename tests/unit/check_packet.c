/* WpPackets: frames of every link type to segments; fragments, copies, short and impossible packets. */
#include "capture/packet.h"

#include <string.h>

#include "tests/support/packet-run.h"
#include "tests/support/pcap-build.h"
#include "tests/support/suite.h"

#define MS G_GINT64_CONSTANT(1000000)

/* The counter must be N. */
#define ck_assert_count(result, counter, n)                                                        \
	ck_assert_uint_eq(wp_counters_get((result).counters, WP_COUNT_##counter), n)

static const WpBuildPacket tcp4 = { .src = "10.0.0.1:40000",
				    .dst = "10.0.0.2:80",
				    .flags = WP_TCP_ACK | WP_TCP_PSH,
				    .seq = 4000000000,
				    .ack = 7,
				    .window = 500,
				    .ip_id = 77,
				    .payload = "hello",
				    .length = 5 };
static const WpBuildPacket udp6 = { .src = "[fe80::1]:53",
				    .dst = "[2001:db8::2]:4000",
				    .udp = TRUE,
				    .payload = "answer",
				    .length = 6 };
#define TCP4 "10.0.0.1:40000>10.0.0.2:80 tcp 18 4000000000 7 500 hello/5; "
#define UDP6 "[fe80::1]:53>[2001:db8::2]:4000 udp answer/6; "

/* Whatever stands around them, the same packets come out. */
START_TEST(link_types)
{
	static const WpPcapBuildOptions rows[] = {
		{ .link = WP_LINK_ETHERNET },
		{ .link = WP_LINK_ETHERNET, .n_vlans = 1, .vlans = { 5 } },
		{ .link = WP_LINK_ETHERNET, .n_vlans = 2, .vlans = { 5, 6 } },
		{ .link = WP_LINK_ETHERNET, .n_vlans = 4, .vlans = { 5, 6, 7, 8 } },
		{ .link = WP_LINK_SLL },
		{ .link = WP_LINK_SLL, .n_vlans = 1 },
		{ .link = WP_LINK_SLL2 },
		{ .link = WP_LINK_RAW },
		{ .link = 12 },
		{ .link = 14 },
		{ .link = WP_LINK_IPV4 },
		{ .link = WP_LINK_IPV6 },
		{ .link = WP_LINK_NULL, .is_raw_link = TRUE },
		{ .link = WP_LINK_LOOP },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(&rows[i]);
		wp_pcap_build_packet(build, &tcp4);
		wp_pcap_build_packet(build, &udp6);
		g_auto(WpPacketRun) result = wp_packet_run(build);
		ck_assert_str_eq(result.text->str, TCP4 UDP6);
	}
}
END_TEST

/* Loopback in the other byte order, and the other numbers of IPv6. */
START_TEST(loopback_families)
{
	static const struct {
		guint8 head[4];
		gboolean is_ip;
	} rows[] = {
		{ { 0, 0, 0, 2 }, TRUE },  { { 2, 0, 0, 0 }, TRUE },  { { 0, 0, 0, 10 }, TRUE },
		{ { 24, 0, 0, 0 }, TRUE }, { { 0, 0, 0, 28 }, TRUE }, { { 7, 0, 0, 0 }, FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpPcapBuildOptions options = { .is_raw_link = TRUE };
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(&options);
		g_autoptr(GByteArray) ip = wp_build_ip_packet(&udp6);
		g_byte_array_prepend(ip, rows[i].head, 4);
		wp_pcap_build_frame(build, 0, ip->data, ip->len, ip->len);
		g_auto(WpPacketRun) result = wp_packet_run(build);
		ck_assert_str_eq(result.text->str, rows[i].is_ip ? UDP6 : "");
		ck_assert_count(result, PACKETS_NOT_IP, !rows[i].is_ip);
	}
}
END_TEST

#define MACS "020000000002 020000000001 "

/* Headers between Ethernet and IP, and what is not IP. */
START_TEST(between_ethernet_and_ip)
{
	static const struct {
		const char *hex;
		const char *expected;
	} rows[] = {
		{ MACS "8847 00010140", TCP4 },                   /* MPLS, one label */
		{ MACS "8847 00010040 00020040 00030140", TCP4 }, /* three */
		{ MACS "8864 11000001 0021 0021", TCP4 },         /* PPPoE session, IPv4 */
		{ MACS "0030 aaaa03 000000 0800", TCP4 },         /* 802.3, LLC, SNAP */
		{ MACS "9100 0001 8100 0002 0800", TCP4 },        /* the old outer tag */
		{ MACS "0806", "not" },                           /* ARP */
		{ MACS "88cc", "not" },                           /* LLDP */
		{ MACS "0030 424203", "not" },                    /* spanning tree */
		{ MACS "86dd", "bad" },                           /* IPv6 announced, IPv4 found */
		{ MACS "8847 00010040 00010040 00010040 00010040 00010040 00010040 00010040 "
		       "00010040 00010040",
		  "bad" },
		{ MACS "8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 "
		       "8100 0001 8100 0001 0800",
		  "bad" },
	};
	g_autoptr(GByteArray) ip = wp_build_ip_packet(&tcp4);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
		gboolean is_good = strcmp(rows[i].expected, TCP4) == 0;
		wp_packet_run_put(build, rows[i].hex, ip);
		g_auto(WpPacketRun) result = wp_packet_run(build);
		ck_assert_str_eq(result.text->str, is_good ? TCP4 : "");
		ck_assert_count(result, PACKETS_NOT_IP, strcmp(rows[i].expected, "not") == 0);
		ck_assert_count(result, PACKETS_MALFORMED, strcmp(rows[i].expected, "bad") == 0);
	}
}
END_TEST

/* An unknown link type is counted. */
START_TEST(unknown_link)
{
	WpPcapBuildOptions options = { .link = 147 };
	g_autoptr(WpPcapBuild) build = wp_pcap_build_new(&options);
	wp_pcap_build_packet(build, &tcp4);
	g_auto(WpPacketRun) result = wp_packet_run(build);
	ck_assert_count(result, PACKETS_UNKNOWN_LINK, 1);
}
END_TEST

/* Bytes of a packet changed: "offset=hex,..." in the IP packet, and what comes of it. */
START_TEST(ip_headers)
{
	static const struct {
		gboolean is_ipv6;
		const char *changes;
		guint n_padding; /* bytes behind the packet in the frame */
		const char *expected;
	} rows[] = {
		{ FALSE, "", 18, TCP4 },               /* padding is cut off */
		{ TRUE, "", 18, UDP6 },                /* so it is with IPv6 */
		{ FALSE, "2=0000", 0, TCP4 },          /* total length 0: the frame's */
		{ FALSE, "10=0000,36=0000", 0, TCP4 }, /* sums are not looked at */
		{ FALSE, "9=01", 0, "other" },         /* ICMP */
		{ FALSE, "9=32", 0, "other" },         /* ESP */
		{ FALSE, "0=44", 0, "bad" },           /* header of 16 bytes */
		{ FALSE, "2=0013", 0, "bad" },         /* total length 19 */
		{ FALSE, "2=0028", 0, "10.0.0.1:40000>10.0.0.2:80 tcp 18 4000000000 7 500 /0; " },
		{ FALSE, "0=75", 0, "bad" },   /* version 7 */
		{ FALSE, "32=40", 0, "bad" },  /* TCP header of 16 bytes */
		{ FALSE, "32=f0", 0, "bad" },  /* of 60 */
		{ FALSE, "2=0027", 0, "bad" }, /* TCP header cut by the total length */
		{ TRUE, "44=0000", 0, UDP6 },  /* UDP length 0: all */
		{ TRUE, "44=0007", 0, "bad" }, /* UDP length 7 */
		{ TRUE, "44=0009", 0, "[fe80::1]:53>[2001:db8::2]:4000 udp a/1; " },
		{ TRUE, "4=0000", 0, UDP6 },  /* payload length 0: the frame's */
		{ TRUE, "6=3b", 0, "other" }, /* no next header */
		{ TRUE, "6=3a", 0, "other" }, /* ICMPv6 */
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		static const guint8 zeros[18];
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
		g_autoptr(GByteArray) ip = wp_build_ip_packet(rows[i].is_ipv6 ? &udp6 : &tcp4);
		g_auto(GStrv) changes = g_strsplit(rows[i].changes, ",", -1);
		for (guint c = 0; changes[c]; c++) {
			char *hex;
			guint at = (guint)g_ascii_strtoull(changes[c], &hex, 10);
			for (hex++; *hex; hex += 2)
				ip->data[at++] = (guint8)(g_ascii_xdigit_value(hex[0]) << 4 |
							  g_ascii_xdigit_value(hex[1]));
		}
		g_byte_array_append(ip, zeros, rows[i].n_padding);
		wp_packet_run_put(build, rows[i].is_ipv6 ? MACS "86dd" : MACS "0800", ip);
		g_auto(WpPacketRun) result = wp_packet_run(build);
		gboolean is_bad = strcmp(rows[i].expected, "bad") == 0;
		gboolean is_other = strcmp(rows[i].expected, "other") == 0;
		ck_assert_str_eq(result.text->str, is_bad || is_other ? "" : rows[i].expected);
		ck_assert_count(result, PACKETS_MALFORMED, is_bad);
		ck_assert_count(result, PACKETS_OTHER_IP, is_other);
	}
}
END_TEST

/* Options of IPv4, extension headers of IPv6: they are passed over, whatever their order. */
START_TEST(options_and_extensions)
{
	static const struct {
		const char *chain; /* of types and bytes: the first byte is the next type */
		guint8 first;
		const char *expected;
	} rows[] = {
		{ "1100050200000000", 0, UDP6 },                   /* hop by hop */
		{ "3c00050200000000 1100010400000000", 0, UDP6 },  /* and destination */
		{ "1101000000000000 0000000000000000", 43, UDP6 }, /* routing, 16 bytes */
		{ "1104000000000001 00000002 000000000000000000000000", 51, UDP6 }, /* AH */
		{ "1100000012345678", 44, UDP6 },  /* an atomic fragment */
		{ "11ff000000000000", 60, "bad" }, /* longer than the packet */
		{ "3c00000000000000 3c00000000000000 3c00000000000000 3c00000000000000 "
		  "3c00000000000000 3c00000000000000 3c00000000000000 3c00000000000000 "
		  "3c00000000000000 3c00000000000000 3c00000000000000 3c00000000000000 "
		  "3c00000000000000 3c00000000000000 3c00000000000000 3c00000000000000 "
		  "1100000000000000",
		  60, "bad" },
	};
	g_autoptr(GByteArray) ip = wp_build_ip_packet(&udp6);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
		g_autoptr(GString) hex = g_string_new(MACS "86dd ");
		g_auto(GStrv) parts = g_strsplit(rows[i].chain, " ", -1);
		g_autofree char *chain = g_strjoinv("", parts);
		guint size = (guint)strlen(chain) / 2;
		for (guint b = 0; b < 40; b++)
			g_string_append_printf(hex, "%02x",
					       b == 4   ? 0
					       : b == 5 ? 14 + size
					       : b == 6 ? rows[i].first
							: ip->data[b]);
		g_string_append(hex, chain);
		g_autoptr(GByteArray) rest = g_byte_array_new();
		g_byte_array_append(rest, ip->data + 40, ip->len - 40);
		wp_packet_run_put(build, hex->str, rest);
		g_auto(WpPacketRun) result = wp_packet_run(build);
		gboolean is_bad = strcmp(rows[i].expected, "bad") == 0;
		ck_assert_msg(strcmp(result.text->str, is_bad ? "" : rows[i].expected) == 0,
			      "row %zu: %s", i, result.text->str);
		ck_assert_count(result, PACKETS_MALFORMED, is_bad);
	}
	/* IPv4 with 8 bytes of options */
	g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
	g_autoptr(GByteArray) four = wp_build_ip_packet(&tcp4);
	four->data[0] = 0x47;
	four->data[3] += 8;
	g_autoptr(GByteArray) with = g_byte_array_new();
	g_byte_array_append(with, four->data, 20);
	g_byte_array_append(with, (const guint8 *)"\x01\x01\x01\x01\x01\x01\x01\x00", 8);
	g_byte_array_append(with, four->data + 20, four->len - 20);
	wp_packet_run_put(build, MACS "0800", with);
	g_auto(WpPacketRun) result = wp_packet_run(build);
	ck_assert_str_eq(result.text->str, TCP4);
}
END_TEST

/*
 * The snap length takes bytes from the end: payload first, then TCP options, then the packet is of no
 * use; its length on the wire stays known.
 */
START_TEST(snapped)
{
	WpBuildPacket packet = tcp4;
	packet.ts_value = 1;
	g_autoptr(GByteArray) ip = wp_build_ip_packet(&packet);
	for (guint captured = 0; captured <= 14 + ip->len; captured++) {
		WpPcapBuildOptions options = { .snap = captured };
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(&options);
		g_autoptr(GString) expected = g_string_new(NULL);
		if (captured == 0)
			continue;
		wp_pcap_build_packet(build, &packet);
		g_auto(WpPacketRun) result = wp_packet_run(build);
		if (captured >= 14 + 20 + 20)
			g_string_printf(
				expected,
				"10.0.0.1:40000>10.0.0.2:80 tcp 18 4000000000 7 500 %.*s/5; ",
				MAX(0, (int)captured - (14 + 20 + 32)), "hello");
		ck_assert_str_eq(result.text->str, expected->str);
		ck_assert_count(result, PACKETS_SNAPPED, captured < 14 + ip->len);
		ck_assert_count(result, PACKETS_MALFORMED, 0);
	}
}
END_TEST

/* Fragments in order, in reverse and doubled make the datagram again; IPv6 too. */
START_TEST(fragments)
{
	g_autofree char *payload = g_strnfill(3000, 'p');
	memcpy(payload, "0123456789", 10);
	static const char *const expected[] = {
		"10.0.0.1:111>10.0.0.2:2049 udp 0123456789pppppppppp/3000; ",
		"[fe80::1]:111>[fe80::2]:2049 udp 0123456789pppppppppp/3000; "
	};
	for (int how = 0; how < 6; how++) {
		gboolean is_ipv6 = how % 2, is_reverse = how / 2 == 1, is_doubled = how / 2 == 2;
		WpBuildPacket packet = { .src = is_ipv6 ? "[fe80::1]:111" : "10.0.0.1:111",
					 .dst = is_ipv6 ? "[fe80::2]:2049" : "10.0.0.2:2049",
					 .udp = TRUE,
					 .ip_id = 9,
					 .payload = payload,
					 .length = 3000 };
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
		g_autoptr(GByteArray) ip = wp_build_ip_packet(&packet);
		g_autoptr(GPtrArray) pieces = wp_build_fragments(ip, 64);
		for (guint i = 0; i < pieces->len; i++) {
			const GByteArray *piece =
				g_ptr_array_index(pieces, is_reverse ? pieces->len - 1 - i : i);
			for (int n = 0; n <= is_doubled; n++)
				wp_pcap_build_ip(build, i, piece->data, piece->len);
		}
		g_auto(WpPacketRun) result = wp_packet_run(build);
		ck_assert_str_eq(result.text->str, expected[is_ipv6]);
		ck_assert_count(result, FRAGMENTS, pieces->len);
		ck_assert_count(result, FRAGMENTS_LOST, 0);
		ck_assert_count(result, PACKETS_DOUBLED, is_doubled ? pieces->len : 0);
	}
}
END_TEST

/*
 * Two packets, the second with CHANGES to the IP packet, DELAY later, perhaps in another frame: is the
 * second a copy?
 */
START_TEST(copies)
{
	static const WpBuildPacket udp4 = { .src = "10.0.0.1:1",
					    .dst = "10.0.0.2:2",
					    .udp = TRUE,
					    .ip_id = 5,
					    .payload = "x",
					    .length = 1 };
	static const WpBuildPacket udp4_no_id = {
		.src = "10.0.0.1:1", .dst = "10.0.0.2:2", .udp = TRUE, .payload = "x", .length = 1
	};
	static const WpBuildPacket tcp6 = { .src = "[fe80::1]:1",
					    .dst = "[fe80::2]:2",
					    .ts_value = 9,
					    .payload = "x",
					    .length = 1 };
	static const WpPcapBuildOptions plain = { .snap = 0 };
	static const WpPcapBuildOptions tagged = { .n_vlans = 1, .vlans = { 7 } };
	static const struct {
		const char *what;
		const WpBuildPacket *first;
		int ip_id; /* of the second, where it differs; 0 = same */
		guint8 ttl;
		guint32 ts_value;
		guint16 window;
		const char *payload;
		gint64 delay_ns;
		const WpPcapBuildOptions *second_frame;
		gboolean is_copy;
	} rows[] = {
		{ "the same", &tcp4, 0, 0, 0, 0, NULL, 1000, &plain, TRUE },
		{ "at the same time", &tcp4, 0, 0, 0, 0, NULL, 0, &plain, TRUE },
		{ "routed", &tcp4, 0, 63, 0, 0, NULL, 1000, &plain, TRUE },
		{ "with a tag", &tcp4, 0, 0, 0, 0, NULL, 1000, &tagged, TRUE },
		{ "retransmitted", &tcp4, 78, 0, 0, 0, NULL, 1000, &plain, FALSE },
		{ "another window", &tcp4, 0, 0, 0, 501, NULL, 1000, &plain, FALSE },
		{ "much later", &tcp4, 0, 0, 0, 0, NULL, 200 * MS, &plain, FALSE },
		{ "IPv6", &tcp6, 0, 0, 0, 0, NULL, 1000, &plain, TRUE },
		{ "IPv6 routed, tagged", &tcp6, 0, 9, 0, 0, NULL, 1000, &tagged, TRUE },
		{ "IPv6 retransmitted", &tcp6, 0, 0, 10, 0, NULL, 2 * MS, &plain, FALSE },
		{ "datagram", &udp4, 0, 0, 0, 0, NULL, 1000, &plain, TRUE },
		{ "datagram routed", &udp4, 0, 63, 0, 0, NULL, 1000, &plain, TRUE },
		{ "datagram sent again", &udp4, 6, 0, 0, 0, NULL, 1000, &plain, FALSE },
		{ "other bytes", &udp4, 0, 0, 0, 0, "y", 1000, &plain, FALSE },
		{ "no id: who knows", &udp4_no_id, 0, 0, 0, 0, NULL, 1000, &plain, FALSE },
		{ "no id, routed", &udp4_no_id, 0, 63, 0, 0, NULL, 1000, &plain, TRUE },
		{ "no id, tagged", &udp4_no_id, 0, 0, 0, 0, NULL, 1000, &tagged, TRUE },
		{ "IPv6 datagram: who knows", &udp6, 0, 0, 0, 0, NULL, 1000, &plain, FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
		WpBuildPacket second = *rows[i].first;
		second.time_ns += rows[i].delay_ns;
		if (rows[i].ip_id)
			second.ip_id = (guint16)rows[i].ip_id;
		if (rows[i].ttl)
			second.ttl = rows[i].ttl;
		if (rows[i].ts_value)
			second.ts_value = rows[i].ts_value;
		if (rows[i].window)
			second.window = rows[i].window;
		if (rows[i].payload)
			second.payload = rows[i].payload;
		wp_pcap_build_packet(build, rows[i].first);
		wp_pcap_build_set(build, rows[i].second_frame);
		wp_pcap_build_packet(build, &second);
		g_auto(WpPacketRun) result = wp_packet_run(build);
		ck_assert_msg(wp_counters_get(result.counters, WP_COUNT_PACKETS_DOUBLED) ==
				      (guint64)rows[i].is_copy,
			      "%s", rows[i].what);
	}
}
END_TEST

/* A capture in which all is doubled gives what the clean one gives, UDP without ids included. */
START_TEST(all_doubled)
{
	g_autofree char *clean = NULL;
	for (int doubled = 0; doubled < 2; doubled++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
		for (guint i = 0; i < 200; i++) {
			WpBuildPacket packet = i % 2 ? tcp4 : udp6;
			g_autofree char *payload = g_strdup_printf("%u", i / 10);
			packet.time_ns = i * MS;
			packet.ip_id = (guint16)(i + 1);
			packet.seq = i;
			packet.payload = payload;
			packet.length = -1;
			wp_pcap_build_packet(build, &packet);
			packet.time_ns += 7000;
			if (doubled)
				wp_pcap_build_packet(build, &packet);
		}
		g_auto(WpPacketRun) result = wp_packet_run(build);
		if (doubled) {
			/* The first datagram came before anything told of copies. */
			ck_assert_count(result, PACKETS_DOUBLED, 199);
			ck_assert_ptr_nonnull(strstr(result.text->str, clean));
		} else {
			clean = g_strdup(result.text->str);
			ck_assert_count(result, PACKETS_DOUBLED, 0);
		}
	}
}
END_TEST

/* What came twice, by the SACK option: acknowledgement 1000; options as hex words, cut where they are not whole. */
static const struct {
	const char *name;
	guint8 options[24];
	guint n;        /* bytes of options in the header, a multiple of four */
	guint captured; /* ... in the capture */
	guint32 begin, end;
	gboolean has_hole;
} told[] = {
	{ "no options", { 0 }, 0, 0, 0, 0, FALSE },
	{ "below the acknowledgement",
	  { 1, 1, 5, 10, 0, 0, 3, 132, 0, 0, 3, 182 },
	  12,
	  12,
	  900,
	  950,
	  FALSE },
	{ "above it: a hole", { 1, 1, 5, 10, 0, 0, 4, 76, 0, 0, 4, 126 }, 12, 12, 0, 0, TRUE },
	{ "above it, in the second block",
	  { 1, 1, 5, 18, 0, 0, 4, 76, 0, 0, 4, 126, 0, 0, 4, 76, 0, 0, 5, 20 },
	  20,
	  20,
	  1100,
	  1150,
	  FALSE },
	{ "... beside it",
	  { 1, 1, 5, 18, 0, 0, 4, 76, 0, 0, 4, 126, 0, 0, 5, 20, 0, 0, 6, 20 },
	  20,
	  20,
	  0,
	  0,
	  TRUE },
	{ "behind others",
	  { 8, 10, 1, 1, 1, 1, 2, 2, 2, 2, 5, 10, 0, 0, 3, 132, 0, 0, 3, 182, 0, 0, 0, 0 },
	  24,
	  24,
	  900,
	  950,
	  FALSE },
	{ "behind timestamps, as they usually stand",
	  { 1, 1, 8, 10, 1, 1, 1, 1, 2, 2, 2, 2, 5, 10, 0, 0, 3, 132, 0, 0, 3, 182, 1, 0 },
	  24,
	  24,
	  900,
	  950,
	  FALSE },
	{ "timestamps cut, that look like it", { 1, 1, 8, 10, 5, 10, 0, 0 }, 8, 8, 0, 0, FALSE },
	{ "end before it", { 0, 1, 5, 10, 0, 0, 3, 132, 0, 0, 3, 182 }, 12, 12, 0, 0, FALSE },
	{ "begin behind end", { 1, 1, 5, 10, 0, 0, 3, 182, 0, 0, 3, 132 }, 12, 12, 0, 0, FALSE },
	{ "cut", { 1, 1, 5, 10, 0, 0, 3, 132, 0, 0, 3, 182 }, 12, 11, 0, 0, FALSE },
	{ "longer than the header",
	  { 1, 1, 5, 18, 0, 0, 3, 132, 0, 0, 3, 182 },
	  12,
	  12,
	  0,
	  0,
	  FALSE },
	{ "no length", { 1, 1, 1, 5 }, 4, 4, 0, 0, FALSE },
	{ "length 0", { 1, 1, 5, 0 }, 4, 4, 0, 0, FALSE },
};

START_TEST(doubles_told)
{
	for (gsize i = 0; i < G_N_ELEMENTS(told); i++) {
		g_autoptr(WpCounters) counters = wp_counters_new();
		g_autoptr(WpPackets) packets = wp_packets_new(counters);
		guint8 bytes[64] = { 0x45, [3] = (guint8)(40 + told[i].n), [8] = 64, [9] = 6 };
		WpSegment segment;

		memcpy(bytes + 12, "\x0a\0\0\x01\x0a\0\0\x02", 8);
		bytes[30] = 3; /* acknowledgement: 1000 */
		bytes[31] = 232;
		bytes[32] = (guint8)((5 + told[i].n / 4) << 4);
		bytes[33] = WP_TCP_ACK;
		memcpy(bytes + 40, told[i].options, told[i].n);
		/* Its own size, so that nothing behind it can be read. */
		guint32 captured = 40 + told[i].captured;
		g_autofree guint8 *data = g_memdup2(bytes, captured);
		const WpFrame frame = { .data = data,
					.captured = captured,
					.length = 40 + told[i].n,
					.link_type = WP_LINK_RAW,
					.number = i + 1 };
		ck_assert_int_eq(wp_packets_decode(packets, &frame, &segment), WP_PACKET_SEGMENT);
		ck_assert_uint_eq(segment.ack, 1000);
		ck_assert_int_eq(segment.has_hole, told[i].has_hole);
		ck_assert_msg(segment.twice_begin == told[i].begin &&
				      segment.twice_end == told[i].end,
			      "%s: %u to %u", told[i].name, segment.twice_begin, segment.twice_end);
	}
}
END_TEST

WP_SUITE("packet", doubles_told, link_types, loopback_families, between_ethernet_and_ip,
	 unknown_link, ip_headers, options_and_extensions, snapped, fragments, copies, all_doubled)
