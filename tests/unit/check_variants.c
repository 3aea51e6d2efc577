/*
 * The same traffic under other headers, in other files, doubled, cut and in disorder: the records must be the
 * same, or fewer, never others. The variants are the rows of tests/support/vary.c; here are the captures that
 * they are made of, real ones and ones of rows.
 */
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "capture/trace.h"
#include "tests/support/pcap-build.h"
#include "tests/support/suite.h"
#include "tests/support/vary.h"

#define MS           G_GINT64_CONSTANT(1000000)
#define MAX_VARIANTS 256

/* Of a capture in traces/protocols; most have fewer. */
#define PROTOCOL_PACKETS 300

#define T0 G_GINT64_CONSTANT(1700000000123456789)

/* --- captures --- */

/* (transfer full) The first packets of a capture under traces/. */
static GPtrArray *
read_trace(const char *name, guint max)
{
	const char *top = g_getenv("TOP_SRCDIR");
	g_autofree char *path = g_build_filename(top ? top : ".", "traces", name, NULL);
	return wp_vary_read(path, max);
}

/* HTTP, FastCGI, PostgreSQL, Redis, memcached of one shop, on connections that were open before. */
static GPtrArray *
make_shop(void)
{
	return read_trace("shop/input.pcap.gz", 700);
}

/* HTTP/2: many calls at a time in few connections. */
static GPtrArray *
make_grpc(void)
{
	return read_trace("grpc/input.pcap.gz", 500);
}

static GPtrArray *
packets_of(const WpPcapBuild *build)
{
	g_autotemp *path = wp_pcap_build_file(build, ".pcap");
	return wp_vary_read(path, G_MAXUINT);
}

/* Long messages both ways, and requests that do not wait for the reply to the one before. */
static GPtrArray *
make_http(void)
{
	g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
	g_autofree char *body = g_strnfill(9000, 'x');
	for (guint c = 0; c < 3; c++) {
		g_autofree char *client = g_strdup_printf("10.0.0.%u:%u", 10 + c, 40000 + c);
		gint64 now = T0 + c * 7 * MS;
		WpBuildFlow flow;
		wp_build_flow_init(&flow, build, client, "10.0.0.2:80");
		wp_build_flow_open(&flow, now);
		for (guint i = 0; i < 4; i++) {
			g_autofree char *put =
				g_strdup_printf("PUT /file/%u HTTP/1.1\r\nHost: "
						"a\r\nContent-Length: %u\r\n\r\n%.*s",
						i, 2000 * i, (int)(2000 * i), body);
			g_autofree char *reply =
				g_strdup_printf("HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n%.*s",
						2500 * i, (int)(2500 * i), body);
			now += 30 * MS;
			wp_build_flow_send(&flow, WP_BUILD_CLIENT, now, put, -1);
			wp_build_flow_send(&flow, WP_BUILD_SERVER, now + 10 * MS, reply, -1);
		}
		wp_build_flow_send(&flow, WP_BUILD_CLIENT, now + 20 * MS,
				   "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n", -1);
		wp_build_flow_send(&flow, WP_BUILD_SERVER, now + 25 * MS,
				   "HTTP/1.1 204 No Content\r\n\r\n", -1);
		wp_build_flow_send(&flow, WP_BUILD_SERVER, now + 28 * MS,
				   "HTTP/1.1 304 Not Modified\r\n\r\n", -1);
		wp_build_flow_close(&flow, now + 40 * MS);
	}
	return packets_of(build);
}

static void
put_datagram(WpPcapBuild *build, gint64 time_ns, const char *src, const char *dst, guint16 ip_id,
	     const guint8 *payload, gsize length)
{
	const WpBuildPacket packet = { .time_ns = time_ns,
				       .src = src,
				       .dst = dst,
				       .udp = TRUE,
				       .ip_id = ip_id,
				       .payload = payload,
				       .length = (gssize)length };
	wp_pcap_build_packet(build, &packet);
}

