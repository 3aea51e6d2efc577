/* What the time of a call was spent on: parts, stalls and what was before it. */
#include "infer/spent.h"

#include <string.h>

#include "tests/support/suite.h"

#define N_STALLS 4

/*
 * A call from 1000 to 1100 (its last byte), its return from 1400 to 1500. Stalls come with the return; their packets are
 * their times.
 */
typedef struct {
	const char *name;
	struct {
		WpTransportKind kind;
		gint64 begin, end;
	} stalls[N_STALLS];
	gint64 request, server, reply, stall;
	const char *held; /* kind and time of each, "-" before those of set-up */
} Row;

static const Row rows[] = {
	{ "nothing held it up", { { 0 } }, 100, 300, 100, 0, "" },
	{ "the request", { { WP_TRANSPORT_TIMEOUT, 1000, 1060 } }, 40, 300, 100, 60, "timeout 60" },
	{ "over two parts", { { WP_TRANSPORT_FAST, 1050, 1150 } }, 50, 250, 100, 100, "fast 100" },
	{ "all of it", { { WP_TRANSPORT_WINDOW, 900, 1600 } }, 0, 0, 0, 500, "window 500" },
	{ "one in the other",
	  { { WP_TRANSPORT_ACK, 1200, 1300 }, { WP_TRANSPORT_WINDOW, 1220, 1250 } },
	  100,
	  200,
	  100,
	  100,
	  "ack 100, window 0" },
	{ "one over the other's end, told in the wrong order",
	  { { WP_TRANSPORT_WINDOW, 1250, 1350 }, { WP_TRANSPORT_ACK, 1200, 1300 } },
	  100,
	  150,
	  100,
	  150,
	  "ack 100, window 50" },
	{ "told twice",
	  { { WP_TRANSPORT_ACK, 1200, 1300 }, { WP_TRANSPORT_ACK, 1200, 1300 } },
	  100,
	  200,
	  100,
	  100,
	  "ack 100" },
	{ "connecting",
	  { { WP_TRANSPORT_TIMEOUT, 100, 400 }, { WP_TRANSPORT_TIMEOUT, 1440, 1600 } },
	  100,
	  300,
	  40,
	  60,
	  "-timeout 0, timeout 60" },
	{ "after it", { { WP_TRANSPORT_TIMEOUT, 1500, 1600 } }, 100, 300, 100, 0, "timeout 0" },
};

static WpTrace *
trace_of(const Row *row, gboolean is_answered)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpTrace *trace = wp_trace_new(nodes);
	WpRecordSink *sink = wp_trace_sink(trace);
	guint32 words[WP_RECORD_MAX_WORDS], *at = words;
	WpRecord call = { .kind = WP_KIND_CALL, .begin_ns = 1000, .end_ns = 1100, .id = 1 };
	WpRecord reply = { .kind = WP_KIND_RETURN, .begin_ns = 1400, .end_ns = 1500, .id = 1 };
	const WpTransport connect = { .kind = WP_TRANSPORT_CONNECT,
				      .begin_ns = 100,
				      .end_ns = 450 };

	call.sender = reply.receiver = wp_nodes_by_key(nodes, "a");
	call.receiver = reply.sender = wp_nodes_by_key(nodes, "b");
	ck_assert(wp_sink_begin(sink, nodes, NULL));
	wp_transport_pack(&connect, words);
	call.n_transports = 1;
	ck_assert(wp_sink_record(sink, &call, words, NULL));
	for (guint i = 0; i < N_STALLS && row->stalls[i].end; i++, at += WP_TRANSPORT_WORDS) {
		const WpTransport stall = { .kind = row->stalls[i].kind,
					    .begin_ns = row->stalls[i].begin,
					    .end_ns = row->stalls[i].end,
					    .first = (guint64)row->stalls[i].begin,
					    .last = (guint64)row->stalls[i].end };
		wp_transport_pack(&stall, at);
		reply.n_transports++;
	}
	if (is_answered)
		ck_assert(wp_sink_record(sink, &reply, words, NULL));
	ck_assert(wp_sink_end(sink, NULL));
	return trace;
}

START_TEST(adds_up)
{
	const Row *row = &rows[_i];
	g_autoptr(WpTrace) trace = trace_of(row, TRUE);
	g_autoptr(WpSpans) spans = wp_spans_new(trace);
	g_autoptr(GString) held = g_string_new(NULL);
	WpSpent spent;

	ck_assert_uint_eq(spans->n, 1);
	wp_spent_read(trace, &spans->spans[0], &spent);
	for (guint i = 0; i < spent.n_stalls; i++)
		g_string_append_printf(
			held, "%s%s%s %d", i ? ", " : "", spent.stalls[i].is_setup ? "-" : "",
			wp_transport_name(spent.stalls[i].what.kind), (int)spent.stalls[i].held_ns);
	ck_assert_msg(strcmp(held->str, row->held) == 0, "%s: %s", row->name, held->str);
	ck_assert_int_eq(spent.parts.request_ns, row->request);
	ck_assert_int_eq(spent.parts.server_ns, row->server);
	ck_assert_int_eq(spent.parts.reply_ns, row->reply);
	ck_assert_int_eq(spent.stall_ns, row->stall);
	ck_assert_int_eq(row->request + row->server + row->reply + row->stall, 500);
	ck_assert_int_eq(spent.connect.kind, WP_TRANSPORT_CONNECT);
	ck_assert_int_eq(spent.connect.end_ns, 450);
	ck_assert_int_eq(spent.setup.kind, WP_N_TRANSPORTS);
}
END_TEST

