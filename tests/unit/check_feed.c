/* A thread that reads ahead changes nothing: the same traces, to the byte, for any number of threads. */
#include "capture/feed.h"

#include <stdio.h>
#include <string.h>

#include "capture/nodes.h"
#include "capture/trace-io.h"
#include "capture/trace.h"
#include "tests/support/pcap-build.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

#define MS G_GINT64_CONSTANT(1000000)
#define T0 (G_GINT64_CONSTANT(1700000000000) * MS)

/* (transfer full) The text form of what PATH gives with so many threads, and then the error, if any. */
static char *
trace_of(const char *path, const WpCaptureOptions *options, guint n_threads)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(GError) error = NULL;
	g_autotemp *written = wp_temp_file_name(".trace");
	WpRecordSink *writer = wp_trace_writer_new(written, NULL);
	WpCaptureOptions own = *options;

	own.n_threads = n_threads;
	if (!wp_capture_run(&path, 1, &own, nodes, writer, NULL, &error))
		wp_trace_writer_stop(writer, NULL);
	wp_trace_writer_free(writer);
	g_autofree char *rest = g_strconcat(written, ".partial", NULL);
	g_autofree char *text = NULL;
	if (!g_file_get_contents(rest, &text, NULL, NULL))
		(void)!g_file_get_contents(written, &text, NULL, NULL);
	(void)remove(rest);
	return g_strconcat(text ? text : "", error ? error->message : "", NULL);
}

static void
check_same(const char *path, const WpCaptureOptions *options)
{
	static const guint numbers[] = { 2, 3, 8 };
	g_autofree char *alone = trace_of(path, options, 1);

	for (int i = 0; i < wp_test_number(G_N_ELEMENTS(numbers), 1); i++) {
		g_autofree char *text = trace_of(path, options, numbers[i]);
		if (strcmp(text, alone) != 0)
			ck_abort_msg("%s: other records with %u threads", path, numbers[i]);
	}
}

static const char *
source_folder(void)
{
	const char *folder = g_getenv("TOP_SRCDIR");
	return folder ? folder : ".";
}

/* Every capture that is kept, whole and filtered, and through a small table of flows. */
static void
check_folder(const char *name_of_folder)
{
	g_autofree char *folder = g_strdup_printf("%s/traces/%s", source_folder(), name_of_folder);
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	const char *name;
	guint n = 0;

	ck_assert_ptr_nonnull(dir);
	while ((name = g_dir_read_name(dir))) {
		if (!g_str_has_suffix(name, ".pcap.gz"))
			continue;
		g_autofree char *path = g_build_filename(folder, name, NULL);
		WpCaptureOptions options;
		wp_capture_options_init(&options);
		check_same(path, &options);
		n++;
		if (!wp_test_number(1, 0))
			continue;
		options.filter = "tcp[13] & 3 != 0 or udp";
		check_same(path, &options);
		options.filter = NULL;
		options.max_flows = 3;
		check_same(path, &options);
	}
	ck_assert_uint_gt(n, 0);
}

START_TEST(kept_captures)
{
	check_folder("protocols");
	if (wp_test_number(1, 0)) {
		check_folder("tls");
		check_folder("grpc");
		check_folder("shop");
	}
}
END_TEST

/* N requests on one connection, each with a body of LENGTH bytes in one segment. */
static GByteArray *
build(guint n, gsize length, gboolean is_pcapng)
{
	const WpPcapBuildOptions options = { .pcapng = is_pcapng };
	g_autoptr(WpPcapBuild) capture = wp_pcap_build_new(&options);
	g_autoptr(GString) text = g_string_new(NULL);
	GByteArray *bytes = g_byte_array_new();
	WpBuildFlow flow;

	wp_build_flow_init(&flow, capture, "10.0.0.1:40000", "10.0.0.2:80");
	wp_build_flow_open(&flow, T0);
	for (guint i = 0; i < n; i++) {
		gint64 now = T0 + (i + 1) * MS;
		g_string_printf(text, "PUT /thing-%u HTTP/1.1\r\nContent-Length: %zu\r\n\r\n", i,
				length);
		for (gsize j = 0; j < length; j++)
			g_string_append_c(text, 'x');
		wp_build_flow_send(&flow, WP_BUILD_CLIENT, now, text->str, (gssize)text->len);
		wp_build_flow_send(&flow, WP_BUILD_SERVER, now + MS / 2, "HTTP/1.1 204 No\r\n\r\n",
				   -1);
	}
	wp_build_flow_close(&flow, T0 + (n + 1) * MS);
	g_byte_array_append(bytes, wp_pcap_build_bytes(capture)->data,
			    wp_pcap_build_bytes(capture)->len);
	return bytes;
}

