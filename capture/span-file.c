/* Calls of spans as records in order of time; see span-file.h. */
#include "capture/span-file.h"

#include <stdlib.h>
#include <string.h>

#include "capture/span-calls.h"
#include "capture/span-join.h"
#include "capture/trace.h"

typedef struct {
	gint64 time_ns;
	guint32 call;
	guint32 is_return;
} Event;

typedef struct {
	const WpSpanFileOptions *options;
	WpReadSpans spans;
	WpCounters *counters;
	GArray *calls;     /* WpSpanCall */
	GHashTable *flows; /* hash of both ends -> number */
	WpInput *input;    /* the one at hand */
	gboolean is_stopped;
} Files;

/* --- what it is --- */

static gboolean
has_text(const guint8 *head, gsize length, const char *text)
{
	return g_strstr_len((const char *)head, (gssize)length, text) != NULL;
}

gboolean
wp_span_file_is_spans(const guint8 *head, gsize length)
{
	static const char *const marks[] = { "\"resourceSpans\"", "\"batches\"", "\"traceID\"",
					     "\"traceId\"" };
	gsize at = length >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	while (at < length && g_ascii_isspace((char)head[at]))
		at++;
	if (at == length || (head[at] != '{' && head[at] != '['))
		return FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(marks); i++)
		if (has_text(head + at, length - at, marks[i]))
			return TRUE;
	/* A page of Jaeger without a trace, or with much before the first. */
	return head[at] == '{' && has_text(head + at, MIN(length - at, 16), "\"data\"");
}

/* --- reading --- */

static gboolean
on_progress(gpointer data)
{
	Files *files = data;
	guint64 read, size;
	if (!files->options->progress)
		return TRUE;
	wp_input_progress(files->input, &read, &size);
	if (!files->options->progress(read, size, files->spans.spans->len,
				      files->options->progress_data))
		files->is_stopped = TRUE;
	return !files->is_stopped;
}

static gboolean
read_files(Files *files, const char *const *paths, gsize n, GError **error)
{
	gboolean ok = TRUE;
	for (gsize i = 0; i < n && ok && !files->is_stopped; i++) {
		g_autoptr(WpInput) input =
			wp_input_open_or_take(paths[i], files->options->standard_input, error);
		if (!input)
			return FALSE;
		files->input = input;
		ok = wp_read_spans_add(&files->spans, input,
				       strcmp(paths[i], "-") == 0 ? "standard input" : paths[i],
				       on_progress, files, error);
	}
	wp_counters_add(files->counters, WP_COUNT_INPUT_STOPPED, files->is_stopped);
	return ok;
}

/* --- records --- */

static const WpReadSpan *
span_at(const Files *files, guint32 span)
{
	return span == WP_SPAN_NONE ? NULL : &g_array_index(files->spans.spans, WpReadSpan, span);
}

static const WpReadSpanMore *
more_of(const Files *files, const WpReadSpan *span)
{
	return span->more ? &g_array_index(files->spans.more, WpReadSpanMore, span->more - 1)
			  : NULL;
}

/*
 * Clocks so far apart that the two ends of a call do not even overlap: a return would come before its call. Then the
 * caller's is believed.
 */
static gboolean
is_apart(const Files *files, const WpSpanCall *call)
{
	const WpReadSpan *span = span_at(files, call->span);
	const WpReadSpan *client = span_at(files, call->client);
	return client && (span->end_ns < client->begin_ns || span->begin_ns > client->end_ns);
}

/* The span that the times at the called end are of. */
static const WpReadSpan *
timed_span(const Files *files, const WpSpanCall *call)
{
	return span_at(files, is_apart(files, call) ? call->client : call->span);
}

/* When the call left its caller. */
static gint64
begin_of(const Files *files, const WpSpanCall *call)
{
	const WpReadSpan *client = span_at(files, call->client);
	return client ? client->begin_ns : span_at(files, call->span)->begin_ns;
}

static gboolean
has_return(const Files *files, const WpSpanCall *call)
{
	return !call->is_message && !span_at(files, call->span)->no_return;
}

/* From the first byte to the last of a message; never longer than the span. */
static gint64
transfer_ns(const Files *files, const WpSpanCall *call, gboolean is_return)
{
	const WpReadSpan *span = timed_span(files, call);
	const WpReadSpanMore *more = more_of(files, span);
	gint64 ns = !more ? 0 : is_return ? more->reply_ns : more->request_ns;
	return MIN(ns, span->end_ns - span->begin_ns);
}

