/*
 * The first answer. Delays that are real stand out against accident: for each pair of a class of
 * parents and a kind of children, the (begin gap, end gap) of all candidate pairs are counted, and
 * counted again with the children moved in time, where every pair is an accident. The excess over this
 * null tells at any load which calls a class makes, when, and whether after its reply.
 *
 *     real      .....#......          null     ............         excess    .....#......
 *               ..####......                   ..........:.                   ..####......
 *               ...:..:.....                   ...:..:.....                   ............
 *
 * From there, rounds of soft assignment: each child spreads over its candidates by the densities of
 * both gaps, balanced so that no parent gets more calls of a kind than one makes; the densities are
 * learned again. At last each child goes to its likeliest parent.
 */
#include <math.h>
#include <string.h>

#include "infer/nesting.h"

#define N_CELLS          64  /* of each gap, in the plane of two gaps */
#define N_BINS           224 /* of one gap */
#define BINS_AN_OCTAVE   6
#define BINS_A_CELL      2
#define ENOUGH_BUNDLES   2000 /* of a kind, to count its planes */
#define N_SHIFTS         6
#define MAX_FACTOR       2.6
#define MIN_SHIFT_NS     100e6
#define BALANCE_ROUNDS   3
#define FLAT             1e-3 /* share of a flat density */
#define MAX_PLANES       4096 /* 32 kB each: with more, classes are not told apart */
#define HOPELESS         1e-4 /* weight, of the best */
#define MIN_EXCESS       5    /* pairs */
#define MIN_EXCESS_SHARE 0.15 /* of a class's excess with this kind: a mode is used */

typedef float Plane[N_CELLS][N_CELLS];

typedef struct {
	double begin[N_BINS];
	double end[N_BINS];
	double total;
} Gaps;

/* What is asked of a candidate in every round. */
typedef struct {
	guint32 plane;
	guint8 begin; /* bins of the gaps */
	guint8 end;
	double slope; /* of the two bins: density over time against that over octaves */
} Pair;

struct WpNestStart {
	WpNestProblem *problem;
	gboolean by_class;
	guint32 *numbers; /* (class, kind, mode) -> plane + 1 */
	gsize n_numbers;
	guint32 *strides; /* by kind: every so many-th bundle is counted */
	GPtrArray *real;  /* Plane */
	GPtrArray *null;
	GPtrArray *counting; /* one of the two */
	GArray *excess;      /* double, by plane */
	double *weights;     /* by candidate */
	Pair *pairs;         /* by candidate */
};

typedef WpNestStart Start;

static guint
bin_of(const WpNestProblem *problem, gint64 gap_ns)
{
	double octaves = wp_nest_octaves(problem, ABS(gap_ns));
	return (guint)MIN(octaves * BINS_AN_OCTAVE, N_BINS - 1);
}

static guint
cell_of_bin(guint bin)
{
	return MIN(bin / BINS_A_CELL, N_CELLS - 1);
}

static gsize
plane_key(const Start *start, guint32 class, guint32 kind, WpNestMode mode)
{
	gsize of_class = start->by_class ? (gsize) class * start->problem->n_kinds : 0;
	return (of_class + kind) * WP_NEST_N_MODES + mode;
}

static guint32
plane_number(Start *start, guint32 bundle, guint32 parent, WpNestMode mode)
{
	const WpNestProblem *problem = start->problem;
	gsize key = plane_key(start, problem->parents[parent].class, problem->bundles[bundle].kind,
			      mode);
	if (!start->numbers[key]) {
		g_ptr_array_add(start->real, g_new0(Plane, 1));
		g_ptr_array_add(start->null, g_new0(Plane, 1));
		start->numbers[key] = start->real->len;
	}
	return start->numbers[key] - 1;
}

