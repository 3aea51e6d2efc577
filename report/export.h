/*
 * WpExport: requests in forms that other tools open. One walk over the calls of an analysis hands out whole
 * requests, one after the other, in order of their first call; a form writes them as they come:
 *
 *   analysis, part by part  ->  WpExportTrace ...  ->  WpExportForm  ->  out
 *
 * One file (export-<family>.c) and a const WpExportForm each, one line in wp_export_forms[].
 *
 * Ids. A call's id is drawn from what was seen of it (times, ends, packet, the trace's own id), not from what was
 * inferred: the same input gives the same ids, whatever the engine, and two exports of one capture can be
 * laid over each other. A trace has the id that its first call gives, or that programs sent: see export-traces.h.
 */
#ifndef WP_REPORT_EXPORT_H
#define WP_REPORT_EXPORT_H

#include <glib.h>

#include "capture/counters.h"
#include "report/analysis.h"
#include "report/export-traces.h"
#include "report/form.h"
#include "report/out.h"

#define WP_EXPORT_NONE G_MAXUINT32

/* One call. Text is borrowed for the time of the callback, and as it came from packets. */
typedef struct {
	guint32 parent; /* call of the trace, always before this one; WP_EXPORT_NONE for the first */
	guint32 depth;
	guint64 id; /* never 0 */
	guint64 sent_parent; /* span that its program named as its parent, in place of the call's own; 0 = none */
	guint64 inferred; /* then the call that caused it; 0 = none */
	WpExportTraceId inferred_trace;
	guint64 runner; /* of the next best parent; 0 = none */
	WpExportTraceId runner_trace;
	gint64 begin_ns;
	gint64 end_ns; /* begin_ns where no end was seen */
	gint64 self_ns;
	gint64 request_ns; /* transfer of the request, and of the reply; 0 where not known */
	gint64 reply_ns;
	gboolean has_end;
	gboolean is_one_way;
	gboolean is_error;
	gboolean waits;
	guint32 callee_number; /* node of WpResolved */
	const char *caller;
	const char *callee;
	const char *label; /* "" = none */
	const char *protocol;
	const char *status;
	const char *client; /* address of the sender; "" = not known */
	const char *server; /* ... of the receiver */
	guint16 client_port;
	guint16 server_port;
	guint64 bytes[2];   /* of call and return; WP_NO_SIZE */
	guint64 packets[2]; /* 0 = not known */
	guint8 tap;
	float probability; /* of the link to its parent, or of being a root; negative = none */
	guint32 n_candidates;
	gboolean is_measured; /* the link is told by spans, not inferred */
	const char *evidence;
} WpExportCall;

typedef struct {
	WpExportTraceId id;
	guint32 n_calls;
	const WpExportCall *calls; /* in pre-order, children by time */
} WpExportTrace;

/* At the end of all. */
typedef struct {
	const WpCounters *counters;
} WpExportEnd;

/* STATE is STATE_SIZE bytes, zeroed. Callbacks may be NULL. */
typedef struct {
	const char *name;
	const char *summary;
	const char *const *suffixes; /* NULL-ended */
	gsize state_size;
	gboolean has_ids; /* of spans and traces, so that those that programs sent are of use */
	void (*begin)(gpointer state, WpOut *out); /* also where nothing follows */
	void (*trace)(gpointer state, const WpExportTrace *trace, WpOut *out);
	void (*end)(gpointer state, const WpExportEnd *end, WpOut *out);
	void (*clear)(gpointer state);
} WpExportForm;

/* NULL-ended. */
extern const WpExportForm *const wp_export_forms[];

typedef struct WpExport WpExport;

/* (transfer full) Writes to OUT, which is borrowed. USES_SENT: the ids that programs sent, where the form has ids. */
WpExport *wp_export_new(const WpExportForm *form, gboolean uses_sent, WpOut *out);
void wp_export_free(WpExport *export);

/* The requests of PART, one after the other. */
void wp_export_add(WpExport *export, const WpAnalysis *part);
void wp_export_finish(WpExport *export, const WpExportEnd *end);

/* Of all so far; (transfer none). */
const WpExportTraced *wp_export_traced(const WpExport *export);

/* "GET /x" or, of a call without operation, its protocol. */
const char *wp_export_operation(const WpExportCall *call);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpExport, wp_export_free)

#endif
