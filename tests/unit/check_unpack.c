/* Unpacking of prefixes. */
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "capture/unpack.h"
#include "tests/support/suite.h"

typedef gsize (*Unpack)(WpBytes in, guint8 *buffer, gsize size);

/* Every cut of the input and every size of the output give a prefix of the same text. */
static void
check_prefixes(Unpack unpack, const guint8 *packed, gsize n, const char *text)
{
	gsize length = strlen(text);
	for (gsize cut = 0; cut <= n; cut++) {
		g_autofree guint8 *copy = g_memdup2(packed, cut);
		for (gsize size = 0; size <= length + 2; size++) {
			g_autofree guint8 *buffer = g_malloc(size + 1);
			gsize got = unpack(wp_bytes(copy, cut), buffer, size);
			ck_assert_uint_le(got, MIN(size, length));
			ck_assert(memcmp(buffer, text, got) == 0);
			if (cut == n)
				ck_assert_uint_eq(got, MIN(size, length));
		}
	}
}

static const char text[] = "the cat and the cat and the cat saw the dog and the cat and the dog";

START_TEST(libraries)
{
	guint8 packed[256];
	uLongf n = sizeof packed;
	ck_assert_int_eq(compress(packed, &n, (const Bytef *)text, strlen(text)), Z_OK);
	check_prefixes(wp_unpack_zlib, packed, n, text);
	gsize m = ZSTD_compress(packed, sizeof packed, text, strlen(text), 3);
	ck_assert(!ZSTD_isError(m));
	check_prefixes(wp_unpack_zstd, packed, m, text);
}
END_TEST

/* By hand from the two formats: a literal, then copies of what stands before. */
START_TEST(blocks)
{
	static const guint8 snappy[] = "\x0e"
				       "\x0c"
				       "abcd"            /* literal of 4 */
				       "\x01\x04"        /* copy of 4, offset 4 */
				       "\x0a\x02\x00"    /* copy of 3, offset 2 */
				       "\x0b\x01\0\0\0"; /* copy of 3, offset 1 */
	check_prefixes(wp_unpack_snappy, snappy, sizeof snappy - 1, "abcdabcdcdcccc");
	static const guint8 lz4[] = "\x40"
				    "abcd"
				    "\x04\x00" /* literal of 4, copy of 4 */
				    "\x1f"
				    "e"
				    "\x01\x00\x02" /* literal of 1, copy of 4 + 17 */
				    "\x20"
				    "fg"; /* the last has no copy */
	check_prefixes(wp_unpack_lz4, lz4, sizeof lz4 - 1, "abcdabcdeeeeeeeeeeeeeeeeeeeeeefg");
}
END_TEST

/* Offsets before the begin, lengths without end. */
START_TEST(nonsense)
{
	guint8 buffer[64];
	static const char *const rows[] = { "\x09\x01\x04", "\x04\xff\xff\xff\xff\xff\xff",
					    "\xf0\xff\xff", "\020a\x05" };
	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpBytes in = wp_bytes((const guint8 *)rows[i], strlen(rows[i]));
		ck_assert_uint_le(wp_unpack_snappy(in, buffer, sizeof buffer), sizeof buffer);
		ck_assert_uint_le(wp_unpack_lz4(in, buffer, sizeof buffer), sizeof buffer);
		ck_assert_uint_eq(wp_unpack_zlib(in, buffer, sizeof buffer), 0);
		ck_assert_uint_eq(wp_unpack_zstd(in, buffer, sizeof buffer), 0);
	}
}
END_TEST

WP_SUITE("unpack", libraries, blocks, nonsense)
