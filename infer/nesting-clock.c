/* Clocks of hosts: what is in hand when, and reading the time. */
#include "infer/nesting-clock.h"

#include <stdlib.h>

struct WpNestClock {
	gint64 *times_ns; /* when what is in hand changes */
	gint64 *at_ns;    /* on this clock */
	double *rates;    /* from then on */
	guint32 n;
};

/* On CLOCK, TIME_NS at or after change NUMBER, but not after the next. Rounded down: nothing is after what comes later. */
static gint64
read_from(const WpNestClock *clock, guint32 number, gint64 time_ns)
{
	gint64 passed_ns = time_ns - clock->times_ns[number];
	if (clock->rates[number] != 1) /* else exact, over whatever pause */
		passed_ns = (gint64)((double)passed_ns * clock->rates[number]);
	return clock->at_ns[number] + passed_ns;
}

/* --- what is in hand --- */

typedef struct {
	gint64 time_ns;
	gint change;
} Change;

static gint
compare_changes(gconstpointer a, gconstpointer b)
{
	const Change *x = a, *y = b;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static guint32
add_changes(Change *changes, guint32 n, gint64 begin_ns, gint64 end_ns, gint change)
{
	changes[n] = (Change){ begin_ns, change };
	changes[n + 1] = (Change){ end_ns, -change };
	return n + 2;
}

/* Of what was seen from begin to end; a long poll is not worked at. (transfer full) */
static Change *
find_changes(const WpSpan *spans, const WpNestHost *host, guint32 *out_n)
{
	gsize most = 2 * ((gsize)host->n_incoming + host->n_outgoing);
	Change *changes = g_new(Change, MAX(most, 1));
	guint32 n = 0;

	for (guint32 i = 0; i < host->n_incoming; i++) {
		const WpSpan *span = &spans[host->incoming[i]];
		if (wp_span_is_paired(span) && !(span->marks & WP_MARK_WAIT))
			n = add_changes(changes, n, wp_span_served_ns(span),
					wp_span_replied_ns(span), 1);
	}
	for (guint32 i = 0; i < host->n_outgoing; i++) {
		const WpSpan *span = &spans[host->outgoing[i]];
		if (wp_span_is_paired(span))
			n = add_changes(changes, n, span->call_ns, span->return_ns, -1);
	}
	qsort(changes, n, sizeof changes[0], compare_changes);
	*out_n = n;
	return changes;
}

struct WpNestCourse {
	gint64 *times_ns;
	gint *in_hand;
	guint32 n;
};

WpNestCourse *
wp_nest_course_new(const WpResolved *resolved, const WpNestHost *host)
{
	guint32 n;
	g_autofree Change *changes = find_changes(wp_resolved_spans(resolved)->spans, host, &n);
	WpNestCourse *course = g_new(WpNestCourse, 1);
	gint in_hand = 0;

	*course = (WpNestCourse){ g_new(gint64, MAX(n, 1)), g_new(gint, MAX(n, 1)), 0 };
	for (guint32 i = 0; i < n; i++) {
		in_hand += changes[i].change;
		if (i + 1 < n && changes[i + 1].time_ns == changes[i].time_ns)
			continue;
		course->times_ns[course->n] = changes[i].time_ns;
		course->in_hand[course->n++] = in_hand;
	}
	return course;
}

void
wp_nest_course_free(WpNestCourse *course)
{
	if (!course)
		return;
	g_free(course->times_ns);
	g_free(course->in_hand);
	g_free(course);
}

/* --- making --- */

double
wp_pace_rate(const WpQuickLog *quick, const WpPace *pace, guint32 in_hand)
{
	double share = (double)in_hand / MAX(pace->processors, 1);
	return share > 1 ? wp_quick_exp(-pace->pace * wp_quick_log(quick, share)) : 1;
}

/* By what rates are to be multiplied, so that work takes as long in all as in real time. */
static double
scale_of(const WpQuickLog *quick, const WpPace *pace, const WpNestCourse *course)
{
	double real_ns = 0, own_ns = 0;

	for (guint32 i = 0; i + 1 < course->n; i++) {
		double length_ns = (double)(course->times_ns[i + 1] - course->times_ns[i]);
		if (course->in_hand[i] <= 0)
			continue;
		real_ns += length_ns;
		own_ns += length_ns * wp_pace_rate(quick, pace, (guint32)course->in_hand[i]);
	}
	return own_ns > 0 ? real_ns / own_ns : 1;
}

/* Where nothing is in hand it goes by real time: no time of it is beyond what real times are. */
WpNestClock *
wp_nest_clock_of(const WpNestCourse *course, const WpPace *pace)
{
	if (pace->pace <= 0)
		return NULL;
	WpNestClock *clock = g_new0(WpNestClock, 1);
	WpQuickLog quick;

	wp_quick_log_init(&quick);
	double scale = scale_of(&quick, pace, course);
	clock->n = course->n;
	clock->times_ns = g_memdup2(course->times_ns, course->n * sizeof(gint64));
	clock->at_ns = g_new(gint64, MAX(course->n, 1));
	clock->rates = g_new(double, MAX(course->n, 1));
	for (guint32 i = 0; i < clock->n; i++) {
		gint in_hand = course->in_hand[i];
		clock->rates[i] =
			in_hand > 0 ? scale * wp_pace_rate(&quick, pace, (guint32)in_hand) : 1;
		clock->at_ns[i] =
			i == 0 ? clock->times_ns[0] : read_from(clock, i - 1, clock->times_ns[i]);
	}
	return clock;
}

WpNestClock *
wp_nest_clock_new(const WpResolved *resolved, const WpNestHost *host, const WpPace *pace)
{
	if (pace->pace <= 0)
		return NULL;
	g_autoptr(WpNestCourse) course = wp_nest_course_new(resolved, host);
	return wp_nest_clock_of(course, pace);
}

void
wp_nest_clock_free(WpNestClock *clock)
{
	if (!clock)
		return;
	g_free(clock->times_ns);
	g_free(clock->at_ns);
	g_free(clock->rates);
	g_free(clock);
}

/* --- reading --- */

/* The last change before TIME_NS; clock->n: there is none. */
static guint32
find_change(const WpNestClock *clock, gint64 time_ns)
{
	guint32 low = 0, high = clock->n;

	while (low < high) {
		guint32 middle = low + (high - low) / 2;
		if (clock->times_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? low - 1 : clock->n;
}

gint64
wp_nest_clock_at(const WpNestClock *clock, gint64 time_ns)
{
	if (!clock || clock->n == 0)
		return time_ns;
	guint32 change = find_change(clock, time_ns);
	if (change == clock->n)
		return clock->at_ns[0] - (clock->times_ns[0] - time_ns);
	return read_from(clock, change, time_ns);
}

double
wp_nest_clock_rate(const WpNestClock *clock, gint64 time_ns)
{
	if (!clock || clock->n == 0)
		return 1;
	guint32 change = find_change(clock, time_ns);
	return change == clock->n ? 1 : clock->rates[change];
}
