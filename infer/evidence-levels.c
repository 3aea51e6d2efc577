/*
 * Levels: counts per edge (class of parents, kind of bundles), backed off to the kind of bundles; of each group of
 * bundles on its own.
 *
 * The first estimate knows no weights. Of a kind's n bundles each has one true pair among its candidates,
 * the others are accidents; what accidents look like is counted on parents that cannot be theirs:
 *
 *     n P(level | true)  =  pairs at that level  -  (pairs - n) P(level | accident)
 *
 * which holds at any load, where a start from equal weights would learn nothing.
 */
#include "infer/evidence-levels.h"

#include <string.h>

#define LEAST_DRAWS 4     /* accidents drawn a bundle */
#define MOST_DRAWS  64    /* ... where bundles are few: one pair in hundreds may be what tells */
#define ENOUGH      64000 /* accidents of a kind and group */
#define MOST_ASKED  4000  /* bundles of a kind and group, that accidents are drawn for */
#define KIND_SHRINK 4.0   /* pairs that speak for "worth nothing" */
#define EDGE_SHRINK 10.0  /* pairs that speak for an edge being like its kind */
#define MAX_NATS    12.0

typedef struct {
	double right[WP_LEVELS_MAX]; /* sums of weights */
	double wrong[WP_LEVELS_MAX];
	double n_right;
	double n_wrong;
} Counts;

struct WpLevels {
	const WpEvidenceHost *host;
	guint n_levels;
	guint n_groups;
	guint8 *groups;  /* by bundle */
	guint32 n_kinds; /* kinds and edges are those of the host, each once a group */
	guint32 n_edges;
	guint32 *
		numbers; /* by edge of the host, group: the number of that edge, where it has pairs */
	guint8 *levels; /* by pair */
	guint32 *kinds; /* by edge */
	Counts *all;    /* by edge: every pair, as if wrong */
	Counts *by_edge;
	Counts *by_kind;
	float (*nats)[WP_LEVELS_MAX]
		     [2]; /* by edge and level: of pairs that are wrong or right for sure */
	Counts *null;     /* by kind: wrong alone, drawn accidents */
	double *weights;  /* by pair, as learned from */
};

static void
add(Counts *counts, guint level, double right, double wrong)
{
	counts->right[level] += right;
	counts->wrong[level] += wrong;
	counts->n_right += right;
	counts->n_wrong += wrong;
}

static void
add_counts(Counts *counts, const Counts *more)
{
	for (guint l = 0; l < WP_LEVELS_MAX; l++) {
		counts->right[l] += more->right[l];
		counts->wrong[l] += more->wrong[l];
	}
	counts->n_right += more->n_right;
	counts->n_wrong += more->n_wrong;
}

/* A parent for each number, spread over all. */
static guint32
pick_parent(const WpNestProblem *problem, guint32 number)
{
	guint64 spread = (guint64)number * 2654435769u & G_MAXUINT32;
	return (guint32)(spread * problem->n_parents >> 32);
}

static guint32
kind_of(const WpLevels *levels, guint32 bundle)
{
	guint32 kind = levels->host->problem->bundles[bundle].kind;
	return kind * levels->n_groups + levels->groups[bundle];
}

static guint32
edge_of(const WpLevels *levels, guint32 pair)
{
	guint8 group = levels->groups[levels->host->bundles[pair]];
	return levels->numbers[(gsize)levels->host->edges[pair] * levels->n_groups + group];
}

static void
draw_accidents(WpLevels *levels, WpLevelFunc func, gconstpointer data)
{
	const WpNestProblem *problem = levels->host->problem;
	g_autofree guint32 *n_bundles = g_new0(guint32, levels->n_kinds);
	g_autofree guint32 *met = g_new0(guint32, levels->n_kinds);

	for (guint32 b = 0; b < problem->n_bundles; b++)
		n_bundles[kind_of(levels, b)]++;
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		guint32 kind = kind_of(levels, b);
		if (met[kind]++ >= MOST_ASKED)
			continue;
		guint32 n_draws = CLAMP(ENOUGH / n_bundles[kind], LEAST_DRAWS, MOST_DRAWS);
		for (guint32 i = 0; i < n_draws; i++) {
			guint32 p = pick_parent(problem, b * n_draws + i + 1);
			const WpNestParent *parent = &problem->parents[p];
			if (parent->begin_ns > bundle->begin_ns ||
			    parent->end_ns + wp_nest_after(problem, parent) < bundle->begin_ns)
				add(&levels->null[kind], func(data, b, p), 0, 1);
		}
	}
}

