/* Places: one merged tree for all requests of an operation. Part of pattern.c's work. */
#ifndef WP_INFER_PLACES_H
#define WP_INFER_PLACES_H

#include "infer/path.h"
#include "infer/pattern.h"

/*
 * Fills the places and nodes of the operations of SET, which are in their final order. The ranks say in
 * which order names stand.
 *
 * A place is a way of (node, label) from the root call down. A call with alternatives counts as often as its
 * link is likely below its parent, and for the rest below the next best; so a mistake of inference costs
 * a place no more than the doubt about it. Where LINKS has no odds, every link counts as right.
 */
void wp_places_gather(WpPatternSet *set, const WpSpans *spans, const WpLinks *links,
		      const WpPaths *paths, const guint32 *node_ranks, const guint32 *label_ranks);

/* Places of the same operations from several parts of a capture, added up. */
typedef struct WpPlaceSum WpPlaceSum;

/* (transfer full) */
WpPlaceSum *wp_place_sum_new(void);
void wp_place_sum_free(WpPlaceSum *sum);

/* Adds the places of OPERATION, which is called ROOT in SUM: 0, 1, ... */
void wp_place_sum_add(WpPlaceSum *sum, guint32 root, const WpOperation *operation);

/* Nodes have become others, and root i is ROOTS[i] now. */
void wp_place_sum_move(WpPlaceSum *sum, const guint32 *roots, const WpResolved *resolved);

/* Fills the operations of SET as wp_places_gather() does; OPERATIONS[i] is that of root i. */
void wp_place_sum_finish(const WpPlaceSum *sum, WpPatternSet *set, const guint32 *operations,
			 const guint32 *node_ranks, const guint32 *label_ranks);

/* (transfer full) WpRankedText: the labels of all places, each once. */
GArray *wp_place_sum_labels(const WpPlaceSum *sum, const WpNodes *nodes);

/* Places for which there was no room. */
guint64 wp_place_sum_n_folded(const WpPlaceSum *sum);

#endif
