/* Inside of resolve: what is known of addresses, ports and places. resolve.c and resolve-names.c. */
#ifndef WP_INFER_RESOLVE_PRIVATE_H
#define WP_INFER_RESOLVE_PRIVATE_H

#include "infer/map.h"
#include "infer/names.h"
#include "infer/owners.h"
#include "infer/resolve.h"
#include "infer/templates.h"

/* What is known of one called (trace node, port). */
typedef struct {
	guint32 node; /* of the trace */
	guint16 port;
	guint64 n_received;
	guint64 n_sent;
	guint64 first_peer; /* key of (node, port) */
	gboolean has_peers; /* several */
	const char *asked;  /* (transfer none) what most asked for, host and port; NULL = none */
	guint64 n_asked;
} WpResolvePort;

/* The names that one source gives a node. */
typedef struct {
	guint n;
	guint64 count; /* of all together */
	char *common;  /* the last labels that all share, or "" */
} WpResolveHints;

/* What is known of one node of the trace. */
typedef struct {
	WpResolveHints hints[WP_NAME_N_SOURCES];
	gboolean sends;
	gboolean is_called;
	gboolean sends_apart; /* calls that belong to none of its ports */
	gboolean is_decided;  /* fold is that of an earlier window */
	gboolean is_client;   /* folds into "client" */
	gboolean is_behind;   /* a proxy passes its own name on to it: see find_proxied() */
	guint32 place;
	guint32 host;
	guint32 machine; /* of shared addresses: one number for all of one machine, else WP_NO_NODE */
	gboolean calls_itself;
	gboolean
		is_pooled; /* one process serves several ports of this machine, with the same connections */
	gboolean is_open;      /* ... and engines have to find whose the calls are that leave it */
	guint32 fold;          /* first of its replicas, or itself */
	const char *file_name; /* (transfer none) of the names file */
} WpResolveAddress;

typedef struct {
	char *name;
	guint32 trace_node; /* what it was made for last */
	guint16 port;       /* ... 0: all of it, or the rest */
	gboolean is_whole;  /* ... and all that the address sends */
	guint32 callee_now; /* see wp_resolved_next() */
	guint32 caller_now;
} WpResolveNode;

typedef struct {
	guint32 first;      /* trace node */
	guint32 node;       /* user's node that sends, and all where there is no split */
	const char *named;  /* by the names file */
	char *base;         /* unique name without a port */
	guint32 n_services; /* user's nodes of its ports */
	guint32 n_folded;   /* replicas; 0 = not folded */
	guint32 n_random;   /* ports that one peer alone called, above 1023 */
	gboolean sends;     /* calls that belong to none of its ports */
	gboolean is_split;  /* a node for each service, and one for what it sends besides */
} WpResolvePlace;

/* A flow that leaves a shared address from a port that is no service. */
typedef struct {
	guint32 caller;    /* trace node */
	guint32 owner;     /* trace node of the service that owns it, WP_NO_NODE: a client */
	guint16 port;      /* ... and its port */
	gboolean is_known; /* by the file, or as sure as that */
	gboolean is_by_file;
	gboolean is_told; /* ... by spans (capture/span-join.h) */
	gboolean is_any;  /* of the services together, see ownership.h */
	guint64 open; /* a bit for each service that may own it, as engines will tell; 0: it is known */
	float certainty;
} WpResolveFlow;

struct WpResolved {
	WpResolveOptions options;
	const WpTrace *trace;
	WpNames *names; /* NULL = no file */
	WpSpans *spans;
	const WpLink *answered;
	GArray *addresses;   /* WpResolveAddress, by trace node */
	GArray *places;      /* WpResolvePlace */
	GArray *ports;       /* WpResolvePort */
	GArray *pairs;       /* guint64: (caller, callee) of the trace, in order of first sight */
	WpMap *pair_numbers; /* of these */
	WpMap *port_numbers; /* (trace node, port) -> index into ports */
	WpMap *services;     /* (trace node, port) -> user's node */
	GArray *nodes;       /* WpResolveNode */
	GHashTable *taken;   /* name of a node -> node + 1 */
	GHashTable *bases;   /* of places, and names of the names file; a set */
	GArray *shared;      /* WpShared */
	WpOwners *owners;    /* NULL = no file */
	GArray *flows;       /* WpResolveFlow, of shared addresses */
	WpMap *end_numbers;  /* (trace node, port), and numbers of flows -> number */
	WpMap *service_bits; /* user's node on a shared machine -> place of its bit in WpSpanOwner */
	WpMap *flow_numbers; /* (caller's end, flow or callee's end) -> index into flows */
	WpTemplates *
		templates; /* NULL before there is a trace, and where labels are kept or left out */
	gboolean folds_clients;
};

static inline WpResolveAddress *
wp_resolve_address(const WpResolved *resolved, guint32 node)
{
	return &g_array_index(resolved->addresses, WpResolveAddress, node);
}

/*
 * Owners of the flows that leave shared addresses, in resolve-owners.c: after nodes are made, while spans still
 * carry nodes of the trace. set_machines() says which are shared.
 */
void wp_resolve_set_machines(WpResolved *resolved);
void wp_resolve_find_owners(WpResolved *resolved);
const WpResolveFlow *wp_resolve_flow_of(const WpResolved *resolved, const WpRecord *record);
void wp_resolve_sum_owners(WpResolved *resolved);

/* The user's node of a service, as wp_resolve_service() is its port. */
guint32 wp_resolve_node_at(const WpResolved *resolved, guint32 trace_node, guint16 port);

gboolean wp_resolve_is_loopback(const guint8 address[16]);

/* The service at a port of a trace node, as an index into ports; WP_MAP_NONE: none. */
guint32 wp_resolve_service(const WpResolved *resolved, guint32 trace_node, guint16 port);

/* Sets the hints of all addresses from those of the trace. */
void wp_resolve_gather_hints(WpResolved *resolved);

/* Finds out who stands behind a proxy, then gives each place its base. */
void wp_resolve_name_places(WpResolved *resolved);

/*
 * (transfer full) HOST:PORT, of a service on an address that calls itself, if requests ask for it so; NULL where
 * they do not, or another place or service is called so.
 */
char *wp_resolve_port_host(const WpResolved *resolved, const WpResolvePort *port);

/* The names file's name for a port, or NULL. */
const char *wp_resolve_port_name(const WpResolved *resolved, const WpResolvePort *port);

#endif
