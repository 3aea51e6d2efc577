/*
 * The merged tree of an operation. From the roots down every span gets its places with a weight each: its
 * parent's places, as likely as that parent is, and those of the next best parent for the rest. Weights
 * of one span add up to 1. A span adds to its places its latency and its self time as found: children that are
 * in doubt come in pairs, one for the other, so that the parent is covered by one of them whatever is
 * right; taken as independent, they would leave it bare too often.
 */
#include "infer/places.h"

#include <stdlib.h>

#include "infer/map.h"
#include "infer/path.h"
#include "infer/pattern-sum.h"

/* Smaller weights are not followed, nor more places of one span. */
#define MIN_WEIGHT 0.001
#define MAX_SHARES 16

/* A weight of a span at a place. */
typedef struct {
	guint32 place;
	double weight;
	double delay_ns; /* call into the parent there to this call */
} Share;

typedef struct {
	WpPlace place; /* with sums for means */
	guint32 operation;
} Draft;

typedef struct {
	WpPatternSet *set;
	const WpSpan *spans;
	const WpLinks *links;
	const WpPaths *paths;
	const guint32 *node_ranks;
	const guint32 *label_ranks;
	GArray *drafts;    /* Draft */
	GArray *shares;    /* Share */
	guint32 *first;    /* by span: into shares */
	guint32 *n_shares; /* by span; 0 = not looked at, or on no path */
	WpMap *types;      /* (node, label) -> number */
	WpMap *places;     /* (place, type) -> draft */
} Builder;

/* How likely the parent of SPAN is right; the rest is its runner-up's. */
static double
odds_of(const Builder *builder, guint32 span)
{
	const WpLink *link = &builder->links->links[span];
	if (!builder->links->has_odds || link->probability < 0 || link->runner_up == WP_NO_SPAN)
		return 1;
	return (double)link->probability;
}

static guint32
type_of(Builder *builder, guint32 span)
{
	return wp_map_number(builder->types,
			     wp_map_key(builder->spans[span].callee, builder->spans[span].label));
}

/* The place of SPAN below PARENT; for roots PARENT is beyond all places, a number an operation. */
static guint32
get_place(Builder *builder, guint32 parent, guint32 operation, guint32 span)
{
	guint64 key = wp_map_key(parent == G_MAXUINT32 ? G_MAXUINT32 - operation : parent,
				 type_of(builder, span));
	guint32 number = wp_map_number(builder->places, key);

	if (number == builder->drafts->len) {
		Draft draft = { .operation = operation,
				.place = { .node = builder->spans[span].callee,
					   .label = builder->spans[span].label,
					   .protocol = builder->spans[span].protocol,
					   .parent = parent } };
		if (parent != G_MAXUINT32)
			draft.place.depth =
				g_array_index(builder->drafts, Draft, parent).place.depth + 1;
		g_array_append_val(builder->drafts, draft);
	}
	return number;
}

/* The I-th share of SPAN, which must be there: an array without shares has no memory to point into. */
static Share *
get_share(Builder *builder, guint32 span, guint32 i)
{
	return &g_array_index(builder->shares, Share, builder->first[span] + i);
}

static void
add_share(Builder *builder, guint32 span, guint32 place, double weight, double delay_ns)
{
	guint32 n = builder->n_shares[span];

	for (guint32 i = 0; i < n; i++) {
		Share *own = get_share(builder, span, i);
		if (own->place == place) {
			double sum = own->weight + weight;
			own->delay_ns = (own->delay_ns * own->weight + delay_ns * weight) / sum;
			own->weight = sum;
			return;
		}
	}
	Share share = { place, weight, delay_ns };
	g_array_append_val(builder->shares, share);
	builder->n_shares[span]++;
}

/* The places below those of PARENT, as likely as ODDS. */
static void
follow(Builder *builder, guint32 span, guint32 parent, double odds)
{
	double delay_ns =
		(double)(builder->spans[span].call_ns - wp_span_served_ns(&builder->spans[parent]));

	for (guint32 i = 0; i < builder->n_shares[parent]; i++) {
		Share share = *get_share(builder, parent, i);
		gboolean has_room = builder->n_shares[span] < MAX_SHARES;
		if (builder->n_shares[span] && (share.weight * odds < MIN_WEIGHT || !has_room))
			continue; /* a place that nothing is at would have no mean */
		guint32 operation = g_array_index(builder->drafts, Draft, share.place).operation;
		guint32 place = get_place(builder, share.place, operation, span);
		add_share(builder, span, place, share.weight * odds, delay_ns);
	}
}

/* Weights that were not followed go to the rest. */
static void
balance(Builder *builder, guint32 span)
{
	double sum = 0;

	for (guint32 i = 0; i < builder->n_shares[span]; i++)
		sum += get_share(builder, span, i)->weight;
	for (guint32 i = 0; i < builder->n_shares[span] && sum > 0; i++)
		get_share(builder, span, i)->weight /= sum;
}

