/* WpDoubles: copies and what only looks like one. */
#include <string.h>

#include "capture/doubles.h"
#include "tests/support/suite.h"

#define US G_GINT64_CONSTANT(1000)
#define MS G_GINT64_CONSTANT(1000000)

static gboolean
check(WpDoubles *doubles, guint64 key, guint64 way, gint64 time_ns, gboolean is_weak)
{
	WpDoublesPacket packet = { wp_doubles_mix(1, key), way, time_ns, is_weak };
	return wp_doubles_check(doubles, &packet);
}

/* A strong key again within 20 ms is a copy, whichever way and however often; later it is not. */
START_TEST(strong)
{
	static const struct {
		guint64 key;
		guint64 way;
		gint64 time_ns;
		gboolean is_copy;
	} rows
		[] = {
			{ 1, 0, 100 * MS, FALSE }, { 1, 0, 100 * MS, TRUE },
			{ 2, 0, 101 * MS, FALSE }, { 1, 5, 119 * MS, TRUE },
			{ 2, 0, 99 * MS, TRUE }, /* time may run backwards a little */
			{ 1, 0, 121 * MS, FALSE }, { 1, 0, 122 * MS, TRUE },
		};
	g_autoptr(WpDoubles) doubles = wp_doubles_new();
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_int_eq(check(doubles, rows[i].key, rows[i].way, rows[i].time_ns, FALSE),
				 rows[i].is_copy);
}
END_TEST

/* In a clean capture weak keys are never copies, but where they came another way. */
START_TEST(weak_in_clean_capture)
{
	g_autoptr(WpDoubles) doubles = wp_doubles_new();
	for (guint64 i = 0; i < 50000; i++) {
		gint64 now = (gint64)i * 100 * US;
		ck_assert(!check(doubles, i, 0, now, FALSE));
		ck_assert(!check(doubles, 1 << 20, 0, now, TRUE)); /* a heartbeat */
		if (i % 100 == 0) {
			ck_assert(!check(doubles, (2 << 20) + i, 0, now, TRUE));
			ck_assert(!check(doubles, (2 << 20) + i, 0, now + 5 * US, TRUE));
			ck_assert(check(doubles, (2 << 20) + i, 1, now + 6 * US, TRUE));
		}
	}
}
END_TEST

/*
 * Strong copies show that the mirror doubles, and how late: 30 us. Weak ones are copies at that distance
 * and one of each; what comes later, or a third time, was sent again.
 */
START_TEST(weak_learns_from_strong)
{
	g_autoptr(WpDoubles) doubles = wp_doubles_new();
	gint64 now = 0;
	for (guint64 i = 0; i < 3; i++, now += 100 * US) {
		ck_assert(!check(doubles, i, 0, now, FALSE));
		ck_assert(check(doubles, i, 0, now + 30 * US, FALSE));
	}
	for (guint64 i = 100; i < 200; i++, now += MS) {
		ck_assert(!check(doubles, i, 0, now, TRUE));
		ck_assert(check(doubles, i, 0, now + 30 * US, TRUE));
		ck_assert(!check(doubles, i, 0, now + 200 * US, TRUE));
		ck_assert(check(doubles, i, 0, now + 230 * US, TRUE));
	}
	/* Sent again at once: three sightings make two datagrams, of which one has a copy. */
	ck_assert(!check(doubles, 1000, 0, now, TRUE));
	ck_assert(check(doubles, 1000, 0, now + 10 * US, TRUE));
	ck_assert(!check(doubles, 1000, 0, now + 20 * US, TRUE));
}
END_TEST

/* A third of the packets doubled is enough. */
START_TEST(some_doubled)
{
	g_autoptr(WpDoubles) doubles = wp_doubles_new();
	for (guint64 i = 0; i < 3000; i++) {
		gint64 now = (gint64)i * 100 * US;
		gboolean is_weak = i % 2;
		ck_assert(!check(doubles, i, 0, now, is_weak));
		if (i % 3 == 0)
			ck_assert(check(doubles, i, 0, now + 3 * US, is_weak));
	}
}
END_TEST

/* With weak keys alone, a mirror that doubles is known after a few packets. */
START_TEST(weak_alone)
{
	g_autoptr(WpDoubles) doubles = wp_doubles_new();
	guint n_missed = 0;
	for (guint64 i = 0; i < 1000; i++) {
		gint64 now = (gint64)i * 100 * US;
		ck_assert(!check(doubles, i, 0, now, TRUE));
		n_missed += !check(doubles, i, 0, now + 3 * US, TRUE);
	}
	ck_assert_uint_le(n_missed, 8);
}
END_TEST

