/*
 * Taps, what they have in common: samples of one key, of which each tap has one, are one packet. For each
 * two taps such pairs give a clock; which of the two lies nearer to the sender they show themselves:
 *
 *   differences  of X to Y   ----^--^-^-----       offset + way there        the higher ones, whatever the
 *                of Y to X   --v---v---v----       offset - way back         offset is: X lies on A's side
 *
 * The clocks of all taps follow from the reference along the best links. Two flows that hold the same
 * packets are one behind a NAT: its ends are those that the taps next to them see.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/doubles.h"
#include "capture/taps-private.h"

/* Packets of both directions so near in time tell which way is which; a drift of 100 ppm makes 20 us of it. */
#define NEAR_NS (200 * G_GINT64_CONSTANT(1000000))

/* Flows seem the same behind a NAT where they share so many packets. */
#define NAT_PACKETS 2

#define MAX_PAIRS (1024 * 1024) /* of two taps */
#define MAX_ASKED 256 /* pairs of taps that causes are asked of: each takes 10 to 1,000 ms */

typedef struct {
	WpClockPair clock;
	guint32 flow_a, flow_b;
	guint8 side_a, side_b;
	guint64 ends;      /* hash of both addresses, as A sees them */
	gboolean is_lower; /* sent by the lower address */
} Pair;

static WpEndpoint
end_of(const WpTaps *taps, guint32 flow, guint side)
{
	return wp_flow_key_endpoint(&g_array_index(taps->sampler.flows, WpFlowKey, flow), side);
}

guint64
wp_taps_hash_ends(const WpEndpoint *src, const WpEndpoint *dst, gboolean *out_is_lower)
{
	int order = memcmp(src->address, dst->address, sizeof src->address);
	const WpEndpoint *low = order < 0 ? src : dst, *high = order < 0 ? dst : src;
	guint64 hash = wp_doubles_mix_bytes(1, low->address, sizeof low->address);
	*out_is_lower = order < 0;
	return wp_doubles_mix_bytes(hash, high->address, sizeof high->address);
}

/* --- the same packet at several taps --- */

static int
compare_samples(gconstpointer a, gconstpointer b)
{
	const WpSample *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->input != y->input)
		return x->input < y->input ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Sorts samples by key and tap, and marks those that are the only one of their key at their tap. */
static void
sort_samples(WpTaps *taps)
{
	GArray *samples = taps->sampler.samples;

	for (guint i = 0; i < samples->len; i++) {
		WpSample *sample = &g_array_index(samples, WpSample, i);
		sample->input = taps->inputs[sample->input].tap;
	}
	for (guint i = 0; i < taps->sampler.turns->len; i++) {
		WpTurn *turn = &g_array_index(taps->sampler.turns, WpTurn, i);
		turn->input = taps->inputs[turn->input].tap;
	}
	g_array_sort(samples, compare_samples);
	WpSample *all = (WpSample *)(void *)samples->data;
	for (guint i = 0; i < samples->len; i++) {
		gboolean is_second =
			i > 0 && all[i - 1].key == all[i].key && all[i - 1].input == all[i].input;
		gboolean has_second = i + 1 < samples->len && all[i + 1].key == all[i].key &&
				      all[i + 1].input == all[i].input;
		all[i].is_alone = !is_second && !has_second;
	}
}

static void
add_pair(const WpTaps *taps, GArray *pairs, const WpSample *a, const WpSample *b)
{
	Pair pair = {
		.clock = { a->time_ns, b->time_ns - a->time_ns, FALSE },
		.flow_a = a->flow,
		.flow_b = b->flow,
		.side_a = a->side,
		.side_b = b->side,
	};
	WpEndpoint src = end_of(taps, a->flow, a->side), dst = end_of(taps, a->flow, !a->side);
	pair.ends = wp_taps_hash_ends(&src, &dst, &pair.is_lower);
	if (pairs->len < MAX_PAIRS)
		g_array_append_val(pairs, pair);
}

