/*
 * WpPairs: what is acquired and given back in a capture, by kind: how often, for how long, at what cost, by whom,
 * and what is never given back.
 *
 *   web -> db   BEGIN      SELECT    UPDATE       COMMIT     one connection (flow), or without one: one caller
 *               |acquired |-use--|  |-use--|     |given back
 *               |<----------------- held ------------------>|
 *
 * A release gives back what the same request acquired, else what was acquired last. What is over when its connection says
 * good-bye is given back with that. Lost is what
 *  - was acquired anew over a connection that had one already, of which it can have but one;
 *  - was never given back, though twice as long as any other was held has gone by since, and
 *    its connection has served other requests meanwhile (a login: has been of no use for a quarter of the capture).
 *
 * Streaming: memory is that of what is held at a time, at most WP_PAIRS_MAX_OPEN, and of kinds and chains, which have
 * limits too; what is beyond them is counted. Calls come in order of time, but for those of requests
 * that a window answers late (infer/window.h).
 */
#ifndef WP_REPORT_PAIRS_H
#define WP_REPORT_PAIRS_H

#include <glib.h>

#include "infer/delay.h"
#include "report/analysis.h"
#include "report/course.h"
#include "report/pair-words.h"

#define WP_PAIRS_MAX_KINDS  1000
#define WP_PAIRS_MAX_CHAINS 64 /* of a kind */
#define WP_PAIRS_MAX_OPEN   100000
#define WP_PAIRS_EXAMPLES   3

/* Who acquires: "users -> front GET / -> web GET /page", from the root to the node that does. */
typedef struct {
	char *text;
	guint64 n_acquired;
	guint64 n_lost;
} WpPairsChain;

typedef struct {
	const WpPairThing *thing;
	const char *node;  /* of which it is acquired */
	const char *label; /* with which it was acquired first; "" = none */
	guint64 n_acquired;
	guint64 n_released; /* by its own call: */
	guint64 n_ended;    /* ... with its connection */
	guint64 n_unknown;  /* given back, but not seen being acquired */
	guint64 n_failed;   /* acquiring failed, or was not answered */
	guint64 n_held;     /* at the end of the capture */
	guint64 n_lost;     /* of these and of those before: see above */
	guint64 n_left;     /* acquired when WP_PAIRS_MAX_OPEN were held: not followed */
	WpDelay *held;      /* of those given back, by either */
	double idle_ns;     /* of these: held, and no call under way over the connection */
	double cost_ns; /* latencies of acquiring and giving back, opening connections included */
	guint64 n_uses; /* calls over connections meanwhile */
	double lost_at; /* when those lost were acquired, on average: 0 = begin of the capture, 1 = end */
	GArray *chains;      /* WpPairsChain, heaviest first: by lost, then by acquired */
	guint64 n_unchained; /* acquired by chains beyond WP_PAIRS_MAX_CHAINS */
	WpCourseExample examples[WP_PAIRS_EXAMPLES]; /* lost; latency 0 = none */
	guint n_examples;
} WpPairsKind;

typedef struct {
	GPtrArray *kinds; /* WpPairsKind; most often acquired first */
	guint64 n_left;   /* acquired, of kinds beyond WP_PAIRS_MAX_KINDS */
	gint64 begin_ns;
	gint64 end_ns;
} WpPairs;

typedef struct WpPairsMaker WpPairsMaker;

/* (transfer full) */
WpPairsMaker *wp_pairs_maker_new(void);
void wp_pairs_maker_free(WpPairsMaker *maker);

/* A part as it is shown to a WpAnalysisFunc. */
void wp_pairs_maker_add(WpPairsMaker *maker, const WpAnalysis *part);

/* No part comes after it; once. Names are borrowed from the analysis. */
void wp_pairs_maker_finish(WpPairsMaker *maker);

/* (transfer none) When finished. */
const WpPairs *wp_pairs_maker_pairs(const WpPairsMaker *maker);

const WpPairsKind *wp_pairs_kind(const WpPairs *pairs, guint kind);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpPairsMaker, wp_pairs_maker_free)

#endif
