/*
 * The flow table. Linear probing with deletion by moving back what follows (Knuth, The Art of Computer
 * Programming 3, section 6.4, algorithm R), so that there are no tombstones and a table that has seen
 * a million short flows is as fast as a new one. At most half full.
 */
#include "capture/flow-table.h"

#include <string.h>

#define FIRST_SLOTS   1024
#define CHUNK_OBJECTS 256

#define HALF_SHIFT 32 /* of words[4]: ports above, protocol below */

typedef struct {
	guint32 hash;
	guint32 object; /* number + 1; 0 = free */
} Slot;

struct WpFlowTable {
	gsize object_size;
	guint64 seed;
	Slot *slots;
	guint32 n_slots; /* a power of two */
	guint32 n_used;
	gpointer latest; /* the object found last; or NULL */
	GPtrArray *chunks;
	guint32 n_objects; /* ever made */
	GArray *unused;    /* numbers of objects to be used again */
};

guint64
wp_flow_seed(const WpSegment *segment)
{
	return ((guint64)segment->time_ns ^ (guint64)segment->seq << 32 ^ segment->ack) *
	       G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
}

guint
wp_flow_key(const WpSegment *segment, WpFlowKey *out_key)
{
	guint64 src[2], dst[2];
	memcpy(src, segment->src.address, sizeof src);
	memcpy(dst, segment->dst.address, sizeof dst);
	gboolean is_higher = src[1] != dst[1]   ? src[1] > dst[1]
			     : src[0] != dst[0] ? src[0] > dst[0]
						: segment->src.port > segment->dst.port;
	const guint64 *low = is_higher ? dst : src, *high = is_higher ? src : dst;
	guint32 ports = is_higher ? (guint32)segment->dst.port << 16 | segment->src.port
				  : (guint32)segment->src.port << 16 | segment->dst.port;
	*out_key = (WpFlowKey){ { low[0], low[1], high[0], high[1],
				  (guint64)ports << HALF_SHIFT | !!segment->is_udp } };
	return is_higher;
}

WpEndpoint
wp_flow_key_endpoint(const WpFlowKey *key, guint side)
{
	WpEndpoint endpoint;
	memcpy(endpoint.address, &key->words[2 * side], sizeof endpoint.address);
	endpoint.port = (guint16)(key->words[4] >> (side ? HALF_SHIFT : HALF_SHIFT + 16));
	return endpoint;
}

gboolean
wp_flow_key_is_udp(const WpFlowKey *key)
{
	return key->words[4] & 1;
}

