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

WP_SUITE_OF_ROWS("spent", { adds_up, G_N_ELEMENTS(rows) }, { without_a_return, 0 })
