/*
 * Parents that the capture does not show whole. Packets get lost, and captures begin and end:
 *
 *     seen whole     |------- p --------|
 *     open           |------- p - - - - - -      its return was not seen
 *     ghost       - - - - - - p - - - - - -      neither was its call: all that shows it are its calls
 *                        |-c1-|  |-c2-|
 *
 * A call whose parent was lost would be given to whoever else is there. So an open call is a candidate like
 * others, the time of whose end says nothing; and for each bundle there is a ghost, whose first call it
 * may be. A ghost that has calls costs what the loss makes likely, a parent lost at such a time; that its
 * calls are those of a usual plan is weighed as of any other. The time of its begin says nothing.
 *
 * How long after its begin a parent makes a call is learned from those seen whole.
 */
#include <stdlib.h>

#include "infer/map.h"
#include "infer/nesting.h"

#define REACH_QUANTILE 0.99
#define REACH_FACTOR   1.5
#define FIRST_SHARE    0.05 /* of the parents begin with such a call: ghosts may */
#define MAX_GHOSTS     16   /* a bundle may belong to: the last to begin */
#define MAX_OPEN       64   /* likewise */
#define MAX_ALONE      0.02 /* of a type has no parent at all: beyond that and the loss they are roots */

/* Later than anything, and still a time that others can be added to. */
#define END_UNKNOWN (G_MAXINT64 / 2)

/*
 * Calls without a return, of the class of the calls like them that have one; without such they are left out,
 * as nothing is known of what they do.
 */
static void
init_open(WpNestProblem *problem, const WpNestHost *host)
{
	const WpSpans *all = wp_resolved_spans(problem->resolved);
	const WpSpan *spans = all->spans;
	g_autoptr(WpMap) classes = wp_map_new();

	if (host->n_incoming == problem->n_parents)
		return;
	for (guint32 p = 0; p < problem->n_parents; p++) {
		const WpSpan *span = &spans[problem->parents[p].span];
		guint32 node = wp_spans_class_node(all, problem->parents[p].span);
		wp_map_at(classes, wp_map_key(node, span->label), problem->parents[p].class);
	}
	problem->parents = g_renew(WpNestParent, problem->parents, (gsize)host->n_incoming + 1);
	for (guint32 i = 0; i < host->n_incoming; i++) {
		const WpSpan *span = &spans[host->incoming[i]];
		guint32 node = wp_spans_class_node(all, host->incoming[i]);
		guint32 class = wp_map_find(classes, wp_map_key(node, span->label));
		if (span->kind != WP_KIND_CALL || wp_span_is_paired(span) || class == WP_MAP_NONE ||
		    (span->marks & WP_MARK_WAIT))
			continue;
		problem->parents[problem->n_parents + problem->n_open++] =
			(WpNestParent){ .begin_ns = wp_nest_clock_at(host->clock,
								     wp_span_served_ns(span)),
					.end_ns = END_UNKNOWN,
					.span = host->incoming[i],
					.class = class,
					.is_open = TRUE };
	}
}

/*
 * A ghost a bundle: the parent that was lost and whose first call it may be. As many come a grain of time as
 * are missing in all of it.
 */
static void
init_ghosts(WpNestProblem *problem, double n_lost)
{
	guint32 first = problem->n_parents + problem->n_open, n = problem->n_bundles;

	if ((n_lost <= 0 && !problem->alone_nats) || problem->n_parents == 0 || n < 2)
		return;
	double length_ns =
		(double)(problem->bundles[n - 1].begin_ns - problem->bundles[0].begin_ns);
	problem->n_ghosts = n;
	problem->unseen_a_grain =
		n_lost <= 0 ? WP_NEST_NEVER
			    : wp_quick_log(&problem->quick,
					   n_lost * problem->grain_ns / MAX(length_ns, 1));
	problem->parents = g_renew(WpNestParent, problem->parents, first + n);
	gboolean are_messages = 2 * (guint64)problem->n_messages > problem->n_parents;
	for (guint32 b = 0; b < n; b++)
		problem->parents[first + b] = (WpNestParent){
			.begin_ns = problem->bundles[b].begin_ns,
			/* All work comes after a message: so it does after a ghost of one. */
			.end_ns = are_messages ? problem->bundles[b].begin_ns - 1 : END_UNKNOWN,
			.span = WP_NO_SPAN,
			.class = problem->n_classes > 1 ? problem->n_classes : 0,
			.is_open = TRUE,
			.is_ghost = TRUE,
		};
}

