/*
 * Requests as spans of tracing systems: OTLP JSON lines (opentelemetry-proto 1.x, one request to a collector a
 * line), the JSON that the page of Jaeger loads (internal/uimodel there), Zipkin's JSON of version 2 (zipkin2-api.yaml).
 *
 * A call is one span, of kind server, at the node that was called; who called is peer.service. A one-way message is
 * of kind consumer. Where another call could be the parent as well, that is a link (OTLP), or a reference that follows from it
 * (Jaeger).
 */
#include "config.h"

#include <string.h>

#include "report/export-tags.h"
#include "report/export.h"
#include "report/json.h"

/* The times of forms that have microseconds alone: both ends are rounded, so that children stay inside. */
static guint64
to_us(gint64 ns)
{
	return ns < 0 ? 0 : (guint64)ns / 1000;
}

/* The numbers of LIST: calls of TRACE in order of their callees, each of these together. (transfer full) */
static GArray *
group_by_callee(const WpExportTrace *trace)
{
	GArray *order = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GHashTable) firsts = g_hash_table_new(NULL, NULL);
	g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	for (guint32 i = 0; i < trace->n_calls; i++) {
		gpointer key = GUINT_TO_POINTER(trace->calls[i].callee_number);
		GArray *group = g_hash_table_lookup(firsts, key);
		if (!group) {
			group = g_array_new(FALSE, FALSE, sizeof(guint32));
			g_ptr_array_add(groups, group);
			g_hash_table_insert(firsts, key, group);
		}
		g_array_append_val(group, i);
	}
	for (guint k = 0; k < groups->len; k++) {
		GArray *group = groups->pdata[k];
		g_array_append_vals(order, group->data, group->len);
	}
	return order;
}

/* 0 = none. */
static guint64
parent_id(const WpExportTrace *trace, const WpExportCall *call)
{
	if (call->sent_parent)
		return call->sent_parent;
	return call->parent == WP_EXPORT_NONE ? 0 : trace->calls[call->parent].id;
}

/* --- OTLP --- */

#define OTLP_KIND_SERVER   2
#define OTLP_KIND_CONSUMER 5
#define OTLP_STATUS_ERROR  2

static void
otlp_value(WpJson *json, const WpTag *tag)
{
	char digits[32];
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "key", tag->key);
	wp_json_open(json, "value", '{');
	switch (tag->kind) {
	case WP_TAG_TEXT:
		wp_json_text(json, "stringValue", tag->text);
		break;
	case WP_TAG_INT:
		g_snprintf(digits, sizeof digits, "%" G_GINT64_FORMAT, tag->number);
		wp_json_text(json, "intValue", digits);
		break;
	case WP_TAG_NUMBER:
		wp_json_number(json, "doubleValue", tag->real, 4);
		break;
	case WP_TAG_BOOL:
		wp_json_bool(json, "boolValue", tag->number != 0);
		break;
	}
	wp_json_close(json, '}');
	wp_json_close(json, '}');
}

static void
otlp_tag(const WpTag *tag, gpointer data)
{
	otlp_value(data, tag);
}

static void
otlp_link(WpJson *json, WpExportTraceId trace, guint64 span, const char *what)
{
	char id[WP_EXPORT_ID_MAX];
	const WpTag tag = { .key = what, .kind = WP_TAG_BOOL, .number = TRUE };
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "traceId", wp_export_trace_id(trace, id));
	wp_json_text(json, "spanId", wp_export_span_id(span, id));
	wp_json_open(json, "attributes", '[');
	otlp_value(json, &tag);
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

/* To the call that caused it, where its program named another parent; and to the next best one. */
static void
otlp_links(WpJson *json, const WpExportCall *call)
{
	if (!call->inferred && !call->runner)
		return;
	wp_json_open(json, "links", '[');
	if (call->inferred)
		otlp_link(json, call->inferred_trace, call->inferred, "wirepath.inferred");
	if (call->runner)
		otlp_link(json, call->runner_trace, call->runner, "wirepath.alternative");
	wp_json_close(json, ']');
}

