/*
 * Mending (mend.h). What an answer is worth is the sum of
 *
 *   - of each request, log of how many other requests take its path (leave one out), where a path is the tree of
 *     (node, label) without order;
 *   - of each span, the same of its plan: what it calls, in order;
 *   - of each call in doubt, log of the probability that the engine gave its parent, never quite 0.
 *
 * A move takes a run of bundles from one request to another that is open as well, and maybe a run of the
 * other's back. (Calls that an engine gives away together have one reason, so a run costs what the least likely
 * of it costs.) Moves by chance, at a falling temperature, let an odd pair of requests that never met find each
 * other through those in between; then the best moves are made until there is none. At last moves by chance
 * again say how often each request takes another path: that is how sure its path is.
 *
 * Paths are compared by 64-bit sums: the sum of a span adds a number for each child, so that a move costs
 * a walk to the root, whatever the size of the tree.
 */
#include "infer/mend.h"

#include <math.h>
#include <string.h>

#include "infer/mend-private.h"
#include "infer/random.h"

#define LEAST_MEAN    0.9 /* probability of all links: with less, none is moved */
#define UNHEARD       0.5 /* instances: the weight of a path that no other request takes */
#define SWEEPS        50  /* of falling temperature */
#define SWEEPS_A_LIST 5   /* then it is seen anew which bundles are worth looking at */
#define COLDEST       0.05
#define SURE          0.98 /* a call that is surer is not drawn among frequent paths */
#define DRAWS         20   /* sweeps that say how sure paths are */
#define MAX_ROUNDS    10   /* of best moves; they end by themselves */
#define MAX_MOVED     24   /* bundles of a parent that are looked at */
#define RARE          0.3  /* of the most frequent path from the same first call: less is rare */
#define ENOUGH        1e-6 /* nats: less is no gain */
#define LEAST         0.02f /* probability of a changed link: draws tell no less, or more than the rest */

typedef struct {
	WpMendBundles bundles;
	WpLinks *links;
	const WpSpan *spans;
	guint32 n;
	guint64 *sums;     /* by span: of its children's shapes */
	GArray **children; /* by span: spans below it, in order; NULL = none */
	WpMap *counts;     /* path -> requests */
	WpMap *plans;      /* node, label and calls in order -> spans that make them */
	WpMap *most;       /* first call -> requests of its most frequent path */
	GArray *active;    /* guint32: bundles that sweeps look at */
	GArray *scratch;   /* guint32 */
	WpRandom64 random;
} Mend;

/* Bundles of one of two parents that the other may have caused as well. */
typedef struct {
	guint32 n;
	guint32 bundles[MAX_MOVED];
	guint64 shapes[MAX_MOVED];
	double gains[MAX_MOVED]; /* of giving it to the other */
} Side;

typedef struct {
	guint32 parents[2];
	guint32 roots[2];
	double before;       /* what the two requests were worth */
	double plans_before; /* and the two plans */
	Side sides[2];
} Pair;

/* Bundles from BEGIN on of either side change sides. */
typedef struct {
	guint32 begin[2];
	guint32 n[2];
} Exchange;

/* --- shapes --- */

/* The finaliser of MurmurHash3 (Appleby, public domain): every bit depends on every bit. */
static guint64
mix(guint64 value)
{
	value ^= value >> 33;
	value *= G_GUINT64_CONSTANT(0xff51afd7ed558ccd);
	value ^= value >> 33;
	value *= G_GUINT64_CONSTANT(0xc4ceb9fe1a85ec53);
	return value ^ value >> 33;
}

/* Of the tree below SPAN, itself included. */
static guint64
shape_of(const Mend *mend, guint32 number)
{
	const WpSpan *span = &mend->spans[number];
	return mix(mix(wp_map_key(span->callee + 1, span->label)) + mend->sums[number]);
}

static guint64
first_call_of(const Mend *mend, guint32 root)
{
	const WpSpan *span = &mend->spans[root];
	return mix(mix(span->caller) + wp_map_key(span->callee, span->label));
}

