/*
 * Doubles: the last few thousand packets in a ring, and a table of places in it, four to a set; the first
 * to come is the first to go. A packet that is found within the window is a copy, if its key is strong.
 *
 *   table   [ mark, place | ... | ... | ... ] ...     64 KiB: all that most packets touch, fetched before
 *   ring    key, way, time, counts | ...              written from one end to the other
 *
 * For weak keys the capture itself is asked. Each packet with a strong key is a test whether copies
 * occur, and how late. Where there are none with strong keys (IPv6 and UDP alone), the weak ones speak:
 *
 *   a mirror that doubles      a b a' c b' c' d d'      many contents, each seen twice, at once
 *   a program that repeats     a a a a a b a a a c      few contents, each seen often
 */
#include "capture/doubles.h"

#include <string.h>

#define N_ENTRIES 8192
#define N_WAYS    4    /* 3000 packets later, 99 % are still there */
#define N_SETS    4096 /* a power of two, as is N_ENTRIES */

/* Evidence is halved when so many packets have been counted, so that it follows a change. */
#define HALVE_AT 16384

/*
 * With strong keys, one copy in 64 packets is enough to believe in copies at all. Weak ones may come
 * twice as late, and clocks may count microseconds.
 */
#define STRONG_SHARE 64
#define LAG_SLACK_NS 10000

/* So many strong keys decide alone. */
#define STRONG_ENOUGH 64

/*
 * With weak keys alone: at least so many contents seen twice within 2 ms, a quarter of all, and at most
 * an eighth of them seen more often than twice.
 */
#define WEAK_MIN    8
#define WEAK_SHARE  4
#define WEAK_EXCESS 8
#define WEAK_LAG_NS (2 * G_GINT64_CONSTANT(1000000))

typedef struct {
	guint64 key; /* 0 = free */
	guint64 way;
	gint64 time_ns;  /* of the latest original */
	guint16 n_seen;  /* this way, since nothing of it came for a while */
	guint16 n_since; /* this way, since and with the latest original */
} Entry;

/* What the packets with keys of one kind showed: what came again, and the same way. */
typedef struct {
	guint32 n_contents;
	guint32 n_doubled; /* contents that were seen a second time */
	guint32 n_more;    /* sightings after the second */
	guint32 most_seen; /* of one content */
	gint64 lag_ns;     /* of the latest copies */
} Evidence;

struct WpDoubles {
	Evidence strong;
	Evidence weak;
	guint32 next; /* entry to be replaced */
	/* Marks and places, the latest in front; a set is in one line of the cache. */
	_Alignas(16) guint32 table[N_SETS][N_WAYS];
	Entry ring[N_ENTRIES];
};

WpDoubles *
wp_doubles_new(void)
{
	return g_new0(WpDoubles, 1);
}

void
wp_doubles_free(WpDoubles *doubles)
{
	g_free(doubles);
}

void
wp_doubles_expect(WpDoubles *doubles, const WpDoubles *learned)
{
	doubles->strong = learned->strong;
	doubles->weak = learned->weak;
}

static inline guint64
load_u64(const guint8 *data)
{
	guint64 word;
	memcpy(&word, data, sizeof word);
	return GUINT64_FROM_LE(word);
}

static inline guint64
load_u32(const guint8 *data)
{
	guint32 word;
	memcpy(&word, data, sizeof word);
	return GUINT32_FROM_LE(word);
}

/* Fewer than 8 bytes, and zeros behind them. Not by way of memory: a processor waits where it reads more than was written. */
static inline guint64
load_few(const guint8 *data, gsize n)
{
	if (n >= 4)
		return load_u32(data) | load_u32(data + n - 4) << 8 * (n - 4);
	guint64 word = 0;
	for (gsize i = 0; i < n; i++)
		word |= (guint64)data[i] << 8 * i;
	return word;
}

guint64
wp_doubles_mix_bytes(guint64 hash, const guint8 *data, gsize length)
{
	guint64 second = hash ^ length;

	for (; length >= 16; data += 16, length -= 16) {
		hash = wp_doubles_mix(hash, load_u64(data));
		second = wp_doubles_mix(second, load_u64(data + 8));
	}
	hash = wp_doubles_mix(hash, length >= 8 ? load_u64(data) : load_few(data, length));
	second = wp_doubles_mix(second, length > 8 ? load_few(data + 8, length - 8) : 0);
	return wp_doubles_mix(hash, second);
}

static void
count_content(Evidence *evidence)
{
	if (++evidence->n_contents < HALVE_AT)
		return;
	evidence->n_contents /= 2;
	evidence->n_doubled /= 2;
	evidence->n_more /= 2;
	evidence->lag_ns /= 2;
}

