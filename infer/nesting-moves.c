/* Moves: what two parents would have, how likely that is, and making it so. */
#include "infer/nesting-moves.h"

#include "infer/evidence-kind.h"

/*
 * Bundles that may come back for one, on either side of it: the nearest. To exchange two with many alike in
 * between is to exchange neighbours again and again. Parents with many children have many alike, each of which
 * costs as much as they have children.
 */
#define MAX_SWAPS      8
#define MAX_SWAPS_LONG 2
#define LONG           16 /* children */

typedef WpNestMove Move;
typedef WpNestList List;
typedef WpNestMemory Memory;
typedef WpNestLeft Left;
typedef WpNestSearch Search;
typedef WpNestBest Best;

/* Of Gumbel's law: the greatest of gains with such noise is as in a draw by exp(gain). */
static double
noise(Search *search)
{
	const WpQuickLog *quick = &search->problem->quick;
	return -wp_quick_log(quick, -wp_quick_log(quick, wp_random64_share(&search->random)));
}

/* --- lists of children --- */

/* PARENT's children without those of the bundles OUT and with those of the bundles IN (up to two), by begin. */
static void
exchange(const WpNestProblem *problem, const WpNestParent *parent, const guint32 leave[2],
	 const guint32 join[2], List *out)
{
	guint32 n = 0, first = G_MAXUINT32, last = 0;

	for (gint k = 0; k < 2 && leave[k] != WP_NO_BUNDLE; k++) {
		const WpNestBundle *bundle = &problem->bundles[leave[k]];
		first = MIN(first, problem->bundle_children[bundle->first]);
		last = MAX(last, problem->bundle_children[bundle->first + bundle->n - 1]);
	}
	for (guint32 i = 0; i < parent->n; i++) {
		guint32 child = parent->children[i];
		if (child >= first && child <= last) {
			guint32 bundle = problem->children[child].bundle;
			if (bundle == leave[0] || bundle == leave[1])
				continue;
		}
		out->children[n++] = child;
	}
	/* Numbers of children are in order of begin. */
	for (gint k = 0; k < 2 && join[k] != WP_NO_BUNDLE; k++) {
		const WpNestBundle *bundle = &problem->bundles[join[k]];
		for (guint32 i = 0; i < bundle->n; i++) {
			guint32 child = problem->bundle_children[bundle->first + i], at = n++;
			for (; at > 0 && out->children[at - 1] > child; at--)
				out->children[at] = out->children[at - 1];
			out->children[at] = child;
		}
	}
	out->n = n;
}

/* What evidence beside time has against BUNDLE's parent FROM and for TO. */
static double
gain_of_odds(const WpNestProblem *problem, const WpNestBundle *bundle, guint32 from, guint32 to)
{
	if (!problem->evidence)
		return 0;
	const WpNestCandidate *candidates = problem->candidates + bundle->first_candidate;
	gint at_from = wp_nest_find_candidate(problem, bundle, from);
	gint at_to = wp_nest_find_candidate(problem, bundle, to);
	return (at_to < 0 ? 0 : (double)candidates[at_to].odds) -
	       (at_from < 0 ? 0 : (double)candidates[at_from].odds);
}

static WpNestTails
tails_of(const WpNestProblem *problem, const Move *move)
{
	const WpNestBundle *bundle = &problem->bundles[move->bundle];
	return (WpNestTails){ move->from, move->to, problem->bundle_children[bundle->first],
			      move->end };
}

/* What evidence gains by exchanging those of TAILS that are FROM's, with TO. */
static double
odds_of_tail(const WpNestProblem *problem, const WpNestTails *tails, guint32 from, guint32 to)
{
	const WpNestParent *parent = &problem->parents[from];
	double odds = 0;

	for (guint32 i = 0; i < parent->n; i++) {
		guint32 child = parent->children[i];
		const WpNestBundle *bundle = &problem->bundles[problem->children[child].bundle];
		if (child >= tails->first && child < tails->end &&
		    problem->bundle_children[bundle->first] == child)
			odds += gain_of_odds(problem, bundle, from, to);
	}
	return odds;
}

static void
exchange_tails(Search *search, Move *move)
{
	const WpNestProblem *problem = search->problem;
	const WpNestTails tails = tails_of(problem, move);

	search->of_from.n = wp_nest_join_tails(problem, &tails, FALSE, search->of_from.children);
	search->of_to.n = wp_nest_join_tails(problem, &tails, TRUE, search->of_to.children);
	if (problem->evidence)
		move->odds = odds_of_tail(problem, &tails, move->from, move->to) +
			     odds_of_tail(problem, &tails, move->to, move->from);
}

