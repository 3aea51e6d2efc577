/* Key logs, as programs and people write them. */
#include "capture/keylog.h"

#include <glib/gstdio.h>
#include <string.h>

#include "capture/trace.h"
#include "tests/support/suite.h"

#define RANDOM "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F"
#define HEX16  "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
#define HEX32  HEX16 HEX16
#define HEX48  HEX32 HEX16

static const guint8 random_bytes[32] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
					 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
					 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };

static const struct {
	const char *text;
	guint n_secrets;
	guint n_bad;
} rows[] = {
	{ "", 0, 0 },
	{ "\n\n# SSL/TLS secrets log file\n", 0, 0 },
	{ "CLIENT_RANDOM " RANDOM " " HEX48 "\n", 1, 0 },
	{ "CLIENT_RANDOM " RANDOM " " HEX48, 1, 0 },
	{ "  CLIENT_RANDOM\t" RANDOM "   " HEX48 " \r\n", 1, 0 },
	{ "CLIENT_RANDOM " RANDOM " " HEX48 "\nCLIENT_RANDOM " RANDOM " " HEX48 "\n", 1, 0 },
	{ "CLIENT_TRAFFIC_SECRET_0 " RANDOM " " HEX32 "\nSERVER_TRAFFIC_SECRET_0 " RANDOM " " HEX48
	  "\nEXPORTER_SECRET " RANDOM " " HEX32 "\n",
	  2, 0 },
	{ "CLIENT_RANDOM " RANDOM " " HEX32 "\n", 0, 1 },
	{ "CLIENT_RANDOM " RANDOM "\nCLIENT_RANDOM\n", 0, 2 },
	{ "CLIENT_RANDOM 00" RANDOM " " HEX48 "\n", 0, 1 },
	{ "CLIENT_RANDOM " RANDOM " " HEX48 HEX48 "\n", 0, 1 },
	{ "CLIENT_RANDOM " RANDOM " " HEX32 HEX16 "0\n", 0, 1 },
	{ "CLIENT_RANDOM x" HEX32 "x " HEX48 "\n", 0, 1 },
	{ "client_random " RANDOM " " HEX48 "\n\x01\xff\n", 0, 2 },
};

START_TEST(lines)
{
	g_autoptr(WpKeylog) keylog = wp_keylog_new();
	/* An exact copy, so that a read past its end is seen by the sanitizers. */
	gsize length = strlen(rows[_i].text);
	g_autofree char *copy = g_memdup2(rows[_i].text, MAX(length, 1));
	wp_keylog_add(keylog, copy, length);
	ck_assert_int_eq(wp_keylog_n_secrets(keylog), rows[_i].n_secrets);
	ck_assert_int_eq(wp_keylog_n_bad(keylog), rows[_i].n_bad);
	ck_assert(wp_keylog_has(keylog, random_bytes) == (rows[_i].n_secrets > 0));
}
END_TEST

START_TEST(finding)
{
	g_autoptr(WpKeylog) keylog = wp_keylog_new();
	static const char text[] = "SERVER_TRAFFIC_SECRET_0 " RANDOM " " HEX32 "\n";
	guint8 other[32];
	memcpy(other, random_bytes, sizeof other);
	other[31]++;
	wp_keylog_add(keylog, text, strlen(text));
	const WpSecret *found = wp_keylog_find(keylog, WP_KEY_SERVER_TRAFFIC, random_bytes);
	ck_assert(found != NULL);
	ck_assert_int_eq(found->length, 32);
	ck_assert_int_eq(found->bytes[0], 0xa0);
	ck_assert_int_eq(found->bytes[31], 0xaf);
	ck_assert(wp_keylog_find(keylog, WP_KEY_CLIENT_TRAFFIC, random_bytes) == NULL);
	ck_assert(wp_keylog_find(keylog, WP_KEY_SERVER_TRAFFIC, other) == NULL);
}
END_TEST

/* A file that is something else is refused; one that is empty yet is not. */
START_TEST(files)
{
	g_autoptr(WpKeylog) keylog = wp_keylog_new();
	g_autoptr(GError) error = NULL;
	g_autofree char *folder = g_dir_make_tmp("wp-keylog-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(folder, "keys", NULL);

	ck_assert(!wp_keylog_add_file(keylog, path, &error));
	ck_assert_int_eq(error->code, WP_CAPTURE_ERROR_OPEN);
	g_clear_error(&error);
	g_file_set_contents(path, "", 0, NULL);
	ck_assert(wp_keylog_add_file(keylog, path, &error));
	g_file_set_contents(path, "-----BEGIN PRIVATE KEY-----\n", -1, NULL);
	ck_assert(!wp_keylog_add_file(keylog, path, &error));
	ck_assert_int_eq(error->code, WP_CAPTURE_ERROR_FORMAT);
	g_remove(path);
	g_rmdir(folder);
}
END_TEST

WP_SUITE_OF_ROWS("keylog", { lines, G_N_ELEMENTS(rows) }, { finding, 0 }, { files, 0 })