/* OPERATION: of a root. */
static void
share_out(Builder *builder, guint32 span, guint32 operation)
{
	const WpLink *link = &builder->links->links[span];
	double odds = odds_of(builder, span);

	builder->first[span] = builder->shares->len;
	if (link->parent == WP_NO_SPAN) {
		add_share(builder, span, get_place(builder, G_MAXUINT32, operation, span), 1, 0);
		return;
	}
	if (odds < 1 && !builder->n_shares[link->runner_up])
		odds = 1;
	follow(builder, span, link->parent, odds);
	if (odds < 1)
		follow(builder, span, link->runner_up, 1 - odds);
	balance(builder, span);
}

/* --- sums --- */

static void
add_span(Builder *builder, guint32 number)
{
	const WpSpan *span = &builder->spans[number];
	gint64 end_ns = builder->paths->end_ns[number];
	gboolean is_timed = end_ns != WP_NO_TIME;
	double latency = is_timed ? (double)(end_ns - span->call_ns) : 0;
	double self = is_timed ? (double)builder->paths->self_ns[number] : 0;

	for (guint32 i = 0; i < builder->n_shares[number]; i++) {
		const Share *share = get_share(builder, number, i);
		Draft *draft = &g_array_index(builder->drafts, Draft, share->place);
		WpPlace *place = &draft->place;
		place->calls += share->weight;
		place->messages += span->kind == WP_KIND_MESSAGE ? share->weight : 0;
		place->errors += wp_span_is_error(span) ? share->weight : 0;
		place->latency_ns += share->weight * latency;
		place->self_ns += share->weight * self;
		place->delay_ns += share->weight * share->delay_ns;
		place->timed += is_timed ? share->weight : 0;
		place->waiting += span->marks & WP_MARK_WAIT ? share->weight : 0;
	}
}

/* Parents come before their children. */
static void
walk(Builder *builder)
{
	const WpPaths *paths = builder->paths;
	const WpPatternSet *set = builder->set;
	g_autoptr(WpMap) roots = wp_map_new(), by_root = wp_map_new();
	g_autofree guint32 *order = wp_paths_by_depth(paths);

	for (guint32 i = 0; i < set->n_operations; i++) {
		const WpOperation *operation = &set->operations[i];
		guint32 root = wp_map_number(roots, wp_map_key(operation->client, operation->node));
		*wp_map_at(by_root, wp_map_key(root, operation->label), i) = i;
	}
	for (guint32 i = 0; i < paths->n_roots; i++) {
		const WpSpan *span = &builder->spans[paths->roots[i]];
		guint32 root = wp_map_number(roots, wp_map_key(span->caller, span->callee));
		share_out(builder, paths->roots[i],
			  wp_map_find(by_root, wp_map_key(root, span->label)));
	}
	for (guint32 i = paths->n_roots; i < paths->n_on_paths; i++)
		share_out(builder, order[i], 0);
	for (guint32 i = 0; i < paths->n_on_paths; i++)
		add_span(builder, order[i]);
}

/* --- order --- */

/* By parent, roots last; siblings by their mean delay, then by name. */
static int
compare_drafts(gconstpointer a, gconstpointer b, gpointer data)
{
	const Builder *builder = data;
	const Draft *left = &g_array_index(builder->drafts, Draft, *(const guint32 *)a);
	const Draft *right = &g_array_index(builder->drafts, Draft, *(const guint32 *)b);
	const WpPlace *x = &left->place, *y = &right->place;
	double delay_x = x->delay_ns / x->calls, delay_y = y->delay_ns / y->calls;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (delay_x != delay_y)
		return delay_x < delay_y ? -1 : 1;
	int order = wp_path_compare(builder->node_ranks, x->node, y->node);
	return order ? order : wp_path_compare(builder->label_ranks, x->label, y->label);
}

/* Puts DRAFT and all below it behind the places of its operation. CHILD_AT: as in WpPaths, of ORDER. */
static void
put_tree(const Builder *builder, guint32 root, const guint32 *order, const guint32 *child_at,
	 GArray *places)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint64));
	guint64 step = wp_map_key(G_MAXUINT32, root);

	g_array_append_val(stack, step);
	while (stack->len) {
		step = g_array_index(stack, guint64, stack->len - 1);
		g_array_set_size(stack, stack->len - 1);
		guint32 number = (guint32)step;
		const Draft *draft = &g_array_index(builder->drafts, Draft, number);
		WpPlace place = draft->place;
		place.parent = (guint32)(step >> 32);
		place.waits = place.waiting * 2 > place.calls;
		place.latency_ns = place.timed > 0 ? place.latency_ns / place.timed : 0;
		place.delay_ns /= place.calls;
		g_array_append_val(places, place);
		for (guint32 k = child_at[number + 1]; k-- > child_at[number];) {
			step = wp_map_key(places->len - 1, order[k]);
			g_array_append_val(stack, step);
		}
	}
}

