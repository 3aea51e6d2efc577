/* Rounds of soft assignment, over the bundles that are not settled. */
#include "infer/nesting-soft.h"

#include <math.h>
#include <string.h>

#include "infer/evidence-kind.h"
#include "infer/map.h"

#define BALANCE_ROUNDS 3
#define FLAT           1e-3 /* share of a flat density */
#define MAX_HALF       WP_SOFT_BINS_AN_OCTAVE

typedef struct {
	double begin[WP_SOFT_BINS];
	double end[WP_SOFT_BINS];
	double total;
} Gaps;

/* A bundle with several candidates, and what is asked of it again and again. */
typedef struct {
	guint32 bundle;
	guint32 first; /* candidate */
	guint32 n;
} Open;

struct WpNestSoft {
	WpNestProblem *problem;
	guint32 *classes; /* by parent: close together */
	const WpNestPair *pairs;
	double *weights;
	guint32 n_planes;
	Open *open;          /* bundles with several candidates, by kind */
	guint32 *first;      /* into OPEN by kind, n_kinds + 1 */
	Gaps *settled;       /* by plane: of the others */
	guint32 *n_settled;  /* by (kind, class): of the others */
	float *settled_load; /* by candidate of an open bundle: others of its kind at that parent */
	guint32 *from;       /* by kind: the part of OPEN that is spread */
	guint32 *to;
	double part;         /* ... of all */
	double *class_sizes; /* by class: parents */
	double *per_parent;  /* by class: 1 / that */
	double *load;        /* scratch, by parent */
	double *per_class;   /* scratch, by class */
	Gaps *gaps;          /* by plane: as learned; of those in USED */
	guint8 *is_used;     /* by plane: a bundle in that part may be in it */
	guint32 *used;       /* those, by number */
	guint32 n_used;
	gboolean knows;
};

typedef WpNestSoft Soft;

static inline gboolean
is_open(const WpNestBundle *bundle)
{
	return bundle->n_candidates > 1;
}

/* --- what does not change --- */

/* Open bundles by kind: a counting sort. */
static void
sort_by_kind(Soft *soft)
{
	const WpNestProblem *problem = soft->problem;

	soft->open = g_new(Open, MAX(problem->n_bundles, 1));
	soft->first = g_new0(guint32, problem->n_kinds + 1);
	for (guint32 b = 0; b < problem->n_bundles; b++)
		soft->first[problem->bundles[b].kind + 1] += is_open(&problem->bundles[b]);
	for (guint32 k = 0; k < problem->n_kinds; k++)
		soft->first[k + 1] += soft->first[k];
	g_autofree guint32 *next = g_memdup2(soft->first, (problem->n_kinds + 1) * sizeof(guint32));
	for (guint32 b = 0; b < problem->n_bundles; b++)
		if (is_open(&problem->bundles[b])) {
			const WpNestBundle *bundle = &problem->bundles[b];
			soft->open[next[bundle->kind]++] =
				(Open){ b, bundle->first_candidate, bundle->n_candidates };
		}
}

static void
add_pair(Gaps *gaps, const WpNestPair *pair, double weight)
{
	gaps[pair->plane].begin[pair->begin] += weight;
	gaps[pair->plane].end[pair->end] += weight;
	gaps[pair->plane].total += weight;
}

static void
count_settled(Soft *soft)
{
	const WpNestProblem *problem = soft->problem;

	soft->settled = g_new0(Gaps, MAX(soft->n_planes, 1));
	soft->n_settled = g_new0(guint32, MAX((gsize)problem->n_kinds * problem->n_classes, 1));
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		guint32 at = bundle->first_candidate;
		if (bundle->n_candidates != 1)
			continue;
		guint32 class = problem->parents[problem->candidates[at].parent].class;
		add_pair(soft->settled, &soft->pairs[at], 1);
		soft->n_settled[(gsize)bundle->kind * problem->n_classes + class]++;
		soft->weights[at] = 1;
	}
}

