/* WpInput: plain, gzip and Zstandard bytes; cut and damaged files; errors. */
#include "capture/input.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/trace.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

#define N_BYTES 700000 /* more than the buffers of WpInput */

/* Bytes that a codec neither stores nor folds into nothing. */
static GByteArray *
make_bytes(gsize n)
{
	GByteArray *bytes = g_byte_array_new();
	guint32 state = 1;
	g_byte_array_set_size(bytes, (guint)n);
	for (gsize i = 0; i < n; i++) {
		state = state * 1664525 + 1013904223;
		bytes->data[i] = (guint8)(state >> 28);
	}
	return bytes;
}

static void
append(GByteArray *to, GByteArray *from)
{
	g_byte_array_append(to, from->data, from->len);
	g_byte_array_unref(from);
}

/* All that INPUT gives, by peeks of STEP bytes; *OUT_ERROR where it fails. */
static GByteArray *
read_all(WpInput *input, gsize step, GError **out_error)
{
	GByteArray *bytes = g_byte_array_new();
	for (;;) {
		const guint8 *data;
		gssize n = wp_input_peek(input, step, &data, out_error);
		if (n <= 0)
			return bytes;
		gsize use = MIN((gsize)n, step);
		g_byte_array_append(bytes, data, (guint)use);
		wp_input_consume(input, use);
	}
}

/* FILE must give what EXPECTED holds, whatever the size of the peeks. */
static void
check_reads(const GByteArray *file, const GByteArray *expected, gboolean is_cut)
{
	static const gsize steps[] = { 1, 16, 1500, 65536, 300000, 1000000 };
	g_autotemp *path = wp_temp_file_new("", file->data, file->len);

	for (gsize i = expected->len > 100000 ? 1 : 0; i < G_N_ELEMENTS(steps); i++) {
		g_autoptr(GError) error = NULL;
		guint64 n_read, size;
		g_autoptr(WpInput) input = wp_input_open(path, &error);
		ck_assert_ptr_nonnull(input);
		g_autoptr(GByteArray) bytes = read_all(input, steps[i], &error);
		ck_assert_ptr_null(error);
		ck_assert_uint_eq(bytes->len, expected->len);
		ck_assert(expected->len == 0 ||
			  memcmp(bytes->data, expected->data, bytes->len) == 0);
		ck_assert_int_eq(wp_input_is_cut(input), is_cut);
		wp_input_progress(input, &n_read, &size);
		ck_assert_uint_eq(n_read, file->len);
		ck_assert_uint_eq(size, file->len);
	}
}

START_TEST(plain)
{
	static const gsize sizes[] = { 0, 1, 3, 4, 5, 262143, 262144, 262145, N_BYTES };
	for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
		g_autoptr(GByteArray) bytes = make_bytes(sizes[i]);
		check_reads(bytes, bytes, FALSE);
	}
}
END_TEST

/* member(abc...) member() member(abc...) and zeros for padding: one stream of bytes. */
START_TEST(gzip_members)
{
	g_autoptr(GByteArray) bytes = make_bytes(N_BYTES);
	g_autoptr(GByteArray) file = wp_gzip_bytes(bytes->data, 400000);
	append(file, wp_gzip_bytes("", 0));
	append(file, wp_gzip_bytes(bytes->data + 400000, N_BYTES - 400000));
	check_reads(file, bytes, FALSE);
	g_byte_array_append(file, (const guint8[512]){ 0 }, 512);
	check_reads(file, bytes, FALSE);
}
END_TEST

/* skippable, frame, skippable, frame */
START_TEST(zstd_frames)
{
	g_autoptr(GByteArray) bytes = make_bytes(N_BYTES);
	g_autoptr(GByteArray) file = wp_zstd_skippable("index", 5);
	append(file, wp_zstd_bytes(bytes->data, 400000));
	append(file, wp_zstd_skippable("", 0));
	append(file, wp_zstd_bytes(bytes->data + 400000, N_BYTES - 400000));
	check_reads(file, bytes, FALSE);
}
END_TEST

