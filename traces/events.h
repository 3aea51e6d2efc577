/*
 * WpEvents: what will happen, in order of time; at the same time, in order of being planned, so that a
 * simulation runs in one way only. A heap of four children a node: fewer cache misses than with two.
 */
#ifndef WP_TRACES_EVENTS_H
#define WP_TRACES_EVENTS_H

#include <glib.h>

typedef struct {
	gint64 time_ns;
	guint64 order;
	gpointer target;
	guint64 serial;
	guint8 kind;
	guint8 status;
} WpEvent;

typedef struct {
	WpEvent *events;
	gsize n;
	gsize n_allocated;
	guint64 n_planned;
} WpEvents;

void wp_events_clear(WpEvents *events);

/* Sets event.order. */
void wp_events_push(WpEvents *events, WpEvent event);

/* FALSE where there is none. */
gboolean wp_events_pop(WpEvents *events, WpEvent *out_event);

#endif
