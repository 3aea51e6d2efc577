/*
 * Two passes over the spans of a part: who is at each node when a call comes, and what it has in hand until the call
 * leaves, in order of time; then path by path, each call to its place in the digest.
 */
#include "report/gather.h"

#include <string.h>

#include "infer/holes.h"
#include "infer/map.h"
#include "infer/missing.h"
#include "infer/path.h"
#include "report/in-hand.h"
#include "report/view.h"

/* Ports at which a node is called: more are not told apart. */
#define MAX_SERVICES 16

typedef struct {
	guint16 port;
	guint32 protocol; /* string */
	guint64 calls;
} Service;

/* A node of the digest, while it is gathered. */
typedef struct {
	Service services[MAX_SERVICES];
	guint n_services;
} Node;

/* Calls that are at one node: their ends, a heap. */
typedef struct {
	guint32 number;
	GArray *ends;       /* gint64 */
	gint64 last_end_ns; /* of the call that came last */
} Host;

struct WpGather {
	WpDigest *digest;
	gint64 warmup_ns;
	GArray *nodes;             /* Node, by node of the digest */
	WpMap *node_numbers;       /* node of the resolver -> node of the digest */
	WpMap *kinds;              /* (node, label) -> number */
	WpMap *operations;         /* (client, kind) -> place in ... */
	GArray *operation_numbers; /* guint32: operation of the digest */
	WpMap *parts;              /* (operation, kind) -> place in ... */
	GArray *part_numbers;      /* guint32: part of the operation */
	WpMap *edges;              /* (caller, callee) -> edge */
	GPtrArray *latencies;      /* WpDelay, by operation */
	gint64 begin_ns;
	gboolean has_begin;
};

/* A part at hand. */
typedef struct {
	WpGather *gather;
	const WpSpan *spans;
	const WpLink *links;
	const WpRecord *records;
	WpNodes *names;
	const WpResolved *resolved;
	WpPaths *paths;
	guint8 *holes;
	gint64 *waits_ns; /* by span: until the call before had left */
	WpInHand *in_hand;
} Part;

WpGather *
wp_gather_new(gint64 warmup_ns)
{
	WpGather *gather = g_new0(WpGather, 1);
	gather->digest = wp_digest_new();
	gather->warmup_ns = warmup_ns;
	gather->nodes = g_array_new(FALSE, TRUE, sizeof(Node));
	gather->node_numbers = wp_map_new();
	gather->kinds = wp_map_new();
	gather->operations = wp_map_new();
	gather->operation_numbers = g_array_new(FALSE, FALSE, sizeof(guint32));
	gather->parts = wp_map_new();
	gather->part_numbers = g_array_new(FALSE, FALSE, sizeof(guint32));
	gather->edges = wp_map_new();
	gather->latencies = g_ptr_array_new_with_free_func((GDestroyNotify)wp_delay_free);
	return gather;
}

void
wp_gather_free(WpGather *gather)
{
	if (!gather)
		return;
	wp_digest_free(gather->digest);
	g_array_unref(gather->nodes);
	wp_map_free(gather->node_numbers);
	wp_map_free(gather->kinds);
	wp_map_free(gather->operations);
	g_array_unref(gather->operation_numbers);
	wp_map_free(gather->parts);
	g_array_unref(gather->part_numbers);
	wp_map_free(gather->edges);
	g_ptr_array_unref(gather->latencies);
	g_free(gather);
}

/* --- who is there --- */

static void
heap_push(GArray *heap, gint64 value)
{
	g_array_append_val(heap, value);
	gint64 *at = (gint64 *)(void *)heap->data;
	guint i = heap->len - 1;
	for (; i && at[(i - 1) / 2] > value; i = (i - 1) / 2)
		at[i] = at[(i - 1) / 2];
	at[i] = value;
}

static void
heap_pop(GArray *heap)
{
	gint64 *at = (gint64 *)(void *)heap->data;
	guint n = heap->len - 1, i = 0;
	gint64 value = at[n];
	for (;;) {
		guint child = 2 * i + 1;
		if (child >= n)
			break;
		if (child + 1 < n && at[child + 1] < at[child])
			child++;
		if (at[child] >= value)
			break;
		at[i] = at[child];
		i = child;
	}
	at[i] = value;
	g_array_set_size(heap, n);
}

