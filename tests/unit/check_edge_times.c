/* What calls spent their time on, summed by edge: each stall counted once, whoever tells of it. */
#include "report/edge-times.h"

#include <string.h>

#include "tests/support/suite.h"

#define MAX_CALLS  4
#define MAX_STALLS 3

/* A stall comes with the call's return, or, BEFORE, with the call: then it held connecting up. Its packets are its times. */
typedef struct {
	WpTransportKind kind;
	gint64 begin, end;
	gboolean before;
} Stall;

/* Request, server and reply of 100, 300 and 100 ns from AT on. */
typedef struct {
	const char *caller, *callee;
	guint32 flow;
	gint64 at;
	guint8 marks;
	gboolean connects; /* took 350 ns, until 550 before it */
	Stall stalls[MAX_STALLS];
} Call;

/*
 * Of each edge: "caller>callee calls latency=request+server+reply+stall", "connects n ns" where there are, then each
 * cause: "name n/calls held longest@first", "-" before those of set-up.
 */
static const struct {
	const char *name;
	Call calls[MAX_CALLS];
	const char *edges;
} rows[] = {
	{ "edges in order of first sight",
	  { { .caller = "a", .callee = "b", .at = 1000 },
	    { .caller = "b", .callee = "c", .at = 1100 },
	    { .caller = "a", .callee = "b", .at = 2000 } },
	  "a>b 2 1000=200+600+200+0; b>c 1 500=100+300+100+0" },
	{ "calls that wait by design, and logins, are left out",
	  { { .caller = "a", .callee = "b", .at = 1000, .marks = WP_MARK_WAIT },
	    { .caller = "a", .callee = "b", .at = 2000, .marks = WP_MARK_SETUP },
	    { .caller = "a", .callee = "b", .at = 3000 } },
	  "a>b 1 500=100+300+100+0" },
	{ "the longest of a cause",
	  { { "a", "b", 1, 1000, 0, FALSE, { { WP_TRANSPORT_ACK, 1200, 1240, FALSE } } },
	    { "a", "b", 1, 2000, 0, FALSE, { { WP_TRANSPORT_ACK, 2100, 2200, FALSE } } } },
	  "a>b 2 1000=200+460+200+140 ack 2/2 140 100@2100" },
	{ "one that two calls on a connection tell of is one",
	  { { "a", "b", 7, 1000, 0, FALSE, { { WP_TRANSPORT_TIMEOUT, 1350, 1450, FALSE } } },
	    { "a", "b", 7, 1100, 0, FALSE, { { WP_TRANSPORT_TIMEOUT, 1350, 1450, FALSE } } } },
	  "a>b 2 1000=200+450+150+200 timeout 1/2 200 100@1350" },
	{ "on two connections they are two",
	  { { "a", "b", 7, 1000, 0, FALSE, { { WP_TRANSPORT_TIMEOUT, 1350, 1450, FALSE } } },
	    { "a", "b", 8, 1100, 0, FALSE, { { WP_TRANSPORT_TIMEOUT, 1350, 1450, FALSE } } } },
	  "a>b 2 1000=200+450+150+200 timeout 2/2 200 100@1350" },
	{ "where no connection is known, each by itself",
	  { { "a", "b", 0, 1000, 0, FALSE, { { WP_TRANSPORT_FAST, 1200, 1220, FALSE } } },
	    { "a", "b", 0, 1100, 0, FALSE, { { WP_TRANSPORT_FAST, 1200, 1220, FALSE } } } },
	  "a>b 2 1000=200+560+200+40 fast 2/2 40 20@1200" },
	{ "connecting, and what held it up",
	  { { "a", "b", 1, 1000, 0, TRUE, { { WP_TRANSPORT_TIMEOUT, 600, 750, TRUE } } } },
	  "a>b 1 500=100+300+100+0 connects 1 350 -timeout 1/1 150 150@600" },
	{ "what lies between connecting and the call held up neither",
	  { { "a", "b", 1, 1000, 0, TRUE, { { WP_TRANSPORT_TIMEOUT, 850, 950, TRUE } } } },
	  "a>b 1 500=100+300+100+0 connects 1 350" },
	{ "after the reply it held nothing up",
	  { { "a", "b", 1, 1000, 0, FALSE, { { WP_TRANSPORT_WINDOW, 1500, 1600, FALSE } } } },
	  "a>b 1 500=100+300+100+0" },
};

static guint16
pack(const Call *call, gboolean before, guint32 *words)
{
	guint16 n = 0;
	const WpTransport connect = { .kind = WP_TRANSPORT_CONNECT,
				      .begin_ns = call->at - 550,
				      .end_ns = call->at - 200 };
	if (before && call->connects)
		wp_transport_pack(&connect, words + WP_TRANSPORT_WORDS * n++);
	for (guint i = 0; i < MAX_STALLS && call->stalls[i].end; i++) {
		const Stall *stall = &call->stalls[i];
		const WpTransport told = { .kind = stall->kind,
					   .begin_ns = stall->begin,
					   .end_ns = stall->end,
					   .first = (guint64)stall->begin,
					   .last = (guint64)stall->end };
		if (stall->before == before)
			wp_transport_pack(&told, words + WP_TRANSPORT_WORDS * n++);
	}
	return n;
}

