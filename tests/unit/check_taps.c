/*
 * Taps: a capture of one tap is cut into one of each host, each with a clock of its own. Read together they
 * give the calls of the one, at their times.
 */
#include "capture/taps.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/trace.h"
#include "tests/support/pcap-build.h"
#include "tests/support/split.h"
#include "tests/support/suite.h"

#define MS  G_GINT64_CONSTANT(1000000)
#define SEC (1000 * MS)
#define T0  (1700000000 * SEC)

/* Ways between tap and host: so short that no host answers before it was asked. */
static const WpSplitWays ways = { 7, 2000, 3000 };
#define WAY_NS 100000

static char *
input_path(void)
{
	return g_build_filename(g_getenv("TOP_SRCDIR"), "traces/grpc/input.pcap.gz", NULL);
}

static WpTaps *
survey(const GPtrArray *files, const char *const *clocks, guint min_taps, GError **error)
{
	gboolean is_stopped;
	WpTapsOptions options = { .paths = (const char *const *)files->pdata,
				  .n_paths = files->len,
				  .clocks = clocks,
				  .min_taps = min_taps };
	return wp_taps_survey(&options, &is_stopped, error);
}

static WpTrace *
read_files(const GPtrArray *files, const WpTaps *taps)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpTrace *trace = wp_trace_new(nodes);
	WpCaptureOptions options;
	wp_capture_options_init(&options);
	options.taps = taps;
	ck_assert(wp_capture_run((const char *const *)files->pdata, files->len, &options, nodes,
				 wp_trace_sink(trace), NULL, NULL));
	wp_trace_freeze(trace);
	return trace;
}

static WpTrace *
read_file(const char *path)
{
	g_autoptr(GPtrArray) files = g_ptr_array_new();
	g_ptr_array_add(files, (gpointer)path);
	return read_files(files, NULL);
}

static guint64
counted(const WpTrace *trace, WpCounter counter)
{
	return wp_counters_get(wp_trace_counters(trace), counter);
}

static double
seconds_of(const WpTrace *trace, const char *key)
{
	gsize i = 0;
	while (strcmp(wp_trace_setting_key(trace, i), key) != 0)
		i++;
	return g_ascii_strtod(wp_trace_setting_value(trace, i), NULL);
}

/* --- the same calls --- */

