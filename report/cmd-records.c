/* wirepath records: packets to a trace, without inference, in one pass and in little memory. */
#include "capture/trace-io.h"
#include "report/command.h"
#include "report/error.h"
#include "report/escape.h"
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
	const char *truth;
} RecordsOptions;

static const WpOption table[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXT,
	  .offset = offsetof(RecordsOptions, output),
	  .argument = "FILE",
	  .help = "write there instead of to standard output; .gz, .zst and .lz4\nare compressed, "
		  ".wpt is the binary form" },
	{ .name = "truth",
	  .kind = WP_OPT_TEXT,
	  .offset = offsetof(RecordsOptions, truth),
	  .argument = "FILE",
	  .help = "spans and mails: write there which call or message caused which,\nas they "
		  "tell, for evaluate --truth" },
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

static gboolean
write_truth(guint64 id, guint64 parent, gpointer data, GError **error)
{
	WpOut *out = data;
	(void)error; /* told when it is closed */
	wp_out_uint(out, id);
	wp_out_char(out, ',');
	if (parent)
		wp_out_uint(out, parent);
	wp_out_char(out, '\n');
	return TRUE;
}

static gboolean
write_span_truth(const char *id, const char *parent, gpointer data, GError **error)
{
	g_autoptr(GString) row = g_string_new(NULL);
	(void)error;
	wp_escape_csv_to(row, id);
	g_string_append_c(row, ',');
	wp_escape_csv_to(row, parent);
	g_string_append_c(row, '\n');
	wp_out_text(data, row->str);
	return TRUE;
}

/* (transfer full) The truth file, which the loader is told to fill; NULL where it is not wanted, or with error. */
static WpOut *
open_truth(RecordsOptions *options, WpOverwrite *files, GError **error)
{
	if (!options->truth)
		return NULL;
	if (!wp_overwrite_add_output(files, options->truth, error))
		return NULL;
	WpOut *out = wp_out_open(options->truth, error);
	if (!out)
		return NULL;
	wp_out_text(out, "call_id,parent_id\n");
	options->load.mail_truth = write_truth;
	options->load.span_truth = write_span_truth;
	options->load.truth_data = out;
	return out;
}

/* What goes into the trace beside the records. */
typedef struct {
	WpWhere *where; /* NULL = all */
	WpNames *names; /* NULL = none */
} Facts;

static void
facts_clear(Facts *facts)
{
	wp_where_free(facts->where);
	wp_names_free(facts->names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Facts, facts_clear)

static gboolean
read_facts(const RecordsOptions *options, Facts *facts, GError **error)
{
	if (options->where) {
		facts->where = wp_sieve_where(options->where, error);
		if (!facts->where)
			return FALSE;
	}
	if (options->names_file)
		facts->names = wp_names_read(options->names_file, error);
	return !options->names_file || facts->names;
}

/* Reads and writes; the exit status, or -1. */
static int
make_trace(WpInvocation *invocation, const RecordsOptions *options, const Facts *facts,
	   const char *form, GError **error)
{
	WpRecordSink *writer =
		wp_trace_writer_new_as(options->output ? options->output : "-", form, error);
	if (!writer)
		return -1;
	g_autoptr(WpSieve) sieve = wp_sieve_new(writer, facts->where);
	wp_sieve_set_names(sieve, facts->names);
	int status = wp_sieve_load(sieve, invocation, &options->load, writer, error);
	wp_trace_writer_free(writer);
	return status;
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	RecordsOptions *options = data;
	g_auto(Facts) facts = { 0 };
	const char *form = wp_trace_form_choose(options->output, options->format, error);
	if (!form || !read_facts(options, &facts, error))
		return -1;
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	wp_load_add_inputs(invocation, files);
	wp_overwrite_add_input(files, options->names_file);
	if (!wp_overwrite_add_output(files, options->output, error))
		return -1;
	g_autoptr(WpOut) truth = open_truth(options, files, error);
	if (options->truth && !truth)
		return -1;
	wp_interrupt_catch();
	int status = make_trace(invocation, options, &facts, form, error);
	/* After an error it goes with what was read before. */
	if (truth && !wp_out_close(truth, status < 0 ? NULL : error))
		return -1;
	return status;
}

const WpCommand wp_command_records = {
	.name = "records",
	.synopsis = "[OPTION]... INPUT... [-o FILE]",
	.summary = "packets to a trace: one line per call and return, no inference",
	.examples =
		"  wirepath records capture.pcap -o capture.trace.zst\n"
		"  wirepath records capture.pcap -o capture.wpt\n"
		"  wirepath records capture.pcap | grep 'GET /cart'\n"
		"  wirepath records big.pcap -o - | wirepath report -\n"
		"  wirepath records --from mail ~/Maildir --inside corp.example -o mail.trace\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(RecordsOptions),
	.declare = declare,
	.run = run,
};
