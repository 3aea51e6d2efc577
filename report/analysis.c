/* Options of inference, engines' own included, and the chain of its stages. */
#include "report/analysis.h"

#include <string.h>

#include "infer/calibrate.h"
#include "infer/evidence.h"
#include "infer/pattern-sum.h"
#include "report/error.h"
#include "report/interrupt.h"

static const char *const client_choices[] = { "auto", "keep", NULL };
static const char *const label_choices[] = { "auto", "keep", NULL };
static const char *const pattern_choices[] = { "label", "node", NULL };

static void
list_engines(WpOut *out)
{
	for (const WpEngine *const *e = wp_engines; *e; e++)
		wp_out_printf(out, "%-12s%s\n", (*e)->name, (*e)->summary);
}

static void
list_evidence(WpOut *out)
{
	for (const WpEvidenceKind *const *k = wp_evidence_kinds; *k; k++)
		wp_out_printf(out, "%-14s%s%s\n", (*k)->name, (*k)->is_default ? "" : "(off) ",
			      (*k)->summary);
}

#define AT(member) .offset = offsetof(WpAnalysisOptions, member)

static const WpOption selection_table[] = {
	{ .name = "where",
	  .kind = WP_OPT_TEXT,
	  AT(where),
	  .argument = "EXPR",
	  .help = "only requests with a call for which this holds:\n\"latency > 5ms && dst == "
		  "db\"; "
		  "see --list-fields" },
	{ .name = "root",
	  .kind = WP_OPT_TEXT,
	  AT(root),
	  .argument = "NODE|LABEL",
	  .help = "see the paths from there on: calls into the node, or with\nthe label, are the "
		  "roots; may be a pattern with * and ?" },
	{ .name = "hide",
	  .kind = WP_OPT_WORDS,
	  AT(hidden),
	  .argument = "NODE",
	  .help = "leave calls into the node out (a sidecar, a proxy): what it calls\nis called by "
		  "what called it; may be a pattern; repeatable" },
	{ .name = "list-fields",
	  .kind = WP_OPT_ACTION,
	  .action = wp_where_list_fields,
	  .help = "fields and operators of --where" },
	{ .name = NULL },
};

/*
 * Enough to learn from; at ten requests in flight some 400 MB.
 */
#define DEFAULT_WINDOW 200000

static const WpOption node_table[] = {
	{ .name = "window",
	  .kind = WP_OPT_INT,
	  AT(window),
	  .argument = "CALLS",
	  .minimum = 0,
	  .maximum = 100e6,
	  .help = "calls inferred at a time (200000): bounds the memory, whatever\nthe length of "
		  "the input; "
		  "0: all at once" },
	{ .name = "learn-from",
	  .kind = WP_OPT_INT,
	  AT(examples),
	  .argument = "CALLS",
	  .minimum = 0,
	  .maximum = 100e6,
	  .help = "calls of the windows before that a window is solved with, to\nlearn from them "
		  "(50000)" },
	{ .name = "names",
	  .kind = WP_OPT_TEXT,
	  AT(resolve.names_file),
	  .argument = "FILE",
	  .help = "names of nodes: lines \"ADDRESS[/BITS][:PORT] NAME\"" },
	{ .name = "owners",
	  .kind = WP_OPT_TEXT,
	  AT(resolve.owners_file),
	  .argument = "FILE",
	  .help = "which process has which connection, where services share an\naddress: what 'ss "
		  "-tnap' prints" },
	{ .name = "clients",
	  .kind = WP_OPT_CHOICE,
	  AT(clients),
	  .argument = "HOW",
	  .choices = client_choices,
	  .help = "keep: do not fold many clients into one node" },
	{ .name = "labels",
	  .kind = WP_OPT_CHOICE,
	  AT(labels),
	  .argument = "HOW",
	  .choices = label_choices,
	  .help = "keep: operations as they were seen, however many" },
	{ .name = "fold",
	  .kind = WP_OPT_FLAG,
	  AT(resolve.folds),
	  .help = "replicas, nodes with the same neighbours and calls, are one node" },
	{ .name = "pattern-by",
	  .kind = WP_OPT_CHOICE,
	  AT(pattern_by),
	  .argument = "WHAT",
	  .choices = pattern_choices,
	  .help = "node: operations make no difference" },
	{ .name = "black-box",
	  .kind = WP_OPT_FLAG,
	  AT(resolve.is_black_box),
	  .help = "use nothing but who called whom, and when: no operations,\nvalues, sizes, "
		  "connections" },
	{ .name = NULL },
};

