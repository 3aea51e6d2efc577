/*
 * How far two causal chains are from each other: edit distances with costs that depend on where in the chain
 * something differs, after J. Lambert, "Using stack traces to identify failed executions in a Java distributed
 * system" (Case Western Reserve University, 2002), sections 3.3 to 3.5. A chain runs from a root to a call below
 * it; a frame is one call of it:
 *
 *     web GET /page  >  app RUN  >  store READ
 *
 * Where we differ from the thesis: equal frames cost 0 in all metrics (there negative in the hierarchical ones, so
 * that a chain was nearer to its like the longer it was), its factor of the middle begins at 1 as its text says, and
 * the empty chain is one like others, so that a chain that is missing has a cost.
 */
#ifndef WP_INFER_CHAIN_METRIC_H
#define WP_INFER_CHAIN_METRIC_H

#include <glib.h>

/* From what differs most to what differs least. */
typedef enum {
	WP_FRAME_ROLE,
	WP_FRAME_SERVICE,
	WP_FRAME_OPERATION,
	WP_FRAME_TIME, /* a bucket of latencies; 0 where it is not to count */
	WP_FRAME_N_LEVELS
} WpFrameLevel;

typedef struct {
	guint32 levels[WP_FRAME_N_LEVELS]; /* numbers of names */
} WpChainFrame;

/* A frame and where it stands. */
typedef struct {
	const WpChainFrame *frame;
	guint length; /* of its chain */
	guint at;     /* from 0 = the root */
} WpFramePlace;

typedef struct WpChainMetric {
	const char *name;
	const char *help;
	double (*missing)(const WpFramePlace *place); /* NULL: gaps */
	double (*changed)(const WpFramePlace *a, const WpFramePlace *b);
	double gap_open;  /* first frame of a gap */
	double gap_widen; /* each further one */
} WpChainMetric;

/* NULL-ended. */
extern const WpChainMetric *const wp_chain_metrics[];

/* (transfer none) NULL where there is none. */
const WpChainMetric *wp_chain_metric_by_name(const char *name);

/*
 * The least cost of turning A (N_A frames) into B; symmetric, 0 where they are equal. Either may be empty. Time is
 * n_a * n_b, memory n_b.
 */
double wp_chain_distance(const WpChainMetric *metric, const WpChainFrame *a, guint n_a,
			 const WpChainFrame *b, guint n_b);

#endif
