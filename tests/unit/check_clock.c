/* Clocks: what was put in comes out, within what the fit says of itself. */
#include "capture/clock.h"

#include <math.h>

#include "tests/support/suite.h"

#define SEC G_GINT64_CONSTANT(1000000000)
#define T0  (1700000000 * SEC)

static guint64 state;

static double
draw(void)
{
	state = state * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407;
	return ((double)(state >> 11) + 1) / 9007199254740994.0;
}

typedef struct {
	guint n;
	double seconds;
	gint64 offset_ns;
	double ppm, later_ppm; /* from the middle on; 0 = no change */
	gint64 step_ns;        /* in the middle */
	gint64 there_ns, back_ns;
	gint64 more_ns; /* mean of what comes on top */
	double strays;  /* share of pairs that are none */
	gboolean is_one_way;
} Case;

static double
offset_at(const Case *c, double second)
{
	double middle = c->seconds / 2, offset = (double)c->offset_ns + second * c->ppm * 1e3;
	if (second > middle && c->later_ppm != 0)
		offset += (second - middle) * (c->later_ppm - c->ppm) * 1e3;
	return second > middle ? offset + (double)c->step_ns : offset;
}

static WpClockPair *
make_pairs(const Case *c)
{
	WpClockPair *pairs = g_new(WpClockPair, c->n);
	state = 42;
	for (guint i = 0; i < c->n; i++) {
		double second = c->seconds * (i + draw()) / c->n, offset = offset_at(c, second);
		double more = -log(draw()) * (double)c->more_ns;
		gboolean is_back = draw() < 0.5 && !c->is_one_way;
		double way = is_back ? -((double)c->back_ns + more) : (double)c->there_ns + more;
		if (draw() < c->strays)
			way += (draw() - 0.5) * 1e9;
		pairs[i] = (WpClockPair){ T0 + (gint64)(second * 1e9), (gint64)(offset + way),
					  is_back };
	}
	return pairs;
}

