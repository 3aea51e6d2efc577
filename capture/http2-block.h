/*
 * A header block of HTTP/2 (RFC 9113 section 4.3): HEADERS or PUSH_PROMISE, and CONTINUATION frames behind,
 * read as they come. One of a direction is under way at a time.
 */
#ifndef WP_CAPTURE_HTTP2_BLOCK_H
#define WP_CAPTURE_HTTP2_BLOCK_H

#include <glib.h>

#include "capture/hpack.h"
#include "capture/http2-frame.h"
#include "capture/http2-head.h"
#include "capture/stream.h"

/* A frame with a header block must be here whole, so it must fit in what the stream keeps. */
#define WP_HTTP2_MAX_BLOCK_FRAME (WP_STREAM_HEAD_MAX - 1024)

typedef struct {
	WpHpack *hpack;   /* (owned by the decoder) */
	WpHttp2Head head; /* what it told so far */
	guint32 id;       /* its stream */
	guint32 promised; /* the stream that it promises; 0 = none */
	guint32 bytes;
	gboolean is_open; /* it goes on in CONTINUATION */
	gboolean ends_stream;
} WpHttp2Block;

/* FRAME, a HEADERS or PUSH_PROMISE, begins a block. */
void wp_http2_block_start(WpHttp2Block *block, const WpHttp2Frame *frame);

/*
 * The payload of FRAME at the cursor, which may be cut, is part of the block. MESSAGE gets marks and tokens;
 * NULL where nobody asks, and only the tables are kept up. FALSE where it makes no sense.
 */
gboolean wp_http2_block_read(WpHttp2Block *block, WpDecodeContext *context, WpMessage *message,
			     WpDirection direction, const WpHttp2Frame *frame, WpBytes in);

/* Bytes of the direction were not seen. */
void wp_http2_block_lose(WpHttp2Block *block);

#endif
