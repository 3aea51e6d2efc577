/*
 * Nodes: an array of nodes; addresses are found through an open-addressing table over the 16 bytes,
 * foreign names through the string pool.
 */
#include "capture/nodes.h"

#include <string.h>

#define FIRST_SLOTS    256
#define MAX_HINTS      8   /* names kept a node and source: more is a shared front end */
#define MAX_HINT_BYTES 253 /* of a DNS name, RFC 1035 section 2.3.4 */

typedef struct {
	guint32 name; /* string */
	guint64 count;
} Hint;

typedef struct {
	guint32 key; /* string */
	gboolean has_address;
	guint8 address[16];
	GArray *hints[WP_NAME_N_SOURCES]; /* Hint; NULL = none */
} Node;

struct WpNodes {
	int references;
	WpStrings *strings;
	GArray *nodes;      /* Node */
	guint32 *slots;     /* node + 1 by address; 0 = free */
	guint32 n_slots;    /* a power of two */
	GHashTable *by_key; /* string number -> node + 1 */
	guint32 others[2];  /* node + 1, by WpNodeRole; 0 = none yet */
};

static const char *const source_names[] = { "file", "capture", "dns", "http-host", "tls" };

WpNodes *
wp_nodes_new(void)
{
	WpNodes *nodes = g_new0(WpNodes, 1);
	nodes->references = 1;
	nodes->strings = wp_strings_new();
	nodes->nodes = g_array_new(FALSE, TRUE, sizeof(Node));
	nodes->n_slots = FIRST_SLOTS;
	nodes->slots = g_new0(guint32, nodes->n_slots);
	nodes->by_key = g_hash_table_new(g_direct_hash, g_direct_equal);
	return nodes;
}

WpNodes *
wp_nodes_ref(WpNodes *nodes)
{
	nodes->references++;
	return nodes;
}

void
wp_nodes_unref(WpNodes *nodes)
{
	if (!nodes || --nodes->references > 0)
		return;
	for (guint i = 0; i < nodes->nodes->len; i++)
		for (int s = 0; s < WP_NAME_N_SOURCES; s++) {
			GArray *hints = g_array_index(nodes->nodes, Node, i).hints[s];
			if (hints)
				g_array_unref(hints);
		}
	g_array_unref(nodes->nodes);
	g_hash_table_unref(nodes->by_key);
	wp_strings_free(nodes->strings);
	g_free(nodes->slots);
	g_free(nodes);
}

static guint32
hash_address(const guint8 address[16])
{
	guint64 high, low;
	memcpy(&high, address, 8);
	memcpy(&low, address + 8, 8);
	guint64 hash = (high ^ (low * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)));
	hash ^= hash >> 32; /* of IPv4 addresses only the upper bits differ so far */
	hash *= G_GUINT64_CONSTANT(0xff51afd7ed558ccd);
	return (guint32)(hash >> 32);
}

/* The slot where ADDRESS is or would be. */
static guint32
find_slot(const WpNodes *nodes, const guint8 address[16])
{
	guint32 slot = hash_address(address) & (nodes->n_slots - 1);
	for (;; slot = (slot + 1) & (nodes->n_slots - 1)) {
		guint32 found = nodes->slots[slot];
		if (!found ||
		    memcmp(g_array_index(nodes->nodes, Node, found - 1).address, address, 16) == 0)
			return slot;
	}
}

static void
grow_slots(WpNodes *nodes)
{
	g_free(nodes->slots);
	nodes->n_slots *= 2;
	nodes->slots = g_new0(guint32, nodes->n_slots);
	for (guint i = 0; i < nodes->nodes->len; i++) {
		const Node *node = &g_array_index(nodes->nodes, Node, i);
		if (node->has_address)
			nodes->slots[find_slot(nodes, node->address)] = i + 1;
	}
}

