/*
 * OTLP, Jaeger and Zipkin are read by one descent, as their members have different names: objects tell by their keys
 * what they are. Members may come in any order, so what holds for many spans (the service of OTLP's resource, Jaeger's
 * processes) is put into them when the object around ends.
 *
 *   OTLP    {"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"spans":[SPAN]}]}]}   (also a line each)
 *   Jaeger  {"data":[{"spans":[SPAN],"processes":{"p1":{"serviceName":""}}}]}                   (also one trace alone)
 *   Zipkin  [SPAN] or [[SPAN]]
 */
#include "capture/span-read.h"

#include <string.h>

#include "capture/json-pull.h"
#include "capture/span-draft.h"
#include "capture/span-file.h"
#include "capture/trace.h"

/* Processes of one trace of Jaeger. More are not told apart. */
#define MAX_PROCESSES 4096

/* So many spans between two questions whether to go on. */
#define STEP 1024

typedef struct {
	WpReadSpans *spans;
	WpJsonPull *pull;
	GError **error;
	gboolean (*progress)(gpointer data);
	gpointer progress_data;
	gboolean is_stopped;
	WpJsonToken stop; /* what ended it, WP_JSON_END: nothing yet */
	WpSpanDraft draft;
	GString *key; /* of the member at hand */
	GString *value;
	GString *service;      /* of the resource, or process, at hand */
	GHashTable *processes; /* Jaeger: id -> string number of the service */
} Reader;

void
wp_read_spans_init(WpReadSpans *spans, WpNodes *nodes, WpCounters *counters)
{
	*spans = (WpReadSpans){ .nodes = nodes, .counters = counters };
	spans->spans = g_array_new(FALSE, FALSE, sizeof(WpReadSpan));
	spans->more = g_array_new(FALSE, FALSE, sizeof(WpReadSpanMore));
}

void
wp_read_spans_clear(WpReadSpans *spans)
{
	g_clear_pointer(&spans->spans, g_array_unref);
	g_clear_pointer(&spans->more, g_array_unref);
}

/* --- tokens --- */

static WpJsonToken
next(Reader *reader)
{
	WpJsonToken token = wp_json_pull_next(reader->pull, reader->error);
	if (wp_json_is_last(token))
		reader->stop = token == WP_JSON_END ? WP_JSON_CUT : token;
	return token;
}

static void
skip(Reader *reader, WpJsonToken token)
{
	token = wp_json_pull_skip(reader->pull, token, reader->error);
	if (wp_json_is_last(token))
		reader->stop = token;
}

static const char *
text(const Reader *reader)
{
	return wp_json_pull_text(reader->pull);
}

/* The next key of the object that is open; FALSE at its end, or where all ends. */
static gboolean
next_key(Reader *reader)
{
	WpJsonToken token = reader->stop ? WP_JSON_END : next(reader);
	if (token != WP_JSON_KEY)
		return FALSE;
	g_string_assign(reader->key, text(reader));
	return TRUE;
}

static gboolean
key_is(const Reader *reader, const char *name)
{
	return strcmp(reader->key->str, name) == 0;
}

/* The value of a member where it is a text or a number; else it is passed over. */
static gboolean
take_text(Reader *reader, GString *out)
{
	WpJsonToken token = next(reader);
	if (token == WP_JSON_TEXT || token == WP_JSON_NUMBER) {
		g_string_assign(out, text(reader));
		return TRUE;
	}
	skip(reader, token);
	return FALSE;
}

typedef void (*ItemFunc)(Reader *reader);

/* Calls FUNC in each object of the array that is the next value. Arrays in it count as it. */
static void
each_object(Reader *reader, ItemFunc func)
{
	guint depth = 0;
	do {
		WpJsonToken token = next(reader);
		if (reader->stop)
			return;
		if (token == WP_JSON_OBJECT)
			func(reader);
		depth += token == WP_JSON_ARRAY;
		depth -= token == WP_JSON_ARRAY_END;
	} while (depth && !reader->stop);
}

