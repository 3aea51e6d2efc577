/*
 * Counters: one array of totals, and a hash table of pairs whose arrays are allocated when a pair
 * first counts something.
 */
#include "capture/counters.h"

#include <string.h>

const WpCounterInfo wp_counter_info[WP_N_COUNTERS] = {
#define X(symbol, name, severity, text) { name, text, WP_SEVERITY_##severity },
	WP_COUNTERS(X)
#undef X
};

struct WpCounters {
	guint64 totals[WP_N_COUNTERS];
	GHashTable *pairs; /* &Pair.key -> Pair */
};

typedef struct {
	gint64 key; /* sender << 32 | receiver */
	guint64 counts[WP_N_COUNTERS];
} Pair;

/* g_int64_hash() looks at the lower half alone: all clients of one server would collide. */
static guint
hash_pair(gconstpointer key)
{
	return (guint)((*(const guint64 *)key * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> 32);
}

WpCounters *
wp_counters_new(void)
{
	WpCounters *counters = g_new0(WpCounters, 1);
	counters->pairs = g_hash_table_new_full(hash_pair, g_int64_equal, NULL, g_free);
	return counters;
}

void
wp_counters_free(WpCounters *counters)
{
	if (!counters)
		return;
	g_hash_table_unref(counters->pairs);
	g_free(counters);
}

void
wp_counters_add(WpCounters *counters, WpCounter counter, guint64 n)
{
	counters->totals[counter] += n;
}

static Pair *
find_pair(WpCounters *counters, guint32 sender, guint32 receiver)
{
	gint64 key = (gint64)((guint64)sender << 32 | receiver);
	Pair *pair = g_hash_table_lookup(counters->pairs, &key);
	if (!pair && g_hash_table_size(counters->pairs) < WP_COUNTERS_MAX_PAIRS) {
		pair = g_new0(Pair, 1);
		pair->key = key;
		g_hash_table_insert(counters->pairs, &pair->key, pair);
	}
	return pair;
}

void
wp_counters_add_pair(WpCounters *counters, WpCounter counter, guint32 sender, guint32 receiver,
		     guint64 n)
{
	counters->totals[counter] += n;
	Pair *pair = find_pair(counters, sender, receiver);
	if (pair)
		pair->counts[counter] += n;
}

guint64
wp_counters_get(const WpCounters *counters, WpCounter counter)
{
	return counters->totals[counter];
}

void
wp_counters_merge(WpCounters *counters, const WpCounters *other)
{
	GHashTableIter iter;
	gpointer value;

	for (int i = 0; i < WP_N_COUNTERS; i++)
		counters->totals[i] += other->totals[i];
	g_hash_table_iter_init(&iter, other->pairs);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const Pair *from = value;
		guint64 key = (guint64)from->key;
		Pair *to = find_pair(counters, (guint32)(key >> 32), (guint32)key);
		for (int i = 0; to && i < WP_N_COUNTERS; i++)
			to->counts[i] += from->counts[i];
	}
}

static int
compare_pairs(gconstpointer a, gconstpointer b)
{
	guint64 x = (guint64)((const Pair *)a)->key, y = (guint64)((const Pair *)b)->key;
	return x < y ? -1 : x > y;
}

void
wp_counters_foreach_pair(const WpCounters *counters, WpCounterPairFunc func, gpointer data)
{
	g_autoptr(GList) pairs = g_hash_table_get_values(counters->pairs);
	pairs = g_list_sort(pairs, compare_pairs);
	for (int i = 0; i < WP_N_COUNTERS; i++)
		for (const GList *l = pairs; l; l = l->next) {
			const Pair *pair = l->data;
			guint64 key = (guint64)pair->key;
			if (pair->counts[i])
				func(i, (guint32)(key >> 32), (guint32)key, pair->counts[i], data);
		}
}

gboolean
wp_counter_from_name(const char *name, WpCounter *out_counter)
{
	for (int i = 0; i < WP_N_COUNTERS; i++)
		if (strcmp(wp_counter_info[i].name, name) == 0) {
			*out_counter = i;
			return TRUE;
		}
	return FALSE;
}
