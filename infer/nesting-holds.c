/* Which connections are held, by an answer. See the header. */
#include "infer/nesting-holds.h"

#include <math.h>

#include "infer/evidence-kind.h"
#include "infer/map.h"

/*
 * Of calls that follow one of their own request, seen where connections are held: 0.49 to 0.96 are next on its connection, by
 * chance 0.2 to 0.7, of the sure ones 0.83 and more. Where any that is free is taken: as many as by chance (0.04 to 0.82), or, where
 * nearly all are in use and the one that is free longest is taken, 0.55 for 0.26, of the sure ones as well.
 */
#define MIN_FOLLOWS 50 /* that are sure, to tell */
#define MIN_NEXT    0.25
#define MIN_SURE    0.7 /* of these */
#define MIN_ODDS    3   /* times those of chance */
#define SIGMAS      6   /* beyond chance */
#define N_PLACES    16  /* among the calls to the callee since that one has returned */
#define FARTHEST    256 /* ... among all calls */

#define SURE      0.9  /* of a link: what two such tell is hardly a mistake */
#define MOST_SURE 0.99 /* no more is known of so few */

/* --- uses --- */

static void
count_chance(const WpNestProblem *problem, WpNestHolds *holds, guint32 n_flows)
{
	g_autofree guint32 *n_of_flow = g_new0(guint32, (gsize)n_flows + 1);
	g_autofree guint32 *n_of_pool = g_new0(guint32, (gsize)holds->n_pools + 1);

	for (guint32 c = 0; c < problem->n_children; c++) {
		const WpNestUse *use = &holds->uses[c];
		if (use->pool == 0)
			continue;
		n_of_pool[use->pool]++;
		/* Adds up to the square of how many there are on each. */
		holds->chance[use->pool] += 2.0 * n_of_flow[use->flow]++ + 1;
	}
	for (guint32 k = 1; k <= holds->n_pools; k++)
		holds->chance[k] /= (double)n_of_pool[k] * n_of_pool[k];
}

/* Index of CALLEE in HELD, or N. */
static guint32
find_held(guint32 callee, const WpNestHold *held, guint32 n)
{
	guint32 i = 0;

	while (i < n && held[i].callee != callee)
		i++;
	return i;
}

WpNestHolds *
wp_nest_holds_new(const WpNestProblem *problem, const WpNestHold *held, guint32 n)
{
	const WpSpan *spans = wp_resolved_spans(problem->resolved)->spans;
	const WpRecord *records = wp_trace_records(wp_resolved_trace(problem->resolved));
	g_autoptr(WpMap) pools = wp_map_new(), flows = wp_map_new();
	g_autoptr(GArray) last = g_array_new(FALSE, FALSE, sizeof(guint32)); /* by flow */
	g_autoptr(GArray) shares = g_array_new(FALSE, TRUE, sizeof(double)); /* by pool */
	WpNestHolds *holds = g_new0(WpNestHolds, 1);

	holds->uses = g_new0(WpNestUse, MAX(problem->n_children, 1));
	for (guint32 c = 0; c < problem->n_children; c++) {
		guint32 number = problem->children[c].span, none = WP_NO_CHILD;
		const WpSpan *span = number == WP_NO_SPAN ? NULL : &spans[number];
		guint32 flow = span ? records[span->call_record].flow : 0;
		guint32 at = span ? find_held(span->callee, held, n) : n;
		if (!flow || (held && at == n))
			continue;
		guint32 pool = 1 + wp_map_number(pools, span->callee);
		g_array_set_size(shares, MAX(shares->len, pool + 1));
		g_array_index(shares, double, pool) = held ? held[at].share : 0;
		guint32 connection = wp_map_number(flows, flow);
		if (connection == last->len)
			g_array_append_val(last, none);
		guint32 *before = &g_array_index(last, guint32, connection);
		holds->uses[c] = (WpNestUse){ pool, connection, *before };
		*before = c;
	}
	holds->n_pools = wp_map_count(pools);
	g_array_set_size(shares, holds->n_pools + 1);
	holds->shares = g_memdup2(shares->data, shares->len * sizeof(double));
	holds->chance = g_new0(double, shares->len);
	count_chance(problem, holds, last->len);
	return holds;
}

void
wp_nest_holds_free(WpNestHolds *holds)
{
	if (!holds)
		return;
	g_free(holds->uses);
	g_free(holds->shares);
	g_free(holds->chance);
	g_free(holds);
}

gboolean
wp_nest_follows(const WpNestProblem *problem, const WpNestHolds *holds, const guint32 *children,
		guint32 at, WpNestFollow *out)
{
	const WpNestChild *child = &problem->children[children[at]];
	const WpNestUse *use = &holds->uses[children[at]];

	if (use->pool == 0 || use->before == WP_NO_CHILD)
		return FALSE;
	for (guint32 i = at; i-- > 0;) {
		const WpNestChild *sibling = &problem->children[children[i]];
		if (holds->uses[children[i]].pool != use->pool)
			continue;
		*out = (WpNestFollow){ use->pool, children[i], use->before == children[i] };
		return sibling->end_ns <= child->begin_ns && sibling->bundle != child->bundle;
	}
	return FALSE;
}

/* --- what an answer tells --- */

/* Of the calls to a callee that follow one of their own request: which one of all since that has returned. */
typedef struct {
	guint32 callee;
	guint32 n;
	guint32 n_next;
	guint32 n_sure; /* both have their parent for sure */
	guint32 n_sure_next;
	guint32 n_own_at[N_PLACES];  /* by place: how often that one follows */
	guint32 n_next_at[N_PLACES]; /* ... is the next on the connection */
} Tally;