/* Sets of_from, of_to and MOVE's odds. */
static void
prepare(Search *search, Move *move)
{
	const WpNestProblem *problem = search->problem;
	guint32 gone[2] = { move->bundle, WP_NO_BUNDLE }, back[2] = { WP_NO_BUNDLE, WP_NO_BUNDLE };

	move->odds = 0;
	if (move->kind == WP_NEST_MOVE_TAILS) {
		exchange_tails(search, move);
		return;
	}
	if (move->kind == WP_NEST_MOVE_RUN || move->kind == WP_NEST_MOVE_SWAP_RUN)
		gone[1] = move->next;
	if (move->kind == WP_NEST_MOVE_SWAP || move->kind == WP_NEST_MOVE_SWAP_RUN)
		back[0] = move->other;
	if (move->kind == WP_NEST_MOVE_SWAP_RUN)
		back[1] = move->other_next;
	exchange(problem, &problem->parents[move->from], gone, back, &search->of_from);
	exchange(problem, &problem->parents[move->to], back, gone, &search->of_to);
	for (gint i = 0; i < 2 && problem->evidence; i++) {
		if (gone[i] != WP_NO_BUNDLE)
			move->odds += gain_of_odds(problem, &problem->bundles[gone[i]], move->from,
						   move->to);
		if (back[i] != WP_NO_BUNDLE)
			move->odds += gain_of_odds(problem, &problem->bundles[back[i]], move->to,
						   move->from);
	}
}

/* PARENT has changed. */
static void
wake_bundles(const Search *search, guint32 parent)
{
	const WpNestSleep *sleep = &search->sleep;
	guint32 at = parent - sleep->first_parent;

	if (parent < sleep->first_parent || at >= sleep->n_parents)
		return;
	for (guint32 i = sleep->first[at]; i < sleep->first[at + 1]; i++)
		sleep->asleep[sleep->bundles[i]] = FALSE;
}

static void
set_children(Search *search, guint32 number, const List *list, double score)
{
	WpNestProblem *problem = search->problem;
	WpNestParent *parent = &problem->parents[number];
	wp_nest_make_room(parent, list->n);
	for (guint32 i = 0; i < list->n; i++)
		parent->children[i] = list->children[i];
	parent->n = list->n;
	parent->score = score;
	parent->model = search->model;
	if (search->fifo)
		wp_nest_fifo_update(search->fifo, number);
	search->changed[number] = search->clock;
	wake_bundles(search, number);
	wp_timelines_touch(search->timelines, number);
	for (guint32 i = 0; i < list->n; i++)
		problem->bundles[problem->children[list->children[i]].bundle].parent = number;
}

/* --- moves --- */

/*
 * Whether MOVE takes a bundle from being alone: then one of its kind comes back to no parent at all. Nothing tells one ghost of
 * such from another but that each is of its own bundle.
 */
static gboolean
is_from_alone(const WpNestProblem *problem, const Move *move)
{
	return problem->alone_nats && move->from == wp_nest_ghost_of(problem, move->bundle) &&
	       wp_nest_may_be_alone(problem, &problem->bundles[move->bundle]) &&
	       problem->parents[move->from].n == 1;
}

/* Whose bundle OTHER may be, when MOVE takes its own from a parent; WP_NO_PARENT: it may not. */
static guint32
parent_for(const WpNestProblem *problem, const Move *move, guint32 other)
{
	const WpNestBundle *bundle = &problem->bundles[other];
	guint32 ghost;

	if (wp_nest_find_candidate(problem, bundle, move->from) >= 0)
		return move->from;
	if (!is_from_alone(problem, move) || !wp_nest_may_be_alone(problem, bundle))
		return WP_NO_PARENT;
	ghost = wp_nest_ghost_of(problem, other);
	return wp_nest_find_candidate(problem, bundle, ghost) >= 0 ? ghost : WP_NO_PARENT;
}

void
wp_nest_make_move(Search *search, Move *move)
{
	static const List nothing = { .n = 0 };

	search->clock++;
	prepare(search, move);
	guint32 from = move->kind == WP_NEST_MOVE_SWAP
			       ? parent_for(search->problem, move, move->other)
			       : move->from;
	if (from != move->from)
		set_children(search, move->from, &nothing, 0);
	set_children(search, from, &search->of_from, move->score_from);
	set_children(search, move->to, &search->of_to, move->score_to);
}

