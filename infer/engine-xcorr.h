/*
 * Cross-correlation: paths of systems whose messages are no calls and returns, as aggregates. Unlike other
 * engines it links no single calls: the program gathers the messages of all parts and asks once.
 */
#ifndef WP_INFER_ENGINE_XCORR_H
#define WP_INFER_ENGINE_XCORR_H

#include <glib.h>

#include "infer/engine.h"
#include "infer/spectra.h"

typedef struct {
	gboolean as_published; /* the paper's algorithm and nothing else */
	gint64 quantum_ns;     /* 0 = chosen by the trace */
	gint64 max_lag_ns;     /* longest delay looked for */
	double spike_sds;      /* as published: the paper's N */
	double dip_sds;        /* S */
	gint64 match_ns;       /* v; 0 = a quantum */
	gint64 max_depth;      /* edges of a path */
	double min_share;      /* of the messages of its root: rarer edges are not followed */
	double false_share; /* of the edges found at hosts that do not answer, that may be false */
} WpXcorrOptions;

extern const WpEngine wp_engine_xcorr;

/*
 * (transfer full) MESSAGES is frozen. IS_ROOT: by node, which ones paths begin at; NULL: by rule, see
 * wp_xcorr_roots(). OPTIONS: NULL = defaults. After STOP what was found until then.
 */
WpSpectra *wp_xcorr_spectra(const WpMessages *messages, const guint8 *is_root,
			    const WpXcorrOptions *options, WpStopFunc stop);

#endif
