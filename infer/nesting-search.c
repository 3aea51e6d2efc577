/*
 * The search: moves that make the whole likelier. A move takes one bundle to another candidate (relocate),
 * exchanges two of one kind (swap), or exchanges all that two parents do from a time on (swap tails).
 * Only two timelines change, so only these are scored again.
 *
 *     relocate         p1: a b c   p2: d        ->   p1: a c     p2: b d
 *     swap             p1: a b c   p2: a' b'    ->   p1: a b' c  p2: a' b
 *     swap tails       p1: a b c   p2: a' b' c' ->   p1: a b' c' p2: a' b c
 *
 * Rounds alternate with learning; the first are noisy (temperature falling to 0), so that an early
 * mistake can be undone. Random numbers are seeded: the same input, the same answer.
 */
#include <math.h>
#include <string.h>

#include "infer/nesting.h"
#include "infer/timeline.h"

#define NOISY_ROUNDS    7
#define QUIET_ROUNDS    3
#define NOISY_SWEEPS    2
#define QUIET_SWEEPS    20
#define TRIAL_SWEEPS    3
#define BUSY_CANDIDATES 3    /* a bundle: from here on several first answers are tried */
#define MAX_CHILDREN    256  /* timelines longer than this are left as they are */
#define ENOUGH          1e-9 /* nats: less is no gain */

typedef struct {
	guint32 children[2 * MAX_CHILDREN];
	guint32 n;
} List;

typedef struct {
	WpNestProblem *problem;
	WpTimelines *timelines;
	double temperature;
	guint64 random;
	guint32 *ambiguous; /* bundles with more than one candidate */
	guint32 n_ambiguous;
} Search;

/* A change of two parents: what they would have, and what it would gain. */
typedef struct {
	guint32 from;
	guint32 to;
	List of_from;
	List of_to;
	double score_from;
	double score_to;
	double gain;
} Move;

/* xorshift64*, in (0, 1). */
static double
next_random(Search *search)
{
	search->random ^= search->random >> 12;
	search->random ^= search->random << 25;
	search->random ^= search->random >> 27;
	guint64 bits = search->random * G_GUINT64_CONSTANT(0x2545f4914f6cdd1d);
	return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

static void
shuffle(Search *search)
{
	for (guint32 i = search->n_ambiguous; i > 1; i--) {
		guint32 j = (guint32)(next_random(search) * i);
		guint32 other = search->ambiguous[i - 1];
		search->ambiguous[i - 1] = search->ambiguous[j];
		search->ambiguous[j] = other;
	}
}

/* --- lists of children --- */

static void
list_without(const WpNestProblem *problem, const guint32 *children, guint32 n, guint32 bundle,
	     List *out)
{
	out->n = 0;
	for (guint32 i = 0; i < n; i++)
		if (problem->children[children[i]].bundle != bundle)
			out->children[out->n++] = children[i];
}

/* CHILDREN and those of BUNDLE, by begin (numbers of children are in that order). */
static void
list_with(const WpNestProblem *problem, const guint32 *children, guint32 n,
	  const WpNestBundle *bundle, List *out)
{
	const guint32 *added = problem->bundle_children + bundle->first;
	guint32 i = 0, j = 0;

	out->n = 0;
	while (i < n || j < bundle->n)
		if (j == bundle->n || (i < n && children[i] < added[j]))
			out->children[out->n++] = children[i++];
		else
			out->children[out->n++] = added[j++];
}

static void
set_children(WpNestProblem *problem, guint32 number, const List *list, double score)
{
	WpNestParent *parent = &problem->parents[number];
	if (list->n > parent->n_allocated) {
		parent->n_allocated = list->n * 2;
		parent->children = g_renew(guint32, parent->children, parent->n_allocated);
	}
	if (list->n)
		memcpy(parent->children, list->children, list->n * sizeof list->children[0]);
	parent->n = list->n;
	parent->score = score;
	for (guint32 i = 0; i < list->n; i++)
		problem->bundles[problem->children[list->children[i]].bundle].parent = number;
}

/* --- moves --- */

/* Scores MOVE's lists, and keeps the move in BEST where it gains more. */
static void
consider(Search *search, Move *move, Move *best, double *best_to)
{
	const WpNestParent *parents = search->problem->parents;
	move->score_from = wp_timelines_score(search->timelines, move->from, move->of_from.children,
					      move->of_from.n);
	move->score_to = wp_timelines_score(search->timelines, move->to, move->of_to.children,
					    move->of_to.n);
	move->gain = move->score_from + move->score_to - parents[move->from].score -
		     parents[move->to].score;
	if (search->temperature > 0)
		move->gain -= search->temperature * log(-log(next_random(search)));
	*best_to = MAX(*best_to, move->gain);
	if (best && move->gain > best->gain)
		*best = *move;
}

static void
try_swaps(Search *search, Move *move, guint32 number, Move *best, double *best_to)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	const WpNestParent *from = &problem->parents[move->from];
	const WpNestParent *to = &problem->parents[move->to];
	List rest;

	for (guint32 i = 0; i < to->n; i++) {
		guint32 other_number = problem->children[to->children[i]].bundle;
		const WpNestBundle *other = &problem->bundles[other_number];
		if (other->kind != bundle->kind ||
		    problem->bundle_children[other->first] != to->children[i] ||
		    wp_nest_find_candidate(problem, other, move->from) < 0)
			continue;
		list_without(problem, from->children, from->n, number, &rest);
		list_with(problem, rest.children, rest.n, other, &move->of_from);
		list_without(problem, to->children, to->n, other_number, &rest);
		list_with(problem, rest.children, rest.n, bundle, &move->of_to);
		consider(search, move, best, best_to);
	}
}

