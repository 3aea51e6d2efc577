/*
 * How long after a one-way message what it causes may begin. Nothing encloses that, so the times alone have
 * to tell: the gaps between what is sent and the messages before it are counted, and counted again with what
 * is sent moved in time (nesting-shift.h), where every gap is an accident. As many gaps as there are causes stand out.
 *
 * So it is with what a reply leaves behind, and the gaps to replies. That there is such work shows where calls begin while none is
 * in hand; or else nothing has caused them: a timer has.
 */

#include "infer/nesting-clock.h"
#include "infer/nesting-shift.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BINS_AN_OCTAVE 4
#define N_BINS         160  /* 40 octaves over the grain of 20 us: months */
#define ENOUGH         2000 /* children of a type */
#define MAX_BACK       256  /* messages before a child */
#define REACH_BACK     128 /* messages in the reach, of half of them: more could not be told apart */
#define CLEAR          3.5 /* standard deviations, as many bins are looked at */
#define CLEAR_LEFT     2.0 /* ... of what is left over, which is asked once */
#define CLEAR_MORE     2.0 /* ... of what twice the reach has more, which is asked a few times */
#define SKEW           ((CLEAR * CLEAR - 1) / 6) /* ... and more: counts are above more often than below */
#define FEW            8.0                       /* gaps that stand out in a bin, at least */
#define WHOLE          0.99                      /* of what stands out lies in the reach */
#define MORE           0.05                      /* of what is within: worth the longer reach */
#define BEYOND         (3 * BINS_AN_OCTAVE) /* bins that tell the load at one before them */
#define NEAR           4                    /* bins on either side: they vary alike */
#define SLACK          1.5                  /* the last of it is rarer than what stands out */

#define MIN_ALONE   10 /* times in which children of a type begin while no call is in hand */
#define MAX_CALL_NS G_GINT64_CONSTANT(3600000000000)
#define GIVEN_UP    4    /* times the longest call: one without a return is the longer for that */
#define MIN_OUTSIDE 0.05 /* of a type's children are outside of calls */
#define MOST_LATE                                                                                  \
	0.7 /* ... of these: the rest may be noise, or hidden as clients wait for their replies */
#define HALF_LATE   0.5 /* ... which is no telling from noise where that is as much */
#define CLEAR_LATE  0.5 /* standard deviations, as it is known that more are outside */
#define LATE_SLACK  2.0 /* waits by an exponential law stand out most up to 1.3 times their mean */
#define MAX_LATE_NS 1e9 /* what a reply leaves behind begins within */
#define TIMES_LOST  4.0 /* calls that are missing: fewer begin alone as their parents are lost */

/*
 * Event loops sleep for whole milliseconds from when something last woke them: what they send by a timer comes so long
 * after a message that has woken them, whatever it is due for. That moves it, by less than one, and adds nothing.
 *
 *      due    |  x  x  x  x  x  |          sent   |xxx              |          gap to the last message, ms
 *             0                 1                 0                 1
 */
#define TICK_NS     1000000
#define N_TICKS     8   /* bins are longer behind these */
#define LEAST_TICKS 2   /* behind these much else is in the bins with what was moved */
#define CLEAR_MOVED 2.0 /* standard deviations */
#define LEAST_MOVED 0.5 /* of what stands out is missing beside it */

/* Of all that is sent: far enough for all that hangs together. */
#define N_SHIFTS 8
static const double shifts[N_SHIFTS] = { 1.0 / 5, -1.0 / 5, 1.0 / 7,  -1.0 / 7,
					 1.0 / 9, -1.0 / 9, 1.0 / 11, -1.0 / 11 };

