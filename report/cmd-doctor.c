/* wirepath doctor: one page of what is not as it should be in a capture. */
#include "report/analysis.h"
#include "report/command.h"
#include "report/course.h"
#include "report/doctor-page.h"
#include "report/doctor.h"
#include "report/error.h"
#include "report/gather.h"
#include "report/load.h"
#include "report/measure.h"
#include "report/pages.h"
#include "report/pairs.h"
#include "report/view.h"

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	const char *rules;
	WpWords expressions;
	WpPages pages;
} DoctorOptions;

#define AT(member) .offset = offsetof(DoctorOptions, member)

static const WpOption doctor_table[] = {
	{ .name = "rules",
	  .kind = WP_OPT_TEXT,
	  AT(rules),
	  .argument = "FILE",
	  .help = "from where on a check speaks: groups with keys, as the manual lists them" },
	{ .name = "expr",
	  .kind = WP_OPT_WORDS,
	  AT(expressions),
	  .argument = "EXPR",
	  .help = "an expression over calls, as a table or a course in time:\n"
		  "\"avg(latency) by node\", \"p95(self) by operation, time(10s) where status == "
		  "ok\", "
		  "\"avg(a.return-b.call) by edge\"; repeatable" },
	{ .name = NULL },
};

static const WpOption format_table[] = {
	WP_PAGES_FORMAT_ROW("text (the default), markdown, json; else by the suffix of\n"
			    "FILE: txt, md, json"),
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	DoctorOptions *options = data;
	wp_options_add(parser, "Checks", doctor_table, options);
	wp_pages_declare(parser, &options->pages, format_table);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, TRUE);
}

static void
clear(gpointer data)
{
	DoctorOptions *options = data;
	wp_analysis_options_clear(&options->analysis);
	wp_pages_clear(&options->pages);
}

/* What is gathered from each part of the input. */
typedef struct {
	WpGather *gather;
	WpCourseMaker *maker;
	WpPairsMaker *pairs;
	GPtrArray *measures; /* WpMeasure */
} Makers;

static gboolean
take_part(const WpAnalysis *part, gpointer data, GError **error)
{
	Makers *makers = data;
	(void)error;
	wp_gather_add(makers->gather, part);
	wp_course_maker_add(makers->maker, part);
	wp_pairs_maker_add(makers->pairs, part);
	for (guint i = 0; i < makers->measures->len; i++)
		wp_measure_add(makers->measures->pdata[i], part);
	return TRUE;
}

static gboolean
check_outputs(const WpInvocation *invocation, const DoctorOptions *options, GError **error)
{
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(&options->analysis, files);
	if (options->rules)
		wp_overwrite_add_input(files, options->rules);
	return wp_pages_check(&options->pages, wp_doctor_forms, files, error);
}

static void
measure_free(gpointer data)
{
	wp_measure_free(data);
}

/* (transfer full) WpMeasure, or NULL and ERROR. */
static GPtrArray *
read_expressions(const WpWords *expressions, GError **error)
{
	g_autoptr(GPtrArray) measures = g_ptr_array_new_with_free_func(measure_free);
	for (guint i = 0; i < expressions->n; i++) {
		WpMeasure *measure = wp_measure_new(expressions->words[i], error);
		if (!measure)
			return NULL;
		g_ptr_array_add(measures, measure);
	}
	return g_steal_pointer(&measures);
}

static void
write_page(gconstpointer doctor, int form, const WpStyle *style, WpOut *out)
{
	const WpDoctorPage page = { .style = *style };
	wp_doctor_writers[form](doctor, &page, out);
}

static gboolean
write_pages(const WpInvocation *invocation, const DoctorOptions *options,
	    const WpDoctorRules *rules, const Makers *makers, const WpAnalysis *analysis,
	    const WpLoadOutcome *outcome, GError **error)
{
	const char *partial = wp_load_partial_reason(outcome);
	g_autofree char *file = wp_load_file(invocation);
	g_autofree char *hidden = wp_analysis_hidden(&options->analysis);
	g_autoptr(WpDigest) digest = wp_gather_finish(makers->gather, analysis, &options->analysis,
						      &options->load, partial);
	WpViewOptions shown = {
		.file = file,
		.root = options->analysis.root,
		.hidden = hidden,
		.where = options->analysis.where,
		.partial = partial,
		.is_inference_stopped = outcome->is_inference_stopped,
		.is_selective = wp_load_is_selective(&options->load),
	};
	wp_analysis_warn_of_nothing(invocation, analysis, &options->analysis);
	g_autoptr(WpView) view = wp_view_new(analysis, &shown);
	wp_pairs_maker_finish(makers->pairs);
	for (guint i = 0; i < makers->measures->len; i++)
		wp_measure_finish(makers->measures->pdata[i]);
	WpDoctorCase of = { wp_course_maker_course(makers->maker), digest,          view, rules,
			    wp_pairs_maker_pairs(makers->pairs),   makers->measures };
	g_autoptr(WpDoctor) doctor = wp_doctor_new(&of);
	return wp_pages_write(invocation, &options->pages, wp_doctor_forms, write_page, doctor,
			      error);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	DoctorOptions *options = data;
	WpDoctorRules rules;
	/* Logins are given back too. */
	options->analysis.resolve.keep_setup = TRUE;
	wp_doctor_rules_init(&rules);
	if ((options->rules && !wp_doctor_rules_read(&rules, options->rules, error)) ||
	    !check_outputs(invocation, options, error) ||
	    !wp_analysis_check(&options->analysis, error))
		return -1;
	g_autoptr(GPtrArray) measures = read_expressions(&options->expressions, error);
	if (!measures)
		return -1;
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpGather) gather = wp_gather_new(0);
	g_autoptr(WpCourseMaker) maker = wp_course_maker_new();
	g_autoptr(WpPairsMaker) pairs = wp_pairs_maker_new();
	Makers makers = { gather, maker, pairs, measures };
	g_autoptr(WpAnalysis) analysis =
		wp_analysis_run(invocation, &options->load, &options->analysis, TRUE, take_part,
				&makers, &outcome, error);
	if (!analysis ||
	    !write_pages(invocation, options, &rules, &makers, analysis, &outcome, error))
		return -1;
	return wp_load_status(invocation, &options->load, &outcome,
			      wp_trace_counters(analysis->trace), error);
}

const WpCommand wp_command_doctor = {
	.name = "doctor",
	.synopsis = "[OPTION]... INPUT...",
	.summary = "one page of what is not as it should be in a capture",
	.examples = "  wirepath doctor capture.pcap\n"
		    "  wirepath doctor --from +60s capture.pcap -o findings.md\n"
		    "  wirepath doctor --expr 'p95(latency) by operation' capture.pcap\n"
		    "  wirepath doctor --rules ours.rules capture.pcap --format json\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(DoctorOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