static int
compare_records(gconstpointer a, gconstpointer b)
{
	const WpRecord *x = *(const WpRecord *const *)a, *y = *(const WpRecord *const *)b;
	int order = memcmp(&x->src.address, &y->src.address, 16);
	order = order ? order : memcmp(&x->dst.address, &y->dst.address, 16);
	order = order ? order : (int)x->src.port - (int)y->src.port;
	order = order ? order : (int)x->dst.port - (int)y->dst.port;
	order = order ? order : (int)x->kind - (int)y->kind;
	if (order)
		return order;
	/* Replies on one connection begin in one order at any tap. */
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static GPtrArray *
sorted_records(const WpTrace *trace)
{
	GPtrArray *records = g_ptr_array_new();
	for (gsize i = 0; i < wp_trace_n_records(trace); i++)
		g_ptr_array_add(records, (gpointer)&wp_trace_records(trace)[i]);
	g_ptr_array_sort(records, compare_records);
	return records;
}

static const char *
label_of(const WpTrace *trace, const WpRecord *record)
{
	return wp_nodes_text(wp_trace_nodes(trace), record->label);
}

/* TRUE where A, at the times of its own ends, is what B was in between. */
static gboolean
is_same(const WpRecord *a, const WpRecord *b, gint64 within_ns)
{
	return a->bytes == b->bytes && a->status == b->status &&
	       ABS(a->begin_ns - b->begin_ns) < within_ns &&
	       ABS(a->end_ns - b->end_ns) < within_ns && ABS(a->begin_way_ns) < within_ns &&
	       ABS(a->end_way_ns) < within_ns;
}

static void
check_same_calls(const WpTrace *expected, const WpTrace *trace, guint n_both, gint64 within_ns)
{
	g_autoptr(GPtrArray) a = sorted_records(expected), b = sorted_records(trace);
	guint both = 0, wrong = 0;

	ck_assert_uint_eq(a->len, b->len);
	for (guint i = 0; i < a->len; i++) {
		const WpRecord *one = a->pdata[i], *many = b->pdata[i];
		ck_assert_str_eq(label_of(expected, one), label_of(trace, many));
		both += (many->marks & WP_MARK_BOTH_ENDS) != 0;
		wrong += !is_same(many, one, within_ns);
	}
	/* Calls at once on one connection of HTTP/2 may change places. */
	ck_assert_msg(wrong * 500 <= a->len, "%u of %u are others", wrong, a->len);
	ck_assert_msg(both >= n_both, "%u of %u at both ends", both, a->len);
}

static gboolean
count_doubts(const char *key, const char *value, gpointer data)
{
	*(guint *)data += strcmp(key, "clock-doubt") == 0 && *value;
	return TRUE;
}

/* Of how many clocks it is said that they are not known, or not well. */
static guint
doubts_of(const WpTaps *taps)
{
	guint n = 0;
	wp_taps_tell(taps, count_doubts, &n);
	return n;
}

/* The hosts of traces/grpc; the first is made the reference. */
static const char *const addresses[] = { "10.21.0.20", "10.21.0.10", "10.21.0.31",
					 "10.21.0.32", "10.21.0.33", "10.21.0.41" };

typedef struct {
	guint n;
	struct {
		gint64 offset_ms;
		double ppm, loss, from, to;
	} hosts[4];
	guint least_both; /* % of the records */
} Row;

static const Row rows[] = {
	{ 2, { { 0, 0, 0, 0, 0 }, { 30, 50, 0, 0, 0 } }, 15 },
	{ 4,
	  { { 0, 0, 0, 0, 0 }, { -45, -50, 0, 0, 0 }, { 30, 50, 0, 0, 0 }, { 3, 20, 0, 0, 0 } },
	  50 },
	{ 3, { { 0, 0, 0, 0, 0 }, { -45, -50, .05, 0, 0 }, { 30, 50, .05, 0, 0 } }, 40 },
};

static GPtrArray *
split_row(const Row *row, const char *path)
{
	WpSplitHost hosts[4];
	for (guint i = 0; i < row->n; i++)
		hosts[i] = (WpSplitHost){ .address = addresses[i],
					  .offset_ns = row->hosts[i].offset_ms * MS,
					  .drift_ppm = row->hosts[i].ppm,
					  .loss = row->hosts[i].loss,
					  .from = row->hosts[i].from,
					  .to = row->hosts[i].to };
	return wp_split(path, hosts, row->n, &ways);
}

/* (transfer full) What the one tap saw of the hosts of ROW. */
static WpTrace *
read_one(const Row *row, const char *path)
{
	g_autoptr(GString) filter = g_string_new(NULL);
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpTrace *trace = wp_trace_new(nodes);
	WpCaptureOptions options;
	for (guint i = 0; i < row->n; i++)
		g_string_append_printf(filter, "%shost %s", i ? " or " : "", addresses[i]);
	wp_capture_options_init(&options);
	options.filter = filter->str;
	ck_assert(wp_capture_run(&path, 1, &options, nodes, wp_trace_sink(trace), NULL, NULL));
	wp_trace_freeze(trace);
	return trace;
}

static void
check_row(const Row *row)
{
	g_autofree char *path = input_path();
	g_autoptr(WpTrace) one = read_one(row, path), whole = read_file(path);
	GPtrArray *files = split_row(row, path);
	g_autofree char *name = g_path_get_basename(files->pdata[0]);
	*strrchr(name, '.') = '\0';
	const char *clocks[] = { name, NULL };
	g_autoptr(WpTaps) taps = survey(files, clocks, 0, NULL);

	ck_assert_ptr_nonnull(taps);
	ck_assert_uint_eq(wp_taps_count(taps), row->n);
	for (guint i = 1; i < row->n; i++) {
		guint tap = wp_taps_of_input(taps, i);
		const WpClock *clock = wp_taps_clock(taps, tap);
		ck_assert_uint_eq(clock->n, 1);
		const WpClockSegment *segment = &clock->segments[0];
		double since = (double)segment->from_ns / 1e9 - seconds_of(whole, "first-packet");
		double off = (double)(segment->offset_ns - row->hosts[i].offset_ms * MS) -
			     since * row->hosts[i].ppm * 1e3;
		ck_assert_msg(ABS(off) < 200000, "tap %u is off by %g", i, off);
		ck_assert(ABS(off) < segment->offset_error_ns);
		ck_assert_double_eq_tol(segment->drift * 1e6, row->hosts[i].ppm, 5);
	}
	g_autoptr(WpTrace) trace = read_files(files, taps);
	guint n = (guint)wp_trace_n_records(one);
	check_same_calls(one, trace, n * row->least_both / 100, WAY_NS);
	ck_assert_uint_gt(counted(trace, WP_COUNT_PACKETS_SHARED), 0);
	ck_assert_uint_eq(counted(trace, WP_COUNT_PACKETS_UNCOVERED), 0);
	ck_assert_uint_eq(counted(trace, WP_COUNT_GAPS), 0);
	wp_split_free(files);
}

START_TEST(same_calls)
{
	/* The hosts of the first are among those of the second. */
	for (gsize i = (gsize)wp_test_number(0, 1); i < G_N_ELEMENTS(rows); i++)
		check_row(&rows[i]);
}
END_TEST

/* Taken at four hosts at once, and then made wrong by what clocks.csv says. */
START_TEST(real_taps)
{
	static const struct {
		const char *name;
		double offset_ms, ppm;
	} clocks[] = {
		{ "web", 0, 0 }, { "client", -45, 50 }, { "catalog", 30, -50 }, { "cart", 3.5, 20 }
	};
	const gint64 from_ns = G_GINT64_CONSTANT(1795365341040982519);
	const char *reference[] = { "web", NULL };
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
	for (gsize i = 0; i < G_N_ELEMENTS(clocks); i++)
		g_ptr_array_add(files, g_strdup_printf("%s/traces/taps/%s.pcap.gz",
						       g_getenv("TOP_SRCDIR"), clocks[i].name));
	g_autoptr(WpTaps) taps = survey(files, reference, 0, NULL);
	ck_assert_ptr_nonnull(taps);
	ck_assert_uint_eq(doubts_of(taps), 0);
	for (gsize i = 0; i < G_N_ELEMENTS(clocks); i++)
		for (gint64 at_ns = 0; at_ns < 9 * SEC; at_ns += SEC) {
			double wrong =
				clocks[i].offset_ms * 1e6 + (double)at_ns * clocks[i].ppm / 1e6;
			guint tap = wp_taps_of_input(taps, i);
			gint64 time_ns =
				wp_taps_correct(taps, tap, from_ns + at_ns + (gint64)wrong);
			ck_assert_int_lt(ABS(time_ns - from_ns - at_ns), 50000);
		}
}
END_TEST

/* --- files --- */

/* (transfer full) A file of that NAME, to be removed with remove_part(). */
static WpTempFile *
write_part(const char *name, WpPcapBuild *build)
{
	const GByteArray *bytes = wp_pcap_build_bytes(build);
	g_autofree char *directory = g_dir_make_tmp("wp-XXXXXX", NULL);
	char *path = g_build_filename(directory, name, NULL);
	ck_assert(g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, NULL));
	return path;
}

