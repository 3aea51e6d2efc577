/*
 * WpSpan: one call with its return, from the first byte of the call to the last byte of the return; or
 * a call without a return, or a one-way message.
 */
#ifndef WP_INFER_SPAN_H
#define WP_INFER_SPAN_H

#include <glib.h>

#include "capture/record.h"
#include "capture/trace.h"

#define WP_NO_SPAN G_MAXUINT32

typedef struct {
	gint64 call_ns;         /* first byte of the call */
	gint64 call_end_ns;     /* last byte of the call */
	gint64 return_begin_ns; /* first byte of the return, or WP_NO_TIME */
	gint64 return_ns;       /* last byte of the return, or WP_NO_TIME (not seen); >= call_ns */
	guint64 id;             /* of the record */
	guint32 caller;         /* node of WpResolved */
	guint32 callee;
	/* Of addresses: nodes split from one have the same, as what it sends may be any one's. */
	guint32 caller_host;
	guint32 callee_host;
	guint32 label;         /* string, 0 = none (or not by label) */
	guint32 protocol;      /* string */
	guint32 call_record;   /* index into the trace's records */
	guint32 return_record; /* G_MAXUINT32 = none */
	guint8 kind;           /* WP_KIND_CALL or WP_KIND_MESSAGE */
	guint8 status;         /* WpStatus */
	guint8 marks;          /* WP_MARK_... of the call or the return */
} WpSpan;

typedef struct {
	WpSpan *spans; /* by call_ns, then order of records */
	guint32 n;
	guint64 n_unpaired_returns; /* returns without a call, left out */
} WpSpans;

/*
 * (transfer full) The spans of a trace; caller and callee are nodes of the trace, the hosts the same.
 * A return belongs to the open call with its id from its receiver to its sender; where several are
 * open (ids that are not unique, or none), to the earliest.
 */
WpSpans *wp_spans_new(const WpTrace *trace);
void wp_spans_free(WpSpans *spans);

/* TRUE where both ends were seen: what an engine for calls and returns can nest. */
static inline gboolean
wp_span_is_paired(const WpSpan *span)
{
	return span->kind == WP_KIND_CALL && span->return_ns != WP_NO_TIME;
}

static inline gboolean
wp_span_is_error(const WpSpan *span)
{
	return span->status == WP_STATUS_ERROR || span->status == WP_STATUS_RESET ||
	       span->status == WP_STATUS_TIMEOUT;
}

/* The end of the span, or its call where it has no return. */
static inline gint64
wp_span_end_ns(const WpSpan *span)
{
	return span->return_ns != WP_NO_TIME ? span->return_ns : span->call_ns;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSpans, wp_spans_free)

#endif
