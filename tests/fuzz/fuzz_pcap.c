/*
 * A capture file through source and packet layer. Whatever it holds: lengths fit together, and every
 * byte that is handed out is there. Then the same file through all of capture, with the times and the
 * lengths that no real one has.
 */
#define _GNU_SOURCE /* memfd_create */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sanitizers see whether the bytes are there. */
static void
touch(const guint8 *data, guint32 length)
{
	volatile guint8 sum = 0;
	for (guint32 i = 0; i < length; i++)
		sum = sum ^ data[i];
	(void)sum;
}

static void
run_source(WpSource *source)
{
	g_autoptr(WpCounters) counters = wp_counters_new();
	g_autoptr(WpPackets) packets = wp_packets_new(counters);
	WpFrame frame;
	WpSegment segment;
	guint64 number = 0;

	while (wp_source_next(source, &frame, NULL) == WP_SOURCE_FRAME) {
		g_assert(frame.captured <= frame.length && frame.number == ++number);
		/* An exact copy, so that a read past its end is seen. */
		g_autofree guint8 *copy = g_memdup2(frame.data, frame.captured);
		frame.data = copy;
		if (wp_packets_decode(packets, &frame, &segment) != WP_PACKET_SEGMENT)
			continue;
		g_assert(segment.captured <= segment.length);
		touch(segment.payload, segment.captured);
	}
	wp_source_told(source);
}

static void
run_capture(const char *path)
{
	static const WpRecordSinkOps no_ops = { 0 };
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpRecordSink sink = { &no_ops };
	WpCaptureOptions options;

	wp_capture_options_init(&options);
	wp_capture_run(&path, 1, &options, nodes, &sink, NULL, NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("capture", MFD_CLOEXEC);
	g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size) {
		g_autoptr(WpSource) source = wp_source_open(path, 0, NULL);
		if (source)
			run_source(source);
		run_capture(path);
	}
	close(fd);
	return 0;
}
