/* The answer in which most answers agree. See the header. */
#include "infer/nesting-agree.h"

#define MAX_SWEEPS   30
#define MAX_CHILDREN 32 /* of a parent that takes part */
#define MIN_MORE     1e-6

typedef struct {
	WpNestProblem *problem;
	const double *shares;
} Agree;

static double
share_of(const Agree *agree, guint32 number, guint32 parent)
{
	const WpNestBundle *bundle = &agree->problem->bundles[number];
	gint at = wp_nest_find_candidate(agree->problem, bundle, parent);
	return at < 0 ? -1 : agree->shares[bundle->first_candidate + (guint32)at];
}

/* PARENT's children, by number, without LEAVES (WP_NO_PARENT: none) and with JOINS; how many. */
static guint32
list_children(const WpNestParent *parent, guint32 leaves, guint32 joins, guint32 *out)
{
	guint32 n = 0;

	for (guint32 i = 0; i < parent->n; i++) {
		guint32 child = parent->children[i];
		if (joins != WP_NO_PARENT && joins < child) {
			out[n++] = joins;
			joins = WP_NO_PARENT;
		}
		if (child != leaves)
			out[n++] = child;
	}
	if (joins != WP_NO_PARENT)
		out[n++] = joins;
	return n;
}

/* TRUE where the N CHILDREN are of the types that PARENT's are of, in order. */
static gboolean
is_alike(const WpNestProblem *problem, const WpNestParent *parent, const guint32 *children,
	 guint32 n)
{
	const WpNestChild *all = problem->children;

	if (parent->n != n)
		return FALSE;
	for (guint32 i = 0; i < n; i++)
		if (all[parent->children[i]].type != all[children[i]].type)
			return FALSE;
	return TRUE;
}

static void
hang(WpNestProblem *problem, guint32 number, const guint32 *children, guint32 n)
{
	WpNestParent *parent = &problem->parents[number];

	wp_nest_make_room(parent, n);
	parent->n = n;
	for (guint32 i = 0; i < n; i++) {
		parent->children[i] = children[i];
		problem->bundles[problem->children[children[i]].bundle].parent = number;
	}
}

/* Gives CHILD to TO, which gives OTHER back for it (WP_NO_PARENT: nothing), if both plans are still there then. */
static gboolean
exchange(WpNestProblem *problem, guint32 child, guint32 to, guint32 other)
{
	guint32 from = problem->bundles[problem->children[child].bundle].parent;
	const WpNestParent *a = &problem->parents[from], *b = &problem->parents[to];
	guint32 of_from[MAX_CHILDREN + 1], of_to[MAX_CHILDREN + 1];
	guint32 n_from = list_children(a, child, other, of_from);
	guint32 n_to = list_children(b, other, child, of_to);
	gboolean stay = is_alike(problem, a, of_from, n_from) && is_alike(problem, b, of_to, n_to);
	gboolean change = a->class == b->class && a->is_ghost == b->is_ghost &&
			  is_alike(problem, a, of_to, n_to) &&
			  is_alike(problem, b, of_from, n_from);

	if (!stay && !change)
		return FALSE;
	hang(problem, from, of_from, n_from);
	hang(problem, to, of_to, n_to);
	return TRUE;
}

/* Tries to give bundle NUMBER to TO, which it has more often by MORE. */
static gboolean
try_parent(const Agree *agree, guint32 number, guint32 to, double more)
{
	WpNestProblem *problem = agree->problem;
	guint32 from = problem->bundles[number].parent;
	guint32 child = problem->bundle_children[problem->bundles[number].first];
	const WpNestParent *parent = &problem->parents[to];

	if (parent->n > MAX_CHILDREN || problem->parents[from].n > MAX_CHILDREN)
		return FALSE;
	for (guint32 i = 0; i < parent->n; i++) {
		guint32 other = parent->children[i];
		guint32 bundle = problem->children[other].bundle;
		if (problem->children[other].type != problem->children[child].type ||
		    problem->bundles[bundle].n != 1)
			continue;
		double back = share_of(agree, bundle, from);
		if (back >= 0 && back - share_of(agree, bundle, to) + more > MIN_MORE &&
		    exchange(problem, child, to, other))
			return TRUE;
	}
	return exchange(problem, child, to, WP_NO_PARENT);
}

static gboolean
improve(const Agree *agree, guint32 number)
{
	const WpNestProblem *problem = agree->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	gboolean has_moved = FALSE;

	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 at = bundle->first_candidate + i;
		double more = agree->shares[at] - share_of(agree, number, bundle->parent);
		if (more > MIN_MORE)
			has_moved |=
				try_parent(agree, number, problem->candidates[at].parent, more);
	}
	return has_moved;
}

void
wp_nest_agree(WpNestProblem *problem, const double *shares)
{
	const Agree agree = { problem, shares };
	gboolean has_moved = TRUE;

	for (gint i = 0; i < MAX_SWEEPS && has_moved && !wp_nest_is_stopped(problem); i++) {
		has_moved = FALSE;
		for (guint32 b = 0; b < problem->n_bundles; b++)
			if (problem->bundles[b].n == 1 && problem->bundles[b].n_candidates > 1)
				has_moved |= improve(&agree, b);
	}
}
