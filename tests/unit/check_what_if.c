/* Requests that would have taken another time, worked out by hand. */
#include "infer/what-if.h"

#include "capture/record.h"
#include "tests/support/suite.h"

#define ROOT G_MAXUINT32
#define NONE WP_NO_TIME
#define MOST 5

START_TEST(new_latencies)
{
	static const struct {
		const char *why;
		WpWhatIfCall calls[MOST]; /* up to the first that begins and ends at 0 */
		gint64 latency;
	} rows[] = {
		{ "alone", { { ROOT, 0, 100, 0, 0, 0.5 } }, 50 },
		{ "the child faster", { { ROOT, 0, 100, 0, 0, 1 }, { 0, 20, 80, 0, 0, 0.5 } }, 70 },
		{ "the parent faster",
		  { { ROOT, 0, 100, 0, 0, 0.5 }, { 0, 20, 80, 0, 0, 1 } },
		  80 },
		{ "both slower",
		  { { ROOT, 0, 100, 0, 0, 2 }, { 0, 20, 80, 0, 0, 3 } },
		  40 + 180 + 40 },
		{ "the first of two in a row: the second comes as long after it",
		  { { ROOT, 0, 100, 0, 0, 1 }, { 0, 10, 40, 0, 0, 0 }, { 0, 50, 90, 0, 0, 1 } },
		  70 },
		{ "the faster of two at once gains nothing",
		  { { ROOT, 0, 100, 0, 0, 1 }, { 0, 10, 90, 0, 0, 1 }, { 0, 10, 40, 0, 0, 0.5 } },
		  100 },
		{ "the slower one, until the other is",
		  { { ROOT, 0, 100, 0, 0, 1 }, { 0, 10, 90, 0, 0, 0.25 }, { 0, 10, 40, 0, 0, 1 } },
		  10 + 30 + 10 },
		{ "one becomes slower than the one beside it",
		  { { ROOT, 0, 100, 0, 0, 1 }, { 0, 10, 90, 0, 0, 1 }, { 0, 10, 40, 0, 0, 4 } },
		  10 + 120 + 10 },
		{ "what is called while one is open is not the parent's own time",
		  { { ROOT, 0, 100, 0, 0, 0.5 }, { 0, 10, 90, 0, 0, 1 }, { 0, 30, 60, 0, 0, 1 } },
		  5 + 80 + 5 },
		{ "two levels",
		  { { ROOT, 0, 100, 0, 0, 1 }, { 0, 10, 90, 0, 0, 1 }, { 1, 30, 70, 0, 0, 0.5 } },
		  80 },
		{ "one that outlives its parent is not waited for",
		  { { ROOT, 0, 100, 0, 0, 1 }, { 0, 60, 200, 0, 0, 9 } },
		  100 },
		{ "nor one that never returns, nor one after the reply",
		  { { ROOT, 0, 100, 0, 0, 1 }, { 0, 60, NONE, 0, 0, 9 }, { 0, 150, 160, 0, 0, 9 } },
		  100 },
		{ "the ways stay", { { ROOT, 0, 100, 10, 20, 0.5 } }, 10 + 35 + 20 },
		{ "no end", { { ROOT, 0, NONE, 0, 0, 0.5 } }, NONE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		guint32 n = 0;
		while (n < MOST && rows[i].calls[n].end_ns != 0)
			n++;
		gint64 latency = wp_what_if(rows[i].calls, n);
		ck_assert_msg(latency == rows[i].latency, "%s: %d", rows[i].why, (int)latency);
	}
}
END_TEST

/* Trees of any shape: with factors of 1 nothing changes, with less nothing becomes slower. */
START_TEST(factors_of_one_change_nothing)
{
	guint32 state = 9;
	for (guint round = 0; round < 300; round++) {
		WpWhatIfCall calls[30];
		guint32 n = 1 + round % 30;
		for (guint32 i = 0; i < n; i++) {
			guint draws[4];
			for (guint k = 0; k < 4; k++)
				draws[k] = (state = state * 1664525 + 1013904223) >> 8;
			calls[i] = (WpWhatIfCall){ .parent = i ? draws[0] % i : ROOT, .factor = 1 };
			const WpWhatIfCall *parent = i ? &calls[calls[i].parent] : NULL;
			gint64 from = parent ? parent->begin_ns : 0;
			gint64 length =
				parent && parent->end_ns != NONE ? parent->end_ns - from : 100000;
			calls[i].begin_ns = from + draws[1] % (length + 1);
			/* Some outlive their parents, some have no return. */
			calls[i].end_ns = calls[i].begin_ns + draws[2] % (length + length / 4 + 1);
			if (i && draws[3] % 16 == 0)
				calls[i].end_ns = NONE;
		}
		gint64 latency = wp_what_if(calls, n);
		ck_assert_msg(latency == calls[0].end_ns - calls[0].begin_ns, "round %u: %d", round,
			      (int)latency);
		for (guint32 i = 0; i < n; i++)
			calls[i].factor = 0.5;
		ck_assert(wp_what_if(calls, n) <= latency);
		for (guint32 i = 0; i < n; i++)
			calls[i].factor = 0;
		ck_assert(wp_what_if(calls, n) <= latency);
	}
}
END_TEST

WP_SUITE("what_if", new_latencies, factors_of_one_change_nothing)