double
wp_nest_score(Search *search, guint32 number)
{
	WpNestParent *parent = &search->problem->parents[number];

	if (parent->model != search->model) {
		parent->score =
			wp_timelines_score(search->timelines, number, parent->children, parent->n);
		parent->model = search->model;
	}
	return parent->score;
}

double
wp_nest_total(Search *search)
{
	double total = 0;

	for (guint32 p = search->first_parent; p < search->end_parent; p++) {
		const WpNestParent *parent = &search->problem->parents[p];
		total += wp_nest_score(search, p) +
			 wp_timelines_cost_of_once(search->timelines, parent->children, parent->n);
	}
	return total;
}

/* What is left behind by a bundle that goes is the same wherever it goes. */
static double
score_of_from(Search *search, const Move *move)
{
	Left *left = &search->left;
	gboolean is_left = move->kind == WP_NEST_MOVE_RELOCATE;

	if (is_left && left->bundle == move->bundle && left->clock == search->clock &&
	    left->model == search->model)
		return left->score;
	double score = wp_timelines_score(search->timelines, move->from, search->of_from.children,
					  search->of_from.n);
	if (is_left)
		*left = (Left){ move->bundle, search->clock, search->model, score };
	return score;
}

static void
consider(Search *search, Move *move, Best *best)
{
	prepare(search, move);
	move->score_from = score_of_from(search, move);
	move->score_to = wp_timelines_score(search->timelines, move->to, search->of_to.children,
					    search->of_to.n);
	move->gain = move->score_from + move->score_to - wp_nest_score(search, move->from) -
		     wp_nest_score(search, move->to) + move->odds;
	if (search->fifo) {
		const WpNestFamily families[2] = {
			{ move->from, search->of_from.children, search->of_from.n },
			{ move->to, search->of_to.children, search->of_to.n },
		};
		move->gain -= wp_nest_fifo_cost(search->fifo, families);
	}
	best->gain = MAX(best->gain, move->gain);
	if (search->temperature > 0)
		move->gain += search->temperature * noise(search);
	if (move->gain > best->move.gain)
		best->move = *move;
}

/* The bundle of PARENT's that begins next after BUNDLE and might be OTHER's; or WP_NO_BUNDLE. */
static guint32
next_bundle(const WpNestProblem *problem, guint32 parent, guint32 bundle, guint32 other)
{
	const WpNestParent *self = &problem->parents[parent];
	guint32 first = problem->bundle_children[problem->bundles[bundle].first];
	for (guint32 i = 0; i < self->n; i++) {
		guint32 next = problem->children[self->children[i]].bundle;
		if (self->children[i] <= first || next == bundle ||
		    problem->bundle_children[problem->bundles[next].first] != self->children[i])
			continue;
		return wp_nest_find_candidate(problem, &problem->bundles[next], other) >= 0
			       ? next
			       : WP_NO_BUNDLE;
	}
	return WP_NO_BUNDLE;
}

/* The bundle that begins with child AT of TO's, if it may come back for MOVE's; else WP_NO_BUNDLE. */
static guint32
bundle_to_swap(const WpNestProblem *problem, const Move *move, guint32 at)
{
	guint32 child = problem->parents[move->to].children[at];
	guint32 number = problem->children[child].bundle;
	const WpNestBundle *other = &problem->bundles[number];
	gboolean may_come = other->kind == problem->bundles[move->bundle].kind &&
			    problem->bundle_children[other->first] == child &&
			    parent_for(problem, move, number) != WP_NO_PARENT;
	return may_come ? number : WP_NO_BUNDLE;
}

/* The first of TO's children to look at: MOST bundles that may come back lie before MOVE's bundle then. */
static guint32
first_to_swap(const WpNestProblem *problem, const Move *move, guint most)
{
	const WpNestParent *to = &problem->parents[move->to];
	guint32 child = problem->bundle_children[problem->bundles[move->bundle].first];
	guint32 at = wp_nest_find_child(to, child);

	for (guint n = 0; at > 0 && n < most; at--)
		n += bundle_to_swap(problem, move, at - 1) != WP_NO_BUNDLE;
	return at;
}

