/*
 * What encloses the calls of each flow that leaves a machine, and what would by chance: one sweep over time that
 * counts what encloses calls, and the same calls moved in time. From this ownership.c learns whose the flows are.
 */
#ifndef WP_INFER_OWNER_COUNTS_H
#define WP_INFER_OWNER_COUNTS_H

#include <glib.h>

#include "infer/map.h"
#include "infer/ownership.h"

#define WP_OWNER_N_DELAYS 25 /* one an octave, from 1 us to 16 s */
#define WP_OWNER_N_AFTER                                                                           \
	13 /* the same from a reply on, to 4 ms: what comes later is no more of that call */
/* Inside a call with which it has no value in common; one with which it has; begun in one, but longer; after it. */
#define WP_OWNER_N_INSIDE   (2 * WP_OWNER_N_DELAYS)
#define WP_OWNER_N_BINS     (WP_OWNER_N_INSIDE + WP_OWNER_N_DELAYS + WP_OWNER_N_AFTER)
#define WP_OWNER_MAX_LABELS 8 /* of a flow, that take part */
#define WP_OWNER_MAX_KINDS  256

/* One call that is looked at. */
typedef struct {
	guint32 flow;
	guint32 first; /* of its hits */
	guint32 n_hits;
	guint32 n_moved; /* times that were asked about besides */
} WpOwnerSample;

/* A call of a service that encloses a sample, or in which or soon after which the sample begins. */
typedef struct {
	guint8 service;
	guint8 bin;
} WpOwnerHit;

typedef struct {
	/* Set by the caller, as for wp_ownership_find(). */
	const WpSpans *spans;
	const WpTrace *trace; /* NULL: values are not asked */
	const WpOwnedSpan *what;
	WpOwnedFlow *flows;
	guint32 n_flows, n_services;
	guint32 n_kinds; /* more of them then: see owner-kinds.h */

	GArray *samples;   /* WpOwnerSample, flow by flow in order of time */
	GArray *hits;      /* WpOwnerHit */
	guint32 *firsts;   /* by flow: its first sample; one more than flows */
	GArray *labels;    /* guint32: WP_OWNER_MAX_LABELS by flow, 0 = none */
	double *chance;    /* by cell, bin: what encloses a moved call */
	double *enclosing; /* by cell: calls that enclose a moved call, of CHANCE */
	guint16 *near;     /* by sample, service: what encloses it moved, all times together */
	guint32 *ports;    /* by kind: the kind that it was split from */
	GArray *questions; /* its own */
	double *asked;     /* its own, by kind: moved calls */
	WpMap *values;    /* its own: values that calls into services carry; NULL: none are asked */
	GArray *n_values; /* its own: guint32, by value: such calls */
	guint32 n_into;   /* its own: calls into services, where values are asked */
} WpOwnerCounts;

/* A cell is a kind of flows and a service; each kind has two more cells than services. */
static inline gsize
wp_owner_cell(const WpOwnerCounts *counts, guint32 kind, guint32 service)
{
	return (gsize)kind * (counts->n_services + 2) + service;
}

void wp_owner_counts_make(WpOwnerCounts *counts);
void wp_owner_counts_clear(WpOwnerCounts *counts);

#endif
