/* Trace files: text -> records -> text and records -> text -> records change nothing. */
#include "capture/trace-io.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/support/suite.h"
#include "tests/support/trace-file.h"

static WpTrace *
read_text(const char *text, GError **error)
{
	return wp_trace_in(text, strlen(text), error);
}

/* Text -> records -> text is the same text, compressed on the way or not. */
START_TEST(text_stays)
{
	static const char *const suffixes[] = { "", ".gz", ".zst", ".lz4", ".trace" };
	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		g_autotemp *first = wp_temp_file_new("", wp_trace_full, strlen(wp_trace_full));
		g_autotemp *second = wp_trace_rewrite(first, suffixes[i]);
		g_autotemp *third = wp_trace_rewrite(second, "");
		g_autofree char *text = wp_temp_file_read(third, NULL);
		ck_assert_str_eq(text, wp_trace_full);
	}
}
END_TEST

/* Every field arrives where it belongs. */
START_TEST(fields)
{
	g_autoptr(WpTrace) trace = read_text(wp_trace_full, NULL);
	ck_assert_uint_eq(wp_trace_n_records(trace), 6);
	const WpRecord *records = wp_trace_records(trace);
	const WpNodes *nodes = wp_trace_nodes(trace);
	char text[WP_ENDPOINT_TEXT_MAX];

	const WpRecord *r = &records[1];
	ck_assert_int_eq(r->begin_ns, G_GINT64_CONSTANT(1700000000000000001));
	ck_assert_int_eq(r->end_ns, G_GINT64_CONSTANT(1700000000000000002));
	ck_assert_int_eq(r->kind, WP_KIND_CALL);
	ck_assert_str_eq(wp_nodes_key(nodes, r->sender), "10.0.0.9");
	ck_assert_str_eq(wp_nodes_key(nodes, r->receiver), "10.0.0.1");
	ck_assert_uint_eq(r->id, 1);
	ck_assert_str_eq(wp_endpoint_text(&r->src, text, sizeof text), "10.0.0.9:40000");
	ck_assert_uint_eq(r->flow, 1);
	ck_assert_str_eq(wp_nodes_text(nodes, r->protocol), "http");
	ck_assert_str_eq(wp_nodes_text(nodes, r->label), "GET /x/{}");
	ck_assert_uint_eq(r->bytes, 214);
	ck_assert_int_eq(r->status, WP_STATUS_UNKNOWN);
	ck_assert_uint_eq(r->packet, 1);
	ck_assert_uint_eq(r->n_tokens, 2);
	ck_assert_uint_eq(wp_trace_tokens(trace, r)[0], 0x0a1b2c3d);
	ck_assert_uint_eq(wp_trace_tokens(trace, r)[1], 0x00ff00ff);
	WpTransport transport;
	ck_assert_uint_eq(r->n_transports, 2);
	ck_assert(wp_trace_transport(trace, r, 1, &transport));
	ck_assert_int_eq(transport.kind, WP_TRANSPORT_SERVER_RTT);
	ck_assert_int_eq(transport.begin_ns, -1000000000);
	ck_assert_int_eq(transport.end_ns, -1);
	ck_assert_uint_eq(transport.last, G_MAXUINT64 - 1);
	ck_assert(!wp_trace_transport(trace, r, 2, &transport));

	r = &records[2];
	ck_assert_int_eq(r->end_ns, r->begin_ns);
	ck_assert_str_eq(wp_endpoint_text(&r->src, text, sizeof text), "[fe80::2]:1");
	ck_assert_str_eq(wp_nodes_text(nodes, r->label), "a\tb\nc\\d\001\177e\xc3\xa9");
	ck_assert_uint_eq(r->bytes, 0);
	ck_assert_int_eq(r->marks, WP_MARK_SETUP | WP_MARK_WAIT);
	ck_assert_uint_eq(r->tap, 3);

	r = &records[0];
	ck_assert_int_eq(r->begin_ns, -1500000000);
	ck_assert_str_eq(wp_nodes_key(nodes, r->receiver), "x\ty");
	ck_assert(!wp_endpoint_is_known(&r->src));
	ck_assert_uint_eq(r->bytes, WP_NO_SIZE);
	ck_assert_int_eq(r->status, WP_STATUS_OK);
	ck_assert_int_eq(records[3].status, WP_STATUS_TIMEOUT);
	ck_assert_int_eq(records[3].marks, 0);
	ck_assert_int_eq(records[4].marks, WP_MARK_CUT);
	ck_assert_int_eq(records[4].end_ns, records[4].begin_ns);
}
END_TEST