static const struct {
	WpOptKind kind;
	const char *argument;
} option_kinds[] = {
	[WP_OPTION_DOUBLE] = { WP_OPT_DOUBLE, "NUMBER" },
	[WP_OPTION_DURATION] = { WP_OPT_DURATION, "TIME" },
	[WP_OPTION_INT] = { WP_OPT_INT, "N" },
	[WP_OPTION_FLAG] = { WP_OPT_FLAG, NULL },
	[WP_OPTION_LIST] = { WP_OPT_TEXT, "LIST" },
	[WP_OPTION_FILE] = { WP_OPT_TEXT, "FILE" },
};

/* (transfer full) The engine's option table in the parser's form. */
static WpOption *
convert_table(const WpEngine *engine)
{
	gsize n = 0;
	while (engine->options && engine->options[n].name)
		n++;
	WpOption *table = g_new0(WpOption, n + 1);
	for (gsize i = 0; i < n; i++) {
		const WpEngineOption *from = &engine->options[i];
		table[i] = (WpOption){
			.name = from->name,
			.kind = option_kinds[from->kind].kind,
			.offset = from->offset,
			.argument = option_kinds[from->kind].argument,
			.help = from->help,
			.minimum = from->minimum,
			.maximum = from->maximum,
		};
	}
	return table;
}

static void
declare_engine(WpOptions *parser, WpAnalysisOptions *options, const WpEngine *engine)
{
	gpointer target = g_malloc0(MAX(engine->options_size, 1));
	WpOption *table = convert_table(engine);
	if (engine->options_init)
		engine->options_init(target);
	g_ptr_array_add(options->engine_options, target);
	g_ptr_array_add(options->engine_tables, table);
	if (table[0].name) {
		char *title = g_strdup_printf("Engine %s", engine->name);
		g_ptr_array_add(options->engine_tables, title);
		wp_options_add(parser, title, table, target);
	}
}

/* --engine itself: its choices are the table of engines. */
static void
declare_choice(WpOptions *parser, WpAnalysisOptions *options)
{
	g_ptr_array_add(options->engine_names, (gpointer) "auto");
	for (const WpEngine *const *e = wp_engines; *e; e++)
		g_ptr_array_add(options->engine_names, (gpointer)(*e)->name);
	g_ptr_array_add(options->engine_names, NULL);
	options->engine_table = g_new0(WpOption, 4);
	options->engine_table[0] = (WpOption){
		.name = "engine",
		.kind = WP_OPT_CHOICE,
		AT(engine),
		.argument = "NAME",
		.choices = (const char *const *)options->engine_names->pdata,
		.help = "how causes are inferred; see --list-engines",
	};
	options->engine_table[1] = (WpOption){
		.name = "list-engines",
		.kind = WP_OPT_ACTION,
		.action = list_engines,
		.help = "the engines",
	};
	options->engine_table[2] = (WpOption){
		.name = "list-evidence",
		.kind = WP_OPT_ACTION,
		.action = list_evidence,
		.help = "the kinds of evidence beside time",
	};
	wp_options_add(parser, "", options->engine_table, options);
}

