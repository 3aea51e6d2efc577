/*
 * Fragments: a fixed number of slots, each one datagram being put together. Offsets are multiples of
 * eight, so a bit for each eight bytes tells what is there:
 *
 *     data  |AAAAAAAA|AAAAAAAA|........|BBBBBBBB|BBB
 *     map        1        1        0        1     1        4 of 5 units
 *
 * A fragment counts as lost until its datagram is complete; so nothing needs to be done at the end.
 */
#include "capture/fragment.h"

#include <string.h>

#define MAX_DATAGRAMS 256
#define MAX_BYTES     (4 * 1024 * 1024) /* of all buffers */
#define DATAGRAM_MAX  65535
#define UNIT          8
#define MAP_WORDS     ((DATAGRAM_MAX / UNIT + 1) / 64 + 1)

/* A sender that has not sent all after so long never will: RFC 8200 says 60 s, systems take 30. */
#define TIMEOUT_NS (30 * G_GINT64_CONSTANT(1000000000))

typedef struct {
	gboolean is_used;
	gint64 time_ns; /* of the first fragment to arrive */
	guint8 src[16];
	guint8 dst[16];
	guint32 id;
	guint8 protocol;
	guint32 total;    /* bytes of the datagram; 0 = not known yet */
	guint32 n_units;  /* in the map */
	guint32 captured; /* all bytes before this were captured, where they have arrived */
	guint32 n_fragments;
	guint8 *data;
	gsize allocated;
	guint64 map[MAP_WORDS];
} Datagram;

struct WpFragments {
	WpCounters *counters;
	Datagram *datagrams[MAX_DATAGRAMS]; /* allocated when first used */
	gsize n_bytes;                      /* of all buffers */
};

WpFragments *
wp_fragments_new(WpCounters *counters)
{
	WpFragments *fragments = g_new0(WpFragments, 1);
	fragments->counters = counters;
	return fragments;
}

void
wp_fragments_free(WpFragments *fragments)
{
	if (!fragments)
		return;
	for (guint i = 0; i < MAX_DATAGRAMS; i++)
		if (fragments->datagrams[i]) {
			g_free(fragments->datagrams[i]->data);
			g_free(fragments->datagrams[i]);
		}
	g_free(fragments);
}

static gboolean
is_of(const Datagram *datagram, const WpFragment *fragment)
{
	return datagram->is_used && datagram->id == fragment->id &&
	       datagram->protocol == fragment->protocol &&
	       memcmp(datagram->src, fragment->src, 16) == 0 &&
	       memcmp(datagram->dst, fragment->dst, 16) == 0;
}

static void
begin(Datagram *datagram, const WpFragment *fragment)
{
	guint8 *data = datagram->data;
	gsize allocated = datagram->allocated;

	*datagram = (Datagram){ .is_used = TRUE, .captured = G_MAXUINT32 };
	datagram->data = data;
	datagram->allocated = allocated;
	datagram->time_ns = fragment->time_ns;
	datagram->id = fragment->id;
	datagram->protocol = fragment->protocol;
	memcpy(datagram->src, fragment->src, 16);
	memcpy(datagram->dst, fragment->dst, 16);
}

/* The slot of FRAGMENT's datagram; else a free one, an overdue one, or the oldest, begun anew. */
static Datagram *
find_datagram(WpFragments *fragments, const WpFragment *fragment)
{
	guint best = 0;

	for (guint i = 0; i < MAX_DATAGRAMS; i++) {
		Datagram *datagram = fragments->datagrams[i];
		if (datagram && datagram->is_used &&
		    fragment->time_ns - datagram->time_ns > TIMEOUT_NS)
			datagram->is_used = FALSE;
		if (datagram && is_of(datagram, fragment))
			return datagram;
		const Datagram *oldest = fragments->datagrams[best];
		if (!oldest || !oldest->is_used)
			continue;
		if (!datagram || !datagram->is_used || datagram->time_ns < oldest->time_ns)
			best = i;
	}
	if (!fragments->datagrams[best])
		fragments->datagrams[best] = g_new0(Datagram, 1);
	begin(fragments->datagrams[best], fragment);
	return fragments->datagrams[best];
}

