/* From analysis to view: names, shares, ranks. Nothing is inferred here. */
#include "report/view.h"

#include <math.h>
#include <string.h>

#include "infer/delay.h"
#include "infer/pattern.h"
#include "report/analysis.h"
#include "report/format.h"
#include "infer/map.h"
#include "report/view-clusters.h"
#include "report/view-edges.h"
#include "report/view-links.h"
#include "report/view-private.h"
#include "report/view-pools.h"
#include "report/view-queues.h"
#include "report/view-tails.h"

const char *const wp_view_level_names[WP_VIEW_N_LEVELS] = { "fact", "note", "loss" };

typedef struct {
	const WpAnalysis *analysis;
	const WpPatternSet *set;
	const WpNodes *nodes;
	WpView *view;
	gboolean unfolds;
} Maker;

static double
share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static const char *
node_name(const Maker *maker, guint32 node)
{
	return wp_resolved_node_name(maker->analysis->resolved, node);
}

static const char *
text_of(const Maker *maker, guint32 string)
{
	return wp_nodes_text(maker->nodes, string);
}

static WpViewTimes
times_of(const WpDelay *delay)
{
	WpViewTimes times = { 0 };
	if (!delay || wp_delay_count(delay) == 0)
		return times;
	times.count = wp_delay_count(delay);
	times.sum_ns = wp_delay_sum_ns(delay);
	times.mean_ns = wp_delay_mean_ns(delay);
	times.sd_ns = wp_delay_sd_ns(delay);
	times.min_ns = (double)wp_delay_min_ns(delay);
	times.p50_ns = (double)wp_delay_quantile_ns(delay, 0.50);
	times.p90_ns = (double)wp_delay_quantile_ns(delay, 0.90);
	times.p95_ns = (double)wp_delay_quantile_ns(delay, 0.95);
	times.p99_ns = (double)wp_delay_quantile_ns(delay, 0.99);
	times.max_ns = (double)wp_delay_max_ns(delay);
	return times;
}

/* Patterns. */

guint32
wp_view_run_length(const WpPattern *from, guint32 i)
{
	const WpPatternNode *first = &from->nodes[i];
	guint32 n = 0;
	for (guint32 k = i; k < from->n_nodes; k++, n++) {
		const WpPatternNode *node = &from->nodes[k];
		gboolean has_child =
			k + 1 < from->n_nodes && from->nodes[k + 1].depth > node->depth;
		if (has_child || node->parent != first->parent || node->node != first->node ||
		    node->label != first->label)
			break;
	}
	return n >= WP_VIEW_MIN_REPEAT ? n : 1;
}

/* The times of N nodes from FROM on; WHICH: offset of the WpDelay in WpPatternNode. */
static WpViewTimes
times_of_run(const WpPatternNode *from, guint32 n, gsize which)
{
	const WpDelay *first = *(WpDelay *const *)((const char *)from + which);
	if (n == 1)
		return times_of(first);
	g_autoptr(WpDelay) sum = wp_delay_new();
	for (guint32 i = 0; i < n; i++)
		wp_delay_merge(sum, *(WpDelay *const *)((const char *)&from[i] + which));
	return times_of(sum);
}

/* N nodes from FROM on become TO. The call delay is that of the first. */
static void
fill_node(const Maker *maker, const WpPattern *pattern, const WpPatternNode *from, guint32 n,
	  WpViewNode *to)
{
	guint64 n_parallel = 0;
	to->node = node_name(maker, from->node);
	to->label = text_of(maker, from->label);
	to->protocol = text_of(maker, from->protocol);
	to->depth = from->depth;
	to->repeat = n;
	to->count = pattern->count * n;
	to->probability = from->probability;
	to->waits = from->waits;
	for (guint32 i = 0; i < n; i++) {
		to->errors += from[i].errors;
		to->count -= from[i].n_lost;
		to->n_messages += from[i].n_messages;
		n_parallel += from[i].n_parallel;
		to->bytes_call += from[i].bytes_call;
		to->bytes_return += from[i].bytes_return;
		to->critical_ns += (double)from[i].critical_ns;
		to->connecting_ns += (double)from[i].connecting_ns;
		to->probability = MIN(to->probability, from[i].probability);
	}
	to->is_parallel = n_parallel * 2 > to->count;
	to->latency = times_of_run(from, n, offsetof(WpPatternNode, latency));
	to->self = times_of_run(from, n, offsetof(WpPatternNode, self_time));
	to->server = times_of_run(from, n, offsetof(WpPatternNode, server_time));
	to->network = times_of_run(from, n, offsetof(WpPatternNode, network_time));
	/* Where something is missing below, as much as in the others. */
	if (to->self.count)
		to->self.sum_ns *= (double)to->latency.count / (double)to->self.count;
	to->delay = times_of(from->call_delay);
	to->latency_share = share_of(to->latency.sum_ns, maker->set->total_ns);
}

