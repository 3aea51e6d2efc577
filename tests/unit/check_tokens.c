/* Which runs of bytes are tokens, and that their hashes tell equal from different. */
#include <string.h>

#include "capture/tokens.h"
#include "tests/support/suite.h"

static guint
scan(guint64 key, const char *text, guint32 *hashes, guint n)
{
	return wp_tokens_scan(key, (const guint8 *)text, strlen(text), hashes, n, 16);
}

START_TEST(what_is_a_token)
{
	static const struct {
		const char *text;
		guint n;
	} rows[] = {
		{ "", 0 },
		{ "GET /index.html HTTP", 0 }, /* no digit */
		{ "/item/4", 0 },              /* too short */
		{ "/item/42", 1 },             /* small shops number their goods so */
		{ "/item/4711", 1 },
		{ "id=a1b2-c3d4&x=y_900 id=a1b2-c3d4", 2 }, /* equal ones once */
		{ "1111 2222 3333 4444 5555 6666 7777 8888 9999 aaa1 aaa2 aaa3 aaa4 aaa5 aaa6 aaa7 "
		  "aaa8",
		  16 }, /* no more than there is room for */
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		guint32 hashes[16];
		ck_assert_uint_eq(scan(1, rows[i].text, hashes, 0), rows[i].n);
	}
}
END_TEST

/* 65 bytes are no token: long runs are payload, not names. */
START_TEST(long_runs)
{
	char text[66];
	guint32 hashes[16];
	memset(text, '7', sizeof text);
	text[65] = '\0';
	ck_assert_uint_eq(scan(1, text, hashes, 0), 0);
	text[64] = '\0';
	ck_assert_uint_eq(scan(1, text, hashes, 0), 1);
}
END_TEST

START_TEST(keyed)
{
	guint32 a[16], b[16], c[16];
	scan(1, "order 4711", a, 0);
	scan(1, "<4711>", b, 0);
	scan(2, "order 4711", c, 0);
	ck_assert_uint_eq(a[0], b[0]);
	ck_assert_uint_ne(a[0], c[0]);
	ck_assert_uint_ne(wp_tokens_key("a", -1), wp_tokens_key("b", -1));
}
END_TEST

/* An identifier has the value that it has elsewhere, and is marked; where it stands twice, too. */
START_TEST(identifiers)
{
	static const char text[] = "req-4711";
	guint32 plain[16], id[16], both[16];
	guint n = scan(1, text, plain, 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(wp_tokens_scan_ids(1, (const guint8 *)text, 8, id, 0, 16), 1);
	ck_assert_uint_eq(plain[0] | WP_TOKEN_IS_ID, id[0]);
	ck_assert_uint_eq(plain[0] & WP_TOKEN_IS_ID, 0);
	scan(1, text, both, 0);
	ck_assert_uint_eq(wp_tokens_scan_ids(1, (const guint8 *)text, 8, both, 1, 16), 1);
	ck_assert_uint_eq(both[0], id[0]);
	ck_assert_uint_eq(scan(1, text, both, 1), 1);
	ck_assert_uint_eq(both[0], id[0]);
}
END_TEST

/* A word is found wherever it and its digit stand, and nothing that only looks like a digit. */
START_TEST(everywhere)
{
	static const char nearly[] = "a/b:c\xb0\xb9;d\x80z";
	char text[80];
	guint32 alone[16], there[16];

	for (gsize length = 2; length <= 20; length++)
		for (gsize digit = 0; digit < length; digit++)
			for (gsize at = 0; at <= 20; at++) {
				memset(text, at % 2 ? '.' : 'x', sizeof text);
				memset(text + at, 'w', length);
				text[at + digit] = '7';
				if (at > 0)
					text[at - 1] = '=';
				text[at + length] = '\xb7';
				text[at + length + 3] = '\0';
				ck_assert_uint_eq(scan(1, text, there, 0), 1);
				text[at + length] = '\0';
				ck_assert_uint_eq(scan(1, text + at, alone, 0), 1);
				ck_assert_uint_eq(there[0], alone[0]);
			}
	ck_assert_uint_eq(scan(1, nearly, alone, 0), 0);
}
END_TEST

WP_SUITE("tokens", identifiers, what_is_a_token, long_runs, keyed, everywhere)
