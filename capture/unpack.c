/*
 * Unpacking. zlib and zstd by their libraries; blocks of Snappy (google/snappy, format_description.txt)
 * and LZ4 (lz4/lz4, doc/lz4_Block_format.md) by hand: both are literals and copies of what was written
 * before.
 */
#include "capture/unpack.h"

#include <zlib.h>
#include <zstd.h>

gsize
wp_unpack_zlib(WpBytes in, guint8 *buffer, gsize size)
{
	z_stream zlib = { .next_out = buffer, .avail_out = (uInt)size };
	if (wp_bytes_left(&in) == 0 || inflateInit(&zlib) != Z_OK)
		return 0;
	zlib.avail_in = (uInt)wp_bytes_left(&in);
	zlib.next_in = (Bytef *)in.data + in.at;
	inflate(&zlib, Z_SYNC_FLUSH);
	inflateEnd(&zlib);
	return size - zlib.avail_out;
}

gsize
wp_unpack_zstd(WpBytes in, guint8 *buffer, gsize size)
{
	ZSTD_DStream *zstd = ZSTD_createDStream();
	ZSTD_inBuffer from = { in.data, in.length, in.at };
	ZSTD_outBuffer to = { buffer, size, 0 };
	while (zstd && to.pos < size) {
		gsize before = to.pos;
		gsize left = ZSTD_decompressStream(zstd, &to, &from);
		if (ZSTD_isError(left) || left == 0 || (from.pos == from.size && to.pos == before))
			break;
	}
	ZSTD_freeDStream(zstd);
	return to.pos;
}

/* What has been written so far. */
typedef struct {
	guint8 *buffer;
	gsize size;
	gsize n;
} Written;

/* FALSE where there is no more to read, or no room. */
static gboolean
add_literal(Written *out, WpBytes *in, gsize length)
{
	gsize n = MIN(MIN(length, wp_bytes_left(in)), out->size - out->n);
	if (n)
		memcpy(out->buffer + out->n, wp_bytes_take(in, n), n);
	out->n += n;
	return n == length && out->n < out->size;
}

static gboolean
add_copy(Written *out, gsize offset, gsize length)
{
	if (offset == 0 || offset > out->n)
		return FALSE;
	for (; length && out->n < out->size; length--, out->n++)
		out->buffer[out->n] = out->buffer[out->n - offset];
	return out->n < out->size;
}

/* The length of a literal, of which TAG is the first byte. */
static gsize
snappy_literal(WpBytes *in, guint8 tag)
{
	gsize length = tag >> 2;
	if (length < 60)
		return length + 1;
	guint64 value = 0;
	for (gsize i = 0; i < length - 59; i++)
		value |= (guint64)wp_bytes_u8(in) << 8 * i;
	return (gsize)value + 1;
}

gsize
wp_unpack_snappy(WpBytes in, guint8 *buffer, gsize size)
{
	Written out = { buffer, size, 0 };
	gboolean goes_on = size > 0;
	for (guint i = 0; i < 5 && wp_bytes_u8(&in) & 0x80; i++)
		; /* the length when unpacked */
	while (goes_on && wp_bytes_left(&in)) {
		guint8 tag = wp_bytes_u8(&in);
		gsize offset, length = (tag >> 2) + 1u;
		switch (tag & 3) {
		case 0:
			goes_on = add_literal(&out, &in, snappy_literal(&in, tag));
			continue;
		case 1:
			offset = (gsize)(tag >> 5) << 8 | wp_bytes_u8(&in);
			length = (tag >> 2 & 7) + 4u;
			break;
		case 2:
			offset = wp_bytes_le16(&in);
			break;
		default:
			offset = wp_bytes_le32(&in);
		}
		goes_on = !in.failed && add_copy(&out, offset, length);
	}
	return out.n;
}

/* A length of which the first four bits are NIBBLE. */
static gsize
lz4_length(WpBytes *in, guint nibble)
{
	gsize length = nibble;
	guint8 more = 255;
	while (nibble == 15 && more == 255 && !in->failed) {
		more = wp_bytes_u8(in);
		length += more;
	}
	return length;
}

gsize
wp_unpack_lz4(WpBytes in, guint8 *buffer, gsize size)
{
	enum {
		SHORTEST_COPY = 4
	};
	Written out = { buffer, size, 0 };
	gboolean goes_on = size > 0;
	while (goes_on && wp_bytes_left(&in)) {
		guint8 tag = wp_bytes_u8(&in);
		goes_on = add_literal(&out, &in, lz4_length(&in, tag >> 4));
		if (!goes_on || wp_bytes_left(&in) < 2)
			break;
		gsize offset = wp_bytes_le16(&in);
		gsize length = lz4_length(&in, tag & 15) + SHORTEST_COPY;
		goes_on = !in.failed && add_copy(&out, offset, length);
	}
	return out.n;
}
