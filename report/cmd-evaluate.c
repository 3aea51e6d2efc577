/* wirepath evaluate: inferred calls against what really happened. */
#include <string.h>

#include "capture/input.h"
#include "infer/accuracy.h"
#include "report/accuracy-page.h"
#include "report/analysis.h"
#include "report/command.h"
#include "report/error.h"
#include "report/form.h"
#include "report/interrupt.h"
#include "report/load.h"

/* Enough of a file to tell a CSV of calls. */
#define HEAD_BYTES 4096

/* Of the true calls; where fewer are found that is hardly due to loss. */
#define MIN_FOUND 0.05

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	const char *truth;
	const char *output;
	const char *format;
	gint64 tolerance_ns;
	gboolean reference;
	gboolean self_check;
} EvaluateOptions;

/* What was inferred, and how right that is. */
typedef struct {
	const EvaluateOptions *options;
	const WpTruth *truth;
	WpProgress *progress;
	WpFound *found;
	const char *engine;                   /* NULL: the calls of a file */
	WpFound *references[WP_N_REFERENCES]; /* NULL: not asked for */
	WpSelfCheck check;
	char *partial; /* why it is not all; or NULL */
	gboolean is_checked;
	gboolean has_half; /* the check or a reference was interrupted: half of one says nothing */
} Inferred;

static const char *const text_suffixes[] = { "txt", "text", NULL };
static const char *const json_suffixes[] = { "json", NULL };

enum {
	AS_TEXT,
	AS_JSON
};

static const WpForm forms[] = {
	[AS_TEXT] = { "text", text_suffixes },
	[AS_JSON] = { "json", json_suffixes },
	{ NULL, NULL },
};

#define AT(member) .offset = offsetof(EvaluateOptions, member)

static const WpOption evaluate_table[] = {
	{ .name = "truth",
	  .kind = WP_OPT_TEXT,
	  AT(truth),
	  .argument = "FILE",
	  .help = "what really happened: CSV with call_id,parent_id or\n"
		  "call_id,parent_call_id,t_call_us,...; may be .gz" },
	{ .name = "tolerance",
	  .kind = WP_OPT_DURATION,
	  AT(tolerance_ns),
	  .argument = "TIME",
	  .minimum = 0,
	  .maximum = 60e9,
	  .help = "greatest difference of times that still match (1ms)" },
	{ .name = "reference",
	  .kind = WP_OPT_FLAG,
	  AT(reference),
	  .help = "also how right the engine were if it knew the truth to learn\n"
		  "from, and to start from: what its input allows" },
	{ .name = "self-check",
	  .kind = WP_OPT_FLAG,
	  AT(self_check),
	  .help = "also how right wirepath report --self-check expects to be,\n"
		  "without the truth" },
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXT,
	  AT(output),
	  .argument = "FILE",
	  .help = "write there instead of to standard output; .json: as JSON;\n.gz, .zst and .lz4 "
		  "are compressed" },
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  AT(format),
	  .argument = "NAME",
	  .help = "text or json; else by the suffix of FILE" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	EvaluateOptions *options = data;
	WpAccuracyOptions accuracy;
	wp_accuracy_options_init(&accuracy);
	options->tolerance_ns = accuracy.tolerance_ns;
	wp_options_add(parser, "Evaluation", evaluate_table, options);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, FALSE);
}

static void
clear(gpointer data)
{
	wp_analysis_options_clear(&((EvaluateOptions *)data)->analysis);
}

/* FALSE also where PATH cannot be read: loading it then says why. */
static gboolean
is_calls_file(const char *path)
{
	const guint8 *head;
	if (strcmp(path, "-") == 0)
		return FALSE;
	g_autoptr(WpInput) input = wp_input_open(path, NULL);
	gssize length = input ? wp_input_peek(input, HEAD_BYTES, &head, NULL) : -1;
	return length > 0 && wp_found_is_calls(head, (gsize)length);
}

static WpAccuracy *
measure(const EvaluateOptions *options, const WpTruth *truth, const WpFound *found)
{
	WpAccuracyOptions accuracy;
	wp_accuracy_options_init(&accuracy);
	accuracy.tolerance_ns = options->tolerance_ns;
	return wp_accuracy_measure(truth, found, &accuracy);
}

