/* Clustering by the cosine of rows: merges and similarities of a matrix, worked out by hand. */
#include "infer/cluster.h"

#include <string.h>

#include "tests/support/suite.h"

#define N 6

static const double matrix[N * N] = {
	0,  2,  3,  40, 41, 9,  /**/
	2,  0,  2,  42, 40, 8,  /**/
	3,  2,  0,  41, 43, 7,  /**/
	40, 42, 41, 0,  4,  50, /**/
	41, 40, 43, 4,  0,  52, /**/
	9,  8,  7,  50, 52, 0,
};

START_TEST(merges_come_in_their_order)
{
	static const struct {
		WpLinkage linkage;
		WpMerge merges[4];
	} rows[] = {
		{ WP_LINKAGE_AVERAGE,
		  { { 0, 1, .997838 }, { 3, 4, .997255 }, { 0, 2, .997004 }, { 0, 5, .979289 } } },
		{ WP_LINKAGE_COMPLETE,
		  { { 0, 1, .997838 }, { 3, 4, .997255 }, { 0, 2, .996608 }, { 0, 5, .976739 } } },
		{ WP_LINKAGE_SINGLE,
		  { { 0, 1, .997838 }, { 0, 2, .9974 }, { 3, 4, .997255 }, { 0, 5, .983112 } } },
	};
	static const guint32 two[N] = { 0, 0, 0, 1, 1, 0 }, three[N] = { 0, 0, 0, 1, 1, 2 };

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree double *a = wp_cluster_cosines(matrix, N),
				  *b = g_memdup2(a, sizeof matrix);
		guint32 clusters[N];
		WpMerge merges[N];
		wp_cluster(a, N, 2, rows[i].linkage, clusters, merges);
		ck_assert_mem_eq(clusters, two, sizeof two);
		for (guint j = 0; j < 4; j++) {
			ck_assert_uint_eq(merges[j].first, rows[i].merges[j].first);
			ck_assert_uint_eq(merges[j].second, rows[i].merges[j].second);
			ck_assert_double_eq_tol(merges[j].similarity, rows[i].merges[j].similarity,
						6e-7);
		}
		wp_cluster(b, N, 3, rows[i].linkage, clusters, NULL);
		ck_assert_mem_eq(clusters, three, sizeof three);
	}
}
END_TEST

/* Rows in proportion are alike, whatever their length; a row of zeros is like nothing. */
START_TEST(cosines_are_of_rows)
{
	static const double rows[9] = { 3, 4, 0, 6, 8, 0, 0, 0, 0 };
	static const double expected[9] = { 1, 1, 0, 1, 1, 0, 0, 0, 0 };
	g_autofree double *cosines = wp_cluster_cosines(rows, 3);

	for (guint i = 0; i < 9; i++)
		ck_assert_double_eq_tol(cosines[i], expected[i], 1e-12);
}
END_TEST

/* All alike: those with the lowest members first. K = N joins nothing, 1 all. */
START_TEST(ties_go_by_number)
{
	static const struct {
		guint k;
		guint32 clusters[4];
	} rows[] = {
		{ 4, { 0, 1, 2, 3 } }, { 3, { 0, 0, 1, 2 } }, { 2, { 0, 0, 0, 1 } }, { 1, { 0 } }
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		double similarities[16];
		guint32 clusters[4];
		for (guint j = 0; j < 16; j++)
			similarities[j] = 1;
		wp_cluster(similarities, 4, rows[i].k, WP_LINKAGE_AVERAGE, clusters, NULL);
		ck_assert_mem_eq(clusters, rows[i].clusters, sizeof clusters);
	}
}
END_TEST

WP_SUITE("cluster", merges_come_in_their_order, cosines_are_of_rows, ties_go_by_number)
