/*
 * The search: moves (nesting-moves.h) that make the whole likelier. Rounds alternate with learning; the
 * first are noisy (temperature falling to 0), so that an early mistake can be undone. Random numbers are
 * seeded: the same input, the same answer.
 */
#include <string.h>

#include "infer/evidence-kind.h"
#include "infer/nesting-agree.h"
#include "infer/nesting-draws.h"
#include "infer/nesting-moves.h"
#include "infer/nesting-overlaps.h"
#include "infer/nesting-ties.h"
#include "infer/nesting-unused.h"

#define NOISY_ROUNDS    7   /* at least ... */
#define MOST_NOISY      30  /* ... and at most: */
#define NOISY_TRIES     3e6 /* as many as try so many candidates (README.md, Rounds) */
#define MAX_OPEN        0.1 /* parents without an end, a parent: with more, much was lost */
#define QUIET_ROUNDS    3
#define NOISY_SWEEPS    2
#define QUIET_SWEEPS    20
#define TRIAL_SWEEPS    3
#define SHUFFLED        2048 /* bundles */
#define BUSY_CANDIDATES 1.5  /* a bundle: with more, several first answers are tried */
#define TRIAL_BUNDLES   2000 /* enough to tell which first answer is best */
#define UNSURE          0.6 /* share of what the likeliest answer has in others: it is but one of many */
#define MAX_ALONE       0.1  /* of what is sent: caused by nothing */
#define MAX_GAIN        50.0 /* nats: more is certainty, and still a number */
#define FEW_OTHERS      8    /* one bundle in so many: these are hung to their parents one by one */
#define MODEL_REACH     12.0 /* nats: learning hardly ever makes up for more */

/*
 * Candidates a bundle, where many have waited for a connection: with more, noise as strong as the first rounds have is the sum
 * of what is unlikely, and forgets what the first answer knew. So there are but the last noisy rounds, and what was far from the
 * best is not looked at again in them (README.md, Crowds).
 */
#define CROWDED        30.0
#define CROWDED_ROUNDS 3   /* of NOISY_ROUNDS */
#define CROWDED_REACH  4.0 /* nats */

typedef WpNestMove Move;
typedef WpNestMemory Memory;
typedef WpNestSearch Search;
typedef WpNestBest Best;

/* Within blocks, as neighbours in time have parents and timelines in common, which are in the cache then. */
static void
shuffle(Search *search)
{
	for (guint32 first = 0; first < search->n_ambiguous; first += SHUFFLED)
		wp_random64_shuffle(&search->random, search->ambiguous + first,
				    MIN(SHUFFLED, search->n_ambiguous - first));
}

/* --- rounds --- */

/* Children of parents FIRST to END are those that bundles say. */
static void
hang_children(Search *search, guint32 first, guint32 end)
{
	wp_nest_hang_children(search->problem, first, end);
	wp_timelines_touch_all(search->timelines);
}

/* Each bundle gets the parent that it has in ANSWER. IN_STEP: parents have the children that bundles say. */
static void
take_answer(Search *search, const guint32 *answer, gboolean in_step)
{
	WpNestProblem *problem = search->problem;
	guint32 n_others = 0;

	for (guint32 b = 0; b < problem->n_bundles; b++)
		n_others += problem->bundles[b].parent != answer[b];
	gboolean are_few = in_step && n_others <= problem->n_bundles / FEW_OTHERS;
	for (guint32 b = 0; b < problem->n_bundles && n_others > 0; b++) {
		if (problem->bundles[b].parent == answer[b])
			continue;
		if (are_few)
			wp_nest_give(problem, b, answer[b]);
		else
			problem->bundles[b].parent = answer[b];
	}
	if (are_few)
		wp_timelines_touch_all(search->timelines);
	else
		hang_children(search, 0, wp_nest_n_all_parents(problem));
}

/* Forgets what was tried, but what was worse than REACH, and wakes all. */
static void
forget(Search *search, double reach)
{
	Memory *memories = search->memories;
	float least = (float)-reach;

	for (guint32 i = search->first_candidate; i < search->end_candidate; i++)
		memories[i].gain = memories[i].gain > least ? G_MAXFLOAT : memories[i].gain;
	memset(search->sleep.asleep, 0, search->problem->n_bundles);
}

