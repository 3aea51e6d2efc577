/*
 * The loss estimate. With s segments seen and l found missing the share lost is p = l / (s + l), and
 * n packets seen stand for n p / (1 - p) that were not.
 *
 * A pair of nodes that exchanged little says little of its own share, and in one direction there are
 * often nothing but acknowledgements. So both directions of a pair are taken together, and the share of
 * the whole capture enters as PRIOR segments (an empirical Bayes estimate):
 *
 *     p(pair) = (l + PRIOR p) / (s + l + PRIOR)
 */
#include "capture/loss.h"

#include <string.h>

#define PRIOR 100 /* segments; at 1 % loss one event */

typedef struct {
	gint64 key;           /* lower node << 32 | higher node */
	WpLossSample ways[2]; /* lower to higher node, higher to lower */
} Pair;

struct WpLoss {
	GHashTable *pairs; /* &Pair.key -> Pair */
	WpLossSample total;
};

WpLoss *
wp_loss_new(void)
{
	WpLoss *loss = g_new0(WpLoss, 1);
	loss->pairs = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	return loss;
}

void
wp_loss_free(WpLoss *loss)
{
	if (!loss)
		return;
	g_hash_table_unref(loss->pairs);
	g_free(loss);
}

static void
add_sample(WpLossSample *to, const WpLossSample *sample)
{
	to->packets += sample->packets;
	to->segments += sample->segments;
	to->lost += sample->lost;
}

static Pair *
find_pair(WpLoss *loss, guint32 sender, guint32 receiver)
{
	gint64 key = (gint64)((guint64)MIN(sender, receiver) << 32 | MAX(sender, receiver));
	Pair *pair = g_hash_table_lookup(loss->pairs, &key);
	if (!pair && g_hash_table_size(loss->pairs) < WP_COUNTERS_MAX_PAIRS) {
		pair = g_new0(Pair, 1);
		pair->key = key;
		g_hash_table_insert(loss->pairs, &pair->key, pair);
	}
	return pair;
}

void
wp_loss_add(WpLoss *loss, guint32 sender, guint32 receiver, const WpLossSample *sample)
{
	Pair *pair = find_pair(loss, sender, receiver);
	if (pair)
		add_sample(&pair->ways[sender > receiver], sample);
	add_sample(&loss->total, sample);
}

static double
share_of(const WpLossSample *sample)
{
	guint64 n = sample->segments + sample->lost;
	return n ? (double)sample->lost / (double)n : 0;
}

double
wp_loss_share(const WpLoss *loss)
{
	return share_of(&loss->total);
}

/* How many packets are missing where PACKETS were seen and the share SHARE was lost. */
static guint64
missing_packets(guint64 packets, double share)
{
	return share < 1 ? (guint64)((double)packets * share / (1 - share) + 0.5) : 0;
}

static int
compare_pairs(gconstpointer a, gconstpointer b)
{
	gint64 x = ((const Pair *)a)->key, y = ((const Pair *)b)->key;
	return x < y ? -1 : x > y;
}

static double
pair_share(const Pair *pair, double whole)
{
	double lost = (double)(pair->ways[0].lost + pair->ways[1].lost);
	double seen = (double)(pair->ways[0].segments + pair->ways[1].segments);
	return (lost + PRIOR * whole) / (lost + seen + PRIOR);
}

void
wp_loss_count(const WpLoss *loss, guint64 packets, WpCounters *counters)
{
	double whole = wp_loss_share(loss);
	g_autoptr(GList) pairs = g_list_sort(g_hash_table_get_values(loss->pairs), compare_pairs);
	guint64 in_pairs = 0;

	if (!loss->total.lost)
		return;
	for (const GList *l = pairs; l; l = l->next) {
		const Pair *pair = l->data;
		guint32 low = (guint32)(pair->key >> 32), high = (guint32)pair->key;
		double share = pair_share(pair, whole);
		for (int way = 0; way < 2; way++) {
			guint64 n = missing_packets(pair->ways[way].packets, share);
			if (n)
				wp_counters_add_pair(counters, WP_COUNT_LOST_PACKETS,
						     way ? high : low, way ? low : high, n);
			in_pairs += pair->ways[way].packets;
		}
	}
	if (packets > in_pairs)
		wp_counters_add(counters, WP_COUNT_LOST_PACKETS,
				missing_packets(packets - in_pairs, whole));
}
