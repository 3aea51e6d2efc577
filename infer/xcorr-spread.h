/* WpSpread: how the delays of a vertex are spread, to a thousandth of each, and what a reader is told of it. */
#ifndef WP_INFER_XCORR_SPREAD_H
#define WP_INFER_XCORR_SPREAD_H

#include <glib.h>

#include "infer/spectra.h"

typedef struct WpSpread WpSpread;

/* (transfer full) For delays MIN_NS .. MAX_NS >= 0. */
WpSpread *wp_spread_new(gint64 min_ns, gint64 max_ns);
void wp_spread_free(WpSpread *spread);
void wp_spread_add(WpSpread *spread, gint64 delay_ns, double weight);

/* Delay below which a SHARE of the weight lies; 0 of nothing. */
double wp_spread_quantile(const WpSpread *spread, double share);

/*
 * (transfer full) The delays apart from each other, whose messages add up to MESSAGES; at least one, most messages
 * first. All times stand on ticks of TICK_NS; delays closer than QUANTUM_NS are one. Their significance is not set. SPREAD
 * NULL: one of delay 0.
 */
WpSpectrumSpike *wp_spread_spikes(const WpSpread *spread, double messages, double tick_ns,
				  double quantum_ns, guint32 *out_n);

#endif
