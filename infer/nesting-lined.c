/*
 * Lines for connections, and for workers before them. See the header.
 *
 * How many workers there are shows in how likely what the host does is with so many: with the true number calls begin when they do,
 * with any other as others return, which has little to do with them. So there is a peak, often of a whole nat, and no way leads to it:
 * all numbers are looked at, on a part, each with a rough answer.
 */
#include "infer/nesting-lined.h"

#include <math.h>

#include "infer/nesting-part.h"
#include "infer/nesting-retime.h"
#include "infer/nesting-workers.h"

/* Of calls that wait for a connection one after the other: so many are turned around, to see whether the first is served first. */
#define TURNED 4

/*
 * By how much that must be less likely: nats an event, and three standard deviations of what chance brings where the line
 * tells nothing (0.07 in 39 such answers, of 460 to 810 events each).
 */
#define MIN_LINED   0.06
#define LINED_NOISE 5 /* by the root of the number of events */

/*
 * With the true number of workers a rough answer is likelier than with one more or less by 0.02 to 1.8 nats an event, with
 * others by chance by up to 0.08 (36 simulated pools, and traces/scenarios/pool.scenario). What is not clear is asked of better
 * answers: 0.03 to 1, by others 0.06 at most; then no surer than with the line for connections only.
 */
#define PEAK_PART      2000
#define MIN_ROUGH_PEAK 0.02
#define CLEAR_PEAK     0.1
#define MIN_PEAK       0.03
#define MAX_PEAKS      2     /* that are tried */
#define MIN_PEAK_SURER 0.02  /* share of calls; a wrong number 0.01, right ones from 0.04 on */
#define PEAK_LOST      0.005 /* of the calls: how many are in hand is told by counts */

/* HOST gets its calls as they stand in QUEUE, which it borrows. */
static void
take_queue(WpNestHost *host, const WpNestQueue *queue)
{
	host->outgoing = queue->outgoing;
	host->lined_ns = queue->lined_ns;
}

/*
 * QUESTION solved with its calls as they came to the line, or TURNED as in wp_nest_queue_find(). REAL: its problem in real time.
 * OUT_SCORE: nats an event.
 */
static WpNestSolution
solve_lined(const WpNestQuestion *question, const WpNestProblem *real, const WpNestWorks *works,
	    guint32 turned, double *out_score)
{
	g_autoptr(WpNestQueue) queue = wp_nest_queue_find(real, works, turned);
	WpNestHost own = *question->host;
	const WpNestQuestion lined = { question->resolved, &own, question->options, NULL };
	guint32 n_events;

	take_queue(&own, queue);
	WpNestSolution solution = wp_nest_solution_new(&lined, WP_NEST_REAL_TIME);
	*out_score = wp_nest_score_on(solution.problem, solution.problem, NULL, &n_events);
	*out_score /= MAX(n_events, 1);
	return solution;
}

/* Of the bundles that have a parent: how likely that is, on the average. */
static double
mean_belief(WpNestSolution *solution)
{
	const WpNestProblem *problem = solution->problem;
	const WpNestBelief *beliefs = wp_nest_solution_beliefs(solution);
	double sum = 0, n = 0;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		if (problem->bundles[b].parent == WP_NO_PARENT)
			continue;
		sum += beliefs[b].probability;
		n++;
	}
	return sum / MAX(n, 1);
}

/*
 * Solves anew where calls wait for connections and who comes first is served first: as if they had begun when they came to the
 * line. That is believed where it is less likely by LEAST, beside what is chance, with a few neighbours turned around; being surer
 * by a share of calls counts as so many nats, times WEIGHT. Returns whether it is; WORKS: what tells when they came, learned of
 * SOLUTION. OUT_BELIEF: how sure such an answer is, believed or not.
 */
static gboolean
settle_queue(const WpNestQuestion *question, double least, double weight, const WpNestWorks *works,
	     double *out_belief, WpNestSolution *solution)
{
	double n_events = solution->problem->n_bundles + (double)solution->problem->n_parents;
	double noise = LINED_NOISE / sqrt(n_events), score, turned;
	gboolean is_better = FALSE;

	*out_belief = 0;
	if (wp_nest_is_stopped(solution->problem))
		return FALSE;
	WpNestSolution other = solve_lined(question, solution->problem, works, 1, &score);
	*out_belief = mean_belief(&other);
	double surer = *out_belief - mean_belief(solution);
	if (surer > 0) {
		WpNestSolution worse =
			solve_lined(question, solution->problem, works, TURNED, &turned);
		double margin = score - turned;
		is_better = margin > -noise && margin + weight * surer > least + noise &&
			    !wp_nest_is_stopped(other.problem);
		wp_nest_solution_clear(&worse);
	}
	wp_nest_solution_clear(is_better ? solution : &other);
	if (is_better)
		*solution = other;
	return is_better;
}

