/* Expectation maximisation over the gaps of all candidates. See the header. */
#include "infer/nesting-rate.h"

#include <math.h>
#include <string.h>

#define BINS_AN_OCTAVE 12
#define N_BINS         480 /* 40 octaves */
#define HALF           2   /* bins, of the box that smooths */
#define ROUNDS         12
#define FLOOR          1e-3 /* share of a flat density over octaves */
#define ALONE          0.02 /* of what is sent: caused by none, at any time */

/* Gaps of children of a type to parents of a class. */
typedef struct {
	double weight[N_BINS];
	double density[N_BINS]; /* a grain, times what a parent causes */
	double n_parents;
} Gaps;

/* Likewise from the end of a child to that of a parent that ends behind it, and of one that ends before. */
typedef struct {
	double weight[2][N_BINS];
	double density[2][N_BINS]; /* a grain */
} Ends;

/* A thing sent and a message that may have caused it. */
typedef struct {
	guint32 gaps; /* into Rate.gaps, and Rate.ends */
	guint16 bin;
	guint16 end_bin;
	gboolean is_after; /* the child ends behind the parent */
} Pair;

typedef struct {
	const WpNestProblem *problem;
	Gaps *gaps; /* by (type, class) */
	Ends *ends; /* likewise; NULL: ends are not looked at */
	GArray *pairs;
	guint32 *first;   /* by bundle, [n_bundles + 1]: into pairs */
	double *alone;    /* by type: a grain */
	double alone_end; /* a grain; 1: ends are not looked at */
} Rate;

static guint32
type_of(const WpNestProblem *problem, const WpNestBundle *bundle)
{
	return problem->children[problem->bundle_children[bundle->first]].type;
}

/* How likely any time is to be that of the end of what is caused by none: within what a parent takes. */
static double
density_of_length(const WpNestProblem *problem)
{
	double sum_ns = 0;

	for (guint32 p = 0; p < problem->n_parents; p++)
		sum_ns += (double)(problem->parents[p].end_ns - problem->parents[p].begin_ns);
	return problem->n_parents / (sum_ns * problem->per_grain + problem->n_parents);
}

static void
init_rate(const WpNestProblem *problem, gboolean has_ends, Rate *out)
{
	gsize n_classes = problem->n_classes;
	double grains = (double)(problem->children[problem->n_children - 1].begin_ns -
				 problem->children[0].begin_ns) *
			problem->per_grain;

	*out = (Rate){ .problem = problem,
		       .gaps = g_new0(Gaps, MAX(problem->n_types * n_classes, 1)),
		       .pairs = g_array_new(FALSE, FALSE, sizeof(Pair)),
		       .first = g_new0(guint32, (gsize)problem->n_bundles + 1),
		       .alone = g_new0(double, MAX(problem->n_types, 1)),
		       .ends = has_ends ? g_new0(Ends, MAX(problem->n_types * n_classes, 1)) : NULL,
		       .alone_end = has_ends ? density_of_length(problem) : 1 };
	for (guint32 p = 0; p < problem->n_parents; p++)
		for (guint32 t = 0; t < problem->n_types; t++)
			out->gaps[t * n_classes + problem->parents[p].class].n_parents++;
	for (guint32 b = 0; b < problem->n_bundles; b++)
		out->alone[type_of(problem, &problem->bundles[b])] += ALONE / MAX(grains, 1);
}

static void
clear_rate(Rate *rate)
{
	g_free(rate->gaps);
	g_free(rate->ends);
	g_array_unref(rate->pairs);
	g_free(rate->first);
	g_free(rate->alone);
}

static guint16
bin_of(const WpNestProblem *problem, gint64 gap_ns)
{
	return (guint16)MIN(wp_nest_octaves(problem, gap_ns) * BINS_AN_OCTAVE, N_BINS - 1);
}

/* That PARENT, whose work began GAP_NS before, may have caused BUNDLE. */
static void
add_pair(Rate *rate, const WpNestBundle *bundle, guint32 parent, gint64 gap_ns)
{
	const WpNestProblem *problem = rate->problem;
	gint64 end_gap_ns = problem->parents[parent].end_ns - bundle->end_ns;
	Pair pair = { .gaps = type_of(problem, bundle) * problem->n_classes +
			      problem->parents[parent].class,
		      .bin = bin_of(problem, MAX(gap_ns, 0)) };

	if (rate->ends) {
		pair.end_bin = bin_of(problem, ABS(end_gap_ns));
		pair.is_after = end_gap_ns < 0;
	}
	g_array_append_val(rate->pairs, pair);
}

static void
add_weight(const Rate *rate, const Pair *pair, double weight)
{
	rate->gaps[pair->gaps].weight[pair->bin] += weight;
	if (rate->ends)
		rate->ends[pair->gaps].weight[pair->is_after][pair->end_bin] += weight;
}

