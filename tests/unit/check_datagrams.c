/* Datagrams that wait: order, limits, bytes. */
#include "capture/datagrams.h"

#include <string.h>

#include "tests/support/suite.h"

static void
add(WpDatagrams *datagrams, gint64 time_ns, guint64 number, guint32 length)
{
	g_autofree guint8 *bytes = g_malloc(MAX(length, 1));
	memset(bytes, (int)number, length);
	WpSegment segment = { .time_ns = time_ns,
			      .number = number,
			      .payload = bytes,
			      .captured = length,
			      .length = length,
			      .is_udp = TRUE };
	wp_datagrams_add(datagrams, &segment, number);
}

/* Takes what is due and checks the bytes; 0: nothing. */
static guint64
take(WpDatagrams *datagrams, gint64 until_ns, guint64 until_number)
{
	const WpSegment *segment = wp_datagrams_take(datagrams, until_ns, until_number);
	for (guint32 i = 0; segment && i < segment->captured; i++)
		ck_assert_uint_eq(segment->payload[i], (guint8)segment->number);
	return segment ? segment->number : 0;
}

/* By time; equal times as they came; both time and number must be due. */
START_TEST(order)
{
	g_autoptr(WpDatagrams) datagrams = wp_datagrams_new();
	add(datagrams, 50, 1, 10);
	add(datagrams, 30, 2, 3000);
	add(datagrams, 50, 3, 0);
	add(datagrams, 40, 4, 600);
	ck_assert_uint_eq(take(datagrams, 29, 100), 0);
	ck_assert_uint_eq(take(datagrams, 40, 1), 0);
	ck_assert_uint_eq(take(datagrams, 40, 2), 2);
	ck_assert_uint_eq(take(datagrams, 40, 100), 4);
	ck_assert_uint_eq(take(datagrams, 40, 100), 0);
	add(datagrams, 45, 5, 700);
	ck_assert_uint_eq(take(datagrams, 50, 100), 5);
	ck_assert_uint_eq(take(datagrams, 50, 100), 1);
	ck_assert_uint_eq(take(datagrams, 50, 100), 3);
	ck_assert_uint_eq(take(datagrams, 50, 100), 0);
}
END_TEST

/* Too many, or too many bytes: the earliest is due at once, and no more than needed. */
START_TEST(limits)
{
	static const guint32 sizes[] = { 8, 60000 };
	for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
		g_autoptr(WpDatagrams) datagrams = wp_datagrams_new();
		guint64 n = 0;
		while (!take(datagrams, 0, 0))
			add(datagrams, 100, ++n, sizes[i]);
		ck_assert_uint_le(n, WP_DATAGRAMS_MAX + 1);
		ck_assert_uint_le(n * sizes[i], WP_DATAGRAMS_MAX_BYTES + 2 * sizes[i]);
		ck_assert_uint_eq(take(datagrams, 0, 0), 0);
	}
}
END_TEST

WP_SUITE("datagrams", order, limits)
