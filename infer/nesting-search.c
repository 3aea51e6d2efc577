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
#define DRAWS_A_MODEL   4    /* sweeps by chance, then learn from that answer */
#define WARM_UP         4    /* sweeps by chance, until the answer is one of many */
#define DRAWS           12   /* sweeps by chance that count */
#define MAX_GAIN        50.0 /* nats: more is certainty, and still a number */
#define MAX_CHILDREN    256  /* timelines longer than this are left as they are */
#define ENOUGH          1e-9 /* nats: less is no gain */
#define NOISE_REACH     12.0 /* temperatures: noise hardly ever makes up for more */
#define MODEL_REACH     12.0 /* nats: nor does learning */

/* What can be done with a bundle and a parent that it might have. */
typedef enum {
	MOVE_RELOCATE,
	MOVE_SWAP,
	MOVE_TAILS,
} MoveKind;

typedef struct {
	MoveKind kind;
	guint32 bundle;
	guint32 other; /* MOVE_SWAP: the bundle that comes back */
	guint32 from;
	guint32 to;
	double score_from; /* what the two would have */
	double score_to;
	double gain;
} Move;

typedef struct {
	guint32 children[2 * MAX_CHILDREN];
	guint32 n;
} List;

/* What is known of a bundle since it was last tried. */
typedef struct {
	guint32 tried; /* clock */
	float gain;    /* of its best move, without noise */
} Memory;

typedef struct {
	WpNestProblem *problem;
	WpTimelines *timelines;
	double temperature;
	guint64 random;
	guint32 *ambiguous; /* bundles with more than one candidate */
	guint32 n_ambiguous;
	guint32 clock;    /* moves made */
	guint32 *changed; /* by parent: clock */
	Memory *memories; /* by bundle */
	double *weights;  /* scratch, by candidate of a bundle */
	List of_from;     /* of the move in hand */
	List of_to;
} Search;

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

/* PARENT's children without those of bundle WITHOUT and with those of WITH (may be NULL), by begin. */
static void
exchange(const WpNestProblem *problem, const WpNestParent *parent, guint32 without,
	 const WpNestBundle *with, List *out)
{
	const guint32 *added = with ? problem->bundle_children + with->first : NULL;
	guint32 n_added = with ? with->n : 0, j = 0, n = 0;

	/* Numbers of children are in order of begin. */
	for (guint32 i = 0; i < parent->n; i++) {
		guint32 child = parent->children[i];
		if (problem->children[child].bundle == without)
			continue;
		while (j < n_added && added[j] < child)
			out->children[n++] = added[j++];
		out->children[n++] = child;
	}
	while (j < n_added)
		out->children[n++] = added[j++];
	out->n = n;
}

