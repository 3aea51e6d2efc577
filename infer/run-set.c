/* Distances depend on the two chains alone: each pair is computed once, when it is first asked for. */
#include "infer/run-set.h"

#include <math.h>

#include "infer/map.h"

typedef struct {
	guint32 role;
	guint32 entry;
	guint32 chain;
	double weight;
} Item;

typedef struct {
	WpChainFrame *frames;
	guint n;
} Chain;

struct WpRunSet {
	const WpChainMetric *metric;
	GPtrArray *runs; /* GArray of Item; sorted, each chain once, when is_sorted */
	GArray *chains;  /* Chain */
	GHashTable *numbers;
	WpMap *pairs; /* (chain, chain) -> place in distances */
	GArray *distances;
	guint64 n_left;
	gboolean is_sorted;
};

static void
clear_chain(gpointer data)
{
	g_free(((Chain *)data)->frames);
}

WpRunSet *
wp_run_set_new(const WpChainMetric *metric)
{
	WpRunSet *set = g_new0(WpRunSet, 1);
	set->metric = metric;
	set->runs = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	set->chains = g_array_new(FALSE, FALSE, sizeof(Chain));
	g_array_set_clear_func(set->chains, clear_chain);
	set->numbers = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
					     (GDestroyNotify)g_bytes_unref, NULL);
	set->pairs = wp_map_new();
	set->distances = g_array_new(FALSE, FALSE, sizeof(double));
	return set;
}

void
wp_run_set_free(WpRunSet *set)
{
	if (!set)
		return;
	g_ptr_array_unref(set->runs);
	g_array_unref(set->chains);
	g_hash_table_unref(set->numbers);
	wp_map_free(set->pairs);
	g_array_unref(set->distances);
	g_free(set);
}

guint32
wp_run_set_add_run(WpRunSet *set)
{
	g_ptr_array_add(set->runs, g_array_new(FALSE, FALSE, sizeof(Item)));
	return set->runs->len - 1;
}

guint32
wp_run_set_chain(WpRunSet *set, const WpChainFrame *frames, guint n)
{
	gpointer number;

	n = MIN(n, WP_RUN_SET_MAX_FRAMES);
	g_autoptr(GBytes) key = g_bytes_new(frames, n * sizeof *frames);
	if (g_hash_table_lookup_extended(set->numbers, key, NULL, &number))
		return GPOINTER_TO_UINT(number);
	if (set->chains->len == WP_RUN_SET_MAX_CHAINS) {
		set->n_left++;
		return G_MAXUINT32;
	}
	Chain chain = { g_memdup2(frames, n * sizeof *frames), n };
	g_array_append_val(set->chains, chain);
	g_hash_table_insert(set->numbers, g_steal_pointer(&key),
			    GUINT_TO_POINTER(set->chains->len - 1));
	return set->chains->len - 1;
}

const WpChainFrame *
wp_run_set_frames(const WpRunSet *set, guint32 chain, guint *out_n)
{
	const Chain *found = &g_array_index(set->chains, Chain, chain);
	*out_n = found->n;
	return found->frames;
}

void
wp_run_set_count(WpRunSet *set, guint32 run, guint32 role, guint32 entry, guint32 chain,
		 double weight)
{
	Item item = { role, entry, chain, weight };
	g_array_append_val((GArray *)set->runs->pdata[run], item);
}

guint64
wp_run_set_n_left(const WpRunSet *set)
{
	return set->n_left;
}

