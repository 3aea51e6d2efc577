/*
 * Mending: links looked at again as parts of whole requests. An engine answers host by host; a call that it
 * gave to the wrong one of two requests leaves two odd ones behind, one with a call too many and one with
 * a call too few, where two of a path that is taken again and again would have been:
 *
 *     found    GET /cart(auth,auth,db,db)     GET /cart           once each
 *     mended   GET /cart(auth,db)             GET /cart(auth,db)  as hundreds of others
 *
 * Calls are moved between requests that are open at the same time where what the engine knows of the call
 * (its probability, bounded, as an engine may be sure and wrong) and how frequent the paths before and
 * after are make that likelier. So a path is given up only for a frequent one, and only if the other
 * request becomes likelier with it: a rare path that nobody's mistake explains stays, and a call with one
 * possible parent is never moved. Where fewer than nine links of ten are likely to be right, none is moved, as
 * frequent paths are mistakes then too; nor where requests take paths of their own as a rule.
 */
#ifndef WP_INFER_MEND_H
#define WP_INFER_MEND_H

#include "infer/engine.h"
#include "infer/links.h"
#include "infer/resolve.h"

#define WP_MEND_LEAST_MEAN 0.9 /* probability of all links: with less, none is moved */
#define WP_MEND_MOST_OWN                                                                           \
	0.1 /* of the requests take a path that no other takes: with more, none is moved */

/*
 * Changes LINKS, all of RESOLVED, and sets its path_odds. ALIKE tells by span the callee that stands for those like it (alike.h; NULL: each
 * for itself), which is asked where most paths differ in that alone: else who was called says more. A link that was changed says so by
 * WP_EVIDENCE_PATH; its runner-up is what it was. The random numbers that it draws are seeded. After STOP
 * (may be NULL) nothing is changed.
 */
void wp_links_mend(WpLinks *links, const WpResolved *resolved, const guint32 *alike,
		   WpStopFunc stop);

#endif
