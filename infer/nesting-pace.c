/*
 * Which clock a host goes by. The gaps of an answer are as likely on a clock as their own densities there make them;
 * so that clocks can be compared, likelihoods are taken over real time: log f(gap on the clock) + log(rate of the
 * clock at the event). The first answer is one on real time, and vouches for that; so it is tried again with
 * the answer on another clock, until that stays. A part of a large host tells enough.
 *
 * At last, by the answer that there is, gaps may be counted from turns (nesting-turns.h) on real time, as long as that
 * makes answers likelier; or gaps behind the begin of a call from when one of a number of workers was free
 * (nesting-workers.h); or calls that waited for a connection from when they came to that line (nesting-queue.h).
 */
#include "infer/nesting-pace.h"

#include <math.h>
#include <string.h>

#include "infer/nesting-holds.h"
#include "infer/nesting-line.h"
#include "infer/nesting-lined.h"
#include "infer/nesting-part.h"
#include "infer/nesting-retime.h"
#include "infer/nesting-solution.h"
#include "infer/nesting-turns.h"
#include "infer/nesting-workers.h"

#define BUSY         1.2  /* candidates a bundle: with fewer, delays decide little */
#define VERY_BUSY    4.0  /* ... with more, a first answer may be wrong as a whole */
#define PART         4000 /* calls that tell which clock it is */
#define MAX_TURNS    5
#define MIN_SERVED   0.1  /* nats an event, with the begins of so many workers */
#define MIN_SURER    0.02 /* share of calls: of what follows on a connection that is held */
#define MIN_EVENTS   200
#define MIN_GAIN     0.02 /* nats an event, of one answer on two clocks: worth a try */
#define MIN_TOTAL    15.0 /* ... and in all */
#define MIN_LIKELIER 0.07 /* nats an event, of an answer each: accidents bring 0.04 */

/*
 * Of turns, nats an event. Counted from them, an answer that is half wrong was less likely by 0.03 to 0.26 where
 * there are turns, by 0.15 to 3 where there are none; then answers of their own were likelier by 0.3 to 0.65,
 * and by 0.15 at most.
 */
#define MAX_WORSE  0.35
#define MIN_TURNED 0.2
#define MIN_BETTER 0.01 /* worth to be taken once more */
#define PATIENCE   2    /* takes that are no better: a first answer may be too wrong to tell */

/* How turns are taken: by the length of the line, or by so many neighbours' waits, and by fewer once that brings no more. */
static const guint8 windows[] = { WP_NEST_MAX_NEIGHBOURS, 4, 2 };
#define BY_LENGTH 0

/* Other than real time. */
static const WpPace paces[] = {
	{ .pace = 0.25, .processors = 1 }, { .pace = 0.5, .processors = 1 },
	{ .pace = 0.75, .processors = 1 }, { .pace = 1, .processors = 1 },
	{ .pace = 1, .processors = 2 },    { .pace = 1, .processors = 4 },
	{ .pace = 1, .processors = 8 },    { .pace = 1, .processors = 16 },
};
#define ALL_WORK (&paces[3])

/* --- the clock --- */

/* The clock on which the gaps of ANSWER are the most regular, of those that are tried. */
static const WpPace *
learn_pace(const WpNestProblem *real, const WpNestProblem *answer, const WpNestHost *host)
{
	const WpPace *best = WP_NEST_REAL_TIME;
	guint32 n_events;
	double best_total = wp_nest_score_on(real, answer, NULL, &n_events);

	if (n_events < MIN_EVENTS)
		return best;
	best_total += MAX(MIN_GAIN * n_events, MIN_TOTAL);
	g_autoptr(WpNestCourse) course = wp_nest_course_new(real->resolved, host);
	for (gsize i = 0; i < G_N_ELEMENTS(paces) && !wp_nest_is_stopped(real); i++) {
		g_autoptr(WpNestClock) clock = wp_nest_clock_of(course, &paces[i]);
		double total = wp_nest_score_on(real, answer, clock, &n_events);
		if (total > best_total) {
			best_total = total;
			best = &paces[i];
		}
	}
	return best;
}

/* --- solving --- */

typedef WpNestSolution Solution;
typedef WpNestQuestion Host;

static gboolean
is_busy(const WpNestProblem *problem, double candidates)
{
	return problem->n_candidates > candidates * problem->n_bundles;
}

/*
 * Solves on the clock of PACE, then on the one that the answer shows, until that stays; without a problem where
 * it leads back to real time.
 */
