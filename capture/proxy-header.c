/* See proxy-header.h. */
#include "capture/proxy-header.h"

#include <string.h>

/* Version 1: at most so many bytes, line end included (section 2.1). */
#define LINE_MAX_BYTES 107

/* Version 2: what proxies add to the addresses takes some hundred bytes; a certificate does not fit. */
#define MAX_LENGTH 4096

#define SIGNATURE_BYTES 12

static const guint8 signature[SIGNATURE_BYTES + 1] = "\r\n\r\n\0\r\nQUIT\n";

/* BAD where the front of IN is not that of TEXT; MORE where it is too short to tell. */
static WpDecodeStatus
starts(const WpBytes *in, const void *text, gsize length)
{
	gsize n = MIN(wp_bytes_left(in), length);
	if (memcmp(in->data + in->at, text, n) != 0)
		return WP_DECODE_BAD;
	return n == length ? WP_DECODE_OK : WP_DECODE_MORE;
}

/* "TCP4 192.0.2.1 ..", "UNKNOWN ..": the words behind PROXY. */
static gboolean
is_line(const char *text, gsize length)
{
	static const char *const families[] = { "TCP4 ", "TCP6 ", "UNKNOWN" };
	gboolean is_known = FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(families); i++) {
		gsize n = strlen(families[i]);
		is_known |= length >= n && memcmp(text, families[i], n) == 0;
	}
	for (gsize i = 0; i < length; i++)
		if (!g_ascii_isprint(text[i]))
			return FALSE;
	return is_known;
}

static WpDecodeStatus
read_line(WpBytes in, gsize *out_length)
{
	static const char start[] = "PROXY ";
	WpDecodeStatus status = starts(&in, start, sizeof start - 1);
	if (status != WP_DECODE_OK)
		return status;
	gssize end = wp_bytes_find(&in, '\n', LINE_MAX_BYTES);
	if (end < 0)
		return in.length < LINE_MAX_BYTES ? WP_DECODE_MORE : WP_DECODE_BAD;
	gsize at = sizeof start - 1;
	if (in.data[end - 1] != '\r' || !is_line((const char *)in.data + at, (gsize)end - 1 - at))
		return WP_DECODE_BAD;
	*out_length = (gsize)end + 1;
	return WP_DECODE_OK;
}

/* Bytes of addresses of a family and protocol (section 2.2); -1 where there is none such. */
static int
address_bytes(guint8 family)
{
	static const int bytes[] = { 0, 12, 36, 216 };
	guint8 protocol = family & 0xf, kind = family >> 4;
	if (kind > 3 || protocol > 2 || (kind == 0) != (protocol == 0))
		return -1;
	return bytes[kind];
}

static WpDecodeStatus
read_binary(WpBytes in, gsize *out_length)
{
	WpDecodeStatus status = starts(&in, signature, SIGNATURE_BYTES);
	if (status != WP_DECODE_OK)
		return status;
	wp_bytes_skip(&in, SIGNATURE_BYTES);
	guint8 version = wp_bytes_u8(&in), family = wp_bytes_u8(&in);
	gsize length = wp_bytes_be16(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	gboolean is_local = version == 0x20; /* the proxy's own connection: a health check */
	int least = address_bytes(family);
	if ((!is_local && version != 0x21) || least < 0 || length > MAX_LENGTH ||
	    (!is_local && length < (gsize)least))
		return WP_DECODE_BAD;
	*out_length = in.at + length;
	return wp_bytes_skip(&in, length) ? WP_DECODE_OK : WP_DECODE_MORE;
}

WpDecodeStatus
wp_proxy_header(WpBytes in, gsize *out_length)
{
	WpDecodeStatus status = read_line(in, out_length);
	return status == WP_DECODE_BAD ? read_binary(in, out_length) : status;
}