/* Gives up buffers of others until N more bytes are allowed. */
static void
make_room(WpFragments *fragments, const Datagram *keep, gsize n)
{
	while (fragments->n_bytes + n > MAX_BYTES) {
		Datagram *victim = NULL;
		for (guint i = 0; i < MAX_DATAGRAMS; i++) {
			Datagram *datagram = fragments->datagrams[i];
			if (!datagram || datagram == keep || datagram->allocated == 0)
				continue;
			if (!victim || (victim->is_used && !datagram->is_used) ||
			    (victim->is_used == datagram->is_used &&
			     datagram->time_ns < victim->time_ns))
				victim = datagram;
		}
		g_assert(victim); /* one datagram is far below the limit */
		fragments->n_bytes -= victim->allocated;
		g_clear_pointer(&victim->data, g_free);
		victim->allocated = 0;
		victim->is_used = FALSE;
	}
}

static void
ensure_buffer(WpFragments *fragments, Datagram *datagram, gsize needed)
{
	if (needed <= datagram->allocated)
		return;
	gsize allocated = MAX(datagram->allocated, 2048);
	while (allocated < needed)
		allocated *= 2;
	make_room(fragments, datagram, allocated - datagram->allocated);
	fragments->n_bytes += allocated - datagram->allocated;
	datagram->data = g_realloc(datagram->data, allocated);
	datagram->allocated = allocated;
}

static gboolean
has_unit(const Datagram *datagram, guint32 unit)
{
	return datagram->map[unit / 64] >> unit % 64 & 1;
}

/* Copies what is not there yet, and marks it. */
static void
copy_units(Datagram *datagram, const WpFragment *fragment)
{
	for (guint32 at = 0; at < fragment->length; at += UNIT) {
		guint32 unit = (fragment->offset + at) / UNIT;
		if (has_unit(datagram, unit))
			continue;
		datagram->map[unit / 64] |= G_GUINT64_CONSTANT(1) << unit % 64;
		datagram->n_units++;
		if (at < fragment->captured)
			memcpy(datagram->data + fragment->offset + at, fragment->data + at,
			       MIN(UNIT, fragment->captured - at));
	}
}

static gboolean
is_possible(const Datagram *datagram, const WpFragment *fragment)
{
	guint64 end = (guint64)fragment->offset + fragment->length; /* a length may be any */

	if (fragment->length == 0 || fragment->offset % UNIT != 0 || end > DATAGRAM_MAX ||
	    fragment->captured > fragment->length)
		return FALSE;
	if (fragment->more && fragment->length % UNIT != 0)
		return FALSE;
	return datagram->total == 0 ||
	       (end <= datagram->total && (fragment->more || end == datagram->total));
}

gboolean
wp_fragments_add(WpFragments *fragments, const WpFragment *fragment, const guint8 **out_data,
		 guint32 *out_length, guint32 *out_captured)
{
	guint32 end = fragment->offset + fragment->length;
	Datagram *datagram = find_datagram(fragments, fragment);

	wp_counters_add(fragments->counters, WP_COUNT_FRAGMENTS, 1);
	wp_counters_add(fragments->counters, WP_COUNT_FRAGMENTS_LOST, 1);
	if (!is_possible(datagram, fragment))
		return FALSE;
	ensure_buffer(fragments, datagram, end);
	copy_units(datagram, fragment);
	datagram->n_fragments++;
	if (fragment->captured < fragment->length)
		datagram->captured = MIN(datagram->captured, fragment->offset + fragment->captured);
	if (!fragment->more)
		datagram->total = end;
	if (datagram->total == 0 || datagram->n_units < (datagram->total + UNIT - 1) / UNIT)
		return FALSE;
	/* Units beyond the end can only have come before the end was known: then it was a lie. */
	datagram->is_used = FALSE;
	if (datagram->n_units > (datagram->total + UNIT - 1) / UNIT)
		return FALSE;
	wp_counters_add(fragments->counters, WP_COUNT_FRAGMENTS_LOST,
			-(guint64)datagram->n_fragments);
	*out_data = datagram->data;
	*out_length = datagram->total;
	*out_captured = MIN(datagram->captured, datagram->total);
	return TRUE;
}
