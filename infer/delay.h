/*
 * WpDelay: a distribution of times in ns: exact count, sum, sum of squares, minimum and maximum, and a
 * sparse log-linear histogram for quantiles (relative error of at most 1 %). Two merge by addition, in
 * any order, to the same bytes.
 */
#ifndef WP_INFER_DELAY_H
#define WP_INFER_DELAY_H

#include <glib.h>

typedef struct WpDelay WpDelay;

/* (transfer full) */
WpDelay *wp_delay_new(void);
void wp_delay_free(WpDelay *delay);

/* Adds one time; negative ones (clock skew) are kept with their sign. */
void wp_delay_add(WpDelay *delay, gint64 ns);
void wp_delay_merge(WpDelay *delay, const WpDelay *other);

guint64 wp_delay_count(const WpDelay *delay);

/* All 0 where there is nothing. sd: of the population. */
double wp_delay_sum_ns(const WpDelay *delay);
double wp_delay_mean_ns(const WpDelay *delay);
double wp_delay_sd_ns(const WpDelay *delay);
gint64 wp_delay_min_ns(const WpDelay *delay);
gint64 wp_delay_max_ns(const WpDelay *delay);

/* QUANTILE in 0..1; between min and max; within 1 % of the exact one. */
gint64 wp_delay_quantile_ns(const WpDelay *delay, double quantile);

/* Calls FUNC for each bin with a count: its bounds [low, high) in ns, in order. */
typedef void (*WpDelayBinFunc)(gint64 low_ns, gint64 high_ns, guint64 count, gpointer data);
void wp_delay_foreach_bin(const WpDelay *delay, WpDelayBinFunc func, gpointer data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpDelay, wp_delay_free)

#endif
