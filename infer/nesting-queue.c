/* Requests and returns, counted, tell how many calls are wanted at any time. See the header. */
#include "infer/nesting-queue.h"

#include <stdlib.h>

#include "infer/map.h"

#define MIN_WAITED 200 /* calls of one pool */
#define MAX_OTHERS 0.1 /* as many may have waited in other pools, which counts cannot tell apart */
#define MIN_WORKS  100 /* times from one thing to the next that are seen */

typedef struct {
	gint64 time_ns;
	gint32 change; /* of what is wanted, in parts of WP_NEST_N_WORKS */
} Event;

static int
compare_times(gconstpointer a, gconstpointer b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return (x > y) - (x < y);
}

/* --- how long work takes --- */

/* FALSE: calls of too few, or of several pools have waited. */
static gboolean
has_one_line(const WpNestProblem *problem)
{
	const WpSpan *spans = wp_resolved_spans(problem->resolved)->spans;
	g_autoptr(WpMap) numbers = wp_map_new();
	g_autoptr(GArray) n_waited = g_array_new(FALSE, TRUE, sizeof(guint32));
	guint32 most = 0, all = 0;

	for (guint32 c = 0; c < problem->n_children; c++) {
		const WpNestChild *child = &problem->children[c];
		if (!child->has_waited || child->span == WP_NO_SPAN)
			continue;
		guint32 number = wp_map_number(numbers, spans[child->span].callee);
		if (number >= n_waited->len)
			g_array_set_size(n_waited, number + 1);
		guint32 n = ++g_array_index(n_waited, guint32, number);
		most = MAX(most, n);
		all++;
	}
	return most >= MIN_WAITED && all - most <= MAX_OTHERS * most;
}

/* From each thing that PARENT did to the next, where that is seen: a reply, or a call that has not waited. */
static void
add_works(const WpNestProblem *answer, const WpNestParent *parent, GArray *works)
{
	gint64 last_ns = parent->begin_ns;

	for (guint32 i = 0; i < parent->n; i++) {
		const WpNestChild *child = &answer->children[parent->children[i]];
		gint64 work_ns = MAX(child->begin_ns - last_ns, 0);
		if (!child->has_waited)
			g_array_append_val(works, work_ns);
		last_ns = MAX(last_ns, child->end_ns);
	}
	gint64 tail_ns = MAX(parent->end_ns - last_ns, 0);
	g_array_append_val(works, tail_ns);
}

gboolean
wp_nest_queue_learn(const WpNestProblem *answer, WpNestWorks *out_works)
{
	g_autoptr(GArray) works = g_array_new(FALSE, FALSE, sizeof(gint64));

	if (!has_one_line(answer))
		return FALSE;
	for (guint32 p = 0; p < answer->n_parents; p++) {
		const WpNestParent *parent = &answer->parents[p];
		if (parent->is_message || parent->waits)
			return FALSE;
		if (parent->n > 0)
			add_works(answer, parent, works);
	}
	if (works->len < MIN_WORKS)
		return FALSE;
	g_array_sort(works, compare_times);
	for (guint i = 0; i < WP_NEST_N_WORKS; i++)
		out_works->ns[i] = g_array_index(works, gint64,
						 (guint)((i + 0.5) / WP_NEST_N_WORKS * works->len));
	return TRUE;
}

/* --- when calls were wanted --- */

static int
compare_events(gconstpointer a, gconstpointer b)
{
	const Event *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->change > y->change) - (x->change < y->change);
}

static void
add_source(GArray *events, const WpNestWorks *works, gint64 time_ns)
{
	for (guint i = 0; i < WP_NEST_N_WORKS; i++) {
		Event event = { time_ns + works->ns[i], 1 };
		g_array_append_val(events, event);
	}
}

static void
add_end(GArray *events, gint64 time_ns)
{
	Event event = { time_ns, -WP_NEST_N_WORKS };
	g_array_append_val(events, event);
}

/* (transfer full) All that changes how many calls have been wanted and had to wait. */
static GArray *
list_events(const WpNestProblem *problem, const WpNestWorks *works)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(Event));

	for (guint32 p = 0; p < problem->n_parents; p++) {
		add_source(events, works, problem->parents[p].begin_ns);
		add_end(events, problem->parents[p].end_ns);
	}
	for (guint32 c = 0; c < problem->n_children; c++) {
		const WpNestChild *child = &problem->children[c];
		if (child->span == WP_NO_SPAN)
			continue;
		add_source(events, works, child->end_ns);
		if (!child->has_waited)
			add_end(events, child->begin_ns);
	}
	g_array_sort(events, compare_events);
	return events;
}

/*
 * When the first N calls that waited were wanted. By counts that go up and down by chance as many have been wanted for the
 * first time too early, and for the last time too late: in the middle.
 */
