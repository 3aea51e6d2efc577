/* Operations: the patterns of a set gathered by their root call. Part of pattern.c's work. */
#ifndef WP_INFER_OPERATION_H
#define WP_INFER_OPERATION_H

#include "infer/pattern.h"

/*
 * Fills the operations of SET and the operation of each pattern; patterns must be in their final
 * order. The ranks say in which order names stand.
 */
void wp_operations_gather(WpPatternSet *set, const guint32 *node_ranks, const guint32 *label_ranks);

#endif