START_TEST(header_facts)
{
	g_autoptr(WpTrace) trace = read_text(wp_trace_full, NULL);
	const WpCounters *counters = wp_trace_counters(trace);
	guint64 count;

	ck_assert_uint_eq(wp_counters_get(counters, WP_COUNT_PACKETS), 12);
	ck_assert_uint_eq(wp_counters_get(counters, WP_COUNT_GAPS), 7);
	ck_assert_uint_eq(wp_trace_n_settings(trace), 3);
	ck_assert_str_eq(wp_trace_setting_key(trace, 1), "key\\");
	ck_assert_str_eq(wp_trace_setting_value(trace, 1), "va\tlue");
	ck_assert_uint_eq(wp_nodes_count(wp_trace_nodes(trace)), 6);
	ck_assert_str_eq(wp_nodes_hint(wp_trace_nodes(trace), 1, WP_NAME_DNS, &count), "web");
	ck_assert_uint_eq(count, 9);
}
END_TEST

/* The paper's example (section 6.5), with and without its heading, any white space between. */
START_TEST(paper_layout)
{
	static const char *const texts[] = {
		"1047680084.482205 CALL_SENT nodeA nodeB id37\n"
		"1047680084.483575 RET_SENT nodeB nodeA id37\n",
		"timestamp operation sender rcvr ID\n"
		"1047680084.482205\tCALL_SENT  nodeA \t nodeB id37\r\n"
		"\r\n"
		"1047680084.483575\tRET_SENT  nodeB \t nodeA id37",
		"# made by hand\n"
		"1047680084.483575 RET_SENT nodeB nodeA id37\n"
		"  1047680084.482205 CALL_SENT nodeA nodeB id37  \n",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(WpTrace) trace = read_text(texts[i], NULL);
		ck_assert_uint_eq(wp_trace_n_records(trace), 2);
		const WpRecord *r = wp_trace_records(trace);
		char id[WP_ID_TEXT_MAX];
		ck_assert_int_eq(r[0].begin_ns, G_GINT64_CONSTANT(1047680084482205000));
		ck_assert_int_eq(r[1].begin_ns, G_GINT64_CONSTANT(1047680084483575000));
		ck_assert_int_eq(r[0].kind, WP_KIND_CALL);
		ck_assert_int_eq(r[1].kind, WP_KIND_RETURN);
		ck_assert_uint_eq(r[0].sender, r[1].receiver);
		ck_assert_uint_eq(r[0].id, r[1].id);
		ck_assert_str_eq(wp_record_id_text(wp_trace_nodes(trace), r[0].id, id), "id37");
		ck_assert(wp_trace_is_trace((const guint8 *)texts[i], strlen(texts[i])));
	}
}
END_TEST

/* Columns may stand in any order, be unknown, be missing at the end. */
START_TEST(other_columns)
{
	g_autoptr(WpTrace) trace =
		read_text("#wirepath-trace 1\n"
			  "#columns\tid\tcolour\treceiver\tsender\tkind\ttime\tlabel\n"
			  "7\tred\tb\ta\tCALL\t1\tL\n"
			  "8\t\tb\ta\tCALL\t2.5\n",
			  NULL);
	ck_assert_uint_eq(wp_trace_n_records(trace), 2);
	const WpRecord *r = wp_trace_records(trace);
	ck_assert_int_eq(r[0].begin_ns, 1000000000);
	ck_assert_uint_eq(r[0].id, 7);
	ck_assert_str_eq(wp_nodes_key(wp_trace_nodes(trace), r[0].sender), "a");
	ck_assert_str_eq(wp_nodes_text(wp_trace_nodes(trace), r[0].label), "L");
	ck_assert_int_eq(r[1].begin_ns, 2500000000);
	ck_assert_uint_eq(r[1].label, 0);
}
END_TEST

