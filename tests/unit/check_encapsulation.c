/*
 * Encapsulation: the same packet under every header that may stand before it, link headers included; what is
 * cut, impossible or unknown; copies seen in a tunnel and outside.
 */
#include <string.h>

#include "tests/support/packet-run.h"
#include "tests/support/suite.h"

#define ck_assert_count(result, counter, n)                                                        \
	ck_assert_uint_eq(wp_counters_get((result).counters, WP_COUNT_##counter), n)

static const WpBuildPacket tcp4 = { .src = "10.0.0.1:40000",
				    .dst = "10.0.0.2:80",
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
#define TCP4 "10.0.0.1:40000>10.0.0.2:80 tcp 10 4000000000 7 500 hello/5; "
#define UDP6 "[fe80::1]:53>[2001:db8::2]:4000 udp answer/6; "

/* Headers as bytes: Ethernet up to its type; IP with a length of 0, so that the frame's counts; UDP. */
#define MACS      "020000000002 020000000001 "
#define IN4(next) MACS "0800 " IP4(next)
#define IN6(next) MACS "86dd " IP6(next)
#define IP4(next) "4500 0000 0001 0000 40 " next " 0000 c0a80001 c0a80002 "
#define IP6(next)                                                                                  \
	"60000000 0000 " next " 40 20010db8000000000000000000000001 "                              \
	"20010db8000000000000000000000002 "
#define UDP(port) "c000 " port " 0000 0000 "
#define INNER     "020000000004 020000000003 "

/*
 * Each %L (%l: little-endian), followed by a number of two digits: that number more than the inner packet has bytes.
 */
static void
expand_lengths(GString *text, const char *mark, gboolean is_ipv6)
{
	g_autoptr(GByteArray) ip = wp_build_ip_packet(is_ipv6 ? &udp6 : &tcp4);
	const char *at;
	while ((at = strstr(text->str, mark)) != NULL) {
		gssize where = at - text->str;
		guint more =
			(guint)(g_ascii_xdigit_value(at[2]) << 4 | g_ascii_xdigit_value(at[3]));
		guint16 number = (guint16)(ip->len + more);
		g_autofree char *length = g_strdup_printf(
			"%04x", mark[1] == 'l' ? GUINT16_SWAP_LE_BE(number) : number);
		g_string_erase(text, where, 4);
		g_string_insert(text, where, length);
	}
}

/* %T: 0800 or 86dd as the inner packet is; %P: 0021 or 0057; %p: 21 or 57; %N: 04 or 29; %F: cc or 8e; %L. */
static char *
expand(const char *hex, gboolean is_ipv6)
{
	g_autoptr(GString) text = g_string_new(hex);
	g_string_replace(text, "%T", is_ipv6 ? "86dd" : "0800", 0);
	g_string_replace(text, "%P", is_ipv6 ? "0057" : "0021", 0);
	g_string_replace(text, "%p", is_ipv6 ? "57" : "21", 0);
	g_string_replace(text, "%N", is_ipv6 ? "29" : "04", 0);
	g_string_replace(text, "%F", is_ipv6 ? "8e" : "cc", 0);
	expand_lengths(text, "%L", is_ipv6);
	expand_lengths(text, "%l", is_ipv6);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static const struct {
	const char *what;
	guint32 link; /* 0 = Ethernet */
	const char *hex;
	gboolean is_tunnel;
} heads[] = {
	/* between Ethernet and IP */
	{ "802.1Q", 0, MACS "8100 0005 %T", FALSE },
	{ "802.1ad", 0, MACS "88a8 0005 8100 0006 %T", FALSE },
	{ "9100, 9200", 0, MACS "9100 0005 9200 0006 %T", FALSE },
	{ "802.1BR", 0, MACS "893f 000000000000 8100 0001 %T", FALSE },
	{ "VN-Tag", 0, MACS "8926 00000000 %T", FALSE },
	{ "802.1ah", 0, MACS "88e7 00000001 " INNER "%T", FALSE },
	{ "MPLS", 0, MACS "8847 00010140", FALSE },
	{ "MPLS, VLAN", 0, MACS "8100 0005 8847 00010040 00020140", FALSE },
	{ "MPLS upstream", 0, MACS "8848 00010140", FALSE },
	{ "pseudowire", 0, MACS "8847 00010140 " INNER "%T", FALSE },
	{ "pseudowire, VLAN", 0, MACS "8847 00010140 " INNER "8100 0007 %T", FALSE },
	{ "pseudowire, control word", 0, MACS "8847 00010140 00000009 " INNER "%T", FALSE },
	{ "pseudowire, address like IP", 0, MACS "8847 00010140 450000000004 020000000003 %T",
	  FALSE },
	{ "PPPoE", 0, MACS "8864 11000001 0030 %P", FALSE },
	{ "PPPoE, protocol compressed", 0, MACS "8864 11000001 0030 %p", FALSE },
	{ "PPPoE, MPLS", 0, MACS "8864 11000001 0030 0281 00010140", FALSE },
	{ "SNAP", 0, MACS "0030 aaaa03 000000 %T", FALSE },
	{ "802.1H", 0, MACS "0030 aaaa03 0000f8 %T", FALSE },
	{ "NSH", 0, MACS "894f 0fc6 01 03 00000101 00000000000000000000000000000000 " INNER "%T",
	  FALSE },
	/* link types */
	{ "PPP", 9, "ff03 %P", FALSE },
	{ "PPP, compressed", 9, "%p", FALSE },
	{ "PPP in HDLC", 50, "ff03 %P", FALSE },
	{ "Cisco HDLC", 104, "0f00 %T", FALSE },
	{ "PPPoE alone", 51, "11000001 0030 %P", FALSE },
	{ "PPP, direction", 204, "01 ff03 %P", FALSE },
	{ "PPP of pppd", 166, "00 03 %P", FALSE },
	{ "MPLS alone", 219, "00010140", FALSE },
	{ "LLC", 100, "aaaa03 000000 %T", FALSE },
	{ "LLC over ATM", 11, "aaaa03 000000 %T", FALSE },
	{ "FDDI", 10, "51 " MACS "aaaa03 000000 %T", FALSE },
	{ "Token ring", 6, "1040 " MACS "aaaa03 000000 %T", FALSE },
	{ "Token ring, route", 6, "1040 020000000002 820000000001 0690 0011 0022 aaaa03 000000 %T",
	  FALSE },
	{ "IP over InfiniBand", 242,
	  "0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000 "
	  "%T 0000",
	  FALSE },
	{ "Frame relay", 107, "1841 %T", FALSE },
	{ "Frame relay, RFC 2427", 107, "1841 03 %F", FALSE },
	{ "NFLOG", 239, "02000014 08000100 08000127 05000a00 00000000 %l04 0900", FALSE },
	{ "NFLOG, big-endian", 239, "02000014 00050001 08000000 %L04 0009", FALSE },
	{ "enc(4)", 109, "00000002 00000000 00000000", FALSE },
	{ "802.11", 105, "0801 0000 " MACS "020000000003 1000 aaaa03 000000 %T", FALSE },
	{ "802.11, QoS", 105, "8802 0000 " MACS "020000000003 1000 0000 aaaa03 000000 %T", FALSE },
	{ "802.11, four addresses", 105,
	  "0803 0000 " MACS "020000000003 1000 020000000004 aaaa03 000000 %T", FALSE },
	{ "Radiotap", 127,
	  "0000 0a00 00000000 ffff 0801 0000 " MACS "020000000003 1000 aaaa03 000000 %T", FALSE },
	{ "PPI", 192, "0000 0800 01000000 " MACS "%T", FALSE },
	{ "PKTAP", 258, "10000000 01000000 01000000 00000000 " MACS "%T", FALSE },
	/* over IP */
	{ "IP in IPv4", 0, IN4("%N"), TRUE },
	{ "IP in IPv6", 0, IN6("%N"), TRUE },
	{ "IP in IP in IP", 0, IN4("29") IP6("04") IP4("%N"), TRUE },
	{ "AH", 0, IN4("33") "%N 04 0000 00000001 00000002 000000000000000000000000", TRUE },
	{ "GRE", 0, IN4("2f") "0000 %T", TRUE },
	{ "GRE, IPv6", 0, IN6("2f") "0000 %T", TRUE },
	{ "GRE, checksum", 0, IN4("2f") "8000 %T ffff0000", TRUE },
	{ "GRE, key", 0, IN4("2f") "2000 %T 00000007", TRUE },
	{ "GRE, all", 0, IN4("2f") "b000 %T ffff0000 00000007 00000008", TRUE },
	{ "GRE, routes", 0, IN4("2f") "4000 %T ffff0000 0800 00 08 0a00000a0a00000b 0000 00 00",
	  TRUE },
	{ "GRE, MPLS", 0, IN4("2f") "0000 8847 00010140", TRUE },
	{ "GRE, bridged", 0, IN4("2f") "0000 6558 " INNER "%T", TRUE },
	{ "NVGRE, VLAN", 0, IN4("2f") "2000 6558 00000700 " INNER "8100 0001 %T", TRUE },
	{ "PPTP", 0, IN4("2f") "3081 880b 002f0001 00000001 00000002 ff03 %P", TRUE },
	{ "ERSPAN I", 0, IN4("2f") "0000 88be " INNER "%T", TRUE },
	{ "ERSPAN II", 0, IN4("2f") "1000 88be 00000001 1001 0001 00000001 " INNER "%T", TRUE },
	{ "ERSPAN II, no number", 0, IN4("2f") "0000 88be 1001 0001 00000001 " INNER "%T", TRUE },
	{ "ERSPAN III, II's type", 0,
	  IN4("2f") "1000 88be 00000001 2001 0001 12345678 00000000 " INNER "%T", TRUE },
	{ "ERSPAN III", 0, IN4("2f") "1000 22eb 00000001 2001 0001 12345678 00000000 " INNER "%T",
	  TRUE },
	{ "ERSPAN III, subheader", 0,
	  IN4("2f") "1000 22eb 00000001 2001 0001 12345678 00000001 0000000000000000 " INNER "%T",
	  TRUE },
	{ "ERSPAN III, IP", 0, IN4("2f") "1000 22eb 00000001 2001 0001 12345678 00000800 ", TRUE },
	{ "EtherIP", 0, IN4("61") "3000 " INNER "%T", TRUE },
	{ "MPLS in IP", 0, IN4("89") "00010140", TRUE },
	{ "Ethernet in IPv6", 0, IN6("8f") INNER "%T", TRUE },
	/* over UDP */
	{ "VXLAN", 0, IN4("11") UDP("12b5") "08000000 00000700 " INNER "%T", TRUE },
	{ "VXLAN, IPv6, VLAN", 0, IN6("11") UDP("2118") "08000000 00000700 " INNER "8100 0001 %T",
	  TRUE },
	{ "VXLAN, policy", 0, IN4("11") UDP("12b5") "88080123 00000700 " INNER "%T", TRUE },
	{ "VXLAN-GPE", 0, IN4("11") UDP("12b6") "0c000003 00000700 " INNER "%T", TRUE },
	{ "VXLAN-GPE, NSH", 0,
	  IN4("11") UDP("12b6") "0c000004 00000700 0fc2 02 03 00000101 " INNER "%T", TRUE },
	{ "VXLAN-GPE, unnamed", 0, IN4("11") UDP("12b6") "08000000 00000700 " INNER "%T", TRUE },
	{ "GENEVE", 0, IN4("11") UDP("17c1") "00006558 00000700 " INNER "%T", TRUE },
	{ "GENEVE, options", 0,
	  IN4("11") UDP("17c1") "03406558 00000700 010203 02 0000000000000000 " INNER "%T", TRUE },
	{ "GENEVE, IP", 0, IN4("11") UDP("17c1") "0000%T 00000700 ", TRUE },
	{ "MPLS in UDP", 0, IN4("11") UDP("19eb") "00010140", TRUE },
	{ "GRE in UDP", 0, IN4("11") UDP("1292") "2000 %T 00000007", TRUE },
	{ "GTP-U", 0, IN4("11") UDP("0868") "30ff %L00 00000700 ", TRUE },
	{ "GTP-U, number", 0, IN4("11") UDP("0868") "32ff %L04 00000700 00010000", TRUE },
	{ "GTP-U, extensions", 0,
	  IN4("11") UDP("0868") "36ff %L0c 00000700 00010085 01000185 01000200", TRUE },
	{ "L2TP", 0, IN4("11") UDP("06a5") "0002 00010002 ff03 %P", TRUE },
	{ "L2TP, an answer", 0, IN4("11") "06a5 c000 0000 0000 0002 00010002 %p", TRUE },
	{ "L2TP, all", 0, IN4("11") UDP("06a5") "4a02 %L12 00010002 00030004 0002 0000 %P", TRUE },
	{ "TZSP", 0, IN4("11") UDP("9090") "01000001 01 " INNER "%T", TRUE },
	{ "TZSP, fields", 0, IN4("11") UDP("9090") "01000001 00 0a0101 290403040506 01 " INNER "%T",
	  TRUE },
	{ "VXLAN in GRE", 0,
	  IN4("2f") "0000 0800 " IP4("11") UDP("12b5") "08000000 00000700 " INNER "%T", TRUE },
};

static WpPcapBuild *
build_with(guint32 link, const char *hex, const GByteArray *ip)
{
	WpPcapBuildOptions options = { .link = link };
	WpPcapBuild *build = wp_pcap_build_new(&options);
	wp_packet_run_put(build, hex, ip);
	return build;
}

/* The file as an input of tests/fuzz/fuzz_pcap.c, in the folder $WP_FUZZ_SEEDS. */
static void
write_seed(const WpPcapBuild *build)
{
	const GByteArray *bytes = wp_pcap_build_bytes(build);
	const char *folder = g_getenv("WP_FUZZ_SEEDS");
	if (!folder)
		return;
	g_autofree char *name =
		g_compute_checksum_for_data(G_CHECKSUM_SHA1, bytes->data, bytes->len);
	g_autofree char *path = g_build_filename(folder, name, NULL);
	ck_assert(g_file_set_contents(path, (const char *)bytes->data, bytes->len, NULL));
}

START_TEST(all_heads)
{
	for (gsize i = 0; i < G_N_ELEMENTS(heads); i++)
		for (int is_ipv6 = 0; is_ipv6 < 2; is_ipv6++) {
			g_autofree char *hex = expand(heads[i].hex, is_ipv6);
			g_autoptr(GByteArray) ip = wp_build_ip_packet(is_ipv6 ? &udp6 : &tcp4);
			g_autoptr(WpPcapBuild) build = build_with(heads[i].link, hex, ip);
			g_auto(WpPacketRun) result = wp_packet_run(build);
			if (is_ipv6)
				write_seed(build);
			ck_assert_msg(strcmp(result.text->str, is_ipv6 ? UDP6 : TCP4) == 0,
				      "%s: %s", heads[i].what, result.text->str);
			ck_assert_count(result, PACKETS_TUNNELED, heads[i].is_tunnel);
		}
}
END_TEST

/* Cut anywhere before the inner ports, there is nothing, and it is counted as cut: never another packet. */
START_TEST(cut_heads)
{
	g_autoptr(GByteArray) ip = wp_build_ip_packet(&tcp4);
	for (gsize i = 0; i < G_N_ELEMENTS(heads); i++) {
		g_autofree char *hex = expand(heads[i].hex, FALSE);
		g_autoptr(WpPcapBuild) whole = build_with(heads[i].link, hex, ip);
		guint length = wp_pcap_build_bytes(whole)->len - 24 - 16;
		guint step = (guint)wp_test_number(1, 7);
		for (guint captured = 1; captured < length - 5; captured += step) {
			WpPcapBuildOptions options = { .link = heads[i].link, .snap = captured };
			g_autoptr(WpPcapBuild) build = wp_pcap_build_new(&options);
			wp_packet_run_put(build, hex, ip);
			g_auto(WpPacketRun) result = wp_packet_run(build);
			gboolean is_nothing = result.text->len == 0;
			ck_assert_msg(is_nothing || strncmp(result.text->str, TCP4, 26) == 0,
				      "%s, %u bytes: %s", heads[i].what, captured,
				      result.text->str);
			ck_assert_msg(
				wp_counters_get(result.counters, WP_COUNT_PACKETS_MALFORMED) == 0,
				"%s, %u bytes", heads[i].what, captured);
			ck_assert_msg(wp_counters_get(result.counters, WP_COUNT_PACKETS_SNAPPED) +
						      wp_counters_get(result.counters,
								      WP_COUNT_PACKETS_NOT_IP) ==
					      1,
				      "%s, %u bytes", heads[i].what, captured);
		}
	}
}
END_TEST

/* Teredo holds IPv6 alone. */
START_TEST(teredo)
{
	static const char *const rows[] = {
		IN4("11") UDP("0dd8"),
		IN4("11") "0dd8 c000 0000 0000 ",
		IN4("11") UDP("0dd8") "0001 0000 0000000000000001 00",
		IN4("11") UDP("0dd8") "0000 1234 0a000001",
		IN4("11") UDP(
			"0dd8") "0001 0402 61626364 0102 0000000000000001 00 0000 1234 0a000001",
	};
	g_autoptr(GByteArray) ip = wp_build_ip_packet(&udp6);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpPcapBuild) build = build_with(0, rows[i], ip);
		g_auto(WpPacketRun) result = wp_packet_run(build);
		write_seed(build);
		ck_assert_msg(strcmp(result.text->str, UDP6) == 0, "%s: %s", rows[i],
			      result.text->str);
		ck_assert_count(result, PACKETS_TUNNELED, 1);
	}
}
END_TEST

/* What is no tunnel stays what it is; what is impossible, unknown or too deep is counted as that. */
static const struct {
	const char *what;
	guint32 link;
	const char *hex;
	WpCounter counter; /* 0: it is a datagram of its own */
} other_rows[] = {
	{ "VXLAN without its bit", 0, IN4("11") UDP("12b5") "00000000 00000700 ", 0 },
	{ "VXLAN, reserved bits", 0, IN4("11") UDP("12b5") "08000001 00000700 ", 0 },
	{ "a name server's answer", 0, IN4("11") UDP("12b5") "08008180 00010001 ", 0 },
	{ "GENEVE, version 1", 0, IN4("11") UDP("17c1") "40006558 00000700 ", 0 },
	{ "GENEVE, control", 0, IN4("11") UDP("17c1") "00806558 00000700 ", 0 },
	{ "GENEVE, unknown type", 0, IN4("11") UDP("17c1") "00001234 00000700 ", 0 },
	{ "VXLAN-GPE, unknown type", 0, IN4("11") UDP("12b6") "0c000009 00000700 ", 0 },
	{ "no label", 0, IN4("11") UDP("19eb") "00000000 00000000 ", 0 },
	{ "from a tunnel's port", 0, IN4("11") "12b5 0050 0000 0000 08000000 00000700 ", 0 },
	{ "GTP-U, not a user's", 0, IN4("11") UDP("0868") "30fe 0008 00000700 ", 0 },
	{ "GTP-U, longer than it is", 0, IN4("11") UDP("0868") "30ff 0100 00000700 ", 0 },
	{ "GTP-U, nothing that is IP", 0, IN4("11") UDP("0868") "30ff 0008 00000700 ff", 0 },
	{ "GTP-U, an extension of no words", 0,
	  IN4("11") UDP("0868") "34ff 0010 00000700 00000085 00000000", 0 },
	{ "GTP-U, extensions without end", 0,
	  IN4("11") UDP("0868") "34ff 0010 00000700 00000085 01010185 01010185 01010185 "
				"01010185 01010185 01010185 01010185 01010185 01010185 "
				"01010185 01010185 01010185 01010185 01010185 01010185 "
				"01010185 01010185",
	  0 },
	{ "L2TP, control", 0, IN4("11") UDP("06a5") "c802 0008 00010002 ", 0 },
	{ "L2TP, version 3", 0, IN4("11") UDP("06a5") "0003 0000 00010002 ", 0 },
	{ "Teredo, IPv4", 0, IN4("11") UDP("0dd8"), 0 },
	{ "TZSP, of the air", 0, IN4("11") UDP("9090") "01000012 01 " INNER "0800", 0 },
	{ "TZSP, fields without end", 0,
	  IN4("11") UDP("9090") "01000001 0000000000000000 0000000000000000 00000000", 0 },
	{ "ARP in VXLAN", 0, IN4("11") UDP("12b5") "08000000 00000700 " INNER "0806",
	  WP_COUNT_PACKETS_NOT_IP },
	{ "GRE, version 2", 0, IN4("2f") "0002 0800", WP_COUNT_PACKETS_NOT_IP },
	{ "GRE, keepalive", 0, IN4("2f") "0000 0000", WP_COUNT_PACKETS_NOT_IP },
	{ "ERSPAN II, version 3", 0,
	  IN4("2f") "1000 88be 00000001 3001 0001 00000001 " INNER "0800",
	  WP_COUNT_PACKETS_NOT_IP },
	{ "MPLS, channel", 0, MACS "8847 00010140 10000021", WP_COUNT_PACKETS_NOT_IP },
	{ "PPP, link control", 9, "ff03 c021", WP_COUNT_PACKETS_NOT_IP },
	{ "PPPoE, not data", 0, MACS "8864 11a70001 0030 0021", WP_COUNT_PACKETS_NOT_IP },
	{ "802.11, encrypted", 105, "0841 0000 " MACS "020000000003 1000 aaaa03 000000 0800",
	  WP_COUNT_PACKETS_NOT_IP },
	{ "802.11, beacon", 105, "8000 0000 " MACS "020000000003 1000", WP_COUNT_PACKETS_NOT_IP },
	{ "802.11, aggregate", 105, "8802 0000 " MACS "020000000003 1000 8000 aaaa03 000000 0800",
	  WP_COUNT_PACKETS_NOT_IP },
	{ "PPI in PPI", 192, "0000 0800 c0000000 0000 0800 01000000 " MACS "0800",
	  WP_COUNT_PACKETS_UNKNOWN_LINK },
	{ "PKTAP, endless", 258, "ffffffff 01000000 01000000 ", WP_COUNT_PACKETS_MALFORMED },
	{ "Radiotap, short", 127, "0000 0400 00000000", WP_COUNT_PACKETS_MALFORMED },
	{ "ESP", 0, IN4("32") "00000001 00000002", WP_COUNT_PACKETS_OTHER_IP },
	{ "GRE, routes without end", 0,
	  IN4("2f") "4000 0800 ffff0000 08000000 08000000 08000000 08000000 08000000 "
		    "08000000 08000000 08000000 08000000 08000000 08000000 08000000 "
		    "08000000 08000000 08000000 08000000 08000000",
	  WP_COUNT_PACKETS_MALFORMED },
	{ "NSH without words", 0, MACS "894f 0fc0 01 03 00000101 " INNER "0800",
	  WP_COUNT_PACKETS_MALFORMED },
	{ "labels without end", 0,
	  MACS "8847 00010040 00010040 00010040 00010040 00010040 00010040 00010040 "
	       "00010040 00010040",
	  WP_COUNT_PACKETS_MALFORMED },
	{ "frames in frames", 0,
	  MACS "88e7 00000001 " INNER "88e7 00000001 " INNER "88e7 00000001 " INNER
	       "88e7 00000001 " INNER "88e7 00000001 " INNER "0800",
	  WP_COUNT_PACKETS_MALFORMED },
	{ "too deep", 0, IN4("04") IP4("04") IP4("04") IP4("04") IP4("04") IP4("04"),
	  WP_COUNT_PACKETS_TOO_DEEP },
};

START_TEST(other_heads)
{
	g_autoptr(GByteArray) ip = wp_build_ip_packet(&tcp4);
	for (gsize i = 0; i < G_N_ELEMENTS(other_rows); i++) {
		g_autoptr(WpPcapBuild) build =
			build_with(other_rows[i].link, other_rows[i].hex, ip);
		g_auto(WpPacketRun) result = wp_packet_run(build);
		ck_assert_msg(g_str_has_prefix(result.text->str, "192.168.0.1:") ==
				      (other_rows[i].counter == 0),
			      "%s: %s", other_rows[i].what, result.text->str);
		ck_assert_msg(!strstr(result.text->str, "10.0.0.1"), "%s", other_rows[i].what);
		if (other_rows[i].counter)
			ck_assert_msg(wp_counters_get(result.counters, other_rows[i].counter) == 1,
				      "%s", other_rows[i].what);
	}
}
END_TEST

/* Adds PACKET behind HEX. */
static void
put_at(WpPcapBuild *build, const char *hex, const WpBuildPacket *packet)
{
	g_autoptr(GByteArray) ip = wp_build_ip_packet(packet);
	wp_packet_run_put(build, hex, ip);
}

/*
 * A packet seen before a tunnel and in it is one packet, with an IP id or without; two that are equal in one
 * tunnel, without an id, may be two.
 */
START_TEST(copies_in_tunnels)
{
	static const char plain[] = MACS "0800", plain6[] = MACS "86dd";
	static const char gre[] = IN4("2f") "0000 0800", gre6[] = IN4("2f") "0000 86dd";
	static const char vxlan6[] = IN4("11") UDP("12b5") "08000000 00000700 " INNER "86dd";
	static const char other6[] = IN4("11") UDP("12b5") "08000000 00000800 " INNER "86dd";
	static const struct {
		const char *first, *second;
		const WpBuildPacket *packet;
		gboolean is_copy;
	} rows[] = {
		{ plain, gre, &tcp4, TRUE },      { gre, plain, &tcp4, TRUE },
		{ gre, gre, &tcp4, TRUE },        { plain6, gre6, &udp6, TRUE },
		{ gre6, vxlan6, &udp6, TRUE },    { vxlan6, other6, &udp6, TRUE },
		{ vxlan6, vxlan6, &udp6, FALSE }, { gre6, gre6, &udp6, FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
		put_at(build, rows[i].first, rows[i].packet);
		put_at(build, rows[i].second, rows[i].packet);
		g_auto(WpPacketRun) result = wp_packet_run(build);
		ck_assert_msg(wp_counters_get(result.counters, WP_COUNT_PACKETS_DOUBLED) ==
				      (guint64)rows[i].is_copy,
			      "row %zu", i);
	}
}
END_TEST

/*
 * A datagram in fragments, in a tunnel whose packets are fragments too: pieces of pieces.
 *
 *     | IP | GRE | IP | piece of a datagram |  ->  | IP | 1st half |  | IP | 2nd half |
 */
START_TEST(fragments_in_fragments)
{
	g_autofree char *payload = g_strnfill(1200, 'p');
	memcpy(payload, "0123456789", 10);
	WpBuildPacket datagram = { .src = "10.0.0.1:111",
				   .dst = "10.0.0.2:2049",
				   .udp = TRUE,
				   .ip_id = 9,
				   .payload = payload,
				   .length = 1200 };
	g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
	g_autoptr(GByteArray) ip = wp_build_ip_packet(&datagram);
	g_autoptr(GPtrArray) pieces = wp_build_fragments(ip, 400);
	for (guint i = 0; i < pieces->len; i++) {
		const GByteArray *piece = g_ptr_array_index(pieces, i);
		static const guint8 head[24] = { 0x45, 0,   0, 0, 0,   0,   0, 0, 64, 47, 0, 0,
						 192,  168, 0, 1, 192, 168, 0, 2, 0,  0,  8, 0 };
		g_autoptr(GByteArray) outer = g_byte_array_new();
		g_byte_array_append(outer, head, sizeof head);
		g_byte_array_append(outer, piece->data, piece->len);
		outer->data[2] = (guint8)(outer->len >> 8);
		outer->data[3] = (guint8)outer->len;
		outer->data[5] = (guint8)(i + 1);
		g_autoptr(GPtrArray) halves = wp_build_fragments(outer, 240);
		for (guint h = halves->len; h-- > 0;) {
			const GByteArray *half = g_ptr_array_index(halves, h);
			wp_pcap_build_ip(build, 0, half->data, half->len);
		}
	}
	g_auto(WpPacketRun) result = wp_packet_run(build);
	ck_assert_str_eq(result.text->str,
			 "10.0.0.1:111>10.0.0.2:2049 udp 0123456789pppppppppp/1200; ");
	ck_assert_count(result, FRAGMENTS_LOST, 0);
}
END_TEST

WP_SUITE("encapsulation", all_heads, cut_heads, other_heads, teredo, copies_in_tunnels,
	 fragments_in_fragments)