/* A conversation from T0 + FROM_MS on, of N requests, 10 ms each; without CLIENT no packet at all. */
static WpTempFile *
make_part(const char *name, guint from_ms, guint n, const char *client)
{
	g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
	WpBuildFlow flow;
	gint64 now = T0 + from_ms * MS;
	if (client) {
		wp_build_flow_init(&flow, build, client, "10.0.0.2:80");
		wp_build_flow_open(&flow, now);
	}
	for (guint i = 0; i < n && client; i++) {
		g_autofree char *get =
			g_strdup_printf("GET /%u/%u HTTP/1.1\r\nHost: a\r\n\r\n", from_ms, i);
		g_autofree char *reply = g_strdup_printf(
			"HTTP/1.1 200 OK\r\nDate: %u\r\nContent-Length: 0\r\n\r\n", from_ms);
		wp_build_flow_send(&flow, WP_BUILD_CLIENT, now += 5 * MS, get, -1);
		wp_build_flow_send(&flow, WP_BUILD_SERVER, now += 5 * MS, reply, -1);
	}
	return write_part(name, build);
}

static void
remove_part(gpointer path)
{
	g_autofree char *directory = g_path_get_dirname(path);
	wp_temp_file_remove(path);
	rmdir(directory);
}

/* --- no packet in common --- */

