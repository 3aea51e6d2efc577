/* The paper's nesting algorithm; its options, for the program and for tests. */
#ifndef WP_INFER_ENGINE_SCOREBOARD_H
#define WP_INFER_ENGINE_SCOREBOARD_H

#include <glib.h>

#include "infer/engine.h"

typedef struct {
	double overlap_penalty; /* the paper's x */
	double same_penalty;    /* y */
	double any_penalty;     /* z */
	gint64 skew_ns;         /* window by which a parent may miss an end of its child */
	double smoothing;       /* sd of a Gaussian over bins; 0 = off */
	double bin_ratio;       /* of the bounds of neighbouring bins */
	gint64 bin_ns;          /* upper bound of the bin around 0 */
	gboolean with_setup;    /* set-up exchanges take part */
} WpScoreboardOptions;

extern const WpEngine wp_engine_scoreboard;

/*
 * The links of SPANS alone, without words on roots whose parent may be unseen: what the engine's run()
 * begins with, and what tests call. STOP may be NULL. (transfer full)
 */
WpLinks *wp_scoreboard_link(const WpSpans *spans, const WpScoreboardOptions *options,
			    WpStopFunc stop);

#endif
