/*
 * Resolve, in the order of the functions below: which ports are services, which addresses are one
 * node, what the nodes are called, which are hosts; then the spans get their nodes.
 *
 * A "place" is what an address is before ports: the node of one trace node, or of several that fold.
 */
#include "infer/resolve.h"

#include <string.h>

#include "infer/map.h"
#include "infer/replicas.h"
#include "infer/names.h"

#define FIRST_USER_PORT 1024 /* below are ports that only services bind, RFC 6335 section 6 */
#define MANY_NAMES      4    /* of one address, none of them common: see own_name() */

/* What is known of one called (trace node, port). */
typedef struct {
	guint32 node; /* of the trace */
	guint16 port;
	guint64 n_received;
	guint64 n_sent;
	guint64 first_peer; /* key of (node, port) */
	gboolean has_peers; /* several */
} Port;

/* The names that one source gives a node. */
typedef struct {
	guint n;
	guint64 count; /* of all together */
	char *common;  /* the last labels that all share, or "" */
} Hints;

/* What is known of one node of the trace. */
typedef struct {
	Hints hints[WP_NAME_N_SOURCES];
	gboolean sends;
	gboolean is_called;
	gboolean is_client; /* folds into "client" */
	gboolean is_behind; /* a proxy passes its own name on to it: see find_proxied() */
	guint32 place;
	guint32 host;
	guint32 fold;          /* first of its replicas, or itself */
	const char *file_name; /* (transfer none) of the names file */
} Address;

typedef struct {
	char *name;
	guint32 host;
} Node;

typedef struct {
	guint32 first;      /* trace node */
	guint32 node;       /* user's node that sends, and all where there is no split */
	const char *named;  /* by the names file */
	char *base;         /* unique name without a port */
	guint32 n_services; /* user's nodes of its ports */
	guint32 n_folded;   /* replicas; 0 = not folded */
	guint32 n_random;   /* ports that one peer alone called, above FIRST_USER_PORT */
	gboolean sends;     /* calls that belong to none of its ports */
} Place;

struct WpResolved {
	const WpTrace *trace;
	WpNames *names; /* NULL = no file */
	WpSpans *spans;
	GArray *addresses;   /* Address, by trace node */
	GArray *places;      /* Place */
	GArray *ports;       /* Port */
	WpMap *port_numbers; /* (trace node, port) -> index into ports */
	WpMap *services;     /* (trace node, port) -> user's node */
	GArray *nodes;       /* Node */
	GHashTable *taken;   /* name of a node -> node + 1 */
	GPtrArray *shared;   /* names, borrowed from nodes */
	gboolean is_black_box;
};

static Address *
get_address(const WpResolved *resolved, guint32 node)
{
	return &g_array_index(resolved->addresses, Address, node);
}

static Place *
get_place(const WpResolved *resolved, guint32 node)
{
	return &g_array_index(resolved->places, Place, get_address(resolved, node)->place);
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
		if (span->kind != WP_KIND_CALL || span->marks & WP_MARK_SETUP || !record->dst.port)
			continue;
		guint32 number = wp_map_number(resolved->port_numbers,
					       wp_map_key(span->callee, record->dst.port));
		if (number == resolved->ports->len) {
			Port port = { .node = span->callee,
				      .port = record->dst.port,
				      .first_peer = peer };
			g_array_append_val(resolved->ports, port);
		}
		Port *port = &g_array_index(resolved->ports, Port, number);
		port->n_received++;
		port->has_peers |= port->first_peer != peer;
	}
}

/* What called ports send themselves. */
static void
count_sent(WpResolved *resolved)
{
	for (guint32 i = 0; i < resolved->spans->n; i++) {
		const WpSpan *span = &resolved->spans->spans[i];
		const WpRecord *record = call_record(resolved, span);
		guint32 number = wp_map_find(resolved->port_numbers,
					     wp_map_key(span->caller, record->src.port));
		if (number != WP_MAP_NONE && span->kind == WP_KIND_CALL &&
		    !(span->marks & WP_MARK_SETUP))
			g_array_index(resolved->ports, Port, number).n_sent++;
	}
}

