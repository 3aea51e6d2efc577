/*
 * WpArrivals: when requests of open clients come, whatever became of those before.
 *
 *   regular(100/s)               one every 10 ms
 *   poisson(100/s)               at random
 *   bursts(500/s, 200ms, 800ms)  at random, during bursts only: rate in a burst, mean length of a burst
 *                                and of the pause after it (both exponential)
 */
#ifndef WP_TRACES_ARRIVALS_H
#define WP_TRACES_ARRIVALS_H

#include "traces/random.h"

typedef struct WpArrivalKind WpArrivalKind;

typedef struct {
	const WpArrivalKind *kind; /* NULL = no such clients */
	double gap_ns;             /* mean, in a burst */
	double on_ns;
	double off_ns;
} WpArrivals;

/* Reads at *AT and moves on; else FALSE and (transfer full) *OUT_PROBLEM. */
gboolean wp_arrivals_read(const char **at, WpArrivals *out_arrivals, char **out_problem);

/* Time to the next request. BURST_NS: what is left of the burst, 0 at first; kept by the caller. */
gint64 wp_arrivals_next(const WpArrivals *arrivals, double *burst_ns, WpRandom *random);

#endif
