/* Rounds of soft assignment, over the bundles that are not settled. */
#include "infer/nesting-soft.h"

#include <math.h>
#include <string.h>

#include "infer/evidence-kind.h"

#define BALANCE_ROUNDS 3
#define ENOUGH         16384 /* open bundles of a kind: delays are learned from as many */
#define FLAT           1e-3  /* share of a flat density */
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

/* A parent as candidate of open bundles of one kind. */
typedef struct {
	guint32 class;
	float settled; /* other bundles of that kind that it has */
	double load; /* how much all want of it; then what that is scaled by, 1 where it is not too much */
} Wanted;

struct WpNestSoft {
	WpNestProblem *problem;
	Wanted *wanted;     /* by kind, each by first use */
	guint32 *wanted_at; /* by candidate of an open bundle: into WANTED */
	const WpNestPair *pairs;
	double *weights;
	guint32 n_planes;
	Open *open;         /* bundles with several candidates, by kind */
	guint32 *first;     /* into OPEN by kind, n_kinds + 1 */
	Gaps *settled;      /* by plane: of the others */
	guint32 *n_settled; /* by (kind, class): of the others */
	guint32 *from;      /* by kind: the part of OPEN that is spread */
	guint32 *to;
	guint32 *from_wanted; /* by kind: the part of WANTED that this asks for */
	guint32 *to_wanted;
	double *parts;       /* by kind: what share of all OPEN that stands for */
	double *class_sizes; /* by class: parents */
	double *per_parent;  /* by class: 1 / that */
	double *per_class;   /* scratch, by class */
	Gaps *gaps;          /* by plane: as learned; of those in USED */
	guint32 *
		users; /* by plane: the kind of the bundles in that part that may be in it, + 1; 0: none */
	guint32 *used; /* planes that have one, by number */
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

/* The parents of bundles with one candidate, by kind. */
typedef struct {
	guint32 *parents;
	guint32 *first; /* into these by kind, n_kinds + 1 */
} Settled;

static void
clear_settled(Settled *settled)
{
	g_free(settled->parents);
	g_free(settled->first);
}

/* How many there are of each kind, at the next one's place, to where the first of them is. (transfer full) A copy of it. */
static guint32 *
sum_up(const WpNestProblem *problem, guint32 *first)
{
	for (guint32 k = 0; k < problem->n_kinds; k++)
		first[k + 1] += first[k];
	return g_memdup2(first, ((gsize)problem->n_kinds + 1) * sizeof(guint32));
}

static void
add_pair(Gaps *gaps, const WpNestPair *pair, double weight)
{
	gaps[pair->plane].begin[pair->begin] += weight;
	gaps[pair->plane].end[pair->end] += weight;
	gaps[pair->plane].total += weight;
}

/* The only parent of BUNDLE, of which nothing is to be found. */
static guint32
settle(Soft *soft, const WpNestBundle *bundle)
{
	const WpNestProblem *problem = soft->problem;
	guint32 at = bundle->first_candidate, parent = problem->candidates[at].parent;
	guint32 class = problem->parents[parent].class;

	add_pair(soft->settled, &soft->pairs[at], 1);
	soft->n_settled[(gsize)bundle->kind * problem->n_classes + class]++;
	soft->weights[at] = 1;
	return parent;
}

/* Bundles by kind, those that are open and the others: a counting sort. */
static void
sort_by_kind(Soft *soft, Settled *out)
{
	const WpNestProblem *problem = soft->problem;
	gsize n_kinds = problem->n_kinds;

	soft->open = g_new(Open, MAX(problem->n_bundles, 1));
	soft->first = g_new0(guint32, n_kinds + 1);
	soft->settled = g_new0(Gaps, MAX(soft->n_planes, 1));
	soft->n_settled = g_new0(guint32, MAX(n_kinds * problem->n_classes, 1));
	*out = (Settled){ g_new(guint32, MAX(problem->n_bundles, 1)),
			  g_new0(guint32, n_kinds + 1) };
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		soft->first[bundle->kind + 1] += is_open(bundle);
		out->first[bundle->kind + 1] += bundle->n_candidates == 1;
	}
	g_autofree guint32 *next = sum_up(problem, soft->first);
	g_autofree guint32 *next_settled = sum_up(problem, out->first);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		if (is_open(bundle))
			soft->open[next[bundle->kind]++] =
				(Open){ b, bundle->first_candidate, bundle->n_candidates };
		else if (bundle->n_candidates == 1)
			out->parents[next_settled[bundle->kind]++] = settle(soft, bundle);
	}
}