/* Hosts of traces/shop that never talk to each other, but all to the application. */
#define NGINX     "10.20.0.20"
#define AUTH      "10.20.0.40"
#define DATABASE  "10.20.0.50"
#define REDIS     "10.20.0.60"
#define MEMCACHED "10.20.0.70"

/* What the application sends to one follows what it gets from another: that tells the clocks of their taps. */
START_TEST(clocks_by_cause)
{
	static const struct {
		guint n;
		WpSplitHost hosts[4]; /* the first is right */
		double off_ms;        /* at most */
	} cases[] = {
		{ 2, { { .address = NGINX }, { DATABASE, 30 * MS, 50, 0, 0, 0, 0 } }, 1 },
		{ 2, { { .address = NGINX }, { AUTH, -45 * MS, -50, 0, 0, 0, 0 } }, 1.5 },
		{ 2, { { .address = NGINX }, { REDIS, 300 * MS, 0, 0, .05, 0, 0 } }, 1 },
		{ 2, { { .address = NGINX }, { REDIS, -8 * SEC, 20, 0, 0, 0, 0 } }, 1 },
		{ 2, { { .address = NGINX }, { DATABASE, -3 * SEC, 0, 0, 0, .3, 1 } }, 1 },
		/* Nothing contradicts clocks that are right: they stay as they are. */
		{ 2, { { .address = NGINX }, { .address = DATABASE } }, 0 },
		/* A chain: the second by the first, all others by either. */
		{ 3,
		  { { .address = NGINX },
		    { DATABASE, 30 * MS, 50, 0, 0, 0, 0 },
		    { MEMCACHED, -45 * MS, 0, 0, 0, 0, 0 } },
		  1 },
	};
	g_autofree char *path =
		g_build_filename(g_getenv("TOP_SRCDIR"), "traces/shop/input.pcap.gz", NULL);
	g_autoptr(WpTrace) whole = read_file(path);
	double start = seconds_of(whole, "first-packet");

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i += (gsize)wp_test_number(1, 2)) {
		GPtrArray *files = wp_split(path, cases[i].hosts, cases[i].n, &ways);
		g_autofree char *name = g_path_get_basename(files->pdata[0]);
		*strrchr(name, '.') = '\0';
		const char *clocks[] = { name, NULL };
		g_autoptr(WpTaps) taps = survey(files, clocks, 0, NULL);
		ck_assert_uint_eq(wp_taps_count(taps), cases[i].n);
		ck_assert_uint_eq(doubts_of(taps), cases[i].n - 1);
		for (guint k = 1; k < cases[i].n; k++) {
			const WpSplitHost *host = &cases[i].hosts[k];
			const WpClock *clock = wp_taps_clock(taps, wp_taps_of_input(taps, k));
			ck_assert_msg(clock->n == 1, "case %zu: %u segments", i, clock->n);
			const WpClockSegment *segment = &clock->segments[0];
			double since = (double)segment->from_ns / 1e9 - start;
			double off = (double)(segment->offset_ns - host->offset_ns) -
				     since * host->drift_ppm * 1e3;
			ck_assert_msg(fabs(off) <= cases[i].off_ms * 1e6 &&
					      fabs(off) < segment->offset_error_ns,
				      "case %zu, tap %u is off by %g ms (said: %g)", i, k,
				      off / 1e6, segment->offset_error_ns / 1e6);
			ck_assert_double_lt(fabs(segment->drift * 1e6 - host->drift_ppm),
					    MAX(segment->drift_error * 1e6, 5));
		}
		wp_split_free(files);
	}
}
END_TEST

/*
 * TAPS of the conversations of one host, N of them, at random times. CAUSED_MS: so long after each request by the first
 * tap the host asks another by the second; 0: it does so at times of its own.
 */
