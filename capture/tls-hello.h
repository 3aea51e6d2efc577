/*
 * What the hellos of TLS say in the clear: names, versions, the protocol to be spoken, and what the keys
 * depend on (RFC 5246 section 7.4.1, RFC 8446 section 4.1, RFC 7301, RFC 7366).
 */
#ifndef WP_CAPTURE_TLS_HELLO_H
#define WP_CAPTURE_TLS_HELLO_H

#include <glib.h>

#include "capture/bytes.h"

#define WP_TLS_RANDOM_BYTES 32

enum {
	WP_TLS_VERSION_1_2 = 0x0303,
	WP_TLS_VERSION_1_3 = 0x0304
};

/* Which protocols a list of names (RFC 7301) holds: a set. */
enum {
	WP_TLS_ALPN_HTTP2 = 1, /* h2, and others that carry many calls at a time */
	WP_TLS_ALPN_HTTP1 = 2, /* http/1.1, http/1.0 */
	WP_TLS_ALPN_OTHER = 4
};

#define WP_TLS_ALPN_NAME_MAX 32

typedef struct {
	guint8 random[WP_TLS_RANDOM_BYTES];
	guint16 version; /* the server's choice; the client's highest in the old field */
	guint16 cipher;  /* the server's choice */
	guint8 alpn;     /* set of WP_TLS_ALPN_; 0 = nothing said */
	char first_alpn[WP_TLS_ALPN_NAME_MAX + 1]; /* "" = none, or too long */
	gboolean is_retry;         /* asks for another hello (RFC 8446 section 4.1.4) */
	gboolean encrypt_then_mac; /* RFC 7366 */
	gboolean has_early_data;
	const guint8 *server_name; /* in what was read; NULL = none */
	gsize server_name_length;
	gboolean is_whole; /* as far as the cipher, or the client's random */
	gboolean is_read;  /* to its end */
} WpTlsHello;

/*
 * Reads a hello from its handshake header on. What is cut off or odd is left unread. IS_SERVER: whose it
 * is.
 */
void wp_tls_hello_read(WpBytes in, gboolean is_server, WpTlsHello *out_hello);

/* Reads EncryptedExtensions of TLS 1.3, from the handshake header on: alpn and first_alpn. */
void wp_tls_extensions_read(WpBytes in, WpTlsHello *out_hello);

#endif
