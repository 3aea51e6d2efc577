/*
 * Random numbers of the simulator. Sources: seeding by SplitMix64 as the authors of xoshiro advise;
 * the normal law by the polar method (Marsaglia and Bray, 1964); the exponential one by inversion.
 */
#include "traces/random.h"

#include <math.h>
#include <string.h>

/* ln 2 in two parts, so that k * LN2_HIGH is exact for every exponent k. */
#define LN2_HIGH 0x1.62e42fefp-1
#define LN2_LOW  0x1.473de6af278edp-34

void
wp_random_init(WpRandom *random, guint64 seed)
{
	*random = (WpRandom){ .has_spare = FALSE };
	for (int i = 0; i < 4; i++) {
		seed += G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
		guint64 z = seed;
		z = (z ^ z >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
		random->state[i] = z ^ z >> 31;
	}
}

/*
 * x = m * 2^k with m near 1; ln m = 2 artanh s with s = (m - 1) / (m + 1), |s| < 0.172: eleven terms
 * of the series leave an error below 2^-57.
 */
double
wp_random_log(double x)
{
	guint64 bits;
	double m, sum = 0;

	memcpy(&bits, &x, sizeof bits);
	int k = (int)(bits >> 52 & 0x7ff) - 1023;
	bits = (bits & G_GUINT64_CONSTANT(0xfffffffffffff)) | G_GUINT64_CONSTANT(0x3ff) << 52;
	memcpy(&m, &bits, sizeof m);
	if (m > 1.4142135623730951) {
		m *= 0.5;
		k++;
	}
	double s = (m - 1) / (m + 1), z = s * s;
	for (int i = 21; i >= 1; i -= 2)
		sum = sum * z + 1.0 / i;
	return k * LN2_HIGH + (k * LN2_LOW + 2 * s * sum);
}

/* x = k ln 2 + r with |r| < 0.35: fourteen terms of the series. */
double
wp_random_exp(double x)
{
	double limited = CLAMP(x, -700, 700), sum = 1, power;
	double scaled = limited / (LN2_HIGH + LN2_LOW);
	int k = (int)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
	double r = limited - k * LN2_HIGH - k * LN2_LOW;
	guint64 bits = (guint64)(k + 1023) << 52;

	for (int i = 14; i >= 1; i--)
		sum = 1 + sum * r / i;
	memcpy(&power, &bits, sizeof power);
	return sum * power;
}

double
wp_random_exponential(WpRandom *random)
{
	return -wp_random_log(1 - wp_random_share(random)); /* never 0 */
}

double
wp_random_normal(WpRandom *random)
{
	double u, v, square;

	if (random->has_spare) {
		random->has_spare = FALSE;
		return random->spare_normal;
	}
	do {
		u = 2 * wp_random_share(random) - 1;
		v = 2 * wp_random_share(random) - 1;
		square = u * u + v * v;
	} while (square >= 1 || square == 0);
	double factor = sqrt(-2 * wp_random_log(square) / square);
	random->spare_normal = v * factor;
	random->has_spare = TRUE;
	return u * factor;
}