static guint64
path_of(const Mend *mend, guint32 root)
{
	return mix(shape_of(mend, root) + mix(mend->spans[root].caller));
}

static guint32
root_of(const Mend *mend, guint32 span)
{
	while (mend->links->links[span].parent != WP_NO_SPAN)
		span = mend->links->links[span].parent;
	return span;
}

static gboolean
is_below(const Mend *mend, guint32 span, guint32 top)
{
	while (span != WP_NO_SPAN && span != top)
		span = mend->links->links[span].parent;
	return span == top;
}

static gboolean
begins_path(const Mend *mend, guint32 root)
{
	const WpLink *link = &mend->links->links[root];
	return link->parent == WP_NO_SPAN &&
	       !(link->evidence & (WP_EVIDENCE_UNPAIRED | WP_EVIDENCE_SETUP | WP_EVIDENCE_UNSEEN));
}

/* DELTA joins the children of SPAN, which changes all that it hangs below. */
static void
add_shape(Mend *mend, guint32 span, guint64 delta)
{
	while (span != WP_NO_SPAN && delta) {
		guint64 before = shape_of(mend, span);
		mend->sums[span] += delta;
		delta = shape_of(mend, span) - before;
		span = mend->links->links[span].parent;
	}
}

static guint64
bundle_shape(const Mend *mend, const WpMendBundle *bundle)
{
	const guint32 *members = wp_mend_members(&mend->bundles, bundle);
	guint64 sum = 0;
	for (guint32 i = 0; i < bundle->n; i++)
		sum += shape_of(mend, members[i]);
	return sum;
}

/* --- worth --- */

static guint32
count_of(const Mend *mend, guint32 root)
{
	guint32 n = wp_map_find(mend->counts, path_of(mend, root));
	return n == WP_MAP_NONE ? 0 : n;
}

static void
count(Mend *mend, guint32 root, gint delta)
{
	guint32 *n = wp_map_at(mend->counts, path_of(mend, root), 0);
	*n = (guint32)((gint64)*n + delta);
}

static gboolean
is_rare(const Mend *mend, guint32 root)
{
	guint32 most = wp_map_find(mend->most, first_call_of(mend, root));
	return most == WP_MAP_NONE || count_of(mend, root) < RARE * most;
}

static double
worth(const Mend *mend, const Pair *pair)
{
	double sum = log(count_of(mend, pair->roots[0]) + UNHEARD);
	if (pair->roots[1] != pair->roots[0])
		sum += log(count_of(mend, pair->roots[1]) + UNHEARD);
	return sum;
}

static void
count_pair(Mend *mend, const Pair *pair, gint delta)
{
	count(mend, pair->roots[0], delta);
	if (pair->roots[1] != pair->roots[0])
		count(mend, pair->roots[1], delta);
}

/* --- plans --- */

static guint64
type_of(const Mend *mend, guint32 number)
{
	const WpSpan *span = &mend->spans[number];
	return mix(wp_map_key(span->callee + 1, span->label));
}

/*
 * What SPAN calls, one after another: N CALLS in order. Calls that overlap count as a set, as which of them
 * is first is chance.
 */
static guint64
plan_of(const Mend *mend, guint32 span, const guint32 *calls, guint32 n)
{
	guint64 plan = type_of(mend, span), set = 0;
	gint64 until = G_MININT64;

	for (guint32 i = 0; i < n; i++) {
		const WpSpan *call = &mend->spans[calls[i]];
		if (call->call_ns >= until) {
			plan = mix(plan + set);
			set = 0;
		}
		set += type_of(mend, calls[i]);
		until = MAX(until, wp_span_end_ns(call));
	}
	return mix(plan + set);
}

static guint64
present_plan(const Mend *mend, guint32 span)
{
	const GArray *calls = mend->children[span];
	return plan_of(mend, span, calls ? (const guint32 *)(const void *)calls->data : NULL,
		       calls ? calls->len : 0);
}

static void
count_plan(Mend *mend, guint32 span, gint delta)
{
	guint32 *n = wp_map_at(mend->plans, present_plan(mend, span), 0);
	*n = (guint32)((gint64)*n + delta);
}

