/*
 * Sightings: a ring of entries, the latest in the place of the oldest, and chains through it by direction
 * and block of 4 KiB of sequence numbers; a long segment has an entry in each block that it touches. A chain
 * ends where its next entry has been overwritten, which the running numbers of the entries tell.
 */
#include "capture/sightings.h"

#include <string.h>

#include "capture/doubles.h"

#define N_HEADS    (WP_SIGHTINGS_MAX / 2) /* a power of two */
#define FIRST_RING 4096
#define BLOCK_BITS 12
#define MAX_BLOCKS 64  /* of a segment: 256 KiB, the largest that offloading makes */
#define MAX_STEPS  256 /* along a chain */
#define COPY_NS                                                                                    \
	(5 * G_GINT64_CONSTANT(1000000000)) /* no copy comes later than that by another tap */
#define HASH_BYTES  128                     /* of a datagram */
#define NO_PAYLOAD  0x5eed
#define IS_DATAGRAM 0xda7a

typedef struct {
	guint64 key; /* direction and block */
	gint64 time_ns;
	guint64 next; /* number of the entry before in the chain; 0 = none */
	guint32 seq;
	guint32 length;
	guint8 tap;
} Entry;

struct WpSightings {
	Entry *ring;    /* grows to WP_SIGHTINGS_MAX */
	guint32 n_ring; /* a power of two */
	guint64 n;      /* entries ever: the last has this number */
	guint64 *heads; /* N_HEADS: number of the last entry */
};

WpSightings *
wp_sightings_new(void)
{
	WpSightings *sightings = g_new0(WpSightings, 1);
	sightings->n_ring = FIRST_RING;
	sightings->ring = g_new(Entry, FIRST_RING);
	sightings->heads = g_new0(guint64, N_HEADS);
	return sightings;
}

void
wp_sightings_free(WpSightings *sightings)
{
	if (!sightings)
		return;
	g_free(sightings->ring);
	g_free(sightings->heads);
	g_free(sightings);
}

static Entry *
get_entry(const WpSightings *sightings, guint64 number)
{
	gboolean is_there = number > 0 && number + sightings->n_ring > sightings->n;
	return is_there ? &sightings->ring[number % sightings->n_ring] : NULL;
}

static guint64 *
get_head(const WpSightings *sightings, guint64 key)
{
	return &sightings->heads[wp_doubles_mix(key, 1) % N_HEADS];
}

static void
grow(WpSightings *sightings)
{
	guint32 n = sightings->n_ring * 2;
	Entry *ring = g_new(Entry, n);
	for (guint64 i = sightings->n - sightings->n_ring + 1; i <= sightings->n; i++)
		ring[i % n] = sightings->ring[i % sightings->n_ring];
	g_free(sightings->ring);
	sightings->ring = ring;
	sightings->n_ring = n;
}

static void
add_entry(WpSightings *sightings, guint64 key, const WpSegment *segment, guint32 seq,
	  guint32 length)
{
	if (sightings->n >= sightings->n_ring && sightings->n_ring < WP_SIGHTINGS_MAX)
		grow(sightings);
	guint64 *head = get_head(sightings, key), number = ++sightings->n;
	sightings->ring[number % sightings->n_ring] =
		(Entry){ key, segment->time_ns, *head, seq, length, segment->tap };
	*head = number;
}

static guint64
hash_end(guint64 hash, const WpEndpoint *end)
{
	hash = wp_doubles_mix_bytes(hash, end->address, sizeof end->address);
	return wp_doubles_mix(hash, end->port);
}

static guint64
hash_direction(const WpEndpoint *src, const WpEndpoint *dst, guint64 kind)
{
	return hash_end(hash_end(kind, src), dst);
}

static guint64
key_of(guint64 direction, guint32 seq)
{
	return wp_doubles_mix(direction, seq >> BLOCK_BITS);
}

guint32
wp_sightings_hash(const guint8 *payload, guint32 captured, guint32 length)
{
	guint64 hash = wp_doubles_mix_bytes(length, payload, MIN(captured, HASH_BYTES));
	return (guint32)(hash ^ hash >> 32);
}

static gboolean
covers(const Entry *entry, guint32 seq)
{
	return (guint32)(seq - entry->seq) < entry->length;
}

