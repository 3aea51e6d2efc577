/* Shares of places, of one kind of bundles at a time, by expectation maximization: nesting-modes.h. */
#include "infer/nesting-modes.h"

#include <string.h>

#define ROUNDS    40
#define STRAY     0.02 /* share of the bundles whose parent is not among the candidates */
#define KNOWN     20.0 /* nats: what evidence says of a kind, to be asked at all */
#define WORTH     8.0  /* nats that are gained where children may also lie outside */
#define MIN_CALLS 5    /* bundles of a class in a mode, of those that were looked at */
#define MIN_SHARE 0.15 /* ... of all that the class has of the kind */

/* What the candidates of one bundle in one place say. */
typedef struct {
	guint32 cell; /* class * WP_NEST_N_MODES + mode */
	double mean;  /* of e^odds */
} Place;

typedef struct {
	guint32 kind;
	guint32 first; /* of its places */
	guint32 n;
} Bundle;

struct WpNestModes {
	guint32 n_cells;
	gboolean by_class;
	const WpQuickLog *quick; /* of the problem */
	GArray *places;          /* Place */
	GArray *bundles;         /* Bundle, by kind */
	double *shares;          /* by kind, cell: bundles */
	guint8 *knows;           /* by kind */
	guint8 *outside;         /* by kind: children may lie outside */
};

/* Room for the candidates of one bundle, by cell. */
typedef struct {
	double *sums;
	guint32 *counts;
	guint32 *met; /* cells */
} Scratch;

static void
add_bundle(WpNestModes *modes, const WpNestProblem *problem, const WpNestBundle *bundle,
	   Scratch *scratch)
{
	const WpNestCandidate *candidates = problem->candidates + bundle->first_candidate;
	guint32 n_met = 0;
	Bundle added = { bundle->kind, modes->places->len, 0 };

	for (guint32 i = 0; i < bundle->n_candidates; i++) {
		guint32 class = problem->parents[candidates[i].parent].class;
		guint32 cell = (modes->by_class ? class : 0) * WP_NEST_N_MODES + candidates[i].mode;
		if (scratch->counts[cell]++ == 0)
			scratch->met[n_met++] = cell;
		scratch->sums[cell] += wp_quick_exp((double)candidates[i].odds);
	}
	for (guint32 i = 0; i < n_met; i++) {
		guint32 cell = scratch->met[i];
		Place place = { cell, scratch->sums[cell] / scratch->counts[cell] };
		g_array_append_val(modes->places, place);
		scratch->sums[cell] = 0;
		scratch->counts[cell] = 0;
	}
	added.n = n_met;
	if (n_met > 0)
		g_array_append_val(modes->bundles, added);
}

static gboolean
is_outside(guint32 cell)
{
	return cell % WP_NEST_N_MODES != WP_NEST_INSIDE;
}

/*
 * Bundles FROM to END, all of one kind: sets SHARES (by cell, of all) to what makes them likeliest, without places
 * outside where these are NOT_OUTSIDE. Returns the log likelihood against nothing being known.
 */
static double
fit(const WpNestModes *modes, guint32 from, guint32 end, gboolean not_outside, double *shares)
{
	g_autofree double *next = g_new(double, modes->n_cells);
	double likelihood = 0,
	       n_cells = not_outside ? modes->n_cells / WP_NEST_N_MODES : modes->n_cells;

	for (guint32 c = 0; c < modes->n_cells; c++)
		shares[c] = not_outside && is_outside(c) ? 0 : (1 - STRAY) / n_cells;
	for (guint round = 0; round < ROUNDS; round++) {
		memset(next, 0, modes->n_cells * sizeof *next);
		likelihood = 0;
		for (guint32 b = from; b < end; b++) {
			const Bundle *bundle = &g_array_index(modes->bundles, Bundle, b);
			const Place *places = &g_array_index(modes->places, Place, bundle->first);
			double sum = STRAY;
			for (guint32 i = 0; i < bundle->n; i++)
				sum += shares[places[i].cell] * places[i].mean;
			for (guint32 i = 0; i < bundle->n; i++)
				next[places[i].cell] +=
					shares[places[i].cell] * places[i].mean / sum;
			likelihood += wp_quick_log(modes->quick, sum);
		}
		double all = 0;
		for (guint32 c = 0; c < modes->n_cells; c++)
			all += next[c];
		for (guint32 c = 0; c < modes->n_cells && all > 0; c++)
			shares[c] = (1 - STRAY) * next[c] / all;
	}
	return likelihood;
}

