/*
 * JSON as it was written before (json.h), read again. RFC 8259, UTF-8; what a reader is not interested in is skipped.
 * Numbers are kept as text, so that none is rounded.
 */
#ifndef WP_REPORT_JSON_READ_H
#define WP_REPORT_JSON_READ_H

#include <glib.h>

typedef struct WpJsonValue WpJsonValue;

/* Objects and arrays in each other. */
#define WP_JSON_MAX_DEPTH 64

/*
 * (transfer full) The members of the object TEXT (LENGTH bytes) that are called one of NAMES (NULL-ended), as an
 * object; the others are checked, but not kept. NULL with WP_REPORT_ERROR_DATA, which tells the line; PATH is for
 * that.
 */
WpJsonValue *wp_json_read(const char *path, const char *text, gsize length,
			  const char *const *names, GError **error);
void wp_json_value_free(WpJsonValue *value);

/* (transfer none) Of an object: its member, NULL where there is none. VALUE may be NULL here and below. */
const WpJsonValue *wp_json_member(const WpJsonValue *value, const char *name);

/* Of an array: how many there are, and each. */
guint wp_json_length(const WpJsonValue *value);
const WpJsonValue *wp_json_item(const WpJsonValue *value, guint number);

/* (transfer none) Text; NULL where it is none. */
const char *wp_json_as_text(const WpJsonValue *value);

/* TRUE for true. FALSE for anything else. */
gboolean wp_json_as_bool(const WpJsonValue *value);

/* FALSE where it is no whole number from 0 to 2^64 - 1, as number or as text. */
gboolean wp_json_as_uint(const WpJsonValue *value, guint64 *out_number);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpJsonValue, wp_json_value_free)

#endif
