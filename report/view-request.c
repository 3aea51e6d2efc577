/*
 * One request, from the instance that a pattern keeps.
 *
 * Critical path: what the request waited for, from its end back. Of the children of a call the one that
 * returned last is on it, then the one that returned last before that one was called, and so on; what no such
 * child covers is the call's own part. The parts add up to the latency of the root.
 *
 *   web  |====|..........|==|............|===|      = own part
 *   db        |----------|  .            .
 *   auth                    |------------|
 *   mail              |----------|                  not waited for: auth returned later
 */
#include "report/view-request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/critical.h"
#include "infer/pattern.h"
#include "report/analysis.h"
#include "report/format.h"
#include "report/view-private.h"

typedef struct {
	const WpNodes *nodes;
	const WpResolved *resolved;
	const WpInstance *instance;
	WpViewRequest *request;
} Maker;

static char *
id_text(const Maker *maker, guint64 id)
{
	char buffer[WP_ID_TEXT_MAX];
	return g_strdup(id == WP_NO_ID ? "" : wp_record_id_text(maker->nodes, id, buffer));
}

static void
fill_end(WpViewEnd *end, const WpEndpoint *endpoint)
{
	if (!wp_endpoint_is_known(endpoint))
		return;
	wp_address_text(endpoint->address, end->address, sizeof end->address);
	end->port = endpoint->port;
}

static void
fill_times(WpViewCall *call, const WpInstanceCall *from, gint64 begin_ns)
{
	call->start_ns = (double)(from->begin_ns - begin_ns);
	call->has_end = from->end_ns != WP_NO_TIME;
	if (call->has_end) {
		call->latency_ns = (double)(from->end_ns - from->begin_ns);
		call->self_ns = (double)from->self_ns;
		call->connecting_ns = (double)from->connecting_ns;
	}
	call->request_ns = (double)from->request_ns;
	call->server_ns = (double)from->server_ns;
	call->reply_ns = (double)from->reply_ns;
	call->stall_ns = (double)from->stall_ns;
	call->n_stalls = from->n_stalls;
	call->cause = wp_transport_name(from->stall_kind);
	call->longest_ns = (double)from->longest_ns;
	call->stall_first = from->stall_first;
	call->stall_last = from->stall_last;
	call->connect_ns = (double)from->connect_ns;
	call->setup_ns = (double)from->setup_ns;
	call->network_ns = (double)from->network_ns;
}

static void
fill_call(const Maker *maker, const WpInstanceCall *from, WpViewCall *call)
{
	char evidence[WP_EVIDENCE_TEXT_MAX];

	*call = (WpViewCall){
		.parent = from->parent == G_MAXUINT32 ? WP_VIEW_NONE : from->parent,
		.depth = from->depth,
		.is_last = TRUE,
		.is_parallel = from->overlaps,
		.is_one_way = from->kind == WP_KIND_MESSAGE,
		.waits = (from->marks & WP_MARK_WAIT) != 0,
		.is_error = from->status == WP_STATUS_ERROR || from->status == WP_STATUS_RESET ||
			    from->status == WP_STATUS_TIMEOUT,
		.is_estimated = from->is_estimated,
		.caller = wp_resolved_node_name(maker->resolved, from->caller),
		.callee = wp_resolved_node_name(maker->resolved, from->callee),
		.label = wp_nodes_text(maker->nodes, from->label),
		.protocol = wp_nodes_text(maker->nodes, from->protocol),
		.status = wp_status_name(from->status),
		.id = id_text(maker, from->id),
		.runner_id = id_text(maker, from->runner_id),
		.probability = (double)from->probability,
		.n_candidates = from->n_candidates,
		.evidence = g_strdup(wp_evidence_text(from->evidence, evidence, sizeof evidence)),
	};
	for (int i = 0; i < 2; i++)
		call->messages[i] = (WpViewMessage){
			.has_bytes = from->bytes[i] != WP_NO_SIZE,
			.bytes = from->bytes[i] == WP_NO_SIZE ? 0 : from->bytes[i],
			.packet = from->packets[i],
			.tap = from->taps[i],
		};
	fill_end(&call->src, &from->src);
	fill_end(&call->dst, &from->dst);
	fill_times(call, from, maker->instance->calls[0].begin_ns);
}

