/*
 * Checksums: sums of 16-bit words with the carry added at the end, which come out the same in any byte order
 * and in steps of any size (RFC 1071 section 2). What senders have shown stands in a small table by address.
 */
#include "capture/checksum.h"

#define N_SENDERS 512 /* a power of two; 12 KiB, of which the usual capture takes a few lines */

/* So many sums of a sender are counted before the count is halved: it follows a change. */
#define HALVE_AT 16384

/* Damage is rare: after so many right sums, one wrong one in so many is it. Merged segments are more. */
#define SURE_RIGHT 64
#define SURE_SHARE 64

/* Damage does not hit one sender's packets in a row: more is another kind of sums from now on. */
#define SURE_ROW 2

/* So many of a sender tell what its sums are like; of one that sent fewer, those of all raise a doubt. */
#define FEW 4

/* Where three of four are right, the fourth is worth a word. Senders that fill some in late have more. */
#define DOUBT_SHARE 3

typedef struct {
	guint16 n_right;
	guint16 n_wrong;
	guint16 n_row; /* wrong ones, since there was a right one */
} Evidence;

typedef struct {
	Evidence headers; /* of IPv4 */
	Evidence sums;    /* of TCP and UDP */
} Sums;

typedef struct {
	guint64 hash; /* of the address */
	Sums own;
} Sender;

struct WpChecksums {
	Sums all;
	Sender senders[N_SENDERS];
};

WpChecksums *
wp_checksums_new(void)
{
	return g_new0(WpChecksums, 1);
}

void
wp_checksums_free(WpChecksums *checksums)
{
	g_free(checksums);
}

void
wp_checksums_expect(WpChecksums *checksums, const WpChecksums *learned)
{
	*checksums = *learned;
}

static inline guint64
add_carry(guint64 sum, guint64 word)
{
	sum += word;
	return sum + (sum < word);
}

static inline guint64
load_u64(const guint8 *p)
{
	guint64 word;
	memcpy(&word, p, sizeof word);
	return word;
}

/* The sum of N bytes at P on top of SUM, not yet folded. */
static inline guint64
sum_bytes(guint64 sum, const guint8 *p, gsize n)
{
	guint64 second = 0, word = 0;

	for (; n >= 16; p += 16, n -= 16) {
		sum = add_carry(sum, load_u64(p));
		second = add_carry(second, load_u64(p + 8));
	}
	if (n >= 8) {
		sum = add_carry(sum, load_u64(p));
		p += 8;
		n -= 8;
	}
	memcpy(&word, p, n);
	return add_carry(add_carry(second, word), sum);
}

/* To 16 bits; of the two forms of zero 0xffff. */
static inline guint16
fold(guint64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum ? (guint16)sum : 0xffff;
}

gboolean
wp_checksum_is_header_wrong(const guint8 *p, guint32 n)
{
	guint32 last;
	memcpy(&last, p + 16, sizeof last);
	guint64 sum = add_carry(add_carry(load_u64(p), load_u64(p + 8)), last);

	if (n > 20)
		sum = sum_bytes(sum, p + 20, n - 20);
	return fold(sum) != 0xffff && wp_layer_be16(p + 10) != 0;
}

typedef enum {
	RIGHT,
	WRONG,
	UNKNOWN
} Sum;

/*
 * Of TCP and UDP. What is not filled in yet is the sum of the pseudo header, which the network card goes on
 * from; where that also cuts it into segments, without the length.
 */
static Sum
look_at(const WpIp *ip, const WpLayer *layer)
{
	gboolean is_udp = ip->protocol == WP_IP_UDP;
	guint32 at = is_udp ? 6 : 16;
	guint16 field;

	if (layer->captured < layer->length || layer->length < at + 2)
		return UNKNOWN;
	memcpy(&field, layer->data + at, sizeof field);
	if (field == 0 && is_udp)
		return UNKNOWN;
	/* IPv4 addresses are mapped: the prefix is a zero of these sums. */
	guint64 pseudo = add_carry(load_u64(ip->src), load_u64(ip->src + 8));
	pseudo = add_carry(pseudo, add_carry(load_u64(ip->dst), load_u64(ip->dst + 8)));
	pseudo = add_carry(pseudo, GUINT16_TO_BE(ip->protocol));
	guint64 with_length = add_carry(pseudo, GUINT32_TO_BE(layer->length));
	guint16 as_stored = field ? field : 0xffff;
	if (as_stored == fold(with_length) || as_stored == fold(pseudo))
		return UNKNOWN;
	return fold(sum_bytes(with_length, layer->data, layer->length)) == 0xffff ? RIGHT : WRONG;
}

static inline void
count(Evidence *evidence, gboolean is_right)
{
	if (is_right) {
		evidence->n_right++;
		evidence->n_row = 0;
	} else {
		evidence->n_wrong++;
		evidence->n_row++;
	}
	if (evidence->n_right + evidence->n_wrong < HALVE_AT)
		return;
	evidence->n_right /= 2;
	evidence->n_wrong /= 2;
	evidence->n_row = MIN(evidence->n_row, SURE_ROW + 1);
}

static gboolean
is_damage(const Evidence *own)
{
	return own->n_right >= SURE_RIGHT && own->n_right >= own->n_wrong * SURE_SHARE &&
	       own->n_row <= SURE_ROW;
}

/* What is wrong is one of these, of ALL and of its sender's OWN. */
static WpChecksumVerdict
judge(const Evidence *all, const Evidence *own)
{
	const Evidence *evidence = own->n_right + own->n_wrong < FEW ? all : own;

	if (is_damage(own))
		return WP_CHECKSUM_DAMAGED;
	return evidence->n_right >= evidence->n_wrong * DOUBT_SHARE ? WP_CHECKSUM_DOUBTED
								    : WP_CHECKSUM_FINE;
}

/* Of two senders in one place the later stays. */
static inline Sums *
find_sender(WpChecksums *checksums, const WpIp *ip)
{
	guint64 hash = wp_doubles_mix(load_u64(ip->src), load_u64(ip->src + 8));
	Sender *sender = &checksums->senders[hash % N_SENDERS];

	if (sender->hash != hash)
		*sender = (Sender){ .hash = hash };
	return &sender->own;
}

WpChecksumVerdict
wp_checksums_judge(WpChecksums *checksums, const WpIp *ip, const WpLayer *layer)
{
	Sums *all = &checksums->all, *own = find_sender(checksums, ip);

	if (ip->version == 4) {
		count(&all->headers, !ip->is_wrong);
		count(&own->headers, !ip->is_wrong);
	}
	if (ip->is_wrong)
		return judge(&all->headers, &own->headers);
	Sum sum = look_at(ip, layer);
	if (sum == UNKNOWN)
		return WP_CHECKSUM_FINE;
	count(&all->sums, sum == RIGHT);
	count(&own->sums, sum == RIGHT);
	return sum == RIGHT ? WP_CHECKSUM_FINE : judge(&all->sums, &own->sums);
}
