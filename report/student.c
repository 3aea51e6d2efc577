/*
 * Student's distribution by the incomplete beta function (Abramowitz and Stegun, "Handbook of Mathematical
 * Functions", 26.7.1 and 26.5.27), that by its continued fraction (26.5.8), evaluated from the front (the modified
 * method of Lentz, "Generating Bessel functions in Mie scattering calculations", 1976).
 */
#include "report/student.h"

#include <glib.h>
#include <math.h>

/* The fraction converges in a few dozen steps; this many for the largest arguments. */
#define MAX_STEPS 10000
#define PRECISION 1e-15
#define TINY      1e-300

/* What a step of the method does to both ends of the fraction; A: the partial numerator. */
static double
lentz(double a, double *c, double *d)
{
	*d = 1 + a * *d;
	*c = 1 + a / *c;
	if (fabs(*d) < TINY)
		*d = TINY;
	if (fabs(*c) < TINY)
		*c = TINY;
	*d = 1 / *d;
	return *c * *d;
}

static double
beta_fraction(double x, double a, double b)
{
	double c = INFINITY, d = 1;
	double value = lentz(-(a + b) * x / (a + 1), &c, &d);
	for (int m = 1; m <= MAX_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step = lentz(even, &c, &d) * lentz(odd, &c, &d);
		value *= step;
		if (fabs(step - 1) < PRECISION)
			break;
	}
	return value;
}

/* The share of the beta distribution of A and B below X. */
static double
beta_below(double x, double a, double b)
{
	if (x <= 0 || x >= 1)
		return x >= 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double
wp_student_tails(double t, double df)
{
	return beta_below(df / (df + t * t), df / 2, 0.5);
}

double
wp_student_quantile(double tails, double df)
{
	double low = 0, high = 1;
	while (wp_student_tails(high, df) > tails && high < 1e12)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;
		if (wp_student_tails(middle, df) > tails)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}