static void
learn(Search *search)
{
	const WpNestProblem *problem = search->problem;

	if (!search->knows) {
		wp_timelines_learn(search->timelines, search->first_parent, search->end_parent);
		if (problem->evidence)
			wp_evidence_weigh(problem->evidence, NULL);
	}
	search->model++;
	forget(search, wp_nest_is_hasty(search) ? search->reach : MODEL_REACH);
}

/* FALSE: nothing is to be gained. */
static gboolean
sweep(Search *search, guint n_sweeps)
{
	gboolean moved = TRUE, ever_moved = FALSE;
	for (guint i = 0; i < n_sweeps && moved; i++) {
		moved = FALSE;
		shuffle(search);
		for (guint32 j = 0; j < search->n_ambiguous; j++) {
			if (wp_nest_is_stopped(search->problem))
				return FALSE;
			moved |= wp_nest_improve(search, search->ambiguous[j]);
		}
		ever_moved |= moved;
	}
	return ever_moved;
}

/* Lists by parent the bundles that are searched. */
static void
list_sleepers(Search *search)
{
	const WpNestProblem *problem = search->problem;
	WpNestSleep *sleep = &search->sleep;
	guint32 n = search->end_parent - MIN(search->first_parent, search->end_parent), sum = 0;

	sleep->first_parent = search->first_parent;
	sleep->n_parents = n;
	g_free(sleep->first);
	g_free(sleep->bundles);
	sleep->first = g_new0(guint32, (gsize)n + 1);
	for (guint32 j = 0; j < search->n_ambiguous; j++) {
		const WpNestBundle *bundle = &problem->bundles[search->ambiguous[j]];
		const WpNestCandidate *candidates = problem->candidates + bundle->first_candidate;
		for (guint32 i = 0; i < bundle->n_candidates; i++)
			sleep->first[candidates[i].parent - sleep->first_parent]++;
		sum += bundle->n_candidates;
	}
	sleep->bundles = g_new(guint32, MAX(sum, 1));
	/* Each list is filled from its end, so that its begin is known then. */
	sum = 0;
	for (guint32 p = 0; p < n; p++)
		sleep->first[p] = sum += sleep->first[p];
	sleep->first[n] = sum;
	for (guint32 j = search->n_ambiguous; j-- > 0;) {
		const WpNestBundle *bundle = &problem->bundles[search->ambiguous[j]];
		const WpNestCandidate *candidates = problem->candidates + bundle->first_candidate;
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = candidates[i].parent - sleep->first_parent;
			sleep->bundles[--sleep->first[at]] = search->ambiguous[j];
		}
	}
}

/* A part of the problem: bundles, with their candidates, and parents, each from a first one to an end. */
typedef struct {
	guint32 first_bundle;
	guint32 end_bundle;
	guint32 first_parent;
	guint32 end_parent;
	guint32 first_candidate;
	guint32 end_candidate;
	/* What these parents might have: of bundles of the window and others. */
	guint32 first_child;
	guint32 end_child;
} Window;

/* Searches only bundles of WINDOW that have several candidates, learns from its parents alone. */
static void
look_at(Search *search, const Window *window)
{
	const WpNestProblem *problem = search->problem;

	search->n_ambiguous = 0;
	search->first_parent = window->first_parent;
	search->end_parent = window->end_parent;
	search->first_candidate = window->first_candidate;
	search->end_candidate = window->end_candidate;
	for (guint32 b = window->first_bundle; b < window->end_bundle; b++)
		if (problem->bundles[b].n_candidates > 1)
			search->ambiguous[search->n_ambiguous++] = b;
	list_sleepers(search);
}

static void
look_at_all(Search *search)
{
	const WpNestProblem *problem = search->problem;
	const Window all = { 0, problem->n_bundles,    0, wp_nest_n_all_parents(problem),
			     0, problem->n_candidates, 0, problem->n_children };

	look_at(search, &all);
}

/* --- how sure --- */

/*
 * What the best move of bundle NUMBER to its candidate AT gains. Between two that have not changed since that was
 * tried with what is known now it is what it was then; but in a host that works in order, where it depends on others.
 */
static double
gain_of_candidate(Search *search, guint32 number, guint32 at, Move *out)
{
	guint32 from = search->problem->bundles[number].parent;
	guint32 to = search->problem->candidates[at].parent;

	out->from = WP_NO_PARENT;
	if (!search->fifo && search->memories[at].gain < G_MAXFLOAT &&
	    wp_nest_is_unchanged(search, at, from))
		return search->gains[at];
	search->gains[at] = wp_nest_best_move(search, number, to, out);
	search->memories[at] = (Memory){ search->clock, (float)search->gains[at] };
	return search->gains[at];
}

