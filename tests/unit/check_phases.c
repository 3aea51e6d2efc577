/* Counts by window, and the phases that they are: times in seconds, windows of 10 s, "-" = none. */
#include "report/phases.h"

#include <string.h>

#include "capture/record.h"
#include "tests/support/suite.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

/* Of one thing: counts in windows 0, 10, 20, ...; the last phase as it is after the last window. */
static const struct {
	const char *counts;
	gint64 begin_s; /* -1: none */
	gint64 end_s;   /* -1: it lasts */
} rows[] = {
	{ "0 0 0 9 9 9 0 0", 30, 60 },     { "0 0 0 9 9 9", 30, -1 },
	{ "0 1 0 0 9 8 9 1 0 0", 40, 70 }, { "9 9 9 9 9 9", -1, -1 }, /* always */
	{ "0 9 9 9 9 9", -1, -1 },      /* two windows are not enough to know what is usual */
	{ "0 0 0 4 4 4", -1, -1 },      /* too few */
	{ "9 9 9 26 9", -1, -1 },       /* not three times as many */
	{ "9 9 9 27 9", 30, 40 },       /* three times */
	{ "9 9 9 30 30 26 9", 30, 50 }, /* against what was usual when it began */
	{ "0 0 0 9 0 0 8 0", 60, 70 },  /* the last one */
};

static void
run_row(WpPhases *phases, const char *text)
{
	g_auto(GStrv) counts = g_strsplit(text, " ", -1);

	for (guint i = 0; counts[i]; i++) {
		guint64 count = g_ascii_strtoull(counts[i], NULL, 10);
		wp_phases_begin(phases, i * 10 * NS_PER_S);
		if (count)
			wp_phases_add(phases, "k", "name", count);
		wp_phases_end(phases);
	}
}

START_TEST(row)
{
	g_autoptr(WpPhases) phases = wp_phases_new();
	guint n;

	run_row(phases, rows[_i].counts);
	const WpPhase *list = wp_phases_list(phases, &n);
	ck_assert_uint_eq(n, rows[_i].begin_s >= 0);
	if (n == 0)
		return;
	ck_assert_str_eq(list->name, "name");
	ck_assert_int_eq(list->begin_ns, rows[_i].begin_s * NS_PER_S);
	ck_assert_int_eq(list->end_ns, rows[_i].end_s < 0 ? WP_NO_TIME : rows[_i].end_s * NS_PER_S);
}
END_TEST

/* What lasts for an hour is usual; what ended an hour ago is not told any more. */
START_TEST(hour)
{
	g_autoptr(WpPhases) phases = wp_phases_new();
	guint n;

	for (guint i = 0; i < 1000; i++) {
		wp_phases_begin(phases, i * 10 * NS_PER_S);
		gint64 since_ns = i < 10 ? WP_NO_TIME : wp_phases_add(phases, "long", "long", 50);
		gint64 expected_ns = i >= 10 && i < 370 ? 100 * NS_PER_S : WP_NO_TIME;
		ck_assert_int_eq(since_ns, expected_ns);
		if (i == 20)
			wp_phases_add(phases, "short", "short", 50);
		wp_phases_end(phases);
		(void)wp_phases_list(phases, &n);
		ck_assert_uint_eq(n, (i >= 10 && i < 370) + (i >= 20 && i <= 381));
	}
}
END_TEST

/* Without end other things: those that are known stay so, memory is bounded. */
START_TEST(many)
{
	g_autoptr(WpPhases) phases = wp_phases_new();
	guint n;

	for (guint i = 0; i < 20; i++) {
		wp_phases_begin(phases, i * 10 * NS_PER_S);
		wp_phases_add(phases, "a", "a", i < 10 ? 1 : 100);
		for (guint k = 0; k < 500; k++) {
			char key[32];
			g_snprintf(key, sizeof key, "%u-%u", i, k);
			wp_phases_add(phases, key, key, 1);
		}
		wp_phases_end(phases);
	}
	const WpPhase *list = wp_phases_list(phases, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(list->name, "a");
}
END_TEST

WP_SUITE_OF_ROWS("phases", { row, G_N_ELEMENTS(rows) }, { hour, 0 }, { many, 0 })
