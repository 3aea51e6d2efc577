/*
 * The driver, end to end: files in, a trace out. And how well the loss estimate fits losses that are
 * known: packets are taken out of captures by a seeded generator.
 */
#include "capture/capture.h"

#include <stdio.h>
#include <string.h>

#include "capture/trace.h"
#include "tests/support/pcap-build.h"
#include "tests/support/suite.h"

#define SEC G_GINT64_CONSTANT(1000000000)
#define T0  (1700000000 * SEC)

static WpTrace *
run(const char *path, const WpCaptureOptions *options, GError **error)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpTrace *trace = wp_trace_new(nodes);
	WpCaptureOptions defaults;
	wp_capture_options_init(&defaults);
	gboolean good = wp_capture_run(&path, 1, options ? options : &defaults, nodes,
				       wp_trace_sink(trace), NULL, error);
	ck_assert_int_eq(good, !error || !*error);
	return trace;
}

static const char *
setting(const WpTrace *trace, const char *key)
{
	for (gsize i = 0; i < wp_trace_n_settings(trace); i++)
		if (strcmp(wp_trace_setting_key(trace, i), key) == 0)
			return wp_trace_setting_value(trace, i);
	return "";
}

static guint64
counted(const WpTrace *trace, WpCounter counter)
{
	return wp_counters_get(wp_trace_counters(trace), counter);
}

/* N requests, one a second, on one connection. */
static WpPcapBuild *
build_requests(const WpPcapBuildOptions *options, guint n)
{
	WpPcapBuild *build = wp_pcap_build_new(options);
	WpBuildFlow flow;
	wp_build_flow_init(&flow, build, "10.0.0.1:40000", "10.0.0.2:80");
	wp_build_flow_open(&flow, T0);
	for (guint i = 0; i < n; i++) {
		gint64 now = T0 + (i + 1) * SEC;
		wp_build_flow_send(&flow, WP_BUILD_CLIENT, now,
				   "GET /session-12345678 HTTP/1.1\r\nHost: a\r\n\r\n", -1);
		wp_build_flow_send(&flow, WP_BUILD_SERVER, now + 1000000,
				   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", -1);
	}
	wp_build_flow_close(&flow, T0 + (n + 1) * SEC);
	return build;
}

/* Records, settings and counters of a capture. */
START_TEST(whole)
{
	g_autoptr(WpPcapBuild) build = build_requests(NULL, 3);
	g_autotemp *path = wp_pcap_build_file(build, ".pcap");
	g_autofree char *name = g_path_get_basename(path);
	g_autoptr(WpTrace) trace = run(path, NULL, NULL);
	ck_assert_uint_eq(wp_trace_n_records(trace), 6);
	ck_assert_int_eq(wp_trace_records(trace)[0].begin_ns, T0 + SEC);
	ck_assert_str_eq(setting(trace, "input"), name);
	ck_assert_str_eq(setting(trace, "link-type"), "EN10MB");
	ck_assert_str_eq(setting(trace, "first-packet"), "1700000000.000000000");
	ck_assert_str_eq(setting(trace, "snap-length"), "");
	ck_assert_str_eq(setting(trace, "loss-share"), "");
	ck_assert_uint_eq(counted(trace, WP_COUNT_CALLS), 3);
	ck_assert_uint_eq(counted(trace, WP_COUNT_RETURNS), 3);
	ck_assert_uint_eq(counted(trace, WP_COUNT_FLOWS_TCP), 1);
	ck_assert_uint_eq(counted(trace, WP_COUNT_SEGMENTS), 6);
	ck_assert_uint_ge(counted(trace, WP_COUNT_PACKETS), 12);
}
END_TEST

/* From and to, a filter: what is left out is counted. */
START_TEST(selection)
{
	static const struct {
		gint64 from, to;
		const char *filter;
		guint64 calls;
	} rows[] = {
		{ WP_NO_TIME, WP_NO_TIME, NULL, 5 },      { T0 + 3 * SEC, WP_NO_TIME, NULL, 3 },
		{ WP_NO_TIME, T0 + 3 * SEC, NULL, 2 },    { T0 + 2 * SEC, T0 + 3 * SEC, NULL, 1 },
		{ T0 + 100 * SEC, WP_NO_TIME, NULL, 0 },  { WP_NO_TIME, WP_NO_TIME, "port 80", 5 },
		{ WP_NO_TIME, WP_NO_TIME, "port 81", 0 },
	};
	g_autoptr(WpPcapBuild) build = build_requests(NULL, 5);
	g_autotemp *path = wp_pcap_build_file(build, ".pcap");
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpCaptureOptions options;
		wp_capture_options_init(&options);
		options.from_ns = rows[i].from;
		options.to_ns = rows[i].to;
		options.filter = rows[i].filter;
		g_autoptr(WpTrace) trace = run(path, &options, NULL);
		ck_assert_uint_eq(counted(trace, WP_COUNT_CALLS), rows[i].calls);
		ck_assert_int_eq(counted(trace, WP_COUNT_PACKETS_FILTERED) > 0, rows[i].calls < 5);
		ck_assert_str_eq(setting(trace, "filter"), rows[i].filter ? rows[i].filter : "");
	}
}
END_TEST

