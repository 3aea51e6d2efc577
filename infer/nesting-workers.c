/* How many workers there are, and when each takes a message up. See the header. */
#include "infer/nesting-workers.h"

#include "infer/nesting-line.h"
#include "infer/nesting-rate.h"

#define MAX_WORKERS  32
#define ANY_NUMBER   G_MAXUINT32
#define PART         3000 /* things sent that tell how many workers there are */
#define BACK         64   /* messages that may have caused a thing: the last that were taken up */
#define MAX_WITHOUT  0.02 /* of the messages: that do not cause one of their main type each */
#define MIN_WAITING  0.05 /* of the messages: else nothing is to be seen of a line */
#define MIN_LIKELIER 0.02 /* nats a thing sent */

#define MIN_CALLS      200
#define MAX_IMPOSSIBLE 0.005 /* of the calls: that were over before they would have begun */
#define TOGETHER_NS    50000 /* calls so close together may be taken up in the other order */
#define MOST_WORKERS   512   /* that do all of a call each */
#define EACH           32    /* numbers up to that are all looked at ... */
#define PART_FURTHER   8     /* ... and behind it each that is by that part of the last more */
#define PART_NEAR      32    /* by that part it tells from others */
#define FEW            750   /* things sent that tell which numbers of workers it may be */
#define N_BEST         3     /* numbers of which more is asked */
#define MIN_PEAK       0.1   /* nats a thing: likelier than with some more or less */
#define MIN_TIMES      10.0  /* nats in all, by times: likelier than with an eighth more or less */
#define MAX_PAIRS      1000000
#define MAX_KINDS      4096 /* of call and thing sent: 23 kB each */
#define ROUNDS         40
#define FEW_ROUNDS     12

#define BINS_AN_OCTAVE 12
#define N_BINS         480 /* 40 octaves */
#define OF_ALL         4.0 /* calls: what the times of all classes count among those of one */
#define FLOOR          1e-3

typedef struct {
	const WpNestProblem *problem;
	gint64 *came_ns; /* by parent */
	gint64 *sent_ns; /* of their main types, ascending */
	gint64 *done_ns; /* when work at a message was over, ascending */
	guint32 n_sent;
	guint32 n_unknown; /* ... the first of them: of messages before the capture */
} Queue;

/* --- when messages are done --- */

guint32 *
wp_nest_find_mains(const WpNestProblem *problem)
{
	guint32 n_types = problem->n_types;
	guint32 *mains = g_new0(guint32, MAX(problem->n_classes, 1));
	g_autofree guint32 *n = g_new0(guint32, n_types);
	g_autofree guint32 *of_class = g_new0(guint32, MAX(problem->n_classes, 1));
	g_autofree guint32 *both = g_new0(guint32, MAX((gsize)problem->n_classes * n_types, 1));

	for (guint32 c = 0; c < problem->n_children; c++)
		n[problem->children[c].type]++;
	for (guint32 p = 0; p < problem->n_parents; p++) {
		const WpNestParent *parent = &problem->parents[p];
		of_class[parent->class]++;
		for (guint32 i = 0; i < parent->n; i++)
			both[(gsize)parent->class * n_types +
			     problem->children[parent->children[i]].type]++;
	}
	for (guint32 c = 0; c < problem->n_classes; c++) {
		double best = -G_MAXDOUBLE;
		for (guint32 t = 0; t < n_types; t++) {
			double own = both[(gsize)c * n_types + t] / MAX((double)n[t], 1);
			double off = ABS((double)n[t] - of_class[c]) / of_class[c];
			if (own - off > best) {
				best = own - off;
				mains[c] = t;
			}
		}
	}
	return mains;
}

/* By child: whether it is of the main type of a class. (transfer full) */
static gboolean *
find_main_children(const WpNestProblem *problem)
{
	g_autofree guint32 *mains = wp_nest_find_mains(problem);
	g_autofree gboolean *is_main = g_new0(gboolean, MAX(problem->n_types, 1));
	gboolean *is = g_new(gboolean, problem->n_children);

	for (guint32 k = 0; k < problem->n_classes; k++)
		is_main[mains[k]] = TRUE;
	for (guint32 c = 0; c < problem->n_children; c++)
		is[c] = is_main[problem->children[c].type];
	return is;
}

