/* Sightings: what is a copy, and when both ends saw a byte. */
#include "capture/sightings.h"

#include <string.h>

#include "tests/support/suite.h"

static const WpEndpoint client = { { 10, [15] = 1 }, 40000 }, server = { { 10, [15] = 2 }, 80 };

/* "TAP:TIME:SEQ:LENGTH" */
typedef struct {
	guint8 tap;
	gint64 ms;
	guint32 seq, length;
	gboolean is_udp, is_copy;
} Step;

static WpSegment
make_segment(const Step *step)
{
	return (WpSegment){ .time_ns = step->ms * 1000000,
			    .src = client,
			    .dst = server,
			    .payload = (const guint8 *)"",
			    .length = step->length,
			    .seq = step->seq,
			    .ack = 7,
			    .flags = WP_TCP_ACK,
			    .tap = step->tap,
			    .is_udp = step->is_udp };
}

/*
 *   tap 0   |0..999|1000..2999 ------|            again 0..999
 *   tap 1      |0..1499 -|1500..2999 -|                          again 0..999
 */
START_TEST(copies)
{
	static const Step steps[] = {
		{ 0, 1, 0, 1000, FALSE, FALSE },
		{ 0, 2, 1000, 2000, FALSE, FALSE },
		{ 1, 3, 0, 1500, FALSE, TRUE },
		{ 1, 4, 1500, 1500, FALSE, TRUE },
		{ 0, 300, 0, 1000, FALSE, FALSE }, /* the sender's own repetition */
		{ 1, 301, 0, 1000, FALSE, TRUE },
		{ 1, 302, 3000, 1000, FALSE, FALSE }, /* lost at tap 0 ... */
		{ 0, 303, 4000, 500, FALSE, FALSE },
		{ 1, 304, 3500, 1000, FALSE, FALSE }, /* its first half is new at both */
		{ 0, 400, 9000, 0, FALSE, FALSE },    /* acknowledgements */
		{ 1, 401, 9000, 0, FALSE, TRUE },
		{ 0, 402, 9000, 0, FALSE, FALSE },
		{ 1, 403, 9000, 0, FALSE, TRUE },
		{ 0, 500, 77, 40, TRUE, FALSE }, /* datagrams */
		{ 1, 501, 77, 40, TRUE, TRUE },
		{ 0, 1500, 77, 40, TRUE, FALSE },
		{ 1, 1501, 77, 40, TRUE, TRUE },
		{ 0, 1600, G_MAXUINT32 - 99, 200, FALSE, FALSE }, /* around the end of numbers */
		{ 1, 1601, G_MAXUINT32 - 99, 200, FALSE, TRUE },
		{ 1, 1700, 100000, 65000, FALSE, FALSE }, /* offloaded, over many blocks */
		{ 0, 1701, 120000, 1448, FALSE, TRUE },
		{ 0, 1702, 164000, 1448, FALSE, FALSE },
	};
	g_autoptr(WpSightings) sightings = wp_sightings_new();
	for (gsize i = 0; i < G_N_ELEMENTS(steps); i++) {
		WpSegment segment = make_segment(&steps[i]);
		gboolean is_copy = wp_sightings_add(sightings, &segment);
		ck_assert_msg(is_copy == steps[i].is_copy, "step %zu", i);
	}

	static const struct {
		guint32 seq;
		gboolean is_udp;
		gint64 near_ms;
		guint n;
		gint64 ms[2];
	} rows[] = {
		{ 500, FALSE, 0, 2, { 1, 3 } },
		{ 1499, FALSE, 0, 2, { 2, 3 } },
		{ 1500, FALSE, 0, 2, { 2, 4 } },
		{ 3100, FALSE, 0, 1, { 302 } },
		{ 77, TRUE, 510, 2, { 500, 501 } },
		{ 77, TRUE, 1490, 2, { 1500, 1501 } },
		{ 5000, FALSE, 0, 0, { 0 } },
		{ 50, FALSE, 0, 2, { 1, 3 } },
		{ 120000, FALSE, 0, 2, { 1701, 1700 } },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpSighting seen[WP_SIGHTINGS_TAPS];
		guint n = wp_sightings_find(sightings, &client, &server, rows[i].is_udp,
					    rows[i].seq, rows[i].near_ms * 1000000, seen);
		ck_assert_msg(n == rows[i].n, "row %zu: %u", i, n);
		for (guint k = 0; k < n; k++)
			ck_assert_msg(seen[k].time_ns == rows[i].ms[k] * 1000000, "row %zu: %g", i,
				      (double)seen[k].time_ns / 1e6);
	}
}
END_TEST

/* The ring is full several times over: what is old is forgotten, what is new is found. */
START_TEST(forgets)
{
	guint n = wp_test_number(3 * WP_SIGHTINGS_MAX, 20000);
	g_autoptr(WpSightings) sightings = wp_sightings_new();
	for (guint i = 0; i < n; i++) {
		Step step = { (guint8)(i % 2), i, i / 2 * 100, 100, FALSE, i % 2 };
		WpSegment segment = make_segment(&step);
		ck_assert_int_eq(wp_sightings_add(sightings, &segment), i % 2);
	}
	WpSighting seen[WP_SIGHTINGS_TAPS];
	ck_assert_uint_eq(
		wp_sightings_find(sightings, &client, &server, FALSE, n / 2 * 100 - 50, 0, seen),
		2);
	if (n > 2 * WP_SIGHTINGS_MAX)
		ck_assert_uint_eq(
			wp_sightings_find(sightings, &client, &server, FALSE, 50, 0, seen), 0);
}
END_TEST

WP_SUITE("sightings", copies, forgets)