static void
fit_kind(WpNestModes *modes, guint32 kind, guint32 from, guint32 end)
{
	double *shares = modes->shares + (gsize)kind * modes->n_cells;
	g_autofree double *inside = g_new(double, modes->n_cells);
	double without = fit(modes, from, end, TRUE, inside);
	double with = fit(modes, from, end, FALSE, shares);

	for (guint32 c = 0; c < modes->n_cells; c++)
		shares[c] *= end - from;
	modes->knows[kind] = with > KNOWN;
	modes->outside[kind] = with > without + WORTH;
}

static int
compare_kinds(gconstpointer a, gconstpointer b)
{
	const Bundle *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

WpNestModes *
wp_nest_modes_new(const WpNestProblem *problem, const guint8 *picks, gboolean by_class)
{
	WpNestModes *modes = g_new0(WpNestModes, 1);

	modes->by_class = by_class;
	modes->quick = &problem->quick;
	modes->n_cells = MAX(by_class ? problem->n_classes : 1, 1) * WP_NEST_N_MODES;
	modes->places = g_array_new(FALSE, FALSE, sizeof(Place));
	modes->bundles = g_array_new(FALSE, FALSE, sizeof(Bundle));
	modes->shares = g_new0(double, (gsize)problem->n_kinds * modes->n_cells + 1);
	modes->knows = g_new0(guint8, problem->n_kinds + 1);
	modes->outside = g_new0(guint8, problem->n_kinds + 1);
	g_autofree double *sums = g_new0(double, modes->n_cells);
	g_autofree guint32 *counts = g_new0(guint32, modes->n_cells);
	g_autofree guint32 *met = g_new0(guint32, modes->n_cells);
	Scratch scratch = { sums, counts, met };
	for (guint32 b = 0; b < problem->n_bundles; b++)
		if (picks[b])
			add_bundle(modes, problem, &problem->bundles[b], &scratch);
	g_array_sort(modes->bundles, compare_kinds);
	for (guint32 from = 0, end; from < modes->bundles->len; from = end) {
		guint32 kind = g_array_index(modes->bundles, Bundle, from).kind;
		for (end = from + 1; end < modes->bundles->len &&
				     g_array_index(modes->bundles, Bundle, end).kind == kind;)
			end++;
		fit_kind(modes, kind, from, end);
	}
	return modes;
}

void
wp_nest_modes_free(WpNestModes *modes)
{
	if (!modes)
		return;
	g_array_unref(modes->places);
	g_array_unref(modes->bundles);
	g_free(modes->shares);
	g_free(modes->knows);
	g_free(modes->outside);
	g_free(modes);
}

gboolean
wp_nest_modes_knows(const WpNestModes *modes, guint32 kind)
{
	return modes->knows[kind];
}

gboolean
wp_nest_modes_has(const WpNestModes *modes, guint32 class, guint32 kind, WpNestMode mode)
{
	const double *shares = modes->shares + (gsize)kind * modes->n_cells +
			       (gsize)(modes->by_class ? class : 0) * WP_NEST_N_MODES;
	double all = 0;

	if (mode != WP_NEST_INSIDE && !modes->outside[kind])
		return FALSE;
	for (guint m = 0; m < WP_NEST_N_MODES; m++)
		all += shares[m];
	return shares[mode] > MIN_CALLS && shares[mode] > MIN_SHARE * all;
}