static GPtrArray *
make_conversations(guint n, guint caused_ms)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(11);
	WpPcapBuild *builds[2] = { wp_pcap_build_new(NULL), wp_pcap_build_new(NULL) };
	GPtrArray *files = g_ptr_array_new_with_free_func(remove_part);
	gint64 times[2] = { T0, T0 };
	WpBuildFlow flows[2];

	wp_build_flow_init(&flows[0], builds[0], "10.0.0.1:40000", "10.0.0.2:80");
	wp_build_flow_init(&flows[1], builds[1], "10.0.0.2:40000", "10.0.0.3:81");
	for (guint i = 0; i < 2; i++)
		wp_build_flow_open(&flows[i], T0);
	for (guint i = 0; i < n; i++) {
		times[0] += 10 * MS + (gint64)(-log(g_rand_double(random)) * 20e6);
		times[1] += 10 * MS + (gint64)(-log(g_rand_double(random)) * 20e6);
		gint64 asked = caused_ms ? times[0] + caused_ms * MS : times[1];
		for (guint k = 0; k < 2; k++) {
			gint64 now = k ? asked : times[0];
			g_autofree char *get =
				g_strdup_printf("GET /%u/%u HTTP/1.1\r\nHost: a\r\n\r\n", k, i);
			g_autofree char *reply = g_strdup_printf(
				"HTTP/1.1 200 OK\r\nDate: %u\r\nContent-Length: 0\r\n\r\n", k);
			wp_build_flow_send(&flows[k], WP_BUILD_CLIENT, now, get, -1);
			wp_build_flow_send(&flows[k], WP_BUILD_SERVER, now + (k ? 3 : 9) * MS,
					   reply, -1);
		}
	}
	for (guint i = 0; i < 2; i++) {
		g_ptr_array_add(files, write_part(i ? "back.pcap" : "front.pcap", builds[i]));
		wp_pcap_build_free(builds[i]);
	}
	return files;
}

/* Where nothing follows from anything, nothing is said of the clocks. */
START_TEST(no_cause)
{
	static const struct {
		guint n, caused_ms;
		guint n_segments;
	} cases[] = {
		{ 500, 0, 0 }, { 500, 2, 1 }, { 3000, 0, 0 }, { 3000, 2, 1 }, { 4, 2, 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		if (cases[i].n > (guint)wp_test_number(3000, 500))
			continue;
		g_autoptr(GPtrArray) files = make_conversations(cases[i].n, cases[i].caused_ms);
		const char *clocks[] = { "front", NULL };
		g_autoptr(WpTaps) taps = survey(files, clocks, 0, NULL);
		ck_assert_uint_eq(wp_taps_count(taps), 2);
		ck_assert_msg(wp_taps_clock(taps, 1)->n == cases[i].n_segments, "case %zu", i);
		ck_assert_msg(doubts_of(taps) == 1, "case %zu: %u", i, doubts_of(taps));
	}
}
END_TEST

/* --- which files are one tap --- */

START_TEST(groups)
{
	static const struct {
		struct {
			const char *name;
			guint from_ms;
		} files[4];
		const char *taps; /* of each file */
		const char *first;
	} cases[] = {
		{ { { "web.pcap0", 0 }, { "web.pcap1", 1000 }, { "db.pcap", 300 } }, "001", "web" },
		{ { { "a_1.pcap", 0 },
		    { "b_1.pcap", 10 },
		    { "a_2.pcap", 1000 },
		    { "b_2.pcap", 1010 } },
		  "0101",
		  "a_1" },
		{ { { "host1.pcap", 0 }, { "host2.pcap", 10 } }, "01", "host1" },
		{ { { "late.pcap", 10 }, { "early.pcap", 0 } }, "01", "late" },
		{ { { "monday.pcap", 0 }, { "tuesday.pcap", 1000 } }, "00", "monday" },
		{ { { "x.pcapng", 1000 }, { "x.cap", 0 } }, "00", "x" },
		/* The last packet of the one is later than the first of the next; then many are. */
		{ { { "web.pcap0", 0 }, { "web.pcap1", 498 } }, "00", "web" },
		{ { { "web.pcap0", 0 }, { "web.pcap1", 450 } }, "01", "web" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(remove_part);
		for (guint k = 0; k < 4 && cases[i].files[k].name; k++)
			g_ptr_array_add(files,
					make_part(cases[i].files[k].name, cases[i].files[k].from_ms,
						  50, "10.0.0.1:40000"));
		g_autoptr(WpTaps) taps = survey(files, NULL, 0, NULL);
		ck_assert_ptr_nonnull(taps);
		for (guint k = 0; k < files->len; k++)
			ck_assert_msg(wp_taps_of_input(taps, k) == (guint)(cases[i].taps[k] - '0'),
				      "case %zu, file %u", i, k);
		ck_assert_str_eq(wp_taps_name(taps, 0), cases[i].first);
	}
}
END_TEST

/* --- clocks that are given --- */

START_TEST(given_clocks)
{
	static const struct {
		const char *clock;
		gint64 offset_ns; /* of tap b; 1 = an error */
	} cases[] = {
		{ "b=-12.5ms", -12500000 },
		{ "b=0.25,40", 250000000 },
		{ "b=3us,-40.5", 3000 },
		{ "b=7ns", 7 },
		{ "a", 0 },
		{ "b", 0 },
		{ "c", 1 },
		{ "b=", 1 },
		{ "b=x", 1 },
		{ "b=1ms,", 1 },
		{ "b=1ms,2x", 1 },
		{ "b=1e30", 1 },
		{ "b=nan", 1 },
		{ "b=1ms,1e9", 1 },
		{ "", 1 },
	};
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(remove_part);
	g_ptr_array_add(files, make_part("a.pcap", 0, 50, "10.0.0.1:40000"));
	g_ptr_array_add(files, make_part("b.pcap", 0, 50, "10.0.0.1:40000"));
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		const char *clocks[] = { cases[i].clock, NULL };
		g_autoptr(WpTaps) taps = survey(files, clocks, 0, &error);
		ck_assert_msg(!taps == (cases[i].offset_ns == 1), "%s", cases[i].clock);
		if (!taps) {
			ck_assert(
				g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION));
			continue;
		}
		const WpClock *clock = wp_taps_clock(taps, 1);
		gint64 offset_ns = clock->n ? clock->segments[0].offset_ns : 0;
		ck_assert_msg(ABS(offset_ns - cases[i].offset_ns) < 3, "%s: %g", cases[i].clock,
			      (double)offset_ns);
	}
}
END_TEST

