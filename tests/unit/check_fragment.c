/* WpFragments: datagrams put together from pieces in any order. */
#include "capture/fragment.h"

#include <string.h>

#include "tests/support/suite.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

/* A step "id offset-end[+] [snap N] [at SECONDS] [mark C]": '+' = more follow; C = its bytes. */
static gboolean
add(WpFragments *fragments, const char *step, GString *out)
{
	guint8 data[65536];
	WpFragment fragment = { .protocol = 17, .data = data };
	g_auto(GStrv) words = g_strsplit(step, " ", -1);
	const guint8 *whole;
	guint32 length, captured;

	fragment.id = (guint32)g_ascii_strtoull(words[0], NULL, 10);
	char *rest;
	fragment.offset = (guint32)g_ascii_strtoull(words[1], &rest, 10);
	guint64 end = g_ascii_strtoull(rest + 1, &rest, 10);
	fragment.more = *rest == '+';
	fragment.length = fragment.captured = (guint32)(end - fragment.offset);
	for (guint i = 0; i < MIN(fragment.length, sizeof data); i++)
		data[i] = (guint8)(fragment.offset + i);
	for (guint w = 2; words[w]; w += 2) {
		if (strcmp(words[w], "snap") == 0)
			fragment.captured = (guint32)g_ascii_strtoull(words[w + 1], NULL, 10);
		else if (strcmp(words[w], "at") == 0)
			fragment.time_ns = g_ascii_strtoll(words[w + 1], NULL, 10) * SECOND;
		else
			memset(data, words[w + 1][0], MIN(fragment.length, sizeof data));
	}
	if (!wp_fragments_add(fragments, &fragment, &whole, &length, &captured))
		return FALSE;
	g_string_append_printf(out, "%u %u/%u", fragment.id, captured, length);
	for (guint32 i = 0; i < captured; i++)
		if (whole[i] != (guint8)i) {
			g_string_append_printf(out, " %c at %u", whole[i], i);
			break;
		}
	return TRUE;
}

/* The steps of a row, separated by ';', and what comes out: "id captured/length" of each datagram. */
START_TEST(steps)
{
	static const struct {
		const char *steps;
		const char *expected;
		guint lost;
	} rows[] = {
		{ "1 0-16+;1 16-20", "1 20/20", 0 },
		{ "1 16-20;1 0-16+", "1 20/20", 0 },
		{ "1 0-8+;1 16-24+;1 24-31;1 8-16+", "1 31/31", 0 },
		{ "1 0-8+;2 0-8+;2 8-9;1 8-9", "2 9/9 1 9/9", 0 },
		{ "1 0-16+;1 24-32", "", 2 },
		/* overlaps: the first wins */
		{ "1 0-16+;1 8-24+ mark X;1 24-32", "1 32/32 X at 16", 0 },
		{ "1 8-24+ mark X;1 0-16+;1 24-32", "1 32/32 X at 8", 0 },
		/* the same again changes nothing */
		{ "1 0-8+;1 0-8+;1 8-9", "1 9/9", 0 },
		/* captured in part */
		{ "1 0-16+ snap 4;1 16-20", "1 4/20", 0 },
		{ "1 0-16+;1 16-24 snap 2", "1 18/24", 0 },
		{ "1 16-24 snap 0;1 0-16+ snap 10", "1 10/24", 0 },
		/* impossible: no bytes, no multiple of eight, beyond 64 KiB, beyond the end, two ends */
		{ "1 0-0+;1 0-9+;1 65528-65536;1 0-8+;1 8-9", "1 9/9", 3 },
		/* an end beyond 32 bits is beyond, not before the beginning */
		{ "1 16-4294967304+ snap 0;1 0-8+;1 8-9", "1 9/9", 1 },
		{ "1 0-16;1 0-8+;1 0-24", "1 16/16 1 24/24", 0 },
		{ "1 8-16;1 16-24;1 8-24+;1 0-8+", "1 16/16", 2 },
		{ "1 16-24+;1 0-16", "", 2 },
		/* 30 s later it is another datagram */
		{ "1 0-8+;1 8-9 at 31;1 0-8+ at 32", "1 9/9", 1 },
		{ "1 0-8+;1 8-9 at 30", "1 9/9", 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpCounters) counters = wp_counters_new();
		g_autoptr(WpFragments) fragments = wp_fragments_new(counters);
		g_autoptr(GString) got = g_string_new(NULL);
		g_auto(GStrv) list = g_strsplit(rows[i].steps, ";", -1);
		for (guint s = 0; list[s]; s++) {
			if (got->len && got->str[got->len - 1] != ' ')
				g_string_append_c(got, ' ');
			add(fragments, list[s], got);
		}
		g_strchomp(got->str);
		ck_assert_msg(strcmp(got->str, rows[i].expected) == 0, "row %zu: %s", i, got->str);
		ck_assert_msg(wp_counters_get(counters, WP_COUNT_FRAGMENTS_LOST) == rows[i].lost,
			      "row %zu", i);
		ck_assert_uint_eq(wp_counters_get(counters, WP_COUNT_FRAGMENTS),
				  g_strv_length(list));
	}
}
END_TEST

/* A flood of beginnings takes bounded memory, and the newest datagrams still come together. */
START_TEST(flood)
{
	g_autoptr(WpCounters) counters = wp_counters_new();
	g_autoptr(WpFragments) fragments = wp_fragments_new(counters);
	g_autoptr(GString) got = g_string_new(NULL);
	for (guint i = 0; i < 3000; i++) {
		g_autofree char *step = g_strdup_printf("%u 64000-64008+ at %u", i, i / 1000);
		ck_assert(!add(fragments, step, got));
	}
	ck_assert(!add(fragments, "5000 0-8+ at 3", got));
	ck_assert(add(fragments, "5000 8-16 at 3", got));
	ck_assert_str_eq(got->str, "5000 16/16");
	ck_assert_uint_eq(wp_counters_get(counters, WP_COUNT_FRAGMENTS_LOST), 3000);
}
END_TEST

WP_SUITE("fragment", steps, flood)
