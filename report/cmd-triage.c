/* wirepath triage: of many runs those that are worth a look. */
#include "report/analysis.h"
#include "report/command.h"
#include "report/error.h"
#include "report/format.h"
#include "report/interrupt.h"
#include "report/load.h"
#include "report/manifest.h"
#include "report/triage-page.h"
#include "report/triage.h"

#define DEFAULT_INSPECT 20

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	const char *metric;
	int linkage;
	gint64 clusters;
	gint64 inspect;
	const char *verdicts;
	WpPages pages;
} TriageOptions;

#define AT(member) .offset = offsetof(TriageOptions, member)

static const char *const linkage_choices[] = { "single", "complete", "average", NULL };

static const WpOption triage_table[] = {
	{ .name = "inspect",
	  .kind = WP_OPT_INT,
	  AT(inspect),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = WP_TRIAGE_MAX_RUNS,
	  .help = "runs to list, with why (20)" },
	{ .name = "verdicts",
	  .kind = WP_OPT_TEXT,
	  AT(verdicts),
	  .argument = "FILE",
	  .help = "lines RUN,good and RUN,bad: what inspected runs were; the\n"
		  "list adapts to them" },
	{ .name = "metric",
	  .kind = WP_OPT_TEXT,
	  AT(metric),
	  .argument = "NAME",
	  .help = "how far two chains of calls are apart: lev, gap, end, end2,\n"
		  "begin, begin2, hier-begin, hier-middle" },
	{ .name = "linkage",
	  .kind = WP_OPT_CHOICE,
	  AT(linkage),
	  .argument = "NAME",
	  .choices = linkage_choices,
	  .help = "which runs of two clusters say how alike they are: single,\n"
		  "complete, average" },
	{ .name = "clusters",
	  .kind = WP_OPT_INT,
	  AT(clusters),
	  .argument = "K",
	  .minimum = 1,
	  .maximum = WP_TRIAGE_MAX_RUNS,
	  .help = "so many clusters of runs that are alike (a tenth of them)" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	TriageOptions *options = data;
	options->metric = "lev";
	options->linkage = WP_LINKAGE_AVERAGE;
	options->inspect = DEFAULT_INSPECT;
	wp_options_add(parser, "Runs", triage_table, options);
	wp_pages_declare(parser, &options->pages, wp_pages_format_table);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, TRUE);
}

static void
clear(gpointer data)
{
	TriageOptions *options = data;
	wp_analysis_options_clear(&options->analysis);
	wp_pages_clear(&options->pages);
}

static gboolean
usage_error(GError **error, const char *text)
{
	g_set_error_literal(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE, text);
	return FALSE;
}

static gboolean
check_options(const WpInvocation *invocation, TriageOptions *options, GError **error)
{
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	if (!wp_chain_metric_by_name(options->metric))
		return usage_error(error,
				   "--metric is lev, gap, end, end2, begin, begin2, hier-begin or "
				   "hier-middle");
	if (invocation->n_operands < WP_TRIAGE_MIN_RUNS)
		return usage_error(error,
				   "which run is odd only others tell: three at the least, better "
				   "twenty or more");
	if (invocation->n_operands > WP_TRIAGE_MAX_RUNS)
		return usage_error(error, "at most 2,000 runs at a time");
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(&options->analysis, files);
	if (options->verdicts)
		wp_overwrite_add_input(files, options->verdicts);
	return wp_pages_check(&options->pages, wp_pages_forms, files, error) &&
	       wp_analysis_check(&options->analysis, error);
}

static gboolean
take_part(const WpAnalysis *part, gpointer data, GError **error)
{
	(void)error;
	wp_chains_maker_add(data, part);
	return TRUE;
}

/* Reads the run at PATH and adds it to INPUTS. One that cannot be read does not stop the others. */
static void
read_run(const WpInvocation *invocation, TriageOptions *options, char *path, GPtrArray *inputs,
	 WpLoadEnding *ending)
{
	char *operands[] = { path, NULL };
	WpInvocation one = *invocation;
	one.operands = operands;
	one.n_operands = 1;
	one.about = path;
	g_auto(WpLoadOutcome) outcome = { 0 };
	GError *error = NULL;
	g_autoptr(WpChainsMaker) maker = wp_chains_maker_new();
	g_autoptr(WpAnalysis) analysis = wp_analysis_run(&one, &options->load, &options->analysis,
							 FALSE, take_part, maker, &outcome, &error);
	if (!analysis) {
		wp_warn(invocation, "%s is left out", path);
		wp_load_ending_note(ending, -1, error);
		return;
	}
	int status = wp_load_status(&one, &options->load, &outcome,
				    wp_trace_counters(analysis->trace), &error);
	wp_load_ending_note(ending, status, error);
	g_autoptr(WpChains) chains = wp_chains_maker_finish(maker);
	if (!chains->n_requests) {
		wp_warn(invocation, "%s is left out: there is no request in it", path);
		return;
	}
	WpTriageInput *input = g_new0(WpTriageInput, 1);
	input->name = g_strdup(path);
	input->exit_status = wp_manifest_exit_status(wp_load_path(path));
	input->chains = g_steal_pointer(&chains);
	g_ptr_array_add(inputs, input);
}

static void
write_page(gconstpointer triage, int form, const WpStyle *style, WpOut *out)
{
	const WpTriagePage page = { .style = *style };
	wp_triage_writers[form](triage, &page, out);
}

static gboolean
write_pages(const WpInvocation *invocation, const TriageOptions *options, GPtrArray *inputs,
	    GError **error)
{
	WpTriageOptions how = { .metric = wp_chain_metric_by_name(options->metric),
				.linkage = (WpLinkage)options->linkage,
				.clusters = (guint)options->clusters,
				.inspect = (guint)options->inspect };
	if (options->verdicts && !wp_triage_read_verdicts(inputs, options->verdicts, error))
		return FALSE;
	g_autoptr(WpTriage) triage = wp_triage_new(inputs, &how);
	return wp_pages_write(invocation, &options->pages, wp_pages_forms, write_page, triage,
			      error);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	TriageOptions *options = data;
	g_autoptr(GPtrArray) inputs =
		g_ptr_array_new_with_free_func((GDestroyNotify)wp_triage_input_free);
	g_auto(WpLoadEnding) ending = { 0 };
	char count[WP_FORMAT_MAX];
	if (!check_options(invocation, options, error))
		return -1;
	for (guint i = 0; i < invocation->n_operands && !wp_interrupt_came(); i++)
		read_run(invocation, options, invocation->operands[i], inputs, &ending);
	if (inputs->len < WP_TRIAGE_MIN_RUNS && !ending.error)
		g_set_error(&ending.error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
			    "%s of the runs %s requests: three are needed",
			    inputs->len ? wp_format_count(count, inputs->len) : "none",
			    inputs->len > 1 ? "have" : "has");
	if (inputs->len >= WP_TRIAGE_MIN_RUNS && !write_pages(invocation, options, inputs, error))
		return -1;
	return wp_load_ending_status(&ending, error);
}

const WpCommand wp_command_triage = {
	.name = "triage",
	.synopsis = "[OPTION]... RUN RUN RUN...",
	.summary = "of many runs of one system those that are worth a look, and why",
	.examples = "  wirepath triage runs/*.pcap\n"
		    "  wirepath triage --inspect 10 runs/* -o runs.csv\n"
		    "  wirepath triage --verdicts seen.csv runs/*.pcap\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(TriageOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