/* The last child of each parent, and the node with most self time. */
static void
mark_nodes(WpViewPattern *pattern)
{
	WpViewNode *hottest = NULL;
	for (guint32 i = 0; i < pattern->n_nodes; i++) {
		WpViewNode *node = &pattern->nodes[i];
		gboolean has_later = FALSE;
		for (guint32 k = i + 1; k < pattern->n_nodes && !has_later; k++)
			if (pattern->nodes[k].depth <= node->depth) {
				has_later = pattern->nodes[k].parent == node->parent;
				break;
			}
		node->is_last = !has_later;
		if (!node->waits && (!hottest || node->self.sum_ns > hottest->self.sum_ns))
			hottest = node;
	}
	if (hottest && hottest->self.sum_ns > 0)
		hottest->is_hottest = TRUE;
}

static WpViewExample
example_of(const Maker *maker, gint64 begin_ns, gint64 latency_ns, guint64 id)
{
	char buffer[WP_ID_TEXT_MAX];
	WpViewExample example = {
		.name = "", .quantile = -1, .begin_ns = begin_ns, .latency_ns = (double)latency_ns
	};
	g_strlcpy(example.id, wp_record_id_text(maker->nodes, id, buffer), sizeof example.id);
	return example;
}

static void
fill_examples(const Maker *maker, const WpPattern *from, WpViewPattern *to)
{
	static const char *const names[WP_PATTERN_N_EXEMPLARS] = { "typical", "p50", "p95", "p99",
								   "slowest" };
	to->n_examples = from->n_exemplars;
	to->examples = g_new0(WpViewExample, MAX(from->n_exemplars, 1));
	for (guint32 i = 0; i < from->n_exemplars; i++) {
		const WpExemplar *exemplar = &from->exemplars[i];
		WpViewExample *example = &to->examples[i];
		*example =
			example_of(maker, exemplar->begin_ns, exemplar->latency_ns, exemplar->id);
		example->name = names[i];
		example->quantile = exemplar->quantile;
		example->packet = exemplar->packet;
		example->tap = exemplar->tap;
		example->instance = exemplar->instance;
	}
}

static void
fill_kept(const Maker *maker, const WpPattern *from, WpViewPattern *to)
{
	to->n_kept = from->kept ? from->kept->len : 0;
	to->kept = g_new0(WpViewExample, MAX(to->n_kept, 1));
	for (guint32 i = 0; i < to->n_kept; i++) {
		const WpInstance *instance = from->kept->pdata[i];
		const WpInstanceCall *root = &instance->calls[0];
		to->kept[i] = example_of(maker, root->begin_ns, wp_instance_latency_ns(instance),
					 root->id);
		to->kept[i].packet = root->packets[0];
		to->kept[i].tap = root->taps[0];
		to->kept[i].instance = instance;
	}
}

/* Of the self time of a node, and of the time of all requests: where connecting is worth a column. */
#define CONNECTING_OF_NODE 0.1
#define CONNECTING_OF_ALL  0.01

/* A share of the critical path by which its parts differ from the self times, where they are worth a column. */
#define SPLIT 0.05

