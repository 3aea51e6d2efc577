/*
 * HTTP/2 as words, for tests. One builder is one direction: its header blocks share a dynamic table, as
 * a sender's do.
 *
 *     P             the preface          T  SETTINGS    A  SETTINGS (ACK)    Q  PING    N  GOAWAY
 *     H1:GET/x      HEADERS of stream 1: a request, POST/x;te=trailers with fields; :scheme and
 *                   :authority (shop.lan) come by themselves
 *     H1:200        ... a response, 200;content-type=text/plain with fields
 *     H1:;a=b       ... fields alone (trailers)
 *     D1:text       DATA     D1:$text  with a gRPC prefix around field 1 = text of Protocol Buffers
 *     R1:8          RST_STREAM with code 8     W1  WINDOW_UPDATE     Y1  PRIORITY
 *     U1:2:GET/x    PUSH_PROMISE of stream 2
 *     F99:text      a frame of an unknown type (stream 1)
 *
 * Behind the letter: '!' END_STREAM, '+' the block is cut into three frames (CONTINUATION), 'p' padded,
 * 'y' with priority, 'n' fields are not put into the table. '~' in content is a blank.
 */
#ifndef WP_TESTS_HTTP2_BUILD_H
#define WP_TESTS_HTTP2_BUILD_H

#include <glib.h>

typedef struct WpHttp2Build WpHttp2Build;

WpHttp2Build *wp_http2_build_new(void);
void wp_http2_build_free(WpHttp2Build *build);

/* (transfer full) The bytes of WORDS, which blanks part. */
GByteArray *wp_http2_build(WpHttp2Build *build, const char *words);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpHttp2Build, wp_http2_build_free)

#endif
