/* wirepath calls: every inferred call as a row, for scripts and other tools. */
#include "report/analysis.h"
#include "report/call-rows.h"
#include "report/command.h"
#include "report/error.h"
#include "report/load.h"

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	const char *output;
	const char *format;
} CallsOptions;

static const WpOption output_table[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXT,
	  .offset = offsetof(CallsOptions, output),
	  .argument = "FILE",
	  .help = "write there instead of to standard output; .gz and .zst\nare compressed" },
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  .offset = offsetof(CallsOptions, format),
	  .argument = "NAME",
	  .help = "csv (the default) or jsonl: one JSON object a line;\nelse by the suffix of "
		  "FILE" },
	{ .name = "setup",
	  .kind = WP_OPT_FLAG,
	  .offset = offsetof(CallsOptions, analysis.resolve.keep_setup),
	  .help = "also greetings, logins and handshakes" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	CallsOptions *options = data;
	wp_options_add(parser, "Output", output_table, options);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, TRUE);
}

static void
clear(gpointer data)
{
	wp_analysis_options_clear(&((CallsOptions *)data)->analysis);
}

static gboolean
write_calls(const WpInvocation *invocation, const CallsOptions *options, const WpTrace *trace,
	    WpCallsFormat format, WpLoadOutcome *outcome, GError **error)
{
	g_autoptr(WpAnalysis) analysis = wp_analysis_new(trace, &options->analysis, FALSE,
							 invocation->progress, outcome, error);
	if (!analysis)
		return FALSE;
	wp_analysis_warn_of_nothing(invocation, analysis, &options->analysis);
	g_autoptr(WpOut) out = wp_out_open(options->output ? options->output : "-", error);
	if (!out)
		return FALSE;
	wp_calls_write(analysis, format, out);
	return wp_out_close(out, error);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	CallsOptions *options = data;
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	int format = wp_form_choose(wp_calls_forms, options->output, options->format, error);
	if (format < 0 || !wp_analysis_check(&options->analysis, error))
		return -1;
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(&options->analysis, files);
	if (!wp_overwrite_add_output(files, options->output, error))
		return -1;
	g_autoptr(WpTrace) trace = wp_load_trace(invocation, &options->load, &outcome, error);
	if (!trace ||
	    !write_calls(invocation, options, trace, (WpCallsFormat)format, &outcome, error))
		return -1;
	return wp_load_status(invocation, &options->load, &outcome, wp_trace_counters(trace),
			      error);
}

const WpCommand wp_command_calls = {
	.name = "calls",
	.synopsis = "[OPTION]... INPUT... [-o FILE]",
	.summary = "every call with the call that caused it, one a line, for scripts",
	.examples = "  wirepath calls capture.pcap -o calls.csv\n"
		    "  wirepath calls --format jsonl capture.pcap | jq .operation\n"
		    "  wirepath calls --where 'status == error' capture.pcap\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(CallsOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
