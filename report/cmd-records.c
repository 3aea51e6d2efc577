/* wirepath records: packets to a trace, without inference, in one pass and in little memory. */
#include "capture/trace-io.h"
#include "report/command.h"
#include "report/error.h"
#include "report/form.h"
#include "report/interrupt.h"
#include "report/load.h"
#include "report/sieve.h"

typedef struct {
	WpLoadOptions load;
	const char *where;
	const char *output;
	const char *format;
	const char *names_file;
} RecordsOptions;

static const WpOption table[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXT,
	  .offset = offsetof(RecordsOptions, output),
	  .argument = "FILE",
	  .help = "write there instead of to standard output; .gz, .zst and .lz4\nare compressed, "
		  ".wpt is the binary form" },
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  .offset = offsetof(RecordsOptions, format),
	  .argument = "NAME",
	  .help = "text, or wpt: binary, smaller and faster; by default by\nsuffix, else text" },
	{ .name = NULL },
};

static const WpOption node_table[] = {
	{ .name = "names",
	  .kind = WP_OPT_TEXT,
	  .offset = offsetof(RecordsOptions, names_file),
	  .argument = "FILE",
	  .help = "names of nodes, to be kept in the trace: lines \"ADDRESS[/BITS] NAME\"" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	RecordsOptions *options = data;
	wp_options_add(parser, "Output", table, options);
	wp_load_declare(parser, &options->load);
	wp_sieve_declare(parser, &options->where);
	wp_options_add(parser, "Nodes", node_table, options);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	RecordsOptions *options = data;
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpWhere) where = NULL;
	const char *form = wp_trace_form_choose(options->output, options->format, error);
	if (!form)
		return -1;
	if (options->where) {
		where = wp_sieve_where(options->where, error);
		if (!where)
			return -1;
	}
	g_autoptr(WpNames) names = NULL;
	if (options->names_file) {
		names = wp_names_read(options->names_file, error);
		if (!names)
			return -1;
	}
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	wp_load_add_inputs(invocation, files);
	wp_overwrite_add_input(files, options->names_file);
	if (!wp_overwrite_add_output(files, options->output, error))
		return -1;
	wp_interrupt_catch();
	WpRecordSink *writer =
		wp_trace_writer_new_as(options->output ? options->output : "-", form, error);
	if (!writer)
		return -1;
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpSieve) sieve = wp_sieve_new(writer, where);
	wp_sieve_set_names(sieve, names);
	gboolean ok = wp_load_stream(invocation, &options->load, nodes, wp_sieve_sink(sieve),
				     &outcome, error);
	int status = -1;
	if (ok)
		status = wp_load_status(invocation, &options->load, &outcome,
					wp_sieve_counters(sieve), error);
	else
		wp_trace_writer_stop(writer, error);
	wp_trace_writer_free(writer);
	return status;
}

const WpCommand wp_command_records = {
	.name = "records",
	.synopsis = "[OPTION]... INPUT... [-o FILE]",
	.summary = "packets to a trace: one line per call and return, no inference",
	.examples = "  wirepath records capture.pcap -o capture.trace.zst\n"
		    "  wirepath records capture.pcap -o capture.wpt\n"
		    "  wirepath records capture.pcap | grep 'GET /cart'\n"
		    "  wirepath records big.pcap -o - | wirepath report -\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(RecordsOptions),
	.declare = declare,
	.run = run,
};