/* A connection has one number; without ports nothing is known of it. */
static guint32
flow_of(Files *files, const WpReadSpanMore *more)
{
	guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325);
	if (!more || !more->client.port || !more->server.port)
		return 0;
	const WpEndpoint *ends[] = { &more->client, &more->server };
	for (guint i = 0; i < 2; i++) {
		for (guint k = 0; k < sizeof ends[i]->address; k++)
			hash = (hash ^ ends[i]->address[k]) * G_GUINT64_CONSTANT(0x100000001b3);
		hash = (hash ^ ends[i]->port) * G_GUINT64_CONSTANT(0x100000001b3);
	}
	gpointer known = g_hash_table_lookup(files->flows, GSIZE_TO_POINTER(hash));
	if (!known) {
		known = GUINT_TO_POINTER(g_hash_table_size(files->flows) + 1);
		g_hash_table_insert(files->flows, GSIZE_TO_POINTER(hash), known);
	}
	return GPOINTER_TO_UINT(known);
}

static guint32
node_of(const Files *files, guint32 name)
{
	WpNodes *nodes = files->spans.nodes;
	return wp_nodes_by_key(nodes, wp_nodes_text(nodes, name));
}

/* What both messages of a call have. */
static WpRecord
base_record(Files *files, const WpSpanCall *call)
{
	const WpReadSpan *span = span_at(files, call->span);
	const WpReadSpanMore *more = more_of(files, span);
	WpRecord record = {
		.id = WP_ID_TEXT + call->id,
		.bytes = WP_NO_SIZE,
		.protocol = span->protocol,
		.flow = flow_of(files, more),
		.marks = span->waits ? WP_MARK_WAIT : 0,
		.tap = more ? more->tap : 0,
	};
	return record;
}

/* Seen at both ends, each by its own clock: WAY_NS later at the receiver. */
static void
set_way(WpRecord *record, gint64 way_ns)
{
	record->begin_way_ns = record->end_way_ns = way_ns;
	record->marks |= WP_MARK_BOTH_ENDS;
}

static WpRecord
call_record(Files *files, const WpSpanCall *call)
{
	const WpReadSpan *span = span_at(files, call->span);
	const WpReadSpan *client = span_at(files, call->client);
	const WpReadSpanMore *more = more_of(files, span);
	WpRecord record = base_record(files, call);
	record.kind = call->is_message ? WP_KIND_MESSAGE : WP_KIND_CALL;
	record.begin_ns = begin_of(files, call);
	record.end_ns = record.begin_ns + transfer_ns(files, call, FALSE);
	record.sender = node_of(files, call->caller);
	record.receiver = node_of(files, call->callee);
	record.label = span->label;
	record.status = call->is_message ? span->status : WP_STATUS_UNKNOWN;
	if (client)
		set_way(&record, timed_span(files, call)->begin_ns - client->begin_ns);
	if (more) {
		record.src = more->client;
		record.dst = more->server;
		record.bytes = more->bytes[0];
		record.packet = more->packets[0];
	}
	return record;
}

static WpRecord
return_record(Files *files, const WpSpanCall *call)
{
	const WpReadSpan *span = span_at(files, call->span);
	const WpReadSpan *client = span_at(files, call->client);
	const WpReadSpanMore *more = more_of(files, span);
	WpRecord record = base_record(files, call);
	record.kind = WP_KIND_RETURN;
	record.end_ns = timed_span(files, call)->end_ns;
	record.begin_ns = record.end_ns - transfer_ns(files, call, TRUE);
	record.sender = node_of(files, call->callee);
	record.receiver = node_of(files, call->caller);
	/* A reply that came too late is an error for its caller alone. */
	record.status = client && client->status == WP_STATUS_ERROR ? client->status : span->status;
	if (client)
		set_way(&record, client->end_ns - record.end_ns);
	if (more) {
		record.src = more->server;
		record.dst = more->client;
		record.bytes = more->bytes[1];
		record.packet = more->packets[1];
	}
	return record;
}

static gboolean
is_wanted(const Files *files, const WpSpanCall *call)
{
	gint64 begin_ns = begin_of(files, call);
	const WpSpanFileOptions *options = files->options;
	return (options->from_ns == WP_NO_TIME || begin_ns >= options->from_ns) &&
	       (options->to_ns == WP_NO_TIME || begin_ns < options->to_ns);
}

/* Calls before returns at the same time; a return never before its call, whatever their clocks say. */
static int
compare_events(gconstpointer a, gconstpointer b)
{
	const Event *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->is_return != y->is_return)
		return x->is_return ? 1 : -1;
	return x->call < y->call ? -1 : x->call > y->call;
}

/* (transfer full) Of Event, in order. */
static GArray *
order_events(Files *files)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(Event));
	for (guint32 i = 0; i < files->calls->len; i++) {
		const WpSpanCall *call = &g_array_index(files->calls, WpSpanCall, i);
		if (!is_wanted(files, call))
			continue;
		Event event = { begin_of(files, call), i, 0 };
		g_array_append_val(events, event);
		if (!has_return(files, call))
			continue;
		gint64 back_ns = timed_span(files, call)->end_ns - transfer_ns(files, call, TRUE);
		event = (Event){ MAX(event.time_ns, back_ns), i, 1 };
		g_array_append_val(events, event);
	}
	g_array_sort(events, compare_events);
	return events;
}

