/*
 * How long after a one-way message what it causes may begin. Nothing encloses that, so the times alone have
 * to tell: the gaps between what is sent and the messages before it are counted, and counted again with what
 * is sent moved in time, where every gap is an accident. As many gaps as there are causes stand out.
 */
#include "infer/nesting.h"

#include <math.h>
#include <stdlib.h>

#define BINS_AN_OCTAVE 4
#define N_BINS         160  /* 40 octaves over the grain of 20 us: months */
#define ENOUGH         2000 /* children of a type */
#define MAX_BACK       256  /* messages before a child */
#define REACH_BACK                                                                                 \
	128 /* messages in the reach, of half of them: with more nothing could be told apart */
#define CLEAR      3.5  /* standard deviations, as many bins are looked at */
#define CLEAR_LEFT 2.0  /* ... of what is left over, which is asked once */
#define FEW        8.0  /* gaps that stand out in a bin, at least */
#define WHOLE      0.99 /* of what stands out lies in the reach */
#define MORE       0.05 /* of what is within: worth the longer reach */
#define SLACK      1.5  /* the last of it is rarer than what stands out */

/* Of the time of the trace: far enough for all that hangs together, near enough for the same load. */
static const double shifts[] = { 1.0 / 7, -1.0 / 7, 1.0 / 11, -1.0 / 11 };

typedef struct {
	const WpNestProblem *problem;
	const gint64 *times; /* of messages, ascending */
	guint32 n;
	double length_ns; /* of it all */
	double real[N_BINS];
	double null[N_BINS];
} Reach;