static void
count_pair(guint32 bundle, guint32 parent, gint64 begin_gap_ns, gint64 end_gap_ns, WpNestMode mode,
	   gpointer data)
{
	Start *start = data;
	const WpNestProblem *problem = start->problem;
	guint32 number = plane_number(start, bundle, parent, mode);
	Plane *plane = g_ptr_array_index(start->counting, number);
	guint i = cell_of_bin(bin_of(problem, begin_gap_ns));
	guint j = cell_of_bin(bin_of(problem, end_gap_ns));
	(*plane)[i][j]++;
}

/* (transfer full) Enough bundles of each kind, evenly spread. */
static guint8 *
pick_bundles(Start *start)
{
	const WpNestProblem *problem = start->problem;
	guint8 *picks = g_new0(guint8, MAX(problem->n_bundles, 1));
	g_autofree guint32 *met = g_new0(guint32, MAX(problem->n_kinds, 1));

	for (guint32 b = 0; b < problem->n_bundles; b++)
		start->strides[problem->bundles[b].kind]++;
	for (guint32 k = 0; k < problem->n_kinds; k++)
		start->strides[k] = MAX(start->strides[k] / ENOUGH_BUNDLES, 1);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		guint32 kind = problem->bundles[b].kind;
		picks[b] = met[kind]++ % start->strides[kind] == 0;
	}
	return picks;
}

/* One pass of a small kernel along rows (STEP 1) or columns. */
static void
smooth_lines(const float *from, float *to, gsize line, gsize step)
{
	static const float kernel[] = { .06f, .24f, .40f, .24f, .06f };
	for (gint i = 0; i < N_CELLS; i++)
		for (gint j = 0; j < N_CELLS; j++) {
			float sum = 0;
			for (gint d = -2; d <= 2; d++) {
				gsize at = (gsize)CLAMP(j + d, 0, N_CELLS - 1);
				sum += kernel[d + 2] * from[(gsize)i * line + at * step];
			}
			to[(gsize)i * line + (gsize)j * step] = sum;
		}
}

static void
smooth_plane(Plane *plane)
{
	Plane other;
	smooth_lines(&(*plane)[0][0], &other[0][0], N_CELLS, 1);
	smooth_lines(&other[0][0], &(*plane)[0][0], 1, N_CELLS);
}

/* How many pairs stand out; half a standard deviation of the null is left to accident. */
static double
excess_of(const Plane *real, const Plane *null)
{
	double sum = 0;
	for (gint i = 0; i < N_CELLS; i++)
		for (gint j = 0; j < N_CELLS; j++) {
			float by_chance = (*null)[i][j] + 0.5f * sqrtf((*null)[i][j] + 0.1f);
			sum += MAX((*real)[i][j] - by_chance, 0);
		}
	return sum;
}

/* How far the null is shifted: past what requests take, but not past the capture. */
static double
shift_of(const WpNestProblem *problem)
{
	gint64 first_ns = problem->children[0].begin_ns;
	gint64 last_ns = problem->children[problem->n_children - 1].begin_ns;
	double most_ns = (double)(last_ns - first_ns) / (2 * MAX_FACTOR);
	return MIN(MAX(2 * (double)problem->after_ns, MIN_SHIFT_NS), most_ns);
}

static void
count_planes(Start *start)
{
	static const double factors[N_SHIFTS] = { 1, -1, 1.7, -1.7, MAX_FACTOR, -MAX_FACTOR };
	double shift_ns = shift_of(start->problem);

	g_autofree guint8 *picks = pick_bundles(start);

	start->counting = start->real;
	wp_nest_foreach_pair(start->problem, 0, picks, count_pair, start);
	start->counting = start->null;
	for (gint i = 0; i < N_SHIFTS; i++)
		wp_nest_foreach_pair(start->problem, (gint64)(factors[i] * shift_ns), picks,
				     count_pair, start);
	for (guint p = 0; p < start->real->len; p++) {
		Plane *null = g_ptr_array_index(start->null, p);
		for (gint i = 0; i < N_CELLS * N_CELLS; i++)
			(&(*null)[0][0])[i] /= N_SHIFTS;
		smooth_plane(g_ptr_array_index(start->real, p));
		smooth_plane(null);
		double excess = excess_of(g_ptr_array_index(start->real, p), null);
		g_array_append_val(start->excess, excess);
	}
}