static int
compare_pairs(gconstpointer a, gconstpointer b)
{
	const Pair *x = a, *y = b;
	if (x->clock.time_ns != y->clock.time_ns)
		return x->clock.time_ns < y->clock.time_ns ? -1 : 1;
	return x->clock.difference_ns < y->clock.difference_ns
		       ? -1
		       : x->clock.difference_ns > y->clock.difference_ns;
}

/* What each two taps both saw, in one pass: PAIRS by a * n_taps + b, for a < b. */
static void
find_pairs(const WpTaps *taps, GArray **pairs)
{
	const WpSample *all = (const WpSample *)(const void *)taps->sampler.samples->data;
	guint n = taps->sampler.samples->len;

	for (guint i = 0; i < n; i++)
		for (guint k = i + 1; all[i].is_alone && k < n && all[k].key == all[i].key; k++)
			if (all[k].is_alone)
				add_pair(taps, pairs[all[i].input * taps->n_taps + all[k].input],
					 &all[i], &all[k]);
}

/* --- which tap lies nearer to whom --- */

static guint
hash_vote(gconstpointer data)
{
	const WpTapVote *vote = data;
	return (guint)wp_doubles_mix(vote->ends, (guint64)vote->a << 8 | vote->b);
}

static gboolean
is_same_vote(gconstpointer a, gconstpointer b)
{
	const WpTapVote *x = a, *y = b;
	return x->ends == y->ends && x->a == y->a && x->b == y->b;
}

static WpTapVote *
get_vote(WpTaps *taps, guint64 ends, guint a, guint b)
{
	WpTapVote key = { ends, (guint8)a, (guint8)b, 0 };
	WpTapVote *vote = g_hash_table_lookup(taps->votes, &key);
	if (!vote) {
		vote = g_memdup2(&key, sizeof key);
		g_hash_table_add(taps->votes, vote);
	}
	return vote;
}

/* Packets of the two directions between two addresses, next to each other in time, decide by majority. */
static void
take_votes(WpTaps *taps, GArray *pairs, guint a, guint b)
{
	g_autoptr(GHashTable) last = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (guint i = 0; i < pairs->len; i++) {
		const Pair *pair = &g_array_index(pairs, Pair, i);
		const Pair *before = g_hash_table_lookup(last, &pair->ends);
		g_hash_table_replace(last, (gpointer)&pair->ends, (gpointer)pair);
		if (!before || before->is_lower == pair->is_lower ||
		    pair->clock.time_ns - before->clock.time_ns > NEAR_NS)
			continue;
		const Pair *lower = pair->is_lower ? pair : before;
		const Pair *higher = pair->is_lower ? before : pair;
		gint64 more_ns = lower->clock.difference_ns - higher->clock.difference_ns;
		get_vote(taps, pair->ends, a, b)->votes += (more_ns > 0) - (more_ns < 0);
	}
}

/*
 * Sets the direction of all pairs and leaves out those of which it is not known; returns how many stay. Where
 * none is known all are taken for one way.
 */
static guint
set_directions(WpTaps *taps, GArray *pairs, guint a, guint b)
{
	guint kept = 0;

	for (guint i = 0; i < pairs->len; i++) {
		Pair *pair = &g_array_index(pairs, Pair, i);
		gint32 votes = get_vote(taps, pair->ends, a, b)->votes;
		if (votes == 0)
			continue;
		pair->clock.is_back = (votes > 0) != pair->is_lower;
		g_array_index(pairs, Pair, kept++) = *pair;
	}
	if (kept > 0)
		g_array_set_size(pairs, kept);
	return pairs->len;
}

int
wp_taps_compare(const WpTaps *taps, guint a, guint b, const WpEndpoint *src, const WpEndpoint *dst)
{
	gboolean is_lower;
	WpTapVote key = { wp_taps_hash_ends(src, dst, &is_lower), (guint8)MIN(a, b),
			  (guint8)MAX(a, b), 0 };
	const WpTapVote *vote = g_hash_table_lookup(taps->votes, &key);
	int votes = !vote ? 0 : (vote->votes > 0) - (vote->votes < 0);
	return votes * (is_lower ? 1 : -1) * (a < b ? 1 : -1);
}

/* --- NAT --- */

