/*
 * Open addressing with linear probing; at most half full, so that a probe is short. A slot is free
 * where its value is WP_MAP_NONE.
 */
#include "infer/map.h"

#define FIRST_SLOTS 64

typedef struct {
	guint64 key;
	guint32 value;
} Slot;

struct WpMap {
	Slot *slots;
	gsize n_slots; /* a power of two */
	guint32 n;
};

static Slot *
new_slots(gsize n)
{
	Slot *slots = g_new(Slot, n);
	for (gsize i = 0; i < n; i++)
		slots[i].value = WP_MAP_NONE;
	return slots;
}

WpMap *
wp_map_new(void)
{
	WpMap *map = g_new0(WpMap, 1);
	map->n_slots = FIRST_SLOTS;
	map->slots = new_slots(map->n_slots);
	return map;
}

void
wp_map_free(WpMap *map)
{
	if (!map)
		return;
	g_free(map->slots);
	g_free(map);
}

/* The slot where KEY is or would be. Multiplicative hashing, Knuth volume 3, 6.4. */
static Slot *
find_slot(const WpMap *map, guint64 key)
{
	guint64 hash = (key ^ key >> 29) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	gsize i = (gsize)(hash >> 20) & (map->n_slots - 1);

	while (map->slots[i].value != WP_MAP_NONE && map->slots[i].key != key)
		i = (i + 1) & (map->n_slots - 1);
	return &map->slots[i];
}

static void
grow(WpMap *map)
{
	g_autofree Slot *old = g_steal_pointer(&map->slots);
	gsize n_old = map->n_slots;

	map->n_slots *= 2;
	map->slots = new_slots(map->n_slots);
	for (gsize i = 0; i < n_old; i++)
		if (old[i].value != WP_MAP_NONE)
			*find_slot(map, old[i].key) = old[i];
}

guint32
wp_map_find(const WpMap *map, guint64 key)
{
	return find_slot(map, key)->value;
}

guint32 *
wp_map_at(WpMap *map, guint64 key, guint32 value)
{
	Slot *slot = find_slot(map, key);

	g_assert(value != WP_MAP_NONE);
	if (slot->value != WP_MAP_NONE)
		return &slot->value;
	if ((gsize)map->n * 2 >= map->n_slots) {
		grow(map);
		slot = find_slot(map, key);
	}
	*slot = (Slot){ key, value };
	map->n++;
	return &slot->value;
}

guint32
wp_map_number(WpMap *map, guint64 key)
{
	return *wp_map_at(map, key, map->n);
}

guint32
wp_map_count(const WpMap *map)
{
	return map->n;
}
