/*
 * WpTrace: all records of one or more captures, in time order, with nodes, counters and settings.
 * What needs the whole capture (resolve, engines) reads it; it is const once frozen.
 */
#ifndef WP_CAPTURE_TRACE_H
#define WP_CAPTURE_TRACE_H

#include <glib.h>

#include "capture/counters.h"
#include "capture/nodes.h"
#include "capture/record.h"
#include "capture/sink.h"
#include "capture/trace-context.h"
#include "capture/transport.h"

/* Errors of this folder. */
#define WP_CAPTURE_ERROR wp_capture_error_quark()
GQuark wp_capture_error_quark(void);

typedef enum {
	WP_CAPTURE_ERROR_OPEN,       /* cannot be opened: exit 66 */
	WP_CAPTURE_ERROR_PERMISSION, /* no permission: exit 77 */
	WP_CAPTURE_ERROR_FORMAT,     /* not what it should be: exit 65 */
	WP_CAPTURE_ERROR_READ,       /* reading failed half-way: exit 66 */
	WP_CAPTURE_ERROR_WRITE,      /* writing failed: exit 74 */
	WP_CAPTURE_ERROR_OPTION,     /* a filter, key or pattern that makes no sense: exit 2 */
	WP_CAPTURE_ERROR_LIMIT       /* over a limit that protects memory: exit 65 */
} WpCaptureError;

typedef struct WpTrace WpTrace;

/* (transfer full) Takes a reference to NODES. */
WpTrace *wp_trace_new(WpNodes *nodes);
void wp_trace_free(WpTrace *trace);

/*
 * (transfer none) The sink that fills TRACE. Its end() freezes it; another begin() opens it again, so
 * that several inputs can be read into one trace.
 */
WpRecordSink *wp_trace_sink(WpTrace *trace);

/*
 * Sorts by begin_ns; records of equal time keep the order in which they came. No record may be added
 * afterwards. Safe to call again.
 */
void wp_trace_freeze(WpTrace *trace);

/* Says that records came before: the first call of TRACE is not the first of the capture. */
/*
 * What was lost while its records were made (returns-orphan): a copy of COUNTED, or all its counters where
 * that was never set.
 */
void wp_trace_set_counted(WpTrace *trace, const WpCounters *counted);
const WpCounters *wp_trace_counted(const WpTrace *trace);

void wp_trace_set_continued(WpTrace *trace);
gboolean wp_trace_is_continued(const WpTrace *trace);

/* (transfer none) All valid as long as TRACE. */
gsize wp_trace_n_records(const WpTrace *trace);

/* What records may tell beside who sent what, to whom, and when. */
typedef enum {
	WP_TRACE_TOKENS = 1 << 0,
	WP_TRACE_FLOWS = 1 << 1,
	WP_TRACE_SIZES = 1 << 2,
	WP_TRACE_LABELS = 1 << 3,
	WP_TRACE_CAUSES = 1 << 4,
} WpTraceWhat;

/* FALSE: no record of TRACE tells any of WHAT. To look for that costs a look at all of them. */
gboolean wp_trace_has(const WpTrace *trace, WpTraceWhat what);

const WpRecord *wp_trace_records(const WpTrace *trace);
const guint32 *wp_trace_tokens(const WpTrace *trace, const WpRecord *record);

/* FALSE where RECORD has not so many transports, or this one makes no sense. */
gboolean wp_trace_transport(const WpTrace *trace, const WpRecord *record, guint i,
			    WpTransport *out_transport);

/* FALSE where RECORD names no trace. */
gboolean wp_trace_context(const WpTrace *trace, const WpRecord *record,
			  WpTraceContext *out_context);

/* The id of the call that caused RECORD, where spans have told (span-join.h); else FALSE. */
gboolean wp_trace_cause(const WpTrace *trace, const WpRecord *record, guint64 *out_id);

/* Sets it, of record NUMBER. The trace is frozen. FALSE where there is no room left. */
gboolean wp_trace_set_cause(WpTrace *trace, gsize number, guint64 id);
WpNodes *wp_trace_nodes(const WpTrace *trace);
const WpCounters *wp_trace_counters(const WpTrace *trace);

/* Settings in the order they came. */
gsize wp_trace_n_settings(const WpTrace *trace);
const char *wp_trace_setting_key(const WpTrace *trace, gsize i);
const char *wp_trace_setting_value(const WpTrace *trace, gsize i);

/* The id of a message that has none: the empty text. */
#define WP_NO_ID WP_ID_TEXT

/* The id of RECORD as text; BUFFER (24 bytes) is used for numbers. */
#define WP_ID_TEXT_MAX 24
const char *wp_record_id_text(const WpNodes *nodes, guint64 id, char *buffer);

/* The id that TEXT means; the inverse of the above. */
guint64 wp_record_id_from_text(WpNodes *nodes, const char *text, gsize length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTrace, wp_trace_free)

#endif
