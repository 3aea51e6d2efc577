/*
 * Resolve: the one stage between records and inference that sees the whole capture. It decides what a
 * node is for the user (names, ports, folded clients) and makes the spans that engines work on.
 *
 *   const WpTrace *  ->  WpResolved  (nodes with names, WpSpan array by time)
 *
 * Naming (DESIGN 4): --names FILE, else what the capture tells (DNS, HTTP Host, TLS), else the address;
 * unique: "app", "app@10.0.0.3". An address that serves several ports is split into one node per
 * port ("host:80"); what such a host sends cannot be told apart yet and is said so (n_shared).
 * Addresses that are never called fold into one node "client" when there are more than
 * WP_RESOLVE_MAX_CLIENTS of them.
 */
#ifndef WP_INFER_RESOLVE_H
#define WP_INFER_RESOLVE_H

#include <glib.h>

#include "capture/trace.h"
#include "infer/span.h"

#define WP_RESOLVE_MAX_CLIENTS 16

typedef struct {
	const char *names_file; /* NULL = none */
	gboolean keep_clients;  /* --clients keep */
	gboolean by_label;      /* FALSE: labels do not take part in anything (--pattern-by node) */
	gboolean keep_setup;    /* spans also of set-up exchanges */
} WpResolveOptions;

void wp_resolve_options_init(WpResolveOptions *options);

typedef struct WpResolved WpResolved;

/* (transfer full) TRACE is borrowed and must outlive the result. Errors: a bad names file. */
WpResolved *wp_resolve(const WpTrace *trace, const WpResolveOptions *options, GError **error);
void wp_resolved_free(WpResolved *resolved);

/* Nodes as the user sees them, 0 .. n-1. */
guint32 wp_resolved_n_nodes(const WpResolved *resolved);
const char *wp_resolved_node_name(const WpResolved *resolved, guint32 node);

/* The user's node of a trace's node (where split by port: that of the sending side). */
guint32 wp_resolved_node_of(const WpResolved *resolved, guint32 trace_node);

/*
 * The host of a node: the group in which parents are looked for. Nodes split from one address have
 * the same host, as calls that the address sends may belong to any of them.
 */
guint32 wp_resolved_host(const WpResolved *resolved, guint32 node);

/* Addresses that serve several ports and send calls too: their outgoing calls cannot be told apart. */
gsize wp_resolved_n_shared(const WpResolved *resolved);
const char *wp_resolved_shared(const WpResolved *resolved, gsize i);

/* All spans by call_ns (ties: order of records). */
const WpSpans *wp_resolved_spans(const WpResolved *resolved);

const WpTrace *wp_resolved_trace(const WpResolved *resolved);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpResolved, wp_resolved_free)

#endif