/* Splits PARENT's children at CHILD; FALSE where one behind it may not go to OTHER. */
static gboolean
split(const WpNestProblem *problem, const WpNestParent *parent, guint32 child, guint32 other,
      guint32 *out_head)
{
	*out_head = 0;
	for (guint32 i = 0; i < parent->n; i++) {
		const WpNestBundle *bundle =
			&problem->bundles[problem->children[parent->children[i]].bundle];
		guint32 first = problem->bundle_children[bundle->first];
		if (parent->children[i] < child) {
			*out_head = i + 1;
			continue;
		}
		/* A bundle stays whole. */
		if (first < child || wp_nest_find_candidate(problem, bundle, other) < 0)
			return FALSE;
	}
	return TRUE;
}

static void
join(const WpNestParent *head, guint32 n_head, const WpNestParent *tail, guint32 n_skipped,
     List *out)
{
	out->n = 0;
	for (guint32 i = 0; i < n_head; i++)
		out->children[out->n++] = head->children[i];
	for (guint32 i = n_skipped; i < tail->n; i++)
		out->children[out->n++] = tail->children[i];
}

static void
try_tails(Search *search, Move *move, guint32 number, Move *best, double *best_to)
{
	const WpNestProblem *problem = search->problem;
	const WpNestParent *from = &problem->parents[move->from];
	const WpNestParent *to = &problem->parents[move->to];
	guint32 child = problem->bundle_children[problem->bundles[number].first];
	guint32 head_from, head_to;

	if (!split(problem, from, child, move->to, &head_from) ||
	    !split(problem, to, child, move->from, &head_to))
		return;
	join(from, head_from, to, head_to, &move->of_from);
	join(to, head_to, from, head_from, &move->of_to);
	consider(search, move, best, best_to);
}

/* The best gain of any move of bundle NUMBER that takes it to parent TO. */
static double
try_parent(Search *search, guint32 number, guint32 to, Move *best)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	const WpNestParent *from = &problem->parents[bundle->parent];
	const WpNestParent *target = &problem->parents[to];
	Move move = { .from = bundle->parent, .to = to };
	double best_to = -G_MAXDOUBLE;

	if (target->n + bundle->n > MAX_CHILDREN || from->n > MAX_CHILDREN)
		return best_to;
	list_without(problem, from->children, from->n, number, &move.of_from);
	list_with(problem, target->children, target->n, bundle, &move.of_to);
	consider(search, &move, best, &best_to);
	try_swaps(search, &move, number, best, &best_to);
	try_tails(search, &move, number, best, &best_to);
	return best_to;
}

static gboolean
improve(Search *search, guint32 number)
{
	WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	Move best = { .gain = ENOUGH, .from = WP_NO_PARENT };

	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 to = problem->candidates[bundle->first_candidate + i].parent;
		if (to != bundle->parent)
			try_parent(search, number, to, &best);
	}
	if (best.from == WP_NO_PARENT)
		return FALSE;
	set_children(problem, best.from, &best.of_from, best.score_from);
	set_children(problem, best.to, &best.of_to, best.score_to);
	return TRUE;
}

/* --- rounds --- */

static void
learn(Search *search)
{
	WpNestProblem *problem = search->problem;
	wp_timelines_learn(search->timelines);
	for (guint32 p = 0; p < problem->n_parents; p++) {
		WpNestParent *parent = &problem->parents[p];
		parent->score =
			wp_timelines_score(search->timelines, p, parent->children, parent->n);
	}
}

static void
sweep(Search *search, guint n_sweeps)
{
	gboolean moved = TRUE;
	for (guint i = 0; i < n_sweeps && moved; i++) {
		moved = FALSE;
		shuffle(search);
		for (guint32 j = 0; j < search->n_ambiguous; j++)
			moved |= improve(search, search->ambiguous[j]);
	}
}