/* A line that makes no sense is counted, and the reason of the first is kept. */
START_TEST(bad_lines)
{
	static const struct {
		const char *line;
		const char *reason;
	} rows[] = {
		{ "x\tCALL\ta\tb\t1", "the time is no number of seconds" },
		{ "1.2.3\tCALL\ta\tb\t1", "the time is no number of seconds" },
		{ "\tCALL\ta\tb\t1", "the time is no number of seconds" },
		{ "99999999999\tCALL\ta\tb\t1", "the time is no number of seconds" },
		{ "-4611686018\tCALL\ta\tb\t1", "the time is no number of seconds" },
		{ "1\tCALLED\ta\tb\t1", "the kind is not CALL, RETURN or MESSAGE" },
		{ "1\tCALL\t\tb\t1", "a node has no name" },
		{ "1\tCALL\ta", "time, kind, sender or receiver is missing" },
		{ "2\tCALL\ta\tb\t1\t1", "time_end is before time" },
		{ "1\tCALL\ta\tb\t1\t1\tnowhere", "src or dst is no address" },
		{ "1\tCALL\ta\tb\t1\t1\t1.2.3.4:99999", "src or dst is no address" },
		{ "1\tCALL\ta\tb\t1\t1\t\t\tx", "the flow is no number" },
		{ "1\tCALL\ta\tb\t1\t1\t\t\t4294967296", "the flow is no number" },
		{ "1\tCALL\ta\tb\t1\t\t\t\t\t\t\\q", "an escape is none of \\t \\n \\\\ \\xNN" },
		{ "1\tCALL\ta\tb\t1\t\t\t\t\t\t\\x0", "an escape is none of \\t \\n \\\\ \\xNN" },
		{ "1\tCALL\ta\tb\t1\t\t\t\t\t\t\\x00", "a text holds a NUL byte" },
		{ "1\tCALL\ta\tb\t1\t\t\t\t\t\t\t-1", "bytes is no number" },
		{ "1\tCALL\ta\tb\t1\t\t\t\t\t\t\t\tfine",
		  "the status is none of unknown, ok, error, reset, timeout" },
		{ "1\tCALL\ta\tb\t1\t\t\t\t\t\t\t\t\t2", "a mark is neither 0 nor 1" },
		{ "1\tCALL\ta\tb\t1\t\t\t\t\t\t\t\t\t\t\t256", "the tap is no number up to 255" },
		{ "1\tCALL\ta\tb\t1\t\t\t\t\t\t\t\t\t\t\t\t\tabc",
		  "tokens are not groups of eight hexadecimal digits" },
		{ "1\tCALL\ta\tb\t1\t\t\t\t\t\t\t\t\t\t\t\t\t0000000g",
		  "tokens are not groups of eight hexadecimal digits" },
#define TRANSPORT "1\tCALL\ta\tb\t1\t\t\t\t\t\t\t\t\t\t\t\t\t\t"
		{ TRANSPORT "fast", "transport is not KIND/TIME/TIME/PACKET/PACKET" },
		{ TRANSPORT "fast/1/0/1/2", "transport is not KIND/TIME/TIME/PACKET/PACKET" },
		{ TRANSPORT "fast/1/2/1/x", "transport is not KIND/TIME/TIME/PACKET/PACKET" },
		{ TRANSPORT "fast/1/2/1/1/1", "transport is not KIND/TIME/TIME/PACKET/PACKET" },
		{ TRANSPORT "ack/1/2/1/1,ack/1/2/1/1,ack/1/2/1/1,ack/1/2/1/1,ack/1/2/1/1",
		  "there are more than 4 transports" },
#undef TRANSPORT
		{ "#node", "a #node line names no node" },
		{ "#node\ta\tb\tc\td", "a #node line is not KEY, SOURCE, COUNT, NAME" },
		{ "#counter\tpackets\tmany", "a #counter line is not NAME, NUMBER" },
		{ "#setting", "a #setting line has no key" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text =
			g_strconcat(WP_TRACE_HEADER, "1\tCALL\ta\tb\t1\n", rows[i].line,
				    "\n1\tNONSENSE\n1\tRETURN\tb\ta\t1\n", NULL);
		g_autofree char *reason = g_strdup_printf("line 4: %s", rows[i].reason);
		g_autoptr(WpTrace) trace = read_text(text, NULL);
		ck_assert_msg(wp_trace_n_records(trace) == 2, "row %zu", i);
		ck_assert_uint_eq(
			wp_counters_get(wp_trace_counters(trace), WP_COUNT_TRACE_LINES_BAD), 2);
		ck_assert_str_eq(wp_trace_setting_key(trace, 0), "first-bad-line");
		ck_assert_str_eq(wp_trace_setting_value(trace, 0), reason);
	}
}
END_TEST

/* What is no trace is an error that says why; an empty trace is a trace. */
START_TEST(no_trace)
{
	static const struct {
		const char *text;
		const char *reason; /* NULL: readable */
	} rows[] = {
		{ "", "there is nothing in it" },
		{ "# nothing\n", "there is nothing in it" },
		{ "GET / HTTP/1.1\nHost: x\n", "line 1: the time is no number of seconds" },
		{ "#wirepath-trace 2\n", "does not say version 1" },
		{ "#wirepath-trace 1\n#columns\ttime\tkind\tsender\tid\n", "no column 'receiver'" },
		{ WP_TRACE_HEADER "x\n", "line 3: the time" },
		{ WP_TRACE_HEADER, NULL },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(WpTrace) trace = read_text(rows[i].text, &error);
		if (!rows[i].reason) {
			ck_assert_ptr_nonnull(trace);
			continue;
		}
		ck_assert_ptr_null(trace);
		ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT));
		ck_assert_ptr_nonnull(strstr(error->message, rows[i].reason));
	}
	ck_assert(!wp_trace_is_trace((const guint8 *)"\xd4\xc3\xb2\xa1", 4));
	ck_assert(!wp_trace_is_trace((const guint8 *)"1 2 3 4\n", 8));
	ck_assert(wp_trace_is_trace((const guint8 *)WP_TRACE_HEADER, strlen(WP_TRACE_HEADER)));
}
END_TEST

