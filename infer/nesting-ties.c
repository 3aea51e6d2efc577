/* What comes first is taken up first. See the header. */
#include "infer/nesting-ties.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TIED 64 /* at one moment: more is no packet */

static gint
compare_numbers(gconstpointer a, gconstpointer b)
{
	guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
	return x < y ? -1 : x > y;
}

/* What is known beside time of N BUNDLES with these PARENTS; FALSE: one may not have its. */
static gboolean
sum_odds(const WpNestProblem *problem, const guint32 *bundles, const guint32 *parents, guint32 n,
	 double *out)
{
	*out = 0;
	for (guint32 i = 0; i < n; i++) {
		const WpNestBundle *bundle = &problem->bundles[bundles[i]];
		gint at = wp_nest_find_candidate(problem, bundle, parents[i]);
		if (at < 0)
			return FALSE;
		*out += (double)problem->candidates[bundle->first_candidate + (guint32)at].odds;
	}
	return TRUE;
}

/* TRUE where N BUNDLES may have these PARENTS instead of their OWN, and nothing speaks against it. */
static gboolean
is_as_likely(const WpNestProblem *problem, const guint32 *bundles, const guint32 *own,
	     const guint32 *parents, guint32 n)
{
	double before, after;

	return sum_odds(problem, bundles, own, n, &before) &&
	       sum_odds(problem, bundles, parents, n, &after) && after >= before;
}

/* Gives N BUNDLES these PARENTS, where nothing speaks against it. FALSE: they have what they had. */
static gboolean
set_parents(WpNestProblem *problem, const guint32 *bundles, const guint32 *parents, guint32 n)
{
	guint32 own[MAX_TIED];
	gboolean has_changed = FALSE;

	for (guint32 i = 0; i < n; i++)
		own[i] = problem->bundles[bundles[i]].parent;
	if (!is_as_likely(problem, bundles, own, parents, n))
		return FALSE;
	for (guint32 i = 0; i < n; i++) {
		has_changed |= own[i] != parents[i];
		problem->bundles[bundles[i]].parent = parents[i];
	}
	return has_changed;
}

/* --- things that leave at one moment --- */

/* What messages cause; and of a coarse clock the same time says nothing of the order. */
static gboolean
tells_order(const WpNestProblem *problem)
{
	return problem->grain_ns <= WP_NEST_GRAIN_NS && problem->n_messages > 0;
}

static gboolean
is_of_message(const WpNestProblem *problem, const WpNestBundle *bundle)
{
	return bundle->n == 1 && bundle->parent != WP_NO_PARENT &&
	       problem->parents[bundle->parent].is_message;
}

/* The kind is that of the bundle's child. */
static gboolean
are_twins(const WpNestProblem *problem, const WpNestBundle *a, const WpNestBundle *b)
{
	const WpNestChild *children = problem->children;
	const WpNestChild *x = &children[problem->bundle_children[a->first]],
			  *y = &children[problem->bundle_children[b->first]];
	return x->begin_ns == y->begin_ns && x->end_ns == y->end_ns && x->type == y->type &&
	       x->packet == y->packet;
}

/* Behind the last of the bundles from FIRST on that begin when it does; a part of them where they are many. */
static guint32
end_of_moment(const WpNestProblem *problem, guint32 first)
{
	guint32 end = first + 1;

	while (end < problem->n_bundles && end - first < MAX_TIED &&
	       problem->bundles[end].begin_ns == problem->bundles[first].begin_ns)
		end++;
	return end;
}