static void
otlp_span(WpJson *json, const WpExportTrace *trace, const WpExportCall *call)
{
	char id[WP_EXPORT_ID_MAX];
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "traceId", wp_export_trace_id(trace->id, id));
	wp_json_text(json, "spanId", wp_export_span_id(call->id, id));
	if (parent_id(trace, call))
		wp_json_text(json, "parentSpanId", wp_export_span_id(parent_id(trace, call), id));
	wp_json_text(json, "name", wp_export_operation(call));
	wp_json_int(json, "kind", call->is_one_way ? OTLP_KIND_CONSUMER : OTLP_KIND_SERVER);
	wp_json_epoch(json, "startTimeUnixNano", MAX(call->begin_ns, 0));
	wp_json_epoch(json, "endTimeUnixNano", MAX(call->end_ns, 0));
	wp_json_open(json, "attributes", '[');
	wp_export_tags(call, FALSE, otlp_tag, json);
	wp_json_close(json, ']');
	otlp_links(json, call);
	wp_json_open(json, "status", '{');
	if (call->is_error) {
		wp_json_int(json, "code", OTLP_STATUS_ERROR);
		wp_json_text(json, "message", call->status);
	}
	wp_json_close(json, '}');
	wp_json_close(json, '}');
}

static void
otlp_open_resource(WpJson *json, const char *node)
{
	const WpTag service = { .key = "service.name", .kind = WP_TAG_TEXT, .text = node };
	wp_json_open(json, NULL, '{');
	wp_json_open(json, "resource", '{');
	wp_json_open(json, "attributes", '[');
	otlp_value(json, &service);
	wp_json_close(json, ']');
	wp_json_close(json, '}');
	wp_json_open(json, "scopeSpans", '[');
	wp_json_open(json, NULL, '{');
	wp_json_open(json, "scope", '{');
	wp_json_text(json, "name", "wirepath");
	wp_json_text(json, "version", PACKAGE_VERSION);
	wp_json_close(json, '}');
	wp_json_open(json, "spans", '[');
}

static void
otlp_close_resource(WpJson *json)
{
	wp_json_close(json, ']');
	wp_json_close(json, '}');
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
otlp_trace(gpointer state, const WpExportTrace *trace, WpOut *out)
{
	WpJson json = { .out = out, .is_compact = TRUE };
	g_autoptr(GArray) order = group_by_callee(trace);
	const WpExportCall *last = NULL;
	(void)state;
	wp_json_open(&json, NULL, '{');
	wp_json_open(&json, "resourceSpans", '[');
	for (guint32 i = 0; i < trace->n_calls; i++) {
		const WpExportCall *call = &trace->calls[g_array_index(order, guint32, i)];
		if (!last || last->callee_number != call->callee_number) {
			if (last)
				otlp_close_resource(&json);
			otlp_open_resource(&json, call->callee);
		}
		otlp_span(&json, trace, call);
		last = call;
	}
	otlp_close_resource(&json);
	wp_json_close(&json, ']');
	wp_json_close(&json, '}');
}

static const char *const otlp_suffixes[] = { "otlp.jsonl", "otlp.json", "jsonl", NULL };

const WpExportForm wp_export_otlp = {
	.name = "otlp",
	.summary = "OTLP JSON lines, for OpenTelemetry collectors, Jaeger and Tempo",
	.suffixes = otlp_suffixes,
	.has_ids = TRUE,
	.trace = otlp_trace,
};

/* --- Jaeger --- */

typedef struct {
	WpJson json;
} JsonState;

static void
jaeger_begin(gpointer state, WpOut *out)
{
	WpJson *json = &((JsonState *)state)->json;
	json->out = out;
	json->is_compact = TRUE;
	wp_json_open(json, NULL, '{');
	wp_json_open(json, "data", '[');
}

static void
jaeger_tag(const WpTag *tag, gpointer data)
{
	WpJson *json = data;
	static const char *const types[] = { "string", "int64", "float64", "bool" };
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "key", tag->key);
	wp_json_text(json, "type", types[tag->kind]);
	if (tag->kind == WP_TAG_TEXT)
		wp_json_text(json, "value", tag->text);
	else if (tag->kind == WP_TAG_NUMBER)
		wp_json_number(json, "value", tag->real, 4);
	else if (tag->kind == WP_TAG_BOOL)
		wp_json_bool(json, "value", tag->number != 0);
	else if (tag->number >= 0)
		wp_json_uint(json, "value", (guint64)tag->number); /* as text beyond 2^53 */
	else
		wp_json_int(json, "value", tag->number);
	wp_json_close(json, '}');
}

static void
jaeger_reference(WpJson *json, const char *kind, WpExportTraceId trace, guint64 span)
{
	char id[WP_EXPORT_ID_MAX];
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "refType", kind);
	wp_json_text(json, "traceID", wp_export_trace_id(trace, id));
	wp_json_text(json, "spanID", wp_export_span_id(span, id));
	wp_json_close(json, '}');
}

