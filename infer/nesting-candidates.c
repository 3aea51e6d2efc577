/*
 * The candidates of bundles: parents that were open when they began, or had ended a while ago. One pass over
 * time; the pairs that are counted, shifted and not, are met in the same way.
 */
#include <string.h>

#include "infer/nesting-shift.h"

/* Candidates kept a bundle: the last to begin. Bounds work at absurd loads. */
#define MAX_CANDIDATES 512

/* Parents that a bundle is counted with: likewise. */
#define MAX_ACTIVE 4096

/* Parents that have ended are dropped when there are so many, and as many as others. */
#define MIN_ENDED 16

/* How a child lies to a parent that ends at UNTIL_NS. */
static inline WpNestMode
mode_of(gint64 until_ns, gint64 begin_ns, gint64 end_ns, gint64 skew_ns)
{
	if (end_ns <= until_ns + skew_ns)
		return WP_NEST_INSIDE;
	return begin_ns <= until_ns ? WP_NEST_ACROSS : WP_NEST_AFTER;
}

WpNestMode
wp_nest_mode(const WpNestProblem *problem, const WpNestBundle *bundle, guint32 parent)
{
	return mode_of(problem->parents[parent].end_ns, bundle->begin_ns, bundle->end_ns,
		       problem->options->skew_ns);
}

static gboolean
holds_span(const WpNestProblem *problem, const WpNestBundle *bundle, guint32 span)
{
	for (guint32 i = 0; i < bundle->n; i++)
		if (problem->children[problem->bundle_children[bundle->first + i]].span == span)
			return TRUE;
	return FALSE;
}

/* A parent that may still have children, with what is asked of it. */
typedef struct {
	gint64 turn_ns; /* when its begin is taken up */
	gint64 end_ns;
	gint64 until_ns; /* stays active so long */
	guint32 number;
	guint32 span;
	gboolean has_after; /* it may cause something after its end */
} Active;

/* One pass over time. */
typedef struct {
	const WpNestProblem *problem;
	const WpSpans *spans;
	gboolean is_far;  /* parents stay active after their end */
	Active *active;   /* by begin */
	guint32 n_active; /* some of which ended too long ago */
	guint32 n_kept;   /* when these were last dropped */
	guint32 next;     /* parent */
} Sweep;

static Sweep
begin_sweep(const WpNestProblem *problem, gboolean is_far)
{
	Active *active = g_new(Active, (gsize)problem->n_parents + 1);
	return (Sweep){ problem, wp_resolved_spans(problem->resolved), is_far, active, 0, 0, 0 };
}

/* Drops parents that ended too long ago. */
static void
drop_ended(Sweep *sweep, gint64 begin_ns)
{
	guint32 kept = 0;

	for (guint32 i = 0; i < sweep->n_active; i++)
		if (sweep->active[i].until_ns >= begin_ns)
			sweep->active[kept++] = sweep->active[i];
	sweep->n_active = sweep->n_kept = kept;
}

/* Goes on to BEGIN_NS: adds parents that have begun. Those that ended are dropped when they are many. */
static void
go_to(Sweep *sweep, gint64 begin_ns)
{
	const WpNestProblem *problem = sweep->problem;
	gint64 skew_ns = problem->options->skew_ns;

	if (sweep->n_active >= 2 * sweep->n_kept + MIN_ENDED)
		drop_ended(sweep, begin_ns);
	for (; sweep->next < problem->n_parents; sweep->next++) {
		const WpNestParent *parent = &problem->parents[sweep->next];
		if (parent->begin_ns > begin_ns + skew_ns)
			break;
		gint64 after_ns = wp_nest_after(problem, parent);
		gint64 kept_ns = MAX(sweep->is_far ? after_ns : 0, skew_ns);
		if (parent->end_ns + kept_ns >= begin_ns)
			sweep->active[sweep->n_active++] =
				(Active){ parent->begin_ns + parent->wait_ns,
					  parent->end_ns,
					  parent->end_ns + kept_ns,
					  sweep->next,
					  parent->span,
					  after_ns > 0 };
	}
}

