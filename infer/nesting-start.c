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
 * From there, rounds of soft assignment (nesting-soft.c). At last each child goes to its likeliest parent.
 */
#include <math.h>
#include <stdlib.h>

#include "infer/evidence-kind.h"
#include "infer/nesting-modes.h"
#include "infer/nesting-shift.h"
#include "infer/nesting-soft.h"
#include "infer/nesting-unused.h"

#define N_CELLS          64 /* of each gap, in the plane of two gaps */
#define BINS_A_CELL      4
#define ENOUGH_BUNDLES   2000 /* of a kind, to count its planes */
#define N_SHIFTS         6
#define MAX_FACTOR       2.6
#define MIN_SHIFT_NS     100e6
#define HOPELESS         1e-4 /* weight, of the best */
#define MOST_KEPT        64 /* candidates: of more, the one taken is hardly right, and takes long */
#define MANY             1.25 /* of the children: more pairs stand out than can be true */
#define MOST             0.5  /* of the children: enough, by excess */
#define MOST_SURPLUS     0.67 /* ... by surplus */
#define MIN_EXCESS       5    /* pairs */
#define MIN_EXCESS_SHARE 0.15 /* of a class's excess with this kind: a mode is used */

typedef float Plane[N_CELLS][N_CELLS];

struct WpNestStart {
	WpNestProblem *problem;
	gboolean by_class;
	guint32 *numbers; /* (class, kind, mode) -> plane + 1 */
	gsize n_numbers;
	guint32 *strides; /* by kind: every so many-th bundle is counted */
	guint8 *picks;    /* by bundle: those that are */
	GPtrArray *real;  /* Plane */
	GPtrArray *null;
	GPtrArray *counting; /* one of the two */
	GArray *excess;      /* double, by plane */
	WpNestModes *modes;  /* as evidence tells them; NULL: it says nothing */
	guint8 *is_wanted;   /* by (class, kind, mode): such candidates are more than accidents */
	guint8 *is_far;      /* by kind: candidates after the reply are among them */
	gboolean notes_accidents; /* there is evidence that learns from them */
	double *weights;          /* by candidate */
	WpNestPair *pairs;        /* by candidate */
	WpNestSoft *soft;
};

typedef WpNestStart Start;

static guint
bin_of(const WpNestProblem *problem, gint64 gap_ns)
{
	double octaves = wp_nest_octaves(problem, ABS(gap_ns));
	return (guint)MIN(octaves * WP_SOFT_BINS_AN_OCTAVE, WP_SOFT_BINS - 1);
}

static guint
cell_of_bin(guint bin)
{
	return MIN(bin / BINS_A_CELL, N_CELLS - 1);
}

