/* Messages out of each host matched with messages into it, as densities and fanout of a model have it. */
#ifndef WP_INFER_XCORR_MATCH_H
#define WP_INFER_XCORR_MATCH_H

#include "infer/xcorr-model.h"

/*
 * A round: sets causes and shares, where there is room for them; adds to counts of pairs, fanout_counts, own and taken, which the caller has set
 * to 0.
 */
void wp_xcorr_match(WpXcorrModel *model);

#endif