static gboolean
is_service(const Port *port)
{
	return port->n_sent == 0 || port->has_peers || port->n_received > port->n_sent;
}

static gboolean
is_random(const Port *port)
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

/* Adds a name to the hints of its node. */
static void
add_hint(guint32 node, WpNameSource source, const char *name, guint64 count, gpointer data)
{
	Hints *hints = &get_address(data, node)->hints[source];

	hints->n++;
	hints->count += count;
	if (!hints->common) {
		hints->common = g_strdup(name);
		return;
	}
	const char *common = hints->common;
	while (*common && !(g_str_has_suffix(name, common) &&
			    (strlen(name) == strlen(common) ||
			     name[strlen(name) - strlen(common) - 1] == '.'))) {
		const char *dot = strchr(common, '.');
		common = dot ? dot + 1 : "";
	}
	char *shorter = g_strdup(common);
	g_free(hints->common);
	hints->common = shorter;
}

static void
study_addresses(WpResolved *resolved)
{
	for (guint32 i = 0; i < resolved->spans->n; i++) {
		const WpSpan *span = &resolved->spans->spans[i];
		if (span->marks & WP_MARK_SETUP)
			continue;
		get_address(resolved, span->caller)->sends = TRUE;
		if (!is_push(resolved, span))
			get_address(resolved, span->callee)->is_called = TRUE;
	}
	WpNodes *nodes = wp_trace_nodes(resolved->trace);
	wp_nodes_foreach_hint(nodes, add_hint, resolved);
	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		const guint8 *bytes = wp_nodes_address(nodes, i);
		const char *name = NULL;
		if (bytes && resolved->names)
			name = wp_names_find(resolved->names, bytes, 0);
		/* A trace keeps the names that it was made with. */
		if (!name && bytes)
			name = wp_nodes_hint(nodes, i, WP_NAME_FILE, NULL);
		get_address(resolved, i)->file_name = name;
	}
}

static void
find_clients(WpResolved *resolved, gboolean keep)
{
	WpNodes *nodes = wp_trace_nodes(resolved->trace);
	guint n_clients = 0;

	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		Address *address = get_address(resolved, i);
		/* A name of a foreign trace means something; that of all clients beyond so many does not. */
		gboolean is_any = wp_nodes_address(nodes, i) ||
				  strcmp(wp_nodes_key(nodes, i), WP_NODES_OTHER_CALLERS) == 0;
		address->is_client =
			is_any && address->sends && !address->is_called && !address->file_name;
		n_clients += address->is_client;
	}
	if (!keep && n_clients > WP_RESOLVE_MAX_CLIENTS)
		return;
	for (guint32 i = 0; i < resolved->addresses->len; i++)
		get_address(resolved, i)->is_client = FALSE;
}

/* Which addresses are replicas. Those that the file names are not asked: it says what is one. */
static void
find_replicas(WpResolved *resolved, gboolean folds)
{
	guint32 n = resolved->addresses->len;
	g_autofree guint32 *firsts =
		folds ? wp_replicas_find(resolved->trace, resolved->spans, n) : NULL;

	for (guint32 i = 0; i < n; i++) {
		Address *address = get_address(resolved, i);
		gboolean is_named = address->file_name ||
				    (firsts && get_address(resolved, firsts[i])->file_name);
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
		Address *address = get_address(resolved, i);
		Place place = { .first = i, .named = address->file_name };
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
			address->place = get_address(resolved, address->fold)->place;
			g_array_index(resolved->places, Place, address->place).n_folded++;
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
		const Address *address = get_address(resolved, i);
		if (address->is_called && !address->sends && called[address->place] == WP_NO_NODE)
			called[address->place] = i;
		joins[address->place] |= address->sends && !address->is_called;
	}
	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		Address *address = get_address(resolved, i);
		gboolean both = address->sends && address->is_called;
		address->host = i;
		if (address->file_name && !both && joins[address->place] &&
		    called[address->place] != WP_NO_NODE)
			address->host = called[address->place];
	}
}