/* When the message that caused CHILD, one of the main type, was done: with the last that it caused, as the answer has it. */
static gint64
done_with(const WpNestProblem *problem, const gboolean *is_main, guint32 child)
{
	gint64 begin_ns = problem->children[child].begin_ns;
	guint32 number = problem->bundles[problem->children[child].bundle].parent;

	if (number == WP_NO_PARENT)
		return begin_ns;
	const WpNestParent *parent = &problem->parents[number];
	for (guint32 i = 0; i < parent->n; i++)
		if (parent->children[i] != child && is_main[parent->children[i]])
			return begin_ns;
	if (parent->n == 0) /* the search was stopped */
		return begin_ns;
	return MAX(begin_ns, problem->children[parent->children[parent->n - 1]].begin_ns);
}

static gint
compare_times(gconstpointer a, gconstpointer b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return (x > y) - (x < y);
}

static void
init_queue(const WpNestProblem *problem, Queue *out)
{
	const WpSpan *spans = wp_resolved_spans(problem->resolved)->spans;
	g_autofree gboolean *is_main = find_main_children(problem);

	*out = (Queue){ .problem = problem,
			.came_ns = g_new(gint64, problem->n_parents),
			.sent_ns = g_new(gint64, problem->n_children),
			.done_ns = g_new(gint64, problem->n_children) };
	for (guint32 p = 0; p < problem->n_parents; p++)
		out->came_ns[p] = wp_span_served_ns(&spans[problem->parents[p].span]);
	for (guint32 c = 0; c < problem->n_children; c++)
		if (is_main[c]) {
			out->sent_ns[out->n_sent] = problem->children[c].begin_ns;
			out->done_ns[out->n_sent++] = done_with(problem, is_main, c);
		}
	qsort(out->done_ns, out->n_sent, sizeof *out->done_ns, compare_times);
	out->n_unknown =
		wp_nest_count_unknown(out->sent_ns, out->n_sent, out->came_ns, problem->n_parents);
}

static void
clear_queue(Queue *queue)
{
	g_free(queue->came_ns);
	g_free(queue->sent_ns);
	g_free(queue->done_ns);
}

/* Whether about as many are done as come: without that nothing tells how many are in hand. */
static gboolean
is_whole(const Queue *queue)
{
	guint32 n = queue->problem->n_parents, n_known = queue->n_sent - queue->n_unknown;

	return MAX(n_known, n) - MIN(n_known, n) <= MAX_WITHOUT * n + BACK;
}

/* --- when they are taken up --- */

/*
 * When work at each message begins, of so many WORKERS; IS_ALONE: as if it waited for what is done only, and not for the
 * message. Returns how many wait. It begins behind what was sent then, which is the sign and no effect.
 */
static guint32
find_begins(const Queue *queue, guint32 workers, gboolean is_alone, gint64 *out_ns)
{
	guint32 n_waiting = 0;

	for (guint32 p = 0; p < queue->problem->n_parents; p++) {
		guint32 before = p + queue->n_unknown;
		gint64 free_ns = G_MININT64;
		if (before >= workers)
			free_ns = queue->done_ns[MIN(before - workers, queue->n_sent - 1)] + 1;
		n_waiting += free_ns > queue->came_ns[p];
		out_ns[p] = is_alone && free_ns != G_MININT64 ? free_ns
							      : MAX(free_ns, queue->came_ns[p]);
	}
	return n_waiting;
}

/*
 * How likely what is sent is, nats a thing, if work at each parent of PROBLEM begins at BEGINS_NS: of MOST things in the
 * middle.
 */
