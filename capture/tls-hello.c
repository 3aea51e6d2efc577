/* Hellos of TLS. See the header. */
#include "capture/tls-hello.h"

#include <string.h>

enum {
	HEADER_BYTES = 4, /* of a handshake message */
	EXTENSION_SERVER_NAME = 0,
	EXTENSION_ALPN = 16,
	EXTENSION_ENCRYPT_THEN_MAC = 22,
	EXTENSION_EARLY_DATA = 42,
	EXTENSION_VERSIONS = 43
};

/* RFC 8446 section 4.1.3: SHA-256 of "HelloRetryRequest" in the place of the random. */
static const guint8 retry_random[WP_TLS_RANDOM_BYTES] = {
	0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
	0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
	0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
};

static void
read_server_name(WpBytes in, WpTlsHello *hello)
{
	wp_bytes_skip(&in, 2);
	guint8 type = wp_bytes_u8(&in);
	guint16 length = wp_bytes_be16(&in);
	const guint8 *name = wp_bytes_take(&in, length);
	if (!name || type != 0 || length == 0)
		return;
	hello->server_name = name;
	hello->server_name_length = length;
}

static guint8
alpn_of(const guint8 *name, gsize length)
{
	static const struct {
		const char *name;
		guint8 what;
	} known[] = {
		{ "h2", WP_TLS_ALPN_HTTP2 },       { "grpc-exp", WP_TLS_ALPN_HTTP2 },
		{ "http/1.1", WP_TLS_ALPN_HTTP1 }, { "http/1.0", WP_TLS_ALPN_HTTP1 },
		{ "spdy/3.1", WP_TLS_ALPN_HTTP2 }, { "http/0.9", WP_TLS_ALPN_HTTP1 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(known); i++)
		if (strlen(known[i].name) == length && memcmp(known[i].name, name, length) == 0)
			return known[i].what;
	return WP_TLS_ALPN_OTHER;
}

static void
read_alpn(WpBytes in, WpTlsHello *hello)
{
	wp_bytes_skip(&in, 2);
	while (!in.failed && wp_bytes_left(&in)) {
		guint8 length = wp_bytes_u8(&in);
		const guint8 *name = wp_bytes_take(&in, length);
		if (!name || length == 0)
			return;
		if (!hello->alpn && length <= WP_TLS_ALPN_NAME_MAX)
			memcpy(hello->first_alpn, name, length);
		hello->alpn |= alpn_of(name, length);
	}
}

static void
read_extension(WpTlsHello *hello, gboolean is_server, guint16 type, WpBytes in)
{
	if (type == EXTENSION_SERVER_NAME && !is_server)
		read_server_name(in, hello);
	else if (type == EXTENSION_ALPN)
		read_alpn(in, hello);
	else if (type == EXTENSION_ENCRYPT_THEN_MAC)
		hello->encrypt_then_mac = TRUE;
	else if (type == EXTENSION_EARLY_DATA)
		hello->has_early_data = TRUE;
	else if (type == EXTENSION_VERSIONS && is_server)
		hello->version = wp_bytes_be16(&in);
}

static void
read_extensions(WpBytes in, gboolean is_server, WpTlsHello *hello)
{
	gsize left = wp_bytes_left(&in) ? wp_bytes_be16(&in) : 0;
	while (!in.failed && wp_bytes_left(&in)) {
		guint16 type = wp_bytes_be16(&in), length = wp_bytes_be16(&in);
		const guint8 *data = wp_bytes_take(&in, length);
		if (data)
			read_extension(hello, is_server, type, wp_bytes(data, length));
		left -= MIN(left, 4 + (gsize)length);
	}
	hello->is_read = !in.failed && left == 0;
}

void
wp_tls_hello_read(WpBytes in, gboolean is_server, WpTlsHello *out_hello)
{
	*out_hello = (WpTlsHello){ 0 };
	wp_bytes_skip(&in, HEADER_BYTES);
	out_hello->version = wp_bytes_be16(&in);
	const guint8 *random = wp_bytes_take(&in, WP_TLS_RANDOM_BYTES);
	if (!random)
		return;
	memcpy(out_hello->random, random, WP_TLS_RANDOM_BYTES);
	wp_bytes_skip(&in, wp_bytes_u8(&in)); /* session id */
	if (is_server) {
		out_hello->is_retry = memcmp(random, retry_random, WP_TLS_RANDOM_BYTES) == 0;
		out_hello->cipher = wp_bytes_be16(&in);
		wp_bytes_skip(&in, 1); /* compression */
	}
	out_hello->is_whole = !in.failed;
	if (!is_server) {
		wp_bytes_skip(&in, wp_bytes_be16(&in)); /* cipher suites */
		wp_bytes_skip(&in, wp_bytes_u8(&in));   /* compression methods */
	}
	if (!in.failed)
		read_extensions(in, is_server, out_hello);
}

void
wp_tls_extensions_read(WpBytes in, WpTlsHello *out_hello)
{
	*out_hello = (WpTlsHello){ 0 };
	wp_bytes_skip(&in, HEADER_BYTES);
	if (!in.failed)
		read_extensions(in, TRUE, out_hello);
}