static double
plan_worth(const Mend *mend, guint64 plan)
{
	guint32 n = wp_map_find(mend->plans, plan);
	return log((n == WP_MAP_NONE ? 0 : n) + UNHEARD);
}

static void
put_in_order(GArray *calls, guint32 span)
{
	guint i = calls->len;
	while (i > 0 && g_array_index(calls, guint32, i - 1) > span)
		i--;
	g_array_insert_val(calls, i, span);
}

static void
take_out(GArray *calls, guint32 span)
{
	for (guint i = 0; i < calls->len; i++)
		if (g_array_index(calls, guint32, i) == span) {
			g_array_remove_index(calls, i);
			return;
		}
}

static void
change_calls(const Mend *mend, GArray *calls, guint32 number, gboolean adds)
{
	const WpMendBundle *bundle = &mend->bundles.bundles[number];
	const guint32 *members = wp_mend_members(&mend->bundles, bundle);
	for (guint32 i = 0; i < bundle->n; i++)
		if (adds)
			put_in_order(calls, members[i]);
		else
			take_out(calls, members[i]);
}

static GArray *
children_of(Mend *mend, guint32 span)
{
	if (!mend->children[span])
		mend->children[span] = g_array_new(FALSE, FALSE, sizeof(guint32));
	return mend->children[span];
}

/* --- pairs of parents --- */

static void
fill_side(const Mend *mend, guint32 from, guint32 to, Side *side)
{
	const GArray *below = mend->bundles.below[from];

	side->n = 0;
	for (guint i = 0; below && i < below->len && side->n < MAX_MOVED; i++) {
		guint32 number = g_array_index(below, guint32, i);
		const WpMendBundle *bundle = &mend->bundles.bundles[number];
		if (!wp_mend_fits(&mend->bundles, bundle, to) ||
		    is_below(mend, to, wp_mend_members(&mend->bundles, bundle)[0]))
			continue;
		side->bundles[side->n] = number;
		side->shapes[side->n] = bundle_shape(mend, bundle);
		side->gains[side->n++] = wp_mend_belief(bundle, to) - wp_mend_belief(bundle, from);
	}
}

static gboolean
is_crowded(const Mend *mend, guint32 span)
{
	const GArray *calls = mend->children[span];
	return calls && calls->len > WP_MEND_MAX_CHILDREN;
}

/* Puts the pair, as it is now, back into the counts. */
static void
close_pair(Mend *mend, const Pair *pair)
{
	count_pair(mend, pair, 1);
	count_plan(mend, pair->parents[0], 1);
	count_plan(mend, pair->parents[1], 1);
}

/* Takes both requests out of the counts; FALSE where nothing can be moved between the two. */
static gboolean
open_pair(Mend *mend, guint32 a, guint32 b, Pair *pair)
{
	pair->parents[0] = a;
	pair->parents[1] = b;
	pair->roots[0] = root_of(mend, a);
	pair->roots[1] = root_of(mend, b);
	if (!begins_path(mend, pair->roots[0]) || !begins_path(mend, pair->roots[1]) ||
	    is_crowded(mend, a) || is_crowded(mend, b))
		return FALSE;
	fill_side(mend, a, b, &pair->sides[0]);
	fill_side(mend, b, a, &pair->sides[1]);
	count_pair(mend, pair, -1);
	count_plan(mend, a, -1);
	count_plan(mend, b, -1);
	pair->before = worth(mend, pair);
	pair->plans_before =
		plan_worth(mend, present_plan(mend, a)) + plan_worth(mend, present_plan(mend, b));
	return TRUE;
}

/* What EXCHANGE brings to the plans of both. */
static double
weigh_plans(const Mend *mend, const Pair *pair, const Exchange *exchange)
{
	double sum = -pair->plans_before;

	for (int s = 0; s < 2; s++) {
		const GArray *now = mend->children[pair->parents[s]];
		GArray *calls = mend->scratch;
		g_array_set_size(calls, 0);
		if (now)
			g_array_append_vals(calls, now->data, now->len);
		for (int from = 0; from < 2; from++)
			for (guint32 i = 0; i < exchange->n[from]; i++)
				change_calls(mend, calls,
					     pair->sides[from].bundles[exchange->begin[from] + i],
					     from != s);
		sum += plan_worth(mend,
				  plan_of(mend, pair->parents[s],
					  (const guint32 *)(const void *)calls->data, calls->len));
	}
	return sum;
}

