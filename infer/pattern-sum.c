/* Sums of patterns, by client and tree. The order of adding is that of the parts, so sums repeat. */
#include "infer/pattern-sum.h"

#include <string.h>

#include "infer/map.h"
#include "infer/operation.h"
#include "infer/path.h"
#include "infer/pattern-private.h"
#include "infer/places.h"

/* Of the requests of an operation. */
typedef struct {
	guint32 client;
	guint32 node;
	guint32 label;
	guint32 rest; /* its pattern without a tree, or NONE */
} Root;

#define NONE G_MAXUINT32

struct WpPatternSum {
	GArray *patterns;    /* WpPattern */
	GHashTable *by_tree; /* GBytes -> index + 1; those without a tree are not here */
	GArray *roots;       /* Root */
	WpMap *callers;      /* (client, node) -> number */
	WpMap *root_numbers; /* (that, label) -> root */
	WpPlaceSum *places;
	gsize n_nodes; /* of all patterns */
	guint64 n_folded;
	WpPatternSet totals; /* its numbers alone */
	double n_candidates; /* sum */
};

static guint32
get_root(WpPatternSum *sum, guint32 client, guint32 node, guint32 label)
{
	guint32 caller = wp_map_number(sum->callers, wp_map_key(client, node));
	guint32 number = wp_map_number(sum->root_numbers, wp_map_key(caller, label));

	if (number == sum->roots->len) {
		Root root = { client, node, label, NONE };
		g_array_append_val(sum->roots, root);
	}
	return number;
}

/* (transfer full) What tells a pattern from others: its client and tree. */
static GBytes *
key_of(const WpPattern *pattern)
{
	guint32 *words = g_new(guint32, 1 + 3 * (gsize)pattern->n_nodes), n = 0;

	words[n++] = pattern->client;
	for (guint32 i = 0; i < pattern->n_nodes; i++) {
		words[n++] = pattern->nodes[i].depth;
		words[n++] = pattern->nodes[i].node;
		words[n++] = pattern->nodes[i].label;
	}
	return g_bytes_new_take(words, n * sizeof *words);
}

/* The mean of A (of N) and B (of M) together; a mean of nothing is negative. */
static double
join_means(double a, guint64 n, double b, guint64 m)
{
	if (n == 0 || m == 0)
		return n == 0 ? b : a;
	return (a * (double)n + b * (double)m) / (double)(n + m);
}

static void
merge_node(WpPatternNode *to, const WpPatternNode *from)
{
	to->probability =
		join_means(to->probability, to->n_probable, from->probability, from->n_probable);
	to->n_probable += from->n_probable;
	to->n_waits += from->n_waits;
	to->n_messages += from->n_messages;
	to->n_lost += from->n_lost;
	to->n_parallel += from->n_parallel;
	to->errors += from->errors;
	to->bytes_call += from->bytes_call;
	to->bytes_return += from->bytes_return;
	wp_delay_merge(to->latency, from->latency);
	wp_delay_merge(to->self_time, from->self_time);
	wp_delay_merge(to->server_time, from->server_time);
	if (to->call_delay && from->call_delay)
		wp_delay_merge(to->call_delay, from->call_delay);
}

/* Of the exemplars of both, the nearest to each quantile of TO, whose times are merged; else the later. */
static void
merge_exemplars(WpPattern *to, const WpPattern *from)
{
	WpExemplar best[WP_PATTERN_N_EXEMPLARS];

	for (guint i = 0; i < WP_PATTERN_N_EXEMPLARS; i++) {
		double quantile = to->exemplars[i].quantile;
		gint64 wanted = wp_delay_quantile_ns(to->nodes[0].latency, quantile);
		gint64 nearest = G_MAXINT64;
		for (guint k = 0; k < 2 * WP_PATTERN_N_EXEMPLARS; k++) {
			const WpExemplar *one =
				k < WP_PATTERN_N_EXEMPLARS
					? &to->exemplars[k]
					: &from->exemplars[k - WP_PATTERN_N_EXEMPLARS];
			gint64 gap = ABS(one->latency_ns - wanted);
			if (gap > nearest)
				continue;
			nearest = gap;
			best[i] = *one;
			best[i].quantile = quantile;
		}
	}
	memcpy(to->exemplars, best, sizeof best);
}

/* Adds FROM to TO, which has the same tree; or, where TO has none, its root alone. */
static void
merge_pattern(WpPattern *to, const WpPattern *from)
{
	to->path_odds = join_means(to->path_odds, to->n_judged, from->path_odds, from->n_judged);
	to->links_odds = join_means(to->links_odds, to->n_linked, from->links_odds, from->n_linked);
	to->n_judged += from->n_judged;
	to->n_linked += from->n_linked;
	to->count += from->count;
	to->has_hole &= from->has_hole; /* one without shows that there are such requests */
	for (guint32 i = 0; i < to->n_nodes; i++)
		merge_node(&to->nodes[i], &from->nodes[i]);
	merge_exemplars(to, from);
}