/* Splits PARENT's children at CHILD; FALSE where one behind it may not go to OTHER. */
static gboolean
split(const WpNestProblem *problem, const WpNestParent *parent, guint32 child, guint32 other,
      guint32 *out_head)
{
	guint32 i = 0;
	while (i < parent->n && parent->children[i] < child)
		i++;
	*out_head = i;
	for (; i < parent->n; i++) {
		const WpNestBundle *bundle =
			&problem->bundles[problem->children[parent->children[i]].bundle];
		/* A bundle stays whole. */
		if (problem->bundle_children[bundle->first] < child ||
		    wp_nest_find_candidate(problem, bundle, other) < 0)
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

static gboolean
exchange_tails(Search *search, const Move *move)
{
	const WpNestProblem *problem = search->problem;
	const WpNestParent *from = &problem->parents[move->from];
	const WpNestParent *to = &problem->parents[move->to];
	guint32 child = problem->bundle_children[problem->bundles[move->bundle].first];
	guint32 head_from, head_to;

	if (!split(problem, from, child, move->to, &head_from) ||
	    !split(problem, to, child, move->from, &head_to))
		return FALSE;
	/* Nothing but this bundle: a relocation. */
	if (head_to == to->n && from->n - head_from == problem->bundles[move->bundle].n)
		return FALSE;
	join(from, head_from, to, head_to, &search->of_from);
	join(to, head_to, from, head_from, &search->of_to);
	return TRUE;
}

/* Sets of_from and of_to; FALSE where MOVE cannot be. */
static gboolean
prepare(Search *search, const Move *move)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[move->bundle];
	const WpNestParent *from = &problem->parents[move->from];
	const WpNestParent *to = &problem->parents[move->to];

	if (move->kind == MOVE_TAILS)
		return exchange_tails(search, move);
	gboolean is_swap = move->kind == MOVE_SWAP;
	const WpNestBundle *other = is_swap ? &problem->bundles[move->other] : NULL;
	exchange(problem, from, move->bundle, other, &search->of_from);
	exchange(problem, to, is_swap ? move->other : G_MAXUINT32, bundle, &search->of_to);
	return TRUE;
}

static void
set_children(Search *search, guint32 number, const List *list, double score)
{
	WpNestProblem *problem = search->problem;
	WpNestParent *parent = &problem->parents[number];
	if (list->n > parent->n_allocated) {
		parent->n_allocated = list->n * 2;
		parent->children = g_renew(guint32, parent->children, parent->n_allocated);
	}
	if (list->n)
		memcpy(parent->children, list->children, list->n * sizeof list->children[0]);
	parent->n = list->n;
	parent->score = score;
	search->changed[number] = search->clock;
	for (guint32 i = 0; i < list->n; i++)
		problem->bundles[problem->children[list->children[i]].bundle].parent = number;
}

/* --- moves --- */

static void
make_move(Search *search, const Move *move)
{
	search->clock++;
	prepare(search, move);
	set_children(search, move->from, &search->of_from, move->score_from);
	set_children(search, move->to, &search->of_to, move->score_to);
}

/* The best move of a bundle: with noise the one to make, without it the one to remember. */
typedef struct {
	Move move;
	double gain;
} Best;

static void
consider(Search *search, Move *move, Best *best)
{
	const WpNestParent *parents = search->problem->parents;
	if (!prepare(search, move))
		return;
	move->score_from = wp_timelines_score(search->timelines, move->from,
					      search->of_from.children, search->of_from.n);
	move->score_to = wp_timelines_score(search->timelines, move->to, search->of_to.children,
					    search->of_to.n);
	move->gain = move->score_from + move->score_to - parents[move->from].score -
		     parents[move->to].score;
	best->gain = MAX(best->gain, move->gain);
	if (search->temperature > 0)
		move->gain -= search->temperature * log(-log(next_random(search)));
	if (move->gain > best->move.gain)
		best->move = *move;
}

static void
try_swaps(Search *search, Move *move, Best *best)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[move->bundle];
	const WpNestParent *to = &problem->parents[move->to];

	move->kind = MOVE_SWAP;
	for (guint32 i = 0; i < to->n; i++) {
		move->other = problem->children[to->children[i]].bundle;
		const WpNestBundle *other = &problem->bundles[move->other];
		if (other->kind == bundle->kind &&
		    problem->bundle_children[other->first] == to->children[i] &&
		    wp_nest_find_candidate(problem, other, move->from) >= 0)
			consider(search, move, best);
	}
}

/* Any move of bundle NUMBER that takes it to parent TO. */
static void
try_parent(Search *search, guint32 number, guint32 to, Best *best)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	Move move = { .bundle = number, .from = bundle->parent, .to = to };

	if (problem->parents[to].n + bundle->n > MAX_CHILDREN ||
	    problem->parents[move.from].n > MAX_CHILDREN)
		return;
	move.kind = MOVE_RELOCATE;
	consider(search, &move, best);
	try_swaps(search, &move, best);
	move.kind = MOVE_TAILS;
	consider(search, &move, best);
}

/* TRUE where trying BUNDLE again would come to nothing: nothing it depends on has changed. */
static gboolean
is_settled(const Search *search, guint32 number, double temperature)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	const Memory *memory = &search->memories[number];

	if (memory->gain > (float)(ENOUGH - NOISE_REACH * temperature))
		return FALSE;
	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 parent = problem->candidates[bundle->first_candidate + i].parent;
		if (search->changed[parent] > memory->tried)
			return FALSE;
	}
	return TRUE;
}

static gboolean
improve(Search *search, guint32 number)
{
	WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	Best best = { { .gain = ENOUGH, .from = WP_NO_PARENT }, -G_MAXFLOAT };

	if (is_settled(search, number, search->temperature))
		return FALSE;
	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 to = problem->candidates[bundle->first_candidate + i].parent;
		if (to != bundle->parent)
			try_parent(search, number, to, &best);
	}
	search->memories[number] = (Memory){ search->clock, (float)best.gain };
	if (best.move.from == WP_NO_PARENT)
		return FALSE;
	make_move(search, &best.move);
	return TRUE;
}