static void
load_parents(Soft *soft)
{
	const WpNestProblem *problem = soft->problem;
	g_autoptr(WpMap) loads = wp_map_new();

	soft->settled_load = g_new0(float, MAX(problem->n_candidates, 1));
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		if (bundle->n_candidates != 1)
			continue;
		guint32 parent = problem->candidates[bundle->first_candidate].parent;
		++*wp_map_at(loads, wp_map_key(bundle->kind, parent), 0);
	}
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates && is_open(bundle); i++) {
			guint32 at = bundle->first_candidate + i;
			guint64 key = wp_map_key(bundle->kind, problem->candidates[at].parent);
			guint32 n = wp_map_find(loads, key);
			soft->settled_load[at] = n == WP_MAP_NONE ? 0 : (float)n;
		}
	}
}

WpNestSoft *
wp_nest_soft_new(WpNestProblem *problem, const WpNestPair *pairs, guint32 n_planes, double *weights)
{
	WpNestSoft *soft = g_new0(WpNestSoft, 1);

	soft->problem = problem;
	soft->pairs = pairs;
	soft->n_planes = n_planes;
	soft->weights = weights;
	sort_by_kind(soft);
	count_settled(soft);
	load_parents(soft);
	soft->from = g_new0(guint32, MAX(problem->n_kinds, 1));
	soft->to = g_new0(guint32, MAX(problem->n_kinds, 1));
	soft->gaps = g_new(Gaps, MAX(n_planes, 1));
	soft->is_used = g_new0(guint8, MAX(n_planes, 1));
	soft->used = g_new(guint32, MAX(n_planes, 1));
	soft->load = g_new0(double, MAX(problem->n_parents, 1));
	soft->per_class = g_new0(double, MAX(problem->n_classes, 1));
	soft->class_sizes = g_new0(double, MAX(problem->n_classes, 1));
	soft->classes = g_new(guint32, MAX(problem->n_parents, 1));
	for (guint32 p = 0; p < problem->n_parents; p++) {
		soft->classes[p] = problem->parents[p].class;
		soft->class_sizes[soft->classes[p]]++;
	}
	soft->per_parent = g_new(double, MAX(problem->n_classes, 1));
	for (guint32 c = 0; c < problem->n_classes; c++)
		soft->per_parent[c] = 1 / soft->class_sizes[c];
	return soft;
}

void
wp_nest_soft_free(WpNestSoft *soft)
{
	if (!soft)
		return;
	g_free(soft->open);
	g_free(soft->classes);
	g_free(soft->first);
	g_free(soft->from);
	g_free(soft->to);
	g_free(soft->settled);
	g_free(soft->n_settled);
	g_free(soft->settled_load);
	g_free(soft->class_sizes);
	g_free(soft->per_parent);
	g_free(soft->load);
	g_free(soft->per_class);
	g_free(soft->gaps);
	g_free(soft->is_used);
	g_free(soft->used);
	g_free(soft);
}

/* --- learning --- */

/* The narrower the more there are: from an octave for one to an eighth for many. */
static gint
half_width(double total)
{
	gint root = 1; /* the cube root */
	while ((double)root * root * root < total && root < 64)
		root++;
	return MAX(1, MAX_HALF / root);
}

/* COUNTS, of TOTAL, to densities: two boxes one after the other, mirrored at 0. */
static void
smooth(double *counts, double total)
{
	enum {
		MARGIN = 2 * MAX_HALF,
		N = WP_SOFT_BINS + 2 * MARGIN
	};
	double padded[N], once[N], twice[WP_SOFT_BINS] = { 0 };
	gint half = half_width(total), width = 2 * half + 1;
	double scale = total > 0 ? (1 - FLAT) / (total * width * width) : 0;

	for (gint i = 0; i < N; i++) {
		gint from = i < MARGIN ? MARGIN - 1 - i : i - MARGIN;
		padded[i] = from < WP_SOFT_BINS ? counts[from] : 0;
		once[i] = 0;
	}
	/* The shift outside, of fixed ranges inside: several bins are added at a time. */
	for (gint j = -half; j <= half; j++)
		for (gint i = MAX_HALF; i < N - MAX_HALF; i++)
			once[i] += padded[i + j];
	for (gint j = -half; j <= half; j++)
		for (gint i = 0; i < WP_SOFT_BINS; i++)
			twice[i] += once[i + MARGIN + j];
	for (gint i = 0; i < WP_SOFT_BINS; i++)
		counts[i] = twice[i] * scale + FLAT / WP_SOFT_BINS;
}