/* What EXCHANGE brings. */
static double
weigh(Mend *mend, const Pair *pair, const Exchange *exchange)
{
	guint64 shapes[2] = { 0, 0 };
	double gain = G_MAXDOUBLE;

	for (int s = 0; s < 2; s++)
		for (guint32 i = 0; i < exchange->n[s]; i++) {
			shapes[s] += pair->sides[s].shapes[exchange->begin[s] + i];
			gain = MIN(gain, pair->sides[s].gains[exchange->begin[s] + i]);
		}
	guint64 delta = shapes[1] - shapes[0];
	double of_plans = weigh_plans(mend, pair, exchange);
	if (delta == 0)
		return gain + of_plans;
	add_shape(mend, pair->parents[0], delta);
	add_shape(mend, pair->parents[1], -delta);
	gain += worth(mend, pair) - pair->before + of_plans;
	add_shape(mend, pair->parents[1], delta);
	add_shape(mend, pair->parents[0], -delta);
	return gain;
}

static void
give(Mend *mend, guint32 number, guint32 from, guint32 to)
{
	const WpMendBundle *bundle = &mend->bundles.bundles[number];
	const guint32 *members = wp_mend_members(&mend->bundles, bundle);
	guint64 shape = bundle_shape(mend, bundle);

	wp_mend_hand_over(&mend->bundles, number, from, to);
	change_calls(mend, children_of(mend, from), number, FALSE);
	change_calls(mend, children_of(mend, to), number, TRUE);
	add_shape(mend, from, -shape);
	for (guint32 i = 0; i < bundle->n; i++)
		mend->links->links[members[i]].parent = to;
	add_shape(mend, to, shape);
}

static void
make(Mend *mend, const Pair *pair, const Exchange *exchange)
{
	for (int s = 0; s < 2; s++)
		for (guint32 i = 0; i < exchange->n[s]; i++)
			give(mend, pair->sides[s].bundles[exchange->begin[s] + i], pair->parents[s],
			     pair->parents[1 - s]);
}

/* --- moves by chance --- */

/* How many of the last N: one, all, or any number. */
static guint32
random_run(Mend *mend, guint32 n)
{
	double kind = wp_random64_share(&mend->random);
	return kind < 0.4 ? 1 : kind < 0.7 ? n : 1 + wp_random64_below(&mend->random, n);
}

static guint32
place_of(const Side *side, guint32 number)
{
	guint32 i = 0;
	while (i < side->n && side->bundles[i] != number)
		i++;
	return i;
}

/*
 * Between two requests on frequent paths there is nothing to mend, and of a call that the engine is sure of
 * hardly anything to draw; that is most of them.
 */
static gboolean
is_idle(const Mend *mend, const WpMendBundle *bundle, guint32 from, guint32 to, double sure)
{
	return bundle->probability >= sure && !is_rare(mend, root_of(mend, from)) &&
	       !is_rare(mend, root_of(mend, to));
}

/*
 * A run that begins with bundle NUMBER goes to another request, and maybe one comes back. Bundles at least as
 * SURE only where one of the two takes a rare path.
 */
