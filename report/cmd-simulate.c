/* wirepath simulate: a trace with truth, of a system that a scenario file describes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/trace-io.h"
#include "capture/trace.h"
#include "report/command.h"
#include "report/error.h"
#include "report/form.h"
#include "report/interrupt.h"
#include "report/overwrite.h"
#include "traces/simulate.h"

/* Scenarios are written by hand. */
#define SCENARIO_MAX_BYTES (1 << 20)

typedef struct {
	const char *output;
	const char *format;
	const char *truth;
	GPtrArray *settings;
	const char *requests;
	const char *duration;
	const char *seed;
	const char *load;
} SimulateOptions;

#define AT(member) .offset = offsetof(SimulateOptions, member)

static const WpOption table[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXT,
	  AT(output),
	  .argument = "FILE",
	  .help = "write the trace there instead of to standard output; .gz,\n.zst and .lz4 are "
		  "compressed, .wpt is the binary form" },
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  AT(format),
	  .argument = "NAME",
	  .help = "text, or wpt: binary, smaller and faster; by default by\nsuffix, else text" },
	{ .name = "truth",
	  .kind = WP_OPT_TEXT,
	  AT(truth),
	  .argument = "FILE",
	  .help = "write there which call caused which, for evaluate --truth" },
	{ .name = NULL },
};

static const WpOption scenario_table[] = {
	{ .name = "set",
	  .kind = WP_OPT_TEXTS,
	  AT(settings),
	  .argument = "NAME=VALUE",
	  .help = "a parameter of the scenario, or GROUP.KEY=VALUE; repeatable" },
	{ .name = "requests",
	  .kind = WP_OPT_TEXT,
	  AT(requests),
	  .argument = "N",
	  .help = "end when so many requests have begun" },
	{ .name = "duration",
	  .kind = WP_OPT_TEXT,
	  AT(duration),
	  .argument = "TIME",
	  .help = "begin no request after so much time" },
	{ .name = "load",
	  .kind = WP_OPT_TEXT,
	  AT(load),
	  .argument = "X",
	  .help = "so many times the clients, or the rate of arrivals" },
	{ .name = "seed",
	  .kind = WP_OPT_TEXT,
	  AT(seed),
	  .argument = "N",
	  .help = "of the random numbers" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	SimulateOptions *options = data;
	options->settings = g_ptr_array_new();
	wp_options_add(parser, "Output", table, options);
	wp_options_add(parser, "Scenario", scenario_table, options);
}

static void
clear(gpointer data)
{
	g_ptr_array_unref(((SimulateOptions *)data)->settings);
}

/* The settings, those that have an option of their own behind the others. (transfer full) */
static char **
all_settings(const SimulateOptions *options)
{
	const char *const named[][2] = { { "requests", options->requests },
					 { "duration", options->duration },
					 { "load", options->load },
					 { "seed", options->seed } };
	GPtrArray *settings = g_ptr_array_new();

	for (guint i = 0; i < options->settings->len; i++)
		g_ptr_array_add(settings, g_strdup(options->settings->pdata[i]));
	for (guint i = 0; i < G_N_ELEMENTS(named); i++)
		if (named[i][1])
			g_ptr_array_add(settings, g_strconcat(named[i][0], "=", named[i][1], NULL));
	g_ptr_array_add(settings, NULL);
	return (char **)g_ptr_array_free(settings, FALSE);
}

static gboolean
fail_open(const char *path, GError **error)
{
	g_set_error(error, WP_CAPTURE_ERROR,
		    errno == EACCES ? WP_CAPTURE_ERROR_PERMISSION : WP_CAPTURE_ERROR_OPEN,
		    "cannot read the scenario %s: %s", path, g_strerror(errno));
	return FALSE;
}

static gboolean
read_text(const char *path, FILE *file, GString *text, GError **error)
{
	char buffer[4096];
	gsize n;

	while ((n = fread(buffer, 1, sizeof buffer, file)) > 0 && text->len <= SCENARIO_MAX_BYTES)
		g_string_append_len(text, buffer, (gssize)n);
	if (ferror(file))
		return fail_open(path, error);
	if (text->len > SCENARIO_MAX_BYTES || strlen(text->str) != text->len ||
	    !g_utf8_validate(text->str, -1, NULL)) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
			    "cannot read the scenario %s: it is no text of at most 1 MB", path);
		return FALSE;
	}
	return TRUE;
}

static WpScenario *
load_scenario(const char *path, const SimulateOptions *options, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_auto(GStrv) settings = all_settings(options);
	gboolean is_stdin = strcmp(path, "-") == 0;

	errno = 0;
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	if (!file) {
		fail_open(path, error);
		return NULL;
	}
	gboolean ok = read_text(path, file, text, error);
	if (!is_stdin)
		fclose(file);
	if (!ok)
		return NULL;
	return wp_scenario_new(text->str, is_stdin ? "standard input" : path,
			       (const char *const *)settings, error);
}

