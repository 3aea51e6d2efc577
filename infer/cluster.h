/*
 * Agglomerative clustering of things of which it is known how far each is from each: two are alike where their
 * distances to all things are in proportion (the cosine of their rows), as in section 3.7 of Lambert's thesis
 * (infer/chain-metric.h).
 */
#ifndef WP_INFER_CLUSTER_H
#define WP_INFER_CLUSTER_H

#include <glib.h>

/* At most so many things: memory is 8 bytes times its square, time about its cube. */
#define WP_CLUSTER_MAX 2000

typedef enum {
	WP_LINKAGE_SINGLE,   /* the two nearest members */
	WP_LINKAGE_COMPLETE, /* the two farthest */
	WP_LINKAGE_AVERAGE   /* the mean of all pairs */
} WpLinkage;

/* What joined FIRST and SECOND, the lowest members of two clusters; FIRST < SECOND. */
typedef struct {
	guint32 first;
	guint32 second;
	double similarity;
} WpMerge;

/* (transfer full) N * N cosines of the rows of MATRIX (N * N); 0 with a row of zeros. */
double *wp_cluster_cosines(const double *matrix, guint n);

/*
 * Joins the two clusters that are most alike until K are left (1 <= K <= N <= WP_CLUSTER_MAX); of equals those with
 * the lowest members. SIMILARITIES (N * N, symmetric) is used up. OUT_CLUSTERS[N]: number of each thing's cluster,
 * in order of their lowest members. OUT_MERGES[N - K]: in turn; may be NULL.
 */
void wp_cluster(double *similarities, guint n, guint k, WpLinkage linkage, guint32 *out_clusters,
		WpMerge *out_merges);

#endif
