/*
 * What HTTP and the gateway protocols that carry its requests (FastCGI) share: status codes, labels,
 * and the fields whose values a program passes on.
 */
#ifndef WP_CAPTURE_HTTP_FIELDS_H
#define WP_CAPTURE_HTTP_FIELDS_H

#include <glib.h>

#include "capture/decoder.h"

/* Bytes of a field's value, and of a body, that are looked at for tokens. */
#define WP_HTTP_SCAN_BYTES 512

/* 2xx and 3xx are OK, 4xx and 5xx errors, but 408 and 504 say that time ran out. RFC 9110 section 15. */
WpStatus wp_http_status(guint code);

/* "GET", "/item/7" -> the number of "GET /item/{}". */
guint32 wp_http_label(WpDecodeContext *context, const char *method, gsize method_length,
		      const char *target, gsize target_length);

/* "db.lan:22" -> the number of "CONNECT db.lan:22". */
guint32 wp_http_label_tunnel(WpDecodeContext *context, const char *target, gsize length);

/*
 * TRUE where the request waits by design: its query says "watch", "longpoll" and the like, as
 * Kubernetes, etcd, CouchDB and Engine.IO write it.
 */
gboolean wp_http_target_waits(const char *target, gsize length);

/* What a Content-Type says: events as they happen; a body without text. */
gboolean wp_http_is_event_stream(const char *type, gsize length);
gboolean wp_http_is_binary_type(const char *type, gsize length);

/*
 * HOST, as in a request's Host or :authority ("shop.lan:8080"), names the server, unless it is an
 * address or this machine's "localhost". RFC 9110 section 7.2.
 */
void wp_http_name_server(WpDecodeContext *context, const char *host, gsize length);

/*
 * Adds the tokens of a request's field to MESSAGE where its name says that it identifies something
 * (Cookie, X-Request-Id, traceparent); the first traceparent is its context as well. '_' in NAME counts as '-', as CGI
 * writes them.
 */
void wp_http_scan_field(WpDecodeContext *context, WpMessage *message, const char *name,
			gsize name_length, const char *value, gsize length);

#endif