/* FALSE where all are at level 0. */
static gboolean
find_levels(WpLevels *levels, WpLevelFunc func, gconstpointer data)
{
	const WpEvidenceHost *host = levels->host;
	gboolean speaks = FALSE;

	for (guint32 i = 0; i < host->n_pairs; i++) {
		levels->levels[i] = (guint8)MIN(func(data, host->bundles[i], host->parents[i]),
						levels->n_levels - 1);
		speaks |= levels->levels[i] > 0;
	}
	return speaks;
}

static void
number_groups(WpLevels *levels, WpGroupFunc group_func, gconstpointer data)
{
	const WpNestProblem *problem = levels->host->problem;

	levels->groups = g_new0(guint8, MAX(problem->n_bundles, 1));
	levels->n_groups = 1;
	for (guint32 b = 0; b < problem->n_bundles && group_func; b++) {
		levels->groups[b] = (guint8)group_func(data, b);
		levels->n_groups = MAX(levels->n_groups, levels->groups[b] + 1u);
	}
	levels->n_kinds = MAX(problem->n_kinds, 1) * levels->n_groups;
}

/* Most edges have calls of one group or two. */
static void
number_edges(WpLevels *levels)
{
	const WpEvidenceHost *host = levels->host;
	gsize n_most = (gsize)host->n_edges * levels->n_groups;

	levels->numbers = g_new(guint32, n_most + 1);
	memset(levels->numbers, 0xff, n_most * sizeof levels->numbers[0]);
	for (guint32 i = 0; i < host->n_pairs; i++) {
		guint8 group = levels->groups[host->bundles[i]];
		guint32 *number =
			&levels->numbers[(gsize)host->edges[i] * levels->n_groups + group];
		if (*number == G_MAXUINT32)
			*number = levels->n_edges++;
	}
}

WpLevels *
wp_levels_new(const WpEvidenceHost *host, guint n_levels, WpGroupFunc group_func, WpLevelFunc func,
	      gconstpointer data)
{
	WpLevels *levels = g_new0(WpLevels, 1);

	g_assert(n_levels <= WP_LEVELS_MAX);
	levels->host = host;
	levels->n_levels = n_levels;
	levels->levels = g_new(guint8, MAX(host->n_pairs, 1));
	levels->weights = g_new0(double, MAX(host->n_pairs, 1));
	if (!find_levels(levels, func, data)) {
		wp_levels_free(levels);
		return NULL;
	}
	number_groups(levels, group_func, data);
	number_edges(levels);
	levels->kinds = g_new0(guint32, (gsize)levels->n_edges + 1);
	levels->all = g_new0(Counts, (gsize)levels->n_edges + 1);
	levels->nats = g_malloc0_n((gsize)levels->n_edges + 1, sizeof levels->nats[0]);
	for (guint32 i = 0; i < host->n_pairs; i++) {
		guint32 edge = edge_of(levels, i);
		levels->kinds[edge] = kind_of(levels, host->bundles[i]);
		add(&levels->all[edge], levels->levels[i], 0, 1);
	}
	levels->by_edge = g_new0(Counts, (gsize)levels->n_edges + 1);
	levels->by_kind = g_new0(Counts, levels->n_kinds);
	levels->null = g_new0(Counts, levels->n_kinds);
	draw_accidents(levels, func, data);
	return levels;
}

void
wp_levels_free(gpointer data)
{
	WpLevels *levels = data;
	if (!levels)
		return;
	g_free(levels->groups);
	g_free(levels->numbers);
	g_free(levels->levels);
	g_free(levels->kinds);
	g_free(levels->all);
	g_free(levels->nats);
	g_free(levels->by_edge);
	g_free(levels->by_kind);
	g_free(levels->null);
	g_free(levels->weights);
	g_free(levels);
}

/* What can be said of KIND before any pair is likelier than another. */
static void
guess_kind(const WpLevels *levels, Counts *counts, const Counts *null, double n_bundles)
{
	Counts all = *counts; /* every pair, as if wrong */

	memset(counts, 0, sizeof *counts);
	if (null->n_wrong < 1)
		return;
	for (guint l = 0; l < levels->n_levels; l++) {
		double share = null->wrong[l] / null->n_wrong;
		double by_chance = (all.n_wrong - n_bundles) * share;
		double right = CLAMP(all.wrong[l] - by_chance, 0, n_bundles);
		counts->right[l] = right;
		counts->n_right += right;
		counts->wrong[l] = null->wrong[l];
	}
	counts->n_wrong = null->n_wrong;
}