/* A content was seen for the N_SEEN-th time, LAG_NS after the first. */
static void
count_copy(Evidence *evidence, guint32 n_seen, gint64 lag_ns)
{
	if (n_seen == 2)
		evidence->n_doubled++;
	else
		evidence->n_more++;
	evidence->lag_ns = MAX(evidence->lag_ns, lag_ns);
	evidence->most_seen = MAX(evidence->most_seen, n_seen);
}

/* TRUE where this capture holds copies that come LAG_NS late, and so many of one packet. */
static gboolean
are_copies_usual(const WpDoubles *doubles, gint64 lag_ns, guint32 n_since)
{
	const Evidence *strong = &doubles->strong, *weak = &doubles->weak;

	if (strong->n_doubled > 0 && strong->n_doubled >= strong->n_contents / STRONG_SHARE)
		return lag_ns <= 2 * strong->lag_ns + LAG_SLACK_NS && n_since <= strong->most_seen;
	if (strong->n_contents >= STRONG_ENOUGH)
		return FALSE;
	return weak->n_doubled >= WEAK_MIN && weak->n_doubled >= weak->n_contents / WEAK_SHARE &&
	       weak->n_more <= weak->n_doubled / WEAK_EXCESS && lag_ns <= WEAK_LAG_NS &&
	       n_since <= 2;
}

/* The bits of KEY that stand beside a place; so few are the same by chance that entries are seldom seen. */
static inline guint32
mark_of(guint64 key)
{
	return (guint32)(key >> 32) & ~(guint32)(N_ENTRIES - 1);
}

/* The entry of KEY; NULL where it has none. */
static inline Entry *
find_entry(WpDoubles *doubles, const guint32 set[N_WAYS], guint64 key)
{
	guint32 mark = mark_of(key);

	for (guint i = 0; i < N_WAYS; i++) {
		/* What differs stands above the bits of the place. */
		if ((set[i] ^ mark) >= N_ENTRIES)
			continue;
		Entry *entry = &doubles->ring[set[i] % N_ENTRIES];
		if (entry->key == key)
			return entry;
	}
	return NULL;
}

static inline Entry *
add_entry(WpDoubles *doubles, guint32 set[N_WAYS], guint64 key)
{
	guint32 place = doubles->next;

	doubles->next = (place + 1) % N_ENTRIES;
	for (guint i = N_WAYS - 1; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = mark_of(key) | place;
	return &doubles->ring[place];
}

/* PACKET has come before, the same way as ENTRY says: TRUE where it is a copy. */
static gboolean
check_same_way(WpDoubles *doubles, Entry *entry, const WpDoublesPacket *packet)
{
	Evidence *evidence = packet->is_weak ? &doubles->weak : &doubles->strong;
	gint64 lag_ns = ABS(packet->time_ns - entry->time_ns);

	entry->n_seen = MIN(entry->n_seen + 1, G_MAXUINT16);
	entry->n_since = MIN(entry->n_since + 1, G_MAXUINT16);
	gboolean is_copy = !packet->is_weak || are_copies_usual(doubles, lag_ns, entry->n_since);
	if (!packet->is_weak || lag_ns <= WEAK_LAG_NS) {
		count_copy(evidence, entry->n_seen, lag_ns);
	} else if (!is_copy) {
		/* Said again, as lines of logs are: a new content, which may have its own copy. */
		entry->n_seen = 1;
		count_content(evidence);
	}
	if (!is_copy) {
		entry->time_ns = packet->time_ns;
		entry->n_since = 1;
	}
	return is_copy;
}

static inline guint64
key_of(const WpDoublesPacket *packet)
{
	return packet->key ? packet->key : 1; /* 0 = free */
}

void
wp_doubles_fetch(const WpDoubles *doubles, const WpDoublesPacket *packet)
{
	__builtin_prefetch(doubles->table[key_of(packet) % N_SETS], 1);
}

gboolean
wp_doubles_check(WpDoubles *doubles, const WpDoublesPacket *packet)
{
	guint64 key = key_of(packet);
	guint32 *set = doubles->table[key % N_SETS];
	Entry *entry = find_entry(doubles, set, key);

	if (entry && ABS(packet->time_ns - entry->time_ns) <= WP_DOUBLES_WINDOW_NS)
		return entry->way != packet->way || check_same_way(doubles, entry, packet);
	if (!entry)
		entry = add_entry(doubles, set, key);
	*entry = (Entry){ key, packet->way, packet->time_ns, 1, 1 };
	count_content(packet->is_weak ? &doubles->weak : &doubles->strong);
	return FALSE;
}
