/* wirepath export: requests in forms that other tools open; and their packets. */
#include <string.h>

#include "capture/output.h"
#include "report/analysis.h"
#include "report/command.h"
#include "report/error.h"
#include "report/excerpt.h"
#include "report/export.h"
#include "report/format.h"
#include "report/load.h"

#define MAX_FORMS       16
#define MAX_SLOWEST     100000
#define DEFAULT_SLOWEST 10

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	const char *output;
	const char *format;
	gint64 slowest; /* 0 = not given */
	gboolean own_ids;
} ExportOptions;

/* The requests' own packets: no form of wp_export_forms, as the captures are read once more for them. */
static const struct {
	const char *name;
	const char *suffixes[2];
	WpPacketFileForm form;
	const char *summary;
} packet_forms[] = {
	{ "pcapng", { "pcapng" }, WP_PACKET_FILE_PCAPNG, "the packets of the slowest requests" },
	{ "pcap", { "pcap" }, WP_PACKET_FILE_PCAP, "the same, where all have one link type" },
};

static void
list_formats(WpOut *out)
{
	for (const WpExportForm *const *form = wp_export_forms; *form; form++)
		wp_out_printf(out, "%-12s%s\n", (*form)->name, (*form)->summary);
	for (gsize i = 0; i < G_N_ELEMENTS(packet_forms); i++)
		wp_out_printf(out, "%-12s%s\n", packet_forms[i].name, packet_forms[i].summary);
}

#define AT(member) .offset = offsetof(ExportOptions, member)

static const WpOption output_table[] = {
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  AT(format),
	  .argument = "NAME",
	  .help = "otlp (the default), jaeger, zipkin, chrome, speedscope, folded,\nprometheus, "
		  "pcapng or "
		  "pcap; else by the suffix of FILE" },
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXT,
	  AT(output),
	  .argument = "FILE",
	  .help = "write there instead of to standard output; .gz, .zst and .lz4\nare compressed" },
	{ .name = "slowest",
	  .kind = WP_OPT_INT,
	  AT(slowest),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = MAX_SLOWEST,
	  .help = "packets: of so many requests; by default 10" },
	{ .name = "own-ids",
	  .kind = WP_OPT_FLAG,
	  AT(own_ids),
	  .help = "spans: no ids of traces that programs sent (traceparent)" },
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

/* The number of the form: those of packets come last. -1 with an error that names all. */
static int
choose_form(const ExportOptions *options, GError **error)
{
	WpForm forms[MAX_FORMS] = { { NULL, NULL } };
	guint n = 0;

	for (; wp_export_forms[n]; n++)
		forms[n] = (WpForm){ wp_export_forms[n]->name, wp_export_forms[n]->suffixes };
	for (guint i = 0; i < G_N_ELEMENTS(packet_forms); i++)
		forms[n + i] = (WpForm){ packet_forms[i].name, packet_forms[i].suffixes };
	int number = wp_form_choose(forms, options->output, options->format, error);
	if (number >= 0 && number < (int)n && options->slowest) {
		g_set_error(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			"--slowest is for --format pcapng and pcap\n--where chooses requests for "
			"the other forms");
		return -1;
	}
	return number;
}

static guint
n_export_forms(void)
{
	guint n = 0;
	while (wp_export_forms[n])
		n++;
	return n;
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
		exporting->export = wp_export_new(exporting->form, !exporting->options->own_ids,
						  exporting->out);
	}
	wp_export_add(exporting->export, part);
	return !wp_out_failed(exporting->out) || wp_out_close(exporting->out, error);
}

/* --- packets --- */

/* Standard input is gone once it was read; a capture file cannot be compressed while it is written. */
static gboolean
check_packets(const WpInvocation *invocation, const ExportOptions *options, GError **error)
{
	for (guint i = 0; i < invocation->n_operands; i++)
		if (strcmp(wp_load_path(invocation->operands[i]), "-") == 0) {
			g_set_error(
				error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
				"packets are taken out of captures in a second reading, which "
				"standard input does not allow\nsave the input to a file first");
			return FALSE;
		}
	const char *output = options->output ? options->output : "-";
	if (wp_output_plain_length(output) == strlen(output))
		return TRUE;
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "-o %s: packets are not written compressed\ncompress the file afterwards",
		    output);
	return FALSE;
}

static int
compare_requests(gconstpointer a, gconstpointer b)
{
	const WpInstance *x = *(const WpInstance *const *)a, *y = *(const WpInstance *const *)b;
	gint64 x_ns = wp_instance_latency_ns(x), y_ns = wp_instance_latency_ns(y);

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return (x->calls[0].begin_ns > y->calls[0].begin_ns) -
	       (x->calls[0].begin_ns < y->calls[0].begin_ns);
}

/* The N slowest that PATTERNS have kept. Returns how many. */
static guint
add_slowest(WpExcerpt *excerpt, const WpPatternSet *patterns, guint n)
{
	g_autoptr(GPtrArray) requests = g_ptr_array_new();

	for (guint32 i = 0; i < patterns->n_patterns; i++) {
		const GPtrArray *kept = patterns->patterns[i].kept;
		for (guint k = 0; kept && k < kept->len; k++)
			g_ptr_array_add(requests, kept->pdata[k]);
	}
	g_ptr_array_sort(requests, compare_requests);
	n = MIN(n, requests->len);
	for (guint i = 0; i < n; i++)
		wp_excerpt_add(excerpt, requests->pdata[i]);
	return n;
}