static gsize
plane_key(const Start *start, guint32 class, guint32 kind, WpNestMode mode)
{
	return wp_nest_place(start->problem, start->by_class, class, kind, mode);
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

/* Enough bundles of each kind, evenly spread. */
static void
pick_bundles(Start *start)
{
	const WpNestProblem *problem = start->problem;
	guint8 *picks = start->picks = g_new0(guint8, MAX(problem->n_bundles, 1));
	g_autofree guint32 *met = g_new0(guint32, MAX(problem->n_kinds, 1));

	for (guint32 b = 0; b < problem->n_bundles; b++)
		start->strides[problem->bundles[b].kind]++;
	for (guint32 k = 0; k < problem->n_kinds; k++)
		start->strides[k] = MAX(start->strides[k] / ENOUGH_BUNDLES, 1);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		guint32 kind = problem->bundles[b].kind;
		picks[b] = met[kind]++ % start->strides[kind] == 0;
	}
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
static WpNestShift
shift_of(const WpNestProblem *problem)
{
	gint64 time_ns = MAX(2 * MAX(problem->after_ns, problem->reach_ns), (gint64)MIN_SHIFT_NS);
	return wp_nest_shift_of(problem, time_ns, 1 / (2 * MAX_FACTOR));
}

static void
count_planes(Start *start)
{
	static const double factors[N_SHIFTS] = { 1, -1, 1.7, -1.7, MAX_FACTOR, -MAX_FACTOR };
	WpNestProblem *problem = start->problem;

	if (problem->n_bundles == 0)
		return;
	WpNestShift shift = shift_of(problem);
	WpNestOrder *order = wp_nest_order_new(problem, &shift);
	start->counting = start->real;
	wp_nest_foreach_pair(problem, NULL, 0, start->picks, count_pair, start);
	start->counting = start->null;
	for (gint i = 0; i < N_SHIFTS; i++)
		wp_nest_foreach_pair(problem, order, factors[i] * shift.share, start->picks,
				     count_pair, start);
	wp_nest_order_free(order);
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

/* How many more pairs than by chance there are: no allowance for accident, and none of the bias it has. */
static double
surplus_of(const Start *start, guint32 class, guint32 kind, WpNestMode mode)
{
	guint32 number = start->numbers[plane_key(start, class, kind, mode)];
	double sum = 0;
	if (!number)
		return 0;
	const Plane *real = g_ptr_array_index(start->real, number - 1);
	const Plane *null = g_ptr_array_index(start->null, number - 1);
	for (gint i = 0; i < N_CELLS; i++)
		for (gint j = 0; j < N_CELLS; j++)
			sum += (double)((*real)[i][j] - (*null)[i][j]);
	return sum * start->strides[kind];
}

/*
 * TRUE where parents inside explain most of N children of KIND already, and all modes together explain more
 * than there are. At load the allowance for accident takes much of an excess; the surplus has more noise,
 * but is right on average.
 */
static gboolean
is_inside_kind(const Start *start, guint32 kind, double n)
{
	guint32 n_classes = start->by_class ? start->problem->n_classes : 1;
	double by_mode[WP_NEST_N_MODES] = { 0 }, surplus = 0, all = 0;

	for (guint32 c = 0; c < n_classes; c++) {
		surplus += surplus_of(start, c, kind, WP_NEST_INSIDE);
		for (gint m = 0; m < WP_NEST_N_MODES; m++)
			by_mode[m] += get_excess(start, c, kind, m);
	}
	for (gint m = 0; m < WP_NEST_N_MODES; m++)
		all += by_mode[m];
	return all > MANY * n && (by_mode[WP_NEST_INSIDE] > MOST * n || surplus > MOST_SURPLUS * n);
}

/*
 * By kind: whether children outside of their parent are not to be thought of at all. Calls that follow from
 * one another stand out against the null too; such echoes they are then.
 */
static gboolean *
find_inside_kinds(const Start *start)
{
	const WpNestProblem *problem = start->problem;
	gboolean *inside = g_new0(gboolean, MAX(problem->n_kinds, 1));
	g_autofree double *n = g_new0(double, MAX(problem->n_kinds, 1));

	for (guint32 b = 0; b < problem->n_bundles; b++)
		n[problem->bundles[b].kind]++;
	for (guint32 k = 0; k < problem->n_kinds; k++)
		inside[k] = is_inside_kind(start, k, n[k]);
	return inside;
}

/* Odds that a pair in this cell is a true one. */
static double
odds_of(const Start *start, const WpNestPair *pair)
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
fill_pairs(Start *start)
{
	const WpNestProblem *problem = start->problem;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			const WpNestCandidate *candidate = &problem->candidates[at];
			const WpNestParent *parent = &problem->parents[candidate->parent];
			gint64 begin_ns = bundle->has_waited ? WP_NEST_WAITED_NS
							     : bundle->begin_ns - parent->begin_ns -
								       parent->wait_ns;
			gint64 end_ns = parent->end_ns - bundle->end_ns - bundle->wait_ns;
			start->pairs[at] = (WpNestPair){
				plane_number(start, b, candidate->parent, candidate->mode),
				(guint16)bin_of(problem, begin_ns),
				(guint16)bin_of(problem, end_ns),
				1 / (((double)ABS(begin_ns) * problem->per_grain + 1) *
				     ((double)ABS(end_ns) * problem->per_grain + 1)),
			};
		}
	}
}