/* PATTERN (transfer full) becomes one of those of SUM, or part of one. */
static void
take_pattern(WpPatternSum *sum, WpPattern *pattern)
{
	g_autoptr(GBytes) key = key_of(pattern);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(sum->by_tree, key));

	if (number) {
		merge_pattern(&g_array_index(sum->patterns, WpPattern, number - 1), pattern);
		wp_pattern_clear(pattern);
		return;
	}
	g_array_append_val(sum->patterns, *pattern);
	sum->n_nodes += pattern->n_nodes;
	g_hash_table_insert(sum->by_tree, g_bytes_ref(key), GUINT_TO_POINTER(sum->patterns->len));
}

/* --- the rarest without a tree --- */

/* PATTERN without what is below its root, of which only the number is kept. */
static void
cut_tree(WpPattern *pattern)
{
	for (guint32 i = 1; i < pattern->n_nodes; i++) {
		pattern->n_rest_calls +=
			pattern->count - pattern->nodes[i].n_messages - pattern->nodes[i].n_lost;
		pattern->n_rest_messages += pattern->nodes[i].n_messages;
		wp_pattern_node_clear(&pattern->nodes[i]);
	}
	pattern->nodes = g_renew(WpPatternNode, pattern->nodes, 1);
	pattern->n_nodes = 1;
	pattern->n_rest = MAX(pattern->n_rest, 1);
}

/* PATTERN (transfer full) goes into the rest of its operation. */
static void
take_rest(WpPatternSum *sum, WpPattern *pattern)
{
	guint32 number =
		get_root(sum, pattern->client, pattern->nodes[0].node, pattern->nodes[0].label);
	Root *root = &g_array_index(sum->roots, Root, number);

	cut_tree(pattern);
	if (root->rest == NONE) {
		root->rest = sum->patterns->len;
		sum->n_nodes++;
		g_array_append_val(sum->patterns, *pattern);
		return;
	}
	WpPattern *rest = &g_array_index(sum->patterns, WpPattern, root->rest);
	merge_pattern(rest, pattern);
	rest->n_rest += pattern->n_rest;
	rest->n_rest_calls += pattern->n_rest_calls;
	rest->n_rest_messages += pattern->n_rest_messages;
	wp_pattern_clear(pattern);
}

static int
compare_counts(gconstpointer a, gconstpointer b)
{
	const WpPattern *left = a, *right = b;

	return left->count > right->count ? -1 : left->count < right->count;
}

/* Takes all patterns anew; of those sorted by COUNT only so many as make HALF of the limit keep a tree. */
static void
take_again(WpPatternSum *sum, gboolean folds)
{
	g_autoptr(GArray) old = g_steal_pointer(&sum->patterns);

	if (folds)
		g_array_sort(old, compare_counts); /* stable: of equal ones the first met */
	sum->patterns = g_array_new(FALSE, FALSE, sizeof(WpPattern));
	g_hash_table_remove_all(sum->by_tree);
	sum->n_nodes = 0;
	for (guint i = 0; i < sum->roots->len; i++)
		g_array_index(sum->roots, Root, i).rest = NONE;
	for (guint i = 0; i < old->len; i++) {
		WpPattern *pattern = &g_array_index(old, WpPattern, i);
		if (pattern->n_rest) {
			take_rest(sum, pattern);
		} else if (folds &&
			   sum->n_nodes + pattern->n_nodes > WP_PATTERN_SUM_MAX_NODES / 2) {
			sum->n_folded++;
			take_rest(sum, pattern);
		} else {
			take_pattern(sum, pattern);
		}
	}
}

/* --- the whole --- */

static void
add_totals(WpPatternSum *sum, const WpPatternSet *set)
{
	WpPatternSet *totals = &sum->totals;

	if (totals->n_roots + set->n_roots)
		totals->lost_share = join_means(totals->lost_share, totals->n_roots,
						set->lost_share, set->n_roots);
	totals->n_holed += set->n_holed;
	totals->n_estimated += set->n_estimated;
	totals->n_roots += set->n_roots;
	totals->n_unlinked += set->n_unlinked;
	totals->n_unpaired += set->n_unpaired;
	totals->n_one_way += set->n_one_way;
	totals->n_setup += set->n_setup;
	totals->n_unseen += set->n_unseen;
	totals->n_stopped += set->n_stopped;
	totals->n_below_unseen += set->n_below_unseen;
	totals->n_with_candidates += set->n_with_candidates;
	sum->n_candidates += set->parallelism * (double)set->n_with_candidates;
}

void
wp_pattern_sum_add(WpPatternSum *sum, WpPatternSet *set)
{
	for (guint32 i = 0; i < set->n_operations; i++) {
		const WpOperation *operation = &set->operations[i];
		guint32 root = get_root(sum, operation->client, operation->node, operation->label);
		wp_place_sum_add(sum->places, root, operation);
	}
	for (guint32 i = 0; i < set->n_patterns; i++)
		take_pattern(sum, &set->patterns[i]);
	set->n_patterns = 0;
	add_totals(sum, set);
	if (sum->n_nodes > WP_PATTERN_SUM_MAX_NODES)
		take_again(sum, TRUE);
}

