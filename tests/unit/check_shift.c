/* Has a number changed: Student's t, blocks, captures. */
#include "report/shift.h"

#include <math.h>

#include "report/student.h"
#include "tests/support/suite.h"
#include "traces/random.h"

/* Values of tables (Abramowitz and Stegun, 26.10). */
START_TEST(students_t)
{
	static const struct {
		double t, df, tails;
	} rows[] = {
		{ 0, 5, 1 },           { 12.706, 1, 0.05 },  { 4.303, 2, 0.05 },
		{ 4.604, 4, 0.01 },    { 2.228, 10, 0.05 },  { 2.750, 30, 0.01 },
		{ 3.373, 120, 0.001 }, { 1.960, 1e6, 0.05 }, { 636.619, 1, 0.001 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		double tails = wp_student_tails(rows[i].t, rows[i].df);
		ck_assert_double_eq_tol(tails, rows[i].tails, 2e-3 * rows[i].tails);
		ck_assert_double_eq(wp_student_tails(-rows[i].t, rows[i].df), tails);
		if (rows[i].t > 0)
			ck_assert_double_eq_tol(wp_student_quantile(tails, rows[i].df), rows[i].t,
						1e-6 * rows[i].t);
	}
}
END_TEST

/* N blocks: mean 100 * FACTOR, noise of SD, each NEAR times as the one before and for the rest new. */
typedef struct {
	guint n;
	double factor;
	double sd;
	double near;
} Blocks;

static WpShiftSeries
make(const Blocks *blocks, WpRandom *random)
{
	WpShiftBlock *made = g_new(WpShiftBlock, blocks->n + 1);
	double noise = wp_random_normal(random);
	for (guint i = 0; i < blocks->n; i++) {
		double fresh = sqrt(1 - blocks->near * blocks->near);
		noise = blocks->near * noise + fresh * wp_random_normal(random);
		made[i] = (WpShiftBlock){ (100 + blocks->sd * noise) * blocks->factor * 5, 5 };
	}
	return (WpShiftSeries){ made, blocks->n };
}

#define MAX_CAPTURES 4

#define TIED  WP_SHIFT_TIED
#define APART WP_SHIFT_APART

/* Captures a side, each of blocks as BEFORE or AFTER, at its own level. */
static WpShift
measure(const Blocks *before, const Blocks *after, guint n_captures, double spread,
	WpShiftScale scale, WpShiftBond bond, WpRandom *random)
{
	WpShiftSeries series[2][MAX_CAPTURES];
	WpShiftSide sides[2];
	for (guint side = 0; side < 2; side++) {
		for (guint i = 0; i < n_captures; i++) {
			Blocks own = side ? *after : *before;
			own.factor *= exp(spread * wp_random_normal(random));
			series[side][i] = make(&own, random);
		}
		sides[side] = (WpShiftSide){ series[side], n_captures };
	}
	WpShift shift = wp_shift_measure(scale, bond, &sides[0], &sides[1]);
	for (guint side = 0; side < 2; side++)
		for (guint i = 0; i < n_captures; i++)
			g_free((gpointer)series[side][i].blocks);
	return shift;
}

/* Enough for shares within a few percent. */
#define N_TRIALS 400

/* Of trials without a change, those called one at 5 % are at most so many; with one, at least so many are found. */
START_TEST(false_alarms_and_finds)
{
	static const struct {
		Blocks before, after;
		guint n_captures;
		double spread;
		WpShiftBond bond;
		double least, most; /* share of trials with chance < 5 % */
	} rows[] = {
		{ { 64, 1, 10, 0 }, { 64, 1, 10, 0 }, 1, 0, TIED, 0.01, 0.08 },
		{ { 64, 1, 10, 0 }, { 100, 1, 30, 0 }, 1, 0, TIED, 0.01, 0.08 },
		{ { 64, 1, 10, 0 }, { 100, 1, 30, 0 }, 1, 0, APART, 0.01, 0.08 },
		/* neighbours hang together: joined, or nothing is said */
		{ { 100, 1, 10, 0.5 }, { 100, 1, 10, 0.5 }, 1, 0, TIED, 0, 0.08 },
		{ { 100, 1, 10, 0.95 }, { 100, 1, 10, 0.95 }, 1, 0, TIED, 0, 0.08 },
		/* ... though nothing should have tied them: seen, and the same */
		{ { 100, 1, 10, 0.5 }, { 100, 1, 10, 0.5 }, 1, 0, APART, 0, 0.08 },
		{ { 100, 1, 10, 0.95 }, { 100, 1, 10, 0.95 }, 1, 0, APART, 0, 0.08 },
		/* captures have levels of their own: seen only with three a side */
		{ { 64, 1, 5, 0 }, { 64, 1, 5, 0 }, 1, 0.05, TIED, 0.5, 1 },
		{ { 64, 1, 5, 0 }, { 64, 1, 5, 0 }, 3, 0.05, TIED, 0, 0.08 },
		{ { 64, 1, 5, 0 }, { 64, 1, 5, 0 }, 3, 0.05, APART, 0, 0.08 },
		/* changes of 1, 2 and 5 standard errors of the difference */
		{ { 64, 1, 8, 0 }, { 64, 1.0143, 8, 0 }, 1, 0, TIED, 0.05, 0.3 },
		{ { 64, 1, 8, 0 }, { 64, 1.0287, 8, 0 }, 1, 0, TIED, 0.4, 0.7 },
		{ { 64, 1, 8, 0 }, { 64, 1.0733, 8, 0 }, 1, 0, TIED, 0.94, 1 },
		{ { 64, 1.0733, 8, 0 }, { 64, 1, 8, 0 }, 1, 0, TIED, 0.94, 1 },
		{ { 64, 1, 8, 0 }, { 64, 1.5, 8, 0 }, 4, 0.05, TIED, 0.98, 1 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpRandom random;
		guint n = 0;
		wp_random_init(&random, i + 1);
		for (guint k = 0; k < N_TRIALS; k++) {
			WpShift shift =
				measure(&rows[i].before, &rows[i].after, rows[i].n_captures,
					rows[i].spread, WP_SHIFT_RATIO, rows[i].bond, &random);
			ck_assert_int_eq(shift.by_captures, rows[i].n_captures >= 3);
			n += wp_shift_chance(&shift) < 0.05;
		}
		ck_assert_msg(n >= rows[i].least * N_TRIALS && n <= rows[i].most * N_TRIALS,
			      "row %zu: %u of %u", i, n, N_TRIALS);
	}
}
END_TEST

/* The interval holds the true change, and the change said to be detectable is detected 4 times of 5. */
START_TEST(intervals)
{
	WpRandom random;
	guint n_held = 0, n_seen = 0;
	Blocks same = { 64, 1, 10, 0 }, more = { 64, 1.2, 10, 0 };
	wp_random_init(&random, 3);
	double detectable = 0;
	for (guint i = 0; i < N_TRIALS; i++) {
		double low, high;
		WpShift shift = measure(&same, &more, 1, 0, WP_SHIFT_RATIO, TIED, &random);
		if (shift.doubt != WP_SHIFT_CLEAR)
			continue;
		wp_shift_interval(&shift, 0.05, &low, &high);
		n_held += low <= log(1.2) && log(1.2) <= high;
		ck_assert_double_eq_tol((low + high) / 2, shift.change, 1e-9);
		detectable += wp_shift_detectable(&shift, 0.05) / N_TRIALS;
	}
	ck_assert_uint_ge(n_held, N_TRIALS * 90 / 100);
	Blocks shown = { 64, exp(detectable), 10, 0 };
	for (guint i = 0; i < N_TRIALS; i++) {
		WpShift shift = measure(&same, &shown, 1, 0, WP_SHIFT_RATIO, TIED, &random);
		n_seen += wp_shift_chance(&shift) < 0.05;
	}
	ck_assert_uint_ge(n_seen, N_TRIALS * 70 / 100);
	ck_assert_uint_le(n_seen, N_TRIALS * 90 / 100);
}
END_TEST

/*
 * Blocks that nothing ties are not joined by chance alone: of changes of 4.77 standard errors, tested at 0.3 %, about 95 %
 * are found (Student's t with 156 degrees of freedom: 95.5 %), and hardly more are without a change.
 */
START_TEST(what_is_apart_is_seen)
{
	static const struct {
		WpShiftBond bond;
		double factor;
		double least, most;
	} rows[] = {
		{ TIED, 1.0621, 0.88, 0.94 },
		{ APART, 1.0621, 0.93, 0.97 },
		{ APART, 1, 0, 0.006 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		Blocks before = { 79, 1, 8, 0 }, after = { 79, rows[i].factor, 8, 0 };
		WpRandom random;
		guint n = 0;
		wp_random_init(&random, 7);
		for (guint k = 0; k < 5 * N_TRIALS; k++) {
			WpShift shift = measure(&before, &after, 1, 0, WP_SHIFT_RATIO, rows[i].bond,
						&random);
			n += wp_shift_chance(&shift) < 0.003;
		}
		ck_assert_msg(n >= rows[i].least * 5 * N_TRIALS && n <= rows[i].most * 5 * N_TRIALS,
			      "row %zu: %u of %u", i, n, 5 * N_TRIALS);
	}
}
END_TEST

/* What cannot be told is not told. */
START_TEST(doubts)
{
	static const struct {
		Blocks before, after;
		WpShiftScale scale;
		WpShiftDoubt doubt;
	} rows[] = {
		{ { 0, 1, 1, 0 }, { 64, 1, 1, 0 }, WP_SHIFT_RATIO, WP_SHIFT_NOTHING },
		{ { 64, 1, 1, 0 }, { 64, 0, 1, 0 }, WP_SHIFT_RATIO, WP_SHIFT_NOTHING },
		{ { 64, 1, 1, 0 }, { 64, 0, 1, 0 }, WP_SHIFT_DIFFERENCE, WP_SHIFT_CLEAR },
		{ { 64, 1, 1, 0 },
		  { WP_SHIFT_MIN_BLOCKS - 1, 1, 1, 0 },
		  WP_SHIFT_RATIO,
		  WP_SHIFT_FEW },
		{ { 64, 1, 1, 0 }, { 64, 1, 1, 0.999 }, WP_SHIFT_RATIO, WP_SHIFT_HANGS },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpRandom random;
		wp_random_init(&random, 1);
		WpShift shift = measure(&rows[i].before, &rows[i].after, 1, 0, rows[i].scale, TIED,
					&random);
		ck_assert_int_eq(shift.doubt, rows[i].doubt);
		if (shift.doubt == WP_SHIFT_CLEAR)
			continue;
		ck_assert_double_eq(wp_shift_chance(&shift), 1);
		ck_assert(isinf(wp_shift_detectable(&shift, 0.05)));
	}
}
END_TEST

/* Blocks that drift hang together: only what is large beyond all of it is seen. */
START_TEST(manifest)
{
	static const struct {
		double drift;
		double times;
		WpShiftDoubt doubt;
	} rows[] = {
		{ 0.02, 5, WP_SHIFT_CLEAR },
		{ 0.02, 0.2, WP_SHIFT_CLEAR },
		{ 0.02, 1.9, WP_SHIFT_HANGS },
		{ 0.06, 5, WP_SHIFT_HANGS },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GArray) influences = g_array_new(FALSE, FALSE, sizeof(double));
		for (int k = 0; k < 20; k++) {
			double part = rows[i].drift * (k - 9.5) / 9.5;
			g_array_append_val(influences, part);
		}
		WpShift shift = wp_shift_by_influence(log(rows[i].times), TIED, &influences, 1);
		ck_assert_int_eq(shift.doubt, rows[i].doubt);
		ck_assert_int_eq(wp_shift_chance(&shift) < 0.001, shift.doubt == WP_SHIFT_CLEAR);
	}
}
END_TEST

/* Numbers without noise: any difference is one, and none is none. */
START_TEST(exact_numbers)
{
	Blocks one = { 40, 1, 0, 0 }, three = { 40, 3, 0, 0 };
	WpRandom random;
	wp_random_init(&random, 1);
	WpShift same = measure(&one, &one, 1, 0, WP_SHIFT_DIFFERENCE, TIED, &random);
	WpShift more = measure(&one, &three, 1, 0, WP_SHIFT_DIFFERENCE, TIED, &random);
	ck_assert_double_eq(wp_shift_chance(&same), 1);
	ck_assert_double_eq(wp_shift_chance(&more), 0);
	ck_assert_double_eq(more.change, 200);
	/* wrong links may account for all of it */
	more.link_error = 250;
	ck_assert_double_eq(wp_shift_chance(&more), 1);
}
END_TEST

WP_SUITE("shift", students_t, false_alarms_and_finds, what_is_apart_is_seen, intervals, doubts,
	 manifest, exact_numbers)