/* Reads the captures once more. */
static gboolean
take_packets(const WpInvocation *invocation, const ExportOptions *options, WpPacketFileForm form,
	     WpExcerpt *excerpt, WpLoadOutcome *outcome, GError **error)
{
	static const WpRecordSinkOps ops = { .begin = NULL };
	WpRecordSink nowhere = { &ops };
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpLoadOptions load = options->load;

	load.frame = wp_excerpt_frame;
	load.frame_data = excerpt;
	wp_excerpt_begin(excerpt, options->output ? options->output : "-", form);
	return wp_load_stream(invocation, &load, nodes, &nowhere, outcome, error);
}

static gboolean
write_packets(const WpInvocation *invocation, ExportOptions *options, WpPacketFileForm form,
	      WpExcerpt *excerpt, guint n_requests, GError **error)
{
	g_auto(WpLoadOutcome) again = { 0 };
	char packets[WP_FORMAT_MAX], requests[WP_FORMAT_MAX];
	guint64 n = 0;

	if (wp_excerpt_n_calls(excerpt) > 0 &&
	    !take_packets(invocation, options, form, excerpt, &again, error))
		return FALSE;
	if (!wp_excerpt_finish(excerpt, &n, error))
		return FALSE;
	if (n == 0) {
		g_set_error(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA, "%s",
			n_requests == 0
				? "there are no requests, so there are no packets of them"
				: "the inputs hold no packets of the requests: traces and spans "
				  "have calls alone\ngive the captures that they come from");
		return FALSE;
	}
	g_autofree char *line =
		g_strdup_printf("%s packets of %s requests", wp_format_count(packets, n),
				wp_format_count(requests, n_requests));
	wp_progress_say(invocation->progress, line);
	return TRUE;
}

static int
export_packets(WpInvocation *invocation, ExportOptions *options, WpPacketFileForm form,
	       GError **error)
{
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpExcerpt) excerpt = wp_excerpt_new();
	g_auto(WpKeep) keep = { 0 };
	guint n = options->slowest ? (guint)options->slowest : DEFAULT_SLOWEST;

	if (!check_packets(invocation, options, error))
		return -1;
	wp_keep_init_slowest(&keep, n);
	options->analysis.keep = &keep;
	g_autoptr(WpAnalysis) analysis = wp_analysis_run(
		invocation, &options->load, &options->analysis, TRUE, NULL, NULL, &outcome, error);
	options->analysis.keep = NULL;
	if (!analysis)
		return -1;
	n = add_slowest(excerpt, analysis->patterns, n);
	if (!write_packets(invocation, options, form, excerpt, n, error))
		return -1;
	wp_analysis_warn_of_nothing(invocation, analysis, &options->analysis);
	return wp_load_status(invocation, &options->load, &outcome,
			      wp_trace_counters(analysis->trace), error);
}

/* --- all --- */

static void
say_traced(const WpInvocation *invocation, const WpExportTraced *traced)
{
	char believed[WP_FORMAT_MAX], doubted[WP_FORMAT_MAX];
	g_autoptr(GString) line = g_string_new(NULL);

	if (traced->believed)
		g_string_append_printf(line, "%s calls stand in the traces that programs named",
				       wp_format_count(believed, traced->believed));
	if (traced->doubted)
		g_string_append_printf(line,
				       "%s%s calls name a trace and a parent that unrelated calls "
				       "name too: not used",
				       line->len ? "; " : "",
				       wp_format_count(doubted, traced->doubted));
	if (line->len)
		wp_progress_say(invocation->progress, line->str);
}

static int
export_calls(WpInvocation *invocation, ExportOptions *options, const WpExportForm *form,
	     GError **error)
{
	g_auto(WpLoadOutcome) outcome = { 0 };
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
	say_traced(invocation, wp_export_traced(exporting.export));
	wp_analysis_warn_of_nothing(invocation, analysis, &options->analysis);
	return wp_load_status(invocation, &options->load, &outcome, end.counters, error);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	ExportOptions *options = data;
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	int number = choose_form(options, error);
	guint n = n_export_forms();

	if (number < 0 || !wp_analysis_check(&options->analysis, error))
		return -1;
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(&options->analysis, files);
	if (!wp_overwrite_add_output(files, options->output, error))
		return -1;
	if ((guint)number >= n)
		return export_packets(invocation, options, packet_forms[(guint)number - n].form,
				      error);
	return export_calls(invocation, options, wp_export_forms[number], error);
}

const WpCommand wp_command_export = {
	.name = "export",
	.synopsis = "[OPTION]... INPUT... [--format NAME] [-o FILE]",
	.summary = "requests as spans, flame graphs, metrics or packets, for other tools",
	.examples = "  wirepath export capture.pcap -o capture.jaeger.json\n"
		    "  wirepath export --format folded capture.pcap | flamegraph.pl > graph.svg\n"
		    "  wirepath export --where 'status == error' capture.pcap > errors.otlp.jsonl\n"
		    "  wirepath export --slowest 10 capture.pcap -o slowest.pcapng\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(ExportOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
