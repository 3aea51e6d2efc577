/*
 * WpPackets: frames to segments: link layer, VLAN tags, IPv4 and IPv6 with extension headers and
 * fragments, TCP and UDP; packets that were captured twice are recognised here.
 */
#ifndef WP_CAPTURE_PACKET_H
#define WP_CAPTURE_PACKET_H

#include <glib.h>

#include "capture/counters.h"
#include "capture/record.h"
#include "capture/source.h"

/* TCP flags, RFC 9293 section 3.1. */
enum {
	WP_TCP_FIN = 0x01,
	WP_TCP_SYN = 0x02,
	WP_TCP_RST = 0x04,
	WP_TCP_PSH = 0x08,
	WP_TCP_ACK = 0x10
};

/* One TCP segment or UDP datagram. PAYLOAD points into the frame or a fragment buffer. */
typedef struct {
	gint64 time_ns; /* of the packet (of the last fragment to arrive) */
	guint64 number; /* of the packet in its input */
	WpEndpoint src;
	WpEndpoint dst;
	const guint8 *payload;
	guint32 captured; /* payload bytes at PAYLOAD */
	guint32 length;   /* payload bytes on the wire; >= captured */
	guint32 seq;      /* TCP */
	guint32 ack;      /* TCP; valid with WP_TCP_ACK */
	guint32 twice_begin; /* TCP: what came a second time, by the SACK option (RFC 2883); equal: none */
	guint32 twice_end;
	guint16 window; /* TCP, unscaled */
	guint8 flags;   /* TCP: WP_TCP_... */
	guint8 tap;
	gboolean is_udp;
	gboolean has_hole; /* TCP: by SACK something came behind what is missing */
} WpSegment;

typedef enum {
	WP_PACKET_SEGMENT, /* out_segment is set */
	WP_PACKET_NOTHING  /* counted, nothing for flows: not IP, a fragment, a double, malformed */
} WpPacketResult;

typedef struct WpPackets WpPackets;

/* (transfer full) COUNTERS is borrowed. */
WpPackets *wp_packets_new(WpCounters *counters);
void wp_packets_free(WpPackets *packets);

/* PACKETS, which is new, expects copies as LEARNED has seen them, which decoded the first packets before. */
void wp_packets_expect(WpPackets *packets, const WpPackets *learned);

/* OUT_SEGMENT is valid until the next call and as long as FRAME's data. */
WpPacketResult wp_packets_decode(WpPackets *packets, const WpFrame *frame, WpSegment *out_segment);

/*
 * The same in two steps. Whether a segment is one that was captured before is found out with the next one, or by
 * wp_packets_settle(), which must come before OUT_SEGMENT and OUT_HAS_SEGMENT go: to remember packets takes more
 * memory than the fast one, and what is asked later has come from there by then.
 */
void wp_packets_begin(WpPackets *packets, const WpFrame *frame, WpSegment *out_segment,
		      gboolean *out_has_segment);
void wp_packets_settle(WpPackets *packets);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpPackets, wp_packets_free)

#endif
