/*
 * Requests on a time axis: the JSON of Chrome's trace viewer, which Perfetto and speedscope open as well. A node is a
 * process, and its calls lie in lanes (threads): on one lane no two calls overlap, as viewers want events of a
 * thread to nest. An arrow leads from the caller to the call.
 *
 * Times are microseconds since the first call, as these readers keep them as doubles; otherData.epoch_ns is
 * the time of that call.
 */
#include "config.h"

#include <string.h>

#include "report/export-tags.h"
#include "report/export.h"
#include "report/json.h"

/* Lanes of a node that are searched for a free one; beyond, each call has its own. */
#define MAX_SEARCHED 512

typedef struct {
	GArray *lanes; /* gint64: end of the last call on it */
} Process;

typedef struct {
	WpJson json;
	GPtrArray *processes; /* by node; NULL = not met yet */
	gboolean has_first;
	gint64 first_ns;
	GArray *places; /* guint32: lane of each call of the trace at hand */
	guint64 n_arrows;
} Chrome;

static void
process_free(gpointer data)
{
	Process *process = data;
	if (!process)
		return;
	g_array_unref(process->lanes);
	g_free(process);
}

static void
chrome_begin(gpointer state, WpOut *out)
{
	Chrome *chrome = state;
	chrome->json = (WpJson){ .out = out, .is_compact = TRUE };
	chrome->processes = g_ptr_array_new_with_free_func(process_free);
	chrome->places = g_array_new(FALSE, FALSE, sizeof(guint32));
	wp_json_open(&chrome->json, NULL, '{');
	wp_json_text(&chrome->json, "displayTimeUnit", "ms");
	wp_json_open(&chrome->json, "traceEvents", '[');
}

static void
chrome_clear(gpointer state)
{
	Chrome *chrome = state;
	g_clear_pointer(&chrome->processes, g_ptr_array_unref);
	g_clear_pointer(&chrome->places, g_array_unref);
}

/* An event, left open. */
static void
open_event(Chrome *chrome, const char *phase, guint32 node, guint32 lane)
{
	wp_out_char(chrome->json.out, '\n');
	wp_json_open(&chrome->json, NULL, '{');
	wp_json_text(&chrome->json, "ph", phase);
	wp_json_uint(&chrome->json, "pid", (guint64)node + 1);
	wp_json_uint(&chrome->json, "tid", (guint64)lane + 1);
}

static void
write_name(Chrome *chrome, guint32 node, guint32 lane, const char *kind, const char *name)
{
	WpJson *json = &chrome->json;
	open_event(chrome, "M", node, lane);
	wp_json_text(json, "name", kind);
	wp_json_open(json, "args", '{');
	wp_json_text(json, "name", name);
	wp_json_close(json, '}');
	wp_json_close(json, '}');
}

static guint32
find_lane(Chrome *chrome, const WpExportCall *call)
{
	guint32 node = call->callee_number;
	if (node >= chrome->processes->len)
		g_ptr_array_set_size(chrome->processes, (gint)node + 1);
	Process *process = chrome->processes->pdata[node];
	if (!process) {
		chrome->processes->pdata[node] = process = g_new0(Process, 1);
		process->lanes = g_array_new(FALSE, FALSE, sizeof(gint64));
		write_name(chrome, node, 0, "process_name", call->callee);
	}
	for (guint32 i = 0; i < MIN(process->lanes->len, MAX_SEARCHED); i++) {
		gint64 *end_ns = &g_array_index(process->lanes, gint64, i);
		if (*end_ns <= call->begin_ns) {
			*end_ns = call->end_ns;
			return i;
		}
	}
	g_array_append_val(process->lanes, call->end_ns);
	return process->lanes->len - 1;
}

static void
write_us(Chrome *chrome, const char *key, gint64 ns)
{
	wp_json_number(&chrome->json, key, (double)ns / 1000, 3);
}

