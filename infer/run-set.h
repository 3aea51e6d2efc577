/*
 * WpRunSet: runs of one system as profiles, and how far each is from each (Lambert's thesis, algorithms 3.1 and
 * 3.2; see infer/chain-metric.h). A profile says how often, or how long, each causal chain was there, by the role of
 * the node at its end and by the entry (root) that it came from:
 *
 *     distance(A, B) = sum over roles, entries and chains c of A: weight of c * distance of c to the nearest of B
 *                    + the same from B to A
 *
 * The nearest is sought within the same role and entry. Where B has none there, c costs its distance to the empty
 * chain: the thesis took nothing for an entry that is missing, so that a path that had come or gone was free.
 */
#ifndef WP_INFER_RUN_SET_H
#define WP_INFER_RUN_SET_H

#include <glib.h>

#include "infer/chain-metric.h"

/* Limits of a set; what is beyond is counted by wp_run_set_n_left(). */
#define WP_RUN_SET_MAX_CHAINS 8000
#define WP_RUN_SET_MAX_FRAMES 64 /* of a chain; the rest is cut off */

typedef struct WpRunSet WpRunSet;

/* (transfer full) METRIC is borrowed. */
WpRunSet *wp_run_set_new(const WpChainMetric *metric);
void wp_run_set_free(WpRunSet *set);

/* The number of a new run, of a chain; G_MAXUINT32 where there are too many chains. */
guint32 wp_run_set_add_run(WpRunSet *set);
guint32 wp_run_set_chain(WpRunSet *set, const WpChainFrame *frames, guint n);

/* (transfer none) The frames of CHAIN. */
const WpChainFrame *wp_run_set_frames(const WpRunSet *set, guint32 chain, guint *out_n);

/* Adds WEIGHT (0 or more) to CHAIN, at ROLE and from ENTRY, in RUN. */
void wp_run_set_count(WpRunSet *set, guint32 run, guint32 role, guint32 entry, guint32 chain,
		      double weight);

guint64 wp_run_set_n_left(const WpRunSet *set);

/* (transfer full) N * N, N runs: symmetric, zeros in the diagonal. No counting after it. */
double *wp_run_set_matrix(WpRunSet *set);

/*
 * What makes a run odd: the part that a chain has in its mean distance to the others, because the run has it or,
 * IS_MISSING, because others have it and the run has not.
 */
typedef struct {
	guint32 chain;
	gboolean is_missing;
	double distance; /* above 0 */
} WpRunReason;

/* (transfer full) Of WpRunReason, the greatest first. After wp_run_set_matrix(). */
GArray *wp_run_set_explain(WpRunSet *set, guint32 run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpRunSet, wp_run_set_free)

#endif
