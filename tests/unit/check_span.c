/* Spans: which return belongs to which call. */
#include "infer/span.h"

#include "tests/support/suite.h"

typedef struct {
	char kind; /* C, R, M */
	const char *from, *to;
	guint64 id;
	gint64 at;
	guint marks;
} Row;

static WpTrace *
trace_of(const Row *rows, gsize n)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpTrace *trace = wp_trace_new(nodes);
	WpRecordSink *sink = wp_trace_sink(trace);

	ck_assert(wp_sink_begin(sink, nodes, NULL));
	for (gsize i = 0; i < n && rows[i].kind; i++) {
		WpRecord record = {
			.kind = rows[i].kind == 'C'   ? WP_KIND_CALL
				: rows[i].kind == 'R' ? WP_KIND_RETURN
						      : WP_KIND_MESSAGE,
			.id = rows[i].id,
			.begin_ns = rows[i].at,
			.end_ns = rows[i].at + 1,
			.sender = wp_nodes_by_key(nodes, rows[i].from),
			.receiver = wp_nodes_by_key(nodes, rows[i].to),
			.marks = (guint8)rows[i].marks,
			.status = rows[i].kind == 'R' ? WP_STATUS_ERROR : WP_STATUS_UNKNOWN,
		};
		ck_assert(wp_sink_record(sink, &record, NULL, NULL));
	}
	ck_assert(wp_sink_end(sink, NULL));
	return trace;
}

/* "call-return" of each span in order, return "?" where there is none. */
static char *
spans_text(const WpSpans *spans)
{
	GString *text = g_string_new(NULL);
	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		g_string_append_printf(text, "%s%" G_GINT64_FORMAT "-", i ? " " : "",
				       span->call_ns);
		if (span->return_ns == WP_NO_TIME)
			g_string_append_c(text, '?');
		else
			g_string_append_printf(text, "%" G_GINT64_FORMAT, span->return_begin_ns);
	}
	return g_string_free(text, FALSE);
}

