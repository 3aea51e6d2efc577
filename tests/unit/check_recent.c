/* The packets that came last. */
#include "capture/recent.h"

#include <string.h>

#include "capture/trace.h"
#include "tests/support/suite.h"

typedef struct {
	guint64 first, last, n;
	gboolean is_whole;
} Seen;

static void
see(const WpFrame *frame, gpointer data)
{
	Seen *seen = data;

	if (seen->n++ == 0)
		seen->first = frame->number;
	else
		ck_assert_uint_eq(frame->number, seen->last + 1);
	seen->last = frame->number;
	for (guint32 i = 0; i < frame->captured; i++)
		seen->is_whole = seen->is_whole && frame->data[i] == (guint8)(frame->number + i);
}

/* N frames of FIRST, FIRST + STEP, ... bytes (modulo 300), a ms apart. */
static void
add(WpRecent *recent, guint64 n, guint32 first, guint32 step)
{
	static guint8 data[262144];

	for (guint64 number = 1; number <= n; number++) {
		guint32 length = (guint32)(first + number * step) % (step ? 300u : G_MAXUINT32);
		for (guint32 i = 0; i < length; i++)
			data[i] = (guint8)(number + i);
		const WpFrame frame = { .time_ns = (gint64)number * 1000000,
					.data = data,
					.captured = length,
					.length = length,
					.number = number };
		wp_recent_add(recent, &frame);
	}
}

START_TEST(last_ones)
{
	static const struct {
		const char *name;
		guint64 n;
		guint32 first, step;
		gint64 from_ns;
		guint64 at_least; /* frames given */
		gboolean is_cut;
	} rows[] = {
		{ "nothing", 0, 0, 0, 0, 0, FALSE },
		{ "one", 1, 60, 0, 0, 1, FALSE },
		{ "all fit", 1000, 60, 0, 0, 1000, FALSE },
		{ "many more", 100000, 60, 0, 0, 3000, TRUE },
		{ "of many lengths", 100000, 7, 13, 0, 1800, TRUE },
		{ "large ones", 50, 262144, 0, 0, 1, TRUE },
		{ "empty ones", 100000, 0, 0, 0, 5000, TRUE },
		{ "since then", 1000, 60, 0, 900000000, 101, FALSE },
		{ "later than all", 1000, 60, 0, 2000000000, 0, FALSE },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpRecent) recent = wp_recent_new(WP_RECENT_MIN_BYTES);
		Seen seen = { .is_whole = TRUE };
		add(recent, rows[i].n, rows[i].first, rows[i].step);
		guint64 n = wp_recent_foreach(recent, rows[i].from_ns, see, &seen);
		ck_assert_msg(n >= rows[i].at_least && n == seen.n, "%s: %lu", rows[i].name,
			      (unsigned long)n);
		ck_assert_msg(n == 0 || seen.last == rows[i].n, "%s: the last", rows[i].name);
		ck_assert_msg(seen.is_whole, "%s: bytes", rows[i].name);
		ck_assert_msg(wp_recent_is_cut(recent) == rows[i].is_cut, "%s: cut", rows[i].name);
		if (n > 0 && rows[i].from_ns == 0)
			ck_assert_int_eq(wp_recent_begin_ns(recent), (gint64)seen.first * 1000000);
		if (rows[i].n == 0)
			ck_assert_int_eq(wp_recent_begin_ns(recent), WP_NO_TIME);
	}
}
END_TEST

/* After every frame what is kept is an unbroken run that ends with it. */
START_TEST(always_in_order)
{
	g_autoptr(WpRecent) recent = wp_recent_new(WP_RECENT_MIN_BYTES);
	static guint8 data[200000];

	for (guint64 number = 1; number <= (guint64)wp_test_number(4000, 400); number++) {
		guint32 length =
			(guint32)((number * number * 7919) % (number % 97 ? 3000 : 200000));
		for (guint32 i = 0; i < length; i++)
			data[i] = (guint8)(number + i);
		const WpFrame frame = { .time_ns = (gint64)number,
					.data = data,
					.captured = length,
					.length = length,
					.number = number };
		wp_recent_add(recent, &frame);
		Seen seen = { .is_whole = TRUE };
		ck_assert_uint_ge(wp_recent_foreach(recent, 0, see, &seen), 1);
		ck_assert_uint_eq(seen.last, number);
		ck_assert(seen.is_whole);
	}
}
END_TEST

WP_SUITE("recent", last_ones, always_in_order)
