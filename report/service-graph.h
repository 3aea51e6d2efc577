/*
 * WpServiceGraph: which node calls which, over all requests of a view: how often, how long, with how many errors.
 * Numbers are what can be expected, as in merged trees; background requests are left out.
 */
#ifndef WP_REPORT_SERVICE_GRAPH_H
#define WP_REPORT_SERVICE_GRAPH_H

#include <glib.h>

#include "report/view.h"

/* Nodes of a graph; of more those with the most self time, then calls. More are no picture. */
#define WP_SERVICE_GRAPH_MAX 100

typedef struct {
	const char *name;
	double calls; /* into it */
	double errors;
	double self_ns;
	double self_share; /* of all self time */
	guint32 rank;      /* longest way from a client without going round; 0 = calls first */
	guint32 place;     /* among those of its rank, from 0 */
	gboolean is_hottest;
} WpServiceNode;

typedef struct {
	guint32 from; /* nodes */
	guint32 to;
	double calls;
	double errors;
	double latency_ns; /* mean */
	gboolean is_back;  /* leads to a rank that is not later: part of a cycle */
} WpServiceEdge;

typedef struct {
	guint32 n_nodes;
	WpServiceNode *nodes; /* in order of first sight */
	guint32 n_edges;
	WpServiceEdge *edges; /* most calls first */
	guint32 n_ranks;
	guint32 widest;   /* most nodes of a rank */
	guint32 n_hidden; /* nodes left out */
} WpServiceGraph;

/* (transfer full) Names are borrowed from VIEW. */
WpServiceGraph *wp_service_graph_new(const WpView *view);
void wp_service_graph_free(WpServiceGraph *graph);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpServiceGraph, wp_service_graph_free)

#endif
