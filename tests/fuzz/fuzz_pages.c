/*
 * A trace through inference into every page. No page may hold a control byte but the newline, whatever
 * the names in the trace are.
 */
#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "capture/trace-io.h"
#include "capture/trace.h"
#include "infer/engine-xcorr.h"
#include "report/analysis.h"
#include "report/call-rows.h"
#include "report/correlogram.h"
#include "report/inspect.h"
#include "report/join.h"
#include "report/view.h"
#include "report/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_page(const WpOut *out)
{
	const char *text = wp_out_string(out);
	g_assert(g_utf8_validate(text, -1, NULL));
	for (; *text; text++)
		g_assert((guint8)*text >= 0x20 ? *text != 0x7f : *text == '\n');
}

static void
write_report(const WpView *view)
{
	for (const WpWriter *const *writer = wp_writers; *writer; writer++)
		for (guint utf8 = 0; utf8 <= 1; utf8++) {
			g_autoptr(WpOut) out = wp_out_new_memory();
			if (!(*writer)->report)
				continue;
			WpPage page = { .style = { utf8 ? 200 : 80, utf8, FALSE },
					.top = utf8 ? 0 : 2 };
			(*writer)->report(view, &page, out);
			check_page(out);
		}
}

static void
write_inspection(const WpTrace *trace)
{
	g_autoptr(WpInspector) inspector = wp_inspector_new(wp_trace_nodes(trace), NULL);
	g_assert(wp_trace_push(trace, wp_inspector_sink(inspector), NULL));
	const WpInspection *inspection = wp_inspector_finish(inspector, NULL, NULL, FALSE);
	for (const WpWriter *const *writer = wp_writers; *writer; writer++) {
		g_autoptr(WpOut) out = wp_out_new_memory();
		WpPage page = { .style = { 80, TRUE, FALSE } };
		if (!(*writer)->inspect)
			continue;
		(*writer)->inspect(inspection, &page, out);
		check_page(out);
	}
}

/* (transfer full) A way through a node; NULL where there is none. */
static char *
find_way(const WpMessages *messages, const WpResolved *resolved)
{
	for (guint32 i = 0; i < messages->n; i++)
		for (guint32 k = 0; k < messages->n; k++)
			if (messages->edges[i].receiver == messages->edges[k].sender)
				return g_strjoin(
					":",
					wp_resolved_node_name(resolved, messages->edges[i].sender),
					wp_resolved_node_name(resolved, messages->edges[k].sender),
					wp_resolved_node_name(resolved,
							      messages->edges[k].receiver),
					NULL);
	return NULL;
}

static void
write_correlogram(const WpAnalysis *analysis, const WpView *view)
{
	const WpSpans *spans = wp_resolved_spans(analysis->resolved);
	g_autoptr(WpMessages) messages = wp_messages_new();
	for (guint32 i = 0; i < spans->n; i++)
		wp_messages_add_span(messages, &spans->spans[i]);
	wp_messages_freeze(messages);
	g_autofree char *way = find_way(messages, analysis->resolved);
	if (!way)
		return;
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	g_autoptr(WpCorrelogramView) drawn = wp_correlogram_view_new(
		view, way, messages, spectra, analysis->resolved, 0, 0, NULL);
	for (const WpWriter *const *writer = wp_writers; *writer; writer++) {
		g_autoptr(WpOut) out = wp_out_new_memory();
		WpPage page = { .style = { .width = 100, .utf8 = TRUE } };
		if (!drawn || !(*writer)->correlogram)
			continue;
		(*writer)->correlogram(drawn, &page, out);
		check_page(out);
	}
}

static void
write_all(const WpTrace *trace)
{
	g_autoptr(WpOptions) parser = wp_options_new();
	WpAnalysisOptions options = { 0 };
	WpViewOptions shown = { .root = NULL };
	wp_analysis_declare(parser, &options, TRUE);
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpAnalysis) analysis =
		wp_analysis_new(trace, &options, TRUE, NULL, &outcome, NULL);
	g_assert(analysis);
	g_autoptr(WpView) view = wp_view_new(analysis, &shown);
	write_report(view);
	write_correlogram(analysis, view);
	for (int format = 0; wp_calls_forms[format].name; format++) {
		g_autoptr(WpOut) out = wp_out_new_memory();
		g_autoptr(WpCallRows) rows = wp_call_rows_new((WpCallsFormat)format, out);
		wp_call_rows_add(rows, analysis);
		check_page(out);
	}
	write_inspection(trace);
	wp_analysis_options_clear(&options);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	g_autofree char *path = g_strdup_printf("%s/fuzz-pages-%d", folder, (int)getpid());
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);

	g_assert(g_file_set_contents(path, (const char *)data, (gssize)size, NULL));
	if (wp_trace_read(path, NULL, nodes, wp_trace_sink(trace), NULL)) {
		wp_trace_freeze(trace);
		write_all(trace);
	}
	g_unlink(path);
	return 0;
}
