/*
 * WpBytes: a checked cursor over bytes from the network, and the only way to read them.
 *
 * A read past the end returns 0, moves to the end and sets `failed`; so a run of reads can be made
 * first and checked once. Peeks (wp_peek_...) take an offset and do not move.
 */
#ifndef WP_CAPTURE_BYTES_H
#define WP_CAPTURE_BYTES_H

#include <glib.h>
#include <string.h>

typedef struct {
	const guint8 *data;
	gsize length;
	gsize at; /* next byte; never over length */
	gboolean failed;
} WpBytes;

static inline WpBytes
wp_bytes(const guint8 *data, gsize length)
{
	return (WpBytes){ data, length, 0, FALSE };
}

/*
 * The same to be passed on by value at once. That copies it in pieces of 16 bytes, for which a processor waits where
 * they were written in smaller ones just now.
 */
static inline WpBytes
wp_bytes_to_pass(const guint8 *data, gsize length)
{
#if GLIB_SIZEOF_VOID_P == 8
	typedef guint64 Pair __attribute__((vector_size(16)));
	const Pair pairs[2] = { { (guint64)data, length } };
	WpBytes bytes;

	G_STATIC_ASSERT(sizeof bytes == sizeof pairs);
	G_STATIC_ASSERT(G_STRUCT_OFFSET(WpBytes, length) == sizeof(guint64));
	memcpy(&bytes, pairs, sizeof bytes);
	return bytes;
#else
	return wp_bytes(data, length);
#endif
}

static inline gsize
wp_bytes_left(const WpBytes *bytes)
{
	return bytes->length - bytes->at;
}

/* N bytes from the cursor, which moves past them; NULL (and failed) where there are fewer. */
static inline const guint8 *
wp_bytes_take(WpBytes *bytes, gsize n)
{
	if (n > bytes->length - bytes->at) {
		bytes->at = bytes->length;
		bytes->failed = TRUE;
		return NULL;
	}
	const guint8 *p = bytes->data + bytes->at;
	bytes->at += n;
	return p;
}

static inline gboolean
wp_bytes_skip(WpBytes *bytes, gsize n)
{
	return wp_bytes_take(bytes, n) != NULL;
}

static inline guint8
wp_bytes_u8(WpBytes *bytes)
{
	const guint8 *p = wp_bytes_take(bytes, 1);
	return p ? p[0] : 0;
}

static inline guint16
wp_bytes_be16(WpBytes *bytes)
{
	const guint8 *p = wp_bytes_take(bytes, 2);
	return p ? (guint16)(p[0] << 8 | p[1]) : 0;
}

static inline guint32
wp_bytes_be24(WpBytes *bytes)
{
	const guint8 *p = wp_bytes_take(bytes, 3);
	return p ? (guint32)p[0] << 16 | (guint32)p[1] << 8 | p[2] : 0;
}

static inline guint32
wp_bytes_be32(WpBytes *bytes)
{
	const guint8 *p = wp_bytes_take(bytes, 4);
	return p ? (guint32)p[0] << 24 | (guint32)p[1] << 16 | (guint32)p[2] << 8 | p[3] : 0;
}

static inline guint64
wp_bytes_be64(WpBytes *bytes)
{
	guint64 high = wp_bytes_be32(bytes);
	return high << 32 | wp_bytes_be32(bytes);
}

static inline guint16
wp_bytes_le16(WpBytes *bytes)
{
	const guint8 *p = wp_bytes_take(bytes, 2);
	return p ? (guint16)(p[1] << 8 | p[0]) : 0;
}

static inline guint32
wp_bytes_le24(WpBytes *bytes)
{
	const guint8 *p = wp_bytes_take(bytes, 3);
	return p ? (guint32)p[2] << 16 | (guint32)p[1] << 8 | p[0] : 0;
}

static inline guint32
wp_bytes_le32(WpBytes *bytes)
{
	const guint8 *p = wp_bytes_take(bytes, 4);
	return p ? (guint32)p[3] << 24 | (guint32)p[2] << 16 | (guint32)p[1] << 8 | p[0] : 0;
}

static inline guint64
wp_bytes_le64(WpBytes *bytes)
{
	guint64 low = wp_bytes_le32(bytes);
	return low | (guint64)wp_bytes_le32(bytes) << 32;
}

/* TRUE where the bytes at the cursor are TEXT (a string literal or LENGTH bytes). */
static inline gboolean
wp_bytes_starts(const WpBytes *bytes, const char *text, gsize length)
{
	return bytes->length - bytes->at >= length &&
	       memcmp(bytes->data + bytes->at, text, length) == 0;
}

/*
 * Position of BYTE at or after the cursor, relative to it; -1 where there is none among the next
 * LIMIT bytes.
 */
static inline gssize
wp_bytes_find(const WpBytes *bytes, guint8 byte, gsize limit)
{
	gsize n = MIN(bytes->length - bytes->at, limit);
	const guint8 *p = n ? memchr(bytes->data + bytes->at, byte, n) : NULL;
	return p ? p - (bytes->data + bytes->at) : -1;
}

#endif