/* Options that make no sense are refused before a packet is read. */
START_TEST(bad_options)
{
	static const struct {
		const char *filter, *decode_as;
	} rows[] = {
		{ "port port", NULL }, { NULL, "80" },         { NULL, "http" },
		{ NULL, "0=http" },    { NULL, "70000=http" }, { NULL, "80=nonsense" },
		{ NULL, "=http" },
	};
	g_autoptr(WpPcapBuild) build = build_requests(NULL, 1);
	g_autotemp *path = wp_pcap_build_file(build, ".pcap");
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		WpCaptureOptions options;
		wp_capture_options_init(&options);
		options.filter = rows[i].filter;
		options.decode_as = rows[i].decode_as;
		g_autoptr(WpTrace) trace = run(path, &options, &error);
		ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION));
		ck_assert_uint_eq(wp_trace_n_records(trace), 0);
	}
}
END_TEST

/* A block of names: those of addresses become names of nodes, what is no name does not. */
START_TEST(names_of_the_file)
{
	static const guint8 block[] = "\4\0\0\0\x30\0\0\0"
				      "\1\0\x0c\0\x0a\0\0\2web.lan\0"
				      "\1\0\x0c\0\x0a\0\0\1\033[31m!\n\0"
				      "\0\0\0\0\x30\0\0\0";
	const WpPcapBuildOptions options = { .pcapng = TRUE };
	g_autoptr(WpPcapBuild) build = build_requests(&options, 1);
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_byte_array_append(bytes, wp_pcap_build_bytes(build)->data,
			    wp_pcap_build_bytes(build)->len);
	g_byte_array_append(bytes, block, 0x30);
	ck_assert_uint_eq(sizeof block, 0x30 + 1);
	g_autotemp *path = wp_temp_file_new(".pcapng", bytes->data, bytes->len);
	g_autoptr(WpTrace) trace = run(path, NULL, NULL);
	const WpNodes *nodes = wp_trace_nodes(trace);
	guint32 server = wp_nodes_find_key(nodes, "10.0.0.2");
	guint32 client = wp_nodes_find_key(nodes, "10.0.0.1");
	ck_assert_str_eq(wp_nodes_hint(nodes, server, WP_NAME_CAPTURE, NULL), "web.lan");
	ck_assert_ptr_null(wp_nodes_hint(nodes, client, WP_NAME_CAPTURE, NULL));
}
END_TEST

START_TEST(decode_as)
{
	g_autoptr(WpPcapBuild) build = build_requests(NULL, 1);
	g_autotemp *path = wp_pcap_build_file(build, ".pcap");
	WpCaptureOptions options;
	wp_capture_options_init(&options);
	options.decode_as = "80=unknown";
	g_autoptr(WpTrace) trace = run(path, &options, NULL);
	ck_assert_uint_eq(wp_trace_n_records(trace), 2);
	ck_assert_str_eq(wp_nodes_text(wp_trace_nodes(trace), wp_trace_records(trace)[0].protocol),
			 "unknown");
}
END_TEST

/* The hashes of tokens are the same however the packets are wrapped, and not for another key. */
START_TEST(token_key)
{
	static const WpPcapBuildOptions wraps[] = {
		{ 0 },
		{ .n_vlans = 1, .vlans = { 7 } },
		{ .link = WP_LINK_SLL },
		{ .pcapng = TRUE },
	};
	guint32 first = 0;
	for (gsize i = 0; i <= G_N_ELEMENTS(wraps); i++) {
		g_autoptr(WpPcapBuild) build = build_requests(&wraps[i % G_N_ELEMENTS(wraps)], 1);
		g_autotemp *path = wp_pcap_build_file(build, ".pcap");
		WpCaptureOptions options;
		wp_capture_options_init(&options);
		options.token_key = i == G_N_ELEMENTS(wraps) ? "mine" : NULL;
		g_autoptr(WpTrace) trace = run(path, &options, NULL);
		const WpRecord *call = wp_trace_records(trace);
		ck_assert_uint_ge(call->n_tokens, 1);
		guint32 token = wp_trace_tokens(trace, call)[0];
		first = i ? first : token;
		ck_assert_int_eq(token == first, !options.token_key);
	}
}
END_TEST

