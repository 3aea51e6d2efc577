/*
 * Counting by flow, protocol and node. Returns are paired with calls through a table of the ids of
 * open calls, which is bounded; in what the capture itself writes every return has its call, so the
 * table matters for foreign traces alone.
 */
#include "report/inspect.h"

#include <string.h>

/* Open calls remembered. */
#define MAX_OPEN 1000000

/* Ports listed per node; a host that serves more is scanned, not used. */
#define MAX_PORTS 64

/* From here on systems take the ports of clients (Linux; others begin at 49152, RFC 6335 section 6). */
#define FIRST_EPHEMERAL_PORT 32768

typedef struct {
	guint32 number; /* of the flow; 0 = a pair of nodes without flows */
	guint32 client;
	guint32 server;
	guint32 protocol;
	gint64 begin_ns;
	gint64 end_ns;
	WpEndpoint src;
	WpEndpoint dst;
	WpInspectionCounts counts;
	gboolean is_oriented; /* a call was seen, which tells who serves */
} Flow;

typedef struct {
	guint16 port;
	guint32 protocol;
} Port;

typedef struct {
	guint64 calls_in, calls_out, messages_in, messages_out;
	GArray *ports; /* Port */
} Node;

struct WpInspector {
	WpRecordSink sink;
	WpNodes *nodes;
	WpCounters *counters;
	GPtrArray *settings;   /* keys and values by turns */
	GArray *flows;         /* Flow */
	GHashTable *by_number; /* flow number or pair of nodes -> index + 1 */
	GArray *per_node;      /* Node */
	GArray *protocols;     /* WpInspectionCounts, by string */
	GHashTable *open;      /* ids of open calls */
	guint64 n_flows_more;
	WpInspectionCounts counts;
	guint64 n_records;
	gint64 begin_ns;
	gint64 end_ns;
	const WpNames *names; /* borrowed; may be NULL */
	WpInspection result;
};

static void
clear_node(gpointer data)
{
	Node *node = data;
	if (node->ports)
		g_array_unref(node->ports);
}

/* The caller's side of a record, whichever way it goes. */
typedef struct {
	guint32 client;
	guint32 server;
	const WpEndpoint *src;
	const WpEndpoint *dst;
} Ends;

static Ends
ends_of(const WpRecord *record)
{
	if (record->kind == WP_KIND_RETURN)
		return (Ends){ record->receiver, record->sender, &record->dst, &record->src };
	return (Ends){ record->sender, record->receiver, &record->src, &record->dst };
}

static Flow *
find_flow(WpInspector *inspector, const WpRecord *record, const Ends *ends)
{
	guint64 key = record->flow ? record->flow
				   : G_GUINT64_CONSTANT(1) << 63 | (guint64)ends->client << 32 |
					     ends->server;
	gpointer index = g_hash_table_lookup(inspector->by_number, &key);
	if (index)
		return &g_array_index(inspector->flows, Flow, GPOINTER_TO_UINT(index) - 1);
	if (inspector->flows->len >= WP_INSPECTION_MAX_FLOWS)
		return NULL;
	Flow flow = { .number = record->flow,
		      .client = ends->client,
		      .server = ends->server,
		      .begin_ns = record->begin_ns,
		      .end_ns = record->end_ns,
		      .src = *ends->src,
		      .dst = *ends->dst };
	g_array_append_val(inspector->flows, flow);
	g_hash_table_insert(inspector->by_number, g_memdup2(&key, sizeof key),
			    GUINT_TO_POINTER(inspector->flows->len));
	return &g_array_index(inspector->flows, Flow, inspector->flows->len - 1);
}

/* TRUE where the record is a return whose call is known. */
static gboolean
pair(WpInspector *inspector, const WpRecord *record)
{
	if (record->kind == WP_KIND_RETURN)
		return g_hash_table_remove(inspector->open, &record->id);
	if (record->kind == WP_KIND_CALL && g_hash_table_size(inspector->open) < MAX_OPEN)
		g_hash_table_add(inspector->open, g_memdup2(&record->id, sizeof record->id));
	return FALSE;
}

static void
count(WpInspectionCounts *counts, const WpRecord *record, gboolean is_pair)
{
	guint64 *const kinds[] = {
		[WP_KIND_CALL] = &counts->requests,
		[WP_KIND_RETURN] = &counts->responses,
		[WP_KIND_MESSAGE] = &counts->one_way,
	};
	*kinds[record->kind] += 1;
	counts->pairs += is_pair != 0;
	counts->setup += (record->marks & WP_MARK_SETUP) != 0;
	counts->errors += record->status >= WP_STATUS_ERROR;
	counts->bytes += record->bytes == WP_NO_SIZE ? 0 : record->bytes;
}