typedef struct {
	guint32 flow_a, flow_b;
	guint32 n;
	gint32 back;       /* of these came by B first when sent by A's side 0 */
	guint8 is_crossed; /* side 0 at A is side 1 at B */
} Match;

static guint
hash_match(gconstpointer data)
{
	const Match *match = data;
	return (guint)wp_doubles_mix(match->flow_a, match->flow_b);
}

static gboolean
is_same_match(gconstpointer a, gconstpointer b)
{
	const Match *x = a, *y = b;
	return x->flow_a == y->flow_a && x->flow_b == y->flow_b;
}

static void
set_nat(WpTaps *taps, guint32 flow, const WpEndpoint ends[2])
{
	const WpFlowKey *key = &g_array_index(taps->sampler.flows, WpFlowKey, flow);

	if (!taps->nat)
		taps->nat = wp_flow_table_new(sizeof(WpTapNat), 1);
	WpTapNat *nat = wp_flow_table_find(taps->nat, key);
	if (!nat) {
		nat = wp_flow_table_add(taps->nat, key);
		taps->n_nat++;
	}
	nat->ends[0] = ends[0];
	nat->ends[1] = ends[1];
}

/* The side that lies nearer to a tap has there the address that is its own. */
static void
join_flows(WpTaps *taps, guint tap_a, guint tap_b, const Match *match)
{
	gboolean is_a_near = 2 * match->back < (gint32)match->n; /* A to side 0 of its flow */
	WpEndpoint a[2], b[2], ends[2], crossed[2];

	for (guint side = 0; side < 2; side++) {
		a[side] = end_of(taps, match->flow_a, side);
		b[side] = end_of(taps, match->flow_b, match->is_crossed ? !side : side);
	}
	ends[0] = is_a_near ? a[0] : b[0];
	ends[1] = is_a_near ? b[1] : a[1];
	crossed[0] = ends[1];
	crossed[1] = ends[0];
	set_nat(taps, match->flow_a, ends);
	set_nat(taps, match->flow_b, match->is_crossed ? crossed : ends);
	gboolean is_lower;
	guint64 hash = wp_taps_hash_ends(&ends[0], &ends[1], &is_lower);
	get_vote(taps, hash, tap_a, tap_b)->votes += is_a_near == is_lower ? 1 : -1;
}

static int
compare_matches(gconstpointer a, gconstpointer b)
{
	const Match *x = *(Match *const *)a, *y = *(Match *const *)b;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	if (x->flow_a != y->flow_a)
		return x->flow_a < y->flow_a ? -1 : 1;
	return x->flow_b < y->flow_b ? -1 : x->flow_b > y->flow_b;
}

static void
find_nat(WpTaps *taps, guint a, guint b, const GArray *pairs)
{
	g_autoptr(GHashTable) matches =
		g_hash_table_new_full(hash_match, is_same_match, g_free, NULL);

	for (guint i = 0; i < pairs->len; i++) {
		const Pair *pair = &g_array_index(pairs, Pair, i);
		Match key = { pair->flow_a, pair->flow_b, 0, 0, pair->side_a != pair->side_b };
		if (pair->flow_a == pair->flow_b)
			continue;
		Match *match = g_hash_table_lookup(matches, &key);
		if (!match) {
			match = g_memdup2(&key, sizeof key);
			g_hash_table_add(matches, match);
		}
		match->n++;
		match->back += pair->clock.is_back == (pair->side_a == 0);
	}
	/* By how sure they are; what is surest is said last. */
	g_autoptr(GPtrArray) order = g_ptr_array_new();
	GHashTableIter iter;
	gpointer each;
	for (g_hash_table_iter_init(&iter, matches); g_hash_table_iter_next(&iter, &each, NULL);)
		g_ptr_array_add(order, each);
	g_ptr_array_sort(order, compare_matches);
	for (guint i = 0; i < order->len; i++) {
		const Match *match = order->pdata[i];
		if (match->n >= NAT_PACKETS)
			join_flows(taps, a, b, match);
	}
}

/* --- links and clocks --- */

