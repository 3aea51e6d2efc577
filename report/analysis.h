/*
 * WpAnalysis: records put through inference: resolve, engine, selection, patterns. Shared by all
 * commands that infer (report, calls, evaluate). A long input is inferred in parts (infer/window.h).
 */
#ifndef WP_REPORT_ANALYSIS_H
#define WP_REPORT_ANALYSIS_H

#include <glib.h>

#include "infer/engine.h"
#include "infer/pattern.h"
#include "infer/self-check.h"
#include "infer/window.h"
#include "report/load.h"
#include "report/select.h"
#include "report/tally.h"
#include "report/where.h"

typedef struct {
	WpResolveOptions resolve;
	int clients;     /* 0 = auto, 1 = keep */
	int labels;      /* 0 = auto, 1 = keep */
	int pattern_by;  /* 0 = label, 1 = node */
	int engine;      /* 0 = auto, else number in wp_engines + 1 */
	gint64 window;   /* calls inferred at a time; 0 = all */
	gint64 examples; /* calls before a window to learn from */
	const char *root;
	const char *where;
	WpWords hidden;            /* nodes */
	gboolean takes_aggregates; /* an engine that links no calls will do */

	/* Not options: set by the command that watches, or 0. */
	gint64 period_ns; /* a part also ends after so long (infer/window.h) */
	/* Pushes the records of a live input, into the sink of WINDOWS, instead of those of operands. */
	gboolean (*feed)(WpWindows *windows, WpNodes *nodes, gpointer data, GError **error);
	gpointer feed_data;
	WpKeep *keep; /* requests that patterns keep whole, beside examples; or NULL */

	/* Of each engine: its options struct, and its option table made from the engine's own. */
	GPtrArray *engine_options;
	GPtrArray *engine_tables;
	GPtrArray *engine_names; /* "auto" and all names, NULL-ended */
	WpOption *engine_table;
	const WpOptions *parser; /* borrowed: knows what was given */
} WpAnalysisOptions;

/* Sets defaults and adds the tables "Inference" and one per engine; with SELECTS --where and --root. */
void wp_analysis_declare(WpOptions *parser, WpAnalysisOptions *options, gboolean selects);
void wp_analysis_options_clear(WpAnalysisOptions *options);

typedef struct WpAnalysis {
	const WpTrace *trace; /* borrowed */
	WpResolved *resolved;
	const WpEngine *engine;
	WpLinks *links;         /* of all spans, as inferred */
	WpSelection *selection; /* NULL = everything */
	WpPatternSet *patterns; /* of the selection; NULL where not asked for */
	guint64 n_joined;       /* kinds of calls that engines did not tell apart, summed */
	WpTally tally;          /* likewise */
	guint64 n_inferred; /* where something was selected: from so many spans, context of parts included */
	guint64 n_selected; /* ... so many */

	gboolean has_moved; /* of a part: nodes became others since the one before */

	/* Of a part; it has no patterns. SELECTION is there, and leaves out what does not stand in it. */
	const WpWindowAnswer *answer; /* NULL: this is the whole */

	/* Of a whole that came in parts. Then LINKS and SELECTION are NULL, and TRACE is the last part. */
	WpWindows *windows;
} WpAnalysis;

/* The calls of a part, in turn; of an input that is no longer than a window, the whole. */
typedef gboolean (*WpAnalysisFunc)(const WpAnalysis *part, gpointer data, GError **error);

/*
 * Infers. TRACE is borrowed and must outlive the analysis. Patterns only with WANT_PATTERNS. PROGRESS
 * may be NULL. Ctrl-C during inference ends it early, and OUTCOME notes so; one that came while TRACE was
 * loaded does not: what was read is still to be reported. An expression that makes no sense is an error
 * here, so commands call wp_analysis_check() before they load anything.
 */
WpAnalysis *wp_analysis_new(const WpTrace *trace, const WpAnalysisOptions *options,
			    gboolean want_patterns, WpProgress *progress, WpLoadOutcome *outcome,
			    GError **error);

/*
 * (transfer full) Loads and infers in parts of OPTIONS->window calls, each of which is shown to FUNC (may be
 * NULL); in memory for one of them. What it returns has everything but single calls: see WpAnalysis. After
 * Ctrl-C it is of what was read until then.
 */
WpAnalysis *wp_analysis_run(const WpInvocation *invocation, const WpLoadOptions *load,
			    const WpAnalysisOptions *options, gboolean want_patterns,
			    WpAnalysisFunc func, gpointer data, WpLoadOutcome *out_outcome,
			    GError **error);
void wp_analysis_free(WpAnalysis *analysis);

/*
 * (transfer full) The links that the engine of ANALYSIS would have found, knowing REFERENCE; NULL without
 * an error where it learns nothing.
 */
WpLinks *wp_analysis_reference(const WpAnalysis *analysis, const WpAnalysisOptions *options,
			       const WpReference *reference, GError **error);

/* How right the links of ANALYSIS can be expected to be: infers once more. */
gboolean wp_analysis_self_check(const WpAnalysis *analysis, const WpAnalysisOptions *options,
				WpSelfCheck *out_check, GError **error);

/* FALSE where the options can be seen to be wrong without any input. */
gboolean wp_analysis_check(const WpAnalysisOptions *options, GError **error);

/* (transfer full) The nodes of --hide with commas between them; NULL: there are none. */
char *wp_analysis_hidden(const WpAnalysisOptions *options);

/* TRUE where the engine asked for links no calls. */
gboolean wp_analysis_is_aggregate(const WpAnalysisOptions *options);

/* (transfer none) The options struct of ENGINE. */
gconstpointer wp_analysis_engine_options(const WpAnalysisOptions *options, const WpEngine *engine);

/* Tells FILES of those that inference reads. */
void wp_analysis_add_inputs(const WpAnalysisOptions *options, WpOverwrite *files);

/* Warns where --where leaves nothing: a misspelt node is no error there. */
void wp_analysis_warn_of_nothing(const WpInvocation *invocation, const WpAnalysis *analysis,
				 const WpAnalysisOptions *options);

/* The links after --root and --where. */
const WpLinks *wp_analysis_links(const WpAnalysis *analysis);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpAnalysis, wp_analysis_free)

#endif
