/*
 * Resolve, in the order of the functions below: which ports are services, which addresses are one
 * node, what the nodes are called, which are hosts; then the spans get their nodes.
 *
 * A "place" is what an address is before ports: the node of one trace node, or of several that fold.
 */
#include "infer/resolve.h"

#include <string.h>

#include "infer/replicas.h"
#include "infer/resolve-private.h"

#define FIRST_USER_PORT 1024 /* below are ports that only services bind, RFC 6335 section 6 */

static WpResolvePlace *
get_place(const WpResolved *resolved, guint32 node)
{
	return &g_array_index(resolved->places, WpResolvePlace,
			      wp_resolve_address(resolved, node)->place);
}

static const WpRecord *
call_record(const WpResolved *resolved, const WpSpan *span)
{
	return &wp_trace_records(resolved->trace)[span->call_record];
}

/* What ports receive. Spans still carry nodes of the trace. */
static void
count_received(WpResolved *resolved)
{
	for (guint32 i = 0; i < resolved->spans->n; i++) {
		const WpSpan *span = &resolved->spans->spans[i];
		const WpRecord *record = call_record(resolved, span);
		guint64 peer = wp_map_key(span->caller, record->src.port);
		if (span->kind != WP_KIND_CALL || span->marks & (WP_MARK_SETUP | WP_MARK_CARRIED) ||
		    !record->dst.port)
			continue;
		guint32 number = wp_map_number(resolved->port_numbers,
					       wp_map_key(span->callee, record->dst.port));
		if (number == resolved->ports->len) {
			WpResolvePort port = { .node = span->callee,
					       .port = record->dst.port,
					       .first_peer = peer };
			g_array_append_val(resolved->ports, port);
		}
		WpResolvePort *port = &g_array_index(resolved->ports, WpResolvePort, number);
		port->n_received++;
		port->has_peers |= port->first_peer != peer;
	}
}

/*
 * What called ports send themselves. A client has a port for one connection; one that also sends to another
 * than it hears from has peers, as the port of a broker, which is called by one and calls the next.
 */
static void
count_sent(WpResolved *resolved)
{
	for (guint32 i = 0; i < resolved->spans->n; i++) {
		const WpSpan *span = &resolved->spans->spans[i];
		const WpRecord *record = call_record(resolved, span);
		guint32 number = wp_map_find(resolved->port_numbers,
					     wp_map_key(span->caller, record->src.port));
		if (number == WP_MAP_NONE || span->kind != WP_KIND_CALL ||
		    span->marks & (WP_MARK_SETUP | WP_MARK_CARRIED))
			continue;
		WpResolvePort *port = &g_array_index(resolved->ports, WpResolvePort, number);
		port->n_sent++;
		port->has_peers |= port->first_peer != wp_map_key(span->callee, record->dst.port);
	}
}

static gboolean
is_service(const WpResolvePort *port)
{
	return port->n_sent == 0 || port->has_peers || port->n_received > port->n_sent;
}

guint32
wp_resolve_service(const WpResolved *resolved, guint32 trace_node, guint16 port)
{
	guint32 number = wp_map_find(resolved->port_numbers, wp_map_key(trace_node, port));

	if (!port || number == WP_MAP_NONE ||
	    !is_service(&g_array_index(resolved->ports, WpResolvePort, number)))
		return WP_MAP_NONE;
	return number;
}

static gboolean
is_random(const WpResolvePort *port)
{
	return port->port >= FIRST_USER_PORT && !port->has_peers;
}

/* A message that a service pushes to one of its clients does not make that a server. */
static gboolean
is_push(const WpResolved *resolved, const WpSpan *span)
{
	guint32 number =
		wp_map_find(resolved->port_numbers,
			    wp_map_key(span->caller, call_record(resolved, span)->src.port));
	return span->kind == WP_KIND_MESSAGE && number != WP_MAP_NONE;
}