/* How likely what the host does is, nats an event, if so many WORKERS take up its calls before they come to the line by WORKS. */
static double
score_workers(const WpNestQuestion *question, const WpNestWorks *works, guint32 workers)
{
	WpNestHost own = *question->host;
	const WpNestQuestion served = { question->resolved, &own, question->options, NULL };
	WpNestProblem *real = wp_nest_problem_new(question->resolved, &own, question->options);
	g_autofree gint64 *begins_ns = g_new(gint64, MAX(real->n_parents, 1));
	double score;

	(void)wp_nest_find_call_begins(real, workers, begins_ns);
	wp_nest_problem_free(real);
	own.begins_ns = begins_ns;
	real = wp_nest_problem_new(question->resolved, &own, question->options);
	WpNestSolution solution = solve_lined(&served, real, works, 1, &score);
	wp_nest_solution_clear(&solution);
	wp_nest_problem_free(real);
	return score;
}

/* A number of workers with which the host is likelier than with one more or less, by HEIGHT: nats an event. */
typedef struct {
	guint32 workers;
	double height;
} Peak;

/* The highest first. */
static gint
compare_peaks(gconstpointer a, gconstpointer b)
{
	const Peak *x = a, *y = b;
	if (x->height != y->height)
		return x->height > y->height ? -1 : 1;
	return (x->workers > y->workers) - (x->workers < y->workers);
}

/* Adds to PEAKS those of LEAST to MOST workers; none where the work is stopped. */
static void
find_peaks(const WpNestQuestion *question, const WpNestWorks *works, guint32 least, guint32 most,
	   GArray *peaks)
{
	double before = -G_MAXDOUBLE, at = -G_MAXDOUBLE;

	for (guint32 n = MAX(least, 2) - 1; n <= most + 1; n++) {
		double score = score_workers(question, works, n);
		Peak peak = { n - 1, MIN(at - before, at - score) };
		if (wp_nest_is_stopped(question->real)) {
			g_array_set_size(peaks, 0);
			return;
		}
		if (n > least && peak.height > MIN_ROUGH_PEAK)
			g_array_append_val(peaks, peak);
		before = at;
		at = score;
	}
	g_array_sort(peaks, compare_peaks);
	if (peaks->len > MAX_PEAKS)
		g_array_set_size(peaks, MAX_PEAKS);
}

/* Takes from PEAKS those that are none in better answers. */
static void
check_peaks(const WpNestQuestion *question, const WpNestWorks *works, GArray *peaks)
{
	for (guint i = peaks->len; i-- > 0;) {
		Peak *peak = &g_array_index(peaks, Peak, i);
		if (peak->height >= CLEAR_PEAK)
			continue;
		double at = score_workers(question, works, peak->workers);
		double less = peak->workers > 1 ? score_workers(question, works, peak->workers - 1)
						: -G_MAXDOUBLE;
		double more = score_workers(question, works, peak->workers + 1);
		peak->height = MIN(at - less, at - more);
		if (peak->height < MIN_PEAK)
			g_array_remove_index(peaks, i);
	}
}

static gboolean
has_number(const GArray *peaks, guint32 workers)
{
	guint i = 0;

	while (i < peaks->len && g_array_index(peaks, Peak, i).workers != workers)
		i++;
	return i < peaks->len;
}

/*
 * (transfer full) Peak: numbers of workers that are worth a try: the likeliest, then that which was FOUND otherwise (0: none).
 * SOLUTION is of all that is asked.
 */
static GArray *
list_peaks(const WpNestQuestion *question, const WpNestWorks *works, guint32 found,
	   const WpNestSolution *solution)
{
	GArray *peaks = g_array_new(FALSE, FALSE, sizeof(Peak));
	guint32 most = 0, least = wp_nest_possible_workers(solution->problem, &most);
	WpNestOptions rough = *question->options;
	Peak last = { found, 0 };
	WpNestPart part;

	if (least == 0)
		return peaks;
	rough.anneals = FALSE;
	rough.is_rough = TRUE;
	wp_nest_part_init(question->resolved, question->host, PEAK_PART, &part);
	WpNestQuestion middle = { question->resolved, &part.host, &rough, solution->problem };
	if (part.host.n_incoming > 0) {
		find_peaks(&middle, works, least, most, peaks);
		middle.options = question->options;
		check_peaks(&middle, works, peaks);
	}
	wp_nest_part_clear(&part);
	if (found > 0 && !has_number(peaks, found))
		g_array_append_val(peaks, last);
	return peaks;
}

