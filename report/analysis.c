/* Options of inference, engines' own included, and the chain of its stages. */
#include "report/analysis.h"

#include <string.h>

#include "infer/evidence.h"
#include "report/error.h"
#include "report/interrupt.h"

static const char *const client_choices[] = { "auto", "keep", NULL };
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
	{ .name = "list-fields",
	  .kind = WP_OPT_ACTION,
	  .action = wp_where_list_fields,
	  .help = "fields and operators of --where" },
	{ .name = NULL },
};

static const WpOption node_table[] = {
	{ .name = "names",
	  .kind = WP_OPT_TEXT,
	  AT(resolve.names_file),
	  .argument = "FILE",
	  .help = "names of nodes: lines \"ADDRESS[/BITS][:PORT] NAME\"" },
	{ .name = "clients",
	  .kind = WP_OPT_CHOICE,
	  AT(clients),
	  .argument = "HOW",
	  .choices = client_choices,
	  .help = "keep: do not fold many clients into one node" },
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

/* The options struct that belongs to ENGINE. */
static gconstpointer
engine_options(const WpAnalysisOptions *options, const WpEngine *engine)
{
	for (guint i = 0; wp_engines[i]; i++)
		if (wp_engines[i] == engine)
			return options->engine_options->pdata[i];
	return NULL;
}

gboolean
wp_analysis_check(const WpAnalysisOptions *options, GError **error)
{
	if (!check_engine(options, error))
		return FALSE;
	for (const WpEngine *const *e = wp_engines; *e; e++)
		if ((*e)->check && !(*e)->check(engine_options(options, *e), error))
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
	for (const WpEngine *const *e = wp_engines; *e; e++)
		add_engine_files(*e, engine_options(options, *e), files);
}

static gboolean
select_spans(WpAnalysis *analysis, const WpAnalysisOptions *options, GError **error)
{
	g_autoptr(WpWhere) where = NULL;
	if (!options->where && !options->root)
		return TRUE;
	if (options->where) {
		where = wp_where_new(options->where, error);
		if (!where)
			return FALSE;
	}
	analysis->selection =
		wp_selection_new(analysis->resolved, analysis->links, options->root, where, error);
	return analysis->selection != NULL;
}

static WpResolveOptions
resolve_options(const WpAnalysisOptions *options)
{
	WpResolveOptions resolve = options->resolve;
	resolve.keep_clients = options->clients == 1;
	resolve.by_label = options->pattern_by == 0;
	return resolve;
}

gboolean
wp_analysis_self_check(const WpAnalysis *analysis, const WpAnalysisOptions *options,
		       WpSelfCheck *out_check, GError **error)
{
	WpResolveOptions resolve = resolve_options(options);
	return wp_self_check(analysis->resolved, analysis->links, &resolve, analysis->engine,
			     engine_options(options, analysis->engine), wp_interrupt_came,
			     out_check, error);
}

static WpAnalysis *
analyse(const WpTrace *trace, const WpAnalysisOptions *options, gboolean want_patterns,
	WpLoadOutcome *outcome, GError **error)
{
	g_autoptr(WpAnalysis) analysis = g_new0(WpAnalysis, 1);
	WpResolveOptions resolve = resolve_options(options);

	analysis->trace = trace;
	analysis->resolved = wp_resolve(trace, &resolve, error);
	if (!analysis->resolved)
		return NULL;
	analysis->engine = options->engine ? wp_engines[options->engine - 1]
					   : wp_engine_auto(analysis->resolved);
	analysis->links =
		analysis->engine->run(analysis->resolved, engine_options(options, analysis->engine),
				      outcome->is_stopped ? NULL : wp_interrupt_came, error);
	outcome->is_inference_stopped = wp_interrupt_came() && !outcome->is_stopped;
	if (!analysis->links || !select_spans(analysis, options, error))
		return NULL;
	if (want_patterns)
		analysis->patterns =
			wp_patterns_new(analysis->resolved, wp_analysis_links(analysis));
	return g_steal_pointer(&analysis);
}

WpAnalysis *
wp_analysis_new(const WpTrace *trace, const WpAnalysisOptions *options, gboolean want_patterns,
		WpProgress *progress, WpLoadOutcome *outcome, GError **error)
{
	if (progress)
		wp_progress_stage(progress, "inferring");
	WpAnalysis *analysis = analyse(trace, options, want_patterns, outcome, error);
	if (progress)
		wp_progress_clear(progress);
	return analysis;
}

WpLinks *
wp_analysis_reference(const WpAnalysis *analysis, const WpAnalysisOptions *options,
		      const WpReference *reference, GError **error)
{
	const WpEngine *engine = analysis->engine;
	if (!engine->run_reference)
		return NULL;
	return engine->run_reference(analysis->resolved, engine_options(options, engine), reference,
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
	g_free(analysis);
}

void
wp_analysis_warn_of_nothing(const WpInvocation *invocation, const WpAnalysis *analysis,
			    const WpAnalysisOptions *options)
{
	gsize n = analysis->links->n;
	if (options->where && n && !memchr(analysis->selection->keep, 1, n))
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