/* Names asked for and answered, by a resolver that asks some of them twice, as resolvers do. */
static GPtrArray *
make_dns(void)
{
	g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
	for (guint i = 0; i < 60; i++) {
		guint8 message[] = "\0\0\1\0\0\1\0\0\0\0\0\0\4host\3lan\0\0\1\0\1"
				   "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x0a\0\0\7";
		gsize query = 12 + 10 + 4, reply = sizeof message - 1;
		g_autofree char *client = g_strdup_printf("10.0.0.1:%u", 50000 + i);
		gint64 now = T0 + i * 3 * MS;
		message[1] = (guint8)i;
		message[0] = 0x77;
		put_datagram(build, now, client, "10.0.0.53:53", (guint16)(2 * i + 1), message,
			     query);
		if (i % 9 == 0)
			put_datagram(build, now + 80 * MS, client, "10.0.0.53:53",
				     (guint16)(5000 + i), message, query);
		message[2] = 0x81;
		message[3] = 0x80;
		message[7] = 1;
		put_datagram(build, now + (i % 9 ? 1 : 81) * MS, "10.0.0.53:53", client,
			     (guint16)(i + 900), message, reply);
	}
	return packets_of(build);
}

/* Questions and answers of no known protocol, and lines that nobody answers, some of them twice. */
static GPtrArray *
make_udp(void)
{
	g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
	for (guint i = 0; i < 60; i++) {
		g_autofree char *question = g_strdup_printf("?%u %u", i, i * 7919);
		g_autofree char *answer = g_strdup_printf("!%u %u", i, i * 104729);
		g_autofree char *line = g_strdup_printf("<13>host app[%u]: done", i / 20);
		gint64 now = T0 + i * 5 * MS;
		put_datagram(build, now, "10.0.0.1:50000", "10.0.0.7:7777", (guint16)(i + 1),
			     (const guint8 *)question, strlen(question));
		put_datagram(build, now + MS, "10.0.0.7:7777", "10.0.0.1:50000", (guint16)(i + 900),
			     (const guint8 *)answer, strlen(answer));
		put_datagram(build, now + 3 * MS, "10.0.0.7:40000", "10.0.0.9:9999",
			     (guint16)(i + 1900), (const guint8 *)line, strlen(line));
	}
	return packets_of(build);
}

static const struct {
	const char *name;
	GPtrArray *(*make)(void);
	guint n_records;        /* at least */
	gboolean misses_no_one; /* by turns, without numbers: what is lost leaves no trace */
} captures[] = {
	{ "shop", make_shop, 150, FALSE }, { "grpc", make_grpc, 50, FALSE },
	{ "http", make_http, 30, FALSE },  { "dns", make_dns, 120, FALSE },
	{ "udp", make_udp, 180, TRUE },
};

/* --- records as text --- */

/* What wp_vary_ipv6() and wp_vary_odd_ports() made of an end, undone. */
static void
put_end(GString *text, const WpEndpoint *end)
{
	WpEndpoint plain = *end;
	char buffer[WP_ENDPOINT_TEXT_MAX];

	if (plain.address[0] == 0xfd) {
		plain.address[0] = 0;
		memset(plain.address + 10, 0xff, 2);
	}
	if (plain.port >= WP_VARY_PORTS_SHIFT &&
	    plain.port < WP_VARY_PORTS_SHIFT + WP_VARY_PORTS_BELOW)
		plain.port -= WP_VARY_PORTS_SHIFT;
	g_string_append_printf(text, " %s", wp_endpoint_text(&plain, buffer, sizeof buffer));
}

/* Flows are numbered as their first packets come; here, as their first records do. */
static guint
number_of(GHashTable *numbers, guint32 flow)
{
	gpointer key = GUINT_TO_POINTER(flow);
	if (!g_hash_table_contains(numbers, key))
		g_hash_table_insert(numbers, key, GUINT_TO_POINTER(g_hash_table_size(numbers) + 1));
	return GPOINTER_TO_UINT(g_hash_table_lookup(numbers, key));
}

