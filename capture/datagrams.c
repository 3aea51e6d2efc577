/*
 * Waiting datagrams: a list by time, added to from its end, where nearly all belong. Entries and their
 * buffers are used again, so that no datagram allocates.
 */
#include "capture/datagrams.h"

#include <string.h>

#define SMALL 2048 /* bytes; a larger buffer is not kept for the next */

typedef struct Entry Entry;
struct Entry {
	Entry *prev;
	Entry *next;
	WpSegment segment; /* its payload: bytes */
	guint8 *bytes;
	gsize allocated;
	guint64 number;
};

struct WpDatagrams {
	Entry *first; /* by time */
	Entry *last;
	Entry *unused;
	Entry *taken; /* what the caller has */
	guint n;
	gsize n_bytes;
};

WpDatagrams *
wp_datagrams_new(void)
{
	return g_new0(WpDatagrams, 1);
}

static void
free_list(Entry *entry)
{
	while (entry) {
		Entry *next = entry->next;
		g_free(entry->bytes);
		g_free(entry);
		entry = next;
	}
}

void
wp_datagrams_free(WpDatagrams *datagrams)
{
	if (!datagrams)
		return;
	free_list(datagrams->first);
	free_list(datagrams->unused);
	free_list(datagrams->taken);
	g_free(datagrams);
}

static Entry *
get_unused(WpDatagrams *datagrams)
{
	Entry *entry = datagrams->unused;
	if (!entry)
		return g_new0(Entry, 1);
	datagrams->unused = entry->next;
	return entry;
}

void
wp_datagrams_add(WpDatagrams *datagrams, const WpSegment *segment, guint64 number)
{
	Entry *entry = get_unused(datagrams), *before = datagrams->last;

	if (segment->captured > entry->allocated) {
		entry->allocated = MAX(segment->captured, 512);
		entry->bytes = g_realloc(entry->bytes, entry->allocated);
	}
	if (segment->captured)
		memcpy(entry->bytes, segment->payload, segment->captured);
	entry->segment = *segment;
	entry->segment.payload = entry->bytes;
	entry->number = number;
	while (before && before->segment.time_ns > segment->time_ns)
		before = before->prev;
	entry->prev = before;
	entry->next = before ? before->next : datagrams->first;
	*(before ? &before->next : &datagrams->first) = entry;
	*(entry->next ? &entry->next->prev : &datagrams->last) = entry;
	datagrams->n++;
	datagrams->n_bytes += segment->captured;
}

/* The caller is done with what was taken last. */
static void
put_back(WpDatagrams *datagrams)
{
	Entry *entry = datagrams->taken;
	if (!entry)
		return;
	if (entry->allocated > SMALL) {
		g_clear_pointer(&entry->bytes, g_free);
		entry->allocated = 0;
	}
	entry->next = datagrams->unused;
	datagrams->unused = entry;
	datagrams->taken = NULL;
}

static gboolean
is_full(const WpDatagrams *datagrams)
{
	return datagrams->n > WP_DATAGRAMS_MAX || datagrams->n_bytes > WP_DATAGRAMS_MAX_BYTES;
}

const WpSegment *
wp_datagrams_take(WpDatagrams *datagrams, gint64 until_ns, guint64 until_number)
{
	Entry *entry = datagrams->first;

	put_back(datagrams);
	if (!entry)
		return NULL;
	if ((entry->segment.time_ns > until_ns || entry->number > until_number) &&
	    !is_full(datagrams))
		return NULL;
	datagrams->first = entry->next;
	*(entry->next ? &entry->next->prev : &datagrams->last) = NULL;
	datagrams->n--;
	datagrams->n_bytes -= entry->segment.captured;
	entry->next = NULL;
	datagrams->taken = entry;
	return &entry->segment;
}
