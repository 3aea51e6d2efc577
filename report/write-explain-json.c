/* One request, for programs: all that the text page shows, and the numbers unrounded. */
#include "config.h"

#include "report/json.h"
#include "report/write-explain.h"

static void
write_end(WpJson *json, const char *key, const WpViewEnd *end)
{
	wp_json_open(json, key, '{');
	wp_json_text(json, "address", *end->address ? end->address : NULL);
	if (end->port)
		wp_json_uint(json, "port", end->port);
	else
		wp_json_text(json, "port", NULL);
	wp_json_close(json, '}');
}

static void
write_message(WpJson *json, const char *key, const WpViewMessage *message)
{
	wp_json_open(json, key, '{');
	if (message->has_bytes)
		wp_json_uint(json, "bytes", message->bytes);
	else
		wp_json_text(json, "bytes", NULL);
	if (message->packet)
		wp_json_uint(json, "packet", message->packet);
	else
		wp_json_text(json, "packet", NULL);
	wp_json_uint(json, "input", message->tap);
	wp_json_close(json, '}');
}

/* VALUE, or null where it IS_NONE. */
static void
write_ns(WpJson *json, const char *key, double value, gboolean is_none)
{
	if (is_none)
		wp_json_text(json, key, NULL);
	else
		wp_json_number(json, key, value, 0);
}

static void
write_times(WpJson *json, const WpViewCall *call)
{
	const WpViewNode *node = call->node;
	gboolean is_open = !call->has_end || call->is_one_way;
	wp_json_number(json, "start_ns", call->start_ns, 0);
	write_ns(json, "latency_ns", call->latency_ns, !call->has_end);
	write_ns(json, "self_ns", call->self_ns, !call->has_end);
	write_ns(json, "self_connecting_ns", call->connecting_ns, !call->has_end);
	wp_json_bool(json, "self_is_estimated", call->is_estimated);
	wp_json_number(json, "critical_ns", call->critical_ns, 0);
	write_ns(json, "request_ns", call->request_ns, is_open);
	write_ns(json, "server_ns", call->server_ns, is_open);
	write_ns(json, "reply_ns", call->reply_ns, is_open);
	write_ns(json, "stall_ns", call->stall_ns, is_open);
	wp_json_uint(json, "stalls", call->n_stalls);
	if (call->n_stalls) {
		wp_json_open(json, "longest_stall", '{');
		wp_json_text(json, "cause", call->cause);
		wp_json_number(json, "held_ns", call->longest_ns, 0);
		wp_json_uint(json, "first_packet", call->stall_first);
		wp_json_uint(json, "last_packet", call->stall_last);
		wp_json_close(json, '}');
	}
	write_ns(json, "connect_ns", call->connect_ns, call->connect_ns < 0);
	write_ns(json, "setup_ns", call->setup_ns, call->setup_ns < 0);
	write_ns(json, "network_ns", call->network_ns, call->network_ns < 0);
	write_ns(json, "median_latency_ns", node ? node->latency.p50_ns : 0,
		 !node || !node->latency.count);
	write_ns(json, "median_self_ns", node ? node->self.p50_ns : 0, !node || !node->self.count);
}

static void
write_call(WpJson *json, const WpViewCall *call)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "call_id", call->id);
	if (call->parent == WP_VIEW_NONE)
		wp_json_text(json, "parent", NULL);
	else
		wp_json_uint(json, "parent", call->parent);
	wp_json_uint(json, "depth", call->depth);
	wp_json_text(json, "caller", call->caller);
	wp_json_text(json, "node", call->callee);
	wp_json_text(json, "operation", *call->label ? call->label : NULL);
	wp_json_text(json, "protocol", *call->protocol ? call->protocol : NULL);
	wp_json_text(json, "status", call->status);
	wp_json_bool(json, "one_way", call->is_one_way);
	wp_json_bool(json, "waits", call->waits);
	wp_json_bool(json, "parallel", call->is_parallel);
	write_times(json, call);
	write_message(json, "call", &call->messages[0]);
	write_message(json, "return", &call->messages[1]);
	write_end(json, "source", &call->src);
	write_end(json, "destination", &call->dst);
	if (call->probability >= 0)
		wp_json_number(json, "probability", call->probability, 4);
	else
		wp_json_text(json, "probability", NULL);
	wp_json_uint(json, "candidates", call->n_candidates);
	wp_json_text(json, "runner_up", *call->runner_id ? call->runner_id : NULL);
	wp_json_text(json, "evidence", call->evidence);
	wp_json_close(json, '}');
}

static void
write_filters(WpJson *json, const WpView *view, const WpViewRequest *request)
{
	g_autofree char *flows = wp_view_request_flows(request);
	wp_json_open(json, "wireshark", '{');
	wp_json_open(json, "frames", '[');
	for (guint tap = 0; tap < MAX(view->n_inputs, 1); tap++) {
		g_autofree char *frames = wp_view_request_frames(request, tap);
		wp_json_text(json, NULL, frames);
	}
	wp_json_close(json, ']');
	wp_json_text(json, "flows", flows);
	wp_json_close(json, '}');
}

void
wp_json_request(WpJson *json, const WpView *view, const WpViewRequest *request)
{
	const WpViewPattern *pattern = request->pattern;
	wp_json_open(json, NULL, '{');
	wp_json_epoch(json, "begin_ns", request->begin_ns);
	wp_json_number(json, "latency_ns", request->latency_ns, 0);
	wp_json_open(json, "pattern", '{');
	if (pattern->rank)
		wp_json_uint(json, "rank", pattern->rank);
	else
		wp_json_text(json, "rank", NULL);
	wp_json_uint(json, "count", pattern->count);
	wp_json_number(json, "latency_p50_ns", pattern->nodes[0].latency.p50_ns, 0);
	wp_json_number(json, "latency_p99_ns", pattern->nodes[0].latency.p99_ns, 0);
	wp_json_close(json, '}');
	wp_json_number(json, "slower_than", request->slower_than, 4);
	if (request->links_odds >= 0)
		wp_json_number(json, "links_probability", request->links_odds, 6);
	else
		wp_json_text(json, "links_probability", NULL);
	wp_json_uint(json, "further_calls", request->n_more);
	wp_json_open(json, "calls", '[');
	for (guint32 i = 0; i < request->n_calls; i++)
		write_call(json, &request->calls[i]);
	wp_json_close(json, ']');
	write_filters(json, view, request);
	wp_json_close(json, '}');
}

void
wp_explain_json(const WpView *view, const GPtrArray *requests, WpOut *out)
{
	WpJson json = { .out = out };
	wp_json_open(&json, NULL, '{');
	wp_json_text(&json, "schema", "wirepath.explain/1");
	wp_json_text(&json, "program", PACKAGE_STRING);
	wp_json_text(&json, "engine", view->links.engine);
	wp_json_open(&json, "inputs", '[');
	for (guint i = 0; i < view->n_inputs; i++)
		wp_json_text(&json, NULL, view->inputs[i]);
	wp_json_close(&json, ']');
	wp_json_open(&json, "requests", '[');
	for (guint i = 0; i < requests->len; i++)
		wp_json_request(&json, view, requests->pdata[i]);
	wp_json_close(&json, ']');
	wp_json_close(&json, '}');
}