/*
 * How likely what is drawn was. Most bundles sleep through most draws: how many is counted, and each adds 1 to its parent
 * when it wakes up.
 */
typedef struct {
	double *of; /* by candidate; borrowed */
	guint32 *
		own_at; /* by bundle that sleeps: the candidate that is its parent, or WP_NO_PAIR */
	guint8 *n_slept; /* by bundle: draws since then */
} Shares;

static void
wake_up(Shares *shares, guint32 number)
{
	for (; shares->n_slept[number] > 0; shares->n_slept[number]--)
		if (shares->own_at[number] != WP_NO_PAIR)
			shares->of[shares->own_at[number]] += 1;
}

/* Gives bundle NUMBER one of its candidates by chance, as likely as the rest lets each be, and adds that to SHARES. */
static void
draw(Search *search, guint32 number, Shares *shares)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	Move drawn = { .from = WP_NO_PARENT };
	guint32 drawn_at = WP_NO_PAIR;
	gboolean is_settled = TRUE;
	double total = 1;

	if (search->sleep.asleep[number]) {
		shares->n_slept[number]++;
		return;
	}
	wake_up(shares, number);
	shares->own_at[number] = WP_NO_PAIR;
	/* The present parent weighs 1. */
	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 at = bundle->first_candidate + i;
		Move move;
		search->weights[i] = 1;
		if (problem->candidates[at].parent == bundle->parent) {
			shares->own_at[number] = at;
			continue;
		}
		search->weights[i] = 0;
		if (wp_nest_is_settled(search, at, bundle->parent, 1))
			continue;
		double gain = gain_of_candidate(search, number, at, &move);
		is_settled &= wp_nest_is_settled(search, at, bundle->parent, 1);
		search->weights[i] = wp_quick_exp(CLAMP(gain, -MAX_GAIN, MAX_GAIN));
		total += search->weights[i];
		if (wp_random64_share(&search->random) * total < search->weights[i]) {
			drawn = move;
			drawn_at = at;
		}
	}
	for (guint32 i = 0; i < bundle->n_candidates; i++)
		shares->of[bundle->first_candidate + i] += search->weights[i] / total;
	search->sleep.asleep[number] = (guint8)is_settled;
	if (drawn_at != WP_NO_PAIR && drawn.from == WP_NO_PARENT)
		wp_nest_best_move(search, number, problem->candidates[drawn_at].parent, &drawn);
	if (drawn.from != WP_NO_PARENT)
		wp_nest_make_move(search, &drawn);
}

static void
believe_shares(const Search *search, guint32 number, guint32 parent, const double *shares,
	       WpNestBelief *out)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	gboolean is_unseen = problem->parents[parent].is_ghost;
	double best = 0, unseen = 0, own = 0;

	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 at = bundle->first_candidate + i;
		guint32 other = problem->candidates[at].parent;
		double share = shares[at] / search->draws->n;
		if (problem->parents[other].is_ghost) {
			unseen += share;
		} else if (other == parent) {
			own += share;
		} else if (share > best) {
			best = share;
			out->runner_up = other;
		}
	}
	/* Which of the ghosts it was makes no difference. */
	out->probability = is_unseen ? unseen : own;
	if (!is_unseen && unseen > best)
		out->runner_up = WP_NO_PARENT;
}