static void
study_addresses(WpResolved *resolved)
{
	for (guint32 i = 0; i < resolved->spans->n; i++) {
		const WpSpan *span = &resolved->spans->spans[i];
		guint64 pair = wp_map_key(span->caller, span->callee);
		if (span->caller != span->callee &&
		    wp_map_number(resolved->pair_numbers, pair) == resolved->pairs->len)
			g_array_append_val(resolved->pairs, pair);
		if (span->marks & WP_MARK_SETUP)
			continue;
		wp_resolve_address(resolved, span->caller)->sends = TRUE;
		if (!is_push(resolved, span))
			wp_resolve_address(resolved, span->callee)->is_called = TRUE;
	}
	WpNodes *nodes = wp_trace_nodes(resolved->trace);
	wp_resolve_gather_hints(resolved);
	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		const guint8 *bytes = wp_nodes_address(nodes, i);
		const char *name = NULL;
		if (bytes && resolved->names)
			name = wp_names_find(resolved->names, bytes, 0);
		/* A trace keeps the names that it was made with. */
		if (!name && bytes)
			name = wp_nodes_hint(nodes, i, WP_NAME_FILE, NULL);
		wp_resolve_address(resolved, i)->file_name = name;
	}
}

static void
find_clients(WpResolved *resolved)
{
	const WpResolveOptions *options = &resolved->options;
	guint most = options->joins_clients ? 1 : WP_RESOLVE_MAX_CLIENTS;
	WpNodes *nodes = wp_trace_nodes(resolved->trace);
	guint n_clients = 0;

	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		WpResolveAddress *address = wp_resolve_address(resolved, i);
		/* A name of a foreign trace means something; that of all clients beyond so many does not. */
		gboolean is_any = wp_nodes_address(nodes, i) ||
				  strcmp(wp_nodes_key(nodes, i), WP_NODES_OTHER_CALLERS) == 0;
		address->is_client =
			is_any && address->sends && !address->is_called && !address->file_name;
		n_clients += address->is_client;
	}
	resolved->folds_clients |= !options->keep_clients && n_clients > most;
	if (resolved->folds_clients)
		return;
	for (guint32 i = 0; i < resolved->addresses->len; i++)
		wp_resolve_address(resolved, i)->is_client = FALSE;
}

/* Which addresses are replicas. Those that the file names are not asked: it says what is one. */
static void
find_replicas(WpResolved *resolved, gboolean folds)
{
	guint32 n = resolved->addresses->len;
	g_autofree guint32 *firsts =
		folds ? wp_replicas_find(resolved->trace, resolved->spans, n) : NULL;

	for (guint32 i = 0; i < n; i++) {
		WpResolveAddress *address = wp_resolve_address(resolved, i);
		if (address->is_decided)
			continue;
		gboolean is_named = address->file_name ||
				    (firsts && wp_resolve_address(resolved, firsts[i])->file_name);
		address->is_decided = address->sends || address->is_called;
		address->fold = folds && !is_named ? firsts[i] : i;
	}
}

/* Gives each address its place: by name in the file, "client", its replicas', else its own. */
static void
make_places(WpResolved *resolved)
{
	g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
	guint32 clients = WP_NO_NODE;

	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		WpResolveAddress *address = wp_resolve_address(resolved, i);
		WpResolvePlace place = { .first = i, .named = address->file_name };
		address->place = resolved->places->len;
		if (address->file_name) {
			gpointer known = g_hash_table_lookup(by_name, address->file_name);
			if (known)
				address->place = GPOINTER_TO_UINT(known) - 1;
			else
				g_hash_table_insert(by_name, (gpointer)address->file_name,
						    GUINT_TO_POINTER(resolved->places->len + 1));
		} else if (address->is_client) {
			clients = clients == WP_NO_NODE ? address->place : clients;
			address->place = clients;
		} else if (address->fold != i) {
			address->place = wp_resolve_address(resolved, address->fold)->place;
			g_array_index(resolved->places, WpResolvePlace, address->place).n_folded++;
		}
		if (address->place == resolved->places->len)
			g_array_append_val(resolved->places, place);
	}
}

