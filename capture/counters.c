/*
 * Counters: one array of totals, and pairs with those few counters that they have, found through an
 * open-addressing table. Some 150 bytes a pair.
 */
#include "capture/counters.h"

#include <string.h>

const WpCounterInfo wp_counter_info[WP_N_COUNTERS] = {
#define X(symbol, name, severity, text) { name, text, WP_SEVERITY_##severity },
	WP_COUNTERS(X)
#undef X
};

#define FIRST_SLOTS  64
#define FIRST_COUNTS 4 /* of a pair */

typedef struct {
	guint64 n;
	guint32 counter;
} Count;

typedef struct {
	guint64 key;   /* sender << 32 | receiver */
	Count *counts; /* in order of first use */
	guint32 n_counts;
	guint32 n_allocated;
} Pair;

struct WpCounters {
	guint64 totals[WP_N_COUNTERS];
	GArray *pairs;   /* Pair, in order of first use */
	guint32 *slots;  /* pair + 1; 0 = free */
	guint32 n_slots; /* a power of two, at least twice the pairs */
	guint32 latest;  /* pair; one is seldom asked for once */
};

static void
clear_pair(gpointer data)
{
	g_free(((Pair *)data)->counts);
}

WpCounters *
wp_counters_new(void)
{
	WpCounters *counters = g_new0(WpCounters, 1);
	counters->pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
	g_array_set_clear_func(counters->pairs, clear_pair);
	counters->n_slots = FIRST_SLOTS;
	counters->slots = g_new0(guint32, counters->n_slots);
	return counters;
}

void
wp_counters_free(WpCounters *counters)
{
	if (!counters)
		return;
	g_array_unref(counters->pairs);
	g_free(counters->slots);
	g_free(counters);
}

void
wp_counters_add(WpCounters *counters, WpCounter counter, guint64 n)
{
	counters->totals[counter] += n;
}

static Pair *
get_pair(const WpCounters *counters, guint32 index)
{
	return &g_array_index(counters->pairs, Pair, index);
}

/* The slot where KEY is or would be. */
static guint32 *
find_slot(const WpCounters *counters, guint64 key)
{
	guint32 mask = counters->n_slots - 1;
	guint32 slot = (guint32)((key * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> 32) & mask;
	while (counters->slots[slot] && get_pair(counters, counters->slots[slot] - 1)->key != key)
		slot = (slot + 1) & mask;
	return &counters->slots[slot];
}

static void
grow_slots(WpCounters *counters)
{
	g_free(counters->slots);
	counters->n_slots *= 2;
	counters->slots = g_new0(guint32, counters->n_slots);
	for (guint32 i = 0; i < counters->pairs->len; i++)
		*find_slot(counters, get_pair(counters, i)->key) = i + 1;
}

/* The pair of KEY, made where new; NULL where there are too many. */
static Pair *
find_pair(WpCounters *counters, guint64 key)
{
	guint32 n = counters->pairs->len;

	if (counters->latest < n && get_pair(counters, counters->latest)->key == key)
		return get_pair(counters, counters->latest);
	guint32 *slot = find_slot(counters, key);
	if (!*slot) {
		Pair pair = { .key = key };
		if (n >= WP_COUNTERS_MAX_PAIRS)
			return NULL;
		g_array_append_val(counters->pairs, pair);
		*slot = n + 1;
		if ((n + 1) * 2 > counters->n_slots)
			grow_slots(counters);
		counters->latest = n;
		return get_pair(counters, n);
	}
	counters->latest = *slot - 1;
	return get_pair(counters, counters->latest);
}

static guint64
count_of(const Pair *pair, WpCounter counter)
{
	for (guint32 i = 0; i < pair->n_counts; i++)
		if (pair->counts[i].counter == counter)
			return pair->counts[i].n;
	return 0;
}

static void
add_to_pair(WpCounters *counters, guint64 key, WpCounter counter, guint64 n)
{
	Pair *pair = find_pair(counters, key);
	guint32 i = 0;

	if (!pair)
		return;
	while (i < pair->n_counts && pair->counts[i].counter != counter)
		i++;
	if (i == pair->n_counts) {
		if (i == pair->n_allocated) {
			pair->n_allocated = MAX(FIRST_COUNTS, i * 2);
			pair->counts = g_renew(Count, pair->counts, pair->n_allocated);
		}
		pair->counts[pair->n_counts++] = (Count){ 0, counter };
	}
	pair->counts[i].n += n;
}

void
wp_counters_add_pair(WpCounters *counters, WpCounter counter, guint32 sender, guint32 receiver,
		     guint64 n)
{
	counters->totals[counter] += n;
	add_to_pair(counters, (guint64)sender << 32 | receiver, counter, n);
}

guint64
wp_counters_get(const WpCounters *counters, WpCounter counter)
{
	return counters->totals[counter];
}

void
wp_counters_merge(WpCounters *counters, const WpCounters *other)
{
	for (int i = 0; i < WP_N_COUNTERS; i++)
		counters->totals[i] += other->totals[i];
	for (guint32 i = 0; i < other->pairs->len; i++) {
		const Pair *pair = get_pair(other, i);
		for (guint32 j = 0; j < pair->n_counts; j++)
			add_to_pair(counters, pair->key, pair->counts[j].counter,
				    pair->counts[j].n);
	}
}

static int
compare_pairs(gconstpointer a, gconstpointer b)
{
	guint64 x = (*(const Pair *const *)a)->key, y = (*(const Pair *const *)b)->key;
	return x < y ? -1 : x > y;
}

void
wp_counters_foreach_pair(const WpCounters *counters, WpCounterPairFunc func, gpointer data)
{
	g_autoptr(GPtrArray) pairs = g_ptr_array_new();
	for (guint32 i = 0; i < counters->pairs->len; i++)
		g_ptr_array_add(pairs, get_pair(counters, i));
	g_ptr_array_sort(pairs, compare_pairs);
	for (int i = 0; i < WP_N_COUNTERS; i++)
		for (guint j = 0; j < pairs->len; j++) {
			const Pair *pair = g_ptr_array_index(pairs, j);
			guint64 n = count_of(pair, i);
			if (n)
				func(i, (guint32)(pair->key >> 32), (guint32)pair->key, n, data);
		}
}

void
wp_counters_since(const WpCounters *counters, const WpCounters *before, WpCounter counter,
		  WpCounters *out)
{
	for (guint32 i = 0; i < counters->pairs->len; i++) {
		const Pair *pair = get_pair(counters, i);
		guint32 at = *find_slot(before, pair->key);
		guint64 n = count_of(pair, counter);
		guint64 n_before = at ? count_of(get_pair(before, at - 1), counter) : 0;
		if (n > n_before)
			wp_counters_add_pair(out, counter, (guint32)(pair->key >> 32),
					     (guint32)pair->key, n - n_before);
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
