/*
 * WpViewCluster: patterns of one shape (the paper's figure 11: an isomorphic graph per choice of the balancers): the
 * same calls in the same order, only at other nodes, so that one row stands for what are dozens of patterns where
 * work is spread over replicas. Where labels do not tell calls apart, requests are as long as one another, too:
 * else systems that have nothing to do with one another would be one.
 *
 * Indexes are of patterns of the view.
 */
#ifndef WP_REPORT_VIEW_CLUSTERS_H
#define WP_REPORT_VIEW_CLUSTERS_H

#include "report/view.h"

/* Without labels, means of requests of one cluster differ by no more than this factor. */
#define WP_CLUSTER_MAX_RATIO 1.5

#define WP_CLUSTER_MAX_PATTERNS 2000

/* A place of the shape at which patterns have different nodes. */
typedef struct {
	guint32 n;
	const char **nodes; /* each once; in the order of patterns */
} WpViewChoice;

typedef struct WpViewCluster {
	guint32 n_members;
	guint32 *members; /* two at least; most time first */
	guint32 fastest;  /* of these, by the mean */
	guint32 slowest;
	guint64 count;
	double total_ns;
	double share; /* of the time of all requests */
	guint32 n_choices;
	WpViewChoice *choices; /* callers first, in the order of calls */
} WpViewCluster;

/* (transfer full) "#1 #3 #4 +2": the ranks of MOST members at most, and how many more there are. */
char *wp_view_cluster_members(const WpView *view, const WpViewCluster *cluster, guint32 most);

/*
 * (transfer full) "app1|app2, db1|db2": what each choice is between, MOST nodes of a choice at most. As names are, not
 * safe to print.
 */
char *wp_view_cluster_choices(const WpViewCluster *cluster, guint32 most);

/* Mean latency, ns, of the requests of a pattern (a number in VIEW). */
double wp_view_cluster_mean(const WpView *view, guint32 pattern);

/* Fills clusters of VIEW from the first WP_CLUSTER_MAX_PATTERNS of its patterns, most time first; free them with wp_view_clusters_clear(). */
void wp_view_clusters_fill(WpView *view);
void wp_view_clusters_clear(WpView *view);

#endif
