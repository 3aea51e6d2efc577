/* Expectation maximisation over the gaps of all candidates. See the header. */
#include "infer/nesting-rate.h"

#include <math.h>

#define BINS_AN_OCTAVE 12
#define N_BINS         480 /* 40 octaves */
#define HALF           2   /* bins, of the box that smooths */
#define ROUNDS         12
#define ROUNDS_FROM    40   /* begun from all that came before, not from candidates */
#define FLOOR          1e-3 /* share of a flat density over octaves */
#define ALONE          0.02 /* of what is sent: caused by none, at any time */

/* Gaps of children of a type to parents of a class. */
typedef struct {
	double weight[N_BINS];
	double density[N_BINS]; /* a grain, times what a parent causes */
	double n_parents;
} Gaps;

/* A thing sent and a message that may have caused it. */
typedef struct {
	guint32 gaps; /* into Rate.gaps */
	guint32 bin;
} Pair;

typedef struct {
	const WpNestProblem *problem;
	Gaps *gaps; /* by (type, class) */
	GArray *pairs;
	guint32 *first; /* by bundle, [n_bundles + 1]: into pairs */
	double *alone;  /* by type: a grain */
} Rate;

static guint32
type_of(const WpNestProblem *problem, const WpNestBundle *bundle)
{
	return problem->children[problem->bundle_children[bundle->first]].type;
}

static void
init_rate(const WpNestProblem *problem, Rate *out)
{
	gsize n_classes = problem->n_classes;
	double grains = (double)(problem->children[problem->n_children - 1].begin_ns -
				 problem->children[0].begin_ns) *
			problem->per_grain;

	*out = (Rate){ .problem = problem,
		       .gaps = g_new0(Gaps, MAX(problem->n_types * n_classes, 1)),
		       .pairs = g_array_new(FALSE, FALSE, sizeof(Pair)),
		       .first = g_new0(guint32, (gsize)problem->n_bundles + 1),
		       .alone = g_new0(double, MAX(problem->n_types, 1)) };
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
	g_array_unref(rate->pairs);
	g_free(rate->first);
	g_free(rate->alone);
}

/* That PARENT, whose work began GAP_NS before, may have caused BUNDLE. */
static void
add_pair(Rate *rate, const WpNestBundle *bundle, guint32 parent, gint64 gap_ns)
{
	const WpNestProblem *problem = rate->problem;
	double octaves = wp_nest_octaves(problem, MAX(gap_ns, 0));
	Pair pair = { type_of(problem, bundle) * problem->n_classes +
			      problem->parents[parent].class,
		      (guint32)MIN(octaves * BINS_AN_OCTAVE, N_BINS - 1) };

	g_array_append_val(rate->pairs, pair);
}

/* At first a gap counts the less, the more there are of a bundle, whose pairs are the last. */
static void
end_bundle(Rate *rate, guint32 number)
{
	guint32 first = rate->first[number], n = rate->pairs->len - first;

	for (guint32 i = 0; i < n; i++) {
		const Pair *pair = &g_array_index(rate->pairs, Pair, first + i);
		rate->gaps[pair->gaps].weight[pair->bin] += 1.0 / n;
	}
	rate->first[number + 1] = rate->pairs->len;
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

/* What bundle NUMBER adds to the likelihood; its gaps are counted by what each explains of it. */
static double
spread(const Rate *rate, guint32 number)
{
	const WpNestProblem *problem = rate->problem;
	double sum = rate->alone[type_of(problem, &problem->bundles[number])];

	for (guint32 i = rate->first[number]; i < rate->first[number + 1]; i++) {
		const Pair *pair = &g_array_index(rate->pairs, Pair, i);
		sum += rate->gaps[pair->gaps].density[pair->bin];
	}
	for (guint32 i = rate->first[number]; i < rate->first[number + 1]; i++) {
		const Pair *pair = &g_array_index(rate->pairs, Pair, i);
		Gaps *gaps = &rate->gaps[pair->gaps];
		gaps->weight[pair->bin] += gaps->density[pair->bin] / sum;
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
			learn(&rate->gaps[g]);
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

	init_rate(problem, &rate);
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
			guint32 first, guint32 end)
{
	gsize n_gaps = (gsize)problem->n_types * problem->n_classes;
	guint32 begun = 0;
	Rate rate;

	init_rate(problem, &rate);
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
	double score = maximise(&rate, ROUNDS_FROM, first, end);
	clear_rate(&rate);
	return score;
}