static void
fill_nodes(const Maker *maker, const WpPattern *from, WpViewPattern *to)
{
	double self_ns = 0, critical_ns = 0;
	gboolean is_split = FALSE;
	g_autofree guint32 *places = g_new(guint32, from->n_nodes);
	to->nodes = g_new0(WpViewNode, from->n_nodes);
	for (guint32 i = 0, n; i < from->n_nodes; i += n) {
		WpViewNode *node = &to->nodes[to->n_nodes];
		n = wp_view_run_length(from, i);
		places[i] = to->n_nodes++;
		fill_node(maker, from, &from->nodes[i], n, node);
		node->parent = i ? places[from->nodes[i].parent] : WP_VIEW_NONE;
		self_ns += node->self.sum_ns;
		critical_ns += node->critical_ns;
	}
	for (guint32 i = 0; i < to->n_nodes; i++) {
		WpViewNode *node = &to->nodes[i];
		is_split = is_split ||
			   fabs(node->self.sum_ns - node->critical_ns) > SPLIT * critical_ns;
		node->self_share = share_of(node->self.sum_ns, self_ns);
		node->critical_share = share_of(node->critical_ns, critical_ns);
		node->is_connecting =
			node->connecting_ns > CONNECTING_OF_NODE * node->self.sum_ns &&
			node->connecting_ns > CONNECTING_OF_ALL * maker->set->total_ns;
	}
	for (guint32 i = 0; i < to->n_nodes; i++)
		to->nodes[i].is_split = is_split;
}

static void
fill_pattern(const Maker *maker, const WpPattern *from, WpViewPattern *to)
{
	to->number = (guint32)(from - maker->set->patterns);
	to->client = node_name(maker, from->client);
	to->count = from->count;
	to->errors = from->nodes[0].errors;
	to->total_ns = from->total_ns;
	to->is_background = from->is_background;
	to->share = from->is_background ? 0 : share_of(from->total_ns, maker->set->total_ns);
	to->operation = from->operation;
	to->path_odds = from->path_odds;
	to->links_odds = from->links_odds;
	fill_nodes(maker, from, to);
	mark_nodes(to);
	fill_examples(maker, from, to);
	fill_kept(maker, from, to);
}

static gboolean
is_folded(const Maker *maker, const WpPattern *pattern)
{
	return pattern->n_rest || (pattern->is_uncertain && !maker->unfolds);
}

/* Background ones go last, in their own order. */
static void
fill_patterns(const Maker *maker)
{
	WpView *view = maker->view;
	const WpPatternSet *set = maker->set;
	view->patterns = g_new0(WpViewPattern, MAX(set->n_patterns, 1));
	for (int background = 0; background <= 1; background++)
		for (guint32 i = 0; i < set->n_patterns; i++) {
			const WpPattern *from = &set->patterns[i];
			if (!from->is_background != !background)
				continue;
			*(background ? &view->n_background : &view->n_requests) += from->count;
			if (is_folded(maker, from)) {
				view->n_uncertain += from->count;
				continue;
			}
			WpViewPattern *pattern = &view->patterns[view->n_patterns++];
			fill_pattern(maker, from, pattern);
			pattern->rank = view->n_patterns;
		}
	for (guint32 i = 0; i < set->n_patterns; i++)
		if (is_folded(maker, &set->patterns[i]) && set->patterns[i].kept)
			fill_pattern(maker, &set->patterns[i],
				     &view->patterns[view->n_patterns + view->n_asides++]);
}

/* Operations. */

/* The merged tree. SELF_NS: of the whole operation. */
static void
fill_places(const Maker *maker, const WpOperation *from, double self_ns, WpViewOperation *to)
{
	double n = (double)from->count;
	WpViewPlace *hottest = NULL;
	to->n_places = from->n_places;
	to->places = g_new0(WpViewPlace, MAX(from->n_places, 1));
	g_autofree guint32 *last = g_new(guint32, (gsize)from->n_places + 1);
	for (guint32 i = 0; i < from->n_places; i++) {
		const WpPlace *place = &from->places[i];
		to->places[i] = (WpViewPlace){
			.node = node_name(maker, place->node),
			.label = text_of(maker, place->label),
			.protocol = text_of(maker, place->protocol),
			.parent = i ? place->parent : WP_VIEW_NONE,
			.depth = place->depth,
			.is_last = TRUE,
			.waits = place->waits,
			.calls = place->calls / n,
			.errors = place->errors / n,
			.latency_ns = place->latency_ns,
			.delay_ns = place->delay_ns,
			.self_ns = place->self_ns / n,
			.self_share = share_of(place->self_ns, self_ns),
		};
		last[i] = WP_VIEW_NONE;
		if (i && last[place->parent] != WP_VIEW_NONE)
			to->places[last[place->parent]].is_last = FALSE;
		if (i)
			last[place->parent] = i;
		if (!place->waits && (!hottest || place->self_ns / n > hottest->self_ns))
			hottest = &to->places[i];
	}
	if (hottest && hottest->self_ns > 0)
		hottest->is_hottest = TRUE;
}

