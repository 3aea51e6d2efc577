/*
 * WpPatternSet: the result. Spans and links become causal paths (trees), equal paths become one
 * pattern, and each node occurrence of a pattern gathers its times.
 *
 * Two paths are equal when they are the same tree of (node, label), children in order of their calls,
 * parallel siblings (that overlap in time) unordered.
 *
 * A path begins at a call without a parent. Calls without a return, one-way messages, set-up exchanges
 * and calls whose parent was not seen, or not found in time, begin no path; they are counted. (A request without a return has
 * no latency: it would only dilute the pattern.)
 *
 * Words: latency = length of the span, children included; self time = part of the span
 * covered by none of its children; call delay = call into the parent to call into this node.
 */
#ifndef WP_INFER_PATTERN_H
#define WP_INFER_PATTERN_H

#include <glib.h>

#include "infer/delay.h"
#include "infer/instance.h"
#include "infer/links.h"
#include "infer/resolve.h"

/* Errors of this folder. */
#define WP_INFER_ERROR wp_infer_error_quark()
GQuark wp_infer_error_quark(void);

typedef enum {
	WP_INFER_ERROR_FORMAT,     /* a names, truth or hints file that makes no sense: exit 65 */
	WP_INFER_ERROR_OPEN,       /* ... that cannot be opened: exit 66 */
	WP_INFER_ERROR_PERMISSION, /* ... that may not be: exit 77 */
	WP_INFER_ERROR_OPTION      /* exit 2 */
} WpInferError;

/* One node occurrence. Nodes of a pattern stand in pre-order; node 0 is the root call. */
typedef struct {
	guint32 node;       /* callee, node of WpResolved */
	guint32 label;      /* string, 0 = none */
	guint32 protocol;   /* string, 0 = none */
	guint32 parent;     /* index in the pattern; G_MAXUINT32 for the root */
	guint32 depth;      /* root 0 */
	guint32 was;        /* only while patterns are sorted again: its index before */
	guint64 n_lost;     /* instances that lack it, as the loss of packets explains (holes.h) */
	guint64 n_messages; /* instances that are one-way; the others are calls */
	guint64 n_parallel; /* instances that overlap a sibling in time */
	guint64 errors;     /* instances whose status is error, reset or timeout */
	guint64 bytes_call; /* sum over instances, unknown sizes as 0 */
	guint64 bytes_return;
	double probability; /* mean probability of the link to its parent; negative = none */
	guint64 n_probable; /* instances whose link has one */
	guint64 n_waits;    /* instances that wait by design */
	gboolean waits;     /* most instances wait by design: never ranked as slow */
	WpDelay *
		latency; /* of instances with a return: there are others where an engine links them */
	WpDelay *self_time; /* likewise, but for those below which something is missing */
	gint64 connecting_ns; /* of the sum of these: connections for calls below (wp_spent_connecting_ns()) */
	WpDelay *call_delay;   /* NULL for the root */
	WpDelay *server_time;  /* last byte of the call to first byte of the return; likewise */
	WpDelay *network_time; /* both ways, of instances that were captured at both ends */
	guint64 critical_ns; /* part of the critical path (infer/critical.h), sum over instances */
} WpPatternNode;

/* One instance kept as an example. */
typedef struct {
	double quantile; /* of the root's latency, by nearest rank; 1 = slowest */
	gint64 begin_ns; /* of the root call */
	gint64 latency_ns;
	guint64 id;     /* of the root call, as in its record */
	guint64 packet; /* likewise; 0 = unknown */
	guint8 tap;
	WpInstance *instance; /* the whole of it; NULL of a pattern without a tree */
} WpExemplar;

/* The first is typical: of those near the median, the one whose self times are nearest to their medians. */
#define WP_PATTERN_N_EXEMPLARS 5
#define WP_PATTERN_TYPICAL     0