/* Lines of a log that say the same every 5 ms, each with its copy, do not hide that the mirror doubles. */
START_TEST(weak_lines)
{
	g_autoptr(WpDoubles) doubles = wp_doubles_new();
	guint n_missed = 0;
	for (guint64 i = 0; i < 1000; i++) {
		gint64 now = (gint64)i * 5 * MS;
		ck_assert(!check(doubles, i / 100, 0, now, TRUE));
		n_missed += !check(doubles, i / 100, 0, now + 3 * US, TRUE);
	}
	ck_assert_uint_le(n_missed, 8);
}
END_TEST

/* What the first packets showed is known for the first of them. */
START_TEST(expected)
{
	g_autoptr(WpDoubles) learned = wp_doubles_new();
	g_autoptr(WpDoubles) doubles = wp_doubles_new();
	for (guint64 i = 0; i < 20; i++) {
		check(learned, i, 0, (gint64)i * MS, TRUE);
		check(learned, i, 0, (gint64)i * MS + 3 * US, TRUE);
	}
	wp_doubles_expect(doubles, learned);
	ck_assert(!check(doubles, 0, 0, 0, TRUE));
	ck_assert(check(doubles, 0, 0, 3 * US, TRUE));
}
END_TEST

/* A program that sends the same again and again is no mirror. */
START_TEST(program_that_repeats)
{
	g_autoptr(WpDoubles) doubles = wp_doubles_new();
	for (guint64 i = 0; i < 5000; i++) {
		gint64 now = (gint64)i * 20 * US;
		ck_assert(!check(doubles, i % 4, 0, now, TRUE));
		if (i % 100 == 0)
			ck_assert(!check(doubles, 1000 + i, 0, now, TRUE));
	}
}
END_TEST

/* Thousands of packets may come between a packet and its copy. */
START_TEST(many_between)
{
	g_autoptr(WpDoubles) doubles = wp_doubles_new();
	guint n_found = 0;
	for (guint64 i = 0; i < 20000; i++) {
		check(doubles, i, 0, (gint64)i * US, FALSE);
		if (i >= 3000)
			n_found += check(doubles, i - 3000, 0, (gint64)i * US, FALSE);
	}
	ck_assert_uint_ge(n_found, 16000);
}
END_TEST

/* Every byte and the length count. */
START_TEST(hash_of_bytes)
{
	guint8 data[100] = { 0 };
	g_autoptr(GHashTable) seen =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (gsize length = 0; length <= sizeof data; length++) {
		guint64 hash = wp_doubles_mix_bytes(7, data, length);
		ck_assert(g_hash_table_add(seen, g_memdup2(&hash, sizeof hash)));
	}
	for (gsize i = 0; i < sizeof data; i++) {
		data[i] = 1;
		guint64 hash = wp_doubles_mix_bytes(7, data, sizeof data);
		ck_assert(g_hash_table_add(seen, g_memdup2(&hash, sizeof hash)));
		data[i] = 0;
	}
}
END_TEST

/* As it is defined: two words a step, zeros behind the last byte, whatever stands there. */
START_TEST(hash_by_words)
{
	guint8 data[64];
	for (gsize length = 0; length <= 48; length++) {
		guint64 hash = 7, second = 7 ^ length;
		for (gsize i = 0; i < sizeof data; i++)
			data[i] = (guint8)(201 * i + 77);
		for (gsize at = 0; at <= length; at += 16) {
			guint64 words[2] = { 0 };
			memcpy(words, data + at, MIN(sizeof words, length - at));
			hash = wp_doubles_mix(hash, GUINT64_FROM_LE(words[0]));
			second = wp_doubles_mix(second, GUINT64_FROM_LE(words[1]));
		}
		ck_assert_uint_eq(wp_doubles_mix_bytes(7, data, length),
				  wp_doubles_mix(hash, second));
	}
}
END_TEST

WP_SUITE("doubles", strong, weak_in_clean_capture, weak_learns_from_strong, some_doubled,
	 weak_alone, weak_lines, expected, program_that_repeats, many_between, hash_of_bytes,
	 hash_by_words)