static Node *
node_at(WpInspector *inspector, guint32 node)
{
	if (node >= inspector->per_node->len)
		g_array_set_size(inspector->per_node, node + 1);
	return &g_array_index(inspector->per_node, Node, node);
}

static void
add_port(Node *node, guint16 port, guint32 protocol)
{
	if (!port)
		return;
	if (!node->ports)
		node->ports = g_array_new(FALSE, FALSE, sizeof(Port));
	for (guint i = 0; i < node->ports->len; i++) {
		Port *known = &g_array_index(node->ports, Port, i);
		if (known->port == port) {
			known->protocol = protocol ? protocol : known->protocol;
			return;
		}
	}
	Port new = { port, protocol };
	if (node->ports->len < MAX_PORTS)
		g_array_append_val(node->ports, new);
}

static void
count_node(WpInspector *inspector, const WpRecord *record, const Ends *ends)
{
	if (record->kind == WP_KIND_RETURN)
		return;
	gboolean is_call = record->kind == WP_KIND_CALL;
	Node *client = node_at(inspector, ends->client);
	*(is_call ? &client->calls_out : &client->messages_out) += 1;
	Node *server = node_at(inspector, ends->server);
	*(is_call ? &server->calls_in : &server->messages_in) += 1;
	if (is_call)
		add_port(server, ends->dst->port, record->protocol);
}

/* The first call tells who is the client; a message may come from either side. */
static void
orient(Flow *flow, const Ends *ends)
{
	flow->client = ends->client;
	flow->server = ends->server;
	flow->src = *ends->src;
	flow->dst = *ends->dst;
	flow->is_oriented = TRUE;
}

static gboolean
on_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	(void)tokens;
	(void)error;
	WpInspector *inspector = (WpInspector *)sink;
	Ends ends = ends_of(record);
	gboolean is_pair = pair(inspector, record);
	Flow *flow = find_flow(inspector, record, &ends);

	if (!inspector->n_records++)
		inspector->begin_ns = inspector->end_ns = record->begin_ns;
	inspector->begin_ns = MIN(inspector->begin_ns, record->begin_ns);
	inspector->end_ns = MAX(inspector->end_ns, record->end_ns);
	count(&inspector->counts, record, is_pair);
	if (record->protocol >= inspector->protocols->len)
		g_array_set_size(inspector->protocols, record->protocol + 1);
	count(&g_array_index(inspector->protocols, WpInspectionCounts, record->protocol), record,
	      is_pair);
	count_node(inspector, record, &ends);
	if (flow) {
		flow->begin_ns = MIN(flow->begin_ns, record->begin_ns);
		flow->end_ns = MAX(flow->end_ns, record->end_ns);
		flow->protocol = record->protocol ? record->protocol : flow->protocol;
		if (record->kind != WP_KIND_MESSAGE && !flow->is_oriented)
			orient(flow, &ends);
		count(&flow->counts, record, is_pair);
	} else {
		inspector->n_flows_more++;
	}
	return TRUE;
}

static gboolean
on_setting(WpRecordSink *sink, const char *key, const char *value, GError **error)
{
	(void)error;
	WpInspector *inspector = (WpInspector *)sink;
	g_ptr_array_add(inspector->settings, g_strdup(key));
	g_ptr_array_add(inspector->settings, g_strdup(value));
	return TRUE;
}

static gboolean
on_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	(void)error;
	wp_counters_merge(((WpInspector *)sink)->counters, counters);
	return TRUE;
}

static const WpRecordSinkOps inspector_ops = {
	.setting = on_setting,
	.record = on_record,
	.counters = on_counters,
};

WpInspector *
wp_inspector_new(WpNodes *nodes, const WpNames *names)
{
	WpInspector *inspector = g_new0(WpInspector, 1);
	inspector->sink.ops = &inspector_ops;
	inspector->nodes = wp_nodes_ref(nodes);
	inspector->names = names;
	inspector->counters = wp_counters_new();
	inspector->settings = g_ptr_array_new_with_free_func(g_free);
	inspector->flows = g_array_new(FALSE, TRUE, sizeof(Flow));
	inspector->by_number = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	inspector->per_node = g_array_new(FALSE, TRUE, sizeof(Node));
	g_array_set_clear_func(inspector->per_node, clear_node);
	inspector->protocols = g_array_new(FALSE, TRUE, sizeof(WpInspectionCounts));
	inspector->open = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	return inspector;
}

