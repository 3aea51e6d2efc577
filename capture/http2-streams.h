/*
 * The messages of one direction of an HTTP/2 connection that have begun and not ended, by stream. Those
 * that are done are kept for use again, so that nothing is allocated per message.
 */
#ifndef WP_CAPTURE_HTTP2_STREAMS_H
#define WP_CAPTURE_HTTP2_STREAMS_H

#include <glib.h>

#include "capture/decoder.h"

/* Open at a time in one direction. Servers allow 100 to 250; gRPC sets no limit. */
#define WP_HTTP2_MAX_STREAMS 1024

typedef struct {
	WpMessage message;
	guint32 id;
	guint32 grpc_label;   /* of a call whose type was not seen; else 0 */
	guint16 code;         /* :status of a return */
	gboolean has_head;    /* a whole header block; further ones are trailers */
	gboolean is_grpc;     /* by its Content-Type */
	gboolean is_tunnel;   /* a return to CONNECT */
	gboolean is_binary;   /* its body is not looked at */
	gboolean is_scanned;  /* its body was looked at */
	gboolean has_data;    /* some of its body has come */
	gboolean has_hole;    /* of a return: bytes behind what came of it were not seen */
	gboolean is_doubtful; /* a return whose end may have been cut off with its packet */
	gboolean is_settled;  /* ... and if so, that packet was the last */
} WpHttp2Stream;

typedef struct {
	WpHttp2Stream **streams; /* by id; behind the N that are open, those for use again */
	guint n;
	guint n_made;
} WpHttp2Streams;

void wp_http2_streams_clear(WpHttp2Streams *streams);

/* The open message of stream ID; NULL where there is none. */
WpHttp2Stream *wp_http2_streams_find(const WpHttp2Streams *streams, guint32 id);

/* A new one, zeroed, where there is none with ID and fewer than WP_HTTP2_MAX_STREAMS are open. */
WpHttp2Stream *wp_http2_streams_add(WpHttp2Streams *streams, guint32 id);

/* STREAM is no longer open. */
void wp_http2_streams_remove(WpHttp2Streams *streams, WpHttp2Stream *stream);

/* The one of which nothing has been heard for longest. There is at least one. */
WpHttp2Stream *wp_http2_streams_quietest(const WpHttp2Streams *streams);

/* All frames of PACKET, where it is one that was cut (not 0), ended in it. */
void wp_http2_streams_settle(WpHttp2Streams *streams, guint64 packet);

gsize wp_http2_streams_memory(const WpHttp2Streams *streams);

#endif
