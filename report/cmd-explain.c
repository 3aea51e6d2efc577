/* wirepath explain: the plan of one request across the whole system. */
#include <string.h>

#include "report/analysis.h"
#include "report/command.h"
#include "report/error.h"
#include "report/load.h"
#include "report/write-explain.h"

#define MAX_SLOWEST 1000

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	const char *output;
	const char *format;
	const char *call;
	gint64 slowest; /* 0 = not given */
	gint64 pattern; /* likewise */
	int example;
} ExplainOptions;

/* As the names of examples in a view, but the slowest first: it is what one looks for. */
static const char *const example_choices[] = { "slowest", "p99", "p95", "p50",
					       "typical", "all", NULL };

#define AT(member) .offset = offsetof(ExplainOptions, member)

static const WpOption choice_table[] = {
	{ .name = "slowest",
	  .kind = WP_OPT_INT,
	  AT(slowest),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = MAX_SLOWEST,
	  .excludes = "call",
	  .help = "the N slowest requests; one where nothing else is asked for" },
	{ .name = "call",
	  .kind = WP_OPT_TEXT,
	  AT(call),
	  .argument = "ID",
	  .excludes = "pattern",
	  .help = "the request that the call ID is part of; ids as reports and\ncalls print them" },
	{ .name = "pattern",
	  .kind = WP_OPT_INT,
	  AT(pattern),
	  .argument = "P",
	  .minimum = 1,
	  .maximum = 1e9,
	  .excludes = "slowest",
	  .help = "a request of pattern P, as reports number them" },
	{ .name = "example",
	  .kind = WP_OPT_CHOICE,
	  AT(example),
	  .argument = "NAME",
	  .choices = example_choices,
	  .help = "which one of --pattern" },
	{ .name = NULL },
};

static const WpOption output_table[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXT,
	  AT(output),
	  .argument = "FILE",
	  .help = "write there instead of to standard output; .gz, .zst and .lz4\nare compressed" },
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  AT(format),
	  .argument = "NAME",
	  .help = "text (the default) or json; else by the suffix of FILE" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	ExplainOptions *options = data;
	wp_options_add(parser, "Which request", choice_table, options);
	wp_options_add(parser, "Output", output_table, options);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, TRUE);
}

static void
clear(gpointer data)
{
	wp_analysis_options_clear(&((ExplainOptions *)data)->analysis);
}

static gboolean
check(const ExplainOptions *options, GError **error)
{
	if (!options->pattern && wp_options_given(options->analysis.parser, "example")) {
		g_set_error_literal(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
				    "--example says which request of a pattern is meant\nadd "
				    "--pattern P");
		return FALSE;
	}
	return wp_analysis_check(&options->analysis, error);
}

/* --- which requests --- */

static void
add_request(GPtrArray *requests, const WpView *view, const WpViewPattern *pattern,
	    const WpViewExample *example)
{
	WpViewRequest *request = wp_view_request_new(view, pattern, example);
	if (request)
		g_ptr_array_add(requests, request);
}

/* The slowest first; of equal ones the earlier. */
static int
compare_requests(gconstpointer a, gconstpointer b)
{
	const WpViewRequest *x = *(WpViewRequest *const *)a, *y = *(WpViewRequest *const *)b;
	if (x->latency_ns != y->latency_ns)
		return x->latency_ns > y->latency_ns ? -1 : 1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static void
add_kept(GPtrArray *requests, const WpView *view, guint max)
{
	for (guint32 i = 0; i < view->n_patterns + view->n_asides; i++)
		for (guint32 k = 0; k < view->patterns[i].n_kept; k++)
			add_request(requests, view, &view->patterns[i], &view->patterns[i].kept[k]);
	g_ptr_array_sort(requests, compare_requests);
	if (requests->len > max)
		g_ptr_array_set_size(requests, (gint)max);
}

static gboolean
add_examples(GPtrArray *requests, const WpView *view, const ExplainOptions *options, GError **error)
{
	const char *wanted = example_choices[options->example];
	if (options->pattern > (gint64)view->n_patterns) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--pattern %" G_GINT64_FORMAT ": there are %u patterns\n\"wirepath "
			    "report\" with the same options numbers them",
			    options->pattern, view->n_patterns);
		return FALSE;
	}
	const WpViewPattern *pattern = &view->patterns[options->pattern - 1];
	for (guint32 i = pattern->n_examples; i-- > 0;) {
		const WpViewExample *example = &pattern->examples[i];
		gboolean is_same = i + 1 < pattern->n_examples &&
				   example->instance == pattern->examples[i + 1].instance;
		if (strcmp(wanted, example->name) == 0 || (strcmp(wanted, "all") == 0 && !is_same))
			add_request(requests, view, pattern, example);
	}
	return TRUE;
}

