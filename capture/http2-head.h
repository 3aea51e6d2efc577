/*
 * What the header block of an HTTP/2 message tells (RFC 9113 section 8): pseudo-fields, what the body
 * is, gRPC's own status. Fields go in one by one as HPACK gives them; labels and states come out.
 */
#ifndef WP_CAPTURE_HTTP2_HEAD_H
#define WP_CAPTURE_HTTP2_HEAD_H

#include <glib.h>

#include "capture/decoder.h"

#define WP_HTTP2_METHOD_MAX 24
#define WP_HTTP2_PATH_MAX   512

/* What one field of a block says may be missing: then the block's end cannot tell "not there". */
typedef struct {
	guint32 bytes; /* of all fields, as RFC 9113 section 6.5.2 counts them */
	guint16 code;  /* :status */
	guint16 grpc_status;
	guint16 n_path;
	guint8 n_method;
	gboolean has_grpc_status;
	gboolean has_type; /* Content-Type */
	gboolean is_grpc;
	gboolean is_binary; /* the body holds no text */
	gboolean is_events;
	gboolean has_unknown;  /* a field could not be read */
	gboolean has_protocol; /* :protocol, an extended CONNECT (RFC 8441) */
	gboolean is_too_long;  /* fields were left out */
	char method[WP_HTTP2_METHOD_MAX];
	char path[WP_HTTP2_PATH_MAX]; /* of CONNECT: the authority */
} WpHttp2Head;

/* Takes one field of a request; NAME is NULL where it is unknown. MESSAGE gets marks and tokens. */
void wp_http2_note_request(WpDecodeContext *context, WpHttp2Head *head, WpMessage *message,
			   const char *name, gsize name_length, const char *value, gsize length);

/* Takes one field of a response, or of trailers. */
void wp_http2_note_response(WpHttp2Head *head, const char *name, gsize name_length,
			    const char *value, gsize length);

/* The request, all of whose fields were noted, opens a tunnel. */
gboolean wp_http2_is_tunnel(const WpHttp2Head *head);

/* Its path is "/package.Service/Method", and what would tell its type could not be read. */
gboolean wp_http2_may_be_grpc(const WpHttp2Head *head);

/*
 * "GET /item/{}", "pkg.Service/Method" (gRPC), "CONNECT db.lan:22"; "(unknown)" stands for what could
 * not be read.
 */
guint32 wp_http2_label(WpDecodeContext *context, const WpHttp2Head *head);

/*
 * The label if its body tells that it is of gRPC: several calls may begin before the first of their bodies. 0: that does
 * not need to be asked.
 */
guint32 wp_http2_grpc_label(WpDecodeContext *context, const WpHttp2Head *head);

/*
 * The status of a response with this head and, in LAST, the block that ended it (the same one where
 * there was one).
 */
WpStatus wp_http2_status(guint code, gboolean is_grpc, const WpHttp2Head *last);

/*
 * Adds the tokens of the front of a gRPC request's body to MESSAGE: a prefix of 5 bytes (compressed,
 * length), then a message of Protocol Buffers, whose texts and numbers are tokens.
 */
void wp_grpc_scan(WpDecodeContext *context, WpMessage *message, const guint8 *data, gsize length);

/*
 * The front of a body of BODY_LENGTH bytes in its first frame is a gRPC prefix: what tells gRPC where
 * the Content-Type was not seen.
 */
gboolean wp_grpc_is_prefix(const guint8 *data, gsize length, gsize body_length);

#endif