/* At first a gap counts the less, the more there are of a bundle, whose pairs are the last. */
static void
end_bundle(Rate *rate, guint32 number)
{
	guint32 first = rate->first[number], n = rate->pairs->len - first;

	for (guint32 i = 0; i < n; i++) {
		const Pair *pair = &g_array_index(rate->pairs, Pair, first + i);
		add_weight(rate, pair, 1.0 / n);
	}
	rate->first[number + 1] = rate->pairs->len;
}

static double
sum_of(const double *weights)
{
	double sum = 0;

	for (gint i = 0; i < N_BINS; i++)
		sum += weights[i];
	return sum;
}

/*
 * WEIGHTS to densities, N of all: over the time that a bin has, in grains. A share of TOTAL is spread over all bins, so that no gap is
 * impossible. Then there are no weights.
 */
static void
spread_weights(double *weights, double total, double n, double *out)
{
	for (gint i = 0; i < N_BINS; i++) {
		double sum = 0, octaves = (i + 0.5) / BINS_AN_OCTAVE;
		for (gint d = -HALF; d <= HALF; d++)
			sum += weights[ABS(i + d) < N_BINS ? ABS(i + d) : N_BINS - 1];
		sum = (1 - FLOOR) * sum / (2 * HALF + 1) + FLOOR * total / N_BINS;
		out[i] = sum * BINS_AN_OCTAVE / G_LN2 * wp_quick_exp(-octaves * G_LN2) / n;
	}
	memset(weights, 0, N_BINS * sizeof *weights);
}

static void
learn(Gaps *gaps, Ends *ends)
{
	double total = sum_of(gaps->weight);

	spread_weights(gaps->weight, total, MAX(gaps->n_parents, 1), gaps->density);
	for (gint i = 0; ends && i < 2; i++)
		spread_weights(ends->weight[i], total / 2, MAX(total, G_MINDOUBLE),
			       ends->density[i]);
}

/* How likely it makes the thing sent. */
static double
weigh(const Rate *rate, const Pair *pair)
{
	double density = rate->gaps[pair->gaps].density[pair->bin];

	return rate->ends ? density * rate->ends[pair->gaps].density[pair->is_after][pair->end_bin]
			  : density;
}

/* What bundle NUMBER adds to the likelihood; its gaps are counted by what each explains of it. */
static double
spread(const Rate *rate, guint32 number)
{
	const WpNestProblem *problem = rate->problem;
	double sum = rate->alone[type_of(problem, &problem->bundles[number])] * rate->alone_end;

	for (guint32 i = rate->first[number]; i < rate->first[number + 1]; i++)
		sum += weigh(rate, &g_array_index(rate->pairs, Pair, i));
	for (guint32 i = rate->first[number]; i < rate->first[number + 1]; i++) {
		const Pair *pair = &g_array_index(rate->pairs, Pair, i);
		add_weight(rate, pair, weigh(rate, pair) / sum);
	}
	return wp_quick_log(&problem->quick, sum);
}

/* Of bundles FIRST to END. */
static double
maximise(const Rate *rate, guint rounds, guint32 first, guint32 end)
{
	const WpNestProblem *problem = rate->problem;
	gsize n_gaps = (gsize)problem->n_types * problem->n_classes;
	double score = 0;

	for (guint round = 0; round < rounds && !wp_nest_is_stopped(problem); round++) {
		for (gsize g = 0; g < n_gaps; g++)
			learn(&rate->gaps[g], rate->ends ? &rate->ends[g] : NULL);
		/* As many as are sent are expected. */
		score = -(double)(end - first);
		for (guint32 b = first; b < end; b++)
			score += spread(rate, b);
	}
	return score;
}

double
wp_nest_rate_score(const WpNestProblem *problem)
{
	Rate rate;

	init_rate(problem, FALSE, &rate);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 parent = problem->candidates[bundle->first_candidate + i].parent;
			/* Ghosts are there for whatever else explains nothing. */
			if (!problem->parents[parent].is_ghost)
				add_pair(&rate, bundle, parent,
					 bundle->begin_ns - problem->parents[parent].begin_ns);
		}
		end_bundle(&rate, b);
	}
	double score = maximise(&rate, ROUNDS, 0, problem->n_bundles);
	clear_rate(&rate);
	return score;
}

double
wp_nest_rate_score_from(const WpNestProblem *problem, const gint64 *begins_ns, guint32 back,
			guint32 first, guint32 end, gboolean has_ends, guint rounds)
{
	gsize n_gaps = (gsize)problem->n_types * problem->n_classes;
	guint32 begun = 0;
	Rate rate;

	init_rate(problem, has_ends, &rate);
	for (gsize g = 0; g < n_gaps; g++)
		rate.gaps[g].n_parents *= (double)(end - first) / problem->n_bundles;
	for (guint32 b = first; b < end; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		rate.first[b] = rate.pairs->len;
		while (begun < problem->n_parents && begins_ns[begun] < bundle->begin_ns)
			begun++;
		for (guint32 p = begun > back ? begun - back : 0; p < begun; p++)
			add_pair(&rate, bundle, p, bundle->begin_ns - begins_ns[p]);
		end_bundle(&rate, b);
	}
	double score = maximise(&rate, rounds, first, end);
	clear_rate(&rate);
	return score;
}