static void
fill_operation(const Maker *maker, const WpOperation *from, WpViewOperation *to)
{
	to->client = node_name(maker, from->client);
	to->node = node_name(maker, from->node);
	to->label = text_of(maker, from->label);
	to->protocol = text_of(maker, from->protocol);
	to->count = from->count;
	to->errors = from->errors;
	to->total_ns = from->total_ns;
	to->is_background = from->is_background;
	to->share = from->is_background ? 0 : share_of(from->total_ns, maker->set->total_ns);
	to->n_patterns = from->n_patterns;
	to->latency = times_of(from->latency);
	double self_ns = 0;
	for (guint32 i = 0; i < from->n_nodes; i++)
		self_ns += from->nodes[i].self_ns;
	fill_places(maker, from, self_ns, to);
	to->n_shares = from->n_nodes;
	to->shares = g_new0(WpViewShare, MAX(from->n_nodes, 1));
	for (guint32 i = 0; i < from->n_nodes; i++) {
		const WpOperationNode *node = &from->nodes[i];
		to->shares[i] = (WpViewShare){
			.node = node_name(maker, node->node),
			.label = text_of(maker, node->label),
			.count = (guint64)(node->calls - node->messages + 0.5),
			.n_messages = (guint64)(node->messages + 0.5),
			.errors = (guint64)(node->errors + 0.5),
			.self_ns = node->self_ns,
			.share = share_of(node->self_ns, self_ns),
		};
	}
}

/* The folded patterns of each operation: lists, in order. */
typedef struct {
	guint32 *first; /* by operation: pattern, or WP_VIEW_NONE */
	guint32 *next;  /* by pattern: likewise */
} Folded;

static void
list_folded(const Maker *maker, Folded *out)
{
	const WpPatternSet *set = maker->set;
	out->first = g_new(guint32, (gsize)set->n_operations + 1);
	out->next = g_new(guint32, (gsize)set->n_patterns + 1);
	for (guint32 i = 0; i < set->n_operations; i++)
		out->first[i] = WP_VIEW_NONE;
	for (guint32 i = set->n_patterns; i-- > 0;)
		if (is_folded(maker, &set->patterns[i])) {
			out->next[i] = out->first[set->patterns[i].operation];
			out->first[set->patterns[i].operation] = i;
		}
}

/* The patterns of an operation that are folded, from FIRST on, as one. */
static void
fill_uncertain(const Maker *maker, guint32 first, const guint32 *next, WpViewOperation *to)
{
	g_autoptr(WpDelay) latency = wp_delay_new();
	WpViewUncertain *sum = &to->uncertain;
	for (guint32 i = first; i != WP_VIEW_NONE; i = next[i]) {
		const WpPattern *pattern = &maker->set->patterns[i];
		sum->n_patterns += (guint32)MAX(pattern->n_rest, 1);
		sum->count += pattern->count;
		sum->total_ns += pattern->total_ns;
		wp_delay_merge(latency, pattern->nodes[0].latency);
	}
	to->n_patterns -= sum->n_patterns;
	sum->share = to->is_background ? 0 : share_of(sum->total_ns, maker->set->total_ns);
	sum->latency = times_of(latency);
}

static void
fill_operations(const Maker *maker)
{
	WpView *view = maker->view;
	const WpPatternSet *set = maker->set;
	g_autofree guint32 *places = g_new0(guint32, MAX(set->n_operations, 1));
	Folded folded;
	list_folded(maker, &folded);
	view->operations = g_new0(WpViewOperation, MAX(set->n_operations, 1));
	for (int background = 0; background <= 1; background++)
		for (guint32 i = 0; i < set->n_operations; i++)
			if (!set->operations[i].is_background == !background) {
				places[i] = view->n_operations;
				WpViewOperation *to = &view->operations[view->n_operations++];
				fill_operation(maker, &set->operations[i], to);
				to->number = i;
				fill_uncertain(maker, folded.first[i], folded.next, to);
			}
	g_free(folded.first);
	g_free(folded.next);
	for (guint32 i = 0; i < view->n_patterns + view->n_asides; i++)
		view->patterns[i].operation = places[view->patterns[i].operation];
}

