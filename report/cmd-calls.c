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
	  .help = "write there instead of to standard output; .gz, .zst and .lz4\nare compressed" },
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

typedef struct {
	const CallsOptions *options;
	WpCallsFormat format;
	WpOut *out; /* NULL: not opened yet, as nothing has been inferred */
	WpCallRows *rows;
} Calls;

static void
calls_clear(Calls *calls)
{
	wp_call_rows_free(calls->rows);
	wp_out_free(calls->out);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Calls, calls_clear)

static gboolean
write_part(const WpAnalysis *part, gpointer data, GError **error)
{
	Calls *calls = data;
	if (!calls->out) {
		const char *output = calls->options->output;
		calls->out = wp_out_open(output ? output : "-", error);
		if (!calls->out)
			return FALSE;
		calls->rows = wp_call_rows_new(calls->format, calls->out);
	}
	wp_call_rows_add(calls->rows, part);
	return !wp_out_failed(calls->out) || wp_out_close(calls->out, error);
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
	g_auto(Calls) calls = { .options = options, .format = (WpCallsFormat)format };
	g_autoptr(WpAnalysis) analysis =
		wp_analysis_run(invocation, &options->load, &options->analysis, FALSE, write_part,
				&calls, &outcome, error);
	if (!analysis || !wp_out_close(calls.out, error))
		return -1;
	wp_analysis_warn_of_nothing(invocation, analysis, &options->analysis);
	return wp_load_status(invocation, &options->load, &outcome,
			      wp_trace_counters(analysis->trace), error);
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