/* Multiply and fold; the seed keeps senders from choosing addresses that collide. */
static guint32
hash_key(const WpFlowTable *table, const WpFlowKey *key)
{
	guint64 hash = table->seed;
	for (gsize i = 0; i < G_N_ELEMENTS(key->words); i++) {
		hash = (hash ^ key->words[i]) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return (guint32)(hash >> 16);
}

static gpointer
get_object(const WpFlowTable *table, guint32 number)
{
	guint8 *chunk = g_ptr_array_index(table->chunks, number / CHUNK_OBJECTS);
	return chunk + (number % CHUNK_OBJECTS) * table->object_size;
}

WpFlowTable *
wp_flow_table_new(gsize object_size, guint64 seed)
{
	WpFlowTable *table = g_new0(WpFlowTable, 1);
	table->object_size = object_size;
	table->seed = seed;
	table->n_slots = FIRST_SLOTS;
	table->slots = g_new0(Slot, table->n_slots);
	table->chunks = g_ptr_array_new_with_free_func(g_free);
	table->unused = g_array_new(FALSE, FALSE, sizeof(guint32));
	return table;
}

void
wp_flow_table_free(WpFlowTable *table)
{
	if (!table)
		return;
	g_free(table->slots);
	g_ptr_array_unref(table->chunks);
	g_array_unref(table->unused);
	g_free(table);
}

/* Word by word, as KEY was written just now: a processor waits where it is read in larger pieces. */
static inline gboolean
is_same(const WpFlowKey *a, const WpFlowKey *b)
{
	for (gsize i = 0; i < G_N_ELEMENTS(a->words); i++)
		if (a->words[i] != b->words[i])
			return FALSE;
	return TRUE;
}

/* The slot where KEY is or would be. */
static guint32
find_slot(const WpFlowTable *table, const WpFlowKey *key, guint32 hash)
{
	guint32 mask = table->n_slots - 1;
	for (guint32 at = hash & mask;; at = (at + 1) & mask) {
		const Slot *slot = &table->slots[at];
		if (!slot->object)
			return at;
		if (slot->hash == hash && is_same(get_object(table, slot->object - 1), key))
			return at;
	}
}

/* Most packets follow one of their own flow: its answer, or its acknowledgement. */
gpointer
wp_flow_table_find(WpFlowTable *table, const WpFlowKey *key)
{
	if (table->latest && is_same(table->latest, key))
		return table->latest;
	const Slot *slot = &table->slots[find_slot(table, key, hash_key(table, key))];
	if (!slot->object)
		return NULL;
	table->latest = get_object(table, slot->object - 1);
	return table->latest;
}

static void
grow(WpFlowTable *table)
{
	g_autofree Slot *old = table->slots;
	guint32 n_old = table->n_slots;

	table->n_slots *= 2;
	table->slots = g_new0(Slot, table->n_slots);
	for (guint32 i = 0; i < n_old; i++)
		if (old[i].object) {
			guint32 at = old[i].hash & (table->n_slots - 1);
			while (table->slots[at].object)
				at = (at + 1) & (table->n_slots - 1);
			table->slots[at] = old[i];
		}
}

static guint32
take_unused(WpFlowTable *table)
{
	if (table->unused->len) {
		guint32 number = g_array_index(table->unused, guint32, table->unused->len - 1);
		g_array_set_size(table->unused, table->unused->len - 1);
		return number;
	}
	if (table->n_objects % CHUNK_OBJECTS == 0)
		g_ptr_array_add(table->chunks, g_malloc(CHUNK_OBJECTS * table->object_size));
	return table->n_objects++;
}

gpointer
wp_flow_table_add(WpFlowTable *table, const WpFlowKey *key)
{
	if (table->n_used >= table->n_slots / 2)
		grow(table);
	guint32 number = take_unused(table), hash = hash_key(table, key);
	gpointer object = get_object(table, number);
	table->slots[find_slot(table, key, hash)] = (Slot){ hash, number + 1 };
	table->n_used++;
	memset(object, 0, table->object_size);
	memcpy(object, key, sizeof *key);
	return object;
}

/* Empties the slot AT and moves back what its being taken had pushed on. */
static void
empty_slot(WpFlowTable *table, guint32 at)
{
	guint32 mask = table->n_slots - 1;
	for (guint32 next = (at + 1) & mask; table->slots[next].object; next = (next + 1) & mask) {
		guint32 home = table->slots[next].hash & mask;
		if (((next - home) & mask) < ((next - at) & mask))
			continue; /* it would stand before its home */
		table->slots[at] = table->slots[next];
		at = next;
	}
	table->slots[at] = (Slot){ 0 };
}

void
wp_flow_table_remove(WpFlowTable *table, gpointer object)
{
	const WpFlowKey *key = object;
	guint32 at = find_slot(table, key, hash_key(table, key));
	guint32 number = table->slots[at].object - 1;
	g_assert(table->slots[at].object && get_object(table, number) == object);
	if (object == table->latest)
		table->latest = NULL;
	g_array_append_val(table->unused, number);
	empty_slot(table, at);
	table->n_used--;
}

guint32
wp_flow_table_count(const WpFlowTable *table)
{
	return table->n_used;
}

void
wp_flow_table_foreach(const WpFlowTable *table, WpFlowTableFunc func, gpointer data)
{
	for (guint32 i = 0; i < table->n_slots; i++)
		if (table->slots[i].object)
			func(get_object(table, table->slots[i].object - 1), data);
}