/* Whether calls are there together is seen host by host: replicas that are one node serve beside each other. */
static Host *
host_of(GArray *hosts, WpMap *numbers, const WpSpan *span)
{
	guint32 number = wp_map_number(numbers, wp_map_key(span->callee, span->callee_host));
	if (number == hosts->len) {
		Host host = { .number = number,
			      .ends = g_array_new(FALSE, FALSE, sizeof(gint64)),
			      .last_end_ns = G_MININT64 };
		g_array_append_val(hosts, host);
	}
	return &g_array_index(hosts, Host, number);
}

static guint32 digest_node(Part *part, guint32 node);

/* SPAN comes to HOST, which it leaves at its end. How long until the call before had left. */
static gint64
meet(Part *part, Host *host, guint32 number)
{
	const WpSpan *span = &part->spans[number];
	gint64 came_ns = wp_span_served_ns(span);
	gint64 end_ns = MAX(wp_span_replied_ns(span), came_ns);
	while (host->ends->len && g_array_index(host->ends, gint64, 0) <= came_ns)
		heap_pop(host->ends);
	gboolean follows = host->last_end_ns > came_ns;
	gint64 wait_ns = follows ? MIN(host->last_end_ns, end_ns) - came_ns : 0;
	gint64 self_ns = part->paths->self_ns[number];
	if (!(part->records[span->call_record].marks & WP_MARK_CARRIED))
		wp_digest_add_turn(part->gather->digest, digest_node(part, span->callee), follows,
				   follows && end_ns < host->last_end_ns, host->ends->len,
				   self_ns - wait_ns);
	host->last_end_ns = end_ns;
	heap_push(host->ends, end_ns);
	return wait_ns;
}

/* Calls below a span, in order of time. */
static int
compare_calls(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpSpan *spans = data;
	guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;
	gint64 left = spans[i].call_ns, right = spans[k].call_ns;
	return left != right ? (left < right ? -1 : 1) : (i > k) - (i < k);
}

/* HOST has span NUMBER in hand, but for the time in which calls below it are open. */
static void
take_in_hand(Part *part, const Host *host, guint32 number, GArray *below)
{
	const WpPaths *paths = part->paths;
	const WpSpan *span = &part->spans[number];
	gint64 until_ns = wp_span_served_ns(span), end_ns = wp_span_replied_ns(span);
	guint32 first = paths->child_at[number], n = paths->child_at[number + 1] - first;

	g_array_set_size(below, 0);
	g_array_append_vals(below, paths->children + first, n);
	g_array_sort_with_data(below, compare_calls, (gpointer)part->spans);
	for (guint32 i = 0; i < n; i++) {
		guint32 child = g_array_index(below, guint32, i);
		gint64 begin_ns = MIN(part->spans[child].call_ns, end_ns);
		gint64 back_ns = paths->end_ns[child];
		wp_in_hand_add(part->in_hand, host->number, number, until_ns, begin_ns);
		until_ns = MAX(until_ns, back_ns == WP_NO_TIME ? begin_ns : back_ns);
	}
	wp_in_hand_add(part->in_hand, host->number, number, until_ns, end_ns);
}

static void
host_clear(gpointer data)
{
	g_array_unref(((Host *)data)->ends);
}

static void
find_meetings(Part *part, guint32 n)
{
	g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(Host));
	g_autoptr(WpMap) numbers = wp_map_new();
	g_array_set_clear_func(hosts, host_clear);
	g_autoptr(GArray) below = g_array_new(FALSE, FALSE, sizeof(guint32));
	part->waits_ns = g_new0(gint64, n + 1);
	part->in_hand = wp_in_hand_new(n);
	for (guint32 i = 0; i < n; i++) {
		const WpSpan *span = &part->spans[i];
		if (!wp_span_is_paired(span) || span->marks & WP_MARK_WAIT)
			continue;
		Host *host = host_of(hosts, numbers, span);
		part->waits_ns[i] = meet(part, host, i);
		take_in_hand(part, host, i, below);
	}
	wp_in_hand_count(part->in_hand);
}

/* --- numbers --- */

/* TRUE where NAME is more than an address. */
static gboolean
is_name(const char *name)
{
	g_autofree char *text = g_strdup(name);
	WpEndpoint endpoint;
	if (g_str_has_suffix(text, ":*"))
		text[strlen(text) - 2] = 0;
	return !wp_endpoint_parse(text, &endpoint);
}

