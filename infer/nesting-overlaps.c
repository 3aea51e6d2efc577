/* Calls of one parent that overlap, by counts. See the header. */
#include "infer/nesting-overlaps.h"

#include <math.h>

#define MAX_CALLS    10000 /* enough to tell: those in the middle */
#define ENOUGH_CALLS 50    /* of a type, to count it apart */
#define MAX_GROUPS   32
#define NO_CALL      0
#define OTHERS       1    /* the group of all types with few calls */
#define LEAST        0.05 /* own calls open: fewer are none; so an overlap costs 3 nats at the most */

/*
 * Where requests come or go on in step, calls are open together without being one's own. How much of that there is shows with
 * the begins moved in time: by so many lives of a parent, and more.
 */
#define N_SHIFTS     6
#define MIN_LIVES    2.0
#define MIN_SHIFT_NS 100e6
#define MAX_SHIFT    0.125 /* of all time */

/* In the order in which they count where they are at one time. */
typedef enum {
	CALL_ENDS,
	PARENT_ENDS,
	PARENT_BEGINS,
	CALL_BEGINS
} Step;

typedef struct {
	gint64 time_ns;
	guint8 step;
	guint8 group; /* of a call */
} Event;

/* What is open at a time. */
typedef struct {
	double parents;
	double calls[MAX_GROUPS];
} State;

typedef struct {
	const WpNestProblem *problem;
	WpNestOverlaps *overlaps;
	guint32 first; /* children that are counted, to END */
	guint32 end;
	GArray *list; /* Event, by time */
	const Event *events;
	guint32 n_events;
	gint64 life_ns;           /* of a parent, mean */
	double share[MAX_GROUPS]; /* calls open per parent in work */
} Counter;

static gboolean
is_call(const WpNestChild *child)
{
	return child->span != WP_NO_SPAN;
}

/* Types with enough calls among those that are counted get groups of their own, while there are any. */
static void
group_types(Counter *counter)
{
	const WpNestProblem *problem = counter->problem;
	WpNestOverlaps *overlaps = counter->overlaps;
	g_autofree guint32 *n = g_new0(guint32, MAX(problem->n_types, 1));
	g_autofree guint8 *is_any = g_new0(guint8, MAX(problem->n_types, 1));

	for (guint32 c = 0; c < problem->n_children; c++)
		is_any[problem->children[c].type] |= (guint8)is_call(&problem->children[c]);
	for (guint32 c = counter->first; c < counter->end; c++)
		n[problem->children[c].type]++;
	overlaps->n_groups = OTHERS + 1;
	for (guint32 t = 0; t < problem->n_types; t++) {
		overlaps->group_of[t] = is_any[t] ? OTHERS : NO_CALL;
		if (is_any[t] && n[t] >= ENOUGH_CALLS && overlaps->n_groups < MAX_GROUPS)
			overlaps->group_of[t] = (guint8)overlaps->n_groups++;
	}
}

static int
compare_events(gconstpointer a, gconstpointer b)
{
	const Event *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->step != y->step)
		return x->step - y->step;
	return x->group - y->group;
}

static void
add_events(Counter *counter, gint64 begin_ns, gint64 end_ns, Step begin, Step end, guint8 group)
{
	const Event events[2] = { { begin_ns, (guint8)begin, group },
				  { end_ns, (guint8)end, group } };

	g_array_append_vals(counter->list, events, 2);
}

/* Parents in work, and calls, that begin or end while those begin that are counted. */
static void
list_events(Counter *counter)
{
	const WpNestProblem *problem = counter->problem;
	gint64 from_ns = problem->children[counter->first].begin_ns;
	gint64 to_ns = problem->children[counter->end - 1].begin_ns;
	double life_ns = 0;

	counter->list = g_array_new(FALSE, FALSE, sizeof(Event));
	for (guint32 p = 0; p < problem->n_parents; p++) {
		const WpNestParent *parent = &problem->parents[p];
		if (parent->is_message || parent->waits || parent->end_ns < from_ns ||
		    parent->begin_ns > to_ns)
			continue;
		life_ns += (double)(parent->end_ns - parent->begin_ns);
		add_events(counter, parent->begin_ns, parent->end_ns, PARENT_BEGINS, PARENT_ENDS,
			   NO_CALL);
	}
	counter->life_ns = (gint64)(life_ns * 2 / MAX(counter->list->len, 1));
	for (guint32 c = 0; c < problem->n_children; c++) {
		const WpNestChild *child = &problem->children[c];
		guint8 group = counter->overlaps->group_of[child->type];
		if (is_call(child) && child->end_ns > child->begin_ns && child->end_ns >= from_ns &&
		    child->begin_ns <= to_ns)
			add_events(counter, child->begin_ns, child->end_ns, CALL_BEGINS, CALL_ENDS,
				   group);
	}
	g_array_sort(counter->list, compare_events);
	counter->events = (const Event *)(const void *)counter->list->data;
	counter->n_events = counter->list->len;
}

static void
pass(State *state, const Event *event)
{
	switch ((Step)event->step) {
	case CALL_ENDS:
		state->calls[event->group]--;
		break;
	case PARENT_ENDS:
		state->parents--;
		break;
	case PARENT_BEGINS:
		state->parents++;
		break;
	case CALL_BEGINS:
		state->calls[event->group]++;
		break;
	}
}

