/*
 * WpInspector: a sink that gathers a WpInspection while records stream by. See inspection.h for what
 * bounds its memory.
 */
#ifndef WP_REPORT_INSPECT_H
#define WP_REPORT_INSPECT_H

#include <glib.h>

#include "capture/sink.h"
#include "infer/names.h"
#include "report/inspection.h"

typedef struct WpInspector WpInspector;

/* (transfer full) Takes a reference to NODES. NAMES (NULL = none) is borrowed. */
WpInspector *wp_inspector_new(WpNodes *nodes, const WpNames *names);
void wp_inspector_free(WpInspector *inspector);

/* (transfer none) */
WpRecordSink *wp_inspector_sink(WpInspector *inspector);

/*
 * (transfer none) What has been gathered; valid as long as the inspector. Once, after the last end(). FILE and
 * PARTIAL may be NULL, and are borrowed.
 */
const WpInspection *wp_inspector_finish(WpInspector *inspector, const char *file,
					const char *partial, gboolean is_selective);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpInspector, wp_inspector_free)

#endif
