/*
 * A span is found by its key in an order of all spans by key. The parent of a call is the nearest span above it that is
 * itself a call into its service; found for each span once, as all below it share the answer.
 *
 *   shop  |------- server: a call -----------------|
 *             |-- internal ----------------|
 *                |-- client ----------|                 the two ends of
 *   db              |-- server ----|                    one call, caused by the first
 */
#include "capture/span-calls.h"

#include <stdlib.h>
#include <string.h>

#define CLIENT  "client"
#define UNKNOWN "unknown"

/* While it is being looked for. */
#define PENDING (G_MAXUINT32 - 1)

typedef struct {
	WpReadSpans *all;
	WpReadSpan *spans;
	guint32 n;
	guint32 *order;   /* spans by key, then number */
	guint32 *parents; /* span or NONE */
	guint32 *clients; /* by span: its other end, or NONE */
	guint8 *is_taken; /* client spans that are the other end of one */
	guint32 *tops;    /* by span: the call into a service that it is part of, or NONE */
	guint32 *calls;   /* by span: number of its call, or NONE */
} Builder;

static int
compare_keys(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpReadSpan *spans = data;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	if (spans[i].key != spans[j].key)
		return spans[i].key < spans[j].key ? -1 : 1;
	return i < j ? -1 : i > j;
}

static guint32 *
new_numbers(guint32 n, guint32 value)
{
	guint32 *numbers = g_new(guint32, MAX(n, 1));
	for (guint32 i = 0; i < n; i++)
		numbers[i] = value;
	return numbers;
}

static void
builder_init(Builder *builder, WpReadSpans *all)
{
	guint32 n = all->spans->len;
	*builder = (Builder){ .all = all,
			      .spans = (WpReadSpan *)(gpointer)all->spans->data,
			      .n = n,
			      .order = new_numbers(n, 0),
			      .parents = new_numbers(n, WP_SPAN_NONE),
			      .clients = new_numbers(n, WP_SPAN_NONE),
			      .is_taken = g_malloc0(MAX(n, 1)),
			      .tops = new_numbers(n, PENDING),
			      .calls = new_numbers(n, WP_SPAN_NONE) };
	for (guint32 i = 0; i < n; i++)
		builder->order[i] = i;
	if (n)
		g_qsort_with_data(builder->order, (gint)n, sizeof *builder->order, compare_keys,
				  builder->spans);
}

static void
builder_clear(Builder *builder)
{
	g_free(builder->order);
	g_free(builder->parents);
	g_free(builder->clients);
	g_free(builder->is_taken);
	g_free(builder->tops);
	g_free(builder->calls);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Builder, builder_clear)