typedef struct {
	guint32 client; /* node that sends the root call */
	guint32 n_nodes;
	WpPatternNode *nodes;
	guint64 count; /* instances */
	/*
	 * How sure it is that its requests take this path: share of answers drawn by chance in which they do,
	 * mean over instances. And that every one of their calls is under the right parent: product over
	 * links, mean over instances. Negative = not known.
	 */
	double path_odds;
	double links_odds;
	guint64 n_judged;  /* instances of which the first is known */
	guint64 n_linked;  /* ... the second */
	double total_ns;   /* sum of the root's latency */
	guint32 operation; /* index of its root operation */
	/*
	 * Of a long input (pattern-sum.h): not 0 = so many rare patterns of an operation together, of which
	 * only the root is known, and how many calls and messages were below it.
	 */
	guint64 n_rest;
	guint64 n_rest_calls;
	guint64 n_rest_messages;
	guint32 n_exemplars;    /* WP_PATTERN_N_EXEMPLARS; the same one may stand for several */
	WpExemplar *exemplars;  /* typical, p50, p95, p99, slowest */
	GPtrArray *kept;        /* of WpInstance: what WpKeep asked for; NULL = none */
	gboolean is_background; /* waits by design, health checks: shown apart, not ranked */
	gboolean
		is_uncertain; /* path_odds < 1/2: more often than not its requests take other paths */
	gboolean
		has_hole; /* calls are missing, and no pattern is known that has them: uncertain too */
} WpPattern;

/*
 * One place in the merged tree of a root operation. All numbers are what can be expected from how likely the
 * links are; without odds, what was found.
 */
typedef struct {
	guint32 node;      /* callee */
	guint32 label;     /* string */
	guint32 protocol;  /* string */
	guint32 parent;    /* index; G_MAXUINT32 for the root */
	guint32 depth;     /* root 0 */
	gboolean waits;    /* most calls wait by design */
	double calls;      /* by all requests together, one-way messages included */
	double messages;   /* of these, one-way */
	double errors;     /* ... that failed */
	double latency_ns; /* mean */
	double delay_ns;   /* mean: call into the parent to this call */
	double self_ns;    /* sum */
	double timed;      /* calls with a return, of which latency_ns is the mean */
	double waiting;    /* calls that wait by design */
} WpPlace;

/* Time of one node inside a root operation, over all its places. */
typedef struct {
	guint32 node;
	guint32 label;   /* string */
	double calls;    /* expected, one-way messages included */
	double messages; /* of these, one-way */
	double self_ns;  /* sum of self times, expected */
	double errors;
} WpOperationNode;

/* All requests that begin with the same call (client, node, label). */
typedef struct {
	guint32 client;
	guint32 node;
	guint32 label;
	guint32 protocol;
	guint64 count;
	guint64 errors;
	double total_ns;
	WpDelay *latency;
	guint32 n_patterns;
	guint32 n_places;
	WpPlace *places; /* in pre-order, siblings in order of their mean delay */
	guint32 n_nodes;
	WpOperationNode *nodes; /* by self_ns, greatest first */
	gboolean is_background;
} WpOperation;

typedef struct {
	guint32 n_patterns;
	WpPattern *patterns; /* canonical order: total_ns, then count (greatest first), then form */
	guint32 n_operations;
	WpOperation *operations; /* total_ns, greatest first */
	guint64 n_roots;         /* requests */
	guint64 n_unlinked;      /* spans on no path; the sum of the next six */
	guint64 n_unpaired;      /* ... calls without a return */
	guint64 n_one_way;       /* ... one-way messages */
	guint64 n_setup;         /* ... set-up exchanges */
	guint64 n_unseen;        /* ... calls whose parent was not seen */
	guint64 n_stopped; /* ... calls that were still without a parent when inference stopped */
	guint64 n_below_unseen; /* ... calls below one of the last two */
	double lost_share;      /* of the calls, missing from the trace (missing.h) */
	guint64 n_holed;        /* requests that lack a call by loss, in patterns that have it */
	guint64 n_estimated; /* calls whose self time is an estimate, as something below is missing */
	double total_ns;     /* of all patterns that are not background */
	double parallelism;        /* mean number of candidate parents of the calls that have any */
	guint64 n_with_candidates; /* ... these */
} WpPatternSet;

/* (transfer full) RESOLVED must outlive the set (names). KEEP: what to keep beside examples; or NULL. */
WpPatternSet *wp_patterns_new(const WpResolved *resolved, const WpLinks *links, WpKeep *keep);

/* Sum of how far each self time of INSTANCE is from the median at its place of PATTERN, in ns. */
double wp_pattern_distance_ns(const WpPattern *pattern, const WpInstance *instance);

/* Of PATTERN's kept, leaves those that KEEP still asks for. */
void wp_pattern_prune_kept(WpPattern *pattern, const WpKeep *keep);
void wp_patterns_free(WpPatternSet *patterns);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpPatternSet, wp_patterns_free)

#endif
