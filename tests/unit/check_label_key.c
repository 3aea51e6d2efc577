/* Templates of cache keys. */
#include <string.h>

#include "capture/label.h"
#include "tests/support/suite.h"

START_TEST(templates)
{
	static const struct {
		const char *key;
		const char *label;
	} rows[] = {
		{ "user:42:cart", "user:{}:cart" },
		{ "user:42", "user:{}" },
		{ "counter", "counter" },
		{ "", "" },
		{ "item42", "item{}" },
		{ "shop/v2/item/42", "shop/v2/item/{}" },
		{ "session:7f3a9c21d4e5", "session:{}" },
		{ "session_7f3a9c21d4e5", "session_{}" },
		{ "sess:e06cf6f0-8caa-b80d-1234-56789abcdef0:x", "sess:{}:x" },
		{ "cache:page:2024-01-15", "cache:page:{}-{}-{}" },
		{ "tok:Ab3_x9-Zq7Kd", "tok:{}" },
		{ "tok:aQzTkXwB", "tok:{}" },
		{ "userProfile:lastSeenAt", "userProfile:lastSeenAt" },
		{ "mail:ann.lee+x@example.net:seen", "mail:{}:seen" },
		{ "{user1000}.following", "{user{}}.following" },
		{ "user-agent", "user-agent" },
		{ "deadbeefdeadbeef", "{}" },
		{ "feed:cafe", "feed:cafe" },
		{ "k:x2x9z", "k:{}" },
		{ "k:aaaaaaaaaabbbbbbbbbbccccccccccdd", "k:{}" },
		{ "a b", "a b" },
		{ "bin:\x01\x02\xff:x", "bin:{}:x" },
		{ "price:3.14", "price:{}.{}" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		char label[64];
		gsize n = wp_label_key(rows[i].key, strlen(rows[i].key), label, sizeof label);
		ck_assert_str_eq(label, rows[i].label);
		ck_assert_uint_eq(n, strlen(rows[i].label));
	}
}
END_TEST

/* Of any key no more than the buffer is written, and always a NUL. */
START_TEST(limits)
{
	static const char key[] = "user:42:a\0b:longer-than-any-buffer:7f3a9c21d4e5";
	for (gsize size = 1; size < 48; size++) {
		char label[64];
		memset(label, 'X', sizeof label);
		gsize n = wp_label_key(key, sizeof key - 1, label, size);
		ck_assert_uint_lt(n, size);
		ck_assert_int_eq(label[n], 0);
		for (gsize i = size; i < sizeof label; i++)
			ck_assert_int_eq(label[i], 'X');
	}
}
END_TEST

WP_SUITE("label-key", templates, limits)
