/*
 * Token hashes: one pass over the bytes; a token is hashed while it is read (FNV-1a from a keyed
 * start, mixed at the end), so nothing is copied and nothing but 32 bits stays.
 */
#include "capture/tokens.h"

#include <string.h>

#define MIN_BYTES 2 /* one digit alone is as often a count, a version or a limit as a name */
#define MAX_BYTES 64

#define FNV_PRIME G_GUINT64_CONSTANT(0x100000001b3)
#define FNV_START G_GUINT64_CONSTANT(0xcbf29ce484222325)

/* What a byte is in a token: 0 = ends it, 1 = part of it, 2 = a digit. */
static guint8
byte_class(guint8 byte)
{
	if (g_ascii_isdigit(byte))
		return 2;
	return g_ascii_isalpha(byte) || byte == '-' || byte == '_';
}

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

static guint
scan(guint64 key, const guint8 *data, gsize length, guint32 mark, guint32 *hashes, guint n,
     guint max)
{
	guint64 hash = FNV_START ^ key;
	gsize bytes = 0;
	gboolean has_digit = FALSE;

	for (gsize i = 0; i <= length && n < max; i++) {
		guint8 class = i < length ? byte_class(data[i]) : 0;
		if (class) {
			hash = (hash ^ data[i]) * FNV_PRIME;
			has_digit |= class == 2;
			bytes++;
			continue;
		}
		if (has_digit && bytes >= MIN_BYTES && bytes <= MAX_BYTES)
			n = add(hashes, n, max, (finish(hash) & ~WP_TOKEN_IS_ID) | mark);
		hash = FNV_START ^ key;
		bytes = 0;
		has_digit = FALSE;
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