/* --- time that not all taps cover --- */

/* One of two taps starts late, or stops: the rest of the time is left out, and nothing false is seen. */
START_TEST(coverage)
{
	static const struct {
		double from, to;
		guint min_taps;
		double first, last; /* of the calls, as parts of the whole */
	} cases[] = {
		{ 0, 0.5, 0, 0.127, 0.5 },   { 0.4, 1, 0, 0.4, 0.834 }, { 0.2, 0.7, 0, 0.2, 0.7 },
		{ 0, 0.5, 1, 0.127, 0.834 }, { 0, 0.5, 2, 0.127, 0.5 },
	};
	g_autofree char *path = input_path();
	g_autoptr(WpTrace) one = read_file(path);
	double start = seconds_of(one, "first-packet");
	double length = seconds_of(one, "last-packet") - start;
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		Row row = { 2, { { 0, 0, 0, 0, 0 }, { 30, 50, 0, 0, 0 } }, 0 };
		row.hosts[1].from = cases[i].from;
		row.hosts[1].to = cases[i].to;
		GPtrArray *files = split_row(&row, path);
		g_autoptr(WpTaps) taps = survey(files, NULL, cases[i].min_taps, NULL);
		g_autoptr(WpTrace) trace = read_files(files, taps);
		const WpRecord *records = wp_trace_records(trace);
		gsize n_records = wp_trace_n_records(trace);
		ck_assert_uint_gt(n_records, 0);
		double first = ((double)records[0].begin_ns / 1e9 - start) / length;
		double last = ((double)records[n_records - 1].begin_ns / 1e9 - start) / length;
		ck_assert_msg(ABS(first - cases[i].first) < 0.03 &&
				      ABS(last - cases[i].last) < 0.03,
			      "case %zu: %g to %g", i, first, last);
		ck_assert_int_eq(counted(trace, WP_COUNT_PACKETS_UNCOVERED) > 0,
				 cases[i].min_taps != 1);
		ck_assert_uint_eq(counted(trace, WP_COUNT_GAPS), 0);
		wp_split_free(files);
	}
}
END_TEST

