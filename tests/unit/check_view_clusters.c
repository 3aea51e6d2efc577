/* Patterns of one shape: rows of patterns, and which of them are one. */
#include "report/view-clusters.h"

#include <string.h>

#include "tests/support/suite.h"

#define MAX_PATTERNS 6
#define MAX_NODES    6

typedef struct {
	const char *name;
	const char *patterns
		[MAX_PATTERNS]; /* "MEAN CLIENT NODE[/LABEL] ...", each call below the one before */
	const char *clusters;   /* "MEMBERS fastest/slowest: CHOICES", each with a ; behind it */
} Row;

static const Row rows[] = {
	{ "a choice at one place",
	  { "10 c web db1", "12 c web db2", "11 c web db1 x" },
	  "#1 #2 #1/#2: db1|db2;" },
	{ "at two, in any combination",
	  { "10 c w1 a1", "11 c w2 a1", "9 c w1 a2", "10 c w2 a2" },
	  "#1 #2 #3 #4 #3/#2: w1|w2, a1|a2;" },
	{ "clients count", { "10 c web db", "10 d web db" }, "#1 #2 #1/#1: c|d;" },
	{ "the same node again is no other one", { "10 c a b a", "10 c a b d" }, "" },
	{ "... nor another one the same", { "10 c a b d", "10 c e f e" }, "" },
	{ "labels tell calls apart", { "10 c a/x b", "10 c d/y b" }, "" },
	{ "with equal ones, times may differ",
	  { "10 c a/x b", "90 c d/x b" },
	  "#1 #2 #1/#2: a|d;" },
	{ "without, not", { "10 c a b", "90 c d b" }, "" },
	{ "... but some may be alike",
	  { "10 c a b", "90 c d b", "14 c e b", "99 c f b" },
	  "#2 #4 #2/#4: d|f; #1 #3 #1/#3: a|e;" },
	{ "the limit is one and a half",
	  { "100 c a b", "149 c d b", "151 c e b" },
	  "#1 #2 #1/#2: a|d;" },
	{ "depth counts", { "10 c a b d", "10 c a b" }, "" },
	{ "spelling tricks nobody", { "10 c a/1:x b", "10 c a2/1 b" }, "" },
	{ "none", { NULL }, "" },
};

static WpViewPattern
read_pattern(const char *text, guint32 rank, GPtrArray *texts)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	WpViewPattern pattern = { .rank = rank, .count = 2 };
	pattern.nodes = g_new0(WpViewNode, MAX_NODES);
	pattern.total_ns = 2 * g_ascii_strtod(words[0], NULL);
	pattern.share = 0.25;
	pattern.client = g_strdup(words[1]);
	g_ptr_array_add(texts, (gpointer)pattern.client);
	for (guint i = 2; words[i]; i++) {
		char **parts = g_strsplit(words[i], "/", 2);
		pattern.nodes[pattern.n_nodes] = (WpViewNode){
			.node = parts[0],
			.label = parts[1] ? parts[1] : "",
			.protocol = "",
			.depth = pattern.n_nodes,
			.repeat = 1,
		};
		pattern.n_nodes++;
		g_ptr_array_add(texts, parts[0]);
		if (parts[1])
			g_ptr_array_add(texts, parts[1]);
		g_free(parts);
	}
	return pattern;
}

static char *
say(const WpView *view)
{
	GString *text = g_string_new(NULL);
	for (guint32 i = 0; i < view->n_clusters; i++) {
		const WpViewCluster *cluster = &view->clusters[i];
		g_autofree char *members = wp_view_cluster_members(view, cluster, 10);
		g_autofree char *choices = wp_view_cluster_choices(cluster, 10);
		g_string_append_printf(text, "%s%s #%u/#%u: %s;", i ? " " : "", members,
				       view->patterns[cluster->fastest].rank,
				       view->patterns[cluster->slowest].rank, choices);
		ck_assert_uint_eq(cluster->count, 2 * cluster->n_members);
	}
	return g_string_free(text, FALSE);
}

static void
check_row(const Row *row)
{
	WpViewPattern patterns[MAX_PATTERNS];
	WpView view = { .patterns = patterns };
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
	for (guint32 i = 0; i < MAX_PATTERNS && row->patterns[i]; i++)
		patterns[view.n_patterns++] = read_pattern(row->patterns[i], i + 1, texts);
	wp_view_clusters_fill(&view);
	g_autofree char *seen = say(&view);
	ck_assert_msg(strcmp(seen, row->clusters) == 0, "%s: %s, not %s", row->name, seen,
		      row->clusters);
	wp_view_clusters_clear(&view);
	ck_assert_uint_eq(view.n_clusters, 0);
	for (guint32 i = 0; i < view.n_patterns; i++)
		g_free(patterns[i].nodes);
}

START_TEST(shapes)
{
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		check_row(&rows[i]);
}
END_TEST

START_TEST(background_is_left_out)
{
	WpViewNode nodes[2] = { { .node = "a", .label = "x", .protocol = "" },
				{ .node = "b", .label = "x", .protocol = "" } };
	WpViewPattern patterns[2] = {
		{ .rank = 1, .client = "c", .n_nodes = 1, .nodes = &nodes[0] },
		{ .rank = 2,
		  .client = "c",
		  .n_nodes = 1,
		  .nodes = &nodes[1],
		  .is_background = TRUE },
	};
	WpView view = { .n_patterns = 2, .patterns = patterns };
	wp_view_clusters_fill(&view);
	ck_assert_uint_eq(view.n_clusters, 0);
	wp_view_clusters_clear(&view);
	patterns[1].is_background = FALSE;
	wp_view_clusters_fill(&view);
	ck_assert_uint_eq(view.n_clusters, 1);
	g_autofree char *few = wp_view_cluster_members(&view, &view.clusters[0], 1);
	g_autofree char *nodes_of = wp_view_cluster_choices(&view.clusters[0], 1);
	ck_assert_str_eq(few, "#1 +1");
	ck_assert_str_eq(nodes_of, "a|+1");
	wp_view_clusters_clear(&view);
}
END_TEST

WP_SUITE("view-clusters", shapes, background_is_left_out)