/* Numbers the parents that open bundles of KIND want, by first use; N_SETTLED: by parent, of others of KIND. */
static void
number_wanted(Soft *soft, guint32 kind, const guint32 *n_settled, guint32 *numbers, GArray *wanted)
{
	const WpNestProblem *problem = soft->problem;
	guint32 first = wanted->len;

	for (guint32 i = soft->first[kind]; i < soft->first[kind + 1]; i++) {
		const Open *open = &soft->open[i];
		for (guint32 c = 0; c < open->n; c++) {
			guint32 at = open->first + c, parent = problem->candidates[at].parent;
			/* Numbers below FIRST are of another kind. */
			if (numbers[parent] < first || numbers[parent] >= wanted->len) {
				Wanted own = { problem->parents[parent].class,
					       (float)n_settled[parent], 0 };
				numbers[parent] = wanted->len;
				g_array_append_val(wanted, own);
			}
			soft->wanted_at[at] = numbers[parent];
		}
	}
}

static void
list_wanted(Soft *soft, const Settled *settled)
{
	const WpNestProblem *problem = soft->problem;
	g_autofree guint32 *n_settled = g_new0(guint32, MAX(problem->n_parents, 1));
	g_autofree guint32 *numbers = g_new(guint32, MAX(problem->n_parents, 1));
	GArray *wanted = g_array_new(FALSE, FALSE, sizeof(Wanted));

	memset(numbers, 0xff, problem->n_parents * sizeof numbers[0]);
	soft->wanted_at = g_new(guint32, MAX(problem->n_candidates, 1));
	for (guint32 k = 0; k < problem->n_kinds; k++) {
		guint32 from = settled->first[k], to = settled->first[k + 1];
		for (guint32 i = from; i < to; i++)
			n_settled[settled->parents[i]]++;
		number_wanted(soft, k, n_settled, numbers, wanted);
		for (guint32 i = from; i < to; i++)
			n_settled[settled->parents[i]] = 0;
	}
	soft->wanted = (Wanted *)(void *)g_array_free(wanted, FALSE);
}

WpNestSoft *
wp_nest_soft_new(WpNestProblem *problem, const WpNestPair *pairs, guint32 n_planes, double *weights)
{
	WpNestSoft *soft = g_new0(WpNestSoft, 1);
	Settled settled;

	soft->problem = problem;
	soft->pairs = pairs;
	soft->n_planes = n_planes;
	soft->weights = weights;
	sort_by_kind(soft, &settled);
	list_wanted(soft, &settled);
	clear_settled(&settled);
	soft->from = g_new0(guint32, MAX(problem->n_kinds, 1));
	soft->to = g_new0(guint32, MAX(problem->n_kinds, 1));
	soft->from_wanted = g_new0(guint32, MAX(problem->n_kinds, 1));
	soft->to_wanted = g_new0(guint32, MAX(problem->n_kinds, 1));
	soft->gaps = g_new(Gaps, MAX(n_planes, 1));
	soft->parts = g_new(double, MAX(problem->n_kinds, 1));
	soft->users = g_new0(guint32, MAX(n_planes, 1));
	soft->used = g_new(guint32, MAX(n_planes, 1));
	soft->per_class = g_new0(double, MAX(problem->n_classes, 1));
	soft->class_sizes = g_new0(double, MAX(problem->n_classes, 1));
	for (guint32 p = 0; p < problem->n_parents; p++)
		soft->class_sizes[problem->parents[p].class]++;
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
	g_free(soft->wanted);
	g_free(soft->wanted_at);
	g_free(soft->first);
	g_free(soft->from);
	g_free(soft->to);
	g_free(soft->from_wanted);
	g_free(soft->to_wanted);
	g_free(soft->settled);
	g_free(soft->n_settled);
	g_free(soft->class_sizes);
	g_free(soft->per_parent);
	g_free(soft->per_class);
	g_free(soft->gaps);
	g_free(soft->parts);
	g_free(soft->users);
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

	for (guint32 i = 0; i < soft->n_used; i++) {
		guint32 plane = soft->used[i];
		take_settled(&soft->settled[plane], soft->parts[soft->users[plane] - 1],
			     &soft->gaps[plane]);
	}
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
	memset(soft->users, 0, soft->n_planes * sizeof soft->users[0]);
	soft->n_used = 0;
	for (guint32 k = 0; k < soft->problem->n_kinds; k++)
		for (guint32 i = soft->from[k]; i < soft->to[k]; i++) {
			const Open *open = &soft->open[i];
			for (guint32 c = 0; c < open->n; c++)
				soft->users[soft->pairs[open->first + c].plane] = k + 1;
		}
	for (guint32 p = 0; p < soft->n_planes; p++)
		if (soft->users[p])
			soft->used[soft->n_used++] = p;
}

