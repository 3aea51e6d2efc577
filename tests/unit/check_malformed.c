/*
 * Files that are wrong: every byte of a small capture becomes another, and it is cut anywhere. None may crash or take
 * long, and where records are missing something must say so: an error, or a counter.
 */
#include <string.h>

#include "capture/capture.h"
#include "capture/trace.h"
#include "tests/support/pcap-build.h"
#include "tests/support/suite.h"

#define MS G_GINT64_CONSTANT(1000000)
#define T0 G_GINT64_CONSTANT(1700000000123456789)

/* One call, its return, and a close. */
static WpPcapBuild *
build_call(const WpPcapBuildOptions *options)
{
	WpPcapBuild *build = wp_pcap_build_new(options);
	WpBuildFlow flow;
	wp_build_flow_init(&flow, build, "10.0.0.1:40000", "10.0.0.2:80");
	wp_build_flow_open(&flow, T0);
	wp_build_flow_send(&flow, WP_BUILD_CLIENT, T0 + MS, "GET /a HTTP/1.1\r\n\r\n", -1);
	wp_build_flow_send(&flow, WP_BUILD_SERVER, T0 + 2 * MS,
			   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", -1);
	wp_build_flow_close(&flow, T0 + 3 * MS);
	return build;
}

/* What came of a file. */
typedef struct {
	gsize n_records;
	guint64 n_told; /* of what was counted as lost, wrong, unknown or odd */
	gboolean is_refused;
} Outcome;

static Outcome
run(const guint8 *bytes, gsize length)
{
	g_autotemp *path = wp_temp_file_new(".pcap", bytes, length);
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	g_autoptr(GError) error = NULL;
	const char *paths[] = { path };
	Outcome outcome = { 0 };
	WpCaptureOptions options;

	wp_capture_options_init(&options);
	outcome.is_refused =
		!wp_capture_run(paths, 1, &options, nodes, wp_trace_sink(trace), NULL, &error);
	ck_assert_int_eq(outcome.is_refused, error != NULL);
	if (error)
		ck_assert_ptr_nonnull(strstr(error->message, path));
	wp_trace_freeze(trace);
	outcome.n_records = wp_trace_n_records(trace);
	for (int c = 0; c < WP_N_COUNTERS; c++) {
		gboolean is_odd = wp_counter_info[c].severity != WP_SEVERITY_INFO ||
				  c == WP_COUNT_PACKETS_NOT_IP || c == WP_COUNT_PACKETS_OTHER_IP ||
				  c == WP_COUNT_BLOCKS_SKIPPED || c == WP_COUNT_FRAGMENTS;
		if (is_odd)
			outcome.n_told += wp_counters_get(wp_trace_counters(trace), c);
	}
	return outcome;
}

/* Where fewer records came than of the file as it was, that must be told. */
static void
check_outcome(const char *what, guint at, const Outcome *whole, const Outcome *outcome)
{
	ck_assert_msg(outcome->n_records >= whole->n_records || outcome->is_refused ||
			      outcome->n_told > whole->n_told,
		      "%s, byte %u: %zu records of %zu, and nobody says why", what, at,
		      outcome->n_records, whole->n_records);
}

static const struct {
	const char *what;
	WpPcapBuildOptions options;
} forms[] = {
	{ "pcap", { .micro = FALSE } },
	{ "pcap, big-endian", { .big_endian = TRUE } },
	{ "pcapng", { .pcapng = TRUE } },
	{ "pcapng, VLAN", { .pcapng = TRUE, .n_vlans = 2, .vlans = { 1, 2 } } },
};

/* The bytes in turn as 0, as 255, and with one bit turned. */
START_TEST(other_bytes)
{
	for (gsize f = 0; f < G_N_ELEMENTS(forms); f++) {
		g_autoptr(WpPcapBuild) build = build_call(&forms[f].options);
		const GByteArray *file = wp_pcap_build_bytes(build);
		g_autofree guint8 *bytes = g_memdup2(file->data, file->len);
		Outcome whole = run(bytes, file->len);
		ck_assert_uint_eq(whole.n_records, 2);
		guint step = (guint)wp_test_number(1, 40);
		for (guint at = 0; at < file->len; at += step) {
			const guint8 old = bytes[at];
			const guint8 others[] = { 0, 0xff, old ^ 0x10 };
			bytes[at] = others[(at + f) % G_N_ELEMENTS(others)];
			Outcome outcome = run(bytes, file->len);
			check_outcome(forms[f].what, at, &whole, &outcome);
			bytes[at] = old;
		}
	}
}
END_TEST

/* Cut at each third byte. */
START_TEST(cut_files)
{
	for (gsize f = 0; f < G_N_ELEMENTS(forms); f++) {
		g_autoptr(WpPcapBuild) build = build_call(&forms[f].options);
		const GByteArray *file = wp_pcap_build_bytes(build);
		Outcome whole = run(file->data, file->len);
		guint step = (guint)wp_test_number(3, 40);
		for (guint length = 1; length < file->len; length += step) {
			Outcome outcome = run(file->data, length);
			/* Between two packets a file may end; what then waits is open. */
			if (outcome.n_records > 0)
				check_outcome(forms[f].what, length, &whole, &outcome);
		}
	}
}
END_TEST

WP_SUITE("malformed", other_bytes, cut_files)
