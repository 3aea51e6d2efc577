/*
 * Spans to sums by edge. A stall is told by every call that it held up, in order of time on its flow, so that the
 * begin of the last one counted, by flow, is enough to count each once.
 */
#include "report/edge-times.h"

#include "infer/map.h"

struct WpEdgeTimes {
	GArray *edges;  /* WpEdgeTime */
	WpMap *numbers; /* pair of nodes -> place */
	GArray *told;   /* gint64: begin of the last stall counted */
	WpMap *flows;   /* ... flow -> place */
};

WpEdgeTimes *
wp_edge_times_new(void)
{
	WpEdgeTimes *times = g_new0(WpEdgeTimes, 1);
	times->edges = g_array_new(FALSE, TRUE, sizeof(WpEdgeTime));
	times->told = g_array_new(FALSE, TRUE, sizeof(gint64));
	times->numbers = wp_map_new();
	times->flows = wp_map_new();
	return times;
}

void
wp_edge_times_free(WpEdgeTimes *times)
{
	if (!times)
		return;
	g_array_unref(times->edges);
	g_array_unref(times->told);
	wp_map_free(times->numbers);
	wp_map_free(times->flows);
	g_free(times);
}

static WpEdgeTime *
edge_of(WpEdgeTimes *times, guint32 caller, guint32 callee)
{
	guint32 number = wp_map_number(times->numbers, wp_map_key(caller, callee));
	if (number == times->edges->len) {
		WpEdgeTime edge = { .caller = caller, .callee = callee };
		g_array_append_val(times->edges, edge);
	}
	return &g_array_index(times->edges, WpEdgeTime, number);
}

/* TRUE where no call before has told of the stall that began at BEGIN_NS. */
static gboolean
is_first_told(WpEdgeTimes *times, guint32 flow, gint64 begin_ns)
{
	if (!flow)
		return TRUE;
	guint32 number = wp_map_number(times->flows, flow);
	if (number == times->told->len) {
		g_array_append_val(times->told, begin_ns);
		return TRUE;
	}
	gint64 *last = &g_array_index(times->told, gint64, number);
	if (begin_ns <= *last)
		return FALSE;
	*last = begin_ns;
	return TRUE;
}

static void
note_longest(WpEdgeStalls *to, guint64 ns, guint64 first, guint64 last, guint8 tap)
{
	if (ns <= to->longest_ns)
		return;
	to->longest_ns = ns;
	to->first = first;
	to->last = last;
	to->tap = tap;
}

static void
add_stall(WpEdgeTimes *times, WpEdgeTime *edge, const WpSpentStall *stall, const WpRecord *call)
{
	const WpTransport *what = &stall->what;
	guint64 whole_ns = (guint64)(what->end_ns - what->begin_ns);
	WpEdgeStalls *to = stall->is_setup ? &edge->setup_stalls[what->kind - WP_FIRST_STALL]
					   : &edge->stalls[what->kind - WP_FIRST_STALL];

	if (is_first_told(times, call->flow, what->begin_ns)) {
		to->n++;
		note_longest(to, whole_ns, what->first, what->last, call->tap);
	}
	to->n_calls++;
	to->held_ns += stall->is_setup ? whole_ns : (guint64)stall->held_ns;
}

/* What lies between a login and the first call has held up neither. */
static gboolean
is_of_setup(const WpSpent *spent, const WpSpentStall *stall)
{
	const WpTransport *last =
		spent->setup.kind != WP_N_TRANSPORTS ? &spent->setup : &spent->connect;
	return last->kind != WP_N_TRANSPORTS && stall->what.end_ns <= last->end_ns;
}

static void
add_transport(WpEdgeTimes *times, WpEdgeTime *edge, const WpSpent *spent, const WpRecord *call)
{
	for (guint i = 0; i < spent->n_stalls; i++) {
		const WpSpentStall *stall = &spent->stalls[i];
		if (stall->is_setup ? is_of_setup(spent, stall) : stall->held_ns > 0)
			add_stall(times, edge, stall, call);
	}
	if (spent->connect.kind != WP_N_TRANSPORTS) {
		edge->n_connects++;
		edge->connect_ns += (guint64)(spent->connect.end_ns - spent->connect.begin_ns);
	}
	if (spent->setup.kind != WP_N_TRANSPORTS) {
		edge->n_setups++;
		edge->setup_ns += (guint64)(spent->setup.end_ns - spent->setup.begin_ns);
	}
}

