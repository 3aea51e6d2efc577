/* What the transport did for a call, clipped to it, and taken off the parts that it lies in. */
#include "infer/spent.h"

#include <string.h>

/* A set-up is of a call that follows so soon, however short it was. */
#define SOON_NS 1000000

/* Stalls stand by begin; equal ones, told by call and return, count once. */
static void
add_stall(WpSpent *spent, const WpTransport *what)
{
	guint at = spent->n_stalls;

	if (at == WP_SPENT_MAX_STALLS)
		return;
	while (at > 0 && spent->stalls[at - 1].what.begin_ns > what->begin_ns)
		at--;
	const WpTransport *before = at > 0 ? &spent->stalls[at - 1].what : NULL;
	if (before && before->begin_ns == what->begin_ns && before->end_ns == what->end_ns)
		return;
	memmove(&spent->stalls[at + 1], &spent->stalls[at],
		(spent->n_stalls++ - at) * sizeof spent->stalls[0]);
	spent->stalls[at] = (WpSpentStall){ .what = *what };
}

static void
take_record(const WpTrace *trace, const WpRecord *record, WpSpent *spent)
{
	WpTransport what;

	for (guint i = 0; i < record->n_transports; i++) {
		if (!wp_trace_transport(trace, record, i, &what))
			continue;
		if (wp_transport_is_stall(what.kind))
			add_stall(spent, &what);
		else if (what.kind == WP_TRANSPORT_CONNECT)
			spent->connect = what;
		else if (what.kind == WP_TRANSPORT_SETUP)
			spent->setup = what;
		else if (what.kind == WP_TRANSPORT_CLIENT_RTT)
			spent->client_rtt_ns = what.end_ns - what.begin_ns;
		else
			spent->server_rtt_ns = what.end_ns - what.begin_ns;
	}
}

static gint64
overlap(gint64 begin_ns, gint64 end_ns, gint64 from_ns, gint64 to_ns)
{
	return MAX(MIN(end_ns, to_ns) - MAX(begin_ns, from_ns), 0);
}

/* BEGIN_NS to END_NS, inside SPAN, is no part of what the call itself took. */
static void
take_off(WpSpent *spent, const WpSpan *span, const WpSpanParts *whole, gint64 begin_ns,
	 gint64 end_ns)
{
	gint64 asked_ns = span->call_ns + whole->request_ns;
	gint64 answered_ns = asked_ns + whole->server_ns;

	spent->parts.request_ns -= overlap(begin_ns, end_ns, span->call_ns, asked_ns);
	spent->parts.server_ns -= overlap(begin_ns, end_ns, asked_ns, answered_ns);
	spent->parts.reply_ns -= overlap(begin_ns, end_ns, answered_ns, span->return_ns);
}

static void
clip_stalls(WpSpent *spent, const WpSpan *span)
{
	const WpSpanParts whole = spent->parts;
	gint64 at_ns = span->call_ns;

	for (guint i = 0; i < spent->n_stalls; i++) {
		WpSpentStall *stall = &spent->stalls[i];
		gint64 begin_ns = MAX(stall->what.begin_ns, at_ns);
		gint64 end_ns = MIN(stall->what.end_ns, span->return_ns);
		if (end_ns <= begin_ns)
			continue;
		stall->held_ns = end_ns - begin_ns;
		spent->stall_ns += stall->held_ns;
		take_off(spent, span, &whole, begin_ns, end_ns);
		at_ns = end_ns;
	}
}

void
wp_spent_read(const WpTrace *trace, const WpSpan *span, WpSpent *out_spent)
{
	const WpRecord *records = wp_trace_records(trace);
	const WpRecord *call = &records[span->call_record];
	gboolean is_paired = wp_span_is_paired(span);

	out_spent->parts = is_paired ? wp_span_parts(span) : (WpSpanParts){ 0 };
	out_spent->stall_ns = out_spent->client_rtt_ns = out_spent->server_rtt_ns = 0;
	out_spent->n_stalls = 0;
	out_spent->connect.kind = out_spent->setup.kind = WP_N_TRANSPORTS;
	take_record(trace, call, out_spent);
	if (span->return_record != G_MAXUINT32)
		take_record(trace, &records[span->return_record], out_spent);
	for (guint i = 0; i < out_spent->n_stalls; i++)
		out_spent->stalls[i].is_setup = out_spent->stalls[i].what.end_ns <= span->call_ns;
	if (is_paired)
		clip_stalls(out_spent, span);
}

