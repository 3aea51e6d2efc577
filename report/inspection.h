/*
 * WpInspection: what `inspect` tells of an input, gathered from the stream of records: nodes,
 * protocols, flows, counters. Nothing is inferred. Its memory grows with nodes and flows, not with
 * records: at most WP_INSPECTION_MAX_FLOWS flows are kept apart, the rest counts in totals only, and
 * how many is said.
 */
#ifndef WP_REPORT_INSPECTION_H
#define WP_REPORT_INSPECTION_H

#include <glib.h>

#include "report/view.h"

#define WP_INSPECTION_MAX_FLOWS 200000

/* Messages of a flow, a protocol, or all. */
typedef struct {
	guint64 requests;  /* calls */
	guint64 responses; /* returns */
	guint64 pairs;     /* returns with their call */
	guint64 one_way;
	guint64 setup; /* ... of the above: greetings, logins, handshakes */
	guint64 errors;
	guint64 bytes; /* of all these messages */
} WpInspectionCounts;

typedef struct {
	const char *name;
	guint64 flows;
	WpInspectionCounts counts;
} WpInspectionProtocol;

typedef struct {
	guint32 number;
	const char *protocol;
	const char *client; /* node */
	const char *server;
	char src[64]; /* "10.0.0.1:80"; "" = unknown */
	char dst[64];
	gint64 begin_ns;
	gint64 end_ns;
	WpInspectionCounts counts;
} WpInspectionFlow;

/* A port that a node serves. */
typedef struct {
	guint16 port;
	const char *protocol;
} WpInspectionPort;

typedef struct {
	const char *key;  /* address, or name in a foreign trace */
	const char *name; /* by --names, else what the capture tells; "" = nothing */
	const char *name_source;
	guint64 calls_in;
	guint64 calls_out;
	guint64 messages_in; /* one-way */
	guint64 messages_out;
	guint n_ports;
	WpInspectionPort *ports; /* by number */
} WpInspectionNode;

typedef struct {
	guint n_inputs;
	const char **inputs;
	const char *file; /* the only one, as the user names it; or NULL */
	guint n_settings;
	WpViewSetting *settings;
	gboolean is_selective; /* --from, --to or --filter were given */
	const char *partial;
	gint64 begin_ns; /* valid where n_records */
	gint64 end_ns;
	guint64 n_records;
	guint64 n_packets;
	WpInspectionCounts counts;
	guint n_nodes;
	WpInspectionNode *nodes; /* most calls first */
	guint n_protocols;
	WpInspectionProtocol *protocols; /* most messages first */
	guint n_flows;                   /* those kept */
	guint64 n_flows_more;            /* messages of flows over the limit */
	WpInspectionFlow *flows;         /* most messages first */
	WpViewQuality quality;
} WpInspection;

#endif
