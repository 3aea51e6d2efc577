#include "report/view-clusters.h"

#include <string.h>

/* Nodes of one pattern, numbered as they come: 0 is the client. Names are borrowed. */
typedef struct {
	GPtrArray *names;
	GHashTable *numbers;
} Nodes;

static void
nodes_init(Nodes *nodes)
{
	nodes->names = g_ptr_array_new();
	nodes->numbers = g_hash_table_new(g_str_hash, g_str_equal);
}

static void
nodes_clear(Nodes *nodes)
{
	g_ptr_array_unref(nodes->names);
	g_hash_table_unref(nodes->numbers);
}

static guint
number_of(Nodes *nodes, const char *name)
{
	gpointer number;
	if (g_hash_table_lookup_extended(nodes->numbers, name, NULL, &number))
		return GPOINTER_TO_UINT(number);
	guint n = nodes->names->len;
	g_ptr_array_add(nodes->names, (gpointer)name);
	g_hash_table_insert(nodes->numbers, (gpointer)name, GUINT_TO_POINTER(n));
	return n;
}

/* A text and its length, so that no two shapes are spelled alike. */
static void
add_text(GString *shape, const char *text)
{
	g_string_append_printf(shape, "%" G_GSIZE_FORMAT ":%s", strlen(text), text);
}

/*
 * What two patterns of one cluster have in common: all but the names of nodes, which stand there as numbers; so that
 * equal nodes are at equal places. Calls beside one another are in the order of the pattern: where that is another
 * one in a pattern that is otherwise the same, it makes a cluster of its own.
 */
static char *
shape_of(const WpViewPattern *pattern, Nodes *nodes, gboolean *has_labels)
{
	GString *shape = g_string_new(NULL);
	*has_labels = FALSE;
	number_of(nodes, pattern->client);
	for (guint32 i = 0; i < pattern->n_nodes; i++) {
		const WpViewNode *node = &pattern->nodes[i];
		*has_labels = *has_labels || *node->label;
		g_string_append_printf(shape, "%u %u x%u %d%d ", number_of(nodes, node->node),
				       node->depth, node->repeat, node->waits,
				       node->n_messages > 0);
		add_text(shape, node->label);
		add_text(shape, node->protocol);
	}
	return g_string_free(shape, FALSE);
}

double
wp_view_cluster_mean(const WpView *view, guint32 pattern)
{
	const WpViewPattern *one = &view->patterns[pattern];
	return one->count ? one->total_ns / (double)one->count : 0;
}

static gboolean
fits(const WpView *view, const WpViewCluster *cluster, guint32 pattern)
{
	double mean = wp_view_cluster_mean(view, pattern);
	return MAX(mean, wp_view_cluster_mean(view, cluster->slowest)) <=
	       WP_CLUSTER_MAX_RATIO * MIN(mean, wp_view_cluster_mean(view, cluster->fastest));
}

static void
add_member(const WpView *view, WpViewCluster *cluster, guint32 pattern)
{
	const WpViewPattern *one = &view->patterns[pattern];
	cluster->members = g_renew(guint32, cluster->members, cluster->n_members + 1);
	cluster->members[cluster->n_members++] = pattern;
	if (cluster->n_members == 1 ||
	    wp_view_cluster_mean(view, pattern) < wp_view_cluster_mean(view, cluster->fastest))
		cluster->fastest = pattern;
	if (cluster->n_members == 1 ||
	    wp_view_cluster_mean(view, pattern) > wp_view_cluster_mean(view, cluster->slowest))
		cluster->slowest = pattern;
	cluster->count += one->count;
	cluster->total_ns += one->total_ns;
	cluster->share += one->share;
}

/* Of ALL clusters that of PATTERN: the first of its shape that it fits, or a new one. */
static void
sort_in(const WpView *view, GArray *all, GHashTable *by_shape, guint32 pattern)
{
	Nodes nodes;
	gboolean has_labels;
	nodes_init(&nodes);
	char *shape = shape_of(&view->patterns[pattern], &nodes, &has_labels);
	nodes_clear(&nodes);
	GArray *alike = g_hash_table_lookup(by_shape, shape);
	if (!alike) {
		alike = g_array_new(FALSE, FALSE, sizeof(guint));
		g_hash_table_insert(by_shape, g_strdup(shape), alike);
	}
	g_free(shape);
	for (guint i = 0; i < alike->len; i++) {
		WpViewCluster *one =
			&g_array_index(all, WpViewCluster, g_array_index(alike, guint, i));
		if (has_labels || fits(view, one, pattern)) {
			add_member(view, one, pattern);
			return;
		}
	}
	g_array_append_val(alike, all->len);
	g_array_set_size(all, all->len + 1);
	add_member(view, &g_array_index(all, WpViewCluster, all->len - 1), pattern);
}

