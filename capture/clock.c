/*
 * Clocks: the fit. Pairs are cut into windows of as many pairs each; a window gives one point, halfway
 * between its envelopes, and its weight, which falls where the envelopes are far apart (then nothing came
 * through undelayed). A line through the points; what is left of the slope inside the windows is taken out
 * and all done again. Where one line does not do, it is cut in two where that helps most, and so on.
 */
#include "capture/clock.h"

#include <math.h>
#include <stdlib.h>

/* A window has so many pairs at least, or fewer where there are few; and there are at most so many windows. */
#define WINDOW_PAIRS 24
#define FEW_PAIRS    8
#define FEW_WINDOWS  6
#define MAX_WINDOWS  192

/* Fewer pairs say too little. */
#define MIN_PAIRS 3

/* Differences further than this from the usual one are of other messages that happen to be alike. */
#define MAX_SPREAD_NS 2e9

/* This share of each envelope is left out: strays. */
#define STRAYS 0.01

/* Envelopes this far apart (ns) are as good as together: what stamping costs. */
#define STAMP_NOISE_NS 2000.0

/* Where one direction alone was seen, the way itself may be taken for an offset: so much. */
#define ONE_WAY_ERROR_NS 5e6

/* A clock is cut where that leaves less than this share of the squares, and lines are off by so much. */
#define CUT_SHARE      0.35
#define CUT_WORTH_NS   25000.0
#define CUT_WINDOWS    4
#define MAX_SEGMENTS   16
#define MIN_LINE       3    /* windows for a drift */
#define BELIEVED       5    /* windows whose errors are as large as was assumed */
#define LEAST_VARIANCE 0.05 /* of that: what no number of windows makes better */
#define MAX_DRIFT      1e-3 /* beyond, it is no clock */
#define WELL_KNOWN     2e-5 /* an error of a drift that is good enough to go by */
#define NO_DRIFT_SURE  1e-4 /* the error of a drift that was not measured: no quartz is worse */

#define N_ROUNDS 3

typedef struct {
	double time;   /* ns since the first pair */
	double there;  /* lower envelope of the differences, A to B */
	double back;   /* upper envelope of those of B to A */
	double offset; /* what is believed */
	double gap;    /* half of what lies between */
	double weight;
	gboolean has_there, has_back;
} Window;

typedef struct {
	guint first, end; /* windows */
	double at;        /* where the line is OFFSET */
	double offset, slope;
	double offset_error, slope_error;
	double squares; /* weighted */
} Line;

typedef struct {
	const WpClockPair *pairs;
	gsize n;
	gint64 start_ns, base_ns;
	double *residuals; /* of a window, for sorting */
	Window *windows;
	guint n_windows;
	double gap; /* usual half way there and back */
	gboolean is_one_way;
	GArray *lines; /* Line */
} Fit;

void
wp_clock_clear(WpClock *clock)
{
	g_free(clock->segments);
	*clock = (WpClock){ 0 };
}

void
wp_clock_set(WpClock *clock, gint64 from_ns, gint64 offset_ns, double drift)
{
	wp_clock_clear(clock);
	clock->segments = g_new0(WpClockSegment, 1);
	clock->n = 1;
	clock->segments[0].from_ns = from_ns;
	clock->segments[0].offset_ns = offset_ns;
	clock->segments[0].drift = drift;
}

const WpClockSegment *
wp_clock_segment(const WpClock *clock, gint64 time_ns)
{
	guint i = 0;
	while (i + 1 < clock->n && clock->segments[i + 1].from_ns <= time_ns)
		i++;
	return clock->n ? &clock->segments[i] : NULL;
}

gint64
wp_clock_correct(const WpClock *clock, gint64 time_ns)
{
	const WpClockSegment *segment = wp_clock_segment(clock, time_ns);
	if (!segment)
		return time_ns;
	double gained = (double)(time_ns - segment->from_ns) * segment->drift;
	return time_ns - segment->offset_ns - (gint64)llround(gained);
}

/* --- windows --- */

