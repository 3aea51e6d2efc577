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
 * Most requests take a frequent path with calls that the engine is sure of. Of these nothing is asked but to
 * be counted.
 */
#include "infer/mend.h"

#include <string.h>

#include "infer/mend-private.h"
#include "infer/random.h"

#define SWEEPS        25 /* of falling temperature */
#define SWEEPS_A_LIST 5  /* then it is seen anew which bundles are worth looking at */
#define COLDEST       0.05
#define SURE          0.98f /* a call that is surer is not drawn among frequent paths */
#define DRAWS         20    /* sweeps that say how sure paths are */
#define MAX_ROUNDS    10    /* of best moves; they end by themselves */
#define MAX_MOVED     24    /* bundles of a parent that are looked at */
#define ENOUGH        1.0   /* nats: what changes for less is as often wrong as right */
#define MAX_LOSS      40.0  /* temperatures: no move by chance costs more */
#define MANY_MOVED    12    /* bundles of a side, from which on not all runs are tried */
#define LONG_RUN      4     /* of many: longer ones only to the end */
#define FAR           4     /* ... and what comes back is among so many before or behind */
#define MANY_CHANGED  16    /* of all calls one in so many: to look at all is not dearer */
#define LEAST         0.02f /* probability of a changed link: draws tell no less, or more than the rest */

/* A root, and the path that it had before any draw. */
typedef struct {
	guint32 root;
	guint32 path;
} Changed;

/* A bundle that has several options. */
typedef struct {
	guint32 number;
	guint32 member;
	guint32 first_option;
	guint32 n_options;
	gboolean is_sure; /* the engine */
} Movable;

typedef struct {
	WpMendBundles bundles;
	WpMendPaths paths;
	WpLinks *links; /* of the engine, until the end */
	Movable *movable;
	guint32 n_movable;
	GArray *active;     /* guint32: bundles that sweeps look at */
	GArray *changed;    /* Changed: roots whose path has ever changed in a draw */
	guint8 *is_in;      /* by span: is in CHANGED */
	guint8 *is_rare;    /* by span, as list_active() found it: its request takes a rare path */
	GArray *rare_paths; /* guint8: likewise by path, of those that there were */
	GArray *moved;      /* guint32: roots whose tree may have changed since then */
	guint32 *tried;     /* by span: the last request that was tried with it, + 1 */
	GArray *scratch;    /* guint32: calls of a span as they would be */
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
	gboolean has_changed;
	Side sides[2];
} Pair;

/* Bundles from BEGIN on of either side change sides. */
typedef struct {
	guint32 begin[2];
	guint32 n[2];
} Exchange;

static guint64
bundle_shape(const Mend *mend, const WpMendBundle *bundle)
{
	const guint32 *members = wp_mend_members(&mend->bundles, bundle);
	guint64 sum = 0;
	for (guint32 i = 0; i < bundle->n; i++)
		sum += wp_mend_shape(&mend->paths, members[i]);
	return sum;
}

/* The parent that bundle NUMBER has now. */
static guint32
parent_of(const Mend *mend, guint32 number)
{
	const WpMendBundle *bundle = &mend->bundles.bundles[number];
	return mend->paths.spans[wp_mend_members(&mend->bundles, bundle)[0]].parent;
}

/* --- pairs of parents --- */

static gboolean
is_below(const Mend *mend, guint32 span, guint32 top)
{
	while (span != WP_NO_SPAN && span != top)
		span = mend->paths.spans[span].parent;
	return span == top;
}

static void
fill_side(const Mend *mend, guint32 from, guint32 to, Side *side)
{
	const WpMendList *below = &mend->bundles.below.lists[from];

	side->n = 0;
	for (guint32 i = 0; i < below->n && side->n < MAX_MOVED; i++) {
		guint32 number = below->items[i];
		const WpMendBundle *bundle = &mend->bundles.bundles[number];
		if (!wp_mend_fits(&mend->bundles, bundle, to) ||
		    is_below(mend, to, wp_mend_members(&mend->bundles, bundle)[0]))
			continue;
		side->bundles[side->n] = number;
		side->shapes[side->n] = bundle_shape(mend, bundle);
		side->gains[side->n++] = wp_mend_belief(bundle, to) - wp_mend_belief(bundle, from);
	}
}

