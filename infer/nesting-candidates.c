/*
 * The candidates of bundles: parents that were open when they began, or had ended a while ago. One pass over
 * time; the pairs that are counted, shifted and not, are met in the same way.
 */
#include <math.h>
#include <string.h>

#include "infer/nesting.h"

/* Candidates kept a bundle: the last to begin. Bounds work at absurd loads. */
#define MAX_CANDIDATES 512

/* Parents that a bundle is counted with: likewise. */
#define MAX_ACTIVE 4096

/* Parents that have ended are dropped when there are so many, and as many as others. */
#define MIN_ENDED 16

/* Bundles by which the usual load is found. */
#define SHORT_BLOCK 16

/* Parents to a block of bundles that are moved. */
#define BLOCK_PARENTS 128

/* The times of such blocks vary by more where the load does; by 0.09 where requests come at random. */
#define UNEVEN 0.1

/* So many usual gaps without a bundle, and nothing happens. */
#define IDLE_GAPS 32

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
	gint64 begin_ns;
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
			sweep->active[sweep->n_active++] = (Active){
				parent->begin_ns, parent->end_ns, parent->end_ns + kept_ns,
				sweep->next,      parent->span,   after_ns > 0
			};
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

/* FALSE: no parent of BUNDLE, which lies to it in MODE. */
static inline gboolean
may_cause(const Sweep *sweep, const Active *parent, const WpNestBundle *bundle, WpNestMode mode)
{
	const WpNestProblem *problem = sweep->problem;

	return (mode == WP_NEST_INSIDE || parent->has_after) &&
	       (!sweep->spans->owners || is_of_owner(sweep, parent, bundle)) &&
	       !(problem->calls_itself && holds_span(problem, bundle, parent->span));
}

/*
 * Bundles moved in time, without the time in which nothing happens. Where the load varies they are moved on by some of
 * their number, in blocks: as many as before are then where it is high, and few where it is low; moved by time those of a
 * busy hour would meet the parents of an idle one. Within a block they are spread evenly over its time. It is
 * of many requests: one of few is busy when these are, and would be moved to where others are. For that reason
 * all are one block where the load is even.
 */
typedef struct {
	const WpNestProblem *problem;
	guint32 block; /* bundles */
	gint64 *busy;  /* by bundle: time until it begins, without idle time; owned */
} Order;

static Order
order_new(const WpNestProblem *problem, const WpNestShift *shift)
{
	Order order = { problem, shift->block, g_new0(gint64, (gsize)problem->n_bundles + 1) };

	for (guint32 b = 1; b < problem->n_bundles; b++) {
		gint64 gap_ns = problem->bundles[b].begin_ns - problem->bundles[b - 1].begin_ns;
		order.busy[b] = order.busy[b - 1] + MIN(gap_ns, shift->idle_ns);
	}
	return order;
}

/* Of block NUMBER: its first bundle; behind the last one, the last bundle. */
static guint32
block_first(const Order *order, guint32 number)
{
	return (guint32)MIN((guint64)number * order->block, order->problem->n_bundles - 1);
}

static guint32
block_size(const Order *order, guint32 number)
{
	return MIN(order->block, order->problem->n_bundles - number * order->block);
}

/* Where BUNDLE lies among all, 0 .. n_bundles. */
static double
place_of(const Order *order, guint32 bundle)
{
	guint32 block = bundle / order->block;
	gint64 begin = order->busy[block_first(order, block)];
	double length = (double)(order->busy[block_first(order, block + 1)] - begin);
	double part = length > 0 ? (double)(order->busy[bundle] - begin) / length : 0;
	return block * (double)order->block + part * block_size(order, block);
}

static gint64
time_at(const Order *order, double place)
{
	guint32 block = MIN((guint32)place, order->problem->n_bundles - 1) / order->block;
	guint32 low = block_first(order, block), high = block_first(order, block + 1);
	double part = (place - block * (double)order->block) / block_size(order, block);
	gint64 busy =
		order->busy[low] + (gint64)(part * (double)(order->busy[high] - order->busy[low]));

	while (low < high) { /* the last bundle until then */
		guint32 middle = low + (high - low + 1) / 2;
		if (order->busy[middle] <= busy)
			low = middle;
		else
			high = middle - 1;
	}
	return order->problem->bundles[low].begin_ns + (busy - order->busy[low]);
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
		if (parent->until_ns >= begin_ns && may_cause(&self->sweep, parent, bundle, mode))
			self->func(number, parent->number, begin_ns - parent->begin_ns,
				   parent->end_ns - end_ns, mode, self->data);
	}
}