static void
take_settled(const Gaps *settled, double part, Gaps *out)
{
	for (gint i = 0; i < WP_SOFT_BINS; i++) {
		out->begin[i] = part * settled->begin[i];
		out->end[i] = part * settled->end[i];
	}
	out->total = part * settled->total;
}

static void
learn_gaps(Soft *soft)
{
	const WpNestProblem *problem = soft->problem;

	for (guint32 i = 0; i < soft->n_used; i++)
		take_settled(&soft->settled[soft->used[i]], soft->part, &soft->gaps[soft->used[i]]);
	for (guint32 k = 0; k < problem->n_kinds; k++)
		for (guint32 i = soft->from[k]; i < soft->to[k]; i++) {
			const Open *open = &soft->open[i];
			for (guint32 c = 0; c < open->n; c++) {
				guint32 at = open->first + c;
				add_pair(soft->gaps, &soft->pairs[at], soft->weights[at]);
			}
		}
	for (guint32 i = 0; i < soft->n_used; i++) {
		Gaps *gaps = &soft->gaps[soft->used[i]];
		smooth(gaps->begin, gaps->total);
		smooth(gaps->end, gaps->total);
	}
}

/* Most planes may be of bundles that have one candidate: there is nothing to be learned for them. */
static void
list_used(Soft *soft)
{
	memset(soft->is_used, 0, soft->n_planes);
	soft->n_used = 0;
	for (guint32 k = 0; k < soft->problem->n_kinds; k++)
		for (guint32 i = soft->from[k]; i < soft->to[k]; i++) {
			const Open *open = &soft->open[i];
			for (guint32 c = 0; c < open->n; c++)
				soft->is_used[soft->pairs[open->first + c].plane] = 1;
		}
	for (guint32 p = 0; p < soft->n_planes; p++)
		if (soft->is_used[p])
			soft->used[soft->n_used++] = p;
}

/* Spreads bundles FIRST to END alone. */
static void
look_at(Soft *soft, guint32 first, guint32 end)
{
	guint32 n_kinds = soft->problem->n_kinds, n = 0;

	for (guint32 k = 0; k < n_kinds; k++) {
		guint32 from = soft->first[k], to = soft->first[k + 1];
		while (from < to && soft->open[from].bundle < first)
			from++;
		while (to > from && soft->open[to - 1].bundle >= end)
			to--;
		soft->from[k] = from;
		soft->to[k] = to;
		n += to - from;
	}
	soft->part = n ? (double)n / soft->first[n_kinds] : 1;
	if (!soft->knows)
		list_used(soft);
}

void
wp_nest_soft_know(WpNestSoft *soft)
{
	look_at(soft, 0, soft->problem->n_bundles);
	learn_gaps(soft);
	soft->knows = TRUE;
}

/* --- spreading --- */

void
wp_nest_soft_normalise(double *weights, guint32 n)
{
	double sum = 0;
	for (guint32 i = 0; i < n; i++)
		sum += weights[i];
	double scale = sum >= G_MINDOUBLE ? 1 / sum : 0;
	for (guint32 i = 0; i < n; i++)
		weights[i] = scale > 0 ? weights[i] * scale : 1.0 / n;
}

