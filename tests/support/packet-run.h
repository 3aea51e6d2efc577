/* Runs the frames of a built capture through source and packet layer. */
#ifndef WP_TESTS_SUPPORT_PACKET_RUN_H
#define WP_TESTS_SUPPORT_PACKET_RUN_H

#include "capture/packet.h"
#include "tests/support/pcap-build.h"

/* What comes out, some words a packet, each ended by "; ", and the counters. */
typedef struct {
	GString *text;
	WpCounters *counters;
} WpPacketRun;

WpPacketRun wp_packet_run(const WpPcapBuild *build);
void wp_packet_run_clear(WpPacketRun *run);

/* Adds a frame: the bytes of HEX (blanks between), and behind them IP, which may be NULL. */
void wp_packet_run_put(WpPcapBuild *build, const char *hex, const GByteArray *ip);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WpPacketRun, wp_packet_run_clear)

#endif