static void
fit_link(WpTapLink *link, const GArray *pairs)
{
	g_autofree WpClockPair *clocks = g_new(WpClockPair, pairs->len);

	for (guint i = 0; i < pairs->len; i++)
		clocks[i] = g_array_index(pairs, Pair, i).clock;
	if (wp_clock_fit(clocks, pairs->len, &link->clock))
		link->error_ns = link->clock.segments[0].offset_error_ns;
}

static void
link_taps(WpTaps *taps, guint a, guint b, GArray *pairs)
{
	WpTapLink link = { .a = a, .b = b, .n_pairs = pairs->len };

	g_array_sort(pairs, compare_pairs);
	take_votes(taps, pairs, a, b);
	set_directions(taps, pairs, a, b);
	find_nat(taps, a, b, pairs);
	fit_link(&link, pairs);
	g_array_append_val(taps->links, link);
}

static void
link_all(WpTaps *taps)
{
	guint n = taps->n_taps;
	g_autofree GArray **pairs = g_new(GArray *, (gsize)n * n);

	for (guint i = 0; i < n * n; i++)
		pairs[i] = g_array_new(FALSE, FALSE, sizeof(Pair));
	find_pairs(taps, pairs);
	for (guint a = 0; a < n; a++)
		for (guint b = a + 1; b < n; b++)
			link_taps(taps, a, b, pairs[a * n + b]);
	for (guint i = 0; i < n * n; i++)
		g_array_unref(pairs[i]);
}

/* The clock of tap TO against the reference, by LINK from the other tap, whose clock is known. */
static void
follow_link(WpTaps *taps, const WpTapLink *link, guint to)
{
	guint from = to == link->a ? link->b : link->a;
	WpClock own = { 0 };

	if (to == link->b)
		wp_clock_turn(&link->clock, &own);
	else
		wp_clock_negate(&link->clock, &own);
	wp_clock_chain(&own, &taps->clocks[from], &taps->clocks[to]);
	wp_clock_clear(&own);
	taps->is_linked[to] = TRUE;
	taps->is_by_cause[to] = link->is_by_cause || taps->is_by_cause[from];
}

/* The surest link from a tap whose clock is known to one whose clock is not. */
static const WpTapLink *
find_next_link(const WpTaps *taps, guint *out_to)
{
	const WpTapLink *best = NULL;
	for (guint i = 0; i < taps->links->len; i++) {
		const WpTapLink *link = &g_array_index(taps->links, WpTapLink, i);
		if (!link->clock.n || taps->is_linked[link->a] == taps->is_linked[link->b] ||
		    (best && best->error_ns <= link->error_ns))
			continue;
		best = link;
		*out_to = taps->is_linked[link->a] ? link->b : link->a;
	}
	return best;
}

/* What causes tell of taps that have no packet in common with those whose clock is known; TRUE: of one at least. */
static gboolean
link_by_cause(WpTaps *taps)
{
	gboolean is_any = FALSE, shares;

	for (guint i = 0; i < taps->links->len; i++) {
		WpTapLink *link = &g_array_index(taps->links, WpTapLink, i);
		if (link->clock.n || link->was_asked || taps->n_asked >= MAX_ASKED ||
		    taps->is_linked[link->a] == taps->is_linked[link->b])
			continue;
		link->was_asked = TRUE;
		taps->n_asked++;
		link->is_by_cause =
			wp_taps_fit_by_cause(taps, link->a, link->b, &link->clock, &shares);
		taps->is_asked[taps->is_linked[link->a] ? link->b : link->a] |= shares;
		if (link->is_by_cause)
			link->error_ns = link->clock.segments[0].offset_error_ns;
		is_any |= link->is_by_cause;
	}
	return is_any;
}

void
wp_taps_match(WpTaps *taps)
{
	const WpTapLink *link;
	guint to = 0;

	taps->votes = g_hash_table_new_full(hash_vote, is_same_vote, g_free, NULL);
	sort_samples(taps);
	link_all(taps);
	do {
		while ((link = find_next_link(taps, &to)))
			follow_link(taps, link, to);
	} while (link_by_cause(taps));
}