/* How many messages came by TIME_NS. */
static guint32
count_until(const Reach *reach, gint64 time_ns)
{
	guint32 low = 0, high = reach->n;
	while (low < high) {
		guint32 middle = low + (high - low) / 2;
		if (reach->times[middle] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
count_gaps(const Reach *reach, gint64 time_ns, double weight, double *bins)
{
	guint32 end = count_until(reach, time_ns);
	guint32 first = end > MAX_BACK ? end - MAX_BACK : 0;
	for (guint32 i = first; i < end; i++) {
		double octaves = wp_nest_octaves(reach->problem, time_ns - reach->times[i]);
		bins[MIN((guint)(octaves * BINS_AN_OCTAVE), N_BINS - 1)] += weight;
	}
}

/* TIME_NS, moved by SHARE of FIRST_NS .. LAST_NS; what leaves it comes back at the other end. */
static gint64
moved(gint64 time_ns, double share, gint64 first_ns, gint64 last_ns)
{
	gint64 length_ns = last_ns - first_ns;
	gint64 to_ns = time_ns + (gint64)(share * (double)length_ns);
	return to_ns > last_ns ? to_ns - length_ns : to_ns < first_ns ? to_ns + length_ns : to_ns;
}

/* Upper end of BIN, in ns. */
static double
end_of_bin(const Reach *reach, gint bin)
{
	return (exp2((bin + 1.0) / BINS_AN_OCTAVE) - 1) * reach->problem->grain_ns;
}

/*
 * Gaps of one message to several children, and of one child to several messages, come and go together: the
 * variance by chance is so many times that of gaps that do not, the more, the wider the bin.
 */
static double
together_in(const Reach *reach, double width_ns, double n)
{
	return 1 + (n + reach->n) / reach->length_ns * width_ns;
}

static double
excess_of(const Reach *reach, gint bin)
{
	return reach->real[bin] - reach->null[bin];
}

/* Standard deviation of the gaps in BIN by chance. */
static double
noise_of(const Reach *reach, gint bin, double n)
{
	double width_ns = end_of_bin(reach, bin) - end_of_bin(reach, bin - 1);
	return sqrt((reach->null[bin] + 1) * together_in(reach, width_ns, n));
}

/* Bins FIRST to END; none: both 0. */
typedef struct {
	gint first;
	gint end;
} Range;

/* Beside what stands out, what is more than chance usually makes belongs to it. */
static void
add_neighbours(const Reach *reach, Range *range, double n)
{
	while (range->first > 0 &&
	       excess_of(reach, range->first - 1) > noise_of(reach, range->first - 1, n))
		range->first--;
	while (range->end < N_BINS && excess_of(reach, range->end) > noise_of(reach, range->end, n))
		range->end++;
}

/* Where most of what stands out of N children lies. */
static Range
range_of_excess(const Reach *reach, double n)
{
	double excess[N_BINS], sum = 0, part = 0;
	Range range = { 0, 0 };

	for (gint i = 0; i < N_BINS; i++) {
		double over = excess_of(reach, i);
		gboolean stands_out = over > FEW && over > CLEAR * noise_of(reach, i, n);
		excess[i] = stands_out ? over : 0;
		sum += excess[i];
	}
	for (gint i = 0; i < N_BINS && part < WHOLE * MIN(sum, n); i++) {
		if (excess[i] <= 0)
			continue;
		if (part <= 0)
			range.first = i;
		range.end = i + 1;
		part += excess[i];
	}
	if (range.end > 0)
		add_neighbours(reach, &range, n);
	return range;
}

/*
 * Gaps in RANGE: how many more than by chance, all of it counted, so that it is right on average; and its
 * standard deviation.
 */
static double
surplus_of(const Reach *reach, const Range *range, double n, double *out_noise)
{
	double surplus = 0, by_chance = 0;
	for (gint i = range->first; i < range->end; i++) {
		surplus += excess_of(reach, i);
		by_chance += reach->null[i];
	}
	double width_ns = end_of_bin(reach, range->end - 1) - end_of_bin(reach, range->first - 1);
	*out_noise = sqrt((by_chance + n) * together_in(reach, width_ns, n));
	return surplus;
}

/*
 * What comes late is spread, and stands out in no bin: as long as twice the reach has clearly more in it,
 * that is the reach, but not once every child has its cause.
 */
static void
stretch(const Reach *reach, Range *range, double n)
{
	double noise;
	double within = surplus_of(reach, range, n, &noise);
	while (range->end + BINS_AN_OCTAVE <= N_BINS && within < WHOLE * n) {
		Range next = { range->end, range->end + BINS_AN_OCTAVE };
		double more = surplus_of(reach, &next, n, &noise);
		if (more < noise || more < MORE * within)
			break;
		within += more;
		range->end = next.end;
	}
}

/* Of N children those that no message has caused; 0 where that may be chance as well. */
static double
count_spontaneous(const Reach *reach, const Range *range, double n)
{
	double noise, left = n - surplus_of(reach, range, n, &noise);
	return left > CLEAR_LEFT * noise ? MIN(left, n) : 0;
}

/* Sets the spontaneous children of TYPE; returns its reach in ns. */
static double
learn_type(Reach *reach, guint32 type, guint32 n_of_type, double *out_spontaneous)
{
	const WpNestProblem *problem = reach->problem;
	guint32 stride = MAX(n_of_type / ENOUGH, 1), met = 0, n = 0;
	gint64 first_ns = problem->children[0].begin_ns;
	gint64 last_ns = problem->children[problem->n_children - 1].begin_ns;

	for (gint i = 0; i < N_BINS; i++)
		reach->real[i] = reach->null[i] = 0;
	for (guint32 c = 0; c < problem->n_children && !wp_nest_is_stopped(problem); c++) {
		const WpNestChild *child = &problem->children[c];
		if (child->type != type || met++ % stride != 0)
			continue;
		n++;
		count_gaps(reach, child->begin_ns, 1, reach->real);
		for (gsize s = 0; s < G_N_ELEMENTS(shifts); s++)
			count_gaps(reach, moved(child->begin_ns, shifts[s], first_ns, last_ns),
				   1.0 / G_N_ELEMENTS(shifts), reach->null);
	}
	Range range = range_of_excess(reach, n);
	*out_spontaneous = 0;
	if (range.end == 0)
		return 0;
	stretch(reach, &range, n);
	*out_spontaneous = count_spontaneous(reach, &range, n) * stride;
	return end_of_bin(reach, range.end - 1);
}

static int
compare_times(const void *a, const void *b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return x < y ? -1 : x > y;
}

/* The reach in which there are not too many messages, where they come in bursts too: the median of theirs. */
static double
longest_reach(const Reach *reach)
{
	g_autofree gint64 *backs = g_new(gint64, ENOUGH);
	guint32 stride = MAX(reach->n / ENOUGH, 1), n = 0;

	for (guint32 i = REACH_BACK; i < reach->n && n < ENOUGH; i += stride)
		backs[n++] = reach->times[i] - reach->times[i - REACH_BACK];
	if (n == 0)
		return reach->length_ns;
	qsort(backs, n, sizeof *backs, compare_times);
	return MAX((double)backs[n / 2], reach->problem->grain_ns);
}

gint64
wp_nest_learn_reach(WpNestProblem *problem)
{
	g_autofree gint64 *times = g_new(gint64, MAX(problem->n_parents, 1));
	g_autofree guint32 *n_of = g_new0(guint32, MAX(problem->n_types, 1));
	Reach reach = { .problem = problem, .times = times };
	double longest_ns = 0;

	for (guint32 p = 0; p < problem->n_parents; p++)
		if (problem->parents[p].is_message)
			times[reach.n++] = problem->parents[p].begin_ns;
	if (reach.n == 0 || problem->n_children == 0)
		return 0;
	for (guint32 c = 0; c < problem->n_children; c++)
		n_of[problem->children[c].type]++;
	reach.length_ns = (double)(problem->children[problem->n_children - 1].begin_ns - times[0]);
	reach.length_ns = MAX(reach.length_ns, 1);
	problem->spontaneous = g_new0(double, problem->n_types);
	for (guint32 t = 0; t < problem->n_types; t++)
		longest_ns =
			MAX(longest_ns, learn_type(&reach, t, n_of[t], &problem->spontaneous[t]));
	return (gint64)MIN(SLACK * longest_ns, longest_reach(&reach));
}
