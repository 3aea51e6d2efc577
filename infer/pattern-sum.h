/*
 * WpPatternSum: pattern sets of several parts of one capture, added up. Counts, times and probabilities are
 * those of all requests together; of exemplars, which need all instances, the one stays that is nearest to
 * its quantile.
 *
 * Patterns grow with the mistakes of inference, and those with the length. Beyond
 * WP_PATTERN_SUM_MAX_NODES node occurrences the rarest patterns of each operation become one without a
 * tree (WpPattern.n_rest); beyond WP_PATTERN_SUM_MAX_PLACES nothing is added to merged trees but where they
 * have a place for it.
 */
#ifndef WP_INFER_PATTERN_SUM_H
#define WP_INFER_PATTERN_SUM_H

#include "infer/pattern.h"

/* Some 200 bytes an occurrence, as rare patterns have few times; 100 bytes a place. */
#define WP_PATTERN_SUM_MAX_NODES  200000
#define WP_PATTERN_SUM_MAX_PLACES 200000

typedef struct WpPatternSum WpPatternSum;

/* (transfer full) */
WpPatternSum *wp_pattern_sum_new(void);
void wp_pattern_sum_free(WpPatternSum *sum);

/* Adds SET, whose patterns it takes out of it. KEEP: what SET was made with. */
void wp_pattern_sum_add(WpPatternSum *sum, WpPatternSet *set, const WpKeep *keep);

/* To be called after wp_resolved_next() returned TRUE: what was added has the nodes and labels that are meant now. */
void wp_pattern_sum_move(WpPatternSum *sum, const WpResolved *resolved);

/* (transfer full) All that was added, in canonical order; SUM is empty then. RESOLVED must outlive it. */
WpPatternSet *wp_pattern_sum_finish(WpPatternSum *sum, const WpResolved *resolved);

/* Patterns and places that were folded for want of room. */
guint64 wp_pattern_sum_n_folded(const WpPatternSum *sum);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpPatternSum, wp_pattern_sum_free)

#endif
