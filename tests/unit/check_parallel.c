/* Items shared out to threads: each once, whatever the number of threads. */
#include "infer/parallel.h"

#include "tests/support/suite.h"

#define MANY 1000

static void
count(guint32 item, gpointer data)
{
	gint *counts = data;
	g_atomic_int_inc(&counts[item]);
}

static const struct {
	guint32 n_items;
	guint n_threads;
} rows[] = {
	{ 0, 0 },    { 0, 3 },    { 1, 1 },    { 1, 8 },
	{ MANY, 0 }, { MANY, 1 }, { MANY, 2 }, { MANY, WP_PARALLEL_MAX_THREADS + 1 },
};

START_TEST(each_item_once)
{
	for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
		gint counts[MANY] = { 0 };
		wp_parallel_run(rows[r].n_items, rows[r].n_threads, count, counts);
		for (guint32 i = 0; i < MANY; i++)
			ck_assert_int_eq(counts[i], i < rows[r].n_items);
	}
}
END_TEST

WP_SUITE("parallel", each_item_once)
