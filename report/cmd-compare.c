/* wirepath compare: captures before and after a change: what is slower, by how much, where, and whether it is noise. */
#include <string.h>

#include "capture/input.h"
#include "report/analysis.h"
#include "report/anonymize.h"
#include "report/command.h"
#include "report/compare-page.h"
#include "report/compare.h"
#include "report/digest-json.h"
#include "report/error.h"
#include "report/form.h"
#include "report/gate.h"
#include "report/gather.h"
#include "report/load.h"
#include "report/null.h"
#include "report/pages.h"

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	WpCompareOptions compare;
	WpMarks marks; /* where the captures of a side begin */
	gint64 warmup_ns;
	WpPages pages;
	GPtrArray *rules;   /* of --fail-on */
	GPtrArray *budgets; /* files */
	gint64 top;
	gboolean wants_all;
	gboolean is_anonymous;
	gboolean is_null;
} CompareOptions;

#define AT(member) .offset = offsetof(CompareOptions, member)

static const WpOption side_table[] = {
	{ .name = "before",
	  .kind = WP_OPT_MARK,
	  AT(marks),
	  .argument = "FILE...",
	  .help = "the captures before; three or more a side show what captures of\n"
		  "one system differ by" },
	{ .name = "after",
	  .kind = WP_OPT_MARK,
	  AT(marks),
	  .argument = "FILE...",
	  .help = "the captures after" },
	{ .name = "null",
	  .kind = WP_OPT_FLAG,
	  AT(is_null),
	  .help = "all captures are of one build: write a budget file with limits\n"
		  "that follow from what they differ by" },
	{ .name = "warmup",
	  .kind = WP_OPT_DURATION,
	  AT(warmup_ns),
	  .argument = "TIME",
	  .maximum = 1e18,
	  .help = "leave out requests that begin sooner after the first record of\ntheir capture" },
	{ .name = NULL },
};

static const WpOption test_table[] = {
	{ .name = "min-change",
	  .kind = WP_OPT_SHARE,
	  AT(compare.min_change),
	  .argument = "SHARE",
	  .minimum = 0,
	  .maximum = 10,
	  .help = "what is less is no change, however certain (5%)" },
	{ .name = "risk",
	  .kind = WP_OPT_SHARE,
	  AT(compare.risk),
	  .argument = "SHARE",
	  .minimum = 1e-9,
	  .maximum = 0.5,
	  .help = "of comparisons of a system with itself, how many may call\nanything changed "
		  "(1.1%)" },
	{ .name = "resolution",
	  .kind = WP_OPT_SHARE,
	  AT(compare.resolution),
	  .argument = "SHARE",
	  .minimum = 1e-9,
	  .maximum = 1e9,
	  .help = "where captures would not have shown a change of so much, they\nare "
		  "inconclusive (25%)" },
	{ .name = NULL },
};

static const WpOption gate_table[] = {
	{ .name = "fail-on",
	  .kind = WP_OPT_TEXTS,
	  AT(rules),
	  .argument = "RULE,...",
	  .help = "exit with 1 where one does not hold: slower:5%, more-work,\nmore-calls, "
		  "new-calls, "
		  "lost-calls, 'p95 < 12ms', ..." },
	{ .name = "budget",
	  .kind = WP_OPT_TEXTS,
	  AT(budgets),
	  .argument = "FILE",
	  .help = "rules for single operations" },
	{ .name = NULL },
};

static const WpOption format_table[] = {
	WP_PAGES_FORMAT_ROW("text (the default), markdown, html, json, junit; else by the suffix\n"
			    "of FILE: txt, md, html, json, xml"),
	{ .name = NULL },
};

static const WpOption output_table[] = {
	{ .name = "top",
	  .kind = WP_OPT_INT,
	  AT(top),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = 1e9,
	  .excludes = "all",
	  .help = "operations to list (10), and those that changed" },
	{ .name = "all",
	  .kind = WP_OPT_FLAG,
	  AT(wants_all),
	  .help = "all operations, with all their parts" },
	{ .name = "anonymize",
	  .kind = WP_OPT_FLAG,
	  AT(is_anonymous),
	  .help = "numbered words for the names of nodes, operations and sides" },
	{ .name = NULL },
};