static Solution
follow_pace(const Host *host, const WpPace *pace)
{
	Solution solution = { .pace = WP_NEST_REAL_TIME };

	for (gint turn = 0; turn < MAX_TURNS && pace != solution.pace; turn++) {
		wp_nest_solution_clear(&solution);
		solution = wp_nest_solution_new(host, pace);
		pace = learn_pace(host->real, solution.problem, host->host);
		if (pace == WP_NEST_REAL_TIME)
			wp_nest_solution_clear(&solution);
	}
	return solution;
}

/* By how much SOLUTION is likelier than FIRST, on real time: nats an event. */
static double
gain_of(const Host *host, const Solution *solution, const Solution *first)
{
	g_autoptr(WpNestClock) clock =
		wp_nest_clock_new(host->resolved, host->host, solution->pace);
	guint32 n_events;
	double gain = wp_nest_score_on(host->real, solution->problem, clock, &n_events) -
		      wp_nest_score_on(host->real, first->problem, NULL, &n_events);
	return gain / MAX(n_events, 1);
}

/*
 * Takes an answer on another clock than SOLUTION, which is on real time, where one is much likelier. At high load
 * the answer on real time may be too wrong to show any clock; then one is tried as if all time went into work.
 */
static void
settle_pace(const Host *host, Solution *solution)
{
	const WpPace *pace = learn_pace(host->real, solution->problem, host->host);

	if (pace == WP_NEST_REAL_TIME && is_busy(solution->problem, VERY_BUSY))
		pace = ALL_WORK;
	if (pace == WP_NEST_REAL_TIME || wp_nest_is_stopped(host->real))
		return;
	Solution other = follow_pace(host, pace);
	gboolean is_better = other.pace != WP_NEST_REAL_TIME && !wp_nest_is_stopped(host->real) &&
			     gain_of(host, &other, solution) > MIN_LIKELIER;
	wp_nest_solution_clear(is_better ? solution : &other);
	if (is_better)
		*solution = other;
}

/* --- turns --- */

/* On real time, or on the clock of SOLUTION. */
static double
score_solution(const Host *host, const Solution *solution, guint32 *out_n_events)
{
	if (solution->n_takes > 0)
		return wp_nest_score_on(solution->problem, solution->problem, NULL, out_n_events);
	g_autoptr(WpNestClock) clock =
		wp_nest_clock_new(host->resolved, host->host, solution->pace);
	return wp_nest_score_on(host->real, solution->problem, clock, out_n_events);
}

/* SOLUTION's host with turns taken as TAKE says, not solved; its problem is NULL: it has none. */
static Solution
take_turns(const Host *host, const Solution *solution, guint8 take)
{
	Solution turned = { .problem =
				    wp_nest_problem_new(host->resolved, host->host, host->options),
			    .pace = solution->pace,
			    .n_takes = solution->n_takes };
	gboolean has_turns = take == BY_LENGTH
				     ? wp_nest_count_turns(turned.problem)
				     : wp_nest_take_turns(turned.problem, solution->problem, take);

	memcpy(turned.takes, solution->takes, sizeof(turned.takes));
	turned.takes[turned.n_takes++] = take;
	if (!has_turns)
		g_clear_pointer(&turned.problem, wp_nest_problem_free);
	return turned;
}

/*
 * Takes turns for SOLUTION once more, as a part of the host has shown that it has some. FALSE: it has none, or the work was
 * stopped, and SOLUTION stays.
 */
static gboolean
take_again(const Host *host, Solution *solution, guint8 take)
{
	Solution turned = take_turns(host, solution, take);

	if (!turned.problem)
		return FALSE;
	turned.search = wp_nest_search(turned.problem);
	gboolean is_solved = !wp_nest_is_stopped(turned.problem);
	wp_nest_solution_clear(is_solved ? solution : &turned);
	if (is_solved)
		*solution = turned;
	return is_solved;
}

/* By how much ANSWER, as it is, would be likelier with TURNED's turns than it is: nats an event. */
static double
gain_of_turns(const Host *host, const Solution *answer, const Solution *turned)
{
	guint32 n_events;
	double before = score_solution(host, answer, &n_events);

	return (wp_nest_score_on(turned->problem, answer->problem, NULL, &n_events) - before) /
	       MAX(n_events, 1);
}