static int
compare_shares(gconstpointer a, gconstpointer b)
{
	const WpViewShare *x = a, *y = b;
	if (x->self_ns != y->self_ns)
		return x->self_ns < y->self_ns ? 1 : -1;
	return strcmp(x->node, y->node);
}

/* Sums the operations' shares by node. */
static void
fill_totals(const Maker *maker)
{
	WpView *view = maker->view;
	const WpPatternSet *set = maker->set;
	guint32 n = wp_resolved_n_nodes(maker->analysis->resolved);
	WpViewShare *totals = g_new0(WpViewShare, MAX(n, 1));
	g_autofree double *calls = g_new0(double, (gsize)n + 1);
	g_autofree double *messages = g_new0(double, (gsize)n + 1);
	g_autofree double *errors = g_new0(double, (gsize)n + 1);
	double self_ns = 0;
	for (guint32 i = 0; i < set->n_operations; i++) {
		const WpOperation *operation = &set->operations[i];
		for (guint32 k = 0; k < operation->n_nodes && !operation->is_background; k++) {
			const WpOperationNode *node = &operation->nodes[k];
			WpViewShare *total = &totals[node->node];
			calls[node->node] += node->calls - node->messages;
			messages[node->node] += node->messages;
			errors[node->node] += node->errors;
			total->self_ns += node->self_ns;
			self_ns += node->self_ns;
		}
	}
	for (guint32 i = 0; i < n; i++) {
		totals[i].count = (guint64)(calls[i] + 0.5);
		totals[i].n_messages = (guint64)(messages[i] + 0.5);
		totals[i].errors = (guint64)(errors[i] + 0.5);
		if (!totals[i].count && !totals[i].n_messages)
			continue;
		totals[i].node = node_name(maker, i);
		totals[i].label = "";
		totals[i].share = share_of(totals[i].self_ns, self_ns);
		totals[view->n_totals++] = totals[i];
	}
	qsort(totals, view->n_totals, sizeof *totals, compare_shares);
	view->totals = totals;
}

/* Facts and quality. */

void
wp_view_widen(const WpViewSetting *settings, guint n, gint64 *begin_ns, gint64 *end_ns)
{
	gint64 ns;
	for (guint i = 0; i < n; i++)
		if (strcmp(settings[i].key, "first-packet") == 0 &&
		    wp_parse_date(settings[i].value, &ns))
			*begin_ns = MIN(*begin_ns, ns);
		else if (strcmp(settings[i].key, "last-packet") == 0 &&
			 wp_parse_date(settings[i].value, &ns))
			*end_ns = MAX(*end_ns, ns);
}

static void
fill_facts(const Maker *maker)
{
	const WpTrace *trace = maker->analysis->trace;
	const WpTally *tally = &maker->analysis->tally;
	WpView *view = maker->view;
	gsize n = wp_trace_n_settings(trace);
	view->inputs = g_new0(const char *, n + 1);
	view->settings = g_new0(WpViewSetting, n + 1);
	for (gsize i = 0; i < n; i++) {
		const char *key = wp_trace_setting_key(trace, i);
		const char *value = wp_trace_setting_value(trace, i);
		if (strcmp(key, "input") == 0)
			view->inputs[view->n_inputs++] = value;
		else
			view->settings[view->n_settings++] = (WpViewSetting){ key, value };
	}
	view->n_records = tally->n_records;
	view->n_packets = wp_counters_get(wp_trace_counters(trace), WP_COUNT_PACKETS);
	view->begin_ns = view->first_ns = tally->begin_ns;
	view->end_ns = tally->end_ns;
	wp_view_widen(view->settings, view->n_settings, &view->begin_ns, &view->end_ns);
}

typedef struct {
	WpCounter counter;
	guint32 sender;
	guint32 receiver;
	guint64 count;
} Pair;

