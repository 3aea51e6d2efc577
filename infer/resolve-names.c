/* Names of places: from the names file, from what the capture tells, or the address; unique. */
#include "infer/resolve-private.h"

#include <string.h>

#define MANY_NAMES 4 /* of one address, none of them common: see own_name() */
#define HTTP_PORT  80
#define HTTPS_PORT 443
#define LOCALHOST  "localhost"

/* A name that a client asks for is that of a service, where several are on one machine. */
static gboolean
names_service(WpNameSource source)
{
	return source == WP_NAME_HTTP_HOST || source == WP_NAME_TLS_SNI;
}

/* The port that a client asked for with a name. */
static guint16
asked_port(WpNameSource source, const char *name)
{
	const char *colon = strrchr(name, ':');
	guint64 port = source == WP_NAME_TLS_SNI ? HTTPS_PORT : HTTP_PORT;

	if (colon && !strchr(colon, ']') &&
	    !g_ascii_string_to_unsigned(colon + 1, 10, 1, G_MAXUINT16, &port, NULL))
		return 0;
	return (guint16)port;
}

/* Adds a name to what its service is asked for by. */
static void
add_asked(WpResolved *resolved, guint32 node, WpNameSource source, const char *name, guint64 count)
{
	guint32 number = wp_resolve_service(resolved, node, asked_port(source, name));

	if (number == WP_MAP_NONE)
		return;
	WpResolvePort *port = &g_array_index(resolved->ports, WpResolvePort, number);
	if (port->asked &&
	    (count < port->n_asked || (count == port->n_asked && strcmp(name, port->asked) >= 0)))
		return;
	port->asked = name;
	port->n_asked = count;
}

/* Adds a name to the hints of its node. */
static void
add_hint(guint32 node, WpNameSource source, const char *name, guint64 count, gpointer data)
{
	WpResolveHints *hints = &wp_resolve_address(data, node)->hints[source];

	if (names_service(source))
		add_asked(data, node, source, name, count);
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

gboolean
wp_resolve_is_loopback(const guint8 address[16])
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
	if (!name[0] || (strcmp(name, LOCALHOST) == 0 && !wp_resolve_is_loopback(address)))
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
	const WpResolveHints *hints = &wp_resolve_address(resolved, node)->hints[source];
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
	g_autoptr(GPtrArray) hosts = g_ptr_array_new_with_free_func(g_free);

	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		g_ptr_array_add(hosts, name_from(resolved, i, WP_NAME_HTTP_HOST));
		wp_resolve_address(resolved, i)->is_behind = FALSE;
	}
	for (guint32 i = 0; i < resolved->pairs->len; i++) {
		guint64 pair = g_array_index(resolved->pairs, guint64, i);
		guint32 callee = (guint32)pair;
		const char *caller = hosts->pdata[pair >> 32];
		if (caller && g_strcmp0(caller, hosts->pdata[callee]) == 0)
			wp_resolve_address(resolved, callee)->is_behind = TRUE;
	}
}

/* NAME is that of the machine, and not of one service on it, of another, or of a proxy before it. */
static gboolean
is_of_machine(const WpResolveAddress *address, WpNameSource source, const char *name)
{
	if (source == WP_NAME_HTTP_HOST && address->is_behind)
		return FALSE;
	return !names_service(source) || !address->calls_itself || strcmp(name, LOCALHOST) == 0;
}

