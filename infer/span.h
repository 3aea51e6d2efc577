/*
 * WpSpan: one call with its return, from the first byte of the call to the last byte of the return; or
 * a call without a return, or a one-way message.
 *
 * Where both ends were captured the times of a span are those at its caller, and how much later the call came to
 * the callee, and how much earlier the return left it, is known too: at each node its own tap decides.
 *
 *   caller   |call -------------------------------------- return|      call_ns .. return_ns
 *   callee        |served -------------------- replied|                less the two ways
 */
#ifndef WP_INFER_SPAN_H
#define WP_INFER_SPAN_H

#include <glib.h>

#include "capture/record.h"
#include "capture/trace.h"

#define WP_NO_SPAN G_MAXUINT32

typedef struct {
	gint64 call_ns;         /* first byte of the call */
	gint64 call_end_ns;     /* last byte of the call, at the callee */
	gint64 return_begin_ns; /* first byte of the return, at the callee, or WP_NO_TIME */
	gint64 return_ns;       /* last byte of the return, or WP_NO_TIME (not seen); >= call_ns */
	gint64 way_in_ns;       /* so much later the callee had the first byte; 0 where not known */
	gint64 way_out_ns;      /* so much earlier the last byte left it; 0 where not known */
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
	float owner_doubt; /* on a shared address: how likely its caller is another one; else 0 */
	guint8 kind;       /* WP_KIND_CALL or WP_KIND_MESSAGE */
	guint8 status;     /* WpStatus */
	guint8 marks;      /* WP_MARK_... of the call or the return */
} WpSpan;

/* On an address of several services, where engines have to tell whose a call is (owner-open.h). */
typedef struct {
	guint64 services; /* a bit for each service whose calls may have caused this one */
	guint64 service;  /* the bit of what it calls */
} WpSpanOwner;

/* All bits: hosts tell it. */
#define WP_SPAN_ANY G_MAXUINT64

typedef struct {
	WpSpan *spans; /* by call_ns, then order of records */
	guint32 n;
	guint64 n_unpaired_returns; /* returns without a call, left out */
	WpSpanOwner *owners;        /* by span; NULL: hosts tell who may have caused what */
} WpSpans;

/*
 * (transfer full) The spans of a trace; caller and callee are nodes of the trace, the hosts the same.
 * A return belongs to the open call with its id from its receiver to its sender; where several are
 * open (ids that are not unique, or none), to the earliest.
 */
WpSpans *wp_spans_new(const WpTrace *trace);
void wp_spans_free(WpSpans *spans);

/* TRUE where every span has an id of its own. */
gboolean wp_spans_have_unique_ids(const WpSpans *spans);

/* FALSE where what calls CHILD is known not to be what PARENT calls. */
static inline gboolean
wp_spans_may_cause(const WpSpans *spans, guint32 parent, guint32 child)
{
	return !spans->owners || (spans->owners[child].services & spans->owners[parent].service);
}

/* Calls into a host that are of one kind have it in common: who made them; where that is not known, into what. */
static inline guint32
wp_spans_class_node(const WpSpans *spans, guint32 span)
{
	gboolean is_open = spans->owners && spans->owners[span].service != WP_SPAN_ANY;
	return is_open ? spans->spans[span].callee : spans->spans[span].caller;
}

/* TRUE where both ends were seen: what an engine for calls and returns can nest. */
static inline gboolean
wp_span_is_paired(const WpSpan *span)
{
	return span->kind == WP_KIND_CALL && span->return_ns != WP_NO_TIME;
}

/* When the span began and, where it is paired, ended at its callee. */
static inline gint64
wp_span_served_ns(const WpSpan *span)
{
	return span->call_ns + span->way_in_ns;
}

static inline gint64
wp_span_replied_ns(const WpSpan *span)
{
	return span->return_ns - span->way_out_ns;
}

static inline gboolean
wp_span_is_error(const WpSpan *span)
{
	return span->status == WP_STATUS_ERROR || span->status == WP_STATUS_RESET ||
	       span->status == WP_STATUS_TIMEOUT;
}

/*
 * The parts of the latency of a paired span, in ns, which add up to it: the request's transfer (first to last byte), the
 * server (to the first byte of the reply), the reply's transfer. A reply that begins before the request has
 * ended leaves nothing for the server. As the tap sees them: the way behind it is the server's part.
 */
typedef struct {
	gint64 request_ns;
	gint64 server_ns;
	gint64 reply_ns;
} WpSpanParts;

static inline WpSpanParts
wp_span_parts(const WpSpan *span)
{
	gint64 asked_ns = CLAMP(span->call_end_ns, span->call_ns, span->return_ns);
	gint64 answered_ns = CLAMP(span->return_begin_ns, asked_ns, span->return_ns);
	return (WpSpanParts){ asked_ns - span->call_ns, answered_ns - asked_ns,
			      span->return_ns - answered_ns };
}

/* The end of the span, or its call where it has no return. */
static inline gint64
wp_span_end_ns(const WpSpan *span)
{
	return span->return_ns != WP_NO_TIME ? span->return_ns : span->call_ns;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSpans, wp_spans_free)

#endif
