/*
 * Holes. What is made nearly always is learned per (node, label): of how many calls k of a kind do so many
 * of its calls have k or more that the loss explains the rest?
 */
#include "infer/holes.h"

#include <math.h>
#include <stdlib.h>

#include "infer/map.h"

#define MIN_CALLS    10                /* of a type: fewer tell nothing */
#define MAX_COUNT    8                 /* calls of a kind that are told apart */
#define LOSS_FACTOR  1.3               /* the loss is an estimate */
#define LOSS_SPREADS 3                 /* standard deviations of the number lost */
#define MOST         0.5               /* have at least so many, whatever the loss */
#define ANY_TYPE     (WP_MAP_NONE - 1) /* calls of all kinds: one may stand for another */

/* Calls of one kind below calls of a type. */
typedef struct {
	guint32 type;
	double lost;                   /* share of such calls that is missing */
	guint32 n_with[MAX_COUNT + 1]; /* calls of the type with so many */
	guint32 needed;                /* so many are made nearly always; 0 = none */
} Below;

typedef struct {
	guint32 n;
	guint32 n_open;   /* without a return */
	guint32 n_needed; /* kinds below that are made nearly always */
	guint32 n_whole;
	double whole_ns; /* sum of their self times */
} Type;

typedef struct {
	const WpSpans *spans;
	WpPaths *paths;
	const WpMissing *missing;
	WpMap *numbers;  /* (callee, label) -> type */
	guint32 *types;  /* by span on a path */
	GArray *all;     /* Type */
	WpMap *pairs;    /* (type, type of the child) -> below */
	GArray *below;   /* Below */
	GArray *scratch; /* guint32 */
} Finder;

static Type *
type_at(const Finder *finder, guint32 number)
{
	return &g_array_index(finder->all, Type, number);
}

static void
number_types(Finder *finder)
{
	for (guint32 i = 0; i < finder->paths->n; i++) {
		const WpSpan *span = &finder->spans->spans[i];
		if (finder->paths->forms[i] == WP_NO_FORM)
			continue;
		guint32 type =
			wp_map_number(finder->numbers, wp_map_key(span->callee, span->label));
		if (type == finder->all->len)
			g_array_set_size(finder->all, type + 1);
		finder->types[i] = type;
		type_at(finder, type)->n_open +=
			span->kind == WP_KIND_CALL && !wp_span_is_paired(span);
		type_at(finder, type)->n++;
	}
}

static int
compare_numbers(const void *a, const void *b)
{
	guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
	return x < y ? -1 : x > y;
}

/* Calls FUNC for each kind of calls that SPAN makes, and how many of it. */
typedef void (*KindFunc)(Finder *finder, guint32 span, guint32 child_type, guint32 n, guint32 *sum);

static void
foreach_kind(Finder *finder, guint32 span, KindFunc func, guint32 *sum)
{
	const WpPaths *paths = finder->paths;

	g_array_set_size(finder->scratch, 0);
	for (guint32 k = paths->child_at[span]; k < paths->child_at[span + 1]; k++)
		g_array_append_val(finder->scratch, finder->types[paths->children[k]]);
	guint32 *types = (guint32 *)(void *)finder->scratch->data;
	guint32 n = finder->scratch->len;
	if (n > 1)
		qsort(types, n, sizeof *types, compare_numbers);
	for (guint32 begin = 0, end; begin < n; begin = end) {
		for (end = begin; end < n && types[end] == types[begin];)
			end++;
		func(finder, span, types[begin], MIN(end - begin, MAX_COUNT), sum);
	}
	if (n)
		func(finder, span, ANY_TYPE, MIN(n, MAX_COUNT), sum);
}

static double
lost_of(const Finder *finder, guint32 span, guint32 child_type)
{
	const WpPaths *paths = finder->paths;
	guint32 k = paths->child_at[span];
	if (child_type == ANY_TYPE)
		return finder->missing->all.share;
	while (finder->types[paths->children[k]] != child_type)
		k++;
	guint32 host = finder->spans->spans[paths->children[k]].callee_host;
	return wp_missing_of(finder->missing, host).share;
}

static void
count_kind(Finder *finder, guint32 span, guint32 child_type, guint32 n, guint32 *sum)
{
	guint32 type = finder->types[span];
	guint32 at = wp_map_number(finder->pairs, wp_map_key(type, child_type));

	if (at == finder->below->len) {
		Below made = { .type = type, .lost = lost_of(finder, span, child_type) };
		g_array_append_val(finder->below, made);
	}
	g_array_index(finder->below, Below, at).n_with[n]++;
}

/* How many of the kind are made nearly always. */
static void
learn_needed(Finder *finder, Below *below)
{
	Type *type = type_at(finder, below->type);
	double n = type->n - type->n_open, with = 0;

	if (n < MIN_CALLS || below->lost <= 0)
		return;
	for (guint32 k = MAX_COUNT; k > 0; k--) {
		double lost = n * k * below->lost;
		with += below->n_with[k];
		if (with < MOST * n || n - with > LOSS_FACTOR * lost + LOSS_SPREADS * sqrt(lost))
			continue;
		below->needed = k;
		type->n_needed++;
		return;
	}
}