/* Hosts: the address, but for the two ends of one machine (see resolve.h). */
static void
find_hosts(WpResolved *resolved)
{
	guint32 n = resolved->places->len;
	g_autofree guint32 *called = g_new(guint32, n + 1); /* first that only is called */
	g_autofree guint8 *joins = g_new0(guint8, n + 1);

	memset(called, 0xff, (n + 1) * sizeof *called);
	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		const WpResolveAddress *address = wp_resolve_address(resolved, i);
		if (address->is_called && !address->sends && called[address->place] == WP_NO_NODE)
			called[address->place] = i;
		joins[address->place] |= address->sends && !address->is_called;
	}
	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		WpResolveAddress *address = wp_resolve_address(resolved, i);
		gboolean both = address->sends && address->is_called;
		address->host = i;
		if (address->file_name && !both && joins[address->place] &&
		    called[address->place] != WP_NO_NODE)
			address->host = called[address->place];
	}
}

/* The user's node called NAME, for PORT of TRACE_NODE (0: all or the rest of it); made where it is new. */
static guint32
get_node(WpResolved *resolved, const char *name, guint32 trace_node, guint16 port)
{
	guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(resolved->taken, name));

	if (number == 0) {
		WpResolveNode made = { .name = g_strdup(name) };
		g_array_append_val(resolved->nodes, made);
		number = resolved->nodes->len;
		g_hash_table_insert(resolved->taken, made.name, GUINT_TO_POINTER(number));
	}
	WpResolveNode *node = &g_array_index(resolved->nodes, WpResolveNode, number - 1);
	node->trace_node = trace_node;
	node->port = port;
	node->is_whole = port == 0 || !get_place(resolved, trace_node)->is_split;
	node->callee_now = node->caller_now = number - 1;
	return number - 1;
}

/* Counts the services of each place: different names in the file, and ports without one. */
static void
count_services(WpResolved *resolved)
{
	g_autoptr(WpMap) seen = wp_map_new();
	g_autoptr(WpStrings) names = wp_strings_new();

	for (guint i = 0; i < resolved->ports->len; i++) {
		const WpResolvePort *port = &g_array_index(resolved->ports, WpResolvePort, i);
		guint32 number = wp_resolve_address(resolved, port->node)->place;
		WpResolvePlace *place = get_place(resolved, port->node);
		if (!is_service(port))
			continue;
		const char *name = wp_resolve_port_name(resolved, port);
		guint32 what = name ? 0x10000 + wp_strings_intern(names, name, -1) : port->port;
		guint32 known = wp_map_count(seen);
		if (wp_map_number(seen, wp_map_key(number, what)) != known)
			continue;
		place->n_services++;
		place->n_random += !name && is_random(port);
	}
	for (guint32 i = 0; i < resolved->places->len; i++) {
		WpResolvePlace *place = &g_array_index(resolved->places, WpResolvePlace, i);
		if (place->n_random > WP_RESOLVE_MAX_PORTS)
			place->n_services -= place->n_random - 1;
		place->is_split = place->n_services > 1;
	}
	for (guint32 i = 0; i < resolved->addresses->len; i++)
		get_place(resolved, i)->is_split |= wp_resolve_address(resolved, i)->calls_itself;
}

/* (transfer full) The name of the node that a port belongs to. */
static char *
service_name(const WpResolved *resolved, const WpResolvePort *port)
{
	const WpResolvePlace *place = get_place(resolved, port->node);
	const char *name = wp_resolve_port_name(resolved, port);
	WpEndpoint endpoint;

	if (name)
		return g_strdup(name);
	if (!place->is_split)
		return g_strdup(place->base);
	if (place->n_random > WP_RESOLVE_MAX_PORTS && is_random(port))
		return g_strdup_printf("%s:*", place->base);
	g_autofree char *host = wp_resolve_port_host(resolved, port);
	if (host)
		return g_steal_pointer(&host);
	gboolean is_ipv6 = strchr(place->base, ':') && wp_endpoint_parse(place->base, &endpoint);
	return g_strdup_printf(is_ipv6 ? "[%s]:%u" : "%s:%u", place->base, port->port);
}

