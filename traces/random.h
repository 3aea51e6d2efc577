/*
 * WpRandom: random numbers that are the same on every machine and with every compiler. The generator
 * is in integers; the laws use nothing but + - * / and sqrt, which IEEE 754 rounds in one way only
 * (log and exp of the C library differ from one library to the next). The makefile keeps the compiler
 * from fusing them.
 */
#ifndef WP_TRACES_RANDOM_H
#define WP_TRACES_RANDOM_H

#include <glib.h>

typedef struct {
	guint64 state[4];
	double spare_normal;
	gboolean has_spare;
} WpRandom;

void wp_random_init(WpRandom *random, guint64 seed);

static inline guint64
wp_random_rotate(guint64 x, int k)
{
	return x << k | x >> (64 - k);
}

/* 64 random bits: xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators"). */
static inline guint64
wp_random_next(WpRandom *random)
{
	guint64 *s = random->state;
	guint64 result = wp_random_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = wp_random_rotate(s[3], 45);
	return result;
}

/* From [0, 1), in steps of 2^-53. */
static inline double
wp_random_share(WpRandom *random)
{
	return (double)(wp_random_next(random) >> 11) * 0x1p-53;
}

/* From 0 to N - 1; N is below 2^32, so that the bias is below 2^-32. */
static inline guint32
wp_random_below(WpRandom *random, guint32 n)
{
	return (guint32)((wp_random_next(random) >> 32) * n >> 32);
}

/* Mean 1. */
double wp_random_exponential(WpRandom *random);

/* Mean 0, standard deviation 1. */
double wp_random_normal(WpRandom *random);

/* ln X, X > 0 and not denormal; e^X, for X from -700 to 700 (beyond: as there). Within 1e-15. */
double wp_random_log(double x);
double wp_random_exp(double x);

#endif