static void
find_ambiguous(Search *search)
{
	const WpNestProblem *problem = search->problem;
	g_free(search->ambiguous);
	search->ambiguous = g_new(guint32, MAX(problem->n_bundles, 1));
	search->n_ambiguous = 0;
	for (guint32 b = 0; b < problem->n_bundles; b++)
		if (problem->bundles[b].n_candidates > 1)
			search->ambiguous[search->n_ambiguous++] = b;
}

/* Without noise: the probability of what each bundle has, from the gains of its alternatives. */
static void
believe(Search *search, WpNestBelief *out_beliefs)
{
	const WpNestProblem *problem = search->problem;

	search->temperature = 0;
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		double others = 0, best = -G_MAXDOUBLE;
		out_beliefs[b] = (WpNestBelief){ 1, WP_NO_PARENT };
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 to = problem->candidates[bundle->first_candidate + i].parent;
			if (to == bundle->parent)
				continue;
			double gain = try_parent(search, b, to, NULL);
			others += exp(MIN(gain, 50));
			if (gain > best) {
				best = gain;
				out_beliefs[b].runner_up = to;
			}
		}
		out_beliefs[b].probability = 1 / (1 + others);
	}
}

/* --- the first answer --- */

static double
total_score(const Search *search)
{
	double total = 0;
	for (guint32 p = 0; p < search->problem->n_parents; p++)
		total += search->problem->parents[p].score;
	return total;
}

/* An answer with the candidates it left. */
typedef struct {
	WpNestBundle *bundles;
	WpNestCandidate *candidates;
	guint32 n_candidates;
} Answer;

static void
keep_answer(const WpNestProblem *problem, Answer *out)
{
	g_free(out->bundles);
	g_free(out->candidates);
	out->bundles = g_memdup2(problem->bundles, problem->n_bundles * sizeof(WpNestBundle));
	out->candidates =
		g_memdup2(problem->candidates, problem->n_candidates * sizeof(WpNestCandidate));
	out->n_candidates = problem->n_candidates;
}

static void
restore_answer(WpNestProblem *problem, const Answer *answer)
{
	memcpy(problem->bundles, answer->bundles, problem->n_bundles * sizeof(WpNestBundle));
	if (answer->n_candidates)
		memcpy(problem->candidates, answer->candidates,
		       answer->n_candidates * sizeof(WpNestCandidate));
	problem->n_candidates = answer->n_candidates;
}

/* How likely the answer is after a short search, its timelines learned from itself. */
static double
try_answer(Search *search)
{
	learn(search);
	sweep(search, TRIAL_SWEEPS);
	learn(search);
	return total_score(search);
}

/*
 * Soft assignment may settle on an answer that is all of one piece and wrong: each request with the
 * calls of its neighbour. So at load several first answers are tried, and the one whose timelines are
 * the likeliest is taken.
 */
static void
choose_start(Search *search)
{
	static const guint rounds[] = { 6, 2, 1, 0 };
	WpNestProblem *problem = search->problem;
	WpNestStart *start = wp_nest_start_new(problem);
	gboolean is_busy = problem->n_candidates > BUSY_CANDIDATES * problem->n_bundles;
	Answer all = { NULL, NULL, 0 }, best = { NULL, NULL, 0 };
	double best_total = 0;

	keep_answer(problem, &all);
	for (guint i = 0; i < (is_busy ? G_N_ELEMENTS(rounds) : 1); i++) {
		restore_answer(problem, &all);
		wp_nest_start_assign(start, rounds[i]);
		wp_nest_start_drop_modes(start);
		double total = is_busy ? try_answer(search) : 0;
		if (i == 0 || total > best_total) {
			best_total = total;
			keep_answer(problem, &best);
		}
	}
	restore_answer(problem, &best);
	wp_nest_hang_children(problem);
	wp_nest_start_free(start);
	g_free(all.bundles);
	g_free(all.candidates);
	g_free(best.bundles);
	g_free(best.candidates);
}

void
wp_nest_search(WpNestProblem *problem, WpNestBelief *out_beliefs)
{
	Search search = {
		.problem = problem,
		.timelines = wp_timelines_new(problem),
		.random = G_GUINT64_CONSTANT(88172645463325252),
	};
	guint noisy = problem->options->anneals ? NOISY_ROUNDS : 0;

	find_ambiguous(&search);
	choose_start(&search);
	find_ambiguous(&search);
	if (search.n_ambiguous)
		for (guint round = 0; round < noisy + QUIET_ROUNDS; round++) {
			learn(&search);
			search.temperature = round < noisy ? 1 - (double)round / noisy : 0;
			sweep(&search, round < noisy ? NOISY_SWEEPS : QUIET_SWEEPS);
		}
	believe(&search, out_beliefs);
	wp_timelines_free(search.timelines);
	g_free(search.ambiguous);
}