/* Everything of a record that does not count packets or inputs. */
static void
put_record(GString *text, const WpTrace *trace, const WpRecord *record, GHashTable *flows)
{
	const WpNodes *nodes = wp_trace_nodes(trace);
	const guint32 *tokens = wp_trace_tokens(trace, record);

	g_string_append_printf(text, "%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
			       wp_kind_name(record->kind), record->begin_ns, record->end_ns);
	put_end(text, &record->src);
	put_end(text, &record->dst);
	g_string_append_printf(
		text, " %" G_GUINT64_FORMAT " flow %u %s \"%s\" %" G_GUINT64_FORMAT " %s %u",
		record->id, number_of(flows, record->flow), wp_nodes_text(nodes, record->protocol),
		wp_nodes_text(nodes, record->label), record->bytes, wp_status_name(record->status),
		record->marks);
	for (guint i = 0; i < record->n_tokens; i++)
		g_string_append_printf(text, " %x", tokens[i]);
	g_string_append_c(text, '\n');
}

/* (transfer full) A record a line. */
static char *
text_of(const WpTrace *trace)
{
	GString *text = g_string_new(NULL);
	g_autoptr(GHashTable) flows = g_hash_table_new(NULL, NULL);
	for (gsize i = 0; i < wp_trace_n_records(trace); i++)
		put_record(text, trace, &wp_trace_records(trace)[i], flows);
	return g_string_free(text, FALSE);
}

/* (transfer full) The records of the files at PATHS, read by N_THREADS. */
static WpTrace *
read_files(WpTempFile *const *paths, guint n_threads)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(GError) error = NULL;
	WpTrace *trace = wp_trace_new(nodes);
	WpCaptureOptions options;
	gsize n = 0;

	wp_capture_options_init(&options);
	options.token_key = "key";
	options.n_threads = n_threads;
	while (paths[n])
		n++;
	if (!wp_capture_run((const char *const *)paths, n, &options, nodes, wp_trace_sink(trace),
			    NULL, &error))
		ck_assert_ptr_nonnull(error);
	wp_trace_freeze(trace);
	return trace;
}

/* One thread reads captures as they are, and several what is compared with them. */
static WpTrace *
run_variant(const WpVariant *variant, const GPtrArray *packets)
{
	WpTempFile *paths[WP_VARY_MAX_FILES + 1];
	wp_vary_write(variant, packets, paths);
	WpTrace *trace = read_files(paths, strcmp(variant->name, "plain") == 0 ? 1 : 2);
	for (gsize i = 0; paths[i]; i++)
		wp_temp_file_remove(paths[i]);
	return trace;
}

/* A capture, and the records of it as it is. */
typedef struct {
	char *name;
	GPtrArray *packets;
	WpTrace *trace;
} Base;

static void
base_init(Base *base, const char *name, GPtrArray *packets)
{
	const WpVariant plain = { .name = "plain" };
	*base = (Base){ g_strdup(name), packets, run_variant(&plain, packets) };
}

static void
base_clear(Base *base)
{
	g_free(base->name);
	g_ptr_array_unref(base->packets);
	wp_trace_free(base->trace);
}

/* (transfer full) BASE with the times that the files of VARIANT can hold. */
static Base
round_base(const Base *base, const WpVariant *variant)
{
	Base rounded;
	base_init(&rounded, base->name, wp_vary_round(variant, base->packets));
	return rounded;
}

/* --- same --- */

/* Notes the first line in which two texts differ. */
static void
note_difference(GString *failures, const char *what, const char *expected, const char *got)
{
	g_auto(GStrv) a = g_strsplit(expected, "\n", -1);
	g_auto(GStrv) b = g_strsplit(got, "\n", -1);
	guint i = 0;

	while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
		i++;
	g_string_append_printf(failures, "\n%s: record %u of %u, %u:\n  %s\nand not\n  %s", what,
			       i + 1, g_strv_length(a) - 1, g_strv_length(b) - 1,
			       b[i] ? b[i] : "none", a[i] ? a[i] : "none");
}

static void
check_same(GString *failures, const char *what, const WpTrace *base, const WpTrace *trace)
{
	g_autofree char *expected = text_of(base);
	g_autofree char *got = text_of(trace);

	if (strcmp(expected, got) != 0)
		note_difference(failures, what, expected, got);
}

/* --- fewer --- */