/* The same of LZ4, whose skippable frames look like those of Zstandard. */
START_TEST(lz4_frames)
{
	g_autoptr(GByteArray) bytes = make_bytes(N_BYTES);
	g_autoptr(GByteArray) file = wp_lz4_bytes(bytes->data, 400000);
	append(file, wp_zstd_skippable("index", 5));
	append(file, wp_lz4_bytes("", 0));
	append(file, wp_lz4_bytes(bytes->data + 400000, N_BYTES - 400000));
	check_reads(file, bytes, FALSE);
}
END_TEST

/* Cut anywhere, a compressed file gives a beginning of its bytes and says that it was cut. */
static void
check_cuts(const GByteArray *file, const GByteArray *bytes)
{
	for (guint length = 12; length < file->len; length++) {
		g_autoptr(GError) error = NULL;
		g_autotemp *path = wp_temp_file_new("", file->data, length);
		g_autoptr(WpInput) input = wp_input_open(path, &error);
		ck_assert_ptr_nonnull(input);
		g_autoptr(GByteArray) read = read_all(input, 100, &error);
		ck_assert_ptr_null(error);
		ck_assert(wp_input_is_cut(input));
		ck_assert_uint_le(read->len, bytes->len);
		ck_assert(read->len == 0 || memcmp(read->data, bytes->data, read->len) == 0);
		if (length == file->len - 1)
			ck_assert_uint_eq(read->len, bytes->len);
	}
}

START_TEST(cut)
{
	g_autoptr(GByteArray) bytes = make_bytes(600);
	g_autoptr(GByteArray) gzip = wp_gzip_bytes(bytes->data, bytes->len);
	check_cuts(gzip, bytes);
	g_autoptr(GByteArray) lz4 = wp_lz4_bytes(bytes->data, bytes->len);
	check_cuts(lz4, bytes);
	/* A frame without a checksum is complete with its last block, so it is never complete short. */
	g_autoptr(GByteArray) zstd = wp_zstd_bytes(bytes->data, bytes->len);
	for (guint length = 4; length < zstd->len; length++) {
		g_autoptr(GError) error = NULL;
		g_autotemp *path = wp_temp_file_new("", zstd->data, length);
		g_autoptr(WpInput) input = wp_input_open(path, &error);
		g_autoptr(GByteArray) read = read_all(input, 100, &error);
		ck_assert_ptr_null(error);
		ck_assert(wp_input_is_cut(input));
		ck_assert(read->len == 0 || memcmp(read->data, bytes->data, read->len) == 0);
	}
}
END_TEST

/* Something else behind the last member is not lost without a word. */
START_TEST(garbage_behind)
{
	g_autoptr(GByteArray) bytes = make_bytes(600);
	g_autoptr(GByteArray) file = wp_gzip_bytes(bytes->data, bytes->len);
	g_byte_array_append(file, (const guint8 *)"garbage", 7);
	check_reads(file, bytes, TRUE);
}
END_TEST

/* A damaged file gives all before the damage, then an error that names it. */
START_TEST(damaged)
{
	g_autoptr(GByteArray) bytes = make_bytes(N_BYTES);
	static GByteArray *(*const packers[])(
		gconstpointer, gsize) = { wp_gzip_bytes, wp_zstd_bytes, wp_lz4_bytes };
	for (gsize codec = 0; codec < G_N_ELEMENTS(packers); codec++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GByteArray) file = packers[codec](bytes->data, bytes->len);
		for (guint i = file->len - 1000; i < file->len; i++)
			file->data[i] ^= 0x55;
		g_autotemp *path = wp_temp_file_new("", file->data, file->len);
		g_autoptr(WpInput) input = wp_input_open(path, &error);
		g_autoptr(GByteArray) read = read_all(input, 1, &error);
		ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_READ));
		ck_assert_ptr_nonnull(strstr(error->message, path));
		ck_assert_uint_gt(read->len, N_BYTES / 3);
		/* Between the damage and where it shows, anything may come out. */
		ck_assert(memcmp(read->data, bytes->data, N_BYTES / 3) == 0);
	}
}
END_TEST