/* Of KIND: numbers of the parents that its part of the open bundles wants lie between two. */
static void
bound_wanted(Soft *soft, guint32 kind)
{
	guint32 from = G_MAXUINT32, to = 0;

	for (guint32 i = soft->from[kind]; i < soft->to[kind]; i++) {
		const Open *open = &soft->open[i];
		for (guint32 c = 0; c < open->n; c++) {
			from = MIN(from, soft->wanted_at[open->first + c]);
			to = MAX(to, soft->wanted_at[open->first + c] + 1);
		}
	}
	soft->from_wanted[kind] = MIN(from, to);
	soft->to_wanted[kind] = to;
}

/* Of open bundles LOW to HIGH, all of one kind: the first that is BUNDLE or behind it. */
static guint32
find_open(const Soft *soft, guint32 low, guint32 high, guint32 bundle)
{
	while (low < high) {
		guint32 middle = low + (high - low) / 2;
		if (soft->open[middle].bundle < bundle)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Spreads bundles FIRST to END alone. */
static void
look_at(Soft *soft, guint32 first, guint32 end)
{
	guint32 n_kinds = soft->problem->n_kinds, n = 0;

	for (guint32 k = 0; k < n_kinds; k++) {
		soft->from[k] = find_open(soft, soft->first[k], soft->first[k + 1], first);
		soft->to[k] = find_open(soft, soft->from[k], soft->first[k + 1], end);
		bound_wanted(soft, k);
		n += soft->to[k] - soft->from[k];
	}
	for (guint32 k = 0; k < n_kinds; k++)
		soft->parts[k] = n ? (double)n / soft->first[n_kinds] : 1;
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
		const WpNestPair *pair = &soft->pairs[at];
		const Gaps *own = &soft->gaps[pair->plane];
		guint32 class = soft->wanted[soft->wanted_at[at]].class;
		soft->weights[at] = own->begin[pair->begin] * own->end[pair->end] * pair->slope *
				    own->total * soft->per_parent[class];
		if (problem->evidence)
			soft->weights[at] *= wp_quick_exp((double)problem->candidates[at].odds);
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
	Wanted *wanted = soft->wanted;
	guint32 class = 0;

	for (guint32 c = 0; c < problem->n_classes; c++)
		soft->per_class[c] =
			soft->parts[kind] * soft->n_settled[(gsize)kind * problem->n_classes + c];
	for (guint32 i = soft->from_wanted[kind]; i < soft->to_wanted[kind]; i++)
		wanted[i].load = (double)wanted[i].settled;
	double of_class = soft->per_class[class];
	for (guint32 i = soft->from[kind]; i < soft->to[kind]; i++) {
		const Open *open = &soft->open[i];
		for (guint32 c = 0; c < open->n; c++) {
			guint32 at = open->first + c;
			Wanted *own = &wanted[soft->wanted_at[at]];
			if (own->class != class) {
				soft->per_class[class] = of_class;
				class = own->class;
				of_class = soft->per_class[class];
			}
			own->load += soft->weights[at];
			of_class += soft->weights[at];
		}
	}
	soft->per_class[class] = of_class;
}

/* Loads of the parents that KIND wants, to what they are scaled by; FALSE: of none is too much wanted. */
static gboolean
set_scales(Soft *soft, guint32 kind)
{
	gboolean is_much = FALSE;

	for (guint32 i = soft->from_wanted[kind]; i < soft->to_wanted[kind]; i++) {
		Wanted *own = &soft->wanted[i];
		double most = soft->per_class[own->class];
		gboolean is_own = own->load > most;
		own->load = is_own ? most / own->load : 1;
		is_much |= is_own;
	}
	return is_much;
}

/* Scales the weights of OPEN at parents of which too much is wanted; FALSE: there are none. */
static gboolean
scale(Soft *soft, const Open *open)
{
	double *weights = soft->weights + open->first;
	const guint32 *wanted_at = soft->wanted_at + open->first;
	gboolean is_scaled = FALSE;

	for (guint32 c = 0; c < open->n; c++) {
		double factor = soft->wanted[wanted_at[c]].load;
		weights[c] *= factor;
		is_scaled |= factor < 1;
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
		double mean = soft->per_class[c] / (soft->parts[kind] * soft->class_sizes[c]);
		soft->per_class[c] = slack * (mean > 1 ? ceil(mean - 0.01) : 1);
	}
	if (!set_scales(soft, kind))
		return FALSE;
	for (guint32 i = soft->from[kind]; i < soft->to[kind]; i++)
		is_scaled |= scale(soft, &soft->open[i]);
	return is_scaled;
}

static void
spread(Soft *soft, double slack)
{
	weigh_by_gaps(soft);
	for (guint32 k = 0; k < soft->problem->n_kinds; k++)
		for (gint i = 0; i < BALANCE_ROUNDS && balance(soft, k, slack); i++)
			;
}

static gboolean
has_more_than_enough(const Soft *soft)
{
	for (guint32 k = 0; k < soft->problem->n_kinds; k++)
		if (soft->to[k] - soft->from[k] >= 2 * ENOUGH)
			return TRUE;
	return FALSE;
}

/* Of kinds that have more, those in the middle alone. */
static void
look_at_enough(Soft *soft)
{
	for (guint32 k = 0; k < soft->problem->n_kinds; k++) {
		guint32 n = soft->to[k] - soft->from[k];
		if (n < 2 * ENOUGH)
			continue;
		soft->from[k] += (n - ENOUGH) / 2;
		soft->to[k] = soft->from[k] + ENOUGH;
		soft->parts[k] *= (double)ENOUGH / n;
		bound_wanted(soft, k);
	}
	list_used(soft);
}

/*
 * Learns the delays of bundles FIRST to END, in ROUNDS, from enough of each kind: a long capture tells no more of them than a
 * part of it. What only the others tell is learned from their weights as they are.
 */
static void
learn_from_enough(Soft *soft, guint rounds, double slack, guint32 first, guint32 end)
{
	g_autofree double *parts = g_memdup2(soft->parts, soft->problem->n_kinds * sizeof(double));

	learn_gaps(soft);
	look_at_enough(soft);
	learn_gaps(soft);
	for (guint round = 1; round < rounds && !wp_nest_is_stopped(soft->problem); round++) {
		spread(soft, slack);
		learn_gaps(soft);
	}
	for (guint32 i = 0; i < soft->n_used; i++) {
		guint32 kind = soft->users[soft->used[i]] - 1;
		soft->gaps[soft->used[i]].total *= parts[kind] / soft->parts[kind];
	}
	look_at(soft, first, end);
}

void
wp_nest_soft_assign(WpNestSoft *soft, guint rounds, double slack, guint32 first, guint32 end)
{
	WpNestProblem *problem = soft->problem;

	look_at(soft, first, end);
	/* Evidence is weighed by all of its bundles. */
	if (rounds > 1 && !soft->knows && !problem->evidence && has_more_than_enough(soft)) {
		learn_from_enough(soft, rounds, slack, first, end);
		spread(soft, slack);
		return;
	}
	for (guint round = 0; round < rounds && !wp_nest_is_stopped(problem); round++) {
		if (!soft->knows) {
			if (problem->evidence && round > 0)
				wp_evidence_weigh(problem->evidence, soft->weights);
			learn_gaps(soft);
		}
		spread(soft, slack);
	}
}
