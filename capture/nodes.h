/*
 * WpNodes: addresses and names <-> node numbers, and the strings that records refer to.
 *
 * In capture a node is an IP address. (Names, ports, folded replicas: infer/resolve, which sees the
 * whole capture.) In a foreign trace a node is what its sender and receiver columns say. What the
 * packets tell about the name of an address is kept as hints. Numbers run from 0 in order of first
 * use. Shared by the source of records and their sinks, hence counted references.
 */
#ifndef WP_CAPTURE_NODES_H
#define WP_CAPTURE_NODES_H

#include <glib.h>

#include "capture/record.h"
#include "capture/strings.h"

typedef struct WpNodes WpNodes;

#define WP_NO_NODE G_MAXUINT32

/* Where a name came from; the first of these that gave one wins: the user knows best,
 * then who captured, then who is asked for names. */
typedef enum {
	WP_NAME_FILE,      /* --names */
	WP_NAME_CAPTURE,   /* what the capture file itself says (pcapng name resolution) */
	WP_NAME_DNS,       /* an answer of a name server in the capture */
	WP_NAME_HTTP_HOST, /* Host of a request to it */
	WP_NAME_TLS_SNI,   /* server name of a TLS client hello to it */
	WP_NAME_N_SOURCES
} WpNameSource;

/* (transfer full) */
WpNodes *wp_nodes_new(void);
WpNodes *wp_nodes_ref(WpNodes *nodes);
void wp_nodes_unref(WpNodes *nodes);

/* The node of an address (made where new). Fast: called for every call on the wire. */
guint32 wp_nodes_by_address(WpNodes *nodes, const guint8 address[16]);

/*
 * The node of an address seen in packets, as what ROLE tells. Addresses cost nothing to make up, so only
 * so many become nodes of their own; the callers beyond are one node, and so are those called beyond,
 * so that no node gets both the calls into and out of many hosts. Records keep the addresses. Of names
 * beyond nothing is kept: WP_NO_NODE.
 */
#define WP_NODES_MAX_CALLERS   32768
#define WP_NODES_MAX_NAMED     49152
#define WP_NODES_MAX_CALLED    65536
#define WP_NODES_OTHER_CALLERS "(other clients)"
#define WP_NODES_OTHER_CALLED  "(other servers)"
typedef enum {
	WP_NODE_CALLER, /* a client */
	WP_NODE_CALLED, /* a server */
	WP_NODE_NAMED   /* told of by a name server, not yet met */
} WpNodeRole;
guint32 wp_nodes_by_address_seen(WpNodes *nodes, const guint8 address[16], WpNodeRole role);

/* TRUE for the two nodes that stand for many. */
gboolean wp_nodes_is_others(const WpNodes *nodes, guint32 node);

/* The node called KEY (made where new). A KEY that is an IP address is that address's node. */
guint32 wp_nodes_by_key(WpNodes *nodes, const char *key);

/* Like the two above, but WP_NO_NODE where there is none yet. */
guint32 wp_nodes_find_address(const WpNodes *nodes, const guint8 address[16]);
guint32 wp_nodes_find_key(const WpNodes *nodes, const char *key);

guint32 wp_nodes_count(const WpNodes *nodes);

/* (transfer none) Unique text of the node: its address, or its name in a foreign trace. */
const char *wp_nodes_key(const WpNodes *nodes, guint32 node);

/* (transfer none) Its 16 bytes of address, or NULL. */
const guint8 *wp_nodes_address(const WpNodes *nodes, guint32 node);

/*
 * The packets say that NODE is called NAME. At most 8 names a node and source are kept, with how
 * often each was seen; more are dropped. NAME is untrusted: bytes outside printable ASCII and longer
 * than 253 bytes are refused (FALSE).
 */
gboolean wp_nodes_add_hint(WpNodes *nodes, guint32 node, WpNameSource source, const char *name,
			   gssize length);

/* As above, seen COUNT times (trace files). */
gboolean wp_nodes_add_hints(WpNodes *nodes, guint32 node, WpNameSource source, const char *name,
			    gssize length, guint64 count);

/*
 * (transfer none) The name most often seen from SOURCE (ties: the smaller text), NULL where there is
 * none. OUT_COUNT (may be NULL): how often.
 */
const char *wp_nodes_hint(const WpNodes *nodes, guint32 node, WpNameSource source,
			  guint64 *out_count);

/* Calls FUNC for every name kept, by node, then source, then order of first sight. */
typedef void (*WpNodesHintFunc)(guint32 node, WpNameSource source, const char *name, guint64 count,
				gpointer data);
void wp_nodes_foreach_hint(const WpNodes *nodes, WpNodesHintFunc func, gpointer data);

/* The strings of labels, protocols and ids. (transfer none) */
WpStrings *wp_nodes_strings(WpNodes *nodes);

/* Short for wp_strings_get() on them. */
const char *wp_nodes_text(const WpNodes *nodes, guint32 string);

/* "file", "capture", "dns", "http-host", "tls" */
const char *wp_name_source_name(WpNameSource source);
gboolean wp_name_source_from_name(const char *name, WpNameSource *out_source);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpNodes, wp_nodes_unref)

#endif
