/*
 * Strings: texts in blocks that never move, an array of them by number, and an open-addressing table
 * (linear probing, at most half full) from hash to number.
 */
#include "capture/strings.h"

#include <string.h>

#define BLOCK_BYTES 65536
#define FIRST_SLOTS 256

typedef struct {
	const char *text;
	guint32 length;
	guint32 hash;
} Entry;

struct WpStrings {
	Entry *entries;
	guint32 n;
	guint32 n_allocated;
	guint32 *slots;  /* number, 0 = free: "" is not in the table */
	guint32 n_slots; /* a power of two */
	GPtrArray *blocks;
	gsize block_used;
	gsize block_size;
};

WpStrings *
wp_strings_new(void)
{
	WpStrings *strings = g_new0(WpStrings, 1);
	strings->n_slots = FIRST_SLOTS;
	strings->slots = g_new0(guint32, strings->n_slots);
	strings->n_allocated = FIRST_SLOTS;
	strings->entries = g_new0(Entry, strings->n_allocated);
	strings->blocks = g_ptr_array_new_with_free_func(g_free);
	strings->entries[0].text = "";
	strings->n = 1;
	return strings;
}

void
wp_strings_free(WpStrings *strings)
{
	if (!strings)
		return;
	g_free(strings->entries);
	g_free(strings->slots);
	g_ptr_array_unref(strings->blocks);
	g_free(strings);
}

/* Eight bytes a step: texts have 20 or so, and one is looked up for every message. */
static guint32
hash_bytes(const char *text, gsize length)
{
	const guint64 factor = G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	guint64 hash = length, word;

	for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
		memcpy(&word, text, sizeof word);
		hash = (hash ^ word) * factor;
		hash ^= hash >> 32;
	}
	word = 0;
	for (gsize i = 0; i < length; i++)
		word = word << 8 | (guint8)text[i];
	hash = (hash ^ word) * factor;
	return (guint32)(hash >> 32);
}

/* The slot where TEXT is or would be. */
static guint32
find_slot(const WpStrings *strings, const char *text, gsize length, guint32 hash)
{
	guint32 mask = strings->n_slots - 1;
	for (guint32 slot = hash & mask;; slot = (slot + 1) & mask) {
		guint32 number = strings->slots[slot];
		const Entry *entry = &strings->entries[number];
		if (!number || (entry->hash == hash && entry->length == length &&
				memcmp(entry->text, text, length) == 0))
			return slot;
	}
}

static const char *
store_text(WpStrings *strings, const char *text, gsize length)
{
	if (strings->block_used + length + 1 > strings->block_size) {
		strings->block_size = MAX(BLOCK_BYTES, length + 1);
		strings->block_used = 0;
		g_ptr_array_add(strings->blocks, g_malloc(strings->block_size));
	}
	char *copy = (char *)g_ptr_array_index(strings->blocks, strings->blocks->len - 1) +
		     strings->block_used;
	memcpy(copy, text, length);
	copy[length] = '\0';
	strings->block_used += length + 1;
	return copy;
}

static void
grow_slots(WpStrings *strings)
{
	g_free(strings->slots);
	strings->n_slots *= 2;
	strings->slots = g_new0(guint32, strings->n_slots);
	for (guint32 i = 1; i < strings->n; i++) {
		guint32 slot = strings->entries[i].hash & (strings->n_slots - 1);
		while (strings->slots[slot])
			slot = (slot + 1) & (strings->n_slots - 1);
		strings->slots[slot] = i;
	}
}

guint32
wp_strings_intern(WpStrings *strings, const char *text, gssize length)
{
	gsize n = length < 0 ? strlen(text) : (gsize)length;
	if (n == 0)
		return 0;
	guint32 hash = hash_bytes(text, n);
	guint32 slot = find_slot(strings, text, n, hash);
	if (strings->slots[slot])
		return strings->slots[slot];
	g_assert(n < G_MAXUINT32 && strings->n < G_MAXINT32);
	if (strings->n == strings->n_allocated) {
		strings->n_allocated *= 2;
		strings->entries = g_renew(Entry, strings->entries, strings->n_allocated);
	}
	guint32 number = strings->n++;
	strings->entries[number] = (Entry){ store_text(strings, text, n), (guint32)n, hash };
	strings->slots[slot] = number;
	if (strings->n * 2 > strings->n_slots)
		grow_slots(strings);
	return number;
}

guint32
wp_strings_find(const WpStrings *strings, const char *text, gssize length)
{
	gsize n = length < 0 ? strlen(text) : (gsize)length;
	if (n == 0)
		return 0;
	return strings->slots[find_slot(strings, text, n, hash_bytes(text, n))];
}

const char *
wp_strings_get(const WpStrings *strings, guint32 number)
{
	g_return_val_if_fail(number < strings->n, "");
	return strings->entries[number].text;
}

guint32
wp_strings_count(const WpStrings *strings)
{
	return strings->n;
}