static double
get_excess(const Start *start, guint32 class, guint32 kind, WpNestMode mode)
{
	guint32 number = start->numbers[plane_key(start, class, kind, mode)];
	return number ? g_array_index(start->excess, double, number - 1) * start->strides[kind] : 0;
}

/*
 * By kind: whether children outside of their parent are to be thought of at all. Calls that follow
 * from one another stand out against the null too: where parents inside explain most children already,
 * and all modes together explain more than there are, the others are such echoes.
 */
static gboolean *
find_inside_kinds(const Start *start)
{
	const WpNestProblem *problem = start->problem;
	gboolean *inside = g_new0(gboolean, MAX(problem->n_kinds, 1));
	g_autofree double *n = g_new0(double, MAX(problem->n_kinds, 1));
	guint32 n_classes = start->by_class ? problem->n_classes : 1;

	for (guint32 b = 0; b < problem->n_bundles; b++)
		n[problem->bundles[b].kind]++;
	for (guint32 k = 0; k < problem->n_kinds; k++) {
		double by_mode[WP_NEST_N_MODES] = { 0 }, all = 0;
		for (guint32 c = 0; c < n_classes; c++)
			for (gint m = 0; m < WP_NEST_N_MODES; m++)
				by_mode[m] += get_excess(start, c, k, m);
		for (gint m = 0; m < WP_NEST_N_MODES; m++)
			all += by_mode[m];
		inside[k] = by_mode[WP_NEST_INSIDE] > 0.5 * n[k] && all > 1.25 * n[k];
	}
	return inside;
}

/* TRUE where a parent that does not wait encloses BUNDLE. */
static gboolean
has_inside(const WpNestProblem *problem, const WpNestBundle *bundle)
{
	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		const WpNestCandidate *candidate =
			&problem->candidates[bundle->first_candidate + i];
		if (candidate->mode == WP_NEST_INSIDE && !problem->parents[candidate->parent].waits)
			return TRUE;
	}
	return FALSE;
}

/* Odds that a pair in this cell is a true one. */
static double
odds_of(const Start *start, const Pair *pair)
{
	const Plane *real = g_ptr_array_index(start->real, pair->plane);
	const Plane *null = g_ptr_array_index(start->null, pair->plane);
	guint i = cell_of_bin(pair->begin), j = cell_of_bin(pair->end);
	double share = (*real)[i][j] > 0 ? ((*real)[i][j] - (*null)[i][j]) / (*real)[i][j] : 0;
	share = CLAMP(share, 0.001, 0.999);
	return share / (1 - share);
}

static gboolean
is_used_mode(const Start *start, guint32 class, guint32 kind, WpNestMode mode)
{
	double own = get_excess(start, class, kind, mode);
	double inside = get_excess(start, class, kind, WP_NEST_INSIDE);
	return own > MIN_EXCESS && own > MIN_EXCESS_SHARE * (own + inside);
}

static void
normalise(double *weights, guint32 n)
{
	double sum = 0;
	for (guint32 i = 0; i < n; i++)
		sum += weights[i];
	for (guint32 i = 0; i < n; i++)
		weights[i] = sum > 0 ? weights[i] / sum : 1.0 / n;
}

static void
fill_pairs(Start *start)
{
	const WpNestProblem *problem = start->problem;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			const WpNestCandidate *candidate = &problem->candidates[at];
			const WpNestParent *parent = &problem->parents[candidate->parent];
			gint64 begin_ns = bundle->begin_ns - parent->begin_ns;
			gint64 end_ns = parent->end_ns - bundle->end_ns;
			start->pairs[at] = (Pair){
				plane_number(start, b, candidate->parent, candidate->mode),
				(guint8)bin_of(problem, begin_ns),
				(guint8)bin_of(problem, end_ns),
				1 / (((double)ABS(begin_ns) * problem->per_grain + 1) *
				     ((double)ABS(end_ns) * problem->per_grain + 1)),
			};
		}
	}
}

