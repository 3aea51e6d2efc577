/* Counting how many parents make just one call of a type. */
#include "infer/timeline-once.h"

#define NATS      4.0 /* cost of a missing or a second call that each request makes once */
#define SHARE     0.5 /* of the parents, or more, make just one: the rest are mistakes */
#define TOLERANCE 0.002
#define FEW_TYPES 4 /* are counted one after the other */

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

void
wp_once_init(WpOnce *once, const WpNestProblem *problem)
{
	*once = (WpOnce){ .problem = problem,
			  .types = g_new0(guint32, problem->n_types),
			  .n_exact = g_new0(gint32, problem->n_types),
			  .nats = g_new0(double, problem->n_types),
			  .counts = g_new0(guint32, problem->n_types) };
	find_types(once);
}

void
wp_once_clear(WpOnce *once)
{
	g_free(once->types);
	g_free(once->n_exact);
	g_free(once->nats);
	g_free(once->counts);
}

static void
count_types(const WpOnce *once, const guint32 *children, guint32 n, gint step)
{
	const WpNestChild *all = once->problem->children;
	for (guint32 i = 0; i < n; i++)
		once->counts[all[children[i]].type] += (guint32)step;
}

void
wp_once_count(WpOnce *once, const guint32 *children, guint32 n, gint sign)
{
	once->n_counted += sign;
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
	double cost = 0;

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
