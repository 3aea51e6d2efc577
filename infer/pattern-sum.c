/* Sums of patterns, by client and tree. The order of adding is that of the parts, so sums repeat. */
#include "infer/pattern-sum.h"

#include <math.h>
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

/* Folded patterns that are known again; beyond, one that comes again counts as another. */
#define MAX_FOLDED 1000000

struct WpPatternSum {
	GArray *patterns;    /* WpPattern */
	GHashTable *by_tree; /* GBytes -> index + 1; those without a tree are not here */
	GArray *roots;       /* Root */
	WpMap *callers;      /* (client, node) -> number */
	WpMap *root_numbers; /* (that, label) -> root */
	WpPlaceSum *places;
	gsize n_nodes; /* of all patterns */
	guint64 n_folded;
	WpMap *folded;       /* hashes of those, as long as there is room: one may come again */
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
	to->critical_ns += from->critical_ns;
	to->connecting_ns += from->connecting_ns;
	wp_delay_merge(to->latency, from->latency);
	wp_delay_merge(to->self_time, from->self_time);
	wp_delay_merge(to->server_time, from->server_time);
	wp_delay_merge(to->network_time, from->network_time);
	if (to->call_delay && from->call_delay)
		wp_delay_merge(to->call_delay, from->call_delay);
}

/* How far an exemplar of PATTERN is from what place I among them asks for. */
static double
gap_of(const WpPattern *pattern, guint i, const WpExemplar *one)
{
	if (i == WP_PATTERN_TYPICAL)
		return one->instance ? wp_pattern_distance_ns(pattern, one->instance) : 0;
	double quantile = pattern->exemplars[i].quantile;
	return ABS((double)(one->latency_ns -
			    wp_delay_quantile_ns(pattern->nodes[0].latency, quantile)));
}

/* Of the exemplars of both, the nearest to each quantile of TO, whose times are merged; else the later. */
static void
merge_exemplars(WpPattern *to, const WpPattern *from)
{
	WpExemplar best[WP_PATTERN_N_EXEMPLARS];

	for (guint i = 0; i < WP_PATTERN_N_EXEMPLARS; i++) {
		double nearest = HUGE_VAL;
		for (guint k = 0; k < 2 * WP_PATTERN_N_EXEMPLARS; k++) {
			const WpExemplar *one =
				k < WP_PATTERN_N_EXEMPLARS
					? &to->exemplars[k]
					: &from->exemplars[k - WP_PATTERN_N_EXEMPLARS];
			double gap = gap_of(to, i, one);
			if (gap > nearest)
				continue;
			nearest = gap;
			best[i] = *one;
		}
		best[i].quantile = to->exemplars[i].quantile;
	}
	for (guint i = 0; i < WP_PATTERN_N_EXEMPLARS; i++)
		if (best[i].instance)
			wp_instance_ref(best[i].instance);
	wp_exemplars_clear(to->exemplars, to->n_exemplars);
	memcpy(to->exemplars, best, sizeof best);
}

/* TO, which has the same tree or none, keeps what FROM does. */
static void
merge_kept(WpPattern *to, WpPattern *from)
{
	if (!from->kept)
		return;
	if (!to->kept)
		to->kept = g_ptr_array_new_with_free_func((GDestroyNotify)wp_instance_unref);
	for (guint i = 0; i < from->kept->len; i++)
		g_ptr_array_add(to->kept, wp_instance_ref(from->kept->pdata[i]));
}

/* Adds FROM to TO, which has the same tree; or, where TO has none, its root alone. */
static void
merge_pattern(WpPattern *to, WpPattern *from)
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
	merge_kept(to, from);
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
	wp_exemplars_clear(pattern->exemplars, pattern->n_exemplars);
	for (guint i = 0; pattern->kept && i < pattern->kept->len; i++)
		wp_instance_replace(pattern->kept->pdata[i], NULL);
	pattern->n_rest = MAX(pattern->n_rest, 1);
}

static guint64
hash_of(GBytes *key)
{
	gsize n;
	const guint8 *bytes = g_bytes_get_data(key, &n);
	guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325);
	for (gsize i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * G_GUINT64_CONSTANT(0x100000001b3);
	return hash;
}