/* How often each tap has seen the byte; also, where OUT_END is not NULL, how far an entry of another tap goes. */
static guint
count_taps(const WpSightings *sightings, guint64 key, guint32 seq, const WpSegment *segment,
	   guint *out_others, guint32 *out_end)
{
	guint counts[256] = { 0 }, others = 0, steps = 0;
	const Entry *entry = get_entry(sightings, *get_head(sightings, key));
	for (; entry && steps < MAX_STEPS; entry = get_entry(sightings, entry->next), steps++) {
		if (segment->time_ns - entry->time_ns > COPY_NS)
			break;
		if (entry->key != key || !covers(entry, seq))
			continue;
		guint n = ++counts[entry->tap];
		if (entry->tap == segment->tap)
			continue;
		others = MAX(others, n);
		*out_end = entry->seq + entry->length;
	}
	*out_others = others;
	return counts[segment->tap];
}

/* TRUE where other taps have delivered every byte from SEQ on, more often than the tap of SEGMENT. */
static gboolean
is_delivered(const WpSightings *sightings, guint64 direction, guint32 seq, guint32 length,
	     const WpSegment *segment)
{
	guint32 at = seq;

	while (at - seq < length) {
		guint others;
		guint32 end = at;
		guint own =
			count_taps(sightings, key_of(direction, at), at, segment, &others, &end);
		if (own >= others || end == at)
			return FALSE;
		/* What lies in another block is asked for there. */
		guint32 block_end = (at | ((1u << BLOCK_BITS) - 1)) + 1;
		at = end - at < block_end - at ? end : block_end;
	}
	return TRUE;
}

gboolean
wp_sightings_add(WpSightings *sightings, const WpSegment *segment)
{
	guint64 kind = segment->is_udp ? IS_DATAGRAM : segment->length ? 0 : NO_PAYLOAD;
	guint64 direction = hash_direction(&segment->src, &segment->dst, kind);
	guint32 seq = segment->seq, length = segment->length;

	if (segment->is_udp) {
		length = 1;
	} else if (!segment->length) {
		/* Routers change windows and options of what opens; all else is as it was sent. */
		guint64 rest = (guint64)segment->ack << 32 | (guint64)segment->flags << 16;
		gboolean is_syn = (segment->flags & WP_TCP_SYN) != 0;
		direction = wp_doubles_mix(direction, rest | (is_syn ? 0 : segment->window));
		length = 1;
	}
	length = MIN(length, MAX_BLOCKS << BLOCK_BITS);
	gboolean is_copy = is_delivered(sightings, direction, seq, length, segment);
	guint32 last = (seq + length - 1) >> BLOCK_BITS;
	for (guint32 block = seq >> BLOCK_BITS;;
	     block = (block + 1) & (G_MAXUINT32 >> BLOCK_BITS)) {
		add_entry(sightings, wp_doubles_mix(direction, block), segment, seq, length);
		if (block == last)
			break;
	}
	return is_copy;
}

static gboolean
is_better(gint64 time_ns, gint64 than_ns, gboolean is_udp, gint64 near_ns)
{
	if (!is_udp)
		return time_ns < than_ns;
	return ABS(time_ns - near_ns) < ABS(than_ns - near_ns);
}

guint
wp_sightings_find(const WpSightings *sightings, const WpEndpoint *src, const WpEndpoint *dst,
		  gboolean is_udp, guint32 seq, gint64 near_ns, WpSighting *out)
{
	guint64 key = key_of(hash_direction(src, dst, is_udp ? IS_DATAGRAM : 0), seq);
	const Entry *entry = get_entry(sightings, *get_head(sightings, key));
	guint n = 0, steps = 0;

	for (; entry && steps < MAX_STEPS; entry = get_entry(sightings, entry->next), steps++) {
		guint i = 0;
		if (entry->key != key || !covers(entry, seq))
			continue;
		while (i < n && out[i].tap < entry->tap)
			i++;
		gboolean is_known = i < n && out[i].tap == entry->tap;
		if (is_known && !is_better(entry->time_ns, out[i].time_ns, is_udp, near_ns))
			continue;
		if (!is_known && n == WP_SIGHTINGS_TAPS)
			continue;
		if (!is_known)
			memmove(&out[i + 1], &out[i], (n++ - i) * sizeof out[0]);
		out[i] = (WpSighting){ entry->time_ns, entry->tap };
	}
	return n;
}
