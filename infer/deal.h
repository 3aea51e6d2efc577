/*
 * WpDeal: the requests of a capture dealt anew among their arrivals, and inferred again. The requests as they were
 * found become a capture of their own, whose truth is known by that: each is put in the place of another one
 * that takes the same path and came at about the same time, so that as many begin at the same times, last as long and do
 * the same, but run beside other requests. Not of any time: a machine is slow or has much in hand for a while, and so
 * is all that it does then. A slow request among quick ones would be found more easily, or less, than it was.
 *
 *     found   |-- 1 --|   |---- 2 ----|        1 and 2 take one path, and so do 3 and 4
 *               |-- 3 --|    |- 4 -|
 *     dealt   |---- 2 ----||-- 1 --|
 *               |- 4 -|      |-- 3 --|
 *
 * What comes out beside what went in tells how right the engine is on such a capture, and on this one, which is
 * one such deal more. Where much is in doubt the requests are those of an answer drawn by chance (WpLinks.drawn): in the
 * likeliest one delays are more regular than they are, and more of it would come out again.
 */
#ifndef WP_INFER_DEAL_H
#define WP_INFER_DEAL_H

#include "infer/engine.h"

/* All calls. */
#define WP_DEAL_ALL G_MAXUINT32

/* How the capture was inferred. Borrowed. */
typedef struct {
	const WpResolveOptions *resolve;
	const WpEngine *engine;
	const void *options; /* of ENGINE */
	WpStopFunc stop;
} WpDealMethod;

typedef struct WpDeal WpDeal;

/*
 * (transfer full) LINKS are those that METHOD gives for RESOLVED; both are borrowed. Of more than MAX_CALLS calls on
 * paths the requests in the middle that have so many are dealt, the others left out. Costs about one more inference of
 * those. The order is drawn with a seed: the same input, the same answer. Errors: the engine's.
 */
WpDeal *wp_deal_new(const WpResolved *resolved, const WpLinks *links, guint32 max_calls,
		    const WpDealMethod *method, GError **error);
void wp_deal_free(WpDeal *deal);

/* What was dealt, by span of RESOLVED: the first call of its path; WP_NO_SPAN: on none, or left out. (transfer none) */
const guint32 *wp_deal_roots(const WpDeal *deal);

/* Span NUMBER of RESOLVED, or WP_NO_SPAN: it was dealt, and is not one of the window before, which was judged there. */
gboolean wp_deal_counts(const WpDeal *deal, guint32 number);

/* The requests that were dealt, by span of RESOLVED: LINKS, or what was drawn beside them. (transfer none) */
const WpLinks *wp_deal_truth(const WpDeal *deal);

/* What is found on the capture as dealt; its spans have numbers of their own. (transfer none) */
const WpLinks *wp_deal_links(const WpDeal *deal);

/* The span of RESOLVED that NUMBER, one of those of wp_deal_links(), was; WP_NO_SPAN: none. NUMBER may be WP_NO_SPAN. */
guint32 wp_deal_former(const WpDeal *deal, guint32 number);

/*
 * (transfer full) By span of RESOLVED: TRUE for the first call of a request that was dealt and came out otherwise: a call
 * of it has another parent, or one of another request is under a call of its. Calls of the window before do not count.
 */
guint8 *wp_deal_find_wrong(const WpDeal *deal);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpDeal, wp_deal_free)

#endif
