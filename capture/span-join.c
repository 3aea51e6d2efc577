/* Keys and connections of spans against those of records; see span-join.h. Linear but for sorting. */
#include "capture/span-join.h"

#include <stdlib.h>
#include <string.h>

/* Clocks that are further apart are not of the same hour, and spans not of the same run. */
#define MAX_APART_NS (10 * G_GINT64_CONSTANT(1000000000))

/* A call that a span or a record tells of, and what it is found by. */
typedef struct {
	guint64 key; /* of the caller's span */
	WpEndpoint client;
	gint64 begin_ns;
	guint32 number; /* of the call of spans, or of the record */
} Known;

typedef struct {
	const WpReadSpans *spans;
	const GArray *calls;
	const guint32 *parts;
	WpTrace *trace;
	const WpRecord *records;
	guint32 n_records;
	guint32 *seen_as;    /* by call of spans: its record, or WP_SPAN_NONE */
	guint32 *seen_by;    /* by record: its call of spans, likewise */
	guint64 *keys;       /* by record: of the span that it names; 0 = none */
	GHashTable *by_keys; /* of spans: number + 1 */
} Join;

static const WpReadSpan *
span_at(const Join *join, guint32 span)
{
	return &g_array_index(join->spans->spans, WpReadSpan, span);
}

static const WpSpanCall *
call_at(const Join *join, guint32 call)
{
	return &g_array_index(join->calls, WpSpanCall, call);
}

static gboolean
is_request(const WpRecord *record)
{
	return record->kind != WP_KIND_RETURN;
}

static guint64
key_of_record(const Join *join, guint32 number)
{
	WpTraceContext context;
	char text[WP_TRACE_CONTEXT_TEXT_MAX];
	const WpRecord *record = &join->records[number];

	if (!is_request(record) || !wp_trace_context(join->trace, record, &context))
		return 0;
	wp_trace_context_text(&context, text, sizeof text);
	char *dash = strchr(text, '-');
	*dash = '\0';
	return wp_read_span_key(text, dash + 1);
}

/* The caller's own span, whether that is among the spans or not. */
static guint64
key_of_call(const Join *join, const WpSpanCall *call)
{
	const WpReadSpan *span = span_at(join, call->span);
	if (call->client != WP_SPAN_NONE)
		return span_at(join, call->client)->key;
	gboolean is_caller = span->kind == WP_SPAN_CLIENT || span->kind == WP_SPAN_PRODUCER;
	return is_caller || span->is_shared ? span->key : span->parent;
}

static void
pair_up(Join *join, guint32 call, guint32 record)
{
	if (join->seen_as[call] != WP_SPAN_NONE || join->seen_by[record] != WP_SPAN_NONE)
		return;
	join->seen_as[call] = record;
	join->seen_by[record] = call;
}

/* --- by what requests name --- */

