/*
 * WpEventStream: the body of a response with server-sent events (WHATWG HTML, section 9.2), event by
 * event. The head of such a response ends its call; each event then is a message of its own.
 *
 *     chunk  |size|event: price..data: 1..|..|   an event ends with an empty line; it may lie in several
 *     event       |- opens ----------- emits|   chunks, and a chunk may hold several
 *
 * What is only comments (": alive") is marked as set-up. Holds the front of one line, no bytes else.
 */
#ifndef WP_CAPTURE_EVENT_STREAM_H
#define WP_CAPTURE_EVENT_STREAM_H

#include "capture/decoder.h"

/* Bytes of a line that are looked at. */
#define WP_EVENT_LINE_MAX 64

typedef struct {
	guint64 left;        /* of the chunk at hand, or of the body; G_MAXUINT64 = until the end */
	guint32 line_length; /* of the line so far, which may be longer than what is kept of it */
	char line[WP_EVENT_LINE_MAX];
	gboolean is_chunked;
	gboolean is_partial; /* the begin of the event at hand was not seen: no message */
	gboolean has_fields; /* the event at hand is more than comments */
	guint8 chunk_tail;   /* bytes behind a chunk */
} WpEventStream;

/* The body begins here. LENGTH (in bytes) counts where it comes without chunks. */
void wp_event_stream_start(WpEventStream *events, gboolean is_chunked, guint64 length);

/* Bytes are missing. What follows may begin in the middle of an event. */
void wp_event_stream_lost(WpEventStream *events);

/*
 * The unit at the front of IN, as decode() gives it; MESSAGE is the event. *OUT_ENDS: the size 0 of the
 * last chunk, or the last byte of the body, is in this unit.
 */
WpDecodeStatus wp_event_stream_unit(WpEventStream *events, WpDecodeContext *context,
				    WpMessage *message, WpBytes in, WpUnit *unit,
				    gboolean *out_ends);

/* Whether a line of an event, behind the size of a chunk where IS_CHUNKED, is at the front of IN. Strict. */
WpDecodeStatus wp_event_stream_recognise(WpBytes in, gboolean is_chunked);

#endif