static void
count_pair(Mend *mend, const Pair *pair, gint delta)
{
	wp_mend_count_path(&mend->paths, pair->roots[0], delta);
	if (pair->roots[1] != pair->roots[0])
		wp_mend_count_path(&mend->paths, pair->roots[1], delta);
	for (int s = 0; s < 2; s++)
		wp_mend_count_plan(&mend->paths, pair->parents[s], delta);
}

/* Puts the pair, as it is now, back into the counts. */
static void
close_pair(Mend *mend, const Pair *pair)
{
	for (int s = 0; s < 2 && pair->has_changed; s++) {
		wp_mend_renew_path(&mend->paths, pair->roots[s]);
		wp_mend_renew_plan(&mend->paths, pair->parents[s]);
	}
	count_pair(mend, pair, 1);
}

static gboolean
is_crowded(const Mend *mend, guint32 span)
{
	return mend->paths.calls.lists[span].n > WP_MEND_MAX_CHILDREN;
}

/* Takes both requests out of the counts; FALSE where nothing can be moved between the two. */
static gboolean
open_pair(Mend *mend, guint32 a, guint32 b, Pair *pair)
{
	WpMendPaths *paths = &mend->paths;

	pair->parents[0] = a;
	pair->parents[1] = b;
	pair->roots[0] = wp_mend_root(paths, a);
	pair->roots[1] = wp_mend_root(paths, b);
	pair->has_changed = FALSE;
	if (!wp_mend_begins_path(paths, pair->roots[0]) ||
	    !wp_mend_begins_path(paths, pair->roots[1]) || is_crowded(mend, a) ||
	    is_crowded(mend, b))
		return FALSE;
	fill_side(mend, a, b, &pair->sides[0]);
	fill_side(mend, b, a, &pair->sides[1]);
	count_pair(mend, pair, -1);
	pair->before = wp_mend_worth_of_path(paths, pair->roots[0]);
	if (pair->roots[1] != pair->roots[0])
		pair->before += wp_mend_worth_of_path(paths, pair->roots[1]);
	pair->plans_before = wp_mend_worth_of_plan(paths, a) + wp_mend_worth_of_plan(paths, b);
	return TRUE;
}

/* Adds the calls of bundle NUMBER to N CALLS, or takes them out; returns how many there are then. */
static guint32
change_calls(const Mend *mend, guint32 *calls, guint32 n, guint32 number, gboolean adds)
{
	const WpMendBundle *bundle = &mend->bundles.bundles[number];
	const guint32 *members = wp_mend_members(&mend->bundles, bundle);
	WpMendList list = { calls, n, G_MAXUINT32, FALSE };

	for (guint32 i = 0; i < bundle->n; i++)
		if (adds)
			wp_mend_list_add(&list, members[i]);
		else
			wp_mend_list_remove(&list, members[i]);
	return list.n;
}

/* How many calls the bundles of EXCHANGE from SIDE are. */
static guint32
count_calls(const Mend *mend, const Pair *pair, const Exchange *exchange, int side)
{
	guint32 n = 0;
	for (guint32 i = 0; i < exchange->n[side]; i++)
		n += mend->bundles.bundles[pair->sides[side].bundles[exchange->begin[side] + i]].n;
	return n;
}

/* What EXCHANGE brings to the plans of both. */
static double
weigh_plans(const Mend *mend, const Pair *pair, const Exchange *exchange)
{
	double sum = -pair->plans_before;

	for (int s = 0; s < 2; s++) {
		const WpMendList *now = &mend->paths.calls.lists[pair->parents[s]];
		guint32 n = now->n;
		g_array_set_size(mend->scratch, n + count_calls(mend, pair, exchange, 1 - s));
		guint32 *calls = (guint32 *)(void *)mend->scratch->data;
		for (guint32 i = 0; i < n; i++)
			calls[i] = now->items[i];
		for (int k = 0; k < 2; k++) {
			int from =
				k == 0 ? s : 1 - s; /* first those that go, so that there is room */
			for (guint32 i = 0; i < exchange->n[from]; i++)
				n = change_calls(
					mend, calls, n,
					pair->sides[from].bundles[exchange->begin[from] + i],
					from != s);
		}
		sum += wp_mend_worth_of_plan_hash(
			&mend->paths, wp_mend_plan_with(&mend->paths, pair->parents[s], calls, n));
	}
	return sum;
}

