/* Counting how many parents make just one call of a type. */
#include "infer/timeline-once.h"

#define NATS      4.0 /* cost of a missing or a second call that each request makes once */
#define SHARE     0.5 /* of the parents, or more, make just one: the rest are mistakes */
#define TOLERANCE 0.002
#define FEW_TYPES 4 /* are counted one after the other */

/*
 * What siblings cost before any were counted, for each nat that they are less likely than others: within microseconds one is
 * likelier by far than what has nothing to do with it. From there on it is found out.
 */
#define PAIR_NATS 3.0
#define RELIEF    1.0  /* nats */
#define FEW_PAIRS 0.01 /* siblings of a thing: makes no difference */

/*
 * Types of which parents of the only class may make one call each. Whether they do, or half of them two and
 * the others none, is learned.
 */
static void
find_types(WpOnce *once)
{
	const WpNestProblem *problem = once->problem;
	g_autofree guint32 *counts = g_new0(guint32, problem->n_types);

	if (problem->n_classes != 1)
		return;
	for (guint32 i = 0; i < problem->n_children; i++)
		counts[problem->children[i].type]++;
	for (guint32 t = 0; t < problem->n_types; t++) {
		double off = (double)counts[t] - problem->n_parents;
		if (ABS(off) <= TOLERANCE * problem->n_parents)
			once->types[once->n_types++] = t;
	}
}

/* What two siblings cost before anything is counted. */
static void
init_pairs(WpOnce *once)
{
	const WpNestProblem *problem = once->problem;
	gsize n = problem->n_types + 1;

	if (!problem->siblings)
		return;
	once->pair_nats = g_new0(double, n);
	once->n_pairs = g_new0(gint64, n);
	once->n_all = g_new0(gint64, n);
	for (gsize i = 0; i < n; i++) {
		double target = problem->siblings[i];
		if (target < WP_NEST_NOT_KNOWN)
			once->pair_nats[i] = -PAIR_NATS * wp_quick_log(&problem->quick,
								       MIN(target + FEW_PAIRS, 1));
	}
}

void
wp_once_init(WpOnce *once, const WpNestProblem *problem)
{
	*once = (WpOnce){ .problem = problem,
			  .types = g_new0(guint32, problem->n_types),
			  .n_exact = g_new0(gint32, problem->n_types),
			  .nats = g_new0(double, problem->n_types),
			  .counts = g_new0(guint32, problem->n_types) };
	find_types(once);
	init_pairs(once);
}

void
wp_once_clear(WpOnce *once)
{
	g_free(once->types);
	g_free(once->n_exact);
	g_free(once->nats);
	g_free(once->counts);
	g_free(once->pair_nats);
	g_free(once->n_pairs);
	g_free(once->n_all);
}

static void
count_types(const WpOnce *once, const guint32 *children, guint32 n, gint step)
{
	const WpNestChild *all = once->problem->children;
	for (guint32 i = 0; i < n; i++)
		once->counts[all[children[i]].type] += (guint32)step;
}

/* Counts N siblings. */
static void
count_pairs(WpOnce *once, const guint32 *children, guint32 n, gint sign)
{
	const WpNestProblem *problem = once->problem;
	guint32 any = problem->n_types;

	for (guint32 i = 0; i < n; i++) {
		guint32 type = problem->children[children[i]].type;
		once->n_pairs[type] += 2 * sign * (gint64)once->counts[type]++;
		once->n_all[type] += sign;
	}
	once->n_pairs[any] += sign * (gint64)n * (n - (n > 0));
	once->n_all[any] += sign * (gint64)n;
	count_types(once, children, n, -1);
}

static double
cost_of_pairs(const WpOnce *once, const guint32 *children, guint32 n)
{
	const WpNestProblem *problem = once->problem;
	double cost = once->pair_nats[problem->n_types] * n * (n - 1.0) / 2;

	for (guint32 i = 0; i < n; i++) {
		guint32 type = problem->children[children[i]].type;
		cost += once->pair_nats[type] * once->counts[type]++;
	}
	count_types(once, children, n, -1);
	return cost;
}

/*
 * As many times as there are too many siblings they should be less likely. Where there are not, they cost less and less until
 * there are: what costs much stands in the way of one that takes the place of another.
 */
static void
fit_pairs(WpOnce *once)
{
	const WpNestProblem *problem = once->problem;

	for (guint32 i = 0; i <= problem->n_types; i++) {
		double target = problem->siblings[i];
		if (target >= WP_NEST_NOT_KNOWN || once->n_all[i] <= 0)
			continue;
		double siblings = (double)once->n_pairs[i] / (double)once->n_all[i];
		double more = wp_quick_log(&problem->quick,
					   (siblings + FEW_PAIRS) / (target + FEW_PAIRS));
		if (siblings <= target + FEW_PAIRS)
			more = MIN(more, -RELIEF);
		once->pair_nats[i] = MAX(once->pair_nats[i] + more, 0);
	}
}

void
wp_once_count(WpOnce *once, const guint32 *children, guint32 n, gint sign)
{
	once->n_counted += sign;
	if (once->pair_nats)
		count_pairs(once, children, n, sign);
	if (!once->n_types)
		return;
	count_types(once, children, n, 1);
	for (guint32 i = 0; i < once->n_types; i++)
		once->n_exact[i] += once->counts[once->types[i]] == 1 ? sign : 0;
	count_types(once, children, n, -1);
}

void
wp_once_fit(WpOnce *once)
{
	for (guint32 i = 0; i < once->n_types; i++)
		once->nats[i] = once->n_exact[i] >= SHARE * once->n_counted ? NATS : 0;
	if (once->pair_nats)
		fit_pairs(once);
}

static double
cost_of_type(const WpOnce *once, guint32 number, double n)
{
	return once->nats[number] * ABS(n - 1);
}

double
wp_once_cost(WpOnce *once, const guint32 *children, guint32 n)
{
	const WpNestChild *all = once->problem->children;
	double cost = once->pair_nats && n > 1 ? cost_of_pairs(once, children, n) : 0;

	if (once->n_types > FEW_TYPES) {
		count_types(once, children, n, 1);
		for (guint32 i = 0; i < once->n_types; i++)
			cost += cost_of_type(once, i, once->counts[once->types[i]]);
		count_types(once, children, n, -1);
		return cost;
	}
	for (guint32 i = 0; i < once->n_types; i++) {
		guint32 n_own = 0;
		for (guint32 k = 0; k < n; k++)
			n_own += all[children[k]].type == once->types[i];
		cost += cost_of_type(once, i, n_own);
	}
	return cost;
}