static double
score_middle(const WpNestProblem *problem, const gint64 *begins_ns)
{
	guint32 n = problem->n_bundles, n_part = MIN(n, PART), first = (n - n_part) / 2;

	return wp_nest_rate_score_from(problem, begins_ns, BACK, first, first + n_part, FALSE,
				       ROUNDS) /
	       n_part;
}

static double
score_begins(const Queue *queue, guint32 workers, gboolean is_alone)
{
	g_autofree gint64 *begins_ns = g_new(gint64, queue->problem->n_parents);

	(void)find_begins(queue, workers, is_alone, begins_ns);
	if (is_alone) /* those from before the first that is done may be later than it */
		qsort(begins_ns, queue->problem->n_parents, sizeof *begins_ns, compare_times);
	return score_middle(queue->problem, begins_ns);
}

/* The number of workers by which it is likeliest; 0: so few wait that none tells. */
static guint32
find_likeliest(const Queue *queue, gint64 *begins_ns, double *out_score)
{
	guint32 best = 0;

	for (guint32 workers = 1; workers <= MAX_WORKERS; workers++) {
		guint32 n_waiting = find_begins(queue, workers, FALSE, begins_ns);
		if (n_waiting < MIN_WAITING * queue->problem->n_parents)
			break;
		double score = score_begins(queue, workers, FALSE);
		if (best > 0 && score < *out_score - MIN_LIKELIER)
			break;
		if (best == 0 || score > *out_score) {
			*out_score = score;
			best = workers;
		}
	}
	return best;
}

guint32
wp_nest_find_workers(const WpNestProblem *problem, gint64 *out_begins_ns, double *out_score)
{
	guint32 best = 0;
	Queue queue;

	if (!wp_nest_is_of_messages(problem))
		return 0;
	init_queue(problem, &queue);
	if (queue.n_sent > 0 && is_whole(&queue))
		best = find_likeliest(&queue, out_begins_ns, out_score);
	/* What is sent may tell by itself when the next is sent: a clock, whatever comes. */
	double limit = best > 0 ? *out_score - MIN_LIKELIER : 0;
	if (best > 0 && (score_begins(&queue, ANY_NUMBER, FALSE) > limit ||
			 score_begins(&queue, best, TRUE) > limit))
		best = 0;
	if (best > 0)
		(void)find_begins(&queue, best, FALSE, out_begins_ns);
	clear_queue(&queue);
	return best;
}

/* --- calls --- */

typedef struct {
	const WpNestProblem *problem;
	gint64 *came_ns; /* by parent, ascending */
	gint64 *done_ns; /* when one returned, ascending */
	guint32 most_at_work;
} Calls;

/* FALSE: some do not return, so that nothing tells how many are in hand. */
static gboolean
init_calls(const WpNestProblem *problem, Calls *out)
{
	guint32 n = problem->n_parents;

	for (guint32 p = 0; p < n; p++)
		if (problem->parents[p].is_message || problem->parents[p].waits)
			return FALSE;
	*out = (Calls){ .problem = problem,
			.came_ns = g_new(gint64, MAX(n, 1)),
			.done_ns = g_new(gint64, MAX(n, 1)) };
	for (guint32 p = 0; p < n; p++) {
		out->came_ns[p] = problem->parents[p].begin_ns;
		out->done_ns[p] = problem->parents[p].end_ns;
	}
	qsort(out->done_ns, n, sizeof *out->done_ns, compare_times);
	return TRUE;
}

static void
clear_calls(Calls *calls)
{
	g_free(calls->came_ns);
	g_free(calls->done_ns);
}

/* Shares of calls. */
typedef struct {
	double waiting;
	double impossible; /* over before they begin */
} Served;

/*
 * When work at each begins, where so many WORKERS do all of a call each. One that overtakes what came together with it is
 * taken up in its place.
 */
