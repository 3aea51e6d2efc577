/*
 * Cross-correlation of two signals, by four ways that agree:
 *
 *      C[lag] = sum over t of a[t] b[t + lag],     min_lag <= lag <= max_lag, in bins
 *
 * A lag is positive where the second signal comes later. With a = the messages into a node and b = those
 * that it sends, C rises where b repeats a that much later (the paper's section 5.2).
 *
 *   direct      the sum as it stands, over all bins: the reference of the tests
 *   sparse      over pairs of bins that are not empty; exact on counts; cost: such pairs within the lags
 *   whole       one transform over the whole duration, as the paper has it
 *   segmented   blocks of a against b a little longer (overlap-save), spectra summed before the one
 *               transform back: memory by the lags alone, cost linear in the duration
 *
 *      a   |====block====|                    zero behind it
 *      b   |---min_lag..max_lag + block---|   so that no lag of interest wraps round
 *
 * Absolute error against the direct sum: at most 1e-9 of the product of the norms, whatever the way.
 */
#ifndef WP_INFER_XCORR_H
#define WP_INFER_XCORR_H

#include <glib.h>

#include "infer/signal.h"

typedef enum {
	WP_XCORR_DIRECT,
	WP_XCORR_SPARSE,
	WP_XCORR_WHOLE,
	WP_XCORR_SEGMENTED,
	WP_XCORR_N_METHODS
} WpXcorrMethod;

extern const char *const wp_xcorr_method_names[WP_XCORR_N_METHODS];

/* Bins of lag; at most this many, or the transform would need more than 2 GB. */
#define WP_XCORR_MAX_LAGS (1 << 24)

typedef struct {
	gint64 min;
	gint64 max; /* >= min */
} WpLags;

/* Operations, about as long as one addition each, that each way would take. */
typedef struct {
	double operations[WP_XCORR_N_METHODS];
	WpXcorrMethod best; /* the cheaper of sparse and segmented */
} WpXcorrCost;

WpXcorrCost wp_xcorr_cost(const WpSignal *a, const WpSignal *b, WpLags lags);

/* Buffers and plans, kept from one correlation to the next. For one thread. (transfer full) */
typedef struct WpXcorr WpXcorr;
WpXcorr *wp_xcorr_new(void);
void wp_xcorr_free(WpXcorr *xcorr);

/* OUT: lags.max - lags.min + 1 values. */
void wp_xcorr_run(WpXcorr *xcorr, WpXcorrMethod method, const WpSignal *a, const WpSignal *b,
		  WpSignalValue value, WpLags lags, double *out);

/* Exact: pairs of messages. */
void wp_xcorr_counts(const WpSignal *a, const WpSignal *b, WpLags lags, guint64 *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpXcorr, wp_xcorr_free)

#endif