/* Offsets within 0.2 ms and drifts within 5 ppm, or what the fit says of its error is right. */
START_TEST(fits)
{
	static const Case rows[] = {
		{ 5000, 60, 30000000, 50, 0, 0, 50000, 50000, 100000, 0, 0 },
		{ 5000, 60, -45000000, -50, 0, 0, 300000, 300000, 300000, 0, 0 },
		{ 500, 30, 7000000, 33, 0, 0, 20000, 60000, 50000, 0, 0 },
		{ 100000, 3600, 1000000, -80, 0, 0, 100000, 100000, 500000, 0, 0 },
		{ 40, 5, -3000000, 20, 0, 0, 50000, 50000, 50000, 0, 0 },
		{ 3, 1, 5000000, 0, 0, 0, 50000, 50000, 0, 0, 0 },
		{ 5000, 600, 30000000, 20, -30, 0, 50000, 50000, 100000, 0, 0 },
		{ 5000, 60, 30000000, 10, 0, 8000000, 50000, 50000, 100000, 0, 0 },
		{ 20000, 60, 3000000, 50, 0, 0, 50000, 50000, 100000, 0.002, 0 },
		{ 5000, 60, -3000000, 50, 0, 0, 50000, 50000, 100000, 0, TRUE },
		{ 5000, 60, 100 * 86400 * SEC, 50, 0, 0, 50000, 50000, 100000, 0, 0 },
		{ 5000, 60, 30000000, 0, 0, 0, 1000, 1000, 2000, 0, 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		const Case *c = &rows[i];
		g_autofree WpClockPair *pairs = make_pairs(c);
		WpClock clock = { 0 }, turned = { 0 };
		ck_assert(wp_clock_fit(pairs, c->n, &clock));
		wp_clock_turn(&clock, &turned);
		gboolean has_break = c->later_ppm != 0 || c->step_ns != 0;
		ck_assert_msg(clock.n == (has_break ? 2 : 1), "row %zu: %u segments", i, clock.n);
		for (double second = 0; second < c->seconds; second += c->seconds / 17) {
			if (has_break && fabs(second - c->seconds / 2) < c->seconds / 30)
				continue;
			gint64 true_ns = T0 + (gint64)(second * 1e9);
			gint64 shown_ns = true_ns + (gint64)offset_at(c, second);
			double off = (double)(wp_clock_correct(&turned, shown_ns) - true_ns);
			const WpClockSegment *segment = wp_clock_segment(&turned, shown_ns);
			double since = (double)(shown_ns - segment->from_ns);
			double bound = segment->offset_error_ns + segment->drift_error * since;
			ck_assert_msg(fabs(off) < 200000 || c->is_one_way,
				      "row %zu, second %g: off by %g ns", i, second, off);
			ck_assert_msg(fabs(off) < bound, "row %zu, second %g: off by %g of %g", i,
				      second, off, bound);
		}
		double drift = clock.segments[0].drift * 1e6 - c->ppm;
		double least = MAX(5, 200e-6 / c->seconds * 1e6);
		ck_assert_msg(fabs(drift) < MAX(least, clock.segments[0].drift_error * 1e6),
			      "row %zu: drift off by %g", i, drift);
		wp_clock_clear(&clock);
		wp_clock_clear(&turned);
	}
}
END_TEST

/* So short, or so noisy, that a drift is not told from none: then it is none, and how sure that is says so. */
START_TEST(drift_unknown)
{
	static const Case rows[] = {
		{ 40, 0.05, 3000000, 50, 0, 0, 50000, 50000, 50000, 0, 0 },
		{ 400, 0.2, -45000000, -50, 0, 0, 50000, 50000, 300000, 0, 0 },
		{ 30, 1, 7000000, 0, 0, 0, 20000, 60000, 2000000, 0, 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		const Case *c = &rows[i];
		g_autofree WpClockPair *pairs = make_pairs(c);
		WpClock clock = { 0 };
		ck_assert(wp_clock_fit(pairs, c->n, &clock));
		const WpClockSegment *segment = &clock.segments[0];
		ck_assert_uint_eq(clock.n, 1);
		ck_assert_msg(segment->drift == 0, "row %zu: drift %g", i, segment->drift);
		ck_assert_msg(segment->drift_error > fabs(c->ppm) / 1e6, "row %zu: error %g", i,
			      segment->drift_error);
		double off = (double)segment->offset_ns - (double)c->offset_ns;
		ck_assert_msg(fabs(off) < segment->offset_error_ns, "row %zu: off by %g of %g", i,
			      off, segment->offset_error_ns);
		wp_clock_clear(&clock);
	}
}
END_TEST

START_TEST(too_few)
{
	WpClockPair pairs[2] = { { 1, 2, FALSE }, { 3, 4, TRUE } };
	WpClock clock = { 0 };
	ck_assert(!wp_clock_fit(pairs, 2, &clock));
	ck_assert_uint_eq(clock.n, 0);
	ck_assert_int_eq(wp_clock_correct(&clock, 77), 77);
}
END_TEST

/* A against B against C: one after the other is the same as both at once. */
/* Edges of windows, the two as far off as noise and ways make them. */
START_TEST(edges)
{
	static const struct {
		guint n;
		gint64 offset_ns;
		double ppm;
		gint64 there_ns, back_ns, noise_ns;
		double drift_off; /* ppm, at most */
	} cases[] = {
		{ 1, 30000000, 0, 500000, 500000, 0, 1e-9 },
		{ 2, -45000000, 0, 500000, 500000, 0, 1e-9 },
		{ 12, 30000000, 50, 500000, 300000, 20000, 5 },
		{ 100, G_GINT64_CONSTANT(-8000000000), -50, 2000000, 1500000, 100000, 5 },
		{ 100, 0, 0, 10000, 20000, 1000, 5 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree WpClockEdges *all = g_new(WpClockEdges, cases[i].n);
		WpClock clock = { 0 };
		state = 42;
		for (guint k = 0; k < cases[i].n; k++) {
			gint64 second = 4 * (gint64)k;
			gint64 offset_ns =
				cases[i].offset_ns + (gint64)((double)second * cases[i].ppm * 1e3);
			double noise = (double)cases[i].noise_ns;
			all[k].time_ns = T0 + second * SEC;
			all[k].there_ns =
				offset_ns + cases[i].there_ns + (gint64)(noise * (draw() - 0.5));
			all[k].back_ns =
				offset_ns - cases[i].back_ns + (gint64)(noise * (draw() - 0.5));
		}
		wp_clock_fit_edges(all, cases[i].n, &clock);
		ck_assert_uint_eq(clock.n, 1);
		const WpClockSegment *segment = &clock.segments[0];
		double off = (double)(segment->offset_ns - cases[i].offset_ns);
		double half = (double)(cases[i].there_ns + cases[i].back_ns) / 2;
		ck_assert_msg(fabs(off) < segment->offset_error_ns, "case %zu", i);
		ck_assert_msg(segment->offset_error_ns < 1.5 * half + 10000, "case %zu", i);
		ck_assert_double_lt(fabs(segment->drift * 1e6 - cases[i].ppm), cases[i].drift_off);
		wp_clock_clear(&clock);
	}
}
END_TEST

START_TEST(chains)
{
	WpClock a = { 0 }, b = { 0 }, both = { 0 }, back = { 0 }, none = { 0 }, same = { 0 };
	wp_clock_set(&a, T0, 30000000, 50e-6);
	wp_clock_set(&b, T0 - SEC, -12000000, -20e-6);
	wp_clock_chain(&a, &b, &both);
	wp_clock_chain(&a, &none, &same);
	for (gint64 at = T0 - 100 * SEC; at < T0 + 1000 * SEC; at += 33 * SEC) {
		gint64 expected = wp_clock_correct(&b, wp_clock_correct(&a, at));
		ck_assert_int_le(ABS(wp_clock_correct(&both, at) - expected), 5);
		ck_assert_int_le(ABS(wp_clock_correct(&same, at) - wp_clock_correct(&a, at)), 1);
	}
	/* Turned and negated it is the clock of the other, and takes back what the first did. */
	wp_clock_negate(&a, &back);
	WpClock turned = { 0 };
	wp_clock_turn(&a, &turned);
	for (gint64 at = T0; at < T0 + 1000 * SEC; at += 33 * SEC) {
		gint64 there = wp_clock_correct(&back, at);
		ck_assert_int_le(ABS(wp_clock_correct(&turned, there) - at), 5);
	}
	wp_clock_clear(&a);
	wp_clock_clear(&b);
	wp_clock_clear(&both);
	wp_clock_clear(&back);
	wp_clock_clear(&same);
	wp_clock_clear(&turned);
}
END_TEST

WP_SUITE("clock", fits, drift_unknown, too_few, edges, chains)
