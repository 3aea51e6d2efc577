/*
 * What is known of a call beside its name and times, as keys with values: attributes, tags, arguments. One list
 * for all forms, so that they cannot differ. Keys are the semantic conventions of OpenTelemetry where these
 * have one, else "wirepath.".
 */
#ifndef WP_REPORT_EXPORT_TAGS_H
#define WP_REPORT_EXPORT_TAGS_H

#include "report/export.h"

typedef enum {
	WP_TAG_TEXT,
	WP_TAG_INT,
	WP_TAG_NUMBER,
	WP_TAG_BOOL
} WpTagKind;

typedef struct {
	const char *key;
	WpTagKind kind;
	const char *text;
	gint64 number; /* of INT and BOOL */
	double real;
} WpTag;

typedef void (*WpTagFunc)(const WpTag *tag, gpointer data);

/*
 * Calls FUNC for each, always in the same order; no key twice. ROUNDS: the form has no room for nanoseconds, so
 * they are told as tags.
 */
void wp_export_tags(const WpExportCall *call, gboolean rounds, WpTagFunc func, gpointer data);

/* Below this an inferred parent is called doubtful. */
#define WP_EXPORT_DOUBTFUL 0.9

/* 16 and 32 hexadecimal digits. */
#define WP_EXPORT_ID_MAX 33
const char *wp_export_span_id(guint64 id, char buffer[WP_EXPORT_ID_MAX]);
const char *wp_export_trace_id(WpExportTraceId id, char buffer[WP_EXPORT_ID_MAX]);

#endif
