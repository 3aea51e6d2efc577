/*
 * Replicas: nodes that nobody tells apart, as the same nodes call them, for the same, and they call the same
 * nodes. Part of resolve's work, where it is asked to fold them (--fold).
 *
 *     gateway -> backend1 -> store          backend1 and backend2 have the same neighbours: one node,
 *     gateway -> backend2 -> store          whose hosts stay apart
 */
#ifndef WP_INFER_REPLICAS_H
#define WP_INFER_REPLICAS_H

#include "capture/trace.h"
#include "infer/span.h"

/*
 * (transfer full) For each of N nodes of TRACE the first of its replicas, often itself. SPANS as wp_spans_new()
 * makes them. Two called nodes are replicas where
 *   - the same nodes call them, at the same ports and by the same protocols, and they call the same;
 *     neighbours that are replicas of each other count as one;
 *   - each label with a share of WP_REPLICAS_MIN_SHARE of the one's calls is met at the other;
 *   - there is a port, a protocol or a label at all, or they are numbers of one name: bare names say nothing.
 */
#define WP_REPLICAS_MIN_SHARE 0.05
guint32 *wp_replicas_find(const WpTrace *trace, const WpSpans *spans, guint32 n);

/* TRUE for numbers of one name, "backend1" and "backend12", but not "db" and "web", or two addresses. */
gboolean wp_replicas_have_one_stem(const char *one, const char *other);

#endif