static int
compare_ports(gconstpointer a, gconstpointer b)
{
	const WpResolvePort *left = *(const WpResolvePort *const *)a,
			    *right = *(const WpResolvePort *const *)b;

	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	return (left->port > right->port) - (left->port < right->port);
}

/* Nodes of services by address and port, then those of the rest of each place. */
static void
make_nodes(WpResolved *resolved)
{
	g_autoptr(GPtrArray) ports = g_ptr_array_new();

	for (guint i = 0; i < resolved->ports->len; i++)
		g_ptr_array_add(ports, &g_array_index(resolved->ports, WpResolvePort, i));
	g_ptr_array_sort(ports, compare_ports);
	for (guint i = 0; i < ports->len; i++) {
		const WpResolvePort *port = ports->pdata[i];
		if (!is_service(port))
			continue;
		g_autofree char *name = service_name(resolved, port);
		guint32 node = get_node(resolved, name, port->node, port->port);
		*wp_map_at(resolved->services, wp_map_key(port->node, port->port), node) = node;
		get_place(resolved, port->node)->node = node;
	}
	for (guint32 i = 0; i < resolved->places->len; i++) {
		WpResolvePlace *place = &g_array_index(resolved->places, WpResolvePlace, i);
		if (place->n_services != 1 || place->is_split)
			place->node = get_node(resolved, place->base, place->first, 0);
	}
}

guint32
wp_resolve_node_at(const WpResolved *resolved, guint32 trace_node, guint16 port)
{
	guint32 node =
		port ? wp_map_find(resolved->services, wp_map_key(trace_node, port)) : WP_MAP_NONE;
	return node != WP_MAP_NONE ? node : get_place(resolved, trace_node)->node;
}

static gboolean
is_pooled(const WpResolved *resolved, guint32 trace_node)
{
	const WpResolveAddress *address = wp_resolve_address(resolved, trace_node);

	return address->machine != WP_NO_NODE &&
	       wp_resolve_address(resolved, address->machine)->is_pooled;
}

static gboolean
is_open(const WpResolved *resolved, guint32 trace_node)
{
	const WpResolveAddress *address = wp_resolve_address(resolved, trace_node);

	return address->machine != WP_NO_NODE &&
	       wp_resolve_address(resolved, address->machine)->is_open;
}

/* A host of its own for what NODE is on a shared machine. */
static guint32
host_on(WpResolved *resolved, WpMap *hosts, guint32 trace_node, guint32 node)
{
	const WpResolveAddress *address = wp_resolve_address(resolved, trace_node);

	if (address->machine == WP_NO_NODE || is_pooled(resolved, trace_node) ||
	    node == get_place(resolved, trace_node)->node)
		return address->host;
	if (is_open(resolved, trace_node))
		node = WP_NO_NODE; /* whose a call is is not known: one host for all */
	return resolved->addresses->len + wp_map_number(hosts, wp_map_key(address->machine, node));
}

/* Turns the caller of SPAN into the user's node: that of its port, or of the owner of its flow. */
static void
set_caller(WpResolved *resolved, WpMap *hosts, WpSpan *span, const WpRecord *record)
{
	const WpResolveFlow *flow = wp_resolve_flow_of(resolved, record);
	guint32 trace_node = span->caller;

	span->caller = wp_resolve_node_at(resolved, trace_node, record->src.port);
	if (flow && flow->owner != WP_NO_NODE)
		span->caller = wp_resolve_node_at(resolved, flow->owner, flow->port);
	span->caller_host = host_on(resolved, hosts, trace_node,
				    flow && flow->open ? WP_NO_NODE : span->caller);
	span->owner_doubt =
		flow && !flow->open && !is_pooled(resolved, trace_node) ? 1 - flow->certainty : 0;
}