static void
reader_init(Reader *reader)
{
	wp_span_draft_init(&reader->draft);
	reader->key = g_string_new(NULL);
	reader->value = g_string_new(NULL);
	reader->service = g_string_new(NULL);
	reader->processes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void
reader_clear(Reader *reader)
{
	wp_span_draft_clear(&reader->draft);
	g_string_free(reader->key, TRUE);
	g_string_free(reader->value, TRUE);
	g_string_free(reader->service, TRUE);
	g_hash_table_unref(reader->processes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reader, reader_clear)

static guint32
intern(Reader *reader, const GString *string)
{
	return string->len ? wp_strings_intern(wp_nodes_strings(reader->spans->nodes), string->str,
					       (gssize)string->len)
			   : 0;
}

/* FNV-1a (Fowler, Noll, Vo) of trace and span. */
guint64
wp_read_span_key(const char *trace, const char *id)
{
	guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325);
	const char *parts[] = { trace + strspn(trace, "0"), "/", id + strspn(id, "0") };
	for (gsize i = 0; i < G_N_ELEMENTS(parts); i++)
		for (const char *p = parts[i]; *p; p++)
			hash = (hash ^ (guint8)g_ascii_tolower(*p)) *
			       G_GUINT64_CONSTANT(0x100000001b3);
	return hash ? hash : 1;
}

static void
settle_peer(Reader *reader)
{
	WpSpanDraft *draft = &reader->draft;
	/* A server names itself by its address. */
	gboolean is_caller =
		draft->span.kind == WP_SPAN_CLIENT || draft->span.kind == WP_SPAN_PRODUCER;
	for (gsize i = 0; i < (is_caller ? WP_SPAN_N_PEERS : 1) && !draft->span.peer; i++)
		draft->span.peer = intern(reader, draft->peers[i]);
}

/* What wirepath inferred goes before what a program named. */
static void
settle_parent(WpSpanDraft *draft)
{
	const char *dash = strchr(draft->inferred->str, '-');
	if (!dash)
		return;
	g_string_assign(draft->parent, dash + 1);
	g_string_truncate(draft->parent_trace, 0);
	g_string_append_len(draft->parent_trace, draft->inferred->str, dash - draft->inferred->str);
}

/* SERVICE: its own; of Jaeger, until the trace ends, its process. */
static void
keep_span(Reader *reader, const GString *service)
{
	WpSpanDraft *draft = &reader->draft;
	WpReadSpans *spans = reader->spans;
	if (reader->stop)
		return;
	wp_counters_add(spans->counters, WP_COUNT_SPANS, 1);
	if (!draft->id->len || !draft->trace->len || !wp_span_draft_settle_times(draft)) {
		wp_counters_add(spans->counters, WP_COUNT_SPANS_UNUSABLE, 1);
		return;
	}
	if (spans->spans->len >= WP_SPAN_FILE_MAX_SPANS) {
		wp_counters_add(spans->counters, WP_COUNT_SPANS_SKIPPED, 1);
		return;
	}
	WpReadSpan *span = &draft->span;
	span->key = wp_read_span_key(draft->trace->str, draft->id->str);
	settle_parent(draft);
	wp_span_draft_settle_peer(draft);
	gboolean has_parent = strspn(draft->parent->str, "0") < draft->parent->len;
	const GString *trace = draft->parent_trace->len ? draft->parent_trace : draft->trace;
	span->parent = has_parent ? wp_read_span_key(trace->str, draft->parent->str) : 0;
	span->id = intern(reader, draft->id);
	span->service = intern(reader, service);
	/* Its own spans tell the operation, where there is one. */
	span->label = intern(reader, draft->has_status ? draft->operation : draft->name);
	span->protocol = intern(reader, draft->protocol);
	settle_peer(reader);
	if (!draft->has_status && span->status == WP_STATUS_UNKNOWN)
		span->status = WP_STATUS_OK;
	if (draft->has_more) {
		g_array_append_val(spans->more, draft->more);
		span->more = spans->more->len;
	}
	g_array_append_val(spans->spans, *span);
	if (spans->spans->len % STEP == 0 && reader->progress &&
	    !reader->progress(reader->progress_data)) {
		reader->is_stopped = TRUE;
		reader->stop = WP_JSON_CUT;
	}
}

/* The value of a member as text, into reader->value; "" where it is no scalar. */
static void
take_scalar(Reader *reader)
{
	WpJsonToken token = next(reader);
	g_string_truncate(reader->value, 0);
	if (token == WP_JSON_TEXT || token == WP_JSON_NUMBER)
		g_string_assign(reader->value, text(reader));
	else if (token == WP_JSON_TRUE || token == WP_JSON_FALSE)
		g_string_assign(reader->value, token == WP_JSON_TRUE ? "true" : "false");
	else
		skip(reader, token);
}

/* --- OTLP --- */

/* The value of an attribute: {"stringValue":"x"}. */
static void
otlp_value(Reader *reader)
{
	WpJsonToken token = next(reader);
	g_string_truncate(reader->value, 0);
	if (token != WP_JSON_OBJECT) {
		skip(reader, token);
		return;
	}
	while (next_key(reader))
		take_scalar(reader);
}

/* {"key":"","value":{}}, in any order. */
static void
otlp_attribute(Reader *reader)
{
	g_autoptr(GString) name = g_string_new(NULL);
	while (next_key(reader)) {
		if (key_is(reader, "key"))
			take_text(reader, name);
		else if (key_is(reader, "value"))
			otlp_value(reader);
		else
			skip(reader, next(reader));
	}
	wp_span_draft_tag(&reader->draft, name->str, reader->value->str);
}

static void
otlp_status(Reader *reader)
{
	WpJsonToken token = next(reader);
	if (token != WP_JSON_OBJECT) {
		skip(reader, token);
		return;
	}
	while (next_key(reader)) {
		gboolean is_code = key_is(reader, "code");
		if (!take_text(reader, reader->value) || !is_code)
			continue;
		if (strcmp(reader->value->str, "2") == 0 ||
		    strcmp(reader->value->str, "STATUS_CODE_ERROR") == 0)
			wp_span_draft_tag(&reader->draft, "error", "true");
	}
}

/* TRUE where the member at hand is one that all forms have: its value is taken then. */
static gboolean
take_member(Reader *reader)
{
	if (!wp_span_draft_knows(reader->key->str))
		return FALSE;
	if (take_text(reader, reader->value))
		wp_span_draft_set(&reader->draft, reader->key->str, reader->value->str);
	return TRUE;
}

static void
otlp_span(Reader *reader)
{
	wp_span_draft_begin(&reader->draft);
	while (next_key(reader)) {
		if (take_member(reader))
			continue;
		if (key_is(reader, "attributes"))
			each_object(reader, otlp_attribute);
		else if (key_is(reader, "status"))
			otlp_status(reader);
		else
			skip(reader, next(reader));
	}
	keep_span(reader, reader->draft.service);
}

/* An attribute of the resource: which service it is. */
static void
otlp_resource_attribute(Reader *reader)
{
	wp_span_draft_begin(&reader->draft);
	otlp_attribute(reader);
	if (reader->draft.service->len)
		g_string_assign(reader->service, reader->draft.service->str);
}

static void
otlp_scope(Reader *reader)
{
	while (next_key(reader)) {
		if (key_is(reader, "spans"))
			each_object(reader, otlp_span);
		else
			skip(reader, next(reader));
	}
}

static void
otlp_resource_members(Reader *reader)
{
	while (next_key(reader)) {
		if (key_is(reader, "attributes"))
			each_object(reader, otlp_resource_attribute);
		else
			skip(reader, next(reader));
	}
}

/* {"resource":{},"scopeSpans":[]}: which service it is holds for all its spans. */
static void
otlp_resource(Reader *reader)
{
	guint first = reader->spans->spans->len;
	g_string_truncate(reader->service, 0);
	while (next_key(reader)) {
		if (key_is(reader, "resource"))
			each_object(reader, otlp_resource_members);
		else if (key_is(reader, "scopeSpans") ||
			 key_is(reader, "instrumentationLibrarySpans"))
			each_object(reader, otlp_scope);
		else
			skip(reader, next(reader));
	}
	guint32 service = intern(reader, reader->service);
	for (guint i = first; i < reader->spans->spans->len; i++)
		g_array_index(reader->spans->spans, WpReadSpan, i).service = service;
}

/* --- Jaeger --- */

static void
jaeger_tag(Reader *reader)
{
	g_autoptr(GString) name = g_string_new(NULL);
	g_string_truncate(reader->value, 0);
	while (next_key(reader)) {
		if (key_is(reader, "key"))
			take_text(reader, name);
		else if (key_is(reader, "value"))
			take_scalar(reader);
		else
			skip(reader, next(reader));
	}
	wp_span_draft_tag(&reader->draft, name->str, reader->value->str);
}

/* The first that is a child's counts; without one, the first. */
static void
jaeger_reference(Reader *reader)
{
	WpSpanDraft *draft = &reader->draft;
	g_autoptr(GString) kind = g_string_new(NULL);
	g_autoptr(GString) trace = g_string_new(NULL);
	g_autoptr(GString) id = g_string_new(NULL);
	while (next_key(reader)) {
		if (key_is(reader, "refType"))
			take_text(reader, kind);
		else if (key_is(reader, "traceID"))
			take_text(reader, trace);
		else if (key_is(reader, "spanID"))
			take_text(reader, id);
		else
			skip(reader, next(reader));
	}
	gboolean is_child = strcmp(kind->str, "CHILD_OF") == 0;
	if (draft->parent->len && (draft->reference_is_child || !is_child))
		return;
	g_string_assign(draft->parent, id->str);
	g_string_assign(draft->parent_trace, trace->str);
	draft->reference_is_child = is_child;
}

static void
jaeger_span(Reader *reader)
{
	wp_span_draft_begin(&reader->draft);
	while (next_key(reader)) {
		if (take_member(reader))
			continue;
		if (key_is(reader, "tags"))
			each_object(reader, jaeger_tag);
		else if (key_is(reader, "references"))
			each_object(reader, jaeger_reference);
		else
			skip(reader, next(reader));
	}
	keep_span(reader, reader->draft.process);
}

/* {"p1":{"serviceName":"x"}} */
static void
jaeger_processes(Reader *reader)
{
	while (next_key(reader)) {
		g_autofree char *process = g_strdup(reader->key->str);
		WpJsonToken token = next(reader);
		g_string_truncate(reader->service, 0);
		if (token != WP_JSON_OBJECT) {
			skip(reader, token);
			continue;
		}
		while (next_key(reader)) {
			if (key_is(reader, "serviceName"))
				take_text(reader, reader->service);
			else
				skip(reader, next(reader));
		}
		if (g_hash_table_size(reader->processes) < MAX_PROCESSES)
			g_hash_table_insert(reader->processes, g_steal_pointer(&process),
					    GUINT_TO_POINTER(intern(reader, reader->service)));
	}
}

/* From span FIRST on services are processes until now. */
static void
name_processes(Reader *reader, guint first)
{
	const WpNodes *nodes = reader->spans->nodes;
	for (guint i = first; i < reader->spans->spans->len; i++) {
		WpReadSpan *span = &g_array_index(reader->spans->spans, WpReadSpan, i);
		span->service = GPOINTER_TO_UINT(g_hash_table_lookup(
			reader->processes, wp_nodes_text(nodes, span->service)));
	}
	g_hash_table_remove_all(reader->processes);
}

/* --- Zipkin --- */

static void
zipkin_endpoint(Reader *reader, GString *out)
{
	WpJsonToken token = next(reader);
	if (token != WP_JSON_OBJECT) {
		skip(reader, token);
		return;
	}
	while (next_key(reader)) {
		if (key_is(reader, "serviceName") ||
		    (!out->len && (key_is(reader, "ipv4") || key_is(reader, "ipv6"))))
			take_text(reader, out);
		else
			skip(reader, next(reader));
	}
}

static void
zipkin_tags(Reader *reader)
{
	while (next_key(reader)) {
		if (take_text(reader, reader->value))
			wp_span_draft_tag(&reader->draft, reader->key->str, reader->value->str);
	}
}

/* In a span, whose first key may have been read before. */
static void
zipkin_span(Reader *reader)
{
	WpSpanDraft *draft = &reader->draft;
	wp_span_draft_begin(draft);
	while (next_key(reader)) {
		if (take_member(reader))
			continue;
		if (key_is(reader, "localEndpoint"))
			zipkin_endpoint(reader, draft->service);
		else if (key_is(reader, "remoteEndpoint"))
			zipkin_endpoint(reader, draft->peers[0]);
		else if (key_is(reader, "tags"))
			each_object(reader, zipkin_tags);
		else if (key_is(reader, "shared"))
			draft->span.is_shared = next(reader) == WP_JSON_TRUE;
		else
			skip(reader, next(reader));
	}
	keep_span(reader, draft->service);
}

/* --- files --- */

/* An object that is no span of Zipkin: a request of OTLP, a page or a trace of Jaeger. */
static void
read_object(Reader *reader)
{
	guint first = reader->spans->spans->len;
	gboolean is_trace = FALSE;
	while (next_key(reader)) {
		if (key_is(reader, "resourceSpans") || key_is(reader, "batches")) {
			each_object(reader, otlp_resource);
		} else if (key_is(reader, "data")) {
			each_object(reader, read_object);
		} else if (key_is(reader, "spans")) {
			is_trace = TRUE;
			each_object(reader, jaeger_span);
		} else if (key_is(reader, "processes")) {
			each_object(reader, jaeger_processes);
		} else {
			skip(reader, next(reader));
		}
	}
	if (is_trace)
		name_processes(reader, first);
}

static void
read_all(Reader *reader)
{
	WpJsonToken token;
	while (!wp_json_is_last(token = wp_json_pull_next(reader->pull, reader->error))) {
		guint depth = token == WP_JSON_ARRAY;
		if (token == WP_JSON_OBJECT)
			read_object(reader);
		while (depth && !reader->stop) {
			token = next(reader);
			if (token == WP_JSON_OBJECT)
				zipkin_span(reader);
			depth += token == WP_JSON_ARRAY;
			depth -= token == WP_JSON_ARRAY_END;
		}
		if (reader->stop)
			return;
	}
	reader->stop = token == WP_JSON_END ? WP_JSON_END : token;
}

gboolean
wp_read_spans_add(WpReadSpans *spans, WpInput *input, const char *path,
		  gboolean (*progress)(gpointer data), gpointer data, GError **error)
{
	g_autoptr(WpJsonPull) pull = wp_json_pull_new(input);
	g_autoptr(GError) reason = NULL;
	g_auto(Reader) reader = { .spans = spans,
				  .pull = pull,
				  .error = &reason,
				  .progress = progress,
				  .progress_data = data };
	guint64 line;
	reader_init(&reader);
	read_all(&reader);
	if (reason) {
		g_propagate_error(error, g_steal_pointer(&reason));
		return FALSE;
	}
	if (reader.stop == WP_JSON_CUT && !reader.is_stopped)
		wp_counters_add(spans->counters, WP_COUNT_INPUT_TRUNCATED, 1);
	if (reader.stop != WP_JSON_BAD)
		return TRUE;
	const char *wrong = wp_json_pull_wrong(pull, &line);
	wp_counters_add(spans->counters, WP_COUNT_INPUT_DAMAGED, 1);
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
		    "cannot read %s: line %" G_GUINT64_FORMAT ": %s was expected in its JSON", path,
		    line, wrong);
	return FALSE;
}