/* What was taken by turns, as its protocol could not be told, is no more than a guess, and says so. */
static gboolean
is_guess(const WpTrace *trace, const WpRecord *record)
{
	return strcmp(wp_nodes_text(wp_trace_nodes(trace), record->protocol), "unknown") == 0;
}

/* The pairs of TRACE: ends, begin of the call, end of the return. */
static GHashTable *
pairs_of(const WpTrace *trace)
{
	GHashTable *pairs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) calls = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (gsize i = 0; i < wp_trace_n_records(trace); i++) {
		const WpRecord *record = &wp_trace_records(trace)[i];
		if (record->kind == WP_KIND_CALL)
			g_hash_table_insert(calls, (gpointer)&record->id, (gpointer)record);
		const WpRecord *call = g_hash_table_lookup(calls, &record->id);
		if (record->kind != WP_KIND_RETURN || !call || (record->marks & WP_MARK_CUT) ||
		    is_guess(trace, record))
			continue;
		GString *text = g_string_new(NULL);
		g_string_append_printf(text, "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
				       call->begin_ns, record->end_ns);
		put_end(text, &call->src);
		put_end(text, &call->dst);
		g_hash_table_add(pairs, g_string_free(text, FALSE));
	}
	return pairs;
}

/*
 * The begins of the calls of TRACE, with who sent what to whom. (That of a return is later where its first
 * packet is lost. What is seen of one side only are messages.)
 */
static GHashTable *
calls_of(const WpTrace *trace)
{
	GHashTable *begins = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (gsize i = 0; i < wp_trace_n_records(trace); i++) {
		const WpRecord *record = &wp_trace_records(trace)[i];
		if (record->kind != WP_KIND_CALL || is_guess(trace, record))
			continue;
		GString *text = g_string_new(NULL);
		g_string_append_printf(text, "call %" G_GINT64_FORMAT, record->begin_ns);
		put_end(text, &record->src);
		put_end(text, &record->dst);
		g_hash_table_add(begins, g_string_free(text, FALSE));
	}
	return begins;
}

/* All of PART is in WHOLE. */
static void
check_subset(GString *failures, const char *what, GHashTable *whole, GHashTable *part)
{
	GHashTableIter iter;
	gpointer key;
	g_hash_table_iter_init(&iter, part);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (!g_hash_table_contains(whole, key))
			g_string_append_printf(failures, "\n%s: false: %s", what, (char *)key);
}

/* Adds to N_ALL the pairs that there are, to N_LEFT those that VARIANT still shows. */
static void
check_fewer(GString *failures, const char *what, const WpTrace *base, const WpTrace *trace,
	    guint *n_all, guint *n_left)
{
	g_autoptr(GHashTable) pairs = pairs_of(base);
	g_autoptr(GHashTable) some_pairs = pairs_of(trace);
	g_autoptr(GHashTable) calls = calls_of(base);
	g_autoptr(GHashTable) some_calls = calls_of(trace);
	check_subset(failures, what, pairs, some_pairs);
	check_subset(failures, what, calls, some_calls);
	*n_all += g_hash_table_size(pairs);
	*n_left += g_hash_table_size(some_pairs);
}

/* --- */

/*
 * Where what was cut off or lost is what tells how to read the rest, the rest is read otherwise. No row is to
 * be added but with a reason why nobody could do better, or not without more than it is worth.
 */
static const struct {
	const char *capture, *variants, *why;
} allowed[] = {
	{ "mysql", "snap-96", "the login is cut that says that what follows is compressed" },
	{ "mysql", "loss", "the same, lost" },
	{ "mysql", "one-way", "the same, not captured" },
	{ "pgsql", "mid-stream", "begins between two packets of one call" },
	{ "redis", "snap-96", "the count of confirmed subscriptions is cut off" },
	{ "mongodb", "snap-96", "that a compressed call has no answer is cut off" },
	{ "rmi", "damaged-header", "replies have no length: what is missing shows late" },
	{ "websocket", "snap", "that a reply is a stream of events is cut off" },
};

static gboolean
is_allowed(const char *capture, const char *variant)
{
	for (gsize i = 0; i < G_N_ELEMENTS(allowed); i++)
		if (strcmp(capture, allowed[i].capture) == 0 &&
		    g_str_has_prefix(variant, allowed[i].variants))
			return TRUE;
	return FALSE;
}

