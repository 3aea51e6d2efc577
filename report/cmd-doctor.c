/* wirepath doctor: one page of what is not as it should be in a capture. */
#include "report/analysis.h"
#include "report/command.h"
#include "report/course.h"
#include "report/doctor-page.h"
#include "report/doctor.h"
#include "report/error.h"
#include "report/gather.h"
#include "report/load.h"
#include "report/view.h"

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	const char *rules;
	GPtrArray *outputs;
	const char *format;
} DoctorOptions;

#define AT(member) .offset = offsetof(DoctorOptions, member)

static const WpOption doctor_table[] = {
	{ .name = "rules",
	  .kind = WP_OPT_TEXT,
	  AT(rules),
	  .argument = "FILE",
	  .help = "from where on a check speaks: groups with keys, as the manual lists them" },
	{ .name = NULL },
};

static const WpOption output_table[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXTS,
	  AT(outputs),
	  .argument = "FILE",
	  .help = "write there instead of to standard output, in the form that\n"
		  "the name ends in; may be repeated; - = standard output; .gz,\n"
		  ".zst and .lz4 are compressed" },
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  AT(format),
	  .argument = "NAME",
	  .help = "text (the default), markdown, json; else by the suffix of\n"
		  "FILE: txt, md, json" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	DoctorOptions *options = data;
	options->outputs = g_ptr_array_new();
	wp_options_add(parser, "Checks", doctor_table, options);
	wp_options_add(parser, "Output", output_table, options);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, TRUE);
}

static void
clear(gpointer data)
{
	DoctorOptions *options = data;
	wp_analysis_options_clear(&options->analysis);
	g_clear_pointer(&options->outputs, g_ptr_array_unref);
}

/* What is gathered from each part of the input. */
typedef struct {
	WpGather *gather;
	WpCourseMaker *maker;
} Makers;

static gboolean
take_part(const WpAnalysis *part, gpointer data, GError **error)
{
	Makers *makers = data;
	(void)error;
	wp_gather_add(makers->gather, part);
	wp_course_maker_add(makers->maker, part);
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
	if (!options->outputs->len)
		g_ptr_array_add(options->outputs, (gpointer) "-");
	for (guint i = 0; i < options->outputs->len; i++)
		if (wp_form_choose(wp_doctor_forms, options->outputs->pdata[i], options->format,
				   error) < 0 ||
		    !wp_overwrite_add_output(files, options->outputs->pdata[i], error))
			return FALSE;
	return TRUE;
}

static gboolean
write_page(const WpInvocation *invocation, const DoctorOptions *options, const char *path,
	   const WpDoctor *doctor, GError **error)
{
	int form = wp_form_choose(wp_doctor_forms, path, options->format, error);
	g_autoptr(WpOut) out = form >= 0 ? wp_out_open(path, error) : NULL;
	if (!out)
		return FALSE;
	WpDoctorPage page = { .style = wp_style_for(g_str_equal(path, "-"), invocation->color) };
	wp_doctor_writers[form](doctor, &page, out);
	return wp_out_close(out, error);
}

static gboolean
write_pages(const WpInvocation *invocation, const DoctorOptions *options,
	    const WpDoctorRules *rules, const Makers *makers, const WpAnalysis *analysis,
	    const WpLoadOutcome *outcome, GError **error)
{
	const char *partial = wp_load_partial_reason(outcome);
	g_autofree char *file = wp_load_file(invocation);
	g_autoptr(WpDigest) digest = wp_gather_finish(makers->gather, analysis, &options->analysis,
						      &options->load, partial);
	WpViewOptions shown = {
		.file = file,
		.root = options->analysis.root,
		.where = options->analysis.where,
		.partial = partial,
		.is_inference_stopped = outcome->is_inference_stopped,
		.is_selective = wp_load_is_selective(&options->load),
	};
	wp_analysis_warn_of_nothing(invocation, analysis, &options->analysis);
	g_autoptr(WpView) view = wp_view_new(analysis, &shown);
	WpDoctorCase of = { wp_course_maker_course(makers->maker), digest, view, rules };
	g_autoptr(WpDoctor) doctor = wp_doctor_new(&of);
	for (guint i = 0; i < options->outputs->len; i++)
		if (!write_page(invocation, options, options->outputs->pdata[i], doctor, error))
			return FALSE;
	return TRUE;
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	DoctorOptions *options = data;
	WpDoctorRules rules;
	wp_doctor_rules_init(&rules);
	if ((options->rules && !wp_doctor_rules_read(&rules, options->rules, error)) ||
	    !check_outputs(invocation, options, error) ||
	    !wp_analysis_check(&options->analysis, error))
		return -1;
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpGather) gather = wp_gather_new(0);
	g_autoptr(WpCourseMaker) maker = wp_course_maker_new();
	Makers makers = { gather, maker };
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
		    "  wirepath doctor --rules ours.rules capture.pcap --format json\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(DoctorOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