/*
 * Turns for FIRST, by the length of the line, or else as the waits in FIRST are, not solved; without a problem where the host
 * looks as if it had none: FIRST, as it is, is much less likely with them.
 */
static Solution
begin_turns(const Host *host, const Solution *first, gboolean is_known)
{
	static const guint8 ways[] = { BY_LENGTH, WP_NEST_MAX_NEIGHBOURS };
	Solution turned = { .pace = WP_NEST_REAL_TIME };

	for (gsize i = 0; i < G_N_ELEMENTS(ways); i++) {
		turned = take_turns(host, first, ways[i]);
		if (turned.problem &&
		    (is_known || gain_of_turns(host, first, &turned) > -MAX_WORSE))
			break;
		wp_nest_solution_clear(&turned);
	}
	return turned;
}

/*
 * Takes turns by BEST's answer, by NEIGHBOURS' waits, then by the answer that this gives, as long as answers get likelier or
 * as many as PATIENCE have not, while there are TAKES left. BEST_SCORE is of BEST, and becomes that of the likeliest.
 */
static void
follow_turns(const Host *host, guint8 neighbours, guint patience, guint *takes, Solution *best,
	     double *best_score)
{
	Solution last = { .pace = WP_NEST_REAL_TIME }; /* without a problem: BEST is */
	guint n_worse = 0;

	while (n_worse <= patience && *takes > 0 && !wp_nest_is_stopped(host->real)) {
		Solution turned = take_turns(host, last.problem ? &last : best, neighbours);
		guint32 n_events;
		wp_nest_solution_clear(&last);
		if (!turned.problem)
			break;
		turned.search = wp_nest_search(turned.problem);
		double score = score_solution(host, &turned, &n_events);
		(*takes)--;
		if (score > *best_score + MIN_BETTER * n_events &&
		    !wp_nest_is_stopped(host->real)) {
			wp_nest_solution_clear(best);
			*best = turned;
			*best_score = score;
			n_worse = 0;
		} else {
			last = turned;
			n_worse++;
		}
	}
	wp_nest_solution_clear(&last);
}

/*
 * Takes an answer with turns instead of SOLUTION where that is much the likelier. By few neighbours it always gets so, as they
 * are their own witnesses; so that is tried, as turns are told better by them, where there are any.
 */
static void
settle_turns(const Host *host, gboolean is_known, Solution *solution)
{
	Solution other = begin_turns(host, solution, is_known);
	guint takes = WP_PACE_MAX_TAKES - 1;
	guint32 n_events;

	if (!other.problem)
		return;
	other.search = wp_nest_search(other.problem);
	double score = score_solution(host, &other, &n_events);
	follow_turns(host, windows[0], is_known ? PATIENCE : 0, &takes, &other, &score);
	double gain = score - score_solution(host, solution, &n_events);
	gboolean is_better =
		(is_known || gain > MIN_TURNED * n_events) && !wp_nest_is_stopped(host->real);
	wp_nest_solution_clear(is_better ? solution : &other);
	if (!is_better)
		return;
	*solution = other;
	for (gsize i = 1; i < G_N_ELEMENTS(windows); i++)
		follow_turns(host, windows[i], 0, &takes, solution, &score);
}

/* --- holds --- */

/* Whether HELD tells of more, or more surely, than BEFORE. */
static gboolean
holds_more(const GArray *held, const GArray *before)
{
	if (!before || held->len != before->len)
		return held->len > (before ? before->len : 0);
	for (guint i = 0; i < held->len; i++)
		if (g_array_index(held, WpNestHold, i).share >
		    g_array_index(before, WpNestHold, i).share + MIN_SURER)
			return TRUE;
	return FALSE;
}

/*
 * Solves anew where SOLUTION tells of connections that are HELD (NULL: none so far), which OWN, that is HOST's, has then, as
 * long as answers are surer of it.
 */
static void
settle_holds(const Host *host, WpNestHost *own, GArray **held, Solution *solution)
{
	for (gint turn = 0; turn < MAX_TURNS && wp_nest_may_hold(solution->problem); turn++) {
		GArray *now =
			wp_nest_find_holds(solution->problem, wp_nest_solution_beliefs(solution));
		if (!holds_more(now, *held) || wp_nest_is_stopped(solution->problem)) {
			g_array_unref(now);
			break;
		}
		g_clear_pointer(held, g_array_unref);
		*held = now;
		own->held = (const WpNestHold *)(const void *)now->data;
		own->n_held = now->len;
		Solution other = wp_nest_solution_new(host, WP_NEST_REAL_TIME);
		gboolean is_solved = !wp_nest_is_stopped(other.problem);
		wp_nest_solution_clear(is_solved ? solution : &other);
		if (is_solved)
			*solution = other;
	}
}