/*
 * Whether CANDIDATE, where a parent that works encloses the bundle, is more than an accident. A call that
 * waits (a long poll) encloses what has nothing to do with it; one that is answered by work of its own
 * calls at a time that stands out, like any other.
 */
static gboolean
stands_out(const Start *start, const WpNestBundle *bundle, const WpNestCandidate *candidate,
	   gboolean is_inside_kind)
{
	const WpNestParent *parent = &start->problem->parents[candidate->parent];
	if (candidate->mode == WP_NEST_INSIDE && !parent->waits)
		return TRUE;
	if (candidate->mode != WP_NEST_INSIDE && is_inside_kind)
		return FALSE;
	return is_used_mode(start, parent->class, bundle->kind, candidate->mode);
}

static void
drop_accidents(Start *start)
{
	WpNestProblem *problem = start->problem;
	g_autofree gboolean *inside_kinds = find_inside_kinds(start);
	guint32 kept = 0;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		gboolean is_inside = has_inside(problem, bundle);
		guint32 first = kept;
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			WpNestCandidate candidate =
				problem->candidates[bundle->first_candidate + i];
			if (!is_inside ||
			    stands_out(start, bundle, &candidate, inside_kinds[bundle->kind]))
				problem->candidates[kept++] = candidate;
		}
		bundle->first_candidate = first;
		bundle->n_candidates = kept - first;
	}
	problem->n_candidates = kept;
}

static void
weigh_by_planes(Start *start)
{
	WpNestProblem *problem = start->problem;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			start->weights[at] = odds_of(start, &start->pairs[at]);
		}
		normalise(start->weights + bundle->first_candidate, bundle->n_candidates);
	}
}

/* --- soft rounds --- */

static void
smooth_gaps(double *counts, double total)
{
	double width = 0.7 + 6 / cbrt(total + 1), kernel[N_BINS], norm = 0, out[N_BINS] = { 0 };
	gint reach = (gint)(3 * width) + 1;

	for (gint j = 0; j <= reach; j++) {
		kernel[j] = exp(-0.5 * j * j / (width * width));
		norm += j ? 2 * kernel[j] : kernel[j];
	}
	for (gint bin = 0; bin < N_BINS; bin++) {
		if (counts[bin] < 1e-9)
			continue;
		for (gint j = -reach; j <= reach; j++) {
			gint to = bin + j < 0 ? -(bin + j) - 1 : bin + j;
			if (to < N_BINS)
				out[to] += counts[bin] * kernel[ABS(j)] / norm;
		}
	}
	for (gint bin = 0; bin < N_BINS; bin++)
		counts[bin] = (1 - FLAT) * (total > 0 ? out[bin] / total : 0) + FLAT / N_BINS;
}

static void
learn_gaps(const Start *start, Gaps *gaps)
{
	const WpNestProblem *problem = start->problem;

	memset(gaps, 0, start->real->len * sizeof gaps[0]);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			const Pair *pair = &start->pairs[at];
			Gaps *own = &gaps[pair->plane];
			own->begin[pair->begin] += start->weights[at];
			own->end[pair->end] += start->weights[at];
			own->total += start->weights[at];
		}
	}
	for (guint p = 0; p < start->real->len; p++) {
		smooth_gaps(gaps[p].begin, gaps[p].total);
		smooth_gaps(gaps[p].end, gaps[p].total);
	}
}

static void
weigh_by_gaps(Start *start, const Gaps *gaps, const double *class_sizes)
{
	WpNestProblem *problem = start->problem;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			guint32 parent = problem->candidates[at].parent;
			const Pair *pair = &start->pairs[at];
			const Gaps *own = &gaps[pair->plane];
			start->weights[at] = own->begin[pair->begin] * own->end[pair->end] *
					     pair->slope * own->total /
					     class_sizes[problem->parents[parent].class];
		}
		normalise(start->weights + bundle->first_candidate, bundle->n_candidates);
	}
}

