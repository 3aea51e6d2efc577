/*
 * Ownership: which service on an address with several made each connection that leaves it.
 *
 *   into service S   |---------p---------|        |-------q-------|
 *   of flow f           |-c1-|   |-c2-|              |-c3-|              S owns f: each call lies in one of S
 *
 * A flow is one client's: all its calls have one owner. For every service and call of the flow the calls
 * into the service that enclose it are counted, by how long before it they began, and so are those that
 * enclose the same call moved in time: what chance gives there and then. The owner has one more of the former than of
 * the latter, and so has whoever called the owner; but of these the owner has fewer by chance and begins more sharply
 * before the call, so that it is the likeliest; and where many calls do not tell the two, the inner one, as few
 * services call while they wait. A call into the service that carries a value as the flow's call does (which few carry)
 * is counted apart, as it is far rarer by chance. A call behind the reply, as soon as the owner's come there, speaks less against it
 * than any other outside, but never for it: what follows a reply may be called by whoever had it. A flow
 * that no service explains is a client's.
 *
 * One process may serve several ports, and use a connection for all: "any", the last service, is what any of the
 * others is. It has more by chance than each, and so wins only where each alone leaves calls unexplained.
 *
 * Expectation maximization over flows of one kind (to the same port; short ones of the same operation): how often
 * each service owns one, with what delays it calls, with which operations; twice, as few owners are likelier than
 * many where the times bear it out, and only there. Certainties are of shares as they are, so that they can be
 * counted on: 90 % means that 9 flows of 10 have that owner. What the times do not tell is left open (owner-open.h). Cost: linear in calls looked at
 * (WP_OWNERSHIP_MAX_CALLS) times the calls open at the time.
 */
#ifndef WP_INFER_OWNERSHIP_H
#define WP_INFER_OWNERSHIP_H

#include <glib.h>

#include "capture/trace.h"
#include "infer/span.h"

#define WP_NO_SERVICE G_MAXUINT32

/* Of one machine; the services with most calls are the first. */
#define WP_OWNERSHIP_MAX_SERVICES 64

/* Looked at in all flows together, and of one flow. */
#define WP_OWNERSHIP_MAX_CALLS      60000
#define WP_OWNERSHIP_MAX_FLOW_CALLS 512

/* What the calls of one machine are, by span. */
typedef struct {
	guint32 service; /* on this machine, that it calls, but not the last; or WP_NO_SERVICE */
	guint32 flow;    /* that leaves this machine; or G_MAXUINT32 */
} WpOwnedSpan;

typedef struct {
	guint64 services; /* a bit for each that may own it */
	guint32 kind;     /* number of what it calls, from 0 */
	guint32 calls;    /* the service that this is, or WP_NO_SERVICE */
	guint32 owner;    /* out: or WP_NO_SERVICE, a client */
	float certainty;  /* out: 0 .. 1 */
	guint64 open; /* out: a bit for each service that may well be it; 0: it is known (owner-open.h) */
} WpOwnedFlow;

/*
 * Finds owner and certainty of FLOWS. WHAT has an entry for each span. TRACE, whose calls SPANS are, has the values that they
 * carry; NULL: these are not asked.
 */
void wp_ownership_find(const WpSpans *spans, const WpTrace *trace, const WpOwnedSpan *what,
		       WpOwnedFlow *flows, guint32 n_flows, guint32 n_services, guint32 n_kinds);

#endif