static guint32
add_node(WpNodes *nodes, const char *key, const guint8 *address)
{
	Node node = { .key = wp_strings_intern(nodes->strings, key, -1) };
	guint32 number = nodes->nodes->len;
	if (address) {
		node.has_address = TRUE;
		memcpy(node.address, address, 16);
		nodes->slots[find_slot(nodes, address)] = number + 1;
	}
	g_array_append_val(nodes->nodes, node);
	g_hash_table_insert(nodes->by_key, GUINT_TO_POINTER(node.key),
			    GUINT_TO_POINTER(number + 1));
	if (nodes->nodes->len * 2 > nodes->n_slots)
		grow_slots(nodes);
	return number;
}

guint32
wp_nodes_find_address(const WpNodes *nodes, const guint8 address[16])
{
	guint32 found = nodes->slots[find_slot(nodes, address)];
	return found ? found - 1 : WP_NO_NODE;
}

guint32
wp_nodes_by_address(WpNodes *nodes, const guint8 address[16])
{
	char text[WP_ENDPOINT_TEXT_MAX];
	guint32 found = wp_nodes_find_address(nodes, address);
	if (found != WP_NO_NODE)
		return found;
	return add_node(nodes, wp_address_text(address, text, sizeof text), address);
}

guint32
wp_nodes_by_address_seen(WpNodes *nodes, const guint8 address[16], WpNodeRole role)
{
	static const guint32 most[] = {
		[WP_NODE_CALLER] = WP_NODES_MAX_CALLERS,
		[WP_NODE_CALLED] = WP_NODES_MAX_CALLED,
		[WP_NODE_NAMED] = WP_NODES_MAX_NAMED,
	};
	guint32 found = wp_nodes_find_address(nodes, address);

	if (found != WP_NO_NODE)
		return found;
	if (nodes->nodes->len < most[role])
		return wp_nodes_by_address(nodes, address);
	if (role == WP_NODE_NAMED)
		return WP_NO_NODE;
	if (!nodes->others[role])
		nodes->others[role] =
			1 + wp_nodes_by_key(nodes, role == WP_NODE_CALLER ? WP_NODES_OTHER_CALLERS
									  : WP_NODES_OTHER_CALLED);
	return nodes->others[role] - 1;
}

gboolean
wp_nodes_is_others(const WpNodes *nodes, guint32 node)
{
	return node + 1 == nodes->others[WP_NODE_CALLER] ||
	       node + 1 == nodes->others[WP_NODE_CALLED];
}

guint32
wp_nodes_find_key(const WpNodes *nodes, const char *key)
{
	WpEndpoint endpoint;
	if (wp_endpoint_parse(key, &endpoint) && endpoint.port == 0)
		return wp_nodes_find_address(nodes, endpoint.address);
	guint32 string = wp_strings_find(nodes->strings, key, -1);
	gpointer found = g_hash_table_lookup(nodes->by_key, GUINT_TO_POINTER(string));
	return found ? GPOINTER_TO_UINT(found) - 1 : WP_NO_NODE;
}

guint32
wp_nodes_by_key(WpNodes *nodes, const char *key)
{
	WpEndpoint endpoint;
	guint32 found = wp_nodes_find_key(nodes, key);
	if (found != WP_NO_NODE)
		return found;
	if (wp_endpoint_parse(key, &endpoint) && endpoint.port == 0)
		return wp_nodes_by_address(nodes, endpoint.address);
	return add_node(nodes, key, NULL);
}

guint32
wp_nodes_count(const WpNodes *nodes)
{
	return nodes->nodes->len;
}

static const Node *
get_node(const WpNodes *nodes, guint32 number)
{
	g_assert(number < nodes->nodes->len);
	return &g_array_index(nodes->nodes, Node, number);
}

const char *
wp_nodes_key(const WpNodes *nodes, guint32 node)
{
	return wp_strings_get(nodes->strings, get_node(nodes, node)->key);
}

const guint8 *
wp_nodes_address(const WpNodes *nodes, guint32 node)
{
	const Node *found = get_node(nodes, node);
	return found->has_address ? found->address : NULL;
}