static int
compare_doubles(gconstpointer a, gconstpointer b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static int
compare_differences(gconstpointer a, gconstpointer b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return x < y ? -1 : x > y;
}

static double
median(double *values, guint n)
{
	qsort(values, n, sizeof values[0], compare_doubles);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static const Line *
line_of(const Fit *fit, guint window)
{
	guint i = 0;
	while (i + 1 < fit->lines->len && g_array_index(fit->lines, Line, i).end <= window)
		i++;
	return fit->lines->len ? &g_array_index(fit->lines, Line, i) : NULL;
}

static double
value_at(const Line *line, double time)
{
	return line ? line->offset + line->slope * (time - line->at) : 0;
}

/* The envelope of one direction over pairs FROM to END, against the LINE so far; FALSE where there are none. */
static gboolean
find_envelope(Fit *fit, gsize from, gsize end, const Line *line, gboolean is_back, double *out)
{
	gsize n = 0;
	for (gsize i = from; i < end; i++) {
		const WpClockPair *pair = &fit->pairs[i];
		double time = (double)(pair->time_ns - fit->start_ns);
		double residual =
			(double)(pair->difference_ns - fit->base_ns) - value_at(line, time);
		if (pair->is_back != is_back || fabs(residual) > MAX_SPREAD_NS)
			continue;
		fit->residuals[n++] = is_back ? -residual : residual;
	}
	if (n == 0)
		return FALSE;
	qsort(fit->residuals, n, sizeof fit->residuals[0], compare_doubles);
	double lowest = fit->residuals[(gsize)((double)n * STRAYS)];
	*out = is_back ? -lowest : lowest;
	return TRUE;
}

static void
measure_window(Fit *fit, guint i)
{
	Window *window = &fit->windows[i];
	gsize from = fit->n * i / fit->n_windows, end = fit->n * (i + 1) / fit->n_windows;
	const Line *line = line_of(fit, i);
	double first = (double)(fit->pairs[from].time_ns - fit->start_ns);
	double last = (double)(fit->pairs[end - 1].time_ns - fit->start_ns);

	window->time = (first + last) / 2;
	window->has_there = find_envelope(fit, from, end, line, FALSE, &window->there);
	window->has_back = find_envelope(fit, from, end, line, TRUE, &window->back);
	double value = value_at(line, window->time);
	window->there += value;
	window->back += value;
}

/* The usual gap, from windows that have both directions. */
static void
find_gap(Fit *fit)
{
	g_autofree double *gaps = g_new(double, fit->n_windows);
	guint n = 0;

	for (guint i = 0; i < fit->n_windows; i++)
		if (fit->windows[i].has_there && fit->windows[i].has_back)
			gaps[n++] = (fit->windows[i].there - fit->windows[i].back) / 2;
	fit->is_one_way = n == 0;
	fit->gap = n ? MAX(median(gaps, n), 0) : 0;
}

static void
weigh_windows(Fit *fit)
{
	for (guint i = 0; i < fit->n_windows; i++) {
		Window *window = &fit->windows[i];
		if (window->has_there && window->has_back) {
			window->offset = (window->there + window->back) / 2;
			window->gap = (window->there - window->back) / 2;
		} else {
			window->offset = window->has_there ? window->there - fit->gap
							   : window->back + fit->gap;
			window->gap = 3 * fit->gap;
		}
		double excess = fabs(window->gap - fit->gap);
		double error = STAMP_NOISE_NS + 0.1 * fit->gap + excess;
		window->weight = window->has_there || window->has_back ? 1 / (error * error) : 0;
	}
}

/* --- lines --- */

/*
 * What lies within the error of a window of weight 1, 95 % sure: of N windows with what is left of SQUARES. Few of
 * them may lie on a line by chance: what windows were taken for counts as much as BELIEVED of them, and the quantile
 * is Student's (within 0.3 % by this formula from 5 degrees of freedom on).
 */
static double
error_of(double squares, guint n)
{
	double freedom = MAX(n, 2) - 2 + BELIEVED;
	double quantile = 1.96 + 2.4 / freedom + 3.1 / (freedom * freedom);
	return quantile * sqrt(MAX((squares + BELIEVED) / freedom, LEAST_VARIANCE));
}

static Line
fit_line(const Fit *fit, guint first, guint end)
{
	Line line = { .first = first, .end = end };
	double sum = 0, sum_t = 0, sum_o = 0, sum_tt = 0, sum_to = 0;
	guint n = end - first;

	for (guint i = first; i < end; i++) {
		const Window *window = &fit->windows[i];
		sum += window->weight;
		sum_t += window->weight * window->time;
		sum_o += window->weight * window->offset;
	}
	if (sum <= 0)
		return line;
	line.at = sum_t / sum;
	line.offset = sum_o / sum;
	for (guint i = first; i < end; i++) {
		const Window *window = &fit->windows[i];
		double t = window->time - line.at;
		sum_tt += window->weight * t * t;
		sum_to += window->weight * t * (window->offset - line.offset);
	}
	gboolean has_slope = n >= MIN_LINE && sum_tt > 0;
	line.slope = has_slope ? sum_to / sum_tt : 0;
	for (guint i = first; i < end; i++) {
		const Window *window = &fit->windows[i];
		double rest = window->offset - value_at(&line, window->time);
		line.squares += window->weight * rest * rest;
	}
	double error = error_of(line.squares, n);
	line.offset_error = error / sqrt(sum);
	line.slope_error = has_slope ? error / sqrt(sum_tt) : NO_DRIFT_SURE;
	/* Known worse than what clocks are set apart by, and not told from none: it is taken for none. */
	if (fabs(line.slope) > MAX_DRIFT)
		line.slope_error = NO_DRIFT_SURE;
	if (fabs(line.slope) > MAX_DRIFT ||
	    (line.slope_error > WELL_KNOWN && fabs(line.slope) < line.slope_error))
		line.slope = 0;
	return line;
}

/* How far a line is off in the window where it is worst, less what that window is unsure of. */
static double
worst_of(const Fit *fit, const Line *line)
{
	double worst = 0;
	for (guint i = line->first; i < line->end; i++) {
		const Window *window = &fit->windows[i];
		double rest = fabs(window->offset - value_at(line, window->time));
		if (window->weight > 0)
			worst = MAX(worst, rest - 2 * fabs(window->gap - fit->gap));
	}
	return worst;
}

/* Cuts LINE in two where that leaves least; FALSE where it does not help enough. */
static gboolean
cut_line(const Fit *fit, const Line *line, Line out[2])
{
	double best = line->squares * CUT_SHARE;
	gboolean is_found = FALSE;

	if (worst_of(fit, line) < CUT_WORTH_NS)
		return FALSE;
	for (guint at = line->first + CUT_WINDOWS; at + CUT_WINDOWS <= line->end; at++) {
		Line left = fit_line(fit, line->first, at), right = fit_line(fit, at, line->end);
		if (left.squares + right.squares >= best)
			continue;
		best = left.squares + right.squares;
		out[0] = left;
		out[1] = right;
		is_found = TRUE;
	}
	return is_found;
}

static void
fit_lines(Fit *fit, gboolean may_cut)
{
	Line whole = fit_line(fit, 0, fit->n_windows);
	g_array_set_size(fit->lines, 0);
	g_array_append_val(fit->lines, whole);
	for (guint i = 0; may_cut && i < fit->lines->len && fit->lines->len < MAX_SEGMENTS;) {
		Line parts[2];
		if (!cut_line(fit, &g_array_index(fit->lines, Line, i), parts)) {
			i++;
			continue;
		}
		g_array_index(fit->lines, Line, i) = parts[0];
		g_array_insert_val(fit->lines, i + 1, parts[1]);
	}
}

/* --- the clock --- */

/* Where the line before ends and LINE begins: where they meet, if that is between their windows. */
static double
find_border(const Fit *fit, const Line *before, const Line *line)
{
	double low = fit->windows[line->first - 1].time, high = fit->windows[line->first].time;
	double bend = line->slope - before->slope;
	if (bend != 0) {
		double meet = (value_at(before, 0) - value_at(line, 0)) / bend;
		if (meet > low - (high - low) && meet < high + (high - low))
			return meet;
	}
	return (low + high) / 2;
}

static void
make_clock(const Fit *fit, WpClock *out)
{
	out->n = fit->lines->len;
	out->segments = g_new0(WpClockSegment, out->n);
	for (guint i = 0; i < out->n; i++) {
		const Line *line = &g_array_index(fit->lines, Line, i);
		double from = i ? find_border(fit, line - 1, line) : 0;
		double asymmetry = fit->is_one_way ? ONE_WAY_ERROR_NS : fit->gap;
		WpClockSegment *segment = &out->segments[i];
		segment->from_ns = fit->start_ns + (gint64)from;
		segment->offset_ns = fit->base_ns + (gint64)llround(value_at(line, from));
		segment->drift = line->slope;
		/* The line is surest in its middle. */
		double sway = line->slope_error * fabs(line->at - from);
		segment->offset_error_ns =
			hypot(line->offset_error, sway) + asymmetry + STAMP_NOISE_NS;
		segment->drift_error = line->slope_error;
	}
}

/* (transfer full) The middle of all differences. */
static gint64
find_base(const WpClockPair *pairs, gsize n)
{
	g_autofree gint64 *differences = g_new(gint64, n);
	for (gsize i = 0; i < n; i++)
		differences[i] = pairs[i].difference_ns;
	qsort(differences, n, sizeof differences[0], compare_differences);
	return differences[n / 2];
}

gboolean
wp_clock_fit(const WpClockPair *pairs, gsize n, WpClock *out_clock)
{
	Fit fit = { .pairs = pairs, .n = n };

	if (n < MIN_PAIRS)
		return FALSE;
	fit.start_ns = pairs[0].time_ns;
	fit.base_ns = find_base(pairs, n);
	fit.n_windows =
		(guint)MAX(MIN(n / WINDOW_PAIRS, MAX_WINDOWS), MIN(n / FEW_PAIRS, FEW_WINDOWS));
	fit.n_windows = MAX(fit.n_windows, 1);
	fit.windows = g_new0(Window, fit.n_windows);
	fit.residuals = g_new(double, n);
	fit.lines = g_array_new(FALSE, FALSE, sizeof(Line));
	for (guint round = 0; round < N_ROUNDS; round++) {
		for (guint i = 0; i < fit.n_windows; i++)
			measure_window(&fit, i);
		find_gap(&fit);
		weigh_windows(&fit);
		fit_lines(&fit, round > 0);
	}
	make_clock(&fit, out_clock);
	g_array_unref(fit.lines);
	g_free(fit.residuals);
	g_free(fit.windows);
	return TRUE;
}

void
wp_clock_fit_edges(const WpClockEdges *edges, gsize n, WpClock *out_clock)
{
	Fit fit = { .start_ns = edges[0].time_ns, .base_ns = edges[n / 2].there_ns };

	fit.n_windows = (guint)n;
	fit.windows = g_new0(Window, n);
	fit.lines = g_array_new(FALSE, FALSE, sizeof(Line));
	for (gsize i = 0; i < n; i++)
		fit.windows[i] = (Window){
			.time = (double)(edges[i].time_ns - fit.start_ns),
			.there = (double)(edges[i].there_ns - fit.base_ns),
			.back = (double)(edges[i].back_ns - fit.base_ns),
			.has_there = TRUE,
			.has_back = TRUE,
		};
	find_gap(&fit);
	weigh_windows(&fit);
	fit_lines(&fit, TRUE);
	make_clock(&fit, out_clock);
	g_array_unref(fit.lines);
	g_free(fit.windows);
}

void
wp_clock_turn(const WpClock *clock, WpClock *out_clock)
{
	WpClock turned = { g_new(WpClockSegment, clock->n), clock->n };
	for (guint i = 0; i < clock->n; i++) {
		turned.segments[i] = clock->segments[i];
		turned.segments[i].from_ns += clock->segments[i].offset_ns;
		turned.segments[i].drift /= 1 + clock->segments[i].drift;
	}
	*out_clock = turned;
}

void
wp_clock_negate(const WpClock *clock, WpClock *out_clock)
{
	WpClock negative = { g_new(WpClockSegment, clock->n), clock->n };
	for (guint i = 0; i < clock->n; i++) {
		negative.segments[i] = clock->segments[i];
		negative.segments[i].offset_ns = -clock->segments[i].offset_ns;
		negative.segments[i].drift = -clock->segments[i].drift;
	}
	*out_clock = negative;
}

static int
compare_segments(gconstpointer a, gconstpointer b)
{
	const WpClockSegment *x = a, *y = b;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* Segments of VIA begin, by the time of CLOCK, so much later as CLOCK is fast. */
void
wp_clock_chain(const WpClock *clock, const WpClock *via, WpClock *out_clock)
{
	GArray *sum = g_array_new(FALSE, TRUE, sizeof(WpClockSegment));

	g_array_append_vals(sum, clock->segments, clock->n);
	for (guint i = 1; i < via->n; i++) {
		WpClockSegment segment = via->segments[i];
		const WpClockSegment *own = wp_clock_segment(clock, segment.from_ns);
		segment.from_ns += own ? own->offset_ns : 0;
		g_array_append_val(sum, segment);
	}
	if (sum->len == 0 && via->n)
		g_array_append_vals(sum, via->segments, 1);
	g_array_sort(sum, compare_segments);
	for (guint i = 0; i < sum->len; i++) {
		WpClockSegment *segment = &g_array_index(sum, WpClockSegment, i);
		gint64 from_ns = segment->from_ns, via_ns = wp_clock_correct(clock, from_ns);
		const WpClockSegment *own = wp_clock_segment(clock, from_ns);
		const WpClockSegment *other = wp_clock_segment(via, via_ns);
		double own_drift = own ? own->drift : 0, drift = other ? other->drift : 0;
		*segment = (WpClockSegment){ .from_ns = from_ns };
		segment->offset_ns = from_ns - wp_clock_correct(via, via_ns);
		segment->drift = 1 - (1 - own_drift) * (1 - drift);
		segment->offset_error_ns =
			(own ? own->offset_error_ns : 0) + (other ? other->offset_error_ns : 0);
		segment->drift_error =
			(own ? own->drift_error : 0) + (other ? other->drift_error : 0);
	}
	out_clock->n = sum->len;
	out_clock->segments = (WpClockSegment *)(void *)g_array_free(sum, FALSE);
}
