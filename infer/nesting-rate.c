/* Expectation maximisation over the gaps of all candidates. See the header. */
#include "infer/nesting-rate.h"

#include <math.h>

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

typedef struct {
	const WpNestProblem *problem;
	Gaps *gaps;    /* by (type, class) */
	guint16 *bins; /* by candidate */
	double *alone; /* by type: a grain */
} Rate;

/* Ghosts are there for whatever else explains nothing. */
static gboolean
counts(const Rate *rate, const WpNestCandidate *candidate)
{
	return !rate->problem->parents[candidate->parent].is_ghost;
}

static Gaps *
gaps_of(const Rate *rate, const WpNestBundle *bundle, const WpNestCandidate *candidate)
{
	const WpNestProblem *problem = rate->problem;
	guint32 type = problem->children[problem->bundle_children[bundle->first]].type;
	guint32 class = problem->parents[candidate->parent].class;
	return &rate->gaps[(gsize)type * problem->n_classes + class];
}

/* At first a gap counts the less, the more candidates a bundle has. */
static void
init_rate(const WpNestProblem *problem, Rate *out)
{
	gsize n_classes = problem->n_classes;
	double grains = (double)(problem->children[problem->n_children - 1].begin_ns -
				 problem->children[0].begin_ns) *
			problem->per_grain;

	*out = (Rate){ .problem = problem,
		       .gaps = g_new0(Gaps, MAX(problem->n_types * n_classes, 1)),
		       .bins = g_new(guint16, MAX(problem->n_candidates, 1)),
		       .alone = g_new0(double, MAX(problem->n_types, 1)) };
	for (guint32 p = 0; p < problem->n_parents; p++)
		for (guint32 t = 0; t < problem->n_types; t++)
			out->gaps[t * n_classes + problem->parents[p].class].n_parents++;
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		out->alone[problem->children[problem->bundle_children[bundle->first]].type] +=
			ALONE / MAX(grains, 1);
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			const WpNestCandidate *candidate = &problem->candidates[at];
			gint64 gap_ns =
				bundle->begin_ns - problem->parents[candidate->parent].begin_ns;
			double octaves = wp_nest_octaves(problem, MAX(gap_ns, 0));
			if (!counts(out, candidate))
				continue;
			out->bins[at] = (guint16)MIN(octaves * BINS_AN_OCTAVE, N_BINS - 1);
			gaps_of(out, bundle, candidate)->weight[out->bins[at]] +=
				1.0 / bundle->n_candidates;
		}
	}
}

/* Weights to densities; then there are no weights. */
static void
learn(Gaps *gaps)
{
	double total = 0;

	for (gint i = 0; i < N_BINS; i++)
		total += gaps->weight[i];
	for (gint i = 0; i < N_BINS; i++) {
		double sum = 0, octaves = (i + 0.5) / BINS_AN_OCTAVE;
		for (gint d = -HALF; d <= HALF; d++)
			sum += gaps->weight[ABS(i + d) < N_BINS ? ABS(i + d) : N_BINS - 1];
		sum = (1 - FLOOR) * sum / (2 * HALF + 1) + FLOOR * total / N_BINS;
		/* Over the time that the bin has, in grains. */
		gaps->density[i] = sum * BINS_AN_OCTAVE / G_LN2 * wp_quick_exp(-octaves * G_LN2) /
				   MAX(gaps->n_parents, 1);
	}
	for (gint i = 0; i < N_BINS; i++)
		gaps->weight[i] = 0;
}

/* What BUNDLE adds to the likelihood; its gaps are counted by what each explains of it. */
static double
spread(const Rate *rate, const WpNestBundle *bundle)
{
	const WpNestProblem *problem = rate->problem;
	double sum = rate->alone[problem->children[problem->bundle_children[bundle->first]].type];

	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 at = bundle->first_candidate + i;
		if (counts(rate, &problem->candidates[at]))
			sum += gaps_of(rate, bundle, &problem->candidates[at])
				       ->density[rate->bins[at]];
	}
	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 at = bundle->first_candidate + i;
		if (!counts(rate, &problem->candidates[at]))
			continue;
		Gaps *gaps = gaps_of(rate, bundle, &problem->candidates[at]);
		gaps->weight[rate->bins[at]] += gaps->density[rate->bins[at]] / sum;
	}
	return wp_quick_log(&problem->quick, sum);
}

double
wp_nest_rate_score(const WpNestProblem *problem)
{
	gsize n_gaps = (gsize)problem->n_types * problem->n_classes;
	double score = 0;
	Rate rate;

	init_rate(problem, &rate);
	for (gint round = 0; round < ROUNDS && !wp_nest_is_stopped(problem); round++) {
		for (gsize g = 0; g < n_gaps; g++)
			learn(&rate.gaps[g]);
		/* As many as are sent are expected. */
		score = -(double)problem->n_bundles;
		for (guint32 b = 0; b < problem->n_bundles; b++)
			score += spread(&rate, &problem->bundles[b]);
	}
	g_free(rate.gaps);
	g_free(rate.bins);
	g_free(rate.alone);
	return score;
}