/* Draws answers; adds to OUT_SHARES (by candidate) how likely each was in them. */
static void
draw_answers(Search *search, double *out_shares)
{
	WpNestProblem *problem = search->problem;
	gsize n_bundles = MAX(problem->n_bundles, 1);
	const WpNestDraws *draws = search->draws = wp_nest_draws_for(search);
	WpNestTwins *twins = wp_nest_twins_new(problem);
	Shares shares = { out_shares, g_new(guint32, n_bundles), g_new0(guint8, n_bundles) };

	search->gains = g_new(double, MAX(problem->n_candidates, 1));
	forget(search, G_MAXFLOAT);
	for (gint i = 0; i < draws->warm_up + draws->n && !wp_nest_is_stopped(problem); i++) {
		if (i == draws->warm_up) {
			memset(shares.of, 0, problem->n_candidates * sizeof shares.of[0]);
			memset(shares.n_slept, 0, problem->n_bundles);
		}
		if (i % draws->a_model == 0)
			learn(search);
		shuffle(search);
		for (guint32 j = 0; j < search->n_ambiguous && !wp_nest_is_stopped(problem); j++)
			draw(search, search->ambiguous[j], &shares);
		if (twins && i >= draws->warm_up)
			wp_nest_twins_count(twins);
	}
	for (guint32 j = 0; j < search->n_ambiguous; j++)
		wake_up(&shares, search->ambiguous[j]);
	g_free(shares.own_at);
	g_free(shares.n_slept);
	if (twins)
		wp_nest_twins_share(twins, out_shares);
	wp_nest_twins_free(twins);
}

/*
 * Whether others say more than ANSWER: where that is but one of many, as on average what is in doubt has mostly another
 * parent in answers drawn by chance (SHARES). What has none is out of that, so there may not be much of it.
 */
static gboolean
may_agree(const Search *search, const guint32 *answer, const double *shares)
{
	const WpNestProblem *problem = search->problem;
	double sum = 0, n_alone = 0;

	for (guint32 j = 0; j < search->n_ambiguous; j++) {
		guint32 parent = answer[search->ambiguous[j]];
		const WpNestBundle *bundle = &problem->bundles[search->ambiguous[j]];
		gint own = wp_nest_find_candidate(problem, bundle, parent);
		sum += own < 0 ? 0 : shares[bundle->first_candidate + (guint32)own];
		n_alone += parent == WP_NO_PARENT || problem->parents[parent].is_ghost;
	}
	return problem->siblings && !wp_nest_is_stopped(problem) &&
	       sum < UNSURE * search->draws->n * search->n_ambiguous &&
	       n_alone <= MAX_ALONE * problem->n_bundles;
}

/*
 * ANSWER becomes the one in which most of those drawn agree. It begins from the last of them, as that tells better what each
 * parent makes: the likeliest has too much of what is frequent.
 */
static void
agree(Search *search, const double *shares, guint32 *answer)
{
	WpNestProblem *problem = search->problem;

	hang_children(search, 0, wp_nest_n_all_parents(problem));
	wp_nest_agree(problem, shares);
	wp_nest_order_ties(problem);
	for (guint32 b = 0; b < problem->n_bundles; b++)
		answer[b] = problem->bundles[b].parent;
}

/*
 * The probability of what each bundle has: how likely it was, averaged over answers drawn by chance from
 * all that are about as likely as this one. In the answer itself alone, mistakes that go together would
 * vouch for each other.
 */
static void
believe(Search *search, WpNestBelief *out_beliefs)
{
	WpNestProblem *problem = search->problem;
	g_autofree guint32 *answer = g_new(guint32, MAX(problem->n_bundles, 1));
	g_autofree double *shares = g_new0(double, MAX(problem->n_candidates, 1));

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		answer[b] = problem->bundles[b].parent;
		out_beliefs[b] = (WpNestBelief){ 1, WP_NO_PARENT, WP_NO_PARENT };
	}
	draw_answers(search, shares);
	wp_nest_order_ties(problem);
	for (guint32 b = 0; b < problem->n_bundles; b++)
		out_beliefs[b].drawn = problem->bundles[b].parent;
	if (may_agree(search, answer, shares))
		agree(search, shares, answer);
	for (guint32 j = 0; j < search->n_ambiguous; j++) {
		guint32 b = search->ambiguous[j];
		if (wp_nest_is_stopped(problem))
			out_beliefs[b].probability = -1;
		else
			believe_shares(search, b, answer[b], shares, &out_beliefs[b]);
	}
	/* Ties, and answers that agree, are of messages alone: those put bundles in order, and not yet parents. */
	take_answer(search, answer, problem->n_messages == 0);
}

/* --- the first answer --- */

/* The bundles of a window as they were, with their candidates. */
typedef struct {
	WpNestBundle *bundles;
	WpNestCandidate *candidates;
} Answer;

static void
keep_answer(const WpNestProblem *problem, const Window *window, Answer *out)
{
	gsize n_bundles = window->end_bundle - window->first_bundle;
	gsize n_candidates = window->end_candidate - window->first_candidate;

	out->bundles = g_memdup2(problem->bundles + window->first_bundle,
				 n_bundles * sizeof(WpNestBundle));
	out->candidates = g_memdup2(problem->candidates + window->first_candidate,
				    n_candidates * sizeof(WpNestCandidate));
}

