/*
 * Work that falls into independent items, on several threads. Which thread does what depends on the
 * machine; results must not: an item writes only what is its own.
 */
#ifndef WP_INFER_PARALLEL_H
#define WP_INFER_PARALLEL_H

#include <glib.h>

#define WP_PARALLEL_MAX_THREADS 64

/* One item; items are taken in order of their numbers. */
typedef void (*WpParallelFunc)(guint32 item, gpointer data);

/*
 * Calls WORK for each of N_ITEMS and returns when all are done. N_THREADS: that many at most, this one
 * among them; 0 = one for each processor. A thread that cannot be had is done without.
 */
void wp_parallel_run(guint32 n_items, guint n_threads, WpParallelFunc work, gpointer data);

#endif