typedef struct {
	WpOut *truth; /* NULL = not wanted */
	WpProgress *progress;
	gboolean has_faults; /* the truth has a column for them */
	gboolean is_stopped;
} Run;

static gboolean
write_truth(guint64 id, guint64 parent, const char *pattern, const char *fault, gpointer data,
	    GError **error)
{
	const Run *run = data;
	WpOut *out = run->truth;

	wp_out_uint(out, id);
	wp_out_char(out, ',');
	if (parent)
		wp_out_uint(out, parent);
	wp_out_char(out, ',');
	wp_out_text(out, pattern);
	if (run->has_faults)
		wp_out_char(out, ',');
	if (run->has_faults && fault)
		wp_out_text(out, fault);
	wp_out_char(out, '\n');
	return TRUE;
}

static gboolean
on_progress(guint64 n_requests, guint64 total, gpointer data)
{
	Run *run = data;

	wp_progress_count(run->progress, "simulating", n_requests, total, "requests");
	run->is_stopped = wp_interrupt_came() || (run->truth && wp_out_failed(run->truth));
	return !run->is_stopped;
}

/* Those that are not switched off by a share of 0. */
static guint
count_faults(const WpScenario *scenario)
{
	guint n = 0;

	for (guint i = 0; i < scenario->faults->len; i++)
		n += g_array_index(scenario->faults, WpSimFault, i).share > 0;
	return n;
}

static void
say_result(const WpInvocation *invocation, const WpSimulateResult *result, guint n_faults)
{
	if (result->n_open > 0)
		wp_warn(invocation,
			"%" G_GUINT64_FORMAT " calls never ended: they wait for a worker, a "
			"connection, or an answer that a fault took",
			result->n_open);
	if (n_faults > 0 && result->n_faults == 0)
		wp_warn(invocation, "no call met a fault: see their call, share and since");
	if (wp_interrupt_came())
		wp_warn(invocation, "interrupted: the trace ends with request %" G_GUINT64_FORMAT,
			result->n_requests);
}

/* FALSE where the trace or the truth could not be written. */
static gboolean
simulate(WpInvocation *invocation, const SimulateOptions *options, const WpScenario *scenario,
	 Run *run, GError **error)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autofree char *name = g_path_get_basename(invocation->operands[0]);
	WpSimulateOptions how = { .name = name,
				  .truth = run->truth ? write_truth : NULL,
				  .truth_data = run,
				  .progress = on_progress,
				  .progress_data = run };
	WpSimulateResult result = { 0 };
	const char *form = wp_trace_form_choose(options->output, options->format, error);
	WpRecordSink *writer =
		form ? wp_trace_writer_new_as(options->output ? options->output : "-", form, error)
		     : NULL;

	if (!writer)
		return FALSE;
	gboolean ok = wp_simulate(scenario, &how, nodes, writer, &result, error);
	if (!ok)
		wp_trace_writer_stop(writer, error);
	wp_trace_writer_free(writer);
	wp_progress_clear(run->progress);
	if (!ok || (run->truth && !wp_out_close(run->truth, error)))
		return FALSE;
	say_result(invocation, &result, count_faults(scenario));
	return TRUE;
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	const SimulateOptions *options = data;
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	wp_overwrite_add_input(files, invocation->operands[0]);
	if (!wp_trace_form_choose(options->output, options->format, error) ||
	    !wp_overwrite_add_output(files, options->output, error) ||
	    (options->truth && !wp_overwrite_add_output(files, options->truth, error)))
		return -1;
	g_autoptr(WpScenario) scenario = load_scenario(invocation->operands[0], options, error);
	if (!scenario)
		return -1;
	g_autoptr(WpOut) truth = NULL;
	wp_interrupt_catch();
	if (options->truth) {
		truth = wp_out_open(options->truth, error);
		if (!truth)
			return -1;
		wp_out_text(truth, scenario->faults->len ? "call_id,parent_id,pattern,fault\n"
							 : "call_id,parent_id,pattern\n");
	}
	Run state = { truth, invocation->progress, scenario->faults->len > 0, FALSE };
	if (!simulate(invocation, options, scenario, &state, error))
		return -1;
	return wp_interrupt_came() ? WP_EXIT_INTERRUPTED : WP_EXIT_OK;
}

const WpCommand wp_command_simulate = {
	.name = "simulate",
	.synopsis = "SCENARIO [-o TRACE] [--truth FILE] [OPTION]...",
	.summary = "a trace, with its truth, of a system that a file describes",
	.examples = "  wirepath simulate traces/scenarios/multi-tier.scenario | wirepath report -\n"
		    "  wirepath simulate cache.scenario --load 5 -o t.trace --truth t.csv\n"
		    "  wirepath evaluate --truth t.csv t.trace\n",
	.min_operands = 1,
	.max_operands = 1,
	.options_size = sizeof(SimulateOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