static void
restore_answer(WpNestProblem *problem, const Window *window, const Answer *answer)
{
	gsize n_bundles = window->end_bundle - window->first_bundle;
	gsize n_candidates = window->end_candidate - window->first_candidate;

	memcpy(problem->bundles + window->first_bundle, answer->bundles,
	       n_bundles * sizeof(WpNestBundle));
	if (n_candidates)
		memcpy(problem->candidates + window->first_candidate, answer->candidates,
		       n_candidates * sizeof(WpNestCandidate));
}

/* Sets what the parents of WINDOW might have. */
static void
find_near(const WpNestProblem *problem, Window *window)
{
	window->first_child = problem->n_children;
	window->end_child = 0;
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		const WpNestCandidate *candidates = problem->candidates + bundle->first_candidate;
		guint32 last = bundle->first + bundle->n - 1;
		if (bundle->n_candidates == 0 || candidates[0].parent >= window->end_parent ||
		    candidates[bundle->n_candidates - 1].parent < window->first_parent)
			continue;
		window->first_child =
			MIN(window->first_child, problem->bundle_children[bundle->first]);
		window->end_child = MAX(window->end_child, problem->bundle_children[last] + 1);
	}
}

/* Where first answers are compared: some bundles in the middle, and the parents that they might have. */
static Window
find_window(const Search *search)
{
	const WpNestProblem *problem = search->problem;
	Window window = { 0, problem->n_bundles,    0, problem->n_parents,
			  0, problem->n_candidates, 0, problem->n_children };
	guint32 n_open = 0, skipped = 0;

	for (guint32 b = 0; b < problem->n_bundles; b++)
		n_open += problem->bundles[b].n_candidates > 1;
	if (n_open <= TRIAL_BUNDLES)
		return window;
	while (skipped < (n_open - TRIAL_BUNDLES) / 2)
		skipped += problem->bundles[window.first_bundle++].n_candidates > 1;
	window.end_bundle = window.first_bundle;
	window.first_parent = problem->n_parents;
	window.end_parent = 0;
	for (n_open = 0; n_open < TRIAL_BUNDLES; window.end_bundle++) {
		const WpNestBundle *bundle = &problem->bundles[window.end_bundle];
		const WpNestCandidate *candidates = problem->candidates + bundle->first_candidate;
		if (bundle->n_candidates < 2)
			continue;
		n_open++;
		window.first_parent = MIN(window.first_parent, candidates[0].parent);
		window.end_parent =
			MAX(window.end_parent, candidates[bundle->n_candidates - 1].parent + 1);
	}
	const WpNestBundle *last = &problem->bundles[window.end_bundle - 1];
	window.first_candidate = problem->bundles[window.first_bundle].first_candidate;
	window.end_candidate = last->first_candidate + last->n_candidates;
	find_near(problem, &window);
	return window;
}

/* How likely the answer is in WINDOW after a short search, its timelines learned from itself. */
static double
try_answer(Search *search, const Window *window)
{
	if (wp_nest_is_stopped(search->problem))
		return 0;
	wp_nest_hang_some(search->problem, window->first_parent, window->end_parent,
			  window->first_child, window->end_child);
	wp_timelines_touch_all(search->timelines);
	look_at(search, window);
	forget(search, G_MAXFLOAT);
	learn(search);
	sweep(search, TRIAL_SWEEPS);
	learn(search);
	return wp_nest_total(search);
}

/* What the reference tells to begin with: all delays and plans, as they are in the truth. */
static void
learn_from_truth(Search *search, WpNestStart *start)
{
	wp_nest_take_truth(search->problem);
	wp_timelines_touch_all(search->timelines);
	wp_nest_start_know(start);
	wp_timelines_learn(search->timelines, 0, search->problem->n_parents);
	if (search->problem->evidence)
		wp_evidence_weigh(search->problem->evidence, NULL);
	search->knows = TRUE;
}

static gboolean
is_told(const Search *search, WpReferenceKind kind)
{
	const WpReference *reference = search->problem->options->reference;
	return reference && reference->kind == kind;
}