void
wp_nest_unseen_init(WpNestProblem *problem, const WpNestHost *host)
{
	double n_spontaneous = 0;
	for (guint32 t = 0; problem->spontaneous && t < problem->n_types; t++)
		n_spontaneous += problem->spontaneous[t];
	init_open(problem, host);
	wp_nest_learn_late(problem, host);
	init_ghosts(problem, host->n_lost + n_spontaneous);
}

/* --- candidates --- */

typedef struct {
	guint32 type;
	gint64 gap_ns;
} Gap;

/* Of calls of a type. */
typedef struct {
	gint64 of_begin_ns; /* made at most so long after the begin of their parent */
	gint64 of_first_ns; /* ... after its first call */
	gboolean is_first;  /* parents begin with one */
	gboolean is_root;   /* so many are alone that nobody causes them */
} Type;

typedef struct {
	WpNestProblem *problem;
	Type *types;
	GArray *candidates; /* WpNestCandidate: the new ones */
	guint32 *firsts;    /* bundles that ghosts may begin with, so far */
	guint32 n_firsts;
	guint32 n_open; /* open parents that have begun */
} Adder;

static guint32
type_of(const WpNestProblem *problem, const WpNestBundle *bundle)
{
	return problem->children[problem->bundle_children[bundle->first]].type;
}

static int
compare_gaps(const void *a, const void *b)
{
	const Gap *left = a, *right = b;
	if (left->type != right->type)
		return left->type < right->type ? -1 : 1;
	return left->gap_ns < right->gap_ns ? -1 : left->gap_ns > right->gap_ns;
}

/* The gaps of each call of a parent to its begin, or to its first call. (transfer full) */
static GArray *
list_gaps(const WpNestProblem *problem, gboolean to_first)
{
	GArray *gaps = g_array_new(FALSE, FALSE, sizeof(Gap));

	for (guint32 p = 0; p < problem->n_parents; p++) {
		const WpNestParent *parent = &problem->parents[p];
		for (guint32 i = 0; i < parent->n; i++) {
			const WpNestChild *child = &problem->children[parent->children[i]];
			const WpNestChild *first = &problem->children[parent->children[0]];
			Gap gap = { child->type, child->begin_ns - (to_first ? first->begin_ns
									     : parent->begin_ns) };
			g_array_append_val(gaps, gap);
		}
	}
	if (gaps->len)
		qsort(gaps->data, gaps->len, sizeof(Gap), compare_gaps);
	return gaps;
}

static void
learn_reach(Adder *adder, gboolean to_first)
{
	g_autoptr(GArray) gaps = list_gaps(adder->problem, to_first);

	for (guint begin = 0, end; begin < gaps->len; begin = end) {
		guint32 type = g_array_index(gaps, Gap, begin).type;
		for (end = begin; end < gaps->len && g_array_index(gaps, Gap, end).type == type;)
			end++;
		guint at = begin + (guint)((end - begin) * REACH_QUANTILE);
		double gap_ns = (double)g_array_index(gaps, Gap, MIN(at, end - 1)).gap_ns;
		gint64 reach_ns = (gint64)(REACH_FACTOR * MAX(gap_ns, 0));
		if (to_first)
			adder->types[type].of_first_ns = reach_ns;
		else
			adder->types[type].of_begin_ns = reach_ns;
	}
}

static void
learn_types(Adder *adder)
{
	const WpNestProblem *problem = adder->problem;
	g_autofree double *n_first = g_new0(double, MAX(problem->n_types, 1));
	g_autofree double *n = g_new0(double, MAX(problem->n_types, 1));
	g_autofree double *n_alone = g_new0(double, MAX(problem->n_types, 1));
	double n_parents = 0;

	for (guint32 p = 0; p < problem->n_parents; p++)
		if (problem->parents[p].n) {
			n_first[problem->children[problem->parents[p].children[0]].type]++;
			n_parents++;
		}
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		guint32 type = type_of(problem, &problem->bundles[b]);
		n[type]++;
		n_alone[type] += problem->bundles[b].n_candidates == 0;
	}
	double loss = problem->n_open / MAX((double)problem->n_parents, 1);
	for (guint32 t = 0; t < problem->n_types; t++) {
		adder->types[t].is_first = n_first[t] >= FIRST_SHARE * n_parents;
		adder->types[t].is_root = n_alone[t] > n[t] * (MAX_ALONE + 2 * MIN(loss, 0.2));
	}
	learn_reach(adder, FALSE);
	learn_reach(adder, TRUE);
}

