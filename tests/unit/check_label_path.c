/* Path templates: what stays, what becomes {}. */
#include "capture/label.h"

#include <string.h>

#include "tests/support/suite.h"

static void
expect(const char *path, const char *label)
{
	char buffer[120];
	gsize n = wp_label_path(path, strlen(path), buffer, sizeof buffer);
	ck_assert_str_eq(buffer, label);
	ck_assert_uint_eq(n, strlen(label));
}

typedef struct {
	const char *path;
	const char *label;
} Row;

#define EXPECT_ROWS(rows)                                                                          \
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)                                             \
	expect(rows[i].path, rows[i].label)

/* The frame: query, fragment, origin, slashes, matrix parameters. */
START_TEST(frame)
{
	static const Row rows[] = {
		{ "/", "/" },
		{ "", "/" },
		{ "*", "*" },
		{ "/item/42/x?y=1", "/item/{}/x" },
		{ "/?q=secret", "/" },
		/* One script for all: the parameter that names the operation stays. */
		{ "/index.php?page=cart&id=7", "/index.php?page=cart" },
		{ "/index.php?id=7&action=add/item", "/index.php?action=add/item" },
		{ "/?p=list", "/?p=list" },
		{ "/?p=4711", "/" },
		{ "/index.php?page=", "/index.php" },
		{ "/index.php?name=alice&page=Alice+Smith", "/index.php" },
		{ "/index.php?pages=cart&page=averylongvaluethatisnotaword", "/index.php" },
		{ "/shop?page=cart", "/shop" },
		{ "/a#top", "/a" },
		{ "http://shop.lan:8080/item/7?x", "/item/{}" },
		{ "http://shop.lan", "/" },
		{ "http://shop.lan?x=/y", "/" },
		{ "//a///b", "/a/b" },
		{ "/a/", "/a/" },
		{ "/a//", "/a/" },
		{ "//", "/" },
		{ "/a;jsessionid=0A1B2C/b;v=1?x", "/a/b" },
		{ "/;x", "/" },
		{ "no/slash/7", "/no/slash/{}" },
	};
	EXPECT_ROWS(rows);
}
END_TEST

/* Words, versions, names with a figure stay. */
START_TEST(words_stay)
{
	static const Row rows[] = {
		{ "/api/v1/users", "/api/v1/users" },
		{ "/v12/x", "/v12/x" },
		{ "/v1.24/containers/json", "/v1.24/containers/json" },
		{ "/v2.0.1", "/v2.0.1" },
		{ "/api2/oauth2callback", "/api2/oauth2callback" },
		{ "/checkout/step2", "/checkout/step2" },
		{ "/i18n/k8s/log4j/a11y", "/i18n/k8s/log4j/a11y" },
		{ "/sha256/base64/x509", "/sha256/base64/x509" },
		{ "/2fa/3d", "/2fa/3d" },
		{ "/getUserProfileById", "/getUserProfileById" },
		{ "/shop.CartService/AddItemV2", "/shop.CartService/AddItemV2" },
		{ "/XMLHttpRequest", "/XMLHttpRequest" },
		{ "/wp-content/themes/two_columns", "/wp-content/themes/two_columns" },
		{ "/index.php", "/index.php" },
		{ "/facade/decade/added", "/facade/decade/added" },
		{ "/.well-known/openid-configuration", "/.well-known/openid-configuration" },
		{ "/@scope/pkg", "/@scope/pkg" },
		{ "/~root/x", "/~root/x" },
		{ "/en-US/docs", "/en-US/docs" },
		{ "/a/./b/../c", "/a/./b/../c" },
	};
	EXPECT_ROWS(rows);
}
END_TEST

/* Numbers, hashes, identifiers, dates go. */
START_TEST(values_go)
{
	static const Row rows[] = {
		{ "/users/7", "/users/{}" },
		{ "/users/-7", "/users/{}" },
		{ "/order-1234/x", "/order-{}/x" },
		{ "/order1234", "/order{}" },
		{ "/u/550e8400-e29b-41d4-a716-446655440000", "/u/{}" },
		{ "/u/deadbeef-cafe-babe-face-abcdefabcdef", "/u/{}" },
		{ "/c/3f2a9c", "/c/{}" },
		{ "/c/d41d8cd98f00b204e9800998ecf8427e", "/c/{}" },
		{ "/c/abcdefabcdefabcd", "/c/{}" },
		{ "/w/dQw4w9WgXcQ", "/w/{}" },
		{ "/w/aQzTkXwB", "/w/{}" },
		{ "/asin/B07XJ8C8F5", "/asin/{}" },
		{ "/t/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/t/{}" },
		{ "/t/aB3x-Yz_9kQmW7pL2-vN", "/t/{}" },
		{ "/day/2024-05-01", "/day/{}" },
		{ "/at/2024-05-01T10:00:00Z", "/at/{}" },
		{ "/at/20240501T101500Z", "/at/{}" },
		{ "/host/10.0.0.1", "/host/{}" },
		{ "/geo/-33.8,151.2", "/geo/{}" },
		{ "/2024/05/01/title", "/{}/{}/{}/title" },
		{ "/user:42:cart", "/user:{}:cart" },
		{ "/page=2", "/page={}" },
		{ "/lib@4.17.21/x.js", "/lib@{}/x.js" },
		{ "/Users(42)/name", "/Users({})/name" },
		{ "/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN", "/{}" },
	};
	EXPECT_ROWS(rows);
}
END_TEST

