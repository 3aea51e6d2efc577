/*
 * Patterns: the paths that WpPaths found, gathered by form (the paper, 5.1.1.4).
 *
 * One walk over each path adds its times to the nodes of its pattern. What needs all instances at once
 * (exemplars) or all patterns (order, operations) comes afterwards. The order of everything depends
 * on values and names alone.
 */
#include "infer/pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/critical.h"
#include "infer/holes.h"
#include "infer/map.h"
#include "infer/operation.h"
#include "infer/path.h"
#include "infer/pattern-private.h"
#include "infer/places.h"
#include "infer/spent.h"

G_DEFINE_QUARK(wp - infer - error - quark, wp_infer_error)

/* Operations that only ask whether a service is alive: last word of the label, or its path. */
static const char *const health_checks[] = {
	"/health",    "/healthz", "/healthcheck",     "/livez",   "/readyz",
	"/-/healthy", "/-/ready", "/actuator/health", "/metrics", "grpc.health.v1.Health/Check",
	"PING",
};

/*
 * A pattern is what most answers that are about as likely agree on. Where its requests take other paths in
 * more than half of them, link errors explain it.
 */
#define CERTAIN_ENOUGH 0.5

/* The typical instance is looked for among the middle tenth by latency, but not among more than so many. */
#define TYPICAL_PART 20
#define MAX_TYPICAL  64

/* What a pattern needs only while it is made. */
typedef struct {
	WpPattern pattern;
	guint32 example; /* root of an instance without holes */
} Draft;

/* One instance of a pattern. */
typedef struct {
	guint32 pattern; /* number of the draft */
	guint32 span;
	gint64 latency_ns;
} Instance;

typedef struct {
	const WpResolved *resolved;
	const WpSpan *spans;
	const WpRecord *records;
	const WpLinks *links;
	WpPaths *paths;
	guint8 *holes; /* by span: WpHole */
	WpPatternRanks ranks;
	GArray *drafts;    /* Draft */
	GArray *instances; /* Instance, by root */
	WpKeep *keep;      /* or NULL */
	GArray *calls;     /* WpCriticalCall, of the path at hand */
	GArray *parts;     /* gint64: of each, its part of the critical path */
	guint8 *is_kept;   /* by span: a root whose request is kept; NULL = the slowest are */
} Builder;

guint32 *
wp_pattern_rank_nodes(const WpResolved *resolved)
{
	guint32 n = wp_resolved_n_nodes(resolved);
	guint32 *ranks = g_new0(guint32, n + 1);
	g_autofree WpRankedText *names = g_new(WpRankedText, n + 1);

	for (guint32 i = 0; i < n; i++)
		names[i] = (WpRankedText){ wp_resolved_node_name(resolved, i), i };
	wp_path_rank_texts(names, n, ranks);
	return ranks;
}

/* Ranks of the strings that are labels of spans; 0 for the others. */
static guint32 *
rank_labels(const WpResolved *resolved)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	WpNodes *nodes = wp_trace_nodes(wp_resolved_trace(resolved));
	guint32 n = wp_strings_count(wp_nodes_strings(nodes));
	guint32 *ranks = g_new0(guint32, n + 1);
	g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(WpRankedText));

	for (guint32 i = 0; i < spans->n; i++) {
		guint32 label = spans->spans[i].label;
		if (!ranks[label]) {
			WpRankedText name = { wp_nodes_text(nodes, label), label };
			g_array_append_val(names, name);
			ranks[label] = 1;
		}
	}
	wp_path_rank_texts((WpRankedText *)(void *)names->data, names->len, ranks);
	return ranks;
}

static void
draft_init(Draft *draft, const Builder *builder, const GArray *steps)
{
	WpPattern *pattern = &draft->pattern;
	guint32 n = steps->len;

	*draft = (Draft){ 0 };
	pattern->n_nodes = n;
	pattern->nodes = g_new0(WpPatternNode, n);
	for (guint32 i = 0; i < n; i++) {
		const WpPathStep *step = &g_array_index(steps, WpPathStep, i);
		const WpSpan *span = &builder->spans[step->span];
		pattern->nodes[i] = (WpPatternNode){
			.node = span->callee,
			.label = span->label,
			.protocol = span->protocol,
			.parent = step->parent,
			.depth = step->depth,
			.latency = wp_delay_new(),
			.self_time = wp_delay_new(),
			.call_delay = i ? wp_delay_new() : NULL,
			.server_time = wp_delay_new(),
			.network_time = wp_delay_new(),
		};
	}
	pattern->client = builder->spans[g_array_index(steps, WpPathStep, 0).span].caller;
}

