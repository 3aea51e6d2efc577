/*
 * Token hashes: values that a program happens to pass on (an order number, a session key) link calls
 * without anyone having meant it to. From each call the hashes of rare-looking tokens are kept, never
 * the tokens. A token is a run of letters, digits, '-' and '_' of 2 to 64 bytes with at least one
 * digit; the hash is keyed, so that it tells nothing without the key.
 */
#ifndef WP_CAPTURE_TOKENS_H
#define WP_CAPTURE_TOKENS_H

#include <glib.h>

/*
 * A hash whose lowest bit is set stood where programs put identifiers of requests (traceparent, X-Request-Id).
 * The other bits alone tell which value it is.
 */
#define WP_TOKEN_IS_ID 1u

/*
 * Adds the hashes of the tokens in DATA to HASHES, which holds N already; equal ones once, at most MAX
 * in all. Returns how many there are then.
 */
guint wp_tokens_scan(guint64 key, const guint8 *data, gsize length, guint32 *hashes, guint n,
		     guint max);

/* The same of DATA that stands where identifiers do. */
guint wp_tokens_scan_ids(guint64 key, const guint8 *data, gsize length, guint32 *hashes, guint n,
			 guint max);

/* The key that TEXT (--token-key) means. */
guint64 wp_tokens_key(const char *text, gssize length);

#endif