/*
 * Modes that evidence beside time shows: a value passed on tells the parent as well after the reply, and at a load
 * where delays do not stand out. Of the bundles whose planes are counted, all candidates are looked at.
 */
static void
find_modes(Start *start)
{
	WpNestProblem *problem = start->problem;
	const WpNestChoice counted = { .picks = start->picks };

	wp_nest_find_candidates(problem, &counted);
	problem->evidence = wp_evidence_new(problem, TRUE);
	if (!problem->evidence)
		return;
	wp_evidence_restart(problem->evidence);
	start->modes = wp_nest_modes_new(problem, start->picks, start->by_class);
	g_clear_pointer(&problem->evidence, wp_evidence_free);
}

/*
 * Whether a candidate, where a parent that works encloses the bundle, is more than an accident. A call that
 * waits (a long poll) encloses what has nothing to do with it; one that is answered by work of its own
 * calls at a time that stands out, like any other.
 */
static gboolean
stands_out(const Start *start, guint32 class, guint32 kind, WpNestMode mode, gboolean is_inside)
{
	if (start->modes && wp_nest_modes_knows(start->modes, kind))
		return wp_nest_modes_has(start->modes, class, kind, mode);
	if (mode != WP_NEST_INSIDE && is_inside)
		return FALSE;
	return is_used_mode(start, class, kind, mode);
}

static void
find_wanted(Start *start)
{
	guint32 n_classes = start->by_class ? start->problem->n_classes : 1;
	g_autofree gboolean *inside_kinds = find_inside_kinds(start);

	start->is_wanted = g_new0(guint8, MAX(start->n_numbers, 1));
	start->is_far = g_new0(guint8, MAX(start->problem->n_kinds, 1));
	for (guint32 c = 0; c < n_classes; c++)
		for (guint32 k = 0; k < start->problem->n_kinds; k++)
			for (gint m = 0; m < WP_NEST_N_MODES; m++) {
				gboolean is_on = stands_out(start, c, k, m, inside_kinds[k]);
				start->is_wanted[plane_key(start, c, k, m)] = (guint8)is_on;
				start->is_far[k] |= is_on && m == WP_NEST_AFTER;
			}
}

/* The candidates of all bundles, and the accidents of those whose planes were counted. */
typedef struct {
	const Start *start;
	GArray *accidents; /* WpNestAccident */
} Choice;

static gboolean
notes_accidents(const Start *start, const WpNestBundle *bundle)
{
	return start->notes_accidents && start->picks[bundle - start->problem->bundles];
}

static gboolean
is_wanted(const WpNestBundle *bundle, const WpNestCandidate *candidate, gpointer data)
{
	const Choice *self = data;
	const Start *start = self->start;
	const WpNestParent *parent = &start->problem->parents[candidate->parent];

	if ((candidate->mode == WP_NEST_INSIDE && !parent->waits) ||
	    start->is_wanted[plane_key(start, parent->class, bundle->kind, candidate->mode)])
		return TRUE;
	if (notes_accidents(start, bundle)) {
		WpNestAccident accident = { (guint32)(bundle - start->problem->bundles),
					    candidate->parent };
		g_array_append_val(self->accidents, accident);
	}
	return FALSE;
}

static gboolean
looks_far(const WpNestBundle *bundle, gpointer data)
{
	const Start *start = ((const Choice *)data)->start;
	return start->is_far[bundle->kind] || notes_accidents(start, bundle);
}

static void
find_candidates(Start *start)
{
	WpNestProblem *problem = start->problem;
	Choice own = { start, g_array_new(FALSE, FALSE, sizeof(WpNestAccident)) };
	const WpNestChoice choice = { NULL, is_wanted, looks_far, &own };

	find_wanted(start);
	start->notes_accidents = wp_evidence_may_speak(problem, FALSE);
	wp_nest_find_candidates(problem, &choice);
	problem->n_accidents = own.accidents->len;
	problem->accidents = (WpNestAccident *)(void *)g_array_free(own.accidents, FALSE);
}

