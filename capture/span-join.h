/*
 * Spans of tracing systems beside packets. The calls are those that the packets show; spans tell which of them caused
 * which, where they saw them:
 *
 *   packets    edge -> web            web -> app: names trace T, parent W            app -> db: names T, parent A
 *   spans      server span of web     client span W of web, above it that server     client span A of app, ...
 *
 * A call is the one that a span saw where its request names the span of its caller (trace-context.h), or where its
 * server's span tells address and port of the client, and tells of as many calls on that connection as the packets show.
 * What caused it is the call that the nearest span of a server above it saw.
 */
#ifndef WP_CAPTURE_SPAN_JOIN_H
#define WP_CAPTURE_SPAN_JOIN_H

#include "capture/span-calls.h"
#include "capture/trace.h"

/*
 * Sets the causes of the calls of TRACE, which is frozen, as far as SPANS tell; CALLS and PARTS are those of
 * wp_span_calls_new(). Counts to the counters of SPANS.
 */
void wp_span_join(const WpReadSpans *spans, const GArray *calls, const guint32 *parts,
		  WpTrace *trace);

#endif
