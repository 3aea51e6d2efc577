/* Temporary files, and bytes in compressed form to put into them. */
#include "tests/support/tempfile.h"

#include <check.h>
#include <glib/gstdio.h>
#include <lz4frame.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

WpTempFile *
wp_temp_file_name(const char *suffix)
{
	/* GLib draws names from the clock, and one may come twice, here and in another process, as it is free again below. */
	static gint n_names;
	g_autofree char *stem = g_strdup_printf("%s/wirepath-test-%d-%d-XXXXXX", g_get_tmp_dir(),
						(int)getpid(), g_atomic_int_add(&n_names, 1));
	int fd = g_mkstemp(stem);

	ck_assert_int_ge(fd, 0);
	close(fd);
	g_unlink(stem);
	return g_strconcat(stem, suffix, NULL);
}

WpTempFile *
wp_temp_file_new(const char *suffix, gconstpointer data, gsize length)
{
	WpTempFile *path = wp_temp_file_name(suffix);
	ck_assert(g_file_set_contents(path, data, (gssize)length, NULL));
	return path;
}

char *
wp_temp_file_read(const WpTempFile *path, gsize *out_length)
{
	char *text = NULL;
	ck_assert(g_file_get_contents(path, &text, out_length, NULL));
	return text;
}

void
wp_temp_file_remove(WpTempFile *path)
{
	if (path)
		g_unlink(path);
	g_free(path);
}

GByteArray *
wp_gzip_bytes(gconstpointer data, gsize length)
{
	z_stream zlib = { 0 };
	ck_assert_int_eq(deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	GByteArray *bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, (guint)deflateBound(&zlib, length) + 64);
	zlib.next_in = (Bytef *)data;
	zlib.avail_in = (uInt)length;
	zlib.next_out = bytes->data;
	zlib.avail_out = bytes->len;
	ck_assert_int_eq(deflate(&zlib, Z_FINISH), Z_STREAM_END);
	g_byte_array_set_size(bytes, (guint)zlib.total_out);
	deflateEnd(&zlib);
	return bytes;
}

GByteArray *
wp_zstd_bytes(gconstpointer data, gsize length)
{
	GByteArray *bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, (guint)ZSTD_compressBound(length));
	gsize n = ZSTD_compress(bytes->data, bytes->len, data, length, 3);
	ck_assert(!ZSTD_isError(n));
	g_byte_array_set_size(bytes, (guint)n);
	return bytes;
}

GByteArray *
wp_lz4_bytes(gconstpointer data, gsize length)
{
	const LZ4F_preferences_t preferences = {
		.frameInfo = { .contentChecksumFlag = LZ4F_contentChecksumEnabled },
	};
	GByteArray *bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, (guint)LZ4F_compressFrameBound(length, &preferences));
	gsize n = LZ4F_compressFrame(bytes->data, bytes->len, data, length, &preferences);
	ck_assert(!LZ4F_isError(n));
	g_byte_array_set_size(bytes, (guint)n);
	return bytes;
}

GByteArray *
wp_zstd_skippable(gconstpointer data, gsize length)
{
	guint8 head[8] = { 0x5a, 0x2a, 0x4d, 0x18 };
	GByteArray *bytes = g_byte_array_new();
	for (int i = 0; i < 4; i++)
		head[4 + i] = (guint8)(length >> 8 * i);
	g_byte_array_append(bytes, head, sizeof head);
	g_byte_array_append(bytes, data, (guint)length);
	return bytes;
}
