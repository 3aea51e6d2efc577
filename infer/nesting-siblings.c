/* How many siblings things have, by counts alone. See the header. */
#include "infer/nesting-siblings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/nesting-line.h"

#define ENOUGH      100 /* things sent */
#define MAX_COLUMNS 8   /* classes of messages: the others are one */
#define MAX_TYPES   256 /* of what is sent: each costs a look at all; with more nothing is known */
#define RIDGE       1e-6
#define LAG_FACTOR  1.15
#define LEAST_SD    0.05 /* that the variance may be off by chance, however small it is */
#define FEW         0.1  /* siblings: nearly none */
#define MAX_ERROR   0.25 /* else windows are too few, or too short, to tell */

/* How many windows there are: ever fewer and longer ones. */
#define MOST_WINDOWS 400
#define LAG_WINDOWS  200 /* by which is told when what is sent is sent */
static const guint32 ladder[] = { MOST_WINDOWS, 200, 100, 50, 25 };

typedef struct {
	const WpNestProblem *problem;
	guint32 *columns; /* by class */
	guint32 n_columns;
	double n_of[MAX_COLUMNS]; /* messages */
	gint64 begin_ns;          /* of all windows */
	gint64 end_ns;
	gint64 *times_ns; /* of what is sent, ascending */
	guint32 n;
} Counts;

/* Counts by window. */
typedef struct {
	guint32 n;
	double came[MOST_WINDOWS][MAX_COLUMNS];
	double sent[MOST_WINDOWS];
} Windows;

/* What messages cause each on average, and how far off the number is of what is sent: its variance a thing. */
typedef struct {
	double causes[MAX_COLUMNS];
	double variance;
} Fit;

/* --- counts --- */

typedef struct {
	guint32 class;
	guint32 n;
} ClassCount;

