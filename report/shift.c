/*
 * Ratio estimators by blocks. Of a ratio r = sum(num) / sum(den) the part of a block in its error is
 * (num - r den) / sum(den): the delta method (Cochran, "Sampling Techniques", 1977, 6.3).
 */
#include "report/shift.h"

#include <math.h>
#include <string.h>

#include "report/student.h"

/* What is left of the correlation of neighbours, in standard errors of it, where blocks are long enough. */
#define LOOSE 1.0

/* ... and where nothing should tie them: all captures together. More, and something does. */
#define LOOSE_APART 1.5

/* With few blocks left: beyond this their variance says too little. */
#define MAX_HANG 0.4

/* Standard errors, such as they are, from which on it makes no difference how blocks hang together. */
#define MANIFEST 10.0

typedef struct {
	double value;    /* of the ratio */
	double variance; /* of VALUE on the scale */
	double df;
	WpShiftDoubt doubt;
} Estimate;

static void
sum_series(const WpShiftSeries *series, double *num, double *den)
{
	for (guint i = 0; i < series->n; i++) {
		*num += series->blocks[i].num;
		*den += series->blocks[i].den;
	}
}

/* Correlation of each of N parts with the next, without the bias of having taken out the mean. */
static double
hang(const double *parts, guint n)
{
	double sum = 0, squares = 0;
	for (guint i = 0; i < n; i++)
		squares += parts[i] * parts[i];
	for (guint i = 0; i + 1 < n; i++)
		sum += parts[i] * parts[i + 1];
	return squares > 0 ? sum / squares + 1.0 / n : 0;
}

/* The variance of the sum of N PARTS; neighbours' correlation R as in a process where each follows from the last. */
static Estimate
vary(const double *parts, guint n, double r)
{
	double squares = 0;
	for (guint i = 0; i < n; i++)
		squares += parts[i] * parts[i];
	r = CLAMP(r, 0, MAX_HANG);
	return (Estimate){ .variance = squares * n / (n - 1.0) * (1 + r) / (1 - r), .df = n - 1.0 };
}

/* How the blocks of several captures hang together. */
typedef struct {
	double sum; /* of the correlations, each times its blocks */
	guint n;    /* blocks */
} Ties;

static void
add_ties(Ties *ties, const double *parts, guint n)
{
	ties->sum += n ? hang(parts, n) * n : 0;
	ties->n += n;
}

static WpShiftBond
find_bond(const Ties *ties)
{
	return ties->sum > LOOSE_APART * sqrt(ties->n) ? WP_SHIFT_TIED : WP_SHIFT_APART;
}

/* ... joined in pairs (changed) until they hang together no more. */
static Estimate
join_parts(double *parts, guint n, WpShiftBond bond)
{
	if (n < WP_SHIFT_MIN_BLOCKS)
		return (Estimate){ .doubt = WP_SHIFT_FEW };
	if (bond == WP_SHIFT_APART)
		return vary(parts, n, 0);
	for (;;) {
		double r = hang(parts, n);
		if (r <= LOOSE / sqrt(n))
			return vary(parts, n, r);
		if (n / 2 < WP_SHIFT_MIN_BLOCKS)
			break;
		for (guint i = 0; i < n / 2; i++)
			parts[i] = parts[2 * i] + parts[2 * i + 1];
		if (n % 2)
			parts[n / 2 - 1] += parts[n - 1];
		n /= 2;
	}
	Estimate last = vary(parts, n, hang(parts, n));
	if (hang(parts, n) >= MAX_HANG)
		last.doubt = WP_SHIFT_HANGS;
	return last;
}

gboolean
wp_shift_is_manifest(const WpShift *shift)
{
	double size = fabs(shift->change);
	return shift->scale == WP_SHIFT_RATIO && size >= G_LN2 && size >= MANIFEST * shift->error;
}

/* RATIO: relative to the number, so that the error is that of the logarithm. */
static double
scale_of(WpShiftScale scale, double num, double den)
{
	return scale == WP_SHIFT_RATIO ? num : den;
}

/* (transfer full) What the blocks of SERIES add to the error of RATIO. */
static double *
find_parts(const WpShiftSeries *series, double ratio, double total)
{
	double *parts = g_new(double, series->n + 1);
	for (guint i = 0; i < series->n; i++)
		parts[i] = (series->blocks[i].num - ratio * series->blocks[i].den) / total;
	return parts;
}

