/*
 * Taps that saw no packet in common: their clocks follow from causes. What leaves a host by the one follows
 * from what came to it by the other, never before; so, of all hosts that both see,
 *
 *   comes by A, leaves by B   ..:....:.|####::.:..      B's time less A's: offset + what the host took
 *   comes by B, leaves by A   ..:.::####|.:...:...      B's time less A's: offset - what the host took
 *                                      ^ the offset lies between the two edges
 *
 * as for a message and its reply (clock.h); only that which pairs belong together is not known. Those that do
 * not are spread evenly. So the offset is first sought where both directions stand out, on a short stretch, in
 * windows of any width (a scan statistic), then followed to both ends of the captures.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "capture/doubles.h"
#include "capture/taps-private.h"

#define BIN_NS         G_GINT64_CONSTANT(100000)
#define LEAST_WIDTH    2   /* bins */
#define N_WIDTHS       12  /* each twice the one before: what takes hosts longer is not found */
#define LEAST_PARTS    128 /* of the stretch: wider windows show how long that is */
#define AROUND         2   /* widths on either side tell what chance gives */
#define CLEAR          7.0 /* standard deviations, of both directions together */
#define CLEAR_EACH     2.5
#define MAX_SQUARE     9.0 /* what is further off may be what is sought */
#define LEAST_PAIRS    10
#define ENOUGH         1000                                /* events of a stretch */
#define SHORT_NS       (5 * G_GINT64_CONSTANT(1000000000)) /* of which all are looked at */
#define MAX_PAIRS      (64 * 1000 * 1000)
#define WINDOW_EVENTS  300  /* at least */
#define WINDOW_CLEAR   10.0 /* standard deviations that what stands out in one window has */
#define MAX_WINDOWS    160
#define MAX_NEAR       20000 /* pairs of a window and direction: more show no more */
#define REACH          4     /* widths, on either side of where the edges should be */
#define LEAST_REACH_NS G_GINT64_CONSTANT(1000000)
#define MAX_DRIFT      2e-4 /* of one clock against another, between windows */
#define CLEAR_LIKELY   10.0 /* nats */
#define BLUR           0.25 /* of the width of what stands out: so far off its edge may seem to be */
#define CLEAR_STEP     3.0  /* standard deviations */
#define SHARPEST_NS    1e3  /* pairs nearer to each other are at once */
#define SLACK_NS       20000
#define AGREE_SHARE    0.9 /* of the windows: the clocks agree as they are */

/* Most clocks are set; one that is not is sought further off, which takes more and shows less. */
static const gint64 lags[] = { 1000000000, 60 * G_GINT64_CONSTANT(1000000000) };

/* Something that comes to a host, or leaves it. */
typedef struct {
	guint32 host;
	gint64 time_ns;
} Event;

/* What one tap saw come and leave, each in order of hosts and time. */
typedef struct {
	GArray *comes;
	GArray *leaves;
} Seen;

typedef struct {
	const WpTaps *taps;
	guint32 n_hosts;
	guint32 *hosts; /* by flow and side */
	Seen seen[2];   /* at A, at B: hosts that both see */
	GArray *times;  /* gint64: of all that A saw, ascending */
	GArray *edges;  /* WpClockEdges, by window */
	GArray *blurs;  /* gint64: how far off they may be, ns */
} Cause;

static int
compare_events(gconstpointer a, gconstpointer b)
{
	const Event *x = a, *y = b;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return x < y ? -1 : x > y;
}

static int
compare_edges(gconstpointer a, gconstpointer b)
{
	const WpClockEdges *x = a, *y = b;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* --- what both saw --- */

static guint
hash_address(gconstpointer address)
{
	return (guint)wp_doubles_mix_bytes(1, address, 16);
}

static gboolean
is_same_address(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, 16) == 0;
}

