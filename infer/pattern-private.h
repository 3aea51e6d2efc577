/* Shared by pattern.c and pattern-sum.c. */
#ifndef WP_INFER_PATTERN_PRIVATE_H
#define WP_INFER_PATTERN_PRIVATE_H

#include "infer/pattern.h"

/* Place of each node, and of each string that is a label, in the order of names. */
typedef struct {
	guint32 *nodes;
	guint32 *labels;
} WpPatternRanks;

/* (transfer full) */
guint32 *wp_pattern_rank_nodes(const WpResolved *resolved);

/* The canonical order. */
int wp_pattern_compare(const WpPattern *left, const WpPattern *right, const WpPatternRanks *ranks);

/* Sets what follows from counts and means. NODES has its strings. */
void wp_pattern_judge(WpPattern *pattern, WpNodes *nodes);

void wp_pattern_node_clear(WpPatternNode *node);
void wp_pattern_clear(WpPattern *pattern);

/* Gives back their instances. */
void wp_exemplars_clear(WpExemplar *exemplars, guint n);

#endif