void
wp_inspector_free(WpInspector *inspector)
{
	if (!inspector)
		return;
	WpInspection *result = &inspector->result;
	for (guint i = 0; i < result->n_nodes; i++)
		g_free(result->nodes[i].ports);
	g_free(result->nodes);
	g_free(result->protocols);
	g_free(result->flows);
	g_free(result->inputs);
	g_free(result->settings);
	wp_view_quality_clear(&result->quality);
	g_hash_table_unref(inspector->open);
	g_hash_table_unref(inspector->by_number);
	g_array_unref(inspector->protocols);
	g_array_unref(inspector->per_node);
	g_array_unref(inspector->flows);
	g_ptr_array_unref(inspector->settings);
	wp_counters_free(inspector->counters);
	wp_nodes_unref(inspector->nodes);
	g_free(inspector);
}

WpRecordSink *
wp_inspector_sink(WpInspector *inspector)
{
	return &inspector->sink;
}

static void
finish_settings(WpInspector *inspector)
{
	WpInspection *result = &inspector->result;
	guint n = inspector->settings->len / 2;
	result->inputs = g_new0(const char *, n + 1);
	result->settings = g_new0(WpViewSetting, n + 1);
	for (guint i = 0; i < n; i++) {
		const char *key = inspector->settings->pdata[2 * i];
		const char *value = inspector->settings->pdata[2 * i + 1];
		if (strcmp(key, "input") == 0)
			result->inputs[result->n_inputs++] = value;
		else
			result->settings[result->n_settings++] = (WpViewSetting){ key, value };
	}
}

static gboolean
serves(WpInspector *inspector, guint32 number, guint16 port)
{
	const Node *node = node_at(inspector, number);
	for (guint i = 0; node->ports && i < node->ports->len; i++)
		if (g_array_index(node->ports, Port, i).port == port)
			return TRUE;
	return FALSE;
}

/*
 * Of a flow with messages alone: what a service pushes goes from its port to one of its client's, which
 * is no service for it; else the receiver serves.
 */
static void
orient_by_ports(WpInspector *inspector, Flow *flow)
{
	if (serves(inspector, flow->client, flow->src.port) ||
	    (flow->src.port && flow->src.port < FIRST_EPHEMERAL_PORT &&
	     flow->dst.port >= FIRST_EPHEMERAL_PORT)) {
		const Flow old = *flow;
		orient(flow, &(Ends){ old.server, old.client, &old.dst, &old.src });
	}
	add_port(node_at(inspector, flow->server), flow->dst.port, flow->protocol);
}

static void
finish_flow(WpInspector *inspector, const Flow *from, WpInspectionFlow *to)
{
	*to = (WpInspectionFlow){
		.number = from->number,
		.protocol = wp_nodes_text(inspector->nodes, from->protocol),
		.client = wp_nodes_key(inspector->nodes, from->client),
		.server = wp_nodes_key(inspector->nodes, from->server),
		.begin_ns = from->begin_ns,
		.end_ns = from->end_ns,
		.counts = from->counts,
	};
	wp_endpoint_text(&from->src, to->src, sizeof to->src);
	wp_endpoint_text(&from->dst, to->dst, sizeof to->dst);
}

static guint64
n_messages(const WpInspectionCounts *counts)
{
	return counts->requests + counts->responses + counts->one_way;
}

