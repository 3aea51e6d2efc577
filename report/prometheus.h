/*
 * WpPrometheus: numbers in the text form that Prometheus reads (version 0.0.4): families, each with a line
 * HELP, a line TYPE and its samples. Label values may hold anything: they are quoted as names in dot are (escape.h).
 *
 * Source: Prometheus, "Exposition formats"; "Metric and label naming". By these a name has its unit at its end
 * (seconds, bytes), a counter _total behind it.
 */
#ifndef WP_REPORT_PROMETHEUS_H
#define WP_REPORT_PROMETHEUS_H

#include <glib.h>

#include "capture/counters.h"
#include "report/out.h"

typedef enum {
	WP_PROMETHEUS_COUNTER,
	WP_PROMETHEUS_GAUGE,
	WP_PROMETHEUS_HISTOGRAM
} WpPrometheusType;

/* Embedded; set out, the rest 0. */
typedef struct {
	WpOut *out;
	const char *family;
	guint64 n_series; /* so far: each bucket of a histogram is one */
} WpPrometheus;

typedef struct {
	const char *name; /* [a-zA-Z_][a-zA-Z0-9_]*, not "le" */
	const char *value;
} WpPrometheusLabel;

/* Times from calls in one machine to requests of people, two or three bounds a decade. */
#define WP_PROMETHEUS_N_BOUNDS 17
extern const gint64 wp_prometheus_bounds_ns[WP_PROMETHEUS_N_BOUNDS];

/* A distribution of times. Not cumulative: the last count is of what is above the last bound. */
typedef struct {
	guint64 counts[WP_PROMETHEUS_N_BOUNDS + 1];
	double sum_ns;
} WpPrometheusTimes;

void wp_prometheus_add_time(WpPrometheusTimes *times, gint64 ns);

/* Series of one histogram: its buckets, +Inf among them, sum and count. */
#define WP_PROMETHEUS_N_HISTOGRAM (WP_PROMETHEUS_N_BOUNDS + 3)

/* The next family; NAME and HELP (one line) are borrowed until the one after it. A family comes once in a page. */
void wp_prometheus_family(WpPrometheus *page, const char *name, WpPrometheusType type,
			  const char *help);

/* A sample of the family. No two have the same labels. */
void wp_prometheus_number(WpPrometheus *page, const WpPrometheusLabel *labels, guint n_labels,
			  double value);
void wp_prometheus_count(WpPrometheus *page, const WpPrometheusLabel *labels, guint n_labels,
			 guint64 count);
void wp_prometheus_seconds(WpPrometheus *page, const WpPrometheusLabel *labels, guint n_labels,
			   double ns);

/* A histogram in seconds. */
void wp_prometheus_times(WpPrometheus *page, const WpPrometheusLabel *labels, guint n_labels,
			 const WpPrometheusTimes *times);

/* Families of their own: what was counted while reading, and the version. */
void wp_prometheus_events(WpPrometheus *page, const WpCounters *counters);
void wp_prometheus_build(WpPrometheus *page);

#endif