static void
push(WpRecordSink *sink, WpNodes *nodes, const Call *call, guint64 id, gboolean is_return)
{
	guint32 words[WP_RECORD_MAX_WORDS];
	guint32 caller = wp_nodes_by_key(nodes, call->caller);
	guint32 callee = wp_nodes_by_key(nodes, call->callee);
	WpRecord record = {
		.kind = is_return ? WP_KIND_RETURN : WP_KIND_CALL,
		.id = id,
		.flow = call->flow,
		.marks = call->marks,
		.begin_ns = is_return ? call->at + 400 : call->at,
		.end_ns = is_return ? call->at + 500 : call->at + 100,
		.sender = is_return ? callee : caller,
		.receiver = is_return ? caller : callee,
	};
	record.n_transports = (guint8)pack(call, !is_return, words);
	ck_assert(wp_sink_record(sink, &record, words, NULL));
}

/* (transfer full) */
static WpTrace *
trace_of(const Call *calls)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpTrace *trace = wp_trace_new(nodes);
	WpRecordSink *sink = wp_trace_sink(trace);
	ck_assert(wp_sink_begin(sink, nodes, NULL));
	for (guint i = 0; i < MAX_CALLS && calls[i].caller; i++) {
		push(sink, nodes, &calls[i], i + 1, FALSE);
		push(sink, nodes, &calls[i], i + 1, TRUE);
	}
	ck_assert(wp_sink_end(sink, NULL));
	wp_trace_freeze(trace);
	return trace;
}

static void
print_stalls(GString *out, const WpEdgeStalls *stalls, const char *before)
{
	for (guint i = 0; i < WP_N_STALLS; i++)
		if (stalls[i].n_calls)
			g_string_append_printf(
				out, " %s%s %d/%d %d %d@%d", before,
				wp_transport_name((WpTransportKind)(WP_FIRST_STALL + i)),
				(int)stalls[i].n, (int)stalls[i].n_calls, (int)stalls[i].held_ns,
				(int)stalls[i].longest_ns, (int)stalls[i].first);
}

/* (transfer full) */
static char *
print_edges(const WpEdgeTimes *times, const WpResolved *resolved)
{
	GString *out = g_string_new(NULL);
	guint n;
	const WpEdgeTime *edges = wp_edge_times_get(times, &n);
	for (guint i = 0; i < n; i++) {
		const WpEdgeTime *edge = &edges[i];
		g_string_append_printf(out, "%s%s>%s %d %d=%d+%d+%d+%d", i ? "; " : "",
				       wp_resolved_node_name(resolved, edge->caller),
				       wp_resolved_node_name(resolved, edge->callee),
				       (int)edge->n_calls, (int)edge->latency_ns,
				       (int)edge->request_ns, (int)edge->server_ns,
				       (int)edge->reply_ns, (int)edge->stall_ns);
		if (edge->n_connects)
			g_string_append_printf(out, " connects %d %d", (int)edge->n_connects,
					       (int)edge->connect_ns);
		print_stalls(out, edge->stalls, "");
		print_stalls(out, edge->setup_stalls, "-");
	}
	return g_string_free(out, FALSE);
}

/* All calls of a row. */
START_TEST(sums)
{
	WpResolveOptions options;
	g_autoptr(WpTrace) trace = trace_of(rows[_i].calls);
	g_autoptr(WpEdgeTimes) times = wp_edge_times_new();
	wp_resolve_options_init(&options);
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &options, NULL);
	ck_assert_ptr_nonnull(resolved);
	wp_edge_times_add(times, resolved, NULL);
	g_autofree char *edges = print_edges(times, resolved);
	ck_assert_msg(strcmp(edges, rows[_i].edges) == 0, "%s: %s", rows[_i].name, edges);
}
END_TEST

/* The calls of one part, then those of the other. */
START_TEST(parts)
{
	WpResolveOptions options;
	g_autoptr(WpTrace) trace = trace_of(rows[0].calls);
	g_autoptr(WpEdgeTimes) times = wp_edge_times_new();
	wp_resolve_options_init(&options);
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &options, NULL);
	wp_edge_times_add(times, resolved, (const guint8[]){ 1, 1, 0 });
	g_autofree char *first = print_edges(times, resolved);
	ck_assert_str_eq(first, "a>b 1 500=100+300+100+0; b>c 1 500=100+300+100+0");
	wp_edge_times_add(times, resolved, (const guint8[]){ 0, 0, 1 });
	g_autofree char *both = print_edges(times, resolved);
	ck_assert_str_eq(both, rows[0].edges);
}
END_TEST

WP_SUITE_OF_ROWS("edge-times", { sums, G_N_ELEMENTS(rows) }, { parts, 0 })