/* What comes of a file that another thread decompresses: the begin of BYTES, and then CODE, 0 = none. */
static void
check_ahead(const GByteArray *file, const GByteArray *bytes, gboolean is_cut, int code)
{
	g_autoptr(GError) error = NULL, again = NULL;
	const guint8 *data;
	g_autotemp *path = wp_temp_file_new("", file->data, file->len);
	g_autoptr(WpInput) input = wp_input_open(path, &error);

	g_autoptr(GByteArray) read = read_all(input, 1, &error);
	ck_assert_uint_gt(read->len, bytes->len / 3);
	ck_assert(memcmp(read->data, bytes->data, code ? bytes->len / 3 : read->len) == 0);
	if (!code)
		ck_assert_int_eq(read->len == bytes->len, !is_cut);
	ck_assert_int_eq(wp_input_is_cut(input), is_cut);
	ck_assert(code ? g_error_matches(error, WP_CAPTURE_ERROR, code) : !error);
	ck_assert_int_eq(wp_input_peek(input, 1, &data, &again), code ? -1 : 0);
	ck_assert_int_eq(again != NULL, code != 0);
}

START_TEST(ahead)
{
	g_autoptr(GByteArray) bytes = make_bytes(4000000);
	static GByteArray *(*const packers[])(
		gconstpointer, gsize) = { wp_gzip_bytes, wp_zstd_bytes, wp_lz4_bytes };
	for (gsize codec = 0; codec < (gsize)wp_test_number(G_N_ELEMENTS(packers), 1); codec++) {
		const guint8 *data;
		g_autoptr(GByteArray) file = packers[codec](bytes->data, bytes->len);
		guint length = file->len;
		ck_assert_uint_ge(length, 1500000); /* enough for a thread, cut too */
		check_ahead(file, bytes, FALSE, 0);
		for (guint i = length - 1000; i < length; i++)
			file->data[i] ^= 0x55;
		check_ahead(file, bytes, FALSE, WP_CAPTURE_ERROR_READ);
		g_byte_array_set_size(file, length * 3 / 4);
		check_ahead(file, bytes, TRUE, 0);
		/* Nobody has to wait for the rest. */
		g_autotemp *path = wp_temp_file_new("", file->data, file->len);
		g_autoptr(WpInput) input = wp_input_open(path, NULL);
		ck_assert_int_ge(wp_input_peek(input, 10, &data, NULL), 10);
	}
}
END_TEST

static void
check_error(const char *path, int code)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(WpInput) input = wp_input_open(path, &error);
	ck_assert_ptr_null(input);
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, code));
	ck_assert_ptr_nonnull(strstr(error->message, path));
}

START_TEST(errors)
{
	check_error("/nonexistent/x.pcap", WP_CAPTURE_ERROR_OPEN);
	check_error("/", WP_CAPTURE_ERROR_FORMAT);
	g_autotemp *path = wp_temp_file_new("", "x", 1);
	ck_assert_int_eq(chmod(path, 0), 0);
	if (geteuid() != 0)
		check_error(path, WP_CAPTURE_ERROR_PERMISSION);
}
END_TEST

/* Small pieces from a pipe add up to what a peek asks for. */
START_TEST(pipe_in_pieces)
{
	int ends[2];
	const guint8 *data;

	ck_assert_int_eq(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		for (int i = 0; i < 100; i++)
			if (write(ends[1], "0123456789", 10) != 10)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	g_autofree char *path = g_strdup_printf("/dev/fd/%d", ends[0]);
	g_autoptr(WpInput) input = wp_input_open(path, NULL);
	ck_assert_ptr_nonnull(input);
	ck_assert_int_ge(wp_input_peek(input, 995, &data, NULL), 995);
	ck_assert(memcmp(data + 990, "01234", 5) == 0);
	ck_assert_int_eq(wp_input_peek(input, 2000, &data, NULL), 1000);
	close(ends[0]);
}
END_TEST

WP_SUITE("input", plain, gzip_members, zstd_frames, lz4_frames, cut, garbage_behind, damaged, ahead,
	 errors, pipe_in_pieces)
