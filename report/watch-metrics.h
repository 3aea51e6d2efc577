/*
 * WpWatchMetrics: what a watch has seen since it began, as numbers for Prometheus: requests, errors, latency and self
 * time of each root operation, and what the capture counted. Counters only grow.
 *
 * A page has a bounded number of series: operations beyond that are counted together, as operation "other" of no
 * node; those not seen for an hour make room for new ones. So are the nodes of self time.
 */
#ifndef WP_REPORT_WATCH_METRICS_H
#define WP_REPORT_WATCH_METRICS_H

#include <glib.h>

#include "capture/counters.h"
#include "capture/live.h"
#include "report/out.h"
#include "report/watch.h"

/* What fits is some hundred operations: a page of a MB. */
#define WP_WATCH_METRICS_SERIES 5000

/* Less has no room for an operation. */
#define WP_WATCH_METRICS_MIN_SERIES 400

typedef struct WpWatchMetrics WpWatchMetrics;

/* (transfer full) At most MAX_SERIES a page. */
WpWatchMetrics *wp_watch_metrics_new(guint max_series);
void wp_watch_metrics_free(WpWatchMetrics *metrics);

/* Adds a window; each once. */
void wp_watch_metrics_add(WpWatchMetrics *metrics, const WpWatchWindow *window);

/* The page as it is now. LIVE: the interfaces, or NULL. COUNTERS: of a capture that was read to its end, or NULL. */
void wp_watch_metrics_write(const WpWatchMetrics *metrics, const WpLive *live,
			    const WpCounters *counters, WpOut *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpWatchMetrics, wp_watch_metrics_free)

#endif