/* Numbers the hosts of all flows. */
static void
number_hosts(Cause *cause)
{
	const GArray *flows = cause->taps->sampler.flows;
	g_autoptr(GHashTable) numbers =
		g_hash_table_new_full(hash_address, is_same_address, g_free, NULL);

	cause->hosts = g_new(guint32, MAX(2 * (gsize)flows->len, 1));
	for (guint i = 0; i < 2 * flows->len; i++) {
		const WpFlowKey *key = &g_array_index(flows, WpFlowKey, i / 2);
		WpEndpoint end = wp_flow_key_endpoint(key, i % 2);
		gpointer number;
		if (!g_hash_table_lookup_extended(numbers, end.address, NULL, &number)) {
			number = GUINT_TO_POINTER(cause->n_hosts++);
			g_hash_table_insert(numbers, g_memdup2(end.address, 16), number);
		}
		cause->hosts[i] = GPOINTER_TO_UINT(number);
	}
}

/* By host, which of taps A (1) and B (2) saw it. (transfer full) */
static guint8 *
list_seen_by(const Cause *cause, guint a, guint b)
{
	const GArray *turns = cause->taps->sampler.turns;
	guint8 *seen_by = g_new0(guint8, MAX(cause->n_hosts, 1));

	for (guint i = 0; i < turns->len; i++) {
		const WpTurn *turn = &g_array_index(turns, WpTurn, i);
		guint8 by = turn->input == a ? 1 : turn->input == b ? 2 : 0;
		seen_by[cause->hosts[2 * turn->flow]] |= by;
		seen_by[cause->hosts[2 * turn->flow + 1]] |= by;
	}
	return seen_by;
}

static void
add_event(GArray *events, guint32 host, gint64 time_ns, const guint8 *seen_by)
{
	Event event = { host, time_ns };
	if (seen_by[host] == 3)
		g_array_append_val(events, event);
}

static void
list_events(Cause *cause, guint a, guint b)
{
	const GArray *turns = cause->taps->sampler.turns;
	g_autofree guint8 *seen_by = list_seen_by(cause, a, b);

	for (guint i = 0; i < turns->len; i++) {
		const WpTurn *turn = &g_array_index(turns, WpTurn, i);
		if (turn->input != a && turn->input != b)
			continue;
		Seen *seen = &cause->seen[turn->input == b];
		guint32 sender = cause->hosts[2 * turn->flow + turn->side];
		guint32 receiver = cause->hosts[2 * turn->flow + !turn->side];
		/* Of a host that talks to itself it cannot be told which service. */
		if (sender == receiver)
			continue;
		add_event(seen->leaves, sender, turn->time_ns, seen_by);
		add_event(seen->comes, receiver, turn->time_ns, seen_by);
	}
	for (guint i = 0; i < 2; i++) {
		g_array_sort(cause->seen[i].comes, compare_events);
		g_array_sort(cause->seen[i].leaves, compare_events);
	}
	const GArray *both[2] = { cause->seen[0].comes, cause->seen[0].leaves };
	for (guint k = 0; k < 2; k++)
		for (guint i = 0; i < both[k]->len; i++)
			g_array_append_val(cause->times, g_array_index(both[k], Event, i).time_ns);
	g_array_sort(cause->times, compare_times);
}

/* --- pairs --- */

/* Pairs of what A saw FROM .. TO and what B saw of the same host, as far apart as LEAST .. MOST. */
typedef struct {
	gint64 from_ns, to_ns;
	gint64 least_ns, most_ns;
} Span;

/* TRUE to go on. */
typedef gboolean (*PairFunc)(gint64 difference_ns, gpointer data);

