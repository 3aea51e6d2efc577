/*
 * WpStrings: a pool of interned strings. Equal texts have equal numbers; number 0 is "".
 * Numbers are given out in the order of first use, so they depend on the input alone.
 */
#ifndef WP_CAPTURE_STRINGS_H
#define WP_CAPTURE_STRINGS_H

#include <glib.h>

typedef struct WpStrings WpStrings;

/* (transfer full) */
WpStrings *wp_strings_new(void);
void wp_strings_free(WpStrings *strings);

/* The number of TEXT (LENGTH bytes; -1: up to its NUL). Any bytes may occur but NUL. */
guint32 wp_strings_intern(WpStrings *strings, const char *text, gssize length);

/* The number of TEXT, or 0 where it is not in the pool (or is ""). */
guint32 wp_strings_find(const WpStrings *strings, const char *text, gssize length);

/* (transfer none) NUL-terminated; valid as long as the pool. */
const char *wp_strings_get(const WpStrings *strings, guint32 number);

/* How many strings there are, "" included. */
guint32 wp_strings_count(const WpStrings *strings);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpStrings, wp_strings_free)

#endif
