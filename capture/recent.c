/*
 * A ring of bytes: a header and its packet, each whole; what does not fit before the end begins anew at 0.
 *
 *   0       tail          head            wrap   n_bytes
 *   |--new--|....free.....|--oldest--....--|.....|
 */
#include "capture/recent.h"

#include <string.h>

#include "capture/trace.h"

typedef struct {
	WpFrame frame; /* without data, which follows */
	gsize size;    /* of both, a multiple of ALIGNMENT */
} Entry;

#define ALIGNMENT 16

struct WpRecent {
	guint8 *bytes;
	gsize n_bytes;
	gsize head; /* the oldest entry */
	gsize tail; /* where the next one goes */
	gsize wrap; /* the end of the last entry before the end; only where TAIL is not behind HEAD */
	guint64 n;
	gboolean is_cut;
};

WpRecent *
wp_recent_new(gsize bytes)
{
	WpRecent *recent = g_new0(WpRecent, 1);

	recent->n_bytes = MAX(bytes, WP_RECENT_MIN_BYTES) / ALIGNMENT * ALIGNMENT;
	recent->bytes = g_malloc(recent->n_bytes);
	return recent;
}

void
wp_recent_free(WpRecent *recent)
{
	if (!recent)
		return;
	g_free(recent->bytes);
	g_free(recent);
}

static const Entry *
entry_at(const WpRecent *recent, gsize at)
{
	return (const Entry *)(const void *)(recent->bytes + at);
}

/* The place behind the entry AT. */
static gsize
next_of(const WpRecent *recent, gsize at)
{
	gsize next = at + entry_at(recent, at)->size;
	gboolean wraps = recent->tail <= recent->head && next == recent->wrap && at >= recent->head;
	return wraps ? 0 : next;
}

static void
remove_oldest(WpRecent *recent)
{
	recent->head = next_of(recent, recent->head);
	recent->n--;
	recent->is_cut = TRUE;
	if (recent->n == 0)
		recent->head = recent->tail = 0;
}

/* SIZE bytes in one piece at the tail. */
static void
make_room(WpRecent *recent, gsize size)
{
	if (recent->n > 0 && recent->tail > recent->head && recent->n_bytes - recent->tail < size) {
		recent->wrap = recent->tail;
		recent->tail = 0;
	} else if (recent->n == 0) {
		recent->head = recent->tail = 0;
	}
	while (recent->n > 0 && recent->tail <= recent->head &&
	       recent->head - recent->tail < size) {
		gboolean was_last = next_of(recent, recent->head) == 0;
		remove_oldest(recent);
		/* What is left lies before the tail: behind it there is room up to the end, or none. */
		if (was_last && recent->n > 0 && recent->n_bytes - recent->tail < size) {
			recent->wrap = recent->tail;
			recent->tail = 0;
		}
	}
}

void
wp_recent_add(WpRecent *recent, const WpFrame *frame)
{
	gsize size = (sizeof(Entry) + frame->captured + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	if (size > recent->n_bytes) {
		recent->is_cut = TRUE;
		return;
	}
	make_room(recent, size);
	Entry *entry = (Entry *)(void *)(recent->bytes + recent->tail);
	entry->frame = *frame;
	entry->frame.data = NULL;
	entry->size = size;
	memcpy(entry + 1, frame->data, frame->captured);
	recent->tail += size;
	recent->n++;
}

gint64
wp_recent_begin_ns(const WpRecent *recent)
{
	return recent->n ? entry_at(recent, recent->head)->frame.time_ns : WP_NO_TIME;
}

gboolean
wp_recent_is_cut(const WpRecent *recent)
{
	return recent->is_cut;
}

guint64
wp_recent_foreach(const WpRecent *recent, gint64 from_ns,
		  void (*func)(const WpFrame *frame, gpointer data), gpointer data)
{
	guint64 n = 0;
	gsize at = recent->head;

	for (guint64 i = 0; i < recent->n; i++, at = next_of(recent, at)) {
		const Entry *entry = entry_at(recent, at);
		WpFrame frame = entry->frame;
		frame.data = (const guint8 *)(entry + 1);
		if (frame.time_ns < from_ns)
			continue;
		func(&frame, data);
		n++;
	}
	return n;
}