typedef struct {
	const WpNestProblem *problem;
	const gint64 *times; /* of messages, ascending */
	guint32 n;
	gint n_bins; /* in the longest reach that there may be */
	double real[N_BINS];
	double null[N_BINS];
	double moved[N_SHIFTS][N_BINS]; /* by shift */
	double ticks[N_TICKS];          /* gaps by millisecond, */
	double moved_ticks[N_SHIFTS][N_TICKS];
	double spread[N_BINS]; /* variance of these, over that of single gaps */
	WpNestOrder *order;
	gboolean was_moved; /* some of what stood out */
	double left_out
		[N_TICKS]; /* of it, for that reason, by the millisecond in which it begins */
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

/* Counts the gaps of a child at TIME_NS. */
static void
count_gaps(const Reach *reach, gint64 time_ns, double *bins, double *ticks)
{
	guint32 end = count_until(reach, time_ns);
	guint32 first = end > MAX_BACK ? end - MAX_BACK : 0;

	for (guint32 i = first; i < end; i++) {
		gint64 gap_ns = time_ns - reach->times[i];
		double octaves = wp_nest_octaves(reach->problem, gap_ns);
		bins[MIN((guint)(octaves * BINS_AN_OCTAVE), N_BINS - 1)]++;
		if (gap_ns < N_TICKS * TICK_NS)
			ticks[gap_ns / TICK_NS]++;
	}
}

/* Counts the gaps of CHILD, and those that it has by chance. */
static void
count_child(Reach *reach, const WpNestChild *child)
{
	gint64 behind_ns = child->begin_ns - reach->problem->bundles[child->bundle].begin_ns;

	count_gaps(reach, child->begin_ns, reach->real, reach->ticks);
	for (gint k = 0; k < N_SHIFTS; k++) {
		gint64 to_ns = wp_nest_order_moved(reach->order, child->bundle, shifts[k]);
		count_gaps(reach, to_ns + behind_ns, reach->moved[k], reach->moved_ticks[k]);
	}
}

/* Mean of N numbers, STEP apart, and their variance. */
static double
mean_of(const double *numbers, gint n, gsize step, double *out_variance)
{
	double sum = 0, squares = 0;

	for (gint i = 0; i < n; i++) {
		sum += numbers[(gsize)i * step];
		squares += numbers[(gsize)i * step] * numbers[(gsize)i * step];
	}
	*out_variance = MAX(squares - sum * sum / n, 0) / (n - 1);
	return sum / n;
}

static int
compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/*
 * Where the load changes faster than shifts follow, more gaps than they show are by chance, of all lengths up to that. So what
 * most bins BEYOND the one have more belongs to chance: of what has a cause little is spread over octaves.
 */
static double
load_at(const Reach *reach, gint bin)
{
	double ratios[BEYOND];
	guint n = 0;

	for (gint i = bin + NEAR; i < MIN(bin + NEAR + BEYOND, N_BINS); i++)
		if (reach->null[i] > 0)
			ratios[n++] = reach->real[i] / reach->null[i];
	qsort(ratios, n, sizeof ratios[0], compare_numbers);
	return n > 0 ? MAX(ratios[n / 2], 1) : 1;
}

/*
 * What was counted by chance, and how that varies: gaps of one message to several children, and of one child to several
 * messages, may come and go together. Shifts are few, so bins that are NEAR tell that as one.
 */
static void
learn_null(Reach *reach)
{
	double variance[N_BINS];

	for (gint i = 0; i < N_BINS; i++)
		reach->null[i] = mean_of(&reach->moved[0][i], N_SHIFTS, N_BINS, &variance[i]);
	for (gint i = 0; i < N_BINS; i++) {
		double sum = 0, n = 0;
		for (gint k = MAX(i - NEAR, 0); k <= MIN(i + NEAR, N_BINS - 1); k++)
			if (reach->null[k] > 0) {
				sum += variance[k] / reach->null[k];
				n++;
			}
		reach->spread[i] = MAX(sum / MAX(n, 1), 1);
	}
}

/* Upper end of BIN, in ns. */
static double
end_of_bin(const Reach *reach, gint bin)
{
	return (exp2((bin + 1.0) / BINS_AN_OCTAVE) - 1) * reach->problem->grain_ns;
}

static double
excess_of(const Reach *reach, gint bin)
{
	return reach->real[bin] - reach->null[bin];
}

/* Standard deviation of the gaps in BIN by chance, and of how many are expected. */
static double
noise_of(const Reach *reach, gint bin)
{
	return sqrt((reach->null[bin] + 1) * reach->spread[bin] * (1 + 1.0 / N_SHIFTS));
}

/* What bins have OVER chance is missing beside them, in the milliseconds in which they lie. */
static gboolean
is_moved(const Reach *reach, const double over[N_BINS], gint first, gint end)
{
	double begin_ns = first > 0 ? end_of_bin(reach, first - 1) : 0, end_ns = 0;
	double sum = 0, missing = 0, beside = 0, spread = 1, variance;

	for (gint i = first; i < end; i++) {
		if (over[i] <= 0)
			continue;
		end_ns = end_of_bin(reach, i);
		sum += over[i];
		missing += excess_of(reach, i);
		beside -= reach->null[i];
		spread = MAX(spread, reach->spread[i]);
	}
	if (sum <= 0 || end_ns > N_TICKS * TICK_NS)
		return FALSE;
	for (gint i = (gint)(begin_ns / TICK_NS); i < (gint)ceil(end_ns / TICK_NS); i++) {
		double null = mean_of(&reach->moved_ticks[0][i], N_SHIFTS, N_TICKS, &variance);
		missing -= reach->ticks[i] - null;
		beside += null;
	}
	double noise = sqrt((MAX(beside, 0) + 1) * spread * (1 + 1.0 / N_SHIFTS));
	return missing > CLEAR_MOVED * noise && missing > LEAST_MOVED * sum;
}

/* Leaves out of what is OVER chance what was moved: in a bin, or in all that are short. */
static void
leave_out_moved(Reach *reach, double over[N_BINS])
{
	gint end = 0;

	while (end < reach->n_bins && end_of_bin(reach, end) <= N_TICKS * TICK_NS)
		end++;
	gboolean all = is_moved(reach, over, 0, end);
	for (gint i = 0; i < end; i++)
		if (over[i] > 0 && (all || is_moved(reach, over, i, i + 1))) {
			gint tick = i > 0 ? (gint)(end_of_bin(reach, i - 1) / TICK_NS) : 0;
			reach->left_out[tick] += over[i];
			reach->was_moved = TRUE;
			over[i] = 0;
		}
}

/* Bins FIRST to END; none: both 0. */
typedef struct {
	gint first;
	gint end;
} Range;

/* Beside what stands out, what is more than chance usually makes belongs to it. */
static void
add_neighbours(const Reach *reach, Range *range)
{
	while (range->first > 0 &&
	       excess_of(reach, range->first - 1) > noise_of(reach, range->first - 1))
		range->first--;
	while (range->end < reach->n_bins &&
	       excess_of(reach, range->end) > noise_of(reach, range->end))
		range->end++;
}

/* Where most of what stands out of N children lies. */
static Range
range_of_excess(Reach *reach, double n)
{
	double excess[N_BINS] = { 0 }, sum = 0, part = 0;
	Range range = { 0, 0 };

	for (gint i = 0; i < reach->n_bins; i++) {
		double over = reach->real[i] - reach->null[i] * load_at(reach, i);
		gboolean stands_out = over > FEW && over > CLEAR * noise_of(reach, i) + SKEW;
		excess[i] = stands_out ? over : 0;
	}
	leave_out_moved(reach, excess);
	for (gint i = 0; i < reach->n_bins; i++)
		sum += excess[i];
	for (gint i = 0; i < reach->n_bins && part < WHOLE * MIN(sum, n); i++) {
		if (excess[i] <= 0)
			continue;
		if (part <= 0)
			range.first = i;
		range.end = i + 1;
		part += excess[i];
	}
	if (range.end > 0)
		add_neighbours(reach, &range);
	return range;
}

/*
 * Gaps in RANGE: how many more than by chance, all of it counted, so that it is right on average; and its
 * standard deviation.
 */
static double
surplus_of(const Reach *reach, const Range *range, double n, double *out_noise)
{
	double surplus = 0, by_chance = 0, moved[N_SHIFTS] = { 0 }, variance;
	for (gint i = range->first; i < range->end; i++) {
		surplus += excess_of(reach, i);
		by_chance += reach->null[i] * reach->spread[i];
		for (gint k = 0; k < N_SHIFTS; k++)
			moved[k] += reach->moved[k][i];
	}
	(void)mean_of(moved, N_SHIFTS, 1, &variance);
	*out_noise = sqrt(MAX(by_chance, variance) * (1 + 1.0 / N_SHIFTS) + n);
	return surplus;
}

/*
 * What comes late is spread, and stands out in no bin: as long as twice the reach has clearly more in it,
 * that is the reach, but not once every child has its cause.
 */
static void
stretch(const Reach *reach, Range *range, double n, double clear)
{
	double noise;
	double within = surplus_of(reach, range, n, &noise);
	while (range->end + BINS_AN_OCTAVE <= reach->n_bins && within < WHOLE * n) {
		Range next = { range->end, range->end + BINS_AN_OCTAVE };
		double more = surplus_of(reach, &next, n, &noise);
		if (more < clear * noise || more < MORE * within)
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

/*
 * Up to where what stood out was moved, in whole milliseconds, and little is more than by chance: nothing is caused so
 * soon. Else what is so near, always at the same times, would be taken for causes that take no time.
 */
static gint64
least_gap(const Reach *reach)
{
	gint64 least_ns = 0;
	double surplus = 0, moved = 0, noise = 0, variance;

	for (gint i = 0; i < LEAST_TICKS; i++) {
		double null = mean_of(&reach->moved_ticks[0][i], N_SHIFTS, N_TICKS, &variance);
		surplus += reach->ticks[i] - null;
		noise += MAX(null, variance) * (1 + 1.0 / N_SHIFTS);
		moved += reach->left_out[i];
		double most = MAX(CLEAR_LEFT * sqrt(noise), (1 - LEAST_MOVED) * moved);
		if (reach->left_out[i] > 0 && surplus < most)
			least_ns = (gint64)(i + 1) * TICK_NS;
	}
	return least_ns;
}

/* Counts the gaps of children of TYPE, of N_OF_TYPE enough of them, and by chance. Returns how many it has looked at. */
static guint32
count_type(Reach *reach, guint32 type, guint32 stride)
{
	const WpNestProblem *problem = reach->problem;
	guint32 met = 0, n = 0;

	for (gint i = 0; i < N_BINS; i++)
		reach->real[i] = 0;
	memset(reach->moved, 0, sizeof reach->moved);
	memset(reach->ticks, 0, sizeof reach->ticks);
	memset(reach->moved_ticks, 0, sizeof reach->moved_ticks);
	for (guint32 c = 0; c < problem->n_children && !wp_nest_is_stopped(problem); c++) {
		const WpNestChild *child = &problem->children[c];
		if (child->type != type || met++ % stride != 0)
			continue;
		n++;
		count_child(reach, child);
	}
	learn_null(reach);
	reach->was_moved = FALSE;
	memset(reach->left_out, 0, sizeof reach->left_out);
	return n;
}

/* Sets the spontaneous children of TYPE; returns its reach in ns. */
static double
learn_type(Reach *reach, guint32 type, guint32 n_of_type, double *out_spontaneous)
{
	guint32 stride = MAX(n_of_type / ENOUGH, 1);
	double n = count_type(reach, type, stride);
	Range range = range_of_excess(reach, n);

	*out_spontaneous = 0;
	if (range.end == 0)
		return 0;
	stretch(reach, &range, n, CLEAR_MORE);
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
		return (double)G_MAXINT64;
	qsort(backs, n, sizeof *backs, compare_times);
	return MAX((double)backs[n / 2], reach->problem->grain_ns);
}

/* Bins up to LIMIT_NS. */
static void
set_bins(Reach *reach, double limit_ns)
{
	while (reach->n_bins < N_BINS && end_of_bin(reach, reach->n_bins - 1) < limit_ns)
		reach->n_bins++;
}

static guint32 *
count_types(const WpNestProblem *problem)
{
	guint32 *n_of = g_new0(guint32, MAX(problem->n_types, 1));
	for (guint32 c = 0; c < problem->n_children; c++)
		n_of[problem->children[c].type]++;
	return n_of;
}

gint64
wp_nest_learn_reach(WpNestProblem *problem)
{
	g_autofree gint64 *times = g_new(gint64, MAX(problem->n_parents, 1));
	g_autofree guint32 *n_of = count_types(problem);
	Reach reach = { .problem = problem, .times = times };
	g_autofree gint64 *least_ns = g_new0(gint64, MAX(problem->n_types, 1));
	gboolean was_moved = FALSE;
	double longest_ns = 0;

	for (guint32 p = 0; p < problem->n_parents; p++)
		if (problem->parents[p].is_message)
			times[reach.n++] = problem->parents[p].begin_ns;
	if (reach.n == 0 || problem->n_children == 0)
		return 0;
	double limit_ns = longest_reach(&reach);
	set_bins(&reach, limit_ns);
	problem->spontaneous = g_new0(double, problem->n_types);
	WpNestShift shift = wp_nest_shift_of(problem, 0, 1);
	reach.order = wp_nest_order_new(problem, &shift);
	for (guint32 t = 0; t < problem->n_types; t++) {
		longest_ns =
			MAX(longest_ns, learn_type(&reach, t, n_of[t], &problem->spontaneous[t]));
		least_ns[t] = least_gap(&reach);
		was_moved |= reach.was_moved;
	}
	if (was_moved)
		problem->least_ns = g_steal_pointer(&least_ns);
	problem->only_wakes = was_moved && longest_ns <= 0;
	wp_nest_order_free(reach.order);
	return (gint64)MIN(SLACK * longest_ns, limit_ns);
}

/* --- behind replies --- */

/* Follows the time of a host: until when calls are in hand, and for how long none was. */
typedef struct {
	const WpNestProblem *problem;
	gint64 given_up_ns; /* calls without a return are in hand for so long */
	guint32 next;       /* parent */
	guint32 next_open;  /* parent without a return */
	gboolean has_begun;
	gint64 first_ns;
	gint64 until_ns;
	gint64 idle_ns;
	guint32 n_idle; /* times in which none was, so far */
} Hand;

static void
take_in_hand(Hand *hand, gint64 begin_ns, gint64 end_ns)
{
	if (!hand->has_begun)
		hand->first_ns = hand->until_ns = begin_ns;
	hand->has_begun = TRUE;
	hand->idle_ns += MAX(begin_ns - hand->until_ns, 0);
	hand->n_idle += begin_ns > hand->until_ns;
	hand->until_ns = MAX(hand->until_ns, end_ns);
}

/* Goes on to what begins by TIME_NS. */
static void
go_to(Hand *hand, gint64 time_ns)
{
	const WpNestProblem *problem = hand->problem;
	guint32 n = problem->n_parents, n_open = n + problem->n_open;

	for (;;) {
		const WpNestParent *parent = &problem->parents[hand->next];
		const WpNestParent *open = &problem->parents[hand->next_open];
		gboolean has_own = hand->next < n && parent->begin_ns <= time_ns;
		gboolean has_open = hand->next_open < n_open && open->begin_ns <= time_ns;
		if (has_own && (!has_open || parent->begin_ns <= open->begin_ns)) {
			take_in_hand(hand, parent->begin_ns, parent->end_ns);
			hand->next++;
		} else if (has_open) {
			take_in_hand(hand, open->begin_ns, open->begin_ns + hand->given_up_ns);
			hand->next_open++;
		} else {
			return;
		}
	}
}

/* Children of a type. */
typedef struct {
	guint32 n;
	guint32 n_alone; /* that begin while no call is in hand */
	guint32 n_times; /* ... in so many times of that sort: what was lost at once is alone at once */
	guint32 last; /* of these, from 1 */
} Alone;

/* When CHILD began, whenever it had come to a line. */
static gint64
begin_of(const WpNestProblem *problem, const WpNestHost *host, const WpNestChild *child)
{
	const WpSpan *spans = wp_resolved_spans(problem->resolved)->spans;

	return problem->is_lined && child->span != WP_NO_SPAN
		       ? wp_nest_clock_at(host->clock, spans[child->span].call_ns)
		       : child->begin_ns;
}

/* Counts them by type. Returns the share of the time in which no call is in hand. */
static double
count_alone(const WpNestProblem *problem, const WpNestHost *host, Alone *types)
{
	gint64 skew_ns = problem->options->skew_ns, longest_ns = 0;
	Hand hand = { .problem = problem, .next_open = problem->n_parents };

	for (guint32 p = 0; p < problem->n_parents; p++)
		longest_ns =
			MAX(longest_ns, problem->parents[p].end_ns - problem->parents[p].begin_ns);
	hand.given_up_ns = GIVEN_UP * MIN(longest_ns, MAX_CALL_NS);
	for (guint32 c = 0; c < problem->n_children; c++) {
		const WpNestChild *child = &problem->children[c];
		Alone *alone = &types[child->type];
		gint64 begin_ns = begin_of(problem, host, child);
		alone->n++;
		go_to(&hand, begin_ns + skew_ns);
		if (!hand.has_begun || begin_ns <= hand.until_ns + skew_ns)
			continue;
		alone->n_alone++;
		alone->n_times += alone->last != hand.n_idle + 1;
		alone->last = hand.n_idle + 1;
	}
	go_to(&hand, G_MAXINT64);
	return (double)hand.idle_ns / MAX((double)(hand.until_ns - hand.first_ns), 1);
}

/* A type more of which begins outside of calls than mistakes would make of one that calls enclose. */
typedef struct {
	guint32 type;
	guint32 stride;
	double outside; /* share of all, by how many are alone, and for how long nothing is in hand */
	double reach_ns; /* behind replies; 0: nothing stands out there */
} Late;

/* (transfer full) Not those of which no more are outside than the loss of parents explains. */
static GArray *
list_late(const WpNestProblem *problem, const WpNestHost *host)
{
	g_autofree Alone *types = g_new0(Alone, MAX(problem->n_types, 1));
	GArray *list = g_array_new(FALSE, FALSE, sizeof(Late));
	double idle = count_alone(problem, host, types);

	for (guint32 t = 0; t < problem->n_types; t++) {
		const Alone *own = &types[t];
		double n = MIN(own->n_alone / MAX(idle, DBL_MIN), own->n);
		Late late = { t, MAX(own->n / ENOUGH, 1), n / MAX(own->n, 1), 0 };
		if (own->n_times >= MIN_ALONE && late.outside >= MIN_OUTSIDE &&
		    n > TIMES_LOST * host->n_lost)
			g_array_append_val(list, late);
	}
	return list;
}

/* Where what begins behind replies stands out most from chance; none where it does not. */
static Range
range_of_late(Reach *reach, double n)
{
	Range best = { 0, 0 };
	double most = CLEAR;

	for (gint end = 1; end <= reach->n_bins; end++) {
		const Range own = { 0, end };
		double noise, surplus = surplus_of(reach, &own, 0, &noise);
		if (surplus > FEW && surplus > most * noise) {
			most = surplus / noise;
			best = own;
		}
	}
	return best.end > 0 ? best : range_of_excess(reach, n);
}

/* Learns how long behind replies children of a type begin. */
static void
learn_late_type(Reach *reach, Late *late)
{
	double n = count_type(reach, late->type, late->stride);
	Range range = range_of_late(reach, n);

	if (range.end == 0)
		return;
	range.first = 0;
	stretch(reach, &range, MOST_LATE * late->outside * n, CLEAR_LATE);
	stretch(reach, &range, late->outside * n, CLEAR_MORE);
	late->reach_ns = end_of_bin(reach, range.end - 1);
}

/* The window behind replies, of SOON_NS at least. */
static gint64
longest_of(const GArray *list, gint64 soon_ns, double limit_ns)
{
	double longest_ns = 0;

	for (guint i = 0; i < list->len; i++)
		longest_ns = MAX(longest_ns, g_array_index(list, Late, i).reach_ns);
	return MAX(soon_ns, (gint64)MIN(LATE_SLACK * longest_ns, limit_ns));
}

/* Of N children those outside of calls that do not stand out in AFTER_NS behind replies. */
static double
count_left(const Reach *reach, const Late *late, double n, gint64 after_ns, double *out_noise)
{
	Range range = { 0, 0 };

	while (range.end < reach->n_bins && end_of_bin(reach, range.end) < (double)after_ns)
		range.end++;
	return late->outside * n - surplus_of(reach, &range, n, out_noise);
}

/*
 * Of a type that begins outside of calls, what nothing has caused: all of that, where hardly any of it stands out behind replies.
 * Less does where requests of one client follow one another, so that it is never a part. SOON_NS tells it best, as little is there
 * by chance; others of the host may show that more is to be looked at.
 */
static double
count_uncaused(Reach *reach, const Late *late, gint64 soon_ns)
{
	double n = count_type(reach, late->type, late->stride), outside = late->outside * n;
	double noise, far_noise;
	double left = count_left(reach, late, n, soon_ns, &noise);
	double far_left = count_left(reach, late, n, reach->problem->after_ns, &far_noise);

	if (left < MOST_LATE * outside || left < CLEAR_LEFT * noise)
		return 0;
	if (MAX(far_left, far_noise) < HALF_LATE * outside)
		return 0;
	return outside * late->stride;
}

static void
note_uncaused(WpNestProblem *problem, guint32 type, double n)
{
	const WpNestBundle *last = &problem->bundles[problem->n_bundles - 1];
	double length_ns = (double)(last->begin_ns - problem->bundles[0].begin_ns);

	if (!problem->alone_nats) {
		problem->alone_nats = g_new(double, problem->n_types);
		for (guint32 t = 0; t < problem->n_types; t++)
			problem->alone_nats[t] = WP_NEST_NEVER;
	}
	problem->alone_nats[type] =
		wp_quick_log(&problem->quick, n * problem->grain_ns / MAX(length_ns, 1));
}

void
wp_nest_learn_late(WpNestProblem *problem, const WpNestHost *host)
{
	g_autoptr(GArray) list = problem->n_messages == 0 ? list_late(problem, host) : NULL;
	g_autofree gint64 *times = NULL;

	if (!list || list->len == 0 || problem->n_parents == 0)
		return;
	times = g_new(gint64, problem->n_parents);
	for (guint32 p = 0; p < problem->n_parents; p++)
		times[p] = problem->parents[p].end_ns;
	qsort(times, problem->n_parents, sizeof *times, compare_times);
	Reach reach = { .problem = problem, .times = times, .n = problem->n_parents };
	double limit_ns = MIN(longest_reach(&reach), MAX_LATE_NS);
	set_bins(&reach, limit_ns);
	WpNestShift shift = wp_nest_shift_of(problem, 0, 1);
	reach.order = wp_nest_order_new(problem, &shift);
	gint64 soon_ns = problem->after_ns;
	for (guint i = 0; i < list->len; i++)
		learn_late_type(&reach, &g_array_index(list, Late, i));
	if (problem->options->after_ns < 0)
		problem->after_ns = longest_of(list, soon_ns, limit_ns);
	for (guint i = 0; i < list->len; i++) {
		const Late *late = &g_array_index(list, Late, i);
		double n = late->reach_ns > 0 ? 0 : count_uncaused(&reach, late, soon_ns);
		if (n > 0)
			note_uncaused(problem, late->type, n);
	}
	wp_nest_order_free(reach.order);
}
