/*
 * WpChains: the causal chains of one run, from a root to each call below it, with how often and how long: what a
 * run is known by among others (report/triage.h). A chain is kept once, as its last call and the chain above:
 *
 *     web GET /page                400 calls      times by half octaves
 *       app RUN                    400
 *         store READ               397
 *         store READ, an error       3
 *
 * Bounded, whatever the length of the run.
 */
#ifndef WP_REPORT_CHAINS_H
#define WP_REPORT_CHAINS_H

#include <glib.h>

#include "report/analysis.h"

#define WP_CHAINS_MAX       2000 /* of a run */
#define WP_CHAINS_MAX_DEPTH 64   /* what is deeper counts at its ancestor there */

/* Two an octave, from 1 us; the last are calls without a return. */
#define WP_CHAIN_TIMES     64
#define WP_CHAIN_NO_RETURN (WP_CHAIN_TIMES - 1)

#define WP_CHAIN_ROOT G_MAXUINT32

typedef struct {
	guint32 parent; /* chain, or WP_CHAIN_ROOT; below its own number */
	guint32 depth;  /* calls; 1 = a root */
	const char *node;
	const char *protocol; /* "" = none, as the label */
	const char *label;
	gboolean is_error;
	guint64 count;
	guint32 times[WP_CHAIN_TIMES]; /* how many calls took so long; saturates */
} WpChain;

typedef struct {
	GPtrArray *chains; /* WpChain */
	guint64 n_requests;
	guint64 n_calls;
	guint64 n_left; /* calls whose chain was one too many */
} WpChains;

typedef struct WpChainsMaker WpChainsMaker;

/* (transfer full) */
WpChainsMaker *wp_chains_maker_new(void);
void wp_chains_maker_free(WpChainsMaker *maker);

/* A part as it is shown to a WpAnalysisFunc. */
void wp_chains_maker_add(WpChainsMaker *maker, const WpAnalysis *part);

/* (transfer full) MAKER is not to be used again but to be freed. Texts are copied: nothing of the parts is needed. */
WpChains *wp_chains_maker_finish(WpChainsMaker *maker);
void wp_chains_free(WpChains *chains);

/* Where LATENCY_NS (0 or more) counts in WpChain.times. */
guint wp_chain_time(gint64 latency_ns);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpChainsMaker, wp_chains_maker_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpChains, wp_chains_free)

#endif