/* settle_served_queue() by PEAK's number. Returns whether it is. */
static gboolean
try_peak(const WpNestQuestion *question, WpNestHost *own, double belief, const Peak *peak,
	 gint64 **out_begins_ns, WpNestWorks *works, WpNestSolution *solution)
{
	g_autofree gint64 *begins_ns = g_new(gint64, solution->problem->n_parents);
	double least = MAX(MIN_LINED - peak->height, 0), new_belief;
	WpNestWorks own_works;

	(void)wp_nest_find_call_begins(solution->problem, peak->workers, begins_ns);
	own->begins_ns = begins_ns;
	own->workers = peak->workers;
	WpNestSolution other = wp_nest_solution_new(question, WP_NEST_REAL_TIME);
	gboolean is_better = wp_nest_queue_learn(other.problem, &own_works) &&
			     settle_queue(question, least, 0, &own_works, &new_belief, &other) &&
			     new_belief > belief + MIN_PEAK_SURER;
	wp_nest_solution_clear(is_better ? solution : &other);
	if (!is_better) {
		own->begins_ns = NULL;
		own->workers = 0;
		return FALSE;
	}
	*solution = other;
	*works = own_works;
	*out_begins_ns = g_steal_pointer(&begins_ns);
	return TRUE;
}

/*
 * The same where calls wait for one of several workers first, which do all of a call each, if that is surer than BELIEF. WORKS
 * is of an answer without a line, and becomes that of the new one. OWN, that is the host asked for, has then when each begins
 * (OUT_BEGINS_NS: transfer full). Returns how many workers; 0: any number, and all stays.
 */
static guint32
settle_served_queue(const WpNestQuestion *question, WpNestHost *own, guint32 found, double belief,
		    gint64 **out_begins_ns, WpNestWorks *works, WpNestSolution *solution)
{
	if (own->begins_ns || own->n_lost > PEAK_LOST * own->n_outgoing)
		return 0;
	g_autoptr(GArray) peaks = list_peaks(question, works, found, solution);
	for (guint i = 0; i < peaks->len; i++) {
		const Peak *peak = &g_array_index(peaks, Peak, i);
		if (try_peak(question, own, belief, peak, out_begins_ns, works, solution))
			return peak->workers;
	}
	return 0;
}

gboolean
wp_nest_settle_lines(const WpNestQuestion *question, WpNestHost *own, guint32 found,
		     gint64 **out_begins_ns, WpNestWorks *out_works, WpPace *pace,
		     WpNestSolution *solution)
{
	if (solution->pace != WP_NEST_REAL_TIME || solution->n_takes > 0 ||
	    !wp_nest_has_line(solution->problem) ||
	    !wp_nest_queue_learn(solution->problem, out_works))
		return FALSE;
	double belief;
	gboolean is_lined = settle_queue(question, MIN_LINED, 1, out_works, &belief, solution);
	belief = MAX(belief, mean_belief(solution));
	guint32 workers = settle_served_queue(question, own, found, belief, out_begins_ns,
					      out_works, solution);
	if (workers == 0)
		return is_lined;
	pace->workers = workers;
	pace->serves_calls = TRUE;
	return TRUE;
}

WpNestQueue *
wp_nest_line_up(const WpNestQuestion *question, WpNestHost *own, const WpNestWorks *works)
{
	WpNestProblem *real = wp_nest_problem_new(question->resolved, own, question->options);
	WpNestQueue *queue = real ? wp_nest_queue_find(real, works, 1) : NULL;

	wp_nest_problem_free(real);
	if (queue)
		take_queue(own, queue);
	return queue;
}

WpNestQueue *
wp_nest_line_up_known(const WpResolved *resolved, WpNestHost *own)
{
	WpNestQueue *queue =
		own->waited_ns ? wp_nest_queue_known(resolved, own, own->waited_ns) : NULL;

	if (queue)
		take_queue(own, queue);
	return queue;
}
