/* wirepath inspect: what a capture holds and what is missing from it; nothing is inferred. */
#include "report/command.h"
#include "report/error.h"
#include "report/inspect.h"
#include "report/load.h"
#include "report/output.h"
#include "report/sieve.h"

typedef struct {
	WpLoadOptions load;
	const char *where;
	const char *names_file;
	WpOutputOptions output;
} InspectOptions;

static const WpOption node_table[] = {
	{ .name = "names",
	  .kind = WP_OPT_TEXT,
	  .offset = offsetof(InspectOptions, names_file),
	  .argument = "FILE",
	  .help = "names of nodes: lines \"ADDRESS[/BITS][:PORT] NAME\"" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	InspectOptions *options = data;
	wp_output_declare(parser, &options->output, WP_WRITE_INSPECT);
	wp_load_declare(parser, &options->load);
	wp_sieve_declare(parser, &options->where);
	wp_options_add(parser, "Nodes", node_table, options);
}

static void
clear(gpointer data)
{
	wp_output_options_clear(&((InspectOptions *)data)->output);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	InspectOptions *options = data;
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpWhere) where = NULL;
	g_autoptr(WpNames) names = NULL;
	if (!wp_output_check(invocation, &options->output, WP_WRITE_INSPECT, error))
		return -1;
	if (options->where) {
		where = wp_sieve_where(options->where, error);
		if (!where)
			return -1;
	}
	if (options->names_file) {
		names = wp_names_read(options->names_file, error);
		if (!names)
			return -1;
	}
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	wp_load_add_inputs(invocation, files);
	wp_overwrite_add_input(files, options->names_file);
	if (!wp_output_guard(&options->output, files, error))
		return -1;
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpInspector) inspector = wp_inspector_new(nodes, names);
	g_autoptr(WpSieve) sieve = wp_sieve_new(wp_inspector_sink(inspector), where);
	if (!wp_load_stream(invocation, &options->load, nodes, wp_sieve_sink(sieve), &outcome,
			    error))
		return -1;
	g_autofree char *file = wp_load_file(invocation);
	const WpInspection *inspection =
		wp_inspector_finish(inspector, file, wp_load_partial_reason(&outcome),
				    wp_load_is_selective(&options->load) || where);
	if (!wp_output_write(invocation, &options->output, WP_WRITE_INSPECT, inspection, error))
		return -1;
	return wp_load_status(invocation, &options->load, &outcome, wp_sieve_counters(sieve),
			      error);
}

const WpCommand wp_command_inspect = {
	.name = "inspect",
	.synopsis = "[OPTION]... INPUT...",
	.summary = "nodes, protocols, flows and quality of a capture; no inference",
	.examples = "  wirepath inspect capture.pcap\n"
		    "  wirepath inspect --all capture.pcap           every flow\n"
		    "  wirepath inspect -o capture.json capture.pcap\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(InspectOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