static gboolean
order_bundles(WpNestProblem *problem, guint32 first, guint32 end)
{
	guint32 bundles[MAX_TIED], parents[MAX_TIED];
	gboolean has_changed = FALSE;

	for (guint32 b = first; b < end; b++) {
		guint32 n = 0;
		if (!is_of_message(problem, &problem->bundles[b]))
			continue;
		for (guint32 other = b; other < end && n < MAX_TIED; other++) {
			if (!is_of_message(problem, &problem->bundles[other]) ||
			    !are_twins(problem, &problem->bundles[b], &problem->bundles[other]))
				continue;
			bundles[n] = other;
			parents[n++] = problem->bundles[other].parent;
		}
		qsort(parents, n, sizeof parents[0], compare_numbers);
		has_changed |= set_parents(problem, bundles, parents, n);
	}
	return has_changed;
}

gboolean
wp_nest_order_ties(WpNestProblem *problem)
{
	gboolean has_changed = FALSE;

	for (guint32 first = 0, end; tells_order(problem) && first < problem->n_bundles;
	     first = end) {
		end = end_of_moment(problem, first);
		if (end - first > 1)
			has_changed |= order_bundles(problem, first, end);
	}
	return has_changed;
}

/* --- how sure that order is --- */

typedef struct {
	double n_together; /* pairs of neighbours that left at one moment, each with the cause of another message */
	double n_shared; /* ... both with the same: if that is wrong, all that left then may have another's */
	double n_crossed; /* ... that did not, and left the other way round than their causes came */
} Order;

struct WpNestTwins {
	const WpNestProblem *problem;
	GArray *bundles; /* guint32: group after group, each in order */
	GArray *ends;    /* guint32: of each group, into BUNDLES */
	double *ordered; /* by candidate: answers in which it is the parent once all is in order */
	Order *orders;   /* by type */
	guint32 *last;   /* by type: the last bundle so far; room for one pass */
};

static guint32
type_of(const WpNestProblem *problem, guint32 bundle)
{
	return problem->children[problem->bundle_children[problem->bundles[bundle].first]].type;
}

/* Adds the groups among bundles FIRST to END, which begin at one moment. */
static void
list_groups(WpNestTwins *twins, guint32 first, guint32 end)
{
	const WpNestProblem *problem = twins->problem;
	gboolean is_listed[MAX_TIED] = { FALSE };

	for (guint32 b = first; b < end; b++) {
		guint32 n = 0;
		for (guint32 other = b; other < end; other++) {
			if (is_listed[other - first] || problem->bundles[other].n != 1 ||
			    !are_twins(problem, &problem->bundles[b], &problem->bundles[other]))
				continue;
			is_listed[other - first] = TRUE;
			g_array_append_val(twins->bundles, other);
			n++;
		}
		if (n > 1)
			g_array_append_val(twins->ends, twins->bundles->len);
		else
			g_array_set_size(twins->bundles, twins->bundles->len - n);
	}
}

WpNestTwins *
wp_nest_twins_new(const WpNestProblem *problem)
{
	if (!tells_order(problem))
		return NULL;
	WpNestTwins *twins = g_new0(WpNestTwins, 1);

	twins->problem = problem;
	twins->bundles = g_array_new(FALSE, FALSE, sizeof(guint32));
	twins->ends = g_array_new(FALSE, FALSE, sizeof(guint32));
	for (guint32 first = 0, end; first < problem->n_bundles; first = end) {
		end = end_of_moment(problem, first);
		if (end - first > 1)
			list_groups(twins, first, end);
	}
	if (twins->ends->len == 0) {
		wp_nest_twins_free(twins);
		return NULL;
	}
	twins->ordered = g_new0(double, problem->n_candidates);
	twins->orders = g_new0(Order, problem->n_types);
	twins->last = g_new(guint32, problem->n_types);
	return twins;
}

void
wp_nest_twins_free(WpNestTwins *twins)
{
	if (!twins)
		return;
	g_array_unref(twins->bundles);
	g_array_unref(twins->ends);
	g_free(twins->ordered);
	g_free(twins->orders);
	g_free(twins->last);
	g_free(twins);
}

