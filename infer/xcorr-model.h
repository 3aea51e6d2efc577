/*
 * What cross-correlation knows of a trace: which edges go together at a node, and how long after a
 * message of the one those of the other leave.
 *
 * Lags are kept in bins that grow with them: 32 to each power of two, so that a delay of 60 us and one of
 * 3 s are both known to some percent, at any time scale in one pass.
 */
#ifndef WP_INFER_XCORR_MODEL_H
#define WP_INFER_XCORR_MODEL_H

#include "infer/xcorr-private.h"

#define WP_LAG_BITS 5
#define WP_LAG_UNIT (1u << WP_LAG_BITS) /* bins an octave */

/* Of a lag >= 0; lags of 86400 s have 1470. */
static inline guint32
wp_lag_bin(gint64 lag_ns)
{
	if (lag_ns < 2 * (gint64)WP_LAG_UNIT)
		return (guint32)lag_ns;
	guint32 shift = 63 - (guint32)__builtin_clzll((guint64)lag_ns) - WP_LAG_BITS;
	return shift * WP_LAG_UNIT + (guint32)(lag_ns >> shift);
}

/* The least lag of a bin, and how many ns are in it. */
static inline gint64
wp_lag_of_bin(guint32 bin)
{
	if (bin < 2 * WP_LAG_UNIT)
		return bin;
	return (gint64)(bin % WP_LAG_UNIT + WP_LAG_UNIT) << (bin / WP_LAG_UNIT - 1);
}

static inline gint64
wp_lag_width(guint32 bin)
{
	return bin < 2 * WP_LAG_UNIT ? 1 : (gint64)1 << (bin / WP_LAG_UNIT - 1);
}

/*
 * Edges that go together: messages of OUT leave some time after messages of IN arrive, more often than
 * chance has it. DENSITY[i] is of bin BEGIN + i: messages caused by one of IN that may still have effects then, per ns.
 */
typedef struct {
	guint32 in; /* edges */
	guint32 out;
	gboolean is_periodic; /* left out in some place, as two clocks would do */
	double sds;           /* of the clearest place; 0: known by elimination only */
	double mass;          /* messages of OUT that one of IN causes */
	guint32 begin;        /* bins of lag that the density covers */
	guint32 n_bins;
	double *density;
	double *counts; /* while learning */
	gint64 min_ns;  /* lags that may have a density */
	gint64 max_ns;
} WpPair;

#define WP_NO_EDGE G_MAXUINT32

/* The likeliest cause of a message. */
typedef struct {
	guint32 edge; /* WP_NO_EDGE: none */
	guint32 at;   /* message of it */
	float share;  /* how likely */
} WpCause;

/* A possible cause of a message. */
typedef struct {
	guint32 pair;
	guint32 at;  /* message of its IN */
	float share; /* how likely */
} WpShare;

/* Until when a message may have effects: later ones are as much less likely. */
typedef struct {
	float until_ns; /* since it arrived */
	float odds;
} WpEffect;

/* How many messages may still have effects is known for so many lags, of four bins each; of fewer messages it is not told. */
#define WP_LEFT_BITS     2
#define WP_N_LEFT        ((60 * WP_LAG_UNIT) >> WP_LEFT_BITS)
#define WP_LEFT_MESSAGES 64

/* A message of which one effect is known for sure; in two bytes, as there is one for each message. */
#define WP_ALL_TAKEN 65535.0

/* How many effects messages have; more are as many. */
#define WP_MAX_EFFECTS 8

typedef struct {
	double of[WP_MAX_EFFECTS + 1]; /* shares that have so many; while counting, messages */
	double n;                      /* while counting: of so many messages */
} WpFanout;