static Served
serve(const Calls *calls, guint32 workers, gint64 *out_ns)
{
	guint32 n = calls->problem->n_parents, n_waiting = 0, n_impossible = 0;

	for (guint32 p = 0; p < n; p++) {
		gint64 end_ns = calls->problem->parents[p].end_ns;
		gint64 free_ns = p >= workers ? calls->done_ns[p - workers] + 1 : G_MININT64;
		n_waiting += free_ns > calls->came_ns[p];
		if (free_ns > end_ns && p > 0 &&
		    calls->came_ns[p] - calls->came_ns[p - 1] <= TOGETHER_NS)
			free_ns = out_ns[p - 1];
		n_impossible += free_ns > end_ns;
		out_ns[p] = MIN(MAX(free_ns, calls->came_ns[p]), end_ns);
	}
	for (guint32 p = n; p-- > 1;)
		out_ns[p - 1] = MIN(out_ns[p - 1], out_ns[p]);
	return (Served){ (double)n_waiting / MAX(n, 1), (double)n_impossible / MAX(n, 1) };
}

typedef struct {
	guint32 workers;
	double score;
} Number;

/* The likelier first; of equal ones the lesser number. */
static gint
compare_numbers(gconstpointer a, gconstpointer b)
{
	const Number *x = a, *y = b;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->workers > y->workers) - (x->workers < y->workers);
}

static guint32
next_number(guint32 workers)
{
	return workers + (workers < EACH ? 1 : workers / PART_FURTHER);
}

/* How long calls of a class are served. */
typedef struct {
	double n[N_BINS];
	double sum;
} Times;

static gint
bin_of(const WpNestProblem *problem, gint64 time_ns)
{
	return (gint)MIN(wp_nest_octaves(problem, time_ns) * BINS_AN_OCTAVE, N_BINS - 1);
}

/* How many of TIMES are in BIN, but for one that is. */
static double
others_in(const Times *times, gint bin)
{
	double sum = -1;

	for (gint d = -1; d <= 1; d++)
		sum += times->n[CLAMP(bin + d, 0, N_BINS - 1)];
	return sum / 3;
}

/*
 * How likely the times are for which calls are served, if that begins at BEGINS_NS, nats in all: of each as the others tell.
 * Any other begin is by something off that has to do with other calls, not with this, and so spreads them.
 */
static double
score_times(const Calls *calls, const gint64 *begins_ns)
{
	const WpNestProblem *problem = calls->problem;
	guint32 n = problem->n_parents;
	g_autofree Times *of_class = g_new0(Times, MAX(problem->n_classes, 1));
	g_autofree Times *of_all = g_new0(Times, 1);
	double score = 0;

	for (guint32 p = 0; p < n; p++) {
		gint bin = bin_of(problem, problem->parents[p].end_ns - begins_ns[p]);
		Times *own = &of_class[problem->parents[p].class];
		own->n[bin]++;
		own->sum++;
		of_all->n[bin]++;
	}
	for (guint32 p = 0; p < n; p++) {
		gint bin = bin_of(problem, problem->parents[p].end_ns - begins_ns[p]);
		const Times *own = &of_class[problem->parents[p].class];
		double all = (1 - FLOOR) * others_in(of_all, bin) / MAX(n - 1, 1) + FLOOR / N_BINS;
		double share = (others_in(own, bin) + OF_ALL * all) / (own->sum - 1 + OF_ALL);
		/* Over the time that the bin has, in grains. */
		score += wp_quick_log(&problem->quick, MAX(share, FLOOR / N_BINS)) -
			 bin * G_LN2 / BINS_AN_OCTAVE;
	}
	return score;
}

/*
 * How likely all is, nats a thing sent, if the work at each call begins at BEGINS_NS and so many WORKERS are at work at a time: that
 * of MOST things in the middle, which those at work, and as many before, may have caused; and when all calls end.
 */
static double
score_calls(const Calls *calls, const gint64 *begins_ns, guint32 workers, guint32 most,
	    guint rounds)
{
	guint32 n = calls->problem->n_bundles;
	guint32 n_part = MIN(MIN(n, most), MAX_PAIRS / MAX(2 * calls->most_at_work, BACK));
	guint32 first = (n - n_part) / 2;

	return wp_nest_rate_score_from(calls->problem, begins_ns, MAX(2 * workers, BACK), first,
				       first + n_part, TRUE, rounds) /
		       n_part +
	       score_times(calls, begins_ns) / n;
}

