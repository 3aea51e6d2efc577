/*
 * WpRandom64: numbers by chance for searches that draw, the same in every run and on every machine.
 * xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016): one
 * word of state and no call, for inner loops. What needs laws (normal, exponential) is traces/random.h.
 */
#ifndef WP_INFER_RANDOM_H
#define WP_INFER_RANDOM_H

#include <glib.h>

/* Any but 0 would do; this one is of Marsaglia, "Xorshift RNGs", 2003. */
#define WP_RANDOM64_SEED G_GUINT64_CONSTANT(88172645463325252)

/* The state, never 0; set it to the seed. One for each thread. */
typedef struct {
	guint64 state;
} WpRandom64;

static inline guint64
wp_random64_next(WpRandom64 *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * G_GUINT64_CONSTANT(0x2545f4914f6cdd1d);
}

/* From (0, 1): neither end, so that it has a logarithm, and what remains to 1 as well. */
static inline double
wp_random64_share(WpRandom64 *random)
{
	return ((double)(wp_random64_next(random) >> 12) + 0.5) * 0x1p-52;
}

/* From 0 to N - 1, N > 0; some are likelier than others by less than N / 2^32. */
static inline guint32
wp_random64_below(WpRandom64 *random, guint32 n)
{
	return (guint32)((wp_random64_next(random) >> 32) * n >> 32);
}

/* Puts the N NUMBERS in an order by chance, each order about as likely. */
static inline void
wp_random64_shuffle(WpRandom64 *random, guint32 *numbers, guint32 n)
{
	for (; n > 1; n--) {
		guint32 other = wp_random64_below(random, n), kept = numbers[n - 1];
		numbers[n - 1] = numbers[other];
		numbers[other] = kept;
	}
}

#endif