/* (transfer full) Drafts by parent; those below draft i stand at [child_at[i], child_at[i + 1]). */
static guint32 *
order_drafts(Builder *builder, guint32 *child_at)
{
	guint32 n = builder->drafts->len, sum = 0;
	guint32 *order = g_new(guint32, (gsize)n + 1);

	for (guint32 i = 0; i < n; i++) {
		guint32 parent = g_array_index(builder->drafts, Draft, i).place.parent;
		order[i] = i;
		if (parent != G_MAXUINT32)
			child_at[parent + 1]++;
	}
	for (guint32 i = 0; i <= n; i++) {
		sum += child_at[i];
		child_at[i] = sum;
	}
	g_qsort_with_data(order, (gint)n, sizeof *order, compare_drafts, builder);
	return order;
}

static int
compare_nodes(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpOperationNode *left = a, *right = b;
	const Builder *builder = data;

	if (left->self_ns != right->self_ns)
		return left->self_ns > right->self_ns ? -1 : 1;
	int order = wp_path_compare(builder->node_ranks, left->node, right->node);
	return order ? order : wp_path_compare(builder->label_ranks, left->label, right->label);
}

/* Sums the places of OPERATION by node and label. */
static void
sum_nodes(Builder *builder, WpOperation *operation)
{
	g_autoptr(WpMap) numbers = wp_map_new();
	GArray *nodes = g_array_new(FALSE, TRUE, sizeof(WpOperationNode));

	for (guint32 i = 0; i < operation->n_places; i++) {
		const WpPlace *place = &operation->places[i];
		guint32 number = wp_map_number(numbers, wp_map_key(place->node, place->label));
		if (number == nodes->len) {
			WpOperationNode made = { .node = place->node, .label = place->label };
			g_array_append_val(nodes, made);
		}
		WpOperationNode *node = &g_array_index(nodes, WpOperationNode, number);
		node->calls += place->calls;
		node->messages += place->messages;
		node->self_ns += place->self_ns;
		node->errors += place->errors;
	}
	g_array_sort_with_data(nodes, compare_nodes, builder);
	operation->n_nodes = nodes->len;
	operation->nodes = (WpOperationNode *)(void *)g_array_free(nodes, FALSE);
}

/* Every operation has one root place, as it is what its requests begin with. */
static void
finish(Builder *builder)
{
	guint32 n = builder->drafts->len;
	g_autofree guint32 *child_at = g_new0(guint32, (gsize)n + 1);
	g_autofree guint32 *order = order_drafts(builder, child_at);

	for (guint32 i = child_at[n]; i < n; i++) {
		guint32 number = g_array_index(builder->drafts, Draft, order[i]).operation;
		WpOperation *operation = &builder->set->operations[number];
		GArray *places = g_array_new(FALSE, FALSE, sizeof(WpPlace));
		put_tree(builder, order[i], order, child_at, places);
		operation->n_places = places->len;
		operation->places = (WpPlace *)(void *)g_array_free(places, FALSE);
		sum_nodes(builder, operation);
	}
}

void
wp_places_gather(WpPatternSet *set, const WpSpans *spans, const WpLinks *links,
		 const WpPaths *paths, const guint32 *node_ranks, const guint32 *label_ranks)
{
	g_autoptr(GArray) drafts = g_array_new(FALSE, FALSE, sizeof(Draft));
	g_autoptr(GArray) shares = g_array_new(FALSE, FALSE, sizeof(Share));
	g_autoptr(WpMap) types = wp_map_new(), places = wp_map_new();
	Builder builder = {
		.set = set,
		.spans = spans->spans,
		.links = links,
		.paths = paths,
		.node_ranks = node_ranks,
		.label_ranks = label_ranks,
		.drafts = drafts,
		.shares = shares,
		.types = types,
		.places = places,
		.first = g_new0(guint32, (gsize)spans->n + 1),
		.n_shares = g_new0(guint32, (gsize)spans->n + 1),
	};

	walk(&builder);
	finish(&builder);
	g_free(builder.first);
	g_free(builder.n_shares);
}

/* --- sums --- */

struct WpPlaceSum {
	GArray *drafts; /* Draft; operation is the number of the root. Parents come first. */
	WpMap *types;   /* (node, label) -> number */
	WpMap *places;  /* (place, type) -> draft */
	guint64 n_folded;
};

WpPlaceSum *
wp_place_sum_new(void)
{
	WpPlaceSum *sum = g_new0(WpPlaceSum, 1);

	sum->drafts = g_array_new(FALSE, FALSE, sizeof(Draft));
	sum->types = wp_map_new();
	sum->places = wp_map_new();
	return sum;
}