static void
try_by_chance(Mend *mend, guint32 number, double temperature, double sure)
{
	const WpMendBundle *bundle = &mend->bundles.bundles[number];
	guint32 from = mend->links->links[wp_mend_members(&mend->bundles, bundle)[0]].parent;
	guint32 to = g_array_index(mend->bundles.options, guint32,
				   bundle->first_option +
					   wp_random64_below(&mend->random, bundle->n_options));
	Exchange exchange = { { 0, 0 }, { 0, 0 } };
	Pair pair;

	if (to == from || is_idle(mend, bundle, from, to, sure) ||
	    !open_pair(mend, from, to, &pair))
		return;
	exchange.begin[0] = place_of(&pair.sides[0], number);
	if (exchange.begin[0] < pair.sides[0].n) {
		exchange.n[0] = random_run(mend, pair.sides[0].n - exchange.begin[0]);
		if (pair.sides[1].n && wp_random64_share(&mend->random) < 0.5) {
			exchange.begin[1] = wp_random64_below(&mend->random, pair.sides[1].n);
			exchange.n[1] = random_run(mend, pair.sides[1].n - exchange.begin[1]);
		}
		double gain = weigh(mend, &pair, &exchange);
		if (gain >= 0 || wp_random64_share(&mend->random) < exp(gain / temperature))
			make(mend, &pair, &exchange);
	}
	close_pair(mend, &pair);
}

/* TRUE where a move of BUNDLE may change something: see is_idle(). */
static gboolean
is_active(const Mend *mend, const WpMendBundle *bundle, double sure)
{
	guint32 span = wp_mend_members(&mend->bundles, bundle)[0];
	gboolean is_found = bundle->probability < sure || is_rare(mend, root_of(mend, span));

	for (guint32 i = 0; i < bundle->n_options && !is_found; i++) {
		span = g_array_index(mend->bundles.options, guint32, bundle->first_option + i);
		is_found = is_rare(mend, root_of(mend, span));
	}
	return is_found && bundle->n_options > 1;
}

static void
list_active(Mend *mend, double sure)
{
	g_array_set_size(mend->active, 0);
	for (guint32 b = 0; b < mend->bundles.n_bundles; b++)
		if (is_active(mend, &mend->bundles.bundles[b], sure))
			g_array_append_val(mend->active, b);
}

static void
sweep(Mend *mend, double temperature, double sure)
{
	for (guint i = 0; i < mend->active->len; i++)
		try_by_chance(mend,
			      g_array_index(mend->active, guint32,
					    wp_random64_below(&mend->random, mend->active->len)),
			      temperature, sure);
}

/* --- best moves --- */

typedef struct {
	guint32 other; /* the second parent */
	Exchange exchange;
	double gain;
} Best;

/* Tries all runs of one side against all of the other. */
static void
try_all(Mend *mend, const Pair *pair, Best *best)
{
	const Side *sides = pair->sides;

	for (guint32 a = 0; a <= sides[0].n; a++)
		for (guint32 i = a < sides[0].n; a + i <= sides[0].n; i++)
			for (guint32 b = 0; b <= sides[1].n; b++)
				for (guint32 k = b < sides[1].n; b + k <= sides[1].n; k++) {
					Exchange exchange = { { a, b }, { i, k } };
					double gain = i + k ? weigh(mend, pair, &exchange) : 0;
					if (gain > best->gain)
						*best = (Best){ pair->parents[1], exchange, gain };
				}
}

/* Makes the best move between SPAN and another. */
static gboolean
improve(Mend *mend, guint32 span)
{
	const GArray *below = mend->bundles.below[span];
	g_autoptr(WpMap) tried = wp_map_new();
	Best best = { WP_NO_SPAN, { { 0, 0 }, { 0, 0 } }, ENOUGH };
	Pair pair;

	for (guint i = 0; i < MIN(below->len, MAX_MOVED); i++) {
		const WpMendBundle *bundle =
			&mend->bundles.bundles[g_array_index(below, guint32, i)];
		for (guint32 k = 0; k < bundle->n_options; k++) {
			guint32 other = g_array_index(mend->bundles.options, guint32,
						      bundle->first_option + k);
			guint32 n_tried = wp_map_count(tried);
			if (other == span || wp_map_number(tried, other) < n_tried ||
			    !open_pair(mend, span, other, &pair))
				continue;
			try_all(mend, &pair, &best);
			close_pair(mend, &pair);
		}
	}
	if (best.other == WP_NO_SPAN || !open_pair(mend, span, best.other, &pair))
		return FALSE;
	make(mend, &pair, &best.exchange);
	close_pair(mend, &pair);
	return TRUE;
}