/* TRUE where PATTERN was folded before: then it is not another one. */
static gboolean
is_known_folded(WpPatternSum *sum, const WpPattern *pattern)
{
	g_autoptr(GBytes) key = key_of(pattern);
	guint64 hash = hash_of(key);

	if (wp_map_find(sum->folded, hash) != WP_MAP_NONE)
		return TRUE;
	if (wp_map_count(sum->folded) < MAX_FOLDED)
		wp_map_at(sum->folded, hash, 1);
	return FALSE;
}

/* PATTERN (transfer full) goes into the rest of its operation. */
static void
take_rest(WpPatternSum *sum, WpPattern *pattern)
{
	guint32 number =
		get_root(sum, pattern->client, pattern->nodes[0].node, pattern->nodes[0].label);
	Root *root = &g_array_index(sum->roots, Root, number);

	if (root->rest == NONE) {
		root->rest = sum->patterns->len;
		pattern->n_rest = MAX(pattern->n_rest, 1);
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
	for (guint i = 0; i < old->len; i++)
		if (g_array_index(old, WpPattern, i).n_rest)
			take_rest(sum, &g_array_index(old, WpPattern, i));
	for (guint i = 0; i < old->len; i++) {
		WpPattern *pattern = &g_array_index(old, WpPattern, i);
		if (pattern->n_rest)
			continue; /* is there already */
		if (folds && sum->n_nodes + pattern->n_nodes > WP_PATTERN_SUM_MAX_NODES / 2) {
			gboolean is_known = is_known_folded(sum, pattern);
			sum->n_folded += !is_known;
			cut_tree(pattern);
			pattern->n_rest -= is_known;
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
wp_pattern_sum_add(WpPatternSum *sum, WpPatternSet *set, const WpKeep *keep)
{
	for (guint32 i = 0; i < set->n_operations; i++) {
		const WpOperation *operation = &set->operations[i];
		guint32 root = get_root(sum, operation->client, operation->node, operation->label);
		wp_place_sum_add(sum->places, root, operation);
	}
	for (guint32 i = 0; i < set->n_patterns; i++)
		take_pattern(sum, &set->patterns[i]);
	set->n_patterns = 0;
	for (guint i = 0; keep && i < sum->patterns->len; i++)
		wp_pattern_prune_kept(&g_array_index(sum->patterns, WpPattern, i), keep);
	add_totals(sum, set);
	if (sum->n_nodes > WP_PATTERN_SUM_MAX_NODES)
		take_again(sum, TRUE);
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

/* --- siblings in order again --- */

/* A part of a pattern: a node and all below it. */
typedef struct {
	guint32 begin;
	guint32 end;
} Part;

static int
compare_parts(const WpPattern *pattern, const Part *a, const Part *b, const WpPatternRanks *ranks)
{
	const WpPatternNode *x = &pattern->nodes[a->begin], *y = &pattern->nodes[b->begin];
	int order = wp_path_compare(ranks->nodes, x->node, y->node);
	return order ? order : wp_path_compare(ranks->labels, x->label, y->label);
}

/* Sorts N parts that follow each other; those that are equal stay as they are. */
static void
sort_parts(WpPattern *pattern, Part *parts, guint n, const WpPatternRanks *ranks)
{
	guint32 begin = parts[0].begin, end = parts[n - 1].end, at = 0;

	for (guint i = 1; i < n; i++) {
		Part part = parts[i];
		guint k = i;
		for (; k > 0 && compare_parts(pattern, &part, &parts[k - 1], ranks) < 0; k--)
			parts[k] = parts[k - 1];
		parts[k] = part;
	}
	g_autofree WpPatternNode *sorted = g_new(WpPatternNode, end - begin);
	for (guint i = 0; i < n; i++)
		for (guint32 k = parts[i].begin; k < parts[i].end; k++)
			sorted[at++] = pattern->nodes[k];
	memcpy(pattern->nodes + begin, sorted, at * sizeof sorted[0]);
}

/* Sorts the children of node NUMBER that follow each other and overlap in time. */
static void
sort_children(WpPattern *pattern, guint32 number, const WpPatternRanks *ranks, GArray *parts)
{
	const WpPatternNode *nodes = pattern->nodes;
	guint32 depth = nodes[number].depth + 1, at = number + 1;

	while (at < pattern->n_nodes && nodes[at].depth >= depth) {
		g_array_set_size(parts, 0);
		for (gboolean is_run = TRUE;
		     is_run && at < pattern->n_nodes && nodes[at].depth == depth;) {
			Part part = { at, at + 1 };
			while (part.end < pattern->n_nodes && nodes[part.end].depth > depth)
				part.end++;
			is_run = nodes[at].n_parallel > 0;
			if (!is_run && parts->len > 0)
				break; /* begins another */
			g_array_append_val(parts, part);
			at = part.end;
		}
		if (parts->len > 1)
			sort_parts(pattern, (Part *)(void *)parts->data, parts->len, ranks);
	}
}

static void
set_parents(WpPattern *pattern)
{
	g_autofree guint32 *latest = g_new0(guint32, (gsize)pattern->n_nodes + 1); /* by depth */
	for (guint32 i = 0; i < pattern->n_nodes; i++) {
		WpPatternNode *node = &pattern->nodes[i];
		latest[node->depth] = i;
		node->parent = i ? latest[node->depth - 1] : G_MAXUINT32;
	}
}

/* Calls FUNC for each instance that PATTERN has, once. */
static void
foreach_instance(WpPattern *pattern, void (*func)(WpInstance *, gconstpointer), gconstpointer data)
{
	for (guint i = 0; i < pattern->n_exemplars; i++) {
		WpInstance *instance = pattern->exemplars[i].instance;
		for (guint k = 0; k < i; k++)
			if (pattern->exemplars[k].instance == instance)
				instance = NULL;
		if (instance)
			func(instance, data);
	}
	for (guint i = 0; pattern->kept && i < pattern->kept->len; i++)
		func(pattern->kept->pdata[i], data);
}

static void
move_instance(WpInstance *instance, gconstpointer data)
{
	wp_instance_move(instance, data);
}

static void
replace_instance(WpInstance *instance, gconstpointer data)
{
	wp_instance_replace(instance, data);
}

/*
 * After nodes or labels have become others, siblings that overlap stand in the order of their new names. Which of
 * them overlapped which is no longer known, so all that follow each other and overlap a sibling are sorted.
 */
static void
sort_pattern(WpPattern *pattern, const WpPatternRanks *ranks)
{
	g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof(Part));

	for (guint32 i = 0; i < pattern->n_nodes; i++)
		pattern->nodes[i].was = i;
	for (guint32 i = pattern->n_nodes; i-- > 0;)
		sort_children(pattern, i, ranks, parts);
	set_parents(pattern);
	g_autofree guint32 *now = g_new(guint32, (gsize)pattern->n_nodes + 1);
	for (guint32 i = 0; i < pattern->n_nodes; i++)
		now[pattern->nodes[i].was] = i;
	foreach_instance(pattern, replace_instance, now);
}

/* FALSE: it is as it was. */
static gboolean
move_pattern(WpPattern *pattern, const WpResolved *resolved)
{
	gboolean has_changed = FALSE;

	foreach_instance(pattern, move_instance, resolved);

	pattern->client = wp_resolved_caller_now(resolved, pattern->client);
	for (guint32 k = 0; k < pattern->n_nodes; k++) {
		WpPatternNode *node = &pattern->nodes[k];
		guint32 was = node->node, label = node->label;
		node->node = wp_resolved_callee_now(resolved, node->node);
		node->label = wp_resolved_label_now(resolved, node->node, node->label);
		has_changed |= node->node != was || node->label != label;
	}
	return has_changed;
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
	g_autofree guint32 *node_ranks = wp_pattern_rank_nodes(resolved);
	g_autofree guint32 *label_ranks =
		rank_labels(sum, wp_trace_nodes(wp_resolved_trace(resolved)));
	const WpPatternRanks ranks = { node_ranks, label_ranks };
	for (guint i = 0; i < sum->patterns->len; i++)
		if (move_pattern(&g_array_index(sum->patterns, WpPattern, i), resolved))
			sort_pattern(&g_array_index(sum->patterns, WpPattern, i), &ranks);
	take_again(sum, FALSE);
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
	sum->folded = wp_map_new();
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
	wp_map_free(sum->folded);
	wp_place_sum_free(sum->places);
	g_free(sum);
}