/* FALSE where PARENT is a call into another service than the one that made BUNDLE, as far as that is known. */
static gboolean
is_of_owner(const Sweep *sweep, const Active *parent, const WpNestBundle *bundle)
{
	const WpNestProblem *problem = sweep->problem;

	for (guint32 i = 0; i < bundle->n; i++) {
		guint32 span = problem->children[problem->bundle_children[bundle->first + i]].span;
		if (span != WP_NO_SPAN && !wp_spans_may_cause(sweep->spans, parent->span, span))
			return FALSE;
	}
	return TRUE;
}

/* TRUE where BUNDLE, at BEGIN_NS, is nearer to PARENT, a message, than what messages cause. */
static gboolean
is_too_soon(const WpNestProblem *problem, const Active *parent, const WpNestBundle *bundle,
	    gint64 begin_ns)
{
	guint32 type = problem->children[problem->bundle_children[bundle->first]].type;

	return problem->parents[parent->number].is_message &&
	       begin_ns - parent->end_ns < problem->least_ns[type];
}

/* FALSE: no parent of BUNDLE, which begins at BEGIN_NS and lies to it in MODE. */
static inline gboolean
may_cause(const Sweep *sweep, const Active *parent, const WpNestBundle *bundle, gint64 begin_ns,
	  WpNestMode mode)
{
	const WpNestProblem *problem = sweep->problem;

	return (mode == WP_NEST_INSIDE || parent->has_after) &&
	       !(problem->least_ns && is_too_soon(problem, parent, bundle, begin_ns)) &&
	       (!sweep->spans->owners || is_of_owner(sweep, parent, bundle)) &&
	       !(problem->calls_itself && holds_span(problem, bundle, parent->span));
}

typedef struct {
	Sweep sweep;
	WpNestPairFunc func;
	gpointer data;
} PairSweep;

static void
meet_parents(PairSweep *self, guint32 number, gint64 begin_ns)
{
	const WpNestProblem *problem = self->sweep.problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	gint64 end_ns = begin_ns + (bundle->end_ns - bundle->begin_ns);

	go_to(&self->sweep, begin_ns);
	guint32 n = self->sweep.n_active, first = n > MAX_ACTIVE ? n - MAX_ACTIVE : 0;
	for (guint32 i = first; i < n; i++) {
		const Active *parent = &self->sweep.active[i];
		WpNestMode mode =
			mode_of(parent->end_ns, begin_ns, end_ns, problem->options->skew_ns);
		if (parent->until_ns >= begin_ns &&
		    may_cause(&self->sweep, parent, bundle, begin_ns, mode))
			self->func(number, parent->number,
				   bundle->has_waited ? WP_NEST_WAITED_NS
						      : begin_ns - parent->turn_ns,
				   parent->end_ns - end_ns - bundle->wait_ns, mode, self->data);
	}
}

/* In the order of the times that they are moved to: first those that come back from the other end. */
static void
meet_shifted(PairSweep *self, const WpNestOrder *order, double share, const guint8 *picks)
{
	const WpNestProblem *problem = self->sweep.problem;
	guint32 n = problem->n_bundles, first = wp_nest_order_first_back(order, share);

	for (guint32 i = 0; i < n && !wp_nest_is_stopped(problem); i++) {
		guint32 b = i < n - first ? first + i : i - (n - first);
		if (picks[b])
			meet_parents(self, b, wp_nest_order_moved(order, b, share));
	}
}

void
wp_nest_foreach_pair(const WpNestProblem *problem, const WpNestOrder *order, double share,
		     const guint8 *picks, WpNestPairFunc func, gpointer data)
{
	PairSweep self = { begin_sweep(problem, TRUE), func, data };

	if (order)
		meet_shifted(&self, order, share, picks);
	for (guint32 b = 0; b < problem->n_bundles && !order && !wp_nest_is_stopped(problem); b++)
		if (picks[b])
			meet_parents(&self, b, problem->bundles[b].begin_ns);
	g_free(self.sweep.active);
}

