/*
 * Resolve: the one stage between records and inference that sees the whole capture. It decides what a
 * node is for the user (names, ports, folded clients) and makes the spans that engines work on.
 *
 *   const WpTrace *  ->  WpResolved  (nodes with names, WpSpan array by time)
 *
 * Names: --names FILE, else what the capture tells (DNS, HTTP Host, TLS), else the address;
 * unique: "app", "app@10.0.0.3". Addresses to which the file gives one name are one node. A Host that
 * a proxy passes on names the proxy alone. On an address that calls itself a Host or a TLS server name is that of the
 * service at the port it says ("shop.example" 80, "users:8000" 8000; TLS 443), not of its neighbours.
 *
 * Ports. A port is a service where it received calls; of a port that sent calls too (a protocol with
 * calls both ways, a name server that asks another) it must have been called by several, or more often
 * than it called. One-way messages and set-up exchanges make no service: a data port that takes a
 * stream is none. An address with several services, or with one that it calls itself (loopback, host networking), is
 * split into a node for each ("host:80") and one for clients, "host". Each flow that leaves it is given to one of
 * them: by the owners file, else by what encloses its calls (ownership.h), or, where that does not tell and the engine
 * can, by what its calls turn out to be caused by (leaves_open); how sure that is is said (n_shared).
 * All loopback addresses are one machine. Beyond WP_RESOLVE_MAX_PORTS the ports above 1023 that one peer alone
 * called are one node, "host:*": they are handed out at random (RPC, passive transfers), and mean nothing to a reader.
 *
 * Clients. Addresses that are never called fold into one node "client" when there are more than
 * WP_RESOLVE_MAX_CLIENTS of them (joins_clients: more than one); those that the names file names stay.
 *
 * Nodes of a trace without addresses are called what the trace calls them, and are never folded.
 *
 * Labels. A place in labels where many values were seen is {}: see templates.h.
 *
 * Hosts. Parents of a call are looked for among the calls into the same host. That is the address, also
 * where addresses are folded into one node (replicas). But where an address of such a node sends calls
 * and is never called, and another is called and sends nothing, the two are ends of one machine (two
 * network cards, IPv4 and IPv6, a service address before its pods) and one host.
 */
#ifndef WP_INFER_RESOLVE_H
#define WP_INFER_RESOLVE_H

#include <glib.h>

#include "capture/trace.h"
#include "infer/span.h"

#define WP_RESOLVE_MAX_CLIENTS 16
#define WP_RESOLVE_MAX_PORTS   16

typedef struct {
	const char *names_file;  /* NULL = none */
	const char *owners_file; /* which process has which connection (owners.h); NULL = none */
	gboolean keep_clients;   /* --clients keep */
	gboolean
		joins_clients; /* however few: two are one node, for engines that look at aggregates */
	gboolean folds;        /* nodes with the same neighbours and calls are one (replicas.h) */
	gboolean keep_labels; /* as they were seen; else templates mined from them (templates.h) */
	gboolean by_label;    /* FALSE: labels do not take part in anything (--pattern-by node) */
	gboolean leaves_open; /* whose a call is may be left to the engine: WpSpans.owners */
	gboolean keep_setup;  /* spans also of set-up exchanges */
	gboolean
		is_black_box; /* who called whom, and when, is all that engines may know; not by_label */
} WpResolveOptions;

void wp_resolve_options_init(WpResolveOptions *options);

typedef struct WpResolved WpResolved;
typedef struct WpLink WpLink; /* links.h */
typedef struct WpLinks WpLinks;

/* (transfer full) TRACE is borrowed and must outlive the result. Errors: a bad names file. */
WpResolved *wp_resolve(const WpTrace *trace, const WpResolveOptions *options, GError **error);
void wp_resolved_free(WpResolved *resolved);

/*
 * Goes on to TRACE, the next part of the same capture (window.h), with the same nodes of the trace. What is
 * known is kept: which ports are services, who is called, that clients fold, which replicas are one; and
 * what is new is added (records marked as carried are not counted twice). So nodes keep their names and
 * numbers, but where more is known now: an address with a second service is two nodes, a name is heard
 * of; and labels may have become templates. TRUE then: what was said of a node before holds for the two
 * below now, where it was called, and where it called. Old nodes keep their number, and may get no spans any more.
 */
gboolean wp_resolved_next(WpResolved *resolved, const WpTrace *trace);
guint32 wp_resolved_callee_now(const WpResolved *resolved, guint32 node);
guint32 wp_resolved_caller_now(const WpResolved *resolved, guint32 node);

/* What is meant now by a label that spans of NODE, as it is now, had before. */
guint32 wp_resolved_label_now(const WpResolved *resolved, guint32 node, guint32 label);

/* Nodes as the user sees them, 0 .. n-1. */
guint32 wp_resolved_n_nodes(const WpResolved *resolved);
const char *wp_resolved_node_name(const WpResolved *resolved, guint32 node);

/* The user's node of a trace's node (where split by port: that of the sending side). */
guint32 wp_resolved_node_of(const WpResolved *resolved, guint32 trace_node);

/* A machine with several services, and whose the flows are that leave it. */
typedef struct {
	const char *name; /* of its node for clients */
	guint64 n_flows;
	guint64 n_by_file;
	guint64 n_inferred;
	guint64 n_clients; /* ... of both: no service's */
	guint64 n_any;     /* ... used for calls into any of the services */
	guint64 n_unknown; /* ... of those inferred: with an owner that is less likely than not */
	double certainty; /* mean of those inferred: the share of them that can be expected to be right */
} WpShared;

gsize wp_resolved_n_shared(const WpResolved *resolved);
const WpShared *wp_resolved_shared(const WpResolved *resolved, gsize i);

/* Labels that have become templates, and how many those are. */
guint64 wp_resolved_n_joined_labels(const WpResolved *resolved, guint64 *out_n_templates);

/* All spans by call_ns (ties: order of records). */
const WpSpans *wp_resolved_spans(const WpResolved *resolved);

/*
 * Answers from before, by span, of those with WP_MARK_ANSWERED: these stand. NULL: there are none. Borrowed until
 * the next part.
 */
void wp_resolved_set_answered(WpResolved *resolved, const WpLink *answered);
const WpLink *wp_resolved_answered(const WpResolved *resolved);

/*
 * Takes whose the calls are that were left open from LINKS: each is made by what its parent called. Does nothing
 * where nothing was open.
 */
void wp_resolved_take_owners(WpResolved *resolved, const WpLinks *links);

/* TRUE where engines may look at times, sender and receiver alone. */
gboolean wp_resolved_is_black_box(const WpResolved *resolved);

const WpTrace *wp_resolved_trace(const WpResolved *resolved);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpResolved, wp_resolved_free)

#endif