/* Exchanges with bundles of the same kind that the other parent has, alone and with the next. */
static void
try_swaps(Search *search, Move *move, Best *best)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundles = problem->bundles;
	const WpNestParent *to = &problem->parents[move->to];
	guint32 child = problem->bundle_children[bundles[move->bundle].first];
	guint most = to->n < LONG ? MAX_SWAPS : MAX_SWAPS_LONG, n_behind = 0;

	for (guint32 i = first_to_swap(problem, move, most); i < to->n && n_behind < most; i++) {
		move->other = bundle_to_swap(problem, move, i);
		if (move->other == WP_NO_BUNDLE)
			continue;
		n_behind += to->children[i] > child;
		move->kind = WP_NEST_MOVE_SWAP;
		consider(search, move, best);
		if (move->next == WP_NO_BUNDLE)
			continue;
		move->other_next = next_bundle(problem, move->to, move->other, move->from);
		if (move->other_next == WP_NO_BUNDLE ||
		    bundles[move->other_next].kind != bundles[move->next].kind)
			continue;
		move->kind = WP_NEST_MOVE_SWAP_RUN;
		consider(search, move, best);
	}
}

/* Exchanges all from MOVE's bundle on, as far as may be, and up to where both had better go back. */
static void
try_tails(Search *search, Move *move, Best *best)
{
	const WpNestProblem *problem = search->problem;
	WpNestTails tails = tails_of(problem, move);

	move->kind = WP_NEST_MOVE_TAILS;
	if (wp_nest_find_tails(problem, &tails)) {
		move->end = tails.end;
		consider(search, move, best);
	}
	/*
	 * Of messages each makes a thing or two: nothing goes on. Where calls stood in line what is likeliest is too sure of itself
	 * (README.md, Tails).
	 */
	if (!problem->siblings && !search->has_line &&
	    wp_nest_cut_tails(problem, search->timelines, &tails)) {
		move->end = tails.end;
		consider(search, move, best);
	}
}

void
wp_nest_try_parent(Search *search, guint32 number, guint32 to, Best *best)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	Move move = { .bundle = number, .from = bundle->parent, .to = to };

	if (problem->parents[to].n > WP_NEST_MAX_CHILDREN ||
	    problem->parents[move.from].n > WP_NEST_MAX_CHILDREN ||
	    bundle->n > WP_NEST_MAX_CHILDREN)
		return;
	move.next = next_bundle(problem, move.from, number, to);
	if (move.next != WP_NO_BUNDLE && problem->bundles[move.next].n > WP_NEST_MAX_CHILDREN)
		move.next = WP_NO_BUNDLE;
	move.kind = WP_NEST_MOVE_RELOCATE;
	consider(search, &move, best);
	if (move.next != WP_NO_BUNDLE) {
		move.kind = WP_NEST_MOVE_RUN;
		consider(search, &move, best);
	}
	try_swaps(search, &move, best);
	try_tails(search, &move, best);
}

double
wp_nest_best_move(Search *search, guint32 number, guint32 to, Move *out)
{
	Best best = { { .gain = -G_MAXDOUBLE, .from = WP_NO_PARENT }, -G_MAXDOUBLE };

	wp_nest_try_parent(search, number, to, &best);
	*out = best.move;
	return best.gain;
}

gboolean
wp_nest_improve(Search *search, guint32 number)
{
	WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	Best best = { { .gain = WP_NEST_ENOUGH, .from = WP_NO_PARENT }, -G_MAXFLOAT };
	gboolean is_settled = TRUE;
	float far = wp_nest_is_hasty(search) ? (float)-search->reach : -G_MAXFLOAT;

	if (search->sleep.asleep[number])
		return FALSE;
	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 at = bundle->first_candidate + i;
		guint32 to = problem->candidates[at].parent;
		if (to == bundle->parent || search->memories[at].gain < far ||
		    wp_nest_is_settled(search, at, bundle->parent, search->temperature))
			continue;
		best.gain = -G_MAXFLOAT;
		wp_nest_try_parent(search, number, to, &best);
		search->memories[at] = (Memory){ search->clock, (float)best.gain };
		is_settled &= wp_nest_is_settled(search, at, bundle->parent, search->temperature);
	}
	search->sleep.asleep[number] = (guint8)is_settled;
	if (best.move.from == WP_NO_PARENT)
		return FALSE;
	wp_nest_make_move(search, &best.move);
	return TRUE;
}