static int
compare_flows(gconstpointer a, gconstpointer b)
{
	const WpInspectionFlow *x = a, *y = b;
	guint64 n = n_messages(&x->counts), m = n_messages(&y->counts);
	if (n != m)
		return n < m ? 1 : -1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static void
finish_flows(WpInspector *inspector)
{
	WpInspection *result = &inspector->result;
	result->n_flows = inspector->flows->len;
	result->n_flows_more = inspector->n_flows_more;
	result->flows = g_new0(WpInspectionFlow, MAX(result->n_flows, 1));
	for (guint i = 0; i < result->n_flows; i++) {
		Flow *flow = &g_array_index(inspector->flows, Flow, i);
		if (!flow->is_oriented)
			orient_by_ports(inspector, flow);
		finish_flow(inspector, flow, &result->flows[i]);
	}
	qsort(result->flows, result->n_flows, sizeof *result->flows, compare_flows);
}

static int
compare_protocols(gconstpointer a, gconstpointer b)
{
	const WpInspectionProtocol *x = a, *y = b;
	guint64 n = n_messages(&x->counts), m = n_messages(&y->counts);
	if (n != m)
		return n < m ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void
finish_protocols(WpInspector *inspector)
{
	WpInspection *result = &inspector->result;
	guint n = inspector->protocols->len;
	result->protocols = g_new0(WpInspectionProtocol, MAX(n, 1));
	for (guint i = 0; i < n; i++) {
		const WpInspectionCounts *counts =
			&g_array_index(inspector->protocols, WpInspectionCounts, i);
		if (!n_messages(counts))
			continue;
		WpInspectionProtocol *protocol = &result->protocols[result->n_protocols++];
		protocol->name = wp_nodes_text(inspector->nodes, i);
		protocol->counts = *counts;
		for (guint k = 0; k < inspector->flows->len; k++)
			protocol->flows += g_array_index(inspector->flows, Flow, k).protocol == i;
	}
	qsort(result->protocols, result->n_protocols, sizeof *result->protocols, compare_protocols);
}

static int
compare_ports(gconstpointer a, gconstpointer b)
{
	return ((const WpInspectionPort *)a)->port - ((const WpInspectionPort *)b)->port;
}

/* The name of node NUMBER and who says it: the file of names, else what the capture tells best. */
static void
find_name(const WpInspector *inspector, guint32 number, WpInspectionNode *to)
{
	const guint8 *address = wp_nodes_address(inspector->nodes, number);
	const char *name =
		inspector->names && address ? wp_names_find(inspector->names, address, 0) : NULL;
	to->name = name ? name : "";
	to->name_source = name ? "file" : "";
	for (int source = 0; source < WP_NAME_N_SOURCES && !*to->name; source++) {
		const char *hint = wp_nodes_hint(inspector->nodes, number, source, NULL);
		if (hint) {
			to->name = hint;
			to->name_source = wp_name_source_name(source);
		}
	}
}

static void
finish_node(WpInspector *inspector, guint32 number, const Node *from, WpInspectionNode *to)
{
	to->key = wp_nodes_key(inspector->nodes, number);
	find_name(inspector, number, to);
	to->calls_in = from->calls_in;
	to->calls_out = from->calls_out;
	to->messages_in = from->messages_in;
	to->messages_out = from->messages_out;
	if (!from->ports)
		return;
	to->n_ports = from->ports->len;
	to->ports = g_new0(WpInspectionPort, to->n_ports);
	for (guint i = 0; i < to->n_ports; i++) {
		const Port *port = &g_array_index(from->ports, Port, i);
		to->ports[i].port = port->port;
		to->ports[i].protocol = wp_nodes_text(inspector->nodes, port->protocol);
	}
	qsort(to->ports, to->n_ports, sizeof *to->ports, compare_ports);
}

static int
compare_nodes(gconstpointer a, gconstpointer b)
{
	const WpInspectionNode *x = a, *y = b;
	guint64 n = x->calls_in + x->calls_out, m = y->calls_in + y->calls_out;
	if (n != m)
		return n < m ? 1 : -1;
	return strcmp(x->key, y->key);
}

static void
finish_nodes(WpInspector *inspector)
{
	WpInspection *result = &inspector->result;
	result->n_nodes = inspector->per_node->len;
	result->nodes = g_new0(WpInspectionNode, MAX(result->n_nodes, 1));
	for (guint i = 0; i < result->n_nodes; i++)
		finish_node(inspector, i, &g_array_index(inspector->per_node, Node, i),
			    &result->nodes[i]);
	qsort(result->nodes, result->n_nodes, sizeof *result->nodes, compare_nodes);
}

const WpInspection *
wp_inspector_finish(WpInspector *inspector, const char *file, const char *partial,
		    gboolean is_selective)
{
	WpInspection *result = &inspector->result;
	result->file = file;
	result->partial = partial;
	result->is_selective = is_selective;
	result->begin_ns = inspector->begin_ns;
	result->end_ns = inspector->end_ns;
	result->n_records = inspector->n_records;
	result->n_packets = wp_counters_get(inspector->counters, WP_COUNT_PACKETS);
	result->counts = inspector->counts;
	finish_settings(inspector);
	wp_view_widen(result->settings, result->n_settings, &result->begin_ns, &result->end_ns);
	finish_flows(inspector);
	finish_protocols(inspector);
	finish_nodes(inspector);
	wp_view_quality_fill(&result->quality, inspector->counters, inspector->nodes, NULL);
	return result;
}