static void
check_kind(Finder *finder, guint32 span, guint32 child_type, guint32 n, guint32 *sum)
{
	guint32 at = wp_map_find(finder->pairs, wp_map_key(finder->types[span], child_type));
	const Below *below = &g_array_index(finder->below, Below, at);
	*sum += below->needed && n >= below->needed;
}

/* A call that SPAN made has no return, as others like it have. */
static gboolean
has_open_call(const Finder *finder, guint32 span)
{
	const WpPaths *paths = finder->paths;
	for (guint32 k = paths->child_at[span]; k < paths->child_at[span + 1]; k++) {
		const WpSpan *call = &finder->spans->spans[paths->children[k]];
		const Type *type = type_at(finder, finder->types[paths->children[k]]);
		if (call->kind == WP_KIND_CALL && !wp_span_is_paired(call) &&
		    type->n_open * 2 < type->n)
			return TRUE;
	}
	return FALSE;
}

static guint8
hole_of(Finder *finder, guint32 span)
{
	guint32 n_met = 0;
	if (!wp_span_is_paired(&finder->spans->spans[span]))
		return WP_HOLE_NONE;
	foreach_kind(finder, span, check_kind, &n_met);
	if (n_met < type_at(finder, finder->types[span])->n_needed)
		return WP_HOLE_CALL;
	/* Where nothing was lost, a call without a return was not answered, and its caller waited. */
	return finder->missing->all.n > 0 && has_open_call(finder, span) ? WP_HOLE_END
									 : WP_HOLE_NONE;
}

static void
estimate(Finder *finder, const guint8 *holes)
{
	WpPaths *paths = finder->paths;

	for (guint32 i = 0; i < paths->n; i++)
		if (paths->forms[i] != WP_NO_FORM && !holes[i] &&
		    wp_span_is_paired(&finder->spans->spans[i])) {
			Type *type = type_at(finder, finder->types[i]);
			type->n_whole++;
			type->whole_ns += (double)paths->self_ns[i];
		}
	for (guint32 i = 0; i < paths->n; i++)
		if (holes[i]) {
			const Type *type = type_at(finder, finder->types[i]);
			gint64 mean_ns = type->n_whole ? (gint64)(type->whole_ns / type->n_whole)
						       : G_MAXINT64;
			paths->self_ns[i] = MIN(paths->self_ns[i], mean_ns);
		}
}

guint8 *
wp_holes_find(const WpSpans *spans, WpPaths *paths, const WpMissing *missing)
{
	guint8 *holes = g_new0(guint8, (gsize)paths->n + 1);
	Finder finder = {
		.spans = spans,
		.paths = paths,
		.missing = missing,
		.numbers = wp_map_new(),
		.types = g_new0(guint32, (gsize)paths->n + 1),
		.all = g_array_new(FALSE, TRUE, sizeof(Type)),
		.pairs = wp_map_new(),
		.below = g_array_new(FALSE, TRUE, sizeof(Below)),
		.scratch = g_array_new(FALSE, FALSE, sizeof(guint32)),
	};

	number_types(&finder);
	for (guint32 i = 0; i < paths->n; i++)
		if (paths->forms[i] != WP_NO_FORM && wp_span_is_paired(&spans->spans[i]))
			foreach_kind(&finder, i, count_kind, NULL);
	for (guint i = 0; i < finder.below->len; i++)
		learn_needed(&finder, &g_array_index(finder.below, Below, i));
	for (guint32 i = 0; i < paths->n; i++)
		if (paths->forms[i] != WP_NO_FORM)
			holes[i] = hole_of(&finder, i);
	estimate(&finder, holes);
	wp_map_free(finder.numbers);
	wp_map_free(finder.pairs);
	g_free(finder.types);
	g_array_unref(finder.all);
	g_array_unref(finder.below);
	g_array_unref(finder.scratch);
	return holes;
}

/* Both in pre-order: each call of PART is the next in WHOLE that is like it, below the same one. */
gboolean
wp_holes_match(const WpSpans *spans, const GArray *part, const GArray *whole, guint32 *out_places)
{
	guint next = 0;

	for (guint i = 0; i < part->len; i++) {
		const WpPathStep *step = &g_array_index(part, WpPathStep, i);
		const WpSpan *span = &spans->spans[step->span];
		guint32 below = i ? out_places[step->parent] : G_MAXUINT32;
		for (;; next++) {
			if (next == whole->len)
				return FALSE;
			const WpPathStep *other = &g_array_index(whole, WpPathStep, next);
			const WpSpan *like = &spans->spans[other->span];
			if (other->parent == below && like->callee == span->callee &&
			    like->label == span->label)
				break;
		}
		out_places[i] = next++;
	}
	return TRUE;
}
