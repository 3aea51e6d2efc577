/*
 * Captures made in memory: packets in, the bytes of a pcap or pcapng file out.
 *
 *     g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
 *     WpBuildFlow flow;
 *     wp_build_flow_init(&flow, build, "10.0.0.1:40000", "10.0.0.2:80");
 *     wp_build_flow_open(&flow, 1000000);                              SYN, SYN+ACK, ACK
 *     wp_build_flow_send(&flow, WP_BUILD_CLIENT, 2000000, "GET / HTTP/1.1\r\n\r\n", -1);
 *     wp_build_flow_send(&flow, WP_BUILD_SERVER, 3000000, "HTTP/1.1 204 No\r\n\r\n", -1);
 *     wp_build_flow_close(&flow, 4000000);                             FIN, FIN+ACK, ACK
 *     g_autotemp *path = wp_pcap_build_file(build, ".pcap");           or .pcap.gz, .zst, .lz4
 *
 * Times are ns since the epoch. Sums of IP, TCP and UDP are right.
 */
#ifndef WP_TESTS_SUPPORT_PCAP_BUILD_H
#define WP_TESTS_SUPPORT_PCAP_BUILD_H

#include <glib.h>

#include "tests/support/tempfile.h"

/* LINKTYPE_... values. */
enum {
	WP_LINK_NULL = 0,
	WP_LINK_ETHERNET = 1,
	WP_LINK_RAW = 101,
	WP_LINK_LOOP = 108,
	WP_LINK_SLL = 113,
	WP_LINK_IPV4 = 228,
	WP_LINK_IPV6 = 229,
	WP_LINK_SLL2 = 276
};

/* How the file is written and what stands around each IP packet; all zeros: pcap, ns, Ethernet. */
typedef struct {
	gboolean pcapng;
	gboolean big_endian;
	gboolean micro;       /* microseconds, else nanoseconds */
	guint8 resolution;    /* pcapng: if_tsresol as in the file; 0 = as MICRO says */
	gint64 offset;        /* pcapng: if_tsoffset, seconds */
	guint interface;      /* pcapng: which of several that are otherwise alike */
	gboolean old_packets; /* pcapng: packets in blocks as they were before 2009 */
	gboolean is_raw_link; /* LINK counts though it is 0 (NULL) */
	guint32 link;         /* 0 = Ethernet */
	guint n_vlans;        /* tags of each frame */
	guint16 vlans[4];     /* their numbers */
	guint32 snap;         /* bytes kept of each frame; 0 = all */
} WpPcapBuildOptions;

typedef struct WpPcapBuild WpPcapBuild;

/* (transfer full) OPTIONS NULL = all zeros. It may be changed between packets (wp_pcap_build_set). */
WpPcapBuild *wp_pcap_build_new(const WpPcapBuildOptions *options);
void wp_pcap_build_free(WpPcapBuild *build);

/*
 * What stands around the packets that follow. Form, byte order and MICRO of the file stay; pcapng describes
 * another interface where link, snap length, clock or interface are others.
 */
void wp_pcap_build_set(WpPcapBuild *build, const WpPcapBuildOptions *options);

/* pcapng: a new section, from now on in the other byte order where IS_OTHER_ORDER. */
void wp_pcap_build_section(WpPcapBuild *build, gboolean is_other_order);

/* pcapng: a block of TYPE with BODY as it is, which is padded. */
void wp_pcap_build_block(WpPcapBuild *build, guint32 type, const void *body, gsize length);

/* A frame as it is; LENGTH on the wire. */
void wp_pcap_build_frame(WpPcapBuild *build, gint64 time_ns, const guint8 *data, guint32 captured,
			 guint32 length);

/* An IP packet, in the frame that the options say. */
void wp_pcap_build_ip(WpPcapBuild *build, gint64 time_ns, const guint8 *packet, guint32 length);

/* (transfer none) The file so far. */
const GByteArray *wp_pcap_build_bytes(const WpPcapBuild *build);

/* (transfer full) The file under a new name that ends in SUFFIX, compressed for .gz, .zst and .lz4. */
WpTempFile *wp_pcap_build_file(const WpPcapBuild *build, const char *suffix);

/* One TCP segment or UDP datagram. Zeros are fine for all but src, dst. */
typedef struct {
	gint64 time_ns;
	const char *src; /* "10.0.0.1:80", "[fe80::1]:80" */
	const char *dst;
	gboolean udp;
	guint8 flags; /* WP_TCP_...; 0 = ACK */
	guint32 seq;
	guint32 ack;
	guint16 window; /* 0 = 65535 */
	guint16 ip_id;
	guint8 ttl;       /* 0 = 64 */
	guint32 ts_value; /* with TS_ECHO: the timestamps option; both 0 = none */
	guint32 ts_echo;
	const void *payload;
	gssize length; /* -1 = strlen */
} WpBuildPacket;

/* (transfer full) The IP packet alone. */
GByteArray *wp_build_ip_packet(const WpBuildPacket *packet);

/* The packet in its frame, into BUILD. */
void wp_pcap_build_packet(WpPcapBuild *build, const WpBuildPacket *packet);

/* A packet in IPv4 or IPv6 fragments of SIZE payload bytes (a multiple of 8), in order. (full) */
GPtrArray *wp_build_fragments(const GByteArray *ip_packet, guint size);

enum {
	WP_BUILD_CLIENT,
	WP_BUILD_SERVER
};

/* A TCP connection that counts its own sequence numbers, IP ids and timestamps. */
typedef struct {
	WpPcapBuild *build;
	const char *ends[2];
	guint32 seq[2];
	guint16 ip_id[2];
	guint mss; /* payload of a segment at most; 1448 */
} WpBuildFlow;

/* CLIENT and SERVER must outlive the flow. */
void wp_build_flow_init(WpBuildFlow *flow, WpPcapBuild *build, const char *client,
			const char *server);

/* Each packet 1000 ns after the one before. */
void wp_build_flow_open(WpBuildFlow *flow, gint64 time_ns);
void wp_build_flow_send(WpBuildFlow *flow, guint from, gint64 time_ns, const void *data,
			gssize length);
void wp_build_flow_close(WpBuildFlow *flow, gint64 time_ns);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpPcapBuild, wp_pcap_build_free)

#endif