static void
count_parent(WpNestTwins *twins, guint32 bundle, guint32 parent)
{
	const WpNestBundle *own = &twins->problem->bundles[bundle];
	gint at = wp_nest_find_candidate(twins->problem, own, parent);

	if (at >= 0)
		twins->ordered[own->first_candidate + (guint32)at] += 1;
}

/* Counts the parents of N BUNDLES of a group, in order where nothing speaks against it. */
static void
count_group(WpNestTwins *twins, const guint32 *bundles, guint32 n)
{
	const WpNestProblem *problem = twins->problem;
	guint32 movable[MAX_TIED] = { 0 }, own[MAX_TIED] = { 0 }, ordered[MAX_TIED], n_movable = 0;

	for (guint32 i = 0; i < n; i++) {
		const WpNestBundle *bundle = &problem->bundles[bundles[i]];
		if (is_of_message(problem, bundle)) {
			movable[n_movable] = bundles[i];
			own[n_movable++] = bundle->parent;
		} else {
			count_parent(twins, bundles[i], bundle->parent);
		}
	}
	memcpy(ordered, own, n_movable * sizeof own[0]);
	qsort(ordered, n_movable, sizeof ordered[0], compare_numbers);
	gboolean may_order = is_as_likely(problem, movable, own, ordered, n_movable);
	for (guint32 i = 0; i < n_movable; i++) {
		count_parent(twins, movable[i], may_order ? ordered[i] : own[i]);
		Order *order = &twins->orders[type_of(problem, bundles[0])];
		if (i > 0)
			*(ordered[i] != ordered[i - 1] ? &order->n_together : &order->n_shared) +=
				1;
	}
}

/* TRUE where BUNDLES A and B, the earlier one, left at other moments, with the parents of each other as well as with their own. */
static gboolean
is_crossed(const WpNestProblem *problem, guint32 a, guint32 b)
{
	const WpNestBundle *x = &problem->bundles[a], *y = &problem->bundles[b];

	return x->begin_ns > y->begin_ns && x->parent < y->parent &&
	       wp_nest_find_candidate(problem, x, y->parent) >= 0 &&
	       wp_nest_find_candidate(problem, y, x->parent) >= 0;
}

void
wp_nest_twins_count(WpNestTwins *twins)
{
	const WpNestProblem *problem = twins->problem;
	const guint32 *bundles = (const guint32 *)(const void *)twins->bundles->data;
	guint32 first = 0;

	for (guint i = 0; i < twins->ends->len; i++) {
		guint32 end = g_array_index(twins->ends, guint32, i);
		count_group(twins, bundles + first, end - first);
		first = end;
	}
	memset(twins->last, 0xff, problem->n_types * sizeof twins->last[0]);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		if (problem->bundles[b].n != 1 || !is_of_message(problem, &problem->bundles[b]))
			continue;
		guint32 type = type_of(problem, b), before = twins->last[type];
		if (before != G_MAXUINT32 && is_crossed(problem, b, before))
			twins->orders[type].n_crossed += 1;
		twins->last[type] = b;
	}
}

/* Of what left at one moment, the share in which the order of causes is more than chance. */
static double
sure_of(const Order *order)
{
	double sum = order->n_together + order->n_shared +
		     2 * order->n_crossed; /* by chance every other one crosses */
	return sum > 0 ? order->n_together / sum : 0;
}

void
wp_nest_twins_share(const WpNestTwins *twins, double *shares)
{
	const WpNestProblem *problem = twins->problem;

	for (guint i = 0; i < twins->bundles->len; i++) {
		guint32 b = g_array_index(twins->bundles, guint32, i);
		const WpNestBundle *bundle = &problem->bundles[b];
		double sure = sure_of(&twins->orders[type_of(problem, b)]);
		if (bundle->n_candidates < 2)
			continue;
		for (guint32 k = 0; k < bundle->n_candidates; k++) {
			guint32 at = bundle->first_candidate + k;
			shares[at] = sure * twins->ordered[at] + (1 - sure) * shares[at];
		}
	}
}