/* The nodes of the view's pattern, by node of the set's. */
static void
fill_places(const Maker *maker, const WpPattern *from)
{
	const WpViewPattern *pattern = maker->request->pattern;
	g_autofree guint32 *places = g_new(guint32, (gsize)from->n_nodes + 1);
	guint32 n_places = 0;

	for (guint32 i = 0, n; i < from->n_nodes; i += n, n_places++) {
		n = wp_view_run_length(from, i);
		for (guint32 k = 0; k < n; k++)
			places[i + k] = n_places;
	}
	for (guint32 i = 0; i < maker->request->n_calls; i++) {
		guint32 place = maker->instance->calls[i].place;
		if (place < from->n_nodes)
			maker->request->calls[i].node = &pattern->nodes[places[place]];
	}
}

static double
median_self(const WpViewCall *call)
{
	return call->node && call->node->count > 1 ? call->node->self.p50_ns : 0;
}

/* The last child of each, and where the time went. */
static void
mark_calls(WpViewRequest *request)
{
	g_autofree guint32 *last = g_new(guint32, (gsize)request->n_calls + 1);
	WpViewCall *hottest = NULL;

	for (guint32 i = 0; i < request->n_calls; i++) {
		WpViewCall *call = &request->calls[i];
		last[i] = WP_VIEW_NONE;
		if (i) {
			if (last[call->parent] != WP_VIEW_NONE)
				request->calls[last[call->parent]].is_last = FALSE;
			last[call->parent] = i;
		}
		if (!call->waits && (!hottest || call->self_ns - median_self(call) >
							 hottest->self_ns - median_self(hottest)))
			hottest = call;
	}
	if (hottest && hottest->self_ns > 0)
		hottest->is_hottest = TRUE;
}

static double
end_of(const WpViewCall *call)
{
	return call->start_ns + call->latency_ns;
}

/* --- critical path --- */

static void
fill_critical(WpViewRequest *request)
{
	guint32 n = request->n_calls;
	g_autofree WpCriticalCall *calls = g_new(WpCriticalCall, (gsize)n + 1);
	g_autofree gint64 *parts = g_new0(gint64, (gsize)n + 1);

	for (guint32 i = 0; i < n; i++) {
		const WpViewCall *call = &request->calls[i];
		gint64 begin_ns = (gint64)call->start_ns;
		calls[i] = (WpCriticalCall){ call->parent, begin_ns,
					     call->has_end ? begin_ns + (gint64)call->latency_ns
							   : WP_NO_TIME };
	}
	wp_critical_path(calls, n, parts);
	for (guint32 i = 0; i < n; i++)
		request->calls[i].critical_ns = (double)parts[i];
}

/* --- the whole --- */

typedef struct {
	double limit_ns;
	guint64 below;
} Below;

static void
count_below(G_GNUC_UNUSED gint64 low_ns, gint64 high_ns, guint64 count, gpointer data)
{
	Below *below = data;
	if ((double)high_ns <= below->limit_ns)
		below->below += count;
}

/* At least this share is below NS: of those in the same bin nothing is known, but that the slowest is the slowest. */
static double
share_below(const WpDelay *latency, double ns)
{
	Below below = { ns, 0 };
	guint64 n = wp_delay_count(latency);
	if (n < 2)
		return 0;
	wp_delay_foreach_bin(latency, count_below, &below);
	if (ns >= (double)wp_delay_max_ns(latency))
		below.below = n - 1;
	return (double)MIN(below.below, n - 1) / (double)n;
}

static double
mean_power(const WpView *view)
{
	const WpViewLinks *links = &view->links;
	return links->n_roots ? links->whole_powers / (double)links->n_roots : 1;
}

/* As the links say: all of them right. POWER: see WpLinks. */
static double
odds_of(const WpViewRequest *request, double power)
{
	double odds = 1;
	for (guint32 i = 1; i < request->n_calls; i++) {
		if (request->calls[i].probability < 0)
			return -1;
		odds *= MIN(request->calls[i].probability, 1);
	}
	return pow(odds, power);
}