/* Operations on a page that people read. */
#define DEFAULT_TOP 10

static void
declare(WpOptions *parser, gpointer data)
{
	CompareOptions *options = data;
	wp_compare_options_init(&options->compare);
	options->top = DEFAULT_TOP;
	options->rules = g_ptr_array_new();
	options->budgets = g_ptr_array_new();
	wp_options_add(parser, "Captures", side_table, options);
	wp_options_add(parser, "Verdicts", test_table, options);
	wp_options_add(parser, "Gate", gate_table, options);
	wp_pages_declare(parser, &options->pages, format_table);
	wp_options_add(parser, "", output_table, options);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, TRUE);
}

static void
clear(gpointer data)
{
	CompareOptions *options = data;
	wp_analysis_options_clear(&options->analysis);
	wp_pages_clear(&options->pages);
	g_clear_pointer(&options->rules, g_ptr_array_unref);
	g_clear_pointer(&options->budgets, g_ptr_array_unref);
}

/* The operands of each side, in order. */
typedef struct {
	GPtrArray *operands[2];
	char *labels[2]; /* of "label=path"; NULL = none */
} Sides;

static void
sides_clear(Sides *sides)
{
	for (guint side = 0; side < 2; side++) {
		g_clear_pointer(&sides->operands[side], g_ptr_array_unref);
		g_free(sides->labels[side]);
	}
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sides, sides_clear)

static gboolean
sides_error(GError **error, const char *text)
{
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "%s\nwirepath compare BEFORE AFTER, or --before FILE... --after FILE...", text);
	return FALSE;
}

/* Of operand NUMBER: 0 before, 1 after, -1 neither. */
static int
side_of(const WpMarks *marks, guint number)
{
	int side = -1;
	for (guint i = 0; i < marks->n; i++)
		if (marks->at[i] <= number)
			side = strcmp(marks->names[i], "after") == 0;
	return side;
}

static void
add_operand(Sides *sides, guint side, char *operand)
{
	const char *path = wp_load_path(operand);
	if (path > operand && !sides->labels[side])
		sides->labels[side] = g_strndup(operand, (gsize)(path - operand - 1));
	g_ptr_array_add(sides->operands[side], (gpointer)path);
}

static gboolean
usage_error(GError **error, const char *text)
{
	g_set_error_literal(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE, text);
	return FALSE;
}

/* Rules and budgets name what --anonymize hides. */
static gboolean
check_purpose(const WpInvocation *invocation, const CompareOptions *options, GError **error)
{
	gboolean has_rules = options->rules->len || options->budgets->len;
	if (options->is_anonymous && has_rules)
		return usage_error(error, "--anonymize cannot stand beside --fail-on and --budget, "
					  "which name operations");
	if (!options->is_null)
		return TRUE;
	if (has_rules || options->is_anonymous || options->marks.n)
		return usage_error(error, "--null compares captures of one build with each other: "
					  "no sides, rules or --anonymize");
	if (options->pages.files->len > 1 || options->pages.format)
		return usage_error(error, "--null writes a budget file: one --output, no --format");
	if (invocation->n_operands < WP_NULL_MIN_CAPTURES)
		return usage_error(error,
				   "--null needs three captures of one build, better six or more");
	return TRUE;
}

static gboolean
split_sides(const WpInvocation *invocation, const WpMarks *marks, gboolean is_null, Sides *sides,
	    GError **error)
{
	for (guint side = 0; side < 2; side++)
		sides->operands[side] = g_ptr_array_new();
	if (is_null) {
		for (guint i = 0; i < invocation->n_operands; i++)
			add_operand(sides, 0, invocation->operands[i]);
		return TRUE;
	}
	if (!marks->n && invocation->n_operands != 2)
		return sides_error(error, invocation->n_operands < 2
						  ? "a capture before and one after are needed"
						  : "of more than two captures it must be said "
						    "which are before and which after");
	for (guint i = 0; i < invocation->n_operands; i++) {
		int side = marks->n ? side_of(marks, i) : (int)i;
		if (side < 0)
			return sides_error(error, "a capture stands before --before and --after");
		add_operand(sides, (guint)side, invocation->operands[i]);
	}
	if (!sides->operands[0]->len || !sides->operands[1]->len)
		return sides_error(error, "one side has no capture");
	return TRUE;
}