/* A way to a first answer. */
typedef struct {
	guint rounds;
	double slack;
} Way;

static const Way ways[] = { { 6, 1 }, { 6, 2 }, { 1, 1 }, { 0, 1 } };

/* Where waits were told by an answer, gaps are what that makes of them: rounds would settle on it. */
static const Way by_planes = { 0, 1 };

static gboolean
is_busy(const WpNestProblem *problem)
{
	return problem->n_candidates > BUSY_CANDIDATES * problem->n_bundles;
}

/*
 * Soft assignment may settle on an answer that is all of one piece and wrong: each request with the
 * calls of its neighbour. So at load several first answers are tried in a part of the problem, and the way
 * to the one whose timelines are the likeliest is taken.
 */
static const Way *
choose_way(Search *search, WpNestStart *start)
{
	WpNestProblem *problem = search->problem;
	const Way *best = &ways[0];
	double best_total = 0;
	Answer all;

	if (problem->has_waits)
		return &by_planes;
	if (problem->options->is_rough || !is_busy(problem))
		return best;
	Window window = find_window(search);
	keep_answer(problem, &window, &all);
	for (gsize i = 0; i < G_N_ELEMENTS(ways) && !wp_nest_is_stopped(problem); i++) {
		restore_answer(problem, &window, &all);
		wp_nest_start_assign(start, ways[i].rounds, ways[i].slack, window.first_bundle,
				     window.end_bundle);
		wp_nest_start_drop(start, window.first_bundle, window.end_bundle);
		double total = try_answer(search, &window);
		if (i == 0 || total > best_total) {
			best_total = total;
			best = &ways[i];
		}
	}
	restore_answer(problem, &window, &all);
	g_free(all.bundles);
	g_free(all.candidates);
	return best;
}

static void
set_start(Search *search)
{
	WpNestProblem *problem = search->problem;
	WpNestStart *start = wp_nest_start_new(problem);

	search->memories = g_new0(Memory, MAX(problem->n_candidates, 1));
	if (is_told(search, WP_REFERENCE_LEARNED))
		learn_from_truth(search, start);
	/* For overlaps, and for ways to be tried in a part: evidence learns from all. */
	if (is_busy(problem)) {
		wp_nest_start_assign(start, 0, 1, 0, problem->n_bundles);
		problem->overlaps = wp_nest_overlaps_new(problem);
	}
	wp_timelines_doubt_overlaps(search->timelines, TRUE);
	const Way *way = choose_way(search, start);
	wp_nest_start_assign(start, way->rounds, way->slack, 0, problem->n_bundles);
	if (is_told(search, WP_REFERENCE_STARTED)) {
		wp_nest_take_truth(problem);
	} else {
		wp_nest_start_leave_alone(start);
		wp_nest_start_drop(start, 0, problem->n_bundles);
	}
	hang_children(search, 0, problem->n_parents);
	wp_nest_start_free(start);
}

/* Whether there are so many candidates, of calls many of which stood in line. */
static gboolean
is_crowded(const WpNestProblem *problem)
{
	return problem->n_candidates > CROWDED * problem->n_bundles && wp_nest_has_line(problem);
}

/*
 * In how many rounds noise falls from strong to none: the slower, the likelier the answer. Where things wait for their turn, or
 * many were lost, that is no gain, as what is likeliest is too sure of itself; where there is little to find out there is no need.
 */
static guint
count_noisy_rounds(const WpNestProblem *problem)
{
	gboolean is_holey = problem->n_open > MAX_OPEN * problem->n_parents;

	if (problem->options->is_rough || !is_busy(problem) || problem->has_waits || is_holey ||
	    wp_nest_has_line(problem))
		return NOISY_ROUNDS;
	return (guint)CLAMP(NOISY_TRIES / problem->n_candidates, NOISY_ROUNDS, MOST_NOISY);
}

/* Rounds of moves, the first of which are noisy if it ANNEALS; there calls that overlap are doubted. */
static void
search_in_rounds(Search *search, gboolean anneals)
{
	const WpNestProblem *problem = search->problem;
	gboolean is_hasty = is_crowded(problem);
	guint all = count_noisy_rounds(problem);
	guint noisy = is_hasty ? CROWDED_ROUNDS : all;

	search->reach = is_hasty ? CROWDED_REACH : 0;
	for (guint left = (anneals ? noisy : 0) + QUIET_ROUNDS; left > 0; left--) {
		gboolean is_noisy = left > QUIET_ROUNDS;
		if (wp_nest_is_stopped(problem))
			break;
		wp_timelines_doubt_overlaps(search->timelines, is_noisy);
		search->temperature = is_noisy ? (double)(left - QUIET_ROUNDS) / all : 0;
		learn(search);
		if (!sweep(search, is_noisy ? NOISY_SWEEPS : QUIET_SWEEPS) && !is_noisy)
			break;
	}
}