/* What the engine would find if it knew the truth. */
static gboolean
run_references(Inferred *inferred, const WpAnalysis *part, GError **error)
{
	const EvaluateOptions *options = inferred->options;
	g_autofree guint32 *parents =
		wp_truth_parents(inferred->truth, part->resolved, options->tolerance_ns);
	for (gint i = 0; i < WP_N_REFERENCES; i++) {
		WpReference reference = { (WpReferenceKind)i, parents };
		g_autoptr(GError) problem = NULL;
		g_autoptr(WpLinks) links =
			wp_analysis_reference(part, &options->analysis, &reference, &problem);
		if (problem) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return FALSE;
		}
		if (!links) {
			g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
				    "evaluate: --reference: the engine %s learns nothing",
				    part->engine->name);
			return FALSE;
		}
		inferred->has_half |= wp_interrupt_came();
		if (inferred->has_half)
			break; /* told the truth or not */
		if (!inferred->references[i])
			inferred->references[i] = wp_found_start();
		wp_found_add(inferred->references[i], part->resolved, links, part->answer);
	}
	return TRUE;
}

static gboolean
take_part(const WpAnalysis *part, gpointer data, GError **error)
{
	Inferred *inferred = data;
	const EvaluateOptions *options = inferred->options;
	WpSelfCheck own;
	inferred->engine = part->engine->name;
	wp_found_add(inferred->found, part->resolved, part->links, part->answer);
	if (options->self_check && !wp_interrupt_came()) {
		wp_progress_stage(inferred->progress, "checking");
		if (!wp_analysis_self_check(part, &options->analysis, &own, error))
			return FALSE;
		wp_self_check_add(&inferred->check, &own);
		inferred->is_checked = TRUE;
		inferred->has_half |= wp_interrupt_came();
	}
	if (options->reference)
		wp_progress_stage(inferred->progress, "inferring with the truth");
	return !options->reference || run_references(inferred, part, error);
}

/* Infers from captures and traces. OUT_STATUS: of the loading. */
static gboolean
infer_calls(WpInvocation *invocation, Inferred *out, int *out_status, GError **error)
{
	const EvaluateOptions *options = out->options;
	g_auto(WpLoadOutcome) outcome = { 0 };
	out->found = wp_found_start();
	g_autoptr(WpAnalysis) analysis =
		wp_analysis_run(invocation, &options->load, &options->analysis, FALSE, take_part,
				out, &outcome, error);
	if (!analysis)
		return FALSE;
	out->partial = g_strdup(wp_load_partial_reason(&outcome));
	*out_status = wp_load_status(invocation, &options->load, &outcome,
				     wp_trace_counters(analysis->trace), error);
	if (*out_status < 0)
		return FALSE;
	out->is_checked &= !out->has_half;
	if (!outcome.is_stopped && wp_interrupt_came() && *out_status == WP_EXIT_OK) {
		wp_warn(invocation, "interrupted: the self-check and the references that did not "
				    "come to an end are left out");
		*out_status = WP_EXIT_INTERRUPTED;
	}
	return TRUE;
}

/* Takes the calls from a CSV file where the only operand is one, else infers them. */
static gboolean
find_calls(WpInvocation *invocation, Inferred *out, int *out_status, GError **error)
{
	const EvaluateOptions *options = out->options;
	if (invocation->n_operands != 1 || !is_calls_file(invocation->operands[0]))
		return infer_calls(invocation, out, out_status, error);
	if (options->reference || options->self_check) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "evaluate: --%s needs a capture or a trace, not inferred calls",
			    options->reference ? "reference" : "self-check");
		return FALSE;
	}
	out->found = wp_found_read(invocation->operands[0], error);
	return out->found != NULL;
}

