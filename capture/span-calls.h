/*
 * Spans to calls between services: which spans are calls, which two are the ends of one, who called, and which call
 * caused which. Linear but for sorting.
 */
#ifndef WP_CAPTURE_SPAN_CALLS_H
#define WP_CAPTURE_SPAN_CALLS_H

#include <glib.h>

#include "capture/span-read.h"

#define WP_SPAN_NONE G_MAXUINT32

typedef struct {
	guint32 span;   /* at the called end, or the only one */
	guint32 client; /* span at the calling end, or WP_SPAN_NONE */
	guint32 parent; /* call, or WP_SPAN_NONE */
	guint32 caller; /* string: name of the service */
	guint32 callee;
	guint32 id; /* string: that of the span, unique */
	gboolean is_message;
} WpSpanCall;

/*
 * (transfer full) Of WpSpanCall, in the order of their spans. Counts what is no call. OUT_PARTS, which may be NULL, gets
 * (transfer full), by span, the call into a service that it is part of, or WP_SPAN_NONE.
 */
GArray *wp_span_calls_new(WpReadSpans *spans, guint32 **out_parts);

#endif