void
wp_place_sum_free(WpPlaceSum *sum)
{
	if (!sum)
		return;
	g_array_unref(sum->drafts);
	wp_map_free(sum->types);
	wp_map_free(sum->places);
	g_free(sum);
}

/* Adds DRAFT, whose parent is PARENT here; returns its number, or G_MAXUINT32 where there is no room. */
static guint32
sum_draft(WpPlaceSum *sum, const Draft *draft, guint32 parent)
{
	const WpPlace *from = &draft->place;
	guint32 type = wp_map_number(sum->types, wp_map_key(from->node, from->label));
	guint64 key =
		wp_map_key(parent == G_MAXUINT32 ? G_MAXUINT32 - draft->operation : parent, type);
	guint32 number = wp_map_find(sum->places, key);

	if (number == WP_MAP_NONE) {
		if (parent != G_MAXUINT32 && sum->drafts->len >= WP_PATTERN_SUM_MAX_PLACES) {
			sum->n_folded++;
			return G_MAXUINT32;
		}
		number = sum->drafts->len;
		*wp_map_at(sum->places, key, number) = number;
		g_array_append_val(sum->drafts, *draft);
		g_array_index(sum->drafts, Draft, number).place.parent = parent;
		return number;
	}
	WpPlace *to = &g_array_index(sum->drafts, Draft, number).place;
	to->calls += from->calls;
	to->messages += from->messages;
	to->errors += from->errors;
	to->latency_ns += from->latency_ns;
	to->delay_ns += from->delay_ns;
	to->self_ns += from->self_ns;
	to->timed += from->timed;
	to->waiting += from->waiting;
	return number;
}

void
wp_place_sum_add(WpPlaceSum *sum, guint32 root, const WpOperation *operation)
{
	g_autofree guint32 *numbers = g_new(guint32, (gsize)operation->n_places + 1);

	for (guint32 i = 0; i < operation->n_places; i++) {
		Draft draft = { .place = operation->places[i], .operation = i ? 0 : root };
		guint32 parent = i ? numbers[draft.place.parent] : G_MAXUINT32;
		draft.place.latency_ns *= draft.place.timed;
		draft.place.delay_ns *= draft.place.calls;
		numbers[i] =
			i && parent == G_MAXUINT32 ? G_MAXUINT32 : sum_draft(sum, &draft, parent);
	}
}

void
wp_place_sum_move(WpPlaceSum *sum, const guint32 *roots, const WpResolved *resolved)
{
	g_autoptr(GArray) old = g_steal_pointer(&sum->drafts);
	g_autofree guint32 *numbers = g_new(guint32, (gsize)old->len + 1);

	wp_map_free(sum->types);
	wp_map_free(sum->places);
	sum->types = wp_map_new();
	sum->places = wp_map_new();
	sum->drafts = g_array_new(FALSE, FALSE, sizeof(Draft));
	for (guint32 i = 0; i < old->len; i++) {
		Draft draft = g_array_index(old, Draft, i);
		gboolean is_root = draft.place.parent == G_MAXUINT32;
		draft.place.node = wp_resolved_callee_now(resolved, draft.place.node);
		draft.place.label =
			wp_resolved_label_now(resolved, draft.place.node, draft.place.label);
		draft.operation = is_root ? roots[draft.operation] : 0;
		numbers[i] =
			sum_draft(sum, &draft, is_root ? G_MAXUINT32 : numbers[draft.place.parent]);
	}
}

void
wp_place_sum_finish(const WpPlaceSum *sum, WpPatternSet *set, const guint32 *operations,
		    const guint32 *node_ranks, const guint32 *label_ranks)
{
	g_autoptr(GArray) drafts = g_array_copy(sum->drafts);
	Builder builder = {
		.set = set, .node_ranks = node_ranks, .label_ranks = label_ranks, .drafts = drafts
	};

	for (guint32 i = 0; i < drafts->len; i++) {
		Draft *draft = &g_array_index(drafts, Draft, i);
		if (draft->place.parent == G_MAXUINT32)
			draft->operation = operations[draft->operation];
	}
	finish(&builder);
}

GArray *
wp_place_sum_labels(const WpPlaceSum *sum, const WpNodes *nodes)
{
	GArray *names = g_array_new(FALSE, FALSE, sizeof(WpRankedText));
	g_autoptr(WpMap) seen = wp_map_new();

	for (guint32 i = 0; i < sum->drafts->len; i++) {
		guint32 label = g_array_index(sum->drafts, Draft, i).place.label;
		WpRankedText name = { wp_nodes_text(nodes, label), label };
		if (wp_map_number(seen, label) == names->len)
			g_array_append_val(names, name);
	}
	return names;
}

guint64
wp_place_sum_n_folded(const WpPlaceSum *sum)
{
	return sum->n_folded;
}