static guint64
record_bytes(const Builder *builder, guint32 record)
{
	if (record == G_MAXUINT32 || builder->records[record].bytes == WP_NO_SIZE)
		return 0;
	return builder->records[record].bytes;
}

/* TRUE where call and return were captured at both ends. */
static gboolean
is_seen_twice(const Builder *builder, const WpSpan *span)
{
	return span->call_record != G_MAXUINT32 && span->return_record != G_MAXUINT32 &&
	       builder->records[span->call_record].marks &
		       builder->records[span->return_record].marks & WP_MARK_BOTH_ENDS;
}

/* Adds one span to its place in the pattern; PARENT is NULL for the root. */
static void
draft_add(Draft *draft, const Builder *builder, guint32 place, guint32 number, const WpSpan *parent)
{
	WpPatternNode *node = &draft->pattern.nodes[place];
	const WpSpan *span = &builder->spans[number];
	float probability = builder->links->links[number].probability;

	gint64 end_ns = builder->paths->end_ns[number];
	if (end_ns != WP_NO_TIME) {
		wp_delay_add(node->latency, end_ns - span->call_ns);
		if (!builder->holes[number]) {
			wp_delay_add(node->self_time, builder->paths->self_ns[number]);
			node->connecting_ns += wp_spent_connecting_ns(
				wp_resolved_trace(builder->resolved),
				wp_resolved_spans(builder->resolved), builder->paths, number);
		}
	}
	if (wp_span_is_paired(span)) {
		wp_delay_add(node->server_time, span->return_begin_ns - span->call_end_ns);
		if (is_seen_twice(builder, span))
			wp_delay_add(node->network_time,
				     MAX(span->way_in_ns + span->way_out_ns, 0));
	}
	if (parent)
		wp_delay_add(node->call_delay, span->call_ns - wp_span_served_ns(parent));
	node->n_messages += span->kind == WP_KIND_MESSAGE;
	node->n_parallel += builder->paths->overlaps[number];
	node->errors += wp_span_is_error(span);
	node->bytes_call += record_bytes(builder, span->call_record);
	node->bytes_return += record_bytes(builder, span->return_record);
	if (probability >= 0) {
		node->probability += (double)probability;
		node->n_probable++;
	}
	node->n_waits += (span->marks & WP_MARK_WAIT) != 0;
}

/* Adds how sure the path of an instance is, and its links. */
static void
draft_add_odds(Draft *draft, const Builder *builder, const GArray *steps)
{
	const WpLinks *links = builder->links;
	guint32 root = g_array_index(steps, WpPathStep, 0).span;
	double product = 1;

	if (links->path_odds && links->path_odds[root] >= 0) {
		draft->pattern.path_odds += (double)links->path_odds[root];
		draft->pattern.n_judged++;
	}
	for (guint32 i = 1; i < steps->len; i++) {
		guint32 span = g_array_index(steps, WpPathStep, i).span;
		if (links->links[span].probability < 0)
			return;
		product *= (double)links->links[span].probability;
	}
	draft->pattern.links_odds += product;
	draft->pattern.n_linked++;
}

/*
 * Sets builder->parts. Where no two children are open at once and none outlives its parent the path is all of it: the self
 * times are the parts.
 */
static void
find_critical(Builder *builder, const GArray *steps)
{
	const WpPaths *paths = builder->paths;
	gboolean is_plain = TRUE;

	g_array_set_size(builder->calls, steps->len);
	g_array_set_size(builder->parts, steps->len);
	for (guint32 i = 0; i < steps->len; i++) {
		const WpPathStep *step = &g_array_index(steps, WpPathStep, i);
		WpCriticalCall *call = &g_array_index(builder->calls, WpCriticalCall, i);
		const WpSpan *span = &builder->spans[step->span];
		*call = (WpCriticalCall){ step->parent, span->call_ns, paths->end_ns[step->span] };
		g_array_index(builder->parts, gint64, i) = paths->self_ns[step->span];
		is_plain = is_plain && !paths->overlaps[step->span] && call->end_ns != WP_NO_TIME &&
			   span->way_in_ns == 0 && span->way_out_ns == 0 &&
			   (i == 0 || call->end_ns <= g_array_index(builder->calls, WpCriticalCall,
								    step->parent)
							      .end_ns);
	}
	if (!is_plain)
		wp_critical_path((const WpCriticalCall *)(void *)builder->calls->data, steps->len,
				 (gint64 *)(void *)builder->parts->data);
}