static void
clear_inferred(Inferred *inferred)
{
	wp_found_free(inferred->found);
	g_free(inferred->partial);
	for (gint i = 0; i < WP_N_REFERENCES; i++)
		wp_found_free(inferred->references[i]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Inferred, clear_inferred)

/* (transfer full) The inputs, without their folders, so that results repeat. */
static char *
names_of(const WpInvocation *invocation)
{
	GString *names = g_string_new(NULL);
	for (guint i = 0; i < invocation->n_operands; i++) {
		g_autofree char *name = g_path_get_basename(invocation->operands[i]);
		g_string_append_printf(names, "%s%s", i ? ", " : "",
				       strcmp(name, "-") == 0 ? "standard input" : name);
	}
	return g_string_free(names, FALSE);
}

static gboolean
write_page(const WpInvocation *invocation, const EvaluateOptions *options,
	   const WpAccuracy *accuracy, WpAccuracy *const *references, const Inferred *inferred,
	   GError **error)
{
	const char *path = options->output ? options->output : "-";
	int form = wp_form_choose(forms, path, options->format, error);
	if (form < 0)
		return FALSE;
	g_autoptr(WpOut) out = wp_out_open(path, error);
	if (!out)
		return FALSE;
	WpStyle style = wp_style_for(strcmp(path, "-") == 0, invocation->color);
	const WpAccuracyBeside beside = {
		.references = references[0] ? (const WpAccuracy *const *)references : NULL,
		.check = inferred->is_checked ? &inferred->check : NULL,
	};
	g_autofree char *input = names_of(invocation);
	g_autofree char *truth = g_path_get_basename(options->truth);
	const WpAccuracyTitle title = { input, inferred->engine, truth, inferred->partial };
	if (form == AS_JSON)
		wp_accuracy_write_json(&title, accuracy, &beside, out);
	else
		wp_accuracy_write_text(&title, accuracy, &beside, &style, invocation->verbosity > 0,
				       out);
	return wp_out_close(out, error);
}

/* The truth of another capture judges nothing. */
static void
warn_of_strangers(const WpInvocation *invocation, const WpAccuracy *accuracy)
{
	const WpAccuracyRow *all = &accuracy->all;
	if ((double)all->n_found >= MIN_FOUND * (double)all->n_calls)
		return;
	wp_warn(invocation,
		"%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " true calls were found: is this "
		"the truth of this capture?",
		all->n_found, all->n_calls);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	EvaluateOptions *options = data;
	int status = WP_EXIT_OK;
	if (!options->truth) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "evaluate: --truth FILE is missing");
		return -1;
	}
	if (wp_form_choose(forms, options->output, options->format, error) < 0 ||
	    !wp_analysis_check(&options->analysis, error))
		return -1;
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(&options->analysis, files);
	wp_overwrite_add_input(files, options->truth);
	if (!wp_overwrite_add_output(files, options->output, error))
		return -1;
	g_autoptr(WpTruth) truth = wp_truth_read(options->truth, error);
	if (!truth)
		return -1;
	g_auto(Inferred)
		inferred = { .options = options, .truth = truth, .progress = invocation->progress };
	if (!find_calls(invocation, &inferred, &status, error))
		return -1;
	g_autoptr(WpAccuracy) accuracy = measure(options, truth, inferred.found);
	warn_of_strangers(invocation, accuracy);
	WpAccuracy *references[WP_N_REFERENCES] = { NULL };
	for (gint i = 0; i < WP_N_REFERENCES && options->reference && !inferred.has_half; i++)
		references[i] = measure(options, truth, inferred.references[i]);
	gboolean is_written =
		write_page(invocation, options, accuracy, references, &inferred, error);
	for (gint i = 0; i < WP_N_REFERENCES; i++)
		wp_accuracy_free(references[i]);
	return is_written ? status : -1;
}

const WpCommand wp_command_evaluate = {
	.name = "evaluate",
	.synopsis = "--truth FILE [OPTION]... INPUT...|CALLS.csv",
	.summary = "how right the inferred paths are, where the truth is known",
	.examples = "  wirepath evaluate --truth shop.truth.csv.gz shop.pcap.gz\n"
		    "  wirepath evaluate --truth shop.truth.csv.gz calls.csv     of any tool\n"
		    "  wirepath evaluate --truth t.csv -o accuracy.json shop.trace\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(EvaluateOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
