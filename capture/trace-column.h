/*
 * Columns of the text trace: what a field of each means. A field is a piece of a line, not
 * NUL-terminated; escapes are already gone.
 */
#ifndef WP_CAPTURE_TRACE_COLUMN_H
#define WP_CAPTURE_TRACE_COLUMN_H

#include <glib.h>
#include <string.h>

#include "capture/nodes.h"
#include "capture/record.h"
#include "capture/trace-context.h"

typedef struct {
	const char *text;
	gsize length;
} WpField;

/* What reading fields needs besides the record. */
typedef struct {
	WpNodes *nodes;                      /* borrowed */
	WpStrings *keys;                     /* node keys as written; number -> key_nodes */
	GArray *key_nodes;                   /* guint32 */
	guint32 tokens[WP_RECORD_MAX_WORDS]; /* of the record read last */
	guint32 transports[WP_RECORD_MAX_TRANSPORTS][WP_TRANSPORT_WORDS]; /* of it */
	WpTraceContext context;                                           /* of it */
	guint64 cause;                                                    /* of it */
} WpFieldReader;

void wp_field_reader_init(WpFieldReader *reader, WpNodes *nodes);
void wp_field_reader_clear(WpFieldReader *reader);

/* Puts FIELD into RECORD; returns NULL, or why that cannot be. */
typedef const char *(*WpColumnFunc)(WpFieldReader *reader, WpRecord *record, WpField field);

/* When a line has been read: its times at the receiver's tap become ways (see record.h). */
void wp_field_set_ways(WpRecord *record);

/* The first of these are required, in this order where a trace has no header. */
#define WP_COLUMNS_REQUIRED 5
typedef struct {
	const char *name;
	WpColumnFunc read;
} WpColumn;

extern const WpColumn wp_columns_known[]; /* ends with a NULL name */

/* NULL where there is no column of that name. */
WpColumnFunc wp_column_find(WpField name);

/* Two readers that header lines need too. */
gboolean wp_field_number(WpField field, guint64 max, guint64 *out_value);
const char *wp_field_node(WpFieldReader *reader, WpField field, guint32 *out_node);

/* A NUL-terminated copy; FALSE where FIELD is too long for it or holds a NUL. */
gboolean wp_field_copy(WpField field, char *out, gsize size);

static inline gboolean
wp_field_is(WpField field, const char *text)
{
	return field.length == strlen(text) && memcmp(field.text, text, field.length) == 0;
}

#endif
