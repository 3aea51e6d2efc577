/*
 * Calls of HTTP/2 that the snap length hid: a client that sends several at a time puts them in one packet,
 * of which only the first is seen. Streams are numbered one after the other (RFC 9113 section 5.1.1), so the
 * numbers that are missing began in the cut packets in between:
 *
 *      client   |HEADERS 7 ......cut|                  |HEADERS 13|
 *      server                        |HEADERS 9 ...|              => 9 and 11 began in the first packet
 *
 * Only where those packets passed within a short time, and none of the client's was lost: else nobody knows
 * when.
 */
#ifndef WP_CAPTURE_HTTP2_HIDDEN_H
#define WP_CAPTURE_HTTP2_HIDDEN_H

#include "capture/decoder.h"

typedef struct {
	WpStamp first;  /* packet that was cut since the last call seen; valid with has_first */
	gint64 last_ns; /* the last of them */
	gboolean has_first;
	gboolean is_unsure; /* one was lost */
} WpHttp2Hidden;

/* Bytes of the client are missing: those of a packet that was cut, or was not seen at all. */
void wp_http2_hidden_lost(WpHttp2Hidden *hidden, WpDecodeContext *context);

/*
 * Stream ID opens next, and LAST was the latest before it (0: none is known). Hands over the calls in
 * between, if it is known when they were made, and returns the latest then.
 */
guint32 wp_http2_hidden_reveal(WpHttp2Hidden *hidden, WpDecodeContext *context, guint32 last,
			       guint32 id);

/* The client has been seen to open a stream: what was hidden before it is settled. */
void wp_http2_hidden_clear(WpHttp2Hidden *hidden);

#endif
