/*
 * WpJsonPull: JSON (RFC 8259) token by token from an input, so that a file of any size needs no memory but for the
 * longest text in it. Several values one after the other (JSON lines) are read as well.
 *
 *   {"a":[1,"x"]}   ->   OBJECT  KEY a  ARRAY  NUMBER 1  TEXT x  ARRAY_END  OBJECT_END
 */
#ifndef WP_CAPTURE_JSON_PULL_H
#define WP_CAPTURE_JSON_PULL_H

#include <glib.h>

#include "capture/input.h"

/* Objects and arrays in each other. */
#define WP_JSON_PULL_MAX_DEPTH 128

/* Of a longer text the rest is passed over. */
#define WP_JSON_PULL_MAX_TEXT 65536

typedef enum {
	WP_JSON_END, /* no more */
	WP_JSON_OBJECT,
	WP_JSON_OBJECT_END,
	WP_JSON_ARRAY,
	WP_JSON_ARRAY_END,
	WP_JSON_KEY, /* its value is the next token, or begins with it */
	WP_JSON_TEXT,
	WP_JSON_NUMBER,
	WP_JSON_TRUE,
	WP_JSON_FALSE,
	WP_JSON_NULL,
	WP_JSON_CUT,  /* no more, in the middle of a value */
	WP_JSON_BAD,  /* no JSON: see wp_json_pull_wrong(); nothing follows */
	WP_JSON_ERROR /* of reading; the error is set */
} WpJsonToken;

typedef struct WpJsonPull WpJsonPull;

/* (transfer full) INPUT is borrowed. */
WpJsonPull *wp_json_pull_new(WpInput *input);
void wp_json_pull_free(WpJsonPull *pull);

WpJsonToken wp_json_pull_next(WpJsonPull *pull, GError **error);

/* (transfer none) Of a KEY, TEXT or NUMBER; UTF-8 without NUL; until the next token. */
const char *wp_json_pull_text(const WpJsonPull *pull);

/* After TOKEN: passes over the rest of the value that begins with it. Returns its last token, or what stopped it. */
WpJsonToken wp_json_pull_skip(WpJsonPull *pull, WpJsonToken token, GError **error);

/* What was expected, in words, and the line where it is not. */
const char *wp_json_pull_wrong(const WpJsonPull *pull, guint64 *out_line);

/* TRUE for what ends everything: END, CUT, BAD, ERROR. */
static inline gboolean
wp_json_is_last(WpJsonToken token)
{
	return token == WP_JSON_END || token == WP_JSON_CUT || token == WP_JSON_BAD ||
	       token == WP_JSON_ERROR;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpJsonPull, wp_json_pull_free)

#endif
