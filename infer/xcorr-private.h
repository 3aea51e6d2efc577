/* What the files of the cross-correlation engine share. */
#ifndef WP_INFER_XCORR_PRIVATE_H
#define WP_INFER_XCORR_PRIVATE_H

#include "infer/engine-xcorr.h"

/* Vertices of a result; what is beyond is said in a note. */
#define WP_XCORR_MAX_VERTICES 4096

/*
 * (transfer full) By node, up to the greatest number in MESSAGES: 1 = paths begin there. Nodes that send
 * calls or one-way messages and get none but answers; where there are none, those that send before they
 * receive (the paper's 5.2 leaves the choice to the user).
 */
guint8 *wp_xcorr_roots(const WpMessages *messages, guint32 *out_n);

/* The algorithm of the paper's figure 6. */
void wp_xcorr_published(WpSpectra *spectra, const WpMessages *messages, const guint8 *is_root,
			const WpXcorrOptions *options, WpStopFunc stop);

/* 1, 2 or 5 times a power of ten ns, not above NS; at least 1. */
gint64 wp_xcorr_round_quantum(double ns);

/* Nodes: one more than the greatest number. */
guint32 wp_xcorr_n_nodes(const WpMessages *messages);

#endif