/* A file that is cut short gives all before the cut; one that is broken too, and an error. */
START_TEST(cut_and_broken)
{
	g_autoptr(WpPcapBuild) build = build_requests(NULL, 3);
	const GByteArray *bytes = wp_pcap_build_bytes(build);
	g_autotemp *cut = wp_temp_file_new(".pcap", bytes->data, bytes->len - 7);
	g_autoptr(WpTrace) trace = run(cut, NULL, NULL);
	ck_assert_uint_eq(counted(trace, WP_COUNT_INPUT_TRUNCATED), 1);
	ck_assert_uint_eq(counted(trace, WP_COUNT_RETURNS), 3);

	g_autoptr(GByteArray) broken = g_byte_array_new();
	g_byte_array_append(broken, bytes->data, bytes->len);
	guint8 rubbish[32];
	memset(rubbish, 0xee, sizeof rubbish);
	g_byte_array_append(broken, rubbish, sizeof rubbish);
	g_autotemp *path = wp_temp_file_new(".pcap", broken->data, broken->len);
	g_autoptr(GError) error = NULL;
	g_autoptr(WpTrace) before = run(path, NULL, &error);
	ck_assert_ptr_nonnull(error);
	ck_assert_uint_eq(counted(before, WP_COUNT_RETURNS), 3);
	ck_assert_uint_eq(wp_trace_n_records(before), 6);
}
END_TEST

START_TEST(no_such_file)
{
	g_autoptr(GError) error = NULL;
	wp_trace_free(run("/nonexistent/x.pcap", NULL, &error));
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPEN));
}
END_TEST

static gboolean
stop_at_once(guint64 read, guint64 size, guint64 packets, gpointer data)
{
	guint *n_calls = data;
	ck_assert_uint_le(read, size);
	++*n_calls;
	return FALSE;
}

/* Progress is told now and then, and may stop the reading; what was read is passed on. */
START_TEST(progress)
{
	g_autoptr(WpPcapBuild) build = build_requests(NULL, 5000);
	g_autotemp *path = wp_pcap_build_file(build, ".pcap");
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	const char *paths[] = { path };
	gboolean stopped = FALSE;
	guint n_calls = 0;
	WpCaptureOptions options;
	wp_capture_options_init(&options);
	options.progress = stop_at_once;
	options.progress_data = &n_calls;
	options.n_threads = 1; /* how far several have come then is not certain: see check_feed */
	ck_assert(wp_capture_run(paths, 1, &options, nodes, wp_trace_sink(trace), &stopped, NULL));
	ck_assert(stopped);
	ck_assert_uint_eq(n_calls, 1);
	ck_assert_uint_gt(counted(trace, WP_COUNT_CALLS), 1000);
	ck_assert_uint_lt(counted(trace, WP_COUNT_CALLS), 5000);
}
END_TEST

/* --- loss --- */

static double
next_random(guint64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(*state >> 11) / 9007199254740992.0;
}

/*
 * FILE (pcap, ns, of this machine) without SHARE of its packets, in runs of BURST on average; returns
 * the share that was really taken out.
 */
static double
lose(const GByteArray *file, double share, double burst, guint64 seed, GByteArray *out)
{
	guint64 state = seed * 0x9e3779b9 + 1, lost = 0, n = 0;
	gboolean is_losing = FALSE;
	g_byte_array_append(out, file->data, 24);
	for (gsize at = 24; at + 16 <= file->len;) {
		guint32 captured;
		memcpy(&captured, file->data + at + 8, 4);
		double leave = 1 / burst, enter = share / (1 - share) / burst;
		double random = next_random(&state);
		if (burst <= 1)
			is_losing = random < share;
		else
			is_losing = is_losing ? random >= leave : random < enter;
		if (!is_losing)
			g_byte_array_append(out, file->data + at, 16 + captured);
		lost += is_losing;
		n++;
		at += 16 + captured;
	}
	return (double)lost / (double)n;
}

