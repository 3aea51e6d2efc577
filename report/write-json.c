/*
 * The view as JSON: schemas "wirepath.report/2" and "wirepath.inspect/1". Times are numbers of
 * nanoseconds; points in time are texts of nanoseconds since the epoch, as they are beyond what every
 * reader keeps exactly. Members may be added; none is removed or changes its meaning within a version.
 */
#include "config.h"

#include "report/digest-json.h"
#include "report/findings.h"
#include "report/json.h"
#include "report/view-clusters.h"
#include "report/what-if.h"
#include "report/service-graph.h"
#include "report/write-spectrum.h"
#include "report/writer.h"

static void
write_times(WpJson *json, const char *key, const WpViewTimes *times)
{
	wp_json_open(json, key, '{');
	wp_json_uint(json, "count", times->count);
	if (times->count) {
		wp_json_number(json, "sum_ns", times->sum_ns, 0);
		wp_json_number(json, "mean_ns", times->mean_ns, 1);
		wp_json_number(json, "sd_ns", times->sd_ns, 1);
		wp_json_number(json, "min_ns", times->min_ns, 0);
		wp_json_number(json, "p50_ns", times->p50_ns, 0);
		wp_json_number(json, "p90_ns", times->p90_ns, 0);
		wp_json_number(json, "p95_ns", times->p95_ns, 0);
		wp_json_number(json, "p99_ns", times->p99_ns, 0);
		wp_json_number(json, "max_ns", times->max_ns, 0);
	}
	wp_json_close(json, '}');
}

/* Null where it is not known: below 0. */
static void
write_share(WpJson *json, const char *key, double share)
{
	if (share >= 0)
		wp_json_number(json, key, share, 6);
	else
		wp_json_text(json, key, NULL);
}

/* What a place in any tree has: opens the object. */
static void
open_place(WpJson *json, const char *node, const char *label, const char *protocol, guint32 parent,
	   guint depth)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "node", node);
	wp_json_text(json, "operation", label);
	wp_json_text(json, "protocol", protocol);
	if (parent == WP_VIEW_NONE)
		wp_json_text(json, "parent", NULL);
	else
		wp_json_uint(json, "parent", parent);
	wp_json_uint(json, "depth", depth);
}

static void
write_node(WpJson *json, const WpViewNode *node)
{
	open_place(json, node->node, node->label, node->protocol, node->parent, node->depth);
	wp_json_uint(json, "repeat", node->repeat);
	wp_json_uint(json, "count", node->count);
	wp_json_uint(json, "one_way", node->n_messages);
	wp_json_bool(json, "parallel", node->is_parallel);
	wp_json_uint(json, "errors", node->errors);
	wp_json_uint(json, "bytes_call", node->bytes_call);
	wp_json_uint(json, "bytes_return", node->bytes_return);
	write_share(json, "probability", node->probability);
	wp_json_bool(json, "waits", node->waits);
	wp_json_number(json, "latency_share", node->latency_share, 6);
	wp_json_number(json, "self_share", node->self_share, 6);
	wp_json_number(json, "connecting_ns", node->connecting_ns, 0);
	wp_json_number(json, "critical_ns", node->critical_ns, 0);
	wp_json_number(json, "critical_share", node->critical_share, 6);
	write_times(json, "latency", &node->latency);
	write_times(json, "self", &node->self);
	write_times(json, "delay", &node->delay);
	write_times(json, "server", &node->server);
	if (node->network.count)
		write_times(json, "network", &node->network);
	wp_json_close(json, '}');
}

static void
write_example(WpJson *json, const WpViewExample *example)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "name", example->name);
	wp_json_number(json, "quantile", example->quantile, 4);
	wp_json_text(json, "call_id", example->id);
	wp_json_epoch(json, "begin_ns", example->begin_ns);
	wp_json_number(json, "latency_ns", example->latency_ns, 0);
	wp_json_uint(json, "input", example->tap);
	if (example->packet)
		wp_json_uint(json, "packet", example->packet);
	else
		wp_json_text(json, "packet", NULL);
	wp_json_close(json, '}');
}