/* What the user rules out. */
static void
drop_impossible(Start *start)
{
	WpNestProblem *problem = start->problem;
	guint32 kept = 0;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		guint32 first = kept;
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			WpNestCandidate candidate =
				problem->candidates[bundle->first_candidate + i];
			if (candidate.odds > -WP_HINTS_SURE)
				problem->candidates[kept++] = candidate;
		}
		bundle->first_candidate = first;
		bundle->n_candidates = kept - first;
	}
	problem->n_candidates = kept;
}

/* What evidence says before anything is known of the weights. */
static void
weigh_by_evidence(Start *start, guint32 first, guint32 end)
{
	WpNestProblem *problem = start->problem;

	if (!problem->evidence)
		return;
	wp_evidence_restart(problem->evidence);
	for (guint32 b = first; b < end; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			start->weights[at] *= wp_quick_exp((double)problem->candidates[at].odds);
		}
		wp_nest_soft_normalise(start->weights + bundle->first_candidate,
				       bundle->n_candidates);
	}
}

static void
weigh_by_planes(Start *start, guint32 first, guint32 end)
{
	WpNestProblem *problem = start->problem;

	for (guint32 b = first; b < end; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			start->weights[at] = odds_of(start, &start->pairs[at]);
		}
		wp_nest_soft_normalise(start->weights + bundle->first_candidate,
				       bundle->n_candidates);
	}
	weigh_by_evidence(start, first, end);
}

/* --- the answer --- */

