/*
 * Inside of kinds of evidence: what a pair has in common, as one of a few levels (0 = nothing), and what
 * each level is worth, learned per kind of parent and child.
 *
 *     log P(level | the pair is true) - log P(level | it is an accident)
 *
 * Both are counted with the present weights, each pair without itself, and shrunk: an edge of which little
 * is known is worth what calls of its kind are worth, and they, what nothing is worth. So a kind of
 * evidence that does not tell true pairs from others comes to 0 by itself.
 */
#ifndef WP_INFER_EVIDENCE_LEVELS_H
#define WP_INFER_EVIDENCE_LEVELS_H

#include "infer/evidence-kind.h"

#define WP_LEVELS_MAX 16

typedef struct WpLevels WpLevels;

/* The level of any bundle and parent; asked for in wp_levels_new() alone. */
typedef guint (*WpLevelFunc)(gconstpointer data, guint32 bundle, guint32 parent);

/*
 * The group of a bundle, a small number; asked for in wp_levels_new() alone. Bundles that accidents befall more often
 * than others of their kind are of another group: a call that has ten values meets one by chance ten times as often as
 * a call that has one. Each group learns on its own what its levels are worth.
 */
typedef guint (*WpGroupFunc)(gconstpointer data, guint32 bundle);

/*
 * (transfer full) Asks FUNC for the level of each pair, and of accidents: bundles with parents that
 * cannot be theirs. NULL where no pair is above 0. GROUP_FUNC may be NULL: all are alike.
 */
WpLevels *wp_levels_new(const WpEvidenceHost *host, guint n_levels, WpGroupFunc group_func,
			WpLevelFunc func, gconstpointer data);

/* The other functions of a WpEvidenceKind whose begin() gives a WpLevels. */
void wp_levels_learn(gpointer levels, const double *weights);
double wp_levels_score(gpointer levels, guint32 pair);
void wp_levels_free(gpointer levels);

#endif