static gboolean
is_loopback(const guint8 address[16])
{
	static const guint8 ipv4[13] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127 };
	static const guint8 ipv6[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
	return memcmp(address, ipv4, sizeof ipv4) == 0 || memcmp(address, ipv6, sizeof ipv6) == 0;
}

/* (transfer full) A hint as a name: lower case, without port and final dot; NULL where it is none. */
static char *
clean_hint(const char *hint, const guint8 *address)
{
	g_autofree char *name = g_ascii_strdown(hint, -1);
	char *colon = strrchr(name, ':');
	WpEndpoint endpoint;

	if (wp_endpoint_parse(name, &endpoint))
		return NULL;
	if (colon)
		*colon = '\0';
	gsize length = strlen(name);
	if (length && name[length - 1] == '.')
		name[length - 1] = '\0';
	if (!name[0] || (strcmp(name, "localhost") == 0 && !is_loopback(address)))
		return NULL;
	return g_steal_pointer(&name);
}

/*
 * The name most often seen. But where there are many and none is common ("1f3a.db.lan", "9c07.db.lan",
 * ...: random labels against caches, one per tenant), the end that they share.
 */
static const char *
best_hint(const WpResolved *resolved, guint32 node, WpNameSource source)
{
	const Hints *hints = &get_address(resolved, node)->hints[source];
	guint64 count;
	const char *best = wp_nodes_hint(wp_trace_nodes(resolved->trace), node, source, &count);

	if (hints->n >= MANY_NAMES && count * MANY_NAMES <= hints->count &&
	    strchr(hints->common, '.'))
		return hints->common;
	return best;
}

/* (transfer full) What SOURCE calls a node, or NULL. */
static char *
name_from(const WpResolved *resolved, guint32 node, WpNameSource source)
{
	const guint8 *address = wp_nodes_address(wp_trace_nodes(resolved->trace), node);
	const char *hint = address ? best_hint(resolved, node, source) : NULL;
	return hint ? clean_hint(hint, address) : NULL;
}

/*
 * A proxy may pass on the Host header that its client sent. The name is then its own, and not that of
 * the server behind it: of a caller and a callee with one name the caller keeps it.
 */
static void
find_proxied(WpResolved *resolved)
{
	g_autoptr(WpMap) seen = wp_map_new();
	g_autoptr(GPtrArray) hosts = g_ptr_array_new_with_free_func(g_free);

	for (guint32 i = 0; i < resolved->addresses->len; i++)
		g_ptr_array_add(hosts, name_from(resolved, i, WP_NAME_HTTP_HOST));
	for (guint32 i = 0; i < resolved->spans->n; i++) {
		const WpSpan *span = &resolved->spans->spans[i];
		guint32 known = wp_map_count(seen);
		if (span->caller == span->callee ||
		    wp_map_number(seen, wp_map_key(span->caller, span->callee)) != known)
			continue;
		const char *caller = hosts->pdata[span->caller];
		if (caller && g_strcmp0(caller, hosts->pdata[span->callee]) == 0)
			get_address(resolved, span->callee)->is_behind = TRUE;
	}
}

/* (transfer full) What the capture calls a node. */
static char *
own_name(const WpResolved *resolved, guint32 node)
{
	for (int source = WP_NAME_DNS; source < WP_NAME_N_SOURCES; source++) {
		gboolean foreign =
			source == WP_NAME_HTTP_HOST && get_address(resolved, node)->is_behind;
		char *name = foreign ? NULL : name_from(resolved, node, source);
		if (name)
			return name;
	}
	return g_strdup(wp_nodes_key(wp_trace_nodes(resolved->trace), node));
}