/* (transfer full) What the capture calls a node. */
static char *
own_name(const WpResolved *resolved, guint32 node)
{
	const WpResolveAddress *address = wp_resolve_address(resolved, node);

	for (int source = WP_NAME_FILE + 1; source < WP_NAME_N_SOURCES; source++) {
		g_autofree char *name = name_from(resolved, node, source);
		if (name && is_of_machine(address, source, name))
			return g_steal_pointer(&name);
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
folded_name(const WpResolved *resolved, const WpResolvePlace *place, guint32 number)
{
	g_autofree char *name = own_name(resolved, place->first);
	g_autofree char *stem = stem_of(name);
	gboolean is_common = *stem != '\0' && !strchr(stem, '.') && !strchr(stem, ':');

	for (guint32 i = 0; i < resolved->addresses->len && is_common; i++) {
		if (wp_resolve_address(resolved, i)->place != number)
			continue;
		g_autofree char *other = own_name(resolved, i);
		g_autofree char *its_stem = stem_of(other);
		is_common = strcmp(stem, its_stem) == 0;
	}
	return is_common ? g_strdup_printf("%s*", stem)
			 : g_strdup_printf("%s+%u", name, place->n_folded);
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

const char *
wp_resolve_port_name(const WpResolved *resolved, const WpResolvePort *port)
{
	const guint8 *address = wp_nodes_address(wp_trace_nodes(resolved->trace), port->node);
	return resolved->names && address ? wp_names_find(resolved->names, address, port->port)
					  : NULL;
}

char *
wp_resolve_port_host(const WpResolved *resolved, const WpResolvePort *port)
{
	const guint8 *address = wp_nodes_address(wp_trace_nodes(resolved->trace), port->node);

	if (!port->asked || !address || !wp_resolve_address(resolved, port->node)->calls_itself)
		return NULL;
	g_autofree char *host = clean_hint(port->asked, address);
	if (!host || strcmp(host, LOCALHOST) == 0 || g_hash_table_contains(resolved->bases, host))
		return NULL;
	char *name = g_strdup_printf("%s:%u", host, port->port);
	if (g_hash_table_add(resolved->bases, g_strdup(name)))
		return name;
	g_free(name);
	return NULL;
}

/* Who is asked first for a name: the file, "client", nodes with traffic, those only heard of. */
static int
naming_round(const WpResolved *resolved, const WpResolvePlace *place)
{
	const WpResolveAddress *first = wp_resolve_address(resolved, place->first);

	if (place->named)
		return 0;
	return first->is_client ? 1 : first->sends || first->is_called ? 2 : 3;
}

void
wp_resolve_name_places(WpResolved *resolved)
{
	WpNodes *nodes = wp_trace_nodes(resolved->trace);
	GHashTable *bases = resolved->bases;

	g_hash_table_remove_all(bases);
	find_proxied(resolved);
	for (int round = 0; round < 4; round++) {
		for (guint32 i = 0; i < resolved->places->len; i++) {
			WpResolvePlace *place = &g_array_index(resolved->places, WpResolvePlace, i);
			if (round != naming_round(resolved, place))
				continue;
			g_autofree char *name = place->named ? g_strdup(place->named)
						: round == 1 ? g_strdup("client")
						: place->n_folded
							? folded_name(resolved, place, i)
							: own_name(resolved, place->first);
			place->base = make_unique(bases, name, wp_nodes_key(nodes, place->first));
			g_hash_table_add(bases, g_strdup(place->base));
		}
		for (guint i = 0; round == 0 && i < resolved->ports->len; i++) {
			const WpResolvePort *port =
				&g_array_index(resolved->ports, WpResolvePort, i);
			const char *name = wp_resolve_port_name(resolved, port);
			if (name)
				g_hash_table_add(bases, g_strdup(name));
		}
	}
}
void
wp_resolve_gather_hints(WpResolved *resolved)
{
	for (guint32 i = 0; i < resolved->addresses->len; i++)
		for (int source = 0; source < WP_NAME_N_SOURCES; source++) {
			WpResolveHints *hints = &wp_resolve_address(resolved, i)->hints[source];
			g_free(hints->common);
			*hints = (WpResolveHints){ 0 };
		}
	for (guint i = 0; i < resolved->ports->len; i++) {
		g_array_index(resolved->ports, WpResolvePort, i).asked = NULL;
		g_array_index(resolved->ports, WpResolvePort, i).n_asked = 0;
	}
	wp_nodes_foreach_hint(wp_trace_nodes(resolved->trace), add_hint, resolved);
}