/* The bit of a service in WpSpanOwner; all, where engines need not be told. */
static guint64
service_bit(const WpResolved *resolved, guint32 trace_node, guint32 node)
{
	guint32 place = is_open(resolved, trace_node) ? wp_map_find(resolved->service_bits, node)
						      : WP_MAP_NONE;
	return place != WP_MAP_NONE ? (guint64)1 << place : WP_SPAN_ANY;
}

/* What engines are told of the owner of span NUMBER. */
static void
set_owner(WpResolved *resolved, guint32 number, const WpRecord *record)
{
	const WpSpan *span = &resolved->spans->spans[number];
	const WpResolveFlow *flow = wp_resolve_flow_of(resolved, record);
	guint64 own = service_bit(resolved, record->sender, span->caller);

	resolved->spans->owners[number] =
		(WpSpanOwner){ flow && flow->open ? flow->open : own,
			       service_bit(resolved, record->receiver, span->callee) };
}

/* Turns nodes of the trace into the user's. */
static void
set_nodes(WpResolved *resolved)
{
	g_autoptr(WpMap) hosts = wp_map_new();
	WpSpans *spans = resolved->spans;

	g_clear_pointer(&spans->owners, g_free);
	if (wp_map_count(resolved->service_bits))
		spans->owners = g_new0(WpSpanOwner, (gsize)spans->n + 1);
	for (guint32 i = 0; i < spans->n; i++) {
		WpSpan *span = &spans->spans[i];
		const WpRecord *record = call_record(resolved, span);
		span->caller = record->sender;
		set_caller(resolved, hosts, span, record);
		span->callee = wp_resolve_node_at(resolved, record->receiver, record->dst.port);
		span->callee_host = host_on(resolved, hosts, record->receiver, span->callee);
		if (spans->owners)
			set_owner(resolved, i, record);
	}
}

static void
drop_labels(WpSpans *spans)
{
	for (guint32 i = 0; i < spans->n; i++)
		spans->spans[i].label = 0;
}

/* Follows nodes that have become others. */
static void
move_templates(WpResolved *resolved, guint32 n)
{
	g_autofree guint32 *now = g_new(guint32, (gsize)n + 1);

	for (guint32 i = 0; i < n; i++)
		now[i] = wp_resolved_callee_now(resolved, i);
	if (resolved->templates)
		wp_templates_move(resolved->templates, now);
}

/* Turns labels into templates. TRUE where one of those before is another now. */
static gboolean
set_labels(WpResolved *resolved)
{
	WpSpan *spans = resolved->spans->spans;

	if (!resolved->templates)
		resolved->templates =
			wp_templates_new(wp_nodes_strings(wp_trace_nodes(resolved->trace)));
	for (guint32 i = 0; i < resolved->spans->n; i++)
		if (spans[i].label && !(spans[i].marks & (WP_MARK_CARRIED | WP_MARK_SETUP)))
			wp_templates_add(resolved->templates, spans[i].callee, spans[i].protocol,
					 spans[i].label);
	gboolean has_moved = wp_templates_mine(resolved->templates);
	for (guint32 i = 0; i < resolved->spans->n; i++)
		spans[i].label =
			wp_templates_of(resolved->templates, spans[i].callee, spans[i].label);
	return has_moved;
}

static void
drop_setup(WpSpans *spans)
{
	guint32 n = 0;

	for (guint32 i = 0; i < spans->n; i++)
		if (!(spans->spans[i].marks & WP_MARK_SETUP))
			spans->spans[n++] = spans->spans[i];
	spans->n = n;
}

static void
clear_address(gpointer data)
{
	for (int source = 0; source < WP_NAME_N_SOURCES; source++)
		g_free(((WpResolveAddress *)data)->hints[source].common);
}

static void
clear_node(gpointer data)
{
	g_free(((WpResolveNode *)data)->name);
}

static void
clear_place(gpointer data)
{
	g_free(((WpResolvePlace *)data)->base);
}