/* Cut anywhere, a trace gives all whole lines, and half a line never makes a record. */
START_TEST(cut)
{
	for (gsize length = strlen(WP_TRACE_HEADER); length < strlen(wp_trace_full); length += 7) {
		g_autofree char *text = g_strndup(wp_trace_full, length);
		g_autoptr(WpTrace) trace = read_text(text, NULL);
		ck_assert_ptr_nonnull(trace);
		ck_assert_uint_eq(
			wp_counters_get(wp_trace_counters(trace), WP_COUNT_INPUT_TRUNCATED),
			text[length - 1] != '\n');
		ck_assert_uint_eq(
			wp_counters_get(wp_trace_counters(trace), WP_COUNT_TRACE_LINES_BAD), 0);
	}
	g_autoptr(GByteArray) gzip = wp_gzip_bytes(wp_trace_full, strlen(wp_trace_full));
	g_autotemp *path = wp_temp_file_new("", gzip->data, gzip->len - 20);
	g_autoptr(WpTrace) trace = wp_trace_at(path, NULL);
	ck_assert_uint_eq(wp_trace_n_records(trace), 6);
	ck_assert_uint_eq(wp_counters_get(wp_trace_counters(trace), WP_COUNT_INPUT_TRUNCATED), 1);
}
END_TEST

/* A line over 1 MiB is passed over; the longest one that is allowed is not. */
START_TEST(long_lines)
{
	static const gsize lengths[] = { 1000, 200000, 1048500, 1048600, 3000000 };
	for (gsize i = 0; i < G_N_ELEMENTS(lengths); i++) {
		g_autofree char *label = g_strnfill(lengths[i], 'x');
		g_autofree char *text = g_strconcat(WP_TRACE_HEADER, "1\tCALL\ta\tb\t1\t\t\t\t\t\t",
						    label, "\n2\tRETURN\tb\ta\t1\n", NULL);
		g_autoptr(WpTrace) trace = read_text(text, NULL);
		ck_assert_ptr_nonnull(trace);
		gboolean too_long = lengths[i] > 1048576;
		ck_assert_uint_eq(wp_trace_n_records(trace), too_long ? 1 : 2);
		if (!too_long)
			ck_assert_str_eq(wp_nodes_text(wp_trace_nodes(trace),
						       wp_trace_records(trace)[0].label),
					 label);
	}
}
END_TEST

#define N_RECORDS 20000