START_TEST(without_a_return)
{
	g_autoptr(WpTrace) trace = trace_of(&rows[1], FALSE);
	g_autoptr(WpSpans) spans = wp_spans_new(trace);
	WpSpent spent;

	wp_spent_read(trace, &spans->spans[0], &spent);
	ck_assert_int_eq(spent.parts.request_ns + spent.parts.server_ns + spent.parts.reply_ns, 0);
	ck_assert_int_eq(spent.connect.kind, WP_TRANSPORT_CONNECT);
	ck_assert_uint_eq(spent.n_stalls, 0);
}
END_TEST

/*
 * A call from 0 to 100 ms with two calls below it, each with what was done for it before: TCP from connect to setup,
 * TLS from there to ready. All in ms; 0 0: nothing was. EXPECTED: of the self time, in us.
 */
typedef struct {
	const char *why;
	struct {
		gint64 call, end, connect, setup, ready;
	} below[2];
	gint64 self_us, connecting_us;
} ConnectRow;

static const ConnectRow connect_rows[] = {
	{ "none", { { 20, 30, 0, 0, 0 }, { 40, 50, 0, 0, 0 } }, 80000, 0 },
	{ "TCP and TLS", { { 20, 30, 5, 8, 19 }, { 40, 50, 0, 0, 0 } }, 80000, 14000 },
	{ "TCP alone", { { 20, 30, 5, 20, 20 }, { 40, 50, 0, 0, 0 } }, 80000, 15000 },
	{ "each its own", { { 20, 30, 5, 8, 19 }, { 40, 50, 35, 36, 40 } }, 80000, 19000 },
	{ "while another call is open",
	  { { 20, 30, 0, 0, 0 }, { 40, 50, 25, 30, 39 } },
	  80000,
	  9000 },
	{ "all of it while another is", { { 20, 60, 0, 0, 0 }, { 55, 70, 25, 30, 50 } }, 50000, 0 },
	{ "two at once", { { 20, 30, 5, 8, 15 }, { 21, 40, 10, 12, 18 } }, 80000, 13000 },
	{ "long before its call", { { 60, 70, 5, 6, 7 }, { 80, 90, 0, 0, 0 } }, 80000, 0 },
	{ "begun before its caller",
	  { { 20, 30, -30, -10, 10 }, { 40, 50, 0, 0, 0 } },
	  80000,
	  10000 },
	{ "after its caller's end",
	  { { 150, 160, 90, 120, 149 }, { 40, 50, 0, 0, 0 } },
	  90000,
	  10000 },
};

static gboolean
add_call(WpRecordSink *sink, guint64 id, guint32 from, guint32 to, const gint64 *at_ms)
{
	guint32 words[WP_RECORD_MAX_WORDS];
	WpRecord call = { .kind = WP_KIND_CALL, .id = id, .sender = from, .receiver = to };
	WpRecord reply = { .kind = WP_KIND_RETURN, .id = id, .sender = to, .receiver = from };
	const WpTransport done[] = {
		{ .kind = WP_TRANSPORT_CONNECT,
		  .begin_ns = at_ms[2] * 1000000,
		  .end_ns = at_ms[3] * 1000000 },
		{ .kind = WP_TRANSPORT_SETUP,
		  .begin_ns = at_ms[3] * 1000000,
		  .end_ns = at_ms[4] * 1000000 },
	};

	call.begin_ns = call.end_ns = at_ms[0] * 1000000;
	reply.begin_ns = reply.end_ns = at_ms[1] * 1000000;
	call.n_transports = at_ms[3] == at_ms[2] ? 0 : at_ms[4] == at_ms[3] ? 1 : 2;
	for (guint i = 0; i < call.n_transports; i++)
		wp_transport_pack(&done[i], words + i * WP_TRANSPORT_WORDS);
	return wp_sink_record(sink, &call, words, NULL) &&
	       wp_sink_record(sink, &reply, words, NULL);
}

START_TEST(connecting_is_part_of_self)
{
	const ConnectRow *row = &connect_rows[_i];
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	WpRecordSink *sink = wp_trace_sink(trace);
	const gint64 root[] = { 0, 100, 0, 0, 0 };
	guint32 a = wp_nodes_by_key(nodes, "a"), b = wp_nodes_by_key(nodes, "b");
	guint32 c = wp_nodes_by_key(nodes, "c"), number = 0;

	ck_assert(wp_sink_begin(sink, nodes, NULL));
	ck_assert(add_call(sink, 1, a, b, root));
	for (guint i = 0; i < 2; i++) {
		const gint64 at[] = { row->below[i].call, row->below[i].end, row->below[i].connect,
				      row->below[i].setup, row->below[i].ready };
		ck_assert(add_call(sink, i + 2, b, c, at));
	}
	ck_assert(wp_sink_end(sink, NULL));
	g_autoptr(WpSpans) spans = wp_spans_new(trace);
	g_autoptr(WpLinks) links = wp_links_new(spans->n);
	while (spans->spans[number].id != 1)
		number++;
	for (guint32 i = 0; i < spans->n; i++)
		if (i != number)
			links->links[i].parent = number;
	g_autoptr(WpPaths) paths = wp_paths_new(spans, links, NULL, NULL);
	gint64 connecting_ns = wp_spent_connecting_ns(trace, spans, paths, number);
	ck_assert_msg(connecting_ns == row->connecting_us * 1000, "%s: %" G_GINT64_FORMAT, row->why,
		      connecting_ns);
	ck_assert_int_eq(paths->self_ns[number], row->self_us * 1000);
}
END_TEST

WP_SUITE_OF_ROWS("spent", { adds_up, G_N_ELEMENTS(rows) }, { without_a_return, 0 },
		 { connecting_is_part_of_self, G_N_ELEMENTS(connect_rows) })
