/*
 * A strict reader of Prometheus text: what it accepts, any collector does. Beyond the grammar it wants of each
 * family: HELP and TYPE once and before the samples, these together, no series twice, counters that end in _total and are
 * not negative, histograms whose buckets ascend, with +Inf equal to _count, and _sum.
 *
 * Source: Prometheus, "Exposition formats", text-based format 0.0.4.
 */
#ifndef WP_TESTS_SUPPORT_EXPOSITION_H
#define WP_TESTS_SUPPORT_EXPOSITION_H

#include <glib.h>

/* (transfer full) What is wrong with TEXT, with its line; NULL: nothing. OUT_N: series (may be NULL). */
char *wp_exposition_check(const char *text, guint *out_n);

/* The value of the series whose line begins with SERIES and a blank; NAN where there is none. */
double wp_exposition_value(const char *text, const char *series);

#endif