/* Adds a path; PLACES: of each of its STEPS in the pattern, NULL: the same. */
static void
draft_add_path(Builder *builder, guint32 number, const GArray *steps, const guint32 *places)
{
	Draft *draft = &g_array_index(builder->drafts, Draft, number);
	guint32 root = g_array_index(steps, WpPathStep, 0).span;
	const WpSpan *span = &builder->spans[root];
	gint64 end_ns = builder->paths->end_ns[root];
	Instance instance = { number, root, MAX(end_ns, span->call_ns) - span->call_ns };

	g_array_append_val(builder->instances, instance);
	draft->pattern.count++;
	draft_add_odds(draft, builder, steps);
	find_critical(builder, steps);
	for (guint32 k = 0; places && k < draft->pattern.n_nodes; k++)
		draft->pattern.nodes[k].n_lost++;
	for (guint32 k = 0; k < steps->len; k++) {
		const WpPathStep *step = &g_array_index(steps, WpPathStep, k);
		guint32 place = places ? places[k] : k;
		const WpSpan *parent = NULL;
		if (k > 0)
			parent = &builder->spans[g_array_index(steps, WpPathStep, step->parent)
							 .span];
		draft->pattern.nodes[place].n_lost -= places != NULL;
		draft_add(draft, builder, place, step->span, parent);
		draft->pattern.nodes[place].critical_ns +=
			(guint64)MAX(g_array_index(builder->parts, gint64, k), 0);
	}
}

static guint32
get_draft(Builder *builder, WpMap *by_form, const GArray *steps)
{
	guint32 root = g_array_index(steps, WpPathStep, 0).span;
	guint64 key = wp_map_key(builder->spans[root].caller, builder->paths->forms[root]);
	guint32 number = wp_map_number(by_form, key);

	if (number == builder->drafts->len) {
		g_array_set_size(builder->drafts, number + 1);
		Draft *draft = &g_array_index(builder->drafts, Draft, number);
		draft_init(draft, builder, steps);
		draft->example = root;
	}
	return number;
}

static gboolean
has_hole(const Builder *builder, const GArray *steps)
{
	for (guint i = 0; i < steps->len; i++)
		if (builder->holes[g_array_index(steps, WpPathStep, i).span] == WP_HOLE_CALL)
			return TRUE;
	return FALSE;
}

/*
 * The most frequent of the first N_DRAFTS patterns that STEPS would be without their holes, or G_MAXUINT32;
 * sets PLACES.
 */
static guint32
find_whole(const Builder *builder, const GArray *steps, guint32 n_drafts, guint32 *places)
{
	g_autoptr(GArray) whole = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	const WpSpan *span = &builder->spans[g_array_index(steps, WpPathStep, 0).span];
	const WpSpans *spans = wp_resolved_spans(builder->resolved);
	guint32 best = G_MAXUINT32;

	for (guint32 i = 0; i < n_drafts; i++) {
		const Draft *draft = &g_array_index(builder->drafts, Draft, i);
		const WpPatternNode *root = &draft->pattern.nodes[0];
		if (draft->pattern.client != span->caller || root->node != span->callee ||
		    root->label != span->label || draft->pattern.n_nodes <= steps->len ||
		    (best != G_MAXUINT32 &&
		     draft->pattern.count <=
			     g_array_index(builder->drafts, Draft, best).pattern.count))
			continue;
		wp_paths_walk(builder->paths, draft->example, whole);
		if (wp_holes_match(spans, steps, whole, places))
			best = i;
	}
	if (best != G_MAXUINT32) {
		wp_paths_walk(builder->paths, g_array_index(builder->drafts, Draft, best).example,
			      whole);
		wp_holes_match(spans, steps, whole, places);
	}
	return best;
}