static void
weigh_bundle(Soft *soft, const Open *open)
{
	const WpNestProblem *problem = soft->problem;

	for (guint32 c = 0; c < open->n; c++) {
		guint32 at = open->first + c;
		const WpNestCandidate *candidate = &problem->candidates[at];
		const WpNestPair *pair = &soft->pairs[at];
		const Gaps *own = &soft->gaps[pair->plane];
		guint32 class = soft->classes[candidate->parent];
		soft->weights[at] = own->begin[pair->begin] * own->end[pair->end] * pair->slope *
				    own->total * soft->per_parent[class];
		if (problem->evidence)
			soft->weights[at] *= wp_quick_exp((double)candidate->odds);
	}
	wp_nest_soft_normalise(soft->weights + open->first, open->n);
}

static void
weigh_by_gaps(Soft *soft)
{
	for (guint32 k = 0; k < soft->problem->n_kinds; k++)
		for (guint32 i = soft->from[k]; i < soft->to[k]; i++)
			weigh_bundle(soft, &soft->open[i]);
}

/* How much all children of KIND want of each parent and class. */
static void
add_load(Soft *soft, guint32 kind)
{
	const WpNestProblem *problem = soft->problem;

	for (guint32 c = 0; c < problem->n_classes; c++)
		soft->per_class[c] =
			soft->part * soft->n_settled[(gsize)kind * problem->n_classes + c];
	for (guint32 i = soft->from[kind]; i < soft->to[kind]; i++) {
		const Open *open = &soft->open[i];
		for (guint32 c = 0; c < open->n; c++) {
			guint32 at = open->first + c;
			soft->load[problem->candidates[at].parent] = soft->settled_load[at];
		}
	}
	for (guint32 i = soft->from[kind]; i < soft->to[kind]; i++) {
		const Open *open = &soft->open[i];
		for (guint32 c = 0; c < open->n; c++) {
			guint32 at = open->first + c;
			guint32 parent = problem->candidates[at].parent;
			soft->load[parent] += soft->weights[at];
			soft->per_class[soft->classes[parent]] += soft->weights[at];
		}
	}
}

/* Scales the weights of OPEN at parents of which too much is wanted; FALSE: there are none. */
static gboolean
scale(Soft *soft, const Open *open)
{
	const WpNestProblem *problem = soft->problem;
	double *weights = soft->weights + open->first;
	const WpNestCandidate *candidates = problem->candidates + open->first;
	gboolean is_scaled = FALSE;

	for (guint32 c = 0; c < open->n; c++) {
		guint32 parent = candidates[c].parent;
		double most = soft->per_class[soft->classes[parent]];
		if (soft->load[parent] > most) {
			weights[c] *= most / soft->load[parent];
			is_scaled = TRUE;
		}
	}
	if (is_scaled)
		wp_nest_soft_normalise(weights, open->n);
	return is_scaled;
}

/* Scales what too many children of KIND want from one parent. FALSE: no parent. */
static gboolean
balance(Soft *soft, guint32 kind, double slack)
{
	const WpNestProblem *problem = soft->problem;
	gboolean is_scaled = FALSE;

	if (soft->from[kind] == soft->to[kind])
		return FALSE;
	add_load(soft, kind);
	/* From here on: how many a parent of the class may have. */
	for (guint32 c = 0; c < problem->n_classes; c++) {
		double mean = soft->per_class[c] / (soft->part * soft->class_sizes[c]);
		soft->per_class[c] = slack * (mean > 1 ? ceil(mean - 0.01) : 1);
	}
	for (guint32 i = soft->from[kind]; i < soft->to[kind]; i++)
		is_scaled |= scale(soft, &soft->open[i]);
	return is_scaled;
}

void
wp_nest_soft_assign(WpNestSoft *soft, guint rounds, double slack, guint32 first, guint32 end)
{
	WpNestProblem *problem = soft->problem;

	look_at(soft, first, end);
	for (guint round = 0; round < rounds && !wp_nest_is_stopped(problem); round++) {
		if (!soft->knows) {
			if (problem->evidence && round > 0)
				wp_evidence_weigh(problem->evidence, soft->weights);
			learn_gaps(soft);
		}
		weigh_by_gaps(soft);
		for (guint32 k = 0; k < problem->n_kinds; k++)
			for (gint i = 0; i < BALANCE_ROUNDS && balance(soft, k, slack); i++)
				;
	}
}
