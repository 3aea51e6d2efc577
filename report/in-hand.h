/*
 * WpInHand: of the time that a node spent on each call, how many other calls it had in hand meanwhile.
 *
 *     call 1   |=====|     |=========|        = own time: here, and no call of it is open below
 *     call 2        |========|
 *     in hand  1    2 1      2 1
 *
 * A node that shares its time among all that it has in hand, or lets them wait for each other, takes longer for each
 * when there is more of it; by what was there at every moment, times before and after a change can be compared.
 *
 * Times are ns, the intervals half open. What is counted is seen host by host: replicas that are one node work beside
 * each other. A call has at most as many entries as its stretches of own time met levels.
 */
#ifndef WP_REPORT_IN_HAND_H
#define WP_REPORT_IN_HAND_H

#include "report/digest.h"

typedef struct WpInHand WpInHand;

/* (transfer full) Of N_CALLS calls, numbered from 0. */
WpInHand *wp_in_hand_new(guint32 n_calls);
void wp_in_hand_free(WpInHand *in_hand);

/* HOST has CALL in hand from BEGIN_NS to before END_NS: nothing where that is not later. Stretches of a call do not overlap. */
void wp_in_hand_add(WpInHand *in_hand, guint32 host, guint32 call, gint64 begin_ns, gint64 end_ns);

/* Counts, when all is added. */
void wp_in_hand_count(WpInHand *in_hand);

/* Adds the time of CALL by level to OUT_LEVELS_NS (WP_DIGEST_LEVELS). The level just before it ended. */
guint wp_in_hand_get(const WpInHand *in_hand, guint32 call, gint64 *out_levels_ns);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpInHand, wp_in_hand_free)

#endif