/* The most workers for whom some wait. */
static guint32
count_at_work(const Calls *calls, gint64 *begins_ns)
{
	guint32 most = 0;

	for (guint32 n = 1; n <= MOST_WORKERS; n = next_number(n)) {
		if (serve(calls, n, begins_ns).waiting < MIN_WAITING)
			break;
		most = n;
	}
	return most;
}

/* Adds WORKERS to NUMBERS, if so many are possible. Returns how likely they are. */
static double
add_number(const Calls *calls, guint32 workers, gint64 *begins_ns, GArray *numbers)
{
	Served served = serve(calls, workers, begins_ns);

	if (workers > MOST_WORKERS || served.waiting < MIN_WAITING ||
	    served.impossible > MAX_IMPOSSIBLE)
		return -G_MAXDOUBLE;
	Number number = { workers, score_calls(calls, begins_ns, workers, FEW, FEW_ROUNDS) };
	g_array_append_val(numbers, number);
	return number.score;
}

/* Goes from BEST, and by less and less, to what is likelier. */
static void
add_nearer(const Calls *calls, Number best, gint64 *begins_ns, GArray *numbers)
{
	guint32 step = next_number(best.workers) - best.workers;

	while (step > 0 && !wp_nest_is_stopped(calls->problem)) {
		Number less = { best.workers - step, 0 }, more = { best.workers + step, 0 };
		less.score = add_number(calls, less.workers, begins_ns, numbers);
		more.score = add_number(calls, more.workers, begins_ns, numbers);
		const Number *other = less.score > more.score ? &less : &more;
		if (other->score > best.score)
			best = *other;
		else
			step /= 2;
	}
}

/*
 * (transfer full) The Number of workers that are possible, the likeliest first. One less than there are is hardly likelier than
 * any other, so that from there no way leads to the right one; from above there is one, the longer, the more there are.
 */
static GArray *
list_numbers(const Calls *calls, gint64 *begins_ns)
{
	GArray *numbers = g_array_new(FALSE, FALSE, sizeof(Number));

	for (guint32 w = 1; w <= calls->most_at_work; w = next_number(w))
		(void)add_number(calls, w, begins_ns, numbers);
	g_array_sort(numbers, compare_numbers);
	if (numbers->len > 0 && g_array_index(numbers, Number, 0).workers > EACH) {
		add_nearer(calls, g_array_index(numbers, Number, 0), begins_ns, numbers);
		g_array_sort(numbers, compare_numbers);
	}
	return numbers;
}

static double
score_number(const Calls *calls, guint32 workers, gint64 *begins_ns)
{
	(void)serve(calls, workers, begins_ns);
	return score_calls(calls, begins_ns, workers, PART, ROUNDS);
}

/* Whether so many are likelier, by SCORE, than some more and some less: else any number would do. */
static gboolean
is_peak(const Calls *calls, guint32 workers, double score, gint64 *begins_ns)
{
	double limit = score - MIN_PEAK;
	guint32 some = MAX(workers / PART_NEAR, 1);

	return score_number(calls, workers + some, begins_ns) < limit &&
	       (workers == some || score_number(calls, workers - some, begins_ns) < limit);
}

/* The number by which all is likeliest, and likelier than by LIMIT; 0: others are about as likely. */
static guint32
find_by_all(const Calls *calls, double limit, gint64 *begins_ns)
{
	g_autoptr(GArray) numbers = list_numbers(calls, begins_ns);
	guint32 best = 0;

	for (guint i = 0; i < MIN(numbers->len, N_BEST); i++) {
		guint32 workers = g_array_index(numbers, Number, i).workers;
		double score = score_number(calls, workers, begins_ns);
		if (score > limit) {
			limit = score;
			best = workers;
		}
	}
	return best > 0 && is_peak(calls, best, limit, begins_ns) ? best : 0;
}