/* Adds the paths with holes to what they would be without; where nothing is, to patterns of their own. */
static void
gather_holed(Builder *builder, WpMap *by_form, const GArray *holed, WpPatternSet *set)
{
	g_autoptr(WpMap) wholes = wp_map_new(); /* form -> draft */
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GArray) whole = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	const WpSpans *spans = wp_resolved_spans(builder->resolved);
	guint32 n_drafts = builder->drafts->len;

	for (guint i = 0; i < holed->len; i++) {
		guint32 root = g_array_index(holed, guint32, i);
		wp_paths_walk(builder->paths, root, steps);
		g_array_set_size(places, steps->len);
		guint32 *at = (guint32 *)(void *)places->data;
		guint32 known = wp_map_count(wholes);
		guint32 *found = wp_map_at(
			wholes,
			wp_map_key(builder->spans[root].caller, builder->paths->forms[root]), 0);
		if (wp_map_count(wholes) > known) {
			*found = find_whole(builder, steps, n_drafts, at);
		} else if (*found != G_MAXUINT32) {
			wp_paths_walk(builder->paths,
				      g_array_index(builder->drafts, Draft, *found).example, whole);
			wp_holes_match(spans, steps, whole, at);
		}
		guint32 number = *found;
		if (number == G_MAXUINT32) {
			number = get_draft(builder, by_form, steps);
			g_array_index(builder->drafts, Draft, number).pattern.has_hole = TRUE;
			at = NULL;
		}
		set->n_holed += at != NULL;
		draft_add_path(builder, number, steps, at);
	}
}

/* Adds each path to the pattern of its client and form. */
static void
gather_paths(Builder *builder, WpPatternSet *set)
{
	g_autoptr(WpMap) by_form = wp_map_new();
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	g_autoptr(GArray) holed = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (guint32 i = 0; i < builder->paths->n_roots; i++) {
		wp_paths_walk(builder->paths, builder->paths->roots[i], steps);
		if (has_hole(builder, steps))
			g_array_append_val(holed, builder->paths->roots[i]);
		else
			draft_add_path(builder, get_draft(builder, by_form, steps), steps, NULL);
	}
	gather_holed(builder, by_form, holed, set);
	for (guint32 i = 0; i < builder->paths->n; i++)
		set->n_estimated += builder->holes[i] != WP_HOLE_NONE;
}

static gboolean
is_health_check(const char *label)
{
	const char *space = strrchr(label, ' ');
	const char *last = space ? space + 1 : label;

	for (gsize i = 0; i < G_N_ELEMENTS(health_checks); i++)
		if (strcmp(last, health_checks[i]) == 0)
			return TRUE;
	return FALSE;
}

void
wp_pattern_judge(WpPattern *pattern, WpNodes *nodes)
{
	WpPatternNode *root = &pattern->nodes[0];

	for (guint32 i = 0; i < pattern->n_nodes; i++)
		pattern->nodes[i].waits =
			pattern->nodes[i].n_waits * 2 > pattern->count - pattern->nodes[i].n_lost;
	pattern->is_uncertain =
		pattern->has_hole || (pattern->n_judged && pattern->path_odds < CERTAIN_ENOUGH);
	pattern->total_ns = wp_delay_sum_ns(root->latency);
	pattern->is_background = root->waits || is_health_check(wp_nodes_text(nodes, root->label));
}

/* Sums become means. */
static void
draft_finish(Draft *draft, const Builder *builder)
{
	WpPattern *pattern = &draft->pattern;

	for (guint32 i = 0; i < pattern->n_nodes; i++) {
		WpPatternNode *node = &pattern->nodes[i];
		node->probability =
			node->n_probable ? node->probability / (double)node->n_probable : -1;
	}
	pattern->path_odds =
		pattern->n_judged ? pattern->path_odds / (double)pattern->n_judged : -1;
	pattern->links_odds =
		pattern->n_linked ? pattern->links_odds / (double)pattern->n_linked : -1;
	wp_pattern_judge(pattern, wp_trace_nodes(wp_resolved_trace(builder->resolved)));
}