typedef struct {
	WpViewQuality *quality;
	const WpNodes *nodes;
	const WpResolved *resolved;
	GArray *pairs;  /* Pair */
	WpMap *numbers; /* of these */
} PairTaker;

/* The user's node, where there is one. */
static guint32
pair_node(const PairTaker *taker, guint32 node)
{
	return taker->resolved ? wp_resolved_node_of(taker->resolved, node) : node;
}

static const char *
pair_name(const PairTaker *taker, guint32 node)
{
	return taker->resolved ? wp_resolved_node_name(taker->resolved, node)
			       : wp_nodes_key(taker->nodes, node);
}

/* Adds N between two nodes of the trace to what there is between the user's nodes. */
static void
add_pair(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	PairTaker *taker = data;
	Pair pair = { counter, pair_node(taker, sender), pair_node(taker, receiver), 0 };
	guint64 key = (guint64)counter << 56 | (guint64)pair.sender << 28 | pair.receiver;
	guint32 number = wp_map_number(taker->numbers, key);

	if (number == taker->pairs->len)
		g_array_append_val(taker->pairs, pair);
	g_array_index(taker->pairs, Pair, number).count += n;
}

/* The worst pairs are kept in order by insertion; the least falls off. */
static void
show_pair(const PairTaker *taker, const Pair *pair)
{
	for (guint32 i = 0; i < taker->quality->n_counters; i++) {
		WpViewCounter *row = &taker->quality->counters[i];
		if (row->name != wp_counter_info[pair->counter].name)
			continue;
		guint at = MIN(row->n_pairs, WP_VIEW_MAX_PAIRS);
		row->n_pairs++;
		for (; at > 0 && row->pairs[at - 1].count < pair->count; at--)
			if (at < WP_VIEW_MAX_PAIRS)
				row->pairs[at] = row->pairs[at - 1];
		if (at < WP_VIEW_MAX_PAIRS)
			row->pairs[at] =
				(WpViewPair){ pair_name(taker, pair->sender),
					      pair_name(taker, pair->receiver), pair->count };
	}
}

/* Of all packets, as the capture estimates it; where it does not, of TCP segments. */
double
wp_view_loss_share(const WpCounters *counters)
{
	/* The estimate has those in it that the kernel counted, but only TCP shows them. */
	double lost = (double)MAX(wp_counters_get(counters, WP_COUNT_LOST_PACKETS),
				  wp_counters_get(counters, WP_COUNT_KERNEL_DROPS));
	double seen = (double)wp_counters_get(counters, WP_COUNT_PACKETS) -
		      (double)wp_counters_get(counters, WP_COUNT_PACKETS_FILTERED) -
		      (double)wp_counters_get(counters, WP_COUNT_PACKETS_DOUBLED);
	if (lost == 0 || seen <= 0) {
		lost = (double)wp_counters_get(counters, WP_COUNT_LOST_SEGMENTS);
		seen = (double)wp_counters_get(counters, WP_COUNT_SEGMENTS);
	}
	return seen > 0 ? lost / (seen + lost) : -1;
}

void
wp_view_quality_fill(WpViewQuality *quality, const WpCounters *counters, const WpNodes *nodes,
		     const WpResolved *resolved)
{
	static const WpViewLevel levels[] = { [WP_SEVERITY_INFO] = WP_VIEW_FACT,
					      [WP_SEVERITY_NOTE] = WP_VIEW_NOTE,
					      [WP_SEVERITY_LOSS] = WP_VIEW_LOSS };
	quality->n_counters = 0;
	quality->counters = g_new0(WpViewCounter, WP_N_COUNTERS);
	for (int level = WP_VIEW_N_LEVELS - 1; level >= 0; level--)
		for (int i = 0; i < WP_N_COUNTERS; i++) {
			const WpCounterInfo *info = &wp_counter_info[i];
			guint64 count = wp_counters_get(counters, i);
			if (count && (int)levels[info->severity] == level)
				quality->counters[quality->n_counters++] =
					(WpViewCounter){ .name = info->name,
							 .text = info->text,
							 .level = (WpViewLevel)level,
							 .count = count };
		}
	g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
	g_autoptr(WpMap) numbers = wp_map_new();
	PairTaker taker = { quality, nodes, resolved, pairs, numbers };
	wp_counters_foreach_pair(counters, add_pair, &taker);
	for (guint i = 0; i < pairs->len; i++)
		show_pair(&taker, &g_array_index(pairs, Pair, i));
	quality->loss_share = wp_view_loss_share(counters);
}

