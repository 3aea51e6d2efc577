/* A cluster goes by its lowest member; the row of that member holds how like it is to the others. */
#include "infer/cluster.h"

#include <math.h>

typedef struct {
	double *similarities;
	guint n;
	WpLinkage linkage;
	guint32 *owners;  /* of each thing: the lowest member of its cluster */
	guint32 *sizes;   /* 0: not the lowest member of one */
	guint32 *nearest; /* of each cluster: the one above it that is most like it; n = none */
} Clusters;

double *
wp_cluster_cosines(const double *matrix, guint n)
{
	double *cosines = g_new0(double, (gsize)n *n);
	g_autofree double *lengths = g_new0(double, (gsize)n + 1);

	for (guint i = 0; i < n; i++) {
		const double *row = matrix + (gsize)i * n;
		for (guint j = 0; j < n; j++)
			lengths[i] += row[j] * row[j];
	}
	for (guint i = 0; i < n; i++)
		for (guint j = i; j < n; j++) {
			const double *a = matrix + (gsize)i * n, *b = matrix + (gsize)j * n;
			double sum = 0, scale = sqrt(lengths[i]) * sqrt(lengths[j]);
			for (guint k = 0; k < n; k++)
				sum += a[k] * b[k];
			cosines[(gsize)i * n + j] = cosines[(gsize)j * n + i] =
				scale > 0 ? sum / scale : 0;
		}
	return cosines;
}

static double *
at(const Clusters *clusters, guint32 a, guint32 b)
{
	return &clusters->similarities[(gsize)a * clusters->n + b];
}

static void
find_nearest(Clusters *clusters, guint32 a)
{
	guint32 best = clusters->n;

	for (guint32 b = a + 1; b < clusters->n; b++)
		if (clusters->sizes[b] &&
		    (best == clusters->n || *at(clusters, a, b) > *at(clusters, a, best)))
			best = b;
	clusters->nearest[a] = best;
}

/* How like the cluster of A and B is to C. */
static double
joined(const Clusters *clusters, guint32 a, guint32 b, guint32 c)
{
	double to_a = *at(clusters, a, c), to_b = *at(clusters, b, c);
	double n_a = clusters->sizes[a], n_b = clusters->sizes[b];

	if (clusters->linkage == WP_LINKAGE_SINGLE)
		return MAX(to_a, to_b);
	if (clusters->linkage == WP_LINKAGE_COMPLETE)
		return MIN(to_a, to_b);
	return (n_a * to_a + n_b * to_b) / (n_a + n_b);
}

/* Once B is part of A. What is above B knows neither. */
static void
renew_nearest(Clusters *clusters, guint32 a, guint32 b)
{
	for (guint32 c = 0; c < b; c++) {
		guint32 nearest = clusters->nearest[c];
		if (!clusters->sizes[c])
			continue;
		if (c == a || nearest == a || nearest == b)
			find_nearest(clusters, c);
		else if (c < a &&
			 (*at(clusters, c, a) > *at(clusters, c, nearest) ||
			  (*at(clusters, c, a) >= *at(clusters, c, nearest) && a < nearest)))
			clusters->nearest[c] = a;
	}
}

/* B becomes part of A. */
static void
join(Clusters *clusters, guint32 a, guint32 b)
{
	guint n = clusters->n;

	for (guint32 c = 0; c < n; c++)
		if (clusters->sizes[c] && c != a && c != b)
			*at(clusters, a, c) = *at(clusters, c, a) = joined(clusters, a, b, c);
	clusters->sizes[a] += clusters->sizes[b];
	clusters->sizes[b] = 0;
	for (guint32 i = 0; i < n; i++)
		if (clusters->owners[i] == b)
			clusters->owners[i] = a;
	renew_nearest(clusters, a, b);
}

static guint32
most_alike(const Clusters *clusters)
{
	guint32 best = clusters->n;

	for (guint32 a = 0; a < clusters->n; a++)
		if (clusters->sizes[a] && clusters->nearest[a] < clusters->n &&
		    (best == clusters->n || *at(clusters, a, clusters->nearest[a]) >
						    *at(clusters, best, clusters->nearest[best])))
			best = a;
	return best;
}

static void
number_clusters(const Clusters *clusters, guint32 *out_clusters)
{
	guint32 next = 0;

	for (guint32 i = 0; i < clusters->n; i++)
		out_clusters[i] =
			clusters->owners[i] == i ? next++ : out_clusters[clusters->owners[i]];
}

void
wp_cluster(double *similarities, guint n, guint k, WpLinkage linkage, guint32 *out_clusters,
	   WpMerge *out_merges)
{
	g_autofree guint32 *owners = g_new(guint32, n);
	g_autofree guint32 *sizes = g_new(guint32, n);
	g_autofree guint32 *nearest = g_new(guint32, n);
	Clusters clusters = { similarities, n, linkage, owners, sizes, nearest };

	for (guint32 i = 0; i < n; i++) {
		owners[i] = i;
		sizes[i] = 1;
	}
	for (guint32 i = 0; i < n; i++)
		find_nearest(&clusters, i);
	for (guint merged = 0; merged + k < n; merged++) {
		guint32 a = most_alike(&clusters), b = nearest[a];
		if (out_merges)
			out_merges[merged] = (WpMerge){ a, b, *at(&clusters, a, b) };
		join(&clusters, a, b);
	}
	number_clusters(&clusters, out_clusters);
}
