/* The screen of a watch: what keys do to the page at hand. */
#include "report/watch-screen.h"

#include <string.h>

#include "capture/trace.h"
#include "tests/support/suite.h"

/* Three operations: most time first, as windows have them. */
static const WpViewOperation operations[] = {
	{ .client = "c", .node = "web", .label = "A", .count = 5, .latency = { .p95_ns = 2e6 } },
	{ .client = "c", .node = "web", .label = "B", .count = 9, .latency = { .p95_ns = 1e6 } },
	{ .client = "c",
	  .node = "web",
	  .label = "C",
	  .count = 1,
	  .errors = 1,
	  .latency = { .p95_ns = 9e6 } },
};

/* The labels in the order that the last page on OUT has them, or what stands in place of them. */
static const char *
seen(WpOut *out, char labels[8])
{
	const char *page = wp_out_string(out);
	gsize n = 0;

	for (const char *next; (next = strstr(page, "\033[H\033[J"));)
		page = next + 1;
	for (const char *at = page; *at && n < 7; at++)
		if (strncmp(at + 1, "  c ", 4) == 0 && *at >= 'A' && *at <= 'C')
			labels[n++] = *at;
	if (strstr(page, "HELD"))
		labels[n++] = '!';
	if (strstr(page, "hold this page"))
		labels[n++] = '?';
	labels[n] = '\0';
	return labels;
}

typedef struct {
	const char *keys;
	const char *labels; /* after them; ! held, ? the keys are told */
	guint32 top;
} Row;

static const Row rows[] = {
	{ "", "ABC", 15 },    { "s", "BAC", 15 },    { "ss", "CAB", 15 },
	{ "sss", "BCA", 15 }, { "ssss", "CAB", 15 }, { "sssss", "ABC", 15 },
	{ "p", "ABC", 15 },   { " ", "ABC!", 15 },   { "  ", "ABC", 15 },
	{ "h", "ABC?", 15 },  { "h?", "ABC", 15 },   { "x\033[A", "ABC", 15 },
	{ "s", "BA", 2 },
};

START_TEST(keys)
{
	const Row *row = &rows[_i];
	char labels[8];
	WpWatchRow shown[3] = { { &operations[0], 3, 0, WP_NO_TIME },
				{ &operations[1], 9, 4, WP_NO_TIME },
				{ &operations[2], 1, 2, WP_NO_TIME } };
	const WpWatchPage page = { .style = { .width = 100 }, .top = row->top };
	const WpWatchWindow window = { .n_rows = 3, .rows = shown };
	g_autoptr(WpOut) out = wp_out_new_memory();
	g_autoptr(WpWatchScreen) screen = wp_watch_screen_new(out, TRUE, FALSE);

	wp_watch_screen_window(screen, &page, &window);
	for (const char *key = row->keys; *key; key++)
		ck_assert(wp_watch_screen_key(screen, *key));
	ck_assert_msg(strcmp(seen(out, labels), row->labels) == 0, "%s: %s", row->keys, labels);
	ck_assert(!wp_watch_screen_key(screen, 'q'));
}
END_TEST

/* A page that is held stays when the next one comes; the number of rows is for the next one. */
START_TEST(next_page)
{
	char labels[8];
	WpWatchRow shown[3] = { { &operations[0], 3, 0, WP_NO_TIME },
				{ &operations[1], 9, 4, WP_NO_TIME },
				{ &operations[2], 1, 2, WP_NO_TIME } };
	const WpWatchPage page = { .style = { .width = 100 }, .top = 7 };
	WpWatchWindow window = { .n_rows = 3, .rows = shown };
	g_autoptr(WpOut) out = wp_out_new_memory();
	g_autoptr(WpWatchScreen) screen = wp_watch_screen_new(out, TRUE, FALSE);

	wp_watch_screen_window(screen, &page, &window);
	wp_watch_screen_key(screen, ' ');
	window.n_rows = 1;
	wp_watch_screen_window(screen, &page, &window);
	ck_assert_str_eq(seen(out, labels), "ABC!");
	wp_watch_screen_key(screen, ' ');
	wp_watch_screen_key(screen, '-');
	wp_watch_screen_key(screen, '-');
	window.n_rows = 3;
	wp_watch_screen_window(screen, &page, &window);
	ck_assert_str_eq(seen(out, labels), "A");
	wp_watch_screen_key(screen, '+');
	wp_watch_screen_window(screen, &page, &window);
	ck_assert_str_eq(seen(out, labels), "ABC");
}
END_TEST

/* What is in flight stands below the page once it is asked for; held, the page keeps what it has. */
START_TEST(in_flight)
{
	static const struct {
		gboolean shows;
		const char *keys; /* before the second text */
		const char *has, *lacks;
	} texts[] = {
		{ FALSE, "", "A  c", "in flight:" },
		{ TRUE, "", "in flight: two", "in flight: one" },
		{ FALSE, "i", "in flight: two", "in flight: one" },
		{ TRUE, "i", "A  c", "in flight:" },
		{ TRUE, " ", "in flight: one", "in flight: two" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		WpWatchRow shown[1] = { { &operations[0], 3, 0, WP_NO_TIME } };
		const WpWatchPage page = { .style = { .width = 100 }, .top = 7 };
		const WpWatchWindow window = { .n_rows = 1, .rows = shown };
		g_autoptr(WpOut) out = wp_out_new_memory();
		g_autoptr(WpWatchScreen) screen = wp_watch_screen_new(out, TRUE, texts[i].shows);
		wp_watch_screen_in_flight(screen, "in flight: one\n");
		wp_watch_screen_window(screen, &page, &window);
		for (const char *key = texts[i].keys; *key; key++)
			wp_watch_screen_key(screen, *key);
		wp_watch_screen_in_flight(screen, "in flight: two\n");
		const char *last = strrchr(wp_out_string(out), '\033');
		ck_assert_msg(strstr(last, texts[i].has) != NULL, "row %zu: %s", i, last);
		ck_assert_msg(strstr(last, texts[i].lacks) == NULL, "row %zu: %s", i, last);
	}
}
END_TEST

WP_SUITE_OF_ROWS("watch_screen", { keys, G_N_ELEMENTS(rows) }, { next_page, 0 }, { in_flight, 0 })