/* Each file is a conversation of its own, or the same as another; all its calls are there, once. */
START_TEST(nothing_left_out)
{
	static const struct {
		struct {
			const char *name, *client;
			guint from_ms, n;
		} files[3];
		guint n_taps, n_calls;
	} cases[] = {
		{ { { "a.pcap0", "10.0.0.1:40000", 0, 50 },
		    { "a.pcap1", "10.0.0.1:40001", 498, 50 } },
		  1,
		  100 },
		{ { { "a.pcap", "10.0.0.1:40000", 0, 50 },
		    { "copy.pcap", "10.0.0.1:40000", 0, 50 } },
		  2,
		  50 },
		{ { { "eth0.pcap", "10.0.0.1:40000", 0, 50 },
		    { "lo.pcap", "127.0.0.1:40000", 300, 70 } },
		  2,
		  120 },
		{ { { "a.pcap", "10.0.0.1:40000", 0, 50 },
		    { "b.pcap", "10.0.0.1:40001", 10, 50 },
		    { "quiet.pcap", NULL, 0, 0 } },
		  3,
		  100 },
		{ { { "quiet.pcap", NULL, 0, 0 }, { "still.pcap", NULL, 0, 0 } }, 1, 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(remove_part);
		for (guint k = 0; k < 3 && cases[i].files[k].name; k++)
			g_ptr_array_add(files,
					make_part(cases[i].files[k].name, cases[i].files[k].from_ms,
						  cases[i].files[k].n, cases[i].files[k].client));
		g_autoptr(WpTaps) taps = survey(files, NULL, 0, NULL);
		ck_assert_ptr_nonnull(taps);
		ck_assert_msg(wp_taps_count(taps) == cases[i].n_taps, "case %zu: %u taps", i,
			      wp_taps_count(taps));
		g_autoptr(WpTrace) trace = read_files(files, taps);
		ck_assert_msg(wp_trace_n_records(trace) == 2 * cases[i].n_calls,
			      "case %zu: %zu records", i, wp_trace_n_records(trace));
		ck_assert_uint_eq(counted(trace, WP_COUNT_PACKETS_UNCOVERED), 0);
	}
}
END_TEST

/* --- NAT --- */

/* One conversation as seen before and behind a router that gives both ends other addresses. */
START_TEST(nat)
{
	static const struct {
		const char *client, *server;
	} sides[] = { { "10.0.0.1:40000", "10.0.0.100:80" },
		      { "10.9.0.100:777", "10.9.0.2:8080" } };
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(remove_part);
	for (guint i = 0; i < 2; i++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
		WpBuildFlow flow;
		/* The server's clock is 20 ms fast, and each way takes 1 ms. */
		gint64 there = i ? 21 * MS : 0, back = i ? 19 * MS : 0;
		wp_build_flow_init(&flow, build, sides[i].client, sides[i].server);
		wp_build_flow_open(&flow, T0 + there);
		for (guint k = 0; k < 50; k++) {
			gint64 now = T0 + (k + 1) * 100 * MS;
			g_autofree char *get =
				g_strdup_printf("GET /%u HTTP/1.1\r\nHost: a\r\n\r\n", k);
			wp_build_flow_send(&flow, WP_BUILD_CLIENT, now + there, get, -1);
			wp_build_flow_send(&flow, WP_BUILD_SERVER, now + 30 * MS + back,
					   "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", -1);
		}
		g_ptr_array_add(files, write_part(i ? "server.pcap" : "client.pcap", build));
	}
	const char *clocks[] = { "client", NULL };
	g_autoptr(WpTaps) taps = survey(files, clocks, 0, NULL);
	g_autoptr(WpTrace) trace = read_files(files, taps);
	ck_assert_uint_eq(wp_taps_count(taps), 2);
	ck_assert_uint_eq(wp_trace_n_records(trace), 100);
	for (gsize i = 0; i < 100; i++) {
		const WpRecord *record = &wp_trace_records(trace)[i];
		char src[WP_ENDPOINT_TEXT_MAX], dst[WP_ENDPOINT_TEXT_MAX];
		gboolean is_call = record->kind == WP_KIND_CALL;
		wp_endpoint_text(is_call ? &record->src : &record->dst, src, sizeof src);
		wp_endpoint_text(is_call ? &record->dst : &record->src, dst, sizeof dst);
		ck_assert_str_eq(src, sides[0].client);
		ck_assert_str_eq(dst, sides[1].server);
		ck_assert(record->marks & WP_MARK_BOTH_ENDS);
		ck_assert_int_lt(ABS(record->begin_way_ns - MS), 100000);
	}
}
END_TEST

WP_SUITE("taps", same_calls, real_taps, groups, given_clocks, coverage, nothing_left_out, nat,
	 clocks_by_cause, no_cause)
