/*
 * WpSweep: for every call the calls that may have caused it, host by host in one pass over time.
 *
 *   into the host   |-----p1------------|    |---p4---|
 *                       |------p2----|
 *                         |--p3--|
 *   out of it               |-c-|                          candidates of c: p1 p2 p3
 *
 * A call p into a host is a candidate parent of a call c that the host sends, where p encloses c (ends
 * may be equal; widened by a window for clocks that differ). No call is its own candidate. Only calls
 * with a return take part.
 *
 * Candidates are handed out, never stored: who needs them twice sweeps twice. The cost is linear in
 * spans plus pairs of a call and an open call into its host.
 */
#ifndef WP_INFER_SWEEP_H
#define WP_INFER_SWEEP_H

#include <glib.h>

#include "infer/span.h"

typedef struct WpSweep WpSweep;

typedef struct {
	gint64 call_ns; /* both at the host */
	gint64 return_ns;
	guint32 span;
	guint32 class; /* number of its (caller, callee), from 0 */
} WpCandidate;

/* (transfer full) SPANS is borrowed. WITH_SETUP: set-up spans take part. */
WpSweep *wp_sweep_new(const WpSpans *spans, gint64 window_ns, gboolean with_setup);
void wp_sweep_free(WpSweep *sweep);

/*
 * Calls FUNC for each span that takes part, host by host, inside a host in order of call time, then id
 * (numbers by value, texts by first use). CANDIDATES by call time, then id; N may be 0.
 */
typedef void (*WpSweepFunc)(guint32 child, const WpCandidate *candidates, guint32 n, gpointer data);
void wp_sweep_run(WpSweep *sweep, WpSweepFunc func, gpointer data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSweep, wp_sweep_free)

#endif