/* One round over the requests with rare paths; FALSE where nothing could be made better. */
static gboolean
improve_all(Mend *mend)
{
	gboolean has_moved = FALSE;

	for (guint32 span = 0; span < mend->n; span++) {
		const GArray *below = mend->bundles.below[span];
		if (below && below->len && is_rare(mend, root_of(mend, span)))
			has_moved |= improve(mend, span);
	}
	return has_moved;
}

static guint32
parent_of(const Mend *mend, guint32 bundle)
{
	const WpMendBundle *first = &mend->bundles.bundles[bundle];
	return mend->links->links[wp_mend_members(&mend->bundles, first)[0]].parent;
}

/* Gives bundle NUMBER back to the parent that the engine gave it, alone or for another, where nothing is lost. */
static gboolean
go_home(Mend *mend, guint32 number)
{
	guint32 home = mend->bundles.bundles[number].parent;
	Best best = { WP_NO_SPAN, { { 0, 0 }, { 1, 0 } }, -ENOUGH };
	Pair pair;

	if (parent_of(mend, number) == home ||
	    !open_pair(mend, parent_of(mend, number), home, &pair))
		return FALSE;
	guint32 at = place_of(&pair.sides[0], number);
	for (guint32 i = 0; at < pair.sides[0].n && i <= pair.sides[1].n; i++) {
		Exchange exchange = { { at, i }, { 1, i < pair.sides[1].n } };
		double gain = weigh(mend, &pair, &exchange);
		if (gain > best.gain)
			best = (Best){ home, exchange, gain };
	}
	if (best.other != WP_NO_SPAN)
		make(mend, &pair, &best.exchange);
	close_pair(mend, &pair);
	return best.other != WP_NO_SPAN;
}

/* Moves by chance leave some changes that bring nothing. */
static void
undo_idle(Mend *mend)
{
	gboolean has_moved = TRUE;

	for (guint i = 0; i < MAX_ROUNDS && has_moved; i++) {
		has_moved = FALSE;
		for (guint32 b = 0; b < mend->bundles.n_bundles; b++)
			has_moved |= go_home(mend, b);
	}
}

/* --- all of it --- */

/* Children come before their parents are complete; so all spans are roots first, and then hung up. */
static void
count_paths(Mend *mend)
{
	g_autofree guint32 *parents = g_new(guint32, (gsize)mend->n + 1);

	for (guint32 i = 0; i < mend->n; i++) {
		parents[i] = mend->links->links[i].parent;
		mend->links->links[i].parent = WP_NO_SPAN;
	}
	for (guint32 i = 0; i < mend->n; i++)
		if (parents[i] != WP_NO_SPAN) {
			guint64 shape = shape_of(mend, i);
			mend->links->links[i].parent = parents[i];
			put_in_order(children_of(mend, parents[i]), i);
			add_shape(mend, parents[i], shape);
		}
	for (guint32 i = 0; i < mend->n; i++) {
		count_plan(mend, i, 1);
		if (begins_path(mend, i))
			count(mend, i, 1);
	}
	for (guint32 i = 0; i < mend->n; i++)
		if (begins_path(mend, i)) {
			guint32 *most = wp_map_at(mend->most, first_call_of(mend, i), 0);
			*most = MAX(*most, count_of(mend, i));
		}
}

/* (transfer full) The parents of all bundles. */
static guint32 *
keep_answer(const Mend *mend)
{
	guint32 *answer = g_new(guint32, (gsize)mend->bundles.n_bundles + 1);
	for (guint32 b = 0; b < mend->bundles.n_bundles; b++)
		answer[b] = parent_of(mend, b);
	return answer;
}

static void
set_link(const Mend *mend, guint32 span, const WpMendBundle *bundle, guint32 parent, float share)
{
	WpLink *link = &mend->links->links[span];
	const WpSpan *to = &mend->spans[parent];

	link->parent = parent;
	if (parent == bundle->parent)
		return;
	link->runner_up = bundle->parent;
	link->probability = CLAMP(share, LEAST, 1 - LEAST);
	link->evidence = (link->evidence | WP_EVIDENCE_PATH) & ~(guint32)WP_EVIDENCE_AFTER;
	if (wp_span_end_ns(&mend->spans[span]) > to->return_ns)
		link->evidence |= WP_EVIDENCE_AFTER;
}