/* Record I of many: numbers of all sizes, from STATE, which goes on to the next. */
static WpRecord
make_record(WpNodes *nodes, guint i, guint64 *state, guint32 words[WP_RECORD_MAX_WORDS])
{
	*state = *state * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407;
	guint64 random = *state >> (*state >> 58);
	WpRecord r = { .begin_ns = (gint64)i * 1000003, .id = random >> 1 };
	char label[32];

	r.end_ns = r.begin_ns + (gint64)(random >> 2) % 5000;
	r.packet = random & ~G_GUINT64_CONSTANT(1);
	r.bytes = random;
	r.flow = (guint32)random;
	r.sender = wp_nodes_by_address(nodes, (guint8[16]){ 0xfe, 0x80, [15] = i % 7 });
	memcpy(r.src.address, wp_nodes_address(nodes, r.sender), 16);
	r.src.port = (guint16)random;
	r.receiver = wp_nodes_by_key(nodes, i % 3 ? "10.0.0.1" : "x");
	if (i % 3)
		ck_assert(wp_endpoint_parse("10.0.0.1:443", &r.dst));
	g_snprintf(label, sizeof label, "l\\%u\n", i % 100);
	r.label = wp_strings_intern(wp_nodes_strings(nodes), label, -1);
	r.kind = i % 3;
	r.status = i % 5;
	r.marks = i % 4;
	if (i % 5 == 4) { /* not in the first, so that the columns change on the way */
		r.marks |= WP_MARK_BOTH_ENDS;
		r.begin_way_ns = (gint64)(random >> 40) - 100000;
		r.end_way_ns = i % 2 ? r.begin_way_ns : -3;
	}
	r.tap = (guint8)i;
	r.n_tokens = i % (WP_RECORD_MAX_TOKENS + 1);
	for (guint t = 0; t < r.n_tokens; t++)
		words[t] = (guint32)(*state * (t + 1));
	r.n_transports = i % (WP_RECORD_MAX_TRANSPORTS + 1);
	for (guint t = 0; t < r.n_transports; t++) {
		WpTransport transport = { .begin_ns = r.begin_ns - t,
					  .end_ns = r.end_ns + t,
					  .first = random >> 1,
					  .last = random >> t % 60,
					  .kind = (i + t) % WP_N_TRANSPORTS };
		transport.last -= transport.last == G_MAXUINT64;
		wp_transport_pack(&transport, words + r.n_tokens + t * WP_TRANSPORT_WORDS);
	}
	if (i % 7 == 6) { /* after the first with both ends */
		WpTraceContext context = { random, ~random, random | 1 };
		r.marks |= WP_MARK_TRACED;
		wp_trace_context_pack(&context, words + wp_record_context_at(&r));
	}
	if (i % 9 == 8) {
		r.marks |= WP_MARK_CAUSED;
		wp_record_put_cause(&r, random >> 1, words);
	}
	return r;
}

/* Labels by their texts, as their numbers are each trace's own. */
static void
check_same_record(const WpTrace *expected, const WpTrace *trace, gsize i)
{
	const WpRecord *a = &wp_trace_records(expected)[i];
	WpRecord b = wp_trace_records(trace)[i];

	/* Check writes a file at each of its asserts: too much for each record. */
	gboolean is_same = strcmp(wp_nodes_text(wp_trace_nodes(trace), b.label),
				  wp_nodes_text(wp_trace_nodes(expected), a->label)) == 0;
	b.label = a->label;
	is_same = is_same && memcmp(&b.src, &a->src, sizeof b.src) == 0 &&
		  memcmp(&b, a, G_STRUCT_OFFSET(WpRecord, src)) == 0 &&
		  memcmp(&b.kind, &a->kind, 6) == 0 &&
		  (wp_record_words(a) == 0 ||
		   memcmp(wp_trace_tokens(expected, a), wp_trace_tokens(trace, &b),
			  wp_record_words(a) * sizeof(guint32)) == 0);
	if (!is_same)
		ck_abort_msg("record %zu is another", i);
}