/* --- rounds --- */

static void
forget(Search *search, double reach)
{
	for (guint32 i = 0; i < search->n_ambiguous; i++) {
		Memory *memory = &search->memories[search->ambiguous[i]];
		if (memory->gain > (float)-reach)
			memory->gain = G_MAXFLOAT;
	}
}

static void
learn(Search *search)
{
	WpNestProblem *problem = search->problem;
	wp_timelines_learn(search->timelines);
	forget(search, MODEL_REACH);
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

/* --- how sure --- */

/*
 * Gives bundle NUMBER one of its candidates by chance, as likely as the rest lets each be, and adds how
 * likely that was to SHARES (by candidate).
 */
static void
draw(Search *search, guint32 number, double *shares)
{
	const WpNestProblem *problem = search->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	Move drawn = { .from = WP_NO_PARENT };
	double total = 1, best = -G_MAXFLOAT;

	/* The present parent weighs 1. */
	if (!is_settled(search, number, 1))
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 to = problem->candidates[bundle->first_candidate + i].parent;
			Best found = { { .gain = -G_MAXDOUBLE }, -G_MAXDOUBLE };
			search->weights[i] = 1;
			if (to == bundle->parent)
				continue;
			try_parent(search, number, to, &found);
			search->weights[i] = exp(MIN(found.gain, MAX_GAIN));
			best = MAX(best, found.gain);
			total += search->weights[i];
			if (next_random(search) * total < search->weights[i])
				drawn = found.move;
		}
	else
		best = search->memories[number].gain;
	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 at = bundle->first_candidate + i;
		if (total > 1)
			shares[at] += search->weights[i] / total;
		else
			shares[at] += problem->candidates[at].parent == bundle->parent;
	}
	search->memories[number] = (Memory){ search->clock, (float)best };
	if (drawn.from != WP_NO_PARENT)
		make_move(search, &drawn);
}

static void
believe_shares(const WpNestProblem *problem, guint32 number, guint32 parent, const double *shares,
	       WpNestBelief *out)
{
	const WpNestBundle *bundle = &problem->bundles[number];
	double best = 0;

	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 at = bundle->first_candidate + i;
		double share = shares[at] / DRAWS;
		if (problem->candidates[at].parent == parent) {
			out->probability = share;
		} else if (share > best) {
			best = share;
			out->runner_up = problem->candidates[at].parent;
		}
	}
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
		out_beliefs[b] = (WpNestBelief){ 1, WP_NO_PARENT };
	}
	forget(search, G_MAXFLOAT);
	for (gint i = 0; i < WARM_UP + DRAWS; i++) {
		if (i == WARM_UP)
			memset(shares, 0, problem->n_candidates * sizeof shares[0]);
		if (i % DRAWS_A_MODEL == 0)
			learn(search);
		shuffle(search);
		for (guint32 j = 0; j < search->n_ambiguous; j++)
			draw(search, search->ambiguous[j], shares);
	}
	for (guint32 j = 0; j < search->n_ambiguous; j++) {
		guint32 b = search->ambiguous[j];
		believe_shares(problem, b, answer[b], shares, &out_beliefs[b]);
	}
	for (guint32 b = 0; b < problem->n_bundles; b++)
		problem->bundles[b].parent = answer[b];
	wp_nest_hang_children(problem);
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
	forget(search, G_MAXFLOAT);
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
		wp_nest_start_drop(start);
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

	search.changed = g_new0(guint32, MAX(problem->n_parents, 1));
	search.memories = g_new0(Memory, MAX(problem->n_bundles, 1));
	find_ambiguous(&search);
	choose_start(&search);
	find_ambiguous(&search);
	forget(&search, G_MAXFLOAT);
	if (search.n_ambiguous)
		for (guint round = 0; round < noisy + QUIET_ROUNDS; round++) {
			learn(&search);
			search.temperature = round < noisy ? 1 - (double)round / noisy : 0;
			sweep(&search, round < noisy ? NOISY_SWEEPS : QUIET_SWEEPS);
		}
	guint32 most = 1;
	for (guint32 b = 0; b < problem->n_bundles; b++)
		most = MAX(most, problem->bundles[b].n_candidates);
	search.weights = g_new(double, most);
	search.temperature = 0;
	believe(&search, out_beliefs);
	g_free(search.weights);
	wp_timelines_free(search.timelines);
	g_free(search.ambiguous);
	g_free(search.changed);
	g_free(search.memories);
}