/* Bundles by kind: a counting sort. (transfer full) OUT_FIRST has n_kinds + 1 entries. */
static guint32 *
sort_by_kind(const WpNestProblem *problem, guint32 *out_first)
{
	guint32 *sorted = g_new(guint32, MAX(problem->n_bundles, 1));
	memset(out_first, 0, (problem->n_kinds + 1) * sizeof out_first[0]);
	for (guint32 b = 0; b < problem->n_bundles; b++)
		out_first[problem->bundles[b].kind + 1]++;
	for (guint32 k = 0; k < problem->n_kinds; k++)
		out_first[k + 1] += out_first[k];
	g_autofree guint32 *next = g_memdup2(out_first, (problem->n_kinds + 1) * sizeof(guint32));
	for (guint32 b = 0; b < problem->n_bundles; b++)
		sorted[next[problem->bundles[b].kind]++] = b;
	return sorted;
}

/* Scales what too many children of one kind want from one parent. LOAD: by parent, all 0, left so. */
static void
balance_kind(Start *start, const guint32 *bundles, guint32 n, const double *class_sizes,
	     double *load)
{
	WpNestProblem *problem = start->problem;
	g_autofree double *per_class = g_new0(double, problem->n_classes);

	for (guint32 i = 0; i < n; i++) {
		const WpNestBundle *bundle = &problem->bundles[bundles[i]];
		for (guint32 c = 0; c < bundle->n_candidates; c++) {
			guint32 at = bundle->first_candidate + c;
			guint32 parent = problem->candidates[at].parent;
			load[parent] += start->weights[at];
			per_class[problem->parents[parent].class] += start->weights[at];
		}
	}
	for (guint32 i = 0; i < n; i++) {
		const WpNestBundle *bundle = &problem->bundles[bundles[i]];
		for (guint32 c = 0; c < bundle->n_candidates; c++) {
			guint32 at = bundle->first_candidate + c;
			guint32 parent = problem->candidates[at].parent;
			guint32 class = problem->parents[parent].class;
			double mean = per_class[class] / class_sizes[class];
			double most = mean > 1 ? ceil(mean - 0.01) : 1;
			if (load[parent] > most)
				start->weights[at] *= most / load[parent];
		}
		normalise(start->weights + bundle->first_candidate, bundle->n_candidates);
	}
	for (guint32 i = 0; i < n; i++) {
		const WpNestBundle *bundle = &problem->bundles[bundles[i]];
		for (guint32 c = 0; c < bundle->n_candidates; c++)
			load[problem->candidates[bundle->first_candidate + c].parent] = 0;
	}
}

static void
assign_softly(Start *start, guint rounds)
{
	WpNestProblem *problem = start->problem;
	g_autofree Gaps *gaps = g_new(Gaps, MAX(start->real->len, 1));
	g_autofree double *class_sizes = g_new0(double, MAX(problem->n_classes, 1));
	g_autofree double *load = g_new0(double, MAX(problem->n_parents, 1));
	g_autofree guint32 *first = g_new(guint32, problem->n_kinds + 1);
	g_autofree guint32 *sorted = sort_by_kind(problem, first);

	for (guint32 p = 0; p < problem->n_parents; p++)
		class_sizes[problem->parents[p].class]++;
	for (guint round = 0; round < rounds; round++) {
		learn_gaps(start, gaps);
		weigh_by_gaps(start, gaps, class_sizes);
		for (gint i = 0; i < BALANCE_ROUNDS; i++)
			for (guint32 k = 0; k < problem->n_kinds; k++)
				balance_kind(start, sorted + first[k], first[k + 1] - first[k],
					     class_sizes, load);
	}
}

/* --- the answer --- */

static void
take_likeliest(Start *start)
{
	WpNestProblem *problem = start->problem;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		double best = -1;
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			if (start->weights[at] > best) {
				best = start->weights[at];
				bundle->parent = problem->candidates[at].parent;
			}
		}
	}
	wp_nest_hang_children(problem);
}