WpViewRequest *
wp_view_request_new(const WpView *view, const WpViewPattern *pattern, const WpViewExample *example)
{
	const WpAnalysis *analysis = view->analysis;
	const WpPattern *from = &analysis->patterns->patterns[pattern->number];
	const WpInstance *instance = example->instance;

	if (!instance)
		return NULL;
	WpViewRequest *request = g_new0(WpViewRequest, 1);
	const Maker maker = { wp_trace_nodes(analysis->trace), analysis->resolved, instance,
			      request };
	request->pattern = pattern;
	request->begin_ns = example->begin_ns;
	request->latency_ns = example->latency_ns;
	request->slower_than = share_below(from->nodes[0].latency, example->latency_ns);
	request->n_calls = instance->n_calls;
	request->n_more = instance->n_more;
	request->calls = g_new0(WpViewCall, instance->n_calls);
	for (guint32 i = 0; i < instance->n_calls; i++)
		fill_call(&maker, &instance->calls[i], &request->calls[i]);
	fill_places(&maker, from);
	mark_calls(request);
	fill_critical(request);
	request->links_odds = odds_of(request, mean_power(view));
	return request;
}

void
wp_view_request_free(WpViewRequest *request)
{
	if (!request)
		return;
	for (guint32 i = 0; i < request->n_calls; i++) {
		g_free(request->calls[i].id);
		g_free(request->calls[i].runner_id);
		g_free(request->calls[i].evidence);
	}
	g_free(request->calls);
	g_free(request);
}

/* --- Wireshark --- */

static int
compare_packets(gconstpointer a, gconstpointer b)
{
	guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
	return x < y ? -1 : x > y;
}

char *
wp_view_request_frames(const WpViewRequest *request, guint tap)
{
	g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(guint64));

	for (guint32 i = 0; i < request->n_calls; i++)
		for (int way = 0; way < 2; way++) {
			const WpViewMessage *message = &request->calls[i].messages[way];
			if (message->packet && message->tap == tap)
				g_array_append_val(packets, message->packet);
		}
	if (packets->len == 0)
		return NULL;
	g_array_sort(packets, compare_packets);
	GString *filter = g_string_new("frame.number in {");
	for (guint i = 0; i < packets->len; i++) {
		guint64 packet = g_array_index(packets, guint64, i);
		if (i && packet == g_array_index(packets, guint64, i - 1))
			continue;
		g_string_append_printf(filter, "%s%" G_GUINT64_FORMAT, i ? ", " : "", packet);
	}
	g_string_append_c(filter, '}');
	return g_string_free(filter, FALSE);
}

/* "(ip.addr == 10.0.0.1 && ip.addr == 10.0.0.2 && (tcp.port == 40001 || udp.port == 40001))" */
static char *
flow_filter(const WpViewCall *call)
{
	const char *ip = strchr(call->src.address, ':') ? "ipv6" : "ip";
	return g_strdup_printf(
		"(%s.addr == %s && %s.addr == %s && (tcp.port == %u || udp.port == %u))", ip,
		call->src.address, ip, call->dst.address, call->src.port, call->src.port);
}

char *
wp_view_request_flows(const WpViewRequest *request)
{
	char begin[WP_FORMAT_MAX], end[WP_FORMAT_MAX];
	g_autoptr(GPtrArray) flows = g_ptr_array_new_with_free_func(g_free);
	gint64 end_ns = request->begin_ns;

	for (guint32 i = 0; i < request->n_calls; i++) {
		const WpViewCall *call = &request->calls[i];
		if (!*call->src.address || !*call->dst.address)
			continue;
		g_autofree char *flow = flow_filter(call);
		end_ns = MAX(end_ns, request->begin_ns + (gint64)end_of(call));
		if (!g_ptr_array_find_with_equal_func(flows, flow, g_str_equal, NULL))
			g_ptr_array_add(flows, g_steal_pointer(&flow));
	}
	if (flows->len == 0)
		return NULL;
	g_ptr_array_add(flows, NULL);
	g_autofree char *all = g_strjoinv(" || ", (char **)flows->pdata);
	wp_format_epoch(begin, request->begin_ns);
	wp_format_epoch(end, end_ns);
	return g_strdup_printf("frame.time_epoch >= %s && frame.time_epoch <= %s && (%s)", begin,
			       end, all);
}