/* The estimate is within WITHIN of the truth, on average over some seeds. */
static void
check_loss(const char *name, const GByteArray *file, double share, double burst, double within)
{
	double ratio = 0;
	const guint n_seeds = (guint)wp_test_number(3, 1);
	for (guint seed = 1; seed <= n_seeds; seed++) {
		g_autoptr(GByteArray) thin = g_byte_array_new();
		double truth = lose(file, share, burst, seed, thin);
		g_autotemp *path = wp_temp_file_new(".pcap", thin->data, thin->len);
		g_autoptr(WpTrace) trace = run(path, NULL, NULL);
		double estimate = (double)counted(trace, WP_COUNT_LOST_PACKETS);
		estimate /= estimate + (double)counted(trace, WP_COUNT_PACKETS);
		ratio += estimate / truth / n_seeds;
	}
	printf("%s: %4.1f %% lost in runs of %2.0f: estimate / truth = %.3f\n", name, 100 * share,
	       burst, ratio);
	ck_assert_msg(ratio > 1 - within && ratio < 1 + within, "%s, loss %g, runs of %g: %g", name,
		      share, burst, ratio);
}

static const struct {
	double share, burst;
} losses[] = { { 0.01, 1 }, { 0.03, 1 }, { 0.1, 1 }, { 0.03, 3 }, { 0.1, 5 }, { 0.1, 15 } };

/* Up to runs of MOST packets. */
static void
check_losses(const char *name, const GByteArray *file, double most)
{
	for (gsize i = 0; i < G_N_ELEMENTS(losses) && losses[i].burst <= most;
	     i += (gsize)wp_test_number(1, 3))
		check_loss(name, file, losses[i].share, losses[i].burst, 0.2);
}

/* One connection, small requests, replies of 1 to 4 kB. */
START_TEST(loss_of_calls)
{
	g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
	g_autofree char *body = g_strnfill(8192, 'x');
	WpBuildFlow flow;
	wp_build_flow_init(&flow, build, "10.0.0.1:40000", "10.0.0.2:80");
	wp_build_flow_open(&flow, T0);
	for (guint i = 0; i < 6000; i++) {
		gint64 now = T0 + i * 2000000;
		gsize length = 1000 + (i * 2654435761u >> 8) % 3000;
		wp_build_flow_send(&flow, WP_BUILD_CLIENT, now, body, 60 + (i * 7919u) % 40);
		wp_build_flow_send(&flow, WP_BUILD_SERVER, now + 500000, body, (gssize)length);
	}
	check_losses("calls", wp_pcap_build_bytes(build), 15);
}
END_TEST

/* A connection of nine packets for each call: longer bursts take whole ones, which leave no trace. */
START_TEST(loss_of_short_flows)
{
	g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
	g_autofree char *body = g_strnfill(8192, 'x');
	for (guint i = 0; i < 3000; i++) {
		gint64 now = T0 + i * 2000000;
		g_autofree char *client = g_strdup_printf("10.0.0.1:%u", 10000 + i);
		WpBuildFlow flow;
		wp_build_flow_init(&flow, build, client, "10.0.0.2:80");
		wp_build_flow_open(&flow, now);
		wp_build_flow_send(&flow, WP_BUILD_CLIENT, now + 100000, body, 200);
		wp_build_flow_send(&flow, WP_BUILD_SERVER, now + 500000, body,
				   (gssize)(100 + (i * 7919u) % 4000));
		wp_build_flow_close(&flow, now + 600000);
	}
	check_losses("short flows", wp_pcap_build_bytes(build), 3);
}
END_TEST

/* A capture of real servers. */
START_TEST(loss_of_a_capture)
{
	const char *source = g_getenv("TOP_SRCDIR");
	g_autofree char *path =
		g_build_filename(source ? source : ".", "traces", "shop", "input.pcap.gz", NULL);
	g_autoptr(WpInput) input = wp_input_open(path, NULL);
	g_autoptr(GByteArray) file = g_byte_array_new();
	const guint8 *data;
	gssize n;
	ck_assert_ptr_nonnull(input);
	while ((n = wp_input_peek(input, 65536, &data, NULL)) > 0) {
		g_byte_array_append(file, data, (guint)n);
		wp_input_consume(input, (gsize)n);
	}
	check_losses("shop", file, 15);
}
END_TEST

WP_SUITE("capture", whole, selection, bad_options, names_of_the_file, decode_as, token_key,
	 cut_and_broken, no_such_file, progress, loss_of_calls, loss_of_short_flows,
	 loss_of_a_capture)