/* The less of two of which 0 is not known. */
static gint64
least_of(gint64 a, gint64 b)
{
	return !a || (b && b < a) ? b : a;
}

static void
add_span(WpEdgeTimes *times, const WpResolved *resolved, const WpSpan *span)
{
	const WpTrace *trace = wp_resolved_trace(resolved);
	const WpRecord *records = wp_trace_records(trace);
	WpEdgeTime *edge = edge_of(times, span->caller, span->callee);
	WpSpent spent;

	wp_spent_read(trace, span, &spent);
	edge->n_calls++;
	edge->latency_ns += (guint64)(span->return_ns - span->call_ns);
	edge->request_ns += (guint64)spent.parts.request_ns;
	edge->server_ns += (guint64)spent.parts.server_ns;
	edge->reply_ns += (guint64)spent.parts.reply_ns;
	edge->stall_ns += (guint64)spent.stall_ns;
	edge->client_rtt_ns = least_of(edge->client_rtt_ns, spent.client_rtt_ns);
	edge->server_rtt_ns = least_of(edge->server_rtt_ns, spent.server_rtt_ns);
	add_transport(times, edge, &spent, &records[span->call_record]);
	if (records[span->call_record].marks & records[span->return_record].marks &
	    WP_MARK_BOTH_ENDS) {
		edge->n_both++;
		edge->network_ns += (guint64)MAX(span->way_in_ns + span->way_out_ns, 0);
	}
}

void
wp_edge_times_add(WpEdgeTimes *times, const WpResolved *resolved, const guint8 *keep)
{
	const WpSpans *spans = wp_resolved_spans(resolved);

	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		if ((keep && !keep[i]) || !wp_span_is_paired(span) ||
		    span->marks & (WP_MARK_WAIT | WP_MARK_SETUP))
			continue;
		add_span(times, resolved, span);
	}
}

static void
merge_stalls(WpEdgeStalls *to, const WpEdgeStalls *from)
{
	to->n += from->n;
	to->n_calls += from->n_calls;
	to->held_ns += from->held_ns;
	note_longest(to, from->longest_ns, from->first, from->last, from->tap);
}

static void
merge(WpEdgeTime *to, const WpEdgeTime *from)
{
	to->n_calls += from->n_calls;
	to->latency_ns += from->latency_ns;
	to->request_ns += from->request_ns;
	to->server_ns += from->server_ns;
	to->reply_ns += from->reply_ns;
	to->stall_ns += from->stall_ns;
	for (guint i = 0; i < WP_N_STALLS; i++) {
		merge_stalls(&to->stalls[i], &from->stalls[i]);
		merge_stalls(&to->setup_stalls[i], &from->setup_stalls[i]);
	}
	to->n_connects += from->n_connects;
	to->connect_ns += from->connect_ns;
	to->n_setups += from->n_setups;
	to->setup_ns += from->setup_ns;
	to->n_both += from->n_both;
	to->network_ns += from->network_ns;
	to->client_rtt_ns = least_of(to->client_rtt_ns, from->client_rtt_ns);
	to->server_rtt_ns = least_of(to->server_rtt_ns, from->server_rtt_ns);
}

void
wp_edge_times_move(WpEdgeTimes *times, const WpResolved *resolved)
{
	g_autoptr(GArray) old = g_steal_pointer(&times->edges);

	times->edges = g_array_new(FALSE, TRUE, sizeof(WpEdgeTime));
	wp_map_free(times->numbers);
	times->numbers = wp_map_new();
	for (guint i = 0; i < old->len; i++) {
		const WpEdgeTime *from = &g_array_index(old, WpEdgeTime, i);
		merge(edge_of(times, wp_resolved_caller_now(resolved, from->caller),
			      wp_resolved_callee_now(resolved, from->callee)),
		      from);
	}
}

const WpEdgeTime *
wp_edge_times_get(const WpEdgeTimes *times, guint *out_n)
{
	*out_n = times->edges->len;
	return (const WpEdgeTime *)times->edges->data;
}