static gboolean
tell_truth(const Files *files, const WpSpanCall *call, GError **error)
{
	const WpSpanFileOptions *options = files->options;
	const WpNodes *nodes = files->spans.nodes;
	const WpSpanCall *parent = call->parent == WP_SPAN_NONE
					   ? NULL
					   : &g_array_index(files->calls, WpSpanCall, call->parent);
	if (!options->truth)
		return TRUE;
	if (parent && !is_wanted(files, parent))
		parent = NULL;
	return options->truth(wp_nodes_text(nodes, call->id),
			      parent ? wp_nodes_text(nodes, parent->id) : "", options->truth_data,
			      error);
}

static gboolean
push_event(Files *files, const Event *event, WpRecordSink *sink, GError **error)
{
	const WpSpanCall *call = &g_array_index(files->calls, WpSpanCall, event->call);
	WpRecord record = event->is_return ? return_record(files, call) : call_record(files, call);
	WpCounter counter = event->is_return   ? WP_COUNT_RETURNS
			    : call->is_message ? WP_COUNT_MESSAGES
					       : WP_COUNT_CALLS;
	wp_counters_add(files->counters, counter, 1);
	return wp_sink_record(sink, &record, NULL, error) &&
	       (event->is_return || tell_truth(files, call, error));
}

static gboolean
push_all(Files *files, const char *const *paths, gsize n, WpRecordSink *sink, GError **error)
{
	if (!wp_sink_begin(sink, files->spans.nodes, error))
		return FALSE;
	for (gsize i = 0; i < n; i++) {
		g_autofree char *name = g_path_get_basename(paths[i]);
		if (!wp_sink_setting(sink, "input", name, error))
			return FALSE;
	}
	files->calls = wp_span_calls_new(&files->spans, NULL);
	g_autoptr(GArray) events = order_events(files);
	for (guint i = 0; i < events->len; i++)
		if (!push_event(files, &g_array_index(events, Event, i), sink, error))
			return FALSE;
	return wp_sink_counters(sink, files->counters, error) && wp_sink_end(sink, error);
}

static gboolean
run(Files *files, const char *const *paths, gsize n, WpRecordSink *sink, GError **error)
{
	g_autoptr(GError) late = NULL;
	if (!read_files(files, paths, n, &late) && files->spans.spans->len == 0) {
		g_propagate_error(error, g_steal_pointer(&late));
		return FALSE;
	}
	if (!push_all(files, paths, n, sink, error))
		return FALSE;
	if (!late)
		return TRUE;
	g_propagate_error(error, g_steal_pointer(&late));
	return FALSE;
}

static gboolean
join(Files *files, const char *const *paths, gsize n, WpTrace *trace, GError **error)
{
	WpRecordSink *sink = wp_trace_sink(trace);
	g_autofree guint32 *parts = NULL;
	gboolean ok = read_files(files, paths, n, error);
	for (gsize i = 0; i < n; i++) {
		g_autofree char *name = g_path_get_basename(paths[i]);
		if (!wp_sink_setting(sink, "input", name, ok ? error : NULL))
			return FALSE;
	}
	files->calls = wp_span_calls_new(&files->spans, &parts);
	wp_span_join(&files->spans, files->calls, parts, trace);
	return wp_sink_counters(sink, files->counters, ok ? error : NULL) && ok;
}

static void
clear(Files *files)
{
	g_clear_pointer(&files->calls, g_array_unref);
	wp_read_spans_clear(&files->spans);
	g_hash_table_unref(files->flows);
	wp_counters_free(files->counters);
}

gboolean
wp_span_file_join(const char *const *paths, gsize n, const WpSpanFileOptions *options,
		  WpTrace *trace, GError **error)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new(); /* texts that the trace need not keep */
	Files files = { .options = options,
			.counters = wp_counters_new(),
			.flows = g_hash_table_new(NULL, NULL) };
	wp_read_spans_init(&files.spans, nodes, files.counters);
	gboolean ok = join(&files, paths, n, trace, error);
	clear(&files);
	return ok;
}

gboolean
wp_span_file_run(const char *const *paths, gsize n, const WpSpanFileOptions *options,
		 WpNodes *nodes, WpRecordSink *sink, GError **error)
{
	Files files = { .options = options,
			.counters = wp_counters_new(),
			.flows = g_hash_table_new(NULL, NULL) };
	wp_read_spans_init(&files.spans, nodes, files.counters);
	gboolean ok = run(&files, paths, n, sink, error);
	clear(&files);
	return ok;
}
