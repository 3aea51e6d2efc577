/* wirepath report: the causal paths of a capture, and where their time goes. */
#include "report/analysis.h"
#include "report/command.h"
#include "report/error.h"
#include "report/gather.h"
#include "report/interrupt.h"
#include "report/load.h"
#include "report/output.h"
#include "report/report-spectrum.h"
#include "report/view.h"
#include "report/what-if.h"

/* Calls of a part that is checked without being asked. */
#define MAX_UNASKED 20000

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	WpOutputOptions output;
	gboolean unfolds;
	gboolean self_check;
	GPtrArray *what_if; /* "NODE=FACTOR" */
	const char *edge;
} ReportOptions;

static const WpOption report_table[] = {
	{ .name = "uncertain",
	  .kind = WP_OPT_FLAG,
	  .offset = offsetof(ReportOptions, unfolds),
	  .help = "show patterns that are likely mistakes of inference, too" },
	{ .name = "self-check",
	  .kind = WP_OPT_FLAG,
	  .offset = offsetof(ReportOptions, self_check),
	  .help = "say how right requests like these come out: takes about\ntwice as long; small "
		  "inputs are checked unasked" },
	{ .name = "what-if",
	  .kind = WP_OPT_TEXTS,
	  .offset = offsetof(ReportOptions, what_if),
	  .argument = "NODE=FACTOR",
	  .help = "the latencies of requests had NODE (a name or a pattern) taken so\nmany times "
		  "as long by itself: web=0.5; repeatable; text and json" },
	{ .name = "edge",
	  .kind = WP_OPT_TEXT,
	  .offset = offsetof(ReportOptions, edge),
	  .argument = "A:B:C",
	  .help = "with --engine xcorr: the correlogram of messages from A to B\nagainst those "
		  "from B "
		  "to C, as text, csv or svg" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	ReportOptions *options = data;
	options->what_if = g_ptr_array_new();
	wp_output_declare(parser, &options->output, WP_WRITE_REPORT);
	wp_options_add(parser, "", report_table, options);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, TRUE);
	options->analysis.takes_aggregates = TRUE;
}

static void
clear(gpointer data)
{
	ReportOptions *options = data;
	wp_output_options_clear(&options->output);
	g_clear_pointer(&options->what_if, g_ptr_array_unref);
	wp_analysis_options_clear(&options->analysis);
}

typedef struct {
	const ReportOptions *options;
	WpProgress *progress;
	WpSelfCheck sum;
	gboolean is_checked;
	gboolean is_cut; /* interrupted: half of it says nothing */
} Check;

/* What is done with each part. */
typedef struct {
	Check check;
	WpGather *gather;  /* NULL: no page wants it */
	WpWhatIf *what_if; /* NULL: not asked for */
} Parts;

static void
parts_clear(Parts *parts)
{
	wp_gather_free(parts->gather);
	wp_what_if_free(parts->what_if);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Parts, parts_clear)

/*
 * Where most calls have several possible parents, and there are few to learn from, an engine may learn its own
 * mistakes and be sure of them. A part so small costs a moment more.
 */
static gboolean
wants_check(const WpAnalysis *part, const ReportOptions *options)
{
	const WpViewLinks *links = &part->tally.links;
	return options->self_check ||
	       (part->engine->has_odds && 2 * links->n_certain < links->n_linked &&
		wp_resolved_spans(part->resolved)->n <= MAX_UNASKED);
}

/* What can be expected of all parts is what can be expected of each. */
static gboolean
check_part(const WpAnalysis *part, Check *check, GError **error)
{
	WpSelfCheck own;
	if (!wants_check(part, check->options) || wp_interrupt_came())
		return TRUE; /* the parts before say what can be expected */
	wp_progress_stage(check->progress, "checking");
	if (!wp_analysis_self_check(part, &check->options->analysis, &own, error))
		return FALSE;
	check->is_cut = wp_interrupt_came();
	if (check->is_cut)
		return TRUE;
	wp_self_check_add(&check->sum, &own);
	check->is_checked = TRUE;
	return TRUE;
}

static gboolean
take_part(const WpAnalysis *part, gpointer data, GError **error)
{
	Parts *parts = data;
	if (parts->gather)
		wp_gather_add(parts->gather, part);
	if (parts->what_if)
		wp_what_if_add(parts->what_if, part);
	return check_part(part, &parts->check, error);
}

/* A rule that is about no call changes nothing: most often a name that is misspelt. */
static void
finish_what_if(const WpInvocation *invocation, WpWhatIf *what_if)
{
	wp_what_if_finish(what_if);
	for (guint i = 0; i < what_if->rules->len; i++) {
		const WpWhatIfRule *rule = what_if->rules->pdata[i];
		if (!rule->n_calls)
			wp_warn(invocation,
				"--what-if %s=...: no request calls a node of that name",
				rule->node);
	}
}