typedef struct {
	const WpNestProblem *problem;
	const WpNestBelief *beliefs;
	WpNestHolds *holds;
	guint32 *next;  /* by child: the next on its connection, or WP_NO_CHILD */
	Tally *tallies; /* by pool */
} Asked;

/* Which one CHILD is of the calls to its callee from FROM_NS on; N_PLACES: later than is asked for. */
static guint32
place_of(const Asked *asked, guint32 child, gint64 from_ns)
{
	const WpNestProblem *problem = asked->problem;
	guint32 pool = asked->holds->uses[child].pool, n = 0, first = child - MIN(child, FARTHEST);

	for (guint32 c = child; n < N_PLACES && c > 0; c--) {
		if (problem->children[c - 1].begin_ns < from_ns)
			return n;
		if (c == first)
			return N_PLACES;
		n += asked->holds->uses[c - 1].pool == pool;
	}
	return n;
}

static void
count_follow(Asked *asked, guint32 child, const WpNestFollow *follow)
{
	const WpNestProblem *problem = asked->problem;
	const WpNestChild *own = &problem->children[child];
	const WpNestChild *sibling = &problem->children[follow->sibling];
	Tally *tally = &asked->tallies[follow->pool];
	gboolean is_sure = asked->beliefs && asked->beliefs[own->bundle].probability > SURE &&
			   asked->beliefs[sibling->bundle].probability > SURE;
	guint32 next = asked->next[follow->sibling];
	guint32 place = place_of(asked, child, sibling->end_ns);
	guint32 next_place =
		next == WP_NO_CHILD ? N_PLACES : place_of(asked, next, sibling->end_ns);

	tally->callee = wp_resolved_spans(problem->resolved)->spans[own->span].callee;
	tally->n++;
	tally->n_next += follow->is_next;
	tally->n_sure += is_sure;
	tally->n_sure_next += is_sure && follow->is_next;
	if (place < N_PLACES)
		tally->n_own_at[place]++;
	if (next_place < N_PLACES)
		tally->n_next_at[next_place]++;
}

/*
 * TRUE where far more of them are next than would be if which one follows and which one is next on the connection had nothing
 * to do with each other, but for the time that both take.
 */
static gboolean
stands_out(const Tally *tally)
{
	double n = tally->n, chance = 0, next = tally->n_next / MAX(n, 1);

	for (guint32 i = 0; i < N_PLACES; i++)
		chance += tally->n_own_at[i] / MAX(n, 1) * tally->n_next_at[i] / MAX(n, 1);
	return n >= MIN_FOLLOWS && next >= MIN_NEXT &&
	       next * (1 - chance) > MIN_ODDS * chance * (1 - next) &&
	       next > chance + SIGMAS * sqrt(chance * (1 - chance) / n);
}

static gboolean
is_clear(const Tally *tally)
{
	return tally->n_sure >= MIN_FOLLOWS && tally->n_sure_next >= MIN_SURE * tally->n_sure;
}

static void
init_asked(const WpNestProblem *problem, const WpNestBelief *beliefs, Asked *out)
{
	WpNestHolds *holds = wp_nest_holds_new(problem, NULL, 0);

	*out = (Asked){ problem, beliefs, holds, g_new(guint32, MAX(problem->n_children, 1)),
			g_new0(Tally, (gsize)holds->n_pools + 1) };
	for (guint32 c = 0; c < problem->n_children; c++)
		out->next[c] = WP_NO_CHILD;
	for (guint32 c = 0; c < problem->n_children; c++)
		if (holds->uses[c].pool > 0 && holds->uses[c].before != WP_NO_CHILD)
			out->next[holds->uses[c].before] = c;
}

static void
clear_asked(Asked *asked)
{
	wp_nest_holds_free(asked->holds);
	g_free(asked->next);
	g_free(asked->tallies);
}

/* Of PROBLEM's answer; nobody is sure of anything where BELIEFS is NULL. */
static void
ask(const WpNestProblem *problem, const WpNestBelief *beliefs, Asked *out)
{
	WpNestFollow follow;

	init_asked(problem, beliefs, out);
	for (guint32 p = 0; p < problem->n_parents; p++) {
		const WpNestParent *parent = &problem->parents[p];
		for (guint32 i = 1; i < parent->n; i++)
			if (wp_nest_follows(problem, out->holds, parent->children, i, &follow))
				count_follow(out, parent->children[i], &follow);
	}
}

gboolean
wp_nest_may_hold(const WpNestProblem *problem)
{
	gboolean may = FALSE;
	Asked asked;

	if (!wp_evidence_has(problem->options->evidence, &wp_evidence_holds))
		return FALSE;
	ask(problem, NULL, &asked);
	for (guint32 k = 1; k <= asked.holds->n_pools; k++)
		may |= stands_out(&asked.tallies[k]);
	clear_asked(&asked);
	return may;
}

GArray *
wp_nest_find_holds(const WpNestProblem *problem, const WpNestBelief *beliefs)
{
	GArray *held = g_array_new(FALSE, FALSE, sizeof(WpNestHold));
	Asked asked;

	if (!wp_evidence_has(problem->options->evidence, &wp_evidence_holds))
		return held;
	ask(problem, beliefs, &asked);
	for (guint32 k = 1; k <= asked.holds->n_pools; k++) {
		const Tally *tally = &asked.tallies[k];
		double sure = (double)tally->n_sure_next / MAX(tally->n_sure, 1);
		WpNestHold hold = { tally->callee, MIN(sure, MOST_SURE) };
		if (stands_out(tally) && is_clear(tally))
			g_array_append_val(held, hold);
	}
	clear_asked(&asked);
	return held;
}

const WpEvidenceKind wp_evidence_holds = {
	.name = "holds",
	.summary = "calls that follow each other on a connection that a request has for itself",
	.is_default = TRUE,
};
