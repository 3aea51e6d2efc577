/* See split.h. Between two hosts no packet overtakes another. */
#include "tests/support/split.h"

#include <math.h>
#include <string.h>

#include "capture/packet.h"
#include "capture/source.h"
#include "tests/support/tempfile.h"

#define MAX_HOSTS 16

typedef struct {
	gint64 time_ns; /* by the host's clock */
	guint64 order;
	GBytes *bytes;
	guint32 length; /* on the wire */
} Packet;

typedef struct {
	const WpSplitHost *hosts;
	guint n;
	const WpSplitWays *ways;
	guint64 state;
	gint64 start_ns, end_ns;
	guint32 link_type;
	GArray *views[MAX_HOSTS]; /* Packet */
	gint64 last_ns[MAX_HOSTS]
		      [2]; /* true time of the latest packet, by whether it was received */
} Split;

static double
draw(Split *split)
{
	split->state = split->state * G_GUINT64_CONSTANT(6364136223846793005) +
		       G_GUINT64_CONSTANT(1442695040888963407);
	return ((double)(split->state >> 11) + 1) / 9007199254740994.0;
}

static gint64
draw_way(Split *split)
{
	double more = -log(draw(split)) * (double)split->ways->mean_more_ns;
	return split->ways->least_ns + (gint64)more;
}

/* What HOST's clock shows at true time TIME_NS. */
static gint64
local_time(const Split *split, const WpSplitHost *host, gint64 time_ns)
{
	double since = (double)(time_ns - split->start_ns);
	double middle = (double)(split->end_ns - split->start_ns) / 2;
	double gained = since * host->drift_ppm / 1e6;
	if (host->bend_ppm != 0 && since > middle)
		gained += (since - middle) * (host->bend_ppm - host->drift_ppm) / 1e6;
	return time_ns + host->offset_ns + (gint64)gained;
}

static void
add_packet(Split *split, guint i, gboolean is_received, const WpFrame *frame)
{
	const WpSplitHost *host = &split->hosts[i];
	gint64 way_ns = draw_way(split),
	       time_ns = frame->time_ns + (is_received ? way_ns : -way_ns);
	double part = (double)(frame->time_ns - split->start_ns) /
		      (double)MAX(split->end_ns - split->start_ns, 1);
	gboolean is_lost = draw(split) < host->loss || ((host->from != 0 || host->to != 0) &&
							(part < host->from || part > host->to));
	/* What is late already comes no earlier than what went before. */
	time_ns = MAX(time_ns, split->last_ns[i][is_received]);
	split->last_ns[i][is_received] = time_ns;
	if (is_lost)
		return;
	Packet packet = { .time_ns = local_time(split, host, time_ns),
			  .order = split->views[i]->len,
			  .bytes = g_bytes_new(frame->data, frame->captured),
			  .length = frame->length };
	g_array_append_val(split->views[i], packet);
}

static void
read_frames(Split *split, const char *path, gboolean is_measuring)
{
	g_autoptr(WpSource) source = wp_source_open(path, 0, NULL);
	g_autoptr(WpCounters) counters = wp_counters_new();
	g_autoptr(WpPackets) packets = wp_packets_new(counters);
	WpSegment segment;
	WpFrame frame;
	char text[64];

	g_assert(source);
	for (guint64 n = 0; wp_source_next(source, &frame, NULL) == WP_SOURCE_FRAME; n++) {
		if (is_measuring) {
			split->start_ns = n ? MIN(split->start_ns, frame.time_ns) : frame.time_ns;
			split->end_ns = n ? MAX(split->end_ns, frame.time_ns) : frame.time_ns;
			split->link_type = frame.link_type;
			continue;
		}
		if (wp_packets_decode(packets, &frame, &segment) != WP_PACKET_SEGMENT)
			continue;
		for (guint i = 0; i < split->n; i++) {
			const char *own = split->hosts[i].address;
			if (strcmp(wp_address_text(segment.src.address, text, sizeof text), own) ==
			    0)
				add_packet(split, i, FALSE, &frame);
			if (strcmp(wp_address_text(segment.dst.address, text, sizeof text), own) ==
			    0)
				add_packet(split, i, TRUE, &frame);
		}
	}
}

static int
compare_packets(gconstpointer a, gconstpointer b)
{
	const Packet *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void
put_u32(GByteArray *file, guint32 value)
{
	g_byte_array_append(file, (const guint8 *)&value, sizeof value);
}

/* (transfer full) pcap(5), in the order of bytes of this machine. */
static char *
write_view(const Split *split, GArray *view)
{
	g_autoptr(GByteArray) file = g_byte_array_new();

	g_array_sort(view, compare_packets);
	put_u32(file, 0xa1b23c4d);
	put_u32(file, 4u << 16 | 2);
	put_u32(file, 0);
	put_u32(file, 0);
	put_u32(file, 262144);
	put_u32(file, split->link_type);
	for (guint i = 0; i < view->len; i++) {
		Packet *packet = &g_array_index(view, Packet, i);
		gsize length;
		const guint8 *data = g_bytes_get_data(packet->bytes, &length);
		put_u32(file, (guint32)(packet->time_ns / 1000000000));
		put_u32(file, (guint32)(packet->time_ns % 1000000000));
		put_u32(file, (guint32)length);
		put_u32(file, packet->length);
		g_byte_array_append(file, data, (guint)length);
		g_bytes_unref(packet->bytes);
	}
	return wp_temp_file_new(".pcap", file->data, file->len);
}

GPtrArray *
wp_split(const char *path, const WpSplitHost *hosts, guint n, const WpSplitWays *ways)
{
	Split split = { .hosts = hosts, .n = n, .ways = ways, .state = ways->seed };
	GPtrArray *files = g_ptr_array_new();

	g_assert(n <= MAX_HOSTS);
	for (guint i = 0; i < n; i++)
		split.views[i] = g_array_new(FALSE, FALSE, sizeof(Packet));
	read_frames(&split, path, TRUE);
	read_frames(&split, path, FALSE);
	for (guint i = 0; i < n; i++) {
		g_ptr_array_add(files, write_view(&split, split.views[i]));
		g_array_unref(split.views[i]);
	}
	return files;
}

void
wp_split_free(GPtrArray *files)
{
	for (guint i = 0; i < files->len; i++)
		wp_temp_file_remove(files->pdata[i]);
	g_ptr_array_unref(files);
}