static void
restore_answer(const Mend *mend, const guint32 *answer, const guint32 *n_kept)
{
	for (guint32 b = 0; b < mend->bundles.n_bundles; b++) {
		const WpMendBundle *bundle = &mend->bundles.bundles[b];
		const guint32 *members = wp_mend_members(&mend->bundles, bundle);
		for (guint32 i = 0; i < bundle->n; i++)
			set_link(mend, members[i], bundle, answer[b], (float)n_kept[b] / DRAWS);
	}
}

/* How often each request takes the path of the answer, in answers drawn by chance. */
static void
draw(Mend *mend, const guint32 *answer)
{
	g_autofree guint64 *paths = g_new0(guint64, (gsize)mend->n + 1);
	g_autofree guint32 *n_kept = g_new0(guint32, (gsize)mend->bundles.n_bundles + 1);
	float *odds = mend->links->path_odds = g_new(float, (gsize)mend->n + 1);

	for (guint32 i = 0; i < mend->n; i++) {
		paths[i] = begins_path(mend, i) ? path_of(mend, i) : 0;
		odds[i] = begins_path(mend, i) ? 0 : -1;
	}
	list_active(mend, SURE);
	for (guint d = 0; d < DRAWS; d++) {
		sweep(mend, 1, SURE);
		for (guint32 i = 0; i < mend->n; i++)
			if (begins_path(mend, i))
				odds[i] += path_of(mend, i) == paths[i];
		for (guint32 b = 0; b < mend->bundles.n_bundles; b++)
			n_kept[b] += parent_of(mend, b) == answer[b];
	}
	for (guint32 i = 0; i < mend->n; i++)
		odds[i] = odds[i] > 0 ? odds[i] / DRAWS : odds[i];
	restore_answer(mend, answer, n_kept);
}

static void
look_again(Mend *mend, WpStopFunc stop)
{
	for (guint i = 0; i < SWEEPS && !(stop && stop()); i++) {
		if (i % SWEEPS_A_LIST == 0)
			list_active(mend, SURE);
		sweep(mend, MAX(1 - (double)i / SWEEPS, COLDEST), SURE);
	}
	for (guint i = 0; i < MAX_ROUNDS && !(stop && stop()); i++)
		if (!improve_all(mend))
			break;
	undo_idle(mend);
}

void
wp_links_mend(WpLinks *links, const WpResolved *resolved, WpStopFunc stop)
{
	Mend mend = {
		.links = links,
		.spans = wp_resolved_spans(resolved)->spans,
		.n = links->n,
		.counts = wp_map_new(),
		.plans = wp_map_new(),
		.most = wp_map_new(),
		.active = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.scratch = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.random = { WP_RANDOM64_SEED },
	};

	mend.sums = g_new0(guint64, (gsize)mend.n + 1);
	mend.children = g_new0(GArray *, (gsize)mend.n + 1);
	wp_mend_bundles_init(&mend.bundles, links, resolved);
	count_paths(&mend);
	g_autofree guint32 *before = keep_answer(&mend);
	/* Where many links are wrong, frequent paths are mistakes too, and calls would be given away for more. */
	if (wp_links_mean_probability(links) >= LEAST_MEAN)
		look_again(&mend, stop);
	g_autofree guint32 *answer = keep_answer(&mend);
	if (stop && stop())
		restore_answer(&mend, before, before);
	else
		draw(&mend, answer);
	wp_mend_bundles_clear(&mend.bundles);
	wp_map_free(mend.counts);
	wp_map_free(mend.plans);
	wp_map_free(mend.most);
	g_array_unref(mend.active);
	g_array_unref(mend.scratch);
	for (guint32 i = 0; i < mend.n; i++)
		if (mend.children[i])
			g_array_unref(mend.children[i]);
	g_free(mend.children);
	g_free(mend.sums);
}