/* Around the sizes of batches: packets, bytes, what is left out; whole, cut and broken files. */
static const struct {
	guint n;
	gsize length;
	gboolean is_pcapng;
	const char *filter;
	gsize cut;
	gsize rubbish;
} rows[] = {
	{ 1, 0, FALSE, NULL, 0, 0 },       { 1, 0, FALSE, NULL, 10000, 0 },
	{ 600, 0, FALSE, NULL, 0, 0 },     { 600, 1400, TRUE, NULL, 0, 0 },
	{ 100, 60000, FALSE, NULL, 0, 0 }, { 9000, 0, FALSE, NULL, 0, 0 },
	{ 9000, 0, TRUE, "udp", 0, 0 },    { 9000, 0, FALSE, "src port 80", 0, 0 },
	{ 600, 100, FALSE, NULL, 7, 0 },   { 600, 100, FALSE, NULL, 0, 40 },
	{ 600, 100, TRUE, NULL, 0, 40 },   { 600, 100, FALSE, "port port", 0, 0 },
};

START_TEST(sizes)
{
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GByteArray) bytes = build(rows[i].n, rows[i].length, rows[i].is_pcapng);
		gsize cut = MIN(rows[i].cut, bytes->len - 24);
		WpCaptureOptions options;

		wp_capture_options_init(&options);
		options.filter = rows[i].filter;
		g_byte_array_set_size(bytes, bytes->len - (guint)cut);
		for (gsize j = 0; j < rows[i].rubbish; j++)
			g_byte_array_append(bytes, (const guint8 *)"\xee", 1);
		g_autotemp *path = wp_temp_file_new(".pcap", bytes->data, bytes->len);
		check_same(path, &options);
	}
}
END_TEST

/* A feed that is stopped still gives what was counted; one that nobody empties can be freed. */
START_TEST(stopped)
{
	g_autoptr(GByteArray) bytes = build(20000, 10, FALSE);
	g_autotemp *path = wp_temp_file_new(".pcap", bytes->data, bytes->len);
	WpCaptureOptions options;

	wp_capture_options_init(&options);
	for (guint n_taken = 0; n_taken < 3; n_taken++) {
		g_autoptr(WpSource) source = wp_source_open(path, 0, NULL);
		g_autoptr(WpFront) front = wp_front_new(&options, source, NULL);
		g_autoptr(WpFeed) feed = wp_feed_new(front, source);
		const WpFeedBatch *batch = NULL;
		guint64 n_items = 0;
		ck_assert_ptr_nonnull(feed);
		for (guint i = 0; i < n_taken; i++)
			n_items += wp_feed_take(feed, NULL)->n_items;
		if (n_taken == 0)
			continue;
		wp_feed_stop(feed);
		do {
			batch = wp_feed_take(feed, NULL);
			n_items += batch->n_items;
		} while (batch->result == WP_FRONT_SEGMENT);
		ck_assert_int_eq(batch->result, WP_FRONT_END);
		ck_assert_uint_lt(n_items, 20000);
		ck_assert_uint_eq(n_items,
				  wp_counters_get(wp_front_counters(front), WP_COUNT_PACKETS));
		ck_assert_uint_eq(n_items, batch->n_packets);
	}
}
END_TEST

WP_SUITE("feed", kept_captures, sizes, stopped)