/* Order of two different patterns by their trees: client, then nodes in pre-order. */
static int
compare_trees(const WpPattern *left, const WpPattern *right, const WpPatternRanks *ranks)
{
	guint32 n = MIN(left->n_nodes, right->n_nodes);
	int order = wp_path_compare(ranks->nodes, left->client, right->client);

	for (guint32 i = 0; order == 0 && i < n; i++) {
		const WpPatternNode *a = &left->nodes[i], *b = &right->nodes[i];
		order = a->depth < b->depth ? 1 : a->depth > b->depth ? -1 : 0;
		if (order == 0)
			order = wp_path_compare(ranks->nodes, a->node, b->node);
		if (order == 0)
			order = wp_path_compare(ranks->labels, a->label, b->label);
	}
	return order ? order : (left->n_nodes > right->n_nodes) - (left->n_nodes < right->n_nodes);
}

int
wp_pattern_compare(const WpPattern *left, const WpPattern *right, const WpPatternRanks *ranks)
{
	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return compare_trees(left, right, ranks);
}

static int
compare_drafts(gconstpointer a, gconstpointer b, gpointer data)
{
	const Builder *builder = data;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;

	return wp_pattern_compare(&g_array_index(builder->drafts, Draft, i).pattern,
				  &g_array_index(builder->drafts, Draft, j).pattern,
				  &builder->ranks);
}

static int
compare_instances(const void *a, const void *b)
{
	const Instance *left = a, *right = b;

	if (left->pattern != right->pattern)
		return left->pattern < right->pattern ? -1 : 1;
	if (left->latency_ns != right->latency_ns)
		return left->latency_ns < right->latency_ns ? -1 : 1;
	return left->span < right->span ? -1 : left->span > right->span;
}

/* (transfer full) The whole of an instance of PATTERN, which was made from the path of EXAMPLE. */
static WpInstance *
instance_of(const Builder *builder, const WpPattern *pattern, guint32 example, guint32 root)
{
	WpInstanceSource source = { builder->resolved, builder->paths, builder->links,
				    builder->holes };
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	wp_paths_walk(builder->paths, root, steps);
	if (steps->len == pattern->n_nodes)
		return wp_instance_new(&source, steps, NULL);
	g_autoptr(GArray) whole = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	g_autofree guint32 *places = g_new(guint32, (gsize)steps->len + 1);
	wp_paths_walk(builder->paths, example, whole);
	wp_holes_match(wp_resolved_spans(builder->resolved), steps, whole, places);
	return wp_instance_new(&source, steps, places);
}

double
wp_pattern_distance_ns(const WpPattern *pattern, const WpInstance *instance)
{
	double sum = 0;

	for (guint32 i = 0; i < instance->n_calls; i++) {
		const WpInstanceCall *call = &instance->calls[i];
		if (call->place < pattern->n_nodes)
			sum += fabs((double)call->self_ns -
				    (double)wp_delay_quantile_ns(
					    pattern->nodes[call->place].self_time, 0.5));
	}
	/* One that lacks a call is not typical. */
	return sum + (instance->n_calls < pattern->n_nodes ? pattern->total_ns : 0);
}

/* The number of the most typical of the instances, fastest first. */
static guint64
find_typical(const Builder *builder, const WpPattern *pattern, guint32 example,
	     const Instance *instances)
{
	guint64 middle = (pattern->count - 1) / 2;
	guint64 reach = MIN(pattern->count / TYPICAL_PART, MAX_TYPICAL / 2);
	guint64 best = middle;
	double nearest = HUGE_VAL;

	for (guint64 i = middle - MIN(reach, middle); reach && i <= middle + reach; i++) {
		g_autoptr(WpInstance) instance =
			instance_of(builder, pattern, example, instances[i].span);
		double distance = wp_pattern_distance_ns(pattern, instance);
		if (distance < nearest) {
			nearest = distance;
			best = i;
		}
	}
	return best;
}

