/*
 * WpOrder: records in order of completion in, records in order of time out.
 *
 * A record is known when its last byte has been seen, so a long reply completes after many later
 * calls. WpOrder holds records back for a while (WP_ORDER_WINDOW_NS of packet time, at most
 * WP_ORDER_MAX_RECORDS) and passes them on by begin_ns. What comes even later is passed on at once and
 * counted (WP_COUNT_RECORDS_LATE). It also numbers the calls in that order: 1, 2, 3, ..., so that ids
 * do not depend on how packets were cut, doubled or wrapped.
 */
#ifndef WP_CAPTURE_ORDER_H
#define WP_CAPTURE_ORDER_H

#include <glib.h>

#include "capture/counters.h"
#include "capture/record.h"
#include "capture/sink.h"

#define WP_ORDER_WINDOW_NS   (2 * G_GINT64_CONSTANT(1000000000))
#define WP_ORDER_MAX_RECORDS 65536

typedef struct WpOrder WpOrder;

/* Names a call between its CALL and its RETURN. */
typedef guint32 WpCallRef;
#define WP_NO_CALL_REF G_MAXUINT32

/* (transfer full) SINK and COUNTERS are borrowed and must outlive it. */
WpOrder *wp_order_new(WpRecordSink *sink, WpCounters *counters);
void wp_order_free(WpOrder *order);

/* Takes a CALL (its id is set on the way out) and returns a reference for its RETURN. */
WpCallRef wp_order_call(WpOrder *order, const WpRecord *record, const guint32 *tokens);

/* Takes the RETURN of CALL, with its words (record.h), and releases the reference. */
void wp_order_return(WpOrder *order, WpCallRef call, const WpRecord *record, const guint32 *words);

/* CALL will have no return: releases the reference. */
void wp_order_forget(WpOrder *order, WpCallRef call);

/* Takes a one-way message; it is numbered like a call. */
void wp_order_message(WpOrder *order, const WpRecord *record, const guint32 *tokens);

/* FUNC sees each record before it is passed on, and may change it. */
typedef void (*WpOrderFunc)(WpRecord *record, gpointer data);
void wp_order_on_pass(WpOrder *order, WpOrderFunc func, gpointer data);

/*
 * Packet time has come to NOW_NS, which never goes back: passes on what is due, some packets later at most.
 * Cheap; call it for every packet.
 */
gboolean wp_order_advance(WpOrder *order, gint64 now_ns, GError **error);

/* What is due goes now: no packet comes for a while, or something else is told that has its place. */
void wp_order_pass_due(WpOrder *order);

/* Passes on all that is left. */
gboolean wp_order_flush(WpOrder *order, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpOrder, wp_order_free)

#endif