static WpResolved *
resolved_new(const WpResolveOptions *options)
{
	WpResolved *resolved = g_new0(WpResolved, 1);

	resolved->options = *options;
	resolved->addresses = g_array_new(FALSE, TRUE, sizeof(WpResolveAddress));
	g_array_set_clear_func(resolved->addresses, clear_address);
	resolved->places = g_array_new(FALSE, FALSE, sizeof(WpResolvePlace));
	g_array_set_clear_func(resolved->places, clear_place);
	resolved->ports = g_array_new(FALSE, FALSE, sizeof(WpResolvePort));
	resolved->pairs = g_array_new(FALSE, FALSE, sizeof(guint64));
	resolved->pair_numbers = wp_map_new();
	resolved->port_numbers = wp_map_new();
	resolved->nodes = g_array_new(FALSE, FALSE, sizeof(WpResolveNode));
	g_array_set_clear_func(resolved->nodes, clear_node);
	resolved->taken = g_hash_table_new(g_str_hash, g_str_equal);
	resolved->bases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	resolved->shared = g_array_new(FALSE, FALSE, sizeof(WpShared));
	resolved->flows = g_array_new(FALSE, FALSE, sizeof(WpResolveFlow));
	resolved->end_numbers = wp_map_new();
	resolved->flow_numbers = wp_map_new();
	return resolved;
}

void
wp_resolve_options_init(WpResolveOptions *options)
{
	*options = (WpResolveOptions){ .by_label = TRUE };
}

/* Forgets what is worked out anew from what is known. */
static void
start_over(WpResolved *resolved, const WpTrace *trace)
{
	resolved->trace = trace;
	wp_spans_free(resolved->spans);
	resolved->spans = wp_spans_new(trace);
	resolved->answered = NULL;
	g_array_set_size(resolved->addresses, wp_nodes_count(wp_trace_nodes(trace)));
	g_array_set_size(resolved->places, 0);
	g_array_set_size(resolved->shared, 0);
	wp_map_free(resolved->services);
	resolved->services = wp_map_new();
	wp_map_free(resolved->service_bits);
	resolved->service_bits = wp_map_new();
}

/* Says of the N nodes that there were before what they have become. TRUE where one is another now. */
static gboolean
follow_nodes(WpResolved *resolved, const WpResolveNode *before, guint32 n)
{
	gboolean has_moved = FALSE;

	for (guint32 i = 0; i < n; i++) {
		WpResolveNode *node = &g_array_index(resolved->nodes, WpResolveNode, i);
		node->callee_now =
			wp_resolve_node_at(resolved, before[i].trace_node, before[i].port);
		node->caller_now = before[i].is_whole
					   ? get_place(resolved, before[i].trace_node)->node
					   : node->callee_now;
		has_moved |= node->callee_now != i || node->caller_now != i;
	}
	return has_moved;
}

gboolean
wp_resolved_next(WpResolved *resolved, const WpTrace *trace)
{
	guint32 n = resolved->nodes->len;
	g_autofree WpResolveNode *before = g_memdup2(resolved->nodes->data, n * sizeof *before);
	const WpResolveOptions *options = &resolved->options;

	start_over(resolved, trace);
	count_received(resolved);
	count_sent(resolved);
	study_addresses(resolved);
	find_clients(resolved);
	find_replicas(resolved, options->folds);
	make_places(resolved);
	find_hosts(resolved);
	wp_resolve_set_machines(resolved);
	wp_resolve_name_places(resolved);
	count_services(resolved);
	make_nodes(resolved);
	wp_resolve_find_owners(resolved);
	gboolean has_moved = follow_nodes(resolved, before, n);
	if (!options->keep_setup)
		drop_setup(resolved->spans);
	gboolean by_label = options->by_label && !options->is_black_box;
	set_nodes(resolved);
	if (!by_label)
		drop_labels(resolved->spans);
	wp_resolve_sum_owners(resolved);
	if (has_moved)
		move_templates(resolved, n);
	if (by_label && !options->keep_labels)
		has_moved |= set_labels(resolved);
	return has_moved;
}