/* Sets the exemplars of a pattern from its instances, fastest first. */
static void
set_exemplars(const Builder *builder, WpPattern *pattern, guint32 example,
	      const Instance *instances)
{
	static const double quantiles[WP_PATTERN_N_EXEMPLARS] = { 0.5, 0.5, 0.95, 0.99, 1 };

	pattern->n_exemplars = WP_PATTERN_N_EXEMPLARS;
	pattern->exemplars = g_new0(WpExemplar, WP_PATTERN_N_EXEMPLARS);
	for (guint i = 0; i < WP_PATTERN_N_EXEMPLARS; i++) {
		WpExemplar *exemplar = &pattern->exemplars[i];
		guint64 rank = (guint64)ceil(quantiles[i] * (double)pattern->count);
		guint64 at = i == WP_PATTERN_TYPICAL
				     ? find_typical(builder, pattern, example, instances)
				     : MAX(rank, 1) - 1;
		const WpSpan *span = &builder->spans[instances[at].span];
		const WpRecord *call = &builder->records[span->call_record];
		*exemplar = (WpExemplar){ .quantile = quantiles[i],
					  .begin_ns = span->call_ns,
					  .latency_ns = instances[at].latency_ns,
					  .id = call->id,
					  .packet = call->packet,
					  .tap = call->tap };
		for (guint k = 0; k < i && !exemplar->instance; k++)
			if (pattern->exemplars[k].begin_ns == exemplar->begin_ns &&
			    pattern->exemplars[k].id == exemplar->id)
				exemplar->instance =
					wp_instance_ref(pattern->exemplars[k].instance);
		if (!exemplar->instance)
			exemplar->instance =
				instance_of(builder, pattern, example, instances[at].span);
	}
}

/* Keeps of INSTANCES, fastest first, what was asked for. */
static void
keep_instances(const Builder *builder, WpPattern *pattern, guint32 example,
	       const Instance *instances)
{
	if (!builder->keep)
		return;
	for (guint64 i = pattern->count; i-- > 0;) {
		gboolean is_wanted =
			builder->is_kept
				? builder->is_kept[instances[i].span]
				: !pattern->is_background &&
					  wp_keep_offer(builder->keep, instances[i].latency_ns);
		if (!is_wanted && !builder->is_kept)
			break; /* the others are faster */
		if (!is_wanted)
			continue;
		if (!pattern->kept)
			pattern->kept =
				g_ptr_array_new_with_free_func((GDestroyNotify)wp_instance_unref);
		g_ptr_array_add(pattern->kept,
				instance_of(builder, pattern, example, instances[i].span));
	}
}

void
wp_pattern_prune_kept(WpPattern *pattern, const WpKeep *keep)
{
	for (guint i = pattern->kept ? pattern->kept->len : 0; i-- > 0;)
		if (!wp_keep_still(keep, wp_instance_latency_ns(pattern->kept->pdata[i])))
			g_ptr_array_remove_index(pattern->kept, i);
}

/* Finishes the drafts and puts them into SET in canonical order. */
static void
finish_patterns(Builder *builder, WpPatternSet *set)
{
	guint32 n = builder->drafts->len;
	g_autofree guint32 *order = g_new(guint32, n + 1);
	g_autofree guint64 *first = g_new0(guint64, n + 1); /* instance of each draft */

	for (guint32 i = 0; i < n; i++) {
		Draft *draft = &g_array_index(builder->drafts, Draft, i);
		draft_finish(draft, builder);
		first[i + 1] = first[i] + draft->pattern.count;
		order[i] = i;
	}
	if (builder->instances->len)
		qsort(builder->instances->data, builder->instances->len, sizeof(Instance),
		      compare_instances);
	g_qsort_with_data(order, (gint)n, sizeof *order, compare_drafts, builder);
	set->n_patterns = n;
	set->patterns = g_new(WpPattern, n);
	for (guint32 i = 0; i < n; i++) {
		WpPattern *pattern = &set->patterns[i];
		*pattern = g_array_index(builder->drafts, Draft, order[i]).pattern;
		const Instance *instances =
			&g_array_index(builder->instances, Instance, first[order[i]]);
		guint32 example = g_array_index(builder->drafts, Draft, order[i]).example;
		set_exemplars(builder, pattern, example, instances);
		keep_instances(builder, pattern, example, instances);
		if (!pattern->is_background)
			set->total_ns += pattern->total_ns;
	}
}

/* Says of each span on no path why. */
static void
count_unlinked(WpPatternSet *set, const Builder *builder)
{
	const WpPaths *paths = builder->paths;

	for (guint32 i = 0; i < paths->n; i++) {
		guint32 evidence = builder->links->links[i].evidence;
		if (paths->forms[i] != WP_NO_FORM)
			continue;
		set->n_unlinked++;
		if (evidence & WP_EVIDENCE_SETUP)
			set->n_setup++;
		else if (builder->spans[i].kind == WP_KIND_MESSAGE)
			set->n_one_way++;
		else if (evidence & WP_EVIDENCE_UNPAIRED)
			set->n_unpaired++;
		else if (evidence & WP_EVIDENCE_UNSEEN)
			set->n_unseen++;
		else if (evidence & WP_EVIDENCE_STOPPED)
			set->n_stopped++;
		else
			set->n_below_unseen++;
	}
}