/*
 * The page takes the first reference that it finds in the trace for the parent; a first call has none at all. A parent that a
 * program named may not be among what is loaded: then it is the call that was inferred.
 */
static void
jaeger_references(WpJson *json, const WpExportTrace *trace, const WpExportCall *call)
{
	wp_json_open(json, "references", '[');
	if (call->sent_parent)
		jaeger_reference(json, "CHILD_OF", trace->id, call->sent_parent);
	if (call->parent != WP_EXPORT_NONE) {
		jaeger_reference(json, "CHILD_OF", trace->id, trace->calls[call->parent].id);
		if (call->runner)
			jaeger_reference(json, "FOLLOWS_FROM", call->runner_trace, call->runner);
	}
	wp_json_close(json, ']');
}

static void
jaeger_warning(WpJson *json, const WpExportCall *call)
{
	char text[128];
	if (call->parent == WP_EXPORT_NONE || call->probability < 0 ||
	    call->probability >= WP_EXPORT_DOUBTFUL) {
		wp_json_text(json, "warnings", NULL);
		return;
	}
	g_snprintf(text, sizeof text, "wirepath: the parent is inferred, and right with %.0f%%",
		   100.0 * call->probability);
	wp_json_open(json, "warnings", '[');
	wp_json_text(json, NULL, text);
	wp_json_close(json, ']');
}

static void
jaeger_span(WpJson *json, const WpExportTrace *trace, const WpExportCall *call, guint process)
{
	char id[WP_EXPORT_ID_MAX];
	const WpTag kind = { .key = "span.kind",
			     .kind = WP_TAG_TEXT,
			     .text = call->is_one_way ? "consumer" : "server" };
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "traceID", wp_export_trace_id(trace->id, id));
	wp_json_text(json, "spanID", wp_export_span_id(call->id, id));
	wp_json_text(json, "operationName", wp_export_operation(call));
	jaeger_references(json, trace, call);
	wp_json_uint(json, "startTime", to_us(call->begin_ns));
	wp_json_uint(json, "duration", to_us(call->end_ns) - to_us(call->begin_ns));
	wp_json_open(json, "tags", '[');
	jaeger_tag(&kind, json);
	wp_export_tags(call, TRUE, jaeger_tag, json);
	wp_json_close(json, ']');
	wp_json_open(json, "logs", '[');
	wp_json_close(json, ']');
	g_snprintf(id, sizeof id, "p%u", process);
	wp_json_text(json, "processID", id);
	jaeger_warning(json, call);
	wp_json_close(json, '}');
}

/* Processes are numbered 1, 2, ... in the order of ORDER. */
static void
jaeger_processes(WpJson *json, const WpExportTrace *trace, const GArray *order)
{
	const WpExportCall *last = NULL;
	char id[WP_EXPORT_ID_MAX];
	guint process = 0;
	wp_json_open(json, "processes", '{');
	for (guint32 i = 0; i < trace->n_calls; i++) {
		const WpExportCall *call = &trace->calls[g_array_index(order, guint32, i)];
		if (last && last->callee_number == call->callee_number)
			continue;
		g_snprintf(id, sizeof id, "p%u", ++process);
		wp_json_open(json, id, '{');
		wp_json_text(json, "serviceName", call->callee);
		wp_json_open(json, "tags", '[');
		wp_json_close(json, ']');
		wp_json_close(json, '}');
		last = call;
	}
	wp_json_close(json, '}');
	wp_json_text(json, "warnings", NULL);
}

static void
jaeger_trace(gpointer state, const WpExportTrace *trace, WpOut *out)
{
	WpJson *json = &((JsonState *)state)->json;
	char id[WP_EXPORT_ID_MAX];
	g_autoptr(GArray) order = group_by_callee(trace);
	const WpExportCall *last = NULL;
	guint process = 0;
	wp_out_char(out, '\n');
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "traceID", wp_export_trace_id(trace->id, id));
	wp_json_open(json, "spans", '[');
	for (guint32 i = 0; i < trace->n_calls; i++) {
		const WpExportCall *call = &trace->calls[g_array_index(order, guint32, i)];
		process += !last || last->callee_number != call->callee_number;
		jaeger_span(json, trace, call, process);
		last = call;
	}
	wp_json_close(json, ']');
	jaeger_processes(json, trace, order);
	wp_json_close(json, '}');
}