guint32
wp_resolved_callee_now(const WpResolved *resolved, guint32 node)
{
	return g_array_index(resolved->nodes, WpResolveNode, node).callee_now;
}

guint32
wp_resolved_caller_now(const WpResolved *resolved, guint32 node)
{
	return g_array_index(resolved->nodes, WpResolveNode, node).caller_now;
}

guint32
wp_resolved_label_now(const WpResolved *resolved, guint32 node, guint32 label)
{
	return resolved->templates ? wp_templates_now(resolved->templates, node, label) : label;
}

guint64
wp_resolved_n_joined_labels(const WpResolved *resolved, guint64 *out_n_templates)
{
	*out_n_templates = 0;
	return resolved->templates ? wp_templates_n_joined(resolved->templates, out_n_templates)
				   : 0;
}

WpResolved *
wp_resolve(const WpTrace *trace, const WpResolveOptions *options, GError **error)
{
	g_autoptr(WpResolved) resolved = resolved_new(options);

	if (options->names_file) {
		resolved->names = wp_names_read(options->names_file, error);
		if (!resolved->names)
			return NULL;
	}
	if (options->owners_file) {
		resolved->owners = wp_owners_read(options->owners_file, error);
		if (!resolved->owners)
			return NULL;
	}
	wp_resolved_next(resolved, trace);
	return g_steal_pointer(&resolved);
}

void
wp_resolved_free(WpResolved *resolved)
{
	if (!resolved)
		return;
	wp_templates_free(resolved->templates);
	g_array_unref(resolved->shared);
	wp_owners_free(resolved->owners);
	g_array_unref(resolved->flows);
	wp_map_free(resolved->end_numbers);
	wp_map_free(resolved->flow_numbers);
	g_hash_table_unref(resolved->taken);
	g_hash_table_unref(resolved->bases);
	g_array_unref(resolved->nodes);
	wp_map_free(resolved->services);
	wp_map_free(resolved->service_bits);
	wp_map_free(resolved->port_numbers);
	wp_map_free(resolved->pair_numbers);
	g_array_unref(resolved->pairs);
	g_array_unref(resolved->ports);
	g_array_unref(resolved->places);
	g_array_unref(resolved->addresses);
	wp_spans_free(resolved->spans);
	wp_names_free(resolved->names);
	g_free(resolved);
}

guint32
wp_resolved_n_nodes(const WpResolved *resolved)
{
	return resolved->nodes->len;
}

const char *
wp_resolved_node_name(const WpResolved *resolved, guint32 node)
{
	g_return_val_if_fail(node < resolved->nodes->len, "");
	return g_array_index(resolved->nodes, WpResolveNode, node).name;
}

guint32
wp_resolved_node_of(const WpResolved *resolved, guint32 trace_node)
{
	g_return_val_if_fail(trace_node < resolved->addresses->len, 0);
	return get_place(resolved, trace_node)->node;
}

gsize
wp_resolved_n_shared(const WpResolved *resolved)
{
	return resolved->shared->len;
}

const WpShared *
wp_resolved_shared(const WpResolved *resolved, gsize i)
{
	g_return_val_if_fail(i < resolved->shared->len, NULL);
	return &g_array_index(resolved->shared, WpShared, i);
}

const WpSpans *
wp_resolved_spans(const WpResolved *resolved)
{
	return resolved->spans;
}

void
wp_resolved_set_answered(WpResolved *resolved, const WpLink *answered)
{
	resolved->answered = answered;
}

const WpLink *
wp_resolved_answered(const WpResolved *resolved)
{
	return resolved->answered;
}

gboolean
wp_resolved_is_black_box(const WpResolved *resolved)
{
	return resolved->options.is_black_box;
}

const WpTrace *
wp_resolved_trace(const WpResolved *resolved)
{
	return resolved->trace;
}