START_TEST(returns_find_their_calls)
{
	static const struct {
		const char *why;
		Row rows[8];
		const char *spans;
		guint n_unpaired;
	} cases[] = {
		{ "by id, out of order",
		  { { 'C', "a", "b", 1, 1, 0 },
		    { 'C', "a", "b", 2, 2, 0 },
		    { 'R', "b", "a", 2, 3, 0 },
		    { 'R', "b", "a", 1, 4, 0 } },
		  "1-4 2-3",
		  0 },
		{ "by id and nodes: the same id between others",
		  { { 'C', "a", "b", 1, 1, 0 },
		    { 'C', "a", "c", 1, 2, 0 },
		    { 'C', "b", "a", 1, 3, 0 },
		    { 'R', "c", "a", 1, 4, 0 },
		    { 'R', "a", "b", 1, 5, 0 },
		    { 'R', "b", "a", 1, 6, 0 } },
		  "1-6 2-4 3-5",
		  0 },
		{ "ids that repeat: first in, first out",
		  { { 'C', "a", "b", 0, 1, 0 },
		    { 'C', "a", "b", 0, 2, 0 },
		    { 'C', "a", "b", 0, 3, 0 },
		    { 'R', "b", "a", 0, 4, 0 },
		    { 'R', "b", "a", 0, 5, 0 },
		    { 'C', "a", "b", 0, 6, 0 },
		    { 'R', "b", "a", 0, 7, 0 } },
		  "1-4 2-5 3-7 6-?",
		  0 },
		{ "returns without a call are counted",
		  { { 'R', "b", "a", 1, 1, 0 },
		    { 'C', "a", "b", 1, 2, 0 },
		    { 'R', "b", "a", 1, 3, 0 },
		    { 'R', "b", "a", 1, 4, 0 } },
		  "2-3",
		  2 },
		{ "messages are never paired",
		  { { 'M', "a", "b", 1, 1, 0 }, { 'R', "b", "a", 1, 2, 0 } },
		  "1-?",
		  1 },
		{ "records that come late are in time again",
		  { { 'C', "a", "b", 2, 9, 0 },
		    { 'C', "a", "b", 1, 1, 0 },
		    { 'R', "b", "a", 1, 5, 0 },
		    { 'R', "b", "a", 2, 12, 0 } },
		  "1-5 9-12",
		  0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(WpTrace) trace = trace_of(cases[i].rows, G_N_ELEMENTS(cases[i].rows));
		g_autoptr(WpSpans) spans = wp_spans_new(trace);
		g_autofree char *text = spans_text(spans);
		ck_assert_msg(g_str_equal(text, cases[i].spans), "%s: %s", cases[i].why, text);
		ck_assert_uint_eq(spans->n_unpaired_returns, cases[i].n_unpaired);
	}
}
END_TEST

/* A return whose end was not seen: what it says is known, but not how long the call took. */
START_TEST(cut_return)
{
	static const Row rows[] = {
		{ 'C', "a", "b", 7, 10, 0 },
		{ 'R', "b", "a", 7, 20, WP_MARK_CUT },
	};
	g_autoptr(WpTrace) trace = trace_of(rows, G_N_ELEMENTS(rows));
	g_autoptr(WpSpans) spans = wp_spans_new(trace);
	const WpSpan *span = &spans->spans[0];

	ck_assert(!wp_span_is_paired(span));
	ck_assert_int_eq(span->return_begin_ns, 20);
	ck_assert_int_eq(span->status, WP_STATUS_ERROR);
	ck_assert_uint_eq(spans->n_unpaired_returns, 0);
}
END_TEST

START_TEST(fields)
{
	static const Row rows[] = {
		{ 'C', "a", "b", 7, 10, WP_MARK_WAIT },
		{ 'C', "a", "b", 8, 11, 0 },
		{ 'R', "b", "a", 7, 20, WP_MARK_SETUP },
	};
	g_autoptr(WpTrace) trace = trace_of(rows, G_N_ELEMENTS(rows));
	g_autoptr(WpSpans) spans = wp_spans_new(trace);
	const WpSpan *span = &spans->spans[0];

	ck_assert_int_eq(span->call_end_ns, 11);
	ck_assert_int_eq(span->return_ns, 21);
	ck_assert_int_eq(span->marks, WP_MARK_WAIT | WP_MARK_SETUP);
	ck_assert_int_eq(span->status, WP_STATUS_ERROR);
	ck_assert_uint_eq(span->call_record, 0);
	ck_assert_uint_eq(span->return_record, 2);
	ck_assert_uint_eq(span->caller_host, span->caller);
	ck_assert(wp_span_is_paired(span));
	ck_assert(!wp_span_is_paired(&spans->spans[1]));
	ck_assert_uint_eq(spans->spans[1].return_record, G_MAXUINT32);
	ck_assert_int_eq(spans->spans[1].status, WP_STATUS_UNKNOWN);
}
END_TEST

/*
 * Many open at once, closed in an order that leaves holes everywhere in the table: every return still
 * finds its call.
 */
START_TEST(table_survives_removal)
{
	enum {
		N = 3000
	};
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	WpRecordSink *sink = wp_trace_sink(trace);
	guint32 a = wp_nodes_by_key(nodes, "a"), b = wp_nodes_by_key(nodes, "b");

	ck_assert(wp_sink_begin(sink, nodes, NULL));
	for (guint i = 0; i < N; i++) {
		WpRecord call = { .kind = WP_KIND_CALL,
				  .id = i,
				  .begin_ns = i,
				  .end_ns = i,
				  .sender = a,
				  .receiver = b };
		ck_assert(wp_sink_record(sink, &call, NULL, NULL));
		guint back = i * 7 % N; /* 7 does not divide N */
		WpRecord answer = { .kind = WP_KIND_RETURN,
				    .id = back,
				    .begin_ns = N + i,
				    .end_ns = N + i,
				    .sender = b,
				    .receiver = a };
		ck_assert(wp_sink_record(sink, &answer, NULL, NULL));
	}
	ck_assert(wp_sink_end(sink, NULL));
	g_autoptr(WpSpans) spans = wp_spans_new(trace);
	ck_assert_uint_eq(spans->n, N);
	ck_assert_uint_eq(spans->n_unpaired_returns, 0);
	for (guint32 i = 0; i < N; i++)
		ck_assert_int_eq((spans->spans[i].return_ns - N) * 7 % N, spans->spans[i].call_ns);
}
END_TEST

/* Times at the ends of what a file can say leave room for differences. */
START_TEST(far_times)
{
	static const Row rows[] = { { 'C', "a", "b", 1, G_MININT64 + 1, 0 },
				    { 'R', "b", "a", 1, G_MAXINT64 - 1, 0 } };
	g_autoptr(WpTrace) trace = trace_of(rows, G_N_ELEMENTS(rows));
	g_autoptr(WpSpans) spans = wp_spans_new(trace);
	gint64 length;
	ck_assert(!__builtin_sub_overflow(spans->spans[0].return_ns, spans->spans[0].call_ns,
					  &length));
}
END_TEST

/*
 *   caller   |100 call ---------------------- 200|       at the caller
 *   callee       |110 .......... 190|                     at the callee
 */
START_TEST(both_ends)
{
	static const struct {
		gboolean is_call_both, is_return_both;
		gint64 way_in, way_out;
		gint64 call, served, replied, returned; /* expected; the reply is sent at 190 */
	} rows[] = {
		{ TRUE, TRUE, 10, 10, 100, 110, 190, 200 },
		{ TRUE, FALSE, 10, 10, 100, 110, 190, 190 },
		{ FALSE, TRUE, 10, 10, 100, 100, 190, 200 },
		{ FALSE, FALSE, 10, 10, 100, 100, 190, 190 },
		{ TRUE, TRUE, -2, 10, 100, 98, 190, 200 },
		/* Nothing is answered before it is asked: such clocks say nothing. */
		{ TRUE, TRUE, 95, 10, 100, 100, 190, 190 },
		{ TRUE, TRUE, 10, -95, 100, 100, 190, 190 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpNodes) nodes = wp_nodes_new();
		g_autoptr(WpTrace) trace = wp_trace_new(nodes);
		WpRecordSink *sink = wp_trace_sink(trace);
		guint32 a = wp_nodes_by_key(nodes, "a"), b = wp_nodes_by_key(nodes, "b");
		WpRecord call = {
			.id = 1, .begin_ns = 100, .end_ns = 105, .sender = a, .receiver = b
		};
		WpRecord answer = { .kind = WP_KIND_RETURN,
				    .id = 1,
				    .begin_ns = 180,
				    .end_ns = 190,
				    .sender = b,
				    .receiver = a };
		call.begin_way_ns = call.end_way_ns = rows[i].way_in;
		answer.begin_way_ns = answer.end_way_ns = rows[i].way_out;
		call.marks = rows[i].is_call_both ? WP_MARK_BOTH_ENDS : 0;
		answer.marks = rows[i].is_return_both ? WP_MARK_BOTH_ENDS : 0;
		ck_assert(wp_sink_begin(sink, nodes, NULL));
		ck_assert(wp_sink_record(sink, &call, NULL, NULL));
		ck_assert(wp_sink_record(sink, &answer, NULL, NULL));
		ck_assert(wp_sink_end(sink, NULL));
		g_autoptr(WpSpans) spans = wp_spans_new(trace);
		const WpSpan *span = &spans->spans[0];
		ck_assert_int_eq(span->call_ns, rows[i].call);
		ck_assert_int_eq(wp_span_served_ns(span), rows[i].served);
		ck_assert_int_eq(wp_span_replied_ns(span), rows[i].replied);
		ck_assert_int_eq(span->return_ns, rows[i].returned);
	}
}
END_TEST

WP_SUITE("span", returns_find_their_calls, fields, cut_return, table_survives_removal, far_times,
	 both_ends)
