/* wirepath export: requests in forms that other tools open. */
#include "report/analysis.h"
#include "report/command.h"
#include "report/error.h"
#include "report/export.h"
#include "report/load.h"

#define MAX_FORMS 16

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	const char *output;
	const char *format;
} ExportOptions;

static void
list_formats(WpOut *out)
{
	for (const WpExportForm *const *form = wp_export_forms; *form; form++)
		wp_out_printf(out, "%-12s%s\n", (*form)->name, (*form)->summary);
}

#define AT(member) .offset = offsetof(ExportOptions, member)

static const WpOption output_table[] = {
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  AT(format),
	  .argument = "NAME",
	  .help = "otlp (the default), jaeger, zipkin, chrome, speedscope, folded\nor prometheus; "
		  "else by the suffix of FILE" },
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXT,
	  AT(output),
	  .argument = "FILE",
	  .help = "write there instead of to standard output; .gz, .zst and .lz4\nare compressed" },
	{ .name = "setup",
	  .kind = WP_OPT_FLAG,
	  AT(analysis.resolve.keep_setup),
	  .help = "also greetings, logins and handshakes" },
	{ .name = "list-formats",
	  .kind = WP_OPT_ACTION,
	  .action = list_formats,
	  .help = "the formats" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	ExportOptions *options = data;
	wp_options_add(parser, "Output", output_table, options);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, TRUE);
}

static void
clear(gpointer data)
{
	wp_analysis_options_clear(&((ExportOptions *)data)->analysis);
}

/* NULL with an error that names all. */
static const WpExportForm *
choose_form(const ExportOptions *options, GError **error)
{
	WpForm forms[MAX_FORMS] = { { NULL, NULL } };
	for (guint i = 0; wp_export_forms[i]; i++)
		forms[i] = (WpForm){ wp_export_forms[i]->name, wp_export_forms[i]->suffixes };
	int i = wp_form_choose(forms, options->output, options->format, error);
	return i < 0 ? NULL : wp_export_forms[i];
}

typedef struct {
	const ExportOptions *options;
	const WpExportForm *form;
	WpOut *out; /* NULL: not opened yet, as nothing has been inferred */
	WpExport *export;
} Exporting;

static void
exporting_clear(Exporting *exporting)
{
	wp_export_free(exporting->export);
	wp_out_free(exporting->out);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Exporting, exporting_clear)

static gboolean
write_part(const WpAnalysis *part, gpointer data, GError **error)
{
	Exporting *exporting = data;
	if (!exporting->out) {
		const char *output = exporting->options->output;
		exporting->out = wp_out_open(output ? output : "-", error);
		if (!exporting->out)
			return FALSE;
		exporting->export = wp_export_new(exporting->form, exporting->out);
	}
	wp_export_add(exporting->export, part);
	return !wp_out_failed(exporting->out) || wp_out_close(exporting->out, error);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	ExportOptions *options = data;
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	const WpExportForm *form = choose_form(options, error);
	if (!form || !wp_analysis_check(&options->analysis, error))
		return -1;
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(&options->analysis, files);
	if (!wp_overwrite_add_output(files, options->output, error))
		return -1;
	g_auto(Exporting) exporting = { .options = options, .form = form };
	g_autoptr(WpAnalysis) analysis =
		wp_analysis_run(invocation, &options->load, &options->analysis, FALSE, write_part,
				&exporting, &outcome, error);
	if (!analysis)
		return -1;
	const WpExportEnd end = { wp_trace_counters(analysis->trace) };
	wp_export_finish(exporting.export, &end);
	if (!wp_out_close(exporting.out, error))
		return -1;
	wp_analysis_warn_of_nothing(invocation, analysis, &options->analysis);
	return wp_load_status(invocation, &options->load, &outcome, end.counters, error);
}

const WpCommand wp_command_export = {
	.name = "export",
	.synopsis = "[OPTION]... INPUT... [--format NAME] [-o FILE]",
	.summary = "requests as spans, flame graphs or metrics, for other tools",
	.examples =
		"  wirepath export capture.pcap -o capture.jaeger.json\n"
		"  wirepath export --format folded capture.pcap | flamegraph.pl > graph.svg\n"
		"  wirepath export --where 'status == error' capture.pcap > errors.otlp.jsonl\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(ExportOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