static guint32
digest_node(Part *part, guint32 node)
{
	WpGather *gather = part->gather;
	guint32 number = wp_map_number(gather->node_numbers, node);
	if (number == gather->nodes->len) {
		const char *name = wp_resolved_node_name(part->resolved, node);
		g_array_set_size(gather->nodes, number + 1);
		wp_digest_add_node(gather->digest, name, is_name(name));
	}
	return number;
}

static guint32
kind_of(Part *part, const WpSpan *span)
{
	return wp_map_number(part->gather->kinds, wp_map_key(span->callee, span->label));
}

static guint32
operation_of(Part *part, const WpSpan *span)
{
	WpGather *gather = part->gather;
	guint32 number =
		wp_map_number(gather->operations, wp_map_key(span->caller, kind_of(part, span)));
	if (number == gather->operation_numbers->len) {
		guint32 added = wp_digest_add_operation(
			gather->digest, digest_node(part, span->caller),
			digest_node(part, span->callee), wp_nodes_text(part->names, span->label),
			wp_nodes_text(part->names, span->protocol));
		g_array_append_val(gather->operation_numbers, added);
		if (added != G_MAXUINT32)
			g_ptr_array_add(gather->latencies, wp_delay_new());
	}
	return g_array_index(gather->operation_numbers, guint32, number);
}

static guint32
part_of(Part *part, guint32 operation, const WpSpan *span)
{
	WpGather *gather = part->gather;
	guint32 number = wp_map_number(gather->parts, wp_map_key(operation, kind_of(part, span)));
	if (number == gather->part_numbers->len) {
		guint32 added = wp_digest_add_part(
			gather->digest, operation, digest_node(part, span->callee),
			digest_node(part, span->caller), wp_nodes_text(part->names, span->label),
			wp_nodes_text(part->names, span->protocol));
		g_array_append_val(gather->part_numbers, added);
	}
	return g_array_index(gather->part_numbers, guint32, number);
}

/* --- requests --- */

static gboolean
is_seen_twice(const Part *part, const WpSpan *span)
{
	return span->call_record != G_MAXUINT32 && span->return_record != G_MAXUINT32 &&
	       part->records[span->call_record].marks & part->records[span->return_record].marks &
		       WP_MARK_BOTH_ENDS;
}

static void
count_service(Part *part, const WpSpan *span)
{
	WpDigest *digest = part->gather->digest;
	guint32 caller = digest_node(part, span->caller), callee = digest_node(part, span->callee);
	Node *node = &g_array_index(part->gather->nodes, Node, callee);
	guint16 port = part->records[span->call_record].dst.port;
	guint i = 0;
	while (i < node->n_services &&
	       (node->services[i].port != port || node->services[i].protocol != span->protocol))
		i++;
	if (i == node->n_services && i < MAX_SERVICES)
		node->services[node->n_services++] = (Service){ port, span->protocol, 0 };
	if (i < MAX_SERVICES)
		node->services[i].calls++;
	g_array_index(digest->nodes, WpDigestNode, callee).n_served++;
	g_array_index(digest->nodes, WpDigestNode, caller).n_sent++;
	guint32 number = wp_map_number(part->gather->edges, wp_map_key(caller, callee));
	if (number == digest->edges->len) {
		WpDigestEdge edge = { caller, callee, 0 };
		g_array_append_val(digest->edges, edge);
	}
	g_array_index(digest->edges, WpDigestEdge, number).calls++;
}

