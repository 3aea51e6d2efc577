/*
 * Operations: first level of a report, all requests that begin with the same call. What they call is
 * in places.c.
 */
#include "infer/operation.h"

#include "infer/map.h"
#include "infer/path.h"

typedef struct {
	const guint32 *node_ranks;
	const guint32 *label_ranks;
	WpMap *roots;   /* (client, node) -> number */
	WpMap *by_root; /* (number, label) -> draft */
	GArray *drafts; /* WpOperation */
} Builder;

static guint32
get_draft(Builder *builder, const WpPattern *pattern)
{
	const WpPatternNode *root = &pattern->nodes[0];
	guint32 number = wp_map_number(builder->roots, wp_map_key(pattern->client, root->node));
	guint32 at = wp_map_number(builder->by_root, wp_map_key(number, root->label));

	if (at == builder->drafts->len) {
		WpOperation draft = { .client = pattern->client,
				      .node = root->node,
				      .label = root->label,
				      .protocol = root->protocol,
				      .latency = wp_delay_new(),
				      .is_background = TRUE };
		g_array_append_val(builder->drafts, draft);
	}
	return at;
}

static void
add_pattern(Builder *builder, WpPattern *pattern)
{
	guint32 at = pattern->operation = get_draft(builder, pattern);
	WpOperation *operation = &g_array_index(builder->drafts, WpOperation, at);

	operation->count += pattern->count;
	operation->errors += pattern->nodes[0].errors;
	operation->n_patterns += (guint32)MAX(pattern->n_rest, 1);
	operation->is_background &= pattern->is_background;
	wp_delay_merge(operation->latency, pattern->nodes[0].latency);
}

static int
compare_drafts(gconstpointer a, gconstpointer b, gpointer data)
{
	const Builder *builder = data;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	const WpOperation *left = &g_array_index(builder->drafts, WpOperation, i);
	const WpOperation *right = &g_array_index(builder->drafts, WpOperation, j);

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	int order = wp_path_compare(builder->node_ranks, left->client, right->client);
	if (order == 0)
		order = wp_path_compare(builder->node_ranks, left->node, right->node);
	return order ? order : wp_path_compare(builder->label_ranks, left->label, right->label);
}

/* Moves the drafts into SET in order. */
static void
finish(Builder *builder, WpPatternSet *set)
{
	guint32 n = builder->drafts->len;
	g_autofree guint32 *order = g_new(guint32, n + 1);
	g_autofree guint32 *places = g_new(guint32, n + 1);

	for (guint32 i = 0; i < n; i++) {
		WpOperation *operation = &g_array_index(builder->drafts, WpOperation, i);
		operation->total_ns = wp_delay_sum_ns(operation->latency);
		order[i] = i;
	}
	g_qsort_with_data(order, (gint)n, sizeof *order, compare_drafts, builder);
	set->n_operations = n;
	set->operations = g_new(WpOperation, n);
	for (guint32 i = 0; i < n; i++) {
		set->operations[i] = g_array_index(builder->drafts, WpOperation, order[i]);
		places[order[i]] = i;
	}
	for (guint32 i = 0; i < set->n_patterns; i++)
		set->patterns[i].operation = places[set->patterns[i].operation];
}

void
wp_operations_gather(WpPatternSet *set, const guint32 *node_ranks, const guint32 *label_ranks)
{
	g_autoptr(WpMap) roots = wp_map_new(), by_root = wp_map_new();
	g_autoptr(GArray) drafts = g_array_new(FALSE, FALSE, sizeof(WpOperation));
	Builder builder = { node_ranks, label_ranks, roots, by_root, drafts };

	for (guint32 i = 0; i < set->n_patterns; i++)
		add_pattern(&builder, &set->patterns[i]);
	finish(&builder, set);
}
