/*
 * The loss estimate. With s segments seen and l found missing the share lost is p = l / (s + l), and
 * n packets seen stand for n p / (1 - p) that were not.
 *
 * A hole shows what is missing between two packets of a flow, and a SYN or FIN what is missing before
 * or behind all others. A burst of losses may take the opening of a short flow, with its first segments,
 * or its end; that leaves no hole. So what such a flow lacks is the difference to the mean of the whole
 * flows to the same server. (Without this a burst of 20 packets is seen as 7 where each request has a
 * connection of its own.)
 *
 * Flows that vanish whole show nothing themselves. But the two packets that open a flow (SYN, SYN+ACK) are
 * lost as all others: of F flows a share p lacks the first, and as many the second. Where n2 flows show
 * both and n1 one of them, n1 / 2 lack one alone, so that F p - n1 / 2 lack both, and with F = n2 + n1 + X
 *
 *     X = (p (n2 + n1) - n1 / 2) / (1 - p)
 *
 * Those of the X flows that were not seen at all are as long as whole flows are. Where packets are lost one
 * by one, X is p^2 F, next to nothing; where bursts are longer than flows it is nearly p F. The share p is
 * that of the service that lost most, as far as it shows: still too low where all flows are shorter than
 * the bursts.
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

#define MAX_SERVICES  4096
#define MAX_CUT       64   /* segments; longer flows differ too much */
#define MIN_WHOLE     10   /* so many whole flows tell how long they are */
#define MAX_SHARE     0.99 /* where next to nothing was seen, nothing is known of it */
#define MANY_SEGMENTS 1000 /* of a service: they tell the share that it lost */

typedef struct {
	gint64 key;           /* lower node << 32 | higher node */
	WpLossSample ways[2]; /* lower to higher node, higher to lower */
} Pair;

/* Flows of one client to one server. */
typedef struct {
	guint64 key[2];       /* client << 32 | server, port */
	guint64 n_whole;      /* flows seen from begin to end, of under MAX_CUT segments ... */
	guint64 n_long;       /* ... and of more */
	guint64 segments;     /* in those of under MAX_CUT */
	guint64 n_segments;   /* seen in all its flows ... */
	guint64 n_lost;       /* ... and found missing */
	guint64 n_opened[3];  /* flows by how many of the two packets that open them were seen */
	guint32 cut[MAX_CUT]; /* flows without begin or end, by their segments */
} Service;

struct WpLoss {
	GHashTable *pairs;    /* &Pair.key -> Pair */
	GHashTable *services; /* &Service.key -> Service */
	WpLossSample total;
};

/* g_int64_hash() looks at the lower half alone: all clients of one server would collide. */
static guint
hash_pair(gconstpointer key)
{
	return (guint)((*(const guint64 *)key * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> 32);
}

static guint
hash_key(gconstpointer key)
{
	const guint64 *words = key;
	return (guint)(((words[0] ^ words[1] << 16) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >>
		       32);
}

static gboolean
equal_keys(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(((const Service *)a)->key)) == 0;
}

WpLoss *
wp_loss_new(void)
{
	WpLoss *loss = g_new0(WpLoss, 1);
	loss->pairs = g_hash_table_new_full(hash_pair, g_int64_equal, NULL, g_free);
	loss->services = g_hash_table_new_full(hash_key, equal_keys, NULL, g_free);
	return loss;
}

void
wp_loss_free(WpLoss *loss)
{
	if (!loss)
		return;
	g_hash_table_unref(loss->pairs);
	g_hash_table_unref(loss->services);
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

void
wp_loss_add_flow(WpLoss *loss, const WpLossFlow *flow)
{
	guint64 key[2] = { (guint64)flow->client << 32 | flow->server, flow->port };
	Service *service = g_hash_table_lookup(loss->services, key);
	if (!service) {
		if (g_hash_table_size(loss->services) == MAX_SERVICES)
			return;
		service = g_new0(Service, 1);
		memcpy(service->key, key, sizeof key);
		g_hash_table_insert(loss->services, service->key, service);
	}
	gboolean has_begin = flow->n_opening > 0, is_whole = has_begin && flow->has_end;
	service->n_opened[MIN(flow->n_opening, 2)]++;
	service->n_lost += flow->lost;
	service->n_segments += flow->segments - flow->lost;
	if (is_whole && flow->segments >= MAX_CUT) {
		service->n_long++;
	} else if (is_whole) {
		service->n_whole++;
		service->segments += flow->segments;
	} else if ((has_begin || flow->has_end) && flow->segments < MAX_CUT) {
		service->cut[flow->segments]++;
	}
}

static double
share_of(const WpLossSample *sample)
{
	guint64 n = sample->segments + sample->lost;
	return n ? (double)sample->lost / (double)n : 0;
}

/* Flows of SERVICE that were not seen at all where the share SHARE was lost; 0 where chance may say so. */
static double
find_vanished(const Service *service, double share)
{
	double one = (double)service->n_opened[1], seen = (double)service->n_opened[2] + one;
	double unopened = (share * seen - one / 2) / (1 - share);
	double vanished = unopened - (double)service->n_opened[0];
	return vanished * vanished > 4 * (one + 1) && vanished > 0 ? vanished : 0;
}

/*
 * What the flows of SERVICE without begin or end lack, and those that vanished, where the share SHARE was
 * lost. Nothing where its flows are long or few: there a flow that is still open looks like a cut one.
 */
static double
find_lack(const Service *service, double share)
{
	if (service->n_whole < MIN_WHOLE || service->n_long > service->n_whole)
		return 0;
	double mean = (double)service->segments / (double)service->n_whole;
	double lack = find_vanished(service, share) * mean;
	for (int i = 0; i < mean; i++)
		lack += service->cut[i] * (mean - i);
	return lack;
}

/*
 * The share that was lost. A service whose flows last longer than bursts do shows it best; those of shorter
 * flows show less of it, for more of them vanish.
 */
static double
find_share(const WpLoss *loss)
{
	double share = share_of(&loss->total);
	GHashTableIter iter;
	gpointer value;
	g_hash_table_iter_init(&iter, loss->services);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const Service *service = value;
		double lost = (double)service->n_lost + find_lack(service, 0);
		double own = lost / ((double)service->n_segments + lost + 1);
		if (service->n_segments >= MANY_SEGMENTS)
			share = MAX(share, own);
	}
	return MIN(share, MAX_SHARE);
}

static void
add_cut(WpLoss *loss)
{
	double share = find_share(loss);
	GHashTableIter iter;
	gpointer value;
	g_hash_table_iter_init(&iter, loss->services);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const Service *service = value;
		WpLossSample sample = { .lost = (guint64)(find_lack(service, share) + 0.5) };
		wp_loss_add(loss, (guint32)(service->key[0] >> 32), (guint32)service->key[0],
			    &sample);
	}
	g_hash_table_remove_all(loss->services);
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
wp_loss_count(WpLoss *loss, guint64 packets, WpCounters *counters)
{
	if (loss->total.lost)
		add_cut(loss);
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
