/*
 * WpCorrelogram: what cross-correlation looks at, drawn out for one way through a node: messages that come
 * by one edge, and those that leave by another. For each bin of lag, how many pairs of messages stand that far
 * apart, and how many do by chance.
 *
 *      pairs |        *
 *            |       ***                      a cause: pairs rise above what is beside them
 *            |  ..*.*****.*....*...  band
 *            +----0-----------------> lag     left of 0 the effect would come first: only chance
 *
 * Chance is the midmean of the bins around, so that neither a spike nor rates which drift make it rise. How far it strays is taken
 * from the trace itself: in WP_CORRELOGRAM_BLOCKS blocks of time each bin is counted by itself, and what the
 * blocks of bins around differ by, added up, is the variance of a sum. Bursts widen the band, as they should.
 */
#ifndef WP_INFER_CORRELOGRAM_H
#define WP_INFER_CORRELOGRAM_H

#include <glib.h>

#define WP_CORRELOGRAM_BLOCKS 32

/* Bins of lag at most. */
#define WP_CORRELOGRAM_MAX 4096

typedef struct {
	guint64 n_in;
	guint64 n_out;
	gint64 quantum_ns;
	gint64 first;   /* bin of lag of pairs[0]: < 0; lags from first * quantum_ns on */
	guint32 n;      /* bins */
	guint64 *pairs; /* by bin */
	double *chance; /* expected without a cause */
	double *sd;     /* of that; > 0 */
} WpCorrelogram;

/*
 * (transfer full) IN, OUT: times in ns, ascending. Lags up to MAX_LAG_NS in bins of QUANTUM_NS > 0, and a quarter
 * as far below 0. NULL where these are more than WP_CORRELOGRAM_MAX bins.
 */
WpCorrelogram *wp_correlogram_new(const gint64 *in, gsize n_in, const gint64 *out, gsize n_out,
				  gint64 max_lag_ns, gint64 quantum_ns);
void wp_correlogram_free(WpCorrelogram *correlogram);

/* The quantum for lags up to MAX_LAG_NS: a few hundred bins, at least 1 ns. */
gint64 wp_correlogram_quantum(gint64 max_lag_ns);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpCorrelogram, wp_correlogram_free)

#endif