/* (transfer full) NAME without the number at its end: "backend" of "backend12". */
static char *
stem_of(const char *name)
{
	gsize length = strlen(name);
	while (length && strchr("0123456789-_", name[length - 1]))
		length--;
	return g_strndup(name, length);
}

/* (transfer full) Of replicas: what their names have in common, else the first and how many more. */
static char *
folded_name(const WpResolved *resolved, const Place *place, guint32 number)
{
	g_autofree char *name = own_name(resolved, place->first);
	g_autofree char *stem = stem_of(name);
	gboolean is_common = *stem != '\0' && !strchr(stem, '.') && !strchr(stem, ':');

	for (guint32 i = 0; i < resolved->addresses->len && is_common; i++) {
		if (get_address(resolved, i)->place != number)
			continue;
		g_autofree char *other = own_name(resolved, i);
		g_autofree char *its_stem = stem_of(other);
		is_common = strcmp(stem, its_stem) == 0;
	}
	return is_common ? g_strdup_printf("%s*", stem)
			 : g_strdup_printf("%s+%u", name, place->n_folded);
}

/* The user's node called NAME; made where it is new. */
static guint32
get_node(WpResolved *resolved, const char *name, guint32 host)
{
	gpointer known = g_hash_table_lookup(resolved->taken, name);

	if (known)
		return GPOINTER_TO_UINT(known) - 1;
	Node node = { g_strdup(name), host };
	g_array_append_val(resolved->nodes, node);
	g_hash_table_insert(resolved->taken, node.name, GUINT_TO_POINTER(resolved->nodes->len));
	return resolved->nodes->len - 1;
}

/* (transfer full) NAME, or NAME@ADDRESS, or that and a number: what no place is called yet. */
static char *
make_unique(GHashTable *bases, const char *name, const char *address)
{
	if (!g_hash_table_contains(bases, name))
		return g_strdup(name);
	g_autofree char *with_address = g_strdup_printf("%s@%s", name, address);
	char *unique = g_strdup(with_address);
	for (guint i = 2; g_hash_table_contains(bases, unique); i++) {
		g_free(unique);
		unique = g_strdup_printf("%s#%u", with_address, i);
	}
	return unique;
}

/* The names file's name for a port, or NULL. */
static const char *
port_name(const WpResolved *resolved, const Port *port)
{
	const guint8 *address = wp_nodes_address(wp_trace_nodes(resolved->trace), port->node);
	return resolved->names && address ? wp_names_find(resolved->names, address, port->port)
					  : NULL;
}

/* Who is asked first for a name: the file, "client", nodes with traffic, those only heard of. */
static int
naming_round(const WpResolved *resolved, const Place *place)
{
	const Address *first = get_address(resolved, place->first);

	if (place->named)
		return 0;
	return first->is_client ? 1 : first->sends || first->is_called ? 2 : 3;
}

static void
name_places(WpResolved *resolved)
{
	WpNodes *nodes = wp_trace_nodes(resolved->trace);
	g_autoptr(GHashTable) bases = g_hash_table_new(g_str_hash, g_str_equal);

	for (int round = 0; round < 4; round++) {
		for (guint32 i = 0; i < resolved->places->len; i++) {
			Place *place = &g_array_index(resolved->places, Place, i);
			if (round != naming_round(resolved, place))
				continue;
			g_autofree char *name = place->named ? g_strdup(place->named)
						: round == 1 ? g_strdup("client")
						: place->n_folded
							? folded_name(resolved, place, i)
							: own_name(resolved, place->first);
			place->base = make_unique(bases, name, wp_nodes_key(nodes, place->first));
			g_hash_table_add(bases, place->base);
		}
		for (guint i = 0; round == 0 && i < resolved->ports->len; i++) {
			const Port *port = &g_array_index(resolved->ports, Port, i);
			gpointer name = (gpointer)port_name(resolved, port);
			if (name)
				g_hash_table_add(bases, name);
		}
	}
}