/* Where the members have different nodes; NAMES are the nodes of each member, in the order of the shape. */
static void
find_choices(WpViewCluster *cluster, const Nodes *names)
{
	guint n_places = names[0].names->len;
	cluster->choices = g_new0(WpViewChoice, n_places);
	for (guint place = 0; place < n_places; place++) {
		WpViewChoice *choice = &cluster->choices[cluster->n_choices];
		choice->nodes = g_new(const char *, cluster->n_members);
		for (guint32 i = 0; i < cluster->n_members; i++) {
			const char *name = g_ptr_array_index(names[i].names, place);
			guint32 k = 0;
			while (k < choice->n && strcmp(choice->nodes[k], name) != 0)
				k++;
			if (k == choice->n)
				choice->nodes[choice->n++] = name;
		}
		if (choice->n > 1) {
			cluster->n_choices++;
		} else {
			g_free(choice->nodes);
			*choice = (WpViewChoice){ 0 };
		}
	}
}

static void
fill_choices(const WpView *view, WpViewCluster *cluster)
{
	Nodes *names = g_new(Nodes, cluster->n_members);
	for (guint32 i = 0; i < cluster->n_members; i++) {
		gboolean has_labels;
		nodes_init(&names[i]);
		g_free(shape_of(&view->patterns[cluster->members[i]], &names[i], &has_labels));
	}
	find_choices(cluster, names);
	for (guint32 i = 0; i < cluster->n_members; i++)
		nodes_clear(&names[i]);
	g_free(names);
}

static int
compare_clusters(gconstpointer a, gconstpointer b)
{
	const WpViewCluster *one = a, *other = b;
	if (one->total_ns != other->total_ns)
		return one->total_ns > other->total_ns ? -1 : 1;
	return one->members[0] < other->members[0] ? -1 : 1;
}

static void
free_numbers(gpointer numbers)
{
	g_array_unref(numbers);
}

void
wp_view_clusters_fill(WpView *view)
{
	GHashTable *by_shape = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_numbers);
	GArray *all = g_array_new(FALSE, TRUE, sizeof(WpViewCluster)), *kept;
	for (guint32 i = 0; i < MIN(view->n_patterns, WP_CLUSTER_MAX_PATTERNS); i++)
		if (!view->patterns[i].is_background)
			sort_in(view, all, by_shape, i);
	kept = g_array_new(FALSE, FALSE, sizeof(WpViewCluster));
	for (guint i = 0; i < all->len; i++) {
		WpViewCluster *cluster = &g_array_index(all, WpViewCluster, i);
		if (cluster->n_members > 1)
			fill_choices(view, cluster);
		/* The same nodes in all of them: these are kept apart for something that the shape does not show. */
		if (cluster->n_choices)
			g_array_append_val(kept, *cluster);
		else
			g_clear_pointer(&cluster->members, g_free);
	}
	g_hash_table_unref(by_shape);
	g_array_free(all, TRUE);
	g_array_sort(kept, compare_clusters);
	view->n_clusters = kept->len;
	view->clusters = (WpViewCluster *)(void *)g_array_free(kept, FALSE);
}

char *
wp_view_cluster_members(const WpView *view, const WpViewCluster *cluster, guint32 most)
{
	GString *text = g_string_new(NULL);
	for (guint32 i = 0; i < MIN(most, cluster->n_members); i++)
		g_string_append_printf(text, "%s#%u", i ? " " : "",
				       view->patterns[cluster->members[i]].rank);
	if (cluster->n_members > most)
		g_string_append_printf(text, " +%u", cluster->n_members - most);
	return g_string_free(text, FALSE);
}

char *
wp_view_cluster_choices(const WpViewCluster *cluster, guint32 most)
{
	GString *text = g_string_new(NULL);
	for (guint32 i = 0; i < cluster->n_choices; i++) {
		const WpViewChoice *choice = &cluster->choices[i];
		g_string_append(text, i ? ", " : "");
		for (guint32 k = 0; k < MIN(most, choice->n); k++)
			g_string_append_printf(text, "%s%s", k ? "|" : "", choice->nodes[k]);
		if (choice->n > most)
			g_string_append_printf(text, "|+%u", choice->n - most);
	}
	return g_string_free(text, FALSE);
}

void
wp_view_clusters_clear(WpView *view)
{
	for (guint32 i = 0; i < view->n_clusters; i++) {
		WpViewCluster *cluster = &view->clusters[i];
		for (guint32 k = 0; k < cluster->n_choices; k++)
			g_free(cluster->choices[k].nodes);
		g_free(cluster->choices);
		g_free(cluster->members);
	}
	g_clear_pointer(&view->clusters, g_free);
	view->n_clusters = 0;
}
