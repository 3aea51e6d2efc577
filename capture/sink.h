/*
 * WpRecordSink: where records go. Capture, the trace reader and the simulator push; the trace
 * writer, WpTrace and (later) live windows take.
 *
 * Order of calls:  begin  (setting | record | counted)*  counters  end
 *
 * To write one: embed WpRecordSink as the first member, set ops. Any callback may be NULL ("not
 * interested"). A sink that fails sets the error and returns FALSE; the source then stops and passes
 * the error on.
 */
#ifndef WP_CAPTURE_SINK_H
#define WP_CAPTURE_SINK_H

#include <glib.h>

#include "capture/counters.h"
#include "capture/nodes.h"
#include "capture/record.h"

typedef struct WpRecordSink WpRecordSink;

typedef struct {
	/* Once, first. NODES grows while records come; take a reference to keep it. */
	gboolean (*begin)(WpRecordSink *sink, WpNodes *nodes, GError **error);

	/* A fact about the capture that reports repeat ("input", "x.pcap"). May come at any time. */
	gboolean (*setting)(WpRecordSink *sink, const char *key, const char *value, GError **error);

	/*
	 * One record; TOKENS has wp_record_words(record) entries, the tokens first. Both are the caller's and only valid during
	 * the call. Records come in order of begin_ns but for a few late ones (WP_COUNT_RECORDS_LATE).
	 * A CALL comes before its RETURN.
	 */
	gboolean (*record)(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens,
			   GError **error);

	/* Once, after the last record. */
	gboolean (*counters)(WpRecordSink *sink, const WpCounters *counters, GError **error);

	/* Once, last; not called after an error. */
	gboolean (*end)(WpRecordSink *sink, GError **error);

	/*
	 * Between records: what was lost since the last of these came (returns-orphan). All of it is
	 * in COUNTERS again; it tells when.
	 */
	gboolean (*counted)(WpRecordSink *sink, const WpCounters *counters, GError **error);
} WpRecordSinkOps;

struct WpRecordSink {
	const WpRecordSinkOps *ops;
};

/* Each calls the callback of the same name where there is one, else returns TRUE. */
gboolean wp_sink_begin(WpRecordSink *sink, WpNodes *nodes, GError **error);
gboolean wp_sink_setting(WpRecordSink *sink, const char *key, const char *value, GError **error);
gboolean wp_sink_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens,
			GError **error);
gboolean wp_sink_counters(WpRecordSink *sink, const WpCounters *counters, GError **error);
gboolean wp_sink_counted(WpRecordSink *sink, const WpCounters *counters, GError **error);
gboolean wp_sink_end(WpRecordSink *sink, GError **error);

#endif