void
wp_analysis_declare(WpOptions *parser, WpAnalysisOptions *options, gboolean selects)
{
	options->parser = parser;
	wp_resolve_options_init(&options->resolve);
	options->window = DEFAULT_WINDOW;
	options->examples = WP_WINDOW_EXAMPLES;
	options->engine_options = g_ptr_array_new_with_free_func(g_free);
	options->engine_tables = g_ptr_array_new_with_free_func(g_free);
	options->engine_names = g_ptr_array_new();
	if (selects)
		wp_options_add(parser, "Requests", selection_table, options);
	wp_options_add(parser, "Inference", node_table, options);
	declare_choice(parser, options);
	for (const WpEngine *const *e = wp_engines; *e; e++)
		declare_engine(parser, options, *e);
}

void
wp_analysis_options_clear(WpAnalysisOptions *options)
{
	g_clear_pointer(&options->engine_options, g_ptr_array_unref);
	g_clear_pointer(&options->engine_tables, g_ptr_array_unref);
	g_clear_pointer(&options->engine_names, g_ptr_array_unref);
	g_clear_pointer(&options->engine_table, g_free);
}

static gboolean
has_option(const WpEngine *engine, const char *name)
{
	for (const WpEngineOption *o = engine->options; o && o->name; o++)
		if (strcmp(o->name, name) == 0)
			return TRUE;
	return FALSE;
}

/* Options of another engine would do nothing. "auto" is the first engine, wherever anything can be inferred. */
static gboolean
check_engine(const WpAnalysisOptions *options, GError **error)
{
	const WpEngine *chosen = wp_engines[options->engine ? options->engine - 1 : 0];
	for (const WpEngine *const *e = wp_engines; *e; e++)
		for (const WpEngineOption *o = (*e)->options; o && o->name; o++)
			if (wp_options_given(options->parser, o->name) &&
			    !has_option(chosen, o->name)) {
				g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
					    "--%s is an option of the engine %s, but the engine is "
					    "%s\nadd --engine %s",
					    o->name, (*e)->name, chosen->name, (*e)->name);
				return FALSE;
			}
	return TRUE;
}

gconstpointer
wp_analysis_engine_options(const WpAnalysisOptions *options, const WpEngine *engine)
{
	for (guint i = 0; wp_engines[i]; i++)
		if (wp_engines[i] == engine)
			return options->engine_options->pdata[i];
	return NULL;
}

gboolean
wp_analysis_is_aggregate(const WpAnalysisOptions *options)
{
	return options->engine && wp_engines[options->engine - 1]->is_aggregate;
}

char *
wp_analysis_hidden(const WpAnalysisOptions *options)
{
	return options->hidden.n ? g_strjoinv(", ", (char **)options->hidden.words) : NULL;
}

gboolean
wp_analysis_check(const WpAnalysisOptions *options, GError **error)
{
	if (!check_engine(options, error))
		return FALSE;
	if (wp_analysis_is_aggregate(options) && !options->takes_aggregates) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "the engine %s finds paths but links no calls\nuse wirepath report",
			    wp_engines[options->engine - 1]->name);
		return FALSE;
	}
	if (wp_analysis_is_aggregate(options) && options->hidden.n) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--hide: the engine %s links no calls, so none can be taken out",
			    wp_engines[options->engine - 1]->name);
		return FALSE;
	}
	for (const WpEngine *const *e = wp_engines; *e; e++)
		if ((*e)->check && !(*e)->check(wp_analysis_engine_options(options, *e), error))
			return FALSE;
	if (!options->where)
		return TRUE;
	g_autoptr(WpWhere) where = wp_where_new(options->where, error);
	return where != NULL;
}

/* Files that engines read. */
static void
add_engine_files(const WpEngine *engine, gconstpointer values, WpOverwrite *files)
{
	for (const WpEngineOption *o = engine->options; o && o->name; o++)
		if (o->kind == WP_OPTION_FILE)
			wp_overwrite_add_input(files, G_STRUCT_MEMBER(char *, values, o->offset));
}

