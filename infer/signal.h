/*
 * WpSignal: how many messages an edge has in each time quantum. Kept as the bins that are not empty, so
 * that memory depends on the messages and not on the duration; the correlation fills arrays from it
 * where it needs some.
 *
 *      messages    |  x     xx  |            |     x     |
 *      bin             0              1            2
 *      count           3              -            1          the paper's signal: square roots of these
 */
#ifndef WP_INFER_SIGNAL_H
#define WP_INFER_SIGNAL_H

#include <glib.h>

/* What a bin is worth. */
typedef enum {
	WP_SIGNAL_COUNT, /* its messages */
	WP_SIGNAL_ROOT   /* their square root: the paper's signal (section 5.2.1) */
} WpSignalValue;

typedef struct {
	gint64 *bins;    /* ascending, those that are not empty */
	guint32 *counts; /* > 0 */
	gsize n;
} WpSignal;

/*
 * (transfer full) Of N TIMES in ns, ascending. Bin 0 begins at ORIGIN_NS; a bin takes QUANTUM_NS > 0.
 * Times before the origin have negative bins.
 */
WpSignal *wp_signal_new(const gint64 *times_ns, gsize n, gint64 origin_ns, gint64 quantum_ns);
void wp_signal_free(WpSignal *signal);

/* The bin of a time. */
gint64 wp_signal_bin(gint64 time_ns, gint64 origin_ns, gint64 quantum_ns);

/* Index of the first bin >= BIN; signal->n where there is none. */
gsize wp_signal_find(const WpSignal *signal, gint64 bin);

/* OUT[i] = value of bin FROM + i, for i < N; 0 where it is empty. FALSE where all are. */
gboolean wp_signal_fill(const WpSignal *signal, WpSignalValue value, gint64 from, gsize n,
			double *out);

/* Euclidean norm: of counts, or of their roots. */
double wp_signal_norm(const WpSignal *signal, WpSignalValue value);

/* What a count is worth. */
double wp_signal_value(WpSignalValue value, guint32 count);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSignal, wp_signal_free)

#endif