/* --- workers --- */

/*
 * Solves anew where several workers take messages from a queue: each begins when it is taken up. The answer tells better
 * than the one before when messages are done, so it is asked again as long as all becomes likelier by that. Returns how many
 * workers; 0: any number, and SOLUTION stays.
 */
static guint32
try_workers(const Host *host, Solution *solution)
{
	g_autofree gint64 *begins_ns = g_new(gint64, MAX(solution->problem->n_parents, 1));
	WpNestHost own = *host->host;
	const Host queue = { host->resolved, &own, host->options, NULL };
	double before = -G_MAXDOUBLE, score = 0;
	guint32 workers = 0;

	if (solution->pace != WP_NEST_REAL_TIME) /* no worker is known to go by another */
		return 0;
	own.begins_ns = begins_ns;
	for (gint turn = 0; turn < MAX_TURNS && !wp_nest_is_stopped(solution->problem); turn++) {
		guint32 n = wp_nest_find_workers(solution->problem, begins_ns, &score);
		if (n == 0 || score < before + MIN_GAIN)
			break;
		before = score;
		workers = n;
		wp_nest_solution_clear(solution);
		*solution = wp_nest_solution_new(&queue, WP_NEST_REAL_TIME);
	}
	return workers;
}

/*
 * Solves anew where several workers do all of a call each, and the others wait for one, if that is much likelier than what
 * SOLUTION, with a clock or with turns, makes of the same waits. OWN, that is HOST's, has then when each begins
 * (OUT_BEGINS_NS: transfer full). Returns how many workers; 0: any number, and SOLUTION stays.
 * OUT_FOUND: the number by which all is likelier then, but not by so much; 0: there is none.
 */
static guint32
settle_workers(const Host *host, WpNestHost *own, guint32 *out_found, gint64 **out_begins_ns,
	       Solution *solution)
{
	g_autofree gint64 *begins_ns = g_new(gint64, MAX(host->real->n_parents, 1));
	guint32 n = wp_nest_find_call_workers(host->real, begins_ns), n_events;

	*out_found = 0;
	if (n == 0)
		return 0;
	own->begins_ns = begins_ns;
	own->workers = n;
	Solution other = wp_nest_solution_new(host, WP_NEST_REAL_TIME);
	double gain = wp_nest_score_on(other.problem, other.problem, NULL, &n_events) -
		      score_solution(host, solution, &n_events);
	gboolean is_better = gain > MIN_SERVED * n_events && !wp_nest_is_stopped(other.problem);
	wp_nest_solution_clear(is_better ? solution : &other);
	if (!is_better) {
		own->begins_ns = NULL;
		own->workers = 0;
		*out_found = gain > 0 ? n : 0;
		return 0;
	}
	*solution = other;
	*out_begins_ns = g_steal_pointer(&begins_ns);
	return n;
}

/* --- all of it --- */

static void
take_from(const Solution *solution, WpPace *pace)
{
	pace->n_takes = solution->n_takes;
	memcpy(pace->takes, solution->takes, sizeof(pace->takes));
}

/*
 * How the host of SOLUTION, which is on real time and becomes an answer of that, works. OWN, that is HOST's, has then when
 * the work began at each call (OUT_BEGINS_NS: transfer full; NULL: when it came), and what is HELD.
 */
static WpPace
find_pace(Host *host, WpNestHost *own, GArray **held, guint32 *out_found, gint64 **out_begins_ns,
	  Solution *solution)
{
	host->real = wp_nest_problem_new(host->resolved, own, host->options);
	settle_pace(host, solution);
	if (is_busy(solution->problem, VERY_BUSY))
		settle_turns(host, FALSE, solution);
	guint32 workers = settle_workers(host, own, out_found, out_begins_ns, solution);
	if (workers > 0)
		settle_holds(host, own, held, solution);
	wp_nest_problem_free(host->real);
	WpPace pace = *solution->pace;
	pace.workers = workers;
	pace.serves_calls = workers > 0;
	take_from(solution, &pace);
	return pace;
}