void
wp_analysis_add_inputs(const WpAnalysisOptions *options, WpOverwrite *files)
{
	wp_overwrite_add_input(files, options->resolve.names_file);
	wp_overwrite_add_input(files, options->resolve.owners_file);
	for (const WpEngine *const *e = wp_engines; *e; e++)
		add_engine_files(*e, wp_analysis_engine_options(options, *e), files);
}

static gboolean
select_spans(WpAnalysis *analysis, const WpAnalysisOptions *options, gboolean *out_found,
	     GError **error)
{
	g_autoptr(WpWhere) where = NULL;
	if (!options->where && !options->root && !options->hidden.n && !analysis->answer)
		return TRUE;
	if (options->where) {
		where = wp_where_new(options->where, error);
		if (!where)
			return FALSE;
	}
	const WpSelectionWish wish = { options->root, where,
				       analysis->answer ? analysis->answer->takes : NULL,
				       options->hidden.words };
	analysis->selection =
		wp_selection_new(analysis->resolved, analysis->links, &wish, out_found, error);
	if (!analysis->selection)
		return FALSE;
	analysis->n_inferred += analysis->links->n;
	for (guint32 i = 0; i < analysis->links->n; i++)
		analysis->n_selected += analysis->selection->keep[i];
	return TRUE;
}

static WpResolveOptions
resolve_options(const WpAnalysisOptions *options)
{
	WpResolveOptions resolve = options->resolve;
	resolve.keep_clients = options->clients == 1;
	resolve.joins_clients = wp_analysis_is_aggregate(options);
	resolve.keep_labels = options->labels == 1;
	resolve.by_label = options->pattern_by == 0;
	resolve.leaves_open = !options->engine || wp_engines[options->engine - 1]->tells_owners;
	return resolve;
}

gboolean
wp_analysis_self_check(const WpAnalysis *analysis, const WpAnalysisOptions *options,
		       WpSelfCheck *out_check, GError **error)
{
	WpResolveOptions resolve = resolve_options(options);
	return wp_self_check(analysis->resolved, analysis->links, &resolve, analysis->engine,
			     wp_analysis_engine_options(options, analysis->engine),
			     wp_interrupt_came, out_check, error);
}

static gboolean
infer(WpAnalysis *analysis, const WpAnalysisOptions *options, WpStopFunc stop, GError **error)
{
	if (!analysis->engine)
		analysis->engine = options->engine ? wp_engines[options->engine - 1]
						   : wp_engine_auto(analysis->resolved);
	WpResolveOptions resolve = resolve_options(options);
	const WpDealMethod method = { &resolve, analysis->engine,
				      wp_analysis_engine_options(options, analysis->engine), stop };
	analysis->links =
		wp_engine_infer(analysis->engine, analysis->resolved, method.options, stop, error);
	if (!analysis->links)
		return FALSE;
	analysis->n_joined += analysis->links->n_joined;
	return (stop && stop()) ||
	       wp_links_calibrate(analysis->links, analysis->resolved, &method, error);
}

static void
count(WpAnalysis *analysis, const WpPatternSet *set)
{
	double lost = wp_view_loss_share(wp_trace_counters(analysis->trace));
	wp_tally_add(&analysis->tally, analysis->resolved, wp_analysis_links(analysis),
		     analysis->selection ? analysis->selection->keep : NULL,
		     MAX(set->lost_share, lost));
}

/* The whole, from ANALYSIS->trace. */
static gboolean
analyse(WpAnalysis *analysis, const WpAnalysisOptions *options, gboolean want_patterns,
	WpLoadOutcome *outcome, GError **error)
{
	WpResolveOptions resolve = resolve_options(options);

	analysis->resolved = wp_resolve(analysis->trace, &resolve, error);
	if (!analysis->resolved)
		return FALSE;
	if (!infer(analysis, options, outcome->is_stopped ? NULL : wp_interrupt_came, error))
		return FALSE;
	outcome->is_inference_stopped = wp_interrupt_came() && !outcome->is_stopped;
	if (!select_spans(analysis, options, NULL, error))
		return FALSE;
	if (want_patterns) {
		analysis->patterns = wp_patterns_new(analysis->resolved,
						     wp_analysis_links(analysis), options->keep);
		count(analysis, analysis->patterns);
	}
	return TRUE;
}

