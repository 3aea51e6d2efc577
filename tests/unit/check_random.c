/* Numbers by chance: the generator's, and that they stay within their bounds. */
#include "infer/random.h"

#include "tests/support/suite.h"

/* By a program of its own, after the paper: results never change from one version to the next. */
START_TEST(generator)
{
	static const guint64 first[] = { G_GUINT64_CONSTANT(0x47e4ce4b896cdd1d),
					 G_GUINT64_CONSTANT(0xabcfa6a8e079651d),
					 G_GUINT64_CONSTANT(0xb9d10d8feb731f57) };
	WpRandom64 random = { 1 };

	for (guint i = 0; i < G_N_ELEMENTS(first); i++)
		ck_assert_uint_eq(wp_random64_next(&random), first[i]);
}
END_TEST

/* States after which the least and the greatest bits come. */
START_TEST(ends)
{
	static const struct {
		guint64 state;
		guint64 bits;
		guint32 below_7;
		double share;
	} rows[] = {
		{ G_GUINT64_CONSTANT(0x98d76a164d99a710), 1, 0, 0x1p-53 },
		{ G_GUINT64_CONSTANT(0xa8d395be4b19cce8), G_MAXUINT64, 6, 1 - 0x1p-53 },
	};

	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpRandom64 next = { rows[i].state }, share = next, below = next;
		ck_assert_uint_eq(wp_random64_next(&next), rows[i].bits);
		ck_assert_double_eq(wp_random64_share(&share), rows[i].share);
		ck_assert_uint_eq(wp_random64_below(&below, 7), rows[i].below_7);
	}
}
END_TEST

WP_SUITE("random", generator, ends)