static int
compare_keys(gconstpointer a, gconstpointer b)
{
	const Known *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* How many from FIRST on COMPARE finds alike; their numbers do not count. */
static guint
count_alike(const GArray *known, guint first, gboolean (*is_alike)(const Known *, const Known *))
{
	guint n = 1;
	const Known *all = (const Known *)(gpointer)known->data;
	while (first + n < known->len && is_alike(&all[first], &all[first + n]))
		n++;
	return n;
}

static gboolean
has_same_key(const Known *a, const Known *b)
{
	return a->key == b->key;
}

/* Where one call of spans and one record have a key, they are the same. */
static void
pair_by_keys(Join *join, const GArray *told, const GArray *shown)
{
	const Known *calls = (const Known *)(gpointer)told->data;
	const Known *records = (const Known *)(gpointer)shown->data;
	for (guint i = 0, k = 0; i < told->len && k < shown->len;) {
		guint n_calls = count_alike(told, i, has_same_key);
		guint n_records = count_alike(shown, k, has_same_key);
		if (calls[i].key == records[k].key && calls[i].key && n_calls == 1 &&
		    n_records == 1)
			pair_up(join, calls[i].number, records[k].number);
		guint64 call_key = calls[i].key, record_key = records[k].key;
		i += call_key <= record_key ? n_calls : 0;
		k += record_key <= call_key ? n_records : 0;
	}
}

/* --- by connections --- */

static int
compare_clients(const Known *x, const Known *y)
{
	int order = memcmp(x->client.address, y->client.address, sizeof x->client.address);
	return order ? order : (int)x->client.port - (int)y->client.port;
}

static int
compare_flows(gconstpointer a, gconstpointer b)
{
	const Known *x = a, *y = b;
	int order = compare_clients(x, y);
	if (order)
		return order;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static gboolean
has_same_client(const Known *a, const Known *b)
{
	return compare_clients(a, b) == 0;
}

/* As many on both sides: one after the other. */
static void
pair_by_flows(Join *join, const GArray *told, const GArray *shown)
{
	const Known *calls = (const Known *)(gpointer)told->data;
	const Known *records = (const Known *)(gpointer)shown->data;
	for (guint i = 0, k = 0; i < told->len && k < shown->len;) {
		guint n_calls = count_alike(told, i, has_same_client);
		guint n_records = count_alike(shown, k, has_same_client);
		int order = compare_clients(&calls[i], &records[k]);
		gint64 apart_ns = calls[i].begin_ns - records[k].begin_ns;
		if (order == 0 && n_calls == n_records && ABS(apart_ns) < MAX_APART_NS)
			for (guint at = 0; at < n_calls; at++)
				pair_up(join, calls[i + at].number, records[k + at].number);
		i += order <= 0 ? n_calls : 0;
		k += order >= 0 ? n_records : 0;
	}
}

/* --- both sides --- */

/* (transfer full) Of Known: the calls of spans, with keys or with clients. */
static GArray *
calls_told(const Join *join, gboolean with_clients)
{
	GArray *told = g_array_new(FALSE, TRUE, sizeof(Known));
	for (guint32 i = 0; i < join->calls->len; i++) {
		const WpSpanCall *call = call_at(join, i);
		const WpReadSpan *span = span_at(join, call->span);
		Known known = { .begin_ns = span->begin_ns, .number = i };
		if (!with_clients)
			known.key = key_of_call(join, call);
		else if (span->more)
			known.client =
				g_array_index(join->spans->more, WpReadSpanMore, span->more - 1)
					.client;
		if (with_clients ? known.client.port != 0 : known.key != 0)
			g_array_append_val(told, known);
	}
	g_array_sort(told, with_clients ? compare_flows : compare_keys);
	return told;
}

static GArray *
records_shown(const Join *join, gboolean with_clients)
{
	GArray *shown = g_array_new(FALSE, TRUE, sizeof(Known));
	for (guint32 i = 0; i < join->n_records; i++) {
		const WpRecord *record = &join->records[i];
		Known known = { .begin_ns = record->begin_ns, .number = i };
		if (!is_request(record) || record->marks & WP_MARK_SETUP)
			continue;
		if (with_clients)
			known.client = record->src;
		else
			known.key = join->keys[i];
		if (with_clients ? known.client.port != 0 : known.key != 0)
			g_array_append_val(shown, known);
	}
	g_array_sort(shown, with_clients ? compare_flows : compare_keys);
	return shown;
}

static void
pair_all(Join *join)
{
	for (guint with_clients = 0; with_clients < 2; with_clients++) {
		g_autoptr(GArray) told = calls_told(join, with_clients != 0);
		g_autoptr(GArray) shown = records_shown(join, with_clients != 0);
		(with_clients ? pair_by_flows : pair_by_keys)(join, told, shown);
	}
}

/* The call of spans that caused RECORD, or WP_SPAN_NONE. */
static guint32
cause_of(const Join *join, guint32 record)
{
	gpointer span =
		join->keys[record] ? g_hash_table_lookup(join->by_keys, &join->keys[record]) : NULL;
	if (span)
		return join->parts[GPOINTER_TO_UINT(span) - 1];
	guint32 call = join->seen_by[record];
	return call == WP_SPAN_NONE ? WP_SPAN_NONE : call_at(join, call)->parent;
}

/* Nothing comes before its cause. */
static void
set_causes(Join *join)
{
	guint64 n = 0;
	for (guint32 i = 0; i < join->n_records; i++) {
		guint32 call = is_request(&join->records[i]) ? cause_of(join, i) : WP_SPAN_NONE;
		guint32 cause = call == WP_SPAN_NONE ? WP_SPAN_NONE : join->seen_as[call];
		if (cause != WP_SPAN_NONE && cause < i)
			n += (guint64)wp_trace_set_cause(join->trace, i, join->records[cause].id);
	}
	wp_counters_add(join->spans->counters, WP_COUNT_SPANS_CAUSES, n);
}

/* Where two spans have one id (Zipkin), the caller's. */
static void
index_spans(Join *join)
{
	for (guint32 i = 0; i < join->spans->spans->len; i++) {
		const WpReadSpan *span = span_at(join, i);
		if (span->kind == WP_SPAN_CLIENT ||
		    !g_hash_table_contains(join->by_keys, &span->key))
			g_hash_table_insert(join->by_keys, (gpointer)&span->key,
					    GUINT_TO_POINTER(i + 1));
	}
}

static guint32 *
new_numbers(gsize n)
{
	guint32 *numbers = g_new(guint32, MAX(n, 1));
	for (gsize i = 0; i < n; i++)
		numbers[i] = WP_SPAN_NONE;
	return numbers;
}

void
wp_span_join(const WpReadSpans *spans, const GArray *calls, const guint32 *parts, WpTrace *trace)
{
	Join join = { .spans = spans,
		      .calls = calls,
		      .parts = parts,
		      .trace = trace,
		      .records = wp_trace_records(trace),
		      .n_records = (guint32)wp_trace_n_records(trace) };
	guint64 n_seen = 0;

	join.seen_as = new_numbers(calls->len);
	join.seen_by = new_numbers(join.n_records);
	join.keys = g_new0(guint64, MAX(join.n_records, 1));
	join.by_keys = g_hash_table_new(g_int64_hash, g_int64_equal);
	for (guint32 i = 0; i < join.n_records; i++)
		join.keys[i] = key_of_record(&join, i);
	index_spans(&join);
	pair_all(&join);
	set_causes(&join);
	for (guint32 i = 0; i < calls->len; i++)
		n_seen += join.seen_as[i] != WP_SPAN_NONE;
	wp_counters_add(spans->counters, WP_COUNT_SPANS_SEEN, n_seen);
	wp_counters_add(spans->counters, WP_COUNT_SPANS_UNSEEN, calls->len - n_seen);
	g_free(join.seen_as);
	g_free(join.seen_by);
	g_free(join.keys);
	g_hash_table_unref(join.by_keys);
}
