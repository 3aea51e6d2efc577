/*
 * WpTraceContext: the trace and the span that a program names in its request, for a tracing system that it reports
 * to (W3C Trace Context, section 3.2: the field traceparent; sqlcommenter sends the same in a comment of SQL).
 * Such identifiers are drawn at random and tell nothing by themselves.
 */
#ifndef WP_CAPTURE_TRACE_CONTEXT_H
#define WP_CAPTURE_TRACE_CONTEXT_H

#include <glib.h>

/* parent is 0 where there is none, and only there. */
typedef struct {
	guint64 high; /* of the trace, 128 bits in all */
	guint64 low;
	guint64 parent; /* span that the request comes from */
} WpTraceContext;

/* "00-TRACE-PARENT-FLAGS", 32, 16 and 2 hexadecimal digits; FALSE where TEXT is not such a one. */
gboolean wp_trace_context_parse(const char *text, gsize length, WpTraceContext *out_context);

/* "TRACE-PARENT" as in trace files, needs WP_TRACE_CONTEXT_TEXT_MAX bytes; and back. */
#define WP_TRACE_CONTEXT_TEXT_MAX 50
const char *wp_trace_context_text(const WpTraceContext *context, char *buffer, gsize size);
gboolean wp_trace_context_from_text(const char *text, gsize length, WpTraceContext *out_context);

/* To WP_TRACE_CONTEXT_WORDS words (record.h), and back. */
void wp_trace_context_pack(const WpTraceContext *context, guint32 *words);
void wp_trace_context_unpack(const guint32 *words, WpTraceContext *out_context);

#endif
