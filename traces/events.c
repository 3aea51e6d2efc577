/* The heap of events. */
#include "traces/events.h"

#define FIRST_EVENTS 1024
#define CHILDREN     4

void
wp_events_clear(WpEvents *events)
{
	g_free(events->events);
	*events = (WpEvents){ 0 };
}

static inline gboolean
is_before(const WpEvent *a, const WpEvent *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->order < b->order);
}

void
wp_events_push(WpEvents *events, WpEvent event)
{
	if (events->n == events->n_allocated) {
		events->n_allocated = MAX(FIRST_EVENTS, events->n_allocated * 2);
		events->events = g_renew(WpEvent, events->events, events->n_allocated);
	}
	event.order = events->n_planned++;
	gsize i = events->n++;
	while (i > 0) {
		gsize parent = (i - 1) / CHILDREN;
		if (!is_before(&event, &events->events[parent]))
			break;
		events->events[i] = events->events[parent];
		i = parent;
	}
	events->events[i] = event;
}

/* The earliest child of I, or 0 where it has none. */
static inline gsize
first_child(const WpEvents *events, gsize i)
{
	gsize child = i * CHILDREN + 1, best = child, end = MIN(child + CHILDREN, events->n);

	if (child >= events->n)
		return 0;
	while (++child < end)
		if (is_before(&events->events[child], &events->events[best]))
			best = child;
	return best;
}

gboolean
wp_events_pop(WpEvents *events, WpEvent *out_event)
{
	if (events->n == 0)
		return FALSE;
	*out_event = events->events[0];
	WpEvent last = events->events[--events->n];
	gsize i = 0, child;
	while ((child = first_child(events, i)) && is_before(&events->events[child], &last)) {
		events->events[i] = events->events[child];
		i = child;
	}
	events->events[i] = last;
	return TRUE;
}