/* What two requests are worth when DELTA goes from the second parent to the first. */
static double
worth_with(Mend *mend, const Pair *pair, guint64 delta)
{
	WpMendPaths *paths = &mend->paths;
	const guint32 *parents = pair->parents;

	if (pair->roots[0] != pair->roots[1])
		return wp_mend_worth_of_path_hash(paths,
						  wp_mend_path_with(paths, parents[0], delta)) +
		       wp_mend_worth_of_path_hash(paths,
						  wp_mend_path_with(paths, parents[1], -delta));
	wp_mend_add_shape(paths, parents[0], delta);
	double worth =
		wp_mend_worth_of_path_hash(paths, wp_mend_path_with(paths, parents[1], -delta));
	wp_mend_add_shape(paths, parents[0], -delta);
	return worth;
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
	gain += weigh_plans(mend, pair, exchange);
	return delta == 0 ? gain : gain + worth_with(mend, pair, delta) - pair->before;
}

static void
give(Mend *mend, guint32 number, guint32 from, guint32 to)
{
	const WpMendBundle *bundle = &mend->bundles.bundles[number];
	const guint32 *members = wp_mend_members(&mend->bundles, bundle);
	guint64 shape = bundle_shape(mend, bundle);

	wp_mend_list_remove(&mend->bundles.below.lists[from], number);
	wp_mend_list_add(&mend->bundles.below.lists[to], number);
	for (guint32 i = 0; i < bundle->n; i++) {
		wp_mend_list_remove(&mend->paths.calls.lists[from], members[i]);
		wp_mend_list_add(&mend->paths.calls.lists[to], members[i]);
	}
	wp_mend_add_shape(&mend->paths, from, -shape);
	for (guint32 i = 0; i < bundle->n; i++)
		mend->paths.spans[members[i]].parent = to;
	wp_mend_add_shape(&mend->paths, to, shape);
}

static void
note_change(Mend *mend, guint32 root)
{
	Changed changed = { root, mend->paths.spans[root].path };

	if (!mend->is_in[root])
		g_array_append_val(mend->changed, changed);
	mend->is_in[root] = TRUE;
}