/* Counts the services of each place: different names in the file, and ports without one. */
static void
count_services(WpResolved *resolved)
{
	g_autoptr(WpMap) seen = wp_map_new();
	g_autoptr(WpStrings) names = wp_strings_new();

	for (guint i = 0; i < resolved->ports->len; i++) {
		const Port *port = &g_array_index(resolved->ports, Port, i);
		guint32 number = get_address(resolved, port->node)->place;
		Place *place = get_place(resolved, port->node);
		if (!is_service(port))
			continue;
		const char *name = port_name(resolved, port);
		guint32 what = name ? 0x10000 + wp_strings_intern(names, name, -1) : port->port;
		guint32 known = wp_map_count(seen);
		if (wp_map_number(seen, wp_map_key(number, what)) != known)
			continue;
		place->n_services++;
		place->n_random += !name && is_random(port);
	}
	for (guint32 i = 0; i < resolved->places->len; i++) {
		Place *place = &g_array_index(resolved->places, Place, i);
		if (place->n_random > WP_RESOLVE_MAX_PORTS)
			place->n_services -= place->n_random - 1;
	}
}

/* (transfer full) The name of the node that a port belongs to. */
static char *
service_name(const WpResolved *resolved, const Port *port)
{
	const Place *place = get_place(resolved, port->node);
	const char *name = port_name(resolved, port);
	WpEndpoint endpoint;

	if (name)
		return g_strdup(name);
	if (place->n_services == 1)
		return g_strdup(place->base);
	if (place->n_random > WP_RESOLVE_MAX_PORTS && is_random(port))
		return g_strdup_printf("%s:*", place->base);
	gboolean is_ipv6 = strchr(place->base, ':') && wp_endpoint_parse(place->base, &endpoint);
	return g_strdup_printf(is_ipv6 ? "[%s]:%u" : "%s:%u", place->base, port->port);
}

static int
compare_ports(gconstpointer a, gconstpointer b)
{
	const Port *left = *(const Port *const *)a, *right = *(const Port *const *)b;

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
		g_ptr_array_add(ports, &g_array_index(resolved->ports, Port, i));
	g_ptr_array_sort(ports, compare_ports);
	for (guint i = 0; i < ports->len; i++) {
		const Port *port = ports->pdata[i];
		if (!is_service(port))
			continue;
		g_autofree char *name = service_name(resolved, port);
		guint32 node = get_node(resolved, name, get_address(resolved, port->node)->host);
		*wp_map_at(resolved->services, wp_map_key(port->node, port->port), node) = node;
		get_place(resolved, port->node)->node = node;
	}
	for (guint32 i = 0; i < resolved->places->len; i++) {
		Place *place = &g_array_index(resolved->places, Place, i);
		if (place->n_services != 1)
			place->node = get_node(resolved, place->base,
					       get_address(resolved, place->first)->host);
	}
}

static guint32
node_at(const WpResolved *resolved, guint32 trace_node, guint16 port)
{
	guint32 node =
		port ? wp_map_find(resolved->services, wp_map_key(trace_node, port)) : WP_MAP_NONE;
	return node != WP_MAP_NONE ? node : get_place(resolved, trace_node)->node;
}

/* Turns nodes of the trace into the user's. */
static void
set_nodes(WpResolved *resolved, gboolean by_label)
{
	for (guint32 i = 0; i < resolved->spans->n; i++) {
		WpSpan *span = &resolved->spans->spans[i];
		const WpRecord *record = call_record(resolved, span);
		Place *place = get_place(resolved, span->caller);
		span->caller_host = get_address(resolved, span->caller)->host;
		span->callee_host = get_address(resolved, span->callee)->host;
		span->caller = node_at(resolved, span->caller, record->src.port);
		span->callee = node_at(resolved, span->callee, record->dst.port);
		place->sends |= span->caller == place->node && span->kind == WP_KIND_CALL;
		if (!by_label)
			span->label = 0;
	}
	for (guint32 i = 0; i < resolved->places->len; i++) {
		const Place *place = &g_array_index(resolved->places, Place, i);
		if (place->n_services > 1 && place->sends)
			g_ptr_array_add(resolved->shared,
					g_array_index(resolved->nodes, Node, place->node).name);
	}
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
		g_free(((Address *)data)->hints[source].common);
}

