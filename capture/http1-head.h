/*
 * Heads of HTTP/1.x messages (RFC 9112 sections 2 to 6), line by line: what the first line says, and
 * what the fields tell about the body, the server's name and identifiers. Holds no bytes.
 */
#ifndef WP_CAPTURE_HTTP1_HEAD_H
#define WP_CAPTURE_HTTP1_HEAD_H

#include <glib.h>

#include "capture/decoder.h"

/* What the lines of a message have told so far. */
typedef struct {
	guint64 length; /* Content-Length */
	guint32 bytes;
	guint16 n_lines;
	guint16 code; /* of a response; 0 in a request */
	guint8 note;  /* for the decoder */
	guint8 field; /* which field the last line was */
	gboolean has_length;
	gboolean is_conflicting; /* lengths that differ */
	gboolean is_garbled;     /* a length that is no number */
	gboolean has_coding;     /* Transfer-Encoding */
	gboolean is_chunked;     /* it ends in "chunked" */
	gboolean is_proxied;     /* the host is not the server's name */
	gboolean is_binary;      /* the body holds no text */
	gboolean is_scanned;     /* the body's first bytes have been looked at */
	gboolean expects;        /* Expect: 100-continue */
	gboolean is_http2;       /* Upgrade: h2c */
	gboolean is_websocket;   /* Upgrade: websocket */
	gboolean is_events;      /* Content-Type: text/event-stream, of a response */
	gboolean is_packed;      /* Content-Encoding, of a response */
} WpHttp1Head;

typedef struct {
	const char *data;
	gsize length; /* without its end */
	gsize bytes;  /* with it */
} WpHttp1Line;

/* METHOD SP TARGET SP VERSION; the method is the front of the line. */
typedef struct {
	const char *target;
	gsize method_length;
	gsize target_length;
} WpHttp1Request;

/* The line at the cursor, which moves behind it. BAD where it is longer than a stream keeps. */
WpDecodeStatus wp_http1_take_line(WpBytes *in, WpHttp1Line *out_line);

/* Takes any method, and blanks inside the target. */
gboolean wp_http1_parse_request(const char *line, gsize length, WpHttp1Request *out_request);

/* "HTTP/1.1 200 OK" -> 200; 0 where it is no status line. */
guint wp_http1_parse_status(const char *line, gsize length);

/* "1a;name=value" -> 26 */
gboolean wp_http1_parse_chunk_size(const WpHttp1Line *line, guint64 *out_size);

/* Whether IN begins with the first line of a message of that direction: strict. */
WpDecodeStatus wp_http1_recognise(WpDirection direction, const WpBytes *in);

/* "GET /" at the front: a request that one would bet on before its line is whole. */
gboolean wp_http1_is_common_request(const WpBytes *in);

/*
 * What a request line whose end is missing tells: its method, and its path up to the last whole segment.
 */
gboolean wp_http1_parse_cut_request(const WpBytes *in, WpHttp1Request *out_request);

/* One field line that is not empty; FALSE where it makes no sense. MESSAGE gets marks and tokens. */
gboolean wp_http1_note_field(WpDecodeContext *context, WpHttp1Head *head, WpMessage *message,
			     const WpHttp1Line *line);

#endif