/* Those that leave the time of all bundles come back at its other end, so that as many meet parents as unshifted. */
static void
meet_shifted(PairSweep *self, const WpNestShift *shift, const guint8 *picks)
{
	const WpNestProblem *problem = self->sweep.problem;
	Order order = order_new(problem, shift);
	guint32 n = problem->n_bundles, first = 0;
	double by = (shift->share < 0 ? shift->share + 1 : shift->share) * n;

	while (first < n && place_of(&order, first) + by < n)
		first++;
	for (guint32 i = 0; i < n && !wp_nest_is_stopped(problem); i++) {
		guint32 b = i < n - first ? first + i : i - (n - first);
		double place = place_of(&order, b) + by;
		if (picks[b])
			meet_parents(self, b, time_at(&order, b < first ? place : place - n));
	}
	g_free(order.busy);
}

void
wp_nest_foreach_pair(const WpNestProblem *problem, const WpNestShift *shift, const guint8 *picks,
		     WpNestPairFunc func, gpointer data)
{
	if (problem->n_bundles == 0)
		return;
	PairSweep self = { begin_sweep(problem, TRUE), func, data };
	if (shift)
		meet_shifted(&self, shift, picks);
	for (guint32 b = 0; b < problem->n_bundles && !shift && !wp_nest_is_stopped(problem); b++)
		if (picks[b])
			meet_parents(&self, b, problem->bundles[b].begin_ns);
	g_free(self.sweep.active);
}

/* The time that a bundle comes after another one where the host is neither idle nor in a burst. */
static double
usual_gap_ns(const WpNestProblem *problem)
{
	guint32 last = problem->n_bundles - 1, n = last / SHORT_BLOCK + 1;
	g_autofree gint64 *lengths = g_new(gint64, n);

	for (guint32 k = 0; k < n; k++)
		lengths[k] = problem->bundles[MIN((k + 1) * SHORT_BLOCK, last)].begin_ns -
			     problem->bundles[k * SHORT_BLOCK].begin_ns;
	return (double)wp_nest_select_time(lengths, n, n / 2) / SHORT_BLOCK;
}

/* How the times of blocks vary, as standard deviation over mean. A last one that is short counts if it is a half. */
static double
unevenness(const Order *order)
{
	guint32 n = (order->problem->n_bundles + order->block / 2) / order->block;
	double sum = 0, squares = 0;

	for (guint32 k = 0; k < n; k++) {
		gint64 begin = order->busy[block_first(order, k)];
		double length = (double)(order->busy[block_first(order, k + 1)] - begin);
		length *= (double)order->block / block_size(order, k);
		sum += length;
		squares += length * length;
	}
	return n > 1 && sum > 0 ? sqrt(MAX(squares * n / (sum * sum) - 1, 0)) : 0;
}

WpNestShift
wp_nest_shift_of(const WpNestProblem *problem, gint64 time_ns, double most)
{
	guint32 n = problem->n_bundles;
	WpNestShift shift = { most, n + 1, time_ns };

	if (n < 2)
		return shift;
	double block = BLOCK_PARENTS * MAX((double)n / MAX(problem->n_parents, 1), 1);
	shift.idle_ns = MAX((gint64)(IDLE_GAPS * usual_gap_ns(problem)), time_ns);
	Order order = order_new(problem, &shift);
	order.block = (guint32)MIN(block, n);
	if (unevenness(&order) > UNEVEN)
		shift.block = order.block;
	if (order.busy[n - 1] > 0)
		shift.share = MIN((double)time_ns / (double)order.busy[n - 1], most);
	g_free(order.busy);
	return shift;
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
		if (parent->until_ns >= bundle->begin_ns && may_cause(sweep, parent, bundle, mode))
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
	if (!wp_nest_has_inside(problem, own, bundle->n_candidates))
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