static Estimate
estimate_series(const WpShiftSeries *series, double ratio, double total, WpShiftBond bond)
{
	g_autofree double *parts = find_parts(series, ratio, total);
	return join_parts(parts, series->n, bond);
}

/* FALSE where SIDE has nothing of it. */
static gboolean
sum_side(WpShiftScale scale, const WpShiftSide *side, double *out_ratio, double *out_total)
{
	double num = 0, den = 0;
	for (guint i = 0; i < side->n; i++)
		sum_series(&side->series[i], &num, &den);
	if (!(den > 0) || (scale == WP_SHIFT_RATIO && !(num > 0)))
		return FALSE;
	*out_ratio = num / den;
	*out_total = scale_of(scale, num, den);
	return TRUE;
}

/* Adds what ties the blocks of SIDE. */
static void
tie_side(WpShiftScale scale, const WpShiftSide *side, Ties *ties)
{
	double ratio, total;
	if (!sum_side(scale, side, &ratio, &total))
		return;
	for (guint i = 0; i < side->n; i++) {
		g_autofree double *parts = find_parts(&side->series[i], ratio, total);
		add_ties(ties, parts, side->series[i].n);
	}
}

/* All captures of a side as one; their differences from each other are within its blocks only in part. */
static Estimate
estimate_pooled(WpShiftScale scale, WpShiftBond bond, const WpShiftSide *side)
{
	Estimate sum = { .doubt = WP_SHIFT_NOTHING };
	double total, weights = 0;
	if (!sum_side(scale, side, &sum.value, &total))
		return sum;
	sum.doubt = WP_SHIFT_CLEAR;
	for (guint i = 0; i < side->n; i++) {
		Estimate one = estimate_series(&side->series[i], sum.value, total, bond);
		if (one.doubt != WP_SHIFT_CLEAR) {
			sum.doubt = one.doubt;
			return sum;
		}
		sum.variance += one.variance;
		weights += one.variance * one.variance / one.df;
	}
	/* Welch and Satterthwaite */
	sum.df = weights > 0 ? sum.variance * sum.variance / weights : 1;
	return sum;
}

/* Captures as units: the mean of their values, and the variance that they show. */
typedef struct {
	double mean;
	double squares; /* of the distances from the mean */
	double within;  /* variance of the mean by blocks; 0 where they say nothing */
	guint n;
} Captures;

static Captures
measure_captures(WpShiftScale scale, WpShiftBond bond, const WpShiftSide *side)
{
	Captures captures = { .n = side->n };
	g_autofree double *values = g_new(double, side->n);
	for (guint i = 0; i < side->n; i++) {
		double num = 0, den = 0;
		sum_series(&side->series[i], &num, &den);
		values[i] = scale == WP_SHIFT_RATIO ? log(num / den) : num / den;
		captures.mean += values[i] / side->n;
		Estimate one = estimate_series(&side->series[i], num / den,
					       scale_of(scale, num, den), bond);
		if (one.doubt == WP_SHIFT_CLEAR)
			captures.within += one.variance / side->n / side->n;
	}
	for (guint i = 0; i < side->n; i++)
		captures.squares += (values[i] - captures.mean) * (values[i] - captures.mean);
	return captures;
}

static void
shift_by_captures(WpShift *shift, WpShiftBond bond, const WpShiftSide *before,
		  const WpShiftSide *after)
{
	Captures a = measure_captures(shift->scale, bond, before);
	Captures b = measure_captures(shift->scale, bond, after);
	shift->by_captures = TRUE;
	shift->change = b.mean - a.mean;
	shift->df = a.n + b.n - 2;
	double between = (a.squares + b.squares) / shift->df * (1.0 / a.n + 1.0 / b.n);
	shift->error = sqrt(MAX(between, a.within + b.within));
}

static void
shift_by_blocks(WpShift *shift, const Estimate *before, const Estimate *after)
{
	double variance = before->variance + after->variance;
	double weights = before->variance * before->variance / MAX(before->df, 1) +
			 after->variance * after->variance / MAX(after->df, 1);
	shift->error = sqrt(variance);
	shift->df = weights > 0 ? variance * variance / weights : 1;
	shift->change = shift->scale == WP_SHIFT_RATIO ? log(after->value / before->value)
						       : after->value - before->value;
}

