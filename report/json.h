/*
 * JSON, written as it comes: commas, indentation and quoting are done here. A key is NULL inside an
 * array. Whole numbers beyond 2^53, which many readers round, are written as text.
 */
#ifndef WP_REPORT_JSON_H
#define WP_REPORT_JSON_H

#include <glib.h>

#include "report/out.h"

/* Embedded; set out, the rest 0. */
typedef struct {
	WpOut *out;
	guint depth;
	gboolean has_before; /* something stands before in this object or array */
	gboolean is_compact; /* set with out: no blanks, all on one line */
} WpJson;

void wp_json_open(WpJson *json, const char *key, char bracket);      /* '{' or '[' */
void wp_json_close(WpJson *json, char bracket);                      /* '}' or ']' */
void wp_json_text(WpJson *json, const char *key, const char *value); /* NULL = null */
void wp_json_uint(WpJson *json, const char *key, guint64 value);
void wp_json_bool(WpJson *json, const char *key, gboolean value);

/* Up to DECIMALS decimals, without trailing zeros; null where not finite. */
void wp_json_number(WpJson *json, const char *key, double value, int decimals);

/* A number whatever its size: its readers are known to take it. */
void wp_json_int(WpJson *json, const char *key, gint64 value);

/* Nanoseconds since the epoch, as text. */
void wp_json_epoch(WpJson *json, const char *key, gint64 ns);

#endif