static void
add_call(Part *part, guint32 operation, guint32 number)
{
	const WpSpan *span = &part->spans[number];
	float odds = part->links[number].probability;
	guint32 place = part_of(part, operation, span);
	gboolean is_timed = part->paths->end_ns[number] != WP_NO_TIME && !part->holes[number];
	WpDigestCall call = {
		.self_ns = is_timed ? part->paths->self_ns[number] : -1,
		.served_ns = MAX(part->paths->self_ns[number] - part->waits_ns[number], 0),
		.network_ns = -1,
		.link_odds =
			odds >= 0 ? (guint64)((double)odds * WP_DIGEST_ODDS + 0.5) : WP_DIGEST_ODDS,
		.is_error = wp_span_is_error(span),
		.waits = (span->marks & WP_MARK_WAIT) != 0,
	};
	call.ended_at = wp_in_hand_get(part->in_hand, number, call.levels_ns);
	if (!wp_span_is_paired(span) || span->marks & WP_MARK_WAIT)
		call.levels_ns[0] = call.self_ns; /* not in hand: as if alone */
	count_service(part, span);
	if (place == G_MAXUINT32) {
		wp_digest_operation(part->gather->digest, operation)->n_left++;
		return;
	}
	if (wp_span_is_paired(span) && is_seen_twice(part, span))
		call.network_ns = MAX(span->way_in_ns + span->way_out_ns, 0);
	wp_digest_add_call(part->gather->digest, operation, place, &call);
}

static void
add_path(Part *part, guint32 root, GArray *steps)
{
	WpGather *gather = part->gather;
	const WpSpan *span = &part->spans[root];
	gint64 latency_ns = MAX(part->paths->end_ns[root], span->call_ns) - span->call_ns;
	if (span->call_ns - gather->begin_ns < gather->warmup_ns)
		return;
	guint32 operation = operation_of(part, span);
	if (operation == G_MAXUINT32) {
		gather->digest->n_left++;
		return;
	}
	wp_paths_walk(part->paths, root, steps);
	wp_digest_add_request(gather->digest, operation, span->call_ns - gather->begin_ns,
			      latency_ns, wp_span_is_error(span));
	wp_delay_add(gather->latencies->pdata[operation], latency_ns);
	for (guint i = 0; i < steps->len; i++)
		add_call(part, operation, g_array_index(steps, WpPathStep, i).span);
}

void
wp_gather_add(WpGather *gather, const WpAnalysis *analysis)
{
	const WpSpans *spans = wp_resolved_spans(analysis->resolved);
	const WpLinks *links = wp_analysis_links(analysis);
	const WpTrace *trace = wp_resolved_trace(analysis->resolved);
	g_autoptr(WpPaths) paths = wp_paths_new(spans, links, NULL, NULL);
	g_autoptr(WpMissing) missing = wp_missing_new(analysis->resolved);
	g_autofree guint8 *holes = wp_holes_find(spans, paths, missing);
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	Part part = { .gather = gather,
		      .spans = spans->spans,
		      .links = links->links,
		      .records = wp_trace_records(trace),
		      .names = wp_trace_nodes(trace),
		      .resolved = analysis->resolved,
		      .paths = paths,
		      .holes = holes };

	if (!gather->has_begin && wp_trace_n_records(trace)) {
		gather->begin_ns = part.records[0].begin_ns;
		gather->has_begin = TRUE;
	}
	find_meetings(&part, spans->n);
	for (guint32 i = 0; i < paths->n_roots; i++)
		add_path(&part, paths->roots[i], steps);
	g_free(part.waits_ns);
	wp_in_hand_free(part.in_hand);
}

/* --- the end --- */

static int
compare_services(gconstpointer a, gconstpointer b)
{
	const Service *left = a, *right = b;
	if (left->calls != right->calls)
		return left->calls > right->calls ? -1 : 1;
	return left->port - right->port;
}

static void
finish_nodes(WpGather *gather, WpNodes *names)
{
	for (guint i = 0; i < gather->nodes->len; i++) {
		Node *node = &g_array_index(gather->nodes, Node, i);
		if (!node->n_services)
			continue;
		qsort(node->services, node->n_services, sizeof(Service), compare_services);
		const Service *most = &node->services[0];
		const char *protocol = wp_nodes_text(names, most->protocol);
		g_autofree char *text = most->port ? g_strdup_printf("%u %s", most->port, protocol)
						   : g_strdup(protocol);
		g_array_index(gather->digest->nodes, WpDigestNode, i).service =
			wp_digest_text(gather->digest, text);
	}
}

static void
add_bin(gint64 low_ns, gint64 high_ns, guint64 count, gpointer data)
{
	WpDigestBin bin = { low_ns, high_ns, count };
	g_array_append_val(data, bin);
}