static gboolean
gather_part(const WpAnalysis *part, gpointer data, GError **error)
{
	(void)error;
	wp_gather_add(data, part);
	return TRUE;
}

/* (transfer full) */
static WpDigest *
read_capture(const WpInvocation *invocation, CompareOptions *options, char *path,
	     WpLoadEnding *ending, GError **error)
{
	char *operands[] = { path, NULL };
	WpInvocation one = *invocation;
	one.operands = operands;
	one.n_operands = 1;
	one.about = path;
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpGather) gather = wp_gather_new(options->warmup_ns);
	g_autoptr(WpAnalysis) analysis =
		wp_analysis_run(&one, &options->load, &options->analysis, TRUE, gather_part, gather,
				&outcome, error);
	if (!analysis)
		return NULL;
	wp_analysis_warn_of_nothing(&one, analysis, &options->analysis);
	WpDigest *digest = wp_gather_finish(gather, analysis, &options->analysis, &options->load,
					    wp_load_partial_reason(&outcome));
	GError *late = NULL;
	int status = wp_load_status(&one, &options->load, &outcome,
				    wp_trace_counters(analysis->trace), &late);
	wp_load_ending_note(ending, status, late);
	return digest;
}

/* TRUE where PATH is the JSON of a report; errors are found again by whoever reads it. */
static gboolean
is_result(const char *path)
{
	const guint8 *head;
	if (strcmp(path, "-") == 0 || !g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return FALSE;
	g_autoptr(WpInput) input = wp_input_open(path, NULL);
	gssize n = input ? wp_input_peek(input, 64, &head, NULL) : 0;
	return n > 0 && wp_digest_is_result((const char *)head, (gsize)n);
}

/* (transfer full) Of a result, which was inferred when it was made: options of that are of no use. */
static WpDigest *
read_result(const CompareOptions *options, const char *path, GError **error)
{
	if (options->warmup_ns) {
		g_set_error(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			"--warmup cannot be taken from %s, which holds no single requests\nmake "
			"it with wirepath report --from +TIME",
			path);
		return NULL;
	}
	return wp_digest_read(path, error);
}

static gboolean
read_all(const WpInvocation *invocation, CompareOptions *options, const Sides *sides,
	 GPtrArray *digests, WpLoadEnding *ending, GError **error)
{
	for (guint side = 0; side < 2; side++)
		for (guint i = 0; i < sides->operands[side]->len; i++) {
			char *path = sides->operands[side]->pdata[i];
			WpDigest *digest = is_result(path) ? read_result(options, path, error)
							   : read_capture(invocation, options, path,
									  ending, error);
			if (!digest)
				return FALSE;
			g_ptr_array_add(digests, digest);
		}
	return TRUE;
}

/* (transfer full) The rules, read before any capture. */
static WpGate *
read_rules(const CompareOptions *options, GError **error)
{
	g_autoptr(WpGate) gate = wp_gate_new();
	for (guint i = 0; i < options->rules->len; i++)
		if (!wp_gate_add_rules(gate, options->rules->pdata[i], error))
			return NULL;
	for (guint i = 0; i < options->budgets->len; i++)
		if (!wp_gate_add_file(gate, options->budgets->pdata[i], error))
			return NULL;
	return g_steal_pointer(&gate);
}

/* A rule that is about nothing guards nothing: most often a name that is misspelt. */
static void
warn_of_unused(const WpInvocation *invocation, const WpGate *gate)
{
	const char *text;
	for (guint i = 0; i < wp_gate_n_rules(gate); i++)
		if (!wp_gate_is_used(gate, i, &text))
			wp_warn(invocation, "no operation is what the rule \"%s\" is about", text);
}

/* What a page is made of. */
typedef struct {
	const WpComparison *comparison;
	const WpGate *gate;
	guint32 top;
} Content;

static void
write_page(gconstpointer data, int form, const WpStyle *style, WpOut *out)
{
	const Content *content = data;
	const WpComparePage page = { .style = *style, .top = content->top, .gate = content->gate };
	wp_compare_writers[form](content->comparison, &page, out);
}

/* What can be wrong with outputs is said before anything is read. */
static gboolean
check_outputs(const WpInvocation *invocation, const CompareOptions *options, GError **error)
{
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(&options->analysis, files);
	for (guint i = 0; i < options->budgets->len; i++)
		wp_overwrite_add_input(files, options->budgets->pdata[i]);
	return wp_pages_check(&options->pages, options->is_null ? NULL : wp_compare_forms, files,
			      error);
}

static int
exit_status(const CompareOptions *options, const WpComparison *comparison, const WpGate *gate,
	    WpLoadEnding *ending, GError **error)
{
	int status = wp_load_ending_status(ending, error);
	if (status)
		return status;
	if (options->load.is_strict && !comparison->is_comparable)
		return WP_EXIT_STRANGE;
	if (wp_gate_failed(gate) == WP_GATE_ERROR)
		return WP_EXIT_GATE;
	return options->load.is_strict && comparison->verdict == WP_VERDICT_INCONCLUSIVE
		       ? WP_EXIT_INCONCLUSIVE
		       : WP_EXIT_OK;
}

static int
write_null(const CompareOptions *options, const GPtrArray *digests, WpLoadEnding *ending,
	   GError **error)
{
	g_autoptr(WpOut) out = wp_out_open(options->pages.files->pdata[0], error);
	if (!out)
		return -1;
	wp_null_write((WpDigest *const *)(void *)digests->pdata, digests->len, &options->compare,
		      out);
	return wp_out_close(out, error) ? wp_load_ending_status(ending, error) : -1;
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	CompareOptions *options = data;
	g_auto(Sides) sides = { 0 };
	g_auto(WpLoadEnding) ending = { 0 };
	g_autoptr(GPtrArray) digests =
		g_ptr_array_new_with_free_func((GDestroyNotify)wp_digest_free);
	g_autoptr(WpGate) gate = read_rules(options, error);

	if (!gate || !check_purpose(invocation, options, error) ||
	    !check_outputs(invocation, options, error) ||
	    !split_sides(invocation, &options->marks, options->is_null, &sides, error) ||
	    !wp_analysis_check(&options->analysis, error) ||
	    !read_all(invocation, options, &sides, digests, &ending, error))
		return -1;
	if (options->is_null)
		return write_null(options, digests, &ending, error);
	for (guint side = 0; side < 2; side++)
		if (sides.labels[side])
			options->compare.labels[side] = sides.labels[side];
	g_autoptr(WpComparison) comparison =
		wp_compare((WpDigest *const *)(void *)digests->pdata, digests->len,
			   sides.operands[0]->len, &options->compare);
	wp_gate_ask(gate, comparison);
	warn_of_unused(invocation, gate);
	if (options->is_anonymous)
		wp_comparison_anonymize(comparison);
	const Content content = { comparison, gate,
				  options->wants_all ? 0 : (guint32)options->top };
	if (!wp_pages_write(invocation, &options->pages, wp_compare_forms, write_page, &content,
			    error))
		return -1;
	return exit_status(options, comparison, gate, &ending, error);
}

const WpCommand wp_command_compare = {
	.name = "compare",
	.synopsis = "[OPTION]... BEFORE AFTER",
	.summary = "captures before and after a change: what is slower, and where",
	.examples =
		"  wirepath compare before.pcap after.pcap\n"
		"  wirepath compare v2.4=old.pcap v2.5=new.pcap -o review.html\n"
		"  wirepath compare --before a.pcap b.pcap c.pcap --after d.pcap e.pcap f.pcap\n"
		"  wirepath compare --warmup 10s --strict before.pcap after.pcap\n"
		"  wirepath compare --null a.pcap b.pcap c.pcap d.pcap -o limits.budget\n"
		"  wirepath compare --budget limits.budget old.pcap new.pcap\n",
	.min_operands = 2,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(CompareOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
