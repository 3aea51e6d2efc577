/* Frames through source and packet layer, and what comes out as text. */
#include "tests/support/packet-run.h"

#include <check.h>

void
wp_packet_run_clear(WpPacketRun *run)
{
	g_string_free(run->text, TRUE);
	wp_counters_free(run->counters);
}

static void
describe(GString *text, const WpSegment *segment)
{
	char src[WP_ENDPOINT_TEXT_MAX], dst[WP_ENDPOINT_TEXT_MAX];

	g_string_append_printf(text, "%s>%s %s", wp_endpoint_text(&segment->src, src, sizeof src),
			       wp_endpoint_text(&segment->dst, dst, sizeof dst),
			       segment->is_udp ? "udp" : "tcp");
	if (!segment->is_udp)
		g_string_append_printf(text, " %02x %u %u %u", segment->flags, segment->seq,
				       segment->ack, segment->window);
	g_string_append_printf(text, " %.*s/%u; ", (int)MIN(segment->captured, 20),
			       (const char *)segment->payload, segment->length);
}

/* (transfer full) */
static WpPacketRun
run_file(const char *path)
{
	g_autoptr(WpSource) source = wp_source_open(path, 0, NULL);
	WpPacketRun result = { g_string_new(NULL), wp_counters_new() };
	g_autoptr(WpPackets) packets = wp_packets_new(result.counters);
	WpFrame frame;
	WpSegment segment;

	ck_assert_ptr_nonnull(source);
	while (wp_source_next(source, &frame, NULL) == WP_SOURCE_FRAME)
		if (wp_packets_decode(packets, &frame, &segment) == WP_PACKET_SEGMENT) {
			ck_assert_int_eq(segment.time_ns, frame.time_ns);
			ck_assert_uint_eq(segment.number, frame.number);
			describe(result.text, &segment);
		}
	return result;
}

WpPacketRun
wp_packet_run(const WpPcapBuild *build)
{
	g_autotemp *path = wp_pcap_build_file(build, "");
	return run_file(path);
}

void
wp_packet_run_put(WpPcapBuild *build, const char *hex, const GByteArray *ip)
{
	g_autoptr(GByteArray) frame = g_byte_array_new();
	while (*hex) {
		if (*hex == ' ') {
			hex++;
			continue;
		}
		guint8 byte =
			(guint8)(g_ascii_xdigit_value(hex[0]) << 4 | g_ascii_xdigit_value(hex[1]));
		g_byte_array_append(frame, &byte, 1);
		hex += 2;
	}
	if (ip)
		g_byte_array_append(frame, ip->data, ip->len);
	wp_pcap_build_frame(build, 0, frame->data, frame->len, frame->len);
}
