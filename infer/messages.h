/*
 * WpMessages: who sent when to whom, all that cross-correlation asks for: eight bytes a message. Calls,
 * returns and one-way messages are all plain messages here; a call stands at its first byte, a return
 * at its last.
 *
 * Messages may come in parts of a trace, in any order: what is made of them depends on the messages alone.
 */
#ifndef WP_INFER_MESSAGES_H
#define WP_INFER_MESSAGES_H

#include <glib.h>

#include "infer/resolve.h"

/* An edge: all messages from one node to another. */
typedef struct {
	guint32 sender; /* node of WpResolved */
	guint32 receiver;
	guint32 sender_host; /* where messages that caused these arrived: as of spans */
	guint32 receiver_host;
	gboolean is_return; /* they answer the opposite edge's */
	gint64 *times_ns;   /* ascending, once frozen */
	gsize n;
	gsize room;
} WpEdge;

typedef struct {
	WpEdge *edges; /* by sender, receiver, is_return, once frozen */
	guint32 n;
	guint32 room;
	guint64 n_messages;
	gint64 begin_ns; /* first and last message; valid where n_messages */
	gint64 end_ns;
	guint32 n_outside; /* hosts that nobody calls; once frozen one host, OUTSIDE */
	guint32 n_sources; /* nodes that these are */
	guint32 outside;   /* the least of them */
	gpointer index;    /* private */
} WpMessages;

/* (transfer full) */
WpMessages *wp_messages_new(void);
void wp_messages_free(WpMessages *messages);

/* A message, of an edge of which all but times and n is set. */
void wp_messages_add(WpMessages *messages, const WpEdge *edge, gint64 time_ns);

/* The one or two messages of a span. */
void wp_messages_add_span(WpMessages *messages, const WpSpan *span);

/* After wp_resolved_next() returned TRUE: edges follow the nodes that have become others. */
void wp_messages_move(WpMessages *messages, const WpResolved *resolved);

/*
 * Sorts everything. Hosts that nobody calls, or sends a one-way message to, become one: what they send has no cause here,
 * so nothing is lost by it, and what all clients of a node do together is seen where each does little. Edges between
 * the same nodes and hosts become one; whether they answer is that of the most.
 */
void wp_messages_freeze(WpMessages *messages);

/* The clock's tick: all times are multiples of it apart from the first. 0 where all are the same. */
gint64 wp_messages_tick(const WpMessages *messages);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpMessages, wp_messages_free)

#endif