/* By role and entry. */
static int
compare_groups(const Item *a, const Item *b)
{
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static int
compare_items(gconstpointer a, gconstpointer b)
{
	const Item *left = a, *right = b;
	int order = compare_groups(left, right);
	return order ? order : left->chain < right->chain ? -1 : left->chain > right->chain;
}

/* Items that are alike become one. */
static void
sort_run(GArray *run)
{
	guint kept = 0;

	g_array_sort(run, compare_items);
	for (guint i = 0; i < run->len; i++) {
		Item *item = &g_array_index(run, Item, i);
		Item *last = kept ? &g_array_index(run, Item, kept - 1) : NULL;
		if (last && compare_items(last, item) == 0)
			last->weight += item->weight;
		else
			g_array_index(run, Item, kept++) = *item;
	}
	g_array_set_size(run, kept);
}

/* CHAIN_B G_MAXUINT32: to the empty chain. */
static double
chain_distance(WpRunSet *set, guint32 chain_a, guint32 chain_b)
{
	static const Chain empty = { NULL, 0 };
	guint64 key = wp_map_key(MIN(chain_a, chain_b), MAX(chain_a, chain_b));
	guint32 at = wp_map_number(set->pairs, key);

	if (at == set->distances->len) {
		const Chain *a = &g_array_index(set->chains, Chain, chain_a);
		const Chain *b = chain_b == G_MAXUINT32
					 ? &empty
					 : &g_array_index(set->chains, Chain, chain_b);
		double distance = wp_chain_distance(set->metric, a->frames, a->n, b->frames, b->n);
		g_array_append_val(set->distances, distance);
	}
	return g_array_index(set->distances, double, at);
}

/* From ITEM to the nearest chain of B in its group, which begins at *FROM or behind; *FROM is moved there. */
static double
nearest(WpRunSet *set, const Item *item, const GArray *b, guint *from)
{
	double best = INFINITY;

	while (*from < b->len && compare_groups(&g_array_index(b, Item, *from), item) < 0)
		++*from;
	for (guint i = *from; i < b->len; i++) {
		const Item *other = &g_array_index(b, Item, i);
		if (compare_groups(other, item) != 0)
			break;
		if (other->chain == item->chain)
			return 0;
		best = MIN(best, chain_distance(set, item->chain, other->chain));
	}
	return isfinite(best) ? best : chain_distance(set, item->chain, G_MAXUINT32);
}

/* Of A to B; in PARTS (may be NULL), added, what each chain has in it. */
static double
compare_runs(WpRunSet *set, const GArray *a, const GArray *b, double *parts)
{
	double sum = 0;
	guint from = 0;

	for (guint i = 0; i < a->len; i++) {
		const Item *item = &g_array_index(a, Item, i);
		double part = item->weight > 0 ? item->weight * nearest(set, item, b, &from) : 0;
		sum += part;
		if (parts)
			parts[item->chain] += part;
	}
	return sum;
}

double *
wp_run_set_matrix(WpRunSet *set)
{
	guint n = set->runs->len;
	double *matrix = g_new0(double, (gsize)n *n);

	for (guint i = 0; i < n && !set->is_sorted; i++)
		sort_run(set->runs->pdata[i]);
	set->is_sorted = TRUE;
	for (guint i = 0; i < n; i++)
		for (guint j = i + 1; j < n; j++) {
			const GArray *a = set->runs->pdata[i], *b = set->runs->pdata[j];
			matrix[(gsize)i * n + j] = matrix[(gsize)j * n + i] =
				compare_runs(set, a, b, NULL) + compare_runs(set, b, a, NULL);
		}
	return matrix;
}

static int
compare_reasons(gconstpointer a, gconstpointer b)
{
	const WpRunReason *left = a, *right = b;
	if (left->distance != right->distance)
		return left->distance > right->distance ? -1 : 1;
	if (left->is_missing != right->is_missing)
		return left->is_missing ? 1 : -1;
	return left->chain < right->chain ? -1 : left->chain > right->chain;
}

static void
add_reasons(GArray *reasons, const double *parts, guint n_chains, guint n_others,
	    gboolean is_missing)
{
	for (guint32 i = 0; i < n_chains; i++) {
		WpRunReason reason = { i, is_missing, parts[i] / n_others };
		if (reason.distance > 0)
			g_array_append_val(reasons, reason);
	}
}

GArray *
wp_run_set_explain(WpRunSet *set, guint32 run)
{
	guint n = set->runs->len, n_chains = set->chains->len;
	g_autofree double *own = g_new0(double, (gsize)n_chains + 1);
	g_autofree double *missing = g_new0(double, (gsize)n_chains + 1);
	GArray *reasons = g_array_new(FALSE, FALSE, sizeof(WpRunReason));

	for (guint i = 0; i < n; i++) {
		if (i == run)
			continue;
		compare_runs(set, set->runs->pdata[run], set->runs->pdata[i], own);
		compare_runs(set, set->runs->pdata[i], set->runs->pdata[run], missing);
	}
	add_reasons(reasons, own, n_chains, MAX(n, 2) - 1, FALSE);
	add_reasons(reasons, missing, n_chains, MAX(n, 2) - 1, TRUE);
	g_array_sort(reasons, compare_reasons);
	return reasons;
}