/* Pairs in all, and how many of them a variant still shows. */
typedef struct {
	guint n_all, n_left;
} Share;

static void
check_variant(GString *failures, const WpVariant *variant, const Base *base, Share *share)
{
	g_autofree char *what = g_strdup_printf("%s, %s", base->name, variant->name);
	g_autoptr(WpTrace) trace = run_variant(variant, base->packets);

	if (variant->kind == WP_VARY_FEWER) {
		check_fewer(failures, what, base->trace, trace, &share->n_all, &share->n_left);
	} else if (variant->round) {
		Base rounded = round_base(base, variant);
		check_same(failures, what, rounded.trace, trace);
		base_clear(&rounded);
	} else {
		check_same(failures, what, base->trace, trace);
	}
}

/* All variants of KIND; where few are asked for, one of so many. */
static void
check_variants(GString *failures, WpVaryKind kind, const Base *base, Share *shares)
{
	int step = wp_test_number(1, 12);
	for (int i = 0; wp_variants[i].name; i++)
		if (i % step == 0 && wp_variants[i].kind == kind &&
		    !is_allowed(base->name, wp_variants[i].name))
			check_variant(failures, &wp_variants[i], base, &shares[i]);
}

static void
check_shares(GString *failures, const Share *shares)
{
	for (int i = 0; wp_variants[i].name; i++)
		if (shares[i].n_left * 100 < shares[i].n_all * wp_variants[i].keeps)
			g_string_append_printf(failures, "\n%s: only %u pairs of %u",
					       wp_variants[i].name, shares[i].n_left,
					       shares[i].n_all);
}

/* Check takes no long messages. */
static void
report(const GString *failures)
{
	printf("%s\n", failures->str);
	fflush(stdout);
	ck_assert_uint_eq(failures->len, 0);
}

static void
check_kind(WpVaryKind kind)
{
	g_autoptr(GString) failures = g_string_new(NULL);
	Share shares[MAX_VARIANTS] = { 0 };

	for (gsize c = 0; c < G_N_ELEMENTS(captures); c++) {
		Base base;
		base_init(&base, captures[c].name, captures[c].make());
		ck_assert_uint_ge(wp_trace_n_records(base.trace), captures[c].n_records);
		if (kind == WP_VARY_SAME || !captures[c].misses_no_one)
			check_variants(failures, kind, &base, shares);
		base_clear(&base);
	}
	check_shares(failures, shares);
	report(failures);
}

/* Captures in traces/protocols, each of one exchange; a new one needs a row here. */
static const char *const protocols[] = {
	"amqp",    "cql",  "dns",   "fastcgi", "kafka", "ldap",   "memcached",
	"mongodb", "mqtt", "mysql", "nats",    "pgsql", "proxy",  "redis",
	"rmi",     "rpc",  "sip",   "smtp",    "tds",   "thrift", "websocket",
};

static void
check_protocols(WpVaryKind kind)
{
	g_autoptr(GString) failures = g_string_new(NULL);
	int n = wp_test_number(G_N_ELEMENTS(protocols), 1);
	Share shares[MAX_VARIANTS] = { 0 };

	for (int i = 0; i < n; i++) {
		Base base;
		g_autofree char *name = g_strdup_printf("protocols/%s.pcap.gz", protocols[i]);
		base_init(&base, protocols[i], read_trace(name, PROTOCOL_PACKETS));
		check_variants(failures, kind, &base, shares);
		base_clear(&base);
	}
	report(failures);
}

START_TEST(same)
{
	check_kind(WP_VARY_SAME);
}
END_TEST

START_TEST(fewer)
{
	check_kind(WP_VARY_FEWER);
}
END_TEST

START_TEST(protocols_same)
{
	check_protocols(WP_VARY_SAME);
}
END_TEST

START_TEST(protocols_fewer)
{
	check_protocols(WP_VARY_FEWER);
}
END_TEST

WP_SUITE("variants", same, fewer, protocols_same, protocols_fewer)