/* How many calls are open per parent in work, over all time. */
static void
learn_shares(Counter *counter)
{
	double calls_ns[MAX_GROUPS] = { 0 }, parents_ns = 0;
	State state = { 0 };

	for (guint32 i = 0; i < counter->n_events; i++) {
		const Event *event = &counter->events[i];
		double ns = i ? (double)(event->time_ns - counter->events[i - 1].time_ns) : 0;
		parents_ns += state.parents * ns;
		for (guint32 g = 0; g < counter->overlaps->n_groups; g++)
			calls_ns[g] += state.calls[g] * ns;
		pass(&state, event);
	}
	for (guint32 g = 0; g < counter->overlaps->n_groups; g++)
		counter->share[g] = calls_ns[g] / MAX(parents_ns, 1);
}

/* Whether the parent of CHILD is in work when that begins, as the present answer has it. */
static gboolean
lies_inside(const WpNestProblem *problem, const WpNestChild *child)
{
	const WpNestBundle *bundle = &problem->bundles[child->bundle];

	return bundle->parent == WP_NO_PARENT ||
	       wp_nest_mode(problem, bundle, bundle->parent) != WP_NEST_AFTER;
}

/*
 * Sets OUT, by pair of groups, to how many calls are open when one begins, on average, beyond those of other parents. Moved by
 * SHIFT_NS all parents are others.
 */
static void
count_open(const Counter *counter, gint64 shift_ns, double *out)
{
	const WpNestProblem *problem = counter->problem;
	guint32 n_groups = counter->overlaps->n_groups, at = 0;
	double n[MAX_GROUPS] = { 0 }, parents[MAX_GROUPS] = { 0 };
	double open[MAX_GROUPS][MAX_GROUPS] = { { 0 } };
	State state = { 0 };

	for (guint32 c = counter->first; c < counter->end; c++) {
		const WpNestChild *child = &problem->children[c];
		guint8 group = counter->overlaps->group_of[child->type];
		const Event now = { child->begin_ns + shift_ns, CALL_BEGINS, NO_CALL };
		while (at < counter->n_events && compare_events(&counter->events[at], &now) < 0)
			pass(&state, &counter->events[at++]);
		if (!is_call(child) || at == 0 || at == counter->n_events)
			continue;
		gboolean is_own = shift_ns == 0 && lies_inside(problem, child);
		n[group]++;
		parents[group] += is_own ? MAX(state.parents - 1, 0) : state.parents;
		for (guint32 g = 0; g < n_groups; g++)
			open[g][group] += state.calls[g];
	}
	for (guint32 g = 0; g < n_groups; g++)
		for (guint32 k = 0; k < n_groups; k++)
			out[g * n_groups + k] =
				(open[g][k] - counter->share[g] * parents[k]) / MAX(n[k], 1);
}

/* Own calls that are open, less what chance brings of them. */
static void
count_own(const Counter *counter)
{
	static const double shifts[N_SHIFTS] = { 1, -1, 1.7, -1.7, 2.6, -2.6 };
	WpNestOverlaps *overlaps = counter->overlaps;
	guint32 n = overlaps->n_groups * overlaps->n_groups;
	g_autofree double *moved = g_new(double, n), *squares = g_new0(double, n);
	gint64 all_ns = counter->events[counter->n_events - 1].time_ns - counter->events[0].time_ns;
	double shift_ns = MAX(MIN_LIVES * (double)counter->life_ns, MIN_SHIFT_NS);

	shift_ns = MIN(shift_ns, MAX_SHIFT * (double)all_ns);
	for (guint s = 0; s < N_SHIFTS; s++) {
		count_open(counter, (gint64)(shifts[s] * shift_ns), moved);
		for (guint32 i = 0; i < n; i++)
			squares[i] += moved[i] * moved[i];
	}
	count_open(counter, 0, overlaps->own);
	for (guint32 i = 0; i < n; i++)
		overlaps->own[i] = MAX(overlaps->own[i] - sqrt(squares[i] / N_SHIFTS), 0);
}

/* What an overlap costs, by how many calls of their own parents are open. */
static void
weigh(const WpNestProblem *problem, WpNestOverlaps *overlaps)
{
	guint32 n = overlaps->n_groups;

	for (guint32 open = OTHERS; open < n; open++)
		for (guint32 begins = OTHERS; begins < n; begins++) {
			double own = CLAMP(overlaps->own[open * n + begins], LEAST, 1);
			overlaps->nats[open * n + begins] = -wp_quick_log(&problem->quick, own);
		}
}

WpNestOverlaps *
wp_nest_overlaps_new(const WpNestProblem *problem)
{
	g_autoptr(WpNestOverlaps) overlaps = g_new0(WpNestOverlaps, 1);
	Counter counter = { .problem = problem, .overlaps = overlaps };

	if (problem->n_children == 0)
		return NULL;
	counter.first = (problem->n_children - MIN(problem->n_children, MAX_CALLS)) / 2;
	counter.end = MIN(problem->n_children, counter.first + MAX_CALLS);
	overlaps->group_of = g_new(guint8, MAX(problem->n_types, 1));
	group_types(&counter);
	list_events(&counter);
	gsize n = (gsize)overlaps->n_groups * overlaps->n_groups;
	overlaps->own = g_new0(double, n);
	overlaps->nats = g_new0(double, n);
	if (counter.life_ns > 0) {
		learn_shares(&counter);
		count_own(&counter);
		weigh(problem, overlaps);
	}
	g_array_unref(counter.list);
	return counter.life_ns > 0 ? g_steal_pointer(&overlaps) : NULL;
}

void
wp_nest_overlaps_free(WpNestOverlaps *overlaps)
{
	if (!overlaps)
		return;
	g_free(overlaps->group_of);
	g_free(overlaps->own);
	g_free(overlaps->nats);
	g_free(overlaps);
}
