/*
 * Accuracy of inferred calls against a truth file (the paper, section 7.5.1).
 *
 *   WpTruth (what happened)  +  WpFound (what was inferred)  ->  WpAccuracy (numbers)
 *
 * Two layouts of truth:
 *   of the wire: call_id,parent_call_id,t_call_us,t_return_us,src_ip,src_port,dst_ip,dst_port,...
 *     matched by 4-tuple and time: the nearest call within a tolerance, one to one;
 *   of span sets: call_id,parent_id
 *     matched by the id of the call, which the trace carries.
 *
 * Don't care: rows of the truth whose operation begins with "(" (set-up); they and the calls matched
 * to them are neither found nor false, right nor wrong.
 */
#ifndef WP_INFER_ACCURACY_H
#define WP_INFER_ACCURACY_H

#include <glib.h>

#include "infer/links.h"
#include "infer/resolve.h"
#include "infer/window.h"

typedef struct WpTruth WpTruth;

/* (transfer full) Reads PATH (.gz allowed, "-" is not). Errors: WP_INFER_ERROR, with file and line. */
WpTruth *wp_truth_read(const char *path, GError **error);
void wp_truth_free(WpTruth *truth);

/*
 * (transfer full) By span of RESOLVED the span that truly caused it; WP_NO_SPAN: none, or not known.
 * TOLERANCE_NS: see WpAccuracyOptions.
 */
guint32 *wp_truth_parents(const WpTruth *truth, const WpResolved *resolved, gint64 tolerance_ns);

/* The calls that were inferred, from a run or from a file. */
typedef struct WpFound WpFound;

/* (transfer full) All spans of RESOLVED but set-up. Copies what it needs. */
WpFound *wp_found_new(const WpResolved *resolved, const WpLinks *links);

/* (transfer full) No calls yet. */
WpFound *wp_found_start(void);

/* Adds the spans of a part of a trace that stand by ANSWER; NULL: all, and there is one part. */
void wp_found_add(WpFound *found, const WpResolved *resolved, const WpLinks *links,
		  const WpWindowAnswer *answer);

/* (transfer full) What `wirepath calls` wrote at PATH (.gz allowed). Errors as above. */
WpFound *wp_found_read(const char *path, GError **error);
void wp_found_free(WpFound *found);

/* TRUE where the first bytes of a file (decompressed) are those of such a CSV file. */
gboolean wp_found_is_calls(const guint8 *head, gsize length);

typedef struct {
	gint64 tolerance_ns; /* of call and return times; 1 ms */
	guint32 max_top;     /* greatest N of the top-N table; 50 */
} WpAccuracyOptions;

void wp_accuracy_options_init(WpAccuracyOptions *options);

/*
 * One load class, or all. The class of a call is its parallelism: how many true calls (span sets: how
 * many calls of the trace) enclose it at the node that sent it. The class of a trace is that of its
 * most parallel call. "True" means without don't-care rows everywhere.
 */
typedef struct {
	const char *name;       /* "all", "1", "2", "3-4", "5-8", "9-16", "over 16" */
	guint64 n_calls;        /* true calls */
	guint64 n_found;        /* ... that were found */
	guint64 n_links;        /* true calls that have a parent */
	guint64 n_links_right;  /* ... found, and under that parent (missing = wrong) */
	guint64 n_traces;       /* true traces (roots) */
	guint64 n_traces_right; /* ... found, and every call with a parent is under the right one */
	guint64 n_traces_scope; /* ... the same, minding calls of nodes with one caller class only */
	guint64 n_traces_exact; /* ... whose tree is the same: all found, all right, nothing added */
} WpAccuracyRow;

#define WP_ACCURACY_N_CLASSES 6

/* Links by caller and callee, by name. */
typedef struct {
	const char *caller;
	const char *callee;
	guint64 n;
	guint64 right;
} WpAccuracyEdge;

/* False negatives and positives, counted as in the paper's 7.5.1. */
typedef struct {
	guint64 n_true;
	guint64 n_found;
	guint64 false_negatives;
	guint64 false_positives;
} WpAccuracyCount;

/* Patterns with a greater share of the requests are what a report shows first. */
#define WP_ACCURACY_FREQUENT 0.005

/* Figure 17: how many of the N most frequent true patterns are not among the N most frequent found. */
#define WP_ACCURACY_N_TOLERANCES 3 /* 0, 2 and 6 % of the count that would have been enough */

typedef struct {
	guint32 n;
	guint32 false_negatives[WP_ACCURACY_N_TOLERANCES];
} WpAccuracyTop;

/* Mean self time of one node occurrence of a true pattern that was found as well. */
typedef struct {
	guint32 pattern;  /* rank of the true pattern by count, from 1 */
	guint32 position; /* of the node in the pattern, in pre-order */
	const char *node;
	guint64 n_true; /* instances */
	guint64 n_found;
	double true_ns; /* mean */
	double found_ns;
} WpAccuracySelf;

typedef struct {
	/* Calls. */
	guint64 n_reported;       /* inferred calls that were judged (don't-care ones left out) */
	guint64 n_false;          /* ... that match no true call */
	guint64 n_dont_care;      /* inferred calls that matched a don't-care row */
	guint64 n_returns;        /* true calls found whose true return time is known */
	guint64 n_returns_right;  /* ... within the tolerance */
	guint64 n_links_reported; /* inferred calls with a parent: precision = right / this */
	guint64 n_roots;          /* true roots */
	guint64 n_roots_right;    /* ... found, and inferred to be roots */

	WpAccuracyRow all;
	WpAccuracyRow classes[WP_ACCURACY_N_CLASSES];
	double parallelism; /* mean over the true calls that have any */

	guint32 n_edges;
	WpAccuracyEdge *edges; /* by caller, then callee */

	/* Patterns of nodes (labels left out), parallel siblings unordered. */
	WpAccuracyCount patterns;
	WpAccuracyCount
		frequent; /* patterns of more than WP_ACCURACY_FREQUENT of their side's roots */
	WpAccuracyCount instances;
	guint64 n_messages;       /* true calls in all paths */
	guint64 n_messages_wrong; /* ... not ascribed to the right path */
	guint32 n_top;
	WpAccuracyTop *top;      /* n = 1 .. */
	double pattern_distance; /* half the L1 distance of the shares of patterns, 0..1 */
	guint32 n_selfs;
	WpAccuracySelf *selfs; /* by pattern, then position */
	double self_error;     /* mean |relative error| over selfs, weighted by n_true */

	/* Of the probabilities of links (non-root true calls with one); n_judged 0 = there are none. */
	guint64 n_judged;
	double calibration_error; /* expected, 20 bins */
	double auc;
	double coverage; /* greatest share, surest first, at which 99 % are right */

	GStringChunk *names; /* owns the strings above */
} WpAccuracy;

/* (transfer full) OPTIONS may be NULL. Borrows nothing. */
WpAccuracy *wp_accuracy_measure(const WpTruth *truth, const WpFound *found,
				const WpAccuracyOptions *options);
void wp_accuracy_free(WpAccuracy *accuracy);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTruth, wp_truth_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpFound, wp_found_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpAccuracy, wp_accuracy_free)

#endif