/* The first of EVENTS that is not before HOST at TIME_NS. */
static guint
find_event(const GArray *events, guint32 host, gint64 time_ns)
{
	Event wanted = { host, time_ns };
	guint low = 0, high = events->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		if (compare_events(&g_array_index(events, Event, middle), &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * In direction IS_BACK: what comes by B and leaves by A; else what comes by A and leaves by B. Returns how many there are;
 * without FUNC none is looked at.
 */
static guint64
foreach_pair(const Cause *cause, const Span *span, gboolean is_back, PairFunc func, gpointer data)
{
	const GArray *at_a = is_back ? cause->seen[0].leaves : cause->seen[0].comes;
	const GArray *at_b = is_back ? cause->seen[1].comes : cause->seen[1].leaves;
	guint64 n = 0;

	for (guint i = 0; i < at_a->len; i++) {
		const Event *event = &g_array_index(at_a, Event, i);
		if (event->time_ns < span->from_ns || event->time_ns >= span->to_ns)
			continue;
		guint first = find_event(at_b, event->host, event->time_ns + span->least_ns);
		guint end = find_event(at_b, event->host, event->time_ns + span->most_ns);
		for (guint k = first; k < end && func; k++)
			if (!func(g_array_index(at_b, Event, k).time_ns - event->time_ns, data))
				return n + k + 1 - first;
		n += end - first;
	}
	return n;
}

static guint64
count_pairs(const Cause *cause, const Span *span)
{
	return foreach_pair(cause, span, FALSE, NULL, NULL) +
	       foreach_pair(cause, span, TRUE, NULL, NULL);
}

/* --- where the offset is --- */

typedef struct {
	gint64 offset_ns;
	gint64 width_ns; /* of what stands out on either side of it */
	gint64 at_ns;    /* the stretch */
	double clear;    /* standard deviations */
	guint n;         /* events of the stretch */
} Rough;

/* Pairs by their difference, in bins; then how many there are before each. */
typedef struct {
	gint64 most_ns; /* they go to so much, on either side */
	gsize n;
	guint32 *bins; /* N + 1 */
} Lags;

static void
clear_lags(Lags *own)
{
	g_free(own->bins);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Lags, clear_lags)

static gboolean
count_bin(gint64 difference_ns, gpointer data)
{
	Lags *own = data;
	own->bins[(difference_ns + own->most_ns) / BIN_NS]++;
	return TRUE;
}

static Lags
count_lags(const Cause *cause, const Span *span, gboolean is_back)
{
	gsize n = (gsize)(2 * span->most_ns / BIN_NS);
	Lags own = { span->most_ns, n, g_new0(guint32, n + 1) };
	guint32 sum = 0;

	foreach_pair(cause, span, is_back, count_bin, &own);
	for (gsize i = 0; i <= n; i++) {
		guint32 in_bin = own.bins[i];
		own.bins[i] = sum;
		sum += in_bin;
	}
	return own;
}

/*
 * How far what is in bins FROM to END stands out of what is around, in standard deviations of single pairs (of few
 * as well: F. J. Anscombe, "The transformation of Poisson ... data", 1948).
 */
static double
clear_of(const Lags *own, gsize from, gsize end)
{
	gsize width = end - from;
	gsize first = from > AROUND * width ? from - AROUND * width : 0;
	gsize last = MIN(end + AROUND * width, own->n);
	double inside = (double)(own->bins[end] - own->bins[from]);
	double around = (double)(own->bins[last] - own->bins[first]) - inside;
	double chance = around * (double)width / (double)(last - first - width);

	return inside < LEAST_PAIRS ? 0 : 2 * (sqrt(inside + 0.375) - sqrt(chance + 0.375));
}

/* Pairs come many at a time (a host asks several at once), so chance makes more of it: so many times as much. */
static double
scatter_of(const Lags *own, gsize width)
{
	double squares = 0;
	guint64 n = 0;

	for (gsize i = 0; i + width <= own->n; i += width) {
		double clear = clear_of(own, i, i + width);
		squares += MIN(clear * clear, MAX_SQUARE);
		n += clear != 0;
	}
	return n ? MAX(sqrt(squares / (double)n), 1) : 1;
}

static void
find_clearest(const Lags *there, const Lags *back, gsize width, Rough *best)
{
	double scatter[2] = { scatter_of(there, width), scatter_of(back, width) };

	for (gsize i = width; i + width <= there->n; i++) {
		if (there->bins[i + width] - there->bins[i] < LEAST_PAIRS)
			continue;
		double clear[2] = { clear_of(there, i, i + width) / scatter[0],
				    clear_of(back, i - width, i) / scatter[1] };
		double both = (clear[0] + clear[1]) / G_SQRT2;
		if (MIN(clear[0], clear[1]) < CLEAR_EACH || both <= best->clear)
			continue;
		best->offset_ns = (gint64)i * BIN_NS - there->most_ns;
		best->width_ns = (gint64)width * BIN_NS;
		best->clear = both;
	}
}

/* The middle of the captures, with enough in it; its pairs are few enough to look at. */
static Span
find_stretch(const Cause *cause, gint64 most_ns)
{
	guint n = cause->times->len, first = 0, end = n;
	Span span = { .least_ns = -most_ns, .most_ns = most_ns };

	for (;;) {
		span.from_ns = g_array_index(cause->times, gint64, first);
		span.to_ns = g_array_index(cause->times, gint64, end - 1) + 1;
		guint half = (end - first) / 2;
		gboolean is_enough = half < ENOUGH || span.to_ns - span.from_ns < SHORT_NS;
		if (half < 2 || (is_enough && count_pairs(cause, &span) <= MAX_PAIRS))
			return span;
		first = n / 2 - half / 2;
		end = first + half;
	}
}

static guint
count_events(const Cause *cause, const Span *span)
{
	guint n = 0;
	for (guint i = 0; i < cause->times->len; i++) {
		gint64 time_ns = g_array_index(cause->times, gint64, i);
		n += time_ns >= span->from_ns && time_ns < span->to_ns;
	}
	return n;
}

static Rough
find_rough(const Cause *cause)
{
	Rough rough = { 0 };

	for (gsize i = 0; i < G_N_ELEMENTS(lags) && rough.clear < CLEAR; i++) {
		Span span = find_stretch(cause, lags[i]);
		g_auto(Lags) there = count_lags(cause, &span, FALSE);
		g_auto(Lags) back = count_lags(cause, &span, TRUE);
		gsize widest = (gsize)((span.to_ns - span.from_ns) / BIN_NS / LEAST_PARTS);
		rough.n = count_events(cause, &span);
		rough.at_ns = span.from_ns + (span.to_ns - span.from_ns) / 2;
		for (gsize k = 0, width = LEAST_WIDTH; k < N_WIDTHS && width <= widest;
		     k++, width *= 2)
			find_clearest(&there, &back, width, &rough);
	}
	return rough;
}

/* --- its edges --- */

/* Differences from where the offset should be; turned, where of the way back: larger ones are later. */
typedef struct {
	GArray *values; /* double */
	gint64 around_ns;
	gboolean is_back;
} Near;

static gboolean
add_near(gint64 difference_ns, gpointer data)
{
	Near *near = data;
	double value = (double)(difference_ns - near->around_ns);
	value = near->is_back ? -value : value;
	g_array_append_val(near->values, value);
	return near->values->len < MAX_NEAR;
}

static int
compare_doubles(gconstpointer a, gconstpointer b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* How much likelier N of ALL lie in WIDTH of REACH than evenly. */
static double
likely_of(double n, double all, double width, double reach)
{
	double rest = all - n, outside = reach - width;
	double likely = n * log(n * reach / (all * width));
	if (n / width <= rest / outside)
		return 0;
	return likely + (rest > 0 ? rest * log(rest * reach / (all * outside)) : 0);
}

/* On from the left end at FIRST of what stands out, of WIDTH, to where it begins. */
static double
begin_of(const double *values, guint first, double width, double chance)
{
	double begin = values[first], step = width / 8;

	for (;;) {
		double expected = chance * step;
		guint before = first;
		while (before > 0 && values[before - 1] >= begin - step)
			before--;
		if (first - before <= expected + CLEAR_STEP * sqrt(expected))
			return begin;
		begin = values[before];
		first = before;
	}
}

/* The edge of what stands out in NEAR, within REACH on either side; FALSE where nothing does. */
static gboolean
find_edge(const Near *near, double reach, double *out_edge, double *out_blur)
{
	double *values = (double *)(void *)near->values->data;
	guint n = near->values->len, best_first = 0, best_n = 0;
	double best = CLEAR_LIKELY, best_width = 0;

	qsort(values, n, sizeof values[0], compare_doubles);
	for (double width = SHARPEST_NS; width < reach; width *= 1.5)
		for (guint i = 0, end = 0; i < n; i++) {
			while (end < n && values[end] <= values[i] + width)
				end++;
			if (end - i < LEAST_PAIRS)
				continue;
			double likely = likely_of(end - i, n, width, 2 * reach);
			if (likely > best) {
				best = likely;
				best_width = width;
				best_first = i;
				best_n = end - i;
			}
		}
	if (best_n == 0)
		return FALSE;
	double chance = (n - best_n) / (2 * reach - best_width);
	*out_edge = begin_of(values, best_first, best_width, chance);
	*out_blur = BLUR * best_width;
	return TRUE;
}

static gboolean
find_edge_of(const Cause *cause, const Span *span, gboolean is_back, gint64 around_ns, Near *near,
	     double *out_edge, double *out_blur)
{
	g_array_set_size(near->values, 0);
	near->around_ns = around_ns;
	near->is_back = is_back;
	foreach_pair(cause, span, is_back, add_near, near);
	if (!find_edge(near, (double)(span->most_ns - span->least_ns) / 2, out_edge, out_blur))
		return FALSE;
	*out_edge = is_back ? -*out_edge : *out_edge;
	return TRUE;
}

/* Where the offset was last seen. */
typedef struct {
	gint64 offset_ns;
	gint64 at_ns;
} Last;

/* The edges of the window from FROM_NS to TO_NS, near where the offset was LAST; none where they are not clear. */
static void
measure_window(Cause *cause, gint64 from_ns, gint64 to_ns, gint64 reach_ns, Near *near, Last *last)
{
	gint64 at_ns = from_ns + (to_ns - from_ns) / 2;
	gint64 own_ns = reach_ns + (gint64)(MAX_DRIFT * (double)ABS(at_ns - last->at_ns));
	Span span = { from_ns, to_ns, last->offset_ns - own_ns, last->offset_ns + own_ns };
	double there, back, blurs[2];

	if (!find_edge_of(cause, &span, FALSE, last->offset_ns, near, &there, &blurs[0]) ||
	    !find_edge_of(cause, &span, TRUE, last->offset_ns, near, &back, &blurs[1]) ||
	    there < back - SLACK_NS)
		return;
	const WpClockEdges edges = { at_ns, last->offset_ns + (gint64)there,
				     last->offset_ns + (gint64)back };
	gint64 blur_ns = (gint64)((blurs[0] + blurs[1]) / 2);
	g_array_append_val(cause->edges, edges);
	g_array_append_val(cause->blurs, blur_ns);
	*last = (Last){ last->offset_ns + (gint64)((there + back) / 2), at_ns };
}

/* In how many windows the offset can be told. */
static guint
count_windows(const Cause *cause, const Rough *rough)
{
	double clear = MIN(rough->clear / WINDOW_CLEAR, 1e3);
	double events = MAX(rough->n / (clear * clear), WINDOW_EVENTS);
	return (guint)CLAMP((double)cause->times->len / events, 1, MAX_WINDOWS);
}

/* From the stretch where the offset was found to both ends. */
static void
measure_all(Cause *cause, const Rough *rough)
{
	Near near = { .values = g_array_new(FALSE, FALSE, sizeof(double)) };
	guint n = count_windows(cause, rough), middle = 0;
	gint64 reach_ns = MAX(REACH * rough->width_ns, LEAST_REACH_NS);
	g_autofree gint64 *borders = g_new(gint64, n + 1);
	Last last = { rough->offset_ns, rough->at_ns };

	for (guint i = 0; i <= n; i++) {
		gsize at = MIN((gsize)cause->times->len * i / n, cause->times->len - 1);
		borders[i] = g_array_index(cause->times, gint64, at) + (i == n);
		middle += borders[i] <= rough->at_ns;
	}
	middle = CLAMP(middle, 1, n);
	for (guint i = middle - 1; i < n; i++)
		measure_window(cause, borders[i], borders[i + 1], reach_ns, &near, &last);
	last = (Last){ rough->offset_ns, rough->at_ns };
	for (guint i = middle - 1; i-- > 0;)
		measure_window(cause, borders[i], borders[i + 1], reach_ns, &near, &last);
	/* Where requests are worked on in bursts the edges are not sharp; about where they are is known. */
	const WpClockEdges rough_edges = { rough->at_ns, rough->offset_ns + 2 * rough->width_ns,
					   rough->offset_ns - 2 * rough->width_ns };
	if (cause->edges->len == 0) {
		g_array_append_val(cause->edges, rough_edges);
		g_array_append_val(cause->blurs, rough->width_ns);
	}
	g_array_sort(cause->edges, compare_edges);
	g_array_unref(near.values);
}

static gint64
median(gint64 *values, guint n)
{
	qsort(values, n, sizeof values[0], compare_times);
	return values[n / 2];
}

/*
 * TRUE where nothing happens before what causes it, but by as much as BLUR_NS, with the clocks as they are: then they
 * are right for all that can be told, and the middle between the edges would only be a guess.
 */
static gboolean
agree(const GArray *windows, gint64 blur_ns)
{
	gint64 slack_ns = blur_ns + SLACK_NS;
	guint n_right = 0;

	for (guint i = 0; i < windows->len; i++) {
		const WpClockEdges *edges = &g_array_index(windows, WpClockEdges, i);
		n_right += edges->there_ns >= -slack_ns && edges->back_ns <= slack_ns;
	}
	return n_right >= AGREE_SHARE * windows->len;
}

/* TRUE where CLOCK, from FROM_NS to TO_NS, is never further off than it may be wrong by itself. */
static gboolean
is_right(const WpClock *clock, gint64 from_ns, gint64 to_ns)
{
	for (guint i = 0; i < clock->n; i++) {
		gint64 begin_ns = MAX(clock->segments[i].from_ns, from_ns);
		gint64 end_ns = i + 1 < clock->n ? clock->segments[i + 1].from_ns - 1 : to_ns;
		double error_ns = clock->segments[i].offset_error_ns;
		if (fabs((double)(begin_ns - wp_clock_correct(clock, begin_ns))) > error_ns ||
		    fabs((double)(end_ns - wp_clock_correct(clock, end_ns))) > error_ns)
			return FALSE;
	}
	return TRUE;
}

static void
set_right(const GArray *windows, gint64 blur_ns, WpClock *clock)
{
	const WpClockEdges *all = (const WpClockEdges *)(const void *)windows->data;
	double time_ns = (double)MAX(all[windows->len - 1].time_ns - all[0].time_ns, 1);
	g_autofree gint64 *gaps = g_new(gint64, windows->len);

	for (guint i = 0; i < windows->len; i++)
		gaps[i] = MAX(all[i].there_ns - all[i].back_ns, 0);
	double gap_ns = (double)(median(gaps, windows->len) + blur_ns);
	wp_clock_set(clock, all[0].time_ns, 0, 0);
	clock->segments[0].offset_error_ns = gap_ns;
	clock->segments[0].drift_error = MIN(gap_ns / time_ns, MAX_DRIFT);
}

static void
set_clock(const Cause *cause, WpClock *out_clock)
{
	const GArray *windows = cause->edges;
	const WpClockEdges *all = (const WpClockEdges *)(const void *)windows->data;
	gint64 blur_ns = median((gint64 *)(void *)cause->blurs->data, cause->blurs->len);

	wp_clock_fit_edges(all, windows->len, out_clock);
	for (guint i = 0; i < out_clock->n; i++)
		out_clock->segments[i].offset_error_ns += (double)blur_ns;
	if (agree(windows, blur_ns) ||
	    is_right(out_clock, all[0].time_ns, all[windows->len - 1].time_ns))
		set_right(windows, blur_ns, out_clock);
}

gboolean
wp_taps_fit_by_cause(const WpTaps *taps, guint a, guint b, WpClock *out_clock, gboolean *out_shares)
{
	Cause cause = { .taps = taps };

	cause.times = g_array_new(FALSE, FALSE, sizeof(gint64));
	cause.edges = g_array_new(FALSE, FALSE, sizeof(WpClockEdges));
	cause.blurs = g_array_new(FALSE, FALSE, sizeof(gint64));
	for (guint i = 0; i < 2; i++) {
		cause.seen[i].comes = g_array_new(FALSE, FALSE, sizeof(Event));
		cause.seen[i].leaves = g_array_new(FALSE, FALSE, sizeof(Event));
	}
	number_hosts(&cause);
	list_events(&cause, a, b);
	*out_shares = cause.times->len > 0;
	if (*out_shares) {
		Rough rough = find_rough(&cause);
		if (rough.clear >= CLEAR)
			measure_all(&cause, &rough);
	}
	gboolean is_known = cause.edges->len > 0;
	if (is_known)
		set_clock(&cause, out_clock);
	for (guint i = 0; i < 2; i++) {
		g_array_unref(cause.seen[i].comes);
		g_array_unref(cause.seen[i].leaves);
	}
	g_array_unref(cause.times);
	g_array_unref(cause.edges);
	g_array_unref(cause.blurs);
	g_free(cause.hosts);
	return is_known;
}