static void
write_tag(const WpTag *tag, gpointer data)
{
	WpJson *json = &((Chrome *)data)->json;
	if (tag->kind == WP_TAG_TEXT)
		wp_json_text(json, tag->key, tag->text);
	else if (tag->kind == WP_TAG_NUMBER)
		wp_json_number(json, tag->key, tag->real, 4);
	else if (tag->kind == WP_TAG_BOOL)
		wp_json_bool(json, tag->key, tag->number != 0);
	else
		wp_json_int(json, tag->key, tag->number);
}

static void
write_call(Chrome *chrome, const WpExportTrace *trace, const WpExportCall *call, guint32 lane)
{
	WpJson *json = &chrome->json;
	char id[WP_EXPORT_ID_MAX];
	open_event(chrome, "X", call->callee_number, lane);
	wp_json_text(json, "cat", "call");
	wp_json_text(json, "name", wp_export_operation(call));
	write_us(chrome, "ts", call->begin_ns - chrome->first_ns);
	write_us(chrome, "dur", call->end_ns - call->begin_ns);
	wp_json_open(json, "args", '{');
	wp_json_text(json, "trace", wp_export_trace_id(trace->id, id));
	wp_json_text(json, "span", wp_export_span_id(call->id, id));
	wp_export_tags(call, FALSE, write_tag, chrome);
	wp_json_close(json, '}');
	wp_json_close(json, '}');
}

/* Perfetto knows an arrow by id, category and name. */
static void
write_arrow_end(Chrome *chrome, const char *phase, const WpExportCall *at, guint32 lane,
		gint64 time_ns)
{
	WpJson *json = &chrome->json;
	open_event(chrome, phase, at->callee_number, lane);
	wp_json_text(json, "cat", "cause");
	wp_json_text(json, "name", "cause");
	wp_json_uint(json, "id", chrome->n_arrows);
	if (strcmp(phase, "f") == 0)
		wp_json_text(json, "bp", "e");
	write_us(chrome, "ts", time_ns - chrome->first_ns);
	wp_json_close(json, '}');
}

static void
chrome_trace(gpointer state, const WpExportTrace *trace, WpOut *out)
{
	Chrome *chrome = state;
	(void)out;
	if (!chrome->has_first)
		chrome->first_ns = trace->calls[0].begin_ns;
	chrome->has_first = TRUE;
	g_array_set_size(chrome->places, 0);
	for (guint32 i = 0; i < trace->n_calls; i++) {
		const WpExportCall *call = &trace->calls[i];
		guint32 lane = find_lane(chrome, call);
		g_array_append_val(chrome->places, lane);
		write_call(chrome, trace, call, lane);
		if (call->parent == WP_EXPORT_NONE)
			continue;
		guint32 from = g_array_index(chrome->places, guint32, call->parent);
		chrome->n_arrows++;
		write_arrow_end(chrome, "s", &trace->calls[call->parent], from, call->begin_ns);
		write_arrow_end(chrome, "f", call, lane, call->begin_ns);
	}
}

static void
chrome_end(gpointer state, const WpExportEnd *end, WpOut *out)
{
	Chrome *chrome = state;
	WpJson *json = &chrome->json;
	(void)end;
	wp_out_char(out, '\n');
	wp_json_close(json, ']');
	wp_json_open(json, "otherData", '{');
	wp_json_text(json, "exporter", "wirepath " PACKAGE_VERSION);
	wp_json_epoch(json, "epoch_ns", chrome->first_ns);
	wp_json_close(json, '}');
	wp_json_close(json, '}');
}

/* Not chrome.json: speedscope takes that for another format. */
static const char *const chrome_suffixes[] = { "trace.json", NULL };

const WpExportForm wp_export_chrome = {
	.name = "chrome",
	.summary = "trace events, for Perfetto and chrome://tracing",
	.suffixes = chrome_suffixes,
	.state_size = sizeof(Chrome),
	.begin = chrome_begin,
	.trace = chrome_trace,
	.end = chrome_end,
	.clear = chrome_clear,
};