static gint
compare_counts(gconstpointer a, gconstpointer b)
{
	const ClassCount *x = a, *y = b;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

/* The most frequent classes have a column each. */
static void
set_columns(Counts *counts)
{
	const WpNestProblem *problem = counts->problem;
	g_autofree ClassCount *by_class = g_new0(ClassCount, MAX(problem->n_classes, 1));

	for (guint32 c = 0; c < problem->n_classes; c++)
		by_class[c].class = c;
	for (guint32 p = 0; p < problem->n_parents; p++)
		by_class[problem->parents[p].class].n++;
	qsort(by_class, problem->n_classes, sizeof by_class[0], compare_counts);
	counts->columns = g_new(guint32, MAX(problem->n_classes, 1));
	for (guint32 i = 0; i < problem->n_classes; i++) {
		counts->columns[by_class[i].class] = MIN(i, MAX_COLUMNS - 1);
		counts->n_of[MIN(i, MAX_COLUMNS - 1)] += by_class[i].n;
	}
	counts->n_columns = MIN(problem->n_classes, MAX_COLUMNS);
}

/* The window of TIME_NS; or how many there are. */
static guint32
window_of(const Counts *counts, const Windows *windows, gint64 time_ns)
{
	double share =
		(double)(time_ns - counts->begin_ns) / (double)(counts->end_ns - counts->begin_ns);
	return share < 0 || share >= 1 ? windows->n : (guint32)(share * windows->n);
}

/* Counts what is sent, LAG_NS later. */
static void
count_sent(const Counts *counts, gint64 lag_ns, Windows *windows)
{
	memset(windows->sent, 0, sizeof windows->sent);
	for (guint32 i = 0; i < counts->n; i++) {
		guint32 window = window_of(counts, windows, counts->times_ns[i] - lag_ns);
		if (window < windows->n)
			windows->sent[window]++;
	}
}

/* N windows of what comes. */
static void
count_came(const Counts *counts, guint32 n, Windows *out)
{
	const WpNestProblem *problem = counts->problem;

	out->n = n;
	memset(out->came, 0, sizeof out->came);
	for (guint32 p = 0; p < problem->n_parents; p++) {
		guint32 window = window_of(counts, out, problem->parents[p].begin_ns);
		if (window < n)
			out->came[window][counts->columns[problem->parents[p].class]]++;
	}
}

/* --- the least squares --- */

/* Solves MATRIX x = RIGHT, of N rows, which both are changed. */
static void
solve(double matrix[MAX_COLUMNS][MAX_COLUMNS], double *right, guint32 n, double *out)
{
	for (guint32 i = 0; i < n; i++)
		for (guint32 k = i + 1; k < n; k++) {
			double factor = matrix[k][i] / matrix[i][i];
			for (guint32 j = i; j < n; j++)
				matrix[k][j] -= factor * matrix[i][j];
			right[k] -= factor * right[i];
		}
	for (guint32 i = n; i-- > 0;) {
		double sum = right[i];
		for (guint32 j = i + 1; j < n; j++)
			sum -= matrix[i][j] * out[j];
		out[i] = sum / matrix[i][i];
	}
}

static void
fit_windows(const Counts *counts, const Windows *windows, Fit *out)
{
	double matrix[MAX_COLUMNS][MAX_COLUMNS] = { { 0 } }, right[MAX_COLUMNS] = { 0 };
	double off = 0, sent = 0;
	guint32 n = counts->n_columns;

	for (guint32 i = 0; i < n; i++)
		matrix[i][i] = RIDGE * windows->n;
	for (guint32 w = 0; w < windows->n; w++)
		for (guint32 i = 0; i < n; i++) {
			for (guint32 k = 0; k < n; k++)
				matrix[i][k] += windows->came[w][i] * windows->came[w][k];
			right[i] += windows->came[w][i] * windows->sent[w];
		}
	solve(matrix, right, n, out->causes);
	for (guint32 w = 0; w < windows->n; w++) {
		double more = windows->sent[w];
		for (guint32 i = 0; i < n; i++)
			more -= out->causes[i] * windows->came[w][i];
		off += more * more;
		sent += windows->sent[w];
	}
	out->variance = off / (windows->n - n) / (MAX(sent, 1) / windows->n);
}

/* How long after the messages most is sent: where the ends of windows cut least. */
static gint64
find_lag(const Counts *counts, Windows *windows)
{
	gint64 best_ns = 0, lag_ns = 0;
	double best = 0;

	count_came(counts, LAG_WINDOWS, windows);
	for (guint i = 0; lag_ns <= counts->problem->reach_ns; i++) {
		Fit fit;
		count_sent(counts, lag_ns, windows);
		fit_windows(counts, windows, &fit);
		if (i == 0 || fit.variance < best) {
			best = fit.variance;
			best_ns = lag_ns;
		}
		lag_ns = (gint64)(i == 0 ? counts->problem->grain_ns : (double)lag_ns * LAG_FACTOR);
	}
	return best_ns;
}

/*
 * How many others of its kind the cause of a thing has caused: variance over mean, and the mean, less one. Where none
 * causes two that is none.
 */
static double
others_of(const Counts *counts, const Fit *fit)
{
	double sum = 0, squares = 0;

	for (guint32 i = 0; i < counts->n_columns; i++) {
		double causes = MAX(fit->causes[i], 0);
		sum += counts->n_of[i] * causes;
		squares += counts->n_of[i] * causes * causes;
	}
	return fit->variance - 1 + (sum > 0 ? squares / sum : 0);
}

/*
 * The share of what windows cut goes with their number: of a line through all lengths, what it would be of the longest. As
 * many siblings as there may be; WP_NEST_NOT_KNOWN: nothing is sure.
 */
static double
count_siblings(const Counts *counts)
{
	g_autofree Windows *windows = g_new(Windows, 1);
	double weights[G_N_ELEMENTS(ladder)], others[G_N_ELEMENTS(ladder)];
	double sum = 0, mean_n = 0, mean = 0, slope = 0, spread = 0;

	if (counts->n < ENOUGH)
		return WP_NEST_NOT_KNOWN;
	gint64 lag_ns = find_lag(counts, windows);
	for (gsize i = 0; i < G_N_ELEMENTS(ladder); i++) {
		Fit fit;
		count_came(counts, ladder[i], windows);
		count_sent(counts, lag_ns, windows);
		fit_windows(counts, windows, &fit);
		others[i] = others_of(counts, &fit);
		double sd = fit.variance + LEAST_SD;
		weights[i] = ladder[i] / (2 * sd * sd);
		sum += weights[i];
		mean_n += weights[i] * ladder[i];
		mean += weights[i] * others[i];
	}
	mean_n /= sum;
	mean /= sum;
	for (gsize i = 0; i < G_N_ELEMENTS(ladder); i++) {
		slope += weights[i] * (ladder[i] - mean_n) * (others[i] - mean);
		spread += weights[i] * (ladder[i] - mean_n) * (ladder[i] - mean_n);
	}
	double error = sqrt(1 / sum + mean_n * mean_n / spread);
	double siblings = mean - slope / spread * mean_n;
	return error > MAX_ERROR ? WP_NEST_NOT_KNOWN : MAX(siblings + error, 0);
}

/* --- all that is sent --- */

/* Takes what is sent of TYPE (n_types: all of it). */
static void
take_type(Counts *counts, guint32 type)
{
	const WpNestProblem *problem = counts->problem;

	counts->n = 0;
	for (guint32 c = 0; c < problem->n_children; c++)
		if (type == problem->n_types || problem->children[c].type == type)
			counts->times_ns[counts->n++] = problem->children[c].begin_ns;
}

void
wp_nest_count_siblings(WpNestProblem *problem)
{
	if (!wp_nest_is_of_messages(problem) || problem->reach_ns <= 0 ||
	    problem->n_types > MAX_TYPES)
		return;
	Counts counts = { .problem = problem,
			  .begin_ns = problem->parents[0].begin_ns,
			  .end_ns = problem->parents[problem->n_parents - 1].begin_ns + 1,
			  .times_ns = g_new(gint64, problem->n_children) };
	set_columns(&counts);
	problem->siblings = g_new(double, problem->n_types + 1);
	for (guint32 t = 0; t <= problem->n_types; t++) {
		take_type(&counts, t);
		problem->siblings[t] = count_siblings(&counts);
	}
	/* Where some have siblings of other types the answer has to tell which. */
	if (problem->n_types == 1 || problem->siblings[problem->n_types] > FEW)
		problem->siblings[problem->n_types] = WP_NEST_NOT_KNOWN;
	g_free(counts.columns);
	g_free(counts.times_ns);
}
