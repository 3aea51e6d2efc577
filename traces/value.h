/*
 * Values of a scenario: text to numbers, independent of locale. Each reads from *AT and moves it on;
 * FALSE, and *AT where it was, where there is no such value. The text ends where the value ends or at
 * a character that cannot be part of one: blank , ; ( ) { }.
 */
#ifndef WP_TRACES_VALUE_H
#define WP_TRACES_VALUE_H

#include <glib.h>

/* "5ms", "1.5s", "0" to ns; at most 10^6 s. Units: ns us ms s m min h. */
gboolean wp_value_duration(const char **at, double *out_ns);

/* "30%", "0.3"; from 0 to 1. */
gboolean wp_value_share(const char **at, double *out_share);

/* A number without unit, from 0 to 10^9. */
gboolean wp_value_number(const char **at, double *out_value);

/* "100/s", "5k/s", "90/m" to events a second, above 0 and up to 10^9. */
gboolean wp_value_rate(const char **at, double *out_per_s);

/* "3" or "1..5", up to MAXIMUM. */
gboolean wp_value_range(const char **at, guint32 maximum, guint32 *out_from, guint32 *out_to);

/* A whole number and nothing behind it. */
gboolean wp_value_count(const char *text, guint64 maximum, guint64 *out_value);

void wp_value_skip_blanks(const char **at);

/* Skips blanks; TRUE, and moves on, where C comes next. */
gboolean wp_value_take(const char **at, char c);

/* (transfer full) The word at *AT (letters, digits, - _ . : @ / *), or NULL. Skips blanks before it. */
char *wp_value_word(const char **at);

/* (transfer full) The one of NAMES (NULL-ended) that WORD was probably meant to be: " (did you mean
 * \"x\"?)", or "". */
char *wp_value_hint(const char *word, const char *const *names);

#endif