typedef struct {
	const WpMessages *messages;
	const guint8 *is_root; /* by node */
	const WpXcorrOptions *options;
	WpStopFunc stop;
	gint64 tick_ns;      /* as of wp_messages_tick() */
	gint64 max_lag_ns;   /* looked at */
	GArray *pairs;       /* WpPair, by out, then in */
	guint32 *first_pair; /* by edge, + 1: pairs of which it is the OUT */
	double *uncaused;    /* by edge: messages a ns that nothing caused */
	double *own;         /* by edge, while counting: messages that nothing caused */
	gboolean is_free;    /* messages may have any number of effects */
	guint8 *has_cause;   /* by edge: its messages are answers, all their causes pairs */
	double *silent;   /* by edge: share that may have no effect, as the others are answered */
	WpFanout *fanout; /* by edge: effects of its messages; where not free */
	WpFanout *fanout_counts;
	guint16 **
		taken; /* by edge and message, while counting: how much of its effects, of WP_ALL_TAKEN */
	WpEffect **effects; /* by edge and message */
	float **left; /* by edge, then lag: which part of its messages may still have effects; NULL: all */
	WpCause **causes; /* likewise, while learning; NULL else */
	GArray **shares;  /* WpShare by edge, in order of its messages; once learned */
	guint32 **
		shares_end; /* by edge and message: where its shares end in these; NULL: has none */
	guint64 n_tests;
	guint64 n_correlations;
	guint64 n_left_out; /* pairs that stood out, beyond what there is room for */
	guint64 n_periodic; /* pairs that two clocks of the same period would explain */
	double threshold;   /* standard deviations that chance does not reach */
} WpXcorrModel;

void wp_xcorr_model_init(WpXcorrModel *model, const WpMessages *messages, const guint8 *is_root,
			 const WpXcorrOptions *options, WpStopFunc stop);
void wp_xcorr_model_clear(WpXcorrModel *model);

/* TRUE once the user wants an end: every loop over messages or pairs asks. */
static inline gboolean
wp_xcorr_is_stopped(const WpXcorrModel *model)
{
	return model->stop && model->stop();
}

/*
 * Which edges go together (xcorr-pairs.c), of those not known to: INS and OUTS are the edges of the messages, or
 * some messages of each.
 */
void wp_xcorr_find_pairs(WpXcorrModel *model, const WpEdge *ins, const WpEdge *outs);

/* By out, then in. */
void wp_xcorr_sort_pairs(WpXcorrModel *model);

/*
 * More pairs, of what those known leave over (xcorr-rest.c): what stands out among it, and what is left as the only
 * possible cause where calls are answered. first_pair is to be made anew after either.
 */
void wp_xcorr_look_at_rest(WpXcorrModel *model);
void wp_xcorr_eliminate(WpXcorrModel *model);

/* TRUE where two clocks of the same period would do (xcorr-periodic.c): MIN..MAX is where the spike is. */
gboolean wp_xcorr_is_clockwork(const WpEdge *in, const WpEdge *out, gint64 min_ns, gint64 max_ns);

/* Each message given to what causes it, so that what follows from others vanishes (xcorr-causes.c). */
void wp_xcorr_learn_causes(WpXcorrModel *model);

/* Which messages have had their effect, from CAUSES (xcorr-superseded.c). */
void wp_xcorr_supersede(WpXcorrModel *model);

/* What is left of the intensity of message AT of EDGE after LAG_NS. */
static inline double
wp_xcorr_effect_left(const WpXcorrModel *model, guint32 edge, gsize at, gint64 lag_ns)
{
	const WpEffect *effect = &model->effects[edge][at];
	return (float)lag_ns > effect->until_ns ? 1 - (double)effect->odds : 1;
}

/* Which part of the messages of EDGE may still have effects at the lags of BIN. */
static inline double
wp_xcorr_part_left(const WpXcorrModel *model, guint32 edge, guint32 bin)
{
	const float *left = model->left[edge];
	return left ? (double)left[MIN(bin >> WP_LEFT_BITS, WP_N_LEFT - 1)] : 1;
}

/* Paths from the roots on (xcorr-paths.c). */
void wp_xcorr_follow(WpXcorrModel *model, WpSpectra *spectra);

#endif