static void
check_records_stay(const char *suffix)
{
	g_autotemp *path = wp_temp_file_name(suffix);
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) expected = wp_trace_new(nodes);
	g_autoptr(WpCounters) counters = wp_counters_new();
	WpRecordSink *writer = wp_trace_writer_new(path, NULL);
	WpRecordSink *sinks[] = { writer, wp_trace_sink(expected) };
	guint64 state = 1;

	wp_counters_add(counters, WP_COUNT_CALLS, N_RECORDS);
	for (guint s = 0; s < 2; s++)
		ck_assert(wp_sink_begin(sinks[s], nodes, NULL));
	for (guint i = 0; i < N_RECORDS; i++) {
		guint32 tokens[WP_RECORD_MAX_WORDS];
		WpRecord record = make_record(nodes, i, &state, tokens);
		for (guint s = 0; s < 2; s++)
			ck_assert(wp_sink_record(sinks[s], &record, tokens, NULL));
	}
	for (guint s = 0; s < 2; s++) {
		ck_assert(wp_sink_counters(sinks[s], counters, NULL));
		ck_assert(wp_sink_end(sinks[s], NULL));
	}
	wp_trace_writer_free(writer);

	g_autoptr(WpTrace) trace = wp_trace_at(path, NULL);
	ck_assert_uint_eq(wp_trace_n_records(trace), N_RECORDS);
	for (gsize i = 0; i < N_RECORDS; i++)
		check_same_record(expected, trace, i);
}

/* Records -> file -> records: many, over the edges of all buffers. */
START_TEST(records_stay)
{
	check_records_stay(".gz");
	check_records_stay(".wpt");
}
END_TEST

/* Writing fails with WP_CAPTURE_ERROR_WRITE where the disk is full or there is no such place. */
START_TEST(write_errors)
{
	g_autoptr(GError) error = NULL;
	g_autotemp *path = wp_temp_file_new("", wp_trace_full, strlen(wp_trace_full));
	g_autoptr(WpNodes) nodes = wp_nodes_new();

	WpRecordSink *writer = wp_trace_writer_new("/dev/full", NULL);
	ck_assert_ptr_nonnull(writer);
	ck_assert(!wp_trace_read(path, NULL, nodes, writer, &error));
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_WRITE));
	ck_assert_ptr_nonnull(strstr(error->message, "/dev/full"));
	wp_trace_writer_free(writer);
	g_clear_error(&error);

	ck_assert_ptr_null(wp_trace_writer_new("/nonexistent/x.trace", &error));
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_WRITE));
}
END_TEST

/*
 * A disk that fills up on the way: the error says so, an older file stays, and what was written stands
 * beside it and can be read.
 */
START_TEST(full_disk)
{
	struct rlimit old, small = { 1024 * 1024, 0 };
	g_autoptr(GError) error = NULL;
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autotemp *path = wp_temp_file_new(".trace", "old", 3);
	g_autotemp *rest = g_strconcat(path, ".partial", NULL);
	WpRecordSink *writer = wp_trace_writer_new(path, NULL);
	WpRecord record = { .id = 1 };
	guint n = 0;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	record.sender = record.receiver = wp_nodes_by_key(nodes, "a");
	ck_assert(wp_sink_begin(writer, nodes, NULL));
	while (n < 100000 && wp_sink_record(writer, &record, NULL, &error))
		n++;
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_WRITE));
	ck_assert_ptr_nonnull(strstr(error->message, rest));
	wp_trace_writer_free(writer);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	g_autofree char *after = wp_temp_file_read(path, NULL);
	ck_assert_str_eq(after, "old");

	g_autoptr(WpTrace) trace = wp_trace_at(rest, NULL);
	ck_assert_ptr_nonnull(trace);
	ck_assert_uint_gt(wp_trace_n_records(trace), 10000);
	ck_assert_uint_le(wp_trace_n_records(trace), n);
	ck_assert_uint_eq(wp_counters_get(wp_trace_counters(trace), WP_COUNT_INPUT_TRUNCATED), 1);
}
END_TEST