static void
count_candidates(WpPatternSet *set, const WpLinks *links)
{
	guint64 sum = 0, n = 0;

	for (guint32 i = 0; i < links->n; i++) {
		sum += links->links[i].n_candidates;
		n += links->links[i].n_candidates > 0;
	}
	set->n_with_candidates = n;
	set->parallelism = n ? (double)sum / (double)n : 0;
}

WpPatternSet *
wp_patterns_new(const WpResolved *resolved, const WpLinks *links, WpKeep *keep)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	WpPatternSet *set = g_new0(WpPatternSet, 1);
	Builder builder = {
		.resolved = resolved,
		.spans = spans->spans,
		.records = wp_trace_records(wp_resolved_trace(resolved)),
		.links = links,
		.ranks = { wp_pattern_rank_nodes(resolved), rank_labels(resolved) },
		.drafts = g_array_new(FALSE, FALSE, sizeof(Draft)),
		.instances = g_array_new(FALSE, FALSE, sizeof(Instance)),
		.calls = g_array_new(FALSE, FALSE, sizeof(WpCriticalCall)),
		.parts = g_array_new(FALSE, FALSE, sizeof(gint64)),
	};

	builder.paths = wp_paths_new(spans, links, builder.ranks.nodes, builder.ranks.labels);
	g_autoptr(WpMissing) missing = wp_missing_new(resolved);
	builder.holes = wp_holes_find(spans, builder.paths, missing);
	set->lost_share = missing->all.share;
	builder.keep = keep;
	builder.is_kept = keep ? wp_keep_roots(keep, resolved, links, builder.paths) : NULL;
	gather_paths(&builder, set);
	finish_patterns(&builder, set);
	wp_operations_gather(set, builder.ranks.nodes, builder.ranks.labels);
	wp_places_gather(set, spans, links, builder.paths, builder.ranks.nodes,
			 builder.ranks.labels);
	set->n_roots = builder.paths->n_roots;
	count_candidates(set, links);
	count_unlinked(set, &builder);

	wp_paths_free(builder.paths);
	g_free(builder.holes);
	g_free(builder.is_kept);
	g_array_unref(builder.drafts);
	g_array_unref(builder.instances);
	g_array_unref(builder.calls);
	g_array_unref(builder.parts);
	g_free(builder.ranks.nodes);
	g_free(builder.ranks.labels);
	return set;
}

void
wp_pattern_node_clear(WpPatternNode *node)
{
	wp_delay_free(node->latency);
	wp_delay_free(node->self_time);
	wp_delay_free(node->call_delay);
	wp_delay_free(node->server_time);
	wp_delay_free(node->network_time);
}

void
wp_exemplars_clear(WpExemplar *exemplars, guint n)
{
	for (guint i = 0; i < n; i++)
		g_clear_pointer(&exemplars[i].instance, wp_instance_unref);
}

void
wp_pattern_clear(WpPattern *pattern)
{
	for (guint32 i = 0; i < pattern->n_nodes; i++)
		wp_pattern_node_clear(&pattern->nodes[i]);
	g_free(pattern->nodes);
	wp_exemplars_clear(pattern->exemplars, pattern->n_exemplars);
	g_free(pattern->exemplars);
	g_clear_pointer(&pattern->kept, g_ptr_array_unref);
}

void
wp_patterns_free(WpPatternSet *patterns)
{
	if (!patterns)
		return;
	for (guint32 i = 0; i < patterns->n_patterns; i++)
		wp_pattern_clear(&patterns->patterns[i]);
	for (guint32 i = 0; i < patterns->n_operations; i++) {
		wp_delay_free(patterns->operations[i].latency);
		g_free(patterns->operations[i].nodes);
		g_free(patterns->operations[i].places);
	}
	g_free(patterns->patterns);
	g_free(patterns->operations);
	g_free(patterns);
}
