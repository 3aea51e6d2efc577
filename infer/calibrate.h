/*
 * Probabilities of links that hold at load. The engine learns delays from its own answer; where much of that is wrong,
 * the mistakes are among what it has learned and vouch for themselves, so it is too sure. How much too sure shows where
 * the truth is known: on requests as they were found, dealt anew (deal.h).
 *
 *     said of links there     .6  .7  .8  .9  .99          logit(holds) = a + b logit(said), of each host
 *     are right               .5  .55 .62 .7  .93
 *
 * (Platt, "Probabilistic outputs for support vector machines", 1999, whose curve this is.)
 */
#ifndef WP_INFER_CALIBRATE_H
#define WP_INFER_CALIBRATE_H

#include "infer/deal.h"

/*
 * Sets the probabilities of LINKS, as METHOD has found them for RESOLVED, by how often links so sure are right. Leaves
 * them alone where few links had a choice, or hardly one is in doubt; so it costs nothing at low load, and
 * elsewhere one more inference, of 10,000 calls at most. Who is whose parent stays. Errors: the engine's.
 *
 * Sets whole_power too, so that as many whole requests are expected to be right as are there.
 */
gboolean wp_links_calibrate(WpLinks *links, const WpResolved *resolved, const WpDealMethod *method,
			    GError **error);

#endif