static void
guess(WpLevels *levels)
{
	const WpNestProblem *problem = levels->host->problem;
	g_autofree double *n_bundles = g_new0(double, levels->n_kinds);

	for (guint32 b = 0; b < problem->n_bundles; b++)
		n_bundles[kind_of(levels, b)] +=
			levels->host->first_pair[b + 1] > levels->host->first_pair[b];
	memset(levels->weights, 0, levels->host->n_pairs * sizeof levels->weights[0]);
	for (guint32 e = 0; e < levels->n_edges; e++)
		add_counts(&levels->by_kind[levels->kinds[e]], &levels->all[e]);
	for (guint32 k = 0; k < levels->n_kinds; k++)
		guess_kind(levels, &levels->by_kind[k], &levels->null[k], n_bundles[k]);
}

/* Shares of LEVEL among right and wrong pairs, without a pair that is right with WEIGHT. */
typedef struct {
	double right;
	double wrong;
} Shares;

static Shares
shares_of(const Counts *counts, guint level, double weight, double shrink, Shares prior)
{
	double own_wrong = counts->n_wrong >= 1 - weight ? 1 - weight : 0;
	double right = MAX(counts->right[level] - weight, 0) + shrink * prior.right;
	double wrong = MAX(counts->wrong[level] - own_wrong, 0) + shrink * prior.wrong;
	return (Shares){ right / (MAX(counts->n_right - weight, 0) + shrink),
			 wrong / (MAX(counts->n_wrong - own_wrong, 0) + shrink) };
}

static double
nats_of(const WpLevels *levels, guint32 number, guint level, double weight)
{
	const WpNestProblem *problem = levels->host->problem;
	const Counts *kind = &levels->by_kind[levels->kinds[number]];
	const Counts *edge = &levels->by_edge[number];
	double pooled = (kind->right[level] + kind->wrong[level] + 1.0 / levels->n_levels) /
			(kind->n_right + kind->n_wrong + 1);
	Shares shares = { pooled, pooled };

	shares = shares_of(kind, level, weight, KIND_SHRINK, shares);
	if (edge->n_right + edge->n_wrong > 0)
		shares = shares_of(edge, level, weight, EDGE_SHRINK, shares);
	double nats = wp_quick_log(&problem->quick, shares.right / shares.wrong);
	return CLAMP(nats, -MAX_NATS, MAX_NATS);
}

/* Where every pair is wrong or right for sure, most are worth the same. */
static void
fill_nats(WpLevels *levels)
{
	for (guint32 e = 0; e < levels->n_edges; e++)
		for (guint l = 0; l < levels->n_levels; l++)
			for (gint w = 0; w < 2; w++)
				levels->nats[e][l][w] = (float)nats_of(levels, e, l, w);
}

void
wp_levels_learn(gpointer data, const double *weights)
{
	WpLevels *levels = data;

	memset(levels->by_edge, 0, levels->n_edges * sizeof levels->by_edge[0]);
	memset(levels->by_kind, 0, levels->n_kinds * sizeof levels->by_kind[0]);
	if (!weights) {
		guess(levels);
		fill_nats(levels);
		return;
	}
	memcpy(levels->by_edge, levels->all, levels->n_edges * sizeof levels->all[0]);
	for (guint32 i = 0; i < levels->host->n_candidates; i++) {
		levels->weights[i] = weights[i];
		if (weights[i] > 0)
			add(&levels->by_edge[edge_of(levels, i)], levels->levels[i], weights[i],
			    -weights[i]);
	}
	for (guint32 e = 0; e < levels->n_edges; e++)
		add_counts(&levels->by_kind[levels->kinds[e]], &levels->by_edge[e]);
	fill_nats(levels);
}

double
wp_levels_score(gpointer data, guint32 pair)
{
	const WpLevels *levels = data;
	guint level = levels->levels[pair];
	double weight = levels->weights[pair];

	if (weight == 0 || weight == 1)
		return (double)levels->nats[edge_of(levels, pair)][level][weight > 0];
	return nats_of(levels, edge_of(levels, pair), level, weight);
}
