/*
 * Two clocks of the same period keep their distance for ever: each tick of one follows a tick of the other,
 * and nothing in the counts says that it is no cause. What says so is how they stray: messages that are
 * caused come later where their causes came later, those of another clock do not care.
 *
 *      in     |   |    |  |        in     |   |    |  |
 *      out      |   |    |  |      out      |   |  |   |
 *             the gaps go together        they do not: two clocks
 *
 * Where nothing strays at all nobody can tell, and it is not called a cause.
 */
#include "infer/xcorr-model.h"

#include <math.h>
#include <stdlib.h>

/*
 * Gaps that differ by less than this from their median, by the median of how much they differ: a clock.
 * By chance (exponential gaps) it is 0.69; at 0.45 two clocks are too blurred for a spike.
 */
#define REGULAR 0.45

/* Gaps looked at for that: all, or runs of them, as of gaps that take turns every second one may be long. */
#define N_RUNS   64
#define RUN_GAPS 64
#define MAX_GAPS (N_RUNS * RUN_GAPS)

/*
 * No clock either, though most gaps are alike: several messages of a request, one after the other, and then none until the
 * next request. A clock that misses beats has gaps of two or three periods; of gaps that are so much longer than one, and
 * so far from a whole number of them, it has no more than this part, even where it is blurred.
 */
#define MAX_PAUSES 0.06
#define LONGER     1.75
#define OFF_BEAT   0.25

/* Correlation that chance does not reach, in standard deviations; of at least so many gaps. */
#define SURE_SDS 7
#define MIN_GAPS 16

/* Beats within a window that are tried. */
#define MAX_BEATS 8

static int
compare(const void *a, const void *b)
{
	gint64 left = *(const gint64 *)a, right = *(const gint64 *)b;
	return (left > right) - (left < right);
}

/* How many gaps are longer than PERIOD and no multiple of it. */
static gsize
count_pauses(const gint64 *gaps, gsize n, gint64 period)
{
	gsize pauses = 0;
	for (gsize i = 0; i < n; i++) {
		double beats = (double)gaps[i] / (double)period;
		pauses += beats > LONGER && fabs(beats - round(beats)) > OFF_BEAT;
	}
	return pauses;
}

/* The median gap of EDGE where its messages come like a clock's; else 0. */
static gint64
period_of(const WpEdge *edge)
{
	gint64 gaps[MAX_GAPS];
	gsize n = 0, n_gaps = MAX(edge->n, 1) - 1;
	gsize to_next = n_gaps > MAX_GAPS ? n_gaps / N_RUNS : RUN_GAPS; /* from run to run */
	for (gsize i = 0; i < n_gaps && n < MAX_GAPS; i++)
		if (i % to_next < RUN_GAPS)
			gaps[n++] = edge->times_ns[i + 1] - edge->times_ns[i];
	if (n < MIN_GAPS)
		return 0;
	qsort(gaps, n, sizeof *gaps, compare);
	gint64 median = gaps[n / 2];
	if (median <= 0 || (double)count_pauses(gaps, n, median) > MAX_PAUSES * (double)n)
		return 0;
	for (gsize i = 0; i < n; i++)
		gaps[i] = ABS(gaps[i] - median);
	qsort(gaps, n, sizeof *gaps, compare);
	return (double)gaps[n / 2] < REGULAR * (double)median ? median : 0;
}

/* Sums of a correlation coefficient. */
typedef struct {
	double n, x, y, xx, yy, xy;
} Moments;

static void
add(Moments *m, double x, double y)
{
	m->n++;
	m->x += x;
	m->y += y;
	m->xx += x * x;
	m->yy += y * y;
	m->xy += x * y;
}

static double
coefficient(const Moments *m)
{
	double xx = m->n * m->xx - m->x * m->x, yy = m->n * m->yy - m->y * m->y;
	return xx > 0 && yy > 0 ? (m->n * m->xy - m->x * m->y) / sqrt(xx * yy) : 0;
}

/* The message of EDGE nearest to a time; AT only moves on. */
static gint64
nearest(const WpEdge *edge, gint64 time_ns, gsize *at)
{
	const gint64 *times = edge->times_ns;
	while (*at + 1 < edge->n && times[*at + 1] <= time_ns)
		(*at)++;
	if (*at + 1 < edge->n && times[*at + 1] - time_ns < ABS(time_ns - times[*at]))
		return times[*at + 1];
	return times[*at];
}

/*
 * How messages of OUT stand to the beats of IN so much before them: the mean of their lags, less LAG, on a circle of one
 * PERIOD. Without it, which of two beats is the nearest would depend on how both stray, and make them seem to stray
 * together. Asked anew for each lag: PERIOD is not exact, and many of it may be half a beat off.
 */
static double
phase_of(const WpEdge *in, const WpEdge *out, gint64 lag_ns, gint64 period)
{
	double x = 0, y = 0;
	gsize at = 0;
	for (gsize i = 0; i < out->n; i++) {
		gint64 time_ns = out->times_ns[i] - lag_ns;
		gint64 rest_ns = time_ns - nearest(in, time_ns, &at);
		double angle = 2 * G_PI * (double)rest_ns / (double)period;
		x += cos(angle);
		y += sin(angle);
	}
	return atan2(y, x) / (2 * G_PI) * (double)period;
}

/* How gaps of OUT go with those of IN, so much before them: standard deviations. */
static double
stray_together(const WpEdge *in, const WpEdge *out, gint64 lag, gint64 period)
{
	Moments moments = { 0 };
	gsize at = 0;
	gint64 before_in = 0, before_out = 0;
	gboolean has_before = FALSE;
	for (gsize i = 0; i < out->n; i++) {
		gint64 time = out->times_ns[i], cause = nearest(in, time - lag, &at);
		gboolean is_near = ABS(time - lag - cause) < period / 2;
		/* Of what skips a beat, or comes twice, the gap says nothing of straying. */
		if (is_near && has_before && cause > before_in &&
		    cause - before_in < period + period / 2)
			add(&moments, (double)(cause - before_in), (double)(time - before_out));
		has_before = is_near;
		before_in = cause;
		before_out = time;
	}
	return moments.n < MIN_GAPS ? 0 : coefficient(&moments) * sqrt(moments.n);
}

gboolean
wp_xcorr_is_clockwork(const WpEdge *in, const WpEdge *out, gint64 min_ns, gint64 max_ns)
{
	gint64 period = period_of(in);
	if (!period || !period_of(out))
		return FALSE;
	/* From a beat before MIN to one after MAX. */
	gint64 first = min_ns + (gint64)phase_of(in, out, min_ns, period) - period;
	gint64 n = MIN((max_ns - min_ns) / period + 3, MAX_BEATS);
	for (gint64 k = 0; k <= n; k++) {
		gint64 lag = first + k * period;
		lag += (gint64)phase_of(in, out, lag, period);
		if (stray_together(in, out, lag, period) >= SURE_SDS)
			return FALSE;
	}
	return TRUE;
}
