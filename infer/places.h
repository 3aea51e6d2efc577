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

#endif