static gboolean
is_printable(const char *name, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (!g_ascii_isgraph(name[i]))
			return FALSE;
	return length > 0 && length <= MAX_HINT_BYTES;
}

/* Most nodes are called one thing, over and over. */
static gboolean
is_first(const WpNodes *nodes, const GArray *hints, const char *name, gsize length)
{
	const char *text = wp_strings_get(nodes->strings, g_array_index(hints, Hint, 0).name);
	return strlen(text) == length && memcmp(text, name, length) == 0;
}

static void
count_hint(Hint *hint, guint64 count)
{
	hint->count += MIN(count, G_MAXINT64 - MIN(hint->count, G_MAXINT64));
}

gboolean
wp_nodes_add_hints(WpNodes *nodes, guint32 node, WpNameSource source, const char *name,
		   gssize length, guint64 count)
{
	gsize n = length < 0 ? strlen(name) : (gsize)length;
	GArray **hints = &g_array_index(nodes->nodes, Node, node).hints[source];
	if (*hints && (*hints)->len > 0 && is_first(nodes, *hints, name, n)) {
		count_hint(&g_array_index(*hints, Hint, 0), count);
		return TRUE;
	}
	if (!is_printable(name, n))
		return FALSE;
	if (!*hints)
		*hints = g_array_new(FALSE, FALSE, sizeof(Hint));
	guint32 string = wp_strings_find(nodes->strings, name, (gssize)n);
	for (guint i = 0; i < (*hints)->len; i++)
		if (g_array_index(*hints, Hint, i).name == string) {
			count_hint(&g_array_index(*hints, Hint, i), count);
			return TRUE;
		}
	if ((*hints)->len == MAX_HINTS)
		return FALSE;
	Hint hint = { wp_strings_intern(nodes->strings, name, (gssize)n), count };
	g_array_append_val(*hints, hint);
	return TRUE;
}

gboolean
wp_nodes_add_hint(WpNodes *nodes, guint32 node, WpNameSource source, const char *name,
		  gssize length)
{
	return wp_nodes_add_hints(nodes, node, source, name, length, 1);
}

const char *
wp_nodes_hint(const WpNodes *nodes, guint32 node, WpNameSource source, guint64 *out_count)
{
	const GArray *hints = get_node(nodes, node)->hints[source];
	const char *best = NULL;
	guint64 most = 0;

	for (guint i = 0; hints && i < hints->len; i++) {
		const Hint *hint = &g_array_index(hints, Hint, i);
		const char *name = wp_strings_get(nodes->strings, hint->name);
		if (!best || hint->count > most ||
		    (hint->count == most && strcmp(name, best) < 0)) {
			best = name;
			most = hint->count;
		}
	}
	if (out_count)
		*out_count = most;
	return best;
}

void
wp_nodes_foreach_hint(const WpNodes *nodes, WpNodesHintFunc func, gpointer data)
{
	for (guint32 node = 0; node < nodes->nodes->len; node++)
		for (int source = 0; source < WP_NAME_N_SOURCES; source++) {
			const GArray *hints = get_node(nodes, node)->hints[source];
			for (guint i = 0; hints && i < hints->len; i++) {
				const Hint *hint = &g_array_index(hints, Hint, i);
				func(node, source, wp_strings_get(nodes->strings, hint->name),
				     hint->count, data);
			}
		}
}

WpStrings *
wp_nodes_strings(WpNodes *nodes)
{
	return nodes->strings;
}

const char *
wp_nodes_text(const WpNodes *nodes, guint32 string)
{
	return wp_strings_get(nodes->strings, string);
}

const char *
wp_name_source_name(WpNameSource source)
{
	return source_names[source];
}

gboolean
wp_name_source_from_name(const char *name, WpNameSource *out_source)
{
	for (gsize i = 0; i < G_N_ELEMENTS(source_names); i++)
		if (strcmp(source_names[i], name) == 0) {
			*out_source = i;
			return TRUE;
		}
	return FALSE;
}