static void
clear_node(gpointer data)
{
	g_free(((Node *)data)->name);
}

static void
clear_place(gpointer data)
{
	g_free(((Place *)data)->base);
}

static WpResolved *
resolved_new(const WpTrace *trace)
{
	WpResolved *resolved = g_new0(WpResolved, 1);

	resolved->trace = trace;
	resolved->addresses = g_array_new(FALSE, TRUE, sizeof(Address));
	g_array_set_clear_func(resolved->addresses, clear_address);
	g_array_set_size(resolved->addresses, wp_nodes_count(wp_trace_nodes(trace)));
	resolved->places = g_array_new(FALSE, FALSE, sizeof(Place));
	g_array_set_clear_func(resolved->places, clear_place);
	resolved->ports = g_array_new(FALSE, FALSE, sizeof(Port));
	resolved->port_numbers = wp_map_new();
	resolved->services = wp_map_new();
	resolved->nodes = g_array_new(FALSE, FALSE, sizeof(Node));
	g_array_set_clear_func(resolved->nodes, clear_node);
	resolved->taken = g_hash_table_new(g_str_hash, g_str_equal);
	resolved->shared = g_ptr_array_new();
	return resolved;
}

void
wp_resolve_options_init(WpResolveOptions *options)
{
	*options = (WpResolveOptions){ .by_label = TRUE };
}

WpResolved *
wp_resolve(const WpTrace *trace, const WpResolveOptions *options, GError **error)
{
	g_autoptr(WpResolved) resolved = resolved_new(trace);

	if (options->names_file) {
		resolved->names = wp_names_read(options->names_file, error);
		if (!resolved->names)
			return NULL;
	}
	resolved->spans = wp_spans_new(trace);
	count_received(resolved);
	count_sent(resolved);
	study_addresses(resolved);
	find_clients(resolved, options->keep_clients);
	find_replicas(resolved, options->folds);
	make_places(resolved);
	find_hosts(resolved);
	find_proxied(resolved);
	name_places(resolved);
	count_services(resolved);
	make_nodes(resolved);
	if (!options->keep_setup)
		drop_setup(resolved->spans);
	resolved->is_black_box = options->is_black_box;
	set_nodes(resolved, options->by_label && !options->is_black_box);
	return g_steal_pointer(&resolved);
}

void
wp_resolved_free(WpResolved *resolved)
{
	if (!resolved)
		return;
	g_ptr_array_unref(resolved->shared);
	g_hash_table_unref(resolved->taken);
	g_array_unref(resolved->nodes);
	wp_map_free(resolved->services);
	wp_map_free(resolved->port_numbers);
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
	return g_array_index(resolved->nodes, Node, node).name;
}

guint32
wp_resolved_node_of(const WpResolved *resolved, guint32 trace_node)
{
	g_return_val_if_fail(trace_node < resolved->addresses->len, 0);
	return get_place(resolved, trace_node)->node;
}

guint32
wp_resolved_host(const WpResolved *resolved, guint32 node)
{
	g_return_val_if_fail(node < resolved->nodes->len, 0);
	return g_array_index(resolved->nodes, Node, node).host;
}

gsize
wp_resolved_n_shared(const WpResolved *resolved)
{
	return resolved->shared->len;
}

const char *
wp_resolved_shared(const WpResolved *resolved, gsize i)
{
	g_return_val_if_fail(i < resolved->shared->len, "");
	return resolved->shared->pdata[i];
}

const WpSpans *
wp_resolved_spans(const WpResolved *resolved)
{
	return resolved->spans;
}

gboolean
wp_resolved_is_black_box(const WpResolved *resolved)
{
	return resolved->is_black_box;
}

const WpTrace *
wp_resolved_trace(const WpResolved *resolved)
{
	return resolved->trace;
}
