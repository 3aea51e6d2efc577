/*
 * A WpDigest as JSON, the member "comparison" of a result (wirepath report -o x.json), and back. What comes back is
 * what was written, to the bit. Runs of numbers are one text, as they would be most of the file:
 *
 *   "blocks"  begin_ns requests errors latency_ns, ...
 *   "sums"    made calls self_ns served_ns network_ns n_network, ...    by block
 *   "levels"  group level calls self_ns, ...                            those with calls
 *   "bins"    low_ns high_ns count, ...
 *   "edges"   caller callee calls, ...
 */
#ifndef WP_REPORT_DIGEST_JSON_H
#define WP_REPORT_DIGEST_JSON_H

#include "report/digest.h"
#include "report/json.h"

#define WP_DIGEST_SCHEMA "wirepath.digest/2"

/* Writes member KEY. */
void wp_digest_write(WpJson *json, const char *key, const WpDigest *digest);

/* TRUE where a file that begins so (LENGTH bytes) may be a result: an object. */
gboolean wp_digest_is_result(const char *head, gsize length);

/* (transfer full) Of the result in PATH, "-" for standard input. NULL with an error. */
WpDigest *wp_digest_read(const char *path, GError **error);

#endif
