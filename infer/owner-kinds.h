/*
 * Kinds of flows, for who owns them: those of a port learn from each other. Short flows of one operation are a kind of
 * their own, as the delays of an operation say more when those of others do not blur them; what share of the flows to
 * its port a service owns counts for them as well.
 */
#ifndef WP_INFER_OWNER_KINDS_H
#define WP_INFER_OWNER_KINDS_H

#include <glib.h>

#include "infer/ownership.h"

/* At most so many calls has a short flow, and so many flows of an operation make a kind. */
#define WP_OWNER_KINDS_SHORT  4
#define WP_OWNER_KINDS_FEWEST 8

/*
 * Splits the kinds of FLOWS, which are ports, where OPERATIONS (by flow; 0: not short) tell. OUT_PORTS, MOST long, is
 * the port of each kind, which is itself where it is not split off. How many kinds there are now, at most MOST.
 */
guint32 wp_owner_kinds_split(WpOwnedFlow *flows, const guint32 *operations, guint32 n_flows,
			     guint32 n_kinds, guint32 most, guint32 *out_ports);

/*
 * Shares of the flows to the port of each kind: OUT_SHARES, by kind and owner, WIDTH owners a kind. FLOWS: how many, by
 * kind; OWNED: how many of them, by kind and owner.
 */
void wp_owner_kinds_share(const guint32 *ports, guint32 n_kinds, guint32 width, const double *flows,
			  const double *owned, double *out_shares);

#endif
