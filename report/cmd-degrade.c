/* wirepath degrade: a trace made worse, as real captures are. */
#include "capture/trace-io.h"
#include "report/command.h"
#include "report/form.h"
#include "report/interrupt.h"
#include "report/load.h"
#include "report/sieve.h"
#include "traces/degrade.h"

typedef struct {
	WpLoadOptions load;
	WpDegradeOptions degrade;
	const char *output;
	const char *format;
	GPtrArray *skews;
	const char *sniffer;
	gint64 queue;
	gint64 seed;
	int tap;
} DegradeOptions;

static const char *const taps[] = { "callee", "caller", NULL };

#define AT(member) .offset = offsetof(DegradeOptions, member)

static const WpOption output_table[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXT,
	  AT(output),
	  .argument = "FILE",
	  .help = "write there instead of to standard output; .gz, .zst and .lz4\nare compressed, "
		  ".wpt is the binary form" },
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  AT(format),
	  .argument = "NAME",
	  .help = "text, or wpt: binary, smaller and faster; by default by\nsuffix, else text" },
	{ .name = NULL },
};

static const WpOption degrade_table[] = {
	{ .name = "skew",
	  .kind = WP_OPT_TEXTS,
	  AT(skews),
	  .argument = "NODE=OFFSET[,PPM]",
	  .help = "the clock of NODE is fast by OFFSET, and by PPM more as\ntime goes on; "
		  "negative: slow; repeatable" },
	{ .name = "tap",
	  .kind = WP_OPT_CHOICE,
	  AT(tap),
	  .argument = "END",
	  .choices = taps,
	  .help = "whose clock stamps a call and its return: that of the callee\n(default) or the "
		  "caller" },
	{ .name = "loss",
	  .kind = WP_OPT_SHARE,
	  AT(degrade.loss),
	  .argument = "SHARE",
	  .maximum = 1,
	  .help = "lose so many records, at random" },
	{ .name = "sniffer",
	  .kind = WP_OPT_TEXT,
	  AT(sniffer),
	  .argument = "RATE",
	  .help = "lose what a sniffer of so many records a second (500/s)\ncannot take" },
	{ .name = "queue",
	  .kind = WP_OPT_INT,
	  AT(queue),
	  .argument = "N",
	  .minimum = 0,
	  .maximum = 1e9,
	  .help = "records that wait for the sniffer (64)" },
	{ .name = "duplicate",
	  .kind = WP_OPT_SHARE,
	  AT(degrade.duplicates),
	  .argument = "SHARE",
	  .maximum = 1,
	  .help = "so many records come twice" },
	{ .name = "duplicate-within",
	  .kind = WP_OPT_DURATION,
	  AT(degrade.duplicate_ns),
	  .argument = "TIME",
	  .minimum = 0,
	  .maximum = (double)WP_DEGRADE_MAX_NS,
	  .help = "the second one up to so much later (100us)" },
	{ .name = "jitter",
	  .kind = WP_OPT_DURATION,
	  AT(degrade.jitter_ns),
	  .argument = "TIME",
	  .minimum = 0,
	  .maximum = (double)WP_DEGRADE_MAX_NS,
	  .help = "each record is stamped up to so much late" },
	{ .name = "reorder",
	  .kind = WP_OPT_DURATION,
	  AT(degrade.reorder_ns),
	  .argument = "TIME",
	  .minimum = 0,
	  .maximum = (double)WP_DEGRADE_MAX_NS,
	  .help = "each record stands up to so much late in the trace, with its\nown time" },
	{ .name = "seed",
	  .kind = WP_OPT_INT,
	  AT(seed),
	  .argument = "N",
	  .minimum = 0,
	  .maximum = 9e18,
	  .help = "of the random numbers (1)" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	DegradeOptions *options = data;
	wp_degrade_options_init(&options->degrade);
	options->skews = g_ptr_array_new();
	options->queue = options->degrade.sniffer_queue;
	options->seed = (gint64)options->degrade.seed;
	wp_options_add(parser, "Output", output_table, options);
	wp_options_add(parser, "Degradation", degrade_table, options);
	wp_load_declare(parser, &options->load);
}

static void
clear(gpointer data)
{
	DegradeOptions *options = data;
	g_ptr_array_unref(options->skews);
	wp_degrade_options_clear(&options->degrade);
}

static gboolean
take_options(DegradeOptions *options, GError **error)
{
	WpDegradeOptions *degrade = &options->degrade;
	for (guint i = 0; i < options->skews->len; i++)
		if (!wp_degrade_add_skew(degrade, options->skews->pdata[i], error))
			return FALSE;
	if (options->sniffer && !wp_degrade_set_sniffer(degrade, options->sniffer, error))
		return FALSE;
	degrade->sniffer_queue = (guint32)options->queue;
	degrade->seed = (guint64)options->seed;
	degrade->is_caller_tap = options->tap == 1;
	return TRUE;
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	DegradeOptions *options = data;
	const char *form = wp_trace_form_choose(options->output, options->format, error);
	if (!form || !take_options(options, error))
		return -1;
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	wp_load_add_inputs(invocation, files);
	if (!wp_overwrite_add_output(files, options->output, error))
		return -1;
	wp_interrupt_catch();
	WpRecordSink *writer =
		wp_trace_writer_new_as(options->output ? options->output : "-", form, error);
	if (!writer)
		return -1;
	g_autoptr(WpDegrade) degrade = wp_degrade_new(&options->degrade, writer);
	/* Keeps the counters of the input: what is lost here is no fault of it. */
	g_autoptr(WpSieve) sieve = wp_sieve_new(wp_degrade_sink(degrade), NULL);
	int status = wp_sieve_load(sieve, invocation, &options->load, writer, error);
	wp_trace_writer_free(writer);
	return status;
}

const WpCommand wp_command_degrade = {
	.name = "degrade",
	.synopsis = "[OPTION]... INPUT... [-o FILE]",
	.summary = "a trace made worse: clock skew, loss, doubles, disorder",
	.examples =
		"  wirepath degrade t.trace --loss 1% -o lossy.trace\n"
		"  wirepath degrade t.trace --skew WS2=30ms | wirepath evaluate --truth t.csv -\n"
		"  wirepath degrade t.trace --sniffer 300/s -o bursty.trace\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(DegradeOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
