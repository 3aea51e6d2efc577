/* Keys and connections of spans against those of records; see span-join.h. Linear but for sorting. */
#include "capture/span-join.h"

#include <string.h>

/* Spans by a clock that is further off are taken for those of another run. */
#define MAX_APART_NS (10 * G_GUINT64_CONSTANT(1000000000))

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

/* --- what is alike --- */

/* How calls of spans and records are known to be the same. */
typedef struct {
	int (*compare)(const Known *, const Known *);
	guint most; /* so many alike on either side; as many on both are paired in the order of time */
	guint64 apart_ns; /* so far apart the first two may be */
} Way;

static int
compare_keys(const Known *x, const Known *y)
{
	return (x->key > y->key) - (x->key < y->key);
}

static int
compare_clients(const Known *x, const Known *y)
{
	int order = memcmp(x->client.address, y->client.address, sizeof x->client.address);
	return order ? order : (int)x->client.port - (int)y->client.port;
}

/* A key is of one call; on a connection they come one after the other. */
static const Way ways[] = { { compare_keys, 1, G_MAXUINT64 },
			    { compare_clients, G_MAXUINT, MAX_APART_NS } };

static int
compare_known(gconstpointer a, gconstpointer b, gpointer data)
{
	const Way *way = data;
	const Known *x = a, *y = b;
	int order = way->compare(x, y);
	if (order)
		return order;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static guint
count_alike(const Way *way, const GArray *known, guint first)
{
	const Known *all = (const Known *)(gpointer)known->data;
	guint n = 1;
	while (first + n < known->len && way->compare(&all[first], &all[first + n]) == 0)
		n++;
	return n;
}

/* In ns; times of any files may be further apart than a signed number holds. */
static guint64
apart(const Known *x, const Known *y)
{
	return x->begin_ns > y->begin_ns ? (guint64)x->begin_ns - (guint64)y->begin_ns
					 : (guint64)y->begin_ns - (guint64)x->begin_ns;
}

static void
pair_alike(Join *join, const Way *way, const GArray *told, const GArray *shown)
{
	for (guint i = 0, k = 0; i < told->len && k < shown->len;) {
		const Known *calls = &g_array_index(told, Known, i);
		const Known *records = &g_array_index(shown, Known, k);
		int order = way->compare(calls, records);
		guint n_calls = order == 0 ? count_alike(way, told, i) : order < 0;
		guint n_records = order == 0 ? count_alike(way, shown, k) : order > 0;
		gboolean fits = order == 0 && n_calls == n_records && n_calls <= way->most &&
				apart(calls, records) <= way->apart_ns;
		for (guint at = 0; at < n_calls && fits; at++)
			pair_up(join, calls[at].number, records[at].number);
		i += n_calls;
		k += n_records;
	}
}

/* --- both sides --- */

/* What has neither key nor port is not known. */
static void
add_known(GArray *all, Known known)
{
	if (known.key || known.client.port)
		g_array_append_val(all, known);
}

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
		add_known(told, known);
	}
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
		add_known(shown, known);
	}
	return shown;
}

static void
pair_all(Join *join)
{
	for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
		g_autoptr(GArray) told = calls_told(join, i == 1);
		g_autoptr(GArray) shown = records_shown(join, i == 1);
		g_array_sort_with_data(told, compare_known, (gpointer)&ways[i]);
		g_array_sort_with_data(shown, compare_known, (gpointer)&ways[i]);
		pair_alike(join, &ways[i], told, shown);
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