/* Adds the candidates of a bundle to the end of FOUND. */
static void
list_candidates(Sweep *sweep, WpNestBundle *bundle, GArray *found)
{
	const WpNestProblem *problem = sweep->problem;
	gint64 skew_ns = problem->options->skew_ns;
	guint32 first = found->len;

	go_to(sweep, bundle->begin_ns);
	guint32 room = MIN(sweep->n_active, MAX_CANDIDATES), at = room;
	g_array_set_size(found, first + room);
	WpNestCandidate *candidates = &g_array_index(found, WpNestCandidate, first);
	/* From the last, so that no more are looked at than are kept. */
	for (guint32 i = sweep->n_active; i-- > 0 && at > 0;) {
		const Active *parent = &sweep->active[i];
		WpNestMode mode =
			mode_of(parent->end_ns, bundle->begin_ns, bundle->end_ns, skew_ns);
		if (parent->until_ns >= bundle->begin_ns &&
		    may_cause(sweep, parent, bundle, bundle->begin_ns, mode))
			candidates[--at] =
				(WpNestCandidate){ .parent = parent->number, .mode = (guint8)mode };
	}
	guint32 n = room - at;
	memmove(candidates, candidates + at, n * sizeof candidates[0]);
	bundle->first_candidate = first;
	bundle->n_candidates = n;
	g_array_set_size(found, first + n);
}

gboolean
wp_nest_has_inside(const WpNestProblem *problem, const WpNestCandidate *candidates, guint32 n)
{
	for (guint32 i = 0; i < n; i++)
		if (candidates[i].mode == WP_NEST_INSIDE &&
		    !problem->parents[candidates[i].parent].waits)
			return TRUE;
	return FALSE;
}

/*
 * Of the candidates of BUNDLE, the last in FOUND, keeps those that are wanted; where no parent that works
 * encloses it, all.
 */
static void
choose_candidates(const WpNestProblem *problem, WpNestBundle *bundle, GArray *found,
		  const WpNestChoice *choice)
{
	guint32 n = 0;

	if (bundle->n_candidates == 0)
		return;
	WpNestCandidate *own = &g_array_index(found, WpNestCandidate, bundle->first_candidate);
	if (!wp_nest_has_inside(problem, own, bundle->n_candidates) &&
	    !wp_nest_may_be_alone(problem, bundle))
		return;
	for (guint32 i = 0; i < bundle->n_candidates; i++)
		if (choice->keeps(bundle, &own[i], choice->data))
			own[n++] = own[i];
	bundle->n_candidates = n;
	g_array_set_size(found, bundle->first_candidate + n);
}

/* TRUE where those that were open at the time suffice: they are listed then. */
static gboolean
list_near(Sweep *near, WpNestBundle *bundle, GArray *found, const WpNestChoice *choice)
{
	guint32 first = found->len;

	if (!choice->keeps || choice->looks_far(bundle, choice->data))
		return FALSE;
	list_candidates(near, bundle, found);
	if (wp_nest_has_inside(near->problem, &g_array_index(found, WpNestCandidate, first),
			       bundle->n_candidates))
		return TRUE;
	g_array_set_size(found, first);
	return FALSE;
}

void
wp_nest_find_candidates(WpNestProblem *problem, const WpNestChoice *choice)
{
	Sweep near = begin_sweep(problem, FALSE), far = begin_sweep(problem, TRUE);
	/* With room for one: an array without memory has no place to count from. */
	GArray *found = g_array_sized_new(FALSE, FALSE, sizeof(WpNestCandidate), 1);

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		bundle->first_candidate = found->len;
		bundle->n_candidates = 0;
		if ((choice->picks && !choice->picks[b]) || wp_nest_is_stopped(problem))
			continue;
		if (!list_near(&near, bundle, found, choice))
			list_candidates(&far, bundle, found);
		if (choice->keeps)
			choose_candidates(problem, bundle, found, choice);
	}
	g_free(near.active);
	g_free(far.active);
	g_free(problem->candidates);
	problem->n_candidates = found->len;
	problem->candidates = (WpNestCandidate *)(void *)g_array_free(found, FALSE);
}

gint
wp_nest_find_candidate(const WpNestProblem *problem, const WpNestBundle *bundle, guint32 parent)
{
	gint low = 0, high = (gint)bundle->n_candidates - 1;
	const WpNestCandidate *candidates = problem->candidates + bundle->first_candidate;
	while (low <= high) {
		gint middle = (low + high) / 2;
		if (candidates[middle].parent == parent)
			return middle;
		if (candidates[middle].parent < parent)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return -1;
}