static guint32
find_operation(WpGather *gather, guint32 client, guint32 node, guint32 label)
{
	guint32 kind = wp_map_find(gather->kinds, wp_map_key(node, label));
	if (kind == WP_MAP_NONE)
		return G_MAXUINT32;
	guint32 number = wp_map_find(gather->operations, wp_map_key(client, kind));
	return number == WP_MAP_NONE ? G_MAXUINT32
				     : g_array_index(gather->operation_numbers, guint32, number);
}

/* Patterns that are likely mistakes of inference say nothing of a system. */
static void
finish_pattern(Part *part, const WpPattern *pattern)
{
	const WpPatternNode *root = &pattern->nodes[0];
	guint32 operation = find_operation(part->gather, pattern->client, root->node, root->label);
	if (operation == G_MAXUINT32)
		return;
	wp_digest_operation(part->gather->digest, operation)->is_background |=
		pattern->is_background;
	if (pattern->is_uncertain || pattern->is_background || pattern->n_rest)
		return;
	g_autofree WpDigestPlace *places = g_new(WpDigestPlace, pattern->n_nodes);
	for (guint32 i = 0; i < pattern->n_nodes; i++)
		places[i] = (WpDigestPlace){ digest_node(part, pattern->nodes[i].node),
					     pattern->nodes[i].parent,
					     wp_nodes_text(part->names, pattern->nodes[i].label) };
	wp_digest_add_pattern(part->gather->digest, operation, pattern->count,
			      (guint64)pattern->total_ns, places, pattern->n_nodes);
}

static const char *
options_text(WpDigest *digest, const WpAnalysis *analysis, const WpAnalysisOptions *options,
	     const WpLoadOptions *load)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *hidden = wp_analysis_hidden(options);
	g_string_append_printf(text, "engine=%s",
			       analysis->engine ? analysis->engine->name : "none");
	if (options->pattern_by)
		g_string_append(text, " pattern-by=node");
	if (options->labels)
		g_string_append(text, " labels=keep");
	if (options->clients)
		g_string_append(text, " clients=keep");
	if (options->resolve.folds)
		g_string_append(text, " fold");
	if (options->resolve.is_black_box)
		g_string_append(text, " black-box");
	if (options->root)
		g_string_append_printf(text, " root=%s", options->root);
	if (hidden)
		g_string_append_printf(text, " hide=%s", hidden);
	if (options->where)
		g_string_append_printf(text, " where=%s", options->where);
	if (load->filter)
		g_string_append_printf(text, " filter=%s", load->filter);
	return wp_digest_text(digest, text->str);
}

static guint64
millionths(double share)
{
	return (guint64)(CLAMP(share, 0, 1) * WP_DIGEST_ODDS + 0.5);
}

WpDigest *
wp_gather_finish(WpGather *gather, const WpAnalysis *analysis, const WpAnalysisOptions *options,
		 const WpLoadOptions *load, const char *partial)
{
	WpDigest *digest = gather->digest;
	WpNodes *names = wp_trace_nodes(analysis->trace);
	const WpTally *tally = &analysis->tally;
	Part part = { .gather = gather, .names = names, .resolved = analysis->resolved };

	for (guint32 i = 0; i < analysis->patterns->n_patterns; i++)
		finish_pattern(&part, &analysis->patterns->patterns[i]);
	finish_nodes(gather, names);
	for (guint i = 0; i < digest->operations->len; i++)
		wp_delay_foreach_bin(gather->latencies->pdata[i], add_bin,
				     wp_digest_operation(digest, i)->bins);
	double loss = wp_view_loss_share(wp_trace_counters(analysis->trace));
	digest->facts.options = options_text(digest, analysis, options, load);
	digest->facts.partial = partial ? wp_digest_text(digest, partial) : NULL;
	if (tally->n_records)
		digest->facts.length_ns = (guint64)(tally->end_ns - tally->begin_ns);
	digest->facts.n_unpaired = tally->lots[WP_VIEW_UNPAIRED].calls;
	digest->facts.n_unseen =
		tally->lots[WP_VIEW_UNSEEN].calls + tally->lots[WP_VIEW_BELOW].calls;
	digest->facts.loss = loss >= 0 ? millionths(loss) : G_MAXUINT64;
	digest->facts.right =
		tally->links.n_linked
			? millionths(tally->links.n_right / (double)tally->links.n_linked)
			: WP_DIGEST_ODDS;
	return g_steal_pointer(&gather->digest);
}