/* How many bundles of (class, kind) use each mode. (transfer full) */
static guint32 *
count_modes(const Start *start)
{
	WpNestProblem *problem = start->problem;
	guint32 *used = g_new0(guint32, start->n_numbers);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		if (bundle->parent == WP_NO_PARENT)
			continue;
		guint32 class = problem->parents[bundle->parent].class;
		WpNestMode mode = wp_nest_mode(problem, bundle, bundle->parent);
		used[plane_key(start, class, bundle->kind, mode)]++;
	}
	return used;
}

static double
best_weight(const Start *start, const WpNestBundle *bundle)
{
	double best = 0;
	for (guint32 i = 0; i < bundle->n_candidates; i++)
		best = MAX(best, start->weights[bundle->first_candidate + i]);
	return best;
}

/*
 * Candidates outside, in a mode that hardly anybody uses, are no candidates; nor are those that are hopeless
 * beside the best.
 */
void
wp_nest_start_drop(WpNestStart *start)
{
	WpNestProblem *problem = start->problem;
	g_autofree guint32 *used = count_modes(start);
	guint32 kept = 0;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		gboolean is_inside = has_inside(problem, bundle);
		guint32 first = kept;
		double enough = HOPELESS * best_weight(start, bundle);
		bundle->n_possible = 0;
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			WpNestCandidate candidate =
				problem->candidates[bundle->first_candidate + i];
			guint32 class = problem->parents[candidate.parent].class, all = 0;
			for (gint m = 0; m < WP_NEST_N_MODES; m++)
				all += used[plane_key(start, class, bundle->kind, m)];
			guint32 own = used[plane_key(start, class, bundle->kind, candidate.mode)];
			gboolean is_used = own > MIN_EXCESS && own > MIN_EXCESS_SHARE * all;
			if (candidate.mode != WP_NEST_INSIDE && is_inside && !is_used &&
			    candidate.parent != bundle->parent)
				continue;
			bundle->n_possible++;
			if (start->weights[bundle->first_candidate + i] >= enough)
				problem->candidates[kept++] = candidate;
		}
		bundle->first_candidate = first;
		bundle->n_candidates = kept - first;
	}
	problem->n_candidates = kept;
}

WpNestStart *
wp_nest_start_new(WpNestProblem *problem)
{
	guint64 planes = (guint64)problem->n_classes * problem->n_kinds * WP_NEST_N_MODES;
	WpNestStart *start = g_new0(WpNestStart, 1);

	start->problem = problem;
	start->by_class = planes <= MAX_PLANES;
	start->n_numbers = (start->by_class ? problem->n_classes : 1) * (gsize)problem->n_kinds *
			   WP_NEST_N_MODES;
	start->numbers = g_new0(guint32, MAX(start->n_numbers, 1));
	start->strides = g_new0(guint32, MAX(problem->n_kinds, 1));
	start->real = g_ptr_array_new_with_free_func(g_free);
	start->null = g_ptr_array_new_with_free_func(g_free);
	start->excess = g_array_new(FALSE, FALSE, sizeof(double));
	count_planes(start);
	drop_accidents(start);
	start->weights = g_new(double, MAX(problem->n_candidates, 1));
	start->pairs = g_new(Pair, MAX(problem->n_candidates, 1));
	fill_pairs(start);
	return start;
}

void
wp_nest_start_free(WpNestStart *start)
{
	if (!start)
		return;
	g_free(start->numbers);
	g_free(start->strides);
	g_ptr_array_unref(start->real);
	g_ptr_array_unref(start->null);
	g_array_unref(start->excess);
	g_free(start->weights);
	g_free(start->pairs);
	g_free(start);
}

void
wp_nest_start_assign(WpNestStart *start, guint rounds)
{
	weigh_by_planes(start);
	assign_softly(start, rounds);
	take_likeliest(start);
}