void
wp_view_quality_clear(WpViewQuality *quality)
{
	g_clear_pointer(&quality->counters, g_free);
}

/* What was counted on the way to the trace, and what inference had to leave out. */
static void
fill_quality(const Maker *maker)
{
	const WpResolved *resolved = maker->analysis->resolved;
	g_autoptr(WpCounters) counters = wp_counters_new();
	guint64 n_templates;
	wp_counters_merge(counters, wp_trace_counters(maker->analysis->trace));
	wp_counters_add(counters, WP_COUNT_TRACE_UNPAIRED,
			wp_resolved_spans(resolved)->n_unpaired_returns);
	wp_counters_add(counters, WP_COUNT_KINDS_JOINED, maker->analysis->n_joined);
	wp_counters_add(counters, WP_COUNT_LABELS_JOINED,
			wp_resolved_n_joined_labels(resolved, &n_templates));
	wp_view_quality_fill(&maker->view->quality, counters, maker->nodes, resolved);
}

static void
fill_shared(const Maker *maker)
{
	const WpResolved *resolved = maker->analysis->resolved;
	maker->view->n_shared = (guint)wp_resolved_n_shared(resolved);
	maker->view->shared = g_new0(WpViewShared, maker->view->n_shared + 1);
	for (guint i = 0; i < maker->view->n_shared; i++) {
		const WpShared *shared = wp_resolved_shared(resolved, i);
		maker->view->shared[i] = (WpViewShared){ .name = shared->name,
							 .n_flows = shared->n_flows,
							 .n_by_file = shared->n_by_file,
							 .n_inferred = shared->n_inferred,
							 .n_clients = shared->n_clients,
							 .n_any = shared->n_any,
							 .n_unknown = shared->n_unknown,
							 .certainty = shared->certainty };
	}
}

const char *
wp_view_no_latency(const WpViewNode *node)
{
	if (node->latency.count)
		return NULL;
	return node->n_messages ? "one-way" : "open";
}

WpView *
wp_view_new(const WpAnalysis *analysis, const WpViewOptions *options)
{
	WpView *view = g_new0(WpView, 1);
	Maker maker = { analysis, analysis->patterns, wp_trace_nodes(analysis->trace), view,
			options->unfolds };
	view->analysis = analysis;
	view->file = options->file;
	view->root = options->root;
	view->hidden = options->hidden;
	view->where = options->where;
	view->partial = options->partial;
	view->is_selective = options->is_selective;
	view->digest = options->digest;
	view->what_if = options->what_if;
	view->total_ns = analysis->patterns->total_ns;
	fill_facts(&maker);
	fill_patterns(&maker);
	fill_operations(&maker);
	fill_totals(&maker);
	wp_view_clusters_fill(view);
	wp_view_tails_fill(view, analysis);
	wp_view_edges_fill(view, analysis);
	wp_view_queues_fill(view, analysis);
	fill_quality(&maker);
	wp_view_links_fill(view, analysis, options);
	if (options->is_inference_stopped)
		view->links.trust = WP_VIEW_TRUST_STOPPED;
	wp_view_pools_fill(view, analysis);
	fill_shared(&maker);
	return view;
}

void
wp_view_free(WpView *view)
{
	if (!view)
		return;
	for (guint32 i = 0; i < view->n_patterns + view->n_asides; i++) {
		g_free(view->patterns[i].nodes);
		g_free(view->patterns[i].examples);
		g_free(view->patterns[i].kept);
	}
	for (guint32 i = 0; i < view->n_operations; i++) {
		g_free(view->operations[i].shares);
		g_free(view->operations[i].places);
	}
	wp_view_clusters_clear(view);
	g_free(view->patterns);
	g_free(view->operations);
	g_free(view->totals);
	g_free(view->tails);
	g_free(view->edge_times);
	g_free(view->queues);
	g_free(view->pools);
	wp_view_quality_clear(&view->quality);
	g_free(view->shared);
	g_free(view->inputs);
	g_free(view->settings);
	g_free(view);
}
