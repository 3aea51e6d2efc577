/*
 * The two halves of the text form: trace-read.c and trace-write.c, where wp_trace_format_text is.
 */
#ifndef WP_CAPTURE_TRACE_TEXT_H
#define WP_CAPTURE_TRACE_TEXT_H

#include <glib.h>

#include "capture/trace-format.h"

/* See WpTraceFormat. */
gboolean wp_trace_text_detect(const guint8 *head, gsize length);
gboolean wp_trace_text_read(WpTraceReading *reading, GError **error);

#endif