static gboolean
write_pages(const WpInvocation *invocation, const ReportOptions *options,
	    const WpAnalysis *analysis, const Parts *parts, const WpLoadOutcome *outcome,
	    GError **error)
{
	const Check *check = &parts->check;
	const char *partial = wp_load_partial_reason(outcome);
	g_autoptr(WpDigest) digest = NULL;
	if (parts->gather)
		digest = wp_gather_finish(parts->gather, analysis, &options->analysis,
					  &options->load, partial);
	wp_analysis_warn_of_nothing(invocation, analysis, &options->analysis);
	if (check->is_cut)
		wp_warn(invocation, "interrupted: the self-check did not come to an end, and is "
				    "left out");
	g_autofree char *file = wp_load_file(invocation);
	g_autofree char *hidden = wp_analysis_hidden(&options->analysis);
	WpViewOptions shown = {
		.file = file,
		.root = options->analysis.root,
		.hidden = hidden,
		.where = options->analysis.where,
		.partial = partial,
		.is_inference_stopped = outcome->is_inference_stopped,
		.unfolds = options->unfolds,
		.shows_check = options->self_check,
		.check = check->is_checked && !check->is_cut ? &check->sum : NULL,
		.is_selective = wp_load_is_selective(&options->load),
		.digest = digest,
		.what_if = parts->what_if,
	};
	if (parts->what_if)
		finish_what_if(invocation, parts->what_if);
	g_autoptr(WpView) view = wp_view_new(analysis, &shown);
	return wp_output_write(invocation, &options->output, WP_WRITE_REPORT, view, error);
}

/* A page that does not would be a report like any other. */
static gboolean
prepare_what_if(const ReportOptions *options, Parts *parts, GError **error)
{
	for (guint i = 0; i < options->output.files->len; i++) {
		const WpWriter *writer =
			wp_writer_for(options->output.files->pdata[i], options->output.format,
				      WP_WRITE_REPORT, NULL);
		if (writer && writer->shows_what_if)
			continue;
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--what-if is shown by text, html, markdown and json, and %s is %s",
			    (const char *)options->output.files->pdata[i],
			    writer ? writer->name : "none of them");
		return FALSE;
	}
	parts->what_if = wp_what_if_new(options->what_if, error);
	return parts->what_if != NULL;
}

/* Options that make no sense with the engine asked for. */
static gboolean
check_engine(const ReportOptions *options, GError **error)
{
	gboolean is_aggregate = wp_analysis_is_aggregate(&options->analysis);
	const char *about_links = options->self_check     ? "self-check"
				  : options->unfolds      ? "uncertain"
				  : options->what_if->len ? "what-if"
							  : NULL;
	if (is_aggregate && about_links) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--%s is about links of calls, and the engine xcorr makes none\n"
			    "leave it out, or take another --engine",
			    about_links);
		return FALSE;
	}
	if (options->edge && !is_aggregate) {
		g_set_error_literal(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			"--edge draws what cross-correlation looks at\nadd --engine xcorr");
		return FALSE;
	}
	return TRUE;
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	ReportOptions *options = data;
	if (!check_engine(options, error))
		return -1;
	if (wp_analysis_is_aggregate(&options->analysis))
		return wp_report_spectrum(invocation, &options->load, &options->analysis,
					  options->edge, &options->output, error);
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	if (!wp_output_check(invocation, &options->output, WP_WRITE_REPORT, error) ||
	    !wp_analysis_check(&options->analysis, error))
		return -1;
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(&options->analysis, files);
	if (!wp_output_guard(&options->output, files, error))
		return -1;
	g_auto(Parts) parts = { .check = { .options = options, .progress = invocation->progress } };
	if (options->what_if->len && !prepare_what_if(options, &parts, error))
		return -1;
	if (wp_output_wants_digest(&options->output))
		parts.gather = wp_gather_new(0);
	g_autoptr(WpAnalysis) analysis =
		wp_analysis_run(invocation, &options->load, &options->analysis, TRUE, take_part,
				&parts, &outcome, error);
	if (!analysis || !write_pages(invocation, options, analysis, &parts, &outcome, error))
		return -1;
	return wp_load_status(invocation, &options->load, &outcome,
			      wp_trace_counters(analysis->trace), error);
}

const WpCommand wp_command_report = {
	.name = "report",
	.synopsis = "[OPTION]... INPUT...",
	.summary = "the causal paths in a capture and where their time goes",
	.examples = "  wirepath report capture.pcap\n"
		    "  wirepath report capture.pcap -o report.html   a page to explore and mail\n"
		    "  wirepath report capture.pcap -o paths.dot     then: dot -Tsvg paths.dot\n"
		    "  wirepath report --root db capture.pcap        as the database sees it\n"
		    "  wirepath report --where 'latency > 50ms && dst == db' capture.pcap\n"
		    "  wirepath report --from +60s --to +120s capture.pcap\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(ReportOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
