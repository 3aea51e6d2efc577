/* See event-stream.h. Lines that end in CR alone, which the specification allows, nobody writes. */
#include "capture/event-stream.h"

#include <string.h>

#include "capture/http1-head.h"
#include "capture/label.h"

void
wp_event_stream_start(WpEventStream *events, gboolean is_chunked, guint64 length)
{
	*events = (WpEventStream){ .is_chunked = is_chunked, .left = is_chunked ? 0 : length };
}

void
wp_event_stream_lost(WpEventStream *events)
{
	gboolean is_chunked = events->is_chunked;
	wp_event_stream_start(events, is_chunked, G_MAXUINT64);
	events->is_partial = TRUE;
}

/* The value of the line where its field is NAME ("event:"); NULL else. */
static const char *
value_of(const char *line, gsize length, const char *name, gsize *out_length)
{
	gsize n = strlen(name);
	if (length < n || memcmp(line, name, n) != 0)
		return NULL;
	n += n < length && line[n] == ' ';
	*out_length = length - n;
	return line + n;
}

static void
set_label(WpDecodeContext *context, WpMessage *message, const char *name, gsize length)
{
	static const char prefix[] = "event ";
	char label[WP_LABEL_MAX + 1];
	gsize n = g_strlcpy(label, prefix, sizeof label);
	n += wp_label_key(name, length, label + n, sizeof label - n);
	message->label = wp_decode_label(context, label, n);
}

/* A line is whole. TRUE where it is the empty one that ends an event. */
static gboolean
end_line(WpEventStream *events, WpDecodeContext *context, WpMessage *message)
{
	gsize length = MIN(events->line_length, sizeof events->line), n;
	gboolean is_whole = length == events->line_length;
	events->line_length = 0;
	if (is_whole && length && events->line[length - 1] == '\r')
		length--;
	if (length == 0)
		return TRUE;
	const char *name = value_of(events->line, length, "event:", &n);
	if (name)
		set_label(context, message, name, n);
	events->has_fields |= events->line[0] != ':';
	return FALSE;
}

static void
keep_line(WpEventStream *events, const guint8 *data, gsize length)
{
	gsize at = MIN(events->line_length, sizeof events->line);
	memcpy(events->line + at, data, MIN(length, sizeof events->line - at));
	events->line_length = (guint32)MIN((guint64)events->line_length + length, G_MAXUINT32);
}

/* Lines of the event up to its end or that of LENGTH; how many bytes they are. */
static gsize
take_lines(WpEventStream *events, WpDecodeContext *context, WpMessage *message, const guint8 *data,
	   gsize length, gboolean *out_ends)
{
	gsize at = 0;
	*out_ends = FALSE;
	while (at < length && !*out_ends) {
		const guint8 *newline = memchr(data + at, '\n', length - at);
		gsize n = newline ? (gsize)(newline - data) - at : length - at;
		keep_line(events, data + at, n);
		at += n;
		if (newline) {
			at++;
			*out_ends = end_line(events, context, message);
		}
	}
	return at;
}

/* Bytes of empty lines at the front; *OUT_MORE: what follows may be another one. */
static gsize
empty_lines(const guint8 *data, gsize length, gboolean *out_more)
{
	gsize at = 0;
	for (;;) {
		gsize n = at < length && data[at] == '\r' ? 1 : 0;
		if (at + n >= length || data[at + n] != '\n') {
			*out_more = n && at + n == length;
			return at;
		}
		at += n + 1;
	}
}

static void
use(WpEventStream *events, WpUnit *unit, gsize length, gboolean *out_ends)
{
	unit->length += length;
	if (events->left == G_MAXUINT64)
		return;
	events->left -= length;
	if (events->left)
		return;
	if (events->is_chunked)
		unit->length += events->chunk_tail;
	else
		*out_ends = TRUE;
}

static WpDecodeStatus
decode_event(WpEventStream *events, WpDecodeContext *context, WpMessage *message, WpBytes in,
	     WpUnit *unit, gboolean *out_ends)
{
	const guint8 *data = in.data + in.at;
	gsize length = (gsize)MIN(events->left, wp_bytes_left(&in));
	gboolean has_more, is_last;

	if (!message->is_open && !events->is_partial) {
		gsize empty = empty_lines(data, length, &has_more);
		if (empty) {
			use(events, unit, empty, out_ends);
			return WP_DECODE_OK;
		}
		if (has_more && events->left > length)
			return WP_DECODE_MORE;
		unit->opens = message;
		message->kind = WP_KIND_MESSAGE;
		message->protocol = wp_decode_protocol(context, "sse");
		events->has_fields = FALSE;
	}
	WpMessage *event = events->is_partial ? NULL : message;
	WpMessage dropped = { 0 };
	gsize taken = take_lines(events, context, event ? event : &dropped, data, length, &is_last);
	use(events, unit, taken, out_ends);
	unit->extends = event;
	unit->emits = is_last ? event : NULL;
	if (!is_last)
		return WP_DECODE_OK;
	events->is_partial = FALSE;
	if (event && !events->has_fields)
		event->marks |= WP_MARK_SETUP;
	if (event && !event->label)
		set_label(context, event, events->has_fields ? "message" : "comment", 7);
	return WP_DECODE_OK;
}

WpDecodeStatus
wp_event_stream_unit(WpEventStream *events, WpDecodeContext *context, WpMessage *message,
		     WpBytes in, WpUnit *unit, gboolean *out_ends)
{
	WpHttp1Line line;
	*out_ends = FALSE;
	if (events->left)
		return decode_event(events, context, message, in, unit, out_ends);
	WpDecodeStatus status = wp_http1_take_line(&in, &line);
	if (status != WP_DECODE_OK)
		return status;
	if (!wp_http1_parse_chunk_size(&line, &events->left))
		return WP_DECODE_BAD;
	events->chunk_tail = (guint8)(line.bytes - line.length);
	*out_ends = events->left == 0;
	unit->length = in.at;
	unit->extends = message;
	return WP_DECODE_OK;
}

WpDecodeStatus
wp_event_stream_recognise(WpBytes in, gboolean is_chunked)
{
	static const char *const fields[] = { "data:", "event:", "id:", "retry:" };
	WpHttp1Line line;
	guint64 size = G_MAXUINT64;

	if (is_chunked) {
		if (in.length && !g_ascii_isxdigit(in.data[0]))
			return WP_DECODE_BAD;
		gssize end = wp_bytes_find(&in, '\n', 12);
		if (end < 0)
			return in.length < 12 ? WP_DECODE_MORE : WP_DECODE_BAD;
		if (wp_http1_take_line(&in, &line) != WP_DECODE_OK ||
		    !wp_http1_parse_chunk_size(&line, &size) || size < 4)
			return WP_DECODE_BAD;
	}
	gboolean may_become = FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++) {
		gsize length = strlen(fields[i]), n = MIN(wp_bytes_left(&in), length);
		if (memcmp(in.data + in.at, fields[i], n) != 0)
			continue;
		if (n == length)
			return WP_DECODE_OK;
		may_become = TRUE;
	}
	return may_become ? WP_DECODE_MORE : WP_DECODE_BAD;
}
