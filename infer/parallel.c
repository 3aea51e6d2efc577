/* Threads that take the next item until none is left. */
#include "infer/parallel.h"

typedef struct {
	WpParallelFunc work;
	gpointer data;
	guint32 n_items;
	gint next; /* atomic; it may pass n_items by as many as there are threads */
} Work;

static gpointer
take_items(gpointer data)
{
	Work *work = data;
	for (;;) {
		guint32 item = (guint32)g_atomic_int_add(&work->next, 1);
		if (item >= work->n_items)
			return NULL;
		work->work(item, work->data);
	}
}

void
wp_parallel_run(guint32 n_items, guint n_threads, WpParallelFunc work, gpointer data)
{
	Work all = { .work = work, .data = data, .n_items = n_items };
	GThread *threads[WP_PARALLEL_MAX_THREADS];
	guint n = 0, most = n_threads ? n_threads : g_get_num_processors();

	most = MIN(MIN(most, n_items), WP_PARALLEL_MAX_THREADS);
	while (n + 1 < most && (threads[n] = g_thread_try_new("infer", take_items, &all, NULL)))
		n++;
	take_items(&all);
	for (guint i = 0; i < n; i++)
		g_thread_join(threads[i]);
}
