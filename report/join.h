/*
 * WpJoin: several inputs into one sink, as if they were one. Ids, flows and taps of later inputs are
 * moved out of the way of earlier ones, so that "call 1" of two traces are two calls.
 */
#ifndef WP_REPORT_JOIN_H
#define WP_REPORT_JOIN_H

#include <glib.h>

#include "capture/sink.h"
#include "capture/trace.h"

typedef struct WpJoin WpJoin;

/* (transfer full) SINK is borrowed. The join passes on a begin() ... end() for each input. */
WpJoin *wp_join_new(WpRecordSink *sink);
void wp_join_free(WpJoin *join);

/* (transfer none) */
WpRecordSink *wp_join_sink(WpJoin *join);

/*
 * The next input is called NAME (borrowed until the next call), unless it carries a setting "input"
 * itself.
 */
void wp_join_set_name(WpJoin *join, const char *name);

/* TRUE where at least one input came with its counters, complete or not: there is something to show. */
gboolean wp_join_is_usable(const WpJoin *join);

/* Pushes all of TRACE into SINK, begin() to end(). */
gboolean wp_trace_push(const WpTrace *trace, WpRecordSink *sink, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpJoin, wp_join_free)

#endif
