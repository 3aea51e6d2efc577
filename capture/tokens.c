/*
 * Token hashes: one pass over the bytes finds the words; those with a digit are hashed (FNV-1a from a keyed
 * start, mixed at the end), so nothing is copied and nothing but 32 bits stays.
 */
#include "capture/tokens.h"

#include <string.h>

#define MIN_BYTES 2 /* one digit alone is as often a count, a version or a limit as a name */
#define MAX_BYTES 64

#define FNV_PRIME G_GUINT64_CONSTANT(0x100000001b3)
#define FNV_START G_GUINT64_CONSTANT(0xcbf29ce484222325)

/* What a byte is in a token: 0 = ends it, 1 = part of it, 3 = a digit. */
#define LETTERS 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
static const guint8 classes[256] = {
	['-'] = 1, ['0'] = 3,       3, 3, 3, 3, 3, 3, 3, 3, 3, ['A'] = LETTERS,
	['_'] = 1, ['a'] = LETTERS,
};

static guint32
finish(guint64 hash)
{
	hash ^= hash >> 32;
	hash *= G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
	return (guint32)(hash ^ (hash >> 32));
}

static guint
add(guint32 *hashes, guint n, guint max, guint32 hash)
{
	for (guint i = 0; i < n; i++)
		if ((hashes[i] | WP_TOKEN_IS_ID) == (hash | WP_TOKEN_IS_ID)) {
			hashes[i] |= hash;
			return n;
		}
	if (n < max)
		hashes[n++] = hash;
	return n;
}

static guint32
hash_token(guint64 key, const guint8 *data, gsize length)
{
	guint64 hash = FNV_START ^ key;
	for (gsize i = 0; i < length; i++)
		hash = (hash ^ data[i]) * FNV_PRIME;
	return finish(hash);
}

/* Where the first digit among DATA stands; LENGTH where there is none. Eight bytes at a time. */
static inline gsize
find_digit(const guint8 *data, gsize at, gsize length)
{
	const guint64 ones = G_GUINT64_CONSTANT(0x0101010101010101);
	guint64 word;

	for (; length - at >= sizeof word; at += sizeof word) {
		memcpy(&word, data + at, sizeof word);
		word = GUINT64_FROM_LE(word) ^ '0' * ones;
		/* The highest bit of each byte of what is no digit: those from 10 on reach it, and no byte its neighbour. */
		guint64 others = (((word & 0x7f * ones) + (0x80 - 10) * ones) | word) & 0x80 * ones;
		if (others != 0x80 * ones)
			return at + (guint)__builtin_ctzll(~others & 0x80 * ones) / 8;
	}
	while (at < length && classes[data[at]] != 3)
		at++;
	return at;
}

/* Most words have no digit and are not looked at. */
static guint
scan(guint64 key, const guint8 *data, gsize length, guint32 mark, guint32 *hashes, guint n,
     guint max)
{
	gsize end = 0;

	while (n < max && end < length) {
		gsize digit = find_digit(data, end, length), start = digit;
		if (digit == length)
			break;
		while (start > end && classes[data[start - 1]])
			start--;
		for (end = digit + 1; end < length && classes[data[end]]; end++)
			;
		if (end - start >= MIN_BYTES && end - start <= MAX_BYTES)
			n = add(hashes, n, max,
				(hash_token(key, data + start, end - start) & ~WP_TOKEN_IS_ID) |
					mark);
	}
	return n;
}

guint
wp_tokens_scan(guint64 key, const guint8 *data, gsize length, guint32 *hashes, guint n, guint max)
{
	return scan(key, data, length, 0, hashes, n, max);
}

guint
wp_tokens_scan_ids(guint64 key, const guint8 *data, gsize length, guint32 *hashes, guint n,
		   guint max)
{
	return scan(key, data, length, WP_TOKEN_IS_ID, hashes, n, max);
}

guint64
wp_tokens_key(const char *text, gssize length)
{
	gsize n = length < 0 ? strlen(text) : (gsize)length;
	guint64 hash = FNV_START;
	for (gsize i = 0; i < n; i++)
		hash = (hash ^ (guint8)text[i]) * FNV_PRIME;
	return hash ^ (hash >> 29);
}
