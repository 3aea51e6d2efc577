/*
 * Numbers, sizes and times as people read them, independent of locale, and the way back for what
 * people type. Times carry their unit and three significant digits: "850 ns", "14.8 ms", "1.05 s".
 */
#ifndef WP_REPORT_FORMAT_H
#define WP_REPORT_FORMAT_H

#include <glib.h>

/* Each fills BUFFER (WP_FORMAT_MAX bytes) and returns it. */
#define WP_FORMAT_MAX 48

const char *wp_format_time(char *buffer, double ns);
const char *wp_format_count(char *buffer, guint64 count); /* "1,926" */
const char *wp_format_share(char *buffer, double share);  /* 0.482 -> "48.2%" */
const char *wp_format_bytes(char *buffer, guint64 bytes); /* powers of 1000: "1.20 MB" */
const char *wp_format_number(char *buffer, double value); /* three significant digits */

/* "2026-10-20 08:15:05.467 UTC" */
const char *wp_format_date(char *buffer, gint64 ns);

/* "1047680084.482205000": seconds since the epoch with 9 decimals. Fast. Returns the length. */
gsize wp_format_epoch(char *buffer, gint64 ns);

/* The digits of VALUE. Returns the length. */
gsize wp_format_uint(char *buffer, guint64 value);

/*
 * What a user types. All are strict: no blanks, nothing behind the number, no overflow. FALSE where
 * TEXT is none.
 */
gboolean wp_parse_int(const char *text, gint64 *out_value);
gboolean wp_parse_double(const char *text, double *out_value);

/* "250us" "5ms" "1.5s" "2m" "1h", or "0": a number alone would be seconds to one and milliseconds to another. */
gboolean wp_parse_duration(const char *text, gint64 *out_ns);

/* "5%" or "0.05" */
gboolean wp_parse_share(const char *text, double *out_share);

/* "64k" "10M" "1G" (powers of 1000), "64Ki" (of 1024); a number without unit is bytes. */
gboolean wp_parse_bytes(const char *text, guint64 *out_bytes);

/* Seconds since the epoch ("1047680084.482205") or ISO 8601 ("2026-10-20T08:15:05.4Z"; no zone: UTC). */
gboolean wp_parse_date(const char *text, gint64 *out_ns);

#endif