/* --- connecting, as the caller sees it --- */

typedef struct {
	gint64 begin_ns;
	gint64 end_ns;
} Interval;

static int
compare_begins(gconstpointer a, gconstpointer b)
{
	const Interval *x = a, *y = b;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* What INTERVALS cover together. */
static gint64
cover(GArray *intervals)
{
	gint64 sum = 0, until = G_MININT64;

	g_array_sort(intervals, compare_begins);
	for (guint i = 0; i < intervals->len; i++) {
		const Interval *at = &g_array_index(intervals, Interval, i);
		gint64 begin_ns = MAX(at->begin_ns, until);
		sum += MAX(at->end_ns - begin_ns, 0);
		until = MAX(until, at->end_ns);
	}
	return sum;
}

static void
add_interval(GArray *intervals, const Interval *within, gint64 begin_ns, gint64 end_ns)
{
	const Interval clipped = { MAX(begin_ns, within->begin_ns), MIN(end_ns, within->end_ns) };
	if (clipped.end_ns > clipped.begin_ns)
		g_array_append_val(intervals, clipped);
}

/* From the first packet of the connection to the last of its set-up. FALSE: none was made, or not for this call. */
static gboolean
read_setup(const WpTrace *trace, const WpSpan *span, Interval *out_setup)
{
	WpSpent spent;

	if (wp_trace_records(trace)[span->call_record].n_transports == 0)
		return FALSE;
	wp_spent_read(trace, span, &spent);
	const WpTransport *first =
		spent.connect.kind != WP_N_TRANSPORTS ? &spent.connect : &spent.setup;
	const WpTransport *last =
		spent.setup.kind != WP_N_TRANSPORTS ? &spent.setup : &spent.connect;
	if (first->kind == WP_N_TRANSPORTS || last->end_ns < first->begin_ns ||
	    span->call_ns - last->end_ns > MAX(last->end_ns - first->begin_ns, SOON_NS))
		return FALSE;
	*out_setup = (Interval){ first->begin_ns, MIN(last->end_ns, span->call_ns) };
	return TRUE;
}

/* Most spans have no such children: they are passed over fast. */
static gboolean
has_transports(const WpTrace *trace, const WpSpans *spans, const guint32 *children, guint32 n)
{
	const WpRecord *records = wp_trace_records(trace);
	for (guint32 i = 0; i < n; i++)
		if (records[spans->spans[children[i]].call_record].n_transports > 0)
			return TRUE;
	return FALSE;
}

gint64
wp_spent_connecting_ns(const WpTrace *trace, const WpSpans *spans, const WpPaths *paths,
		       guint32 number)
{
	const WpSpan *span = &spans->spans[number];
	const guint32 *children = paths->children + paths->child_at[number];
	guint32 n = paths->child_at[number + 1] - paths->child_at[number];
	g_autoptr(GArray) intervals = g_array_new(FALSE, FALSE, sizeof(Interval));
	Interval setup, within = { wp_span_served_ns(span), paths->end_ns[number] };

	if (within.end_ns == WP_NO_TIME || !has_transports(trace, spans, children, n))
		return 0;
	if (span->kind != WP_KIND_MESSAGE)
		within.end_ns = wp_span_replied_ns(span);
	for (guint32 i = 0; i < n; i++)
		if (read_setup(trace, &spans->spans[children[i]], &setup))
			add_interval(intervals, &within, setup.begin_ns, setup.end_ns);
	if (intervals->len == 0)
		return 0;
	/* A child without an end covers nothing, as for self times. */
	guint n_setups = intervals->len;
	for (guint32 i = 0; i < n; i++)
		if (paths->end_ns[children[i]] != WP_NO_TIME)
			add_interval(intervals, &within, spans->spans[children[i]].call_ns,
				     paths->end_ns[children[i]]);
	g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(Interval));
	if (intervals->len > n_setups)
		g_array_append_vals(calls, &g_array_index(intervals, Interval, n_setups),
				    intervals->len - n_setups);
	return cover(intervals) - cover(calls);
}
