/* Critical paths worked out by hand. */
#include "infer/critical.h"

#include "capture/record.h"
#include "tests/support/suite.h"

#define ROOT    G_MAXUINT32
#define NONE    WP_NO_TIME
#define N_CALLS 6

START_TEST(parts_of_the_path)
{
	static const struct {
		const char *why;
		WpCriticalCall calls[N_CALLS]; /* up to the first that begins and ends at 0 */
		gint64 parts[N_CALLS];
	} rows[] = {
		{ "one call", { { ROOT, 0, 10 } }, { 10 } },
		{ "one child", { { ROOT, 0, 10 }, { 0, 2, 9 } }, { 3, 7 } },
		{ "one after the other",
		  { { ROOT, 0, 10 }, { 0, 1, 4 }, { 0, 5, 9 } },
		  { 3, 3, 4 } },
		{ "at once: the one that returns last",
		  { { ROOT, 0, 10 }, { 0, 1, 9 }, { 0, 1, 5 } },
		  { 2, 8, 0 } },
		{ "they overlap: the one before is on it only where it had returned",
		  { { ROOT, 0, 10 }, { 0, 1, 6 }, { 0, 4, 9 } },
		  { 5, 0, 5 } },
		{ "three, of which the middle is hidden",
		  { { ROOT, 0, 20 }, { 0, 1, 5 }, { 0, 4, 12 }, { 0, 6, 19 } },
		  { 3, 4, 0, 13 } },
		{ "chains of two", { { ROOT, 0, 10 }, { 0, 1, 9 }, { 1, 2, 8 } }, { 2, 2, 6 } },
		{ "below what is not on it nothing is",
		  { { ROOT, 0, 10 }, { 0, 1, 9 }, { 0, 1, 5 }, { 2, 2, 4 } },
		  { 2, 8, 0, 0 } },
		{ "a child that outlives its parent",
		  { { ROOT, 0, 10 }, { 0, 2, 5 }, { 0, 6, 15 } },
		  { 7, 3, 0 } },
		{ "one that never returns", { { ROOT, 0, 10 }, { 0, 2, NONE } }, { 10, 0 } },
		{ "a root without an end", { { ROOT, 0, NONE }, { 0, 2, 5 } }, { 0, 0 } },
		{ "a child that begins before its parent, as clocks are",
		  { { ROOT, 5, 15 }, { 0, 3, 9 } },
		  { 6, 6 } },
		{ "equal ends: the one that was called last, and then the one before it",
		  { { ROOT, 0, 10 }, { 0, 1, 9 }, { 0, 6, 9 } },
		  { 7, 0, 3 } },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		gint64 parts[N_CALLS];
		guint32 n = 0;
		while (n < N_CALLS && rows[i].calls[n].end_ns != 0)
			n++;
		wp_critical_path(rows[i].calls, n, parts);
		for (guint32 k = 0; k < n; k++)
			ck_assert_msg(parts[k] == rows[i].parts[k], "%s: call %u: %d", rows[i].why,
				      k, (int)parts[k]);
	}
}
END_TEST

/* As many calls as one likes, of any shape: the parts add up to the latency, none is longer than its call. */
START_TEST(parts_add_up)
{
	guint32 state = 5;
	for (guint round = 0; round < 200; round++) {
		WpCriticalCall calls[40];
		gint64 parts[40], sum = 0;
		guint32 n = 1 + round % 40;
		for (guint32 i = 0; i < n; i++) {
			guint draws[3];
			for (guint k = 0; k < 3; k++)
				draws[k] = (state = state * 1664525 + 1013904223) >> 8;
			calls[i].parent = i ? draws[0] % i : ROOT;
			const WpCriticalCall *parent = i ? &calls[calls[i].parent] : NULL;
			gint64 from = parent ? parent->begin_ns : 0;
			gint64 length = parent ? parent->end_ns - from : 100000;
			calls[i].begin_ns = from + draws[1] % (length + 1);
			calls[i].end_ns = calls[i].begin_ns + draws[2] % (length + 1);
		}
		wp_critical_path(calls, n, parts);
		for (guint32 i = 0; i < n; i++) {
			ck_assert(parts[i] >= 0 && parts[i] <= calls[i].end_ns - calls[i].begin_ns);
			sum += parts[i];
		}
		ck_assert(sum == calls[0].end_ns - calls[0].begin_ns);
	}
}
END_TEST

WP_SUITE("critical", parts_of_the_path, parts_add_up)