static void
add_candidate(Adder *adder, WpNestBundle *bundle, guint32 parent)
{
	WpNestCandidate candidate = { .parent = parent,
				      .pair = WP_NO_PAIR,
				      .mode = WP_NEST_INSIDE };
	g_array_append_val(adder->candidates, candidate);
	bundle->n_candidates++;
}

static void
add_open(Adder *adder, WpNestBundle *bundle, gint64 reach_ns)
{
	const WpNestProblem *problem = adder->problem;
	const WpNestParent *open = problem->parents + problem->n_parents;
	guint32 first;

	while (adder->n_open < problem->n_open && open[adder->n_open].begin_ns <= bundle->begin_ns)
		adder->n_open++;
	for (first = adder->n_open; first > 0 && adder->n_open - first < MAX_OPEN; first--)
		if (bundle->begin_ns - open[first - 1].begin_ns > reach_ns)
			break;
	for (; first < adder->n_open; first++) {
		add_candidate(adder, bundle, problem->n_parents + first);
		bundle->n_possible++;
	}
}

/* Ghosts that began with a bundle before, and that of this one. */
static void
add_ghosts(Adder *adder, guint32 number, const Type *type)
{
	const WpNestProblem *problem = adder->problem;
	WpNestBundle *bundle = &adder->problem->bundles[number];
	guint32 ghosts = problem->n_parents + problem->n_open, first;
	gboolean may_be_alone = wp_nest_may_be_alone(problem, bundle);
	gboolean may_be_lost = problem->unseen_a_grain > WP_NEST_NEVER;

	if (!problem->n_ghosts || !(may_be_alone || may_be_lost))
		return;
	for (first = adder->n_firsts; first > 0 && adder->n_firsts - first < MAX_GHOSTS; first--)
		if (bundle->begin_ns - problem->bundles[adder->firsts[first - 1]].begin_ns >
		    type->of_first_ns)
			break;
	for (; first < adder->n_firsts; first++)
		add_candidate(adder, bundle, ghosts + adder->firsts[first]);
	add_candidate(adder, bundle, ghosts + number);
	bundle->n_possible += may_be_alone;
	if (type->is_first && may_be_lost)
		adder->firsts[adder->n_firsts++] = number;
}

static void
add_to_bundle(Adder *adder, guint32 number)
{
	WpNestProblem *problem = adder->problem;
	WpNestBundle *bundle = &problem->bundles[number];
	const Type *type = &adder->types[type_of(problem, bundle)];
	guint32 first = adder->candidates->len;

	g_array_append_vals(adder->candidates, problem->candidates + bundle->first_candidate,
			    bundle->n_candidates);
	bundle->first_candidate = first;
	if (bundle->n_candidates == 0 && type->is_root)
		return;
	add_open(adder, bundle, type->of_begin_ns);
	add_ghosts(adder, number, type);
	/* The ghost that begins with it, if it may have one; else the last that was called. */
	if (bundle->parent == WP_NO_PARENT && adder->candidates->len > first)
		bundle->parent = g_array_index(adder->candidates, WpNestCandidate,
					       adder->candidates->len - 1)
					 .parent;
}

void
wp_nest_unseen_add(WpNestProblem *problem)
{
	Adder adder = { .problem = problem };

	if (problem->n_open + problem->n_ghosts == 0)
		return;
	adder.types = g_new0(Type, MAX(problem->n_types, 1));
	adder.firsts = g_new(guint32, MAX(problem->n_bundles, 1));
	adder.candidates = g_array_sized_new(FALSE, FALSE, sizeof(WpNestCandidate), 1);
	learn_types(&adder);
	for (guint32 b = 0; b < problem->n_bundles; b++)
		add_to_bundle(&adder, b);
	g_free(problem->candidates);
	problem->n_candidates = adder.candidates->len;
	problem->candidates = (WpNestCandidate *)(void *)g_array_free(adder.candidates, FALSE);
	wp_nest_hang_children(problem, 0, wp_nest_n_all_parents(problem));
	g_free(adder.types);
	g_free(adder.firsts);
}