/* A trace that goes on: after a sync all so far can be read, in every form; an older file is gone. */
START_TEST(synced)
{
	static const char *const suffixes[] = { ".trace",     ".trace.gz", ".trace.zst",
						".trace.lz4", ".wpt",      ".wpt.zst" };
	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		WpRecord record = { .id = 1 };
		g_autoptr(WpNodes) nodes = wp_nodes_new();
		g_autotemp *path = wp_temp_file_new(suffixes[i], "old", 3);
		WpRecordSink *writer = wp_trace_writer_new_in_place(path, NULL, NULL);
		record.receiver = record.sender = wp_nodes_by_key(nodes, "a");
		wp_trace_writer_sync(writer); /* nothing is there yet */
		ck_assert(wp_sink_begin(writer, nodes, NULL));
		for (guint n = 1; n <= 3; n++) {
			ck_assert(wp_sink_record(writer, &record, NULL, NULL));
			wp_trace_writer_sync(writer);
			wp_trace_writer_sync(writer);
			g_autoptr(WpTrace) trace = wp_trace_at(path, NULL);
			ck_assert_ptr_nonnull(trace);
			ck_assert_msg(wp_trace_n_records(trace) == n, "%s: %u", suffixes[i], n);
		}
		g_autoptr(WpCounters) counters = wp_counters_new();
		ck_assert(wp_sink_counters(writer, counters, NULL));
		ck_assert(wp_sink_end(writer, NULL));
		wp_trace_writer_free(writer);
		g_autoptr(WpTrace) trace = wp_trace_at(path, NULL);
		ck_assert_uint_eq(wp_trace_n_records(trace), 3);
		ck_assert_uint_eq(
			wp_counters_get(wp_trace_counters(trace), WP_COUNT_INPUT_TRUNCATED), 0);
	}
}
END_TEST

/* An existing file stays until the new one is complete; what came before an error is kept beside it. */
START_TEST(replacing)
{
	WpRecord record = { .id = 1 };
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autotemp *path = wp_temp_file_new("", "old", 3);
	g_autotemp *rest = g_strconcat(path, ".partial", NULL);
	record.receiver = record.sender = wp_nodes_by_key(nodes, "a");
	for (int with_record = 0; with_record < 2; with_record++) {
		WpRecordSink *writer = wp_trace_writer_new(path, NULL);
		ck_assert(wp_sink_begin(writer, nodes, NULL));
		if (with_record)
			ck_assert(wp_sink_record(writer, &record, NULL, NULL));
		g_autoptr(GError) error = g_error_new(WP_CAPTURE_ERROR, 0, "no end");
		wp_trace_writer_stop(writer, &error);
		ck_assert_int_eq(strstr(error->message, rest) != NULL, with_record);
		wp_trace_writer_free(writer);
		g_autofree char *after = wp_temp_file_read(path, NULL);
		ck_assert_str_eq(after, "old");
	}
	g_autoptr(WpTrace) trace = wp_trace_at(rest, NULL);
	ck_assert_uint_eq(wp_trace_n_records(trace), 1);
}
END_TEST

static gboolean
stop_at_once(guint64 n_read, guint64 size, guint64 n_records, gpointer data)
{
	ck_assert_uint_gt(n_read, 0);
	ck_assert_uint_le(n_read, size);
	(*(guint *)data)++;
	return FALSE;
}

/* Times select; progress may stop the reading, which then ends as ever. */
START_TEST(selection)
{
	g_autoptr(GString) text = g_string_new(WP_TRACE_HEADER);
	guint n_calls = 0;
	WpTraceReadOptions options = { .from_ns = 5 * G_GINT64_CONSTANT(1000000000),
				       .to_ns = 9 * G_GINT64_CONSTANT(1000000000) };
	for (guint i = 0; i < 40000; i++)
		g_string_append_printf(text, "%u\tCALL\ta\tb\t%u\n", i, i);
	g_autotemp *path = wp_temp_file_new("", text->str, text->len);
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);

	ck_assert(wp_trace_read(path, &options, nodes, wp_trace_sink(trace), NULL));
	ck_assert_uint_eq(wp_trace_n_records(trace), 4);
	ck_assert_uint_eq(wp_trace_records(trace)[0].id, 5);

	options = (WpTraceReadOptions){ .from_ns = WP_NO_TIME,
					.to_ns = WP_NO_TIME,
					.progress = stop_at_once,
					.progress_data = &n_calls };
	ck_assert(wp_trace_read(path, &options, nodes, wp_trace_sink(trace), NULL));
	ck_assert_uint_eq(n_calls, 1);
	ck_assert_uint_gt(wp_trace_n_records(trace), 1000);
	ck_assert_uint_lt(wp_trace_n_records(trace), 40000);
	ck_assert_uint_eq(wp_counters_get(wp_trace_counters(trace), WP_COUNT_INPUT_STOPPED), 1);
}
END_TEST

WP_SUITE("trace-io", text_stays, synced, fields, header_facts, paper_layout, other_columns,
	 bad_lines, no_trace, cut, long_lines, records_stay, write_errors, full_disk, replacing,
	 selection)