/*
 * The number by which the times of service are likeliest; 0: some more or less are about as likely, or the least that is possible
 * is likelier than all. That takes no look at what is sent, of which too few workers explain too much: by them the calls are
 * short, and few could have sent it. But where calls are slow together, times say little.
 */
static guint32
find_by_times(const Calls *calls, gint64 *begins_ns)
{
	guint32 most = calls->most_at_work, n_all = most + MAX(most / PART_FURTHER, 1), best = 0;
	g_autofree double *scores = g_new(double, (gsize)n_all + 1);

	for (guint32 n = 1; n <= n_all; n++) {
		gboolean is_possible = serve(calls, n, begins_ns).impossible <= MAX_IMPOSSIBLE;
		scores[n] = is_possible ? score_times(calls, begins_ns) : G_MAXDOUBLE;
		if (is_possible && n <= most && (best == 0 || scores[n] > scores[best]))
			best = n;
	}
	guint32 some = MAX(best / PART_FURTHER, 1);
	double limit = best > 0 ? scores[best] - MIN_TIMES : 0;
	/* Of fewer than are possible nothing is known but that; one is the least of all. */
	gboolean is_peak = best > 0 && scores[best + some] < limit &&
			   (best == 1 || scores[best - some] < limit);
	return is_peak ? best : 0;
}

guint32
wp_nest_find_call_workers(const WpNestProblem *problem, gint64 *out_begins_ns)
{
	guint32 best;
	Calls calls;

	if (problem->n_parents < MIN_CALLS || problem->n_bundles < MIN_CALLS ||
	    (gsize)problem->n_types * problem->n_classes > MAX_KINDS ||
	    !init_calls(problem, &calls))
		return 0;
	calls.most_at_work = count_at_work(&calls, out_begins_ns);
	/* By fewer workers more calls would be impossible. */
	if (calls.most_at_work == 0 ||
	    serve(&calls, calls.most_at_work, out_begins_ns).impossible > MAX_IMPOSSIBLE) {
		clear_calls(&calls);
		return 0;
	}
	double limit =
		score_calls(&calls, calls.came_ns, calls.most_at_work, PART, ROUNDS) + MIN_LIKELIER;
	best = find_by_times(&calls, out_begins_ns);
	if (best > 0 && score_number(&calls, best, out_begins_ns) < limit)
		best = 0;
	if (best == 0)
		best = find_by_all(&calls, limit, out_begins_ns);
	if (best > 0)
		(void)serve(&calls, best, out_begins_ns);
	clear_calls(&calls);
	return best;
}

guint32
wp_nest_possible_workers(const WpNestProblem *problem, guint32 *out_most)
{
	guint32 least = 0;
	Calls calls;

	if (problem->n_parents < MIN_CALLS || !init_calls(problem, &calls))
		return 0;
	g_autofree gint64 *begins_ns = g_new(gint64, problem->n_parents);
	for (guint32 workers = 1; workers <= MAX_WORKERS; workers++) {
		Served served = serve(&calls, workers, begins_ns);
		if (served.waiting < MIN_WAITING)
			break;
		if (served.impossible > MAX_IMPOSSIBLE)
			continue;
		least = least ? least : workers;
		*out_most = workers;
	}
	clear_calls(&calls);
	return least;
}

gboolean
wp_nest_find_call_begins(const WpNestProblem *problem, guint32 workers, gint64 *out_begins_ns)
{
	Calls calls;

	if (!init_calls(problem, &calls))
		return FALSE;
	(void)serve(&calls, workers, out_begins_ns);
	clear_calls(&calls);
	return TRUE;
}

double
wp_nest_share_impossible(const WpNestProblem *problem, guint32 workers)
{
	g_autofree gint64 *begins_ns = g_new(gint64, MAX(problem->n_parents, 1));
	Calls calls;

	if (!init_calls(problem, &calls))
		return 0;
	double share = serve(&calls, workers, begins_ns).impossible;
	clear_calls(&calls);
	return share;
}