/* The extension tells what it is; a hash in the name goes. */
START_TEST(files)
{
	static const Row rows[] = {
		{ "/app.js", "/app.js" },
		{ "/app.3f2a9c.js", "/app.{}.js" },
		{ "/12345.jpg", "/{}.jpg" },
		{ "/img_0042.jpeg", "/img_{}.jpeg" },
		{ "/chunk-vendors.8f3b1c2d.min.css", "/chunk-vendors.{}.min.css" },
		{ "/jquery-3.6.0.min.js", "/jquery-{}.min.js" },
		{ "/font.woff2", "/font.woff2" },
		{ "/live/720.m3u8", "/live/{}.m3u8" },
		{ "/song.mp3", "/song.mp3" },
		{ "/report.2024", "/report.{}" },
		{ "/backup.tar.gz", "/backup.tar.gz" },
		{ "/d41d8cd98f00b204e9800998ecf8427ed41d8cd98f00b204e980.png", "/{}.png" },
	};
	EXPECT_ROWS(rows);
}
END_TEST

/* What people typed is not shown, in whatever encoding. */
START_TEST(free_text)
{
	static const Row rows[] = {
		{ "/search/red%20shoes", "/search/{}" },
		{ "/wiki/%C3%89cole", "/wiki/{}" },
		{ "/wiki/\xc3\x89"
		  "cole",
		  "/wiki/{}" },
		{ "/mail/jane.doe@example.com", "/mail/{}" },
		{ "/mail/jane.doe%40example.com", "/mail/{}" },
		{ "/Users('jane')", "/{}" },
		{ "/blog/how-to-brew-good-coffee-at-home", "/blog/{}" },
		{ "/blog/how-to-brew-good-coffee-at-home.html", "/blog/{}.html" },
		{ "/%41pi/us%65rs", "/Api/users" },
		{ "/queues/%2F/name", "/queues/%2F/name" },
		{ "/a%2fb", "/a%2fb" },
		{ "/100%25", "/{}%25" },
		{ "/bad%zz%4", "/bad%zz%4" },
		{ "/a%00b/\x01", "/{}/{}" },
	};
	EXPECT_ROWS(rows);
}
END_TEST

/* Long paths end in "/...", and never in the middle of a segment. */
START_TEST(long_paths)
{
	expect("/a/b/c/d/e/f/g/h", "/a/b/c/d/e/f/g/h");
	expect("/a/b/c/d/e/f/g/h/i/j", "/a/b/c/d/e/f/g/h/...");
	expect("/abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", "/{}");

	static const char path[] = "/alpha/beta/gamma";
	static const struct {
		gsize size;
		const char *label;
	} rows[] = {
		{ 5, "/..." },
		{ 10, "/..." },
		{ 11, "/alpha/..." },
		{ 15, "/alpha/..." },
		{ 16, "/alpha/beta/..." },
		{ 21, "/alpha/beta/..." },
		{ 22, "/alpha/beta/gamma" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		char buffer[32];
		memset(buffer, '!', sizeof buffer);
		wp_label_path(path, strlen(path), buffer, rows[i].size);
		ck_assert_str_eq(buffer, rows[i].label);
		ck_assert_int_eq(buffer[rows[i].size], '!');
	}
}
END_TEST

/* Any bytes give a short line of printable ASCII, the same each time. */
START_TEST(any_bytes)
{
	guint32 seed = 1;
	for (int round = 0; round < 20000; round++) {
		char path[200], one[64], two[64];
		gsize n = 0;
		do {
			seed = seed * 1664525 + 1013904223;
			path[n++] =
				round % 2 ? (char)(seed >> 24) : "/%.-_a0Z9@;="[(seed >> 24) % 12];
		} while (n < sizeof path && (seed >> 16) % 50);
		gsize length = wp_label_path(path, n, one, sizeof one);
		ck_assert_uint_eq(length, strlen(one));
		for (gsize i = 0; i < length; i++)
			ck_assert(g_ascii_isgraph(one[i]));
		wp_label_path(path, n, two, sizeof two);
		ck_assert_str_eq(one, two);
	}
}
END_TEST

WP_SUITE("label-path", frame, words_stay, values_go, files, free_text, long_paths, any_bytes)