static void
find_wanted(const GArray *events, guint32 n, gint64 *out_ns)
{
	const Event *all = (const Event *)(const void *)events->data;
	const gint64 half = WP_NEST_N_WORKS / 2;
	gint64 sum = 0;
	guint32 k = 0;

	for (guint i = 0; i < events->len; i++) {
		sum += all[i].change;
		for (; k < n && sum >= (gint64)WP_NEST_N_WORKS * k + half; k++)
			out_ns[k] = all[i].time_ns;
	}
	for (; k < n; k++)
		out_ns[k] = G_MAXINT64;
	k = n;
	for (guint i = events->len; i-- > 0;) {
		sum -= all[i].change; /* before it */
		for (; k > 0 && sum < (gint64)WP_NEST_N_WORKS * (k - 1) + half; k--)
			if (out_ns[k - 1] != G_MAXINT64)
				out_ns[k - 1] += (all[i].time_ns - out_ns[k - 1]) / 2;
	}
}

/* The calls of CHILDREN that have waited, in their order. (transfer full) guint32: into children. */
static GArray *
list_waited(const WpNestProblem *problem)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (guint32 c = 0; c < problem->n_children; c++)
		if (problem->children[c].has_waited && problem->children[c].span != WP_NO_SPAN)
			g_array_append_val(list, c);
	return list;
}

/* By child: when it came to the line, or was sent. (transfer full) */
static gint64 *
find_lined(const WpNestProblem *problem, const WpNestWorks *works, guint32 turned)
{
	g_autoptr(GArray) events = list_events(problem, works), list = list_waited(problem);
	g_autofree gint64 *wanted_ns = g_new(gint64, MAX(list->len, 1));
	gint64 *lined_ns = g_new(gint64, MAX(problem->n_children, 1)), free_ns = G_MININT64;
	guint k = 0;

	find_wanted(events, list->len, wanted_ns);
	for (guint32 c = 0; c < problem->n_children; c++) {
		const WpNestChild *child = &problem->children[c];
		lined_ns[c] = child->begin_ns;
		if (child->shows_no_line)
			free_ns = child->begin_ns;
		if (k == list->len || g_array_index(list, guint32, k) != c)
			continue;
		guint of = k / turned * turned + (turned - 1 - k % turned);
		/* It cannot have come before its request did what it did last, so too late costs less than too early. */
		gint64 from_ns = MIN(wanted_ns[of < list->len ? of : k], child->begin_ns) +
				 works->ns[WP_NEST_N_WORKS / 2] / 2;
		lined_ns[c] = MIN(MAX(from_ns, free_ns), child->begin_ns - 1);
		k++;
	}
	return lined_ns;
}

/* --- in that order --- */

typedef struct {
	gint64 lined_ns;
	guint32 span;
	guint32 number;
} Place;

static int
compare_places(gconstpointer a, gconstpointer b)
{
	const Place *x = a, *y = b;
	if (x->lined_ns != y->lined_ns)
		return x->lined_ns < y->lined_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* (transfer full) PLACES get that order. */
static WpNestQueue *
queue_new(GArray *places)
{
	WpNestQueue *queue = g_new(WpNestQueue, 1);

	*queue = (WpNestQueue){ g_new(guint32, MAX(places->len, 1)),
				g_new(gint64, MAX(places->len, 1)) };
	g_array_sort(places, compare_places);
	for (guint i = 0; i < places->len; i++) {
		const Place *place = &g_array_index(places, Place, i);
		queue->outgoing[i] = place->span;
		queue->lined_ns[i] = place->lined_ns;
	}
	return queue;
}

void
wp_nest_queue_free(WpNestQueue *queue)
{
	if (!queue)
		return;
	g_free(queue->outgoing);
	g_free(queue->lined_ns);
	g_free(queue);
}

WpNestQueue *
wp_nest_queue_find(const WpNestProblem *problem, const WpNestWorks *works, guint32 turned)
{
	g_autofree gint64 *lined_ns = find_lined(problem, works, turned);
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(Place));

	for (guint32 c = 0; c < problem->n_children; c++) {
		Place place = { lined_ns[c], problem->children[c].span, c };
		if (place.span != WP_NO_SPAN)
			g_array_append_val(places, place);
	}
	return queue_new(places);
}

WpNestQueue *
wp_nest_queue_known(const WpResolved *resolved, const WpNestHost *host, const gint64 *waited_ns)
{
	const WpSpan *spans = wp_resolved_spans(resolved)->spans;
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(Place));
	gboolean any = FALSE;

	for (guint32 i = 0; i < host->n_outgoing; i++) {
		guint32 span = host->outgoing[i];
		Place place = { spans[span].call_ns - waited_ns[span], span, i };
		any |= waited_ns[span] > 0;
		g_array_append_val(places, place);
	}
	return any ? queue_new(places) : NULL;
}
