/*
 * The spans of files, whatever their form, as one array: what is needed of each, and no more. Text is in the
 * strings of the nodes.
 */
#ifndef WP_CAPTURE_SPAN_READ_H
#define WP_CAPTURE_SPAN_READ_H

#include <glib.h>

#include "capture/counters.h"
#include "capture/input.h"
#include "capture/nodes.h"
#include "capture/record.h"

typedef enum {
	WP_SPAN_UNTOLD, /* the file does not say */
	WP_SPAN_INTERNAL,
	WP_SPAN_SERVER,
	WP_SPAN_CLIENT,
	WP_SPAN_PRODUCER,
	WP_SPAN_CONSUMER
} WpSpanKind;

/* What few spans have. */
typedef struct {
	WpEndpoint client;
	WpEndpoint server;
	guint64 bytes[2];
	guint64 packets[2];
	gint64 request_ns;
	gint64 reply_ns;
	guint8 tap;
} WpReadSpanMore;

typedef struct {
	guint64 key;    /* of trace and id; never 0 */
	guint64 parent; /* likewise; 0 = none */
	gint64 begin_ns;
	gint64 end_ns;
	guint32 id;      /* strings; 0 = none */
	guint32 service; /* where it ran */
	guint32 peer;    /* the other end, as it names it */
	guint32 label;
	guint32 protocol;
	guint32 more;     /* in WpReadSpans.more, from 1; 0 = none */
	guint8 kind;      /* WpSpanKind */
	guint8 status;    /* WpStatus */
	guint8 is_shared; /* Zipkin: its client has the same id */
	guint8 waits;
	guint8 no_return; /* wirepath says that none was seen */
} WpReadSpan;

typedef struct {
	WpNodes *nodes; /* borrowed */
	WpCounters *counters;
	GArray *spans; /* WpReadSpan */
	GArray *more;  /* WpReadSpanMore */
} WpReadSpans;

/* SPANS is embedded; NODES and COUNTERS are borrowed. */
void wp_read_spans_init(WpReadSpans *spans, WpNodes *nodes, WpCounters *counters);
void wp_read_spans_clear(WpReadSpans *spans);

/*
 * Adds the spans of INPUT, called PATH in messages. PROGRESS, which may be NULL, is asked now and then; FALSE stops, which is
 * no error. A file cut short gives what was whole. FALSE with WP_CAPTURE_ERROR_FORMAT or that of reading, after adding
 * what came before.
 */
gboolean wp_read_spans_add(WpReadSpans *spans, WpInput *input, const char *path,
			   gboolean (*progress)(gpointer data), gpointer data, GError **error);

/* The key of a span: leading zeros, which some writers leave out, and upper case make no difference. */
guint64 wp_read_span_key(const char *trace, const char *id);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WpReadSpans, wp_read_spans_clear)

#endif