static WpAnalysis *
analysis_new(void)
{
	WpAnalysis *analysis = g_new0(WpAnalysis, 1);
	wp_tally_init(&analysis->tally);
	return analysis;
}

WpAnalysis *
wp_analysis_new(const WpTrace *trace, const WpAnalysisOptions *options, gboolean want_patterns,
		WpProgress *progress, WpLoadOutcome *outcome, GError **error)
{
	if (progress)
		wp_progress_stage(progress, "inferring");
	g_autoptr(WpAnalysis) analysis = analysis_new();
	analysis->trace = trace;
	gboolean is_done = analyse(analysis, options, want_patterns, outcome, error);
	if (progress)
		wp_progress_clear(progress);
	return is_done ? g_steal_pointer(&analysis) : NULL;
}

/* --- in parts --- */

typedef struct {
	const WpAnalysisOptions *options;
	gboolean want_patterns;
	WpAnalysisFunc func;
	gpointer data;
	WpProgress *progress; /* or NULL */
	WpLoadOutcome *outcome;
	gboolean has_stopped; /* Ctrl-C during inference */
	gboolean has_root;    /* a call was found that --root means */
	WpPatternSum *sum;
	WpAnalysis *analysis;
} Run;

static void
run_clear(Run *run)
{
	wp_pattern_sum_free(run->sum);
	wp_analysis_free(run->analysis);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

/* The nodes of a part; what was counted before follows those that have become others. */
static gboolean
resolve_part(Run *run, const WpTrace *trace, GError **error)
{
	WpAnalysis *analysis = run->analysis;
	analysis->trace = trace;
	if (!analysis->resolved) {
		WpResolveOptions resolve = resolve_options(run->options);
		analysis->resolved = wp_resolve(trace, &resolve, error);
		return analysis->resolved != NULL;
	}
	analysis->has_moved = wp_resolved_next(analysis->resolved, trace);
	if (analysis->has_moved) {
		wp_pattern_sum_move(run->sum, analysis->resolved);
		wp_tally_move(&analysis->tally, analysis->resolved);
	}
	return TRUE;
}

static gboolean
finish_part(Run *run, GError **error)
{
	WpAnalysis *analysis = run->analysis;
	if (run->want_patterns) {
		WpKeep *keep = run->options->keep;
		if (keep)
			keep->numbers = analysis->answer->numbers;
		g_autoptr(WpPatternSet) set =
			wp_patterns_new(analysis->resolved, wp_analysis_links(analysis), keep);
		wp_pattern_sum_add(run->sum, set, keep);
		count(analysis, set);
	}
	if (run->func && !run->func(analysis, run->data, error))
		return FALSE;
	g_clear_pointer(&analysis->selection, wp_selection_free);
	g_clear_pointer(&analysis->links, wp_links_free);
	analysis->answer = NULL;
	return TRUE;
}

/*
 * Ctrl-C while a part is inferred ends that early; one that came while records were read does not: those are
 * still to be reported.
 */
static gboolean
take_part(Run *run, WpWindows *windows, const WpTrace *trace, gboolean is_last, GError **error)
{
	WpAnalysis *analysis = run->analysis;
	gboolean was_stopped = wp_interrupt_came();
	if (!resolve_part(run, trace, error))
		return FALSE;
	wp_windows_tell(windows, analysis->resolved);
	if (!infer(analysis, run->options, was_stopped ? NULL : wp_interrupt_came, error))
		return FALSE;
	run->has_stopped |= wp_interrupt_came() && !was_stopped;
	analysis->answer =
		wp_windows_answer(windows, wp_resolved_spans(analysis->resolved), analysis->links);
	gboolean must_find = is_last && !run->has_root;
	return select_spans(analysis, run->options, must_find ? NULL : &run->has_root, error) &&
	       finish_part(run, error);
}

static gboolean
take_whole(Run *run, const WpTrace *trace, GError **error)
{
	WpAnalysis *analysis = run->analysis;
	analysis->trace = trace;
	return analyse(analysis, run->options, run->want_patterns, run->outcome, error) &&
	       (!run->func || run->func(analysis, run->data, error));
}

static gboolean
on_window(WpWindows *windows, const WpTrace *trace, gboolean is_last, gpointer data, GError **error)
{
	Run *run = data;
	if (run->progress)
		wp_progress_stage(run->progress, "inferring");
	gboolean is_done = is_last && wp_windows_count(windows) == 1
				   ? take_whole(run, trace, error)
				   : take_part(run, windows, trace, is_last, error);
	if (run->progress)
		wp_progress_clear(run->progress);
	return is_done;
}

WpAnalysis *
wp_analysis_run(const WpInvocation *invocation, const WpLoadOptions *load,
		const WpAnalysisOptions *options, gboolean want_patterns, WpAnalysisFunc func,
		gpointer data, WpLoadOutcome *out_outcome, GError **error)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_auto(Run) run = { .options = options,
			    .want_patterns = want_patterns,
			    .func = func,
			    .data = data,
			    .progress = invocation->progress,
			    .outcome = out_outcome,
			    .sum = wp_pattern_sum_new(),
			    .analysis = analysis_new() };
	WpAnalysis *analysis = run.analysis;
	guint32 calls = options->window ? (guint32)options->window : G_MAXUINT32;
	WpWindows *windows = analysis->windows =
		wp_windows_new(nodes, calls, (guint32)options->examples, on_window, &run);

	wp_windows_set_period(windows, options->period_ns);
	gboolean is_read = options->feed
				   ? options->feed(windows, nodes, options->feed_data, error)
				   : wp_load_stream(invocation, load, nodes,
						    wp_windows_sink(windows), out_outcome, error);
	if (!is_read || !wp_windows_finish(windows, error))
		return NULL;
	out_outcome->is_inference_stopped |= run.has_stopped;
	if (want_patterns && !analysis->patterns) {
		analysis->patterns = wp_pattern_sum_finish(run.sum, analysis->resolved);
		wp_windows_add_folded(windows, wp_pattern_sum_n_folded(run.sum));
	}
	return g_steal_pointer(&run.analysis);
}

