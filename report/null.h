/*
 * What captures of one unchanged build differ by, and limits that follow from it: a budget file for wirepath compare, in
 * which comments tell what was measured.
 *
 *     [budget "GET /buy"]
 *     # mean 5.02 ms, sd of captures 3.1%; ...
 *     slower:11.4% = error
 *
 * Of each number the standard deviation s over captures, on a scale of logarithms. Two captures that differ by chance differ
 * by more than t s sqrt(2) one way, and a capture is above the mean by more than t s sqrt(1 + 1 / n), in a share of
 * RISK of cases: Student's t, as s was estimated from few captures.
 */
#ifndef WP_REPORT_NULL_H
#define WP_REPORT_NULL_H

#include "report/compare.h"
#include "report/out.h"

/* Captures from which on there is a standard deviation worth the name. */
#define WP_NULL_MIN_CAPTURES 3

/* Writes the file. The N digests are changed as wp_compare() changes them. */
void wp_null_write(WpDigest *const *digests, guint n, const WpCompareOptions *options, WpOut *out);

#endif