static void
make(Mend *mend, Pair *pair, const Exchange *exchange)
{
	pair->has_changed = TRUE;
	for (int s = 0; s < 2; s++) {
		note_change(mend, pair->roots[s]);
		if (mend->moved->len <= mend->paths.n / MANY_CHANGED) /* else all are looked at */
			g_array_append_val(mend->moved, pair->roots[s]);
		for (guint32 i = 0; i < exchange->n[s]; i++)
			give(mend, pair->sides[s].bundles[exchange->begin[s] + i], pair->parents[s],
			     pair->parents[1 - s]);
	}
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

static gboolean
is_rare(const Mend *mend, guint32 span)
{
	return wp_mend_is_rare(&mend->paths, wp_mend_root(&mend->paths, span));
}

/*
 * Between two requests on frequent paths there is nothing to mend, and of a call that the engine is sure of
 * hardly anything to draw; that is most of them.
 */
static gboolean
is_idle(const Mend *mend, const WpMendBundle *bundle, guint32 from, guint32 to)
{
	return bundle->probability >= SURE && !is_rare(mend, from) && !is_rare(mend, to);
}

static gboolean
is_taken(Mend *mend, double gain, double temperature)
{
	if (gain >= 0)
		return TRUE;
	double share = wp_random64_share(&mend->random);
	return gain > -MAX_LOSS * temperature && share < wp_quick_exp(gain / temperature);
}

/* One of the possible parents of BUNDLE, which has several, but FROM. */
static guint32
other_option(Mend *mend, const WpMendBundle *bundle, guint32 from)
{
	const guint32 *options = wp_mend_options(&mend->bundles, bundle);
	guint32 last = bundle->n_options - 1;
	guint32 to = options[wp_random64_below(&mend->random, last)];
	return to == from ? options[last] : to;
}

/*
 * A run that begins with bundle NUMBER goes to another request, and maybe one comes back. Bundles of which
 * the engine is sure only where one of the two takes a rare path.
 */
static void
try_by_chance(Mend *mend, guint32 number, double temperature)
{
	const WpMendBundle *bundle = &mend->bundles.bundles[number];
	guint32 from = parent_of(mend, number);
	guint32 to = other_option(mend, bundle, from);
	Exchange exchange = { { 0, 0 }, { 0, 0 } };
	Pair pair;

	if (to == from || is_idle(mend, bundle, from, to) || !open_pair(mend, from, to, &pair))
		return;
	exchange.begin[0] = place_of(&pair.sides[0], number);
	if (exchange.begin[0] < pair.sides[0].n) {
		exchange.n[0] = random_run(mend, pair.sides[0].n - exchange.begin[0]);
		if (pair.sides[1].n && wp_random64_share(&mend->random) < 0.5) {
			exchange.begin[1] = wp_random64_below(&mend->random, pair.sides[1].n);
			exchange.n[1] = random_run(mend, pair.sides[1].n - exchange.begin[1]);
		}
		if (is_taken(mend, weigh(mend, &pair, &exchange), temperature))
			make(mend, &pair, &exchange);
	}
	close_pair(mend, &pair);
}

static void
list_movable(Mend *mend)
{
	const WpMendBundles *bundles = &mend->bundles;

	mend->movable = g_new(Movable, (gsize)bundles->n_bundles + 1);
	for (guint32 b = 0; b < bundles->n_bundles; b++) {
		const WpMendBundle *bundle = &bundles->bundles[b];
		if (bundle->n_options > 1)
			mend->movable[mend->n_movable++] =
				(Movable){ b, wp_mend_members(bundles, bundle)[0],
					   bundle->first_option, bundle->n_options,
					   bundle->probability >= SURE };
	}
}

/* TRUE where a move of BUNDLE may change something: see is_idle(). */
static gboolean
is_active(const Mend *mend, const Movable *bundle)
{
	const guint32 *options = mend->bundles.options + bundle->first_option;
	gboolean is_found = !bundle->is_sure || mend->is_rare[bundle->member];

	for (guint32 i = 0; i < bundle->n_options && !is_found; i++)
		is_found = mend->is_rare[options[i]];
	return is_found;
}

/* TRUE where a path has become rare, or frequent, that requests may take which have not changed. */
static gboolean
find_rare_paths(Mend *mend)
{
	guint32 n_known = mend->rare_paths->len, n = mend->paths.n_paths->len;
	gboolean has_changed = n_known == 0;

	g_array_set_size(mend->rare_paths, n);
	guint8 *rare = (guint8 *)(void *)mend->rare_paths->data;
	for (guint32 p = 0; p < n; p++) {
		guint8 is_rare_now = (guint8)wp_mend_is_rare_path(&mend->paths, p);
		has_changed |= p < n_known && rare[p] != is_rare_now;
		rare[p] = is_rare_now;
	}
	return has_changed;
}

/* Spans are options of many bundles, so each is asked once; nearly all come behind their parent. */
static void
find_rare_spans(Mend *mend)
{
	const WpMendPaths *paths = &mend->paths;

	for (guint32 i = 0; i < paths->n; i++) {
		guint32 parent = paths->spans[i].parent;
		mend->is_rare[i] = parent < i ? mend->is_rare[parent] : (guint8)is_rare(mend, i);
	}
}

/* The same, below ROOT alone. */
static void
find_rare_below(Mend *mend, guint32 root)
{
	guint8 is_rare_now = (guint8)is_rare(mend, root);

	g_array_set_size(mend->scratch, 0);
	g_array_append_val(mend->scratch, root);
	while (mend->scratch->len > 0) {
		guint32 last = mend->scratch->len - 1;
		guint32 span = g_array_index(mend->scratch, guint32, last);
		const WpMendList *calls = &mend->paths.calls.lists[span];
		mend->is_rare[span] = is_rare_now;
		g_array_set_size(mend->scratch, last);
		if (calls->n > 0)
			g_array_append_vals(mend->scratch, calls->items, calls->n);
	}
}

static void
list_active(Mend *mend)
{
	if (find_rare_paths(mend) || mend->moved->len > mend->paths.n / MANY_CHANGED)
		find_rare_spans(mend);
	else
		for (guint i = 0; i < mend->moved->len; i++)
			find_rare_below(mend, g_array_index(mend->moved, guint32, i));
	g_array_set_size(mend->moved, 0);
	g_array_set_size(mend->active, 0);
	for (guint32 i = 0; i < mend->n_movable; i++)
		if (is_active(mend, &mend->movable[i]))
			g_array_append_val(mend->active, mend->movable[i].number);
}

/* In order of time, as neighbours are in the cache together. */
static void
sweep(Mend *mend, double temperature)
{
	for (guint i = 0; i < mend->active->len; i++)
		try_by_chance(mend, g_array_index(mend->active, guint32, i), temperature);
}

/* --- best moves --- */

typedef struct {
	guint32 other; /* the second parent */
	Exchange exchange;
	double gain;
} Best;

/*
 * FALSE: not worth to be tried. Between two that have many, exchanges are made of calls that lie together,
 * one by one, or of all to the end.
 */
static gboolean
is_likely(const Side *sides, const Exchange *exchange)
{
	if (MAX(sides[0].n, sides[1].n) <= MANY_MOVED)
		return TRUE;
	for (int s = 0; s < 2; s++)
		if (exchange->n[s] > LONG_RUN && exchange->begin[s] + exchange->n[s] < sides[s].n)
			return FALSE;
	if (exchange->n[0] == 0 || exchange->n[1] == 0)
		return TRUE;
	guint32 first = sides[0].bundles[exchange->begin[0]];
	guint32 from = exchange->begin[1] - MIN(exchange->begin[1], FAR);
	guint32 to = MIN(exchange->begin[1] + FAR, sides[1].n - 1);
	return (from == 0 || sides[1].bundles[from] <= first) &&
	       (to == sides[1].n - 1 || sides[1].bundles[to] >= first);
}

/* Tries runs of one side against those of the other, and none. */
static void
try_all(Mend *mend, const Pair *pair, Best *best)
{
	const Side *sides = pair->sides;

	for (guint32 a = 0; a <= sides[0].n; a++)
		for (guint32 i = a < sides[0].n; a + i <= sides[0].n; i++)
			for (guint32 b = 0; b <= sides[1].n; b++)
				for (guint32 k = b < sides[1].n; b + k <= sides[1].n; k++) {
					Exchange exchange = { { a, b }, { i, k } };
					if (i + k == 0 || !is_likely(sides, &exchange))
						continue;
					double gain = weigh(mend, pair, &exchange);
					if (gain > best->gain)
						*best = (Best){ pair->parents[1], exchange, gain };
				}
}

/* Makes the best move between SPAN and another. */
static gboolean
improve(Mend *mend, guint32 span)
{
	const WpMendList *below = &mend->bundles.below.lists[span];
	Best best = { WP_NO_SPAN, { { 0, 0 }, { 0, 0 } }, ENOUGH };
	Pair pair;

	for (guint32 i = 0; i < MIN(below->n, MAX_MOVED); i++) {
		const WpMendBundle *bundle = &mend->bundles.bundles[below->items[i]];
		for (guint32 k = 0; k < bundle->n_options; k++) {
			guint32 other = wp_mend_options(&mend->bundles, bundle)[k];
			if (other == span || mend->tried[other] == span + 1)
				continue;
			mend->tried[other] = span + 1;
			if (!open_pair(mend, span, other, &pair))
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

	memset(mend->tried, 0, mend->paths.n * sizeof mend->tried[0]);
	for (guint32 span = 0; span < mend->paths.n; span++)
		if (mend->bundles.below.lists[span].n && is_rare(mend, span))
			has_moved |= improve(mend, span);
	return has_moved;
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

/* A bundle that was given to another parent. */
typedef struct {
	guint32 number;
	guint32 parent;
	guint32 n_kept; /* draws in which it has that parent as well */
} Change;

/* (transfer full) */
static GArray *
find_changes(const Mend *mend)
{
	GArray *changes = g_array_new(FALSE, FALSE, sizeof(Change));
	for (guint32 b = 0; b < mend->bundles.n_bundles; b++) {
		Change change = { b, parent_of(mend, b), 0 };
		if (change.parent != mend->bundles.bundles[b].parent)
			g_array_append_val(changes, change);
	}
	return changes;
}

static void
set_link(const Mend *mend, guint32 span, const Change *change)
{
	WpLink *link = &mend->links->links[span];

	link->runner_up = link->parent;
	link->parent = change->parent;
	link->probability = CLAMP((float)change->n_kept / DRAWS, LEAST, 1 - LEAST);
	link->evidence = (link->evidence | WP_EVIDENCE_PATH) & ~(guint32)WP_EVIDENCE_AFTER;
	if (wp_span_is_paired(&mend->bundles.spans[change->parent]) &&
	    mend->paths.spans[span].end_ns > mend->paths.spans[change->parent].end_ns)
		link->evidence |= WP_EVIDENCE_AFTER;
}

static void
set_links(const Mend *mend, const GArray *changes)
{
	for (guint i = 0; i < changes->len; i++) {
		const Change *change = &g_array_index(changes, Change, i);
		const WpMendBundle *bundle = &mend->bundles.bundles[change->number];
		const guint32 *members = wp_mend_members(&mend->bundles, bundle);
		for (guint32 k = 0; k < bundle->n; k++)
			set_link(mend, members[k], change);
	}
}

/* One more draw is over: which requests take another path than in the answer, ... */
static void
count_others(const Mend *mend, float *odds, GArray *changes)
{
	for (guint i = 0; i < mend->changed->len; i++) {
		const Changed *changed = &g_array_index(mend->changed, Changed, i);
		if (mend->paths.spans[changed->root].path != changed->path)
			odds[changed->root] -= 1.0f / DRAWS;
	}
	for (guint i = 0; i < changes->len; i++) {
		Change *change = &g_array_index(changes, Change, i);
		change->n_kept += parent_of(mend, change->number) == change->parent;
	}
}

/* How often each request takes the path of the answer, in answers drawn by chance. */
static void
draw(Mend *mend, GArray *changes)
{
	float *odds = mend->links->path_odds;

	for (guint i = 0; i < mend->changed->len; i++)
		mend->is_in[g_array_index(mend->changed, Changed, i).root] = FALSE;
	g_array_set_size(mend->changed, 0);
	list_active(mend);
	for (guint d = 0; d < DRAWS; d++) {
		sweep(mend, 1);
		count_others(mend, odds, changes);
	}
	for (guint i = 0; i < mend->changed->len; i++) {
		float *own = &odds[g_array_index(mend->changed, Changed, i).root];
		*own = MAX(*own, 0);
	}
}

static void
look_again(Mend *mend, WpStopFunc stop)
{
	for (guint i = 0; i < SWEEPS && !(stop && stop()); i++) {
		if (i % SWEEPS_A_LIST == 0)
			list_active(mend);
		sweep(mend, MAX(1 - (double)i / SWEEPS, COLDEST));
	}
	for (guint i = 0; i < MAX_ROUNDS && !(stop && stop()); i++)
		if (!improve_all(mend))
			break;
	undo_idle(mend);
}

/* What is sure of the paths before any draw. */
static void
set_path_odds(const Mend *mend)
{
	float *odds = mend->links->path_odds = g_new(float, (gsize)mend->paths.n + 1);
	for (guint32 i = 0; i < mend->paths.n; i++)
		odds[i] = wp_mend_begins_path(&mend->paths, i) ? 1 : -1;
}

static void
mend_all(Mend *mend, WpStopFunc stop)
{
	/* Where many links are wrong, frequent paths are mistakes too, and calls would be given away for more. */
	if (wp_links_mean_probability(mend->links) >= WP_MEND_LEAST_MEAN &&
	    !wp_mend_are_diverse(&mend->paths))
		look_again(mend, stop);
	if (stop && stop())
		return;
	g_autoptr(GArray) changes = find_changes(mend);
	set_path_odds(mend);
	draw(mend, changes);
	set_links(mend, changes);
}

void
wp_links_mend(WpLinks *links, const WpResolved *resolved, const guint32 *alike, WpStopFunc stop)
{
	WpQuickLog quick;
	Mend mend = {
		.links = links,
		.active = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.changed = g_array_new(FALSE, FALSE, sizeof(Changed)),
		.rare_paths = g_array_new(FALSE, FALSE, sizeof(guint8)),
		.moved = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.is_in = g_new0(guint8, (gsize)links->n + 1),
		.is_rare = g_new(guint8, (gsize)links->n + 1),
		.tried = g_new0(guint32, (gsize)links->n + 1),
		.scratch = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.random = { WP_RANDOM64_SEED },
	};

	wp_quick_log_init(&quick);
	wp_mend_bundles_init(&mend.bundles, links, resolved, &quick);
	wp_mend_paths_init(&mend.paths, links, resolved, NULL, &quick);
	if (alike && wp_mend_are_diverse(&mend.paths)) {
		wp_mend_paths_clear(&mend.paths);
		wp_mend_paths_init(&mend.paths, links, resolved, alike, &quick);
	}
	list_movable(&mend);
	mend_all(&mend, stop);
	wp_mend_bundles_clear(&mend.bundles);
	wp_mend_paths_clear(&mend.paths);
	g_array_unref(mend.active);
	g_array_unref(mend.changed);
	g_array_unref(mend.rare_paths);
	g_array_unref(mend.moved);
	g_free(mend.movable);
	g_array_unref(mend.scratch);
	g_free(mend.is_in);
	g_free(mend.is_rare);
	g_free(mend.tried);
}