static void
write_pattern(WpJson *json, const WpViewPattern *pattern)
{
	wp_json_open(json, NULL, '{');
	wp_json_uint(json, "rank", pattern->rank);
	wp_json_text(json, "client", pattern->client);
	wp_json_uint(json, "operation", pattern->operation);
	wp_json_uint(json, "count", pattern->count);
	wp_json_uint(json, "errors", pattern->errors);
	wp_json_number(json, "total_ns", pattern->total_ns, 0);
	wp_json_number(json, "share", pattern->share, 6);
	wp_json_bool(json, "background", pattern->is_background);
	write_share(json, "path_probability", pattern->path_odds);
	write_share(json, "links_probability", pattern->links_odds);
	wp_json_open(json, "nodes", '[');
	for (guint32 i = 0; i < pattern->n_nodes; i++)
		write_node(json, &pattern->nodes[i]);
	wp_json_close(json, ']');
	wp_json_open(json, "examples", '[');
	for (guint32 i = 0; i < pattern->n_examples; i++)
		write_example(json, &pattern->examples[i]);
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_shares(WpJson *json, const char *key, const WpViewShare *shares, guint32 n, gboolean labels)
{
	wp_json_open(json, key, '[');
	for (guint32 i = 0; i < n; i++) {
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "node", shares[i].node);
		if (labels)
			wp_json_text(json, "operation", shares[i].label);
		wp_json_uint(json, "count", shares[i].count);
		wp_json_uint(json, "one_way", shares[i].n_messages);
		wp_json_uint(json, "errors", shares[i].errors);
		wp_json_number(json, "self_ns", shares[i].self_ns, 0);
		wp_json_number(json, "share", shares[i].share, 6);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

static void
write_place(WpJson *json, const WpViewPlace *place)
{
	open_place(json, place->node, place->label, place->protocol, place->parent, place->depth);
	wp_json_bool(json, "waits", place->waits);
	wp_json_number(json, "calls_a_request", place->calls, 6);
	wp_json_number(json, "errors_a_request", place->errors, 6);
	wp_json_number(json, "latency_mean_ns", place->latency_ns, 1);
	wp_json_number(json, "delay_mean_ns", place->delay_ns, 1);
	wp_json_number(json, "self_a_request_ns", place->self_ns, 1);
	wp_json_number(json, "self_share", place->self_share, 6);
	wp_json_close(json, '}');
}

static void
write_operation(WpJson *json, const WpViewOperation *operation)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "client", operation->client);
	wp_json_text(json, "node", operation->node);
	wp_json_text(json, "operation", operation->label);
	wp_json_text(json, "protocol", operation->protocol);
	wp_json_uint(json, "count", operation->count);
	wp_json_uint(json, "errors", operation->errors);
	wp_json_number(json, "total_ns", operation->total_ns, 0);
	wp_json_number(json, "share", operation->share, 6);
	wp_json_bool(json, "background", operation->is_background);
	wp_json_uint(json, "patterns", operation->n_patterns);
	wp_json_open(json, "uncertain", '{');
	wp_json_uint(json, "patterns", operation->uncertain.n_patterns);
	wp_json_uint(json, "count", operation->uncertain.count);
	wp_json_number(json, "total_ns", operation->uncertain.total_ns, 0);
	wp_json_number(json, "share", operation->uncertain.share, 6);
	write_times(json, "latency", &operation->uncertain.latency);
	wp_json_close(json, '}');
	write_times(json, "latency", &operation->latency);
	write_shares(json, "self", operation->shares, operation->n_shares, TRUE);
	wp_json_open(json, "tree", '[');
	for (guint32 i = 0; i < operation->n_places; i++)
		write_place(json, &operation->places[i]);
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_tails(WpJson *json, const WpView *view)
{
	wp_json_open(json, "tails", '[');
	for (guint32 i = 0; i < view->n_tails; i++) {
		const WpViewTail *tail = &view->tails[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "caller", tail->caller);
		wp_json_text(json, "node", tail->node);
		wp_json_text(json, "operation", tail->label);
		wp_json_text(json, "protocol", tail->protocol);
		wp_json_uint(json, "count", tail->count);
		wp_json_uint(json, "slow", tail->n_slow);
		wp_json_number(json, "median_ns", tail->median_ns, 0);
		wp_json_number(json, "slow_from_ns", tail->limit_ns, 0);
		wp_json_number(json, "slow_mean_ns", tail->slow_ns, 0);
		wp_json_number(json, "max_ns", tail->max_ns, 0);
		wp_json_number(json, "excess_ns", tail->excess_ns, 0);
		wp_json_uint(json, "from_others", tail->n_others);
		wp_json_uint(json, "from_others_slow", tail->n_others_slow);
		if (tail->pattern)
			wp_json_uint(json, "pattern", tail->pattern);
		else
			wp_json_text(json, "pattern", NULL);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

static void
write_cluster(WpJson *json, const WpView *view, const WpViewCluster *cluster)
{
	wp_json_open(json, NULL, '{');
	wp_json_open(json, "patterns", '[');
	for (guint32 i = 0; i < cluster->n_members; i++)
		wp_json_uint(json, NULL, view->patterns[cluster->members[i]].rank);
	wp_json_close(json, ']');
	wp_json_uint(json, "count", cluster->count);
	wp_json_number(json, "total_ns", cluster->total_ns, 0);
	wp_json_number(json, "share", cluster->share, 6);
	wp_json_uint(json, "fastest", view->patterns[cluster->fastest].rank);
	wp_json_uint(json, "slowest", view->patterns[cluster->slowest].rank);
	wp_json_open(json, "choices", '[');
	for (guint32 i = 0; i < cluster->n_choices; i++) {
		wp_json_open(json, NULL, '[');
		for (guint32 k = 0; k < cluster->choices[i].n; k++)
			wp_json_text(json, NULL, cluster->choices[i].nodes[k]);
		wp_json_close(json, ']');
	}
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_stalls(WpJson *json, const WpViewStalls *stalls)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "cause", stalls->cause);
	wp_json_bool(json, "connecting", stalls->is_setup);
	wp_json_uint(json, "count", stalls->count);
	wp_json_uint(json, "calls", stalls->n_calls);
	wp_json_number(json, "held_ns", stalls->held_ns, 0);
	wp_json_number(json, "longest_ns", stalls->longest_ns, 0);
	wp_json_uint(json, "input", stalls->tap);
	wp_json_uint(json, "first_packet", stalls->first);
	wp_json_uint(json, "last_packet", stalls->last);
	wp_json_close(json, '}');
}

static void
write_edge_times(WpJson *json, const WpView *view)
{
	wp_json_open(json, "edge_times", '[');
	for (guint32 i = 0; i < view->n_edge_times; i++) {
		const WpViewEdgeTime *edge = &view->edge_times[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "caller", edge->caller);
		wp_json_text(json, "node", edge->node);
		wp_json_uint(json, "calls", edge->calls);
		wp_json_number(json, "latency_ns", edge->latency_ns, 0);
		wp_json_number(json, "request_ns", edge->request_ns, 0);
		wp_json_number(json, "server_ns", edge->server_ns, 0);
		wp_json_number(json, "reply_ns", edge->reply_ns, 0);
		wp_json_number(json, "stall_ns", edge->stall_ns, 0);
		wp_json_uint(json, "connections", edge->n_connects);
		wp_json_number(json, "connect_ns", edge->connect_ns, 0);
		wp_json_uint(json, "setups", edge->n_setups);
		wp_json_number(json, "setup_ns", edge->setup_ns, 0);
		wp_json_uint(json, "calls_at_both_ends", edge->n_both);
		wp_json_number(json, "network_ns", edge->network_ns, 0);
		wp_json_number(json, "client_rtt_ns", edge->client_rtt_ns, 0);
		wp_json_number(json, "server_rtt_ns", edge->server_rtt_ns, 0);
		wp_json_open(json, "stalls", '[');
		for (guint k = 0; k < edge->n_stalls; k++)
			write_stalls(json, &edge->stalls[k]);
		wp_json_close(json, ']');
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

static void
write_findings(WpJson *json, const WpView *view)
{
	g_autoptr(GArray) findings = wp_findings_new(view, WP_FINDINGS_ROW);
	wp_json_open(json, "findings", '[');
	for (guint i = 0; i < findings->len; i++) {
		const WpFinding *finding = &g_array_index(findings, WpFinding, i);
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "verdict", wp_finding_verdicts[finding->verdict]);
		wp_json_text(json, "topic", finding->topic);
		wp_json_text(json, "text", finding->text);
		if (finding->pattern)
			wp_json_uint(json, "pattern", finding->pattern);
		else
			wp_json_text(json, "pattern", NULL);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

/* Who calls whom, as expected. */
static void
write_edges(WpJson *json, const WpView *view)
{
	g_autoptr(WpServiceGraph) graph = wp_service_graph_new(view);
	wp_json_open(json, "edges", '[');
	for (guint32 i = 0; i < graph->n_edges; i++) {
		const WpServiceEdge *edge = &graph->edges[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "caller", graph->nodes[edge->from].name);
		wp_json_text(json, "node", graph->nodes[edge->to].name);
		wp_json_number(json, "calls", edge->calls, 3);
		wp_json_number(json, "errors", edge->errors, 3);
		wp_json_number(json, "latency_mean_ns", edge->latency_ns, 1);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_uint(json, "edges_left_out_nodes", graph->n_hidden);
}

static void
write_texts(WpJson *json, const char *key, const char *const *texts, guint n)
{
	wp_json_open(json, key, '[');
	for (guint i = 0; i < n; i++)
		wp_json_text(json, NULL, texts[i]);
	wp_json_close(json, ']');
}

static void
write_shared(WpJson *json, const WpView *view)
{
	wp_json_open(json, "shared_addresses", '[');
	for (guint i = 0; i < view->n_shared; i++)
		wp_json_text(json, NULL, view->shared[i].name);
	wp_json_close(json, ']');
	wp_json_open(json, "owners", '[');
	for (guint i = 0; i < view->n_shared; i++) {
		const WpViewShared *shared = &view->shared[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "node", shared->name);
		wp_json_uint(json, "flows", shared->n_flows);
		wp_json_uint(json, "by_file", shared->n_by_file);
		wp_json_uint(json, "inferred", shared->n_inferred);
		wp_json_uint(json, "clients", shared->n_clients);
		wp_json_uint(json, "any", shared->n_any);
		wp_json_uint(json, "unknown", shared->n_unknown);
		wp_json_number(json, "certainty", shared->certainty, 4);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

static void
write_settings(WpJson *json, const WpViewSetting *settings, guint n)
{
	wp_json_open(json, "settings", '[');
	for (guint i = 0; i < n; i++) {
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "key", settings[i].key);
		wp_json_text(json, "value", settings[i].value);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

static void
write_origin(WpJson *json, const char *schema, const char *const *inputs, guint n_inputs,
	     const WpViewSetting *settings, guint n_settings)
{
	wp_json_text(json, "schema", schema);
	wp_json_text(json, "program", PACKAGE_STRING);
	write_texts(json, "inputs", inputs, n_inputs);
	write_settings(json, settings, n_settings);
}

/* What was read: from when to when, and why not all, if PARTIAL. */
static void
write_extent(WpJson *json, const char *partial, gboolean has_times, gint64 begin_ns, gint64 end_ns)
{
	wp_json_bool(json, "partial", partial != NULL);
	wp_json_text(json, "partial_reason", partial);
	if (has_times) {
		wp_json_epoch(json, "begin_ns", begin_ns);
		wp_json_epoch(json, "end_ns", end_ns);
	}
}

static void
write_quality(WpJson *json, const WpViewQuality *quality)
{
	wp_json_open(json, "quality", '{');
	write_share(json, "loss_share", quality->loss_share);
	wp_json_open(json, "counters", '[');
	for (guint32 i = 0; i < quality->n_counters; i++) {
		const WpViewCounter *counter = &quality->counters[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "name", counter->name);
		wp_json_text(json, "text", counter->text);
		wp_json_text(json, "level", wp_view_level_names[counter->level]);
		wp_json_uint(json, "count", counter->count);
		wp_json_uint(json, "pairs", counter->n_pairs);
		wp_json_open(json, "worst", '[');
		for (guint k = 0; k < MIN(counter->n_pairs, WP_VIEW_MAX_PAIRS); k++) {
			wp_json_open(json, NULL, '{');
			wp_json_text(json, "sender", counter->pairs[k].sender);
			wp_json_text(json, "receiver", counter->pairs[k].receiver);
			wp_json_uint(json, "count", counter->pairs[k].count);
			wp_json_close(json, '}');
		}
		wp_json_close(json, ']');
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_count(WpJson *json, const char *key, const WpViewCount *count)
{
	wp_json_open(json, key, '{');
	wp_json_uint(json, "calls", count->calls);
	wp_json_uint(json, "messages", count->messages);
	wp_json_close(json, '}');
}

static void
write_lots(WpJson *json, const WpView *view)
{
	wp_json_open(json, "calls_add_up", '{');
	for (int i = 0; i < WP_VIEW_N_LOTS; i++)
		write_count(json, wp_view_lot_names[i], &view->lots[i]);
	wp_json_close(json, '}');
	write_count(json, "setup", &view->setup);
}

static void
write_links(WpJson *json, const WpViewLinks *links)
{
	wp_json_open(json, "links", '{');
	wp_json_text(json, "engine", links->engine);
	wp_json_text(json, "trust", wp_view_trust_names[links->trust]);
	wp_json_number(json, "parallelism", links->parallelism, 4);
	wp_json_uint(json, "linked", links->n_linked);
	wp_json_uint(json, "one_candidate", links->n_certain);
	if (links->n_measured)
		wp_json_uint(json, "measured", links->n_measured);
	if (links->has_odds) {
		wp_json_number(json, "expected_right", links->n_right, 2);
		wp_json_uint(json, "doubtful", links->n_doubtful);
		wp_json_number(json, "expected_whole_requests", links->n_whole, 2);
	}
	wp_json_number(json, "calls_lost_share", links->lost_share, 6);
	wp_json_uint(json, "requests_lacking_calls", links->n_holed);
	wp_json_uint(json, "self_times_estimated", links->n_estimated);
	if (links->n_check_links) {
		wp_json_open(json, "self_check", '{');
		wp_json_uint(json, "links", links->n_check_links);
		wp_json_uint(json, "links_right", links->n_check_links_right);
		wp_json_uint(json, "requests", links->n_check_requests);
		wp_json_uint(json, "requests_right", links->n_check_requests_right);
		wp_json_close(json, '}');
	}
	wp_json_uint(json, "requests_linked", links->n_roots);
	wp_json_uint(json, "requests_without_choice", links->n_clear);
	wp_json_open(json, "load_classes", '{');
	for (guint i = 0; i < WP_VIEW_N_CLASSES; i++)
		wp_json_uint(json, wp_view_class_names[i], links->classes[i]);
	wp_json_close(json, '}');
	wp_json_close(json, '}');
}

static void
write_facts(WpJson *json, const WpView *view)
{
	write_origin(json, "wirepath.report/2", view->inputs, view->n_inputs, view->settings,
		     view->n_settings);
	wp_json_text(json, "root", view->root);
	wp_json_text(json, "hidden", view->hidden);
	wp_json_text(json, "where", view->where);
	write_extent(json, view->partial, view->n_records > 0, view->begin_ns, view->end_ns);
	wp_json_uint(json, "packets", view->n_packets);
	wp_json_uint(json, "requests", view->n_requests);
	wp_json_uint(json, "background_requests", view->n_background);
	wp_json_uint(json, "uncertain_requests", view->n_uncertain);
	wp_json_uint(json, "calls", view->n_calls);
	wp_json_uint(json, "messages", view->n_messages);
	wp_json_uint(json, "nodes", view->n_nodes);
	wp_json_number(json, "total_ns", view->total_ns, 0);
	write_lots(json, view);
	write_links(json, &view->links);
}

static void
write_report(const WpView *view, const WpPage *page, WpOut *out)
{
	WpJson json = { .out = out };
	guint32 n = page->top ? MIN(page->top, view->n_patterns) : view->n_patterns;
	wp_json_open(&json, NULL, '{');
	write_facts(&json, view);
	write_findings(&json, view);
	wp_json_open(&json, "operations", '[');
	for (guint32 i = 0; i < view->n_operations; i++)
		write_operation(&json, &view->operations[i]);
	wp_json_close(&json, ']');
	write_shares(&json, "self_by_node", view->totals, view->n_totals, FALSE);
	if (view->what_if)
		wp_what_if_write_json(view->what_if, &json);
	write_edges(&json, view);
	write_tails(&json, view);
	write_edge_times(&json, view);
	wp_json_uint(&json, "patterns_in_all", view->n_patterns);
	wp_json_open(&json, "patterns", '[');
	for (guint32 i = 0; i < n; i++)
		write_pattern(&json, &view->patterns[i]);
	wp_json_close(&json, ']');
	wp_json_open(&json, "clusters", '[');
	for (guint32 i = 0; i < view->n_clusters; i++)
		write_cluster(&json, view, &view->clusters[i]);
	wp_json_close(&json, ']');
	write_quality(&json, &view->quality);
	write_shared(&json, view);
	if (view->digest)
		wp_digest_write(&json, "comparison", view->digest);
	wp_json_close(&json, '}');
}

/* inspect */

static void
write_counts(WpJson *json, const WpInspectionCounts *counts)
{
	wp_json_uint(json, "requests", counts->requests);
	wp_json_uint(json, "responses", counts->responses);
	wp_json_uint(json, "pairs", counts->pairs);
	wp_json_uint(json, "one_way", counts->one_way);
	wp_json_uint(json, "setup", counts->setup);
	wp_json_uint(json, "errors", counts->errors);
	wp_json_uint(json, "bytes", counts->bytes);
}

static void
write_inspected_node(WpJson *json, const WpInspectionNode *node)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "node", node->key);
	wp_json_text(json, "name", *node->name ? node->name : NULL);
	wp_json_text(json, "name_source", *node->name ? node->name_source : NULL);
	wp_json_uint(json, "calls_in", node->calls_in);
	wp_json_uint(json, "calls_out", node->calls_out);
	wp_json_uint(json, "messages_in", node->messages_in);
	wp_json_uint(json, "messages_out", node->messages_out);
	wp_json_open(json, "ports", '[');
	for (guint i = 0; i < node->n_ports; i++) {
		wp_json_open(json, NULL, '{');
		wp_json_uint(json, "port", node->ports[i].port);
		wp_json_text(json, "protocol", node->ports[i].protocol);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_flow(WpJson *json, const WpInspectionFlow *flow)
{
	wp_json_open(json, NULL, '{');
	wp_json_uint(json, "flow", flow->number);
	wp_json_text(json, "protocol", flow->protocol);
	wp_json_text(json, "client", flow->client);
	wp_json_text(json, "server", flow->server);
	wp_json_text(json, "src", *flow->src ? flow->src : NULL);
	wp_json_text(json, "dst", *flow->dst ? flow->dst : NULL);
	wp_json_epoch(json, "begin_ns", flow->begin_ns);
	wp_json_epoch(json, "end_ns", flow->end_ns);
	write_counts(json, &flow->counts);
	wp_json_close(json, '}');
}

static void
write_inspected_parts(WpJson *json, const WpInspection *inspection, const WpPage *page)
{
	guint n = page->top ? MIN(page->top, inspection->n_flows) : inspection->n_flows;
	wp_json_open(json, "nodes", '[');
	for (guint i = 0; i < inspection->n_nodes; i++)
		write_inspected_node(json, &inspection->nodes[i]);
	wp_json_close(json, ']');
	wp_json_open(json, "protocols", '[');
	for (guint i = 0; i < inspection->n_protocols; i++) {
		const WpInspectionProtocol *protocol = &inspection->protocols[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "protocol", protocol->name);
		wp_json_uint(json, "flows", protocol->flows);
		write_counts(json, &protocol->counts);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_uint(json, "flows_in_all", inspection->n_flows);
	wp_json_uint(json, "messages_of_further_flows", inspection->n_flows_more);
	wp_json_open(json, "flows", '[');
	for (guint i = 0; i < n; i++)
		write_flow(json, &inspection->flows[i]);
	wp_json_close(json, ']');
}

static void
write_inspect(const WpInspection *inspection, const WpPage *page, WpOut *out)
{
	WpJson json = { .out = out };
	wp_json_open(&json, NULL, '{');
	write_origin(&json, "wirepath.inspect/1", inspection->inputs, inspection->n_inputs,
		     inspection->settings, inspection->n_settings);
	write_extent(&json, inspection->partial, inspection->n_records > 0, inspection->begin_ns,
		     inspection->end_ns);
	wp_json_uint(&json, "packets", inspection->n_packets);
	wp_json_uint(&json, "records", inspection->n_records);
	write_counts(&json, &inspection->counts);
	write_inspected_parts(&json, inspection, page);
	write_quality(&json, &inspection->quality);
	wp_json_close(&json, '}');
}

static const char *const suffixes[] = { "json", NULL };

const WpWriter wp_writer_json = {
	.name = "json",
	.summary = "everything, for programs",
	.suffixes = suffixes,
	.wants_digest = TRUE,
	.needs_digest = TRUE,
	.shows_what_if = TRUE,
	.report = write_report,
	.spectrum = wp_spectrum_json,
	.inspect = write_inspect,
};