static void
take_likeliest(Start *start, guint32 first, guint32 end)
{
	WpNestProblem *problem = start->problem;

	for (guint32 b = first; b < end; b++) {
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
}

static double
best_weight(const Start *start, const WpNestBundle *bundle)
{
	double best = 0;
	for (guint32 i = 0; i < bundle->n_candidates; i++)
		best = MAX(best, start->weights[bundle->first_candidate + i]);
	return best;
}

static int
compare_weights(gconstpointer a, gconstpointer b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

/* Which candidates of a bundle are kept. */
typedef struct {
	double enough;   /* weight; of those with just as much ... */
	guint32 n_equal; /* ... so many */
} Kept;

static Kept
choose_kept(const WpNestStart *start, const WpNestBundle *bundle)
{
	const double *weights = start->weights + bundle->first_candidate;
	Kept kept = { HOPELESS * best_weight(start, bundle), bundle->n_candidates };

	if (bundle->n_candidates <= MOST_KEPT)
		return kept;
	g_autofree double *sorted = g_memdup2(weights, bundle->n_candidates * sizeof *weights);
	qsort(sorted, bundle->n_candidates, sizeof *sorted, compare_weights);
	double least = sorted[MOST_KEPT - 1];
	if (least < kept.enough)
		return kept;
	kept = (Kept){ least, MOST_KEPT };
	for (guint32 i = 0; i < MOST_KEPT && sorted[i] > least; i++)
		kept.n_equal--;
	return kept;
}

/* Whether a candidate of WEIGHT is kept. */
static gboolean
keep(Kept *kept, double weight)
{
	if (weight > kept->enough)
		return TRUE;
	if (weight < kept->enough || kept->n_equal == 0)
		return FALSE;
	kept->n_equal--;
	return TRUE;
}

/*
 * Candidates outside, in a mode that hardly anybody uses, are no candidates; nor are those that are hopeless
 * beside the best.
 */
void
wp_nest_start_drop(WpNestStart *start, guint32 first, guint32 end)
{
	WpNestProblem *problem = start->problem;
	g_autofree guint8 *is_used = wp_nest_find_used(problem, first, end);
	guint32 kept = first < end ? problem->bundles[first].first_candidate : 0;

	for (guint32 b = first; b < end; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		const WpNestCandidate *own = problem->candidates + bundle->first_candidate;
		gboolean is_inside = wp_nest_has_inside(problem, own, bundle->n_candidates);
		guint32 own_first = kept;
		Kept choice = choose_kept(start, bundle);
		bundle->n_possible = 0;
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			WpNestCandidate candidate = own[i];
			guint32 class = problem->parents[candidate.parent].class;
			gsize key = plane_key(start, class, bundle->kind, candidate.mode);
			if (candidate.mode != WP_NEST_INSIDE && is_inside && !is_used[key] &&
			    candidate.parent != bundle->parent)
				continue;
			bundle->n_possible++;
			if (keep(&choice, start->weights[bundle->first_candidate + i]))
				problem->candidates[kept++] = candidate;
		}
		bundle->first_candidate = own_first;
		bundle->n_candidates = kept - own_first;
	}
}

/* Whether BUNDLE, which may be alone, lies to no candidate as calls lie to their parents. */
static gboolean
is_likely_alone(const Start *start, const WpNestBundle *bundle)
{
	if (!wp_nest_may_be_alone(start->problem, bundle))
		return FALSE;
	for (guint32 i = 0; i < bundle->n_candidates; i++)
		if (odds_of(start, &start->pairs[bundle->first_candidate + i]) > 1)
			return FALSE;
	return TRUE;
}

void
wp_nest_start_leave_alone(WpNestStart *start)
{
	WpNestProblem *problem = start->problem;

	for (guint32 b = 0; b < problem->n_bundles; b++)
		if (is_likely_alone(start, &problem->bundles[b]))
			problem->bundles[b].parent = WP_NO_PARENT;
}

WpNestStart *
wp_nest_start_new(WpNestProblem *problem)
{
	WpNestStart *start = g_new0(WpNestStart, 1);

	start->problem = problem;
	start->by_class = wp_nest_tells_classes(problem);
	start->n_numbers = wp_nest_n_places(problem, start->by_class);
	start->numbers = g_new0(guint32, MAX(start->n_numbers, 1));
	start->strides = g_new0(guint32, MAX(problem->n_kinds, 1));
	start->real = g_ptr_array_new_with_free_func(g_free);
	start->null = g_ptr_array_new_with_free_func(g_free);
	start->excess = g_array_new(FALSE, FALSE, sizeof(double));
	pick_bundles(start);
	count_planes(start);
	if (wp_evidence_may_speak(problem, TRUE))
		find_modes(start);
	find_candidates(start);
	problem->evidence = wp_evidence_new(problem, FALSE);
	if (problem->evidence) {
		wp_evidence_restart(problem->evidence);
		drop_impossible(start);
	}
	start->weights = g_new(double, MAX(problem->n_candidates, 1));
	start->pairs = g_new(WpNestPair, MAX(problem->n_candidates, 1));
	fill_pairs(start);
	start->soft = wp_nest_soft_new(problem, start->pairs, start->real->len, start->weights);
	return start;
}

void
wp_nest_start_free(WpNestStart *start)
{
	if (!start)
		return;
	wp_nest_soft_free(start->soft);
	g_free(start->numbers);
	g_free(start->strides);
	g_ptr_array_unref(start->real);
	g_ptr_array_unref(start->null);
	g_array_unref(start->excess);
	wp_nest_modes_free(start->modes);
	g_free(start->is_wanted);
	g_free(start->is_far);
	g_free(start->picks);
	g_free(start->weights);
	g_free(start->pairs);
	g_free(start);
}

void
wp_nest_start_assign(WpNestStart *start, guint rounds, double slack, guint32 first, guint32 end)
{
	weigh_by_planes(start, first, end);
	wp_nest_soft_assign(start->soft, rounds, slack, first, end);
	take_likeliest(start, first, end);
}

void
wp_nest_start_know(WpNestStart *start)
{
	const WpNestProblem *problem = start->problem;

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			start->weights[at] = problem->candidates[at].parent == bundle->parent;
		}
	}
	wp_nest_soft_know(start->soft);
}
