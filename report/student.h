/*
 * Student's t: how likely a mean that is so many standard errors off is by chance alone, where the error
 * itself was estimated.
 */
#ifndef WP_REPORT_STUDENT_H
#define WP_REPORT_STUDENT_H

/* Probability of being T or further from 0, on either side; DF > 0 degrees of freedom. */
double wp_student_tails(double t, double df);

/* The T > 0 of which that is TAILS, from (0, 1). */
double wp_student_quantile(double tails, double df);

#endif