/* TRUE where each capture of SIDE has enough of it to be a unit. */
static gboolean
can_be_units(WpShiftScale scale, const WpShiftSide *side)
{
	for (guint i = 0; i < side->n; i++) {
		double num = 0, den = 0;
		sum_series(&side->series[i], &num, &den);
		if (!(den > 0) || (scale == WP_SHIFT_RATIO && !(num > 0)))
			return FALSE;
	}
	return side->n >= WP_SHIFT_MIN_CAPTURES;
}

WpShift
wp_shift_measure(WpShiftScale scale, WpShiftBond bond, const WpShiftSide *before,
		 const WpShiftSide *after)
{
	if (bond == WP_SHIFT_APART) {
		Ties ties = { 0, 0 };
		tie_side(scale, before, &ties);
		tie_side(scale, after, &ties);
		bond = find_bond(&ties);
	}
	Estimate a = estimate_pooled(scale, bond, before), b = estimate_pooled(scale, bond, after);
	WpShift shift = { .scale = scale, .before = a.value, .after = b.value, .df = 1 };
	if (a.doubt == WP_SHIFT_NOTHING || b.doubt == WP_SHIFT_NOTHING) {
		shift.doubt = WP_SHIFT_NOTHING;
		return shift;
	}
	shift.hangs = a.doubt == WP_SHIFT_HANGS || b.doubt == WP_SHIFT_HANGS;
	if (can_be_units(scale, before) && can_be_units(scale, after)) {
		shift_by_captures(&shift, bond, before, after);
	} else {
		shift.doubt = a.doubt != WP_SHIFT_CLEAR ? a.doubt : b.doubt;
		shift_by_blocks(&shift, &a, &b);
	}
	return shift;
}

/* (transfer full) The influences about their mean. */
static double *
center(const GArray *influences)
{
	guint n = influences->len;
	double *parts = g_new(double, n + 1), mean = 0;
	for (guint i = 0; i < n; i++)
		mean += g_array_index(influences, double, i) / n;
	for (guint i = 0; i < n; i++)
		parts[i] = g_array_index(influences, double, i) - mean;
	return parts;
}

/* A block left out changes a little more than its part in the error: n blocks of n - 1. */
WpShift
wp_shift_by_influence(double change, WpShiftBond bond, GArray *const *influences, guint n)
{
	WpShift shift = { .scale = WP_SHIFT_RATIO, .change = change, .df = 1 };
	double variance = 0, weights = 0;
	Ties ties = { 0, 0 };
	for (guint i = 0; i < n && bond == WP_SHIFT_APART; i++) {
		g_autofree double *parts = center(influences[i]);
		add_ties(&ties, parts, influences[i]->len);
	}
	if (bond == WP_SHIFT_APART)
		bond = find_bond(&ties);
	for (guint i = 0; i < n; i++) {
		g_autofree double *parts = center(influences[i]);
		Estimate one = join_parts(parts, influences[i]->len, bond);
		if (one.doubt != WP_SHIFT_CLEAR)
			shift.doubt = one.doubt;
		if (one.doubt == WP_SHIFT_FEW)
			return shift;
		variance += one.variance;
		weights += one.variance * one.variance / one.df;
	}
	shift.error = sqrt(variance);
	shift.df = weights > 0 ? variance * variance / weights : 1;
	if (shift.doubt == WP_SHIFT_HANGS && wp_shift_is_manifest(&shift))
		shift.doubt = WP_SHIFT_CLEAR;
	return shift;
}

double
wp_shift_chance(const WpShift *shift)
{
	double clear = fabs(shift->change) - shift->link_error;
	if (shift->doubt != WP_SHIFT_CLEAR || clear <= 0)
		return 1;
	return shift->error > 0 ? wp_student_tails(clear / shift->error, shift->df) : 0;
}

void
wp_shift_interval(const WpShift *shift, double risk, double *out_low, double *out_high)
{
	double half = INFINITY;
	if (shift->doubt == WP_SHIFT_CLEAR)
		half = wp_student_quantile(risk, shift->df) * shift->error + shift->link_error;
	*out_low = shift->change - half;
	*out_high = shift->change + half;
}

double
wp_shift_detectable(const WpShift *shift, double risk)
{
	if (shift->doubt != WP_SHIFT_CLEAR)
		return INFINITY;
	/* 0.4: the t that 20 % of all cases stay below, on one side. */
	return (wp_student_quantile(risk, shift->df) + wp_student_quantile(0.4, shift->df)) *
		       shift->error +
	       shift->link_error;
}