/* The same where it is known, but for how its turns are told: that depends on the answers on the way. */
static WpPace
know_pace(Host *host, Solution *solution)
{
	WpPace pace = *host->host->known;

	if (pace.n_takes > 0) {
		host->real = wp_nest_problem_new(host->resolved, host->host, host->options);
		settle_turns(host, TRUE, solution);
		wp_nest_problem_free(host->real);
		take_from(solution, &pace);
	}
	return pace;
}

/* The one of paces[], or real time, that has PACE's clock. */
static const WpPace *
clock_of(const WpPace *pace)
{
	for (gsize i = 0; i < G_N_ELEMENTS(paces); i++)
		if (paces[i].pace >= pace->pace && paces[i].processors == pace->processors)
			return pace->pace > 0 ? &paces[i] : WP_NEST_REAL_TIME;
	return WP_NEST_REAL_TIME;
}

/*
 * Solves HOST, which works as PACE says; WORKS, if not NULL: with its calls as they came to the line (OUT_QUEUE: transfer full). OWN is
 * HOST's, and has then what OUT_BEGINS_NS is as in find_pace().
 */
static Solution
solve_paced(const Host *host, WpNestHost *own, const WpPace *pace, const WpNestWorks *works,
	    gint64 **out_begins_ns, WpNestQueue **out_queue)
{
	WpNestProblem *real =
		pace->serves_calls ? wp_nest_problem_new(host->resolved, own, host->options) : NULL;

	if (real) {
		*out_begins_ns = g_new(gint64, MAX(real->n_parents, 1));
		if (wp_nest_find_call_begins(real, pace->workers, *out_begins_ns)) {
			own->begins_ns = *out_begins_ns;
			own->workers = pace->workers;
		}
		wp_nest_problem_free(real);
	}
	if (works)
		*out_queue = wp_nest_line_up(host, own, works);
	Solution solution = wp_nest_solution_new(host, clock_of(pace));
	for (guint i = 0; solution.problem && i < pace->n_takes; i++)
		if (!take_again(host, &solution, pace->takes[i]))
			break;
	return solution;
}

WpNestProblem *
wp_nest_solve(const WpResolved *resolved, const WpNestHost *host, const WpNestOptions *options,
	      WpNestBelief **out_beliefs, WpPace *out_pace)
{
	g_autoptr(GArray) held = NULL;
	g_autofree gint64 *part_begins_ns = NULL, *begins_ns = NULL;
	WpNestHost whole = *host;
	WpPace pace = *WP_NEST_REAL_TIME;
	WpNestWorks works;
	gboolean is_lined = FALSE;
	guint32 found = 0;
	WpNestPart part;

	wp_nest_part_init(resolved, host, PART, &part);
	WpNestQueue *part_queue = wp_nest_line_up_known(resolved, &part.host);
	g_autoptr(WpNestQueue) queue = wp_nest_line_up_known(resolved, &whole);
	Host own = { resolved, &part.host, options, NULL };
	Solution solution = wp_nest_solution_new(&own, WP_NEST_REAL_TIME);
	if (solution.problem && is_busy(solution.problem, BUSY)) {
		settle_holds(&own, &part.host, &held, &solution);
		pace = host->known ? know_pace(&own, &solution)
				   : find_pace(&own, &part.host, &held, &found, &part_begins_ns,
					       &solution);
		is_lined = !host->known &&
			   wp_nest_settle_lines(&own, &part.host, found, &part_begins_ns, &works,
						&pace, &solution);
	}
	if (!part.is_all || (host->known && (pace.pace > 0 || pace.serves_calls))) {
		wp_nest_solution_clear(&solution);
		whole.held = part.host.held;
		whole.n_held = part.host.n_held;
		own.host = &whole;
		solution = solve_paced(&own, &whole, &pace, is_lined ? &works : NULL, &begins_ns,
				       &queue);
		pace.serves_calls =
			whole.begins_ns != NULL; /* all of it may hold what no part does */
	}
	pace.n_takes = solution.n_takes;
	if (solution.problem) {
		WpNestBelief *beliefs = wp_nest_solution_beliefs(&solution);
		guint32 n = wp_nest_try_line(solution.problem, beliefs)
				    ? 1
				    : try_workers(&own, &solution);
		wp_nest_solution_beliefs(&solution);
		pace.workers = pace.serves_calls ? pace.workers : n;
	}
	*out_pace = pace;
	wp_nest_part_clear(&part);
	wp_nest_queue_free(part_queue);
	wp_nest_search_free(solution.search);
	*out_beliefs = solution.beliefs;
	return solution.problem;
}