WpLinks *
wp_analysis_reference(const WpAnalysis *analysis, const WpAnalysisOptions *options,
		      const WpReference *reference, GError **error)
{
	const WpEngine *engine = analysis->engine;
	if (!engine->run_reference)
		return NULL;
	return engine->run_reference(analysis->resolved,
				     wp_analysis_engine_options(options, engine), reference,
				     wp_interrupt_came, error);
}

void
wp_analysis_free(WpAnalysis *analysis)
{
	if (!analysis)
		return;
	wp_patterns_free(analysis->patterns);
	wp_selection_free(analysis->selection);
	wp_links_free(analysis->links);
	wp_resolved_free(analysis->resolved);
	wp_tally_clear(&analysis->tally);
	wp_windows_free(analysis->windows);
	g_free(analysis);
}

void
wp_analysis_warn_of_nothing(const WpInvocation *invocation, const WpAnalysis *analysis,
			    const WpAnalysisOptions *options)
{
	if (options->where && analysis->n_inferred && !analysis->n_selected)
		wp_warn(invocation,
			"no call fulfils --where '%s'; without it, wirepath inspect lists the "
			"nodes",
			options->where);
}

const WpLinks *
wp_analysis_links(const WpAnalysis *analysis)
{
	return analysis->selection ? analysis->selection->links : analysis->links;
}