/* Why a call that is there is in no request. */
static const char *
reason_of(const WpKeep *keep)
{
	if (keep->evidence & WP_EVIDENCE_SETUP)
		return "it belongs to the set-up of a connection";
	if (keep->evidence & WP_EVIDENCE_UNPAIRED)
		return "it has no return, or is one-way, and no call caused it";
	if (keep->evidence & WP_EVIDENCE_STOPPED)
		return "inference was interrupted before its parent was found";
	return "its parent, or one above, lies outside the capture or the selection";
}

static gboolean
find_requests(GPtrArray *requests, const WpView *view, const ExplainOptions *options,
	      const WpKeep *keep, GError **error)
{
	if (options->pattern)
		return add_examples(requests, view, options, error);
	add_kept(requests, view, keep->n_slowest ? keep->n_slowest : G_MAXUINT);
	if (!options->call || requests->len)
		return TRUE;
	if (keep->n_found)
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--call %s: the call is part of no request, as %s", options->call,
			    reason_of(keep));
	else
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--call %s: there is no such call\n\"wirepath calls\" with the same "
			    "options lists them",
			    options->call);
	return FALSE;
}

/* --- the page --- */

static gboolean
write_page(const WpInvocation *invocation, const ExplainOptions *options, int format,
	   const WpView *view, const WpKeep *keep, GError **error)
{
	g_autoptr(GPtrArray) requests =
		g_ptr_array_new_with_free_func((GDestroyNotify)wp_view_request_free);
	const char *path = options->output ? options->output : "-";
	if (!find_requests(requests, view, options, keep, error))
		return FALSE;
	g_autoptr(WpOut) out = wp_out_open(path, error);
	if (!out)
		return FALSE;
	const WpPage page = { .style = wp_style_for(strcmp(path, "-") == 0, invocation->color) };
	if (format == WP_EXPLAIN_JSON)
		wp_explain_json(view, requests, out);
	else
		wp_explain_text(view, requests, &page, out);
	return wp_out_close(out, error);
}

static gboolean
explain(const WpInvocation *invocation, ExplainOptions *options, int format, WpLoadOutcome *outcome,
	WpAnalysis **out_analysis, GError **error)
{
	g_auto(WpKeep) keep = { 0 };
	if (options->call)
		keep.call = options->call;
	else if (!options->pattern)
		wp_keep_init_slowest(&keep, options->slowest ? (guint)options->slowest : 1);
	options->analysis.keep = options->pattern ? NULL : &keep;
	g_autoptr(WpAnalysis) analysis = wp_analysis_run(
		invocation, &options->load, &options->analysis, TRUE, NULL, NULL, outcome, error);
	options->analysis.keep = NULL;
	if (!analysis)
		return FALSE;
	wp_analysis_warn_of_nothing(invocation, analysis, &options->analysis);
	g_autofree char *file = wp_load_file(invocation);
	const WpViewOptions shown = { .file = file,
				      .root = options->analysis.root,
				      .where = options->analysis.where,
				      .is_inference_stopped = outcome->is_inference_stopped };
	g_autoptr(WpView) view = wp_view_new(analysis, &shown);
	if (!write_page(invocation, options, format, view, &keep, error))
		return FALSE;
	*out_analysis = g_steal_pointer(&analysis);
	return TRUE;
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	ExplainOptions *options = data;
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	g_autoptr(WpAnalysis) analysis = NULL;
	int format = wp_form_choose(wp_explain_forms, options->output, options->format, error);
	if (format < 0 || !check(options, error))
		return -1;
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(&options->analysis, files);
	if (!wp_overwrite_add_output(files, options->output, error) ||
	    !explain(invocation, options, format, &outcome, &analysis, error))
		return -1;
	return wp_load_status(invocation, &options->load, &outcome,
			      wp_trace_counters(analysis->trace), error);
}

const WpCommand wp_command_explain = {
	.name = "explain",
	.synopsis = "[OPTION]... INPUT... [--slowest N | --call ID | --pattern P]",
	.summary = "the plan of one request: where its time went, beside the median",
	.examples = "  wirepath explain capture.pcap                   the slowest request\n"
		    "  wirepath explain --pattern 2 capture.pcap       the slowest of pattern #2\n"
		    "  wirepath explain --call 1764 capture.pcap\n"
		    "  wirepath explain --slowest 3 --where 'status == error' capture.pcap\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(ExplainOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