void
wp_pattern_sum_move(WpPatternSum *sum, const WpResolved *resolved)
{
	g_autoptr(GArray) old = g_steal_pointer(&sum->roots);
	g_autofree guint32 *roots = g_new(guint32, old->len + 1);

	wp_map_free(sum->callers);
	wp_map_free(sum->root_numbers);
	sum->callers = wp_map_new();
	sum->root_numbers = wp_map_new();
	sum->roots = g_array_new(FALSE, FALSE, sizeof(Root));
	for (guint i = 0; i < old->len; i++) {
		const Root *root = &g_array_index(old, Root, i);
		guint32 node = wp_resolved_callee_now(resolved, root->node);
		roots[i] = get_root(sum, wp_resolved_caller_now(resolved, root->client), node,
				    wp_resolved_label_now(resolved, node, root->label));
	}
	wp_place_sum_move(sum->places, roots, resolved);
	for (guint i = 0; i < sum->patterns->len; i++) {
		WpPattern *pattern = &g_array_index(sum->patterns, WpPattern, i);
		pattern->client = wp_resolved_caller_now(resolved, pattern->client);
		for (guint32 k = 0; k < pattern->n_nodes; k++) {
			WpPatternNode *node = &pattern->nodes[k];
			node->node = wp_resolved_callee_now(resolved, node->node);
			node->label = wp_resolved_label_now(resolved, node->node, node->label);
		}
	}
	take_again(sum, FALSE);
}

static guint32 *
rank_labels(const WpPatternSum *sum, WpNodes *nodes)
{
	guint32 n = wp_strings_count(wp_nodes_strings(nodes));
	guint32 *ranks = g_new0(guint32, n + 1);
	g_autoptr(GArray) names = wp_place_sum_labels(sum->places, nodes);

	wp_path_rank_texts((WpRankedText *)(void *)names->data, names->len, ranks);
	return ranks;
}

static int
compare_patterns(gconstpointer a, gconstpointer b, gpointer data)
{
	return wp_pattern_compare(a, b, data);
}

WpPatternSet *
wp_pattern_sum_finish(WpPatternSum *sum, const WpResolved *resolved)
{
	WpNodes *nodes = wp_trace_nodes(wp_resolved_trace(resolved));
	WpPatternSet *set = g_memdup2(&sum->totals, sizeof sum->totals);
	g_autofree guint32 *node_ranks = wp_pattern_rank_nodes(resolved);
	g_autofree guint32 *label_ranks = rank_labels(sum, nodes);
	WpPatternRanks ranks = { node_ranks, label_ranks };

	for (guint i = 0; i < sum->patterns->len; i++) {
		WpPattern *pattern = &g_array_index(sum->patterns, WpPattern, i);
		wp_pattern_judge(pattern, nodes);
		set->total_ns += pattern->is_background ? 0 : pattern->total_ns;
	}
	g_array_sort_with_data(sum->patterns, compare_patterns, &ranks);
	set->n_patterns = sum->patterns->len;
	set->patterns = (WpPattern *)(void *)g_array_free(sum->patterns, FALSE);
	sum->patterns = g_array_new(FALSE, FALSE, sizeof(WpPattern));
	g_hash_table_remove_all(sum->by_tree);
	wp_operations_gather(set, node_ranks, label_ranks);
	g_autofree guint32 *operations = g_new(guint32, sum->roots->len + 1);
	for (guint32 i = 0; i < set->n_operations; i++) {
		const WpOperation *operation = &set->operations[i];
		operations[get_root(sum, operation->client, operation->node, operation->label)] = i;
	}
	wp_place_sum_finish(sum->places, set, operations, node_ranks, label_ranks);
	if (set->n_with_candidates)
		set->parallelism = sum->n_candidates / (double)set->n_with_candidates;
	return set;
}

guint64
wp_pattern_sum_n_folded(const WpPatternSum *sum)
{
	return sum->n_folded + wp_place_sum_n_folded(sum->places);
}

WpPatternSum *
wp_pattern_sum_new(void)
{
	WpPatternSum *sum = g_new0(WpPatternSum, 1);

	sum->patterns = g_array_new(FALSE, FALSE, sizeof(WpPattern));
	sum->by_tree = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
					     (GDestroyNotify)g_bytes_unref, NULL);
	sum->roots = g_array_new(FALSE, FALSE, sizeof(Root));
	sum->callers = wp_map_new();
	sum->root_numbers = wp_map_new();
	sum->places = wp_place_sum_new();
	return sum;
}

void
wp_pattern_sum_free(WpPatternSum *sum)
{
	if (!sum)
		return;
	for (guint i = 0; i < sum->patterns->len; i++)
		wp_pattern_clear(&g_array_index(sum->patterns, WpPattern, i));
	g_array_unref(sum->patterns);
	g_hash_table_unref(sum->by_tree);
	g_array_unref(sum->roots);
	wp_map_free(sum->callers);
	wp_map_free(sum->root_numbers);
	wp_place_sum_free(sum->places);
	g_free(sum);
}
