/*
 * Frames of HTTP/2 (RFC 9113 section 4), and what can be said of bytes that may be some.
 *
 *     length (3)  type (1)  flags (1)  R + stream id (4)  payload (length)
 */
#ifndef WP_CAPTURE_HTTP2_FRAME_H
#define WP_CAPTURE_HTTP2_FRAME_H

#include <glib.h>

#include "capture/decoder.h"

#define WP_HTTP2_PREFACE       "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" /* section 3.4 */
#define WP_HTTP2_PREFACE_BYTES (sizeof WP_HTTP2_PREFACE - 1)
#define WP_HTTP2_HEADER_BYTES  9

/* Section 6 */
enum {
	WP_HTTP2_DATA = 0,
	WP_HTTP2_HEADERS = 1,
	WP_HTTP2_PRIORITY = 2,
	WP_HTTP2_RST_STREAM = 3,
	WP_HTTP2_SETTINGS = 4,
	WP_HTTP2_PUSH_PROMISE = 5,
	WP_HTTP2_PING = 6,
	WP_HTTP2_GOAWAY = 7,
	WP_HTTP2_WINDOW_UPDATE = 8,
	WP_HTTP2_CONTINUATION = 9
};

enum {
	WP_HTTP2_ACK = 0x01,        /* SETTINGS, PING */
	WP_HTTP2_END_STREAM = 0x01, /* DATA, HEADERS */
	WP_HTTP2_END_HEADERS = 0x04,
	WP_HTTP2_PADDED = 0x08,
	WP_HTTP2_HAS_PRIORITY = 0x20
};

typedef struct {
	guint32 length; /* of the payload */
	guint32 id;     /* stream; 0 = the connection */
	guint8 type;
	guint8 flags;
} WpHttp2Frame;

/* The header at the cursor, which moves behind it. BAD where no frame can have it. */
WpDecodeStatus wp_http2_read_frame(WpBytes *in, WpHttp2Frame *out_frame);

/*
 * What of the payload at the cursor (which may be cut) is content: without padding, and without the
 * fields in front of a header block (priority, *OUT_PROMISED). FALSE where that cannot be.
 */
gboolean wp_http2_content(WpBytes in, const WpHttp2Frame *frame, WpBytes *out_content,
			  guint32 *out_promised);

/* What a run of frames shows. */
typedef struct {
	guint n_frames;       /* headers seen, those of cut frames too */
	guint n_streams;      /* of them frames of streams, other than WINDOW_UPDATE and PRIORITY */
	guint n_messages;     /* of them DATA frames that hold one message of gRPC, no more */
	guint32 request_id;   /* the first HEADERS of a request; 0 = none */
	guint32 response_id;  /* the first HEADERS of a response */
	gboolean is_telling;  /* a request names its method and its scheme or path as all do */
	gboolean ends_inside; /* the last frame is cut, or more may follow in it */
} WpHttp2Run;

/*
 * Walks frames from the front of IN to its end, or so many that they are certain. Strict: FALSE where one is not as senders write them,
 * or a header block is none.
 */
gboolean wp_http2_walk(WpBytes in, WpHttp2Run *out_run);

/* WpDecoder's probe. */
WpProbeVerdict wp_http2_probe(const WpProbe *probe);

#endif