static void
jaeger_end(gpointer state, const WpExportEnd *end, WpOut *out)
{
	WpJson *json = &((JsonState *)state)->json;
	(void)end;
	wp_out_char(out, '\n');
	wp_json_close(json, ']');
	wp_json_uint(json, "total", 0);
	wp_json_uint(json, "limit", 0);
	wp_json_uint(json, "offset", 0);
	wp_json_text(json, "errors", NULL);
	wp_json_close(json, '}');
}

static const char *const jaeger_suffixes[] = { "jaeger.json", NULL };

const WpExportForm wp_export_jaeger = {
	.name = "jaeger",
	.summary = "JSON that the page of Jaeger loads",
	.suffixes = jaeger_suffixes,
	.has_ids = TRUE,
	.state_size = sizeof(JsonState),
	.begin = jaeger_begin,
	.trace = jaeger_trace,
	.end = jaeger_end,
};

/* --- Zipkin --- */

static void
zipkin_begin(gpointer state, WpOut *out)
{
	WpJson *json = &((JsonState *)state)->json;
	json->out = out;
	json->is_compact = TRUE;
	wp_json_open(json, NULL, '[');
}

/* Values are text. */
static void
zipkin_tag(const WpTag *tag, gpointer data)
{
	char digits[G_ASCII_DTOSTR_BUF_SIZE];
	const char *text = tag->text;
	if (tag->kind == WP_TAG_INT) {
		g_snprintf(digits, sizeof digits, "%" G_GINT64_FORMAT, tag->number);
		text = digits;
	} else if (tag->kind == WP_TAG_NUMBER) {
		text = g_ascii_formatd(digits, sizeof digits, "%.4f", tag->real);
	} else if (tag->kind == WP_TAG_BOOL) {
		text = tag->number ? "true" : "false";
	}
	wp_json_text(data, tag->key, text);
}

static void
zipkin_endpoint(WpJson *json, const char *key, const char *node, const char *address, guint16 port)
{
	wp_json_open(json, key, '{');
	wp_json_text(json, "serviceName", node);
	if (*address)
		wp_json_text(json, strchr(address, ':') ? "ipv6" : "ipv4", address);
	if (port)
		wp_json_uint(json, "port", port);
	wp_json_close(json, '}');
}

static void
zipkin_span(WpJson *json, const WpExportTrace *trace, const WpExportCall *call)
{
	char id[WP_EXPORT_ID_MAX];
	g_autofree char *name = g_ascii_strdown(wp_export_operation(call), -1);
	guint64 begin_us = to_us(call->begin_ns), end_us = to_us(call->end_ns);
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "traceId", wp_export_trace_id(trace->id, id));
	wp_json_text(json, "id", wp_export_span_id(call->id, id));
	if (parent_id(trace, call))
		wp_json_text(json, "parentId", wp_export_span_id(parent_id(trace, call), id));
	wp_json_text(json, "name", name);
	wp_json_text(json, "kind", call->is_one_way ? "CONSUMER" : "SERVER");
	wp_json_uint(json, "timestamp", MAX(begin_us, 1));
	if (call->has_end)
		wp_json_uint(json, "duration", MAX(end_us - begin_us, 1));
	zipkin_endpoint(json, "localEndpoint", call->callee, call->server, call->server_port);
	zipkin_endpoint(json, "remoteEndpoint", call->caller, call->client, call->client_port);
	wp_json_open(json, "tags", '{');
	wp_export_tags(call, TRUE, zipkin_tag, json);
	wp_json_close(json, '}');
	wp_json_close(json, '}');
}

static void
zipkin_trace(gpointer state, const WpExportTrace *trace, WpOut *out)
{
	WpJson *json = &((JsonState *)state)->json;
	for (guint32 i = 0; i < trace->n_calls; i++) {
		wp_out_char(out, '\n');
		zipkin_span(json, trace, &trace->calls[i]);
	}
}

static void
zipkin_end(gpointer state, const WpExportEnd *end, WpOut *out)
{
	(void)end;
	wp_out_char(out, '\n');
	wp_json_close(&((JsonState *)state)->json, ']');
}

static const char *const zipkin_suffixes[] = { "zipkin.json", NULL };

const WpExportForm wp_export_zipkin = {
	.name = "zipkin",
	.summary = "JSON of Zipkin, version 2",
	.suffixes = zipkin_suffixes,
	.has_ids = TRUE,
	.state_size = sizeof(JsonState),
	.begin = zipkin_begin,
	.trace = zipkin_trace,
	.end = zipkin_end,
};