/*
 * Searches again among the candidates that are left, if it ANNEALS, where the answer shows that many are none: it begins from what
 * was learned of that answer, and has more rounds the fewer they are. Not where many calls stood in line, as above.
 */
static void
search_again(Search *search, gboolean anneals)
{
	WpNestProblem *problem = search->problem;

	if (!anneals || problem->options->is_rough || !is_busy(problem) ||
	    wp_nest_has_line(problem) || wp_nest_is_stopped(problem))
		return;
	gboolean are_many = wp_nest_drop_unused(problem);
	forget(search, G_MAXFLOAT); /* those that are left have other numbers */
	if (!are_many)
		return;
	look_at_all(search);
	search_in_rounds(search, anneals);
}

/*
 * Where the answer tells that the host works in order, that is used from now on. What it got wrong for want of that may be
 * calls of several requests in a circle, each with the next one's: if it ANNEALS noise takes them apart, single moves do not.
 */
static void
search_in_order(Search *search, gboolean anneals)
{
	if (search->n_ambiguous == 0 || wp_nest_is_stopped(search->problem))
		return;
	learn(search);
	search->temperature = 0;
	search->fifo = wp_nest_fifo_new(search->problem, search->timelines);
	if (search->fifo && anneals) {
		forget(search, G_MAXFLOAT);
		search_in_rounds(search, anneals);
	}
	for (guint round = 0; search->fifo && round < QUIET_ROUNDS; round++) {
		forget(search, G_MAXFLOAT);
		sweep(search, QUIET_SWEEPS);
		learn(search);
	}
}

WpNestSearch *
wp_nest_search(WpNestProblem *problem)
{
	Search *search = g_new(Search, 1);

	*search = (Search){
		.problem = problem,
		.timelines = wp_timelines_new(problem),
		.random = { WP_RANDOM64_SEED },
		.has_line = wp_nest_has_line(problem),
	};
	gboolean anneals = problem->options->anneals && !is_told(search, WP_REFERENCE_STARTED);
	search->changed = g_new0(guint32, MAX(wp_nest_n_all_parents(problem), 1));
	search->ambiguous = g_new(guint32, MAX(problem->n_bundles, 1));
	search->sleep.asleep = g_new0(guint8, MAX(problem->n_bundles, 1));
	set_start(search);
	wp_nest_unseen_add(problem);
	wp_timelines_touch_all(search->timelines);
	g_free(search->memories);
	search->memories = g_new0(Memory, MAX(problem->n_candidates, 1));
	look_at_all(search);
	forget(search, G_MAXFLOAT);
	if (search->n_ambiguous) {
		search_in_rounds(search, anneals);
		search_again(search, anneals);
	}
	search_in_order(search, anneals);
	if (wp_nest_order_ties(problem))
		hang_children(search, 0, wp_nest_n_all_parents(problem));
	return search;
}

void
wp_nest_believe(WpNestSearch *search, WpNestBelief *out_beliefs)
{
	WpNestProblem *problem = search->problem;
	guint32 most = 1;

	for (guint32 b = 0; b < problem->n_bundles; b++)
		most = MAX(most, problem->bundles[b].n_candidates);
	search->weights = g_new(double, most);
	search->temperature = 0;
	believe(search, out_beliefs);
	g_clear_pointer(&search->weights, g_free);
	g_clear_pointer(&search->gains, g_free);
	problem->n_joined += wp_timelines_n_without(search->timelines);
}

void
wp_nest_search_free(WpNestSearch *search)
{
	if (!search)
		return;
	wp_nest_fifo_free(search->fifo);
	wp_timelines_free(search->timelines);
	g_free(search->ambiguous);
	g_free(search->changed);
	g_free(search->memories);
	g_free(search->sleep.asleep);
	g_free(search->sleep.first);
	g_free(search->sleep.bundles);
	g_free(search);
}