/* Place in the order of the first span with KEY, or where it would be. */
static guint32
find_key(const Builder *builder, guint64 key)
{
	guint32 low = 0, high = builder->n;
	while (low < high) {
		guint32 middle = low + (high - low) / 2;
		if (builder->spans[builder->order[middle]].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static gboolean
is_callee_kind(guint8 kind)
{
	return kind == WP_SPAN_SERVER || kind == WP_SPAN_CONSUMER;
}

static gboolean
is_caller_kind(guint8 kind)
{
	return kind == WP_SPAN_CLIENT || kind == WP_SPAN_PRODUCER;
}

/* Ids that come more often are looked at so far: they are made up, or a mistake. */
#define MAX_SAME 64

/*
 * The span with KEY that is the parent of CHILD. Both ends of a call may have one id (Zipkin): the caller's end is the parent of the
 * callee's, and that of what is below.
 */
static guint32
find_span(const Builder *builder, guint64 key, guint32 child)
{
	const WpReadSpan *below = &builder->spans[child];
	guint32 best = WP_SPAN_NONE;
	int best_score = -1;
	guint32 first = find_key(builder, key);
	for (guint32 k = first; k < builder->n && k < first + MAX_SAME; k++) {
		guint32 i = builder->order[k];
		const WpReadSpan *span = &builder->spans[i];
		if (span->key != key)
			break;
		int score = is_callee_kind(below->kind) ? 2 * is_caller_kind(span->kind)
							: 2 * (span->service == below->service) +
								  is_callee_kind(span->kind);
		if (i == child || score <= best_score)
			continue;
		best = i;
		best_score = score;
	}
	return best;
}

static void
find_parents(Builder *builder)
{
	for (guint32 i = 0; i < builder->n; i++) {
		const WpReadSpan *span = &builder->spans[i];
		guint32 same = span->is_shared && is_callee_kind(span->kind)
				       ? find_span(builder, span->key, i)
				       : WP_SPAN_NONE;
		if (same != WP_SPAN_NONE && is_caller_kind(builder->spans[same].kind))
			builder->parents[i] = same;
		else if (span->parent)
			builder->parents[i] = find_span(builder, span->parent, i);
	}
}

/* A call into its service. Where a file does not tell, a span of another service than its parent's is one. */
static gboolean
is_served(const Builder *builder, guint32 i)
{
	const WpReadSpan *span = &builder->spans[i];
	guint32 parent = builder->parents[i];
	if (is_callee_kind(span->kind))
		return TRUE;
	if (is_caller_kind(span->kind))
		return FALSE;
	if (parent == WP_SPAN_NONE)
		return span->kind == WP_SPAN_UNTOLD;
	return builder->spans[parent].service != span->service;
}

/* A client span is the other end of one call at most: the first. */
static void
find_clients(Builder *builder)
{
	for (guint32 i = 0; i < builder->n; i++) {
		guint32 parent = builder->parents[i];
		if (parent == WP_SPAN_NONE || !is_served(builder, i) ||
		    !is_caller_kind(builder->spans[parent].kind) || builder->is_taken[parent])
			continue;
		builder->clients[i] = parent;
		builder->is_taken[parent] = 1;
	}
}

/* TOPS of I and all above it. A circle has none. */
static void
find_top(Builder *builder, guint32 i, GArray *way)
{
	g_array_set_size(way, 0);
	guint32 at = i, top = WP_SPAN_NONE;
	while (at != WP_SPAN_NONE && builder->tops[at] == PENDING) {
		/* What is on the way has NONE for now, which ends a circle. */
		builder->tops[at] = WP_SPAN_NONE;
		g_array_append_val(way, at);
		if (is_served(builder, at)) {
			top = at;
			break;
		}
		at = builder->parents[at];
	}
	if (top == WP_SPAN_NONE && at != WP_SPAN_NONE)
		top = builder->tops[at];
	for (guint k = 0; k < way->len; k++)
		builder->tops[g_array_index(way, guint32, k)] = top;
}

static guint32
intern(const Builder *builder, const char *text)
{
	return wp_strings_intern(wp_nodes_strings(builder->all->nodes), text, -1);
}

static guint32
caller_of(const Builder *builder, const WpReadSpan *span, guint32 above)
{
	if (span->peer)
		return span->peer;
	if (above != WP_SPAN_NONE && builder->spans[above].service)
		return builder->spans[above].service;
	return intern(builder, CLIENT);
}

/* A span at the called end. */
static WpSpanCall
served_call(const Builder *builder, guint32 i)
{
	const WpReadSpan *span = &builder->spans[i];
	return (WpSpanCall){
		.span = i,
		.client = builder->clients[i],
		.caller = caller_of(builder, span, builder->parents[i]),
		.callee = span->service ? span->service : intern(builder, UNKNOWN),
		.is_message = span->kind == WP_SPAN_CONSUMER,
	};
}

/* A span at the calling end, of which the other is not there. FALSE: nobody knows whom it called. */
static gboolean
sent_call(const Builder *builder, guint32 i, WpSpanCall *out_call)
{
	const WpReadSpan *span = &builder->spans[i];
	if (!is_caller_kind(span->kind) || builder->is_taken[i])
		return FALSE;
	if (!span->peer || span->peer == span->service) {
		wp_counters_add(builder->all->counters, WP_COUNT_SPANS_WITHOUT_PEER, 1);
		return FALSE;
	}
	*out_call = (WpSpanCall){
		.span = i,
		.client = WP_SPAN_NONE,
		.caller = span->service ? span->service : intern(builder, UNKNOWN),
		.callee = span->peer,
		.is_message = span->kind == WP_SPAN_PRODUCER,
	};
	return TRUE;
}

/* Parents as spans become parents as calls. */
static void
link_calls(const Builder *builder, GArray *calls)
{
	for (guint i = 0; i < calls->len; i++) {
		WpSpanCall *call = &g_array_index(calls, WpSpanCall, i);
		guint32 outer = call->client != WP_SPAN_NONE ? call->client : call->span;
		guint32 above = builder->parents[outer];
		guint32 top = above == WP_SPAN_NONE ? WP_SPAN_NONE : builder->tops[above];
		/* A call in a circle would be its own cause. */
		call->parent = top == WP_SPAN_NONE || top == call->span ? WP_SPAN_NONE
									: builder->calls[top];
	}
}

/* Ids that come again get a number. */
static void
make_ids_unique(const Builder *builder, GArray *calls)
{
	WpNodes *nodes = builder->all->nodes;
	gsize n = wp_strings_count(wp_nodes_strings(nodes));
	g_autofree guint8 *is_used = g_malloc0(n);
	for (guint i = 0; i < calls->len; i++) {
		WpSpanCall *call = &g_array_index(calls, WpSpanCall, i);
		call->id = builder->spans[call->span].id;
		if (is_used[call->id]) {
			g_autofree char *id =
				g_strdup_printf("%s#%u", wp_nodes_text(nodes, call->id), i + 1);
			call->id = intern(builder, id);
			continue;
		}
		is_used[call->id] = 1;
	}
}

static guint32 *
parts_of(const Builder *builder)
{
	guint32 *parts = new_numbers(builder->n, WP_SPAN_NONE);
	for (guint32 i = 0; i < builder->n; i++)
		if (builder->tops[i] != WP_SPAN_NONE)
			parts[i] = builder->calls[builder->tops[i]];
	return parts;
}

GArray *
wp_span_calls_new(WpReadSpans *spans, guint32 **out_parts)
{
	GArray *calls = g_array_new(FALSE, FALSE, sizeof(WpSpanCall));
	g_autoptr(GArray) way = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_auto(Builder) builder;
	WpSpanCall call;
	builder_init(&builder, spans);
	find_parents(&builder);
	find_clients(&builder);
	for (guint32 i = 0; i < builder.n; i++) {
		find_top(&builder, i, way);
		if (is_served(&builder, i))
			call = served_call(&builder, i);
		else if (!sent_call(&builder, i, &call))
			continue;
		builder.calls[i] = calls->len;
		g_array_append_val(calls, call);
	}
	wp_counters_add(spans->counters, WP_COUNT_SPANS_INNER, (guint64)builder.n - calls->len);
	link_calls(&builder, calls);
	make_ids_unique(&builder, calls);
	if (out_parts)
		*out_parts = parts_of(&builder);
	return calls;
}
