/*
 * Messages of all parts are gathered, eight bytes each, and asked about once: so a trace in parts gives
 * what it gives as a whole.
 */
#include "report/report-spectrum.h"

#include <string.h>

#include "infer/engine-xcorr.h"
#include "report/correlogram.h"
#include "report/error.h"
#include "report/glob.h"
#include "report/interrupt.h"
#include "report/spectrum.h"
#include "report/view.h"

static gboolean
gather_part(const WpAnalysis *part, gpointer data, GError **error G_GNUC_UNUSED)
{
	WpMessages *messages = data;
	const WpSpans *spans = wp_resolved_spans(part->resolved);
	if (messages->n)
		wp_messages_move(messages, part->resolved);
	for (guint32 i = 0; i < spans->n; i++)
		if (!part->answer || part->answer->takes[i])
			wp_messages_add_span(messages, &spans->spans[i]);
	return TRUE;
}

/* (transfer full) The nodes that ROOT means, among those that send; NULL with an error where there are none. */
static guint8 *
nodes_of_root(const char *root, const WpMessages *messages, const WpResolved *resolved,
	      GError **error)
{
	guint8 *is_root = g_malloc0(MAX(wp_resolved_n_nodes(resolved), 1));
	gboolean is_glob = strpbrk(root, "*?") != NULL, has_root = FALSE;
	for (guint32 i = 0; i < messages->n; i++) {
		guint32 node = messages->edges[i].sender;
		const char *name = wp_resolved_node_name(resolved, node);
		is_root[node] = is_glob ? wp_glob_matches(root, name) : strcmp(root, name) == 0;
		has_root |= is_root[node];
	}
	if (has_root || !messages->n)
		return is_root;
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "no node that sends messages is named '%s'\nwirepath inspect lists the nodes; "
		    "with the engine xcorr, roots are nodes",
		    root);
	g_free(is_root);
	return NULL;
}

/* With lags and bins as asked for, else so that the delays found can be seen. */
static gboolean
write_correlogram(const WpInvocation *invocation, const char *edge, const WpView *view,
		  const WpMessages *messages, const WpAnalysisOptions *wish,
		  const WpOutputOptions *output, const WpAnalysis *analysis,
		  const WpSpectra *spectra, GError **error)
{
	const WpXcorrOptions *given = wp_analysis_engine_options(wish, &wp_engine_xcorr);
	gint64 max_lag_ns = wp_options_given(wish->parser, "max-lag") ? given->max_lag_ns : 0;
	g_autoptr(WpCorrelogramView) correlogram =
		wp_correlogram_view_new(view, edge, messages, spectra, analysis->resolved,
					max_lag_ns, given->quantum_ns, error);
	return correlogram &&
	       wp_output_write(invocation, output, WP_WRITE_CORRELOGRAM, correlogram, error);
}

static gboolean
write_pages(const WpInvocation *invocation, const WpLoadOptions *load, const char *edge,
	    const WpMessages *messages, const WpAnalysisOptions *wish,
	    const WpOutputOptions *output, const WpAnalysis *analysis, const WpSpectra *spectra,
	    const WpLoadOutcome *outcome, GError **error)
{
	g_autofree char *file = wp_load_file(invocation);
	WpViewOptions shown = {
		.file = file,
		.root = wish->root,
		.partial = wp_load_partial_reason(outcome),
		.is_selective = wp_load_is_selective(load),
	};
	g_autoptr(WpView) view = wp_view_new(analysis, &shown);
	if (edge)
		return write_correlogram(invocation, edge, view, messages, wish, output, analysis,
					 spectra, error);
	g_autoptr(WpSpectrumView) spectrum = wp_spectrum_view_new(view, spectra, analysis->resolved,
								  outcome->is_inference_stopped);
	return wp_output_write(invocation, output, WP_WRITE_SPECTRUM, spectrum, error);
}

static WpSpectra *
infer(const WpInvocation *invocation, const WpMessages *messages, const guint8 *is_root,
      const WpAnalysisOptions *wish, WpLoadOutcome *outcome)
{
	if (invocation->progress)
		wp_progress_stage(invocation->progress, "correlating");
	gboolean was_stopped = wp_interrupt_came();
	WpSpectra *spectra = wp_xcorr_spectra(messages, is_root,
					      wp_analysis_engine_options(wish, &wp_engine_xcorr),
					      was_stopped ? NULL : wp_interrupt_came);
	outcome->is_inference_stopped |= wp_interrupt_came() && !was_stopped;
	if (invocation->progress)
		wp_progress_clear(invocation->progress);
	return spectra;
}

int
wp_report_spectrum(WpInvocation *invocation, const WpLoadOptions *load,
		   const WpAnalysisOptions *wish, const char *edge, WpOutputOptions *output,
		   GError **error)
{
	WpWriterUse use = edge ? WP_WRITE_CORRELOGRAM : WP_WRITE_SPECTRUM;
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	if (wish->where) {
		g_set_error_literal(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
				    "--where selects requests, which the engine xcorr does not "
				    "tell apart\nselect by --filter, --from, --to or --root");
		return -1;
	}
	if (!wp_output_check(invocation, output, use, error) || !wp_analysis_check(wish, error))
		return -1;
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(wish, files);
	if (!wp_output_guard(output, files, error))
		return -1;
	WpAnalysisOptions whole = *wish;
	whole.root = NULL;
	g_autoptr(WpMessages) messages = wp_messages_new();
	g_autoptr(WpAnalysis) analysis = wp_analysis_run(invocation, load, &whole, TRUE,
							 gather_part, messages, &outcome, error);
	if (!analysis)
		return -1;
	g_autofree guint8 *is_root = NULL;
	if (wish->root) {
		is_root = nodes_of_root(wish->root, messages, analysis->resolved, error);
		if (!is_root)
			return -1;
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = infer(invocation, messages, is_root, wish, &outcome);
	if (!write_pages(invocation, load, edge, messages, wish, output, analysis, spectra,
			 &outcome, error))
		return -1;
	return wp_load_status(invocation, load, &outcome, wp_trace_counters(analysis->trace),
			      error);
}
